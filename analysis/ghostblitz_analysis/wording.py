"""How levels, error kinds and sources are called where people read them, and in which colour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

import pandas as pd

__all__ = [
    "ERROR_COLOURS",
    "ERROR_MEANINGS",
    "MISSING",
    "RULE_COLOURS",
    "SOURCE_NOTES",
    "cards_name",
    "cell_name",
    "count_of",
    "interval",
    "level_name",
    "number",
    "p_value",
    "percent",
    "proportion",
    "signed",
    "signed_interval",
    "source_note",
    "with_minus",
]

#: What stands in a table where there is no value.
MISSING = "–"

#: Okabe & Ito (2008), "Color Universal Design"; told apart under colour-vision deficiency.
RULE_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "direct": "#0072B2",
        "exclusion": "#D55E00",
        "mirror": "#009E73",
        "mirror-owl": "#E69F00",
        "time": "#CC79A7",
    }
)
#: None of the colours of direct and exclusion; from Okabe & Ito (2008), Tol (2021), and greys.
ERROR_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "shape_capture": "#56B4E9",
        "colour_capture": "#E69F00",
        "shape_and_colour_capture": "#009E73",
        "rule_confusion": "#CC79A7",
        "hat_grabbed": "#661100",
        "under_hat": "#999933",
        "grabbed_for_call": "#DDCC77",
        "called_for_grab": "#44AA99",
        "called_for_hat_grab": "#117733",
        "hat_called": "#332288",
        "wrong_item_called": "#AA4499",
        "rule_missed": "#225555",
        "wrong_kind": "#99DDFF",
        "wrong_time": "#004488",
        "own_colour": "#BB5566",
        "wrong_colour": "#997700",
        "wrong_mode": "#F0E442",
        "both_modes": "#882255",
        "early": "#BBBBBB",
        "late": "#555555",
    }
)
ERROR_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "shape_capture": "took an item that was depicted, in another item's colour",
        "colour_capture": "took an item whose own colour was shown, on another item",
        "shape_and_colour_capture": "took an item that was depicted and whose colour was shown",
        "rule_confusion": "took an item that the exclusion rule would accept, though there was "
        "a direct match",
        "hat_grabbed": "grabbed the hat, though another item was to be grabbed or one to be called",
        "under_hat": "grabbed the target itself, though it lay under the hat, which was to be "
        "grabbed for it",
        "grabbed_for_call": "grabbed an item, though the one under the hat was to be called",
        "called_for_grab": "called a name, though an item was to be grabbed",
        "called_for_hat_grab": "called a name, though the hat was to be grabbed",
        "hat_called": "called the hat instead of the item under it",
        "wrong_item_called": "called another item than the one under the hat",
        "rule_missed": "right if one or more of the rules that apply to the card were left out",
        "wrong_kind": "answered with another kind of thing: an item for a colour, a colour for a "
        "time and so on",
        "wrong_time": "shouted another time than the clock's",
        "own_colour": "shouted the mirrored item's own colour instead of the one shown",
        "wrong_colour": "shouted a colour that is neither the one shown nor the mirrored item's "
        "own",
        "wrong_mode": "right answer, but grabbed instead of shouted or the other way round",
        "both_modes": "grabbed and shouted",
        "early": "responded before the card was shown",
        "late": "no response before the deadline",
    }
)
#: What every figure and the report must say about data that are not from people at the screen.
SOURCE_NOTES: Mapping[str, str] = MappingProxyType(
    {"simulated": "simulated data, not people", "robot": "played by a robot, not a person"}
)

_LEVEL_NAMES = {
    ("block_kind", "pure"): "pure blocks",
    ("block_kind", "mixed"): "mixed blocks",
    ("mode", "grab"): "grab trials",
    ("mode", "shout"): "shout trials",
    ("transformation", "plain"): "plain cards",
    ("transformation", "hat_grab"): "hat to be grabbed",
    ("transformation", "hat_call"): "item under the hat to be called",
}


#: A hyphen that stands for a minus: before a number, and after no letter, digit or stop.
_NEGATIVE = re.compile(r"(?<![\w.])-(?=\.?\d)")


def level_name(factor: str, level: str) -> str:
    """Name a level so that it can stand alone."""
    return _LEVEL_NAMES.get((factor, level), level)


def cell_name(levels: Mapping[str, str]) -> str:
    """Name a cell, or part of one, by its levels."""
    return ", ".join(level_name(factor, level) for factor, level in levels.items())


def cards_name(levels: Mapping[str, str]) -> str:
    """Name the cards of a rule, and the level of other factors if there are any."""
    others = cell_name({factor: level for factor, level in levels.items() if factor != "rule"})
    if "rule" not in levels:
        return others
    return f"{levels['rule']} cards" + (f", {others}" if others else "")


def source_note(sources: Iterable[str]) -> str:
    """Say that data, or part of them, are simulated or a robot's; empty where none are."""
    every = sorted(set(sources))
    part = "partly " if len(every) > 1 else ""
    return "; ".join(part + SOURCE_NOTES[source] for source in every if source in SOURCE_NOTES)


def number(value: object, digits: int) -> str:
    """Write a number with so many decimals, halves away from 0; missing is a dash.

    Halves are those of the shortest decimal that is the number: 1510 of 1600 is .94375 and so
    .9438, although its binary value lies a little below. What rounds to 0 has no sign.
    """
    if _is_missing(value):
        return MISSING
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(str(value))))
    if not exact.is_finite():
        return str(exact)
    rounded = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{rounded if rounded else abs(rounded):f}"


def with_minus(text: str) -> str:
    """Write the hyphens before numbers as minus signs; those in words and dates stay."""
    return _NEGATIVE.sub("\N{MINUS SIGN}", text)


def signed(value: object, digits: int) -> str:
    """Write a number that may be negative, with a minus sign, as it is typeset."""
    return with_minus(number(value, digits))


def signed_interval(low: object, high: object, digits: int) -> str:
    """Write the bounds of an interval that may be negative; a dash where it does not exist."""
    return with_minus(interval(low, high, digits))


def percent(value: object, digits: int = 1) -> str:
    """Write a proportion in percent."""
    if _is_missing(value):
        return MISSING
    return number(Decimal(repr(float(str(value)))) * 100, digits)


def proportion(value: object, digits: int) -> str:
    """Write a number that cannot exceed 1 without its leading zero, as APA style has it."""
    return number(value, digits).removeprefix("0") if not _is_missing(value) else MISSING


def interval(low: object, high: object, digits: int) -> str:
    """Write the bounds of an interval; a dash where it does not exist."""
    if _is_missing(low) or _is_missing(high):
        return MISSING
    return f"[{number(low, digits)}, {number(high, digits)}]"


def p_value(value: object) -> str:
    """Write a p value with three decimals, or as below .001."""
    if _is_missing(value):
        return MISSING
    return "< .001" if float(str(value)) < 0.001 else proportion(value, 3)


def count_of(n: int, noun: str) -> str:
    """Write a count with its noun, in the plural where it is not 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value != value
