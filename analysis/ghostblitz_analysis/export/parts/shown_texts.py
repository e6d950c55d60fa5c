"""What participants read: the pages of instructions, made again from the settings in the logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.parts.provenance_record import languages_of
from ghostblitz_task import __version__
from ghostblitz_task.captain.pages import Pages
from ghostblitz_task.captain.screens import CaptainScreens
from ghostblitz_task.captain.study_settings import GAME, CaptainStudySettings
from ghostblitz_task.config import StudySettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.screens import Screens
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.texts import Texts, available_languages, load_texts

__all__ = ["instruction_pages", "write_shown_texts"]

Header = Mapping[str, Any]


def write_shown_texts(headers: Mapping[str, Header], folder: Path, name: str) -> None:
    """Write the texts of each language, and the instructions of each variant of the settings.

    Parameters
    ----------
    headers : mapping of str to mapping
        The header of each log; none of imported data, for which nothing is written.
    folder : Path
        The export's folder.
    name : str
        Of the folder of stimuli in it.
    """
    for language in languages_of(headers):
        if language in available_languages():
            file = files("ghostblitz_task.texts") / f"{language}.toml"
            write_text(folder, f"{name}/texts/{language}.toml", file.read_text(encoding="utf-8"))
    variants = {(h["settings_sha256"], str(h["language"])): h for h in headers.values()}
    for (sha256, language), header in sorted(variants.items()):
        # A second variant of settings is rare: only then is it told apart in the name.
        several = len({sha for sha, _ in variants}) > 1
        stem = f"instructions_{language}" + (f"_{sha256[:8]}" if several else "")
        write_text(folder, f"{name}/texts/{stem}.md", _instructions(header))


def _instructions(header: Header) -> str:
    software = header.get("software") or {}
    lines = [
        f"# Instructions of {header.get('study_title') or header['study_id']}",
        "",
        f"Language: {header['language']}. Settings: {header['settings_sha256']}. The pages that "
        f"ghostblitz {__version__} makes of the settings in the logs, which ghostblitz "
        f"{software.get('ghostblitz', 'of an unknown version')} wrote. Keys are named as on the "
        "keyboard of the language; what a page draws is not part of this text.",
    ]
    try:
        pages = list(instruction_pages(header))
    except ConfigError as error:
        return "\n".join([*lines, "", f"They cannot be made again: {error}."]) + "\n"
    for number, (title, text) in enumerate(pages, start=1):
        lines += ["", f"## {number}. {title}", "", "```", text.strip("\n"), "```"]
    return "\n".join(lines) + "\n"


def instruction_pages(header: Header) -> Iterator[tuple[str, str]]:
    """Return title and text of each page of instructions of a session.

    Parameters
    ----------
    header : mapping
        Of its log.

    Raises
    ------
    ConfigError
        If this version of the program cannot read the settings, or has no such language.
    """
    texts = load_texts(str(header["language"]))
    if header["game"]["name"] == GAME:
        settings = validate_settings(header["settings"], CaptainStudySettings, where="settings")
        for title, text, _drawn in Pages(CaptainScreens(settings, texts)).pages():
            yield title, text
        return
    yield from _card_pages(header, texts)


def _card_pages(header: Header, texts: Texts) -> Iterator[tuple[str, str]]:
    settings = validate_settings(header["settings"], StudySettings, where="settings")
    for page in Screens(settings, settings.make_game(), texts).pages():
        yield page.title, page.text
