"""BIDS exports for tests: without the parts that every format has, and asked of the validator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ghostblitz_analysis.export.bids import writing as bids
from ghostblitz_analysis.export.folders import copy_file, write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.manifest import write_manifest
from ghostblitz_analysis.export.source import ExportSource, ExportTable

CITATION = """cff-version: 1.2.0
message: Please cite this data set.
type: dataset
title: A data set
authors:
  - name: Its authors
"""


def write_little(source: ExportSource, folder: Path, layout: Layout) -> None:
    """What the files at the top and the folders need for the validator; no analysis."""
    for name, file in source.files.items():
        copy_file(file, folder, f"{layout.source}/{name}")
    write_text(folder, "README.md", "About the data set. " * 20)
    write_text(folder, "LICENSE", "CC0-1.0\n")
    write_text(folder, "CITATION.cff", CITATION)
    write_text(folder, layout.changes, "1.0.0 2026-01-01\n  - First\n")
    for below in (layout.stimuli, layout.results, layout.documents):
        write_text(folder, f"{below}/text.md", "Text\n")


def export(source: ExportSource, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a data set, but for an analysis, and its manifest."""
    monkeypatch.setattr(bids, "write_common", write_little)
    folder.mkdir(parents=True)
    bids.write_bids(source, folder)
    write_manifest(folder)
    return folder


def with_frame(source: ExportSource, frame: pd.DataFrame) -> ExportSource:
    """The same data set with other trials, and without the logs that contradict them."""
    assert source.dataset is not None
    return replace(
        source,
        main=ExportTable("trials", frame, source.main.columns),
        runs=(),
        sources=tuple(sorted(frame["source"].unique())),
        dataset=replace(source.dataset, trials=frame),
    )


def issues_of(folder: Path) -> list[dict[str, Any]]:
    """All that the BIDS validator finds, in the derivatives too."""
    validator = Path(sys.executable).with_name("bids-validator-deno")
    command = [str(validator), str(folder), "--format", "json", "--recursive", "--max-rows", "-1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    result: Mapping[str, Any] = json.loads(run.stdout)
    parts = [result, *result["derivativesSummary"].values()]
    assert len(parts) == 2, "the derivatives were not looked at"
    return [issue for part in parts for issue in part["issues"]["issues"]]


def errors_of(folder: Path) -> list[tuple[str, str]]:
    found = issues_of(folder)
    return [(i["code"], i.get("location", "")) for i in found if i["severity"] == "error"]
