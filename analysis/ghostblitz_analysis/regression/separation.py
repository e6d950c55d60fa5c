"""Separation: cells without errors, or with nothing else, whose log odds have no finite estimate.

The fixed effects are saturated in the cells that exist (see `build_design`), so maximum
likelihood has an infinite estimate exactly where the errors of a whole cell, over all
participants, are none or all of its trials. Counting cells is enough; no linear program is needed
(Albert & Anderson 1984, Biometrika 71:1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.regression.trial_rows import TrialRows

__all__ = ["CellCounts", "cell_counts", "separation_note"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Trials and errors of each participant in each cell: all that an error model needs.

    Attributes
    ----------
    n_trials, n_errors : (n_participants, n_cells) arrays
    """

    n_trials: FloatArray
    n_errors: FloatArray

    @property
    def separated(self) -> npt.NDArray[np.bool_]:
        """The (n_cells,) mask of cells with no errors at all, or with nothing else."""
        errors, trials = self.n_errors.sum(axis=0), self.n_trials.sum(axis=0)
        return np.asarray((errors == 0) | (errors == trials))


def cell_counts(rows: TrialRows) -> CellCounts:
    """Count trials and errors per participant and cell.

    Parameters
    ----------
    rows : TrialRows
        From `error_rows`.
    """
    shape = (len(rows.participants), len(rows.design.cells))
    place = rows.participant * shape[1] + rows.design.cell_of_row
    size = shape[0] * shape[1]
    trials = np.bincount(place, minlength=size).astype(np.float64)
    errors = np.bincount(place, weights=rows.y, minlength=size).astype(np.float64)
    return CellCounts(trials.reshape(shape), errors.reshape(shape))


def separation_note(rows: TrialRows, counts: CellCounts) -> str:
    """Say which cells are separated; empty if none is."""
    words = []
    for cell in np.flatnonzero(counts.separated):
        n_trials, n_errors = counts.n_trials[:, cell].sum(), counts.n_errors[:, cell].sum()
        what = "no error" if n_errors == 0 else "nothing but errors"
        words.append(f"{what} in {n_trials:.0f} {rows.design.cell_words(int(cell))}")
    return f"separation: {', '.join(words)}" if words else ""
