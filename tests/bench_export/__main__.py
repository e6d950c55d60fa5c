"""`python -m tests.bench_export`: time a store of simulated trials, and say whether it is quick."""

from __future__ import annotations

import argparse
import json
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tests.bench.machine import describe_machine
from tests.bench_analysis.child import run_json
from tests.bench_export.stages import STAGES

__all__ = ["MOST_SECONDS", "verdict"]

_ROOT = Path(__file__).resolve().parents[2]
_RESULTS = _ROOT / ".bench" / "export-results"
#: What was asked for: 10,000 participants with 300 trials each, exported and read back.
MOST_SECONDS, _PARTICIPANTS, _TRIALS = 60.0, 10_000, 300


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="make bench-export", description=__doc__)
    parser.add_argument("--participants", type=int, default=_PARTICIPANTS, help="(%(default)s)")
    parser.add_argument("--trials", type=int, default=_TRIALS, help="of each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(%(default)s)")
    asked = parser.parse_args()
    if asked.participants < 1 or asked.trials < 4 or asked.trials % 4:
        parser.error("--participants is at least 1, --trials a multiple of four")
    found: dict[str, Any] = {"machine": describe_machine(), **vars(asked), "stages": {}}
    with tempfile.TemporaryDirectory(prefix="bench-export-") as folder:
        for stage, what in STAGES.items():
            words = [str(Path(folder) / "store"), *map(str, (asked.participants, asked.trials))]
            timed = run_json("tests.bench_export.stages", stage, *words, str(asked.seed))
            found["stages"][stage] = timed
            print(f"{stage:9} {timed['seconds']:6.1f} s {timed['peak_mb']:7.0f} MB  {what}")
        files = [path for path in Path(folder).rglob("*.parquet") if path.is_file()]
        found |= {"n_files": len(files), "n_bytes": sum(path.stat().st_size for path in files)}
    print(f"{found['n_files']} files, {found['n_bytes'] / 1e6:.0f} MB; simulated data, no people")
    print(verdict(found))
    _RESULTS.mkdir(parents=True, exist_ok=True)
    path = _RESULTS / f"{datetime.now(timezone.utc):%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(path.relative_to(_ROOT))


def verdict(found: dict[str, Any]) -> str:
    """Hold the figures of a run against the goal; a short run cannot meet it."""
    seconds = found["stages"]["export"]["seconds"] + found["stages"]["read"]["seconds"]
    goal = f"exported and read back in {seconds:.1f} s; the goal is {MOST_SECONDS:.0f} s"
    if found["participants"] < _PARTICIPANTS or found["trials"] < _TRIALS:
        return f"{goal} for {_PARTICIPANTS} x {_TRIALS}, so this was no measurement"
    return f"{goal}: {'met' if seconds < MOST_SECONDS else 'missed'}"


if __name__ == "__main__":
    main()
