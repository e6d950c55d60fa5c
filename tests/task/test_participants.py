"""Simulated participants do what their parameters say."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest

from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import GameSettings, make_game
from ghostblitz_task.participants import (
    PARTICIPANT_MODELS,
    ExGaussian,
    ExGaussianParticipant,
    GuessingParticipant,
    PerfectParticipant,
    make_participant,
)

GAME = make_game(GameSettings("grab-or-shout"))
CLASSIC = make_game(GameSettings("classic"))
STIMULI = legal_stimuli(GAME)
N = 12_000


def ask(participant, n: int, *, game=GAME, seed: int = 1, rule: str | None = None):
    rng = np.random.default_rng(seed)
    stimuli = [s for s in legal_stimuli(game) if rule in (None, s.solution.rule)]
    return [
        (stimuli[i % len(stimuli)], participant.respond(stimuli[i % len(stimuli)], game, rng))
        for i in range(n)
    ]


def within_sampling_error(n_found: int, n: int, p: float, sigmas: float = 4.0) -> bool:
    return abs(n_found - n * p) <= sigmas * sqrt(n * p * (1 - p))


def quiet(**changes) -> ExGaussianParticipant:
    """No error but what a test asks for."""
    none = {"direct": {}, "exclusion": {}}
    plain = {"p_lure": none, "p_wrong_mode": 0.0, "p_both_modes": 0.0, "p_early": 0.0,
             "p_late": 0.0, "shout_delay_s": 0.0}  # fmt: skip
    return ExGaussianParticipant(**(plain | changes))


def test_perfect_participant_is_always_right_and_never_late() -> None:
    for game in (GAME, CLASSIC):
        for stimulus, presses in ask(PerfectParticipant(), 3000, game=game):
            assert len(presses) == 1
            assert game.error_kind(presses[0].response, stimulus) is None
            assert 0.15 <= presses[0].latency_s < 8


def test_perfect_participant_draws_slow_rts_again() -> None:
    slow = {rule: ExGaussian(1.0, 0.1, 5.0) for rule in ("direct", "exclusion")}
    latencies = [p.latency_s for _, (p,) in ask(PerfectParticipant(slow), 2000)]
    assert 5 < max(latencies) <= 7.2


@pytest.mark.parametrize("deadline_s", [0.12, 0.5, 2.0, 8.0])
def test_perfect_participant_keeps_the_studys_deadline(deadline_s: float) -> None:
    participant = make_participant("perfect", np.random.default_rng(1), deadline_s=deadline_s)
    latencies = [p.latency_s for _, (p,) in ask(participant, 500)]
    assert max(latencies) <= 0.9 * deadline_s


def test_guessing_participant_is_at_chance_in_item_and_mode() -> None:
    answered = ask(GuessingParticipant(), N)
    n_right = sum(GAME.error_kind(p.response, s) is None for s, (p,) in answered)
    assert within_sampling_error(n_right, N, 1 / 10)
    items = Counter(p.response.answer for _, (p,) in answered)
    assert all(within_sampling_error(items[item], N, 1 / 5) for item in GAME.item_colours)
    classic = ask(GuessingParticipant(), N, game=CLASSIC)
    n_right = sum(CLASSIC.error_kind(p.response, s) is None for s, (p,) in classic)
    assert within_sampling_error(n_right, N, 1 / 5)


def test_ex_gaussian_has_its_mean_and_variance() -> None:
    """Mean mu + tau, variance sigma^2 + tau^2, third central moment 2 tau^3."""
    rng = np.random.default_rng(3)
    mu_s, sigma_s, tau_s, n = 1.0, 0.1, 0.4, 40_000
    drawn = np.array([ExGaussian(mu_s, sigma_s, tau_s).sample(rng) for _ in range(n)])
    variance = sigma_s**2 + tau_s**2
    assert abs(drawn.mean() - (mu_s + tau_s)) < 4 * sqrt(variance / n)
    # Var(s^2) = (m4 - variance^2) / n; m4 = 3 variance^2 + 6 tau^4.
    assert abs(drawn.var() - variance) < 4 * sqrt((2 * variance**2 + 6 * tau_s**4) / n)
    assert np.mean((drawn - drawn.mean()) ** 3) == pytest.approx(2 * tau_s**3, rel=0.15)


def test_no_rt_is_below_the_fastest() -> None:
    rng = np.random.default_rng(3)
    assert min(ExGaussian(0.0, 0.3, 0.01).sample(rng) for _ in range(500)) == 0.15


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["direct", "exclusion"])
@pytest.mark.parametrize("slowing", [1.0, 1.5])
def test_rts_follow_the_rule_and_the_persons_slowing(rule: str, slowing: float) -> None:
    rts = {"direct": ExGaussian(0.6, 0.05, 0.2), "exclusion": ExGaussian(1.0, 0.1, 0.5)}
    answered = ask(quiet(rts=rts, slowing=slowing), N, rule=rule)
    latencies = np.array([p.latency_s for _, (p,) in answered])
    own = rts[rule]
    spread = slowing * sqrt(own.sigma_s**2 + own.tau_s**2)
    expected = slowing * (own.mu_s + own.tau_s)
    assert abs(latencies.mean() - expected) < 4 * spread / sqrt(N)


def test_shout_delay_is_added_in_shout_trials_only() -> None:
    rts = {rule: ExGaussian(0.5, 0.0, 1e-9) for rule in ("direct", "exclusion")}
    for changes in ({}, {"p_both_modes": 1.0}, {"p_wrong_mode": 1.0}):
        participant = quiet(rts=rts, shout_delay_s=0.1, **changes)
        for stimulus, presses in ask(participant, 200):
            expected = 0.6 if stimulus.solution.mode == "shout" else 0.5
            assert presses[0].latency_s == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_each_lure_is_chosen_with_its_probability() -> None:
    p_lure = {
        "direct": {"neither": 0.2, "shape": 0.1, "colour": 0.05},
        "exclusion": {"shape": 0.15, "colour": 0.1},
    }
    kinds = {"neither": "rule_confusion", "shape": "shape_capture", "colour": "colour_capture"}
    for rule, by_role in p_lure.items():
        answered = ask(quiet(p_lure=p_lure), N, rule=rule)
        found = Counter(GAME.error_kind(p.response, s) for s, (p,) in answered)
        for role, p in by_role.items():
            assert within_sampling_error(found[kinds[role]], N, p), (rule, role)
        assert within_sampling_error(found[None], N, 1 - sum(by_role.values()))


def test_share_of_a_role_that_a_card_lacks_goes_to_the_right_answer() -> None:
    p_lure = {"direct": {}, "exclusion": {"neither": 0.3, "shape": 0.2}}
    answered = ask(quiet(p_lure=p_lure), N, rule="exclusion")
    found = Counter(GAME.error_kind(p.response, s) for s, (p,) in answered)
    assert within_sampling_error(found["shape_capture"], N, 0.2)
    assert within_sampling_error(found[None], N, 0.8)


def test_items_of_a_role_are_chosen_evenly() -> None:
    p_lure = {"direct": {}, "exclusion": {"shape": 1.0}}
    answered = ask(quiet(p_lure=p_lure), N, rule="exclusion")
    first = sum(p.response.answer == s.card.pictures[0].item for s, (p,) in answered)
    assert within_sampling_error(first, N, 0.5)


@pytest.mark.slow
def test_mode_errors_misses_and_early_presses_have_their_probabilities() -> None:
    wrong = ask(quiet(p_wrong_mode=0.1), N)
    n = sum(GAME.error_kind(p.response, s) == "wrong_mode" for s, (p,) in wrong)
    assert within_sampling_error(n, N, 0.1)
    both = [presses for _, presses in ask(quiet(p_both_modes=0.05), N) if len(presses) == 2]
    assert within_sampling_error(len(both), N, 0.05)
    assert all(a.response.mode != b.response.mode for a, b in both)
    assert all(b.latency_s - a.latency_s == pytest.approx(0.15) for a, b in both)
    late = sum(presses == () for _, presses in ask(quiet(p_late=0.07), N))
    assert within_sampling_error(late, N, 0.07)
    early = [p for _, (p,) in ask(quiet(p_early=0.06), N) if p.latency_s < 0]
    assert within_sampling_error(len(early), N, 0.06)
    assert all(-0.25 <= p.latency_s <= -0.05 for p in early)


def test_where_nothing_is_shouted_nobody_errs_in_the_mode() -> None:
    answered = ask(quiet(p_wrong_mode=1.0), 200, game=CLASSIC)
    assert {p.response.mode for _, (p,) in answered} == {"grab"}


@pytest.mark.parametrize("model", PARTICIPANT_MODELS)
def test_every_model_can_be_made_and_repeats_with_its_seed(model: str) -> None:
    def play() -> list[object]:
        rng = np.random.default_rng(9)
        participant = make_participant(model, rng)
        return [participant.respond(s, GAME, rng) for s in STIMULI]

    assert play() == play()


def test_people_of_the_ex_gaussian_model_differ() -> None:
    made = [make_participant("ex-gaussian", np.random.default_rng(seed)) for seed in range(2)]
    assert made[0] != made[1]


def test_unknown_model_is_refused_with_the_near_one() -> None:
    with pytest.raises(ConfigError, match=r"'perfekt' is no participant model.*mean perfect\?"):
        make_participant("perfekt", np.random.default_rng(1))
