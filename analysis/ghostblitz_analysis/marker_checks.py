"""Whether the markers that a log says were sent are those that its records call for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ghostblitz_analysis.record_values import check_values, shown
from ghostblitz_task.apparatus import Marker
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.marking import (
    BLOCK_END,
    BLOCK_START,
    action_mark,
    block_mark,
    change_mark,
    cue_mark,
    trial_markers,
)
from ghostblitz_task.trial_log import RunLog

__all__ = ["check_captain_markers", "check_markers"]

_MARKER = {
    "name": "text", "label": "text", "code": "integer", "t_s": "number", "sent_s": "number",
    "failed": "list",
}  # fmt: skip
_INTERRUPTED = {
    "trial_index": "integer", "rule": "text", "mode": "text", "fixation_onset_s": "number",
    "events": "list",
}  # fmt: skip
_EVENT = {
    "t_s": "number", "kind": "text", "mode": "text?", "player": "integer?", "repeated": "flag",
}  # fmt: skip
_REPORT = {"n_sent": "integer", "n_failed": "table"}
_CARD_RECORDS = ("block", "trial", "interrupted", "end")
_CAPTAIN_RECORDS = ("block", "turn", "game", "end")


def check_markers(log: RunLog) -> None:
    """Compare the markers in a log of card trials with its trials and blocks.

    Parameters
    ----------
    log : RunLog
        Whose trials and blocks were found to follow one another.

    Raises
    ------
    DatasetError
        Naming file, line and trial, if a marker is missing, one too many, of another time or with
        another byte than the header's; or if the last record counts others.
    """
    if not _check_shapes(log, _CARD_RECORDS):
        return
    block: Mapping[str, Any] | None = None
    last: Mapping[str, Any] | None = None
    for record in log.records:
        if record["type"] not in _CARD_RECORDS:
            continue
        where, sent = _place(log, record), record["markers"]
        if record["type"] in ("trial", "interrupted"):
            _check_trial(record, sent, where)
            last = record
            continue
        _check_borders(sent, _expected_borders(record, block, last), where)
        block = record if record["type"] == "block" else block
    _check_report(log)


def _expected_borders(
    record: Mapping[str, Any], block: Mapping[str, Any] | None, last: Mapping[str, Any] | None
) -> tuple[list[str], list[str]]:
    """Return the labels of a record's markers of borders: those it must have, those it may have.

    The end of a block stands in the record of the next one, or in the last record; there it may
    be missing, since the session may have been ended in the very last trial.
    """
    begins = record["type"] == "block"
    starts = [block_mark(BLOCK_START, record["block_index"])[1]] if begins else []
    is_over = (
        block is not None
        and last is not None
        and last["type"] == "trial"
        and last["block_index"] == block["block_index"]
    )
    ends = [block_mark(BLOCK_END, block["block_index"])[1]] if is_over and block else []
    if begins or record["status"] == "completed":
        return ends + starts, []
    return [], ends


def _check_borders(
    sent: Sequence[Mapping[str, Any]], borders: tuple[list[str], list[str]], where: str
) -> None:
    required, possible = borders
    found = [m["label"] for m in sent]
    if found != required and not (not required and found == possible):
        right = shown(required or possible)
        raise DatasetError(
            f"{where}: its markers are {shown(found)}, but should be {right}; the log was changed"
        )


def _check_trial(record: Mapping[str, Any], sent: Sequence[Mapping[str, Any]], where: str) -> None:
    if record["type"] == "interrupted":
        check_values(record, _INTERRUPTED, where)
        for number, event in enumerate(record["events"]):
            check_values(event, _EVENT, f"{where}, event {number}")
    expected = trial_markers(record)
    if record["type"] == "interrupted" and "onset_s" not in record:
        # The flip that showed its card was its last; when that was, nothing else says.
        sent = [m for m in sent if m["name"] != "card"]
    _check_same(sent, expected, where)


def check_captain_markers(log: RunLog) -> None:
    """Compare the markers in a log of the captain's deck with its turns and games.

    Raises
    ------
    DatasetError
        As `check_markers`.
    """
    if not _check_shapes(log, _CAPTAIN_RECORDS):
        return
    n_turns = 0
    for record in log.records:
        if record["type"] not in _CAPTAIN_RECORDS:
            continue
        where, sent = _place(log, record), record["markers"]
        if record["type"] == "block":
            n_turns = 0
            _check_borders(sent, ([block_mark(BLOCK_START, record["block_index"])[1]], []), where)
        elif record["type"] == "end":
            _check_borders(sent, ([], []), where)
        elif record["type"] == "turn":
            _check_same(sent, _turn_markers(record), where)
            n_turns += 1
        else:
            actions = [Marker(*action_mark(a["action"], n_turns), a["t_s"])
                       for a in record["actions"]]  # fmt: skip
            is_over = record["outcome"] != "interrupted"
            ends = [block_mark(BLOCK_END, record["block_index"])[1]] if is_over else []
            _check_borders([m for m in sent if m["name"] == BLOCK_END], (ends, []), where)
            _check_same([m for m in sent if m["name"] != BLOCK_END], actions, where)
    _check_report(log)


def _turn_markers(record: Mapping[str, Any]) -> list[Marker]:
    """Return the markers that a turn's record calls for, of its dice as seen and its actions."""
    index = record["turn_index"]
    marks = [(cue_mark(index), record["cue_onset_s"])]
    marks += [(change_mark(index, i), t_s) for i, t_s in enumerate(record["change_onsets_s"])]
    marks += [(action_mark(a["action"], index), a["t_s"]) for a in record["actions"]]
    return [Marker(*mark, t_s) for mark, t_s in marks if t_s is not None]


def _check_shapes(log: RunLog, types: Sequence[str]) -> bool:
    """Check what markers a log has, by themselves; False where no output was there to take any."""
    described = log.header["apparatus"].get("markers")
    if described is None:
        for record in log.records:
            if "markers" in record:
                raise DatasetError(
                    f"{_place(log, record)}: it has markers, but the header's apparatus has no "
                    "outputs for them; the log was changed"
                )
        return False
    where = f"{log.path}, line 1 (header), apparatus.markers"
    if not isinstance(described, dict):
        raise DatasetError(f"{where} is {shown(described)}, but should be a table")
    check_values(described, {"codes": "table", "outputs": "table"}, where)
    for record in log.records:
        if record["type"] not in types:
            continue
        place = _place(log, record)
        check_values(record, {"markers": "list"}, place)
        for number, marker in enumerate(record["markers"]):
            _check_shape(marker, described, f"{place}, marker {number}")
    return True


def _check_shape(marker: object, described: Mapping[str, Any], where: str) -> None:
    if not isinstance(marker, dict):
        raise DatasetError(f"{where}: {shown(marker)} is no marker")
    check_values(marker, _MARKER, where)
    code = described["codes"].get(marker["name"])
    if marker["code"] != code:
        raise DatasetError(
            f"{where}: code is {marker['code']}, but the header says {shown(code)} for "
            f"{shown(marker['name'])}; the log was changed"
        )
    unknown = [name for name in marker["failed"] if name not in described["outputs"]]
    if unknown:
        raise DatasetError(
            f"{where}: failed names {shown(unknown[0])}, but the outputs are "
            f"{', '.join(described['outputs'])}"
        )


def _check_same(sent: Sequence[Mapping[str, Any]], expected: Sequence[Marker], where: str) -> None:
    """Compare markers with what they mark, whatever order events came to light in."""
    found = sorted((m["t_s"], m["name"], m["label"]) for m in sent)
    right = sorted((m.t_s, m.name, m.label) for m in expected)
    for marker in found:
        if found.count(marker) > right.count(marker):
            raise DatasetError(
                f"{where}: a marker {shown(marker[2])} was sent for {marker[0]} s, but nothing "
                "recorded there calls for it; the log was changed"
            )
    for marker in right:
        if right.count(marker) > found.count(marker):
            raise DatasetError(
                f"{where}: no marker {shown(marker[2])} was sent for {marker[0]} s, though what "
                "is recorded there calls for one; the log was changed"
            )


def _check_report(log: RunLog) -> None:
    """Compare the last record's counts with the markers in all records."""
    markers = [m for record in log.records for m in record.get("markers", ())]
    for record in log.of_type("end"):
        where = _place(log, record)
        check_values(record, {"marker_report": "table"}, where)
        report = record["marker_report"]
        check_values(report, _REPORT, f"{where}, marker_report")
        counts = {"n_sent": len(markers)}
        found = {"n_sent": report["n_sent"]}
        for name in log.header["apparatus"]["markers"]["outputs"]:
            counts[f"n_failed.{name}"] = sum(name in m["failed"] for m in markers)
            found[f"n_failed.{name}"] = report["n_failed"].get(name)
        for name, count in counts.items():
            if found[name] != count:
                raise DatasetError(
                    f"{where}: marker_report.{name} is {shown(found[name])}, but the records "
                    f"have {count}; the log was changed"
                )


def _place(log: RunLog, record: Mapping[str, Any]) -> str:
    where = f"{log.path}, line {record['n'] + 1} ({record['type']})"
    for name in ("trial", "turn"):
        if f"{name}_index" in record and record["type"] in (name, "interrupted"):
            return f"{where}, {name} {record[f'{name}_index']}"
    return where
