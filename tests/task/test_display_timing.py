"""Whether flips wait for the screen, judged from scripted flips of every kind of display."""

from __future__ import annotations

import numpy as np
import pytest

from ghostblitz_task.apparatus.display_timing import judge_flips


def waiting_screen(hz: float, jitter_s: float = 0.0001):
    """Flips that wait for the next refresh, however long is drawn (up to one interval)."""
    rng = np.random.default_rng(1)

    def timed_flips(delay_s: float) -> list[float]:
        n_missed = int(delay_s * hz)
        steps = (1 + n_missed) / hz + rng.normal(0, jitter_s, size=60)
        return list(np.cumsum(steps))

    return timed_flips


def free_running(draw_s: float, jitter_s: float = 0.00002):
    """Flips that come as soon as they are drawn."""
    rng = np.random.default_rng(2)

    def timed_flips(delay_s: float) -> list[float]:
        return list(np.cumsum(draw_s + delay_s + np.abs(rng.normal(0, jitter_s, size=60))))

    return timed_flips


@pytest.mark.parametrize("hz", [59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 240.0])
def test_screen_that_swallows_a_delay_is_synchronised_at_its_own_rate(hz):
    timing = judge_flips(waiting_screen(hz), kept_hz=60.0)
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(hz, rel=0.01)


def test_204_flips_per_second_without_waiting_are_no_screen():
    """What a slow machine under Xvfb shows: a rate that looks like a screen's, but is drawing."""
    timing = judge_flips(free_running(1 / 204), kept_hz=60.0)
    assert not timing.synchronised
    assert timing.refresh_hz == 60.0
    assert "does not wait" in timing.reason


def test_2000_flips_per_second_are_no_screen():
    timing = judge_flips(free_running(1 / 2000), kept_hz=75.0)
    assert not timing.synchronised
    assert timing.refresh_hz == 75.0
    assert "no screen's refresh rate" in timing.reason


def test_scattered_flips_are_not_synchronised():
    timing = judge_flips(waiting_screen(60.0, jitter_s=0.006), kept_hz=60.0)
    assert not timing.synchronised
    assert "spread" in timing.reason


def test_header_says_how_frames_are_paced():
    assert judge_flips(waiting_screen(60.0), kept_hz=60.0).to_json()["pacing"] == "screen"
    row = judge_flips(free_running(1 / 900), kept_hz=60.0).to_json()
    assert row["pacing"] == "software"
    assert row["display_synchronised"] is False
