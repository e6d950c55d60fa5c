"""What becomes of the cards of a round, for each family of games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["CLASSIC_RULES", "JACKPOT_RULES", "SCORING_RULES", "ScoringRules", "scoring_rules"]


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How a round is scored; what all games share is in `ghostblitz_task.company.engine`.

    Attributes
    ----------
    nobody_right : str
        Where the cards of a round go that nobody won: ``under_pile``, with a card of each player
        who made a mistake, or ``jackpot``, with a card of every player.
    right_and_mistaken : str
        What it means that the player who was right first grabbed and also shouted:
        ``voids_round`` (nobody wins, whoever else was right) or ``mistake`` (another can win).
    """

    nobody_right: Literal["under_pile", "jackpot"]
    right_and_mistaken: Literal["voids_round", "mistake"]


CLASSIC_RULES = ScoringRules("under_pile", "voids_round")
JACKPOT_RULES = ScoringRules("jackpot", "mistake")

SCORING_RULES: Mapping[str, ScoringRules] = MappingProxyType(
    {
        "classic": CLASSIC_RULES,
        "grab-or-shout": CLASSIC_RULES,
        "spooky-doo": JACKPOT_RULES,
        "five-to-twelve": JACKPOT_RULES,
    }
)


def scoring_rules(game_name: str) -> ScoringRules:
    """Return the rules that a game is scored by; classic's for one that has none of its own."""
    return SCORING_RULES.get(game_name, CLASSIC_RULES)
