"""Hold the robot's own times and counts against the log of the session it played."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ghostblitz_task.trial_log import RunLog

__all__ = ["Comparison", "compare", "logged_events", "presses_beyond"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the robot did against what the log holds.

    Attributes
    ----------
    n_injected, n_logged : int
        Presses and releases.
    n_lost, n_invented : int
        Events of a key and kind that only one of the two has.
    n_misattributed : int
        Trials with an event that the robot sent in another one, without one that it sent in
        them and the log has elsewhere, or whose RT is not that of the robot's press: another key,
        more than half a second from it, none although it pressed in time, one although it pressed
        nothing, or a negative one although it pressed nothing before the card.
    rt_error_s : tuple of float
        Logged minus the robot's own RT, for each trial answered after its card appeared.
    """

    n_injected: int
    n_logged: int
    n_lost: int
    n_invented: int
    n_misattributed: int
    rt_error_s: tuple[float, ...]

    def in_words(self) -> str:
        """Return the comparison in one line."""
        if not self.rt_error_s:
            return f"robot: {self.n_injected} key events sent, {self.n_logged} logged; no RT"
        errors_ms = 1000 * np.array(self.rt_error_s)
        spread_ms = float(errors_ms.std(ddof=1)) if len(errors_ms) > 1 else 0.0
        return (
            f"robot: {self.n_injected} key events sent, {self.n_logged} logged, "
            f"{self.n_lost} lost; logged RT minus its own: mean {errors_ms.mean():+.1f} ms, "
            f"SD {spread_ms:.1f} ms (n = {len(errors_ms)})"
        )


# A press of this trial cannot be further off, whatever the display's lag.
_SAME_PRESS_S = 0.5
# So long before it sees a change the robot may already have acted after it: neither side tells.
_EDGE_S = 0.05
# A press and an RT that were written from the same time.
_SAME_TIME_S = 1e-6

_Event = tuple[str, str]


@dataclass(slots=True)
class _Card:
    """What the robot did about one card.

    Attributes
    ----------
    seen_s : float
        When it saw the card.
    presses : list of (float, str)
        When it pressed which keys while it saw the card, and shortly before.
    presses_before : list of (float, str)
        The same, after what was there before the card went.
    its_own : Counter
        Events that can belong to no other trial.
    nearby : list of Counter
        Events before the card and after it, which may belong to it or to its neighbours.
    """

    seen_s: float
    presses: list[tuple[float, str]]
    presses_before: list[tuple[float, str]]
    its_own: Counter[_Event] = field(default_factory=Counter)
    nearby: list[Counter[_Event]] = field(default_factory=list)


def compare(robot_log: Path, run: RunLog) -> Comparison:
    """Compare a robot's log with the run that it played.

    Trials in which the robot pressed nothing before the deadline have no RT in either.
    """
    lines = robot_log.read_text(encoding="utf-8").splitlines()
    did = [json.loads(line) for line in lines]
    injected = Counter((r["what"], r["key"]) for r in did if r["what"] in {"press", "release"})
    logged = Counter((e["kind"], e["key"]) for e in logged_events(run))
    answering = {e["key"] for e in logged_events(run) if e["mode"] is not None}
    lost, invented = injected - logged, logged - injected
    cards = _cards(did)
    errors, n_misattributed = [], 0
    for trial in run.of_type("trial"):
        card = cards.get(trial["trial_index"])
        own_s = _own_press_s(card, answering)
        n_misattributed += not (
            _events_are_its_own(trial, card, lost, invented)
            and _rt_is_its_own(trial, card, answering)
        )
        rt_s = _first_rt_s(trial)
        # A press before the card has no time since the robot saw the card.
        if rt_s is not None and rt_s >= 0 and card is not None and own_s is not None:
            errors.append(rt_s - (own_s - card.seen_s))
    return Comparison(
        n_injected=injected.total(),
        n_logged=logged.total(),
        n_lost=lost.total(),
        n_invented=invented.total(),
        n_misattributed=n_misattributed,
        rt_error_s=tuple(errors),
    )


def presses_beyond(robot_log: Path, run: RunLog, keys: Iterable[str]) -> int:
    """Return how many presses of some keys the log has beyond those that the robot sent."""
    did = map(json.loads, robot_log.read_text(encoding="utf-8").splitlines())
    sent = Counter(r["key"] for r in did if r["what"] == "press")
    logged = Counter(e["key"] for e in logged_events(run) if e["kind"] == "press")
    return sum(max(0, logged[key] - sent[key]) for key in set(keys))


def logged_events(run: RunLog) -> Iterator[Mapping[str, Any]]:
    """Return every device event of a run, in whatever record it stands."""
    for record in run.records:
        yield from record.get("events", ())


def _cards(did: Iterable[Mapping[str, Any]]) -> dict[int, _Card]:
    """Return what the robot did about each card, by the trial's index."""
    cards: dict[int, _Card] = {}
    card: _Card | None = None
    last: _Card | None = None
    # What was done since the last card went.
    since: list[tuple[float, _Event]] = []
    during: list[tuple[float, _Event]] = []
    for record in did:
        what, t_s = record["what"], record["t_s"]
        if what == "card":
            before = Counter(event for _, event in since)
            presses = _presses(since)
            close = [press for press in presses if press[0] >= t_s - _EDGE_S]
            last = card = cards[record["trial_index"]] = _Card(t_s, close, presses, nearby=[before])
            during = []
        elif what == "saw" and record["sight"] != "card" and card is not None:
            since = _end(card, during, gone_s=t_s)
            card = None
        elif what in {"press", "release"}:
            (since if card is None else during).append((t_s, (what, record["key"])))
            if card is None and last is not None:
                # After the card that went, as well as before the next.
                last.nearby[-1][what, record["key"]] += 1
    if card is not None:
        _end(card, during, gone_s=float("inf"))
    return cards


def _end(
    card: _Card, during: list[tuple[float, _Event]], *, gone_s: float
) -> list[tuple[float, _Event]]:
    """Note what was done while a card was seen, and return what may belong to the next trial."""
    late = [(t_s, event) for t_s, event in during if t_s > gone_s - _EDGE_S]
    card.presses += _presses(during)
    card.its_own = Counter(event for t_s, event in during if t_s <= gone_s - _EDGE_S)
    card.nearby.append(Counter(event for _, event in late))
    return late


def _presses(events: Iterable[tuple[float, _Event]]) -> list[tuple[float, str]]:
    return [(t_s, key) for t_s, (kind, key) in events if kind == "press"]


def _events_are_its_own(
    trial: Mapping[str, Any],
    card: _Card | None,
    lost: Counter[_Event],
    invented: Counter[_Event],
) -> bool:
    """Whether a trial has what was sent in it, and nothing that was sent in another.

    What the whole log lacks, or has too much, is not held against a trial: it is counted already.
    """
    found = Counter((e["kind"], e["key"]) for e in trial["events"])
    its_own = Counter[_Event]() if card is None else card.its_own
    possible = its_own + sum([] if card is None else card.nearby, Counter[_Event]())
    return not (its_own - found - lost) and not (found - possible - invented)


def _own_press_s(card: _Card | None, answering: set[str]) -> float | None:
    if card is None:
        return None
    return next((t_s for t_s, key in card.presses if key in answering), None)


def _rt_is_its_own(trial: Mapping[str, Any], card: _Card | None, answering: set[str]) -> bool:
    """Whether a trial's RT is that of the robot's press, or neither is there."""
    rt_s, own_s = _first_rt_s(trial), _own_press_s(card, answering)
    if rt_s is None:
        # What was sent at the deadline may have come after it.
        in_time_s = float(trial["deadline_s"]) - _EDGE_S
        return card is None or own_s is None or own_s - card.seen_s > in_time_s
    scored_s = trial["onset_s"] + rt_s
    scored = {
        e["key"]
        for e in trial["events"]
        if e["kind"] == "press" and abs(e["t_s"] - scored_s) < _SAME_TIME_S
    }
    if card is None:
        return False
    if rt_s < 0:
        return not scored.isdisjoint(key for _, key in card.presses_before)
    return own_s is not None and any(
        t_s == own_s and key in scored and abs(rt_s - (t_s - card.seen_s)) <= _SAME_PRESS_S
        for t_s, key in card.presses
    )


def _first_rt_s(trial: Mapping[str, Any]) -> float | None:
    """Return the RT of a trial, of the first to answer where there are several players."""
    rts_s = [score["rt_s"] for score in trial.get("players", [trial])]
    return min((rt_s for rt_s in rts_s if rt_s is not None), default=None)
