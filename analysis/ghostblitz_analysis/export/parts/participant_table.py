"""Who is in a data set: one row per participant, made from its trials and its logs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_task.schema import Column, column

__all__ = ["PARTICIPANT_COLUMNS", "participant_table"]

_IMPORTED = "imported data"
#: What is told of each run.
_TOLD = ("participant_id", "session", "run", "source", "participant_model")

PARTICIPANT_COLUMNS: tuple[Column, ...] = (
    Column("participant_id", "string", "The participant; a string, so 007 stays 007", "session"),
    Column("n_sessions", "Int64", "Sessions of the participant in this data set", "fact"),
    Column("n_runs", "Int64", "Runs of these sessions; one that was resumed has several", "fact"),
    Column("n_trials", "Int64", "Rows of the participant in the table of trials or turns", "fact"),
    Column(
        "source",
        "string",
        "Who answered; only human data say anything about people",
        "session",
        levels=(*column("source").levels, "several"),
    ),
    Column(
        "participant_model",
        "string",
        "The model that answered; several are joined by a comma",
        "session",
        null_when="source is not simulated",
    ),
    Column(
        "first_session_status",
        "string",
        "How the last run of the participant's first session ended; killed: its log just ends",
        "fact",
        levels=("completed", "quit", "failed", "killed"),
        null_when=_IMPORTED,
    ),
    Column(
        "n_sessions_completed",
        "Int64",
        "Sessions that were played to their end",
        "fact",
        null_when=_IMPORTED,
    ),
)


def participant_table(source: ExportSource) -> pd.DataFrame:
    """Return who took part, from the trials and from logs that hold none.

    Parameters
    ----------
    source : ExportSource
        With the captain's deck, participants are those who had the tongs.

    Returns
    -------
    DataFrame, one row per participant
        Exactly `PARTICIPANT_COLUMNS`, by ``participant_id``. A participant whose session ended
        before the first trial has ``n_trials`` 0. Several players at one table are a row each.
        No age, sex or handedness: a log does not ask for them.
    """
    main = source.main.frame
    key = "player_id" if source.main.name == "turns" else "participant_id"
    n_trials = main[key].value_counts()
    told = main[list(dict.fromkeys((key, *_TOLD)))].drop_duplicates()
    parts = {str(who): rows for who, rows in told.groupby(key, sort=True)}
    runs: dict[str, list[RunInfo]] = {}
    for run in source.runs:
        for player in run.players:
            runs.setdefault(player, []).append(run)
    rows = [
        _row(who, int(n_trials.get(who, 0)), parts.get(who, told.iloc[:0]), runs.get(who, []))
        for who in sorted(parts.keys() | runs.keys())
    ]
    types = {column.name: column.dtype for column in PARTICIPANT_COLUMNS}
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _row(who: str, n_trials: int, told: pd.DataFrame, runs: Sequence[RunInfo]) -> dict[str, object]:
    leaders = zip(told["participant_id"], told["session"], told["run"], strict=True)
    played = set(leaders) | {run.identity for run in runs}
    sources = sorted({*told["source"].dropna(), *(run.source for run in runs)})
    models = {*told["participant_model"].dropna()}
    models |= {run.participant_model for run in runs if run.participant_model is not None}
    ends = _session_ends(runs)
    return {
        "participant_id": who,
        "n_sessions": len({session for _leader, session, _run in played}),
        "n_runs": len({(session, run) for _leader, session, run in played}),
        "n_trials": n_trials,
        "source": sources[0] if len(sources) == 1 else "several",
        "participant_model": ", ".join(sorted(models)) or None,
        "first_session_status": ends[min(ends)] if ends else None,
        "n_sessions_completed": sum(e == "completed" for e in ends.values()) if ends else None,
    }


def _session_ends(runs: Sequence[RunInfo]) -> dict[int, str]:
    """Return how each session ended: the status of its last run."""
    return {run.session: run.status for run in sorted(runs, key=lambda run: run.run)}
