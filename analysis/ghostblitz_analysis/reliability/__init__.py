"""Reliability of participants' scores: within one session by split halves, and over sessions."""

from __future__ import annotations

from ghostblitz_analysis.reliability.agreement import (
    IntraclassCorrelation,
    MeasurementError,
    intraclass_correlations,
    measurement_error,
)
from ghostblitz_analysis.reliability.correlations import (
    SplitHalf,
    spearman_brown,
    summarise_splits,
)
from ghostblitz_analysis.reliability.results import ReliabilityResults, reliability_results
from ghostblitz_analysis.reliability.scores import (
    CellScore,
    CodedTrials,
    code_trials,
    difference_score,
    planned_scores,
    reported_scores,
)
from ghostblitz_analysis.reliability.sequence_costs import sequence_cost_scores
from ghostblitz_analysis.reliability.sessions import SessionAgreement, session_agreement
from ghostblitz_analysis.reliability.split_half import SplitHalfTables, split_half_reliability

__all__ = [
    "CellScore",
    "CodedTrials",
    "IntraclassCorrelation",
    "MeasurementError",
    "ReliabilityResults",
    "SessionAgreement",
    "SplitHalf",
    "SplitHalfTables",
    "code_trials",
    "difference_score",
    "intraclass_correlations",
    "measurement_error",
    "planned_scores",
    "reliability_results",
    "reported_scores",
    "sequence_cost_scores",
    "session_agreement",
    "spearman_brown",
    "split_half_reliability",
    "summarise_splits",
]
