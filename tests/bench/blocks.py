"""What one block of trials holds: the same for every peer, from one seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ghostblitz_task.cards import Card
from ghostblitz_task.drawing import card_svg, load_palette, render_png
from ghostblitz_task.robot.script import Action, Tap, script_session
from ghostblitz_task.studies import Study, open_card_study

__all__ = ["KEYS", "PlannedTrial", "draw_cards", "open_study", "plan_block", "robot_actions"]

Hold = Literal["tap-10ms", "tap-80ms", "held"]

KEYS = ("s", "d", "f", "j", "k")
DEADLINE_S = 1.2
INTERVAL_S = 0.05
# "held" is longer than what is left of a trial plus the interval, and shorter than that plus the
# shortest foreperiod: the key comes up in the next trial's foreperiod. X repeats held keys only
# after more than half a second.
HOLD_S: dict[Hold, float] = {"tap-10ms": 0.01, "tap-80ms": 0.08, "held": 0.25}
_DELAY_S = (0.15, 0.35)
# A key comes again after two others at the earliest, so that a press that answers another trial
# has the wrong key there.
_KEYS_BETWEEN = 2
# As wide as the cards of our own task on a window of 1280 pixels: 11.8 degrees, 53 cm, at 60 cm.
_CARD_PX = 298

_STUDY = f"""
[study]
id = "timing-bench"
title = "Timing bench"
[game]
name = "classic"
[deck]
kind = "balanced"
[[blocks]]
label = "bench"
n_trials = {{n_trials}}
[timing]
foreperiod_s = [0.25, 0.4]
deadline_s = {DEADLINE_S}
feedback_s = 0
inter_trial_interval_s = {INTERVAL_S}
[feedback]
show = "off"
[responses]
grab_keys = {{{{ ghost = "s", chair = "d", bottle = "f", book = "j", mouse = "k" }}}}
"""


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """What is shown in a trial, and what the robot does in it.

    Attributes
    ----------
    card : Card
        The two pictures.
    foreperiod_s : float
        From the trial's start to the card.
    key : str
        What the robot presses, whether it is the right answer or not.
    delay_s : float
        From seeing the card to the press.
    hold : str
        How long it holds the key, a key of `HOLD_S`.
    """

    card: Card
    foreperiod_s: float
    key: str
    delay_s: float
    hold: Hold


def open_study(folder: Path, *, n_trials: int) -> Study:
    """Write our own task's study for a block of that many trials, and open it."""
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(_STUDY.format(n_trials=n_trials), encoding="utf-8")
    return open_card_study(folder)


def plan_block(study: Study, *, seed: int) -> tuple[PlannedTrial, ...]:
    """Plan a block: cards and foreperiods are those of our own task's session of that seed."""
    rng = np.random.default_rng(seed)
    trials = study.plan(seed).trials
    holds = [list(HOLD_S)[i % len(HOLD_S)] for i in range(len(trials))]
    rng.shuffle(holds)
    keys = _draw_keys(len(trials), rng)
    return tuple(
        PlannedTrial(trial.card, trial.foreperiod_s, key, float(rng.uniform(*_DELAY_S)), hold)
        for trial, key, hold in zip(trials, keys, holds, strict=True)
    )


def _draw_keys(n_trials: int, rng: np.random.Generator) -> list[str]:
    keys: list[str] = []
    for _ in range(n_trials):
        recent = keys[-_KEYS_BETWEEN:]
        keys.append(str(rng.choice([key for key in KEYS if key not in recent])))
    return keys


def robot_actions(
    trials: Sequence[PlannedTrial], *, study: Study | None = None, seed: int = 0
) -> tuple[Action, ...]:
    """Return what the robot does; with our own study also at its self-paced screens."""
    taps = [(Tap(trial.key, trial.delay_s, HOLD_S[trial.hold]),) for trial in trials]
    if study is None:
        return tuple(Action("card", tap, (), i) for i, tap in enumerate(taps))
    return script_session(
        study.plan(seed), study.screens, lambda trial, _stimulus: ((), taps[trial.trial_index])
    )


def draw_cards(trials: Sequence[PlannedTrial], folder: Path) -> list[Path]:
    """Draw the card of each trial as a PNG; equal cards share a file."""
    palette = load_palette("standard")
    paths = []
    for trial in trials:
        path = folder / (str(trial.card).replace(":", "-").replace(" ", "_") + ".png")
        if not path.exists():
            path.write_bytes(render_png(card_svg(trial.card, palette), width_px=_CARD_PX))
        paths.append(path)
    return paths
