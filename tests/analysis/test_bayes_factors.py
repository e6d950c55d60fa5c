from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from ghostblitz_analysis.inference import bayes_factor, bayes_factor_text, jzs_log_bf10


def integrated_over_effects(t: float, n: int, r_scale: float) -> float:
    """BF10 in its other form: over noncentral t densities, with a Cauchy prior on the effect."""

    def weighted(effect: float) -> float:
        density = stats.nct.pdf(t, n - 1, effect * np.sqrt(n))
        return float(density * stats.cauchy.pdf(effect, scale=r_scale))

    peak = t / np.sqrt(n)
    reach = 12 * (1 + abs(peak)) / np.sqrt(n)
    value, _ = integrate.quad(
        weighted, peak - reach, peak + reach, points=[0.0, peak], limit=500, epsabs=0, epsrel=1e-10
    )
    return value / float(stats.t.pdf(t, n - 1))


@pytest.mark.parametrize(
    ("t", "n", "r_scale"),
    [(2.5, 20, 0.707), (0.0, 10, 1.0), (-1.3, 8, 0.5), (4.0, 12, 1.414), (0.4, 100, 0.707)],
)
def test_it_is_the_same_integrated_over_effects(t, n, r_scale):
    expected = np.log(integrated_over_effects(t, n, r_scale))
    assert jzs_log_bf10(t, n=n, r_scale=r_scale) == pytest.approx(expected, abs=1e-6)


def test_the_sign_of_t_plays_no_part():
    assert jzs_log_bf10(-2.2, n=15, r_scale=0.7) == jzs_log_bf10(2.2, n=15, r_scale=0.7)


def test_no_effect_speaks_against_one_and_the_more_the_wider_the_prior():
    logs = [jzs_log_bf10(0.0, n=40, r_scale=r) for r in (0.2, 0.5, 0.707, 1.0, 1.414, 100.0)]
    assert logs[0] < 0
    assert (np.diff(logs) < 0).all()


def test_a_prior_on_nothing_but_no_effect_decides_nothing():
    assert jzs_log_bf10(3.0, n=20, r_scale=1e-9) == pytest.approx(0, abs=1e-6)


def test_a_tenfold_sample_without_effect_speaks_more_by_its_root():
    # For t = 0 and n r^2 >> 1 BF01 is about r sqrt(n) times a constant.
    at = [jzs_log_bf10(0.0, n=n, r_scale=0.707) for n in (10**6, 10**8)]
    assert at[0] - at[1] == pytest.approx(np.log(10), rel=1e-3)


@pytest.mark.parametrize("n", [2, 20, 5000, 10**6])
@pytest.mark.parametrize("t", [30.0, 1e4, 1e150, 1e300])
def test_nothing_overflows(t, n):
    found = jzs_log_bf10(t, n=n, r_scale=0.707)
    assert np.isfinite(found)
    assert found > 0
    assert jzs_log_bf10(t * 2, n=n, r_scale=0.707) > found


def test_many_participants_are_those_of_laplaces_approximation():
    # The likelihood of the effect d is about normal with variance (1 + d^2 / 2) / n.
    n, t = 10**6, 100.0
    d = t / np.sqrt(n)
    ratio = n / 2 * np.log1p(t**2 / (n - 1))
    prior = stats.cauchy.logpdf(d, scale=0.707) + np.log(2 * np.pi * (1 + d**2 / 2) / n) / 2
    assert jzs_log_bf10(t, n=n, r_scale=0.707) == pytest.approx(ratio + prior, abs=0.01)


@pytest.mark.parametrize(
    ("t", "n", "r_scale"), [(1.0, 1, 0.7), (1.0, 10, 0.0), (np.inf, 10, 0.7), (1.0, 10, np.nan)]
)
def test_what_has_no_bayes_factor_is_refused(t, n, r_scale):
    with pytest.raises(ValueError, match="no Bayes factor"):
        jzs_log_bf10(t, n=n, r_scale=r_scale)


def test_a_missing_t_has_a_missing_bayes_factor():
    missing = jzs_log_bf10(np.nan, n=1, r_scale=0.7)
    assert np.isnan(missing)
    assert np.isnan(bayes_factor(missing))
    assert bayes_factor_text(missing) == ""


def test_beyond_floating_point_there_is_only_the_log():
    assert bayes_factor(700.0) == pytest.approx(np.exp(700.0))
    assert np.isnan(bayes_factor(710.0))
    assert np.isnan(bayes_factor(-746.0))


@pytest.mark.parametrize(
    ("bf10", "text"),
    [
        (2.702145, "BF10 = 2.70, BF01 = 0.370"),
        (1.0, "BF10 = 1.00, BF01 = 1.00"),
        (0.1, "BF10 = 0.100, BF01 = 10.0"),
        (9.996, "BF10 = 10.0, BF01 = 0.100"),
        (4321.0, "BF10 = 4320, BF01 = 2.31 × 10^-4"),
        (9.999e3, "BF10 = 1.00 × 10^4, BF01 = 1.00 × 10^-4"),
        (2.5e12, "BF10 = 2.50 × 10^12, BF01 = 4.00 × 10^-13"),
    ],
)
def test_both_directions_stand_in_the_text(bf10, text):
    assert bayes_factor_text(float(np.log(bf10))) == text


@pytest.mark.parametrize("r_scale", [1e-300, 1e-5, 1e5, 1e300])
def test_no_width_of_the_prior_overflows(r_scale):
    found = jzs_log_bf10(3.0, n=20, r_scale=r_scale)
    assert np.isfinite(found)
    # A prior on nothing but 0 decides nothing; one without limits speaks for 0.
    assert found == pytest.approx(0, abs=1e-3) if r_scale < 1 else found < 0
