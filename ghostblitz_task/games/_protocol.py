"""What every game can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from ghostblitz_task.cards import Card
from ghostblitz_task.games._values import (
    DeckMargins,
    GameState,
    HatMover,
    Mode,
    Outcome,
    Response,
    Stimulus,
)


class Game(Protocol):
    """The rules of one game, pure: the same input gives the same output.

    A game knows nothing of screens, keys or clocks.
    """

    def __hash__(self) -> int:
        """Return the same for the same game, so that what was found of it can be remembered."""
        ...

    @property
    def name(self) -> str:
        """One of `available_games`."""
        ...

    @property
    def item_colours(self) -> Mapping[str, str]:
        """Each item and its own colour."""
        ...

    @property
    def n_pictures(self) -> int:
        """Pictures on a card (the most, where cards differ)."""
        ...

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What can be demanded."""
        ...

    @property
    def rules(self) -> frozenset[str]:
        """The additional rules in play."""
        ...

    @property
    def additional_rules(self) -> frozenset[str]:
        """The additional rules that a study can put in play, in any combination."""
        ...

    @property
    def hideable(self) -> tuple[str, ...]:
        """The items that a hat can hide; none where there is no hat."""
        ...

    @property
    def hat_mover(self) -> HatMover | None:
        """Who moves the hat; null where there is none."""
        ...

    def answers(self, mode: Mode) -> tuple[str, ...]:
        """Return all that can be grabbed, or shouted; each needs a key of its own."""
        ...

    def cards(self, kind: str) -> Iterator[Card]:
        """Yield the cards that a kind of deck is chosen from, each once; not all are legal."""
        ...

    def vary(self, cards: Sequence[Card], rng: np.random.Generator) -> tuple[Card, ...]:
        """Draw what the margins of a deck leave open on its cards (times, say)."""
        ...

    def deck_margins(self, kind: str) -> DeckMargins | None:
        """Return the margins of a deck of this kind, or None where the game has none."""
        ...

    def initial_state(
        self, rng: np.random.Generator | None = None, *, n_trials: int = 0
    ) -> GameState:
        """Return the table before the first card.

        Without `rng` it is always the same, for solving cards; with it, it is drawn for a
        session of `n_trials`.
        """
        ...

    def parse(self, text: str) -> Card:
        """Read a card text in this game's items and colours."""
        ...

    def stimulus(self, card: Card, state: GameState) -> Stimulus:
        """Solve a card as the table stands; an illegal card raises `CardError`."""
        ...

    def correct_responses(self, stimulus: Stimulus) -> frozenset[Response]:
        """Return every response that counts as right."""
        ...

    def error_kind(self, response: Response, stimulus: Stimulus) -> str | None:
        """Name the kind of error that a response is, by what drew it, or None if it is right."""
        ...

    def hat_choices(self, stimulus: Stimulus, outcome: Outcome) -> tuple[str, ...]:
        """Return the items that the hat goes over after a trial; none where it stays."""
        ...

    def advance(self, state: GameState, stimulus: Stimulus, outcome: Outcome) -> GameState:
        """Return the table after a trial."""
        ...
