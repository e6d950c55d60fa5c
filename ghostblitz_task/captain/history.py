"""The full history of die, droppings and Eye for the log, as short lists of whole numbers.

One chunk per turn, readable by itself::

    {"unit": 10000, "steps": [0, 12, 24, ...] or {"first": 0, "every": 12, "n": 3},
     "bodies": {"0": [[0, 3, -1200, 310]], "eye": [[0, 3, 2500, -80, 12, -3, 11, -4]]},
     "events": [[17, "die_turned", "red"], ...]}

Positions are deck units x 10000. A run ``[first, n, x, y, dx, dy, ...]`` says where a body was
from sample `first` on, for `n` samples: at x, y, then moved by each dx, dy, then at rest for what
is left of `n`. A sample that no run of a body covers found it off the deck. Times are steps of
1 / 240 s; events carry the step at which they took effect. A body that rests costs some twenty
bytes per turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ghostblitz_task.captain.deck import Sample
from ghostblitz_task.errors import DatasetError

__all__ = ["QUANTA_PER_UNIT", "History", "HistoryEvent", "decode_history", "encode_history"]

QUANTA_PER_UNIT = 10_000

# A rest of so many samples within a movement is shorter as a new run than as zeros.
_REST = 4


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """Something that happened at a step: what, and to which dropping or with which colour."""

    step: int
    kind: str
    detail: int | str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """The decoded history of a turn.

    Attributes
    ----------
    steps : numpy.ndarray
        (n_samples,) step of each sample.
    positions : numpy.ndarray
        (n_samples, n_droppings + 2, 2) whole numbers, deck units x 10000: the droppings by id, then
        the die, then the Eye; 0 where `on_deck` is false.
    on_deck : numpy.ndarray
        (n_samples, n_droppings + 2) whether the body was on deck.
    events : tuple of HistoryEvent
        In order.
    """

    steps: np.ndarray
    positions: np.ndarray
    on_deck: np.ndarray
    events: tuple[HistoryEvent, ...]


def encode_history(
    samples: Sequence[Sample], events: Sequence[HistoryEvent], *, n_droppings: int
) -> dict[str, Any]:
    """Encode the samples and events of a turn; everything in the result can go into JSON."""
    steps = [sample.step for sample in samples]
    bodies: dict[str, list[list[int]]] = {}
    if samples:
        raw = np.stack([sample.positions for sample in samples])
        on_deck = ~np.isnan(raw[:, :, 0])
        quanta = np.rint(np.nan_to_num(raw) * QUANTA_PER_UNIT).astype(int)
        for i, name in enumerate(_body_names(n_droppings)):
            runs = _runs(quanta[:, i], on_deck[:, i])
            if runs:
                bodies[name] = runs
    return {
        "unit": QUANTA_PER_UNIT,
        "steps": _encode_steps(steps),
        "bodies": bodies,
        "events": [_encode_event(event) for event in events],
    }


def decode_history(record: Mapping[str, Any], *, n_droppings: int) -> History:
    """Decode the history of a turn.

    Raises
    ------
    DatasetError
        If the unit is another one, a body is unknown, or a run does not fit the samples.
    """
    if record["unit"] != QUANTA_PER_UNIT:
        raise DatasetError(
            f"captain: history in 1/{record['unit']} of a deck side; expected 1/{QUANTA_PER_UNIT}"
        )
    steps = _decode_steps(record["steps"])
    names = _body_names(n_droppings)
    positions = np.zeros((len(steps), len(names), 2), dtype=int)
    on_deck = np.zeros((len(steps), len(names)), dtype=bool)
    for name, runs in record["bodies"].items():
        if name not in names:
            raise DatasetError(
                f"captain: history of body {name!r}; there are the droppings 0 to "
                f"{n_droppings - 1}, die and eye"
            )
        i = names.index(name)
        for run in runs:
            first, n, *moves = run
            path = np.reshape(moves[: len(moves) // 2 * 2], (-1, 2)).cumsum(axis=0)
            if len(moves) % 2 or not 1 <= len(path) <= n or first < 0 or first + n > len(steps):
                raise DatasetError(
                    f"captain: history of body {name!r} has the run {run}, which does not fit "
                    f"{len(steps)} samples"
                )
            positions[first : first + n, i] = path[-1]
            positions[first : first + len(path), i] = path
            on_deck[first : first + n, i] = True
    events = tuple(
        HistoryEvent(event[0], event[1], event[2] if len(event) > 2 else None)
        for event in record["events"]
    )
    return History(steps, positions, on_deck, events)


def _body_names(n_droppings: int) -> list[str]:
    return [*(str(i) for i in range(n_droppings)), "die", "eye"]


def _encode_event(event: HistoryEvent) -> list[int | str]:
    if event.detail is None:
        return [event.step, event.kind]
    return [event.step, event.kind, event.detail]


def _encode_steps(steps: list[int]) -> list[int] | dict[str, int]:
    gaps = set(np.diff(steps).tolist())
    if len(gaps) == 1 and len(steps) > 3:
        return {"first": steps[0], "every": gaps.pop(), "n": len(steps)}
    return steps


def _decode_steps(steps: Sequence[int] | Mapping[str, int]) -> np.ndarray:
    if isinstance(steps, Mapping):
        return steps["first"] + steps["every"] * np.arange(steps["n"])
    return np.asarray(steps, dtype=int)


def _runs(quanta: np.ndarray, on_deck: np.ndarray) -> list[list[int]]:
    """Split the way of one body where it leaves the deck, and where it moves on after a rest."""
    runs = []
    for start, stop in _spans(on_deck):
        moves = np.diff(quanta[start:stop], axis=0)
        moving = np.flatnonzero(moves.any(axis=1))
        first = start
        # Sample k + 1 is where move k has led to; a run ends before a move that follows a rest.
        for before, after in zip([-1, *moving], [*moving], strict=False):
            if after - before > _REST:
                stop_run = start + int(after) + 1
                runs.append(_run(quanta, first, stop_run))
                first = stop_run
        runs.append(_run(quanta, first, stop))
    return runs


def _run(quanta: np.ndarray, first: int, stop: int) -> list[int]:
    moves = np.diff(quanta[first:stop], axis=0)
    moving = np.flatnonzero(moves.any(axis=1))
    n_moves = int(moving[-1]) + 1 if len(moving) else 0
    return [first, stop - first, *quanta[first].tolist(), *moves[:n_moves].ravel().tolist()]


def _spans(present: np.ndarray) -> list[tuple[int, int]]:
    padded = np.concatenate([[False], present, [False]]).astype(int)
    edges = np.flatnonzero(np.diff(padded)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
