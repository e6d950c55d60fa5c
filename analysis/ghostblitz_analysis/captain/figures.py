"""The figures of the captain's report; each says on its face whose data they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ghostblitz_analysis.captain.measures import BINS, CaptainMeasures
from ghostblitz_analysis.plot_axes import (
    INK,
    SMALL_PT,
    SOFT,
    TEXT_PT,
    data_limits,
    floats,
    plain,
    set_seconds_axis,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import source_note

__all__ = ["build_captain_figures"]

_NOTE_COLOUR = "#B00020"
_WIDTH_IN = 6.4
#: Okabe & Ito (2008), told apart under colour-vision deficiency.
_MODE_COLOURS = {"static": "#0072B2", "moving": "#D55E00"}
_CHANCE = "#555555"
#: Where the numbers of turns stand, below the whiskers, in per cent.
_COUNTS_AT = -7.0
_AXES = {"lag": "Turns since it was seen", "distance": "Way since then (deck sides)"}


def build_captain_figures(measures: CaptainMeasures, sources: tuple[str, ...]) -> dict[str, Figure]:
    """Draw every figure.

    Returns
    -------
    dict of str to Figure
        ``hits``; ``hits_by_lag`` and ``hits_by_distance`` where there are such turns; ``pick_rt``.
    """
    made: dict[str, Figure | None] = {
        "hits": _hits(measures),
        "hits_by_lag": _by(measures, "lag"),
        "hits_by_distance": _by(measures, "distance"),
        "pick_rt": _pick_rt(measures),
    }
    figures = {name: figure for name, figure in made.items() if figure is not None}
    note = source_note(sources)
    for figure in figures.values():
        if note:
            figure.suptitle(note, color=_NOTE_COLOUR, fontsize=TEXT_PT, weight="bold")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figures


def _figure(n_panels: int, height_in: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(_WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(1, n_panels, sharey=True, squeeze=False)
    return figure, list(axes[0])


def _modes(table: pd.DataFrame) -> list[str]:
    return [mode for mode in _MODE_COLOURS if mode in set(table["mode"])]


def _percent_axis(ax: Axes, *, low: float = -3.0) -> None:
    ax.set_ylim(low, 103)
    ax.set_yticks(range(0, 101, 20))
    plain(ax)


def _hits(measures: CaptainMeasures) -> Figure | None:
    modes = _modes(measures.hits)
    if not modes:
        return None
    figure, axes = _figure(len(modes), 3.7)
    places = {"known": 0, "unknown": 1}
    for ax, mode in zip(axes, modes, strict=True):
        people = measures.participant_hits
        people = people[(people["mode"] == mode) & (people["n_turns"] > 0)]
        wide = people.pivot_table(index="player_id", columns="colour", values="p_hit")
        faint = float(np.clip(4 / max(len(wide), 1), 0.25, 0.8))
        for colour, place in places.items():
            if colour in wide:
                ax.plot(
                    np.full(len(wide), place), 100 * wide[colour], "o", ms=4, mew=0, alpha=0.5,
                    color=_MODE_COLOURS[mode], zorder=2,
                )  # fmt: skip
        if set(places) <= set(wide.columns):
            for pair in wide[list(places)].to_numpy(dtype=float):
                ax.plot([0, 1], 100 * pair, color=SOFT, lw=0.7, alpha=faint)
        for row in rows_of(measures.hits[measures.hits["mode"] == mode]):
            place = places[row["colour"]]
            _diamond(
                ax, place, row["p_hit"], row["p_hit_low"], row["p_hit_high"], _MODE_COLOURS[mode]
            )
            _chance(ax, place, row["p_chance"], label="chance" if place == 0 else None)
        ax.set_xticks([0, 1], ["colour known", "not known"])
        ax.set_xlim(-0.5, 1.5)
        ax.set_title(mode, loc="left", fontsize=TEXT_PT, color=INK)
        _percent_axis(ax)
    axes[0].set_ylabel("Hits (% of turns)")
    _legend(figure, axes[-1])
    return figure


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles[:1], labels[:1], loc="outside lower right", frameon=False, fontsize=SMALL_PT
    )


def _diamond(
    ax: Axes, x: float, p: float | None, low: float | None, high: float | None, colour: str
) -> None:
    if p is None:
        return
    error = None
    if low is not None and high is not None:
        error = np.array([[100 * (p - low)], [100 * (high - p)]])
    ax.errorbar(
        x, 100 * p, yerr=error, fmt="D", ms=6, color=colour, mec="white", mew=1.2, ecolor=INK,
        elinewidth=1.6, capsize=5, capthick=1.6, zorder=4, barsabove=True,
    )  # fmt: skip


def _chance(ax: Axes, x: float, p: float | None, *, label: str | None = None) -> None:
    if p is None:
        return
    ax.plot([x - 0.28, x + 0.28], [100 * p] * 2, ls=(0, (3, 2)), lw=1.6, color=_CHANCE,
            label=label, zorder=3)  # fmt: skip


def _by(measures: CaptainMeasures, by: str) -> Figure | None:
    """Draw hits given known over lags or distances, a panel per mode, with chance."""
    table = measures.bins[measures.bins["by"] == by]
    modes = _modes(table)
    if not modes:
        return None
    labels = [label for label, _, _ in BINS[by] if label in set(table["bin"])]
    figure, axes = _figure(len(modes), 3.7)
    for ax, mode in zip(axes, modes, strict=True):
        people = measures.participant_bins
        people = people[(people["by"] == by) & (people["mode"] == mode)]
        faint = float(np.clip(4 / max(people["player_id"].nunique(), 1), 0.2, 0.7))
        for _, own in people.groupby("player_id", sort=False):
            order = own.assign(place=[labels.index(b) for b in own["bin"]]).sort_values("place")
            ax.plot(order["place"], 100 * floats(order["p_hit"]), color=SOFT, lw=0.7, alpha=faint)
        group = table[table["mode"] == mode]
        places = [labels.index(b) for b in group["bin"]]
        ax.plot(places, 100 * floats(group["p_hit"]), "-", lw=1.6, color=_MODE_COLOURS[mode])
        for place, row in zip(places, rows_of(group), strict=True):
            _diamond(
                ax, place, row["p_hit"], row["p_hit_low"], row["p_hit_high"], _MODE_COLOURS[mode]
            )
            _chance(ax, place, row["p_chance"], label="chance" if place == places[0] else None)
            ax.annotate(f"{row['n_turns']}", (place, _COUNTS_AT), ha="center", va="center",
                        fontsize=SMALL_PT - 1.5, color=SOFT)  # fmt: skip
        ax.set_xticks(range(len(labels)), labels)
        ax.set_xlim(-0.5, len(labels) - 0.5)
        ax.set_title(mode, loc="left", fontsize=TEXT_PT, color=INK)
        _percent_axis(ax, low=2 * _COUNTS_AT)
    axes[0].set_ylabel("Hits given known (% of turns)")
    _legend(figure, axes[-1])
    figure.supxlabel(_AXES[by], fontsize=TEXT_PT, color=INK)
    return figure


def _pick_rt(measures: CaptainMeasures) -> Figure | None:
    picks = measures.rts[(measures.rts["rt"] == "pick") & (measures.rts["n_rt"] > 0)]
    modes = _modes(picks)
    if not modes:
        return None
    parts = ["known", "unknown", "hit", "miss"]
    figure, axes = _figure(len(modes), 3.7)
    for ax, mode in zip(axes, modes, strict=True):
        people = measures.participant_rts
        people = people[(people["mode"] == mode) & (people["rt"] == "pick") & (people["n_rt"] > 0)]
        for _, own in people.groupby("player_id", sort=False):
            rt_s = own.set_index("turns")["geometric_mean_rt_s"].reindex(parts)
            for pair in (parts[:2], parts[2:]):
                x = [parts.index(part) for part in pair]
                ax.plot(x, rt_s[pair], "o-", ms=3.5, mew=0, lw=0.7, color=SOFT, alpha=0.4)
        for row in rows_of(picks[picks["mode"] == mode]):
            has = row["rt_low_s"] is not None
            mean, error = row["geometric_mean_rt_s"], None
            if has:
                error = [[mean - row["rt_low_s"]], [row["rt_high_s"] - mean]]
            ax.errorbar(
                parts.index(row["turns"]), mean, yerr=error,
                fmt="D", ms=6, color=_MODE_COLOURS[mode], mec="white", mew=1.2, ecolor=INK,
                elinewidth=1.6, capsize=5, capthick=1.6, zorder=4, barsabove=True,
            )  # fmt: skip
        ax.set_xticks(range(4), ["known", "not\nknown", "known,\nhit", "known,\nmiss"])
        ax.set_xlim(-0.5, 3.5)
        ax.set_title(mode, loc="left", fontsize=TEXT_PT, color=INK)
        plain(ax)
    low, high = zip(*(data_limits(ax) for ax in axes), strict=True)
    set_seconds_axis(axes[0], "y", (min(low), max(high)))
    axes[0].set_ylabel("Pick RT (s, log scale)")
    return figure
