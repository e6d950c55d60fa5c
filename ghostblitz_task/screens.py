"""What each screen of a session shows, as values; an apparatus draws them.

All places and sizes are in degrees of visual angle, from the centre of the screen, x to the
right and y up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ghostblitz_task.cards import TIMED_ITEM, Card, Picture, is_clock_time
from ghostblitz_task.config import BlockSettings, PlayerKeys, StudySettings
from ghostblitz_task.drawing import Palette, card_svg, load_palette, picture_svg
from ghostblitz_task.examples import study_features
from ghostblitz_task.games import Game, GameState, Mode, Stimulus
from ghostblitz_task.instructions import (
    GO_ON_Y,
    LINE_DEG,
    PAGE_HEIGHT_DEG,
    TEXT_TOP_Y,
    TITLE_DEG,
    TITLE_Y,
    Instructions,
    Page,
)
from ghostblitz_task.screen_elements import (
    LINE_HEIGHT,
    TEXT_DEG,
    WRAP_DEG,
    Bar,
    Drawing,
    Element,
    Line,
    Patch,
    Screen,
    Words,
    balanced,
    box_of,
    text_width_deg,
)
from ghostblitz_task.table_drawings import swatch_svg
from ghostblitz_task.table_layout import TableLayout
from ghostblitz_task.texts import Texts

__all__ = ["Bar", "Drawing", "Element", "Line", "Patch", "Screen", "Screens", "Words"]

FeedbackKind = Literal["right", "wrong", "early", "late"]

# A text in the middle of the table keeps this far from the items at both sides, and is no wider.
_MIDDLE_MARGIN_DEG, _MOST_MIDDLE_DEG = 0.6, 17.0
_TABLE_TITLE_Y, _TABLE_TEXT_Y = 2.6, 1.6
# The hat and the item below it, in the place of the card, and the items it can go over.
_HAT_HEIGHT_DEG, _CHOICE_DEG, _CHOICE_SPACING_DEG = 5.8, 2.4, 4.0
_CHOICE_Y, _CHOICE_KEY_DEG = -0.9, 1.7
_CHECK_ITEM_DEG, _CHECK_SWATCH_DEG = 6.0, 4.0
_CHECK_TITLE_Y, _CHECK_TITLE_ABOVE_Y, _CHECK_NAME_Y, _CHECK_MARK_DEG = 6.2, 7.2, 4.8, 1.8


@dataclass(frozen=True)
class Screens:
    """Makes the screens of one study in one language."""

    settings: StudySettings
    game: Game
    texts: Texts
    key_labels: Mapping[str, str] = field(default_factory=dict)
    palette: Palette = field(init=False)
    layout: TableLayout = field(init=False)
    _tables: Mapping[str | None, tuple[Element, ...]] = field(init=False)
    _masked: tuple[Element, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        palette = load_palette(self.settings.display.palette)
        layout = TableLayout(self.settings, self.game, self.texts, palette, self.key_name)
        masked = self.settings.display.tabletop == "masked"
        tables = {table.hat_over: layout.table(table.hat_over) for table in self.tables()}
        object.__setattr__(self, "palette", palette)
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "_tables", tables)
        object.__setattr__(self, "_masked", layout.masked_table() if masked else None)

    def with_key_labels(self, labels: Mapping[str, str]) -> Screens:
        """Return the screens as they are on a keyboard with these labels."""
        return Screens(self.settings, self.game, self.texts, labels)

    def key_name(self, key: str) -> str:
        """Return what a participant calls a key: what is printed on it, else its name."""
        return self.key_labels.get(key) or self.texts.key(key)

    # --- the table ---------------------------------------------------------------------------

    def tables(self) -> tuple[GameState, ...]:
        """Return each table there can be, as far as it can be seen."""
        return tuple(GameState(hat_over=i) for i in self.game.hideable) or (GameState(),)

    def item_places(self) -> Mapping[str, tuple[float, float]]:
        """Return where each item lies round the card, in degrees."""
        return self.layout.item_places

    def item_at(self, x_deg: float, y_deg: float) -> str | None:
        """Return the item at a place, if there is one."""
        return self.layout.item_at(x_deg, y_deg)

    def extent_deg(self) -> tuple[float, float]:
        """Return the width and height, in degrees, that a screen must have at least."""
        width, height = self.layout.extent_deg()
        return max(width, WRAP_DEG), max(height, PAGE_HEIGHT_DEG)

    def check_drawable(self) -> None:
        """Refuse what cannot be drawn, or not without overlap, before anything opens.

        Raises
        ------
        ConfigError
            Naming the item or colour, or the things that would cover each other.
        """
        self.layout.check_drawable()

    def _table(self, state: GameState) -> tuple[Element, ...]:
        """Return the table as it lies in and between trials.

        A masked one stays so between trials too: what was put on it last must be remembered from
        one move of the hat to the next, not from a glance before each card.
        """
        return self._tables[state.hat_over] if self._masked is None else self._masked

    def middle_deg(self, *, bottom: float, top: float) -> float:
        """Return how wide words in the middle of the table may be, between two heights."""
        free_deg = self.layout.free_width_deg(bottom=bottom, top=top)
        return min(free_deg - 2 * _MIDDLE_MARGIN_DEG, _MOST_MIDDLE_DEG)

    # --- trials ------------------------------------------------------------------------------

    def fixation(self, state: GameState) -> Screen:
        """Return the cross in the middle."""
        cross = (Line((-0.4, 0), (0.4, 0)), Line((0, -0.4), (0, 0.4)))
        return Screen("fixation", cross, self._table(state))

    def card(self, stimulus: Stimulus) -> Screen:
        """Return the card that asks for a response; the patch is white as long as it is shown."""
        drawing = self._card(stimulus.card)
        table = self._table(stimulus.state)
        return Screen("card", (drawing,), table, patch="card", stimulus=stimulus)

    def feedback(self, kind: FeedbackKind, state: GameState) -> Screen:
        """Return what is said after a trial."""
        text: str = getattr(self.texts.feedback, kind)
        words = Words(text, 0, 0, 1.4, bold=True)
        return Screen(f"feedback-{kind}", (words,), self._table(state))

    def blank(self, state: GameState) -> Screen:
        """Return the table without a card, between trials."""
        return Screen("inter-trial", (), self._table(state))

    def hat_moved(self, state: GameState) -> Screen:
        """Return what tells where the hat goes: the item, the hat above it, and its name."""
        hidden = str(state.hat_over)
        text = self.texts.hat.moved.format(item=self.texts.item(hidden))
        hat = self._instructions().hat_above(hidden, 0, -0.9, height_deg=_HAT_HEIGHT_DEG)
        words = Words(balanced(text, self.middle_deg(bottom=-4.0, top=3.2)), 0, 2.8)
        return Screen("hat-moved", (words, hat), self._tables[state.hat_over])

    def hat_choice(self, state: GameState, choices: tuple[str, ...], *, seat: int = 0) -> Screen:
        """Return the screen that asks over which item the hat shall go; a player's among several.

        `seat` is the player's, from 0, whose keys are awaited.
        """
        keys = self.settings.responses.players[seat].grab_keys
        text = self.texts.hat.choose
        if self.layout.keys.n_players > 1:
            text = f"{self.texts.player(seat)}: {text}"
        text = balanced(text, self.middle_deg(bottom=1.0, top=3.2))
        words = Words(text, 0, 3.2, hangs=True)
        elements: list[Element] = [words]
        y = min(_CHOICE_Y, box_of(words).bottom - _CHOICE_DEG / 2 - 0.2)
        for i, item in enumerate(choices):
            x = (i - (len(choices) - 1) / 2) * _CHOICE_SPACING_DEG
            elements.append(self.layout.item(item, x, y, size_deg=_CHOICE_DEG))
            key = self.layout.keys.label("grab", item, seat=seat)
            elements.append(Words(key, x, y - _CHOICE_KEY_DEG))
        return Screen(
            "hat-choice",
            tuple(elements),
            self._tables[state.hat_over],
            awaits_keys=tuple(keys[item] for item in choices),
        )

    def _card(self, card: Card) -> Drawing:
        # All cards are of one size: a picture in a mirror must not be told by a smaller card.
        width_deg, height_deg = self.layout.card_deg
        svg = card_svg(card, self.palette, width_deg=width_deg, picture_deg=self.layout.picture_deg)
        return Drawing(svg, 0, 0, width_deg, height_deg)

    # --- self-paced screens ------------------------------------------------------------------

    def key_check(self) -> Iterator[tuple[Screen, Screen]]:
        """For each response key, the screen that asks for it, and the one after a wrong key.

        Several players try their keys one after the other.
        """
        several = self.layout.keys.n_players > 1
        for seat, player in enumerate(self.settings.responses.players):
            whose = self._whose_check(seat) if several else ()
            name = f"key-check-player-{seat + 1}" if several else "key-check"
            yield from self._key_check_of(player, whose, name)

    def _whose_check(self, seat: int) -> tuple[Element, ...]:
        """Return whose turn it is to try the keys: a mark and a name, side by side."""
        name = self.texts.player(seat)
        name_deg = text_width_deg(name, TITLE_DEG, bold=True)
        left = -(_CHECK_MARK_DEG + 0.5 + name_deg) / 2
        mark_x, name_x = left + _CHECK_MARK_DEG / 2, left + _CHECK_MARK_DEG + 0.5 + name_deg / 2
        return (
            self.layout.keys.mark(seat, mark_x, _CHECK_NAME_Y, size_deg=_CHECK_MARK_DEG),
            Words(name, name_x, _CHECK_NAME_Y, TITLE_DEG, bold=True),
        )

    def _key_check_of(
        self, player: PlayerKeys, whose: tuple[Element, ...], prefix: str
    ) -> Iterator[tuple[Screen, Screen]]:
        texts = self.texts
        rows: list[tuple[Mode, Mapping[str, str], str]] = [
            ("grab", player.grab_keys, texts.key_check.grab)
        ]
        if "shout" in self.game.modes:
            rows.append(("shout", player.shout_keys, texts.key_check.shout))
        for mode, keys, text in rows:
            for answer in sorted(keys, key=self._place_in_check):
                key = self.key_name(keys[answer])
                ask = text.format(item=texts.answer(answer), key=key)
                title_y = _CHECK_TITLE_ABOVE_Y if whose else _CHECK_TITLE_Y
                elements: tuple[Element, ...] = (
                    Words(texts.key_check.title, 0, title_y, TITLE_DEG, bold=True),
                    *whose,
                    self._drawn_answer(answer),
                    Words(ask, 0, -4.6),
                )
                name = f"{prefix}-{mode}-{answer}"
                again = Words(texts.key_check.wrong.format(pressed="{pressed}", key=key), 0, -6.4)
                yield (
                    Screen(name, elements, awaits_keys=(keys[answer],)),
                    Screen(name, (*elements, again), awaits_keys=(keys[answer],)),
                )

    def _drawn_answer(self, answer: str) -> Element:
        """Draw what a key stands for: an item, a colour, or a clock that shows the time."""
        if answer in self.game.item_colours:
            return self.layout.item(answer, 0, 0.5, size_deg=_CHECK_ITEM_DEG)
        if is_clock_time(answer) and TIMED_ITEM in self.game.item_colours:
            clock = Picture(TIMED_ITEM, self.game.item_colours[TIMED_ITEM], answer)
            svg = picture_svg(clock, self.palette)
            return Drawing(svg, 0, 0.5, _CHECK_ITEM_DEG, _CHECK_ITEM_DEG)
        if answer in self.palette.colours:
            svg = swatch_svg(answer, self.palette)
            return Drawing(svg, 0, 0.5, _CHECK_SWATCH_DEG, _CHECK_SWATCH_DEG)
        return Words(self.texts.answer(answer), 0, 0.5, 2.0, bold=True)

    def _place_in_check(self, answer: str) -> int:
        """Items come in their order on the table, then colours and times in the game's."""
        order = dict.fromkeys([*self.settings.items, *self.game.answers("shout")])
        return list(order).index(answer)

    def _instructions(self) -> Instructions:
        return Instructions(self.settings, self.game, self.texts, self.layout)

    def pages(self) -> tuple[Page, ...]:
        """Return the pages of this study's instructions, with drawn and solved examples."""
        return tuple(self._instructions().pages())

    def instructions(self) -> Iterator[Screen]:
        """Return the screens of these pages."""
        for number, page in enumerate(self.pages(), start=1):
            yield self.page(f"instructions-{number}", page.title, page.text, drawn=page.drawn)

    def block_intro(self, block: BlockSettings, *, number: int, n_blocks: int) -> Screen:
        """Return what is said before a block, in the middle of the table."""
        texts = self.texts.blocks
        if block.phase == "practice":
            title, text = texts.practice_title, texts.practice
        else:
            title, text = texts.test_title, self._block_text(block)
        title = title.format(number=number, n_blocks=n_blocks)
        text = text.format(n_trials=block.n_trials)
        rows = [box_of(element) for element in self.layout.answer_rows()]
        go_on_y = max([GO_ON_Y, *(box.top + 2 * TEXT_DEG for box in rows)])
        wrap_deg = self.middle_deg(bottom=go_on_y, top=_TABLE_TEXT_Y)
        elements = (
            Words(title, 0, _TABLE_TITLE_Y, TITLE_DEG, bold=True),
            Words(balanced(text, wrap_deg), 0, _TABLE_TEXT_Y, hangs=True),
            self._go_on(go_on_y, wrap_deg=wrap_deg if rows else LINE_DEG),
            # What a hat hides is shown after this; here it must not look as if it hid nothing.
            *(self.layout.masked_table() if self.game.hideable else self.layout.table()),
        )
        key = self.settings.responses.continue_key
        return Screen(f"block-{block.label}", elements, awaits_keys=(key,))

    def _block_text(self, block: BlockSettings) -> str:
        more = {"time", "mirror", "mirror_owl"} & study_features(self.settings, self.game)
        if block.type == "mixed" and more:
            return self.texts.blocks.mixed_rules
        text: str = getattr(self.texts.blocks, block.type.replace("-", "_"))
        return text

    def block_break(self, *, done: int, n_blocks: int) -> Screen:
        """Return the self-paced break after a block, with the progress bar."""
        texts = self.texts.blocks
        text = texts.break_.format(done=done, n_blocks=n_blocks)
        bar = Bar(done / n_blocks, 0, 1.5, 16, 0.8)
        return self.page(f"break-{done}", texts.break_title, text, drawn=(bar,))

    def pause(self) -> Screen:
        """Return the screen of a pause that the participant asked for."""
        return self.page("pause", self.texts.pause.title, self.texts.pause.text)

    def end(self) -> Screen:
        """Return the last screen."""
        bar = Bar(1, 0, 1.5, 16, 0.8)
        return self.page("end", self.texts.end.title, self.texts.end.text, drawn=(bar,))

    def page(self, name: str, title: str, text: str, *, drawn: tuple[Element, ...] = ()) -> Screen:
        """Return a page of a title, a text and a drawing that waits until it has been read."""
        elements = (
            Words(title, 0, TITLE_Y, TITLE_DEG, bold=True),
            Words(balanced(text, LINE_DEG), 0, TEXT_TOP_Y, hangs=True),
            self._go_on(GO_ON_Y),
            *drawn,
        )
        return Screen(name, elements, awaits_keys=(self.settings.responses.continue_key,))

    def _go_on(self, y_deg: float, *, wrap_deg: float = LINE_DEG) -> Words:
        """Return the line that says how to go on, the last of its lines at a height."""
        key = self.key_name(self.settings.responses.continue_key)
        text = balanced(self.texts.prompts.continue_.format(key=key), wrap_deg)
        middle = y_deg + text.count("\n") / 2 * LINE_HEIGHT * TEXT_DEG
        return Words(text, 0, middle)
