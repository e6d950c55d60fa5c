"""Participants' scores as one array per measure, with a column per cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.measures import order_cells
from ghostblitz_task.errors import DatasetError

__all__ = ["PROPORTION_NOTE", "CellScores", "names_of", "read_cell_scores", "typed_table"]

#: What a reader must know of tests of proportions as if they were normal.
PROPORTION_NOTE = (
    "t and F tests on proportions are approximate, since proportions are bounded and rest on "
    "different numbers of trials, and poor near 1; models of errors over single trials are another "
    "view"
)


@dataclass(frozen=True, slots=True, eq=False)
class CellScores:
    """Every participant's score in every cell that anyone has.

    Attributes
    ----------
    participants : (n_participants,) array of str
        In the order of the table.
    factors : tuple of str
        What makes the cells.
    cells : tuple of tuples of str
        The levels of each cell, in the order of `factors`.
    scores : mapping of str to (n_participants, n_cells) array
        Per measure; NaN where a participant has none.
    """

    participants: npt.NDArray[np.object_]
    factors: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    scores: Mapping[str, npt.NDArray[np.float64]]

    def levels(self, factor: str) -> tuple[str, ...]:
        """Return the levels of a factor that anyone has, in the cells' order."""
        place = self.factors.index(factor)
        return tuple(dict.fromkeys(cell[place] for cell in self.cells))

    def find(self, levels: Mapping[str, str]) -> list[int]:
        """Return the numbers of the cells with these levels."""
        wanted = [(self.factors.index(factor), level) for factor, level in levels.items()]
        return [
            number
            for number, cell in enumerate(self.cells)
            if all(cell[place] == level for place, level in wanted)
        ]

    def modes(self) -> tuple[str | None, ...]:
        """Return the modes to be kept apart; only None where mode is no factor."""
        return self.levels("mode") if "mode" in self.factors else (None,)


def read_cell_scores(
    participant_cells: pd.DataFrame, *, factors: tuple[str, ...], measures: Iterable[str]
) -> CellScores:
    """Spread a table of participants' cells out.

    Parameters
    ----------
    participant_cells : DataFrame, one row per participant and cell
        From `complete_cells`; it may be empty.
    factors : tuple of str
        What makes the cells.
    measures : iterable of str
        The columns wanted.

    Raises
    ------
    DatasetError
        If a participant has two rows for a cell.
    """
    keys = ["participant_id", *factors]
    twice = participant_cells.duplicated(keys)
    if twice.any():
        first = participant_cells.loc[twice, keys].iloc[0]
        raise DatasetError(
            f"the table of cells has participant {first.iloc[0]} twice in the cell "
            f"{', '.join(first.iloc[1:])}; expected one row per participant and cell"
        )
    cells = participant_cells[list(factors)].drop_duplicates()
    ordered = pd.MultiIndex.from_frame(order_cells(cells, factors=factors))
    column = ordered.get_indexer(pd.MultiIndex.from_frame(participant_cells[list(factors)]))
    row, people = pd.factorize(participant_cells["participant_id"])
    scores = {}
    for measure in measures:
        wide = np.full((len(people), len(ordered)), np.nan)
        wide[row, column] = participant_cells[measure].to_numpy(dtype="float64", na_value=np.nan)
        scores[measure] = wide
    return CellScores(
        np.asarray(people, dtype=object),
        factors,
        tuple(tuple(str(level) for level in cell) for cell in ordered),
        scores,
    )


def names_of(people: Iterable[object]) -> str:
    """Write participants' ids as a JSON list."""
    return json.dumps([str(person) for person in people], ensure_ascii=False)


def typed_table(rows: Iterable[Mapping[str, object]], columns: Mapping[str, str]) -> pd.DataFrame:
    """Make a table of rows, whose columns have nullable types; NaN and None become missing."""
    listed = list(rows)
    table = {
        name: pd.Series([_known(row[name]) for row in listed], dtype="object") for name in columns
    }
    return pd.DataFrame(table).astype(dict(columns))


def _known(value: object) -> object:
    return pd.NA if value is None or (isinstance(value, float) and np.isnan(value)) else value
