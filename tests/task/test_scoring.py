"""From the events of a trial to its score: every kind of error, and every edge in time."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import ITEM_COLOURS, solved

from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.games import GameSettings, Response, make_game
from ghostblitz_task.schema import ERROR_KINDS
from ghostblitz_task.scoring import (
    Score,
    TrialEvent,
    TrialFacts,
    responses_in_time,
    score_trial,
)

FIXATION_S, ONSET_S, DEADLINE_S, WINDOW_S = 10.0, 11.0, 2.0, 0.5
DIRECT = solved("ghost:white mouse:red")  # grab the ghost
SHOUT = solved("book:green ghost:red")  # shout the mouse


def event(
    t_s: float, mode: str | None = "grab", answer: str | None = "ghost", **more: object
) -> TrialEvent:
    device = "other_keys" if mode is None else f"{mode}_keys"
    base = TrialEvent(t_s, device, "press", "a", 30, 0.0, mode, answer)  # type: ignore[arg-type]
    return replace(base, **more)  # type: ignore[arg-type]


def score(*events: TrialEvent, case=DIRECT, **changes: object) -> Score:
    facts = TrialFacts(FIXATION_S, ONSET_S, DEADLINE_S, WINDOW_S, events)
    return score_trial(replace(facts, **changes), *case)  # type: ignore[arg-type]


def test_right_press_is_correct_with_its_time_from_the_card() -> None:
    found = score(event(11.75, resolution_s=0.001))
    assert found == Score(
        rt_s=0.75, response="ghost", response_mode="grab", response_device="grab_keys",
        response_resolution_s=0.001, correct=True, mode_correct=True, error_kind=None,
        n_events=1, key_held_at_onset=False,
    )  # fmt: skip
    assert found.given == Response("grab", "ghost")


def test_nothing_is_late_and_has_no_rt() -> None:
    found = score()
    assert found == Score(None, None, None, None, None, False, None, "late", 0, False)
    assert found.given is None


@pytest.mark.parametrize(
    ("t_s", "kind"),
    [(11.0, None), (13.0, None), (13.000001, "late"), (10.999999, "early"), (10.0, "early"),
     (9.999999, "late")],
)  # fmt: skip
def test_edges_of_the_time_for_a_response(t_s: float, kind: str | None) -> None:
    assert score(event(t_s)).error_kind == kind


def test_early_press_has_a_negative_rt_and_takes_the_one_attempt() -> None:
    found = score(event(10.75), event(11.5))
    assert found.error_kind == "early"
    assert found.rt_s == -0.25
    assert found.response == "ghost"
    assert found.mode_correct is True


def test_early_goes_before_both_modes_and_wrong_item() -> None:
    assert score(event(10.9, answer="chair"), event(11.2, "shout")).error_kind == "early"


def test_first_of_two_presses_is_the_attempt() -> None:
    assert score(event(11.5), event(11.6, answer="chair")).correct
    assert score(event(11.5, answer="mouse"), event(11.6)).error_kind == "shape_capture"


def test_events_count_by_their_times_whatever_their_order() -> None:
    assert score(event(11.6), event(11.5, answer="mouse")).rt_s == 0.5


@pytest.mark.parametrize(
    ("second_s", "kind"),
    [(11.25, "both_modes"), (11.75, "both_modes"), (11.750001, None), (13.5, None)],
)
def test_second_mode_counts_until_the_window_ends(second_s: float, kind: str | None) -> None:
    found = score(event(11.25), event(second_s, "shout"))
    assert found.error_kind == kind
    assert found.correct == (kind is None)
    assert found.rt_s == 0.25


def test_window_is_the_responses_own_and_may_end_after_the_deadline() -> None:
    assert score(event(12.9), event(13.3, "shout")).error_kind == "both_modes"
    assert score(event(12.9), event(13.41, "shout")).error_kind is None
    assert score(event(13.1), event(13.2, "shout")).error_kind == "late"


def test_second_press_in_the_same_mode_is_no_second_mode() -> None:
    assert score(event(11.25), event(11.3, answer="chair")).correct


def test_third_press_can_be_the_second_mode() -> None:
    found = score(event(11.25), event(11.3), event(11.4, "shout", "chair"))
    assert found.error_kind == "both_modes"


def test_wrong_item_and_both_modes_is_both_modes() -> None:
    assert score(event(11.2, answer="chair"), event(11.3, "shout")).error_kind == "both_modes"


def test_window_of_zero_takes_only_presses_at_once() -> None:
    together = (event(11.25), event(11.25, "shout"))
    assert score(*together, second_response_window_s=0.0).error_kind == "both_modes"
    apart = (event(11.25), event(11.251, "shout"))
    assert score(*apart, second_response_window_s=0.0).correct


@pytest.mark.parametrize(
    "no_answer",
    [
        event(11.2, kind="release"),
        event(11.2, repeated=True),
        event(11.2, mode=None, answer=None),
        event(9.5),
        event(13.5),
    ],
    ids=["release", "held key", "other key", "before fixation", "after the deadline"],
)
def test_what_is_no_answer(no_answer: TrialEvent) -> None:
    assert score(no_answer).error_kind == "late"
    assert score(no_answer).n_events == 1
    found = score(no_answer, event(11.5))
    assert found.correct
    assert found.rt_s == 0.5
    second = replace(no_answer, mode="shout" if no_answer.mode else None)
    assert score(event(11.0), replace(second, t_s=max(second.t_s, 11.1))).error_kind == (
        None if no_answer.t_s != 9.5 else "both_modes"
    )


def test_held_key_is_marked_and_scores_nothing() -> None:
    found = score(event(11.5), held_at_onset=("s",))
    assert found.key_held_at_onset
    assert found.correct


@pytest.mark.parametrize(
    ("case", "mode", "answer", "kind"),
    [
        (DIRECT, "grab", "ghost", None),
        (DIRECT, "shout", "ghost", "wrong_mode"),
        (DIRECT, "grab", "mouse", "shape_capture"),
        (DIRECT, "grab", "chair", "colour_capture"),
        (DIRECT, "grab", "book", "rule_confusion"),
        (DIRECT, "shout", "bottle", "rule_confusion"),
        (SHOUT, "shout", "mouse", None),
        (SHOUT, "grab", "mouse", "wrong_mode"),
        (SHOUT, "shout", "ghost", "shape_capture"),
        (SHOUT, "shout", "bottle", "colour_capture"),
    ],
)
def test_error_is_named_by_what_drew_it(case, mode: str, answer: str, kind: str | None) -> None:
    found = score(event(11.5, mode, answer), case=case)
    assert found.error_kind == kind
    assert found.mode_correct == (mode == case[0].solution.mode)


def test_item_that_is_depicted_and_whose_colour_is_shown_is_both_captures() -> None:
    case = solved("ghost:blue book:white mouse:red", "classic", n_pictures=3)
    assert case[1].error_kind(Response("grab", "ghost"), case[0]) == "shape_and_colour_capture"


def test_error_kinds_by_brute_force_over_all_cards_and_responses() -> None:
    """Counted on the pictures themselves, not by way of `item_role`."""
    game = make_game(GameSettings("grab-or-shout"))
    seen = set()
    for stimulus in legal_stimuli(game):
        shown = {p.item: p.colour for p in stimulus.card.pictures}
        matching = [i for i, c in shown.items() if ITEM_COLOURS[i] == c]
        free = [i for i, c in ITEM_COLOURS.items() if i not in shown and c not in shown.values()]
        right = (matching or free)[0]
        mode = "shout" if "book" in shown else "grab"
        for given_mode, item in product(("grab", "shout"), ITEM_COLOURS):
            kind = game.error_kind(Response(given_mode, item), stimulus)
            seen.add(kind)
            if item == right:
                expected = None if given_mode == mode else "wrong_mode"
            elif item in shown:
                expected = "shape_capture"
            elif item in free:
                assert matching
                expected = "rule_confusion"
            else:
                expected = "colour_capture"
            assert kind == expected
    assert seen <= {None, *ERROR_KINDS}
    assert len(seen) == 5


events = st.lists(
    st.builds(
        event,
        st.floats(9.0, 15.0).map(lambda t: round(t, 2)),
        st.sampled_from(["grab", "shout", None]),
        st.sampled_from(list(ITEM_COLOURS)),
        kind=st.sampled_from(["press", "press", "release"]),
        repeated=st.booleans(),
    ),
    max_size=8,
)


@given(events, st.randoms())
def test_score_depends_on_times_not_on_their_order(found: list[TrialEvent], random) -> None:
    times = [e.t_s for e in found]
    if len(set(times)) < len(times):
        return
    assert score(*found) == score(*random.sample(found, len(found)))


@given(events)
def test_score_fits_together(found: list[TrialEvent]) -> None:
    scored = score(*found)
    assert scored.n_events == len(found)
    assert scored.correct == (scored.error_kind is None)
    assert (scored.error_kind == "late") == (scored.rt_s is None) == (scored.response is None)
    assert (scored.error_kind == "early") == (scored.rt_s is not None and scored.rt_s < 0)
    if scored.rt_s is not None:
        assert -1.0 <= scored.rt_s <= DEADLINE_S
        facts = TrialFacts(FIXATION_S, ONSET_S, DEADLINE_S, WINDOW_S, tuple(found))
        assert scored.rt_s == min(e.t_s for e in responses_in_time(facts)) - ONSET_S


@given(events, st.lists(st.sampled_from("asdfg"), max_size=2))
def test_facts_read_back_from_the_log_as_they_were(
    found: list[TrialEvent], held: list[str]
) -> None:
    record = {
        "fixation_onset_s": FIXATION_S, "onset_s": ONSET_S, "deadline_s": DEADLINE_S,
        "second_response_window_s": WINDOW_S, "events": [e.to_json() for e in found],
        "held_at_onset": held, "card": "ghost:white mouse:red",
    }  # fmt: skip
    facts = TrialFacts.from_json(record)
    assert facts == TrialFacts(FIXATION_S, ONSET_S, DEADLINE_S, WINDOW_S, tuple(found), tuple(held))
