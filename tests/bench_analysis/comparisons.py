"""The same work by several programs: what it is, who does it, and how each is started."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["OURS", "TASKS", "ProgramError", "Task", "is_same", "missing", "run_program"]

_ROOT = Path(__file__).resolve().parents[2]
_PROGRAMS = Path(__file__).parent / "programs"
_PEER_PYTHON = _ROOT / ".bench" / "analysis-venv" / "bin" / "python"

OURS = "ghostblitz"
_PYTHON_PEERS = ("pandas", "pingouin", "statsmodels")


class ProgramError(Exception):
    """A program ended with an error, or printed no result."""


@dataclass(frozen=True, slots=True)
class Task:
    """Work that is done by several programs.

    Attributes
    ----------
    name : str
        As the programs know it.
    what : str
        For people.
    peers : dict of str to str
        Who else does it, and by what.
    n_times : int
        How often each program does it in a round, after once that is not counted.
    tolerance : float
        How far a peer's figures may be from ours, as a share of ours.
    """

    name: str
    what: str
    peers: dict[str, str]
    n_times: int
    tolerance: float


TASKS = (
    Task(
        "descriptives",
        "n, mean, median and SD of RT per participant, rule and block kind",
        {
            "pandas": "`groupby().agg()`",
            "R": "`aggregate()` of base R",
        },
        n_times=2,
        tolerance=1e-9,
    ),
    Task(
        "anova",
        "repeated-measures ANOVA, rule x block kind, on participants' mean RTs",
        {
            "pingouin": "`rm_anova()`",
            "statsmodels": "`AnovaRM`",
            "R": "`aov()` with `Error()`, of base R",
        },
        n_times=5,
        tolerance=1e-6,
    ),
    Task(
        "split_half",
        "reliability of the rule effect from random split halves",
        {"R": "a loop of `order()`, `rowsum()` and `cor()` in base R"},
        n_times=1,
        tolerance=0.02,
    ),
)


def missing(peer: str) -> str | None:
    """Say why a program cannot run here, or None if it can."""
    if peer in _PYTHON_PEERS and not _PEER_PYTHON.is_file():
        return "not installed; tests/bench_analysis/setup.sh does that"
    if peer == "R" and shutil.which("Rscript") is None:
        return "Rscript is not installed"
    return None


def run_program(peer: str, task: Task, data: Path, *, n_splits: int, timeout_s: float) -> Any:
    """Let a program do a task; return what it printed.

    Returns
    -------
    dict
        ``seconds`` of each time, ``figures`` (a list to compare) and ``version``.

    Raises
    ------
    ProgramError
        If it ends with an error, takes too long, or prints no result.
    """
    words = [task.name, str(data), str(task.n_times), str(n_splits)]
    if peer == OURS:
        command = [sys.executable, "-m", "tests.bench_analysis.programs.ours", *words]
    elif peer == "R":
        command = ["Rscript", "--vanilla", str(_PROGRAMS / "base_r.R"), *words]
    else:
        command = [str(_PEER_PYTHON), str(_PROGRAMS / "python_peers.py"), peer, *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=_ROOT, timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        raise ProgramError(f"took longer than {timeout_s:.0f} s") from error
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProgramError(last)
    try:
        return json.loads(lines[-1])
    except ValueError as error:
        raise ProgramError(f"printed {lines[-1][:80]!r}") from error


def is_same(figures: list[float], ours: list[float], *, tolerance: float) -> bool:
    """Say whether a peer found what we found."""
    return len(figures) == len(ours) and all(
        abs(one - other) <= tolerance * max(abs(other), 1e-12)
        for one, other in zip(figures, ours, strict=True)
    )
