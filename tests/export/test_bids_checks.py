"""Own checks of BIDS exports: what the validator takes for good."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.export.bids.checks import check_bids
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.errors import DatasetError
from tests.export.bids_exports import errors_of, export

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

Change = Callable[[pd.DataFrame], object]


@pytest.fixture
def out(tmp_path, monkeypatch) -> Path:
    return export(load_source(ROOT / "data" / "example"), tmp_path / "out", monkeypatch)


def tables_in(out: Path) -> list[Path]:
    return sorted(out.glob("sub-*/**/*_beh.tsv"))


def change(path: Path, edit: Change) -> None:
    cells = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    changed = edit(cells)
    cells = changed if isinstance(changed, pd.DataFrame) else cells
    cells.to_csv(path, sep="\t", index=False)


def put(column: str, value: str, row: int = 3) -> Change:
    def edit(cells: pd.DataFrame) -> None:
        cells.loc[row, column] = value

    return edit


def codes(out: Path) -> list[str]:
    return sorted({finding.code for finding in check_bids(out)})


def test_export_as_written_has_no_findings(out):
    assert check_bids(out) == ()


def in_ms(cells: pd.DataFrame) -> None:
    cells["response_time"] = [
        c if c == "n/a" else str(float(c) * 1000) for c in cells["response_time"]
    ]


def twice(cells: pd.DataFrame) -> None:
    cells.loc[5, "trial_index"] = cells.loc[4, "trial_index"]


@pytest.mark.parametrize(
    ("edit", "code", "words"),
    [
        (in_ms, "unit", "looks like ms"),
        (twice, "duplicate_trial", "trial_index 4 stands in"),
        (put("response_time", "-1"), "sentinel", "-1, which is a code"),
        (put("response_time", "0"), "sentinel", "0, which is a code"),
        (put("response_time", "999.0"), "sentinel", "999.0, which is a code"),
        (put("response", "n/a"), "contradiction", "row 4: response_time is"),
        (put("session", "2"), "name", "another session"),
        (put("run", "7"), "name", "another run"),
        (put("error_kind", "none"), "sentinel", "error_kind has 'none'"),
    ],
    ids=[
        "milliseconds", "duplicate", "-1", "0", "999", "no response", "session", "run", "word",
    ],
)  # fmt: skip
def test_what_was_changed_is_found(out, edit, code, words):
    change(tables_in(out)[0], edit)
    (finding,) = check_bids(out)
    assert (finding.code, finding.where) == (code, tables_in(out)[0].relative_to(out).as_posix())
    assert words in finding.message


def test_the_validator_takes_these_for_good(out):
    """So that the checks are needed: all of these pass it."""
    first, second = tables_in(out)[:2]
    for edit in (in_ms, twice, put("response", "n/a"), put("response_time", "999.0")):
        change(first, edit)
    change(second, put("response_time", "-1"))
    assert errors_of(out) == []
    assert codes(out) == ["contradiction", "duplicate_trial", "sentinel", "unit"]


def test_one_run_under_two_participants_is_found(out):
    first, second = tables_in(out)[:2]
    shutil.copyfile(first, second)
    (finding,) = check_bids(out)
    assert finding.code == "copied_run"
    assert first.relative_to(out).as_posix() in finding.message


def test_unit_that_the_sidecar_gets_wrong_is_found(out):
    (sidecar,) = out.glob("task-*_beh.json")
    entries = json.loads(sidecar.read_text())
    entries["response_time"]["Units"] = "ms"
    del entries["card"]
    sidecar.write_text(json.dumps(entries))
    assert codes(out) == ["undescribed", "unit"]
    assert "response_time is in ms, not in s" in {f.message for f in check_bids(out)}


def test_lost_rows_and_lost_participants_are_found(out):
    first, second = tables_in(out)[:2]
    change(first, lambda cells: cells.iloc[:-1])
    people = (out / "participants.tsv").read_text().splitlines(keepends=True)
    del people[2]
    (out / "participants.tsv").write_text("".join(people))
    found = {finding.where: finding.message for finding in check_bids(out)}
    assert set(found) == {first.parts[-4], second.parts[-4]}
    assert "trials, but there are" in found[first.parts[-4]]
    assert "has no row" in found[second.parts[-4]]


def test_folder_that_is_no_bids_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="holds no tables of runs"):
        check_bids(tmp_path)
