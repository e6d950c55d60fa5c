"""From the facts of a trial to its score; used by the session and again on every load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from ghostblitz_task.games import Game, Mode, Response, Stimulus, item_role

__all__ = ["Score", "TrialEvent", "TrialFacts", "judge_response", "score_trial"]

_ERROR_OF_ROLE = {
    "shape": "shape_capture",
    "colour": "colour_capture",
    "shape_and_colour": "shape_and_colour_capture",
    "neither": "rule_confusion",
}


@dataclass(frozen=True, slots=True)
class TrialEvent:
    """One thing a device did, and what it means in this study (null: nothing).

    Attributes
    ----------
    t_s : float
        Seconds on the session clock.
    device : str
        ``grab_keys``, ``shout_keys``, ``other_keys`` or ``pointer``.
    kind : str
        ``press`` or ``release``.
    key : str
        Name of the key on the layout in use, or of the pointer button.
    code : int or None
        The key's code, which the layout does not change.
    resolution_s : float
        The event happened at most this long before `t_s`.
    mode, answer : str or None
        The response that the key or place stands for.
    repeated : bool
        A press of a key that was already down.
    x_deg, y_deg : float or None
        Where the pointer was, from the centre, in degrees of visual angle.
    """

    t_s: float
    device: str
    kind: Literal["press", "release"]
    key: str
    code: int | None
    resolution_s: float
    mode: Mode | None = None
    answer: str | None = None
    repeated: bool = False
    x_deg: float | None = None
    y_deg: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as it stands in the log."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """What a score depends on; times are seconds on the session clock.

    `held_at_onset` names the response keys that were down when the card came; they may have
    gone down in an earlier trial.
    """

    fixation_onset_s: float
    onset_s: float
    deadline_s: float
    second_response_window_s: float
    events: tuple[TrialEvent, ...]
    held_at_onset: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> TrialFacts:
        """Read the facts back from a trial's log record."""
        return cls(
            fixation_onset_s=record["fixation_onset_s"],
            onset_s=record["onset_s"],
            deadline_s=record["deadline_s"],
            second_response_window_s=record["second_response_window_s"],
            events=tuple(TrialEvent(**event) for event in record["events"]),
            held_at_onset=tuple(record["held_at_onset"]),
        )


@dataclass(frozen=True, slots=True)
class Score:
    """What a trial came to; the fields are columns of the schema."""

    rt_s: float | None
    response: str | None
    response_mode: Mode | None
    response_device: str | None
    response_resolution_s: float | None
    correct: bool
    mode_correct: bool | None
    error_kind: str | None
    n_events: int
    key_held_at_onset: bool

    @property
    def given(self) -> Response | None:
        """The scored response, or None where nothing was answered in time."""
        if self.response is None or self.response_mode is None:
            return None
        return Response(self.response_mode, self.response)

    def to_json(self) -> dict[str, Any]:
        """Return the score as it stands in the log."""
        return asdict(self)


def responses_in_time(facts: TrialFacts) -> tuple[TrialEvent, ...]:
    """Return the presses that mean a response, from the fixation mark to the deadline, by time."""
    last_s = facts.onset_s + facts.deadline_s
    return tuple(event for event in _responses(facts) if event.t_s <= last_s)


def _responses(facts: TrialFacts) -> list[TrialEvent]:
    """Return the presses that mean a response, from the fixation mark on, by time."""
    return [
        event
        for event in sorted(facts.events, key=lambda e: e.t_s)
        if event.kind == "press"
        and event.mode is not None
        and not event.repeated
        and event.t_s >= facts.fixation_onset_s
    ]


def score_trial(facts: TrialFacts, stimulus: Stimulus, game: Game) -> Score:
    """Score a trial from its facts.

    The first press that means a response, at or after the fixation mark and until the deadline,
    is the one attempt a card allows. Before the card it is an ``early`` error; RT is that press
    minus the flip that showed the card, on the same clock. A press in the other mode within the
    second-response window makes a ``both_modes`` error; the window is the response's, so it may
    end after the deadline. Nothing in time is ``late`` and has no
    RT. Presses that a held key repeats, and those in feedback, never answer.
    """
    presses = responses_in_time(facts)
    held = bool(facts.held_at_onset)
    if not presses:
        return Score(None, None, None, None, None, False, None, "late", len(facts.events), held)
    first = presses[0]
    response = Response(cast(Mode, first.mode), cast(str, first.answer))
    window_end_s = first.t_s + facts.second_response_window_s
    both = any(e.mode != first.mode and e.t_s <= window_end_s for e in _responses(facts))
    error = judge_response(response, stimulus, game)
    if first.t_s < facts.onset_s:
        error = "early"
    elif both:
        error = "both_modes"
    return Score(
        rt_s=first.t_s - facts.onset_s,
        response=response.answer,
        response_mode=response.mode,
        response_device=first.device,
        response_resolution_s=first.resolution_s,
        correct=error is None,
        mode_correct=response.mode == stimulus.solution.mode,
        error_kind=error,
        n_events=len(facts.events),
        key_held_at_onset=held,
    )


def judge_response(response: Response, stimulus: Stimulus, game: Game) -> str | None:
    """Name the kind of error a response is, by what drew it, or None if it is right."""
    correct = game.correct_responses(stimulus)
    if response in correct:
        return None
    if any(response.answer == right.answer for right in correct):
        return "wrong_mode"
    role = item_role(
        response.answer, stimulus.card, game.item_colours, str(stimulus.solution.target)
    )
    return _ERROR_OF_ROLE[role]
