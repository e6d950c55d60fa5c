from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.distributions import distribution_results
from ghostblitz_analysis.distributions.results import answered
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.settings import AnalysisSettings

DEFAULTS = AnalysisSettings()


def results_of(trials, settings=DEFAULTS):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    return distribution_results(flagged, factors=factors, settings=settings)


@pytest.fixture(scope="module")
def seed():
    return 1


def test_all_tables_have_names_that_begin_with_rt(draw_trials, seed):
    trials = draw_trials(np.random.default_rng(seed), n_participants=3, n_per_cell=45, p_error=0.1)
    tables = results_of(trials).tables
    assert len(tables) == 14
    for stem, table in tables.items():
        assert stem.startswith("rt_")
        assert not table.empty
        kinds = {str(kind) for kind in table.dtypes}
        assert kinds <= {"string", "Int64", "Float64", "boolean"}, stem
        numbers = table.select_dtypes("number").to_numpy(dtype="float64", na_value=np.nan)
        assert not np.isinf(numbers).any()


@pytest.mark.slow
def test_measures_agree_with_those_of_the_cells(draw_trials, seed):
    trials = draw_trials(
        np.random.default_rng(seed),
        n_participants=4,
        n_per_cell=12,
        p_error=0.2,
        modes=("grab", "shout"),
        block_kinds=("pure", "mixed"),
    )
    flagged = flag_exclusions(trials, DEFAULTS)
    factors = cell_factors(flagged, DEFAULTS)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    found = distribution_results(flagged, factors=factors, settings=DEFAULTS).participants
    shared_columns = ["participant_id", *factors, "n_trials", "n_correct", "p_correct", "n_rt"]
    shared_columns += ["mean_rt_s", "median_rt_s", "geometric_mean_rt_s", "sd_rt_s"]
    pd.testing.assert_frame_equal(found[shared_columns], cells[shared_columns], rtol=1e-12)


def test_grab_and_shout_rts_are_never_pooled(make_trials):
    rows = [
        {"participant_id": p, "mode": mode, "rule": rule, "rt_s": 0.5 + 3.0 * (mode == "shout")}
        for p in "ab"
        for mode in ("grab", "shout")
        for rule in ("direct", "exclusion")
        for _ in range(6)
    ]
    results = results_of(make_trials(rows))
    for stem, table in results.tables.items():
        assert "mode" in table.columns, stem
    means = results.groups[results.groups["measure"] == "mean_rt_s"]
    assert means["mean"].tolist() == [0.5, 0.5, 3.5, 3.5]
    assert set(results.group_quantiles["quantile_s"]) == {0.5, 3.5}
    assert set(results.group_caf["mean_rt_s"]) == {0.5, 3.5}


def test_conditional_accuracy_takes_wrong_answers_within_the_bounds(make_trials):
    rows = [{"rt_s": 0.5}, {"rt_s": 0.6, "error_kind": "shape_capture"}]
    rows += [{"rt_s": 0.1, "error_kind": "shape_capture"}, {"error_kind": "late"}, {"rt_s": 20.0}]
    rows += [{"rt_s": -0.1, "error_kind": "early"}, {"rt_s": 0.7, "phase": "practice"}]
    trials = make_trials(rows)
    assert answered(flag_exclusions(trials, DEFAULTS)).tolist() == [True, True] + [False] * 5
    results = results_of(trials)
    assert results.participant_caf["n_trials"].sum() == 2
    row = results.participants.iloc[0]
    assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (6, 2, 1)


@pytest.mark.parametrize("flag", ["exclude_sd", "exclude_mad_2", "exclude_van_selst_jolicoeur"])
def test_trims_among_right_answers_do_not_cut_conditional_accuracy(make_trials, flag):
    flagged = flag_exclusions(make_trials([{"rt_s": 0.5}, {"rt_s": 0.6}]), DEFAULTS)
    flagged = flagged.assign(**{flag: [False, True]})
    assert answered(flagged).tolist() == [True, True]


def test_answers_after_errors_count_for_conditional_accuracy_whether_right_or_wrong(make_trials):
    kinds = ["rule_confusion", None, "rule_confusion", "rule_confusion", None, None]
    trials = make_trials([{"error_kind": kind} for kind in kinds])
    settings = AnalysisSettings.model_validate({"exclusions": [{"step": "after_error"}]})
    flagged = flag_exclusions(trials, settings)
    assert flagged["exclude_after_error"].tolist() == [False, True, False, False, True, False]
    assert answered(flagged).all()


def test_rules_are_compared_with_direct_and_who_lacks_one_is_named(make_trials):
    rows = [
        {"participant_id": p, "rule": rule, "rt_s": rt + 0.4 * (rule == "exclusion")}
        for p in ("01", "1", "NA")
        for rule in ("direct", "exclusion")
        for rt in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
        if (p, rule) != ("NA", "exclusion")
    ]
    results = results_of(make_trials(rows))
    assert results.participant_delta["participant_id"].unique().tolist() == ["01", "1", "NA"]
    group = results.group_delta
    assert group["contrast"].unique().tolist() == ["exclusion - direct"]
    assert group["difference_s"].tolist() == pytest.approx([0.4] * 5)
    for table in (group, results.group_delta_slopes, results.group_caf_differences):
        assert [json.loads(text) for text in table["left_out"]] == [["NA"]] * len(table)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        [{}],
        [{}, {"rule": "exclusion"}],
        [{"rt_s": 0.8}] * 60,
        [{"error_kind": "shape_capture"}] * 4,
        [{"error_kind": "late"}] * 4,
        [{"rule": "exclusion"}] * 3,
        [{"participant_id": p, "rt_s": 0.8} for p in ("01", "1", "NA")],
        [{"error_kind": "early", "rt_s": -0.1}] * 2,
        [{"rt_s": 88.0}] * 3,
    ],
)
def test_degenerate_data_give_rows_with_missing_values_and_notes(make_trials, rows):
    results = results_of(make_trials(rows))
    for stem, table in results.tables.items():
        numbers = table.select_dtypes("number").to_numpy(dtype="float64", na_value=np.nan)
        assert not np.isinf(numbers).any(), stem
    people = results.participants
    assert (people["note"] != "").tolist() == people["sd_rt_s"].isna().tolist()
    fits = results.participant_ex_gaussian
    assert fits["mu_s"].isna().all()
    assert (fits["note"] != "").all()


def test_bounds_can_let_rts_of_88_s_in(make_trials):
    settings = AnalysisSettings.model_validate({"bounds": {"min_rt_s": 0.2, "max_rt_s": 100.0}})
    rts = [*np.linspace(0.5, 1.5, 50), 88.0]
    results = results_of(make_trials({"rt_s": float(rt)} for rt in rts), settings)
    row = results.participants.iloc[0]
    assert (row["n_rt"], row["median_rt_s"]) == (51, pytest.approx(1.0102, abs=1e-3))
    assert results.participant_ex_gaussian["converged"].iloc[0]


def test_without_analysed_trials_there_are_no_results(make_trials):
    flagged = flag_exclusions(make_trials([{"phase": "practice"}]), DEFAULTS)
    assert distribution_results(flagged, factors=("rule",), settings=DEFAULTS) is None


def test_the_table_of_trials_is_not_changed(draw_trials, seed):
    trials = draw_trials(np.random.default_rng(seed), n_participants=2, n_per_cell=8)
    flagged = flag_exclusions(trials, DEFAULTS)
    before = flagged.copy()
    distribution_results(flagged, factors=("rule",), settings=DEFAULTS)
    pd.testing.assert_frame_equal(flagged, before)


@pytest.mark.slow
def test_the_confidence_is_that_of_the_settings(draw_trials, seed):
    trials = draw_trials(np.random.default_rng(seed), n_participants=5, n_per_cell=8)
    wide = results_of(trials).groups
    narrow = results_of(trials, AnalysisSettings(confidence=0.8)).groups
    rts = wide["measure"] == "mean_rt_s"
    assert (narrow.loc[rts, "low"] > wide.loc[rts, "low"]).all()
