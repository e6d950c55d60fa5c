"""What the robot is going to do at each screen and card of a session; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ghostblitz_task.config import ResponseSettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.games import Game, Mode, Stimulus
from ghostblitz_task.outline import ScreenStep, outline
from ghostblitz_task.participants import Participant
from ghostblitz_task.screens import Screens

__all__ = ["Action", "Tap", "key_of", "script_session", "taps_like"]

# How long the robot looks at a self-paced screen, and how long it holds that key.
_READING_S, _HOLD_S = 0.25, 0.05


@dataclass(frozen=True, slots=True)
class Tap:
    """A key that goes down `delay_s` after what it follows, and up `hold_s` later."""

    key: str
    delay_s: float
    hold_s: float


@dataclass(frozen=True, slots=True)
class Action:
    """What to do at the next thing seen.

    Attributes
    ----------
    at : str
        ``card``, or ``waiting`` for a self-paced screen.
    taps : tuple of Tap
        After it appeared.
    taps_before : tuple of Tap
        After what was there before it (a card, or a self-paced screen) went away; only for
        cards: in feedback, between trials, or before the card.
    trial_index : int or None
        The trial that the card belongs to.
    """

    at: Literal["card", "waiting"]
    taps: tuple[Tap, ...]
    taps_before: tuple[Tap, ...] = ()
    trial_index: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the action as it stands in the robot's script."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Action:
        """Read an action back."""
        return cls(
            at=record["at"],
            taps=tuple(Tap(**tap) for tap in record["taps"]),
            taps_before=tuple(Tap(**tap) for tap in record["taps_before"]),
            trial_index=record["trial_index"],
        )


TapsFor = Callable[[TrialPlan, Stimulus], tuple[tuple[Tap, ...], tuple[Tap, ...]]]


def script_session(
    plan: Plan, screens: Screens, taps_for: TapsFor, *, first_trial: int = 0
) -> tuple[Action, ...]:
    """Write the script of a whole session, or of one that is resumed at `first_trial`.

    Parameters
    ----------
    plan, screens
        The session.
    taps_for : callable
        Gives, for a trial, the taps before and after its card appears.
    """
    game = screens.game
    actions = []
    for step in outline(plan, screens, first_trial=first_trial):
        if isinstance(step, ScreenStep):
            key = str(step.screen.awaits_key)
            actions.append(Action("waiting", (Tap(key, _READING_S, _HOLD_S),)))
        elif isinstance(step, TrialPlan):
            stimulus = game.stimulus(step.card, game.initial_state())
            before, after = taps_for(step, stimulus)
            actions.append(Action("card", after, before, step.trial_index))
    return tuple(actions)


def key_of(responses: ResponseSettings, mode: Mode, item: str) -> str:
    """Return the key that stands for a response."""
    return (responses.grab_keys if mode == "grab" else responses.shout_keys)[item]


def taps_like(
    participant: Participant,
    game: Game,
    responses: ResponseSettings,
    rng: np.random.Generator,
) -> TapsFor:
    """Answer as a simulated participant would; what it presses before a card is left out."""

    def taps_for(_trial: TrialPlan, stimulus: Stimulus) -> tuple[tuple[Tap, ...], tuple[Tap, ...]]:
        presses = participant.respond(stimulus, game, rng)
        taps = tuple(
            Tap(key_of(responses, p.response.mode, p.response.answer), p.latency_s, p.hold_s)
            for p in presses
            if p.latency_s > 0
        )
        return (), taps

    return taps_for
