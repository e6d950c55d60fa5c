"""The page holds what the raw results hold; on results made by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench_analysis.comparisons import OURS, TASKS, is_same
from tests.bench_analysis.page import PAGE, goal_rows, write_page

STAGES = {"load": 4.0, "validate": 1.0, "exclude": 0.5, "summarise": 1.5}


def record(task: str, peer: str, seconds: list[float], figures: list[float]) -> dict[str, Any]:
    about = {"round": 0, "task": task, "peer": peer, "version": "1.2"}
    return about | {"seconds": seconds, "figures": figures}


RESULTS: dict[str, Any] = {
    "run": {
        "date": "2026-01-02", "machine": {"processor": "A processor, 2 cores"},
        "not_run": {"R": "Rscript is not installed"}, "seed": 1, "n_participants": 5000,
        "n_trials": 200, "n_few": 200, "n_splits": 1000, "n_rounds": 2, "minutes": 9.0,
    },
    "many": [
        {"seconds": STAGES, "n_trials": 1_000_000, "n_participants": 5000, "n_findings": 0,
         "n_cells": 4, "peak_mb": 1234.4},
        {"seconds": STAGES | {"load": 6.0}, "n_trials": 1_000_000, "n_participants": 5000,
         "n_findings": 0, "n_cells": 4, "peak_mb": 1200.0},
    ],
    "comparisons": [
        record("descriptives", OURS, [0.5, 0.7], [4.0, 2.0]),
        record("descriptives", "pandas", [0.3], [4.0, 2.0]),
        record("anova", OURS, [0.01], [10.0]),
        record("anova", "pingouin", [0.04], [11.0]),
        {"round": 0, "task": "anova", "peer": "statsmodels", "failed": "no module"},
        record("split_half", OURS, [3.0, 11.0], [0.8]),
    ],
    "study": {
        "simulate_s": 20.0, "analyze_s": 30.0, "n_files": 41, "seconds": STAGES, "n_trials": 7680,
        "n_participants": 40, "n_findings": 1, "n_cells": 4, "peak_mb": 300.0,
    },
}  # fmt: skip


def written(tmp_path: Path, results: dict[str, Any]) -> str:
    docs = tmp_path / "docs"
    docs.mkdir()
    text = "# Title\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nby hand\n"
    (docs / PAGE).write_text(text, encoding="utf-8")
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    return write_page(path, docs).read_text(encoding="utf-8")


@pytest.fixture
def page(tmp_path: Path) -> str:
    return written(tmp_path, RESULTS)


def cells(page: str, *, heading: str, of: str) -> list[str]:
    """Return the cells of the first row under a heading that holds a text."""
    under = page.partition(heading)[2]
    line = next(line for line in under.splitlines() if of in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_text_round_the_markers_stays(page):
    assert page.startswith("# Title\n<!-- bench:begin -->\n")
    assert page.endswith("<!-- bench:end -->\nby hand\n")
    assert "old" not in page
    assert "short run" not in page


def test_times_are_medians_over_rounds_and_memory_the_most(page):
    heading = "### A million trials"
    assert cells(page, heading=heading, of="| load |")[2] == "5"
    assert cells(page, heading=heading, of="| together |")[2] == "8"
    assert cells(page, heading=heading, of="| most memory |")[2] == "1234"


def test_peers_are_given_as_multiples_of_our_time(page):
    ours = cells(page, heading="### Side by side", of="our own function")
    assert ours[1:] == ["ghostblitz 1.2", "our own function", "0.6", "1", ""]
    peer = cells(page, heading="### Side by side", of="| pandas 1.2 |")
    assert peer[3:] == ["0.3", "0.5", "yes"]


def test_peer_with_other_figures_is_marked(page):
    assert cells(page, heading="### Side by side", of="pingouin")[4:] == ["4", "**no**"]


def test_peer_that_failed_or_is_missing_says_why(page):
    assert cells(page, heading="### Side by side", of="statsmodels")[3] == "not run: no module"
    assert cells(page, heading="### Side by side", of="base R")[3] == (
        "not run: Rscript is not installed"
    )


def test_goal_is_missed_if_one_round_misses_it(page):
    heading = "### The goals"
    assert cells(page, heading=heading, of="a million trials")[1:] == ["8 s (worst 9)", "**met**"]
    assert cells(page, heading=heading, of="1,000 splits")[1:] == ["7 s (worst 11)", "**missed**"]
    worse = copy.deepcopy(RESULTS)
    worse["many"][1]["peak_mb"] = 2000.1
    assert goal_rows(worse)[1][2] == "**missed**"


@pytest.mark.parametrize(
    ("n_participants", "analyze_s", "figures"),
    [(40, 29.9, ("29.9 s", "**met**")), (40, 30.0, ("30 s", "**missed**")),
     (39, 29.9, ("–", "not measured"))],
)  # fmt: skip
def test_goal_of_the_study_of_logs(n_participants, analyze_s, figures):
    study = RESULTS["study"] | {"n_participants": n_participants, "analyze_s": analyze_s}
    assert goal_rows(RESULTS | {"study": study})[3][1:] == figures


@pytest.mark.parametrize(("name", "value"), [("n_participants", 4999), ("n_splits", 999)])
def test_short_run_meets_no_goal(tmp_path, name, value):
    short = copy.deepcopy(RESULTS)
    short["run"][name] = value
    assert {row[2] for row in goal_rows(short)} == {"not measured"}
    assert "**This was a short run**" in written(tmp_path, short)


def test_parts_that_were_not_measured_say_so(tmp_path):
    page = written(tmp_path, RESULTS | {"many": [], "study": None, "comparisons": []})
    assert page.count("Not measured.") == 2
    assert "not run: not asked for" in page


def test_study_goes_from_logs_to_report(page):
    row = cells(page, heading="### A study of logs", of="`ghostblitz analyze`")
    assert row[1:] == ["7680 trials to 41 files, the start of Python with it", "30"]


def test_figures_are_compared_as_shares_of_ours():
    assert is_same([100.0, 2.0], [101.0, 2.0], tolerance=0.01)
    assert not is_same([100.0, 2.0], [102.0, 2.0], tolerance=0.01)
    assert not is_same([1.0], [1.0, 1.0], tolerance=0.01)


def test_every_task_has_a_peer_and_a_way_to_do_it():
    folder = Path(__file__).parent / "programs"
    ours = (folder / "ours.py").read_text(encoding="utf-8")
    python = (folder / "python_peers.py").read_text(encoding="utf-8")
    r = (folder / "base_r.R").read_text(encoding="utf-8")
    for task in TASKS:
        assert f'"{task.name}": ' in ours
        assert task.peers
        for peer in task.peers:
            if peer == "R":
                assert f"{task.name} = " in r
            else:
                assert f'("{peer}", "{task.name}")' in python
