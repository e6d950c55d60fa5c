"""The templates that report pages are made from."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["page_templates"]


def page_templates() -> Environment:
    """Return the templates; every text of the data is escaped, a missing value is an error."""
    return Environment(
        loader=PackageLoader("ghostblitz_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
