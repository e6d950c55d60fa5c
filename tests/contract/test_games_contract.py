"""What every game must keep to: a new game is one file, and this suite runs on it unchanged."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_study import study_table

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.cards import Card
from ghostblitz_task.config import StudySettings
from ghostblitz_task.deck import DECK_KINDS, build_deck, legal_stimuli, levels
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import Game, GameSettings, Outcome, Response, available_games, make_game
from ghostblitz_task.participants import make_participant
from ghostblitz_task.schema import column
from ghostblitz_task.scoring import chosen_hat_moves, replay_trials
from ghostblitz_task.screens import Screens
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.studies import Study, simulate_study
from ghostblitz_task.texts import load_texts
from ghostblitz_task.trial_log import read_log

GRAB, SHOUT = "asdfghjkl", "qwertyuiozxcvbnm123456789"


def subsets(rules: frozenset[str]) -> list[frozenset[str]]:
    """Every combination of additional rules, none and all of them among it."""
    found = (combinations(sorted(rules), n) for n in range(len(rules) + 1))
    return [frozenset(kept) for kept in chain.from_iterable(found)]


def variants() -> list[GameSettings]:
    """Every game, under every combination of its additional rules and with each hat mover."""
    found = []
    for name in available_games():
        plain = make_game(GameSettings(name))
        for rules in subsets(plain.additional_rules):
            found.append(GameSettings(name, rules=rules))
        if plain.hat_mover is not None:
            found.append(GameSettings(name, hat_mover="participant"))
    return found


def variant_id(settings: GameSettings) -> str:
    return "+".join([settings.name, *sorted(settings.rules), *filter(None, [settings.hat_mover])])


def cases() -> list[Any]:
    """The variants; the quick tier has each game plain and with all its rules."""
    found = []
    for settings in variants():
        all_rules = make_game(settings).additional_rules
        some = settings.rules not in (frozenset(), all_rules) or settings.hat_mover is not None
        found.append(
            pytest.param(settings, id=variant_id(settings), marks=[pytest.mark.slow] * some)
        )
    return found


@pytest.fixture(params=cases())
def game_settings(request: pytest.FixtureRequest) -> GameSettings:
    return request.param


@pytest.fixture
def game(game_settings: GameSettings) -> Game:
    return make_game(game_settings)


def study_of(settings: GameSettings, game: Game) -> StudySettings:
    """A study of any game: what can be grabbed and shouted on the keys of several rows."""
    table = study_table()
    table["game"] = {"name": settings.name, "rules": sorted(settings.rules)}
    if settings.hat_mover is not None:
        table["game"]["hat_mover"] = settings.hat_mover
    table["timing"]["deadline_s"] = 8.0
    table["blocks"][1]["n_trials"] = 40
    # Some games shout rarely, so that grabs come in long runs.
    table["sequence"] = {"max_run_mode": None}
    table["responses"] = {
        "grab_keys": dict(zip(game.answers("grab"), GRAB, strict=False)),
        "shout_keys": dict(zip(game.answers("shout"), SHOUT, strict=False)),
    }
    return validate_settings(table, StudySettings, where="study.toml")


def test_name_leads_back_to_the_game(game_settings: GameSettings, game: Game) -> None:
    assert game.name == game_settings.name
    assert make_game(GameSettings(game.name)).item_colours == game.item_colours
    assert game.rules == game_settings.rules


@pytest.mark.slow
def test_game_has_cards_and_each_has_an_id_of_its_own(game: Game) -> None:
    ids = [s.card.card_id for s in legal_stimuli(game)]
    assert len(ids) > 10
    assert len(set(ids)) == len(ids)


def test_solutions_stay_within_the_levels_of_the_schema(game: Game) -> None:
    for stimulus in legal_stimuli(game):
        solution = stimulus.solution
        assert solution.rule in column("rule").levels
        assert stimulus.state == game.initial_state()
        assert solution.mode in game.modes
        assert set(game.modes) <= set(column("mode").levels)
        assert solution.answer_kind in column("answer_kind").levels
        assert (solution.target is None) == (solution.answer_kind == "time")
        assert solution.target is None or solution.target in game.item_colours


def test_every_legal_card_is_solved_alike_each_time_and_in_each_order(game: Game) -> None:
    for stimulus in legal_stimuli(game):
        again = game.parse(str(stimulus.card))
        assert again == stimulus.card
        turned = Card(again.pictures[::-1])
        for card in (again, turned):
            solved = game.stimulus(card, game.initial_state())
            assert solved.solution == stimulus.solution
            assert solved.card.card_id == stimulus.card.card_id


def test_right_responses_are_among_those_that_can_be_given(game: Game) -> None:
    possible = {Response(mode, a) for mode in game.modes for a in game.answers(mode)}
    for stimulus in legal_stimuli(game):
        right = game.correct_responses(stimulus)
        if stimulus.solution.answer_kind != "time":  # A time can be said in several ways.
            assert right <= possible
        assert right & possible == {Response(stimulus.solution.mode, stimulus.solution.answer)}


@pytest.mark.slow
def test_every_response_is_right_or_an_error_that_the_schema_names(game: Game) -> None:
    kinds = {None, *column("error_kind").levels}
    for stimulus in legal_stimuli(game)[::7]:
        for mode in game.modes:
            for answer in game.answers(mode):
                response = Response(mode, answer)
                kind = game.error_kind(response, stimulus)
                assert kind in kinds
                assert (kind is None) == (response in game.correct_responses(stimulus))


def test_game_is_pure(game_settings: GameSettings, game: Game) -> None:
    """Nothing that is asked of a game changes what it says next."""
    stimuli = legal_stimuli(game)
    state = game.initial_state()
    for stimulus in stimuli:
        for correct in (True, False):
            outcome = Outcome(next(iter(game.correct_responses(stimulus))), correct)
            game.advance(state, stimulus, outcome)
    assert game.initial_state() == state
    assert legal_stimuli(game) == stimuli == legal_stimuli(make_game(game_settings))


@pytest.mark.parametrize("text", ["", "x", "dragon:red", "ghost:pink", "ghost:white ghost:white"])
def test_illegal_cards_are_refused_with_a_code(game: Game, text: str) -> None:
    with pytest.raises(CardError, match=r"card") as caught:
        game.stimulus(game.parse(text), game.initial_state())
    assert caught.value.code


@pytest.mark.slow
def test_every_kind_of_deck_is_built_from_legal_cards(game: Game) -> None:
    for kind in DECK_KINDS:
        if kind != "legal" and game.deck_margins(kind) is None:
            continue
        deck = build_deck(game, kind=kind, rng=np.random.default_rng(1))
        ids = [s.card.card_id for s in deck.stimuli]
        assert len(set(ids)) == len(ids)
        for stimulus in deck.stimuli:
            assert len(stimulus.card.depicted) == game.n_pictures
            assert len({p.colour for p in stimulus.card.depicted}) == game.n_pictures
            again = game.stimulus(game.parse(str(stimulus.card)), game.initial_state())
            assert again == stimulus
            assert stimulus.solution.answer in game.answers(stimulus.solution.mode)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [k for k in DECK_KINDS if k != "legal"])
@pytest.mark.parametrize("name", available_games())
def test_deck_margins_hold_over_100_seeds_and_every_card_has_one_answer_under_all_rules(
    name: str, kind: str
) -> None:
    game = make_game(GameSettings(name))
    margins = game.deck_margins(kind)
    if margins is None:
        with pytest.raises(ConfigError, match=f"no {kind} deck"):
            build_deck(game, kind=kind, rng=np.random.default_rng(0))
        return
    ruled = [make_game(GameSettings(name, rules=r)) for r in subsets(game.additional_rules)]
    decks = set()
    for seed in range(100):
        deck = build_deck(game, kind=kind, rng=np.random.default_rng(seed))
        assert len(deck.stimuli) == margins.n_cards
        for factor, quotas in margins.quotas.items():
            found = Counter(
                level for s in deck.stimuli for level in levels(s, factor, margins=margins)
            )
            assert {level: found[level] for level in quotas} == dict(quotas)
        for other in ruled:
            for stimulus in deck.stimuli:
                other.stimulus(stimulus.card, other.initial_state())
        decks.add(frozenset(s.card.card_id for s in deck.stimuli))
    assert len(decks) == 100


@pytest.mark.slow
def test_perfect_participant_is_always_right_and_its_log_reads_and_scores_again(
    tmp_path: Path, game_settings: GameSettings, game: Game
) -> None:
    settings = study_of(game_settings, game)
    study = Study(tmp_path, settings, game, Screens(settings, game, load_texts("en")))
    (path,) = simulate_study(study, tmp_path / "out", n_participants=1, seed=1, model="perfect")
    run = read_log(path)
    assert run.status == "completed"
    trials = list(run.of_type("trial"))
    assert len(trials) == sum(block.n_trials for block in settings.blocks)
    assert all(t["correct"] and t["error_kind"] is None for t in trials)
    moves = chosen_hat_moves(run.records)
    for replayed in replay_trials(
        trials, game, study.plan(run.header["seed"]).table, hat_moves=moves
    ):
        score, trial = replayed.score.to_json(), replayed.record
        assert {k: trial[k] for k in score} == score
        assert trial["hat_over"] == replayed.stimulus.state.hat_over
        assert trial["answer"] == replayed.stimulus.solution.answer
    if game.hat_mover is not None:
        n_moved = sum(t["target"] in ("hat", t["hat_over"]) for t in trials)
        assert n_moved == sum(r["mover"] is not None for r in run.of_type("hat")) > 0
    loaded = load_dataset(tmp_path / "out").trials
    assert loaded["correct"].all()
    assert list(loaded["rt_s"]) == [t["rt_s"] for t in trials]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["guessing", "ex-gaussian"])
def test_log_of_any_participant_loads_and_is_scored_as_it_was(
    tmp_path: Path, game_settings: GameSettings, game: Game, model: str
) -> None:
    settings = study_of(game_settings, game)
    study = Study(tmp_path, settings, game, Screens(settings, game, load_texts("en")))
    (path,) = simulate_study(study, tmp_path / "out", n_participants=1, seed=2, model=model)
    loaded = load_dataset(tmp_path / "out").trials
    logged = [t["error_kind"] for t in read_log(path).of_type("trial")]
    kinds = [None if pd.isna(kind) else kind for kind in loaded["error_kind"]]
    assert kinds == logged


@pytest.mark.slow
def test_participants_of_every_model_answer_with_what_can_be_done(game: Game) -> None:
    for model in ("perfect", "guessing", "ex-gaussian"):
        rng = np.random.default_rng(1)
        participant = make_participant(model, rng)
        for stimulus in legal_stimuli(game):
            for planned in participant.respond(stimulus, game, rng):
                assert planned.response.answer in game.answers(planned.response.mode)
                assert planned.hold_s > 0
