"""From what the players did with one card to one judged attempt of each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ghostblitz_task.games import Game, Response, Stimulus

__all__ = ["Attempt", "Ignored", "JudgedAttempts", "TimedResponse", "judge_attempts"]

IgnoredReason = Literal[
    "after_deadline", "after_early", "same_mode", "after_both_modes", "after_window"
]


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """What a player did, and when, in seconds from the card (negative: before it)."""

    player: str
    t_s: float
    response: Response


@dataclass(frozen=True, slots=True)
class Attempt:
    """A player's one attempt at a card, judged.

    Attributes
    ----------
    player : str
        Who.
    t_s : float
        When, in seconds from the card: of the right answer if one was in it, else of the first
        response.
    right : bool
        Whether the right answer was in it.
    both_modes : bool
        Grabbed and shouted, which is a mistake even if one of the two was right.
    error_kind : str or None
        The mistake, as the game names it; null where there was none or nobody named it.
    response : Response or None
        The response at `t_s`, where it is known.
    """

    player: str
    t_s: float
    right: bool
    both_modes: bool = False
    error_kind: str | None = None
    response: Response | None = None

    @property
    def correct(self) -> bool:
        """Right, and no mistake with it."""
        return self.right and not self.both_modes


@dataclass(frozen=True, slots=True)
class Ignored:
    """A response that changed nothing, and why."""

    given: TimedResponse
    reason: IgnoredReason


@dataclass(frozen=True, slots=True)
class JudgedAttempts:
    """One attempt of each player who answered, by time, and the responses left aside."""

    attempts: tuple[Attempt, ...]
    ignored: tuple[Ignored, ...]


def judge_attempts(
    responses: Iterable[TimedResponse],
    stimulus: Stimulus,
    game: Game,
    *,
    second_response_window_s: float = math.inf,
    deadline_s: float = math.inf,
) -> JudgedAttempts:
    """Judge what the players did with one card, as `scoring.score_trial` does for one.

    A player's first response until the deadline is the attempt; before the card it is an
    ``early`` mistake, whatever follows. A response in the other mode within the window after it
    makes the attempt a ``both_modes`` mistake; it was right if either response was, in time. All
    other responses are ignored.

    Parameters
    ----------
    responses : iterable of TimedResponse
        In any order; of two at the same time, the one given first counts as the first.
    stimulus, game
        The card on the table as it stands, and the rules that judge it.
    second_response_window_s, deadline_s : float
        Seconds after the first response, and after the card; infinite where there is no limit.
    """
    by_player: dict[str, list[TimedResponse]] = {}
    for given in sorted(responses, key=lambda r: r.t_s):
        by_player.setdefault(given.player, []).append(given)
    attempts: list[Attempt] = []
    ignored: list[Ignored] = []
    for series in by_player.values():
        first, *later = series
        if first.t_s > deadline_s:
            ignored += [Ignored(given, "after_deadline") for given in series]
            continue
        second, left_aside = _second(first, later, second_response_window_s)
        ignored += left_aside
        attempts.append(_judged(first, second, stimulus, game, deadline_s))
    return JudgedAttempts(
        tuple(sorted(attempts, key=lambda a: a.t_s)),
        tuple(sorted(ignored, key=lambda i: i.given.t_s)),
    )


def _second(
    first: TimedResponse, later: list[TimedResponse], window_s: float
) -> tuple[TimedResponse | None, list[Ignored]]:
    """Find the response that makes it both modes, and say why the others change nothing."""
    second: TimedResponse | None = None
    ignored: list[Ignored] = []
    for given in later:
        if first.t_s < 0:
            ignored.append(Ignored(given, "after_early"))
        elif second is not None:
            ignored.append(Ignored(given, "after_both_modes"))
        elif given.response.mode == first.response.mode:
            ignored.append(Ignored(given, "same_mode"))
        elif given.t_s > first.t_s + window_s:
            ignored.append(Ignored(given, "after_window"))
        else:
            second = given
    return second, ignored


def _judged(
    first: TimedResponse,
    second: TimedResponse | None,
    stimulus: Stimulus,
    game: Game,
    deadline_s: float,
) -> Attempt:
    player, both = first.player, second is not None
    if first.t_s < 0:
        return Attempt(player, first.t_s, False, error_kind="early", response=first.response)
    error = game.error_kind(first.response, stimulus)
    counted, right = first, error is None
    if second is not None:
        if not right and second.t_s <= deadline_s:
            right = game.error_kind(second.response, stimulus) is None
            counted = second if right else first
        error = "both_modes"
    return Attempt(player, counted.t_s, right, both, error, counted.response)
