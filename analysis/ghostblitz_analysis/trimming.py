"""Trimming of reaction times: which RTs stand too far from those that they are grouped with.

All functions take RTs and the group of each, look at every group by itself, and pass over all
groups at once. They flag; nothing is taken out. An RT that is missing (or infinite), or whose group
is negative, belongs to no group: it is never flagged and counts for nothing. What is flagged
depends neither on the order of the rows nor on other groups. Inequalities are strict, so that a
value on a limit stays, and standard deviations have ddof 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "MAD_SCALE",
    "MODIFIED_RECURSIVE_CRITERION",
    "NONRECURSIVE_CRITERION",
    "hybrid_means",
    "mad_outliers",
    "modified_recursive_outliers",
    "nonrecursive_outliers",
    "sd_outliers",
]

Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: A MAD times this estimates the SD of a normal distribution: 1 / the normal's 0.75 quantile, as
#: Leys et al. (2013, Journal of Experimental Social Psychology 49, 764-766) write it.
MAD_SCALE = 1.4826

#: Sample sizes for which Van Selst & Jolicoeur (1994, table 4) give a criterion; between them it is
#: interpolated, and above the last it stays as it is.
_SIZES = (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 25, 30, 35, 50, 100)
_MODIFIED_RECURSIVE = (
    *(8.0, 6.2, 5.3, 4.8, 4.475, 4.25, 4.11, 4.0, 3.92, 3.85, 3.8, 3.75),
    *(3.64, 3.595, 3.55, 3.54, 3.51, 3.5),
)
_NONRECURSIVE = (
    *(1.458, 1.68, 1.841, 1.961, 2.05, 2.12, 2.17, 2.22, 2.246, 2.274, 2.31, 2.326),
    *(2.391, 2.41, 2.4305, 2.45, 2.48, 2.5),
)
_MIN_SIZE, _MAX_SIZE = _SIZES[0], _SIZES[-1]


def _interpolated(criteria: tuple[float, ...]) -> dict[int, float]:
    sizes = range(_MIN_SIZE, _MAX_SIZE + 1)
    # The published values have at most four decimals, and so have those between them.
    values = np.interp(sizes, _SIZES, criteria).round(4)
    return dict(zip(sizes, values.tolist(), strict=True))


#: Criterion SDs of Van Selst & Jolicoeur (1994, Quarterly Journal of Experimental Psychology 47A,
#: 631-650, table 4) by sample size, 4 to 100, as trimr 1.1.1 has them too.
MODIFIED_RECURSIVE_CRITERION = _interpolated(_MODIFIED_RECURSIVE)
NONRECURSIVE_CRITERION = _interpolated(_NONRECURSIVE)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """RTs in ascending order within each group, group after group.

    Attributes
    ----------
    rows : (n_rts,) integers
        Where each RT stands in the arrays that were given.
    rt_s : (n_rts,) seconds
        The RTs.
    group : (n_rts,) integers
        The number of the group of each among those that hold RTs.
    start, n : (n_groups,) integers
        Where each group begins, and how many RTs it has.
    codes : (n_groups,) integers
        The groups' own codes.
    n_rows : int
        Rows of the arrays that were given.
    """

    rows: IntArray
    rt_s: FloatArray
    group: IntArray
    start: IntArray
    n: IntArray
    codes: IntArray
    n_rows: int

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up values in each group."""
        sums = np.bincount(self.group, weights=values, minlength=len(self.n))
        return np.asarray(sums, dtype=np.float64)

    def means(self, values: FloatArray) -> FloatArray:
        """Average values in each group."""
        return self.sums(values) / self.n

    def medians(self, values: FloatArray) -> FloatArray:
        """Take the median of each group of values that ascend in it."""
        lower = values[self.start + (self.n - 1) // 2]
        upper = values[self.start + self.n // 2]
        return np.asarray(lower + (upper - lower) / 2, dtype=np.float64)

    def flags(self, outlying: Mask) -> Mask:
        """Bring flags back into the order of the rows."""
        found = np.zeros(self.n_rows, dtype=bool)
        found[self.rows[outlying]] = True
        return found


def _sort(rt_s: npt.ArrayLike, groups: npt.ArrayLike) -> _Sorted:
    """Sort RTs within groups."""
    x = np.asarray(rt_s, dtype=np.float64)
    codes = np.asarray(groups, dtype=np.int64)
    if x.ndim != 1 or x.shape != codes.shape:
        raise ValueError(f"there are RTs of shape {x.shape} and groups of shape {codes.shape}")
    n_rows = len(x)
    rows = np.flatnonzero(np.isfinite(x) & (codes >= 0))
    rows = rows[_order(x[rows], codes[rows])]
    x, codes = x[rows], codes[rows]
    begins = np.ones(len(x), dtype=bool)
    begins[1:] = codes[1:] != codes[:-1]
    start = np.flatnonzero(begins)
    n = np.diff(np.append(start, len(x)))
    group = np.repeat(np.arange(len(start)), n)
    return _Sorted(rows, x, group, start, n, codes[start], n_rows)


def _order(values: FloatArray, codes: IntArray) -> IntArray:
    """Order by code and then by value; equal values of a code may stand in any order."""
    by_value = np.argsort(values)
    sorted_codes = codes[by_value]
    if codes.max(initial=0) <= np.iinfo(np.uint16).max:
        # NumPy's stable sort of small integers takes time in proportion to their number.
        sorted_codes = sorted_codes.astype(np.uint16)
    return by_value[np.argsort(sorted_codes, kind="stable")]


def _deviations_and_sds(s: _Sorted) -> tuple[FloatArray, FloatArray]:
    """Return each RT's deviation from its group's mean, and the groups' SDs.

    The least RT of each group is taken off first, so that equal RTs deviate by exactly 0.
    """
    from_least = s.rt_s - s.rt_s[s.start][s.group]
    deviations = from_least - s.means(from_least)[s.group]
    # One RT has no SD.
    divisors = np.where(s.n > 1, s.n - 1.0, np.nan)
    return deviations, np.sqrt(s.sums(deviations**2) / divisors)


def sd_outliers(rt_s: npt.ArrayLike, groups: npt.ArrayLike, *, n_sd: float) -> Mask:
    """Flag RTs more than `n_sd` standard deviations from their group's mean.

    Assumes RTs spread about one mean; outliers themselves widen the SD, so that in n RTs none can
    be more than (n - 1) / sqrt(n) SDs away (Shiffler 1988, American Statistician 42, 79-80).

    Parameters
    ----------
    rt_s : (n_rows,) seconds
        NaN where there is no RT.
    groups : (n_rows,) integers
        The group of each row; negative for none.
    n_sd : float
        Above 0.

    Returns
    -------
    (n_rows,) booleans
        Groups of one RT, or of equal ones, have no flag.

    Raises
    ------
    ValueError
        If there are not as many groups as RTs.

    Examples
    --------
    >>> sd_outliers([0.5, 0.6, 0.7, 0.6, 3.0], [0, 0, 0, 0, 0], n_sd=1.5).tolist()
    [False, False, False, False, True]
    """
    s = _sort(rt_s, groups)
    deviations, sds = _deviations_and_sds(s)
    return s.flags(np.abs(deviations) > n_sd * sds[s.group])


def mad_outliers(rt_s: npt.ArrayLike, groups: npt.ArrayLike, *, n_mad: float) -> Mask:
    """Flag RTs more than `n_mad` scaled median absolute deviations from their group's median.

    The MAD is multiplied by 1.4826 (`MAD_SCALE`), so that it is on the scale of an SD where RTs are
    normally distributed (Leys et al. 2013, Journal of Experimental Social Psychology 49, 764-766).

    Parameters
    ----------
    rt_s, groups
        As in `sd_outliers`.
    n_mad : float
        Above 0.

    Returns
    -------
    (n_rows,) booleans
        Equal RTs have no flag. Where more than half of a group's RTs are equal, its MAD is 0 and
        every other RT of it is flagged.

    Raises
    ------
    ValueError
        If there are not as many groups as RTs.

    Examples
    --------
    >>> mad_outliers([0.5, 0.6, 0.7, 0.6, 3.0], [0, 0, 0, 0, 0], n_mad=2.5).tolist()
    [False, False, False, False, True]
    """
    s = _sort(rt_s, groups)
    deviations = np.abs(s.rt_s - s.medians(s.rt_s)[s.group])
    ascending = deviations[_order(deviations, s.group)]
    mads = MAD_SCALE * s.medians(ascending)
    return s.flags(deviations > n_mad * mads[s.group])


def nonrecursive_outliers(rt_s: npt.ArrayLike, groups: npt.ArrayLike) -> Mask:
    """Flag RTs by Van Selst & Jolicoeur's (1994) non-recursive procedure with moving criterion.

    As `sd_outliers`, with a number of SDs that depends on how many RTs the group has
    (`NONRECURSIVE_CRITERION`), so that the mean that is left is as biased in small samples as in
    large ones (Quarterly Journal of Experimental Psychology 47A, 631-650). It assumes RTs skewed
    to the right about as theirs were.

    Parameters
    ----------
    rt_s, groups
        As in `sd_outliers`.

    Returns
    -------
    (n_rows,) booleans
        Groups below 4 RTs have no flag; those above 100 have the criterion of 100.

    Raises
    ------
    ValueError
        If there are not as many groups as RTs.

    Examples
    --------
    >>> rt_s = [0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48, 0.70]
    >>> nonrecursive_outliers(rt_s, [0] * 10).sum()
    np.int64(1)
    """
    s = _sort(rt_s, groups)
    deviations, sds = _deviations_and_sds(s)
    limits = _criteria(NONRECURSIVE_CRITERION, s.n) * sds
    return s.flags(np.abs(deviations) > limits[s.group])


def modified_recursive_outliers(rt_s: npt.ArrayLike, groups: npt.ArrayLike) -> Mask:
    """Flag RTs by Van Selst & Jolicoeur's (1994) modified recursive procedure, moving criterion.

    Again and again, in each group: leave the largest RT out for a moment, take mean and SD of the
    others, and flag the largest and the smallest RT if they lie beyond the criterion for the number
    of RTs that the group still has (`MODIFIED_RECURSIVE_CRITERION`); until a round flags nothing,
    or 4 RTs or fewer are left. RTs that are equally extreme are left out, and flagged, together,
    which is what trimr 1.1.1 does where it returns means; so the flags do not hang on which of them
    comes first. Source and assumption as for `nonrecursive_outliers`.

    Parameters
    ----------
    rt_s, groups
        As in `sd_outliers`.

    Returns
    -------
    (n_rows,) booleans
        Groups below 4 RTs have no flag, nor have those whose RTs other than the largest are fewer
        than 2, since there is no SD.

    Raises
    ------
    ValueError
        If there are not as many groups as RTs.

    Examples
    --------
    >>> rt_s = [0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48, 0.70]
    >>> modified_recursive_outliers(rt_s, [0] * 10).tolist().index(True)
    9
    """
    s = _sort(rt_s, groups)
    first, end = _kept_ranges(s)
    position = np.arange(len(s.rt_s))
    outlying = (position < first[s.group]) | (position >= end[s.group])
    return s.flags(outlying)


def hybrid_means(rt_s: npt.ArrayLike, groups: npt.ArrayLike) -> FloatArray:
    """Average RTs by Van Selst & Jolicoeur's (1994) hybrid procedure.

    It is the mean of the two means that the non-recursive and the modified recursive procedure
    leave, whose biases run in opposite directions; no single RT is in or out, so there are no
    flags. Source and assumption as for `nonrecursive_outliers`.

    Parameters
    ----------
    rt_s, groups
        As in `sd_outliers`.

    Returns
    -------
    (1 + largest group,) seconds
        By group code; NaN for codes without RTs. Groups below 4 RTs have their plain mean.

    Raises
    ------
    ValueError
        If there are not as many groups as RTs.

    Examples
    --------
    >>> rt_s = [0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48, 0.70]
    >>> hybrid_means(rt_s, [0] * 10).round(6).tolist()
    [0.44]
    """
    s = _sort(rt_s, groups)
    x, codes = np.asarray(rt_s, dtype=np.float64), np.asarray(groups, dtype=np.int64)
    means = np.full(int(codes.max(initial=-1)) + 1, np.nan)
    outliers = (nonrecursive_outliers(x, codes), modified_recursive_outliers(x, codes))
    left = [_sort(np.where(flagged, np.nan, x), codes) for flagged in outliers]
    # Neither procedure empties a group: its RTs are never all beyond their own mean's limits.
    means[s.codes] = (left[0].means(left[0].rt_s) + left[1].means(left[1].rt_s)) / 2
    return means


def _criteria(table: dict[int, float], n: IntArray) -> FloatArray:
    """Look the criterion of each sample size up; NaN, which nothing exceeds, where it is small."""
    by_size = np.full(_MAX_SIZE + 1, np.nan)
    by_size[list(table)] = list(table.values())
    return by_size[np.minimum(n, _MAX_SIZE)]


def _kept_ranges(s: _Sorted) -> tuple[IntArray, IntArray]:
    """Find what the modified recursive procedure leaves of each group: a range of sorted RTs.

    Returns
    -------
    first, end : (n_groups,) integers
        The first RT that is kept, and the one after the last.
    """
    x = s.rt_s
    # About the median sums stay exact, whatever the outliers are.
    deviations = x - x[s.start + s.n // 2][s.group]
    sums, squares = _sums_before(deviations, s), _sums_before(deviations**2, s)
    run_first, run_end = _equal_runs(s)
    first, end = s.start.copy(), s.start + s.n
    active = np.flatnonzero(s.n >= _MIN_SIZE)
    while len(active):
        low, high = first[active], end[active]
        top = run_first[high - 1]
        n_others = np.maximum(top - low, 1)
        mean = (sums[top] - sums[low]) / n_others
        around = squares[top] - squares[low] - n_others * mean**2
        # Too few others have no SD, and equal ones have one of exactly 0.
        others_equal = x[low] == x[np.maximum(top - 1, low)]
        mean = np.where(others_equal, deviations[low], mean)
        around = np.where(others_equal, 0.0, np.maximum(around, 0.0))
        divisors = np.where(top - low > 1, n_others - 1.0, np.nan)
        limit = _criteria(MODIFIED_RECURSIVE_CRITERION, high - low) * np.sqrt(around / divisors)
        too_slow = deviations[high - 1] > mean + limit
        too_fast = deviations[low] < mean - limit
        end[active] = np.where(too_slow, top, high)
        first[active] = np.where(too_fast, run_end[low], low)
        goes_on = (too_slow | too_fast) & (end[active] - first[active] > _MIN_SIZE)
        active = active[goes_on]
    return first, end


def _sums_before(values: FloatArray, s: _Sorted) -> FloatArray:
    """Add up, for each RT, the values before it in its group.

    Group by group, so that no group's rounding depends on another's.
    """
    sums = np.zeros(len(values))
    for start, end in zip(s.start.tolist(), (s.start + s.n).tolist(), strict=True):
        np.cumsum(values[start : end - 1], out=sums[start + 1 : end])
    return sums


def _equal_runs(s: _Sorted) -> tuple[IntArray, IntArray]:
    """Return, for each RT, where the equal RTs of its group begin, and where they have ended."""
    begins = np.ones(len(s.rt_s), dtype=bool)
    begins[1:] = (s.rt_s[1:] != s.rt_s[:-1]) | (s.group[1:] != s.group[:-1])
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(begins))
    run = np.cumsum(begins) - 1
    return starts[run], ends[run]
