"""Analyse a data set: ``python analysis/pipelines/analyze.py DATASET OUT``."""

from __future__ import annotations

import sys
from pathlib import Path

from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.summary import summary_text
from ghostblitz_task.errors import GhostBlitzError

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: analyze.py DATASET OUT")
    try:
        result = analyze_dataset(Path(sys.argv[1]), out=Path(sys.argv[2]))
    except GhostBlitzError as error:
        sys.exit(f"error: {error}")
    sys.stdout.write(summary_text(result) + "\n")
