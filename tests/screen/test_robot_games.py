"""Short sessions of the other games, and of two players, on a real window with real keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.design import TrialPlan
from ghostblitz_task.games import Stimulus
from ghostblitz_task.robot.comparing import Comparison, compare
from ghostblitz_task.robot.script import Tap, TapsFor, script_session
from ghostblitz_task.studies import Study, open_study
from ghostblitz_task.trial_log import RunLog, log_path, read_log
from ghostblitz_task.virtual_display import virtual_display
from tests.screen.short_study import right_answers

pytestmark = [pytest.mark.screen, pytest.mark.slow]

SEED = 11
N_TRIALS = 14
_TEXT = """
[study]
id = "screen-test"
title = "Test"
[game]
{game}
[[blocks]]
label = "mixed"
n_trials = {n_trials}
[timing]
foreperiod_s = [0.25, 0.4]
deadline_s = 1.5
second_response_window_s = 0.2
feedback_s = 0.2
inter_trial_interval_s = 0.2
hat_move_s = 0.3
[feedback]
show = "always"
"""
_SPOOKY = """
[responses]
grab_keys = { ghost = "s", hat = "d", bottle = "f", barrel = "j", mouse = "k" }
shout_keys = { ghost = "w", hat = "e", bottle = "r", barrel = "u", mouse = "i" }
[display]
tabletop = "masked"
"""
_FIVE_TO_TWELVE = """
[responses.grab_keys]
bat = "a"
hat = "s"
key = "d"
mirror = "f"
flashlight = "g"
clock = "h"
vial = "j"
owl = "k"
ghost = "l"
[responses.shout_keys]
bat = "q"
hat = "w"
key = "e"
mirror = "r"
flashlight = "t"
clock = "y"
vial = "u"
owl = "i"
ghost = "o"
black = "z"
green = "x"
blue = "c"
red = "v"
white = "b"
"11:55" = "1"
"01:40" = "2"
"03:00" = "3"
"04:20" = "4"
"05:10" = "5"
"06:30" = "6"
"07:50" = "7"
"09:15" = "8"
"10:05" = "9"
"""
_TWO_PLAYERS = """
[responses]
grab_keys = { ghost = "a", chair = "s", bottle = "d", book = "f", mouse = "g" }
[[responses.more_players]]
grab_keys = { ghost = "h", chair = "j", bottle = "k", book = "l", mouse = "m" }
[company]
max_recycled = 4
"""
STUDIES = {
    "spooky-doo": ('name = "spooky-doo"\nhat_mover = "participant"', _SPOOKY),
    "five-to-twelve": (
        'name = "five-to-twelve"\nrules = ["mirror", "owl", "mirror-owl"]',
        _FIVE_TO_TWELVE,
    ),
    "two-players": ('name = "classic"', _TWO_PLAYERS),
}


def write_study(folder: Path, name: str) -> Study:
    game, rest = STUDIES[name]
    folder.mkdir()
    text = _TEXT.format(game=game, n_trials=N_TRIALS) + rest
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return open_study(folder)


def both_players(study: Study) -> TapsFor:
    """Both are right, and take turns at being first."""
    first, second = (player.grab_keys for player in study.settings.responses.players)

    def taps_for(trial: TrialPlan, stimulus: Stimulus) -> tuple[tuple[Tap, ...], tuple[Tap, ...]]:
        answer = stimulus.solution.answer
        delays_s = (0.25, 0.40) if trial.trial_index % 2 else (0.40, 0.25)
        return (), (Tap(first[answer], delays_s[0], 0.03), Tap(second[answer], delays_s[1], 0.03))

    return taps_for


def play(folder: Path, name: str) -> tuple[RunLog, Comparison]:
    study = write_study(folder / "study", name)
    taps_for = both_players(study) if name == "two-players" else right_answers(study)
    others = ("second",) if name == "two-players" else ()
    with virtual_display() as xvfb:
        robot_log = play_with_robot(
            study,
            script_session(study.plan(SEED), study.screens, taps_for),
            dataset=folder / "data",
            participant="robot",
            others=others,
            seed=SEED,
            picture=xvfb.picture,
        )
    run = read_log(log_path(folder / "data" / "logs", "robot", session=1, run=1))
    return run, compare(robot_log, run)


@pytest.mark.parametrize("name", STUDIES)
def test_whole_session_is_played_and_every_event_is_logged(tmp_path: Path, name: str) -> None:
    run, comparison = play(tmp_path, name)
    trials = list(run.of_type("trial"))
    assert run.status == "completed"
    assert len(trials) == N_TRIALS
    assert (comparison.n_lost, comparison.n_invented) == (0, 0)
    assert comparison.n_logged == comparison.n_injected
    for trial in trials:
        for score in trial.get("players", [trial]):
            assert score["correct"], (trial["card"], score)
    if name == "spooky-doo":
        assert [r for r in run.of_type("hat") if r["mover"] == "participant"]
    if name == "five-to-twelve":
        assert len({t["answer_kind"] for t in trials}) > 1
    if name == "two-players":
        winners = [t["round"]["winner"] for t in trials]
        assert winners == ["robot" if t["trial_index"] % 2 else "second" for t in trials]
        assert sum(trials[-1]["round"]["n_won"].values()) == N_TRIALS
