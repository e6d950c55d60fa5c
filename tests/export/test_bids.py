"""BIDS exports: what stands where, and the identical table when they are read back."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.export.bids.reading import read_bids, read_bids_games
from ghostblitz_analysis.export.bids.writing import BIDS_LAYOUT, DERIVATIVES, write_bids
from ghostblitz_analysis.export.publication import Publication
from ghostblitz_analysis.export.source import ExportSource, ExportTable, load_source
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS, Column
from ghostblitz_task.studies import open_study, simulate_study
from tests.export.bids_exports import export, with_frame, write_little

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ODD_IDS = [
    "01", "1", "NA", "n/a", "=1+1", "Zoë", "two words", "p" * 64, "P" * 64, "tab\there", '"', "李",
]  # fmt: skip


@pytest.fixture(scope="module")
def source() -> ExportSource:
    return load_source(ROOT / "data" / "example")


@pytest.fixture(scope="module")
def captain(tmp_path_factory) -> ExportSource:
    folder = tmp_path_factory.mktemp("captain")
    study = open_study(ROOT / "experiments" / "captain-static")
    simulate_study(study, folder, n_participants=1, seed=1)
    return load_source(folder)


def small(source: ExportSource, n: int = 3) -> ExportSource:
    """The first trials of each participant."""
    frame = source.main.frame
    return with_frame(source, frame.groupby("participant_id").head(n).reset_index(drop=True))


def named(source: ExportSource, ids: list[str]) -> ExportSource:
    """Participants with these ids, some trials each, in the order of the ids as texts."""
    first = source.main.frame.iloc[:4]
    parts = [first.assign(participant_id=pd.array([i] * 4, dtype="string")) for i in sorted(ids)]
    return with_frame(source, pd.concat(parts, ignore_index=True))


def assert_same(read: pd.DataFrame, written: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(read, written, check_exact=True)


# --- what stands where --------------------------------------------------------------------------


def test_each_run_has_a_table_with_its_trials_and_the_task_one_sidecar(
    source, tmp_path, monkeypatch
):
    out = export(source, tmp_path / "out", monkeypatch)
    tables = sorted(p.relative_to(out).as_posix() for p in out.glob("sub-*/**/*.tsv"))
    assert tables == [
        f"sub-{re.sub('-', '', run.participant_id)}/ses-01/beh/"
        f"sub-{re.sub('-', '', run.participant_id)}_ses-01_task-{_task(source)}_run-01_beh.tsv"
        for run in source.runs
    ]
    first = pd.read_csv(out / tables[0], sep="\t")
    rows = source.main.frame.query("participant_id == @source.runs[0].participant_id")
    assert first["trial_index"].tolist() == rows["trial_index"].tolist()
    sidecar = json.loads((out / f"task-{_task(source)}_beh.json").read_text())
    assert set(first.columns) <= set(sidecar)


def _task(source: ExportSource) -> str:
    return source.runs[0].game.replace("-", "")


def test_response_time_is_in_seconds_and_missing_where_nothing_was_answered(
    source, tmp_path, monkeypatch
):
    out = export(source, tmp_path / "out", monkeypatch)
    paths = sorted(out.glob("sub-*/**/*_beh.tsv"))
    cells = pd.concat([pd.read_csv(p, sep="\t", dtype=str, keep_default_na=False) for p in paths])
    rts = source.main.frame["rt_s"]
    expected = ["n/a" if pd.isna(rt) else repr(float(rt)) for rt in rts]
    assert cells["response_time"].tolist() == expected
    assert expected.count("n/a") == rts.isna().sum() > 0
    assert set(cells["correct"]) == {"true", "false"}
    sidecar = json.loads((out / f"task-{_task(source)}_beh.json").read_text())
    assert sidecar["response_time"]["Units"] == "s"
    assert sidecar["error_kind"]["Levels"]["late"] == "late"
    assert "rt_s" not in sidecar


def test_simulated_data_are_called_so_in_every_description(source, tmp_path, monkeypatch):
    out = export(source, tmp_path / "out", monkeypatch)
    for name in ("dataset_description.json", f"{DERIVATIVES}/dataset_description.json"):
        assert "simulated" in json.loads((out / name).read_text())["Name"]
    for sidecar in out.rglob("task-*.json"):
        words = json.loads(sidecar.read_text())["TaskDescription"]
        assert words.startswith("Simulated data, not people.")
    people = pd.read_csv(out / "participants.tsv", sep="\t", na_values="n/a")
    assert set(people["source"]) == {"simulated"}
    assert people["species"].isna().all()
    described = json.loads((out / "participants.json").read_text())
    assert list(described) == list(people.columns)


def test_authors_and_licence_stand_in_one_place_only(source, tmp_path, monkeypatch):
    stated = Publication.model_validate(
        {"licence": "CC0-1.0", "authors": [{"given": "A", "family": "B"}], "doi": "10.1234/x"}
    )
    out = export(replace(small(source), publication=stated), tmp_path / "out", monkeypatch)
    description = json.loads((out / "dataset_description.json").read_text())
    assert description["DatasetDOI"] == "doi:10.1234/x"
    assert not {"Authors", "License"} & description.keys()

    def without_citation(source, folder, layout):
        write_little(source, folder, layout)
        (folder / "CITATION.cff").unlink()

    monkeypatch.setattr("ghostblitz_analysis.export.bids.writing.write_common", without_citation)
    (tmp_path / "two").mkdir()
    write_bids(replace(small(source), publication=stated), tmp_path / "two")
    description = json.loads((tmp_path / "two" / "dataset_description.json").read_text())
    assert (description["Authors"], description["License"]) == (["A B"], "CC0-1.0")


def test_derivatives_hold_the_flags_of_the_exclusions(source, tmp_path, monkeypatch):
    out = export(source, tmp_path / "out", monkeypatch)
    tables = sorted((out / DERIVATIVES).glob("sub-*/**/*_desc-flagged_beh.tsv"))
    flagged = pd.concat([pd.read_csv(p, sep="\t", na_values="n/a") for p in tables])
    no_rt = source.main.frame["rt_s"].isna()
    assert flagged["exclude_no_rt"].tolist() == no_rt.tolist()
    (sidecar,) = (out / DERIVATIVES).glob("task-*_desc-flagged_beh.json")
    entry = json.loads(sidecar.read_text())["exclude_no_rt"]
    assert entry["Description"].startswith("Left out of RT measures: ")


@pytest.mark.parametrize("palettes", [("standard",), ("standard", "bright")])
def test_cards_name_their_drawing_where_all_saw_the_same(source, tmp_path, monkeypatch, palettes):
    card = str(source.main.frame["card"].iloc[0])

    def with_drawing(source, folder, layout):
        write_little(source, folder, layout)
        rows = [f"{card},{name},cards/{name}/a.svg\n" for name in palettes]
        text = "".join(["card,palette,file\n", *rows, "unread,standard,\n"])
        (folder / layout.stimuli / "cards.csv").write_text(text)

    monkeypatch.setattr("ghostblitz_analysis.export.bids.writing.write_common", with_drawing)
    (tmp_path / "out").mkdir()
    write_bids(source, tmp_path / "out")
    path = next(iter(sorted((tmp_path / "out").glob("sub-*/**/*_beh.tsv"))))
    cells = pd.read_csv(path, sep="\t", na_values="n/a")
    if len(palettes) > 1:
        assert "stim_file" not in cells
    else:
        assert set(cells.loc[cells["card"] == card, "stim_file"]) == {"cards/standard/a.svg"}
        assert cells.loc[cells["card"] != card, "stim_file"].isna().all()
    assert_same(read_bids(tmp_path / "out"), source.main.frame)


def test_raw_logs_are_the_source(source, tmp_path, monkeypatch):
    out = export(source, tmp_path / "out", monkeypatch)
    assert_same(load_source(out / BIDS_LAYOUT.source).main.frame, source.main.frame)


# --- read back ----------------------------------------------------------------------------------


def test_captains_turns_and_games_come_back(captain, tmp_path, monkeypatch):
    out = export(captain, tmp_path / "out", monkeypatch)
    assert_same(read_bids(out), captain.main.frame)
    assert_same(read_bids_games(out), captain.others[0].frame)
    turns = pd.read_csv(next(out.glob("sub-*/**/*_beh.tsv")), sep="\t")
    assert "response_time" in turns.columns
    assert "pick_rt_s" not in turns.columns


def test_odd_ids_come_back_to_the_letter(source, tmp_path, monkeypatch):
    written = named(source, ODD_IDS)
    out = export(written, tmp_path / "out", monkeypatch)
    assert_same(read_bids(out), written.main.frame)
    labels = [p.name for p in out.glob("sub-*")]
    assert len({label.casefold() for label in labels}) == len(ODD_IDS)


def test_rows_in_no_order_come_back_in_it(source, tmp_path, monkeypatch):
    frame = small(source).main.frame
    order = np.random.default_rng(5).permutation(len(frame))
    written = with_frame(source, frame.take(order).reset_index(drop=True))
    out = export(written, tmp_path / "out", monkeypatch)
    assert_same(read_bids(out), written.main.frame)


def test_factors_and_texts_that_read_like_missing_come_back(source, tmp_path, monkeypatch):
    frame = small(source).main.frame
    odd = ["n/a", None, "", "NA", "a\tb", '"', "x"]
    texts = [odd[i % len(odd)] for i in range(len(frame))]
    numbers = [None if i % 2 else i / 7 for i in range(len(frame))]
    frame = frame.assign(
        factor_text=pd.array(texts, dtype="string"), factor_age=pd.array(numbers, dtype="Float64")
    )
    added = (
        Column("factor_text", "string", "A text", "design", null_when="not said"),
        Column("factor_age", "Float64", "A number", "design", null_when="not said"),
    )
    written = with_frame(source, frame)
    table = ExportTable("trials", frame, (*written.main.columns, *added))
    out = export(replace(written, main=table), tmp_path / "out", monkeypatch)
    assert_same(read_bids(out), frame)


def test_extreme_values_come_back(source, tmp_path, monkeypatch):
    frame = small(source).main.frame.copy()
    extremes = [None, -0.1, -0.0, 5e-324, 1e-05, 0.1 + 0.2, 88.0, 1e300]
    frame["rt_s"] = pd.array([extremes[i % 8] for i in range(len(frame))], dtype="Float64")
    frame["correct"] = pd.array([None] * len(frame), dtype="boolean")
    written = with_frame(source, frame)
    out = export(written, tmp_path / "out", monkeypatch)
    assert_same(read_bids(out), frame)


def test_column_of_a_later_version_is_missing_in_an_older_export(source, tmp_path, monkeypatch):
    out = export(small(source), tmp_path / "out", monkeypatch)
    for path in [*out.glob("sub-*/**/*_beh.tsv")]:
        cells = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        cells.drop(columns="tied").to_csv(path, sep="\t", index=False)
    read = read_bids(out)
    assert list(read.columns) == [c.name for c in COLUMNS]
    assert read["tied"].isna().all()
    assert str(read["tied"].dtype) == "boolean"


def test_columns_of_all_tables_keep_their_names_apart():
    """`response_time` is no column of ours, so that renaming loses none."""
    for columns in (COLUMNS, TURN_COLUMNS, GAME_COLUMNS):
        assert "response_time" not in [c.name for c in columns]


# --- refused ------------------------------------------------------------------------------------


@pytest.fixture
def out(source, tmp_path, monkeypatch) -> Path:
    return export(small(source), tmp_path / "out", monkeypatch)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_export_of_a_newer_version_is_refused(source, out):
    sidecar = out / f"task-{_task(source)}_beh.json"
    _edit(sidecar, '"GhostblitzSchemaVersion": 1', '"GhostblitzSchemaVersion": 2')
    with pytest.raises(DatasetError, match="schema version 2, but this program reads up to 1"):
        read_bids(out)


def test_column_taken_away_is_refused(out):
    for path in out.glob("sub-*/**/*_beh.tsv"):
        cells = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        cells.drop(columns="card").to_csv(path, sep="\t", index=False)
    with pytest.raises(DatasetError, match="has no column card; it was taken away"):
        read_bids(out)


def test_runs_with_different_columns_are_refused(out):
    path = sorted(out.glob("sub-*/**/*_beh.tsv"))[-1]
    _edit(path, "\ttied\t", "\ttide\t")
    with pytest.raises(DatasetError, match="has other columns than"):
        read_bids(out)


def test_value_of_another_type_is_refused_with_its_row(out):
    path = sorted(out.glob("sub-*/**/*_beh.tsv"))[0]
    _edit(path, "\ttrue\t", "\tyes\t")
    with pytest.raises(DatasetError, match=r"_beh\.tsv, row \d: \w+ is 'yes', which is no boolean"):
        read_bids(out)


def test_participant_without_a_row_is_refused(out):
    people = (out / "participants.tsv").read_text().splitlines(keepends=True)
    (out / "participants.tsv").write_text("".join(people[:-1]))
    with pytest.raises(DatasetError, match=r"participants\.tsv has no sub-"):
        read_bids(out)


def test_symbolic_link_is_refused(out, tmp_path):
    path = sorted(out.glob("sub-*/**/*_beh.tsv"))[0]
    shutil.move(path, tmp_path / "elsewhere.tsv")
    path.symlink_to(tmp_path / "elsewhere.tsv")
    with pytest.raises(DatasetError, match="holds a symbolic link"):
        read_bids(out)


def test_folder_without_tables_is_refused(tmp_path):
    (tmp_path / "participants.tsv").write_text("participant_id\toriginal_id\n")
    with pytest.raises(DatasetError, match="holds no table of a run"):
        read_bids(tmp_path)


def test_two_runs_of_one_name_are_refused(source, out):
    with pytest.raises(FileExistsError):
        write_bids(small(source), out)
