"""Wald intervals and tests of coefficients."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from ghostblitz_analysis.regression.design_formulas import Term
from ghostblitz_analysis.regression.fit_reports import FixedEffect

__all__ = ["wald_effects"]

FloatArray = npt.NDArray[np.float64]


def wald_effects(
    terms: tuple[Term, ...],
    estimates: FloatArray,
    covariance: FloatArray,
    df: FloatArray | None,
    confidence: float,
) -> tuple[FixedEffect, ...]:
    """Return Wald intervals and tests: t with `df`, or z without.

    Parameters
    ----------
    terms : tuple of Term
    estimates : (n_terms,) array
    covariance : (n_terms, n_terms) array
    df : (n_terms,) array or None
        Degrees of freedom; None for the normal distribution.
    confidence : float
        Level of the intervals.
    """
    se = np.sqrt(np.diag(covariance))
    statistic = estimates / se
    if df is None:
        quantile = np.full(len(se), float(stats.norm.ppf((1 + confidence) / 2)))
        p = np.asarray(2 * stats.norm.sf(np.abs(statistic)))
    else:
        quantile = np.asarray(stats.t.ppf((1 + confidence) / 2, df))
        p = np.asarray(2 * stats.t.sf(np.abs(statistic), df))
    return tuple(
        FixedEffect(
            term=term,
            estimate=float(estimates[i]),
            se=float(se[i]),
            df=float("nan") if df is None else float(df[i]),
            statistic=float(statistic[i]),
            p=float(p[i]),
            low=float(estimates[i] - quantile[i] * se[i]),
            high=float(estimates[i] + quantile[i] * se[i]),
            test="z" if df is None else "t",
        )
        for i, term in enumerate(terms)
    )
