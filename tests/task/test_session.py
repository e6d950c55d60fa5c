"""The trial loop on a virtual clock: exact times, and every event in one record."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import ceil
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from scripted_apparatus import FRAME_S, ScriptedApparatus, click, press, release, tap
from small_study import GRAB_KEYS, SHOUT_KEYS, make_screens, make_settings, study_table

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.design import plan_session
from ghostblitz_task.errors import ApparatusError, LogError
from ghostblitz_task.scoring import TrialFacts, score_trial
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import SessionOutcome, run_session
from ghostblitz_task.session_header import Resumed, SessionIdentity
from ghostblitz_task.studies import open_study, simulate_study
from ghostblitz_task.trial_log import RunLog, TrialLog, file_sha256, read_log

N_TRIALS = 16
EPS = 1e-9


def play(
    folder: Path,
    apparatus: ScriptedApparatus,
    game: str = "classic",
    overrides: Mapping[str, Any] | None = None,
    *,
    resumes: Resumed | None = None,
    run: int = 1,
    **more: Any,
) -> tuple[RunLog, SessionOutcome]:
    settings = make_settings(game, overrides)
    path = folder / f"run-{run}.jsonl"
    with TrialLog(path) as log:
        outcome = run_session(
            settings,
            plan=plan_session(settings, settings.make_game(), seed=3),
            screens=make_screens(settings),
            apparatus=apparatus,
            apparatus_settings=ApparatusSettings(),
            log=log,
            identity=SessionIdentity("p1", 1, run, 3, "simulated", "scripted", resumes),
            **more,
        )
    return read_log(path), outcome


def on_card(answer: Callable[[Screen, float, int], list[DeviceEvent]]):
    """A script that acts when a card is shown; it is given the screen, the flip, and the trial."""

    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        return answer(screen, flip_s, n) if screen.name == "card" else []

    return script


def right_key(screen: Screen) -> str:
    assert screen.stimulus is not None
    solution = screen.stimulus.solution
    return (GRAB_KEYS if solution.mode == "grab" else SHOUT_KEYS)[solution.answer]


def right(after_s: float = 0.245):
    return on_card(lambda screen, flip_s, _n: tap(right_key(screen), flip_s + after_s))


def trials(run: RunLog) -> list[Mapping[str, Any]]:
    return list(run.of_type("trial"))


def frames(seconds: float) -> float:
    return seconds / FRAME_S


def nearest(seconds: float) -> float:
    """The whole frame that is nearest."""
    return round(seconds / FRAME_S) * FRAME_S


def first_frame_at(seconds: float) -> float:
    """The first whole frame that is not before."""
    return ceil(seconds / FRAME_S - 1e-6) * FRAME_S


# --- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize("foreperiod_s", [0.5, 0.508, 0.511, 0.9, 1 / 60, 0.001])
def test_foreperiod_is_the_nearest_number_of_frames(tmp_path: Path, foreperiod_s: float) -> None:
    overrides = {"timing.foreperiod_s": [foreperiod_s, foreperiod_s]}
    run, _ = play(tmp_path, ScriptedApparatus(right()), overrides=overrides)
    for trial in trials(run):
        assert trial["foreperiod_requested_s"] == foreperiod_s
        achieved_s = trial["onset_s"] - trial["fixation_onset_s"]
        assert achieved_s == pytest.approx(max(nearest(foreperiod_s), FRAME_S), abs=EPS)


@pytest.mark.parametrize("after_s", [0.0, 0.004, 0.245, 0.25, 1.999])
def test_rt_is_the_press_less_the_flip_exactly(tmp_path: Path, after_s: float) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(right(after_s)))
    assert len(trials(run)) == N_TRIALS
    for trial in trials(run):
        assert trial["rt_s"] == pytest.approx(after_s, abs=EPS)
        assert trial["correct"]


def test_card_that_is_grabbed_leaves_at_the_next_frame(tmp_path: Path) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(right(0.245)))
    for trial in trials(run):
        # Pressed between the 14th and 15th frame; the 15th brings it to light.
        assert frames(trial["offset_s"] - trial["onset_s"]) == pytest.approx(16)


@pytest.mark.parametrize("window_s", [0.5, 0.3])
def test_card_stays_for_the_second_response_where_something_is_shouted(
    tmp_path: Path, window_s: float
) -> None:
    overrides = {"timing.second_response_window_s": window_s}
    run, _ = play(tmp_path, ScriptedApparatus(right(0.245)), "grab-or-shout", overrides)
    for trial in trials(run):
        stayed_s = trial["offset_s"] - trial["onset_s"]
        assert stayed_s == pytest.approx(first_frame_at(0.245 + window_s), abs=EPS)


def test_unanswered_card_stays_until_the_deadline(tmp_path: Path) -> None:
    run, _ = play(tmp_path, ScriptedApparatus())
    for trial in trials(run):
        assert trial["error_kind"] == "late"
        assert trial["offset_s"] - trial["onset_s"] == pytest.approx(2.0, abs=EPS)


def test_next_fixation_comes_after_the_interval(tmp_path: Path) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(right()), overrides={"feedback.show": "off"})
    found = trials(run)
    for before, after in pairwise(found):
        if before["block_index"] == after["block_index"]:
            gap_s = after["fixation_onset_s"] - before["end_s"]
            assert gap_s == pytest.approx(0.3, abs=EPS)


@pytest.mark.parametrize(
    ("second_s", "kind"), [(0.45, "both_modes"), (0.7499, "both_modes"), (0.76, None), (1.0, None)]
)
def test_second_mode_within_the_window_is_an_error(
    tmp_path: Path, second_s: float, kind: str | None
) -> None:
    def both(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        key = right_key(screen)
        other = SHOUT_KEYS if key in GRAB_KEYS.values() else GRAB_KEYS
        return [*tap(key, flip_s + 0.25), *tap(other["ghost"], flip_s + second_s)]

    run, _ = play(tmp_path, ScriptedApparatus(on_card(both)), "grab-or-shout")
    assert {t["error_kind"] for t in trials(run)} == {kind}


def test_missed_frames_are_counted_and_the_longest_is_kept(tmp_path: Path) -> None:
    apparatus = ScriptedApparatus(
        right(0.5), frames_missed=lambda screen, n: 3 if screen.name == "card" and n == 5 else 0
    )
    run, _ = play(tmp_path, apparatus)
    first, *others = trials(run)
    assert first["n_dropped_frames"] == 1
    assert frames(first["longest_frame_s"]) == pytest.approx(4)
    assert {t["n_dropped_frames"] for t in others} == {0}
    assert frames(others[0]["longest_frame_s"]) == pytest.approx(1)


def test_late_first_flip_of_a_card_is_a_dropped_frame_and_shifts_the_onset(tmp_path: Path) -> None:
    apparatus = ScriptedApparatus(
        right(0.5), frames_missed=lambda screen, n: 2 if screen.name == "card" and n == 0 else 0
    )
    first = trials(play(tmp_path, apparatus)[0])[0]
    assert first["n_dropped_frames"] == 1
    assert frames(first["onset_s"] - first["fixation_onset_s"]) == pytest.approx(32)
    assert first["rt_s"] == pytest.approx(0.5, abs=EPS)


def test_late_flip_that_takes_the_card_away_is_a_dropped_frame(tmp_path: Path) -> None:
    shown: list[str] = []

    def missed(screen: Screen, _n: int) -> int:
        shown.append(screen.name)
        return 2 if shown[-2:-1] == ["card"] and screen.name != "card" else 0

    apparatus = ScriptedApparatus(right(0.5), frames_missed=missed)
    first = trials(play(tmp_path, apparatus)[0])[0]
    assert first["n_dropped_frames"] == 1
    assert frames(first["longest_frame_s"]) == pytest.approx(3)


def test_every_screen_is_prepared_before_it_is_shown(tmp_path: Path) -> None:
    apparatus = ScriptedApparatus(right())
    play(tmp_path, apparatus)
    drawn = {(s.name, s.elements) for s in apparatus.prepared}
    assert {(s.name, s.elements) for s in apparatus.screens} <= drawn


# --- feedback -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("show", "expected"),
    [("off", (None, None)), ("practice", ("right", None)), ("always", ("right", "right"))],
)
def test_feedback_is_shown_where_it_is_set(
    tmp_path: Path, show: str, expected: tuple[str | None, str | None]
) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(right()), overrides={"feedback.show": show})
    for trial in trials(run):
        assert trial["feedback"] == expected[trial["phase"] == "test"]
        if trial["feedback"] is None:
            assert trial["feedback_onset_s"] is None
            assert trial["end_s"] == trial["offset_s"]
        else:
            # One frame without a card comes first; then all that counts is known.
            feedback_s = trial["feedback_onset_s"]
            assert feedback_s - trial["offset_s"] == pytest.approx(FRAME_S, abs=EPS)
            assert trial["end_s"] - feedback_s == pytest.approx(0.4, abs=EPS)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (right(), "right"),
        (right(-0.1), "early"),
        (on_card(lambda _s, _t, _n: []), "late"),
        (on_card(lambda s, t, _n: tap(next(k for k in GRAB_KEYS.values() if k != right_key(s)),
                                      t + 0.3)), "wrong"),
    ],
)  # fmt: skip
def test_feedback_says_what_happened(tmp_path: Path, script, kind: str) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(script), overrides={"feedback.show": "always"})
    assert {t["feedback"] for t in trials(run)} == {kind}


# --- events -------------------------------------------------------------------------------------


def busy(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
    """Taps of 5 to 80 ms on every screen, held keys across trials, repeats, clicks, other keys."""
    found: list[DeviceEvent] = []
    hold_s = (0.005, 0.011, 0.03, 0.08)[n % 4]
    if screen.name == "card":
        found += tap(right_key(screen), flip_s + 0.2 + 0.003 * n, hold_s)
        found += tap("z", flip_s + 0.21, hold_s)
        if n % 3 == 0:  # goes down here and comes up in the next trial
            found += [press("d", flip_s + 0.5), release("d", flip_s + 2.4)]
        if n % 3 == 1:
            found += [press("f", flip_s + 0.45), press("f", flip_s + 0.48),
                      release("f", flip_s + 0.6)]  # fmt: skip
    elif screen.name == "fixation":
        found += click(1.0, 2.0, flip_s + 0.1)
        if n % 5 == 4:
            found += tap("g", flip_s + 0.3, hold_s)
    elif screen.name == "inter-trial":
        found += tap("s", flip_s + 0.02, hold_s)
    elif screen.name.startswith("feedback"):
        found += tap("a", flip_s + 0.1, hold_s)
    else:
        found += tap("s", flip_s + 0.03, hold_s)
    return found


def logged_events(run: RunLog) -> list[Mapping[str, Any]]:
    return [event for record in run.records for event in record.get("events", [])]


@pytest.mark.parametrize("game", ["classic", "grab-or-shout"])
@pytest.mark.parametrize("show", ["off", "always"])
def test_every_event_is_in_exactly_one_record(tmp_path: Path, game: str, show: str) -> None:
    apparatus = ScriptedApparatus(busy)
    run, _ = play(tmp_path, apparatus, game, {"feedback.show": show})
    key = Counter((e["t_s"], e["key"], e["kind"]) for e in logged_events(run))
    assert key == Counter((e.t_s, e.key, e.kind) for e in apparatus.delivered)
    assert len(apparatus.delivered) > 150
    for trial in trials(run):
        assert trial["n_events"] == len(trial["events"])
    names = [r["name"] for r in run.of_type("screen")]
    assert "end" in names


def test_events_of_the_log_are_in_their_order_in_time(tmp_path: Path) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(busy), overrides={"feedback.show": "always"})
    times = [e["t_s"] for e in logged_events(run)]
    assert times == sorted(times)


def test_no_press_answers_another_trial(tmp_path: Path) -> None:
    """Every scored response is a press between its own fixation and its own deadline."""
    apparatus = ScriptedApparatus(busy)
    run, _ = play(tmp_path, apparatus, overrides={"feedback.show": "always"})
    presses = [e for e in apparatus.delivered if e.kind == "press"]
    answered = []
    for trial in trials(run):
        if trial["rt_s"] is None:
            continue
        t_s = trial["onset_s"] + trial["rt_s"]
        assert trial["fixation_onset_s"] <= t_s <= trial["onset_s"] + trial["deadline_s"]
        (own,) = [e for e in presses
                  if abs(e.t_s - t_s) < EPS and e.key == GRAB_KEYS[trial["response"]]]  # fmt: skip
        answered.append(own)
    assert len({id(e) for e in answered}) == len(answered) == N_TRIALS


@pytest.mark.parametrize("where", ["inter-trial", "feedback-right"])
def test_presses_between_trials_never_answer(tmp_path: Path, where: str) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "card" and n % 2 == 0:
            return tap(right_key(screen), flip_s + 0.3)
        return tap("g", flip_s + 0.1) if screen.name == where else []

    run, _ = play(tmp_path, ScriptedApparatus(script), overrides={"feedback.show": "always"})
    for n, trial in enumerate(trials(run)):
        assert trial["error_kind"] == (None if n % 2 == 0 else "late")


def test_key_that_is_held_into_a_trial_is_marked_and_does_not_answer(tmp_path: Path) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "inter-trial" and n == 0:
            return [press("g", flip_s + 0.05), *(press("g", flip_s + 0.3 + 0.1 * i)
                    for i in range(8)), release("g", flip_s + 1.5)]  # fmt: skip
        return []

    run, _ = play(tmp_path, ScriptedApparatus(script))
    first, second, third = trials(run)[:3]
    assert not first["key_held_at_onset"]
    assert second["held_at_onset"] == ["g"]
    assert second["key_held_at_onset"]
    assert second["error_kind"] == "late"
    assert second["rt_s"] is None
    assert all(e["repeated"] for e in second["events"] if e["t_s"] > second["fixation_onset_s"]
               and e["kind"] == "press")  # fmt: skip
    assert not third["key_held_at_onset"]


def test_key_that_was_down_before_the_session_goes_down_only_after_it_came_up(
    tmp_path: Path,
) -> None:
    def script(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        if screen.name == "key-check-grab-mouse":  # Whose press comes at 0.1 s, as if repeated.
            return [release("g", flip_s + 0.2), *tap("g", flip_s + 0.3)]
        return []

    run, _ = play(tmp_path, ScriptedApparatus(script, keys_down_at_start=("g",)))
    check = next(r for r in run.of_type("screen") if r["name"] == "key-check-grab-mouse")
    presses = [e["repeated"] for e in check["events"] if e["kind"] == "press"]
    assert presses == [True, False]


def test_press_at_the_flip_or_after_it_is_not_held(tmp_path: Path) -> None:
    run, _ = play(tmp_path, ScriptedApparatus(right(0.0)))
    assert all(not t["key_held_at_onset"] for t in trials(run))
    held = tmp_path / "held"
    held.mkdir()
    run, _ = play(held, ScriptedApparatus(right(-0.01)))
    assert all(t["key_held_at_onset"] for t in trials(run))


def test_click_on_an_item_grabs_it_only_where_that_is_set(tmp_path: Path) -> None:
    screens = make_screens(make_settings())
    x, y = screens.item_places()["mouse"]
    script = on_card(lambda _s, flip_s, _n: click(x, y, flip_s + 0.4))
    run, _ = play(tmp_path, ScriptedApparatus(script), overrides={"responses.pointer": True})
    for trial in trials(run):
        assert trial["response"] == "mouse"
        assert trial["response_device"] == "pointer"
        assert trial["response_resolution_s"] == FRAME_S
    (tmp_path / "off").mkdir()
    run, _ = play(tmp_path / "off", ScriptedApparatus(script))
    assert {t["error_kind"] for t in trials(run)} == {"late"}
    assert all(len(t["events"]) >= 2 for t in trials(run))


def test_logged_score_follows_from_the_logged_facts(tmp_path: Path) -> None:
    settings = make_settings("grab-or-shout")
    game = settings.make_game()
    run, _ = play(tmp_path, ScriptedApparatus(busy), "grab-or-shout")
    for trial in trials(run):
        stimulus = game.stimulus(game.parse(trial["card"]), game.initial_state())
        score = score_trial(TrialFacts.from_json(trial), stimulus, game).to_json()
        assert {name: trial[name] for name in score} == score


def test_wrong_key_at_the_key_check_is_named_and_the_right_one_goes_on(tmp_path: Path) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "key-check-grab-ghost" and n == 0:
            return [*tap("z", flip_s + 0.2), *tap("a", flip_s + 0.6)]
        if screen.name.startswith("key-check") and n == 0:
            return tap(str(screen.awaits_keys[0]), flip_s + 0.2)
        return []

    apparatus = ScriptedApparatus(
        lambda s, t, n: script(s, t, n) if s.name.startswith("key-check") else
        (tap(s.awaits_keys[0], t + 0.1) if s.awaits_keys else []), goes_on=False,
    )  # fmt: skip
    run, _ = play(tmp_path, apparatus)
    asked = [s for s in apparatus.screens if s.name == "key-check-grab-ghost"]
    assert any("Z" in getattr(e, "text", "") for e in asked[1].elements)
    first = next(run.of_type("screen"))
    assert [e["key"] for e in first["events"] if e["kind"] == "press"] == ["z", "a"]


# --- pause, quit, resume, failures --------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "n"), [("card", 1), ("inter-trial", 3), ("feedback-right", 1), ("fixation", 1)]
)
def test_pause_comes_after_the_trial_and_then_all_goes_on(
    tmp_path: Path, where: str, n: int
) -> None:
    def script(screen: Screen, flip_s: float, shown: int) -> list[DeviceEvent]:
        found = tap(right_key(screen), flip_s + 0.3) if screen.name == "card" else []
        return [*found, *(tap("p", flip_s + 0.1) if (screen.name, shown) == (where, n) else [])]

    run, outcome = play(tmp_path, ScriptedApparatus(script), overrides={"feedback.show": "always"})
    order = [r.get("name", r["type"]) for r in run.records]
    assert order.count("pause") == 1
    place = order.index("pause")
    assert order[:place].count("trial") == 2
    assert outcome == SessionOutcome("completed", N_TRIALS)
    assert all(t["correct"] for t in trials(run))


@pytest.mark.parametrize("where", ["fixation", "card"])
def test_quit_in_a_trial_keeps_its_facts_as_interrupted(tmp_path: Path, where: str) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if (screen.name, n) == (where, 5):
            return [*tap("z", flip_s + 0.05), *tap("escape", flip_s + 0.2)]
        return tap(right_key(screen), flip_s + 0.3) if screen.name == "card" else []

    apparatus = ScriptedApparatus(script)
    run, outcome = play(tmp_path, apparatus)
    assert outcome == SessionOutcome("quit", 5)
    assert run.status == "quit"
    assert [t["trial_index"] for t in trials(run)] == list(range(5))
    interrupted = run.records[-2]
    assert interrupted["type"] == "interrupted"
    assert interrupted["trial_index"] == 5
    assert run.records[-1] == run.records[-1] | {"status": "quit", "reason": "quit key",
                                                 "n_trials": 5}  # fmt: skip
    assert len(logged_events(run)) == len(apparatus.delivered)
    assert {"z", "escape"} <= {e["key"] for e in interrupted["events"]}


# With feedback the table is empty twice in each trial: for a frame before it, and after it.
@pytest.mark.parametrize(
    ("where", "shown"), [("feedback-right", 5), ("inter-trial", 10), ("inter-trial", 11)]
)
def test_quit_after_the_answer_keeps_the_trial(tmp_path: Path, where: str, shown: int) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if (screen.name, n) == (where, shown):
            return tap("escape", flip_s + 0.1)
        return tap(right_key(screen), flip_s + 0.3) if screen.name == "card" else []

    apparatus = ScriptedApparatus(script)
    run, outcome = play(tmp_path, apparatus, overrides={"feedback.show": "always"})
    assert outcome == SessionOutcome("quit", 6)
    assert [t["trial_index"] for t in trials(run)] == list(range(6))
    assert not list(run.of_type("interrupted"))
    assert len(logged_events(run)) == len(apparatus.delivered)


def test_stop_that_is_requested_ends_the_session_with_its_reason(tmp_path: Path) -> None:
    apparatus = ScriptedApparatus(right())
    run, outcome = play(
        tmp_path,
        apparatus,
        stop_requested=lambda: "SIGTERM" if apparatus.n_between == 4 else None,
    )
    assert outcome == SessionOutcome("quit", 4)
    assert run.records[-1]["reason"] == "SIGTERM"


@pytest.mark.slow
@pytest.mark.parametrize("quit_at", [0, 3, 4, 9, 15])
def test_resumed_session_plays_exactly_the_trials_that_are_left(
    tmp_path: Path, quit_at: int
) -> None:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "card":
            return tap("escape" if n == quit_at else right_key(screen), flip_s + 0.3)
        return []

    first, _ = play(tmp_path, ScriptedApparatus(script))
    resumes = Resumed("run-1.jsonl", file_sha256(first.path), len(trials(first)))
    second, outcome = play(tmp_path, ScriptedApparatus(right()), resumes=resumes, run=2)
    assert outcome == SessionOutcome("completed", N_TRIALS)
    both = [*trials(first), *trials(second)]
    assert [t["trial_index"] for t in both] == list(range(N_TRIALS))
    (tmp_path / "whole").mkdir()
    whole, _ = play(tmp_path / "whole", ScriptedApparatus(right()))
    assert [t["card"] for t in both] == [t["card"] for t in trials(whole)]
    assert second.header["resumes"] == {
        "file": "run-1.jsonl", "sha256": file_sha256(first.path), "n_trials": quit_at,
    }  # fmt: skip
    names = [r["name"] for r in second.of_type("screen")]
    assert any(name.startswith("key-check") for name in names)


def test_session_with_no_trial_left_only_ends(tmp_path: Path) -> None:
    resumes = Resumed("run-1.jsonl", "0" * 64, N_TRIALS)
    run, outcome = play(tmp_path, ScriptedApparatus(right()), resumes=resumes, run=2)
    assert outcome == SessionOutcome("completed", N_TRIALS)
    assert trials(run) == []


@pytest.mark.parametrize(
    "where", ["card", "fixation", "inter-trial", "block-one", "feedback-right"]
)
def test_apparatus_that_fails_is_said_in_the_log(tmp_path: Path, where: str) -> None:
    apparatus = ScriptedApparatus(
        right(), fails_at=lambda screen, n: (screen.name == where and n >= 30)
        or (screen.name == where == "block-one"),
    )  # fmt: skip
    with pytest.raises(ApparatusError, match=r"went dark"):
        play(tmp_path, apparatus, overrides={"feedback.show": "always"})
    run = read_log(tmp_path / "run-1.jsonl")
    assert run.status == "failed"
    assert run.records[-1]["reason"] == "the screen went dark"
    assert [t["trial_index"] for t in trials(run)] == list(range(len(trials(run))))
    assert len(logged_events(run)) == len(apparatus.delivered)


def test_apparatus_that_fails_in_feedback_loses_no_answered_trial(tmp_path: Path) -> None:
    apparatus = ScriptedApparatus(
        right(), fails_at=lambda screen, n: screen.name == "feedback-right" and n == 30
    )
    with pytest.raises(ApparatusError, match=r"went dark"):
        play(tmp_path, apparatus, overrides={"feedback.show": "always"})
    run = read_log(tmp_path / "run-1.jsonl")
    n_answered = sum(s.name == "card" for s in apparatus.screens)
    assert len(trials(run)) == n_answered
    assert trials(run)[-1]["correct"]


def test_disk_that_fills_up_keeps_the_earlier_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, n = os.fsync, 0

    def filling(descriptor: int) -> None:
        nonlocal n
        n += 1
        if n > 25:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", filling)
    with pytest.raises(LogError, match=r"could not be written: No space left"):
        play(tmp_path, ScriptedApparatus(right()))
    run = read_log(tmp_path / "run-1.jsonl")
    assert len(trials(run)) > 2
    assert run.status == "killed"


def test_trial_is_on_disk_before_the_next_begins(tmp_path: Path) -> None:
    seen: list[int] = []

    def script(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        if screen.name == "fixation":
            seen.append(len(trials(read_log(tmp_path / "run-1.jsonl"))))
        return tap(right_key(screen), flip_s + 0.3) if screen.name == "card" else []

    play(tmp_path, ScriptedApparatus(script))
    assert seen == list(range(N_TRIALS))


@pytest.mark.parametrize("game", ["classic", "grab-or-shout"])
@pytest.mark.parametrize("before_end_s", [0.001, 0.007, 0.02])
def test_feedback_agrees_with_the_score_up_to_the_last_moment(
    tmp_path: Path, game: str, before_end_s: float
) -> None:
    run, _ = play(
        tmp_path, ScriptedApparatus(right(2.0 - before_end_s)), game, {"feedback.show": "always"}
    )
    assert {(t["correct"], t["feedback"]) for t in trials(run)} == {(True, "right")}


@pytest.mark.parametrize("before_end_s", [0.001, 0.007, 0.02])
def test_feedback_agrees_about_the_second_mode_up_to_the_last_moment(
    tmp_path: Path, before_end_s: float
) -> None:
    def both(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        key = right_key(screen)
        other = SHOUT_KEYS if key in GRAB_KEYS.values() else GRAB_KEYS
        return [*tap(key, flip_s + 0.25), *tap(other["ghost"], flip_s + 0.75 - before_end_s)]

    run, _ = play(
        tmp_path, ScriptedApparatus(on_card(both)), "grab-or-shout", {"feedback.show": "always"}
    )
    assert {(t["error_kind"], t["feedback"]) for t in trials(run)} == {("both_modes", "wrong")}


@pytest.mark.parametrize("show", ["off", "always"])
def test_second_mode_counts_after_a_response_in_the_last_moment(tmp_path: Path, show: str) -> None:
    def both(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        key = right_key(screen)
        other = SHOUT_KEYS if key in GRAB_KEYS.values() else GRAB_KEYS
        return [*tap(key, flip_s + 1.99), *tap(other["ghost"], flip_s + 2.4)]

    run, _ = play(
        tmp_path, ScriptedApparatus(on_card(both)), "grab-or-shout", {"feedback.show": show}
    )
    found = {(t["error_kind"], t["feedback"]) for t in trials(run)}
    assert found == {("both_modes", "wrong" if show == "always" else None)}


def test_progress_is_told_between_trials(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    play(tmp_path, ScriptedApparatus(right()), on_trial=lambda *n: told.append(n))
    assert told == [(n + 1, N_TRIALS) for n in range(N_TRIALS)]


# --- simulated studies --------------------------------------------------------------------------


def write_study(folder: Path, n_trials: tuple[int, ...]) -> Path:
    table = study_table("grab-or-shout")
    folder.mkdir()
    lines = ['[study]\nid = "small"\ntitle = "A small study"\n[game]\nname = "grab-or-shout"\n']
    lines += [f'[[blocks]]\nlabel = "b{i}"\nn_trials = {n}\n' for i, n in enumerate(n_trials)]
    for name in ("grab_keys", "shout_keys"):
        lines.append(f"[responses.{name}]\n")
        lines += [f'{item} = "{key}"\n' for item, key in table["responses"][name].items()]
    (folder / "study.toml").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    study = open_study(write_study(tmp_path / "study", (10, 20)))
    logs = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        paths = simulate_study(
            study, tmp_path / name, n_participants=2, seed=seed, model="ex-gaussian"
        )
        logs[name] = [p.read_bytes() for p in paths]
    assert logs["a"] == logs["b"]
    assert logs["a"][0] != logs["a"][1]
    assert logs["a"][0] != logs["c"][0]


def test_participant_model_cannot_shift_the_trial_order(tmp_path: Path) -> None:
    study = open_study(write_study(tmp_path / "study", (10, 20)))
    planned = set()
    for model in ("perfect", "guessing", "ex-gaussian"):
        (path,) = simulate_study(study, tmp_path / model, n_participants=1, seed=1, model=model)
        run = read_log(path)
        cards = tuple((t["card"], t["foreperiod_requested_s"]) for t in run.of_type("trial"))
        planned.add((run.header["plan_sha256"], cards))
    assert len(planned) == 1


@pytest.mark.slow
def test_forty_simulated_sessions_take_well_under_a_second_each(tmp_path: Path) -> None:
    study = open_study(write_study(tmp_path / "study", (40, 60, 60, 50)))
    # Time of this process: what else the machine does is no matter.
    took = [process_time()]
    simulate_study(
        study, tmp_path / "out", n_participants=40, seed=1, model="ex-gaussian",
        on_participant=lambda _done, _planned: took.append(process_time()),
    )  # fmt: skip
    each = [b - a for a, b in pairwise(took)]
    assert len(each) == 40
    assert sorted(each)[20] < 1
    assert max(each) < 2


# --- the very end -------------------------------------------------------------------------------


def test_wish_to_quit_after_the_last_screen_changes_nothing(tmp_path: Path) -> None:
    def script(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
        if screen.name == "card":
            return tap(right_key(screen), flip_s + 0.25)
        if screen.name == "end":
            return [*tap("space", flip_s + 0.1, hold_s=0.6), *tap("escape", flip_s + 0.3)]
        return []

    apparatus = ScriptedApparatus(script, goes_on=True)
    run, outcome = play(tmp_path, apparatus)
    assert outcome.status == run.status == "completed"
    assert run.records[-1]["n_trials"] == N_TRIALS


def test_session_whose_trials_are_all_done_is_resumed_to_its_end(tmp_path: Path) -> None:
    play(tmp_path, ScriptedApparatus(right()))
    done = Resumed("run-1.jsonl", file_sha256(tmp_path / "run-1.jsonl"), N_TRIALS)
    apparatus = ScriptedApparatus(right())
    run, outcome = play(tmp_path, apparatus, resumes=done, run=2)
    assert outcome == SessionOutcome("completed", N_TRIALS)
    assert trials(run) == []
    # Nothing is shown that was not prepared.
    shown = {screen.name for screen in apparatus.screens}
    assert shown <= {screen.name for screen in apparatus.prepared}
