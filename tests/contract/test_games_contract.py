"""What every game must keep to: a new game is one file, and this suite runs on it unchanged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import study_table

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.cards import Card
from ghostblitz_task.config import StudySettings, validate_settings
from ghostblitz_task.deck import DECK_KINDS, build_deck, legal_stimuli
from ghostblitz_task.errors import CardError
from ghostblitz_task.games import Game, GameSettings, Outcome, Response, available_games, make_game
from ghostblitz_task.participants import make_participant
from ghostblitz_task.schema import column
from ghostblitz_task.scoring import TrialFacts, judge_response, score_trial
from ghostblitz_task.screens import Screens
from ghostblitz_task.studies import Study, simulate_study
from ghostblitz_task.texts import load_texts
from ghostblitz_task.trial_log import read_log

GRAB, SHOUT = "asdfghjkl", "qwertzuio"


@pytest.fixture(params=available_games())
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def game(name: str) -> Game:
    return make_game(GameSettings(name))


def study_of(name: str, game: Game) -> StudySettings:
    """A study of any game: its items on the keys of two rows."""
    table = study_table()
    table["game"] = {"name": name}
    table["timing"]["deadline_s"] = 8.0
    table["responses"] = {"grab_keys": dict(zip(game.item_colours, GRAB, strict=False))}
    if "shout" in game.modes:
        table["responses"]["shout_keys"] = dict(zip(game.item_colours, SHOUT, strict=False))
    return validate_settings(table, StudySettings, where="study.toml")


def test_name_leads_back_to_the_game(name: str, game: Game) -> None:
    assert game.name == name
    assert make_game(GameSettings(game.name)).item_colours == game.item_colours


def test_game_has_cards_and_each_has_an_id_of_its_own(game: Game) -> None:
    ids = [s.card.card_id for s in legal_stimuli(game)]
    assert len(ids) > 10
    assert len(set(ids)) == len(ids)


def test_solutions_stay_within_the_levels_of_the_schema(game: Game) -> None:
    for stimulus in legal_stimuli(game):
        solution = stimulus.solution
        assert solution.rule in column("rule").levels
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
    possible = {Response(mode, item) for mode in game.modes for item in game.item_colours}
    for stimulus in legal_stimuli(game):
        right = game.correct_responses(stimulus)
        assert right
        if stimulus.solution.answer_kind == "item":
            assert right <= possible
        assert Response(stimulus.solution.mode, stimulus.solution.answer) in right


def test_every_response_is_right_or_an_error_that_the_schema_names(game: Game) -> None:
    kinds = {None, *column("error_kind").levels}
    for stimulus in legal_stimuli(game):
        for mode in game.modes:
            for item in game.item_colours:
                response = Response(mode, item)
                kind = judge_response(response, stimulus, game)
                assert kind in kinds
                assert (kind is None) == (response in game.correct_responses(stimulus))


def test_game_is_pure(name: str, game: Game) -> None:
    """Nothing that is asked of a game changes what it says next."""
    stimuli = legal_stimuli(game)
    state = game.initial_state()
    for stimulus in stimuli:
        for correct in (True, False):
            outcome = Outcome(next(iter(game.correct_responses(stimulus))), correct)
            game.advance(state, stimulus, outcome)
    assert game.initial_state() == state
    assert legal_stimuli(game) == stimuli == legal_stimuli(make_game(GameSettings(name)))


@pytest.mark.parametrize("text", ["", "x", "dragon:red", "ghost:pink", "ghost:white ghost:white"])
def test_illegal_cards_are_refused_with_a_code(game: Game, text: str) -> None:
    with pytest.raises(CardError, match=r"card") as caught:
        game.stimulus(game.parse(text), game.initial_state())
    assert caught.value.code


def test_every_kind_of_deck_is_built_from_legal_cards(game: Game) -> None:
    legal = {s.card.card_id for s in legal_stimuli(game)}
    for kind in DECK_KINDS:
        if kind != "legal" and game.deck_margins(kind) is None:
            continue
        deck = build_deck(game, kind=kind, rng=np.random.default_rng(1))
        ids = [s.card.card_id for s in deck.stimuli]
        assert len(set(ids)) == len(ids)
        assert set(ids) <= legal


def test_perfect_participant_is_always_right_and_its_log_reads_and_scores_again(
    tmp_path: Path, name: str, game: Game
) -> None:
    settings = study_of(name, game)
    study = Study(tmp_path, settings, game, Screens(settings, game, load_texts("en")))
    (path,) = simulate_study(study, tmp_path / "out", n_participants=1, seed=1, model="perfect")
    run = read_log(path)
    assert run.status == "completed"
    trials = list(run.of_type("trial"))
    assert len(trials) == sum(block.n_trials for block in settings.blocks)
    assert all(t["correct"] and t["error_kind"] is None for t in trials)
    state = game.initial_state()
    for trial in trials:
        stimulus = game.stimulus(game.parse(trial["card"]), state)
        score = score_trial(TrialFacts.from_json(trial), stimulus, game)
        assert {k: trial[k] for k in score.to_json()} == score.to_json()
        state = game.advance(state, stimulus, Outcome(score.given, score.correct))
    loaded = load_dataset(tmp_path / "out").trials
    assert loaded["correct"].all()
    assert list(loaded["rt_s"]) == [t["rt_s"] for t in trials]


@pytest.mark.parametrize("model", ["guessing", "ex-gaussian"])
def test_log_of_any_participant_loads_and_is_scored_as_it_was(
    tmp_path: Path, name: str, game: Game, model: str
) -> None:
    settings = study_of(name, game)
    study = Study(tmp_path, settings, game, Screens(settings, game, load_texts("en")))
    (path,) = simulate_study(study, tmp_path / "out", n_participants=1, seed=2, model=model)
    loaded = load_dataset(tmp_path / "out").trials
    logged = [t["error_kind"] for t in read_log(path).of_type("trial")]
    kinds = [None if pd.isna(kind) else kind for kind in loaded["error_kind"]]
    assert kinds == logged


def test_participants_of_every_model_answer_with_what_can_be_done(game: Game) -> None:
    for model in ("perfect", "guessing", "ex-gaussian"):
        rng = np.random.default_rng(1)
        participant = make_participant(model, rng)
        for stimulus in legal_stimuli(game):
            for planned in participant.respond(stimulus, game, rng):
                assert planned.response.mode in game.modes
                assert planned.hold_s > 0
