"""Plots of what RTs are distributed like: quantiles, delta plots, accuracy by speed, ex-Gaussian.

Each draws the tables of one mode (and block kind), so grab and shout never share axes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from ghostblitz_analysis.forest_plots import set_row_labels
from ghostblitz_analysis.plot_axes import (
    FAINT,
    INK,
    SOFT,
    FloatArray,
    floats,
    plain,
    set_seconds_axis,
)
from ghostblitz_analysis.plots import rule_colour, rule_line, rules_of
from ghostblitz_analysis.rainclouds import jitter
from ghostblitz_analysis.wording import cell_name

__all__ = [
    "plot_conditional_accuracy",
    "plot_delta",
    "plot_ex_gaussian",
    "plot_quantiles",
    "plot_speed_accuracy",
    "set_accuracy_axis",
]

_BELOW_ANY_RT_S = 1e-6
EX_GAUSSIAN_NAMES = {"mu_s": "μ (s)", "sigma_s": "σ (s)", "tau_s": "τ (s)"}


def plot_quantiles(group_quantiles: pd.DataFrame, ax: Axes) -> Axes:
    """Draw each rule's vincentiles, with their intervals along x, as a cumulative distribution.

    Parameters
    ----------
    group_quantiles : DataFrame
        From `vincentiles`, of one mode and block kind; a rule without RTs is not drawn.
    ax : Axes
        Where to draw.
    """
    for rule in rules_of(group_quantiles):
        rows = group_quantiles[group_quantiles["rule"] == rule]
        x, y = floats(rows["quantile_s"]), 100 * floats(rows["probability"])
        low, high = floats(rows["quantile_low_s"]), floats(rows["quantile_high_s"])
        if np.isnan(x).all():
            continue
        # A t interval of few and unequal people can reach below 0, beyond any log axis.
        low = np.where(low > 0, low, np.where(np.isnan(low), np.nan, _BELOW_ANY_RT_S))
        _plot_curve(ax, rule, x, y)
        ax.hlines(y, low, high, color=rule_colour(rule), lw=1.2, alpha=0.8, zorder=2)
    ax.set_ylim(0, 100)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_ylabel("Quantile (% of RTs)")
    ends = [floats(group_quantiles[f"quantile{end}_s"]) for end in ("", "_low", "_high")]
    return _set_rt_axis(plain(ax), np.concatenate(ends))


def plot_delta(participant_delta: pd.DataFrame, group_delta: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the difference of two rules over the mean of both, quantile by quantile.

    The group is bold with its t interval, participants are thin. The axes hold the group with its
    intervals and nine in ten of the participants' points, so that one very slow person does not
    press all others into a corner; lines of others may leave them.

    Parameters
    ----------
    participant_delta, group_delta : DataFrame
        From `delta_functions` and `group_delta_functions`, of one mode and block kind.
    ax : Axes
        Where to draw.
    """
    people = participant_delta.reset_index(drop=True)
    x, y = floats(people["mean_s"]), floats(people["difference_s"])
    n_people = max(1, people["participant_id"].nunique())
    faint = float(np.clip(4 / n_people, 0.2, 0.6))
    ax.axhline(0, color=SOFT, lw=1.0, zorder=1)
    for contrast in group_delta["contrast"].drop_duplicates():
        colour = rule_colour(str(contrast).split(" - ")[0])
        groups = people[people["contrast"] == contrast].groupby("participant_id", sort=False)
        lines = [np.column_stack([x[rows], y[rows]]) for rows in groups.groups.values()]
        if n_people > 1:
            ax.add_collection(LineCollection(lines, colors=colour, lw=0.7, alpha=faint, zorder=1))
        rows = group_delta[group_delta["contrast"] == contrast]
        at, mean = floats(rows["mean_s"]), floats(rows["difference_s"])
        low, high = floats(rows["difference_low_s"]), floats(rows["difference_high_s"])
        if np.isnan(mean).all():
            continue
        ax.vlines(at, low, high, color=INK, lw=1.3, zorder=3)
        ax.plot(at, mean, "-D", ms=5, mec="white", mew=0.9, lw=2.0, color=colour, zorder=4,
                label=str(contrast).replace(" - ", " − "))  # fmt: skip
    _hold(ax, "y", y, [floats(group_delta[f"difference{end}_s"]) for end in ("", "_low", "_high")])
    ax.set_ylabel("Difference (s)")
    _hold(plain(ax), "x", x, [floats(group_delta["mean_s"])])
    return ax


def plot_conditional_accuracy(group_caf: pd.DataFrame, ax: Axes) -> Axes:
    """Draw each rule's accuracy in bins of RT, from the fastest answers to the slowest.

    Parameters
    ----------
    group_caf : DataFrame
        From `group_conditional_accuracy`, of one mode and block kind: means over participants
        with their t intervals.
    ax : Axes
        Where to draw.
    """
    for rule in rules_of(group_caf):
        rows = group_caf[group_caf["rule"] == rule]
        x, y = floats(rows["mean_rt_s"]), 100 * floats(rows["p_correct"])
        if np.isnan(y).all():
            continue
        _plot_curve(ax, rule, x, y)
        low, high = 100 * floats(rows["p_correct_low"]), 100 * floats(rows["p_correct_high"])
        ax.vlines(x, low, high, color=rule_colour(rule), lw=1.2, alpha=0.8, zorder=2)
    lowest = _smallest(
        100 * floats(group_caf["p_correct_low"]), 100 * floats(group_caf["p_correct"])
    )
    set_accuracy_axis(ax, lowest)
    return _set_rt_axis(plain(ax), floats(group_caf["mean_rt_s"]))


def plot_speed_accuracy(participant_cells: pd.DataFrame, ax: Axes) -> Axes:
    """Draw accuracy over mean RT, with an arrow from direct to each other rule.

    Arrows are means over the participants that have both rules; thin lines are participants, with
    a dot at the other rule. An arrow that falls to the left is a trade: faster, but less often
    right.

    Parameters
    ----------
    participant_cells : DataFrame
        Of one mode and block kind: ``participant_id``, ``rule``, ``mean_rt_s``, ``p_correct``.
    ax : Axes
        Where to draw.
    """
    rules = rules_of(participant_cells)
    reference, others = rules[0], rules[1:] if rules[0] == "direct" else []
    points = participant_cells.set_index(["participant_id", "rule"])
    x = points["mean_rt_s"].astype("Float64").unstack("rule")
    y = 100 * points["p_correct"].astype("Float64").unstack("rule")
    faint = float(np.clip(4 / max(1, len(x)), 0.2, 0.7))
    drawn: list[FloatArray] = []
    for rule in others:
        both = x[[reference, rule]].notna().all(axis=1) & y[[reference, rule]].notna().all(axis=1)
        starts = np.column_stack([floats(x.loc[both, reference]), floats(y.loc[both, reference])])
        ends = np.column_stack([floats(x.loc[both, rule]), floats(y.loc[both, rule])])
        if not len(starts):
            continue
        drawn += [starts, ends]
        colour = rule_colour(rule)
        if len(starts) > 1:
            lines = np.stack([starts, ends], axis=1)
            ax.add_collection(LineCollection(list(lines), colors=colour, lw=0.7, alpha=faint))
            ax.plot(*ends.T, "o", ms=2.8, mew=0, color=colour, alpha=faint, zorder=2)
        start, end = starts.mean(axis=0), ends.mean(axis=0)
        _arrow(ax, start, end, colour=colour)
        for rule_of, at in ((reference, start), (rule, end)):
            ax.plot(*at, "D", ms=6, mec="white", mew=1.0, color=rule_colour(rule_of), zorder=5,
                    label=rule_of)  # fmt: skip
    every = np.concatenate(drawn) if drawn else np.array([[1.0, 100.0]])
    set_accuracy_axis(ax, float(every[:, 1].min()))
    return _set_rt_axis(plain(ax), every[:, 0])


def plot_ex_gaussian(
    participants: pd.DataFrame, groups: pd.DataFrame, ax: Axes, *, parameter: str
) -> Axes:
    """Draw one parameter of the ex-Gaussian per cell: participants as dots, the group with its CI.

    Parameters
    ----------
    participants, groups : DataFrame
        From `ex_gaussian_cells` and `group_ex_gaussian`; cells follow the order of `groups`.
        A fit that did not converge has no dot, and a cell without any has an empty row.
    ax : Axes
        Where to draw; cells are rows from above.
    parameter : str
        ``mu_s``, ``sigma_s`` or ``tau_s``.
    """
    rows = groups[groups["measure"] == parameter].reset_index(drop=True)
    factors = [f for f in ("rule", "block_kind", "mode") if f in rows.columns]
    converged = participants["converged"].astype("boolean").fillna(False)
    several = participants["participant_id"].nunique() > 1
    apart = jitter(participants["participant_id"])
    values = floats(participants[parameter])
    means, lows, highs = (floats(rows[name]) for name in ("mean", "low", "high"))
    cells = [{f: str(row[f]) for f in factors} for row in rows[factors].to_dict("records")]
    for place, levels in enumerate(cells):
        mask = ((participants[factors] == pd.Series(levels)).all(axis=1) & converged).to_numpy(bool)
        colour = rule_colour(levels["rule"])
        if several:
            ax.plot(
                values[mask], place + 0.1 + 0.3 * (apart[mask] + 0.5), "o", ms=3.2, mew=0,
                color=colour, alpha=0.45, zorder=2,
            )  # fmt: skip
        if not np.isnan([lows[place], highs[place]]).any():
            ax.hlines(place - 0.2, lows[place], highs[place], color=INK, lw=1.6, zorder=3)
        if not np.isnan(means[place]):
            ax.plot([means[place]], [place - 0.2], "D", ms=6, mec="white", mew=1.0, color=colour,
                    zorder=4)  # fmt: skip
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    set_row_labels(ax, [cell_name(levels) for levels in cells])
    # An interval may reach below 0, but a parameter cannot.
    ax.set_xlim(left=min(0.0, *lows[~np.isnan(lows)], 0.0))
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel(EX_GAUSSIAN_NAMES[parameter])
    return ax


def _plot_curve(ax: Axes, rule: str, x: FloatArray, y: FloatArray) -> None:
    ax.plot(
        x, y, ls=rule_line(rule), marker="o", ms=5, mec="white", mew=0.8, lw=1.8,
        color=rule_colour(rule), label=rule, zorder=3,
    )  # fmt: skip


def _arrow(ax: Axes, start: FloatArray, end: FloatArray, *, colour: str) -> None:
    ax.annotate(
        "", xy=(end[0], end[1]), xytext=(start[0], start[1]), zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.0, "shrinkA": 0, "shrinkB": 0,
                    "mutation_scale": 12},
    )  # fmt: skip


def set_accuracy_axis(ax: Axes, lowest: float) -> None:
    """Show percentages up to 100, from 90 or as far down as something is drawn."""
    start = 90.0 if np.isnan(lowest) else min(90.0, 5 * np.floor(lowest / 5))
    start = -3.0 if start <= 0 else start
    ax.set_ylim(start, 102)
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(start, 100)
    ax.set_yticks([tick for tick in ticks if max(start, 0) <= tick <= 100])
    ax.set_ylabel("Correct (%)")


def _set_rt_axis(ax: Axes, rts_s: FloatArray) -> Axes:
    """Make x a log axis of seconds that holds all these, of which those above 0 exist on it."""
    found = rts_s[rts_s > 0]
    if not len(found):
        return ax
    return set_seconds_axis(ax, "x", (float(found.min()), float(found.max())))


def _hold(ax: Axes, which: str, people: FloatArray, group: list[FloatArray]) -> None:
    """Set limits to everything of the group, and to all but the outermost people."""
    found = people[~np.isnan(people)]
    ends = [np.quantile(found, [0.05, 0.95])] if len(found) else []
    every = np.concatenate([*ends, *group, [0.0] if which == "y" else []])
    every = every[~np.isnan(every)]
    if not len(every):
        return
    pad = 0.05 * max(float(np.ptp(every)), 0.02)
    limits = float(every.min()) - pad, float(every.max()) + pad
    ax.set(**{f"{which}lim": limits})


def _smallest(*values: FloatArray) -> float:
    every = np.concatenate(values)
    return float("nan") if np.isnan(every).all() else float(np.nanmin(every))
