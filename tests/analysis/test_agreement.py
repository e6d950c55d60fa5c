from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ghostblitz_analysis.reliability import (
    intraclass_correlations,
    measurement_error,
)

#: Shrout & Fleiss (1979), table 2: six targets, four judges.
SHROUT_FLEISS = [
    [9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7],
]  # fmt: skip


def by_type(scores, confidence=0.95):
    return {one.icc_type: one for one in intraclass_correlations(scores, confidence=confidence)}


def drawn(rng, n, k, *, person_sd=1.0, session_sd=0.0, noise_sd=1.0):
    people, sessions = rng.normal(0, person_sd, (n, 1)), rng.normal(0, session_sd, k)
    return people + sessions + rng.normal(0, noise_sd, (n, k))


def test_coefficients_are_those_of_shrout_and_fleiss():
    found = by_type(SHROUT_FLEISS)
    # Their table 4.
    assert {name: round(one.icc, 2) for name, one in found.items()} == {
        "ICC1": 0.17, "ICC2": 0.29, "ICC3": 0.71, "ICC1k": 0.44, "ICC2k": 0.62, "ICC3k": 0.91,
    }  # fmt: skip
    # Mean squares of their table 3: 11.24 between, 6.26 within, 1.02 residual.
    assert found["ICC1"].f == pytest.approx(11.24 / 6.26, abs=0.002)
    assert found["ICC3"].f == pytest.approx(11.24 / 1.02, abs=0.03)
    assert (found["ICC1"].df_1, found["ICC1"].df_2) == (5, 18)
    assert (found["ICC2"].df_1, found["ICC2"].df_2) == (5, 15)
    assert [one.mcgraw_wong for one in found.values()] == [
        "ICC(1)", "ICC(A,1)", "ICC(C,1)", "ICC(k)", "ICC(A,k)", "ICC(C,k)",
    ]  # fmt: skip


def test_coefficients_of_means_are_those_of_single_scores_stepped_up():
    found = by_type(drawn(np.random.default_rng(1), 15, 3, session_sd=0.7))
    for name in ("ICC1", "ICC2", "ICC3"):
        one, mean = found[name], found[f"{name}k"]
        for field in ("icc", "low", "high"):
            single = getattr(one, field)
            stepped = 3 * single / (1 + 2 * single)
            assert getattr(mean, field) == pytest.approx(stepped)


def test_two_sessions_have_the_closed_form_of_covariances():
    x = drawn(np.random.default_rng(2), 20, 2)
    (a, c), (_, b) = np.cov(x.T)
    found = by_type(x)
    assert found["ICC3"].icc == pytest.approx(2 * c / (a + b))
    shift = np.diff(x.mean(axis=0))[0]
    # Absolute agreement takes the sessions' variance, less what chance adds to it, for error.
    of_sessions = shift**2 / 2 - np.diff(x, axis=1).var(ddof=1) / 2 / 20
    assert found["ICC2"].icc == pytest.approx(c / ((a + b) / 2 + of_sessions))


def test_a_shift_of_all_lowers_agreement_but_not_consistency():
    x = drawn(np.random.default_rng(3), 12, 2)
    before, after = by_type(x), by_type(x + np.array([0, 5]))
    assert after["ICC3"].icc == pytest.approx(before["ICC3"].icc)
    assert after["ICC2"].icc < before["ICC2"].icc / 2
    small, large = (measurement_error(y, confidence=0.95) for y in (x, x + np.array([0, 5])))
    assert large.sem_consistency == pytest.approx(small.sem_consistency)
    # A shift d of one of two sessions has the variance d^2 / 2 over sessions.
    shift = np.diff(x.mean(axis=0))[0] + 5
    assert large.sem_agreement**2 == pytest.approx(
        shift**2 / 2 - large.sem_consistency**2 / 12 + large.sem_consistency**2
    )


def test_the_error_of_two_sessions_is_that_of_their_difference():
    x = drawn(np.random.default_rng(4), 25, 2)
    result = measurement_error(x, confidence=0.9)
    sd_difference = np.diff(x, axis=1).std(ddof=1)
    assert result.sem_consistency == pytest.approx(sd_difference / np.sqrt(2))
    assert result.sdc_consistency == pytest.approx(1.6448536269514722 * sd_difference)
    low, high = np.sqrt(24 * sd_difference**2 / 2 / stats.chi2.ppf([0.95, 0.05], 24))
    assert result.sem_consistency_low == pytest.approx(low)
    assert result.sem_consistency_high == pytest.approx(high)
    assert (result.n_participants, result.n_sessions, result.note) == (25, 2, "")


def test_the_order_of_participants_and_sessions_is_irrelevant():
    rng = np.random.default_rng(5)
    x = drawn(rng, 9, 4, session_sd=1)
    y = x[rng.permutation(9)][:, rng.permutation(4)]
    for one, other in zip(by_type(x).values(), by_type(y).values(), strict=True):
        assert (one.icc, one.low, one.high) == pytest.approx((other.icc, other.low, other.high))


def test_the_test_of_a_consistent_coefficient_is_that_of_a_two_way_anova():
    x = drawn(np.random.default_rng(6), 8, 3)
    residual = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    f = (3 * x.mean(axis=1).var(ddof=1)) / ((residual**2).sum() / 14)
    found = by_type(x)["ICC3"]
    assert (found.f, found.p) == (pytest.approx(f), pytest.approx(stats.f.sf(f, 7, 14)))


@pytest.mark.parametrize(
    "scores",
    [
        np.empty((0, 2)), [[1.0, 2.0]], [[1.0], [2.0]], np.empty((0, 0)), [[1.0, 1.0], [1.0, 1.0]],
        [[0.1 + 0.2, 0.3], [0.3, 0.3]],
    ],
)  # fmt: skip
def test_what_has_no_coefficient_says_why(scores):
    for one in intraclass_correlations(scores, confidence=0.95):
        assert np.isnan([one.icc, one.low, one.high, one.f, one.p]).all()
        assert one.note


@pytest.mark.parametrize(
    "scores",
    [
        [[0, 1], [1, 0]],
        [[1, 2], [1, 2], [1, 2]],
        [[1, 1], [2, 2], [3, 3]],
        [[1, 2], [2, 3], [3, 4]],
        [[1, 3], [3, 1], [2, 2]],
        [[1, 5], [5, 1], [2, 4], [4, 2.1]],
        [[1, 2, 3], [3, 1, 2], [2, 3, 1]],
    ],
)
def test_hard_scores_give_finite_figures_or_a_note(scores):
    for one in intraclass_correlations(scores, confidence=0.95):
        figures = np.array([one.icc, one.low, one.high, one.f, one.p])
        assert not np.isinf(figures).any()
        assert bool(one.note) == bool(np.isnan(figures).any())
    error = measurement_error(scores, confidence=0.95)
    assert np.isfinite([error.sem_consistency, error.sem_agreement, error.sdc_agreement]).all()


def test_scores_that_repeat_exactly_agree_perfectly_without_a_test():
    found = by_type([[1, 1], [2, 2], [4, 4]])
    assert [one.icc for one in found.values()] == [1] * 6
    assert all("neither test nor interval" in one.note for one in found.values())
    assert measurement_error([[1, 1], [2, 2], [4, 4]], confidence=0.95).sem_agreement == 0


def test_one_participant_has_no_error_of_measurement_and_says_why():
    result = measurement_error([[1.0, 3.0]], confidence=0.95)
    assert result.mean == 2
    assert np.isnan([result.sem_consistency, result.sem_agreement, result.sd]).all()
    assert result.note == "1 participant with 2 sessions; both must be two at least"


def test_two_participants_have_no_intraclass_correlation_and_say_why():
    for one in by_type([[1.0, 2.0], [3.0, 3.5]]).values():
        figures = [one.icc, one.low, one.high, one.f, one.df_1, one.df_2, one.p]
        assert np.isnan(figures).all()
        assert one.note == (
            "2 participants with 2 sessions; there must be three participants and two sessions at "
            "least"
        )
    assert np.isfinite(by_type([[1.0, 2.0], [3.0, 3.5], [2.0, 2.2]])["ICC1"].icc)


@pytest.mark.slow
def test_a_bound_on_the_wrong_side_of_the_coefficient_is_missing_and_says_why():
    rng = np.random.default_rng(12)
    n_blank = 0
    for _ in range(400):
        n, k = int(rng.integers(3, 6)), int(rng.integers(2, 4))
        for one in by_type(drawn(rng, n, k, person_sd=0.3, session_sd=rng.uniform(0, 4))).values():
            assert not one.low > one.icc
            assert not one.high < one.icc
            blank = np.isnan(one.low) != np.isnan(one.high)
            n_blank += blank
            assert not blank or "bound" in one.note
    assert n_blank


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(7)
    n_studies, held = 1500, dict.fromkeys(("ICC1", "ICC2", "ICC3", "SEM"), 0)
    for _ in range(n_studies):
        x = drawn(rng, 25, 3, person_sd=1.2, session_sd=0.5)
        of_sessions, of_none = by_type(x), by_type(drawn(rng, 25, 3, person_sd=1.2))
        held["ICC1"] += of_none["ICC1"].low <= 1.44 / 2.44 <= of_none["ICC1"].high
        held["ICC2"] += of_sessions["ICC2"].low <= 1.44 / 2.69 <= of_sessions["ICC2"].high
        held["ICC3"] += of_sessions["ICC3"].low <= 1.44 / 2.44 <= of_sessions["ICC3"].high
        error = measurement_error(x, confidence=0.95)
        held["SEM"] += error.sem_consistency_low <= 1 <= error.sem_consistency_high
    for name in ("ICC1", "ICC3", "SEM"):
        assert held[name] / n_studies == pytest.approx(0.95, abs=0.018)
    # An approximation, since Satterthwaite's degrees of freedom are estimated.
    assert held["ICC2"] / n_studies == pytest.approx(0.95, abs=0.03)
