"""The priority that a session asks for, and gives back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ghostblitz_task.apparatus import process_priority
from ghostblitz_task.apparatus.process_priority import ORDINARY, ProcessPriority

linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems leave it to PsychoPy"
)


def no_rush(_on: bool) -> bool:
    raise AssertionError("not asked on Linux")


class Refusing:
    """The system's calls, of which some are refused as they are to those who are not root."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refused: set[str]) -> None:
        self.calls: list[tuple[str, int]] = []
        policy, niceness = os.SCHED_OTHER, 0

        def setscheduler(_pid: int, wanted: int, _parameters: object) -> None:
            if "real-time" in refused and wanted & ~os.SCHED_RESET_ON_FORK != policy:
                raise PermissionError
            # The kernel lets only root take this flag back.
            if self.calls and not wanted & os.SCHED_RESET_ON_FORK:
                raise PermissionError
            self.calls.append(("scheduler", wanted))

        def setpriority(_which: int, _who: int, wanted: int) -> None:
            if "nice" in refused and wanted < niceness:
                raise PermissionError
            self.calls.append(("nice", wanted))

        monkeypatch.setattr(os, "sched_getscheduler", lambda _pid: policy)
        monkeypatch.setattr(os, "getpriority", lambda _which, _who: niceness)
        monkeypatch.setattr(os, "sched_setscheduler", setscheduler)
        monkeypatch.setattr(os, "setpriority", setpriority)


@linux_only
@pytest.mark.parametrize(
    ("refused", "held", "calls"),
    [
        (set(), "real-time (round robin)", [("scheduler", 0x40000002), ("scheduler", 0x40000000)]),
        ({"real-time"}, "nice -10", [("nice", -10), ("nice", 0)]),
        ({"real-time", "nice"}, ORDINARY, []),
    ],
)
def test_what_the_system_allows_is_said_and_given_back(
    monkeypatch: pytest.MonkeyPatch, refused: set[str], held: str, calls: list[tuple[str, int]]
) -> None:
    system = Refusing(monkeypatch, refused)
    priority = ProcessPriority(no_rush)
    assert priority.held == held
    priority.restore()
    priority.restore()
    assert system.calls == calls


@pytest.mark.slow
@linux_only
def test_threads_of_a_real_time_session_are_ordinary() -> None:
    """Else a thread that draws could keep the display's own server waiting."""
    code = """
import os, threading
from ghostblitz_task.apparatus.process_priority import ProcessPriority
priority = ProcessPriority(lambda _on: False)
policies = []
thread = threading.Thread(target=lambda: policies.append(os.sched_getscheduler(0)))
thread.start(); thread.join()
priority.restore()
after = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
print(priority.held == "real-time (round robin)", policies[0], after)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    is_real_time, of_thread, afterwards = done.stdout.split()
    assert (of_thread, afterwards) == (str(os.SCHED_OTHER), str(os.SCHED_OTHER))
    assert is_real_time == str(os.geteuid() == 0)


@pytest.mark.parametrize(("allowed", "held"), [(True, "high"), (False, ORDINARY)])
def test_other_systems_are_asked_through_psychopy(
    monkeypatch: pytest.MonkeyPatch, allowed: bool, held: str
) -> None:
    monkeypatch.setattr(process_priority.sys, "platform", "win32")
    asked: list[bool] = []

    def rush(on: bool) -> bool:
        asked.append(on)
        return allowed

    priority = ProcessPriority(rush)
    assert priority.held == held
    priority.restore()
    assert asked == ([True, False] if allowed else [True])
