"""Axes of all plots: colours and sizes of their text, and seconds on a log scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

__all__ = [
    "FAINT",
    "INK",
    "LETTER_WIDTH",
    "SMALL_PT",
    "SOFT",
    "TEXT_PT",
    "FloatArray",
    "at_least_factor",
    "data_limits",
    "drawn_limits",
    "floats",
    "join_seconds_axes",
    "plain",
    "set_seconds_axis",
]

INK = "#222222"
SOFT, FAINT = "#767676", "#DDDDDD"
TEXT_PT, SMALL_PT = 10.0, 9.0
#: Of DejaVu Sans, on average, in units of the letters' size.
LETTER_WIDTH = 0.58
#: Ticks within a decade of seconds, by the most decades that they suit.
_TICKS = (
    (0.8, (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)),
    (2.0, (1.0, 2.0, 3.0, 5.0, 7.0)),
    (4.0, (1.0, 3.0)),
    (np.inf, (1.0,)),
)

FloatArray = npt.NDArray[np.float64]


def set_seconds_axis(ax: Axes, which: str, limits_s: tuple[float, float]) -> Axes:
    """Make an axis logarithmic, labelled in plain seconds, and at least a factor 3 long."""
    axis = ax.yaxis if which == "y" else ax.xaxis
    low, high = at_least_factor(np.log(limits_s[0]), np.log(limits_s[1]), 3.0)
    pad = 0.04 * (high - low)
    view = float(np.exp(low - pad)), float(np.exp(high + pad))
    if which == "y":
        ax.set(yscale="log", ylim=view)
    else:
        ax.set(xscale="log", xlim=view)
    decades = (high - low) / np.log(10)
    subs = next(subs for most, subs in _TICKS if decades <= most)
    axis.set_major_locator(LogLocator(subs=subs, numticks=40))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return ax


def join_seconds_axes(axes: Sequence[Axes]) -> None:
    """Give axes that share their y axis the limits of everything that is drawn on them."""
    limits = [found for ax in axes if (found := drawn_limits(ax)) is not None]
    for ax in axes if limits else ():
        set_seconds_axis(ax, "y", (min(low for low, _ in limits), max(high for _, high in limits)))


def at_least_factor(low: float, high: float, factor: float) -> tuple[float, float]:
    """Widen an interval on the log scale to at least a factor, about its middle."""
    missing = max(np.log(factor) - (high - low), 0.0)
    return low - missing / 2, high + missing / 2


def data_limits(ax: Axes) -> tuple[float, float]:
    """Return the smallest and largest y of all lines and error bars, of which there is one."""
    limits = drawn_limits(ax)
    assert limits is not None, "nothing was drawn"
    return limits


def drawn_limits(ax: Axes) -> tuple[float, float] | None:
    """Return the smallest and largest y of all lines and error bars; None where nothing is."""
    values = [np.asarray(line.get_ydata(), dtype=np.float64) for line in ax.lines]
    for bars in ax.collections:
        values += [np.asarray(path.vertices, dtype=np.float64)[:, 1] for path in bars.get_paths()]
    joined = np.concatenate(values) if values else np.array([])
    if np.isnan(joined).all():
        return None
    return float(np.nanmin(joined)), float(np.nanmax(joined))


def plain(ax: Axes) -> Axes:
    """Give axes the look of the house: two spines, faint lines across."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(SOFT)
    ax.tick_params(labelsize=TEXT_PT, color=SOFT, labelcolor=INK)
    ax.xaxis.label.set(size=TEXT_PT, color=INK)
    ax.yaxis.label.set(size=TEXT_PT, color=INK)
    ax.grid(visible=True, axis="y", color=FAINT, lw=0.8)
    ax.set_axisbelow(True)
    return ax


def floats(values: pd.Series) -> FloatArray:
    """Return a column as floats; missing is NaN."""
    return values.to_numpy(dtype="float64", na_value=np.nan)
