"""What each screen of a session with the captain's deck shows, as values; an apparatus draws them.

A frame of a game is a `Screen` of elements that stay as they are (deck, headings, keys), of a line
or two that were prepared, and of sprites at the places of this frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ghostblitz_task.captain.board import Board, Props
from ghostblitz_task.captain.pages import Pages
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.captain.study_settings import CaptainStudySettings, GameBlock
from ghostblitz_task.captain.table import DeckView
from ghostblitz_task.instructions import GO_ON_Y, LINE_DEG, PAGE_HEIGHT_DEG, TEXT_TOP_Y, TITLE_Y
from ghostblitz_task.instructions import TITLE_DEG as _TITLE_DEG
from ghostblitz_task.palettes import Palette, load_palette
from ghostblitz_task.screen_elements import (
    TEXT_DEG,
    WRAP_DEG,
    Bar,
    Drawing,
    Element,
    Screen,
    Words,
    balanced,
)
from ghostblitz_task.table_layout import swatch_svg
from ghostblitz_task.texts import Texts

__all__ = ["CaptainScreens", "CaptainView"]

_SMALL_DEG = 0.65
# The line below the deck is as wide as the screen at most, and is never broken.
_LINE_WRAP_DEG = 30.0
_SWATCH_DEG, _CHECK_DEG = 1.0, 4.0
_KEYS_TOP_Y, _KEY_STEP_DEG = -0.9, 1.2


@dataclass(frozen=True, slots=True)
class CaptainView:
    """What a frame of a game shows: the deck, and the label of each dropping, where it has one."""

    deck: DeckView
    labels: Mapping[int, str]


@dataclass(frozen=True)
class CaptainScreens:
    """Makes the screens of one study in one language."""

    settings: CaptainStudySettings
    texts: Texts
    key_labels: Mapping[str, str] = field(default_factory=dict)
    palette: Palette = field(init=False)
    board: Board = field(init=False)
    props: Props = field(init=False)

    def __post_init__(self) -> None:
        palette = load_palette(self.settings.display.palette)
        board = Board(self.settings.display.deck_deg, palette)
        responses = self.settings.responses
        keys = responses.pick_keys if responses.pick == "keys" else ()
        object.__setattr__(self, "palette", palette)
        object.__setattr__(self, "board", board)
        object.__setattr__(self, "props", Props(board, {k: self.key_name(k) for k in keys}))

    def with_key_labels(self, labels: Mapping[str, str]) -> CaptainScreens:
        """Return the screens as they are on a keyboard with these labels."""
        return CaptainScreens(self.settings, self.texts, labels)

    def key_name(self, key: str) -> str:
        """Return what a participant calls a key: what is printed on it, else its name."""
        return self.key_labels.get(key) or self.texts.key(key)

    def extent_deg(self) -> tuple[float, float]:
        """Return the width and height, in degrees, that a screen must have at least."""
        width, height = self.board.extent_deg()
        return max(width, WRAP_DEG), max(height, PAGE_HEIGHT_DEG)

    # --- a game ------------------------------------------------------------------------------

    def still(self, settings: CaptainSettings) -> tuple[Element, ...]:
        """Return what stays as it is as long as a game goes on.

        Not as a screen's table, which is kept as a picture of the whole window: to lay that over
        each frame costs more than to draw these, where a processor does it.
        """
        texts, x = self.texts.captain, self.board.side_x
        heading_y = self.board.half_deg - 0.4
        return (
            self.board.deck(settings.railed_corners),
            Words(texts.collected, x, heading_y, _SMALL_DEG, bold=True),
            *self._galley_heading(settings, heading_y),
            *self._keys(settings),
        )

    def _galley_heading(self, settings: CaptainSettings, y_deg: float) -> Iterator[Element]:
        if settings.things_fall:
            yield Words(self.texts.captain.galley, -self.board.side_x, y_deg, _SMALL_DEG, bold=True)

    def _keys(self, settings: CaptainSettings) -> Iterator[Element]:
        """Draw each colour with its key, and say which key nudges."""
        responses, texts = self.settings.responses, self.texts.captain
        x, y = -self.board.side_x, _KEYS_TOP_Y
        for colour in COLOURS:
            yield Drawing(swatch_svg(colour, self.palette), x - 1.0, y, _SWATCH_DEG, _SWATCH_DEG)
            yield Words(self.key_name(responses.colour_keys[colour]), x + 0.6, y)
            y -= _KEY_STEP_DEG
        if settings.mode == "moving" and settings.allow_nudging:
            key = self.key_name(responses.nudge_key)
            yield Words(texts.nudge_key.format(key=key), x, y - 0.2, _SMALL_DEG)

    def lines(self, settings: CaptainSettings) -> tuple[Words, ...]:
        """Return every line that a game may show, to be prepared before it begins."""
        texts = self.texts.captain
        prompts = [self.prompt(phase) for phase in ("waiting", "lifted", "looked")]
        prompts.append(self.prompt("waiting", n_on_deck=1))
        below = [self.line(text) for text in prompts]
        below += [self.line(text) for text in texts.refusals.model_dump().values()]
        above = [self.whose_turn(i, settings.n_players) for i in range(settings.n_players)]
        return (*below, *(line for line in above if line is not None))

    def prompt(self, phase: str, *, n_on_deck: int | None = None) -> str:
        """Return what is to be done now; empty where nothing is.

        The last dropping on deck may be named at once.
        """
        texts, by_pointer = self.texts.captain, self.settings.pointer
        key = self.key_name(self.settings.responses.look_key)
        if phase == "waiting" and n_on_deck == 1:
            return texts.pick_last if by_pointer else texts.pick_last_keys
        if phase == "waiting":
            return texts.pick if by_pointer else texts.pick_keys
        if phase == "lifted":
            return (texts.look if by_pointer else texts.look_keys).format(key=key)
        return texts.name if phase == "looked" else ""

    def line(self, text: str) -> Words:
        """Return the line below the deck."""
        return Words(text, 0, -self.board.top_y, wrap_deg=_LINE_WRAP_DEG)

    def whose_turn(self, player_index: int, n_players: int) -> Words | None:
        """Return the line above the deck; None where one plays alone."""
        if n_players == 1:
            return None
        player = self.texts.company.player.format(number=player_index + 1)
        return Words(self.texts.captain.turn_of.format(player=player), 0, self.board.top_y)

    def everything(self, settings: CaptainSettings) -> Screen:
        """Return a screen of all that a game may show; it is prepared, but never shown."""
        elements = (*self.still(settings), *self.lines(settings))
        return Screen("game", elements, sprites=self.props.all_sprites())

    # --- self-paced screens ------------------------------------------------------------------

    def key_check(self) -> Iterator[tuple[Screen, Screen]]:
        """For each response key, the screen that asks for it, and the one after a wrong key."""
        responses, texts = self.settings.responses, self.texts.captain
        for colour in COLOURS:
            ask = texts.check_colour.format(
                colour=self.texts.colour(colour), key=self.key_name(responses.colour_keys[colour])
            )
            drawing = Drawing(swatch_svg(colour, self.palette), 0, 0.5, _CHECK_DEG, _CHECK_DEG)
            yield self._check(f"colour-{colour}", responses.colour_keys[colour], ask, drawing)
        key = responses.look_key
        ask = texts.check_look.format(key=self.key_name(key))
        yield self._check("look", key, ask, *Pages(self).gripped(0, 0.5))
        if self.nudging:
            key = responses.nudge_key
            ask = texts.check_nudge.format(key=self.key_name(key))
            yield self._check(
                "nudge", key, ask, Pages(self).die("red", 0, 0.5, size_deg=_CHECK_DEG)
            )

    @property
    def nudging(self) -> bool:
        """Whether the die may be nudged in any game of the study."""
        return any(g["mode"] == "moving" and g["allow_nudging"] for g in self._games)

    @property
    def _games(self) -> list[dict[str, Any]]:
        return self.settings.games_json()

    def _check(self, name: str, key: str, ask: str, *drawn: Element) -> tuple[Screen, Screen]:
        texts, name = self.texts.key_check, f"key-check-{name}"
        elements = (Words(texts.title, 0, 6.2, _TITLE_DEG, bold=True), *drawn, Words(ask, 0, -4.6))
        wrong = texts.wrong.format(pressed="{pressed}", key=self.key_name(key))
        again = (*elements, Words(wrong, 0, -6.4))
        return Screen(name, elements, awaits_keys=(key,)), Screen(name, again, awaits_keys=(key,))

    def instructions(self) -> Iterator[Screen]:
        """Return the pages for what the study has, with drawn examples."""
        for number, (title, text, drawn) in enumerate(Pages(self).pages(), start=1):
            yield self._page(f"instructions-{number}", title, text, drawn=drawn)

    def block_intro(self, block: GameBlock, *, number: int, n_games: int) -> Screen:
        """Return what is said before a game, with its deck drawn."""
        texts, settings = self.texts.captain, self.settings.game_of(block)
        title, text = texts.game_title, texts.game
        if block.phase == "practice":
            title, text = texts.practice_title, texts.practice
        if settings.mode == "static" and any(g["mode"] == "moving" for g in self._games):
            text += " " + texts.still_note
        if settings.n_players > 1:
            text += " " + texts.players_note
        text = text.format(n_droppings=settings.n_droppings)
        drawn = Pages(self).deck_of(settings, Pages.area_below(text))
        title = title.format(number=number, n_games=n_games)
        return self._page(f"block-{block.label}", title, text, drawn=drawn)

    def game_over(
        self,
        status: str,
        *,
        n_kept: int,
        n_fallen: int,
        done: int,
        n_games: int,
        things_fall: bool = True,
    ) -> Screen:
        """Return how a game ended, and how much of the session is done.

        Where nothing can fall there is no galley to speak of.
        """
        texts = self.texts.captain
        without_galley = {"won": texts.cleared, "capped": texts.capped_still}
        text: str = getattr(texts, status)
        if not things_fall:
            text = without_galley.get(status, text)
        text = text.format(kept=n_kept, fallen=n_fallen)
        bar = Bar(done / n_games, 0, 1.5, 16, 0.8)
        return self._page(f"over-{done}", self.texts.captain.over_title, text, drawn=(bar,))

    def pause(self) -> Screen:
        """Return the screen of a pause that the participant asked for."""
        return self._page("pause", self.texts.pause.title, self.texts.pause.text)

    def end(self) -> Screen:
        """Return the last screen."""
        bar = Bar(1, 0, 1.5, 16, 0.8)
        return self._page("end", self.texts.end.title, self.texts.captain.end, drawn=(bar,))

    def _page(self, name: str, title: str, text: str, *, drawn: tuple[Element, ...] = ()) -> Screen:
        key = self.settings.responses.continue_key
        go_on = balanced(self.texts.prompts.continue_.format(key=self.key_name(key)), LINE_DEG)
        elements = (
            Words(title, 0, TITLE_Y, _TITLE_DEG, bold=True),
            Words(balanced(text, LINE_DEG), 0, TEXT_TOP_Y, hangs=True),
            Words(go_on, 0, GO_ON_Y + math.floor(go_on.count("\n") / 2) * TEXT_DEG),
            *drawn,
        )
        return Screen(name, elements, awaits_keys=(key,))
