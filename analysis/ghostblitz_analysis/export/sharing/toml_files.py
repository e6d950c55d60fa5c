"""Settings written anew as TOML: what somebody noted beside them stays behind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

__all__ = ["toml_text"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table that was read from TOML as TOML without comments.

    Read again, it gives the same values in the same order.
    """
    return "\n".join(_lines(table, "")).strip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    tables = {name: value for name, value in table.items() if _has_own_head(value)}
    for name, value in table.items():
        if name not in tables:
            yield f"{_key(name)} = {_value(value)}"
    for name, value in tables.items():
        place = f"{path}.{_key(name)}" if path else _key(name)
        inner = value if isinstance(value, list) else [value]
        head = f"[[{place}]]" if isinstance(value, list) else f"[{place}]"
        for each in inner:
            yield ""
            yield head
            yield from _lines(each, place)


def _has_own_head(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, too, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(v)}" for name, v in value.items()) + "}"
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return repr(value)  # Whole numbers, and floats with inf and nan, are as in Python.
