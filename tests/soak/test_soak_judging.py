"""Growth, drift and losses, on logs made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ghostblitz_task.trial_log import RunLog
from tests.soak.__main__ import _faults
from tests.soak.judging import drift, judge, memory_growth

N = 60
# When the session's clock reads 0, the robot's reads this.
OFFSET_S = 1000.0
MEMORY = [(float(s), 4e8) for s in range(0, 120, 2)]


def robot_lines(n: int = N) -> list[dict]:
    lines = []
    for i in range(n):
        seen_s = OFFSET_S + 2.0 * i
        lines.append({"what": "saw", "t_s": seen_s, "sight": "card"})
        lines.append({"what": "card", "t_s": seen_s, "trial_index": i})
        lines.append({"what": "press", "t_s": seen_s + 0.5, "key": "s"})
        lines.append({"what": "release", "t_s": seen_s + 0.55, "key": "s"})
        lines.append({"what": "saw", "t_s": seen_s + 0.6, "sight": "off"})
    return lines


def trials(n: int = N, *, flips_ppm: float = 0.0, keys_ppm: float = 0.0) -> list[dict]:
    found = []
    for i in range(n):
        onset_s = 2.0 * i * (1 + 1e-6 * flips_ppm)
        press_s = (2.0 * i + 0.5) * (1 + 1e-6 * keys_ppm)
        events = [
            {"kind": kind, "key": "s", "t_s": t_s, "mode": "grab"}
            for kind, t_s in (("press", press_s), ("release", press_s + 0.05))
        ]
        found.append({
            "type": "trial", "trial_index": i, "onset_s": onset_s,
            "rt_s": press_s - onset_s, "deadline_s": 1.5, "events": events,
        })  # fmt: skip
    return found


def judged(folder: Path, records: list[dict], memory=tuple(MEMORY)):
    robot_log = folder / "robot.jsonl"
    robot_log.write_text("".join(json.dumps(line) + "\n" for line in robot_lines()))
    run = RunLog(folder / "log.jsonl", {}, tuple(records), torn=False)
    return judge(run, robot_log, memory)[0]


def test_clocks_that_agree_have_no_drift_and_no_fault(tmp_path: Path) -> None:
    found = judged(tmp_path, trials())
    assert found.keys_against_flips.ppm == pytest.approx(0, abs=1e-6)
    assert found.n_logged == found.n_injected == 2 * N
    assert found.duration_s == pytest.approx(2 * (N - 1))
    assert _faults(found) == []


def test_each_clocks_drift_is_found_and_so_is_that_between_them(tmp_path: Path) -> None:
    found = judged(tmp_path, trials(flips_ppm=3.0, keys_ppm=-2.0))
    assert found.flips.ppm == pytest.approx(3.0, abs=0.01)
    assert found.keys.ppm == pytest.approx(-2.0, abs=0.05)
    assert found.keys_against_flips.ppm == pytest.approx(-5.0, abs=0.05)
    assert [fault.split(":")[0] for fault in _faults(found)] == ["keys and flips drift apart"]


def test_a_lost_event_and_a_press_of_another_trial_are_faults(tmp_path: Path) -> None:
    records = trials()
    records[3]["events"] = records[3]["events"][:1]
    records[7]["rt_s"] += 2.0
    faults = _faults(judged(tmp_path, records))
    assert faults == ["n_lost = 1", "n_misattributed = 1"]


def test_growth_is_that_after_the_first_quarter() -> None:
    settling = [(float(s), 1e8 + 1e6 * s) for s in range(0, 30)]
    after = [(float(s), 2e8 + 1000.0 * (s - 30)) for s in range(30, 121)]
    start, growth = memory_growth([*settling, *after])
    assert start == 2e8
    assert growth == pytest.approx(90_000)


def test_memory_that_grows_is_a_fault(tmp_path: Path) -> None:
    growing = [(s, size + 1e5 * s) for s, size in MEMORY]
    assert "memory grew by" in _faults(judged(tmp_path, trials(), growing))[0]


def test_drift_has_an_interval_that_noise_widens() -> None:
    at_s = np.arange(0, 1200, 2.5)
    noise_s = np.random.default_rng(1).normal(0, 0.0005, size=len(at_s))
    found = drift(at_s, 2e-6 * at_s + noise_s)
    assert found.low_ppm < 2.0 < found.high_ppm
    assert 0.05 < found.high_ppm - found.low_ppm < 1.0
