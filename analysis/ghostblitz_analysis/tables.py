"""Tables of text, as files hold them: nothing is guessed, every cell stays what was written."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS

__all__ = ["RawTable", "concatenated", "near_name", "parse_delimited", "read_text", "trial_frame"]

_SIGNATURES = {
    b"PK\x03\x04": "an Excel (or zip) file; save it as CSV first",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as CSV first",
    b"\x1f\x8b": "a compressed file (gzip, or R's RDS); write it out as CSV first",
    b"RDX": "an R data file; write it out as CSV first",
    b"$FL2": "an SPSS file; save it as CSV first",
    b"PAR1": "a Parquet file; write it out as CSV first",
    b"%PDF": "a PDF file",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class RawTable:
    """Cells as text, with the place of each row in its file.

    Attributes
    ----------
    columns : mapping of str to list
        Texts by column; None where the cell is blank or the row has no such column.
    places : tuple of str
        Where each row stands, as people find it: ``trials.csv, row 17`` (the header is row 1).
    """

    columns: Mapping[str, list[str | None]]
    places: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.places)

    def keep(self, rows: Sequence[bool]) -> RawTable:
        """Return the table with these rows only."""
        return RawTable(
            {
                name: [cell for cell, kept in zip(cells, rows, strict=True) if kept]
                for name, cells in self.columns.items()
            },
            tuple(p for p, kept in zip(self.places, rows, strict=True) if kept),
        )


def read_text(path: Path, *, encoding: str = "utf-8-sig") -> str:
    """Read a text file.

    Raises
    ------
    DatasetError
        If it cannot be read, is empty, is no text, or is not in this encoding.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from error
    if not data.strip():
        raise DatasetError(f"{path} is empty")
    for signature, kind in _SIGNATURES.items():
        if data.startswith(signature):
            raise DatasetError(f"{path} is {kind}")
    if data.startswith(_UTF16) and not encoding.lower().startswith(("utf-16", "utf_16")):
        raise DatasetError(f"{path} is UTF-16 text, not {encoding}; set encoding or save it anew")
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        raise DatasetError(
            f"{path} is not {encoding} text ({error}); set its encoding (cp1252, for example), "
            "or save it as UTF-8"
        ) from error
    if "\0" in text:
        raise DatasetError(f"{path} is no text file: it holds binary zeros")
    return text


def parse_delimited(text: str, name: str, *, delimiter: str = ",", quote: str = '"') -> RawTable:
    """Read rows of delimited text; the first is the header.

    Parameters
    ----------
    text : str
        The whole file.
    name : str
        The file, as messages name it.
    delimiter, quote : str
        One character each.

    Raises
    ------
    DatasetError
        For rows with more or fewer cells than the header, a quote that never closes, two
        columns of the same name, or no rows at all.
    """
    rows: list[list[str]] = []
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True
    )
    n_lines = 0
    try:
        for row in reader:
            rows.append(row)
            n_lines = reader.line_num
    except csv.Error as error:
        # The reader stops where it cannot go on; the row that it failed at began before.
        raise DatasetError(
            f"{name}, line {n_lines + 1}: the row that begins here is no row with delimiter "
            f"{delimiter!r} and quote {quote!r} ({error}); does a quote open that never closes?"
        ) from error
    header = _header(rows[0] if rows else [], name)
    n_columns = len(rows[0]) if rows else 0
    cells, places = [], []
    for number, row in enumerate(rows[1:], start=2):
        if not any(row):  # An empty line, or one of delimiters only, as Excel leaves them.
            continue
        if len(row) != n_columns:
            raise DatasetError(
                f"{name}, row {number}: {len(row)} cells where the header has {n_columns}; the "
                "row was cut short, or holds a delimiter that is not quoted"
            )
        cells.append(row)
        places.append(f"{name}, row {number}")
    if not cells:
        raise DatasetError(f"{name} has a header but no rows")
    columns = list(zip(*cells, strict=True))
    _check_unnamed(rows[0], columns, name)
    return RawTable(
        {title: [cell or None for cell in columns[place]] for title, place in header.items()},
        tuple(places),
    )


def _header(titles: Sequence[str], name: str) -> dict[str, int]:
    header: dict[str, int] = {}
    for place, title in enumerate(titles):
        if not title.strip():
            continue
        if title in header:
            raise DatasetError(f"{name}: two columns are named {title!r}; rename one")
        header[title] = place
    if not header:
        raise DatasetError(f"{name} has no header; its first row must name the columns")
    return header


def _check_unnamed(titles: Sequence[str], columns: Sequence[Sequence[str]], name: str) -> None:
    # PsychoPy ends every row with a delimiter, R numbers its rows: such columns have no name.
    for place, title in enumerate(titles):
        if not title.strip() and 0 < place < len(titles) - 1 and any(columns[place]):
            raise DatasetError(f"{name}: column {place + 1} has values but no name; name it")


def concatenated(tables: Iterable[RawTable]) -> RawTable:
    """Return the rows of several tables in one; a column that a table lacks is blank there."""
    parts = list(tables)
    titles = dict.fromkeys(title for part in parts for title in part.columns)
    columns: dict[str, list[str | None]] = {}
    for title in titles:
        columns[title] = [
            cell for part in parts for cell in part.columns.get(title, [None] * len(part))
        ]
    return RawTable(columns, tuple(place for part in parts for place in part.places))


def near_name(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'X'?" for the nearest known name, or nothing.

    In quotes, since names of columns may begin or end with a space.
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def trial_frame(columns: Mapping[str, Sequence[Any]], n_rows: int) -> pd.DataFrame:
    """Return a table with exactly the schema's columns, in order and with their types.

    Parameters
    ----------
    columns : mapping of str to sequence
        Values by column, None where missing; a column that is not given is missing throughout.
        Columns beyond the schema follow, as text.
    n_rows : int
        Rows of the table.
    """
    blank: list[Any] = [None] * n_rows
    frame = {c.name: pd.array(list(columns.get(c.name, blank)), dtype=c.dtype) for c in COLUMNS}
    extra = [name for name in columns if name not in frame]
    frame |= {name: pd.array(list(columns[name]), dtype="string") for name in extra}
    table: pd.DataFrame = pd.DataFrame(frame)
    return table
