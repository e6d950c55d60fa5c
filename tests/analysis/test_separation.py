"""Cells without errors, or with nothing else: detected, penalised, and said."""

from __future__ import annotations

import numpy as np
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.regression import error_rows, fit_gee, fit_mixed_logit, regression_results
from ghostblitz_analysis.regression.error_models import fit_mixed_logits
from ghostblitz_analysis.regression.laplace_fits import fit_laplace, profile_interval
from ghostblitz_analysis.regression.separation import CellCounts, cell_counts, separation_note
from ghostblitz_analysis.settings import AnalysisSettings, ModelSettings

pytestmark = pytest.mark.slow

#: Random intercepts: both cells of a participant share them.
SHARED = np.ones((1, 2, 2))


@pytest.fixture
def make_rows(make_trials):
    """Trials of people whose numbers of errors in 20 trials of each cell are given."""

    def build(errors, settings=None):
        trials = make_trials(
            {
                "participant_id": f"p{person}",
                "rule": rule,
                "error_kind": "shape_capture" if trial < n_wrong else None,
            }
            for person, wrong in enumerate(errors)
            for rule, n_wrong in zip(("direct", "exclusion"), wrong, strict=True)
            for trial in range(20)
        )
        return flag_exclusions(trials, settings or AnalysisSettings())

    return build


def test_cells_are_counted_per_participant(make_rows):
    rows = error_rows(make_rows([(2, 5), (0, 7)]), factors=("rule",))
    counts = cell_counts(rows)
    assert counts.n_trials.tolist() == [[20, 20], [20, 20]]
    assert counts.n_errors.tolist() == [[2, 5], [0, 7]]
    assert separation_note(rows, counts) == ""


@pytest.mark.parametrize(
    ("errors", "note"),
    [
        ([(0, 5), (0, 7)], "separation: no error in 40 direct trials"),
        ([(3, 20), (1, 20)], "separation: nothing but errors in 40 exclusion trials"),
        (
            [(0, 20), (0, 20)],
            "separation: no error in 40 direct trials, nothing but errors in 40 exclusion trials",
        ),
    ],
)
def test_separated_cells_are_named(make_rows, errors, note):
    rows = error_rows(make_rows(errors), factors=("rule",))
    assert separation_note(rows, cell_counts(rows)) == note
    fit = fit_mixed_logit(rows, confidence=0.95)
    assert fit.separated
    assert fit.note.startswith(note)
    assert "Jeffreys" in fit.model.estimator


@pytest.mark.parametrize("errors", [[(0, 5), (0, 7), (0, 1)], [(0, 9)] * 6, [(2, 20), (5, 20)]])
def test_a_separated_effect_is_finite_with_an_honest_interval(make_rows, errors):
    fit = fit_mixed_logit(error_rows(make_rows(errors), factors=("rule",)), confidence=0.95)
    effect = fit.effects[1]
    assert 1 < effect.estimate < 8
    assert effect.se > 0.5
    assert effect.low < effect.estimate < effect.high
    # The data say less about the far end than about the near one.
    assert effect.high - effect.estimate > effect.estimate - effect.low
    assert effect.test == "penalised likelihood ratio"
    assert np.isnan(fit.aic)
    assert fit.converged


def test_the_interval_ends_where_the_penalised_profile_has_fallen():
    """Without variance between participants, against a grid of the closed-form likelihood."""
    counts = CellCounts(np.full((3, 2), 30.0), np.array([[0.0, 4.0]] * 3))
    matrix = np.array([[1.0, 0.0], [1.0, 1.0]])
    fit = fit_laplace(counts, matrix, SHARED, penalised=True)
    low, high, chi_square = profile_interval(fit, 1, counts, matrix, SHARED, drop=1.9207294)

    def penalised(direct, exclusion):
        # Each cell: k + 1/2 errors and n - k + 1/2 correct trials, up to a constant.
        return (
            0.5 * direct - 91 * np.logaddexp(0, direct)
            + 12.5 * exclusion - 91 * np.logaddexp(0, exclusion)
        )  # fmt: skip

    grid = np.linspace(-16, 2, 180_001)
    best = penalised(np.log(0.5 / 90.5), np.log(12.5 / 78.5))
    for end in (low, high):
        assert best - penalised(grid, grid + end).max() == pytest.approx(1.9207294, abs=1e-3)
    assert chi_square == pytest.approx(2 * (best - penalised(grid, grid).max()), abs=1e-4)


def test_an_estimate_without_separation_is_not_penalised(make_rows):
    fit = fit_mixed_logit(
        error_rows(make_rows([(1, 5), (0, 7)]), factors=("rule",)), confidence=0.95
    )
    assert fit.separated is False
    assert fit.model.estimator == "Laplace"
    assert fit.effects[0].test == "z"


def test_gee_refuses_separated_cells_and_the_penalised_logit_is_fitted_beside_it(make_rows):
    settings = AnalysisSettings(models=ModelSettings(rt=(), errors=("gee",)))
    flagged = make_rows([(0, 5), (0, 7), (0, 2)], settings)
    gee = fit_gee(error_rows(flagged, factors=("rule",)), confidence=0.95)
    assert not gee.fitted
    assert "GEE has no finite estimates" in gee.note
    models = regression_results(flagged, factors=("rule",), settings=settings).models
    assert models["model"].tolist() == [
        "error_gee", "error_mixed_logit", "error_mixed_logit_slopes"
    ]  # fmt: skip
    # These people differ no more than by chance.
    assert models["selected"].tolist() == [False, True, False]
    assert models["separated"].tolist() == [True, True, True]


def test_by_participant_effects_are_penalised_where_cells_are_separated(make_rows):
    """All direct trials are right, and people differ widely on exclusion trials."""
    rows = error_rows(make_rows([(0, 2), (0, 15), (0, 6), (0, 0), (0, 18)]), factors=("rule",))
    first, second = fit_mixed_logits(rows, confidence=0.95)
    for fit in (first, second):
        assert fit.converged
        assert "Jeffreys" in fit.model.estimator
        assert all(effect.test == "penalised likelihood ratio" for effect in fit.effects)
    assert second.selected
