"""A study's settings, which change its data: they are hashed and stand in every log."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, GameSettings, HatMover, Mode, make_game, suggestion
from ghostblitz_task.schema import RULES
from ghostblitz_task.settings_files import Key, Name, Settings, load_settings

__all__ = ["BlockSettings", "SequenceSettings", "StudySettings", "load_study"]

STUDY_FILE = "study.toml"

Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


Rate = Annotated[float, Field(ge=0, le=1)]
#: TOML has no null, so a file says "free".
RunLimit = Annotated[
    Annotated[int, Field(ge=1)] | None, BeforeValidator(lambda v: None if v == "free" else v)
]
Degrees = Annotated[float, Field(gt=0, le=90, allow_inf_nan=False)]


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


def load_study(folder: Path, *, language: str | None = None) -> StudySettings:
    """Read a study's task settings from its folder (or from the TOML file itself)."""
    path = folder / STUDY_FILE if folder.is_dir() else folder
    if not path.exists():
        raise ConfigError(f"{folder} is no study; a study is a folder that holds {STUDY_FILE}")
    return load_settings(
        path, StudySettings, overrides={"study.language": language} if language else None
    )
