"""Draw the pictures of items in ``docs/pictures``.

``items.png`` and ``items-others.png`` show every item in every colour, the former also
as different eyes see it; ``captain.png`` shows the things of the captain's deck.

Run from the project's folder, with the ``dev`` extra installed::

    python docs/make_pictures.py
"""

from __future__ import annotations

from importlib.resources import as_file
from pathlib import Path

import numpy as np
import numpy.typing as npt
from colorspacious import cspace_convert
from PIL import Image, ImageDraw, ImageFont

from ghostblitz_task.cards import Picture
from ghostblitz_task.drawing import (
    FONT,
    Palette,
    items_row_svg,
    load_palette,
    render_rgba,
)
from ghostblitz_task.props import DECK_SIDE, deck_svg, prop_svg

PICTURES = Path(__file__).parent / "pictures"
FIRST_ITEMS = ("ghost", "chair", "bottle", "book", "mouse")
LATER_ITEMS = ("hat", "barrel", "bat", "key", "flashlight", "vial", "owl", "clock", "mirror")
#: What the clocks and mirrors of the rows tell and hold, from the first colour to the last.
TIMES = ("11:55", "12:55", "05:00", "12:25", "03:40", "08:10", None)
MIRRORED = ("bat", "hat", "key", "vial", "flashlight", "ghost", None)
ITEM_PX = 84
GAP_PX = 8
TITLE_PX = 44
FONT_PX = 17

#: Title, palette, and the vision it is simulated for (Machado et al. 2009, full severity).
PANELS: tuple[tuple[str, str, str | None], ...] = (
    ("standard", "standard", None),
    ("colour-blind", "colour-blind", None),
    ("standard, seen with deuteranopia", "standard", "deuteranomaly"),
    ("colour-blind, seen with deuteranopia", "colour-blind", "deuteranomaly"),
    ("colour-blind, seen with protanopia", "colour-blind", "protanomaly"),
    ("colour-blind, seen with tritanopia", "colour-blind", "tritanomaly"),
)


def simulate(rgb: npt.NDArray[np.uint8], deficiency: str) -> npt.NDArray[np.uint8]:
    """Show the pixels as somebody without one kind of cone sees them.

    Parameters
    ----------
    rgb : (height, width, 3) uint8
        sRGB.
    deficiency : str
        ``protanomaly``, ``deuteranomaly`` or ``tritanomaly``; at severity 100 these are the
        dichromacies.

    Returns
    -------
    simulated : (height, width, 3) uint8
        sRGB, clipped where the simulation leaves the gamut.
    """
    space = {"name": "sRGB1+CVD", "cvd_type": deficiency, "severity": 100}
    simulated = np.clip(cspace_convert(rgb / 255, space, "sRGB1"), 0, 1)
    return np.round(simulated * 255).astype(np.uint8)


def row_pictures(items: tuple[str, ...], colours: tuple[str, ...], number: int) -> list[Picture]:
    """List the items in one colour; what a mirror holds is in the next."""
    colour, next_colour = colours[number], colours[(number + 1) % len(colours)]
    held = MIRRORED[number]
    mirrored = Picture(held, next_colour) if held else None
    return [
        Picture(
            item,
            colour,
            TIMES[number] if item == "clock" else None,
            mirrored if item == "mirror" else None,
        )
        for item in items
    ]


def draw_panel(items: tuple[str, ...], palette: Palette, deficiency: str | None) -> Image.Image:
    """Draw one row for each colour of the palette on the card's ground."""
    width = len(items) * (ITEM_PX + GAP_PX) - GAP_PX
    height = len(palette.colours) * (ITEM_PX + GAP_PX)
    panel = Image.new("RGB", (width + 2 * GAP_PX, height + GAP_PX), palette.card_ground)
    for number in range(len(palette.colours)):
        svg = items_row_svg(
            row_pictures(items, tuple(palette.colours), number),
            palette,
            picture_deg=ITEM_PX,  # only the ratio of the two counts here
            gap_deg=GAP_PX,
        )
        row = Image.fromarray(render_rgba(svg, width_px=width))
        panel.paste(row, (GAP_PX, GAP_PX + number * (ITEM_PX + GAP_PX)), row)
    if deficiency is None:
        return panel
    return Image.fromarray(simulate(np.asarray(panel), deficiency))


def draw_items(
    items: tuple[str, ...], kinds: tuple[tuple[str, str, str | None], ...], *, columns: int
) -> Image.Image:
    """Draw panels of items, each under its title."""
    with as_file(FONT) as path:
        font = ImageFont.truetype(str(path), FONT_PX)
    panels = [draw_panel(items, load_palette(name), deficiency) for _, name, deficiency in kinds]
    width, height = panels[0].width + GAP_PX, panels[0].height + TITLE_PX
    n_rows = -(-len(panels) // columns)
    page = Image.new("RGB", (columns * width + GAP_PX, n_rows * height + GAP_PX), "#FFFFFF")
    text = ImageDraw.Draw(page)
    for i, (panel, (title, name, _)) in enumerate(zip(panels, kinds, strict=True)):
        x, y = GAP_PX + i % columns * width, i // columns * height
        ink = load_palette(name).text
        text.text((x, y + TITLE_PX / 2), title, fill=ink, font=font, anchor="lm")
        page.paste(panel, (x, y + TITLE_PX))
    return page


#: Things on the deck: name, colour, place (shares of the deck's side) and width (the same).
ON_DECK: tuple[tuple[str, str | None, float, float, float], ...] = (
    ("dropping", None, 0.30, 0.22, 0.13),
    ("dropping", None, 0.72, 0.30, 0.13),
    ("dropping", None, 0.16, 0.52, 0.13),
    ("dropping", None, 0.42, 0.78, 0.13),
    ("dropping", None, 0.85, 0.56, 0.13),
    ("dropping-seen", "green", 0.62, 0.62, 0.13),
    ("die", "blue", 0.34, 0.46, 0.12),
    ("eye", None, 0.54, 0.42, 0.18),
    ("tongs", None, 0.72, 0.76, 0.26),
)


def draw_captain(palette: Palette, *, deck_px: int = 640) -> Image.Image:
    """Draw the captain's deck with two railings and things on it."""
    deck = Image.fromarray(
        render_rgba(deck_svg(palette, railings=("upper-left", "lower-right")), width_px=deck_px)
    )
    page = Image.new("RGB", (deck_px + 2 * GAP_PX,) * 2, palette.table_ground)
    page.paste(deck, (GAP_PX, GAP_PX), deck)
    edge_px, side_px = GAP_PX + deck_px * (1 - DECK_SIDE) / 2, deck_px * DECK_SIDE
    for name, colour, x, y, size in ON_DECK:
        width_px = round(size * side_px)
        svg = prop_svg(name, colour, palette)
        drawn = Image.fromarray(render_rgba(svg, width_px=width_px))
        place = (round(edge_px + v * side_px - width_px / 2) for v in (x, y))
        page.paste(drawn, tuple(place), drawn)
    return page


def save(page: Image.Image, name: str) -> None:
    """Write a picture with few colours, since it is kept in the repository."""
    page.quantize(colors=256, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


def main() -> None:
    """Write the pictures."""
    PICTURES.mkdir(exist_ok=True)
    save(draw_items(FIRST_ITEMS, PANELS, columns=2), "items.png")
    save(draw_items(LATER_ITEMS, PANELS[:2], columns=1), "items-others.png")
    save(draw_captain(load_palette("standard")), "captain.png")


if __name__ == "__main__":
    main()
