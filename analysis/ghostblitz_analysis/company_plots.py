"""The plot of what came of playing for the cards."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ghostblitz_analysis.plot_axes import FAINT, INK, SMALL_PT, plain
from ghostblitz_analysis.wording import count_of

__all__ = ["plot_round_parts"]

#: What became of a round for somebody, by column, with its colour: from Tol (2021), and a grey.
_PARTS = {
    "took": ("took the card", "#117733"),
    "too_late": ("right, but too late", "#DDCC77"),
    "wrong": ("wrong", "#882255"),
    "unanswered": ("no answer in time", "#BBBBBB"),
}

_NAMES = {"": "participants", "rival_": "simulated rival"}
#: Shares below this have no number in their part of the bar.
_LEAST_LABELLED = 6.0


def plot_round_parts(rules: pd.DataFrame, ax: Axes) -> Axes:
    """Draw per rule what participants' rounds came to, and the rival's below them, in percent.

    Parameters
    ----------
    rules : DataFrame
        `CompanyResults.rules`. Whoever played no round of a rule has no bar there.
    ax : Axes
        Where to draw.
    """
    names, bars = [], []
    has_rival = bool(rules["n_rival_rounds"].sum())
    for row in rules.to_dict("records"):
        for stem, who in _NAMES.items():
            n_rounds = row[f"n_{stem}rounds"]
            if n_rounds:
                name = f"{row['rule']}: {who}" if has_rival else row["rule"]
                names.append(f"{name}\n{count_of(int(n_rounds), 'round')}")
                bars.append([100 * row[f"n_{stem}{part}"] / n_rounds for part in _PARTS])
    shares = np.array(bars, dtype=np.float64)
    left = np.zeros(len(names))
    for (label, colour), width in zip(_PARTS.values(), shares.T, strict=True):
        ax.barh(
            np.arange(len(names)), width, left=left, height=0.62, color=colour, edgecolor="white",
            lw=1.0, label=label,
        )  # fmt: skip
        dark = colour in ("#117733", "#882255")
        for at, share in enumerate(width):
            if share >= _LEAST_LABELLED:
                ax.text(
                    left[at] + share / 2, at, f"{share:.0f}", ha="center", va="center",
                    fontsize=SMALL_PT, color="white" if dark else INK,
                )  # fmt: skip
        left = left + width
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(0, 100)
    ax.set_xlabel("Rounds (%)")
    plain(ax).grid(visible=False)
    ax.grid(visible=True, axis="x", color=FAINT, lw=0.8)
    return ax
