"""What a game is, the base logic that every card game shares, and the games there are.

A game is one file in this folder that defines ``build(settings) -> Game``; it is found by
scanning, and one contract suite (``tests/contract``) runs on every one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games._card_game import CardGame, base_rule, item_role
from ghostblitz_task.games._protocol import Game
from ghostblitz_task.games._values import (
    DeckMargins,
    GameSettings,
    GameState,
    HatMover,
    Mode,
    Outcome,
    Response,
    Solution,
    Stimulus,
)

__all__ = [
    "CardGame",
    "DeckMargins",
    "Game",
    "GameSettings",
    "GameState",
    "HatMover",
    "Mode",
    "Outcome",
    "Response",
    "Solution",
    "Stimulus",
    "available_games",
    "base_rule",
    "item_role",
    "make_game",
    "suggestion",
]


@cache
def available_games() -> tuple[str, ...]:
    """Return the names of the games in this folder, in alphabetical order."""
    return tuple(
        sorted(
            module.name.replace("_", "-")
            for module in iter_modules(__path__)
            if not module.name.startswith("_")
        )
    )


def make_game(settings: GameSettings) -> Game:
    """Build a game as a study sets it; the same settings give the same game, which is pure.

    Raises
    ------
    ConfigError
        If there is no such game, or a setting does not fit it.
    """
    # The order of a study's items is part of the settings, which comparing mappings would not see.
    return _built(_HashableSettings(settings, tuple(settings.item_colours.items())))


@dataclass(frozen=True, slots=True)
class _HashableSettings:
    """Settings that can be looked up, their items in order."""

    settings: GameSettings
    items: tuple[tuple[str, str], ...]

    def __hash__(self) -> int:
        s = self.settings
        return hash((s.name, self.items, s.n_pictures, s.shout_item, s.rules, s.times))


@lru_cache(maxsize=256)
def _built(wanted: _HashableSettings) -> Game:
    settings = wanted.settings
    if settings.name not in available_games():
        raise ConfigError(
            f"{settings.name!r} is no game; there are {', '.join(available_games())}"
            + suggestion(settings.name, available_games())
        )
    module = import_module(f"{__name__}.{settings.name.replace('-', '_')}")
    game: Game = module.build(settings)
    return game


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?" for the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
