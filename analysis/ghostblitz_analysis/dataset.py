"""Data sets: a folder of logs, one log, or an imported trial table, as one checked table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.hat_checks import check_hats
from ghostblitz_analysis.imported_tables import (
    INFO_FILE,
    TABLE_FILE,
    read_imported,
    read_info,
)
from ghostblitz_analysis.log_tables import RunInfo, RunTable, read_run
from ghostblitz_analysis.round_checks import check_rounds
from ghostblitz_analysis.rt_units import check_seconds
from ghostblitz_analysis.settings import ANALYSIS_FILE, AnalysisSettings
from ghostblitz_analysis.tables import trial_frame
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.settings_files import load_settings

__all__ = ["Dataset", "ImportFlow", "RunInfo", "analysis_file", "load_dataset"]

LOGS_FOLDER = "logs"
LOG_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class ImportFlow:
    """What an import read and left out before the trial table was made.

    Attributes
    ----------
    n_rows_read : int
        Rows of the source.
    dropped : tuple of (str, int)
        Reason and number of rows, in the order in which they were dropped.
    incomplete : tuple of (str, int)
        Participants who were dropped for want of trials, and their trials.
    """

    n_rows_read: int
    dropped: tuple[tuple[str, int], ...]
    incomplete: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set that was loaded and checked.

    Attributes
    ----------
    path : Path
        Where it stands.
    name : str
        What to call it: the imported data set's own name, or that of the folder or file.
    sources : tuple of str
        Who answered: the levels of ``source`` that occur.
    trials : DataFrame
        One row per participant and trial, by participant, session and trial; exactly the schema's
        columns, in order, then ``factor_*`` columns.
    analysis : AnalysisSettings
        The settings that the data set carries, or the defaults.
    runs : tuple of RunInfo
        One for each log; empty for imported data.
    notes : tuple of str
        What a reader should know about how it was loaded.
    complete_n_trials : int or None
        Trials of a complete participant, where an import states it.
    citation : str or None
        What to cite, where an import states it.
    import_flow : ImportFlow or None
        What the import dropped; None for data that were not imported.
    analysis_stated : bool
        Whether the data set carries analysis settings; without, they are the defaults.
    """

    path: Path
    name: str
    sources: tuple[str, ...]
    trials: pd.DataFrame
    analysis: AnalysisSettings
    runs: tuple[RunInfo, ...] = ()
    notes: tuple[str, ...] = ()
    complete_n_trials: int | None = None
    citation: str | None = None
    import_flow: ImportFlow | None = None
    analysis_stated: bool = True


def load_dataset(path: Path) -> Dataset:
    """Load a data set and check it against its own facts.

    Parameters
    ----------
    path : Path
        A folder with logs (its own, or in ``logs/``), one log, or the folder of an imported
        data set.

    Returns
    -------
    Dataset
        Every trial was scored again from its facts, and agreed.

    Raises
    ------
    DatasetError
        If there is no data set there, if two logs hold the same run or trial, or if a stored
        value contradicts its facts; naming file, trial and both values.
    LogError
        If a log is damaged other than by a torn last line.
    ConfigError
        If the settings it carries are not valid.
    """
    # Unlike Path.exists, this takes names that no file can have for missing ones.
    if not os.path.exists(path):
        raise DatasetError(f"{path} does not exist; give a data set's folder or a log")
    if path.is_dir():
        if (path / INFO_FILE).is_file():
            return _load_imported(path)
        return _load_logs(path, _logs_in(path))
    if path.suffix == LOG_SUFFIX:
        return _load_logs(path, [path])
    if path.name == TABLE_FILE and (path.parent / INFO_FILE).is_file():
        return _load_imported(path.parent)
    if path.suffix.lower() in (".csv", ".tsv", ".txt", ".json", ".xlsx", ".xls"):
        raise DatasetError(
            f"{path} was never imported; bring it in with: ghostblitz import {path} "
            "--mapping FILE.toml --out DATASET"
        )
    raise DatasetError(
        f"{path} is no data set; give a folder with logs ({LOG_SUFFIX}), one log, or an "
        "imported data set"
    )


def _logs_in(folder: Path) -> list[Path]:
    try:
        here, below = sorted(folder.iterdir()), folder / LOGS_FOLDER
        there = sorted(below.iterdir()) if below.is_dir() else []
    except OSError as error:
        raise DatasetError(f"{folder} cannot be read: {error.strerror}") from error
    files = [p for p in here + there if p.suffix == LOG_SUFFIX and p.is_file()]
    # macOS leaves files that begin with a dot on foreign disks.
    logs = [p for p in files if not p.name.startswith(".")]
    if logs:
        return logs
    if not here:
        raise DatasetError(f"{folder} is empty; a data set holds logs ({LOG_SUFFIX})")
    tables = [p for p in here if p.suffix.lower() in (".csv", ".tsv")]
    if tables:
        raise DatasetError(
            f"{folder} holds {tables[0].name}, which was never imported; bring it in with: "
            f"ghostblitz import {tables[0]} --mapping FILE.toml --out DATASET"
        )
    for inner in here:
        holds = inner.is_dir() and not inner.name.startswith(".")
        if holds and any((inner / n).exists() for n in (LOGS_FOLDER, INFO_FILE)):
            raise DatasetError(f"{folder} holds no logs itself; did you mean {inner}?")
    raise DatasetError(
        f"{folder} holds no logs ({LOG_SUFFIX}) and no imported data set; among its "
        f"{len(here)} files is {here[0].name}"
    )


def _load_logs(path: Path, logs: Sequence[Path]) -> Dataset:
    tables = [read_run(log) for log in logs]
    _check_runs(logs, tables)
    rows = _ordered_rows(logs, tables)
    check_hats(logs, tables)
    check_rounds(logs, tables)
    if not rows:
        raise DatasetError(f"{path} holds no complete trial in its {len(logs)} log(s)")
    columns: dict[str, list[Any]] = {c.name: [row.get(c.name) for row in rows] for c in COLUMNS}
    check_seconds(columns["rt_s"], columns["participant_id"], str(path))
    trials = trial_frame(columns, len(rows))
    notes = [
        f"{table.info.file}: the last line was cut off and is left out; the trial it began was "
        "never finished"
        for table in tables
        if table.info.torn
    ]
    analysis = _analysis(path)
    return Dataset(
        path=path,
        name=path.resolve().stem if path.is_file() else path.resolve().name,
        sources=tuple(sorted(set(columns["source"]))),
        trials=trials,
        analysis=analysis or AnalysisSettings(),
        runs=tuple(sorted((t.info for t in tables), key=lambda info: info.identity)),
        notes=tuple(notes),
        analysis_stated=analysis is not None,
    )


def _check_runs(logs: Sequence[Path], tables: Sequence[RunTable]) -> None:
    seen: dict[tuple[str, int, int], tuple[Path, RunInfo]] = {}
    for log, table in zip(logs, tables, strict=True):
        info = table.info
        if info.identity not in seen:
            seen[info.identity] = log, info
            continue
        first, other = seen[info.identity]
        participant, session, run = info.identity
        both = f"{first} and {log} both hold run {run} of session {session} of {participant!r}"
        if info.sha256 == other.sha256:
            raise DatasetError(f"{both}: one is a copy; take it away")
        raise DatasetError(
            f"{both}, with different content; two sessions were given the same participant id"
        )
    _check_seats(logs, tables)


def _check_seats(logs: Sequence[Path], tables: Sequence[RunTable]) -> None:
    """Refuse a participant who sits in one session of two tables."""
    seats: dict[tuple[str, int], tuple[Path, str]] = {}
    for log, table in zip(logs, tables, strict=True):
        info = table.info
        for player in info.players:
            first, leader = seats.setdefault((player, info.session), (log, info.participant_id))
            if leader != info.participant_id:
                raise DatasetError(
                    f"{first} and {log} both hold session {info.session} of {player!r}, with "
                    f"{leader!r} and with {info.participant_id!r} in the first seat; a participant "
                    "has each session once"
                )


def _ordered_rows(logs: Sequence[Path], tables: Sequence[RunTable]) -> list[dict[str, Any]]:
    placed: dict[tuple[str, int, int], tuple[Path, dict[str, Any]]] = {}
    for log, table in zip(logs, tables, strict=True):
        for row in table.rows:
            identity = row["participant_id"], row["session"], row["trial_index"]
            if identity in placed:
                raise DatasetError(
                    f"{log}: trial {identity[2]} of {identity[0]!r}, session {identity[1]}, "
                    f"stands in {placed[identity][0]} already"
                )
            placed[identity] = log, row
    return [placed[identity][1] for identity in sorted(placed)]


def _load_imported(folder: Path) -> Dataset:
    info = read_info(folder)
    trials, notes = read_imported(folder, info)
    analysis = _analysis(folder)
    if analysis is None:
        raise DatasetError(
            f"{folder} has no {ANALYSIS_FILE}, which every import writes; import the data again"
        )
    complete, citation = info.get("complete_n_trials"), info.get("citation")
    return Dataset(
        path=folder,
        name=info["name"],
        sources=tuple(sorted(trials["source"].unique())),
        trials=trials,
        analysis=analysis,
        notes=notes,
        complete_n_trials=complete if isinstance(complete, int) else None,
        citation=citation if isinstance(citation, str) else None,
        import_flow=_import_flow(info),
    )


def _import_flow(info: Mapping[str, Any]) -> ImportFlow:
    """Read what the import dropped; its shape was checked."""
    report = info["report"]
    return ImportFlow(
        n_rows_read=report["n_rows_read"],
        dropped=tuple((d["reason"], d["n_rows"]) for d in report["dropped"]),
        incomplete=tuple((participant, n) for participant, n in report["incomplete"]),
    )


def analysis_file(path: Path) -> Path | None:
    """Return the analysis settings that a data set carries; a log's own folder may carry them."""
    folders = [path] if path.is_dir() else [path.parent]
    if path.is_file() and path.parent.name == LOGS_FOLDER:
        folders.append(path.parent.parent)
    for folder in folders:
        if (folder / ANALYSIS_FILE).is_file():
            return folder / ANALYSIS_FILE
    return None


def _analysis(path: Path) -> AnalysisSettings | None:
    file = analysis_file(path)
    return load_settings(file, AnalysisSettings) if file else None
