"""Imported data sets without what identifies: table, report of the import, mapping."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.sharing.allow_list import ANY, NUMBER, Keyed, form, keeper
from ghostblitz_analysis.export.sharing.codes import CodeBook
from ghostblitz_analysis.export.sharing.factors import shared_factor
from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.texts import (
    REMOVED,
    holds_any,
    without_places,
)
from ghostblitz_analysis.imported_tables import INFO_FILE, TABLE_FILE, read_info
from ghostblitz_analysis.tables import CodedTable, parse_coded, read_text
from ghostblitz_analysis.writing import MAPPING_FILE
from ghostblitz_task.schema import FACTOR_PREFIX
from ghostblitz_task.settings_files import read_toml
from ghostblitz_task.trial_log import file_sha256

__all__ = ["share_import"]

_PARTICIPANT = "participant_id"
_VERSION = r"ghostblitz \d{1,4}(\.\d{1,4}){0,3}"
#: What an import writes down; sentences and names in it are looked at one by one.
_INFO = keeper(
    {
        "format": ANY, "schema_version": NUMBER, "name": ANY, "source": ANY, "citation": ANY,
        "licence": ANY, "url": ANY, "created_by": form(_VERSION),
        "game": {"name": ANY, "shout_item": ANY, "rules": ANY}, "complete_n_trials": NUMBER,
        "n_trials": NUMBER, "trials_sha256": ANY, "mapping_sha256": ANY,
        "report": {
            "name": ANY, "files": ANY, "n_rows_read": NUMBER,
            "dropped": [{"reason": ANY, "n_rows": NUMBER}], "incomplete": ANY,
            "n_trials": NUMBER, "n_participants": NUMBER, "n_per_rule": Keyed(ANY, NUMBER),
            "notes": ANY,
        },
    },
    INFO_FILE,
)  # fmt: skip
#: Ids of digits only, or shorter ones, stand in sentences that mean no participant.
_SHORTEST_WORD = 3


def share_import(dataset: Path, copy: Path, book: CodeBook, tally: Tally) -> None:
    """Write an imported data set without what identifies.

    Rows are ordered by the participants' codes: the order in which they stood would tell who
    came first.

    Parameters
    ----------
    dataset, copy : Path
        The data set's folder, and that of the new one.
    book : CodeBook
        Gives codes to those in the table, and to those whom the import left out.
    """
    info = read_info(dataset)
    raw = parse_coded(read_text(dataset / TABLE_FILE), TABLE_FILE)
    ids = [str(value) for value in raw.columns[_PARTICIPANT].values]
    ids += [str(who) for who, _n in info["report"]["incomplete"]]
    for participant_id in ids:
        book.code_of(participant_id)
    mapping = dataset / MAPPING_FILE
    table = read_toml(mapping) if mapping.is_file() else None
    reasons = _without_filters(table, tally) if table is not None else {}
    words = [i for i in book.codes if len(i) >= _SHORTEST_WORD and not i.isdecimal()]
    table_file = write_text(copy, TABLE_FILE, _shared_table(raw, book, words, tally))
    # The levels are of no use here: nothing in it is one.
    known: dict[str, Any] = _INFO(info, (), tally)
    report = _shared_report(known["report"], words, reasons, book, tally)
    shared = {**known, "report": report}
    # A table that was changed after its import is told so, before and after.
    if file_sha256(dataset / TABLE_FILE) == info["trials_sha256"]:
        shared["trials_sha256"] = file_sha256(table_file)
    if table is not None:
        written = write_text(copy, MAPPING_FILE, tomli_w.dumps(table))
        tally.add("dropped", "comments in mapping.toml (it was written anew)")
        if "mapping_sha256" in info:
            shared["mapping_sha256"] = file_sha256(written)
    write_text(copy, INFO_FILE, json.dumps(shared, indent=1, ensure_ascii=False) + "\n")


def _shared_table(raw: CodedTable, book: CodeBook, words: Collection[str], tally: Tally) -> str:
    columns: dict[str, list[str | None]] = {}
    people = [str(value) for value in raw.columns[_PARTICIPANT].cells()]
    for name, column in raw.columns.items():
        cells: Sequence[str | None] | None = column.cells()
        if name == _PARTICIPANT:
            cells = [book.code_of(who) for who in people]
            tally.add("replaced", "participant ids in the imported table (rows)", len(people))
        elif name.startswith(FACTOR_PREFIX):
            cells = shared_factor(name, column.cells(), people, tally, ids=words)
        if cells is not None:
            columns[name] = list(cells)
    codes = columns[_PARTICIPANT]
    order = sorted(range(len(raw)), key=lambda row: str(codes[row]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([columns[name][row] for name in columns] for row in order)
    return text.getvalue()


def _shared_report(
    report: Mapping[str, Any],
    words: Iterable[str],
    reasons: Mapping[str, str],
    book: CodeBook,
    tally: Tally,
) -> dict[str, Any]:
    shared = dict(report)
    shared["incomplete"] = [[book.code_of(str(who)), n] for who, n in report["incomplete"]]
    tally.add("replaced", "ids of participants whom the import left out", len(report["incomplete"]))
    shared["dropped"] = [
        {**each, "reason": reasons.get(each["reason"]) or _shared_text(each["reason"], words)}
        for each in report["dropped"]
    ]
    if isinstance(report.get("notes"), list):
        shared["notes"] = [_shared_text(str(note), words) for note in report["notes"]]
    if isinstance(report.get("files"), list):
        # Files per participant are often called after them.
        shared["files"] = [
            [f"source-{number:04d}{_ending(str(each[0]))}", *each[1:]]
            for number, each in enumerate(report["files"], start=1)
        ]
        tally.add("replaced", "names of the files that were imported", len(report["files"]))
    return shared


def _ending(name: str) -> str:
    match = re.search(r"\.[A-Za-z]{1,6}$", name)
    return match[0].lower() if match else ""


def _shared_text(text: str, words: Iterable[str]) -> str:
    return REMOVED if holds_any(text, words) else without_places(text)


def _without_filters(table: dict[str, Any], tally: Tally) -> dict[str, str]:
    """Drop the filters of a mapping, and return what stands for the reason of each.

    Their values are of any column of the source, and their reasons somebody's own words.
    """
    filters = table.pop("filters", None) or []
    tally.add("dropped", "filters of the import, with their reasons", len(filters))
    return {
        str(each.get("reason")): f"left out by filter {number} of the import"
        for number, each in enumerate(filters, start=1)
    }
