"""Plain CSV tables with a description of their columns beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.formats.stored_tables import (
    StoredTable,
    check_export,
    describe_column,
    describe_data,
    main_of,
    read_json,
    read_stored,
    stored_dtypes,
    tables_of,
)
from ghostblitz_analysis.export.formats.table_text import write_table_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import SCHEMA_VERSION
from ghostblitz_task.trial_log import file_sha256

__all__ = ["TABLES_FILE", "TABLES_FORMAT", "read_csv", "write_csv"]

TABLES_FILE = "data/tables.json"
TABLES_FORMAT = "ghostblitz-tables"


def write_csv(source: ExportSource, folder: Path) -> None:
    """Write a data set as CSV files below ``data/``, and ``data/tables.json`` that describes them.

    Parameters
    ----------
    source : ExportSource
    folder : Path
        Empty.

    Raises
    ------
    DatasetError
        If a value cannot be kept.
    """
    described = []
    for table in tables_of(source):
        file = write_table_text(table, folder, f"data/{table.name}.csv")
        described.append(
            {
                "name": table.name,
                "file": f"data/{table.name}.csv",
                "n_rows": len(table.frame),
                "sha256": file_sha256(file),
                "columns": [describe_column(column) for column in table.columns],
            }
        )
    about = {
        "format": TABLES_FORMAT,
        "schema_version": SCHEMA_VERSION,
        "title": source.title,
        "description": describe_data(source),
        "study_id": source.study_id,
        "simulated": source.simulated,
        "text": "UTF-8, comma, a dot in decimals; an empty field is missing, two quotes are an "
        "empty text; true and false",
        "tables": described,
    }
    write_text(folder, TABLES_FILE, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    write_common(source, folder, Layout())


def read_csv(folder: Path) -> pd.DataFrame:
    """Read the trials, or turns, of an export as CSV.

    Raises
    ------
    DatasetError
        If it is damaged, or newer than this program.
    """
    files = check_export(folder)
    about = read_json(folder, TABLES_FILE)
    where = str(folder / TABLES_FILE)
    if about.get("format") != TABLES_FORMAT or not isinstance(about.get("tables"), list):
        raise DatasetError(f"{where} does not describe the tables of an export")
    found = main_of([_stored(entry, where) for entry in about["tables"]], files, where)
    return read_stored(folder, found, about.get("schema_version"))


def _stored(entry: Any, where: str) -> StoredTable:
    try:
        name, file, columns = str(entry["name"]), str(entry["file"]), entry["columns"]
        pairs = [(column["name"], column["type"]) for column in columns]
    except (KeyError, TypeError) as error:
        raise DatasetError(f"{where}: the description of a table is damaged") from error
    return StoredTable(name, file, stored_dtypes(pairs, where))
