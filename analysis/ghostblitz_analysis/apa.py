"""Statistics in the style of the APA's Publication Manual (7th edition, 2020, chapter 6).

Numbers that cannot exceed 1 have no leading zero, p has three decimals or is below .001, and a
minus is a minus sign. Texts are plain, so that they can stand in a table, a file or a terminal;
`as_html` puts symbols of statistics into italics. Numbers are rounded by `wording.number`.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from ghostblitz_analysis.wording import (
    MISSING,
    number,
    p_value,
    percent,
    proportion,
    signed,
    signed_interval,
    with_minus,
)

__all__ = [
    "as_html",
    "bayes_factor_apa",
    "df_text",
    "effect_apa",
    "f_apa",
    "interval_apa",
    "p_apa",
    "points_apa",
    "proportion_interval",
    "r_apa",
    "t_apa",
    "z_apa",
]


def p_apa(value: object) -> str:
    """Write a p value: ``p = .017`` or ``p < .001``; without one, ``p not known``.

    Examples
    --------
    >>> p_apa(0.0171), p_apa(0.0004), p_apa(None)
    ('p = .017', 'p < .001', 'p not known')
    """
    text = p_value(value)
    if text == MISSING:
        return "p not known"
    if text == "1.000":
        return "p > .999"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def df_text(value: object) -> str:
    """Write degrees of freedom: whole as they are, others (as of Satterthwaite) with two decimals.

    Examples
    --------
    >>> df_text(39), df_text(9.533), df_text(5668.06), df_text(9.0)
    ('39', '9.53', '5668.06', '9')
    """
    text = number(value, 2)
    return text.removesuffix(".00")


def t_apa(t: object, df: object) -> str:
    """Write a t statistic; without one, ``no t test``.

    Examples
    --------
    >>> t_apa(2.5, 39), t_apa(-0.8478, 9)
    ('t(39) = 2.50', 't(9) = \N{MINUS SIGN}0.85')
    """
    value = signed(t, 2)
    return "no t test" if value == MISSING else f"t({df_text(df)}) = {value}"


def z_apa(z: object) -> str:
    """Write a z statistic; without one, ``no z test``."""
    value = signed(z, 2)
    return "no z test" if value == MISSING else f"z = {value}"


def f_apa(f: object, df1: object, df2: object) -> str:
    """Write an F statistic with its degrees of freedom; without one, ``no F test``.

    Examples
    --------
    >>> f_apa(104.552, 1, 9), f_apa(3.2, 1.4213, 12.79)
    ('F(1, 9) = 104.55', 'F(1.42, 12.79) = 3.20')
    """
    value = number(f, 2)
    return "no F test" if value == MISSING else f"F({df_text(df1)}, {df_text(df2)}) = {value}"


def interval_apa(low: object, high: object, digits: int, *, confidence: float) -> str:
    """Write an interval; without one, ``no interval``.

    Examples
    --------
    >>> interval_apa(0.079, 0.712, 2, confidence=0.95)
    '95% CI [0.08, 0.71]'
    """
    bounds = signed_interval(low, high, digits)
    return "no interval" if bounds == MISSING else f"{confidence:.0%} CI {bounds}"


def proportion_interval(low: object, high: object, digits: int) -> str:
    """Write bounds that cannot exceed 1 in size, without leading zeros; a dash without them.

    Examples
    --------
    >>> proportion_interval(-0.02, 0.953, 2)
    '[\N{MINUS SIGN}.02, .95]'
    """
    bounds = [_bare(bound, digits) for bound in (low, high)]
    return MISSING if MISSING in bounds else f"[{bounds[0]}, {bounds[1]}]"


def r_apa(value: object, digits: int = 2) -> str:
    """Write a correlation, reliability or proportion without its leading zero.

    Examples
    --------
    >>> r_apa(0.9646), r_apa(-0.171), r_apa(1.0), r_apa(None)
    ('.96', '\N{MINUS SIGN}.17', '1.00', '\N{EN DASH}')
    """
    return _bare(value, digits)


def effect_apa(symbol: str, value: object, low: object, high: object, *, confidence: float) -> str:
    """Write an effect size with its interval; without one, that there is none.

    Examples
    --------
    >>> effect_apa("dz", 0.4, 0.08, 0.71, confidence=0.95)
    'dz = 0.40, 95% CI [0.08, 0.71]'
    """
    text = signed(value, 2)
    if text == MISSING:
        return f"no {symbol}"
    bounds = signed_interval(low, high, 2)
    interval = "" if bounds == MISSING else f", {confidence:.0%} CI {bounds}"
    return f"{symbol} = {text}{interval}"


def points_apa(difference: object, digits: int = 1) -> str:
    """Write a difference of proportions in percentage points, without the unit."""
    return with_minus(percent(difference, digits))


def bayes_factor_apa(text: str | None) -> str:
    """Return the first of the two Bayes factors in words, or ``no Bayes factor``.

    Parameters
    ----------
    text : str or None
        From `ghostblitz_analysis.inference.bayes_factor_text`.

    Examples
    --------
    >>> bayes_factor_apa("BF10 = 365, BF01 = 0.00274"), bayes_factor_apa(None)
    ('BF10 = 365', 'no Bayes factor')
    """
    return with_minus(text.split(", ")[0]) if text else "no Bayes factor"


def _bare(value: object, digits: int) -> str:
    """Write a number without the zero before its point, also where it is negative."""
    text = proportion(value, digits)
    return with_minus(f"-{text[2:]}" if text.startswith("-0") else text)


# --- symbols -------------------------------------------------------------------------------

_SYMBOLS = (
    (re.compile(r"\b([tF])\((?=\d)"), r"<i>\1</i>("),
    (re.compile(r"\b([tFpzrbn])(?= (?:=|&lt;|&gt;) )"), r"<i>\1</i>"),
    (re.compile(r"\bd(z|av)(?= = )"), r"<i>d</i><sub>\1</sub>"),
    (re.compile(r"\b(SE|SD|M)(?= = )"), r"<i>\1</i>"),
    (re.compile(r"\bBF(10|01)\b"), r"BF<sub>\1</sub>"),
    (re.compile(r"ηG²"), "η<sub>G</sub><sup>2</sup>"),
    (re.compile(r"\b10\^(\N{MINUS SIGN}?\d+)"), r"10<sup>\1</sup>"),
)


#: A statistic and its value stay on one line.
_RELATION = re.compile(r" (=|&lt;|&gt;) ")


def as_html(text: str) -> Markup:
    """Escape a text and set the symbols of statistics in it as the APA has them.

    Examples
    --------
    >>> print(as_html("<b> p = .017").replace("\N{NO-BREAK SPACE}", " "))
    &lt;b&gt; <i>p</i> = .017
    """
    html = str(escape(text))
    for pattern, replacement in _SYMBOLS:
        html = pattern.sub(replacement, html)
    return Markup(_RELATION.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", html))
