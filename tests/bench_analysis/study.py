"""A whole study, from simulated logs to the report, by the commands that a lab uses."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.bench_analysis.child import run_json

__all__ = ["STUDY", "time_study"]

_ROOT = Path(__file__).resolve().parents[2]
STUDY = "classic-grab"


def time_study(folder: Path, *, n_participants: int, seed: int) -> dict[str, Any]:
    """Simulate a study, analyse it, and time the stages of the analysis once more by themselves.

    Raises
    ------
    subprocess.CalledProcessError
        If a command ends with an error.
    """
    data, results = folder / "study", folder / "study-results"
    simulate_s = _command(
        "simulate", str(_ROOT / "experiments" / STUDY), "--out", str(data),
        "--participants", str(n_participants), "--seed", str(seed),
    )  # fmt: skip
    analyze_s = _command("analyze", str(data), "--out", str(results))
    stages = run_json("tests.bench_analysis.stages", str(data))
    n_files = sum(path.is_file() for path in results.rglob("*"))
    return {"simulate_s": simulate_s, "analyze_s": analyze_s, "n_files": n_files, **stages}


def _command(*words: str) -> float:
    begun_s = time.perf_counter()
    command = [sys.executable, "-m", "ghostblitz_task.cli", *words]
    subprocess.run(command, check=True, cwd=_ROOT, capture_output=True, text=True)
    return time.perf_counter() - begun_s
