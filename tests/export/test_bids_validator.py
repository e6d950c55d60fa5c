"""The BIDS validator finds no error, whatever the game, the participant or the id."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.export.bids.checks import check_bids
from ghostblitz_analysis.export.bids.reading import read_bids, read_bids_games
from ghostblitz_analysis.export.bids.writing import write_bids
from ghostblitz_analysis.export.folders import new_folder
from ghostblitz_analysis.export.manifest import write_manifest
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.studies import open_study, simulate_study
from tests.export.bids_exports import errors_of, export, issues_of, with_frame

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted(p.name for p in (ROOT / "experiments").iterdir() if p.is_dir())

#: What the data cannot say, or BIDS asks for and forbids at once (License, beside CITATION.cff).
UNKNOWN = {
    "HEDVersion", "License", "Instructions", "CogAtlasID", "CogPOID", "InstitutionName",
    "InstitutionAddress", "InstitutionalDepartmentName",
}  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_validator_finds_no_error_in_any_study(name, tmp_path, monkeypatch):
    study = open_study(ROOT / "experiments" / name)
    simulate_study(study, tmp_path / "data", n_participants=1, seed=1)
    source = load_source(tmp_path / "data")
    out = export(source, tmp_path / "out", monkeypatch)
    issues = issues_of(out)
    assert [i for i in issues if i["severity"] == "error"] == []
    # Who made the data is said in CITATION.cff; the validator looks for it elsewhere.
    assert {i.get("subCode") for i in issues if i["code"] != "TOO_FEW_AUTHORS"} <= UNKNOWN
    assert check_bids(out) == ()
    pd.testing.assert_frame_equal(read_bids(out), source.main.frame, check_exact=True)
    for table in source.others:
        pd.testing.assert_frame_equal(read_bids_games(out), table.frame, check_exact=True)


HARD = {
    "never": {"rt_s": None, "response": None, "response_mode": None, "response_device": None,
              "response_resolution_s": None, "mode_correct": None, "correct": False,
              "error_kind": "late"},
    "too early": {"rt_s": -0.25, "correct": False, "error_kind": "early"},
    "NA": {"rt_s": 0.7, "correct": True, "error_kind": None},
    "n/a": {"rt_s": 88.0},
    "=1+1": {"rt_s": 5e-324},
    "Zoë": {"phase": "practice"},
    "a\tb\nc": {"recycled": True},
    "p" * 64: {"rt_s": 1e-05},
}  # fmt: skip


def test_validator_finds_no_error_in_hard_participants_with_odd_ids(tmp_path, monkeypatch):
    source = load_source(ROOT / "data" / "example")
    first = source.main.frame.iloc[:6]
    parts = []
    for name, values in HARD.items():
        part = first.assign(participant_id=name).astype({"participant_id": "string"})
        for column, value in values.items():
            part[column] = pd.array([value] * len(part), dtype=first[column].dtype)
        parts.append(part)
    # One trial only, and one session of several.
    parts.append(first.head(1).assign(participant_id="one"))
    parts += [first.assign(participant_id="two", session=n, run=2) for n in (1, 120)]
    frame = pd.concat(parts, ignore_index=True).astype(first.dtypes.to_dict())
    frame = frame.sort_values(["participant_id", "session", "trial_index"], ignore_index=True)
    out = export(with_frame(source, frame), tmp_path / "out", monkeypatch)
    assert errors_of(out) == []
    pd.testing.assert_frame_equal(read_bids(out), frame, check_exact=True)


def test_validator_sees_what_is_wrong(tmp_path, monkeypatch):
    """So that its silence means something: a cell of another type, and a file of another name."""
    out = export(load_source(ROOT / "data" / "example"), tmp_path / "out", monkeypatch)
    first, second = sorted(out.glob("sub-*/**/*_beh.tsv"))[:2]
    first.write_text(first.read_text().replace("\ttrue\t", "\tyes\t", 1))
    second.rename(second.with_name(second.name.replace("_beh", "_behaviour")))
    codes = {code for code, _where in errors_of(out)}
    assert {"TSV_VALUE_INCORRECT_TYPE", "NOT_INCLUDED"} <= codes


def test_validator_finds_no_error_in_a_whole_export(tmp_path):
    with new_folder(tmp_path / "out") as folder:
        write_bids(load_source(ROOT / "data" / "example"), folder)
        write_manifest(folder)
    issues = issues_of(tmp_path / "out")
    assert [i for i in issues if i["severity"] == "error"] == []
    assert "Instructions" not in {i.get("subCode") for i in issues}
    table = next((tmp_path / "out").glob("sub-*/**/*_beh.tsv"))
    drawings = pd.read_csv(table, sep="\t")["stim_file"]
    assert all((tmp_path / "out" / "stimuli" / name).is_file() for name in drawings)
    assert check_bids(tmp_path / "out") == ()
