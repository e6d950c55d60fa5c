"""The universes of a grid: which combinations are made, and which are dropped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from ghostblitz_analysis.multiverse.exclusion_sets import (
    DECISIONS,
    Dropped,
    ExclusionSet,
    exclusion_sets,
    options_of,
)
from ghostblitz_analysis.multiverse.grid import (
    AS_SET,
    LeaveOut,
    Model,
    MultiverseGrid,
    Transform,
)
from ghostblitz_analysis.settings import AnalysisSettings, ContrastMeasure, RtModelKind
from ghostblitz_task.errors import ConfigError

__all__ = [
    "MODEL_WORDS",
    "OUTCOMES",
    "TRANSFORM_WORDS",
    "Specification",
    "Specifications",
    "specify",
]

TRANSFORM_WORDS: Mapping[Transform, str] = MappingProxyType(
    {"log": "log RT", "seconds": "RT", "inverse": "-1/RT", "median": "median RT"}
)
MODEL_WORDS: Mapping[Model, str] = MappingProxyType(
    {
        "paired_t": "paired t test of cells",
        "lmm": "mixed model, participants",
        "lmm_items": "mixed model, participants and targets",
    }
)
#: The transforms that the mixed models can have.
OUTCOMES: Mapping[Transform, RtModelKind] = MappingProxyType(
    {"log": "log_rt", "inverse": "inverse_rt"}
)
_MEASURES: Mapping[ContrastMeasure, Transform] = MappingProxyType(
    {"mean_log_rt": "log", "mean_rt_s": "seconds", "median_rt_s": "median"}
)
_IMPOSSIBLE: Mapping[Transform, str] = MappingProxyType(
    {
        "seconds": "mixed models assume normal residuals, from which raw RTs are too far",
        "median": "a median is of a cell, and mixed models are of single trials",
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Specification:
    """One universe.

    Attributes
    ----------
    number : int
        From 1, in the order of the grid.
    exclusions : ExclusionSet
    transform, model : str
        As the grid names them.
    as_set : bool
        Whether `ghostblitz analyze` makes this very analysis.
    primary : bool
        Whether it is the first of these: of the settings' measures of RT the first that the grid
        has, by a paired t test.
    """

    number: int
    exclusions: ExclusionSet
    transform: Transform
    model: Model
    as_set: bool
    primary: bool

    @property
    def codes(self) -> dict[str, str]:
        """All choices by decision, as the grid names them."""
        return {**self.exclusions.codes, "transform": self.transform, "model": self.model}

    @property
    def words(self) -> dict[str, str]:
        """All choices by decision, in words."""
        options = {name: option.words for name, option in self.exclusions.options.items()}
        return {
            **options,
            "transform": TRANSFORM_WORDS[self.transform],
            "model": MODEL_WORDS[self.model],
        }


@dataclass(frozen=True, eq=False)
class Specifications:
    """All universes of a grid.

    Attributes
    ----------
    exclusion_sets : tuple of ExclusionSet
        Those that leave different trials; the first is as set.
    universes : tuple of Specification
        In the order of the grid.
    dropped : tuple of Dropped
        Combinations that are not made.
    """

    exclusion_sets: tuple[ExclusionSet, ...]
    universes: tuple[Specification, ...]
    dropped: tuple[Dropped, ...]


def specify(
    trials: pd.DataFrame, grid: MultiverseGrid, settings: AnalysisSettings
) -> Specifications:
    """Cross all decisions, and say what falls away.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema.
    grid : MultiverseGrid
    settings : AnalysisSettings
        The data set's own.

    Raises
    ------
    ConfigError
        If the grid leaves out the analysis as set, or has no universe.
    """
    sets, repeated = exclusion_sets(trials, grid, settings)
    _, same_options = options_of(grid, settings)
    kinds, dropped = _kinds(grid, sets)
    dropped = [*same_options, *dropped]
    for made, twin in repeated:
        n = sum(model == "paired_t" or _is_fitted(made, grid) for _, model in kinds)
        dropped.append(Dropped(made.words, n, f"leaves the same trials as {twin.words}"))
    primary = _primary_transform(grid, settings)
    universes: list[Specification] = []
    n_left_out: Counter[int] = Counter()
    n_not_fitted = 0
    for made in sets:
        for transform, model in kinds:
            if model != "paired_t" and not _is_fitted(made, grid):
                n_not_fitted += 1
                continue
            universe = Specification(
                number=len(universes) + 1,
                exclusions=made,
                transform=transform,
                model=model,
                as_set=made.as_set and _analysed(transform, model, settings),
                primary=made.as_set and model == "paired_t" and transform == primary,
            )
            rule = _left_out_by(universe, grid.leave_out)
            if rule is None:
                universes.append(universe)
                continue
            if universe.primary:
                raise ConfigError(
                    f"leave_out.{rule} of the grid leaves out the analysis as the data set's "
                    "settings have it, with which all others are compared; state it more narrowly"
                )
            n_left_out[rule] += 1
    if not universes:
        raise ConfigError("the grid has no universe that can be made; add to its models")
    if n_not_fitted:
        over = {"trimming": "trimming changed alone", "as_set": "no change"}
        dropped.append(
            Dropped(
                "mixed models with other exclusions",
                n_not_fitted,
                f"the grid has mixed models for exclusions with {over[grid.mixed_models_over]}",
            )
        )
    dropped += [
        Dropped(_options_words(rule), n_left_out[number], f"the grid says: {rule.reason}")
        for number, rule in enumerate(grid.leave_out)
    ]
    return Specifications(sets, tuple(universes), tuple(dropped))


def _kinds(
    grid: MultiverseGrid, sets: Sequence[ExclusionSet]
) -> tuple[list[tuple[Transform, Model]], list[Dropped]]:
    """Cross transforms and models, and say which pairs there cannot be."""
    kinds: list[tuple[Transform, Model]] = []
    dropped = []
    as_set = sets[0]
    few_targets = as_set.flagged.loc[as_set.usable, "target"].nunique() < 2
    for transform in dict.fromkeys(grid.transforms):
        for model in dict.fromkeys(grid.models):
            reason = ""
            if model != "paired_t" and transform not in OUTCOMES:
                reason = _IMPOSSIBLE[transform]
            elif model == "lmm_items" and few_targets:
                reason = "there are not two targets, so they are no grouping factor"
            if reason:
                what = f"{MODEL_WORDS[model]}, of {TRANSFORM_WORDS[transform]}"
                dropped.append(Dropped(what, len(sets), reason))
            else:
                kinds.append((transform, model))
    return kinds, dropped


def _is_fitted(made: ExclusionSet, grid: MultiverseGrid) -> bool:
    """Say whether the grid wants mixed models with these exclusions."""
    changed = {name for name, code in made.codes.items() if code != AS_SET}
    allowed = {"all": set(DECISIONS), "trimming": {"trimming"}, "as_set": set()}
    return changed <= allowed[grid.mixed_models_over]


def _primary_transform(grid: MultiverseGrid, settings: AnalysisSettings) -> Transform | None:
    measured = (_MEASURES[m] for m in settings.measures if m in _MEASURES)
    return next((transform for transform in measured if transform in grid.transforms), None)


def _analysed(transform: Transform, model: Model, settings: AnalysisSettings) -> bool:
    """Say whether `analyze` makes this test with its settings."""
    if model == "paired_t":
        return transform in {_MEASURES[m] for m in settings.measures if m in _MEASURES}
    return OUTCOMES.get(transform) in settings.models.rt and settings.models.items == (
        model == "lmm_items"
    )


def _left_out_by(universe: Specification, rules: Sequence[LeaveOut]) -> int | None:
    codes = universe.codes
    for number, rule in enumerate(rules):
        if all(codes[name] == code for name, code in rule.options.items()):
            return number
    return None


def _options_words(rule: LeaveOut) -> str:
    return ", ".join(f"{name} = {code}" for name, code in rule.options.items())
