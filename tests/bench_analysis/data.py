"""The tables that the comparisons work on, cut from a simulated data set, once for all programs.

``python -m tests.bench_analysis.data DATASET FOLDER N_FEW`` writes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.measures import cell_measures

__all__ = ["write_tables"]

_COLUMNS = ["participant_id", "rule", "block_kind", "rt_s"]


def write_tables(dataset: Path, folder: Path, *, n_few: int) -> None:
    """Write the trials of all participants and of the first few, and the cells of the latter.

    The pickles are what our own functions take; the CSV files hold what is left for the RT measures
    after the exclusions.
    """
    loaded = load_dataset(dataset)
    flagged = flag_exclusions(loaded.trials, loaded.analysis)
    flagged.to_pickle(folder / "flagged.pickle")
    flagged.loc[used_for_rt(flagged), _COLUMNS].to_csv(folder / "rts.csv", index=False)
    people = flagged["participant_id"].drop_duplicates().iloc[:n_few]
    few = flagged[flagged["participant_id"].isin(people)]
    few.to_pickle(folder / "few-flagged.pickle")
    few.loc[used_for_rt(few), _COLUMNS].to_csv(folder / "few-rts.csv", index=False)
    cells = cell_measures(few, factors=("rule", "block_kind"))
    cells[["participant_id", "rule", "block_kind", "mean_rt_s"]].to_csv(
        folder / "cells.csv", index=False
    )


if __name__ == "__main__":
    write_tables(Path(sys.argv[1]), Path(sys.argv[2]), n_few=int(sys.argv[3]))
