"""Simulated rivals: when they would answer a card, and what; pure, with randomness passed in.

A rival of settings draws an RT by the rule of the card; a ghost answers as a person did in
earlier trials (`ghostblitz_task.company.ghosts` finds them).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ghostblitz_task.company.attempts import TimedResponse
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, Response, Stimulus, item_role
from ghostblitz_task.participants import ExGaussian

__all__ = [
    "MIN_TRIALS_PER_RULE",
    "GhostRival",
    "GhostTrial",
    "LogNormal",
    "ModelRival",
    "PlannedAttempt",
    "RTDistribution",
    "Rival",
    "make_ghost",
    "make_rival",
]

#: With fewer of its own trials of a rule, a ghost would repeat a handful of RTs.
MIN_TRIALS_PER_RULE = 10

# As for simulated participants: nobody answers a card faster.
_FASTEST_S = 0.15
# From grabbing to shouting when a rival does both; invented, within any second-response window.
_SECOND_RESPONSE_S = 0.15


class RTDistribution(Protocol):
    """Where RTs are drawn from, such as `ExGaussian` and `LogNormal`."""

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one RT in seconds."""
        ...


@dataclass(frozen=True, slots=True)
class LogNormal:
    """RTs by their median and spread.

    Attributes
    ----------
    median_s : float
        Half of the RTs are faster.
    spread : float
        Standard deviation of the natural logarithm of the RT: about two thirds of the RTs lie
        within a factor of ``exp(spread)`` of the median.
    """

    median_s: float
    spread: float

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one RT, never below the fastest that counts as an answer to a card."""
        return max(self.median_s * math.exp(self.spread * float(rng.normal())), _FASTEST_S)


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """A response that will come this long after the card (before it, if negative)."""

    response: Response
    t_s: float

    def by(self, player: str) -> TimedResponse:
        """Return it as the response of a player."""
        return TimedResponse(player, self.t_s, self.response)


class Rival(Protocol):
    """Plays against people; sees only the card and the rules of the game."""

    def attempt(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedAttempt, ...]:
        """Return what will be done with a card, by time; nothing if it is missed."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRival:
    """A rival of settings: an RT distribution and an error rate for each rule.

    Attributes
    ----------
    rts : mapping of str to RTDistribution
        By rule.
    error_rates : mapping of str to float
        By rule: the probability of a wrong answer, in the mode that the card demands: an item on
        the card or one whose colour is shown, each as likely as the others (a colour on the card,
        or another time, where that is asked for).
    """

    rts: Mapping[str, RTDistribution]
    error_rates: Mapping[str, float]

    def attempt(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedAttempt, ...]:
        """Return one response; a rule it knows no RT for raises `ConfigError`."""
        rule = stimulus.solution.rule
        if rule not in self.rts:
            raise ConfigError(
                f"the rival has no RTs for the rule {rule!r}; it has {', '.join(self.rts)}"
            )
        # The same number of draws for each card: no answer can shift the next one's.
        luck, pick = (float(u) for u in rng.random(2))
        rt_s = self.rts[rule].sample(rng)
        lures = _lures(stimulus, game) if luck < self.error_rates[rule] else ()
        response = lures[int(pick * len(lures))] if lures else _right(stimulus)
        return (PlannedAttempt(response, rt_s),)


def make_rival(
    rts: Mapping[str, ExGaussian | LogNormal], error_rate: float | Mapping[str, float]
) -> ModelRival:
    """Make a rival of settings.

    Parameters
    ----------
    rts : mapping of str to ExGaussian or LogNormal
        By rule; all rules of the cards that will be played.
    error_rate : float or mapping of str to float
        From 0 to 1, for all rules or for each.

    Raises
    ------
    ConfigError
        For no rule, times that are not above 0 (a spread may be 0) or not finite, a rate outside
        0 to 1, or rates and RTs for different rules.
    """
    rates = dict(error_rate) if isinstance(error_rate, Mapping) else dict.fromkeys(rts, error_rate)
    if not rts or set(rates) != set(rts):
        raise ConfigError(
            f"the rival has RTs for {', '.join(rts) or 'no rule'} and error rates for "
            f"{', '.join(rates) or 'no rule'}; give both for each rule"
        )
    for rule, distribution in rts.items():
        if isinstance(distribution, ExGaussian):
            centre, width = distribution.mu_s, min(distribution.sigma_s, distribution.tau_s)
            largest = max(distribution.mu_s, distribution.sigma_s, distribution.tau_s)
        else:
            centre, width = distribution.median_s, distribution.spread
            largest = max(centre, width)
        # `not`, since a comparison with NaN is false.
        if not (centre > 0 and width >= 0 and math.isfinite(largest)):
            raise ConfigError(f"the rival's RTs for {rule} cannot be drawn from {distribution}")
        if not 0 <= rates[rule] <= 1:
            raise ConfigError(
                f"the rival's error rate for {rule} is {rates[rule]}; give 0 to 1, as in 0.1"
            )
    return ModelRival(MappingProxyType(dict(rts)), MappingProxyType(rates))


@dataclass(frozen=True, slots=True)
class GhostTrial:
    """A trial as it was once answered.

    Attributes
    ----------
    rule : str
        How the target was found.
    rt_s : float or None
        Null where nothing was answered in time; negative before the card.
    correct : bool
        Whether it was right.
    error_kind : str or None
        How it was wrong, where that is known.
    """

    rule: str
    rt_s: float | None
    correct: bool
    error_kind: str | None = None


@dataclass(frozen=True, slots=True)
class GhostRival:
    """A person's earlier self: each card is answered as a random trial of the same rule was.

    RT and kind of error come together from one trial, so that fast errors stay fast. A wrong
    trial is played as a wrong answer of the same kind, or of any kind where this card has none.
    """

    trials: Mapping[str, tuple[GhostTrial, ...]]

    def attempt(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedAttempt, ...]:
        """Return what the trial drawn came to; a rule without trials raises `ConfigError`."""
        rule = stimulus.solution.rule
        if not self.trials.get(rule):
            raise ConfigError(f"the ghost has no trial of the rule {rule!r}")
        which, pick = (float(u) for u in rng.random(2))
        drawn = self.trials[rule][int(which * len(self.trials[rule]))]
        if drawn.rt_s is None:
            return ()
        right = _right(stimulus)
        if drawn.error_kind == "both_modes" and len(game.modes) > 1:
            other = next(mode for mode in game.modes if mode != right.mode)
            second = Response(other, right.answer)
            return (
                PlannedAttempt(right, drawn.rt_s),
                PlannedAttempt(second, drawn.rt_s + _SECOND_RESPONSE_S),
            )
        if drawn.correct:
            return (PlannedAttempt(right, drawn.rt_s),)
        wrong = _wrong(stimulus, game)
        alike = [r for r in wrong if game.error_kind(r, stimulus) == drawn.error_kind]
        chosen = alike or _lures(stimulus, game)
        return (PlannedAttempt(chosen[int(pick * len(chosen))], drawn.rt_s),)


def make_ghost(
    trials: Iterable[GhostTrial],
    *,
    rules: Iterable[str],
    min_trials_per_rule: int = MIN_TRIALS_PER_RULE,
) -> GhostRival:
    """Make a ghost of a person's own trials (see `ghostblitz_task.company.ghosts`).

    Parameters
    ----------
    trials : iterable of GhostTrial
        Trials of other rules are left aside.
    rules : iterable of str
        The rules of the cards that will be played.
    min_trials_per_rule : int
        How many trials each rule needs. Trials of one rule never stand in for another's: what
        sets the rules apart is what the ghost is to show.

    Raises
    ------
    ConfigError
        Naming the rule with too few trials.
    """
    by_rule: dict[str, list[GhostTrial]] = {rule: [] for rule in rules}
    for trial in trials:
        if trial.rule in by_rule:
            by_rule[trial.rule].append(trial)
    needed = max(min_trials_per_rule, 1)
    for rule, found in by_rule.items():
        if len(found) < needed:
            raise ConfigError(
                f"a ghost needs {needed} earlier test trials of the rule {rule}, but there are "
                f"{len(found)}; play more trials alone first"
            )
    return GhostRival(MappingProxyType({rule: tuple(found) for rule, found in by_rule.items()}))


def _right(stimulus: Stimulus) -> Response:
    return Response(stimulus.solution.mode, stimulus.solution.answer)


def _wrong(stimulus: Stimulus, game: Game) -> list[Response]:
    """Return every wrong response that can be given in one mode."""
    right = game.correct_responses(stimulus)
    all_responses = (Response(mode, a) for mode in game.modes for a in game.answers(mode))
    return [response for response in all_responses if response not in right]


def _lures(stimulus: Stimulus, game: Game) -> Sequence[Response]:
    """Return the wrong responses in the demanded mode that the card suggests; else any wrong."""
    solution, card = stimulus.solution, stimulus.card
    wrong = _wrong(stimulus, game)
    in_mode = [response for response in wrong if response.mode == solution.mode]
    if solution.answer_kind == "colour":
        suggested = {p.colour for p in card.depicted}
    elif solution.answer_kind == "time":
        suggested = {r.answer for r in in_mode} - {*game.item_colours, *game.item_colours.values()}
    else:
        target = str(solution.target)
        roles = {i: item_role(i, card, game.item_colours, target) for i in game.item_colours}
        suggested = {i for i, role in roles.items() if role not in ("target", "neither")}
    return [r for r in in_mode if r.answer in suggested] or in_mode or wrong
