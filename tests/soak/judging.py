"""What a long session came to: growth of memory, drift of the clocks, lost events; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from ghostblitz_task.robot.comparing import compare, logged_events
from ghostblitz_task.trial_log import RunLog

__all__ = ["Drift", "Judgement", "drift", "judge", "memory_growth"]

Floats = npt.NDArray[np.float64]

# Rendering, caches and fonts settle within the first part of a session.
_SETTLING = 0.25


@dataclass(frozen=True, slots=True)
class Drift:
    """How fast a difference between two clocks changes: parts per million, with 95 % interval."""

    ppm: float
    low_ppm: float
    high_ppm: float

    def in_words(self) -> str:
        return f"{self.ppm:+.2f} ppm ({self.low_ppm:+.2f} to {self.high_ppm:+.2f})"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came out.

    Attributes
    ----------
    duration_s : float
        From the first card to the last.
    n_trials, n_injected, n_logged, n_lost, n_invented, n_misattributed : int
        Trials, and key events that the robot sent and the log holds.
    rt_error_mean_s, rt_error_sd_s : float
        Logged minus the robot's own RT.
    flips, keys, keys_against_flips : Drift
        Of the log's onsets, and of its key times, against the robot's clock; and of the RT error.
    memory_start_bytes, memory_growth_bytes : float
        Resident memory after settling, and its growth from then to the end, along a line.
    """

    duration_s: float
    n_trials: int
    n_injected: int
    n_logged: int
    n_lost: int
    n_invented: int
    n_misattributed: int
    rt_error_mean_s: float
    rt_error_sd_s: float
    flips: Drift
    keys: Drift
    keys_against_flips: Drift
    memory_start_bytes: float
    memory_growth_bytes: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def drift(at_s: Floats, difference_s: Floats) -> Drift:
    """Return the slope of a difference over time, by Theil and Sen, which outliers do not move."""
    slope, _, low, high = stats.theilslopes(difference_s, at_s, alpha=0.95)
    return Drift(1e6 * slope, 1e6 * low, 1e6 * high)


def memory_growth(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return resident bytes after settling, and by how much a robust line rises until the end."""
    at_s, size = np.array(samples, dtype=float).T
    settled = at_s >= at_s[0] + _SETTLING * (at_s[-1] - at_s[0])
    at_s, size = at_s[settled], size[settled]
    slope = stats.theilslopes(size, at_s)[0]
    return float(size[0]), float(slope * (at_s[-1] - at_s[0]))


def judge(
    run: RunLog, robot_log: Path, memory: Sequence[tuple[float, float]]
) -> tuple[Judgement, Mapping[str, Floats]]:
    """Hold log and robot's log against each other.

    Returns
    -------
    judgement : Judgement
        The figures.
    series : mapping of str to (n_trials,) arrays
        ``at_s``, ``rt_error_s``, ``flip_s``, ``key_s``: for each answered trial when its card came
        on the robot's clock, the RT error, and how far the log's clock is ahead of the robot's by
        flip and by key, less the median.
    """
    comparison = compare(robot_log, run)
    did = [json.loads(line) for line in robot_log.read_text(encoding="utf-8").splitlines()]
    series = _series(run, did)
    start, growth = memory_growth(memory)
    errors_s = series["rt_error_s"]
    at_s = series["at_s"]
    judgement = Judgement(
        duration_s=float(at_s[-1] - at_s[0]),
        n_trials=sum(1 for _ in run.of_type("trial")),
        n_injected=comparison.n_injected,
        n_logged=sum(1 for _ in logged_events(run)),
        n_lost=comparison.n_lost,
        n_invented=comparison.n_invented,
        n_misattributed=comparison.n_misattributed,
        rt_error_mean_s=float(errors_s.mean()),
        rt_error_sd_s=float(errors_s.std(ddof=1)),
        flips=drift(at_s, series["flip_s"]),
        keys=drift(at_s, series["key_s"]),
        keys_against_flips=drift(at_s, errors_s),
        memory_start_bytes=start,
        memory_growth_bytes=growth,
    )
    return judgement, series


def _series(run: RunLog, did: Sequence[Mapping[str, Any]]) -> dict[str, Floats]:
    seen: dict[int, float] = {}
    sent: dict[int, float] = {}
    trial_index: int | None = None
    for record in did:
        if record["what"] == "card":
            trial_index = record["trial_index"]
            seen[trial_index] = record["t_s"]
        elif record["what"] == "press" and trial_index is not None:
            sent.setdefault(trial_index, record["t_s"])
            trial_index = None
    rows = [
        (seen[i], trial["onset_s"] - seen[i], trial["onset_s"] + trial["rt_s"] - sent[i])
        for trial in run.of_type("trial")
        if (i := trial["trial_index"]) in sent and trial["rt_s"] is not None
    ]
    at_s, flip_s, key_s = np.array(rows, dtype=float).T
    return {
        "at_s": at_s - at_s[0],
        "rt_error_s": key_s - flip_s,
        "flip_s": flip_s - np.median(flip_s),
        "key_s": key_s - np.median(key_s),
    }
