"""The headers of a data set's logs, for what the trial table does not hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ghostblitz_analysis.dataset import LOG_SUFFIX
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_task.errors import LogError

__all__ = ["log_headers"]

_LARGEST_HEADER_BYTES = 50_000_000


def log_headers(source: ExportSource) -> dict[str, Mapping[str, Any]]:
    """Return the header of each log, by the log's name in the data set; none of imported data.

    Raises
    ------
    LogError
        If a log changed since the data set was loaded, so that it has no header any more.
    """
    logs = {name: file for name, file in source.files.items() if name.endswith(LOG_SUFFIX)}
    headers = {}
    for name, file in sorted(logs.items()):
        with file.open("rb") as lines:
            line = lines.readline(_LARGEST_HEADER_BYTES)
        try:
            headers[name] = json.loads(line)
        except ValueError as error:
            raise LogError(f"{file}, line 1: this is no header; export the data set again") from (
                error
            )
    return headers
