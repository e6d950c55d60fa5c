"""Trial tables in Excel files: cells as text, and what Excel did to them refused or said."""

from __future__ import annotations

import importlib
import warnings
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from ghostblitz_analysis.tables import RawTable, coded_table, raw_table
from ghostblitz_task.errors import DatasetError

__all__ = ["read_excel"]

_ZIP = b"PK\x03\x04"
#: What openpyxl raises for files that are damaged, or written by something else.
_DAMAGED = (
    BadZipFile, zlib.error, EOFError, OSError, LookupError, ValueError, TypeError, AttributeError,
    SyntaxError,
)  # fmt: skip
#: Excel keeps so many digits of a number.
_MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell: its value as Python has it, and whether Excel says that it is an error."""

    value: Any
    is_error: bool

    def text(self, decimal: str) -> str:
        """Return the value as a CSV file would hold it, with this decimal mark."""
        value = self.value
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            # Excel has no whole numbers: 1 may come as 1.0.
            return str(int(value)) if value.is_integer() else repr(value).replace(".", decimal)
        return str(value)

    def trap(self) -> str | None:
        """Say what Excel made of what may have been typed, or nothing."""
        if self.is_error:
            return f"is the error {self.value}; mend the formula, or leave the cell blank"
        if isinstance(self.value, date | time | timedelta):
            return (
                f"is a date or time ({self.value}); Excel takes numbers such as 1.5 or 3-4 for "
                "dates, so format the column as text before the values come in, or import the "
                "file that the experiment wrote"
            )
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if is_number and abs(self.value) >= 10**_MAX_DIGITS:
            return (
                f"is the number {self.value:.0f}, but Excel keeps {_MAX_DIGITS} digits of a "
                "number only; format the column as text before the values come in"
            )
        return None


def read_excel(
    path: Path, *, sheet: str | None, decimal: str, used: Collection[str], participant: str
) -> tuple[RawTable, tuple[str, ...]]:
    """Read the trial table in a sheet of an Excel file (.xlsx).

    Texts stay what they are (``01`` stays ``01``); numbers become texts of as many digits as they
    have; the results of formulas are taken as Excel stored them.

    Parameters
    ----------
    path : Path
        The file.
    sheet : str or None
        The sheet's name; None if there is but one that holds anything.
    decimal : str
        The decimal mark to write numbers with.
    used : collection of str
        Titles of the columns that count; only their cells are refused.
    participant : str
        Title of the column with the participants' ids.

    Returns
    -------
    table : RawTable
        The cells; the first row of the sheet is the header.
    notes : tuple of str
        How many ids are numbers, which have no leading zeros.

    Raises
    ------
    DatasetError
        If openpyxl is not installed, the file cannot be read, the sheet is not there or not
        clear, or a cell of a column that counts holds a date, an error, a number that is too
        long, or a formula without a result; naming the cell.
    """
    name, rows, without_result = _read_sheet(path, sheet)
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell.value
                 is not None), default=0)  # fmt: skip
    if width == 0:
        raise DatasetError(f"{name} is empty")
    texts = [[cell.text(decimal) for cell in row[:width]] for row in rows]
    texts = [row + [""] * (width - len(row)) for row in texts]
    titles = texts[0]
    places = [place for place, title in enumerate(titles) if title in used]
    for number, row in enumerate(rows[1:], start=2):
        for place in places:
            trap = row[place].trap() if place < len(row) else None
            if (number, place) in without_result:
                trap = (
                    "is a formula whose result is not stored; open and save the file in Excel, or "
                    "save it as CSV"
                )
            if trap is not None:
                raise DatasetError(
                    f"{name}, cell {_letters(place)}{number}: {titles[place]} {trap}"
                )
    table = raw_table(coded_table([texts], name))
    return table, _notes(rows, titles, participant, name)


def _notes(
    rows: Sequence[Sequence[_Cell]], titles: Sequence[str], participant: str, name: str
) -> tuple[str, ...]:
    if participant not in titles:
        return ()
    place = titles.index(participant)
    ids = [row[place].value for row in rows[1:] if place < len(row)]
    n_ids = sum(value is not None for value in ids)
    n_numbers = sum(isinstance(value, int | float) for value in ids)
    if n_numbers == 0:
        return ()
    return (
        f"{name}: {participant} is stored as a number in {n_numbers} of {n_ids} rows, so an id "
        "that was written 01 is 1 here; to keep leading zeros, format the column as text before "
        "the ids come in",
    )


def _read_sheet(
    path: Path, sheet: str | None
) -> tuple[str, list[list[_Cell]], set[tuple[int, int]]]:
    """Return what to call the sheet, its rows, and the cells whose formula has no result."""
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError as error:
        raise DatasetError(
            f"{path} is an Excel file, and openpyxl, which reads them, is not installed; install "
            "it (pip install openpyxl), or save the file as CSV"
        ) from error
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            # Of styles and the like, which are of no interest here.
            warnings.simplefilter("ignore", UserWarning)
            if file.read(len(_ZIP)) != _ZIP:
                raise DatasetError(
                    f"{path} is no Excel file of the kind .xlsx, whatever its name says (an older "
                    "one, one with a password, or a text); save it as CSV"
                )
            values = openpyxl.load_workbook(file, read_only=True, data_only=True)
            name, title = _chosen(path, values, sheet)
            rows = [[_cell(cell) for cell in row] for row in _rows(values[title])]
            formulas = openpyxl.load_workbook(file, read_only=True, data_only=False)
            without_result = {
                (number, place)
                for number, row in enumerate(_rows(formulas[title]), start=1)
                for place, cell in enumerate(row)
                if getattr(cell, "data_type", None) == "f" and rows[number - 1][place].value is None
            }
    except _DAMAGED as error:
        raise DatasetError(
            f"{path} cannot be read as an Excel file ({_one_line(error)}); save it as CSV"
        ) from error
    return name, rows, without_result


def _chosen(path: Path, workbook: Any, sheet: str | None) -> tuple[str, str]:
    """Return what to call the sheet in messages, and its title."""
    titles = [each.title for each in workbook.worksheets]
    listed = ", ".join(repr(title) for title in titles)
    if sheet is not None:
        if sheet not in titles:
            raise DatasetError(f"{path} has no sheet {sheet!r}; there are {listed}")
        return f"{path.name}, sheet {sheet!r}", sheet
    filled = [each.title for each in workbook.worksheets if _holds_anything(each)]
    if not filled:
        raise DatasetError(f"{path} is empty")
    if len(filled) > 1:
        raise DatasetError(
            f"{path} has {len(filled)} sheets that hold something ("
            f"{', '.join(repr(title) for title in filled)}); name one in source.sheet"
        )
    return path.name if len(titles) == 1 else f"{path.name}, sheet {filled[0]!r}", filled[0]


def _holds_anything(sheet: Any) -> bool:
    return any(cell.value is not None for row in _rows(sheet) for cell in row)


def _rows(sheet: Any) -> Iterator[Sequence[Any]]:
    # Some programs state a size that is not the sheet's.
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = sheet.iter_rows()
    return rows


def _cell(cell: Any) -> _Cell:
    return _Cell(cell.value, getattr(cell, "data_type", None) == "e")


def _letters(place: int) -> str:
    """Return the letters of a column: A for 0, Z for 25, AA for 26."""
    letters = ""
    number = place + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
