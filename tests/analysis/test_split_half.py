from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.reliability import (
    code_trials,
    halves,
    reported_scores,
    spearman_brown,
    split_half_reliability,
    summarise_splits,
)
from ghostblitz_analysis.reliability.correlations import correlate_halves
from ghostblitz_analysis.reliability.halves import (
    CellValues,
    draw_count_halves,
    draw_halves,
    halve,
    sort_into_cells,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings, ReliabilitySettings

RT_MEASURES = ("mean_rt_s", "mean_log_rt", "median_rt_s")


def wide(n_splits=200, seed=1, measures=("mean_rt_s",), **others):
    return AnalysisSettings(
        bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000),
        reliability=ReliabilitySettings(n_splits=n_splits, seed=seed),
        measures=measures,
        **others,
    )


def split_half(trials, analysis):
    flagged = flag_exclusions(trials, analysis)
    coded = code_trials(flagged, factors=cell_factors(flagged, analysis))
    return split_half_reliability(coded, scores=reported_scores(coded), settings=analysis)


def row_of(tables, kind="rule_effect", measure="mean_rt_s", score=None):
    table = tables.reliability
    table = table[(table["kind"] == kind) & (table["measure"] == measure)]
    if score is not None:
        table = table[table["score"] == score]
    assert len(table) == 1
    return table.iloc[0]


def rows_of(rts):
    """Trials of {participant: {rule: RTs}}."""
    return [
        {"participant_id": person, "rule": rule, "rt_s": rt}
        for person, cells in rts.items()
        for rule, of_cell in cells.items()
        for rt in of_cell
    ]


def drawn(rng, n_people, n_cells, size):
    """RTs that come independently, all from one distribution."""
    n = n_people * n_cells * size
    slot = np.arange(n) // size
    return sort_into_cells(
        rng.lognormal(0, 0.4, n),
        participant=slot // n_cells,
        cell=slot % n_cells,
        n_participants=n_people,
        n_cells=n_cells,
    )


def test_halves_are_those_of_a_plain_loop():
    rng = np.random.default_rng(5)
    for size in (2, 3, 4, 5, 8, 9):
        values = np.sort(rng.lognormal(0, 1, (4, size)), axis=1)
        keys = rng.integers(0, 2**64, size=(6, 4, size), dtype=np.uint64)
        swapped = rng.random((6, 4)) < 0.5
        found = halve(values, keys, swapped, measures=RT_MEASURES)
        for split, cell in product(range(6), range(4)):
            ranked = sorted(range(size), key=lambda i, k=keys[split, cell]: k[i])
            two = [values[cell][ranked[: size // 2]], values[cell][ranked[size // 2 :]]]
            if swapped[split, cell]:
                two.reverse()
            for place, half in enumerate(two):
                for measure, expected in (
                    ("mean_rt_s", np.mean(half)),
                    ("mean_log_rt", np.mean(np.log(half))),
                    ("median_rt_s", np.median(half)),
                ):
                    assert found[measure][place][split, cell] == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@settings(max_examples=40)
@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=8), seed=st.integers(0, 2**32 - 1))
def test_each_half_of_each_cell_has_half_the_trials(sizes, seed):
    # Powers of two: a sum names its trials.
    values = np.concatenate([2.0 ** np.arange(size) for size in sizes])
    cells = CellValues(values, np.array([sizes], dtype=np.intp))
    (drawn_halves,) = draw_halves(
        cells, measures=["mean_rt_s"], n_splits=7, rng=np.random.default_rng(seed)
    )
    one, other = drawn_halves["mean_rt_s"]
    for split, (cell, size) in product(range(7), enumerate(sizes)):
        if size < 2:
            assert np.isnan([one[split, 0, cell], other[split, 0, cell]]).all()
            continue
        few = {size // 2, size - size // 2}
        sums = [
            [round(mean * n) for n in few if round(mean * n).bit_count() == n]
            for mean in (float(one[split, 0, cell]), float(other[split, 0, cell]))
        ]
        assert any(a + b == 2**size - 1 for a, b in product(*sums))


def test_which_half_the_odd_trial_goes_to_is_random():
    # One of three trials is 3 and the others are 0: in the larger half it makes a mean of 1.5.
    cells = CellValues(np.array([0.0, 0.0, 3.0]), np.array([[3]], dtype=np.intp))
    rng = np.random.default_rng(2)
    (found,) = draw_halves(cells, measures=["mean_rt_s"], n_splits=6000, rng=rng)
    first = found["mean_rt_s"][0].ravel()
    counts = {value: int((first == value).sum()) for value in (0.0, 1.5, 3.0)}
    # It is the first half alone in 1/2 * 1/3, and in a larger first half in 1/2 * 2/3.
    assert counts[3.0] / 6000 == pytest.approx(1 / 6, abs=0.02)
    assert counts[1.5] / 6000 == pytest.approx(1 / 3, abs=0.02)
    assert sum(counts.values()) == 6000


def test_every_pair_of_halves_is_as_likely_as_every_other():
    cells = CellValues(2.0 ** np.arange(4), np.array([[4]], dtype=np.intp))
    rng = np.random.default_rng(3)
    (found,) = draw_halves(cells, measures=["mean_rt_s"], n_splits=6000, rng=rng)
    _, counts = np.unique(found["mean_rt_s"][0], return_counts=True)
    assert len(counts) == 6
    assert counts / 6000 == pytest.approx(np.full(6, 1 / 6), abs=0.02)


def test_halves_of_answers_are_hypergeometric():
    n_correct, n_trials = np.array([[7, 1, 0]]), np.array([[10, 2, 1]])
    rng = np.random.default_rng(4)
    (found,) = draw_count_halves(n_correct, n_trials, n_splits=8000, rng=rng)
    first, second = found["p_correct"]
    assert first[:, 0, 0] + second[:, 0, 0] == pytest.approx(np.full(8000, 1.4))
    # Variance of the count: n K/N (1 - K/N) (N - n)/(N - 1), with n = 5 of N = 10 and K = 7.
    assert first[:, 0, 0].var() * 25 == pytest.approx(5 * 0.7 * 0.3 * 5 / 9, rel=0.05)
    assert set(first[:, 0, 1]) == {0.0, 1.0}
    assert np.isnan(first[:, 0, 2]).all()


def test_splits_come_in_parts_of_bounded_size(monkeypatch):
    monkeypatch.setattr(halves, "_MAX_KEYS", 100)
    cells = drawn(np.random.default_rng(1), 3, 2, 8)
    parts = list(
        draw_halves(cells, measures=["mean_rt_s"], n_splits=5, rng=np.random.default_rng(1))
    )
    assert [len(part["mean_rt_s"][0]) for part in parts] == [2, 2, 1]


def test_correlations_are_pearsons_also_without_each_participant():
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=(2, 3, 9)) + rng.normal(size=9) + 5
    r, without = correlate_halves(first, second)
    for split in range(3):
        assert r[split] == pytest.approx(np.corrcoef(first[split], second[split])[0, 1])
        for person in range(9):
            x, y = np.delete(first[split], person), np.delete(second[split], person)
            assert without[split, person] == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_equal_scores_have_no_correlation_whatever_the_rounding():
    first = np.array([[0.1 + 0.2, 0.3, 0.3, 0.3]])
    r, without = correlate_halves(first, np.array([[1.0, 2.0, 3.0, 4.0]]))
    assert np.isnan(r).all()
    assert np.isnan(without).all()


@pytest.mark.parametrize(
    ("r", "k", "value"), [(0.6, 2, 0.75), (0.5, 3, 0.75), (0, 2, 0), (1, 2, 1)]
)
def test_spearman_brown_steps_up(r, k, value):
    assert spearman_brown(r, length_factor=k) == pytest.approx(value, abs=1e-15)


def test_spearman_brown_does_not_correct_a_negative_correlation():
    assert np.isnan(spearman_brown(-0.1))
    assert np.isnan(spearman_brown(float("nan")))


def test_the_mean_is_corrected_and_the_mean_of_corrected_ones_stands_beside_it():
    result = summarise_splits([0.4, 0.8], np.full(12, 0.6), confidence=0.95)
    assert result.r == pytest.approx(0.6)
    assert result.spearman_brown == pytest.approx(0.75)
    assert result.spearman_brown_per_split == pytest.approx((0.8 / 1.4 + 1.6 / 1.8) / 2)
    assert result.r_splits_low == pytest.approx(0.41)
    assert result.spearman_brown_splits_high == pytest.approx(2 * 0.79 / 1.79)
    assert (result.note, result.warning) == ("", "")


def test_the_interval_over_participants_is_the_jackknifes_on_fishers_scale():
    without = np.array([0.55, 0.6, 0.62, 0.64, 0.58])
    result = summarise_splits([0.6], without, confidence=0.9)
    z = np.arctanh(without)
    se = np.sqrt(4 / 5 * ((z - z.mean()) ** 2).sum())
    # 2.131846786 is the 95 % quantile of t with 4 degrees of freedom.
    expected = np.tanh(np.arctanh(0.6) + np.array([-1, 1]) * 2.131846786326649 * se)
    assert (result.r_low, result.r_high) == pytest.approx(tuple(expected))
    assert result.spearman_brown_low == pytest.approx(2 * expected[0] / (1 + expected[0]))


def test_some_negative_splits_are_told_and_intervals_are_cut_at_0():
    result = summarise_splits([-0.2, 0.3, 0.4, 0.5], np.linspace(0, 0.5, 12), confidence=0.95)
    assert result.n_negative_splits == 1
    assert result.r_splits_low < 0
    assert result.spearman_brown_splits_low == 0
    assert result.spearman_brown == pytest.approx(0.4)
    assert np.isnan(result.spearman_brown_per_split)
    assert "1 of 4 splits correlate negatively" in result.warning


def test_trials_that_repeat_exactly_are_perfectly_reliable(make_trials):
    rts = {
        f"p{i:02d}": {"direct": [0.5 + i / 50] * 4, "exclusion": [0.9 + i**2 / 50] * 5}
        for i in range(12)
    }
    tables = split_half(make_trials(rows_of(rts)), wide(measures=(*RT_MEASURES, "p_correct")))
    for measure in RT_MEASURES:
        row = row_of(tables, measure=measure)
        assert row[["r", "spearman_brown", "r_splits_low"]].tolist() == pytest.approx([1, 1, 1])
        assert pd.isna(row["r_low"])
        assert row["note"] == "a correlation of 1 has no interval over participants"
    # Nobody made an error.
    row = row_of(tables, measure="p_correct")
    assert pd.isna(row["r"])
    assert row["n_undefined_splits"] == 200
    assert row["note"].startswith("all participants have the same score in one of the halves")


def test_two_trials_per_cell_give_the_mean_over_all_ways_to_split_them(make_trials):
    rts = {
        "a": {"direct": [0.5, 0.6], "exclusion": [0.9, 1.2]},
        "b": {"direct": [0.4, 0.8], "exclusion": [0.7, 0.8]},
        "c": {"direct": [0.6, 0.7], "exclusion": [1.5, 1.3]},
        "d": {"direct": [0.9, 0.7], "exclusion": [1.1, 1.6]},
    }
    ways = []
    for swaps in product((0, 1), repeat=8):
        first, second = [], []
        for number, cells in enumerate(rts.values()):
            d, e = swaps[2 * number : 2 * number + 2]
            first.append(cells["exclusion"][e] - cells["direct"][d])
            second.append(cells["exclusion"][1 - e] - cells["direct"][1 - d])
        ways.append(np.corrcoef(first, second)[0, 1])
    row = row_of(split_half(make_trials(rows_of(rts)), wide(n_splits=20_000)))
    assert row["r"] == pytest.approx(np.mean(ways), abs=4 * np.std(ways) / np.sqrt(20_000))
    assert row["n_negative_splits"] / 20_000 == pytest.approx(np.mean(np.array(ways) < 0), abs=0.02)


def test_noise_alone_is_not_reliable():
    cells = drawn(np.random.default_rng(7), 300, 1, 40)
    (found,) = draw_halves(cells, measures=RT_MEASURES, n_splits=150, rng=np.random.default_rng(1))
    for first, second in found.values():
        r, _ = correlate_halves(first[:, :, 0], second[:, :, 0])
        assert r.mean() == pytest.approx(0, abs=0.12)


def test_negative_correlation_is_told_and_not_corrected(make_trials):
    # Everyone's two trials have the same mean, so one half takes what the other lacks.
    rts = {f"p{i:02d}": {"direct": [1 - i / 40, 1 + i / 40]} for i in range(1, 13)}
    row = row_of(split_half(make_trials(rows_of(rts)), wide()), kind="cell")
    assert row["r"] == pytest.approx(-1)
    assert row["n_negative_splits"] == 200
    corrected = [name for name in row.index if str(name).startswith("spearman_brown")]
    assert len(corrected) == 7
    assert row[corrected[:-1]].isna().all()
    assert row["warning"].startswith("the halves correlate negatively (mean r = -1.00)")
    assert "no Spearman-Brown" in row["note"]


def test_the_same_seed_gives_the_same_figures_in_any_order_of_rows(draw_trials):
    rng = np.random.default_rng(8)
    trials = draw_trials(rng, n_participants=12, n_per_cell=7, effect_sd=0.2, p_error=0.2)
    every = (*RT_MEASURES, "p_correct")
    first = split_half(trials, wide(measures=every)).reliability
    shuffled = trials.iloc[rng.permutation(len(trials))]
    before = shuffled.copy()
    again = split_half(shuffled, wide(measures=every)).reliability
    pd.testing.assert_frame_equal(first, again, rtol=1e-12)
    pd.testing.assert_frame_equal(shuffled, before)
    other = split_half(trials, wide(seed=2, measures=every)).reliability
    assert (first["r"] != other["r"]).sum() == len(first)
    assert first["r"].astype(float).to_numpy() == pytest.approx(
        other["r"].astype(float).to_numpy(), abs=0.1
    )


def test_accuracy_among_the_measures_changes_no_figure_of_rt(draw_trials):
    trials = draw_trials(np.random.default_rng(9), n_participants=11, n_per_cell=6, p_error=0.1)
    alone = split_half(trials, wide()).reliability
    both = split_half(trials, wide(measures=("p_correct", "mean_rt_s"))).reliability
    of_rt = both[both["measure"] == "mean_rt_s"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, of_rt)
    assert both["measure"].tolist()[:2] == ["p_correct", "mean_rt_s"]


def test_participants_with_an_empty_half_are_named_with_the_cell(make_trials):
    rts = {f"p{i:02d}": {"direct": [0.5, 0.6 + i / 40], "exclusion": [0.9, 1.0]} for i in range(10)}
    rts["z1"] = {"direct": [0.5, 0.6], "exclusion": [0.9]}
    rts["z2"] = {"exclusion": [0.9, 1.0]}
    trials = make_trials(rows_of(rts))
    tables = split_half(trials, wide(measures=("mean_rt_s", "p_correct")))
    row = row_of(tables)
    assert (row["n_participants"], row["n_left_out"]) == (10, 2)
    assert json.loads(row["left_out"]) == ["z1", "z2"]
    lost = tables.left_out
    of_rt = lost[(lost["kind"] == "rule_effect") & (lost["measure"] == "mean_rt_s")]
    assert of_rt.set_index("participant_id")["reason"].to_dict() == {
        "z1": "usable RTs: 1 in exclusion; each half needs one",
        "z2": "usable RTs: 0 in direct; each half needs one",
    }
    assert set(lost.loc[lost["measure"] == "p_correct", "participant_id"]) == {"z1", "z2"}


def test_someone_who_is_always_wrong_is_lost_for_rt_alone(make_trials):
    rows = rows_of({f"p{i:02d}": {"direct": [0.5, 0.6, 0.7 + i / 9]} for i in range(10)})
    rows += [
        {"participant_id": "wrong", "rule": "direct", "error_kind": "rule_confusion"}
        for _ in range(3)
    ]
    tables = split_half(make_trials(rows), wide(measures=("mean_rt_s", "p_correct")))
    assert row_of(tables, kind="cell")["left_out"] == '["wrong"]'
    accuracy = row_of(tables, kind="cell", measure="p_correct")
    assert (accuracy["n_participants"], accuracy["n_left_out"]) == (11, 0)
    assert accuracy["r"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "note", "warning"),
    [
        (1, "1 participant, so no correlation", "1 participant: too few"),
        (2, "2 participants, so no correlation", "2 participants: too few"),
        (3, "3 participants, so no interval over participants", "3 participants: too few"),
        (9, "", "9 participants: too few"),
    ],
)
def test_few_participants_are_told(make_trials, n, note, warning):
    rts = {f"p{i}": {"direct": [0.5 + i, 0.51 + i, 0.57 + i, 0.53 + i / 2]} for i in range(n)}
    row = row_of(split_half(make_trials(rows_of(rts)), wide()), kind="cell")
    assert row["note"] == note
    assert warning in row["warning"]
    assert pd.isna(row["r"]) == (n < 3)
    assert pd.isna(row["r_low"]) == (n < 4)


def test_errors_in_one_half_alone_leave_splits_without_correlation(make_trials):
    rows = rows_of({f"p{i:02d}": {"direct": [0.5] * 3} for i in range(10)})
    rows.append({"participant_id": "p00", "rule": "direct", "error_kind": "rule_confusion"})
    row = row_of(split_half(make_trials(rows), wide(measures=("p_correct",))), "cell", "p_correct")
    # The single error is always in one half only.
    assert row["n_undefined_splits"] == 200
    assert pd.isna(row["r"])


def test_odd_and_even_trials_of_blocks_are_correlated_for_reference(make_trials):
    rng = np.random.default_rng(10)
    rows = []
    for person in range(11):
        for place in range(12):
            rule = "direct" if rng.random() < 0.5 or place < 4 else "exclusion"
            rule = "exclusion" if place in (4, 5) else rule
            rt_s = float(rng.lognormal(person / 20, 0.3))
            rows.append({"participant_id": f"{person:02d}", "rule": rule, "rt_s": rt_s,
                         "trial_in_block": place})  # fmt: skip
    trials = make_trials(rows)
    halves_of = trials.assign(rt_s=trials["rt_s"].astype(float), odd=trials["trial_in_block"] % 2)
    means = halves_of.pivot_table(index="participant_id", columns=["odd", "rule"], values="rt_s")
    scores = [means[odd]["exclusion"] - means[odd]["direct"] for odd in (0, 1)]
    both = pd.concat(scores, axis=1).dropna()
    row = row_of(split_half(trials, wide()))
    assert row["n_odd_even"] == len(both)
    assert row["r_odd_even"] == pytest.approx(np.corrcoef(both.to_numpy().T)[0, 1])


@pytest.mark.slow
def test_known_reliability_comes_back(draw_trials):
    effect_sd, noise_sd, n = 0.12, 0.3, 40
    trials = draw_trials(
        np.random.default_rng(11), n_participants=500, n_per_cell=n, effect_sd=effect_sd,
        noise_sd=noise_sd,
    )  # fmt: skip
    row = row_of(split_half(trials, wide(measures=("mean_log_rt",))), measure="mean_log_rt")
    truth = effect_sd**2 / (effect_sd**2 + 2 * noise_sd**2 / n)
    assert row["spearman_brown"] == pytest.approx(truth, abs=0.04)
    assert row["spearman_brown_low"] < truth < row["spearman_brown_high"]


@pytest.mark.slow
@pytest.mark.parametrize("person_sd", [0.06, 0.15])
def test_intervals_over_participants_hold_the_truth_as_often_as_they_say(person_sd):
    rng = np.random.default_rng(12)
    n_people, size, noise_sd, n_studies = 40, 20, 0.4, 400
    truth = person_sd**2 / (person_sd**2 + 2 * noise_sd**2 / size)
    n_held = 0
    for _ in range(n_studies):
        means = rng.normal(0, person_sd, n_people)
        values = np.sort(rng.normal(means[:, None], noise_sd, (n_people, size)), axis=1)
        cells = CellValues(values.ravel(), np.full((n_people, 1), size, dtype=np.intp))
        (found,) = draw_halves(cells, measures=["mean_rt_s"], n_splits=60, rng=rng)
        r, without = correlate_halves(*(half[:, :, 0] for half in found["mean_rt_s"]))
        result = summarise_splits(r, without.mean(axis=0), confidence=0.95)
        n_held += result.r_low <= truth <= result.r_high
    # 95 % within what 400 studies can tell, and a little for the small sample.
    assert 0.92 <= n_held / n_studies <= 0.98
