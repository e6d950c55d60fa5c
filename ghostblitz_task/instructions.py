"""The pages of instructions that a study needs, with drawn and solved examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ghostblitz_task.config import StudySettings
from ghostblitz_task.drawing import card_size_deg, card_svg, item_svg
from ghostblitz_task.examples import ExampleCards, hat_of, seen_in_mirror, study_features
from ghostblitz_task.games import Game, Mode, Stimulus
from ghostblitz_task.screen_elements import (
    LINE_HEIGHT,
    TEXT_DEG,
    WRAP_DEG,
    Drawing,
    Element,
    Words,
    balanced,
    sentence,
)
from ghostblitz_task.table_layout import LABEL_DEG, TableLayout
from ghostblitz_task.texts import InstructionPage, Texts

__all__ = ["Instructions", "Page", "hat_above_svg"]

# What every page holds, from top to bottom: title, text, a drawing, and how to go on.
PAGE_HEIGHT_DEG = 16.4
TITLE_DEG = 1.1
TITLE_Y, TEXT_TOP_Y, GO_ON_Y = 7.2, 6.2, -7.5
_DRAWN_BOTTOM_Y = -6.9
_GAP_DEG = 0.4
# Lines are broken here, with room for letters that a screen rounds to whole pixels.
LINE_DEG = WRAP_DEG - 1.0

_CARD_SCALE = 0.85
_CAPTION_DEG, _REASON_DEG = 0.8, 0.65
_CAPTION_HEIGHT_DEG = (_CAPTION_DEG + _REASON_DEG) * LINE_HEIGHT
_BESIDE_GAP_DEG = 1.0
_MOST_IN_ROW, _MOST_SMALL_IN_ROW = 6, 10
_ITEM_DEG, _NAME_DEG, _KEY_DEG = 3.6, 0.65, 0.9
# Players' keys stand side by side where they are no wider, near the item that they mean.
_MOST_KEYS_DEG = 5.0
_MARK_DEG = 3.0
#: Width and height of `hat_above_svg`, in the units of an item's box.
_HAT_ABOVE = (200.0, 330.0)


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its title, its text in lines, and what is drawn below."""

    title: str
    text: str
    drawn: tuple[Element, ...]
    shows: str


@dataclass(frozen=True)
class Instructions:
    """Makes the pages of one study in one language."""

    settings: StudySettings
    game: Game
    texts: Texts
    layout: TableLayout

    def pages(self) -> Iterator[Page]:
        """Return the pages for what the study has; what no block needs is not explained.

        Raises
        ------
        ConfigError
            If the game, as the study sets it, has no card for an example.
        """
        features = study_features(self.settings, self.game)
        examples = ExampleCards(self.settings, self.game)
        facts = self._facts()
        for page in self.texts.instructions:
            if not page.holds(features):
                continue
            notes = [note.follows + note.text for note in page.notes if note.holds(features)]
            paragraphs = "".join([page.text, *notes]).format(**facts).split("\n")
            # Where nothing is drawn there is room for paragraphs to stand apart.
            apart = "\n\n" if page.shows == "nothing" else "\n"
            text = apart.join(balanced(paragraph, LINE_DEG) for paragraph in paragraphs)
            cards = examples.for_page(page.shows)
            text_bottom = TEXT_TOP_Y - (text.count("\n") + 1) * LINE_HEIGHT * TEXT_DEG
            area = _Area(text_bottom - _GAP_DEG, _DRAWN_BOTTOM_Y)
            drawn = tuple(self._examples(cards, area) if cards else self._shown(page, area))
            yield Page(page.title, text, drawn, page.shows)

    def _facts(self) -> dict[str, str]:
        responses, company = self.settings.responses, self.settings.company
        return {
            "n_items": str(len(self.settings.items)),
            "shout_item": self.texts.item(str(getattr(self.game, "shout_item", ""))),
            "deadline": f"{self.settings.timing.deadline_s:g}",
            "pause_key": self.layout.key_name(responses.pause_key),
            "quit_key": self.layout.key_name(responses.quit_key),
            "n_players": str(len(responses.players)),
            "rival": sentence(self.texts.company.rival),
            "earlier_self": sentence(self.texts.company.earlier_self),
            "max_recycled": str(company.max_recycled if company else 0),
        }

    # --- examples ----------------------------------------------------------------------------

    def _examples(self, stimuli: tuple[Stimulus, ...], area: _Area) -> Iterator[Element]:
        """Draw cards side by side, each with its answer, which the rules solve, and why."""
        slot = WRAP_DEG / len(stimuli)
        sizes = [self._example_deg(stimulus) for stimulus in stimuli]
        height = max(height for _, _, height in sizes)
        room = area.height - _CAPTION_HEIGHT_DEG - _GAP_DEG
        widest = max(beside + width for beside, width, _ in sizes)
        scale = min(_CARD_SCALE, room / height, (slot - 1.0) / widest)
        top = area.centred(height * scale + _GAP_DEG / 2 + _CAPTION_HEIGHT_DEG)
        for i, stimulus in enumerate(stimuli):
            yield from self._example(stimulus, (i + 0.5) * slot - WRAP_DEG / 2, top, scale=scale)

    def _example_deg(self, stimulus: Stimulus) -> tuple[float, float, float]:
        """Return the width of what stands beside a card, and the card's width and height."""
        width, height = card_size_deg(stimulus.card, picture_deg=self.layout.picture_deg)
        beside = height * _HAT_ABOVE[0] / _HAT_ABOVE[1] + _BESIDE_GAP_DEG
        return beside if self._is_of_hat(stimulus) else 0.0, width, height

    def _is_of_hat(self, stimulus: Stimulus) -> bool:
        """Say whether an answer is only understood by who knows what is under the hat."""
        hat = hat_of(self.game)
        return hat is not None and hat in (stimulus.solution.answer, stimulus.solution.target)

    def _example(
        self, stimulus: Stimulus, x: float, top: float, *, scale: float
    ) -> Iterator[Element]:
        beside, width, height = (deg * scale for deg in self._example_deg(stimulus))
        middle = top - height / 2
        svg = card_svg(stimulus.card, self.layout.palette, picture_deg=self.layout.picture_deg)
        yield Drawing(svg, x + beside / 2, middle, width, height)
        if beside:
            hat_x = x - (width + _BESIDE_GAP_DEG * scale) / 2
            hidden = str(stimulus.state.hat_over)
            yield self.hat_above(hidden, hat_x, middle, height_deg=height)
        caption, reason = self.caption(stimulus)
        below = top - height - _GAP_DEG / 2
        yield Words(caption, x, below - _CAPTION_DEG * LINE_HEIGHT / 2, _CAPTION_DEG)
        reason_y = below - _CAPTION_DEG * LINE_HEIGHT - _REASON_DEG * LINE_HEIGHT / 2
        yield Words(reason, x, reason_y, _REASON_DEG)

    def caption(self, stimulus: Stimulus) -> tuple[str, str]:
        """Return the answer to a card, in words, and why it is the answer."""
        solution, prompts, texts = stimulus.solution, self.texts.prompts, self.texts
        answer = prompts.grab_answer if solution.mode == "grab" else prompts.shout_answer
        reason: str = getattr(texts.reasons, solution.rule.replace("-", "_"))
        target, seen = str(solution.target), seen_in_mirror(stimulus)
        filled = reason.format(
            item=texts.item(target),
            colour=texts.colour(self.game.item_colours.get(target, "")),
            shown_colour=texts.colour(seen.colour) if seen else "",
        )
        if self._is_of_hat(stimulus):
            hidden = texts.item(str(stimulus.state.hat_over))
            filled += "; " + texts.reasons.hidden.format(hidden=hidden)
        return answer.format(answer=texts.answer(solution.answer)), filled

    # --- other drawings ----------------------------------------------------------------------

    def _shown(self, page: InstructionPage, area: _Area) -> Iterator[Element]:
        """Draw what a page shows that is no example."""
        drawings: Mapping[str, Callable[[_Area], Iterator[Element]]] = {
            "items": self._named_items,
            "players": self._players,
            "grab_keys": lambda area: self._item_keys(area, "grab", letter_deg=_KEY_DEG),
            "shout_keys": self._shout_keys,
            "covered_items": self._covered,
            "hat_move": self._hat_moves,
        }
        if page.shows in drawings:
            yield from drawings[page.shows](area)

    def _named_items(self, area: _Area) -> Iterator[Element]:
        """Draw all items, each above its name and its colour."""
        label_deg = 2 * _NAME_DEG * LINE_HEIGHT

        def label(item: str, x: float, top: float, room_deg: float) -> Iterator[Element]:
            colour = self.texts.colour(self.game.item_colours[item])
            text = f"{self.texts.item(item)}\n({colour})"
            yield Words(text, x, top - label_deg / 2, _NAME_DEG, wrap_deg=room_deg)

        yield from self._items(area, label, label_deg=label_deg, n_in_row=self._n_in_row())

    def _players(self, area: _Area) -> Iterator[Element]:
        """Draw each player's mark above the name."""
        n = self.layout.keys.n_players
        top = area.centred(_MARK_DEG + _GAP_DEG + _KEY_DEG * LINE_HEIGHT)
        for seat in range(n):
            x = (seat - (n - 1) / 2) * WRAP_DEG / n
            yield self.layout.keys.mark(seat, x, top - _MARK_DEG / 2, size_deg=_MARK_DEG)
            name_y = top - _MARK_DEG - _GAP_DEG - _KEY_DEG * LINE_HEIGHT / 2
            yield Words(self.texts.player(seat), x, name_y, _KEY_DEG)

    def _item_keys(
        self, area: _Area, mode: Mode, *, letter_deg: float, most_in_row: int = _MOST_IN_ROW
    ) -> Iterator[Element]:
        """Draw all items, each above every player's key."""
        keys, n_in_row = self.layout.keys, self._n_in_row(most_in_row)
        blocks = {item: keys.labels(mode, item) for item in self.settings.items}
        room_deg = WRAP_DEG / n_in_row - _GAP_DEG
        grid = keys.grid(blocks.values(), letter_deg, most_deg=min(room_deg, _MOST_KEYS_DEG))
        if keys.n_players > 1 and grid.width_deg > room_deg:
            grid = keys.grid(blocks.values(), LABEL_DEG, most_deg=room_deg)

        def label(item: str, x: float, top: float, room_deg: float) -> Iterator[Element]:
            return keys.block(blocks[item], grid, x, top, wrap_deg=room_deg)

        yield from self._items(area, label, label_deg=grid.height_deg, n_in_row=n_in_row)

    def _n_in_row(self, most_in_row: int = _MOST_IN_ROW) -> int:
        """Return how many items stand in a row, so that there are few, evenly filled."""
        n_items = len(self.settings.items)
        return math.ceil(n_items / math.ceil(n_items / most_in_row))

    def _items(
        self,
        area: _Area,
        label: Callable[[str, float, float, float], Iterator[Element]],
        *,
        label_deg: float,
        n_in_row: int,
    ) -> Iterator[Element]:
        """Draw all items in rows, each above a label that hangs from a height."""
        items, n = self.settings.items, n_in_row
        rows = [items[i : i + n] for i in range(0, len(items), n)]
        spacing = WRAP_DEG / n
        room = area.height / len(rows) - label_deg - _GAP_DEG
        item_deg = min(_ITEM_DEG, room, spacing - _GAP_DEG)
        row_deg = item_deg + label_deg + _GAP_DEG
        top = area.centred(len(rows) * row_deg - _GAP_DEG)
        for number, row in enumerate(rows):
            y = top - number * row_deg - item_deg / 2
            for i, item in enumerate(row):
                x = (i - (len(row) - 1) / 2) * spacing
                yield self.layout.item(item, x, y, size_deg=item_deg)
                yield from label(item, x, y - item_deg / 2, spacing)

    def _shout_keys(self, area: _Area) -> Iterator[Element]:
        """Draw everything that a key shouts, with that key."""
        names = [i for i in self.settings.items if i in self.settings.responses.shout_keys]
        rows_deg = self.layout.rows_height_deg()
        if not names:
            yield from self.layout.answer_rows(area.centred(rows_deg))
            return
        items_area = area
        if rows_deg:
            items_area = _Area(area.top, area.bottom + rows_deg + 2 * _GAP_DEG)
            yield from self.layout.answer_rows(area.bottom + rows_deg + _GAP_DEG)
        # Beside rows of other answers the items stand in one row, too.
        n = _MOST_SMALL_IN_ROW if rows_deg else _MOST_IN_ROW
        key_deg = LABEL_DEG if rows_deg else _KEY_DEG
        yield from self._item_keys(items_area, "shout", letter_deg=key_deg, most_in_row=n)

    def _covered(self, area: _Area) -> Iterator[Element]:
        """Draw some items as they lie on the table, and as they are while a card is shown."""
        width, height = self.layout.panel_deg
        spacing, item_deg = width + 1.0, min(self.layout.item_deg, area.height - height - 1.0)
        items = self.settings.items[: int(WRAP_DEG // spacing)]
        top = area.centred(item_deg + 1.0 + height)
        for i, item in enumerate(items):
            x = (i - (len(items) - 1) / 2) * spacing
            yield self.layout.item(item, x, top - item_deg / 2, size_deg=item_deg)
            yield from self.layout.panel(item, x, top - item_deg - 1.0 - height / 2)

    def _hat_moves(self, area: _Area) -> Iterator[Element]:
        """Draw the hat above one item, and then above another."""
        height = min(area.height, 6.0)
        for item, x in zip(self.game.hideable[:2], (-5.0, 5.0), strict=False):
            yield self.hat_above(item, x, area.middle, height_deg=height)
        yield Words("→", 0, area.middle, 2.0)

    def hat_above(self, item: str, x: float, y: float, *, height_deg: float) -> Drawing:
        """Draw the hat as it goes over an item."""
        svg = hat_above_svg(self.layout, str(hat_of(self.game)), item)
        return Drawing(svg, x, y, height_deg * _HAT_ABOVE[0] / _HAT_ABOVE[1], height_deg)


def hat_above_svg(layout: TableLayout, hat: str, item: str) -> str:
    """Draw an item and, a little above it and covering its top, the hat."""
    colours = layout.game.item_colours
    placed = (
        item_svg(name, colours[name], layout.palette).replace(
            "<svg ", f'<svg x="{x}" y="{y}" width="{size}" height="{size}" ', 1
        )
        for name, x, y, size in ((item, 12, 154, 176), (hat, 0, 0, 200))
    )
    width, height = _HAT_ABOVE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f"{''.join(placed)}</svg>"
    )


@dataclass(frozen=True, slots=True)
class _Area:
    """The strip of a page that a drawing may fill."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def centred(self, height: float) -> float:
        """Return where something of this height begins if it stands in the middle."""
        return self.middle + height / 2
