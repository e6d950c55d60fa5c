"""What each screen of a session shows, as values; an apparatus draws them.

All places and sizes are in degrees of visual angle, from the centre of the screen, x to the
right and y up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.config import BlockSettings, StudySettings
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.drawing import Palette, card_size_deg, card_svg, item_svg, load_palette
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Game, Mode, Stimulus
from ghostblitz_task.texts import InstructionPage, Texts

__all__ = ["Bar", "Drawing", "Element", "Line", "Patch", "Screen", "Screens", "Words"]

#: State of the square in the corner: dark, white with the card, or one of two greys, in turn,
#: while a screen waits for a key.
Patch = Literal["off", "card", "waiting", "waiting-next"]
FeedbackKind = Literal["right", "wrong", "early", "late"]

_RULES = ("direct", "exclusion")
_TITLE_DEG = 1.1
_TEXT_DEG = 0.75
_LABEL_DEG = 0.7
_WRAP_DEG = 26.0
#: What titles, texts and examples need, from top to bottom.
_PAGE_HEIGHT_DEG = 16.4
#: The items' circle is flatter than round, as screens are.
_FLATTEN = 0.6
# Up to seven items leave a gap at the bottom, where words and the progress bar stand.
_ARC_FROM_DEG, _ARC_TO_DEG, _MOST_ON_ARC = 198.0, -18.0, 7


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG at a place."""

    svg: str
    x_deg: float
    y_deg: float
    width_deg: float
    height_deg: float


@dataclass(frozen=True, slots=True)
class Words:
    """A text centred at a place, or below it with `hangs`, however many lines it takes."""

    text: str
    x_deg: float
    y_deg: float
    height_deg: float = _TEXT_DEG
    bold: bool = False
    wrap_deg: float = _WRAP_DEG
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    from_deg: tuple[float, float]
    to_deg: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar; `fraction` of it is filled."""

    fraction: float
    x_deg: float
    y_deg: float
    width_deg: float
    height_deg: float


Element = Drawing | Words | Line | Bar


@dataclass(frozen=True, slots=True, eq=False)
class Screen:
    """One screen.

    Attributes
    ----------
    name : str
        As in the log.
    table : tuple of Element
        What lies on the table on every screen of a block; may be drawn once and kept.
    elements : tuple of Element
        The rest, drawn above it.
    patch : str
        State of the square in the corner.
    awaits_key : str or None
        The key that ends a self-paced screen.
    stimulus : Stimulus or None
        The card that asks for a response, for apparatus that answer by themselves.
    """

    name: str
    elements: tuple[Element, ...] = ()
    table: tuple[Element, ...] = ()
    patch: Patch = "off"
    awaits_key: str | None = None
    stimulus: Stimulus | None = None


@dataclass(frozen=True)
class Screens:
    """Makes the screens of one study in one language."""

    settings: StudySettings
    game: Game
    texts: Texts
    key_labels: Mapping[str, str] = field(default_factory=dict)
    palette: Palette = field(init=False)
    table: tuple[Element, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "palette", load_palette(self.settings.display.palette))
        object.__setattr__(self, "table", tuple(self._table(with_keys=True)))

    def with_key_labels(self, labels: Mapping[str, str]) -> Screens:
        """Return the screens as they are on a keyboard with these labels."""
        return Screens(self.settings, self.game, self.texts, labels)

    def key_name(self, key: str) -> str:
        """Return what a participant calls a key: what is printed on it, else its name."""
        return self.key_labels.get(key) or self.texts.key(key)

    # --- the table ---------------------------------------------------------------------------

    def item_places(self) -> Mapping[str, tuple[float, float]]:
        """Return where each item lies round the card, in degrees."""
        items = self.settings.items
        if len(items) <= _MOST_ON_ARC:
            step = (_ARC_TO_DEG - _ARC_FROM_DEG) / max(len(items) - 1, 1)
        else:
            step = -360.0 / len(items)
        radius_deg = self.settings.display.items_radius_deg
        places = {}
        for i, item in enumerate(items):
            angle = math.radians(_ARC_FROM_DEG + i * step)
            places[item] = (
                radius_deg * math.cos(angle),
                radius_deg * _FLATTEN * math.sin(angle),
            )
        return places

    def item_at(self, x_deg: float, y_deg: float) -> str | None:
        """Return the item at a place, if there is one."""
        half = self.settings.display.item_deg / 2
        for item, (x, y) in self.item_places().items():
            if abs(x_deg - x) <= half and abs(y_deg - y) <= half:
                return item
        return None

    def extent_deg(self) -> tuple[float, float]:
        """Return the width and height, in degrees, that a screen must have at least."""
        half = self.settings.display.item_deg / 2
        places = self.item_places().values()
        width = 2 * max(abs(x) for x, _ in places) + 2 * half
        # Labels stand below the items, so they count for the lower ones only.
        height = 2 * max(half + (y if y > 0 else 2 * _LABEL_DEG - y) for _, y in places)
        return max(width, _WRAP_DEG), max(height, _PAGE_HEIGHT_DEG)

    def check_drawable(self) -> None:
        """Refuse items and colours that there is no drawing for, before anything opens.

        Raises
        ------
        ConfigError
            Naming the item or colour, or cards that would cover the items round them.
        """
        colours = sorted(set(self.game.item_colours.values()))
        for item in self.game.item_colours:
            for colour in colours:
                item_svg(item, colour, self.palette)
        width, height = self._card_size()
        half = self.settings.display.item_deg / 2
        for item, (x, y) in self.item_places().items():
            if abs(x) < width / 2 + half and abs(y) < height / 2 + half:
                raise ConfigError(
                    f"display.items_radius_deg: the card ({width:g} x {height:g} degrees) would "
                    f"cover the {item}; a larger radius or smaller pictures are needed"
                )

    def _card_size(self) -> tuple[float, float]:
        pictures = tuple(Picture(i, c) for i, c in self.game.item_colours.items())
        card = Card(pictures[: self.game.n_pictures])
        return card_size_deg(card, picture_deg=self.settings.display.picture_deg)

    def _item(self, item: str, x: float, y: float, *, size_deg: float) -> Drawing:
        svg = item_svg(item, self.game.item_colours[item], self.palette)
        return Drawing(svg, x, y, size_deg, size_deg)

    def _table(self, *, with_keys: bool) -> Iterator[Element]:
        size_deg = self.settings.display.item_deg
        for item, (x, y) in self.item_places().items():
            yield self._item(item, x, y, size_deg=size_deg)
            if with_keys:
                label = self._key_label("grab", item)
                if "shout" in self.game.modes:
                    label += "   " + self._key_label("shout", item)
                yield Words(label, x, y - size_deg / 2 - _LABEL_DEG * 0.6, _LABEL_DEG)

    def _key_label(self, mode: Mode, item: str) -> str:
        responses, prompts = self.settings.responses, self.texts.prompts
        if mode == "grab":
            return prompts.grab_key.format(key=self.key_name(responses.grab_keys[item]))
        return prompts.shout_key.format(key=self.key_name(responses.shout_keys[item]))

    # --- trials ------------------------------------------------------------------------------

    def fixation(self) -> Screen:
        """Return the cross in the middle."""
        cross = (Line((-0.4, 0), (0.4, 0)), Line((0, -0.4), (0, 0.4)))
        return Screen("fixation", cross, self.table)

    def card(self, stimulus: Stimulus) -> Screen:
        """Return the card that asks for a response; the patch is white as long as it is shown."""
        drawing = self._card(stimulus.card, 0, 0, scale=1)
        return Screen("card", (drawing,), self.table, patch="card", stimulus=stimulus)

    def feedback(self, kind: FeedbackKind) -> Screen:
        """Return what is said after a trial."""
        text: str = getattr(self.texts.feedback, kind)
        return Screen(f"feedback-{kind}", (Words(text, 0, 0, 1.4, bold=True),), self.table)

    def blank(self) -> Screen:
        """Return the table without a card, between trials."""
        return Screen("inter-trial", (), self.table)

    def _card(self, card: Card, x: float, y: float, *, scale: float) -> Drawing:
        picture_deg = self.settings.display.picture_deg
        width, height = card_size_deg(card, picture_deg=picture_deg)
        svg = card_svg(card, self.palette, picture_deg=picture_deg)
        return Drawing(svg, x, y, width * scale, height * scale)

    # --- self-paced screens ------------------------------------------------------------------

    def key_check(self) -> Iterator[tuple[Screen, Screen]]:
        """For each response key, the screen that asks for it, and the one after a wrong key."""
        responses, texts = self.settings.responses, self.texts
        rows: list[tuple[Mode, Mapping[str, str], str]] = [
            ("grab", responses.grab_keys, texts.key_check.grab)
        ]
        if "shout" in self.game.modes:
            rows.append(("shout", responses.shout_keys, texts.key_check.shout))
        for mode, keys, text in rows:
            for item in self.settings.items:
                key = self.key_name(keys[item])
                ask = text.format(item=texts.item(item), key=key)
                elements = (
                    Words(texts.key_check.title, 0, 6.2, _TITLE_DEG, bold=True),
                    self._item(item, 0, 0.5, size_deg=6),
                    Words(ask, 0, -4.6),
                )
                name = f"key-check-{mode}-{item}"
                again = Words(texts.key_check.wrong.format(pressed="{pressed}", key=key), 0, -6.4)
                yield (
                    Screen(name, elements, awaits_key=keys[item]),
                    Screen(name, (*elements, again), awaits_key=keys[item]),
                )

    def instructions(self) -> Iterator[Screen]:
        """Return the pages of this game's instructions, with drawn and solved examples."""
        modes, rules = set(self.game.modes), self._rules()
        # What no block needs is not explained.
        pages = [
            page
            for page in self.texts.instructions
            if (not page.modes or set(page.modes) == modes)
            and (page.shows not in _RULES or page.shows in rules)
        ]
        for number, page in enumerate(pages, start=1):
            drawn = tuple(self._shown(page))
            text = page.text.format(**self._facts())
            yield self._page(f"instructions-{number}", page.title, text, drawn=drawn)

    def block_intro(self, block: BlockSettings, *, number: int, n_blocks: int) -> Screen:
        """Return what is said before a block."""
        texts = self.texts.blocks
        if block.phase == "practice":
            title, text = texts.practice_title, texts.practice
        else:
            title, text = texts.test_title, getattr(texts, block.type)
        return self._page(
            f"block-{block.label}",
            title.format(number=number, n_blocks=n_blocks),
            text.format(n_trials=block.n_trials),
            drawn=tuple(self._table(with_keys=True)),
        )

    def block_break(self, *, done: int, n_blocks: int) -> Screen:
        """Return the self-paced break after a block, with the progress bar."""
        texts = self.texts.blocks
        text = texts.break_.format(done=done, n_blocks=n_blocks)
        bar = Bar(done / n_blocks, 0, 1.5, 16, 0.8)
        return self._page(f"break-{done}", texts.break_title, text, drawn=(bar,))

    def pause(self) -> Screen:
        """Return the screen of a pause that the participant asked for."""
        return self._page("pause", self.texts.pause.title, self.texts.pause.text)

    def end(self) -> Screen:
        """Return the last screen."""
        bar = Bar(1, 0, 1.5, 16, 0.8)
        return self._page("end", self.texts.end.title, self.texts.end.text, drawn=(bar,))

    def _page(self, name: str, title: str, text: str, *, drawn: tuple[Element, ...] = ()) -> Screen:
        key = self.settings.responses.continue_key
        go_on = self.texts.prompts.continue_.format(key=self.key_name(key))
        on_table = bool(drawn) and name.startswith("block-")
        elements = (
            Words(title, 0, 2.8 if on_table else 7.2, _TITLE_DEG, bold=True),
            Words(
                text,
                0,
                1.6 if on_table else 5.9,
                wrap_deg=13.0 if on_table else _WRAP_DEG,
                hangs=True,
            ),
            Words(go_on, 0, -7.5),
            *drawn,
        )
        return Screen(name, elements, awaits_key=key)

    # --- examples ----------------------------------------------------------------------------

    def _facts(self) -> dict[str, str]:
        texts, responses = self.texts, self.settings.responses
        items = [
            texts.prompts.item_with_colour.format(
                item=texts.item(i), colour=texts.colour(self.game.item_colours[i])
            )
            for i in self.settings.items
        ]
        keys = [self.key_name(responses.grab_keys[i]) for i in self.settings.items]
        return {
            "n_items": str(len(items)),
            "item_list": ", ".join(items),
            "grab_key_list": "  ".join(keys),
            "shout_item": texts.item(str(getattr(self.game, "shout_item", ""))),
            "deadline": f"{self.settings.timing.deadline_s:g}",
            "pause_key": self.key_name(responses.pause_key),
            "quit_key": self.key_name(responses.quit_key),
        }

    def _shown(self, page: InstructionPage) -> Iterator[Element]:
        if page.shows == "items":
            for i, item in enumerate(self.settings.items):
                x = (i - (len(self.settings.items) - 1) / 2) * 4.6
                yield self._item(item, x, -2.0, size_deg=4)
        elif page.shows == "grab_keys":
            for i, item in enumerate(self.settings.items):
                x = (i - (len(self.settings.items) - 1) / 2) * 4.6
                yield self._item(item, x, -2.0, size_deg=4)
                yield Words(self._key_label("grab", item), x, -4.8)
        elif page.shows == "grab_and_shout":
            rules = self._rules()
            yield from self._example(rules[0], "grab", x=-6.5)
            yield from self._example(rules[-1], "shout", x=6.5)
        elif page.shows != "nothing":
            # A game that also shouts is first explained with cards to grab.
            yield from self._example(page.shows, "grab", x=0)

    def _rules(self) -> tuple[str, ...]:
        """Return the rules that the study's blocks follow."""
        types = {block.type for block in self.settings.blocks}
        return _RULES if "mixed" in types else tuple(rule for rule in _RULES if rule in types)

    def _example(self, rule: str, mode: Mode, *, x: float) -> Iterator[Element]:
        """Draw an example card and its answer, which the rules solve; it is never typed in."""
        stimulus = example_stimulus(self.game, rule, mode)
        prompts = self.texts.prompts
        solution = stimulus.solution
        caption = prompts.grab_answer if solution.mode == "grab" else prompts.shout_answer
        yield self._card(stimulus.card, x, -2.5, scale=0.78)
        yield Words(caption.format(answer=self.texts.item(solution.answer)), x, -5.8)


def example_stimulus(game: Game, rule: str, mode: Mode) -> Stimulus:
    """Return a card of this rule and mode, the same at each call.

    Raises
    ------
    ConfigError
        If the game, as the study sets it, has none.
    """
    found = [s for s in legal_stimuli(game) if s.solution.rule == rule and s.solution.mode == mode]
    if not found:
        raise ConfigError(f"game {game.name}: there is no {rule} card to {mode} for an example")
    return found[len(found) // 3]
