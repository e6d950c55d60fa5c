"""What `run` and `simulate` need of a study, whatever its game is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.config import STUDY_FILE, StudyInfo
from ghostblitz_task.palettes import Palette
from ghostblitz_task.presenting import Recorder
from ghostblitz_task.session import SessionOutcome
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.settings_files import read_toml
from ghostblitz_task.trial_log import RunLog

__all__ = ["PreparedSession", "RunnableStudy", "TaskSettings", "game_name"]


class TaskSettings(Protocol):
    """What every study's settings have."""

    @property
    def study(self) -> StudyInfo:
        """What the study is."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of the settings."""
        ...


class PreparedSession(Protocol):
    """A session that can be run as it is."""

    def run(
        self,
        apparatus: Apparatus,
        *,
        apparatus_settings: ApparatusSettings,
        log: Recorder,
        started: datetime | None,
        stop_requested: Callable[[], str | None],
        on_trial: Callable[[int, int], None],
        timing_self_test: Mapping[str, Any] | None = None,
    ) -> SessionOutcome:
        """Run it on an apparatus and log everything that happens."""
        ...


class RunnableStudy(Protocol):
    """A study of any game, checked whole."""

    @property
    def folder(self) -> Path:
        """Where it stands."""
        ...

    @property
    def settings(self) -> TaskSettings:
        """What changes its data."""
        ...

    @property
    def palette(self) -> Palette:
        """The colours, for the window."""
        ...

    @property
    def extent_deg(self) -> tuple[float, float]:
        """Width and height, in degrees, that a screen must have at least."""
        ...

    @property
    def pointer_visible(self) -> bool:
        """Whether answers are taken from mouse or touch."""
        ...

    @property
    def n_players(self) -> int:
        """How many play together at one machine."""
        ...

    @property
    def default_model(self) -> str:
        """Who answers where a simulation names nobody."""
        ...

    def check(self, seed: int) -> None:
        """Refuse what cannot be met, before anything is written, by `ConfigError`."""
        ...

    def read_settings(self, path: Path) -> TaskSettings:
        """Read the settings of a copy of a study in this one's language."""
        ...

    def plan_sha256(self, seed: int) -> str:
        """Return the hash of what comes in a session."""
        ...

    def n_done(self, run: RunLog) -> int:
        """Return how far a session came, up to this run of it: where the next run goes on."""
        ...

    def prepare(self, logs: Path, identity: SessionIdentity) -> PreparedSession:
        """Check that a session can be run as it is, and plan it."""
        ...

    def simulated_apparatus(self, model: str, seed: int) -> Apparatus:
        """Return an apparatus on a virtual clock with simulated participants of a model."""
        ...


def game_name(folder: Path) -> object:
    """Return the game that the settings name; null where there are none, or none that do."""
    path = folder / STUDY_FILE if folder.is_dir() else folder
    game = read_toml(path).get("game") if path.exists() else None
    return game.get("name") if isinstance(game, dict) else None
