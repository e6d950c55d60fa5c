"""Markers in a log: they agree with trials, blocks and turns, or loading stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from marked_sessions import KeptOutput, Scripted, give_outputs, run_marked
from scripted_apparatus import tap
from small_study import GRAB_KEYS

from ghostblitz_analysis.captain.runs import read_captain_run
from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.studies import open_study
from tests.analysis.loading.played_logs import (
    FIRST,
    RIVAL,
    keys_for,
    on_card,
    play,
    records_of,
    rewrite,
    right,
    study_of,
    wrong_at,
)

ROOT = Path(__file__).resolve().parents[3]

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """A log with markers, of a game in which two cards come again; one output failed twice."""
    outputs = KeptOutput("lsl"), KeptOutput("serial", lambda number: number in (3, 4))
    apparatus = give_outputs(Scripted(wrong_at(FIRST, FIRST + 1)), *outputs)
    return run_marked(study_of(), tmp_path, apparatus).path


@pytest.fixture
def captain(tmp_path: Path) -> Path:
    study = open_study(ROOT / "experiments" / "captain-static")
    apparatus = give_outputs(study.simulated_apparatus("forgetting", 4), KeptOutput("lsl"))
    return run_marked(study, tmp_path, apparatus).path


def number_of(path: Path, kind: str, nth: int = 0) -> int:
    return [r["n"] for r in records_of(path) if r["type"] == kind][nth]


def shift(marker: int) -> Change:
    def change(record: dict[str, Any]) -> None:
        record["markers"][marker]["t_s"] += 0.001

    return change


def test_log_with_markers_is_loaded_as_one_without(marked, tmp_path):
    other = tmp_path / "without"
    play(study_of(), other, wrong_at(FIRST, FIRST + 1))
    with_markers = load_dataset(tmp_path)
    assert len(with_markers.trials) == 18
    assert with_markers.trials.equals(load_dataset(other).trials)


@pytest.mark.parametrize("after_s", [0.2, 0.0], ids=["with the card", "with the card's first flip"])
def test_log_of_a_session_that_was_quit_and_resumed_is_loaded(tmp_path, after_s):
    def quits(s: Any, t: float, n: int) -> list:
        return tap("escape", t + after_s) if n == 6 else keys_for(s, GRAB_KEYS, t + 0.3)

    study = study_of(company__rival=RIVAL)
    stopped = run_marked(study, tmp_path, give_outputs(Scripted(on_card(quits)), KeptOutput()))
    rest = give_outputs(Scripted(right), KeptOutput())
    run_marked(study, tmp_path, rest, resumes=stopped.path)
    assert stopped.status == "quit"
    (interrupted,) = stopped.of_type("interrupted")
    assert ("onset_s" in interrupted) == (after_s > 0)
    assert [m["name"] for m in interrupted["markers"]] == ["card"]
    assert len(load_dataset(tmp_path).trials) == 16


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "nth", "change", "message"),
    [
        ("trial", 2, shift(0), r"\(trial\), trial 2: a marker \"card/.*nothing recorded"),
        ("trial", 2, shift(1), r"\(trial\), trial 2: a marker \"response/grab/trial-2\""),
        ("trial", 2, lambda r: r["markers"].pop(0), r"trial 2: no marker \"card/.*calls for one"),
        ("trial", 2, lambda r: r["markers"].pop(1), r"trial 2: no marker \"response/grab/trial-2"),
        ("trial", 2, lambda r: r["markers"].append(r["markers"][1]), r"trial 2: a marker \"resp"),
        ("trial", 2, lambda r: r["markers"][0].update(code=9), r"marker 0: code is 9, but .* 10"),
        ("trial", 2, lambda r: r["markers"][0].update(label="card"), r"trial 2: a marker \"card\""),
        ("trial", 2, lambda r: r.pop("markers"), r"trial 2: markers is missing"),
        ("trial", 2, lambda r: r["markers"].append(3), r"marker 2: 3 is no marker"),
        ("trial", 2, lambda r: r["markers"][0].update(failed=["x"]), r"failed names \"x\""),
        ("block", 1, lambda r: r["markers"].pop(0), r"\(block\): its markers are .*block-end/0"),
        ("block", 3, lambda r: r["markers"].pop(1), r"\(block\): its markers are .*block-start/3"),
        ("end", 0, lambda r: r["markers"].clear(), r"\(end\): its markers are .*block-end/3"),
        ("end", 0, lambda r: r.pop("marker_report"), r"\(end\): marker_report is missing"),
        ("end", 0, lambda r: r["marker_report"].update(n_sent=3), r"n_sent is 3, but .* have 44"),
        ("end", 0, lambda r: r["marker_report"]["n_failed"].update(serial=0),
         r"n_failed\.serial is 0, but the records have 2"),
    ],
)  # fmt: skip
def test_marker_that_disagrees_stops_loading(marked, edit_log, kind, nth, change, message):
    edit_log(marked, number_of(marked, kind, nth), change)
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(marked)
    assert str(marked) in str(caught.value)


def test_markers_without_an_output_stop_loading(marked, edit_log):
    edit_log(marked, 0, lambda r: r["apparatus"].pop("markers"))
    with pytest.raises(DatasetError, match="no outputs for them"):
        load_dataset(marked)


def test_killed_log_with_markers_is_loaded(marked):
    rewrite(marked, records_of(marked)[: number_of(marked, "trial", 7) + 1])
    assert len(load_dataset(marked).trials) == 8


@pytest.mark.slow
def test_captains_log_with_markers_is_loaded(captain):
    assert len(read_captain_run(captain).games) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("turn", shift(0), r"\(turn\), turn 0: a marker \"cue/turn-0\""),
        ("turn", lambda r: r["markers"].pop(0), r"turn 0: no marker \"cue/turn-0\""),
        ("turn", lambda r: r["markers"].pop(1), r"turn 0: no marker \"response/pick/turn-0\""),
        ("game", lambda r: r["markers"].pop(), r"\(game\): its markers are .*block-end/0"),
        ("block", lambda r: r["markers"].pop(), r"\(block\): its markers are .*block-start/0"),
        ("end", lambda r: r["marker_report"].update(n_sent=1), r"\(end\): marker_report\.n_sent"),
    ],
)
def test_captains_marker_that_disagrees_stops_loading(captain, edit_log, kind, change, message):
    edit_log(captain, number_of(captain, kind), change)
    with pytest.raises(DatasetError, match=message):
        read_captain_run(captain)
