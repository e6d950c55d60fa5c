"""Data sets to be exported for other programs: every game, odd ids, hard participants."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ghostblitz_analysis.export.source import ExportSource, load_source
from ghostblitz_task.studies import open_study, simulate_study

ROOT = Path(__file__).resolve().parents[2]
CARD_STUDIES = (
    "classic-company",
    "classic-grab",
    "five-to-twelve-basic",
    "five-to-twelve-full",
    "grab-or-shout",
    "spooky-doo-masked",
    "spooky-doo-visible",
    "styrnal2025-exp1",
)
CAPTAIN_STUDIES = ("captain", "captain-static")
#: What programs take for numbers, dates, missing values, truth values, formulas and escapes.
ODD_IDS = (
    "01", "1", "1.0", "1e5", "NA", "n/a", "NaN", "NULL", "None", "TRUE", "WAHR", "=1+1", "+1",
    "-1", "@SUM(A1)", "'quoted", "\ttab", "Zoë", "two words", "a;b,c", 'say "hi"', "MAR1", "3-4",
    "#N/A", "_x0041_", "back\\slash", "日本", "x" * 64,
)  # fmt: skip
_EVERY = 3


@cache
def simulated(study: str, *, model: str | None = None, n_participants: int = 1) -> ExportSource:
    """A data set of simulated participants; its files are gone, so only tables can be written."""
    opened = open_study(ROOT / "experiments" / study)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        simulate_study(opened, data, n_participants=n_participants, seed=1, model=model)
        return load_source(data)


def with_trials(source: ExportSource, trials: pd.DataFrame) -> ExportSource:
    assert source.dataset is not None
    return replace(
        source,
        main=replace(source.main, frame=trials),
        dataset=replace(source.dataset, trials=trials),
    )


def few_rows(source: ExportSource) -> ExportSource:
    """Every third row, which is enough to see that a table is written and read."""
    if source.dataset is None:
        return source
    return with_trials(source, source.main.frame.iloc[::_EVERY].reset_index(drop=True))


def with_column(source: ExportSource, name: str, values: Sequence[Any]) -> ExportSource:
    """The same data set with values in a column, again and again from the first."""
    trials = source.main.frame
    repeated = [values[place % len(values)] for place in range(len(trials))]
    column = pd.array(repeated, dtype=trials[name].dtype)
    return with_trials(source, trials.assign(**{name: column}))


def with_odd_ids(source: ExportSource) -> ExportSource:
    return with_column(source, "participant_id", ODD_IDS)


def run_r(folder: Path, code: str, *, packages: Sequence[str]) -> Any:
    """Run R in a folder and return the JSON that it writes; without R the test is skipped."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("Rscript is not installed")
    needed = "; ".join(f"library({name})" for name in packages)
    command = [rscript, "--vanilla", "-e"]
    if subprocess.run([*command, needed], capture_output=True, check=False).returncode:
        pytest.skip(f"R lacks one of its packages {', '.join(packages)}")
    script = folder / "test.R"
    script.write_text(code, encoding="utf-8")
    result = subprocess.run(
        [rscript, "--vanilla", str(script)], cwd=folder, capture_output=True, check=False,
        encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
