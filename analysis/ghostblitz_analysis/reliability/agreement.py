"""Agreement of repeated measurements: intraclass correlations and the error of measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

__all__ = [
    "IntraclassCorrelation",
    "MeasurementError",
    "intraclass_correlations",
    "measurement_error",
]

FloatArray = npt.NDArray[np.float64]

#: A mean square below this share of the squared largest score is rounding error.
_ZERO_WITHIN = 1e-24
#: Of two, the variance between participants has one degree of freedom: any coefficient goes.
_MIN_PARTICIPANTS = 3


@dataclass(frozen=True, slots=True)
class IntraclassCorrelation:
    """One intraclass correlation; NaN where something does not exist.

    Attributes
    ----------
    icc_type, mcgraw_wong : str
        As Shrout & Fleiss (1979) and as McGraw & Wong (1996) name it.
    icc, low, high : float
        The coefficient and its interval; it can be negative.
    f, df_1, df_2, p : float
        Test of the hypothesis that it is 0.
    note : str
        Why something is missing; empty if nothing is.
    """

    icc_type: str
    mcgraw_wong: str
    icc: float
    low: float
    high: float
    f: float
    df_1: float
    df_2: float
    p: float
    note: str


@dataclass(frozen=True, slots=True)
class MeasurementError:
    """How far a participant's score lies from itself at another time, in the score's unit.

    Attributes
    ----------
    n_participants, n_sessions : int
        With complete scores.
    mean, sd : float
        Over all scores, and the SD (ddof 1) over participants of their means.
    sem_consistency, sem_consistency_low, sem_consistency_high : float
        Standard error of measurement without what all participants gained or lost between
        sessions, and its interval.
    sem_agreement : float
        Standard error of measurement with it.
    sdc_consistency, sdc_agreement : float
        Smallest detectable change of one participant, at the level of confidence.
    note : str
        Why something is missing; empty if nothing is.
    """

    n_participants: int
    n_sessions: int
    mean: float
    sd: float
    sem_consistency: float
    sem_consistency_low: float
    sem_consistency_high: float
    sem_agreement: float
    sdc_consistency: float
    sdc_agreement: float
    note: str


@dataclass(frozen=True, slots=True)
class _MeanSquares:
    """Of the two-way layout with one score per cell.

    Attributes
    ----------
    n, k : int
        Participants and sessions.
    between, within, sessions, residual : float
        Mean squares of participants, within participants, of sessions, and of the rest.
    """

    n: int
    k: int
    between: float
    within: float
    sessions: float
    residual: float


def _mean_squares(scores: FloatArray) -> _MeanSquares:
    n, k = scores.shape
    grand = scores.mean()
    people, sessions = scores.mean(axis=1), scores.mean(axis=0)
    ss_between = k * ((people - grand) ** 2).sum()
    ss_sessions = n * ((sessions - grand) ** 2).sum()
    ss_within = ((scores - people[:, None]) ** 2).sum()
    ss_residual = ((scores - people[:, None] - sessions + grand) ** 2).sum()
    mean_squares = (
        ss_between / (n - 1),
        ss_within / (n * (k - 1)),
        ss_sessions / (k - 1),
        ss_residual / ((n - 1) * (k - 1)),
    )
    least = _ZERO_WITHIN * max(float((scores**2).max()), np.finfo(float).tiny)
    return _MeanSquares(n, k, *(float(ms) if ms > least else 0.0 for ms in mean_squares))


def intraclass_correlations(
    scores: npt.ArrayLike, *, confidence: float
) -> tuple[IntraclassCorrelation, ...]:
    """Find the six intraclass correlations of Shrout & Fleiss (1979).

    Psychological Bulletin 86, 420-428; the tests and intervals are theirs, which McGraw & Wong
    (1996, Psychological Methods 1, 30-46, tables 4 and 7) list too. ICC1 takes all differences
    within participants for error; ICC2 those of sessions as a random effect too (absolute
    agreement); ICC3 leaves what sessions have in common out (consistency). Those that end in k
    are of the mean over sessions. They assume normal scores, and errors of the same size for all
    participants; ICC2 and ICC3 that participants and sessions do not interact.

    Parameters
    ----------
    scores : (n_participants, n_sessions) array
        None missing.
    confidence : float
        Level of the intervals.

    Returns
    -------
    tuple of IntraclassCorrelation
        ICC1, ICC2, ICC3, ICC1k, ICC2k, ICC3k. All missing with fewer than three participants or
        two sessions; a bound on the wrong side of its coefficient is missing too.

    Examples
    --------
    >>> shrout_fleiss = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8],
    ...                  [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> found = intraclass_correlations(shrout_fleiss, confidence=0.95)
    >>> [f"{one.icc_type} {one.icc:.2f}" for one in found]
    ['ICC1 0.17', 'ICC2 0.29', 'ICC3 0.71', 'ICC1k 0.44', 'ICC2k 0.62', 'ICC3k 0.91']
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2 or x.shape[0] < _MIN_PARTICIPANTS or x.shape[1] < 2:
        note = f"{_size(x)}; there must be three participants and two sessions at least"
        return tuple(_missing(name, note) for name in _MCGRAW_WONG)
    ms = _mean_squares(x)
    if ms.between == 0 and ms.within == 0:
        return tuple(
            _missing(name, "all scores are equal, so no agreement") for name in _MCGRAW_WONG
        )
    return (
        _one_way(ms, confidence, of_mean=False),
        _absolute(ms, confidence, of_mean=False),
        _consistent(ms, confidence, of_mean=False),
        _one_way(ms, confidence, of_mean=True),
        _absolute(ms, confidence, of_mean=True),
        _consistent(ms, confidence, of_mean=True),
    )


_MCGRAW_WONG = {
    "ICC1": "ICC(1)",
    "ICC2": "ICC(A,1)",
    "ICC3": "ICC(C,1)",
    "ICC1k": "ICC(k)",
    "ICC2k": "ICC(A,k)",
    "ICC3k": "ICC(C,k)",
}


def _size(x: FloatArray) -> str:
    n, k = x.shape if x.ndim == 2 else (0, 0)
    return f"{_count(n, 'participant')} with {_count(k, 'session')}"


def _count(n: int, thing: str) -> str:
    return f"{n or 'no'} {thing}{'' if n == 1 else 's'}"


def _missing(icc_type: str, note: str) -> IntraclassCorrelation:
    nan = float("nan")
    return IntraclassCorrelation(
        icc_type, _MCGRAW_WONG[icc_type], nan, nan, nan, nan, nan, nan, nan, note
    )


def _f_bounds(f: float, df_1: int, df_2: int, confidence: float) -> tuple[float, float]:
    """Return the bounds of the ratio of expected mean squares."""
    upper = (1 + confidence) / 2
    return float(f / stats.f.ppf(upper, df_1, df_2)), float(f * stats.f.ppf(upper, df_2, df_1))


def _over(part: float, whole: float) -> float:
    """Divide; NaN where the whole is not above 0, so that there is no such share."""
    return part / whole if whole > 0 else float("nan")


def _from_ratio(
    icc_type: str, ms: _MeanSquares, error: float, df_2: int, confidence: float, *, of_mean: bool
) -> IntraclassCorrelation:
    """Return the coefficient that is a function of one F ratio, as ICC1 and ICC3 are."""
    k, nan = ms.k, float("nan")
    whole = ms.between if of_mean else ms.between + (k - 1) * error
    icc = _over(ms.between - error, whole)
    names = (icc_type, _MCGRAW_WONG[icc_type])
    if error == 0 or ms.between == 0:
        note = (
            "participants' means are equal, so neither test nor interval"
            if ms.between == 0
            else "there is no error, so neither test nor interval"
        )
        return IntraclassCorrelation(*names, icc, nan, nan, nan, ms.n - 1, df_2, nan, note)
    f = ms.between / error
    bounds = _f_bounds(f, ms.n - 1, df_2, confidence)
    low, high = (1 - 1 / b if of_mean else (b - 1) / (b + k - 1) for b in bounds)
    p = float(stats.f.sf(f, ms.n - 1, df_2))
    return IntraclassCorrelation(*names, icc, low, high, f, ms.n - 1, df_2, p, "")


def _one_way(ms: _MeanSquares, confidence: float, *, of_mean: bool) -> IntraclassCorrelation:
    name = "ICC1k" if of_mean else "ICC1"
    df_2 = ms.n * (ms.k - 1)
    return _from_ratio(name, ms, ms.within, df_2, confidence, of_mean=of_mean)


def _consistent(ms: _MeanSquares, confidence: float, *, of_mean: bool) -> IntraclassCorrelation:
    name = "ICC3k" if of_mean else "ICC3"
    df_2 = (ms.n - 1) * (ms.k - 1)
    return _from_ratio(name, ms, ms.residual, df_2, confidence, of_mean=of_mean)


def _absolute(ms: _MeanSquares, confidence: float, *, of_mean: bool) -> IntraclassCorrelation:
    """Return ICC2 or ICC2k, whose interval rests on Satterthwaite's degrees of freedom."""
    n, k, nan = ms.n, ms.k, float("nan")
    name = "ICC2k" if of_mean else "ICC2"
    names = (name, _MCGRAW_WONG[name])
    df_1, df_2 = n - 1, (n - 1) * (k - 1)
    spread = ms.between - ms.residual
    of_sessions = (ms.sessions - ms.residual) / n
    single = _over(spread, ms.between + (k - 1) * ms.residual + k * of_sessions)
    icc = _over(spread, ms.between + of_sessions) if of_mean else single
    if ms.residual == 0 or np.isnan(single):
        note = "there is no error besides sessions, so neither test nor interval"
        if ms.residual > 0:
            note = "participants' means are equal, so neither test nor interval"
        return IntraclassCorrelation(*names, icc, nan, nan, nan, df_1, df_2, nan, note)
    f = ms.between / ms.residual
    a = k * single * ms.sessions / ms.residual
    b = n * (1 + (k - 1) * single) - k * single
    v = _over(df_2 * (a + b) ** 2, df_1 * a**2 + b**2)
    upper = (1 + confidence) / 2
    f_low, f_high = float(stats.f.ppf(upper, df_1, v)), float(stats.f.ppf(upper, v, df_1))
    rest = k * ms.sessions + (k * n - k - n) * ms.residual
    low = _over(n * (ms.between - f_low * ms.residual), f_low * rest + n * ms.between)
    high = _over(n * (f_high * ms.between - ms.residual), rest + n * f_high * ms.between)
    if of_mean:
        # The bounds of the single score's coefficient, stepped up by Spearman and Brown.
        low, high = (_over(k * x, 1 + (k - 1) * x) for x in (low, high))
    notes = ["a bound of the interval does not exist" if np.isnan([low, high]).any() else ""]
    # Satterthwaite's degrees of freedom make an approximation that can go as wrong as this.
    if low > icc:
        low = nan
        notes.append("the lower bound would lie above the coefficient, so it is left away")
    if high < icc:
        high = nan
        notes.append("the upper bound would lie below the coefficient, so it is left away")
    note = "; ".join(text for text in notes if text)
    p = float(stats.f.sf(f, df_1, df_2))
    return IntraclassCorrelation(*names, icc, low, high, f, df_1, df_2, p, note)


def measurement_error(scores: npt.ArrayLike, *, confidence: float) -> MeasurementError:
    """Find the standard error of measurement and the smallest detectable change.

    The standard error of measurement is the SD of a participant's scores over sessions: for
    consistency the root of the residual mean square, for agreement with the variance of sessions
    added (de Vet, Terwee, Knol & Bouter 2006, Journal of Clinical Epidemiology 59, 1033-1039;
    Weir 2005, Journal of Strength and Conditioning Research 19, 231-240). A change of a single
    participant is beyond it if it exceeds z sqrt(2) SEM. The interval is that of a variance of
    normal scores (chi squared). Assumes errors of the same size for all participants.

    Parameters
    ----------
    scores : (n_participants, n_sessions) array
        None missing.
    confidence : float
        Level of the interval and of the smallest detectable change.

    Returns
    -------
    MeasurementError

    Examples
    --------
    >>> result = measurement_error([[1.0, 2.0], [2.0, 2.0], [4.0, 5.0]], confidence=0.95)
    >>> round(result.sem_consistency, 4), round(result.sdc_consistency, 4)
    (0.4082, 1.1316)
    """
    x = np.asarray(scores, dtype=np.float64)
    nan = float("nan")
    if x.ndim != 2 or min(x.shape) < 2:
        n, k = x.shape if x.ndim == 2 else (0, 0)
        mean = float(x.mean()) if x.size else nan
        note = f"{_size(x)}; both must be two at least"
        return MeasurementError(n, k, mean, nan, nan, nan, nan, nan, nan, nan, note)
    ms = _mean_squares(x)
    df = (ms.n - 1) * (ms.k - 1)
    tails = stats.chi2.ppf([(1 + confidence) / 2, (1 - confidence) / 2], df)
    low, high = np.sqrt(df * ms.residual / tails)
    consistency = float(np.sqrt(ms.residual))
    of_sessions = max(0.0, (ms.sessions - ms.residual) / ms.n)
    agreement = float(np.sqrt(of_sessions + ms.residual))
    factor = float(stats.norm.ppf((1 + confidence) / 2) * np.sqrt(2))
    return MeasurementError(
        n_participants=ms.n,
        n_sessions=ms.k,
        mean=float(x.mean()),
        sd=float(x.mean(axis=1).std(ddof=1)),
        sem_consistency=consistency,
        sem_consistency_low=float(low),
        sem_consistency_high=float(high),
        sem_agreement=agreement,
        sdc_consistency=factor * consistency,
        sdc_agreement=factor * agreement,
        note="",
    )
