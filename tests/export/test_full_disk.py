"""A disk that fills up while an export is written: one line that says so, and nothing half done."""

from __future__ import annotations

import errno
import gc
import resource
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from matplotlib.figure import Figure

from ghostblitz_analysis.export import WRITERS, archives, export_dataset, verify_folder
from ghostblitz_analysis.export.folders import temporary_folder
from ghostblitz_analysis.figures import FORMATS, save_figure
from ghostblitz_task.cli import main
from ghostblitz_task.errors import DatasetError
from tests.export.small_sources import EXAMPLE


@contextmanager
def files_end_after(n_bytes: int) -> Iterator[None]:
    """Let the system refuse what goes beyond so many bytes of a file, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def figure() -> Figure:
    made = Figure(figsize=(6.85, 3.0), layout="constrained")
    made.subplots().plot(range(500), [i * 7 % 11 for i in range(500)], label="RT (s)")
    return made


def without_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the analysis out, which takes most of the time and is looked at by itself."""
    monkeypatch.setattr("ghostblitz_analysis.export.parts.common.write_results", lambda *_a: None)


@pytest.mark.slow
@pytest.mark.parametrize("share", [k / 8 for k in range(8)])
@pytest.mark.parametrize("suffix", FORMATS)
def test_figure_on_a_full_disk_is_the_systems_error(figure, tmp_path, suffix, share):
    save_figure(figure, tmp_path / "whole")
    n_bytes = int(share * (tmp_path / f"whole.{suffix}").stat().st_size)
    for other in set(FORMATS) - {suffix}:  # They go nowhere, so that it is this one that is cut.
        (tmp_path / f"cut.{other}").symlink_to("/dev/null")
    with pytest.raises(OSError, match="File too large") as caught, files_end_after(n_bytes):
        save_figure(figure, tmp_path / "cut")
    assert caught.value.errno == errno.EFBIG


def test_figure_is_written_in_three_formats(figure, tmp_path):
    svg = save_figure(figure, tmp_path / "made")
    assert (tmp_path / "made.svg").read_bytes() == svg.encode("utf-8")
    assert (tmp_path / "made.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "made.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [100, 5_000, 20_000])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_says_in_one_line_that_the_disk_is_full(tmp_path, monkeypatch, name, n_bytes):
    without_results(monkeypatch)
    out = tmp_path / "out"
    with pytest.raises(DatasetError, match="cannot be written") as caught, files_end_after(n_bytes):
        export_dataset(EXAMPLE, out=out, format_name=name)
    assert "\n" not in str(caught.value)
    assert "partial" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    del caught
    gc.collect()  # What was left open would complain here, which pytest makes a failure.


@pytest.mark.slow
def test_results_on_a_full_disk_name_the_folder_that_was_asked_for(tmp_path, monkeypatch):
    def full(_path, *, out, now):
        raise DatasetError(f"{out} cannot be written") from OSError(errno.ENOSPC, "No space left")

    monkeypatch.setattr("ghostblitz_analysis.export.parts.results.analyze_dataset", full)
    out = tmp_path / "out"
    with pytest.raises(DatasetError) as caught:
        export_dataset(EXAMPLE, out=out, format_name="csv")
    assert str(caught.value) == f"{out}/results cannot be written"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_export_that_cannot_be_packed_is_whole_and_says_where_its_key_is(
    tmp_path, monkeypatch, capsys
):
    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    without_results(monkeypatch)
    monkeypatch.setattr(archives, "_pack", full)
    out, key = tmp_path / "out", tmp_path / "key.csv"
    words = ["export", EXAMPLE, "--format", "csv", "--share", "--zip", "--key", key, "--out", out]
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.err.count("\n") == 1
    assert "out.zip cannot be written: No space left on device" in said.err
    assert f"the folder {out} is whole and stays" in said.err
    assert f"files: {out}" in said.out
    assert f"3 ids were replaced by random codes. Whose each code is stands in {key}" in said.out
    assert "Packed" not in said.out
    assert verify_folder(out) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key.csv", "out"]
    monkeypatch.undo()
    assert zipfile.is_zipfile(archives.zip_export(out))


def test_full_folder_of_temporary_files_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fill() -> None:
        with (
            temporary_folder() as folder,
            (folder / "half").open("w") as file,
            files_end_after(100),
        ):
            file.write("half" * 100)
            file.flush()

    with pytest.raises(DatasetError, match=r"temporary files, .*, cannot be written: File too la"):
        fill()
    assert list(tmp_path.iterdir()) == []
