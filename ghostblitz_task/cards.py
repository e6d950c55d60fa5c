"""Cards as frozen values, and the card text that names them.

A picture is ``item:colour``; a card is its pictures separated by spaces. A clock carries its
time (``clock:green@11:55``) and a mirror may hold another picture in brackets
(``mirror:blue(hat:red)``). The order of the pictures has no meaning for the rules, but it is
kept, since it is where the pictures stand on the drawn card.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ghostblitz_task.errors import CardError

ERROR_CODES = (
    "malformed",
    "unknown_item",
    "unknown_colour",
    "clock_without_time",
    "duplicate_item",
    "several_direct_matches",
    "no_candidate",
    "several_candidates",
    "ambiguous_rulebook",
)

#: The only items that can carry a time or hold another picture.
TIMED_ITEM = "clock"
MIRROR_ITEM = "mirror"

_NAME = r"[^\s:@()]+"
_TIME = r"@(?P<{0}time>[0-9]{{2}}:[0-9]{{2}})"
_PICTURE = re.compile(
    rf"(?P<item>{_NAME}):(?P<colour>{_NAME})(?:{_TIME.format('')})?"
    rf"(?:\((?P<in_item>{_NAME}):(?P<in_colour>{_NAME})(?:{_TIME.format('in_')})?\))?"
)
_CLOCK_FACE = re.compile(r"(0[1-9]|1[0-2]):[0-5][0-9]")


@dataclass(frozen=True, slots=True)
class Picture:
    """One drawn item: what it is, in which colour, its time, and what it mirrors."""

    item: str
    colour: str
    time: str | None = None
    mirrored: Picture | None = None

    def __str__(self) -> str:
        time = f"@{self.time}" if self.time else ""
        mirrored = f"({self.mirrored})" if self.mirrored else ""
        return f"{self.item}:{self.colour}{time}{mirrored}"

    def __iter__(self) -> Iterator[Picture]:
        """Yield the picture and the one in it, outermost first."""
        yield self
        if self.mirrored:
            yield from self.mirrored


@dataclass(frozen=True, slots=True)
class Card:
    """The pictures of one card, in the order in which they are drawn (left to right)."""

    pictures: tuple[Picture, ...]

    def __str__(self) -> str:
        return " ".join(str(picture) for picture in self.pictures)

    @property
    def depicted(self) -> tuple[Picture, ...]:
        """Every picture on the card, one in a mirror included."""
        return tuple(inner for picture in self.pictures for inner in picture)

    @property
    def card_id(self) -> str:
        """The same text for the same card, however its pictures are ordered."""
        return " ".join(sorted(str(picture) for picture in self.pictures))


def parse_card(
    text: str, item_colours: Mapping[str, str], *, timed_items: Collection[str] = ()
) -> Card:
    """Read a card text in a game's items and colours.

    Parameters
    ----------
    text : str
        One card, as in ``book:green ghost:red``.
    item_colours : mapping of str to str
        Each item of the game and its own colour.
    timed_items : collection of str
        The items that must carry a time, in games whose rules ask for it; a study's own item
        may be called clock and tell none.

    Raises
    ------
    CardError
        With code ``malformed``, ``unknown_item``, ``unknown_colour``, ``clock_without_time``
        or ``duplicate_item``; the first that applies, in this order.
    """
    card = _parse(text)
    pictures = card.depicted
    _check_names(text, "item", [p.item for p in pictures], item_colours)
    _check_names(text, "colour", [p.colour for p in pictures], item_colours.values())
    for picture in pictures:
        if picture.item in timed_items and picture.time is None:
            raise CardError(
                "clock_without_time",
                f"card {text!r}: a {picture.item} needs its time, as in "
                f"{picture.item}:{picture.colour}@11:55",
            )
    items = [p.item for p in pictures]
    for item in items:
        if items.count(item) > 1:
            raise CardError("duplicate_item", f"card {text!r} shows {item} more than once")
    return card


def is_name(text: str) -> bool:
    """Say whether a card text can name an item or a colour so."""
    return re.fullmatch(_NAME, text) is not None


def is_clock_time(text: str) -> bool:
    """Say whether a text is a time on a clock face, from 01:00 to 12:59."""
    return _CLOCK_FACE.fullmatch(text) is not None


def _check_names(text: str, kind: str, found: list[str], known: Collection[str]) -> None:
    for name in found:
        if name not in known:
            expected = ", ".join(dict.fromkeys(known))
            raise CardError(
                f"unknown_{kind}", f"card {text!r}: {name!r} is no {kind} of this game ({expected})"
            )


@lru_cache(maxsize=65536)
def _parse(text: str) -> Card:
    pictures = []
    for token in text.split():
        match = _PICTURE.fullmatch(token)
        if match is None:
            raise CardError(
                "malformed", f"card {text!r}: {token!r} is no picture; write item:colour"
            )
        inner = None
        if match["in_item"]:
            inner = _picture(text, match["in_item"], match["in_colour"], match["in_time"], None)
        pictures.append(_picture(text, match["item"], match["colour"], match["time"], inner))
    if not pictures:
        raise CardError("malformed", "an empty card; write its pictures as item:colour")
    return Card(tuple(pictures))


def _picture(
    text: str, item: str, colour: str, time: str | None, mirrored: Picture | None
) -> Picture:
    if mirrored is not None and item != MIRROR_ITEM:
        raise CardError("malformed", f"card {text!r}: only a mirror holds another picture")
    if time is not None and item != TIMED_ITEM:
        raise CardError("malformed", f"card {text!r}: only a clock carries a time")
    if time is not None and not is_clock_time(time):
        raise CardError("malformed", f"card {text!r}: {time} is no time on a clock face")
    return Picture(item, colour, time, mirrored)
