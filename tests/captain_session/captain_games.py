"""Small studies with the captain's deck, and an apparatus that does what a test scripts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ghostblitz_task.apparatus.simulated import VirtualApparatus
from ghostblitz_task.captain.loop import run_captain_session
from ghostblitz_task.captain.screens import CaptainScreens, CaptainView
from ghostblitz_task.captain.study_settings import CaptainStudySettings
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import SessionOutcome
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.texts import load_texts

COLOUR_KEYS = {"red": "d", "green": "f", "blue": "j", "yellow": "k"}


def study_table(**captain: Any) -> dict[str, Any]:
    """The settings as they stand in a TOML file: one short static game by default."""
    return {
        "study": {"id": "small-captain", "title": "A small study"},
        "game": {"name": "captain"},
        "captain": {"mode": "static", "look_s": 1.0, "naming_s": 2.0, "passing_s": 0.5, **captain},
        "blocks": [{"label": "one"}],
        "responses": {"colour_keys": dict(COLOUR_KEYS)},
    }


def write_study(folder: Path, table: dict[str, Any]) -> Path:
    """Write settings as TOML; JSON's numbers, texts and arrays are TOML too."""
    lines = []
    for name, value in table.items():
        if name == "blocks":
            continue
        lines.append(f"[{name}]")
        for key, inner in value.items():
            text = json.dumps(inner).replace(": ", " = ") if isinstance(inner, dict) else None
            lines.append(f"{key} = {text or json.dumps(inner)}")
    for block in table["blocks"]:
        lines += ["[[blocks]]", *(f"{k} = {json.dumps(v)}" for k, v in block.items())]
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def make_settings(
    overrides: Mapping[str, Any] | None = None, /, **captain: Any
) -> CaptainStudySettings:
    """The small study with some settings changed, by dotted key path."""
    return validate_settings(
        study_table(**captain), CaptainStudySettings, where="study.toml", overrides=overrides
    )


@dataclass(frozen=True)
class Do:
    """One thing to do at a time of the game's clock; a pick by id, name, or a function of the view.

    `what` is ``pick``, ``look``, ``click-look``, ``click`` (a place in degrees), or ``key``.
    """

    t_s: float
    what: str
    which: Any = None


class ScriptedGame(VirtualApparatus):
    """Plays each game of a session by a list of things to do."""

    def __init__(
        self,
        settings: CaptainStudySettings,
        games: Sequence[Sequence[Do]],
        *,
        refresh_hz: float = 60.0,
        fails_at_s: float | None = None,
    ) -> None:
        super().__init__(np.random.default_rng(0), refresh_hz=refresh_hz)
        self.settings = settings
        self.games = [list(game) for game in games]
        self.fails_at_s = fails_at_s
        self.board = CaptainScreens(settings, load_texts("en")).board
        self.zero_s: float | None = None
        self.screens: list[Screen] = []
        self.n_between = 0
        self.prepared: list[Screen] = []

    def describe(self) -> dict[str, Any]:
        return {"apparatus": "scripted", "display_synchronised": True}

    def prepare(self, screens: Any) -> None:
        self.prepared.extend(screens)

    def between_trials(self) -> None:
        self.n_between += 1

    def present(self, screen: Screen) -> float:
        flip_s = super().present(screen)
        self.screens.append(screen)
        if not isinstance(screen.view, CaptainView):
            if self.zero_s is not None:
                self.zero_s = None
                self.games.pop(0)
            return flip_s
        if self.zero_s is None:
            self.zero_s = flip_s
        t_s = flip_s - self.zero_s
        if self.fails_at_s is not None and t_s >= self.fails_at_s:
            raise ApparatusError("the screen went dark")
        game = self.games[0]
        while game and game[0].t_s <= t_s + 1 / self.refresh_hz + 1e-9:
            self._do(game.pop(0), screen.view)
        return flip_s

    def _do(self, do: Do, view: CaptainView) -> None:
        assert self.zero_s is not None
        t_s = self.zero_s + do.t_s
        which = do.which(view) if callable(do.which) else do.which
        if do.what == "pick":
            spot = next(s for s in view.deck.spots if s.dropping_id == which)
            self.click(self.board.place_deg(spot.x, spot.y), t_s, 0.02)
        elif do.what == "click":
            self.click(which, t_s, 0.02)
        elif do.what == "look":
            self.press("space", t_s, 0.02)
        else:
            self.press(which, t_s, 0.02)


class ListLog:
    """Keeps records as they would be read back."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, record_type: str, record: Mapping[str, Any]) -> None:
        about = {"type": record_type, "n": len(self.records)}
        self.records.append(json.loads(json.dumps({**about, **record}, allow_nan=False)))

    def of_type(self, record_type: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == record_type]


@dataclass
class Played:
    """A session that was run."""

    log: ListLog
    apparatus: ScriptedGame
    outcome: SessionOutcome | None

    @property
    def turns(self) -> list[dict[str, Any]]:
        return self.log.of_type("turn")

    @property
    def games(self) -> list[dict[str, Any]]:
        return self.log.of_type("game")

    @property
    def colours(self) -> list[str]:
        return self.log.of_type("block")[0]["colours"]


def play(
    settings: CaptainStudySettings,
    *games: Sequence[Do],
    seed: int = 1,
    players: Sequence[str] = ("P01",),
    refresh_hz: float = 60.0,
    first_game: int = 0,
    fails_at_s: float | None = None,
    stop_requested: Callable[[], str | None] = lambda: None,
) -> Played:
    """Run a session; a failure of the apparatus leaves the outcome null."""
    apparatus = ScriptedGame(settings, games, refresh_hz=refresh_hz, fails_at_s=fails_at_s)
    log = ListLog()
    outcome = None
    with contextlib.suppress(ApparatusError):
        outcome = run_captain_session(
            settings,
            screens=CaptainScreens(settings, load_texts("en")),
            apparatus=apparatus,
            log=log,
            header={"study_id": "small-captain"},
            seed=seed,
            players=players,
            first_game=first_game,
            stop_requested=stop_requested,
        )
    return Played(log, apparatus, outcome)
