"""Play long sessions, say what they came to, and fail where something was lost or grew."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from ghostblitz_task.trial_log import read_log
from tests.bench.machine import describe_machine
from tests.soak.judging import Judgement, judge
from tests.soak.page import Played, write_page
from tests.soak.sessions import REAL_TIME, Pace, soak

_ROOT = Path(__file__).resolve().parents[2]
_PAGE, _PICTURE = _ROOT / "docs" / "soak.md", _ROOT / "docs" / "pictures" / "soak.png"
# Less than what one screen's pictures take, over a whole session.
_MOST_GROWTH_BYTES = 4 * 2**20
# A millisecond in three hours; and by how much the rig's own bias moves within a run, as the blocks
# of the timing bench show, so that a short run cannot tell less from a drift.
_MOST_DRIFT_PPM, _LEAST_SEEN_S = 0.1, 0.25e-3


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--accelerated-s", type=float, default=7200, help="0 leaves it out")
    parser.add_argument("--speed", type=float, default=16, help="of it (default %(default)s)")
    parser.add_argument("--real-s", type=float, default=1200, help="0 leaves it out")
    parser.add_argument("--no-page", action="store_true", help="leave the docs as they are")
    asked = parser.parse_args()
    machine = describe_machine()
    sessions = []
    if asked.accelerated_s:
        name = f"{asked.accelerated_s / 3600:.3g} h at {asked.speed:g} times the speed"
        pace = Pace(asked.speed, refresh_hz=min(60 * asked.speed, 1000))
        sessions.append(_play(name, asked.accelerated_s, pace))
    if asked.real_s:
        sessions.append(_play(f"{asked.real_s / 60:.3g} min in real time", asked.real_s, REAL_TIME))
    if not asked.no_page:
        write_page(_PAGE, _PICTURE, machine, sessions)
    faults = [f"{s.name}: {fault}" for s in sessions for fault in _faults(s.judgement)]
    if faults:
        sys.exit("\n".join(faults))


def _play(name: str, duration_s: float, pace: Pace) -> Played:
    with tempfile.TemporaryDirectory(prefix="ghostblitz-soak-") as folder:
        played = soak(Path(folder), duration_s=duration_s, pace=pace)
        judgement, series = judge(read_log(played.log), played.robot_log, played.memory)
    print(name, json.dumps(judgement.to_json(), indent=1), flush=True)
    return Played(name, judgement, series, np.array(played.memory))


def _faults(found: Judgement) -> list[str]:
    faults = []
    for what in ("n_lost", "n_invented", "n_misattributed"):
        if getattr(found, what):
            faults.append(f"{what} = {getattr(found, what)}")
    if found.memory_growth_bytes > _MOST_GROWTH_BYTES:
        faults.append(f"memory grew by {found.memory_growth_bytes / 2**20:.1f} MiB")
    apart = found.keys_against_flips
    beyond_doubt = apart.low_ppm > _MOST_DRIFT_PPM or apart.high_ppm < -_MOST_DRIFT_PPM
    if beyond_doubt and abs(apart.ppm) * 1e-6 * found.duration_s > _LEAST_SEEN_S:
        faults.append(f"keys and flips drift apart: {apart.in_words()}")
    return faults


if __name__ == "__main__":
    main()
