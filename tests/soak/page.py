"""Writes what the long sessions came to into docs/soak.md, with a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from tests.soak.judging import Floats, Judgement

__all__ = ["Played", "write_page"]

_START, _END = "<!-- figures: begin -->", "<!-- figures: end -->"
_MIB = 2**20


@dataclass(frozen=True)
class Played:
    """A long session: what it is called, what came out, and its series over time."""

    name: str
    judgement: Judgement
    series: Mapping[str, Floats]
    memory: Floats


def write_page(page: Path, picture: Path, machine: Mapping[str, str], played: list[Played]) -> None:
    """Put machine, table and plot between the page's two marks; the text round them stays."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(_START)
    after = rest.split(_END)[1]
    _plot(picture, played)
    lines = ["| | " + " | ".join(p.name for p in played) + " |", "|---" * (len(played) + 1) + "|"]
    columns = [_cells(p.judgement) for p in played]
    for row in columns[0]:
        lines.append(f"| {row} | " + " | ".join(cells[row] for cells in columns) + " |")
    facts = "; ".join(f"{name} {value}" for name, value in machine.items())
    link = picture.relative_to(page.parent)
    body = [f"Machine: {facts}.", "", *lines, "", f"![Errors and memory over time]({link})"]
    page.write_text(
        before + _START + "\n" + "\n".join(body) + "\n" + _END + after, encoding="utf-8"
    )


def _cells(found: Judgement) -> dict[str, str]:
    return {
        "lasted": f"{found.duration_s / 60:.1f} min",
        "trials": f"{found.n_trials:,}",
        "key events sent": f"{found.n_injected:,}",
        "in the log": f"{found.n_logged:,}",
        "lost; invented; in another trial": (
            f"{found.n_lost}; {found.n_invented}; {found.n_misattributed}"
        ),
        "logged minus robot's RT: mean, SD": (
            f"{1000 * found.rt_error_mean_s:+.2f} ms, {1000 * found.rt_error_sd_s:.2f} ms"
        ),
        "flip clock against the robot's": found.flips.in_words(),
        "key clock against the robot's": found.keys.in_words(),
        "key clock against flip clock": found.keys_against_flips.in_words(),
        "memory after the first quarter": f"{found.memory_start_bytes / _MIB:.1f} MiB",
        "growth from then to the end": f"{found.memory_growth_bytes / _MIB:+.2f} MiB",
    }


def _plot(picture: Path, played: list[Played]) -> None:
    figure, axes = plt.subplots(
        2, len(played), figsize=(5.2 * len(played), 5.2), squeeze=False, layout="constrained"
    )
    for column, session in zip(axes.T, played, strict=True):
        errors_ms = 1000 * session.series["rt_error_s"]
        column[0].plot(session.series["at_s"] / 60, errors_ms, ".", ms=2.5, color="#3b6ea5")
        column[0].axhline(float(np.median(errors_ms)), color="#555555", lw=0.8)
        column[0].set(title=session.name, ylabel="logged minus robot's RT (ms)")
        at_s, size = session.memory.T
        column[1].plot(at_s / 60, size / _MIB, color="#a5533b")
        column[1].set(xlabel="minutes", ylabel="resident memory (MiB)", ylim=(0, None))
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)
    plt.close(figure)
