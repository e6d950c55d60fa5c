"""Maximum likelihood and penalised estimates of the mixed logit model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

from ghostblitz_analysis.regression.laplace import Objective, laplace_loglik, laplace_objective
from ghostblitz_analysis.regression.separation import CellCounts

__all__ = ["LaplaceFit", "fit_laplace", "profile_interval"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

#: An optimum is found when no slope of the log likelihood is larger.
_GRADIENT_TOLERANCE = 1e-5
#: A standard deviation (in log odds) below this counts as 0,
_SINGULAR = 1e-4
#: and below this, 0 is tried: the likelihood is too flat there to get to 0 by its slopes.
_SMALL = 0.05
#: A larger one is no estimate: with a trial or two per participant and cell, Laplace's
#: approximation may rise without end.
_LARGEST_SD = 10.0
#: Step of the central differences of the gradient.
_STEP = 1e-4
_START_SD = 0.5


@dataclass(frozen=True, eq=False)
class LaplaceFit:
    """Estimates of a mixed logit model.

    Attributes
    ----------
    coefficients : (n_terms,) array
        Log odds.
    sd : (n_components,) array
        Of the random effects.
    covariance : (n_terms, n_terms) array
        Of the coefficients: from the inverse of the negative Hessian over all parameters but
        variances of 0; as in lme4.
    loglik : float
        Without, and
    penalised : float
        with the penalty; the same where there is none.
    converged, singular : bool
        Whether the slopes are 0, the curvature downward and the standard deviations below 10;
        whether a variance is 0.
    """

    coefficients: FloatArray
    sd: FloatArray
    covariance: FloatArray
    loglik: float
    penalised: float
    converged: bool
    singular: bool


def fit_laplace(
    counts: CellCounts, cell_matrix: FloatArray, kernels: FloatArray, *, penalised: bool
) -> LaplaceFit:
    """Maximise the Laplace likelihood, or that with Jeffreys' penalty on the coefficients.

    The penalty is half the log determinant of the information about the fixed effects of the
    logit model without random effects (Firth 1993, Biometrika 80:27; Heinze & Schemper 2002,
    Statistics in Medicine 21:2409; for mixed models Sterzinger & Kosmidis 2023, Statistics and
    Computing 33:53, who weigh it less). Without random variance it comes to half an error and
    half a correct trial more in every cell, so no estimate is infinite.

    Parameters
    ----------
    counts : CellCounts
        From `cell_counts`.
    cell_matrix : (n_cells, n_terms) array
        Of full rank.
    kernels : (n_components, n_cells, n_cells) array
        From `VarianceComponents`.
    penalised : bool
        Whether the penalty is added.
    """
    objective = laplace_objective(counts, cell_matrix, kernels, penalised=penalised)
    n_terms, n_components = cell_matrix.shape[1], len(kernels)
    trials, errors = counts.n_trials.sum(axis=0), counts.n_errors.sum(axis=0)
    start = np.linalg.lstsq(
        cell_matrix, np.log((errors + 0.5) / (trials - errors + 0.5)), rcond=None
    )[0]
    # The likelihood has a stationary point wherever variances are 0, and may have several maxima.
    flat, spread = (
        _settled(objective, np.append(start, np.full(n_components, sd)), n_terms)
        for sd in (0.0, _START_SD)
    )
    parameters = spread if objective(spread)[0] < objective(flat)[0] - 1e-9 else flat
    free = _nonzero(parameters, n_terms)
    hessian = _hessian(objective, parameters)[np.ix_(free, free)]
    curved = bool(np.linalg.eigvalsh(hessian).min() > 0)
    slopes = objective(parameters)[1][free]
    covariance = np.full((n_terms, n_terms), np.nan)
    if curved:
        covariance = np.linalg.inv(hessian)[:n_terms, :n_terms]
    sd = np.abs(parameters[n_terms:])
    at_top = curved and bool(np.abs(slopes).max() < 100 * _GRADIENT_TOLERANCE)
    return LaplaceFit(
        coefficients=parameters[:n_terms],
        sd=sd,
        covariance=covariance,
        loglik=laplace_loglik(parameters, counts, cell_matrix, kernels)[0],
        penalised=-objective(parameters)[0],
        converged=at_top and bool(sd.max() < _LARGEST_SD),
        singular=len(free) < len(parameters),
    )


def _nonzero(parameters: FloatArray, n_terms: int) -> IntArray:
    """Return the places of the coefficients and of the standard deviations that are not 0."""
    is_free = parameters != 0
    is_free[:n_terms] = True
    return np.flatnonzero(is_free)


def _settled(objective: Objective, parameters: FloatArray, n_terms: int) -> FloatArray:
    """Minimise with standard deviations of 0 held, until none had better be 0 or had not.

    The slope by a standard deviation is 0 at 0, so that by the variance tells.
    """
    n_components = len(parameters) - n_terms
    for _ in range(2 * n_components):
        parameters = _minimised(objective, parameters, _nonzero(parameters, n_terms))
        for place in range(n_terms, len(parameters)):
            if 0 < abs(parameters[place]) < _SMALL:
                without = parameters.copy()
                without[place] = 0
                without = _minimised(objective, without, _nonzero(without, n_terms))
                worse = objective(without)[0] - objective(parameters)[0]
                if worse <= 1e-9 or abs(parameters[place]) < _SINGULAR:
                    parameters = without
        probe = parameters.copy()
        probe[n_terms:][probe[n_terms:] == 0] = _STEP
        falling = (parameters == 0) & (objective(probe)[1] < -_STEP * _GRADIENT_TOLERANCE)
        falling[:n_terms] = False
        if not falling.any():
            break
        parameters[falling] = _START_SD / 2
    return parameters


def _minimised(objective: Objective, start: FloatArray, free: IntArray) -> FloatArray:
    """Return the parameters at the minimum over the free ones, the others held."""

    def of_free(values: FloatArray) -> tuple[float, FloatArray]:
        whole = start.copy()
        whole[free] = values
        value, slopes = objective(whole)
        return value, slopes[free]

    # BFGS stops at the limits of precision where the tolerance is finer; Newton steps finish.
    found = optimize.minimize(
        of_free, start[free], jac=True, method="BFGS", options={"gtol": _GRADIENT_TOLERANCE}
    ).x
    value, slopes = of_free(found)
    for _ in range(5):
        hessian = _hessian(of_free, found)
        if np.linalg.eigvalsh(hessian).min() <= 0:
            break
        step = np.linalg.solve(hessian, slopes)
        next_value, next_slopes = of_free(found - step)
        # At the optimum steps are rounding error and values no longer fall.
        if not next_value < value + 1e-12 * abs(value) or np.abs(step).max() < 1e-10:
            break
        found, value, slopes = found - step, next_value, next_slopes
    whole = start.copy()
    whole[free] = found
    return whole


def _hessian(objective: Objective, parameters: FloatArray) -> FloatArray:
    steps = _STEP * np.eye(len(parameters))
    rows = [
        (objective(parameters + s)[1] - objective(parameters - s)[1]) / (2 * _STEP) for s in steps
    ]
    hessian = np.array(rows)
    return np.asarray((hessian + hessian.T) / 2)


def profile_interval(
    fit: LaplaceFit,
    place: int,
    counts: CellCounts,
    cell_matrix: FloatArray,
    kernels: FloatArray,
    *,
    drop: float,
) -> tuple[float, float, float]:
    """Find the interval and the test of one coefficient by the penalised profile likelihood.

    Wald intervals are symmetric, which the likelihood is not where cells are separated (Heinze &
    Schemper 2002).

    Parameters
    ----------
    fit : LaplaceFit
        From `fit_laplace` with the penalty.
    place : int
        The coefficient's column.
    counts, cell_matrix, kernels
        As in `fit_laplace`.
    drop : float
        By how much the profile falls at the ends: half a chi square quantile.

    Returns
    -------
    low, high : float
        NaN where the profile does not fall far enough within 60 log odds.
    chi_square : float
        Twice the fall at 0.
    """
    objective = laplace_objective(counts, cell_matrix, kernels, penalised=True)
    n_terms = cell_matrix.shape[1]
    best = np.append(fit.coefficients, fit.sd)
    others = np.flatnonzero(np.arange(len(best)) != place)

    def fall(value: float) -> float:
        start = best.copy()
        start[place] = value
        # Random effects do not come out of a variance of exactly 0, where the slope is 0.
        start[n_terms:] = np.maximum(start[n_terms:], 1e-2)
        return objective(_minimised(objective, start, others))[0] + fit.penalised

    def end(direction: int) -> float:
        centre, width = best[place], 1.0
        while fall(centre + direction * width) < drop:
            width *= 2
            if width > 60:
                return float("nan")
        root = optimize.brentq(lambda w: fall(centre + direction * w) - drop, 0.0, width, xtol=1e-6)
        return float(centre + direction * root)

    return end(-1), end(1), max(0.0, 2 * fall(0.0))
