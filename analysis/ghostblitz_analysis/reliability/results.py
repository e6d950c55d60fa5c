"""All tables of reliability together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ghostblitz_analysis.reliability.scores import code_trials, reported_scores
from ghostblitz_analysis.reliability.sequence_costs import sequence_cost_scores
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
        From `split_half_reliability`: the scores of `reported_scores`, then those of
        `sequence_cost_scores`.
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
    """Find the reliability of every score that an analysis reports of its cells and sequences.

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
        If a planned contrast names a factor or level that the data do not hold.
    """
    coded = code_trials(flagged, factors=factors)
    if coded.trials.empty:
        return None
    of_cells = (coded, reported_scores(coded, settings.contrasts))
    split_half, icc, error, left_out = [], [], [], []
    for of_what, scores in (of_cells, *sequence_cost_scores(flagged, factors=factors)):
        halves = split_half_reliability(of_what, scores=scores, settings=settings)
        split_half.append(halves.reliability)
        left_out.append(halves.left_out.assign(analysis="split_half"))
        sessions = session_agreement(of_what, scores=scores, settings=settings)
        if sessions is not None:
            icc.append(sessions.icc)
            error.append(sessions.measurement_error)
            left_out.append(sessions.left_out.assign(analysis="sessions"))
    lost = _below_each_other(left_out)
    lost.insert(0, "analysis", lost.pop("analysis").astype("string"))
    return ReliabilityResults(
        split_half=_below_each_other(split_half),
        left_out=lost,
        icc=_below_each_other(icc) if icc else None,
        measurement_error=_below_each_other(error) if error else None,
    )


def _below_each_other(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join tables in the columns and types of the first, missing where another has none."""
    first, *others = tables
    columns = list(first.columns)
    like_first = [table.reindex(columns=columns).astype(first.dtypes) for table in others]
    return pd.concat([first, *like_first], ignore_index=True)
