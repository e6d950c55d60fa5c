"""Mixed logit and GEE: exact integrals, limiting cases, recovery."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.regression import error_rows, fit_gee, fit_mixed_logit
from ghostblitz_analysis.regression.laplace import laplace_loglik
from ghostblitz_analysis.regression.laplace_fits import fit_laplace
from ghostblitz_analysis.regression.separation import CellCounts
from ghostblitz_analysis.settings import AnalysisSettings

MATRIX = np.array([[1.0, 0.0], [1.0, 1.0]])
#: Random intercepts: both cells of a participant share them.
SHARED = np.ones((1, 2, 2))


def draw_counts(rng, *, n_people, n_trials, beta, sd):
    eta = MATRIX @ np.asarray(beta) + rng.normal(0, sd, n_people)[:, None]
    trials = np.full((n_people, 2), float(n_trials))
    return CellCounts(trials, rng.binomial(n_trials, special.expit(eta)).astype(float))


def rows_of(trials, factors=("rule",)):
    return error_rows(flag_exclusions(trials, AnalysisSettings()), factors=factors)


@pytest.mark.parametrize("sd", [0.0, 0.4, 1.5, -0.7])
@pytest.mark.parametrize("beta", [(-2.0, 0.5), (3.0, -6.0)])
def test_the_slopes_are_those_of_the_log_likelihood(sd, beta):
    counts = draw_counts(np.random.default_rng(1), n_people=7, n_trials=20, beta=(-2, 0.5), sd=0.8)
    parameters = np.array([*beta, sd])
    _, slopes = laplace_loglik(parameters, counts, MATRIX, SHARED)
    numeric = optimize.approx_fprime(
        parameters, lambda values: laplace_loglik(values, counts, MATRIX, SHARED)[0], 1e-6
    )
    assert slopes == pytest.approx(numeric, rel=1e-4, abs=2e-3)


def test_the_laplace_likelihood_nears_the_integral_with_many_trials():
    rng = np.random.default_rng(2)
    gaps = []
    for n_trials in (10, 1000):
        counts = draw_counts(rng, n_people=3, n_trials=n_trials, beta=(-1, 0.5), sd=0.6)

        def exact(k, n):
            def log_joint(u):
                eta = MATRIX @ np.array([-1.0, 0.5]) + 0.6 * u
                return (k * eta - n * np.logaddexp(0, eta)).sum() - u**2 / 2

            top = max(log_joint(u) for u in np.linspace(-4, 4, 161))
            area, _ = integrate.quad(
                lambda u: np.exp(log_joint(u) - top), -6, 6, limit=400, points=np.linspace(-4, 4, 9)
            )
            return top + np.log(area / np.sqrt(2 * np.pi))

        total = sum(exact(k, n) for k, n in zip(counts.n_errors, counts.n_trials, strict=True))
        approximate, _ = laplace_loglik(np.array([-1.0, 0.5, 0.6]), counts, MATRIX, SHARED)
        gaps.append(abs(approximate - total))
    assert gaps[0] < 0.1
    assert gaps[1] < gaps[0] / 10


def test_without_random_variance_it_is_the_logit_of_pooled_counts():
    counts = CellCounts(np.full((4, 2), 50.0), np.array([[5.0, 10.0]] * 4))
    fit = fit_laplace(counts, MATRIX, SHARED, penalised=False)
    low, high = special.logit(0.1), special.logit(0.2)
    assert fit.singular
    assert fit.sd.tolist() == [0]
    assert fit.coefficients == pytest.approx([low, high - low], abs=1e-7)
    variances = 1 / (200 * np.array([0.09, 0.16]))
    assert np.diag(fit.covariance) == pytest.approx([variances[0], variances.sum()], rel=1e-5)


def test_the_penalty_adds_half_an_error_and_half_a_correct_trial_per_cell():
    counts = CellCounts(np.full((4, 2), 50.0), np.array([[0.0, 10.0]] * 4))
    fit = fit_laplace(counts, MATRIX, SHARED, penalised=True)
    low, high = np.log(0.5 / 200.5), np.log(40.5 / 160.5)
    assert fit.coefficients == pytest.approx([low, high - low], abs=1e-6)


def test_participants_without_errors_do_not_separate():
    errors = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 9.0], [5.0, 12.0], [1.0, 4.0]])
    fit = fit_laplace(CellCounts(np.full((5, 2), 40.0), errors), MATRIX, SHARED, penalised=False)
    assert fit.converged
    assert fit.sd[0] > 0.5
    assert np.abs(fit.coefficients).max() < 6


def test_the_order_of_participants_and_of_trials_does_not_matter(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=8, n_per_cell=25, p_error=0.15)
    shuffled = trials.sample(frac=1, random_state=np.random.default_rng(4))
    one, two = (fit_mixed_logit(rows_of(t), confidence=0.95) for t in (trials, shuffled))
    assert [e.estimate for e in one.effects] == pytest.approx(
        [e.estimate for e in two.effects], rel=1e-9
    )


def test_errors_that_do_not_vary_with_the_participant_are_singular_and_told(make_trials):
    trials = make_trials(
        {
            "participant_id": f"p{person}",
            "rule": rule,
            "error_kind": "shape_capture" if trial < wrong else None,
        }
        for person in range(5)
        for rule, wrong in (("direct", 2), ("exclusion", 4))
        for trial in range(20)
    )
    fit = fit_mixed_logit(rows_of(trials), confidence=0.95)
    assert fit.singular
    assert "singular: no variance" in fit.note
    assert "intercepts only" in fit.note
    assert fit.converged


@pytest.mark.parametrize("fitter", [fit_mixed_logit, fit_gee])
@pytest.mark.parametrize(
    ("p_error", "message"), [(0.0, "no error in 60 trials"), (1.0, "nothing but errors in 60")]
)
def test_all_correct_and_all_wrong_leave_nothing_to_model(draw_trials, fitter, p_error, message):
    trials = draw_trials(np.random.default_rng(3), n_participants=3, n_per_cell=10, p_error=p_error)
    fit = fitter(rows_of(trials), confidence=0.95)
    assert not fit.fitted
    assert message in fit.note


@pytest.mark.parametrize("fitter", [fit_mixed_logit, fit_gee])
@pytest.mark.parametrize(
    ("n", "message"), [(0, "no usable trial"), (1, "one participant, so no model")]
)
def test_fewer_than_two_participants_have_no_error_model(draw_trials, fitter, n, message):
    trials = draw_trials(np.random.default_rng(3), n_participants=1, n_per_cell=10, p_error=0.3)
    fit = fitter(rows_of(trials.iloc[: n * len(trials)]), confidence=0.95)
    assert not fit.fitted
    assert message in fit.note


def test_two_participants_are_enough_for_the_logit_and_too_few_for_gee(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=2, n_per_cell=40, p_error=0.3)
    rows = rows_of(trials)
    assert fit_mixed_logit(rows, confidence=0.95).fitted
    assert "2 participants are few" in fit_mixed_logit(rows, confidence=0.95).note
    gee = fit_gee(rows, confidence=0.95)
    assert not gee.fitted
    assert "2 participants are too few for 2 coefficients" in gee.note


def test_one_rule_leaves_an_intercept(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=5, n_per_cell=40, p_error=0.3)
    rows = rows_of(trials[trials["rule"] == "direct"])
    assert rows.design.formula == "1"
    for fitter in (fit_mixed_logit, fit_gee):
        fit = fitter(rows, confidence=0.95)
        assert [e.term.coded for e in fit.effects] == ["(Intercept)"]


def test_gee_with_equal_participants_has_the_pooled_estimates(draw_trials):
    trials = draw_trials(np.random.default_rng(5), n_participants=10, n_per_cell=30, p_error=0.2)
    fit = fit_gee(rows_of(trials), confidence=0.95)
    wrong = (~trials["correct"]).groupby(trials["rule"]).mean()
    assert fit.effects[0].estimate == pytest.approx(special.logit(wrong["direct"]), abs=1e-4)
    assert fit.effects[0].df == 8
    assert "Mancl & DeRouen" in fit.note
    assert np.isnan(fit.aic)


def test_gee_is_not_fitted_to_more_rows_than_its_limit(draw_trials):
    trials = draw_trials(np.random.default_rng(5), n_participants=10, n_per_cell=30, p_error=0.2)
    assert (
        "600 trials are more than 599"
        in fit_gee(rows_of(trials), confidence=0.95, max_rows=599).note
    )


def test_trials_of_unknown_correctness_are_counted(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=3, n_per_cell=10, p_error=0.3)
    unknown = trials["trial_index"] == 4
    trials = trials.assign(correct=trials["correct"].mask(unknown))
    rows = rows_of(trials)
    assert rows.n_rows_left_out == 3
    assert "3 trials of unknown correctness" in " ".join(rows.notes)


@pytest.mark.slow
def test_wald_intervals_cover_a_known_odds_ratio():
    """95 % intervals over 400 studies; the binomial SD of the coverage is 1.1 %."""
    rng = np.random.default_rng(20261130)
    estimates, covered = [], []
    for _ in range(400):
        counts = draw_counts(rng, n_people=25, n_trials=60, beta=(-2.2, 0.6), sd=0.5)
        fit = fit_laplace(counts, MATRIX, SHARED, penalised=False)
        se = np.sqrt(fit.covariance[1, 1])
        estimates.append(fit.coefficients[1])
        covered.append(abs(fit.coefficients[1] - 0.6) < 1.959964 * se)
    assert np.mean(estimates) == pytest.approx(0.6, abs=4 * np.std(estimates) / 20)
    assert 0.915 <= np.mean(covered) <= 0.985
