"""What a game is, the base logic that every card game shares, and the games there are.

A game is one file in this folder that defines ``build(settings) -> Game``; it is found by
scanning, and one contract suite (``tests/contract``) runs on every one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from itertools import combinations, permutations
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np

from ghostblitz_task.cards import Card, Picture, is_name, parse_card
from ghostblitz_task.errors import CardError, ConfigError

__all__ = [
    "CardGame",
    "DeckMargins",
    "Game",
    "GameSettings",
    "GameState",
    "HatMover",
    "Outcome",
    "Response",
    "Solution",
    "Stimulus",
    "available_games",
    "base_rule",
    "item_role",
    "make_game",
]

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


def base_rule(card: Card, item_colours: Mapping[str, str]) -> tuple[str, str]:
    """Find the rule and the target of a card by the logic all card games share.

    Parameters
    ----------
    card : Card
        Any number of pictures.
    item_colours : mapping of str to str
        Each item's own colour; several items may share one.

    Returns
    -------
    rule : str
        ``direct`` when exactly one picture has its item's own colour, ``exclusion`` when none
        has and exactly one item is neither depicted nor has its own colour shown.
    target : str
        The item singled out.

    Raises
    ------
    CardError
        ``several_direct_matches``, ``no_candidate`` or ``several_candidates``.
    """
    pictures = card.depicted
    direct = [p.item for p in pictures if item_colours[p.item] == p.colour]
    if len(direct) == 1:
        return "direct", direct[0]
    if direct:
        raise CardError(
            "several_direct_matches",
            f"card '{card}' shows {' and '.join(direct)} in their own colours; only one may be",
        )
    items = {p.item for p in pictures}
    colours = {p.colour for p in pictures}
    candidates = [i for i, own in item_colours.items() if i not in items and own not in colours]
    if not candidates:
        raise CardError(
            "no_candidate", f"card '{card}': every item is depicted or has its colour shown"
        )
    if len(candidates) > 1:
        raise CardError(
            "several_candidates",
            f"card '{card}': {', '.join(candidates)} are all neither depicted nor have their "
            "colour shown; one item must be left",
        )
    return "exclusion", candidates[0]


def item_role(item: str, card: Card, item_colours: Mapping[str, str], target: str) -> ItemRole:
    """Say what on a card could draw a participant to an item.

    Returns
    -------
    str
        ``target``; ``shape`` (depicted, own colour not shown); ``colour`` (own colour shown,
        not depicted); ``shape_and_colour`` (both, which takes shared colours or three pictures);
        ``neither`` (what the exclusion rule would accept).
    """
    if item == target:
        return "target"
    pictures = card.depicted
    depicted = any(p.item == item for p in pictures)
    colour_shown = any(p.colour == item_colours[item] for p in pictures)
    if depicted:
        return "shape_and_colour" if colour_shown else "shape"
    return "colour" if colour_shown else "neither"


_ERROR_OF_ROLE = {
    "target": "wrong_mode",
    "shape": "shape_capture",
    "colour": "colour_capture",
    "shape_and_colour": "shape_and_colour_capture",
    "neither": "rule_confusion",
}


class CardGame:
    """The parts that every card game shares; a game adds its modes, its rules and its deck."""

    modes: tuple[Mode, ...] = ("grab",)
    default_n_pictures = 2
    additional_rules: frozenset[str] = frozenset()
    #: Items that must carry a time.
    timed_items: frozenset[str] = frozenset()
    #: Whether the picture of one item, which a study may choose, turns grabbing into shouting.
    has_shout_item = False
    hideable: tuple[str, ...] = ()
    hat_mover: HatMover | None = None

    def __init__(self, settings: GameSettings, *, item_colours: Mapping[str, str]) -> None:
        self.name = settings.name
        self.item_colours = MappingProxyType(dict(settings.item_colours or item_colours))
        self.n_pictures = self.default_n_pictures
        if settings.n_pictures is not None:
            self.n_pictures = settings.n_pictures
        self.rules = settings.rules
        self._check(settings)

    def _check(self, settings: GameSettings) -> None:
        unknown = settings.rules - self.additional_rules
        if unknown:
            known = ", ".join(sorted(self.additional_rules)) or "it has none"
            raise ConfigError(
                f"game.rules: {', '.join(sorted(unknown))} is no additional rule of {self.name} "
                f"({known})"
            )
        if settings.shout_item is not None and not self.has_shout_item:
            raise ConfigError(
                f"game {self.name}: shout_item is {settings.shout_item!r}, but no picture asks for "
                "shouting in this game"
            )
        if settings.times and not self.timed_items:
            raise ConfigError(f"game {self.name}: times are set, but no item of it tells the time")
        if settings.hat_mover is not None and self.hat_mover is None:
            raise ConfigError(f"game {self.name}: hat_mover is set, but it has no hat to move")
        for name in [*self.item_colours, *self.item_colours.values()]:
            if not is_name(name):
                raise ConfigError(
                    f"game {self.name}: item_colours holds {name!r}; the name of an item or colour "
                    "is one word without :, @ or brackets"
                )
        if settings.shout_item is not None and "shout" not in self.modes:
            raise ConfigError(f"game {self.name}: shout_item is set, but nothing is shouted in it")
        if not 1 <= self.n_pictures < len(self.item_colours):
            raise ConfigError(
                f"game.n_pictures is {self.n_pictures}, but with "
                f"{len(self.item_colours)} items a card has 1 to {len(self.item_colours) - 1}"
            )

    def answers(self, mode: Mode) -> tuple[str, ...]:
        """Return the items: each can be grabbed, and shouted where there is shouting."""
        return tuple(self.item_colours) if mode in self.modes else ()

    def cards(self, kind: str) -> Iterator[Card]:
        """Yield every card with different items in different colours."""
        colours = sorted(set(self.item_colours.values()))
        for items in combinations(sorted(self.item_colours), self.n_pictures):
            for shown in permutations(colours, self.n_pictures):
                yield Card(tuple(Picture(i, c) for i, c in zip(items, shown, strict=True)))

    def vary(self, cards: Sequence[Card], rng: np.random.Generator) -> tuple[Card, ...]:
        """Return the cards as they are: nothing is left open."""
        return tuple(cards)

    def deck_margins(self, kind: str) -> DeckMargins | None:
        """Return None: there is no deck but the legal cards."""
        return None

    def initial_state(
        self, rng: np.random.Generator | None = None, *, n_trials: int = 0
    ) -> GameState:
        """Return an empty table: there is nothing to remember."""
        return GameState()

    def parse(self, text: str) -> Card:
        """Read a card text in this game's items and colours."""
        return parse_card(text, self.item_colours, timed_items=self.timed_items)

    def mode(self, card: Card) -> Mode:
        """Return what the card demands."""
        return "grab"

    def stimulus(self, card: Card, state: GameState) -> Stimulus:
        """Solve a card by the base logic; an illegal card raises `CardError`."""
        rule, target = base_rule(card, self.item_colours)
        return Stimulus(card, state, Solution(rule, self.mode(card), target, "item", target))

    def correct_responses(self, stimulus: Stimulus) -> frozenset[Response]:
        """Return the one response that counts as right."""
        return frozenset({Response(stimulus.solution.mode, stimulus.solution.answer)})

    def error_kind(self, response: Response, stimulus: Stimulus) -> str | None:
        """Name the kind of error by the role that the chosen item has on the card."""
        if response in self.correct_responses(stimulus):
            return None
        target = str(stimulus.solution.target)
        return _ERROR_OF_ROLE[item_role(response.answer, stimulus.card, self.item_colours, target)]

    def hat_choices(self, stimulus: Stimulus, outcome: Outcome) -> tuple[str, ...]:
        """Return nothing: there is no hat."""
        return ()

    def advance(self, state: GameState, stimulus: Stimulus, outcome: Outcome) -> GameState:
        """Return the table as it was."""
        return state


@cache
def available_games() -> tuple[str, ...]:
    """Return the names of the games in this folder, in alphabetical order."""
    return tuple(
        sorted(
            module.name.replace("_", "-")
            for module in iter_modules(__path__)
            if not module.name.startswith("_")
        )
    )


def make_game(settings: GameSettings) -> Game:
    """Build a game as a study sets it; the same settings give the same game, which is pure.

    Raises
    ------
    ConfigError
        If there is no such game, or a setting does not fit it.
    """
    # The order of a study's items is part of the settings, which comparing mappings would not see.
    return _built(_HashableSettings(settings, tuple(settings.item_colours.items())))


@dataclass(frozen=True, slots=True)
class _HashableSettings:
    """Settings that can be looked up, their items in order."""

    settings: GameSettings
    items: tuple[tuple[str, str], ...]

    def __hash__(self) -> int:
        s = self.settings
        return hash((s.name, self.items, s.n_pictures, s.shout_item, s.rules, s.times))


@lru_cache(maxsize=256)
def _built(wanted: _HashableSettings) -> Game:
    settings = wanted.settings
    if settings.name not in available_games():
        raise ConfigError(
            f"{settings.name!r} is no game; there are {', '.join(available_games())}"
            + suggestion(settings.name, available_games())
        )
    module = import_module(f"{__name__}.{settings.name.replace('-', '_')}")
    game: Game = module.build(settings)
    return game


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" for the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
