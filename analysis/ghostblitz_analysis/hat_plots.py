"""Plots of what changes with the lag: the trials since the hat was put where it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from ghostblitz_analysis.hat_measures import LAGS
from ghostblitz_analysis.plot_axes import (
    INK,
    SOFT,
    FloatArray,
    drawn_limits,
    floats,
    plain,
    set_seconds_axis,
)

__all__ = ["plot_lag_errors", "plot_lag_rt"]

_COLOUR = "#5B4B8A"


def plot_lag_rt(participant_lags: pd.DataFrame, lags: pd.DataFrame, ax: Axes) -> Axes:
    """Draw geometric mean RTs at each lag: participants thin, the group with its t interval.

    Parameters
    ----------
    participant_lags, lags : DataFrame
        From `HatResults`, of one transformation.
    ax : Axes
        Where to draw.
    """
    _plot_people(participant_lags, floats(participant_lags["geometric_mean_rt_s"]), ax)
    stem = "geometric_mean_rt"
    _plot_group(lags, (f"{stem}_s", f"{stem}_low_s", f"{stem}_high_s"), ax, scale=1)
    ax.set_ylabel("RT (s, log scale)")
    limits = drawn_limits(ax)
    return _set_lag_axis(ax) if limits is None else set_seconds_axis(_set_lag_axis(ax), "y", limits)


def plot_lag_errors(participant_lags: pd.DataFrame, lags: pd.DataFrame, ax: Axes) -> Axes:
    """Draw error rates at each lag in percent, as `plot_lag_rt` draws RTs."""
    _plot_people(participant_lags, 100 * (1 - floats(participant_lags["p_correct"])), ax)
    _plot_group(lags, ("p_error", "p_error_low", "p_error_high"), ax, scale=100)
    ax.set_ylabel("Errors (% of trials)")
    top = max((drawn_limits(ax) or (0.0, 0.0))[1], 5.0)
    ax.set_ylim(-0.04 * top, 1.06 * top)
    return _set_lag_axis(ax)


def _places(table: pd.DataFrame) -> FloatArray:
    return np.array([LAGS.index(str(lag)) for lag in table["lag"]], dtype=np.float64)


def _plot_people(table: pd.DataFrame, y: FloatArray, ax: Axes) -> None:
    x = _places(table)
    groups = table.reset_index(drop=True).groupby("participant_id", sort=False).indices
    lines = [np.column_stack([x[rows], y[rows]]) for rows in groups.values()]
    faint = float(np.clip(4 / len(lines), 0.25, 0.8))
    ax.add_collection(LineCollection(lines, colors=SOFT, lw=0.7, alpha=faint, zorder=1))
    ax.plot(x, y, "o", ms=3.5, mew=0, color=_COLOUR, alpha=0.35, zorder=2)


def _plot_group(
    table: pd.DataFrame, columns: tuple[str, str, str], ax: Axes, *, scale: float
) -> None:
    """Draw means with their intervals; the columns are the mean and its two bounds."""
    mean, low, high = (scale * floats(table[name]) for name in columns)
    x = _places(table)
    ax.plot(x, mean, "-", lw=1.6, color=_COLOUR, zorder=3)
    for i in np.flatnonzero(~np.isnan(mean)):
        has_interval = not np.isnan(low[i]) and not np.isnan(high[i])
        error = np.array([[mean[i] - low[i]], [high[i] - mean[i]]]) if has_interval else None
        ax.errorbar(
            x[i], mean[i], yerr=error, fmt="D", ms=6, color=_COLOUR, mec="white", mew=1.2,
            ecolor=INK, elinewidth=1.6, capsize=5, capthick=1.6, zorder=4, barsabove=True,
        )  # fmt: skip


def _set_lag_axis(ax: Axes) -> Axes:
    ax.set_xticks(range(len(LAGS)), LAGS)
    ax.set_xlim(-0.5, len(LAGS) - 0.5)
    return plain(ax)
