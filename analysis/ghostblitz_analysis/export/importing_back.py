"""An export, or its archive, made a data set again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.export.archives import unpack_export
from ghostblitz_analysis.export.bids.writing import BIDS_LAYOUT
from ghostblitz_analysis.export.folders import (
    check_apart,
    copy_file,
    files_below,
    new_folder,
    temporary_folder,
)
from ghostblitz_analysis.export.formats.psych_ds import PSYCH_DS_LAYOUT
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import MANIFEST_FILE, verify_folder
from ghostblitz_analysis.export.reading import format_of, read_export
from ghostblitz_analysis.export.source import ExportTable, load_source
from ghostblitz_task.errors import DatasetError

__all__ = ["SOURCE_FOLDERS", "BroughtBack", "import_export", "is_export"]

#: Where the data set itself stands in an export: of BIDS, of Psych-DS, of all others.
SOURCE_FOLDERS = (BIDS_LAYOUT.source, PSYCH_DS_LAYOUT.source, Layout().source)


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """A data set that was taken out of an export."""

    out: Path
    n_rows: int
    n_files: int


def is_export(path: Path) -> bool:
    """Tell whether a folder, or an archive, is an export to all appearances."""
    if path.is_dir():
        return (path / MANIFEST_FILE).is_file()
    return path.is_file() and path.suffix.lower() == ".zip"


def import_export(path: Path, *, out: Path) -> BroughtBack:
    """Take the data set out of an export, or of an archive of one.

    Parameters
    ----------
    path : Path
        The folder, or the zip file.
    out : Path
        A folder that is not there yet.

    Raises
    ------
    DatasetError
        If a file is not as its manifest has it, if the export's own table is not the one that the
        data set in it loads to, if the archive is not safe to unpack, or if `out` and the export
        stand one in the other.
    """
    if path.is_dir():
        check_apart(out, path)
        return _import_folder(path, out, shown=path)
    with temporary_folder() as folder:
        return _import_folder(unpack_export(path, folder / "export"), out, shown=path)


def _import_folder(folder: Path, out: Path, *, shown: Path) -> BroughtBack:
    """Bring a folder back; errors name what the user gave, not where it was unpacked to."""
    if not (folder / MANIFEST_FILE).is_file():
        raise DatasetError(f"{shown} holds no {MANIFEST_FILE}, so it is no export of ours")
    differences = verify_folder(folder)
    if differences:
        first = differences[0]
        raise DatasetError(
            f"{shown} is not as it was exported: {first.file} is {first.kind}"
            + (f", and {len(differences) - 1} more files differ" if len(differences) > 1 else "")
        )
    inner = next((f for f in SOURCE_FOLDERS if _is_dataset(folder / f)), None)
    if inner is None:
        raise DatasetError(f"{shown} holds no data set below {SOURCE_FOLDERS[-1]}")
    own = load_source(folder / inner).main
    # Other programs' tables are made for those; they do not all hold every trial.
    if format_of(folder) is not None:
        _compare(read_export(folder), own, shown)
    names = files_below(folder / inner)
    with new_folder(out) as new:
        for name in names:
            copy_file(folder / inner / name, new, name)
    return BroughtBack(out, len(own.frame), len(names))


def _compare(table: pd.DataFrame, own: ExportTable, shown: Path) -> None:
    try:
        pd.testing.assert_frame_equal(table, own.frame, check_exact=True)
    except AssertionError as error:
        reason = " ".join(str(error).split())
        raise DatasetError(
            f"the {own.name} of {shown} are not those of the data set in it: {reason[:300]}"
        ) from error


def _is_dataset(folder: Path) -> bool:
    return folder.is_dir() and any(path.is_file() for path in folder.iterdir())
