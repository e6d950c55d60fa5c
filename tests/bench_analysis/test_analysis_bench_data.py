"""The simulated data of the bench are what they say, and load as imported data do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.validation import validate_dataset
from tests.bench_analysis.data import write_tables
from tests.bench_analysis.simulated import simulated_columns, write_simulated
from tests.bench_analysis.stages import STAGES, time_stages


def test_simulated_data_load_without_a_finding(tmp_path):
    write_simulated(tmp_path / "many", n_participants=6, n_trials=200, seed=3)
    dataset = load_dataset(tmp_path / "many")
    assert dataset.name == "simulated-many-trials"
    assert len(dataset.trials) == 1200
    assert validate_dataset(dataset) == ()
    blocks = dataset.trials.groupby("block_index")["block_type"].unique()
    assert [list(kinds) for kinds in blocks] == [["direct"], ["exclusion"], ["mixed"], ["mixed"]]
    assert dataset.trials["error_kind"].notna().mean() == pytest.approx(0.06, abs=0.03)


def test_simulated_rule_effect_is_there():
    columns = simulated_columns(np.random.default_rng(4), n_participants=40, n_trials=80)
    table = pd.DataFrame({name: columns[name] for name in ("rule", "rt_s")})
    means = np.log(table["rt_s"]).groupby(table["rule"]).mean()
    assert means["exclusion"] - means["direct"] == pytest.approx(0.4, abs=0.06)


def test_same_seed_gives_the_same_trials():
    one, two = (
        simulated_columns(np.random.default_rng(5), n_participants=2, n_trials=8) for _ in range(2)
    )
    assert one == two


def test_trials_that_make_no_blocks_are_refused():
    with pytest.raises(ValueError, match="n_trials is 10, but has to be a multiple of 4"):
        simulated_columns(np.random.default_rng(1), n_participants=1, n_trials=10)


def test_stages_are_timed_one_by_one(tmp_path):
    write_simulated(tmp_path / "many", n_participants=3, n_trials=40, seed=1)
    found = time_stages(tmp_path / "many")
    assert list(found["seconds"]) == list(STAGES)
    assert (found["n_trials"], found["n_participants"], found["n_cells"]) == (120, 3, 4)


def test_tables_of_the_comparisons_hold_the_usable_trials(tmp_path):
    write_simulated(tmp_path / "many", n_participants=5, n_trials=40, seed=1)
    write_tables(tmp_path / "many", tmp_path, n_few=3)
    rts, few = (pd.read_csv(tmp_path / name) for name in ("rts.csv", "few-rts.csv"))
    assert rts["participant_id"].nunique() == 5
    assert few.equals(rts[rts["participant_id"].isin(few["participant_id"])])
    assert few["participant_id"].nunique() == 3
    cells = pd.read_csv(tmp_path / "cells.csv")
    assert len(cells) == 12
    expected = few.groupby(["participant_id", "rule", "block_kind"])["rt_s"].mean()
    found = cells.set_index(["participant_id", "rule", "block_kind"])["mean_rt_s"]
    pd.testing.assert_series_equal(found.sort_index(), expected, check_names=False)
