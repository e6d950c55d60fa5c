"""CITATION.cff of a data set, in the Citation File Format 1.2.0.

Source: https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
"""

from __future__ import annotations

import re

from ghostblitz_analysis.export.parts.licences import known_licences, licence_of
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.wording import source_note

__all__ = ["authors_in_words", "citation_file", "citation_text"]

#: What the format takes for a DOI, which is less than there are.
_CFF_DOI = re.compile(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+")


def authors_in_words(source: ExportSource) -> str:
    """Name the authors, family name first; without any, say whose data they are."""
    named = [f"{author.family}, {author.given}" for author in source.publication.authors]
    return "; ".join(named) or f"The authors of {source.title}"


def citation_text(source: ExportSource) -> str:
    """Write how to cite the data set, for people."""
    publication = source.publication
    year = f" ({publication.changes[-1].date.year})" if publication.changes else ""
    doi = f" https://doi.org/{publication.doi}" if publication.doi else ""
    note = source_note(source.sources)
    kind = "Data set" + (f": {note}" if note else "")
    return (
        f"{authors_in_words(source)}{year}. {source.title} "
        f"(version {publication.version}) [{kind}].{doi}"
    )


def citation_file(source: ExportSource) -> str:
    """Write the data set's CITATION.cff.

    Returns
    -------
    str
        YAML. Without stated authors, the only one is an entity, since the format asks for one;
        what was not stated is left out.
    """
    publication = source.publication
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them as below.",
        "type: dataset",
        f"title: {_quoted(source.title)}",
    ]
    if abstract := _abstract(source):
        lines.append(f"abstract: {_quoted(abstract)}")
    lines += [f"version: {_quoted(publication.version)}"]
    if publication.changes:
        lines.append(f'date-released: "{publication.changes[-1].date.isoformat()}"')
    lines += ["authors:", *_author_lines(source)]
    lines += _licence_lines(publication.licence)
    lines += _doi_lines(publication.doi)
    if publication.keywords:
        keywords = dict.fromkeys(publication.keywords)
        lines += ["keywords:", *(f"  - {_quoted(word)}" for word in keywords)]
    return "\n".join(lines) + "\n"


def _abstract(source: ExportSource) -> str:
    note = source_note(source.sources)
    parts = [f"{note[0].upper()}{note[1:]}." if note else "", source.publication.description or ""]
    return " ".join(part.strip() for part in parts if part)


def _author_lines(source: ExportSource) -> list[str]:
    if not source.publication.authors:
        return [f"  - name: {_quoted(authors_in_words(source))}"]
    lines = []
    for author in source.publication.authors:
        lines.append(f"  - family-names: {_quoted(author.family)}")
        lines.append(f"    given-names: {_quoted(author.given)}")
        if author.affiliation:
            lines.append(f"    affiliation: {_quoted(author.affiliation)}")
        if author.orcid:
            lines.append(f'    orcid: "https://orcid.org/{author.orcid}"')
    return lines


def _licence_lines(spdx: str | None) -> list[str]:
    """Name the licence; the format refuses an identifier that SPDX does not have."""
    if spdx is None:
        return []
    if spdx in known_licences():
        return [f"license: {spdx}"]
    return [f"license-url: {_quoted(licence_of(spdx).url)}"]


def _doi_lines(doi: str | None) -> list[str]:
    if doi is None:
        return []
    if _CFF_DOI.fullmatch(doi):
        return [f"doi: {_quoted(doi)}"]
    return ["identifiers:", "  - type: other", f"    value: {_quoted(f'doi:{doi}')}"]


def _quoted(text: str) -> str:
    """Write a text as a YAML scalar in double quotes (YAML 1.2, section 7.3.1)."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
