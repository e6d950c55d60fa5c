"""Run one block: a peer and the robot, each a process of its own, with or without a busy core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Timer
from typing import Any

from ghostblitz_task.virtual_display import VirtualDisplay
from tests.bench.blocks import (
    DEADLINE_S,
    INTERVAL_S,
    KEYS,
    PlannedTrial,
    draw_cards,
    open_study,
    plan_block,
    robot_actions,
)
from tests.bench.peers import OURS, Peer, Places
from tests.bench.scoring import join

__all__ = ["WINDOW_PX", "BlockFailed", "run_block"]

WINDOW_PX = (1280, 720)
# Our task's 1.5 degrees on that window; the robot looks at a pixel well inside.
_PATCH_PX = 38
_LOOK_AT_PX = (12, WINDOW_PX[1] - 12)
_START_TIMEOUT_S = 90.0
# No trial lasts longer than this on average, whatever is lost.
_TRIAL_TIMEOUT_S = 3.0
_ROOT = Path(__file__).resolve().parents[2]


class BlockFailed(Exception):  # noqa: N818 - says what happened, not what class it is
    """A peer or the robot did not get through a block."""


def run_block(
    peer: Peer, *, load: str, n_trials: int, seed: int, xvfb: VirtualDisplay
) -> dict[str, Any]:
    """Run a block and return its record: trials from both sides, and what the peer says of itself.

    Raises
    ------
    BlockFailed
        If the peer or the robot ends with an error, or does not end.
    """
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        study = open_study(folder / "study", n_trials=n_trials)
        places = Places(folder, study.folder, seed)
        trials = plan_block(study, seed=seed)
        _write_block(trials, places)
        actions = robot_actions(trials, study=study if peer.name == OURS else None, seed=seed)
        told = {
            "ready": str(peer.ready(places)),
            "picture": str(xvfb.picture),
            "look_at_px": _LOOK_AT_PX,
            "log": str(folder / "robot.json"),
            "actions": [action.to_json() for action in actions],
        }
        _run_both(peer, places, told, load=load, limit_s=_TRIAL_TIMEOUT_S * n_trials)
        given = peer.results(places)
        did = json.loads((folder / "robot.json").read_text(encoding="utf-8"))
    planned = [{"key": trial.key, "hold": trial.hold} for trial in trials]
    joined = join(planned, did, given["trials"], deadline_s=DEADLINE_S)
    # What a peer says of a trial beyond its answer, such as its longest frame.
    more = [{k: v for k, v in t.items() if k not in {"key", "rt_s"}} for t in given["trials"]]
    more += [{}] * (len(joined) - len(more))
    rows = [asdict(trial) | extra for trial, extra in zip(joined, more, strict=True)]
    return {"about": given["about"], "trials": rows}


def _write_block(trials: Sequence[PlannedTrial], places: Places) -> None:
    cards = draw_cards(trials, places.folder)
    told = {
        "window_px": WINDOW_PX,
        "patch_px": _PATCH_PX,
        "deadline_s": DEADLINE_S,
        "interval_s": INTERVAL_S,
        "keys": KEYS,
        "ready": str(places.ready),
        "results": str(places.results),
        "trials": [
            {"card": str(card), "foreperiod_s": trial.foreperiod_s}
            for card, trial in zip(cards, trials, strict=True)
        ],
    }
    places.block.write_text(json.dumps(told), encoding="utf-8")


def _run_both(
    peer: Peer, places: Places, told: dict[str, Any], *, load: str, limit_s: float
) -> None:
    messages = places.folder / "messages.txt"
    with open(messages, "wb") as said:
        robot = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.driver"],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            cwd=_ROOT,
        )
        assert robot.stdin is not None
        robot.stdin.write(json.dumps(told).encode())
        robot.stdin.close()
        program = subprocess.Popen(
            peer.command(places), stdout=said, stderr=said, cwd=places.folder
        )
    try:
        _await_ready(Path(told["ready"]), program)
        # A waiting parent uses no processor; the timers end what does not end by itself.
        with _busy_core(load), _ending(program, limit_s), _ending(robot, limit_s):
            codes = program.wait(), robot.wait()
        if any(codes):
            raise BlockFailed(f"peer ended with {codes[0]}, robot with {codes[1]}")
    except BlockFailed as error:
        words = messages.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise BlockFailed(f"{error}: {' / '.join(words[-3:])}") from error
    finally:
        for process in (program, robot):
            _end(process)


def _await_ready(path: Path, program: subprocess.Popen[bytes]) -> None:
    give_up_s = time.monotonic() + _START_TIMEOUT_S
    while not path.exists():
        if program.poll() is not None:
            raise BlockFailed(f"peer ended with {program.returncode} before the first trial")
        if time.monotonic() > give_up_s:
            raise BlockFailed(f"peer was not ready within {_START_TIMEOUT_S:.0f} s")
        time.sleep(0.05)


@contextmanager
def _ending(process: subprocess.Popen[bytes], after_s: float) -> Iterator[None]:
    timer = Timer(after_s, process.terminate)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _busy_core(load: str) -> Iterator[None]:
    """Keep one core busy, if the load says so, with a process that only counts."""
    if load == "idle":
        yield
        return
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"], env=dict(os.environ))
    try:
        yield
    finally:
        _end(spinning)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=15)  # The browser's program ends the browser first.
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
