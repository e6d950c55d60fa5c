"""Hold the robot's own times and counts against the log of the session it played."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ghostblitz_task.trial_log import RunLog

__all__ = ["Comparison", "compare", "logged_events"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the robot did against what the log holds.

    Attributes
    ----------
    n_injected, n_logged : int
        Presses and releases.
    n_lost, n_invented : int
        Events of a key and kind that only one of the two has.
    n_misattributed : int
        Trials whose RT is more than half a second from the robot's: another trial's press.
    rt_error_s : tuple of float
        Logged minus the robot's own RT, for each trial answered after its card appeared.
    """

    n_injected: int
    n_logged: int
    n_lost: int
    n_invented: int
    n_misattributed: int
    rt_error_s: tuple[float, ...]

    def in_words(self) -> str:
        """Return the comparison in one line."""
        if not self.rt_error_s:
            return f"robot: {self.n_injected} key events sent, {self.n_logged} logged; no RT"
        errors_ms = 1000 * np.array(self.rt_error_s)
        spread_ms = float(errors_ms.std(ddof=1)) if len(errors_ms) > 1 else 0.0
        return (
            f"robot: {self.n_injected} key events sent, {self.n_logged} logged, "
            f"{self.n_lost} lost; logged RT minus its own: mean {errors_ms.mean():+.1f} ms, "
            f"SD {spread_ms:.1f} ms (n = {len(errors_ms)})"
        )


# A press of this trial cannot be further off, whatever the display's lag.
_SAME_PRESS_S = 0.5


def compare(robot_log: Path, run: RunLog) -> Comparison:
    """Compare a robot's log with the run that it played.

    Trials in which the robot pressed nothing before the deadline have no RT in either.
    """
    lines = robot_log.read_text(encoding="utf-8").splitlines()
    did = [json.loads(line) for line in lines]
    injected = Counter((r["what"], r["key"]) for r in did if r["what"] in {"press", "release"})
    logged = Counter((e["kind"], e["key"]) for e in logged_events(run))
    own_rts_s = dict(_own_rts(did))
    rts_s = [(trial["trial_index"], _first_rt_s(trial)) for trial in run.of_type("trial")]
    errors = [
        rt_s - own_rts_s[trial_index]
        for trial_index, rt_s in rts_s
        # A press before the card has no time since the robot saw the card.
        if rt_s is not None and rt_s >= 0 and trial_index in own_rts_s
    ]
    return Comparison(
        n_injected=injected.total(),
        n_logged=logged.total(),
        n_lost=(injected - logged).total(),
        n_invented=(logged - injected).total(),
        n_misattributed=sum(abs(error) > _SAME_PRESS_S for error in errors),
        rt_error_s=tuple(errors),
    )


def _first_rt_s(trial: Mapping[str, Any]) -> float | None:
    """Return the RT of a trial, of the first to answer where there are several players."""
    rts_s = [score["rt_s"] for score in trial.get("players", [trial])]
    return min((rt_s for rt_s in rts_s if rt_s is not None), default=None)


def logged_events(run: RunLog) -> Iterator[Mapping[str, Any]]:
    """Return every device event of a run, in whatever record it stands."""
    for record in run.records:
        yield from record.get("events", ())


def _own_rts(did: list[dict[str, Any]]) -> Iterator[tuple[int, float]]:
    """Return, for each card, the robot's first press after it saw it, until the next card."""
    trial_index: int | None = None
    onset_s = 0.0
    for record in did:
        if record["what"] == "card":
            trial_index, onset_s = record["trial_index"], record["t_s"]
        elif record["what"] == "saw" and record["sight"] != "card":
            trial_index = None
        elif record["what"] == "press" and trial_index is not None:
            yield trial_index, record["t_s"] - onset_s
            trial_index = None
