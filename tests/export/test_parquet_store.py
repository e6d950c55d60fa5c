"""Parquet stores: identical tables, only new sessions written, safe names, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from ghostblitz_analysis.export.formats import parquet_parts, parquet_store
from ghostblitz_analysis.export.formats.parquet_parts import PartKey, folder_of, participant_folder
from ghostblitz_analysis.export.formats.parquet_store import (
    add_tables,
    read_parquet,
    read_store,
    update_store,
    write_parquet,
)
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.errors import DatasetError
from tests.export.odd_tables import ODD_IDS, odd_source, part_of, with_frame
from tests.export.small_sources import EXAMPLE, simulated

pytestmark = pytest.mark.slow


def bytes_of(store: Path) -> dict[str, bytes]:
    return {p.relative_to(store).as_posix(): p.read_bytes() for p in store.rglob("*.parquet")}


@pytest.fixture
def part_of_example(tmp_path) -> Callable[[int], Path]:
    """The example data set with its first logs only."""

    def build(n_logs: int) -> Path:
        folder = tmp_path / f"first-{n_logs}"
        shutil.copytree(EXAMPLE, folder)
        for log in sorted((folder / "logs").glob("*.jsonl"))[n_logs:]:
            log.unlink()
        return folder

    return build


def test_odd_table_comes_back_identical(tmp_path):
    source = odd_source()
    done = add_tables(source, tmp_path / "store")
    assert (done.n_added, done.n_known) == (len(ODD_IDS), 0)
    found = read_store(tmp_path / "store")
    pd.testing.assert_frame_equal(found, source.main.frame, check_exact=True)
    order = json.loads((tmp_path / "store" / "trials" / "_order.json").read_text(encoding="utf-8"))
    assert [block["rows"] for block in order["blocks"]] == [None]


def test_every_participant_has_a_folder_of_a_safe_name(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    folders = [path.name for path in (tmp_path / "store" / "trials" / "study_id=odd").iterdir()]
    people = [name for name in folders if name.startswith("participant_id=")]
    assert len(people) == len(ODD_IDS)
    for name in people:
        assert name.isascii()
        assert len(name) < 140
        assert not set(name) & set('/\\:*?"<>|. ')


def test_folders_of_different_ids_differ():
    folders = {participant_folder(name) for name in ODD_IDS}
    assert len(folders) == len(ODD_IDS)
    assert participant_folder("a/b") == "participant_id=a%2Fb"
    assert participant_folder("..") == "participant_id=%2E%2E"
    long, other = participant_folder("李" * 64), participant_folder("李" * 63 + "子")
    assert long != other


@pytest.mark.parametrize("name", ODD_IDS)
def test_one_participant_is_read(tmp_path_factory, name):
    store = tmp_path_factory.getbasetemp() / "store-of-odd-ids"
    if not store.exists():
        add_tables(odd_source(), store)
    frame = odd_source().main.frame
    expected = frame[frame["participant_id"] == name].reset_index(drop=True)
    pd.testing.assert_frame_equal(read_store(store, participants=[name]), expected)


def test_only_new_runs_are_written(tmp_path, part_of_example):
    store = tmp_path / "store"
    first = update_store(part_of_example(2), store)
    before = bytes_of(store)
    times = {name: (store / name).stat().st_mtime_ns for name in before}
    second = update_store(EXAMPLE, store)
    after = bytes_of(store)
    assert (first.n_added, first.n_known) == (2, 0)
    assert second.n_known == 2
    assert second.n_added == len(after) - 2 > 0
    assert {name: after[name] for name in before} == before
    assert {name: (store / name).stat().st_mtime_ns for name in before} == times
    expected = load_source(EXAMPLE).main.frame
    pd.testing.assert_frame_equal(read_store(store), expected, check_exact=True)


def test_second_update_adds_nothing(tmp_path):
    update_store(EXAMPLE, tmp_path / "store")
    before = bytes_of(tmp_path / "store")
    assert update_store(EXAMPLE, tmp_path / "store").n_added == 0
    assert bytes_of(tmp_path / "store") == before


def test_known_logs_are_not_read_again(tmp_path, monkeypatch):
    update_store(EXAMPLE, tmp_path / "store")

    def fail(*_: object) -> None:
        raise AssertionError("a part was read or written")

    monkeypatch.setattr(parquet_parts, "read_part", fail)
    monkeypatch.setattr(parquet_parts, "_place", fail)
    update_store(EXAMPLE, tmp_path / "store")


def test_parts_are_named_by_session_run_and_sum_of_the_log(tmp_path):
    update_store(EXAMPLE, tmp_path / "store")
    source = load_source(EXAMPLE)
    for run in source.runs:
        key = PartKey(run.study_id, run.participant_id, run.session, run.run)
        name = f"part-{run.session}-{run.run}-{run.sha256[:16]}.parquet"
        assert (tmp_path / "store" / "trials" / folder_of(key) / name).is_file()


def test_new_participant_gets_the_place_of_the_table(tmp_path):
    frame = odd_source().main.frame
    some = frame["participant_id"].isin(ODD_IDS[3:])
    add_tables(with_frame(odd_source(), frame[some]), tmp_path / "store")
    add_tables(odd_source(), tmp_path / "store")
    pd.testing.assert_frame_equal(read_store(tmp_path / "store"), frame, check_exact=True)


def test_participant_taken_out_of_the_data_set_stays(tmp_path):
    frame = odd_source().main.frame
    add_tables(odd_source(), tmp_path / "store")
    left = frame["participant_id"] != ODD_IDS[0]
    add_tables(with_frame(odd_source(), frame[left]), tmp_path / "store")
    expected = pd.concat([frame[left], frame[~left]], ignore_index=True)
    pd.testing.assert_frame_equal(read_store(tmp_path / "store"), expected)


@pytest.mark.parametrize("seed", [1, 2])
def test_rows_in_any_order_come_back_in_it(tmp_path, seed):
    frame = odd_source().main.frame
    shuffled = frame.iloc[np.random.default_rng(seed).permutation(len(frame))]
    source = with_frame(odd_source(), shuffled)
    add_tables(source, tmp_path / "store")
    pd.testing.assert_frame_equal(read_store(tmp_path / "store"), source.main.frame)
    some = read_store(tmp_path / "store", participants=["01"])
    mine = source.main.frame["participant_id"] == "01"
    pd.testing.assert_frame_equal(some, source.main.frame[mine].reset_index(drop=True))


def test_several_studies_share_a_store(tmp_path):
    frame = odd_source().main.frame
    sources = []
    for study in ("b", "a"):
        of_study = frame.assign(study_id=pd.array([study] * len(frame), dtype="string"))
        sources.append(with_frame(odd_source(), of_study))
        add_tables(sources[-1], tmp_path / "store")
    for source, study in zip(sources, ("b", "a"), strict=True):
        found = read_store(tmp_path / "store", study=study)
        pd.testing.assert_frame_equal(found, source.main.frame, check_exact=True)
    both = pd.concat([source.main.frame for source in sources], ignore_index=True)
    pd.testing.assert_frame_equal(read_store(tmp_path / "store"), both)


def test_factor_of_one_study_is_missing_in_the_other(tmp_path):
    add_tables(load_source(EXAMPLE), tmp_path / "store")
    add_tables(odd_source(), tmp_path / "store")
    found = read_store(tmp_path / "store")
    of_example = found["study_id"] != "odd"
    assert found.loc[of_example, "factor_note"].isna().all()
    expected = odd_source().main.frame
    pd.testing.assert_frame_equal(found[~of_example].reset_index(drop=True), expected)


def test_captains_tables_come_back_identical(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_store, "write_common", lambda *_: None)
    source = simulated("captain-static", tmp_path / "data", n_participants=2)
    (tmp_path / "out").mkdir()
    write_parquet(source, tmp_path / "out")
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "out"), source.main.frame)
    games = read_store(tmp_path / "out" / "data", table="games")
    pd.testing.assert_frame_equal(games, source.others[0].frame)


def test_export_holds_the_participants(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_store, "write_common", lambda *_: None)
    write_parquet(odd_source(), tmp_path)
    people = pd.read_parquet(tmp_path / "data" / "participants.parquet")
    assert sorted(people["participant_id"]) == sorted(ODD_IDS)


def test_pandas_reads_the_ids_as_they_are(tmp_path):
    add_tables(odd_source(), tmp_path / "store")
    found = pd.read_parquet(tmp_path / "store" / "trials", partitioning=None)
    assert set(found["participant_id"]) == set(ODD_IDS)
    about = json.loads((tmp_path / "store" / "store.json").read_text(encoding="utf-8"))
    assert 'pandas.read_parquet("trials", partitioning=None)' in about["read_with"]


def test_run_with_other_content_is_refused(tmp_path):
    frame = odd_source().main.frame
    add_tables(odd_source(), tmp_path / "store")
    before = bytes_of(tmp_path / "store")
    other = frame.assign(rt_s=frame["rt_s"] + (frame["participant_id"] == "01").astype("Int64"))
    with pytest.raises(DatasetError, match="run 1 of session 1 of '01' with other content") as e:
        add_tables(with_frame(odd_source(), other), tmp_path / "store")
    assert "\n" not in str(e.value)
    assert bytes_of(tmp_path / "store") == before


def test_log_that_changed_is_refused(tmp_path, part_of_example):
    folder = part_of_example(1)
    update_store(folder, tmp_path / "store")
    (log,) = (folder / "logs").glob("*.jsonl")
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DatasetError, match="with other content than the data set"):
        update_store(folder, tmp_path / "store")


def test_update_that_was_cut_off_goes_on(tmp_path):
    store = tmp_path / "store"
    frame = odd_source().main.frame
    some = frame["participant_id"].isin(ODD_IDS[:3])
    add_tables(with_frame(odd_source(), frame[some]), store)
    order = (store / "trials" / "_order.json").read_bytes()
    add_tables(odd_source(), store)
    # As if the second had written its parts, and begun one more, but not the order.
    (store / "trials" / "_order.json").write_bytes(order)
    begun = part_of("01", store)
    begun.with_name(f".{begun.name}.1a2b3c4d.partial").write_bytes(b"PAR1")
    assert len(read_store(store)) == len(frame)
    done = add_tables(odd_source(), store)
    assert (done.n_added, done.n_known) == (0, len(ODD_IDS))
    pd.testing.assert_frame_equal(read_store(store), frame)


def test_part_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(DatasetError, match="cannot be written: No space left on device"):
        add_tables(odd_source(), tmp_path / "store")
    assert not [p for p in (tmp_path / "store").rglob("part-*") if p.is_file()]
    assert not list((tmp_path / "store").rglob("*.partial"))


def test_store_in_use_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_store, "_WAIT_S", 0.05)
    being_written = pytest.raises(DatasetError, match="is being written by another process")
    with FileLock(tmp_path / ".store.lock"), being_written:
        update_store(EXAMPLE, tmp_path / "store")
    update_store(EXAMPLE, tmp_path / "store")


def test_folder_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"holds no store\.json"):
        update_store(EXAMPLE, tmp_path)
    with pytest.raises(DatasetError, match=r"holds no store\.json"):
        read_store(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "other", "layout_version": 1}', "describes no store of ghostblitz"),
        ('{"format": "ghostblitz-store"}', "describes no store of ghostblitz"),
        ('{"format": "ghostblitz-store", "layout_version": 2}', "layout 2, but this program reads"),
    ],
)
def test_other_or_newer_store_is_refused(tmp_path, text, message):
    add_tables(odd_source(), tmp_path / "store")
    (tmp_path / "store" / "store.json").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_store(tmp_path / "store")
    with pytest.raises(DatasetError, match=message):
        update_store(EXAMPLE, tmp_path / "store")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"study": "other"}, "holds no trials of study 'other'"),
        ({"participants": ["nobody"]}, "holds no trials of participant 'nobody'"),
        ({"participants": ["01", "nobody"]}, "holds no rows of participant 'nobody'"),
        ({"table": "turns"}, "holds no turns"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path, asked, message):
    add_tables(odd_source(), tmp_path / "store")
    with pytest.raises(DatasetError, match=message):
        read_store(tmp_path / "store", **asked)
