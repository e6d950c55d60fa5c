"""The record of a self-test: one JSON file beside the logs, and what a log quotes of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, get_args

from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError, LogError
from ghostblitz_task.timing.judging import NOT_MEASURED, Verdict
from ghostblitz_task.timing.machine import machine_fingerprint

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "TIMING_FOLDER",
    "VERDICTS",
    "Quote",
    "find_self_test",
    "is_rate",
    "read_record",
    "self_test_files",
    "timing_folder",
    "write_record",
]

FORMAT, FORMAT_VERSION = "ghostblitz-timing", 1
TIMING_FOLDER = "timing"
VERDICTS: tuple[str, ...] = get_args(Verdict)
_MOST_IN_A_SECOND = 100
# A rate that differs by more is another mode of the screen; measured ones differ by far less.
_SAME_RATE = 0.005
# No flips are as frequent as this, drawn or not.
_MOST_HZ = 1e6
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
_CHECK_TEXTS = ("name", "verdict", "value", "reason", "advice")


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
    record = _from_json(path, data)
    for name, kind in _NEEDED.items():
        if not isinstance(record.get(name), kind):
            raise DatasetError(f"{path}: {name} is missing, or of another kind")
    rates = {
        "measured.flips.refresh_hz": _refresh_hz(record),
        "apparatus.refresh_hz": record["apparatus"].get("refresh_hz"),
    }
    for name, rate in rates.items():
        if not is_rate(rate):
            raise DatasetError(f"{path}: {name} is missing, or no rate")
    try:
        datetime.fromisoformat(record["started_utc"])
    except ValueError as error:
        raise DatasetError(f"{path}: started_utc is no time ({error})") from error
    if record["verdict"] not in VERDICTS:
        raise DatasetError(f"{path}: verdict is none of {', '.join(VERDICTS)}")
    for number, check in enumerate(record["checks"], start=1):
        _refuse_damaged(check, f"{path}: check {number} of {len(record['checks'])}")
    return record


def _from_json(path: Path, data: bytes) -> dict[str, Any]:
    """Return what stands in a file that says that it is a record of a version that we know."""
    try:
        record = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
        # Half of a surrogate pair can be read, but not written into a log or on a page.
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is no record of a self-test: {error}") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DatasetError(f"{path} is no record of a self-test: it does not say {FORMAT}")
    version = record.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DatasetError(f"{path}: format_version is missing, or no whole number from 1")
    if version > FORMAT_VERSION:
        raise DatasetError(
            f"{path}: format version {version}, but this program reads up to {FORMAT_VERSION}; "
            "use a newer ghostblitz"
        )
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _refuse_damaged(check: Any, where: str) -> None:
    if not isinstance(check, dict):
        raise DatasetError(f"{where} is no table")
    for name in _CHECK_TEXTS:
        if not isinstance(check.get(name), str):
            raise DatasetError(f"{where}: its {name} is missing, or no text")
    if check["verdict"] not in (*VERDICTS, NOT_MEASURED):
        raise DatasetError(f"{where}: its verdict is none of {', '.join(VERDICTS)}")


def is_rate(value: object) -> bool:
    """Return whether this is a number of flips per second."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 < value < _MOST_HZ  # Not for NaN, and no whole number overflows.


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
