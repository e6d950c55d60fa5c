"""A whole game in virtual time, by simulated players, through the same table as a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.players import CaptainPlayer, Sighting
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.captain.table import Action, CaptainTable, Happened
from ghostblitz_task.captain.turns import Turn, TurnScore, score_turns
from ghostblitz_task.errors import ConfigError

__all__ = ["GameRecord", "TimedAction", "play_game", "sighting_of"]

_PHASES = (ev.TurnBegan, ev.Lifted, ev.Seen)
_CHOICE_CHANGES = (ev.DieTurned, ev.DroppingFell)
_DIE_CHANGES = (ev.TurnBegan, ev.DieTurned, ev.DieAtRisk, ev.DieNudged, ev.Kept)
# A game without a limit that no one can finish is a mistake of ours, not a long game.
_LONGEST_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class TimedAction:
    """An action as it was done, for playing a game again."""

    t_s: float
    action: Action


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that has ended.

    Attributes
    ----------
    settings, seed
        What it was played with.
    colours : tuple of str
        Under each dropping, by its id.
    deck : dict
        Versions of the physics and the die's faces.
    status : str
        How it ended.
    ended_s : float
        When.
    n_kept, n_fallen, n_on_deck, n_held : int
        Where the droppings were at the end.
    turns, scores : tuple of Turn, tuple of TurnScore
        What happened in each turn, and what follows from it.
    actions : tuple of TimedAction
        All that was done, refused or not.
    history : tuple of dict
        One chunk per turn, and one for what came after the last.
    """

    settings: CaptainSettings
    seed: int
    colours: tuple[str, ...]
    deck: dict[str, Any]
    status: ev.Status
    ended_s: float
    n_kept: int
    n_fallen: int
    n_on_deck: int
    n_held: int
    turns: tuple[Turn, ...]
    scores: tuple[TurnScore, ...]
    actions: tuple[TimedAction, ...]
    history: tuple[dict[str, Any], ...]


def play_game(
    settings: CaptainSettings, players: Sequence[CaptainPlayer], *, seed: int
) -> GameRecord:
    """Play a game to its end.

    Parameters
    ----------
    settings : CaptainSettings
        As a study sets them.
    players : sequence of CaptainPlayer
        In the order in which the tongs go round.
    seed : int
        Of the game and of the players, who draw from generators of their own.

    Raises
    ------
    ConfigError
        If there are not as many players as the settings say, the seed is negative, or the mode is
        ``moving`` and pymunk is not installed.
    """
    if len(players) != settings.n_players:
        raise ConfigError(
            f"captain: n_players is {settings.n_players}, but {len(players)} players came"
        )
    if seed < 0:
        raise ConfigError(f"seed {seed} is negative; a seed is a whole number from 0")
    game_rng, *player_rngs = np.random.default_rng(seed).spawn(1 + len(players))
    game = _Simulation(CaptainTable(settings, rng=game_rng), players, player_rngs)
    game.run()
    state = game.table.state
    return GameRecord(
        settings=settings,
        seed=seed,
        colours=state.colours,
        deck=dict(game.table.deck.describe()),
        status=state.status,
        ended_s=game.table.now_s,
        n_kept=state.count("kept"),
        n_fallen=state.count("galley"),
        n_on_deck=state.count("deck"),
        n_held=state.count("tongs"),
        turns=tuple(game.turns),
        scores=score_turns(game.turns, state.colours),
        actions=tuple(game.actions),
        history=(*game.history, game.table.take_history()),
    )


def sighting_of(turn: Turn) -> Sighting | None:
    """Return what a turn has taught the team about a dropping that is still on deck."""
    if turn.returned_to is None or turn.colour is None:
        return None
    return Sighting(turn.turn_index, turn.player_index, turn.colour, turn.returned_to)


class _Simulation:
    """Players at a table: each plans when something has happened, and acts when the time comes."""

    def __init__(
        self,
        table: CaptainTable,
        players: Sequence[CaptainPlayer],
        rngs: Sequence[np.random.Generator],
    ) -> None:
        self.table = table
        self.players = players
        self.rngs = rngs
        self.turns: list[Turn] = []
        self.sightings: list[Sighting] = []
        self.actions: list[TimedAction] = []
        self.history: list[dict[str, Any]] = []
        self._next: TimedAction | None = None
        self._nudge: TimedAction | None = None

    def run(self) -> None:
        while not self.table.is_over:
            planned = [each for each in (self._next, self._nudge) if each is not None]
            first = min(planned, key=lambda each: each.t_s, default=None)
            until_s = _LONGEST_S if first is None else first.t_s
            assert self.table.now_s < _LONGEST_S, "the game does not end"
            happened = self.table.advance_until(until_s)
            if not happened and first is not None and self.table.now_s >= first.t_s:
                happened = self._act(first)
            self._take_in(happened)

    def _act(self, due: TimedAction) -> tuple[Happened, ...]:
        if due is self._nudge:
            self._nudge = None
        else:
            self._next = None
        self.actions.append(due)
        return self.table.act(due.action, t_s=due.t_s)

    def _take_in(self, happened: Sequence[Happened]) -> None:
        for each in happened:
            if isinstance(each, ev.TurnOver):
                self._end_turn(each.turn)
            # Another cue, or a dropping less, changes what will be picked.
            is_choosing = self.table.state.phase == "waiting"
            if isinstance(each, _PHASES) or (is_choosing and isinstance(each, _CHOICE_CHANGES)):
                self._plan()
            if isinstance(each, _DIE_CHANGES):
                self._plan_nudge()

    def _plan(self) -> None:
        self._next = None
        view = self.table.view()
        player, rng = self.players[view.player_index], self.rngs[view.player_index]
        planned = player.plan(view, tuple(self.sightings), rng=rng)
        if planned is not None and not self.table.is_over:
            self._next = TimedAction(view.t_s + planned.latency_s, planned.action)

    def _plan_nudge(self) -> None:
        settings = self.table.state.settings
        if not settings.allow_nudging or settings.mode == "static":
            return
        self._nudge = None
        view = self.table.view()
        player, rng = self.players[view.player_index], self.rngs[view.player_index]
        latency_s = player.plan_nudge(view, n_per_colour=settings.n_per_colour, rng=rng)
        if latency_s is not None:
            self._nudge = TimedAction(view.t_s + latency_s, Action("nudge"))

    def _end_turn(self, turn: Turn) -> None:
        self._next = None
        self.turns.append(turn)
        sighting = sighting_of(turn)
        if sighting is not None:
            self.sightings.append(sighting)
        self.history.append(self.table.take_history())
