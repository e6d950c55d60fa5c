"""Dates in words and telephone numbers, which tell who somebody is as dates in digits do."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["MONTH", "dates_in_words", "phone_numbers"]

_FULL_TEXT = """
january february march april may june july august september october november december
januar jänner februar märz maerz mai juni juli oktober dezember
janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""
_SHORT_TEXT = "jan feb mar mär mrz apr jun jul aug sep sept oct okt nov dec dez"
_FULL, _SHORT = _FULL_TEXT.split(), _SHORT_TEXT.split()
#: The name of a month in English, German, French or Spanish.
MONTH = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_FULL)})(?![^\W\d_])", re.IGNORECASE)
_ANY_MONTH = "|".join(name.capitalize() for name in (*_FULL, *_SHORT))
_ANY_MONTH = f"(?:{_ANY_MONTH}|{_ANY_MONTH.upper()})"
_DAY, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?", r"(?:19|20)\d\d"
#: With a whole year months may be in small letters, as French and Spanish write them.
_DATE = re.compile(
    rf"(?<!\w){_DAY}[ -]?(?:of |de )?(?i:{_ANY_MONTH})\.?(?:,? (?:de )?|-)?{_YEAR}(?!\w)"
    rf"|(?<!\w){_DAY}[ -]?{_ANY_MONTH}\.?[ -]\d\d(?!\w)"
    rf"|(?<!\w){_ANY_MONTH}\.? {_DAY},? {_YEAR}(?!\w)"
)
#: With the country's code, or with the 0 of an area and nine digits or more in all.
_PHONE = re.compile(
    r"(?<![\w.,/+-])(?:\+\d{1,3}[ -]?(?:\(0\))?[ -]?|00\d{2}[ -]|\(0\d{2,4}\) ?|0\d{2,4}[ /-])"
    r"\d{2,}(?:[ /-]?\d{2,})*(?![\w.]\d)"
)
#: Of a researcher (ORCID), which is written alike.
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_FEWEST_DIGITS = 9


def dates_in_words(text: str) -> Iterator[re.Match[str]]:
    """Give each day of a month with its year, the month in words."""
    return _DATE.finditer(text)


def phone_numbers(text: str) -> Iterator[re.Match[str]]:
    """Give each text that looks like a telephone number."""
    for match in _PHONE.finditer(text):
        if _ORCID.match(text, match.start()):
            continue
        if sum(character.isdecimal() for character in match[0]) >= _FEWEST_DIGITS:
            yield match
