"""Whether the analysis settings of a data set were stated before its data.

The header of each log holds the SHA-256 sum of the data set's `analysis.toml` as it stood when the
session began, so that the file as it is now can be compared with what was stated then. The time
stamp of a file says little, since copying changes it; it is told where there is nothing better.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from ghostblitz_analysis.dataset import Dataset, RunInfo, analysis_file
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_task.errors import DatasetError

__all__ = ["SettingsProvenance", "settings_provenance"]

Status = Literal["yes", "no", "not known"]


@dataclass(frozen=True, slots=True)
class SettingsProvenance:
    """Whether the analysis settings were stated before the data, and how that is known.

    Attributes
    ----------
    status : str
        ``yes``, ``no`` or ``not known``.
    reason : str
        Why, in one sentence without a full stop.
    sha256 : str or None
        Of the bytes of `analysis.toml` as it is now; null where there is none.
    first_session_utc : str or None
        When the first session began, in ISO 8601; null where no log says so.
    file_modified_utc : str or None
        When `analysis.toml` was last changed, in ISO 8601; null where there is none.
    """

    status: Status
    reason: str
    sha256: str | None
    first_session_utc: str | None
    file_modified_utc: str | None


def settings_provenance(dataset: Dataset) -> SettingsProvenance:
    """Compare a data set's `analysis.toml` with what its logs say stood there when they began.

    Parameters
    ----------
    dataset : Dataset
        As loaded from its folder.

    Returns
    -------
    SettingsProvenance
        ``yes`` if every log began beside the file as it is now; ``no`` if one began beside another
        one or none, or if there is no file; ``not known`` for imported data, and if a log is from
        before logs said so.

    Raises
    ------
    DatasetError
        If the file cannot be read.
    """
    file = analysis_file(dataset.path)
    sha256, modified = _about(file) if file else (None, None)
    starts = [_in_utc(run.started_utc) for run in dataset.runs if run.started_utc]
    first = min(starts) if starts else None
    status, reason = _judged(dataset.runs, sha256, first, modified)
    if dataset.sources == ("simulated",):
        reason += "; the data are simulated, and before the simulation there were none"
    return SettingsProvenance(status, reason, sha256, _iso(first), _iso(modified))


def _about(file: Path) -> tuple[str, datetime]:
    try:
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        return sha256, datetime.fromtimestamp(file.stat().st_mtime, tz=timezone.utc)
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror}") from error


def _judged(
    runs: Sequence[RunInfo], sha256: str | None, first: datetime | None, modified: datetime | None
) -> tuple[Status, str]:
    if sha256 is None or modified is None:
        return "no", (
            f"the data set has no {ANALYSIS_FILE}, so that nothing was stated; the default "
            "settings are used"
        )
    changed = f"{ANALYSIS_FILE} was last changed at {_iso(modified)}"
    if not runs:
        return "not known", (
            f"imported data do not say what was stated before they were collected; {changed}"
        )
    silent = [run for run in runs if not run.says_analysis_file]
    others = [r for r in runs if r.says_analysis_file and r.analysis_file_sha256 != sha256]
    if others:
        return "no", _differs(others, len(runs))
    if silent:
        logs = f"{len(silent)} of {len(runs)} logs, {silent[0].file} the first of them,"
        return "not known", (
            f"{logs} do not say which {ANALYSIS_FILE} stood beside them, as those of earlier "
            f"versions; {changed}, {_when(modified, first)}"
        )
    every = "its one log holds" if len(runs) == 1 else f"all its {len(runs)} logs hold"
    return "yes", (
        f"{ANALYSIS_FILE} stood in the data set, as it is now, when the first session began: "
        f"{every} its SHA-256 sum"
    )


def _differs(others: Sequence[RunInfo], n_runs: int) -> str:
    first = others[0]
    then = (
        f"there was no {ANALYSIS_FILE}"
        if first.analysis_file_sha256 is None
        else f"{ANALYSIS_FILE} was another than it is now"
    )
    count = "" if len(others) == 1 else f" (and {len(others)} of {n_runs} logs differ from it)"
    return f"when {first.file} began, {then}{count}"


def _when(modified: datetime, first: datetime | None) -> str:
    """Say how the file's time stands to the first session's, and what that is worth."""
    if first is None:
        return "and when the first session began is not known"
    order = "before" if modified < first else "after"
    return (
        f"{order} the first session began at {_iso(first)}, which is a weak hint, since copying "
        "changes the time of a file"
    )


def _in_utc(started_utc: str) -> datetime:
    """Read a header's time; one without a zone is in UTC, as its name says."""
    try:
        started = datetime.fromisoformat(started_utc.replace("Z", "+00:00"))
    except ValueError as error:
        raise DatasetError(
            f"started_utc is {started_utc!r} in the header of a log, but should be a time in "
            "ISO 8601"
        ) from error
    return started if started.tzinfo else started.replace(tzinfo=timezone.utc)


def _iso(time: datetime | None) -> str | None:
    return time.astimezone(timezone.utc).isoformat(timespec="seconds") if time else None
