"""The ex-Gaussian distribution: a stable density, and the derivatives of its likelihood.

An RT is the sum of a normal and an exponential part, with mean mu and SD sigma of the one and mean
tau of the other (Hohle 1965, Journal of Experimental Psychology 69, 382-386).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from ghostblitz_task.errors import DatasetError

__all__ = [
    "ex_gaussian_cdf",
    "ex_gaussian_log_density",
    "log_likelihood",
    "log_likelihood_gradient",
    "log_likelihood_hessian",
]

FloatArray = npt.NDArray[np.float64]


def ex_gaussian_log_density(
    rt_s: npt.ArrayLike, *, mu_s: float, sigma_s: float, tau_s: float
) -> FloatArray:
    """Natural log of the ex-Gaussian density.

    With u = (rt - mu) / sigma and r = sigma / tau it is
    -log tau + r^2 / 2 - u r + log Phi(u - r). Left of u = r both last terms are large and cancel;
    there it is computed as -log tau - u^2 / 2 + log(erfcx((r - u) / sqrt 2) / 2).

    Parameters
    ----------
    rt_s : array, seconds
        Any shape.
    mu_s, sigma_s, tau_s : float
        Mean and SD of the normal part, mean of the exponential one. With ``tau_s`` 0 it is the
        normal density, with ``sigma_s`` 0 that of a shifted exponential distribution.

    Returns
    -------
    array of the shape of `rt_s`, log(1 / s)

    Raises
    ------
    DatasetError
        If sigma or tau is negative, or both are 0.

    Examples
    --------
    >>> ex_gaussian_log_density([0.5], mu_s=0.4, sigma_s=0.05, tau_s=0.1).round(6).tolist()
    [1.358442]
    """
    x = np.asarray(rt_s, dtype=np.float64)
    _check_parameters(mu_s, sigma_s, tau_s)
    if tau_s == 0:
        return np.asarray(stats.norm.logpdf(x, mu_s, sigma_s))
    if sigma_s == 0:
        return np.asarray(stats.expon.logpdf(x, mu_s, tau_s))
    # Of the two forms only the one that holds is taken; the other may overflow beside it.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        u, r, w = (x - mu_s) / sigma_s, sigma_s / tau_s, (x - mu_s) / tau_s
        z = u - r
        far = -0.5 * u**2 + np.log(special.erfcx(-np.minimum(z, 0) / np.sqrt(2)) / 2)
        near = 0.5 * r**2 - w + special.log_ndtr(np.maximum(z, 0))
        return np.asarray(np.where(z < 0, far, near) - np.log(tau_s))


def ex_gaussian_cdf(
    rt_s: npt.ArrayLike, *, mu_s: float, sigma_s: float, tau_s: float
) -> FloatArray:
    """Cumulative ex-Gaussian distribution: Phi(u) - tau f(rt), with the density f.

    Parameters
    ----------
    rt_s : array, seconds
        Any shape.
    mu_s, sigma_s, tau_s : float
        As for `ex_gaussian_log_density`, limits included.

    Returns
    -------
    array of the shape of `rt_s`

    Raises
    ------
    DatasetError
        If sigma or tau is negative, or both are 0.

    Examples
    --------
    >>> ex_gaussian_cdf([0.5], mu_s=0.4, sigma_s=0.05, tau_s=0.1).round(6).tolist()
    [0.588237]
    """
    x = np.asarray(rt_s, dtype=np.float64)
    _check_parameters(mu_s, sigma_s, tau_s)
    if sigma_s == 0:
        return np.asarray(stats.expon.cdf(x, mu_s, tau_s))
    normal = special.ndtr((x - mu_s) / sigma_s)
    if tau_s == 0:
        return np.asarray(normal)
    log_density = ex_gaussian_log_density(x, mu_s=mu_s, sigma_s=sigma_s, tau_s=tau_s)
    return np.clip(normal - tau_s * np.exp(log_density), 0.0, 1.0)


def log_likelihood(rt_s: FloatArray, theta: FloatArray) -> float:
    """Add up the log density of a sample.

    Parameters
    ----------
    rt_s : (n_rts,) array, seconds
        Or on any other scale.
    theta : (3,) array
        mu, log sigma, log tau.
    """
    mu, sigma, tau = theta[0], np.exp(theta[1]), np.exp(theta[2])
    return float(ex_gaussian_log_density(rt_s, mu_s=mu, sigma_s=sigma, tau_s=tau).sum())


def log_likelihood_gradient(rt_s: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the first derivatives of the log likelihood: (3,).

    Parameters
    ----------
    rt_s : (n_rts,) array, seconds
        Or on any other scale.
    theta : (3,) array
        mu, log sigma, log tau.
    """
    sigma, tau, r, u, _, mills = _terms(rt_s, theta)
    n, total = len(rt_s), mills.sum()
    return np.array(
        [
            n / tau - total / sigma,
            n * r**2 - (mills * (u + r)).sum(),
            (u * r).sum() - n - n * r**2 + r * total,
        ]
    )


def log_likelihood_hessian(rt_s: FloatArray, theta: FloatArray) -> FloatArray:
    """Return the second derivatives of the log likelihood: (3, 3).

    Parameters
    ----------
    rt_s : (n_rts,) array, seconds
        Or on any other scale.
    theta : (3,) array
        mu, log sigma, log tau.
    """
    sigma, tau, r, u, z, mills = _terms(rt_s, theta)
    n = len(rt_s)
    curve = -mills * (z + mills)
    by_mu, by_sigma, by_tau = -1 / sigma, -(u + r), r
    mu_sigma = (curve * by_mu * by_sigma + mills / sigma).sum()
    mu_tau = (curve * by_mu * by_tau).sum() - n / tau
    sigma_tau = (curve * by_sigma * by_tau + mills * r).sum() - 2 * n * r**2
    return np.array(
        [
            [(curve * by_mu**2).sum(), mu_sigma, mu_tau],
            [mu_sigma, (curve * by_sigma**2 + mills * z).sum() + 2 * n * r**2, sigma_tau],
            [
                mu_tau,
                sigma_tau,
                (curve * by_tau**2 - mills * r).sum() + 2 * n * r**2 - (u * r).sum(),
            ],
        ]
    )


def _check_parameters(mu_s: float, sigma_s: float, tau_s: float) -> None:
    finite = bool(np.isfinite([mu_s, sigma_s, tau_s]).all())
    if not finite or sigma_s < 0 or tau_s < 0 or sigma_s == tau_s == 0:
        raise DatasetError(
            f"an ex-Gaussian distribution cannot have mu {mu_s:g}, sigma {sigma_s:g} and tau "
            f"{tau_s:g}; expected sigma and tau of at least 0, and not both 0"
        )


def _terms(
    rt_s: FloatArray, theta: FloatArray
) -> tuple[float, float, float, FloatArray, FloatArray, FloatArray]:
    """Sigma, tau, r = sigma / tau, u, z = u - r, and the normal density over Phi at z."""
    sigma, tau = float(np.exp(theta[1])), float(np.exp(theta[2]))
    u = (rt_s - theta[0]) / sigma
    r = sigma / tau
    z = u - r
    # erfcx grows without limit for z far above 0, where the ratio is 0.
    return sigma, tau, r, u, z, np.sqrt(2 / np.pi) / special.erfcx(-z / np.sqrt(2))
