"""From a data set to a folder with report, tables and figures."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from ghostblitz_analysis.company_measures import CompanyResults
from ghostblitz_analysis.dataset import ImportFlow, load_dataset
from ghostblitz_analysis.exclusions import import_table, total_flow
from ghostblitz_analysis.figures import build_figures, save_figure
from ghostblitz_analysis.hat_measures import HatResults
from ghostblitz_analysis.paper import write_paper_files
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.report import render_report
from ghostblitz_analysis.result_folders import (
    ANALYSIS,
    check_out,
    package_versions,
    path_sha256,
    replacing,
)
from ghostblitz_analysis.results import (
    ANALYSIS_PARTS,
    REPORT_FILE,
    AnalysisResult,
    analyze_trials,
)
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.summary import (
    company_sentences,
    error_sentences,
    hat_sentences,
    rt_sentences,
    sample_sentences,
    summary_text,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.validation import Finding, validate_dataset

__all__ = ["analyze_dataset", "summary_text", "write_analysis"]

Progress = Callable[[str, int, int], None]

_STAGES = ("load", "check", *ANALYSIS_PARTS, "draw", "write")


def analyze_dataset(
    path: Path,
    *,
    out: Path,
    on_progress: Progress | None = None,
    now: datetime | None = None,
) -> AnalysisResult:
    """Load, check and analyse a data set, and write the report.

    Parameters
    ----------
    path : Path
        The data set.
    out : Path
        The folder to write: new, empty, or holding an earlier analysis of the same data set and
        nothing else; that is replaced as a whole, at the end.
    on_progress : callable, optional
        Called with what begins (``load``, ``check``, each of `ANALYSIS_PARTS`, ``draw``,
        ``write``), its number from 0 and how many there are; at the very end with ``done``.
    now : datetime, optional
        The time to write into the report; the current time by default.

    Raises
    ------
    DatasetError
        If the data cannot be read, contradict themselves or cannot be analysed, or if `out`
        holds anything else or cannot be written.
    LogError, ConfigError
        From loading: a damaged log, or settings that are not valid.
    """
    begin = _announce(on_progress)
    check_out(out, path, ANALYSIS)
    begin("load")
    dataset = load_dataset(path)
    begin("check")
    findings = tuple(validate_dataset(dataset))
    result = AnalysisResult(
        dataset=dataset,
        findings=findings,
        analysis=analyze_trials(dataset.trials, dataset.analysis, on_part=begin),
        analysed_utc=(now or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(),
        versions=package_versions(),
        out=out,
        provenance=settings_provenance(dataset),
    )
    write_analysis(result, on_progress=on_progress)
    if on_progress:
        on_progress("done", len(_STAGES), len(_STAGES))
    return result


def _announce(on_progress: Progress | None) -> Callable[[str], None]:
    """Return what tells that a stage begins."""

    def begin(stage: str) -> None:
        if on_progress:
            on_progress(stage, _STAGES.index(stage), len(_STAGES))

    return begin


def write_analysis(result: AnalysisResult, *, on_progress: Progress | None = None) -> None:
    """Write report, tables, figures and `analysis.json` into ``result.out``, all or nothing.

    Raises
    ------
    DatasetError
        If the folder holds anything but an earlier analysis of the same data set, or cannot be
        written.
    """
    begin = _announce(on_progress)
    with replacing(result.out, result.dataset.path, ANALYSIS) as folder:
        begin("draw")
        figures = build_figures(result.analysis)
        (folder / "figures").mkdir()
        drawn = {
            name: save_figure(figure, folder / "figures" / name) for name, figure in figures.items()
        }
        begin("write")
        (folder / "tables").mkdir()
        tables = {**result.analysis.tables, "findings": _findings_table(result.findings)}
        if result.dataset.import_flow is not None:
            tables["import_flow"] = import_table(result.dataset.import_flow)
        for name, table in tables.items():
            table.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")
        write_paper_files(result, folder)
        (folder / REPORT_FILE).write_text(render_report(result, drawn), encoding="utf-8")
        written = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
        record = _record(result) | {"files": sorted([*written, ANALYSIS.file])}
        text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / ANALYSIS.file).write_text(text + "\n", encoding="utf-8")


# --- what is written ------------------------------------------------------------------------


def _record(result: AnalysisResult) -> dict[str, Any]:
    """Return every headline number and where it comes from, for other programs."""
    analysis, dataset = result.analysis, result.dataset
    return {
        "format": ANALYSIS.format,
        "format_version": ANALYSIS.version,
        "analysed_utc": result.analysed_utc,
        "dataset": {
            "name": dataset.name,
            "path_sha256": path_sha256(dataset.path),
            "sources": list(analysis.sources),
            "n_participants": analysis.n_participants,
            "n_trials": len(analysis.trials),
            "n_runs": len(dataset.runs),
            "runs_sha256": {run.file: run.sha256 for run in dataset.runs},
            "notes": list(dataset.notes),
            "timing_self_tests": [
                test.to_json() for test in self_test_part(dataset.path, dataset.runs).tests
            ],
        },
        "settings": analysis.settings.model_dump(mode="json"),
        "settings_sha256": analysis.settings.sha256,
        "settings_provenance": dataclasses.asdict(result.provenance),
        "versions": dict(result.versions),
        "in_words": [
            *sample_sentences(analysis),
            *rt_sentences(analysis),
            *error_sentences(analysis),
            *hat_sentences(analysis),
            *company_sentences(analysis),
        ],
        "factors": list(analysis.factors),
        "group_cells": rows_of(analysis.group_cells),
        "contrasts": _contrasts_record(analysis.contrasts),
        "planned_contrasts": _rows_or_none(analysis.inference, "planned_contrasts"),
        "anova": _rows_or_none(analysis.inference, "anova"),
        "sequence_effects": _rows_or_none(analysis.sequences, "sequence_effects"),
        "reliability": _rows_or_none(analysis.reliability, "reliability_split_half"),
        "model_fits": _rows_or_none(analysis.regression, "model_fits"),
        "model_fixed_effects": _rows_or_none(analysis.regression, "model_fixed_effects"),
        "model_random_effects": _rows_or_none(analysis.regression, "model_random_effects"),
        "sensitivity": None if analysis.sensitivity is None else rows_of(analysis.sensitivity),
        "error_kinds": rows_of(analysis.error_totals),
        "error_kinds_by_cell": rows_of(analysis.error_cells),
        "rule_misses": None if analysis.rule_misses is None else rows_of(analysis.rule_misses),
        "hat": _hat_record(analysis.hat),
        "company": _company_record(analysis.company),
        "import_flow": _import_record(dataset.import_flow),
        "exclusions": rows_of(total_flow(analysis.audit)),
        "findings": rows_of(_findings_table(result.findings)),
    }


def _contrasts_record(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [row | {"left_out": json.loads(row["left_out"])} for row in rows_of(table)]


class _HasTables(Protocol):
    @property
    def tables(self) -> Mapping[str, pd.DataFrame]: ...


def _rows_or_none(part: _HasTables | None, name: str) -> list[dict[str, Any]] | None:
    return None if part is None else rows_of(part.tables[name])


def _hat_record(hat: HatResults | None) -> dict[str, Any] | None:
    if hat is None:
        return None
    return {
        "group_cells": rows_of(hat.group_cells),
        "costs": _contrasts_record(hat.costs),
        "error_kinds": rows_of(hat.error_totals),
        "lags": None if hat.lags is None else rows_of(hat.lags),
    }


def _company_record(company: CompanyResults | None) -> dict[str, Any] | None:
    if company is None:
        return None
    return {
        "rival_kinds": list(company.rival_kinds),
        "participants": rows_of(company.participants),
        "rules": rows_of(company.rules),
        "rival": rows_of(company.contrasts),
    }


def _import_record(flow: ImportFlow | None) -> dict[str, Any] | None:
    if flow is None:
        return None
    return {
        "n_rows_read": flow.n_rows_read,
        "dropped": [{"reason": reason, "n_rows": n} for reason, n in flow.dropped],
        "incomplete": [{"participant_id": p, "n_trials": n} for p, n in flow.incomplete],
    }


def _findings_table(findings: tuple[Finding, ...]) -> pd.DataFrame:
    columns = ["severity", "code", "where", "message"]
    rows = [[getattr(finding, name) for name in columns] for finding in findings]
    return pd.DataFrame(rows, columns=columns, dtype="string")
