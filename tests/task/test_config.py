# ruff: noqa: E501 - one case a line
"""Settings: what is wrong is named by file and key path, and everything that is set is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from small_study import GRAB_KEYS, SHOUT_KEYS, make_settings, study_table

from ghostblitz_task import config
from ghostblitz_task.apparatus_settings import ApparatusSettings, load_apparatus
from ghostblitz_task.config import StudySettings, load_study
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.settings_files import load_settings, read_toml, validate_settings

ROOT = Path(__file__).resolve().parents[2]

GOOD = """
[study]
id = "small"
title = "Eine kleine Studie"

[game]
name = "classic"

[[blocks]]
label = "one"
n_trials = 6

[responses.grab_keys]
ghost = "a"
chair = "s"
bottle = "d"
book = "f"
mouse = "g"
"""


@pytest.fixture
def study(tmp_path: Path):
    def write(text: str = GOOD, encoding: str = "utf-8") -> Path:
        (tmp_path / "study.toml").write_text(text, encoding=encoding)
        return tmp_path

    return write


def test_small_file_is_a_study_with_the_defaults(study) -> None:
    settings = load_study(study())
    assert settings.study.id == "small"
    assert settings.timing.deadline_s == 8.0
    assert settings.timing.second_response_window_s == 0.5
    assert settings.items == ("ghost", "chair", "bottle", "book", "mouse")


def test_byte_order_mark_is_no_part_of_the_settings(study) -> None:
    assert load_study(study(GOOD, "utf-8-sig")) == load_study(study())


def test_windows_line_ends_change_nothing(study) -> None:
    assert load_study(study(GOOD.replace("\n", "\r\n"))).sha256 == load_study(study()).sha256


def test_file_that_is_not_utf8_is_refused(study, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(GOOD.replace("kleine", "kürzere").encode("latin-1"))
    with pytest.raises(ConfigError, match=r"study\.toml is not UTF-8 text"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace('"small"', "small"), r"study\.toml is not valid TOML: .*line 3"),
        (GOOD + 'ghost = "b"\n', r"study\.toml is not valid TOML: .*line 19"),
        (GOOD + "[study]\n", r"study\.toml is not valid TOML: .*line 19"),
        ("\x00", r"study\.toml is not valid TOML"),
    ],
)
def test_file_that_is_no_toml_is_refused_with_the_line(study, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_study(study(text))


def test_missing_folder_file_and_unreadable_one_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ConfigError, match=r"is no study; a study is a folder that holds study"):
            load_study(path)
    with pytest.raises(ConfigError, match=r"cannot be read"):
        read_toml(tmp_path)


def replaced(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (replaced("n_trials", "n_trails"), r"blocks\.0\.n_trails is not a setting; did you mean n_trials\?"),
        (replaced("[game]", "[gmae]"), r"gmae is not a setting; did you mean game\?"),
        (GOOD + "[timing]\ndeadlines = 3\n", r"timing\.deadlines is not a setting; did you mean deadline_s\?$"),
        (GOOD + "[display]\nxyz = 3\n", r"display\.xyz is not a setting; there are palette, "),
        (GOOD + "[sequence]\nmax_run_rules = 3\n", r"sequence\.max_run_rules .* max_run_rule\?"),
        (replaced('id = "small"\n', ""), r"study\.id is missing"),
        (replaced("n_trials = 6\n", ""), r"blocks\.0\.n_trials is missing"),
        (replaced('id = "small"', 'id = "My Study"'), r"study\.id: .*match pattern"),
        (replaced('id = "small"', 'id = "../x"'), r"study\.id: .*match pattern"),
        (replaced('title = "Eine kleine Studie"', "title = 5"), r"study\.title: .*string, but it is 5"),
        (replaced("n_trials = 6", "n_trials = 0"), r"blocks\.0\.n_trials: .*greater than or equal to 1"),
        (replaced("n_trials = 6", "n_trials = 2001"), r"blocks\.0\.n_trials: .*2000"),
        (replaced("n_trials = 6", "n_trials = 2.5"), r"blocks\.0\.n_trials: .*2\.5"),
        (replaced("n_trials = 6", 'n_trials = "six"'), r"blocks\.0\.n_trials: .*'six'"),
        (replaced("n_trials = 6", 'n_trials = 6\ntype = "direkt"'), r"blocks\.0\.type: .*'direkt'"),
        (replaced("n_trials = 6", "n_trials = 6\np_direct = 1.5"), r"blocks\.0\.p_direct: .*1\.5"),
        (replaced("n_trials = 6", 'n_trials = 6\ntype = "direct"\np_direct = 0.5'), r"blocks\.0: p_direct is for mixed"),
        (replaced("[[blocks]]", "[blocks]"), r"blocks: "),
        (GOOD + '[[blocks]]\nlabel = "one"\nn_trials = 3\n', r"two blocks have the same label"),
        (GOOD + "[timing]\ndeadline_s = nan\n", r"timing\.deadline_s: .*finite"),
        (GOOD + "[timing]\ndeadline_s = inf\n", r"timing\.deadline_s: "),
        (GOOD + "[timing]\ndeadline_s = 0.05\n", r"timing\.deadline_s: .*greater than 0\.1"),
        (GOOD + "[timing]\nfeedback_s = -1\n", r"timing\.feedback_s: .*-1"),
        (GOOD + "[timing]\nforeperiod_s = [1.2, 0.6]\n", r"timing: foreperiod_s gives the shortest"),
        (GOOD + "[timing]\nforeperiod_s = [0.6]\n", r"timing\.foreperiod_s"),
        (GOOD + "[timing]\nforeperiod_s = [0.6, nan]\n", r"timing\.foreperiod_s\.1"),
        (GOOD + "[sequence]\nrule_switch_rate = nan\n", r"sequence\.rule_switch_rate"),
        (GOOD + "[sequence]\nmax_run_rule = 0\n", r"sequence\.max_run_rule: "),
        (GOOD + '[deck]\nkind = "custom"\n', r"deck: cards are listed exactly when"),
        (GOOD + '[deck]\ncards = ["ghost:white book:red"]\n', r"deck: cards are listed exactly when"),
        (GOOD + '[deck]\nkind = "standrad"\n', r"deck\.kind: .*'standrad'"),
        (replaced('mouse = "g"\n', ""), r"responses\.grab_keys: 'mouse' is missing"),
        (replaced("mouse =", "mosue ="), r"responses\.grab_keys: 'mosue' is no item of this game; did you mean mouse\?"),
        (replaced('mouse = "g"', 'mouse = "a"'), r"responses: key 'a' would mean two things"),
        (replaced('mouse = "g"', 'mouse = "space"'), r"responses: key 'space' would mean two things"),
        (replaced('mouse = "g"', "mouse = 7"), r"responses\.grab_keys\.mouse: .*string"),
        (GOOD + '[responses.shout_keys]\nghost = "q"\n', r"responses\.shout_keys: in classic nothing is shouted"),
        (replaced('"classic"', '"clasic"'), r"'clasic' is no game; .*did you mean classic\?"),
        (replaced('"classic"', '"grab-or-shout"'), r"responses\.shout_keys: '\w+' is missing"),
        (replaced('"classic"', '"classic"\nn_pictures = 5'), r"n_pictures is 5"),
        (replaced('"classic"', '"classic"\nrules = ["owl"]'), r"owl is no additional rule"),
        (replaced('"classic"', '"classic"\nshout_item = "book"'), r"no picture asks for shouting"),
        (replaced('"classic"', '"classic"\nitem_colours = {a = "red"}'), r"game.n_pictures is 2"),
        (GOOD + '[display]\nitem_order = ["ghost", "chair"]\n', r"display\.item_order: '\w+' is missing"),
        (GOOD + '[display]\nitem_order = ["ghost", "chair", "bottle", "book", "mouse", "ghost"]\n', r"display\.item_order names an item twice"),
        (GOOD + "[display]\npicture_deg = 0\n", r"display\.picture_deg: .*greater than 0"),
        (GOOD + '[feedback]\nshow = "sometimes"\n', r"feedback\.show: .*'sometimes'"),
    ],
)  # fmt: skip
def test_fault_is_named_by_file_and_key_path(study, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_study(study(text))
    assert "study.toml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_misspelt_key_is_named_before_the_one_it_leaves_missing(study) -> None:
    with pytest.raises(ConfigError, match=r"n_trails is not a setting.*\(and \d more\)"):
        load_study(study(replaced("n_trials", "n_trails")))


@pytest.mark.parametrize("value", ['"6"', "true", "6.0"])
def test_number_of_trials_of_another_type_is_not_made_to_fit(study, value: str) -> None:
    with pytest.raises(ConfigError, match=r"blocks\.0\.n_trials: "):
        load_study(study(replaced("n_trials = 6", f"n_trials = {value}")))


@pytest.mark.parametrize("key", ['""', '" "', '"a b"'])
def test_key_without_a_name_that_a_keyboard_has_is_refused(study, key: str) -> None:
    with pytest.raises(ConfigError, match=r"responses\.grab_keys\.mouse"):
        load_study(study(replaced('mouse = "g"', f"mouse = {key}")))


PAD = '[[response_pads]]\nbuttons = { "1" = "s" }\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("screen_widht_cm = 50\n", r"screen_widht_cm is not a setting; did you mean screen_width_cm\?"),
        ("screen_width_cm = 0\n", r"screen_width_cm: "),
        ("refresh_hz = nan\n", r"refresh_hz: "),
        ("viewing_distance_cm = inf\n", r"viewing_distance_cm: "),
        ('key_backend = "iohub"\n', r"key_backend: .*'iohub'"),
        ("window_px = [1280]\n", r"window_px"),
        ("[markers.codes]\ncard = 20\n", r"codes: 'card' and 'grab' would both be 20"),
        (PAD + 'kind = "serial"\nport = "X"\ndevice_reports_releases = true\n', r"device_reports_releases is not for a pad of kind \"serial\""),
        (PAD + 'kind = "psychopy"\ndevice_class = "a.B"\nbaud = 9600\n', r"baud is not for a pad of kind \"psychopy\""),
    ],
)  # fmt: skip
def test_fault_of_the_machines_settings_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "apparatus.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        load_apparatus(tmp_path)
    assert "apparatus.toml: " in str(caught.value)


def test_machines_settings_are_the_given_file_else_the_studys_else_the_defaults(
    tmp_path: Path,
) -> None:
    assert load_apparatus(tmp_path) == ApparatusSettings()
    (tmp_path / "apparatus.toml").write_text("refresh_hz = 75\n", encoding="utf-8")
    assert load_apparatus(tmp_path).refresh_hz == 75
    (tmp_path / "mine.toml").write_text("refresh_hz = 100\n", encoding="utf-8")
    assert load_apparatus(tmp_path, tmp_path / "mine.toml").refresh_hz == 100


def test_language_from_the_command_line_replaces_the_studys(study) -> None:
    assert load_study(study(), language="de").study.language == "de"
    assert load_study(study()).study.language == "en"


def test_settings_cannot_be_changed(study) -> None:
    with pytest.raises(ValueError, match=r"frozen"):
        load_study(study()).study.id = "other"


def test_hash_is_of_the_settings_not_of_the_file(study) -> None:
    plain = load_study(study()).sha256
    assert load_study(study("# a comment\n" + GOOD + "[timing]\ndeadline_s = 8\n")).sha256 == plain
    assert load_study(study(GOOD + "[timing]\ndeadline_s = 7.9\n")).sha256 != plain


def test_own_mapping_names_the_items_of_the_keys() -> None:
    own = {"ball": "red", "cube": "red", "ring": "blue"}
    keys = {"ball": "a", "cube": "s", "ring": "d"}
    overrides = {
        "game.item_colours": own, "responses.grab_keys": keys, "deck.kind": "legal",
        "game.n_pictures": 1,
    }  # fmt: skip
    assert make_settings("classic", overrides).items == ("ball", "cube", "ring")


def test_shout_keys_are_kept_where_something_is_shouted() -> None:
    responses = make_settings("grab-or-shout").responses
    assert (responses.grab_keys, responses.shout_keys) == (GRAB_KEYS, SHOUT_KEYS)


# --- every setting is read somewhere ------------------------------------------------------------


def _leaves(model: type[BaseModel], path: str) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        inner = [a for a in (field.annotation, *get_args(field.annotation))
                 if isinstance(a, type) and issubclass(a, BaseModel)]  # fmt: skip
        if inner:
            yield from _leaves(inner[0], f"{path}{name}.")
        else:
            yield f"{path}{name}", name


LEAVES = [*_leaves(StudySettings, ""), *_leaves(ApparatusSettings, "apparatus.")]


@cache
def _names_read() -> set[str]:
    """Attributes read outside the models themselves, and names that `getattr` is given."""
    found: set[str] = set()
    folder = ROOT / "ghostblitz_task"
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif path.name == "ordering.py" and isinstance(node, ast.Constant):
                found.add(str(node.value))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), LEAVES, ids=[path for path, _ in LEAVES])
def test_every_setting_is_read_somewhere(path: str, name: str) -> None:
    assert name in _names_read()


def test_scan_for_settings_would_notice_one_that_nobody_reads() -> None:
    assert "deadline_s" in _names_read()
    assert "never_read_s" not in _names_read()
    assert len(LEAVES) > 40


def test_every_setting_is_documented_by_a_class_that_says_what_it_is() -> None:
    models = [m for m in vars(config).values() if isinstance(m, type) and issubclass(m, BaseModel)]
    for model in models:
        assert re.search(r"\w{4,}", model.__doc__ or ""), model


def test_wrong_kind_of_table_is_an_error_not_a_crash(tmp_path: Path) -> None:
    for value in ("3", '"x"', "[1]", "[[1]]", "true", "1979-05-27"):
        for key in StudySettings.model_fields:
            text = f"{key} = {value}\n"
            (tmp_path / "study.toml").write_text(text, encoding="utf-8")
            with pytest.raises(ConfigError, match=r"study\.toml: "):
                load_settings(tmp_path / "study.toml", StudySettings)


def test_overrides_reach_nested_settings() -> None:
    overrides: dict[str, Any] = {"timing.deadline_s": 3, "feedback.show": "off"}
    settings = make_settings("classic", overrides)
    assert settings.timing.deadline_s == 3
    assert settings.feedback.show == "off"


@pytest.mark.parametrize("name", ["hh", "Space", "é", "f99", "ctrl"])
def test_key_that_no_keyboard_has_is_refused_by_its_place(name: str) -> None:
    table = study_table()
    table["responses"]["grab_keys"]["ghost"] = name
    with pytest.raises(
        ConfigError, match=rf"responses\.grab_keys\.ghost: '{name}' is the name of no"
    ):
        validate_settings(table, StudySettings, where="study.toml")
