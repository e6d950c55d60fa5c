"""Settings, and a study with the captain's deck from its folder to its logs."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from captain_games import COLOUR_KEYS, Do, ScriptedGame, make_settings, study_table, write_study

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.captain.board import Board, Props
from ghostblitz_task.captain.deck import DIE_SIDE
from ghostblitz_task.captain.events import DieSpot
from ghostblitz_task.captain.screens import CaptainScreens
from ghostblitz_task.captain.settings import COLOURS, CORNERS, CaptainSettings
from ghostblitz_task.captain.study_settings import DeckOfCaptain
from ghostblitz_task.captain.table import DeckView
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.palettes import load_palette
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
from ghostblitz_task.texts import load_texts
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
        ({"responses.nudge_key": "d"}, r"colour_keys\.red and nudge_key both use the key 'd'"),
        ({"responses.quit_key": "space"}, "look_key and quit_key both use the key 'space'"),
        (
            {"responses.pick": "keys", "responses.pick_keys": ["d", "e"]},
            r"colour_keys\.red and pick_keys both use the key 'd'",
        ),
        (
            {"responses.pick": "keys", "responses.pick_keys": ["e", "e"]},
            "pick_keys has 'e' twice",
        ),
        ({"responses.pick_keys": ["Q"]}, r"responses\.pick_keys\.0: 'Q' is the name of no key"),
        ({"responses.colour_keys.red": "1st"}, r"responses\.colour_keys\.red: '1st'"),
        ({"responses.look_key": "spce"}, r"responses\.look_key: 'spce' is .* did you mean space"),
        ({"responses.nudge_key": "spce"}, r"responses\.nudge_key: 'spce'"),
        ({"responses.continue_key": "spce"}, r"responses\.continue_key: 'spce'"),
        ({"responses.pause_key": "spce"}, r"responses\.pause_key: 'spce'"),
        ({"responses.quit_key": "spce"}, r"responses\.quit_key: 'spce'"),
        ({"display.deck_deg": 7.9}, r"display\.deck_deg: .* 8, but it is 7.9"),
        ({"display.deck_deg": 41}, r"display\.deck_deg: .* 40, but it is 41"),
        ({"captain.look_s": 0}, r"captain: look_s is 0.*; expected 0.1 or more"),
        ({"captain.time_limit_s": 0.5}, r"captain: time_limit_s is 0.5; expected 1 or more"),
        ({"captain.passing_s": 61}, r"captain: passing_s is 61.*; expected 0 to 60"),
        ({"display.palette": "none"}, "palette"),
        ({"blocks": [{"label": "a"}, {"label": "a"}]}, "two blocks have the same label"),
        ({"blocks": [{"label": "a", "max_turns": 0}]}, "greater than or equal to 1"),
        ({"study.language": "xx", "game.name": "capitano"}, "captain"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(overrides, message):
    with pytest.raises(ConfigError, match=message) as refused:
        make_settings(overrides)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.name)
def test_picking_by_keys_needs_no_other_setting_than_that(tmp_path, study):
    text = (study / "study.toml").read_text(encoding="utf-8")
    assert 'pick = "pointer"' in text
    (tmp_path / "study").mkdir()
    keyed = text.replace('pick = "pointer"', 'pick = "keys"')
    (tmp_path / "study" / "study.toml").write_text(keyed, encoding="utf-8")
    opened: Any = open_study(tmp_path / "study")
    responses = opened.settings.responses
    assert len(responses.pick_keys) >= 24
    assert not {*"dfjkn", "p", "space", "escape"} & set(responses.pick_keys)


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


def test_in_the_study_of_memory_the_place_does_not_show_what_was_seen():
    settings: Any = open_study(STUDIES[1]).settings
    assert {settings.game_of(block).returns_to for block in settings.blocks} == {"place"}


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


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("deck_deg", [8, 12, 40])
def test_nothing_beside_or_below_the_deck_overlaps_whatever_its_size(language, deck_deg):
    settings = make_settings(
        {"display.deck_deg": deck_deg, "responses.pick": "keys"}, mode="moving", n_per_colour=4
    )
    screens = CaptainScreens(settings, load_texts(language))
    game = settings.game_of(settings.blocks[0])
    colours = tuple(colour for colour in COLOURS for _ in range(4))
    view = DeckView(
        0.0, "looked", 0, 0, (), DieSpot(0.0, 0.0, "red"), (0.2, 0.2), 0, "red", colours, 16
    )
    sprites = list(screens.props.sprites(view, {}))
    # The tongs hold the dropping, and nothing else lies over anything.
    *beside, held, tongs = [
        box_of(replace(s.drawing, x_deg=s.x_deg, y_deg=s.y_deg)) for s in sprites[2:]
    ]
    still = [box_of(e) for e in screens.still(game)]
    things = [*still, *beside, held]
    for i, box in enumerate(things):
        assert not any(box.overlaps(other) for other in things[i + 1 :])
    assert not any(tongs.overlaps(box) for box in (*still, *beside))
    width, height = screens.extent_deg()
    for line in screens.lines(game):
        box = box_of(line)
        assert not any(box.overlaps(other) for other in (*things, tongs)), line.text
        assert -width / 2 <= box.left <= box.right <= width / 2
        assert -height / 2 <= box.bottom <= box.top <= height / 2


@pytest.mark.parametrize("mark", [-1, 1])
def test_the_die_at_the_wall_is_drawn_inside_the_frame(mark):
    board = Board(12.0, load_palette("standard"))
    at_wall = DeckView(
        0.0, "waiting", 0, 0, (), DieSpot(mark * 0.465, 0.1, "red"), None, None, None, (), 0
    )
    (die,) = Props(board, {}).sprites(at_wall, {})
    assert abs(die.x_deg) + 12 * DIE_SIDE / math.sqrt(2) == pytest.approx(6.0)
    assert die.y_deg == pytest.approx(1.2)


def pages(settings: Any, language: str) -> str:
    screens = CaptainScreens(settings, load_texts(language))
    return "\n".join(
        element.text.replace("\n", " ")
        for screen in screens.instructions()
        for element in screen.elements
        if isinstance(element, Words)
    )


WORDS = {
    "en": ("galley", "corner", "The Eye", "You have 2.5 seconds", "nothing moves by itself"),
    "de": ("Kombüse", "Ecke", "Das Auge", "haben Sie 2,5 Sekunden", "bewegt sich von selbst"),
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_pages_are_about_what_the_study_has(language):
    galley, corner, eye, limit, _ = WORDS[language]
    static = pages(make_settings(naming_s=2.5), language)
    railed = pages(make_settings(mode="moving", naming_s=2.5, railed_corners=CORNERS), language)
    moving = pages(make_settings(mode="moving", naming_s=2.5), language)
    assert all(word in moving for word in (galley, corner, eye, limit))
    assert limit in static
    assert not any(word in static for word in (galley, corner, eye))
    assert eye in railed
    assert make_settings().responses.nudge_key.upper() in railed
    assert not any(word in railed for word in (galley, corner))


@pytest.mark.parametrize("language", ["en", "de"])
def test_end_of_a_game_without_open_corners_does_not_speak_of_the_galley(language):
    screens = CaptainScreens(make_settings(), load_texts(language))
    for status in ("won", "capped"):
        for falls in (True, False):
            over = screens.game_over(
                status, n_kept=3, n_fallen=0, done=1, n_games=1, things_fall=falls
            )
            text = " ".join(e.text for e in over.elements if isinstance(e, Words))
            assert (WORDS[language][0] in text) is falls


@pytest.mark.parametrize("language", ["en", "de"])
def test_before_a_static_game_of_a_moving_study_it_is_said_that_nothing_moves(language):
    moving: Any = open_study(STUDIES[0], language=language)
    static: Any = open_study(STUDIES[1], language=language)
    for study in (moving, static):
        for block in study.settings.blocks:
            intro = study.screens.block_intro(block, number=1, n_games=3)
            text = " ".join(e.text for e in intro.elements if isinstance(e, Words))
            said = WORDS[language][-1] in text.replace("\n", " ")
            assert said is (study is moving and block.mode == "static")


@pytest.mark.parametrize("pick", ["pointer", "keys"])
def test_with_one_dropping_left_its_colour_may_be_named_at_once(pick):
    screens = CaptainScreens(make_settings({"responses.pick": pick}), load_texts("en"))
    assert "at once" not in screens.prompt("waiting", n_on_deck=2)
    last = screens.prompt("waiting", n_on_deck=1)
    assert "name its colour at once" in last
    game = screens.settings.game_of(screens.settings.blocks[0])
    assert last in [line.text for line in screens.lines(game)]
    assert screens.prompt("lifted", n_on_deck=0) == screens.prompt("lifted")


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


@pytest.mark.slow
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


@pytest.mark.slow
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
