"""From what a device reports to what it means in a study, and which keys are down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.config import ResponseSettings, StudySettings
from ghostblitz_task.games import Mode
from ghostblitz_task.scoring import TrialEvent
from ghostblitz_task.screens import Screens

__all__ = [
    "EventReader",
    "Meaning",
    "as_buttons",
    "as_keys",
    "card_event_reader",
    "is_button",
    "key_meanings",
]

#: The device that a key or place stands for, and the response (mode, answer, and whose it is).
Meaning = tuple[str, Mode | None, str | None, int | None]
_NO_MEANING: Meaning = ("other_keys", None, None, None)
_NOWHERE: Meaning = ("pointer", None, None, None)


def as_buttons(device: str) -> str:
    """Return what keys are called where buttons of a pad stand for them: grab_buttons."""
    return device.replace("_key", "_button")


def as_keys(device: str) -> str:
    """Return what buttons are called as the keys that they stand for; others stay as they are."""
    return device.replace("_button", "_key")


def is_button(device: str) -> bool:
    """Return whether an event came from a pad."""
    return "_button" in device


def key_meanings(responses: ResponseSettings) -> dict[str, Meaning]:
    """Return what each key means: the device it stands for, mode, answer, and whose it is."""
    several = len(responses.players) > 1
    meanings: dict[str, Meaning] = {}
    for place, player in enumerate(responses.players):
        seat = place if several else None
        for answer, key in player.grab_keys.items():
            meanings[key] = ("grab_keys", "grab", answer, seat)
        for answer, key in player.shout_keys.items():
            meanings[key] = ("shout_keys", "shout", answer, seat)
    return meanings


class EventReader:
    """Gives each event its meaning, and keeps track of the keys that are down.

    Parameters
    ----------
    keys : mapping of str to Meaning
        What each key means; the others mean nothing. The buttons of pads stand for keys.
    place : callable
        What a place on the screen means, in degrees from the centre.

    Attributes
    ----------
    down : set of (str, str)
        Keys and buttons that went down and have not come up, as of the last event read, each with
        what it belongs to: a key and the button that stands for it are two. Buttons of pads that
        do not say when they come up are never among them.
    """

    def __init__(
        self,
        keys: Mapping[str, Meaning],
        place: Callable[[float, float], Meaning] = lambda _x, _y: _NOWHERE,
    ) -> None:
        self.down: set[tuple[str, str]] = set()
        self._keys = keys
        self._place = place

    def read(self, event: DeviceEvent) -> TrialEvent:
        """Return the event with its meaning; a press of a key that is down is a repetition."""
        device, mode, answer, player = self._meaning(event)
        which = (event.device, event.key)
        repeated = event.kind == "press" and which in self.down
        if event.kind == "release":
            self.down.discard(which)
        elif event.reports_release:
            self.down.add(which)
        return TrialEvent(
            t_s=event.t_s,
            device=device,
            kind=event.kind,
            key=event.key,
            code=event.code,
            resolution_s=event.resolution_s,
            mode=mode,
            answer=answer,
            player=player,
            repeated=repeated,
            x_deg=event.x_deg,
            y_deg=event.y_deg,
        )

    def _meaning(self, event: DeviceEvent) -> Meaning:
        if event.device == "keyboard":
            return self._keys.get(event.key, _NO_MEANING)
        if event.device == "button_box":
            device, mode, answer, player = self._keys.get(event.key, _NO_MEANING)
            return as_buttons(device), mode, answer, player
        if event.x_deg is None or event.y_deg is None:
            return _NOWHERE
        return self._place(event.x_deg, event.y_deg)

    def held_at(self, t_s: float, since: Iterable[TrialEvent]) -> tuple[str, ...]:
        """Return the response keys that were down at a time before the last events were read.

        A key counts once, whether it is held on the keyboard, on a pad, or on both.

        Parameters
        ----------
        t_s : float
            The time, in seconds on the session clock.
        since : iterable of TrialEvent
            The events read since, and possibly earlier ones, by time.
        """
        down = set(self.down)
        for event in reversed([e for e in since if e.t_s >= t_s and not e.repeated]):
            which = (_belongs_to(event.device), event.key)
            (down.discard if event.kind == "press" else down.add)(which)
        return tuple(sorted({key for _, key in down if key in self._keys}))


def _belongs_to(device: str) -> str:
    if device == "pointer":
        return device
    return "button_box" if is_button(device) else "keyboard"


def card_event_reader(settings: StudySettings, screens: Screens) -> EventReader:
    """Return the reader of a study of cards: keys grab and shout, a place on an item grabs it."""
    seat = 0 if settings.responses.more_players else None

    def place(x_deg: float, y_deg: float) -> Meaning:
        item = screens.item_at(x_deg, y_deg)
        return _NOWHERE if item is None else ("pointer", "grab", item, seat)

    keys = key_meanings(settings.responses)
    return EventReader(keys, place) if settings.responses.pointer else EventReader(keys)
