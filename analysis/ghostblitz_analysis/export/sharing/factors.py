"""Factors of an imported data set: ages in bands, and none that tell who somebody is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.texts import EMAIL, PERSONAL_PATH
from ghostblitz_task.schema import FACTOR_PREFIX

__all__ = ["age_band", "shared_factor"]

_AGE = re.compile(r"(^|_)(age|alter|age_years|years_of_age|alter_jahre)(_|$)")
_NUMBER = re.compile(r"\d{1,3}(\.\d+)?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}.*|\d{1,2}:\d\d(:\d\d)?"
)
#: More levels than this are no factor of a design but a description of people, or free text.
_MOST_LEVELS = 20
_LONGEST_LEVEL = 40
_BAND_YEARS = 5
#: HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i)(C): ages over 89 are one category.
_OLDEST = 90
_FEW_PEOPLE = 2


def shared_factor(
    name: str, cells: Sequence[str | None], people: Sequence[str], tally: Tally
) -> list[str | None] | None:
    """Return what of a factor is shared; null where the whole column is not.

    Parameters
    ----------
    name : str
        The column, with its prefix.
    cells : (n_trials,) sequence of str or None
    people : (n_trials,) sequence of str
        Whose trial each is.

    Notes
    -----
    Ages become bands of five years, and from 90 on one. A column is dropped if it has more than 20
    levels; if one of them looks like a date, a time, an address or a path, or is longer than 40
    characters; or if it never changes within a participant and no two participants share a level
    (with three or more of them), as names do.
    """
    levels = {cell for cell in cells if cell is not None}
    if _AGE.search(name.removeprefix(FACTOR_PREFIX)):
        tally.add("coarsened", "columns of ages (bands of five years)")
        bands = {level: age_band(level) for level in levels}
        return [None if cell is None else bands[cell] for cell in cells]
    if len(levels) > _MOST_LEVELS or any(map(_tells, levels)) or _names_people(cells, people):
        tally.add("dropped", "columns of factors that may tell who somebody is")
        return None
    tally.add("kept", "columns of factors of a design")
    return list(cells)


def age_band(age: str) -> str | None:
    """Return the five years that an age is in; null for what is no age."""
    if not _NUMBER.fullmatch(age.strip()):
        return None
    years = int(float(age))
    if years >= _OLDEST:
        return f"{_OLDEST}+"
    first = years // _BAND_YEARS * _BAND_YEARS
    return f"{first}-{first + _BAND_YEARS - 1}"


def _tells(level: str) -> bool:
    looks_so = _DATE.fullmatch(level.strip()) or EMAIL.search(level) or PERSONAL_PATH.search(level)
    return len(level) > _LONGEST_LEVEL or bool(looks_so)


def _names_people(cells: Sequence[str | None], people: Sequence[str]) -> bool:
    """Whether each participant has a level of their own."""
    pairs = {(who, cell) for who, cell in zip(people, cells, strict=True) if cell is not None}
    owners = {who for who, _ in pairs}
    levels = {level for _, level in pairs}
    return len(owners) > _FEW_PEOPLE and len(pairs) == len(owners) == len(levels)
