"""The colours of the games and the tones round them, read from ``art/palettes.toml``."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ghostblitz_task.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Palette", "available_palettes", "load_palette", "placeholder_tones", "unknown_name"]

_PALETTES = files("ghostblitz_task") / "art" / "palettes.toml"

# CIE lightness (0 to 100) below which a body is too dark for the outline's brown to show on it,
# and above which a tone mixed from that brown would look grey: both take the paler brown, of
# which a pale body needs more.
_DARK_LIGHTNESS = 25.0
_PALE_LIGHTNESS = 93.0
_SHADE_MIX = 0.16
_PALE_SHADE_MIX = 0.36


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
    pale : str
        Glass, and the face of a clock.
    """

    name: str
    colours: Mapping[str, str]
    line: str
    line_on_dark: str
    card_ground: str
    table_ground: str
    text: str
    pale: str


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
        raise ConfigError(unknown_name(name, "palette", tables))
    tones = dict(tables[name])
    return Palette(name=name, colours=MappingProxyType(tones.pop("colours")), **tones)


@lru_cache(maxsize=1)
def _palette_tables() -> Mapping[str, Mapping[str, Any]]:
    tables: dict[str, dict[str, Any]] = tomllib.loads(_PALETTES.read_text(encoding="utf-8"))
    return tables


def placeholder_tones(palette: Palette, colour: str | None) -> Mapping[str, str]:
    """Give the tone of each placeholder in a drawing, recoloured.

    Parameters
    ----------
    palette : Palette
        The colours.
    colour : str or None
        A colour name of a game. Without one, a drawing has no ``#BODY``, ``#SHADE`` and
        ``#INK``.

    Raises
    ------
    ConfigError
        If the palette lacks the colour.
    """
    tones = {
        "#LINE": palette.line,
        "#PALE": palette.pale,
        "#GLINT": _mix(palette.pale, palette.line, _SHADE_MIX),
        "#PLANK": palette.card_ground,
        "#WOOD": palette.line_on_dark,
        "#CHALK": palette.colours["white"],
    }
    if colour is None:
        return tones
    if colour not in palette.colours:
        known = unknown_name(colour, "colour", palette.colours)
        raise ConfigError(f"palette {palette.name}: {known}")
    body = palette.colours[colour]
    lightness = _lightness(body)
    dark = lightness < _DARK_LIGHTNESS
    pale = lightness > _PALE_LIGHTNESS
    shade_from = palette.line_on_dark if dark or pale else palette.line
    return {
        **tones,
        "#BODY": body,
        "#SHADE": _mix(body, shade_from, _PALE_SHADE_MIX if pale else _SHADE_MIX),
        "#INK": palette.line_on_dark if dark else palette.line,
    }


def unknown_name(name: str, kind: str, known: Sequence[str] | Mapping[str, object]) -> str:
    """Say that a name is not among the known ones, and which comes near."""
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
    """CIE L* (0 to 100) of an sRGB tone (IEC 61966-2-1; CIE 15:2004)."""
    linear = [
        c / 12.92 if c <= 0.04045 else math.pow((c + 0.055) / 1.055, 2.4)
        for c in (channel / 255 for channel in _rgb(tone))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    if luminance <= 216 / 24389:
        return luminance * 24389 / 27
    return 116 * math.pow(luminance, 1 / 3) - 16
