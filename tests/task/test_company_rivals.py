"""Rivals answer as their settings, or their person's earlier trials, say."""

from __future__ import annotations

from collections import Counter
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from small_study import solved

from ghostblitz_task.company.attempts import judge_attempts
from ghostblitz_task.company.ghosts import ghost_trials
from ghostblitz_task.company.rivals import (
    GhostRival,
    GhostTrial,
    LogNormal,
    PlannedAttempt,
    Rival,
    make_ghost,
    make_rival,
)
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, GameSettings, Response, Stimulus, item_role, make_game
from ghostblitz_task.participants import ExGaussian
from ghostblitz_task.studies import open_study, simulate_study
from ghostblitz_task.trial_log import RunLog, read_log

ROOT = Path(__file__).parents[2]

RTS = {"direct": ExGaussian(0.6, 0.05, 0.1), "exclusion": ExGaussian(1.0, 0.1, 0.3)}
GAMES = ["classic", "grab-or-shout", "spooky-doo"]
N = 4000


def stimuli_of(game: Game, rule: str | None = None) -> list[Stimulus]:
    return [s for s in legal_stimuli(game) if rule in (None, s.solution.rule)]


def ask(rival: Rival, game: Game, n: int, *, rule: str | None = None, seed: int = 1):
    rng = np.random.default_rng(seed)
    stimuli = stimuli_of(game, rule)
    return [(s, rival.attempt(s, game, rng)) for s in (stimuli[i % len(stimuli)] for i in range(n))]


def kinds(rival: Rival, game: Game, n: int, **more) -> Counter[str | None]:
    """How a judge names what the rival does."""
    found: Counter[str | None] = Counter()
    for stimulus, planned in ask(rival, game, n, **more):
        judged = judge_attempts([p.by("R") for p in planned], stimulus, game)
        found[judged.attempts[0].error_kind if judged.attempts else "late"] += 1
    return found


# --- of settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_faultless_rival_is_always_right(name: str) -> None:
    game = make_game(GameSettings(name))
    assert kinds(make_rival(RTS, 0.0), game, 500) == {None: 500}


@pytest.mark.parametrize("name", GAMES)
def test_rival_that_always_errs_is_never_right(name: str) -> None:
    game = make_game(GameSettings(name))
    assert kinds(make_rival(RTS, 1.0), game, 500)[None] == 0


def test_error_rates_are_kept_for_each_rule() -> None:
    game = make_game(GameSettings("classic"))
    rival = make_rival(RTS, {"direct": 0.1, "exclusion": 0.4})
    for rule, p in (("direct", 0.1), ("exclusion", 0.4)):
        n_wrong = N - kinds(rival, game, N, rule=rule)[None]
        assert abs(n_wrong - N * p) < 4 * sqrt(N * p * (1 - p))


def test_wrong_answers_are_lures_in_the_demanded_mode_and_all_of_them() -> None:
    game = make_game(GameSettings("grab-or-shout"))
    stimulus, _ = solved("book:green ghost:red")  # shout the mouse; lures: all others
    rng = np.random.default_rng(1)
    rival = make_rival(RTS, 1.0)
    found = {rival.attempt(stimulus, game, rng)[0].response for _ in range(200)}
    assert found == {Response("shout", i) for i in ("book", "ghost", "bottle", "chair")}
    for s, (planned,) in ask(rival, game, 500):
        role = item_role(planned.response.answer, s.card, game.item_colours, s.solution.answer)
        assert role in ("shape", "colour")
        assert planned.response.mode == s.solution.mode


def test_rts_are_those_of_the_rule() -> None:
    game = make_game(GameSettings("classic"))
    rival = make_rival(RTS, 0.2)
    for rule, mean_s, sd_s in (("direct", 0.7, 0.112), ("exclusion", 1.3, 0.316)):
        rts = [planned.t_s for _, (planned,) in ask(rival, game, N, rule=rule)]
        assert abs(np.mean(rts) - mean_s) < 4 * sd_s / sqrt(N)


def test_median_and_spread_of_rts_are_those_set() -> None:
    rng = np.random.default_rng(1)
    rts = np.array([LogNormal(0.8, 0.3).sample(rng) for _ in range(N)])
    assert abs(log(float(np.median(rts)) / 0.8)) < 4 * 0.3 * sqrt(np.pi / 2 / N)
    within = np.mean((rts > 0.8 * exp(-0.3)) & (rts < 0.8 * exp(0.3)))
    assert abs(within - 0.6827) < 4 * sqrt(0.6827 * 0.3173 / N)


def test_no_rt_is_faster_than_anybody() -> None:
    rng = np.random.default_rng(1)
    assert min(LogNormal(0.2, 2.0).sample(rng) for _ in range(500)) == 0.15


def test_the_same_generator_gives_the_same_answers() -> None:
    game = make_game(GameSettings("grab-or-shout"))
    rival = make_rival(RTS, 0.3)
    assert ask(rival, game, 100) == ask(rival, game, 100)
    assert ask(rival, game, 100) != ask(rival, game, 100, seed=2)


def test_an_error_shifts_no_later_rt() -> None:
    game = make_game(GameSettings("classic"))
    careless, careful = ask(make_rival(RTS, 0.9), game, 50), ask(make_rival(RTS, 0.0), game, 50)
    assert [p.t_s for _, (p,) in careless] == [p.t_s for _, (p,) in careful]


@pytest.mark.parametrize(
    ("rts", "error_rate", "fault"),
    [
        ({}, 0.1, "RTs for no rule"),
        (RTS, {"direct": 0.1}, "RTs for direct, exclusion and error rates for direct"),
        (RTS, 1.5, r"error rate for direct is 1\.5"),
        (RTS, float("nan"), "error rate for direct is nan"),
        ({"direct": ExGaussian(-1, 0.1, 0.1)}, 0.1, "RTs for direct cannot be drawn from"),
        ({"direct": ExGaussian(1, -0.1, 0.1)}, 0.1, "cannot be drawn from"),
        ({"direct": ExGaussian(1, 0.1, float("inf"))}, 0.1, "cannot be drawn from"),
        ({"direct": LogNormal(float("nan"), 0.1)}, 0.1, "cannot be drawn from"),
        ({"direct": LogNormal(0.7, -0.1)}, 0.1, "cannot be drawn from"),
    ],
)
def test_settings_that_make_no_rival_are_refused(rts, error_rate, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        make_rival(rts, error_rate)


def test_rule_that_a_rival_does_not_know_is_refused() -> None:
    stimulus, game = solved("book:green ghost:red")
    rng = np.random.default_rng(1)
    with pytest.raises(ConfigError, match="no RTs for the rule 'exclusion'; it has direct"):
        make_rival({"direct": RTS["direct"]}, 0.1).attempt(stimulus, game, rng)
    with pytest.raises(ConfigError, match="no trial of the rule 'exclusion'"):
        GhostRival({}).attempt(stimulus, game, rng)


@pytest.mark.parametrize("rules", [frozenset(), frozenset({"mirror", "owl", "mirror-owl"})])
def test_rival_plays_every_rule_of_five_to_twelve(rules: frozenset[str]) -> None:
    game = make_game(GameSettings("five-to-twelve", rules=rules))
    every_rule = ("direct", "exclusion", "mirror", "mirror-owl", "time")
    for text, rule in [
        ("ghost:red clock:green@11:55 key:blue", "time"),
        ("mirror:blue(hat:red) owl:black vial:white", "mirror-owl"),
    ]:
        stimulus = game.stimulus(game.parse(text), game.initial_state())
        if rule == "mirror-owl" and not rules:
            continue
        assert stimulus.solution.rule == rule
        rng = np.random.default_rng(1)
        rts = dict.fromkeys(every_rule, RTS["direct"])
        right, wrong = make_rival(rts, 0.0), make_rival(rts, 1.0)
        for _ in range(50):
            (planned,) = right.attempt(stimulus, game, rng)
            assert game.error_kind(planned.response, stimulus) is None
            (planned,) = wrong.attempt(stimulus, game, rng)
            assert game.error_kind(planned.response, stimulus) in (
                {"wrong_time"} if rule == "time" else {"own_colour", "wrong_colour"}
            )
            assert planned.response.mode == "shout"


# --- ghosts ----------------------------------------------------------------------------------


def ghost_of(*trials: GhostTrial) -> GhostRival:
    return make_ghost(trials, rules=[t.rule for t in trials], min_trials_per_rule=1)


def test_ghost_answers_a_rule_as_trials_of_that_rule_were_answered() -> None:
    game = make_game(GameSettings("classic"))
    ghost = ghost_of(
        GhostTrial("direct", 0.5, True), GhostTrial("direct", 0.6, True),
        GhostTrial("exclusion", 0.9, True),
    )  # fmt: skip
    direct = Counter(p.t_s for _, (p,) in ask(ghost, game, N, rule="direct"))
    assert set(direct) == {0.5, 0.6}
    assert abs(direct[0.5] - N / 2) < 4 * sqrt(N / 4)
    assert {p.t_s for _, (p,) in ask(ghost, game, 50, rule="exclusion")} == {0.9}
    assert kinds(ghost, game, 50) == {None: 50}


@pytest.mark.parametrize("kind", ["shape_capture", "colour_capture", "wrong_mode", "both_modes"])
def test_ghost_errs_as_its_person_erred(kind: str) -> None:
    game = make_game(GameSettings("grab-or-shout"))
    ghost = ghost_of(GhostTrial("exclusion", 0.9, False, kind))
    assert kinds(ghost, game, 200, rule="exclusion") == {kind: 200}


def test_ghost_misses_where_its_person_missed_and_is_early_where_early() -> None:
    game = make_game(GameSettings("grab-or-shout"))
    missed = ghost_of(GhostTrial("direct", None, False, "late"))
    assert ask(missed, game, 1, rule="direct")[0][1] == ()
    early = ghost_of(GhostTrial("direct", -0.1, False, "early"))
    assert kinds(early, game, 20, rule="direct") == {"early": 20}


def test_ghost_errs_anyhow_where_the_card_has_no_such_error_or_it_is_not_known() -> None:
    game = make_game(GameSettings("classic"))
    for kind in (None, "hat_grabbed", "both_modes"):
        ghost = ghost_of(GhostTrial("direct", 0.5, False, kind))
        assert kinds(ghost, game, 200, rule="direct")[None] == 0


def test_ghost_with_too_few_trials_of_a_rule_is_refused() -> None:
    trials = [GhostTrial("direct", 0.5, True)] * 50 + [GhostTrial("exclusion", 0.5, True)] * 9
    with pytest.raises(
        ConfigError, match="10 earlier test trials of the rule exclusion, but there are 9"
    ):
        make_ghost(trials, rules=["direct", "exclusion"])
    assert set(make_ghost(trials, rules=["direct"]).trials) == {"direct"}


def test_planned_attempt_becomes_a_players_response() -> None:
    given = PlannedAttempt(Response("grab", "ghost"), 0.7).by("R")
    assert (given.player, given.t_s, given.response) == ("R", 0.7, Response("grab", "ghost"))


# --- out of the logs -------------------------------------------------------------------------


def run_log(*records: dict, run: int = 1, participant_id: str = "007", **game) -> RunLog:
    made = make_game(GameSettings("classic"))
    header = {
        "study_id": "small", "participant_id": participant_id, "session": 1, "run": run,
        "game": {
            "name": "classic", "item_colours": dict(made.item_colours), "n_pictures": 2,
            "shout_item": None, "rules": [], **game,
        },
    }  # fmt: skip
    return RunLog(Path("x.jsonl"), header, records, torn=False)


def trial(rt_s: float | None, **changes) -> dict:
    return {"type": "trial", "phase": "test", "rule": "direct", "rt_s": rt_s, "correct": True,
            "error_kind": None, **changes}  # fmt: skip


CLASSIC = make_game(GameSettings("classic"))


def test_trials_are_read_with_rule_time_and_error() -> None:
    log_ = run_log(trial(0.5), trial(None, rule="exclusion", correct=False, error_kind="late"))
    assert ghost_trials([log_], CLASSIC) == (
        GhostTrial("direct", 0.5, True),
        GhostTrial("exclusion", None, False, "late"),
    )


def test_practice_interrupted_and_recycled_trials_are_left_out() -> None:
    log_ = run_log(
        trial(0.1, phase="practice"),
        trial(0.2, type="interrupted"),
        trial(0.3, recycled=True),
        trial(0.4, recycled=False),
    )
    assert [t.rt_s for t in ghost_trials([log_], CLASSIC)] == [0.4]


@pytest.mark.parametrize(
    "other", [{"name": "grab-or-shout"}, {"n_pictures": 3}, {"item_colours": {"ghost": "white"}},
              {"rules": ["owl"]}, {"shout_item": "book"}],
)  # fmt: skip
def test_runs_of_another_game_are_left_out(other: dict) -> None:
    logs = [run_log(trial(0.1), **other), run_log(trial(0.2), run=2)]
    assert [t.rt_s for t in ghost_trials(logs, CLASSIC)] == [0.2]


def test_runs_of_two_people_make_no_ghost() -> None:
    with pytest.raises(ConfigError, match=r"of 2 participants \(007, 008\)"):
        ghost_trials([run_log(), run_log(participant_id="008")], CLASSIC)


def test_run_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="session 1, run 1 is given twice"):
        ghost_trials([run_log(), run_log()], CLASSIC)


def test_ghost_is_made_from_a_session_as_it_is_logged(tmp_path: Path) -> None:
    study = open_study(ROOT / "experiments" / "classic-grab")
    (path,) = simulate_study(
        study, tmp_path / "data", n_participants=1, seed=1, model="ex-gaussian"
    )
    run = read_log(path)
    game = study.settings.make_game()
    trials = ghost_trials([run], game)
    logged = [t for t in run.of_type("trial") if t["phase"] == "test"]
    assert [t.rt_s for t in trials] == [t["rt_s"] for t in logged]
    assert len(trials) > 40
    ghost = make_ghost(trials, rules=["direct", "exclusion"])
    rts = {p.t_s for _, planned in ask(ghost, game, 300) for p in planned[:1]}
    assert rts <= {t.rt_s for t in trials}
    assert len(rts) > 20
