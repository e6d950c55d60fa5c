"""Settings of a study with the captain's deck: what changes its data, from TOML."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ghostblitz_task.captain.settings import COLOURS, CaptainSettings, Corner, DeckMode, ReturnsTo
from ghostblitz_task.config import StudyInfo
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion
from ghostblitz_task.palettes import load_palette
from ghostblitz_task.settings_files import Key, Name, Settings, load_settings

__all__ = ["GAME", "CaptainResponses", "CaptainStudySettings", "GameBlock", "load_captain_study"]

#: The game's name in a study.
GAME = "captain"

#: What droppings are labelled with, as far as a study has no other use for it: letters in reading
#: order on a US keyboard, then digits (0 looks like O).
_LABELS = tuple("qwertyuiopasdfghjklzxcvbnm123456789")
_COLOUR_KEYS = {"red": "1", "green": "2", "blue": "3", "yellow": "4"}

# The game itself says what is played where a study says nothing.
_DEFAULTS = CaptainSettings()

_Seconds = Annotated[float, Field(ge=0, le=7200, allow_inf_nan=False)]
#: On a smaller deck droppings are too small to click on; a larger one fits no screen.
DeckDegrees = Annotated[float, Field(ge=8, le=40, allow_inf_nan=False)]


class GameName(Settings):
    """Which game the study is of."""

    name: Literal["captain"]


class DeckOfCaptain(Settings):
    """The game as all blocks play it; what each means and may be: `CaptainSettings`."""

    mode: DeckMode = _DEFAULTS.mode
    railed_corners: tuple[Corner, ...] = _DEFAULTS.railed_corners
    n_per_colour: int = _DEFAULTS.n_per_colour
    n_players: int = _DEFAULTS.n_players
    max_turns: int | None = _DEFAULTS.max_turns
    time_limit_s: _Seconds | None = _DEFAULTS.time_limit_s
    look_s: _Seconds = _DEFAULTS.look_s
    naming_s: _Seconds = _DEFAULTS.naming_s
    passing_s: _Seconds = _DEFAULTS.passing_s
    eye_speed_per_s: float = _DEFAULTS.eye_speed_per_s
    allow_nudging: bool = _DEFAULTS.allow_nudging
    returns_to: ReturnsTo = _DEFAULTS.returns_to


class GameBlock(Settings):
    """One block: one game from its first layout to its end.

    Attributes
    ----------
    mode : str or None
        Overrides that of the study for this game.
    max_turns : int or None
        Likewise; a short game for practice, say.
    """

    label: Name
    phase: Literal["practice", "test"] = "test"
    mode: DeckMode | None = None
    max_turns: int | None = Field(default=None, ge=1)


class CaptainResponses(Settings):
    """How droppings are picked and which keys mean what.

    Attributes
    ----------
    pick : str
        ``pointer``: a click takes the dropping under the pointer. ``keys``: each dropping shows
        one of `pick_keys`, given anew each turn in reading order of the places, so that a label
        says nothing about which dropping it is. Where the study names none, `pick_keys` are the
        letters and digits that mean nothing else in it.
    colour_keys : dict of str to str
        Name the colour that was seen; they also claim the last dropping.
    look_key : str
        Looks under the dropping in the tongs, as a second click does.
    pause_key : str
        Asks for a pause after the game.
    """

    pick: Literal["pointer", "keys"] = "pointer"
    pick_keys: tuple[Key, ...] = ()
    colour_keys: dict[str, Key] = Field(default_factory=lambda: dict(_COLOUR_KEYS))
    look_key: Key = "space"
    nudge_key: Key = "n"
    continue_key: Key = "space"
    pause_key: Key = "p"
    quit_key: Key = "escape"

    @model_validator(mode="after")
    def _keys_mean_one_thing(self) -> CaptainResponses:
        for colour in self.colour_keys:
            if colour not in COLOURS:
                hint = suggestion(colour, COLOURS)
                raise ValueError(f"colour_keys: {colour!r} is no colour{hint}")
        for colour in COLOURS:
            if colour not in self.colour_keys:
                raise ValueError(f"colour_keys: {colour!r} is missing")
        meanings = [(f"colour_keys.{colour}", key) for colour, key in self.colour_keys.items()]
        names = ["look_key", "nudge_key", "continue_key", "pause_key", "quit_key"]
        # Going on is asked for between games only, so that it may share the key for looking.
        if self.continue_key == self.look_key:
            names.remove("continue_key")
        meanings += [(name, getattr(self, name)) for name in names]
        if "pick_keys" not in self.model_fields_set:
            used = {key for _, key in meanings}
            free = tuple(key for key in _LABELS if key not in used)
            object.__setattr__(self, "pick_keys", free)  # The settings are frozen once made.
        if self.pick == "keys":
            meanings += [("pick_keys", key) for key in self.pick_keys]
        seen: dict[str, str] = {}
        for name, key in meanings:
            if key in seen and seen[key] == name:
                raise ValueError(f"{name} has {key!r} twice")
            if key in seen:
                raise ValueError(f"{seen[key]} and {name} both use the key {key!r}")
            seen[key] = name
        return self


class CaptainDisplay(Settings):
    """What the participant sees, in degrees of visual angle."""

    palette: str = "standard"
    deck_deg: DeckDegrees = 12.0


class CaptainStudySettings(Settings):
    """Everything about a study with the captain's deck that changes its data."""

    study: StudyInfo
    game: GameName
    captain: DeckOfCaptain = DeckOfCaptain()
    blocks: tuple[GameBlock, ...] = Field(min_length=1)
    responses: CaptainResponses = CaptainResponses()
    display: CaptainDisplay = CaptainDisplay()

    @model_validator(mode="after")
    def _parts_fit_together(self) -> CaptainStudySettings:
        labels = [block.label for block in self.blocks]
        if len(set(labels)) < len(labels):
            raise ValueError("blocks: two blocks have the same label")
        for block in self.blocks:
            try:
                settings = self.game_of(block)
                missing = [
                    c for c in COLOURS if c not in load_palette(self.display.palette).colours
                ]
            except ConfigError as error:
                raise ValueError(str(error)) from error
            if missing:
                raise ValueError(f"display.palette: {self.display.palette} has no {missing[0]}")
            n_keys = len(self.responses.pick_keys)
            if self.responses.pick == "keys" and n_keys < settings.n_droppings:
                raise ValueError(
                    f"responses.pick_keys: {n_keys} keys for {settings.n_droppings} droppings"
                )
        return self

    def game_of(self, block: GameBlock) -> CaptainSettings:
        """Return the settings of a block's game.

        Raises
        ------
        ConfigError
            If it cannot be played.
        """
        values = self.captain.model_dump()
        values |= {
            name: value
            for name, value in (("mode", block.mode), ("max_turns", block.max_turns))
            if value is not None
        }
        return CaptainSettings(**values)

    def games_json(self) -> list[dict[str, Any]]:
        """Return the settings of each block's game, as they stand in the log's header."""
        return [
            {"label": block.label, "phase": block.phase, **dataclasses.asdict(self.game_of(block))}
            for block in self.blocks
        ]

    @property
    def pointer(self) -> bool:
        """Whether droppings are picked with the pointer."""
        return self.responses.pick == "pointer"

    @property
    def sha256(self) -> str:
        """The hash of the settings, the same however the file is laid out."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def load_captain_study(path: Path, *, language: str | None = None) -> CaptainStudySettings:
    """Read the settings of a study from its TOML file.

    Raises
    ------
    ConfigError
        Naming the file and the key path of the first fault.
    """
    overrides: Mapping[str, Any] | None = {"study.language": language} if language else None
    return load_settings(path, CaptainStudySettings, overrides=overrides)
