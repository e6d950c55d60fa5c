"""Tables of text, as files hold them: nothing is guessed, every cell stays what was written."""

from __future__ import annotations

import codecs
import csv
import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS

__all__ = [
    "CodedColumn",
    "CodedTable",
    "Mask",
    "RawTable",
    "coded",
    "coded_table",
    "combined_codes",
    "concatenated",
    "near_name",
    "parse_coded",
    "parse_delimited",
    "raw_table",
    "read_text",
    "trial_frame",
]

_SIGNATURES = {
    b"PK\x03\x04": "an Excel (or zip) file; give it the ending .xlsx, or save it as CSV first",
    b"\xd0\xcf\x11\xe0": "an old Excel file, or one with a password; save it as CSV",
    b"\x1f\x8b": "a compressed file (gzip, or R's RDS); write it out as CSV first",
    b"RDX": "an R data file; write it out as CSV first",
    b"$FL2": "an SPSS file; save it as CSV first",
    b"PAR1": "a Parquet file; write it out as CSV first",
    b"%PDF": "a PDF file",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: Encodings in which any bytes are a text, so that UTF-8 is misread without an error.
_SINGLE_BYTE = ("cp125", "iso8859", "latin")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
#: So few rows are held as Python texts at a time; they fit into a processor's cache.
_ROWS_AT_ONCE = 4096

Codes = npt.NDArray[np.int32]
Mask: TypeAlias = npt.NDArray[np.bool_]


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


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column of many rows as the codes of its distinct values, each of which is held once.

    Attributes
    ----------
    codes : (n_rows,) int32
        The place of each row's value among `values`; -1 where it is missing.
    values : sequence
        The distinct values, in the order of their first rows.
    """

    codes: Codes
    values: Sequence[Any]

    def at(self, row: int) -> Any:
        """Return the value of a row, or None."""
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def cells(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> list[Any]:
        """Return the values of rows (by default of all), None where missing."""
        found: list[Any] = _objects([*self.values, None])[self.codes[rows]].tolist()
        return found

    def where(self, holds: Callable[[Any], bool]) -> Mask:
        """Return in which rows a condition holds; in those without a value it does not."""
        return np.array([*map(holds, self.values), False], dtype=bool)[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class CodedTable:
    """A table of many rows, column by column.

    Attributes
    ----------
    columns : mapping of str to CodedColumn
        Texts by column.
    name : str
        The file, as messages name it.
    numbers : (n_rows,) int64
        The number of each row in the file; the header is row 1.
    """

    columns: Mapping[str, CodedColumn]
    name: str
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, row: int) -> str:
        """Return where a row stands, as people find it."""
        return f"{self.name}, row {self.numbers[row]}"


def read_text(path: Path, *, encoding: str = "utf-8-sig") -> str:
    """Read a text file; a byte-order mark at its start is left out.

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
    known = codecs.lookup(encoding).name
    if data.startswith(_UTF16) and not known.startswith("utf-16"):
        raise DatasetError(
            f'{path} is UTF-16 text, not {encoding}; set source.encoding = "utf-16", or save it '
            "as UTF-8"
        )
    if known.startswith(_SINGLE_BYTE) and _is_utf8(data):
        raise DatasetError(
            f'{path} is UTF-8 text, not {encoding}; leave source.encoding out (or set "utf-8")'
        )
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        raise DatasetError(
            f"{path} is not {encoding} text ({error}); set its encoding (cp1252, for example), "
            "or save it as UTF-8"
        ) from error
    text = text.removeprefix("\ufeff")
    if (place := text.find("\0")) >= 0:
        line = text.count("\n", 0, place) + 1
        raise DatasetError(
            f"{path}, line {line}: this is no text file: it holds binary zeros; if it is UTF-16, "
            'set source.encoding = "utf-16-le"'
        )
    return text


def _is_utf8(data: bytes) -> bool:
    """Say whether bytes beyond ASCII are UTF-8, which other texts hardly ever are by chance."""
    if data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeError:
        return False
    return True


def parse_delimited(text: str, name: str, *, delimiter: str = ",", quote: str = '"') -> RawTable:
    """Read rows of delimited text, as `parse_coded` does, into lists of cells."""
    return raw_table(parse_coded(text, name, delimiter=delimiter, quote=quote))


def parse_coded(text: str, name: str, *, delimiter: str = ",", quote: str = '"') -> CodedTable:
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
        For rows with fewer cells than the header, or with more that are not blank; a quote that
        never closes; two columns of the same name; or no rows at all.
    """
    return coded_table(_delimited_rows(text, name, delimiter, quote), name)


def coded_table(batches: Iterable[list[list[str]]], name: str) -> CodedTable:
    """Make a table of rows of cells, some at a time; the first of all is the header.

    A blank row is left out; so are blank cells beyond the header, as some programs end rows with
    a delimiter.

    Raises
    ------
    DatasetError
        As `parse_coded`.
    """
    batches = iter(batches)
    begun: list[list[str]] = next(batches, [[]])
    titles, first = begun[0], begun[1:]
    header = _header(titles, name)
    coders = [_Coder() for _ in titles]
    numbers: list[npt.NDArray[np.int64]] = []
    n_before = 1
    pending: Iterator[list[list[str]]] = chain([first], batches)
    for batch in pending:
        of_rows, rows = _full_rows(batch, len(titles), n_before, name)
        n_before += len(batch)
        if rows:
            numbers.append(of_rows)
            for coder, cells in zip(coders, zip(*rows, strict=True), strict=True):
                coder.add(cells)
    if not numbers:
        raise DatasetError(f"{name} has a header but no rows")
    columns = [coder.column() for coder in coders]
    _check_unnamed(titles, columns, name)
    return CodedTable(
        {title: columns[place] for title, place in header.items()}, name, np.concatenate(numbers)
    )


class _Coder:
    """Codes the cells of a column, batch by batch."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._codes: list[Codes] = []

    def add(self, cells: Sequence[str]) -> None:
        codes, found = pd.factorize(_objects(cells))
        known = self._known
        places = [known.setdefault(cell, len(known)) if cell else -1 for cell in found]
        self._codes.append(np.array(places, dtype=np.int32)[codes])

    def column(self) -> CodedColumn:
        return CodedColumn(np.concatenate(self._codes), list(self._known))


def _objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _delimited_rows(text: str, name: str, delimiter: str, quote: str) -> Iterator[list[list[str]]]:
    # Line by line: a file object over the text would hold it once more, at four bytes a letter.
    def reader() -> Any:
        lines = map(re.Match.group, _LINE.finditer(text))
        return csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)

    rows = reader()
    try:
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            yield batch
    except csv.Error as error:
        # The reader stops where it cannot go on; the row that it failed at began before.
        raise DatasetError(
            f"{name}, line {_lines_before_error(reader()) + 1}: the row that begins here is no row "
            f"with delimiter {delimiter!r} and quote {quote!r} ({error}); does a quote open that "
            "never closes?"
        ) from error


def _lines_before_error(reader: Any) -> int:
    """Read a text again, row by row, to where it cannot be read; return the lines before that."""
    n_lines = 0
    with suppress(csv.Error):
        for _ in reader:
            n_lines = reader.line_num
    return n_lines


def _full_rows(
    batch: list[list[str]], n_columns: int, n_before: int, name: str
) -> tuple[npt.NDArray[np.int64], list[list[str]]]:
    """Return the rows that hold anything, as wide as the header, with their numbers in the file."""
    numbers = n_before + 1 + np.arange(len(batch), dtype=np.int64)
    if all(map(any, batch)) and all(len(row) == n_columns for row in batch):
        return numbers, batch
    # An empty line, or one of delimiters only, as Excel leaves them, is no row.
    filled = [place for place, row in enumerate(batch) if any(row)]
    for place in filled:
        row = batch[place]
        if len(row) < n_columns or any(row[n_columns:]):
            raise DatasetError(
                f"{name}, row {numbers[place]}: {len(row)} cells where the header has {n_columns}; "
                "the row was cut short, or holds a delimiter that is not quoted"
            )
    return numbers[filled], [batch[place][:n_columns] for place in filled]


def _header(titles: Sequence[str], name: str) -> dict[str, int]:
    header: dict[str, int] = {}
    for place, title in enumerate(titles):
        if not title.strip():
            continue
        if title in header:
            raise DatasetError(
                f"{name}: two columns are named {title!r} (columns {header[title] + 1} and "
                f"{place + 1}); rename one"
            )
        header[title] = place
    if not header:
        raise DatasetError(f"{name} has no header; its first row must name the columns")
    return header


def _check_unnamed(titles: Sequence[str], columns: Sequence[CodedColumn], name: str) -> None:
    # PsychoPy ends every row with a delimiter, R numbers its rows: such columns have no name.
    for place, title in enumerate(titles):
        if not title.strip() and place > 0 and (columns[place].codes >= 0).any():
            raise DatasetError(f"{name}: column {place + 1} has values but no name; name it")


def raw_table(table: CodedTable) -> RawTable:
    """Return a coded table as lists of cells; equal cells of a column are one object."""
    columns = {title: column.cells() for title, column in table.columns.items()}
    return RawTable(columns, tuple(table.place(row) for row in range(len(table))))


def coded(values: Iterable[Hashable]) -> CodedColumn:
    """Return values as a coded column; None is missing."""
    known: dict[Hashable, int] = {}
    codes = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return CodedColumn(np.array(codes, dtype=np.int32), list(known))


def combined_codes(columns: Iterable[CodedColumn]) -> npt.NDArray[np.int64]:
    """Give the combinations of values of several columns numbers, in the order of their first rows.

    Missing values are equal to one another.

    Raises
    ------
    ValueError
        If there is no column.

    Examples
    --------
    >>> combined_codes([coded(["a", "a", "b", "a"]), coded([1, None, 1, 1])]).tolist()
    [0, 1, 2, 0]
    """
    key: npt.NDArray[np.int64] | None = None
    for column in columns:
        codes = column.codes.astype(np.int64)
        # Never more than rows times values, so this cannot overflow.
        wide = codes if key is None else key * (len(column.values) + 1) + codes
        key = pd.factorize(wide)[0].astype(np.int64)
    if key is None:
        raise ValueError("no columns to combine")
    return key


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


def trial_frame(columns: Mapping[str, Sequence[Any] | CodedColumn], n_rows: int) -> pd.DataFrame:
    """Return a table with exactly the schema's columns, in order and with their types.

    Parameters
    ----------
    columns : mapping of str to sequence or CodedColumn
        Values by column, None where missing; a column that is not given is missing throughout.
        Columns beyond the schema follow, as text.
    n_rows : int
        Rows of the table.
    """
    blank = CodedColumn(np.zeros(n_rows, dtype=np.int32), [None])
    frame = {c.name: _typed(columns.get(c.name, blank), c.dtype) for c in COLUMNS}
    frame |= {name: _typed(columns[name], "string") for name in columns if name not in frame}
    table: pd.DataFrame = pd.DataFrame(frame, copy=False)
    return table


def _typed(values: Sequence[Any] | CodedColumn, dtype: Any) -> Any:
    if isinstance(values, CodedColumn):
        # Only the distinct values are read one by one.
        return pd.array(list(values.values), dtype=dtype).take(values.codes, allow_fill=True)
    return pd.array(list(values), dtype=dtype)
