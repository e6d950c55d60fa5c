"""Psych-DS's published rules, applied: its validator needs Deno or Node and the network.

The rules are data, in `psych_ds_rules.json`, which says where they are from.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["RULES", "findings_of"]

RULES: Mapping[str, Any] = json.loads(
    Path(__file__).with_name("psych_ds_rules.json").read_text(encoding="utf-8")
)


def findings_of(folder: Path) -> list[tuple[str, str]]:
    """The codes that the validator gives, each with the file or the word that it is about."""
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    ignored = [*RULES["default_ignores"], *_ignore_lines(folder)]
    checked = [file for file in files if not _is_ignored(file, ignored)]
    found = [*_root(folder, files), *_names(checked)]
    datafiles = [file for file in checked if _is_datafile(file)]
    if not datafiles:
        found.append(("MISSING_DATAFILE", "data"))
    try:
        about = json.loads((folder / "dataset_description.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [*found, ("INVALID_JSON_FORMATTING", str(error))]
    for file in datafiles:
        compiled = dict(about)
        side = (folder / file).with_suffix(".json")
        if side.exists():
            compiled |= json.loads(side.read_text(encoding="utf-8"))
        titles, issues = _table(folder / file)
        found += [*issues, *_metadata(compiled, file)]
        named = _variables(compiled)
        found += [("CSV_COLUMN_MISSING_FROM_METADATA", t) for t in titles if t not in named]
        # Stricter than the rule, which a name in any other file would satisfy.
        found += [("VARIABLE_MISSING_FROM_CSV_COLUMNS", v) for v in named if v not in titles]
    return found


def _ignore_lines(folder: Path) -> list[str]:
    file = folder / ".psychds-ignore"
    return file.read_text(encoding="utf-8").split("\n") if file.is_file() else []


def _is_ignored(file: str, patterns: list[str]) -> bool:
    """As git has it, for patterns without wildcards and without a slash inside."""
    parts = file.split("/")
    for pattern in filter(None, patterns):
        assert not re.search(r"[*?\[!#]|/.", pattern), f"{pattern!r} is more than is read here"
        within = parts[:-1] if pattern.endswith("/") else parts
        if pattern.rstrip("/") in within:
            return True
    return False


def _root(folder: Path, files: list[str]) -> Iterator[tuple[str, str]]:
    for rule in RULES["root_files"]:
        names = [rule["stem"] + extension for extension in rule["extensions"]]
        if not any(name in files for name in names):
            yield rule["code"], rule["stem"]
    for rule in RULES["root_folders"]:
        if not (folder / rule["path"]).is_dir():
            yield rule["code"], rule["path"]


def _is_datafile(file: str) -> bool:
    rule, path = RULES["datafile"], Path(file)
    return (
        path.parts[0] == rule["base_dir"]
        and path.suffix in rule["extensions"]
        and path.stem.rsplit("_", 1)[-1] == rule["suffix"]
    )


def _names(checked: list[str]) -> Iterator[tuple[str, str]]:
    roots = {r["stem"] + extension for r in RULES["root_files"] for extension in r["extensions"]}
    for file in checked:
        path = Path(file)
        if file in roots:
            continue
        if path.name == "dataset_description.json":
            yield "WRONG_METADATA_LOCATION", file
        if _is_datafile(file):
            if not re.fullmatch(RULES["datafile"]["file_regex"], path.name):
                yield "FILENAME_KEYWORD_FORMATTING_ERROR", file
            for pair in path.stem.split("_")[:-1]:
                if pair.split("-")[0] not in RULES["keywords"]:
                    yield "FILENAME_UNOFFICIAL_KEYWORD_WARNING", file
            continue
        is_sidecar = path.parts[0] == RULES["sidecar"]["base_dir"] and path.suffix == ".json"
        if not (is_sidecar and path.stem.endswith("_data")):
            yield "FILE_NOT_CHECKED", file


def _table(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        return [], [("CSV_FORMATTING_ERROR", f"{path.name}: {error}")]
    if not rows or not rows[0]:
        return [], [("CSV_HEADER_MISSING", path.name)]
    titles, found = rows[0], []
    if len(set(titles)) < len(titles):
        found.append(("CSV_HEADER_REPEATED", path.name))
    found += [
        ("CSV_HEADER_LENGTH_MISMATCH", f"{path.name}, row {number}")
        for number, row in enumerate(rows, start=1)
        if len(row) != len(titles)
    ]
    if "row_id" in titles:
        ids = [row[titles.index("row_id")] for row in rows[1:]]
        if len(set(ids)) < len(ids):
            found.append(("ROWID_VALUES_NOT_UNIQUE", path.name))
    return titles, found


def _variables(compiled: Mapping[str, Any]) -> list[str]:
    return [v if isinstance(v, str) else v["name"] for v in compiled.get("variableMeasured", [])]


def _metadata(compiled: Mapping[str, Any], file: str) -> Iterator[tuple[str, str]]:
    if compiled.get("@context") not in RULES["contexts"]:
        yield "INVALID_JSONLD_FORMATTING", file
    if "@type" not in compiled:
        yield "MISSING_DATASET_TYPE", file
    elif compiled["@type"] != RULES["dataset_type"]:
        yield "INCORRECT_DATASET_TYPE", file
    for field in RULES["required_fields"]:
        if not compiled.get(field):
            yield "JSON_KEY_REQUIRED", field
    yield from _schema_org(compiled)


def _schema_org(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    slots = set()
    kind = node.get("@type")
    while kind is not None:
        known = RULES["schema_org"]["classes"][kind]
        slots |= set(known["slots"])
        kind = known["is_a"]
    for key, value in node.items():
        if key.startswith("@"):
            continue
        if key not in slots:
            yield "INVALID_SCHEMAORG_PROPERTY", f"{node.get('@type')}.{key}"
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                continue
            if "@type" not in each:
                yield "OBJECT_TYPE_MISSING", key
            elif each["@type"] not in RULES["schema_org"]["ranges"].get(key, ()):
                yield "INVALID_OBJECT_TYPE", f"{key}: {each['@type']}"
            else:
                yield from _schema_org(each)
