"""Ask the system to run the session before other programs, as far as it allows that."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

__all__ = ["ORDINARY", "ProcessPriority"]

ORDINARY = "ordinary"
# What a lab's limits usually allow to members of a group: the lowest real-time priority; or less
# niceness than any desktop program has.
_REAL_TIME_PRIORITY, _NICENESS = 1, -10


class ProcessPriority:
    """The priority of this thread (on Windows and macOS of the process), raised until `restore`.

    Parameters
    ----------
    rush : callable
        PsychoPy's way, for Windows and macOS; returns whether the system allowed it.

    Attributes
    ----------
    held : str
        What the system allowed: ``real-time (round robin)``, ``nice -10``, ``high``, or
        ``ordinary``.

    Notes
    -----
    Under Linux what a real-time thread starts keeps the ordinary priority, so that no thread that
    draws can keep the display's own server waiting.
    """

    def __init__(self, rush: Callable[[bool], object]) -> None:
        self.held = ORDINARY
        self._undo: list[Callable[[], object]] = []
        if sys.platform == "linux":
            self._raise_linux()
        elif rush(True):
            self.held = "high"
            self._undo.append(lambda: rush(False))

    def _raise_linux(self) -> None:
        policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
        niceness = os.getpriority(os.PRIO_PROCESS, 0)
        try:
            wanted = os.SCHED_RR | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(0, wanted, os.sched_param(_REAL_TIME_PRIORITY))
        except OSError:
            pass
        else:
            self.held = "real-time (round robin)"
            # Only root may take the flag back; children of an ordinary thread are ordinary anyway.
            before = policy | os.SCHED_RESET_ON_FORK
            self._undo.append(lambda: os.sched_setscheduler(0, before, parameters))
            return
        try:
            os.setpriority(os.PRIO_PROCESS, 0, min(niceness, _NICENESS))
        except OSError:
            return
        self.held = f"nice {min(niceness, _NICENESS)}"
        self._undo.append(lambda: os.setpriority(os.PRIO_PROCESS, 0, niceness))

    def restore(self) -> None:
        """Go back to the priority from before, where the system lets us."""
        while self._undo:
            with contextlib.suppress(OSError):
                self._undo.pop()()
