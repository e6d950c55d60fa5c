"""Solve cards given as text, one JSON object for each: what `ghostblitz solve` prints."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import Game, GameSettings, GameState, make_game

__all__ = ["Request", "solve_lines", "solve_objects", "solve_request"]

# What `--jsonl-in` takes.
_KEYS = ("game", "card", "rules", "hat_over")


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A card with the game and the table it is solved on."""

    game: Game
    card: str
    hat_over: str | None = None


def solve_request(request: Request) -> dict[str, Any]:
    """Solve one card.

    Returns
    -------
    dict
        ``card``, ``rule``, ``mode``, ``answer``, ``answer_kind`` and ``target``; or, for an
        illegal card, ``card``, ``error`` (a code) and ``message``. The card text is the one
        that was given, so that answers can be joined to questions.
    """
    game = request.game
    try:
        state = state_of(game, request.hat_over)
        stimulus = game.stimulus(game.parse(request.card), state)
    except CardError as error:
        return _failed(request.card, error.code, str(error))
    solution = stimulus.solution
    return {
        "card": request.card,
        "rule": solution.rule,
        "mode": solution.mode,
        "answer": solution.answer,
        "answer_kind": solution.answer_kind,
        "target": solution.target,
    }


def state_of(game: Game, hat_over: str | None) -> GameState:
    """Return the table with the hat where it was said to be.

    Raises
    ------
    CardError
        With code ``malformed``, if the game has no hat that hides an item, or has one and
        nothing was said of it.
    """
    state = game.initial_state()
    if hat_over is None:
        if game.hideable:
            raise CardError(
                "malformed",
                f"in {game.name} the answer depends on what is under the hat; give hat_over, one "
                f"of {', '.join(game.hideable)}",
            )
        return state
    if not game.hideable:
        raise CardError("malformed", f"game {game.name} has no hat that could be over {hat_over}")
    return dataclasses.replace(state, hat_over=hat_over)


def solve_lines(lines: Iterable[str], game: Game, *, hat_over: str | None) -> Iterator[str]:
    """Solve one card per line; yields one line of JSON each."""
    for line in lines:
        yield _dumped(solve_request(Request(game, line.rstrip("\r\n"), hat_over)))


def solve_objects(lines: Iterable[str]) -> Iterator[str]:
    """Solve one request per line of JSON (`game`, `card`, `rules`, `hat_over`).

    Other keys are ignored, so that worked examples can be fed in as they are. A line that is no
    request gives an object with an error like an illegal card does.
    """
    for line in lines:
        yield _dumped(_solve_object(line))


def _solve_object(line: str) -> dict[str, Any]:
    try:
        wanted = json.loads(line)
    except (ValueError, RecursionError):
        return _failed(None, "malformed", f"this line is no JSON: {line.strip()[:60]!r}")
    if not isinstance(wanted, Mapping):
        return _failed(None, "malformed", f"give an object with {', '.join(_KEYS)}")
    card, name = wanted.get("card"), wanted.get("game")
    rules, hat_over = wanted.get("rules"), wanted.get("hat_over")
    if not isinstance(card, str) or not isinstance(name, str):
        return _failed(card, "malformed", "game and card are given as text")
    if rules is None:
        rules = []
    if not isinstance(rules, list) or not all(isinstance(r, str) for r in rules):
        return _failed(card, "malformed", "rules are given as a list of names")
    if hat_over is not None and not isinstance(hat_over, str):
        return _failed(card, "malformed", "hat_over is given as text")
    try:
        game = _game(name, frozenset(rules))
    except ConfigError as error:
        return _failed(card, "malformed", str(error))
    return solve_request(Request(game, card, hat_over))


@lru_cache(maxsize=256)
def _game(name: str, rules: frozenset[str]) -> Game:
    return make_game(GameSettings(name, rules=rules))


def _failed(card: object, code: str, message: str) -> dict[str, Any]:
    # What is no text cannot be echoed faithfully (a number too large, NaN).
    return {"card": card if isinstance(card, str) else None, "error": code, "message": message}


def _dumped(result: Mapping[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False)
