"""Studies for tests, small and with round numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghostblitz_task.config import StudySettings
from ghostblitz_task.games import CardGame, GameSettings, Stimulus, make_game
from ghostblitz_task.screens import Screens
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.texts import load_texts

ITEM_COLOURS = {"ghost": "white", "chair": "red", "bottle": "green", "book": "blue",
                "mouse": "grey"}  # fmt: skip
GRAB_KEYS = {"ghost": "a", "chair": "s", "bottle": "d", "book": "f", "mouse": "g"}
SHOUT_KEYS = {"ghost": "q", "chair": "w", "bottle": "e", "book": "r", "mouse": "t"}

SPOOKY_GRAB_KEYS = {"ghost": "a", "hat": "s", "bottle": "d", "barrel": "f", "mouse": "g"}
SPOOKY_SHOUT_KEYS = {"ghost": "q", "hat": "w", "bottle": "e", "barrel": "r", "mouse": "t"}


def study_table(game: str = "classic") -> dict[str, Any]:
    """The settings as they stand in a TOML file: 4 practice trials, then blocks of 6 and 6."""
    responses: dict[str, Any] = {"grab_keys": dict(GRAB_KEYS)}
    if game == "grab-or-shout":
        responses["shout_keys"] = dict(SHOUT_KEYS)
    if game == "spooky-doo":
        responses = {"grab_keys": dict(SPOOKY_GRAB_KEYS), "shout_keys": dict(SPOOKY_SHOUT_KEYS)}
    return {
        "study": {"id": "small", "title": "A small study"},
        "game": {"name": game},
        "blocks": [
            {"label": "practice", "phase": "practice", "n_trials": 4, "p_direct": 0.5},
            {"label": "one", "n_trials": 6, "p_direct": 0.5},
            {"label": "two", "type": "exclusion", "n_trials": 6},
        ],
        "timing": {
            "foreperiod_s": [0.5, 0.5],
            "deadline_s": 2.0,
            "second_response_window_s": 0.5,
            "feedback_s": 0.4,
            "inter_trial_interval_s": 0.3,
        },
        "responses": responses,
    }


def make_settings(
    game: str = "classic", overrides: Mapping[str, Any] | None = None
) -> StudySettings:
    """The small study with some settings changed, by dotted key path."""
    return validate_settings(
        study_table(game), StudySettings, where="study.toml", overrides=overrides
    )


def make_screens(settings: StudySettings) -> Screens:
    """The screens of a study in its language."""
    return Screens(settings, settings.make_game(), load_texts(settings.study.language))


def solved(text: str, game: str = "grab-or-shout", **settings: Any) -> tuple[Stimulus, CardGame]:
    """A card, solved, and the game that solved it."""
    made = make_game(GameSettings(game, **settings))
    return made.stimulus(made.parse(text), made.initial_state()), made
