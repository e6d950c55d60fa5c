"""All tables of one analysis together, from flags to error totals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.company_measures import CompanyResults, company_results
from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.distributions import DistributionResults, distribution_results
from ghostblitz_analysis.exclusions import audit, flag_exclusions, participants_left_out
from ghostblitz_analysis.hat_measures import HatResults, hat_results
from ghostblitz_analysis.inference import InferenceResults, inference_results
from ghostblitz_analysis.measures import (
    cell_factors,
    cell_measures,
    chance_shares,
    complete_cells,
)
from ghostblitz_analysis.models import error_totals, group_cells, rule_contrasts
from ghostblitz_analysis.provenance import SettingsProvenance
from ghostblitz_analysis.regression import RegressionResults, regression_results
from ghostblitz_analysis.reliability import ReliabilityResults, reliability_results
from ghostblitz_analysis.rule_misses import rule_misses
from ghostblitz_analysis.sensitivity import sensitivity_table
from ghostblitz_analysis.sequences import SequenceResults, sequence_results
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.speed_accuracy import SpeedAccuracyResults, speed_accuracy_results
from ghostblitz_analysis.validation import Finding

__all__ = ["ANALYSIS_PARTS", "Analysis", "AnalysisResult", "analyze_trials"]

#: What an analysis is made of, in order; from the second on, names of fields of `Analysis`.
ANALYSIS_PARTS = (
    "cells",
    "sensitivity",
    "inference",
    "distributions",
    "speed_accuracy",
    "sequences",
    "reliability",
    "regression",
)

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
        From `complete_cells`, `group_cells`, `rule_contrasts` and `error_totals`; the last per
        rule.
    error_groups : DataFrame
        The same per rule and mode where there are two modes, as the report shows errors.
    error_cells : DataFrame
        The same per cell.
    rule_misses : DataFrame or None
        From `rule_misses`; None where only direct and exclusion were played.
    hat : HatResults or None
        From `hat_results`; None where there is no hat.
    company : CompanyResults or None
        From `company_results`; None where nobody played for cards.
    participants_left_out : DataFrame or None
        From `participants_left_out`: who missed which limit.
    sensitivity : DataFrame or None
        From `sensitivity_table`: the rules compared under other exclusions.
    inference, distributions, speed_accuracy, sequences, reliability, regression
        From `inference_results` and its like; None where the data give none.
    """

    settings: AnalysisSettings
    factors: tuple[str, ...]
    trials: pd.DataFrame
    audit: pd.DataFrame
    participant_cells: pd.DataFrame
    group_cells: pd.DataFrame
    contrasts: pd.DataFrame
    error_totals: pd.DataFrame
    error_groups: pd.DataFrame
    error_cells: pd.DataFrame
    rule_misses: pd.DataFrame | None = None
    hat: HatResults | None = None
    company: CompanyResults | None = None
    participants_left_out: pd.DataFrame | None = None
    sensitivity: pd.DataFrame | None = None
    inference: InferenceResults | None = None
    distributions: DistributionResults | None = None
    speed_accuracy: SpeedAccuracyResults | None = None
    sequences: SequenceResults | None = None
    reliability: ReliabilityResults | None = None
    regression: RegressionResults | None = None

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files.

        ``error_kinds`` has one row per cell and kind (``row_of`` is ``cell``) and then the totals
        per rule (``row_of`` is ``rule``; other factors are missing). Those of results say in
        ``source`` who answered: one level of the schema's, or ``mixed``. ``rule_misses`` and those
        whose names begin with ``hat_`` or ``company_`` exist only where there are such rules, a
        hat, or cards that were played for; those of the other parts as each says.
        """
        people = self.trials.groupby("participant_id")["source"].agg(_source)
        source = _source(self.trials["source"])

        def told(table: pd.DataFrame) -> pd.DataFrame:
            if "participant_id" in table.columns:
                own = table["participant_id"].map(people).astype("string")
                return table.assign(source=own)
            return table.assign(source=source)

        errors = pd.concat(
            [self.error_cells.assign(row_of="cell"), self.error_totals.assign(row_of="rule")],
            ignore_index=True,
        )
        errors.insert(0, "row_of", errors.pop("row_of").astype("string"))
        results = {
            "participant_cells": self.participant_cells,
            "group_cells": self.group_cells,
            "contrasts": self.contrasts,
            "error_kinds": errors,
        }
        if self.rule_misses is not None:
            results["rule_misses"] = self.rule_misses
        if self.sensitivity is not None:
            results["sensitivity"] = self.sensitivity
        parts = (
            self.hat,
            self.company,
            self.inference,
            self.distributions,
            self.speed_accuracy,
            self.sequences,
            self.reliability,
            self.regression,
        )
        for part in parts:
            if part is not None:
                results |= part.tables
        told_results = {name: told(table) for name, table in results.items()}
        exclusions = {"audit": self.audit}
        if self.participants_left_out is not None:
            exclusions["participants_left_out"] = self.participants_left_out
        return {"trials": self.trials, **exclusions, **told_results}

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
    provenance : SettingsProvenance
        Whether the analysis settings stood fast before there were data.
    """

    dataset: Dataset
    findings: tuple[Finding, ...]
    analysis: Analysis
    analysed_utc: str
    versions: Mapping[str, str]
    out: Path
    provenance: SettingsProvenance

    @property
    def report(self) -> Path:
        """The report to open in a browser."""
        return self.out / REPORT_FILE


def analyze_trials(
    trials: pd.DataFrame,
    settings: AnalysisSettings,
    *,
    parts: Collection[str] = ANALYSIS_PARTS,
    on_part: Callable[[str], object] = lambda _part: None,
) -> Analysis:
    """Flag, measure, summarise and test a trial table.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema.
    settings : AnalysisSettings
        How it is done.
    parts : collection of str
        Those of `ANALYSIS_PARTS` that are wanted, all by default; the cells are always made.
    on_part : callable
        Called with each part as it begins.

    Raises
    ------
    DatasetError
        If no trial is of the phases to analyse, if modes would be pooled, or if a factor of
        the cells is missing in some trials.
    """
    on_part("cells")
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)

    def errors_by(*by: str) -> pd.DataFrame:
        return error_totals(cells, chance_shares(flagged, by=by), by=by)

    by_rule = Analysis(
        settings=settings,
        factors=factors,
        trials=flagged,
        audit=audit(flagged, settings),
        participant_cells=cells,
        group_cells=group_cells(cells, factors=factors, confidence=settings.confidence),
        contrasts=rule_contrasts(cells, factors=factors, confidence=settings.confidence),
        error_totals=errors_by("rule"),
        error_groups=errors_by(*(f for f in factors if f in ("rule", "mode"))),
        error_cells=errors_by(*factors),
        rule_misses=rule_misses(cells, factors=factors, confidence=settings.confidence),
        hat=hat_results(flagged, confidence=settings.confidence),
        company=company_results(flagged, confidence=settings.confidence),
        participants_left_out=participants_left_out(flagged, settings),
    )
    makers: Mapping[str, Callable[[], Any]] = {
        "sensitivity": lambda: sensitivity_table(trials, settings),
        "inference": lambda: inference_results(cells, factors=factors, settings=settings),
        "distributions": lambda: distribution_results(flagged, factors=factors, settings=settings),
        "speed_accuracy": lambda: speed_accuracy_results(
            flagged, factors=factors, settings=settings
        ),
        "sequences": lambda: sequence_results(flagged, factors=factors, settings=settings),
        "reliability": lambda: reliability_results(flagged, factors=factors, settings=settings),
        "regression": lambda: regression_results(flagged, factors=factors, settings=settings),
    }
    made = {}
    for part in (part for part in makers if part in parts):
        on_part(part)
        made[part] = makers[part]()
    return replace(by_rule, **made)


def _source(sources: pd.Series) -> str:
    found = sources.dropna().unique()
    return str(found[0]) if len(found) == 1 else "mixed"
