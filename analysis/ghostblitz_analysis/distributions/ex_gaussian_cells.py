"""Ex-Gaussian fits of every participant's cells, and their averages over participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.distributions.ex_gaussian_fit import (
    MIN_N_RT,
    ExGaussianFit,
    fit_ex_gaussian,
)
from ghostblitz_analysis.distributions.participant_means import mean_over_participants
from ghostblitz_analysis.distributions.ranked_rts import nullable, rank_rts

__all__ = ["MAX_N_FITS", "ex_gaussian_cells", "group_ex_gaussian"]

#: More fits than this are not made unasked; they are a few milliseconds each.
MAX_N_FITS = 2000

_FIELDS = tuple(field.name for field in fields(ExGaussianFit) if field.name != "n_rt")
_PARAMETERS = ("mu_s", "sigma_s", "tau_s")


def ex_gaussian_cells(
    trials: pd.DataFrame,
    *,
    factors: Sequence[str],
    confidence: float = 0.95,
    min_n: int = MIN_N_RT,
    max_fits: int | None = MAX_N_FITS,
    used: npt.ArrayLike | None = None,
    participant: str = "participant_id",
    rt: str = "rt_s",
    correct: str = "correct",
) -> pd.DataFrame:
    """Fit an ex-Gaussian distribution to each participant's RTs in each cell.

    See `fit_ex_gaussian` for the method, its source and its assumptions.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        It is not changed.
    factors : sequence of str
        Columns whose combinations are the cells.
    confidence : float
        Level of the intervals.
    min_n : int
        Cells with fewer RTs are not fitted.
    max_fits : int or None
        Where more cells than this have enough RTs, none is fitted, and every row says so; None
        for no limit.
    used : (n_trials,) boolean array or None
        The trials whose RT is used; None for all correct ones with an RT.
    participant, rt, correct : str
        The columns of participant, RT in seconds, and correctness.

    Returns
    -------
    DataFrame, one row per participant and cell
        Every participant has a row for every cell that anyone has. ``participant_id``, the
        factors, ``n_rt``, and what `ExGaussianFit` lists: ``mu_s``, ``sigma_s``, ``tau_s``, each
        with ``_se_s``, ``_low_s`` and ``_high_s``, ``log_likelihood``, ``ks_distance``,
        ``converged``, ``boundary``, ``note``.

    Raises
    ------
    DatasetError
        If a column or a key is missing, or an RT to use is not above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> trials = pd.DataFrame(
    ...     {"participant_id": "a", "rule": "direct", "rt_s": [0.4, 0.5, 0.6], "correct": True}
    ... )
    >>> ex_gaussian_cells(trials, factors=["rule"])["note"].tolist()
    ['3 RTs, fewer than the 40 that a fit wants']
    """
    ranked = rank_rts(
        trials, factors=factors, used=used, participant=participant, rt=rt, correct=correct
    )
    n_to_fit = int((ranked.n_rt >= min_n).sum())
    too_many = max_fits is not None and n_to_fit > max_fits
    samples = np.split(ranked.rt_s, ranked.start[1:])[: len(ranked.cells)]
    if too_many:
        # Every sample is refused as too small; those that are not are told why below.
        samples = [sample[:0] for sample in samples]
    fits = [fit_ex_gaussian(sample, confidence=confidence, min_n=min_n) for sample in samples]
    columns = {name: [getattr(fit, name) for fit in fits] for name in _FIELDS}
    table = ranked.cells.assign(n_rt=ranked.n_rt, **columns)
    if too_many:
        table["note"] = (
            f"not fitted: {n_to_fit} cells have enough RTs, more than the {max_fits} that are "
            "fitted unasked; choose cells, or set max_fits"
        )
    texts = dict.fromkeys(("boundary", "note"), "string")
    table = table.astype(texts | {"converged": "boolean"})
    return nullable(table, keys=["participant_id", *factors])


def group_ex_gaussian(
    fits: pd.DataFrame, *, factors: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Average participants' ex-Gaussian parameters in each cell, with t intervals.

    Estimates at a boundary are averaged with the others, since leaving small ones out would raise
    the mean, and counted; fits that did not converge are left out and named. Assumes that
    estimates are independent and roughly normal over participants; their own standard errors do
    not weigh in.

    Parameters
    ----------
    fits : DataFrame
        From `ex_gaussian_cells`, with the same `factors`.
    factors : sequence of str
        What makes the cells.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per parameter and cell
        ``measure`` (``mu_s``, ``sigma_s``, ``tau_s``), the factors, ``n_participants``,
        ``n_left_out``, ``left_out`` (JSON list), ``n_at_boundary`` (with sigma or tau at 0),
        ``mean``, ``low``, ``high``, ``sd``, ``note``.

    Examples
    --------
    >>> import pandas as pd
    >>> fits = pd.DataFrame(
    ...     {"participant_id": ["a", "b"], "rule": "direct", "mu_s": [0.4, 0.6],
    ...      "sigma_s": [0.05, 0.05], "tau_s": [0.1, 0.0], "converged": True,
    ...      "boundary": ["", "tau"]}
    ... )
    >>> means = group_ex_gaussian(fits, factors=["rule"])
    >>> means["mean"].tolist(), means["n_at_boundary"].tolist()
    ([0.5, 0.05, 0.05], [1, 1, 1])
    """
    converged = fits["converged"].astype("boolean").fillna(False)
    at_boundary = (fits["boundary"] != "") & converged
    n_at_boundary = (
        at_boundary.fillna(False)
        .astype("int64")
        .groupby([fits[name] for name in factors], sort=False, observed=True)
        .sum()
    )
    parts = []
    for measure in _PARAMETERS:
        usable = fits.assign(**{measure: fits[measure].where(converged)})
        means = mean_over_participants(usable, by=factors, value=measure, confidence=confidence)
        means.insert(0, "measure", pd.Series(measure, index=means.index, dtype="string"))
        at = list(means.columns).index("left_out") + 1
        means.insert(at, "n_at_boundary", n_at_boundary.to_numpy())
        parts.append(means.drop(columns=["t", "df", "p"]))
    return nullable(pd.concat(parts, ignore_index=True), keys=list(factors))
