"""The long session: real time at 60 Hz, or as many trials and frames in less time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.design import TrialPlan
from ghostblitz_task.games import Stimulus
from ghostblitz_task.robot.script import Tap, TapsFor, key_of, script_session
from ghostblitz_task.studies import Study, open_card_study
from ghostblitz_task.trial_log import log_path
from ghostblitz_task.virtual_display import virtual_display

__all__ = ["REAL_TIME", "Pace", "Soaked", "soak"]

_SEED = 20261130
_SAMPLE_EVERY_S = 2.0
# What a person's session is made of, in seconds: from cross to card, to the answer, to the next.
_FOREPERIOD_S, _ANSWER_S, _INTERVAL_S = (0.6, 1.2), (0.5, 1.5), 0.5
_HOLDS_S = (0.005, 0.02, 0.08)
# Seconds of a trial of these, on average.
TRIAL_S = 0.9 + 1.0 + 0.5 + 0.1

_BLOCK_TRIALS = 240

_STUDY = """
[study]
id = "soak"
title = "Soak"
[game]
name = "classic"
{blocks}
[timing]
foreperiod_s = [{foreperiod_s[0]}, {foreperiod_s[1]}]
deadline_s = {deadline_s}
second_response_window_s = 0
feedback_s = 0
inter_trial_interval_s = {interval_s}
[responses]
grab_keys = {{ ghost = "s", chair = "d", bottle = "f", book = "j", mouse = "k" }}
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a session goes: `speed` divides its durations and multiplies its frames.

    At a speed of 16 the window draws nearly 1,000 frames per second, so that as many frames,
    flips and events go through the program as in a session that lasts 16 times as long.
    """

    speed: float
    refresh_hz: float


REAL_TIME = Pace(speed=1.0, refresh_hz=60.0)


@dataclass(frozen=True, slots=True)
class Soaked:
    """A session that was played: its logs, and the memory of its process over time.

    `memory` is (n, 2): seconds since the first sample, and resident bytes.
    """

    log: Path
    robot_log: Path
    memory: tuple[tuple[float, float], ...]


def soak(folder: Path, *, duration_s: float, pace: Pace) -> Soaked:
    """Play a session that would last this long in real time, in a new folder."""
    study = _write_study(folder / "study", n_trials=round(duration_s / TRIAL_S), pace=pace)
    actions = script_session(study.plan(_SEED), study.screens, _taps(study, pace))
    with virtual_display() as display, _Memory() as memory:
        robot_log = play_with_robot(
            study,
            actions,
            dataset=folder / "data",
            participant="soak",
            seed=_SEED,
            picture=display.picture,
        )
    log = log_path(folder / "data" / "logs", "soak", session=1, run=1)
    return Soaked(log, robot_log, tuple(memory.samples))


def _write_study(folder: Path, *, n_trials: int, pace: Pace) -> Study:
    folder.mkdir(parents=True)
    text = _STUDY.format(
        blocks=_blocks(n_trials),
        foreperiod_s=[s / pace.speed for s in _FOREPERIOD_S],
        # Long enough for a machine that is busy; no trial needs it.
        deadline_s=4.0,
        interval_s=_INTERVAL_S / pace.speed,
    )
    (folder / "study.toml").write_text(text, encoding="utf-8")
    settings = f"refresh_hz = {pace.refresh_hz}\n"
    (folder / "apparatus.toml").write_text(settings, encoding="utf-8")
    return open_card_study(folder)


def _blocks(n_trials: int) -> str:
    """Return tables of blocks, with a pause between them as a long session has."""
    sizes = [min(_BLOCK_TRIALS, n_trials - first) for first in range(0, n_trials, _BLOCK_TRIALS)]
    return "\n".join(
        f'[[blocks]]\nlabel = "part-{i + 1}"\nn_trials = {size}' for i, size in enumerate(sizes)
    )


def _taps(study: Study, pace: Pace) -> TapsFor:
    rng = np.random.default_rng(_SEED)

    def taps_for(trial: TrialPlan, stimulus: Stimulus) -> tuple[tuple[Tap, ...], tuple[Tap, ...]]:
        key = key_of(study.settings.responses, stimulus.solution.mode, stimulus.solution.answer)
        delay_s = float(rng.uniform(*_ANSWER_S)) / pace.speed
        return (), (Tap(key, delay_s, _HOLDS_S[trial.trial_index % len(_HOLDS_S)]),)

    return taps_for


class _Memory:
    """Samples the resident memory of the session's process, from outside."""

    def __init__(self) -> None:
        self.samples: list[tuple[float, float]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        n = 0
        while not self._ended.wait(_SAMPLE_EVERY_S):
            n += 1
            for child in psutil.Process().children():
                try:
                    if "run" in child.cmdline():
                        self.samples.append((n * _SAMPLE_EVERY_S, float(child.memory_info().rss)))
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
