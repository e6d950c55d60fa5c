"""A table of a manuscript, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.symbols import Pieces, styled_number

__all__ = [
    "MAX_WHOLE_ROWS",
    "ManuscriptTable",
    "header_lines",
    "styled_cell",
]

#: A table with more rows may be broken over pages.
MAX_WHOLE_ROWS = 18
#: A column title is broken into lines of about so many letters, if its cells are not longer.
_HEADER_LETTERS = 13


@dataclass(frozen=True, slots=True)
class ManuscriptTable:
    """A table with what stands above and below it.

    Attributes
    ----------
    stem : str
        Of its files, and of its label in LaTeX: small letters, digits and underscores.
    title : str
        Above it, without a full stop.
    table : ReportTable
        The cells, as the page of the report shows them.
    note : str
        Below it: n, level of intervals, what is missing and why; may be empty.
    """

    stem: str
    title: str
    table: ReportTable
    note: str = ""


def styled_cell(table: ReportTable, row: int, column: int) -> Pieces:
    """Cut a cell into pieces: powers of ten in columns of numbers; words stand as they are.

    Examples
    --------
    >>> table = ReportTable(("contrast", "BF10"), (("10^2 - b", "10^9"),), 1)
    >>> styled_cell(table, 0, 0), styled_cell(table, 0, 1)[1:]
    ((('10^2 - b', 'plain'),), (('9', 'superscript'),))
    """
    text = table.rows[row][column]
    if column < table.n_left:
        return ((text, "plain"),)
    return styled_number(text)


def header_lines(table: ReportTable, column: int) -> list[str]:
    """Break a column's title into lines that are hardly longer than its cells."""
    longest = max((len(row[column]) for row in table.rows), default=0)
    title = table.header[column]
    return wrap(title, max(longest, _HEADER_LETTERS), break_long_words=False) or [""]
