"""From a data set of the captain's deck to a folder with report, tables and figures."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.captain.dataset import load_captain_dataset
from ghostblitz_analysis.captain.figures import build_captain_figures
from ghostblitz_analysis.captain.measures import measure
from ghostblitz_analysis.captain.report import (
    CaptainResult,
    captain_sentences,
    render_captain_report,
)
from ghostblitz_analysis.captain.settings import load_analysis
from ghostblitz_analysis.figures import save_figure
from ghostblitz_analysis.result_folders import (
    ANALYSIS,
    check_out,
    package_versions,
    path_sha256,
    replacing,
)
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import count_of, source_note
from ghostblitz_task.errors import DatasetError

__all__ = ["analyze_captain", "captain_summary"]


def analyze_captain(path: Path, *, out: Path, now: datetime | None = None) -> CaptainResult:
    """Load, check and analyse a data set, and write the report, all or nothing.

    Parameters
    ----------
    path : Path
        A folder of logs, or one log.
    out : Path
        New, empty, or holding an earlier analysis of the same data set, which is replaced.
    now : datetime, optional
        The time to write into the report.

    Raises
    ------
    DatasetError, LogError, ConfigError
        As in loading; also if `out` holds anything else or cannot be written.
    """
    check_out(out, path, ANALYSIS)
    dataset = load_captain_dataset(path)
    settings = load_analysis(path)
    measures = measure(dataset.turns, dataset.games, dataset.changes, settings)
    if not measures.n_turns:
        phases = " or ".join(settings.phases)
        of_phase = int(dataset.turns["phase"].isin(settings.phases).sum())
        raise DatasetError(
            f"{path} holds no {phases} turns to measure: of its "
            f"{count_of(len(dataset.turns), 'turn')}, {of_phase} are of phase {phases}, and none "
            "of these was finished with a pick that answers the die; phases in analysis.toml says "
            "which are used"
        )
    result = CaptainResult(
        dataset=dataset,
        settings=settings,
        measures=measures,
        analysed_utc=(now or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(),
        versions=package_versions(),
        out=out,
    )
    with replacing(out, path, ANALYSIS) as folder:
        _write(result, folder)
    return result


def _write(result: CaptainResult, folder: Path) -> None:
    figures = build_captain_figures(result.measures, result.dataset.sources)
    (folder / "figures").mkdir()
    drawn = {
        name: save_figure(figure, folder / "figures" / name) for name, figure in figures.items()
    }
    (folder / "tables").mkdir()
    for name, table in _tables(result).items():
        table.to_csv(folder / "tables" / f"{name}.csv", index=False, lineterminator="\n")
    (folder / "report.html").write_text(render_captain_report(result, drawn), encoding="utf-8")
    written = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    record = _record(result) | {"files": sorted([*written, ANALYSIS.file])}
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / ANALYSIS.file).write_text(text + "\n", encoding="utf-8")


def _tables(result: CaptainResult) -> dict[str, pd.DataFrame]:
    """Return the tables; those of results say in ``source`` whose data they are."""
    sources = result.dataset.sources
    source = sources[0] if len(sources) == 1 else "mixed"
    told = {n: table.assign(source=source) for n, table in result.measures.tables.items()}
    return {"turns": result.dataset.turns, "games": result.dataset.games, **told}


def _record(result: CaptainResult) -> dict[str, Any]:
    dataset, measures = result.dataset, result.measures
    return {
        "format": ANALYSIS.format,
        "format_version": ANALYSIS.version,
        "game": "captain",
        "analysed_utc": result.analysed_utc,
        "dataset": {
            "name": dataset.name,
            "path_sha256": path_sha256(dataset.path),
            "sources": list(dataset.sources),
            "n_participants": dataset.n_participants,
            "n_games": len(dataset.games),
            "n_turns": len(dataset.turns),
            "n_runs": len(dataset.runs),
            "runs_sha256": {run.file: run.sha256 for run in dataset.runs},
            "notes": list(dataset.notes),
            "timing_self_tests": [
                test.to_json() for test in self_test_part(dataset.path, dataset.runs).tests
            ],
        },
        "settings": result.settings.model_dump(mode="json"),
        "settings_sha256": result.settings.sha256,
        "versions": dict(result.versions),
        "in_words": captain_sentences(dataset, measures),
        "n_turns_measured": measures.n_turns,
        "n_censored": measures.n_censored,
        "n_claims": measures.n_claims,
        "n_early_pick_rts": measures.n_early_pick_rts,
        "n_early_naming_rts": measures.n_early_naming_rts,
        "n_long_rts": measures.n_long_rts,
        **{name: rows_of(t) for name, t in measures.tables.items() if "participant" not in name},
    }


def captain_summary(result: CaptainResult) -> str:
    """Return what the command prints."""
    dataset = result.dataset
    head = (
        f"{dataset.name}: {count_of(dataset.n_participants, 'participant')}, "
        f"{count_of(len(dataset.games), 'game')}, {count_of(len(dataset.turns), 'turn')}"
    )
    note = source_note(dataset.sources)
    head += f"  ({note.upper()})" if note else ""
    notes = [f"  {text}" for text in dataset.notes[:10]]
    return "\n\n".join(
        block
        for block in (
            head,
            "\n".join(captain_sentences(dataset, result.measures)),
            "\n".join(notes),
            f"Report: {result.report}",
        )
        if block
    )
