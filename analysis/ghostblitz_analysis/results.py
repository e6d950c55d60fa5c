"""All tables of one analysis together, from flags to error totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.exclusions import audit, flag_exclusions
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.models import error_totals, group_cells, rule_contrasts
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.validation import Finding

__all__ = ["Analysis", "AnalysisResult", "analyze_trials"]

REPORT_FILE = "report.html"


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the trials of a data set come to.

    Attributes
    ----------
    settings : AnalysisSettings
        How it was done.
    factors : tuple of str
        What makes the cells.
    trials : DataFrame
        Every trial with its ``exclude_*`` flags.
    audit : DataFrame
        What each exclusion took, per participant and rule.
    participant_cells, group_cells, contrasts, error_totals : DataFrame
        From `complete_cells`, `group_cells`, `rule_contrasts` and `error_totals`.
    """

    settings: AnalysisSettings
    factors: tuple[str, ...]
    trials: pd.DataFrame
    audit: pd.DataFrame
    participant_cells: pd.DataFrame
    group_cells: pd.DataFrame
    contrasts: pd.DataFrame
    error_totals: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {
            "trials": self.trials,
            "audit": self.audit,
            "participant_cells": self.participant_cells,
            "group_cells": self.group_cells,
            "contrasts": self.contrasts,
            "error_kinds": self.error_totals,
        }

    @property
    def n_participants(self) -> int:
        """Participants with any trial, analysed or not."""
        return int(self.trials["participant_id"].nunique())

    @property
    def sources(self) -> tuple[str, ...]:
        """Who answered, in alphabetical order: human, imported, robot, simulated."""
        return tuple(sorted(self.trials["source"].dropna().unique()))


@dataclass(frozen=True, eq=False)
class AnalysisResult:
    """A data set, what was found in it, and what it came to.

    Attributes
    ----------
    dataset : Dataset
        As loaded.
    findings : tuple of Finding
        What validation found; nothing was repaired.
    analysis : Analysis
        All tables.
    analysed_utc : str
        When, in ISO 8601.
    versions : mapping of str to str
        Of Python, this program and the libraries that made the numbers.
    out : Path
        The folder with the report, tables and figures.
    """

    dataset: Dataset
    findings: tuple[Finding, ...]
    analysis: Analysis
    analysed_utc: str
    versions: Mapping[str, str]
    out: Path

    @property
    def report(self) -> Path:
        """The report to open in a browser."""
        return self.out / REPORT_FILE


def analyze_trials(trials: pd.DataFrame, settings: AnalysisSettings) -> Analysis:
    """Flag, measure and summarise a trial table.

    Raises
    ------
    DatasetError
        If no trial is of the phases to analyse, if modes would be pooled, or if a factor of
        the cells is missing in some trials.
    """
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    return Analysis(
        settings=settings,
        factors=factors,
        trials=flagged,
        audit=audit(flagged, settings),
        participant_cells=cells,
        group_cells=group_cells(cells, factors=factors, confidence=settings.confidence),
        contrasts=rule_contrasts(cells, factors=factors, confidence=settings.confidence),
        error_totals=error_totals(cells),
    )
