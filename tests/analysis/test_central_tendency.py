from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ghostblitz_analysis.distributions import (
    central_tendency,
    group_central_tendency,
    wilson_interval,
)
from ghostblitz_analysis.distributions.central_tendency import CENTRAL_MEASURES
from ghostblitz_task.errors import DatasetError

RULE = ("rule",)


def table_of(rts, *, person="a", rule="direct", correct=True):
    return pd.DataFrame(
        {"participant_id": person, "rule": rule, "rt_s": rts, "correct": correct}
    ).astype({"participant_id": "string", "rule": "string", "rt_s": "Float64"})


def drawn(rng, *, n_participants=4, n=23):
    people = [f"p{k}" for k in range(n_participants)]
    rows = pd.DataFrame(
        [(p, rule) for p in people for rule in ("direct", "exclusion") for _ in range(n)],
        columns=["participant_id", "rule"],
    )
    rows["rt_s"] = rng.lognormal(0, 0.5, len(rows))
    rows["correct"] = rng.random(len(rows)) < 0.8
    return rows


def test_measures_are_those_of_scipy():
    trials = drawn(np.random.default_rng(1))
    table = central_tendency(trials, factors=RULE)
    right = trials[trials["correct"]]
    for row in table.itertuples():
        same = (right["participant_id"] == row.participant_id) & (right["rule"] == row.rule)
        x = right.loc[same, "rt_s"].to_numpy()
        assert row.n_rt == len(x)
        assert row.mean_rt_s == pytest.approx(x.mean(), rel=1e-13)
        assert row.median_rt_s == np.median(x)
        assert row.geometric_mean_rt_s == pytest.approx(stats.gmean(x), rel=1e-13)
        assert row.trimmed_mean_rt_s == pytest.approx(stats.trim_mean(x, 0.1), rel=1e-13)
        assert row.harmonic_mean_rt_s == pytest.approx(stats.hmean(x), rel=1e-13)
        assert row.sd_rt_s == pytest.approx(x.std(ddof=1), rel=1e-13)
        assert row.cv_rt == pytest.approx(stats.variation(x, ddof=1), rel=1e-13)
        assert row.mad_rt_s == pytest.approx(stats.median_abs_deviation(x), rel=1e-13)
        assert row.scaled_mad_rt_s == pytest.approx(1.4826 * row.mad_rt_s, rel=1e-13)
        assert row.note == ""


def test_the_trimmed_mean_leaves_out_a_tenth_at_each_end_in_whole_rts():
    def trimmed(rts):
        return central_tendency(table_of(rts), factors=RULE)["trimmed_mean_rt_s"].iloc[0]

    nine = [1.0, 2, 3, 4, 5, 6, 7, 8, 88]
    assert trimmed(nine) == pytest.approx(np.mean(nine))
    assert trimmed([*nine, 0.1]) == pytest.approx(np.mean(nine[:-1]))


def test_an_rt_of_88_s_moves_the_mean_but_hardly_the_median():
    row = central_tendency(table_of([0.9, 1.0, 1.1, 1.2, 88.0]), factors=RULE).iloc[0]
    assert row["mean_rt_s"] == pytest.approx(92.2 / 5)
    assert (row["median_rt_s"], row["mad_rt_s"]) == (1.1, pytest.approx(0.1))


@pytest.mark.parametrize("rt_s", [0.1, 0.7, 1 / 3])
def test_identical_rts_have_that_level_exactly_and_no_spread(rt_s):
    row = central_tendency(table_of([rt_s] * 7), factors=RULE).iloc[0]
    for name in CENTRAL_MEASURES[:5]:
        assert row[name] == rt_s
    assert (row["sd_rt_s"], row["cv_rt"], row["mad_rt_s"]) == (0, 0, 0)


def test_one_rt_has_a_level_but_no_sd():
    row = central_tendency(table_of([0.7]), factors=RULE).iloc[0]
    assert row["mean_rt_s"] == row["trimmed_mean_rt_s"] == row["harmonic_mean_rt_s"] == 0.7
    assert row["sd_rt_s"] is pd.NA
    assert row["cv_rt"] is pd.NA
    assert row["note"] == "one RT, so no SD"


def test_who_was_never_right_has_accuracy_and_no_rt():
    row = central_tendency(table_of([0.7, 0.8], correct=False), factors=RULE).iloc[0]
    assert (row["n_trials"], row["n_correct"], row["p_correct"], row["n_rt"]) == (2, 0, 0, 0)
    assert all(row[name] is pd.NA for name in CENTRAL_MEASURES if name != "p_correct")
    assert row["note"] == "no RT to use"


def test_accuracy_is_of_all_trials_whatever_rts_are_used():
    trials = table_of([0.5, 0.6, 9.0, 0.7], correct=[True, True, True, False])
    row = central_tendency(trials, factors=RULE, used=[True, True, False, False]).iloc[0]
    assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (4, 3, 2)
    assert row["mean_rt_s"] == pytest.approx(0.55)


def test_a_cell_without_trials_is_a_row_with_a_note():
    trials = pd.concat([table_of([0.5, 0.6]), table_of([1.0], person="b", rule="exclusion")])
    table = central_tendency(trials, factors=RULE)
    cells = list(zip(table["participant_id"], table["rule"], table["n_trials"], strict=True))
    assert cells == [
        ("a", "direct", 2),
        ("a", "exclusion", 0),
        ("b", "direct", 0),
        ("b", "exclusion", 1),
    ]
    assert table["note"].tolist()[1] == "no trial in this cell"
    assert table["p_correct"].iloc[1] is pd.NA
    assert table["p_correct_low"].iloc[1] is pd.NA


def test_an_empty_table_gives_empty_tables():
    empty = table_of([0.5]).iloc[:0]
    people = central_tendency(empty, factors=RULE)
    assert people.empty
    assert group_central_tendency(people, factors=RULE).empty


def test_neither_order_of_rows_nor_other_participants_matter():
    trials = drawn(np.random.default_rng(2))
    table = central_tendency(trials, factors=RULE)
    shuffled = trials.sample(frac=1, random_state=np.random.default_rng(3))
    pd.testing.assert_frame_equal(central_tendency(shuffled, factors=RULE), table, rtol=1e-12)
    parts = [central_tendency(part, factors=RULE) for _, part in trials.groupby("participant_id")]
    alone = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(alone, table, rtol=1e-12)


def test_the_input_stays_as_it_was():
    trials = drawn(np.random.default_rng(4))
    before = trials.copy()
    central_tendency(trials, factors=RULE)
    pd.testing.assert_frame_equal(trials, before)


@pytest.mark.slow
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30))
def test_harmonic_geometric_and_arithmetic_means_stand_in_this_order(rts):
    row = central_tendency(table_of(rts), factors=RULE).iloc[0]
    harmonic, geometric = row["harmonic_mean_rt_s"], row["geometric_mean_rt_s"]
    slack = 1 + 1e-9
    assert min(rts) <= harmonic * slack
    assert harmonic <= geometric * slack
    assert geometric <= row["mean_rt_s"] * slack
    assert row["mean_rt_s"] <= max(rts) * slack
    assert min(rts) <= row["trimmed_mean_rt_s"] * slack <= max(rts) * slack**2


@pytest.mark.parametrize("rt_s", [0.0, -0.1, np.inf])
def test_rts_that_are_no_times_are_refused(rt_s):
    with pytest.raises(DatasetError, match="rt_s of 1 of 2 RTs to use is not a time above 0"):
        central_tendency(table_of([0.5, rt_s]), factors=RULE)


def test_columns_that_are_not_there_are_named():
    with pytest.raises(DatasetError, match="the trials have no column latency"):
        central_tendency(table_of([0.5]), factors=RULE, rt="latency")


def test_trials_without_a_condition_are_refused():
    trials = table_of([0.5, 0.6]).assign(rule=pd.array(["direct", None], dtype="string"))
    with pytest.raises(DatasetError, match="rule is missing in 1 of 2 trials"):
        central_tendency(trials, factors=RULE)


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(DatasetError, match="one value per trial"):
        central_tendency(table_of([0.5, 0.6]), factors=RULE, used=[True])


def test_correctness_must_be_true_or_false():
    with pytest.raises(DatasetError, match="correct holds values that are neither true nor false"):
        central_tendency(table_of([0.5]).assign(correct="maybe"), factors=RULE)


def test_integers_may_say_what_is_right_and_who_answered():
    trials = pd.DataFrame({"id": [10, 9], "rule": "direct", "rt": [0.5, 0.6], "ok": [1, 0]})
    table = central_tendency(trials, factors=RULE, participant="id", rt="rt", correct="ok")
    assert table["participant_id"].tolist() == [9, 10]
    assert table["n_correct"].tolist() == [0, 1]


# --- intervals of accuracy ------------------------------------------------------------------


def test_wilson_intervals_are_those_of_statsmodels():
    n = np.array([1, 2, 7, 40, 1000])
    for k in (np.zeros(5, dtype=int), n // 2, n - 1, n):
        for confidence in (0.8, 0.95):
            low, high = wilson_interval(k, n, confidence=confidence)
            expected = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
            assert low == pytest.approx(expected[0], abs=1e-14)
            assert high == pytest.approx(expected[1], abs=1e-14)


def test_wilson_intervals_are_those_of_the_reference(shared):
    values = json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))
    for case in values["wilson_95"]:
        low, high = wilson_interval([case["k"]], [case["n"]], confidence=0.95)
        assert low[0] == pytest.approx(case["low"], abs=5e-10)
        assert high[0] == pytest.approx(case["high"], abs=5e-10)


def test_without_trials_there_is_no_interval():
    low, high = wilson_interval([0], [0], confidence=0.95)
    assert np.isnan(low).all()
    assert np.isnan(high).all()


# --- over participants ----------------------------------------------------------------------


def grouped(trials):
    groups = group_central_tendency(central_tendency(trials, factors=RULE), factors=RULE)
    return groups.set_index(["measure", "rule"])


def test_group_intervals_are_students():
    trials = pd.concat(
        [table_of([rt], person=p) for p, rt in zip("abcd", [1, 2, 4, 5.0], strict=True)]
    )
    row = grouped(trials).loc[("median_rt_s", "direct")]
    half = stats.t.ppf(0.975, 3) * np.std([1, 2, 4, 5], ddof=1) / 2
    assert (row["n_participants"], row["mean"]) == (4, 3)
    assert (row["low"], row["high"]) == (pytest.approx(3 - half), pytest.approx(3 + half))


def test_participants_without_a_value_are_named():
    trials = pd.concat([table_of([1.0, 2.0]), table_of([1.0], person="01")])
    row = grouped(trials).loc[("sd_rt_s", "direct")]
    assert (row["n_participants"], row["n_left_out"]) == (1, 1)
    assert json.loads(row["left_out"]) == ["01"]
    assert row["low"] is pd.NA
    assert row["note"] == "one participant, so no interval"


def test_accuracy_on_which_all_agree_has_no_interval():
    trials = pd.concat([table_of([1.0, 2.0]), table_of([1.0], person="b")])
    row = grouped(trials).loc[("p_correct", "direct")]
    assert (row["mean"], row["low"], row["high"]) == (1, pd.NA, pd.NA)
    assert row["note"] == "all participants have the same value, so neither interval nor test"


def test_the_interval_of_accuracy_ends_at_one():
    trials = pd.concat([table_of([1.0] * 9), table_of([1.0] * 8 + [None], person="b")])
    trials["correct"] = trials["rt_s"].notna()
    row = grouped(trials).loc[("p_correct", "direct")]
    assert row["high"] == 1
    assert 0 <= row["low"] < row["mean"]
