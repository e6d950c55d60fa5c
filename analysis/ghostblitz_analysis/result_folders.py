"""The folder of an analysis: whether it may be written, and that it is whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ghostblitz_task.errors import DatasetError

__all__ = [
    "RESULT_FILE",
    "RESULT_FORMAT",
    "RESULT_VERSION",
    "check_out",
    "package_versions",
    "path_sha256",
    "replacing",
]

RESULT_FILE = "analysis.json"
RESULT_FORMAT = "ghostblitz-analysis"
RESULT_VERSION = 1

_PACKAGES = ("ghostblitz", "pandas", "numpy", "scipy", "matplotlib")


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


def check_out(out: Path, dataset_path: Path) -> None:
    """Refuse a folder whose content is not ours to replace."""
    try:
        if not out.exists():
            return
        if not out.is_dir():
            raise DatasetError(f"{out} is a file; --out names a folder for the analysis")
        found = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if not p.is_dir())
        anything = next(out.iterdir(), None)
    except OSError as error:
        raise DatasetError(f"{out} cannot be read: {error.strerror}") from error
    if anything is None:
        return
    refusal = f"{out} is not empty and is left as it is; choose another folder"
    try:
        record = json.loads((out / RESULT_FILE).read_text(encoding="utf-8"))
        is_ours = record["format"] == RESULT_FORMAT
        same = record["dataset"]["path_sha256"] == path_sha256(dataset_path)
        name, known = record["dataset"]["name"], set(record["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DatasetError(f"{refusal} (it holds no earlier analysis)") from None
    if not is_ours or not same:
        raise DatasetError(f"{refusal} (it holds the analysis of another data set, {name!r})")
    strange = [file for file in found if file not in known]
    if strange:
        raise DatasetError(f"{refusal} (it also holds {strange[0]}, which would be lost)")


@contextmanager
def replacing(out: Path, dataset_path: Path) -> Iterator[Path]:
    """Give a new folder beside `out` that takes its place at the end, or vanishes on an error."""
    check_out(out, dataset_path)
    target = out.resolve()
    mark = uuid.uuid4().hex[:8]
    partial = target.with_name(f".{target.name}.{mark}.partial")
    replaced = target.with_name(f".{target.name}.{mark}.replaced")
    try:
        partial.mkdir(parents=True)
        yield partial
        check_out(out, dataset_path)  # Again: someone may have put a file there meanwhile.
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
