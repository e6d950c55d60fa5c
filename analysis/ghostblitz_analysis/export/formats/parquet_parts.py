"""The parts of a Parquet store: one file per participant and run, written once."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import SCHEMA_VERSION

__all__ = [
    "Part",
    "PartKey",
    "find_part",
    "folder_of",
    "is_part",
    "joined_rows",
    "participant_folder",
    "read_part",
    "study_folder",
    "write_part",
]

_METADATA = b"ghostblitz"
_NAME = re.compile(r"part-(\d+)-(\d+)-([0-9a-f]{16})\.parquet")
_N_DIGITS = 16
#: Of a file name, most systems take 255 bytes; some programs, and Windows, less of a path.
_LONGEST_FOLDER = 120
#: A run has hundreds of trials; an imported participant may have some thousands.
_LARGEST_PART_BYTES = 1_000_000_000
_MOST_ROWS = 5_000_000


@dataclass(frozen=True, slots=True)
class PartKey:
    """Whose rows a part holds: those of one run of a participant's session."""

    study_id: str
    participant_id: str
    session: int
    run: int

    def __str__(self) -> str:
        return f"run {self.run} of session {self.session} of {self.participant_id!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part that was read.

    Attributes
    ----------
    table : str
        ``trials``, ``turns`` or ``games``.
    schema_version : int
        As the file states it; not checked.
    rows : Table
        Without metadata.
    """

    table: str
    schema_version: object
    rows: pa.Table


def study_folder(study_id: str) -> str:
    """Return the folder of a study."""
    return f"study_id={_encoded(study_id)}"


def participant_folder(participant_id: str) -> str:
    """Return the folder of a participant in that of the study."""
    return f"participant_id={_encoded(participant_id)}"


def folder_of(key: PartKey) -> str:
    """Return the folder of a part, relative to that of its table."""
    return f"{study_folder(key.study_id)}/{participant_folder(key.participant_id)}"


def _encoded(value: str) -> str:
    """Write any text as a part of a file's name.

    Percent-encoded; a long one is cut, and told apart by its sum. It need not be read back, since
    the rows hold the ids themselves.
    """
    # Windows drops a dot at the end; the tilde marks what was cut.
    encoded = quote(value, safe="").replace(".", "%2E").replace("~", "%7E")
    if len(encoded) <= _LONGEST_FOLDER:
        return encoded
    digest = hashlib.sha256(value.encode("utf-8")).hexdigest()[:_N_DIGITS]
    return f"{encoded[: _LONGEST_FOLDER - _N_DIGITS - 1]}~{digest}"


def is_part(name: str) -> bool:
    """Say whether a file is named as parts are."""
    return _NAME.fullmatch(name.rsplit("/", 1)[-1]) is not None


def find_part(folder: Path, key: PartKey) -> str | None:
    """Return the name of the part that holds a run, or None.

    Parameters
    ----------
    folder : Path
        That of the participant, which need not be there.
    key : PartKey

    Raises
    ------
    DatasetError
        If the run is there twice.
    """
    if not folder.is_dir():
        return None
    found = []
    for entry in os.scandir(folder):
        match = _NAME.fullmatch(entry.name)
        if match and (int(match[1]), int(match[2])) == (key.session, key.run):
            found.append(entry.name)
    if len(found) > 1:
        raise DatasetError(f"{folder} holds {key} twice: {' and '.join(sorted(found))}")
    return found[0] if found else None


def write_part(
    folder: Path, key: PartKey, table: str, rows: pa.Table, run_sha256: str | None
) -> str:
    """Write a part, unless it is there already.

    Parameters
    ----------
    folder : Path
        That of the participant.
    key : PartKey
        The run.
    table : str
        Whose rows these are.
    rows : Table
    run_sha256 : str or None
        Of the run's log; null where there was none, and the rows' own sum stands for it.

    Returns
    -------
    str
        The name of its file.

    Raises
    ------
    DatasetError
        If the store holds the same run with other content; it is never written over.
    """
    known = find_part(folder, key)
    if known is not None:
        same = (
            _is_same(folder / known, rows)
            if run_sha256 is None
            else known.endswith(f"-{run_sha256[:_N_DIGITS]}.parquet")
        )
        if not same:
            raise DatasetError(
                f"{folder / known} holds {key} with other content than the data set; a store is "
                "never written over, so use a new one or take that file away"
            )
        return known
    data = _encode(rows, table, run_sha256)
    digest = run_sha256 or hashlib.sha256(data).hexdigest()
    name = f"part-{key.session}-{key.run}-{digest[:_N_DIGITS]}.parquet"
    _place(folder, name, data)
    return name


def _encode(rows: pa.Table, table: str, run_sha256: str | None) -> memoryview:
    about: Mapping[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "table": table,
        "run_sha256": run_sha256,
    }
    sink = io.BytesIO()
    plain = rows.replace_schema_metadata(None)
    # Many small files: a stronger compression takes twice the time for a tenth of the size,
    # statistics save nothing, and Arrow's own schema says no more than the columns' types.
    with pq.ParquetWriter(
        sink,
        plain.schema,
        compression="snappy",
        use_dictionary=[field.name for field in plain.schema if field.type == pa.string()],
        write_statistics=False,
        store_schema=False,
    ) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({_METADATA: json.dumps(about)})
    return sink.getbuffer()


def _place(folder: Path, name: str, data: memoryview) -> None:
    """Write a file whole or not at all."""
    partial = folder / f".{name}.{uuid.uuid4().hex[:8]}.partial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(folder / name)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise DatasetError(
            f"{folder / name} cannot be written: {error.strerror or error}"
        ) from error


def _is_same(path: Path, rows: pa.Table) -> bool:
    stored = read_part(path).rows
    return bool(stored.equals(rows.replace_schema_metadata(None)))


def read_part(path: Path) -> Part:
    """Read a part.

    Raises
    ------
    DatasetError
        If it cannot be read, is too large, is damaged, or is not of a ghostblitz store.
    """
    try:
        if path.stat().st_size > _LARGEST_PART_BYTES:
            raise DatasetError(f"{path} is too large for a part: {path.stat().st_size:,} bytes")
        # In memory, so that no file stays open or mapped.
        with pq.ParquetFile(io.BytesIO(path.read_bytes())) as file:
            found = file.metadata
            n_bytes = sum(found.row_group(i).total_byte_size for i in range(found.num_row_groups))
            if found.num_rows > _MOST_ROWS or n_bytes > _LARGEST_PART_BYTES:
                raise DatasetError(f"{path} is too large for a part: {found.num_rows:,} rows")
            about = json.loads((found.metadata or {})[_METADATA])
            rows = file.read(use_threads=False).replace_schema_metadata(None)
            return Part(str(about["table"]), about["schema_version"], rows)
    except (KeyError, TypeError, ValueError) as error:
        # Arrow's own errors are ValueErrors too.
        raise DatasetError(f"{path} is no part of a store, or damaged: {_line(error)}") from error
    except OSError as error:
        raise DatasetError(f"{path} cannot be read, or is damaged: {_line(error)}") from error


def joined_rows(tables: Sequence[pa.Table], where: str) -> pa.Table:
    """Return the rows of several tables; a column that only some have is missing in the others.

    Raises
    ------
    DatasetError
        If a column is of two types.
    """
    try:
        return pa.concat_tables(tables, promote_options="default")
    except pa.ArrowException as error:
        raise DatasetError(f"{where}: the parts do not go together: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
