"""The record of a self-test: one JSON file beside the logs, and what a log quotes of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError, LogError
from ghostblitz_task.timing.machine import machine_fingerprint

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "TIMING_FOLDER",
    "Quote",
    "find_self_test",
    "read_record",
    "self_test_files",
    "timing_folder",
    "write_record",
]

FORMAT, FORMAT_VERSION = "ghostblitz-timing", 1
TIMING_FOLDER = "timing"
_MOST_IN_A_SECOND = 100
# A rate that differs by more is another mode of the screen; measured ones differ by far less.
_SAME_RATE = 0.005
# What a record must have to be quoted or reported, and of what kind.
_NEEDED: Mapping[str, type] = {
    "started_utc": str,
    "study_id": str,
    "machine": str,
    "apparatus_settings": dict,
    "apparatus": dict,
    "software": dict,
    "measured": dict,
    "checks": list,
    "verdict": str,
    "methods": str,
}


@dataclass(frozen=True, slots=True)
class Quote:
    """What a session's log says of the self-test that was made before it.

    Attributes
    ----------
    file : str
        Its name in the data set's folder ``timing``.
    sha256 : str
        Of its bytes.
    verdict : str
        The worst of its checks.
    started_utc : str
        When it began.
    refresh_hz : float
        The rate it measured.
    """

    file: str
    sha256: str
    verdict: str
    started_utc: str
    refresh_hz: float


def timing_folder(dataset: Path) -> Path:
    """Return the folder of a data set's self-tests, and make it.

    Raises
    ------
    LogError
        If it cannot be made, or not written.
    """
    folder = dataset / TIMING_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / f".{secrets.token_hex(4)}.new"
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as error:
        raise LogError(f"{folder} cannot be written: {error.strerror}") from error
    return folder


def write_record(folder: Path, document: Mapping[str, Any], *, stamp: str) -> Path:
    """Write a record whole, under a name that no other has, or not at all.

    Parameters
    ----------
    stamp : str
        The time in the file's name.

    Raises
    ------
    LogError
        If it cannot be written.
    """
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    unborn = folder / f".{secrets.token_hex(4)}.new"
    try:
        with open(unborn, "xb") as file:
            file.write(text.encode("utf-8") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            return _give_name(unborn, folder, stamp)
        finally:
            with contextlib.suppress(OSError):
                unborn.unlink(missing_ok=True)
    except OSError as error:
        raise LogError(f"{folder} cannot be written: {error.strerror}") from error


def _give_name(unborn: Path, folder: Path, stamp: str) -> Path:
    for number in range(1, _MOST_IN_A_SECOND):
        path = folder / f"timing-{stamp}{f'-{number}' if number > 1 else ''}.json"
        try:
            os.link(unborn, path)
        except FileExistsError:
            continue
        except OSError:
            # A file system without links: take the name first, then put the file there.
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                continue
            os.replace(unborn, path)
        return path
    raise LogError(f"{folder} holds {_MOST_IN_A_SECOND} self-tests of one second")


def self_test_files(dataset: Path) -> list[Path]:
    """Return the records of a data set's self-tests, oldest first."""
    folder = dataset / TIMING_FOLDER
    return sorted(folder.glob("timing-*.json"), key=_age) if folder.is_dir() else []


def _age(path: Path) -> tuple[str, int]:
    """Order by the time in the name, and those of one second by their number."""
    stamp, _, number = path.stem.removeprefix("timing-").partition("-")
    return stamp, int(number) if number.isdecimal() else 1


def read_record(path: Path) -> dict[str, Any]:
    """Read a record back.

    Raises
    ------
    DatasetError
        If it cannot be read, is no record of ours, is of a newer version, or lacks something.
    """
    return _parsed(path, _bytes_of(path))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        record = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no record of a self-test: {error}") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DatasetError(f"{path} is no record of a self-test: it does not say {FORMAT}")
    version = record.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise DatasetError(
            f"{path}: format version {version}, but this program reads up to {FORMAT_VERSION}; "
            "use a newer ghostblitz"
        )
    for name, kind in _NEEDED.items():
        if not isinstance(record.get(name), kind):
            raise DatasetError(f"{path}: {name} is missing, or of another kind")
    if not isinstance(_refresh_hz(record), (int, float)):
        raise DatasetError(f"{path}: measured.flips.refresh_hz is missing")
    return record


def _refresh_hz(record: Mapping[str, Any]) -> Any:
    flips = record["measured"].get("flips")
    return flips.get("refresh_hz") if isinstance(flips, dict) else None


def _as_then(record: Mapping[str, Any], apparatus: Mapping[str, Any]) -> bool:
    """Whether the display is what it was: synchronised or not, composed or not, and its rate."""
    then = record["apparatus"]
    facts = ("display_synchronised", "display_server", "compositor", "psychopy")
    if any(then.get(name) != apparatus.get(name) for name in facts):
        return False
    rates = then.get("refresh_hz"), apparatus.get("refresh_hz")
    return all(rates) and abs(rates[0] / rates[1] - 1.0) <= _SAME_RATE


def find_self_test(
    dataset: Path,
    study_id: str,
    apparatus: Mapping[str, Any],
    settings: ApparatusSettings,
) -> Quote | None:
    """Find the newest self-test of this study, machine, display as it is and apparatus settings.

    Parameters
    ----------
    apparatus : mapping
        What the apparatus that is open says of itself.

    Returns
    -------
    Quote or None
        None where there is none; a file that is no record is passed over, since a session must
        not fail for it.
    """
    machine = machine_fingerprint(study_id, apparatus)
    wanted = settings.model_dump(mode="json")
    for path in reversed(self_test_files(dataset)):
        try:
            data = _bytes_of(path)
            record = _parsed(path, data)
        except DatasetError:
            continue
        same_settings = record["apparatus_settings"] == wanted
        if record["machine"] == machine and same_settings and _as_then(record, apparatus):
            return Quote(
                file=path.name,
                sha256=hashlib.sha256(data).hexdigest(),
                verdict=record["verdict"],
                started_utc=record["started_utc"],
                refresh_hz=float(_refresh_hz(record)),
            )
    return None
