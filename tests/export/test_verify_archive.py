"""`ghostblitz verify` of a zip file: what it finds in a folder, and nothing left behind."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from ghostblitz_analysis.export.archives import zip_export
from ghostblitz_analysis.export.manifest import write_manifest
from ghostblitz_task.cli import main


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ghosts"
    (made / "data").mkdir(parents=True)
    (made / "README.md").write_text("hello", encoding="utf-8")
    (made / "data" / "Zoë 1.csv").write_text("a,b", encoding="utf-8")
    write_manifest(made)
    return made


def verified(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(path)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_archive_is_as_it_was_written(folder, temporary, capsys):
    archive = zip_export(folder)
    shutil.rmtree(folder)
    told = f"Every file is as it was written: {archive}\n"
    assert verified(archive, capsys) == (0, told, "")
    assert list(temporary.iterdir()) == []
    assert [path.name for path in archive.parent.glob("ghosts*")] == ["ghosts.zip"]


def test_differences_in_an_archive_are_those_of_its_folder(folder, temporary, capsys):
    (folder / "README.md").write_text("other", encoding="utf-8")
    (folder / "data" / "added.csv").write_text("1", encoding="utf-8")
    (folder / "data" / "Zoë 1.csv").unlink()
    found = "changed: README.md\nmissing: data/Zoë 1.csv\nunlisted: data/added.csv\n"
    assert verified(folder, capsys) == (1, found, "")
    assert verified(zip_export(folder), capsys) == (1, found, "")
    assert list(temporary.iterdir()) == []


def test_archive_without_a_manifest_is_named_as_it_was_given(folder, temporary, capsys):
    (folder / "manifest-sha256.txt").unlink()
    status, out, err = verified(zip_export(folder), capsys)
    assert (status, out) == (2, "")
    assert err.endswith("ghosts.zip holds no manifest-sha256.txt, so it is no export to verify\n")
    assert str(temporary) not in err
    assert list(temporary.iterdir()) == []


def test_archive_that_leads_outside_is_refused(folder, tmp_path, temporary, capsys):
    archive = zip_export(folder)
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("ghosts/../../evil.txt", "x")
    status, _, err = verified(archive, capsys)
    assert status == 2
    assert "leads outside, so nothing is unpacked" in err
    assert list(temporary.iterdir()) == []
    assert not list(tmp_path.rglob("evil.txt"))


def test_file_that_is_no_archive_says_so(tmp_path, capsys):
    (tmp_path / "a.zip").write_text("hello")
    status, _, err = verified(tmp_path / "a.zip", capsys)
    assert status == 2
    assert "a.zip is no zip file, or a damaged one" in err
    assert err.count("\n") == 1
