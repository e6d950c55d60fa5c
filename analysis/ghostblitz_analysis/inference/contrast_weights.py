"""Which cells a planned contrast compares, and with what weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ghostblitz_analysis.inference.cell_scores import CellScores
from ghostblitz_analysis.models import REFERENCE_RULE
from ghostblitz_analysis.settings import ContrastSettings
from ghostblitz_analysis.wording import cards_name, cell_name, level_name
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.games import suggestion

__all__ = ["WeightedCells", "check_contrasts", "default_contrasts", "weigh_cells"]

#: The further factor that a default contrast compares between its levels: mixed against pure.
_KINDS = ("mixed", "pure")


@dataclass(frozen=True, slots=True, eq=False)
class WeightedCells:
    """The weights of a contrast in one mode.

    Attributes
    ----------
    mode : str or None
        Of all its cells; None where there is one mode, or the contrast compares modes.
    level, reference : (n_cells,) arrays
        Weights of the two scores whose difference is the contrast. They add up to 1, and for an
        interaction to 0.
    note : str
        Which cells an average leaves out, or why there is nothing to compare; both arrays are then
        all 0.
    """

    mode: str | None
    level: npt.NDArray[np.float64]
    reference: npt.NDArray[np.float64]
    note: str

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """The mask of the cells that the contrast needs."""
        return np.asarray((self.level != 0) | (self.reference != 0))


def default_contrasts(scores: CellScores) -> tuple[ContrastSettings, ...]:
    """Return the contrasts that are made where none is stated.

    Every other rule against direct in each block kind, and where both kinds have both rules the
    difference between mixed and pure blocks; none where direct was never met, or alone. Modes stay
    open, so that each contrast is made once in each.
    """
    rules = scores.levels("rule") if "rule" in scores.factors else ()
    others = [rule for rule in rules if rule != REFERENCE_RULE]
    if REFERENCE_RULE not in rules:
        return ()
    by_kind = "block_kind" in scores.factors
    contrasts = []
    for rule in others:
        kinds = [
            kind
            for kind in (scores.levels("block_kind") if by_kind else ())
            if _both_met(scores, rule, {"block_kind": kind})
        ]
        pair = f"{rule} - {REFERENCE_RULE}"
        table = {"level": rule, "reference": REFERENCE_RULE}
        if not by_kind:
            contrasts.append(ContrastSettings.model_validate({"name": pair, **table}))
        for kind in kinds:
            within = {"block_kind": kind}
            named = {"name": f"{pair}, {level_name('block_kind', kind)}", "within": within}
            contrasts.append(ContrastSettings.model_validate(table | named))
        if set(_KINDS) <= set(kinds):
            mixed, pure = ({"block_kind": kind} for kind in _KINDS)
            name = f"{pair}, {cell_name(mixed)} against {cell_name(pure)}"
            crossed = {"name": name, "within": mixed, "against": pure}
            contrasts.append(ContrastSettings.model_validate(table | crossed))
    return tuple(contrasts)


def _both_met(scores: CellScores, rule: str, place: dict[str, str]) -> bool:
    """Say whether anyone met a rule and the reference there, in the same mode."""
    return any(
        scores.find({**place, **in_mode, "rule": rule})
        and scores.find({**place, **in_mode, "rule": REFERENCE_RULE})
        for in_mode in ({"mode": m} if m else {} for m in scores.modes())
    )


def check_contrasts(scores: CellScores, contrasts: tuple[ContrastSettings, ...]) -> None:
    """Refuse contrasts of what the data do not hold.

    Raises
    ------
    DatasetError
        If a contrast names a factor that has not two levels in the data, or a level that nobody
        met; with the nearest there is.
    """
    for contrast in contrasts:
        named = [(contrast.of, contrast.level), (contrast.of, contrast.reference)]
        named += [*contrast.within.items(), *contrast.against.items()]
        for factor, level in named:
            if factor not in scores.factors:
                raise DatasetError(
                    f"the planned contrast {contrast.name!r} names {factor}, which is no factor of "
                    f"these data{suggestion(factor, scores.factors)}; they have "
                    f"{', '.join(scores.factors)} (a factor needs two levels among the analysed "
                    "trials, and a place in cells); take it out of contrasts in the analysis "
                    "settings"
                )
            known = scores.levels(factor)
            if level not in known:
                raise DatasetError(
                    f"the planned contrast {contrast.name!r} names the {factor} {level!r}, which "
                    f"the analysed trials do not hold{suggestion(level, known)}; they have "
                    f"{', '.join(known) or 'none'}; correct contrasts in the analysis settings"
                )


def weigh_cells(scores: CellScores, contrast: ContrastSettings) -> list[WeightedCells]:
    """Give a contrast's cells their weights, once in each mode that it leaves open.

    Factors that it leaves open are averaged over, each combination of their levels with the same
    weight, however many trials it holds. Only combinations in which all sides were met count, so
    that both sides are averages over the same ones; the note names the others.
    """
    open_mode = contrast.of != "mode" and "mode" not in contrast.within
    if open_mode:
        places: list[dict[str, str]] = [{"mode": m} if m else {} for m in scores.modes()]
        modes = list(scores.modes())
    else:
        same = contrast.against.get("mode", contrast.within.get("mode"))
        places = [{}]
        modes = [same if same == contrast.within.get("mode") else None]
    return [_weigh(scores, contrast, *pair) for pair in zip(places, modes, strict=True)]


def _weigh(
    scores: CellScores, contrast: ContrastSettings, place: dict[str, str], mode: str | None
) -> WeightedCells:
    first = {str(factor): level for factor, level in contrast.within.items()} | place
    sides = [
        (0, 1.0, {**first, contrast.of: contrast.level}),
        (1, 1.0, {**first, contrast.of: contrast.reference}),
    ]
    if contrast.against:
        second = {str(factor): level for factor, level in contrast.against.items()} | place
        sides += [
            (0, -1.0, {**second, contrast.of: contrast.level}),
            (1, -1.0, {**second, contrast.of: contrast.reference}),
        ]
    averaged = [factor for factor in scores.factors if factor not in sides[0][2]]
    weights = np.zeros((2, len(scores.cells)))
    n_used, skipped = 0, []
    for levels in product(*(scores.levels(factor) for factor in averaged)):
        combination = dict(zip(averaged, levels, strict=True))
        found = [scores.find({**side, **combination}) for _, _, side in sides]
        if not all(found):
            skipped.append(combination)
            continue
        n_used += 1
        for (row, sign, _), numbers in zip(sides, found, strict=True):
            weights[row, numbers] += sign
    if n_used == 0:
        sought = " and ".join(dict.fromkeys(cards_name(side) for _, _, side in sides))
        return WeightedCells(mode, weights[0], weights[1], f"nobody was given both {sought}")
    level, reference = weights / n_used
    return WeightedCells(mode, level, reference, _skipped_note(skipped))


def _skipped_note(skipped: list[dict[str, str]]) -> str:
    if not skipped:
        return ""
    return (
        f"the average leaves out {'; '.join(map(cards_name, skipped))}, where a side was never met"
    )
