"""The specification curve: all effects in their order, above the choices that made each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ghostblitz_analysis.figures import PNG_DPI
from ghostblitz_analysis.multiverse.runs import CHOICES, Multiverse
from ghostblitz_analysis.multiverse.summaries import CHOICE_NAMES
from ghostblitz_analysis.plot_axes import FAINT, INK, SMALL_PT, SOFT, TEXT_PT, floats, plain
from ghostblitz_analysis.wording import source_note

__all__ = ["curve_figure", "plot_choices", "plot_effects"]

_CLEAR, _UNCLEAR, _PRIMARY = "#0072B2", "#9A9A9A", "#D55E00"
_NOTE_COLOUR = "#B00020"
_WIDTH_IN, _CURVE_IN, _ROW_IN = 6.9, 2.7, 0.165
_LABEL_PT, _PAD_IN = 7.5, 0.08


def curve_figure(multiverse: Multiverse, number: int, *, sources: tuple[str, ...]) -> Figure | None:
    """Draw the curve of one contrast (Simonsohn et al. 2020; Steegen et al. 2016).

    Parameters
    ----------
    multiverse : Multiverse
    number : int
        Of the contrast, from 0.
    sources : tuple of str
        Who answered; simulated data say so on the figure.

    Returns
    -------
    Figure or None
        None where no universe has an effect.
    """
    table = multiverse.of_contrast(number)
    table = table[table["effect"].notna()].sort_values(["effect", "universe"], kind="stable")
    if table.empty:
        return None
    n_rows = sum(1 + n for n in (table[f"{c}_words"].nunique() for c in CHOICES) if n > 1)
    heights = (_CURVE_IN, max(_ROW_IN * n_rows, _ROW_IN))
    figure = Figure(figsize=(_WIDTH_IN, sum(heights) + 0.9), dpi=PNG_DPI)
    # The layout is found at the resolution of the finest file, where words are widest.
    figure.set_layout_engine("constrained", w_pad=_PAD_IN)
    curve, choices = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    plot_effects(table, curve, alpha=multiverse.settings.alpha)
    plot_choices(table, choices, alpha=multiverse.settings.alpha)
    curve.set_title(multiverse.titles[number], loc="left", fontsize=TEXT_PT, color=INK, pad=20)
    if not n_rows:
        choices.set_visible(False)
    note = source_note(sources)
    if note:
        figure.suptitle(note, color=_NOTE_COLOUR, fontsize=TEXT_PT, weight="bold")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def plot_effects(table: pd.DataFrame, ax: Axes, *, alpha: float) -> Axes:
    """Draw effects with their intervals, in the order of the rows; those with p < alpha in colour.

    Parameters
    ----------
    table : DataFrame, one row per universe
        With ``effect``, its interval, ``p`` and ``primary``.
    ax : Axes
    alpha : float
    """
    plain(ax)
    at = np.arange(1, len(table) + 1)
    effects, low, high = (floats(table[n]) for n in ("effect", "effect_low", "effect_high"))
    clear = floats(table["p"]) < alpha
    size = float(np.clip(350 / len(table), 1.2, 4.5))
    for where, colour, label in (
        (~clear, _UNCLEAR, f"p ≥ {alpha:g}"),
        (clear, _CLEAR, f"p < {alpha:g}"),
    ):
        if where.any():
            ax.plot(*_strokes(at[where], low[where], high[where]), color=colour, alpha=0.3,
                    lw=max(size / 2, 0.6), solid_capstyle="butt")  # fmt: skip
            ax.plot(at[where], effects[where], "o", color=colour, ms=size, mew=0, label=label)
    primary = table["primary"].fillna(False).to_numpy(dtype=bool)
    if primary.any():
        ax.plot(*_strokes(at[primary], low[primary], high[primary]), color=_PRIMARY, lw=1.4)
        ax.plot(
            at[primary], effects[primary], "D", color=_PRIMARY, ms=max(size + 1.5, 4.5),
            mec="white", mew=0.5, label="analysis as set",
        )  # fmt: skip
    ax.axhline(0, color=SOFT, lw=0.9)
    ax.set_ylabel("Standardised effect\n(t / √participants)", fontsize=TEXT_PT)
    ax.set_xlim(0, len(table) + 1)
    legend = ax.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 1.0), borderaxespad=0.2, frameon=False, ncols=3,
        fontsize=SMALL_PT, columnspacing=1.2, handletextpad=0.1, handlelength=1.2,
    )  # fmt: skip
    for line in legend.get_lines():
        line.set_markersize(4.5)
    return ax


def plot_choices(table: pd.DataFrame, ax: Axes, *, alpha: float) -> Axes:
    """Mark each universe's option of every decision that has several, in the order of the rows.

    Parameters
    ----------
    table : DataFrame, one row per universe
        With a column per decision, and one in words.
    ax : Axes
    alpha : float
    """
    at = np.arange(1, len(table) + 1)
    clear = floats(table["p"]) < alpha
    primary = table["primary"].fillna(False).to_numpy(dtype=bool)
    width = float(np.clip(330 / len(table), 0.7, 4.0))
    ticks: list[tuple[float, str, bool]] = []
    place = 0.0
    for decision in CHOICES:
        words = table[f"{decision}_words"]
        # As the grid has them, which is the order of the universes' numbers.
        options = table.sort_values("universe")[f"{decision}_words"].drop_duplicates().tolist()
        if len(options) < 2:
            continue
        ticks.append((place, CHOICE_NAMES[decision], True))
        place += 1
        for option in options:
            chosen = (words == option).to_numpy(dtype=bool)
            ax.axhspan(place - 0.42, place + 0.42, color="#F5F6F7", lw=0, zorder=0)
            for where, colour, order in (
                (chosen & ~clear, _UNCLEAR, 2),
                (chosen & clear, _CLEAR, 2),
                (chosen & primary, _PRIMARY, 3),
            ):
                y = np.full(int(where.sum()), place)
                strong = max(width, 2.2) if order == 3 else width
                ax.plot(*_strokes(at[where], y - 0.36, y + 0.36), color=colour, lw=strong,
                        solid_capstyle="butt", zorder=order)  # fmt: skip
            ticks.append((place, option, False))
            place += 1
    _label_rows(ax, ticks)
    ax.set_ylim(place - 0.4, -0.6)
    ax.set_xlabel(f"The {len(table)} universes, by effect", fontsize=TEXT_PT, color=INK)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(SOFT)
    ax.tick_params(axis="x", labelsize=SMALL_PT, color=SOFT, labelcolor=INK)
    ax.grid(visible=False)
    return ax


def _label_rows(ax: Axes, ticks: list[tuple[float, str, bool]]) -> None:
    ax.set_yticks([place for place, _, _ in ticks], [text for _, text, _ in ticks])
    ax.tick_params(axis="y", length=0, labelsize=_LABEL_PT, labelcolor=INK)
    for label, (place, _, heading) in zip(ax.get_yticklabels(), ticks, strict=True):
        if heading:
            label.set_fontweight("bold")
            ax.axhline(place + 0.45, color=FAINT, lw=0.8, zorder=0)


def _strokes(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return vertical strokes as one line with gaps, which is one path in the file."""
    gaps = np.full(len(x), np.nan)
    return (
        np.column_stack([x, x, gaps]).astype(np.float64).ravel(),
        np.column_stack([low, high, gaps]).ravel(),
    )
