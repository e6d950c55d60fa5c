"""The bench's robot: the project's way of seeing and its scripts, for windows of any program.

It differs from `ghostblitz_task.robot.playing` in three things: it is told where the patch is,
looks only once the peer says that it is ready, and takes a card that goes early as it comes, since
some peers end a trial by another trial's press.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import json
import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any, Literal

from Xlib import XK, X, display
from Xlib.ext import xtest

from ghostblitz_task.robot.script import Action, Tap
from ghostblitz_task.robot.watching import FileWatcher, Sight

# Between two looks, as the project's robot.
_LOOK_EVERY_S = 50e-6
_READY_EVERY_S = 0.02
_READY_TIMEOUT_S = 90.0
_STILL_TIMEOUT_S = 20.0

Kind = Literal["press", "release"]


class Driver:
    """Watches the patch, and presses what the script says."""

    def __init__(self, watcher: FileWatcher, server: Any, actions: list[Action]) -> None:
        self._watcher = watcher
        self._server = server
        self._actions = deque(actions)
        self._due: list[tuple[float, int, Kind, str, int | None]] = []
        self._n_scheduled = 0
        self._down: set[str] = set()
        self.written: list[dict[str, Any]] = []
        keys = {tap.key for action in actions for tap in action.taps}
        self._codes = {k: server.keysym_to_keycode(XK.string_to_keysym(k)) for k in keys}

    def play(self) -> None:
        """Play until everything is done, or nothing has changed for long."""
        sight: Sight = "off"
        changed_s = time.monotonic()
        while self._actions or self._due:
            self._press_due(time.monotonic())
            seen = self._watcher.look()
            now_s = time.monotonic()
            if seen != sight:
                changed_s = now_s
                self._react(seen, now_s)
                sight = seen
            elif now_s - changed_s > _STILL_TIMEOUT_S:
                sys.exit(f"robot: nothing new for {_STILL_TIMEOUT_S:.0f} s; last seen: {sight}")
            time.sleep(_LOOK_EVERY_S)

    def let_go(self) -> None:
        """Release every key that is down."""
        for key in tuple(self._down):
            self._send("release", key, None)

    def _react(self, seen: Sight, now_s: float) -> None:
        self.written.append({"what": seen, "t_s": now_s})
        if seen == "off":
            return
        expected = "card" if seen == "card" else "waiting"
        if not self._actions or self._actions[0].at != expected:
            sys.exit(f"robot: saw {seen}, which the script does not expect here")
        action = self._actions.popleft()
        self.written[-1]["trial_index"] = action.trial_index
        for tap in action.taps:
            self._schedule(tap, now_s, action.trial_index)

    def _schedule(self, tap: Tap, from_s: float, trial_index: int | None) -> None:
        press_s = from_s + tap.delay_s
        for due_s, kind in ((press_s, "press"), (press_s + tap.hold_s, "release")):
            self._n_scheduled += 1
            heapq.heappush(self._due, (due_s, self._n_scheduled, kind, tap.key, trial_index))

    def _press_due(self, now_s: float) -> None:
        while self._due and self._due[0][0] <= now_s:
            _, _, kind, key, trial_index = heapq.heappop(self._due)
            self._send(kind, key, trial_index)

    def _send(self, kind: Kind, key: str, trial_index: int | None) -> None:
        (self._down.add if kind == "press" else self._down.discard)(key)
        event = X.KeyPress if kind == "press" else X.KeyRelease
        xtest.fake_input(self._server, event, self._codes[key])
        sent_s = time.monotonic()
        self._server.flush()
        self.written.append({"what": kind, "t_s": sent_s, "key": key, "trial_index": trial_index})


def _await_ready(path: Path) -> None:
    give_up_s = time.monotonic() + _READY_TIMEOUT_S
    while not (path.exists() and path.stat().st_size):
        if time.monotonic() > give_up_s:
            sys.exit(f"robot: the peer was not ready within {_READY_TIMEOUT_S:.0f} s")
        time.sleep(_READY_EVERY_S)


def main() -> None:
    """Read settings and script from standard input, play, and write what was done."""
    told = json.load(sys.stdin)
    # The measuring instrument goes first where it may, as the project's robot does.
    with contextlib.suppress(PermissionError):
        os.nice(-5)
    _await_ready(Path(told["ready"]))
    server = display.Display()
    watcher = FileWatcher(Path(told["picture"]), *told["look_at_px"])
    driver = Driver(watcher, server, [Action.from_json(a) for a in told["actions"]])
    gc.collect()
    gc.disable()
    try:
        driver.play()
    finally:
        driver.let_go()
        server.sync()
        server.close()
        watcher.close()
        Path(told["log"]).write_text(json.dumps(driver.written), encoding="utf-8")


if __name__ == "__main__":
    main()
