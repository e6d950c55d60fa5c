"""Where the parts that every format has stand in an export."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Folders of an export, relative and with ``/``.

    Attributes
    ----------
    tables : str
        The tables in the format that was asked for.
    source : str
        The data set itself: raw logs and settings, which `load_dataset` reads as ever.
    stimuli : str
        Drawings of the cards, and the texts that were shown.
    results : str
        What `ghostblitz analyze` made of it.
    documents : str
        Codebook, provenance, exclusions.
    changes : str
        The file of changes.
    """

    tables: str = "data"
    source: str = "sourcedata"
    stimuli: str = "stimuli"
    results: str = "results"
    documents: str = "documentation"
    changes: str = "CHANGES.md"
