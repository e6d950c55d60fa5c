"""The log: one append-only JSON Lines file per run, on disk before the next trial begins.

Each line is one record with a running number ``n``; the first is the header. A file that was
cut short by a kill keeps all its complete lines: the reader drops a torn last line and says so,
and stops at anything else that is wrong.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ghostblitz_task.errors import ConfigError, LogError
from ghostblitz_task.schema import SCHEMA_VERSION

__all__ = [
    "FORMAT",
    "RunLog",
    "TrialLog",
    "check_participant_id",
    "file_sha256",
    "log_path",
    "participant_logs",
    "read_log",
]

FORMAT = "ghostblitz-log"

# Longest file name that every common file system takes, less "sub-", session, run and ending.
_MAX_ID_BYTES = 120
# Not allowed in file names on Windows, where a data set may be unpacked.
_FORBIDDEN = "<>:\"/\\|?*'"
# What is needed to tell a run from others and to take it up again.
_HEADER_KEYS = (
    "study_id",
    "settings_sha256",
    "plan_sha256",
    "participant_id",
    "session",
    "run",
    "seed",
    "source",
    "language",
    "participant_model",
    "resumes",
)
_LOG_NAME = re.compile(r"sub-(?P<id>.+)_ses-(?P<session>\d+)_run-(?P<run>\d+)\.jsonl")
_DEVICE_NAMES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def check_participant_id(text: str) -> str:
    """Return the participant id if it can stand in a file name on every system.

    Ids are strings and are kept to the letter (in Unicode's composed form): ``007``, ``NA``,
    ``Zoë`` and ``李`` are fine.

    Raises
    ------
    ConfigError
        For an empty id, one longer than 120 bytes, with spaces at an end, control characters,
        slashes or other characters that file names cannot hold, a leading dot or dash, a
        trailing dot, or a name that Windows reserves for a device.
    """
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    refused = f"participant id {shown} cannot be used: "
    if not text.strip():
        raise ConfigError(refused + "it is empty")
    if text != text.strip():
        raise ConfigError(refused + "it begins or ends with a space")
    if any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in text):
        raise ConfigError(refused + "it holds a control character, such as a newline")
    found = [c for c in _FORBIDDEN if c in text]
    if found:
        raise ConfigError(refused + f"it holds {' '.join(found)}, which file names cannot")
    if text[0] in ".-" or text[-1] == ".":
        raise ConfigError(refused + "it begins with a dot or dash, or ends with a dot")
    if _DEVICE_NAMES.fullmatch(text):
        raise ConfigError(refused + "Windows reserves this name for a device")
    composed = unicodedata.normalize("NFC", text)
    if len(composed.encode("utf-8")) > _MAX_ID_BYTES:
        raise ConfigError(refused + f"it is longer than {_MAX_ID_BYTES} bytes")
    return composed


def log_path(folder: Path, participant_id: str, *, session: int, run: int) -> Path:
    """Return where the log of a run stands."""
    return folder / f"sub-{participant_id}_ses-{session:02d}_run-{run:02d}.jsonl"


def participant_logs(folder: Path, participant_id: str, *, session: int) -> list[Path]:
    """Return the logs of a participant's session, oldest run first.

    Raises
    ------
    ConfigError
        If another participant's id differs in upper and lower case only: on some systems the
        two would share a file.
    """
    found: list[tuple[int, Path]] = []
    for path in sorted(folder.glob("sub-*.jsonl")) if folder.is_dir() else []:
        name = _LOG_NAME.fullmatch(unicodedata.normalize("NFC", path.name))
        if name is None:
            continue
        if name["id"] == participant_id:
            if int(name["session"]) == session:
                found.append((int(name["run"]), path))
        elif name["id"].casefold() == participant_id.casefold():
            raise ConfigError(
                f"participant id {participant_id!r}: {folder} already holds {path.name}, which "
                "differs in upper and lower case only; use another id"
            )
    return [path for _, path in sorted(found)]


class TrialLog:
    """Appends records to a new file; each is on disk when `append` returns.

    Parameters
    ----------
    path : Path
        A file that does not exist yet; it is created exclusively.

    Raises
    ------
    LogError
        If the file exists or cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._n_records = 0
        self._size = 0
        # Until the header is on disk the file has another name: a kill never leaves an empty log.
        self._unborn = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                raise LogError(f"{path} exists already; a log is never written over")
            self._file = open(self._unborn, "xb", buffering=0)  # noqa: SIM115 - see close()
        except OSError as error:
            raise LogError(f"{path} cannot be created: {error.strerror}") from error

    def _give_name(self) -> None:
        """Give the file its name, exclusively, and make that survive a power cut."""
        try:
            os.link(self._unborn, self.path)
        except FileExistsError:
            raise LogError(f"{self.path} exists already; a log is never written over") from None
        except OSError:
            # A file system without links: take the name first, then put the file there.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(self._unborn, self.path)
        with contextlib.suppress(OSError):  # Windows keeps an open file's name until it is closed.
            self._unborn.unlink(missing_ok=True)
        _sync_folder(self.path.parent)

    def append(self, record_type: str, record: Mapping[str, Any]) -> None:
        """Write one record and wait until it is on disk.

        Raises
        ------
        LogError
            If the disk is full or gone. What was written before is kept, and what part of this
            record was written is taken back.
        """
        about = {"type": record_type, "n": self._n_records}
        if record_type == "header":
            about |= {"format": FORMAT, "schema_version": SCHEMA_VERSION}
        line = json.dumps(
            {**about, **record},
            ensure_ascii=False,
            allow_nan=False,
        )
        data = line.encode("utf-8") + b"\n"
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
            os.fsync(self._file.fileno())
            if self._n_records == 0:
                self._give_name()
        except OSError as error:
            self._take_back()
            raise LogError(
                f"{self.path}: record {self._n_records} ({record_type}) could not be written: "
                f"{error.strerror}; the {self._n_records} records before it are kept"
            ) from error
        self._size += len(data)
        self._n_records += 1

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._file.fileno(), self._size)
            self._file.seek(self._size)
        except OSError:
            return  # The reader drops a torn last line.

    def close(self) -> None:
        """Close the file; nothing more can be appended, and without a header there is none."""
        self._file.close()
        with contextlib.suppress(OSError):
            self._unborn.unlink(missing_ok=True)

    def __enter__(self) -> TrialLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _sync_folder(folder: Path) -> None:
    """Make the new file's name survive a power cut, where folders can be synced."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems sync no folders; the file itself is synced with each record.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class RunLog:
    """One run as read back.

    Attributes
    ----------
    path : Path
        The file.
    header : mapping
        The header record.
    records : tuple of mapping
        All records after the header, in order.
    torn : bool
        Whether a last, incomplete line was dropped.
    """

    path: Path
    header: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    torn: bool

    def of_type(self, record_type: str) -> Iterator[Mapping[str, Any]]:
        """Return the records of one type, in order."""
        return (record for record in self.records if record["type"] == record_type)

    @property
    def status(self) -> str:
        """``completed``, ``quit``, ``failed``, or ``killed`` where the log just ends."""
        ends = list(self.of_type("end"))
        return str(ends[-1].get("status", "failed")) if ends else "killed"


def read_log(path: Path) -> RunLog:
    """Read a log back.

    Raises
    ------
    LogError
        Naming file and line, if the file cannot be read, is empty, is no log of ours, has a
        newer schema, or has a line that is damaged, missing, repeated or out of order. A torn
        last line is no error.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from error
    if not data.strip():
        raise LogError(f"{path} is empty; no record was ever written, so it can be deleted")
    lines = data.split(b"\n")
    ends_with_newline = not lines[-1]
    if ends_with_newline:
        lines.pop()
    records: list[Mapping[str, Any]] = []
    torn = False
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        record = _parse_line(line)
        if record is None:
            if last and not ends_with_newline and records:
                torn = True
                break
            raise LogError(f"{path}, line {number + 1}: this is no record of a log: {_shown(line)}")
        if record.get("n") != number:
            raise LogError(
                f"{path}, line {number + 1}: record {record.get('n')} stands where record "
                f"{number} should; lines are missing, repeated or out of order"
            )
        records.append(record)
    return RunLog(path, _check_header(path, records[0]), tuple(records[1:]), torn)


def _parse_line(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("type"), str) else None


def _check_header(path: Path, header: Mapping[str, Any]) -> Mapping[str, Any]:
    if header["type"] != "header" or header.get("format") != FORMAT:
        raise LogError(f"{path}, line 1: this is no ghostblitz log; its header is missing")
    version = header.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise LogError(
            f"{path}, line 1: schema version {version}, but this program reads up to "
            f"{SCHEMA_VERSION}; use a newer ghostblitz"
        )
    missing = [key for key in _HEADER_KEYS if key not in header]
    if missing:
        raise LogError(f"{path}, line 1: the header lacks {', '.join(missing)}")
    return header


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", errors="replace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


def file_sha256(path: Path) -> str:
    """Return the SHA-256 sum of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
