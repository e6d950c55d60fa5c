"""Tables of results laid out for the report: columns that turn a row into the text on the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ghostblitz_analysis.apa import df_text, proportion_interval, r_apa
from ghostblitz_analysis.report_tables import MAX_ROWS, ReportTable
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import (
    MISSING,
    p_value,
    percent,
    signed,
    signed_interval,
    with_minus,
)

__all__ = [
    "Column",
    "ToldTable",
    "bounds",
    "count",
    "factor_columns",
    "lay_out",
    "levels_in",
    "numeral",
    "p_column",
    "points",
    "points_bounds",
    "remarks",
    "share",
    "share_bounds",
    "statistic",
    "times",
    "words",
]

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str]]

_FACTORS = {"rule": "rule", "block_kind": "blocks", "mode": "mode"}
_MAX_NAMES = 40


@dataclass(frozen=True, slots=True)
class ToldTable:
    """A table with what must be known to read it.

    Attributes
    ----------
    table : ReportTable
        As laid out.
    caption : str
        What its numbers are.
    fold : str
        The line under which a long table is folded away on screen; empty where it stands open.
    """

    table: ReportTable
    caption: str
    fold: str = ""


def lay_out(
    table: pd.DataFrame, columns: Sequence[Column], *, n_left: int, stem: str
) -> ReportTable:
    """Return a table's rows as text, the longest ones cut.

    Parameters
    ----------
    table : DataFrame
        Any number of rows.
    columns : sequence of (str, callable)
        Title, and what makes a row its text.
    n_left : int
        Columns from the left that hold words.
    stem : str
        The CSV file that it is made of.
    """
    rows = rows_of(table.head(MAX_ROWS))
    cells = tuple(tuple(write(row) for _, write in columns) for row in rows)
    header = tuple(title for title, _ in columns)
    return ReportTable(header, cells, n_left, len(table) - len(rows), stem=stem)


def factor_columns(table: pd.DataFrame, *, missing: str = "") -> list[Column]:
    """Return a column for each factor that has a level in any row; `missing` where one has none."""
    return [
        words(factor, title, missing=missing)
        for factor, title in _FACTORS.items()
        if factor in table.columns and table[factor].notna().any()
    ]


def levels_in(row: Row) -> dict[str, str]:
    """Return the factors of a row that have a level."""
    return {factor: row[factor] for factor in _FACTORS if row.get(factor) is not None}


def words(
    name: str, title: str, *, meanings: Mapping[str, str] | None = None, missing: str = ""
) -> Column:
    """Make a column of words, with another word where one is missing."""
    meant = meanings or {}
    return title, lambda row: missing if row[name] is None else meant.get(row[name], str(row[name]))


def count(name: str, title: str) -> Column:
    """Make a column of counts."""
    return title, lambda row: MISSING if row[name] is None else f"{row[name]:,}"


def numeral(name: str, title: str, digits: int) -> Column:
    """Make a column of numbers."""
    return title, lambda row: signed(row[name], digits)


def times(name: str, title: str, factor: float, digits: int = 0) -> Column:
    """Make a column of numbers in another unit, such as milliseconds of seconds."""
    return title, lambda row: signed(_times(row[name], factor), digits)


def bounds(low: str, high: str, title: str, digits: int, *, factor: float = 1) -> Column:
    """Make a column of intervals."""
    return title, lambda row: signed_interval(
        _times(row[low], factor), _times(row[high], factor), digits
    )


def p_column(name: str, title: str = "p") -> Column:
    """Make a column of p values."""
    return title, lambda row: p_value(row[name])


def statistic(value: str, df: str, title: str) -> Column:
    """Make a column of statistics with their degrees of freedom."""
    return (
        title,
        lambda row: (
            MISSING
            if row[value] is None
            else signed(row[value], 2) + ("" if row[df] is None else f" ({df_text(row[df])})")
        ),
    )


def share(name: str, title: str, digits: int = 2) -> Column:
    """Make a column of numbers that cannot exceed 1."""
    return title, lambda row: r_apa(row[name], digits)


def share_bounds(low: str, high: str, title: str, digits: int = 2) -> Column:
    """Make a column of intervals whose bounds cannot exceed 1."""
    return title, lambda row: proportion_interval(row[low], row[high], digits)


def points(name: str, title: str, digits: int = 1) -> Column:
    """Make a column of proportions, or their differences, in percent."""
    return title, lambda row: with_minus(percent(row[name], digits))


def points_bounds(low: str, high: str, title: str, digits: int = 1) -> Column:
    """Make a column of intervals of proportions in percent."""
    return bounds(low, high, title, digits, factor=100)


def remarks(table: pd.DataFrame, name: Callable[[Row], str]) -> list[str]:
    """Say what the notes of a table's rows tell, and name everyone who is left out.

    Parameters
    ----------
    table : DataFrame
        With ``note`` or ``left_out`` (as JSON list) or both.
    name : callable
        Names a row.

    Returns
    -------
    list of str
        One line per note and per group of people left out together, with the rows that it is of.
    """
    notes: dict[str, list[str]] = {}
    people: dict[str, list[str]] = {}
    rows = rows_of(table)
    for row in rows:
        for note in _NEXT_NOTE.split(row.get("note") or ""):
            if note and not _SAID_BY_NAME.match(note):
                notes.setdefault(_FLAGGED.sub("Participants flagged", note), []).append(name(row))
        if (row.get("left_out") or "[]") != "[]":
            people.setdefault(row["left_out"], []).append(name(row))
    lines = [
        f"Left out: {', '.join(json.loads(who))} (of {_named(lacks)})."
        for who, lacks in people.items()
    ]
    for note, where in notes.items():
        of = "" if len(where) == len(rows) > 1 else f" ({_named(where)})"
        lines.append(f"{note[0].upper()}{note[1:]}{of}.")
    return lines


#: Notes of a row stand behind one another; a semicolon in brackets is part of one.
_NEXT_NOTE = re.compile(r"; (?![^(]*\))")
#: What a note says of numbers of participants differs from row to row; the tables have them.
_FLAGGED = re.compile(r"^\d+ participants? flagged")
_SAID_BY_NAME = re.compile(r"^\d+ participants? left out")


def _named(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = len(found) - _MAX_NAMES
    return "; ".join(found[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
