"""A robot that is stopped, left alone or robbed of its window lets go of all keys and ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from Xlib import X, display

from ghostblitz_task.robot.script import Action, Tap
from ghostblitz_task.robot.watching import WINDOW_NAME

pytestmark = pytest.mark.screen

TIMEOUT_S = 20.0
S_KEY = 39
# Long after the tests' patience, unless it is let go of before.
HELD = (Tap("s", 0.05, 60.0), Tap("d", 60.0, 1.0))
# A program that starts the robot as sessions and self-tests do, and says which process it is.
STARTER = """
import subprocess, sys
robot = subprocess.Popen(
    [sys.executable, "-m", "ghostblitz_task.robot.playing"], stdin=subprocess.PIPE
)
robot.stdin.write(sys.stdin.buffer.read())
robot.stdin.close()
print(robot.pid, flush=True)
print(robot.wait(), flush=True)
"""


class Playing:
    """A window that stands for a session's, and a robot that plays on it."""

    def __init__(self, folder: Path, picture: Path, actions: tuple[Action, ...]) -> None:
        # A server that nobody is connected to begins anew, and forgets which keys are down.
        self.server = display.Display()
        self.screen = self.server.screen()
        self.window = self._show_window(WINDOW_NAME)
        settings = {"patch_px": 12, "picture": str(picture), "log": str(folder / "robot.jsonl")}
        told = {"settings": settings, "actions": [a.to_json() for a in actions]}
        self.starter = subprocess.Popen(
            [sys.executable, "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.starter.stdin is not None
        assert self.starter.stdout is not None
        self.starter.stdin.write(json.dumps(told).encode())
        self.starter.stdin.close()
        self.robot_pid = int(self.starter.stdout.readline())
        self.log = folder / "robot.jsonl"

    def _show_window(self, name: str) -> Any:
        window = self.screen.root.create_window(
            0, 0, 200, 200, 0, self.screen.root_depth, background_pixel=0
        )
        window.set_wm_name(name)
        window.map()
        self.server.sync()
        return window

    def show_card(self) -> None:
        self.window.change_attributes(background_pixel=self.screen.white_pixel)
        self.window.clear_area()
        self.server.sync()

    def down(self) -> list[int]:
        keys = self.server.query_keymap()
        return [code for code in range(256) if keys[code // 8] >> code % 8 & 1]

    def until(self, is_so: Callable[[], bool]) -> bool:
        give_up_s = time.monotonic() + TIMEOUT_S
        while not is_so():
            if time.monotonic() > give_up_s:
                return False
            time.sleep(0.005)
        return True

    def hold_a_key(self) -> None:
        # The robot must have found the window before it turns white: the log says nothing yet.
        assert self.until(lambda: self.n_clients_watch() > 0)
        self.show_card()
        assert self.until(lambda: S_KEY in self.down())

    def n_clients_watch(self) -> int:
        return int(self.window.get_attributes().all_event_masks & X.StructureNotifyMask)

    def robot_lives(self) -> bool:
        try:
            state = Path(f"/proc/{self.robot_pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        return state != "Z"

    def close(self) -> None:
        for pid in (self.starter.pid, self.robot_pid):
            if pid != self.robot_pid or self.robot_lives():
                os.kill(pid, signal.SIGKILL)
        self.starter.wait()
        for pipe in (self.starter.stdout, self.starter.stderr):
            assert pipe is not None
            pipe.close()
        self.server.close()


@pytest.fixture
def holding(tmp_path, xvfb) -> Iterator[Playing]:
    playing = Playing(tmp_path, xvfb.picture, (Action("card", HELD),))
    try:
        playing.hold_a_key()
        yield playing
    finally:
        playing.close()


def said(playing: Playing) -> str:
    assert playing.starter.stderr is not None
    return playing.starter.stderr.read().decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_it_with_no_key_down_and_nothing_said(holding, number):
    os.kill(holding.robot_pid, number)
    # A second one must not keep it from letting go; it may have done so by now.
    with suppress(ProcessLookupError):
        os.kill(holding.robot_pid, signal.SIGTERM)
    assert holding.until(lambda: not holding.robot_lives())
    assert holding.down() == []
    assert int(holding.starter.stdout.readline()) == -number
    assert said(holding) == ""
    records = [json.loads(line) for line in holding.log.read_text().splitlines()]
    assert [(r["what"], r["key"]) for r in records if "key" in r] == [
        ("press", "s"),
        ("release", "s"),
    ]


def test_it_ends_with_no_key_down_when_its_starter_is_killed(holding):
    holding.starter.kill()
    assert holding.until(lambda: not holding.robot_lives())
    assert holding.down() == []


@pytest.mark.parametrize("what", ["destroy", "unmap"])
def test_it_ends_with_no_key_down_when_the_window_goes(holding, what):
    getattr(holding.window, what)()
    holding.server.sync()
    assert holding.until(lambda: not holding.robot_lives())
    assert holding.down() == []
    assert int(holding.starter.stdout.readline()) == 1
    assert said(holding) == "robot: the window went away, with 1 things still to do\n"


def test_window_that_goes_after_the_last_press_is_no_fault(tmp_path, xvfb):
    playing = Playing(tmp_path, xvfb.picture, (Action("card", HELD[:1]),))
    try:
        playing.hold_a_key()
        playing.window.destroy()
        playing.server.sync()
        assert playing.until(lambda: not playing.robot_lives())
        assert playing.down() == []
        assert int(playing.starter.stdout.readline()) == 0
    finally:
        playing.close()


def test_it_presses_nothing_once_the_window_is_another_programs(tmp_path, xvfb):
    taps = tuple(Tap("d", 0.4 + 0.01 * i, 0.004) for i in range(20))
    playing = Playing(tmp_path, xvfb.picture, (Action("card", (Tap("s", 0.05, 0.1), *taps)),))
    try:
        playing.hold_a_key()
        playing.window.destroy()
        playing.server.sync()
        assert playing.until(lambda: not playing.robot_lives())
        assert [r for r in playing.log.read_text().splitlines() if '"key": "d"' in r] == []
    finally:
        playing.close()


def test_script_that_was_cut_short_is_refused_in_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "ghostblitz_task.robot.playing"],
        input='{"settings": {',
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "robot: what to do was told only in part\n"
