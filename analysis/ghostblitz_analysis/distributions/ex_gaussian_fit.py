"""Maximum likelihood for the ex-Gaussian distribution of one sample of RTs.

The parameters describe a distribution's shape; they are not stages of processing (Matzke &
Wagenmakers 2009, Psychonomic Bulletin & Review 16, 798-817).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, stats

from ghostblitz_analysis.distributions.ex_gaussian import (
    ex_gaussian_cdf,
    ex_gaussian_log_density,
    log_likelihood,
    log_likelihood_gradient,
    log_likelihood_hessian,
)
from ghostblitz_task.errors import DatasetError

__all__ = ["MIN_N_RT", "ExGaussianFit", "fit_ex_gaussian"]

FloatArray = npt.NDArray[np.float64]

#: Fewer RTs are refused. A choice: from 40 simulated RTs with sigma half of tau, the SD of the
#: estimates of tau is 0.3 of tau, and one fit in ten ends at a boundary or without an interval;
#: from 100 RTs it is 0.17, and hardly any does.
MIN_N_RT = 40

#: A fit whose likelihood is no better than this above that of a normal or a shifted exponential
#: distribution cannot be told apart from it.
_LIMIT_WITHIN = 1e-4

#: Half the Newton decrement: how far below its maximum the log likelihood may still be.
_CONVERGED_WITHIN = 1e-8

#: Bounds of log sigma and log tau, in units of the sample's SD; past them are the limits.
_LOG_BOUNDS = (float(np.log(1e-4)), float(np.log(10)))

#: An interval that spans more than this factor to each side says no more than that sigma or tau
#: is small against the other.
_WIDEST_FACTOR = 100.0


@dataclass(frozen=True, slots=True)
class ExGaussianFit:
    """The ex-Gaussian distribution of greatest likelihood; NaN where something does not exist.

    Attributes
    ----------
    n_rt : int
        RTs.
    mu_s, sigma_s, tau_s : float
        Estimates, in the unit of the RTs (seconds).
    mu_se_s, sigma_se_s, tau_se_s : float
        Standard errors from the observed information; those of sigma and tau by the delta method
        from their logs.
    mu_low_s, mu_high_s, sigma_low_s, sigma_high_s, tau_low_s, tau_high_s : float
        Wald intervals: of mu as it is, of sigma and tau on the log scale.
    log_likelihood : float
        At the estimates, of RTs in their unit.
    ks_distance : float
        Largest distance between the sample's and the fitted cumulative distribution. The usual
        p values do not hold, since the parameters come from the same data.
    converged : bool or None
        None where nothing was fitted.
    boundary : str
        ``tau`` or ``sigma`` where that parameter runs to 0; empty if neither.
    note : str
        What is missing and why; empty if nothing is.
    """

    n_rt: int
    mu_s: float = float("nan")
    sigma_s: float = float("nan")
    tau_s: float = float("nan")
    mu_se_s: float = float("nan")
    sigma_se_s: float = float("nan")
    tau_se_s: float = float("nan")
    mu_low_s: float = float("nan")
    mu_high_s: float = float("nan")
    sigma_low_s: float = float("nan")
    sigma_high_s: float = float("nan")
    tau_low_s: float = float("nan")
    tau_high_s: float = float("nan")
    log_likelihood: float = float("nan")
    ks_distance: float = float("nan")
    converged: bool | None = None
    boundary: str = ""
    note: str = ""


def fit_ex_gaussian(
    rt_s: npt.ArrayLike, *, confidence: float = 0.95, min_n: int = MIN_N_RT
) -> ExGaussianFit:
    """Find the ex-Gaussian parameters of greatest likelihood for one sample.

    The search (a truncated Newton method with the analytic gradient, over mu, log sigma and log
    tau) begins at several points, which follow from moments and from quartiles. The best end is
    refined by Newton steps with the analytic Hessian, and has converged where that is negative
    definite and no step could gain anything. Assumes independent RTs from one distribution.

    Parameters
    ----------
    rt_s : (n_rts,) array, seconds
        Usually correct RTs of one participant in one condition.
    confidence : float
        Level of the intervals.
    min_n : int
        Fewer RTs are refused, in the note.

    Returns
    -------
    ExGaussianFit
        Equal RTs are refused as well. Where the likelihood is greatest as tau goes to 0, the
        estimates are those of a normal distribution (its SD with ddof 0), where sigma goes to 0
        those of a shifted exponential one; neither has intervals.

    Raises
    ------
    DatasetError
        If an RT is missing or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> rt_s = rng.normal(0.4, 0.04, 2000) + rng.exponential(0.1, 2000)
    >>> fit = fit_ex_gaussian(rt_s)
    >>> bool(abs(fit.mu_s - 0.4) < 0.01), bool(abs(fit.tau_s - 0.1) < 0.01), fit.note
    (True, True, '')
    """
    x = np.sort(np.asarray(rt_s, dtype=np.float64))
    if not np.isfinite(x).all():
        raise DatasetError(
            f"{int((~np.isfinite(x)).sum())} of {len(x)} RTs to fit are missing or not finite; "
            "leave them out"
        )
    n = len(x)
    if n < max(min_n, 3):
        rts = f"{n or 'no'} RT{'' if n == 1 else 's'}"
        return ExGaussianFit(n, note=f"{rts}, fewer than the {max(min_n, 3)} that a fit wants")
    mean, sd = float(x.mean()), float(x.std())
    if x[0] == x[-1] or sd <= 1e-12 * abs(mean):
        return ExGaussianFit(n, note="all RTs are equal, so there is no distribution to fit")
    y = (x - mean) / sd
    theta, converged = _greatest_likelihood(y)
    best = log_likelihood(y, theta)
    normal = float(stats.norm.logpdf(y).sum())
    exponential = n * (-np.log(-y[0]) - 1)
    if max(normal, exponential) >= best - _LIMIT_WITHIN:
        return _limiting_fit(x, "tau" if normal >= exponential else "sigma")
    return _interior_fit(x, y, theta, scale=(mean, sd), converged=converged, confidence=confidence)


def _limiting_fit(x: FloatArray, boundary: str) -> ExGaussianFit:
    if boundary == "tau":
        mu, sigma, tau = float(x.mean()), float(x.std()), 0.0
        note = "tau runs to 0: the RTs are no more skewed than those of a normal distribution"
    else:
        mu, sigma, tau = float(x[0]), 0.0, float(x.mean() - x[0])
        note = "sigma runs to 0: no normal part can be told apart from a shifted exponential one"
    return ExGaussianFit(
        n_rt=len(x),
        mu_s=mu,
        sigma_s=sigma,
        tau_s=tau,
        log_likelihood=float(ex_gaussian_log_density(x, mu_s=mu, sigma_s=sigma, tau_s=tau).sum()),
        ks_distance=_ks_distance(x, mu, sigma, tau),
        converged=True,
        boundary=boundary,
        note=f"{note}, so there are no intervals",
    )


def _interior_fit(
    x: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    *,
    scale: tuple[float, float],
    converged: bool,
    confidence: float,
) -> ExGaussianFit:
    """Bring the fit back from the scale of y = (x - mean) / sd, with intervals."""
    mean, sd = scale
    mu, sigma, tau = mean + sd * theta[0], sd * np.exp(theta[1]), sd * np.exp(theta[2])
    se = np.full(3, np.nan)
    if converged:
        se = np.sqrt(np.diag(linalg.inv(-log_likelihood_hessian(y, theta))))
    z = stats.norm.ppf((1 + confidence) / 2)
    notes = [] if converged else ["the search did not converge, so there are no intervals"]
    factors = []
    for name, log_se in (("sigma", se[1]), ("tau", se[2])):
        bound = bool(z * log_se <= np.log(_WIDEST_FACTOR))
        if converged and not bound:
            notes.append(f"the RTs hardly bound {name}, so it has no interval")
        factors.append(float(np.exp(z * log_se)) if bound else float("nan"))
    return ExGaussianFit(
        n_rt=len(x),
        mu_s=float(mu),
        sigma_s=float(sigma),
        tau_s=float(tau),
        mu_se_s=float(sd * se[0]),
        sigma_se_s=float(sigma * se[1]) if factors[0] == factors[0] else float("nan"),
        tau_se_s=float(tau * se[2]) if factors[1] == factors[1] else float("nan"),
        mu_low_s=float(mu - z * sd * se[0]),
        mu_high_s=float(mu + z * sd * se[0]),
        sigma_low_s=float(sigma / factors[0]),
        sigma_high_s=float(sigma * factors[0]),
        tau_low_s=float(tau / factors[1]),
        tau_high_s=float(tau * factors[1]),
        log_likelihood=float(ex_gaussian_log_density(x, mu_s=mu, sigma_s=sigma, tau_s=tau).sum()),
        ks_distance=_ks_distance(x, mu, sigma, tau),
        converged=converged,
        boundary="",
        note="; ".join(notes),
    )


def _ks_distance(x: FloatArray, mu: float, sigma: float, tau: float) -> float:
    fitted = ex_gaussian_cdf(x, mu_s=mu, sigma_s=sigma, tau_s=tau)
    n = len(x)
    above = np.arange(1, n + 1) / n - fitted
    below = fitted - np.arange(n) / n
    return float(max(above.max(), below.max()))


def _greatest_likelihood(y: FloatArray) -> tuple[FloatArray, bool]:
    """Search from every start; return mu, log sigma and log tau, and whether it converged."""
    bounds = [(float(y[0]) - 10, float(y[-1])), _LOG_BOUNDS, _LOG_BOUNDS]
    lower, upper = np.array(bounds).T
    # TNC: L-BFGS-B calls a threaded BLAS on tiny matrices, which on a busy machine takes most of
    # the time.
    ends = [
        optimize.minimize(
            _mean_loss,
            np.clip(start, lower, upper),
            args=(y,),
            jac=True,
            method="TNC",
            bounds=bounds,
            options={"maxfun": 500},
        )
        for start in _starts(y)
    ]
    best = min(ends, key=lambda end: float(end.fun))
    return _refined(y, np.asarray(best.x, dtype=np.float64))


def _starts(y: FloatArray) -> list[FloatArray]:
    """Points of search: tau as a share of the spread, by moments or about the median.

    Skewness is 2 (tau / SD)^3. Quartiles serve samples whose SD is that of a few very long RTs.
    """
    skewness = max(float(stats.skew(y)), 0.02)
    by_moments = min((skewness / 2) ** (1 / 3), 0.95)
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    spread = min((high - low) / 1.349, 1.0) or 1.0
    points = [(0.0, 1.0, by_moments), (0.0, 1.0, 0.5), (middle, spread, 0.4), (middle, spread, 0.9)]
    return [
        np.array([centre - share * s, np.log(s * np.sqrt(1 - share**2)), np.log(s * share)])
        for centre, s, share in points
    ]


def _mean_loss(theta: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    """Minus the mean log density, and its gradient."""
    return -log_likelihood(y, theta) / len(y), -log_likelihood_gradient(y, theta) / len(y)


def _refined(y: FloatArray, theta: FloatArray) -> tuple[FloatArray, bool]:
    """Climb to the maximum by Newton steps, halved where they would lead down."""
    height = log_likelihood(y, theta)
    for _ in range(50):
        gradient = log_likelihood_gradient(y, theta)
        try:
            step = linalg.cho_solve(linalg.cho_factor(-log_likelihood_hessian(y, theta)), gradient)
        except linalg.LinAlgError:
            return theta, False
        gain = float(gradient @ step) / 2
        if gain < 1e-15:
            return theta, True
        # A step that is longer than an e-fold of sigma or tau leaves where its parabola holds.
        step /= max(1.0, float(np.abs(step[1:]).max()))
        for halved in range(30):
            trial = theta + step / 2**halved
            reached = log_likelihood(y, trial)
            if reached > height:
                break
        else:
            return theta, gain < _CONVERGED_WITHIN
        theta, height = trial, reached
    return theta, False
