"""Judge from timed flips whether they wait for the screen; pure, so every case can be tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = ["DisplayTiming", "judge_flips"]

# A delay before each flip, as a share of the interval: flips that wait for the screen swallow
# it, others come later by it.
_DELAY_SHARE = 0.4
_SWALLOWED_SHARE = 0.25
# Screens refresh at 23 to 500 Hz; other rates are no screen's.
_LOWEST_HZ, _HIGHEST_HZ = 23.0, 550.0
# Intervals between flips that wait for the screen differ by far less than this share.
_MOST_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class DisplayTiming:
    """What timed flips told.

    Attributes
    ----------
    refresh_hz : float
        The measured rate, or the rate kept by software where flips do not wait.
    flip_interval_s, flip_interval_spread_s : float
        Median, and median absolute deviation, of the intervals between flips as measured.
    synchronised : bool
        Whether flips were seen to wait for the screen's refresh.
    reason : str
        Why this was decided, in words.
    """

    refresh_hz: float
    flip_interval_s: float
    flip_interval_spread_s: float
    synchronised: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return this as it stands in the log's header."""
        values = asdict(self)
        values["display_synchronised"] = values.pop("synchronised")
        values["display_reason"] = values.pop("reason")
        values["pacing"] = "screen" if self.synchronised else "software"
        return values


def judge_flips(timed_flips: Callable[[float], list[float]], *, kept_hz: float) -> DisplayTiming:
    """Time flips without and with a delay before each, and say whether they wait for the screen.

    Parameters
    ----------
    timed_flips : callable
        Flips some dozen times, waiting the given seconds before each, and returns when each
        flip came, in seconds.
    kept_hz : float
        The rate to keep by software where flips do not wait.

    Notes
    -----
    Without vertical synchronisation (as under Xvfb, or with a driver that has it off) a flip
    returns as soon as it is drawn, and the drawing time looks like a refresh rate that no
    screen has. A screen swallows a delay shorter than its interval; such a flip does not.
    """
    intervals_s = np.diff(timed_flips(0.0))
    interval_s = float(np.median(intervals_s))
    spread_s = float(np.median(np.abs(intervals_s - interval_s)))
    delayed_s = float(np.median(np.diff(timed_flips(_DELAY_SHARE * interval_s))))
    rate_hz = 1.0 / interval_s if interval_s > 0 else float("inf")
    if not _LOWEST_HZ <= rate_hz <= _HIGHEST_HZ:
        reason = f"{rate_hz:.0f} flips per second are no screen's refresh rate"
    elif spread_s > _MOST_SPREAD * interval_s:
        reason = f"the intervals between flips spread by {1000 * spread_s:.1f} ms"
    elif delayed_s - interval_s > _SWALLOWED_SHARE * _DELAY_SHARE * interval_s:
        reason = "a delay before the flip delays it, so it does not wait for the screen"
    else:
        reason = "flips come at a steady interval that swallows a delay before them"
        return DisplayTiming(rate_hz, interval_s, spread_s, True, reason)
    return DisplayTiming(kept_hz, interval_s, spread_s, False, reason)
