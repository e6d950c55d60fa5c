"""RTs in order within each participant's cells: what every table of distributions starts from.

Trials are read from plain columns, so a table needs no more than a participant, a condition, an RT
and whether the answer was right. Everything is done on whole arrays: a million trials are ranked
in one sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.measures import order_cells
from ghostblitz_task.errors import DatasetError

__all__ = ["RankedRts", "bins_by_rank", "hazen_quantiles", "nullable", "rank_rts"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_WHOLE = ("bin", "df")


@dataclass(frozen=True, slots=True, eq=False)
class RankedRts:
    """The RTs of every cell in ascending order, cell after cell.

    Attributes
    ----------
    cells : DataFrame, one row per participant and cell
        ``participant_id`` and the factors. Every participant has a row for every cell that anyone
        has, so a cell may be without trials.
    n_trials, n_correct : (n_cells,) arrays
        Over all rows, with an RT or without.
    n_rt, start : (n_cells,) arrays
        RTs that are used, and the place of a cell's first one.
    rt_s : (n_rts,) array, seconds
        By cell, and within it from the shortest to the longest; equal RTs as in the table.
    correct : (n_rts,) array
        Whether the answer with that RT was right.
    """

    cells: pd.DataFrame
    n_trials: IntArray
    n_correct: IntArray
    n_rt: IntArray
    start: IntArray
    rt_s: FloatArray
    correct: BoolArray

    @property
    def cell(self) -> IntArray:
        """The cell of each RT: (n_rts,)."""
        return np.repeat(np.arange(len(self.n_rt)), self.n_rt)

    @property
    def rank(self) -> IntArray:
        """The place of each RT in its cell, from 0: (n_rts,)."""
        return np.arange(len(self.rt_s)) - np.repeat(self.start, self.n_rt)

    def sum_by_cell(self, values: npt.ArrayLike) -> FloatArray:
        """Add up one value per RT: (n_cells,); 0 where a cell has none."""
        sums = np.bincount(self.cell, weights=np.asarray(values), minlength=len(self.n_rt))
        return sums.astype(np.float64)


def rank_rts(
    trials: pd.DataFrame,
    *,
    factors: Sequence[str],
    used: npt.ArrayLike | None,
    participant: str,
    rt: str,
    correct: str,
    errors_too: bool = False,
) -> RankedRts:
    """Read the trials and bring the RTs of each participant's cells into order.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        It is not changed.
    factors : sequence of str
        Columns whose combinations are the cells.
    used : (n_trials,) boolean array or None
        The trials whose RT is used; None for all with an RT that are correct.
    participant, rt, correct : str
        The columns; RTs in seconds.
    errors_too : bool
        Whether None for `used` means the wrong answers as well.

    Raises
    ------
    DatasetError
        If a column is not there, a participant or a condition is missing, `used` has another
        length than the table, or an RT that is to be used is missing, not finite, or not above 0.
    """
    keys = [participant, *factors]
    _check_columns(trials, [*keys, rt, correct])
    is_correct = _boolean(trials[correct], correct)
    rt_s = trials[rt].to_numpy(dtype=np.float64, na_value=np.nan)
    if used is None:
        taken = ~np.isnan(rt_s) & (is_correct | errors_too)
    else:
        taken = np.asarray(used, dtype=bool)
    _check_rts(rt_s, taken, rt)
    cells, cell = _number_cells(trials, participant=participant, factors=list(factors))
    n_cells = len(cells)
    order = np.lexsort((rt_s[taken], cell[taken]))
    n_rt = np.bincount(cell[taken], minlength=n_cells)
    return RankedRts(
        cells=cells,
        n_trials=np.bincount(cell, minlength=n_cells),
        n_correct=np.bincount(cell[is_correct], minlength=n_cells),
        n_rt=n_rt,
        start=np.cumsum(n_rt) - n_rt,
        rt_s=rt_s[taken][order],
        correct=is_correct[taken][order],
    )


def hazen_quantiles(
    values: FloatArray, *, start: IntArray, n: IntArray, probabilities: npt.ArrayLike
) -> FloatArray:
    """Quantiles of type 5 (Hazen 1914; Hyndman & Fan 1996, The American Statistician 50, 361-365).

    The quantile of p stands at place n p + 1/2 of the ordered values, between two of them by
    linear interpolation; places before the first and after the last are those.

    Parameters
    ----------
    values : (n_values,) array
        Cell after cell, ascending within each.
    start, n : (n_cells,) arrays
        Where each cell begins, and how many values it has.
    probabilities : (n_quantiles,) array
        Between 0 and 1.

    Returns
    -------
    (n_cells, n_quantiles) array
        NaN for cells without values.

    Examples
    --------
    >>> import numpy as np
    >>> x, start, n = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0]), np.array([4])
    >>> hazen_quantiles(x, start=start, n=n, probabilities=[0.25, 0.5]).tolist()
    [[1.5, 3.0]]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    quantiles = np.full((len(n), len(p)), np.nan)
    some = n > 0
    last = n[some, np.newaxis] - 1
    place = np.clip(n[some, np.newaxis] * p - 0.5, 0, last)
    below = np.floor(place).astype(np.int64)
    first = start[some, np.newaxis]
    low, high = values[first + below], values[first + np.minimum(below + 1, last)]
    quantiles[some] = low + (place - below) * (high - low)
    return quantiles


def bins_by_rank(rank: IntArray, n: IntArray, *, n_bins: int) -> IntArray:
    """Bin of each place of `n` in order, from 0; the first ``n % n_bins`` bins hold one more.

    Parameters
    ----------
    rank, n : (n_values,) arrays
        Place from 0, and how many values are ordered with it.
    n_bins : int
        Bins; with fewer values than bins the last ones stay empty.
    """
    size, n_larger = np.divmod(n, n_bins)
    in_larger = n_larger * (size + 1)
    later = n_larger + (rank - in_larger) // np.maximum(size, 1)
    return np.asarray(np.where(rank < in_larger, rank // (size + 1), later), dtype=np.int64)


def nullable(table: pd.DataFrame, *, keys: Sequence[str] = ()) -> pd.DataFrame:
    """Give every column but `keys` its nullable type; NaN becomes missing."""
    types = {}
    for name in table.columns:
        kind = table[name].dtype
        if name in keys:
            continue
        if name.startswith("n_") or name in _WHOLE:
            types[name] = "Int64"
        elif pd.api.types.is_bool_dtype(kind):
            types[name] = "boolean"
        else:
            types[name] = "Float64" if pd.api.types.is_numeric_dtype(kind) else "string"
    return table.astype(types)


def _number_cells(
    trials: pd.DataFrame, *, participant: str, factors: list[str]
) -> tuple[pd.DataFrame, IntArray]:
    """Return every participant's cells in order, and the cell of each trial."""
    person, people = pd.factorize(trials[participant], sort=True)
    if factors:
        grouped = [trials[name].astype("category") for name in factors]
        number = trials.groupby(grouped, sort=False, observed=True).ngroup().to_numpy()
    else:
        number = np.zeros(len(trials), dtype=np.int64)
    _, first = np.unique(number, return_index=True)
    kinds = trials[factors].iloc[first].reset_index(drop=True).assign(number=range(len(first)))
    kinds = order_cells(kinds, factors=tuple(factors)) if factors else kinds
    place = np.empty(len(kinds), dtype=np.int64)
    place[kinds.pop("number").to_numpy()] = np.arange(len(place))
    cells = kinds.iloc[np.tile(np.arange(len(kinds)), len(people))].reset_index(drop=True)
    ids = pd.Series(people, dtype=trials[participant].dtype)
    cells.insert(0, "participant_id", ids.repeat(len(kinds)).reset_index(drop=True))
    return cells, np.asarray(person * max(len(kinds), 1) + place[number], dtype=np.int64)


def _check_columns(trials: pd.DataFrame, names: list[str]) -> None:
    for name in names:
        if name not in trials.columns:
            raise DatasetError(
                f"the trials have no column {name}, only {', '.join(map(str, trials.columns))}; "
                "name the columns of participant, factors, RT and correctness"
            )
    for name in names[:-2]:
        n_missing = int(trials[name].isna().sum())
        if n_missing:
            raise DatasetError(
                f"{name} is missing in {n_missing} of {len(trials)} trials, so they belong to no "
                "participant's cell; fill it in, or leave them out"
            )


def _boolean(values: pd.Series, name: str) -> BoolArray:
    """Read correctness; where it is unknown the answer does not count as right."""
    try:
        known = values.astype("boolean")
    except (TypeError, ValueError) as problem:
        raise DatasetError(
            f"{name} holds values that are neither true nor false ({problem}); expected true and "
            "false, or 1 and 0"
        ) from problem
    return known.fillna(False).to_numpy(dtype=bool)


def _check_rts(rt_s: FloatArray, taken: BoolArray, name: str) -> None:
    if taken.shape != rt_s.shape:
        raise DatasetError(
            f"the mask of RTs to use has shape {taken.shape}, but there are {len(rt_s)} trials; "
            "give one value per trial"
        )
    bad = taken & ~(np.isfinite(rt_s) & (rt_s > 0))
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise DatasetError(
            f"{name} of {int(bad.sum())} of {int(taken.sum())} RTs to use is not a time above 0 "
            f"(the first is {rt_s[where]:g}, in row {where}, counted from 0); "
            "exclude these trials, or correct them"
        )
