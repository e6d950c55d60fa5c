"""Tables as a Word document in the style of the APA (7th edition, 2020, chapter 7).

Number in bold, title in italics below it, horizontal rules only, and a note below the table.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any
from unicodedata import category

from docx import Document
from docx.enum.section import WD_ORIENT
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_ALIGN_VERTICAL
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt
from docx.table import _Cell
from docx.text.paragraph import Paragraph

from ghostblitz_analysis.paper.manuscript_table import (
    MAX_WHOLE_ROWS,
    ManuscriptTable,
    header_lines,
    styled_cell,
)
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.symbols import Pieces, styled_header, styled_text

__all__ = ["word_document"]

#: Styles of the document, so that an author can change all tables at once.
_HEADING, _TITLE, _NOTE = "Table number", "Table title", "Table note"
_WORDS, _NUMBERS, _GROUP = "Table words", "Table figures", "Table group"
_FONT, _TEXT_PT, _CELL_PT = "Times New Roman", 11, 9
#: A4, across: wide tables fit, and a reader of letter paper loses a centimetre of margin.
_PAGE_CM, _MARGIN_CM = (29.7, 21.0), 2.0
_LETTER_CM, _PADDING_CM, _MAX_COLUMN_CM = 0.165, 0.3, 8.5
#: Rules in eighths of a point.
_THICK, _THIN = 8, 4
#: The earliest date that a zip file can hold.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
#: Control characters, and halves of surrogate pairs.
_NO_XML = ("Cc", "Cs")


def word_document(tables: Sequence[ManuscriptTable]) -> bytes:
    """Return a document with all tables, numbered in their order.

    Parameters
    ----------
    tables : sequence of ManuscriptTable
        Any number; without one the document says so.

    Returns
    -------
    bytes
        The same tables give the same bytes: the file holds neither dates nor an author.
    """
    document = Document()
    _prepare(document)
    for number, paper in enumerate(tables, start=1):
        _add_table(document, number, paper)
    if not tables:
        document.add_paragraph("There are no tables.")
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_dates(buffer.getvalue())


def _prepare(document: Any) -> None:
    section = document.sections[0]
    section.orientation = WD_ORIENT.LANDSCAPE
    section.page_width, section.page_height = Cm(_PAGE_CM[0]), Cm(_PAGE_CM[1])
    for side in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
        setattr(section, side, Cm(_MARGIN_CM))
    style = document.styles["Normal"]
    style.font.name, style.font.size = _FONT, Pt(_TEXT_PT)
    style.element.rPr.rFonts.set(qn("w:eastAsia"), _FONT)
    for name, size_pt, before_pt, after_pt, align in (
        (_HEADING, _TEXT_PT, 18, 4, WD_ALIGN_PARAGRAPH.LEFT),
        (_TITLE, _TEXT_PT, 0, 6, WD_ALIGN_PARAGRAPH.LEFT),
        (_WORDS, _CELL_PT, 2, 1, WD_ALIGN_PARAGRAPH.LEFT),
        (_NUMBERS, _CELL_PT, 2, 1, WD_ALIGN_PARAGRAPH.RIGHT),
        (_GROUP, _CELL_PT, 2, 1, WD_ALIGN_PARAGRAPH.CENTER),
        (_NOTE, _CELL_PT, 4, 0, WD_ALIGN_PARAGRAPH.LEFT),
    ):
        style = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles["Normal"]
        style.font.size = Pt(size_pt)
        style.font.bold, style.font.italic = name == _HEADING, name == _TITLE
        style.paragraph_format.space_before = Pt(before_pt)
        style.paragraph_format.space_after = Pt(after_pt)
        style.paragraph_format.alignment = align
        style.paragraph_format.keep_with_next = name in (_HEADING, _TITLE)
    properties = document.core_properties
    properties.author = properties.comments = properties.title = ""
    element = properties._element
    for name in ("dcterms:created", "dcterms:modified"):
        for found in element.findall(qn(name)):
            element.remove(found)


def _add_table(document: Any, number: int, paper: ManuscriptTable) -> None:
    heading = document.add_paragraph(style=_HEADING)
    heading.add_run(f"Table {number}")
    _write(document.add_paragraph(style=_TITLE), styled_text(paper.title))
    _add_cells(document, paper.table)
    if paper.note:
        note = document.add_paragraph(style=_NOTE)
        _write(note, (("Note.", "italic"), (" ", "plain"), *styled_text(paper.note)))


def _add_cells(document: Any, table: ReportTable) -> None:
    n_head = 2 if table.groups else 1
    grid = document.add_table(rows=n_head + len(table.rows), cols=len(table.header))
    grid.autofit = False
    widths_cm = _widths_cm(table)
    for column, width_cm in zip(grid.columns, widths_cm, strict=True):
        column.width = Cm(width_cm)
    rows = [list(row.cells) for row in grid.rows]
    n_numbers = len(table.header) - table.n_left
    styles = [_WORDS] * table.n_left + [_NUMBERS] * n_numbers
    for column, title in enumerate(table.header):
        cell = rows[n_head - 1][column]
        cell.vertical_alignment = WD_ALIGN_VERTICAL.BOTTOM
        _fill(cell, styled_header(title), styles[column])
    for row, cells in enumerate(rows[n_head:]):
        for column, cell in enumerate(cells):
            _fill(cell, styled_cell(table, row, column), styles[column])
    for cells in rows:
        for cell, width_cm in zip(cells, widths_cm, strict=True):
            cell.width = Cm(width_cm)
    _rule(rows[0], "top", _THICK)
    _rule(rows[n_head - 1], "bottom", _THIN)
    _rule(rows[-1], "bottom", _THICK)
    if table.groups:
        _add_groups(rows[0], table.groups)
    if len(table.rows) <= MAX_WHOLE_ROWS:
        for cells in rows:
            for cell in cells:
                cell.paragraphs[0].paragraph_format.keep_with_next = True
    for number, row in enumerate(grid.rows):
        _row_property(row, "w:cantSplit")
        if number < n_head:
            _row_property(row, "w:tblHeader")


def _add_groups(cells: list[_Cell], groups: Sequence[tuple[str, int]]) -> None:
    first = 0
    for title, n_columns in groups:
        merged = cells[first].merge(cells[first + n_columns - 1])
        _fill(merged, ((title, "plain"),), _GROUP)
        if title:
            _rule([merged], "bottom", _THIN)
        first += n_columns


def _fill(cell: _Cell, pieces: Pieces, style: str) -> None:
    paragraph = cell.paragraphs[0]
    # By its id, which is its name without spaces: to look a name up is slow in so many cells.
    paragraph._p.style = style.replace(" ", "")
    _write(paragraph, pieces)


def _write(paragraph: Paragraph, pieces: Pieces) -> None:
    for text, style in pieces:
        run = paragraph.add_run(_printable(text))
        if style == "italic":
            run.italic = True
        elif style == "subscript":
            run.font.subscript = True
        elif style == "superscript":
            run.font.superscript = True


def _printable(text: str) -> str:
    """Write as spaces what XML cannot hold, and line breaks and tabs."""
    return "".join(" " if category(c) in _NO_XML or c in "\ufffe\uffff" else c for c in text)


def _widths_cm(table: ReportTable) -> list[float]:
    """Return how wide each column is to be; together no wider than the page."""
    widths = []
    for column in range(len(table.header)):
        lines = header_lines(table, column)
        longest = max(len(text) for text in (*lines, *(row[column] for row in table.rows)))
        widths.append(min(_PADDING_CM + _LETTER_CM * (longest + 1), _MAX_COLUMN_CM))
    room_cm = _PAGE_CM[0] - 2 * _MARGIN_CM
    return [width * min(1.0, room_cm / sum(widths)) for width in widths]


def _rule(cells: Sequence[_Cell], edge: str, eighths: int) -> None:
    for cell in cells:
        properties = cell._tc.get_or_add_tcPr()
        borders = properties.find(qn("w:tcBorders"))
        if borders is None:
            borders = OxmlElement("w:tcBorders")
            # The schema has borders before the place of the text in its cell.
            place = properties.find(qn("w:vAlign"))
            if place is None:
                properties.append(borders)
            else:
                place.addprevious(borders)
        for earlier in borders.findall(qn(f"w:{edge}")):
            borders.remove(earlier)
        line = OxmlElement(f"w:{edge}")
        for name, value in (("val", "single"), ("sz", str(eighths)), ("space", "0")):
            line.set(qn(f"w:{name}"), value)
        line.set(qn("w:color"), "000000")
        borders.append(line)


def _row_property(row: Any, name: str) -> None:
    row._tr.get_or_add_trPr().append(OxmlElement(name))


def _without_dates(document: bytes) -> bytes:
    """Write the parts of a document again, in their order, all with the same date."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(document)) as read,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written,
    ):
        for part in read.infolist():
            entry = zipfile.ZipInfo(part.filename, date_time=_NO_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            written.writestr(entry, read.read(part.filename))
    return buffer.getvalue()
