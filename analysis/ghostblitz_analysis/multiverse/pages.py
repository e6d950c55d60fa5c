"""From a data set and a grid to the folder of a multiverse: page, tables, figures, record."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from ghostblitz_analysis.card_examples import inline_svg
from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.figures import save_figure
from ghostblitz_analysis.multiverse.curve_plot import curve_figure
from ghostblitz_analysis.multiverse.grid import MultiverseGrid, grid_toml
from ghostblitz_analysis.multiverse.runs import Multiverse, run_multiverse
from ghostblitz_analysis.multiverse.summaries import (
    CHOICE_NAMES,
    NOT_INDEPENDENT,
    contrast_sentences,
    dropped_table,
    option_table,
    summary_table,
)
from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.provenance import SettingsProvenance, settings_provenance
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.result_folders import (
    MULTIVERSE,
    check_out,
    package_versions,
    path_sha256,
    replacing,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_analysis.wording import MISSING, number, percent, source_note

__all__ = ["PAGE_FILE", "MultiverseResult", "multiverse_of_dataset", "multiverse_text"]

PAGE_FILE = "multiverse.html"
_MAX_ROWS = 40
_MODEL_PACKAGES = ("statsmodels", "mixedlm")


@dataclass(frozen=True, eq=False)
class MultiverseResult:
    """A data set, its multiverse, and where it comes from.

    Attributes
    ----------
    dataset : Dataset
    multiverse : Multiverse
    n_errors : int
        Errors that the checks of the data found; nothing was repaired.
    provenance : SettingsProvenance
        Of the analysis settings.
    made_utc : str
        When, in ISO 8601.
    versions : mapping of str to str
    out : Path
    """

    dataset: Dataset
    multiverse: Multiverse
    n_errors: int
    provenance: SettingsProvenance
    made_utc: str
    versions: Mapping[str, str]
    out: Path

    @property
    def page(self) -> Path:
        """The page to open in a browser."""
        return self.out / PAGE_FILE


def multiverse_of_dataset(
    path: Path,
    *,
    out: Path,
    grid: MultiverseGrid,
    on_progress: Callable[[int, int], None] | None = None,
    now: datetime | None = None,
) -> MultiverseResult:
    """Load and check a data set, run its multiverse, and write the folder, all or nothing.

    Parameters
    ----------
    path : Path
        The data set.
    out : Path
        New, empty, or holding an earlier multiverse of the same data set, which is replaced.
    grid : MultiverseGrid
    on_progress : callable, optional
        As in `run_multiverse`.
    now : datetime, optional
        The time to write down; the current time by default.

    Raises
    ------
    DatasetError, LogError, ConfigError
        From loading and from `run_multiverse`; also if `out` holds anything else or cannot be
        written.
    """
    check_out(out, path, MULTIVERSE)
    dataset = load_dataset(path)
    findings = validate_dataset(dataset)
    result = MultiverseResult(
        dataset=dataset,
        multiverse=run_multiverse(dataset.trials, dataset.analysis, grid, on_progress=on_progress),
        n_errors=sum(finding.severity == "error" for finding in findings),
        provenance=settings_provenance(dataset),
        made_utc=(now or datetime.now(timezone.utc)).astimezone(timezone.utc).isoformat(),
        versions={**package_versions(), **{name: version(name) for name in _MODEL_PACKAGES}},
        out=out,
    )
    with replacing(out, path, MULTIVERSE) as folder:
        _write(result, folder)
    return result


def multiverse_text(result: MultiverseResult) -> str:
    """Return what the command prints."""
    multiverse = result.multiverse
    lines = []
    note = source_note(result.dataset.sources)
    if note:
        lines.append(f"({note})")
    for place, title in enumerate(multiverse.titles):
        lines += [title, *(f"  {text}" for text in contrast_sentences(multiverse, place))]
    return "\n".join([*lines, NOT_INDEPENDENT, f"page: {result.page}"])


def _write(result: MultiverseResult, folder: Path) -> None:
    multiverse, sources = result.multiverse, result.dataset.sources
    (folder / "figures").mkdir()
    drawn: dict[int, str] = {}
    for place in range(len(multiverse.titles)):
        figure = curve_figure(multiverse, place, sources=sources)
        if figure is not None:
            drawn[place] = save_figure(figure, folder / "figures" / f"curve_{place + 1}")
    source = sources[0] if len(sources) == 1 else "mixed"
    for name, table in _tables(multiverse).items():
        table.assign(source=source).to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    (folder / "multiverse.toml").write_text(grid_toml(multiverse.grid), encoding="utf-8")
    (folder / PAGE_FILE).write_text(_page(result, drawn), encoding="utf-8")
    written = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    record = _record(result) | {"files": sorted([*written, MULTIVERSE.file])}
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MULTIVERSE.file).write_text(text + "\n", encoding="utf-8")


def _tables(multiverse: Multiverse) -> dict[str, pd.DataFrame]:
    return {
        "multiverse": multiverse.universes,
        "multiverse_summary": summary_table(multiverse),
        "multiverse_options": option_table(multiverse),
        "multiverse_dropped": dropped_table(multiverse),
    }


def _record(result: MultiverseResult) -> dict[str, Any]:
    dataset, multiverse = result.dataset, result.multiverse
    return {
        "format": MULTIVERSE.format,
        "format_version": MULTIVERSE.version,
        "made_utc": result.made_utc,
        "dataset": {
            "name": dataset.name,
            "path_sha256": path_sha256(dataset.path),
            "sources": list(dataset.sources),
            "n_participants": int(dataset.trials["participant_id"].nunique()),
            "n_trials": len(dataset.trials),
            "n_errors_found": result.n_errors,
            "runs_sha256": {run.file: run.sha256 for run in dataset.runs},
        },
        "settings": multiverse.settings.model_dump(mode="json"),
        "settings_sha256": multiverse.settings.sha256,
        "settings_provenance": dataclasses.asdict(result.provenance),
        "grid": multiverse.grid.model_dump(mode="json"),
        "grid_toml": grid_toml(multiverse.grid),
        "versions": dict(result.versions),
        "in_words": {
            title: contrast_sentences(multiverse, place)
            for place, title in enumerate(multiverse.titles)
        },
        "reading": NOT_INDEPENDENT,
        "summary": rows_of(summary_table(multiverse)),
        "options": rows_of(option_table(multiverse)),
        "dropped": rows_of(dropped_table(multiverse)),
        "universes": rows_of(multiverse.universes),
    }


# --- the page -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ContrastPart:
    """What the page shows of one contrast."""

    title: str
    sentences: list[str]
    figure: Markup
    options: ReportTable


def _page(result: MultiverseResult, drawn: Mapping[int, str]) -> str:
    dataset, multiverse = result.dataset, result.multiverse
    parts = [
        _ContrastPart(
            title,
            contrast_sentences(multiverse, place),
            inline_svg(f"curve-{place + 1}", drawn[place]) if place in drawn else Markup(""),
            _options_table(multiverse, place),
        )
        for place, title in enumerate(multiverse.titles)
    ]
    return (
        page_templates()
        .get_template("multiverse.html.j2")
        .render(
            result=result,
            dataset=dataset,
            settings=multiverse.settings,
            n_participants=int(dataset.trials["participant_id"].nunique()),
            n_trials=len(dataset.trials),
            n_universes=int(multiverse.universes["universe"].nunique()),
            banner=source_note(dataset.sources),
            parts=parts,
            reading=NOT_INDEPENDENT,
            dropped=_dropped_part(multiverse),
            grid_text=grid_toml(multiverse.grid),
            settings_text=json.dumps(multiverse.settings.model_dump(mode="json"), indent=2),
            provenance=result.provenance,
        )
    )


def _options_table(multiverse: Multiverse, place: int) -> ReportTable:
    contrast, mode = multiverse.keys[place]
    header = (
        *("Decision", "Option", "universes", "median effect", "lowest", "highest"),
        f"p < {multiverse.settings.alpha:g} (%)",
    )
    rows, before = [], None
    for row in rows_of(option_table(multiverse)):
        if (row["contrast"], row["mode"]) != (contrast, mode):
            continue
        decision = "" if row["decision"] == before else CHOICE_NAMES[row["decision"]]
        before = row["decision"]
        effects = (number(row[f"effect_{which}"], 2) for which in ("median", "min", "max"))
        rows.append(
            (
                *(decision, row["in_words"], f"{row['n_universes']:,}", *effects),
                percent(row["p_significant"]),
            )
        )
    return ReportTable(header, tuple(rows), 2)


def _dropped_part(multiverse: Multiverse) -> ReportTable:
    rows = [
        (
            each.what,
            each.reason,
            MISSING if each.n_universes is None else f"{each.n_universes:,}",
        )
        for each in multiverse.dropped
    ]
    shown = tuple(rows[:_MAX_ROWS])
    return ReportTable(
        ("Combination", "Why it was not made", "universes"), shown, 2, len(rows) - len(shown)
    )
