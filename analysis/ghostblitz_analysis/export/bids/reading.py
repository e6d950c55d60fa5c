"""BIDS exports read back, to the tables that they were made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from ghostblitz_analysis.export.bids.cells import read_cells, typed
from ghostblitz_analysis.export.bids.run_files import (
    ID,
    ORIGINAL_ID,
    RESPONSE_TIME,
    ROW,
    SCHEMAS,
    STIMULUS,
    TIME_COLUMNS,
    RunFile,
    row_order,
)
from ghostblitz_analysis.export.bids.sidecars import FORMATS, SCHEMA_KEY
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import FACTOR_PREFIX, SCHEMA_VERSION, Column, DType

__all__ = ["read_bids", "read_bids_games", "read_original_ids", "read_sidecar"]

_DERIVATIVES, _GAMES = "derivatives/ghostblitz", "games"
_LARGEST_JSON_BYTES = 50_000_000
_DTYPES: dict[str, DType] = {name: cast("DType", dtype) for dtype, name in FORMATS.items()}


@dataclass(frozen=True, slots=True)
class _Part:
    """The cells of one run."""

    file: RunFile
    path: Path
    cells: Mapping[str, Sequence[str]]


def read_bids(folder: Path) -> pd.DataFrame:
    """Read the trials (or turns) of a BIDS export.

    Returns
    -------
    DataFrame, one row per participant and trial, or per turn
        Exactly the table that was exported: values, types and order; participants have their own
        ids. Columns that this version has and an older export had not are missing throughout.

    Raises
    ------
    DatasetError
        Naming file and line, if it is no such export, is newer than this program, holds symbolic
        links, or holds values that its columns cannot have.
    """
    return _read_tables(folder, folder, None)


def read_bids_games(folder: Path) -> pd.DataFrame:
    """Read the captain's games of a BIDS export; otherwise as `read_bids`."""
    return _read_tables(folder, folder / _DERIVATIVES, _GAMES)


def _read_tables(folder: Path, below: Path, description: str | None) -> pd.DataFrame:
    ids = read_original_ids(folder)
    parts = _parts_in(below, description)
    name = _table_name(parts, description)
    columns = _columns_of(name, parts, below)
    frame = _joined(name, parts, columns, ids)
    if ROW.name in parts[0].cells:
        rows = [cell for part in parts for cell in part.cells[ROW.name]]
        order = np.argsort(np.asarray(typed(rows, ROW, str(below)), dtype=np.int64))
    else:
        order = row_order(name, frame)
    return frame.take(order).reset_index(drop=True)


def read_original_ids(folder: Path) -> dict[str, str]:
    """Return participants' own ids by their labels.

    Raises
    ------
    DatasetError
        If there is no table of participants, or it names one twice.
    """
    file = folder / "participants.tsv"
    cells = read_cells(file)
    for name in (ID, ORIGINAL_ID):
        if name not in cells:
            raise DatasetError(f"{file} has no column {name}; this is no export of ghostblitz")
    column = Column(ORIGINAL_ID, "string", "", "session")
    # An id is never empty, so that what stands for an empty text is one that reads so.
    originals = [str(value) for value in typed(cells[ORIGINAL_ID], column, str(file))]
    labels = [cell.removeprefix("sub-") for cell in cells[ID]]
    for values, what in ((labels, ID), (originals, ORIGINAL_ID)):
        if len(set(values)) < len(values):
            raise DatasetError(f"{file}: {what} names a participant twice")
    return dict(zip(labels, originals, strict=True))


def read_sidecar(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds entries by name.

    Raises
    ------
    DatasetError
        If it is missing, damaged, too large, or of a newer schema than this program's.
    """
    try:
        if path.stat().st_size > _LARGEST_JSON_BYTES:
            raise DatasetError(f"{path} is too large for a sidecar")
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    if not isinstance(entries, dict):
        raise DatasetError(f"{path} holds no entries by name")
    version = entries.get(SCHEMA_KEY, SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise DatasetError(
            f"{path}: schema version {version}, but this program reads up to {SCHEMA_VERSION}; "
            "use a newer ghostblitz"
        )
    return entries


def _parts_in(below: Path, description: str | None) -> list[_Part]:
    parts = []
    for name in files_below(below):
        file = RunFile.parse(name)
        if file is not None and file.suffix == "beh" and file.description == description:
            parts.append(_Part(file, below / name, read_cells(below / name)))
    if not parts:
        raise DatasetError(f"{below} holds no table of a run; this is no export of ghostblitz")
    for part in parts:
        if set(part.cells) != set(parts[0].cells):
            raise DatasetError(f"{part.path} has other columns than {parts[0].path}")
    return parts


def _table_name(parts: Sequence[_Part], description: str | None) -> str:
    if description is not None:
        return description
    return "turns" if "turn_index" in parts[0].cells else "trials"


def _columns_of(name: str, parts: Sequence[_Part], below: Path) -> list[Column]:
    """Return the table's columns in order; those that a study added are in the sidecar."""
    known = {TIME_COLUMNS.get(name): RESPONSE_TIME}
    columns = list(SCHEMAS[name])
    there = set(parts[0].cells)
    expected = {known.get(c.name, c.name) for c in columns}
    for column in columns:
        written = known.get(column.name, column.name)
        if written not in there and column.name != ID and column.null_when is None:
            raise DatasetError(f"{parts[0].path} has no column {written}; it was taken away")
    sidecar = read_sidecar(below / parts[0].file.sidecar())
    for added in parts[0].cells:
        if added in expected or added in (ROW.name, STIMULUS.name):
            continue
        entry = sidecar.get(added)
        if not added.startswith(FACTOR_PREFIX) or not isinstance(entry, dict):
            raise DatasetError(f"{parts[0].path}: {added!r} is no column of the schema")
        dtype = _DTYPES.get(entry.get("Format", ""))
        if dtype is None:
            raise DatasetError(f"{below / parts[0].file.sidecar()}: {added} has no Format")
        columns.append(Column(added, dtype, "", "design", null_when="not said"))
    return columns


def _joined(
    name: str, parts: Sequence[_Part], columns: Sequence[Column], ids: Mapping[str, str]
) -> pd.DataFrame:
    n_rows = [len(next(iter(part.cells.values()))) for part in parts]
    values: dict[str, Any] = {}
    for column in columns:
        if column.name == ID:
            values[ID] = pd.array(_ids_of(parts, n_rows, ids), dtype="string")
            continue
        written = RESPONSE_TIME if column.name == TIME_COLUMNS.get(name) else column.name
        if written not in parts[0].cells:
            values[column.name] = pd.array([None] * sum(n_rows), dtype=column.dtype)
            continue
        read = [typed(part.cells[written], column, str(part.path)) for part in parts]
        joined = pd.concat([pd.Series(array) for array in read], ignore_index=True)
        values[column.name] = joined.array
    return pd.DataFrame(values)


def _ids_of(parts: Sequence[_Part], n_rows: Sequence[int], ids: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for part, n in zip(parts, n_rows, strict=True):
        if part.file.label not in ids:
            raise DatasetError(f"{part.path}: participants.tsv has no sub-{part.file.label}")
        found += [ids[part.file.label]] * n
    return found
