"""New folders that are whole or not there, and files in them that nothing can lead outside."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ghostblitz_task.errors import DatasetError

__all__ = [
    "check_apart",
    "copy_file",
    "files_below",
    "new_folder",
    "place_in",
    "temporary_folder",
    "write_text",
]

_CHUNK = 1 << 20
#: Characters that a file name cannot have on some system, and names that Windows reserves.
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"\\|?*]')
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Give a folder beside `out` that gets its name at the end, or vanishes on an error.

    Everything in it is on disk (fsync) before it gets its name.

    Raises
    ------
    DatasetError
        If something stands there already, or it cannot be written.
    """
    _check_free(out)
    target = Path(os.path.abspath(out))
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
        _sync(partial)
        _check_free(out)
        if target.is_dir():
            target.rmdir()  # It is empty, or this fails.
        partial.rename(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise DatasetError(
            f"{out} cannot be written: {error.strerror or error}; nothing was left there"
        ) from error
    except DatasetError as error:
        if str(partial) not in str(error):
            raise
        told = str(error).replace(str(partial), str(out))  # The one that was asked for.
        raise DatasetError(told) from error.__cause__ or error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_free(out: Path) -> None:
    try:
        if out.is_symlink():
            raise DatasetError(f"{out} is a symbolic link; name a folder that is not there yet")
        if out.is_dir() and next(out.iterdir(), None) is None:
            return
        if out.exists():
            raise DatasetError(f"{out} is there already and is left as it is; choose another name")
    except OSError as error:
        raise DatasetError(f"{out} cannot be read: {error.strerror}") from error


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that vanishes.

    Raises
    ------
    DatasetError
        If it cannot be made or written, saying where it was to be.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="ghostblitz-") as folder:
            yield Path(folder)
    except OSError as error:
        raise DatasetError(
            f"the folder of temporary files, {tempfile.gettempdir()}, cannot be written: "
            f"{error.strerror or error}; TMPDIR names another"
        ) from error


def check_apart(out: Path, dataset: Path) -> None:
    """Refuse to write into a folder that is read from, or around it.

    Parameters
    ----------
    out : Path
        What is to be written; it need not be there yet.
    dataset : Path
        The folder of data.

    Raises
    ------
    DatasetError
        If either is the other or stands in it, by whatever links and letters they are named.
    """
    if _is_within(out, dataset):
        raise DatasetError(
            f"{out} would stand in {dataset}, which holds the data and is left as it is; choose "
            "a folder beside it"
        )
    if _is_within(dataset, out):
        raise DatasetError(
            f"{out} holds {dataset}, from which the data come; choose a folder beside it"
        )


def _is_within(inner: Path, outer: Path) -> bool:
    try:
        place = inner.resolve()
        above = [folder for folder in (place, *place.parents) if folder.exists()]
        return outer.exists() and any(folder.samefile(outer) for folder in above)
    except OSError as error:
        raise DatasetError(f"{inner} cannot be read: {error.strerror or error}") from error
    except RuntimeError as error:  # A link that leads to itself.
        raise DatasetError(f"{inner} is a symbolic link that leads nowhere") from error


def place_in(folder: Path, name: str) -> Path:
    """Return the path of a new file, with its folders made.

    Parameters
    ----------
    folder : Path
        The folder being written.
    name : str
        Relative, with ``/``.

    Raises
    ------
    DatasetError
        If the name is absolute, leads outside, or cannot stand on every system.
    """
    pure = PurePosixPath(name)
    if pure.is_absolute() or not pure.parts or ".." in pure.parts:
        raise DatasetError(f"{name!r} is no name of a file inside an export")
    for part in pure.parts:
        if _FORBIDDEN.search(part) or _RESERVED.match(part) or part != part.strip(" "):
            raise DatasetError(f"{part!r} cannot be the name of a file on every system")
    path = folder.joinpath(*pure.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_text(folder: Path, name: str, text: str) -> Path:
    """Write a new file as UTF-8 with plain line ends; one that is there is an error."""
    path = place_in(folder, name)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return path


def copy_file(source: Path, folder: Path, name: str) -> Path:
    """Copy the bytes of a plain file; times, owners and rights stay behind."""
    if source.is_symlink() or not source.is_file():
        raise DatasetError(f"{source} is no plain file, so it is not exported")
    path = place_in(folder, name)
    with source.open("rb") as reader, path.open("xb") as writer:
        shutil.copyfileobj(reader, writer, _CHUNK)
    return path


def files_below(folder: Path) -> list[str]:
    """Return the names of all files, relative and with ``/``, in a stable order.

    Raises
    ------
    DatasetError
        If there is anything but plain files and folders, such as a symbolic link.
    """
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise DatasetError(f"{folder} holds a symbolic link, {name}, which may lead outside")
        if path.is_dir():
            continue
        if not path.is_file():
            raise DatasetError(f"{folder} holds {name}, which is no plain file")
        found.append(name)
    return sorted(found)


def _sync(folder: Path) -> None:
    for name in files_below(folder):
        descriptor = os.open(folder / name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    for path in [*(p for p in folder.rglob("*") if p.is_dir()), folder]:
        _sync_folder(path)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows does not open folders.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
