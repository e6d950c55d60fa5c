"""Fixed effects of the regression models: treatment coding, names of terms, and lme4 formulas.

The factors are the within-participant factors of the cells. Their full factorial is coded against
one reference cell, direct trials in mixed blocks where there are any, so that the terms of two
analyses mean the same whichever levels come first in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.models import REFERENCE_RULE
from ghostblitz_task.schema import column

__all__ = ["Design", "Term", "build_design"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

#: The level that the others of its factor are compared with, where the data have it.
_REFERENCES = {"rule": REFERENCE_RULE, "block_kind": "mixed"}


@dataclass(frozen=True, slots=True)
class Term:
    """One coefficient of the fixed effects.

    Attributes
    ----------
    coded : str
        Its name, such as ``rule[exclusion]:block_kind[pure]``.
    words : str
        What it compares.
    factors : tuple of str
        The factors in it; none for the intercept.
    """

    coded: str
    words: str
    factors: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Design:
    """Fixed effects of trials in the cells of a factorial design.

    Attributes
    ----------
    factors : tuple of str
        With two or more levels.
    cells : tuple of tuple of str
        The combinations of levels that hold trials.
    cell_matrix : (n_cells, n_terms) array
        The coefficients' columns, for one trial of each cell.
    cell_of_row : (n_rows,) int array
        The cell of each trial.
    terms : tuple of Term
        One per column; the intercept first.
    coding : str
        The coding in words.
    notes : tuple of str
        What could not be estimated, and why.
    """

    factors: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    cell_matrix: FloatArray
    cell_of_row: IntArray
    terms: tuple[Term, ...]
    coding: str
    notes: tuple[str, ...]

    @property
    def matrix(self) -> FloatArray:
        """The (n_rows, n_terms) design matrix of the trials."""
        return self.cell_matrix[self.cell_of_row]

    @property
    def formula(self) -> str:
        """The right-hand side in lme4's notation."""
        return " * ".join(self.factors) if self.factors else "1"

    def cell_words(self, cell: int) -> str:
        """Name a cell: ``direct trials in mixed blocks``."""
        return _cell_words(dict(zip(self.factors, self.cells[cell], strict=True)))


def build_design(trials: pd.DataFrame, *, factors: Sequence[str]) -> Design:
    """Code the full factorial of some factors by treatment coding.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        The rows that a model is fitted to, with no factor missing.
    factors : sequence of str
        ``rule`` and perhaps ``block_kind``; those with one level among the rows fall away.

    Returns
    -------
    Design
        References are ``direct`` and ``mixed``, or the schema's first level where the data have
        none of these. Where cells hold no trials, the columns that cannot be told from earlier
        ones are left out, highest interactions first, and `notes` names them. What is left spans
        the cells: the model is saturated in the cells that exist.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"rule": ["direct", "exclusion"], "block_kind": ["mixed", "mixed"]})
    >>> design = build_design(table, factors=("rule", "block_kind"))
    >>> [term.coded for term in design.terms]
    ['(Intercept)', 'rule[exclusion]']
    """
    levels = {name: _levels(trials[name]) for name in factors}
    varied = tuple(name for name in factors if len(levels[name]) > 1)
    codes = {
        name: pd.Categorical(trials[name].astype(object), categories=levels[name]).codes
        for name in varied
    }
    numbers = np.zeros(len(trials), dtype=np.intp)
    for name in varied:
        numbers = numbers * len(levels[name]) + codes[name]
    every = list(product(*(levels[name] for name in varied)))
    held, cell_of_row = np.unique(numbers, return_inverse=True)
    cells = tuple(every[number] for number in held)
    wanted = _wanted_terms(varied, levels)
    columns = np.array([[_coded_value(term, varied, cell) for term in wanted] for cell in cells])
    kept = _independent(columns.reshape(len(cells), len(wanted)))
    complete = len(kept) == len(wanted)
    reference = {name: levels[name][0] for name in varied}
    terms = tuple(_named(wanted[i], reference, complete=complete) for i in kept)
    return Design(
        factors=varied,
        cells=cells,
        cell_matrix=columns.reshape(len(cells), len(wanted))[:, kept].astype(np.float64),
        cell_of_row=cell_of_row.reshape(-1).astype(np.intp),
        terms=terms,
        coding=_coding(reference),
        notes=() if complete else (_left_out_note(wanted, kept, every, cells, varied),),
    )


def _levels(values: pd.Series) -> list[str]:
    """Return the levels that occur: the reference, then the schema's order, then the others."""
    name = str(values.name)
    known = column(name).levels
    found = {str(value) for value in values.dropna().unique()}
    ordered = [*(x for x in known if x in found), *sorted(found - set(known))]
    reference = _REFERENCES.get(name)
    return sorted(ordered, key=lambda level: level != reference)


def _wanted_terms(
    varied: tuple[str, ...], levels: dict[str, list[str]]
) -> list[tuple[tuple[str, str], ...]]:
    """Return the terms of the full factorial as factor-level pairs, by order of interaction."""
    choices = [[None, *levels[name][1:]] for name in varied]
    terms = [
        tuple((name, level) for name, level in zip(varied, chosen, strict=True) if level)
        for chosen in product(*choices)
    ]
    return sorted(terms, key=lambda term: (len(term), [varied.index(name) for name, _ in term]))


def _coded_value(
    term: tuple[tuple[str, str], ...], varied: tuple[str, ...], cell: tuple[str, ...]
) -> float:
    of = dict(zip(varied, cell, strict=True))
    return float(all(of[name] == level for name, level in term))


def _independent(columns: FloatArray) -> list[int]:
    """Return the columns that no earlier ones add up to."""
    if not len(columns):
        return list(range(columns.shape[1]))
    kept: list[int] = []
    for number in range(columns.shape[1]):
        if np.linalg.matrix_rank(columns[:, [*kept, number]]) > len(kept):
            kept.append(number)
    return kept


def _named(term: tuple[tuple[str, str], ...], reference: dict[str, str], *, complete: bool) -> Term:
    coded = ":".join(f"{name}[{level}]" for name, level in term) or "(Intercept)"
    names = tuple(name for name, _ in term)
    if not term:
        return Term(coded, _cell_words(reference), names)
    against = " and ".join(f"{level} against {reference[name]}" for name, level in term)
    if len(term) > 1:
        return Term(coded, f"interaction of {against}", names)
    others = {name: level for name, level in reference.items() if name not in names}
    # Without some cells, a main effect is no longer the difference in the reference's cells.
    where = f", {_cell_words(others)}" if others and complete else ""
    return Term(coded, against + (" blocks" if names == ("block_kind",) else "") + where, names)


def _cell_words(cell: dict[str, str]) -> str:
    rule = f"{cell['rule']} trials" if "rule" in cell else "all trials"
    if "block_kind" not in cell:
        return rule
    where = f"in {cell['block_kind']} blocks"
    return f"{rule} {where}" if "rule" in cell else where


def _coding(reference: dict[str, str]) -> str:
    if not reference:
        return "one cell, so an intercept only"
    return f"treatment coding, reference: {_cell_words(reference)}"


def _left_out_note(
    wanted: list[tuple[tuple[str, str], ...]],
    kept: list[int],
    every: list[tuple[str, ...]],
    cells: tuple[tuple[str, ...], ...],
    varied: tuple[str, ...],
) -> str:
    names = [
        ":".join(f"{name}[{level}]" for name, level in term)
        for number, term in enumerate(wanted)
        if number not in kept
    ]
    empty = [
        _cell_words(dict(zip(varied, cell, strict=True))) for cell in every if cell not in cells
    ]
    return f"no trials of {', '.join(empty)}, so without {', '.join(names)}"
