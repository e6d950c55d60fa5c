"""Bayes factors of t tests with a Cauchy prior on the standardised effect (JZS)."""

from __future__ import annotations

from math import exp, inf, log, nan, pi
from sys import float_info

import numpy as np
from scipy import special

__all__ = ["bayes_factor", "bayes_factor_text", "jzs_log_bf10"]

#: Step of the integral over log g. The integrand is smooth and falls off at both ends, so the
#: trapezoidal rule's error falls exponentially with the step: here it is below 1e-13.
_STEP = 0.05
#: Below this log g the prior is less than e^-1000.
_LOWEST_LOG_G = -8.0
#: So far beyond the likelihood's reach the integrand, which falls at least as e^(-log g / 2), has
#: fallen below rounding error.
_BEYOND = 90.0


def jzs_log_bf10(t: float, *, n: int, r_scale: float) -> float:
    """Weigh an effect against none, from the t of one sample or of paired differences.

    The natural log of BF10, how many times likelier the data are under the alternative: an effect
    in SDs of the differences (dz) from a Cauchy distribution of scale r about 0, and a Jeffreys
    prior on their variance (Rouder, Speckman, Sun, Morey & Iverson 2009, Psychonomic Bulletin &
    Review 16, 225-237, eq. 1, with r as in Morey & Rouder's BayesFactor). The alternative has both
    signs. Assumes that differences come independently from one normal distribution. Integrated in
    logs over log g, so that neither large t nor many participants overflow.

    Parameters
    ----------
    t : float
        One-sample or paired; its sign plays no part.
    n : int
        Participants (pairs); two or more.
    r_scale : float
        Scale of the prior: half of its effects are smaller than it in size; above 0.

    Returns
    -------
    float
        Above 0 for the effect, below 0 against it; NaN where t is missing.

    Raises
    ------
    ValueError
        If n is below 2, r_scale is not above 0, or t is infinite.

    Examples
    --------
    >>> round(exp(jzs_log_bf10(2.5, n=20, r_scale=0.5**0.5)), 4)
    2.7021
    """
    if np.isnan(t):
        return nan
    if n < 2 or not 0 < r_scale < inf or np.isinf(t):
        raise ValueError(f"no Bayes factor for t = {t}, n = {n}, r_scale = {r_scale}")
    df = n - 1
    log_t2 = 2 * log(abs(t)) if t else -inf
    log_scale = log(n) + 2 * log(r_scale)
    reach = max(0.0, log_t2 - log_scale, -log_scale)
    log_g = np.arange(_LOWEST_LOG_G, reach + _BEYOND, _STEP)
    # 1 + n g r^2: by how much the prior widens the variance of the mean.
    log_widening = np.logaddexp(0, log_g + log_scale)
    log_likelihood = -log_widening / 2 + (df + 1) / 2 * (
        np.logaddexp(0, log_t2 - log(df)) - np.logaddexp(0, log_t2 - log(df) - log_widening)
    )
    # g has an inverse chi-square distribution with one degree of freedom; dg = g d(log g).
    log_prior = -log(2 * pi) / 2 - log_g / 2 - np.exp(-log_g) / 2
    return float(special.logsumexp(log_likelihood + log_prior)) + log(_STEP)


def bayes_factor(log_bf10: float) -> float:
    """Return BF10, or BF01 from its negative; NaN where no floating-point number holds it."""
    if np.isnan(log_bf10) or not log(float_info.min) < log_bf10 < log(float_info.max):
        return nan
    return exp(log_bf10)


def bayes_factor_text(log_bf10: float) -> str:
    """Write a Bayes factor in both directions, with three significant digits.

    Parameters
    ----------
    log_bf10 : float
        From `jzs_log_bf10`.

    Returns
    -------
    str
        Empty where it is missing. Any size can be written.

    Examples
    --------
    >>> bayes_factor_text(log(2.702145))
    'BF10 = 2.70, BF01 = 0.370'
    >>> bayes_factor_text(5000.0)
    'BF10 = 2.97 × 10^2171, BF01 = 3.37 × 10^-2172'
    """
    if np.isnan(log_bf10):
        return ""
    return f"BF10 = {_three_digits(log_bf10)}, BF01 = {_three_digits(-log_bf10)}"


def _three_digits(log_value: float) -> str:
    log10 = log_value / log(10)
    exponent = int(np.floor(log10))
    mantissa = round(10 ** (log10 - exponent), 2)
    if mantissa >= 10:
        mantissa, exponent = mantissa / 10, exponent + 1
    if -4 < exponent < 4:
        return f"{mantissa * 10.0**exponent:.{max(2 - exponent, 0)}f}"
    return f"{mantissa:.2f} × 10^{exponent}"
