"""Exports as the Brain Imaging Data Structure has them (BIDS 1.11): a table per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.exclusion_steps import exclusion_steps
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.export.bids.cells import as_cells, write_tsv
from ghostblitz_analysis.export.bids.events import write_events
from ghostblitz_analysis.export.bids.labels import participant_labels
from ghostblitz_analysis.export.bids.run_files import (
    ID,
    ORIGINAL_ID,
    ROW,
    STIMULUS,
    bids_columns,
    is_in_order,
    part_into_runs,
)
from ghostblitz_analysis.export.bids.sidecars import (
    column_entries,
    dataset_description,
    derivative_description,
    task_entries,
    write_json,
)
from ghostblitz_analysis.export.bids.stimuli import Shown, find_shown
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import MANIFEST_FILE
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.parts.participant_table import (
    PARTICIPANT_COLUMNS,
    participant_table,
)
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_task.schema import Column

__all__ = ["BIDS_LAYOUT", "DERIVATIVES", "write_bids"]

DERIVATIVES = "derivatives/ghostblitz"
BIDS_LAYOUT = Layout(
    tables="sub-*",
    source="sourcedata/ghostblitz",
    stimuli="stimuli",
    # Without a dataset_description.json, so that no validator takes it for BIDS.
    results="derivatives/ghostblitz-analysis",
    documents="docs",
    changes="CHANGES",
)
_FLAGGED = "flagged"
_DESCRIPTIONS = {
    _FLAGGED: "The trials, with a column for each exclusion that the analysis makes",
    "games": "A row for each game of the captain's deck",
}
_NOTHING = Shown()
_DERIVATIVE_README = """# Derivatives

`sub-*/`: the trials again, each with the exclusions that the analysis makes of it
(`desc-flagged`), or a row for each game (`desc-games`). Report, tables and figures of the analysis
are in `../ghostblitz-analysis`, as `ghostblitz analyze` writes them; they follow no rule of BIDS.
"""
_ADDED = {
    ID: Column(ID, "string", "Label of the participant in this data set", "session"),
    ORIGINAL_ID: Column(
        ORIGINAL_ID, "string", "The participant's id in sourcedata, to the letter", "session"
    ),
    "species": Column(
        "species",
        "string",
        "Species of the participant",
        "session",
        levels=("homo sapiens",),
        null_when="the data are no person's: simulated, or a robot's",
    ),
}


def write_bids(source: ExportSource, folder: Path) -> None:
    """Write a data set as BIDS.

    Each run's trials (or turns) are a ``_beh.tsv`` with ``response_time`` in seconds; one sidecar
    per task stands at the top. A run that sent markers has ``_events.tsv`` as well. What is
    derived, and a table of the captain's games, stands in `DERIVATIVES`.

    Parameters
    ----------
    source : ExportSource
        The data set; it is not changed.
    folder : Path
        New and empty.

    Raises
    ------
    DatasetError
        If a value cannot stand in BIDS, or a file is there already.
    """
    write_common(source, folder, BIDS_LAYOUT)
    people = participant_table(source)
    labels = participant_labels(map(str, people[ID]))
    _write_participants(people, labels, folder)
    shown = find_shown(folder / BIDS_LAYOUT.stimuli)
    _write_runs(source, source.main, labels, folder, shown=shown)
    write_events(source, labels, folder, shown=shown)
    _write_derivatives(source, labels, folder)
    is_cited_apart = (folder / "CITATION.cff").exists()
    description = dataset_description(source, is_cited_apart=is_cited_apart)
    write_json(folder, "dataset_description.json", description)
    write_text(folder, ".bidsignore", f"{MANIFEST_FILE}\n")


def _write_participants(people: pd.DataFrame, labels: Mapping[str, str], folder: Path) -> None:
    is_person = people["source"].isin(["human", "imported"])
    species = pd.Series("homo sapiens", index=people.index, dtype="string").where(is_person)
    ids = people[ID].astype("string")
    table = people.assign(
        **{ID: ("sub-" + ids.map(dict(labels)).astype("string")), ORIGINAL_ID: ids},
        species=species,
    )
    columns = [*_ADDED.values(), *PARTICIPANT_COLUMNS[1:]]
    write_tsv(folder, "participants.tsv", {c.name: as_cells(table[c.name], c) for c in columns})
    write_json(folder, "participants.json", column_entries(columns))


def _write_runs(
    source: ExportSource,
    table: ExportTable,
    labels: Mapping[str, str],
    folder: Path,
    *,
    description: str | None = None,
    shown: Shown = _NOTHING,
) -> None:
    """Write a file for each run, and a sidecar for each task."""
    columns = bids_columns(table)
    cells = {c.name: as_cells(table.frame[name], c) for name, c in columns}
    described = [c for _, c in columns]
    if shown.drawings and "card" in table.frame.columns:
        files = table.frame["card"].map(dict(shown.drawings)).astype("string")
        cells[STIMULUS.name] = as_cells(files, STIMULUS)
        described.append(STIMULUS)
    if not is_in_order(table):
        numbers = pd.Series(np.arange(len(table.frame)), dtype="Int64")
        cells[ROW.name] = as_cells(numbers, ROW)
        described.append(ROW)
    sidecars: dict[str, str] = {}
    for file, game, places in part_into_runs(table, labels):
        file = replace(file, description=description)
        write_tsv(folder, file.path(), {name: column[places] for name, column in cells.items()})
        sidecars[file.sidecar()] = game
    for name, game in sidecars.items():
        entries = task_entries(source, game, shown.instructions) | column_entries(described)
        if description is not None:
            entries["Description"] = _DESCRIPTIONS[description]
        write_json(folder, name, entries)


def _write_derivatives(source: ExportSource, labels: Mapping[str, str], folder: Path) -> None:
    below = folder / DERIVATIVES
    if source.dataset is not None:
        flagged = _flagged_table(source.main, source.dataset)
        _write_runs(source, flagged, labels, below, description=_FLAGGED)
    for table in source.others:
        _write_runs(source, table, labels, below, description=table.name)
    write_json(below, "dataset_description.json", derivative_description(source))
    write_text(below, "README.md", _DERIVATIVE_README)


def _flagged_table(table: ExportTable, dataset: Dataset) -> ExportTable:
    """Return the trials with a column for each exclusion."""
    flagged = flag_exclusions(table.frame, dataset.analysis)
    flags = [name for name in map(str, flagged.columns) if name not in table.frame.columns]
    steps = {step.flag: step for step in exclusion_steps(dataset.analysis)}
    columns = tuple(
        Column(
            flag,
            "boolean",
            f"Left out of {'all' if steps[flag].scope == 'all' else 'RT'} measures: "
            f"{steps[flag].reason}",
            "derived",
        )
        for flag in flags
    )
    frame = flagged.astype(dict.fromkeys(flags, "boolean"))
    return ExportTable(table.name, frame, (*table.columns, *columns))
