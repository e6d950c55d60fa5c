"""Exports read back, whatever their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.export.bids.reading import read_bids
from ghostblitz_analysis.export.formats.frictionless_package import PACKAGE_FILE, read_frictionless
from ghostblitz_analysis.export.formats.parquet_store import (
    STORE_FILE,
    STORE_FOLDER,
    read_parquet,
    read_store,
)
from ghostblitz_analysis.export.formats.plain_tables import TABLES_FILE, read_csv
from ghostblitz_analysis.export.formats.psych_ds import DESCRIPTION_FILE, read_psych_ds
from ghostblitz_analysis.export.formats.stored_tables import MIGRATIONS, check_export, read_json
from ghostblitz_task.errors import DatasetError

__all__ = ["MIGRATIONS", "READERS", "format_of", "read_export"]

#: What reads each format that comes back as it was.
READERS: Mapping[str, Callable[[Path], pd.DataFrame]] = {
    "bids": read_bids,
    "psych-ds": read_psych_ds,
    "frictionless": read_frictionless,
    "csv": read_csv,
    "parquet": read_parquet,
    "store": read_store,
}
#: The file by which each is known.
_KNOWN_BY = {
    "frictionless": PACKAGE_FILE,
    "csv": TABLES_FILE,
    "parquet": f"{STORE_FOLDER}/{STORE_FILE}",
    "store": STORE_FILE,
}


def format_of(folder: Path) -> str | None:
    """Return the format of an export; None for one of another program's, or for no export.

    Raises
    ------
    DatasetError
        If it holds symbolic links, or the file by which it is known is damaged.
    """
    files = check_export(folder)
    if DESCRIPTION_FILE in files:
        return "bids" if "BIDSVersion" in read_json(folder, DESCRIPTION_FILE) else "psych-ds"
    return next((name for name, file in _KNOWN_BY.items() if file in files), None)


def read_export(folder: Path) -> pd.DataFrame:
    """Read the trial table (or, with the captain's deck, the turns) of an export.

    Parameters
    ----------
    folder : Path
        An export in one of the formats of `READERS`, or a Parquet store.

    Returns
    -------
    DataFrame
        The identical table: values, types and order of rows. One of an older schema is brought to
        that of this program.

    Raises
    ------
    DatasetError
        If it is no such export, is damaged, lacks a column, holds symbolic links or files that are
        too large, or was written by a newer program.
    """
    name = format_of(folder)
    if name is None:
        raise _not_read_back(folder)
    return READERS[name](folder)


def _not_read_back(folder: Path) -> DatasetError:
    return DatasetError(
        f"{folder} is no export that this program reads back; such ones hold "
        f"{', '.join((DESCRIPTION_FILE, *_KNOWN_BY.values()))}"
    )
