"""Apparatus on a virtual clock: frames take no time, and a simulated participant answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ghostblitz_task.apparatus import DeviceEvent, MarkerSink
from ghostblitz_task.config import ResponseSettings
from ghostblitz_task.games import Game, Stimulus
from ghostblitz_task.participants import Participant
from ghostblitz_task.screens import Screen

__all__ = ["SimulatedApparatus", "VirtualApparatus"]

# How long a simulated participant looks at a self-paced screen, and holds its key.
_READING_S, _HOLD_S = 0.4, 0.08


class VirtualApparatus:
    """Flips on the frame grid of a perfect screen; key times are exact.

    Who answers is left to those that inherit, which overwrite `respond`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Chooses where a self-paced screen awaits one of several keys.
    refresh_hz : float
        Frames per virtual second.

    Attributes
    ----------
    markers : MarkerSink or None
        None unless it is set: there is no other recording of what never happened.
    """

    def __init__(self, rng: np.random.Generator, *, refresh_hz: float = 60.0) -> None:
        self.markers: MarkerSink | None = None
        self._rng = rng
        self._refresh_hz = refresh_hz
        self._n_frames = 0
        self._shown: Screen | None = None
        self._coming: list[DeviceEvent] = []
        self._down: set[str] = set()

    @property
    def refresh_hz(self) -> float:
        return self._refresh_hz

    def describe(self) -> Mapping[str, Any]:
        return {
            "apparatus": "simulated",
            "refresh_hz": self._refresh_hz,
            "display_synchronised": None,
            "key_backend": "simulated",
            "key_time_source": "virtual clock",
            "keys_polled": False,
        }

    def key_labels(self) -> Mapping[str, str]:
        return {}

    def prepare(self, screens: Iterable[Screen]) -> None:
        pass

    def present(self, screen: Screen) -> float:
        self._n_frames += 1
        flip_s = self._n_frames / self._refresh_hz
        if screen is not self._shown:
            self._shown = screen
            self.respond(screen, flip_s)
        return flip_s

    def respond(self, screen: Screen, flip_s: float) -> None:
        """Plan the presses that answer a screen, shown from this flip on."""
        if screen.awaits_keys:
            keys = screen.awaits_keys
            key = keys[0] if len(keys) == 1 else keys[int(self._rng.integers(len(keys)))]
            self.press(key, flip_s + _READING_S, _HOLD_S)

    def events(self) -> list[DeviceEvent]:
        if not self._coming:
            return []
        now_s = self._n_frames / self._refresh_hz
        due = sorted((e for e in self._coming if e.t_s <= now_s), key=lambda e: e.t_s)
        self._coming = [e for e in self._coming if e.t_s > now_s]
        for event in due:
            (self._down.add if event.kind == "press" else self._down.discard)(event.key)
        return due

    def between_trials(self) -> None:
        pass

    def close(self) -> None:
        pass

    def press(self, key: str, t_s: float, hold_s: float) -> None:
        """Plan a key's going down and coming up."""
        self._coming.append(DeviceEvent(t_s, "keyboard", "press", key, None, 0.0))
        self._coming.append(DeviceEvent(t_s + hold_s, "keyboard", "release", key, None, 0.0))

    def click(self, place_deg: tuple[float, float], t_s: float, hold_s: float) -> None:
        """Plan a pointer button's going down and coming up at a place."""
        x_deg, y_deg = place_deg
        for kind, at_s in (("press", t_s), ("release", t_s + hold_s)):
            event = DeviceEvent(at_s, "pointer", kind, "button-1", 1, 0.0, x_deg, y_deg)  # type: ignore[arg-type]
            self._coming.append(event)


class SimulatedApparatus(VirtualApparatus):
    """A participant, or several, who answer cards.

    Parameters
    ----------
    seats : sequence of (Participant, numpy.random.Generator)
        Who answers the cards, with the keys of the first player, the second and so on; each has
        randomness of its own, which cannot shift the trial order.
    game : Game
        The rules the participant knows.
    responses : ResponseSettings
        Which key stands for which response.
    refresh_hz : float
        Frames per virtual second.
    """

    def __init__(
        self,
        seats: Sequence[tuple[Participant, np.random.Generator]],
        *,
        game: Game,
        responses: ResponseSettings,
        refresh_hz: float = 60.0,
    ) -> None:
        super().__init__(seats[0][1], refresh_hz=refresh_hz)
        self._seats = tuple(seats)
        self._game = game
        self._keys = [
            {("grab", answer): key for answer, key in player.grab_keys.items()}
            | {("shout", answer): key for answer, key in player.shout_keys.items()}
            for player in responses.players
        ]

    def respond(self, screen: Screen, flip_s: float) -> None:
        if screen.name == "fixation":
            # What was planned for a card that is gone is not pressed any more.
            still_down = [e for e in self._coming if e.kind == "release"]
            self._coming = [e for e in still_down if e.key in self._down]
        if screen.stimulus is not None:
            self._answer(screen.stimulus, flip_s)
        else:
            super().respond(screen, flip_s)

    def _answer(self, stimulus: Stimulus, onset_s: float) -> None:
        for (participant, rng), keys in zip(self._seats, self._keys, strict=True):
            for planned in participant.respond(stimulus, self._game, rng):
                key = keys[planned.response.mode, planned.response.answer]
                self.press(key, onset_s + planned.latency_s, planned.hold_s)
