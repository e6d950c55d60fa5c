"""What a check says, and how numbers become verdicts and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOT_MEASURED", "Check", "Verdict", "graded", "ms"]

Verdict = Literal["pass", "warn", "fail"]
Outcome = Literal["pass", "warn", "fail", "not_measured"]

NOT_MEASURED: Literal["not_measured"] = "not_measured"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        What.
    verdict : str
        ``pass``, ``warn``, ``fail``, or ``not_measured``.
    value : str
        The figures, in words.
    reason : str
        Why this verdict.
    advice : str
        What to do; empty where nothing is to be done.
    """

    name: str
    verdict: Outcome
    value: str
    reason: str
    advice: str


def graded(value: float, *, passes: float, warns: float) -> Verdict:
    """Return ``pass`` up to one limit, ``warn`` up to the next, ``fail`` beyond it or for NaN."""
    if value <= passes:
        return "pass"
    return "warn" if value <= warns else "fail"


def ms(seconds: float, digits: int, *, signed: bool = False) -> str:
    """Write a time in milliseconds."""
    return f"{1000 * seconds:{'+' if signed else ''}.{digits}f} ms"
