from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ghostblitz_task.captain.deck import Sample
from ghostblitz_task.captain.history import HistoryEvent, decode_history, encode_history
from ghostblitz_task.captain.play import play_game
from ghostblitz_task.captain.players import make_player
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.errors import DatasetError


def samples(positions: np.ndarray, *, every: int = 12) -> list[Sample]:
    return [Sample(240 + every * k, frame) for k, frame in enumerate(positions)]


@given(
    quanta=hnp.arrays(int, (30, 4, 2), elements=st.integers(-3, 3)),
    absent=hnp.arrays(bool, (30, 4)),
    resting=hnp.arrays(bool, (30, 4), elements=st.sampled_from([True, True, True, False])),
)
def test_what_is_encoded_is_decoded_exactly(
    quanta: np.ndarray, absent: np.ndarray, resting: np.ndarray
) -> None:
    where = np.cumsum(np.where(resting[:, :, None], 0, quanta * 700), axis=0)
    positions = np.where(absent[:, :, None], np.nan, where / 10_000)
    events = (HistoryEvent(250, "fell", 1), HistoryEvent(251, "die_fell"))
    record = json.loads(json.dumps(encode_history(samples(positions), events, n_droppings=2)))
    decoded = decode_history(record, n_droppings=2)
    np.testing.assert_array_equal(decoded.on_deck, ~absent)
    np.testing.assert_array_equal(decoded.positions, np.where(absent[:, :, None], 0, where))
    np.testing.assert_array_equal(decoded.steps, 240 + 12 * np.arange(30))
    assert decoded.events == events


def test_a_body_at_rest_costs_one_short_run() -> None:
    record = encode_history(samples(np.full((400, 3, 2), 0.25)), (), n_droppings=1)
    assert record["bodies"]["0"] == [[0, 400, 2500, 2500]]
    assert record["steps"] == {"first": 240, "every": 12, "n": 400}


def test_a_movement_after_a_long_rest_is_a_new_run() -> None:
    positions = np.zeros((20, 3, 2))
    positions[1:, 0, 0] = 0.01
    positions[12:, 0, 0] = 0.03
    record = encode_history(samples(positions), (), n_droppings=1)
    assert record["bodies"]["0"] == [[0, 12, 0, 0, 100, 0], [12, 8, 300, 0]]


def test_no_samples_are_no_history_but_the_events_stay() -> None:
    record = encode_history([], [HistoryEvent(5, "fell", 0)], n_droppings=1)
    decoded = decode_history(record, n_droppings=1)
    assert decoded.positions.shape == (0, 3, 2)
    assert decoded.events == (HistoryEvent(5, "fell", 0),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": 1000}, "history in 1/1000 of a deck side; expected 1/10000"),
        ({"bodies": {"7": []}}, "history of body '7'; there are the droppings 0 to 0"),
        ({"bodies": {"0": [[0, 9, 1, 1]]}}, r"run \[0, 9, 1, 1\], which does not fit 3 samples"),
        ({"bodies": {"0": [[0, 2, 1]]}}, "does not fit"),
        ({"bodies": {"0": [[0, 1, 1, 1, 1, 1]]}}, "does not fit"),
        ({"bodies": {"0": [[-1, 2, 1, 1]]}}, "does not fit"),
    ],
)
def test_a_history_that_does_not_add_up_is_refused(change: dict[str, object], message: str) -> None:
    record = encode_history(samples(np.zeros((3, 3, 2))), (), n_droppings=1)
    with pytest.raises(DatasetError, match=message):
        decode_history({**record, **change}, n_droppings=1)


@pytest.mark.slow
def test_the_chunks_of_a_game_follow_on_each_other_and_agree_with_its_turns() -> None:
    record = play_game(CaptainSettings(), [make_player("perfect")], seed=4)
    chunks = [
        decode_history(json.loads(json.dumps(chunk)), n_droppings=12) for chunk in record.history
    ]
    steps = np.concatenate([chunk.steps for chunk in chunks])
    np.testing.assert_array_equal(steps, 12 * np.arange(len(steps)))
    assert steps[-1] / 240 == pytest.approx(record.ended_s, abs=0.05)
    events = [event for chunk in chunks for event in chunk.events]
    assert [e.detail for e in events if e.kind == "lifted"] == [t.dropping_id for t in record.turns]
    assert sum(e.kind == "fell" for e in events) == record.n_fallen
    # Where everything lay at a pick is in the history, to within a twentieth of a second.
    turn = record.turns[2]
    assert turn.lifted_s is not None
    at = int(turn.lifted_s * 20)
    positions = np.concatenate([chunk.positions for chunk in chunks])
    for spot in turn.on_deck:
        assert positions[at, spot.dropping_id] / 1e4 == pytest.approx((spot.x, spot.y), abs=0.05)


@pytest.mark.slow
def test_a_minute_of_history_takes_some_twenty_kilobytes() -> None:
    record = play_game(CaptainSettings(), [make_player("forgetting")], seed=2)
    n_bytes = sum(len(json.dumps(chunk, separators=(",", ":"))) for chunk in record.history)
    assert 5_000 < n_bytes / (record.ended_s / 60) < 40_000
