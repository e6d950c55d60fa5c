"""From what a device reports to what it means in a study, and which keys are down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.config import ResponseSettings, StudySettings
from ghostblitz_task.games import Mode
from ghostblitz_task.scoring import TrialEvent
from ghostblitz_task.screens import Screens

__all__ = ["EventReader", "Meaning", "card_event_reader", "key_meanings"]

#: The device that a key or place stands for, and the response (mode, answer, and whose it is).
Meaning = tuple[str, Mode | None, str | None, int | None]
_NO_MEANING: Meaning = ("other_keys", None, None, None)
_NOWHERE: Meaning = ("pointer", None, None, None)


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
        What each key means; the others mean nothing.
    place : callable
        What a place on the screen means, in degrees from the centre.

    Attributes
    ----------
    down : set of str
        Keys and buttons that went down and have not come up, as of the last event read.
    """

    def __init__(
        self,
        keys: Mapping[str, Meaning],
        place: Callable[[float, float], Meaning] = lambda _x, _y: _NOWHERE,
    ) -> None:
        self.down: set[str] = set()
        self._keys = keys
        self._place = place

    def read(self, event: DeviceEvent) -> TrialEvent:
        """Return the event with its meaning; a press of a key that is down is a repetition."""
        device, mode, answer, player = self._meaning(event)
        repeated = event.kind == "press" and event.key in self.down
        (self.down.add if event.kind == "press" else self.down.discard)(event.key)
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
        if event.x_deg is None or event.y_deg is None:
            return _NOWHERE
        return self._place(event.x_deg, event.y_deg)

    def held_at(self, t_s: float, since: Iterable[TrialEvent]) -> tuple[str, ...]:
        """Return the response keys that were down at a time before the last events were read.

        Parameters
        ----------
        t_s : float
            The time, in seconds on the session clock.
        since : iterable of TrialEvent
            The events read since, and possibly earlier ones, by time.
        """
        down = set(self.down)
        for event in reversed([e for e in since if e.t_s >= t_s and not e.repeated]):
            (down.discard if event.kind == "press" else down.add)(event.key)
        return tuple(sorted(key for key in down if key in self._keys))


def card_event_reader(settings: StudySettings, screens: Screens) -> EventReader:
    """Return the reader of a study of cards: keys grab and shout, a place on an item grabs it."""
    seat = 0 if settings.responses.more_players else None

    def place(x_deg: float, y_deg: float) -> Meaning:
        item = screens.item_at(x_deg, y_deg)
        return _NOWHERE if item is None else ("pointer", "grab", item, seat)

    keys = key_meanings(settings.responses)
    return EventReader(keys, place) if settings.responses.pointer else EventReader(keys)
