"""A table of a manuscript, whatever it is written as, and the symbols in its titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from ghostblitz_analysis.report_tables import ReportTable

__all__ = [
    "MAX_WHOLE_ROWS",
    "ManuscriptTable",
    "Pieces",
    "Style",
    "header_lines",
    "styled_cell",
    "styled_header",
    "styled_text",
]

Style = Literal["plain", "italic", "subscript", "superscript"]
Pieces = tuple[tuple[str, Style], ...]

#: Statistics that the APA's Publication Manual (7th edition, 2020, section 6.44) sets in italics.
_ITALIC = ("df", "SE", "SD", "t", "F", "p", "z", "r", "b", "n")
_WITH_INDEX: dict[str, Pieces] = {
    "dz": (("d", "italic"), ("z", "subscript")),
    "dav": (("d", "italic"), ("av", "subscript")),
    "gz": (("g", "italic"), ("z", "subscript")),
    "gav": (("g", "italic"), ("av", "subscript")),
    "BF10": (("BF", "plain"), ("10", "subscript")),
    "BF01": (("BF", "plain"), ("01", "subscript")),
    "ηG²": (("η", "plain"), ("G", "subscript"), ("2", "superscript")),
    "ηp²": (("η", "plain"), ("p", "subscript"), ("2", "superscript")),
}
_INDEXED = re.compile(rf"(?<!\w)({'|'.join(_WITH_INDEX)})(?!\w)")
#: A power of ten, as large Bayes factors are written.
_POWER = re.compile(r"(?<=\b10)\^(\N{MINUS SIGN}?\d+)")
_SYMBOL = re.compile(rf"(?<!\w)({'|'.join((*_WITH_INDEX, *_ITALIC))})(?!\w)")
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


def styled_header(title: str) -> Pieces:
    """Cut a column title into pieces, statistics in italics and their indices lowered.

    Examples
    --------
    >>> styled_header("t (df)")
    (('t', 'italic'), (' (', 'plain'), ('df', 'italic'), (')', 'plain'))
    >>> styled_header("dz")
    (('d', 'italic'), ('z', 'subscript'))
    """
    return tuple(_pieces(title, _SYMBOL))


def styled_text(text: str) -> Pieces:
    """Cut running text into pieces; only symbols that no word can be taken for are set apart."""
    return tuple(_pieces(text, _INDEXED))


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
    parts = enumerate(_POWER.split(text))
    return tuple((part, "superscript" if number % 2 else "plain") for number, part in parts if part)


def _pieces(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, Style]]:
    # The pattern has one group, so that every second part is a symbol.
    for number, part in enumerate(pattern.split(text)):
        if number % 2:
            yield from _WITH_INDEX.get(part, ((part, "italic"),))
        elif part:
            yield part, "plain"


def header_lines(table: ReportTable, column: int) -> list[str]:
    """Break a column's title into lines that are hardly longer than its cells."""
    longest = max((len(row[column]) for row in table.rows), default=0)
    title = table.header[column]
    return wrap(title, max(longest, _HEADER_LETTERS), break_long_words=False) or [""]
