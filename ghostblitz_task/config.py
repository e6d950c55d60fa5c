"""Settings from TOML, validated whole before anything opens.

Task settings (`StudySettings`) change the data: they are hashed and stand in every log.
Apparatus settings (`ApparatusSettings`) change only how a study runs on one machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, GameSettings, HatMover, Mode, make_game, suggestion
from ghostblitz_task.schema import RULES

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

__all__ = [
    "ApparatusSettings",
    "BlockSettings",
    "SequenceSettings",
    "Settings",
    "StudySettings",
    "load_apparatus",
    "load_settings",
    "load_study",
    "read_toml",
]

STUDY_FILE = "study.toml"
APPARATUS_FILE = "apparatus.toml"

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


def _known_key(name: str) -> str:
    if name not in KEY_NAMES:
        raise ValueError(f"{name!r} is the name of no key{suggestion(name, KEY_NAMES)}")
    return name


#: As PsychoPy names keys, by their place on a US keyboard.
KEY_NAMES = frozenset(
    [
        *"abcdefghijklmnopqrstuvwxyz0123456789",
        *(f"f{n}" for n in range(1, 20)),
        *(f"num_{n}" for n in range(10)),
        *("num_add", "num_decimal", "num_divide", "num_enter", "num_equal", "num_multiply"),
        *("num_subtract", "numlock", "apostrophe", "backslash", "backspace", "bracketleft"),
        *("bracketright", "capslock", "comma", "delete", "down", "end", "equal", "escape"),
        *("function", "grave", "home", "insert", "lalt", "lcommand", "lctrl", "left", "less"),
        *("loption", "lshift", "lwindows", "menu", "minus", "pagedown", "pageup", "pause"),
        *("period", "pound", "quoteleft", "ralt", "rcommand", "rctrl", "return", "right"),
        *(
            "roption",
            "rshift",
            "rwindows",
            "scrolllock",
            "semicolon",
            "slash",
            "space",
            "tab",
            "up",
        ),
    ]
)
Key = Annotated[str, AfterValidator(_known_key)]
Pixels = Annotated[int, Field(ge=100, le=20_000)]
Rate = Annotated[float, Field(ge=0, le=1)]
#: TOML has no null, so a file says "free".
RunLimit = Annotated[
    Annotated[int, Field(ge=1)] | None, BeforeValidator(lambda v: None if v == "free" else v)
]
Degrees = Annotated[float, Field(gt=0, le=90, allow_inf_nan=False)]


class Settings(BaseModel):
    """Frozen settings that refuse what they do not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyInfo(Settings):
    """What the study is."""

    id: Name
    title: str
    language: str = "en"


class GameTable(Settings):
    """The game and what the study changes in it."""

    name: str
    item_colours: dict[str, str] = Field(default_factory=dict)
    n_pictures: int | None = Field(default=None, ge=1)
    shout_item: str | None = None
    rules: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    hat_mover: HatMover | None = None

    def game_settings(self) -> GameSettings:
        """Return these settings as the games take them."""
        return GameSettings(
            name=self.name,
            item_colours=self.item_colours,
            n_pictures=self.n_pictures,
            shout_item=self.shout_item,
            rules=frozenset(self.rules),
            times=self.times,
            hat_mover=self.hat_mover,
        )


class DeckSettings(Settings):
    """Which cards the study draws from; a custom deck lists them."""

    kind: Literal["standard", "balanced", "legal", "custom"] = "standard"
    cards: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _cards_go_with_custom(self) -> DeckSettings:
        if (self.kind == "custom") != bool(self.cards):
            raise ValueError('cards are listed exactly when kind = "custom"')
        return self


class BlockSettings(Settings):
    """One block of trials."""

    label: Name
    phase: Literal["practice", "test"] = "test"
    type: Literal["direct", "exclusion", "mirror", "mirror-owl", "time", "mixed"] = "mixed"
    n_trials: int = Field(ge=1, le=2000)
    p_direct: Rate | None = None

    @model_validator(mode="after")
    def _share_is_for_mixed_blocks(self) -> BlockSettings:
        if self.p_direct is not None and self.type != "mixed":
            raise ValueError("p_direct is for mixed blocks; a pure block has one rule")
        return self


class SequenceSettings(Settings):
    """Limits on the order of trials within a block; null, or "free", leaves a property free."""

    max_run_rule: RunLimit = 4
    max_run_target: RunLimit = 2
    max_run_mode: RunLimit = 5
    rule_switch_rate: Rate | None = None
    target_repetition_rate: Rate | None = None
    rate_tolerance: Rate = 0.05
    allow_card_repeats: bool = False


class TimingSettings(Settings):
    """Durations in seconds; the session converts them with the measured refresh rate."""

    foreperiod_s: tuple[Seconds, Seconds] = (0.6, 1.2)
    deadline_s: Annotated[float, Field(gt=0.1, le=600, allow_inf_nan=False)] = 8.0
    second_response_window_s: Seconds = 0.5
    feedback_s: Seconds = 0.6
    inter_trial_interval_s: Seconds = 0.5
    hat_move_s: Seconds = 1.2

    @model_validator(mode="after")
    def _shortest_comes_first(self) -> TimingSettings:
        if self.foreperiod_s[0] > self.foreperiod_s[1]:
            raise ValueError("foreperiod_s gives the shortest, then the longest")
        return self


class FeedbackSettings(Settings):
    """When the participant is told how the trial went."""

    show: Literal["off", "practice", "always"] = "practice"


class PlayerKeys(Settings):
    """The keys of one more player at the same machine."""

    grab_keys: dict[str, Key]
    shout_keys: dict[str, Key] = Field(default_factory=dict)


class ResponseSettings(Settings):
    """Which keys (or places) mean which response; the pointer is the first player's."""

    grab_keys: dict[str, Key]
    shout_keys: dict[str, Key] = Field(default_factory=dict)
    more_players: tuple[PlayerKeys, ...] = Field(default=(), max_length=3)
    pointer: bool = False
    continue_key: Key = "space"
    pause_key: Key = "p"
    quit_key: Key = "escape"

    @property
    def players(self) -> tuple[PlayerKeys, ...]:
        """The keys of each player, by seat; one in sessions of one."""
        first = PlayerKeys(grab_keys=self.grab_keys, shout_keys=self.shout_keys)
        return (first, *self.more_players)

    @model_validator(mode="after")
    def _keys_mean_one_thing(self) -> ResponseSettings:
        keys = [
            key
            for player in self.players
            for key in (*player.grab_keys.values(), *player.shout_keys.values())
        ]
        keys += [self.continue_key, self.pause_key, self.quit_key]
        twice = sorted({k for k in keys if keys.count(k) > 1})
        if twice:
            raise ValueError(f"key {twice[0]!r} would mean two things")
        return self


class RivalSettings(Settings):
    """A simulated rival: a model with RTs of its own, or the participant's earlier self.

    Attributes
    ----------
    kind : str
        ``model``, or ``ghost``: each card is answered as a random one of the participant's own
        earlier test trials of the same rule was.
    median_rt_s : dict of str to float
        By rule, for a model.
    spread : float
        Standard deviation of the natural logarithm of a model's RTs.
    error_rate : float
        A model's, for every rule.
    """

    kind: Literal["model", "ghost"] = "model"
    median_rt_s: dict[str, Annotated[float, Field(gt=0, le=600)]] = Field(default_factory=dict)
    spread: Annotated[float, Field(ge=0, le=3)] = 0.3
    error_rate: Rate = 0.05

    @model_validator(mode="after")
    def _model_has_rts(self) -> RivalSettings:
        for rule in self.median_rt_s:
            if rule not in RULES:
                raise ValueError(f"median_rt_s: {rule!r} is no rule{suggestion(rule, RULES)}")
        if (self.kind == "model") != bool(self.median_rt_s):
            raise ValueError('median_rt_s is given exactly when kind = "model"')
        return self


class CompanySettings(Settings):
    """Playing for the cards, alone or in company, in all test blocks.

    Attributes
    ----------
    max_recycled : int
        Most trials with cards that went back under the pile; they come after all others.
    rival : RivalSettings or None
        Plays along.
    """

    max_recycled: int = Field(default=20, ge=0, le=2000)
    rival: RivalSettings | None = None


class DisplaySettings(Settings):
    """What the participant sees, in degrees of visual angle; null takes what fits the game."""

    palette: str = "standard"
    picture_deg: Degrees | None = None
    item_deg: Degrees | None = None
    items_radius_deg: Degrees | None = None
    item_order: tuple[str, ...] = ()
    tabletop: Literal["visible", "masked"] = "visible"


class StudySettings(Settings):
    """Everything about a study that changes its data."""

    study: StudyInfo
    game: GameTable
    deck: DeckSettings = DeckSettings()
    blocks: tuple[BlockSettings, ...] = Field(min_length=1)
    sequence: SequenceSettings = SequenceSettings()
    timing: TimingSettings = TimingSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    responses: ResponseSettings
    company: CompanySettings | None = None
    display: DisplaySettings = DisplaySettings()

    @model_validator(mode="after")
    def _parts_fit_together(self) -> StudySettings:
        try:
            game = self.make_game()
        except ConfigError as error:
            raise ValueError(str(error)) from error
        labels = [b.label for b in self.blocks]
        if len(set(labels)) < len(labels):
            raise ValueError("blocks: two blocks have the same label")
        items = set(game.item_colours)
        for seat, player in enumerate(self.responses.players):
            where = f"responses.more_players.{seat - 1}" if seat else "responses"
            self._check_keys(f"{where}.grab_keys", player.grab_keys, "grab", game)
            if player.shout_keys and "shout" not in game.modes:
                raise ValueError(f"{where}.shout_keys: in {game.name} nothing is shouted")
            self._check_keys(f"{where}.shout_keys", player.shout_keys, "shout", game)
        if self.responses.more_players and self.company is None:
            raise ValueError("responses.more_players: several players play for cards; add company")
        if self.display.item_order:
            self._check_names("display.item_order", self.display.item_order, items, "item")
            if len(self.display.item_order) != len(items):
                raise ValueError("display.item_order names an item twice")
        return self

    def _check_keys(self, where: str, keys: Mapping[str, str], mode: Mode, game: Game) -> None:
        answers = game.answers(mode)
        # Names, colours and times may all be shouted, as the rules in play ask.
        kind = "item" if set(answers) <= set(game.item_colours) else "answer"
        self._check_names(where, keys, set(answers), kind)

    @staticmethod
    def _check_names(where: str, found: Collection[str], known: set[str], kind: str) -> None:
        for name in sorted(set(found) - known):
            hint = suggestion(name, known)
            raise ValueError(f"{where}: {name!r} is no {kind} of this game{hint}")
        for name in sorted(known - set(found)):
            raise ValueError(f"{where}: {name!r} is missing")

    def make_game(self) -> Game:
        """Build the game as this study sets it."""
        return make_game(self.game.game_settings())

    @property
    def items(self) -> tuple[str, ...]:
        """The items in the order in which they lie round the card."""
        return self.display.item_order or tuple(self.make_game().item_colours)

    @property
    def sha256(self) -> str:
        """The hash of the settings, the same however the file is laid out."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


class ApparatusSettings(Settings):
    """The machine: what changes only how a study runs.

    Attributes
    ----------
    screen_width_cm, viewing_distance_cm : float
        Measured with a ruler; sizes in degrees follow from them.
    fullscreen : bool
        Take the whole screen, as a study should; otherwise a window of `window_px`.
    refresh_hz : float
        Frames per second to keep where flips do not wait for the screen.
    key_backend : str
        ``ptb`` stamps the key itself; ``event`` stamps the time of polling and is refused
        unless `allow_polled_keys` says that this is known.
    patch_deg : float
        Side of the square in the lower left corner that turns white with the card, for a
        photodiode or the robot.
    """

    screen_index: int = Field(default=0, ge=0)
    fullscreen: bool = True
    window_px: tuple[Pixels, Pixels] = (1280, 720)
    screen_width_cm: float = Field(default=53.0, gt=1, le=1000)
    viewing_distance_cm: float = Field(default=60.0, gt=5, le=1000)
    refresh_hz: float = Field(default=60.0, ge=20, le=1000)
    key_backend: Literal["ptb", "event"] = "ptb"
    allow_polled_keys: bool = False
    patch_deg: float = Field(default=1.5, gt=0, le=10)


SettingsType = TypeVar("SettingsType", bound=Settings)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    ConfigError
        If it is missing, not UTF-8, or no TOML; with line and column.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error


def load_settings(
    path: Path, model: type[SettingsType], *, overrides: Mapping[str, Any] | None = None
) -> SettingsType:
    """Read settings of a kind from a TOML file.

    Parameters
    ----------
    path : Path
        The file.
    model : type of Settings
        What it is to hold.
    overrides : mapping, optional
        Values from the command line, by dotted key path.

    Raises
    ------
    ConfigError
        Naming the file and the key path of the first fault; an unknown key names the nearest
        known one.
    """
    return validate_settings(read_toml(path), model, where=str(path), overrides=overrides)


def validate_settings(
    table: Mapping[str, Any],
    model: type[SettingsType],
    *,
    where: str,
    overrides: Mapping[str, Any] | None = None,
) -> SettingsType:
    """Validate settings that were read already, as `load_settings` does."""
    merged = json.loads(json.dumps(table, default=str))
    for key_path, value in (overrides or {}).items():
        *parents, last = key_path.split(".")
        place = merged
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    try:
        # From JSON, since lists are then taken for tuples while nothing else is made to fit.
        return model.model_validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_in_words(error, model)}") from error


def _in_words(error: ValidationError, model: type[Settings]) -> str:
    faults = error.errors(include_url=False)
    # A misspelt key also leaves the right one missing: name the spelling.
    first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    key_path = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        text = f"{key_path} is not a setting{suggestion(str(first['loc'][-1]), known)}"
        text += "" if "did you mean" in text else f"; there are {', '.join(known)}"
    elif first["type"] == "missing":
        text = f"{key_path} is missing"
    elif first["type"] == "value_error":
        message = str(first["ctx"]["error"])
        text = f"{key_path}: {message}" if key_path else message
    else:
        message = first["msg"][0].lower() + first["msg"][1:]
        text = f"{key_path}: {message}, but it is {_short(first['input'])}"
    more = len(faults) - 1
    return text + (f" (and {more} more)" if more else "")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Follow a fault's location down the models and list the keys that stand there."""
    for part in location:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        inner = [annotation, *get_args(annotation)]
        models = [a for a in inner if isinstance(a, type) and issubclass(a, BaseModel)]
        if not models:
            return []
        model = models[0]
    return list(model.model_fields)


def load_study(folder: Path, *, language: str | None = None) -> StudySettings:
    """Read a study's task settings from its folder (or from the TOML file itself)."""
    path = folder / STUDY_FILE if folder.is_dir() else folder
    if not path.exists():
        raise ConfigError(f"{folder} is no study; a study is a folder that holds {STUDY_FILE}")
    return load_settings(
        path, StudySettings, overrides={"study.language": language} if language else None
    )


def load_apparatus(study_folder: Path, path: Path | None = None) -> ApparatusSettings:
    """Read the machine's settings: a given file, else the study's own, else the defaults."""
    own = study_folder / APPARATUS_FILE
    if path is None and not own.exists():
        return ApparatusSettings()
    return load_settings(path or own, ApparatusSettings)
