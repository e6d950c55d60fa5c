"""How a game stands, and when it ends."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ghostblitz_task.company.table import Table

__all__ = ["GameEnd", "Standing", "game_end", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place, from 1; players with as many cards share it, and the next is left out."""

    place: int
    player: str
    n_cards: int


@dataclass(frozen=True, slots=True)
class GameEnd:
    """How a game ended.

    Attributes
    ----------
    capped : bool
        Whether the greatest number of rounds ended it, with cards left in the pile.
    standings : tuple of Standing
        Best first.
    n_pile_left, n_jackpot_left : int
        Cards that nobody won.
    table : Table
        The last one, with those cards out of play.
    """

    capped: bool
    standings: tuple[Standing, ...]
    n_pile_left: int
    n_jackpot_left: int
    table: Table

    @property
    def winners(self) -> tuple[str, ...]:
        """The players in the first place."""
        return tuple(s.player for s in self.standings if s.place == 1)


def standings(table: Table) -> tuple[Standing, ...]:
    """Rank the players by their cards, best first; the same place in the order they sit."""
    n_won = table.n_won
    ranked = sorted(n_won.items(), key=lambda entry: -entry[1])
    return tuple(
        Standing(1 + sum(other > n for other in n_won.values()), player, n) for player, n in ranked
    )


def game_end(table: Table, *, max_rounds: int | None = None) -> GameEnd | None:
    """Return how the game ended, or null while it goes on.

    It ends when the pile is used up, or after `max_rounds`: where cards come back under the
    pile, nothing else would end a game in which nobody is ever right.
    """
    capped = bool(table.pile) and max_rounds is not None and table.n_rounds >= max_rounds
    if table.pile and not capped:
        return None
    left = table.pile + table.jackpot
    cleared = dataclasses.replace(table, pile=(), jackpot=(), out_of_play=table.out_of_play + left)
    return GameEnd(capped, standings(table), len(table.pile), len(table.jackpot), cleared)
