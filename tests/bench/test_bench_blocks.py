"""What every peer plays is the same, and made so that no press can pass for another trial's."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bench.blocks import HOLD_S, INTERVAL_S, KEYS, draw_cards, plan_block, robot_actions
from tests.bench.blocks import open_study as write_study

SEED = 8


@pytest.fixture
def study(tmp_path):
    return write_study(tmp_path / "study", n_trials=30)


def test_same_seed_gives_the_same_block(study):
    assert plan_block(study, seed=SEED) == plan_block(study, seed=SEED)
    assert plan_block(study, seed=SEED) != plan_block(study, seed=SEED + 1)


def test_cards_and_foreperiods_are_those_of_our_own_session(study):
    ours = [(trial.card, trial.foreperiod_s) for trial in study.plan(SEED).trials]
    assert [(t.card, t.foreperiod_s) for t in plan_block(study, seed=SEED)] == ours


def test_key_comes_again_after_two_others_at_the_earliest(study):
    keys = [trial.key for trial in plan_block(study, seed=SEED)]
    assert set(keys) == set(KEYS)
    for i, key in enumerate(keys):
        assert key not in keys[max(0, i - 2) : i]


def test_holds_are_mixed_evenly(study):
    holds = Counter(trial.hold for trial in plan_block(study, seed=SEED))
    assert holds == dict.fromkeys(HOLD_S, 10)


def test_held_key_comes_up_in_the_next_foreperiod(study):
    shortest_s = study.settings.timing.foreperiod_s[0]
    assert INTERVAL_S < HOLD_S["held"] < INTERVAL_S + shortest_s


def test_robot_presses_the_same_in_our_session_and_in_any_other_program(study):
    trials = plan_block(study, seed=SEED)
    ours = [a for a in robot_actions(trials, study=study, seed=SEED) if a.at == "card"]
    assert tuple(ours) == robot_actions(trials)
    assert [a.taps[0].key for a in ours] == [trial.key for trial in trials]


def test_equal_cards_share_a_picture(study, tmp_path):
    trials = plan_block(study, seed=SEED)
    paths = draw_cards((*trials, trials[0]), tmp_path)
    assert paths[-1] == paths[0]
    assert len(set(paths)) == len({str(trial.card) for trial in trials})
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
