"""`python -m tests.bench_analysis`: run the bench, and write its tables into the docs."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.machine import describe_machine
from tests.bench_analysis.child import run_json, run_module
from tests.bench_analysis.comparisons import OURS, TASKS, ProgramError, missing, run_program
from tests.bench_analysis.page import write_page
from tests.bench_analysis.study import time_study

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = _ROOT / ".bench" / "analysis-results"
_MACHINE = (
    "processor", "memory", "system", "kernel", "Python", "ghostblitz",
    "load average at the start",
)  # fmt: skip
_TIMEOUT_S = 1200.0


def main() -> None:
    """Do what the command line asks for."""
    asked = _parse()
    results = asked.page_from or _run(asked)
    if not asked.no_page:
        print(f"wrote {write_page(results, _ROOT / 'docs').relative_to(_ROOT)}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-analysis", description=__doc__)
    parser.add_argument("--participants", type=int, default=5000, help="(%(default)s)")
    parser.add_argument("--trials", type=int, default=200, help="of each (%(default)s)")
    parser.add_argument("--few", type=int, default=200, help="of the smaller tasks (%(default)s)")
    parser.add_argument("--splits", type=int, default=1000, help="(%(default)s)")
    parser.add_argument("--study", type=int, default=40, help="participants with logs; 0: none")
    parser.add_argument("--rounds", type=int, default=3, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of everything (%(default)s)")
    parser.add_argument("--no-page", action="store_true", help="leave the docs as they are")
    parser.add_argument("--page-from", type=Path, metavar="RESULTS", help="only write the docs")
    asked = parser.parse_args()
    if min(asked.participants, asked.few, asked.splits, asked.rounds) < 1 or asked.few < 3:
        parser.error("--participants, --splits and --rounds are at least 1, --few at least 3")
    if asked.trials < 4 or asked.trials % 4:
        parser.error("--trials is a multiple of four")
    return asked


def _run(asked: argparse.Namespace) -> Path:
    begun_s, now = time.monotonic(), datetime.now(timezone.utc)
    machine = {name: value for name, value in describe_machine().items() if name in _MACHINE}
    peers = dict.fromkeys([OURS, *(peer for task in TASKS for peer in task.peers)])
    not_run = {peer: why for peer in peers if (why := missing(peer)) is not None}
    for peer, why in not_run.items():
        print(f"{peer} is not run: {why}", flush=True)
    found: dict[str, Any] = {"many": [], "comparisons": [], "study": None}
    with tempfile.TemporaryDirectory(prefix="bench-analysis-") as name:
        folder = Path(name)
        dataset = folder / "many"
        words = [str(dataset), str(asked.participants), str(asked.trials), str(asked.seed)]
        run_module("tests.bench_analysis.simulated", *words)
        _say(begun_s, "simulated")
        run_module("tests.bench_analysis.data", str(dataset), str(folder), str(asked.few))
        for number in range(asked.rounds):
            found["many"].append(run_json("tests.bench_analysis.stages", str(dataset)))
            _say(begun_s, f"round {number + 1}: stages")
            found["comparisons"] += _round(number, folder, asked, not_run)
            _say(begun_s, f"round {number + 1}: comparisons")
        if asked.study:
            found["study"] = time_study(folder, n_participants=asked.study, seed=asked.seed)
            _say(begun_s, "study of logs")
    found["run"] = {
        "date": f"{now:%Y-%m-%d}", "machine": machine, "not_run": not_run, "seed": asked.seed,
        "n_participants": asked.participants, "n_trials": asked.trials, "n_few": asked.few,
        "n_splits": asked.splits, "n_rounds": asked.rounds,
        "minutes": (time.monotonic() - begun_s) / 60,
    }  # fmt: skip
    _RESULTS.mkdir(parents=True, exist_ok=True)
    path = _RESULTS / f"{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(path.relative_to(_ROOT))
    return path


def _round(
    number: int, folder: Path, asked: argparse.Namespace, not_run: dict[str, str]
) -> list[dict[str, Any]]:
    """Let every program do every task once, in a new order."""
    rng = np.random.default_rng([asked.seed, number])
    pairs = [(task, peer) for task in TASKS for peer in (OURS, *task.peers) if peer not in not_run]
    records = []
    for i in rng.permutation(len(pairs)):
        task, peer = pairs[i]
        record: dict[str, Any] = {"round": number, "task": task.name, "peer": peer}
        try:
            record |= run_program(peer, task, folder, n_splits=asked.splits, timeout_s=_TIMEOUT_S)
        except ProgramError as error:
            record["failed"] = str(error)
            print(f"{peer}, {task.name}: {error}", flush=True)
        records.append(record)
    return records


def _say(begun_s: float, what: str) -> None:
    print(f"{time.monotonic() - begun_s:6.0f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
