"""What is written stands apart from what is read, and a data set may be named by a link."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ghostblitz_analysis.export import (
    export_dataset,
    import_export,
    load_source,
    update_store,
    verify_folder,
)
from ghostblitz_analysis.export.folders import check_apart, files_below
from ghostblitz_task.cli import main
from ghostblitz_task.errors import DatasetError
from tests.export.small_sources import EXAMPLE

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the analysis out, which takes most of the time and has tests of its own."""
    monkeypatch.setattr("ghostblitz_analysis.export.parts.common.write_results", lambda *_a: None)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data set that is called ``my-study``, and ``link``, which leads to the folder it is in."""
    folder = tmp_path / "all" / "my-study"
    shutil.copytree(EXAMPLE, folder)
    (tmp_path / "link").symlink_to(tmp_path / "all")
    return folder


INSIDE = ["all/my-study/out", "all/my-study/logs/a/b", "link/my-study/out", "all/x/../my-study/out"]


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("option", ["--out", "--store"])
def test_nothing_is_written_into_the_data_set(data, tmp_path, capsys, option, name):
    before = files_below(tmp_path / "all")
    words = ["export", data, option, tmp_path / name]
    words += ["--format", "csv", "--zip", "--share"] if option == "--out" else []
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"{tmp_path / name} would stand in {data}" in said
    assert "choose a folder beside it" in said
    assert files_below(tmp_path / "all") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all", "link"]


@pytest.mark.parametrize("name", ["all", "link", "."])
def test_nothing_is_written_around_the_data_set(data, tmp_path, name):
    before = files_below(tmp_path / "all")
    for write in (
        lambda out: export_dataset(data, out=out, format_name="csv"),
        lambda out: update_store(data, out),
    ):
        with pytest.raises(DatasetError, match=r"holds .*my-study, from which the data come"):
            write(tmp_path / name)
    assert files_below(tmp_path / "all") == before


def test_data_set_itself_is_no_place_to_write_to(data):
    with pytest.raises(DatasetError, match="would stand in"):
        export_dataset(data, out=data, format_name="csv")


def test_nothing_is_brought_back_into_its_export(data, tmp_path):
    export_dataset(data, out=tmp_path / "out", format_name="csv")
    with pytest.raises(DatasetError, match="would stand in"):
        import_export(tmp_path / "out", out=tmp_path / "out" / "back")
    assert verify_folder(tmp_path / "out") == ()


@pytest.mark.parametrize("name", ["my-study-2", "my", "out/my-study"])
def test_folder_beside_is_apart_whatever_it_is_called(data, name):
    check_apart(data.parent / name, data)


def test_link_that_leads_to_itself_is_named(data, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DatasetError, match=r"loop"):
        export_dataset(data, out=tmp_path / "loop" / "out", format_name="csv")


@pytest.mark.parametrize("share", [False, True])
def test_data_set_named_by_a_link_is_the_one_it_leads_to(data, tmp_path, share):
    link = tmp_path / "here"
    link.symlink_to(data)
    result = export_dataset(link, out=tmp_path / "a", format_name="csv", share=share)
    if share:
        assert result.key == data.with_name("my-study-share-key.csv")
        return
    export_dataset(data, out=tmp_path / "b", format_name="csv")
    sums = [(tmp_path / name / "manifest-sha256.txt").read_text() for name in "ab"]
    assert sums[0] == sums[1]


@pytest.mark.parametrize("option", ["--out", "--store"])
def test_nothing_is_written_into_a_data_set_named_by_a_link(data, tmp_path, capsys, option):
    (tmp_path / "here").symlink_to(data)
    words = ["export", tmp_path / "here", option, data / "out"]
    words += ["--format", "csv"] if option == "--out" else []
    with pytest.raises(SystemExit):
        main([str(word) for word in words])
    assert "would stand in" in capsys.readouterr().err
    assert not (data / "out").exists()


@pytest.mark.parametrize("name", ["analysis.toml", "logs"])
def test_link_inside_a_data_set_that_is_named_by_a_link_is_refused(data, tmp_path, name):
    (tmp_path / "here").symlink_to(data)
    os.rename(data / name, tmp_path / "elsewhere")
    (data / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatasetError, match=rf"holds {name}.*, which is no plain file"):
        load_source(tmp_path / "here")
