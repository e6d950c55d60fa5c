"""Ghost Blitz: 5 to 12: nine items, three pictures, a clock, a mirror and an owl.

Order of precedence: mirror-owl, mirror, time, base logic. The first two and the shouting for the
owl are additional rules, each on or off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType

import numpy as np

from ghostblitz_task.cards import MIRROR_ITEM, TIMED_ITEM, Card, Picture, is_clock_time
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import (
    CardGame,
    DeckMargins,
    Game,
    GameSettings,
    GameState,
    Mode,
    Response,
    Solution,
    Stimulus,
    base_rule,
)
from ghostblitz_task.games._five_to_twelve_deck import nine_item_margins
from ghostblitz_task.games._spoken_times import spoken_times

OWL, GHOST = "owl", "ghost"
RULES = ("mirror", "owl", "mirror-owl")
ITEM_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "bat": "black",
        "hat": "black",
        "key": "green",
        MIRROR_ITEM: "green",
        "flashlight": "blue",
        TIMED_ITEM: "blue",
        "vial": "red",
        OWL: "red",
        GHOST: "white",
    }
)
#: Nine, one for each ghost-and-clock card of the deck; chosen so that no two faces look alike.
TIMES = ("11:55", "01:40", "03:00", "04:20", "05:10", "06:30", "07:50", "09:15", "10:05")


class FiveToTwelve(CardGame):
    """The base logic and the rules of precedence above it; see the module."""

    modes: tuple[Mode, ...] = ("grab", "shout")
    default_n_pictures = 3
    additional_rules = frozenset(RULES)
    timed_items = frozenset({TIMED_ITEM})

    def __init__(self, settings: GameSettings) -> None:
        super().__init__(settings, item_colours=ITEM_COLOURS)
        needed = {GHOST, TIMED_ITEM, *(() if not self.rules else (MIRROR_ITEM, OWL))}
        missing = sorted(needed - set(self.item_colours))
        if missing:
            raise ConfigError(
                f"game {self.name}: item_colours lacks {', '.join(missing)}, which its rules name"
            )
        self.times = settings.times or TIMES
        for time in self.times:
            if not is_clock_time(time) or self.times.count(time) > 1:
                raise ConfigError(
                    f"game {self.name}: times holds {time!r}; each is a different time on a clock "
                    "face, from 01:00 to 12:59"
                )

    def answers(self, mode: Mode) -> tuple[str, ...]:
        """Return the items to grab; to shout: times, and names and colours where rules ask."""
        if mode == "grab":
            return tuple(self.item_colours)
        names = tuple(self.item_colours) if "owl" in self.rules else ()
        colours = tuple(dict.fromkeys(self.item_colours.values()))
        return names + (colours if "mirror-owl" in self.rules else ()) + self.times

    def cards(self, kind: str) -> Iterator[Card]:
        """Yield every card with different items in different colours, items in the mirror too.

        An item seen in the mirror makes a card of its own in a standard deck, and wherever a rule
        looks into the mirror; the owl is never in it. The clock of the n-th card shows the n-th of
        the times, over and over: all times for each card would be cards that differ in nothing
        that the rules of most of them look at.
        """
        looks_into_mirror = kind != "legal" or bool(self.rules & {"mirror", "mirror-owl"})
        n_clocks = 0
        for card in super().cards(kind):
            for made in (card, *(_with_mirrored(card) if looks_into_mirror else ())):
                if any(p.item == TIMED_ITEM for p in made.depicted):
                    yield _with_time(made, self.times[n_clocks % len(self.times)])
                    n_clocks += 1
                else:
                    yield made

    def vary(self, cards: Sequence[Card], rng: np.random.Generator) -> tuple[Card, ...]:
        """Draw the times: those that are to be shouted in turn, the others at random."""
        in_turn = [self.times[int(i)] for i in rng.permutation(len(self.times))]
        n_shouted = 0
        varied = []
        for card in cards:
            items = {p.item for p in card.depicted}
            if {GHOST, TIMED_ITEM} <= items:
                card = _with_time(card, in_turn[n_shouted % len(in_turn)])
                n_shouted += 1
            elif TIMED_ITEM in items:
                card = _with_time(card, self.times[int(rng.integers(len(self.times)))])
            varied.append(card)
        return tuple(varied)

    def deck_margins(self, kind: str) -> DeckMargins | None:
        """Return the margins of the 63-card deck; there is no balanced one."""
        if kind != "standard" or dict(self.item_colours) != dict(ITEM_COLOURS):
            return None
        return nine_item_margins(self.item_colours) if self.n_pictures == 3 else None

    def stimulus(self, card: Card, state: GameState) -> Stimulus:
        """Solve a card by the first rule that applies."""
        return Stimulus(card, state, self._solve(card, self.rules))

    def _solve(self, card: Card, rules: frozenset[str]) -> Solution:
        items = {p.item for p in card.depicted}
        mirrored = next((p.mirrored for p in card.pictures if p.mirrored), None)
        tells_time = {GHOST, TIMED_ITEM} <= items
        by_mirror = _by_mirror(mirrored, OWL in items, rules)
        if by_mirror is not None and tells_time:
            raise CardError(
                "ambiguous_rulebook",
                f"card '{card}' shows ghost and clock and an item in the mirror; the rulebook does "
                "not say which rule wins",
            )
        if by_mirror is not None:
            return by_mirror
        if tells_time:
            time = next(str(p.time) for p in card.depicted if p.item == TIMED_ITEM)
            return Solution("time", "shout", time, "time", None)
        rule, target = base_rule(card, self.item_colours)
        shout = "owl" in rules and OWL in items
        return Solution(rule, "shout" if shout else "grab", target, "item", target)

    def correct_responses(self, stimulus: Stimulus) -> frozenset[Response]:
        """Return what counts as right; a time may be said in several ways."""
        solution = stimulus.solution
        if solution.answer_kind != "time":
            return super().correct_responses(stimulus)
        return frozenset(Response(solution.mode, said) for said in spoken_times(solution.answer))

    def error_kind(self, response: Response, stimulus: Stimulus) -> str | None:
        """Name the kind of error; what a rule of lower precedence asks for is a rule missed."""
        right = self.correct_responses(stimulus)
        if response in right:
            return None
        if any(response.answer == r.answer for r in right):
            return "wrong_mode"
        if response in self._by_fewer_rules(stimulus.card):
            return "rule_missed"
        solution = stimulus.solution
        if solution.answer_kind == "item":
            if response.answer not in self.item_colours:
                return "wrong_kind"
            return super().error_kind(response, stimulus)
        if solution.answer_kind == "time":
            is_item_or_colour = response.answer in {
                *self.item_colours,
                *self.item_colours.values(),
            }
            return "wrong_kind" if is_item_or_colour or response.mode == "grab" else "wrong_time"
        if response.answer not in self.item_colours.values():
            return "wrong_kind"
        own = self.item_colours[str(solution.target)]
        return "own_colour" if response.answer == own else "wrong_colour"

    def _by_fewer_rules(self, card: Card) -> set[Response]:
        """Return what the card would ask for with some of its rules, the time's too, forgotten."""
        found = set()
        for n in range(len(self.rules)):
            for kept in combinations(sorted(self.rules), n):
                try:
                    solution = self._solve(card, frozenset(kept))
                except CardError:
                    continue
                found.add(Response(solution.mode, solution.answer))
        try:
            _, target = base_rule(card, self.item_colours)
        except CardError:
            return found
        return found | {Response("grab", target)}


def _by_mirror(mirrored: Picture | None, shows_owl: bool, rules: frozenset[str]) -> Solution | None:
    """Return what an item seen in the mirror asks for, if a rule for it is on."""
    if mirrored is None:
        return None
    if "mirror-owl" in rules and shows_owl:
        return Solution("mirror-owl", "shout", mirrored.colour, "colour", mirrored.item)
    if "mirror" in rules:
        shout = "owl" in rules and shows_owl
        mode: Mode = "shout" if shout else "grab"
        return Solution("mirror", mode, mirrored.item, "item", mirrored.item)
    return None


def _with_mirrored(card: Card) -> Iterator[Card]:
    """Put each of the other pictures into the card's mirror, if it has one."""
    mirror = next((p for p in card.pictures if p.item == MIRROR_ITEM), None)
    for seen in card.pictures if mirror else ():
        if mirror is not None and seen.item not in (MIRROR_ITEM, OWL):
            others = [p for p in card.pictures if p not in (seen, mirror)]
            yield Card((replace(mirror, mirrored=seen), *others))


def _with_time(card: Card, time: str) -> Card:
    """Set every clock on the card."""

    def timed(picture: Picture) -> Picture:
        mirrored = timed(picture.mirrored) if picture.mirrored else None
        own_time = time if picture.item == TIMED_ITEM else None
        return replace(picture, time=own_time, mirrored=mirrored)

    return Card(tuple(timed(p) for p in card.pictures))


def build(settings: GameSettings) -> Game:
    """Build the game as a study sets it."""
    return FiveToTwelve(settings)
