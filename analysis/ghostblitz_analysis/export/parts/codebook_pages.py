"""The codebook of an export: every column of every table, for programs and for people."""

from __future__ import annotations

import io
import json
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime, timezone
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import pandas as pd
from fpdf import FPDF
from fpdf.fonts import FontFace

from ghostblitz_analysis.codebook import GROUPS, describe_columns
from ghostblitz_analysis.export.folders import place_in, write_text
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.wording import source_note
from ghostblitz_task.drawing import FONT
from ghostblitz_task.errors import DatasetError

__all__ = ["codebook_html", "codebook_json", "codebook_pdf", "write_codebook_pages"]

_WHAT = {
    "trials": "one row per participant and trial",
    "turns": "one row per turn of a game",
    "games": "one row per game",
    "participants": "one row per participant",
    "exclusions": "one row per row of the data: what the analysis leaves out, and why",
}
_HEADINGS = ("column", "type", "meaning", "levels", "missing when", "missing here")
# A4 lying, in millimetres; the columns share what is left between the margins.
_MARGIN_MM, _LINE_MM = 10.0, 3.4
_WIDTHS_MM = (43.0, 22.0, 96.0, 55.0, 38.0, 23.0)
_POINTS, _HEAD_POINTS, _TITLE_POINTS = 7.0, 9.5, 14.0
_FONT = "DejaVu"
# A date in a file that is to be the same whenever it is made; it says nothing.
_NO_DATE = datetime(2000, 1, 1, tzinfo=timezone.utc)
_GREY, _LINE_GREY, _RED = (240, 242, 245), (190, 196, 204), (176, 0, 32)


def write_codebook_pages(
    source: ExportSource, tables: Sequence[ExportTable], folder: Path, name: str
) -> None:
    """Write ``codebook.csv``, ``.json``, ``.html`` and ``.pdf`` into a folder of an export.

    Parameters
    ----------
    source : ExportSource
        Whose codebook it is.
    tables : sequence of ExportTable
        All tables of the export.
    folder : Path
        The export's folder.
    name : str
        Of the folder in it, with ``/``.
    """
    described = {table.name: describe_columns(table.frame, table.columns) for table in tables}
    rows = [part.assign(table=table) for table, part in described.items()]
    text = io.StringIO()
    every = pd.concat(rows, ignore_index=True)
    every = every[["table", *(c for c in every.columns if c != "table")]]
    every.to_csv(text, index=False, lineterminator="\n")
    write_text(folder, f"{name}/codebook.csv", text.getvalue())
    write_text(folder, f"{name}/codebook.json", codebook_json(source, tables))
    write_text(folder, f"{name}/codebook.html", codebook_html(source, described))
    with place_in(folder, f"{name}/codebook.pdf").open("xb") as file:
        file.write(codebook_pdf(source, described))


def codebook_json(source: ExportSource, tables: Sequence[ExportTable]) -> str:
    """Return the codebook for programs: levels as lists, types as in the table."""
    record = {
        "format": "ghostblitz-codebook",
        "format_version": 1,
        "dataset": source.name,
        "sources": list(source.sources),
        "note": source_note(source.sources) or None,
        "tables": {
            table.name: {
                "what": _WHAT.get(table.name, ""),
                "n_rows": len(table.frame),
                "columns": [
                    {
                        "name": column.name,
                        "group": column.group,
                        "dtype": column.dtype,
                        "unit": column.unit,
                        "levels": list(column.levels) or None,
                        "meaning": column.meaning,
                        "missing_when": column.null_when,
                        "n_missing": int(table.frame[column.name].isna().sum()),
                    }
                    for column in table.columns
                ],
            }
            for table in tables
        },
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def codebook_html(source: ExportSource, described: Mapping[str, pd.DataFrame]) -> str:
    """Return the codebook as a page that loads nothing; every text of the data is escaped."""
    return (
        page_templates()
        .get_template("codebook.html.j2")
        .render(
            title=source.title,
            name=source.name,
            note=source_note(source.sources),
            headings=_HEADINGS,
            tables=[
                {"name": name, "what": _WHAT.get(name, ""), "groups": _groups(table)}
                for name, table in described.items()
            ],
            intro=_INTRO,
        )
    )


_INTRO = (
    "Times are in seconds. A missing value is empty, or n/a where a format wants that, but never "
    "0 or a code. The last column says in how many rows of this data set a value is missing. "
    "Where levels are listed, no other value can occur."
)


def _groups(table: pd.DataFrame) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the heading and the rows of each group of columns, as they are printed."""
    groups = []
    for group, words in GROUPS.items():
        part = table[table["group"] == group]
        if not part.empty:
            rows = [_cells(row) for row in part.to_dict("records")]
            groups.append((f"{group}: {words}", rows))
    return groups


def _cells(row: Mapping[Hashable, Any]) -> tuple[str, ...]:
    def text(name: str, missing: str = "") -> str:
        return missing if pd.isna(row[name]) else str(row[name])

    unit = text("unit")
    return (
        text("column"),
        text("type") + (f", {unit}" if unit else ""),
        text("meaning"),
        text("levels").replace(" | ", ", "),
        text("missing_when", "never"),
        f"{row['n_missing']:,} of {row['n_rows']:,}",
    )


# --- PDF ------------------------------------------------------------------------------------


class _Pages(FPDF):
    """Pages with the data set's name and the page's number at the foot."""

    def __init__(self, foot: str) -> None:
        super().__init__(orientation="landscape", unit="mm", format="A4")
        self._foot = foot

    def footer(self) -> None:
        """Write the foot of a page."""
        self.set_y(-_MARGIN_MM + 1)
        self.set_font(_FONT, size=_POINTS)
        self.cell(0, _LINE_MM, f"{self._foot}  ·  {self.page_no()} / {{nb}}", align="C")


def codebook_pdf(source: ExportSource, described: Mapping[str, pd.DataFrame]) -> bytes:
    """Return the codebook as PDF, the same bytes for the same data set.

    Raises
    ------
    DatasetError
        If the fonts of this program are missing.
    """
    note = source_note(source.sources)
    pages = _Pages("")
    _set_up(pages)
    pages._foot = _printable(pages, source.title + (f" ({note})" if note else ""))
    pages.set_title(f"Codebook of {source.title}")
    pages.add_page()
    pages.set_font(_FONT, size=_TITLE_POINTS)
    _paragraph(pages, f"Codebook of {source.title}", _TITLE_POINTS)
    if note:
        pages.set_text_color(*_RED)
        _paragraph(pages, f"{note[0].upper()}{note[1:]}.", _HEAD_POINTS)
        pages.set_text_color(0, 0, 0)
    _paragraph(pages, _INTRO, _POINTS + 1)
    for name, table in described.items():
        _write_table(pages, name, table)
    return bytes(pages.output())


def _set_up(pages: FPDF) -> None:
    try:
        with as_file(FONT) as font:
            pages.add_font(_FONT, fname=font)
    except OSError as error:
        raise DatasetError(f"the font of the codebook cannot be read: {error}") from error
    pages.set_font(_FONT, size=_POINTS)
    pages.set_margin(_MARGIN_MM)
    pages.set_auto_page_break(True, margin=_MARGIN_MM + 3)
    pages.set_creation_date(_NO_DATE)
    pages.set_draw_color(*_LINE_GREY)


def _paragraph(pages: FPDF, text: str, points: float) -> None:
    pages.set_font(_FONT, size=points)
    pages.multi_cell(0, points * 0.5, _printable(pages, text), new_x="LMARGIN", new_y="NEXT")
    pages.ln(1.5)


def _write_table(pages: FPDF, name: str, table: pd.DataFrame) -> None:
    for number, (heading, rows) in enumerate(_groups(table)):
        if pages.get_y() > pages.h - 45:  # A heading stays with the first rows of its table.
            pages.add_page()
        pages.ln(2)
        if number == 0:
            _paragraph(pages, f"{name}: {_WHAT.get(name, '')}", _HEAD_POINTS + 2)
        _paragraph(pages, heading, _HEAD_POINTS)
        pages.set_font(_FONT, size=_POINTS)
        with pages.table(
            col_widths=_WIDTHS_MM,
            width=sum(_WIDTHS_MM),
            line_height=_LINE_MM,
            align="LEFT",
            text_align="LEFT",
            v_align="TOP",
            padding=0.7,
            borders_layout="HORIZONTAL_LINES",
            headings_style=FontFace(fill_color=_GREY, emphasis=None),
        ) as grid:
            for cells in (_HEADINGS, *rows):
                row = grid.row()
                for cell in cells:
                    row.cell(_printable(pages, cell))


def _printable(pages: FPDF, text: str) -> str:
    """Name what the font lacks, as [U+1F47B], which would be left out without a word."""
    known = pages.current_font.cmap  # type: ignore[union-attr]
    return "".join(c if ord(c) in known or c == "\n" else f"[U+{ord(c):04X}]" for c in text)
