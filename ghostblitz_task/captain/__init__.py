"""The captain's deck: the co-operative memory game of rulebook 002, without and with the Eye.

Pure: nothing here knows a screen, a key or a file. `CaptainTable` is a game under way, for the
session's loop as for the simulation `play_game`; `rules` holds the rules alone, `physics` the
moving deck, which alone needs pymunk.
"""

from __future__ import annotations

from ghostblitz_task.captain.deck import Deck, make_deck
from ghostblitz_task.captain.events import DieSpot, Status
from ghostblitz_task.captain.history import History, HistoryEvent, decode_history, encode_history
from ghostblitz_task.captain.play import GameRecord, TimedAction, play_game, sighting_of
from ghostblitz_task.captain.players import (
    PLAYER_MODELS,
    CaptainPlayer,
    PlannedAction,
    RememberingPlayer,
    Sighting,
    make_player,
)
from ghostblitz_task.captain.rules import CaptainState, apply_event, deal, next_due, start
from ghostblitz_task.captain.settings import COLOURS, CORNERS, CaptainSettings, Corner, DeckMode
from ghostblitz_task.captain.table import Action, CaptainTable, DeckView, Happened
from ghostblitz_task.captain.turns import Spot, Turn, TurnScore, score_turns

__all__ = [
    "COLOURS",
    "CORNERS",
    "PLAYER_MODELS",
    "Action",
    "CaptainPlayer",
    "CaptainSettings",
    "CaptainState",
    "CaptainTable",
    "Corner",
    "Deck",
    "DeckMode",
    "DeckView",
    "DieSpot",
    "GameRecord",
    "Happened",
    "History",
    "HistoryEvent",
    "PlannedAction",
    "RememberingPlayer",
    "Sighting",
    "Spot",
    "Status",
    "TimedAction",
    "Turn",
    "TurnScore",
    "apply_event",
    "deal",
    "decode_history",
    "encode_history",
    "make_deck",
    "make_player",
    "next_due",
    "play_game",
    "score_turns",
    "sighting_of",
    "start",
]
