"""Planned contrasts of participants' cell scores under many exclusions, cells made once for each.

The numbers are those of `inference.contrast_table`, without what costs time and is not needed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.inference.cell_scores import CellScores
from ghostblitz_analysis.inference.contrast_weights import (
    WeightedCells,
    check_contrasts,
    default_contrasts,
    weigh_cells,
)
from ghostblitz_analysis.intervals import MeanInterval, mean_interval
from ghostblitz_analysis.measures import cell_factors, order_cells
from ghostblitz_analysis.multiverse.exclusion_sets import ExclusionSet
from ghostblitz_analysis.settings import AnalysisSettings, ContrastSettings

__all__ = ["CellContrast", "CellTest", "PlannedContrast", "TrialCells", "planned", "trial_cells"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TrialCells:
    """Which participant and cell each trial belongs to, and its RT on every scale.

    Attributes
    ----------
    factors : tuple of str
        What makes the cells, under the settings as they are.
    people : tuple of str
        All participants, in the order of their ids as text.
    cells : tuple of tuple of str
        The cells that the trials analysed under the settings hold.
    code : (n_trials,) integers
        Participant times number of cells plus cell; -1 for trials of no such cell.
    scales : DataFrame, one row per trial
        ``log``, ``seconds`` and ``inverse`` (-1/RT): RTs on the scales that have means.
    """

    factors: tuple[str, ...]
    people: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    code: IntArray
    scales: pd.DataFrame

    def scores(self, usable: Mask) -> tuple[dict[str, FloatArray], IntArray]:
        """Average the usable RTs of each participant in each cell.

        Returns
        -------
        scores : dict of str to (n_people, n_cells) array
            By transform; NaN where there is no RT.
        n_rt : (n_people, n_cells) integers
        """
        taken = usable & (self.code >= 0)
        every = np.arange(len(self.people) * len(self.cells))
        by_cell = self.scales[taken].groupby(self.code[taken])
        shape = (len(self.people), len(self.cells))
        means = by_cell.mean().reindex(every)
        scores = {str(name): means[name].to_numpy(dtype="float64").reshape(shape) for name in means}
        medians = by_cell["seconds"].median().reindex(every)
        scores["median"] = medians.to_numpy(dtype="float64").reshape(shape)
        n_rt = np.bincount(self.code[taken], minlength=len(every)).reshape(shape)
        return scores, n_rt.astype(np.int64)


def trial_cells(as_set: ExclusionSet, settings: AnalysisSettings) -> TrialCells:
    """Give participants and cells of all trials their numbers.

    Parameters
    ----------
    as_set : ExclusionSet
        The settings' own exclusions, which say what the cells are.
    settings : AnalysisSettings

    Raises
    ------
    DatasetError
        As `cell_factors`.
    """
    flagged = as_set.flagged
    factors = cell_factors(flagged, settings)
    held = flagged.loc[as_set.analysed, list(factors)].astype("string").drop_duplicates()
    cells = pd.MultiIndex.from_frame(order_cells(held, factors=factors))
    people = sorted({str(name) for name in flagged["participant_id"].dropna()})
    of_cell = cells.get_indexer(pd.MultiIndex.from_frame(flagged[list(factors)].astype("string")))
    person = pd.Index(people).get_indexer(pd.Index(flagged["participant_id"].astype("object")))
    code = np.where((of_cell >= 0) & (person >= 0), person * len(cells) + of_cell, -1)
    rt_s = flagged["rt_s"].astype("Float64").astype("float64")
    rt_s = rt_s.where(rt_s > 0)
    scales = pd.DataFrame({"log": rt_s.map(np.log), "seconds": rt_s, "inverse": -1.0 / rt_s})
    names = tuple(tuple(str(level) for level in cell) for cell in cells)
    return TrialCells(
        factors, tuple(people), names, code.astype(np.int64), scales.reset_index(drop=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class PlannedContrast:
    """A planned contrast in one mode.

    Attributes
    ----------
    contrast : ContrastSettings
    cells : WeightedCells
        What it weighs.
    """

    contrast: ContrastSettings
    cells: WeightedCells

    @property
    def title(self) -> str:
        """Its name, with the mode where there are two."""
        mode = self.cells.mode
        return self.contrast.name if mode is None else f"{self.contrast.name}, {mode} trials"


def planned(cells: TrialCells, settings: AnalysisSettings) -> tuple[PlannedContrast, ...]:
    """Return the planned contrasts of the settings, or the default ones, once in each mode.

    Raises
    ------
    DatasetError
        If a stated contrast names a factor or level that the data do not hold.
    """
    scores = CellScores(np.array(cells.people, dtype=object), cells.factors, cells.cells, {})
    check_contrasts(scores, settings.contrasts)
    contrasts = settings.contrasts or default_contrasts(scores)
    found = [PlannedContrast(c, weighed) for c in contrasts for weighed in weigh_cells(scores, c)]
    return tuple(each for each in found if settings.contrasts or each.cells.used.any())


@dataclass(frozen=True, slots=True, eq=False)
class CellTest:
    """A contrast of one universe, tested over participants.

    Attributes
    ----------
    test : MeanInterval
    n_trials : int
        RTs in the cells of the participants who were used.
    left_out : tuple of str
        Participants with analysed trials, but no score in a cell that the contrast needs.
    differences : (n_people,) array
        One per participant of `TrialCells.people`; NaN for those who were not used.
    """

    test: MeanInterval
    n_trials: int
    left_out: tuple[str, ...]
    differences: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CellContrast:
    """The scores of one exclusion set, ready to be contrasted.

    Attributes
    ----------
    people : tuple of str
    present : (n_people,) booleans
        Who has analysed trials.
    scores : mapping of str to (n_people, n_cells) array
    n_rt : (n_people, n_cells) integers
    """

    people: tuple[str, ...]
    present: Mask
    scores: Mapping[str, FloatArray]
    n_rt: IntArray

    @classmethod
    def of(cls, cells: TrialCells, made: ExclusionSet) -> CellContrast:
        """Score the trials that an exclusion set leaves."""
        scores, n_rt = cells.scores(made.usable)
        analysed = cells.code[made.analysed & (cells.code >= 0)] // max(len(cells.cells), 1)
        present = np.bincount(analysed, minlength=len(cells.people)) > 0
        return cls(cells.people, np.asarray(present), scores, n_rt)

    def test(self, transform: str, weighed: WeightedCells, *, confidence: float) -> CellTest:
        """Test a contrast of scores by a paired t test; `transform` names the scores."""
        used = weighed.used
        wide = self.scores[transform][self.present][:, used]
        has_all = ~np.isnan(wide).any(axis=1) & bool(used.any())
        level = wide[has_all] @ weighed.level[used]
        reference = wide[has_all] @ weighed.reference[used]
        rows = np.flatnonzero(self.present)
        differences = np.full(len(self.people), np.nan)
        differences[rows[has_all]] = level - reference
        return CellTest(
            test=mean_interval(level - reference, confidence=confidence),
            n_trials=int(self.n_rt[rows[has_all]][:, used].sum()),
            left_out=tuple(self.people[row] for row in rows[~has_all].tolist()),
            differences=differences,
        )
