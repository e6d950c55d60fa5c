"""What `ghostblitz analyze` makes of a data set, as part of an export."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

from ghostblitz_analysis.captain.pipeline import analyze_captain
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.parts.provenance_record import LAST_CHANGED
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.result_folders import ANALYSIS
from ghostblitz_task.errors import DatasetError

__all__ = ["NOT_ANALYSED_FILE", "write_results"]

NOT_ANALYSED_FILE = "not-analysed.txt"
_REPORT = "report.html"
# Taken out again below: two exports of the same data are to be the same, bytes and sums.
_NO_TIME = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIME_IN_REPORT = ' · analysed <span class="nowrap">1970-01-01 00:00 UTC</span>'


def write_results(source: ExportSource, folder: Path, name: str) -> None:
    """Analyse a data set into a folder of an export, without the time and place at which it was.

    Parameters
    ----------
    source : ExportSource
        Data that cannot be analysed, such as those without a test trial, get a file that says
        why instead.
    folder : Path
        The export's folder.
    name : str
        Of the folder of results in it.
    """
    out = folder / name
    try:
        if source.dataset is None:
            analyze_captain(source.path, out=out, now=_NO_TIME)
        else:
            analyze_dataset(source.path, out=out, now=_NO_TIME)
    except DatasetError as error:
        if isinstance(error.__cause__, OSError):  # A full disk says nothing of the data.
            raise
        reason = str(error).replace(str(source.path), source.name)
        write_text(folder, f"{name}/{NOT_ANALYSED_FILE}", f"Not analysed: {reason}.\n")
        return
    _without_time_and_place(out)


def _without_time_and_place(out: Path) -> None:
    """Take out when the analysis was made, and what is of this copy of the data set only.

    That is the sum of the path at which it stood, and the time of one of its files.
    """
    file = out / ANALYSIS.file
    record = json.loads(file.read_text(encoding="utf-8"))
    record["analysed_utc"] = record["dataset"]["path_sha256"] = None
    if "settings_provenance" in record:
        record["settings_provenance"]["file_modified_utc"] = None
    text = LAST_CHANGED.sub("", json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))
    file.write_text(text + "\n", encoding="utf-8", newline="\n")
    report = out / _REPORT
    page = report.read_text(encoding="utf-8")
    assert _TIME_IN_REPORT in page, "the report says otherwise when it was made"
    page = LAST_CHANGED.sub("", page.replace(_TIME_IN_REPORT, "", 1))
    report.write_text(page, encoding="utf-8", newline="\n")
