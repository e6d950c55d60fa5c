"""Draw ``docs/pictures/items.png``: every item in every colour, as different eyes see it.

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

PICTURES = Path(__file__).parent / "pictures"
ITEMS = ("ghost", "chair", "bottle", "book", "mouse")
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
COLUMNS = 2


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


def draw_panel(palette: Palette, deficiency: str | None) -> Image.Image:
    """Draw one row for each colour of the palette on the card's ground."""
    width = len(ITEMS) * (ITEM_PX + GAP_PX) - GAP_PX
    height = len(palette.colours) * (ITEM_PX + GAP_PX)
    panel = Image.new("RGB", (width + 2 * GAP_PX, height + GAP_PX), palette.card_ground)
    for number, colour in enumerate(palette.colours):
        svg = items_row_svg(
            [Picture(item, colour) for item in ITEMS],
            palette,
            picture_deg=ITEM_PX,  # only the ratio of the two counts here
            gap_deg=GAP_PX,
        )
        row = Image.fromarray(render_rgba(svg, width_px=width))
        panel.paste(row, (GAP_PX, GAP_PX + number * (ITEM_PX + GAP_PX)), row)
    if deficiency is None:
        return panel
    return Image.fromarray(simulate(np.asarray(panel), deficiency))


def main() -> None:
    """Write the picture."""
    with as_file(FONT) as path:
        font = ImageFont.truetype(str(path), FONT_PX)
    panels = [draw_panel(load_palette(name), deficiency) for _, name, deficiency in PANELS]
    width, height = panels[0].width + GAP_PX, panels[0].height + TITLE_PX
    n_rows = -(-len(panels) // COLUMNS)
    page = Image.new("RGB", (COLUMNS * width + GAP_PX, n_rows * height + GAP_PX), "#FFFFFF")
    text = ImageDraw.Draw(page)
    for i, (panel, (title, name, _)) in enumerate(zip(panels, PANELS, strict=True)):
        x, y = GAP_PX + i % COLUMNS * width, i // COLUMNS * height
        ink = load_palette(name).text
        text.text((x, y + TITLE_PX / 2), title, fill=ink, font=font, anchor="lm")
        page.paste(panel, (x, y + TITLE_PX))
    PICTURES.mkdir(exist_ok=True)
    page.quantize(colors=256, dither=Image.Dither.NONE).save(PICTURES / "items.png", optimize=True)


if __name__ == "__main__":
    main()
