"""Plots of what trials owe to those before them, and of errors over the session."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ghostblitz_analysis.forest_plots import DOT_PT, Comparison, plot_estimates, set_row_labels
from ghostblitz_analysis.plot_axes import INK, drawn_limits, floats, plain
from ghostblitz_analysis.plots import rule_colour, rule_line, rules_of

__all__ = ["effect_name", "effect_rows", "plot_errors_over_session", "plot_sequence_effects"]

ALL_RULES = "all rules"
#: How far from its middle a row's estimates stand, and their dots, where there are fewer rules.
_SPREADS = ((3, 0.3, DOT_PT), (np.inf, 0.38, 4.2))


def effect_name(effect: str) -> str:
    """Name a sequence effect in few words."""
    name = effect.replace("_", " ").replace("n2", "n−2").replace("post error", "post-error")
    return name.replace(" rule repeated", ", rule repeated").replace(" rule switched", ", switched")


def effect_rows(effects: pd.DataFrame, *, of: str) -> pd.DataFrame:
    """Arrange sequence effects for `plot_sequence_effects`, without those that have no estimate.

    Parameters
    ----------
    effects : DataFrame
        From `group_effects`.
    of : str
        ``rt`` (ratios) or ``errors`` (differences in percentage points).

    Returns
    -------
    DataFrame, one row per estimate
        ``effect``, ``mode``, ``rule`` (missing over all rules), ``estimate``, ``low``, ``high``.
    """
    stem, scale = ("rt_ratio", 1.0) if of == "rt" else ("p_error_difference", 100.0)
    rows = effects[["effect", "mode", "rule"]].assign(
        estimate=floats(effects[stem]) * scale,
        low=floats(effects[f"{stem}_low"]) * scale,
        high=floats(effects[f"{stem}_high"]) * scale,
    )
    return rows[rows["estimate"].notna()].reset_index(drop=True)


def plot_sequence_effects(
    rows: pd.DataFrame,
    ax: Axes,
    *,
    of: str,
    effects: list[str],
    rules: list[str],
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Draw effects as a forest: a row per effect, in it all rules together and then each rule.

    Parameters
    ----------
    rows : DataFrame
        From `effect_rows`, of one mode.
    ax : Axes
        Where to draw.
    of : str
        ``rt`` or ``errors``, as for `effect_rows`.
    effects, rules : list of str
        The rows from above, and the rules within each.
    limits : (float, float), optional
        As for `plot_estimates`.
    """
    spread, dot_pt = next(wide for most, *wide in _SPREADS if len(rules) < most)
    series = [ALL_RULES, *rules]
    of_rule = rows["rule"].fillna(ALL_RULES).astype(str)
    placed = rows.assign(
        place=_places(rows["effect"], of_rule, effects, series, 2 * spread / len(series)),
        colour=[INK if rule == ALL_RULES else rule_colour(rule) for rule in of_rule],
    )
    for rule in series:
        colour = INK if rule == ALL_RULES else rule_colour(rule)
        ax.plot([], [], "-o", ms=dot_pt, lw=1.5, color=colour, label=rule)
    on: Comparison = "ratio" if of == "rt" else "difference"
    plot_estimates(placed, ax, on=on, limits=limits, dot_pt=dot_pt)
    set_row_labels(ax, [effect_name(effect) for effect in effects], width=24)
    return ax


def _places(
    of_effect: pd.Series, of_rule: pd.Series, effects: list[str], series: list[str], step: float
) -> list[float]:
    """Place estimates in their effect's row: in the order of the series, about the row's middle."""
    there = {effect: set(of_rule[of_effect == effect]) for effect in effects}
    order = {effect: [name for name in series if name in there[effect]] for effect in effects}
    return [
        effects.index(effect) + step * (order[effect].index(rule) - (len(order[effect]) - 1) / 2)
        for effect, rule in zip(of_effect, of_rule, strict=True)
    ]


def plot_errors_over_session(
    participant_stretches: pd.DataFrame, stretches: pd.DataFrame, ax: Axes
) -> Axes:
    """Draw error rates over the stretches of a session per rule, with their t intervals.

    Parameters
    ----------
    participant_stretches, stretches : DataFrame
        From the functions of these names in `ghostblitz_analysis.practice`, of one mode and block
        kind. A stretch in which fewer than half of a rule's participants have any trial has no
        point: at the border of two blocks it would rest on a few trials of a few people.
    ax : Axes
        Where to draw; the line breaks where a rule has no point.
    """
    rules = rules_of(stretches)
    people = participant_stretches.groupby(["rule", "stretch"], observed=True)["participant_id"]
    n_there = people.nunique()
    n_of_rule = participant_stretches.groupby("rule", observed=True)["participant_id"].nunique()
    for number, rule in enumerate(rules):
        rows = stretches[stretches["rule"] == rule]
        places = np.arange(rows["stretch"].min(), rows["stretch"].max() + 1)
        there = n_there.xs(rule, level="rule").reindex(places, fill_value=0)
        many = 2 * there >= int(n_of_rule[rule])
        rows = rows.set_index("stretch").reindex(places)
        rows = rows[["p_correct", "p_correct_low", "p_correct_high"]].where(many, axis=0)
        x = places + 0.14 * (number - (len(rules) - 1) / 2)
        y = 100 * (1 - floats(rows["p_correct"]))
        low, high = (
            100 * (1 - floats(rows["p_correct_high"])),
            100 * (1 - floats(rows["p_correct_low"])),
        )
        ax.vlines(x, low, high, color=rule_colour(rule), lw=1.2, alpha=0.8, zorder=2)
        ax.plot(
            x, y, ls=rule_line(rule), marker="o", ms=5, mec="white", mew=0.8, lw=1.8,
            color=rule_colour(rule), label=rule, zorder=3,
        )  # fmt: skip
    limits = drawn_limits(ax)
    ax.set_ylim(0, 1.04 * max(5.0, 0.0 if limits is None else limits[1]))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    ax.set_ylabel("Errors (%)")
    return plain(ax)
