"""Findings about RTs: those that bounds take, those that stand for something else, copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.rt_checks import usable_rts
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.validation import Finding, validate_dataset


def codes(dataset: Dataset) -> dict[str, Finding]:
    return {f.code: f for f in validate_dataset(dataset)}


@pytest.fixture
def data(make_log, tmp_path) -> Callable[..., Dataset]:
    """A data set of two people with two blocks of 20 trials, some RTs of the first replaced."""

    def run(rts: Sequence[float | None] = (), **settings: object) -> Dataset:
        if not (tmp_path / "data").exists():
            make_log("a", trials=range(40), blocks=[20, 20])
            make_log("b", trials=range(40), blocks=[20, 20], rt_s=lambda i: 0.7 + 0.0119 * i)
            (tmp_path / "data" / "analysis.toml").write_text("")
        dataset = load_dataset(tmp_path / "data")
        trials = dataset.trials.copy()
        values = trials["rt_s"].tolist()
        values[: len(rts)] = [v if r is None else r for r, v in zip(rts, values, strict=False)]
        trials["rt_s"] = pd.array(values, dtype="Float64")
        analysis = AnalysisSettings.model_validate(settings)
        return dataclasses.replace(dataset, trials=trials, analysis=analysis)

    return run


def test_sound_data_have_no_finding(data):
    assert codes(data()) == {}


def test_usable_rts_are_those_that_the_exclusions_keep(make_log, tmp_path):
    rng = np.random.default_rng(7)
    make_log(trials=range(60), blocks=[30, 30], wrong=range(0, 60, 7),
             rt_s=lambda i: None if i % 11 == 0 else float(rng.uniform(-0.5, 3.0)))  # fmt: skip
    trials = load_dataset(tmp_path / "data").trials
    trials.loc[5:8, "rt_s"] = [0.0, 0.2, 2.0, 0.1999]
    for bounds in (BoundsSettings(min_rt_s=0.2, max_rt_s=2.0), BoundsSettings(min_rt_s=0.0)):
        settings = AnalysisSettings(bounds=bounds, skip_first_trials=3)
        expected = used_for_rt(flag_exclusions(trials, settings))
        assert usable_rts(trials, settings).tolist() == expected.tolist()
        assert 0 < expected.sum() < len(trials)


def test_cell_with_enough_correct_trials_but_few_within_bounds_has_few(data):
    assert "few_trials" not in codes(data())
    found = codes(data([25.0] * 32))["few_trials"]
    assert found.where == "a"
    assert "usable RTs" in found.message


@pytest.mark.parametrize(("n_lost", "is_said"), [(4, False), (5, True)])
def test_more_than_a_tenth_of_rts_beyond_the_bounds_is_a_warning(data, n_lost, is_said):
    # Spread over both blocks, at most a tenth of each.
    lost = [12.0 + i if i % 10 == 0 else None for i in range(40)]
    lost = lost if n_lost == 4 else [12.0, *lost[:10], 13.0, 14.0, *lost[10:]][:40]
    found = codes(data(lost))
    assert ("many_rts_out_of_bounds" in found) == is_said
    if is_said:
        assert found["many_rts_out_of_bounds"].where == "a"
        assert found["many_rts_out_of_bounds"].severity == "warning"


def test_participant_who_loses_every_rt_is_an_error(data):
    found = codes(data([0.1 + 0.001 * i for i in range(40)]))
    assert found["no_rt_within_bounds"].severity == "error"
    assert found["no_rt_within_bounds"].where == "a"
    assert "no_rt_of_block_within_bounds" not in found


def test_block_that_loses_its_rts_is_named(data):
    found = codes(data([11.0 + i for i in range(20)]))
    assert found["no_rt_of_block_within_bounds"].where == "a session 1 block 1"
    assert found["no_rt_of_block_within_bounds"].severity == "error"


def test_block_that_loses_more_than_a_tenth_is_named_where_its_participant_is_not(data):
    found = codes(data([11.0, 12.0, 13.0]))
    assert "many_rts_out_of_bounds" not in found
    assert found["many_rts_of_block_out_of_bounds"].where == "a session 1 block 1"
    assert "(15%)" in found["many_rts_of_block_out_of_bounds"].message


def test_bounds_that_take_every_rt_are_one_error(data):
    found = codes(data(bounds={"min_rt_s": 5.0}))
    assert "not one of 80 correct RTs" in found["all_rts_out_of_bounds"].message
    assert "no_rt_within_bounds" not in found


def test_bounds_in_milliseconds_are_an_error(data):
    found = codes(data(bounds={"min_rt_s": 200.0, "max_rt_s": 10000.0}))
    assert found["bounds_in_ms"].severity == "error"
    assert "200 s, which looks like milliseconds" in found["bounds_in_ms"].message


def test_skipping_every_trial_is_an_error(data):
    assert codes(data(skip_first_trials=20))["all_trials_skipped"].severity == "error"
    assert "all_trials_skipped" not in codes(data(skip_first_trials=19))


def test_rts_of_zero_are_noted(data):
    found = codes(data([0.0, None, 1e-300]))["zero_rts"]
    assert (found.severity, found.where) == ("info", "a")
    assert "2 RTs are 0 s" in found.message


def test_repeated_extreme_rt_is_noted(data):
    found = codes(data([999.999] * 3))["repeated_extreme_rt"]
    assert found.severity == "info"
    assert "3 RTs are exactly 999.999 s" in found.message
    assert "repeated_extreme_rt" not in codes(data([999.999, 998.0, 997.0]))


def test_session_under_another_number_is_a_copy(make_log, tmp_path):
    make_log("a", trials=range(12))
    make_log("a", trials=range(12), session=2)
    found = codes(load_dataset(tmp_path / "data"))
    assert found["same_session_twice"].where == "a session 1; a session 2"
    assert found["same_session_twice"].severity == "error"
    assert "same_block_twice" not in found


def test_block_of_the_same_rts_is_a_copy(data):
    own = [0.6 + 0.0137 * i for i in range(20)]
    found = codes(data(own + own))
    assert found["same_block_twice"].where == "a session 1 block 1; a session 1 block 2"
    assert "same_session_twice" not in found


def test_constant_rts_are_no_copies(make_log, tmp_path):
    make_log("a", trials=range(24), blocks=[12, 12], rt_s=lambda _: 0.512345)
    found = codes(load_dataset(tmp_path / "data"))
    assert "identical_rts" in found
    assert "same_block_twice" not in found


def test_own_colours_that_change_within_a_session_are_a_warning(data):
    dataset = data()
    trials = dataset.trials.copy()
    before = trials["item_colours"].iloc[0]
    pairs = before.split()
    trials.loc[3, "item_colours"] = " ".join(reversed(pairs))  # The same mapping.
    assert codes(dataclasses.replace(dataset, trials=trials)) == {}
    after = before.replace("ghost:white chair:red", "ghost:red chair:white")
    trials.loc[4, "item_colours"] = after
    found = codes(dataclasses.replace(dataset, trials=trials))["item_colours_change"]
    assert found.where == "a"
    assert f"from {before} to {after}" in found.message


def test_default_analysis_settings_are_noted(make_log, tmp_path):
    make_log()
    found = codes(load_dataset(tmp_path / "data"))["default_analysis"]
    assert found.severity == "info"
