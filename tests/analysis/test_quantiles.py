from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_analysis.distributions import participant_quantiles, vincentiles
from ghostblitz_analysis.distributions.quantiles import PROBABILITIES
from ghostblitz_analysis.distributions.ranked_rts import bins_by_rank
from ghostblitz_task.errors import DatasetError

RULE = ("rule",)


def table_of(rts, *, person="a", rule="direct"):
    return pd.DataFrame({"participant_id": person, "rule": rule, "rt_s": rts, "correct": True})


def quantiles_of(rts, probabilities=PROBABILITIES):
    table = participant_quantiles(table_of(rts), factors=RULE, probabilities=probabilities)
    return table["quantile_s"].tolist()


@pytest.mark.slow
@given(
    st.lists(st.floats(0.001, 1000), min_size=1, max_size=40),
    st.lists(st.floats(0.001, 0.999), min_size=1, max_size=6, unique=True).map(sorted),
)
def test_quantiles_are_numpys_of_the_hazen_type(rts, probabilities):
    expected = np.quantile(rts, probabilities, method="hazen")
    assert quantiles_of(rts, probabilities) == pytest.approx(expected.tolist(), rel=1e-9)


def test_each_cell_has_its_own_quantiles():
    rng = np.random.default_rng(1)
    samples = {
        (p, rule): rng.lognormal(0, 0.5, int(rng.integers(1, 30)))
        for p in ("a", "b", "c")
        for rule in ("direct", "exclusion")
    }
    trials = pd.concat([table_of(x, person=p, rule=r) for (p, r), x in samples.items()])
    trials = trials.sample(frac=1, random_state=rng)
    table = participant_quantiles(trials, factors=RULE)
    for (person, rule), part in table.groupby(["participant_id", "rule"]):
        expected = np.quantile(samples[person, rule], PROBABILITIES, method="hazen")
        assert part["quantile_s"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)
        assert part["n_rt"].unique().tolist() == [len(samples[person, rule])]


def test_the_median_is_the_middle_quantile():
    assert quantiles_of([1.0, 2.0, 4.0, 88.0], [0.5]) == [3.0]


def test_identical_rts_have_that_rt_at_every_quantile():
    assert quantiles_of([1 / 3] * 6) == [1 / 3] * 5


def test_places_beyond_the_rts_are_told():
    table = participant_quantiles(table_of([0.5, 0.7, 0.9]), factors=RULE)
    assert table["quantile_s"].tolist()[0] == 0.5
    assert table["quantile_s"].tolist()[-1] == 0.9
    assert table["note"].tolist() == [
        "3 RTs, so the shortest stands here", "", "", "", "3 RTs, so the longest stands here",
    ]  # fmt: skip


def test_one_rt_stands_for_all_quantiles():
    table = participant_quantiles(table_of([0.7]), factors=RULE)
    assert table["quantile_s"].tolist() == [0.7] * 5
    assert table["note"].iloc[0] == "one RT, so the shortest stands here"
    assert table["note"].iloc[2] == ""


def test_a_cell_without_rts_has_missing_quantiles():
    trials = table_of([0.7, 0.8]).assign(correct=[True, False])
    trials = pd.concat([trials, trials.assign(participant_id="b", correct=False)])
    table = participant_quantiles(trials, factors=RULE)
    mine = table[table["participant_id"] == "b"]
    assert mine["quantile_s"].isna().all()
    assert mine["note"].unique().tolist() == ["no RT to use"]


@pytest.mark.parametrize("probabilities", [[], [0.5, 0.5], [0.0, 0.5], [0.5, 1.0], [0.9, 0.1]])
def test_probabilities_must_ascend_within_0_and_1(probabilities):
    with pytest.raises(DatasetError, match="expected ascending numbers above 0 and below 1"):
        participant_quantiles(table_of([0.5]), factors=RULE, probabilities=probabilities)


def test_vincentiles_are_means_of_participants_quantiles():
    trials = pd.concat([table_of([1.0, 3.0]), table_of([2.0, 8.0], person="b")])
    each = participant_quantiles(trials, factors=RULE, probabilities=[0.25, 0.5, 0.75])
    table = vincentiles(each, factors=RULE)
    assert table["quantile_s"].tolist() == [1.5, 3.5, 5.5]
    assert table["sd_s"].tolist() == pytest.approx([np.sqrt(0.5), np.sqrt(4.5), np.sqrt(12.5)])
    assert table["n_participants"].tolist() == [2, 2, 2]


def test_vincentiles_keep_the_shape_that_participants_share():
    """Participants who differ in location and scale alone: the average is the common shape."""
    shape = np.random.default_rng(2).gamma(2, 1, 200)
    samples = [1 + 0.3 * shape, 3 + 0.9 * shape]
    trials = pd.concat([table_of(x, person=p) for p, x in zip("ab", samples, strict=True)])
    table = vincentiles(participant_quantiles(trials, factors=RULE), factors=RULE)
    expected = 2 + 0.6 * np.quantile(shape, PROBABILITIES, method="hazen")
    assert table["quantile_s"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)


def test_who_has_no_rt_is_left_out_and_named():
    trials = pd.concat([table_of([1.0, 3.0]), table_of([2.0], person="NA").assign(correct=False)])
    table = vincentiles(participant_quantiles(trials, factors=RULE), factors=RULE)
    assert table["n_participants"].unique().tolist() == [1]
    assert json.loads(table["left_out"].iloc[0]) == ["NA"]
    assert table["quantile_low_s"].isna().all()
    assert table["note"].unique().tolist() == ["one participant, so no interval"]


@given(st.integers(1, 60), st.integers(2, 9))
def test_bins_are_as_equal_as_can_be_and_the_first_ones_are_larger(n, n_bins):
    bins = bins_by_rank(np.arange(n), np.full(n, n), n_bins=n_bins)
    sizes = np.bincount(bins, minlength=n_bins)
    assert (np.diff(bins) >= 0).all()
    assert sizes.tolist() == [n // n_bins + (k < n % n_bins) for k in range(n_bins)]
