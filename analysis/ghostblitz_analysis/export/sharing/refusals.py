"""What to say of what still tells who somebody is: where it stands, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ghostblitz_analysis.export.sharing.identity_scan import Leak
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import FACTOR_PREFIX

__all__ = ["refuse_leaks"]

_MOST_LEAKS = 5
_SETTINGS = "study.toml, analysis.toml, publication.toml or mapping.toml"
_WAYS_OUT = {
    "participant id": "a word that is no id there may stand in publication.toml, whose words mean "
    "nobody; else give the participants other ids in a copy of the data",
    "name of a user or machine": "a name that is to be public stands in publication.toml",
    "e-mail address": "an address that is to be public stands in publication.toml",
    "date in words": "a day that is to be public stands in publication.toml, in its description",
    "telephone number": "a number that is to be public stands in publication.toml, in its "
    "description",
}


def refuse_leaks(leaks: Sequence[Leak]) -> None:
    """Stop an export in which something was found.

    Raises
    ------
    DatasetError
        If there is any leak: in which files, lines and columns, and what to do. What was found is
        not told, since terminals are copied into mails.
    """
    if not leaks:
        return
    more = len(leaks) - len(leaks[:_MOST_LEAKS])
    raise DatasetError(
        "what identifies people is left, so nothing was exported: "
        + "; ".join(map(_told, leaks[:_MOST_LEAKS]))
        + (f"; and {more} more" if more else "")
        + f". What to do: {'; '.join(dict.fromkeys(_ways_out(leaks)))}"
    )


def _told(leak: Leak) -> str:
    line = "" if leak.line is None else f", line {leak.line}"
    column = "" if leak.column is None else f", column {leak.column}"
    return f"{leak.file}{line}{column} ({leak.kind})"


def _ways_out(leaks: Sequence[Leak]) -> Iterator[str]:
    for leak in leaks:
        if leak.column is not None and leak.column.startswith(FACTOR_PREFIX):
            yield (
                f"take {leak.column.removeprefix(FACTOR_PREFIX)} out of [factors] of the mapping, "
                "or give its levels other names in the source, and import the data again"
            )
        else:
            yield _WAYS_OUT.get(leak.kind, f"take it out of {_SETTINGS}")
