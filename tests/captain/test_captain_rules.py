"""The rules, sentence by sentence of rulebook 002, page 3; times and colours are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.rules import CaptainState, apply_event, next_due, start
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.captain.turns import Spot, Turn

# Droppings 0 to 3: one of each colour, in the rulebook's order.
FOUR = CaptainSettings(n_per_colour=1, time_limit_s=None)
CLEAR_DIE = ev.DieSpot(0.0, 0.0, "red")
C = TypeVar("C")


def spots(state: CaptainState) -> tuple[Spot, ...]:
    return tuple(Spot(i, 0.1 * i, 0.0, 0.0) for i in state.in_place("deck"))


def game(settings: CaptainSettings = FOUR, *, die: str = "red") -> CaptainState:
    colours = tuple(c for c in COLOURS for _ in range(settings.n_per_colour))
    state, _ = apply_event(start(settings, colours, die_colour=die), ev.BeginTurn(0.0))
    return state


def apply_all(state: CaptainState, *events: ev.Event) -> tuple[CaptainState, list[ev.Consequence]]:
    consequences: list[ev.Consequence] = []
    for event in events:
        state, more = apply_event(state, event)
        consequences.extend(more)
    return state, consequences


def only(kind: type[C], consequences: list[ev.Consequence]) -> C:
    (found,) = [each for each in consequences if isinstance(each, kind)]
    return found


def refusal(state: CaptainState, event: ev.Event) -> str:
    after, consequences = apply_event(state, event)
    refused = only(ev.Refused, list(consequences)).refusal
    assert refused.reason
    assert after.places == state.places
    assert after.phase == state.phase
    if after.turn is not None:
        assert after.turn.refusals[-1] == refused
    return refused.code


def play_turn(
    state: CaptainState, dropping_id: int, *, t_s: float
) -> tuple[CaptainState, list[ev.Consequence]]:
    """Pick and look, name nothing, and put back where that follows."""
    state, first = apply_all(
        state, ev.Pick(t_s, dropping_id, spots(state)), ev.Look(t_s + 1), ev.EndLook(t_s + 2)
    )
    if state.phase == "returning":
        state, more = apply_event(state, ev.PlacedBack(t_s + 2, Spot(dropping_id, 0.0, 0.0, 0.0)))
        first.extend(more)
    return state, first


def finished(state: CaptainState, **places: tuple[int, ...]) -> CaptainState:
    """Put droppings somewhere by hand."""
    where = list(state.places)
    for place, ids in places.items():
        for i in ids:
            where[i] = place  # type: ignore[call-overload]
    return replace(state, places=tuple(where))


# --- a turn -----------------------------------------------------------------------------------


def test_a_right_dropping_is_kept_and_a_wrong_one_goes_back_on_deck() -> None:
    right, consequences = play_turn(game(), 0, t_s=1.0)
    assert right.places[0] == "kept"
    assert only(ev.Kept, consequences).dropping_id == 0
    wrong, consequences = play_turn(game(), 1, t_s=1.0)
    assert wrong.places[1] == "deck"
    turn = only(ev.TurnOver, consequences).turn
    assert (turn.outcome, turn.correct, turn.resolved_s) == ("returned", False, 3.0)
    assert turn.returned_to == Spot(1, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(("changes_at_s", "kept"), [(0.5, True), (1.5, True), (2.5, False)])
def test_the_cue_that_counts_is_the_one_at_the_moment_of_looking(
    changes_at_s: float, kept: bool
) -> None:
    events: list[ev.Event] = [
        ev.DieTurned(changes_at_s, "blue"),
        ev.Pick(1.0, 2, spots(game())),
        ev.Look(2.0),
        ev.EndLook(3.0),
    ]
    state, _ = apply_all(game(), *sorted(events, key=lambda event: event.t_s))
    assert (state.places[2] == "kept") is kept


def test_a_look_that_is_told_late_counts_with_the_colour_of_its_own_time() -> None:
    picked, _ = apply_all(game(), ev.Pick(1.0, 0, spots(game())), ev.DieTurned(2.1, "blue"))
    state, _ = apply_all(picked, ev.Look(2.0), ev.EndLook(3.5))
    assert state.places[0] == "kept"


def test_the_true_colour_decides_and_a_wrong_name_is_only_logged() -> None:
    state, consequences = apply_all(
        game(),
        ev.Pick(1.0, 0, spots(game())),
        ev.Look(2.0),
        ev.NameColour(2.6, "blue"),
        ev.EndLook(3.5),
    )
    turn = only(ev.TurnOver, consequences).turn
    assert state.places[0] == "kept"
    assert (turn.colour, turn.named, turn.named_s, turn.correct) == ("red", "blue", 2.6, True)


def test_the_first_name_counts_and_only_colours_are_names() -> None:
    looked, _ = apply_all(game(), ev.Pick(1.0, 0, spots(game())), ev.Look(2.0))
    assert refusal(looked, ev.NameColour(2.3, "purple")) == "no_such_colour"
    named, _ = apply_event(looked, ev.NameColour(2.5, "red"))
    assert refusal(named, ev.NameColour(2.7, "blue")) == "named_already"


def test_the_turn_waits_for_the_name_but_no_longer_than_the_study_says() -> None:
    settings = replace(FOUR, look_s=1.5, naming_s=4.0)
    looked, _ = apply_all(game(settings), ev.Pick(1.0, 0, spots(game())), ev.Look(2.0))
    assert next_due(looked) == ev.EndLook(6.0)
    quick, _ = apply_event(looked, ev.NameColour(2.5, "red"))
    assert next_due(quick) == ev.EndLook(3.5)
    slow, _ = apply_event(looked, ev.NameColour(5.0, "red"))
    assert next_due(slow) == ev.EndLook(5.0)


def test_the_tongs_go_round_to_the_left_neighbour_after_right_and_wrong_alike() -> None:
    state = game(replace(FOUR, n_players=3))
    players = []
    for turn_index, dropping_id in enumerate((1, 0, 1, 1)):
        assert state.turn is not None
        players.append(state.turn.player_index)
        state, _ = play_turn(state, dropping_id, t_s=10.0 * turn_index + 1)
        state, _ = apply_event(state, ev.BeginTurn(10.0 * turn_index + 9))
    assert players == [0, 1, 2, 0]


def test_each_action_is_refused_outside_its_phase_with_a_reason() -> None:
    waiting = game()
    assert refusal(waiting, ev.Look(1.0)) == "not_now"
    assert refusal(waiting, ev.NameColour(1.0, "red")) == "not_now"
    assert refusal(waiting, ev.Pick(1.0, 99, spots(waiting))) == "not_on_deck"
    assert refusal(waiting, ev.Pick(-0.1, 0, spots(waiting))) == "too_early"
    lifted, _ = apply_event(waiting, ev.Pick(1.0, 0, spots(waiting)))
    assert refusal(lifted, ev.Pick(1.5, 1, spots(lifted))) == "not_now"
    between = apply_all(lifted, ev.Look(2.0), ev.EndLook(3.0))[0]
    assert refusal(between, ev.Pick(3.1, 1, spots(between))) == "not_now"


# --- the last dropping ------------------------------------------------------------------------


def last_left(dropping_id: int = 2, *, die: str = "red") -> CaptainState:
    others = [i for i in range(4) if i != dropping_id]
    return finished(game(die=die), kept=tuple(others[:2]), galley=tuple(others[2:]))


def test_the_last_dropping_is_won_by_its_colour_without_waiting_for_the_die() -> None:
    state, consequences = apply_all(
        last_left(), ev.ClaimLast(1.0, "blue", spots(last_left())), ev.EndLook(2.5)
    )
    assert state.places[2] == "kept"
    assert only(ev.TurnOver, consequences).turn.correct is True
    assert state.status == "won"


def test_the_last_dropping_is_lost_to_the_galley_by_a_wrong_colour() -> None:
    state, consequences = apply_all(
        last_left(), ev.ClaimLast(1.0, "red", spots(last_left())), ev.EndLook(2.5)
    )
    assert state.places[2] == "galley"
    turn = only(ev.TurnOver, consequences).turn
    # The die shows red as well: it has no say here.
    assert (turn.outcome, turn.correct) == ("lost", False)
    assert state.status == "won"  # two kept, two in the galley


def test_a_last_dropping_in_the_tongs_can_still_be_claimed() -> None:
    lifted, _ = apply_event(last_left(), ev.Pick(1.0, 2, spots(last_left())))
    state, consequences = apply_all(lifted, ev.ClaimLast(2.0, "blue", ()), ev.EndLook(3.5))
    assert state.places[2] == "kept"
    turn = only(ev.TurnOver, consequences).turn
    assert (turn.lifted_s, turn.looked_s, len(turn.on_deck)) == (1.0, 2.0, 1)


def test_no_other_dropping_can_be_claimed() -> None:
    two = finished(game(), kept=(0, 1))
    assert refusal(two, ev.ClaimLast(1.0, "blue", spots(two))) == "not_the_last"
    assert refusal(last_left(), ev.ClaimLast(1.0, "pink", ())) == "no_such_colour"


def test_a_last_dropping_picked_by_the_die_goes_back_when_wrong() -> None:
    state, _ = play_turn(last_left(), 2, t_s=1.0)
    assert state.places[2] == "deck"
    assert state.status == "playing"


# --- falling ----------------------------------------------------------------------------------


def test_a_fallen_dropping_is_lost_and_the_turn_goes_on() -> None:
    state, consequences = apply_event(game(), ev.DroppingFell(1.0, 3))
    assert state.places[3] == "galley"
    assert only(ev.Lost, list(consequences)).dropping_id == 3
    assert state.phase == "waiting"
    assert refusal(state, ev.Pick(2.0, 3, spots(state))) == "not_on_deck"


def test_a_dropping_in_the_tongs_cannot_fall() -> None:
    lifted, _ = apply_event(game(), ev.Pick(1.0, 3, spots(game())))
    with pytest.raises(AssertionError, match="dropping 3 fell, but it is in place tongs"):
        apply_event(lifted, ev.DroppingFell(1.5, 3))


@pytest.mark.parametrize("n_events", [0, 1, 2])
def test_the_die_falling_loses_at_once_and_censors_the_turn(n_events: int) -> None:
    events = [ev.Pick(1.0, 1, spots(game())), ev.Look(2.0)][:n_events]
    state, _ = apply_all(game(), *events)
    state, consequences = apply_all(state, ev.DieFell(2.5))
    assert state.status == "die_fell"
    assert only(ev.TurnOver, list(consequences)).turn.outcome == "censored"
    assert next_due(state) is None
    assert refusal(state, ev.Pick(3.0, 0, spots(state))) == "game_over"
    assert apply_event(state, ev.DroppingFell(3.0, 0)) == (state, ())


def test_between_turns_there_is_no_turn_to_censor() -> None:
    state, _ = play_turn(game(), 0, t_s=1.0)
    state, consequences = apply_all(state, ev.DieFell(3.2))
    assert consequences == [ev.GameOver("die_fell")]


# --- the end ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_kept", "n_fallen", "status"), [(4, 0, "won"), (2, 2, "won"), (1, 3, "lost"), (0, 4, "lost")]
)
def test_won_if_and_only_if_at_least_as_many_were_collected_as_fell(
    n_kept: int, n_fallen: int, status: str
) -> None:
    ids = list(range(4))
    if n_kept:
        # The last one kept ends the game.
        state = finished(game(), kept=tuple(ids[1:n_kept]), galley=tuple(ids[n_kept:]))
        ended, _ = play_turn(state, 0, t_s=1.0)
    else:
        state = finished(game(), galley=tuple(ids[1:]))
        ended, _ = apply_event(state, ev.DroppingFell(1.0, 0))
    assert ended.status == status
    assert ended.count("kept") == n_kept
    assert ended.count("galley") == n_fallen


def test_the_game_goes_on_while_the_last_dropping_is_in_the_tongs() -> None:
    two = finished(game(), kept=(0, 1))
    state, _ = apply_all(two, ev.Pick(1.0, 2, spots(two)), ev.DroppingFell(1.5, 3))
    assert state.status == "playing"


def test_the_last_dropping_falling_before_a_pick_ends_the_game() -> None:
    state, consequences = apply_all(last_left(), ev.DroppingFell(1.0, 2))
    assert state.status == "won"
    turn = only(ev.TurnOver, consequences).turn
    assert (turn.outcome, turn.dropping_id) == ("censored", None)


def test_a_limit_of_turns_or_time_caps_the_game() -> None:
    state, consequences = play_turn(game(replace(FOUR, max_turns=1)), 1, t_s=1.0)
    assert state.status == "capped"
    assert only(ev.TurnOver, consequences).turn.outcome == "returned"
    timed = game(replace(FOUR, time_limit_s=30.0))
    assert next_due(timed) == ev.TimeUp(30.0)
    state, consequences = apply_all(timed, ev.TimeUp(30.0))
    assert state.status == "capped"
    assert only(ev.TurnOver, consequences).turn.outcome == "censored"


def test_the_last_dropping_within_the_last_turn_is_won_and_not_capped() -> None:
    state = finished(game(replace(FOUR, max_turns=1)), kept=(1, 2, 3))
    assert play_turn(state, 0, t_s=1.0)[0].status == "won"


# --- nudging ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("die", "gone", "allowed_by"),
    [
        (replace(CLEAR_DIE, near_open_corner=True), False, "near_open_corner"),
        (replace(CLEAR_DIE, stuck=True), False, "stuck"),
        (CLEAR_DIE, True, "colour_gone"),
    ],
)
def test_the_die_may_be_nudged_in_three_cases(die: ev.DieSpot, gone: bool, allowed_by: str) -> None:
    state = finished(game(), kept=(0,)) if gone else game()
    state, consequences = apply_all(state, ev.NudgeDie(1.0, die))
    assert only(ev.DieNudged, consequences).allowed_by == allowed_by
    assert state.turn is not None
    assert [nudge.allowed_by for nudge in state.turn.nudges] == [allowed_by]


def test_any_other_nudge_is_refused() -> None:
    assert refusal(game(), ev.NudgeDie(1.0, CLEAR_DIE)) == "no_reason_to"
    off = game(replace(FOUR, allow_nudging=False))
    assert refusal(off, ev.NudgeDie(1.0, replace(CLEAR_DIE, stuck=True))) == "nudging_off"
    static = game(replace(FOUR, mode="static"))
    assert refusal(static, ev.NudgeDie(1.0, CLEAR_DIE)) == "static"


def test_a_colour_in_the_tongs_is_not_gone() -> None:
    lifted, _ = apply_event(game(), ev.Pick(1.0, 0, spots(game())))
    assert refusal(lifted, ev.NudgeDie(1.5, CLEAR_DIE)) == "no_reason_to"


# --- always -----------------------------------------------------------------------------------


def some_event(state: CaptainState, kind: int, i: int, colour: str, t_s: float) -> ev.Event | None:
    makers: list[Callable[[], ev.Event]] = [
        lambda: ev.Pick(t_s, i, spots(state)),
        lambda: ev.Look(t_s),
        lambda: ev.NameColour(t_s, colour),
        lambda: ev.ClaimLast(t_s, colour, spots(state)),
        lambda: ev.NudgeDie(t_s, CLEAR_DIE),
        lambda: ev.DieTurned(t_s, colour),
        lambda: ev.DroppingFell(t_s, i),
    ]
    if kind < len(makers):
        falls_from_nowhere = kind == 6 and (i >= len(state.places) or state.places[i] != "deck")
        return None if falls_from_nowhere else makers[kind]()
    return next_due(state)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 8), st.sampled_from(COLOURS)), max_size=120
    )
)
def test_no_dropping_is_ever_lost_sight_of(moves: list[tuple[int, int, str]]) -> None:
    state = game(CaptainSettings(n_per_colour=2, n_players=2, time_limit_s=None))
    turns: list[Turn] = []
    for t_s, (kind, i, colour) in enumerate(moves, start=1):
        event = some_event(state, kind, i, colour, float(t_s))
        if event is None:
            continue
        state, consequences = apply_event(state, event)
        for each in consequences:
            if isinstance(each, ev.Returned):
                back = ev.PlacedBack(float(t_s), Spot(each.dropping_id, 0.0, 0.0, 0.0))
                state, more = apply_event(state, back)
                consequences = (*consequences, *more)
        turns.extend(each.turn for each in consequences if isinstance(each, ev.TurnOver))
        counts = [state.count(place) for place in ("deck", "tongs", "kept", "galley")]
        assert sum(counts) == 8
        assert counts[1] <= 1
        assert (counts[1] == 1) == (
            state.phase in ("lifted", "looked")
        ) or state.status != "playing"
        assert (counts[0] + counts[1] == 0) == (state.status in ("won", "lost"))
    assert [turn.turn_index for turn in turns] == list(range(len(turns)))
    assert sum(turn.outcome == "kept" for turn in turns) == state.count("kept")
