"""A key keeps its codes, stays with its owner, and is there only where an export is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghostblitz_analysis.export.run import export_dataset, export_text
from ghostblitz_analysis.export.sharing.codes import read_key
from ghostblitz_analysis.export.sharing.copies import participant_ids, shared_copy
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.errors import DatasetError
from tests.export.sharing_sets import (
    run_session,
    share,
    small,
)

pytestmark = pytest.mark.slow


def test_a_later_copy_keeps_the_codes_of_an_earlier_key(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    _, before, _ = share(tmp_path / "data")
    run_session(small(), tmp_path / "data", "p2")
    report = shared_copy(tmp_path / "data", tmp_path / "later", key_file=tmp_path / "key.csv")
    after = read_key(tmp_path / "key.csv")
    assert (after["p1"], len(after), report.n_new_codes) == (before["p1"], 2, 1)
    assert set(participant_ids(load_source(tmp_path / "later"))) == set(after.values())


def test_the_key_of_another_data_set_is_refused(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "key.csv").write_text("id,code\nq1,PBCDFGH\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="the key of another data set"):
        share(tmp_path / "data")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("place", ["data/key.csv", "copy/key.csv", "export/deep/../key.csv"])
def test_a_key_among_the_data_is_refused(place: str, tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "export" / "deep").mkdir(parents=True)
    with pytest.raises(DatasetError, match="keep it elsewhere"):
        shared_copy(
            tmp_path / "data", tmp_path / "copy", key_file=tmp_path / place,
            outside=[tmp_path / "export"],
        )  # fmt: skip


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    run_session(small(), tmp_path / "data", "p1")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DatasetError, match="no empty folder"):
        share(tmp_path / "data")
    assert not (tmp_path / "key.csv").exists()


def in_study(folder: Path, title: str) -> Path:
    """Log a session, and beside it a study with a title."""
    run_session(small(), folder, "p1")
    (folder / "study.toml").write_text(f'[study]\ntitle = "{title}"\n', encoding="utf-8")
    return folder


def test_a_refused_export_leaves_no_key_and_a_later_one_does(tmp_path: Path) -> None:
    folder, key = in_study(tmp_path / "data", "of q@uni-example.org"), tmp_path / "key.csv"
    with pytest.raises(DatasetError, match=r"study\.toml, line 2 \(e-mail address\)\. What to do"):
        export_dataset(folder, out=tmp_path / "out", format_name="csv", share=True, key=key)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
    in_study(tmp_path / "other", "of mice")
    result = export_dataset(
        tmp_path / "other", out=tmp_path / "out", format_name="csv", share=True, key=key
    )
    assert set(read_key(key)) == {"p1"}
    assert f"{key}, which only you can read" in export_text(result)
    assert "Look through the export before you publish it" in export_text(result)
