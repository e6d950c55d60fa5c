"""Where a data set comes from: programs, seeds, settings and sums, for other programs."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ghostblitz_analysis.captain.settings import load_analysis
from ghostblitz_analysis.dataset import Dataset, RunInfo
from ghostblitz_analysis.export.parts.log_headers import log_headers
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.imported_tables import INFO_FILE
from ghostblitz_analysis.provenance import SettingsProvenance, settings_provenance
from ghostblitz_analysis.result_folders import package_versions
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.settings import ANALYSIS_FILE, AnalysisSettings
from ghostblitz_analysis.wording import source_note
from ghostblitz_task.schema import SCHEMA_VERSION
from ghostblitz_task.trial_log import file_sha256

__all__ = ["LAST_CHANGED", "languages_of", "provenance_json", "settings_stated"]

#: What `settings_provenance` says of the time of the file.
LAST_CHANGED = re.compile(
    rf"; {re.escape(ANALYSIS_FILE)} was last changed at [0-9T:+Z.-]+"
    r"(, and when the first session began is not known"
    r"|, (before|after) the first session began at [0-9T:+Z.-]+, which is a weak hint, since "
    r"copying changes the time of a file)?"
)

_RUN_FACTS = (
    "participant_id", "session", "run", "source", "participant_model", "status", "n_trials",
    "n_trials_planned", "started_utc", "seed", "settings_sha256", "plan_sha256", "plan_check",
    "resumes_file", "resumes_sha256", "analysis_file_sha256", "sha256",
)  # fmt: skip


def languages_of(headers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the languages that sessions were held in, in alphabetical order."""
    return tuple(sorted({str(header["language"]) for header in headers.values()}))


def provenance_json(source: ExportSource) -> str:
    """Return the record; the same text for the same data set and versions.

    Raises
    ------
    DatasetError, LogError, ConfigError
        If a file of the data set cannot be read any more.
    """
    headers = log_headers(source)
    record = {
        "format": "ghostblitz-provenance",
        "format_version": 1,
        "dataset": {
            "name": source.name,
            "title": source.title,
            "version": source.publication.version,
            "study_id": source.study_id,
            "sources": list(source.sources),
            "note": source_note(source.sources) or None,
            "n_rows": {table.name: len(table.frame) for table in (source.main, *source.others)},
        },
        "schema_version": SCHEMA_VERSION,
        "exported_with": dict(package_versions()),
        "recorded_with": _programs(headers),
        "languages": list(languages_of(headers)),
        "study_settings": {h["settings_sha256"]: h["settings"] for h in headers.values()},
        "apparatus": _distinct(headers, "apparatus"),
        "runs": _runs(source.runs, headers),
        "imported": _imported(source),
        "analysis": _analysis(source),
        "timing_self_tests": [
            test.to_json() for test in self_test_part(source.path, source.runs).tests
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def settings_stated(source: ExportSource) -> SettingsProvenance:
    """Say whether the analysis settings were stated before the data, as far as logs can tell.

    When the file was last changed is left out: copying changes it, so that it is no fact about
    the data set.
    """
    about = source.dataset or Dataset(
        path=source.path,
        name=source.name,
        sources=source.sources,
        trials=source.main.frame,
        # Not looked at: those of the captain's deck are of another kind.
        analysis=AnalysisSettings(),
        runs=source.runs,
    )
    stated = settings_provenance(about)
    reason = LAST_CHANGED.sub("", stated.reason)
    return dataclasses.replace(stated, reason=reason, file_modified_utc=None)


def _programs(headers: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions that wrote the logs; a log of an early version names none."""
    return _distinct(headers, "software")


def _distinct(headers: Mapping[str, Mapping[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return each value that headers have, and in how many logs."""
    counts: dict[str, int] = {}
    for header in headers.values():
        text = json.dumps(header.get(key), sort_keys=True)
        counts[text] = counts.get(text, 0) + 1
    return [{key: json.loads(text), "n_runs": n} for text, n in sorted(counts.items())]


def _runs(
    runs: Sequence[RunInfo], headers: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    by_run = {
        (h["participant_id"], h["session"], h["run"]): (name, h) for name, h in headers.items()
    }
    rows = []
    for run in runs:
        name, header = by_run[run.identity]
        facts = {fact: getattr(run, fact) for fact in _RUN_FACTS}
        software = header.get("software") or {}
        rows.append(
            {"file": name}
            | facts
            | {
                "others": list(run.others),
                "language": header["language"],
                "ghostblitz": software.get("ghostblitz"),
            }
        )
    return rows


def _imported(source: ExportSource) -> Any:
    """Return what the import wrote down; null for data that were not imported."""
    file = source.files.get(INFO_FILE)
    return None if file is None else json.loads(file.read_text(encoding="utf-8"))


def _analysis(source: ExportSource) -> dict[str, Any]:
    file = source.files.get(ANALYSIS_FILE)
    settings = source.dataset.analysis if source.dataset else load_analysis(source.path)
    before = dataclasses.asdict(settings_stated(source))
    del before["file_modified_utc"]
    return {
        "stated": file is not None,
        "file": None if file is None else ANALYSIS_FILE,
        "file_sha256": None if file is None else file_sha256(file),
        "text": None if file is None else file.read_text(encoding="utf-8-sig"),
        "settings": settings.model_dump(mode="json"),
        "settings_sha256": settings.sha256,
        "stated_before_data": before,
    }
