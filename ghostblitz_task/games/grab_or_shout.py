"""Ghost Blitz, variant *Grab Or Shout*: a card that depicts a book is shouted, not grabbed."""

from __future__ import annotations

from ghostblitz_task.cards import Card
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, GameSettings, Mode
from ghostblitz_task.games.classic import ITEM_COLOURS, Classic

SHOUT_ITEM = "book"


class GrabOrShout(Classic):
    """As classic, but the picture of one item, in any colour, asks for the name of the target."""

    modes: tuple[Mode, ...] = ("grab", "shout")
    has_shout_item = True

    def __init__(self, settings: GameSettings) -> None:
        super().__init__(settings, item_colours=ITEM_COLOURS)
        self.shout_item = SHOUT_ITEM if settings.shout_item is None else settings.shout_item
        if self.shout_item not in self.item_colours:
            raise ConfigError(
                f"game {self.name}: shout_item is {self.shout_item!r}, but the items are "
                f"{', '.join(self.item_colours)}"
            )

    def mode(self, card: Card) -> Mode:
        """Return shout exactly when the shout item is depicted, in whatever colour."""
        return "shout" if any(p.item == self.shout_item for p in card.depicted) else "grab"


def build(settings: GameSettings) -> Game:
    """Build the game as a study sets it."""
    return GrabOrShout(settings)
