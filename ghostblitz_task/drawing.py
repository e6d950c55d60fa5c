"""Items and cards as SVG, and SVG as pixels.

Each item is one SVG in ``ghostblitz_task/art``, recoloured here by text replacement, so that
the window, the report and the docs show the same picture. Nothing here opens a window.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from importlib.resources import as_file, files
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
import resvg_py
from PIL import Image

from ghostblitz_task.artwork import (
    SVG_OPEN,
    drawings,
    placeholder_art,
    recoloured,
    standalone_svg,
)
from ghostblitz_task.cards import MIRROR_ITEM, TIMED_ITEM, Card, Picture
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.palettes import Palette, available_palettes, load_palette

__all__ = [
    "FONT",
    "FONT_FAMILY",
    "Palette",
    "available_items",
    "available_palettes",
    "card_group",
    "card_size_deg",
    "card_svg",
    "covered_pictures",
    "item_svg",
    "items_row_svg",
    "load_palette",
    "picture_svg",
    "render_png",
    "render_rgba",
]

_ART = files("ghostblitz_task") / "art"
#: The only font that text in an SVG is set in, and its name there.
FONT = _ART / "DejaVuSans-subset.ttf"
FONT_FAMILY = "DejaVu Sans"
_ITEM_UNITS = 200.0  # every item's viewBox is 0 0 200 200

# Card geometry in degrees of visual angle; the margin also stands between two pictures.
_MARGIN_DEG = 0.6
_CORNER_DEG = 0.6
_CARD_LINE_DEG = 0.12

# Where clock.svg and mirror.svg have their face and their glass, in the units of their box.
_FACE = (100.0, 108.0, 52.0)  # x and y of its centre, radius
_GLASS = (100.0, 100.0)  # x and y of its centre
#: The box of a mirrored item: its corners leave the glass, but no item fills them.
_MIRRORED_SIZE = 108.0
# The hour hand is shorter and thicker; lengths are shares of the face's radius.
_HOUR_HAND, _MINUTE_HAND = (0.5, 11.0), (0.84, 6.5)
#: Only an empty glass gleams: on a mirrored item the strokes would be read as part of it.
_GLINTS = (
    '<path fill="none" stroke="#GLINT" stroke-width="7" stroke-linecap="round" '
    'd="M68 94 L104 54 M78 120 L126 68 M106 128 L128 104"/>'
)


# --- items and cards ------------------------------------------------------------------------


def available_items() -> tuple[str, ...]:
    """List the items that have a drawing, in alphabetical order."""
    return drawings()


def _picture_group(picture: Picture, palette: Palette) -> str:
    """Draw the picture in its box of 200 by 200 units, without the ``<svg>`` around it."""
    if picture.time is not None and picture.item != TIMED_ITEM:
        raise ConfigError(f"{picture}: only a {TIMED_ITEM} shows a time")
    if picture.mirrored is not None and picture.item != MIRROR_ITEM:
        raise ConfigError(f"{picture}: only a {MIRROR_ITEM} shows another item")
    drawn = placeholder_art(picture.item, "item")
    if picture.time is not None:
        drawn += _hands(picture.time)
    if picture.item == MIRROR_ITEM and picture.mirrored is None:
        drawn += _GLINTS
    group = recoloured(drawn, picture.colour, palette)
    if picture.mirrored is not None:
        left, top = (centre - _MIRRORED_SIZE / 2 for centre in _GLASS)
        group += _placed(picture.mirrored, palette, x=left, y=top, size=_MIRRORED_SIZE)
    return group


def _hands(time: str) -> str:
    """Draw the hands of the clock, the hour hand on its way to the next hour."""
    hour, minute = (int(part) for part in time.split(":"))
    x, y, radius = _FACE
    drawn = []
    for turn, (length, width) in (
        ((hour % 12 + minute / 60) / 12, _HOUR_HAND),
        (minute / 60, _MINUTE_HAND),
    ):
        tip_x = x + length * radius * math.sin(math.tau * turn)
        tip_y = y - length * radius * math.cos(math.tau * turn)
        drawn.append(
            f'<path fill="none" stroke="#LINE" stroke-width="{width:g}" stroke-linecap="round" '
            f'd="M{x:g} {y:g} L{tip_x:.3f} {tip_y:.3f}"/>'
        )
    return "".join(drawn)


def _placed(picture: Picture, palette: Palette, *, x: float, y: float, size: float) -> str:
    group = _picture_group(picture, palette)
    return f'<g transform="translate({x:g} {y:g}) scale({size / _ITEM_UNITS:g})">{group}</g>'


def item_svg(item: str, colour: str, palette: Palette) -> str:
    """Draw one item in one colour, as an SVG of its own, on no ground.

    A clock has no hands and a mirror is empty; `picture_svg` draws them otherwise.

    Raises
    ------
    ConfigError
        If there is no drawing of the item, or the palette lacks the colour.
    """
    return standalone_svg(_picture_group(Picture(item, colour), palette), f"{colour} {item}")


def picture_svg(picture: Picture, palette: Palette) -> str:
    """Draw one picture of a card, with its time and its mirrored item, on no ground.

    Raises
    ------
    ConfigError
        As in `item_svg`, and for a time on anything but a clock or an item in anything but a
        mirror.
    """
    return standalone_svg(_picture_group(picture, palette), str(picture))


def items_row_svg(
    pictures: Sequence[Picture | None],
    palette: Palette,
    *,
    picture_deg: float = 5.0,
    gap_deg: float = _MARGIN_DEG,
) -> str:
    """Draw items side by side on no ground, as they stand on the table; one unit is one degree.

    None leaves a place empty.

    Raises
    ------
    ConfigError
        As in `picture_svg`, and for an empty row.
    """
    if not pictures:
        raise ConfigError("a row of items needs at least one item")
    width_deg = len(pictures) * (picture_deg + gap_deg) - gap_deg
    drawn = "".join(
        _placed(picture, palette, x=i * (picture_deg + gap_deg), y=0, size=picture_deg)
        for i, picture in enumerate(pictures)
        if picture is not None
    )
    return f'{SVG_OPEN} viewBox="0 0 {width_deg:g} {picture_deg:g}" role="img">{drawn}</svg>'


def card_svg(
    card: Card,
    palette: Palette,
    *,
    width_deg: float | None = None,
    height_deg: float | None = None,
    picture_deg: float = 5.0,
) -> str:
    """Draw the card with its pictures side by side, left to right; one unit is one degree.

    Parameters
    ----------
    card : Card
        Its pictures are drawn in the order in which they stand.
    palette : Palette
        The colours.
    width_deg, height_deg : float, optional
        The card in degrees of visual angle; by default as large as its pictures need, which is
        the same for all cards with the same number of pictures. A larger card spreads them.
    picture_deg : float
        The square box of each picture, in degrees.

    Raises
    ------
    ConfigError
        If a picture cannot be drawn (see `picture_svg`), or the pictures do not fit the card.
    """
    size_deg = card_size_deg(
        card, width_deg=width_deg, height_deg=height_deg, picture_deg=picture_deg
    )
    group = card_group(card, palette, size_deg=size_deg, picture_deg=picture_deg)
    view_box = f'viewBox="0 0 {size_deg[0]:g} {size_deg[1]:g}"'
    return f'{SVG_OPEN} {view_box} role="img" aria-label={quoteattr(str(card))}>{group}</svg>'


def card_size_deg(
    card: Card,
    *,
    width_deg: float | None = None,
    height_deg: float | None = None,
    picture_deg: float = 5.0,
) -> tuple[float, float]:
    """Give the width and height of the drawn card in degrees; parameters as in `card_svg`.

    Raises
    ------
    ConfigError
        If the pictures do not fit the card.
    """
    n_pictures = len(card.pictures)
    if n_pictures == 0 or picture_deg <= 0:
        raise ConfigError(f"card {str(card)!r}: nothing to draw at {picture_deg:g} degrees")
    least = (n_pictures * (picture_deg + _MARGIN_DEG) - _MARGIN_DEG, picture_deg)
    width = least[0] + 2 * _MARGIN_DEG if width_deg is None else width_deg
    height = least[1] + 2 * _MARGIN_DEG if height_deg is None else height_deg
    if width < least[0] or height < least[1]:
        raise ConfigError(
            f"card {str(card)!r}: {n_pictures} pictures of {picture_deg:g} degrees need at least "
            f"{least[0]:g} x {least[1]:g} degrees, the card has {width:g} x {height:g}"
        )
    return width, height


def card_group(
    card: Card, palette: Palette, *, size_deg: tuple[float, float], picture_deg: float = 5.0
) -> str:
    """Draw the shapes of `card_svg` without the ``<svg>``, to be put into another SVG.

    Raises
    ------
    ConfigError
        As in `card_svg`, except that the size is taken as given.
    """
    width, height = size_deg
    ground = (
        f'<rect x="{_CARD_LINE_DEG / 2:g}" y="{_CARD_LINE_DEG / 2:g}" '
        f'width="{width - _CARD_LINE_DEG:g}" height="{height - _CARD_LINE_DEG:g}" '
        f'rx="{_CORNER_DEG:g}" fill="{palette.card_ground}" '
        f'stroke="{palette.line}" stroke-width="{_CARD_LINE_DEG:g}"/>'
    )
    gap = (width - len(card.pictures) * picture_deg) / (len(card.pictures) + 1)
    top = (height - picture_deg) / 2
    pictures = (
        _placed(picture, palette, x=gap + i * (picture_deg + gap), y=top, size=picture_deg)
        for i, picture in enumerate(card.pictures)
    )
    return ground + "".join(pictures)


# --- things on the table --------------------------------------------------------------------


def covered_pictures(
    pictures: Sequence[Picture], *, hidden: str, cover: str = "hat"
) -> tuple[Picture | None, ...]:
    """Say what is seen at each item's place while one item covers another.

    Parameters
    ----------
    pictures : sequence of Picture
        Each item of the table, at its place.
    hidden : str
        The item that nothing is seen of: the cover stands in its place.
    cover : str
        The item that covers it.

    Returns
    -------
    seen : tuple of Picture or None
        One for each place; None at the cover's own place, which is empty.

    Raises
    ------
    ConfigError
        If either is not on the table, or both are the same.
    """
    by_item = {picture.item: picture for picture in pictures}
    if hidden == cover or not {hidden, cover} <= set(by_item):
        raise ConfigError(
            f"{cover!r} cannot cover {hidden!r}; on the table are {', '.join(by_item)}"
        )
    shown = {hidden: by_item[cover], cover: None}
    return tuple(shown.get(picture.item, picture) for picture in pictures)


# --- pixels ---------------------------------------------------------------------------------


def render_png(svg: str, *, width_px: int) -> bytes:
    """Render the SVG as a PNG of that width, transparent where nothing is drawn.

    The height follows from the ``viewBox``, rounded to a whole pixel. Text is set in the font
    of this package only, so that it looks the same on every machine.

    Raises
    ------
    ValueError
        If the text is not SVG, or has no ``viewBox``.
    """
    with as_file(FONT) as font:
        return resvg_py.svg_to_bytes(
            svg_string=_sized(svg, width_px), skip_system_fonts=True, font_files=[str(font)]
        )


def _sized(svg: str, width_px: int) -> str:
    """Give the SVG its size in pixels.

    resvg's own ``width`` argument rounds the size in user units first: a card 9.8 degrees wide
    would be taken for 10, and its pictures come out 2 % too small.
    """
    root = re.match(r"\s*<svg\b[^>]*>", svg)
    view_box = root and re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', root[0])
    if not root or not view_box:
        raise ValueError(f"an SVG with a viewBox is needed, found {svg[:60]!r}")
    height_px = round(width_px * float(view_box[2]) / float(view_box[1]))
    unsized = re.sub(r'\s(width|height)="[^"]*"', "", root[0])
    return f'{unsized[:-1]} width="{width_px}" height="{height_px}">{svg[root.end() :]}'


def render_rgba(svg: str, *, width_px: int) -> npt.NDArray[np.uint8]:
    """Render the SVG as pixels.

    Returns
    -------
    pixels : (height, width, 4) uint8
        Red, green, blue and alpha, not premultiplied; row 0 is the top.
    """
    with Image.open(io.BytesIO(render_png(svg, width_px=width_px))) as image:
        return np.array(image.convert("RGBA"), dtype=np.uint8)
