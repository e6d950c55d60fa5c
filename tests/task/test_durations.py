"""Durations in frames at every refresh rate: the whole number nearest to what was asked for.

What holds: foreperiod, feedback, inter-trial interval and the hat's move last the nearest whole
number of frames, at least one (`Presenter.hold`); a duration exactly between two is meant to last
the longer. A card that nobody answers stays until the first frame that is not before its deadline,
so that all of the deadline is there to answer in.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scripted_apparatus import ScriptedApparatus, tap
from small_study import SPOOKY_GRAB_KEYS, SPOOKY_SHOUT_KEYS, make_screens, make_settings

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.display_timing import judge_flips
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.design import plan_session
from ghostblitz_task.event_meanings import card_event_reader
from ghostblitz_task.presenting import Presenter
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity

# Whole sessions at every rate; what a session does at 60 Hz is in test_session.py.
pytestmark = pytest.mark.slow

# Film and television as they are and rounded, the usual ones, and the fastest on sale.
RATES_HZ = [24000 / 1001, 23.976, 60000 / 1001, 59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 240.0]
RATES_HZ += [500.0]
DURATIONS_S = [0.001, 1 / 60, 0.1, 0.3, 0.5, 0.6, 0.75, 1.2]
DEADLINES_S = [0.11, 0.5, 2.0, 8.0]

SETTINGS = make_settings("spooky-doo")
SCREENS = make_screens(SETTINGS)
TABLE = SCREENS.tables()[0]
FIXATION, BLANK = SCREENS.fixation(TABLE), SCREENS.blank(TABLE)


# --- what is nearest ----------------------------------------------------------------------------


def distance_from_tie(duration_s: float, hz: float) -> float:
    """How far a duration is from lying between two numbers of frames, in frames."""
    return abs((duration_s * hz) % 1.0 - 0.5)


def nearest(duration_s: float, hz: float) -> int:
    """The nearest whole number of frames, at least one; exactly between two, the longer."""
    return max(math.floor(duration_s * hz + 0.5 + 1e-6), 1)


def first_not_before(duration_s: float, hz: float) -> int:
    return math.ceil(duration_s * hz - 1e-4)


CASES = [
    pytest.param(duration_s, hz, id=f"{duration_s:.4g} s at {hz:.8g} Hz")
    for hz in RATES_HZ
    for duration_s in DURATIONS_S
    if distance_from_tie(duration_s, hz) > 1e-6
]
TIES = [
    (duration_s, hz)
    for hz in RATES_HZ
    for duration_s in DURATIONS_S
    if distance_from_tie(duration_s, hz) <= 1e-6
]


# --- a session that is filmed -------------------------------------------------------------------


class FilmedApparatus(ScriptedApparatus):
    """Keeps the name and the number of each frame shown.

    Attributes
    ----------
    true_hz, told_hz : float
        The rate at which flips come, and the one the session is told.
    jitter : float
        Flips are stamped early or late by up to this share of a frame.
    first : int
        The number of the frame before the first.
    """

    def __init__(
        self,
        script: Callable[[Screen, float, int], Sequence[DeviceEvent]] = lambda _s, _t, _n: (),
        *,
        true_hz: float,
        told_hz: float | None = None,
        jitter: float = 0.0,
        first: int = 0,
        frames_missed: Callable[[Screen, int], int] = lambda _s, _n: 0,
    ) -> None:
        super().__init__(script, refresh_hz=true_hz, frames_missed=frames_missed, _n=first)
        self.true_hz, self.told_hz = true_hz, told_hz or true_hz
        self.refresh_hz = self.told_hz
        self.film: list[tuple[str, int]] = []
        self._jitter, self._rng = jitter, np.random.default_rng(5)

    def present(self, screen: Screen) -> float:
        self.refresh_hz = self.true_hz
        flip_s = super().present(screen)
        self.refresh_hz = self.told_hz
        self.film.append((screen.name, self._n))
        return flip_s + float(self._rng.uniform(-self._jitter, self._jitter)) / self.true_hz

    def scenes(self) -> list[tuple[str, int]]:
        """Each screen that was shown, and for how many frames."""
        groups = [list(group) for _, group in groupby(self.film, key=lambda frame: frame[0])]
        return [(a[0][0], b[0][1] - a[0][1]) for a, b in pairwise(groups)]


class KeptLog:
    """Records, in memory."""

    def __init__(self) -> None:
        self.records: list[tuple[str, Mapping[str, Any]]] = []

    def append(self, record_type: str, record: Mapping[str, Any]) -> None:
        self.records.append((record_type, dict(record)))

    def trials(self) -> list[Mapping[str, Any]]:
        return [record for record_type, record in self.records if record_type == "trial"]


def answer(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
    """Answer each card rightly, so that some move the hat."""
    if screen.stimulus is None:
        return []
    solution = screen.stimulus.solution
    keys = SPOOKY_GRAB_KEYS if solution.mode == "grab" else SPOOKY_SHOUT_KEYS
    return tap(keys[solution.answer], flip_s + 0.3)


def play(apparatus: FilmedApparatus, **timing: Any) -> KeptLog:
    """Run a session with feedback after every card, and a hat."""
    overrides = {f"timing.{name}": value for name, value in timing.items()}
    settings = make_settings("spooky-doo", {"feedback.show": "always", **overrides})
    log = KeptLog()
    run_session(
        settings,
        plan=plan_session(settings, settings.make_game(), seed=3),
        screens=make_screens(settings),
        apparatus=apparatus,
        apparatus_settings=ApparatusSettings(),
        log=log,
        identity=SessionIdentity("p1", 1, 1, 3, "simulated", "scripted"),
    )
    return log


@functools.cache
def played(duration_s: float, hz: float) -> tuple[FilmedApparatus, KeptLog]:
    """Run a session of which all durations are the same."""
    apparatus = FilmedApparatus(answer, true_hz=hz)
    return apparatus, play(
        apparatus,
        foreperiod_s=[duration_s, duration_s],
        feedback_s=duration_s,
        inter_trial_interval_s=duration_s,
        hat_move_s=duration_s,
    )


def frames_of(apparatus: FilmedApparatus, name: str) -> set[int]:
    found = {n for shown, n in apparatus.scenes() if shown == name}
    assert found
    return found


def blank_frames_after(apparatus: FilmedApparatus, before: str) -> set[int]:
    """For how long the table is blank between this screen and the next fixation."""
    scenes = apparatus.scenes()
    found = {
        n
        for (first, _), (blank, n), (last, _) in zip(scenes, scenes[1:], scenes[2:], strict=False)
        if (first, blank, last) == (before, BLANK.name, FIXATION.name)
    }
    assert found
    return found


@pytest.mark.parametrize(("duration_s", "hz"), CASES)
def test_foreperiod_is_the_nearest_number_of_frames(duration_s, hz):
    apparatus, log = played(duration_s, hz)
    assert frames_of(apparatus, FIXATION.name) == {nearest(duration_s, hz)}
    for trial in log.trials():
        lasted_s = trial["onset_s"] - trial["fixation_onset_s"]
        assert lasted_s == pytest.approx(nearest(duration_s, hz) / hz, abs=1e-9)
        assert trial["n_dropped_frames"] == 0
        assert trial["longest_frame_s"] == pytest.approx(1 / hz, abs=1e-9)


@pytest.mark.parametrize(("duration_s", "hz"), CASES)
def test_feedback_is_the_nearest_number_of_frames(duration_s, hz):
    apparatus, log = played(duration_s, hz)
    assert frames_of(apparatus, "feedback-right") == {nearest(duration_s, hz)}
    for trial in log.trials():
        lasted_s = trial["end_s"] - trial["feedback_onset_s"]
        assert lasted_s == pytest.approx(nearest(duration_s, hz) / hz, abs=1e-9)


@pytest.mark.parametrize(("duration_s", "hz"), CASES)
def test_interval_between_trials_is_the_nearest_number_of_frames(duration_s, hz):
    apparatus, _ = played(duration_s, hz)
    assert blank_frames_after(apparatus, "feedback-right") == {nearest(duration_s, hz)}


@pytest.mark.parametrize(("duration_s", "hz"), CASES)
def test_move_of_the_hat_is_the_nearest_number_of_frames(duration_s, hz):
    apparatus, _ = played(duration_s, hz)
    assert frames_of(apparatus, "hat-moved") == {nearest(duration_s, hz)}


def test_interval_after_the_hat_has_moved_is_as_long_as_any_other():
    found = {
        hz: (blank_frames_after(played(0.5, hz)[0], "hat-moved"), nearest(0.5, hz))
        for hz in (60.0, 144.0, 240.0)
    }
    assert all(frames == {n} for frames, n in found.values()), found


def test_duration_between_two_numbers_of_frames_always_lasts_the_longer():
    """0.5 s at 75 Hz are 37.5 frames: 38 on each trial, never 37 on some."""
    assert (0.5, 75.0) in TIES
    names = (FIXATION.name, "feedback-right", "hat-moved")
    for duration_s, hz in TIES:
        apparatus, _ = played(duration_s, hz)
        found = {name: frames_of(apparatus, name) for name in names}
        assert found == {name: {nearest(duration_s, hz)} for name in names}, (duration_s, hz)


@pytest.mark.parametrize("hz", RATES_HZ)
@pytest.mark.parametrize("deadline_s", DEADLINES_S)
def test_unanswered_card_leaves_at_the_first_frame_that_is_not_before_its_deadline(deadline_s, hz):
    apparatus = FilmedApparatus(true_hz=hz)
    log = play(apparatus, deadline_s=deadline_s)
    n = first_not_before(deadline_s, hz)
    assert frames_of(apparatus, "card") == {n}
    for trial in log.trials():
        assert trial["offset_s"] - trial["onset_s"] == pytest.approx(n / hz, abs=1e-9)


@pytest.mark.parametrize(
    ("duration_s", "hz", "n"),
    [
        (0.6, 59.94, 36),
        (0.6, 60.0, 36),
        (0.6, 75.0, 45),
        (0.6, 144.0, 86),
        (0.6, 23.976, 14),
        (0.1, 144.0, 14),
        (0.75, 75.0, 56),
        (1.2, 165.0, 198),
        (0.001, 60.0, 1),
    ],
)
def test_nearest_number_of_frames_is_what_it_is_by_hand(duration_s, hz, n):
    assert frames_of(played(duration_s, hz)[0], FIXATION.name) == {n}


# --- at a rate that was measured, or that software keeps ----------------------------------------


def screen_flips(hz: float, rng: np.random.Generator) -> Callable[[Sequence[float]], list[float]]:
    """Flips at the next refresh of a screen, stamped with an error of 0.1 ms."""

    def timed_flips(delays_s: Sequence[float]) -> list[float]:
        n = np.cumsum([math.floor(delay_s * hz) + 1 for delay_s in delays_s])
        return list(n / hz + rng.normal(0.0, 0.0001, len(n)))

    return timed_flips


def free_running(delays_s: Sequence[float]) -> list[float]:
    return list(np.cumsum([delay_s + 1 / 2000 for delay_s in delays_s]))


@pytest.mark.parametrize("hz", RATES_HZ)
def test_durations_are_right_at_the_rate_that_was_measured(hz):
    timing = judge_flips(screen_flips(hz, np.random.default_rng(8)), kept_hz=60.0)
    assert timing.synchronised
    assert timing.refresh_hz != hz
    apparatus = FilmedApparatus(answer, true_hz=hz, told_hz=timing.refresh_hz, jitter=0.02)
    play(apparatus, foreperiod_s=[0.8, 0.8], feedback_s=0.63, hat_move_s=1.21)
    assert frames_of(apparatus, FIXATION.name) == {nearest(0.8, hz)}
    assert frames_of(apparatus, "feedback-right") == {nearest(0.63, hz)}
    assert frames_of(apparatus, "hat-moved") == {nearest(1.21, hz)}


@pytest.mark.parametrize("kept_hz", [59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 240.0])
@pytest.mark.parametrize("flips", [free_running, lambda _delays_s: []])
def test_durations_are_right_at_the_rate_that_software_keeps(kept_hz, flips):
    """Two thousand flips a second, or none that could be timed."""
    timing = judge_flips(flips, kept_hz=kept_hz, stated_hz=None)
    assert not timing.synchronised
    assert timing.refresh_hz == kept_hz
    apparatus = FilmedApparatus(answer, true_hz=kept_hz, told_hz=timing.refresh_hz)
    play(apparatus, foreperiod_s=[0.8, 0.8], feedback_s=0.63, hat_move_s=1.21)
    assert frames_of(apparatus, FIXATION.name) == {nearest(0.8, kept_hz)}
    assert frames_of(apparatus, "feedback-right") == {nearest(0.63, kept_hz)}
    assert frames_of(apparatus, "hat-moved") == {nearest(1.21, kept_hz)}


@pytest.mark.parametrize(
    "apart",
    [{"jitter": 0.01}, {"told_hz": 60.006}],
    ids=["stamps that err by 0.2 ms", "a rate that errs by 0.01 %"],
)
def test_deadline_of_whole_frames_is_not_a_frame_longer_on_some_trials(apart):
    apparatus = FilmedApparatus(true_hz=60.0, **apart)
    play(apparatus, deadline_s=2.0)
    assert frames_of(apparatus, "card") == {120}


# --- the rule itself ----------------------------------------------------------------------------


def held(apparatus: FilmedApparatus, duration_s: float) -> int:
    """How many frames a screen is shown that is held for a duration."""
    presenter = Presenter(
        apparatus,
        KeptLog(),
        card_event_reader(SETTINGS, SCREENS),
        quit_key="escape",
        key_name=str,
        stop_requested=lambda: None,
        first=BLANK,
    )
    apparatus.prepare([FIXATION, BLANK])
    onset_s = presenter.present(FIXATION)
    presenter.hold(FIXATION, from_s=onset_s, duration_s=duration_s)
    presenter.present(BLANK)
    ((_, n),) = apparatus.scenes()
    return n


# An hour into the session at 500 Hz.
FIRST_FRAMES = st.integers(0, 2_000_000)
ANY_RATE_HZ = st.one_of(st.sampled_from(RATES_HZ), st.floats(20.0, 600.0))


@given(hz=ANY_RATE_HZ, duration_s=st.floats(0.0, 3.0), first=FIRST_FRAMES)
def test_hold_lasts_the_nearest_number_of_frames_at_any_time_of_any_session(hz, duration_s, first):
    assume(distance_from_tie(duration_s, hz) > 1e-5)
    assert held(FilmedApparatus(true_hz=hz, first=first), duration_s) == nearest(duration_s, hz)


@given(hz=ANY_RATE_HZ, n=st.integers(1, 1000), first=FIRST_FRAMES)
def test_hold_of_whole_frames_is_never_off_by_one(hz, n, first):
    assert held(FilmedApparatus(true_hz=hz, first=first), n / hz) == n


@given(hz=ANY_RATE_HZ, duration_s=st.floats(0.0, 3.0), jitter=st.floats(0.0, 0.1))
def test_hold_is_not_moved_by_stamps_that_err_by_a_tenth_of_a_frame(hz, duration_s, jitter):
    assume(distance_from_tie(duration_s, hz) > 2 * jitter + 1e-5)
    assert held(FilmedApparatus(true_hz=hz, jitter=jitter), duration_s) == nearest(duration_s, hz)


@given(hz=ANY_RATE_HZ, n=st.integers(10, 200), at=st.integers(1, 5), n_missed=st.integers(1, 4))
def test_frames_missed_on_the_way_do_not_lengthen_a_hold(hz, n, at, n_missed):
    def missed(_screen: Screen, shown: int) -> int:
        return n_missed if shown == at else 0

    assert held(FilmedApparatus(true_hz=hz, frames_missed=missed), n / hz) == n
