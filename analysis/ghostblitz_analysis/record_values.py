"""What kind of value stands where in a log, and how values are shown in messages."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import column

__all__ = ["check_level", "check_values", "shown"]

_MAX_INTEGER = 2**53
_SURROGATES = re.compile("[\ud800-\udfff]")
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    # Half of a surrogate pair is no character.
    "text": ("a text", lambda v: isinstance(v, str) and not _SURROGATES.search(v)),
    "integer": (
        "a whole number",
        lambda v: isinstance(v, int) and not isinstance(v, bool) and abs(v) < _MAX_INTEGER,
    ),
    "number": (
        "a finite number",
        lambda v: (
            isinstance(v, (int, float))
            and not isinstance(v, bool)
            and abs(v) <= sys.float_info.max  # Whole numbers can be larger than any other.
        ),
    ),
    "flag": ("true or false", lambda v: isinstance(v, bool)),
    "list": ("a list", lambda v: isinstance(v, list)),
    "table": ("a table", lambda v: isinstance(v, dict)),
    "any": ("a value", lambda v: True),
}


def check_values(record: Mapping[str, Any], kinds: Mapping[str, str], where: str) -> None:
    """Refuse a record that lacks a value or holds one of the wrong kind.

    Parameters
    ----------
    record : mapping
        From the log.
    kinds : mapping of str to str
        The values that it must hold, each with its kind; one that ends in ``?`` may be null.
    where : str
        File, line and record, for the message.
    """
    for name, kind in kinds.items():
        if name not in record:
            raise DatasetError(f"{where}: {name} is missing; this is no log of this program")
        value = record[name]
        words, is_of_kind = _KINDS[kind.rstrip("?")]
        if not (value is None and kind.endswith("?")) and not is_of_kind(value):
            raise DatasetError(f"{where}: {name} is {shown(value)}, but should be {words}")


def check_level(value: str, name: str, where: str) -> None:
    """Refuse a value that is no level of the schema's column of this name."""
    levels = column(name).levels
    if levels and value not in levels:
        raise DatasetError(
            f"{where}: {name} is {value!r}, but should be one of {', '.join(levels)}"
        )


def shown(value: object) -> str:
    """Write a value as in the log, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
