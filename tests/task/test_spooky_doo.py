"""Spooky Doo: the hidden item as state, its errors, and the hat that moves in a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_apparatus import ScriptedApparatus, tap
from small_study import SPOOKY_GRAB_KEYS, SPOOKY_SHOUT_KEYS, make_screens, make_settings

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.deck import build_deck, legal_stimuli
from ghostblitz_task.design import plan_session
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import (
    GameSettings,
    GameState,
    Outcome,
    Response,
    Stimulus,
    available_games,
    make_game,
)
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.solving import Request, solve_request
from ghostblitz_task.studies import Study, log_session, new_identity, resume_identity
from ghostblitz_task.tables import deck_rows
from ghostblitz_task.trial_log import RunLog, TrialLog, read_log

HIDEABLE = ("ghost", "bottle", "barrel", "mouse")
GAME = make_game(GameSettings("spooky-doo"))


def card(text: str, hat_over: str) -> Stimulus:
    return GAME.stimulus(GAME.parse(text), GameState(hat_over, 0, ("mouse", "ghost")))


def done(stimulus: Stimulus, *, correct: bool = True, hat_to: str | None = None) -> GameState:
    response = Response(stimulus.solution.mode, stimulus.solution.answer)
    return GAME.advance(stimulus.state, stimulus, Outcome(response, correct, hat_to))


# --- the rules ----------------------------------------------------------------------------------


def test_game_is_found_by_scanning() -> None:
    assert "spooky-doo" in available_games()


@pytest.mark.parametrize("hidden", HIDEABLE)
def test_answer_follows_from_target_and_hidden_item_alone(hidden: str) -> None:
    """An independent reading of the rulebook's three cases."""
    state = GameState(hidden, 0)
    for stimulus in legal_stimuli(GAME):
        solved = GAME.stimulus(stimulus.card, state).solution
        target = solved.target
        assert target == stimulus.solution.target
        assert solved.rule == stimulus.solution.rule
        if target == "hat":
            assert (solved.mode, solved.answer) == ("shout", hidden)
        elif target == hidden:
            assert (solved.mode, solved.answer) == ("grab", "hat")
        else:
            assert (solved.mode, solved.answer) == ("grab", target)


def test_deck_is_the_classic_one_with_hat_and_barrel() -> None:
    margins = GAME.deck_margins("standard")
    assert margins is not None
    assert margins.quotas["rule"] == {"direct": 20, "exclusion": 40}
    assert margins.quotas["depicted"] == dict.fromkeys(GAME.item_colours, 24)


@pytest.mark.parametrize(
    ("text", "hat_over", "response", "kind"),
    [
        # The hidden bottle is the target: the hat is to be grabbed.
        ("ghost:blue mouse:red", "bottle", Response("grab", "hat"), None),
        ("ghost:blue mouse:red", "bottle", Response("grab", "bottle"), "under_hat"),
        ("ghost:blue mouse:red", "bottle", Response("shout", "bottle"), "called_for_hat_grab"),
        ("ghost:blue mouse:red", "bottle", Response("shout", "hat"), "called_for_hat_grab"),
        ("ghost:blue mouse:red", "bottle", Response("grab", "mouse"), "shape_capture"),
        ("ghost:blue mouse:red", "bottle", Response("grab", "barrel"), "colour_capture"),
        # The hat is the target: what it hides is to be called.
        ("ghost:blue hat:red", "mouse", Response("shout", "mouse"), None),
        ("ghost:blue hat:red", "mouse", Response("shout", "hat"), "hat_called"),
        ("ghost:blue hat:red", "mouse", Response("shout", "ghost"), "wrong_item_called"),
        ("ghost:blue hat:red", "mouse", Response("grab", "hat"), "hat_grabbed"),
        ("ghost:blue hat:red", "mouse", Response("grab", "mouse"), "grabbed_for_call"),
        ("ghost:blue hat:red", "mouse", Response("grab", "ghost"), "grabbed_for_call"),
        # Neither: the barrel is to be grabbed.
        ("barrel:blue hat:white", "mouse", Response("grab", "barrel"), None),
        ("barrel:blue hat:white", "mouse", Response("shout", "barrel"), "called_for_grab"),
        ("barrel:blue hat:white", "mouse", Response("shout", "ghost"), "called_for_grab"),
        ("barrel:blue hat:white", "mouse", Response("grab", "hat"), "hat_grabbed"),
        ("barrel:blue hat:white", "mouse", Response("grab", "mouse"), "rule_confusion"),
        ("barrel:blue hat:white", "mouse", Response("grab", "ghost"), "colour_capture"),
    ],
)
def test_each_mistake_has_its_kind(
    text: str, hat_over: str, response: Response, kind: str | None
) -> None:
    assert GAME.error_kind(response, card(text, hat_over)) == kind


@pytest.mark.parametrize("hat_over", ["hat", "dragon", None])
def test_hat_hides_one_of_the_other_items(hat_over: str | None) -> None:
    with pytest.raises(CardError, match=r"the hat is over .* it hides one of ghost"):
        GAME.stimulus(GAME.parse("ghost:blue hat:red"), GameState(hat_over))


def test_own_mapping_needs_a_hat() -> None:
    with pytest.raises(ConfigError, match=r"needs a hat"):
        make_game(GameSettings("spooky-doo", item_colours={"a": "red", "b": "blue", "c": "green"}))


def test_game_without_a_hat_takes_no_hat_mover() -> None:
    with pytest.raises(ConfigError, match=r"hat_mover is set, but it has no hat"):
        make_game(GameSettings("classic", hat_mover="schedule"))


# --- where the hat goes -------------------------------------------------------------------------


def test_hat_moves_after_a_right_hat_grab() -> None:
    assert done(card("ghost:blue mouse:red", "bottle")) == GameState("mouse", 0, ("ghost",))


def test_hat_moves_after_a_right_call_to_the_next_of_the_schedule() -> None:
    after = done(card("ghost:blue hat:red", "bottle"))
    assert after == GameState("mouse", 0, ("ghost",))


def test_schedule_skips_the_item_that_is_hidden_now() -> None:
    assert done(card("ghost:blue hat:red", "mouse")) == GameState("ghost", 0, ())


@pytest.mark.parametrize(
    ("text", "hat_over", "correct"),
    [
        ("barrel:blue hat:white", "mouse", True),  # another item was grabbed
        ("ghost:blue hat:red", "bottle", False),  # called wrongly
        ("ghost:blue mouse:red", "bottle", False),  # the bare bottle, say
    ],
)
def test_hat_stays_otherwise_and_the_lag_grows(text: str, hat_over: str, correct: bool) -> None:
    stimulus = card(text, hat_over)
    after = done(stimulus, correct=correct)
    assert after == GameState(hat_over, 1, ("mouse", "ghost"))
    assert GAME.hat_choices(stimulus, Outcome(None, correct)) == ()


def test_somebodys_choice_leaves_the_schedule_as_it_is() -> None:
    after = done(card("ghost:blue hat:red", "bottle"), hat_to="barrel")
    assert after == GameState("barrel", 0, ("mouse", "ghost"))


@pytest.mark.parametrize("hat_to", ["bottle", "hat", "dragon"])
def test_hat_goes_over_another_item_only(hat_to: str) -> None:
    with pytest.raises(CardError, match=r"the hat goes over one of ghost, barrel, mouse"):
        done(card("ghost:blue hat:red", "bottle"), hat_to=hat_to)


@given(st.integers(0, 2**32 - 1), st.integers(0, 300))
def test_schedule_is_balanced_and_never_stays(seed: int, n_trials: int) -> None:
    state = GAME.initial_state(np.random.default_rng(seed), n_trials=n_trials)
    places = [state.hat_over, *state.hat_schedule]
    assert len(places) == n_trials + 1
    assert all(a != b for a, b in pairwise(places))
    counts = Counter(places)
    assert max(counts.values()) - min(counts[i] for i in HIDEABLE) <= 1


def test_first_place_and_schedule_come_from_the_seed() -> None:
    states = [GAME.initial_state(np.random.default_rng(s), n_trials=40) for s in range(40)]
    assert states[0] == GAME.initial_state(np.random.default_rng(0), n_trials=40)
    assert {s.hat_over for s in states} == set(HIDEABLE)
    assert len({s.hat_schedule for s in states}) == 40


# --- in a session -------------------------------------------------------------------------------


def spooky(overrides: Mapping[str, Any] | None = None) -> Study:
    settings = make_settings("spooky-doo", {"timing.hat_move_s": 0.5, **(overrides or {})})
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def key_of(stimulus: Stimulus) -> str:
    solution = stimulus.solution
    return (SPOOKY_GRAB_KEYS if solution.mode == "grab" else SPOOKY_SHOUT_KEYS)[solution.answer]


def play(
    folder: Path, study: Study, script: Any, apparatus: ScriptedApparatus | None = None
) -> tuple[RunLog, ScriptedApparatus]:
    apparatus = apparatus or ScriptedApparatus(script)
    with TrialLog(folder / "run.jsonl") as log:
        run_session(
            study.settings,
            plan=plan_session(study.settings, study.game, seed=3),
            screens=study.screens,
            apparatus=apparatus,
            apparatus_settings=ApparatusSettings(),
            log=log,
            identity=SessionIdentity("p1", 1, 1, 3, "simulated", "scripted"),
        )
    return read_log(folder / "run.jsonl"), apparatus


def right(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
    return tap(key_of(screen.stimulus), flip_s + 0.3) if screen.stimulus else []


def never(_screen: Screen, _flip_s: float, _n: int) -> list[DeviceEvent]:
    return []


def test_table_changes_exactly_after_right_hat_grabs_and_calls(tmp_path: Path) -> None:
    run, _ = play(tmp_path, spooky(), right)
    trials = list(run.of_type("trial"))
    assert all(t["correct"] for t in trials)
    moved = {r["trial_index"]: r["hat_over"] for r in run.of_type("hat") if r["mover"]}
    assert moved
    for before, after in pairwise(trials):
        moves = before["target"] in ("hat", before["hat_over"])
        assert moves == (before["trial_index"] in moved)
        assert (after["hat_over"] != before["hat_over"]) == moves
        lag = before["trials_since_hat_move"]
        assert after["trials_since_hat_move"] == (0 if moves else lag + 1)
        if moves:
            assert after["hat_over"] == moved[before["trial_index"]]


def test_hat_never_moves_when_nothing_is_answered(tmp_path: Path) -> None:
    run, _ = play(tmp_path, spooky(), never)
    trials = list(run.of_type("trial"))
    assert {t["hat_over"] for t in trials} == {trials[0]["hat_over"]}
    assert [t["trials_since_hat_move"] for t in trials] == list(range(len(trials)))
    assert all(r["mover"] is None for r in run.of_type("hat"))


def test_move_is_shown_for_its_time_before_the_next_trial(tmp_path: Path) -> None:
    run, _ = play(tmp_path, spooky(), right)
    records = list(run.records)
    for place, record in enumerate(records):
        if record["type"] != "hat" or record["mover"] is None:
            continue
        assert record["end_s"] - record["onset_s"] == pytest.approx(0.5, abs=1.5 / 60)
        assert records[place - 1]["type"] == "trial"
        later = [r for r in records[place:] if r["type"] == "trial"]
        assert all(r["fixation_onset_s"] > record["end_s"] for r in later)


def test_hat_is_shown_again_as_each_block_begins(tmp_path: Path) -> None:
    run, _ = play(tmp_path, spooky(), never)
    types = [r["type"] for r in run.records if r["type"] in ("block", "hat", "trial")]
    assert types[:3] == ["block", "hat", "trial"]
    assert types.count("hat") == types.count("block") == 3


def test_all_tables_are_rendered_before_the_first_trial_of_a_block(tmp_path: Path) -> None:
    study = spooky()
    _, apparatus = play(tmp_path, study, right)
    first = next(i for i, s in enumerate(apparatus.screens) if s.name == "card")
    assert first > 0
    prepared = {(s.name, s.table) for s in apparatus.prepared}
    for screen in apparatus.screens:
        if screen.name in ("fixation", "inter-trial", "hat-moved"):
            assert (screen.name, screen.table) in prepared


def test_participant_who_moves_the_hat_chooses_by_key(tmp_path: Path) -> None:
    study = spooky({"game.hat_mover": "participant"})

    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "hat-choice":
            assert len(screen.awaits_keys) == 3
            return tap(screen.awaits_keys[-1], flip_s + 0.4)
        if screen.stimulus:
            return right(screen, flip_s, n)
        return tap(screen.awaits_keys[0], flip_s + 0.1) if screen.awaits_keys else []

    run, _ = play(tmp_path, study, None, ScriptedApparatus(script, goes_on=False))
    trials = {t["trial_index"]: t for t in run.of_type("trial")}
    moves = [r for r in run.of_type("hat") if r["mover"] == "participant"]
    assert moves
    for move in moves:
        choices = [i for i in HIDEABLE if i != trials[move["trial_index"]]["hat_over"]]
        pressed = [e["key"] for e in move["events"] if e["kind"] == "press"]
        assert SPOOKY_GRAB_KEYS[move["hat_over"]] == pressed[0]
        assert move["hat_over"] in choices
        following = trials.get(move["trial_index"] + 1)
        assert following is None or following["hat_over"] == move["hat_over"]


def test_keys_of_the_hidden_item_and_of_the_hat_do_not_choose(tmp_path: Path) -> None:
    study = spooky({"game.hat_mover": "participant"})

    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        if screen.name == "hat-choice":
            hidden = ({*SPOOKY_GRAB_KEYS.values()} - {SPOOKY_GRAB_KEYS["hat"]}) - {
                *screen.awaits_keys
            }
            wrong = [*hidden, SPOOKY_GRAB_KEYS["hat"]]
            taps = [e for i, k in enumerate(wrong) for e in tap(k, flip_s + 0.2 + 0.1 * i)]
            return [*taps, *tap(screen.awaits_keys[0], flip_s + 0.6)]
        if screen.stimulus:
            return right(screen, flip_s, n)
        return tap(screen.awaits_keys[0], flip_s + 0.1) if screen.awaits_keys else []

    run, _ = play(tmp_path, study, None, ScriptedApparatus(script, goes_on=False))
    moves = [r for r in run.of_type("hat") if r["mover"] == "participant"]
    for move in moves:
        pressed = [e["key"] for e in move["events"] if e["kind"] == "press"]
        assert len(pressed) == 3
        assert SPOOKY_GRAB_KEYS[move["hat_over"]] == pressed[-1]


@pytest.mark.slow
@pytest.mark.parametrize("mover", ["schedule", "participant"])
@pytest.mark.parametrize("n_kept", [1, 5, 9])
def test_resumed_session_meets_the_table_as_it_was_left(
    tmp_path: Path, mover: str, n_kept: int
) -> None:
    study = spooky({"game.hat_mover": mover})
    whole = run_to_log(study, tmp_path / "whole")
    cut = tmp_path / "cut" / "logs"
    cut.mkdir(parents=True)
    lines = whole.read_bytes().splitlines(keepends=True)
    last = [i for i, line in enumerate(lines) if b'"type": "trial"' in line][n_kept - 1]
    # As when the program is killed after this trial and, where the hat moves, after its move.
    after = last + 2 if b'"type": "hat"' in lines[last + 1] else last + 1
    (cut / whole.name).write_bytes(b"".join(lines[:after]))
    identity = resume_identity(study, read_log(cut / whole.name))
    path, _ = log_session(
        study,
        cut,
        identity,
        open_apparatus=lambda: ScriptedApparatus(right),
        apparatus_settings=ApparatusSettings(),
    )
    resumed = next(read_log(path).of_type("trial"))
    met = list(read_log(whole).of_type("trial"))[n_kept]
    for name in ("trial_index", "card", "hat_over", "trials_since_hat_move", "answer"):
        assert resumed[name] == met[name]


def run_to_log(study: Study, folder: Path) -> Path:
    logs = folder / "logs"
    logs.mkdir(parents=True)
    identity = new_identity(
        logs, "p1", session=1, seed=3, source="simulated", participant_model="scripted"
    )
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: ScriptedApparatus(right),
        apparatus_settings=ApparatusSettings(),
    )
    return path


# --- by command ---------------------------------------------------------------------------------


def test_card_is_not_solved_without_saying_where_the_hat_is() -> None:
    found = solve_request(Request(GAME, "ghost:blue hat:red"))
    assert found["error"] == "malformed"
    assert "give hat_over, one of ghost, bottle, barrel, mouse" in found["message"]
    assert solve_request(Request(GAME, "ghost:blue hat:red", "mouse"))["answer"] == "mouse"


def test_deck_and_plan_leave_open_what_depends_on_the_hat() -> None:
    deck = build_deck(GAME, kind="standard", rng=np.random.default_rng(1))
    rows = list(deck_rows(deck))
    study = spooky()
    rows += study.plan(1).trials_json(study.game)
    assert {row["answer"] for row in rows} == {None}
    assert {row["target"] for row in rows} == set(GAME.item_colours)
