"""Data sets of the captain's deck: a folder of logs, or one log, as checked tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.captain.runs import (
    CHANGE_COLUMNS,
    CaptainRun,
    is_captain_log,
    read_captain_run,
)
from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column

__all__ = ["CaptainDataset", "holds_captain_logs", "load_captain_dataset"]

_LOGS_FOLDER, _SUFFIX = "logs", ".jsonl"


@dataclass(frozen=True, eq=False)
class CaptainDataset:
    """A data set that was loaded and checked.

    Attributes
    ----------
    path : Path
        Where it stands.
    name : str
        That of the folder or file.
    turns : DataFrame
        One row per turn; exactly `TURN_COLUMNS`.
    games : DataFrame
        One row per game; exactly `GAME_COLUMNS`.
    changes : DataFrame
        One row per turn in which the die at the pick was not the one at the start; exactly
        `CHANGE_COLUMNS`.
    runs : tuple of RunInfo
        One for each log.
    returns_to : tuple of str
        Where wrong droppings went: ``middle``, ``place``.
    notes : tuple of str
        What a reader should know about how it was loaded.
    """

    path: Path
    name: str
    turns: pd.DataFrame
    games: pd.DataFrame
    changes: pd.DataFrame
    runs: tuple[RunInfo, ...]
    returns_to: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Who played: the levels of ``source`` that occur."""
        return tuple(sorted(self.games["source"].unique()))

    @property
    def n_participants(self) -> int:
        """How many people, or models, had the tongs."""
        return int(self.turns["player_id"].nunique())


def _logs_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix == _SUFFIX else []
    folders = [path, path / _LOGS_FOLDER]
    files = [p for folder in folders if folder.is_dir() for p in sorted(folder.iterdir())]
    # macOS leaves files that begin with a dot on foreign disks.
    return [p for p in files if p.suffix == _SUFFIX and p.is_file() and p.name[0] != "."]


def holds_captain_logs(path: Path) -> bool:
    """Say whether a data set has any log of the captain's deck."""
    try:
        return any(is_captain_log(log) for log in _logs_of(path))
    except OSError:
        return False


def load_captain_dataset(path: Path) -> CaptainDataset:
    """Load a data set and check it against its own facts.

    Raises
    ------
    DatasetError
        If there is none, if two logs hold the same run, if a log is of another game, if the logs
        are of several studies, or if a stored value contradicts its facts.
    LogError
        If a log is damaged other than by a torn last line.
    """
    try:
        logs = _logs_of(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}") from error
    if not logs:
        raise DatasetError(f"{path} holds no logs ({_SUFFIX})")
    runs = [read_captain_run(log) for log in logs]
    _check_studies(logs, runs)
    _check_runs(logs, runs)
    ordered = sorted(runs, key=lambda run: run.info.identity)
    turns = _frame(TURN_COLUMNS, [row for run in ordered for row in run.turns])
    games = _frame(GAME_COLUMNS, [row for run in ordered for row in run.games])
    if turns.empty:
        raise DatasetError(f"{path} holds no turn in its {len(logs)} log(s)")
    notes = [
        f"{run.info.file}: the last line was cut off and is left out; the turn it began was never "
        "finished"
        for run in ordered
        if run.info.torn
    ]
    notes += [
        f"{row['participant_id']}, session {row['session']}, {row['label']}: the game was "
        f"{row['outcome']}; its {row['n_turns']} turns in the log are used, but what would have "
        "come is censored"
        for run in ordered
        for row in run.games
        if row["outcome"] in ("killed", "interrupted")
    ]
    n_settings = len({run.info.settings_sha256 for run in ordered})
    if n_settings > 1:
        notes.append(
            f"the logs were made with {n_settings} different settings of the study "
            "(settings_sha256 in each header); the measures pool them"
        )
    return CaptainDataset(
        path=path,
        name=path.resolve().stem if path.is_file() else path.resolve().name,
        turns=turns,
        games=games,
        changes=pd.DataFrame(
            [row for run in ordered for row in run.changes], columns=list(CHANGE_COLUMNS)
        ),
        returns_to=tuple(sorted({run.returns_to for run in ordered})),
        runs=tuple(run.info for run in ordered),
        notes=tuple(notes),
    )


def _check_runs(logs: Sequence[Path], runs: Sequence[CaptainRun]) -> None:
    seen: dict[tuple[str, int, int], tuple[Path, RunInfo]] = {}
    games: dict[tuple[str, int, int], Path] = {}
    for log, run in zip(logs, runs, strict=True):
        participant, session, number = run.info.identity
        if run.info.identity in seen:
            first, other = seen[run.info.identity]
            both = (
                f"{first} and {log} both hold run {number} of session {session} of {participant!r}"
            )
            if run.info.sha256 == other.sha256:
                raise DatasetError(f"{both}: one is a copy; take it away")
            raise DatasetError(
                f"{both}, with different content; two sessions were given the same participant id"
            )
        seen[run.info.identity] = log, run.info
        for row in run.games:
            place = participant, session, row["block_index"]
            if place in games:
                raise DatasetError(
                    f"{log}: game {row['block_index']} of {participant!r}, session {session}, "
                    f"stands in {games[place]} already"
                )
            games[place] = log


def _check_studies(logs: Sequence[Path], runs: Sequence[CaptainRun]) -> None:
    for log, run in zip(logs, runs, strict=True):
        if run.info.study_id != runs[0].info.study_id:
            raise DatasetError(
                f"{log} is of study {run.info.study_id!r}, but {logs[0]} of "
                f"{runs[0].info.study_id!r}; analyse them apart"
            )


def _frame(columns: Sequence[Column], rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a table with exactly these columns, in order and with their types."""
    return pd.DataFrame(
        {c.name: pd.array([row[c.name] for row in rows], dtype=c.dtype) for c in columns}
    )
