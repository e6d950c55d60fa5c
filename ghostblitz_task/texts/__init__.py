"""The language files, and how they are read: all that a participant reads stands in them."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import as_file, files
from typing import Literal

from pydantic import Field

from ghostblitz_task.config import Settings, load_settings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion

__all__ = ["InstructionPage", "Texts", "available_languages", "load_texts"]

PageShows = Literal["nothing", "items", "direct", "exclusion", "grab_keys", "grab_and_shout"]


class Prompts(Settings):
    """Short texts that recur; fields in braces are filled in."""

    continue_: str = Field(alias="continue")
    item_with_colour: str
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


class InstructionPage(Settings):
    """One page of instructions; shown in games with exactly these modes, or in all."""

    title: str
    text: str
    shows: PageShows
    modes: tuple[str, ...] = ()


class BlockTexts(Settings):
    """What stands before a block, and in the break after it."""

    practice_title: str
    practice: str
    test_title: str
    mixed: str
    direct: str
    exclusion: str
    break_title: str
    break_: str = Field(alias="break")


class FeedbackTexts(Settings):
    """What is said after a trial."""

    right: str
    wrong: str
    early: str
    late: str


class TitledText(Settings):
    """A page of a title and a text."""

    title: str
    text: str


class Texts(Settings):
    """One language."""

    language: str
    items: dict[str, str]
    colours: dict[str, str]
    keys: dict[str, str]
    prompts: Prompts
    key_check: KeyCheck
    instructions: tuple[InstructionPage, ...]
    blocks: BlockTexts
    feedback: FeedbackTexts
    pause: TitledText
    end: TitledText

    def item(self, item: str) -> str:
        """Return an item's name; a study's own item that has none keeps its identifier."""
        return self.items.get(item, item)

    def colour(self, colour: str) -> str:
        """Return a colour's name; one that has none keeps its identifier."""
        return self.colours.get(colour, colour)

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
