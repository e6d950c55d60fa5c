"""All universes of a multiverse, one row per universe and planned contrast."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, nan, sqrt

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.inference.cell_scores import typed_table
from ghostblitz_analysis.multiverse.cell_contrasts import (
    CellContrast,
    CellTest,
    PlannedContrast,
    TrialCells,
    planned,
    trial_cells,
)
from ghostblitz_analysis.multiverse.curve_tests import CurveTest, curve_test
from ghostblitz_analysis.multiverse.exclusion_sets import DECISIONS, Dropped, ExclusionSet
from ghostblitz_analysis.multiverse.grid import MultiverseGrid, Transform
from ghostblitz_analysis.multiverse.mixed_contrasts import MixedTest, mixed_tests
from ghostblitz_analysis.multiverse.specifications import (
    OUTCOMES,
    Specification,
    Specifications,
    specify,
)
from ghostblitz_analysis.regression import rt_rows
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.games import suggestion

__all__ = ["CHOICES", "Multiverse", "run_multiverse"]

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]

#: All decisions, in the order of the columns.
CHOICES = (*DECISIONS, "transform", "model")

_SCALES: Mapping[Transform, str] = {
    "log": "log s",
    "seconds": "s",
    "inverse": "1/s",
    "median": "s",
}
_COLUMNS = {
    "universe": "Int64",
    **dict.fromkeys(("contrast", "mode", *CHOICES), "string"),
    **{f"{name}_words": "string" for name in CHOICES},
    **dict.fromkeys(("as_set", "primary"), "boolean"),
    "scale": "string",
    **dict.fromkeys(("estimate", "estimate_low", "estimate_high"), "Float64"),
    **dict.fromkeys(("ratio", "ratio_low", "ratio_high"), "Float64"),
    **dict.fromkeys(("effect", "effect_low", "effect_high", "t", "df", "p"), "Float64"),
    **dict.fromkeys(("n_participants", "n_left_out"), "Int64"),
    "left_out": "string",
    "n_trials": "Int64",
    **dict.fromkeys(("converged", "singular"), "boolean"),
    **dict.fromkeys(("formula", "note"), "string"),
}


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The planned contrasts in every universe of a grid.

    Attributes
    ----------
    grid : MultiverseGrid
    settings : AnalysisSettings
        The data set's own.
    titles : tuple of str
        The contrasts, with their mode where there are two.
    keys : tuple of (str, str or None)
        The contrasts as the tables name them: contrast and mode.
    interactions : tuple of bool
        Whether each contrast is a difference of differences.
    universes : DataFrame, one row per contrast and universe
        ``universe`` (a number), ``contrast``, ``mode``; per decision its option and, in a column
        ending in ``_words``, what that is; ``as_set`` (whether `analyze` makes this very analysis)
        and ``primary`` (the first of these); ``estimate`` with its interval on ``scale``, ``ratio``
        with its interval for log RT; ``effect``, t over the square root of participants, which is
        dz for paired tests and can be compared over all universes, with the interval of the
        estimate on the same ruler; ``t``, ``df``, ``p``; ``n_participants``, ``n_left_out`` and
        ``left_out`` (as JSON list) of those with analysed trials; ``n_trials``, the RTs that it
        rests on; ``converged``, ``singular`` and ``formula`` of mixed models; ``note``.
    dropped : tuple of Dropped
        Combinations that were not made.
    curve_tests : tuple of CurveTest
        Of each contrast's paired universes.
    """

    grid: MultiverseGrid
    settings: AnalysisSettings
    titles: tuple[str, ...]
    keys: tuple[tuple[str, str | None], ...]
    interactions: tuple[bool, ...]
    universes: pd.DataFrame
    dropped: tuple[Dropped, ...]
    curve_tests: tuple[CurveTest, ...]

    def of_contrast(self, number: int) -> pd.DataFrame:
        """Return the universes of one contrast."""
        contrast, mode = self.keys[number]
        table = self.universes
        in_mode = table["mode"].isna() if mode is None else (table["mode"] == mode).fillna(False)
        return table[(table["contrast"] == contrast) & in_mode]


def run_multiverse(
    trials: pd.DataFrame,
    settings: AnalysisSettings,
    grid: MultiverseGrid,
    *,
    on_progress: Progress | None = None,
) -> Multiverse:
    """Test the planned contrasts in every universe of a grid.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema; it is not changed.
    settings : AnalysisSettings
        The data set's own.
    grid : MultiverseGrid
        The alternatives.
    on_progress : callable, optional
        Called with the parts that are done and how many there are: a part is one way to exclude
        trials, or one mixed model.

    Raises
    ------
    DatasetError
        As `cell_factors`; if a stated contrast names what the data do not hold; if there is no
        contrast to test.
    ConfigError
        If the grid leaves out the analysis as set, has no universe, or states the sign of a
        contrast that is not planned.
    """
    specifications = specify(trials, grid, settings)
    as_set = specifications.exclusion_sets[0]
    cells = trial_cells(as_set, settings)
    contrasts = planned(cells, settings)
    if not contrasts:
        raise DatasetError(
            "there is no planned contrast: the analysis settings state none, and the trials do not "
            "hold direct cards and those of another rule in the same cells"
        )
    _check_signs(grid, contrasts)
    run = _Run(settings, specifications, cells, contrasts, on_progress or (lambda *_: None))
    rows, differences = run.rows()
    rows.sort(key=lambda row: row[0])
    table = typed_table([row for _, row in rows], _COLUMNS)
    seeds = np.random.SeedSequence(grid.permutation.seed).spawn(len(contrasts))
    tests = [
        curve_test(
            np.array(differences[number]).reshape(-1, len(cells.people)),
            alpha=settings.alpha,
            n_permutations=grid.permutation.n,
            rng=np.random.default_rng(seed),
        )
        for number, seed in enumerate(seeds)
    ]
    return Multiverse(
        grid=grid,
        settings=settings,
        titles=tuple(each.title for each in contrasts),
        keys=tuple((each.contrast.name, each.cells.mode) for each in contrasts),
        interactions=tuple(bool(each.contrast.against) for each in contrasts),
        universes=table,
        dropped=(*specifications.dropped, *run.without_models()),
        curve_tests=tuple(tests),
    )


def _check_signs(grid: MultiverseGrid, contrasts: Sequence[PlannedContrast]) -> None:
    known = list(dict.fromkeys(each.contrast.name for each in contrasts))
    for name in grid.expected_sign:
        if name not in known:
            near = suggestion(name, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"expected_sign: {name!r} is no planned contrast{near}")


@dataclass(frozen=True, eq=False)
class _Run:
    """What all universes share."""

    settings: AnalysisSettings
    specifications: Specifications
    cells: TrialCells
    contrasts: tuple[PlannedContrast, ...]
    on_progress: Progress

    def rows(
        self,
    ) -> tuple[list[tuple[tuple[int, int], dict[str, object]]], list[list[FloatArray]]]:
        """Return rows by contrast and universe, and each contrast's paired differences."""
        rows: list[tuple[tuple[int, int], dict[str, object]]] = []
        differences: list[list[FloatArray]] = [[] for _ in self.contrasts]
        universes = self.specifications.universes
        n_models = sum(u.model != "paired_t" for u in universes) * len(self._modes())
        n_parts = len(self.specifications.exclusion_sets) + n_models
        n_done = 0
        for made in self.specifications.exclusion_sets:
            own = [universe for universe in universes if universe.exclusions is made]
            scored = CellContrast.of(self.cells, made)
            for universe in own:
                if universe.model == "paired_t":
                    for number, test in self._cell_tests(scored, universe):
                        differences[number].append(test.differences)
                        row = _paired_row(universe, self.contrasts[number], test)
                        rows.append(((number, universe.number), row))
                    continue
                for mode, numbers in self._modes().items():
                    tests = self._mixed_tests(made, universe, mode, numbers)
                    for number, mixed in tests.items():
                        row = _mixed_row(universe, self.contrasts[number], mixed)
                        rows.append(((number, universe.number), row))
                    n_done += 1
                    self.on_progress(n_done, n_parts)
            n_done += 1
            self.on_progress(n_done, n_parts)
        return rows, differences

    def without_models(self) -> Iterator[Dropped]:
        """Name the contrasts that mixed models cannot have."""
        n_models = sum(u.model != "paired_t" for u in self.specifications.universes)
        for each in self.contrasts:
            if n_models and "mode" in self.cells.factors and each.cells.mode is None:
                reason = "grab and shout trials have mixed models of their own, never one together"
                yield Dropped(f"mixed models of {each.title}", n_models, reason)

    def _modes(self) -> dict[str, list[int]]:
        """Return the contrasts of each mode by number; the name is empty where there is one."""
        modes: dict[str, list[int]] = {}
        for number, each in enumerate(self.contrasts):
            if "mode" not in self.cells.factors:
                modes.setdefault("", []).append(number)
            elif each.cells.mode is not None:
                modes.setdefault(each.cells.mode, []).append(number)
        return modes

    def _cell_tests(
        self, scored: CellContrast, universe: Specification
    ) -> Iterator[tuple[int, CellTest]]:
        for number, each in enumerate(self.contrasts):
            yield (
                number,
                scored.test(universe.transform, each.cells, confidence=self.settings.confidence),
            )

    def _mixed_tests(
        self, made: ExclusionSet, universe: Specification, mode: str, numbers: list[int]
    ) -> dict[int, MixedTest]:
        rows = rt_rows(
            made.flagged,
            outcome=OUTCOMES[universe.transform],
            factors=self.cells.factors,
            mode=mode,
            items=universe.model == "lmm_items",
        )
        if universe.model == "lmm_items" and len(rows.y) and not rows.targets:
            # Else this would be the model without targets once more.
            return dict.fromkeys(numbers, MixedTest(None, None, "; ".join(rows.notes)))
        return mixed_tests(
            rows,
            {number: self.contrasts[number] for number in numbers},
            factors=self.cells.factors,
            cells=self.cells.cells,
            confidence=self.settings.confidence,
        )


def _choices(universe: Specification, each: PlannedContrast) -> dict[str, object]:
    return {
        "universe": universe.number,
        "contrast": each.contrast.name,
        "mode": each.cells.mode,
        **universe.codes,
        **{f"{name}_words": words for name, words in universe.words.items()},
        "as_set": universe.as_set,
        "primary": universe.primary,
        "scale": _SCALES[universe.transform],
    }


def _numbers(
    universe: Specification, estimates: tuple[float, float, float], t: float, n: int
) -> dict[str, object]:
    """Return estimate, ratio and effect, each with its interval."""
    estimate, low, high = estimates
    ratios = (nan, nan, nan)
    if universe.transform == "log":
        ratios = (exp(estimate), exp(low), exp(high))
    effect = t / sqrt(n) if n else nan
    # A t of 0 has an estimate of 0, which says nothing of the ruler.
    ruler = effect / estimate if estimate else nan
    return {
        **dict(zip(("estimate", "estimate_low", "estimate_high"), estimates, strict=True)),
        **dict(zip(("ratio", "ratio_low", "ratio_high"), ratios, strict=True)),
        "effect": effect,
        "effect_low": low * ruler,
        "effect_high": high * ruler,
        "t": t,
    }


def _paired_row(
    universe: Specification, each: PlannedContrast, found: CellTest
) -> dict[str, object]:
    test = found.test
    notes = [each.cells.note, test.note]
    return {
        **_choices(universe, each),
        **_numbers(universe, (test.mean, test.low, test.high), test.t, test.n),
        "df": test.df,
        "p": test.p,
        "n_participants": test.n,
        "n_left_out": len(found.left_out),
        "left_out": json.dumps(list(found.left_out), ensure_ascii=False),
        "n_trials": found.n_trials,
        **dict.fromkeys(("converged", "singular", "formula")),
        "note": "; ".join(note for note in notes if note),
    }


def _mixed_row(
    universe: Specification, each: PlannedContrast, found: MixedTest
) -> dict[str, object]:
    effect, fit = found.effect, found.fit
    row: dict[str, object] = _choices(universe, each)
    n = len(fit.rows.participants) if fit else 0
    if effect is None:
        row |= _numbers(universe, (nan, nan, nan), nan, 0) | {"df": nan, "p": nan}
    else:
        row |= _numbers(universe, (effect.estimate, effect.low, effect.high), effect.statistic, n)
        row |= {"df": effect.df, "p": effect.p}
    left_out = list(fit.rows.left_out) if fit else []
    notes = [each.cells.note, found.note]
    return row | {
        "n_participants": n,
        "n_left_out": len(left_out),
        "left_out": json.dumps(left_out, ensure_ascii=False),
        "n_trials": len(fit.rows.y) if fit else 0,
        "converged": fit.converged if fit else None,
        "singular": fit.singular if fit else None,
        "formula": fit.model.formula if fit else None,
        "note": "; ".join(note for note in notes if note),
    }
