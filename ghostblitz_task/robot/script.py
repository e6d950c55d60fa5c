"""What the robot is going to do at each screen and card of a session; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from ghostblitz_task.config import ResponseSettings
from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.games import Game, Mode, Outcome, Response, Stimulus
from ghostblitz_task.outline import PileStep, ScreenStep, outline
from ghostblitz_task.participants import Participant
from ghostblitz_task.screens import Screen, Screens

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
        The session; a hat is taken to stand where the plan puts it before the first trial.
    taps_for : callable
        Gives, for a trial, the taps before and after its card appears.
    """
    game, state = screens.game, plan.table
    actions = []
    for step in outline(plan, screens, first_trial=first_trial):
        if isinstance(step, ScreenStep):
            actions.append(_tap(step.screen))
        elif isinstance(step, PileStep) and screens.settings.company is not None:
            # The standings; a robot that is always right leaves no card to come again.
            key = screens.settings.responses.continue_key
            actions.append(Action("waiting", (Tap(key, _READING_S, _HOLD_S),)))
        elif isinstance(step, TrialPlan):
            stimulus = game.stimulus(step.card, state)
            before, after = taps_for(step, stimulus)
            actions.append(Action("card", after, before, step.trial_index))
            outcome = _expected(after, stimulus, game, screens.settings.responses)
            choices = game.hat_choices(stimulus, outcome)
            if choices and game.hat_mover == "participant":
                actions.append(_tap(screens.hat_choice(state, choices)))
                outcome = replace(outcome, hat_to=choices[0])
            state = game.advance(state, stimulus, outcome)
    return tuple(actions)


def _tap(screen: Screen) -> Action:
    return Action("waiting", (Tap(screen.awaits_keys[0], _READING_S, _HOLD_S),))


def _expected(
    taps: tuple[Tap, ...], stimulus: Stimulus, game: Game, responses: ResponseSettings
) -> Outcome:
    """Return what a trial will come to: a single tap answers, two are two modes or a slip."""
    meanings = {key: Response("grab", a) for a, key in responses.grab_keys.items()}
    meanings |= {key: Response("shout", a) for a, key in responses.shout_keys.items()}
    given = [
        meanings[tap.key] for tap in sorted(taps, key=lambda t: t.delay_s) if tap.key in meanings
    ]
    if not given:
        return Outcome(None, False)
    right = len({r.mode for r in given}) == 1 and game.error_kind(given[0], stimulus) is None
    return Outcome(given[0], right)


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
