"""A short study whose trials follow each other quickly, and a robot that answers it."""

from __future__ import annotations

from pathlib import Path

from ghostblitz_task.design import TrialPlan
from ghostblitz_task.games import Stimulus
from ghostblitz_task.robot.script import Tap, TapsFor, key_of
from ghostblitz_task.studies import Study

_TEXT = """
[study]
id = "screen-test"
title = "Test"
[game]
name = "grab-or-shout"
[deck]
kind = "balanced"
[[blocks]]
label = "practice"
phase = "practice"
n_trials = {n_practice}
[[blocks]]
label = "mixed"
n_trials = {n_trials}
[timing]
foreperiod_s = [0.25, 0.4]
deadline_s = 1.5
second_response_window_s = 0.3
feedback_s = 0.2
inter_trial_interval_s = 0.2
[feedback]
show = "always"
[responses]
grab_keys = {{ ghost = "s", chair = "d", bottle = "f", book = "j", mouse = "k" }}
shout_keys = {{ ghost = "w", chair = "e", bottle = "r", book = "u", mouse = "i" }}
pointer = true
"""


def write_study(folder: Path, *, n_practice: int, n_trials: int) -> Path:
    """Write the study into a new folder."""
    folder.mkdir()
    text = _TEXT.format(n_practice=n_practice, n_trials=n_trials)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


def right_answers(study: Study, *, delay_s: float = 0.25, hold_s: float = 0.03) -> TapsFor:
    """Answer every card rightly after the same time."""
    responses = study.settings.responses

    def taps_for(_trial: TrialPlan, stimulus: Stimulus):
        solution = stimulus.solution
        return (), (Tap(key_of(responses, solution.mode, solution.answer), delay_s, hold_s),)

    return taps_for
