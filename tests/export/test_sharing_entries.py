"""The list of what is passed on holds all that sessions write, so that no column is lost."""

from __future__ import annotations

import ast
import dataclasses
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from marked_sessions import KeptOutput, give_outputs

import ghostblitz_task.apparatus
from ghostblitz_analysis.export.sharing.log_entries import HEADER, RECORDS, study_words
from ghostblitz_analysis.export.sharing.machine_entries import SELF_TEST
from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.texts import shared_machine
from ghostblitz_task.apparatus import SentMarker
from ghostblitz_task.apparatus.display_facts import DisplayFacts
from ghostblitz_task.apparatus.display_timing import DisplayTiming
from ghostblitz_task.apparatus_settings import (
    ApparatusSettings,
    LslSettings,
    MarkerSettings,
    PadSettings,
    ParallelSettings,
    SerialSettings,
)
from ghostblitz_task.captain.turns import CueChange, Fall, Nudge, Refusal, Spot, Turn
from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.design import BlockReport
from ghostblitz_task.robot.script import script_session
from ghostblitz_task.scoring import Score, TrialEvent
from ghostblitz_task.session_header import Resumed, SessionIdentity
from ghostblitz_task.studies import open_study, simulate_study
from ghostblitz_task.trial_log import log_path, read_log
from ghostblitz_task.virtual_display import virtual_display
from tests.export.sharing_sets import ROOT, for_two, run_session, small
from tests.screen.short_study import right_answers, write_study

WHERE = "name it in export/sharing/log_entries.py, or `--share` drops it"


def left_out(log: Path) -> list[str]:
    """Return what of a log's records the list would not pass on, by place."""
    run, tally = read_log(log), Tally()
    words = study_words(run.header)
    about, _ = shared_machine(run.header["apparatus"], "", Tally())
    HEADER({**run.header, "apparatus": about}, words, tally)
    for record in run.records:
        if record["type"] not in RECORDS:
            tally.add("dropped", f"records of type {record['type']}")
            continue
        RECORDS[record["type"]](record, words, tally)
    return [step.what for step in tally.steps()]


def logs_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "study", sorted(path.parent.name for path in (ROOT / "experiments").glob("*/study.toml"))
)
def test_all_that_a_simulated_session_writes_is_passed_on(study: str, tmp_path: Path) -> None:
    simulate_study(open_study(ROOT / "experiments" / study), tmp_path, n_participants=2, seed=3)
    assert logs_below(tmp_path)
    for log in logs_below(tmp_path):
        assert left_out(log) == [], WHERE


class Lsl(KeptOutput):
    """Says what an LSL outlet says."""

    def describe(self) -> dict[str, Any]:
        return {"stream": "x", "stream_type": "Markers", "source_id": "y", "liblsl": 116,
                "clock_offset_s": 0.1, "clock_uncertainty_s": 0.001}  # fmt: skip

    def report(self) -> dict[str, Any]:
        return {"had_consumers_at_end": True, "clock_offset_s": 0.1, "clock_uncertainty_s": 0.001}


class Serial(KeptOutput):
    """Says what a port says."""

    def describe(self) -> dict[str, Any]:
        return {"port": "/dev/ttyUSB0", "baud": 115200, "pulse_s": 0.01}

    def report(self) -> dict[str, Any]:
        return {"n_pulses_cut_short": 1, "longest_pulse_s": 0.02}


@pytest.mark.slow
def test_all_that_a_resumed_session_of_two_with_markers_writes_is_passed_on(
    tmp_path: Path,
) -> None:
    outputs = (Lsl(name="lsl", fails_at=lambda number: number == 3), Serial(name="serial"))
    study = for_two()
    first = run_session(
        study, tmp_path, "p1", others=("p2",), stop_after=8,
        prepare=lambda apparatus: give_outputs(apparatus, *outputs),
    )  # fmt: skip
    later = run_session(study, tmp_path, "p1", resumes=first)
    assert read_log(later).header["resumes"] is not None
    for log in (first, later):
        assert left_out(log) == [], WHERE


@pytest.mark.slow
@pytest.mark.screen
@pytest.mark.skipif(sys.platform != "linux", reason="there is no Xvfb elsewhere")
def test_all_that_a_session_at_a_screen_writes_is_passed_on(tmp_path: Path) -> None:
    study = open_study(write_study(tmp_path / "study", n_practice=1, n_trials=2))
    with virtual_display() as xvfb:
        play_with_robot(
            study,
            script_session(study.plan(1), study.screens, right_answers(study)),
            dataset=tmp_path / "data",
            participant="robot",
            seed=1,
            picture=xvfb.picture,
        )
    log = log_path(tmp_path / "data" / "logs", "robot", session=1, run=1)
    assert left_out(log) == [], WHERE


# --- what sessions here do not show -----------------------------------------------------------


def keys_written(folder: Path, functions: Iterable[str]) -> set[str]:
    """Return the keys of all tables that functions of some names are written to return."""
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in functions:
                tables = [inner for inner in ast.walk(node) if isinstance(inner, ast.Dict)]
                found |= {k.value for t in tables for k in t.keys if isinstance(k, ast.Constant)}
            if isinstance(node, ast.keyword) and node.arg == "about":
                tables = [node.value] if isinstance(node.value, ast.Dict) else []
                found |= {k.value for t in tables for k in t.keys if isinstance(k, ast.Constant)}
    return {str(key) for key in found}


def test_all_that_screens_keyboards_pads_and_ports_say_of_themselves_is_passed_on() -> None:
    folder = Path(str(ghostblitz_task.apparatus.__file__)).parent
    keys = keys_written(folder, ("describe", "report", "to_json", "lock_keys"))
    assert {"gl_renderer", "adapter_latency_s", "driver", "n_pulses_cut_short"} <= keys
    # Null may stand anywhere: where it does not come back, no list names the key.
    nulls: dict[str, Any] = dict.fromkeys(keys)
    about = {**nulls, "response_pads": [nulls]}
    about["markers"] = {**nulls, "outputs": {"lsl": nulls}}
    kept = HEADER({"apparatus": about}, (), Tally())["apparatus"]
    sent = {**nulls, "first_failure": nulls, "outputs": {"lsl": nulls}}
    report = RECORDS["end"]({"marker_report": sent}, (), Tally())["marker_report"]
    found = {*kept, *kept["response_pads"][0], *kept["markers"], *kept["markers"]["outputs"]["lsl"]}
    found |= {*report, *report["first_failure"], *report["outputs"]["lsl"]}
    assert keys - found == set(), WHERE


def names_of(kind: Any) -> dict[str, None]:
    """Return the fields of a dataclass or of settings, each null."""
    fields = getattr(kind, "model_fields", None)
    return dict.fromkeys(
        fields if fields is not None else [f.name for f in dataclasses.fields(kind)]
    )


def test_all_fields_of_what_logs_are_made_of_are_passed_on() -> None:
    facts = {
        **names_of(Turn), "cue_changes": [names_of(CueChange)], "on_deck": [names_of(Spot)],
        "returned_to": names_of(Spot), "falls": [names_of(Fall)], "nudges": [names_of(Nudge)],
        "refusals": [names_of(Refusal)],
    }  # fmt: skip
    outputs = {
        **names_of(MarkerSettings),
        "lsl": names_of(LslSettings),
        "serial": names_of(SerialSettings),
        "parallel": names_of(ParallelSettings),
    }
    timing = names_of(DisplayTiming)
    for renamed in ("synchronised", "reason", "findings"):
        timing[f"display_{renamed}"] = timing.pop(renamed)
    shown = names_of(DisplayFacts)
    shown["gl_renderer"] = shown.pop("renderer")
    tally = Tally()
    RECORDS["turn"]({"facts": facts}, (), tally)
    RECORDS["trial"](
        {**names_of(Score), "players": [names_of(Score)], "events": [names_of(TrialEvent)],
         "markers": [names_of(SentMarker)]}, (), tally,
    )  # fmt: skip
    HEADER(
        {
            **names_of(SessionIdentity), "resumes": names_of(Resumed),
            "design_report": [names_of(BlockReport)], "apparatus": {**timing, **shown},
            "apparatus_settings": {
                **names_of(ApparatusSettings), "response_pads": [names_of(PadSettings)],
                "markers": outputs,
            },
        },
        (), tally,
    )  # fmt: skip
    assert [step.what for step in tally.steps()] == [], WHERE


# --- what is no session's own -------------------------------------------------------------------


def test_an_entry_that_no_session_writes_is_dropped_and_told_by_its_place(tmp_path: Path) -> None:
    log = run_session(small(), tmp_path, "p1", stop_after=3)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    trial = next(line for line in lines if line["type"] == "trial")
    trial["mood"] = "Quigley looked tired"
    log.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert left_out(log) == ["entries of no known meaning in trial"]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("numpy", "Meier-PC build"),
        ("numpy", "2.0+meier"),
        ("python", "3.11 (Meier)"),
        ("platform", "Meier-PC"),
        ("gl_renderer", "NVIDIA GeForce of Dr Meier"),
        ("compositor", "meierwm"),
        ("display_reason", "Quigley sat too near"),
        ("key_time_source", "the clock of Meier"),
        ("keyboard_layout", "Meier's own"),
        ("process_priority", "high, said Meier"),
        ("device_class", "meierlab.pads.Pad"),
        ("refresh_hz", "60 Hz, says Meier"),
    ],
)
def test_a_text_of_no_known_form_is_cut(place: str, value: str) -> None:
    header = {
        "software": {"numpy": value, "python": value, "platform": value},
        "apparatus": {
            "platform": value, "gl_renderer": value, "compositor": value, "display_reason": value,
            "key_time_source": value, "keyboard_layout": value, "process_priority": value,
            "response_pads": [{"device_class": value}], "refresh_hz": value,
        },
    }  # fmt: skip
    tally = Tally()
    text = json.dumps(HEADER(header, (), tally))
    assert "eier" not in text
    assert "uigley" not in text
    assert any(step.what.endswith(f".{place}") for step in tally.steps())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("gl_renderer", "llvmpipe (LLVM 15.0.6, 256 bits)"),
        ("gl_renderer", "Mesa Intel(R) UHD Graphics 620 (KBL GT2)"),
        ("gl_renderer", "NVIDIA GeForce RTX 3060/PCIe/SSE2"),
        ("compositor", "GNOME Shell"),
        ("keyboard_layout", "us,de (,nodeadkeys)"),
        ("process_priority", "nice -10"),
        ("platform", "Windows-10"),
        ("psychopy", "2026.2.5"),
    ],
)
def test_what_a_machine_says_of_itself_is_kept(place: str, value: str) -> None:
    tally = Tally()
    assert HEADER({"apparatus": {place: value}}, (), tally) == {"apparatus": {place: value}}
    assert tally.steps() == ()


def test_a_note_in_a_self_test_is_dropped() -> None:
    record = {
        "operator": "Meier", "software": {"ghostblitz": "0.1.0", "host": "Meier-PC"},
        "checks": [{"name": "clock", "reason": "Meier's clock", "by": "Meier"}],
        "measured": {"clock": {"step_s": 1e-6}, "disk": {"note": "of Meier"}},
    }  # fmt: skip
    assert SELF_TEST(record, (), Tally()) == {
        "software": {"ghostblitz": "0.1.0"},
        "checks": [{"name": "clock", "reason": "not shared"}],
        "measured": {"clock": {"step_s": 1e-6}, "disk": "not shared"},
    }
