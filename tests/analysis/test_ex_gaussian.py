from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from ghostblitz_analysis.distributions import (
    ex_gaussian_cdf,
    ex_gaussian_cells,
    ex_gaussian_log_density,
    fit_ex_gaussian,
    group_ex_gaussian,
)
from ghostblitz_analysis.distributions.ex_gaussian import (
    log_likelihood_gradient,
    log_likelihood_hessian,
)
from ghostblitz_task.errors import DatasetError

RULE = ("rule",)


def draw(rng, n, *, mu=0.4, sigma=0.05, tau=0.1):
    return rng.normal(mu, sigma, n) + rng.exponential(tau, n)


# --- the distribution -----------------------------------------------------------------------


@given(
    st.floats(-5, 25),
    st.floats(0.02, 5),
    st.floats(0.2, 5),
)
def test_the_log_density_is_scipys_where_that_is_exact(u, sigma, tau):
    x = 1 + u * sigma
    expected = stats.exponnorm.logpdf(x, tau / sigma, loc=1, scale=sigma)
    found = ex_gaussian_log_density(x, mu_s=1, sigma_s=sigma, tau_s=tau)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


#: From mpmath with 80 digits: log of exp(s^2 / (2 t^2) - (x - m) / t) Phi(z) / t.
EXACT = (
    # x, mu, sigma, tau, log density
    (0.0, 0.0, 1.0, 1e-6, -0.91893853320517274178),
    (2.0, 0.0, 1.0, 1e-6, -2.9189365332036727431),
    (1.0, 0.0, 1e-6, 1.0, -0.9999999999995),
    (-30.0, 0.0, 1.0, 0.5, -453.69250144516542886),
    (88.0, 0.4, 0.05, 0.1, -873.57241490700595432),
)


@pytest.mark.parametrize(("x", "mu", "sigma", "tau", "expected"), EXACT)
def test_the_log_density_holds_where_its_terms_cancel(x, mu, sigma, tau, expected):
    found = ex_gaussian_log_density(x, mu_s=mu, sigma_s=sigma, tau_s=tau)
    assert found == pytest.approx(expected, rel=1e-12)


def test_with_a_vanishing_tau_it_is_the_normal_distribution():
    x = np.linspace(0.1, 0.9, 41)
    normal = stats.norm.logpdf(x, 0.5, 0.1)
    for tau in (1e-9, 1e-100, 0.0):
        found = ex_gaussian_log_density(x, mu_s=0.5, sigma_s=0.1, tau_s=tau)
        assert found == pytest.approx(normal, abs=1e-6)
        cdf = ex_gaussian_cdf(x, mu_s=0.5, sigma_s=0.1, tau_s=tau)
        assert cdf == pytest.approx(stats.norm.cdf(x, 0.5, 0.1), abs=1e-7)


def test_with_a_vanishing_sigma_it_is_the_shifted_exponential_distribution():
    x = np.linspace(0.51, 3, 41)
    exponential = stats.expon.logpdf(x, 0.5, 0.3)
    for sigma in (1e-6, 1e-300, 0.0):
        found = ex_gaussian_log_density(x, mu_s=0.5, sigma_s=sigma, tau_s=0.3)
        assert found == pytest.approx(exponential, abs=1e-9)
        cdf = ex_gaussian_cdf(x, mu_s=0.5, sigma_s=sigma, tau_s=0.3)
        assert cdf == pytest.approx(stats.expon.cdf(x, 0.5, 0.3), abs=1e-9)
    assert ex_gaussian_log_density(0.4, mu_s=0.5, sigma_s=1e-300, tau_s=0.3) == -np.inf


def test_the_cumulative_distribution_is_the_integral_of_the_density():
    parameters = {"mu_s": 0.4, "sigma_s": 0.05, "tau_s": 0.1}
    for x in (0.3, 0.45, 0.7):
        area, _ = integrate.quad(lambda t: np.exp(ex_gaussian_log_density(t, **parameters)), -1, x)
        assert ex_gaussian_cdf(x, **parameters) == pytest.approx(area, abs=1e-8)


@pytest.mark.parametrize(("sigma", "tau"), [(-0.1, 0.1), (0.1, -0.1), (0.0, 0.0), (np.nan, 0.1)])
def test_impossible_parameters_are_refused(sigma, tau):
    with pytest.raises(DatasetError, match="cannot have mu"):
        ex_gaussian_log_density([0.5], mu_s=0.4, sigma_s=sigma, tau_s=tau)


@pytest.mark.parametrize("theta", [(-0.8, -0.5, -0.2), (0.1, 0.3, -2.0), (-0.9, -2.5, 0.0)])
def test_the_derivatives_are_those_of_the_log_likelihood(theta):
    y = np.linspace(-1.2, 2.5, 30) ** 3 / 4
    at = np.array(theta)

    def height(t):
        return ex_gaussian_log_density(y, mu_s=t[0], sigma_s=np.exp(t[1]), tau_s=np.exp(t[2])).sum()

    numerical = optimize.approx_fprime(at, height, 1e-7)
    gradient = log_likelihood_gradient(y, at)
    assert gradient == pytest.approx(numerical, rel=1e-4, abs=1e-4)
    curves = log_likelihood_hessian(y, at)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-5
        column = (
            log_likelihood_gradient(y, at + step) - log_likelihood_gradient(y, at - step)
        ) / 2e-5
        assert curves[:, k] == pytest.approx(column, rel=1e-5, abs=1e-5)


# --- one fit --------------------------------------------------------------------------------


def test_no_other_search_finds_a_greater_likelihood():
    x = draw(np.random.default_rng(1), 120)
    fit = fit_ex_gaussian(x)

    def loss(t):
        return -stats.exponnorm.logpdf(x, np.exp(t[2] - t[1]), loc=t[0], scale=np.exp(t[1])).sum()

    other = optimize.minimize(
        loss, [0.4, -3, -2], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-10}
    )
    assert fit.log_likelihood == pytest.approx(-other.fun, abs=1e-6)
    assert fit.tau_s == pytest.approx(np.exp(other.x[2]), rel=1e-4)
    assert fit.converged
    assert (fit.boundary, fit.note) == ("", "")
    # The score for mu is 0 at the maximum only where the means agree.
    assert fit.mu_s + fit.tau_s == pytest.approx(x.mean(), rel=1e-4)


def test_the_unit_and_an_added_constant_change_only_what_they_must():
    x = draw(np.random.default_rng(2), 100)
    fit, ms = fit_ex_gaussian(x), fit_ex_gaussian(1000 * (x + 1))
    assert ms.mu_s == pytest.approx(1000 * (fit.mu_s + 1), rel=1e-7)
    assert ms.sigma_s == pytest.approx(1000 * fit.sigma_s, rel=1e-6)
    assert ms.tau_s == pytest.approx(1000 * fit.tau_s, rel=1e-6)
    assert ms.tau_high_s == pytest.approx(1000 * fit.tau_high_s, rel=1e-5)
    assert ms.log_likelihood == pytest.approx(fit.log_likelihood - 100 * np.log(1000), rel=1e-9)
    assert ms.ks_distance == pytest.approx(fit.ks_distance, abs=1e-6)


def test_the_distance_is_that_of_kolmogorov_and_smirnov():
    x = draw(np.random.default_rng(3), 80)
    fit = fit_ex_gaussian(x)
    parameters = {"mu_s": fit.mu_s, "sigma_s": fit.sigma_s, "tau_s": fit.tau_s}
    expected = stats.kstest(x, lambda t: ex_gaussian_cdf(t, **parameters)).statistic
    assert fit.ks_distance == pytest.approx(expected, rel=1e-12)


def test_standard_errors_are_those_of_the_observed_information():
    x = draw(np.random.default_rng(4), 150)
    fit = fit_ex_gaussian(x)
    at = np.array([fit.mu_s, fit.sigma_s, fit.tau_s])

    def height(t):
        return ex_gaussian_log_density(x, mu_s=t[0], sigma_s=t[1], tau_s=t[2]).sum()

    h = 1e-4 * at
    information = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            a, b = np.eye(3)[i] * h, np.eye(3)[j] * h
            around = height(at + a + b) - height(at + a - b)
            around -= height(at - a + b) - height(at - a - b)
            information[i, j] = -around / (4 * h[i] * h[j])
    se = np.sqrt(np.diag(np.linalg.inv(information)))
    assert [fit.mu_se_s, fit.sigma_se_s, fit.tau_se_s] == pytest.approx(se, rel=1e-3)
    z = stats.norm.ppf(0.975)
    assert fit.mu_high_s - fit.mu_s == pytest.approx(z * se[0], rel=1e-3)
    assert np.log(fit.tau_high_s / fit.tau_s) == pytest.approx(z * se[2] / fit.tau_s, rel=1e-3)
    assert np.log(fit.sigma_s / fit.sigma_low_s) == pytest.approx(z * se[1] / fit.sigma_s, rel=1e-3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 39])
def test_too_few_rts_are_refused(n):
    fit = fit_ex_gaussian(draw(np.random.default_rng(5), n))
    assert fit.n_rt == n
    assert np.isnan([fit.mu_s, fit.sigma_s, fit.tau_s, fit.log_likelihood]).all()
    assert fit.converged is None
    assert "fewer than the 40 that a fit wants" in fit.note


def test_forty_rts_are_enough():
    assert fit_ex_gaussian(draw(np.random.default_rng(6), 40)).converged


def test_identical_rts_are_refused():
    fit = fit_ex_gaussian([1 / 3] * 50)
    assert np.isnan(fit.mu_s)
    assert fit.note == "all RTs are equal, so there is no distribution to fit"


def test_rts_that_lean_to_the_left_are_a_normal_distribution():
    x = 2 - draw(np.random.default_rng(7), 200)
    fit = fit_ex_gaussian(x)
    assert (fit.boundary, fit.tau_s, fit.converged) == ("tau", 0, True)
    assert (fit.mu_s, fit.sigma_s) == (pytest.approx(x.mean()), pytest.approx(x.std()))
    assert fit.log_likelihood == pytest.approx(stats.norm.logpdf(x, x.mean(), x.std()).sum())
    assert np.isnan([fit.tau_low_s, fit.tau_high_s, fit.mu_low_s]).all()
    assert fit.note.startswith("tau runs to 0")


def test_exponential_rts_have_no_normal_part():
    x = 0.5 + stats.expon.ppf((np.arange(100) + 0.5) / 100, scale=0.2)
    x[0] = 0.5
    fit = fit_ex_gaussian(np.concatenate([[0.5] * 8, x]))
    assert (fit.boundary, fit.sigma_s, fit.mu_s) == ("sigma", 0, 0.5)
    assert fit.note.startswith("sigma runs to 0")


def test_one_rt_of_88_s_does_not_end_the_search():
    x = np.append(draw(np.random.default_rng(8), 200, mu=0.8, sigma=0.1, tau=0.3), 88.0)
    fit = fit_ex_gaussian(x)
    assert fit.converged
    trials = [
        -optimize.minimize(
            lambda t: (
                -ex_gaussian_log_density(
                    x, mu_s=t[0], sigma_s=np.exp(t[1]), tau_s=np.exp(t[2])
                ).sum()
            ),
            [mu, np.log(sigma), np.log(tau)],
            method="Nelder-Mead",
            options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-8, "fatol": 1e-9},
        ).fun
        for mu, sigma, tau in ((0.8, 0.1, 0.5), (0.6, 0.05, 0.8), (1, 1, 1))
    ]
    assert fit.log_likelihood == pytest.approx(max(trials), abs=1e-5)


def test_rts_in_whole_hundredths_are_fitted():
    x = draw(np.random.default_rng(9), 100).round(2)
    assert fit_ex_gaussian(x).converged


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rts_must_be_numbers(value):
    with pytest.raises(DatasetError, match="1 of 51 RTs to fit are missing or not finite"):
        fit_ex_gaussian([*np.linspace(0.4, 0.9, 50), value])


@pytest.mark.slow
def test_whatever_the_shape_a_fit_ends_in_words_or_with_intervals():
    rng = np.random.default_rng(10)
    for number in range(60):
        n = int(rng.integers(40, 120))
        kind = number % 4
        x = (
            draw(rng, n, sigma=10 ** rng.uniform(-4, -0.5), tau=10 ** rng.uniform(-4, 0))
            if kind == 0
            else rng.lognormal(0, rng.uniform(0.01, 2), n)
            if kind == 1
            else rng.uniform(0.3, 0.9, n)
            if kind == 2
            else rng.choice([0.5, 0.6, 5.0], n)
        )
        fit = fit_ex_gaussian(x)
        assert np.isfinite([fit.mu_s, fit.sigma_s, fit.tau_s, fit.ks_distance]).all()
        bounds = [fit.mu_low_s, fit.mu_high_s, fit.sigma_low_s, fit.sigma_high_s]
        bounds += [fit.tau_low_s, fit.tau_high_s]
        assert not np.isinf(bounds).any()
        assert bool(np.isnan(bounds).any()) == bool(fit.note)
        normal = stats.norm.logpdf(x, x.mean(), x.std()).sum()
        exponential = stats.expon.logpdf(x, x.min(), x.mean() - x.min()).sum()
        assert fit.log_likelihood >= max(normal, exponential) - 1e-6


@pytest.mark.slow
def test_known_parameters_come_back_with_little_bias_and_intervals_that_cover():
    rng = np.random.default_rng(11)
    true = {"mu": 0.4, "sigma": 0.05, "tau": 0.1}
    fits = [fit_ex_gaussian(draw(rng, 200)) for _ in range(1000)]
    assert all(fit.converged and not fit.note for fit in fits)
    for name, value in true.items():
        estimates = np.array([getattr(fit, f"{name}_s") for fit in fits])
        low = np.array([getattr(fit, f"{name}_low_s") for fit in fits])
        high = np.array([getattr(fit, f"{name}_high_s") for fit in fits])
        assert abs(estimates.mean() / value - 1) < 0.03
        covered = ((low <= value) & (value <= high)).mean()
        # A proportion of 0.95 has a standard error of 0.007 here.
        assert 0.925 <= covered <= 0.975
        se = np.array([getattr(fit, f"{name}_se_s") for fit in fits])
        assert np.median(se) == pytest.approx(estimates.std(ddof=1), rel=0.12)


# --- many cells -----------------------------------------------------------------------------


def trials_of(samples):
    return pd.concat(
        pd.DataFrame({"participant_id": p, "rule": r, "rt_s": x, "correct": True})
        for (p, r), x in samples.items()
    )


def test_each_cell_is_fitted_by_itself():
    rng = np.random.default_rng(12)
    samples = {(p, r): draw(rng, 60) for p in "ab" for r in ("direct", "exclusion")}
    samples["b", "exclusion"] = samples["b", "exclusion"][:5]
    table = ex_gaussian_cells(trials_of(samples), factors=RULE)
    assert table["n_rt"].tolist() == [60, 60, 60, 5]
    for row in table.iloc[:3].itertuples():
        fit = fit_ex_gaussian(samples[row.participant_id, row.rule])
        assert (row.mu_s, row.tau_high_s) == (fit.mu_s, fit.tau_high_s)
        assert row.converged
        assert row.note == ""
    last = table.iloc[3]
    assert last["mu_s"] is pd.NA
    assert last["converged"] is pd.NA
    assert last["note"] == "5 RTs, fewer than the 40 that a fit wants"


def test_groups_name_who_was_not_fitted_and_count_who_is_at_a_boundary():
    rng = np.random.default_rng(13)
    samples = {(p, "direct"): draw(rng, 80) for p in "ab"}
    samples["c", "direct"] = 2 - draw(rng, 80)
    samples["01", "direct"] = draw(rng, 5)
    table = ex_gaussian_cells(trials_of(samples), factors=RULE)
    groups = group_ex_gaussian(table, factors=RULE).set_index("measure")
    row = groups.loc["tau_s"]
    assert (row["n_participants"], row["n_left_out"], row["n_at_boundary"]) == (3, 1, 1)
    assert json.loads(row["left_out"]) == ["01"]
    assert row["mean"] == pytest.approx(table["tau_s"].dropna().astype(float).mean())


def test_fits_that_did_not_converge_are_left_out_of_the_mean():
    fits = pd.DataFrame(
        {"participant_id": ["a", "b", "c"], "rule": "direct", "mu_s": [0.4, 0.6, 9.0],
         "sigma_s": 0.05, "tau_s": 0.1, "converged": [True, True, False], "boundary": ""}
    )  # fmt: skip
    row = group_ex_gaussian(fits, factors=RULE).iloc[0]
    assert (row["mean"], row["n_left_out"]) == (0.5, 1)
    assert json.loads(row["left_out"]) == ["c"]


def test_very_many_cells_are_not_fitted_unasked():
    rng = np.random.default_rng(14)
    trials = trials_of({(p, "direct"): draw(rng, 50) for p in "abc"})
    table = ex_gaussian_cells(trials, factors=RULE, max_fits=2)
    assert table["mu_s"].isna().all()
    assert table["n_rt"].tolist() == [50, 50, 50]
    assert table["note"].iloc[0].startswith("not fitted: 3 cells have enough RTs, more than the 2")
    assert ex_gaussian_cells(trials, factors=RULE, max_fits=3)["mu_s"].notna().all()
    assert ex_gaussian_cells(trials, factors=RULE, max_fits=None)["mu_s"].notna().all()


def test_an_empty_table_gives_an_empty_table():
    trials = trials_of({("a", "direct"): [0.5]}).iloc[:0]
    table = ex_gaussian_cells(trials, factors=RULE)
    assert table.empty
    assert group_ex_gaussian(table, factors=RULE).empty


@pytest.mark.slow
def test_forty_participants_in_four_cells_are_fitted_in_seconds():
    rng = np.random.default_rng(15)
    samples = {(f"{p:02d}", str(r)): draw(rng, 80) for p in range(40) for r in range(4)}
    trials = trials_of(samples)
    began = time.perf_counter()
    table = ex_gaussian_cells(trials, factors=RULE)
    assert time.perf_counter() - began < 15  # a busy machine's allowance on about 2 s
    assert table["converged"].all()
