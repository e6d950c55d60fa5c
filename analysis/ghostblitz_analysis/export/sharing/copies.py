"""De-identification: a copy of a data set that is a valid data set again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import tomli_w

from ghostblitz_analysis.export.folders import copy_file, write_text
from ghostblitz_analysis.export.publication import PUBLICATION_FILE
from ghostblitz_analysis.export.sharing.codes import (
    CodeBook,
    check_key_place,
    is_private,
    random_code,
    read_key,
    write_key,
)
from ghostblitz_analysis.export.sharing.imports import share_import
from ghostblitz_analysis.export.sharing.logs import LogSharing, header_of, players_of, share_logs
from ghostblitz_analysis.export.sharing.report import SharingReport, Tally
from ghostblitz_analysis.export.sharing.self_tests import share_self_tests
from ghostblitz_analysis.export.sharing.texts import Calendar
from ghostblitz_analysis.export.source import STUDY_FILE, ExportSource, load_source
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import read_toml
from ghostblitz_task.trial_log import file_sha256

__all__ = ["SharingReport", "participant_ids", "shared_copy", "sharing_lines"]

_LOG_SUFFIX = ".jsonl"


def participant_ids(source: ExportSource) -> tuple[str, ...]:
    """Return the ids of all participants of a data set, of those without trials, too."""
    main = source.main.frame
    names = ["participant_id", "player_id"] if "player_id" in main else ["participant_id"]
    ids = {str(value) for name in names for value in main[name].dropna().unique()}
    return tuple(sorted(ids | {player for run in source.runs for player in run.players}))


def shared_copy(
    source_path: Path,
    copy: Path,
    *,
    key_file: Path,
    outside: Sequence[Path] = (),
    draw_code: Callable[[], str] = random_code,
) -> SharingReport:
    """Copy a data set without what identifies its participants.

    Parameters
    ----------
    source_path : Path
        The data set's folder; nothing in it is changed.
    copy : Path
        An empty folder, or one to be made. Its name becomes the data set's.
    key_file : Path
        Where ids and codes are kept together. One that is there from an earlier export of this
        data set keeps its codes and is extended.
    outside : sequence of Path
        Further folders that the key must not be in, such as the export.
    draw_code : callable
        Draws a code; by default from the system's own randomness.

    Returns
    -------
    SharingReport
        What was replaced, dropped and coarsened, in counts.

    Raises
    ------
    DatasetError, LogError, ConfigError
        If the data set cannot be loaded, the folder is not empty, or the key cannot be where it is
        to be, or is another data set's.

    Notes
    -----
    Codes, days and names of files are described in `SharingReport.to_text`. Sums that logs hold
    of one another, of self-tests and of `analysis.toml` are computed anew, so that what fitted
    before fits now, and what did not, does not.
    """
    check_key_place(key_file, outside=(source_path, copy, *outside))
    if copy.is_symlink() or (copy.exists() and (not copy.is_dir() or any(copy.iterdir()))):
        raise DatasetError(f"{copy} is no empty folder; the copy would be mixed with what is there")
    source = load_source(source_path)
    ids, known = participant_ids(source), read_key(key_file)
    if known and not known.keys() & set(ids):
        raise DatasetError(
            f"{key_file} is the key of another data set, as it has none of its participants; name "
            "a file that is not there yet"
        )
    book = CodeBook(known, avoided=ids, draw=draw_code)
    for participant_id in ids:
        book.code_of(participant_id)
    tally = Tally()
    copy.mkdir(parents=True, exist_ok=True)
    _share_settings(source, copy, tally)
    tests = share_self_tests(source_path, copy, tally)
    logs = {n: p for n, p in source.files.items() if p.suffix == _LOG_SUFFIX}
    if logs:
        sums = _analysis_sums(source, copy)
        share_logs(logs, copy, LogSharing(book, _calendar(source, logs), tests, sums, tally))
    else:
        share_import(source_path, copy, book, tally)
    _count_others(source, tally)
    write_key(key_file, book.codes, known=known)
    n_new = len(book.codes.keys() - known.keys())
    return SharingReport(len(book.codes), n_new, tally.steps(), tally.factors())


def sharing_lines(report: SharingReport, key_file: Path) -> tuple[str, ...]:
    """Say in the terminal what was done, where the key is, and who may read it."""
    if os.name == "nt":
        who = ""
    elif is_private(key_file):
        who = ", which only you can read"
    else:
        who = ", which others on this machine may read, since its rights cannot be narrowed"
    key = (
        f"{report.n_participants} ids were replaced by random codes. Whose each code is stands in "
        f"{key_file}{who}: keep it apart."
    )
    return (key, *report.to_lines())


def _share_settings(source: ExportSource, copy: Path, tally: Tally) -> None:
    files = source.files
    if PUBLICATION_FILE in files:
        copy_file(files[PUBLICATION_FILE], copy, PUBLICATION_FILE)
        tally.add("kept", PUBLICATION_FILE)
    for name in (STUDY_FILE, ANALYSIS_FILE):
        if name in files:
            write_text(copy, name, tomli_w.dumps(read_toml(files[name])))
            tally.add("dropped", f"comments in {name} (it was written anew)")


def _analysis_sums(source: ExportSource, copy: Path) -> dict[str, str]:
    """Return the new sum of `analysis.toml` by its old one."""
    if ANALYSIS_FILE not in source.files:
        return {}
    return {file_sha256(source.files[ANALYSIS_FILE]): file_sha256(copy / ANALYSIS_FILE)}


def _calendar(source: ExportSource, logs: Mapping[str, Path]) -> Calendar | None:
    """Return the days of all sessions; none where the time of a session is a hint of something.

    Logs of earlier versions do not say which analysis settings stood beside them. There the file's
    time is compared with the first session's, which a made-up one would turn into a false claim.
    """
    if any(not run.says_analysis_file for run in source.runs):
        return None
    headers = [header_of(path) for path in logs.values()]
    return Calendar((players_of(header), header.get("started_utc")) for header in headers)


def _count_others(source: ExportSource, tally: Tally) -> None:
    """Count what lies in the data set's folder and is no part of it."""
    own = {path.resolve() for path in source.files.values()}
    found = [p for p in source.path.rglob("*") if not p.is_dir()]
    n_others = sum(p.is_symlink() or p.resolve() not in own for p in found)
    tally.add("dropped", "files that are no part of a data set (recordings, notes)", n_others)
