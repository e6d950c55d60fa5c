"""What stands in the files of an export, whatever they are, for a search for names."""

from __future__ import annotations

import base64
import binascii
import csv
import gzip
import html
import io
import json
import re
import tarfile
import tempfile
import urllib.parse
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from ghostblitz_analysis.export.sharing.pdf_texts import pdf_texts
from ghostblitz_task.errors import DatasetError

__all__ = ["Part", "column_of", "parts_of"]

#: Where ids of participants stand, in columns of tables and in keys of JSON.
ID_COLUMNS = frozenset({"participant_id", "player_id", "participant", "subject", "subject_id"})
_ID_KEYS = ID_COLUMNS | {
    "player", "players", "others", "lot", "winner", "tied", "voided_by", "incomplete",
}  # fmt: skip
#: Keys of JSON below which ids are keys themselves.
_KEYED_BY_ID = frozenset({"n_won"})

_DEEPEST = 4
_LARGEST_BYTES = 4_000_000_000
_DATA_URI = re.compile(r"data:([\w/+.-]*);base64,([A-Za-z0-9+/=\s]+)")
_TAG = re.compile(r"<[^>]*>")
_END_OF_PARAGRAPH = re.compile(r"</(?:w:p|text:p|a:p|p|td|th|li|h\d)>")
_UNICODE_ESCAPE = re.compile(r"(?:\\u[0-9A-Fa-f]{4})+")
_PNG = b"\x89PNG\r\n\x1a\n"
_TEXT_ENDINGS = (".html", ".htm", ".xml", ".svg", ".rels", ".opf")


@dataclass(frozen=True, slots=True)
class Part:
    """Something that can be read in a file.

    Attributes
    ----------
    place : str
        The file, and after ``!`` what is packed in it.
    text : str
        What can be read.
    values : frozenset of str
        What stands where ids of participants stand.
    is_prose : bool
        False for bytes that were not understood, in which anything may stand by chance.
    columns : mapping of str to collection of str
        The distinct texts of each column, for tables that are no text themselves.
    """

    place: str
    text: str
    values: frozenset[str] = frozenset()
    is_prose: bool = True
    columns: Mapping[str, Collection[str]] = field(default_factory=dict)


def column_of(part: Part, found: str) -> str | None:
    """Return the title of the first column of a table in which a text stands; null if none."""
    for title, cells in part.columns.items() or _columns_of_text(part):
        if any(found in cell for cell in (title, *cells)):
            return title
    return None


def _columns_of_text(part: Part) -> Iterator[tuple[str, list[str]]]:
    delimiters = {".csv": ",;", ".tsv": "\t"}.get(PurePosixPath(part.place).suffix.lower())
    if delimiters is None:
        return
    try:
        titles, *rows = _rows(part.text, delimiters)
    except (csv.Error, ValueError):
        return
    for number, title in enumerate(titles):
        yield title, [row[number] for row in rows if number < len(row)]


def parts_of(name: str, data: bytes, *, depth: int = 0) -> Iterator[Part]:
    """Give all that can be read in a file; what is packed in it is unpacked.

    Parameters
    ----------
    name : str
        Of the file, with ``/``; its ending says what it is, unless its first bytes do.

    Raises
    ------
    DatasetError
        If it is packed too often or too tightly to be searched, or is damaged.
    """
    if depth > _DEEPEST:
        raise DatasetError(f"{name} is packed more than {_DEEPEST} times and cannot be searched")
    ending = PurePosixPath(name).suffix.lower()
    try:
        if data.startswith(b"PK\x03\x04"):
            yield from _zip_parts(name, data, ending, depth)
        elif data.startswith(b"\x1f\x8b"):
            yield from parts_of(f"{name}!{PurePosixPath(name).stem}", _gunzip(name, data),
                                depth=depth + 1)  # fmt: skip
        elif ending == ".tar" or data[257:262] == b"ustar":
            yield from _tar_parts(name, data, depth)
        elif data.startswith(b"%PDF"):
            yield from (Part(name, text) for text in pdf_texts(data))
        elif data.startswith(_PNG):
            yield from _png_parts(name, data)
        elif data.startswith(b"PAR1"):
            yield _parquet_part(name, data)
        elif data.startswith(b"$FL"):
            yield _sav_part(name, data)
        else:
            yield from _text_parts(name, data, ending, depth)
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise DatasetError(f"{name} is damaged and cannot be searched: {error}") from error


def _gunzip(name: str, data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        found = file.read(_LARGEST_BYTES + 1)
    if len(found) > _LARGEST_BYTES:
        raise DatasetError(f"{name} unpacks to more than can be searched")
    return found


def _zip_parts(name: str, data: bytes, ending: str, depth: int) -> Iterator[Part]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > _LARGEST_BYTES:
            raise DatasetError(f"{name} unpacks to more than can be searched")
        yield Part(name, archive.comment.decode("utf-8", errors="replace"))
        for entry in archive.infolist():
            yield Part(name, entry.filename)
            if not entry.is_dir():
                inner = f"{name}!{entry.filename}"
                yield from parts_of(inner, archive.read(entry), depth=depth + 1)
    if ending in (".xlsx", ".xlsm"):
        yield from _workbook_parts(name, data)


def _tar_parts(name: str, data: bytes, depth: int) -> Iterator[Part]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            # Archives keep who owned the files.
            yield Part(name, f"{entry.name}\n{entry.uname}\n{entry.gname}\n{entry.linkname}")
            file = archive.extractfile(entry) if entry.isfile() else None
            if file is not None:
                yield from parts_of(f"{name}!{entry.name}", file.read(), depth=depth + 1)


def _workbook_parts(name: str, data: bytes) -> Iterator[Part]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of styles and extensions that openpyxl leaves out.
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
        for sheet in book.worksheets:
            rows = sheet.iter_rows(values_only=True)
            head = [str(cell) for cell in next(rows, ())]
            places = [number for number, title in enumerate(head) if title in ID_COLUMNS]
            found = {str(row[n]) for row in rows for n in places if row[n] is not None}
            yield Part(f"{name}!{sheet.title}", "", frozenset(found))
        book.close()


def _png_parts(name: str, data: bytes) -> Iterator[Part]:
    place = len(_PNG)
    while place + 8 <= len(data):
        length, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        chunk = data[place + 8 : place + 8 + length]
        if kind in (b"tEXt", b"iTXt", b"zTXt", b"eXIf"):
            keyword, _, rest = chunk.partition(b"\0")
            yield Part(name, keyword.decode("latin-1"))
            for text in (rest, _inflated(rest[1:]), _inflated(rest.rpartition(b"\0")[2])):
                yield Part(name, text.decode("utf-8", errors="replace"))
        place += length + 12


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _LARGEST_BYTES)
    except zlib.error:
        return b""


def _parquet_part(name: str, data: bytes) -> Part:
    file = pq.ParquetFile(io.BytesIO(data))
    metadata = file.schema_arrow.metadata or {}
    texts = [m.decode("utf-8", errors="replace") for pair in metadata.items() for m in pair]
    for described in file.schema_arrow:
        texts += [
            m.decode("utf-8", errors="replace") for pair in (described.metadata or {}).items()
            for m in pair
        ]  # fmt: skip
    # Numbers tell nobody's name, and are most of a large table.
    names = [f.name for f in file.schema_arrow if f.name in ID_COLUMNS or not _is_number(f.type)]
    texts += file.schema_arrow.names
    return _frame_part(name, file.read(columns=names).to_pandas(), texts)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _sav_part(name: str, data: bytes) -> Part:
    # The reader takes nothing but files.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        path.write_bytes(data)
        frame, about = pyreadstat.read_sav(path)
    labels: list[Any] = [about.file_label, *about.notes, *about.column_labels]
    for values in about.variable_value_labels.values():
        labels += values.values()
    part = _frame_part(name, frame, [str(label) for label in labels if label is not None])
    ids = {
        str(label)
        for column, values in about.variable_value_labels.items()
        if column in ID_COLUMNS
        for label in values.values()
    }
    return replace(part, values=part.values | ids)


def _frame_part(name: str, frame: pd.DataFrame, texts: Iterable[str]) -> Part:
    found, values = [*texts, *map(str, frame.columns)], set()
    columns: dict[str, Collection[str]] = {}
    for title in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[title]) and title not in ID_COLUMNS:
            continue
        cells = {str(cell) for cell in frame[title].dropna().unique()}
        found += cells
        columns[str(title)] = cells
        if title in ID_COLUMNS:
            values |= cells
    return Part(name, "\n".join(found), frozenset(values), columns=columns)


def _text_parts(name: str, data: bytes, ending: str, depth: int) -> Iterator[Part]:
    text = _as_text(data)
    if text is None:
        yield Part(name, data.decode("latin-1"), is_prose=False)
        yield Part(name, data.decode("utf-8", errors="replace"), is_prose=False)
        return
    for number, match in enumerate(_DATA_URI.finditer(text), start=1):
        try:
            packed = base64.b64decode(match[2])
        except (binascii.Error, ValueError):
            continue
        kind = match[1].rpartition("/")[2].partition("+")[0]
        yield from parts_of(f"{name}!picture {number}.{kind}", packed, depth=depth + 1)
    text = _DATA_URI.sub("", text)
    read = _VALUES.get(ending)
    yield Part(name, text, frozenset(read(text)) if read else frozenset())
    yield from (Part(name, other) for other in _spelt_out(text, ending) if other != text)


def _as_text(data: bytes) -> str | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        if sum(c < " " and c not in "\t\r\n\f" for c in text[:4096]):
            return None
    return None if "\0" in text else text


def _spelt_out(text: str, ending: str) -> Iterator[str]:
    """Give a text with its escapes undone, of each kind that it may have."""
    if "\\u" in text:
        yield _UNICODE_ESCAPE.sub(_from_escapes, text)
    if "%" in text:
        yield urllib.parse.unquote(text)
    if ending in _TEXT_ENDINGS:
        yield html.unescape(_TAG.sub("", _END_OF_PARAGRAPH.sub("\n", text)))


def _from_escapes(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    return units.decode("utf-16-be", errors="replace")


def _json_values(text: str) -> Iterator[str]:
    yield from _ids_in(_parsed(text))


def _lines_values(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from _ids_in(_parsed(line))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _ids_in(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for inner in value:
            yield from _ids_in(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in _ID_KEYS:
                yield from _texts_in(inner)
            if key in _KEYED_BY_ID and isinstance(inner, dict):
                yield from inner
            yield from _ids_in(inner)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)


def _rows(text: str, delimiters: str) -> Iterator[list[str]]:
    head = text.partition("\n")[0]
    return csv.reader(io.StringIO(text, newline=""), delimiter=max(delimiters, key=head.count))


def _delimited(delimiters: str) -> Callable[[str], Iterator[str]]:
    def values(text: str) -> Iterator[str]:
        rows = _rows(text, delimiters)
        try:
            titles = next(rows, [])
            places = [n for n, title in enumerate(titles) if title in ID_COLUMNS]
            if places:
                for row in rows:
                    yield from (row[n] for n in places if n < len(row))
        except csv.Error:
            return

    return values


_VALUES: dict[str, Callable[[str], Iterator[str]]] = {
    ".json": _json_values,
    ".jsonl": _lines_values,
    ".csv": _delimited(",;"),
    ".tsv": _delimited("\t"),
}
