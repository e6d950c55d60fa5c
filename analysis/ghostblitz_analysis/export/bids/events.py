"""Markers of a run as BIDS events: what other recordings got, on a clock that begins with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.export.bids.cells import as_cells, write_tsv
from ghostblitz_analysis.export.bids.labels import task_label
from ghostblitz_analysis.export.bids.run_files import ID, RESPONSE_TIME, STIMULUS, RunFile
from ghostblitz_analysis.export.bids.sidecars import column_entries, task_entries, write_json
from ghostblitz_analysis.export.bids.stimuli import Shown
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.log_tables import RunInfo
from ghostblitz_task.schema import Column
from ghostblitz_task.trial_log import RunLog, read_log

__all__ = ["EVENT_COLUMNS", "write_events"]

_NOT_A_TRIAL = "the event belongs to no trial (or turn)"
EVENT_COLUMNS: tuple[Column, ...] = (
    Column("onset", "Float64", "What is marked, from the run's first marker", "fact", "s"),
    Column(
        "duration",
        "Float64",
        "How long the card was shown; 0 for what has no length",
        "derived",
        "s",
        null_when="the card's end was not recorded, or for the captain's die",
    ),
    Column(
        "trial_type",
        "string",
        "The marker's text without its numbers: card with rule and mode, response with mode (or "
        "what a player did), the captain's die or its change, border of a block",
        "derived",
    ),
    Column(
        RESPONSE_TIME,
        "Float64",
        "The participant's response time to this card; negative when it came before",
        "derived",
        "s",
        null_when="the event is no card, or nothing was answered in time",
    ),
    Column("value", "Int64", "The byte that serial and parallel ports were given", "fact"),
    Column("marker", "string", "The text that Lab Streaming Layer was given", "fact"),
    STIMULUS,
    Column("block_index", "Int64", "Block of the session, from 0", "fact", null_when="none began"),
    Column("trial_index", "Int64", "As in the table of trials", "fact", null_when=_NOT_A_TRIAL),
    Column(
        "turn_index", "Int64", "As in the table of turns", "fact", null_when="there are no turns"
    ),
    Column(
        "player",
        "Int64",
        "Whose response it was, by seat, from 1",
        "fact",
        null_when="the event is no response, or nobody else plays with keys",
    ),
    Column(
        "correct",
        "boolean",
        "Whether the participant's response to this card was right, in time and only once",
        "derived",
        null_when="the event is no card of a completed trial",
    ),
    Column(
        "sent_delay",
        "Float64",
        "From what is marked until all outputs had the marker: how late a port's byte came",
        "fact",
        "s",
    ),
    Column(
        "failed",
        "string",
        "Outputs that did not take the marker, divided by commas",
        "fact",
        null_when="all took it",
    ),
)
_NUMBERED = re.compile(r"/(?:(?P<what>[a-z]+)-)?(?P<number>\d+)(?=/|$)")


def write_events(
    source: ExportSource,
    labels: Mapping[str, str],
    folder: Path,
    *,
    shown: Shown,
) -> None:
    """Write the events of each run that sent markers, once for each of its players.

    Parameters
    ----------
    source : ExportSource
    labels : mapping of str to str
        Participants' labels by id; others' events are left out.
    folder : Path
        The export.
    shown : Shown
        What the export's stimuli are.
    """
    answers = _answers(source)
    tasks: dict[str, str] = {}
    for info in source.runs:
        path = next((p for p in source.files.values() if p.name == info.file), None)
        log = read_log(path) if path is not None else None
        rows = list(_rows(log, shown.drawings)) if log is not None else []
        if log is None or not rows:
            continue
        first_s = min(row["t_s"] for row in rows)
        clocks = _clocks(log, first_s)
        for player in info.players:
            if player not in labels:
                continue
            file = _file(info, labels[player])
            events = _events(rows, first_s, answers, (player, info.session))
            cells = {c.name: as_cells(events[c.name], c) for c in EVENT_COLUMNS}
            write_tsv(folder, file.path(), cells)
            write_json(folder, file.path("json"), clocks)
            tasks[file.sidecar()] = info.game
    for name, game in tasks.items():
        write_json(folder, name, task_entries(source, game, shown.instructions) | _entries())


def _file(info: RunInfo, label: str) -> RunFile:
    return RunFile(label, info.session, task_label(info.game), info.run, suffix="events")


def _entries() -> dict[str, Any]:
    entries = column_entries(EVENT_COLUMNS)
    entries["failed"]["Delimiter"] = ","
    return entries


def _rows(log: RunLog, drawings: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a run's markers with what they belong to."""
    block: int | None = None
    for record in log.records:
        if record["type"] == "block":
            block = record["block_index"]
        for marker in record.get("markers", ()):
            numbers = {m["what"]: int(m["number"]) for m in _NUMBERED.finditer(marker["label"])}
            is_card = marker["name"] == "card" and "offset_s" in record
            player = numbers.get("player")
            yield {
                "t_s": marker["t_s"],
                "duration": record["offset_s"] - record["onset_s"] if is_card else None,
                "name": marker["name"],
                "trial_type": _NUMBERED.sub(_without_number, marker["label"]),
                "value": marker["code"],
                "marker": marker["label"],
                STIMULUS.name: drawings.get(record["card"]) if is_card else None,
                # A border names its block; all else is in the one that began last.
                "block_index": numbers.get(None, block),
                "trial_index": numbers.get("trial"),
                "turn_index": numbers.get("turn"),
                "player": None if player is None else player + 1,
                "is_completed": record["type"] == "trial",
                "sent_delay": marker["sent_s"] - marker["t_s"],
                "failed": ",".join(marker["failed"]) or None,
            }


def _without_number(match: re.Match[str]) -> str:
    """Leave of a label's numbered part only that the captain's die changed."""
    return "/change" if match["what"] == "change" else ""


def _events(
    rows: list[dict[str, Any]],
    first_s: float,
    answers: Mapping[tuple[str, int, int], tuple[Any, Any]],
    whose: tuple[str, int],
) -> pd.DataFrame:
    """Return one participant's events, by onset."""
    events = []
    for row in sorted(rows, key=lambda row: row["t_s"]):
        answer: tuple[Any, Any] = (None, None)
        if row["name"] == "card" and row["is_completed"]:
            answer = answers.get((*whose, row["trial_index"]), answer)
        duration = row["duration"] if row["name"] in ("card", "cue") else 0.0
        added = {"onset": row["t_s"] - first_s, "duration": duration}
        events.append(row | added | {RESPONSE_TIME: answer[0], "correct": answer[1]})
    return pd.DataFrame(
        {
            c.name: pd.array([event[c.name] for event in events], dtype=c.dtype)
            for c in EVENT_COLUMNS
        }
    )


def _answers(source: ExportSource) -> dict[tuple[str, int, int], tuple[Any, Any]]:
    """Return response time and correctness by participant, session and trial."""
    frame = source.main.frame
    if source.main.name != "trials":
        return {}
    names = [ID, "session", "trial_index", "rt_s", "correct"]
    rows = frame[names].astype(object).where(frame[names].notna(), None)
    return {
        (str(who), int(session), int(trial)): (rt_s, correct)
        for who, session, trial, rt_s, correct in rows.itertuples(index=False, name=None)
    }


def _clocks(log: RunLog, first_s: float) -> dict[str, Any]:
    """Say how a run's onsets go with the clocks of log and recordings."""
    apparatus = log.header["apparatus"]
    outputs = apparatus["markers"]["outputs"]
    ends = [r.get("marker_report", {}).get("outputs", {}) for r in log.of_type("end")]
    entries: dict[str, Any] = {
        "OnsetZero": "The run's first marker; add FirstMarkerSessionTime for the log's clock",
        "FirstMarkerSessionTime": first_s,
        "MarkerOutputs": sorted(outputs),
        "StimulusPresentation": _presentation(log),
    }
    if "clock_offset_s" in outputs.get("lsl", {}):
        end = ends[0].get("lsl", {}) if ends else {}
        offset_s = outputs["lsl"]["clock_offset_s"]
        entries["LabStreamingLayer"] = {
            "Description": "ClockOffset is its clock minus the log's, in seconds, as the run began "
            "and as it ended; a marker's stamp is FirstMarkerTime plus its onset",
            "ClockOffset": offset_s,
            "ClockOffsetUncertainty": outputs["lsl"].get("clock_uncertainty_s"),
            "ClockOffsetAtEnd": end.get("clock_offset_s"),
            "ClockOffsetAtEndUncertainty": end.get("clock_uncertainty_s"),
            "FirstMarkerTime": first_s + offset_s,
        }
    return entries


def _presentation(log: RunLog) -> dict[str, Any]:
    apparatus, software = log.header["apparatus"], log.header.get("software", {})
    entries = {
        "OperatingSystem": software.get("platform"),
        "SoftwareName": "ghostblitz",
        "SoftwareVersion": software.get("ghostblitz"),
        "ScreenRefreshRate": apparatus.get("refresh_hz"),
    }
    return {key: value for key, value in entries.items() if value is not None}
