"""A short game of the captain's deck on a real window, played by real clicks and keys."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ghostblitz_analysis.captain.dataset import load_captain_dataset
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.captain.game import game_rng
from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.captain.study import CaptainStudy
from ghostblitz_task.captain.table import CaptainTable
from ghostblitz_task.robot.watching import FileWatcher, Sight
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import RunLog, log_path, read_log
from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display

pytestmark = [pytest.mark.screen, pytest.mark.slow]

SEED, N_TURNS = 6, 5
KEYS = {"red": "d", "green": "f", "blue": "j", "yellow": "k"}
TEXT = f"""
[study]
id = "captain-window"
title = "Test"
[game]
name = "captain"
[captain]
mode = "static"
returns_to = "place"
max_turns = {N_TURNS}
look_s = 1.0
naming_s = 1.5
passing_s = 0.6
[[blocks]]
label = "one"
[responses]
colour_keys = {{ red = "d", green = "f", blue = "j", yellow = "k" }}
"""
_TIMEOUT_S = 60.0


@dataclass
class Hands:
    """Clicks and presses through the X server, and when."""

    server: Any
    px_per_deg: float
    window_px: tuple[int, int] = (1280, 720)
    clicks: list[tuple[float, float]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def click(self, x_deg: float, y_deg: float) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        x_px = round(self.window_px[0] / 2 + x_deg * self.px_per_deg)
        y_px = round(self.window_px[1] / 2 - y_deg * self.px_per_deg)
        xtest.fake_input(self.server, X.MotionNotify, x=x_px, y=y_px)
        self.server.sync()
        time.sleep(0.03)
        for kind in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self.server, kind, 1)
            self.server.sync()
            time.sleep(0.03)
        self.clicks.append((x_deg, y_deg))

    def press(self, key: str) -> None:
        from Xlib import XK, X
        from Xlib.ext import xtest

        code = self.server.keysym_to_keycode(XK.string_to_keysym(key))
        for kind in (X.KeyPress, X.KeyRelease):
            xtest.fake_input(self.server, kind, code)
            self.server.sync()
            time.sleep(0.03)
        self.keys.append(key)


@dataclass
class Game:
    """A session that was played, with what the hands did and what the screen looked like."""

    run: RunLog
    hands: Hands
    shots: dict[str, np.ndarray]
    picked: list[int]


def wait_for(look: Callable[[], Sight], wanted: Callable[[Sight], bool], what: str) -> Sight:
    give_up_s = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < give_up_s:
        sight = look()
        if wanted(sight):
            return sight
        time.sleep(0.002)
    pytest.fail(f"nothing like {what} was seen within {_TIMEOUT_S:.0f} s")


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Game:
    folder = tmp_path_factory.mktemp("captain")
    (folder / "study").mkdir()
    (folder / "study" / "study.toml").write_text(TEXT, encoding="utf-8")
    with virtual_display() as xvfb:
        session = subprocess.Popen(
            [sys.executable, "-m", "ghostblitz_task.cli", "run", str(folder / "study"), "-p", "R1",
             "--out", str(folder / "data"), "--seed", str(SEED), "--window", "--robot"],
        )  # fmt: skip
        try:
            hands, shots, picked = play(folder, xvfb)
            assert session.wait(timeout=_TIMEOUT_S) == 0
        finally:
            if session.poll() is None:
                session.terminate()
                session.wait()
    keep = os.environ.get("GHOSTBLITZ_SHOTS")
    for name, pixels in shots.items():
        if keep:
            Image.fromarray(pixels).save(Path(keep) / f"window-{name}.png")
    run = read_log(log_path(folder / "data" / "logs", "R1", session=1, run=1))
    return Game(run, hands, shots, picked)


def play(folder: Path, xvfb: VirtualDisplay) -> tuple[Hands, dict[str, np.ndarray], list[int]]:
    from Xlib import display

    study = open_study(folder / "study")
    assert isinstance(study, CaptainStudy)
    apparatus = ApparatusSettings()
    # As PsychoPy computes it for a flat screen seen from this distance.
    px_per_deg = 0.017455 * apparatus.viewing_distance_cm * 1280 / apparatus.screen_width_cm
    hands = Hands(display.Display(), px_per_deg)
    patch_px = round(apparatus.patch_deg * px_per_deg)
    watcher = FileWatcher(xvfb.picture, patch_px // 2, 720 - patch_px // 2)
    screens, settings = study.screens, study.settings
    pages = [ask for ask, _ in screens.key_check()] + list(screens.instructions())
    pages.append(screens.block_intro(settings.blocks[0], number=1, n_games=1))
    shots: dict[str, np.ndarray] = {}
    sight: Sight = "off"

    def go_on(key: str) -> None:
        nonlocal sight
        before = sight
        sight = wait_for(watcher.look, lambda s: s.startswith("waiting") and s != before, key)
        time.sleep(0.25)
        hands.press(key)

    for page in pages:
        go_on(page.awaits_keys[0])
    table = CaptainTable(settings.game_of(settings.blocks[0]), rng=game_rng(SEED, 0))
    spots = {spot.dropping_id: spot for spot in table.deck.spots()}
    picked = list(range(N_TURNS))
    for turn, dropping_id in enumerate(picked):
        wait_for(watcher.look, lambda s: s == "card", f"turn {turn}")
        time.sleep(0.35)
        shots[f"turn-{turn}"] = xvfb.pixels()
        if turn == 0:
            hands.click(11.5, -5.0)  # nothing is there
            time.sleep(0.2)
        spot = spots[dropping_id]
        hands.click(*screens.board.place_deg(spot.x, spot.y))
        wait_for(watcher.look, lambda s: s == "off", f"turn {turn}, lifted")
        time.sleep(0.3)
        shots[f"held-{turn}"] = xvfb.pixels()
        hands.click(0.0, 0.0)
        time.sleep(0.3)
        shots[f"seen-{turn}"] = xvfb.pixels()
        hands.press(KEYS[table.state.colours[dropping_id]])
    sight = "off"
    go_on("space")
    shots["over"] = xvfb.pixels()
    go_on("space")
    hands.server.close()
    watcher.close()
    return hands, shots, picked


def test_session_is_complete_and_checks_out_against_its_own_facts(game):
    assert game.run.status == "completed"
    assert game.run.header["source"] == "robot"
    (played,) = game.run.of_type("game")
    assert (played["outcome"], played["n_turns"]) == ("capped", N_TURNS)
    dataset = load_captain_dataset(game.run.path)
    assert len(dataset.turns) == N_TURNS


def test_every_click_and_key_is_in_the_log_once_and_where_it_was(game):
    events = [e for record in game.run.records for e in record.get("events", ())]
    clicks = [e for e in events if e["device"] == "pointer" and e["kind"] == "press"]
    assert len(clicks) == len(game.hands.clicks)
    for event, (x_deg, y_deg) in zip(clicks, game.hands.clicks, strict=True):
        assert abs(event["x_deg"] - x_deg) < 0.05
        assert abs(event["y_deg"] - y_deg) < 0.05
        assert 0 < event["resolution_s"] < 0.5
    presses = [e for e in events if e["device"] != "pointer" and e["kind"] == "press"]
    assert [e["key"] for e in presses] == game.hands.keys


def test_clicks_picked_what_they_were_on_and_then_looked(game):
    turns = list(game.run.of_type("turn"))
    assert [t["facts"]["dropping_id"] for t in turns] == game.picked
    for turn in turns:
        kinds = [(a["action"], a["result"]) for a in turn["actions"]]
        wanted = [("pick", "done"), ("look", "done"), ("name", "done")]
        if turn["turn_index"] == 0:
            wanted.insert(0, ("pick", "nothing_there"))
        assert kinds == wanted
        assert turn["derived"]["misnamed"] is False
        assert 0.2 < turn["derived"]["pick_rt_s"] < 2.0
        assert turn["derived"]["pick_device"] == "pointer"


def test_the_colour_is_seen_only_once_it_is_looked_at(game):
    from ghostblitz_task.palettes import load_palette

    colours = load_palette("standard").colours
    block = next(iter(game.run.of_type("block")))
    # Where the tongs hold the dropping, right of the deck.
    here = (slice(400, 520), slice(840, 960))

    def share(name: str, colour: str) -> float:
        tone = [int(colours[colour][i : i + 2], 16) for i in (1, 3, 5)]
        return float((game.shots[name][here] == np.array(tone, np.uint8)).all(axis=-1).mean())

    for turn in range(N_TURNS):
        colour = block["colours"][turn]
        assert share(f"seen-{turn}", colour) > 0.02
        assert all(share(f"held-{turn}", c) == 0.0 for c in COLOURS)
