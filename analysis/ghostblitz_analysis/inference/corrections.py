"""Corrections of p values for the number of tests in a family."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from statsmodels.stats.multitest import multipletests

from ghostblitz_analysis.settings import Correction

__all__ = ["correct_p_values"]


def correct_p_values(p_values: npt.ArrayLike, *, correction: Correction) -> npt.NDArray[np.float64]:
    """Correct the p values of one family of tests.

    ``bonferroni`` and ``holm`` (Holm 1979, Scandinavian Journal of Statistics 6, 65-70) hold the
    chance of any false positive, whatever the dependence of the tests; ``fdr_bh`` (Benjamini &
    Hochberg 1995, Journal of the Royal Statistical Society B 57, 289-300) holds the expected share
    of false positives under positive dependence, ``fdr_by`` (Benjamini & Yekutieli 2001, Annals of
    Statistics 29, 1165-1188) under any; ``none`` leaves them as they are.

    Parameters
    ----------
    p_values : (n_tests,) array
        A missing one (NaN) stands for a test that could not be made: it stays missing, and the
        family is the smaller for it.
    correction : str
        One of those above.

    Returns
    -------
    (n_tests,) array
        At most 1, in the order of `p_values`; empty for no test.

    Raises
    ------
    ValueError
        If a p value is below 0 or above 1.

    Examples
    --------
    >>> correct_p_values([0.01, 0.04, float("nan"), 0.02], correction="holm").tolist()
    [0.03, 0.04, nan, 0.04]
    """
    p = np.array(p_values, dtype=np.float64)
    made = ~np.isnan(p)
    if ((p[made] < 0) | (p[made] > 1)).any():
        raise ValueError("a p value lies between 0 and 1")
    if correction != "none" and made.any():
        p[made] = multipletests(p[made], method=correction)[1]
    return p
