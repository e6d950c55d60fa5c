"""What goes on in the program while a card waits for its answer: drawing, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghostblitz_task.virtual_display import virtual_display
from tests.screen.short_study import write_study

pytestmark = [pytest.mark.screen, pytest.mark.alone, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("watched")
    study = write_study(folder / "study", n_practice=2, n_trials=14)
    with virtual_display():
        done = subprocess.run(
            [sys.executable, "-m", "tests.screen.watched_session", study, folder / "logs"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["status"] == "completed"
    assert found["counts"]["frame"] > 150
    return found


@pytest.mark.parametrize(
    "what",
    ["prepare", "glTexImage2D", "glTexSubImage2D", "glGenTextures", "glGenBuffers"],
)
def test_nothing_is_rendered_while_a_card_is_shown(watched, what: str) -> None:
    assert watched["counts"].get(what, 0) == 0


@pytest.mark.parametrize(
    "what",
    ["fsync", "open", "import", "garbage collection", "subprocess.Popen", "socket.connect"],
)
def test_no_file_is_written_and_no_garbage_collected_while_a_card_is_shown(
    watched, what: str
) -> None:
    assert watched["counts"].get(what, 0) == 0


def test_frames_of_a_waiting_card_keep_nothing_but_their_times(watched) -> None:
    """PsychoPy keeps the times of the last thousand flips (3 objects each), the session one."""
    grown = np.diff(watched["blocks"])
    # Most frames follow one of the same card; events and new trials take more.
    assert np.median(grown) <= 4


def test_drawing_a_frame_takes_less_than_a_millisecond_of_the_processor(watched) -> None:
    draw_ms = 1000 * np.array(watched["draw_s"])
    print(f"drawing: median {np.median(draw_ms):.2f} ms, 95 % {np.quantile(draw_ms, 0.95):.2f} ms")
    assert np.median(draw_ms) < 1
