"""Plots: small functions that draw a table on axes and return the axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from ghostblitz_analysis.measures import order_cells
from ghostblitz_analysis.plot_axes import (
    FAINT,
    INK,
    LETTER_WIDTH,
    SMALL_PT,
    SOFT,
    TEXT_PT,
    FloatArray,
    data_limits,
    floats,
    plain,
    set_seconds_axis,
)
from ghostblitz_analysis.rainclouds import jitter, plot_clouds
from ghostblitz_analysis.wording import ERROR_COLOURS, RULE_COLOURS, cell_name, count_of

__all__ = [
    "OTHER_KINDS",
    "kinds_are_pooled",
    "kinds_to_draw",
    "plot_accuracy",
    "plot_error_kinds",
    "plot_group_rt",
    "plot_participant_accuracy",
    "plot_participant_rt",
    "plot_rt_distribution",
    "plot_rt_over_session",
    "rule_colour",
    "rule_line",
    "rules_of",
]

_OTHER_RULE = "#555555"
_FACTORS = ("rule", "block_kind", "transformation", "mode")
#: Places on the cell axis: between rules of a group, and between groups.
_STEP, _GAP = 1.0, 0.7
#: From the middle of a cell, where the group's mean stands: dots to the left, clouds to the right.
_DOTS_AT, _DOTS_WIDE, _CLOUD_AT = -0.22, 0.2, 0.14
#: More cells than this get smaller labels, and many more upright ones.
_MANY_CELLS, _VERY_MANY_CELLS = 6, 8
#: Kinds of error that a bar is made of; more cannot be told apart, so the rarest stand together.
MAX_KINDS = 12
OTHER_KINDS = "other kinds"
_OTHER_COLOUR = "#EEEEEE"
_RULE_LINES = {"direct": "-", "exclusion": "--", "mirror": "-.", "mirror-owl": ":"}
_DASHES = (0, (6, 1.5, 1, 1.5, 1, 1.5))

# --- RT and accuracy per cell ---------------------------------------------------------------


def plot_participant_rt(participant_cells: pd.DataFrame, ax: Axes) -> Axes:
    """Draw a raincloud per cell: participants' geometric mean RTs and their density.

    The dots of a participant are joined by a line over the rules; one without an RT in a cell has
    no dot there, and no line to it. Clouds are densities of log RT, right of the dots.
    """
    column = "geometric_mean_rt_s"
    _plot_participants(participant_cells, ax, column, scale=1)
    cells, places = _cell_places(participant_cells)
    table = participant_cells[[*cells.columns, column]]
    log_rts = [
        np.log(floats(table.loc[(table[list(cells.columns)] == cell).all(axis=1), column]))
        for _, cell in cells.iterrows()
    ]
    colours = [rule_colour(rule) for rule in cells["rule"]]
    plot_clouds(log_rts, ax, places=places + _CLOUD_AT, colours=colours, back=np.exp)
    return ax


def plot_group_rt(group_cells: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the group's geometric mean RT per cell with its within-participant interval."""
    stem = "geometric_mean_within_rt"
    _plot_group(group_cells, ax, f"{stem}_s", f"{stem}_low_s", f"{stem}_high_s", scale=1)
    ax.set_ylabel("Geometric mean RT (s, log scale)")
    return set_seconds_axis(ax, "y", data_limits(ax))


def plot_participant_accuracy(participant_cells: pd.DataFrame, ax: Axes) -> Axes:
    """Draw each participant's accuracy per cell, in percent."""
    return _plot_participants(participant_cells, ax, "p_correct", scale=100)


def plot_accuracy(group_cells: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the mean accuracy over participants per cell with its t interval, in percent."""
    names = "p_correct_participants", "p_correct_low", "p_correct_high"
    _plot_group(group_cells, ax, *names, scale=100)
    ax.set_ylabel("Correct (% of trials)")
    lowest = data_limits(ax)[0]
    ax.set_ylim(min(90.0, 5 * np.floor((lowest - 1) / 5)) if lowest > 5 else -3, 102)
    ticks = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(ax.get_ylim()[0], 100)
    ax.set_yticks([tick for tick in ticks if max(ax.get_ylim()[0], 0) <= tick <= 100])
    return ax


def _plot_participants(table: pd.DataFrame, ax: Axes, column: str, *, scale: float) -> Axes:
    cells, places = _cell_places(table)
    others = [f for f in cells.columns if f != "rule"]
    n_people = table["participant_id"].nunique()
    faint, dots = float(np.clip(4 / n_people, 0.25, 0.8)), float(np.clip(30 / n_people, 0.3, 0.55))
    place_of = dict(zip(_tuples(cells), places, strict=True))
    x = np.array([place_of[cell] for cell in _tuples(table[list(cells.columns)])])
    if n_people > 1:
        x = x + _DOTS_AT + _DOTS_WIDE * jitter(table["participant_id"])
    y = floats(table[column]) * scale
    groups = table.groupby(["participant_id", *others], sort=False).indices.values()
    lines = [np.column_stack([x[rows], y[rows]]) for rows in groups]
    ax.add_collection(LineCollection(lines, colors=SOFT, lw=0.7, alpha=faint, zorder=1))
    for rule in cells["rule"].unique():
        of_rule = (table["rule"] == rule).to_numpy(dtype=bool)
        ax.plot(
            x[of_rule], y[of_rule], "o", ms=4, mew=0, color=rule_colour(rule), alpha=dots, zorder=2
        )
    return _set_cell_axis(ax, cells, places)


def _plot_group(
    table: pd.DataFrame, ax: Axes, column: str, low: str, high: str, *, scale: float
) -> Axes:
    cells, places = _cell_places(table)
    mean = floats(table[column]) * scale
    errors = np.vstack([mean - floats(table[low]) * scale, floats(table[high]) * scale - mean])
    for i, rule in enumerate(table["rule"]):
        if np.isnan(mean[i]):
            continue
        error = None if np.isnan(errors[:, i]).any() else errors[:, [i]]
        ax.errorbar(
            places[i], mean[i], yerr=error, fmt="D", ms=6, color=rule_colour(rule), mec="white",
            mew=1.2, ecolor=INK, elinewidth=1.6, capsize=5, capthick=1.6, zorder=4,
            barsabove=True,
        )  # fmt: skip
    return _set_cell_axis(ax, cells, places)


def _cell_places(table: pd.DataFrame) -> tuple[pd.DataFrame, FloatArray]:
    """Return the cells in order and where they stand: rules side by side, groups apart."""
    factors = tuple(f for f in _FACTORS if f in table.columns)
    cells = order_cells(table[list(factors)].drop_duplicates(), factors=factors)
    groups = _tuples(cells.drop(columns="rule"))
    n_before = np.cumsum([False, *(a != b for a, b in pairwise(groups))])
    return cells, np.arange(len(cells)) * _STEP + n_before * _GAP


def _set_cell_axis(ax: Axes, cells: pd.DataFrame, places: FloatArray) -> Axes:
    ax.set_xticks(places, [str(rule) for rule in cells["rule"]])
    size = TEXT_PT if len(cells) <= _MANY_CELLS else SMALL_PT - 1.0
    upright = len(cells) > _VERY_MANY_CELLS
    if upright:
        ax.tick_params(axis="x", rotation=90)
    ax.set_xlim(places[0] - 0.6, places[-1] + 0.6)
    others = cells.drop(columns="rule")
    if others.shape[1] and not ax.child_axes:
        names = [
            cell_name(dict(zip(others.columns, levels, strict=True))) for levels in _tuples(others)
        ]
        groups: dict[str, list[float]] = {}
        for name, place in zip(names, places, strict=True):
            groups.setdefault(name.replace(", ", "\n"), []).append(place)
        # Below the rules' names, however long they are.
        longest = max(len(str(rule)) for rule in cells["rule"]) if upright else 1.7
        group_axis = ax.secondary_xaxis(location=0.0)
        group_axis.set_xticks([float(np.mean(at)) for at in groups.values()], list(groups))
        pad_pt = 8.0 + LETTER_WIDTH * size * longest
        group_axis.tick_params(length=0, labelsize=size, labelcolor=INK, pad=pad_pt)
        group_axis.spines["bottom"].set_visible(False)
    plain(ax).tick_params(axis="x", labelsize=size)
    return ax


# --- distributions and course of the session ------------------------------------------------


def plot_rt_distribution(trials: pd.DataFrame, ax: Axes, *, edges_s: FloatArray) -> Axes:
    """Draw histograms of RTs per rule, each as share of the rule's own trials.

    Parameters
    ----------
    trials : DataFrame
        Trials that count for RT, of any number of participants.
    ax : Axes
        Where to draw.
    edges_s : (n_bins + 1,) seconds
        Bin edges, increasing.

    Returns
    -------
    Axes
        A rule without trials is not drawn.
    """
    for rule in rules_of(trials):
        rt_s = floats(trials.loc[trials["rule"] == rule, "rt_s"])
        share = np.histogram(rt_s, edges_s)[0] / len(rt_s) * 100
        label = f"{rule} (n = {len(rt_s):,})"
        style: dict[str, Any] = {"color": rule_colour(rule), "baseline": 0}
        ax.stairs(share, edges_s, fill=True, alpha=0.22, lw=0, **style)
        ax.stairs(share, edges_s, lw=1.8, ls=rule_line(rule), label=label, **style)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("Trials (%)")
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.legend(loc="upper right", frameon=False, fontsize=SMALL_PT)
    return set_seconds_axis(plain(ax), "x", (float(edges_s[0]), float(edges_s[-1])))


def plot_rt_over_session(trials: pd.DataFrame, ax: Axes, *, edges: FloatArray) -> Axes:
    """Draw geometric mean RTs over the session per rule: participants thin, their mean bold.

    Parameters
    ----------
    trials : DataFrame
        Trials that count for RT.
    ax : Axes
        Where to draw.
    edges : (n_bins + 1,) trial indices
        Stretches of the session over which RTs are averaged. A line breaks where a stretch holds
        no trial of its rule, as between two blocks, and that of the mean also where less than half
        of the participants of two stretches are in both, since it would join different people.
    """
    stretch = np.digitize(floats(trials["trial_index"]), edges[1:-1])
    middle = (edges[:-1] + edges[1:] - 1) / 2 + 1
    log_rt = np.log(floats(trials["rt_s"]))
    frame = pd.DataFrame(
        {"person": trials["participant_id"].to_numpy(dtype=object), "stretch": stretch,
         "rule": trials["rule"].to_numpy(dtype=object), "log_rt": log_rt}
    )  # fmt: skip
    n_people = frame["person"].nunique()
    for rule in rules_of(trials):
        of_rule = frame[frame["rule"] == rule]
        means = of_rule.groupby(["person", "stretch"])["log_rt"].mean().unstack("stretch")
        means = means.reindex(columns=range(len(middle)))
        found = np.flatnonzero(means.notna().any().to_numpy())
        means = means.iloc[:, found[0] : found[-1] + 1]
        at = middle[found[0] : found[-1] + 1]
        if n_people > 1:
            faint = float(np.clip(3 / n_people, 0.12, 0.5))
            lines = [np.column_stack([at, row]) for row in np.exp(means.to_numpy())]
            colour = rule_colour(rule)
            ax.add_collection(LineCollection(lines, colors=colour, lw=0.8, alpha=faint, zorder=1))
        x, y = _broken(at, np.exp(means.mean().to_numpy()), means.notna().to_numpy())
        ax.plot(
            x, y, ls=rule_line(rule), marker="o", ms=5, mec="white", mew=0.8, lw=2.2,
            color=rule_colour(rule), label=rule, zorder=3,
        )  # fmt: skip
    ax.set_ylabel("RT (s, log scale)")
    ax.set_xlim(edges[0] + 0.5 - 0.02 * np.ptp(edges), edges[-1] + 0.5 + 0.02 * np.ptp(edges))
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    return set_seconds_axis(plain(ax), "y", data_limits(ax))


def _broken(x: FloatArray, y: FloatArray, has: npt.NDArray[np.bool_]) -> tuple[FloatArray, ...]:
    """Put a gap between points that rest on different people; `has` is people by points."""
    in_both = (has[:, :-1] & has[:, 1:]).sum(axis=0)
    in_any = (has[:, :-1] | has[:, 1:]).sum(axis=0)
    breaks = np.flatnonzero(
        (2 * in_both < in_any) & has[:, :-1].any(axis=0) & has[:, 1:].any(axis=0)
    )
    return np.insert(x, breaks + 1, np.nan), np.insert(y, breaks + 1, np.nan)


# --- errors ---------------------------------------------------------------------------------


def kinds_to_draw(error_totals: pd.DataFrame) -> tuple[str, ...]:
    """Return the kinds of error that bars are made of: all that occurred, or the most frequent.

    Where more than `MAX_KINDS` occurred, those that are rare in every bar are left for one part
    named `OTHER_KINDS`.
    """
    occurred = error_totals[error_totals["n"] > 0]
    most = occurred.groupby("error_kind")["p_of_trials"].max().sort_values(ascending=False)
    n_own = len(most) if len(most) <= MAX_KINDS else MAX_KINDS - 1
    own = set(most.index[:n_own])
    return tuple(kind for kind in ERROR_COLOURS if kind in own)


def kinds_are_pooled(error_totals: pd.DataFrame) -> bool:
    """Say whether some kinds that occurred have no part of their own in the bars."""
    occurred = set(error_totals.loc[error_totals["n"] > 0, "error_kind"])
    return bool(occurred - set(kinds_to_draw(error_totals)))


def plot_error_kinds(
    error_totals: pd.DataFrame, ax: Axes, *, kinds: Sequence[str] | None = None
) -> Axes:
    """Draw each rule's errors as one bar of stacked kinds, in percent of the rule's trials.

    The table has one row per rule and kind, so of two modes it holds one. `kinds` are those with
    a part of their own (`kinds_to_draw` by default); all others stand in one part.
    """
    rules = rules_of(error_totals)
    own = kinds_to_draw(error_totals) if kinds is None else tuple(kinds)
    left = np.zeros(len(rules))
    parts = {kind: error_totals["error_kind"] == kind for kind in own}
    parts[OTHER_KINDS] = ~error_totals["error_kind"].isin(own)
    n_drawn = 0
    for kind, is_part in parts.items():
        rows = error_totals[is_part]
        if not rows["n"].sum():
            continue
        n_drawn += 1
        width = floats(rows.groupby("rule")["p_of_trials"].sum().reindex(rules)) * 100
        ax.barh(
            np.arange(len(rules)), width, left=left, height=0.6,
            color=ERROR_COLOURS.get(kind, _OTHER_COLOUR), edgecolor="white", lw=1.0,
            hatch="////" if kind == OTHER_KINDS else None, label=kind.replace("_", " "),
        )  # fmt: skip
        left = left + width
    sums = error_totals.drop_duplicates("rule").set_index("rule").loc[rules]
    labels = [
        f"{rule}\n{int(n_errors):,} of {count_of(int(n_trials), 'trial')} wrong"
        for rule, n_errors, n_trials in zip(rules, sums["n_errors"], sums["n_trials"], strict=True)
    ]
    ax.set_yticks(np.arange(len(rules)), labels)
    ax.set_ylim(len(rules) - 0.4, -0.6)
    ax.set_xlim(0, max(1.0, float(left.max(initial=0.0)) * 1.04))
    ax.set_xlabel("Errors (% of trials)")
    if not n_drawn:
        ax.text(0.5, 0.5, "no errors", transform=ax.transAxes, ha="center", color=SOFT)
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    return ax


def rules_of(table: pd.DataFrame) -> list[str]:
    """Return the rules of a table in their order."""
    rules = order_cells(table[["rule"]].drop_duplicates(), factors=("rule",))
    return [str(rule) for rule in rules["rule"]]


def rule_colour(rule: str) -> str:
    """Return the colour of a rule in every plot."""
    return RULE_COLOURS.get(rule, _OTHER_RULE)


def rule_line(rule: str) -> Any:
    """Return the line style of a rule, which tells rules apart in grey print."""
    return _RULE_LINES.get(rule, _DASHES)


def _tuples(table: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(table.itertuples(index=False, name=None))
