"""What a peer is told and what it gives back; only Python's own library, for any environment."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

# Between saying "ready" and the first trial, so that the robot is watching by then.
LEAD_IN_S = 0.5


class Block:
    """One block of trials, as the bench wrote it down for a peer.

    Attributes
    ----------
    window_px : list of int
        Width and height; the window's upper left corner is the screen's.
    patch_px : int
        Side of the square in the window's lower left corner.
    deadline_s, interval_s : float
        Time for the answer, and between a trial and the next one's foreperiod.
    keys : list of str
        The keys that answer.
    trials : list of dict
        `card` (a PNG file) and `foreperiod_s` of each.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.window_px: list[int] = told["window_px"]
        self.patch_px: int = told["patch_px"]
        self.deadline_s: float = told["deadline_s"]
        self.interval_s: float = told["interval_s"]
        self.keys: list[str] = told["keys"]
        self.trials: list[dict[str, Any]] = told["trials"]
        self._ready = Path(told["ready"])
        self._results = Path(told["results"])

    @property
    def patch_centre_px(self) -> tuple[float, float]:
        """Centre of the patch from the window's centre, to the right and up."""
        width_px, height_px = self.window_px
        return (self.patch_px - width_px) / 2, (self.patch_px - height_px) / 2

    def say_ready(self, *, lead_in_s: float = LEAD_IN_S) -> None:
        """Say that the patch is black on the screen and trials will follow."""
        self._ready.write_text("ready", encoding="utf-8")
        time.sleep(lead_in_s)

    def give_back(self, answers: list[tuple[str | None, float | None]], **about: Any) -> None:
        """Hand over key and RT of each trial, and what is to be known about the peer."""
        trials = [{"key": key, "rt_s": rt_s} for key, rt_s in answers]
        self._results.write_text(json.dumps({"trials": trials, "about": about}), encoding="utf-8")


def read_block() -> Block:
    """Read the block that the command line names."""
    return Block(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
