"""Ghost Blitz, variant *Grab the items*: every card is grabbed.

With a study's own `item_colours` and `n_pictures` it is the base logic for any set of items.
"""

from __future__ import annotations

from types import MappingProxyType

from ghostblitz_task.games import CardGame, DeckMargins, Game, GameSettings
from ghostblitz_task.games._five_items import five_item_margins

ITEM_COLOURS = MappingProxyType(
    {"ghost": "white", "chair": "red", "bottle": "green", "book": "blue", "mouse": "grey"}
)


class Classic(CardGame):
    """Five items, two pictures on a card, grab."""

    def deck_margins(self, kind: str) -> DeckMargins | None:
        """Return the margins of the five items' deck, for two pictures on a card."""
        return five_item_margins(self.item_colours, kind) if self.n_pictures == 2 else None


def build(settings: GameSettings) -> Game:
    """Build the game as a study sets it."""
    return Classic(settings, item_colours=ITEM_COLOURS)
