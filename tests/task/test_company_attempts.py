"""From raw responses to one judged attempt of each player."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import ITEM_COLOURS, solved

from ghostblitz_task.company.attempts import Attempt, Ignored, TimedResponse, judge_attempts
from ghostblitz_task.games import Response
from ghostblitz_task.scoring import TrialEvent, TrialFacts, score_trial

GRAB = solved("ghost:white mouse:red")  # grab the ghost
SHOUT = solved("book:green ghost:red")  # shout the mouse


def given_by(player: str, t_s: float, mode: str, answer: str) -> TimedResponse:
    return TimedResponse(player, t_s, Response(mode, answer))  # type: ignore[arg-type]


def judge(*responses: TimedResponse, case=GRAB, **limits: float):
    return judge_attempts(responses, *case, **limits)


def test_right_response_is_a_right_attempt() -> None:
    (attempt,) = judge(given_by("A", 0.8, "grab", "ghost")).attempts
    assert attempt == Attempt("A", 0.8, True, response=Response("grab", "ghost"))
    assert attempt.correct


@pytest.mark.parametrize(
    ("mode", "answer", "kind"),
    [("grab", "mouse", "shape_capture"), ("grab", "book", "rule_confusion"),
     ("shout", "ghost", "wrong_mode")],
)  # fmt: skip
def test_wrong_response_is_named_by_the_games_judge(mode: str, answer: str, kind: str) -> None:
    (attempt,) = judge(given_by("A", 0.8, mode, answer)).attempts
    assert attempt == Attempt("A", 0.8, False, False, kind, Response(mode, answer))  # type: ignore[arg-type]


def test_attempts_come_by_time_and_each_player_has_one() -> None:
    judged = judge(
        given_by("B", 0.9, "grab", "ghost"),
        given_by("A", 0.7, "grab", "mouse"),
        given_by("B", 1.0, "grab", "mouse"),
    )
    assert [(a.player, a.right) for a in judged.attempts] == [("A", False), ("B", True)]


def test_second_response_in_the_same_mode_mends_and_spoils_nothing() -> None:
    second = given_by("A", 0.9, "grab", "ghost")
    judged = judge(given_by("A", 0.8, "grab", "mouse"), second)
    assert [a.right for a in judged.attempts] == [False]
    assert judged.ignored == (Ignored(second, "same_mode"),)


def test_second_response_in_the_other_mode_makes_it_both() -> None:
    judged = judge(given_by("A", 0.8, "grab", "ghost"), given_by("A", 0.9, "shout", "ghost"))
    (attempt,) = judged.attempts
    assert (attempt.t_s, attempt.right, attempt.both_modes) == (0.8, True, True)
    assert attempt.error_kind == "both_modes"
    assert not attempt.correct
    assert judged.ignored == ()


def test_both_modes_is_right_at_the_time_of_the_right_one_of_the_two() -> None:
    judged = judge(
        given_by("A", 0.8, "grab", "mouse"), given_by("A", 0.9, "shout", "mouse"), case=SHOUT
    )
    (attempt,) = judged.attempts
    assert (attempt.t_s, attempt.right, attempt.both_modes) == (0.9, True, True)
    assert attempt.response == Response("shout", "mouse")


def test_both_modes_with_neither_right_is_not_right() -> None:
    judged = judge(given_by("A", 0.8, "grab", "chair"), given_by("A", 0.9, "shout", "chair"))
    (attempt,) = judged.attempts
    assert (attempt.t_s, attempt.right, attempt.both_modes) == (0.8, False, True)


def test_third_response_is_ignored() -> None:
    third = given_by("A", 1.0, "grab", "ghost")
    judged = judge(given_by("A", 0.8, "grab", "mouse"), given_by("A", 0.9, "shout", "mouse"), third)
    assert not judged.attempts[0].right
    assert judged.ignored == (Ignored(third, "after_both_modes"),)


def test_other_mode_after_the_window_is_ignored() -> None:
    second = given_by("A", 1.4, "shout", "ghost")
    first = given_by("A", 0.8, "grab", "ghost")
    judged = judge(first, second, second_response_window_s=0.5)
    assert judged.attempts[0].correct
    assert judged.ignored == (Ignored(second, "after_window"),)
    assert judge(first, second, second_response_window_s=0.7).attempts[0].both_modes


def test_response_after_the_deadline_is_no_attempt() -> None:
    late = given_by("A", 2.1, "grab", "ghost")
    judged = judge(late, given_by("B", 2.0, "grab", "ghost"), deadline_s=2.0)
    assert [a.player for a in judged.attempts] == ["B"]
    assert judged.ignored == (Ignored(late, "after_deadline"),)


def test_right_answer_after_the_deadline_makes_both_modes_but_not_right() -> None:
    judged = judge(
        given_by("A", 1.9, "grab", "mouse"), given_by("A", 2.1, "shout", "mouse"),
        case=SHOUT, deadline_s=2.0,
    )  # fmt: skip
    (attempt,) = judged.attempts
    assert (attempt.t_s, attempt.right, attempt.both_modes) == (1.9, False, True)


def test_response_before_the_card_uses_the_attempt_up() -> None:
    second = given_by("A", 0.5, "shout", "ghost")
    judged = judge(given_by("A", -0.1, "grab", "ghost"), second)
    assert judged.attempts == (
        Attempt("A", -0.1, False, error_kind="early", response=Response("grab", "ghost")),
    )
    assert judged.ignored == (Ignored(second, "after_early"),)


def test_nobody_answering_leaves_nothing_to_judge() -> None:
    assert judge().attempts == ()


presses = st.lists(
    st.tuples(
        st.sampled_from([-0.25, 0.25, 0.5, 1.0, 1.5, 2.0, 2.25]),
        st.sampled_from(["grab", "shout"]),
        st.sampled_from(list(ITEM_COLOURS)),
    ),
    max_size=5,
)


@given(presses, st.sampled_from([GRAB, SHOUT]))
def test_player_is_judged_as_one_who_plays_alone(presses, case) -> None:
    judged = judge_attempts(
        [given_by("A", *press) for press in presses],
        *case,
        second_response_window_s=0.5,
        deadline_s=2.0,
    )
    events = tuple(
        TrialEvent(10 + t_s, f"{mode}_keys", "press", "k", 1, 0.0, mode, answer)  # type: ignore[arg-type]
        for t_s, mode, answer in presses
    )
    score = score_trial(TrialFacts(9.0, 10.0, 2.0, 0.5, events), *case)
    if not judged.attempts:
        assert score.error_kind == "late"
    else:
        (attempt,) = judged.attempts
        assert attempt.correct == score.correct
        assert attempt.error_kind == score.error_kind
    assert len(judged.ignored) + sum(1 + a.both_modes for a in judged.attempts) == len(presses)
