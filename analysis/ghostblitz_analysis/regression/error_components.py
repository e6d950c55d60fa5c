"""What participants differ in by an error model: one variance per effect, without correlations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.regression.design_formulas import Design
from ghostblitz_analysis.regression.separation import CellCounts

__all__ = ["VarianceComponents", "effect_components", "intercept_component"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VarianceComponents:
    """Independent normal random effects of participants, each with one variance.

    Attributes
    ----------
    groups : tuple of str
        In lme4's notation; ``participant_id`` first, then such as ``participant_id:rule``.
    kernels : (n_components, n_cells, n_cells) array
        1 where two cells of a participant share the random effect, else 0.
    not_told_apart : tuple of str
        Groups that had to be left out.
    """

    groups: tuple[str, ...]
    kernels: FloatArray
    not_told_apart: tuple[str, ...] = ()

    @property
    def formula(self) -> str:
        """The random effects in lme4's notation."""
        return " + ".join(f"(1 | {group})" for group in self.groups)


def intercept_component(n_cells: int) -> VarianceComponents:
    """Return random intercepts of participants: all cells share them."""
    return VarianceComponents(("participant_id",), np.ones((1, n_cells, n_cells)))


def effect_components(design: Design, counts: CellCounts) -> VarianceComponents:
    """Return random effects of participants for every factor and every interaction.

    Each has one variance, as deviations of participants have in a repeated-measures analysis of
    variance: ``(1 | participant_id) + (1 | participant_id:rule) + ...``. Slopes that are only
    made uncorrelated would mean something else under another reference level; these variances do
    not depend on the coding (complex random intercepts: Scandola & Tidoni 2024, Advances in
    Methods and Practices in Psychological Science 7(1)).

    Parameters
    ----------
    design : Design
        Of the fixed effects.
    counts : CellCounts
        Which cells participants have trials in, and whether more than one.

    Returns
    -------
    VarianceComponents
        Lower orders first. Components that the trials of participants cannot tell from earlier
        ones are left out, and named: a factor with one level per participant, for example, has
        the same groups as participants. That of participants themselves always stays.
    """
    subsets = [
        chosen
        for size in range(len(design.factors) + 1)
        for chosen in combinations(range(len(design.factors)), size)
    ]
    groups = [":".join(["participant_id", *(design.factors[i] for i in s)]) for s in subsets]
    kernels = np.array([_kernel(design, chosen) for chosen in subsets])
    # A variance shows only in pairs of trials; in single ones it is the same as other log odds.
    patterns = np.unique(np.minimum(counts.n_trials, 2), axis=0)
    within = (patterns[:, :, None] > 0) & (patterns[:, None, :] > 0)
    diagonal = np.arange(patterns.shape[1])
    within[:, diagonal, diagonal] = patterns > 1
    columns = np.array([(kernel * within).ravel() for kernel in kernels]).T
    kept = [0]
    for number in range(1, len(subsets)):
        if np.linalg.matrix_rank(columns[:, [*kept, number]]) > len(kept):
            kept.append(number)
    return VarianceComponents(
        groups=tuple(groups[number] for number in kept),
        kernels=kernels[kept],
        not_told_apart=tuple(groups[i] for i in range(len(groups)) if i not in kept),
    )


def _kernel(design: Design, chosen: tuple[int, ...]) -> FloatArray:
    """Mark the pairs of cells with the same levels of the chosen factors."""
    levels = [tuple(cell[place] for place in chosen) for cell in design.cells]
    return np.array([[float(one == other) for other in levels] for one in levels])
