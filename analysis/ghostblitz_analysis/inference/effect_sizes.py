"""Standardised effects of paired data, with intervals from the noncentral t distribution."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, nan, sqrt

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from ghostblitz_analysis.intervals import mean_interval

__all__ = [
    "EffectSize",
    "cohens_dav",
    "cohens_dz",
    "hedges_correction",
    "noncentral_t_limits",
]


#: Nodes per panel of the integral over the SD; with four panels its error is about 1e-13.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(80)
#: Share of the distribution of the SD that is left out at either end.
_TAIL = 1e-17
#: A normal distribution is nowhere but within so many SDs of its mean.
_NORMAL_REACH = 8.5


@dataclass(frozen=True, slots=True)
class EffectSize:
    """A standardised mean difference, as it is and corrected for its bias in small samples.

    Attributes
    ----------
    d, low, high : float
        In SDs, with its interval; NaN where it does not exist.
    g, g_low, g_high : float
        The same times Hedges' correction; NaN with two participants, of whom d has no expectation.
    note : str
        Why something is missing; empty if nothing is.
    """

    d: float
    low: float
    high: float
    g: float
    g_low: float
    g_high: float
    note: str


def hedges_correction(df: float) -> float:
    """Return the factor that takes the bias out of a standardised mean difference.

    Hedges (1981, Journal of Educational Statistics 6, 107-128, eq. 6e): with m degrees of freedom
    Gamma(m/2) / (sqrt(m/2) Gamma((m-1)/2)). Assumes normal scores.

    Parameters
    ----------
    df : float
        Degrees of freedom of the SD: participants less one for paired data.

    Returns
    -------
    float
        Between 0 and 1; NaN for one degree of freedom or less.

    Examples
    --------
    >>> round(hedges_correction(9), 4)
    0.9139
    """
    if df <= 1:
        return nan
    return exp(lgamma(df / 2) - lgamma((df - 1) / 2) - log(df / 2) / 2)


def noncentral_t_limits(t: float, *, df: float, confidence: float) -> tuple[float, float]:
    """Find the noncentralities of which a t is just not too large or too small.

    The t found lies at the upper and the lower ``(1 - confidence) / 2`` of the noncentral t
    distributions with these noncentralities (Steiger & Fouladi 1997, in Harlow, Mulaik & Steiger,
    What if there were no significance tests?; Cumming & Finch 2001, Educational and Psychological
    Measurement 61, 532-574). Assumes normal scores.

    Parameters
    ----------
    t : float
        The statistic found.
    df : float
        Its degrees of freedom, above 0.
    confidence : float
        Level of the interval.

    Returns
    -------
    low, high : float
        NaN where t or df is missing.

    Examples
    --------
    >>> low, high = noncentral_t_limits(2.5, df=19, confidence=0.95)
    >>> round(low, 3), round(high, 3)
    (0.359, 4.585)
    """
    if np.isnan(t) or np.isnan(df):
        return nan, nan
    if t < 0:
        low, high = noncentral_t_limits(-t, df=df, confidence=confidence)
        return -high, -low
    tail = (1 - confidence) / 2
    return _noncentrality(t, df, 1 - tail), _noncentrality(t, df, tail)


def _noncentrality(t: float, df: float, p: float) -> float:
    """Find the noncentrality with which a share p of t values is at most t."""

    def excess(noncentrality: float) -> float:
        return _noncentral_t_cdf(t, df, noncentrality) - p

    step = sqrt(1 + t**2 / (2 * df))
    low = high = t
    while excess(low) < 0:
        low, step = low - step, 2 * step
    while excess(high) > 0:
        high, step = high + step, 2 * step
    return low if low == high else float(optimize.brentq(excess, low, high))


def _noncentral_t_cdf(t: float, df: float, noncentrality: float) -> float:
    """Return P(T <= t), t >= 0, as the mean of P(Z <= t s - noncentrality) over the SD s.

    SciPy's is NaN for a large t at noncentralities that the search passes by.
    """
    if t == 0:
        return float(special.ndtr(-noncentrality))
    ends = special.gammaincinv(df / 2, _TAIL), special.gammainccinv(df / 2, _TAIL)
    low, high = (sqrt(2 * float(end) / df) for end in ends)
    centre, reach = noncentrality / t, _NORMAL_REACH / t
    edges = np.clip([low, centre - reach, centre, centre + reach, high], low, high)
    half_widths = np.diff(edges)[:, None] / 2
    s = edges[:-1, None] + half_widths * (1 + _NODES)
    # The density of s, up to a factor that the division takes out again.
    log_density = (df - 1) * np.log(s) - df * (s**2 - 1) / 2
    weights = half_widths * _NODE_WEIGHTS * np.exp(log_density)
    return float((weights * special.ndtr(t * s - noncentrality)).sum() / weights.sum())


def cohens_dz(differences: npt.ArrayLike, *, confidence: float) -> EffectSize:
    """Standardise a mean difference by the SD of the differences.

    dz = M / SD (Cohen 1988; Lakens 2013, Frontiers in Psychology 4:863, eq. 6), whose exact
    interval is that of the noncentrality of t over sqrt(n). It says how reliably people differ in
    that direction; it is no measure of how far apart the conditions' distributions are, for which
    see `cohens_dav`. Assumes that differences come independently from one normal distribution.

    Parameters
    ----------
    differences : (n_participants,) array
        One per participant; missing ones must have been left out, and counted, before.
    confidence : float
        Level of the interval.

    Returns
    -------
    EffectSize
        All missing, with the reason, below two participants and where all differences are equal.

    Examples
    --------
    >>> effect = cohens_dz([0.2, 0.5, 0.1, 0.9, 0.4], confidence=0.95)
    >>> round(effect.d, 3), round(effect.low, 3), round(effect.high, 3)
    (1.349, 0.058, 2.57)
    """
    test = mean_interval(differences, confidence=confidence)
    return _effect_size(test.t, test.n, 1 / sqrt(test.n) if test.n else nan, confidence, test.note)


def cohens_dav(level: npt.ArrayLike, reference: npt.ArrayLike, *, confidence: float) -> EffectSize:
    """Standardise a mean difference between two conditions by the conditions' average SD.

    dav = (M1 - M2) / sqrt((SD1^2 + SD2^2) / 2) (Cumming 2012, Understanding the new statistics,
    ch. 11), which can be compared with the d of studies between participants. Its interval is that
    of the noncentrality of the paired t, scaled (Algina & Keselman 2003, Educational and
    Psychological Measurement 63, 537-553, who show that its coverage is close to what it says).
    Assumes that the pairs come independently from one bivariate normal distribution.

    Parameters
    ----------
    level, reference : (n_participants,) arrays
        The same participants' scores in two conditions; no missing ones.
    confidence : float
        Level of the interval.

    Returns
    -------
    EffectSize
        All missing, with the reason, where `cohens_dz` of the differences is.

    Examples
    --------
    >>> effect = cohens_dav([1.1, 1.4, 1.7, 1.9], [0.6, 0.9, 0.8, 1.2], confidence=0.95)
    >>> round(effect.d, 3)
    2.137
    """
    x, y = np.asarray(level, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    test = mean_interval(x - y, confidence=confidence)
    scale = nan
    if test.n > 1 and test.sd > 0:
        sd_av = sqrt((float(x.var(ddof=1)) + float(y.var(ddof=1))) / 2)
        scale = test.sd / (sqrt(test.n) * sd_av)
    return _effect_size(test.t, test.n, scale, confidence, test.note)


def _effect_size(t: float, n: int, scale: float, confidence: float, note: str) -> EffectSize:
    """Scale t and the limits of its noncentrality."""
    low, high = noncentral_t_limits(t, df=n - 1, confidence=confidence)
    factor = hedges_correction(n - 1)
    if not note and np.isnan(factor):
        note = "two participants, so there is no Hedges' correction"
    d = t * scale
    return EffectSize(
        d, low * scale, high * scale, d * factor, low * scale * factor, high * scale * factor, note
    )
