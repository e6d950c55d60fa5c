"""Simulated data sets with the captain's deck, made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ghostblitz_task.studies import open_study, simulate_study

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "captain_session"))


@pytest.fixture(scope="session")
def static_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four forgetting players, four games each, without the Eye."""
    folder = tmp_path_factory.mktemp("static") / "data"
    simulate_study(
        open_study(ROOT / "experiments" / "captain-static"), folder, n_participants=4, seed=5
    )
    return folder


@pytest.fixture(scope="session")
def moving_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two forgetting players, five games each, four of them with the Eye."""
    folder = tmp_path_factory.mktemp("moving") / "data"
    simulate_study(open_study(ROOT / "experiments" / "captain"), folder, n_participants=2, seed=5)
    return folder
