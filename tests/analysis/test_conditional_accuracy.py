from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.distributions import (
    accuracy_differences,
    conditional_accuracy,
    group_accuracy_differences,
    group_conditional_accuracy,
)
from ghostblitz_task.errors import DatasetError

RULE = ("rule",)


def table_of(rts, correct, *, person="a", rule="direct"):
    return pd.DataFrame({"participant_id": person, "rule": rule, "rt_s": rts, "correct": correct})


def test_right_and_wrong_answers_are_binned_together():
    rts = np.arange(1, 13) / 10
    correct = [False, False, True] + [True] * 8 + [False]
    order = np.random.default_rng(1).permutation(12)
    caf = conditional_accuracy(table_of(rts, correct).iloc[order], factors=RULE)
    assert caf["bin"].tolist() == [1, 2, 3, 4, 5]
    # 12 = 5 x 2 + 2: the first two bins hold three.
    assert caf["n_trials"].tolist() == [3, 3, 2, 2, 2]
    assert caf["n_correct"].tolist() == [1, 3, 2, 2, 1]
    assert caf["p_correct"].tolist() == pytest.approx([1 / 3, 1, 1, 1, 0.5])
    assert caf["mean_rt_s"].tolist() == pytest.approx([0.2, 0.5, 0.75, 0.95, 1.15])


def test_bins_add_up_to_the_accuracy_of_all_answers():
    rng = np.random.default_rng(2)
    tables = [
        table_of(rng.gamma(3, 0.3, n), rng.random(n) < 0.8, person=p)
        for p, n in (("a", 101), ("b", 5), ("c", 33))
    ]
    caf = conditional_accuracy(pd.concat(tables), factors=RULE, n_bins=4)
    sums = caf.groupby("participant_id")[["n_trials", "n_correct"]].sum()
    assert sums["n_trials"].tolist() == [101, 5, 33]
    assert sums["n_correct"].tolist() == [int(t["correct"].sum()) for t in tables]


def test_answers_without_an_rt_are_in_no_bin():
    caf = conditional_accuracy(
        table_of([0.5, None, 0.6], [True, False, False]), factors=RULE, n_bins=2
    )
    assert caf["n_trials"].tolist() == [1, 1]
    assert caf["n_correct"].tolist() == [1, 0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_with_fewer_answers_than_bins_the_last_stay_empty(n):
    caf = conditional_accuracy(table_of([0.5, 0.6, 0.7][:n], [True] * n), factors=RULE)
    assert caf["n_trials"].tolist() == [1] * n + [0] * (5 - n)
    assert caf["p_correct"].isna().tolist() == [False] * n + [True] * (5 - n)
    assert caf["note"].iloc[-1] == f"answers with an RT: {n}, fewer than bins"


def test_equal_rts_stay_in_the_order_of_the_table():
    correct = [True, False, True, False]
    caf = conditional_accuracy(table_of([0.5] * 4, correct), factors=RULE, n_bins=2)
    assert caf["n_correct"].tolist() == [1, 1]
    caf = conditional_accuracy(table_of([0.5] * 4, sorted(correct)), factors=RULE, n_bins=2)
    assert caf["n_correct"].tolist() == [0, 2]


def test_all_wrong_is_an_accuracy_of_0():
    caf = conditional_accuracy(table_of(np.arange(1, 11) / 10, False), factors=RULE)
    assert caf["p_correct"].tolist() == [0] * 5


def test_fewer_than_two_bins_are_refused():
    with pytest.raises(DatasetError, match="n_bins is 1"):
        conditional_accuracy(table_of([0.5], True), factors=RULE, n_bins=1)


def test_early_errors_in_one_rule_show_as_a_difference_in_the_first_bin():
    rts = np.arange(1, 21) / 10
    hasty = rts > 0.45
    tables = [
        table_of(rts, True if rule == "direct" else hasty, person=p, rule=rule)
        for p in "ab"
        for rule in ("direct", "exclusion")
    ]
    caf = conditional_accuracy(pd.concat(tables), factors=RULE)
    differences = accuracy_differences(caf, of="rule", reference="direct", factors=RULE)
    assert differences["p_difference"].tolist() == [-1, 0, 0, 0, 0] * 2
    group = group_accuracy_differences(differences, of="rule", factors=RULE)
    assert group["p_difference"].tolist() == [-1, 0, 0, 0, 0]
    assert group["contrast"].unique().tolist() == ["exclusion - direct"]


def test_who_lacks_a_cell_is_left_out_of_the_difference_and_named():
    rts = np.arange(1, 11) / 10
    trials = pd.concat(
        [
            table_of(rts, True),
            table_of(rts, rts > 0.15, rule="exclusion"),
            table_of(rts, True, person="01"),
        ]
    )
    caf = conditional_accuracy(trials, factors=RULE)
    differences = accuracy_differences(caf, of="rule", reference="direct", factors=RULE)
    group = group_accuracy_differences(differences, of="rule", factors=RULE)
    assert group["n_left_out"].tolist() == [1] * 5
    assert json.loads(group["left_out"].iloc[0]) == ["01"]
    assert group["p_difference"].tolist() == pytest.approx([-0.5, 0, 0, 0, 0])
    each = group_conditional_accuracy(caf, factors=RULE)
    assert each["n_participants"].tolist() == [2] * 5 + [1] * 5


def test_accuracy_over_participants_has_intervals_within_0_and_1():
    rng = np.random.default_rng(3)
    tables = [
        table_of(rng.gamma(3, 0.3, 50), rng.random(50) < 0.9, person=str(k)) for k in range(6)
    ]
    caf = conditional_accuracy(pd.concat(tables), factors=RULE)
    group = group_conditional_accuracy(caf, factors=RULE)
    assert ((group["p_correct_low"] >= 0) & (group["p_correct_high"] <= 1)).all()
    assert (group["mean_rt_low_s"] < group["mean_rt_s"]).all()
    each = caf[caf["bin"] == 1]["p_correct"].astype(float)
    assert group["p_correct"].iloc[0] == pytest.approx(each.mean())
    assert group["sd_p_correct"].iloc[0] == pytest.approx(each.std(ddof=1))


def test_a_difference_that_all_participants_share_is_not_known_for_certain():
    rts = np.arange(1, 11) / 10
    tables = [
        table_of(rts, right, person=person, rule=rule)
        for person in ("a", "b", "c")
        for rule, right in (("direct", True), ("exclusion", rts > 0.15))
    ]
    caf = conditional_accuracy(pd.concat(tables), factors=RULE)
    differences = accuracy_differences(caf, of="rule", reference="direct", factors=RULE)
    group = group_accuracy_differences(differences, of="rule", factors=RULE)
    assert group["p_difference"].tolist() == pytest.approx([-0.5, 0, 0, 0, 0])
    assert group[["p_difference_low", "p_difference_high"]].isna().all(axis=None)
    assert set(group["note"]) == {
        "all participants have the same value, so neither interval nor test"
    }
    alone = group_accuracy_differences(
        differences[differences["participant_id"] == "a"], of="rule", factors=RULE
    )
    assert set(alone["note"]) == {"one participant, so no interval"}


def test_empty_tables_give_empty_tables():
    caf = conditional_accuracy(table_of([0.5], True).iloc[:0], factors=RULE)
    assert caf.empty
    assert group_conditional_accuracy(caf, factors=RULE).empty
    differences = accuracy_differences(caf, of="rule", reference="direct", factors=RULE)
    assert differences.empty
    assert group_accuracy_differences(differences, of="rule", factors=RULE).empty
