"""The moving deck: repeatable at any refresh rate, and nothing goes where it cannot."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.deck import (
    CORNER_PLACES,
    DIE_SIDE,
    DROPPING_RADIUS,
    EYE_RADIUS,
    HALF_SIDE,
    HOLE_RADIUS,
    STEP_HZ,
    Deck,
    find_free_spot,
    make_deck,
    steps_until,
)
from ghostblitz_task.captain.settings import COLOURS, CORNERS, CaptainSettings, Corner

RATES_HZ = (60, 75, 144)
# Contacts give a little way; nothing may lie half inside something else.
MOST_OVERLAP = 0.005


def moving(seed: int, *, railed: tuple[Corner, ...] = (), **settings: float) -> Deck:
    chosen = CaptainSettings(railed_corners=railed, **settings)  # type: ignore[arg-type]
    return make_deck(chosen, np.random.default_rng(seed))


def run(deck: Deck, until_s: float, *, rate_hz: float = 60.0) -> list[ev.Happening]:
    """Ask the deck as a frame loop does, looking at everything at each frame."""
    happened: list[ev.Happening] = []
    for frame in range(1, math.ceil(until_s * rate_hz) + 1):
        t_s = min(frame / rate_hz, until_s)
        while more := deck.advance_until(t_s):
            happened.extend(more)
        deck.spots(), deck.die(), deck.eye()
    return happened


def positions(deck: Deck) -> np.ndarray:
    return np.array([sample.positions for sample in deck.take_samples()])


@pytest.mark.slow
@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_the_same_seed_and_actions_give_the_same_session_at_any_refresh_rate(
    rate_hz: float,
) -> None:
    def play(rate_hz: float) -> tuple[list[ev.Happening], np.ndarray, object]:
        deck = moving(3)
        happened = run(deck, 2.9, rate_hz=rate_hz)
        first = deck.spots()[0].dropping_id
        deck.pick(first)
        happened += run(deck, 5.3, rate_hz=rate_hz)
        deck.put_back(first)
        deck.nudge_die()
        happened += run(deck, 40.0, rate_hz=rate_hz)
        return happened, positions(deck), deck.spots()

    happened, where, spots = play(rate_hz)
    expected, expected_where, expected_spots = play(1000.0)
    assert happened == expected
    np.testing.assert_array_equal(where, expected_where)
    assert spots == expected_spots  # the lengths of their ways too
    assert any(isinstance(each, ev.DieTurned) for each in happened)


def test_another_seed_gives_another_game() -> None:
    one, other = moving(1), moving(2)
    assert one.spots() != other.spots()
    run(one, 5.0), run(other, 5.0)
    assert one.eye() != other.eye()


@pytest.mark.slow
def test_nothing_else_in_the_process_changes_the_game() -> None:
    alone, among_others = moving(5), moving(5)
    run(alone, 20.0)
    for seed in range(3):
        run(moving(seed), 2.0)
    for second in range(1, 21):
        run(moving(second), 0.1)
        run(among_others, float(second))
    assert alone.spots() == among_others.spots()


def test_only_whole_steps_are_done_and_the_rest_is_kept() -> None:
    deck = moving(1)
    for _ in range(3):
        deck.advance_until(1.9 / STEP_HZ)
    assert deck.step == 1
    deck.advance_until(2.0 / STEP_HZ)
    assert deck.step == 2
    assert steps_until(0.1 + 0.2) == 72  # 0.30000000000000004 s


def test_what_happens_stops_the_deck_at_its_step() -> None:
    deck = moving(3)
    happened = deck.advance_until(120.0)
    assert happened
    assert deck.step == round(happened[0].t_s * STEP_HZ)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_everything_is_on_deck_or_has_fallen_and_nothing_overlaps(seed: int) -> None:
    deck = moving(seed)
    fallen = {e.dropping_id for e in run(deck, 90.0) if isinstance(e, ev.DroppingFell)}
    where = positions(deck)
    assert {spot.dropping_id for spot in deck.spots()} == set(range(12)) - fallen
    assert np.nanmax(np.abs(where[:, :12])) <= HALF_SIDE - DROPPING_RADIUS + MOST_OVERLAP
    assert np.nanmax(np.abs(where[:, 13])) <= HALF_SIDE - EYE_RADIUS + MOST_OVERLAP
    radii = np.array([DROPPING_RADIUS] * 12 + [DIE_SIDE / 2, EYE_RADIUS])
    for frame in where[::5]:
        apart = np.linalg.norm(frame[:, None] - frame[None], axis=2)
        overlap = radii[:, None] + radii[None] - apart
        np.fill_diagonal(overlap, -1.0)
        assert np.nanmax(overlap) < MOST_OVERLAP


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_nothing_leaves_through_a_railed_corner(seed: int) -> None:
    deck = moving(seed, railed=CORNERS, eye_speed_per_s=0.6)
    happened = run(deck, 120.0)
    assert not [e for e in happened if isinstance(e, (ev.DroppingFell, ev.DieFell))]
    where = positions(deck)[:, :13]
    for corner in CORNER_PLACES.values():
        assert np.linalg.norm(where - corner, axis=2).min() > HOLE_RADIUS


@pytest.mark.slow
def test_what_falls_falls_through_an_open_corner() -> None:
    deck = moving(2, railed=("top_left", "bottom_right"), eye_speed_per_s=0.6)
    happened = run(deck, 240.0)
    samples = deck.take_samples()
    falls = [e for e in happened if isinstance(e, ev.DroppingFell)]
    assert falls
    for fall in falls:
        before = [s for s in samples if s.step < fall.t_s * STEP_HZ][-1]
        x, y = before.positions[fall.dropping_id]
        distances = {
            corner: math.hypot(x - cx, y - cy) for corner, (cx, cy) in CORNER_PLACES.items()
        }
        nearest = min(distances, key=lambda corner: distances[corner])
        assert nearest in ("bottom_left", "top_right")
        assert distances[nearest] < HOLE_RADIUS + 0.1


@pytest.mark.slow
def test_the_eye_never_falls_and_drives_at_its_speed() -> None:
    deck = moving(8, n_per_colour=1, eye_speed_per_s=0.3)
    run(deck, 120.0)
    eye = positions(deck)[:, -1]
    assert not np.isnan(eye).any()
    for corner in CORNER_PLACES.values():
        assert np.linalg.norm(eye - corner, axis=1).min() > HOLE_RADIUS
    speeds = np.linalg.norm(np.diff(eye, axis=0), axis=1) * 20
    assert np.median(speeds) == pytest.approx(0.3, rel=0.1)
    # It comes everywhere: no quarter of the deck is left out.
    quarters = (eye > 0).astype(int) @ [1, 2]
    assert np.bincount(quarters, minlength=4).min() > 0.05 * len(eye)


@pytest.mark.slow
def test_the_die_changes_only_to_another_colour_and_in_time_shows_all() -> None:
    deck = moving(4, railed=CORNERS, n_per_colour=1, eye_speed_per_s=0.6)
    die = deck.die()
    assert die is not None
    colours = [die.colour]
    colours += [e.colour for e in run(deck, 300.0) if isinstance(e, ev.DieTurned)]
    assert all(a != b for a, b in pairwise(colours))
    assert set(colours) == set(COLOURS)


@pytest.mark.slow
def test_a_die_at_rest_keeps_its_colour_and_a_bump_comes_before_each_change() -> None:
    happened = run(moving(4, railed=CORNERS), 120.0)
    kinds = [e for e in happened if isinstance(e, (ev.DieBumped, ev.DieTurned))]
    assert len(kinds) > 4
    for bump, turned in zip(kinds[::2], kinds[1::2], strict=False):
        assert isinstance(bump, ev.DieBumped)
        assert isinstance(turned, ev.DieTurned)
        assert turned.t_s - bump.t_s == pytest.approx(0.4)


def test_a_dropping_in_the_tongs_is_off_the_deck_and_comes_back_near_the_middle() -> None:
    deck = moving(1)
    run(deck, 1.0)
    held = deck.spots()[5]
    deck.pick(held.dropping_id)
    assert held.dropping_id not in {spot.dropping_id for spot in deck.spots()}
    run(deck, 20.0)
    back = deck.put_back(held.dropping_id)
    assert math.hypot(back.x, back.y) < 0.3
    assert back.path == pytest.approx(held.path)  # the way through the air does not count
    eye_x, eye_y = deck.eye() or (math.nan, math.nan)
    assert math.hypot(back.x - eye_x, back.y - eye_y) > DROPPING_RADIUS + EYE_RADIUS


def test_a_nudged_die_lies_near_the_middle_and_rolls() -> None:
    deck = moving(1)
    run(deck, 30.0)
    before = deck.die()
    assert before is not None
    deck.nudge_die()
    after = deck.die()
    assert after is not None
    assert math.hypot(after.x, after.y) < 0.3
    assert (after.near_open_corner, after.stuck, after.rolling) == (False, False, True)
    turned = [e for e in run(deck, 31.0) if isinstance(e, ev.DieTurned)]
    assert turned[0].colour != before.colour


@pytest.mark.slow
def test_a_die_that_nobody_nudges_is_said_to_be_at_risk_before_it_falls() -> None:
    fallen = 0
    for seed in range(12):
        happened = run(moving(seed, eye_speed_per_s=0.6), 120.0)
        if not any(isinstance(e, ev.DieFell) for e in happened):
            continue
        fallen += 1
        last_risk = [e for e in happened if isinstance(e, ev.DieAtRisk)][-1]
        assert last_risk.near_open_corner
    assert fallen


def test_a_free_spot_is_as_near_to_the_middle_as_there_is_room() -> None:
    rng = np.random.default_rng(1)
    assert find_free_spot(0.05, [], rng) == (0.0, 0.0)
    x, y = find_free_spot(0.05, [(0.0, 0.0, 0.1)], rng)
    assert 0.15 < math.hypot(x, y) < 0.18
