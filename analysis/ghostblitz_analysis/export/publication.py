"""What a journal or a repository asks of a data set and no log can know: `publication.toml`.

The file stands beside the data set's logs. All of it is optional; `ghostblitz export --check` says
what a reviewer would miss.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ghostblitz_task.settings_files import Settings, load_settings

__all__ = ["PUBLICATION_FILE", "Author", "Change", "Publication", "load_publication"]

PUBLICATION_FILE = "publication.toml"

_Line = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\r\n\x00-\x1f]+$")]
_Url = Annotated[str, Field(max_length=500, pattern=r"^https?://[^\s<>\"]+$")]


class Author(Settings):
    """A person who made the data set.

    Attributes
    ----------
    given, family : str
        Names.
    orcid : str or None
        Four groups of four, such as ``0000-0002-1825-0097``.
    affiliation : str or None
    """

    given: _Line
    family: _Line
    orcid: Annotated[str, Field(pattern=r"^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$")] | None = None
    affiliation: _Line | None = None


class Change(Settings):
    """One version of the data set in its list of changes."""

    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    date: date
    changes: tuple[_Line, ...] = Field(min_length=1)


class Publication(Settings):
    """All that `publication.toml` can say.

    Attributes
    ----------
    title, description : str or None
        Of the data set.
    authors : tuple of Author
    licence : str or None
        Of the data, as an SPDX identifier such as ``CC0-1.0`` or ``CC-BY-4.0``.
    keywords, funding, references : tuple of str
        Free lines; references are what the data set's users should read or cite.
    ethics_approval : str or None
        Board and number.
    acknowledgements : str or None
    preregistration, materials, code, article : str or None
        Addresses of the preregistration, the materials and the code if they stand elsewhere, and
        of the article.
    no_preregistration : bool
        Says that there was none, which TOP asks to state.
    doi : str or None
        Of the data set itself, without ``https://doi.org/``.
    changes : tuple of Change
        Versions, oldest first; the last one is the data set's.
    """

    title: _Line | None = None
    description: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    authors: tuple[Author, ...] = ()
    licence: Annotated[str, Field(pattern=r"^[A-Za-z0-9.+-]{1,64}$")] | None = None
    keywords: tuple[_Line, ...] = ()
    funding: tuple[_Line, ...] = ()
    references: tuple[_Line, ...] = ()
    ethics_approval: _Line | None = None
    acknowledgements: _Line | None = None
    preregistration: _Url | None = None
    no_preregistration: bool = False
    materials: _Url | None = None
    code: _Url | None = None
    article: _Url | None = None
    doi: Annotated[str, Field(pattern=r"^10\.\d{4,9}/\S+$")] | None = None
    changes: tuple[Change, ...] = ()

    @property
    def version(self) -> str:
        """The data set's version: that of the last change, or 1.0.0."""
        return self.changes[-1].version if self.changes else "1.0.0"


def load_publication(folder: Path) -> Publication:
    """Read the `publication.toml` of a data set; without one, all is left open.

    Raises
    ------
    ConfigError
        If it is not valid, naming every entry that is wrong.
    """
    file = folder / PUBLICATION_FILE
    return load_settings(file, Publication) if file.is_file() else Publication()
