"""What lies on the table and where: the items round the card, and answers that are no items.

The items lie on a flattened circle with a gap at the bottom. What is shouted but is no item
(colours, times) stands in rows below, each with its key. In a masked table each item is a panel
with its name, the same wherever the hat is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, pairwise

import numpy as np

from ghostblitz_task.cards import Card, Picture, is_clock_time
from ghostblitz_task.config import StudySettings
from ghostblitz_task.drawing import Palette, card_size_deg, item_svg
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game
from ghostblitz_task.player_keys import KeyGrid, PlayerKeys
from ghostblitz_task.screen_elements import (
    LINE_HEIGHT,
    Box,
    Drawing,
    Element,
    Words,
    box_around,
    box_of,
    text_width_deg,
)
from ghostblitz_task.table_drawings import outline_svg, panel_svg, swatch_svg
from ghostblitz_task.texts import Texts

__all__ = ["LABEL_DEG", "TableLayout", "swatch_svg"]

LABEL_DEG = 0.7
#: The items' circle is flatter than round, as screens are.
_FLATTEN = 0.6
# Up to nine items leave a gap at the bottom, where words and the progress bar stand.
_ARC_FROM_DEG, _ARC_TO_DEG, _MOST_ON_ARC = 198.0, -18.0, 9
_N_STEPS = 2000

# Sizes where the study sets none: a card is never wider than 15 degrees, and more than seven
# items are smaller. The circle is as small as it can be, in steps.
_MOST_PICTURE_DEG, _MOST_CARD_DEG, _CARD_MARGIN_DEG = 5.0, 15.0, 0.6
_ITEM_DEG, _MANY_ITEMS, _SMALL_ITEM_DEG = 3.2, 7, 2.8
_RADIUS_DEG, _RADIUS_STEP_DEG, _MOST_RADIUS_DEG = 10.5, 0.25, 30.0

# A label hangs this far below its item, and this much room is kept between things.
_LABEL_GAP_DEG = 0.1
_LABEL_ROOM_DEG = LABEL_DEG * LINE_HEIGHT
_APART_DEG = 0.2
# Two players' keys stand side by side where they are no wider than this many items.
_SIDE_BY_SIDE = 1.35
#: A masked item: a panel this much wider than the item, and this much of its height, low down.
_PANEL_WIDER, _PANEL_LOWER = 1.45, 0.58
_PANEL_MARGIN_DEG = 0.3

# The rows of answers that are no items, from top to bottom.
_ROW_GAP_DEG, _CELL_GAP_DEG = 0.35, 0.9
_SWATCH_DEG, _SWATCH_GAP_DEG = 0.9, 0.25
_EDGE_DEG = 0.3
#: The square in the corner, as apparatus have it by default.
_PATCH_DEG = 1.5


@dataclass(frozen=True)
class TableLayout:
    """Lays out the table of one study, in one language, on one keyboard."""

    settings: StudySettings
    game: Game
    texts: Texts
    palette: Palette
    key_name: Callable[[str], str]

    # --- sizes -------------------------------------------------------------------------------

    @cached_property
    def picture_deg(self) -> float:
        """Side of a picture on the card."""
        n = self.game.n_pictures
        room = (_MOST_CARD_DEG - (n + 1) * _CARD_MARGIN_DEG) / n
        return self.settings.display.picture_deg or min(_MOST_PICTURE_DEG, room)

    @cached_property
    def item_deg(self) -> float:
        """Size of an item on the table."""
        fitting = _ITEM_DEG if len(self.settings.items) <= _MANY_ITEMS else _SMALL_ITEM_DEG
        return self.settings.display.item_deg or fitting

    @cached_property
    def radius_deg(self) -> float:
        """Distance of the outermost items from the centre."""
        if self.settings.display.items_radius_deg is not None:
            return self.settings.display.items_radius_deg
        fitting = _RADIUS_DEG
        while self._crowded(fitting) and fitting < _MOST_RADIUS_DEG:
            fitting += _RADIUS_STEP_DEG
        return fitting

    @cached_property
    def card_deg(self) -> tuple[float, float]:
        """Width and height of a card."""
        pictures = tuple(Picture(i, c) for i, c in self.game.item_colours.items())
        card = Card(pictures[: self.game.n_pictures])
        return card_size_deg(card, picture_deg=self.picture_deg)

    @property
    def panel_deg(self) -> tuple[float, float]:
        """Width and height of the panel that stands for an item on a masked table."""
        return self.item_deg * _PANEL_WIDER, self.item_deg * _PANEL_LOWER

    # --- keys --------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> PlayerKeys:
        """The keys of all players, as they are written."""
        return PlayerKeys(self.settings, self.texts, self.palette, self.key_name)

    @cached_property
    def item_grid(self) -> KeyGrid:
        """How the keys below an item are laid out."""
        blocks = [self.keys.item_labels(item) for item in self.settings.items]
        return self.keys.grid(blocks, LABEL_DEG, most_deg=_SIDE_BY_SIDE * self.item_deg)

    @cached_property
    def answer_grid(self) -> KeyGrid:
        """How the keys below an answer that is no item are laid out."""
        blocks = [self.keys.labels("shout", a) for row in self.other_answers for a in row]
        return self.keys.grid(blocks, LABEL_DEG, most_deg=_SIDE_BY_SIDE * self.item_deg)

    # --- places ------------------------------------------------------------------------------

    @cached_property
    def item_places(self) -> Mapping[str, tuple[float, float]]:
        """Where each item lies round the card."""
        return self._places(self.radius_deg)

    def _places(self, radius_deg: float) -> dict[str, tuple[float, float]]:
        items = self.settings.items
        return {
            item: (radius_deg * math.cos(angle), radius_deg * _FLATTEN * math.sin(angle))
            for item, angle in zip(items, _angles(len(items)), strict=True)
        }

    def item_at(self, x_deg: float, y_deg: float) -> str | None:
        """Return the item at a place, if there is one."""
        masked = self.settings.display.tabletop == "masked"
        for item, (x, y) in self.item_places.items():
            box = Box.at(x, y, self.item_deg, self.item_deg)
            if (self._panel_box(x, y) if masked else box).holds(x_deg, y_deg):
                return item
        return None

    def _panel_box(self, x: float, y: float) -> Box:
        """Return where the panel of an item lies: right above its key."""
        width, height = self.panel_deg
        return Box.at(x, y - (self.item_deg - height) / 2, width, height)

    def _room(self, place: tuple[float, float]) -> tuple[Box, ...]:
        """Return what an item needs with the keys below it, and what its panel needs.

        Both count whether or not the table is masked, so that it is laid out alike.
        """
        x, y = place
        half, grid = self.item_deg / 2, self.item_grid
        keys_top = y - half - _LABEL_GAP_DEG
        bottom = keys_top - grid.height_deg
        item = Box(x - half, bottom, x + half, y + half)
        if grid.n_players == 1:
            return item, self._panel_box(x, y)
        wide = (grid.width_deg + _APART_DEG) / 2
        keys = Box(x - wide, bottom - _APART_DEG / 2, x + wide, keys_top)
        return item, self._panel_box(x, y), keys

    @property
    def _rooms(self) -> list[Box]:
        return [box for place in self.item_places.values() for box in self._room(place)]

    def free_width_deg(self, *, bottom: float, top: float) -> float:
        """Return the width of the room in the middle of the table between two heights."""
        sides = [
            min(abs(box.left), abs(box.right))
            for box in self._rooms
            if box.bottom < top and box.top > bottom and not box.left < 0 < box.right
        ]
        return 2 * min(sides, default=self.radius_deg)

    def _crowded(self, radius_deg: float) -> tuple[str, str] | None:
        """Return two things that come too near to each other on a circle of this size."""
        things = {item: self._room(place) for item, place in self._places(radius_deg).items()}
        card = Box.at(0, 0, self.card_deg[0] + 2 * _APART_DEG, self.card_deg[1] + 2 * _APART_DEG)
        for item, boxes in things.items():
            if any(box.overlaps(card) for box in boxes):
                return "card", item
        for one, other in combinations(things, 2):
            if any(a.overlaps(b) for a in things[one] for b in things[other]):
                return one, other
        return None

    def extent_deg(self) -> tuple[float, float]:
        """Return the width and height, in degrees, that the table needs round the centre."""
        around = box_around(
            [
                *self._rooms,
                *(box_of(element) for element in self.answer_rows()),
            ]
        )
        height = 2 * max(around.top, -around.bottom)
        width = 2 * max(around.right, -around.left)
        rows = [box_of(element) for element in self.answer_rows()]
        # The square in the corner must not touch the lowest row.
        low = [box for box in rows if box.bottom < -height / 2 + _PATCH_DEG + _EDGE_DEG]
        if low:
            width = max(width, 2 * (_PATCH_DEG + _EDGE_DEG - min(box.left for box in low)))
        return width, height + (2 * _EDGE_DEG if low else 0)

    def check_drawable(self) -> None:
        """Refuse items and colours that there is no drawing for, and a table that is too full.

        Raises
        ------
        ConfigError
            Naming the item or colour, or the things that would cover each other.
        """
        colours = sorted(set(self.game.item_colours.values()))
        for item in self.game.item_colours:
            for colour in colours:
                item_svg(item, colour, self.palette)
        crowded = self._crowded(self.radius_deg)
        if crowded is None:
            return
        what, other = crowded
        width, height = self.card_deg
        size = f"the card ({width:g} x {height:g} degrees)" if what == "card" else f"the {what}"
        raise ConfigError(
            f"display.items_radius_deg: {size} would cover the {other} or its key; a larger "
            "radius, or smaller pictures or items, are needed"
        )

    # --- elements ----------------------------------------------------------------------------

    def table(self, hidden: str | None = None) -> tuple[Element, ...]:
        """Lay the items round the card with their keys; a hidden one leaves its outline."""
        return (*self._items(hidden), *self._labels(), *self.answer_rows())

    def masked_table(self) -> tuple[Element, ...]:
        """Lay a panel with its name in each item's place, and the keys where they always are."""
        return (*self._panels(), *self._labels(), *self.answer_rows())

    def item(self, item: str, x: float, y: float, *, size_deg: float) -> Drawing:
        """Draw an item in its own colour at a place."""
        svg = item_svg(item, self.game.item_colours[item], self.palette)
        return Drawing(svg, x, y, size_deg, size_deg)

    def _items(self, hidden: str | None) -> Iterator[Element]:
        for item, (x, y) in self.item_places.items():
            if item == hidden:
                yield Drawing(outline_svg(self.palette), x, y, self.item_deg, self.item_deg)
            else:
                yield self.item(item, x, y, size_deg=self.item_deg)

    def _panels(self) -> Iterator[Element]:
        for item, (x, y) in self.item_places.items():
            yield from self.panel(item, x, self._panel_box(x, y).middle)

    def panel(self, item: str, x: float, y: float) -> tuple[Element, Element]:
        """Draw what stands for an item on a masked table: a panel with its name."""
        width, height = self.panel_deg
        names = [self.texts.item(i) for i in self.settings.items]
        widest = max(text_width_deg(name, LABEL_DEG) for name in names)
        # All names are set alike, as large as the longest can be.
        name_deg = LABEL_DEG * min(1.0, (width - _PANEL_MARGIN_DEG) / widest)
        return (
            Drawing(panel_svg(self.palette, width, height), x, y, width, height),
            Words(self.texts.item(item), x, y, name_deg),
        )

    def _labels(self) -> Iterator[Element]:
        for item, (x, y) in self.item_places.items():
            top = y - self.item_deg / 2 - _LABEL_GAP_DEG
            yield from self.keys.block(self.keys.item_labels(item), self.item_grid, x, top)

    # --- answers that are no items -----------------------------------------------------------

    @cached_property
    def other_answers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Colours, then times, that can be shouted."""
        others = [a for a in self.game.answers("shout") if a not in self.game.item_colours]
        times = tuple(a for a in others if is_clock_time(a))
        return tuple(a for a in others if a not in times), times

    def answer_rows(self, top: float | None = None) -> tuple[Element, ...]:
        """Draw the rows of colours and times with their keys, by default below the items."""
        if top is None:
            lowest = min(-self.card_deg[1] / 2, *(room.bottom for room in self._rooms))
            top = lowest - _ROW_GAP_DEG
        elements: list[Element] = []
        for answers in self.other_answers:
            for row in self._in_rows(answers):
                elements += self._row(row, top)
                top -= self._row_deg + _ROW_GAP_DEG
        return tuple(elements)

    def rows_height_deg(self) -> float:
        """Return the height of all rows with the gaps between them."""
        n_rows = sum(len(self._in_rows(answers)) for answers in self.other_answers)
        return n_rows * (self._row_deg + _ROW_GAP_DEG) - (_ROW_GAP_DEG if n_rows else 0)

    @property
    def _row_deg(self) -> float:
        """Height of a row: names above keys."""
        return _LABEL_ROOM_DEG + _LABEL_GAP_DEG + self.answer_grid.height_deg

    def _in_rows(self, answers: Sequence[str]) -> list[tuple[str, ...]]:
        """Break answers into rows that are about as wide as the table, evenly filled."""
        if not answers:
            return []
        most_deg = 2 * self.radius_deg + self.item_deg
        n_rows = 1
        while True:
            n = math.ceil(len(answers) / n_rows)
            rows = [tuple(answers[i : i + n]) for i in range(0, len(answers), n)]
            if n == 1 or all(self._row_width(row) <= most_deg for row in rows):
                return rows
            n_rows += 1

    def _cell_width(self, answer: str) -> float:
        name = text_width_deg(self.texts.answer(answer), LABEL_DEG)
        swatch = _SWATCH_DEG + _SWATCH_GAP_DEG if answer in self.palette.colours else 0
        if self.answer_grid.n_players > 1:
            return max(name + swatch, self.answer_grid.width_deg)
        return max(name + swatch, text_width_deg(self.keys.label("shout", answer), LABEL_DEG))

    def _row_width(self, row: Sequence[str]) -> float:
        return sum(self._cell_width(a) for a in row) + _CELL_GAP_DEG * (len(row) - 1)

    def _row(self, row: Sequence[str], top: float) -> Iterator[Element]:
        """Draw one row: each answer above its keys."""
        left = -self._row_width(row) / 2
        name_y, keys_top = top - _LABEL_ROOM_DEG / 2, top - _LABEL_ROOM_DEG - _LABEL_GAP_DEG
        for answer in row:
            width = self._cell_width(answer)
            middle = left + width / 2
            name, name_x = self.texts.answer(answer), middle
            if answer in self.palette.colours:
                name_deg = text_width_deg(name, LABEL_DEG)
                start = middle - (_SWATCH_DEG + _SWATCH_GAP_DEG + name_deg) / 2
                swatch = swatch_svg(answer, self.palette)
                side = min(_SWATCH_DEG, _LABEL_ROOM_DEG)
                yield Drawing(swatch, start + _SWATCH_DEG / 2, name_y, side, side)
                name_x = start + _SWATCH_DEG + _SWATCH_GAP_DEG + name_deg / 2
            yield Words(name, name_x, name_y, LABEL_DEG)
            labels = self.keys.labels("shout", answer)
            yield from self.keys.block(labels, self.answer_grid, middle, keys_top)
            left += width + _CELL_GAP_DEG


@lru_cache(maxsize=32)
def _angles(n_items: int) -> tuple[float, ...]:
    """Return the angles, in radians, at which items lie on the circle before it is flattened.

    Few items lie at equal angles, more at equal distances along the flattened circle, which
    leaves those at its sides more room.
    """
    first, last = math.radians(_ARC_FROM_DEG), math.radians(_ARC_TO_DEG)
    if n_items > _MOST_ON_ARC:
        return tuple(first - math.tau * i / n_items for i in range(n_items))
    shares = [i / max(n_items - 1, 1) for i in range(n_items)]
    if n_items <= _MANY_ITEMS:
        return tuple(first + share * (last - first) for share in shares)
    angles = [first + i / _N_STEPS * (last - first) for i in range(_N_STEPS + 1)]
    lengths = [0.0]
    for start, end in pairwise(angles):
        across = math.cos(end) - math.cos(start)
        up = _FLATTEN * (math.sin(end) - math.sin(start))
        lengths.append(lengths[-1] + math.hypot(across, up))
    return tuple(float(np.interp(share * lengths[-1], lengths, angles)) for share in shares)
