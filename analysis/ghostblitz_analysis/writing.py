"""An imported data set on disk: written beside its place, then moved there in one step."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Mapping as MappingType
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomli_w

from ghostblitz_analysis.imported_tables import DATASET_FORMAT, INFO_FILE, TABLE_FILE
from ghostblitz_analysis.mapping import Mapping
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task import __version__
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS, SCHEMA_VERSION
from ghostblitz_task.trial_log import file_sha256

__all__ = ["MAPPING_FILE", "write_dataset"]

MAPPING_FILE = "mapping.toml"


def write_dataset(
    out: Path,
    columns: MappingType[str, Sequence[Any]],
    mapping: Mapping,
    *,
    mapping_path: Path,
    report: MappingType[str, Any],
) -> None:
    """Write a data set's table, its description, its analysis settings and its mapping.

    Raises
    ------
    DatasetError
        If the folder exists or cannot be written; nothing is left behind.
    """
    _check_texts(columns)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise DatasetError(f"{out} cannot be made: {error.strerror}") from error
    try:
        _write_table(made / TABLE_FILE, columns)
        stated = mapping.analysis.model_dump(exclude_none=True)
        (made / ANALYSIS_FILE).write_text(tomli_w.dumps(stated), encoding="utf-8")
        shutil.copyfile(mapping_path, made / MAPPING_FILE)
        info = _info(mapping, mapping_path, report, made / TABLE_FILE)
        text = json.dumps(info, indent=2, ensure_ascii=False)
        (made / INFO_FILE).write_text(text + "\n", encoding="utf-8")
        made.chmod(0o755)
        if os.path.lexists(out):
            raise DatasetError(f"{out} exists already; a data set is never written over")
        os.rename(made, out)
    except OSError as error:
        raise DatasetError(f"{out} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check_texts(columns: MappingType[str, Sequence[Any]]) -> None:
    for name, values in columns.items():
        for value in {v for v in values if isinstance(v, str)}:
            if any(unicodedata.category(c) == "Cc" for c in value):
                raise DatasetError(
                    f"{name} {value[:40]!r} holds a line break or another control character, "
                    "which a table cannot keep"
                )


def _write_table(path: Path, columns: MappingType[str, Sequence[Any]]) -> None:
    ordered = [c.name for c in COLUMNS if any(v is not None for v in columns.get(c.name, ()))]
    # A table in which nobody erred still has the column that says so.
    for name in ("rt_s", "response", "response_mode", "error_kind"):
        if name not in ordered:
            ordered.append(name)
    ordered += [name for name in columns if name not in {c.name for c in COLUMNS}]
    with open(path, "x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(ordered)
        cells = [[_cell(value) for value in columns[name]] for name in ordered]
        writer.writerows(zip(*cells, strict=True))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _info(
    mapping: Mapping, mapping_path: Path, report: MappingType[str, Any], table: Path
) -> dict[str, Any]:
    about = mapping.dataset
    return {
        "format": DATASET_FORMAT,
        "schema_version": SCHEMA_VERSION,
        "name": about.name,
        "source": "imported",
        "citation": about.citation,
        "licence": about.licence,
        "url": about.url,
        "created_by": f"ghostblitz {__version__}",
        "game": {
            "name": mapping.game.name,
            "shout_item": mapping.game.shout_item,
            "rules": sorted(mapping.game.rules or ()),
        },
        "complete_n_trials": mapping.complete.n_trials if mapping.complete else None,
        "n_trials": report["n_trials"],
        "trials_sha256": file_sha256(table),
        "mapping_sha256": file_sha256(mapping_path),
        "report": report,
    }
