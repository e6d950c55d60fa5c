"""Forest plots: estimates with their intervals, one to a row, for several tables of results."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from ghostblitz_analysis.plot_axes import FAINT, SMALL_PT, SOFT, FloatArray, floats, plain

__all__ = ["DOT_PT", "Comparison", "estimate_limits", "plot_estimates", "set_row_labels"]

#: The size of a dot that has a row to itself, in points.
DOT_PT = 5.5

#: What estimates are compared with: 1 on a log axis, or 0 on a linear one.
Comparison = Literal["ratio", "difference"]

#: Where an interval reaches this many times farther than the middle one does, such are cut ...
_FAR = 4.0
#: ... at this many times the reach of the middle one. Choices; no standard exists.
_CUT_AT = 2.5
#: An axis of differences that are all 0 is so long, in their unit: ticks keep few digits.
_LEAST_LONG = 0.05
#: Ticks of a ratio axis that is longer than a factor of 4.
_RATIO_TICKS = (1.0, 2.0, 5.0)
_FACTOR_OF_ROUND_TICKS = 4.0


def plot_estimates(
    rows: pd.DataFrame,
    ax: Axes,
    *,
    on: Comparison,
    limits: tuple[float, float] | None = None,
    dot_pt: float = DOT_PT,
) -> Axes:
    """Draw estimates with their intervals along x, and a line where there is no effect.

    Parameters
    ----------
    rows : DataFrame, one row per estimate
        ``place`` (on the y axis), ``estimate``, ``low``, ``high`` and ``colour``. An estimate
        without bounds is drawn hollow; one that is missing is not drawn.
    ax : Axes
        Where to draw.
    on : {"ratio", "difference"}
        Ratios stand on a log axis about 1, differences on a linear one about 0.
    limits : (float, float), optional
        The ends of the axis; `estimate_limits` of the rows by default. An interval that leaves
        them ends in an arrow.
    dot_pt : float
        The dots' size in points.
    """
    place, estimate = floats(rows["place"]), floats(rows["estimate"])
    low, high = floats(rows["low"]), floats(rows["high"])
    start, end = estimate_limits(rows, on=on) if limits is None else limits
    ax.axvline(1.0 if on == "ratio" else 0.0, color=SOFT, lw=1.0, zorder=1)
    for i, colour in enumerate(rows["colour"]):
        if np.isnan(estimate[i]):
            continue
        bounded = not (np.isnan(low[i]) or np.isnan(high[i]))
        if bounded:
            ends = [max(low[i], start), min(high[i], end)]
            ax.plot(ends, [place[i]] * 2, "-", lw=1.5, color=colour, zorder=2)
            for marker, at, is_cut in (("<", start, low[i] < start), (">", end, high[i] > end)):
                if is_cut:
                    ax.plot([at], [place[i]], marker, ms=5, mew=0, color=colour, zorder=2,
                            clip_on=False)  # fmt: skip
        ax.plot(
            [estimate[i]], [place[i]], "o", ms=dot_pt, mew=1.2, mec="white" if bounded else colour,
            mfc=colour if bounded else "white", zorder=3,
        )  # fmt: skip
    _set_estimate_axis(ax, on, (start, end))
    return ax


def estimate_limits(rows: pd.DataFrame, *, on: Comparison) -> tuple[float, float]:
    """Return ends of an axis that holds all estimates and all but extremely wide intervals.

    An interval of two participants can be a hundred times as wide as the others, and would press
    these to a line. `rows` as for `plot_estimates`; ratios must be above 0.
    """
    values = [floats(rows[name]) for name in ("estimate", "low", "high")]
    if on == "ratio":
        values = [np.log(np.where(each > 0, each, np.nan)) for each in values]
    estimate, low, high = values
    bounds = np.concatenate([low, high])
    bounds = bounds[~np.isnan(bounds)]
    estimate = estimate[~np.isnan(estimate)]
    reach = float(np.abs(estimate).max(initial=0.0)) * 1.1
    if len(bounds):
        far = np.abs(bounds)
        farthest, middle = float(far.max()), float(np.median(far))
        reach = max(reach, farthest if farthest <= _FAR * middle else _CUT_AT * middle)
    both = np.concatenate([estimate, bounds, [0.0]])
    ends = np.array([max(both.min(), -reach), min(both.max(), reach)])
    least = np.log(1.3) if on == "ratio" else _LEAST_LONG
    pad = max(0.06 * float(np.ptp(ends)), (least - float(np.ptp(ends))) / 2)
    ends += [-pad, pad]
    start, end = np.exp(ends) if on == "ratio" else ends
    return float(start), float(end)


def set_row_labels(ax: Axes, labels: Sequence[str], *, width: int = 34) -> Axes:
    """Name the rows at places 0, 1, 2 ... from above, with a faint line between each two."""
    ax.set_yticks(range(len(labels)), [fill(label, width) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    for between in np.arange(1, len(labels)) - 0.5:
        ax.axhline(between, color=FAINT, lw=0.6, zorder=0)
    ax.tick_params(axis="y", length=0, labelsize=SMALL_PT)
    return ax


def _set_estimate_axis(ax: Axes, on: Comparison, limits: tuple[float, float]) -> None:
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    ax.spines["left"].set_visible(False)
    if on == "difference":
        ax.set_xlim(limits)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        return
    ax.set(xscale="log", xlim=limits)
    ax.xaxis.set_major_locator(FixedLocator(_ratio_ticks(limits).tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _ratio_ticks(limits: tuple[float, float]) -> FloatArray:
    """Return few ticks that people read as ratios; 1 is one of them where it lies within."""
    start, end = limits
    if end / start > _FACTOR_OF_ROUND_TICKS:
        decades = 10.0 ** np.arange(np.floor(np.log10(start)), np.ceil(np.log10(end)) + 1)
        ticks = np.outer(decades, _RATIO_TICKS).ravel()
        within = ticks[(ticks >= start) & (ticks <= end)]
        # Many decades get only their own ticks, and very many every other one of those.
        if len(within) > 6:
            within = decades[(decades >= start) & (decades <= end)]
        return np.asarray(within[:: max(1, int(np.ceil(len(within) / 6)))], dtype=np.float64)
    ticks = np.asarray(MaxNLocator(4).tick_values(start, end), dtype=np.float64)
    ticks = ticks[(ticks >= start) & (ticks <= end) & (ticks > 0)].round(12)
    if not start <= 1.0 <= end:
        return ticks
    # No effect has a tick, and no other stands so close that their numbers touch.
    apart = np.abs(np.log(ticks)) > 0.1 * np.log(end / start)
    return np.sort(np.append(ticks[apart], 1.0))
