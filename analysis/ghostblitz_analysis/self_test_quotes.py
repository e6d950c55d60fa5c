"""What the header of a log says of the timing self-test that was made before its session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghostblitz_analysis.record_values import check_values, shown
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.timing.record import VERDICTS, is_rate

__all__ = ["SelfTestQuote", "quoted_self_test"]

_QUOTE = {
    "file": "text", "sha256": "text", "verdict": "text", "started_utc": "text",
    "refresh_hz": "any",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SelfTestQuote:
    """A record of a self-test as a log names it: its file, that file's sum, and its verdict."""

    file: str
    sha256: str
    verdict: str
    started_utc: str


def quoted_self_test(header: Mapping[str, Any], where: str) -> SelfTestQuote | None:
    """Return what a header quotes; None where there was no test, or from before there were any.

    Raises
    ------
    DatasetError
        If the quote lacks a value or holds one of the wrong kind.
    """
    check_values({"timing_self_test": None} | dict(header), {"timing_self_test": "table?"}, where)
    quote = header.get("timing_self_test")
    if quote is None:
        return None
    where = f"{where}, timing_self_test"
    check_values(quote, _QUOTE, where)
    if quote["verdict"] not in VERDICTS:
        raise DatasetError(
            f"{where}: verdict is {shown(quote['verdict'])}, but should be one of "
            f"{', '.join(VERDICTS)}"
        )
    if not is_rate(quote["refresh_hz"]):
        raise DatasetError(
            f"{where}: refresh_hz is {shown(quote['refresh_hz'])}, but should be flips per second"
        )
    return SelfTestQuote(quote["file"], quote["sha256"], quote["verdict"], quote["started_utc"])
