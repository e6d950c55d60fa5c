"""What a screen is made of, as values, and how much room each part of it takes.

All places and sizes are in degrees of visual angle, from the centre of the screen, x to the
right and y up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file
from typing import Literal

from PIL import ImageFont

from ghostblitz_task.drawing import FONT
from ghostblitz_task.games import Stimulus

__all__ = [
    "LINE_HEIGHT",
    "TEXT_DEG",
    "WRAP_DEG",
    "Bar",
    "Box",
    "Drawing",
    "Element",
    "Line",
    "Patch",
    "Screen",
    "Sprite",
    "Words",
    "balanced",
    "box_around",
    "box_of",
    "sentence",
    "text_width_deg",
    "wrapped",
]

#: State of the square in the corner: dark, white with the card, or one of two greys, in turn,
#: while a screen waits for a key.
Patch = Literal["off", "card", "waiting", "waiting-next"]

TEXT_DEG = 0.75
WRAP_DEG = 26.0
#: Line spacing of DejaVu Sans, by its size: ascent 0.928, descent 0.236 (its ``hhea`` table).
LINE_HEIGHT = 1.164
# Bold type that is made of regular one is about this much wider.
_BOLD = 1.15
# Text is measured at this size, where rounding to pixels does not count.
_RULER_PX = 100


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG at a place."""

    svg: str
    x_deg: float
    y_deg: float
    width_deg: float
    height_deg: float


@dataclass(frozen=True, slots=True)
class Words:
    """A text centred at a place, or below it with `hangs`, however many lines it takes."""

    text: str
    x_deg: float
    y_deg: float
    height_deg: float = TEXT_DEG
    bold: bool = False
    wrap_deg: float = WRAP_DEG
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    from_deg: tuple[float, float]
    to_deg: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar; `fraction` of it is filled."""

    fraction: float
    x_deg: float
    y_deg: float
    width_deg: float
    height_deg: float


Element = Drawing | Words | Line | Bar


@dataclass(frozen=True, slots=True)
class Sprite:
    """A drawing that moves from frame to frame; its own place does not count.

    An apparatus renders each different drawing once, when a screen with it is prepared; in a
    frame it is only put to its place and turned, clockwise.
    """

    drawing: Drawing
    x_deg: float
    y_deg: float
    turned_deg: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """One screen.

    Attributes
    ----------
    name : str
        As in the log.
    table : tuple of Element
        What lies on the table on every screen of a block; may be drawn once and kept.
    elements : tuple of Element
        The rest, drawn above it.
    patch : str
        State of the square in the corner.
    awaits_keys : tuple of str
        The keys that end a self-paced screen.
    stimulus : Stimulus or None
        The card that asks for a response, for apparatus that answer by themselves.
    sprites : tuple of Sprite
        What moves, drawn above all else.
    view : object or None
        What can be seen on a screen that is no card, for apparatus that answer by themselves.
    """

    name: str
    elements: tuple[Element, ...] = ()
    table: tuple[Element, ...] = ()
    patch: Patch = "off"
    awaits_keys: tuple[str, ...] = ()
    stimulus: Stimulus | None = None
    sprites: tuple[Sprite, ...] = ()
    view: object | None = None


# --- room ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in degrees."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def at(cls, x: float, y: float, width: float, height: float) -> Box:
        """Return the box of this size with its centre at a place."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    @property
    def middle(self) -> float:
        """Return the height of its centre."""
        return (self.bottom + self.top) / 2

    def overlaps(self, other: Box, *, by_deg: float = 1e-6) -> bool:
        """Say whether two boxes share more than a strip of this width."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.top, other.top) - max(self.bottom, other.bottom)
        return across > by_deg and down > by_deg

    def holds(self, x: float, y: float) -> bool:
        """Say whether a place lies in the box."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


def box_of(element: Element) -> Box:
    """Return the room that an element takes; that of words is measured in the screens' font."""
    if isinstance(element, Words):
        lines = wrapped(element.text, element.wrap_deg, element.height_deg, bold=element.bold)
        width = max(text_width_deg(line, element.height_deg, bold=element.bold) for line in lines)
        height = len(lines) * LINE_HEIGHT * element.height_deg
        middle = element.y_deg - height / 2 if element.hangs else element.y_deg
        return Box.at(element.x_deg, middle, width, height)
    if isinstance(element, Line):
        (x1, y1), (x2, y2) = element.from_deg, element.to_deg
        return Box(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
    return Box.at(element.x_deg, element.y_deg, element.width_deg, element.height_deg)


def box_around(boxes: Iterable[Box]) -> Box:
    """Return the smallest box that holds all of these."""
    sides = [(b.left, b.bottom, b.right, b.top) for b in boxes]
    left, bottom, right, top = zip(*sides, strict=True)
    return Box(min(left), min(bottom), max(right), max(top))


def sentence(text: str) -> str:
    """Return a text as it stands at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=4096)
def text_width_deg(text: str, height_deg: float, *, bold: bool = False) -> float:
    """Return how wide one line of text is."""
    return _ruler().getlength(text) / _RULER_PX * height_deg * (_BOLD if bold else 1.0)


@lru_cache(maxsize=1)
def _ruler() -> ImageFont.FreeTypeFont:
    with as_file(FONT) as font:
        return ImageFont.truetype(str(font), _RULER_PX)


def wrapped(text: str, wrap_deg: float, height_deg: float, *, bold: bool = False) -> list[str]:
    """Break a text at spaces into lines; a word that is wider is a line of its own."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        words = paragraph.split(" ")
        line = words[0]
        for word in words[1:]:
            longer = f"{line} {word}"
            if text_width_deg(longer, height_deg, bold=bold) <= wrap_deg:
                line = longer
            else:
                lines.append(line)
                line = word
        lines.append(line)
    return lines


def balanced(text: str, wrap_deg: float, height_deg: float = TEXT_DEG) -> str:
    """Break a text into as few lines as fit, and those about equally long."""
    lines = []
    for paragraph in text.split("\n"):
        n_lines = len(wrapped(paragraph, wrap_deg, height_deg))
        narrow = wrap_deg
        while narrow > height_deg and len(wrapped(paragraph, narrow, height_deg)) == n_lines:
            best = wrapped(paragraph, narrow, height_deg)
            narrow -= height_deg / 2
        lines += best
    return "\n".join(lines)
