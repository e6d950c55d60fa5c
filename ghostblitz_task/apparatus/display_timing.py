"""Judge from timed flips whether they wait for the screen; pure, so every case can be tested.

Without vertical synchronisation (as under Xvfb, or with a driver that has it off) a flip returns
as soon as it is drawn, and the drawing time looks like a refresh rate that no screen has, or that
some screen has. But then a flip comes later by any delay before it, while flips that wait come on
the grid of refreshes whatever the delay.

Where flips are put in a queue (triple buffering), they come on that grid only while the queue is
full. After a pause it is empty: the next flips return at once until it is full again, which is
seen in what they gain on the grid. A screen with a variable rate shows the flip after a pause at
once too, but those that follow gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ghostblitz_task.apparatus.display_facts import DisplayFacts, Finding

__all__ = ["DisplayTiming", "TimedFlips", "judge_flips"]

# Screens refresh at 23 to 500 Hz; other rates are no screen's.
_LOWEST_HZ, _HIGHEST_HZ = 23.0, 550.0
# Intervals between flips that wait for the screen differ by far less than this share.
_MOST_SPREAD = 0.1
# A flip that took this many intervals missed a refresh.
_MISSED = 1.5
# Measured and stated rates that differ by less are the same (59.94 is stated as 60).
_SAME_RATE = 0.01
# Stated rates that are further off than this, and than the measured rate may err, are rounded.
_ROUNDED = 0.0005
# Slow drawing may let each flip take so many refreshes.
_MOST_REFRESHES_PER_FLIP = 4

# The first flips are slow (shaders are compiled) or come at once (a queue fills): left out.
_N_SETTLING, _N_LOOK = 4, 8
# Then flips are timed for so long, that the rate errs by 0.01 % at most if times err by 0.1 ms.
_STEADY_S, _MOST_STEADY = 0.8, 500
# Delays before each flip, as shares of a refresh: flips that wait for the screen still come on
# its grid, whether they swallow the delay or miss a refresh by it; others come anywhere.
_DELAYS = (0.2, 0.3, 0.4)
_N_DELAYED = 21
_OFF_GRID = 0.2
# Pauses in refreshes, each before one of the flips that follow each other at once: between two
# and three, evenly over the phases of the screen, so that slow drawing cannot hide in one.
_PAUSES = (2.1, 2.3, 2.5, 2.7, 2.9) * 2
_N_AFTER_PAUSE = 4
# A queue of one frame gains half a refresh on the mean of all phases, each further frame one more.
_GAINED_BY_QUEUE = 0.25
# Distance from the grid of a flip after a pause: a quarter on the mean where there is no grid.
_OFF_GRID_AFTER_PAUSE = 0.15


class TimedFlips(Protocol):
    """The only source of times: flips a window, and says when each flip came."""

    def __call__(self, delays_s: Sequence[float]) -> Sequence[float]:
        """Wait, draw next to nothing and flip, once for each delay.

        Parameters
        ----------
        delays_s : sequence of float, seconds
            How long to wait before each flip, from when the flip before it returned; with no
            delay the flips follow each other as fast as they return.

        Returns
        -------
        sequence of float, seconds
            When each flip returned, on one clock; fewer, or none, where flips cannot be timed.
        """
        ...


@dataclass(frozen=True, slots=True)
class DisplayTiming:
    """What timed flips told.

    Attributes
    ----------
    refresh_hz : float
        The measured rate, or the rate kept by software where flips do not wait.
    flip_interval_s, flip_interval_spread_s : float or None
        Median, and median absolute deviation, of the intervals between flips as measured; None
        if no flips could be timed.
    synchronised : bool
        Whether flips were seen to wait for the screen's refresh.
    reason : str
        Why this was decided, in words.
    stated_hz : float or None
        The rate that the system states for the screen; None if it states none.
    rate_agrees : bool or None
        Whether the measured rate is the stated one; None where one of them is not known.
    findings : tuple of Finding
        All that is out of the ordinary; empty for a screen as it should be.
    """

    refresh_hz: float
    flip_interval_s: float | None
    flip_interval_spread_s: float | None
    synchronised: bool
    reason: str
    stated_hz: float | None = None
    rate_agrees: bool | None = None
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return this as it stands in the log's header."""
        values = asdict(self)
        values["display_synchronised"] = values.pop("synchronised")
        values["display_reason"] = values.pop("reason")
        values["display_findings"] = list(values.pop("findings"))
        values["pacing"] = "screen" if self.synchronised else "software"
        return values


def judge_flips(
    timed_flips: TimedFlips,
    *,
    kept_hz: float,
    stated_hz: float | None = None,
    facts: DisplayFacts | None = None,
) -> DisplayTiming:
    """Time flips without delays, with delays and after pauses, and say what paces them.

    It takes about 0.8 s and 100 refreshes: 2.5 s at 60 Hz, 1.2 s at 240 Hz.

    Parameters
    ----------
    timed_flips : TimedFlips
        Flips the window.
    kept_hz : float
        The rate to keep by software where flips do not wait.
    stated_hz : float, optional
        The rate that the system states for the screen; one that is not finite is none.
    facts : DisplayFacts, optional
        What else the system says; it adds findings and decides nothing.
    """
    if stated_hz is not None and not math.isfinite(stated_hz):
        stated_hz = None
    steady = _time_steadily(timed_flips)
    found, grid_s = _judge_steady(steady, stated_hz)
    if grid_s is not None:
        found = _judge_delayed(timed_flips, grid_s)
    if steady is None or grid_s is None or found:
        reason = found[0].text
        findings = [*found, *_kept_rate(steady, kept_hz, stated_hz), *_stated(stated_hz)]
        refresh_hz, agrees = kept_hz, None
    else:
        reason = "flips come at a steady interval that swallows a delay before them"
        refresh_hz = 1.0 / steady.refresh_s()
        agrees = _agrees(refresh_hz, stated_hz)
        findings = [
            *_missed(steady),
            *_after_pauses(timed_flips, grid_s),
            *_against_stated(steady, refresh_hz, stated_hz),
            *_stated(stated_hz),
        ]
    return DisplayTiming(
        refresh_hz,
        steady.interval_s if steady else None,
        steady.spread_s if steady else None,
        grid_s is not None and not found,
        reason,
        stated_hz,
        agrees,
        (*findings, *(facts.findings() if facts else ())),
    )


@dataclass(frozen=True, slots=True)
class _Steady:
    """Flips that followed each other at once: their times, and the median interval."""

    flips_s: npt.NDArray[np.float64]
    interval_s: float
    spread_s: float

    @classmethod
    def of(cls, flips_s: Sequence[float]) -> _Steady | None:
        """Return None where too few were timed to say anything."""
        times_s = np.asarray(flips_s, dtype=float)
        if len(times_s) < _N_LOOK or not np.isfinite(times_s).all():
            return None
        intervals_s = np.diff(times_s)
        interval_s = float(np.median(intervals_s))
        return cls(times_s, interval_s, float(np.median(np.abs(intervals_s - interval_s))))

    def longest_run_s(self) -> npt.NDArray[np.float64]:
        """Return the most flips in sequence that came an interval apart, none late or early.

        What is counted across a hiccup may be off the grid: a queue runs empty, and a screen
        with a variable rate begins anew.
        """
        apart = np.diff(self.flips_s) / self.interval_s
        breaks = np.flatnonzero(np.abs(apart - 1.0) > _MISSED - 1.0) + 1
        return max(np.split(self.flips_s, breaks), key=len)

    def refresh_s(self) -> float:
        """Return the interval, as the median slope of all pairs of the run's flips.

        A late time hardly moves it (Theil and Sen's estimator).
        """
        run_s = self.longest_run_s()
        i, j = np.triu_indices(len(run_s), k=1)
        return float(np.median((run_s[j] - run_s[i]) / (j - i)))

    def rate_error(self) -> float:
        """Return by what share the measured rate hardly ever errs: four standard errors.

        That of a slope through n times that err by s is s * sqrt(12 / n ** 3); the spread of the
        intervals is about s.
        """
        n = len(self.longest_run_s())
        return 4.0 * math.sqrt(12.0 / n**3) * self.spread_s / self.interval_s


def _time_steadily(timed_flips: TimedFlips) -> _Steady | None:
    """Time flips that follow each other at once, as many as a first look says."""
    look = _Steady.of(timed_flips([0.0] * (_N_SETTLING + _N_LOOK))[_N_SETTLING:])
    if look is None or look.interval_s <= 0:
        return look
    n = min(max(round(_STEADY_S / look.interval_s), _N_LOOK), _MOST_STEADY)
    return _Steady.of(timed_flips([0.0] * n))


def _judge_steady(
    steady: _Steady | None, stated_hz: float | None
) -> tuple[list[Finding], float | None]:
    """Return why flips are no screen's, or else the interval of the refreshes they may lie on."""
    if steady is None or steady.interval_s <= 0:
        text = "no flips could be timed" if steady is None else "flips all came at the same time"
        return [Finding("rate_unmeasured", text)], None
    rate_hz = 1.0 / steady.interval_s
    if not _LOWEST_HZ <= rate_hz <= _HIGHEST_HZ:
        text = f"{_number(rate_hz)} flips per second are no screen's refresh rate"
        found = [Finding("rate_impossible", text)]
        if rate_hz > _HIGHEST_HZ:
            text = (
                f"flips return after {_ms(steady.interval_s)}, so they do not wait for the screen"
            )
            found.append(Finding("no_vsync", text))
        return found, None
    if steady.spread_s > _MOST_SPREAD * steady.interval_s:
        text = (
            f"the intervals between flips spread by {_ms(steady.spread_s)} around "
            f"{_ms(steady.interval_s)}"
        )
        return [Finding("unsteady", text)], None
    return [], steady.interval_s / _refreshes_per_flip(rate_hz, stated_hz)


def _refreshes_per_flip(rate_hz: float, stated_hz: float | None) -> int:
    """Return how many of the stated refreshes each flip takes, if it is a whole number."""
    if stated_hz is None or not _possible(stated_hz):
        return 1
    n = round(stated_hz / rate_hz)
    is_whole = 1 <= n <= _MOST_REFRESHES_PER_FLIP and _agrees(n * rate_hz, stated_hz)
    return n if is_whole else 1


def _judge_delayed(timed_flips: TimedFlips, grid_s: float) -> list[Finding]:
    """Return why flips do not wait for the screen, from flips with a delay before each."""
    delays_s = [grid_s * _DELAYS[i % len(_DELAYS)] for i in range(_N_DELAYED)]
    flips_s = timed_flips(delays_s)
    if len(flips_s) < len(delays_s):
        text = f"of {len(delays_s)} flips only {len(flips_s)} could be timed"
        return [Finding("rate_unmeasured", text)]
    if _distance_from_grid(np.diff(flips_s) / grid_s) > _OFF_GRID:
        text = "a delay before a flip delays it, so it does not wait for the screen"
        return [Finding("no_vsync", text)]
    return []


def _distance_from_grid(places: npt.NDArray[np.float64]) -> float:
    """Return how far off whole numbers these are, at the median; 0.25 where they are anywhere."""
    return float(np.median(np.abs(places - np.rint(places))))


def _after_pauses(timed_flips: TimedFlips, grid_s: float) -> list[Finding]:
    """Look for frames that are queued, or refreshes that wait for a frame, after pauses."""
    delays_s = [0.0]
    for pause in _PAUSES:
        delays_s += [pause * grid_s, *([0.0] * _N_AFTER_PAUSE)]
    flips_s = np.asarray(timed_flips(delays_s), dtype=float)
    if len(flips_s) < len(delays_s):
        return []
    first = np.arange(len(_PAUSES)) * (1 + _N_AFTER_PAUSE) + 1
    paused = (flips_s[first] - flips_s[first - 1]) / grid_s
    followed = (flips_s[first + _N_AFTER_PAUSE] - flips_s[first]) / grid_s
    gained = float(np.median(_N_AFTER_PAUSE - followed))
    if gained > _GAINED_BY_QUEUE:
        n_queued = max(round(gained + 0.5), 1)
        lag = f"{n_queued} frame{'' if n_queued == 1 else 's'} ({_ms(n_queued * grid_s)})"
        text = (
            f"after a pause, {_N_AFTER_PAUSE} flips came {gained:.1f} refreshes too early: frames "
            f"are queued (triple buffering) and light up to {lag} after their flip, or late frames "
            "are shown without waiting for the screen (adaptive synchronisation)"
        )
        return [Finding("triple_buffering", text)]
    if _distance_from_grid(paused) > _OFF_GRID_AFTER_PAUSE:
        text = (
            "a flip after a pause comes at once, not with the next refresh: the screen's rate is "
            "variable (FreeSync, G-Sync), or the pause was not kept"
        )
        return [Finding("variable_refresh", text)]
    return []


def _missed(steady: _Steady) -> list[Finding]:
    intervals_s = np.diff(steady.flips_s)
    n = int(np.sum(intervals_s > _MISSED * steady.interval_s))
    if not n:
        return []
    text = (
        f"{n} of {len(intervals_s)} flips missed a refresh although next to nothing was drawn; the "
        f"longest took {_ms(float(intervals_s.max()))}"
    )
    return [Finding("missed_refreshes", text)]


# --- rates --------------------------------------------------------------------------------------


def _possible(rate_hz: float) -> bool:
    return math.isfinite(rate_hz) and _LOWEST_HZ <= rate_hz <= _HIGHEST_HZ


def _agrees(measured_hz: float, stated_hz: float | None) -> bool | None:
    if stated_hz is None:
        return None
    if not _possible(stated_hz):
        return False
    # Television's rates are whole ones by 1.001, and Windows cuts them: it states 59 for 59.94.
    is_cut = abs(1.001 * measured_hz - (stated_hz + 1.0)) <= _ROUNDED * stated_hz
    return is_cut or abs(measured_hz - stated_hz) <= _SAME_RATE * stated_hz


def _stated(stated_hz: float | None) -> list[Finding]:
    if stated_hz is None:
        text = "the system states no refresh rate for the screen, so none could be checked"
        return [Finding("rate_unstated", text)]
    if not _possible(stated_hz):
        text = f"the system states {_number(stated_hz)} Hz, which is no screen's refresh rate"
        return [Finding("stated_rate_impossible", text)]
    return []


def _against_stated(steady: _Steady, measured_hz: float, stated_hz: float | None) -> list[Finding]:
    if stated_hz is None or not _possible(stated_hz):
        return []
    both = f"{_number(measured_hz)} Hz were measured, but the system states {_number(stated_hz)} Hz"
    used = "durations follow the measured rate"
    if not _agrees(measured_hz, stated_hz):
        n = _refreshes_per_flip(measured_hz, stated_hz)
        cause = f"; each flip takes {n} refreshes" if n > 1 else ""
        return [Finding("rate_differs", f"{both}{cause}; {used}")]
    if abs(measured_hz - stated_hz) > (_ROUNDED + steady.rate_error()) * stated_hz:
        return [Finding("rate_rounded", f"{both}, which is the same rate, rounded; {used}")]
    return []


def _kept_rate(steady: _Steady | None, kept_hz: float, stated_hz: float | None) -> list[Finding]:
    """Say what is wrong with the rate that software keeps, where flips do not wait."""
    found = []
    if steady is not None and steady.interval_s * kept_hz > 1.0 + _MOST_SPREAD:
        text = (
            f"a flip takes {_ms(steady.interval_s)}, longer than a frame at the "
            f"{_number(kept_hz)} Hz that software is to keep"
        )
        found.append(Finding("slow_drawing", text))
    if stated_hz is not None and _possible(stated_hz) and not _agrees(kept_hz, stated_hz):
        text = (
            f"software keeps {_number(kept_hz)} Hz, but the system states {_number(stated_hz)} Hz "
            "for the screen; set refresh_hz to the screen's rate"
        )
        found.append(Finding("kept_rate_differs", text))
    return found


def _ms(seconds: float) -> str:
    return f"{_number(1000 * seconds)} ms"


def _number(value: float) -> str:
    """Write a figure with the digits that mean something: 59.94, 0.5, 2000."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
