"""The bench of the store does what it says, on few participants."""

from __future__ import annotations

import pandas as pd
import pytest

from ghostblitz_analysis.export.formats.parquet_store import read_store
from tests.bench_export.__main__ import verdict
from tests.bench_export.stages import STAGES, simulated_source, time_stage


def test_stages_follow_one_another(tmp_path):
    store = tmp_path / "store"
    found = {stage: time_stage(stage, store, 3, 8, 1) for stage in STAGES}
    assert all(each["seconds"] > 0 for each in found.values())
    assert (found["read"]["n_rows"], found["read_one"]["n_rows"]) == (32, 8)
    assert set(read_store(store)["source"]) == {"simulated"}


def test_reading_something_else_fails(tmp_path):
    store = tmp_path / "store"
    for stage in ("export", "update"):
        time_stage(stage, store, 3, 8, 1)
    with pytest.raises(AssertionError):
        time_stage("read", store, 3, 8, 2)


def test_more_participants_leave_those_before_as_they_are():
    few, more = simulated_source(2, 8, 1).main.frame, simulated_source(2, 8, 1, 1).main.frame
    pd.testing.assert_frame_equal(more.iloc[:16], few)
    assert more["participant_id"].nunique() == 3


def stages(export_s: float, read_s: float) -> dict[str, dict[str, float]]:
    return {"export": {"seconds": export_s}, "read": {"seconds": read_s}}


@pytest.mark.parametrize(
    ("participants", "seconds", "words"),
    [
        (10_000, (29.0, 30.5), "in 59.5 s; the goal is 60 s: met"),
        (10_000, (30.0, 30.0), "in 60.0 s; the goal is 60 s: missed"),
        (9_999, (1.0, 1.0), "so this was no measurement"),
    ],
)
def test_verdict_counts_export_and_reading(participants, seconds, words):
    found = {"participants": participants, "trials": 300, "stages": stages(*seconds)}
    assert words in verdict(found)
