"""A short piece of the long session of `make soak`: three minutes' trials in ten seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghostblitz_task.trial_log import read_log
from tests.soak.judging import judge
from tests.soak.sessions import Pace, soak

pytestmark = [pytest.mark.screen, pytest.mark.alone, pytest.mark.slow]


def test_fast_session_loses_nothing_and_keeps_its_memory(tmp_path: Path) -> None:
    played = soak(tmp_path, duration_s=200, pace=Pace(speed=16, refresh_hz=960))
    found, _ = judge(read_log(played.log), played.robot_log, played.memory)
    assert found.n_trials == 80
    assert found.n_logged == found.n_injected
    assert (found.n_lost, found.n_invented, found.n_misattributed) == (0, 0, 0)
    # A single picture that is not given back is larger.
    assert found.memory_growth_bytes < 2 * 2**20
