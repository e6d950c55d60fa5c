"""Analysis settings: what a data set carries, so that a bare `analyze` uses them."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from pydantic import Field, model_validator

from ghostblitz_task.settings_files import Settings

__all__ = ["ANALYSIS_FILE", "AnalysisSettings", "BoundsSettings"]

ANALYSIS_FILE = "analysis.toml"

CellFactor = Literal["rule", "block_kind", "mode"]


class BoundsSettings(Settings):
    """Absolute bounds; a correct RT on a bound is kept.

    Attributes
    ----------
    min_rt_s, max_rt_s : float
        RTs below and above are flagged and left out of the RT measures.
    """

    min_rt_s: float = Field(default=0.2, ge=0)
    max_rt_s: float = Field(default=10.0, gt=0)

    @model_validator(mode="after")
    def _lowest_comes_first(self) -> BoundsSettings:
        if self.min_rt_s >= self.max_rt_s:
            raise ValueError("min_rt_s must be below max_rt_s")
        return self


class AnalysisSettings(Settings):
    """How a data set is analysed.

    Attributes
    ----------
    bounds : BoundsSettings
        Bounds on the RT of correct trials.
    skip_first_trials : int
        Trials at the start of each block that are left out of the RT measures.
    phases : tuple of str
        Trials of other phases are left out of everything.
    cells : tuple of str
        The factors whose combinations are the cells; those with one level in the data fall
        away by themselves. Grab and shout RTs are never pooled: without ``mode`` here a data
        set with both is refused.
    confidence : float
        Level of all intervals.
    """

    bounds: BoundsSettings = BoundsSettings()
    skip_first_trials: int = Field(default=0, ge=0)
    phases: tuple[Literal["practice", "test"], ...] = ("test",)
    cells: tuple[CellFactor, ...] = ("rule", "block_kind", "mode")
    confidence: float = Field(default=0.95, gt=0.5, lt=1)

    @property
    def sha256(self) -> str:
        """The hash of the settings, the same however the file is laid out."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()
