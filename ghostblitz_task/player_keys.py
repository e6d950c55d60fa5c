"""The keys of each player as they stand below what they mean; several players have marks.

In every block of keys a player's key stands in the same place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ghostblitz_task.config import StudySettings
from ghostblitz_task.drawing import Palette
from ghostblitz_task.games import Mode
from ghostblitz_task.screen_elements import (
    LINE_HEIGHT,
    WRAP_DEG,
    Drawing,
    Element,
    Words,
    text_width_deg,
)
from ghostblitz_task.table_drawings import player_mark
from ghostblitz_task.texts import Texts

__all__ = ["KeyGrid", "PlayerKeys"]

# Of the height of the letters: a mark, the gap between it and its key, and those between keys.
_MARK, _MARK_GAP, _COLUMN_GAP, _LINE_GAP = 1.1, 0.18, 0.9, 0.14
# Room for the widest letter, so that the table is the same whatever is printed on the keys.
_ONE_LETTER, _WIDEST_LETTER = re.compile(r"\b\w\b"), "W"


@dataclass(frozen=True, slots=True)
class KeyGrid:
    """Where the players' keys stand in a block, the same in every block of a kind.

    Attributes
    ----------
    n_players : int
        One has no mark, and one line of text.
    letter_deg : float
        Height of the letters.
    key_deg : float
        Width of the widest key.
    most_deg : float
        Two players stand side by side where that is no wider.
    """

    n_players: int
    letter_deg: float
    key_deg: float
    most_deg: float

    @property
    def cell_deg(self) -> float:
        """Width of a mark and the widest key beside it."""
        return (_MARK + _MARK_GAP) * self.letter_deg + self.key_deg

    @property
    def n_columns(self) -> int:
        """How many players stand side by side."""
        two = 2 * self.cell_deg + _COLUMN_GAP * self.letter_deg
        return 2 if self.n_players > 1 and two <= self.most_deg else 1

    @property
    def width_deg(self) -> float:
        """Width of a block; the only player's is that of the key alone."""
        if self.n_players == 1:
            return self.key_deg
        gaps = (self.n_columns - 1) * _COLUMN_GAP * self.letter_deg
        return self.n_columns * self.cell_deg + gaps

    @property
    def height_deg(self) -> float:
        """Height of a block."""
        n_lines = math.ceil(self.n_players / self.n_columns)
        return (n_lines * LINE_HEIGHT + (n_lines - 1) * _LINE_GAP) * self.letter_deg

    def cell(self, seat: int, x: float, top: float) -> tuple[float, float]:
        """Return where a player's cell begins, at its left, and its middle height."""
        row, column = divmod(seat, self.n_columns)
        across = self.cell_deg + _COLUMN_GAP * self.letter_deg
        down = (LINE_HEIGHT + _LINE_GAP) * self.letter_deg
        left = x - self.width_deg / 2 + column * across
        return left, top - row * down - LINE_HEIGHT * self.letter_deg / 2


@dataclass(frozen=True)
class PlayerKeys:
    """Names and draws the keys of a study's players."""

    settings: StudySettings
    texts: Texts
    palette: Palette
    key_name: Callable[[str], str]

    @property
    def n_players(self) -> int:
        """How many sit at the machine."""
        return len(self.settings.responses.players)

    def label(self, mode: Mode, answer: str, *, seat: int = 0) -> str:
        """Return a player's key for an answer as it is written; one that shouts is in quotes."""
        player, prompts = self.settings.responses.players[seat], self.texts.prompts
        if mode == "grab":
            return prompts.grab_key.format(key=self.key_name(player.grab_keys[answer]))
        return prompts.shout_key.format(key=self.key_name(player.shout_keys[answer]))

    def labels(self, mode: Mode, answer: str) -> tuple[str, ...]:
        """Return each player's key for an answer, by seat."""
        return tuple(self.label(mode, answer, seat=seat) for seat in range(self.n_players))

    def item_labels(self, item: str) -> tuple[str, ...]:
        """Return what stands below an item for each player: the key that grabs, that shouts."""
        labels = self.labels("grab", item)
        if item not in self.settings.responses.shout_keys:
            return labels
        shouts = self.labels("shout", item)
        return tuple(f"{grab}   {shout}" for grab, shout in zip(labels, shouts, strict=True))

    def grid(
        self, blocks: Iterable[tuple[str, ...]], letter_deg: float, *, most_deg: float
    ) -> KeyGrid:
        """Return the grid that all these blocks of labels fit into."""
        labels = [label for block in blocks for label in block]
        if self.n_players > 1:
            labels = [_ONE_LETTER.sub(_WIDEST_LETTER, label) for label in labels]
        widest = max((text_width_deg(label, letter_deg) for label in labels), default=0.0)
        return KeyGrid(self.n_players, letter_deg, widest, most_deg)

    def block(
        self,
        labels: tuple[str, ...],
        grid: KeyGrid,
        x: float,
        top: float,
        *,
        wrap_deg: float = WRAP_DEG,
    ) -> Iterator[Element]:
        """Write the players' keys in a block below a height, the only one's without a mark."""
        deg = grid.letter_deg
        if len(labels) == 1:
            yield Words(labels[0], x, top - LINE_HEIGHT * deg / 2, deg, wrap_deg=wrap_deg)
            return
        for seat, label in enumerate(labels):
            left, y = grid.cell(seat, x, top)
            yield self.mark(seat, left + _MARK * deg / 2, y, size_deg=_MARK * deg)
            begins = left + (_MARK + _MARK_GAP) * deg
            yield Words(label, begins + text_width_deg(label, deg) / 2, y, deg)

    def mark(self, seat: int, x: float, y: float, *, size_deg: float) -> Drawing:
        """Draw a player's mark at a place."""
        return Drawing(player_mark(seat, self.palette), x, y, size_deg, size_deg)
