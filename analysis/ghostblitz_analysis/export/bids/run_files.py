"""How a table is parted into the runs of BIDS: names of files, columns, and the order of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.export.bids.labels import task_label
from ghostblitz_analysis.export.source import ExportTable
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.captain.study_settings import GAME as CAPTAIN
from ghostblitz_task.schema import COLUMNS, Column

__all__ = [
    "ID",
    "ORIGINAL_ID",
    "RESPONSE_TIME",
    "ROW",
    "SCHEMAS",
    "STIMULUS",
    "TIME_COLUMNS",
    "RunFile",
    "bids_columns",
    "is_in_order",
    "part_into_runs",
    "row_order",
]

#: Not in the tables of runs: folder and file names say whose they are.
ID = "participant_id"
#: The column of `participants.tsv` that has each participant's own id.
ORIGINAL_ID = "original_id"
RESPONSE_TIME = "response_time"
#: What BIDS calls `RESPONSE_TIME`, by table.
TIME_COLUMNS: Mapping[str, str] = {"trials": "rt_s", "turns": "pick_rt_s"}
SCHEMAS: Mapping[str, tuple[Column, ...]] = {
    "trials": COLUMNS,
    "turns": TURN_COLUMNS,
    "games": GAME_COLUMNS,
}
#: Where a table's rows stand in no order that their numbers give.
ROW = Column("table_row", "Int64", "Row of the whole table, from 0", "design")
STIMULUS = Column(
    "stim_file",
    "string",
    "Drawing of the card, below stimuli",
    "design",
    null_when="the card cannot be drawn",
)
_ORDER: Mapping[str, tuple[str, ...]] = {
    "trials": (ID, "session", "trial_index"),
    "turns": (ID, "session", "run", "block_index", "turn_index"),
    "games": (ID, "session", "run", "block_index"),
}
_NAME = re.compile(
    r"(?:sub-(?P<sub>[0-9A-Za-z]+)/ses-(?P<ses>\d+)/beh/)"
    r"sub-(?P=sub)_ses-(?P=ses)_task-(?P<task>[0-9A-Za-z]+)_run-(?P<run>\d+)"
    r"(?:_desc-(?P<desc>[0-9A-Za-z]+))?_(?P<suffix>beh|events)\.tsv"
)


@dataclass(frozen=True, slots=True)
class RunFile:
    """The name of a run's table.

    Attributes
    ----------
    label : str
        The participant's.
    session, run : int
    task : str
        The task's label.
    description : str or None
        What was made of the table, in derivatives.
    suffix : str
        ``beh``, or ``events``.
    """

    label: str
    session: int
    task: str
    run: int
    description: str | None = None
    suffix: str = "beh"

    def path(self, extension: str = "tsv") -> str:
        """Return where the file stands, relative and with ``/``."""
        subject, session = f"sub-{self.label}", f"ses-{self.session:02d}"
        described = f"_desc-{self.description}" if self.description else ""
        return (
            f"{subject}/{session}/beh/{subject}_{session}_task-{self.task}_run-{self.run:02d}"
            f"{described}_{self.suffix}.{extension}"
        )

    def sidecar(self) -> str:
        """Return the JSON file at the top that describes all tables of the task."""
        described = f"_desc-{self.description}" if self.description else ""
        return f"task-{self.task}{described}_{self.suffix}.json"

    @classmethod
    def parse(cls, path: str) -> RunFile | None:
        """Read a relative path; None for any other file."""
        match = _NAME.fullmatch(path)
        if match is None:
            return None
        return cls(
            match["sub"], int(match["ses"]), match["task"], int(match["run"]), match["desc"],
            match["suffix"],
        )  # fmt: skip


def bids_columns(table: ExportTable) -> list[tuple[str, Column]]:
    """Return the columns that are written: name in the table, and the column as BIDS has it."""
    renamed = TIME_COLUMNS.get(table.name)
    return [
        (c.name, replace(c, name=RESPONSE_TIME) if c.name == renamed else c)
        for c in table.columns
        if c.name != ID
    ]


def row_order(name: str, frame: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return the places of a table's rows by participant, session and number."""
    keys = frame[list(_ORDER[name])].reset_index(drop=True)
    ordered = keys.sort_values(list(keys.columns), kind="stable")
    return ordered.index.to_numpy(dtype=np.int64)


def is_in_order(table: ExportTable) -> bool:
    """Say whether participant, session and number give the order of the rows."""
    order = row_order(table.name, table.frame)
    return bool(np.array_equal(order, np.arange(len(order))))


def part_into_runs(
    table: ExportTable, labels: Mapping[str, str]
) -> Iterator[tuple[RunFile, str, npt.NDArray[np.int64]]]:
    """Yield each run's file, the name of its task, and the places of its rows."""
    frame = table.frame
    games: Any = frame["game"] if "game" in frame.columns else CAPTAIN
    keys = frame[[ID, "session", "run"]].assign(task=games)
    grouped = keys.groupby([ID, "session", "run", "task"], sort=False, observed=True)
    for key, places in grouped.indices.items():
        participant, session, run, game = cast("tuple[str, int, int, str]", key)
        file = RunFile(labels[participant], int(session), task_label(game), int(run))
        yield file, game, np.asarray(places, dtype=np.int64)
