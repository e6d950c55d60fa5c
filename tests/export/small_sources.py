"""Small data sets to export: simulated ones of any game, an imported one, one with everything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ghostblitz_analysis.export.source import ExportSource, load_source
from ghostblitz_analysis.importing import import_table
from ghostblitz_task.studies import open_study, simulate_study

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "data" / "example"

_MAPPING = """
[dataset]
name = "plain"

[columns]
participant = "who"
card = "card"
response = "answer"
rt = "time"
rt_unit = "s"
"""
_TABLE = """who,card,answer,time
=1+1,book:red ghost:white,ghost,0.5
=1+1,book:red ghost:white,book,0.625
n/a,ghost:green chair:blue,mouse,0.75
"""
PUBLICATION = """
title = "Ghosts: a \\"hard\\" title \\\\ # with \u0085 and 👻 <b>"
description = "What was done.\\n\\nAnd why: <script>alert(1)</script>"
licence = "CC-BY-4.0"
keywords = ["reaction time", "a: b"]
funding = ["Grant 1"]
ethics_approval = "Board 7, number 12"
preregistration = "https://osf.io/abcde"
materials = "https://osf.io/mater"
code = "https://example.org/code"
article = "https://example.org/article"
doi = "10.5281/zenodo.1234567"

[[authors]]
given = "Zoë"
family = "O'Neil"
orcid = "0000-0002-1825-0097"
affiliation = "Somewhere: \\"Institute\\""

[[authors]]
given = "Ada"
family = "Ng"

[[changes]]
version = "1.0.0"
date = 2026-01-31
changes = ["First release"]

[[changes]]
version = "1.1.0"
date = 2026-03-01
changes = ["A participant withdrew", "Typing errors"]
"""


def simulated(study: str, folder: Path, *, n_participants: int = 1) -> ExportSource:
    simulate_study(
        open_study(ROOT / "experiments" / study), folder, n_participants=n_participants, seed=1
    )
    return load_source(folder)


def imported(folder: Path) -> ExportSource:
    folder.mkdir(parents=True, exist_ok=True)
    table, mapping = folder / "t.csv", folder / "m.toml"
    table.write_text(_TABLE)
    mapping.write_text(_MAPPING)
    import_table(table, mapping=mapping, out=folder / "out")
    return load_source(folder / "out")


def published(folder: Path) -> ExportSource:
    """The example data set with all that `publication.toml` can say."""
    shutil.copytree(EXAMPLE, folder)
    (folder / "publication.toml").write_text(PUBLICATION, encoding="utf-8")
    return load_source(folder)


def headers(source: ExportSource) -> list[dict[str, object]]:
    logs = [file for name, file in source.files.items() if name.endswith(".jsonl")]
    return [json.loads(log.read_text(encoding="utf-8").splitlines()[0]) for log in logs]
