"""Tables for other programs: the trials with their exclusions, as CSV files beside a dictionary.

CSV and most programs cannot tell a missing text from an empty one. No column of a data set holds
both, so the dictionary says per column what a blank field means; a column with both is refused.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import (
    exclusion_steps,
    flag_exclusions,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column

__all__ = [
    "DATA_FOLDER",
    "DICTIONARY_FILE",
    "EMPTY_TEXT",
    "MISSING",
    "TYPE_WORDS",
    "ToolTable",
    "blank_meaning",
    "dictionary_frame",
    "read_csv_table",
    "read_dictionary",
    "readme_text",
    "reference_first",
    "tool_tables",
    "typed_table",
    "write_csv_table",
    "write_dictionary",
]

DATA_FOLDER = "data"
DICTIONARY_FILE = "columns.csv"

TYPE_WORDS: Mapping[str, str] = {
    "string": "text",
    "Int64": "whole number",
    "Float64": "number",
    "boolean": "true or false",
}
_TRUTH = {"true": True, "false": False}
#: The levels that others are compared with, as in the analysis' own models.
_REFERENCES = {"rule": "direct", "block_kind": "mixed"}

MISSING, EMPTY_TEXT, NEVER_BLANK = "missing", "empty text", "never blank"


@dataclass(frozen=True, eq=False)
class ToolTable:
    """A table to be written, with the meaning of its columns.

    Attributes
    ----------
    name : str
        Also the stem of its file.
    frame : DataFrame
        Nullable types.
    columns : tuple of Column
        What each column means, in order.
    added : frozenset of str
        Columns that the export adds; reading back leaves them out.
    """

    name: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    added: frozenset[str] = frozenset()


def tool_tables(source: ExportSource) -> tuple[ToolTable, ...]:
    """Return the tables of a data set; trials get their exclusions as further columns.

    Returns
    -------
    tuple of ToolTable
        The main table first. Trials have one boolean column ``exclude_*`` per exclusion step of
        the analysis settings, then ``used_for_accuracy`` and ``used_for_rt``; no row is left out.

    Raises
    ------
    DatasetError
        If a number is infinite, or a column holds both missing and empty texts.
    """
    main = _plain(source.main) if source.dataset is None else _with_exclusions(source)
    tables = (main, *map(_plain, source.others))
    for table in tables:
        _refuse_infinite(table)
        for column in table.columns:
            blank_meaning(table.name, table.frame[column.name])
    return tables


def _plain(table: ExportTable) -> ToolTable:
    return ToolTable(table.name, table.frame, table.columns)


def _with_exclusions(source: ExportSource) -> ToolTable:
    assert source.dataset is not None
    settings = source.dataset.analysis
    flagged = flag_exclusions(source.dataset.trials, settings)
    reasons = {step.flag: step.reason for step in exclusion_steps(settings)}
    flags = [name for name in flagged.columns if name not in source.main.frame.columns]
    added = {flag: f"Left out: {reasons[flag]}" for flag in flags} | {
        "used_for_accuracy": "Whether the trial counts for accuracy and error kinds",
        "used_for_rt": "Whether the trial counts for RTs: correct, and not left out",
    }
    masks = {"used_for_accuracy": used_for_accuracy(flagged), "used_for_rt": used_for_rt(flagged)}
    frame = flagged.assign(**masks)
    frame = frame.astype(dict.fromkeys(added, "boolean"))[[*source.main.frame.columns, *added]]
    columns = tuple(Column(name, "boolean", text, "derived") for name, text in added.items())
    return ToolTable(
        source.main.name, frame, (*source.main.columns, *columns), added=frozenset(added)
    )


def _refuse_infinite(table: ToolTable) -> None:
    for column in table.columns:
        if column.dtype != "Float64":
            continue
        values = table.frame[column.name].to_numpy(dtype="float64", na_value=0.0)
        if not np.isfinite(values).all():
            raise DatasetError(
                f"{table.name}, column {column.name}, row {int((~np.isfinite(values)).argmax())}: "
                "an infinite number or a NaN, which other programs cannot hold"
            )


def blank_meaning(table: str, values: pd.Series) -> str:
    """Say what a blank field of a column means.

    Returns
    -------
    str
        ``missing``, ``empty text`` or ``never blank``.

    Raises
    ------
    DatasetError
        If the column holds both missing and empty texts.
    """
    has_missing = bool(values.isna().any())
    has_empty = values.dtype == "string" and bool((values == "").fillna(False).any())
    if has_missing and has_empty:
        raise DatasetError(
            f"{table}, column {values.name}: some texts are missing and some empty, which other "
            "programs cannot tell apart; give the empty ones a name, or export as parquet"
        )
    return MISSING if has_missing else EMPTY_TEXT if has_empty else NEVER_BLANK


def reference_first(column: Column) -> tuple[str, ...]:
    """Return a column's levels with the reference of the analysis' models first."""
    reference = _REFERENCES.get(column.name)
    return tuple(sorted(column.levels, key=lambda level: level != reference))


def dictionary_frame(tables: Sequence[ToolTable]) -> pd.DataFrame:
    """Describe every column of some tables.

    Returns
    -------
    DataFrame of texts, one row per table and column
        ``table``, ``column``, ``type`` (as in `TYPE_WORDS`), ``unit``, ``levels`` (a JSON list,
        the reference first), ``meaning``, ``missing_when``, ``blank`` (what a blank field means)
        and ``added`` (``true`` for columns of the export's own). Empty where nothing is to say.
    """
    rows = [
        {
            "table": table.name,
            "column": column.name,
            "type": TYPE_WORDS[column.dtype],
            "unit": column.unit or "",
            "levels": json.dumps(reference_first(column)) if column.levels else "",
            "meaning": column.meaning,
            "missing_when": column.null_when or "",
            "blank": blank_meaning(table.name, table.frame[column.name]),
            "added": "true" if column.name in table.added else "false",
        }
        for table in tables
        for column in table.columns
    ]
    return pd.DataFrame(rows, dtype="string")


def write_dictionary(folder: Path, tables: Sequence[ToolTable]) -> None:
    """Write the dictionary of some tables beside them."""
    frame = dictionary_frame(tables)
    write_text(folder, f"{DATA_FOLDER}/{DICTIONARY_FILE}", _csv_text(frame))


def write_csv_table(folder: Path, table: ToolTable) -> None:
    """Write a table as CSV: texts in quotes, truth values as true and false, missing as nothing."""
    frame = table.frame.copy(deep=False)
    for column in table.columns:
        if column.dtype == "boolean":
            words = frame[column.name].map({True: "true", False: "false"}, na_action="ignore")
            frame[column.name] = words.astype("string")
    write_text(folder, f"{DATA_FOLDER}/{table.name}.csv", _csv_text(frame))


def _csv_text(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def read_dictionary(folder: Path) -> pd.DataFrame:
    """Read the dictionary that `write_dictionary` wrote.

    Raises
    ------
    DatasetError
        If it cannot be read.
    """
    return _read_texts(folder, DICTIONARY_FILE)


def read_csv_table(folder: Path, name: str | None = None) -> pd.DataFrame:
    """Read a table that `write_csv_table` wrote, without the columns that the export added.

    Parameters
    ----------
    folder : Path
        The export.
    name : str or None
        The table; None for the first in the dictionary.

    Raises
    ------
    DatasetError
        If a file cannot be read, or does not fit its dictionary.
    """
    dictionary = read_dictionary(folder)
    name = name or str(dictionary["table"].iloc[0])
    texts = _read_texts(folder, f"{name}.csv")
    cells = {str(column): texts[column].tolist() for column in texts.columns}
    return typed_table(cells, dictionary, name)


def _read_texts(folder: Path, name: str) -> pd.DataFrame:
    path = folder / DATA_FOLDER / name
    try:
        return pd.read_csv(path, dtype="string", keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def typed_table(
    cells: Mapping[str, Sequence[Any]],
    dictionary: pd.DataFrame,
    name: str,
    *,
    truth: Mapping[str, bool] = _TRUTH,
) -> pd.DataFrame:
    """Turn the cells of a table into its columns, typed as its dictionary says.

    Parameters
    ----------
    cells : mapping of str to sequence
        Values by column: texts, numbers or truth values; blank is None or an empty text.
    dictionary : DataFrame
        From `dictionary_frame`.
    name : str
        The table.
    truth : mapping of str to bool
        The words for truth values.

    Returns
    -------
    DataFrame
        The data set's own columns, in order.

    Raises
    ------
    DatasetError
        If a column is not there, or a cell is not of its type.
    """
    rows = dictionary[(dictionary["table"] == name) & (dictionary["added"] == "false")]
    if rows.empty:
        raise DatasetError(f"the dictionary knows no table {name!r}")
    frame = {}
    readers = _readers(truth)
    for row in rows.itertuples():
        column = str(row.column)
        if column not in cells:
            raise DatasetError(f"{name}: column {column} is missing")
        dtype, read = readers[str(row.type)]
        blank = "" if row.blank == EMPTY_TEXT else None
        try:
            values = [blank if x is None or x == "" else read(x) for x in cells[column]]
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"{name}, column {column}: no {row.type} ({error})") from error
        frame[column] = pd.array(values, dtype=dtype)
    return pd.DataFrame(frame)


def _readers(truth: Mapping[str, bool]) -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    def truth_value(cell: object) -> bool:
        return cell if isinstance(cell, bool) else truth[str(cell)]

    reads: dict[str, Callable[[Any], Any]] = {
        "string": str, "Int64": int, "Float64": float, "boolean": truth_value,
    }  # fmt: skip
    return {TYPE_WORDS[dtype]: (dtype, read) for dtype, read in reads.items()}


def readme_text(source: ExportSource, title: str, lines: Sequence[str]) -> str:
    """Return a short text about the tables; data that are no people's are called so at once."""
    warning = ["**Simulated data, not people.**", ""] if source.simulated else []
    return "\n".join([f"# {title}", "", *warning, *lines]) + "\n"
