"""Means over participants with intervals: Student's, and within participants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, isnan, log, nan
from sys import float_info

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = [
    "EQUAL_PROPORTIONS",
    "ExponentiatedInterval",
    "MeanInterval",
    "cousineau_morey",
    "exponentiated",
    "mean_interval",
    "of_proportions",
]

FloatArray = npt.NDArray[np.float64]

#: A spread below this share of the mean is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12

#: Why proportions on which all participants agree have a mean alone.
EQUAL_PROPORTIONS = "all participants have the same value, so neither interval nor test"
_TOO_WIDE = "the interval is too wide for floating-point numbers"
_TOO_LARGE = "the value is beyond floating-point numbers"


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean over participants with its t interval and test against 0.

    Attributes
    ----------
    n : int
        Participants.
    mean, low, high : float
        The mean and its interval; NaN where it does not exist.
    sd : float
        Standard deviation over participants (ddof 1).
    t, df, p : float
        Two-sided one-sample test of the mean against 0; for differences, the paired test.
    dz : float
        Mean over SD: Cohen's d for a within-participant difference.
    note : str
        Why something is missing; empty if nothing is.
    """

    n: int
    mean: float
    low: float
    high: float
    sd: float
    t: float
    df: float
    p: float
    dz: float
    note: str

    @property
    def is_shared(self) -> bool:
        """Whether there are several participants, all with the same value."""
        return self.n > 1 and self.sd == 0


@dataclass(frozen=True, slots=True)
class ExponentiatedInterval:
    """Exponentials of a mean of logs and of its bounds; NaN where one does not exist.

    Attributes
    ----------
    mean, low, high : float
        Both bounds are there, or neither.
    note : str
        Why something is missing that the logs have; empty if nothing is.
    """

    mean: float
    low: float
    high: float
    note: str


def mean_interval(values: npt.ArrayLike, *, confidence: float) -> MeanInterval:
    """Average one value per participant, with a t interval.

    Assumes that the values come independently from one normal distribution (Student 1908).
    dz is the mean over the SD of the values (Lakens 2013, Frontiers in Psychology 4:863,
    eq. 6).

    Parameters
    ----------
    values : (n_participants,) array
        Missing values must have been left out, and counted, before.
    confidence : float
        Level of the interval.

    Returns
    -------
    MeanInterval
        With one value there is a mean but no interval, with none not even that. Equal values
        have an interval of width 0 and neither t nor dz.

    Examples
    --------
    >>> result = mean_interval([1.0, 2.0, 3.0], confidence=0.95)
    >>> round(result.low, 3), round(result.high, 3), result.dz
    (-0.484, 4.484, 2.0)
    """
    x = np.asarray(values, dtype=np.float64)
    n = len(x)
    if n == 0:
        return MeanInterval(0, nan, nan, nan, nan, nan, nan, nan, nan, "no participant")
    mean = float(x.mean())
    if n == 1:
        note = "one participant, so no interval"
        return MeanInterval(1, mean, nan, nan, nan, nan, nan, nan, nan, note)
    sd, df = float(x.std(ddof=1)), n - 1
    if sd <= _EQUAL_WITHIN * max(abs(mean), 1.0):
        note = "all participants have the same value, so there is no test"
        if abs(mean) <= _EQUAL_WITHIN:  # What rounding left of 0 has no direction.
            mean = 0.0
        return MeanInterval(n, mean, mean, mean, 0.0, nan, df, nan, nan, note)
    se = sd / np.sqrt(n)
    half_width = float(stats.t.ppf((1 + confidence) / 2, df) * se)
    t = float(mean / se)
    p = float(2 * stats.t.sf(abs(t), df))
    return MeanInterval(n, mean, mean - half_width, mean + half_width, sd, t, df, p, mean / sd, "")


def of_proportions(result: MeanInterval) -> MeanInterval:
    """Leave interval and test away where all participants have the same proportion.

    Of proportions, or differences of them, equal values are common (no errors at all) and do not
    make the mean certain, as an interval of width 0 would say.

    Parameters
    ----------
    result : MeanInterval
        Of proportions, or of differences of proportions.

    Examples
    --------
    >>> of_proportions(mean_interval([1.0, 1.0, 1.0], confidence=0.95)).low
    nan
    """
    if not result.is_shared:
        return result
    return replace(result, low=nan, high=nan, t=nan, p=nan, dz=nan, note=EQUAL_PROPORTIONS)


def exponentiated(mean: float, low: float, high: float) -> ExponentiatedInterval:
    """Turn a mean of logs and its interval into a ratio, or a geometric mean, with its interval.

    With two or three participants and a high level of confidence an interval of logs can be so wide
    that no floating-point number holds the exponential of a bound. Then both are missing, since one
    alone would look like a finding.

    Parameters
    ----------
    mean, low, high : float
        Natural logs; NaN where one does not exist.

    Examples
    --------
    >>> found = exponentiated(0.0, -800.0, 800.0)
    >>> found.mean, found.low, found.high
    (1.0, nan, nan)
    """
    if not (isnan(mean) or _is_log_of_a_float(mean)):
        return ExponentiatedInterval(nan, nan, nan, _TOO_LARGE)
    centre = exp(mean)
    if isnan(low) or isnan(high):
        return ExponentiatedInterval(centre, nan, nan, "")
    if not (_is_log_of_a_float(low) and _is_log_of_a_float(high)):
        return ExponentiatedInterval(centre, nan, nan, _TOO_WIDE)
    return ExponentiatedInterval(centre, exp(low), exp(high), "")


def _is_log_of_a_float(value: float) -> bool:
    return log(float_info.min) < value < log(float_info.max)


def cousineau_morey(scores: npt.ArrayLike, *, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Within-participant standard errors and interval half widths of condition means.

    Each score is shifted by its participant's mean and the grand mean (Cousineau 2005, Tutorials
    in Quantitative Methods for Psychology 1, 42-45), and the variance is multiplied by
    J / (J - 1) for J conditions (Morey 2008, same journal 4, 61-64). Such intervals serve
    comparisons of conditions within participants, not statements about a condition's level.
    Assumes complete data and compound symmetry.

    Parameters
    ----------
    scores : (n_participants, n_conditions) array
        No missing values.
    confidence : float
        Level of the intervals, which use t with n_participants - 1 degrees of freedom.

    Returns
    -------
    se, half_width : (n_conditions,) arrays
        NaN with fewer than two participants or two conditions.

    Examples
    --------
    >>> se, half = cousineau_morey([[1.0, 2.0], [2.0, 4.0], [4.0, 5.0]], confidence=0.95)
    >>> se.round(4).tolist()
    [0.2357, 0.2357]
    """
    x = np.asarray(scores, dtype=np.float64)
    n, n_conditions = x.shape
    if n < 2 or n_conditions < 2:
        return np.full(n_conditions, np.nan), np.full(n_conditions, np.nan)
    normed = x - x.mean(axis=1, keepdims=True) + x.mean()
    correction = n_conditions / (n_conditions - 1)
    se = np.sqrt(normed.var(axis=0, ddof=1) * correction / n)
    return se, stats.t.ppf((1 + confidence) / 2, n - 1) * se
