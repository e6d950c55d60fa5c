"""README and list of changes of an export."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import MANIFEST_FILE
from ghostblitz_analysis.export.parts.citation_file import authors_in_words, citation_text
from ghostblitz_analysis.export.parts.licences import licence_of
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.wording import count_of, source_note

__all__ = ["changes_text", "readme_text"]

_WIDTH = 98
_ANSWERED = {
    "human": "people at a screen",
    "imported": "people, as the data that were imported say",
    "robot": "a robot, not a person",
    "simulated": "simulated participants, not people",
}


def readme_text(source: ExportSource, layout: Layout, *, languages: Sequence[str]) -> str:
    """Write the README.md of an export.

    Parameters
    ----------
    source : ExportSource
        What is exported.
    layout : Layout
        Where its parts stand.
    languages : sequence of str
        In which sessions were held; none for imported data.
    """
    blocks = [
        f"# {_line(source.title)}",
        *_banner(source),
        *_what(source),
        "## How the data were collected",
        *_collected(source, languages),
        "## What is where",
        _places(source, layout),
        "## Check that nothing was changed",
        f"`{MANIFEST_FILE}` holds the SHA-256 sum of every other file. In this folder:",
        f"```\nsha256sum -c {MANIFEST_FILE}\n```",
        "or, which also finds files that were added: `ghostblitz verify .`",
        "## Read and analyse the data",
        _filled(
            f"The raw logs in `{layout.source}` are what the analysis reads; the tables of this "
            "format are made of them. With the program ghostblitz:"
        ),
        f"```\nghostblitz analyze {layout.source} --out again\n```",
        _filled(
            "Compare `again` with "
            f"`{layout.results}`: with the versions in `{layout.documents}/provenance.json` the "
            "tables are the same."
        ),
        _where_the_program_is(source, layout),
        "## Licence",
        _licence(source),
        "## Citation",
        _filled(_line(citation_text(source))),
        "`CITATION.cff` holds the same for programs.",
        *_more(source),
        "## Whose games these are",
        _filled(
            "Neither the data set nor the program ghostblitz is affiliated with, or endorsed by, "
            "the publishers of the card games whose rules the tasks follow. The drawings were made "
            "for the program and are under CC0 1.0."
        ),
    ]
    return "\n\n".join(blocks) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _line(text: str) -> str:
    """Keep a stated text from being read as a heading, a list or a tag of Markdown."""
    return text.replace("\\", "\\\\").replace("<", "\\<").replace("*", "\\*").replace("`", "\\`")


def _banner(source: ExportSource) -> list[str]:
    note = source_note(source.sources)
    return [f"**{note[0].upper()}{note[1:]}.**"] if note else []


def _what(source: ExportSource) -> list[str]:
    description = source.publication.description
    main = source.main
    key = "player_id" if main.name == "turns" else "participant_id"
    n_people = count_of(int(main.frame[key].nunique()), "participant")
    unit = main.name.removesuffix("s")
    tables = [count_of(len(main.frame), unit)]
    tables += [count_of(len(t.frame), t.name.removesuffix("s")) for t in source.others]
    answered = " and ".join(_ANSWERED.get(name, name) for name in source.sources)
    return [
        *([_line(description.strip())] if description else []),
        _filled(
            f"{n_people}, {' in '.join(tables)}; version {source.publication.version} of the data "
            f"set. Answered by: {answered}."
        ),
    ]


def _collected(source: ExportSource, languages: Sequence[str]) -> list[str]:
    if not source.runs:
        citation = source.dataset.citation if source.dataset else None
        cited = f" They come from: {_line(citation)}" if citation else ""
        return [
            _filled(
                "The data were collected with another program and imported; `dataset.json` says "
                f"from which file and what was left out.{cited}"
            )
        ]
    spoken = f" Language of the instructions: {', '.join(languages)}." if languages else ""
    return [
        _filled(
            f"With the program ghostblitz, study `{source.study_id}`, in "
            f"{count_of(len(source.runs), 'run')} of sessions. Each trial was written to the log "
            "before the next began; what is derived from its facts was computed again for this "
            f"export.{spoken} Settings, seeds and versions of each run are in `provenance.json`."
        )
    ]


def _places(source: ExportSource, layout: Layout) -> str:
    documents = layout.documents
    rows = [
        (f"`{layout.tables}/`", "the tables in this format"),
        (f"`{layout.source}/`", "the data set itself: raw logs or imported table, settings"),
        (f"`{documents}/codebook.*`", "what every column means, when it is missing, its levels"),
        (f"`{documents}/exclusions.csv`", "what the analysis leaves out, row by row"),
        (f"`{documents}/exclusion_steps.csv`", "the reasons, and how many rows each took"),
        (f"`{documents}/provenance.json`", "programs, versions, seeds, settings and their hashes"),
        (f"`{layout.stimuli}/`", "drawings of what was shown, and the texts that were read"),
        (f"`{layout.results}/`", "report, figures and tables of the analysis"),
        (f"`{layout.changes}`", "versions of the data set"),
    ]
    if any(name.startswith("timing/") for name in source.files):
        rows.insert(2, (f"`{layout.source}/timing/`", "self-tests of the timing of the machine"))
    return "\n".join(["| where | what |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def _where_the_program_is(source: ExportSource, layout: Layout) -> str:
    """Say where to get it, which only those who made the data set can."""
    code = source.publication.code
    told = f"give {_line(code)} as the address of the code" if code else "give no address of it"
    return _filled(
        f"Which version of ghostblitz it was, `{layout.documents}/provenance.json` says. Those who "
        f"made the data set {told}; a package of that name in an index need not be the program. "
        "The tables need no program of ours: what opens their format reads them."
    )


def _licence(source: ExportSource) -> str:
    spdx = source.publication.licence
    if spdx is None:
        return "No licence was stated, and none may be assumed; see `LICENSE`."
    licence = licence_of(spdx)
    return f"{licence.name} ({spdx}), {licence.url}; see `LICENSE`."


def _more(source: ExportSource) -> list[str]:
    publication = source.publication
    facts = [
        ("Authors", authors_in_words(source) if publication.authors else None),
        ("Ethics approval", publication.ethics_approval),
        ("Preregistration", _preregistration(source)),
        ("Materials", publication.materials),
        ("Code", publication.code),
        ("Article", publication.article),
        *(("Funding", text) for text in publication.funding),
        ("Acknowledgements", publication.acknowledgements),
        *(("Reference", text) for text in publication.references),
    ]
    lines = [f"- {name}: {_line(text)}" for name, text in facts if text]
    return ["## More", "\n".join(lines)] if lines else []


def _preregistration(source: ExportSource) -> str | None:
    publication = source.publication
    if publication.preregistration:
        return publication.preregistration
    return "there was none" if publication.no_preregistration else None


def changes_text(source: ExportSource, layout: Layout) -> str:
    """Write the list of changes, the newest first.

    Parameters
    ----------
    source : ExportSource
        Without stated changes, the only one is that it was made.
    layout : Layout
        A file ``CHANGES`` without an ending is written in the conventions of CPAN, as BIDS wants
        it (https://metacpan.org/pod/CPAN::Changes::Spec); any other as Markdown.
    """
    changes = source.publication.changes[::-1]
    if layout.changes.endswith(".md"):
        parts = [
            f"## {c.version}, {c.date.isoformat()}\n\n"
            + "\n".join(f"- {_line(text)}" for text in c.changes)
            for c in changes
        ]
        first = f"## {source.publication.version}\n\n- The data set as it was first exported"
        return "\n\n".join(["# Changes", *(parts or [first])]) + "\n"
    entries = [
        f"{c.version} {c.date.isoformat()}\n" + "\n".join(f"  - {text}" for text in c.changes)
        for c in changes
    ]
    first = f"{source.publication.version}\n  - The data set as it was first exported"
    return "\n\n".join(entries or [first]) + "\n"
