"""Records of timing self-tests without dates, paths and what stands for a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.sharing.logs import SharedFile
from ghostblitz_analysis.export.sharing.machine_entries import SELF_TEST
from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.texts import (
    Calendar,
    shared_machine,
    shared_settings_of_machine,
    without_places,
)
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.timing.record import TIMING_FOLDER, read_record, self_test_files
from ghostblitz_task.trial_log import file_sha256

__all__ = ["share_self_tests"]

_STAMP = "19000101T000000Z"


def share_self_tests(dataset: Path, copy: Path, tally: Tally) -> dict[str, SharedFile]:
    """Write the self-tests of a data set without what identifies, oldest first as before.

    Parameters
    ----------
    dataset : Path
        The data set's folder.
    copy : Path
        The new data set's folder.

    Returns
    -------
    dict of str to SharedFile
        By their old names. Records that cannot be read, and pages made of records, are left out.
    """
    shared: dict[str, SharedFile] = {}
    machines: dict[str, str] = {}
    folder = dataset / TIMING_FOLDER
    for path in self_test_files(dataset):
        try:
            record = read_record(path)
        except DatasetError:
            tally.add("dropped", "records of self-tests that cannot be read")
            continue
        machine = machines.setdefault(record["machine"], f"machine-{len(machines) + 1}")
        started = Calendar.day(0, second=len(shared))
        document = _shared_record(record, machine, tally) | {"started_utc": started}
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
        number = f"-{len(shared) + 1}" if shared else ""
        name = f"timing-{_STAMP}{number}.json"
        written = write_text(copy, f"{TIMING_FOLDER}/{name}", text + "\n")
        shared[path.name] = SharedFile(name, file_sha256(path), file_sha256(written), started)
    if folder.is_dir():
        n_others = sum(p.is_file() for p in folder.rglob("*")) - len(self_test_files(dataset))
        tally.add("dropped", "pages and pictures made of self-tests", n_others)
    return shared


def _shared_record(record: Mapping[str, Any], machine: str, tally: Tally) -> dict[str, Any]:
    about, changed = shared_machine(record["apparatus"], "", tally)
    raw = {**record, "machine": machine, "apparatus": about}
    raw["apparatus_settings"] = shared_settings_of_machine(record["apparatus_settings"], tally)
    for name in ("checks", "methods", "measured"):
        raw[name] = _reworded(record[name], changed)
    shared: dict[str, Any] = SELF_TEST(raw, (), tally)
    tally.add("replaced", "marks of machines in self-tests")
    tally.add("coarsened", "times of timing self-tests")
    return shared


def _reworded(value: Any, changed: Mapping[str, str]) -> Any:
    """Copy a value of JSON, its sentences without dates, paths and the system's full name."""
    if isinstance(value, Mapping):
        return {name: _reworded(inner, changed) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_reworded(inner, changed) for inner in value]
    if isinstance(value, str):
        for old, new in changed.items():
            value = value.replace(old, new)
        return without_places(value)
    return value
