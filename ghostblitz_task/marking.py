"""Which markers a session sends, what they are called, and how they stand in the log.

A label's parts are divided by slashes, from the general to the particular, so that the reader of a
recording can take all markers that begin alike: ``card/exclusion/shout/trial-12``. Numbers are
those of the log, from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ghostblitz_task.apparatus import Marker, MarkerSink, SentMarker
from ghostblitz_task.scoring import TrialEvent

__all__ = [
    "BLOCK_END",
    "BLOCK_START",
    "Marking",
    "action_mark",
    "block_mark",
    "card_mark",
    "change_mark",
    "cue_mark",
    "trial_markers",
]

BLOCK_START, BLOCK_END = "block-start", "block-end"

#: Name and label of a marker.
Mark = tuple[str, str]


def block_mark(name: str, block_index: int) -> Mark:
    """Return the marker of a block's border."""
    return name, f"{name}/{block_index}"


def card_mark(trial: Mapping[str, Any]) -> Mark:
    """Return the marker of a trial's card, from the trial's record."""
    return "card", f"card/{trial['rule']}/{trial['mode']}/trial-{trial['trial_index']}"


def cue_mark(turn_index: int) -> Mark:
    """Return the marker of the die that a turn of the captain's deck begins with."""
    return "cue", f"cue/turn-{turn_index}"


def change_mark(turn_index: int, change_index: int) -> Mark:
    """Return the marker of the die's coming to show another colour within a turn."""
    return "cue", f"cue/turn-{turn_index}/change-{change_index}"


def action_mark(action: str, turn_index: int) -> Mark:
    """Return the marker of what a player of the captain's deck does."""
    return "grab", f"response/{action}/turn-{turn_index}"


def _response_mark(mode: str, player: int | None, trial_index: int) -> Mark:
    whose = "" if player is None else f"/player-{player}"
    return mode, f"response/{mode}/trial-{trial_index}{whose}"


def trial_markers(record: Mapping[str, Any]) -> list[Marker]:
    """Return the markers that a trial's record calls for, by time.

    Parameters
    ----------
    record : mapping
        Of a trial, or of one that was interrupted; without `onset_s` its card was not shown, or
        not for long enough to be recorded.

    Returns
    -------
    list of Marker
        One for the card, and one for each press since the fixation mark that means a response and
        is no repetition, whether it counted or not.
    """
    markers = [
        Marker(*_response_mark(e["mode"], e["player"], record["trial_index"]), e["t_s"])
        for e in record["events"]
        if e["kind"] == "press" and e["mode"] is not None and not e["repeated"]
        if e["t_s"] >= record["fixation_onset_s"]
    ]
    if "onset_s" in record:
        markers.append(Marker(*card_mark(record), record["onset_s"]))
    return sorted(markers, key=lambda m: (m.t_s, m.label))


class Marking:
    """Sends a session's markers, and keeps them until a record takes them.

    Parameters
    ----------
    sink : MarkerSink or None
        None sends nothing, and no record says anything of markers.
    """

    def __init__(self, sink: MarkerSink | None) -> None:
        self._sink = sink
        self._sent: list[SentMarker] = []
        self._trial: tuple[int, float] | None = None

    def send(self, name: str, label: str, t_s: float) -> None:
        """Send a marker of something that was at a time of the session clock."""
        if self._sink is not None:
            self._sent.append(self._sink.send(Marker(name, label, t_s)))

    def send_border(self, name: str, block_index: int) -> None:
        """Send the marker of a block's border, which is now."""
        if self._sink is not None:
            self.send(*block_mark(name, block_index), self._sink.now_s())

    def begin_trial(self, trial_index: int, since_s: float, events: Sequence[TrialEvent]) -> None:
        """Mark responses from a time on: those among some events at once, later ones as read."""
        if self._sink is not None:
            self._trial = trial_index, since_s
            self.mark_responses(events)

    def mark_responses(self, events: Iterable[TrialEvent]) -> None:
        """Send a marker for each press that means a response, if a trial is under way."""
        if self._trial is None:
            return
        trial_index, since_s = self._trial
        for event in events:
            if event.kind != "press" or event.mode is None or event.repeated:
                continue
            if event.t_s >= since_s:
                self.send(*_response_mark(event.mode, event.player, trial_index), event.t_s)

    def end_trial(self) -> None:
        """Mark no more responses."""
        self._trial = None

    def take(self) -> dict[str, Any]:
        """Return the markers that no record has taken yet, as they stand in it."""
        if self._sink is None:
            return {}
        taken, self._sent = self._sent, []
        return {"markers": [{**asdict(m), "failed": list(m.failed)} for m in taken]}

    def report(self) -> dict[str, Any]:
        """Return what the log's last record says of all markers."""
        return {} if self._sink is None else {"marker_report": dict(self._sink.report())}
