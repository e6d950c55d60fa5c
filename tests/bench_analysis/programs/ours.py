"""Our side of the comparisons; called as the peers are."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import ghostblitz_task
from ghostblitz_analysis.inference.anova_tables import anova_table
from ghostblitz_analysis.measures import cell_measures
from ghostblitz_analysis.reliability import (
    code_trials,
    difference_score,
    split_half_reliability,
)
from ghostblitz_analysis.settings import AnalysisSettings

Figures = list[float]


def descriptives(folder: Path, n_splits: int) -> Callable[[], Figures]:
    """Measure every participant's cells; that counts answers and errors too."""
    flagged = pd.read_pickle(folder / "flagged.pickle")

    def work() -> Figures:
        table = cell_measures(flagged, factors=("rule", "block_kind"))
        names = ("n_rt", "mean_rt_s", "median_rt_s", "sd_rt_s")
        return [float(table[name].sum()) for name in names]

    return work


def anova(folder: Path, n_splits: int) -> Callable[[], Figures]:
    """Analyse participants' mean RTs; that also tests sphericity and corrects for it."""
    cells = pd.read_csv(folder / "cells.csv", dtype={"participant_id": "string"})
    settings = AnalysisSettings(measures=("mean_rt_s",))

    def work() -> Figures:
        table = anova_table(cells, factors=("rule", "block_kind"), settings=settings)
        return [float(f) for f in table["f"]]

    return work


def split_half(folder: Path, n_splits: int) -> Callable[[], Figures]:
    """Split the trials of a few hundred participants; that also finds intervals."""
    flagged = pd.read_pickle(folder / "few-flagged.pickle")
    settings = AnalysisSettings.model_validate(
        {"measures": ["mean_rt_s"], "reliability": {"n_splits": n_splits, "seed": 1}}
    )

    def work() -> Figures:
        coded = code_trials(flagged, factors=("rule",))
        scores = difference_score(coded, of="rule", level="exclusion", reference="direct")
        table = split_half_reliability(coded, scores=scores, settings=settings).reliability
        return [float(table["r"].iloc[0])]

    return work


TASKS = {"descriptives": descriptives, "anova": anova, "split_half": split_half}


def main() -> None:
    """Do a task once, then so many times more, timed; print the result."""
    task, folder, n_times, n_splits = sys.argv[1:]
    work = TASKS[task](Path(folder), int(n_splits))
    figures: Any = None if task == "split_half" else work()
    seconds = []
    for _ in range(int(n_times)):
        begun_s = time.perf_counter()
        figures = work()
        seconds.append(time.perf_counter() - begun_s)
    result = {"seconds": seconds, "figures": figures, "n_splits": int(n_splits)}
    print(json.dumps(result | {"version": ghostblitz_task.__version__}))


if __name__ == "__main__":
    main()
