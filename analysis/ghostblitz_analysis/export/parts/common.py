"""What every export holds, whatever its format: the data set itself and all that explains it."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.export.folders import copy_file, write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.citation_file import authors_in_words, citation_file
from ghostblitz_analysis.export.parts.codebook_pages import write_codebook_pages
from ghostblitz_analysis.export.parts.exclusion_table import Exclusions, exclusions_of
from ghostblitz_analysis.export.parts.licences import licence_text
from ghostblitz_analysis.export.parts.log_headers import log_headers
from ghostblitz_analysis.export.parts.participant_table import (
    PARTICIPANT_COLUMNS,
    participant_table,
)
from ghostblitz_analysis.export.parts.provenance_record import languages_of, provenance_json
from ghostblitz_analysis.export.parts.readme import changes_text, readme_text
from ghostblitz_analysis.export.parts.repository_metadata import (
    OSF_FILE,
    ZENODO_FILE,
    osf_json,
    zenodo_json,
)
from ghostblitz_analysis.export.parts.results import write_results
from ghostblitz_analysis.export.parts.stimuli import write_stimuli
from ghostblitz_analysis.export.source import ExportSource, ExportTable

__all__ = ["write_common", "write_documents"]


def write_common(source: ExportSource, folder: Path, layout: Layout) -> None:
    """Write all parts that do not depend on the format into an export's folder.

    Parameters
    ----------
    source : ExportSource
        What is exported.
    folder : Path
        New; nothing in it is written over.
    layout : Layout
        Where the parts stand.

    Raises
    ------
    DatasetError, LogError, ConfigError
        If the data set changed since it was loaded, or a part cannot be made.
    """
    for name, file in source.files.items():
        copy_file(file, folder, f"{layout.source}/{name}")
    write_documents(source, folder, layout)
    write_stimuli(source, folder, layout.stimuli)
    write_results(source, folder, layout.results)


def write_documents(source: ExportSource, folder: Path, layout: Layout) -> None:
    """Write what takes no analysis: README, licence, citation, codebook, exclusions, provenance."""
    languages = languages_of(log_headers(source))
    holders = authors_in_words(source)
    write_text(folder, "README.md", readme_text(source, layout, languages=languages))
    write_text(folder, layout.changes, changes_text(source, layout))
    licence = licence_text(source.publication.licence, title=source.title, holders=holders)
    write_text(folder, "LICENSE", licence)
    write_text(folder, "CITATION.cff", citation_file(source))
    write_text(folder, ZENODO_FILE, zenodo_json(source))
    write_text(folder, f"{layout.documents}/{OSF_FILE}", osf_json(source))
    write_text(folder, f"{layout.documents}/provenance.json", provenance_json(source))
    exclusions = exclusions_of(source)
    _write_exclusions(exclusions, folder, layout.documents)
    people = ExportTable("participants", participant_table(source), PARTICIPANT_COLUMNS)
    _write_csv(people.frame, folder, f"{layout.documents}/participants.csv")
    tables = (source.main, *source.others, people, exclusions.rows)
    write_codebook_pages(source, tables, folder, layout.documents)


def _write_exclusions(exclusions: Exclusions, folder: Path, name: str) -> None:
    _write_csv(exclusions.rows.frame, folder, f"{name}/exclusions.csv")
    _write_csv(exclusions.steps, folder, f"{name}/exclusion_steps.csv")
    if exclusions.participants is not None:
        _write_csv(exclusions.participants, folder, f"{name}/participants_left_out.csv")
    if exclusions.import_flow is not None:
        _write_csv(exclusions.import_flow, folder, f"{name}/import_flow.csv")


def _write_csv(table: pd.DataFrame, folder: Path, name: str) -> None:
    text = io.StringIO()
    flags = [column for column in table.columns if str(table[column].dtype) == "boolean"]
    words = {True: "true", False: "false"}
    told = table.assign(**{c: table[c].map(words, na_action="ignore") for c in flags})
    told.to_csv(text, index=False, lineterminator="\n")
    write_text(folder, name, text.getvalue())
