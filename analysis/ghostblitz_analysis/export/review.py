"""What a reviewer, an editor or a repository would miss in a data set that is to be shared.

The practices are those of the TOP Guidelines of 2025
(https://www.cos.io/initiatives/top-guidelines) at level 2, "Shared and Cited": registration, plan
of analysis, materials, analysis code and data are public and cited. Whether the article cites
them, this program cannot see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ghostblitz_analysis.export.parts.licences import known_licences
from ghostblitz_analysis.export.parts.provenance_record import settings_stated
from ghostblitz_analysis.export.publication import PUBLICATION_FILE
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.settings import ANALYSIS_FILE
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_analysis.wording import count_of, source_note

__all__ = ["ReviewItem", "review_export", "review_text"]

Status = Literal["have", "missing", "look"]

_MARKS = {"have": "have   ", "missing": "MISSING", "look": "look at"}


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One thing that is looked for.

    Attributes
    ----------
    status : str
        ``have``; ``missing``, which a reviewer would ask for; ``look``, which nobody but the
        authors can judge.
    topic : str
        What it is about; those of TOP begin so.
    message : str
        What was found.
    todo : str or None
        What to write, and where; null where there is nothing to do.
    """

    status: Status
    topic: str
    message: str
    todo: str | None = None


def review_export(source: ExportSource) -> tuple[ReviewItem, ...]:
    """Look a data set over before it is shared.

    Parameters
    ----------
    source : ExportSource
        What would be exported.

    Returns
    -------
    tuple of ReviewItem
        What TOP asks for, then what describes the data set, then what the data themselves say.

    Raises
    ------
    DatasetError
        If a file of the data set cannot be read any more.
    """
    return (*_about_top(source), *_about_description(source), *_about_data(source))


def review_text(items: tuple[ReviewItem, ...]) -> str:
    """Write the list for the screen, and at the end how much is missing."""
    lines = []
    for item in items:
        lines.append(f"{_MARKS[item.status]}  {item.topic}: {item.message}")
        if item.todo:
            lines.append(f"         -> {item.todo}")
    n_missing = sum(item.status == "missing" for item in items)
    what = f"{n_missing} missing" if n_missing else "nothing is missing"
    return "\n".join([*lines, "", f"{count_of(len(items), 'point')}, {what}."])


def _entry(name: str, example: str) -> str:
    return f"write {name} = {example} into {PUBLICATION_FILE}, beside the logs"


# --- TOP, level 2 -----------------------------------------------------------------------------


def _about_top(source: ExportSource) -> Iterator[ReviewItem]:
    yield _registration(source)
    yield _analysis_plan(source)
    yield _materials(source)
    yield _code(source)
    yield _data(source)


def _registration(source: ExportSource) -> ReviewItem:
    topic, publication = "TOP, study registration", source.publication
    if publication.preregistration:
        return ReviewItem("have", topic, f"registered at {publication.preregistration}")
    if publication.no_preregistration:
        return ReviewItem(
            "look",
            topic,
            "stated that there was none, which is level 1 (disclosed); level 2 needs one",
        )
    return ReviewItem(
        "missing",
        topic,
        "nothing says whether the study was preregistered",
        _entry("preregistration", '"https://osf.io/..."') + ", or no_preregistration = true",
    )


def _analysis_plan(source: ExportSource) -> ReviewItem:
    topic = "TOP, analysis plan"
    if ANALYSIS_FILE not in source.files:
        return ReviewItem(
            "missing",
            topic,
            f"there is no {ANALYSIS_FILE}; the default settings are used",
            f"write how the data are analysed into {ANALYSIS_FILE}, best before they are collected",
        )
    provenance = settings_stated(source)
    if provenance.status == "yes":
        return ReviewItem("have", topic, provenance.reason)
    return ReviewItem(
        "look",
        topic,
        f"not known to be stated before the data: {provenance.reason}",
        "say in the article which analyses were planned and which were not",
    )


def _materials(source: ExportSource) -> ReviewItem:
    topic, url = "TOP, materials", source.publication.materials
    if source.runs:
        also = f"; also at {url}" if url else ""
        return ReviewItem(
            "have", topic, f"cards, texts and settings of the study are part of the export{also}"
        )
    if url:
        return ReviewItem("have", topic, f"at {url}; the cards are drawn in the export")
    return ReviewItem(
        "missing",
        topic,
        "the data were imported, so that their texts and settings are not in the export",
        _entry("materials", '"https://osf.io/..."'),
    )


def _code(source: ExportSource) -> ReviewItem:
    topic, url = "TOP, analysis code", source.publication.code
    if url:
        return ReviewItem("have", topic, f"at {url}")
    return ReviewItem(
        "missing",
        topic,
        "the export holds settings, results and versions, but nothing says where the code stands",
        _entry("code", '"https://..."')
        + ": the program's address, and that of scripts of your own",
    )


def _data(source: ExportSource) -> ReviewItem:
    topic, doi = "TOP, data", source.publication.doi
    if doi:
        return ReviewItem("have", topic, f"https://doi.org/{doi}; cite it in the article")
    return ReviewItem(
        "missing",
        topic,
        "the data set has no DOI, so that it cannot be cited",
        "reserve one at Zenodo or OSF, then " + _entry("doi", '"10.5281/zenodo..."'),
    )


# --- description ------------------------------------------------------------------------------


def _about_description(source: ExportSource) -> Iterator[ReviewItem]:
    publication = source.publication
    texts = (
        ("title", publication.title, '"..."'),
        ("description", publication.description, '"who did what, when and why"'),
        ("ethics_approval", publication.ethics_approval, '"Board of ..., number ..."'),
    )
    for name, text, example in texts:
        topic = name.replace("_", " ")
        if text:
            yield ReviewItem("have", topic, text if len(text) <= 80 else f"{text[:77]}...")
        elif name == "ethics_approval" and not {"human", "imported"} & set(source.sources):
            yield ReviewItem("have", topic, "none needed: nobody took part but a program")
        else:
            yield ReviewItem("missing", topic, "not stated", _entry(name, example))
    yield _authors(source)
    yield _licence(source)
    if not publication.keywords:
        yield ReviewItem("missing", "keywords", "none", _entry("keywords", '["reaction time"]'))
    if not publication.funding:
        yield ReviewItem(
            "look", "funding", "none is stated", _entry("funding", '["..."]') + ", if there was any"
        )


def _authors(source: ExportSource) -> ReviewItem:
    authors = source.publication.authors
    if not authors:
        todo = _entry("[[authors]]", "a table with given, family, orcid and affiliation")
        return ReviewItem("missing", "authors", "none are named", todo.replace(" = ", ", ", 1))
    without = [author.family for author in authors if author.orcid is None]
    if without:
        return ReviewItem(
            "look",
            "authors",
            f"{count_of(len(authors), 'author')}; without an ORCID: {', '.join(without)}",
            f"write orcid into [[authors]] of {PUBLICATION_FILE}",
        )
    return ReviewItem("have", "authors", f"{count_of(len(authors), 'author')}, each with an ORCID")


def _licence(source: ExportSource) -> ReviewItem:
    spdx = source.publication.licence
    if spdx is None:
        return ReviewItem(
            "missing",
            "licence",
            "none is stated, so that nobody may use the data",
            _entry("licence", '"CC0-1.0" or "CC-BY-4.0"'),
        )
    if spdx not in known_licences():
        return ReviewItem(
            "look",
            "licence",
            f"{spdx} is none that data often are under",
            f"see that https://spdx.org/licenses/{spdx}.html is the licence that is meant",
        )
    return ReviewItem("have", "licence", spdx)


# --- data -------------------------------------------------------------------------------------


def _about_data(source: ExportSource) -> Iterator[ReviewItem]:
    note = source_note(source.sources)
    if note:
        yield ReviewItem(
            "look",
            "who answered",
            f"{note}; every part of the export says so",
            "share them as what they are: an example, or a simulation",
        )
    else:
        yield ReviewItem("have", "who answered", " and ".join(source.sources))
    yield _self_test(source)
    if source.dataset is None:
        return
    findings = validate_dataset(source.dataset)
    told = [finding for finding in findings if finding.severity != "info"]
    for finding in told:
        status: Status = "missing" if finding.severity == "error" else "look"
        yield ReviewItem(
            status, f"data, {finding.code}", f"{finding.where}: {finding.message}", None
        )
    if not told:
        yield ReviewItem("have", "data", "validation finds no error and no warning")


def _self_test(source: ExportSource) -> ReviewItem:
    topic, part = "timing self-test", self_test_part(source.path, source.runs)
    if part.tests:
        words = ", ".join(f"{test.file} ({test.in_words})" for test in part.tests)
        return ReviewItem("have", topic, words)
    if not part.n_runs:
        return ReviewItem("have", topic, "none needed: no session was held at a real screen")
    return ReviewItem(
        "missing",
        topic,
        f"none stands with the data, of {count_of(part.n_runs, 'run')} at a real screen",
        "run `ghostblitz timing` on the machine of the study, and put its record into timing/",
    )
