"""Cards of the data, solved: how a reader of the report learns the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from ghostblitz_analysis.hat_measures import PLAIN, transformation_of
from ghostblitz_analysis.solving import read_item_colours
from ghostblitz_task.cards import Card, parse_card
from ghostblitz_task.drawing import card_svg, load_palette
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.schema import column

__all__ = ["CardExample", "card_examples", "inline_svg"]

_PALETTE = "standard"
_TRANSFORMED = {"hat_grab": "target under the hat", "hat_call": "hat as target"}


@dataclass(frozen=True, slots=True)
class CardExample:
    """A card of the data with its solution; `svg` is empty where its items have no drawing."""

    rule: str
    svg: Markup
    text: str
    answer: str
    why: str


def card_examples(trials: pd.DataFrame) -> list[CardExample]:
    """Return the first card of each rule, solved; then the first of each that a hat transforms."""
    return [_example(name, trial) for name, trial in _first_trials(trials)]


def _first_trials(trials: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    kinds = transformation_of(trials).fillna(PLAIN)
    for rule in column("rule").levels:
        found = trials[(trials["rule"] == rule) & (kinds == PLAIN)]
        if not found.empty:
            yield rule, found.iloc[0]
    for kind, name in _TRANSFORMED.items():
        found = trials[kinds == kind]
        if not found.empty:
            yield name, found.iloc[0]


def _example(name: str, trial: pd.Series) -> CardExample:
    colours = read_item_colours(trial["item_colours"])
    card = parse_card(trial["card"], colours)
    shown = " and ".join(f"{p.item} in {p.colour}" for p in card.depicted)
    article = "the " if trial["answer_kind"] == "item" else ""
    answer = f"{trial['mode']} {article}{trial['answer']}"
    return CardExample(name, _card_drawing(name, card), shown, answer, _why(trial, colours))


def _why(trial: pd.Series, colours: dict[str, str]) -> str:
    target, rule, hat_over = trial["target"], trial["rule"], trial["hat_over"]
    own = colours.get(str(target), "")
    reasons = {
        "direct": f"the {target} is shown in its own colour, {own}",
        "exclusion": f"no item is shown in its own colour; the {target} ({own}) is the only "
        "item that is neither depicted nor has its colour shown",
        "mirror": f"the {target} is seen in the mirror, so it is the answer whatever its colour",
        "mirror-owl": f"the {target} is seen in the mirror and the owl is depicted, so the colour "
        "in which it is shown is the answer",
        "time": "ghost and clock are both depicted, so the clock's time is the answer",
    }
    why = reasons[rule]
    if pd.isna(hat_over) or target == trial["answer"]:
        return why
    if trial["mode"] == "shout":
        return f"{why}; but under the hat is the {hat_over}, which is to be called"
    return f"{why}; but it is under the hat, which is to be grabbed for it"


def _card_drawing(name: str, card: Card) -> Markup:
    try:
        return inline_svg(f"card-{name.replace(' ', '-')}", card_svg(card, load_palette(_PALETTE)))
    except ConfigError:  # A study's own items, which have no drawing: the words must do.
        return Markup("")


def inline_svg(name: str, svg: str) -> Markup:
    """Return an SVG for use inside the page, its ids made unlike those of other figures."""
    start = svg.index("<svg")  # Leave the XML declaration and document type away.
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[start:], flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'((?:xlink:)?href)="#', rf'\1="#{name}-', body)
    body = body.replace("url(#", f"url(#{name}-")
    return Markup(body)
