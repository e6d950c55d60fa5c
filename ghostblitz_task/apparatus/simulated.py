"""An apparatus on a virtual clock: frames take no time, and a simulated participant answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.config import ResponseSettings
from ghostblitz_task.games import Game, Stimulus
from ghostblitz_task.participants import Participant
from ghostblitz_task.screens import Screen

__all__ = ["SimulatedApparatus"]

# How long a simulated participant looks at a self-paced screen, and holds its key.
_READING_S, _HOLD_S = 0.4, 0.08


class SimulatedApparatus:
    """Flips on the frame grid of a perfect screen; key times are exact.

    Parameters
    ----------
    participant : Participant
        Answers the cards.
    game : Game
        The rules the participant knows.
    responses : ResponseSettings
        Which key stands for which response.
    rng : numpy.random.Generator
        The participant's own; it cannot shift the trial order.
    refresh_hz : float
        Frames per virtual second.
    """

    def __init__(
        self,
        participant: Participant,
        *,
        game: Game,
        responses: ResponseSettings,
        rng: np.random.Generator,
        refresh_hz: float = 60.0,
    ) -> None:
        self._participant = participant
        self._game = game
        self._keys = {("grab", item): key for item, key in responses.grab_keys.items()}
        self._keys |= {("shout", item): key for item, key in responses.shout_keys.items()}
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
            if screen.name == "fixation":
                # What was planned for a card that is gone is not pressed any more.
                still_down = [e for e in self._coming if e.kind == "release"]
                self._coming = [e for e in still_down if e.key in self._down]
            if screen.stimulus is not None:
                self._answer(screen.stimulus, flip_s)
            elif screen.awaits_key is not None:
                self._press(screen.awaits_key, flip_s + _READING_S, _HOLD_S)
        return flip_s

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

    def _answer(self, stimulus: Stimulus, onset_s: float) -> None:
        for planned in self._participant.respond(stimulus, self._game, self._rng):
            key = self._keys[planned.response.mode, planned.response.answer]
            self._press(key, onset_s + planned.latency_s, planned.hold_s)

    def _press(self, key: str, t_s: float, hold_s: float) -> None:
        self._coming.append(DeviceEvent(t_s, "keyboard", "press", key, None, 0.0))
        self._coming.append(DeviceEvent(t_s + hold_s, "keyboard", "release", key, None, 0.0))
