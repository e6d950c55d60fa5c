"""Keeps of a record what is named beforehand, in the form that it has; all else is dropped.

A list of what is forbidden has holes: nobody knows what a lab writes beside the data. So an entry
that the list does not name is dropped whatever it holds, and a text of no known form is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.sentences import is_own_sentence
from ghostblitz_analysis.export.sharing.texts import REMOVED

__all__ = [
    "ANY",
    "FLAG",
    "NUMBER",
    "NUMBERS",
    "SENTENCE",
    "STUDY_WORD",
    "Entry",
    "Keep",
    "Keyed",
    "form",
    "keeper",
    "one_of",
]

#: Whether a value is of a form; the words are the study's own.
Fits: TypeAlias = Callable[[Any, Collection[str]], bool]
#: Copies a value without what is not on the list; the words are the study's own.
Keep: TypeAlias = Callable[[Any, Collection[str], Tally], Any]


@dataclass(frozen=True, slots=True)
class Keyed:
    """An object whose keys are of a form, each with the same entry."""

    key: Fits
    entry: Entry


#: A form, an object with its keys, a list (written as a list of its one entry), or `Keyed`.
Entry: TypeAlias = "Fits | Mapping[str, Entry] | list[Entry] | Keyed"


def form(pattern: str) -> Fits:
    """Return the form of texts that match a pattern from end to end."""
    compiled = re.compile(pattern)
    return lambda value, _words: isinstance(value, str) and bool(compiled.fullmatch(value))


def one_of(*texts: str) -> Fits:
    """Return the form of a text among some."""
    known = frozenset(texts)
    return lambda value, _words: isinstance(value, str) and value in known


def FLAG(value: Any, _words: Collection[str]) -> bool:  # noqa: N802 - it stands among constants
    """Whether a value is true or false."""
    return isinstance(value, bool)


def NUMBER(value: Any, _words: Collection[str]) -> bool:  # noqa: N802
    """Whether a value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def NUMBERS(value: Any, words: Collection[str]) -> bool:  # noqa: N802
    """Whether a value is a number, or a list of such, however deep."""
    if isinstance(value, list):
        return all(NUMBERS(inner, words) for inner in value)
    return NUMBER(value, words)


def STUDY_WORD(value: Any, words: Collection[str]) -> bool:  # noqa: N802
    """Whether a value is a text of the study's settings or a level of the trial table."""
    return isinstance(value, str) and value in words


def SENTENCE(value: Any, _words: Collection[str]) -> bool:  # noqa: N802
    """Whether a value is a text in words of this program alone."""
    return isinstance(value, str) and is_own_sentence(value)


def ANY(_value: Any, _words: Collection[str]) -> bool:  # noqa: N802
    """Take any value: it was checked, or is replaced, elsewhere."""
    return True


def keeper(entry: Entry, place: str) -> Keep:
    """Return what keeps of a value that which an entry names.

    Parameters
    ----------
    entry : Entry
        What may stand there. Null may stand anywhere.
    place : str
        Where, for the report; it holds names of the list and never of the data.

    Returns
    -------
    callable
        Takes the value, the study's own words and a tally; returns the copy. A value of another
        form becomes a text that says so, since readers expect something there.
    """
    if isinstance(entry, Mapping):
        return _object_keeper(entry, place)
    if isinstance(entry, list):
        return _list_keeper(entry[0], place)
    if isinstance(entry, Keyed):
        return _keyed_keeper(entry, place)
    fits = entry

    def keep(value: Any, words: Collection[str], tally: Tally) -> Any:
        return value if value is None or fits(value, words) else _cut(place, tally)

    return keep


def _object_keeper(entries: Mapping[str, Entry], place: str) -> Keep:
    inner = {name: keeper(entry, f"{place}.{name}") for name, entry in entries.items()}

    def keep(value: Any, words: Collection[str], tally: Tally) -> Any:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            return _cut(place, tally)
        kept = {
            name: inner[name](each, words, tally) for name, each in value.items() if name in inner
        }
        _count_unknown(len(value) - len(kept), place, tally)
        return kept

    return keep


def _keyed_keeper(keyed: Keyed, place: str) -> Keep:
    inner = keeper(keyed.entry, f"{place}.*")

    def keep(value: Any, words: Collection[str], tally: Tally) -> Any:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            return _cut(place, tally)
        kept = {
            name: inner(each, words, tally)
            for name, each in value.items()
            if keyed.key(name, words)
        }
        _count_unknown(len(value) - len(kept), place, tally)
        return kept

    return keep


def _list_keeper(entry: Entry, place: str) -> Keep:
    inner = keeper(entry, f"{place}[]")

    def keep(value: Any, words: Collection[str], tally: Tally) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            return _cut(place, tally)
        return [inner(each, words, tally) for each in value]

    return keep


def _count_unknown(n: int, place: str, tally: Tally) -> None:
    if n:
        tally.add("dropped", f"entries of no known meaning in {place}", n)


def _cut(place: str, tally: Tally) -> str:
    tally.add("dropped", f"values of no known form of {place}")
    return REMOVED
