"""The language files: each says the same things, and everything that a game names."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest
from drawn_studies import PLAYED_FOR, VARIANTS, drawn_screens, self_paced_screens, trial_screens

from ghostblitz_task import texts
from ghostblitz_task.cards import is_clock_time
from ghostblitz_task.config import BlockSettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import GameSettings, available_games, make_game
from ghostblitz_task.screens import Words
from ghostblitz_task.settings_files import load_settings
from ghostblitz_task.texts import Texts, available_languages, load_texts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES = available_languages()


def table(language: str) -> dict[str, Any]:
    return tomllib.loads((files(texts) / f"{language}.toml").read_text(encoding="utf-8"))


def flat(value: Any, path: str = "") -> dict[str, str]:
    """Every text of a language file by its place."""
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        return {path: value}
    return {k: v for key, inner in pairs for k, v in flat(inner, f"{path}.{key}").items()}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_there_are_english_and_german() -> None:
    assert {"de", "en"} <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_has_the_texts_and_placeholders_of_english(language: str) -> None:
    english, other = flat(table("en")), flat(table(language))
    assert set(other) == set(english)
    for place, text in english.items():
        assert placeholders(other[place]) == placeholders(text), place
        is_choice = place.endswith(".shows") or (".notes." in place and place.endswith(".place"))
        if ".when." in place or ".unless." in place or is_choice:
            assert other[place] == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_or_has_stray_spaces(language: str) -> None:
    for place, text in flat(table(language)).items():
        if place.endswith("separator"):
            continue  # stands between two names
        assert text == text.strip() != "", place
        assert "  " not in text, place
        assert " ," not in text, place
        assert " ." not in text, place


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", available_games())
def test_every_item_and_colour_of_every_game_has_a_name(name: str, language: str) -> None:
    game, loaded = make_game(GameSettings(name)), load_texts(language)
    assert set(game.item_colours) <= set(loaded.items)
    assert set(game.item_colours.values()) <= set(loaded.colours)
    names = [loaded.item(item) for item in game.item_colours]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_file_is_named_by_its_language(language: str) -> None:
    assert load_texts(language).language == language


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_answer_has_a_name_of_its_own(variant: str, language: str) -> None:
    screens = drawn_screens(variant, language=language)
    game, loaded = screens.game, screens.texts
    for mode in game.modes:
        answers = game.answers(mode)
        named = {a for a in answers if a in loaded.items or a in loaded.colours}
        assert all(is_clock_time(a) for a in set(answers) - named)
        assert len({loaded.answer(a) for a in answers}) == len(answers)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("variant", [*VARIANTS, *PLAYED_FOR])
def test_every_placeholder_is_filled_on_every_screen(variant: str, language: str) -> None:
    screens = drawn_screens(variant, language=language)
    for screen in (*trial_screens(screens), *self_paced_screens(screens)):
        words = [e.text for e in (*screen.elements, *screen.table) if isinstance(e, Words)]
        assert words, screen.name
        assert not any(c in text for text in words for c in "{}"), screen.name
    for _, again in screens.key_check():
        words = [e.text for e in again.elements if isinstance(e, Words)]
        # The key that was pressed is filled in when it is known.
        assert sum(text.count("{") for text in words) == 1
        assert any("{pressed}" in text for text in words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_block_type_has_a_text(language: str) -> None:
    types = get_args(BlockSettings.model_fields["type"].annotation)
    blocks = [{"label": t, "type": t, "n_trials": 6} for t in types]
    screens = drawn_screens(
        "five-to-twelve+mirror+owl+mirror-owl", language=language, blocks=blocks
    )
    said = [
        [e.text for e in screens.block_intro(b, number=1, n_blocks=6).elements if
         isinstance(e, Words)][1]
        for b in screens.settings.blocks
    ]  # fmt: skip
    assert len(set(said)) == len(types)
    assert all("6" in text for text in said)


def test_unnamed_things_keep_their_identifiers_and_letters_their_capitals() -> None:
    english = load_texts("en")
    assert english.item("dragon") == "dragon"
    assert english.colour("mauve") == "mauve"
    assert english.key("a") == "A"
    assert english.key("space") == "the space bar"


def test_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"study\.language: there is no language 'dee'.*de, en"):
        load_texts("dee")


def test_file_that_lacks_a_text_is_refused_by_its_place(tmp_path: Path) -> None:
    whole = (files(texts) / "de.toml").read_text(encoding="utf-8")
    path = tmp_path / "xx.toml"
    path.write_text(whole.replace('late = "zu spät"', ""), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"xx\.toml: feedback\.late is missing"):
        load_settings(path, Texts)
    path.write_text(whole.replace("late = ", "latte = "), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"feedback\.latte is not a setting; .*late\?"):
        load_settings(path, Texts)
