"""What went before each trial, on sequences made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.sequences import HISTORY_COLUMNS, previous_positions, trial_history
from ghostblitz_task.errors import DatasetError

#: Classic cards: text, rule, target.
GHOST = {"card": "ghost:white mouse:red", "rule": "direct", "target": "ghost"}
CHAIR = {"card": "chair:red ghost:blue", "rule": "direct", "target": "chair"}
MOUSE = {"card": "ghost:green chair:blue", "rule": "exclusion", "target": "mouse"}


def rows(*cards, **others):
    return [card | {"answer": card["target"]} | others for card in cards]


def test_the_trial_before_is_looked_up_with_all_that_is_known_of_it(make_trials):
    history = trial_history(make_trials(rows(GHOST, MOUSE, CHAIR)))
    assert list(history.columns) == list(HISTORY_COLUMNS)
    assert history["has_previous"].tolist() == [False, True, True]
    assert history["previous_rule"].tolist() == [pd.NA, "direct", "exclusion"]
    assert history["previous_target"].tolist() == [pd.NA, "ghost", "mouse"]
    assert history["second_previous_answer"].tolist() == [pd.NA, pd.NA, "ghost"]
    assert history["previous_rt_s"].tolist() == [pd.NA, 0.8, 0.8]
    assert history["rule_repeated"].tolist() == [pd.NA, False, False]
    assert history["second_rule_repeated"].tolist() == [pd.NA, pd.NA, True]


@pytest.mark.parametrize(
    "change",
    [
        {"participant_id": "p2", "trial_index": 1, "trial_in_block": 1},
        {"session": 2},
        {"run": 2},
        {"block_index": 1, "trial_in_block": 0},
        {"resumed": True},
        {"trial_index": 2},
        {"trial_in_block": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_is_before_a_trial_across(make_trials, change):
    first, second = rows(GHOST, CHAIR)
    history = trial_history(make_trials([first, second | change]))
    assert history["has_previous"].tolist() == [False, False]
    assert history["previous_rule"].isna().all()
    assert history["target_ignored"].isna().all()


def test_two_trials_before_are_looked_for_in_the_same_block(make_trials):
    trials = rows(GHOST, CHAIR, MOUSE)
    trials[1] |= {"block_index": 1}
    trials[2] |= {"block_index": 1}
    history = trial_history(make_trials(trials))
    assert history["has_previous"].tolist() == [False, False, True]
    assert not history["has_second_previous"].any()


def test_trials_of_two_players_do_not_follow_one_another(make_trials):
    one = rows(GHOST, GHOST, participant_id="a", player=1, n_players=2)
    two = rows(GHOST, GHOST, participant_id="b", player=2, n_players=2, correct=False)
    table = make_trials([row for pair in zip(one, two, strict=True) for row in pair])
    history = trial_history(table)
    assert previous_positions(table).tolist() == [-1, -1, 0, 1]
    assert history["previous_correct"].tolist() == [pd.NA, pd.NA, True, False]


def test_a_repeated_target_a_repeated_response_and_a_shared_item_are_told_apart(make_trials):
    trials = rows(GHOST, GHOST | {"card": "ghost:white chair:blue"})
    trials[0] |= {"correct": False, "error_kind": "shape_capture", "response": "mouse"}
    history = trial_history(make_trials(trials)).iloc[1]
    assert history["target_repeated"]
    assert history["answer_repeated"]
    assert not history["response_repeated"]
    assert history["n_shared_items"] == 1
    assert not history["card_repeated"]
    trials[0]["response"] = "ghost"
    assert trial_history(make_trials(trials))["response_repeated"].iloc[1]


def test_the_same_item_in_another_mode_is_another_response(make_trials):
    trials = rows(GHOST, GHOST | {"mode": "shout"})
    history = trial_history(make_trials(trials)).iloc[1]
    assert history["answer_repeated"]
    assert not history["response_repeated"]
    assert not history["mode_repeated"]


def test_a_response_given_late_is_repeated_by_nothing(make_trials):
    trials = rows(GHOST, GHOST)
    trials[0] |= {"error_kind": "late"}
    history = trial_history(make_trials(trials)).iloc[1]
    assert not history["response_repeated"]
    assert not history["previous_correct"]
    assert pd.isna(history["previous_rt_s"])


def test_the_same_pictures_in_another_order_are_the_same_card(make_trials):
    trials = rows(GHOST, GHOST | {"card": "mouse:red ghost:white"})
    history = trial_history(make_trials(trials)).iloc[1]
    assert history["card_repeated"]
    assert history["n_shared_items"] == 2


def test_a_target_was_ignored_if_depicted_and_not_asked_for(make_trials):
    # The mouse is on the first card, but not its target; the ghost was its target.
    assert ignored(make_trials, GHOST, MOUSE)
    assert not ignored(make_trials, GHOST, GHOST)
    assert not ignored(make_trials, GHOST, CHAIR)
    # Both items of an exclusion card are to be ignored.
    assert ignored(make_trials, MOUSE, CHAIR)
    # What was asked for was not ignored, even if the card depicts it and its target is another.
    assert not ignored(make_trials, MOUSE | {"asked": "chair"}, CHAIR)


def ignored(make_trials, first, second):
    trials = rows(first, second)
    trials[0]["answer"] = trials[0].pop("asked", trials[0]["answer"])
    return trial_history(make_trials(trials))["target_ignored"].iloc[1]


def test_an_item_in_a_mirror_is_depicted(make_trials):
    colours = "bat:black key:green mirror:green hat:black clock:blue ghost:white owl:red"
    mirror = {"card": "mirror:blue(hat:red) key:white", "rule": "mirror", "target": "key"}
    hat = {"card": "hat:black key:blue", "rule": "direct", "target": "hat"}
    history = trial_history(make_trials(rows(mirror, hat, item_colours=colours)))
    assert history["target_ignored"].iloc[1]
    assert history["n_shared_items"].iloc[1] == 2


def test_a_trial_without_a_target_repeats_none(make_trials):
    time = {"rule": "time", "target": None, "card": "ghost:green chair:blue"}
    trials = [time | {"answer": "11:55"}, time | {"answer": "11:55"}]
    history = trial_history(make_trials(trials)).iloc[1]
    assert not history["target_repeated"]
    assert history["answer_repeated"]
    assert pd.isna(history["target_ignored"])


@pytest.mark.parametrize(
    ("sequence", "pattern"),
    [("ddd", "AAA"), ("edd", "BAA"), ("eed", "BBA"), ("ded", "ABA"), ("med", "CBA")],
)
def test_the_sequence_of_three_rules_is_named(make_trials, sequence, pattern):
    names = {"d": "direct", "e": "exclusion", "m": "mirror"}
    trials = [GHOST | {"rule": names[letter], "answer": "ghost"} for letter in sequence]
    assert trial_history(make_trials(trials))["rule_sequence"].tolist() == [pd.NA, pd.NA, pattern]


def test_the_order_of_rows_makes_no_difference(draw_trials):
    trials = draw_trials(np.random.default_rng(1), n_participants=3, n_per_cell=20, p_error=0.2)
    expected = trial_history(trials)
    shuffled = trials.iloc[np.random.default_rng(2).permutation(len(trials))]
    pd.testing.assert_frame_equal(trial_history(shuffled).loc[trials.index], expected)


def test_the_table_that_was_given_is_not_changed(make_trials):
    trials = make_trials(rows(GHOST, MOUSE))
    before = trials.copy(deep=True)
    trial_history(trials)
    pd.testing.assert_frame_equal(trials, before)


def test_an_unknown_card_leaves_its_relations_missing(make_trials):
    history = trial_history(make_trials(rows(GHOST, MOUSE, CHAIR, card=None)))
    assert history[["n_shared_items", "card_repeated", "target_ignored"]].isna().all(axis=None)
    assert history["rule_repeated"].tolist() == [pd.NA, False, False]


def test_an_empty_table_has_an_empty_history(make_trials):
    history = trial_history(make_trials([]))
    assert history.empty
    assert list(history.columns) == list(HISTORY_COLUMNS)


def test_colours_that_are_no_mapping_are_refused(make_trials):
    with pytest.raises(DatasetError, match="no mapping of items to colours"):
        trial_history(make_trials(rows(GHOST, MOUSE, item_colours="ghost")))
