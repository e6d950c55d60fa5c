"""The signed-rank test of paired differences, which no outlier can sway."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
from scipy import special, stats

__all__ = ["SignedRankTest", "signed_rank_test"]

#: Up to so many differences the distribution of the rank sum is counted out.
_EXACT_UP_TO = 50
#: Differences that agree to so many decimals are ties; beyond it is rounding error.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class SignedRankTest:
    """Wilcoxon's signed-rank test with its effect size.

    Attributes
    ----------
    n_nonzero : int
        Differences that are not 0; the others say nothing and are left out.
    w_plus : float
        Sum of the ranks of the positive differences.
    p : float
        Two-sided.
    rank_biserial : float
        From -1, all negative, to 1, all positive.
    exact : bool
        Whether p was counted out; else it is the normal approximation.
    note : str
        Why something is missing or approximate, and how many zeros were left out.
    """

    n_nonzero: int
    w_plus: float
    p: float
    rank_biserial: float
    exact: bool
    note: str


def signed_rank_test(differences: npt.ArrayLike) -> SignedRankTest:
    """Test whether differences are symmetric about 0.

    Wilcoxon (1945, Biometrics Bulletin 1, 80-83): zeros are left out, ties share their mean rank.
    Up to 50 differences p is exact given the ranks, ties included, from the distribution over all
    assignments of signs; above that normal, with the ties' variance and a continuity correction.
    The matched-pairs rank-biserial correlation is the favourable less the unfavourable share of
    the rank sum (Kerby 2014, Comprehensive Psychology 3, 11.IT.3.1). Assumes that differences are
    independent and symmetric about their median.

    Parameters
    ----------
    differences : (n_participants,) array
        One per participant; missing ones must have been left out, and counted, before.

    Returns
    -------
    SignedRankTest
        p and the correlation are missing where every difference is 0, or there is none.

    Examples
    --------
    >>> result = signed_rank_test([0.2, 0.5, -0.1, 0.9, 0.4])
    >>> result.w_plus, result.p, round(result.rank_biserial, 4)
    (14.0, 0.125, 0.8667)
    """
    every = np.round(np.asarray(differences, dtype=np.float64), _DECIMALS)
    x = every[every != 0]
    n, n_zero = len(x), len(every) - len(x)
    if n == 0:
        note = "no difference but 0, so no signed-rank test" if n_zero else "no participant"
        return SignedRankTest(0, nan, nan, nan, False, note)
    ranks = stats.rankdata(np.abs(x))
    total = float(ranks.sum())
    w_plus = float(ranks[x > 0].sum())
    exact = n <= _EXACT_UP_TO
    p = _exact_p(ranks, w_plus) if exact else _normal_p(ranks, w_plus)
    people = "participant" if n_zero == 1 else "participants"
    note = f"signed ranks leave out {n_zero} {people} with a difference of 0" if n_zero else ""
    return SignedRankTest(n, w_plus, p, (2 * w_plus - total) / total, exact, note)


def _exact_p(ranks: npt.NDArray[np.float64], w_plus: float) -> float:
    """Count the assignments of signs whose rank sum is as far from its mean, or farther."""
    # Mean ranks are whole or half, so twice a rank is whole.
    doubled = np.round(2 * ranks).astype(np.int64)
    size = int(doubled.sum()) + 1
    chances = np.zeros(size)
    chances[0] = 1.0
    for rank in doubled:
        shifted = np.zeros(size)
        shifted[rank:] = chances[: size - rank]
        chances = (chances + shifted) / 2
    w = round(2 * w_plus)
    return float(min(1.0, 2 * chances[max(w, size - 1 - w) :].sum()))


def _normal_p(ranks: npt.NDArray[np.float64], w_plus: float) -> float:
    distance = abs(w_plus - float(ranks.sum()) / 2) - 0.5
    z = max(distance, 0.0) / float(np.sqrt((ranks**2).sum() / 4))
    return float(2 * special.ndtr(-z))
