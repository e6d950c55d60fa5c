"""Cards of a trial table solved again, and responses judged again, each distinct one once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ghostblitz_task.errors import CardError, ConfigError, DatasetError
from ghostblitz_task.games import (
    Game,
    GameSettings,
    GameState,
    Response,
    Stimulus,
    make_game,
)

__all__ = [
    "GameOptions",
    "SolvedCard",
    "Solver",
    "check_answer",
    "direct_position",
    "item_colours_text",
    "read_item_colours",
    "rules_text",
]


def item_colours_text(item_colours: Mapping[str, str]) -> str:
    """Write a mapping of items to their own colours as in the column ``item_colours``."""
    return " ".join(f"{item}:{colour}" for item, colour in item_colours.items())


def read_item_colours(text: str) -> dict[str, str]:
    """Read a mapping back from the column ``item_colours``.

    Raises
    ------
    DatasetError
        If it is not ``item:colour`` pairs separated by spaces, or names an item twice.
    """
    pairs = [token.split(":") for token in text.split()]
    if not pairs or any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise DatasetError(f"{text!r} is no mapping of items to colours; write item:colour pairs")
    mapping = {item: colour for item, colour in pairs}
    if len(mapping) < len(pairs):
        raise DatasetError(f"{text!r} gives an item two colours of its own")
    return mapping


def rules_text(rules: Iterable[str]) -> str:
    """Write additional rules as in the column ``rules``."""
    return " ".join(sorted(rules))


def check_answer(response: Response, game: Game, stimulus: Stimulus) -> None:
    """Refuse a response that means nothing in a game.

    Beside what has a key, every item means something, and every colour where there are colours
    or times to be shouted; a right time counts however it is said.

    Raises
    ------
    DatasetError
        Naming the response and what it could be.
    """
    if response.mode not in game.modes:
        raise DatasetError(f"response mode {response.mode!r} does not exist in {game.name}")
    answers = game.answers(response.mode)
    known = {*game.item_colours, *answers}
    times: tuple[str, ...] = getattr(game, "times", ())
    if response.mode == "shout" and times:
        known |= set(game.item_colours.values())
    if response.answer not in known and response not in game.correct_responses(stimulus):
        what = "item" if set(answers) <= set(game.item_colours) else "answer"
        raise DatasetError(
            f"response {response.answer!r} is no {what} of this game ({', '.join(answers)})"
        )


@dataclass(frozen=True, slots=True)
class GameOptions:
    """What else a game depends on, beside its name, items and colours."""

    shout_item: str | None = None
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SolvedCard:
    """A card with its solution; `direct_position` is null unless the rule is direct."""

    game: Game
    stimulus: Stimulus
    direct_position: int | None


def direct_position(stimulus: Stimulus, item_colours: Mapping[str, str]) -> int | None:
    """Return the place of the picture in its own colour, from 0 at the left, on direct cards."""
    if stimulus.solution.rule != "direct":
        return None
    for place, picture in enumerate(stimulus.card.pictures):
        if any(item_colours[inner.item] == inner.colour for inner in picture):
            return place
    return None


class Solver:
    """Solves cards and judges responses; what was asked before is remembered.

    Parameters
    ----------
    options : GameOptions
        Further settings of the games.
    """

    def __init__(self, options: GameOptions | None = None) -> None:
        self.options = options or GameOptions()
        self._games: dict[tuple[str, str, int], Game] = {}
        self._cards: dict[tuple[str, str, str, str | None], SolvedCard | CardError] = {}
        self._judged: dict[tuple[str, str, str, str | None, str, str], str | None] = {}

    def game(self, name: str, item_colours: str, n_pictures: int) -> Game:
        """Return the game of this name with these items.

        Raises
        ------
        DatasetError
            If there is no such game, or the items do not fit it.
        """
        key = (name, item_colours, n_pictures)
        if key not in self._games:
            settings = GameSettings(
                name=name,
                item_colours=read_item_colours(item_colours),
                n_pictures=n_pictures,
                shout_item=self.options.shout_item,
                rules=self.options.rules,
            )
            try:
                self._games[key] = make_game(settings)
            except ConfigError as error:
                raise DatasetError(str(error)) from error
        return self._games[key]

    def solve(
        self, name: str, item_colours: str, card: str, hat_over: str | None = None
    ) -> SolvedCard | CardError:
        """Return the solved card, or the `CardError` that says why it has no single answer.

        Raises
        ------
        DatasetError
            If there is no such game, the items do not fit it, or where the hat is does not.
        """
        key = (name, item_colours, card, hat_over)
        if key not in self._cards:
            game = self.game(name, item_colours, max(1, len(card.split())))
            _check_hat(game, hat_over)
            try:
                stimulus = game.stimulus(game.parse(card), GameState(hat_over))
            except CardError as error:
                self._cards[key] = error
            else:
                place = direct_position(stimulus, game.item_colours)
                self._cards[key] = SolvedCard(game, stimulus, place)
        return self._cards[key]

    def judge(
        self,
        name: str,
        item_colours: str,
        card: str,
        response: Response,
        *,
        hat_over: str | None = None,
    ) -> str | None:
        """Return the kind of error that a response to a legal card is, or None if it is right.

        Raises
        ------
        DatasetError
            If the response is no answer in the game, or its mode none of the game's.
        """
        key = (name, item_colours, card, hat_over, response.mode, response.answer)
        if key not in self._judged:
            solved = self.solve(name, item_colours, card, hat_over)
            if isinstance(solved, CardError):
                raise DatasetError(str(solved))
            game = solved.game
            check_answer(response, game, solved.stimulus)
            self._judged[key] = game.error_kind(response, solved.stimulus)
        return self._judged[key]


def _check_hat(game: Game, hat_over: str | None) -> None:
    if hat_over is None and game.hideable:
        raise DatasetError(
            f"hat_over is missing, but {game.name} solves its cards by the item under the hat"
        )
    if hat_over is not None and hat_over not in game.hideable:
        known = f"it hides one of {', '.join(game.hideable)}" if game.hideable else "it has no hat"
        raise DatasetError(f"hat_over is {hat_over!r}, but in {game.name} {known}")
