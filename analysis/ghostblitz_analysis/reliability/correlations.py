"""Correlations of random halves over participants, and the reliability that they come to.

How far the scores of one half of the trials order participants as the other half's do. The
correlations of all splits are averaged first, and the mean is then corrected for the halved number
of trials with the Spearman-Brown formula (Kahveci, Bathke & Blechert 2025, Psychonomic Bulletin &
Review 32, doi:10.3758/s13423-024-02597-y, whose variant of the formula differs for negative means
alone, which are not corrected here). Parsons, Kruijt & Fox (2019, Advances in Methods and Practices
in Psychological Science 2, 378-395) and Pronk et al. (2022, Psychonomic Bulletin & Review 29,
44-54) correct each split first; that mean stands beside it. The order matters where some splits
correlate negatively: there the formula has no meaning, and the mean over splits does not need it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = [
    "LEAST_FOR_R",
    "SplitHalf",
    "correlate_halves",
    "spearman_brown",
    "summarise_splits",
]

FloatArray = npt.NDArray[np.float64]

#: Fewer participants have a correlation of 1 or -1, or none.
LEAST_FOR_R = 3
#: Below it a correlation over participants says next to nothing: with nine, the 95 % interval of
#: r = .6 reaches from -.1 to .9 (Fisher's z).
_FEW_PARTICIPANTS = 10
#: A spread below this share of the mean is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """The reliability of one score; NaN where something does not exist.

    Attributes
    ----------
    n_participants : int
        With a score in both halves.
    n_splits, n_undefined_splits, n_negative_splits : int
        Splits; those without a correlation, which count for nothing; those in which it is
        negative, which count.
    r, r_splits_low, r_splits_high : float
        Mean Pearson correlation of the halves, and the percentile interval over splits: how much
        rests on the way of splitting, not on who took part.
    r_low, r_high : float
        Interval over participants.
    spearman_brown, spearman_brown_splits_low, spearman_brown_splits_high : float
        The reliability of all trials: the mean correlation, corrected, and the interval over
        splits.
    spearman_brown_low, spearman_brown_high : float
        Interval over participants.
    spearman_brown_per_split : float
        Mean of the splits' corrected correlations; missing if one of them is negative.
    note : str
        Why something is missing; empty if nothing is.
    warning : str
        Why the figures are to be distrusted; empty if there is no reason known.
    """

    n_participants: int
    n_splits: int
    n_undefined_splits: int
    n_negative_splits: int
    r: float
    r_splits_low: float
    r_splits_high: float
    r_low: float
    r_high: float
    spearman_brown: float
    spearman_brown_splits_low: float
    spearman_brown_splits_high: float
    spearman_brown_low: float
    spearman_brown_high: float
    spearman_brown_per_split: float
    note: str
    warning: str


def spearman_brown(r: float, *, length_factor: float = 2.0) -> float:
    """Predict the reliability of a test that is longer than the one that correlates by `r`.

    k r / (1 + (k - 1) r) (Spearman 1910, Brown 1910, British Journal of Psychology 3, 271-322).
    Assumes parallel parts: the same true scores, and errors of the same size.

    Parameters
    ----------
    r : float
        Correlation of two forms of the test, such as its halves.
    length_factor : float
        How many times as long the test is: 2 for what consists of two halves.

    Returns
    -------
    float
        NaN for a negative or missing correlation: parallel parts cannot correlate negatively,
        and the formula would make it worse without limit.

    Examples
    --------
    >>> round(spearman_brown(0.6), 10)
    0.75
    """
    if not r >= 0:
        return float("nan")
    return length_factor * r / (1 + (length_factor - 1) * r)


def correlate_halves(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Correlate two halves over participants, and again without each participant.

    Parameters
    ----------
    first, second : (n_splits, n_participants) arrays
        None missing; at least two participants.

    Returns
    -------
    r : (n_splits,) array
        Pearson correlations; NaN where all scores of a half are equal.
    leave_one_out : (n_splits, n_participants) array
        Those without one participant; NaN likewise.

    Examples
    --------
    >>> r, without = correlate_halves(
    ...     np.array([[1.0, 2.0, 3.0, 3.0]]), np.array([[1.0, 2.0, 3.0, 0.0]])
    ... )
    >>> r.round(3).tolist(), without.round(3).tolist()
    ([0.135], [[-0.189, 0.189, -0.5, 1.0]])
    """
    n = first.shape[1]
    dx = first - first.mean(axis=1, keepdims=True)
    dy = second - second.mean(axis=1, keepdims=True)
    xx, yy, xy = (dx * dx).sum(axis=1), (dy * dy).sum(axis=1), (dx * dy).sum(axis=1)
    least = [
        n * (_EQUAL_WITHIN * np.maximum(abs(x).max(axis=1), 1.0)) ** 2 for x in (first, second)
    ]
    # Without participant i the sums about the new mean fall by n / (n - 1) of i's products.
    lost = n / (n - 1)
    without = _ratio(
        xy[:, None] - lost * dx * dy,
        xx[:, None] - lost * dx * dx,
        yy[:, None] - lost * dy * dy,
        np.maximum(least[0], _EQUAL_WITHIN * xx)[:, None],
        np.maximum(least[1], _EQUAL_WITHIN * yy)[:, None],
    )
    return _ratio(xy, xx, yy, least[0], least[1]), without


def _ratio(
    xy: FloatArray, xx: FloatArray, yy: FloatArray, least_xx: FloatArray, least_yy: FloatArray
) -> FloatArray:
    """Return the correlation of sums of squares and products; NaN without spread."""
    spread = (xx > least_xx) & (yy > least_yy)
    r = np.full(xy.shape, np.nan)
    np.divide(xy, np.sqrt(np.maximum(xx * yy, 0.0)), out=r, where=spread)
    return np.asarray(np.clip(r, -1.0, 1.0))


def summarise_splits(
    r: npt.ArrayLike, leave_one_out: npt.ArrayLike, *, confidence: float
) -> SplitHalf:
    """Summarise the correlations of many splits.

    The interval over participants is that of the mean correlation on Fisher's z scale, with the
    jackknife's standard error over participants (Miller 1974, Biometrika 61, 1-15) and t with
    n - 1 degrees of freedom, which is then corrected like the mean. An interval of a single
    correlation would be too wide for the mean of many. Corrected intervals are cut at 0, since
    a reliability is a share of variance.

    Parameters
    ----------
    r : (n_splits,) array
        Of the splits; NaN where there is none.
    leave_one_out : (n_participants,) array
        Mean correlation over splits without each participant; NaN where there is none.
    confidence : float
        Level of the intervals.

    Returns
    -------
    SplitHalf
        Without corrected figures, and with a warning, where the mean correlation is negative.

    Examples
    --------
    >>> result = summarise_splits([0.5, 0.7], [0.55, 0.6, 0.65, 0.6], confidence=0.95)
    >>> round(result.r, 2), round(result.spearman_brown, 2), result.warning
    (0.6, 0.75, '4 participants: too few to say how reliable a score is')
    """
    splits, without = np.asarray(r, dtype=np.float64), np.asarray(leave_one_out, dtype=np.float64)
    nan, n_participants = float("nan"), len(without)
    defined = splits[~np.isnan(splits)]
    n_undefined, n_negative = len(splits) - len(defined), int((defined < 0).sum())
    mean, splits_low, splits_high, low, high = nan, nan, nan, nan, nan
    if n_participants < LEAST_FOR_R:
        note = f"{_people(n_participants)}, so no correlation"
    elif not len(defined):
        note = "all participants have the same score in one of the halves, so no correlation"
    else:
        mean = float(defined.mean())
        tail = (1 - confidence) / 2
        splits_low, splits_high = (float(x) for x in np.quantile(defined, [tail, 1 - tail]))
        low, high, note = _jackknife_interval(mean, without, confidence)
    corrected = mean >= 0
    if mean < 0:
        note = "; ".join(filter(None, [note, "negative correlation, so no Spearman-Brown"]))
    bounds = [
        spearman_brown(max(x, 0.0)) if corrected and not np.isnan(x) else nan
        for x in (splits_low, splits_high, low, high)
    ]
    per_split = 2 * defined / (1 + defined) if corrected and not n_negative else np.array([nan])
    return SplitHalf(
        n_participants=n_participants,
        n_splits=len(splits),
        n_undefined_splits=n_undefined,
        n_negative_splits=n_negative,
        r=mean,
        r_splits_low=splits_low,
        r_splits_high=splits_high,
        r_low=low,
        r_high=high,
        spearman_brown=spearman_brown(mean),
        spearman_brown_splits_low=bounds[0],
        spearman_brown_splits_high=bounds[1],
        spearman_brown_low=bounds[2],
        spearman_brown_high=bounds[3],
        spearman_brown_per_split=float(per_split.mean()),
        note=note,
        warning=_warning(mean, n_participants, len(splits), n_undefined, n_negative),
    )


def _jackknife_interval(
    mean: float, without: FloatArray, confidence: float
) -> tuple[float, float, str]:
    """Return the interval over participants, or why there is none."""
    nan, n = float("nan"), len(without)
    if n <= LEAST_FOR_R:
        return nan, nan, f"{_people(n)}, so no interval over participants"
    whole = 1 - _EQUAL_WITHIN
    if abs(mean) >= whole:
        return nan, nan, f"a correlation of {mean:.0f} has no interval over participants"
    if np.isnan(without).any() or (abs(without) >= whole).any():
        note = "the correlation rests on one participant, so no interval over participants"
        return nan, nan, note
    z = np.arctanh(without)
    se = np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    half_width = stats.t.ppf((1 + confidence) / 2, n - 1) * se
    low, high = np.tanh(np.arctanh(mean) + np.array([-half_width, half_width]))
    return float(low), float(high), ""


def _warning(mean: float, n: int, n_splits: int, n_undefined: int, n_negative: int) -> str:
    texts = []
    if mean < 0:
        texts.append(
            f"the halves correlate negatively (mean r = {mean:.2f}): the score does not tell "
            "participants apart"
        )
    elif n_negative:
        texts.append(
            f"{n_negative} of {n_splits} splits correlate negatively; corrected intervals are cut "
            "at 0"
        )
    if n < _FEW_PARTICIPANTS:
        texts.append(f"{_people(n)}: too few to say how reliable a score is")
    if n_undefined and not np.isnan(mean):
        texts.append(
            f"{n_undefined} of {n_splits} splits have no correlation, since all participants "
            "have the same score in a half"
        )
    return "; ".join(texts)


def _people(n: int) -> str:
    return f"{n or 'no'} participant{'' if n == 1 else 's'}"
