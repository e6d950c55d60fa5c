"""Random halves of each participant's trials in each cell, many splits at a time.

The trials of every participant in every cell are halved on their own, so both halves have the same
number of each rule, mode and block kind, but for one where a cell holds an odd number: which half
that one goes to is random.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CellValues", "draw_count_halves", "draw_halves", "halve", "sort_into_cells"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.uint64]
#: Measure to what it comes to in the one and in the other half, each of shape
#: (n_splits, n_participants, n_cells); NaN in cells with fewer than two trials.
Halves = dict[str, tuple[FloatArray, FloatArray]]

#: Random keys that are held at a time (16 MB), so that memory does not grow with the splits.
_MAX_KEYS = 2**21


@dataclass(frozen=True, slots=True, eq=False)
class CellValues:
    """The values of each participant's trials in each cell.

    Attributes
    ----------
    values : (n_trials,) array
        By participant, then cell, then size, so nothing depends on the order in which they came.
    sizes : (n_participants, n_cells) array
        How many there are.
    """

    values: FloatArray
    sizes: IntArray


def sort_into_cells(
    values: FloatArray,
    *,
    participant: IntArray,
    cell: IntArray,
    n_participants: int,
    n_cells: int,
) -> CellValues:
    """Sort trials into the cells of their participants.

    Parameters
    ----------
    values, participant, cell : (n_trials,) arrays
        None missing; numbers of participants and cells from 0.
    """
    slot = participant * n_cells + cell
    order = np.lexsort((values, slot))
    sizes = np.bincount(slot, minlength=n_participants * n_cells)
    return CellValues(values[order], sizes.reshape(n_participants, n_cells).astype(np.intp))


def draw_halves(
    cells: CellValues, *, measures: Collection[str], n_splits: int, rng: np.random.Generator
) -> Iterator[Halves]:
    """Split the trials at random, again and again, and average each half.

    Parameters
    ----------
    cells : CellValues
        RTs in seconds.
    measures : collection of str
        Of ``mean_rt_s``, ``mean_log_rt`` and ``median_rt_s``; all are made of the same splits.
    n_splits : int
        Over all that is yielded.

    Yields
    ------
    Halves
        Of a number of splits that keeps the memory bounded.
    """
    sizes = cells.sizes.ravel()
    offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    by_size = [(int(size), np.flatnonzero(sizes == size)) for size in np.unique(sizes) if size > 1]
    for n in _chunks(n_splits, len(cells.values)):
        halves: Halves = {
            name: (np.full((n, len(sizes)), np.nan), np.full((n, len(sizes)), np.nan))
            for name in measures
        }
        for size, slots in by_size:
            keys = rng.integers(0, 2**64, size=(n, len(slots), size), dtype=np.uint64)
            values = cells.values[offsets[slots][:, None] + np.arange(size)]
            swapped = rng.integers(0, 2, size=(n, len(slots)), dtype=np.uint8).astype(bool)
            for name, (one, other) in halve(values, keys, swapped, measures=measures).items():
                halves[name][0][:, slots] = one
                halves[name][1][:, slots] = other
        yield {
            name: (one.reshape(n, *cells.sizes.shape), other.reshape(n, *cells.sizes.shape))
            for name, (one, other) in halves.items()
        }


def halve(
    values: FloatArray, keys: Keys, swapped: Mask, *, measures: Collection[str]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Split cells of one size by random keys: the trials with the lowest keys are one half.

    Parameters
    ----------
    values : (n_cells, size) array
        Ascending in each cell; at least two.
    keys : (n_splits, n_cells, size) array
        Random numbers; their lowest bits are not used.
    swapped : (n_splits, n_cells) array
        Where the halves change places. The first has the fewer trials if `size` is odd.

    Returns
    -------
    mapping of measure to two (n_splits, n_cells) arrays
    """
    n_cells, size = values.shape
    half = size // 2
    # The place of a trial goes into the lowest bits of its key: no two keys are equal, and one
    # selection among plain numbers gives the places, which is faster than sorting indices.
    low_bits = np.uint64(2 ** int(size).bit_length() - 1)
    packed = (keys & ~low_bits) | np.arange(size, dtype=np.uint64)
    packed.partition(half - 1, axis=-1)
    offsets = (np.arange(n_cells) * size)[:, None]
    of_few = (packed[..., :half] & low_bits).astype(np.intp) + offsets
    result: dict[str, tuple[FloatArray, FloatArray]] = {}
    for measure in measures:
        if measure == "median_rt_s":
            of_many = (packed[..., half:] & low_bits).astype(np.intp) + offsets
            few, many = _medians(values, of_few), _medians(values, of_many)
        else:
            x = np.log(values) if measure == "mean_log_rt" else values
            sums = x.ravel()[of_few].sum(axis=-1)
            few, many = sums / half, (x.sum(axis=-1) - sums) / (size - half)
        result[measure] = (np.where(swapped, many, few), np.where(swapped, few, many))
    return result


def _medians(values: FloatArray, place: IntArray) -> FloatArray:
    """Return the medians of chosen trials; since values ascend, those of the middle places."""
    n = place.shape[-1]
    low, high = (n - 1) // 2, n // 2
    ordered = np.partition(place, sorted({low, high}), axis=-1)
    flat = values.ravel()
    return np.asarray((flat[ordered[..., low]] + flat[ordered[..., high]]) / 2)


def draw_count_halves(
    n_correct: IntArray, n_trials: IntArray, *, n_splits: int, rng: np.random.Generator
) -> Iterator[Halves]:
    """Split right and wrong answers at random, again and again: ``p_correct`` of each half.

    How many right answers fall into a random half is hypergeometric, so the count is drawn and
    not each trial.

    Parameters
    ----------
    n_correct, n_trials : (n_participants, n_cells) arrays
        Right answers, and all.

    Yields
    ------
    Halves
        Of a number of splits that keeps the memory bounded.
    """
    usable = n_trials > 1
    right, n = n_correct[usable], n_trials[usable]
    few = n // 2
    for n_drawn in _chunks(n_splits, n_trials.size):
        first = rng.hypergeometric(right, n - right, few, size=(n_drawn, len(n)))
        swapped = rng.integers(0, 2, size=first.shape, dtype=np.uint8).astype(bool)
        p_few, p_many = first / few, (right - first) / (n - few)
        one = np.full((n_drawn, *n_trials.shape), np.nan)
        other = one.copy()
        one[:, usable] = np.where(swapped, p_many, p_few)
        other[:, usable] = np.where(swapped, p_few, p_many)
        yield {"p_correct": (one, other)}


def _chunks(n_splits: int, n_keys: int) -> Iterator[int]:
    """Cut the splits into runs whose keys fit into `_MAX_KEYS`, of one split at least."""
    n_at_once = max(1, _MAX_KEYS // max(n_keys, 1))
    for start in range(0, n_splits, n_at_once):
        yield min(n_at_once, n_splits - start)
