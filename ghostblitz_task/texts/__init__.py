"""The language files, and how they are read: all that a participant reads stands in them."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import as_file, files
from typing import Literal

from pydantic import Field

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion
from ghostblitz_task.settings_files import Settings, load_settings

__all__ = [
    "CaptainPage",
    "CaptainTexts",
    "Feature",
    "InstructionPage",
    "PageShows",
    "Texts",
    "available_languages",
    "load_texts",
]

#: What is drawn below the text of a page.
PageShows = Literal[
    "nothing",
    "items",
    "covered_items",
    "direct",
    "exclusion",
    "grab_and_shout",
    "hat_grab",
    "hat_call",
    "hat_move",
    "time",
    "mirror",
    "mirrored",
    "owl",
    "mirror_owl",
    "players",
    "grab_keys",
    "shout_keys",
]
#: What a study can have that needs a word of explanation; `examples.study_features` says when.
Feature = Literal[
    "direct",
    "exclusion",
    "shout_item",
    "shouting",
    "hat",
    "hat_chosen",
    "hat_scheduled",
    "time",
    "mirror",
    "mirrored",
    "owl",
    "mirror_owl",
    "masked",
    "pointer",
    "alone",
    "contest",
    "several",
    "rival",
    "model_rival",
    "ghost_rival",
    "jackpot",
    "under_pile",
    "recycled",
    "practice",
]


class Prompts(Settings):
    """Short texts that recur; fields in braces are filled in."""

    continue_: str = Field(alias="continue")
    grab_key: str
    shout_key: str
    grab_answer: str
    shout_answer: str


class KeyCheck(Settings):
    """The screen on which each key is tried once."""

    title: str
    grab: str
    shout: str
    wrong: str


class Condition(Settings):
    """Holds for a study that has all features in `when` and none in `unless`."""

    when: tuple[Feature, ...] = ()
    unless: tuple[Feature, ...] = ()

    def holds(self, features: Collection[str]) -> bool:
        """Say whether a study with these features is meant."""
        return set(self.when) <= set(features) and not set(self.unless) & set(features)


class Note(Condition):
    """Sentences that some studies add to a page, after its text or in a paragraph below it."""

    text: str
    place: Literal["after", "below"] = "after"

    @property
    def follows(self) -> str:
        """Return what stands between it and the text before."""
        return " " if self.place == "after" else "\n"


class InstructionPage(Condition):
    """One page of instructions, for the studies that its condition holds for."""

    title: str
    text: str
    shows: PageShows
    notes: tuple[Note, ...] = ()


class Reasons(Settings):
    """Why an answer is the right one, by rule; stands below an example."""

    direct: str
    exclusion: str
    time: str
    mirror: str
    mirror_owl: str
    hidden: str


class BlockTexts(Settings):
    """What stands before a block, and in the break after it."""

    practice_title: str
    practice: str
    test_title: str
    mixed: str
    mixed_rules: str
    direct: str
    exclusion: str
    time: str
    mirror: str
    mirror_owl: str
    break_title: str
    break_: str = Field(alias="break")


class FeedbackTexts(Settings):
    """What is said after a trial."""

    right: str
    wrong: str
    early: str
    late: str


class HatTexts(Settings):
    """What is said of the hat, in games that have one."""

    moved: str
    choose: str


class CompanyTexts(Settings):
    """What is said of the cards that are played for.

    A text in ``you_`` says of the only participant what its sibling says of a `player`; one in
    ``one_`` says of one card what its sibling says of `n`.
    """

    you: str
    player: str
    rival: str
    earlier_self: str
    separator: str
    last_separator: str
    takes: str
    you_takes: str
    nobody_takes: str
    nobody_right: str
    nobody_answered: str
    alone_wrong: str
    alone_early: str
    alone_late: str
    alone_both_modes: str
    tied: str
    by_lot: str
    by_time: str
    voided: str
    you_voided: str
    gives: str
    you_gives: str
    several_give: str
    jackpot_won: str
    one_jackpot_won: str
    set_aside: str
    one_set_aside: str
    under_pile: str
    one_under_pile: str
    set_aside_label: str
    gained: str
    lost: str
    final_title: str
    wins: str
    you_wins: str
    share: str
    alone_result: str
    nobody_won: str
    place: str
    capped: str
    jackpot_left: str


class TitledText(Settings):
    """A page of a title and a text."""

    title: str
    text: str


class CaptainPage(Settings):
    """One page of the captain's instructions, for the studies that have all features in `when`."""

    title: str
    text: str
    shows: Literal["deck", "die", "tongs", "colours", "cue", "eye", "corners", "nothing"]
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def holds(self, features: Collection[str]) -> bool:
        """Say whether a study with these features is meant."""
        return set(self.when) <= set(features) and not set(self.unless) & set(features)


class CaptainRefusals(Settings):
    """Why an action was refused, by its code."""

    not_now: str
    not_on_deck: str
    too_early: str
    named_already: str
    not_the_last: str
    nudging_off: str
    static: str
    no_reason_to: str


class CaptainTexts(Settings):
    """All that is said in the captain's deck."""

    decimal_mark: str
    collected: str
    galley: str
    turn_of: str
    pick: str
    pick_keys: str
    pick_last: str
    pick_last_keys: str
    look: str
    look_keys: str
    name: str
    colour_key: str
    nudge_key: str
    check_colour: str
    check_look: str
    check_nudge: str
    game_title: str
    game: str
    practice_title: str
    practice: str
    still_note: str
    players_note: str
    over_title: str
    won: str
    cleared: str
    lost: str
    die_fell: str
    capped: str
    capped_still: str
    end: str
    refusals: CaptainRefusals
    pages: tuple[CaptainPage, ...]


class Texts(Settings):
    """One language."""

    language: str
    items: dict[str, str]
    colours: dict[str, str]
    keys: dict[str, str]
    prompts: Prompts
    key_check: KeyCheck
    instructions: tuple[InstructionPage, ...]
    reasons: Reasons
    blocks: BlockTexts
    feedback: FeedbackTexts
    hat: HatTexts
    company: CompanyTexts
    captain: CaptainTexts
    pause: TitledText
    end: TitledText

    def item(self, item: str) -> str:
        """Return an item's name; a study's own item that has none keeps its identifier."""
        return self.items.get(item, item)

    def colour(self, colour: str) -> str:
        """Return a colour's name; one that has none keeps its identifier."""
        return self.colours.get(colour, colour)

    def answer(self, answer: str) -> str:
        """Return the name of an item or a colour; a time is its own."""
        return self.items.get(answer) or self.colours.get(answer, answer)

    def player(self, seat: int) -> str:
        """Return what a player is called among several: a number, from 1."""
        return self.company.player.format(number=seat + 1)

    def key(self, key: str) -> str:
        """Return what a key is called: its letter, or a name where it has none."""
        return self.keys.get(key, key.upper())


def available_languages() -> tuple[str, ...]:
    """Return the languages there are files for."""
    folder = files(__name__)
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def load_texts(language: str) -> Texts:
    """Read a language file.

    Raises
    ------
    ConfigError
        If there is no such language, or its file lacks a text.
    """
    known: Collection[str] = available_languages()
    if language not in known:
        raise ConfigError(
            f"study.language: there is no language {language!r}; there are {', '.join(known)}"
            + suggestion(language, known)
        )
    with as_file(files(__name__) / f"{language}.toml") as path:
        return load_settings(path, Texts)
