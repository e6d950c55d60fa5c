"""What flips, clocks, drawing and disk come to, on clocks that the test sets."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scripted_apparatus import ScriptedApparatus

from ghostblitz_task.errors import LogError
from ghostblitz_task.robot.script import Tap
from ghostblitz_task.screens import Screen
from ghostblitz_task.studies import open_study
from ghostblitz_task.timing.disk import SCRATCH_PREFIX, file_system, time_writes
from ghostblitz_task.timing.injecting import HOLDS_S, injected_session
from ghostblitz_task.timing.measured import RepeatFigures
from ghostblitz_task.timing.measuring import measure_clock, measure_drawing, measure_flips
from ghostblitz_task.timing.study_screens import pause_between_trials_s, trial_screens
from ghostblitz_task.timing.summaries import clock_figures, flip_figures, spread_of

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FRAME_S = 1 / 60


@dataclasses.dataclass
class TimedScripted(ScriptedApparatus):
    """A scripted apparatus whose drawing takes a millisecond for each element."""

    drawn: list[Screen] = dataclasses.field(default_factory=list)

    def now_s(self) -> float:
        return 0.0

    def drawing_s(self, screen: Screen) -> float:
        self.drawn.append(screen)
        return 0.001 * len(screen.elements)


def times_of(intervals_s: list[float]) -> list[float]:
    return [0.0, *np.cumsum(intervals_s)]


def test_perfect_flips_have_no_drift_and_no_drops():
    found = flip_figures(times_of([FRAME_S] * 600), expected_hz=60.0)
    assert (found.n_intervals, found.n_dropped) == (600, 0)
    assert found.refresh_hz == pytest.approx(60.0)
    assert found.drift == pytest.approx(0.0, abs=1e-9)
    assert found.jitter_s == pytest.approx(0.0, abs=1e-9)
    assert sum(found.histogram_counts) == 600


def test_dropped_frame_counts_as_the_frames_it_took_not_as_another_rate():
    intervals = [FRAME_S] * 300 + [3 * FRAME_S] + [FRAME_S] * 297
    found = flip_figures(times_of(intervals), expected_hz=60.0)
    assert found.n_dropped == 1
    assert found.refresh_hz == pytest.approx(60.0)
    assert found.drift == pytest.approx(0.0, abs=1e-9)
    assert found.longest_s == pytest.approx(3 * FRAME_S)
    # All intervals vary; those that dropped nothing do not.
    assert found.sd_s > 0.001
    assert found.jitter_s == pytest.approx(0.0, abs=1e-9)


def caught_up(n: int, *, frame_s: float = 1 / 240, late_s: float = 0.7 / 240) -> list[float]:
    """Return intervals of a pacer by software: a late flip in three, and early ones after it."""
    return [frame_s + late_s, frame_s - late_s, frame_s] * (n // 3)


def test_flips_that_software_paces_are_counted_by_time_not_by_frames():
    """After a late flip the next comes early, and is no frame of its own beside the late one's."""
    times = times_of(caught_up(600))
    found = flip_figures(times, expected_hz=240.0, paced_by_software=True)
    assert found.refresh_hz == pytest.approx(240.0)
    assert found.drift == pytest.approx(0.0, abs=1e-2)
    assert found.n_dropped == 200
    by_frames = flip_figures(times, expected_hz=240.0)
    assert by_frames.refresh_hz == pytest.approx(320.0)


def test_software_that_cannot_keep_its_pace_has_the_rate_of_its_flips():
    intervals = [1 / 240] * 400 + [2.5 / 240] * 100
    found = flip_figures(times_of(intervals), expected_hz=240.0, paced_by_software=True)
    assert found.refresh_hz == pytest.approx(500 / sum(intervals))
    assert found.refresh_hz < 200


@dataclasses.dataclass
class PacedBySoftware(TimedScripted):
    """A machine whose first flips of three are late, and whose next ones catch up."""

    def describe(self):
        return {"pacing": "software"}

    def present(self, screen: Screen) -> float:
        flip_s = super().present(screen)
        return flip_s + (0.6 * FRAME_S if self._n % 3 == 0 else 0.0)


def test_pace_of_software_is_asked_of_the_apparatus():
    flips, _ = measure_flips(PacedBySoftware(), [Screen("card", ())], duration_s=4.0)
    assert flips.n_dropped > 50
    assert flips.refresh_hz == pytest.approx(60.0, rel=0.01)


def test_one_and_a_half_frames_is_not_dropped_and_more_is():
    # Of 64 Hz all times are exact in binary.
    found = flip_figures(times_of([1 / 64, 1.5 / 64, 1.5 / 64 + 2**-20]), expected_hz=64.0)
    assert found.n_dropped == 1


def test_rate_that_changes_within_the_run_is_drift():
    found = flip_figures(times_of([1 / 60] * 300 + [1 / 66] * 330), expected_hz=60.0)
    assert found.drift == pytest.approx(6 / found.refresh_hz, rel=0.1)


def test_interval_longer_than_the_histogram_is_in_its_last_bar():
    found = flip_figures(times_of([FRAME_S] * 10 + [1.0]), expected_hz=60.0)
    assert found.histogram_counts[-1] == 1
    assert sum(found.histogram_counts) == 11


def test_seconds_hold_every_interval_once():
    found = flip_figures(times_of([0.3, 0.5, 0.4, 0.9, 0.2]), expected_hz=2.0)
    assert [s[0] for s in found.seconds] == [0.0, 1.0, 2.0]
    assert found.seconds[0][1:] == pytest.approx((0.3, 0.4, 0.5))
    assert found.seconds[2][1:] == pytest.approx((0.2, 0.55, 0.9))


@pytest.mark.parametrize("flips", [[], [0.0], [0.0, 0.1]])
def test_too_few_flips_are_refused(flips):
    with pytest.raises(ValueError, match="too few"):
        flip_figures(flips, expected_hz=60.0)


def test_spread_is_median_percentile_and_longest():
    found = spread_of([*range(1, 101)])
    assert (found.n, found.median_s, found.max_s) == (100, 50.5, 100.0)
    assert found.p95_s == pytest.approx(95.05)
    with pytest.raises(ValueError, match="no times"):
        spread_of([])


def test_clock_step_is_the_smallest_that_is_not_nothing():
    found = clock_figures([0.0, 0.0, 0.5, 0.75, 0.5], span_s=10.0, wall_span_s=9.5)
    assert (found.step_s, found.n_backwards, found.against_wall_s) == (0.25, 1, 0.5)
    with pytest.raises(ValueError, match="stood still"):
        clock_figures([1.0, 1.0], span_s=1.0, wall_span_s=1.0)


def test_clock_is_compared_with_the_wall_clock_over_the_whole_test():
    def ticking() -> Iterator[float]:
        yield from (100.0 + i / 1024 for i in range(1000))

    ticks = ticking()
    found = measure_clock(
        lambda: next(ticks), began=(40.0, 5000.0), wall_s=lambda: 5059.0, n_reads=10
    )
    assert (found.span_s, found.against_wall_s) == (60.0, 1.0)
    assert found.step_s == 1 / 1024


def test_flips_are_timed_with_the_studys_cards_in_turn_and_events_are_taken():
    cards = [Screen("card-a", ()), Screen("card-b", ())]
    apparatus = TimedScripted()
    flips, poll = measure_flips(apparatus, cards, duration_s=4.0)
    assert flips.n_intervals == 240
    assert flips.duration_s == pytest.approx(4.0)
    assert poll.time.n == 240
    shown = [screen.name for screen in apparatus.screens]
    assert {"card-a", "card-b"} <= set(shown)


@pytest.mark.parametrize("n_frames", [0, 1, 30])
def test_flips_end_at_the_frame_at_which_they_are_asked_to(n_frames):
    asked = iter(range(1000))

    def go_on() -> None:
        if next(asked) == n_frames:
            raise LogError("stopped")

    apparatus = TimedScripted()
    with pytest.raises(LogError, match="stopped"):
        measure_flips(apparatus, [Screen("card", ())], duration_s=60.0, go_on=go_on)
    # Thirty that settle, and the one that the first interval begins with.
    assert apparatus._n == 30 + 1 + n_frames


def test_each_screen_is_drawn_as_often_and_the_first_time_does_not_count():
    study = open_study(EXPERIMENTS / "classic-grab")
    screens = dict(list(trial_screens(study).items())[:3])
    apparatus = TimedScripted()
    found = measure_drawing(apparatus, screens, n_draws=5)
    assert set(found.cards) == set(screens)
    assert found.all.n == 15
    assert len(apparatus.drawn) == 4 * 6
    assert found.empty_s == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classic-grab", "five-to-twelve-full", "captain"])
def test_screens_are_those_of_the_study_and_named_each_once(name):
    study = open_study(EXPERIMENTS / name)
    screens = trial_screens(study)
    assert screens
    assert all(screen.patch == "card" for screen in screens.values())
    assert pause_between_trials_s(study) == 0.5


def test_large_deck_is_sampled_from_all_of_it():
    screens = trial_screens(open_study(EXPERIMENTS / "styrnal2025-exp3"))
    assert 60 <= len(screens) <= 120


def test_writes_are_timed_one_by_one_and_nothing_stays(tmp_path):
    ticks = iter(float(i) for i in range(1000))
    found = time_writes(tmp_path, pause_s=0.4, n_writes=20, now_s=lambda: next(ticks))
    assert found.times_s == (1.0,) * 20
    assert found.n_bytes > 1300
    assert found.pause_s == 0.4
    assert list(tmp_path.iterdir()) == []


def test_rest_of_a_killed_test_is_taken_away(tmp_path):
    left = tmp_path / f"{SCRATCH_PREFIX}abc"
    left.mkdir()
    (left / "writing.jsonl").write_text("x")
    time_writes(tmp_path, pause_s=0.4, n_writes=1)
    assert not left.exists()


def test_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    with pytest.raises(LogError, match="cannot be written"):
        time_writes(tmp_path / "nowhere", pause_s=0.4)


def test_file_system_of_proc_is_known():
    if not Path("/proc/self/mountinfo").exists():
        pytest.skip("only Linux says")
    assert file_system(Path("/proc")) == "proc"


# --- what is injected --------------------------------------------------------------------------


def taps_of(session) -> list[tuple[Tap, ...]]:
    study = session.study
    state = study.plan(1).table
    return [
        session.taps_for(trial, study.game.stimulus(trial.card, state))[1]
        for trial in study.plan(1).trials
    ]


def test_each_length_of_tap_answers_as_many_cards_at_varied_times():
    study = open_study(EXPERIMENTS / "grab-or-shout")
    session = injected_session(study, n_taps=30, repeat=RepeatFigures(0.66, 0.04))
    taps = taps_of(session)
    holds = [t[0].hold_s for t in taps[4:]]
    assert {hold: holds.count(hold) for hold in HOLDS_S} == dict.fromkeys(HOLDS_S, 10)
    delays = [t[0].delay_s for t in taps[4:]]
    phases = np.sort(np.mod(delays, FRAME_S) / FRAME_S)
    # Presses come at any phase of a frame.
    assert np.diff([0, *phases, 1]).max() < 0.25


def test_held_keys_are_held_for_ten_repeats_and_followed_by_a_card_without_answer():
    study = open_study(EXPERIMENTS / "classic-grab")
    session = injected_session(study, n_taps=3, repeat=RepeatFigures(0.5, 0.03))
    taps = taps_of(session)
    assert session.held_s == pytest.approx(0.8)
    assert [len(t) for t in taps] == [1, 0, 1, 0, 1, 1, 1]
    assert taps[0][0].hold_s == taps[2][0].hold_s == session.held_s


def test_session_for_keys_keeps_game_and_keys_and_leaves_company_out():
    study = open_study(EXPERIMENTS / "classic-company")
    short = injected_session(study, n_taps=3, repeat="unknown").study
    assert study.settings.company is not None
    assert short.settings.company is None
    assert len(short.settings.responses.players) == 1
    assert short.settings.responses.grab_keys == study.settings.responses.grab_keys
    assert short.game == study.game
    assert len(short.plan(1).trials) == 7
