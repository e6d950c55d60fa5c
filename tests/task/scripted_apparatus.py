"""An apparatus on a virtual clock that does exactly what a test scripts, and keeps account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ghostblitz_task.apparatus import DeviceEvent, MarkerSink
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.screens import Screen

FRAME_S = 1 / 60

Script = Callable[[Screen, float, int], Iterable[DeviceEvent]]


def press(key: str, t_s: float) -> DeviceEvent:
    """A key that goes down."""
    return DeviceEvent(t_s, "keyboard", "press", key, 30, 0.0)


def release(key: str, t_s: float) -> DeviceEvent:
    """A key that comes up."""
    return DeviceEvent(t_s, "keyboard", "release", key, 30, 0.0)


def tap(key: str, t_s: float, hold_s: float = 0.05) -> list[DeviceEvent]:
    """A key that goes down and comes up again."""
    return [press(key, t_s), release(key, t_s + hold_s)]


def click(x_deg: float, y_deg: float, t_s: float) -> list[DeviceEvent]:
    """A pointer button pressed and released at a place."""
    return [
        DeviceEvent(t, "pointer", kind, "button-1", 1, FRAME_S, x_deg, y_deg)
        for t, kind in ((t_s, "press"), (t_s + 0.03, "release"))
    ]


@dataclass
class ScriptedApparatus:
    """Flips on a grid of frames; events come when the script says.

    Attributes
    ----------
    script : callable
        Called when a screen is shown for the first time, with the screen, the time of its flip
        and how often a screen of this name has been shown before; returns events to come.
    goes_on : bool
        Whether self-paced screens get their key 0.1 s after they are shown.
    fails_at : callable
        Whether showing this screen, of which so many frames of its name were shown, fails.
    frames_missed : callable
        How many frames pass unseen before this screen is shown.
    keys_down_at_start : tuple of str
        Keys that were down before it listened.
    """

    script: Script = lambda _screen, _flip_s, _n: ()
    goes_on: bool = True
    fails_at: Callable[[Screen, int], bool] = lambda _screen, _n_frames: False
    frames_missed: Callable[[Screen, int], int] = lambda _screen, _n_frames: 0
    refresh_hz: float = 60.0
    markers: MarkerSink | None = None
    keys_down_at_start: tuple[str, ...] = ()
    screens: list[Screen] = field(default_factory=list)
    delivered: list[DeviceEvent] = field(default_factory=list)
    prepared: list[Screen] = field(default_factory=list)
    n_between: int = 0
    closed: bool = False
    _rendered: set[object] = field(default_factory=set)
    _n: int = 0
    _n_frames: Counter[str] = field(default_factory=Counter)
    _coming: list[DeviceEvent] = field(default_factory=list)

    def describe(self) -> Mapping[str, Any]:
        return {
            "apparatus": "scripted",
            "display_synchronised": True,
            "keys_down_at_start": list(self.keys_down_at_start),
        }

    def key_labels(self) -> Mapping[str, str]:
        return {}

    def prepare(self, screens: Iterable[Screen]) -> None:
        new = list(screens)
        self.prepared.extend(new)
        self._rendered.update(element for screen in new for element in screen.elements)
        self._rendered.update(screen.table for screen in new)

    def present(self, screen: Screen) -> float:
        # As a window does: what was not rendered before cannot be drawn now.
        missing = {*screen.elements, screen.table} - self._rendered
        assert not missing, f"{screen.name} was shown unprepared: {missing}"
        n_frames = self._n_frames[screen.name]
        if self.fails_at(screen, n_frames):
            raise ApparatusError("the screen went dark")
        self._n += 1 + self.frames_missed(screen, n_frames)
        flip_s = self._n / self.refresh_hz
        self._n_frames[screen.name] += 1
        if not self.screens or self.screens[-1] is not screen:
            n_before = sum(s.name == screen.name for s in self.screens)
            self.screens.append(screen)
            self._coming.extend(self.script(screen, flip_s, n_before))
            if self.goes_on and screen.awaits_keys:
                self._coming.extend(tap(screen.awaits_keys[0], flip_s + 0.1))
        return flip_s

    def events(self) -> list[DeviceEvent]:
        now_s = self._n / self.refresh_hz
        due = sorted((e for e in self._coming if e.t_s <= now_s), key=lambda e: e.t_s)
        self._coming = [e for e in self._coming if e.t_s > now_s]
        self.delivered.extend(due)
        return due

    def between_trials(self) -> None:
        self.n_between += 1

    def close(self) -> None:
        self.closed = True
