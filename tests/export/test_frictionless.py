"""Data Packages: valid for the frictionless program, and identical when read back."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from frictionless import Package, validate

from ghostblitz_analysis.export.formats import frictionless_package
from ghostblitz_analysis.export.formats.frictionless_package import (
    read_frictionless,
    write_frictionless,
)
from tests.export.odd_tables import ODD_IDS, odd_source
from tests.export.small_sources import published, simulated


@pytest.fixture(autouse=True)
def without_the_rest(monkeypatch):
    monkeypatch.setattr(frictionless_package, "write_common", lambda *_: None)


@pytest.fixture
def package(tmp_path) -> Path:
    write_frictionless(odd_source(), tmp_path)
    return tmp_path


def errors_of(folder: Path) -> set[str]:
    report = validate(str(folder / "datapackage.json"))
    assert report.valid == (not report.flatten(["type"]))
    return {kind for (kind,) in report.flatten(["type"])}


def description(folder: Path) -> dict:
    return json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))


def test_odd_table_comes_back_identical(package):
    frame = odd_source().main.frame
    pd.testing.assert_frame_equal(read_frictionless(package), frame, check_exact=True)


def test_package_of_odd_table_is_valid(package):
    assert errors_of(package) == set()


def test_frictionless_reads_the_same_values(package):
    frame = odd_source().main.frame
    rows = Package(str(package / "datapackage.json")).get_resource("trials").read_rows()
    assert len(rows) == len(frame)
    read = pd.DataFrame([row.to_dict() for row in rows])
    assert list(dict.fromkeys(read["participant_id"])) == list(ODD_IDS)
    assert set(read["rules"]) == {""}
    for name in ("rt_s", "onset_s"):
        assert [None if pd.isna(v) else float(v) for v in frame[name]] == [
            None if v is None else float(v) for v in read[name]
        ]
    assert read["correct"].tolist() == frame["correct"].tolist()


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (b'"grab"', b'"grasp"', "constraint-error"),
        (b"simulated", b"", "constraint-error"),
        (b",true,", b",maybe,", "type-error"),
    ],
)
def test_frictionless_finds_a_changed_cell(package, old, new, error):
    file = package / "data" / "trials.csv"
    file.write_bytes(file.read_bytes().replace(old, new, 1))
    about = description(package)
    resource = about["resources"][0]
    for key in ("hash", "bytes"):
        del resource[key]
    (package / "datapackage.json").write_text(json.dumps(about), encoding="utf-8")
    assert error in errors_of(package)


def test_frictionless_finds_a_changed_file(package):
    file = package / "data" / "trials.csv"
    file.write_bytes(file.read_bytes().replace(b"0.5", b"0.6", 1))
    assert "hash-count" in errors_of(package)


def test_fields_say_type_unit_levels_and_what_is_required(package):
    trials = description(package)["resources"][0]
    fields = {field["name"]: field for field in trials["schema"]["fields"]}
    assert fields["rt_s"]["type"] == "number"
    assert fields["rt_s"]["unit"] == "s"
    assert "constraints" not in fields["rt_s"]
    assert fields["session"]["constraints"] == {"required": True, "minimum": 1}
    assert fields["mode"]["constraints"] == {"required": True, "enum": ["grab", "shout"]}
    assert trials["schema"]["primaryKey"] == ["participant_id", "session", "trial_index"]
    assert fields["rt_s"]["description"].endswith("Missing when: nothing was answered in time")


def test_simulated_data_are_called_so(package):
    about = description(package)
    assert about["title"].endswith("(simulated data)")
    assert about["description"].startswith("Simulated data, not people.")
    assert about["sources"] == [{"title": "Simulated participants, not people"}]
    assert all(resource["title"].endswith("simulated") for resource in about["resources"])


def test_publication_is_told(tmp_path):
    (tmp_path / "out").mkdir()
    source = published(tmp_path / "published")
    write_frictionless(source, tmp_path / "out")
    about = description(tmp_path / "out")
    assert errors_of(tmp_path / "out") == set()
    assert about["licenses"][0]["name"] == "CC-BY-4.0"
    assert about["contributors"][0] == {
        "title": "Zoë O'Neil",
        "givenName": "Zoë",
        "familyName": "O'Neil",
        "path": "https://orcid.org/0000-0002-1825-0097",
        "organization": 'Somewhere: "Institute"',
        "roles": ["author"],
    }
    assert about["version"] == "1.1.0"
    assert about["homepage"] == "https://example.org/article"
    assert about["id"] == "https://doi.org/10.5281/zenodo.1234567"


@pytest.mark.slow
def test_captains_games_are_a_resource(tmp_path):
    (tmp_path / "out").mkdir()
    source = simulated("captain-static", tmp_path / "data")
    write_frictionless(source, tmp_path / "out")
    about = description(tmp_path / "out")
    assert [resource["name"] for resource in about["resources"]] == [
        "turns", "games", "participants",
    ]  # fmt: skip
    assert errors_of(tmp_path / "out") == set()
    pd.testing.assert_frame_equal(read_frictionless(tmp_path / "out"), source.main.frame)
