"""Plots of one timing self-test: each takes figures of its record and axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ghostblitz_analysis.plot_axes import INK, SMALL_PT, SOFT, TEXT_PT, plain

__all__ = [
    "plot_disk_times",
    "plot_draw_times",
    "plot_flip_course",
    "plot_flip_histogram",
    "plot_rt_errors",
]

_BLUE, _ORANGE, _BAND = "#0072B2", "#D55E00", "#B9D7EA"


def plot_flip_course(flips: Mapping[str, Any], ax: Axes) -> Axes:
    """Draw the shortest, the median and the longest interval of each second."""
    plain(ax)
    seconds = np.array(flips["seconds"], dtype=np.float64)
    # The last, begun second holds few intervals, but they count.
    at_s = seconds[:, 0] + 0.5
    low, middle, high = (1000 * seconds[:, column] for column in (1, 2, 3))
    ax.fill_between(at_s, low, high, color=_BAND, lw=0, label="shortest to longest")
    ax.plot(at_s, middle, color=_BLUE, lw=1.5, label="median of a second")
    limit_ms = 1500 / flips["expected_hz"]
    ax.axhline(limit_ms, color=_ORANGE, lw=1.2, ls="--", label="1.5 frames: one was dropped")
    ax.set(
        xlabel="Time since the first flip (s)",
        ylabel="Interval (ms)",
        xlim=(0, max(float(at_s[-1]) + 0.5, 1.0)),
        ylim=(0, 1.08 * max(float(high.max()), limit_ms)),
    )
    return ax


def plot_flip_histogram(flips: Mapping[str, Any], ax: Axes) -> Axes:
    """Draw how many intervals had each length, on a logarithmic scale, so that one is seen."""
    plain(ax)
    edges = 1000 * np.array(flips["histogram_edges_s"], dtype=np.float64)
    counts = np.array(flips["histogram_counts"], dtype=np.float64)
    ax.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color=_BLUE, lw=0)
    ax.axvline(1500 / flips["expected_hz"], color=_ORANGE, lw=1.2, ls="--")
    ax.set(
        yscale="log",
        ylim=(0.7, 2 * max(float(counts.max()), 1.0)),
        xlim=(0, float(edges[-1])),
        xlabel="Interval between flips (ms; the last bar: all that is longer)",
        ylabel="Intervals",
    )
    return ax


def plot_draw_times(draw: Mapping[str, Any], ax: Axes, *, frame_s: float) -> Axes:
    """Draw median and 95th percentile of each card, the quickest first, against half a frame."""
    plain(ax)
    cards = sorted(draw["cards"].values(), key=lambda card: float(card["median_s"]))
    at = np.arange(1, len(cards) + 1)
    medians, high = (1000 * np.array([c[k] for c in cards]) for k in ("median_s", "p95_s"))
    ax.vlines(at, medians, high, color=_BAND, lw=3 if len(cards) < 80 else 1.5)
    ax.plot(at, medians, "o", color=_BLUE, ms=3.5, label="median of a card")
    ax.plot(at, high, "_", color=_BLUE, ms=5, label="95th percentile")
    ax.axhline(500 * frame_s, color=_ORANGE, lw=1.2, ls="--", label="half a frame")
    top = max(float(high.max()), 500 * frame_s)
    ax.set(
        xlabel=f"The {len(cards)} screens that were drawn, the quickest first",
        ylabel="Drawing (ms)",
        xlim=(0, len(cards) + 1),
        ylim=(0, 1.08 * top),
    )
    return ax


def plot_disk_times(disk: Mapping[str, Any], ax: Axes) -> Axes:
    """Draw which share of the writes was done after each time, against the pause for them."""
    plain(ax)
    times_ms = 1000 * np.sort(np.array(disk["times_s"], dtype=np.float64))
    share = np.arange(1, len(times_ms) + 1) / len(times_ms)
    ax.step(times_ms, 100 * share, where="post", color=_BLUE, lw=1.5)
    right = float(times_ms[-1])
    if disk["pause_s"]:
        half_ms = 500 * disk["pause_s"]
        ax.axvline(half_ms, color=_ORANGE, lw=1.2, ls="--")
        ax.annotate(
            "half of the time\nbetween trials", (half_ms, 8), xytext=(-6, 0),
            textcoords="offset points", ha="right", fontsize=SMALL_PT, color=INK,
        )  # fmt: skip
        right = max(right, half_ms)
    ax.set(
        xscale="log",
        xlim=(0.8 * float(times_ms[0]), 1.3 * right),
        ylim=(0, 102),
        xlabel=f"Time of a write of {disk['n_bytes']:,} bytes (ms, log scale)",
        ylabel="Writes done (%)",
    )
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.tick_params(labelsize=TEXT_PT)
    return ax


def plot_rt_errors(injection: Mapping[str, Any], ax: Axes) -> Axes:
    """Draw how far each logged RT was from the robot's own, with mean and standard deviation."""
    plain(ax)
    errors_ms = 1000 * np.array(injection["rt_error_s"], dtype=np.float64)
    mean, sd = float(errors_ms.mean()), float(errors_ms.std(ddof=1))
    ax.axhspan(mean - sd, mean + sd, color=_BAND, lw=0, label="mean and SD")
    ax.axhline(mean, color=_BLUE, lw=1.5)
    ax.axhline(0, color=SOFT, lw=0.8)
    ax.plot(np.arange(1, len(errors_ms) + 1), errors_ms, "o", color=_BLUE, ms=4, label="a trial")
    most = 1.15 * max(float(np.abs(errors_ms).max()), 1.0)
    ax.set(
        xlabel="Answered card, in order",
        ylabel="Logged minus\nrobot's RT (ms)",
        xlim=(0, len(errors_ms) + 1),
        ylim=(-most, most),
    )
    return ax
