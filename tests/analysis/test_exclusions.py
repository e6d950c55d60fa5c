from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.exclusions import (
    audit,
    exclusion_steps,
    flag_exclusions,
    participants_left_out,
    total_flow,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.settings_files import validate_settings

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


# --- the steps that settings state --------------------------------------------------------------


def stating(*steps, **others):
    table = {"exclusions": list(steps), **others}
    return validate_settings(table, AnalysisSettings, where="analysis.toml")


def flagged_by(trials, *steps, **others):
    return flag_exclusions(trials, stating(*steps, **others))


def test_a_trial_after_an_error_of_its_block_is_flagged(make_trials):
    rows = [
        {"error_kind": "shape_capture"}, {}, {},
        {"error_kind": "late"}, {"error_kind": "late"}, {},
    ]  # fmt: skip
    flagged = flagged_by(make_trials(rows), {"step": "after_error"})
    # The second of two errors is no longer there to be taken out.
    assert flagged["exclude_after_error"].tolist() == [False, True, False, False, False, True]
    assert used_for_rt(flagged).tolist() == [False, False, True, False, False, False]
    assert used_for_accuracy(flagged).all()


@pytest.mark.parametrize("border", ["block_index", "run", "session", "participant_id"])
def test_an_error_does_not_reach_into_another_block_run_session_or_person(make_trials, border):
    first = {"error_kind": "shape_capture", "trial_in_block": 0}
    other = {"participant_id": "p2"} if border == "participant_id" else {border: 3}
    trials = make_trials([first, {"trial_in_block": 1} | other])
    assert not flagged_by(trials, {"step": "after_error"})["exclude_after_error"].any()


def test_an_error_in_an_excluded_trial_counts_as_the_trial_before(make_trials):
    rows = [{"error_kind": "early", "rt_s": -0.1}, {}]
    flagged = flagged_by(make_trials(rows), {"step": "after_error"}, skip_first_trials=1)
    assert flagged["exclude_after_error"].tolist() == [False, True]


def test_a_trial_whose_predecessor_is_not_there_follows_no_error(make_trials):
    rows = [{"trial_in_block": 0, "error_kind": "late"}, {"trial_in_block": 2}]
    flagged = flagged_by(make_trials(rows), {"step": "after_error"})
    assert not flagged["exclude_after_error"].any()


def test_first_trials_of_blocks_and_after_interruptions_follow_a_break(make_trials):
    rows = [
        {"trial_in_block": 0}, {"trial_in_block": 1}, {"trial_in_block": 2, "resumed": True},
        {"block_index": 1, "trial_in_block": 0, "resumed": None},
    ]  # fmt: skip
    flagged = flagged_by(make_trials(rows), {"step": "after_break"})
    assert flagged["exclude_after_break"].tolist() == [True, False, True, True]


def test_dropped_frames_are_counted_and_unknown_ones_are_none(make_trials):
    trials = make_trials({"n_dropped_frames": n} for n in (0, 1, 2, None))
    for max_n, expected in ((0, [False, True, True, False]), (1, [False, False, True, False])):
        flagged = flagged_by(trials, {"step": "dropped_frames", "max_n": max_n})
        assert flagged["exclude_dropped_frames"].tolist() == expected


OUTLIER = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.5, 0.51, 0.52, 0.53, 3.0]


@pytest.mark.parametrize(
    "step",
    [
        {"step": "sd", "n_sd": 3.0},
        {"step": "mad", "n_mad": 2.5},
        {"step": "van_selst_jolicoeur", "method": "nonrecursive"},
        {"step": "van_selst_jolicoeur"},
    ],
)
def test_trimming_flags_the_outlier_of_a_participants_cell(make_trials, step):
    rows = [{"rule": r, "rt_s": rt * (1 + (r != "direct"))} for rt in OUTLIER
            for r in ("direct", "exclusion")]  # fmt: skip
    flagged = flagged_by(make_trials(rows), step)
    expected = [False] * 22 + [True, True]
    assert flagged[f"exclude_{step['step']}"].tolist() == expected


def test_trimming_looks_only_at_rts_that_are_left(make_trials):
    late = [{"rt_s": 60.0}] * 3 + [{"rt_s": 50.0, "error_kind": "shape_capture"}] * 3
    flagged = flagged_by(make_trials([{"rt_s": rt} for rt in OUTLIER] + late), {"step": "sd"})
    assert flagged["exclude_sd"].tolist() == [False] * 11 + [True] + [False] * 6


def test_what_is_trimmed_together_is_what_the_settings_say(make_trials):
    # p2 is slower than p1; exclusion is slower than direct.
    def rt(person, rule, n):
        return (0.5 + 0.01 * n) * (1 if person == "p1" else 3) * (1 if rule == "direct" else 1.5)

    rows = [
        {"participant_id": p, "rule": r, "rt_s": rt(p, r, n)}
        for p, n_each in (("p1", 10), ("p2", 1))
        for r in ("direct", "exclusion")
        for n in range(n_each)
    ]
    trials = make_trials(rows)

    def n_flagged(within):
        step = {"step": "sd", "n_sd": 2.5, "within": within}
        flags = flagged_by(trials, step)["exclude_sd"]
        return flags.groupby(trials["participant_id"]).sum().to_dict()

    assert n_flagged("cell") == {"p1": 0, "p2": 2}
    assert n_flagged("participant") == n_flagged("participant_and_cell") == {"p1": 0, "p2": 0}


@pytest.mark.parametrize("within", ["participant", "cell", "participant_and_cell"])
def test_grab_and_shout_rts_are_never_trimmed_together(make_trials, within):
    rows = [{"mode": "grab", "rt_s": rt} for rt in OUTLIER[:-1]] + [{"mode": "shout", "rt_s": 3.0}]
    step = {"step": "sd", "n_sd": 2.0, "within": within}
    assert not flagged_by(make_trials(rows), step, cells=["rule"])["exclude_sd"].any()


def test_block_kinds_are_trimmed_apart_only_where_they_make_cells(make_trials):
    rows = [{"block_kind": "mixed", "rt_s": rt} for rt in OUTLIER[:-1]]
    rows.append({"block_kind": "pure", "rt_s": 3.0})
    trials = make_trials(rows)
    assert not flagged_by(trials, {"step": "sd"})["exclude_sd"].any()
    flagged = flagged_by(trials, {"step": "sd"}, cells=["rule", "mode"])
    assert flagged["exclude_sd"].tolist() == [False] * 11 + [True]


def test_steps_are_made_in_the_stated_order_and_second_ones_are_numbered(make_trials):
    rows = [{"rt_s": rt} for rt in (*OUTLIER, 9.0)]
    two = flagged_by(make_trials(rows), *[{"step": "sd", "n_sd": 3.0}] * 2)
    assert two["exclude_sd"].tolist() == [False] * 12 + [True]
    assert two["exclude_sd_2"].tolist() == [False] * 11 + [True, False]
    steps = exclusion_steps(stating({"step": "mad"}, {"step": "sd"}, {"step": "mad"}))
    assert [step.flag for step in steps[8:]] == ["exclude_mad", "exclude_sd", "exclude_mad_2"]
    assert [step.flag for step in steps[:8]] == [step.flag for step in exclusion_steps(DEFAULTS)]


def test_order_decides_what_a_step_sees(make_trials):
    rows = [{"rt_s": rt} for rt in OUTLIER]
    rows[0] |= {"trial_in_block": 0, "rt_s": 9.0}
    trim, breaks = {"step": "sd", "n_sd": 3.0}, {"step": "after_break"}
    first_breaks = flagged_by(make_trials(rows), breaks, trim)
    first_trim = flagged_by(make_trials(rows), trim, breaks)
    assert first_breaks["exclude_sd"].tolist() == [False] * 11 + [True]
    assert not first_trim["exclude_sd"].iloc[-1]


def test_every_stated_step_says_why_with_its_numbers():
    steps = exclusion_steps(
        stating(
            {"step": "after_error"}, {"step": "after_break"},
            {"step": "dropped_frames", "max_n": 2}, {"step": "dropped_frames"},
            {"step": "sd", "n_sd": 2.25}, {"step": "mad", "n_mad": 3.5, "within": "cell"},
            {"step": "van_selst_jolicoeur"},
            {"step": "participants", "min_p_correct": 0.8, "min_n_rt_per_cell": 15},
        )
    )[8:]  # fmt: skip
    assert [step.reason for step in steps] == [
        "the trial before it in its block was answered wrongly",
        "the first trial of its block, or the first after an interruption",
        "more than 2 frames were dropped while the card was shown",
        "a frame was dropped while the card was shown",
        "RT more than 2.25 SD from the mean of the participant's RTs in the cell",
        "RT more than 3.5 x 1.4826 MAD from the median of all participants' RTs in the cell",
        "RT beyond the modified recursive criterion of Van Selst and Jolicoeur (1994) for the "
        "participant's RTs in the cell",
        "of a participant with accuracy below 0.8 or fewer than 15 usable RTs in a cell",
    ]
    assert [step.scope for step in steps] == ["rt"] * 7 + ["all"]


# --- participants ---------------------------------------------------------------------------------


def people(make_trials, **n_wrong):
    """Ten trials of each participant, so many of them wrong."""
    return make_trials(
        {"participant_id": name, "error_kind": "shape_capture" if n < wrong else None}
        for name, wrong in n_wrong.items()
        for n in range(10)
    )


def left_out(trials, **limits):
    settings = stating({"step": "participants", **limits})
    flagged = flag_exclusions(trials, settings)
    out = set(trials["participant_id"][flagged["exclude_participant"]])
    assert flagged["exclude_participant"].equals(trials["participant_id"].isin(out).astype(bool))
    table = participants_left_out(flagged, settings)
    assert set(table["participant_id"]) == out
    return out, table


def test_a_participant_below_the_least_accuracy_is_taken_out_of_everything(make_trials):
    trials = people(make_trials, good=2, bad=3)
    settings = stating({"step": "participants", "min_p_correct": 0.8})
    flagged = flag_exclusions(trials, settings)
    assert used_for_accuracy(flagged).tolist() == [True] * 10 + [False] * 10
    assert used_for_rt(flagged).sum() == 8
    (row,) = participants_left_out(flagged, settings).to_dict("records")
    assert (row["step"], row["flag"], row["participant_id"]) == (9, "exclude_participant", "bad")
    assert (row["limit"], row["value"], row["threshold"]) == ("min_p_correct", 0.7, 0.8)
    assert pd.isna(row["cell"])
    assert row["reason"] == "accuracy of 0.7 is below 0.8"


def test_accuracy_is_of_each_rule_that_the_participant_met(make_trials):
    rows = [{"participant_id": "a", "rule": "direct"}] * 9 + [
        {"participant_id": "a", "rule": "exclusion", "error_kind": "late"},
        {"participant_id": "b", "rule": "direct"},
    ]
    out, table = left_out(make_trials(rows), min_p_correct_per_rule=0.5)
    assert out == {"a"}
    assert table["cell"].tolist() == ["exclusion"]
    assert table["reason"].tolist() == ["accuracy of 0 in exclusion trials is below 0.5"]


def test_missing_responses_are_a_share_of_the_analysed_trials(make_trials):
    rows = [{"participant_id": "a", "error_kind": "late" if n < 2 else None} for n in range(10)]
    rows += [{"participant_id": "b", "error_kind": "late", "phase": "practice"}] * 9
    rows += [{"participant_id": "b"}]
    assert left_out(make_trials(rows), max_p_no_response=0.2)[0] == set()
    assert left_out(make_trials(rows), max_p_no_response=0.19)[0] == {"a"}


def test_rts_are_counted_in_each_cell_that_anybody_has(make_trials):
    cells = [("direct", "grab")] * 3 + [("exclusion", "grab")] * 3
    rows = [{"participant_id": p, "rule": r, "mode": m} for p in "ab" for r, m in cells]
    rows += [{"participant_id": "a", "rule": "direct", "mode": "shout"}] * 3
    out, table = left_out(make_trials(rows), min_n_rt_per_cell=3)
    assert out == {"b"}
    assert table["cell"].tolist() == ["direct, shout"]
    assert table["value"].tolist() == [0.0]


def test_rts_are_counted_after_the_steps_before(make_trials):
    trials = make_trials({"rt_s": rt} for rt in OUTLIER)
    limits = {"step": "participants", "min_n_rt_per_cell": 12}
    assert flagged_by(trials, {"step": "sd"}, limits)["exclude_participant"].all()
    assert not flagged_by(trials, limits, {"step": "sd"})["exclude_participant"].any()


def test_a_participant_taken_out_is_not_counted_by_steps_after(make_trials):
    trials = people(make_trials, good=0, bad=9)
    flagged = flagged_by(
        trials,
        {"step": "participants", "min_p_correct": 0.5},
        {"step": "participants", "min_p_correct_per_rule": 0.5},
        {"step": "after_break"},
    )
    assert not flagged["exclude_participant_2"].any()
    assert flagged["exclude_after_break"].sum() == 1


def test_without_limits_or_misses_nobody_is_listed(make_trials):
    trials = people(make_trials, good=0)
    for chosen in (DEFAULTS, stating({"step": "participants", "min_p_correct": 0.5})):
        table = participants_left_out(flag_exclusions(trials, chosen), chosen)
        assert len(table) == 0
        assert table["value"].dtype == "Float64"


def test_flags_that_come_with_the_data_count_and_are_audited_first(make_trials):
    trials = make_trials([{"rt_s": 60.0}, {}, {}]).assign(exclude_yawned=[False, True, False])
    flagged = flag_exclusions(trials, DEFAULTS)
    assert used_for_rt(flagged).tolist() == [False, False, True]
    assert used_for_accuracy(flagged).all()
    flow = total_flow(audit(flagged, DEFAULTS))
    assert flow.loc[0, ["flag", "n_newly_excluded"]].tolist() == ["exclude_yawned", 1]
    assert flow["n_left"].iloc[-1] == 1


def test_flagging_again_replaces_the_flags(make_trials):
    trials = make_trials({"rt_s": rt} for rt in OUTLIER)
    again = flag_exclusions(flagged_by(trials, {"step": "sd"}, {"step": "sd"}), DEFAULTS)
    pd.testing.assert_frame_equal(again, flag_exclusions(trials, DEFAULTS))


EVERY_STEP = (
    {"step": "after_error"},
    {"step": "van_selst_jolicoeur", "within": "participant"},
    {"step": "participants", "min_p_correct": 0.4, "max_p_no_response": 0.5},
    {"step": "sd", "n_sd": 1.5, "within": "cell"},
    {"step": "after_break"},
    {"step": "mad", "n_mad": 2.0},
    {"step": "dropped_frames"},
)


def test_every_stated_step_meets_an_empty_table(make_trials):
    empty = make_trials([{}]).iloc[:0]
    settings = stating(*EVERY_STEP, {"step": "participants", "min_n_rt_per_cell": 3})
    flagged = flag_exclusions(empty, settings)
    assert len(audit(flagged, settings)) == len(participants_left_out(flagged, settings)) == 0


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    steps=st.permutations(EVERY_STEP),
    seed=st.integers(0, 9),
)
def test_stated_steps_take_what_is_left_in_any_order_of_rows(make_trials, rows, steps, seed):
    chosen = stating(*steps)
    trials = make_trials(rows)
    # Each trial has a place of its own in a block, as it has in data.
    trials["trial_in_block"] = pd.array(range(len(rows)), dtype="Int64")
    flagged = flag_exclusions(trials, chosen)
    gone = np.zeros(len(rows), dtype=bool)
    for step in exclusion_steps(chosen):
        hit = flagged[step.flag].to_numpy()
        if step.flag not in [s.flag for s in exclusion_steps(DEFAULTS)] and step.scope == "rt":
            assert not (hit & gone).any()
        gone |= hit
    assert (used_for_rt(flagged) == ~gone).all()
    assert not (used_for_rt(flagged) & ~used_for_accuracy(flagged)).any()
    order = np.random.default_rng(seed).permutation(len(rows))
    shuffled = flag_exclusions(trials.iloc[order], chosen)
    pd.testing.assert_frame_equal(shuffled.sort_index(), flagged)
    flow = total_flow(audit(flagged, chosen))
    assert flow["n_left"].iloc[-1] == used_for_rt(flagged).sum()
    assert flow["n_newly_excluded"].sum() + flow["n_left"].iloc[-1] == len(rows)
