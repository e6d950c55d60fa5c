"""BIDS events: a run's markers, timed from the first, with the clocks of log and recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from marked_sessions import KeptOutput, Scripted, all_markers, give_outputs, run_marked
from scripted_apparatus import tap

from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import RunLog
from tests.analysis.loading.played_logs import FIRST, both, for_two, right, study_of, wrong_at
from tests.export.bids_exports import errors_of, export

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
OFFSET_S = 1234.5


class LslLike(KeptOutput):
    """Says what Lab Streaming Layer's output says of the clocks."""

    def describe(self) -> dict[str, Any]:
        return {"clock_offset_s": OFFSET_S, "clock_uncertainty_s": 1e-5}

    def report(self) -> dict[str, Any]:
        return {"clock_offset_s": OFFSET_S + 0.001, "clock_uncertainty_s": 2e-5}


def play(
    folder: Path, script: Callable[..., Any] = right, study: Any = None, **more: Any
) -> RunLog:
    outputs = LslLike("lsl"), KeptOutput("serial", lambda number: number == 3)
    return run_marked(study or study_of(), folder, give_outputs(Scripted(script), *outputs), **more)


def events_in(out: Path, name: str) -> pd.DataFrame:
    (path,) = out.glob(f"sub-*/ses-*/beh/{name}_events.tsv")
    return pd.read_csv(path, sep="\t", na_values="n/a", keep_default_na=False)


def clocks_in(out: Path, name: str) -> dict[str, Any]:
    (path,) = out.glob(f"sub-*/ses-*/beh/{name}_events.json")
    return json.loads(path.read_text())


def test_every_marker_is_an_event_timed_from_the_first(tmp_path, monkeypatch):
    run = play(tmp_path / "data", wrong_at(FIRST))
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    events = events_in(out, "sub-p1_ses-01_task-classic_run-01")
    markers = sorted(all_markers(run), key=lambda marker: marker["t_s"])
    assert list(events.columns[:4]) == ["onset", "duration", "trial_type", "response_time"]
    assert events["marker"].tolist() == [m["label"] for m in markers]
    assert events["value"].tolist() == [m["code"] for m in markers]
    first_s = markers[0]["t_s"]
    # Older pandas read the last digit of a float as best they can.
    onsets = [m["t_s"] - first_s for m in markers]
    assert events["onset"].tolist() == pytest.approx(onsets, rel=1e-15)
    assert events["onset"].iloc[0] == 0
    assert clocks_in(out, "sub-p1_ses-01_task-classic_run-01")["FirstMarkerSessionTime"] == first_s


def test_events_have_kind_response_time_and_length(tmp_path, monkeypatch):
    run = play(tmp_path / "data", wrong_at(FIRST))
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    events = events_in(out, "sub-p1_ses-01_task-classic_run-01")
    assert set(events["trial_type"]) == {
        "block-start", "block-end", "response/grab", "card/direct/grab", "card/exclusion/grab",
    }  # fmt: skip
    cards = events[events["trial_type"].str.startswith("card/")]
    trials = {r["trial_index"]: r for r in run.of_type("trial")}
    assert len(cards) == len(trials)
    for card in cards.itertuples():
        trial = trials[card.trial_index]
        assert card.response_time == pytest.approx(trial["rt_s"], rel=1e-15)
        assert trial["rt_s"] == pytest.approx(0.3)
        shown_s = trial["offset_s"] - trial["onset_s"]
        assert card.duration == pytest.approx(shown_s, rel=1e-15)
        assert shown_s > 0.3
        assert card.correct == (trial["trial_index"] != FIRST)
        assert card.block_index == trial["block_index"]
    borders = events[events["trial_type"].str.startswith("block-")]
    assert (borders["marker"].str.split("/").str[1] == borders["block_index"].astype(str)).all()
    others = events.drop(cards.index)
    assert others["response_time"].isna().all()
    assert (others["duration"] == 0).all()


def test_output_that_failed_is_named(tmp_path, monkeypatch):
    run = play(tmp_path / "data")
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    events = events_in(out, "sub-p1_ses-01_task-classic_run-01")
    failed = [m["label"] for m in all_markers(run) if m["failed"]]
    assert events.loc[events["failed"] == "serial", "marker"].tolist() == failed
    assert len(failed) == 1


def test_sidecar_states_the_offset_of_the_clocks(tmp_path, monkeypatch):
    run = play(tmp_path / "data")
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    clocks = clocks_in(out, "sub-p1_ses-01_task-classic_run-01")["LabStreamingLayer"]
    first_s = min(m["t_s"] for m in all_markers(run))
    assert clocks["ClockOffset"] == OFFSET_S
    assert clocks["ClockOffsetUncertainty"] == 1e-5
    assert clocks["ClockOffsetAtEnd"] == OFFSET_S + 0.001
    assert clocks["FirstMarkerTime"] == first_s + OFFSET_S


def test_resumed_session_has_events_for_each_run(tmp_path, monkeypatch):
    def quits(screen: Any, flip_s: float, n: int) -> list:
        if screen.name == "card" and n == 6:
            return tap("escape", flip_s + 0.2)
        return list(right(screen, flip_s, n))

    stopped = play(tmp_path / "data", quits)
    play(tmp_path / "data", resumes=stopped.path)
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    first = events_in(out, "sub-p1_ses-01_task-classic_run-01")
    second = events_in(out, "sub-p1_ses-01_task-classic_run-02")
    assert second["onset"].iloc[0] == 0
    # The trial that was cut short showed its card; its answer is in the other run.
    shown = first[first["trial_index"] == 6]
    assert shown["trial_type"].str.startswith("card/").tolist() == [True]
    assert shown["response_time"].isna().all()
    again = second[(second["trial_index"] == 6) & second["trial_type"].str.startswith("card/")]
    assert again["response_time"].tolist() == pytest.approx([0.3])
    assert errors_of(out) == []


def test_each_player_has_the_events_with_response_times_of_their_own(tmp_path, monkeypatch):
    play(tmp_path / "data", both(0.3, 0.5), for_two(), others=("p 2",))
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    for label, rt_s in (("p1", 0.3), ("p2", 0.5)):
        events = events_in(out, f"sub-{label}_ses-01_task-classic_run-01")
        cards = events[events["trial_type"].str.startswith("card/")]
        assert cards["response_time"].tolist() == pytest.approx([rt_s] * len(cards))
        responses = events[events["trial_type"] == "response/grab"]
        assert sorted(set(responses["player"])) == [1, 2]
    assert errors_of(out) == []


def test_session_without_markers_has_no_events(tmp_path, monkeypatch):
    out = export(load_source(ROOT / "data" / "example"), tmp_path / "out", monkeypatch)
    assert not list(out.rglob("*_events.*"))


def test_change_of_the_captains_die_is_a_kind_of_its_own(tmp_path, monkeypatch):
    study = open_study(ROOT / "experiments" / "captain")
    apparatus = give_outputs(study.simulated_apparatus("forgetting", 4), LslLike("lsl"))
    run = run_marked(study, tmp_path / "data", apparatus)
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    events = events_in(out, "sub-p1_ses-01_task-captain_run-01")
    n_changes = sum("/change-" in m["label"] for m in all_markers(run))
    assert (events["trial_type"] == "cue/change").sum() == n_changes > 0


def test_captains_markers_are_events_of_turns(tmp_path, monkeypatch):
    study = open_study(ROOT / "experiments" / "captain-static")
    apparatus = give_outputs(study.simulated_apparatus("forgetting", 4), LslLike("lsl"))
    run = run_marked(study, tmp_path / "data", apparatus)
    out = export(load_source(tmp_path / "data"), tmp_path / "out", monkeypatch)
    events = events_in(out, "sub-p1_ses-01_task-captain_run-01")
    assert len(events) == len(all_markers(run))
    cues = events[events["trial_type"] == "cue"]
    turns = [(r["block_index"], r["turn_index"]) for r in run.of_type("turn")]
    assert list(zip(cues["block_index"], cues["turn_index"], strict=True)) == turns
    assert {"response/pick", "response/look", "response/name"} <= set(events["trial_type"])
    assert errors_of(out) == []
