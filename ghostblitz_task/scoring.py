"""From the facts of a trial to its score; used by the session and again on every load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from ghostblitz_task.games import Game, GameState, Mode, Outcome, Response, Stimulus

__all__ = [
    "Replayed",
    "Score",
    "TrialEvent",
    "TrialFacts",
    "chosen_hat_moves",
    "replay_trials",
    "responses",
    "responses_in_time",
    "score_trial",
]


@dataclass(frozen=True, slots=True)
class TrialEvent:
    """One thing a device did, and what it means in this study (null: nothing).

    Attributes
    ----------
    t_s : float
        Seconds on the session clock.
    device : str
        ``grab_keys``, ``shout_keys``, ``other_keys`` or ``pointer``; ``grab_buttons``,
        ``shout_buttons`` or ``other_buttons`` of a response pad.
    kind : str
        ``press`` or ``release``.
    key : str
        Name of the key (of the one that a pad's button stands for), or of the pointer button.
    code : int or None
        The key's code, which the layout does not change, or the button's.
    resolution_s : float
        The event happened at most this long before `t_s`.
    mode, answer : str or None
        The response that the key or place stands for.
    player : int or None
        The seat, from 0, of the player whose key it is; null in sessions of one.
    repeated : bool
        A press of a key, or of a button, that was already down.
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
    player: int | None = None
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


def responses_in_time(facts: TrialFacts, player: int | None = None) -> tuple[TrialEvent, ...]:
    """Return a player's presses that mean a response, from fixation mark to deadline, by time."""
    last_s = facts.onset_s + facts.deadline_s
    return tuple(event for event in responses(facts, player) if event.t_s <= last_s)


def responses(facts: TrialFacts, player: int | None) -> list[TrialEvent]:
    """Return a player's presses that mean a response, from the fixation mark on, by time."""
    return [
        event
        for event in sorted(facts.events, key=lambda e: e.t_s)
        if event.kind == "press"
        and event.mode is not None
        and event.player == player
        and not event.repeated
        and event.t_s >= facts.fixation_onset_s
    ]


def score_trial(
    facts: TrialFacts, stimulus: Stimulus, game: Game, player: int | None = None
) -> Score:
    """Score a trial from its facts, for one of several players or for the only one.

    The first press that means a response, at or after the fixation mark and until the deadline,
    is the one attempt a card allows. Before the card it is an ``early`` error; RT is that press
    minus the flip that showed the card, on the same clock. A press in the other mode within the
    second-response window makes a ``both_modes`` error; the window is the response's, so it may
    end after the deadline. Nothing in time is ``late`` and has no
    RT. Presses that a held key repeats, and those in feedback, never answer.
    """
    presses = responses_in_time(facts, player)
    held = bool(facts.held_at_onset)
    if not presses:
        return Score(None, None, None, None, None, False, None, "late", len(facts.events), held)
    first = presses[0]
    response = Response(cast(Mode, first.mode), cast(str, first.answer))
    window_end_s = first.t_s + facts.second_response_window_s
    both = any(e.mode != first.mode and e.t_s <= window_end_s for e in responses(facts, player))
    error = game.error_kind(response, stimulus)
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


@dataclass(frozen=True, slots=True)
class Replayed:
    """A logged trial met again: its card on the table as it lay, its score, the table after it."""

    record: Mapping[str, Any]
    stimulus: Stimulus
    score: Score
    after: GameState


def replay_trials(
    records: Iterable[Mapping[str, Any]],
    game: Game,
    state: GameState,
    *,
    hat_moves: Mapping[int, str],
) -> Iterator[Replayed]:
    """Go through a session's trials again, each on the table that the ones before it left.

    Parameters
    ----------
    records : iterable of mapping
        The session's trial records from its first trial on, earlier runs included.
    game : Game
        The rules.
    state : GameState
        The table before the first card.
    hat_moves : mapping of int to str
        By trial index, the item over which somebody chose to put the hat after it.

    Raises
    ------
    CardError
        If a card is illegal.
    """
    for record in records:
        stimulus = game.stimulus(game.parse(record["card"]), state)
        score = score_trial(TrialFacts.from_json(record), stimulus, game)
        outcome = Outcome(score.given, score.correct, hat_moves.get(record["trial_index"]))
        state = game.advance(state, stimulus, outcome)
        yield Replayed(record, stimulus, score, state)


def chosen_hat_moves(records: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """Return, by the trial before it, each item over which a participant chose to put the hat.

    Takes the records of a session, of all types; those of its runs one after the other.
    """
    return {
        record["trial_index"]: record["hat_over"]
        for record in records
        if record["type"] == "hat" and record["mover"] == "participant"
    }
