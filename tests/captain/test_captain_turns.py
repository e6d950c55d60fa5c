"""What is derived from turns: worked by hand."""

from __future__ import annotations

import json

import pytest

from ghostblitz_task.captain.turns import (
    CueChange,
    Fall,
    KnownDropping,
    Nudge,
    Refusal,
    Spot,
    Turn,
    score_turns,
)

# Droppings 0 to 3.
COLOURS = ("red", "red", "blue", "green")


def turn(index: int, picked: int, cue: str, *, player: int = 0, **facts: object) -> Turn:
    """A wrong or right turn of 5 s; the deck is as `spots` says, else all in a row."""
    began_s = 10.0 * index
    outcome = "kept" if COLOURS[picked] == cue else "returned"
    given: dict[str, object] = {
        "cue_at_start": cue,
        "on_deck": tuple(Spot(i, 0.1 * i, 0.0, 0.0) for i in range(4)),
        "dropping_id": picked,
        "lifted_s": began_s + 2,
        "cue_at_pick": cue,
        "looked_s": began_s + 3,
        "cue_at_look": cue,
        "colour": COLOURS[picked],
        "resolved_s": began_s + 5,
        "outcome": outcome,
        "returned_to": Spot(picked, 0.1 * picked, 0.0, 0.0) if outcome == "returned" else None,
    }
    return Turn(index, player, began_s, **{**given, **facts})  # type: ignore[arg-type]


def test_nothing_is_known_before_it_was_seen() -> None:
    (score,) = score_turns([turn(0, 2, "red")], COLOURS)
    assert score.is_known is False
    assert score.hit_given_known is None
    assert score.p_chance_known is None
    assert score.lag_turns is None
    assert (score.hit, score.correct, score.n_cue_colour, score.p_chance) == (False, False, 2, 0.5)


def test_a_dropping_seen_by_a_mate_is_known_but_not_ones_own() -> None:
    scores = score_turns([turn(0, 0, "blue"), turn(1, 0, "red", player=1)], COLOURS)
    assert (scores[1].is_known, scores[1].is_known_own) == (True, False)
    assert scores[1].hit_given_known is True
    own = score_turns([turn(0, 0, "blue"), turn(1, 0, "red")], COLOURS)
    assert own[1].is_known_own is True


def test_a_lucky_pick_of_the_right_colour_is_a_hit_but_none_given_known() -> None:
    scores = score_turns([turn(0, 0, "blue"), turn(1, 1, "red")], COLOURS)
    assert (scores[1].hit, scores[1].hit_given_known) == (True, False)
    assert (scores[1].p_chance, scores[1].p_chance_known) == (0.5, 0.25)
    assert scores[1].picked_lag_turns is None


def test_chance_among_the_seen_is_the_share_of_the_cues_colour_among_them() -> None:
    turns = [turn(0, 2, "red"), turn(1, 0, "blue"), turn(2, 3, "red"), turn(3, 3, "blue")]
    scores = score_turns(turns, COLOURS)
    assert scores[0].p_chance_among_seen is None
    # Seen: blue, then blue and red, then blue, red and green.
    assert [score.p_chance_among_seen for score in scores[1:]] == [1.0, 0.5, pytest.approx(1 / 3)]
    none = score_turns([turn(0, 2, "red"), turn(1, 1, "green")], COLOURS)[1]
    assert (none.p_chance_among_seen, none.is_known) == (0.0, False)
    no_pick = turn(1, 0, "red", dropping_id=None, lifted_s=None, cue_at_pick=None)
    assert score_turns([turn(0, 2, "red"), no_pick], COLOURS)[1].p_chance_among_seen is None


def test_lag_and_distance_are_those_since_it_was_put_back() -> None:
    first = turn(0, 0, "blue", returned_to=Spot(0, 0.0, 0.1, 0.25))
    later = turn(3, 3, "red", on_deck=(Spot(0, 0.3, 0.5, 1.0), Spot(3, 0.0, 0.0, 0.0)))
    scores = score_turns([first, turn(1, 2, "green"), turn(2, 2, "green"), later], COLOURS)
    assert scores[3].known == (KnownDropping(0, 3, True, 0.75, pytest.approx(0.5)),)
    assert (scores[3].lag_turns, scores[3].path_moved) == (3, 0.75)
    assert scores[3].net_moved == pytest.approx(0.5)
    assert scores[3].hit_given_known is False


def test_the_last_seen_of_several_known_ones_gives_lag_and_distance() -> None:
    turns = [turn(0, 0, "blue"), turn(1, 1, "blue"), turn(2, 0, "red")]
    score = score_turns(turns, COLOURS)[2]
    assert [known.dropping_id for known in score.known] == [1, 0]
    assert (score.lag_turns, score.picked_lag_turns) == (1, 2)
    assert (score.hit_given_known, score.p_chance_known) == (True, 0.5)


def test_a_dropping_no_longer_on_deck_is_not_known() -> None:
    on_deck = tuple(Spot(i, 0.0, 0.0, 0.0) for i in (1, 2, 3))
    scores = score_turns([turn(0, 0, "blue"), turn(1, 1, "red", on_deck=on_deck)], COLOURS)
    assert scores[1].is_known is False
    assert scores[1].p_chance == pytest.approx(1 / 3)


@pytest.mark.parametrize(("picked", "followed"), [(2, "new"), (0, "old"), (3, "neither")])
def test_after_a_change_before_the_pick_it_is_said_which_cue_was_followed(
    picked: int, followed: str
) -> None:
    changed = turn(0, picked, "blue", cue_at_start="red", cue_changes=(CueChange(1.25, "blue"),))
    (score,) = score_turns([changed], COLOURS)
    assert score.followed == followed
    assert (score.cue_changed, score.cue_changed_before_pick) == (True, True)
    assert (score.pick_rt_s, score.pick_rt_from_cue_s) == (2.0, 0.75)


def test_a_change_while_held_counts_for_being_right_and_not_for_the_choice() -> None:
    changed = turn(0, 0, "red", cue_at_look="blue", cue_changes=(CueChange(2.5, "blue"),))
    (score,) = score_turns([changed], COLOURS)
    assert (score.hit, score.correct, score.followed) == (True, False, None)
    assert (score.cue_changed_before_pick, score.cue_changed_while_held) == (False, True)


def test_a_change_after_the_look_is_no_change_of_the_cue() -> None:
    (score,) = score_turns([turn(0, 0, "red", cue_changes=(CueChange(4.0, "blue"),))], COLOURS)
    assert score.cue_changed is False


def test_a_turn_that_the_end_cut_short_is_censored_and_no_error() -> None:
    unseen = turn(
        0, 2, "red", looked_s=None, cue_at_look=None, colour=None, resolved_s=None,
        outcome="censored", returned_to=None,
    )  # fmt: skip
    (score,) = score_turns([unseen], COLOURS)
    assert (score.censored, score.correct, score.hold_s) == (True, None, None)
    waiting = Turn(0, 0, 0.0, "red", outcome="censored")
    (score,) = score_turns([waiting], COLOURS)
    assert (score.censored, score.correct, score.hit, score.p_chance) == (True, None, None, None)


def test_a_claim_is_right_or_wrong_but_no_answer_to_the_die() -> None:
    claimed = turn(0, 2, "red", claimed="blue", named="blue", named_s=3.0, outcome="kept")
    (score,) = score_turns([claimed], COLOURS)
    assert (score.correct, score.hit, score.misnamed) == (True, None, None)
    assert score.naming_rt_s is None


def test_a_wrong_name_is_a_misnaming_whatever_the_die_shows() -> None:
    named = turn(0, 0, "red", named="blue", named_s=3.75)
    (score,) = score_turns([named], COLOURS)
    assert (score.misnamed, score.correct, score.naming_rt_s) == (True, True, 0.75)


def test_a_turn_comes_back_from_json_as_it_was() -> None:
    whole = turn(
        4, 2, "red", cue_changes=(CueChange(41.0, "red"),), falls=(Fall(43.5, 3),),
        nudges=(Nudge(42.5, "stuck"),), refusals=(Refusal(40.1, "look", "not_now", "why"),),
    )  # fmt: skip
    assert Turn.from_json(json.loads(json.dumps(whole.to_json()))) == whole
