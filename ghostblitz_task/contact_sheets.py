"""Contact sheets: many cards on A4 pages, each with its caption, as PNG or vector PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file
from pathlib import Path
from xml.sax.saxutils import escape

from fpdf import FPDF
from fpdf.svg import SVGObject
from PIL import Image

from ghostblitz_task.cards import Card
from ghostblitz_task.drawing import (
    FONT,
    FONT_FAMILY,
    Palette,
    card_group,
    card_size_deg,
    render_png,
)
from ghostblitz_task.errors import ConfigError

__all__ = ["contact_sheet", "write_contact_sheet"]

# A4 and everything on it, in millimetres.
_WIDTH_MM, _HEIGHT_MM = 210.0, 297.0
_MARGIN_MM = 12.0
_HEADER_MM = 12.0
_FOOTER_MM = 8.0
_GUTTER_MM = 5.0
_TITLE_MM = 5.0
_TEXT_MM = 2.9
_LEADING_MM = 3.9
_MM_PER_POINT = 25.4 / 72
_PNG_DPI = 200


@dataclass(frozen=True, slots=True)
class _Cell:
    """One card and its wrapped caption, scaled to its column."""

    card: Card
    size_deg: tuple[float, float]
    mm_per_deg: float
    lines: tuple[str, ...]

    @property
    def card_height_mm(self) -> float:
        return self.size_deg[1] * self.mm_per_deg


def contact_sheet(
    cards: Sequence[Card],
    captions: Sequence[str],
    palette: Palette,
    *,
    title: str = "Contact sheet",
    columns: int | None = None,
) -> tuple[str, ...]:
    """Lay cards out on A4 pages, row by row, each card over its caption.

    Parameters
    ----------
    cards : sequence of Card
        In the order in which they are laid out.
    captions : sequence of str
        One for each card; line breaks are kept, lines wider than the column are wrapped, and a
        word wider than the column is set in smaller type.
    palette : Palette
        The colours.
    title : str
        The head of every page.
    columns : int, optional
        Cards in a row; by default four, or three of cards with more than two pictures.

    Returns
    -------
    pages : tuple of str
        One SVG of 210 by 297 mm for each page, on white paper.

    Raises
    ------
    ConfigError
        If there are no cards, not as many captions as cards, or no columns; if a card cannot
        be drawn (see `ghostblitz_task.drawing.card_svg`); if a caption has a character that
        the font lacks or is too long for a page.
    """
    if columns is None:
        columns = 3 if any(len(card.pictures) > 2 for card in cards) else 4
    if not cards or len(cards) != len(captions) or columns < 1:
        raise ConfigError(
            f"a contact sheet needs cards, a caption for each, and columns: found "
            f"{len(cards)} cards, {len(captions)} captions, {columns} columns"
        )
    for text in (title, *captions):
        _refuse_missing_glyphs(text)
    column_mm = (_WIDTH_MM - 2 * _MARGIN_MM + _GUTTER_MM) / columns - _GUTTER_MM
    # A card with fewer pictures, as with an item in the mirror, is as large as the others.
    width_deg = max(card_size_deg(card)[0] for card in cards)
    cells = [
        _cell(card, text, column_mm, width_deg) for card, text in zip(cards, captions, strict=True)
    ]
    row_mm = max(cell.card_height_mm for cell in cells) + _GUTTER_MM
    row_mm += _LEADING_MM * max(len(cell.lines) for cell in cells)
    n_rows = int((_HEIGHT_MM - 2 * _MARGIN_MM - _HEADER_MM - _FOOTER_MM) // row_mm)
    if n_rows < 1:
        raise ConfigError(f"a caption is too long for a page with {columns} columns")
    per_page = n_rows * columns
    chunks = [cells[start : start + per_page] for start in range(0, len(cells), per_page)]
    return tuple(
        _page(
            [
                _drawn_cell(
                    cell,
                    palette,
                    x=_MARGIN_MM + (i % columns) * (column_mm + _GUTTER_MM),
                    y=_MARGIN_MM + _HEADER_MM + (i // columns) * row_mm,
                )
                for i, cell in enumerate(chunk)
            ],
            palette,
            title=title,
            footer=f"{number} / {len(chunks)}",
        )
        for number, chunk in enumerate(chunks, start=1)
    )


def write_contact_sheet(
    path: Path,
    cards: Sequence[Card],
    captions: Sequence[str],
    palette: Palette,
    *,
    title: str = "Contact sheet",
    columns: int | None = None,
) -> None:
    """Write the pages of `contact_sheet` into one file, over one of that name if there is one.

    Parameters
    ----------
    path : Path
        ``*.pdf`` holds all pages, as vectors; ``*.png`` has them below each other, at 200 dpi.
    cards, captions, palette, title, columns
        As in `contact_sheet`.

    Raises
    ------
    ConfigError
        As in `contact_sheet`, and for any other ending.
    OSError
        If the file cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in (".pdf", ".png"):
        raise ConfigError(f"{path}: a contact sheet is written as .pdf or .png")
    pages = contact_sheet(cards, captions, palette, title=title, columns=columns)
    path.write_bytes(_pdf(pages, title) if kind == ".pdf" else _stacked(pages))


def _stacked(pages: Sequence[str]) -> bytes:
    """Return the pages below each other as one PNG."""
    width_px = round(_WIDTH_MM / 25.4 * _PNG_DPI)
    pictures = [Image.open(io.BytesIO(render_png(page, width_px=width_px))) for page in pages]
    stack = Image.new("RGB", (width_px, sum(p.height for p in pictures)), "white")
    top = 0
    for picture in pictures:
        stack.paste(picture, (0, top))
        top += picture.height
    data = io.BytesIO()
    stack.save(data, "PNG", optimize=True)
    return data.getvalue()


def _cell(card: Card, caption: str, column_mm: float, width_deg: float) -> _Cell:
    size_deg = card_size_deg(card, width_deg=width_deg)
    lines = tuple(line for given in caption.split("\n") for line in _wrapped(given, column_mm))
    return _Cell(card, size_deg, column_mm / size_deg[0], lines)


def _drawn_cell(cell: _Cell, palette: Palette, *, x: float, y: float) -> str:
    group = card_group(cell.card, palette, size_deg=cell.size_deg)
    width = cell.size_deg[0] * cell.mm_per_deg
    below = y + cell.card_height_mm
    caption = (
        _text(
            line,
            palette,
            x=x + width / 2,
            y=below + number * _LEADING_MM,
            size=_fitting(line, width, _TEXT_MM),
            anchor="middle",
        )
        for number, line in enumerate(cell.lines, start=1)
    )
    placed = f'<g transform="translate({x:g} {y:g}) scale({cell.mm_per_deg:g})">{group}</g>'
    return placed + "".join(caption)


def _page(cells: Sequence[str], palette: Palette, *, title: str, footer: str) -> str:
    head = _text(
        title,
        palette,
        x=_MARGIN_MM,
        y=_MARGIN_MM + _TITLE_MM,
        size=_fitting(title, _WIDTH_MM - 2 * _MARGIN_MM, _TITLE_MM),
    )
    foot = _text(
        footer,
        palette,
        x=_WIDTH_MM / 2,
        y=_HEIGHT_MM - _MARGIN_MM,
        size=_TEXT_MM,
        anchor="middle",
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH_MM:g}mm" '
        f'height="{_HEIGHT_MM:g}mm" viewBox="0 0 {_WIDTH_MM:g} {_HEIGHT_MM:g}">'
        f'<rect width="{_WIDTH_MM:g}" height="{_HEIGHT_MM:g}" fill="#FFFFFF"/>'
        f"{head}{''.join(cells)}{foot}</svg>"
    )


def _text(
    text: str,
    palette: Palette,
    *,
    x: float,
    y: float,
    size: float,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="{FONT_FAMILY}" font-size="{size:g}" '
        f'text-anchor="{anchor}" fill="{palette.text}">{escape(text)}</text>'
    )


# --- type and PDF: both outputs set the same font, and fpdf2 measures it ---------------------


def _document() -> FPDF:
    document = FPDF(unit="mm", format="A4")
    with as_file(FONT) as font:
        document.add_font(FONT_FAMILY, fname=font)
    document.set_font(FONT_FAMILY, size=_TEXT_MM / _MM_PER_POINT)
    document.set_auto_page_break(False)
    return document


@lru_cache(maxsize=1)
def _ruler() -> FPDF:
    return _document()


def _refuse_missing_glyphs(text: str) -> None:
    """Refuse what the font lacks, since neither output would say that it left it out."""
    known = _ruler().current_font.cmap  # type: ignore[union-attr]
    for character in text.replace("\n", ""):
        if ord(character) not in known:
            raise ConfigError(
                f"caption {text!r}: the font has no {character!r}; it holds Latin, Greek and "
                "Cyrillic letters"
            )


def _fitting(text: str, width_mm: float, size_mm: float) -> float:
    """Give the size of type, at most ``size_mm``, at which the text is no wider than the width."""
    needed_mm = _ruler().get_string_width(text) * size_mm / _TEXT_MM
    return size_mm * min(1.0, width_mm / needed_mm) if needed_mm else size_mm


def _wrapped(line: str, width_mm: float) -> list[str]:
    """Break the line at spaces; a single word wider than the column is a line, set smaller."""
    lines: list[str] = []
    for word in line.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _ruler().get_string_width(longer) <= width_mm:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def _pdf(pages: Sequence[str], title: str) -> bytes:
    document = _document()
    document.set_title(title)
    for page in pages:
        document.add_page()
        SVGObject(page).draw_to_page(document, 0, 0)
    return bytes(document.output())
