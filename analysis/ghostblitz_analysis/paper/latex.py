r"""Tables as LaTeX: rules of `booktabs`, no packages for numbers, ASCII only.

Letters with accents and symbols are written as commands, so that a file reads alike under
pdfLaTeX, XeLaTeX and LuaLaTeX, whatever input encoding the manuscript states.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from ghostblitz_analysis.paper.manuscript_table import (
    MAX_WHOLE_ROWS,
    ManuscriptTable,
    header_lines,
    styled_cell,
)
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.symbols import Style, styled_header, styled_text

__all__ = ["latex_document", "latex_escape", "latex_table"]

#: A column of words with longer cells is broken into lines.
_MAX_WORDS = 56
_WORDS_CM = 7.5

_PACKAGES = (
    "% Needs the packages array, booktabs, graphicx, longtable, and fontenc with the option T1."
)
_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MIDDLE DOT}": r"\textperiodcentered{}",
    "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$",
    "\N{ALMOST EQUAL TO}": r"$\approx$",
    "\N{INFINITY}": r"$\infty$",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{SUPERSCRIPT TWO}": r"\textsuperscript{2}",
    "\N{SUPERSCRIPT THREE}": r"\textsuperscript{3}",
    "\N{DEGREE SIGN}": r"\textdegree{}",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{GREEK SMALL LETTER MU}": r"$\mu$",
    "\N{GREEK SMALL LETTER SIGMA}": r"$\sigma$",
    "\N{GREEK SMALL LETTER TAU}": r"$\tau$",
    "\N{GREEK SMALL LETTER ETA}": r"$\eta$",
    "\N{GREEK SMALL LETTER CHI}": r"$\chi$",
    "\N{GREEK SMALL LETTER ALPHA}": r"$\alpha$",
    "\N{GREEK SMALL LETTER BETA}": r"$\beta$",
    "\N{GREEK SMALL LETTER EPSILON}": r"$\epsilon$",
    "\N{LATIN SMALL LETTER SHARP S}": r"\ss{}",
    "\N{LATIN SMALL LETTER AE}": r"\ae{}",
    "\N{LATIN CAPITAL LETTER AE}": r"\AE{}",
    "\N{LATIN SMALL LIGATURE OE}": r"\oe{}",
    "\N{LATIN CAPITAL LIGATURE OE}": r"\OE{}",
    "\N{LATIN SMALL LETTER O WITH STROKE}": r"\o{}",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": r"\O{}",
    "\N{LATIN SMALL LETTER L WITH STROKE}": r"\l{}",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": r"\`",
    "\N{COMBINING ACUTE ACCENT}": r"\'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": r"\^",
    "\N{COMBINING TILDE}": r"\~",
    "\N{COMBINING MACRON}": r"\=",
    "\N{COMBINING BREVE}": r"\u",
    "\N{COMBINING DOT ABOVE}": r"\.",
    "\N{COMBINING DIAERESIS}": r"\"",
    "\N{COMBINING RING ABOVE}": r"\r",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": r"\H",
    "\N{COMBINING CARON}": r"\v",
    "\N{COMBINING CEDILLA}": r"\c",
    "\N{COMBINING OGONEK}": r"\k",
}
#: Fonts join two of these to one other character.
_JOINED = "-',"
_COMMANDS: dict[Style, str] = {
    "plain": "{}",
    "italic": r"\textit{{{}}}",
    "subscript": r"\textsubscript{{{}}}",
    "superscript": r"\textsuperscript{{{}}}",
}


def latex_escape(text: str) -> str:
    r"""Write a text so that LaTeX prints it as it stands.

    Parameters
    ----------
    text : str
        Anything. Line breaks and other control characters become spaces.

    Returns
    -------
    str
        Printable ASCII. A character that LaTeX has no command for stands as its code point, as in
        ``[U+4E2D]``: it would stop pdfLaTeX, and leaving it out would make two ids alike.

    Examples
    --------
    >>> print(latex_escape("50% of p_1"))
    50\% of p\_1
    >>> print(latex_escape("Łódź"), latex_escape("中"), latex_escape("a--b"))
    \L{}\'{o}d\'{z} [U+4E2D] a-{}-b
    """
    return "".join(
        _character(character) + ("{}" if breaks else "")
        for character, breaks in zip(text, _ligatures(text), strict=True)
    )


def _ligatures(text: str) -> list[bool]:
    """Say after which characters the font would join the next one to it, as hyphens to a dash."""
    return [a in _JOINED and a == b for a, b in zip(text, f"{text[1:]} ", strict=False)]


def _character(character: str) -> str:
    if character in _CHARACTERS:
        return _CHARACTERS[character]
    if character.isascii():
        return character if character.isprintable() else " "
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return f"{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    if character.isspace():
        return " "
    return f"[U+{ord(character):04X}]"


def latex_table(paper: ManuscriptTable) -> str:
    r"""Return one table, to be taken into a manuscript with ``\input``.

    A table of up to 18 rows floats, and is shrunk where it is wider than the text; a longer one
    is a ``longtable``, which goes over pages and repeats its header. The label is ``tab:`` and
    the stem.
    """
    table = paper.table
    is_long = len(table.rows) > MAX_WHOLE_ROWS
    lines = [_PACKAGES, *(_long(paper) if is_long else _floating(paper))]
    return "\n".join(lines) + "\n"


def latex_document(tables: Sequence[ManuscriptTable]) -> str:
    """Return a document that takes in every table, from the folder `latex` beside it.

    Each begins a page, as APA style has it, so that all stand in their order.
    """
    parts = [r"\input{latex/" + paper.stem + "}" for paper in tables]
    if not parts:
        parts = ["There are no tables."]
    return _DOCUMENT + "\n\\clearpage\n".join(parts) + "\n\n\\end{document}\n"


_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[a4paper, landscape, margin=20mm]{geometry}
\usepackage{array, booktabs, graphicx, longtable}
\usepackage{caption}
% Number in bold, title below it in italics, as in APA style.
\captionsetup{labelfont=bf, textfont=it, labelsep=newline, singlelinecheck=false,
  justification=raggedright}
\begin{document}

"""


def _floating(paper: ManuscriptTable) -> Iterator[str]:
    table = paper.table
    yield r"\begin{table}[htbp]"
    yield r"\centering"
    yield _caption(paper)
    yield r"\small"
    yield r"\setlength{\tabcolsep}{4pt}"
    yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield rf"\begin{{tabular}}{{{_columns(table)}}}"
    yield from _header(table)
    yield from _body(table)
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    yield from _note(paper)
    yield r"\end{table}"


def _long(paper: ManuscriptTable) -> Iterator[str]:
    table = paper.table
    yield r"\begingroup"
    yield r"\footnotesize"
    yield r"\setlength{\tabcolsep}{4pt}"
    yield rf"\begin{{longtable}}{{{_columns(table)}}}"
    yield _caption(paper) + r"\\"
    yield from _header(table)
    yield r"\endfirsthead"
    yield from _header(table)
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endfoot"
    yield from _body(table)
    yield r"\end{longtable}"
    yield from _note(paper)
    yield r"\endgroup"


def _caption(paper: ManuscriptTable) -> str:
    return rf"\caption{{{_styled(styled_text(paper.title))}}}\label{{tab:{paper.stem}}}"


def _note(paper: ManuscriptTable) -> Iterator[str]:
    if paper.note:
        text = _styled(styled_text(paper.note))
        yield r"\par\smallskip"
        yield r"\noindent\begin{minipage}{\linewidth}\footnotesize\raggedright"
        yield rf"\textit{{Note.}} {text}"
        yield r"\end{minipage}"


def _columns(table: ReportTable) -> str:
    kinds = []
    for column in range(len(table.header)):
        longest = max((len(row[column]) for row in table.rows), default=0)
        if column >= table.n_left:
            kinds.append("r")
        elif longest <= _MAX_WORDS:
            kinds.append("l")
        else:
            kinds.append(rf">{{\raggedright\arraybackslash}}p{{{_WORDS_CM}cm}}")
    return "@{}" + "".join(kinds) + "@{}"


def _header(table: ReportTable) -> Iterator[str]:
    yield r"\toprule"
    if table.groups:
        spans, rules, first = [], [], 1
        for title, n_columns in table.groups:
            spans.append(rf"\multicolumn{{{n_columns}}}{{c}}{{{latex_escape(title)}}}")
            if title:
                rules.append(rf"\cmidrule(lr){{{first}-{first + n_columns - 1}}}")
            first += n_columns
        yield " & ".join(spans) + r" \\"
        yield "".join(rules)
    titles = []
    for column in range(len(table.header)):
        side = "l" if column < table.n_left else "r"
        lines = [_styled(styled_header(line)) for line in header_lines(table, column)]
        stack = r"\\".join(_guarded(line) for line in lines)
        # The strut keeps the first line off the rule above.
        stacked = rf"\shortstack[{side}]{{\rule{{0pt}}{{2.4ex}}{stack}}}"
        titles.append(stack if len(lines) == 1 else stacked)
    yield " & ".join(titles) + r" \\"
    yield r"\midrule"


def _body(table: ReportTable) -> Iterator[str]:
    for row in range(len(table.rows)):
        cells = (_styled(styled_cell(table, row, column)) for column in range(len(table.header)))
        yield _guarded(" & ".join(cells)) + r" \\"


def _guarded(text: str) -> str:
    r"""Keep a bracket or star that begins a line from being taken as an option of ``\\``."""
    return "{}" + text if text.lstrip().startswith(("[", "*")) else text


def _styled(pieces: Sequence[tuple[str, Style]]) -> str:
    return "".join(_COMMANDS[style].format(latex_escape(text)) for text, style in pieces)
