"""Measure a display, its clock and its devices through the apparatus that sessions use."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.screens import Screen
from ghostblitz_task.timing.measured import (
    ClockFigures,
    DrawFigures,
    FlipFigures,
    PollFigures,
)
from ghostblitz_task.timing.summaries import clock_figures, flip_figures, spread_of

__all__ = [
    "TimedApparatus",
    "load_per_processor",
    "measure_clock",
    "measure_drawing",
    "measure_flips",
]

# The first flips are slow, since shaders are compiled; they are no part of a session's trials.
_N_SETTLING = 30
# A card stays for so many frames, as in a session, then another one comes.
_FRAMES_PER_CARD = 60
_N_DRAWS = 20
_N_READS = 200_000


class TimedApparatus(Apparatus, Protocol):
    """An apparatus that can also be timed where nothing is shown."""

    def now_s(self) -> float:
        """Return the time on the clock that stamps flips and keys."""
        ...

    def drawing_s(self, screen: Screen) -> float:
        """Draw a prepared screen without showing it; return how long until it was drawn."""
        ...


def measure_flips(
    apparatus: TimedApparatus,
    screens: Sequence[Screen],
    *,
    duration_s: float,
    go_on: Callable[[], None] = lambda: None,
) -> tuple[FlipFigures, PollFigures]:
    """Show cards one after the other, frame by frame as a session does, and time the flips.

    Parameters
    ----------
    screens : sequence of Screen
        Prepared here; each stays for 60 frames.
    duration_s : float
        From the first flip that counts to the last.
    go_on : callable
        Called at each frame; what it raises ends the measurement.
    """
    apparatus.prepare(screens)
    for _ in range(_N_SETTLING):
        apparatus.present(screens[0])
        apparatus.events()
    apparatus.between_trials()
    flips_s, polls_s = [apparatus.present(screens[0])], []
    while flips_s[-1] - flips_s[0] < duration_s:
        go_on()
        screen = screens[(len(flips_s) // _FRAMES_PER_CARD) % len(screens)]
        flips_s.append(apparatus.present(screen))
        began_s = time.perf_counter()
        apparatus.events()
        polls_s.append(time.perf_counter() - began_s)
    flips = flip_figures(
        flips_s,
        expected_hz=apparatus.refresh_hz,
        paced_by_software=apparatus.describe().get("pacing") == "software",
    )
    return flips, PollFigures(spread_of(polls_s))


def measure_drawing(
    apparatus: TimedApparatus,
    screens: Mapping[str, Screen],
    *,
    n_draws: int = _N_DRAWS,
    go_on: Callable[[], None] = lambda: None,
) -> DrawFigures:
    """Draw each screen some times over, without showing it, until the graphics are done.

    `go_on` is called before each screen; what it raises ends the measurement.
    """
    empty = Screen("empty", ())
    apparatus.prepare([empty, *screens.values()])
    empty_s = _drawn(apparatus, empty, n_draws)
    drawn = {}
    for name, screen in screens.items():
        go_on()
        drawn[name] = _drawn(apparatus, screen, n_draws)
    together = [time_s for times_s in drawn.values() for time_s in times_s]
    return DrawFigures(
        cards={name: spread_of(times_s) for name, times_s in drawn.items()},
        all=spread_of(together),
        empty_s=spread_of(empty_s).median_s,
    )


def _drawn(apparatus: TimedApparatus, screen: Screen, n_draws: int) -> list[float]:
    apparatus.drawing_s(screen)  # The first time its pictures may still have to be loaded.
    times_s = [apparatus.drawing_s(screen) for _ in range(n_draws)]
    apparatus.present(screen)  # So that the system does not take the window for dead.
    apparatus.events()
    return times_s


def measure_clock(
    now_s: Callable[[], float],
    *,
    began: tuple[float, float],
    wall_s: Callable[[], float] = time.time,
    n_reads: int = _N_READS,
) -> ClockFigures:
    """Read the clock many times over, and compare it with the wall clock since the beginning.

    Parameters
    ----------
    began : tuple of float
        What both clocks said at the beginning: this one, the wall clock.
    """
    clock_began_s, wall_began_s = began
    span_s, wall_span_s = now_s() - clock_began_s, wall_s() - wall_began_s
    return clock_figures([now_s() for _ in range(n_reads)], span_s=span_s, wall_span_s=wall_span_s)


def load_per_processor() -> float | None:
    """Return how many programs wanted to run in the last minute, by processor; None if unknown."""
    if not hasattr(os, "getloadavg"):
        return None
    return float(os.getloadavg()[0]) / (os.cpu_count() or 1)
