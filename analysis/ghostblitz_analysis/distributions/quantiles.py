"""Quantiles of RTs per participant and cell, and their averages over participants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.distributions.participant_means import mean_over_participants
from ghostblitz_analysis.distributions.ranked_rts import hazen_quantiles, nullable, rank_rts
from ghostblitz_task.errors import DatasetError

__all__ = ["PROBABILITIES", "participant_quantiles", "vincentiles"]

#: The quantiles that models of choice RT are usually shown with (Ratcliff & McKoon 2008, Neural
#: Computation 20, 873-922).
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.9)


def participant_quantiles(
    trials: pd.DataFrame,
    *,
    factors: Sequence[str],
    probabilities: Sequence[float] = PROBABILITIES,
    used: npt.ArrayLike | None = None,
    participant: str = "participant_id",
    rt: str = "rt_s",
    correct: str = "correct",
) -> pd.DataFrame:
    """Find the quantiles of each participant's RTs in each cell.

    Quantiles are of type 5 (Hazen; NumPy's ``method="hazen"``), see `hazen_quantiles`. NumPy's
    default is another type.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        It is not changed.
    factors : sequence of str
        Columns whose combinations are the cells.
    probabilities : sequence of float
        Ascending, above 0 and below 1.
    used : (n_trials,) boolean array or None
        The trials whose RT is used; None for all correct ones with an RT.
    participant, rt, correct : str
        The columns of participant, RT in seconds, and correctness.

    Returns
    -------
    DataFrame, one row per participant, cell and probability
        Every participant has rows for every cell that anyone has. ``participant_id``, the
        factors, ``probability``, ``n_rt``, ``quantile_s``, and ``note``: where the cell has no
        RT, or so few that a quantile lies beyond the first or last place, whose RT then stands
        for it.

    Raises
    ------
    DatasetError
        If a column or a key is missing, an RT to use is not above 0, or the probabilities are not
        ascending within 0 and 1.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"participant_id": "a", "rule": "direct", "rt_s": [1.0, 2.0, 4.0, 8.0],
    ...      "correct": True}
    ... )
    >>> participant_quantiles(trials, factors=["rule"], probabilities=[0.25, 0.5])[
    ...     "quantile_s"
    ... ].tolist()
    [1.5, 3.0]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not p.size or (np.diff(p) <= 0).any() or p[0] <= 0 or p[-1] >= 1:
        raise DatasetError(
            f"the probabilities of the quantiles are {list(probabilities)}; expected ascending "
            "numbers above 0 and below 1"
        )
    ranked = rank_rts(
        trials, factors=factors, used=used, participant=participant, rt=rt, correct=correct
    )
    quantiles = hazen_quantiles(
        ranked.rt_s, start=ranked.start, n=ranked.n_rt, probabilities=probabilities
    )
    rows = np.repeat(np.arange(len(ranked.cells)), len(p))
    each_p = np.tile(p, len(ranked.cells))
    n = ranked.n_rt[rows]
    few = np.where(n == 1, "one RT", pd.Series(n).astype("string").to_numpy(dtype=object) + " RTs")
    note = np.select(
        [n == 0, n * each_p < 0.5, n * (1 - each_p) < 0.5],
        [
            "no RT to use",
            few + ", so the shortest stands here",
            few + ", so the longest stands here",
        ],
        "",
    )
    table = ranked.cells.iloc[rows].reset_index(drop=True)
    table = table.assign(probability=each_p, n_rt=n, quantile_s=quantiles.ravel(), note=note)
    return nullable(table, keys=["participant_id", *factors])


def vincentiles(
    quantiles: pd.DataFrame, *, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' quantiles: the group's RT distribution as Vincent drew it.

    Each quantile is averaged over participants, which keeps the shape that they share where
    pooled RTs would mix their levels into it (Vincent 1912; Ratcliff 1979, Psychological Bulletin
    86, 446-461). Assumes that participants' distributions differ in location and scale alone.

    Parameters
    ----------
    quantiles : DataFrame
        From `participant_quantiles`, with the same `factors`.
    confidence : float
        Level of the t intervals over participants.

    Returns
    -------
    DataFrame, one row per cell and probability
        The factors, ``probability``, ``n_participants``, ``n_left_out`` and ``left_out`` (JSON
        list of the participants without an RT there), ``quantile_s`` with ``quantile_low_s`` and
        ``quantile_high_s``, ``sd_s`` over participants, ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"participant_id": ["a", "a", "b", "b"], "rule": "direct",
    ...      "rt_s": [1.0, 3.0, 2.0, 6.0], "correct": True}
    ... )
    >>> each = participant_quantiles(trials, factors=["rule"], probabilities=[0.5])
    >>> vincentiles(each, factors=["rule"])["quantile_s"].tolist()
    [3.0]
    """
    means = mean_over_participants(
        quantiles, by=[*factors, "probability"], value="quantile_s", confidence=confidence
    )
    names = {
        "mean": "quantile_s",
        "low": "quantile_low_s",
        "high": "quantile_high_s",
        "sd": "sd_s",
    }
    return nullable(means.drop(columns=["t", "df", "p"]).rename(columns=names), keys=list(factors))
