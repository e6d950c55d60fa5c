"""Reading somebody else's trial table, as experiment platforms write them."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ghostblitz_analysis.excel import read_excel
from ghostblitz_analysis.mapping import Mapping as TableMapping
from ghostblitz_analysis.mapping import comparable
from ghostblitz_analysis.tables import RawTable, concatenated, near_name, parse_delimited, read_text
from ghostblitz_task.cards import is_name
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.trial_log import file_sha256

__all__ = ["Source", "SourceFile", "read_source", "split_list"]

_DELIMITERS = (",", ";", "\t", "|")
_FIRST_LINE = re.compile(r"[^\r\n]*[^\s][^\r\n]*")
_FORMATS = {".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json",
            ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx", ".xlsm": "xlsx"}  # fmt: skip

# What may stand between the names of a list, as the end of a name betrays.
_SEPARATORS = (",", ";", "|", "/")
#: A value that occurs so often is no misspelling of another one that occurs too.
_MIN_ROWS_OF_LEVEL = 3

#: Name and SHA-256 sum.
SourceFile = tuple[str, str]


def read_source(
    path: Path, mapping: TableMapping
) -> tuple[RawTable, tuple[SourceFile, ...], tuple[str, ...]]:
    """Read a trial table from a file, or from a folder with a file per participant.

    Returns
    -------
    table : RawTable
        The rows of all files.
    files : tuple of (str, str)
        Name and SHA-256 sum of each file.
    notes : tuple of str
        What a reader should know of how they were read.

    Raises
    ------
    DatasetError
        If there is nothing to read, or it is not written as the mapping says.
    """
    if not os.path.exists(path):
        raise DatasetError(f"{path} does not exist; give the trial table to import")
    files = [path]
    if path.is_dir():
        found = sorted(path.glob(mapping.source.pattern))
        # Excel and macOS leave files of their own beside tables.
        files = [p for p in found if p.is_file() and not p.name.startswith((".", "~$"))]
        if not files:
            raise DatasetError(
                f"{path} holds no file {mapping.source.pattern}; set source.pattern in the mapping"
            )
    parts = [_read_file(file, mapping) for file in files]
    notes = tuple(note for _, of_file in parts for note in of_file)
    sums = tuple((file.name, file_sha256(file)) for file in files)
    return concatenated(table for table, _ in parts), sums, notes


def _read_file(path: Path, mapping: TableMapping) -> tuple[RawTable, tuple[str, ...]]:
    settings, form = mapping.source, mapping.source.format
    if form == "auto":
        form = _FORMATS.get(path.suffix.lower(), "auto")  # type: ignore[assignment]
    if form == "xlsx":
        return read_excel(
            path,
            sheet=settings.sheet,
            decimal=settings.decimal,
            used=mapping.columns_used(),
            participant=mapping.columns.participant,
        )
    if settings.sheet is not None:
        raise DatasetError(f"{path} is no Excel file, but source.sheet names a sheet; leave it out")
    text = read_text(path, encoding=settings.encoding)
    if form == "auto":
        raise DatasetError(
            f"{path}: what {path.suffix or 'a file without ending'} holds is not known; set "
            "source.format in the mapping (csv, tsv, json, jsonl or xlsx)"
        )
    if form in ("csv", "tsv"):
        delimiter = settings.delimiter
        if delimiter == "auto":
            delimiter = "\t" if form == "tsv" else _delimiter(text, settings.quote)
        return parse_delimited(text, path.name, delimiter=delimiter, quote=settings.quote), ()
    return _table(list(_json_trials(text, path.name, by_line=form == "jsonl")), path.name), ()


def _delimiter(text: str, quote: str) -> str:
    """Return the delimiter that the header holds most of, outside quotes."""
    header = _FIRST_LINE.search(text)
    unquoted = "".join(header.group().split(quote)[::2]) if header else ""
    return max(_DELIMITERS, key=unquoted.count)


def _json_trials(text: str, name: str, *, by_line: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every trial of a JSON text with its place."""
    if by_line:
        lines = ((f"{name}, line {n}", line) for n, line in enumerate(text.split("\n"), start=1))
        values = [(place, v) for place, line in lines for v in _json_values(line, place)]
    else:
        values = [(name, value) for value in _json_values(text, name)]
    n_trials = 0
    for place, value in values:
        for trial in value if isinstance(value, list) else [value]:
            n_trials += 1
            where = place if by_line else f"{name}, trial {n_trials}"
            if not isinstance(trial, dict):
                raise DatasetError(f"{where}: this is no trial but {str(trial)[:40]!r}")
            yield where, trial


def _json_values(text: str, place: str) -> Iterator[Any]:
    """Yield the values of a JSON text; JATOS puts one array of trials after another."""
    decoder = json.JSONDecoder()
    position = len(text) - len(text.lstrip())
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{place} is no JSON: {error}") from error
        yield value
        while position < len(text) and text[position].isspace():
            position += 1


def _table(trials: Sequence[tuple[str, dict[str, Any]]], name: str) -> RawTable:
    if not trials:
        raise DatasetError(f"{name} holds no trials")
    rows = [dict(_cells(trial, "")) for _, trial in trials]
    titles = dict.fromkeys(title for row in rows for title in row)
    columns = {title: [row.get(title) for row in rows] for title in titles}
    return RawTable(columns, tuple(place for place, _ in trials))


def _cells(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str | None]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _cells(inner, f"{prefix}{key}.")
        elif inner is None or inner == "":
            yield f"{prefix}{key}", None
        elif isinstance(inner, str):
            yield f"{prefix}{key}", inner
        else:
            yield f"{prefix}{key}", json.dumps(inner, ensure_ascii=False)


def split_list(cell: str, separator: str) -> list[str]:
    """Split a cell that holds several names; a JSON or Python list is read as such."""
    text = cell.strip()
    if text.startswith("[") and text.endswith("]"):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, list):
                return [str(inner) for inner in value]
    if not separator.strip():
        return text.split()
    return [part.strip() for part in text.split(separator) if part.strip()]


class Source:
    """The rows of a source, read by the settings that name its columns."""

    def __init__(self, raw: RawTable, mapping: TableMapping) -> None:
        self.raw = raw
        self.mapping = mapping
        self.titles = mapping.columns
        self.levels = mapping.levels
        self._missing = set(mapping.source.missing)

    def cells(self, title: str) -> list[str | None]:
        """Return the cells of a column, without spaces at the ends; None where blank."""
        return [
            None if cell is None or cell in self._missing or not cell.strip() else cell.strip()
            for cell in self.raw.columns[title]
        ]

    def optional(self, setting: str) -> list[str | None] | None:
        """Return the cells of the column that a setting names, or None if it names none."""
        title = getattr(self.titles, setting)
        return None if title is None else self.cells(title)

    def levels_of(self, setting: str, own: Sequence[str]) -> list[Any] | None:
        """Return a column in our level names; every value must be a known one."""
        name = "mode" if setting == "response_mode" else setting
        cells = self.optional(setting)
        if cells is None:
            return None
        stated: dict[str, Any] = getattr(self.levels, name) or {level: level for level in own}
        known = {comparable(key): value for key, value in stated.items()}
        values: list[Any] = []
        for cell, place in zip(cells, self.raw.places, strict=True):
            if cell is not None and comparable(cell) not in known:
                raise DatasetError(
                    f"{place}: {getattr(self.titles, setting)} is {cell!r}, which is no level of "
                    f"levels.{name} ({', '.join(stated)}){_near_level(cell, cells, stated)}"
                )
            values.append(None if cell is None else known[comparable(cell)])
        return values

    def factor(self, name: str, title: str) -> list[str | None]:
        """Return a further column as text, renamed where the mapping says so."""
        known = {comparable(k): v for k, v in self.levels.factors.get(name, {}).items()}
        return [None if c is None else known.get(comparable(c), c) for c in self.cells(title)]

    def lists(self, titles: Sequence[str], *, kind: str) -> list[tuple[str, ...]]:
        """Return lists of items or colours, in our names, from one column or several."""
        known = {comparable(k): v for k, v in getattr(self.levels, kind).items()}
        split: dict[tuple[str | None, ...], tuple[str, ...]] = {}
        result = []
        columns = [self.cells(title) for title in titles]
        for cells, place in zip(zip(*columns, strict=True), self.raw.places, strict=True):
            if cells not in split:
                names = [cell for cell in cells if cell is not None]
                if len(titles) == 1 and names:
                    names = split_list(names[0], self.titles.list_separator)
                renamed = tuple(known.get(comparable(name), name) for name in names)
                if not renamed:
                    raise DatasetError(f"{place}: {', '.join(titles)} is blank")
                for name in renamed:
                    if len(titles) == 1 and name[-1:] in _SEPARATORS:
                        raise DatasetError(
                            f"{place}: {name!r} ends with {name[-1]!r}; if that separates the "
                            f"names in {titles[0]}, set columns.list_separator = {name[-1]!r}"
                        )
                    if not is_name(name):
                        raise DatasetError(
                            f"{place}: {name!r} cannot name an {kind} on a card (spaces, colons, "
                            f"@ and brackets cannot); rename it in levels.{kind}, or set "
                            "columns.list_separator"
                        )
                split[cells] = renamed
            result.append(split[cells])
        return result


def _near_level(cell: str, cells: Sequence[str | None], stated: Iterable[str]) -> str:
    """Name the level that an unknown value may be meant to be."""
    found = {comparable(other) for other in cells if other is not None}
    n_rows = sum(other == cell for other in cells)
    if n_rows >= _MIN_ROWS_OF_LEVEL:
        stated = [level for level in stated if comparable(level) not in found]
    return near_name(cell, stated)
