"""All inference on participants' cell scores together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ghostblitz_analysis.inference.anova_tables import anova_table
from ghostblitz_analysis.inference.planned_contrasts import contrast_table
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["InferenceResults", "inference_results"]


@dataclass(frozen=True, slots=True, eq=False)
class InferenceResults:
    """Tests on participants' cell scores.

    Attributes
    ----------
    planned_contrasts : DataFrame
        From `contrast_table`: one row per measure, contrast and mode.
    anova : DataFrame
        From `anova_table`: one row per measure, mode and effect.
    """

    planned_contrasts: pd.DataFrame
    anova: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {"planned_contrasts": self.planned_contrasts, "anova": self.anova}


def inference_results(
    participant_cells: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> InferenceResults:
    """Test the planned contrasts, and all effects by analysis of variance.

    Parameters
    ----------
    participant_cells : DataFrame, one row per participant and cell
        From `complete_cells`.
    factors : tuple of str
        What makes the cells.
    settings : AnalysisSettings
        Measures, contrasts, correction, alpha, confidence and the scale of the prior.

    Raises
    ------
    DatasetError
        If a stated contrast names a factor or level that the data do not hold, or if a
        participant has two rows for a cell.
    """
    return InferenceResults(
        contrast_table(participant_cells, factors=factors, settings=settings),
        anova_table(participant_cells, factors=factors, settings=settings),
    )
