"""What pandas, pingouin and statsmodels do for the same work; run by their own Python."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

Figures = list[float]


def pandas_descriptives(folder: Path) -> Callable[[], Figures]:
    table = pd.read_csv(folder / "rts.csv", dtype={"participant_id": str})
    keys = ["participant_id", "rule", "block_kind"]

    def work() -> Figures:
        found = table.groupby(keys)["rt_s"].agg(["size", "mean", "median", "std"])
        return [float(value) for value in found.sum()]

    return work


def pingouin_anova(folder: Path) -> Callable[[], Figures]:
    import pingouin

    cells = pd.read_csv(folder / "cells.csv", dtype={"participant_id": str})
    within = ["rule", "block_kind"]

    def work() -> Figures:
        table = pingouin.rm_anova(
            cells, dv="mean_rt_s", within=within, subject="participant_id", detailed=True
        )
        return [float(f) for f in table["F"].dropna()]

    return work


def statsmodels_anova(folder: Path) -> Callable[[], Figures]:
    from statsmodels.stats.anova import AnovaRM

    cells = pd.read_csv(folder / "cells.csv", dtype={"participant_id": str})

    def work() -> Figures:
        model = AnovaRM(cells, "mean_rt_s", "participant_id", within=["rule", "block_kind"])
        return [float(f) for f in model.fit().anova_table["F Value"]]

    return work


TASKS = {
    ("pandas", "descriptives"): pandas_descriptives,
    ("pingouin", "anova"): pingouin_anova,
    ("statsmodels", "anova"): statsmodels_anova,
}


def main() -> None:
    """Do a task once, then so many times more, timed; print the result."""
    peer, task, folder, n_times, _ = sys.argv[1:]
    work = TASKS[peer, task](Path(folder))
    figures = work()
    seconds = []
    for _ in range(int(n_times)):
        begun_s = time.perf_counter()
        figures = work()
        seconds.append(time.perf_counter() - begun_s)
    version = importlib.import_module(peer).__version__
    print(json.dumps({"seconds": seconds, "figures": figures, "version": version}))


if __name__ == "__main__":
    main()
