"""Frames, events and self-paced screens of a session: what every kind of trial is made of."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.event_meanings import EventReader
from ghostblitz_task.marking import Marking
from ghostblitz_task.scoring import TrialEvent
from ghostblitz_task.screens import Patch, Screen, Words

__all__ = ["DROPPED", "Presenter", "QuitRequested", "Recorder"]

# A key that is held longer at the end of a session keeps no one waiting.
_RELEASE_TIMEOUT_S = 1.0
#: An interval that is longer than so many frames has missed one.
DROPPED = 1.5
# In frames: what floating-point numbers cannot tell apart.
_EQUALLY_NEAR = 1e-6


class Recorder(Protocol):
    """Keeps records; what `append` was given is on disk when it returns."""

    def append(self, record_type: str, record: Mapping[str, Any]) -> None:
        """Write one record; `LogError` if it cannot be kept."""
        ...


class QuitRequested(Exception):  # noqa: N818 - control flow, never seen by a caller
    """The participant pressed the quit key, or the program was told to stop."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Presenter:
    """Shows screens on an apparatus and collects each event exactly once.

    Parameters
    ----------
    apparatus : Apparatus
        Where it runs.
    log : Recorder
        Takes the records of self-paced screens.
    reader : EventReader
        Knows what the keys mean.
    quit_key : str
        Ends the session by `QuitRequested`.
    key_name : callable
        Says what a participant calls a key.
    stop_requested : callable
        Asked at each frame; a reason ends the session as the quit key does.

    Attributes
    ----------
    flip_s : float
        Time of the last flip.
    shown : Screen
        What it showed.
    events : list of TrialEvent
        Those that no record has taken yet.
    marking : Marking
        Sends markers, where the apparatus has outputs for them.
    """

    def __init__(
        self,
        apparatus: Apparatus,
        log: Recorder,
        reader: EventReader,
        *,
        quit_key: str,
        key_name: Callable[[str], str],
        stop_requested: Callable[[], str | None],
        first: Screen,
    ) -> None:
        self.apparatus = apparatus
        self.reader = reader
        # They come up without having gone down before anybody listened.
        at_start = apparatus.describe().get("keys_down_at_start") or ()
        self.reader.down.update(("keyboard", key) for key in at_start)
        self.frame_s = 1.0 / apparatus.refresh_hz
        self.flip_s = 0.0
        self.shown = first
        self.events: list[TrialEvent] = []
        self.marking = Marking(apparatus.markers)
        self._log = log
        self._quit_key = quit_key
        self._key_name = key_name
        self._stop_requested = stop_requested
        self._patch: Patch = "waiting-next"

    def present(self, screen: Screen, *, marks: Sequence[tuple[str, str]] = ()) -> float:
        """Show one frame, collect the events until then, and return the time of the flip.

        `marks` are name and label of each marker of the flip; they are sent before any event is
        looked at.
        """
        self.shown = screen
        self.flip_s = self.apparatus.present(screen)
        for name, label in marks:
            self.marking.send(name, label, self.flip_s)
        self._collect()
        return self.flip_s

    def _collect(self) -> None:
        new = self.apparatus.events()
        reason = self._stop_requested()
        if not new and reason is None:
            return
        read = [self.reader.read(event) for event in new]
        self.events.extend(read)
        self.marking.mark_responses(read)
        if reason is None and any(e.kind == "press" and e.key == self._quit_key for e in new):
            reason = "quit key"
        if reason is not None:
            raise QuitRequested(reason)

    def take_events(self) -> list[dict[str, Any]]:
        """Return the events that no record has taken yet, as they stand in the log."""
        taken, self.events = self.events, []
        return [event.to_json() for event in taken]

    def hold(self, screen: Screen, *, from_s: float, duration_s: float) -> None:
        """Keep a screen for the whole number of frames nearest to its duration, at least one.

        Of two numbers that are equally near, the larger is taken.
        """
        n_frames = max(math.floor(duration_s / self.frame_s + 0.5 + _EQUALLY_NEAR), 1)
        until_s = from_s + n_frames * self.frame_s
        while self.flip_s + 1.5 * self.frame_s <= until_s:
            self.present(screen)

    def await_releases(self) -> None:
        """Keep the last screen until the key that ended it is up, so that its event is kept."""
        until_s = self.flip_s + _RELEASE_TIMEOUT_S
        # All is done, so a wish to end it now changes nothing.
        with contextlib.suppress(QuitRequested):
            while self.reader.down and self.flip_s < until_s:
                self.present(self.shown)

    def self_paced(self, screen: Screen, *, again: Screen | None = None) -> None:
        """Show a screen until its key goes down, and log it; `again` is what a wrong key brings."""
        onset_s, _ = self.await_key(screen, again=again)
        self._log.append(
            "screen",
            {
                "name": screen.name,
                "onset_s": onset_s,
                "end_s": self.flip_s,
                "events": self.take_events(),
            },
        )

    def await_key(self, screen: Screen, *, again: Screen | None = None) -> tuple[float, str]:
        """Show a screen until one of its keys goes down; return its onset and that key."""
        # The greys of the corner patch take turns, so that a watcher sees each new screen.
        patch: Patch = "waiting-next" if self._patch == "waiting" else "waiting"
        self._patch = patch
        screen = dataclasses.replace(screen, patch=patch)
        self.apparatus.prepare([screen])
        onset_s = self.present(screen)
        # What was seen may have been seen before its flip returned; a press that ended the screen
        # before is older.
        since_s = onset_s - self.frame_s
        awaited = screen.awaits_keys
        n_wrong = 0
        while (pressed := self._pressed(awaited, since_s=since_s)) is None:
            wrong = self._wrong_keys(awaited, since_s=since_s)
            if again is not None and len(wrong) > n_wrong:
                n_wrong = len(wrong)
                screen = _with_pressed(again, self._key_name(wrong[-1]), patch)
                self.apparatus.prepare([screen])
            self.present(screen)
        return onset_s, pressed

    def _pressed(self, keys: Iterable[str], *, since_s: float) -> str | None:
        return next(
            (
                e.key
                for e in self.events
                if e.kind == "press" and e.key in keys and not e.repeated and e.t_s >= since_s
            ),
            None,
        )

    def _wrong_keys(self, keys: Iterable[str], *, since_s: float) -> list[str]:
        return [
            e.key
            for e in self.events
            if e.kind == "press" and e.device != "pointer" and e.key not in keys
            if e.t_s >= since_s
        ]


def _with_pressed(screen: Screen, pressed: str, patch: Patch) -> Screen:
    """Fill the name of the key that was pressed into a screen."""
    elements = tuple(
        dataclasses.replace(e, text=e.text.replace("{pressed}", pressed))
        if isinstance(e, Words)
        else e
        for e in screen.elements
    )
    return dataclasses.replace(screen, elements=elements, patch=patch)
