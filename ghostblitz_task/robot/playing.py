"""The robot at work: watch, wait, press; and write down what was seen and done, and when."""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from Xlib import X, display
from Xlib.ext import xtest

from ghostblitz_task.apparatus_settings import PatchCorner
from ghostblitz_task.errors import ApparatusError, GhostBlitzError
from ghostblitz_task.robot.script import Action, Tap
from ghostblitz_task.robot.watching import WINDOW_NAME, FileWatcher, ServerWatcher, Sight, Watcher

__all__ = ["RobotSettings", "knows_key", "main", "play"]

_WINDOW_TIMEOUT_S = 120.0
# Nothing in a session lasts longer without the patch changing.
_STILL_TIMEOUT_S = 60.0
# Between two looks; short against the frame, long enough to leave the processor alone.
_LOOK_EVERY_S = 50e-6
# X key codes of the main rows (evdev, as on every current server): keys are named by their place
# on a US keyboard, so the robot finds them there whatever the layout.
_ROWS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (9, ("escape",)),
    (10, tuple("1234567890")),
    (24, tuple("qwertyuiop")),
    (38, tuple("asdfghjkl")),
    (52, tuple("zxcvbnm")),
    (65, ("space",)),
)


@dataclass(frozen=True, slots=True)
class RobotSettings:
    """What the robot is told when it is started, as JSON.

    Attributes
    ----------
    patch_px : int
        Side of a square that lies within the patch in the window's corner.
    picture : str or None
        The file that is Xvfb's picture; null to look through the server.
    log : str
        Where the robot writes what it saw and did, one JSON object per line.
    patch_corner : str
        Which corner the patch is in.
    """

    patch_px: int
    picture: str | None
    log: str
    patch_corner: PatchCorner = "lower-left"


class _Robot:
    def __init__(self, watcher: Watcher, server: Any, actions: Iterable[Action]) -> None:
        self._watcher = watcher
        self._server = server
        self._actions = deque(actions)
        # (due, order, press or release, key): order keeps equal times in order.
        self._due: list[tuple[float, int, Literal["press", "release"], str]] = []
        self._n_scheduled = 0
        self._down: set[str] = set()
        self.written: list[dict[str, Any]] = []

    def play(self) -> None:
        sight: Sight = "off"
        changed_s = time.monotonic()
        while self._actions or self._due:
            now_s = time.monotonic()
            self._press_due(now_s)
            seen = self._watcher.look()
            if seen != sight:
                changed_s = time.monotonic()
                self._note("saw", changed_s, sight=seen)
                self._react(sight, seen, changed_s)
                sight = seen
            elif now_s - changed_s > _STILL_TIMEOUT_S and not self._due:
                raise ApparatusError(
                    f"the robot saw nothing new for {_STILL_TIMEOUT_S:.0f} s, with "
                    f"{len(self._actions)} things still to do"
                )
            time.sleep(_LOOK_EVERY_S)

    def _react(self, before: Sight, seen: Sight, now_s: float) -> None:
        if seen == "off":
            if before != "off" and self._actions and self._actions[0].at == "card":
                self._schedule(self._actions[0].taps_before, now_s)
            return
        if not self._actions:
            raise ApparatusError(f"the robot saw {seen}, but had nothing more to do")
        action = self._actions.popleft()
        expected = "card" if seen == "card" else "waiting"
        if action.at != expected:
            raise ApparatusError(f"the robot saw {seen}, but expected {action.at}")
        if action.trial_index is not None:
            self._note("card", now_s, trial_index=action.trial_index)
        self._schedule(action.taps, now_s)

    def _schedule(self, taps: Iterable[Tap], from_s: float) -> None:
        for tap in taps:
            press_s = from_s + tap.delay_s
            self._n_scheduled += 2
            heapq.heappush(self._due, (press_s, self._n_scheduled, "press", tap.key))
            release_s = press_s + tap.hold_s
            heapq.heappush(self._due, (release_s, self._n_scheduled + 1, "release", tap.key))

    def _press_due(self, now_s: float) -> None:
        while self._due and self._due[0][0] <= now_s:
            _, _, kind, key = heapq.heappop(self._due)
            # A key that is down must come up before it can go down again, and only then.
            if kind == "press" and key in self._down:
                self._send("release", key)
            if kind == "press" or key in self._down:
                self._send(kind, key)

    def _send(self, kind: Literal["press", "release"], key: str) -> None:
        event = X.KeyPress if kind == "press" else X.KeyRelease
        (self._down.add if kind == "press" else self._down.discard)(key)
        xtest.fake_input(self._server, event, _key_code(key))
        sent_s = time.monotonic()
        self._server.flush()
        self._note(kind, sent_s, key=key)

    def _note(self, what: str, t_s: float, **more: Any) -> None:
        self.written.append({"what": what, "t_s": t_s, **more})


def knows_key(key: str) -> bool:
    """Say whether the robot can press a key."""
    return any(key in row for _, row in _ROWS)


def _key_code(key: str) -> int:
    for first, row in _ROWS:
        if key in row:
            return first + row.index(key)
    raise ApparatusError(f"the robot does not know where the key {key!r} is")


def play(settings: RobotSettings, actions: Iterable[Action]) -> None:
    """Find the window, play the script, and write the log.

    Raises
    ------
    ApparatusError
        If no window appears, or the screen does not do what the script expects.
    """
    server = display.Display()
    x_px, y_px = _patch_centre(server, settings)
    watcher: Watcher
    if settings.picture is not None:
        watcher = FileWatcher(Path(settings.picture), x_px, y_px)
    else:
        watcher = ServerWatcher(x_px, y_px)
    robot = _Robot(watcher, server, actions)
    try:
        robot.play()
    finally:
        watcher.close()
        # The last release may still be on its way, and a connection that ends takes it along.
        server.sync()
        server.close()
        lines = "".join(json.dumps(record) + "\n" for record in robot.written)
        Path(settings.log).write_text(lines, encoding="utf-8")


def _patch_centre(server: Any, settings: RobotSettings) -> tuple[int, int]:
    """Wait for the window and return the middle of its patch, in pixels of the screen."""
    give_up_s = time.monotonic() + _WINDOW_TIMEOUT_S
    while time.monotonic() < give_up_s:
        window = _find_window(server.screen().root)
        if window is not None:
            geometry = window.get_geometry()
            corner = window.translate_coords(server.screen().root, 0, 0)
            inset_px = settings.patch_px // 2
            right, up = (settings.patch_corner.endswith("right"), settings.patch_corner[0] == "u")
            x_px = geometry.width - inset_px if right else inset_px
            y_px = inset_px if up else geometry.height - inset_px
            return x_px - corner.x, y_px - corner.y
        time.sleep(0.05)
    raise ApparatusError(f"no window appeared within {_WINDOW_TIMEOUT_S:.0f} s")


def _find_window(window: Any) -> Any | None:
    if window.get_wm_name() == WINDOW_NAME and window.get_attributes().map_state == X.IsViewable:
        return window
    for child in window.query_tree().children:
        found = _find_window(child)
        if found is not None:
            return found
    return None


def main() -> None:
    """Read settings and script from standard input, and play."""
    wanted = json.load(sys.stdin)
    actions = [Action.from_json(record) for record in wanted["actions"]]
    # A robot that may not go first is a little less punctual, and says when it was.
    with contextlib.suppress(PermissionError):
        os.nice(-5)
    try:
        play(RobotSettings(**wanted["settings"]), actions)
    except GhostBlitzError as error:
        sys.exit(f"robot: {error}")


if __name__ == "__main__":
    main()
