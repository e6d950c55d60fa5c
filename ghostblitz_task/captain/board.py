"""Where everything of a game lies on the screen, and what it looks like.

The deck's own lengths are deck sides from its middle; here they become degrees of visual angle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ghostblitz_task.captain.deck import DIE_SIDE, DROPPING_RADIUS, EYE_RADIUS
from ghostblitz_task.captain.settings import COLOURS, CORNERS, Corner
from ghostblitz_task.captain.table import DeckView
from ghostblitz_task.captain.turns import Spot
from ghostblitz_task.drawing import FONT_FAMILY
from ghostblitz_task.palettes import Palette
from ghostblitz_task.props import DECK_SIDE, TONGS_TIP, deck_svg, prop_svg
from ghostblitz_task.props import Corner as PropCorner
from ghostblitz_task.screen_elements import Drawing, Sprite

__all__ = ["PICK_TOLERANCE", "Board", "Props"]

#: A click counts for a dropping up to this far outside its rim, in deck sides.
PICK_TOLERANCE = 0.02

# What the drawings fill of their boxes of 200 units: the dropping's rim lies 88 units from its
# middle, the Eye's 91.5; the die is 176 units wide, corner to corner.
_DROPPING_BOX = DROPPING_RADIUS * 200 / 88
_EYE_BOX = EYE_RADIUS * 200 / 91.5
_DIE_BOX = DIE_SIDE * math.sqrt(2) * 200 / 176
# Beside the deck: how far the columns are from it, and what they hold.
_GAP_DEG = 0.6
_CELL_DEG = 1.22
_COLUMN_DEG = 4 * _CELL_DEG
_HELD_DEG, _TONGS_DEG, _HELD_Y = 2.6, 3.6, -3.0
_GALLEY_COLUMNS = 4
# What stands beside the deck is this high at least, from the middle; the lines are beyond.
_LEAST_HALF_DEG = 20 / 3
# The die's corners stay inside the frame, whichever way the drawing is turned.
_DIE_REACH = 0.5 - DIE_SIDE / math.sqrt(2)
_ROLL_DEG, _ROLL_HZ = 14.0, 3.0

_PROP_CORNERS: Mapping[Corner, PropCorner] = {
    "bottom_left": "lower-left",
    "bottom_right": "lower-right",
    "top_right": "upper-right",
    "top_left": "upper-left",
}


@dataclass(frozen=True)
class Board:
    """The deck of one study in degrees, with its drawings.

    Attributes
    ----------
    deck_deg : float
        Side of the deck.
    palette : Palette
        The colours.
    """

    deck_deg: float
    palette: Palette

    # --- places ------------------------------------------------------------------------------

    @property
    def picture_deg(self) -> float:
        """Side of the deck's picture, planks and frame."""
        return self.deck_deg / DECK_SIDE

    @property
    def side_x(self) -> float:
        """How far from the middle the columns at both sides have theirs."""
        return self.picture_deg / 2 + _GAP_DEG + _COLUMN_DEG / 2

    @property
    def top_y(self) -> float:
        """Height of the line above the deck; that below it is as far down."""
        return self.half_deg + 0.75

    @property
    def half_deg(self) -> float:
        """Height, from the middle, of the deck's picture and of the columns beside it."""
        return max(self.picture_deg / 2, _LEAST_HALF_DEG)

    def extent_deg(self) -> tuple[float, float]:
        """Return width and height of all that a game shows."""
        return 2 * self.side_x + _COLUMN_DEG, 2 * self.top_y + 1.0

    def place_deg(self, x: float, y: float) -> tuple[float, float]:
        """Return a place on deck in degrees from the middle of the screen."""
        return x * self.deck_deg, y * self.deck_deg

    def dropping_at(self, spots: Iterable[Spot], x_deg: float, y_deg: float) -> int | None:
        """Return the dropping under the pointer: the nearest within its rim and a little more."""
        x, y = x_deg / self.deck_deg, y_deg / self.deck_deg
        near = [(math.hypot(s.x - x, s.y - y), s.dropping_id) for s in spots]
        distance, dropping_id = min(near, default=(math.inf, -1))
        return dropping_id if distance <= DROPPING_RADIUS + PICK_TOLERANCE else None

    # --- drawings ----------------------------------------------------------------------------

    def deck(self, railed: Iterable[Corner]) -> Drawing:
        """Return the deck with its railings."""
        svg = deck_svg(self.palette, railings=[_PROP_CORNERS[c] for c in CORNERS if c in railed])
        return Drawing(svg, 0, 0, self.picture_deg, self.picture_deg)

    def dropping(self) -> Drawing:
        """Return a dropping as it lies on deck."""
        return self._prop("dropping", None, _DROPPING_BOX * self.deck_deg)

    def seen(self, colour: str) -> Drawing:
        """Return a dropping of a colour, as large as beside the deck."""
        return self._prop("dropping-seen", colour, _CELL_DEG)

    def die(self, colour: str) -> Drawing:
        """Return the die with a colour on top."""
        return self._prop("die", colour, _DIE_BOX * self.deck_deg)

    def eye(self) -> Drawing:
        """Return the Eye."""
        return self._prop("eye", None, _EYE_BOX * self.deck_deg)

    def held(self, colour: str | None) -> Drawing:
        """Return the dropping in the tongs, nearer than those on deck; turned over for a colour."""
        if colour is None:
            return self._prop("dropping", None, _HELD_DEG)
        return self._prop("dropping-seen", colour, _HELD_DEG)

    def tongs(self) -> Drawing:
        """Return the tongs."""
        return self._prop("tongs", None, _TONGS_DEG)

    def label(self, text: str) -> Drawing:
        """Return the label that gives a dropping its key."""
        size = 0.062 * self.deck_deg
        shown = text.replace("&", "&amp;").replace("<", "&lt;")
        svg = (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
            f'<rect x="4" y="4" width="92" height="92" rx="20" fill="{self.palette.card_ground}" '
            f'stroke="{self.palette.line}" stroke-width="7"/>'
            f'<text x="50" y="73" font-family="{FONT_FAMILY}" font-size="64" '
            f'text-anchor="middle" fill="{self.palette.line}">{shown}</text></svg>'
        )
        return Drawing(svg, 0, 0, size, size)

    def _prop(self, name: str, colour: str | None, size_deg: float) -> Drawing:
        return Drawing(prop_svg(name, colour, self.palette), 0, 0, size_deg, size_deg)


class Props:
    """The drawings of one game, each made once; only their places differ from frame to frame."""

    def __init__(self, board: Board, labels: Mapping[str, str]) -> None:
        self.board = board
        self._dropping, self._eye, self._tongs = board.dropping(), board.eye(), board.tongs()
        self._held = board.held(None)
        self._dice = {colour: board.die(colour) for colour in COLOURS}
        self._seen = {colour: board.seen(colour) for colour in COLOURS}
        self._held_seen = {colour: board.held(colour) for colour in COLOURS}
        self._fallen = board._prop("dropping", None, _CELL_DEG)
        self._labels = {key: board.label(text) for key, text in labels.items()}

    def all_sprites(self) -> tuple[Sprite, ...]:
        """Return one sprite of each drawing that a game may show."""
        drawings = [
            self._dropping, self._eye, self._tongs, self._held, self._fallen,
            *self._dice.values(), *self._seen.values(), *self._held_seen.values(),
            *self._labels.values(),
        ]  # fmt: skip
        return tuple(Sprite(drawing, 0, 0) for drawing in drawings)

    def sprites(self, view: DeckView, labels: Mapping[int, str]) -> Iterator[Sprite]:
        """Return what a view shows: on deck, beside it, and in the tongs."""
        place = self.board.place_deg
        for spot in view.spots:
            yield Sprite(self._dropping, *place(spot.x, spot.y))
        if view.die is not None:
            turned = 0.0
            if view.die.rolling:
                turned = _ROLL_DEG * math.sin(math.tau * _ROLL_HZ * view.t_s)
            x, y = (min(max(d, -_DIE_REACH), _DIE_REACH) for d in (view.die.x, view.die.y))
            yield Sprite(self._dice[view.die.colour], *place(x, y), turned)
        if view.eye is not None:
            yield Sprite(self._eye, *place(*view.eye))
        for spot in view.spots:
            key = labels.get(spot.dropping_id)
            if key is not None:
                x_deg, y_deg = place(spot.x, spot.y)
                yield Sprite(self._labels[key], x_deg, y_deg)
        yield from self._beside(view)
        if view.held_id is not None:
            yield from self._in_tongs(view.shown_colour)

    def _beside(self, view: DeckView) -> Iterator[Sprite]:
        """Return the droppings that the team has, by colour, and those in the galley."""
        x, top = self.board.side_x, self.board.half_deg - 1.6
        for column, colour in enumerate(COLOURS):
            for row in range(view.kept_colours.count(colour)):
                yield Sprite(
                    self._seen[colour], x + (column - 1.5) * _CELL_DEG, top - row * _CELL_DEG
                )
        for i in range(view.n_fallen):
            row, column = divmod(i, _GALLEY_COLUMNS)
            yield Sprite(self._fallen, -x + (column - 1.5) * _CELL_DEG, top - row * _CELL_DEG)

    def _in_tongs(self, colour: str | None) -> Iterator[Sprite]:
        x, y = self.board.side_x - 0.5, _HELD_Y
        yield Sprite(self._held if colour is None else self._held_seen[colour], x, y)
        # The tips grip the rim at the lower right.
        tip_x, tip_y = x + 0.3 * _HELD_DEG, y - 0.3 * _HELD_DEG
        reach = (0.5 - TONGS_TIP[0]) * _TONGS_DEG
        yield Sprite(self._tongs, tip_x + reach, tip_y - reach)
