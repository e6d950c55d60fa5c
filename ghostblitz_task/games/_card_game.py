"""The base logic that every card game shares, and a game to start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from types import MappingProxyType

import numpy as np

from ghostblitz_task.cards import Card, Picture, is_name, parse_card
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games._values import (
    DeckMargins,
    GameSettings,
    GameState,
    HatMover,
    ItemRole,
    Mode,
    Outcome,
    Response,
    Solution,
    Stimulus,
)


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
