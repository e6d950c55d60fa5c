"""An export as one zip file for a repository, and such a file unpacked with care."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import unicodedata
import uuid
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from ghostblitz_analysis.export.folders import files_below, new_folder, place_in
from ghostblitz_analysis.export.manifest import MANIFEST_FILE
from ghostblitz_task.errors import DatasetError

__all__ = ["unpack_export", "zip_export"]

_CHUNK = 1 << 20
#: What reading a damaged archive ends in: names that are no text, versions that there are not yet.
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError
)  # fmt: skip
# The earliest time that the format has: the same bytes whenever the archive is made.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX, _LEVEL = 3, 6
_MODE = (stat.S_IFREG | 0o644) << 16
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: More than any study: 10,000 participants with a log, a folder and side-cars each.
_MOST_FILES = 1_000_000
_MOST_BYTES = 100_000_000_000
#: Logs and tables shrink to a twentieth or so; what shrinks more than this, and is large, is made
#: to fill the disk.
_LARGEST_RATIO, _ANY_RATIO_BYTES = 200, 200_000_000


def zip_export(folder: Path) -> Path:
    """Pack an export into ``FOLDER.zip`` beside it.

    Parameters
    ----------
    folder : Path
        A finished export. All its files are packed below its name, in a stable order and without
        times, owners and rights, so that the same folder gives the same bytes.

    Returns
    -------
    Path
        The archive, which is whole or not there.

    Raises
    ------
    DatasetError
        If the folder is no folder or holds symbolic links, if a file of that name is there, or if
        it cannot be written.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise DatasetError(f"{folder} is no folder of an export")
    root = Path(os.path.abspath(folder))
    shown = check_archive_free(folder)
    archive = root.with_name(shown.name)
    names = files_below(root)
    if not names:
        raise DatasetError(f"{folder} is empty; there is nothing to pack")
    partial = archive.with_name(f".{archive.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with partial.open("xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed:
                for name in names:
                    _pack(packed, root / name, f"{root.name}/{name}")
            file.flush()
            os.fsync(file.fileno())
        _give_name(partial, archive, shown)
    except OSError as error:
        raise DatasetError(f"{shown} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return shown


def check_archive_free(folder: Path) -> Path:
    """Return the name of a folder's archive, refusing one that is taken."""
    shown = folder.with_name(f"{Path(os.path.abspath(folder)).name}.zip")
    if shown.exists() or shown.is_symlink():
        raise DatasetError(f"{shown} is there already and is left as it is; move it away first")
    return shown


def _pack(packed: zipfile.ZipFile, path: Path, name: str) -> None:
    info = zipfile.ZipInfo(name, date_time=_TIME)
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, _UNIX
    info.external_attr = _MODE
    info.file_size = path.stat().st_size  # Says whether it needs the format for large files.
    with path.open("rb") as reader, packed.open(info, "w") as writer:
        shutil.copyfileobj(reader, writer, _CHUNK)


def _give_name(partial: Path, archive: Path, shown: Path) -> None:
    """Give a file its name unless that is taken, even where another program is as fast."""
    try:
        os.link(partial, archive)
    except FileExistsError:
        raise DatasetError(f"{shown} is there already and is left as it is") from None
    except OSError:  # Some file systems have no links.
        if archive.exists():
            raise DatasetError(f"{shown} is there already and is left as it is") from None
        partial.rename(archive)


# --- unpacking --------------------------------------------------------------------------------


def unpack_export(archive: Path, out: Path) -> Path:
    """Unpack an export into a new folder, or leave nothing behind.

    Parameters
    ----------
    archive : Path
        As `zip_export` writes it, or packed by a repository. The one folder that all is in is
        left out.
    out : Path
        A folder that is not there yet.

    Raises
    ------
    DatasetError
        If it is no zip file or a damaged one; if a name is absolute, leads outside, stands twice
        (in any case of its letters) or cannot stand on every system; if it holds anything but
        plain files; if it is encrypted or packed in a way of its own; or if it is so large, or
        shrank so much, that it was made to fill the disk.
    """
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [info for info in packed.infolist() if not info.is_dir()]
            names = _checked(archive, packed.infolist(), entries)
            with new_folder(out) as folder:
                for info, name in zip(entries, names, strict=True):
                    _unpack(archive, packed, info, place_in(folder, name))
    except _DAMAGES as error:
        raise DatasetError(f"{archive} is no zip file, or a damaged one: {error}") from error
    except OSError as error:
        raise DatasetError(f"{archive} cannot be read: {error.strerror or error}") from error
    return out


def _checked(
    archive: Path, every: Sequence[zipfile.ZipInfo], entries: Sequence[zipfile.ZipInfo]
) -> list[str]:
    """Return where each file goes, or refuse the archive before anything is written."""
    if len(every) > _MOST_FILES:
        raise DatasetError(f"{archive} holds {len(every):,} files, more than any export")
    total = sum(info.file_size for info in entries)
    packed = max(1, archive.stat().st_size)
    if total > _MOST_BYTES or (total > _ANY_RATIO_BYTES and total > _LARGEST_RATIO * packed):
        raise DatasetError(
            f"{archive} of {packed:,} bytes would take {total:,} bytes unpacked, which is no export"
        )
    for info in every:
        _check_entry(archive, info)
    names = _without_top([info.filename for info in entries])
    seen: dict[str, str] = {}
    for name in names:
        alike = unicodedata.normalize("NFC", name).casefold()
        if alike in seen:
            raise DatasetError(f"{archive} holds {seen[alike]!r} and {name!r}, which are one file")
        seen[alike] = name
    if not names:
        raise DatasetError(f"{archive} holds no file")
    return names


def _check_entry(archive: Path, info: zipfile.ZipInfo) -> None:
    name = info.filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.create_system == _UNIX and kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "no plain file"
        raise DatasetError(f"{archive}: {name!r} is {what}, so nothing is unpacked")
    # Before Python cleans them: a backslash, and what stands behind a null, are told here only.
    if "\\" in info.orig_filename or "\x00" in info.orig_filename or name.startswith("/"):
        raise DatasetError(f"{archive}: {name!r} is no name of a file inside an export")
    if ".." in name.split("/"):
        raise DatasetError(f"{archive}: {name!r} leads outside, so nothing is unpacked")
    if info.flag_bits & _ENCRYPTED:
        raise DatasetError(f"{archive}: {name!r} is encrypted")
    if info.compress_type not in _METHODS:
        raise DatasetError(f"{archive}: {name!r} is packed in a way that exports are not")


def _without_top(names: Sequence[str]) -> list[str]:
    """Leave out the folder that an export was packed in, which its manifest shows."""
    tops = {name.split("/", 1)[0] for name in names}
    if len(tops) == 1:
        top = f"{tops.pop()}/"
        if f"{top}{MANIFEST_FILE}" in names:
            return [name.removeprefix(top) for name in names]
    return list(names)


def _unpack(archive: Path, packed: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    left = info.file_size
    with packed.open(info) as reader, path.open("xb") as writer:
        while chunk := reader.read(min(_CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise DatasetError(f"{archive}: {info.filename!r} is larger than it says")
            writer.write(chunk)
    if left:
        raise DatasetError(f"{archive}: {info.filename!r} is cut off")
