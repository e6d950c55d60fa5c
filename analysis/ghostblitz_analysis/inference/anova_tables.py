"""Analyses of variance of every measure in every mode, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from ghostblitz_analysis.inference.anova import AnovaEffect, repeated_measures_anova
from ghostblitz_analysis.inference.cell_scores import (
    PROPORTION_NOTE,
    CellScores,
    names_of,
    read_cell_scores,
    typed_table,
)
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.wording import cards_name

__all__ = ["anova_table"]

_COLUMNS = {
    **dict.fromkeys(("measure", "mode", "effect"), "string"),
    **dict.fromkeys(("n_participants", "n_left_out"), "Int64"),
    "left_out": "string",
    "f": "Float64",
    **dict.fromkeys(("df1", "df2"), "Int64"),
    **dict.fromkeys(("p", "mauchly_w", "mauchly_p"), "Float64"),
    **dict.fromkeys(("epsilon_gg", "df1_gg", "df2_gg", "p_gg"), "Float64"),
    **dict.fromkeys(("epsilon_hf", "df1_hf", "df2_hf", "p_hf"), "Float64"),
    "significant": "boolean",
    **dict.fromkeys(("partial_eta2", "generalized_eta2", "ss_effect", "ss_error"), "Float64"),
    "note": "string",
}


@dataclass(frozen=True, slots=True)
class _Design:
    """The crossed cells of one mode.

    Attributes
    ----------
    levels : dict of str to tuple of str
        Of each factor with two levels or more.
    cells : list of int
        Their numbers, the last factor varying fastest; empty where they are not crossed.
    note : str
        What is left out of the design, or why there is none.
    """

    levels: dict[str, tuple[str, ...]]
    cells: list[int]
    note: str


def anova_table(
    participant_cells: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> pd.DataFrame:
    """Analyse rule and block kind, within each mode, on every measure of the settings.

    Grab and shout trials have an analysis each; see `repeated_measures_anova`. Factors with one
    level in a mode fall away there. Participants without a score in a cell of the mode are left
    out and named.

    Parameters
    ----------
    participant_cells : DataFrame, one row per participant and cell
        From `complete_cells`; it may be empty.
    factors : tuple of str
        What makes the cells.
    settings : AnalysisSettings
        Measures and alpha.

    Returns
    -------
    DataFrame, one row per measure, mode and effect
        - ``measure``, ``mode`` (missing where there is one), ``effect``, as in
          ``rule x block_kind``;
        - ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list);
        - ``f``, ``df1``, ``df2``, ``p``; ``mauchly_w`` and ``mauchly_p`` (missing with df1 of 1,
          where sphericity always holds);
        - ``epsilon_gg``, ``df1_gg``, ``df2_gg``, ``p_gg`` and the same with ``_hf``: corrected by
          Greenhouse and Geisser, and by Huynh and Feldt; ``significant``: whether ``p_gg`` is below
          alpha;
        - ``partial_eta2``, ``generalized_eta2``, ``ss_effect``, ``ss_error``;
        - ``note``: why something is missing, and what to know of proportions.

        Rules that nobody was given in some cell are left out, and the note names them; where fewer
        than two rules would remain, effects have rows without values, and
        the note names the cells. A mode with one cell has no row.

    Raises
    ------
    DatasetError
        If a participant has two rows for a cell.

    Examples
    --------
    >>> cells = pd.DataFrame(
    ...     {
    ...         "participant_id": ["a", "a", "b", "b", "c", "c"],
    ...         "rule": ["direct", "exclusion"] * 3,
    ...         "mean_rt_s": [0.6, 1.1, 0.9, 1.2, 0.7, 1.6],
    ...     }
    ... )
    >>> settings = AnalysisSettings(measures=("mean_rt_s",))
    >>> table = anova_table(cells, factors=("rule",), settings=settings)
    >>> print(table["f"].round(3)[0], table["p"].round(3)[0])
    10.321 0.085
    """
    scores = read_cell_scores(participant_cells, factors=factors, measures=settings.measures)
    designs = [(mode, _design(scores, mode)) for mode in scores.modes()]
    rows = [
        row
        for measure in settings.measures
        for mode, design in designs
        if design is not None
        for row in _rows(scores, design, measure, mode, settings.alpha)
    ]
    return typed_table(rows, _COLUMNS)


def _rows(
    scores: CellScores, design: _Design, measure: str, mode: str | None, alpha: float
) -> list[dict[str, object]]:
    """Make the rows of one measure in one mode."""
    shape = [len(found) for found in design.levels.values()]
    if design.cells:
        wide = scores.scores[measure][:, design.cells]
        complete = ~np.isnan(wide).any(axis=1)
        complete_scores = wide[complete]
    else:
        complete = np.zeros(len(scores.participants), dtype=bool)
        complete_scores = np.empty(0)
    n = int(complete.sum())
    effects = repeated_measures_anova(
        complete_scores.reshape(n, *shape), factors=tuple(design.levels)
    )
    notes = [design.note, PROPORTION_NOTE if measure == "p_correct" else ""]
    about: dict[str, object] = {
        "measure": measure,
        "mode": mode,
        "n_participants": n,
        "n_left_out": int((~complete).sum()),
        "left_out": names_of(scores.participants[~complete]),
    }
    return [about | _columns(effect, alpha, notes) for effect in effects]


def _design(scores: CellScores, mode: str | None) -> _Design | None:
    """Cross the factors of a mode; None where it has one cell, or none.

    Rules that are missing in some cell are left out while two others remain.
    """
    place = {"mode": mode} if mode is not None else {}
    levels = {}
    for number, factor in enumerate(scores.factors):
        found = tuple(dict.fromkeys(scores.cells[cell][number] for cell in scores.find(place)))
        if len(found) > 1:
            levels[factor] = found
    if not levels:
        return None
    missing = _missing_cells(scores, levels, place)
    if not missing:
        return _Design(levels, _cell_numbers(scores, levels, place), "")
    named = " or ".join(cards_name(cell) for cell in missing)
    lacking = {cell["rule"] for cell in missing if "rule" in cell}
    crossed = tuple(rule for rule in levels.get("rule", ()) if rule not in lacking)
    if len(crossed) < 2:
        return _Design(levels, [], f"nobody was given {named}, so the factors are not crossed")
    others = ", ".join(rule for rule in levels["rule"] if rule in lacking)
    levels["rule"] = crossed
    note = f"{others} is left out, since nobody was given {named}"
    return _Design(levels, _cell_numbers(scores, levels, place), note)


def _combinations(levels: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    return [dict(zip(levels, cell, strict=True)) for cell in product(*levels.values())]


def _missing_cells(
    scores: CellScores, levels: dict[str, tuple[str, ...]], place: dict[str, str]
) -> list[dict[str, str]]:
    return [cell for cell in _combinations(levels) if not scores.find({**place, **cell})]


def _cell_numbers(
    scores: CellScores, levels: dict[str, tuple[str, ...]], place: dict[str, str]
) -> list[int]:
    found = [scores.find({**place, **cell}) for cell in _combinations(levels)]
    return [number for numbers in found for number in numbers]


def _columns(effect: AnovaEffect, alpha: float, notes: list[str]) -> dict[str, object]:
    gg, hf = effect.sphericity.epsilon_gg, effect.sphericity.epsilon_hf
    return {
        "effect": " x ".join(effect.factors),
        "f": effect.f,
        "df1": effect.df1,
        "df2": effect.df2,
        "p": effect.p,
        "mauchly_w": effect.sphericity.mauchly_w,
        "mauchly_p": effect.sphericity.mauchly_p,
        "epsilon_gg": gg,
        "df1_gg": effect.df1 * gg,
        "df2_gg": effect.df2 * gg,
        "p_gg": effect.p_gg,
        "epsilon_hf": hf,
        "df1_hf": effect.df1 * hf,
        "df2_hf": effect.df2 * hf,
        "p_hf": effect.p_hf,
        "significant": None if np.isnan(effect.p_gg) else bool(effect.p_gg < alpha),
        "partial_eta2": effect.partial_eta2,
        "generalized_eta2": effect.generalized_eta2,
        "ss_effect": effect.ss_effect,
        "ss_error": effect.ss_error,
        "note": "; ".join(note for note in (effect.note, *notes) if note),
    }
