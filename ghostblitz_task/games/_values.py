"""What games speak of: responses, solutions, the table, decks, settings; frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from ghostblitz_task.cards import Card

Mode = Literal["grab", "shout"]
AnswerKind = Literal["item", "colour", "time"]
ItemRole = Literal["target", "shape", "colour", "shape_and_colour", "neither"]
HatMover = Literal["schedule", "participant"]

_NO_COLOURS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Response:
    """What a participant does: grab or shout, and which item, colour or time."""

    mode: Mode
    answer: str


@dataclass(frozen=True, slots=True)
class Solution:
    """How a card is solved; `target` is null where no item is singled out (a time)."""

    rule: str
    mode: Mode
    answer: str
    answer_kind: AnswerKind
    target: str | None


@dataclass(frozen=True, slots=True)
class GameState:
    """What lies on the table beside the card; games with nothing to remember leave it empty.

    Attributes
    ----------
    hat_over : str or None
        The item that the hat hides.
    trials_since_hat_move : int or None
        Trials since the hat was put there; 0 for the first card after that.
    hat_schedule : tuple of str
        The items that the hat goes over next, in turn, where nobody chooses.
    """

    hat_over: str | None = None
    trials_since_hat_move: int | None = None
    hat_schedule: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A card as it meets the participant: the state of the table and the solution with it."""

    card: Card
    state: GameState
    solution: Solution


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial came to: the scored response (null if none) and whether it was right.

    `hat_to` is the item that the hat was put over after it, where somebody chose; null leaves
    it to the schedule.
    """

    response: Response | None
    correct: bool
    hat_to: str | None = None


@dataclass(frozen=True, slots=True)
class DeckMargins:
    """How a deck is made up.

    Attributes
    ----------
    n_cards : int
        Cards in the deck.
    quotas : mapping of str to mapping of str to int
        For each factor (see `ghostblitz_task.deck.FACTORS`, joined by ``*``), the number of
        cards, or of pictures, at each level that is fixed.
    strata : str
        A factor with a quota at each of its levels, within which cards are exchanged.
    even : mapping of str to int
        Factors whose levels are made about equally frequent, as far as the quotas leave it open,
        and how much each counts where they are at odds.
    factors : mapping of str to callable
        Factors of this game's own: each gives the levels at which a card counts.
    """

    n_cards: int
    quotas: Mapping[str, Mapping[str, int]]
    strata: str
    even: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    factors: Mapping[str, Callable[[Stimulus], tuple[str, ...]]] = field(
        default_factory=lambda: MappingProxyType({})
    )


@dataclass(frozen=True, slots=True)
class GameSettings:
    """What a study may set about a game; null and empty mean the game's own.

    Attributes
    ----------
    name : str
        One of `available_games`.
    item_colours : mapping of str to str
        A study's own items and their own colours; several items may share a colour.
    n_pictures : int or None
        Pictures on a card.
    shout_item : str or None
        The item whose picture turns grabbing into shouting, in games that have one.
    rules : frozenset of str
        Additional rules in play.
    times : tuple of str
        The times that clocks show (``11:55``), in games that have one.
    hat_mover : str or None
        Who moves the hat, in games that have one: the seeded ``schedule`` or the ``participant``.
    """

    name: str
    item_colours: Mapping[str, str] = field(default_factory=lambda: _NO_COLOURS)
    n_pictures: int | None = None
    shout_item: str | None = None
    rules: frozenset[str] = frozenset()
    times: tuple[str, ...] = ()
    hat_mover: HatMover | None = None
