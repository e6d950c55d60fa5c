"""Results as part of an export: the same bytes each time, and nothing of where they were made."""

from __future__ import annotations

import shutil

import pytest

from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.parts.results import NOT_ANALYSED_FILE, write_results
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.errors import DatasetError
from tests.export.small_sources import EXAMPLE, imported, simulated


@pytest.mark.slow
def test_results_are_the_same_wherever_and_whenever_they_are_made(tmp_path):
    simulated("grab-or-shout", tmp_path / "example", n_participants=2)
    for name in ("here", "there"):
        shutil.copytree(tmp_path / "example", tmp_path / name / "example")
        source = load_source(tmp_path / name / "example")
        (tmp_path / name / "out").mkdir()
        write_results(source, tmp_path / name / "out", "results")
    here, there = (tmp_path / name / "out" / "results" for name in ("here", "there"))
    names = files_below(here)
    assert names == files_below(there)
    assert {"analysis.json", "report.html"} <= set(names)
    for name in names:
        data = (here / name).read_bytes()
        assert data == (there / name).read_bytes(), name
        assert str(tmp_path).encode() not in data, name


@pytest.mark.slow
def test_results_of_the_captains_deck_have_no_time(tmp_path):
    source = simulated("captain", tmp_path / "d")
    write_results(source, tmp_path, "results")
    text = (tmp_path / "results" / "analysis.json").read_text(encoding="utf-8")
    assert '"analysed_utc": null' in text
    assert "1970" not in text + (tmp_path / "results" / "report.html").read_text(encoding="utf-8")


def test_data_that_cannot_be_analysed_say_why(tmp_path):
    source = imported(tmp_path / "d")
    (source.path / "analysis.toml").write_text('phases = ["practice"]\n')
    write_results(load_source(source.path), tmp_path, "results")
    assert files_below(tmp_path / "results") == [NOT_ANALYSED_FILE]
    text = (tmp_path / "results" / NOT_ANALYSED_FILE).read_text(encoding="utf-8")
    assert text.startswith("Not analysed: ")
    assert "practice" in text
    assert str(tmp_path) not in text


def test_reason_does_not_tell_where_the_data_stood(tmp_path, monkeypatch):
    def refuse(path, **_settings):
        raise DatasetError(f"{path} holds no test turns")

    monkeypatch.setattr("ghostblitz_analysis.export.parts.results.analyze_dataset", refuse)
    write_results(load_source(EXAMPLE), tmp_path, "results")
    text = (tmp_path / "results" / NOT_ANALYSED_FILE).read_text(encoding="utf-8")
    assert text == "Not analysed: example holds no test turns.\n"
