"""The plot of how reliable scores are."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ghostblitz_analysis.forest_plots import set_row_labels
from ghostblitz_analysis.plot_axes import FAINT, SMALL_PT, SOFT, floats, plain

__all__ = ["NAME_WIDTH", "plot_reliability", "score_names"]

_COLOURS = {
    "rule_effect": "#0072B2", "mixing_cost": "#009E73", "interaction": "#CC79A7", "cell": "#767676",
    "rule_switch": "#D55E00", "mode_switch": "#56B4E9", "mixing": "#332288",
}  # fmt: skip
_OTHER_KIND = "#E69F00"
_KIND_NAMES = {
    "rule_effect": "effect of the rule", "mixing_cost": "mixing cost", "cell": "mean of a cell",
    "rule_switch": "rule switch cost", "mode_switch": "mode switch cost",
    "mixing": "mixing cost, rule repeated",
}  # fmt: skip
#: "(a - b) mixed - (a - b) pure".
_INTERACTION = re.compile(r"\((.+?)\) (\S+) - \(\1\) (\S+)")
_LEAST_ASKED = 0.7
#: Letters of a name on one line.
NAME_WIDTH = 46


def score_names(split_half: pd.DataFrame) -> list[str]:
    """Name the score of each row with the levels that it is of."""
    factors = [f for f in ("rule", "block_kind", "mode") if f in split_half.columns]
    names = []
    for row in split_half.to_dict("records"):
        levels = [str(row[f]) for f in factors if not pd.isna(row[f])]
        if row["kind"] == "contrast":  # Its name says what it is of.
            levels = []
        own = [] if row["kind"] == "cell" else [_short(str(row["score"]), str(row["kind"]))]
        names.append(", ".join([*own, *levels]).replace(" - ", " − "))
    return names


def plot_reliability(split_half: pd.DataFrame, ax: Axes) -> Axes:
    """Draw the split-half reliability of each score, corrected after Spearman and Brown.

    Parameters
    ----------
    split_half : DataFrame
        From `split_half_reliability`, of one measure. A score whose halves correlate negatively
        has no coefficient; its row says so.
    ax : Axes
        Where to draw; scores are rows from above.
    """
    table = split_half.reset_index(drop=True)
    value = floats(table["spearman_brown"])
    low, high = floats(table["spearman_brown_low"]), floats(table["spearman_brown_high"])
    r = floats(table["r"])
    ax.axvline(_LEAST_ASKED, color=SOFT, lw=1.0, ls=(0, (4, 3)), zorder=1)
    for place, kind in enumerate(table["kind"]):
        colour = _COLOURS.get(str(kind), _OTHER_KIND)
        if np.isnan(value[place]):
            why = "r < 0" if r[place] < 0 else "none"
            ax.text(0.02, place, why, va="center", fontsize=SMALL_PT - 1.0, color=SOFT)
            continue
        if not np.isnan([low[place], high[place]]).any():
            ax.hlines(place, low[place], high[place], color=colour, lw=1.6, zorder=2)
        ax.plot([value[place]], [place], "o", ms=5.5, mec="white", mew=1.0, color=colour, zorder=3)
    for kind in table["kind"].drop_duplicates():
        name = _KIND_NAMES.get(str(kind), str(kind).replace("_", " "))
        ax.plot([], [], "-o", ms=5.5, color=_COLOURS.get(str(kind), _OTHER_KIND), label=name)
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    ax.set_xlim(-0.03, 1.03)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".50", ".75", "1"])
    return set_row_labels(ax, score_names(table), width=NAME_WIDTH)


def _short(score: str, kind: str) -> str:
    """Return the score's name; the formula of an interaction without what it says twice."""
    found = _INTERACTION.fullmatch(score) if kind == "interaction" else None
    return score if found is None else f"{found[1]}, {found[2]} - {found[3]}"
