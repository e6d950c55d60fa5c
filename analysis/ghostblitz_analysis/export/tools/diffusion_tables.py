"""Trials for diffusion models: HSSM, HDDM and PyDDM.

The games have more than two answers, so the two boundaries can only be right and wrong (accuracy
coding). What the programs want of columns and units is in their own documents: HSSM's data
validator (no missing or negative ``rt``, ``response`` 1 or -1), HDDM's "How to code subject
responses" (``response`` 1 or 0, ``subj_idx``) and PyDDM's `Sample.from_pandas_dataframe` (no
missing values, every further column is a condition).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ghostblitz_analysis.distributions.results import answered
from ghostblitz_analysis.exclusions import exclusion_steps, flag_exclusions
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    ToolTable,
    read_csv_table,
    readme_text,
    write_csv_table,
    write_dictionary,
)
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column, column

__all__ = [
    "AnsweredTrials",
    "answered_trials",
    "read_hddm",
    "read_hssm",
    "read_pyddm",
    "write_hddm",
    "write_hssm",
    "write_pyddm",
]

_CONDITIONS = ("rule", "block_kind", "mode")
_PLACES = ("session", "trial_index")
_PARTICIPANT = column("participant_id")
_RT = "From the card to the first response; above 0"


@dataclass(frozen=True, eq=False)
class AnsweredTrials:
    """The trials that a diffusion model can use.

    Attributes
    ----------
    frame : DataFrame, one row per trial
        ``participant_id``, ``rt_s``, ``correct``, the conditions, ``session``, ``trial_index``,
        ``source``; nothing is missing.
    columns : tuple of Column
        What each means.
    n_trials : int
        Trials of the data set.
    left_out : tuple of (str, int)
        Reason and number of trials, in the order of the exclusion steps; they add up to what is
        left out.
    incomplete : tuple of str
        Conditions that are missing in some of the trials, and so are no columns.
    """

    frame: pd.DataFrame
    columns: tuple[Column, ...]
    n_trials: int
    left_out: tuple[tuple[str, int], ...]
    incomplete: tuple[str, ...]


def answered_trials(source: ExportSource, program: str) -> AnsweredTrials:
    """Pick the trials with an answer, right or wrong, whose RT counts.

    These are the trials of the analysed phases and participants with an RT within the bounds.
    Steps that look at correct RTs alone, such as trimming by SD, are not made: they would cut
    the RTs of one boundary only.

    Raises
    ------
    DatasetError
        If the game has no RTs of right and wrong answers, or no trial is left.
    """
    if source.dataset is None:
        raise DatasetError(
            f"{program} wants RTs of right and wrong answers, which the turns of {source.name} do "
            "not have; export as csv, r, spss or excel instead"
        )
    flagged = flag_exclusions(source.dataset.trials, source.dataset.analysis)
    kept = answered(flagged)
    if not kept.any():
        raise DatasetError(
            f"{source.name}: no trial of {len(flagged)} has an RT that counts, so there is nothing "
            f"for {program}"
        )
    steps = exclusion_steps(source.dataset.analysis)
    left_out, gone = [], np.zeros(len(flagged), dtype=bool)
    for step in steps:
        if answered(pd.DataFrame({step.flag: [True]}))[0]:
            continue  # It looks at correct RTs alone.
        hit = flagged[step.flag].to_numpy(dtype=bool) & ~gone
        gone |= hit
        if hit.any():
            left_out.append((step.reason, int(hit.sum())))
    factors = [c for c in source.main.columns if c.name.startswith("factor_")]
    conditions = [*(column(name) for name in _CONDITIONS), *factors]
    used = flagged[kept].reset_index(drop=True)
    complete = [c for c in conditions if not used[c.name].isna().any()]
    places = [column(name) for name in (*_PLACES, "source")]
    columns = (_PARTICIPANT, column("rt_s"), column("correct"), *complete, *places)
    return AnsweredTrials(
        frame=used[[c.name for c in columns]],
        columns=columns,
        n_trials=len(flagged),
        left_out=tuple(left_out),
        incomplete=tuple(c.name for c in conditions if c not in complete),
    )


def write_hssm(source: ExportSource, folder: Path) -> None:
    """Write ``data/hssm.csv``: ``rt`` in seconds, ``response`` 1 (right) or -1 (wrong).

    Raises
    ------
    DatasetError
        As `answered_trials`.
    """
    trials = answered_trials(source, "HSSM")
    coded = trials.frame["correct"].map({True: 1, False: -1}).astype("Int64")
    new = {
        "participant_id": (_PARTICIPANT, trials.frame["participant_id"]),
        "rt": (Column("rt", "Float64", _RT, "derived", "s"), trials.frame["rt_s"]),
        "response": (Column("response", "Int64", "1 right, -1 wrong", "derived"), coded),
    }
    load = (
        'data = pd.read_csv("hssm.csv", dtype={"participant_id": str}, keep_default_na=False)',
        'model = hssm.HSSM(data=data, model="ddm", choices=[-1, 1], include=[{',
        '    "name": "v", "formula": "v ~ 1 + rule + (1 | participant_id)"}])',
    )
    coding = "`response` is 1 for a right answer (upper boundary) and -1 for a wrong one (lower)."
    _write(source, folder, trials, _table("hssm", trials, new), "HSSM", coding, load)


def write_hddm(source: ExportSource, folder: Path) -> None:
    """Write ``data/hddm.csv``: ``subj_idx``, ``rt`` in seconds, ``response`` 1 or 0.

    Participants are numbered in ``subj_idx``, as HDDM's reader would take ids such as 01 and 1 for
    the same number; the ids stand beside it.

    Raises
    ------
    DatasetError
        As `answered_trials`.
    """
    trials = answered_trials(source, "HDDM")
    codes, _ = pd.factorize(trials.frame["participant_id"].astype(object), sort=True)
    number = Column("subj_idx", "Int64", "Number of the participant, from 0", "derived")
    new = {
        "subj_idx": (number, pd.Series(pd.array(codes, dtype="Int64"))),
        "rt": (Column("rt", "Float64", _RT, "derived", "s"), trials.frame["rt_s"]),
        "response": (
            Column("response", "Int64", "1 right, 0 wrong", "derived"),
            trials.frame["correct"].astype("Int64"),
        ),
        "participant_id": (_PARTICIPANT, trials.frame["participant_id"]),
    }
    load = (
        'data = hddm.load_csv("hddm.csv", dtype={"participant_id": str}, keep_default_na=False)',
        'model = hddm.HDDM(data, depends_on={"v": "rule"}, p_outlier=0.05)',
    )
    coding = (
        "`response` is 1 for a right answer (upper boundary) and 0 for a wrong one (lower): "
        "accuracy coding, so no starting-point bias can be estimated. `subj_idx` numbers the "
        "participants; `participant_id` holds their ids."
    )
    _write(source, folder, trials, _table("hddm", trials, new), "HDDM", coding, load)


def write_pyddm(source: ExportSource, folder: Path) -> None:
    """Write ``data/pyddm.csv``: ``RT`` in seconds, ``correct`` 1 or 0, then conditions.

    Raises
    ------
    DatasetError
        As `answered_trials`.
    """
    trials = answered_trials(source, "PyDDM")
    new = {
        "RT": (Column("RT", "Float64", _RT, "derived", "s"), trials.frame["rt_s"]),
        "correct": (
            Column("correct", "Int64", "1 right, 0 wrong", "derived"),
            trials.frame["correct"].astype("Int64"),
        ),
        "participant_id": (_PARTICIPANT, trials.frame["participant_id"]),
    }
    load = (
        'data = pd.read_csv("pyddm.csv", dtype={"participant_id": str}, keep_default_na=False)',
        "sample = pyddm.Sample.from_pandas_dataframe(",
        '    data, rt_column_name="RT", choice_column_name="correct")',
    )
    coding = (
        "`correct` is 1 for a right answer (upper boundary) and 0 for a wrong one (lower). All "
        "other columns are conditions. Trials without an answer are not in the table; give their "
        "number as `undecided` if the model is to account for them."
    )
    _write(source, folder, trials, _table("pyddm", trials, new), "PyDDM", coding, load)


def read_hssm(folder: Path) -> pd.DataFrame:
    """Read the table that `write_hssm` wrote, with its types."""
    return read_csv_table(folder, "hssm")


def read_hddm(folder: Path) -> pd.DataFrame:
    """Read the table that `write_hddm` wrote, with its types."""
    return read_csv_table(folder, "hddm")


def read_pyddm(folder: Path) -> pd.DataFrame:
    """Read the table that `write_pyddm` wrote, with its types."""
    return read_csv_table(folder, "pyddm")


def _table(
    name: str, trials: AnsweredTrials, new: Mapping[str, tuple[Column, pd.Series]]
) -> ToolTable:
    """Put a program's own columns first, then the conditions."""
    rest = [c for c in trials.columns if c.name not in ("rt_s", "correct", "participant_id")]
    columns = (*(c for c, _ in new.values()), *rest)
    frame = pd.DataFrame({title: values for title, (_, values) in new.items()})
    return ToolTable(name, frame.join(trials.frame[[c.name for c in rest]]), columns)


def _write(
    source: ExportSource,
    folder: Path,
    trials: AnsweredTrials,
    table: ToolTable,
    program: str,
    coding: str,
    load: Sequence[str],
) -> None:
    write_csv_table(folder, table)
    write_dictionary(folder, [table])
    kept = len(trials.frame)
    lines = [
        f"`{table.name}.csv` holds {kept} of {trials.n_trials} trials; `columns.csv` says what its "
        "columns mean.",
        "",
        "Left out, in this order:",
        "",
        *([f"- {n}: {reason}" for reason, n in trials.left_out] or ["- none"]),
        "",
        "Trimming of correct RTs and exclusions after errors are not made, since they would cut "
        "the RTs of one boundary only; let the model account for outliers. All trials are in "
        f"`{Layout().source}`.",
        "",
        f"RTs are in seconds. {coding} The games have more than two answers, so the boundaries "
        "are right and wrong, and the parameters describe speed and accuracy. Grab and shout "
        "trials (`mode`) have RTs of different kinds: model them apart.",
        *(
            ["", f"No columns, as they are missing in some trials: {', '.join(trials.incomplete)}."]
            if trials.incomplete
            else []
        ),
        "",
        "```python",
        *load,
        "```",
    ]
    text = readme_text(source, f"{source.title} for {program}", lines)
    write_text(folder, f"{DATA_FOLDER}/README-{table.name}.md", text)
    write_common(source, folder, Layout())
