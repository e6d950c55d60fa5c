"""From single times to the figures of a self-test; pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ghostblitz_task.presenting import DROPPED
from ghostblitz_task.timing.measured import ClockFigures, FlipFigures, Spread

__all__ = ["clock_figures", "flip_figures", "spread_of"]

# The run is cut into so many stretches, of a second at least.
_N_STRETCHES = 6
_N_BINS = 60

Times = npt.NDArray[np.float64]


def spread_of(times_s: Sequence[float] | Times) -> Spread:
    """Return durations in short.

    Raises
    ------
    ValueError
        If there are none.
    """
    values = np.asarray(times_s, dtype=np.float64)
    if not len(values):
        raise ValueError("there are no times")
    median, p95 = np.percentile(values, [50, 95])
    return Spread(len(values), float(median), float(p95), float(values.max()))


def flip_figures(
    flips_s: Sequence[float], *, expected_hz: float, paced_by_software: bool = False
) -> FlipFigures:
    """Return what the times of flips come to.

    Parameters
    ----------
    flips_s : (n_flips,) seconds
        When each flip came, rising.
    expected_hz : float
        The rate that dropped frames are counted by.
    paced_by_software : bool
        Whether flips do not wait for a screen. Then there are no refreshes to count, and a flip
        after a late one comes early to catch up: the rate is flips by time.

    Raises
    ------
    ValueError
        If there are fewer than three flips.
    """
    times = np.asarray(flips_s, dtype=np.float64)
    if len(times) < 3:
        raise ValueError(f"{len(times)} flips are too few")
    intervals = np.diff(times)
    frame_s = float(np.median(intervals))
    kept = intervals[intervals <= DROPPED / expected_hz]
    edges, counts = _histogram(intervals, frame_s)
    counted_s = None if paced_by_software else frame_s
    return FlipFigures(
        n_intervals=len(intervals),
        duration_s=float(times[-1] - times[0]),
        expected_hz=expected_hz,
        refresh_hz=_rate_hz(intervals, counted_s),
        median_s=frame_s,
        sd_s=float(intervals.std(ddof=1)),
        jitter_s=float(kept.std(ddof=1)) if len(kept) > 1 else None,
        longest_s=float(intervals.max()),
        n_dropped=len(intervals) - len(kept),
        stretches_hz=_stretches(times, counted_s),
        seconds=_seconds(times),
        histogram_edges_s=edges,
        histogram_counts=counts,
    )


def _rate_hz(intervals: Times, frame_s: float | None) -> float:
    """Return frames per second, where a longer interval counts as the frames it took.

    Without a frame, flips per second.
    """
    if frame_s is None:
        return float(len(intervals) / intervals.sum())
    n_frames = np.maximum(np.round(intervals / frame_s), 1.0)
    return float(n_frames.sum() / intervals.sum())


def _stretches(times: Times, frame_s: float | None) -> tuple[float, ...]:
    duration_s = float(times[-1] - times[0])
    n_stretches = min(max(int(duration_s), 1), _N_STRETCHES, len(times) - 1)
    parts = np.array_split(np.diff(times), n_stretches)
    return tuple(_rate_hz(part, frame_s) for part in parts)


def _seconds(times: Times) -> tuple[tuple[float, float, float, float], ...]:
    intervals, ends = np.diff(times), times[1:] - times[0]
    found = []
    for second in np.unique(np.floor(ends)):
        part = intervals[np.floor(ends) == second]
        found.append((float(second), float(part.min()), float(np.median(part)), float(part.max())))
    return tuple(found)


def _histogram(intervals: Times, frame_s: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Count intervals over 0 to 3 frames; what is longer stands in the last bin."""
    edges = np.linspace(0.0, 3.0 * frame_s, _N_BINS + 1)
    counts, _ = np.histogram(np.minimum(intervals, edges[-1]), bins=edges)
    return tuple(map(float, edges)), tuple(map(int, counts))


def clock_figures(
    readings_s: Sequence[float], *, span_s: float, wall_span_s: float
) -> ClockFigures:
    """Return what readings of a clock, one after the other, and a comparison come to.

    Raises
    ------
    ValueError
        If the clock stood still.
    """
    steps = np.diff(np.asarray(readings_s, dtype=np.float64))
    forward = steps[steps > 0]
    if not len(forward):
        raise ValueError("the clock stood still")
    return ClockFigures(
        n_reads=len(readings_s),
        step_s=float(forward.min()),
        n_backwards=int((steps < 0).sum()),
        span_s=span_s,
        against_wall_s=span_s - wall_span_s,
    )
