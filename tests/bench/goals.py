"""The goals that were set for our task's timing, and whether a run met them; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tests.bench.peers import FLOOR, MINIMAL, MINIMAL_60, OURS
from tests.bench.scoring import Summary, ratio_interval

__all__ = ["Row", "goal_rows"]

_MOST_OF_MINIMAL = 0.9
# "Close to the floor" was left open; this is how it is read here.
_MOST_OF_FLOOR = 1.5
_MINIMAL_NAMES = {MINIMAL: "minimal PsychoPy", MINIMAL_60: "minimal PsychoPy at 60 Hz"}


@dataclass(frozen=True, slots=True)
class Row:
    """One goal: what, beside which load, the figures, and whether met (None: not measured)."""

    goal: str
    load: str
    figures: str
    met: bool | None


def goal_rows(summaries: Mapping[tuple[str, str], Summary]) -> list[Row]:
    """Hold the figures of a run against each goal."""
    rows = [
        _compared(
            summaries, (name, "idle"), "idle", _MOST_OF_MINIMAL, f"SD at most 0.9 of {words}'s"
        )
        for name, words in _MINIMAL_NAMES.items()
    ]
    rows.append(
        _compared(
            summaries, (FLOOR, "idle"), "idle", _MOST_OF_FLOOR, "SD at most 1.5 times the floor's"
        )
    )
    rows += [_nothing_lost(summaries, load) for load in ("idle", "busy")]
    rows += [
        _compared(summaries, (name, "idle"), "busy", 1.0, f"SD at most {words}'s idle SD")
        for name, words in _MINIMAL_NAMES.items()
    ]
    return rows


def _compared(
    summaries: Mapping[tuple[str, str], Summary],
    to: tuple[str, str],
    load: str,
    most: float,
    goal: str,
) -> Row:
    words = "one core busy" if load == "busy" else "idle"
    ours, other = summaries.get((OURS, load)), summaries.get(to)
    if ours is None or other is None:
        return Row(goal, words, "–", None)
    ratio, low, high = ratio_interval(ours, other, rng=np.random.default_rng(0))
    if math.isnan(ratio):
        return Row(goal, words, "–", None)
    figures = (
        f"{1000 * ours.sd_s:.2f} ms to {1000 * other.sd_s:.2f} ms: {ratio:.2f} "
        f"[{low:.2f}, {high:.2f}]"
    )
    return Row(goal, words, figures, ratio <= most)


def _nothing_lost(summaries: Mapping[tuple[str, str], Summary], load: str) -> Row:
    words = "one core busy" if load == "busy" else "idle"
    ours = summaries.get((OURS, load))
    if ours is None or ours.n_sent == 0:
        return Row("no press lost, none misattributed", words, "–", None)
    figures = f"{ours.n_lost} lost, {ours.n_misattributed} misattributed of {ours.n_sent}"
    met = ours.n_lost == 0 and ours.n_misattributed == 0
    return Row("no press lost, none misattributed", words, figures, met)
