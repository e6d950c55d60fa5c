"""`ghostblitz export`, `verify` and `import` of an export, as they are called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.export import (
    WRITERS,
    export_dataset,
    import_export,
    load_source,
    read_export,
    verify_folder,
)
from ghostblitz_analysis.export import run as run_module
from ghostblitz_task.cli import main
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.studies import open_study, simulate_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "data" / "example"
BACK = ("bids", "psych-ds", "frictionless", "csv", "parquet")


def called(capsys, *arguments):
    """Call the command; return its exit status and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code or 0, capsys.readouterr()


@pytest.fixture
def quick(monkeypatch):
    """Leave the analysis out, which takes most of the time and has tests of its own."""
    monkeypatch.setattr(
        "ghostblitz_analysis.export.parts.common.write_results", lambda *_arguments: None
    )


def test_formats_that_come_back_are_those_of_the_issue_and_have_readers():
    assert set(BACK) <= set(WRITERS)


@pytest.mark.parametrize("name", BACK)
def test_export_comes_back_whole_and_the_same(quick, tmp_path, name):
    out = tmp_path / "out"
    result = export_dataset(EXAMPLE, out=out, format_name=name, zipped=True)
    assert verify_folder(out) == ()
    expected = load_source(EXAMPLE).main.frame
    pd.testing.assert_frame_equal(read_export(out), expected, check_exact=True)
    for number, path in enumerate((out, result.archive)):
        back = import_export(path, out=tmp_path / f"back-{number}")
        again = load_source(back.out)
        pd.testing.assert_frame_equal(again.main.frame, expected, check_exact=True)
        assert set(again.files) == set(load_source(EXAMPLE).files)


@pytest.mark.parametrize("name", ["bids", "parquet", "excel"])
def test_shared_export_names_nobody_and_its_key_is_apart(quick, tmp_path, name):
    data = tmp_path / "data"
    simulate_study(
        open_study(ROOT / "experiments" / "classic-grab"), data, n_participants=2, seed=1
    )
    ids = set(load_source(data).main.frame["participant_id"])
    out, key = tmp_path / "out", tmp_path / "key.csv"
    result = export_dataset(data, out=out, format_name=name, share=True, key=key)
    assert result.key == key
    assert key.stat().st_mode & 0o777 == 0o600
    assert all(one in key.read_text() for one in ids)
    for path in out.rglob("*"):
        assert not any(one in path.name for one in ids)
        if path.is_file():
            assert not any(one.encode() in path.read_bytes() for one in ids), path
    assert list(out.rglob("de-identification.md"))
    codes = set(load_source(next(out.rglob("logs")).parent).main.frame["participant_id"])
    assert len(codes) == 2
    assert not codes & ids


def test_leak_stops_a_shared_export(quick, tmp_path, monkeypatch):
    def leaking(source, folder):
        (folder / "notes.txt").write_text("ask anna.person@example.org")

    monkeypatch.setattr(run_module, "WRITERS", {"csv": leaking})
    with pytest.raises(DatasetError, match=r"notes.txt.*e-mail"):
        export_dataset(
            EXAMPLE, out=tmp_path / "out", format_name="csv", share=True, key=tmp_path / "key.csv"
        )
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_never_written_over(quick, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    status, said = called(capsys, "export", EXAMPLE, "--format", "csv", "--out", out)
    assert status == 2
    assert "is there already" in said.err
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def failing(source, folder):
        (folder / "half.csv").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_module, "WRITERS", {"csv": failing})
    with pytest.raises(DatasetError, match="No space left on device; nothing was left there"):
        export_dataset(EXAMPLE, out=tmp_path / "out", format_name="csv")
    assert list(tmp_path.iterdir()) == []


def test_symbolic_links_are_refused(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE, data)
    secret = tmp_path / "secret.jsonl"
    secret.write_text("{}")
    (data / "logs" / "other.jsonl").symlink_to(secret)
    with pytest.raises(DatasetError, match=r"other.jsonl, which is no plain file"):
        load_source(data)
    (tmp_path / "link").symlink_to(data)
    with pytest.raises(DatasetError, match="symbolic link"):
        export_dataset(EXAMPLE, out=tmp_path / "link", format_name="csv")


def test_id_that_leads_to_another_folder_is_refused(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(EXAMPLE, data)
    log = sorted((data / "logs").iterdir())[0]
    log.write_text(log.read_text(encoding="utf-8").replace("sim-00001", "../x"), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"'\.\./x' leads to another folder"):
        load_source(data)


def test_taken_name_of_the_archive_is_found_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "out.zip").write_text("mine")
    monkeypatch.setattr(run_module, "load_source", None)
    with pytest.raises(DatasetError, match=r"out\.zip is there already"):
        export_dataset(EXAMPLE, out=tmp_path / "out", format_name="csv", zipped=True)


def test_full_disk_during_the_analysis_is_no_export_without_results(tmp_path, monkeypatch):
    def full(*_arguments, **_options):
        raise DatasetError("cannot be written") from OSError(28, "No space left on device")

    monkeypatch.setattr("ghostblitz_analysis.export.parts.results.analyze_dataset", full)
    with pytest.raises(DatasetError, match="cannot be written"):
        export_dataset(EXAMPLE, out=tmp_path / "out", format_name="csv")
    assert list(tmp_path.iterdir()) == []


def test_archive_that_is_cut_off_is_named_as_it_was_given(tmp_path):
    archive = tmp_path / "their.zip"
    archive.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(DatasetError, match=r"their\.zip is no zip file, or a damaged one"):
        import_export(archive, out=tmp_path / "back")


def test_unknown_format_names_those_that_there_are(tmp_path):
    with pytest.raises(ConfigError, match=r"no format 'sav'; there are bids, psych-ds"):
        export_dataset(EXAMPLE, out=tmp_path / "out", format_name="sav")


def test_export_for_another_program_brings_its_data_set_back(quick, tmp_path):
    out = tmp_path / "out"
    export_dataset(EXAMPLE, out=out, format_name="jasp")
    back = import_export(out, out=tmp_path / "back")
    expected = load_source(EXAMPLE).main.frame
    pd.testing.assert_frame_equal(load_source(back.out).main.frame, expected, check_exact=True)


def test_impossible_value_in_a_bids_table_is_found_whatever_its_sum(quick, tmp_path, capsys):
    out = tmp_path / "out"
    export_dataset(EXAMPLE, out=out, format_name="bids")
    table = next(out.glob("sub-*/ses-*/beh/*_beh.tsv"))
    header, *rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join([header, *rows, rows[0]]), encoding="utf-8")
    (out / "manifest-sha256.txt").unlink()
    run_module.write_manifest(out)
    status, said = called(capsys, "verify", out)
    assert status == 1
    assert "duplicate_trial" in said.out


def test_changed_file_is_found_and_not_brought_back(quick, tmp_path, capsys):
    out = tmp_path / "out"
    export_dataset(EXAMPLE, out=out, format_name="csv")
    status, said = called(capsys, "verify", out)
    assert (status, said.out.startswith("Every file is as it was written")) == (0, True)
    (out / "data" / "added.csv").write_text("1")
    (out / "LICENSE").write_text("other")
    (out / "CITATION.cff").unlink()
    status, said = called(capsys, "verify", out)
    assert status == 1
    assert said.out.splitlines() == [
        "missing: CITATION.cff", "changed: LICENSE", "unlisted: data/added.csv",
    ]  # fmt: skip
    with pytest.raises(
        DatasetError, match=r"not as it was exported: CITATION.cff is missing, and 2 more"
    ):
        import_export(out, out=tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_table_that_differs_from_the_logs_is_not_brought_back(quick, tmp_path):
    out = tmp_path / "out"
    export_dataset(EXAMPLE, out=out, format_name="csv")
    table = out / "data" / "trials.csv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join([lines[0], *lines[2:]]), encoding="utf-8")
    (out / "manifest-sha256.txt").unlink()
    run_module.write_manifest(out)
    with pytest.raises(DatasetError, match="not those of the data set in it"):
        import_export(out, out=tmp_path / "back")


def test_store_takes_only_what_is_new(tmp_path, capsys):
    store = tmp_path / "store"
    status, said = called(capsys, "export", EXAMPLE, "--store", store)
    assert (status, said.out.split(":")[0]) == (0, "3 runs added, 0 known already")
    _, said = called(capsys, "export", EXAMPLE, "--store", store)
    assert said.out.split(":")[0] == "0 runs added, 3 known already"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "give --format and --out"),
        (("--format", "csv"), "give --format and --out"),
        (("--check", "--zip"), "--check writes nothing"),
        (("--store", "s", "--share"), "--store takes a data set"),
        (("--format", "csv", "--out", "o", "--key", "k"), "--key is the key of --share"),
    ],
)
def test_options_that_do_not_go_together_are_refused(capsys, arguments, reason):
    status, said = called(capsys, "export", EXAMPLE, *arguments)
    assert status == 2
    assert reason in said.err


def test_check_lists_what_is_missing_and_writes_nothing(capsys):
    before = sorted(path.name for path in EXAMPLE.iterdir())
    status, said = called(capsys, "export", EXAMPLE, "--check")
    assert status == 0
    assert "MISSING  licence" in said.out
    assert sorted(path.name for path in EXAMPLE.iterdir()) == before
