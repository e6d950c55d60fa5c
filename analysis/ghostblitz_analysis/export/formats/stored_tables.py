"""Tables that an export holds: described for programs, found again, and brought up to date."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.formats.table_text import read_table_text
from ghostblitz_analysis.export.parts.participant_table import (
    PARTICIPANT_COLUMNS,
    participant_table,
)
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_analysis.tables import near_name
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS, FACTOR_PREFIX, SCHEMA_VERSION, Column

__all__ = [
    "MAIN_TABLES",
    "MIGRATIONS",
    "StoredTable",
    "check_export",
    "check_version",
    "current_table",
    "describe_column",
    "describe_data",
    "main_of",
    "read_json",
    "read_stored",
    "stored_dtypes",
    "tables_of",
]

#: Brings a table (its name, then the table) from one version of the schema to the next.
Migration = Callable[[str, pd.DataFrame], pd.DataFrame]

#: By the version that is read. The schema is in its first version, so nothing is older yet.
MIGRATIONS: dict[int, Migration] = {}

#: What `read_export` returns: one of these stands in every export.
MAIN_TABLES = ("trials", "turns")
_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "trials": COLUMNS,
    "turns": TURN_COLUMNS,
    "games": GAME_COLUMNS,
    "participants": PARTICIPANT_COLUMNS,
}
_DTYPES = ("string", "Int64", "Float64", "boolean")
#: Columns that are never missing, but may be a text without a letter: no rules are in play. Other
#: programs that save a table again leave out the quotes by which that is told from nothing.
_EMPTY_TEXTS = ("rules",)
#: A description of a thousand columns is well below this.
_LARGEST_DESCRIPTION_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table in an export, as the export's own description has it.

    Attributes
    ----------
    name : str
        ``trials``, ``turns``, ``games`` or ``participants``.
    file : str
        Relative to the export's folder, with ``/``.
    dtypes : mapping of str to str
        The pandas type of each column, in order.
    """

    name: str
    file: str
    dtypes: Mapping[str, str]


def tables_of(source: ExportSource) -> tuple[ExportTable, ...]:
    """Return every table of a data set: the main one first, the participants last."""
    people = ExportTable("participants", participant_table(source), PARTICIPANT_COLUMNS)
    return (source.main, *source.others, people)


def describe_data(source: ExportSource) -> str:
    """Say what the data are in one paragraph; simulated data are called so first."""
    stated = source.publication.description or (
        f"Reaction times and errors in card games of the Ghost Blitz kind: study "
        f"{source.study_id}, one row per participant and {source.main.name.removesuffix('s')}."
    )
    return f"Simulated data, not people. {stated}" if source.simulated else stated


def describe_column(column: Column) -> dict[str, Any]:
    """Return what a column means, for programs; what does not apply is left out."""
    record = {
        "name": column.name,
        "type": column.dtype,
        "meaning": column.meaning,
        "unit": column.unit,
        "levels": list(column.levels),
        "missing_when": column.null_when,
    }
    return {key: value for key, value in record.items() if value}


def check_export(folder: Path) -> frozenset[str]:
    """Return the names of an export's files.

    Raises
    ------
    DatasetError
        If there is no folder, or it holds symbolic links or other things that are no plain files.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder; give an export's folder")
    return frozenset(files_below(folder))


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a description of an export.

    Raises
    ------
    DatasetError
        If it is missing, a symbolic link, too large, or no JSON object.
    """
    path = folder / name
    try:
        if path.is_symlink() or not path.is_file():
            raise DatasetError(f"{folder} holds no {name}")
        if path.stat().st_size > _LARGEST_DESCRIPTION_BYTES:
            raise DatasetError(f"{path} is too large to describe an export")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise DatasetError(f"{path} is no JSON object, so it describes no export")
    return found


def stored_dtypes(pairs: Sequence[tuple[object, object]], where: str) -> dict[str, str]:
    """Check names and types of columns as a description has them.

    Raises
    ------
    DatasetError
        If a name is no text or stands twice, or a type is not one of the schema's.
    """
    dtypes: dict[str, str] = {}
    for name, dtype in pairs:
        if not isinstance(name, str) or name in dtypes:
            raise DatasetError(f"{where}: column {name!r} is no name, or stands twice")
        if dtype not in _DTYPES:
            raise DatasetError(
                f"{where}: column {name} is of type {dtype!r}; expected one of {', '.join(_DTYPES)}"
            )
        dtypes[name] = str(dtype)
    if not dtypes:
        raise DatasetError(f"{where}: no column is described")
    return dtypes


def main_of(tables: Sequence[StoredTable], files: frozenset[str], where: str) -> StoredTable:
    """Return the table of trials, or turns.

    Raises
    ------
    DatasetError
        If there is none or several, or its file is not one of the export's.
    """
    found = [table for table in tables if table.name in MAIN_TABLES]
    if len(found) != 1:
        raise DatasetError(
            f"{where} describes {len(found)} tables of trials or turns; an export has one"
        )
    # A name such as ../x, or an address, is no file of the export either.
    if PurePosixPath(found[0].file).as_posix() not in files:
        raise DatasetError(f"{where} names {found[0].file!r}, which is no file of the export")
    return found[0]


def check_version(version: object, where: str) -> int:
    """Return the version of the schema that an export states.

    Raises
    ------
    DatasetError
        If it is no whole number, newer than this program, or has no way to its schema.
    """
    if not isinstance(version, int) or isinstance(version, bool):
        raise DatasetError(f"{where}: schema version {version!r} is no whole number")
    if version > SCHEMA_VERSION:
        raise DatasetError(
            f"{where}: schema version {version}, but this program reads up to {SCHEMA_VERSION}; "
            "use a newer ghostblitz"
        )
    for older in range(version, SCHEMA_VERSION):
        if older not in MIGRATIONS:
            raise DatasetError(f"{where}: nothing is known of schema version {older}")
    return version


def read_stored(folder: Path, table: StoredTable, version: object) -> pd.DataFrame:
    """Read a table of delimited text as `current_table` returns it.

    Raises
    ------
    DatasetError
        As `read_table_text` and `current_table`.
    """
    where = str(folder / table.file)
    check_version(version, where)
    frame = read_table_text(folder / table.file, table.dtypes)
    blank = {name: frame[name].fillna("") for name in _EMPTY_TEXTS if name in frame.columns}
    return current_table(table.name, frame.assign(**blank), version, where)


def current_table(name: str, frame: pd.DataFrame, version: object, where: str) -> pd.DataFrame:
    """Bring a table that was read to the schema of this program, and check it against that.

    Parameters
    ----------
    name : str
        Of the table.
    frame : DataFrame
        As read; its columns may stand in any order.
    version : int
        The version of the schema that it was written with.
    where : str
        The file, for messages.

    Returns
    -------
    DataFrame
        The schema's columns in order, then those named ``factor_*``.

    Raises
    ------
    DatasetError
        If the version is newer than this program or has no way here, or if a column is missing,
        unknown, of another type, or holds a level that it cannot have.
    """
    for older in range(check_version(version, where), SCHEMA_VERSION):
        frame = MIGRATIONS[older](name, frame)
    return _checked(name, frame, where)


def _checked(name: str, frame: pd.DataFrame, where: str) -> pd.DataFrame:
    columns = _COLUMNS[name]
    known = [column.name for column in columns]
    present = [str(title) for title in frame.columns]
    for title in known:
        if title not in present:
            raise DatasetError(f"{where}: column {title} is missing")
    added = [title for title in present if title not in set(known)]
    for title in added:
        if name != "trials" or not title.startswith(FACTOR_PREFIX):
            raise DatasetError(
                f"{where}: {title!r} is no column of the {name}{near_name(title, known)}"
            )
    for column in columns:
        _check_values(column, frame[column.name], where)
    return frame[[*known, *added]]


def _check_values(column: Column, values: pd.Series, where: str) -> None:
    if values.dtype != column.dtype:
        raise DatasetError(
            f"{where}: {column.name} is of type {values.dtype}, but should be {column.dtype}"
        )
    if column.null_when is None and bool(values.isna().any()):
        raise DatasetError(f"{where}: {column.name} is empty in some rows, but every row has one")
    if column.levels:
        for level in values.dropna().unique():
            if level not in column.levels:
                raise DatasetError(
                    f"{where}: {column.name} is {str(level)[:80]!r}, but should be one of "
                    f"{', '.join(column.levels)}"
                )
