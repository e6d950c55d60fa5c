"""The levels of columns as numbers, so that trials are counted by them in one pass."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["cell_codes", "count_crossed", "crossed_codes", "level_codes"]

IntArray = npt.NDArray[np.int64]


def level_codes(column: pd.Series) -> tuple[IntArray, list[str | None]]:
    """Give each level of a column a number.

    Returns
    -------
    codes : (n_rows,) integers
        The number of each row's level.
    levels : list of str or None
        The levels that occur, in the order of text; missing values are a level of their own, None,
        and come last.
    """
    found = column.astype("category").cat
    codes = found.codes.to_numpy(dtype=np.int64)
    names: list[str | None] = [str(level) for level in found.categories]
    names.append(None)
    codes = np.where(codes < 0, len(names) - 1, codes)
    # A category may be there without any row of it.
    occurs = np.bincount(codes, minlength=len(names)) > 0
    renumbered = np.cumsum(occurs, dtype=np.int64) - 1
    return renumbered[codes], [name for name, there in zip(names, occurs, strict=True) if there]


def crossed_codes(columns: Iterable[pd.Series]) -> IntArray:
    """Give each combination of levels of some columns a number; not all numbers need occur."""
    first, *others = (level_codes(column) for column in columns)
    codes, _ = first
    for further, levels in others:
        codes = codes * max(len(levels), 1) + further
    return codes


def cell_codes(trials: pd.DataFrame, factors: tuple[str, ...]) -> tuple[IntArray, list[str]]:
    """Give each cell that occurs a number and a name.

    Returns
    -------
    codes : (n_trials,) integers
        The number of each trial's cell.
    names : list of str
        The levels of each cell, with commas between; apart from the rule, factors of one level are
        not named. A missing level is called unknown.
    """
    codes = np.zeros(len(trials), dtype=np.int64)
    names = [""]
    for factor in factors:
        further, levels = level_codes(trials[factor])
        n_levels = max(len(levels), 1)
        found, codes = np.unique(codes * n_levels + further, return_inverse=True)
        told = len(levels) > 1 or factor == "rule"
        words = [(level or "unknown") if told else "" for level in levels]
        names = [
            ", ".join(filter(None, (names[code // n_levels], words[code % n_levels])))
            for code in found.tolist()
        ]
    return codes, names


def count_crossed(rows: IntArray, columns: IntArray, *, n_rows: int, n_columns: int) -> IntArray:
    """Count every combination of two codes, as a table of the first down and the second across."""
    counts = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return counts.astype(np.int64).reshape(n_rows, n_columns)
