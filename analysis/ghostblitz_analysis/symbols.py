"""Symbols of statistics in titles and cells of tables, whatever the table is written as."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from markupsafe import Markup, escape

__all__ = ["Pieces", "Style", "pieces_html", "styled_header", "styled_number", "styled_text"]

Style = Literal["plain", "italic", "subscript", "superscript"]
Pieces = tuple[tuple[str, Style], ...]

#: Statistics that the APA's Publication Manual (7th edition, 2020, section 6.44) sets in italics.
_ITALIC = ("df", "SE", "SD", "t", "F", "p", "z", "r", "b", "n")
_WITH_INDEX: dict[str, Pieces] = {
    "dz": (("d", "italic"), ("z", "subscript")),
    "dav": (("d", "italic"), ("av", "subscript")),
    "gz": (("g", "italic"), ("z", "subscript")),
    "gav": (("g", "italic"), ("av", "subscript")),
    "BF10": (("BF", "plain"), ("10", "subscript")),
    "BF01": (("BF", "plain"), ("01", "subscript")),
    "ηG²": (("η", "plain"), ("G", "subscript"), ("2", "superscript")),
    "ηp²": (("η", "plain"), ("p", "subscript"), ("2", "superscript")),
}
_INDEXED = re.compile(rf"(?<!\w)({'|'.join(_WITH_INDEX)})(?!\w)")
#: A power of ten, as large Bayes factors are written.
_POWER = re.compile(r"(?<=\b10)\^(\N{MINUS SIGN}?\d+)")
_SYMBOL = re.compile(rf"(?<!\w)({'|'.join((*_WITH_INDEX, *_ITALIC))})(?!\w)")
_TAGS: dict[Style, str] = {"italic": "i", "subscript": "sub", "superscript": "sup"}


def styled_header(title: str) -> Pieces:
    """Cut a column title into pieces, statistics in italics and their indices lowered.

    Examples
    --------
    >>> styled_header("t (df)")
    (('t', 'italic'), (' (', 'plain'), ('df', 'italic'), (')', 'plain'))
    >>> styled_header("dz")
    (('d', 'italic'), ('z', 'subscript'))
    """
    return tuple(_pieces(title, _SYMBOL))


def styled_text(text: str) -> Pieces:
    """Cut running text into pieces; only symbols that no word can be taken for are set apart."""
    return tuple(_pieces(text, _INDEXED))


def styled_number(text: str) -> Pieces:
    """Cut a cell of a column of numbers into pieces, powers of ten raised.

    Examples
    --------
    >>> styled_number("4 × 10^9")
    (('4 × 10', 'plain'), ('9', 'superscript'))
    """
    parts = enumerate(_POWER.split(text))
    return tuple((part, "superscript" if number % 2 else "plain") for number, part in parts if part)


def pieces_html(pieces: Pieces) -> Markup:
    """Write pieces as HTML.

    Examples
    --------
    >>> print(pieces_html(styled_header("a < BF10")))
    a &lt; BF<sub>10</sub>
    """
    html = Markup()
    for text, style in pieces:
        tag = _TAGS.get(style)
        html += Markup(f"<{tag}>{escape(text)}</{tag}>") if tag else escape(text)
    return html


def _pieces(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, Style]]:
    # The pattern has one group, so that every second part is a symbol.
    for number, part in enumerate(pattern.split(text)):
        if number % 2:
            yield from _WITH_INDEX.get(part, ((part, "italic"),))
        elif part:
            yield part, "plain"
