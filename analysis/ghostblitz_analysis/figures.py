"""Whole figures of an analysis, and their files.

They use `matplotlib.figure.Figure` itself, so that no window system and no global figure list
is touched. Every figure of simulated or robot data says so on its face.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ghostblitz_analysis.company_plots import plot_round_parts
from ghostblitz_analysis.exclusions import used_for_rt
from ghostblitz_analysis.figure_captions import figure_captions
from ghostblitz_analysis.figure_layout import (
    WIDTH_IN,
    Column,
    fit_column,
    grid_sheet,
    label_edges,
    legend_below,
    panels,
    sheet,
    title_panel,
)
from ghostblitz_analysis.hat_plots import plot_lag_errors, plot_lag_rt
from ghostblitz_analysis.paper_figures import MAKERS
from ghostblitz_analysis.plot_axes import (
    INK,
    TEXT_PT,
    FloatArray,
    at_least_factor,
    join_seconds_axes,
)
from ghostblitz_analysis.plots import (
    kinds_to_draw,
    plot_accuracy,
    plot_error_kinds,
    plot_group_rt,
    plot_participant_accuracy,
    plot_participant_rt,
    plot_rt_distribution,
    plot_rt_over_session,
)
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.wording import level_name, source_note

__all__ = ["FORMATS", "build_figures", "figure_captions", "figure_svg", "save_figure"]

FORMATS = ("svg", "pdf", "png")
#: What journals ask of pictures with letters in them, at least.
PNG_DPI = 300
#: TrueType, which journals can edit; many refuse Type 3 fonts.
PDF_FONT_TYPE = 42
#: More panels than this are low, or stand in two columns, or they would not fit on a page.
_MOST_BELOW = 2
_NOTE_COLOUR = "#B00020"
#: About how many stretches the course of a session is cut into, and the fewest trials of one.
_N_STRETCHES, _MIN_STRETCH = 12, 10


def build_figures(analysis: Analysis) -> dict[str, Figure]:
    """Draw every figure of an analysis.

    Returns
    -------
    dict of str to Figure
        ``rt_by_cell``, ``rt_distribution``, ``accuracy_by_cell``, ``error_kinds`` and
        ``rt_over_session``; those of RTs only where any trial counts for RT. Where there is a
        hat, ``hat_rt`` and ``hat_lag`` too; where cards were played for, ``company_rounds``. Then
        ``planned_contrasts``, ``rt_quantiles``, ``rt_delta``, ``rt_caf``, ``ex_gaussian``,
        ``errors_by_chance``, ``speed_accuracy``, ``sequence_effects``, ``errors_over_session``,
        ``reliability`` and ``model_effects``, each only where the data give any of its values.
        All are 174 mm wide, a double column of a journal.
    """
    makers: dict[str, Callable[[Analysis], Figure | None]] = {
        "rt_by_cell": _rt_by_cell,
        "rt_distribution": _rt_distribution,
        "accuracy_by_cell": _accuracy_by_cell,
        "error_kinds": _error_kinds,
        "rt_over_session": _rt_over_session,
        "hat_rt": _hat_rt,
        "hat_lag": _hat_lag,
        "company_rounds": _company_rounds,
        **MAKERS,
    }
    made = {name: maker(analysis) for name, maker in makers.items()}
    figures = {name: figure for name, figure in made.items() if figure is not None}
    note = source_note(analysis.sources)
    for figure in figures.values():
        if note:
            figure.suptitle(note, color=_NOTE_COLOUR, fontsize=TEXT_PT, weight="bold")
        # Lay out once, not again for every file format.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figures


def figure_svg(figure: Figure) -> str:
    """Return a figure as SVG text with its letters as outlines; the same figure, same text."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "ghostblitz", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def save_figure(figure: Figure, stem: Path, *, column: Column = "double") -> str:
    """Write a figure as SVG, PDF (letters kept as text) and PNG, and return the SVG.

    The files hold no date: the same figure gives the same bytes.

    Parameters
    ----------
    figure : Figure
        From `build_figures`; where its width is another than the column's, it is laid out anew.
    stem : Path
        Without the ending of the three files. The PNG has 300 dots per inch at the column's
        width, which is the least that journals print from; SVG and PDF have no dots.
    column : {"single", "one_and_a_half", "double"}
        85, 120 or 174 mm; letters are 7 points or more at each.

    Raises
    ------
    OSError
        If a file cannot be written, as on a full disk.
    """
    fit_column(figure, column)
    svg = figure_svg(figure)
    # Drawn in memory: on a full disk matplotlib's PDF ends in an error that says nothing of it.
    pdf, png = io.BytesIO(), io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": PDF_FONT_TYPE}):
        figure.savefig(pdf, format="pdf", metadata={"CreationDate": None})
    figure.savefig(png, format="png", dpi=PNG_DPI)
    drawn = (svg.encode("utf-8"), pdf.getvalue(), png.getvalue())
    for suffix, data in zip(FORMATS, drawn, strict=True):
        stem.with_suffix(f".{suffix}").write_bytes(data)
    return svg


def _rt_by_cell(analysis: Analysis) -> Figure | None:
    if not analysis.participant_cells["n_rt"].sum():
        return None
    figure, (ax,) = sheet(1, 3.9)
    plot_participant_rt(analysis.participant_cells, ax)
    plot_group_rt(analysis.group_cells, ax)
    return figure


def _accuracy_by_cell(analysis: Analysis) -> Figure:
    figure, (ax,) = sheet(1, 3.5)
    plot_participant_accuracy(analysis.participant_cells, ax)
    plot_accuracy(analysis.group_cells, ax)
    return figure


def _rt_distribution(analysis: Analysis) -> Figure | None:
    trials = analysis.trials[used_for_rt(analysis.trials)]
    if trials.empty:
        return None
    log_rt = np.log(trials["rt_s"].to_numpy(dtype="float64"))
    low, high = at_least_factor(float(log_rt.min()), float(log_rt.max()), 2.0)
    n_bins = int(np.clip(np.sqrt(len(log_rt)), 8, 32))
    edges_s = np.exp(np.linspace(low, high, n_bins + 1))
    parts = list(panels(trials, analysis.factors))
    each_in = 1.9 if len(parts) <= _MOST_BELOW else 1.5
    figure, axes = sheet(len(parts), 0.9 + each_in * len(parts), share_x=True)
    for ax, (name, rows) in zip(axes, parts, strict=True):
        plot_rt_distribution(rows, ax, edges_s=edges_s)
        title_panel(ax, name)
    label_edges(axes, "RT of correct trials (s, log scale)")
    return figure


def _rt_over_session(analysis: Analysis) -> Figure | None:
    trials = analysis.trials[used_for_rt(analysis.trials)]
    if trials.empty:
        return None
    edges = _stretches(trials)
    parts = list(panels(trials, analysis.factors))
    if len(parts) > _MOST_BELOW:
        figure, axes = grid_sheet(len(parts), row_in=2.3)
    else:
        figure, axes = sheet(len(parts), 1.1 + 2.1 * len(parts), share_x=True, share_y=True)
    for ax, (name, rows) in zip(axes, parts, strict=True):
        plot_rt_over_session(rows, ax, edges=edges)
        title_panel(ax, name)
    join_seconds_axes(axes)
    label_edges(axes, "Trial of the session")
    legend_below(figure, axes)
    return figure


def _error_kinds(analysis: Analysis) -> Figure:
    table = analysis.error_groups
    factors = tuple(f for f in ("rule", "mode") if f in table.columns)
    parts = list(panels(table, factors))
    n_bars = [rows["rule"].nunique() for _, rows in parts]
    height_in = 1.3 + 0.4 * len(parts) + 0.65 * sum(n_bars)
    figure, axes = sheet(len(parts), height_in, share_x=True, heights=n_bars)
    longest, kinds = 0.0, kinds_to_draw(table)
    for ax, (name, rows) in zip(axes, parts, strict=True):
        plot_error_kinds(rows, ax, kinds=kinds)
        longest = max(longest, ax.get_xlim()[1])
        title_panel(ax, name)
    axes[0].set_xlim(0, longest)
    for ax in axes[:-1]:
        ax.set_xlabel("")
    legend_below(figure, axes)
    return figure


def _hat_rt(analysis: Analysis) -> Figure | None:
    hat = analysis.hat
    if hat is None or not hat.participant_cells["n_rt"].sum():
        return None
    figure, (ax,) = sheet(1, 3.9)
    plot_participant_rt(hat.participant_cells, ax)
    plot_group_rt(hat.group_cells, ax)
    return figure


def _hat_lag(analysis: Analysis) -> Figure | None:
    """Draw a column per transformation, RTs above error rates; rows share their scales."""
    hat = analysis.hat
    if hat is None or hat.lags is None or hat.participant_lags is None:
        return None
    if not hat.participant_lags["n_rt"].sum():
        return None
    levels = [str(level) for level in hat.lags["transformation"].drop_duplicates()]
    figure = Figure(figsize=(WIDTH_IN, 5.0), layout="constrained")
    axes = figure.subplots(2, len(levels), sharex=True, sharey="row", squeeze=False)
    for column, level in enumerate(levels):
        people = hat.participant_lags[hat.participant_lags["transformation"] == level]
        group = hat.lags[hat.lags["transformation"] == level]
        plot_lag_rt(people, group, axes[0, column])
        plot_lag_errors(people, group, axes[1, column])
        title = fill(level_name("transformation", level), 22)
        title_panel(axes[0, column], title)
    join_seconds_axes(list(axes[0]))
    tops = [ax.get_ylim() for ax in axes[1]]
    axes[1, 0].set_ylim(min(low for low, _ in tops), max(high for _, high in tops))
    for ax in axes[:, 1:].ravel():
        ax.set_ylabel("")
    figure.supxlabel("Lag: trials since the hat moved", fontsize=TEXT_PT, color=INK)
    return figure


def _company_rounds(analysis: Analysis) -> Figure | None:
    if analysis.company is None:
        return None
    rules = analysis.company.rules
    n_bars = int((rules[["n_rounds", "n_rival_rounds"]] > 0).to_numpy().sum())
    figure, (ax,) = sheet(1, 1.2 + 0.62 * n_bars)
    plot_round_parts(rules, ax)
    legend_below(figure, [ax])
    return figure


def _stretches(trials: pd.DataFrame) -> FloatArray:
    """Return the edges of about 12 stretches of at least 10 trials.

    Where the blocks of all participants lie in the same places, each is cut into equal parts, so
    that no stretch spans two blocks; otherwise the whole session is.
    """
    index = trials["trial_index"].astype("int64")
    start, end = int(index.min()), int(index.max()) + 1
    bounds = index.groupby(trials["block_index"]).agg(["min", "max"])
    firsts, lasts = bounds["min"].to_numpy(), bounds["max"].to_numpy()
    blocks = [start, end]
    if bool((firsts[1:] > lasts[:-1]).all()):
        blocks = [*(int(first) for first in firsts), end]
    parts = max(1, round(_N_STRETCHES / (len(blocks) - 1)))
    edges = [start]
    for first, following in pairwise(blocks):
        n = int(np.clip((following - first) // _MIN_STRETCH, 1, parts))
        edges += [first + round((following - first) * k / n) for k in range(1, n + 1)]
    return np.array(edges, dtype=np.float64)
