"""The cells of a column of RTs: numbers in the unit and with the decimal mark of their source."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import median

from ghostblitz_analysis.rt_units import MAX_RT_S
from ghostblitz_analysis.sources import Source
from ghostblitz_task.errors import DatasetError

__all__ = ["as_number", "check_thousands", "odd_rts", "read_rt_s"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,' \u00a0\u2019\u202f]\d{3})+([.,]\d+)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
#: Texts that programs write where there is no value.
_NO_VALUE = ("na", "n/a", "nan", "null", "none", "undefined", "inf", "-inf", ".", "-")
#: RTs below this many ms beside others above it are no RTs, but thousands with a separator.
_LEAST_RT_MS = 100.0
#: A value that stands for no RT is repeated and far from the others.
_MIN_REPEATED = 3
_EXTREME_FACTOR = 5


def as_number(cell: str, decimal: str) -> float | None:
    """Read a finite number with this decimal mark; None if it is not one."""
    text = cell.strip()
    if decimal == ",":
        text = "x" if "." in text else text.replace(",", ".")
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def read_rt_s(cell: str | None, source: Source, place: str) -> float:
    """Read an RT, in seconds.

    Raises
    ------
    DatasetError
        Naming the place, if there is none, or if it is no RT: no number, negative, beyond the
        deadline or longer than any.
    """
    title, responses = source.titles.rt, source.mapping.responses
    if cell is None:
        raise DatasetError(f"{place}: {title} is blank, but there is a response")
    decimal = source.mapping.source.decimal
    number = as_number(cell, decimal)
    if number is None:
        raise DatasetError(
            f"{place}: {title} is {cell!r}, which is no number with decimal mark {decimal!r}"
            + _advice(cell, decimal)
        )
    if number in responses.no_rt:
        raise DatasetError(
            f"{place}: {title} is {cell}, which is no RT by responses.no_rt, but there is a "
            "response; drop such rows with a filter"
        )
    if number < 0:
        raise DatasetError(
            f"{place}: {title} is {cell}, but an RT cannot be negative; if it stands for no "
            f"response, blank out the response and set responses.no_rt = [{cell}], or drop such "
            "rows with a filter (below = 0)"
        )
    rt_s = number / 1000 if source.titles.rt_unit == "ms" else number
    if rt_s > MAX_RT_S:
        raise DatasetError(f"{place}: {title} is {cell}, which is no reaction time")
    deadline_s = responses.deadline_s
    if deadline_s is not None and rt_s > deadline_s:
        raise DatasetError(
            f"{place}: {title} is {cell}, beyond responses.deadline_s = {deadline_s}"
        )
    return rt_s


def _advice(cell: str, decimal: str) -> str:
    """Say what to do about an RT that is no number."""
    text = cell.strip()
    if text.lower() in _NO_VALUE:
        return f"; if it means no value, set source.missing = [{text!r}]"
    other = "," if decimal == "." else "."
    advice = ""
    if as_number(text, other) is not None:
        advice = f'; if its decimal mark is {other!r}, set source.decimal = "{other}"'
    if _GROUPED.fullmatch(text):
        advice += "; thousands separators must be taken out"
    return advice


def check_thousands(source: Source) -> None:
    """Refuse RTs in milliseconds whose thousands are set off by what is read as a decimal mark.

    ``1.234`` beside ``987`` is 1234 ms, not 1.234 ms.

    Raises
    ------
    DatasetError
        If every RT with the mark has three digits after it and is below 100 ms as it is read, while
        the others are mostly above that.
    """
    if source.titles.rt_unit != "ms":
        return
    decimal = source.mapping.source.decimal
    marked: list[tuple[str, str]] = []
    others: list[float] = []
    for cell, place in zip(source.cells(source.titles.rt), source.raw.places, strict=True):
        number = None if cell is None else as_number(cell, decimal)
        if cell is None or number is None or number in source.mapping.responses.no_rt:
            continue
        if decimal not in cell:
            others.append(number)
        elif _THOUSANDS.fullmatch(cell) and number < _LEAST_RT_MS:
            marked.append((cell, place))
        else:
            return
    if marked and others and median(others) >= _LEAST_RT_MS:
        cell, place = marked[0]
        raise DatasetError(
            f"{place}: {source.titles.rt} is {cell}, as in {len(marked)} rows, while others are "
            f"{median(others):g} or so; that looks like thousands separators, not decimal marks, "
            "so write the numbers without them"
        )


def odd_rts(rt_s: Sequence[float | None], source: Source) -> tuple[str, ...]:
    """Return notes on RTs that may stand for something else: those of 0, and a repeated extreme."""
    known = [value for value in rt_s if value is not None]
    if not known:
        return ()
    title, scale = source.titles.rt, 1000 if source.titles.rt_unit == "ms" else 1
    advice = (
        "if that stands for no response, drop those rows with a filter, or blank out their "
        "responses and name it in responses.no_rt"
    )
    notes = []
    if n_zero := sum(value == 0 for value in known):
        notes.append(f"{title} is 0 in {n_zero} rows; {advice}")
    largest = max(known)
    n_largest = known.count(largest)
    is_rare = _MIN_REPEATED <= n_largest <= len(known) / 2
    if is_rare and largest > _EXTREME_FACTOR * median(known):
        notes.append(
            f"{title} is exactly {largest * scale:g} in {n_largest} rows, far above the others; "
            f"{advice}"
        )
    return tuple(notes)
