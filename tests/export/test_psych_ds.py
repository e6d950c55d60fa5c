"""Psych-DS: the published rules find nothing, and the table comes back identical."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.formats import psych_ds
from ghostblitz_analysis.export.formats.psych_ds import read_psych_ds, write_psych_ds
from ghostblitz_analysis.export.manifest import write_manifest
from ghostblitz_task.schema import COLUMNS
from tests.export.odd_tables import odd_source
from tests.export.psych_ds_rules import RULES, findings_of
from tests.export.small_sources import imported, published, simulated

ABOUT = "dataset_description.json"
#: What other parts of an export write.
COMMON = ("README.md", "CHANGES.md", "LICENSE", "CITATION.cff", ".zenodo.json")


def write_little(source: Any, folder: Path, layout: Any) -> None:
    for name in COMMON:
        write_text(folder, name, "made\n")
    for part in (layout.source, layout.stimuli, layout.results, layout.documents):
        write_text(folder, f"{part}/{ABOUT}", "{}\n")
    write_text(folder, f"{layout.source}/trials.csv", "a\n1\n")


@pytest.fixture
def export(tmp_path, monkeypatch) -> Callable[..., Path]:
    def build(source: Any) -> Path:
        folder = tmp_path / "out"
        folder.mkdir()
        write_psych_ds(source, folder)
        write_manifest(folder)
        return folder

    monkeypatch.setattr(psych_ds, "write_common", write_little)
    return build


def change(folder: Path, **others: Any) -> None:
    path = folder / ABOUT
    about = json.loads(path.read_text(encoding="utf-8")) | others
    kept = {key: value for key, value in about.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def test_odd_table_comes_back_identical(export):
    source = odd_source()
    pd.testing.assert_frame_equal(
        read_psych_ds(export(source)), source.main.frame, check_exact=True
    )


def test_rules_find_nothing(export):
    assert findings_of(export(odd_source())) == []


def test_rules_find_nothing_with_a_publication(export, tmp_path):
    folder = export(published(tmp_path / "published"))
    assert findings_of(folder) == []
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    # Nobody states a policy of privacy, nor what to cite.
    missing = set(RULES["recommended_fields"]) - set(about)
    assert missing == {"privacyPolicy", "citation"}


def test_rules_find_nothing_in_imported_data(export, tmp_path):
    assert findings_of(export(imported(tmp_path / "imported"))) == []


def test_variables_are_exactly_the_columns(export):
    folder = export(odd_source())
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    variables = about["variableMeasured"]
    assert [v["name"] for v in variables] == [*(c.name for c in COLUMNS), "factor_note"]
    by_name = {v["name"]: v for v in variables}
    assert by_name["rt_s"]["unitText"] == "s"
    assert by_name["rt_s"]["description"].endswith("Missing when: nothing was answered in time.")
    assert by_name["mode"]["valueReference"] == ["grab", "shout"]


@pytest.mark.parametrize(
    ("study_id", "name"),
    [("a_b-c 1", "abc1"), ("Zoë", "Zoe"), ("李", "ghostblitz"), ("../..", "ghostblitz")],
)
def test_names_of_files_take_any_study(export, study_id, name):
    folder = export(replace(odd_source(), study_id=study_id))
    assert (folder / "data" / f"study-{name}_description-trials_data.csv").is_file()
    assert findings_of(folder) == []


def test_simulated_data_are_called_so(export):
    about = json.loads((export(odd_source()) / ABOUT).read_text(encoding="utf-8"))
    assert about["name"] == "odd (simulated data)"
    assert about["description"].startswith("Simulated data, not people.")


@pytest.mark.slow
def test_captains_games_have_a_file_beside_them(export, tmp_path):
    source = simulated("captain-static", tmp_path / "data")
    folder = export(source)
    assert findings_of(folder) == []
    assert (folder / "data" / "study-captainstatic_description-games_data.json").is_file()
    pd.testing.assert_frame_equal(read_psych_ds(folder), source.main.frame, check_exact=True)


@pytest.mark.slow
def test_rules_find_nothing_in_a_whole_export(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    write_psych_ds(simulated("classic-grab", tmp_path / "data"), folder)
    write_manifest(folder)
    assert findings_of(folder) == []


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ({"name": None}, "JSON_KEY_REQUIRED"),
        ({"@type": "Thing"}, "INCORRECT_DATASET_TYPE"),
        ({"@context": "https://example.org/"}, "INVALID_JSONLD_FORMATTING"),
        ({"colour": "red"}, "INVALID_SCHEMAORG_PROPERTY"),
        ({"author": [{"name": "A"}]}, "OBJECT_TYPE_MISSING"),
        ({"author": {"@type": "Dataset"}}, "INVALID_OBJECT_TYPE"),
        ({"variableMeasured": ["rt_s"]}, "CSV_COLUMN_MISSING_FROM_METADATA"),
    ],
)
def test_rules_find_what_is_wrong_with_metadata(export, others, code):
    folder = export(odd_source())
    change(folder, **others)
    assert code in {found for found, _ in findings_of(folder)}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("data/Study-1_data.csv", "FILENAME_KEYWORD_FORMATTING_ERROR"),
        ("data/mood-1_data.csv", "FILENAME_UNOFFICIAL_KEYWORD_WARNING"),
        ("data/table.csv", "FILE_NOT_CHECKED"),
        ("notes.txt", "FILE_NOT_CHECKED"),
        (f"data/{ABOUT}", "WRONG_METADATA_LOCATION"),
    ],
)
def test_rules_find_files_with_wrong_names(export, name, code):
    folder = export(odd_source())
    (folder / name).write_text('"rt_s"\n1\n', encoding="utf-8")
    assert code in {found for found, _ in findings_of(folder)}
