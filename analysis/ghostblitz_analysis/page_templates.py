"""The templates that report pages are made from."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from ghostblitz_analysis.symbols import pieces_html, styled_header, styled_number, styled_text

__all__ = ["page_templates"]


def page_templates() -> Environment:
    """Return the templates; every text of the data is escaped, a missing value is an error.

    Their filters `title_html`, `number_html` and `text_html` set statistics in column titles,
    powers in numbers and indices in running text as the tables of a manuscript do.
    """
    made = Environment(
        loader=PackageLoader("ghostblitz_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["title_html"] = lambda text: pieces_html(styled_header(text))
    made.filters["number_html"] = lambda text: pieces_html(styled_number(text))
    made.filters["text_html"] = lambda text: pieces_html(styled_text(text))
    return made
