"""The pages of the captain's instructions, each with a drawing below its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghostblitz_task.captain.board import Board
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.instructions import LINE_DEG, TEXT_TOP_Y
from ghostblitz_task.props import TONGS_TIP, prop_svg
from ghostblitz_task.screen_elements import (
    LINE_HEIGHT,
    TEXT_DEG,
    Drawing,
    Element,
    Words,
    balanced,
)

if TYPE_CHECKING:
    from ghostblitz_task.captain.screens import CaptainScreens

__all__ = ["Area", "Pages"]

_BOTTOM_Y, _GAP_DEG = -6.7, 0.5
_PROP_DEG, _STEP_DEG = 3.2, 5.5
# Where things lie on the decks that are drawn, in deck sides.
_SPOTS = (
    (-0.33, 0.12), (-0.2, 0.36), (0.05, 0.2), (0.3, 0.3), (0.38, 0.02), (0.2, -0.12),
    (0.3, -0.33), (0.02, -0.2), (-0.12, -0.4), (-0.28, -0.22), (-0.4, -0.08), (-0.12, 0.05),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Area:
    """The room for a drawing on a page."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        """From bottom to top."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Halfway."""
        return (self.top + self.bottom) / 2


class Pages:
    """Makes the pages of one study in one language."""

    def __init__(self, screens: CaptainScreens) -> None:
        self._screens = screens
        self._palette = screens.palette

    def pages(self) -> Iterator[tuple[str, str, tuple[Element, ...]]]:
        """Return title, text and drawing of each page that the study needs."""
        settings, texts = self._screens.settings, self._screens.texts.captain
        responses, features = settings.responses, self.features()
        # Practice may be played without the Eye; what is explained is the game as it is tested.
        game = settings.game_of(settings.blocks[-1])
        decimal_mark = self._screens.texts.captain.decimal_mark
        for page in texts.pages:
            if not page.holds(features):
                continue
            text = page.text.format(
                n_droppings=game.n_droppings,
                n_per_colour=game.n_per_colour,
                naming_s=f"{game.naming_s:g}".replace(".", decimal_mark),
                look_key=self._screens.key_name(responses.look_key),
                nudge_key=self._screens.key_name(responses.nudge_key),
                quit_key=self._screens.key_name(responses.quit_key),
            )
            if page.shows == "nothing":
                text = text.replace("\n", "\n\n")
            area = self.area_below(text)
            drawn = getattr(self, f"_draw_{page.shows}")(area, game)
            yield page.title, text, tuple(drawn)

    @staticmethod
    def area_below(text: str) -> Area:
        """Return the room that a page has below its text."""
        n_lines = balanced(text, LINE_DEG).count("\n") + 1
        return Area(TEXT_TOP_Y - n_lines * LINE_HEIGHT * TEXT_DEG - _GAP_DEG, _BOTTOM_Y)

    def features(self) -> frozenset[str]:
        """Return what the study has that pages are about."""
        settings = self._screens.settings
        games = [settings.game_of(block) for block in settings.blocks]
        found: set[str] = {settings.responses.pick}
        found |= {game.mode for game in games}
        if any(game.things_fall for game in games):
            found.add("falling")
        if any(game.allow_nudging for game in games):
            found.add("nudging")
        if settings.captain.returns_to == "place":
            found.add("place")
        if settings.captain.n_players > 1:
            found.add("several")
        return frozenset(found)

    # --- what is drawn -----------------------------------------------------------------------

    def _draw_nothing(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        yield from ()

    def _draw_deck(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        yield from self.deck_of(game, area)

    def deck_of(self, game: CaptainSettings, area: Area) -> tuple[Element, ...]:
        """Draw the deck of a game with its droppings, as large as there is room."""
        board, y = self._small_board(area)
        spots = _SPOTS[: min(game.n_droppings, len(_SPOTS))]
        placed = [self._on(board.dropping(), board, x, dy, y) for x, dy in spots]
        things = [self._on(board.die("blue"), board, 0.12, 0.04, y)]
        if game.mode == "moving":
            things.append(self._on(board.eye(), board, -0.05, -0.06, y))
        deck = board.deck(game.railed_corners)
        return (Drawing(deck.svg, 0, y, deck.width_deg, deck.height_deg), *placed, *things)

    def _draw_corners(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        """Draw a dropping on its way into an open corner, and the Eye behind it."""
        yield from self._at_open_corner(area, game, "dropping")

    def _draw_eye(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        """Draw the die about to fall, and the Eye behind it."""
        yield from self._at_open_corner(area, game, "die")

    def _at_open_corner(self, area: Area, game: CaptainSettings, what: str) -> Iterator[Element]:
        board, y = self._small_board(area)
        deck = board.deck(game.railed_corners)
        yield Drawing(deck.svg, 0, y, deck.width_deg, deck.height_deg)
        corner = game.open_corners[-1] if game.open_corners else "bottom_left"
        side = 1 if corner.endswith("right") else -1
        up = 1 if corner.startswith("top") else -1
        drawing = board.dropping() if what == "dropping" else board.die("yellow")
        yield self._on(drawing, board, 0.37 * side, 0.37 * up, y)
        yield self._on(board.eye(), board, 0.27 * side, 0.27 * up, y)

    def _draw_tongs(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        y = area.middle
        yield self.die("green", -_STEP_DEG, y)
        yield from self.gripped(_STEP_DEG / 2, y)

    def _draw_colours(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        keys, y = self._screens.settings.responses.colour_keys, area.middle + 0.8
        for i, colour in enumerate(COLOURS):
            x = (i - 1.5) * _STEP_DEG
            yield self._prop("dropping-seen", colour, x, y)
            yield Words(self._screens.key_name(keys[colour]), x, y - 2.3, 0.9, bold=True)

    def _draw_die(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        texts, y = self._screens.texts.feedback, area.middle + 0.8
        for x, seen, said in ((-6.0, "red", texts.right), (6.0, "blue", texts.wrong)):
            yield self.die("red", x - 2.0, y, size_deg=2.6)
            yield self._prop("dropping-seen", seen, x + 1.6, y)
            yield Words(said, x, y - 2.4, 0.9, bold=True)

    def _draw_cue(self, area: Area, game: CaptainSettings) -> Iterator[Element]:
        y = area.middle
        yield self._prop("eye", None, -5.6, y, size_deg=4.4)
        yield self.die("red", -1.0, y)
        yield Words("→", 2.2, y, 1.6)
        yield self.die("yellow", 5.4, y)

    def gripped(self, x_deg: float, y_deg: float) -> tuple[Element, ...]:
        """Draw a dropping with the tongs at its rim."""
        tongs_deg = 1.35 * _PROP_DEG
        reach = (0.5 - TONGS_TIP[0]) * tongs_deg
        tip_x, tip_y = x_deg + 0.3 * _PROP_DEG, y_deg - 0.3 * _PROP_DEG
        return (
            self._prop("dropping", None, x_deg, y_deg),
            self._prop("tongs", None, tip_x + reach, tip_y - reach, size_deg=tongs_deg),
        )

    def die(self, colour: str, x_deg: float, y_deg: float, *, size_deg: float = 2.8) -> Drawing:
        """Draw the die."""
        return self._prop("die", colour, x_deg, y_deg, size_deg=size_deg)

    def _prop(
        self, name: str, colour: str | None, x: float, y: float, *, size_deg: float = _PROP_DEG
    ) -> Drawing:
        return Drawing(prop_svg(name, colour, self._palette), x, y, size_deg, size_deg)

    def _small_board(self, area: Area) -> tuple[Board, float]:
        board = Board(1.0, self._palette)
        return Board(area.height / board.picture_deg, self._palette), area.middle

    @staticmethod
    def _on(drawing: Drawing, board: Board, x: float, y: float, middle_y: float) -> Drawing:
        x_deg, y_deg = board.place_deg(x, y)
        return Drawing(drawing.svg, x_deg, y_deg + middle_y, drawing.width_deg, drawing.height_deg)
