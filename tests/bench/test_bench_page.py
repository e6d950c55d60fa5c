"""The page holds what the raw results hold; on results made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.page import PAGE, PICTURE, write_page
from tests.bench.peers import FLOOR, MINIMAL, OURS, PEERS

RUN = {
    "type": "run",
    "date": "2026-01-02",
    "seed": 1,
    "n_rounds": 1,
    "n_per_block": 4,
    "machine": {"processor": "A processor, 2 cores"},
    "not_run": {"jspsych": "there is no Chromium"},
}


def block(peer: str, load: str, errors_ms: list[float | None], **more: object) -> dict:
    trials = [
        {
            "key": "s",
            "true_rt_s": 0.25,
            "logged_key": None if error is None else "s",
            "logged_rt_s": None if error is None else 0.25 + error / 1000,
            "hold": "tap-10ms",
            "longest_frame_s": 0.017,
        }
        for error in errors_ms
    ]
    record = {"type": "block", "round": 0, "peer": peer, "load": load, "about": {}}
    return record | {"trials": trials, **more}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    text = "# Title\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nby hand\n"
    (folder / PAGE).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def page(tmp_path: Path, docs: Path) -> str:
    records = [
        RUN,
        block(OURS, "idle", [1.0, 2.0, 3.0]),
        block(MINIMAL, "idle", [0.0, 4.0, None, None]),
        block(FLOOR, "idle", [0.0, 1.0, 2.0]),
        {"type": "block", "round": 0, "peer": "expyriment", "load": "idle", "failed": "no window"},
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    assert all(path.exists() for path in write_page(results, docs))
    return (docs / PAGE).read_text(encoding="utf-8")


def row(page: str, peer: str, heading: str) -> list[str]:
    """Return the cells of a peer's row under a heading."""
    label = next(p.label for p in PEERS if p.name == peer)
    under = page.partition(heading)[2]
    line = next(line for line in under.splitlines() if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_text_round_the_markers_stays(page):
    assert page.startswith("# Title\n<!-- bench:begin -->\n")
    assert page.endswith("<!-- bench:end -->\nby hand\n")
    assert "old" not in page


def test_figures_are_in_milliseconds(page):
    cells = row(page, OURS, "### RT errors, idle")
    assert cells[1:3] == ["3", "+2.00"]
    assert cells[3].startswith("1.00 [")
    assert cells[6:8] == ["0", "0"]
    # 1.00 to 2.83 ms, and to 1.00 ms.
    assert cells[8].startswith("0.35 [")
    assert cells[10].startswith("1.00 [")


def test_lost_presses_are_in_both_tables(page):
    assert row(page, MINIMAL, "### RT errors, idle")[6] == "2"
    assert row(page, MINIMAL, "### Lost presses")[1] == "2 of 4"


def test_peers_that_were_not_run_are_named_with_the_reason(page):
    assert row(page, "jspsych", "### RT errors, idle")[1] == "not run: there is no Chromium"
    assert row(page, "expyriment", "### RT errors, idle")[1] == "not run: every block failed"
    assert row(page, OURS, "### RT errors, one core busy")[1] == "not run: every block failed"
    assert "begun again: 1 (expyriment)" in page


def test_short_and_unfinished_runs_say_so(page):
    assert "**This was a short run** (n from 3 " in page
    assert "seed 1, not finished" in page


def test_goals_stand_with_their_figures(page):
    assert "| idle | 1.00 ms to 2.83 ms: 0.35 [" in page
    assert "| 0 lost, 0 misattributed of 3 | **met** |" in page
    assert "| one core busy | – | not measured |" in page


def test_plot_is_a_picture_beside_the_page(page, docs):
    assert (docs / PICTURE).read_bytes().startswith(b"\x89PNG")
