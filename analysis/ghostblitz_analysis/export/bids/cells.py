"""Tables as BIDS wants them: tab-separated, ``n/a`` for missing; and back, to the same values.

Text that would be taken for something else (``n/a`` itself, tabs, line ends, a leading quote)
stands in double quotes as JSON writes it, so that no cell can break a row or be lost.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column

__all__ = ["MISSING", "as_cells", "read_cells", "typed", "write_tsv"]

MISSING = "n/a"
_LARGEST_TABLE_BYTES = 1_000_000_000
_QUOTED = re.compile(r'^"|[\x00-\x1f\x7f]|^n/a$')
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_FLAGS = {"true": True, "false": False}

Cells = npt.NDArray[np.object_]


def write_tsv(folder: Path, name: str, cells: dict[str, Cells]) -> Path:
    """Write columns of cells, all of one length, as a new file."""
    lines = ["\t".join(cells), *map("\t".join, zip(*cells.values(), strict=True))]
    return write_text(folder, name, "\n".join(lines) + "\n")


def as_cells(values: pd.Series[Any], column: Column) -> Cells:
    """Return a column's values as cells.

    Parameters
    ----------
    values : Series, (n_rows,)
        Of the column's nullable type.
    column : Column
        Where a text can never be missing, ``n/a`` stands for an empty one.

    Returns
    -------
    ndarray of str, (n_rows,)
        Numbers in their shortest form that reads back the same.

    Raises
    ------
    DatasetError
        For an infinite number, which BIDS cannot hold.
    """
    missing = values.isna().to_numpy(dtype=bool)
    cells = np.full(len(values), MISSING, dtype=object)
    present = values[~missing]
    if column.dtype == "string":
        codes, distinct = pd.factorize(present)
        texts = [_text_cell(str(text), never_missing=column.null_when is None) for text in distinct]
        cells[~missing] = np.array(texts, dtype=object)[codes]
    elif column.dtype == "boolean":
        flags = present.to_numpy(dtype=bool)
        cells[~missing] = np.where(flags, "true", "false").astype(object)
    elif column.dtype == "Int64":
        cells[~missing] = [str(value) for value in present.to_numpy(dtype=np.int64).tolist()]
    else:
        numbers = present.to_numpy(dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise DatasetError(f"column {column.name} holds an infinite number; BIDS has none")
        cells[~missing] = [repr(value) for value in numbers.tolist()]
    return cells


def _text_cell(text: str, *, never_missing: bool) -> str:
    if not text:
        return MISSING if never_missing else '""'
    return json.dumps(text, ensure_ascii=False) if _QUOTED.search(text) else text


def read_cells(path: Path) -> dict[str, list[str]]:
    """Read a file's cells by column.

    Raises
    ------
    DatasetError
        Naming file and line, if it cannot be read, has no rows' worth of cells, or names a column
        twice.
    """
    try:
        if path.stat().st_size > _LARGEST_TABLE_BYTES:
            raise DatasetError(f"{path} is too large for a table of one run")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    lines = text.split("\n")
    if lines.pop() != "":
        raise DatasetError(f"{path} does not end with a line end; it was cut off or changed")
    rows = [line.split("\t") for line in lines]
    if not rows or "" in rows[0] or len(set(rows[0])) < len(rows[0]):
        raise DatasetError(f"{path}, line 1: this is no header of columns with names of their own")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise DatasetError(
                f"{path}, line {number}: {len(row)} cells, but the header has {len(rows[0])}"
            )
    columns = zip(*rows, strict=True)
    return {cells[0]: list(cells[1:]) for cells in columns}


def typed(cells: Sequence[str], column: Column, where: str) -> Any:
    """Read cells as a column's type.

    Returns
    -------
    ExtensionArray, (n_rows,)
        Of the column's nullable type.

    Raises
    ------
    DatasetError
        Naming row and column, for a cell that is no such value.
    """
    read = _READERS[column.dtype]
    empty = "" if column.dtype == "string" and column.null_when is None else None
    known: dict[str, Any] = {MISSING: empty}
    for row, cell in enumerate(cells):
        if cell not in known:
            known[cell] = read(cell)
            if known[cell] is None:
                raise DatasetError(
                    f"{where}, row {row + 1}: {column.name} is {cell!r}, which is no "
                    f"{column.dtype} value"
                )
    return pd.array([known[cell] for cell in cells], dtype=column.dtype)


def _as_text(cell: str) -> str | None:
    if not cell.startswith('"'):
        return cell or None
    try:
        text = json.loads(cell)
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def _as_integer(cell: str) -> int | None:
    return int(cell) if _INTEGER.fullmatch(cell) else None


def _as_number(cell: str) -> float | None:
    number = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    return number if math.isfinite(number) else None


_READERS: dict[str, Callable[[str], Any]] = {
    "string": _as_text,
    "Int64": _as_integer,
    "Float64": _as_number,
    "boolean": _FLAGS.get,
}
