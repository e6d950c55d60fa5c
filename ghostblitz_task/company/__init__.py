"""Games with several players: who takes which card, simulated rivals, and whole games replayed.

The engine is pure: a table and a round go in, a table and what happened come out. Clock, screen,
files and randomness are the caller's.
"""

from ghostblitz_task.company.attempts import (
    Attempt,
    Ignored,
    JudgedAttempts,
    TimedResponse,
    judge_attempts,
)
from ghostblitz_task.company.engine import Penalty, Round, RoundResult, draw_lot, play_round
from ghostblitz_task.company.ghosts import RunRecords, ghost_trials
from ghostblitz_task.company.rivals import (
    GhostRival,
    GhostTrial,
    LogNormal,
    ModelRival,
    PlannedAttempt,
    Rival,
    make_ghost,
    make_rival,
)
from ghostblitz_task.company.rules import ScoringRules, scoring_rules
from ghostblitz_task.company.standings import GameEnd, Standing, game_end, standings
from ghostblitz_task.company.table import DealtCard, Move, Place, Table, new_table
from ghostblitz_task.company.transcripts import replay

__all__ = [
    "Attempt",
    "DealtCard",
    "GameEnd",
    "GhostRival",
    "GhostTrial",
    "Ignored",
    "JudgedAttempts",
    "LogNormal",
    "ModelRival",
    "Move",
    "Penalty",
    "Place",
    "PlannedAttempt",
    "Rival",
    "Round",
    "RoundResult",
    "RunRecords",
    "ScoringRules",
    "Standing",
    "Table",
    "TimedResponse",
    "draw_lot",
    "game_end",
    "ghost_trials",
    "judge_attempts",
    "make_ghost",
    "make_rival",
    "new_table",
    "play_round",
    "replay",
    "scoring_rules",
    "standings",
]
