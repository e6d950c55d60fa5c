"""Frictionless Data Packages, whose Table Schema is a codebook for programs.

Source: Data Package 2.0, https://datapackage.org/standard/data-package; a field's own
``missingValues`` came with that version.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.formats.stored_tables import (
    StoredTable,
    check_export,
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
from ghostblitz_analysis.export.parts.licences import licence_of
from ghostblitz_analysis.export.publication import Publication
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import SCHEMA_VERSION, Column
from ghostblitz_task.trial_log import file_sha256

__all__ = ["PACKAGE_FILE", "read_frictionless", "write_frictionless"]

PACKAGE_FILE = "datapackage.json"
_PROFILE = "https://datapackage.org/profiles/2.0"
_TYPES = {"string": "string", "Int64": "integer", "Float64": "number", "boolean": "boolean"}
_DTYPES = {type_: dtype for dtype, type_ in _TYPES.items()}
#: What tells the rows of each table apart, if the data keep to it.
_KEYS = {
    "trials": ("participant_id", "session", "trial_index"),
    "turns": ("participant_id", "session", "block_index", "turn_index"),
    "games": ("participant_id", "session", "block_index"),
    "participants": ("participant_id",),
}
#: Numbers of these columns begin at 1; other whole numbers cannot be below 0.
_FROM_ONE = {"session", "run", "player", "n_players"}


def write_frictionless(source: ExportSource, folder: Path) -> None:
    """Write a data set as a Data Package: ``datapackage.json``, and CSV files below ``data/``.

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
    resources = [_resource(source, table, folder) for table in tables_of(source)]
    package = {**_about(source), "resources": resources}
    write_text(folder, PACKAGE_FILE, json.dumps(package, indent=2, ensure_ascii=False) + "\n")
    write_common(source, folder, Layout())


def read_frictionless(folder: Path) -> pd.DataFrame:
    """Read the trials, or turns, of a Data Package that `write_frictionless` wrote.

    Raises
    ------
    DatasetError
        If it is damaged, of another kind, or newer than this program.
    """
    files = check_export(folder)
    package = read_json(folder, PACKAGE_FILE)
    where = str(folder / PACKAGE_FILE)
    own = package.get("ghostblitz")
    if not isinstance(own, dict) or not isinstance(package.get("resources"), list):
        raise DatasetError(f"{where} describes no data package that ghostblitz wrote")
    found = main_of([_stored(entry, where) for entry in package["resources"]], files, where)
    return read_stored(folder, found, own.get("schema_version"))


def _stored(entry: Any, where: str) -> StoredTable:
    try:
        name, file, fields = str(entry["name"]), str(entry["path"]), entry["schema"]["fields"]
        pairs = [(field["name"], _DTYPES.get(field["type"])) for field in fields]
    except (KeyError, TypeError) as error:
        raise DatasetError(f"{where}: the description of a resource is damaged") from error
    return StoredTable(name, file, stored_dtypes(pairs, where))


def _about(source: ExportSource) -> dict[str, Any]:
    publication = source.publication
    note = " (simulated data)" if source.simulated else ""
    about = {
        "$schema": f"{_PROFILE}/datapackage.json",
        "name": _name(source.title),
        "id": f"https://doi.org/{publication.doi}" if publication.doi else None,
        "title": source.title + note,
        "description": describe_data(source),
        "version": publication.version,
        "keywords": list(publication.keywords),
        "licenses": _licences(publication),
        "contributors": [_contributor(author) for author in publication.authors],
        "homepage": publication.article,
        "sources": _sources(source),
        "ghostblitz": {"schema_version": SCHEMA_VERSION, "simulated": source.simulated},
    }
    # What is not stated is left out: an empty list is not valid.
    return {key: value for key, value in about.items() if value}


def _name(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "data-set"


def _licences(publication: Publication) -> list[dict[str, str]]:
    if publication.licence is None:
        return []
    licence = licence_of(publication.licence)
    return [{"name": licence.spdx, "title": licence.name, "path": licence.url}]


def _sources(source: ExportSource) -> list[dict[str, str]]:
    """Say where data are from that nobody gave, or that were somebody else's before."""
    cited = source.dataset.citation if source.dataset else None
    titles = ["Simulated participants, not people"] if source.simulated else []
    return [{"title": title} for title in [*titles, *([cited] if cited else [])]]


def _contributor(author: Any) -> dict[str, Any]:
    known = {
        "title": f"{author.given} {author.family}",
        "givenName": author.given,
        "familyName": author.family,
        "path": f"https://orcid.org/{author.orcid}" if author.orcid else None,
        "organization": author.affiliation,
        "roles": ["author"],
    }
    return {key: value for key, value in known.items() if value}


def _resource(source: ExportSource, table: ExportTable, folder: Path) -> dict[str, Any]:
    name = f"data/{table.name}.csv"
    file = write_table_text(table, folder, name)
    schema: dict[str, Any] = {
        "$schema": f"{_PROFILE}/tableschema.json",
        "fields": [_field(column, table.frame[column.name]) for column in table.columns],
        "missingValues": [""],
    }
    key = list(_KEYS[table.name])
    if not table.frame.duplicated(key).any():
        schema["primaryKey"] = key
    return {
        "name": table.name,
        "title": f"{table.name.capitalize()} of {source.title}"
        + (", simulated" if source.simulated else ""),
        "path": name,
        "type": "table",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.stat().st_size,
        "hash": f"sha256:{file_sha256(file)}",
        "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "header": True},
        "schema": schema,
    }


def _field(column: Column, values: pd.Series) -> dict[str, Any]:
    field: dict[str, Any] = {
        "name": column.name,
        "type": _TYPES[column.dtype],
        "description": column.meaning
        + (f". Missing when: {column.null_when}" if column.null_when else ""),
    }
    constraints: dict[str, Any] = {"required": True} if column.null_when is None else {}
    if column.levels:
        constraints["enum"] = list(column.levels)
    if column.dtype == "boolean":
        field |= {"trueValues": ["true"], "falseValues": ["false"]}
    if column.dtype == "Int64" and not (values.dropna() < 0).any():
        constraints["minimum"] = int(column.name in _FROM_ONE)
    if column.dtype == "string" and (values == "").any():
        # There are texts without a letter, such as the rules in play where there are none.
        field["missingValues"] = []
    if constraints:
        field["constraints"] = constraints
    if column.unit:
        field["unit"] = column.unit
    return field
