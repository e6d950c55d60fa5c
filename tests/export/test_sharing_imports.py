"""An imported data set is shared without names, dates, and the order of its rows."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.export.sharing.report import SharingReport
from ghostblitz_analysis.mapping import Mapping as TableMapping
from ghostblitz_task.settings_files import load_settings
from tests.export.sharing_sets import (
    imported,
    share,
    texts_below,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def brought(tmp_path: Path) -> tuple[Path, dict[str, str], SharingReport]:
    # Codes whose order is neither that of the ids nor that of the rows.
    draws = iter(["PDDDDDD", "PBBBBBB", "PCCCCCC", "PFFFFFF", "PGGGGGG"])
    return share(imported(tmp_path / "data"), draw_code=lambda: next(draws))


def test_names_and_dates_are_dropped_and_ages_are_in_bands(brought) -> None:
    copy, codes, _ = brought
    trials = load_dataset(copy).trials
    assert [c for c in trials if c.startswith("factor_")] == ["factor_group", "factor_age"]
    ages = trials.groupby("participant_id")["factor_age"].unique().map(list)
    assert {who: ages[codes[who]] for who in ("Zora", "NA", "1", "007")} == {
        "Zora": ["15-19"], "NA": ["20-24"], "1": ["20-24"], "007": ["90+"],
    }  # fmt: skip


def test_an_import_is_told_without_whom_it_left_out(brought) -> None:
    copy, _, _ = brought
    text = "".join(text for _, text in texts_below(copy))
    assert "Quigley" not in text
    assert "quigley" not in text
    assert load_settings(copy / "mapping.toml", TableMapping).filters == ()
    flow = load_dataset(copy).import_flow
    assert flow is not None
    assert flow.dropped == (("left out by filter 1 of the import", 4),)
    assert load_dataset(copy).notes == ()


def test_rows_of_an_import_do_not_stand_in_their_old_order(brought) -> None:
    copy, _, _ = brought
    raw = pd.read_csv(copy / "trials.csv", dtype=str, keep_default_na=False)
    assert list(raw["participant_id"]) == sorted(raw["participant_id"])


def test_each_column_of_factors_is_told_and_levels_only_to_who_shares(brought) -> None:
    _, _, report = brought
    text, lines = report.to_text(), "\n".join(report.to_lines())
    assert "- `factor_group`: kept, 2 levels\n" in text
    assert "- `factor_age`: bands of five years, 3 levels, 2 of one participant alone\n" in text
    assert "- `factor_name`: dropped, since it describes participants, and a level is one " in text
    assert "- `factor_seen`: dropped, since a level looks like a date or a time\n" in text
    assert "Factor `factor_group`: kept, 2 levels: a, b" in lines
    assert "15-19" in lines
    for level in ("15-19", "Name0", "2025-03"):
        assert level not in text


def test_what_no_import_writes_down_is_dropped(tmp_path: Path) -> None:
    folder = imported(tmp_path / "data")
    info = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    info |= {"operator": "Oberhuber", "created_by": "Oberhuber"}
    info["report"]["remark"] = "Oberhuber"
    (folder / "dataset.json").write_text(json.dumps(info), encoding="utf-8")
    copy, _, report = share(folder)
    assert all("Oberhuber" not in text for _, text in texts_below(copy))
    assert "entries of no known meaning in dataset.json: 1" in report.to_text()
    assert "entries of no known meaning in dataset.json.report: 1" in report.to_text()
