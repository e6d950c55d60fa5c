"""Reading somebody else's trial table, as experiment platforms write them."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ghostblitz_analysis.mapping import SourceSettings
from ghostblitz_analysis.tables import RawTable, concatenated, parse_delimited, read_text
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.trial_log import file_sha256

__all__ = ["SourceFile", "read_source", "split_list"]

_DELIMITERS = (",", ";", "\t", "|")
_FORMATS = {".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json",
            ".jsonl": "jsonl", ".ndjson": "jsonl"}  # fmt: skip

#: Name and SHA-256 sum.
SourceFile = tuple[str, str]


def read_source(path: Path, settings: SourceSettings) -> tuple[RawTable, tuple[SourceFile, ...]]:
    """Read a trial table from a file, or from a folder with a file per participant.

    Raises
    ------
    DatasetError
        If there is nothing to read, or it is not written as the settings say.
    """
    if not os.path.exists(path):
        raise DatasetError(f"{path} does not exist; give the trial table to import")
    files = [path]
    if path.is_dir():
        found = sorted(path.glob(settings.pattern))
        files = [p for p in found if p.is_file() and not p.name.startswith(".")]
        if not files:
            raise DatasetError(
                f"{path} holds no file {settings.pattern}; set source.pattern in the mapping"
            )
    tables = [_read_file(file, settings) for file in files]
    return concatenated(tables), tuple((file.name, file_sha256(file)) for file in files)


def _read_file(path: Path, settings: SourceSettings) -> RawTable:
    text = read_text(path, encoding=settings.encoding)
    form = settings.format
    if form == "auto":
        if path.suffix.lower() not in _FORMATS:
            raise DatasetError(
                f"{path}: what {path.suffix or 'a file without ending'} holds is not known; set "
                "source.format in the mapping (csv, tsv, json or jsonl)"
            )
        form = _FORMATS[path.suffix.lower()]  # type: ignore[assignment]
    if form in ("csv", "tsv"):
        delimiter = settings.delimiter
        if delimiter == "auto":
            delimiter = "\t" if form == "tsv" else _delimiter(text, settings.quote)
        return parse_delimited(text, path.name, delimiter=delimiter, quote=settings.quote)
    return _table(list(_json_trials(text, path.name, by_line=form == "jsonl")), path.name)


def _delimiter(text: str, quote: str) -> str:
    """Return the delimiter that the header holds most of, outside quotes."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = "".join(header.split(quote)[::2])
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
