"""The robot's account against made-up logs: what is lost, invented, or in the wrong trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ghostblitz_task.robot.comparing import Comparison, compare, presses_beyond
from ghostblitz_task.trial_log import RunLog

# The robot's clock is ahead of the session's, and it sees a card a little late.
CLOCKS_APART_S, LAG_S = 100.0, 0.004
# Keys of the cards, which come every 3 s, each answered after 0.4 s and gone after 0.7 s.
KEYS = ("s", "d", "f")
PRESSED_S, HELD_S, GONE_S, EVERY_S = 0.4, 0.08, 0.7, 3.0


def robot_did() -> list[dict[str, Any]]:
    did: list[dict[str, Any]] = []
    for i, key in enumerate(KEYS):
        onset_s = EVERY_S * i + CLOCKS_APART_S
        did += [
            {"what": "saw", "t_s": onset_s + LAG_S, "sight": "card"},
            {"what": "card", "t_s": onset_s + LAG_S, "trial_index": i},
            {"what": "press", "t_s": onset_s + PRESSED_S, "key": key},
            {"what": "release", "t_s": onset_s + PRESSED_S + HELD_S, "key": key},
            {"what": "saw", "t_s": onset_s + GONE_S + LAG_S, "sight": "off"},
        ]
    return did


def event(kind: str, key: str, t_s: float) -> dict[str, Any]:
    return {"kind": kind, "key": key, "t_s": t_s, "mode": "grab"}


def logged_trials() -> list[dict[str, Any]]:
    trials = []
    for i, key in enumerate(KEYS):
        pressed_s = EVERY_S * i + PRESSED_S
        trials.append(
            {
                "type": "trial",
                "trial_index": i,
                "onset_s": EVERY_S * i,
                "deadline_s": 1.5,
                "rt_s": PRESSED_S,
                "events": [
                    event("press", key, pressed_s),
                    event("release", key, pressed_s + HELD_S),
                ],
            }
        )
    return trials


@pytest.fixture
def robot_log(tmp_path: Path) -> Path:
    return tmp_path / "robot.jsonl"


def run_of(trials: list[dict[str, Any]]) -> RunLog:
    return RunLog(Path("run.jsonl"), {}, tuple(trials), torn=False)


def compared(
    robot_log: Path, did: list[dict[str, Any]], trials: list[dict[str, Any]]
) -> Comparison:
    robot_log.write_text("".join(json.dumps(record) + "\n" for record in did), encoding="utf-8")
    return compare(robot_log, run_of(trials))


def test_log_that_agrees_has_no_fault_and_the_lag_as_its_error(robot_log):
    found = compared(robot_log, robot_did(), logged_trials())
    assert (found.n_injected, found.n_logged) == (6, 6)
    assert (found.n_lost, found.n_invented, found.n_misattributed) == (0, 0, 0)
    assert found.rt_error_s == pytest.approx([LAG_S] * 3)


def without_own_press(did, trials):
    """The second card was left alone, but its trial has an RT."""
    did[:] = [r for r in did if r.get("key") != "d"]
    trials[1]["events"] = []


def without_rt(_did, trials):
    trials[1]["rt_s"] = None


def negative(_did, trials):
    """The press is there, and scored as if the card had come after it."""
    trials[1]["onset_s"] += 0.5
    trials[1]["rt_s"] = PRESSED_S - 0.5


def events_of_the_trial_before(_did, trials):
    """Each press is written one trial late, at a time near that of the trial's own."""
    trials[0]["rt_s"], trials[0]["events"] = None, []
    trials[1]["events"] = [event("press", "s", 3.45), event("release", "s", 3.5)]
    trials[1]["rt_s"] = 0.45
    trials[2]["events"] = [
        *(event(kind, "d", 6.45) for kind in ("press", "release")),
        *(event(kind, "f", 6.6) for kind in ("press", "release")),
    ]
    trials[2]["rt_s"] = 0.45


def release_in_the_next(_did, trials):
    trials[2]["events"].insert(0, trials[1]["events"].pop())


def scored_by_another_key(did, trials):
    """Both keys are in the trial; the RT is of the one that was pressed second."""
    second = [("press", 0.45), ("release", 0.5)]
    at = next(i for i, r in enumerate(did) if r["what"] == "release" and r["key"] == "d")
    did[at + 1 : at + 1] = [
        {"what": kind, "t_s": EVERY_S + CLOCKS_APART_S + s, "key": "k"} for kind, s in second
    ]
    trials[1]["events"] += [event(kind, "k", EVERY_S + s) for kind, s in second]
    trials[1]["rt_s"] = 0.45


def half_a_second_off(_did, trials):
    trials[1]["rt_s"] += 0.51
    trials[1]["events"][0]["t_s"] += 0.51


@pytest.mark.parametrize(
    ("spoil", "n_misattributed"),
    [
        (without_own_press, 1),
        (without_rt, 1),
        (negative, 1),
        (events_of_the_trial_before, 3),
        (release_in_the_next, 2),
        (scored_by_another_key, 1),
        (half_a_second_off, 1),
    ],
)
def test_trial_with_what_is_not_its_own_is_counted(robot_log, spoil, n_misattributed):
    did, trials = robot_did(), logged_trials()
    spoil(did, trials)
    found = compared(robot_log, did, trials)
    assert (found.n_lost, found.n_invented) == (0, 0)
    assert found.n_misattributed == n_misattributed


def test_trial_whose_card_the_robot_never_saw_has_no_rt_of_its_own(robot_log):
    did = [r for r in robot_did() if not 102 < r["t_s"] < 104]
    found = compared(robot_log, did, logged_trials())
    assert found.n_misattributed == 1


def test_early_press_that_was_sent_before_the_card_is_right(robot_log):
    did, trials = robot_did(), logged_trials()
    at = next(i for i, r in enumerate(did) if r.get("trial_index") == 1) - 1
    early = [("press", -0.2), ("release", -0.15)]
    did[at:at] = [
        {"what": kind, "t_s": EVERY_S + CLOCKS_APART_S + s, "key": "d"} for kind, s in early
    ]
    trials[1]["events"][:0] = [event(kind, "d", EVERY_S + s) for kind, s in early]
    trials[1]["rt_s"] = -0.2
    found = compared(robot_log, did, trials)
    assert (found.n_lost, found.n_invented, found.n_misattributed) == (0, 0, 0)
    assert len(found.rt_error_s) == 2


@pytest.mark.parametrize("trial", [0, 1])
def test_events_between_two_cards_may_be_in_either_trial(robot_log, trial):
    did, trials = robot_did(), logged_trials()
    at = next(i for i, r in enumerate(did) if r.get("trial_index") == 1) - 1
    between = [("press", -1.0), ("release", -0.9)]
    did[at:at] = [
        {"what": kind, "t_s": EVERY_S + CLOCKS_APART_S + s, "key": "x"} for kind, s in between
    ]
    added = [event(kind, "x", EVERY_S + s) | {"mode": None} for kind, s in between]
    trials[trial]["events"] = sorted(added + trials[trial]["events"], key=lambda e: e["t_s"])
    assert compared(robot_log, did, trials).n_misattributed == 0


def test_press_at_the_deadline_may_come_after_it(robot_log):
    did, trials = robot_did(), logged_trials()
    trials[1]["rt_s"], trials[1]["deadline_s"] = None, PRESSED_S + 0.03
    assert compared(robot_log, did, trials).n_misattributed == 0
    trials[1]["deadline_s"] = PRESSED_S + 0.1
    assert compared(robot_log, did, trials).n_misattributed == 1


def test_lost_and_invented_events_are_counted_as_such_alone(robot_log):
    trials = logged_trials()
    del trials[1]["events"][1]
    trials[2]["events"].append(event("press", "j", 6.5))
    found = compared(robot_log, robot_did(), trials)
    assert (found.n_lost, found.n_invented, found.n_misattributed) == (1, 1, 0)


def test_repeats_are_presses_beyond_those_that_were_sent(robot_log):
    did, trials = robot_did(), logged_trials()
    # As X sends them: the key seems to come up and to go down again.
    for i in range(3):
        trials[0]["events"][1:1] = [event("release", "s", 0.41 + i), event("press", "s", 0.42 + i)]
    compared(robot_log, did, trials)
    assert presses_beyond(robot_log, run_of(trials), ["s", "s", "d"]) == 3
    assert presses_beyond(robot_log, run_of(trials), ["d"]) == 0
