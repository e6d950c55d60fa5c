"""What free text, descriptions of machines and dates become before they are shared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

from ghostblitz_analysis.export.sharing.report import Tally

__all__ = [
    "EMAIL",
    "PERSONAL_PATH",
    "REMOVED",
    "Calendar",
    "holds_any",
    "in_utc",
    "shared_machine",
    "shared_settings_of_machine",
    "without_places",
]

#: Stands where something was taken out that a reader of the data needs to be there.
REMOVED = "not shared"
#: BIDS asks for shifted dates of 1925 or earlier (MRI scans file, ``acq_time``).
_EPOCH = date(1900, 1, 1)
EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}(?![A-Za-z0-9])")
#: Absolute paths below which people keep files; a backslash may be escaped, as in JSON.
PERSONAL_PATH = re.compile(
    r"(?<![\w./:-])/(?:home|Users|root|mnt|media|Volumes|tmp|var|srv|private)/"
    r"[^\s\"'<>|,;)\]}]+"
    r"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\+|/)Users(?:\\+|/)[^\s\"'<>|,;)\]}]+"
    r"|(?<![\\\w])(?:\\\\|\\\\\\\\)[A-Za-z0-9.-]{2,}\\+[A-Za-z0-9$][^\s\"'<>|,;)\]}]*"
)
_PORT_PATH = re.compile(r"/dev/[^\s\"'<>|,;)\]}]+|\bCOM\d+\b")
_DATE_TIME = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d[0-9:.+Z-]*)?")
_SYSTEM = re.compile(r"^[A-Za-z]+(?:-\d+(?:\.\d+)?)?")
_PORT, _STREAM, _STANDARD_STREAM = "port", "stream", "ghostblitz"


def in_utc(text: str) -> datetime | None:
    """Read a time of a header or a record; None for what is no time."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    if found.tzinfo is None:
        return found.replace(tzinfo=timezone.utc)
    return found.astimezone(timezone.utc)


class Calendar:
    """Counts the days of each group of participants from its first session.

    Parameters
    ----------
    sessions : iterable of (tuple of str, str or None)
        Who took part, and when it began in ISO 8601; null for what is not known.
    """

    def __init__(self, sessions: Iterable[tuple[tuple[str, ...], str | None]]) -> None:
        self._group: dict[str, str] = {}
        firsts: dict[str, date] = {}
        began: list[tuple[str, date]] = []
        for players, started in sessions:
            for player in players:
                self._join(players[0], player)
            moment = in_utc(started) if started else None
            if moment is not None:
                began.append((players[0], moment.date()))
        for player, day in began:
            group = self._of(player)
            firsts[group] = min(day, firsts.get(group, day))
        self._firsts = firsts

    def _of(self, player: str) -> str:
        group = self._group.setdefault(player, player)
        while self._group[group] != group:
            # Half of the way is cut short for those who come after.
            self._group[group] = self._group[self._group[group]]
            group = self._group[group]
        return group

    def _join(self, one: str, other: str) -> None:
        self._group[self._of(other)] = self._of(one)

    def shifted(self, player: str, started: str | None) -> str | None:
        """Return the day of a session after the group's first one; null where it is not known."""
        moment = in_utc(started) if started else None
        first = self._firsts.get(self._of(player))
        if moment is None or first is None:
            return None
        return self.day((moment.date() - first).days)

    @staticmethod
    def day(n_days: int, *, second: int = 0) -> str:
        """Return a day of the made-up calendar, at or just after midnight, as a header has it."""
        midnight = datetime(_EPOCH.year, _EPOCH.month, _EPOCH.day, tzinfo=timezone.utc)
        return (midnight + timedelta(days=n_days, seconds=second)).isoformat()


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Whether one of the words stands in a text by itself."""
    return any(
        word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words
    )


def without_places(text: str) -> str:
    """Take paths, ports, addresses and dates out of a sentence of the program's own."""
    text = PERSONAL_PATH.sub("(path)", text)
    text = EMAIL.sub("(address)", _PORT_PATH.sub("(port)", text))
    return _DATE_TIME.sub("(date)", text)


def shared_machine(
    about: Mapping[str, Any], source_id: str, tally: Tally
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what an apparatus says of itself without what tells one machine from others.

    Parameters
    ----------
    about : mapping
        The header's or a self-test's ``apparatus``.
    source_id : str
        What the LSL stream's id becomes, which held the participant's.

    Returns
    -------
    about : dict
        With the same keys.
    changed : dict of str to str
        Texts that other sentences may quote, with what they are now.
    """
    changed: dict[str, str] = {}
    shared = {name: _without_places_in(value) for name, value in about.items()}
    system = about.get("platform")
    if isinstance(system, str):
        match = _SYSTEM.match(system)
        shared["platform"] = match[0] if match else REMOVED
        changed[system] = shared["platform"]
        tally.add("coarsened", "versions of operating systems", int(shared["platform"] != system))
    for pad in shared.get("response_pads") or ():
        _replace(pad, "port", _PORT, "ports of response pads", tally)
    markers = shared.get("markers")
    outputs = markers.get("outputs") if isinstance(markers, dict) else None
    for output in (outputs or {}).values() if isinstance(outputs, dict) else ():
        _replace(output, "port", _PORT, "ports for markers", tally)
        if isinstance(output, dict) and isinstance(output.get("address"), str):
            _replace(output, "address", _PORT, "ports for markers", tally)
        _replace(output, "source_id", source_id, "ids of LSL streams", tally)
        if isinstance(output, dict) and output.get("stream") != _STANDARD_STREAM:
            _replace(output, "stream", _STREAM, "names of LSL streams", tally)
    return shared, changed


def shared_settings_of_machine(settings: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """Return apparatus settings without ports, names of streams and arguments of drivers."""
    shared: dict[str, Any] = _copied(settings)
    for pad in shared.get("response_pads") or ():
        _replace(pad, "port", _PORT, "ports of response pads", tally)
        if isinstance(pad, dict) and pad.get("device_arguments"):
            pad["device_arguments"] = {}
            tally.add("dropped", "arguments of device drivers")
    markers = shared.get("markers")
    for name in ("serial", "parallel", "lsl"):
        output = markers.get(name) if isinstance(markers, dict) else None
        _replace(output, "port", _PORT, "ports for markers", tally)
        if isinstance(output, dict) and isinstance(output.get("address"), str):
            _replace(output, "address", _PORT, "ports for markers", tally)
        if isinstance(output, dict) and output.get("name") not in (None, _STANDARD_STREAM):
            _replace(output, "name", _STREAM, "names of LSL streams", tally)
    return shared


def _replace(table: object, name: str, value: str, what: str, tally: Tally) -> None:
    if isinstance(table, dict) and table.get(name) is not None:
        table[name] = value
        tally.add("replaced", what)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _without_places_in(value: Any) -> Any:
    """Copy a value of JSON, with all its texts without places."""
    if isinstance(value, Mapping):
        return {name: _without_places_in(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_places_in(inner) for inner in value]
    return without_places(value) if isinstance(value, str) else value
