"""Settings, and a study with the captain's deck from its folder to its logs."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from captain_games import COLOUR_KEYS, Do, ScriptedGame, make_settings, study_table, write_study

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.captain.study_settings import DeckOfCaptain
from ghostblitz_task.config import ApparatusSettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.screen_elements import WRAP_DEG, Drawing, Words, box_of
from ghostblitz_task.studies import (
    begin_dataset,
    find_resumable,
    log_session,
    new_identity,
    open_study,
    resume_identity,
    simulate_study,
)
from ghostblitz_task.trial_log import RunLog, read_log

ROOT = Path(__file__).resolve().parents[2]
STUDIES = [ROOT / "experiments" / name for name in ("captain", "captain-static")]


# --- settings -----------------------------------------------------------------------------------


def test_settings_of_the_game_and_of_the_file_are_the_same_with_the_same_defaults():
    of_game = {f.name: f.default for f in dataclasses.fields(CaptainSettings)}
    of_file = {n: f.default for n, f in DeckOfCaptain.model_fields.items()}
    assert of_file == of_game


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"captain.mood": "static"}, r"captain\.mood is not a setting; did you mean mode"),
        ({"captain.n_per_colour": 9}, "n_per_colour is 9; expected 1 to 6"),
        ({"captain.returns_to": "place", "captain.mode": "moving"}, "returns_to is 'place'"),
        ({"responses.colour_keys": {**COLOUR_KEYS, "pink": "l"}}, "'pink' is no colour"),
        ({"responses.colour_keys": {"red": "d"}}, "'green' is missing"),
        ({"responses.nudge_key": "d"}, "key 'd' would mean two things"),
        ({"responses.quit_key": "space"}, "key 'space' would mean two things"),
        ({"responses.pick": "keys"}, "key 'd' would mean two things"),
        ({"display.palette": "none"}, "palette"),
        ({"blocks": [{"label": "a"}, {"label": "a"}]}, "two blocks have the same label"),
        ({"blocks": [{"label": "a", "max_turns": 0}]}, "greater than or equal to 1"),
        ({"study.language": "xx", "game.name": "capitano"}, "captain"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(overrides, message):
    with pytest.raises(ConfigError, match=message):
        make_settings(overrides)


def test_too_few_keys_for_the_droppings_are_refused():
    keys = {"responses.pick": "keys", "responses.pick_keys": ["a", "s"]}
    with pytest.raises(ConfigError, match="2 keys for 12 droppings"):
        make_settings(keys)


def test_looking_and_going_on_may_share_a_key():
    responses = make_settings().responses
    assert responses.look_key == responses.continue_key == "space"


def test_hash_changes_with_any_setting():
    assert make_settings().sha256 == make_settings().sha256
    assert make_settings(look_s=1.25).sha256 != make_settings().sha256


# --- screens ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.name)
def test_every_page_and_line_fits_on_the_screen(study, language):
    opened: Any = open_study(study, language=language)
    screens, settings = opened.screens, opened.settings
    width, height = screens.extent_deg()
    shown = [*screens.instructions(), screens.end(), screens.pause()]
    shown += [again for _, again in screens.key_check()]
    for block in settings.blocks:
        shown.append(screens.block_intro(block, number=1, n_games=3))
        shown.append(screens.everything(settings.game_of(block)))
    for status in ("won", "lost", "die_fell", "capped"):
        shown.append(screens.game_over(status, n_kept=12, n_fallen=12, done=1, n_games=3))
    for screen in shown:
        for element in screen.elements:
            box = box_of(element)
            assert -width / 2 <= box.left <= box.right <= width / 2, (screen.name, element)
            assert -height / 2 <= box.bottom <= box.top <= height / 2, (screen.name, element)
        if screen.name == "game":
            continue
        words = [box_of(e) for e in screen.elements if isinstance(e, Words)]
        drawn = [box_of(e) for e in screen.elements if isinstance(e, Drawing)]
        for i, box in enumerate(words):
            assert not any(box.overlaps(other) for other in words[i + 1 :]), screen.name
            assert not any(box.overlaps(other) for other in drawn), screen.name
    assert width <= WRAP_DEG


@pytest.mark.parametrize("language", ["en", "de"])
def test_lines_of_a_game_are_one_line_each_and_cover_nothing(language):
    opened: Any = open_study(STUDIES[0], language=language)
    screens = opened.screens
    game = opened.settings.game_of(opened.settings.blocks[-1])
    still = [box_of(e) for e in screens.still(game)]
    for line in screens.lines(game):
        box = box_of(line)
        assert box.top - box.bottom < 1.0, line.text
        assert not any(box.overlaps(other) for other in still), line.text


# --- from folder to logs ------------------------------------------------------------------------


class Dies(BaseException):
    """Kills the session as a power cut would: nothing more is written."""


def run(
    folder: Path,
    games: list[list[Do]],
    *,
    resume: bool = False,
    dies_at_s: float | None = None,
    others: tuple[str, ...] = (),
) -> RunLog:
    study: Any = open_study(folder / "study")
    logs = begin_dataset(study, folder / "data")
    if resume:
        identity = resume_identity(study, find_resumable(logs, "P01", session=1))
    else:
        identity = new_identity(logs, "P01", session=1, seed=3, source="human", others=others)
    apparatus = ScriptedGame(study.settings, games)

    def stop() -> str | None:
        zero_s = apparatus.zero_s
        if dies_at_s is not None and zero_s is not None:
            now_s = apparatus._n_frames / apparatus.refresh_hz
            if now_s - zero_s > dies_at_s:
                raise Dies
        return None

    def open_apparatus() -> Apparatus:
        return apparatus

    path = logs / f"sub-P01_ses-01_run-{identity.run:02d}.jsonl"
    with contextlib.suppress(Dies):
        log_session(
            study,
            logs,
            identity,
            open_apparatus=open_apparatus,
            apparatus_settings=ApparatusSettings(),
            stop_requested=stop,
        )
    return read_log(path)


def turn(start_s: float) -> list[Do]:
    return [
        Do(start_s + 0.5, "pick", lambda view: view.deck.spots[0].dropping_id),
        Do(start_s + 1.0, "look"),
    ]


def three_games(tmp_path: Path, **captain: Any) -> Path:
    table = study_table(max_turns=2, **captain)
    table["blocks"] = [{"label": "a", "phase": "practice"}, {"label": "b"}, {"label": "c"}]
    write_study(tmp_path / "study", table)
    return tmp_path


def test_killed_game_keeps_its_whole_turns_and_resume_goes_on_with_the_next(tmp_path):
    folder = three_games(tmp_path)
    both = [*turn(0.0), *turn(3.5)]
    first = run(folder, [both, both], dies_at_s=2.0)
    assert first.status == "killed"
    assert [r["block_index"] for r in first.of_type("block")] == [0]
    second = run(folder, [both, both], dies_at_s=5.0, resume=True)
    assert [r["block_index"] for r in second.of_type("block")] == [1]
    # The first of two turns was over and on disk.
    assert [t["turn_index"] for t in second.of_type("turn")] == [0]
    assert not list(second.of_type("game"))
    third = run(folder, [both], resume=True)
    assert third.header["resumes"]["n_games"] == 2
    assert [r["block_index"] for r in third.of_type("block")] == [2]
    assert third.status == "completed"
    names = [r["name"] for r in third.of_type("screen")]
    assert not any(name.startswith("instructions") for name in names)
    assert any(name.startswith("key-check") for name in names)
    with pytest.raises(ConfigError, match="is complete; there is nothing to resume"):
        run(folder, [], resume=True)


def test_session_whose_games_were_all_begun_cannot_be_resumed(tmp_path):
    folder = three_games(tmp_path)
    both = [*turn(0.0), *turn(3.5)]
    run(folder, [both, both, [Do(0.5, "key", "escape")]])
    with pytest.raises(ConfigError, match="all 3 games of this session were begun"):
        run(folder, [], resume=True)


def test_quit_on_the_page_before_a_game_leaves_that_game_to_be_played(tmp_path):
    folder = three_games(tmp_path)
    study: Any = open_study(folder / "study")
    logs = begin_dataset(study, folder / "data")
    identity = new_identity(logs, "P01", session=1, seed=3, source="human")
    apparatus = ScriptedGame(study.settings, [])

    def stop() -> str | None:
        return "SIGTERM" if apparatus.screens[-1].name == "block-a" else None

    log_session(
        study, logs, identity, open_apparatus=lambda: apparatus,
        apparatus_settings=ApparatusSettings(), stop_requested=stop,
    )  # fmt: skip
    resumed = resume_identity(study, find_resumable(logs, "P01", session=1))
    assert resumed.resumes is not None
    assert resumed.resumes.n_trials == 0


def test_there_must_be_as_many_people_as_the_study_is_for(tmp_path):
    folder = three_games(tmp_path, n_players=2)
    with pytest.raises(ConfigError, match="is for 2 at one machine, but 1 are named"):
        run(folder, [])
    both = [*turn(0.0), *turn(3.5)]
    played = run(folder, [both, both, both], others=("P02",))
    assert [t["player_id"] for t in played.of_type("turn")] == ["P01", "P02"] * 3
    assert played.header["others"] == ["P02"]


def test_study_of_cards_cannot_share_a_data_set(tmp_path):
    folder = three_games(tmp_path)
    begin_dataset(open_study(folder / "study"), folder / "data")
    with pytest.raises(ConfigError, match="holds a study of another kind"):
        begin_dataset(open_study(ROOT / "experiments" / "classic-grab"), folder / "data")


def test_same_seed_gives_the_same_simulated_logs(tmp_path):
    for name in ("one", "two"):
        simulate_study(open_study(STUDIES[1]), tmp_path / name, n_participants=1, seed=7)
    one, two = (
        (tmp_path / name / "logs" / "sub-sim-00001_ses-01_run-01.jsonl").read_bytes()
        for name in ("one", "two")
    )
    assert one == two


@pytest.mark.parametrize("pick", ["pointer", "keys"])
def test_simulated_players_only_see_the_screen_and_finish_their_games(tmp_path, pick):
    table = study_table(n_players=2, returns_to="place")
    table["responses"] = {"pick": pick}
    write_study(tmp_path / "study", table)
    (path,) = simulate_study(
        open_study(tmp_path / "study"), tmp_path / "data", n_participants=1, seed=2,
        model="perfect",
    )  # fmt: skip
    log = read_log(path)
    assert log.status == "completed"
    (game,) = log.of_type("game")
    assert (game["outcome"], game["n_kept"]) == ("won", 12)
    results = {a["result"] for t in log.of_type("turn") for a in t["actions"]}
    assert results == {"done"}
    device = "pointer" if pick == "pointer" else "pick_keys"
    picks = {t["derived"]["pick_device"] for t in log.of_type("turn")}
    assert picks <= {device, "colour_keys"}


def test_unknown_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no model of a captain's player"):
        simulate_study(
            open_study(STUDIES[1]), tmp_path / "data", n_participants=1, seed=1, model="ex-gaussian"
        )


def test_static_study_needs_no_physics_and_other_studies_no_captain(tmp_path):
    write_study(tmp_path / "study", study_table())
    code = f"""
import sys
from pathlib import Path
import ghostblitz_task.cli
assert "numpy" not in sys.modules, "the command is slow to say how it is used"
from ghostblitz_task.studies import open_study
open_study(Path({str(ROOT / "experiments" / "classic-grab")!r}))
assert not any(name.startswith("ghostblitz_task.captain") for name in sys.modules)
study = open_study(Path({str(tmp_path / "study")!r}))
study.check(1)
assert "pymunk" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
