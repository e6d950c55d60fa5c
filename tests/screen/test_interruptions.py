"""Sessions that are killed, told to stop, quit or closed: no completed trial is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from Xlib import XK, X, display
from Xlib.ext import xtest

from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.robot.script import script_session
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import RunLog, log_path, read_log
from tests.screen.short_study import right_answers, write_study

pytestmark = [pytest.mark.screen, pytest.mark.slow]

SEED = 11
TIMEOUT_S = 90.0


class Session:
    """A session and its robot as processes, with the log as it grows."""

    def __init__(self, folder: Path, picture: Path, n_trials: int = 10) -> None:
        self.study = open_study(write_study(folder / "study", n_practice=2, n_trials=n_trials))
        self.data = folder / "data"
        self.picture = picture
        self.log = log_path(self.data / "logs", "p", session=1, run=1)
        actions = script_session(
            self.study.plan(SEED), self.study.screens, right_answers(self.study)
        )
        told = {
            "settings": {
                "patch_px": 12,
                "picture": str(picture),
                "log": str(folder / "robot.jsonl"),
            },
            "actions": [a.to_json() for a in actions],
        }
        command = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(folder / "study")]
        command += ["-p", "p", "--out", str(self.data), "--window", "--seed", str(SEED), "--robot"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.robot = subprocess.Popen(
            [sys.executable, "-m", "ghostblitz_task.robot.playing"],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.robot.stdin is not None
        self.robot.stdin.write(json.dumps(told).encode())
        self.robot.stdin.close()

    def wait_for(self, n: int, record_type: str = "trial") -> None:
        sought = f'"type": "{record_type}"'.encode()
        give_up_s = time.monotonic() + TIMEOUT_S
        while time.monotonic() < give_up_s:
            if self.log.exists() and self.log.read_bytes().count(sought) >= n:
                return
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.01)
        pytest.fail(f"{n} records ({record_type}) were not there within {TIMEOUT_S:.0f} s")

    def finish(self) -> RunLog:
        self.process.communicate(timeout=TIMEOUT_S)
        self.robot.terminate()
        self.robot.wait()
        return read_log(self.log)


def n_trials(run: RunLog) -> int:
    return sum(1 for _ in run.of_type("trial"))


@pytest.mark.parametrize("n_before", [1, 9])
def test_killed_session_keeps_its_trials_and_is_resumed(tmp_path, xvfb, n_before):
    session = Session(tmp_path, xvfb.picture)
    session.wait_for(n_before)
    time.sleep(0.13 * n_before)  # somewhere within the next trial
    os.kill(session.process.pid, signal.SIGKILL)
    run = session.finish()
    assert run.status == "killed"
    done = n_trials(run)
    assert done >= n_before
    before = session.log.read_bytes()

    actions = script_session(
        session.study.plan(SEED),
        session.study.screens,
        right_answers(session.study),
        first_trial=done,
    )
    play_with_robot(
        session.study,
        actions,
        dataset=session.data,
        participant="p",
        seed=SEED,
        picture=xvfb.picture,
        resume=True,
    )
    resumed = read_log(log_path(session.data / "logs", "p", session=1, run=2))
    assert resumed.status == "completed"
    assert resumed.header["resumes"]["n_trials"] == done
    indices = [t["trial_index"] for r in (run, resumed) for t in r.of_type("trial")]
    assert indices == list(range(12))
    assert session.log.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_told_to_stop_the_session_ends_in_order(tmp_path, xvfb, number):
    session = Session(tmp_path, xvfb.picture)
    session.wait_for(3)
    os.kill(session.process.pid, number)
    run = session.finish()
    assert session.process.returncode == 0
    assert run.status == "quit"
    assert next(run.of_type("end"))["reason"] == number.name
    assert n_trials(run) >= 3


def press(key: str, hold_s: float = 0.03) -> None:
    server = display.Display()
    code = server.keysym_to_keycode(XK.string_to_keysym(key))
    xtest.fake_input(server, X.KeyPress, code)
    server.sync()
    time.sleep(hold_s)
    xtest.fake_input(server, X.KeyRelease, code)
    server.sync()
    server.close()


def test_quit_key_keeps_all_data(tmp_path, xvfb):
    session = Session(tmp_path, xvfb.picture)
    session.wait_for(4)
    press("Escape")
    run = session.finish()
    assert run.status == "quit"
    assert next(run.of_type("end"))["reason"] == "quit key"
    assert n_trials(run) >= 4
    keys = [e["key"] for r in run.records for e in r.get("events", ())]
    assert "escape" in keys


def test_pause_key_pauses_between_trials(tmp_path, xvfb):
    session = Session(tmp_path, xvfb.picture)
    session.wait_for(4)
    press("p")
    # The robot sees a screen it did not expect and stops; a person presses on.
    session.robot.wait(timeout=TIMEOUT_S)
    time.sleep(0.5)
    press("space")
    time.sleep(0.5)
    press("Escape")
    run = session.finish()
    assert "pause" in [r["name"] for r in run.of_type("screen")]
    paused_at = next(r["n"] for r in run.of_type("screen") if r["name"] == "pause")
    assert all(t["n"] != paused_at for t in run.of_type("trial"))


def test_second_program_cannot_run_the_same_session(tmp_path, xvfb):
    session = Session(tmp_path, xvfb.picture)
    session.wait_for(1)
    command = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(tmp_path / "study")]
    command += ["-p", "p", "--out", str(session.data), "--window", "--resume"]
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "is running in another program" in second.stderr
    os.kill(session.process.pid, signal.SIGTERM)
    assert session.finish().status == "quit"


def test_mouse_press_on_an_item_grabs_it_and_says_how_coarse_its_time_is(tmp_path, xvfb):
    session = Session(tmp_path, xvfb.picture, n_trials=4)
    session.wait_for(2, "block")
    # From here on the robot's keys are not needed: answer one card with the mouse.
    session.robot.terminate()
    session.robot.wait()
    x_deg, y_deg = session.study.screens.item_places()["bottle"]
    server = display.Display()
    px_per_deg = read_log(session.log).header["apparatus"]["px_per_deg"]
    xtest.fake_input(
        server,
        X.MotionNotify,
        x=round(640 + x_deg * px_per_deg),
        y=round(360 - y_deg * px_per_deg),
    )
    time.sleep(0.5)
    press("space")  # ends the screen before the block
    server.sync()
    for _ in range(40):
        xtest.fake_input(server, X.ButtonPress, 1)
        server.sync()
        time.sleep(0.03)
        xtest.fake_input(server, X.ButtonRelease, 1)
        server.sync()
        time.sleep(0.15)
        if session.log.read_bytes().count(b'"type": "trial"') >= 4:
            break
    server.close()
    os.kill(session.process.pid, signal.SIGTERM)
    run = session.finish()
    clicked = [t for t in run.of_type("trial") if t["response_device"] == "pointer"]
    assert clicked
    for trial in clicked:
        assert trial["response"] == "bottle"
        assert trial["response_mode"] == "grab"
        assert 0 < trial["response_resolution_s"] < 0.2
