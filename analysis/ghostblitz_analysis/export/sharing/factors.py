"""Factors of an imported data set: ages in bands, and none that tell who somebody is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from ghostblitz_analysis.export.sharing.report import SharedFactor, Tally
from ghostblitz_analysis.export.sharing.telling_texts import MONTH, dates_in_words, phone_numbers
from ghostblitz_analysis.export.sharing.texts import EMAIL, PERSONAL_PATH
from ghostblitz_task.schema import FACTOR_PREFIX

__all__ = ["age_band", "shared_factor"]

_AGE = re.compile(r"(^|_)(age|alter|age_years|years_of_age|alter_jahre)(_|$)")
#: What a column is called that holds no factor of a design, whatever its values look like.
_TELLING_NAME = re.compile(
    r"(^|_)(born|birth\w*|dob|geb|geburt\w*|jahrgang|postcode|postal\w*|zip|plz|phone|tel|telefon"
    r"|mobile|handy|e?_?mail|address|adresse|initials|remarks?|comments?|notes?|bemerkung\w*"
    r"|kommentar\w*|anmerkung\w*|first_?name|last_?name|surname|vorname|nachname)(_|$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,3}(\.\d+)?")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\b\d{1,2}:\d\d(:\d\d)?\b"
)
_DECIMAL = re.compile(r"[+-]?\d{0,5}\.\d+")
_SHORT_MONTH_AND_DIGIT = re.compile(
    r"\d.*(?<![^\W\d_])(jan|feb|mar|mär|mrz|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez)\b"
    r"|(?<![^\W\d_])(jan|feb|mar|mär|mrz|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez)\b.*\d",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(dr|prof|professor|mr|mrs|ms|miss|herr|frau|mme|sr|sra)\b", re.IGNORECASE)
_MANY_DIGITS = 6
#: More levels than this are no factor of a design but a description of people, or free text.
_MOST_LEVELS = 20
_LONGEST_LEVEL, _MOST_WORDS = 30, 3
_BAND_YEARS = 5
#: HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i)(C): ages over 89 are one category.
_OLDEST = 90


def shared_factor(
    name: str,
    cells: Sequence[str | None],
    people: Sequence[str],
    tally: Tally,
    *,
    ids: Collection[str] = (),
) -> list[str | None] | None:
    """Return what of a factor is shared; null where the whole column is not.

    Parameters
    ----------
    name : str
        The column, with its prefix.
    cells : (n_trials,) sequence of str or None
    people : (n_trials,) sequence of str
        Whose trial each is.
    tally : Tally
        Notes what became of the column, and why.
    ids : collection of str
        Ids that mean a participant wherever they stand.

    Notes
    -----
    Ages become bands of five years, and from 90 on one. A column is dropped if its name says that
    it holds no factor of a design (``born``, ``remark``, ``phone``); if it has more than 20 levels;
    if a level looks like a date, a time, a telephone number, an address, a path, a title or an id,
    has six digits or more that are no decimals, more than three words or more than 30 characters;
    or if it describes people (it changes within fewer than half of them) and a level is one
    participant's alone. A factor that changes within participants may have such levels.
    """
    if _AGE.search(name.removeprefix(FACTOR_PREFIX)):
        bands = {cell: age_band(cell) for cell in set(cells) if cell is not None}
        cells = [None if cell is None else bands[cell] for cell in cells]
        tally.add("coarsened", "columns of ages (bands of five years)")
        tally.add_factor(_described(name, cells, people, in_bands=True))
        return list(cells)
    why = _why_dropped(name, cells, people, ids)
    if why is not None:
        tally.add("dropped", "columns of factors that may tell who somebody is")
        tally.add_factor(SharedFactor(name, (), why_dropped=why))
        return None
    tally.add("kept", "columns of factors of a design")
    tally.add_factor(_described(name, cells, people))
    return list(cells)


def _described(
    name: str, cells: Sequence[str | None], people: Sequence[str], *, in_bands: bool = False
) -> SharedFactor:
    owners = _owners(cells, people)
    n_alone = sum(n == 1 for n in owners.values())
    return SharedFactor(name, tuple(sorted(owners)), n_of_one=n_alone, in_bands=in_bands)


def _owners(cells: Sequence[str | None], people: Sequence[str]) -> Counter[str]:
    """Return how many participants have each level."""
    pairs = {(who, cell) for who, cell in zip(people, cells, strict=True) if cell is not None}
    return Counter(cell for _, cell in pairs)


def _why_dropped(
    name: str, cells: Sequence[str | None], people: Sequence[str], ids: Collection[str]
) -> str | None:
    levels = sorted({cell for cell in cells if cell is not None})
    if _TELLING_NAME.search(name.removeprefix(FACTOR_PREFIX)):
        return "its name says that it describes a person"
    if len(levels) > _MOST_LEVELS:
        return f"it has more than {_MOST_LEVELS} levels"
    folded = [participant_id.casefold() for participant_id in ids]
    for level in levels:
        why = _why_told(level) or ("an id" if _holds_id(level, folded) else None)
        if why is not None:
            return f"a level looks like {why}"
    if _describes_people(cells, people) and 1 in _owners(cells, people).values():
        return "it describes participants, and a level is one participant's alone"
    return None


def _why_told(level: str) -> str | None:
    """Return what a level looks like that no condition of a study is called; null if nothing."""
    dated = _DATE.search(level) or MONTH.search(level) or _SHORT_MONTH_AND_DIGIT.search(level)
    if dated or next(dates_in_words(level), None):
        return "a date or a time"
    if EMAIL.search(level) or "@" in level:
        return "an e-mail address"
    if PERSONAL_PATH.search(level):
        return "a path"
    n_digits = sum(character.isdecimal() for character in level)
    if next(phone_numbers(level), None) or (
        n_digits >= _MANY_DIGITS and not _DECIMAL.fullmatch(level.strip())
    ):
        return "a telephone number or the number of a person"
    if _TITLE.search(level):
        return "somebody's title"
    if len(level) > _LONGEST_LEVEL or len(level.split()) > _MOST_WORDS:
        return "free text"
    return None


def _holds_id(level: str, folded_ids: Collection[str]) -> bool:
    folded = level.casefold()
    return any(
        each in folded and re.search(rf"(?<![^\W_]){re.escape(each)}(?![^\W_])", folded)
        for each in folded_ids
    )


def _describes_people(cells: Sequence[str | None], people: Sequence[str]) -> bool:
    """Whether the column changes within fewer than half of those who have it."""
    pairs = {(who, cell) for who, cell in zip(people, cells, strict=True) if cell is not None}
    n_levels = Counter(who for who, _ in pairs)
    return 2 * sum(n > 1 for n in n_levels.values()) < len(n_levels)


def age_band(age: str) -> str | None:
    """Return the five years that an age is in; null for what is no age."""
    if not _NUMBER.fullmatch(age.strip()):
        return None
    years = int(float(age))
    if years >= _OLDEST:
        return f"{_OLDEST}+"
    first = years // _BAND_YEARS * _BAND_YEARS
    return f"{first}-{first + _BAND_YEARS - 1}"
