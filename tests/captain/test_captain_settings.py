from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ghostblitz_task.captain import CaptainSettings, make_deck
from ghostblitz_task.captain.deck import scatter
from ghostblitz_task.errors import ConfigError


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "flying"},
        {"returns_to": "pocket"},
        {"railed_corners": ("north",)},
        {"railed_corners": ("top_left", "top_left")},
        {"n_per_colour": 0},
        {"n_players": 5},
        {"max_turns": 0},
        {"time_limit_s": 0.9},
        {"look_s": 0.09},
        {"look_s": 2.0, "naming_s": 1.0},
        {"passing_s": -1.0},
        {"passing_s": 60.1},
        {"eye_speed_per_s": 3.0},
    ],
)
def test_a_setting_that_cannot_be_played_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"captain: {list(wrong)[-1]} is .*; expected "):
        CaptainSettings(**wrong)


def test_with_the_eye_a_dropping_cannot_go_back_to_its_place() -> None:
    with pytest.raises(ConfigError, match="something else may lie there"):
        CaptainSettings(returns_to="place")


def test_without_pymunk_the_static_deck_works_and_the_moving_one_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "ghostblitz_task.captain.physics", raising=False)
    monkeypatch.setitem(sys.modules, "pymunk", None)
    assert make_deck(CaptainSettings(mode="static"), np.random.default_rng(1)).eye() is None
    with pytest.raises(ConfigError, match="needs pymunk, which is not installed; install"):
        make_deck(CaptainSettings(), np.random.default_rng(1))


def test_the_package_is_imported_without_pymunk() -> None:
    code = "import sys, ghostblitz_task.captain; sys.exit('pymunk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_more_droppings_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ConfigError, match="no room on deck for 200 droppings"):
        scatter(200, [], np.random.default_rng(1))
