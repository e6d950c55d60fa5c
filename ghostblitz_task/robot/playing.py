"""The robot at work: watch, wait, press; and write down what was seen and done, and when."""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from Xlib import X, display
from Xlib.error import BadWindow, ConnectionClosedError
from Xlib.ext import xtest

from ghostblitz_task.apparatus_settings import PatchCorner
from ghostblitz_task.errors import ApparatusError, GhostBlitzError
from ghostblitz_task.robot.script import Action, Tap
from ghostblitz_task.robot.watching import WINDOW_NAME, FileWatcher, ServerWatcher, Sight, Watcher

__all__ = ["RobotSettings", "key_code", "knows_key", "main", "play"]

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


class _NotWantedError(Exception):
    """The robot is to stop at once, and there is nobody whom it could tell."""


class _Wanted:
    """Whether whoever started the robot still wants it: no signal came, and the starter lives.

    A signal is only noted, so that it cannot break into a conversation with the X server.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._starter = os.getppid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal = self.signal or number

    def check(self) -> None:
        """Raise `_NotWantedError` if the robot is not wanted any more."""
        # Whose starter died, even by SIGKILL, is given another parent.
        if self.signal is not None or os.getppid() != self._starter:
            raise _NotWantedError


class _Window:
    """The window that gets the keys, and whether it is still there."""

    def __init__(self, server: Any, window: Any) -> None:
        self._server = server
        window.change_attributes(event_mask=X.StructureNotifyMask)
        try:
            # It may have gone before its events were asked for.
            self._is_gone: bool = window.get_attributes().map_state != X.IsViewable
        except BadWindow:
            self._is_gone = True

    def is_gone(self) -> bool:
        while self._server.pending_events():
            event = self._server.next_event()
            if event.type in {X.DestroyNotify, X.UnmapNotify, X.MapNotify}:
                self._is_gone = event.type != X.MapNotify
        return self._is_gone


class _Robot:
    def __init__(
        self,
        watcher: Watcher,
        server: Any,
        window: _Window,
        actions: Iterable[Action],
        check_wanted: Callable[[], None],
    ) -> None:
        self._watcher = watcher
        self._window = window
        self._check_wanted = check_wanted
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
            # Before each press: a key must not reach whoever has the keyboard after us.
            self._check_wanted()
            if self._window.is_gone():
                self._end_without_window()
                return
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

    def let_go(self) -> None:
        """Release every key that is down: the X server would hold it for ever."""
        for key in sorted(self._down):
            self._send("release", key)

    def _end_without_window(self) -> None:
        n_presses = sum(kind == "press" for _, _, kind, _ in self._due)
        # A session may well end while the key that ended it is still down.
        if self._actions or n_presses:
            raise ApparatusError(
                f"the window went away, with {len(self._actions) + n_presses} things still to do"
            )

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
        xtest.fake_input(self._server, event, key_code(key))
        sent_s = time.monotonic()
        self._server.flush()
        self._note(kind, sent_s, key=key)

    def _note(self, what: str, t_s: float, **more: Any) -> None:
        self.written.append({"what": what, "t_s": t_s, **more})


def knows_key(key: str) -> bool:
    """Say whether the robot can press a key."""
    return any(key in row for _, row in _ROWS)


def key_code(key: str) -> int:
    """Return the X code of a key.

    Raises
    ------
    ApparatusError
        If the robot does not know the key.
    """
    for first, row in _ROWS:
        if key in row:
            return first + row.index(key)
    raise ApparatusError(f"the robot does not know where the key {key!r} is")


def play(
    settings: RobotSettings,
    actions: Iterable[Action],
    *,
    check_wanted: Callable[[], None] = lambda: None,
) -> None:
    """Find the window, play the script, and write the log.

    Whatever ends it, no key stays down.

    Parameters
    ----------
    check_wanted : callable
        Called at each look; what it raises ends the robot's work.

    Raises
    ------
    ApparatusError
        If no window appears or it goes away, or the screen does not do what the script expects.
    """
    server = display.Display()
    try:
        found = _wait_for_window(server, check_wanted)
        x_px, y_px = _patch_centre(server, found, settings)
    except BadWindow as error:
        raise ApparatusError("a window went away while the robot looked for ours") from error
    watcher: Watcher
    if settings.picture is not None:
        watcher = FileWatcher(Path(settings.picture), x_px, y_px)
    else:
        watcher = ServerWatcher(x_px, y_px)
    robot = _Robot(watcher, server, _Window(server, found), actions, check_wanted)
    try:
        robot.play()
    except ConnectionClosedError as error:
        raise ApparatusError("the X server went away") from error
    finally:
        with contextlib.suppress(ConnectionClosedError):
            robot.let_go()
            # The last release may still be on its way, and a connection that ends takes it along.
            server.sync()
            watcher.close()
            server.close()
        lines = "".join(json.dumps(record) + "\n" for record in robot.written)
        Path(settings.log).write_text(lines, encoding="utf-8")


def _wait_for_window(server: Any, check_wanted: Callable[[], None]) -> Any:
    give_up_s = time.monotonic() + _WINDOW_TIMEOUT_S
    while time.monotonic() < give_up_s:
        check_wanted()
        window = _find_window(server.screen().root)
        if window is not None:
            return window
        time.sleep(0.05)
    raise ApparatusError(f"no window appeared within {_WINDOW_TIMEOUT_S:.0f} s")


def _patch_centre(server: Any, window: Any, settings: RobotSettings) -> tuple[int, int]:
    """Return the middle of the window's patch, in pixels of the screen."""
    geometry = window.get_geometry()
    corner = window.translate_coords(server.screen().root, 0, 0)
    inset_px = settings.patch_px // 2
    right, up = (settings.patch_corner.endswith("right"), settings.patch_corner[0] == "u")
    x_px = geometry.width - inset_px if right else inset_px
    y_px = inset_px if up else geometry.height - inset_px
    return x_px - corner.x, y_px - corner.y


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
    wanted = _Wanted()
    try:
        told = json.load(sys.stdin)
    except json.JSONDecodeError:
        sys.exit("robot: what to do was told only in part")
    actions = [Action.from_json(record) for record in told["actions"]]
    # A robot that may not go first is a little less punctual, and says when it was.
    with contextlib.suppress(PermissionError):
        os.nice(-5)
    try:
        play(RobotSettings(**told["settings"]), actions, check_wanted=wanted.check)
    except _NotWantedError:
        if wanted.signal is not None:
            # Ended by a signal is what others are to see.
            signal.signal(wanted.signal, signal.SIG_DFL)
            os.kill(os.getpid(), wanted.signal)
        sys.exit(1)
    except GhostBlitzError as error:
        sys.exit(f"robot: {error}")


if __name__ == "__main__":
    main()
