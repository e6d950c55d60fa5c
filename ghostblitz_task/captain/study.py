"""A study with the captain's deck, as `run` and `simulate` see any study."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.captain.game import game_rng
from ghostblitz_task.captain.loop import run_captain_session
from ghostblitz_task.captain.players import make_player
from ghostblitz_task.captain.screens import CaptainScreens
from ghostblitz_task.captain.simulated import PlayedApparatus
from ghostblitz_task.captain.study_settings import GAME, CaptainStudySettings, load_captain_study
from ghostblitz_task.captain.table import CaptainTable
from ghostblitz_task.config import STUDY_FILE
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.palettes import Palette
from ghostblitz_task.presenting import Recorder
from ghostblitz_task.seeds import rng_for
from ghostblitz_task.session import SessionOutcome
from ghostblitz_task.session_header import SessionIdentity, header_start, in_utc
from ghostblitz_task.texts import load_texts
from ghostblitz_task.trial_log import RunLog

__all__ = ["CaptainSession", "CaptainStudy", "games_sha256", "open_captain_study"]


@dataclass(frozen=True)
class CaptainStudy:
    """A study that has been checked whole: it can be drawn and run."""

    folder: Path
    settings: CaptainStudySettings
    screens: CaptainScreens

    default_model = "forgetting"

    @property
    def palette(self) -> Palette:
        """The colours, for the window."""
        return self.screens.palette

    @property
    def extent_deg(self) -> tuple[float, float]:
        """Width and height, in degrees, that a screen must have at least."""
        return self.screens.extent_deg()

    @property
    def pointer_visible(self) -> bool:
        """Whether droppings are picked with the pointer."""
        return self.settings.pointer

    @property
    def n_players(self) -> int:
        """How many play together at one machine."""
        return self.settings.captain.n_players

    def check(self, seed: int) -> None:
        """Refuse what cannot be played, before anything is written.

        Raises
        ------
        ConfigError
            If the seed is negative, there is no room on deck, or the physics are not installed.
        """
        for index, block in enumerate(self.settings.blocks):
            CaptainTable(self.settings.game_of(block), rng=game_rng(seed, index))

    def read_settings(self, path: Path) -> CaptainStudySettings:
        """Read the settings of a copy of a study in this one's language."""
        return load_captain_study(path, language=self.settings.study.language)

    def plan_sha256(self, seed: int) -> str:
        """Return the hash of what comes in a session."""
        return games_sha256(self.settings, seed)

    def n_done(self, run: RunLog) -> int:
        """Return how many games of a session were begun, in this run of it or before.

        A game that was cut short is not played again: its colours have been seen.

        Raises
        ------
        ConfigError
            If there is none left.
        """
        earlier: int = (run.header["resumes"] or {"n_games": 0})["n_games"]
        begun = [int(block["block_index"]) + 1 for block in run.of_type("block")]
        n_games = max([earlier, *begun])
        if n_games >= len(self.settings.blocks):
            raise ConfigError(
                f"{run.path.name}: all {n_games} games of this session were begun, and a game "
                "that was cut short is not played again; begin another session with --session"
            )
        return n_games

    def prepare(self, logs: Path, identity: SessionIdentity) -> CaptainSession:
        """Check that a session can be run as it is.

        Raises
        ------
        ConfigError
            If there are more or fewer people than the study is for, or a game cannot be played.
        """
        n_named = 1 + len(identity.others)
        if n_named != self.n_players:
            raise ConfigError(
                f"study {self.settings.study.id} is for {self.n_players} at one machine, but "
                f"{n_named} are named; the others are named by --with"
            )
        self.check(identity.seed)
        return CaptainSession(self, identity)

    def simulated_apparatus(self, model: str, seed: int) -> Apparatus:
        """Seat simulated players of a model, each with randomness of its own.

        Raises
        ------
        ConfigError
            If there is no such model.
        """
        seats = [
            (make_player(model), rng_for(seed, "participant", seat or None))
            for seat in range(self.n_players)
        ]
        return PlayedApparatus(seats, settings=self.settings, board=self.screens.board)


@dataclass(frozen=True)
class CaptainSession:
    """A session about to be run."""

    study: CaptainStudy
    identity: SessionIdentity

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
        """Play the games that are left; see `run_captain_session`."""
        resumes, identity = self.identity.resumes, self.identity
        return run_captain_session(
            self.study.settings,
            screens=self.study.screens.with_key_labels(apparatus.key_labels()),
            apparatus=apparatus,
            log=log,
            header=self._header(apparatus, apparatus_settings, started, timing_self_test),
            seed=identity.seed,
            players=(identity.participant_id, *identity.others),
            first_game=resumes.n_trials if resumes else 0,
            stop_requested=stop_requested,
            on_game=on_trial,
        )

    def _header(
        self,
        apparatus: Apparatus,
        apparatus_settings: ApparatusSettings,
        started: datetime | None,
        timing_self_test: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        settings, identity = self.study.settings, asdict(self.identity)
        if identity["resumes"] is not None:
            # What is counted here are games.
            identity["resumes"]["n_games"] = identity["resumes"].pop("n_trials")
        return {
            **header_start(settings, apparatus, apparatus_settings, identity, timing_self_test),
            "game": {"name": GAME, "games": settings.games_json()},
            "plan_sha256": self.study.plan_sha256(self.identity.seed),
            "n_games_planned": len(settings.blocks),
            "started_utc": in_utc(started),
        }


def games_sha256(settings: CaptainStudySettings, seed: int) -> str:
    """Return the hash of the games that settings and seed give."""
    text = json.dumps([settings.games_json(), seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def open_captain_study(folder: Path, *, language: str | None = None) -> CaptainStudy:
    """Read a study and check that all it needs is there.

    Raises
    ------
    ConfigError
        For anything that would go wrong later: settings, language, drawings.
    """
    path = folder / STUDY_FILE if folder.is_dir() else folder
    settings = load_captain_study(path, language=language)
    screens = CaptainScreens(settings, load_texts(settings.study.language))
    for _ in screens.instructions():
        pass
    return CaptainStudy(path.parent, settings, screens)
