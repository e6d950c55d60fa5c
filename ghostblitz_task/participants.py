"""Simulated participants: perfect, guessing, and one with ex-Gaussian RTs and error kinds.

Their parameters are invented, of the order of magnitude of the published five-object data
(``docs/importing.md``); they are no estimate of anybody and stand for no population.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, Mode, Response, Stimulus, item_role, suggestion

__all__ = ["PARTICIPANT_MODELS", "Participant", "PlannedPress", "make_participant"]

PARTICIPANT_MODELS = ("ex-gaussian", "guessing", "perfect")

# Redraws before the perfect participant, too slow for its deadline, answers just in time.
_N_REDRAWS = 20

# Nobody answers a card faster than this; it keeps an ex-Gaussian's left tail out of the early
# presses, which have a probability of their own.
_FASTEST_S = 0.15


@dataclass(frozen=True, slots=True)
class PlannedPress:
    """A press that will come this long after the card (before it, if negative)."""

    response: Response
    latency_s: float
    hold_s: float


class Participant(Protocol):
    """Answers cards; sees only the card and the rules of the game."""

    def respond(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedPress, ...]:
        """Return what is pressed for a card, in any order; nothing if it is missed."""
        ...


@dataclass(frozen=True, slots=True)
class ExGaussian:
    """Parameters of an ex-Gaussian distribution of RTs, in seconds."""

    mu_s: float
    sigma_s: float
    tau_s: float

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one RT, never below the fastest that counts as an answer to a card."""
        rt_s = rng.normal(self.mu_s, self.sigma_s) + rng.exponential(self.tau_s)
        return max(float(rt_s), _FASTEST_S)


_RTS: Mapping[str, ExGaussian] = MappingProxyType(
    {
        "direct": ExGaussian(0.62, 0.08, 0.30),
        "exclusion": ExGaussian(0.95, 0.14, 0.65),
        "mirror": ExGaussian(0.70, 0.09, 0.35),
        "mirror-owl": ExGaussian(0.80, 0.11, 0.45),
        "time": ExGaussian(0.90, 0.12, 0.50),
    }
)


@dataclass(frozen=True, slots=True)
class PerfectParticipant:
    """Always right and in time, with the RTs of the ex-Gaussian participant below `slowest_s`.

    Slower RTs are drawn again, so that no card is missed.
    """

    rts: Mapping[str, ExGaussian] = field(default_factory=lambda: _RTS)
    slowest_s: float = 7.2

    def respond(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedPress, ...]:
        right = Response(stimulus.solution.mode, stimulus.solution.answer)
        rts = self.rts[stimulus.solution.rule]
        rt_s = rts.sample(rng)
        for _ in range(_N_REDRAWS):
            if rt_s <= self.slowest_s:
                break
            rt_s = rts.sample(rng)
        rt_s = min(rt_s, self.slowest_s)
        return (PlannedPress(right, rt_s, float(rng.uniform(0.05, 0.15))),)


@dataclass(frozen=True, slots=True)
class GuessingParticipant:
    """Any mode, and in it any answer, each as likely as the others."""

    rts: ExGaussian = ExGaussian(0.4, 0.08, 0.2)

    def respond(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedPress, ...]:
        mode: Mode = game.modes[int(rng.integers(len(game.modes)))]
        answers = game.answers(mode)
        item = answers[int(rng.integers(len(answers)))]
        rt_s = self.rts.sample(rng)
        return (PlannedPress(Response(mode, item), rt_s, float(rng.uniform(0.05, 0.15))),)


@dataclass(frozen=True, slots=True)
class ExGaussianParticipant:
    """Ex-Gaussian RTs per rule, and each kind of error with its own probability.

    Attributes
    ----------
    rts : mapping of str to ExGaussian
        By rule.
    p_lure : mapping of str to mapping of str to float
        By rule: the probability of choosing an item of each role
        (see `ghostblitz_task.games.item_role`); where a card has no item of a role, the right
        answer takes its share.
    p_wrong_answer : float
        Probability of a wrong colour or time, where one is asked for.
    p_hat_missed : float
        Probability of answering as if there were no hat, where it turns the target into
        something else.
    p_rule_missed : float
        Probability of answering as if a rule that applies were not in play, where that gives
        another answer.
    p_wrong_mode, p_both_modes, p_early, p_late : float
        Probabilities of the errors that no lure makes; the first two only in games that shout.
    shout_delay_s : float
        Added to each RT in shout trials.
    slowing : float
        Factor on every RT: how slow this participant is.
    """

    rts: Mapping[str, ExGaussian] = field(default_factory=lambda: _RTS)
    p_lure: Mapping[str, Mapping[str, float]] = field(
        default_factory=lambda: MappingProxyType(
            {
                "direct": {"neither": 0.035, "shape": 0.012, "colour": 0.008},
                "exclusion": {"shape": 0.04, "colour": 0.02},
                "mirror": {"shape": 0.03, "neither": 0.01},
            }
        )
    )
    p_wrong_answer: float = 0.04
    p_hat_missed: float = 0.06
    p_rule_missed: float = 0.04
    p_wrong_mode: float = 0.03
    p_both_modes: float = 0.01
    p_early: float = 0.006
    p_late: float = 0.004
    shout_delay_s: float = 0.08
    slowing: float = 1.0

    def respond(
        self, stimulus: Stimulus, game: Game, rng: np.random.Generator
    ) -> tuple[PlannedPress, ...]:
        # The same number of draws for each trial: no answer can shift the next one's.
        luck = rng.random(5)
        rt_s = self.slowing * self.rts[stimulus.solution.rule].sample(rng)
        answer = self._choose(stimulus, game, rng)
        hold_s = float(rng.uniform(0.05, 0.15))
        mode = stimulus.solution.mode
        if mode == "shout":
            rt_s += self.shout_delay_s
        if luck[0] < self.p_late:
            return ()
        if len(game.modes) > 1:
            other: Mode = "shout" if mode == "grab" else "grab"
            # Only what has a key can be pressed: a colour cannot be grabbed.
            possible = answer in game.answers(other)
            if possible and luck[1] < self.p_wrong_mode:
                mode = other
            elif possible and luck[1] > 1 - self.p_both_modes:
                return (
                    PlannedPress(Response(mode, answer), rt_s, hold_s),
                    PlannedPress(Response(other, answer), rt_s + 0.15, hold_s),
                )
        missed = _as_if_rules_were_missed(stimulus, game) if luck[4] < self.p_rule_missed else ()
        if missed:
            response = missed[int(luck[4] / self.p_rule_missed * len(missed))]
            return (PlannedPress(response, rt_s, hold_s),)
        if luck[2] < self.p_early:
            rt_s = -0.05 - 0.2 * float(luck[3])
        return (PlannedPress(Response(mode, answer), rt_s, hold_s),)

    def _choose(self, stimulus: Stimulus, game: Game, rng: np.random.Generator) -> str:
        solution = stimulus.solution
        target = str(solution.target)
        p_by_role = self.p_lure.get(solution.rule, {})
        luck = rng.random()
        pick = int(rng.integers(0, 2**16))
        if solution.answer_kind != "item":
            alike = [a for a in game.answers("shout") if a not in game.item_colours]
            others = [a for a in alike if (":" in a) == (solution.answer_kind == "time")]
            others.remove(solution.answer)
            return others[pick % len(others)] if luck < self.p_wrong_answer else solution.answer
        if solution.answer != target and luck > 1 - self.p_hat_missed:
            return target
        for role, p in p_by_role.items():
            if luck < p:
                lures = [
                    item
                    for item in game.item_colours
                    if item_role(item, stimulus.card, game.item_colours, target) == role
                ]
                return lures[pick % len(lures)] if lures else stimulus.solution.answer
            luck -= p
        return stimulus.solution.answer


def _as_if_rules_were_missed(stimulus: Stimulus, game: Game) -> tuple[Response, ...]:
    """Return the responses that would be right if rules that apply were not in play."""
    responses = (Response(mode, a) for mode in game.modes for a in game.answers(mode))
    return tuple(r for r in responses if game.error_kind(r, stimulus) == "rule_missed")


def make_participant(
    model: str, rng: np.random.Generator, *, deadline_s: float = 8.0
) -> Participant:
    """Make one participant of a model; people differ in speed and accuracy where it has any.

    Parameters
    ----------
    model : str
        One of `PARTICIPANT_MODELS`.
    rng : numpy.random.Generator
        Draws what is particular to this participant.
    deadline_s : float
        The study's; the perfect participant keeps it.

    Raises
    ------
    ConfigError
        If there is no such model.
    """
    if model == "perfect":
        return PerfectParticipant(slowest_s=0.9 * deadline_s)
    if model == "guessing":
        return GuessingParticipant()
    if model == "ex-gaussian":
        carelessness = float(rng.lognormal(0, 0.4))
        default = ExGaussianParticipant()
        lures = {
            rule: {role: min(p * carelessness, 0.2) for role, p in by_role.items()}
            for rule, by_role in default.p_lure.items()
        }
        return ExGaussianParticipant(slowing=float(rng.lognormal(0, 0.2)), p_lure=lures)
    raise ConfigError(
        f"{model!r} is no participant model; there are {', '.join(PARTICIPANT_MODELS)}"
        + suggestion(model, PARTICIPANT_MODELS)
    )
