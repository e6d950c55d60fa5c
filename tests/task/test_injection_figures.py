"""The figures of a session with injected keys, from a made-up log of it and of its robot."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from ghostblitz_task.card_studies import open_card_study
from ghostblitz_task.timing.injecting import InjectedSession, injected_session, injection_figures
from ghostblitz_task.timing.measured import InjectionFigures, RepeatFigures
from ghostblitz_task.trial_log import RunLog

# A key held in the first card, none in the second, twice; then taps of 5, 20 and 80 ms.
N_TAPS, FIRST_TAP = 3, 4
PRESSED_S, EVERY_S = 0.4, 5.0


@pytest.fixture(scope="module")
def session() -> InjectedSession:
    with as_file(files("ghostblitz_task") / "demo_study") as folder:
        study = open_card_study(folder)
    return injected_session(study, n_taps=N_TAPS, repeat=RepeatFigures(0.66, 0.04))


def holds_s(session: InjectedSession) -> dict[int, float]:
    return {0: session.held_s, 2: session.held_s, **session.holds_s}


def robot_did(session: InjectedSession) -> list[dict[str, Any]]:
    did: list[dict[str, Any]] = []
    for i in range(FIRST_TAP + N_TAPS):
        did.append({"what": "card", "t_s": EVERY_S * i, "trial_index": i})
        if i in holds_s(session):
            key, pressed_s = "sd"[i % 4 // 2], EVERY_S * i + PRESSED_S
            did.append({"what": "press", "t_s": pressed_s, "key": key})
            released_s = pressed_s + holds_s(session)[i]
            did.append({"what": "release", "t_s": released_s, "key": key})
        did.append({"what": "saw", "t_s": EVERY_S * i + 3.0, "sight": "off"})
    return did


def logged(did: list[dict[str, Any]]) -> list[dict[str, Any]]:
    trials: list[dict[str, Any]] = []
    for record in did:
        if record["what"] == "card":
            trials.append(
                {
                    "type": "trial",
                    "trial_index": record["trial_index"],
                    "onset_s": record["t_s"],
                    "deadline_s": 1.5,
                    "rt_s": None,
                    "events": [],
                }
            )
        elif record["what"] in {"press", "release"}:
            event = {"kind": record["what"], "key": record["key"], "t_s": record["t_s"]}
            trials[-1]["events"].append(event | {"mode": "grab"})
            trials[-1]["rt_s"] = PRESSED_S
    return trials


def figures(
    folder: Path,
    session: InjectedSession,
    trials: list[dict[str, Any]],
    repeating_keys: tuple[str, ...] = ("s", "d"),
) -> InjectionFigures:
    robot_log = folder / "robot.jsonl"
    robot_log.write_text("".join(json.dumps(r) + "\n" for r in robot_did(session)))
    run = RunLog(Path("run.jsonl"), {}, tuple(trials), torn=False)
    return injection_figures(session, robot_log, run, repeating_keys)


def test_session_without_fault_has_all_taps_answered_and_no_repeats(tmp_path, session):
    found = figures(tmp_path, session, logged(robot_did(session)))
    assert [(tap.n_taps, tap.n_answered) for tap in found.taps] == [(1, 1)] * 3
    assert found.held_s == pytest.approx([1.06, 1.06])
    assert (found.n_repeats_logged, found.n_misattributed) == (0, 0)


def test_tap_that_was_scored_before_its_card_answered_no_card(tmp_path, session):
    trials = logged(robot_did(session))
    trials[FIRST_TAP]["rt_s"], trials[FIRST_TAP]["onset_s"] = -0.1, EVERY_S * FIRST_TAP + 0.5
    found = figures(tmp_path, session, trials)
    assert [tap.n_answered for tap in found.taps] == [0, 1, 1]
    assert found.n_misattributed == 1


def test_repeats_are_counted_even_if_the_key_seems_to_come_up_between_them(tmp_path, session):
    trials = logged(robot_did(session))
    for i in range(4):
        t_s = PRESSED_S + 0.66 + 0.04 * i
        again = [{"kind": kind, "key": "s", "t_s": t_s} for kind in ("release", "press")]
        trials[0]["events"][-1:-1] = [event | {"mode": "grab"} for event in again]
    assert figures(tmp_path, session, trials).n_repeats_logged == 4


def test_hold_of_a_key_that_never_repeats_is_none(tmp_path, session):
    trials = logged(robot_did(session))
    assert len(figures(tmp_path, session, trials, ("d",)).held_s) == 1
    assert figures(tmp_path, session, trials, ()).held_s == ()
