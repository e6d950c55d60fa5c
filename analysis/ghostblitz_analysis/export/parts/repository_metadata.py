"""What Zenodo and OSF ask about a deposit, in the shape in which their interfaces take it.

Sources: https://developers.zenodo.org/#representation (deposit metadata), which is also what a
``.zenodo.json`` holds; https://developer.osf.io/#operation/nodes_create (attributes of a node).
"""

from __future__ import annotations

import html
import json
from typing import Any

from ghostblitz_analysis.export.parts.citation_file import authors_in_words
from ghostblitz_analysis.export.parts.licences import licence_of
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.wording import source_note

__all__ = ["OSF_FILE", "ZENODO_FILE", "osf_json", "zenodo_json"]

ZENODO_FILE = ".zenodo.json"
OSF_FILE = "osf.json"


def zenodo_json(source: ExportSource) -> str:
    """Return the deposit metadata for Zenodo; what was not stated is left out, so that it asks."""
    publication = source.publication
    record: dict[str, Any] = {
        "upload_type": "dataset",
        "title": source.title,
        "description": _description_html(source),
        "creators": [
            {
                "name": f"{author.family}, {author.given}",
                "affiliation": author.affiliation,
                "orcid": author.orcid,
            }
            for author in publication.authors
        ]
        or [{"name": authors_in_words(source)}],
        "access_right": "open",
        "license": publication.licence,
        "version": publication.version,
        "doi": publication.doi,
        "publication_date": publication.changes[-1].date.isoformat()
        if publication.changes
        else None,
        "keywords": list(publication.keywords),
        "notes": _notes(source),
        "related_identifiers": _related(source),
        "references": list(publication.references),
    }
    return json.dumps(_stated(record), indent=2, ensure_ascii=False) + "\n"


def osf_json(source: ExportSource) -> str:
    """Return the node for OSF, as its interface takes it; OSF reads no file of this kind itself."""
    publication = source.publication
    attributes: dict[str, Any] = {
        "title": source.title,
        "category": "data",
        "description": _description(source),
        "public": False,
        "tags": list(publication.keywords),
    }
    if publication.licence is not None:
        attributes["node_license"] = _stated(
            {
                "copyright_holders": [f"{a.given} {a.family}" for a in publication.authors],
                "year": str(publication.changes[-1].date.year) if publication.changes else None,
            }
        )
    record = {
        "data": {"type": "nodes", "attributes": attributes},
        # OSF wants the identifier of a licence of its own, which is chosen by name on its page.
        "meta": _stated(
            {
                "license": publication.licence and licence_of(publication.licence).name,
                "contributors": [_stated(a.model_dump(mode="json")) for a in publication.authors],
                "version": publication.version,
            }
        ),
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _stated(record: Any) -> Any:
    """Leave out what is empty, at every depth."""
    if isinstance(record, dict):
        return {k: _stated(v) for k, v in record.items() if v not in (None, [], "", {})}
    return [_stated(value) for value in record] if isinstance(record, list) else record


def _description(source: ExportSource) -> str:
    note = source_note(source.sources)
    return "\n\n".join(
        part
        for part in (
            f"{note[0].upper()}{note[1:]}." if note else "",
            (source.publication.description or "").strip(),
            f"Data of the study {source.study_id}, exported by ghostblitz.",
        )
        if part
    )


def _description_html(source: ExportSource) -> str:
    paragraphs = _description(source).split("\n\n")
    return "".join(f"<p>{html.escape(text, quote=False)}</p>" for text in paragraphs)


def _notes(source: ExportSource) -> str:
    publication = source.publication
    parts = [
        *(f"Funding: {text}" for text in publication.funding),
        publication.ethics_approval and f"Ethics: {publication.ethics_approval}",
        publication.acknowledgements,
        "No preregistration." if publication.no_preregistration else None,
        "Not affiliated with the publishers of the card games whose rules the tasks follow.",
    ]
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


def _related(source: ExportSource) -> list[dict[str, str]]:
    publication = source.publication
    links = (
        ("isSupplementTo", publication.article),
        ("isDocumentedBy", publication.preregistration),
        ("isDocumentedBy", publication.materials),
        ("isCompiledBy", publication.code),
    )
    return [
        {"relation": relation, "identifier": url, "scheme": "url"}
        for relation, url in links
        if url is not None
    ]
