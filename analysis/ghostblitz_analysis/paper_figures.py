"""The figures of distributions, sequence effects, reliability, contrasts and models.

Each is None where the data give nothing to draw, so that no panel stays empty.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ghostblitz_analysis.distribution_plots import (
    plot_conditional_accuracy,
    plot_delta,
    plot_ex_gaussian,
    plot_quantiles,
    plot_speed_accuracy,
    set_accuracy_axis,
)
from ghostblitz_analysis.figure_layout import (
    WIDTH_IN,
    grid_sheet,
    label_edges,
    legend_below,
    panels,
    sheet,
    title_panel,
)
from ghostblitz_analysis.forest_plots import Comparison, estimate_limits
from ghostblitz_analysis.measures import order_cells
from ghostblitz_analysis.model_plots import (
    contrast_rows,
    fixed_effect_rows,
    kinds_with_chance,
    plot_contrasts,
    plot_errors_by_chance,
    plot_fixed_effects,
)
from ghostblitz_analysis.plot_axes import set_seconds_axis
from ghostblitz_analysis.plots import rules_of
from ghostblitz_analysis.reliability_plots import NAME_WIDTH, plot_reliability, score_names
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.sequence_plots import (
    effect_rows,
    plot_errors_over_session,
    plot_sequence_effects,
)
from ghostblitz_analysis.wording import level_name

__all__ = ["MAKERS"]

_PARAMETERS = ("mu_s", "sigma_s", "tau_s")
_MEASURE_NAMES = {
    "mean_log_rt": "Mean log RT",
    "mean_rt_s": "Mean RT",
    "median_rt_s": "Median RT",
    "p_correct": "Accuracy",
}
_CONTRAST_AXES = {
    "mean_log_rt": "Ratio of geometric\nmean RTs (log scale)",
    "mean_rt_s": "Difference of\nmean RTs (s)",
    "median_rt_s": "Difference of\nmedian RTs (s)",
    "p_correct": "Difference of accuracy\n(percentage points)",
}
_OUTCOME_AXES = {
    "log_rt": "RT ratio\n(log scale)",
    "inverse_rt": "Difference of −1/RT\n(1/s)",
    "error": "Odds ratio of an error\n(log scale)",
}
#: A printed page without margins and caption; rows of one line of letters.
_PAGE_IN, _LEAST_ROW_IN = 8.8, 0.17
_RT_AXIS = "Mean RT (s, log scale)"


# --- distributions --------------------------------------------------------------------------


def _rt_quantiles(analysis: Analysis) -> Figure | None:
    if analysis.distributions is None:
        return None
    table = analysis.distributions.group_quantiles
    found = _with_values(table, analysis.factors, "quantile_s")
    if not found:
        return None
    figure, axes = grid_sheet(len(found), row_in=2.3)
    views = []
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_quantiles(rows, ax)
        views.append(ax.get_xlim())
        title_panel(ax, name)
    _join_seconds(axes, views)
    label_edges(axes, "RT (s, log scale)")
    legend_below(figure, axes)
    return figure


def _rt_delta(analysis: Analysis) -> Figure | None:
    if analysis.distributions is None:
        return None
    people = analysis.distributions.participant_delta
    group = analysis.distributions.group_delta
    found = _with_values(group, analysis.factors, "difference_s")
    if not found:
        return None
    own = dict(panels(people, analysis.factors))
    figure, axes = grid_sheet(len(found), row_in=2.3)
    limits = []
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_delta(own[name], rows, ax)
        limits.append((*ax.get_xlim(), *ax.get_ylim()))
        title_panel(ax, name)
    lows_x, highs_x, lows_y, highs_y = zip(*limits, strict=True)
    axes[0].set(xlim=(min(lows_x), max(highs_x)), ylim=(min(lows_y), max(highs_y)))
    label_edges(axes, "Mean of both rules' quantiles (s)")
    legend_below(figure, axes)
    return figure


def _rt_caf(analysis: Analysis) -> Figure | None:
    if analysis.distributions is None:
        return None
    found = _with_values(analysis.distributions.group_caf, analysis.factors, "p_correct")
    if not found:
        return None
    figure, axes = grid_sheet(len(found), row_in=2.2)
    starts, views = [], []
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_conditional_accuracy(rows, ax)
        starts.append(ax.get_ylim()[0])
        views.append(ax.get_xlim())
        title_panel(ax, name)
    _join_accuracy(axes, starts)
    _join_seconds(axes, views)
    label_edges(axes, "Mean RT of the bin (s, log scale)")
    legend_below(figure, axes)
    return figure


def _ex_gaussian(analysis: Analysis) -> Figure | None:
    if analysis.distributions is None:
        return None
    people = analysis.distributions.participant_ex_gaussian
    groups = analysis.distributions.group_ex_gaussian
    fitted = groups.groupby(list(analysis.factors), sort=False, observed=True)["mean"].transform(
        lambda mean: bool(mean.notna().any())
    )
    groups = groups[fitted.astype(bool)]
    if groups.empty:
        return None
    n_rows = int((groups["measure"] == _PARAMETERS[0]).sum())
    figure = Figure(figsize=(WIDTH_IN, _height_in(0.8, 0.42, n_rows)), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for ax, parameter in zip(axes, _PARAMETERS, strict=True):
        plot_ex_gaussian(people, groups, ax, parameter=parameter)
    return figure


def _speed_accuracy(analysis: Analysis) -> Figure | None:
    if analysis.speed_accuracy is None:
        return None
    table = analysis.speed_accuracy.participant_cells
    found = [(name, rows) for name, rows in panels(table, analysis.factors) if _has_both(rows)]
    if not found:
        return None
    figure, axes = grid_sheet(len(found), row_in=2.3)
    starts, views = [], []
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_speed_accuracy(rows, ax)
        starts.append(ax.get_ylim()[0])
        views.append(ax.get_xlim())
        title_panel(ax, name)
    _join_accuracy(axes, starts)
    _join_seconds(axes, views)
    label_edges(axes, _RT_AXIS)
    legend_below(figure, axes)
    return figure


def _has_both(cells: pd.DataFrame) -> bool:
    """Say whether anybody has RTs of direct and of another rule."""
    known = cells[cells["mean_rt_s"].notna() & cells["p_correct"].notna()]
    direct = set(known.loc[known["rule"] == "direct", "participant_id"])
    return bool(direct & set(known.loc[known["rule"] != "direct", "participant_id"]))


# --- sequences and practice -----------------------------------------------------------------


def _errors_over_session(analysis: Analysis) -> Figure | None:
    if analysis.sequences is None:
        return None
    people = analysis.sequences.participant_stretches
    found = _with_values(analysis.sequences.stretches, analysis.factors, "p_correct")
    if not found:
        return None
    own = dict(panels(people, analysis.factors))
    figure, axes = grid_sheet(len(found), row_in=1.9)
    tops = []
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_errors_over_session(own[name], rows, ax)
        tops.append(ax.get_ylim()[1])
        title_panel(ax, name)
    axes[0].set_ylim(0, max(tops))
    last = int(analysis.sequences.stretches["stretch"].max())
    axes[0].set_xlim(0.4, max(last, 2) + 0.6)
    label_edges(axes, "Tenth of the session")
    legend_below(figure, axes)
    return figure


def _sequence_effects(analysis: Analysis) -> Figure | None:
    """Draw a row of panels per mode: RT ratios at the left, differences of errors at the right."""
    if analysis.sequences is None:
        return None
    table = analysis.sequences.effects
    kinds: tuple[tuple[str, Comparison], ...] = (("rt", "ratio"), ("errors", "difference"))
    rows = {of: effect_rows(table, of=of) for of, _ in kinds}
    shown = pd.concat(list(rows.values()))
    if shown.empty:
        return None
    order = list(table["effect"].drop_duplicates())
    modes = _modes(shown)
    effects = {
        mode: [e for e in order if e in set(_of_mode(shown, mode)["effect"])] for mode in modes
    }
    known = shown[shown["rule"].notna()]
    rules = {mode: _rules_or_none(_of_mode(known, mode)) for mode in modes}
    heights = [len(effects[mode]) for mode in modes]
    # Names take up to two lines.
    each_in = max(0.32, 0.15 + 0.06 * (max(len(names) for names in rules.values()) + 1))
    height_in = _height_in(1.1 + 0.3 * len(modes), each_in, sum(heights))
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(
        len(modes), 2, sharex="col", sharey="row", squeeze=False, height_ratios=heights
    )
    for column, (of, on) in enumerate(kinds):
        limits = estimate_limits(rows[of], on=on)
        for mode, ax in zip(modes, axes[:, column], strict=True):
            plot_sequence_effects(
                _of_mode(rows[of], mode), ax, of=of, effects=effects[mode],
                rules=rules[mode],
                limits=limits,
            )  # fmt: skip
    for mode, ax in zip(modes, axes[:, 0], strict=True):
        title_panel(ax, level_name("mode", mode) if mode else "")
    axes[-1, 0].set_xlabel("RT ratio\n(log scale)")
    axes[-1, 1].set_xlabel("Difference of errors\n(percentage points)")
    legend_below(figure, list(axes.ravel()))
    return figure


# --- reliability ----------------------------------------------------------------------------


def _reliability(analysis: Analysis) -> Figure | None:
    """Draw a column per measure; their rows are the same scores."""
    if analysis.reliability is None:
        return None
    table = analysis.reliability.split_half
    table = table[table["r"].notna()]
    if table.empty:
        return None
    keys = [c for c in ("kind", "score", "rule", "block_kind", "mode") if c in table.columns]
    scores = table[keys].drop_duplicates().reset_index(drop=True)
    measures = list(table["measure"].drop_duplicates())
    # Rows are as far apart as the longest name needs lines.
    n_lines = max(-(-len(name) // NAME_WIDTH) for name in score_names(scores))
    row_in = 0.25 if n_lines == 1 else 0.16 * n_lines
    least_in = _LEAST_ROW_IN if n_lines == 1 else 0.16 * n_lines
    height_in = _height_in(1.1, row_in, len(scores), least_in=least_in)
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    for ax, measure in zip(axes, measures, strict=True):
        own = table[table["measure"] == measure]
        plot_reliability(scores.merge(own, how="left", on=keys), ax)
        title_panel(ax, _MEASURE_NAMES.get(measure, measure.replace("_", " ")))
    axes[len(axes) // 2].set_xlabel("Split-half reliability (Spearman-Brown)")
    legend_below(figure, list(axes))
    return figure


# --- contrasts and models -------------------------------------------------------------------


def _planned_contrasts(analysis: Analysis) -> Figure | None:
    """Draw a column per measure; where log RT was tested, mean RT would say the same again."""
    if analysis.inference is None or analysis.inference.planned_contrasts.empty:
        return None
    table = analysis.inference.planned_contrasts
    measures = list(table["measure"].drop_duplicates())
    if "mean_log_rt" in measures and "mean_rt_s" in measures:
        measures.remove("mean_rt_s")
    found = {measure: contrast_rows(table, measure=measure) for measure in measures}
    keys = ["name", "mode"]
    tested = pd.concat([rows.loc[rows["estimate"].notna(), keys] for rows in found.values()])
    if tested.empty:
        return None
    every = table[keys].drop_duplicates().merge(tested.drop_duplicates(), on=keys)
    labels = [
        str(name if pd.isna(mode) else f"{name}, {mode}").replace(" - ", " − ")
        for name, mode in zip(every["name"], every["mode"], strict=True)
    ]
    found = {measure: every.merge(rows, how="left", on=keys) for measure, rows in found.items()}
    found = {measure: rows for measure, rows in found.items() if rows["estimate"].notna().any()}
    figure = Figure(figsize=(WIDTH_IN, _height_in(1.2, 0.36, len(labels))), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for ax, (measure, rows) in zip(axes, found.items(), strict=True):
        plot_contrasts(rows, ax, measure=measure, labels=labels)
        title_panel(ax, _MEASURE_NAMES.get(measure, measure.replace("_", " ")))
        ax.set_xlabel(_CONTRAST_AXES.get(measure, "Difference"))
    return figure


def _model_effects(analysis: Analysis) -> Figure | None:
    """Draw a column for RTs and one for errors, and a row of panels per mode."""
    if analysis.regression is None:
        return None
    table = analysis.regression.fixed_effects
    found = {outcome: fixed_effect_rows(table, outcome=outcome) for outcome in _OUTCOME_AXES}
    if len(found["log_rt"]):
        # The same message on another scale.
        found.pop("inverse_rt")
    found = {outcome: rows[rows["estimate"].notna()] for outcome, rows in found.items()}
    found = {outcome: rows for outcome, rows in found.items() if len(rows)}
    if not found:
        return None
    every = pd.concat(list(found.values()))
    modes = _modes(every)
    terms = {mode: list(_of_mode(every, mode)["words"].drop_duplicates()) for mode in modes}
    heights = [len(terms[mode]) for mode in modes]
    figure = Figure(
        figsize=(WIDTH_IN, _height_in(0.8 + 0.35 * len(modes), 0.45, sum(heights))),
        layout="constrained",
    )
    axes = figure.subplots(
        len(modes), len(found), sharex="col", sharey="row", squeeze=False, height_ratios=heights
    )
    for column, (outcome, rows) in enumerate(found.items()):
        on: Comparison = "difference" if outcome == "inverse_rt" else "ratio"
        limits = estimate_limits(rows, on=on)
        for mode, ax in zip(modes, axes[:, column], strict=True):
            own = _of_mode(rows, mode)
            plot_fixed_effects(own, ax, outcome=outcome, terms=terms[mode], limits=limits)
        axes[-1, column].set_xlabel(_OUTCOME_AXES[outcome])
    for mode, ax in zip(modes, axes[:, 0], strict=True):
        title_panel(ax, level_name("mode", mode) if mode else "")
    return figure


def _errors_by_chance(analysis: Analysis) -> Figure | None:
    table = analysis.error_groups
    known = kinds_with_chance(table)
    if known.empty:
        return None
    factors = tuple(f for f in ("rule", "mode") if f in table.columns)
    found = list(panels(known, factors))
    heights = [len(rows) for _, rows in found]
    figure, axes = sheet(
        len(found), 1.0 + 0.35 * len(found) + 0.27 * sum(heights), share_x=True, heights=heights
    )
    for ax, (name, rows) in zip(axes, found, strict=True):
        plot_errors_by_chance(rows, ax)
        title_panel(ax, name)
    axes[-1].set_xlabel("Answers with a wrong item (%)")
    legend_below(figure, axes)
    return figure


# --- panels ---------------------------------------------------------------------------------


def _with_values(
    table: pd.DataFrame, factors: tuple[str, ...], column: str
) -> list[tuple[str, pd.DataFrame]]:
    """Return the panels of a table in which there is any value."""
    if table.empty:
        return []
    return [(name, rows) for name, rows in panels(table, factors) if rows[column].notna().any()]


def _rules_or_none(rows: pd.DataFrame) -> list[str]:
    return rules_of(rows) if len(rows) else []


def _height_in(
    fixed_in: float, row_in: float, n_rows: int, *, least_in: float = _LEAST_ROW_IN
) -> float:
    """Return the height of a figure of rows: that of a page at most, unless letters would touch."""
    wanted = fixed_in + row_in * n_rows
    return min(wanted, max(_PAGE_IN, fixed_in + least_in * n_rows))


def _modes(rows: pd.DataFrame) -> list[str]:
    """Return the modes in order; one empty name where the data have one mode only."""
    if "mode" not in rows.columns or rows["mode"].isna().all():
        return [""]
    found = order_cells(rows[["mode"]].dropna().drop_duplicates(), factors=("mode",))
    return [str(mode) for mode in found["mode"]]


def _of_mode(rows: pd.DataFrame, mode: str) -> pd.DataFrame:
    return rows[(rows["mode"] == mode).fillna(False)] if mode else rows


def _join_seconds(axes: list[Axes], views: list[tuple[float, float]]) -> None:
    """Give panels that share a log axis of seconds the limits of all of them."""
    set_seconds_axis(axes[0], "x", (min(low for low, _ in views), max(high for _, high in views)))


def _join_accuracy(axes: list[Axes], starts: list[float]) -> None:
    set_accuracy_axis(axes[0], min(starts))


MAKERS = {
    "planned_contrasts": _planned_contrasts,
    "rt_quantiles": _rt_quantiles,
    "rt_delta": _rt_delta,
    "rt_caf": _rt_caf,
    "ex_gaussian": _ex_gaussian,
    "errors_by_chance": _errors_by_chance,
    "speed_accuracy": _speed_accuracy,
    "sequence_effects": _sequence_effects,
    "errors_over_session": _errors_over_session,
    "reliability": _reliability,
    "model_effects": _model_effects,
}
