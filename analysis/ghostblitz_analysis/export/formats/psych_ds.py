"""Psych-DS data sets: metadata as JSON-LD, and names of files made of keywords and values.

Source: the schema model 1.5.1, https://github.com/psych-ds/psych-DS/tree/develop/schema_model.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
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
from ghostblitz_analysis.export.publication import Author
from ghostblitz_analysis.export.source import ExportSource, ExportTable
from ghostblitz_task import __version__
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import SCHEMA_VERSION, Column
from ghostblitz_task.trial_log import file_sha256

__all__ = ["DESCRIPTION_FILE", "PSYCH_DS_LAYOUT", "read_psych_ds", "write_psych_ds"]

DESCRIPTION_FILE = "dataset_description.json"
#: Raw data belong below data/; the other folders are those that Psych-DS names.
PSYCH_DS_LAYOUT = Layout(source="data/raw", stimuli="materials")

_SCHEMA_VERSION = "Psych-DS 1.5.1"
#: States this program's schema where schema.org has a place for it: at each data file.
_OWN_SCHEMA = "ghostblitz "
_TYPES = {"string": "Text", "Int64": "Integer", "Float64": "Float", "boolean": "Boolean"}
_TYPE_PREFIX = "https://schema.org/"
_DTYPES = {_TYPE_PREFIX + type_: dtype for dtype, type_ in _TYPES.items()}
#: What the validator would list as files that it does not know. Without slashes inside, a pattern
#: holds at any depth, whether or not the validator begins paths with a slash.
_IGNORED = ("raw/", "LICENSE", "CITATION.cff", "manifest-sha256.txt", ".zenodo.json")
#: The name is that of the schema model 1.5.1; validators before it read the other.
_IGNORE_FILES = (".psychds-ignore", ".psychdsignore")
_SUFFIX = "_data.csv"


def write_psych_ds(source: ExportSource, folder: Path) -> None:
    """Write a data set as Psych-DS.

    The main table's columns are those of ``variableMeasured`` in ``dataset_description.json``;
    every other table has a file of its own beside it that says the same of its columns.

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
    tables = tables_of(source)
    files = [write_table_text(table, folder, _name(source, table)) for table in tables]
    downloads = [_download(table, file) for table, file in zip(tables, files, strict=True)]
    about = _about(source) | {
        "variableMeasured": [_variable(column) for column in source.main.columns],
        "distribution": downloads,
    }
    _write_json(folder, DESCRIPTION_FILE, about)
    for table, file in zip(tables[1:], files[1:], strict=True):
        variables = {"variableMeasured": [_variable(column) for column in table.columns]}
        _write_json(folder, f"data/{file.with_suffix('.json').name}", variables)
    for name in _IGNORE_FILES:
        write_text(folder, name, "".join(f"{line}\n" for line in (*_IGNORED, *_IGNORE_FILES)))
    write_text(folder, "analysis/README.md", _how_to_analyse(source))
    write_common(source, folder, PSYCH_DS_LAYOUT)


def read_psych_ds(folder: Path) -> pd.DataFrame:
    """Read the trials, or turns, of a Psych-DS data set that `write_psych_ds` wrote.

    Raises
    ------
    DatasetError
        If it is damaged, of another kind, or newer than this program.
    """
    files = check_export(folder)
    about = read_json(folder, DESCRIPTION_FILE)
    where = str(folder / DESCRIPTION_FILE)
    try:
        entries = [(e["name"], e["contentUrl"], e["schemaVersion"]) for e in about["distribution"]]
        variables = [(v["name"], v["additionalType"]) for v in about["variableMeasured"]]
    except (KeyError, TypeError) as error:
        raise DatasetError(f"{where} describes no Psych-DS data set of ghostblitz") from error
    # Only the main table's columns stand here; main_of refuses more than one.
    dtypes = stored_dtypes([(name, _DTYPES.get(str(type_))) for name, type_ in variables], where)
    found = main_of([StoredTable(str(n), str(f), dtypes) for n, f, _ in entries], files, where)
    stated = next(str(version) for name, _, version in entries if name == found.name)
    number = stated.removeprefix(_OWN_SCHEMA)
    return read_stored(folder, found, int(number) if number.isdecimal() else stated)


def _name(source: ExportSource, table: ExportTable) -> str:
    plain = unicodedata.normalize("NFKD", source.study_id).encode("ascii", "ignore").decode()
    study = re.sub(r"[^A-Za-z0-9]", "", plain) or "ghostblitz"
    return f"data/study-{study}_description-{table.name}{_SUFFIX}"


def _about(source: ExportSource) -> dict[str, Any]:
    publication = source.publication
    doi = f"https://doi.org/{publication.doi}" if publication.doi else None
    about = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": source.title + (" (simulated data)" if source.simulated else ""),
        "schemaVersion": _SCHEMA_VERSION,
        "description": describe_data(source),
        "version": publication.version,
        "author": _authors(source, publication.authors),
        "license": licence_of(publication.licence).url if publication.licence else None,
        "identifier": doi,
        "url": doi,
        "citation": list(publication.references),
        "funder": [{"@type": "Organization", "name": name} for name in publication.funding],
        "keywords": list(publication.keywords),
        "isBasedOn": [a for a in (publication.preregistration, publication.materials) if a],
        "creditText": publication.acknowledgements,
    }
    return {key: value for key, value in about.items() if value}


def _authors(source: ExportSource, authors: Sequence[Author]) -> list[dict[str, Any]]:
    if not authors:
        return [{"@type": "Organization", "name": f"The authors of {source.title}"}]
    people = []
    for author in authors:
        person: dict[str, Any] = {
            "@type": "Person",
            "name": f"{author.given} {author.family}",
            "givenName": author.given,
            "familyName": author.family,
        }
        if author.orcid:
            person["identifier"] = f"https://orcid.org/{author.orcid}"
        if author.affiliation:
            person["affiliation"] = {"@type": "Organization", "name": author.affiliation}
        people.append(person)
    return people


def _variable(column: Column) -> dict[str, Any]:
    missing = f" Missing when: {column.null_when}." if column.null_when else " Never missing."
    variable: dict[str, Any] = {
        "@type": "PropertyValue",
        "name": column.name,
        "description": f"{column.meaning}.{missing}",
        "additionalType": _TYPE_PREFIX + _TYPES[column.dtype],
    }
    if column.unit:
        variable["unitText"] = column.unit
    if column.levels:
        variable["valueReference"] = list(column.levels)
    return variable


def _download(table: ExportTable, file: Path) -> dict[str, Any]:
    return {
        "@type": "DataDownload",
        "name": table.name,
        "contentUrl": f"data/{file.name}",
        "encodingFormat": "text/csv",
        "contentSize": f"{file.stat().st_size} B",
        "sha256": file_sha256(file),
        "schemaVersion": f"{_OWN_SCHEMA}{SCHEMA_VERSION}",
    }


def _how_to_analyse(source: ExportSource) -> str:
    return (
        f"# Analysis of {source.title}\n\n"
        "The results in `results/` were made from the raw data by\n\n"
        f"    ghostblitz analyze {PSYCH_DS_LAYOUT.source} --out RESULTS\n\n"
        f"with ghostblitz {__version__}; `{PSYCH_DS_LAYOUT.source}/analysis.toml`, where it is "
        "there, holds the settings.\n"
    )


def _write_json(folder: Path, name: str, value: object) -> None:
    write_text(folder, name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
