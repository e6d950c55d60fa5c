"""How participants may vary in a linear mixed model: with correlations, or by variances alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.regression.design_formulas import Design

__all__ = ["Grouping", "RandomComponent", "RandomPart", "random_part"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Grouping:
    """A grouping factor within participants: who, at which levels of some factors.

    Attributes
    ----------
    name : str
        In lme4's notation, such as ``participant_id:rule``.
    level : (n_rows,) int array
        The combination of levels of each row, from 0.
    n_levels : int
        How many combinations there are.
    """

    name: str
    level: IntArray
    n_levels: int


@dataclass(frozen=True, eq=False)
class RandomPart:
    """What varies over participants.

    Attributes
    ----------
    columns : tuple of int
        Columns of the design whose coefficients vary, with all correlations; 0, the intercept,
        is always among them.
    groupings : tuple of Grouping
        Further intercepts, independent of each other, one variance each.
    """

    columns: tuple[int, ...]
    groupings: tuple[Grouping, ...] = ()

    @property
    def n_parameters(self) -> int:
        """Variances and correlations."""
        n = len(self.columns)
        return n * (n + 1) // 2 + len(self.groupings)

    def without(self, names: Sequence[str]) -> RandomPart:
        """Return the same without some groupings."""
        kept = tuple(each for each in self.groupings if each.name not in names)
        return RandomPart(self.columns, kept)


@dataclass(frozen=True, eq=False)
class RandomComponent:
    """The estimated covariance of the random effects of one grouping factor.

    Attributes
    ----------
    group : str
        ``participant_id``, the name of a `Grouping`, or ``target``.
    columns : tuple of int
        Columns of the design whose coefficients vary over its levels.
    covariance : (n_columns, n_columns) array
        Of these coefficients.
    """

    group: str
    columns: tuple[int, ...]
    covariance: FloatArray


def random_part(design: Design, structure: str) -> RandomPart:
    """Return what varies over participants under a structure of `fit_rt_model`.

    Without correlations each effect has one variance, as deviations of participants' cell means
    have in a repeated-measures analysis of variance: ``(1 | participant_id) + (1 |
    participant_id:rule) + ...``. Slopes that are only made uncorrelated would mean something else
    under another reference level; these variances do not depend on the coding (Scandola & Tidoni
    2024, Advances in Methods and Practices in Psychological Science 7(1)).

    Parameters
    ----------
    design : Design
        Of the fixed effects; all its factors vary within participants.
    structure : str
        ``intercepts``, ``slopes`` or ``slopes_uncorrelated``.
    """
    if structure == "intercepts":
        return RandomPart((0,))
    if structure == "slopes":
        return RandomPart(tuple(range(len(design.terms))))
    subsets = [
        chosen
        for size in range(1, len(design.factors) + 1)
        for chosen in combinations(range(len(design.factors)), size)
    ]
    return RandomPart((0,), tuple(_grouping(design, chosen) for chosen in subsets))


def _grouping(design: Design, chosen: tuple[int, ...]) -> Grouping:
    """Group the rows by participant and the levels of the chosen factors."""
    of_cell = [tuple(cell[place] for place in chosen) for cell in design.cells]
    levels = sorted(set(of_cell))
    number = np.array([levels.index(each) for each in of_cell], dtype=np.intp)
    name = ":".join(["participant_id", *(design.factors[place] for place in chosen)])
    return Grouping(name, number[design.cell_of_row], len(levels))
