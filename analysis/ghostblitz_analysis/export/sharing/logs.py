"""Logs without what identifies: written anew, so that their own sums and names still agree."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ghostblitz_analysis.export.folders import place_in
from ghostblitz_analysis.export.sharing.codes import CodeBook
from ghostblitz_analysis.export.sharing.log_entries import HEADER, RECORDS, study_words
from ghostblitz_analysis.export.sharing.report import SESSION_DATES, Tally
from ghostblitz_analysis.export.sharing.rounds import shared_round
from ghostblitz_analysis.export.sharing.texts import (
    REMOVED,
    Calendar,
    shared_machine,
    shared_settings_of_machine,
)
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.rounds import RIVAL
from ghostblitz_task.trial_log import RunLog, file_sha256, log_path, read_log

__all__ = ["LogSharing", "SharedFile", "header_of", "players_of", "share_logs"]

#: Why a session ended, in the program's own words; all else is somebody's or the system's.
_KNOWN_REASONS = frozenset(
    {None, "quit key", "SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK", "KeyboardInterrupt"}
)
_LOG_NAME = re.compile(r"sub-(?P<id>.+)(?P<run>_ses-\d+_run-\d+\.jsonl)")


@dataclass(frozen=True, slots=True)
class SharedFile:
    """What a file that others name is called now, with the sums of its bytes.

    `started_utc` is the made-up time of a self-test, which tells only which came first.
    """

    name: str
    old_sha256: str
    sha256: str
    started_utc: str | None = None


@dataclass
class LogSharing:
    """All that the logs of a data set need to be shared.

    Attributes
    ----------
    book : CodeBook
        The codes of all participants.
    calendar : Calendar or None
        Their days; None leaves no dates at all.
    self_tests : mapping of str to SharedFile
        By their old names.
    analysis_sums : mapping of str to str
        The new sum of `analysis.toml` by its old one; what a log holds of another file stays.
    tally : Tally
        Counts what is done.
    runs : dict of str to SharedFile
        The logs that were written, by their old names.
    """

    book: CodeBook
    calendar: Calendar | None
    self_tests: Mapping[str, SharedFile]
    analysis_sums: Mapping[str, str]
    tally: Tally
    runs: dict[str, SharedFile] = field(default_factory=dict)


def header_of(path: Path) -> dict[str, Any]:
    """Return the header of a log that was loaded before, without reading the rest."""
    with path.open("rb") as file:
        header: dict[str, Any] = json.loads(file.readline())
    return header


def players_of(header: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all participants of a session, by seat."""
    return (header["participant_id"], *header.get("others", ()))


def share_logs(files: Mapping[str, Path], copy: Path, sharing: LogSharing) -> None:
    """Write the logs of a data set without what identifies, earlier runs before those after them.

    Parameters
    ----------
    files : mapping of str to Path
        The logs by their names in the data set.
    copy : Path
        The new data set's folder.
    """
    # Only headers are kept: the logs of a large study together may not fit into memory.
    order = sorted(files, key=lambda name: (header_of(files[name])["run"], name))
    for name in order:
        log = read_log(files[name])
        header = log.header
        code = sharing.book.code_of(header["participant_id"])
        new = log_path(Path(), code, session=header["session"], run=header["run"]).name
        path = place_in(copy, f"{name.rpartition('/')[0] or '.'}/{new}")
        data = _shared_bytes(log, sharing)
        with path.open("xb") as file:
            file.write(data)
        sharing.runs[unicodedata.normalize("NFC", files[name].name)] = SharedFile(
            new, file_sha256(files[name]), hashlib.sha256(data).hexdigest()
        )
        sharing.tally.add("replaced", "names of log files")


def _shared_bytes(log: RunLog, sharing: LogSharing) -> bytes:
    names = {player: sharing.book.code_of(player) for player in players_of(log.header)}
    words = study_words(log.header)
    records = [_shared_header(log.header, names, words, sharing)]
    records += _shared_records(log, names, words, sharing.tally)
    try:
        lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records]
        data = ("\n".join(lines) + "\n").encode("utf-8")
    except ValueError as error:  # NaN, or half of a surrogate pair.
        raise DatasetError(f"{log.path} holds a value that no log can: {error}") from error
    if log.torn:
        # The record it began may name anybody; that it was cut off is told by any part of one.
        data += b'{"type": '
        sharing.tally.add("dropped", "last lines of logs that were cut off (marked as such)")
    return data


def _shared_header(
    header: Mapping[str, Any],
    names: Mapping[str, str],
    words: Collection[str],
    sharing: LogSharing,
) -> dict[str, Any]:
    tally = sharing.tally
    source_id = f"ghostblitz/{header['study_id']}/{names[header['participant_id']]}"
    # What tells one machine from others is replaced first, so that what is left has a known form.
    about, _ = shared_machine(header["apparatus"], f"{source_id}/{header['session']}", tally)
    raw = {**header, "apparatus": about}
    if isinstance(raw.get("apparatus_settings"), dict):
        raw["apparatus_settings"] = shared_settings_of_machine(raw["apparatus_settings"], tally)
    shared: dict[str, Any] = HEADER(raw, words, tally)
    first = header["participant_id"]
    shared["participant_id"] = names[first]
    if "others" in shared:
        shared["others"] = [names[other] for other in shared["others"]]
    tally.add("replaced", "participant ids in headers of logs", len(names))
    if shared.get("company"):
        shared["company"] = _shared_company(shared["company"], names, sharing)
    if shared["resumes"]:
        shared["resumes"] = _shared_resumes(shared["resumes"], sharing)
    sum_of_analysis = shared.get("analysis_file_sha256")
    if sum_of_analysis is not None:
        shared["analysis_file_sha256"] = sharing.analysis_sums.get(sum_of_analysis, sum_of_analysis)
    if shared.get("timing_self_test"):
        shared["timing_self_test"] = _shared_quote(shared["timing_self_test"], sharing)
    started = shared.get("started_utc")
    if started is not None:
        calendar = sharing.calendar
        shared["started_utc"] = calendar.shifted(first, started) if calendar else None
        if shared["started_utc"] is None:
            tally.add("dropped", "times at which sessions began")
        else:
            tally.add("coarsened", SESSION_DATES)
    return shared


def _shared_company(
    company: Mapping[str, Any], names: Mapping[str, str], sharing: LogSharing
) -> dict[str, Any]:
    shared = {**company, "players": [names[player] for player in company["players"]]}
    rival = company.get("rival")
    if rival:
        shared["rival"] = {**rival, "files": [_shared_name(n, sharing) for n in rival["files"]]}
        sharing.tally.add("replaced", "names of log files in headers", len(rival["files"]))
    return shared


def _shared_name(name: Any, sharing: LogSharing) -> str:
    """Return what a log is called now; it need not be in the data set."""
    text = unicodedata.normalize("NFC", str(name))
    if text in sharing.runs:
        return sharing.runs[text].name
    match = _LOG_NAME.fullmatch(text)
    return f"sub-{sharing.book.code_of(match['id'])}{match['run']}" if match else REMOVED


def _shared_resumes(resumes: Mapping[str, Any], sharing: LogSharing) -> dict[str, Any]:
    """Name the run that is taken up; a sum that did not fit before does not fit now."""
    shared = {**resumes, "file": _shared_name(resumes["file"], sharing)}
    run = sharing.runs.get(unicodedata.normalize("NFC", resumes["file"]))
    if run is not None and resumes["sha256"] == run.old_sha256:
        shared["sha256"] = run.sha256
    sharing.tally.add("replaced", "names of log files in headers")
    return shared


def _shared_quote(quote: Mapping[str, Any], sharing: LogSharing) -> dict[str, Any]:
    """Name a self-test as it is called now; one that is not in the data set stays missing."""
    shared = dict(quote)
    test = sharing.self_tests.get(str(quote.get("file")))
    shared["file"] = test.name if test else f"{REMOVED}.json"
    if test is not None and quote.get("sha256") == test.old_sha256:
        shared["sha256"] = test.sha256
    shared["started_utc"] = (test and test.started_utc) or Calendar.day(0)
    sharing.tally.add("coarsened", "times of timing self-tests")
    return shared


def _shared_records(
    log: RunLog, names: Mapping[str, str], words: Collection[str], tally: Tally
) -> list[dict[str, Any]]:
    """Return the records of known types, numbered anew: readers want no number left out."""
    known = [record for record in log.records if record["type"] in RECORDS]
    tally.add("dropped", "records of no known type", len(log.records) - len(known))
    # Whoever is at the table; the rival is nobody.
    seats = {**names, RIVAL: RIVAL}
    return [
        {**_shared_record(record, seats, words, tally), "n": number}
        for number, record in enumerate(known, start=1)
    ]


def _shared_record(
    record: Mapping[str, Any], seats: Mapping[str, str], words: Collection[str], tally: Tally
) -> dict[str, Any]:
    kind = record["type"]
    shared: dict[str, Any] = RECORDS[kind](record, words, tally)
    if kind == "turn":
        shared["player_id"] = seats.get(record["player_id"], REMOVED)
        tally.add("replaced", "participant ids in records of turns")
    if isinstance(shared.get("lot"), list):
        shared["lot"] = [seats.get(player, REMOVED) for player in shared["lot"]]
        tally.add("replaced", "participant ids in records of rounds")
    if isinstance(shared.get("round"), dict):
        shared["round"] = shared_round(shared["round"], seats)
    if kind == "end":
        _share_end(shared, tally)
    return shared


def _share_end(shared: dict[str, Any], tally: Tally) -> None:
    """Leave out reasons in words that are not the program's own."""
    if "reason" in shared and shared["reason"] not in _KNOWN_REASONS:
        shared["reason"] = REMOVED
        tally.add("dropped", "reasons for which sessions ended, in free text")
    report = shared.get("marker_report")
    failure = report.get("first_failure") if isinstance(report, dict) else None
    if isinstance(report, dict) and isinstance(failure, dict) and failure.get("reason"):
        shared["marker_report"] = {**report, "first_failure": {**failure, "reason": REMOVED}}
        tally.add("dropped", "reasons for which markers failed, in free text")
