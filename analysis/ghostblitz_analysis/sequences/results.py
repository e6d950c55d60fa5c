"""Sequence effects and practice of a data set together, under the names of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ghostblitz_analysis.practice import (
    group_slopes,
    group_stretches,
    participant_slopes,
    participant_stretches,
)
from ghostblitz_analysis.sequences.effects import group_effects, participant_effects
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["SequenceResults", "sequence_results"]


@dataclass(frozen=True, slots=True, eq=False)
class SequenceResults:
    """What trials owe to those before them, and to practice.

    Attributes
    ----------
    participant_effects, exclusions : DataFrame
        From `participant_effects`.
    effects : DataFrame
        From `group_effects`.
    participant_stretches, stretches : DataFrame
        From `ghostblitz_analysis.practice.participant_stretches` and `group_stretches`.
    participant_slopes, slopes : DataFrame
        From `ghostblitz_analysis.practice.participant_slopes` and `group_slopes`.
    """

    participant_effects: pd.DataFrame
    effects: pd.DataFrame
    exclusions: pd.DataFrame
    participant_stretches: pd.DataFrame
    stretches: pd.DataFrame
    participant_slopes: pd.DataFrame
    slopes: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {
            "sequence_participant_effects": self.participant_effects,
            "sequence_effects": self.effects,
            "sequence_exclusions": self.exclusions,
            "practice_participant_stretches": self.participant_stretches,
            "practice_stretches": self.stretches,
            "practice_participant_slopes": self.participant_slopes,
            "practice_slopes": self.slopes,
        }


def sequence_results(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> SequenceResults:
    """Measure sequence effects and practice, and average them over participants.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions` with the same settings.
    factors : tuple of str
        From `cell_factors`.
    settings : AnalysisSettings
        The level of all intervals, and the exclusions: post-error measures are made as if they
        left no trial after an error out.

    Raises
    ------
    DatasetError
        If no trial is analysed.
    """
    confidence = settings.confidence
    measured = participant_effects(flagged, factors=factors, settings=settings)
    stretches = participant_stretches(flagged, factors=factors)
    slopes = participant_slopes(flagged, factors=factors)
    return SequenceResults(
        participant_effects=measured.effects,
        effects=group_effects(measured, confidence=confidence),
        exclusions=measured.exclusions,
        participant_stretches=stretches,
        stretches=group_stretches(stretches, factors=factors, confidence=confidence),
        participant_slopes=slopes,
        slopes=group_slopes(slopes, factors=factors, confidence=confidence),
    )
