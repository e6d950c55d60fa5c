from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.exclusions import (
    audit,
    exclusion_steps,
    flag_exclusions,
    total_flow,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings

DEFAULTS = AnalysisSettings()


def test_bounds_themselves_are_kept(make_trials):
    rts = [0.199, 0.2, 10.0, 10.001]
    flagged = flag_exclusions(make_trials({"rt_s": rt} for rt in rts), DEFAULTS)
    assert flagged["exclude_too_fast"].tolist() == [True, False, False, False]
    assert flagged["exclude_too_slow"].tolist() == [False, False, False, True]
    assert used_for_rt(flagged).tolist() == [False, True, True, False]


def test_an_rt_of_zero_is_too_fast_whatever_the_bound(make_trials):
    bounds = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0))
    flagged = flag_exclusions(make_trials([{"rt_s": 0.0}, {"rt_s": 0.001}]), bounds)
    assert flagged["exclude_too_fast"].tolist() == [True, False]


def test_first_trials_are_counted_from_zero_in_each_block(make_trials):
    rows = [{"block_index": b, "trial_in_block": t} for b in (0, 1) for t in range(4)]
    flagged = flag_exclusions(make_trials(rows), AnalysisSettings(skip_first_trials=2))
    assert flagged["exclude_first_trials"].tolist() == [True, True, False, False] * 2


def test_no_first_trial_is_skipped_by_default(make_trials):
    assert not flag_exclusions(make_trials([{}]), DEFAULTS)["exclude_first_trials"].any()


def test_a_timeout_has_no_rt_and_meets_no_bound(make_trials):
    flagged = flag_exclusions(make_trials([{"error_kind": "late"}]), DEFAULTS)
    row = flagged.iloc[0]
    assert (row["exclude_no_rt"], row["exclude_error"]) == (True, True)
    assert (row["exclude_too_fast"], row["exclude_too_slow"]) == (False, False)


def test_an_early_press_is_flagged_as_early_too_fast_and_wrong(make_trials):
    flagged = flag_exclusions(make_trials([{"error_kind": "early", "rt_s": -0.1}]), DEFAULTS)
    hit = [name for name in flagged if name.startswith("exclude_") and flagged[name].iloc[0]]
    assert hit == ["exclude_early", "exclude_error", "exclude_too_fast"]


def test_practice_counts_for_nothing_but_errors_count_for_accuracy(make_trials):
    rows = [{"phase": "practice"}, {"error_kind": "shape_capture"}, {}]
    flagged = flag_exclusions(make_trials(rows), DEFAULTS)
    assert used_for_accuracy(flagged).tolist() == [False, True, True]
    assert used_for_rt(flagged).tolist() == [False, False, True]


def test_practice_is_analysed_where_the_settings_say_so(make_trials):
    settings_both = AnalysisSettings(phases=("practice", "test"))
    flagged = flag_exclusions(make_trials([{"phase": "practice"}, {}]), settings_both)
    assert used_for_rt(flagged).tolist() == [True, True]


def test_nothing_is_dropped_and_the_table_given_is_left_alone(make_trials):
    trials = make_trials([{"rt_s": 0.01}, {"phase": "practice"}, {"error_kind": "late"}])
    before = trials.copy(deep=True)
    flagged = flag_exclusions(trials, DEFAULTS)
    pd.testing.assert_frame_equal(trials, before)
    pd.testing.assert_frame_equal(flagged[trials.columns], before)
    flags = [step.flag for step in exclusion_steps(DEFAULTS)]
    assert list(flagged.columns) == [*trials.columns, *flags]
    assert all(flagged[flag].dtype == bool for flag in flags)


def test_an_empty_table_gives_empty_flags(make_trials):
    flagged = flag_exclusions(make_trials([{}]).iloc[:0], DEFAULTS)
    assert len(flagged) == 0
    assert not used_for_rt(flagged).any()


def test_flags_do_not_depend_on_the_index(make_trials):
    trials = make_trials([{"rt_s": 0.1}, {"rt_s": 0.5}]).set_index(pd.Index([7, 7]))
    assert flag_exclusions(trials, DEFAULTS)["exclude_too_fast"].tolist() == [True, False]


def test_the_audit_counts_each_trial_once_as_newly_excluded(make_trials):
    rows = [
        {"trial_in_block": 0, "error_kind": "shape_capture"},
        {"trial_in_block": 5, "error_kind": "shape_capture"},
        {"trial_in_block": 6, "rt_s": 11.0},
        {"trial_in_block": 7},
    ]
    chosen = AnalysisSettings(skip_first_trials=1)
    flow = total_flow(audit(flag_exclusions(make_trials(rows), chosen), chosen))
    by_flag = flow.set_index("flag")
    assert by_flag.loc["exclude_first_trials", "n_newly_excluded"] == 1
    assert by_flag.loc["exclude_error", "n_flagged"] == 2
    assert by_flag.loc["exclude_error", "n_newly_excluded"] == 1
    assert by_flag.loc["exclude_too_slow", "n_left"] == 1


def test_the_audit_names_participant_rule_order_and_reason(make_trials):
    rows = [{"participant_id": p, "rule": r} for p in ("01", "1") for r in ("direct", "exclusion")]
    table = audit(flag_exclusions(make_trials(rows), DEFAULTS), DEFAULTS)
    assert len(table) == len(exclusion_steps(DEFAULTS)) * 4
    assert table["step"].tolist() == sorted(table["step"])
    assert set(table["participant_id"]) == {"01", "1"}
    reasons = dict(zip(table["flag"], table["reason"], strict=True))
    assert reasons["exclude_too_fast"] == "RT below 0.2 s"
    assert reasons["exclude_too_slow"] == "RT above 10 s"


ROW = st.fixed_dictionaries(
    {
        "participant_id": st.sampled_from(["a", "b"]),
        "rule": st.sampled_from(["direct", "exclusion"]),
        "phase": st.sampled_from(["practice", "test"]),
        "trial_in_block": st.integers(0, 5),
        "rt_s": st.floats(-1, 20),
        "error_kind": st.sampled_from([None, None, "early", "late", "shape_capture"]),
    }
)


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(ROW, min_size=1, max_size=25), n_first=st.integers(0, 3))
def test_what_the_audit_leaves_is_what_counts_for_rt(make_trials, rows, n_first):
    chosen = AnalysisSettings(skip_first_trials=n_first)
    flagged = flag_exclusions(make_trials(rows), chosen)
    table = audit(flagged, chosen)
    flow = total_flow(table)
    assert flow["n_left"].iloc[-1] == used_for_rt(flagged).sum()
    assert flow["n_newly_excluded"].sum() + flow["n_left"].iloc[-1] == len(rows)
    assert (table["n_newly_excluded"] <= table["n_flagged"]).all()
    assert flow["n_left"].is_monotonic_decreasing


@pytest.mark.parametrize("flag", [step.flag for step in exclusion_steps(DEFAULTS)])
def test_every_step_says_why(flag):
    step = next(s for s in exclusion_steps(DEFAULTS) if s.flag == flag)
    assert step.reason
    assert step.scope == ("all" if flag in ("exclude_phase", "exclude_recycled") else "rt")


def test_cards_that_came_again_count_for_nothing_and_unknown_ones_for_all(make_trials):
    rows = [{"recycled": True}, {"recycled": False}, {"recycled": None}]
    flagged = flag_exclusions(make_trials(rows), DEFAULTS)
    assert flagged["exclude_recycled"].tolist() == [True, False, False]
    assert used_for_accuracy(flagged).tolist() == [False, True, True]
    assert used_for_rt(flagged).tolist() == [False, True, True]
