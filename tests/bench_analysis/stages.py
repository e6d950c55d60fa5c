"""The stages of an analysis, each timed: ``python -m tests.bench_analysis.stages DATASET``.

Prints one line of JSON: seconds by stage, counts, and the most memory that the process held.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["STAGES", "time_stages"]

Result = TypeVar("Result")

#: In their order, with what each does.
STAGES = {
    "load": "read the table, solve every card again, check it (or read the logs and score them)",
    "validate": "findings on RTs, copies, cells, people",
    "exclude": "flags, and the audit of what each step takes",
    "summarise": "measures per participant and cell, and per cell of the group",
}


def time_stages(dataset: Path) -> dict[str, Any]:
    """Load, validate, exclude and summarise a data set, and say how long each takes."""
    from ghostblitz_analysis.dataset import load_dataset
    from ghostblitz_analysis.exclusions import audit, flag_exclusions
    from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
    from ghostblitz_analysis.models import group_cells
    from ghostblitz_analysis.validation import validate_dataset

    seconds: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Result]) -> Result:
        begun_s = time.perf_counter()
        result = work()
        seconds[stage] = time.perf_counter() - begun_s
        return result

    loaded = timed("load", lambda: load_dataset(dataset))
    findings = timed("validate", lambda: validate_dataset(loaded))
    settings = loaded.analysis

    def exclude() -> Any:
        flagged = flag_exclusions(loaded.trials, settings)
        audit(flagged, settings)
        return flagged

    flagged = timed("exclude", exclude)

    def summarise() -> Any:
        factors = cell_factors(flagged, settings)
        cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
        return group_cells(cells, factors=factors, confidence=settings.confidence)

    group = timed("summarise", summarise)
    return {
        "seconds": seconds,
        "n_trials": len(loaded.trials),
        "n_participants": int(loaded.trials["participant_id"].nunique()),
        "n_findings": len(findings),
        "n_cells": len(group),
        "peak_mb": peak_mb(),
    }


def peak_mb() -> float:
    """Return the most memory that this process held at a time, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(time_stages(Path(sys.argv[1]))))
