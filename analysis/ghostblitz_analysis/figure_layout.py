"""Sheets for figures: widths of journal columns, panels of modes and blocks, legends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from ghostblitz_analysis.measures import order_cells
from ghostblitz_analysis.plot_axes import INK, LETTER_WIDTH, SMALL_PT, TEXT_PT
from ghostblitz_analysis.plots import OTHER_KINDS
from ghostblitz_analysis.wording import cell_name

__all__ = [
    "COLUMN_MM",
    "MIN_LETTERS_PT",
    "WIDTH_IN",
    "Column",
    "fit_column",
    "grid_sheet",
    "label_edges",
    "legend_below",
    "panels",
    "sheet",
    "title_panel",
]

#: A column of a journal, by how much of the page it takes.
Column = Literal["single", "one_and_a_half", "double"]
#: In millimetres, as most journals have them: 85 to 90, 114 to 140, 174 to 180.
COLUMN_MM = MappingProxyType({"single": 85.0, "one_and_a_half": 120.0, "double": 174.0})
#: Journals refuse smaller letters in print.
MIN_LETTERS_PT = 7.0
_MM_PER_IN, _PT_PER_IN = 25.4, 72.0
WIDTH_IN = COLUMN_MM["double"] / _MM_PER_IN
_LEGEND_COLUMNS = 4
_OTHERS = OTHER_KINDS.replace("_", " ")


def sheet(
    n_panels: int,
    height_in: float,
    *,
    share_x: bool = False,
    share_y: bool = False,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Return a figure of double-column width with panels below each other."""
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(
        n_panels, 1, sharex=share_x, sharey=share_y, squeeze=False, height_ratios=heights
    )
    return figure, list(axes[:, 0])


def grid_sheet(n_panels: int, *, row_in: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels in up to two columns that share both their scales."""
    n_columns = min(n_panels, 2)
    n_rows = int(np.ceil(n_panels / n_columns))
    figure = Figure(figsize=(WIDTH_IN, 0.7 + row_in * n_rows), layout="constrained")
    axes = list(figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel())
    for spare in axes[n_panels:]:
        spare.remove()
        # The panel above it is now the lowest of its column.
        axes[n_panels - 1 - (n_columns - 1)].tick_params(labelbottom=True)
    return figure, axes[:n_panels]


def title_panel(ax: Axes, title: str) -> None:
    """Name a panel above its left corner."""
    ax.set_title(title, loc="left", fontsize=TEXT_PT, color=INK)


def label_edges(axes: Sequence[Axes], x_label: str) -> None:
    """Name x below the lowest panels of a figure, and y at the left ones only."""
    spec = axes[0].get_subplotspec()
    n_columns = 1 if spec is None else spec.get_gridspec().ncols
    for number, ax in enumerate(axes):
        if n_columns == 2 and number % 2:
            ax.set_ylabel("")
        if number >= len(axes) - n_columns:
            ax.set_xlabel(x_label, fontsize=TEXT_PT, color=INK)


def legend_below(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put one legend of all panels below them, each label once."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if _OTHERS in found:
        found[_OTHERS] = found.pop(_OTHERS)  # Comes last.
    if found:
        figure.legend(
            list(found.values()), list(found), loc="outside lower center",
            ncols=_LEGEND_COLUMNS + (len(found) == _LEGEND_COLUMNS + 1), frameon=False,
            fontsize=SMALL_PT, columnspacing=1.4, handlelength=1.8,
        )  # fmt: skip


def panels(table: pd.DataFrame, factors: Sequence[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Split a table by the factors other than rule, since modes are never drawn together."""
    others = [f for f in factors if f != "rule"]
    if not others:
        yield "", table
        return
    levels = order_cells(table[others].drop_duplicates(), factors=tuple(others))
    for values in levels.itertuples(index=False, name=None):
        level = dict(zip(others, values, strict=True))
        name = cell_name(level)
        yield name, table[(table[others] == pd.Series(level)).all(axis=1)]


def fit_column(figure: Figure, column: Column) -> Figure:
    """Lay out a figure anew for a column of a journal, and return it.

    Letters shrink with the figure, but not below 7 points; lines and markers keep their size. A
    figure of many cells that is legible in a double column may be crowded in a single one.
    """
    width_in = COLUMN_MM[column] / _MM_PER_IN
    scale = width_in / figure.get_figwidth()
    if abs(scale - 1) < 1e-6:
        return figure
    # Less letters per width need more height per width.
    figure.set_size_inches(width_in, figure.get_figheight() * scale**0.5)
    every = [each for parent in figure.axes for each in (parent, *parent.child_axes)]
    for ax in every:
        for axis in (ax.xaxis, ax.yaxis):
            ticks = axis.get_major_ticks()
            if ticks:
                axis.set_tick_params(labelsize=_scaled(ticks[0].label1.get_fontsize(), scale))
    for text in figure.findobj(Text):
        text.set_fontsize(_scaled(text.get_fontsize(), scale))
    for ax in figure.axes:
        _wrap(ax.xaxis.label, ax.get_position().width * width_in)
    figure.set_layout_engine("constrained")
    # The first layout finds how long the labels are now, the second gives them their room.
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _wrap(label: Text, room_in: float) -> None:
    """Break the lines of a label that is longer than its axis, which it would share with others."""
    letters = int(room_in * _PT_PER_IN / (LETTER_WIDTH * float(label.get_fontsize())))
    lines = label.get_text().split("\n")
    label.set_text("\n".join(fill(line, max(letters, 8)) for line in lines))


def _scaled(size_pt: float | str, scale: float) -> float:
    return max(MIN_LETTERS_PT, float(size_pt) * scale)
