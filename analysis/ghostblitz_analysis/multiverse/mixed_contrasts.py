"""Planned contrasts as coefficients of linear mixed models over single trials.

The coefficients of `regression` compare every cell with one reference cell. A contrast of other
cells is a sum of them, whose standard error and degrees of freedom need more than theirs. So the
same fixed effects are coded anew, such that the contrast is itself a coefficient: fit and
predictions stay as they are, and so do the columns whose slopes vary over participants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.multiverse.cell_contrasts import PlannedContrast
from ghostblitz_analysis.regression import (
    Design,
    FixedEffect,
    ModelFit,
    Term,
    TrialRows,
    fit_rt_models,
)

__all__ = ["MixedTest", "contrast_rows", "mixed_tests", "recoded_designs"]

FloatArray = npt.NDArray[np.float64]
Outcome = Literal["log_rt", "inverse_rt"]

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class MixedTest:
    """A contrast of one mixed model, or why there is none.

    Attributes
    ----------
    effect : FixedEffect or None
        The coefficient.
    fit : ModelFit or None
        The model that it is read from.
    note : str
        What is missing and why, or what to know of the test.
    """

    effect: FixedEffect | None
    fit: ModelFit | None
    note: str


def mixed_tests(
    rows: TrialRows,
    contrasts: Mapping[int, PlannedContrast],
    *,
    factors: tuple[str, ...],
    cells: Sequence[tuple[str, ...]],
    confidence: float,
) -> dict[int, MixedTest]:
    """Fit the models that hold the contrasts of one mode.

    Parameters
    ----------
    rows : TrialRows
        From `rt_rows`, of the mode.
    contrasts : mapping of int to PlannedContrast
        By any number.
    factors, cells
        What the contrasts' weights are of.
    confidence : float
        Level of the intervals.

    Returns
    -------
    dict of int to MixedTest
        By the same numbers. Which random slopes are kept is decided as in `fit_rt_models`.
    """
    wanted, found = {}, {}
    for number, each in contrasts.items():
        row = contrast_rows(each, rows.design, factors=factors, cells=cells)
        if row is None:
            found[number] = MixedTest(None, None, "a cell of the contrast has no trial left")
        else:
            wanted[number] = row
    for design, columns in recoded_designs(rows.design, wanted):
        fits = fit_rt_models(replace(rows, design=design), confidence=confidence)
        fit = next((each for each in fits if each.selected), fits[0])
        for number, column in columns.items():
            found[number] = _read(fit, column)
    return found


def _read(fit: ModelFit, column: int) -> MixedTest:
    if not fit.fitted:
        return MixedTest(None, fit, fit.note)
    return MixedTest(fit.effects[column], fit, fit.note)


def contrast_rows(
    planned: PlannedContrast,
    design: Design,
    *,
    factors: tuple[str, ...],
    cells: Sequence[tuple[str, ...]],
) -> FloatArray | None:
    """Return a contrast as weights of a design's coefficients.

    Returns
    -------
    (n_terms,) array or None
        None where a cell that it needs is not among those that hold trials.
    """
    weights = planned.cells.level - planned.cells.reference
    total = np.zeros(len(design.terms))
    for number in np.flatnonzero(planned.cells.used).tolist():
        levels = dict(zip(factors, cells[number], strict=True))
        cell = tuple(levels[name] for name in design.factors)
        if cell not in design.cells:
            return None
        total += weights[number] * design.cell_matrix[design.cells.index(cell)]
    return total if np.abs(total).max(initial=0) > _SAME else None


def recoded_designs(
    design: Design, rows: Mapping[int, FloatArray]
) -> list[tuple[Design, dict[int, int]]]:
    """Code fixed effects such that contrasts are coefficients, in as few designs as it takes.

    Parameters
    ----------
    design : Design
    rows : mapping of int to (n_terms,) array
        Contrasts as weights of the design's coefficients, from `contrast_rows`.

    Returns
    -------
    list of (Design, dict of int to int)
        Each design with the column of every contrast that it holds. All span the same columns, so
        that a model with slopes of all of them, or with variances of cells, stays the same model.
    """
    groups: list[dict[int, int]] = []
    for number, row in rows.items():
        for group in [*groups, None]:
            taken = {} if group is None else {group[n]: rows[n] for n in group}
            column = _place(row, taken)
            if column is None:
                continue
            if group is None:
                groups.append({number: column})
            else:
                group[number] = column
            break
    return [(_recoded(design, {g[n]: rows[n] for n in g}), g) for g in groups]


def _place(row: FloatArray, taken: Mapping[int, FloatArray]) -> int | None:
    """Find the coefficient that a contrast can take the place of."""
    for column in range(1, len(row)):
        if column in taken or abs(row[column]) < _SAME:
            continue
        if abs(np.linalg.det(_transform(len(row), {**taken, column: row}))) >= _SAME:
            return column
    return None


def _transform(n: int, rows: Mapping[int, FloatArray]) -> FloatArray:
    matrix = np.eye(n)
    for column, row in rows.items():
        matrix[column] = row
    return matrix


def _recoded(design: Design, rows: Mapping[int, FloatArray]) -> Design:
    transform = _transform(len(design.terms), rows)
    if np.array_equal(transform, np.eye(len(transform))):
        return design
    terms = [
        Term(f"contrast of {term.coded}", f"contrast of {term.words}", term.factors)
        if number in rows
        else term
        for number, term in enumerate(design.terms)
    ]
    return replace(
        design,
        cell_matrix=design.cell_matrix @ np.linalg.inv(transform),
        terms=tuple(terms),
        coding=f"coded for planned contrasts ({design.coding})",
    )
