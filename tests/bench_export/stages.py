"""The stages of a store, each timed in a process of its own, with the memory that it takes.

``python -m tests.bench_export.stages STAGE STORE N_PARTICIPANTS N_TRIALS SEED`` prints one line of
JSON. Stages: ``export`` (into a store that is not there yet), ``update`` (the same data set with
one participant more), ``read`` (all, compared with what was exported) and ``read_one``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ghostblitz_analysis.export.formats.parquet_store import add_tables, read_store
from ghostblitz_analysis.export.publication import Publication
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_analysis.tables import trial_frame
from ghostblitz_task.schema import COLUMNS
from tests.bench_analysis.simulated import simulated_columns
from tests.bench_analysis.stages import peak_mb

__all__ = ["STAGES", "simulated_source", "time_stage"]

#: In their order, with what each does.
STAGES = {
    "export": "write the trials of every participant into a new store",
    "update": "add one participant to it",
    "read": "read all of it back",
    "read_one": "read one participant",
}
_STUDY = "simulated-many-trials"


def simulated_source(
    n_participants: int, n_trials: int, seed: int, n_more: int = 0
) -> ExportSource:
    """Simulate a data set of a table only; `n_more` participants leave those before as they are."""
    rngs = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])
    columns = simulated_columns(rngs[0], n_participants=n_participants, n_trials=n_trials)
    if n_more:
        more = simulated_columns(rngs[1], n_participants=n_more, n_trials=n_trials)
        more["participant_id"] = [f"more-{name}" for name in more["participant_id"]]
        columns = {name: values + more[name] for name, values in columns.items()}
    n_rows = (n_participants + n_more) * n_trials
    columns |= {"source": ["simulated"] * n_rows, "participant_model": ["lognormal"] * n_rows}
    # As the schema has it: none in play.
    columns["rules"] = [""] * n_rows
    return ExportSource(
        path=Path(_STUDY),
        name=_STUDY,
        study_id=_STUDY,
        main=ExportTable("trials", trial_frame(columns, n_rows), COLUMNS),
        others=(),
        runs=(),
        sources=("simulated",),
        dataset=None,
        publication=Publication(),
        files={},
    )


def time_stage(
    stage: str, store: Path, n_participants: int, n_trials: int, seed: int
) -> dict[str, Any]:
    """Do one stage, and say how long it took and what was most memory.

    Raises
    ------
    AssertionError
        If what is read is not what was exported.
    """
    if stage in ("export", "update"):
        n_more = int(stage == "update")
        source = simulated_source(n_participants, n_trials, seed, n_more)
        begun_s = time.perf_counter()
        done = add_tables(source, store)
        seconds = time.perf_counter() - begun_s
        assert done.n_added == (n_more or n_participants), done
        return {"seconds": seconds, "peak_mb": peak_mb()}
    begun_s = time.perf_counter()
    found = read_store(store, participants=None if stage == "read" else ["simulated-00001"])
    seconds, peak = time.perf_counter() - begun_s, peak_mb()
    if stage == "read":
        expected = simulated_source(n_participants, n_trials, seed, n_more=1).main.frame
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    return {"seconds": seconds, "peak_mb": peak, "n_rows": len(found)}


if __name__ == "__main__":
    stage_, store_, *numbers = sys.argv[1:]
    print(json.dumps(time_stage(stage_, Path(store_), *map(int, numbers))))
