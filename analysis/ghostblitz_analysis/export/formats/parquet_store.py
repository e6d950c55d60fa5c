"""Parquet stores: trial tables of studies of any size, to which new sessions are added.

``TABLE/study_id=X/participant_id=Y/part-SESSION-RUN-SUM.parquet``; ``TABLE/_order.json`` says in
which order the parts make the tables that were added.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from ghostblitz_analysis.export.folders import check_apart, place_in, write_text
from ghostblitz_analysis.export.formats.parquet_order import (
    N_THREADS,
    ORDER_FILE,
    ordered_blocks,
    read_block,
    write_order,
)
from ghostblitz_analysis.export.formats.parquet_parts import (
    Part,
    PartKey,
    folder_of,
    is_part,
    joined_rows,
    participant_folder,
    study_folder,
    write_part,
)
from ghostblitz_analysis.export.formats.stored_tables import (
    MAIN_TABLES,
    check_export,
    check_version,
    current_table,
    read_json,
    tables_of,
)
from ghostblitz_analysis.export.formats.table_text import arrow_table, frame_of
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource, ExportTable, load_source
from ghostblitz_task.errors import DatasetError

__all__ = [
    "STORE_FILE",
    "STORE_FOLDER",
    "StoreUpdate",
    "add_tables",
    "read_parquet",
    "read_store",
    "update_store",
    "write_parquet",
]

STORE_FILE = "store.json"
#: Where the store is in an export.
STORE_FOLDER = "data"
_KEY = ("study_id", "participant_id", "session", "run")
_FORMAT, _LAYOUT_VERSION = "ghostblitz-store", 1
_ABOUT = {
    "format": _FORMAT,
    "layout_version": _LAYOUT_VERSION,
    "layout": "TABLE/study_id=.../participant_id=.../part-SESSION-RUN-SUM.parquet; the folders are "
    "percent-encoded, and the ids stand in the rows as well, so read without the partitions",
    "read_with": [
        "ghostblitz_analysis.export.read_store(store)",
        'pandas.read_parquet("trials", partitioning=None)',
        "SELECT * FROM read_parquet('trials/**/*.parquet', hive_partitioning=false)",
    ],
}
_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class StoreUpdate:
    """What an update did.

    Attributes
    ----------
    store : Path
    n_added, n_known : int
        Runs of participants whose rows were new, or in the store already.
    """

    store: Path
    n_added: int
    n_known: int


def write_parquet(source: ExportSource, folder: Path) -> None:
    """Write a data set with its tables as a Parquet store below ``data/``.

    Parameters
    ----------
    source : ExportSource
    folder : Path
        Empty.

    Raises
    ------
    DatasetError
        If a value cannot be kept.
    """
    add_tables(source, folder / STORE_FOLDER)
    people = tables_of(source)[-1]
    with place_in(folder, f"{STORE_FOLDER}/{people.name}.parquet").open("xb") as file:
        pq.write_table(arrow_table(people), file, compression="zstd")
    write_common(source, folder, Layout())


def read_parquet(folder: Path) -> pd.DataFrame:
    """Read the trials, or turns, of an export as Parquet.

    Raises
    ------
    DatasetError
        As `read_store`.
    """
    check_export(folder)
    return read_store(folder / STORE_FOLDER)


def update_store(dataset: Path, store: Path) -> StoreUpdate:
    """Add the runs of a data set that a store does not hold; what it holds is left as it is.

    Parameters
    ----------
    dataset : Path
        A data set's folder.
    store : Path
        A store, or a folder that is not there yet. It takes several studies.

    Raises
    ------
    DatasetError, LogError, ConfigError
        If the data set cannot be loaded, or either folder stands in the other; if the folder is no
        store, or another process writes to it; or if it holds a run with other content than the
        data set.
    """
    source = load_source(dataset)
    check_apart(store, dataset)
    if store.is_dir() and any(store.iterdir()):
        _check_store(store)
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(store.with_name(f".{store.name}.lock"), timeout=_WAIT_S):
            return add_tables(source, store)
    except Timeout as error:
        raise DatasetError(f"{store} is being written by another process; try later") from error
    except OSError as error:
        raise DatasetError(f"{store} cannot be written: {error.strerror or error}") from error


def _check_store(store: Path) -> None:
    about = read_json(store, STORE_FILE)
    version = about.get("layout_version")
    if about.get("format") != _FORMAT or not isinstance(version, int):
        raise DatasetError(f"{store / STORE_FILE} describes no store of ghostblitz")
    if version > _LAYOUT_VERSION:
        raise DatasetError(
            f"{store} is a store of layout {version}, but this program reads up to "
            f"{_LAYOUT_VERSION}; use a newer ghostblitz"
        )


def add_tables(source: ExportSource, store: Path) -> StoreUpdate:
    """Add what is new in a data set's tables to a store that nobody else writes to."""
    if not (store / STORE_FILE).exists():
        write_text(store, STORE_FILE, json.dumps(_ABOUT, indent=1) + "\n")
    check_export(store)
    sums = {
        (player, info.session, info.run): info.sha256
        for info in source.runs
        for player in info.players
    }
    n_added = n_known = 0
    for table in (source.main, *source.others):
        added, known = _add_table(table, sums, store)
        if table is source.main:
            n_added, n_known = added, known
    return StoreUpdate(store, n_added, n_known)


def _add_table(
    table: ExportTable, sums: Mapping[tuple[str, int, int], str], store: Path
) -> tuple[int, int]:
    folder = store / table.name
    keys, bounds, order = _runs_of(table.frame)
    rows = arrow_table(table)
    if order is not None:
        rows = rows.take(pa.array(order))
    before = _known_parts(folder)

    def write(place: int) -> str:
        key, begin, end = keys[place], int(bounds[place]), int(bounds[place + 1])
        of_run = sums.get((key.participant_id, key.session, key.run))
        below = folder_of(key)
        name = write_part(folder / below, key, table.name, rows.slice(begin, end - begin), of_run)
        return f"{below}/{name}"

    with ThreadPoolExecutor(N_THREADS) as pool:
        names = list(pool.map(write, range(len(keys))))
    write_order(folder, names, {key.study_id for key in keys}, order)
    n_added = len(set(names) - before)
    return n_added, len(names) - n_added


def _known_parts(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    return {p.relative_to(folder).as_posix() for p in folder.rglob("part-*.parquet")}


def _runs_of(
    frame: pd.DataFrame,
) -> tuple[list[PartKey], npt.NDArray[np.intp], npt.NDArray[np.intp] | None]:
    """Find the rows of each run of each participant.

    Returns
    -------
    keys : list of PartKey
        In the order of their first rows.
    bounds : (n_keys + 1,) int
        Where the rows of each begin and end once they stand together.
    order : (n_rows,) int or None
        The rows in that order; None where they stand together already.
    """
    codes = frame.groupby(list(_KEY), sort=False, observed=True).ngroup().to_numpy()
    together = bool((np.diff(codes) >= 0).all())
    order = None if together else np.argsort(codes, kind="stable")
    placed = codes if order is None else codes[order]
    starts = np.flatnonzero(np.diff(placed, prepend=-1))
    firsts = starts if order is None else order[starts]
    keys = [
        PartKey(str(study), str(participant), int(session), int(run))
        for study, participant, session, run in frame[list(_KEY)]
        .iloc[firsts]
        .itertuples(index=False, name=None)
    ]
    return keys, np.append(starts, len(frame)), order


def read_store(
    store: Path,
    *,
    study: str | None = None,
    participants: Collection[str] | None = None,
    table: str | None = None,
) -> pd.DataFrame:
    """Read a table of a store.

    Parameters
    ----------
    store : Path
    study : str or None
        Only the rows of this study.
    participants : collection of str or None
        Only the rows of these.
    table : str or None
        ``trials``, ``turns`` or ``games``; by default the store's trials, or else its turns.

    Returns
    -------
    DataFrame
        As the data sets had it that were added, one after the other; runs that were taken away
        from a data set since follow those of its studies.

    Raises
    ------
    DatasetError
        If it is no store, holds symbolic links, lacks a part, or has a damaged one; if a part is
        newer than this program; or if there is no such study or participant.
    """
    files = check_export(store)
    _check_store(store)
    name = table or _main_table(store, files)
    folder = store / name
    on_disk = [f.removeprefix(f"{name}/") for f in sorted(files) if f.startswith(f"{name}/")]
    parts = [file for file in on_disk if is_part(file)]
    if not parts:
        raise DatasetError(f"{store} holds no {name}")
    wanted = set(_wanted(parts, study, participants))
    tables: list[Part] = []
    for block in ordered_blocks(folder, parts):
        tables += read_block(folder, block, wanted)
    if not tables:
        raise DatasetError(f"{store} holds no {name} of {_asked(study, participants)}")
    return _filtered(_joined(tables, name, folder), study, participants, store)


def _main_table(store: Path, files: Collection[str]) -> str:
    for name in MAIN_TABLES:
        if f"{name}/{ORDER_FILE}" in files:
            return name
    raise DatasetError(f"{store} is an empty store")


def _wanted(
    parts: Iterable[str], study: str | None, participants: Collection[str] | None
) -> list[str]:
    """Return the parts whose folders may hold what was asked for."""
    people = None if participants is None else {participant_folder(p) for p in participants}
    found = []
    for part in parts:
        of_study, of_participant = (*part.split("/"), "")[:2]
        if study is not None and of_study != study_folder(study):
            continue
        if people is None or of_participant in people:
            found.append(part)
    return found


def _joined(parts: Sequence[Part], name: str, folder: Path) -> pd.DataFrame:
    frames = []
    for version, alike in groupby(parts, key=lambda part: part.schema_version):
        check_version(version, str(folder))
        same = list(alike)
        for part in same:
            if part.table != name:
                raise DatasetError(f"{folder} holds a part of the {part.table}")
        rows = joined_rows([part.rows for part in same], str(folder))
        frames.append(current_table(name, frame_of(rows, str(folder)), version, str(folder)))
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _filtered(
    frame: pd.DataFrame, study: str | None, participants: Collection[str] | None, store: Path
) -> pd.DataFrame:
    if study is None and participants is None:
        return frame
    # Folders of ids that differ in case only are one on some systems.
    kept = pd.Series(True, index=frame.index)
    if study is not None:
        kept &= frame["study_id"] == study
    if participants is not None:
        kept &= frame["participant_id"].isin(list(participants))
    found = frame[kept].reset_index(drop=True)
    missing = set(participants or ()) - set(found["participant_id"])
    if missing or found.empty:
        asked = _asked(study, sorted(missing) or participants)
        raise DatasetError(f"{store} holds no rows of {asked}")
    return found


def _asked(study: str | None, participants: Collection[str] | None) -> str:
    words = [] if study is None else [f"study {study!r}"]
    if participants is not None:
        words.append(f"participant {', '.join(map(repr, sorted(participants)))}")
    return ", ".join(words) or "anything"
