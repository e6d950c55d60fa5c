from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ghostblitz_analysis.inference import (
    cohens_dav,
    cohens_dz,
    hedges_correction,
    noncentral_t_limits,
)


@pytest.mark.parametrize(
    ("t", "df", "confidence"),
    [(2.5, 19, 0.95), (0.3, 4, 0.9), (-3.1, 9, 0.95), (8.0, 2, 0.8), (4.2, 14, 0.95),
     (20.0, 60, 0.99)],
)  # fmt: skip
def test_at_its_limits_t_is_just_not_too_large_or_too_small(t, df, confidence):
    low, high = noncentral_t_limits(t, df=df, confidence=confidence)
    tail = (1 - confidence) / 2
    # Not nct.sf, which fails here and there in some releases of SciPy.
    assert stats.nct.cdf(t, df, low) == pytest.approx(1 - tail, rel=1e-8)
    assert stats.nct.cdf(t, df, high) == pytest.approx(tail, rel=1e-7)


@pytest.mark.parametrize("df", [1, 7, 5000])
def test_a_t_of_zero_has_the_limits_of_a_standard_normal(df):
    z = stats.norm.ppf(0.975)
    assert noncentral_t_limits(0.0, df=df, confidence=0.95) == pytest.approx((-z, z))


def test_limits_of_many_participants_are_those_of_the_normal_approximation():
    # Johnson & Welch (1940): t is about normal with variance 1 + t^2 / (2 df).
    t, df = 300.0, 1e6
    low, high = noncentral_t_limits(t, df=df, confidence=0.95)
    half = stats.norm.ppf(0.975) * np.sqrt(1 + t**2 / (2 * df))
    assert (t - low, high - t) == pytest.approx((half, half), rel=1e-3)


@pytest.mark.parametrize("df", [1, 5, 40, 4999])
@pytest.mark.parametrize("t", [1e-9, 1.0, 60.0, 1e4, 1e9])
def test_limits_enclose_t_and_turn_with_its_sign(t, df):
    low, high = noncentral_t_limits(t, df=df, confidence=0.95)
    assert np.isfinite([low, high]).all()
    assert low < high
    if df > 1:
        assert low < t < high
    assert noncentral_t_limits(-t, df=df, confidence=0.95) == (-high, -low)


def test_a_missing_t_has_no_limits():
    assert np.isnan(noncentral_t_limits(np.nan, df=3, confidence=0.95)).all()


def test_hedges_correction_is_that_of_gamma_functions():
    assert hedges_correction(2) == pytest.approx(1 / np.sqrt(np.pi))
    # Hedges' own approximation.
    assert hedges_correction(50) == pytest.approx(1 - 3 / (4 * 50 - 1), rel=2e-5)
    assert hedges_correction(1e6) == pytest.approx(1, rel=1e-5)
    assert np.isnan(hedges_correction(1))


def test_dz_is_mean_over_sd_and_its_interval_that_of_the_noncentrality():
    x = np.array([0.2, 0.5, 0.1, 0.9, 0.4])
    effect = cohens_dz(x, confidence=0.9)
    t = stats.ttest_1samp(x, 0).statistic
    limits = np.array(noncentral_t_limits(t, df=4, confidence=0.9)) / np.sqrt(5)
    assert effect.d == pytest.approx(x.mean() / x.std(ddof=1))
    assert (effect.low, effect.high) == pytest.approx(tuple(limits))
    corrected = np.array([effect.d, *limits]) * hedges_correction(4)
    assert [effect.g, effect.g_low, effect.g_high] == pytest.approx(corrected.tolist())
    assert effect.note == ""


def test_with_equal_sds_dav_is_dz_times_the_root_of_twice_one_less_r():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 15))
    y = (y - y.mean()) / y.std(ddof=1) * x.std(ddof=1) - 1
    r = np.corrcoef(x, y)[0, 1]
    dz, dav = (
        cohens_dz(x - y, confidence=0.95),
        cohens_dav(x, y, confidence=0.95),
    )
    factor = np.sqrt(2 * (1 - r))
    assert dav.d == pytest.approx((x - y).mean() / x.std(ddof=1))
    assert [dav.d, dav.low, dav.high, dav.g] == pytest.approx(
        [dz.d * factor, dz.low * factor, dz.high * factor, dz.g * factor]
    )


def test_dav_divides_by_the_root_of_the_mean_variance():
    effect = cohens_dav([1.0, 2.0, 6.0], [0.0, 2.0, 1.0], confidence=0.95)
    assert effect.d == pytest.approx(2 / np.sqrt((7 + 1) / 2))


@pytest.mark.parametrize(
    ("differences", "note"),
    [
        ([], "no participant"),
        ([0.4], "one participant, so no interval"),
        ([0.3, 0.3, 0.1 + 0.2], "same value"),
    ],
)
def test_an_effect_that_does_not_exist_is_missing_and_says_why(differences, note):
    zeros = np.zeros(len(differences))
    for effect in (
        cohens_dz(differences, confidence=0.95),
        cohens_dav(differences, zeros, confidence=0.95),
    ):
        values = [effect.d, effect.low, effect.high, effect.g, effect.g_low, effect.g_high]
        assert np.isnan(values).all()
        assert note in effect.note


def test_two_participants_have_a_d_but_no_corrected_one():
    effect = cohens_dz([0.2, 0.4], confidence=0.95)
    assert effect.d == pytest.approx(0.3 / np.sqrt(0.02))
    assert effect.low < effect.d < effect.high
    assert np.isnan([effect.g, effect.g_low, effect.g_high]).all()
    assert "two participants" in effect.note


@pytest.mark.slow
def test_intervals_hold_the_true_effects_as_often_as_they_say_and_g_has_no_bias():
    rng = np.random.default_rng(2)
    n_runs, n, true_dz = 2000, 12, 0.8
    in_z, in_av, g = 0, 0, []
    # SDs 1 and 1 with r = .5: the SD of differences is 1, so that dav and dz are the same.
    for _ in range(n_runs):
        shared_part = rng.normal(size=n) * np.sqrt(0.5)
        x, y = shared_part + rng.normal(size=(2, n)) * np.sqrt(0.5)
        dz = cohens_dz(x + true_dz - y, confidence=0.95)
        dav = cohens_dav(x + true_dz, y, confidence=0.95)
        in_z += dz.low <= true_dz <= dz.high
        in_av += dav.low <= true_dz <= dav.high
        g.append(dz.g)
    margin = 3 * np.sqrt(0.95 * 0.05 / n_runs)
    assert in_z / n_runs == pytest.approx(0.95, abs=margin)
    # dav's interval is an approximation, whose coverage is within a percent or two.
    assert in_av / n_runs == pytest.approx(0.95, abs=margin + 0.02)
    assert np.mean(g) == pytest.approx(true_dz, abs=3 * np.std(g) / np.sqrt(n_runs))
