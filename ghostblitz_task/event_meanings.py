"""From what a device reports to what it means in a study, and which keys are down."""

from __future__ import annotations

from collections.abc import Iterable

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.config import ResponseSettings, StudySettings
from ghostblitz_task.games import Mode
from ghostblitz_task.scoring import TrialEvent
from ghostblitz_task.screens import Screens

__all__ = ["EventReader", "key_meanings"]

_Meaning = tuple[str, Mode | None, str | None, int | None]
_NO_MEANING: _Meaning = ("other_keys", None, None, None)


def key_meanings(responses: ResponseSettings) -> dict[str, _Meaning]:
    """Return what each key means: the device it stands for, mode, answer, and whose it is."""
    several = len(responses.players) > 1
    meanings: dict[str, _Meaning] = {}
    for place, player in enumerate(responses.players):
        seat = place if several else None
        for answer, key in player.grab_keys.items():
            meanings[key] = ("grab_keys", "grab", answer, seat)
        for answer, key in player.shout_keys.items():
            meanings[key] = ("shout_keys", "shout", answer, seat)
    return meanings


class EventReader:
    """Gives each event its meaning, and keeps track of the keys that are down.

    Attributes
    ----------
    down : set of str
        Keys and buttons that went down and have not come up, as of the last event read.
    """

    def __init__(self, settings: StudySettings, screens: Screens) -> None:
        self.down: set[str] = set()
        self._screens = screens
        self._pointer_answers = settings.responses.pointer
        self._keys = key_meanings(settings.responses)
        self._pointer_seat = 0 if settings.responses.more_players else None

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

    def _meaning(self, event: DeviceEvent) -> _Meaning:
        if event.device == "keyboard":
            return self._keys.get(event.key, _NO_MEANING)
        item = None
        if self._pointer_answers and event.x_deg is not None and event.y_deg is not None:
            item = self._screens.item_at(event.x_deg, event.y_deg)
        if item is None:
            return ("pointer", None, None, None)
        return ("pointer", "grab", item, self._pointer_seat)

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
