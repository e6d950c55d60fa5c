"""The history of a game, chunk by chunk: what it tells of each turn, held against its facts.

A chunk is cut where the turn's record was written, once per frame, so that what happened after the
turn's end but in the same frame stands in it too. The order of the events says to which turn, or
to which time between two, each belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ghostblitz_analysis.record_values import shown
from ghostblitz_task.captain.deck import STEP_HZ
from ghostblitz_task.captain.history import (
    QUANTA_PER_UNIT,
    History,
    HistoryEvent,
    decode_history,
)
from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.captain.turns import Turn
from ghostblitz_task.errors import DatasetError

__all__ = ["HistoryFollower", "TurnHistory"]

# What decoding raises for values of a wrong kind or size.
_UNDECODED = (TypeError, ValueError, LookupError, AttributeError, OverflowError)
_MAX_SAMPLES = 10_000_000
# An event takes effect at a step; its time is that step's but for rounding.
_WITHIN_STEPS = 1.01
# Without the Eye positions differ by rounding alone; with it also by the way between the pick and
# the nearest sample, at most 0.01 deck sides in simulated play with the default speed of the Eye.
_WITHIN_STATIC = 1.0 / QUANTA_PER_UNIT
_WITHIN_MOVING, _WITHIN_MOVING_S = 0.02, 0.15


@dataclass(frozen=True, slots=True)
class TurnHistory:
    """What the history tells of a turn.

    Attributes
    ----------
    fell_between : tuple of int
        Droppings that fell between the turn before and this one.
    fell_before_pick : tuple of int
        Those that fell in the turn, before the pick.
    is_nudged : bool
        The die was nudged before the pick, or between the turn before and this one.
    """

    fell_between: tuple[int, ...]
    fell_before_pick: tuple[int, ...]
    is_nudged: bool


@dataclass
class HistoryFollower:
    """Follows the history of one game.

    Attributes
    ----------
    n_droppings : int
        Dealt.
    mode : str
        Of the game.
    eye_speed_per_s : float
        The faster the Eye, the farther a dropping may have gone since the nearest sample.
    """

    n_droppings: int
    mode: str
    eye_speed_per_s: float
    _pending: list[HistoryEvent] = field(default_factory=list)
    _colour: str | None = None
    _samples: History | None = None

    def follow_turn(self, turn: Turn, record: Mapping[str, Any], where: str) -> TurnHistory:
        """Check a turn against its chunk and what the one before left over.

        Raises
        ------
        DatasetError
            If the chunk cannot be decoded, or tells another story than the facts.
        """
        chunk = self._decode(record, where)
        events = [*self._pending, *chunk.events]
        began = self._index(events, "turn_began", turn.turn_index, where)
        ends = ("kept", "put_back", "game_over")
        stop = next((i for i in range(began, len(events)) if events[i].kind in ends), len(events))
        between, during, self._pending = events[:began], events[began:stop], events[stop:]
        self._check_cues(turn, between, during, where)
        _check_times(
            "falls",
            [(fall.t_s, fall.dropping_id) for fall in turn.falls],
            [(event.step, event.detail) for event in during if event.kind == "fell"],
            where,
        )
        lifted = [i for i, event in enumerate(during) if event.kind == "lifted"]
        found = [during[i].detail for i in lifted]
        if found != ([] if turn.dropping_id is None else [turn.dropping_id]):
            raise DatasetError(
                f"{where}: dropping_id is {shown(turn.dropping_id)}, but by its history "
                f"{shown(found)} was lifted; the log was changed"
            )
        before_pick = during[: lifted[0]] if lifted else during
        if lifted:
            self._check_places(turn, during[lifted[0]].step, chunk, where)
        self._samples = chunk if len(chunk.steps) else self._samples
        return TurnHistory(
            fell_between=_fell(between),
            fell_before_pick=_fell(before_pick),
            is_nudged=any(event.kind == "nudged" for event in (*between, *before_pick)),
        )

    def follow_end(self, record: Mapping[str, Any], where: str) -> tuple[int, ...]:
        """Return what fell after the last turn.

        Raises
        ------
        DatasetError
            If the chunk cannot be decoded.
        """
        return _fell([*self._pending, *self._decode(record, where).events])

    def _decode(self, record: Mapping[str, Any], where: str) -> History:
        steps = record.get("steps")
        n_samples: Any = steps.get("n") if isinstance(steps, dict) else 0
        try:
            if n_samples > _MAX_SAMPLES:
                raise ValueError(f"{n_samples} samples")
            history = decode_history(record, n_droppings=self.n_droppings)
        except DatasetError as error:
            raise DatasetError(f"{where}, history: {error}") from error
        except _UNDECODED as error:
            words = " ".join(str(error).split())
            raise DatasetError(f"{where}: its history cannot be decoded ({words})") from error
        if history.steps.ndim != 1 or (np.diff(history.steps) < 0).any():
            raise DatasetError(f"{where}: its history has samples out of order")
        last = None
        for number, event in enumerate(history.events):
            self._check_event(event, f"{where}, history, event {number}")
            if last is not None and event.step < last:
                raise DatasetError(f"{where}, history, event {number}: it is out of order")
            last = event.step
        return history

    def _check_event(self, event: HistoryEvent, where: str) -> None:
        # What the decoder gives has whatever types stood in the log.
        step: Any = event.step
        good = isinstance(step, int) and not isinstance(step, bool)
        if event.kind in ("fell", "lifted", "looked", "kept", "put_back"):
            detail = event.detail
            is_id = isinstance(detail, int) and not isinstance(detail, bool)
            good = good and is_id and 0 <= int(detail or 0) < self.n_droppings
        elif event.kind == "die_turned":
            good = good and event.detail in COLOURS
        if not good:
            found = [event.step, event.kind, event.detail]
            raise DatasetError(f"{where}: {shown(found)} is no event of a history")

    @staticmethod
    def _index(events: Sequence[HistoryEvent], kind: str, detail: object, where: str) -> int:
        for i, event in enumerate(events):
            if event.kind == kind and event.detail == detail:
                return i
        raise DatasetError(f"{where}: its history does not have that turn {detail} began")

    def _check_cues(
        self, turn: Turn, between: Sequence[HistoryEvent], during: Sequence[HistoryEvent],
        where: str,
    ) -> None:  # fmt: skip
        for event in between:
            if event.kind == "die_turned":
                self._colour = str(event.detail)
        if self._colour not in (None, turn.cue_at_start):
            raise DatasetError(
                f"{where}: cue_at_start is {shown(turn.cue_at_start)}, but by the history the die "
                f"showed {shown(self._colour)}; the log was changed"
            )
        self._colour = turn.cue_at_start
        turned: list[tuple[int, object]] = []
        for event in during:
            if event.kind == "die_turned" and event.detail != self._colour:
                self._colour = str(event.detail)
                turned.append((event.step, event.detail))
        found = [(change.t_s, change.colour) for change in turn.cue_changes]
        _check_times("cue_changes", found, turned, where)

    def _check_places(self, turn: Turn, step: int, chunk: History, where: str) -> None:
        """Hold the places at the pick against the sample nearest to it."""
        known = [h for h in (self._samples, chunk) if h is not None and len(h.steps)]
        nearest = None
        for history in known:
            # Without the Eye a sample is taken after each change, so the last one before counts;
            # that at the pick itself lacks what was picked.
            i = int(np.abs(history.steps - step).argmin())
            if self.mode == "static":
                there = history.on_deck[:, turn.dropping_id or 0]
                before = np.flatnonzero((history.steps <= step) & there)
                if not len(before):
                    continue
                i = int(before[-1])
            gap = abs(int(history.steps[i]) - step)
            if nearest is None or gap <= nearest[0]:
                nearest = gap, history, i
        if nearest is None or (self.mode == "moving" and nearest[0] > STEP_HZ // 10):
            return
        _, history, i = nearest
        within = _WITHIN_MOVING + self.eye_speed_per_s * _WITHIN_MOVING_S
        within = _WITHIN_STATIC if self.mode == "static" else within
        for spot in turn.on_deck:
            if (
                not 0 <= spot.dropping_id < self.n_droppings
                or not history.on_deck[i, spot.dropping_id]
            ):
                continue  # Just picked, put back or fallen: the droppings on deck are checked.
            x, y = (history.positions[i, spot.dropping_id] / QUANTA_PER_UNIT).tolist()
            if max(abs(spot.x - x), abs(spot.y - y)) > within:
                raise DatasetError(
                    f"{where}: on_deck has dropping {spot.dropping_id} at {spot.x:.4f}, "
                    f"{spot.y:.4f}, but by its history it lay at {x:.4f}, {y:.4f}; "
                    "the log was changed"
                )


def _fell(events: Sequence[HistoryEvent]) -> tuple[int, ...]:
    return tuple(int(e.detail) for e in events if e.kind == "fell" and e.detail is not None)


def _check_times(
    name: str, found: Sequence[tuple[float, object]], told: Sequence[tuple[int, object]], where: str
) -> None:
    """Check that the facts have the same, in the same order and at the same steps."""
    same = len(found) == len(told) and all(
        what == other and abs(t_s * STEP_HZ - step) <= _WITHIN_STEPS
        for (t_s, what), (step, other) in zip(found, told, strict=True)
    )
    if not same:
        history = [(round(step / STEP_HZ, 4), what) for step, what in told]
        facts = [(round(t_s, 4), what) for t_s, what in found]
        raise DatasetError(
            f"{where}: {name} is {shown(facts)}, but its history has {shown(history)}; "
            "the log was changed"
        )
