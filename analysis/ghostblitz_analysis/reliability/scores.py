"""The scores whose reliability is asked for, as weighted sums of a participant's cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.inference.cell_scores import CellScores
from ghostblitz_analysis.inference.contrast_weights import check_contrasts, weigh_cells
from ghostblitz_analysis.measures import order_cells
from ghostblitz_analysis.settings import ContrastMeasure, ContrastSettings

__all__ = [
    "Cell",
    "CellScore",
    "CodedTrials",
    "code_trials",
    "difference_score",
    "name_score",
    "part_scores",
    "planned_scores",
    "reported_scores",
    "typed",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Cell = tuple[str, ...]

#: Other rules are compared with this one, as `models.rule_contrasts` does.
_REFERENCE_RULE = "direct"
_CELL_FACTORS = ("rule", "block_kind", "mode")


@dataclass(frozen=True, slots=True)
class CellScore:
    """One score per participant: a weighted sum of what the participant's cells come to.

    Attributes
    ----------
    kind : str
        ``cell``, ``rule_effect``, ``mixing_cost``, ``interaction``, or ``contrast`` for one that
        the settings plan.
    name : str
        In words, such as ``exclusion - direct``.
    weights : mapping of tuple of str to float
        Cell, as its levels in the order of the factors, to weight; the others have none.
    levels : mapping of str to str
        The levels in which all its cells agree, by factor.
    """

    kind: str
    name: str
    weights: Mapping[Cell, float]
    levels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CodedTrials:
    """The analysed trials, with participants and cells as numbers.

    Attributes
    ----------
    factors : tuple of str
        What makes the cells.
    participants : tuple of str
        In the order of their ids as text.
    cells : DataFrame, one row per cell
        The factors, in the order of `order_cells`, and those of rule, block kind and mode that
        have one level in all trials.
    trials : DataFrame, one row per analysed trial
        As they came.
    participant, cell : (n_trials,) arrays
        Row of `participants` and of `cells`.
    has_rt : (n_trials,) array
        Whether no exclusion takes the trial out of the RT measures.
    """

    factors: tuple[str, ...]
    participants: tuple[str, ...]
    cells: pd.DataFrame
    trials: pd.DataFrame
    participant: IntArray
    cell: IntArray
    has_rt: Mask

    @property
    def cell_keys(self) -> list[Cell]:
        """Each cell as its levels in the order of the factors."""
        rows = self.cells[list(self.factors)].itertuples(index=False, name=None)
        return [tuple(str(level) for level in row) for row in rows]

    def values(self, measure: ContrastMeasure) -> tuple[Mask, FloatArray]:
        """Return which trials a measure is made of, and the value of each of those.

        Seconds, log seconds, or 1 for a correct and 0 for a wrong answer.
        """
        if measure == "p_correct":
            correct = self.trials["correct"].fillna(False).to_numpy(dtype=bool)
            return np.ones(len(correct), dtype=bool), correct.astype(np.float64)
        rt_s = self.trials.loc[self.has_rt, "rt_s"].to_numpy(dtype=np.float64)
        return self.has_rt, np.log(rt_s) if measure == "mean_log_rt" else rt_s

    def uses(self, score: CellScore) -> tuple[IntArray, FloatArray]:
        """Return the rows of the cells that a score is made of, and their weights."""
        keys = self.cell_keys
        rows = np.array([keys.index(cell) for cell in score.weights], dtype=np.intp)
        return rows, np.array(list(score.weights.values()), dtype=np.float64)


def code_trials(flagged: pd.DataFrame, *, factors: tuple[str, ...]) -> CodedTrials:
    """Give the participants and the cells of the analysed trials numbers.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`; any other columns of text serve too, such as the relation to the
        trial before.

    Returns
    -------
    CodedTrials
        Trials without a level of some factor are in no cell, and so left out; a participant with
        no others is still one.
    """
    keys = list(factors)
    analysed = flagged[used_for_accuracy(flagged)]
    participants = tuple(sorted(str(person) for person in analysed["participant_id"].unique()))
    analysed = analysed[analysed[keys].notna().all(axis=1).to_numpy()]
    people = pd.Categorical(analysed["participant_id"], categories=list(participants))
    met = analysed[keys].drop_duplicates(ignore_index=True).astype("string")
    for name in _CELL_FACTORS:
        if name not in keys and analysed[name].nunique(dropna=False) == 1:
            met[name] = str(analysed[name].iloc[0])
    cells = order_cells(met.assign(_met=np.arange(len(met))), factors=factors)
    place = np.empty(len(cells), dtype=np.intp)
    place[cells.pop("_met").to_numpy(dtype=np.intp)] = np.arange(len(cells))
    by_cell = analysed.groupby(keys, sort=False, observed=True)
    cell = by_cell.ngroup().to_numpy(dtype=np.intp) if len(analysed) else np.zeros(0, np.intp)
    return CodedTrials(
        factors=factors,
        participants=participants,
        cells=cells,
        trials=analysed,
        participant=people.codes.astype(np.intp),
        cell=place[cell],
        has_rt=used_for_rt(analysed),
    )


def part_scores(
    coded: CodedTrials,
    measure: ContrastMeasure,
    scores: Sequence[CellScore],
    *,
    part: IntArray,
    n_parts: int,
) -> FloatArray:
    """Score each participant in each part of the trials, such as a session.

    Parameters
    ----------
    part : (n_trials,) array
        The part of each trial, from 0; -1 for none.

    Returns
    -------
    (n_participants, n_parts, n_scores) array
        NaN where a cell of the score has no value in that part.
    """
    used, values = coded.values(measure)
    in_part = part[used] >= 0
    n_people, n_cells = len(coded.participants), len(coded.cells)
    slot = (coded.participant[used] * n_parts + part[used]) * n_cells + coded.cell[used]
    grouped = pd.Series(values[in_part]).groupby(slot[in_part])
    found = grouped.median() if measure == "median_rt_s" else grouped.mean()
    of_cells = np.full((n_people, n_parts, n_cells), np.nan)
    of_cells.flat[found.index.to_numpy(dtype=np.intp)] = found.to_numpy(dtype=np.float64)
    scored = np.empty((n_people, n_parts, len(scores)))
    for number, score in enumerate(scores):
        rows, weights = coded.uses(score)
        scored[:, :, number] = of_cells[:, :, rows] @ weights
    return scored


def difference_score(
    coded: CodedTrials, *, of: str, level: str, reference: str, kind: str = "contrast"
) -> tuple[CellScore, ...]:
    """Return the difference of two levels of a factor, in each cell of the others that has both.

    There is none of a factor that makes no cells.

    Parameters
    ----------
    of, level, reference : str
        The factor and its two levels; the score is `level` minus `reference`.
    kind : str
        What the scores are called.
    """
    if of not in coded.factors:
        return ()
    others = [name for name in coded.factors if name != of]
    keys = dict.fromkeys(coded.cell_keys)
    place = coded.factors.index(of)
    scores = []
    for cell in keys:
        partner = (*cell[:place], reference, *cell[place + 1 :])
        if cell[place] == level and partner in keys:
            levels = dict(zip(coded.factors, cell, strict=True))
            levels = {name: levels[name] for name in others}
            weights = {cell: 1.0, partner: -1.0}
            scores.append(CellScore(kind, f"{level} - {reference}", weights, levels))
    return tuple(scores)


def planned_scores(
    coded: CodedTrials, contrasts: Sequence[ContrastSettings]
) -> tuple[CellScore, ...]:
    """Return the planned contrasts as scores, with the weights with which they are tested.

    A contrast with an open mode gives a score per mode: grab and shout are never averaged. One
    whose cells nobody was given gives no score; its row in `contrast_table` says so.

    Raises
    ------
    DatasetError
        If a contrast names a factor or level that the data do not hold.
    """
    cells = CellScores(
        np.array(coded.participants, dtype=object), coded.factors, tuple(coded.cell_keys), {}
    )
    check_contrasts(cells, tuple(contrasts))
    scores = []
    for contrast in contrasts:
        shared = {} if contrast.against else {str(x): y for x, y in contrast.within.items()}
        for weighted in weigh_cells(cells, contrast):
            of_cells = (weighted.level - weighted.reference).tolist()
            weights = {cells.cells[n]: of_cells[n] for n in np.flatnonzero(weighted.used)}
            of_mode = {"mode": weighted.mode} if weighted.mode else {}
            if weights:
                scores.append(CellScore("contrast", contrast.name, weights, shared | of_mode))
    return tuple(scores)


def _less(weights: Mapping[Cell, float], others: Mapping[Cell, float]) -> dict[Cell, float]:
    cells = dict.fromkeys((*weights, *others))
    summed = {cell: weights.get(cell, 0.0) - others.get(cell, 0.0) for cell in cells}
    return {cell: weight for cell, weight in summed.items() if weight}


def reported_scores(
    coded: CodedTrials, contrasts: Sequence[ContrastSettings] = ()
) -> tuple[CellScore, ...]:
    """Return every score that an analysis reports of its cells, each once.

    First the planned contrasts; then every other rule against direct in each cell of the other
    factors, mixed against pure blocks (mixing cost) in the same way, the difference between
    the two block kinds' rule effects, and the cells themselves.
    """
    found = list(planned_scores(coded, contrasts))
    rules = [r for r in dict.fromkeys(coded.cells["rule"]) if r != _REFERENCE_RULE]
    for rule in rules:
        found += difference_score(
            coded, of="rule", level=str(rule), reference=_REFERENCE_RULE, kind="rule_effect"
        )
    if "block_kind" in coded.factors:
        found += difference_score(
            coded, of="block_kind", level="mixed", reference="pure", kind="mixing_cost"
        )
        for rule in rules:
            found += _interactions(coded, str(rule))
    for cell in coded.cell_keys:
        levels = dict(zip(coded.factors, cell, strict=True))
        found.append(CellScore("cell", ", ".join(cell), {cell: 1.0}, levels))
    distinct: dict[tuple[tuple[Cell, float], ...], CellScore] = {}
    for score in found:
        distinct.setdefault(tuple(sorted(score.weights.items())), score)
    return tuple(distinct.values())


def _interactions(coded: CodedTrials, rule: str) -> list[CellScore]:
    """Return mixed minus pure of a rule's effect, in each cell of the remaining factors."""
    effects = difference_score(coded, of="rule", level=rule, reference=_REFERENCE_RULE)
    scores = []
    for effect in effects:
        for partner in effects:
            rest = {name: x for name, x in effect.levels.items() if name != "block_kind"}
            if effect.levels["block_kind"] == "mixed" and partner.levels == {
                **rest,
                "block_kind": "pure",
            }:
                name = f"({effect.name}) mixed - ({effect.name}) pure"
                weights = _less(effect.weights, partner.weights)
                scores.append(CellScore("interaction", name, weights, rest))
    return scores


def name_score(coded: CodedTrials, score: CellScore, measure: str) -> dict[str, object]:
    """Return the columns that name a score and its measure, for a row of a table."""
    levels = {name: score.levels.get(name) for name in coded.factors}
    return {"kind": score.kind, "score": score.name, **levels, "measure": measure}


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every column its nullable type: counts, numbers or text; NaN becomes missing."""
    types = {
        name: "Int64"
        if name.startswith(("n_", "df_"))
        else "Float64"
        if pd.api.types.is_numeric_dtype(table[name])
        else "string"
        for name in table.columns
    }
    return table.astype(types)
