"""A test of a whole specification curve, by flipping the signs of participants."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["CurveTest", "curve_test"]

FloatArray = npt.NDArray[np.float64]

#: Sets of signs that are worked on together, so that memory stays small.
_CHUNK = 500
#: Statistics that differ by less are equal; they come from sums in another order.
_EQUAL = 1e-9
#: A p below it is not told apart from 0 by floating-point numbers.
_LEAST_P = 1e-300


@dataclass(frozen=True, slots=True)
class CurveTest:
    """What a curve comes to, and how often signs by chance come to as much.

    Attributes
    ----------
    n_universes : int
        Universes that were tested together.
    n_participants : int
        Participants whose signs were flipped.
    n_permutations : int
        Sets of signs.
    exact : bool
        Whether these are all sets of signs.
    median_effect, median_p : float
        The median standardised effect, and its p, two-sided.
    p_significant, p_significant_p : float
        The share of universes that are significant in the same direction (the direction in which
        more of them are), and its p.
    mean_z, mean_z_p : float
        The universes' p as normal deviates with their sign, averaged, and its p, two-sided.
    note : str
        Why there is no test; empty if there is one.
    """

    n_universes: int
    n_participants: int
    n_permutations: int
    exact: bool
    median_effect: float
    median_p: float
    p_significant: float
    p_significant_p: float
    mean_z: float
    mean_z_p: float
    note: str


def curve_test(
    differences: npt.ArrayLike, *, alpha: float, n_permutations: int, rng: np.random.Generator
) -> CurveTest:
    """Test all paired universes of a contrast together (Simonsohn, Simmons & Nelson 2020).

    If the conditions do not differ, each participant's conditions could have been named the other
    way round, which turns the sign of all that participant's differences in all universes at once
    (Simonsohn et al. 2020, Nature Human Behaviour 4, 1208-1214, who shuffle or flip in this way for
    their three statistics). So the universes' dependence stays in the test. It assumes that
    differences are symmetric about 0 where there is no effect, and that exclusions treat both
    conditions alike, as rules that look at each cell, or at participants over all cells, do.

    Parameters
    ----------
    differences : (n_universes, n_participants) array
        NaN where a participant is not used. Universes whose differences are all equal, or of fewer
        than two participants, have no t and are left out.
    alpha : float
        Below it a universe's p is called significant.
    n_permutations : int
        Random sets of signs; all sets are gone through where there are no more than that.
    rng : numpy.random.Generator

    Returns
    -------
    CurveTest
        p is the share of sets that come to as much, the data's own among them.

    Examples
    --------
    >>> d = [[0.3, 0.5, 0.2, 0.4, 0.6], [0.2, 0.5, 0.3, 0.4, 0.5]]
    >>> test = curve_test(d, alpha=0.05, n_permutations=100, rng=np.random.default_rng(1))
    >>> test.exact, test.n_permutations, test.median_p
    (True, 32, 0.0625)
    """
    x = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    x = x[:, ~np.isnan(x).all(axis=0)]
    n_used = (~np.isnan(x)).sum(axis=1)
    x, n_used = x[n_used > 1], n_used[n_used > 1]
    filled = np.nan_to_num(x)
    squares = (filled**2).sum(axis=1)
    means = filled.sum(axis=1) / np.maximum(n_used, 1)
    varies = squares - n_used * means**2 > _EQUAL * np.maximum(squares, np.finfo(float).tiny)
    filled, n_used, squares = filled[varies], n_used[varies], squares[varies]
    n_people = filled.shape[1]
    if n_permutations == 0 or not len(filled):
        note = "no test asked for" if n_permutations == 0 else "no universe has a paired test"
        return CurveTest(len(filled), n_people, 0, False, *(nan,) * 6, note)
    exact = n_people <= 30 and 2**n_people <= n_permutations
    found = []
    for signs in _all_signs(n_people) if exact else _random_signs(n_people, n_permutations, rng):
        found.append(_statistics(signs, filled, n_used, squares, alpha))
    by_chance = np.concatenate(found)
    own = _statistics(np.ones((1, n_people)), filled, n_used, squares, alpha)[0]
    at_least = np.abs(by_chance) >= np.abs(own) - _EQUAL
    counts = at_least.sum(axis=0)
    p = counts / len(by_chance) if exact else (1 + counts) / (1 + len(by_chance))
    return CurveTest(
        n_universes=len(filled),
        n_participants=n_people,
        n_permutations=len(by_chance),
        exact=exact,
        median_effect=float(own[0]),
        median_p=float(p[0]),
        p_significant=float(own[1]),
        p_significant_p=float(p[1]),
        mean_z=float(own[2]),
        mean_z_p=float(p[2]),
        note="",
    )


def _all_signs(n_people: int) -> list[FloatArray]:
    numbers = np.arange(2**n_people)[:, None]
    signs = np.where((numbers >> np.arange(n_people)) & 1, -1.0, 1.0)
    return [signs[start : start + _CHUNK] for start in range(0, len(signs), _CHUNK)]


def _random_signs(n_people: int, n: int, rng: np.random.Generator) -> list[FloatArray]:
    sizes = [min(_CHUNK, n - start) for start in range(0, n, _CHUNK)]
    return [np.where(rng.integers(0, 2, (size, n_people)), -1.0, 1.0) for size in sizes]


def _statistics(
    signs: FloatArray,
    differences: FloatArray,
    n_used: npt.NDArray[np.int64],
    squares: FloatArray,
    alpha: float,
) -> FloatArray:
    """Return median effect, share of significant universes, and mean z of each set of signs."""
    means = signs @ differences.T / n_used
    # Signs leave the sums of squares as they are; differences that they make all equal have no SD.
    variances = np.maximum(squares - n_used * means**2, _EQUAL * squares) / (n_used - 1)
    effects = means / np.sqrt(variances)
    t = effects * np.sqrt(n_used)
    one_sided = np.maximum(special.stdtr(n_used - 1, -np.abs(t)), _LEAST_P)
    significant = 2 * one_sided < alpha
    z = -special.ndtri(one_sided) * np.sign(t)
    shares = np.maximum((significant & (t > 0)).mean(axis=1), (significant & (t < 0)).mean(axis=1))
    return np.column_stack([np.median(effects, axis=1), shares, z.mean(axis=1)])
