"""Markers: which are sent when, once each, and what the log says of them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from marked_sessions import KeptOutput, Scripted, all_markers, give_outputs, run_marked
from scripted_apparatus import ScriptedApparatus, press, tap
from small_study import GRAB_KEYS, SHOUT_KEYS, make_screens, make_settings

from ghostblitz_task.apparatus import Marker
from ghostblitz_task.apparatus.marker_outputs import ClockOffset, Markers, PortOutput, open_lsl
from ghostblitz_task.apparatus_settings import (
    MARKER_CODES,
    ApparatusSettings,
    MarkerSettings,
    load_apparatus,
)
from ghostblitz_task.card_studies import Study
from ghostblitz_task.errors import ApparatusError, ConfigError
from ghostblitz_task.running import marker_failures
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import RunLog

ROOT = Path(__file__).resolve().parents[2]
SECOND_KEYS = {"ghost": "y", "chair": "u", "bottle": "i", "book": "o", "mouse": "l"}


def study_of(game: str = "classic", **overrides: Any) -> Study:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    settings = make_settings(game, dotted)
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def keys_of(screen: Screen) -> tuple[str, str]:
    """The right key of a card, and the one of the same answer in the other mode (or the same)."""
    assert screen.stimulus is not None
    mode, answer = screen.stimulus.solution.mode, screen.stimulus.solution.answer
    right, other = (GRAB_KEYS, SHOUT_KEYS) if mode == "grab" else (SHOUT_KEYS, GRAB_KEYS)
    return right[answer], other[answer]


def right(screen: Screen, flip_s: float, _n: int) -> list:
    return tap(keys_of(screen)[0], flip_s + 0.305) if screen.name == "card" else []


def play(
    folder: Path, script: Callable[..., Any] = right, study: Study | None = None, **more: Any
) -> tuple[RunLog, KeptOutput]:
    output = KeptOutput()
    run = run_marked(study or study_of(), folder, give_outputs(Scripted(script), output), **more)
    return run, output


def labels(output: KeptOutput) -> list[str]:
    return [marker.label for _, marker in output.taken]


# --- which, when, once --------------------------------------------------------------------------


def test_markers_come_in_order_once_each_with_the_codes_of_their_names(tmp_path):
    run, output = play(tmp_path)
    expected = []
    for block in range(3):
        expected.append(f"block-start/{block}")
        for trial in run.of_type("trial"):
            if trial["block_index"] == block:
                index = trial["trial_index"]
                expected.append(f"card/{trial['rule']}/grab/trial-{index}")
                expected.append(f"response/grab/trial-{index}")
        expected.append(f"block-end/{block}")
    assert labels(output) == expected
    assert [code for code, _ in output.taken] == [MARKER_CODES[m.name] for _, m in output.taken]
    assert Counter(code for code, _ in output.taken) == {1: 3, 2: 3, 10: 16, 20: 16}


def test_log_holds_every_marker_as_it_was_sent(tmp_path):
    run, output = play(tmp_path)
    logged = [(m["code"], Marker(m["name"], m["label"], m["t_s"])) for m in all_markers(run)]
    assert logged == output.taken
    assert all(m["sent_s"] >= m["t_s"] for m in all_markers(run))
    assert run.header["apparatus"]["markers"] == {
        "codes": dict(MARKER_CODES),
        "outputs": {"kept": {"about": "kept"}},
    }
    report = list(run.of_type("end"))[-1]["marker_report"]
    assert report["n_sent"] == len(output.taken) == 38
    assert report["n_failed"] == {"kept": 0}
    assert report["first_failure"] is None
    assert report["outputs"] == {"kept": {"n_taken": 38}}
    assert output.closed is False  # The scripted apparatus closes nothing; the real one does.


def test_card_has_the_time_of_its_flip_and_a_response_that_of_its_key(tmp_path):
    run, _ = play(tmp_path)
    for trial in run.of_type("trial"):
        card, response = trial["markers"]
        assert card["t_s"] == trial["onset_s"]
        assert response["t_s"] == trial["onset_s"] + 0.305
        # Sent when it came to light, with the flip after it.
        assert response["t_s"] < response["sent_s"] <= response["t_s"] + 1 / 60 + 1e-9


def test_card_is_marked_before_events_are_looked_at(tmp_path):
    seen: list[str] = []

    class Noting(Scripted):
        def events(self):
            if self.screens[-1].name == "card":
                seen.append("events")
            return super().events()

    output = KeptOutput()
    output.send = lambda _code, marker: seen.append(marker.name)  # type: ignore[method-assign]
    run_marked(study_of(), tmp_path, give_outputs(Noting(right), output))
    assert seen.count("card") == 16
    at = seen.index("card")
    assert seen[at - 1 : at + 2] == ["block-start", "card", "events"]


def test_every_first_press_with_an_answer_is_marked_whatever_it_counts(tmp_path):
    """Early, in the other mode, in feedback; no release, repetition, other key or earlier press."""

    def script(screen: Screen, flip_s: float, _n: int) -> list:
        if screen.name == "fixation":
            at_once, other, early = tap("g", flip_s), tap("z", flip_s + 0.1), tap("s", flip_s + 0.2)
            return [*tap("a", flip_s - 0.05), *at_once, *other, *early]
        if screen.name == "card":
            first, second = keys_of(screen)
            return [
                press(first, flip_s + 0.3),
                press(first, flip_s + 0.4),
                *tap(second, flip_s + 0.5),
            ]
        if screen.name.startswith("feedback"):
            return tap("d", flip_s + 0.1)
        return []

    run, _ = play(tmp_path, script, study_of("grab-or-shout", feedback__show="always"))
    for trial in run.of_type("trial"):
        expected = sorted(
            e["t_s"]
            for e in trial["events"]
            if e["kind"] == "press" and e["answer"] and not e["repeated"]
            if e["t_s"] >= trial["fixation_onset_s"]
        )
        responses = [m for m in trial["markers"] if m["name"] != "card"]
        assert sorted(m["t_s"] for m in responses) == expected
        assert len(expected) >= 2
        modes = {e["t_s"]: e["mode"] for e in trial["events"]}
        assert all(m["name"] == modes[m["t_s"]] for m in responses)
    first = next(run.of_type("trial"))
    assert any(e["t_s"] < first["fixation_onset_s"] for e in first["events"])
    assert any(e["repeated"] for e in first["events"])
    assert any(e["device"] == "other_keys" for e in first["events"])


def test_responses_of_several_players_say_whose_they_are(tmp_path):
    def script(screen: Screen, flip_s: float, _n: int) -> list:
        if screen.name != "card":
            return []
        assert screen.stimulus is not None
        answer = screen.stimulus.solution.answer
        return [*tap(GRAB_KEYS[answer], flip_s + 0.3), *tap(SECOND_KEYS[answer], flip_s + 0.4)]

    study = study_of(company={}, responses__more_players=[{"grab_keys": SECOND_KEYS}])
    run, _ = play(tmp_path, script, study, others=("p2",))
    trial = next(run.of_type("trial"))
    assert [m["label"] for m in trial["markers"]][1:] == [
        "response/grab/trial-0/player-0",
        "response/grab/trial-0/player-1",
    ]


def test_cards_that_come_again_are_a_block_with_borders_of_its_own(tmp_path):
    def script(screen: Screen, flip_s: float, n: int) -> list:
        return right(screen, flip_s, n) if screen.name == "card" and n not in (4, 5) else []

    run, output = play(tmp_path, script, study_of(company={}))
    again = [t["trial_index"] for t in run.of_type("trial") if t["recycled"]]
    assert again == [16, 17]
    borders = [(i, label) for i, label in enumerate(labels(output)) if label.startswith("block")]
    assert [label for _, label in borders] == [
        f"block-{what}/{block}" for block in range(4) for what in ("start", "end")
    ]
    (start, _), (end, _) = borders[-2:]
    assert sum(label.startswith("card/") for label in labels(output)[start:end]) == 2
    assert end == len(labels(output)) - 1


def test_block_that_is_quit_has_no_end_and_goes_on_with_a_start(tmp_path):
    def script(screen: Screen, flip_s: float, n: int) -> list:
        if screen.name == "card" and n == 6:
            return tap("escape", flip_s + 0.2)
        return right(screen, flip_s, n)

    run, output = play(tmp_path, script)
    (interrupted,) = run.of_type("interrupted")
    assert [m["name"] for m in interrupted["markers"]] == ["card"]
    assert [label for label in labels(output) if label.startswith("block")] == [
        "block-start/0", "block-end/0", "block-start/1",
    ]  # fmt: skip
    rest, output = play(tmp_path, right, resumes=run.path)
    assert rest.status == "completed"
    assert labels(output)[0] == "block-start/1"
    assert labels(output)[-1] == "block-end/2"


def test_without_outputs_no_record_speaks_of_markers(tmp_path):
    run = run_marked(study_of(), tmp_path, Scripted(right))
    assert "markers" not in run.header["apparatus"]
    assert run.status == "completed"
    assert not any("marker" in key for record in run.records for key in record)


def test_output_that_fails_is_counted_and_stops_neither_session_nor_other_outputs(tmp_path):
    bad, good = KeptOutput("bad", lambda number: number >= 5), KeptOutput("good")
    run = run_marked(study_of(), tmp_path, give_outputs(Scripted(right), bad, good))
    assert run.status == "completed"
    assert len(good.taken) == 38
    assert [m["failed"] for m in all_markers(run)] == [[]] * 5 + [["bad"]] * 33
    report = list(run.of_type("end"))[-1]["marker_report"]
    assert report["n_failed"] == {"bad": 33, "good": 0}
    sixth = all_markers(run)[5]["label"]
    assert report["first_failure"] == {
        "output": "bad",
        "label": sixth,
        "reason": "it was pulled out",
    }


@pytest.mark.parametrize("recorded", [True, False])
def test_stream_that_nobody_recorded_is_told_when_the_run_is_over(tmp_path, recorded):
    output = KeptOutput("lsl", reports={"had_consumers_at_end": recorded})
    run = run_marked(study_of(), tmp_path, give_outputs(Scripted(right), output))
    told = marker_failures(run.path)
    assert ["LSL stream" in line for line in told] == ([] if recorded else [True])


def test_nothing_is_written_or_rendered_while_a_response_is_awaited(tmp_path):
    """From the fixation mark to the flip that takes the card away: no file, no rendering."""
    writes: list[tuple[str, float]] = []

    class Noting(Scripted):
        def prepare(self, screens):
            writes.append(("prepare", self._n / 60))
            super().prepare(screens)

    apparatus = Noting(right)

    class Recording:
        def append(self, record_type, record):
            writes.append((record_type, apparatus._n / 60))
            records.append((record_type, dict(record)))

    records: list[tuple[str, dict[str, Any]]] = []
    study = study_of()
    run_session(
        study.settings,
        plan=study.plan(3),
        screens=study.screens,
        apparatus=give_outputs(apparatus, KeptOutput()),
        apparatus_settings=ApparatusSettings(),
        log=Recording(),
        identity=SessionIdentity("p1", 1, 1, 3, "simulated", "scripted"),
    )
    trials = [record for kind, record in records if kind == "trial"]
    assert len(trials) == 16
    assert len(writes) > 32
    for trial in trials:
        inside = [w for w in writes if trial["fixation_onset_s"] <= w[1] < trial["offset_s"]]
        assert inside == []


# --- the captain's deck -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["captain-static", "captain"])
def test_captains_dice_and_actions_are_marked_at_their_times(tmp_path, name):
    study = open_study(ROOT / "experiments" / name)
    output = KeptOutput()
    apparatus = give_outputs(study.simulated_apparatus("forgetting", 4), output)
    run = run_marked(study, tmp_path, apparatus)
    games = list(run.of_type("game"))
    assert labels(output)[0] == "block-start/0"
    assert labels(output)[-1] == f"block-end/{len(games) - 1}"
    for what in ("start", "end"):
        expected = [f"block-{what}/{g['block_index']}" for g in games]
        assert [x for x in labels(output) if x.startswith(f"block-{what}")] == expected
    for turn in run.of_type("turn"):
        cues = [m["t_s"] for m in turn["markers"] if m["name"] == "cue"]
        onsets = [turn["cue_onset_s"], *turn["change_onsets_s"]]
        assert cues == [onset for onset in onsets if onset is not None]
        done = [(m["label"], m["t_s"]) for m in turn["markers"] if m["name"] == "grab"]
        index = turn["turn_index"]
        assert done == [(f"response/{a['action']}/turn-{index}", a["t_s"]) for a in turn["actions"]]
    assert [m["label"] for m in all_markers(run)] == labels(output)


# --- ports --------------------------------------------------------------------------------------


class Wire:
    """What a port was given, and when; time goes by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.seen: list[tuple[float, int]] = []
        self.dead = False
        self.closed = False

    def write(self, code: int) -> None:
        if self.dead:
            raise ApparatusError("it was pulled out")
        self.seen.append((self.now_s, code))

    def close(self) -> None:
        self.closed = True

    def output(self, pulse_s: float | None) -> PortOutput:
        return PortOutput(
            "parallel",
            write=self.write,
            close=self.close,
            about={},
            pulse_s=pulse_s,
            clock=lambda: self.now_s,
        )


def test_pulse_ends_with_the_first_frame_after_its_length():
    wire = Wire()
    output = wire.output(0.01)
    output.send(10, Marker("card", "card", 0.0))
    for now_s in (0.004, 0.009, 0.016, 0.033):
        wire.now_s = now_s
        output.end_pulse()
    assert wire.seen == [(0.0, 0), (0.0, 10), (0.016, 0)]
    assert output.report() == {"n_pulses_cut_short": 0, "longest_pulse_s": 0.016}


def test_marker_within_a_pulse_cuts_it_short_and_the_same_byte_comes_after_a_0():
    wire = Wire()
    output = wire.output(0.01)
    for code in (10, 20, 20):
        output.send(code, Marker("card", "card", 0.0))
    assert [code for _, code in wire.seen] == [0, 10, 20, 0, 20]
    assert output.report()["n_pulses_cut_short"] == 2


def test_without_pulses_a_byte_stays_until_the_next():
    wire = Wire()
    output = wire.output(None)
    output.send(10, Marker("card", "card", 0.0))
    wire.now_s = 5.0
    output.end_pulse()
    output.close()
    assert [code for _, code in wire.seen] == [0, 10]
    assert wire.closed


def test_port_is_left_at_0_when_it_is_closed_within_a_pulse():
    wire = Wire()
    output = wire.output(0.01)
    output.send(10, Marker("card", "card", 0.0))
    output.close()
    assert [code for _, code in wire.seen] == [0, 10, 0]


def test_port_that_takes_nothing_is_refused_at_once():
    wire = Wire()
    wire.dead = True
    with pytest.raises(ApparatusError, match="pulled out"):
        wire.output(0.01)


def test_pulse_that_cannot_be_ended_is_counted_once_and_never_raised():
    wire = Wire()
    markers = Markers([wire.output(0.01)], MARKER_CODES, lambda: wire.now_s)
    markers.send(Marker("card", "card", 0.0))
    wire.dead = True
    for _ in range(5):
        wire.now_s += 0.02
        markers.end_pulses()
    report = json.loads(json.dumps(markers.report()))
    assert report["n_pulses_not_ended"] == 1
    assert report["n_failed"] == {"parallel": 0}
    assert report["first_failure"]["reason"] == "it was pulled out"
    markers.close()
    assert wire.closed


# --- clocks -------------------------------------------------------------------------------------


def test_offset_of_clocks_is_of_the_reads_that_were_closest_together():
    """A clock that is 100 s ahead, read with pauses of which one is short."""
    now = {"s": 0.0}
    steps = count()

    def passes() -> float:
        now["s"] += 0.0001 if 150 <= next(steps) < 153 else 0.004
        return now["s"]

    offset = ClockOffset.measure(passes, lambda: passes() + 100.0)
    assert offset.uncertainty_s == pytest.approx(0.0001)
    assert offset.offset_s == pytest.approx(100.0, abs=offset.uncertainty_s)


# --- settings and what is missing ---------------------------------------------------------------


def test_missing_pylsl_is_one_line_that_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylsl", None)
    with pytest.raises(ApparatusError, match=r"markers\.lsl: pylsl .*install ghostblitz\[lsl\]"):
        open_lsl("ghostblitz", source_id="x", clock=lambda: 0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[markers.serial]\nbaud = 9600\n", r"markers\.serial\.port is missing"),
        ('[markers.lsl]\nnam = "x"\n', r"markers\.lsl\.nam is not a setting; did you mean name\?"),
        ("[markers.codes]\ncards = 7\n", r"markers: codes: 'cards' is no marker; there are block-"),
        ("[markers.codes]\ncard = 0\n", r"markers\.codes\.card: .*greater than or equal to 1"),
        ("[markers.codes]\ncard = 256\n", r"markers\.codes\.card: .*255"),
        ("[markers.parallel]\naddress = 888\npulse_s = 0\n", r"markers\.parallel\.pulse_s: "),
    ],
)
def test_fault_in_the_settings_of_markers_is_named(tmp_path, text, message):
    (tmp_path / "apparatus.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_apparatus(tmp_path)


def test_no_output_is_the_default(tmp_path):
    assert load_apparatus(tmp_path).markers == MarkerSettings()
    assert ScriptedApparatus().markers is None
