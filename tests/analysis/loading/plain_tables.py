"""The plainest table that can be imported, and its mapping."""

from __future__ import annotations

PLAIN = """
[dataset]
name = "plain"

[columns]
participant = "who"
card = "card"
response = "answer"
rt = "time"
rt_unit = "s"
"""


def plain(*rows: str, header: str = "who,card,answer,time") -> str:
    return "\n".join([header, *rows]) + "\n"


DIRECT = "book:red ghost:white"
EXCLUSION = "ghost:green chair:blue"
