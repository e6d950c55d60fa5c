"""Level and spread of RTs and accuracy, per participant and cell, and over participants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ghostblitz_analysis.distributions.participant_means import mean_over_participants
from ghostblitz_analysis.distributions.ranked_rts import (
    RankedRts,
    hazen_quantiles,
    nullable,
    rank_rts,
)

__all__ = [
    "CENTRAL_MEASURES",
    "MAD_TO_SD",
    "TRIMMED_SHARE",
    "central_tendency",
    "group_central_tendency",
    "wilson_interval",
]

FloatArray = npt.NDArray[np.float64]

#: Share of a cell's RTs that the trimmed mean leaves out at each end.
TRIMMED_SHARE = 0.1

#: A normal distribution's SD over its MAD: 1 / the 0.75 quantile of the standard normal one,
#: to the four places that the literature uses (Leys et al. 2013, Journal of Experimental Social
#: Psychology 49, 764-766).
MAD_TO_SD = 1.4826

#: What is averaged over participants, in this order.
CENTRAL_MEASURES = (
    "mean_rt_s",
    "median_rt_s",
    "geometric_mean_rt_s",
    "trimmed_mean_rt_s",
    "harmonic_mean_rt_s",
    "sd_rt_s",
    "cv_rt",
    "mad_rt_s",
    "scaled_mad_rt_s",
    "p_correct",
)


def central_tendency(
    trials: pd.DataFrame,
    *,
    factors: Sequence[str],
    confidence: float = 0.95,
    used: npt.ArrayLike | None = None,
    participant: str = "participant_id",
    rt: str = "rt_s",
    correct: str = "correct",
) -> pd.DataFrame:
    """Describe each participant's RTs and accuracy in each cell.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        Those that count for accuracy. It is not changed.
    factors : sequence of str
        Columns whose combinations are the cells.
    confidence : float
        Level of the interval of accuracy.
    used : (n_trials,) boolean array or None
        The trials whose RT is used; None for all correct ones with an RT.
    participant, rt, correct : str
        The columns of participant, RT in seconds, and correctness; where correctness is unknown,
        the answer does not count as right.

    Returns
    -------
    DataFrame, one row per participant and cell
        Every participant has a row for every cell that anyone has. ``participant_id``, the
        factors, ``n_trials``, ``n_correct``, ``p_correct`` with its Wilson interval
        ``p_correct_low`` and ``p_correct_high`` (see `wilson_interval`), ``n_rt``, and over the
        RTs used:

        - ``mean_rt_s``, ``median_rt_s``, ``geometric_mean_rt_s``, ``harmonic_mean_rt_s``;
        - ``trimmed_mean_rt_s``: without a tenth of the RTs (`TRIMMED_SHARE`, rounded down to
          whole RTs) at each end;
        - ``sd_rt_s`` (ddof 1), ``cv_rt`` (SD over mean);
        - ``mad_rt_s``: median of the absolute differences from the median, and
          ``scaled_mad_rt_s``, that times `MAD_TO_SD`, which estimates a normal SD;
        - ``note``: why something is missing.

    Raises
    ------
    DatasetError
        If a column or a key is missing, or an RT to use is not above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"id": ["a"] * 4, "rule": ["direct"] * 4, "rt": [1.0, 2.0, 4.0, 9.0],
    ...      "right": [True, True, True, False]}
    ... )
    >>> row = central_tendency(
    ...     trials, factors=["rule"], participant="id", rt="rt", correct="right"
    ... ).iloc[0]
    >>> row["n_rt"], row["median_rt_s"], round(row["geometric_mean_rt_s"], 6)
    (np.int64(3), np.float64(2.0), np.float64(2.0))
    """
    ranked = rank_rts(
        trials, factors=factors, used=used, participant=participant, rt=rt, correct=correct
    )
    low, high = wilson_interval(ranked.n_correct, ranked.n_trials, confidence=confidence)
    table = ranked.cells.assign(
        n_trials=ranked.n_trials,
        n_correct=ranked.n_correct,
        p_correct=_divide(ranked.n_correct, ranked.n_trials),
        p_correct_low=low,
        p_correct_high=high,
        n_rt=ranked.n_rt,
        **_rt_measures(ranked),
        note=np.select(
            [ranked.n_trials == 0, ranked.n_rt == 0, ranked.n_rt == 1],
            ["no trial in this cell", "no RT to use", "one RT, so no SD"],
            "",
        ),
    )
    return nullable(table, keys=["participant_id", *factors])


def group_central_tendency(
    table: pd.DataFrame, *, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' levels, spreads and accuracies in each cell, with t intervals.

    Assumes that participants are independent and their values roughly normal; intervals of
    geometric means on the log scale are those of `ghostblitz_analysis.models.group_cells`.

    Parameters
    ----------
    table : DataFrame
        From `central_tendency`, with the same `factors`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per measure and cell
        ``measure`` (one of `CENTRAL_MEASURES`, whose name says the unit), the factors,
        ``n_participants``, ``n_left_out`` and ``left_out`` (JSON list of the participants who
        have no such value), ``mean``, ``low``, ``high``, ``sd`` over participants, ``note``. The
        interval of ``p_correct`` is cut at 0 and 1, and missing where all participants agree.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"participant_id": ["a", "b", "c"], "rule": "direct", "rt_s": [1.0, 2.0, 3.0],
    ...      "correct": True}
    ... )
    >>> means = group_central_tendency(central_tendency(trials, factors=["rule"]), factors=["rule"])
    >>> row = means.iloc[0]
    >>> row["measure"], row["mean"], round(row["low"], 3), round(row["high"], 3)
    ('mean_rt_s', np.float64(2.0), np.float64(-0.484), np.float64(4.484))
    """
    parts = []
    for measure in CENTRAL_MEASURES:
        means = mean_over_participants(
            table,
            by=factors,
            value=measure,
            confidence=confidence,
            is_proportion=measure == "p_correct",
        )
        means.insert(0, "measure", pd.Series(measure, index=means.index, dtype="string"))
        parts.append(means.drop(columns=["t", "df", "p"]))
    return nullable(pd.concat(parts, ignore_index=True), keys=list(factors))


def wilson_interval(
    n_correct: npt.ArrayLike, n_trials: npt.ArrayLike, *, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of proportions by their score test (Wilson 1927, JASA 22, 209-212).

    Assumes independent trials with one probability. It stays within 0 and 1, and has a width
    where all or none of the trials were right.

    Parameters
    ----------
    n_correct, n_trials : (n_cells,) arrays
        Counts.
    confidence : float
        Level of the interval.

    Returns
    -------
    low, high : (n_cells,) arrays
        NaN without trials.

    Examples
    --------
    >>> low, high = wilson_interval([0], [32], confidence=0.95)
    >>> low.tolist(), high.round(9).tolist()
    ([0.0], [0.107179198])
    """
    k = np.asarray(n_correct, dtype=np.float64)
    n = np.asarray(n_trials, dtype=np.float64)
    n = np.where(n == 0, np.nan, n)
    z = stats.norm.ppf((1 + confidence) / 2)
    p = k / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half_width = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    # At the ends the bound is 0 or 1 exactly, whatever the rounding.
    low = np.where(k == 0, np.where(np.isnan(n), np.nan, 0.0), centre - half_width)
    high = np.where(k == n, 1.0, centre + half_width)
    return low, high


def _rt_measures(ranked: RankedRts) -> dict[str, FloatArray]:
    x, n = ranked.rt_s, ranked.n_rt
    mean = _divide(ranked.sum_by_cell(x), n)
    deviation = x - mean[ranked.cell]
    sd = np.sqrt(_divide(ranked.sum_by_cell(deviation**2), n - 1))
    median = _median(x, ranked)
    n_cut = (TRIMMED_SHARE * n).astype(np.int64)
    kept = (ranked.rank >= n_cut[ranked.cell]) & (ranked.rank < (n - n_cut)[ranked.cell])
    distance = np.abs(x - median[ranked.cell])
    mad = _median(distance[np.lexsort((distance, ranked.cell))], ranked)
    # Of equal RTs the mean is that RT, whatever the rounding of the sum, and they do not spread.
    equal = np.zeros(len(n), dtype=bool)
    some = n > 0
    first, last = ranked.start[some], ranked.start[some] + n[some] - 1
    equal[some] = x[first] == x[last]

    def unless_equal(values: FloatArray) -> FloatArray:
        return np.where(equal, median, values)

    mean = unless_equal(mean)
    sd = np.where(equal & (n > 1), 0.0, sd)
    return {
        "mean_rt_s": mean,
        "median_rt_s": median,
        "geometric_mean_rt_s": unless_equal(np.exp(_divide(ranked.sum_by_cell(np.log(x)), n))),
        "trimmed_mean_rt_s": unless_equal(_divide(ranked.sum_by_cell(x * kept), n - 2 * n_cut)),
        "harmonic_mean_rt_s": unless_equal(_divide(n, ranked.sum_by_cell(1 / x))),
        "sd_rt_s": sd,
        "cv_rt": sd / mean,
        "mad_rt_s": mad,
        "scaled_mad_rt_s": MAD_TO_SD * mad,
    }


def _median(values: FloatArray, ranked: RankedRts) -> FloatArray:
    quantiles = hazen_quantiles(values, start=ranked.start, n=ranked.n_rt, probabilities=[0.5])
    return quantiles[:, 0]


def _divide(numerator: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """Divide by counts or sums; NaN where there is nothing to divide by."""
    divisor = np.asarray(n, dtype=np.float64)
    return np.asarray(numerator, dtype=np.float64) / np.where(divisor > 0, divisor, np.nan)
