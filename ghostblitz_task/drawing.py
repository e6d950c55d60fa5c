"""Items and cards as SVG, and SVG as pixels.

Each item is one SVG in ``ghostblitz_task/art``, recoloured here by text replacement, so that
the window, the report and the docs show the same picture. Nothing here opens a window.
"""

from __future__ import annotations

import io
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
import resvg_py
from PIL import Image

from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "FONT",
    "FONT_FAMILY",
    "Palette",
    "available_items",
    "available_palettes",
    "card_group",
    "card_size_deg",
    "card_svg",
    "item_svg",
    "items_row_svg",
    "load_palette",
    "render_png",
    "render_rgba",
]

_ART = files("ghostblitz_task") / "art"
#: The only font that text in an SVG is set in, and its name there.
FONT = _ART / "DejaVuSans-subset.ttf"
FONT_FAMILY = "DejaVu Sans"
_SVG_OPEN = '<svg xmlns="http://www.w3.org/2000/svg"'
_ITEM_UNITS = 200.0  # every item's viewBox is 0 0 200 200

# Card geometry in degrees of visual angle; the margin also stands between two pictures.
_MARGIN_DEG = 0.6
_CORNER_DEG = 0.6
_CARD_LINE_DEG = 0.12

# CIE lightness (0 to 100) below which a body is too dark for the outline's brown to show on it,
# and above which a tone mixed from that brown would look grey: both take the paler brown, of
# which a pale body needs more.
_DARK_LIGHTNESS = 25.0
_PALE_LIGHTNESS = 93.0
_SHADE_MIX = 0.16
_PALE_SHADE_MIX = 0.36


# --- palettes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of the games, and the tones that belong to no game; all as ``#RRGGBB``.

    Attributes
    ----------
    name : str
        As in `available_palettes`.
    colours : mapping of str to str
        Each colour name of a game and its tone.
    line, line_on_dark : str
        Outlines, and the inner strokes of dark bodies.
    card_ground, table_ground : str
        The card, and the window behind it.
    text : str
        Words on the window and captions.
    """

    name: str
    colours: Mapping[str, str]
    line: str
    line_on_dark: str
    card_ground: str
    table_ground: str
    text: str


def available_palettes() -> tuple[str, ...]:
    """List the names that `load_palette` takes."""
    return tuple(_palette_tables())


def load_palette(name: str) -> Palette:
    """Read one palette of ``art/palettes.toml``.

    Raises
    ------
    ConfigError
        For an unknown name; the message says which exist.
    """
    tables = _palette_tables()
    if name not in tables:
        raise ConfigError(_unknown(name, "palette", tables))
    tones = dict(tables[name])
    return Palette(name=name, colours=MappingProxyType(tones.pop("colours")), **tones)


@lru_cache(maxsize=1)
def _palette_tables() -> Mapping[str, Mapping[str, Any]]:
    tables: dict[str, dict[str, Any]] = tomllib.loads(
        (_ART / "palettes.toml").read_text(encoding="utf-8")
    )
    return tables


def _unknown(name: str, kind: str, known: Sequence[str] | Mapping[str, object]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{name!r} is not a known {kind} ({', '.join(known)}){hint}"


def _rgb(tone: str) -> tuple[int, int, int]:
    return int(tone[1:3], 16), int(tone[3:5], 16), int(tone[5:7], 16)


def _mix(tone: str, other: str, share: float) -> str:
    mixed = (
        round(a * (1 - share) + b * share) for a, b in zip(_rgb(tone), _rgb(other), strict=True)
    )
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def _lightness(tone: str) -> float:
    """CIE L* (0 to 100) of an sRGB tone (IEC 61966-2-1; CIE 15:2004, eq. 8.3)."""
    linear = [
        c / 12.92 if c <= 0.04045 else math.pow((c + 0.055) / 1.055, 2.4)
        for c in (channel / 255 for channel in _rgb(tone))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    if luminance <= 216 / 24389:
        return luminance * 24389 / 27
    return 116 * math.pow(luminance, 1 / 3) - 16


# --- items and cards ------------------------------------------------------------------------


@lru_cache(maxsize=1)
def available_items() -> tuple[str, ...]:
    """List the items that have a drawing, in alphabetical order."""
    return tuple(sorted(entry.name[:-4] for entry in _ART.iterdir() if entry.name.endswith(".svg")))


@lru_cache(maxsize=64)
def _art(item: str) -> str:
    """Read the inside of the item's SVG, placeholders and all."""
    if item not in available_items():
        known = _unknown(item, "item with a drawing", available_items())
        raise ConfigError(f"{known}; a drawing is added as ghostblitz_task/art/<item>.svg")
    text = (_ART / f"{item}.svg").read_text(encoding="utf-8")
    match = re.fullmatch(r"\s*<svg[^>]*>(.*)</svg>\s*", text, re.DOTALL)
    assert match, f"art/{item}.svg is not one <svg> element"
    return re.sub(r"<!--.*?-->|\n\s*", "", match[1], flags=re.DOTALL)


def _item_group(item: str, colour: str, palette: Palette) -> str:
    """Recolour the item in its box of 200 by 200 units, without the ``<svg>`` around it."""
    art = _art(item)
    if colour not in palette.colours:
        raise ConfigError(f"palette {palette.name}: {_unknown(colour, 'colour', palette.colours)}")
    body = palette.colours[colour]
    lightness = _lightness(body)
    dark = lightness < _DARK_LIGHTNESS
    pale = lightness > _PALE_LIGHTNESS
    shade_from = palette.line_on_dark if dark or pale else palette.line
    shade = _mix(body, shade_from, _PALE_SHADE_MIX if pale else _SHADE_MIX)
    tones = {
        "#BODY": body,
        "#SHADE": shade,
        "#LINE": palette.line,
        "#INK": palette.line_on_dark if dark else palette.line,
    }
    for placeholder, tone in tones.items():
        art = art.replace(f'"{placeholder}"', f'"{tone}"')
    return art


def _placed(picture: Picture, palette: Palette, *, x: float, y: float, size: float) -> str:
    if picture.time is not None or picture.mirrored is not None:
        raise ConfigError(f"{picture}: no drawing shows a time or a mirrored item yet")
    group = _item_group(picture.item, picture.colour, palette)
    return f'<g transform="translate({x:g} {y:g}) scale({size / _ITEM_UNITS:g})">{group}</g>'


def item_svg(item: str, colour: str, palette: Palette) -> str:
    """Draw one item in one colour, as an SVG of its own, on no ground.

    Raises
    ------
    ConfigError
        If there is no drawing of the item, or the palette lacks the colour.
    """
    group = _item_group(item, colour, palette)
    label = quoteattr(f"{colour} {item}")
    return f'{_SVG_OPEN} viewBox="0 0 200 200" role="img" aria-label={label}>{group}</svg>'


def items_row_svg(
    pictures: Sequence[Picture],
    palette: Palette,
    *,
    picture_deg: float = 5.0,
    gap_deg: float = _MARGIN_DEG,
) -> str:
    """Draw items side by side on no ground, as they stand on the table; one unit is one degree.

    Raises
    ------
    ConfigError
        As in `item_svg`, and for an empty row.
    """
    if not pictures:
        raise ConfigError("a row of items needs at least one item")
    width_deg = len(pictures) * (picture_deg + gap_deg) - gap_deg
    drawn = "".join(
        _placed(picture, palette, x=i * (picture_deg + gap_deg), y=0, size=picture_deg)
        for i, picture in enumerate(pictures)
    )
    return f'{_SVG_OPEN} viewBox="0 0 {width_deg:g} {picture_deg:g}" role="img">{drawn}</svg>'


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
        If an item has no drawing, the palette lacks a colour, the card carries a time or a
        mirrored item, or the pictures do not fit the card.
    """
    size_deg = card_size_deg(
        card, width_deg=width_deg, height_deg=height_deg, picture_deg=picture_deg
    )
    group = card_group(card, palette, size_deg=size_deg, picture_deg=picture_deg)
    view_box = f'viewBox="0 0 {size_deg[0]:g} {size_deg[1]:g}"'
    return f'{_SVG_OPEN} {view_box} role="img" aria-label={quoteattr(str(card))}>{group}</svg>'


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
