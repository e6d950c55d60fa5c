"""Tables for SPSS: .sav files with labels, levels of measurement and missing values.

Columns with fixed levels become numbers with value labels, which SPSS wants of factors; all other
texts stay texts. SPSS has no missing text, so a blank one is declared as missing where it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat

from ghostblitz_analysis.export.folders import place_in, write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    MISSING,
    ToolTable,
    blank_meaning,
    read_dictionary,
    readme_text,
    reference_first,
    tool_tables,
    typed_table,
    write_dictionary,
)
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column

__all__ = ["read_spss", "write_spss"]

#: Limits of SPSS: bytes of a label, of a file's label, of a text; what a name may be.
_MAX_LABEL, _MAX_FILE_LABEL, _MAX_TEXT = 255, 64, 32_767
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}[A-Za-z0-9]")
_RESERVED = frozenset(
    ("ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH")
)
#: Beyond it a number of 64 bits has no exact whole numbers.
_MAX_WHOLE = 2**53
#: Where a .sav file says when it was made (https://www.gnu.org/software/pspp/pspp-dev/html_node/
#: File-Header-Record.html: date and time after 92 bytes), and what it is to say instead.
_MADE_AT, _NO_TIME = 92, b"01 Jan 0000:00:00"
_TRUTH_LABELS: dict[int | float, str] = {0: "false", 1: "true"}


@dataclass(slots=True)
class _Variables:
    """What `pyreadstat.write_sav` is told of the columns."""

    values: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, str | None] = field(default_factory=dict)
    value_labels: dict[str, dict[int | float, str]] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    missing: dict[str, list[Any]] = field(default_factory=dict)


def write_spss(source: ExportSource, folder: Path) -> None:
    """Write each table as a .sav file.

    Raises
    ------
    DatasetError
        As `tool_tables`; or if SPSS cannot hold a name, a text or a number.
    """
    tables = tool_tables(source)
    for table in tables:
        _write_sav(source, folder, table)
    write_dictionary(folder, tables)
    main = tables[0]
    used = "used_for_rt" if main.added else "phase"
    lines = [
        *(f"- `{table.name}.sav`: {len(table.frame)} rows" for table in tables),
        "",
        "Every variable has a label and a level of measurement. Factors are numbers with value "
        "labels; the first is the reference of the analysis. Times are in seconds. A missing "
        "number is system-missing; a missing text is blank and declared missing. `columns.csv` "
        "says it all at full length.",
        "",
        "```",
        f"GET FILE='{main.name}.sav'.",
        *(
            [
                "FILTER BY used_for_rt.",
                "COMPUTE log_rt = LN(rt_s).",
                "MEANS TABLES=rt_s BY rule BY block_kind.",
            ]
            if used == "used_for_rt"
            else [f"FREQUENCIES VARIABLES={used}."]
        ),
        "```",
    ]
    if main.added:
        lines += ["", "All trials are kept; `exclude_*` say why one is left out."]
    text = readme_text(source, f"{source.title} for SPSS", lines)
    write_text(folder, f"{DATA_FOLDER}/README-spss.md", text)
    write_common(source, folder, Layout())


def read_spss(folder: Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `write_spss` wrote, as the data set has it; by default the main one.

    Raises
    ------
    DatasetError
        If a file cannot be read, or does not fit its dictionary.
    """
    dictionary = read_dictionary(folder)
    name = table or str(dictionary["table"].iloc[0])
    path = folder / DATA_FOLDER / f"{name}.sav"
    try:
        frame, meta = pyreadstat.read_sav(path, user_missing=True)
    except (OSError, pyreadstat.ReadstatError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    columns = dictionary.loc[dictionary["table"] == name, "column"].tolist()
    if len(columns) != len(frame.columns):
        raise DatasetError(f"{path} has {len(frame.columns)} variables, not {len(columns)}")
    cells: dict[str, list[Any]] = {}
    for column, variable in zip(columns, frame.columns, strict=True):
        values = frame[variable].astype(object).where(frame[variable].notna(), None).tolist()
        labels = meta.variable_value_labels.get(variable)
        cells[column] = [labels[v] if v is not None else v for v in values] if labels else values
    return typed_table(cells, dictionary, name)


def _write_sav(source: ExportSource, folder: Path, table: ToolTable) -> None:
    told = _Variables()
    for column, variable in zip(table.columns, _names(table.columns), strict=True):
        _add(told, table, column, variable)
    label = f"{'SIMULATED: ' if source.simulated else ''}{source.title}"
    notes = ["Simulated data, not people."] if source.simulated else []
    path = place_in(folder, f"{DATA_FOLDER}/{table.name}.sav")
    path.touch(exist_ok=False)  # pyreadstat would write over a file.
    try:
        pyreadstat.write_sav(
            pd.DataFrame(told.values),
            path,
            file_label=_cut(label, _MAX_FILE_LABEL),
            column_labels=told.labels,
            note=[*notes, f"{table.name} of {source.name}"],
            variable_value_labels=told.value_labels,
            variable_measure=told.measures,
            variable_format=told.formats,
            missing_ranges=told.missing,
            row_compress=True,
        )
    except pyreadstat.ReadstatError as error:  # So it calls a full disk, too.
        raise DatasetError(
            f"{table.name}.sav cannot be written: {error}; is there room on the disk?"
        ) from error
    with path.open("r+b") as file:
        file.seek(_MADE_AT)
        file.write(_NO_TIME)


def _names(columns: Sequence[Column]) -> list[str]:
    """Return names that SPSS takes, where capitals make no difference."""
    names: list[str] = []
    for place, column in enumerate(columns, start=1):
        name = column.name
        taken = {other.upper() for other in names}
        fits = _NAME.fullmatch(name) and name.upper() not in _RESERVED | taken
        names.append(name if fits else f"column_{place}")
    return names


def _add(told: _Variables, table: ToolTable, column: Column, variable: str) -> None:
    values = table.frame[column.name]
    label = column.meaning if variable == column.name else f"{column.name}: {column.meaning}"
    if column.unit:
        label = f"{label} [{column.unit}]"
    told.labels[variable] = _cut(label, _MAX_LABEL)
    levels = reference_first(column)
    told.measures[variable] = _measure(column)
    if column.dtype == "string" and levels:
        codes = {level: code for code, level in enumerate(levels, start=1)}
        told.values[variable] = _numbers(values.map(codes).astype("Float64"))
        told.value_labels[variable] = {code: level for level, code in codes.items()}
        told.formats[variable] = "F4.0"
    elif column.dtype == "string":
        _check_texts(table.name, values)
        told.values[variable] = values.fillna("").astype(object).tolist()
        if blank_meaning(table.name, values) == MISSING:
            told.missing[variable] = [" "]
    elif column.dtype == "boolean":
        told.values[variable] = _numbers(values)
        told.value_labels[variable] = _TRUTH_LABELS
        told.formats[variable] = "F1.0"
    else:
        if column.dtype == "Int64" and bool((values.abs() > _MAX_WHOLE).any()):
            raise DatasetError(f"{table.name}, column {column.name}: a number too large for SPSS")
        told.values[variable] = _numbers(values)
        told.formats[variable] = "F10.0" if column.dtype == "Int64" else "F12.6"


def _measure(column: Column) -> str:
    if column.dtype == "Float64" or column.name.startswith("n_"):
        return "scale"
    return "ordinal" if column.dtype == "Int64" else "nominal"


def _numbers(values: pd.Series) -> Any:
    return values.astype("Float64").to_numpy(dtype="float64", na_value=float("nan"))


def _check_texts(table: str, values: pd.Series) -> None:
    for text in values.dropna().unique():
        if len(text.encode()) > _MAX_TEXT:
            raise DatasetError(f"{table}, column {values.name}: a text too long for SPSS")
        if text != text.rstrip(" ") or "\0" in text:
            raise DatasetError(
                f"{table}, column {values.name}: {text!r} ends with a space, which SPSS takes "
                "away; export as csv or parquet"
            )


def _cut(text: str, n_bytes: int) -> str:
    """Shorten a text to so many bytes, without splitting a letter."""
    if len(text.encode()) <= n_bytes:
        return text
    return text.encode()[: n_bytes - 3].decode(errors="ignore") + "..."
