"""The Laplace likelihood of a logit model with random intercepts of participants.

Trials enter as counts per participant and cell, which is exact, since all trials of a cell share
their predictors; so a million trials cost no more than a thousand. The integral over each random
intercept is approximated at its mode, as in lme4's ``glmer`` with one quadrature point (Bates et
al. 2015, Journal of Statistical Software 67(1)); it gets better with the trials per participant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from ghostblitz_analysis.regression.separation import CellCounts

__all__ = ["LaplaceFit", "fit_laplace", "laplace_loglik", "profile_interval"]

FloatArray = npt.NDArray[np.float64]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

#: A mode is found when no random intercept moves by more.
_MODE_TOLERANCE = 1e-11
_MODE_ITERATIONS = 200
#: An optimum is found when no slope of the log likelihood is larger.
_GRADIENT_TOLERANCE = 1e-5
#: A standard deviation (in log odds) below this counts as 0.
_SINGULAR = 1e-4
#: Step of the central differences of the gradient.
_STEP = 1e-4
_START_SD = 0.5
#: A random intercept moves by no more at once, in standard deviations; modes are far from 0 only
#: where a participant has nothing but errors.
_LARGEST_STEP = 5.0


@dataclass(frozen=True, eq=False)
class LaplaceFit:
    """Estimates of a mixed logit model.

    Attributes
    ----------
    coefficients : (n_terms,) array
        Log odds.
    sd : float
        Of the random intercepts.
    covariance : (n_terms, n_terms) array
        Of the coefficients: from the inverse of the negative Hessian over all parameters.
    loglik : float
        Without, and
    penalised : float
        with the penalty; the same where there is none.
    converged, singular : bool
        Whether the slopes are 0 and the curvature downward; whether the variance is 0.
    """

    coefficients: FloatArray
    sd: float
    covariance: FloatArray
    loglik: float
    penalised: float
    converged: bool
    singular: bool


def laplace_loglik(
    parameters: FloatArray, counts: CellCounts, cell_matrix: FloatArray
) -> tuple[float, FloatArray]:
    """Return the log likelihood of single trials and its slopes.

    Parameters
    ----------
    parameters : (n_terms + 1,) array
        Coefficients, then the standard deviation of the random intercepts; its sign is free.
    counts : CellCounts
    cell_matrix : (n_cells, n_terms) array

    Returns
    -------
    loglik : float
    slopes : (n_terms + 1,) array
    """
    beta, sd = parameters[:-1], parameters[-1]
    fixed = cell_matrix @ beta
    mode = _modes(fixed, sd, counts)
    eta = fixed + sd * mode[:, None]
    p = special.expit(eta)
    weight = counts.n_trials * p * (1 - p)
    curvature = 1 + sd**2 * weight.sum(axis=1)
    # log p and log(1 - p) without loss where p is near 0 or 1
    log_p, log_q = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
    joint = counts.n_errors * log_p + (counts.n_trials - counts.n_errors) * log_q
    loglik = joint.sum() - (mode**2).sum() / 2 - np.log(curvature).sum() / 2

    residual = counts.n_errors - counts.n_trials * p
    bend = weight * (1 - 2 * p)
    # How the modes move with the parameters, by implicit differentiation.
    mode_by_beta = -sd * (weight @ cell_matrix) / curvature[:, None]
    mode_by_sd = (residual.sum(axis=1) - sd * mode * weight.sum(axis=1)) / curvature
    scale = sd**2 / (2 * curvature)
    by_beta = residual.sum(axis=0) @ cell_matrix - scale @ (
        bend @ cell_matrix + sd * bend.sum(axis=1)[:, None] * mode_by_beta
    )
    by_sd = (
        residual.sum(axis=1) @ mode
        - (sd * weight.sum(axis=1) / curvature).sum()
        - scale @ (bend.sum(axis=1) * (mode + sd * mode_by_sd))
    )
    return float(loglik), np.append(by_beta, by_sd)


def _modes(fixed: FloatArray, sd: float, counts: CellCounts) -> FloatArray:
    """Return the (n_participants,) modes of the random intercepts, in standard deviations.

    The slope falls all the way, so every slope seen bounds the mode from one side; a Newton step
    to such a bound or past it, as from where the likelihood is flat, ends half way to it.
    """
    n_people = len(counts.n_trials)
    mode = np.zeros(n_people)
    low, high = np.full(n_people, -np.inf), np.full(n_people, np.inf)
    for _ in range(_MODE_ITERATIONS):
        p = special.expit(fixed + sd * mode[:, None])
        slope = sd * (counts.n_errors - counts.n_trials * p).sum(axis=1) - mode
        curvature = 1 + sd**2 * (counts.n_trials * p * (1 - p)).sum(axis=1)
        low, high = np.where(slope > 0, mode, low), np.where(slope < 0, mode, high)
        moved = mode + np.clip(slope / curvature, -_LARGEST_STEP, _LARGEST_STEP)
        outside = ((moved <= low) | (moved >= high)) & (moved != mode)
        moved[outside] = (low[outside] + high[outside]) / 2
        step, mode = np.abs(moved - mode).max(), moved
        if step < _MODE_TOLERANCE:
            break
    return mode


def _jeffreys(
    beta: FloatArray, counts: CellCounts, cell_matrix: FloatArray
) -> tuple[float, FloatArray]:
    """Return half the log determinant of the information about the coefficients, and its slopes.

    The information is that of the logit model without random effects.
    """
    p = special.expit(cell_matrix @ beta)
    weight = counts.n_trials.sum(axis=0) * p * (1 - p)
    information = (cell_matrix.T * weight) @ cell_matrix
    sign, log_det = np.linalg.slogdet(information)
    if sign <= 0:
        return -np.inf, np.zeros(len(beta))
    leverage = weight * np.einsum(
        "ci,ic->c", cell_matrix, np.linalg.solve(information, cell_matrix.T)
    )
    return float(log_det) / 2, ((1 - 2 * p) * leverage / 2) @ cell_matrix


def _objective(counts: CellCounts, cell_matrix: FloatArray, *, penalised: bool) -> Objective:
    def value(parameters: FloatArray) -> tuple[float, FloatArray]:
        loglik, slopes = laplace_loglik(parameters, counts, cell_matrix)
        if penalised:
            penalty, penalty_slopes = _jeffreys(parameters[:-1], counts, cell_matrix)
            loglik, slopes = loglik + penalty, slopes + np.append(penalty_slopes, 0.0)
        return -loglik, -slopes

    return value


def fit_laplace(counts: CellCounts, cell_matrix: FloatArray, *, penalised: bool) -> LaplaceFit:
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
    penalised : bool
        Whether the penalty is added.
    """
    objective = _objective(counts, cell_matrix, penalised=penalised)
    trials, errors = counts.n_trials.sum(axis=0), counts.n_errors.sum(axis=0)
    start = np.linalg.lstsq(
        cell_matrix, np.log((errors + 0.5) / (trials - errors + 0.5)), rcond=None
    )[0]
    parameters = _minimised(objective, np.append(start, _START_SD))
    flat = _minimised(objective, np.append(start, 0.0), free=np.arange(len(start)))
    # The likelihood has a stationary point at a variance of 0, which may be the better one.
    if objective(flat)[0] <= objective(parameters)[0] + 1e-9 or abs(parameters[-1]) < _SINGULAR:
        parameters = flat
    singular = bool(parameters[-1] == 0)
    hessian = _hessian(objective, parameters)
    free = slice(0, len(start)) if singular else slice(None)
    curved = bool(np.linalg.eigvalsh(hessian[free, free]).min() > 0)
    slopes = objective(parameters)[1][free]
    covariance = np.full_like(hessian, np.nan)
    if curved:
        covariance[free, free] = np.linalg.inv(hessian[free, free])
    n_terms = len(start)
    return LaplaceFit(
        coefficients=parameters[:-1],
        sd=float(abs(parameters[-1])),
        covariance=covariance[:n_terms, :n_terms],
        loglik=laplace_loglik(parameters, counts, cell_matrix)[0],
        penalised=-objective(parameters)[0],
        converged=curved and bool(np.abs(slopes).max() < 100 * _GRADIENT_TOLERANCE),
        singular=singular,
    )


def _minimised(
    objective: Objective, start: FloatArray, free: npt.NDArray[np.intp] | None = None
) -> FloatArray:
    """Return the parameters at the minimum over the free ones, the others held."""
    places = np.arange(len(start)) if free is None else free

    def of_free(values: FloatArray) -> tuple[float, FloatArray]:
        whole = start.copy()
        whole[places] = values
        value, slopes = objective(whole)
        return value, slopes[places]

    # BFGS stops at the limits of precision where the tolerance is finer; Newton steps finish.
    found = optimize.minimize(
        of_free, start[places], jac=True, method="BFGS", options={"gtol": _GRADIENT_TOLERANCE}
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
    whole[places] = found
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
    counts, cell_matrix
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
    objective = _objective(counts, cell_matrix, penalised=True)
    others = np.array([i for i in range(cell_matrix.shape[1] + 1) if i != place], dtype=np.intp)
    best = np.append(fit.coefficients, fit.sd)

    def fall(value: float) -> float:
        start = best.copy()
        start[place] = value
        # Random intercepts do not come out of a variance of exactly 0, where the slope is 0.
        start[-1] = max(start[-1], 1e-2)
        return objective(_minimised(objective, start, free=others))[0] + fit.penalised

    def end(direction: int) -> float:
        centre, width = best[place], 1.0
        while fall(centre + direction * width) < drop:
            width *= 2
            if width > 60:
                return float("nan")
        root = optimize.brentq(lambda w: fall(centre + direction * w) - drop, 0.0, width, xtol=1e-6)
        return float(centre + direction * root)

    return end(-1), end(1), max(0.0, 2 * fall(0.0))
