"""The plot of the RT errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.bench.peers import OURS, PEERS
from tests.bench.scoring import Summary

__all__ = ["draw_errors"]

_OURS_COLOUR, _OTHER_COLOUR = "#1b6ca8", "#7a7a7a"
_JITTER = 0.22
# Most errors are below a millisecond, some are tens: the axis is linear in the middle only.
_LINEAR_MS = 2.0
_TICKS_MS = (-100, -50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100)


def draw_errors(
    summaries: Mapping[tuple[str, str], Summary], path: Path, *, loads: Mapping[str, str]
) -> None:
    """Draw every RT error as a dot over a box, a panel per load, a row per peer."""
    mpl.use("Agg")
    figure = Figure(figsize=(9.0, 7.2), layout="constrained")
    panels = figure.subplots(len(loads), 1, sharex=True)
    for ax, (load, words) in zip(panels, loads.items(), strict=True):
        _panel(ax, {n: s for (n, of), s in summaries.items() if of == load})
        ax.set_title(words, loc="left", fontsize=11)
    # Ticks beyond the errors would widen the axis.
    all_ms = [1000 * e for s in summaries.values() for e in s.errors_s] or [0.0]
    panels[0].set_xlim(min(-_LINEAR_MS, 1.2 * min(all_ms)), max(_LINEAR_MS, 1.2 * max(all_ms)))
    panels[-1].set_xlabel(f"logged minus true RT (ms; linear to ±{_LINEAR_MS:g}, then logarithmic)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def _panel(ax: Axes, summaries: Mapping[str, Summary]) -> None:
    rng = np.random.default_rng(0)
    for place, peer in enumerate(PEERS):
        summary = summaries.get(peer.name)
        if summary is None or not summary.errors_s:
            ax.text(0, place, "not run" if summary is None else "no answers", va="center")
            continue
        errors_ms = 1000 * np.array(summary.errors_s)
        colour = _OURS_COLOUR if peer.name == OURS else _OTHER_COLOUR
        heights = place + rng.uniform(-_JITTER, _JITTER, len(errors_ms))
        ax.plot(errors_ms, heights, "o", ms=3.5, alpha=0.5, color=colour, mew=0)
        ax.boxplot(
            errors_ms,
            positions=[place],
            orientation="horizontal",
            widths=0.62,
            whis=(2.5, 97.5),
            showfliers=False,
            medianprops={"color": "black", "linewidth": 1.5},
            boxprops={"linewidth": 0.8},
            whiskerprops={"linewidth": 0.8},
            capprops={"linewidth": 0.8},
        )
    ax.axvline(0, lw=0.8, color="black", zorder=0)
    ax.set_xscale("symlog", linthresh=_LINEAR_MS, linscale=1.2)
    ax.set_xticks(_TICKS_MS, [f"{tick:+d}" if tick else "0" for tick in _TICKS_MS], minor=False)
    ax.minorticks_off()
    ax.set_yticks(range(len(PEERS)), [peer.label for peer in PEERS])
    ax.set_ylim(len(PEERS) - 0.45, -0.55)
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
