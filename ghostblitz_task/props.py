"""The things of the captain's deck as SVG, all seen from above.

The deck's picture is 1000 by 1000 units, that of anything else 200 by 200. Everything is drawn
on no ground.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from ghostblitz_task.artwork import drawings, placeholder_art, recoloured, standalone_svg
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.palettes import Palette, unknown_name

__all__ = [
    "CORNERS",
    "DECK_HOLE_RADIUS",
    "DECK_SIDE",
    "TONGS_TIP",
    "Corner",
    "available_props",
    "deck_svg",
    "prop_svg",
]

Corner = Literal["upper-left", "upper-right", "lower-right", "lower-left"]
#: Clockwise, as the railing is turned.
CORNERS: tuple[Corner, ...] = ("upper-left", "upper-right", "lower-right", "lower-left")
#: Side of the deck, as a share of its picture; radius of its holes, as a share of that side.
DECK_SIDE = 0.9
DECK_HOLE_RADIUS = 0.13
#: Where the tongs grip: shares of their picture from its left and its top.
TONGS_TIP = (0.16, 0.16)

_FOLDER = "captain"
_DECK_UNITS = 1000
# The railing is drawn in the deck's scale, its corner point at 20 20; the deck's is at 50 50.
_RAILING_AT = 30


def available_props() -> tuple[str, ...]:
    """List the things that have a drawing, in alphabetical order."""
    return drawings(_FOLDER)


def prop_svg(name: str, colour: str | None, palette: Palette) -> str:
    """Draw one thing of the captain's deck.

    Parameters
    ----------
    name : str
        As in `available_props`.
    colour : str or None
        The colour on top of the die or under a dropping; None for every other thing.
    palette : Palette
        The colours.

    Raises
    ------
    ConfigError
        If there is no such drawing, the palette lacks the colour, or the thing shows one and
        none is given, or the reverse.
    """
    art = placeholder_art(name, "prop", folder=_FOLDER)
    if ('"#BODY"' in art) != (colour is not None):
        raise ConfigError(f"{name} {'needs a' if colour is None else 'shows no'} colour")
    label = name if colour is None else f"{colour} {name}"
    units = _DECK_UNITS if name == "deck" else 200
    return standalone_svg(recoloured(art, colour, palette), label, units=units)


def deck_svg(palette: Palette, *, railings: Collection[Corner] = ()) -> str:
    """Draw the deck with a railing at each of these corners.

    The deck is the square of ``DECK_SIDE`` of the picture's width in its middle. Each of its
    corners is a hole: a quarter circle about the corner, of ``DECK_HOLE_RADIUS`` of the side.

    Raises
    ------
    ConfigError
        For an unknown corner.
    """
    group = recoloured(placeholder_art("deck", "prop", folder=_FOLDER), None, palette)
    rail = recoloured(placeholder_art("railing", "prop", folder=_FOLDER), None, palette)
    for corner in railings:
        if corner not in CORNERS:
            raise ConfigError(unknown_name(corner, "corner of the deck", CORNERS))
        middle = _DECK_UNITS // 2
        turn = f"rotate({90 * CORNERS.index(corner)} {middle} {middle})"
        group += f'<g transform="{turn} translate({_RAILING_AT} {_RAILING_AT})">{rail}</g>'
    return standalone_svg(group, " ".join(("deck", *railings)), units=_DECK_UNITS)
