"""Means over participants with intervals: Student's, and within participants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = ["MeanInterval", "cousineau_morey", "mean_interval"]

FloatArray = npt.NDArray[np.float64]

#: A spread below this share of the mean is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12


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
    nan, n = float("nan"), len(x)
    if n == 0:
        return MeanInterval(0, nan, nan, nan, nan, nan, nan, nan, nan, "no participant")
    mean = float(x.mean())
    if n == 1:
        note = "one participant, so no interval"
        return MeanInterval(1, mean, nan, nan, nan, nan, nan, nan, nan, note)
    sd, df = float(x.std(ddof=1)), n - 1
    if sd <= _EQUAL_WITHIN * max(abs(mean), 1.0):
        note = "all participants have the same value, so there is no test"
        return MeanInterval(n, mean, mean, mean, 0.0, nan, df, nan, nan, note)
    se = sd / np.sqrt(n)
    half_width = float(stats.t.ppf((1 + confidence) / 2, df) * se)
    t = float(mean / se)
    p = float(2 * stats.t.sf(abs(t), df))
    return MeanInterval(n, mean, mean - half_width, mean + half_width, sd, t, df, p, mean / sd, "")


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
