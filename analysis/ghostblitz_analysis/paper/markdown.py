"""Tables as Markdown of the kind that Pandoc and Quarto read."""

from __future__ import annotations

import re

from ghostblitz_analysis.paper.manuscript_table import ManuscriptTable

__all__ = ["markdown_escape", "markdown_table"]

#: Pandoc lets every ASCII punctuation mark be escaped; letters, digits and these are plain.
_SPECIAL = re.compile(r"([^\w\s.,;:%()=+/\u0080-\U0010FFFF]|_)")
_SPACES = re.compile(r"\s+")


def markdown_escape(text: str) -> str:
    r"""Write a text so that it stands in a line of Markdown as it is.

    Examples
    --------
    >>> print(markdown_escape("p_1 | *x*"))
    p\_1 \| \*x\*
    """
    return _SPECIAL.sub(r"\\\1", _SPACES.sub(" ", text))


def markdown_table(paper: ManuscriptTable) -> str:
    """Return a table with its title above and its note below it.

    Titles above groups of columns, which Markdown has not, stand before those of the columns.
    """
    table = paper.table
    header = list(table.header)
    if table.groups:
        above = [title for title, n_columns in table.groups for _ in range(n_columns)]
        header = [
            f"{group}: {title}" if group else title
            for group, title in zip(above, header, strict=True)
        ]
    sides = [":---" if column < table.n_left else "---:" for column in range(len(header))]
    lines = [_line(header), f"| {' | '.join(sides)} |", *(_line(row) for row in table.rows)]
    note = f"\n\n*Note.* {markdown_escape(paper.note)}" if paper.note else ""
    return f"**{markdown_escape(paper.title)}**\n\n" + "\n".join(lines) + note + "\n"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(markdown_escape(cell) for cell in cells)} |"
