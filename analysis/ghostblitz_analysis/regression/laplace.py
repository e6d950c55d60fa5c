"""The Laplace likelihood of a logit model with random effects of participants.

Trials enter as counts per participant and cell, which is exact, since all trials of a cell share
their predictors; so a million trials cost no more than a thousand. Random effects enter by what
they add to the log odds of a participant's cells: normal, with a covariance that is a sum of one
variance times one kernel per component. The integral over them is approximated at its mode, as in
lme4's ``glmer`` with one quadrature point (Bates et al. 2015, Journal of Statistical Software
67(1)); it gets better with the trials per participant. The algebra is that of Rasmussen & Williams
(2006, Gaussian Processes for Machine Learning, algorithms 3.1 and 5.1), which holds where the
covariance is singular, and where variances are 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from ghostblitz_analysis.regression.separation import CellCounts

__all__ = ["Objective", "laplace_loglik", "laplace_objective"]

FloatArray = npt.NDArray[np.float64]
Objective = Callable[[FloatArray], tuple[float, FloatArray]]

#: A mode is found when a Newton step moves no log odds by more; the error is then its square.
_MODE_TOLERANCE = 1e-8
_MODE_ITERATIONS = 200
_HALVINGS = 60
#: A step is taken when the height gains this share of what its slope promises (Armijo's rule).
_GAIN_SHARE = 0.1


def laplace_loglik(
    parameters: FloatArray, counts: CellCounts, cell_matrix: FloatArray, kernels: FloatArray
) -> tuple[float, FloatArray]:
    """Return the log likelihood of single trials and its slopes.

    Parameters
    ----------
    parameters : (n_terms + n_components,) array
        Coefficients, then the standard deviations of the random effects; their signs are free.
    counts : CellCounts
    cell_matrix : (n_cells, n_terms) array
    kernels : (n_components, n_cells, n_cells) array
        From `VarianceComponents`.

    Returns
    -------
    loglik : float
    slopes : (n_terms + n_components,) array
    """
    n_terms = cell_matrix.shape[1]
    beta, sd = parameters[:n_terms], parameters[n_terms:]
    covariance = np.einsum("k,kcd->cd", sd**2, kernels)
    fixed = cell_matrix @ beta
    pull, shift = _modes(fixed, covariance, counts)
    eta = fixed + shift
    p = special.expit(eta)
    weight = counts.n_trials * p * (1 - p)
    root = np.sqrt(weight)
    system = _system(root, covariance)
    loglik = (
        _trial_loglik(eta, counts).sum()
        - (pull * shift).sum() / 2
        - np.linalg.slogdet(system)[1].sum() / 2
    )

    residual = counts.n_errors - counts.n_trials * p
    # precision = (covariance + 1 / weight)^-1, which exists where a weight is 0 as well
    precision = root[:, :, None] * np.linalg.inv(system) * root[:, None, :]
    reduced = covariance @ precision
    posterior = np.diag(covariance) - np.einsum("icd,dc->ic", reduced, covariance)
    # How the determinant moves with the log odds, and these, by implicit differentiation of the
    # modes, with a push at each cell.
    push = -posterior * weight * (1 - 2 * p) / 2
    push -= np.einsum("ic,icd->id", push, reduced)
    by_beta = (residual + push).sum(axis=0) @ cell_matrix
    shared = np.einsum("kcd,id->kic", kernels, residual)
    by_variance = (
        np.einsum("kic,ic->k", shared, residual / 2 + push)
        - np.einsum("kcd,icd->k", kernels, precision) / 2
    )
    return float(loglik), np.concatenate([by_beta, 2 * sd * by_variance])


def _modes(
    fixed: FloatArray, covariance: FloatArray, counts: CellCounts
) -> tuple[FloatArray, FloatArray]:
    """Find what participants' random effects most likely add to the log odds of their cells.

    The height is concave, so Newton's steps lead there once they are halved until they gain.

    Returns
    -------
    pull, shift : (n_participants, n_cells) arrays
        ``shift = pull @ covariance`` is what is added; the pulls are the residuals there.
    """
    pull, shift = np.zeros_like(counts.n_trials), np.zeros_like(counts.n_trials)
    height = _trial_loglik(fixed + shift, counts).sum(axis=1)
    for _ in range(_MODE_ITERATIONS):
        p = special.expit(fixed + shift)
        residual = counts.n_errors - counts.n_trials * p
        weight = counts.n_trials * p * (1 - p)
        root = np.sqrt(weight)
        wanted = weight * shift + residual
        right = root * (wanted @ covariance)
        solved = np.linalg.solve(_system(root, covariance), right[:, :, None])[:, :, 0]
        step = wanted - root * solved - pull
        move = step @ covariance
        slope = ((residual - pull) * move).sum(axis=1)
        size = np.ones(len(pull))
        for _ in range(_HALVINGS):
            to_pull, to_shift = pull + size[:, None] * step, shift + size[:, None] * move
            reached = _trial_loglik(fixed + to_shift, counts).sum(axis=1)
            reached -= (to_pull * to_shift).sum(axis=1) / 2
            # At the mode, steps are rounding error and gain nothing.
            least = height + _GAIN_SHARE * size * slope - 1e-12 * (1 + np.abs(height))
            short = reached < least
            if not short.any():
                break
            size[short] /= 2
        moved = np.abs(size[:, None] * move).max()
        pull, shift, height = to_pull, to_shift, reached
        if moved < _MODE_TOLERANCE:
            break
    return pull, shift


def _system(root: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return 1 + root weight times covariance times root weight, of each participant."""
    return np.asarray(np.eye(len(covariance)) + root[:, :, None] * covariance * root[:, None, :])


def _trial_loglik(eta: FloatArray, counts: CellCounts) -> FloatArray:
    # log p and log(1 - p) without loss where p is near 0 or 1
    log_p, log_q = -np.logaddexp(0, -eta), -np.logaddexp(0, eta)
    return np.asarray(counts.n_errors * log_p + (counts.n_trials - counts.n_errors) * log_q)


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


def laplace_objective(
    counts: CellCounts, cell_matrix: FloatArray, kernels: FloatArray, *, penalised: bool
) -> Objective:
    """Return the negative log likelihood and its slopes as a function of the parameters alone.

    Parameters
    ----------
    counts, cell_matrix, kernels
        As in `laplace_loglik`.
    penalised : bool
        Whether Jeffreys' penalty on the coefficients is added: half the log determinant of the
        information about them, of the logit model without random effects.
    """
    n_terms = cell_matrix.shape[1]

    def value(parameters: FloatArray) -> tuple[float, FloatArray]:
        loglik, slopes = laplace_loglik(parameters, counts, cell_matrix, kernels)
        if penalised:
            penalty, penalty_slopes = _jeffreys(parameters[:n_terms], counts, cell_matrix)
            loglik += penalty
            slopes[:n_terms] += penalty_slopes
        return -loglik, -slopes

    return value
