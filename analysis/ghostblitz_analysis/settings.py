"""Analysis settings: what a data set carries, so that a bare `analyze` uses them."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from math import isfinite
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from ghostblitz_analysis.exclusion_settings import ExclusionSettings, FiniteSettings
from ghostblitz_task.settings_files import Settings

__all__ = [
    "ANALYSIS_FILE",
    "AnalysisSettings",
    "BoundsSettings",
    "ContrastMeasure",
    "ContrastSettings",
    "Correction",
    "ErrorModelKind",
    "ModelSettings",
    "ReliabilitySettings",
    "RtModelKind",
]

ANALYSIS_FILE = "analysis.toml"

CellFactor = Literal["rule", "block_kind", "mode"]
ContrastMeasure = Literal["mean_log_rt", "mean_rt_s", "median_rt_s", "p_correct"]
Correction = Literal["none", "bonferroni", "holm", "fdr_bh", "fdr_by"]
RtModelKind = Literal["log_rt", "inverse_rt"]
ErrorModelKind = Literal["mixed_logit", "gee"]

_Named = TypeVar("_Named", bound=str)


def _each_once(names: tuple[_Named, ...]) -> tuple[_Named, ...]:
    """Refuse a name that stands twice: it would be computed, and corrected for, twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{name!r} stands there twice; name it once")
    return names


_EACH_ONCE = AfterValidator(_each_once)


class BoundsSettings(Settings):
    """Absolute bounds; a correct RT on a bound is kept.

    An upper bound of infinity keeps every RT, in alternatives that the analysis makes by itself;
    settings that are stated must have a finite one.

    Attributes
    ----------
    min_rt_s, max_rt_s : float
        RTs below and above are flagged and left out of the RT measures.
    """

    min_rt_s: float = Field(default=0.2, ge=0, allow_inf_nan=False)
    max_rt_s: float = Field(default=10.0, gt=0)

    @model_validator(mode="after")
    def _lowest_comes_first(self) -> BoundsSettings:
        if self.min_rt_s >= self.max_rt_s:
            raise ValueError("min_rt_s must be below max_rt_s")
        return self


def _finite(bounds: BoundsSettings) -> BoundsSettings:
    if not isfinite(bounds.max_rt_s):
        raise ValueError(f"max_rt_s must be a finite number, but it is {bounds.max_rt_s}")
    return bounds


class ContrastSettings(FiniteSettings):
    """One planned comparison of two levels of a factor, within participants.

    The difference is `level` minus `reference` in the cells that `within` names, averaged over
    those of the factors that it leaves open (never over modes); with `against`, the same
    difference in those cells is subtracted from it (an interaction).

    Attributes
    ----------
    name : str
        In words, for tables and sentences.
    of, level, reference : str
        The factor and its two levels.
    within, against : dict of str to str
        Factor to level.
    """

    name: str = Field(min_length=1)
    of: CellFactor = "rule"
    level: str
    reference: str
    within: dict[CellFactor, str] = Field(default_factory=dict)
    against: dict[CellFactor, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _compares_two_things(self) -> ContrastSettings:
        if self.level == self.reference:
            raise ValueError("level and reference are the same")
        if self.of in self.within or self.of in self.against:
            raise ValueError(f"{self.of} is what is compared, so it cannot be in within or against")
        if self.against and self.against.keys() != self.within.keys():
            raise ValueError("against must name the same factors as within")
        if self.against and self.against == self.within:
            raise ValueError("within and against are the same")
        return self

    @property
    def sides(self) -> tuple[frozenset[frozenset[tuple[str, str]]], ...]:
        """The cells that are added and those that are subtracted, however the contrast is put.

        An interaction is the same difference of differences whichever factor is named first.
        """
        level, reference = (self.of, self.level), (self.of, self.reference)
        within = frozenset[tuple[str, str]](self.within.items())
        added, subtracted = {within | {level}}, {within | {reference}}
        if self.against:
            against = frozenset[tuple[str, str]](self.against.items())
            added.add(against | {reference})
            subtracted.add(against | {level})
        return frozenset(added), frozenset(subtracted)


class ModelSettings(FiniteSettings):
    """Regression models over single trials.

    Attributes
    ----------
    rt : tuple of str
        Linear mixed models: of log RT, of -1/RT.
    errors : tuple of str
        Models of errors: mixed logit, generalised estimating equations.
    items : bool
        Whether targets are a second, crossed grouping factor of the mixed models of RT.
    """

    rt: Annotated[tuple[RtModelKind, ...], _EACH_ONCE] = ("log_rt", "inverse_rt")
    errors: Annotated[tuple[ErrorModelKind, ...], _EACH_ONCE] = ("mixed_logit",)
    items: bool = True


class ReliabilitySettings(FiniteSettings):
    """How the split-half reliability of difference scores is found.

    Attributes
    ----------
    n_splits : int
        Random splits; at most 100,000.
    seed : int
        Of the splits; the same seed gives the same figures.
    """

    n_splits: int = Field(default=5000, ge=1, le=100_000)
    seed: int = Field(default=20261130, ge=0)


class AnalysisSettings(FiniteSettings):
    """How a data set is analysed.

    Attributes
    ----------
    bounds : BoundsSettings
        Bounds on the RT of correct trials.
    skip_first_trials : int
        Trials at the start of each block that are left out of the RT measures.
    phases : tuple of str
        Trials of other phases are left out of everything; one phase at least.
    cells : tuple of str
        The factors whose combinations are the cells; those with one level in the data fall
        away by themselves. Grab and shout RTs are never pooled: without ``mode`` here a data
        set with both is refused.
    exclusions : tuple of ExclusionSettings
        Further exclusions, in the order in which they are made, each among the trials that no
        step before it took out. None by default: only the bounds trim.
    measures : tuple of str
        What the planned contrasts are made of.
    contrasts : tuple of ContrastSettings
        The planned contrasts; empty for every other rule against direct, in each cell of the
        other factors. No two may have one name, or compare the same, even in reverse.
    correction : str
        For multiple comparisons, over the planned contrasts of one measure.
    bayes_r_scale : float
        Scale of the Cauchy prior on standardised effects, for Bayes factors.
    models : ModelSettings
        Regression models over single trials.
    reliability : ReliabilitySettings
        Splits and their seed.
    alpha : float
        Below it a corrected p is called significant.
    confidence : float
        Level of all intervals; at most 0.9999.
    """

    bounds: Annotated[BoundsSettings, AfterValidator(_finite)] = BoundsSettings()
    skip_first_trials: int = Field(default=0, ge=0)
    phases: Annotated[tuple[Literal["practice", "test"], ...], _EACH_ONCE] = Field(
        default=("test",), min_length=1
    )
    cells: Annotated[tuple[CellFactor, ...], _EACH_ONCE] = ("rule", "block_kind", "mode")
    exclusions: tuple[ExclusionSettings, ...] = ()
    measures: Annotated[tuple[ContrastMeasure, ...], _EACH_ONCE] = (
        "mean_log_rt",
        "mean_rt_s",
        "p_correct",
    )
    contrasts: tuple[ContrastSettings, ...] = ()
    correction: Correction = "holm"
    bayes_r_scale: float = Field(default=0.7071067811865476, gt=0)
    models: ModelSettings = ModelSettings()
    reliability: ReliabilitySettings = ReliabilitySettings()
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    confidence: float = Field(default=0.95, gt=0.5, le=0.9999)

    @model_validator(mode="after")
    def _contrasts_differ(self) -> AnalysisSettings:
        for one, other in combinations(self.contrasts, 2):
            if one.name == other.name:
                raise ValueError(
                    f"contrasts: two are named {one.name!r}; give each a name of its own"
                )
            same = f"contrasts: {one.name!r} and {other.name!r} are the same comparison"
            if one.sides == other.sides:
                raise ValueError(f"{same}; leave one out")
            if one.sides == other.sides[::-1]:
                raise ValueError(f"{same}, one the other's reverse; leave one out")
        return self

    @property
    def sha256(self) -> str:
        """The hash of the settings, the same however the file is laid out."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
