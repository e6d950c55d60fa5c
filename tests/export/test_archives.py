"""Archives: the same bytes each time, and nothing that can hurt when it is unpacked."""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.export import archives
from ghostblitz_analysis.export.archives import unpack_export, zip_export
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.manifest import verify_folder, write_manifest
from ghostblitz_task.errors import DatasetError


@pytest.fixture
def export(tmp_path: Path) -> Path:
    folder = tmp_path / "ghosts"
    for name in (".zenodo.json", "README.md", "sourcedata/logs/sub-Zoë one.jsonl", "data/=1+1.csv"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    write_manifest(folder)
    return folder


def packed(tmp_path: Path, *entries: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    archive = tmp_path / "made.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for info, data in entries:
            file.writestr(info, data)
    return archive


def refused(archive: Path, tmp_path: Path, match: str) -> None:
    """Unpacking ends with one line, and nothing is there afterwards, inside or outside."""
    place = tmp_path / "place"
    place.mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DatasetError, match=match) as caught:
        unpack_export(archive, place / "out")
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_unpacked_export_is_the_one_that_was_packed(export, tmp_path):
    out = unpack_export(zip_export(export), tmp_path / "back")
    assert files_below(out) == files_below(export)
    assert verify_folder(out) == ()


def test_same_export_gives_the_same_archive(export):
    archive = zip_export(export)
    first = archive.read_bytes()
    archive.unlink()
    for name in files_below(export):
        os.utime(export / name, (1_000_000_000, 1_000_000_000))
        (export / name).chmod(0o600)
    assert zip_export(export).read_bytes() == first


def test_names_in_an_archive_are_sorted_below_the_folders_name(export):
    with zipfile.ZipFile(zip_export(export)) as file:
        names = file.namelist()
        modes = {info.external_attr >> 16 for info in file.infolist()}
    assert names == sorted(f"ghosts/{name}" for name in files_below(export))
    assert "ghosts/.zenodo.json" in names
    assert modes == {stat.S_IFREG | 0o644}


def test_archive_that_is_there_is_left_as_it_is(export):
    export.with_name("ghosts.zip").write_text("mine")
    with pytest.raises(DatasetError, match="is there already and is left as it is"):
        zip_export(export)
    assert export.with_name("ghosts.zip").read_text() == "mine"


def test_archive_that_came_meanwhile_is_left_as_it_is(export, monkeypatch):
    pack = archives._pack

    def slow(*arguments):
        export.with_name("ghosts.zip").write_text("mine")
        pack(*arguments)

    monkeypatch.setattr(archives, "_pack", slow)
    with pytest.raises(DatasetError, match="is there already"):
        zip_export(export)
    assert export.with_name("ghosts.zip").read_text() == "mine"
    assert sorted(p.name for p in export.parent.iterdir()) == ["ghosts", "ghosts.zip"]


def test_failed_archive_leaves_nothing(export, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "_pack", full)
    with pytest.raises(DatasetError, match="No space left on device"):
        zip_export(export)
    assert [p.name for p in export.parent.iterdir()] == ["ghosts"]


def test_symbolic_link_in_an_export_is_not_packed(export):
    (export / "link").symlink_to("/etc/hostname")
    with pytest.raises(DatasetError, match="symbolic link"):
        zip_export(export)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("../evil.txt", "leads outside"),
        ("ghosts/../../evil.txt", "leads outside"),
        ("/etc/evil.txt", "is no name of a file"),
        ("a\\..\\evil.txt", "is no name of a file"),
        ("C:/evil.txt", "cannot be the name of a file"),
        ("con", "cannot be the name of a file"),
    ],
)
def test_name_that_leads_outside_is_refused(name, match, tmp_path):
    refused(packed(tmp_path, ("ok.txt", b"1"), (name, b"2")), tmp_path, match)


def test_symbolic_link_in_an_archive_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    refused(packed(tmp_path, (link, b"/etc/hostname")), tmp_path, "is a symbolic link")


def test_device_in_an_archive_is_refused(tmp_path):
    fifo = zipfile.ZipInfo("fifo")
    fifo.create_system, fifo.external_attr = 3, (stat.S_IFIFO | 0o644) << 16
    refused(packed(tmp_path, (fifo, b"")), tmp_path, "is no plain file")


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize(
    "names", [("a.txt", "a.txt"), ("a.txt", "A.TXT"), ("Zoë.txt", "Zoe\u0308.txt")]
)
def test_name_that_stands_twice_is_refused(names, tmp_path):
    archive = packed(tmp_path, *((name, b"1") for name in names))
    refused(archive, tmp_path, "which are one file")


def test_file_that_is_also_a_folder_is_refused(tmp_path):
    refused(packed(tmp_path, ("a", b"1"), ("a/b", b"2")), tmp_path, "cannot be")


def test_archive_made_to_fill_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_ANY_RATIO_BYTES", 1_000_000)
    bomb = packed(tmp_path, ("zeros", bytes(5_000_000)))
    refused(bomb, tmp_path, "which is no export")


def test_archive_larger_than_any_export_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_MOST_BYTES", 1_000)
    refused(packed(tmp_path, ("a", os.urandom(2_000))), tmp_path, "which is no export")


def test_archive_of_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_MOST_FILES", 2)
    archive = packed(tmp_path, *((str(n), b"") for n in range(3)))
    refused(archive, tmp_path, "holds 3 files, more than any export")


@pytest.mark.parametrize("cut", [0.2, 0.9])
def test_archive_that_was_cut_off_is_refused(cut, export, tmp_path):
    data = zip_export(export).read_bytes()
    archive = tmp_path / "cut.zip"
    archive.write_bytes(data[: int(len(data) * cut)])
    refused(archive, tmp_path, "is no zip file, or a damaged one")


def test_archive_with_a_changed_byte_is_refused(tmp_path):
    archive = tmp_path / "made.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        file.writestr("a", b"the same bytes")
    archive.write_bytes(archive.read_bytes().replace(b"the same", b"not same", 1))
    refused(archive, tmp_path, "is no zip file, or a damaged one")


@pytest.mark.slow
@given(
    place=st.floats(0, 1, exclude_max=True),
    byte=st.integers(0, 255),
    also=st.floats(0, 1, exclude_max=True),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_damaged_archive_is_unpacked_or_refused_in_one_line(tmp_path, place, byte, also):
    archive, out = tmp_path / "fuzzed.zip", tmp_path / "out"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ghosts/README.md", b"hello " * 50)
        file.writestr("ghosts/Zoë.csv", b"a,b\n" * 50)
    data = bytearray(archive.read_bytes())
    for share in (place, also):
        data[int(share * len(data))] ^= byte
    archive.write_bytes(data)
    try:
        unpack_export(archive, out)
    except DatasetError as error:
        refusal = str(error)
    else:
        refusal = ""
    assert "\n" not in refusal
    assert out.exists() == (not refusal)
    shutil.rmtree(out, ignore_errors=True)
    assert [path.name for path in tmp_path.iterdir()] == ["fuzzed.zip"]


def test_text_is_no_archive(tmp_path):
    (tmp_path / "a.zip").write_text("hello")
    refused(tmp_path / "a.zip", tmp_path, "is no zip file")


def test_empty_archive_is_refused(tmp_path):
    refused(packed(tmp_path), tmp_path, "holds no file")


def test_nothing_is_unpacked_over_a_folder_with_files(export, tmp_path):
    archive = zip_export(export)
    with pytest.raises(DatasetError, match="is there already"):
        unpack_export(archive, export)
    assert verify_folder(export) == ()
