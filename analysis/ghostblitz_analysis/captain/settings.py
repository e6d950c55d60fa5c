"""How a data set of the captain's deck is analysed, so that a bare `analyze` knows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal

from pydantic import Field

from ghostblitz_analysis.exclusion_settings import FiniteSettings
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task.settings_files import load_settings

__all__ = ["CaptainAnalysisSettings", "load_analysis"]


class CaptainAnalysisSettings(FiniteSettings):
    """How a data set is analysed.

    Attributes
    ----------
    phases : tuple of str
        Turns of other phases are left out of every measure.
    confidence : float
        Level of all intervals.
    max_pick_rt_s, max_naming_rt_s : float
        Longer RTs are left out of the RT measures, and counted.
    """

    phases: tuple[Literal["practice", "test"], ...] = Field(default=("test",), min_length=1)
    confidence: float = Field(default=0.95, gt=0.5, le=0.9999)
    max_pick_rt_s: float = Field(default=30.0, gt=0)
    max_naming_rt_s: float = Field(default=5.0, gt=0)

    @property
    def sha256(self) -> str:
        """The hash of the settings, the same however the file is laid out."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def load_analysis(path: Path) -> CaptainAnalysisSettings:
    """Read the settings that a data set carries, or the defaults.

    Raises
    ------
    ConfigError
        If they are not valid.
    """
    folders = [path] if path.is_dir() else [path.parent, path.parent.parent]
    for folder in folders:
        if (folder / ANALYSIS_FILE).is_file():
            return load_settings(folder / ANALYSIS_FILE, CaptainAnalysisSettings)
    return CaptainAnalysisSettings()
