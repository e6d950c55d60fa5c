"""Where every card of a game with several players is: pile, hands, jackpot, out of play."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ghostblitz_task.errors import ConfigError

__all__ = ["DealtCard", "Move", "Place", "Table", "new_table"]


@dataclass(frozen=True, slots=True)
class DealtCard:
    """One card of the pile; `recycled` once it went back under it after all have seen it."""

    text: str
    recycled: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a round takes a card from or puts it; `player` says whose hand it is.

    ``turned`` is the middle of the table, where the card of the round lies face up.
    """

    kind: Literal["turned", "hand", "jackpot", "under_pile"]
    player: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One card that went from one place to another."""

    card: DealtCard
    source: Place
    destination: Place


@dataclass(frozen=True, slots=True)
class Table:
    """A game between two rounds.

    Attributes
    ----------
    players : tuple of str
        In the order in which they sit; the order of all that goes by turns.
    pile : tuple of DealtCard
        What is still to be turned over, the next card first.
    hands : tuple of tuple of DealtCard
        Each player's won cards, the last won at the end.
    jackpot : tuple of DealtCard
        Set aside for the next player who is right.
    out_of_play : tuple of DealtCard
        What nobody can win any more.
    n_rounds : int
        Rounds played.
    """

    players: tuple[str, ...]
    pile: tuple[DealtCard, ...]
    hands: tuple[tuple[DealtCard, ...], ...]
    jackpot: tuple[DealtCard, ...] = ()
    out_of_play: tuple[DealtCard, ...] = ()
    n_rounds: int = 0

    def hand(self, player: str) -> tuple[DealtCard, ...]:
        """Return a player's won cards, the last won at the end."""
        return self.hands[self.players.index(player)]

    @property
    def n_won(self) -> dict[str, int]:
        """How many cards each player has, in the order in which they sit."""
        return {p: len(hand) for p, hand in zip(self.players, self.hands, strict=True)}

    @property
    def n_cards(self) -> int:
        """All cards, wherever they are; no round changes it."""
        held = sum(len(hand) for hand in self.hands)
        return len(self.pile) + held + len(self.jackpot) + len(self.out_of_play)


def new_table(players: Iterable[str], cards: Iterable[str]) -> Table:
    """Lay out a game: nobody has a card yet.

    Parameters
    ----------
    players : iterable of str
        Names, in the order in which they sit; one is enough.
    cards : iterable of str
        The pile, the first to be turned over first.

    Raises
    ------
    ConfigError
        If there is no player, one without a name, or two of the same name.
    """
    seated = tuple(players)
    if not seated:
        raise ConfigError("players is empty; a game needs at least one")
    for player in seated:
        if not player.strip():
            raise ConfigError(f"players holds {player!r}; a player needs a name")
        if seated.count(player) > 1:
            raise ConfigError(f"players holds {player!r} twice; names must differ")
    return Table(seated, tuple(DealtCard(text) for text in cards), ((),) * len(seated))
