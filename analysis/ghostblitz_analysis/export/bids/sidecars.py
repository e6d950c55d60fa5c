"""What stands beside the tables of a BIDS export: what each column means, and what the whole is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_task import __version__
from ghostblitz_task.schema import SCHEMA_VERSION, Column

__all__ = [
    "BIDS_VERSION",
    "FORMATS",
    "SCHEMA_KEY",
    "column_entries",
    "dataset_description",
    "derivative_description",
    "task_entries",
    "write_json",
]

BIDS_VERSION = "1.11.1"
#: Under this name a table's sidecar has the version of the columns' schema.
SCHEMA_KEY = "GhostblitzSchemaVersion"
#: What BIDS calls each type (`Format` of a column, since BIDS 1.11).
FORMATS: Mapping[str, str] = {
    "string": "string",
    "Int64": "integer",
    "Float64": "number",
    "boolean": "boolean",
}
_TASKS: Mapping[str, str] = {
    "classic": "Cards show items in wrong colours. Grab the item that is shown in its own colour; "
    "if none is, the one of which neither shape nor colour is shown.",
    "grab-or-shout": "As classic, but on a card with one of the items the answer is called out "
    "instead of grabbed.",
    "spooky-doo": "As classic, with a hat that hides one item: what it hides is grabbed by the "
    "hat, and where the hat is the answer, what it hides is called out.",
    "five-to-twelve": "As classic, with nine items and three pictures on a card; a clock, and by "
    "additional rules a mirror and an owl, change what is to be grabbed or called out.",
    "captain": "Droppings of several colours lie hidden on a deck. In turn, pick the one of the "
    "colour that the die shows, from memory.",
}


def write_json(folder: Path, name: str, entries: Mapping[str, Any]) -> Path:
    """Write a new JSON file."""
    text = json.dumps(entries, indent=2, ensure_ascii=False, allow_nan=False)
    return write_text(folder, name, text + "\n")


def column_entries(columns: Iterable[Column]) -> dict[str, dict[str, Any]]:
    """Describe columns as BIDS wants it, by name."""
    return {column.name: _entry(column) for column in columns}


def _entry(column: Column) -> dict[str, Any]:
    missing = "Never missing" if column.null_when is None else f"n/a when {column.null_when}"
    entry: dict[str, Any] = {"Description": f"{column.meaning}. {missing}."}
    if column.dtype == "boolean":
        entry["Levels"] = {"true": "yes", "false": "no"}
    elif column.levels:
        entry["Levels"] = {level: _in_words(level) for level in column.levels}
    if column.unit is not None:
        entry["Units"] = column.unit
    return entry | {"Format": FORMATS[column.dtype]}


def _in_words(level: str) -> str:
    return level.replace("_", " ").replace("-", " ")


def task_entries(source: ExportSource, game: str, instructions: str | None) -> dict[str, Any]:
    """Say what the task is, for the sidecars of its tables."""
    words = _TASKS.get(game, "A reaction-time task in the manner of the card game Ghost Blitz.")
    entries: dict[str, Any] = {
        "TaskName": game,
        "TaskDescription": _simulated(source, words),
        SCHEMA_KEY: SCHEMA_VERSION,
    }
    return entries | ({"Instructions": instructions} if instructions else {})


def _simulated(source: ExportSource, words: str) -> str:
    return f"Simulated data, not people. {words}" if source.simulated else words


def dataset_description(source: ExportSource, *, is_cited_apart: bool) -> dict[str, Any]:
    """Say what the data set is.

    Parameters
    ----------
    source : ExportSource
        With what its `publication.toml` says; what that leaves open is left out.
    is_cited_apart : bool
        Whether a ``CITATION.cff`` stands beside it. Authors, licence and references then stand
        there only, as BIDS demands.
    """
    stated = source.publication
    entries: dict[str, Any] = {
        "Name": f"{source.title} (simulated data)" if source.simulated else source.title,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw",
        "SourceDatasets": [{"URL": "bids::sourcedata/ghostblitz"}],
        "GeneratedBy": [_generated_by("Wrote this data set from the logs in sourcedata.")],
        "Keywords": list(stated.keywords),
        "Acknowledgements": stated.acknowledgements,
        "Funding": list(stated.funding),
        "EthicsApprovals": [stated.ethics_approval] if stated.ethics_approval else [],
        "DatasetDOI": f"doi:{stated.doi}" if stated.doi else None,
    }
    if not is_cited_apart:
        entries |= {
            "License": stated.licence,
            "Authors": [f"{author.given} {author.family}" for author in stated.authors],
            "ReferencesAndLinks": list(stated.references),
        }
    return {key: value for key, value in entries.items() if value}


def derivative_description(source: ExportSource) -> dict[str, Any]:
    """Say what the derivatives are."""
    name = f"Processed trials and results of {source.title}"
    return {
        "Name": f"{name} (simulated data)" if source.simulated else name,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "derivative",
        "DatasetLinks": {"raw": "../.."},
        "SourceDatasets": [{"URL": "bids:raw:"}],
        "GeneratedBy": [_generated_by("Flagged exclusions and analysed the trials.")],
    }


def _generated_by(what: str) -> dict[str, str]:
    return {"Name": "ghostblitz", "Version": __version__, "Description": what}
