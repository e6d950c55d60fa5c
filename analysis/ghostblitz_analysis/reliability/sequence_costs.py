"""Switch and mixing costs as scores whose reliability is asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy
from ghostblitz_analysis.reliability.scores import (
    Cell,
    CellScore,
    CodedTrials,
    code_trials,
    difference_score,
)
from ghostblitz_analysis.sequences import cost_comparisons, sequence_trials
from ghostblitz_analysis.sequences.matched_differences import kept_trials

__all__ = ["sequence_cost_scores"]

#: The column of what a trial is to the one before it.
_RELATION = "relation"
#: The two kinds of trial of each cost, in words; the cost is the first minus the second.
_KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "rule_switch": ("rule switch", "rule repetition"),
        "mode_switch": ("mode switch", "mode repetition"),
        "mixing": ("rule repetition in mixed blocks", "pure blocks"),
    }
)


def sequence_cost_scores(
    flagged: pd.DataFrame, *, factors: tuple[str, ...]
) -> list[tuple[CodedTrials, tuple[CellScore, ...]]]:
    """Return rule switch, mode switch and mixing costs as scores of cells.

    They are made of the trials that `cost_comparisons` compares, of either kind in each rule and
    mode, and for mode switches in each kind of block. A cost over several rules or kinds of block
    is the mean of theirs. `sequence_effects` weighs them by their trials instead, and with two
    modes matches on targets as well, which would leave too few trials in a cell to be halved.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`; it is not changed.
    factors : tuple of str
        From `cell_factors`.

    Returns
    -------
    list of (CodedTrials, tuple of CellScore)
        One pair per cost that the trials allow. The kind of a score is the name of its effect. Of
        each mode first the costs over all rules, if there are several, then those of each rule.
    """
    trials = sequence_trials(flagged)
    analysed = flagged[used_for_accuracy(flagged)]
    modes = ("mode",) if "mode" in factors else ()
    found = []
    for comparison in cost_comparisons(trials, modes=modes):
        if comparison.effect not in _KINDS:
            continue
        level, reference = _KINDS[comparison.effect]
        kept = kept_trials(comparison)
        relation = np.where(comparison.condition, level, reference).astype(object)
        relation[~kept] = pd.NA
        blocks = comparison.effect == "mode_switch" and "block_kind" in factors
        coded = code_trials(
            analysed.assign(**{_RELATION: pd.array(relation, dtype="string")}),
            factors=("rule", *(("block_kind",) if blocks else ()), *modes, _RELATION),
        )
        of_cells = difference_score(
            coded, of=_RELATION, level=level, reference=reference, kind=comparison.effect
        )
        if of_cells:
            found.append((coded, _averaged(of_cells)))
    return found


def _averaged(of_cells: Sequence[CellScore]) -> tuple[CellScore, ...]:
    """Average the scores of a mode over all rules, and over the kinds of block of each rule."""
    together: defaultdict[tuple[tuple[str, str], ...], list[CellScore]] = defaultdict(list)
    several_rules = len({score.levels["rule"] for score in of_cells}) > 1
    for kept in (("mode",), ("rule", "mode")) if several_rules else (("rule", "mode"),):
        for score in of_cells:
            levels = {name: score.levels[name] for name in kept if name in score.levels}
            together[tuple(levels.items())].append(score)
    averaged = []
    for agreed, scores in together.items():
        weights: dict[Cell, float] = {
            cell: weight / len(scores) for score in scores for cell, weight in score.weights.items()
        }
        averaged.append(CellScore(scores[0].kind, scores[0].name, weights, dict(agreed)))
    return tuple(averaged)
