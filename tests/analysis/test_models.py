from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis import results
from ghostblitz_analysis.intervals import (
    cousineau_morey,
    exponentiated,
    mean_interval,
    of_proportions,
)
from ghostblitz_analysis.measures import chance_shares
from ghostblitz_analysis.models import error_totals, group_cells, rule_contrasts
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.errors import DatasetError

#: What these tests look at; the other parts have tests of their own.
analyze_trials = partial(results.analyze_trials, parts=("cells",))

WIDE = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000))


def rows_of(person: str, rule: str, rts: list[float]) -> list[dict[str, object]]:
    return [{"participant_id": person, "rule": rule, "rt_s": rt} for rt in rts]


def test_an_interval_is_students():
    x = np.array([0.2, 0.5, 0.1, 0.9, 0.4])
    result = mean_interval(x, confidence=0.9)
    low, high = stats.t.interval(0.9, 4, loc=x.mean(), scale=stats.sem(x))
    test = stats.ttest_1samp(x, 0)
    assert (result.low, result.high) == (pytest.approx(low), pytest.approx(high))
    assert (result.t, result.p, result.df) == (
        pytest.approx(test.statistic),
        pytest.approx(test.pvalue),
        4,
    )
    assert result.dz == pytest.approx(test.statistic / np.sqrt(5))


def test_one_value_has_no_interval_and_says_why():
    result = mean_interval([0.3], confidence=0.95)
    assert result.mean == 0.3
    assert np.isnan([result.low, result.high, result.t, result.p, result.dz]).all()
    assert result.note == "one participant, so no interval"


def test_no_value_has_no_mean_and_says_why():
    result = mean_interval([], confidence=0.95)
    assert (result.n, result.note) == (0, "no participant")
    assert np.isnan(result.mean)


def test_equal_values_have_no_test_and_say_why():
    result = mean_interval([0.1 + 0.2, 0.3, 0.3], confidence=0.95)
    assert (result.low, result.high) == (result.mean, result.mean)
    assert np.isnan([result.t, result.dz, result.p]).all()
    assert "same value" in result.note


def test_equal_proportions_are_not_known_for_certain():
    equal = of_proportions(mean_interval([0.25] * 4, confidence=0.95))
    assert (equal.mean, equal.n, equal.sd) == (0.25, 4, 0)
    assert np.isnan([equal.low, equal.high, equal.t, equal.p, equal.dz]).all()
    assert equal.note == "all participants have the same value, so neither interval nor test"
    for values in ([0.25, 0.5], [0.25], []):
        result = mean_interval(values, confidence=0.95)
        assert repr(of_proportions(result)) == repr(result)


def test_exponentials_of_an_interval_are_its_bounds_as_ratios():
    found = exponentiated(0.5, -1.0, 2.0)
    assert (found.mean, found.low, found.high) == pytest.approx(np.exp([0.5, -1.0, 2.0]))
    assert found.note == ""
    one = exponentiated(0.5, np.nan, np.nan)
    assert one.mean == pytest.approx(np.exp(0.5))
    assert np.isnan([one.low, one.high]).all()
    assert one.note == ""


@pytest.mark.parametrize(("low", "high"), [(-1.0, 800.0), (-800.0, 1.0), (-800.0, 800.0)])
def test_an_interval_whose_exponential_no_number_holds_is_missing_and_says_why(low, high):
    found = exponentiated(0.5, low, high)
    assert found.mean == pytest.approx(np.exp(0.5))
    assert np.isnan([found.low, found.high]).all()
    assert found.note == "the interval is too wide for floating-point numbers"
    none = exponentiated(800.0, low, high)
    assert np.isnan([none.mean, none.low, none.high]).all()


def test_two_participants_at_the_highest_confidence_give_no_infinity(make_trials):
    rts = {"a": (0.5, 0.9), "b": (1.0, 3.0)}
    rows = [row for p, (d, e) in rts.items() for row in rows_of(p, "direct", [d] * 2)
            + rows_of(p, "exclusion", [e] * 2)]  # fmt: skip
    settings = WIDE.model_copy(update={"confidence": 0.9999})
    results = analyze_trials(make_trials(rows), settings)
    for table in (results.group_cells, results.contrasts):
        numbers = table.select_dtypes("Float64").to_numpy("float64", na_value=np.nan)
        assert not np.isinf(numbers).any()
    assert results.contrasts["rt_ratio"].notna().all()
    assert results.contrasts[["rt_ratio_low", "rt_ratio_high"]].isna().all(axis=None)
    assert results.contrasts["note"].str.contains("too wide").all()
    cells = results.group_cells
    assert cells["geometric_mean_rt_s"].notna().all()
    assert cells["geometric_mean_rt_high_s"].isna().all()
    assert cells["geometric_mean_within_rt_s"].notna().all()
    assert cells["note"].str.contains("too wide").all()


def test_within_intervals_of_two_conditions_rest_on_the_differences_alone():
    # With two conditions each interval's SE is the SE of the difference / sqrt(2).
    x = np.random.default_rng(1).normal(size=(12, 2)) * [1, 2] + [0, 1]
    se, half_width = cousineau_morey(x, confidence=0.95)
    expected = stats.sem(x[:, 1] - x[:, 0]) / np.sqrt(2)
    assert se == pytest.approx([expected, expected])
    assert half_width == pytest.approx(se * stats.t.ppf(0.975, 11))


def test_within_intervals_ignore_how_fast_participants_are():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(8, 4))
    shifted = x + rng.normal(scale=100, size=(8, 1))
    assert cousineau_morey(shifted, confidence=0.95)[0] == pytest.approx(
        cousineau_morey(x, confidence=0.95)[0]
    )


@pytest.mark.parametrize("shape", [(1, 3), (0, 3), (5, 1)])
def test_within_intervals_need_two_participants_and_two_conditions(shape):
    se, half_width = cousineau_morey(np.ones(shape), confidence=0.95)
    assert se.shape == half_width.shape == (shape[1],)
    assert np.isnan(se).all()


def test_group_means_give_every_participant_the_same_weight(make_trials):
    trials = make_trials([*rows_of("a", "direct", [1.0] * 9), *rows_of("b", "direct", [4.0])])
    cell = analyze_trials(trials, WIDE).group_cells.iloc[0]
    assert cell["geometric_mean_rt_s"] == pytest.approx(2.0)
    assert cell["mean_rt_s"] == cell["median_rt_s"] == pytest.approx(2.5)
    log_rt = np.log([1.0, 4.0])
    low, high = stats.t.interval(0.95, 1, loc=log_rt.mean(), scale=stats.sem(log_rt))
    assert cell["geometric_mean_rt_low_s"] == pytest.approx(np.exp(low))
    assert cell["geometric_mean_rt_high_s"] == pytest.approx(np.exp(high))


def test_pooled_accuracy_weighs_trials_and_the_mean_weighs_participants(make_trials):
    rows = [{"participant_id": "a"}] * 9
    rows += [{"participant_id": "b", "error_kind": "late"}]
    cell = analyze_trials(make_trials(rows), WIDE).group_cells.iloc[0]
    assert cell["p_correct"] == pytest.approx(0.9)
    assert cell["p_correct_participants"] == pytest.approx(0.5)
    assert (cell["p_correct_low"], cell["p_correct_high"]) == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, "late"])
def test_equal_accuracies_have_no_interval_and_say_why(make_trials, kind):
    rows = [{"participant_id": p, "error_kind": kind} for p in "abc"]
    cell = analyze_trials(make_trials(rows), WIDE).group_cells.iloc[0]
    assert cell["p_correct_participants"] == (kind is None)
    assert (cell["p_correct_low"], cell["p_correct_high"]) == (pd.NA, pd.NA)
    assert cell["p_correct_note"] == "all participants have the same accuracy, so no interval"


@pytest.mark.slow
def test_within_intervals_of_a_mode_are_those_of_its_trials_alone(draw_trials):
    trials = draw_trials(
        np.random.default_rng(8), n_participants=6, n_per_cell=5, modes=("grab", "shout"),
        effect_sd=0.3,
    )  # fmt: skip
    columns = ["geometric_mean_within_rt_low_s", "geometric_mean_within_rt_high_s", "n_within"]
    both = analyze_trials(trials, WIDE).group_cells.set_index("mode")
    for mode in ("grab", "shout"):
        alone = analyze_trials(trials[trials["mode"] == mode], WIDE).group_cells
        expected = alone[columns].to_numpy(dtype=float)
        assert both.loc[mode, columns].to_numpy(dtype=float) == pytest.approx(expected)


def test_one_cell_of_a_mode_has_no_within_interval_and_says_why(make_trials):
    rows = [{"participant_id": p, "rule": r} for p in "ab" for r in ("direct", "exclusion")]
    rows += [{"participant_id": p, "mode": "shout"} for p in "ab"]
    cells = analyze_trials(make_trials(rows), WIDE).group_cells.set_index("mode")
    assert cells.loc["shout", "note"].startswith("all participants have the same value")
    assert cells.loc["shout", "geometric_mean_within_rt_low_s"] is pd.NA
    assert cells.loc["grab", "geometric_mean_within_rt_low_s"].notna().all()


def test_the_group_within_interval_is_that_of_complete_participants(make_trials):
    rows = []
    for person, pair in {"a": (1, 2), "b": (1, 3), "c": (2, 3)}.items():
        rows += rows_of(person, "direct", [pair[0]]) + rows_of(person, "exclusion", [pair[1]])
    rows += rows_of("only-direct", "direct", [30.0])
    cells = analyze_trials(make_trials(rows), WIDE).group_cells
    assert cells["n_participants"].tolist() == [4, 3]
    assert cells["n_within"].tolist() == [3, 3]
    scores = np.array([[1, 2], [1, 3], [2, 3]], dtype=float)
    _, half = cousineau_morey(scores, confidence=0.95)
    assert cells["mean_within_rt_s"].tolist() == pytest.approx(scores.mean(axis=0))
    assert cells["mean_within_rt_low_s"].tolist() == pytest.approx(scores.mean(axis=0) - half)
    _, log_half = cousineau_morey(np.log(scores), confidence=0.95)
    expected = np.exp(np.log(scores).mean(axis=0) + log_half)
    assert cells["geometric_mean_within_rt_high_s"].tolist() == pytest.approx(expected)


def test_a_contrast_is_the_paired_test_on_mean_log_rts(make_trials):
    pairs = {"a": (0.6, 1.1), "b": (0.9, 1.2), "c": (0.7, 1.6), "d": (1.1, 1.9)}
    rows = []
    for person, (direct, exclusion) in pairs.items():
        rows += rows_of(person, "direct", [direct]) + rows_of(person, "exclusion", [exclusion])
    contrast = analyze_trials(make_trials(rows), WIDE).contrasts.iloc[0]
    direct, exclusion = np.log(np.array(list(pairs.values()))).T
    test = stats.ttest_rel(exclusion, direct)
    interval = test.confidence_interval(0.95)
    assert contrast["contrast"] == "exclusion / direct"
    assert contrast["rt_ratio"] == pytest.approx(np.exp((exclusion - direct).mean()))
    assert contrast["rt_ratio_low"] == pytest.approx(np.exp(interval.low))
    assert contrast["rt_ratio_high"] == pytest.approx(np.exp(interval.high))
    assert contrast["t"] == pytest.approx(test.statistic)
    assert contrast["p"] == pytest.approx(test.pvalue)
    assert contrast["df"] == 3
    assert contrast["dz"] == pytest.approx(test.statistic / 2)
    assert contrast["difference_s"] == pytest.approx(0.625)


def test_a_contrast_names_whom_it_leaves_out(make_trials):
    rows = [*rows_of("a", "direct", [1.0]), *rows_of("a", "exclusion", [2.0])]
    rows += [*rows_of("b, or c", "direct", [1.0]), *rows_of("d", "exclusion", [1.0])]
    contrast = analyze_trials(make_trials(rows), WIDE).contrasts.iloc[0]
    assert (contrast["n_participants"], contrast["n_left_out"]) == (1, 2)
    assert json.loads(contrast["left_out"]) == ["b, or c", "d"]
    assert contrast["rt_ratio"] == pytest.approx(2.0)
    assert contrast["rt_ratio_low"] is pd.NA
    assert contrast["note"] == "one participant, so no interval"


def test_a_contrast_that_nobody_can_make_is_missing_not_an_error(make_trials):
    rows = [*rows_of("a", "direct", [1.0])]
    rows += [{"participant_id": "a", "rule": "exclusion", "error_kind": "late"}]
    contrast = analyze_trials(make_trials(rows), WIDE).contrasts.iloc[0]
    assert contrast["n_participants"] == 0
    assert contrast["rt_ratio"] is pd.NA
    assert contrast["note"] == "no participant"


@pytest.mark.parametrize("rule", ["direct", "exclusion"])
def test_one_rule_alone_makes_no_contrast(make_trials, rule):
    analysis = analyze_trials(make_trials(rows_of("a", rule, [1.0, 2.0])), WIDE)
    assert analysis.contrasts.empty
    assert {"contrast", "rt_ratio", "left_out"} <= set(analysis.contrasts.columns)


def test_contrasts_are_made_within_each_mode_and_block_kind(draw_trials):
    trials = draw_trials(
        np.random.default_rng(3), n_participants=3, n_per_cell=3,
        modes=("grab", "shout"), block_kinds=("pure", "mixed"),
    )  # fmt: skip
    contrasts = analyze_trials(trials, WIDE).contrasts
    assert contrasts[["block_kind", "mode"]].to_numpy().tolist() == [
        ["pure", "grab"],
        ["pure", "shout"],
        ["mixed", "grab"],
        ["mixed", "shout"],
    ]


def test_error_totals_are_counts_over_participants(make_trials):
    rows = [{"participant_id": p, "error_kind": "rule_confusion"} for p in ("a", "b")]
    rows += [{"participant_id": "a", "error_kind": "late"}, {"participant_id": "b"}]
    rows += [{"participant_id": "b", "rule": "exclusion"}]
    totals = analyze_trials(make_trials(rows), WIDE).error_totals.set_index(["rule", "error_kind"])
    row = totals.loc[("direct", "rule_confusion")]
    assert (row["n"], row["n_errors"], row["n_trials"]) == (2, 3, 4)
    assert row["p_of_errors"] == pytest.approx(2 / 3)
    assert row["p_of_trials"] == pytest.approx(0.5)
    assert totals.loc[("exclusion", "late"), "p_of_errors"] is pd.NA


def test_a_known_effect_comes_back(draw_trials):
    trials = draw_trials(
        np.random.default_rng(4), n_participants=60, n_per_cell=40, effect_log=np.log(1.6),
        effect_sd=0.1, noise_sd=0.3, p_error=0.05,
    )  # fmt: skip
    contrast = analyze_trials(trials, WIDE).contrasts.iloc[0]
    # SD of a participant's difference: effect_sd and the noise of two means of about 38 trials.
    sd = np.hypot(0.1, 0.3 * np.sqrt(2 / 38))
    assert np.log(contrast["rt_ratio"]) == pytest.approx(np.log(1.6), abs=3 * sd / np.sqrt(60))
    assert contrast["sd_difference_log"] == pytest.approx(sd, rel=0.3)
    assert contrast["dz"] == pytest.approx(np.log(1.6) / sd, rel=0.3)


def test_intervals_hold_the_true_ratio_as_often_as_they_say():
    rng = np.random.default_rng(5)
    n_runs, covered, false_positives = 2000, 0, 0
    for _ in range(n_runs):
        result = mean_interval(rng.normal(0, 0.2, size=10), confidence=0.95)
        covered += result.low <= 0 <= result.high
        false_positives += result.p < 0.05
    # Three standard errors of a proportion of .95 (or .05) in 2,000 runs.
    margin = 3 * np.sqrt(0.95 * 0.05 / n_runs)
    assert covered / n_runs == pytest.approx(0.95, abs=margin)
    assert false_positives == n_runs - covered


def test_no_effect_gives_a_ratio_of_one(make_trials):
    rows = []
    for person, rt in {"a": 0.5, "b": 0.9}.items():
        rows += rows_of(person, "direct", [rt]) + rows_of(person, "exclusion", [rt])
    contrast = analyze_trials(make_trials(rows), WIDE).contrasts.iloc[0]
    assert (contrast["rt_ratio"], contrast["rt_ratio_low"], contrast["rt_ratio_high"]) == (1, 1, 1)
    assert contrast["dz"] is pd.NA
    assert "same value" in contrast["note"]


def test_models_leave_their_tables_alone(draw_trials):
    trials = draw_trials(np.random.default_rng(6), n_participants=3, n_per_cell=4, p_error=0.2)
    analysis = analyze_trials(trials, WIDE)
    cells, before = analysis.participant_cells, analysis.participant_cells.copy(deep=True)
    group_cells(cells, factors=("rule",), confidence=0.9)
    rule_contrasts(cells, factors=("rule",), confidence=0.9)
    error_totals(cells, chance_shares(analysis.trials, by=("rule",)))
    pd.testing.assert_frame_equal(cells, before)


def test_a_data_set_of_practice_only_is_refused(make_trials):
    with pytest.raises(DatasetError, match="nothing to analyse"):
        analyze_trials(make_trials([{"phase": "practice"}]), WIDE)


@pytest.mark.slow
def test_two_thousand_participants_are_all_used(draw_trials):
    one = draw_trials(np.random.default_rng(7), n_participants=20, n_per_cell=4)
    many = pd.concat(
        [one.assign(participant_id=one["participant_id"] + f"-{i}") for i in range(100)],
        ignore_index=True,
    )
    analysis = analyze_trials(many, WIDE)
    assert analysis.contrasts["n_participants"].tolist() == [2000]
