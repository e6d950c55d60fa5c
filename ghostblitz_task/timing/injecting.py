"""Let a robot play a short session on the open window, and hold its account against the log.

The session is the study's own loop, scoring and log, with its game, screens and the first
player's keys, but few trials that follow each other quickly. The robot is a process of its own
that sees only the square in the corner and presses keys through the X server.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.card_studies import Study, open_card_study
from ghostblitz_task.config import FeedbackSettings, SequenceSettings, TimingSettings
from ghostblitz_task.design import TrialPlan
from ghostblitz_task.games import Stimulus
from ghostblitz_task.robot.comparing import compare, presses_beyond
from ghostblitz_task.robot.script import Tap, TapsFor, key_of, script_session
from ghostblitz_task.runnable import RunnableStudy
from ghostblitz_task.screens import Screens
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.timing.keyboard_repeat import keys_that_repeat
from ghostblitz_task.timing.measured import (
    InjectionFigures,
    RepeatFigures,
    TapFigures,
    Unfinished,
)
from ghostblitz_task.timing.window_focus import someone_elses_focus
from ghostblitz_task.trial_log import RunLog, TrialLog, log_path, read_log

__all__ = ["inject", "injected_session", "keys_pressed", "why_not"]

#: How long keys are tapped, in turn: shorter than a frame, about one, and a person's.
HOLDS_S = (0.005, 0.02, 0.08)
# The first cards: a key that is held until it repeats, then a card without an answer, twice.
_N_HELD = 2
_REPEATS_WAITED_FOR = 10
_UNKNOWN_REPEAT = RepeatFigures(delay_s=0.66, interval_s=0.04)
_LONGEST_HOLD_S = 2.5
# A press that is sent late shortens its hold by so much at most; it is still many repeats long.
_LATE_S = 0.1
# After the card; varied, so that presses come at any phase of a frame.
_DELAYS_S = (0.25, 0.457)
_TIMING = TimingSettings(
    foreperiod_s=(0.25, 0.45),
    deadline_s=1.5,
    second_response_window_s=0.2,
    feedback_s=0.2,
    inter_trial_interval_s=0.2,
    hat_move_s=0.4,
)
_FREE_ORDER = SequenceSettings(max_run_rule="free", max_run_target="free", max_run_mode="free")
_SEED = 1
_ROBOT_TIMEOUT_S = 30.0
# A robot that was told to end lets go of its keys and ends at once, unless the X server hangs.
_LETTING_GO_S = 5.0
# A side that lies within the patch, whatever the size of the screen, by its size in degrees.
_PATCH_PX_PER_DEG = 8


def why_not(settings: ApparatusSettings) -> str | None:
    """Say why no keys can be injected here; None where they can."""
    if sys.platform != "linux":
        return "keys are injected through an X server, which is not there"
    if not settings.patch_deg:
        return "the robot watches the square in the corner, which patch_deg = 0 leaves out"
    return None


def keys_pressed(study: RunnableStudy) -> list[str]:
    """Return the keys that the robot will press, by name."""
    with _study_to_play(study) as playable:
        responses = playable.settings.responses
        keys = (*responses.grab_keys.values(), *responses.shout_keys.values())
        return [*keys, responses.continue_key]


@dataclass(frozen=True, slots=True)
class InjectedSession:
    """A session to be played, and what the robot is going to do in it."""

    study: Study
    holds_s: Mapping[int, float]
    held_s: float
    taps_for: TapsFor


def injected_session(study: Study, *, n_taps: int, repeat: RepeatFigures | str) -> InjectedSession:
    """Strip a study to a short session, and choose what is pressed in each of its trials.

    Parameters
    ----------
    n_taps : int
        Cards that are answered by a tap, beside those in which a key is held.
    repeat : RepeatFigures or str
        When held keys repeat; they are held for ten repeats.
    """
    n_trials = n_taps + 2 * _N_HELD
    holds_s = {2 * _N_HELD + i: HOLDS_S[i % len(HOLDS_S)] for i in range(n_taps)}
    known = _UNKNOWN_REPEAT if isinstance(repeat, str) else repeat
    held_s = min(known.delay_s + _REPEATS_WAITED_FOR * known.interval_s, _LONGEST_HOLD_S)
    short = _shortened(study, n_trials)
    responses = short.settings.responses

    def taps_for(trial: TrialPlan, stimulus: Stimulus) -> tuple[tuple[Tap, ...], tuple[Tap, ...]]:
        index, solution = trial.trial_index, stimulus.solution
        key = key_of(responses, solution.mode, solution.answer)
        if index in holds_s:
            # Steps of the golden ratio spread over the span without a rhythm.
            phase = (index * 0.618_034) % 1.0
            delay_s = _DELAYS_S[0] + phase * (_DELAYS_S[1] - _DELAYS_S[0])
            return (), (Tap(key, delay_s, holds_s[index]),)
        return (), (Tap(key, _DELAYS_S[0], held_s),) if index % 2 == 0 else ()

    return InjectedSession(short, holds_s, held_s, taps_for)


def _shortened(study: Study, n_trials: int) -> Study:
    """Return the study with one block of so many quick trials, for one player and no company."""
    block = next((b for b in study.settings.blocks if b.phase == "test"), study.settings.blocks[0])
    settings = study.settings.model_copy(
        update={
            "blocks": (block.model_copy(update={"n_trials": n_trials}),),
            "sequence": _FREE_ORDER,
            "timing": _TIMING,
            "feedback": FeedbackSettings(show="always"),
            "responses": study.settings.responses.model_copy(update={"more_players": ()}),
            "company": None,
        }
    )
    screens = Screens(settings, study.game, study.screens.texts)
    return dataclasses.replace(study, settings=settings, screens=screens)


@contextmanager
def _study_to_play(study: RunnableStudy) -> Iterator[Study]:
    """Give the study itself, or, for the captain's deck, which the robot cannot play, cards."""
    if isinstance(study, Study):
        yield study
        return
    with as_file(files("ghostblitz_task") / "demo_study") as folder:
        yield open_card_study(folder)


def inject(
    study: RunnableStudy,
    apparatus: Apparatus,
    settings: ApparatusSettings,
    *,
    n_taps: int,
    repeat: RepeatFigures | str,
    stop_requested: Callable[[], str | None] = lambda: None,
) -> InjectionFigures | str:
    """Play a session with injected keys on the apparatus that is open.

    Returns
    -------
    InjectionFigures or str
        What came of it, or why it was not done.

    Raises
    ------
    ApparatusError
        If the window fails; what the robot cannot do is a reason instead.
    """
    reason = why_not(settings) or someone_elses_focus()
    if reason is not None:
        return reason
    from ghostblitz_task.robot.playing import key_code, knows_key  # late: it needs Xlib

    with (
        tempfile.TemporaryDirectory(prefix="ghostblitz-keys-") as folder,
        _study_to_play(study) as playable,
    ):
        keys = keys_pressed(playable)
        unknown = sorted(key for key in keys if not knows_key(key))
        if unknown:
            return f"the robot does not know where the key {unknown[0]!r} is"
        repeating = keys_that_repeat(map(key_code, keys))
        repeating_keys = {key for key in keys if key_code(key) in repeating}
        session = injected_session(playable, n_taps=n_taps, repeat=repeat)
        robot_log = Path(folder) / "robot.jsonl"
        with _robot(session, settings, robot_log) as robot:
            run = _play(session.study, apparatus, settings, Path(folder), robot, stop_requested)
            if run.status != "completed":
                return Unfinished(_why_stopped(run, robot))
            try:
                robot.wait(timeout=_ROBOT_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                return Unfinished("the session ended before the robot had done everything")
        return injection_figures(session, robot_log, run, repeating_keys)


@contextmanager
def _robot(
    session: InjectedSession, settings: ApparatusSettings, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    actions = script_session(session.study.plan(_SEED), session.study.screens, session.taps_for)
    told = {
        "settings": {
            "patch_px": max(4, round(settings.patch_deg * _PATCH_PX_PER_DEG)),
            "patch_corner": settings.patch_corner,
            "picture": None,
            "log": str(log),
        },
        "actions": [action.to_json() for action in actions],
    }
    robot = subprocess.Popen(
        [sys.executable, "-m", "ghostblitz_task.robot.playing"],
        stdin=subprocess.PIPE,
        # Ctrl-C in the terminal is for the self-test, which then ends the robot.
        start_new_session=True,
    )
    try:
        assert robot.stdin is not None
        # A robot that ended at once is seen by the session.
        with contextlib.suppress(BrokenPipeError), robot.stdin:
            robot.stdin.write(json.dumps(told).encode())
        yield robot
    finally:
        if robot.poll() is None:
            robot.terminate()
        try:
            robot.wait(timeout=_LETTING_GO_S)
        except subprocess.TimeoutExpired:
            robot.kill()
            robot.wait()


def _play(
    study: Study,
    apparatus: Apparatus,
    settings: ApparatusSettings,
    folder: Path,
    robot: subprocess.Popen[bytes],
    stop_requested: Callable[[], str | None],
) -> RunLog:
    identity = SessionIdentity("self-test", session=1, run=1, seed=_SEED, source="robot")
    lost: list[str] = []

    def on_trial(_done: int, _planned: int) -> None:
        # Between trials only: asking the X server takes time.
        if (taken := someone_elses_focus()) is not None:
            lost.append(taken)

    def stop() -> str | None:
        if robot.poll() not in {None, 0}:
            return "the robot could not go on"
        return lost[0] if lost else stop_requested()

    path = log_path(folder, identity.participant_id, session=1, run=1)
    with TrialLog(path) as log:
        study.prepare(folder, identity).run(
            apparatus,
            apparatus_settings=settings,
            log=log,
            started=None,
            stop_requested=stop,
            on_trial=on_trial,
        )
    return read_log(path)


def _why_stopped(run: RunLog, robot: subprocess.Popen[bytes]) -> str:
    reason = next((str(end["reason"]) for end in run.of_type("end")), "it just ended")
    code = robot.poll()
    if code is not None and code < 0:
        reason = f"the robot was ended ({signal.Signals(-code).name})"
    elif code:
        reason = "the robot could not go on; it said why above"
    return f"the session with injected keys was stopped: {reason}"


def injection_figures(
    session: InjectedSession, robot_log: Path, run: RunLog, repeating_keys: Collection[str]
) -> InjectionFigures:
    """Hold the robot's account against the log.

    Parameters
    ----------
    repeating_keys : collection of str
        The keys that the X server repeats when they are held, if it repeats any.
    """
    found = compare(robot_log, run)
    trials = {int(trial["trial_index"]): trial for trial in run.of_type("trial")}
    taps = []
    for hold_s in HOLDS_S:
        of_length = [i for i, own_s in session.holds_s.items() if own_s == hold_s]
        if of_length:
            rts_s = [trials[i]["rt_s"] for i in of_length if i in trials]
            n_answered = sum(rt_s is not None and rt_s >= 0 for rt_s in rts_s)
            taps.append(TapFigures(hold_s, len(of_length), n_answered))
    lines = robot_log.read_text(encoding="utf-8").splitlines()
    held = _long_holds(map(json.loads, lines), session.held_s - _LATE_S)
    return InjectionFigures(
        game=session.study.game.name,
        n_injected=found.n_injected,
        n_logged=found.n_logged,
        n_lost=found.n_lost,
        n_invented=found.n_invented,
        n_misattributed=found.n_misattributed,
        taps=tuple(taps),
        held_s=tuple(held_s for key, held_s in held if key in repeating_keys),
        n_repeats_logged=presses_beyond(robot_log, run, (key for key, _ in held)),
        rt_error_s=found.rt_error_s,
    )


def _long_holds(did: Iterable[dict[str, Any]], at_least_s: float) -> list[tuple[str, float]]:
    """Return which keys were down until they repeat, and how long."""
    down: dict[str, float] = {}
    found = []
    for record in did:
        if record["what"] == "press":
            down[record["key"]] = record["t_s"]
        elif record["what"] == "release":
            held_s = record["t_s"] - down.pop(record["key"])
            if held_s >= at_least_s:
                found.append((record["key"], held_s))
    return found
