"""The list of an export's files with their SHA-256 sums, and the search for what was changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ghostblitz_analysis.export.folders import files_below, write_text
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.trial_log import file_sha256

__all__ = ["MANIFEST_FILE", "Difference", "verify_folder", "write_manifest"]

#: In the notation of sha256sum, so that `sha256sum -c` checks it without this program.
MANIFEST_FILE = "manifest-sha256.txt"
_LINE = re.compile(r"^([0-9a-f]{64})  (\S.*)$")
_LARGEST_MANIFEST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not as the manifest has it: ``changed``, ``missing`` or ``unlisted``."""

    file: str
    kind: str


def write_manifest(folder: Path) -> Path:
    """List every file of a folder."""
    names = files_below(folder)
    lines = [f"{file_sha256(folder / name)}  {name}\n" for name in names]
    return write_text(folder, MANIFEST_FILE, "".join(lines))


def verify_folder(folder: Path) -> tuple[Difference, ...]:
    """Compare a folder with its manifest.

    Returns
    -------
    tuple of Difference
        By name; empty where every file is as it was.

    Raises
    ------
    DatasetError
        If there is no manifest, or it is damaged, or the folder holds symbolic links.
    """
    listed = _read(folder)
    present = set(files_below(folder)) - {MANIFEST_FILE}
    found = []
    for name in sorted(listed.keys() | present):
        if name not in present:
            found.append(Difference(name, "missing"))
        elif name not in listed:
            found.append(Difference(name, "unlisted"))
        elif file_sha256(folder / name) != listed[name]:
            found.append(Difference(name, "changed"))
    return tuple(found)


def _read(folder: Path) -> dict[str, str]:
    file = folder / MANIFEST_FILE
    try:
        if file.is_symlink() or not file.is_file():
            raise DatasetError(f"{folder} holds no {MANIFEST_FILE}, so it is no export to verify")
        if file.stat().st_size > _LARGEST_MANIFEST_BYTES:
            raise DatasetError(f"{file} is too large to be a manifest")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{file} cannot be read: {error}") from error
    listed = {}
    for number, line in enumerate(lines, start=1):
        match = _LINE.match(line)
        if match is None:
            raise DatasetError(f"{file}, line {number}: this is no sum and name of a file")
        if match[2] in listed:
            raise DatasetError(f"{file}, line {number}: {match[2]} is listed twice")
        listed[match[2]] = match[1]
    return listed
