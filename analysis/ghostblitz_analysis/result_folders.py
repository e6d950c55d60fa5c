"""The folder of results: whether it may be written, and that it is whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ghostblitz_task.errors import DatasetError

__all__ = [
    "ANALYSIS",
    "MULTIVERSE",
    "ResultKind",
    "check_out",
    "package_versions",
    "path_sha256",
    "replacing",
]

_PACKAGES = ("ghostblitz", "pandas", "numpy", "scipy", "statsmodels", "mixedlm", "matplotlib")


@dataclass(frozen=True, slots=True)
class ResultKind:
    """What a folder holds: what it is called, and its record for other programs."""

    noun: str
    file: str
    format: str
    version: int = 1


ANALYSIS = ResultKind("analysis", "analysis.json", "ghostblitz-analysis")
MULTIVERSE = ResultKind("multiverse", "multiverse.json", "ghostblitz-multiverse")


def package_versions() -> Mapping[str, str]:
    """Return the versions of what the numbers come from."""
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # Run from a folder that was never installed.
            found[package] = "(not installed)"
    return found


def path_sha256(path: Path) -> str:
    """Tell data sets apart without writing anyone's folder names into shared results."""
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()


def check_out(out: Path, dataset_path: Path, kind: ResultKind) -> None:
    """Refuse a folder that holds anything but an earlier result of this kind and data set.

    Raises
    ------
    DatasetError
        Naming what it holds.
    """
    try:
        if not out.exists():
            return
        if not out.is_dir():
            raise DatasetError(f"{out} is a file; --out names a folder for the {kind.noun}")
        found = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if not p.is_dir())
        anything = next(out.iterdir(), None)
    except OSError as error:
        raise DatasetError(f"{out} cannot be read: {error.strerror}") from error
    if anything is None:
        return
    refusal = f"{out} is not empty and is left as it is; choose another folder"
    try:
        record = json.loads((out / kind.file).read_text(encoding="utf-8"))
        is_ours = record["format"] == kind.format
        same = record["dataset"]["path_sha256"] == path_sha256(dataset_path)
        name, known = record["dataset"]["name"], set(record["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DatasetError(f"{refusal} (it holds no earlier {kind.noun})") from None
    if not is_ours or not same:
        raise DatasetError(f"{refusal} (it holds the {kind.noun} of another data set, {name!r})")
    strange = [file for file in found if file not in known]
    if strange:
        raise DatasetError(f"{refusal} (it also holds {strange[0]}, which would be lost)")


@contextmanager
def replacing(out: Path, dataset_path: Path, kind: ResultKind) -> Iterator[Path]:
    """Give a new folder beside `out` that takes its place at the end, or vanishes on an error.

    Raises
    ------
    DatasetError
        As `check_out`, or if it cannot be written.
    """
    check_out(out, dataset_path, kind)
    target = out.resolve()
    mark = uuid.uuid4().hex[:8]
    partial = target.with_name(f".{target.name}.{mark}.partial")
    replaced = target.with_name(f".{target.name}.{mark}.replaced")
    try:
        partial.mkdir(parents=True)
        yield partial
        check_out(out, dataset_path, kind)  # Again: someone may have put a file there meanwhile.
        if target.exists():
            target.rename(replaced)
        try:
            partial.rename(target)
        except OSError:
            if replaced.exists():
                replaced.rename(target)
            raise
        shutil.rmtree(replaced, ignore_errors=True)
    except OSError as error:
        raise DatasetError(
            f"{out} cannot be written: {error.strerror}; nothing there was changed"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
