"""All tables of reliability together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ghostblitz_analysis.reliability.scores import code_trials, reported_scores
from ghostblitz_analysis.reliability.sessions import session_agreement
from ghostblitz_analysis.reliability.split_half import split_half_reliability
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = ["ReliabilityResults", "reliability_results"]


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityResults:
    """How reliable the reported scores are.

    Attributes
    ----------
    split_half : DataFrame, one row per score and measure
        From `split_half_reliability`.
    left_out : DataFrame, one row per analysis, participant, score and measure
        Who is left out of what, and why: ``analysis`` (``split_half`` or ``sessions``),
        ``participant_id``, ``kind``, ``score``, the factors, ``measure`` and ``reason``.
    icc, measurement_error : DataFrame or None
        From `session_agreement`; None where no participant has two sessions.
    """

    split_half: pd.DataFrame
    left_out: pd.DataFrame
    icc: pd.DataFrame | None = None
    measurement_error: pd.DataFrame | None = None

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files; those of sessions where there are any."""
        tables = {
            "reliability_split_half": self.split_half,
            "reliability_left_out": self.left_out,
        }
        if self.icc is not None:
            tables["reliability_icc"] = self.icc
        if self.measurement_error is not None:
            tables["reliability_measurement_error"] = self.measurement_error
        return tables


def reliability_results(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> ReliabilityResults | None:
    """Find the reliability of every score that an analysis reports of its cells.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`; it is not changed.
    factors : tuple of str
        From `cell_factors`.
    settings : AnalysisSettings
        Measures, planned contrasts, splits and their seed, and level of the intervals.

    Returns
    -------
    ReliabilityResults or None
        None where no trial is analysed.

    Raises
    ------
    DatasetError
        If the data hold no cells that a planned contrast compares.
    """
    coded = code_trials(flagged, factors=factors)
    if not coded.participants:
        return None
    scores = reported_scores(coded, settings.contrasts)
    split_half = split_half_reliability(coded, scores=scores, settings=settings)
    sessions = session_agreement(coded, scores=scores, settings=settings)
    lost = {"split_half": split_half.left_out}
    if sessions is not None:
        lost["sessions"] = sessions.left_out
    left_out = pd.concat(
        [table.assign(analysis=name) for name, table in lost.items()], ignore_index=True
    )
    left_out.insert(0, "analysis", left_out.pop("analysis").astype("string"))
    return ReliabilityResults(
        split_half=split_half.reliability,
        left_out=left_out,
        icc=None if sessions is None else sessions.icc,
        measurement_error=None if sessions is None else sessions.measurement_error,
    )
