"""Tables with a row per cell and measure, turned so that each cell has one row on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.table_columns import (
    Column,
    count,
    factor_columns,
    lay_out,
    levels_in,
    remarks,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import MISSING, cell_name, number, signed

__all__ = [
    "by_cell",
    "cell_title",
    "looked_up",
    "milliseconds",
    "other_factors",
    "plain",
    "remarks_of",
    "spread_out",
    "wide",
]

Row = Mapping[str, Any]


def other_factors(table: pd.DataFrame) -> list[Column]:
    """Return the columns of factors, but not of the rule, which a contrast names itself."""
    return [column for column in factor_columns(table) if column[0] != "rule"]


def cell_title(row: Row) -> str:
    """Name the cell of a row, with its contrast if it has one."""
    levels = cell_name(levels_in(row))
    return ", ".join(filter(None, (row.get("contrast"), levels)))


def remarks_of(named: Mapping[str, pd.DataFrame], title: Callable[[Row], str]) -> list[str]:
    """Return the remarks on several tables, each named by its part."""
    lines: list[str] = []
    for part, table in named.items():
        before = f"{part}: " if part else ""
        lines += remarks(table, partial(_title_after, before, title))
    return list(dict.fromkeys(lines))


def _title_after(before: str, title: Callable[[Row], str], row: Row) -> str:
    return before + title(row)


def spread_out(
    table: pd.DataFrame,
    measures: Mapping[str, str],
    write: Callable[[str, float | None], str],
    stem: str,
) -> ReportTable:
    """Return one row per cell and one column per measure of a table with a row per measure."""
    by = "measure" if "measure" in table.columns else "score"
    if table.empty:
        return ReportTable((), (), 0, stem=stem)
    values = by_cell(table, by, lambda row: write(row[by], row["mean"]))
    first = table[table[by] == next(m for m in measures if (table[by] == m).any())]
    factors = factor_columns(table)
    columns = [
        *factors,
        count("n_participants", "n"),
        *[looked_up(values, measure, title) for measure, title in measures.items()],
    ]
    return lay_out(first, columns, n_left=len(factors), stem=stem)


def wide(
    table: pd.DataFrame, by: str, value: str, factor: float, stem: str, *, digits: int = 0
) -> ReportTable:
    """Return one row per cell and one column per quantile or bin."""
    if table.empty:
        return ReportTable((), (), 0, stem=stem)
    found = list(dict.fromkeys(table[by]))
    values = by_cell(table, by, lambda row: _scaled(row[value], factor, digits))
    factors = factor_columns(table)
    columns = [
        *factors,
        count("n_participants", "n"),
        *[looked_up(values, key, number(key, 2 if by == "probability" else 0)) for key in found],
    ]
    return lay_out(table[table[by] == found[0]], columns, n_left=len(factors), stem=stem)


def by_cell(
    table: pd.DataFrame, by: str, write: Callable[[Row], str]
) -> dict[tuple[object, ...], str]:
    """Return the text of each row by its measure and the levels of its cell."""
    return {(row[by], *levels_in(row).values()): write(row) for row in rows_of(table)}


def looked_up(values: Mapping[tuple[object, ...], str], key: object, title: str) -> Column:
    """Make a column of texts from `by_cell`."""
    return title, lambda row: values.get((key, *levels_in(row).values()), MISSING)


def _scaled(value: float | None, factor: float, digits: int) -> str:
    return signed(None if value is None else value * factor, digits)


def milliseconds(measure: str, value: float | None) -> str:
    """Write seconds in ms; a coefficient of variation as it is."""
    return _scaled(value, 1000, 0) if measure.endswith("_s") else signed(value, 2)


def plain(_measure: str, value: float | None) -> str:
    """Write a number with three decimals, whatever it measures."""
    return signed(value, 3)
