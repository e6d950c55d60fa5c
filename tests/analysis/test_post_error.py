"""Post-error slowing and accuracy on sequences made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.sequences import group_effects, participant_effects, sequence_results
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings

SETTINGS = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))

#: Right (c) and wrong (e) answers to direct (D) and exclusion (E) cards, with RTs in seconds.
SEQUENCE = (
    ("D", "c", 0.8), ("D", "e", 0.5), ("D", "c", 1.0), ("E", "c", 2.0), ("E", "e", 0.7),
    ("D", "c", 1.1), ("E", "c", 1.8), ("E", "e", 0.9), ("E", "c", 2.6), ("D", "e", 0.6),
    ("D", "e", 0.4), ("D", "c", 0.9), ("D", "c", 0.7),
)  # fmt: skip


def played(make_trials, sequence=SEQUENCE, **others):
    return make_trials(
        {
            "rule": {"D": "direct", "E": "exclusion"}[rule],
            "rt_s": rt_s,
            "error_kind": "shape_capture" if answer == "e" else None,
        }
        | others
        for rule, answer, rt_s in sequence
    )


def effects(trials, *, min_trials=1):
    flagged = flag_exclusions(trials, SETTINGS)
    factors = cell_factors(flagged, SETTINGS)
    return participant_effects(flagged, factors=factors, min_trials=min_trials)


def row_of(measured, effect, rule=None):
    table = measured.effects[measured.effects["effect"] == effect]
    chosen = table[table["rule"].isna() if rule is None else table["rule"] == rule]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_traditional_slowing_compares_what_follows_errors_with_what_follows_correct(make_trials):
    row = row_of(effects(played(make_trials)), "post_error_traditional")
    after_error, after_correct = [1.0, 1.1, 2.6, 0.9], [2.0, 1.8, 0.7]
    assert (row["n_condition"], row["n_reference"]) == (4, 3)
    expected = np.mean(after_error) - np.mean(after_correct)
    assert row["difference_s"] == pytest.approx(expected)
    logs = np.mean(np.log(after_error)) - np.mean(np.log(after_correct))
    assert row["difference_log"] == pytest.approx(logs)


def test_post_error_accuracy_counts_errors_after_errors_and_after_correct(make_trials):
    row = row_of(effects(played(make_trials)), "post_error_traditional")
    assert (row["n_trials_condition"], row["n_trials_reference"]) == (5, 7)
    assert row["p_error_condition"] == pytest.approx(1 / 5)
    assert row["p_error_reference"] == pytest.approx(4 / 7)


def test_robust_slowing_compares_the_trials_around_each_error(make_trials):
    row = row_of(effects(played(make_trials)), "post_error_robust")
    after, before = np.array([1.0, 1.1, 2.6]), np.array([0.8, 2.0, 1.8])
    assert row["n_condition"] == row["n_reference"] == 3
    assert row["difference_s"] == pytest.approx((after - before).mean())
    assert row["difference_log"] == pytest.approx(np.log(after / before).mean())
    assert row[["n_trials_condition", "p_error_condition"]].isna().all()


def test_robust_slowing_of_one_rule_leaves_pairs_of_two_rules_out(make_trials):
    measured = effects(played(make_trials))
    row = row_of(measured, "post_error_robust_same_rule")
    assert row["n_condition"] == 2
    assert row["difference_s"] == pytest.approx(((1.0 - 0.8) + (2.6 - 1.8)) / 2)
    left_out = measured.exclusions.set_index(["effect", "reason"])["n_excluded"]
    reason = "its rule is not that of the one before the error"
    # Beside that pair, the error after an error that follows a card of the other rule.
    assert left_out["post_error_robust_same_rule", reason] == 2


def test_slowing_per_rule_is_of_the_rule_after_the_error(make_trials):
    measured = effects(played(make_trials))
    robust = row_of(measured, "post_error_robust", "direct")
    assert robust["difference_s"] == pytest.approx(((1.0 - 0.8) + (1.1 - 2.0)) / 2)
    traditional = row_of(measured, "post_error_traditional", "exclusion")
    assert traditional["difference_s"] == pytest.approx(2.6 - (2.0 + 1.8) / 2)


def test_pairs_do_not_reach_over_the_edge_of_a_block(make_trials):
    trials = played(make_trials).assign(block_index=[0] * 2 + [1] * 11)
    row = row_of(effects(trials), "post_error_robust")
    assert row["n_condition"] == 2
    assert row["difference_s"] == pytest.approx(((1.1 - 2.0) + (2.6 - 1.8)) / 2)


def test_pairs_of_two_modes_are_left_out(make_trials):
    sequence = (("D", "c", 0.8), ("D", "e", 0.5), ("D", "c", 1.0)) * 4
    trials = played(make_trials, sequence)
    modes = ["grab", "grab", "shout"] * 2 + ["shout"] * 6
    trials = trials.assign(mode=np.array(modes, dtype=object)).astype({"mode": "string"})
    table = effects(trials).effects.set_index(["effect", "mode"])
    assert table.loc[("post_error_robust", "grab"), "n_condition"] == 0
    assert table.loc[("post_error_robust", "shout"), "n_condition"] == 2
    assert table.loc[("post_error_robust", "shout"), "difference_s"] == pytest.approx(0.2)


def test_trimmed_trials_make_no_pair(make_trials):
    trials = played(make_trials)
    settings = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0.9, max_rt_s=10))
    flagged = flag_exclusions(trials, settings)
    measured = participant_effects(flagged, factors=("rule",), min_trials=1)
    assert row_of(measured, "post_error_robust")["n_condition"] == 2


def test_drift_over_the_session_fools_the_traditional_measure_only(make_trials):
    # People slow down and err more towards the end; errors do nothing by themselves.
    rng = np.random.default_rng(2)
    n = 4000
    wrong = rng.random(n) < np.linspace(0.02, 0.4, n)
    rt_s = np.linspace(0.5, 1.5, n)
    sequence = [("D", "e" if e else "c", float(t)) for e, t in zip(wrong, rt_s, strict=True)]
    measured = effects(played(make_trials, sequence))
    assert row_of(measured, "post_error_traditional")["difference_s"] > 0.1
    assert abs(row_of(measured, "post_error_robust")["difference_s"]) < 0.001


def test_errors_of_the_slow_rule_fool_the_measure_that_is_not_matched(make_trials):
    # Only exclusion is missed, blocks are pure, and errors do nothing.
    sequence = [("D", "c", 0.8)] * 30 + [("E", "c", 2.0), ("E", "e", 2.0), ("E", "c", 2.0)] * 10
    trials = played(make_trials, sequence)
    trials = trials.assign(block_index=[0] * 30 + [1] * 30)
    measured = effects(trials)
    assert row_of(measured, "post_error_traditional")["difference_s"] > 0.5
    matched = row_of(measured, "post_error_traditional_matched")
    assert matched["difference_s"] == pytest.approx(0.0, abs=1e-12)
    assert matched["n_unmatched_reference"] == 29
    group = group_effects(measured, confidence=0.95).set_index("effect")
    note = group.loc["post_error_traditional", "note"]
    assert note.str.contains("do not hold rules apart").all()


def test_without_errors_there_is_nothing_to_compare(make_trials):
    trials = played(make_trials, [("D", "c", 0.8)] * 20)
    measured = effects(trials, min_trials=5)
    row = row_of(measured, "post_error_traditional")
    assert (row["n_condition"], row["n_reference"], row["n_unmatched_reference"]) == (0, 0, 19)
    assert row["note"] == "no RTs of both kinds to be compared (0 and 19)"
    assert row[["difference_s", "p_error_difference"]].isna().all()


def with_exclusions(exclusions, **others):
    steps = [{"step": step} if isinstance(step, str) else step for step in exclusions]
    table = {"exclusions": steps, "bounds": {"min_rt_s": 0, "max_rt_s": 1e6}}
    return AnalysisSettings.model_validate(table | others)


def slowing(trials, settings):
    """Post-error measures, and then all other effects, of each participant."""
    table = sequence_results(
        flag_exclusions(trials, settings), factors=("rule",), settings=settings
    ).tables["sequence_participant_effects"]
    after_errors = table["effect"].str.startswith("post_error")
    return tuple(table[rows].reset_index(drop=True) for rows in (after_errors, ~after_errors))


def with_outliers(draw_trials):
    rng = np.random.default_rng(5)
    trials = draw_trials(rng, n_participants=6, n_per_cell=60, p_error=0.15)
    far = rng.random(len(trials)) < 0.05
    return trials.assign(rt_s=trials["rt_s"].where(~far, trials["rt_s"] * 6))


@pytest.mark.slow
def test_trials_after_errors_that_a_study_leaves_out_are_measured_here(make_trials):
    trials = played(make_trials)
    settings = with_exclusions(["after_error"])
    flagged = flag_exclusions(trials, settings)
    found = participant_effects(flagged, factors=("rule",), settings=settings, min_trials=1)
    for effect in ("post_error_traditional", "post_error_robust"):
        expected = row_of(effects(trials), effect)["difference_s"]
        assert row_of(found, effect)["difference_s"] == pytest.approx(expected)
    as_flagged = participant_effects(flagged, factors=("rule",), min_trials=1)
    assert row_of(as_flagged, "post_error_traditional")["n_condition"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("trim", ["sd", "mad", "van_selst_jolicoeur"])
def test_slowing_does_not_depend_on_where_trials_after_errors_are_left_out(draw_trials, trim):
    trials = with_outliers(draw_trials)
    expected, _ = slowing(trials, with_exclusions([trim]))
    for steps in (["after_error", trim], [trim, "after_error"]):
        found, _ = slowing(trials, with_exclusions(steps))
        pd.testing.assert_frame_equal(found, expected)


@pytest.mark.slow
def test_participants_that_a_study_leaves_out_have_no_slowing_either(draw_trials):
    trials = with_outliers(draw_trials)
    flagged = flag_exclusions(trials, with_exclusions(["after_error"]))
    usable = flagged[used_for_rt(flagged)].groupby(["participant_id", "rule"]).size()
    fewest = usable.groupby("participant_id").min()
    # With their trials after errors, those with the fewest have enough.
    limits = {"step": "participants", "min_n_rt_per_cell": int(fewest.min()) + 1}
    settings = with_exclusions(["after_error", limits, "sd"])
    found, costs = slowing(trials, settings)
    people = set(trials["participant_id"]) - set(fewest.index[fewest == fewest.min()])
    assert set(found["participant_id"]) == set(costs["participant_id"]) == people


def test_a_column_of_the_data_that_leaves_trials_after_errors_out_counts(make_trials):
    trials = played(make_trials, SEQUENCE * 2)
    mine = (~trials["correct"]).shift(fill_value=False).to_numpy(dtype=bool)
    trials = trials.assign(exclude_after_error_mine=mine)
    settings = with_exclusions(["after_error"])
    flagged = flag_exclusions(trials, settings)
    found = participant_effects(flagged, factors=("rule",), settings=settings, min_trials=1)
    assert row_of(found, "post_error_traditional")["n_condition"] == 0
