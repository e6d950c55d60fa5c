"""The margins of the 63-card deck of nine items; the physical deck's composition is not public.

Nine times seven: for each item one direct and two exclusion cards, nine cards with ghost and
clock, nine with an item in the mirror, nine with the owl, nine with both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from ghostblitz_task.cards import TIMED_ITEM, Card, Picture
from ghostblitz_task.errors import CardError
from ghostblitz_task.games import DeckMargins, Stimulus, base_rule

_OWL, _GHOST, _VIAL = "owl", "ghost", "vial"
# The owl's own direct card shows it; an exclusion card for the vial must, since its colour, red,
# may not be shown, so that the red owl is ruled out by being depicted only.
_PLAIN_WITH_OWL = {f"direct*{_OWL}", f"exclusion*{_VIAL}"}


def nine_item_margins(item_colours: Mapping[str, str]) -> DeckMargins:
    """Return the margins of the standard deck."""
    sections: dict[str, int] = {}
    for item in item_colours:
        sections[f"plain*direct*{item}"] = 1
        sections[f"plain*exclusion*{item}"] = 2
    sections |= {"time": 9, "mirror": 9, "owl*direct": 5, "owl*exclusion": 4, "mirror-owl": 9}
    return DeckMargins(
        63,
        {"section": sections},
        strata="section",
        # An answer has one or two cards, an item some twenty pictures.
        even=MappingProxyType({"depicted": 1, "shown_colour": 1, "answer_in_section": 4}),
        factors=MappingProxyType(
            {
                "section": partial(_section, item_colours=item_colours),
                "answer_in_section": partial(_answer_in_section, item_colours=item_colours),
            }
        ),
    )


def _section(stimulus: Stimulus, *, item_colours: Mapping[str, str]) -> tuple[str, ...]:
    """Return the part of the deck that a card can stand in; none if it is in no deck.

    Every card in a section has one answer, whichever additional rules are in play: where no rule
    of higher precedence applies, the base logic must solve it.
    """
    card = stimulus.card
    items = {p.item for p in card.depicted}
    mirrored = _mirrored(card)
    if {_GHOST, TIMED_ITEM} <= items:
        # The owl is kept for the parts that are about it.
        return ("time",) if mirrored is None and _OWL not in items else ()
    try:
        rule, target = base_rule(card, item_colours)
    except CardError:
        return ()
    if mirrored is not None and _OWL in items:
        return ("mirror-owl",)
    if mirrored is not None:
        # Where the base logic asks for the same item, the card would say nothing of the rule.
        return ("mirror",) if target != mirrored.item else ()
    if f"{rule}*{target}" in _PLAIN_WITH_OWL or _OWL not in items:
        return (f"plain*{rule}*{target}",)
    return (f"owl*{rule}",)


def _answer_in_section(stimulus: Stimulus, *, item_colours: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the section's own rule asks for; the plain sections have fixed targets."""
    card = stimulus.card
    mirrored = _mirrored(card)
    found = _section(stimulus, item_colours=item_colours)
    if not found or found[0].startswith(("plain", "time")):
        return ()
    if mirrored is None:
        return (f"owl*{base_rule(card, item_colours)[1]}",)
    if found[0] == "mirror":
        return (f"mirror*{mirrored.item}",)
    return (f"mirror-owl*{mirrored.colour}", f"mirror-owl*{mirrored.item}")


def _mirrored(card: Card) -> Picture | None:
    return next((p.mirrored for p in card.pictures if p.mirrored), None)
