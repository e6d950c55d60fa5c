"""Participants who differ in effects on errors: likelihood, optimum, selection, false positives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import optimize, special

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.regression import error_rows
from ghostblitz_analysis.regression.error_components import effect_components
from ghostblitz_analysis.regression.error_models import fit_mixed_logits
from ghostblitz_analysis.regression.laplace import laplace_loglik
from ghostblitz_analysis.regression.laplace_fits import fit_laplace
from ghostblitz_analysis.regression.separation import CellCounts, cell_counts
from ghostblitz_analysis.settings import AnalysisSettings

#: Cells: direct and exclusion trials in mixed, then in pure blocks.
MATRIX = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]])
#: Which random effect each cell has: of the participant, of rule, of block kind, of both.
LOADINGS = (
    np.ones((4, 1)),
    np.tile(np.eye(2), (2, 1)),
    np.repeat(np.eye(2), 2, axis=0),
    np.eye(4),
)
KERNELS = np.array([loading @ loading.T for loading in LOADINGS])
BOTH = ("rule", "block_kind")


def draw_counts(rng, *, n_people, n_trials, beta, sd):
    eta = np.tile(MATRIX @ np.asarray(beta, dtype=float), (n_people, 1))
    for each, loading in zip(sd, LOADINGS, strict=True):
        eta += each * rng.normal(size=(n_people, loading.shape[1])) @ loading.T
    trials = np.full(eta.shape, float(n_trials))
    return CellCounts(trials, rng.binomial(n_trials, special.expit(eta)).astype(float))


@pytest.fixture
def rows_of(make_trials):
    """Rows of people whose numbers of errors in each cell's trials are given."""

    def build(errors, *, n_trials=20, factors=BOTH, block_kinds=("mixed", "pure")):
        trials = make_trials(
            {
                "participant_id": f"p{person:02d}",
                "rule": rule,
                "block_kind": block_kind,
                "error_kind": "shape_capture" if trial < n_wrong else None,
            }
            for person, wrong in enumerate(errors)
            for (block_kind, rule), n_wrong in zip(
                product(block_kinds, ("direct", "exclusion")), wrong, strict=True
            )
            for trial in range(n_trials)
            if n_wrong is not None
        )
        return error_rows(flag_exclusions(trials, AnalysisSettings()), factors=factors)

    return build


@pytest.mark.parametrize("sd", [(0, 0, 0, 0), (0.4, 0.3, 0, 0.1), (-1.5, 0.7, 2, 0.5)])
@pytest.mark.parametrize("beta", [(-2, 0.5, 0.1, 0.1), (3, -6, 1, 2)])
def test_the_slopes_are_those_of_the_log_likelihood(sd, beta):
    rng = np.random.default_rng(1)
    counts = draw_counts(rng, n_people=7, n_trials=20, beta=(-2, 0.5, 0, 0), sd=(0.8, 0.4, 0.3, 0))
    parameters = np.array([*beta, *sd], dtype=float)
    _, slopes = laplace_loglik(parameters, counts, MATRIX, KERNELS)
    numeric = [
        (
            laplace_loglik(parameters + step, counts, MATRIX, KERNELS)[0]
            - laplace_loglik(parameters - step, counts, MATRIX, KERNELS)[0]
        )
        / 2e-5
        for step in 1e-5 * np.eye(8)
    ]
    assert slopes == pytest.approx(numeric, rel=1e-6, abs=1e-6)


def test_the_likelihood_is_laplaces_over_the_random_effects_themselves():
    """The nine effects of each participant one by one, with a general optimiser."""
    rng = np.random.default_rng(2)
    beta, sd = np.array([-1.5, 0.5, -0.4, 0.3]), np.array([0.9, 0.5, 0.7, 0.3])
    counts = draw_counts(rng, n_people=4, n_trials=12, beta=beta, sd=sd)
    counts.n_trials[2, 1] = counts.n_errors[2, 1] = 0
    scaled = np.hstack([each * loading for each, loading in zip(sd, LOADINGS, strict=True)])
    total = 0.0
    for n, k in zip(counts.n_trials, counts.n_errors, strict=True):

        def negative(b, n=n, k=k):
            eta = MATRIX @ beta + scaled @ b
            return -(k * eta - n * np.logaddexp(0, eta)).sum() + b @ b / 2

        mode = optimize.minimize(negative, np.zeros(9), method="BFGS", options={"gtol": 1e-7}).x
        p = special.expit(MATRIX @ beta + scaled @ mode)
        curvature = np.eye(9) + (scaled.T * (n * p * (1 - p))) @ scaled
        total -= negative(mode) + np.log(np.linalg.det(curvature)) / 2
    found, _ = laplace_loglik(np.concatenate([beta, sd]), counts, MATRIX, KERNELS)
    assert found == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("log_odds", [-40.0, 0.0, 10.0, 300.0])
def test_modes_are_found_from_where_the_likelihood_is_flat(log_odds):
    """At high log odds Newton's first step goes much too far; bisection finds the mode as well."""
    n, k, sd = 1000.0, 400.0, 4.0
    mode = optimize.brentq(
        lambda u: sd * (k - n * special.expit(log_odds + sd * u)) - u, -4000, 4000, xtol=1e-12
    )
    eta = log_odds + sd * mode
    p = special.expit(eta)
    expected = k * eta - n * np.logaddexp(0, eta) - mode**2 / 2
    expected -= np.log(1 + sd**2 * n * p * (1 - p)) / 2
    counts = CellCounts(np.array([[n]]), np.array([[k]]))
    found, _ = laplace_loglik(np.array([log_odds, sd]), counts, np.eye(1), np.ones((1, 1, 1)))
    assert found == pytest.approx(expected, rel=1e-9)


def test_another_reference_level_changes_neither_the_fit_nor_the_variances():
    rng = np.random.default_rng(3)
    beta, sd = (-1.5, 0.5, -0.4, 0.3), (0.6, 0.6, 0.4, 0.2)
    counts = draw_counts(rng, n_people=12, n_trials=40, beta=beta, sd=sd)
    one = fit_laplace(counts, MATRIX, KERNELS, penalised=False)
    # Cells against that of exclusion trials in pure blocks.
    other = fit_laplace(counts, MATRIX[::-1].copy(), KERNELS, penalised=False)
    assert one.sd.max() > 0.3
    assert other.loglik == pytest.approx(one.loglik, abs=1e-8)
    assert other.sd == pytest.approx(one.sd, abs=1e-6)
    contrast = np.linalg.solve(MATRIX[::-1], MATRIX)
    assert other.coefficients == pytest.approx(contrast @ one.coefficients, abs=1e-6)
    assert other.covariance == pytest.approx(contrast @ one.covariance @ contrast.T, rel=1e-4)


@pytest.mark.slow
def test_the_optimum_is_the_best_of_all_choices_of_variances_held_at_zero():
    rng = np.random.default_rng(4)
    zeros = 0
    for _ in range(8):
        sd = rng.choice([0.0, 0.3, 1.0], size=4)
        counts = draw_counts(rng, n_people=9, n_trials=15, beta=(-1.2, 0.4, -0.3, 0.2), sd=sd)
        fit = fit_laplace(counts, MATRIX, KERNELS, penalised=False)
        best = -np.inf
        for held in product([False, True], repeat=4):
            free = np.array([*[True] * 4, *held])

            def negative(values, free=free, counts=counts):
                whole = np.zeros(8)
                whole[free] = values
                value, slopes = laplace_loglik(whole, counts, MATRIX, KERNELS)
                return -value, -slopes[free]

            start = np.where(free, 0.8, 0)[free]
            found = optimize.minimize(negative, start, jac=True, method="L-BFGS-B")
            best = max(best, -found.fun)
        assert fit.converged
        assert fit.loglik == pytest.approx(best, abs=1e-4)
        assert fit.loglik >= best - 1e-7
        zeros += (fit.sd == 0).sum()
    assert 0 < zeros < 32


@pytest.mark.slow
def test_variances_of_many_participants_are_recovered():
    rng = np.random.default_rng(5)
    beta, sd = (-1.0, 0.5, -0.4, 0.3), (0.7, 0.5, 0.4, 0.3)
    counts = draw_counts(rng, n_people=800, n_trials=200, beta=beta, sd=sd)
    fit = fit_laplace(counts, MATRIX, KERNELS, penalised=False)
    assert fit.converged
    assert fit.sd == pytest.approx(sd, abs=0.05)
    errors = (fit.coefficients - beta) / np.sqrt(np.diag(fit.covariance))
    assert np.abs(errors).max() < 3.5


def test_components_are_those_of_every_factor_and_interaction(rows_of):
    rows = rows_of([(2, 3, 4, 5), (1, 2, 0, 4)])
    components = effect_components(rows.design, cell_counts(rows))
    assert components.groups == (
        "participant_id",
        "participant_id:rule",
        "participant_id:block_kind",
        "participant_id:rule:block_kind",
    )
    assert components.not_told_apart == ()
    of_cell = {cell: place for place, cell in enumerate(rows.design.cells)}
    one, other = of_cell["direct", "mixed"], of_cell["direct", "pure"]
    assert components.kernels[:, one, other].tolist() == [1, 1, 0, 0]
    assert components.kernels[:, one, one].tolist() == [1, 1, 1, 1]


def test_a_factor_between_participants_has_no_variance_within_them(rows_of):
    some, others = (2, 3, None, None), (None, None, 4, 5)
    rows = rows_of([some, others, some, others])
    components = effect_components(rows.design, cell_counts(rows))
    assert components.groups == ("participant_id", "participant_id:rule")
    assert components.not_told_apart == (
        "participant_id:block_kind",
        "participant_id:rule:block_kind",
    )
    note = fit_mixed_logits(rows, confidence=0.95)[1].note
    assert "cannot show a variance of participant_id:block_kind, participant_id:rule:block" in note


def test_single_trials_cannot_show_a_variance_of_their_own(rows_of):
    rows = rows_of([(1, 0), (0, 1), (0, 0), (1, 0)], n_trials=1, block_kinds=("mixed",))
    (fit,) = fit_mixed_logits(rows, confidence=0.95)
    assert fit.selected
    assert "no by-participant effects" in fit.note
    assert "variance of participant_id:rule, which is left out" in fit.note


def test_participants_who_differ_in_an_effect_select_the_model_that_says_so(rows_of):
    rows = rows_of([(1, 8), (9, 2), (4, 4), (2, 11), (12, 3), (5, 9)], block_kinds=("mixed",))
    first, second = fit_mixed_logits(rows, confidence=0.95)
    assert (first.selected, second.selected) == (False, True)
    assert (first.model.name, second.model.name) == (
        "error_mixed_logit", "error_mixed_logit_slopes"
    )  # fmt: skip
    assert second.model.formula == (
        "error ~ rule + (1 | participant_id) + (1 | participant_id:rule)"
    )
    assert [(row.group, row.term) for row in second.random] == [
        ("participant_id", "(Intercept)"),
        ("participant_id:rule", "(Intercept)"),
    ]
    assert second.effects[1].se > 1.5 * first.effects[1].se
    assert second.n_parameters == first.n_parameters + 1
    assert "effects of rule: kept; read the model with them" in first.note
    assert "intercepts only" in first.note
    assert "intercepts only" not in second.note


def test_variances_estimated_as_zero_select_the_intercepts_and_warn(rows_of):
    rows = rows_of([(1, 3), (4, 7), (2, 4), (6, 9), (3, 5)], block_kinds=("mixed",))
    first, second = fit_mixed_logits(rows, confidence=0.95)
    assert (first.selected, second.selected) == (True, False)
    assert second.singular
    assert second.loglik == pytest.approx(first.loglik, abs=1e-8)
    assert "singular: no variance of rule over participants" in second.note
    assert "their variances are estimated as 0; this model is the one to read" in first.note
    assert "its test is too liberal" in first.note


def test_variances_without_end_do_not_converge_and_select_the_intercepts(rows_of):
    errors = [(0, 2), (2, 0), (2, 0), (0, 0), (0, 2), (2, 0)]
    rows = rows_of(errors, n_trials=2, block_kinds=("mixed",))
    first, second = fit_mixed_logits(rows, confidence=0.95)
    assert second.converged is False
    assert (first.selected, second.selected) == (True, False)
    assert "did not converge; this model is the one to read" in first.note


def test_one_cell_has_no_effects_to_differ_in(rows_of):
    rows = rows_of([(1, 3), (4, 7), (2, 4)], factors=(), block_kinds=("mixed",))
    (fit,) = fit_mixed_logits(rows, confidence=0.95)
    assert fit.selected
    assert fit.note == "3 participants are few to estimate a variance from"


@pytest.mark.slow
def test_the_rule_test_is_honest_where_participants_differ_in_it():
    """Of 200 studies of no effect; 0.05 of them have a binomial SD of 0.015."""
    rng = np.random.default_rng(20261130)
    matrix, kernels = MATRIX[:2, :2], KERNELS[[0, 3], :2, :2]
    significant = []
    for _ in range(200):
        eta = rng.normal(-1.8, 0.5, (40, 1)) + rng.normal(0, 0.5, (40, 2))
        errors = rng.binomial(40, special.expit(eta)).astype(float)
        counts = CellCounts(np.full((40, 2), 40.0), errors)
        fits = [fit_laplace(counts, matrix, k, penalised=False) for k in (kernels[:1], kernels)]
        z = [fit.coefficients[1] / np.sqrt(fit.covariance[1, 1]) for fit in fits]
        significant.append(np.abs(z) > 1.959964)
    intercepts, slopes = np.mean(significant, axis=0)
    assert slopes == pytest.approx(0.05, abs=0.045)
    assert intercepts > 0.15
