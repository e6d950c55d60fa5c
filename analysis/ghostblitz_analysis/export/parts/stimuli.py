"""The stimuli of a data set: a drawing of each card, of the items, and what the colours are."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.parts.log_headers import log_headers
from ghostblitz_analysis.export.parts.shown_texts import write_shown_texts
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.solving import read_item_colours
from ghostblitz_task.artwork import placeholder_art
from ghostblitz_task.captain.board import Board
from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.captain.study_settings import CaptainStudySettings
from ghostblitz_task.cards import Card, parse_card
from ghostblitz_task.drawing import (
    Palette,
    available_items,
    available_palettes,
    card_svg,
    item_svg,
    load_palette,
)
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.props import available_props, prop_svg
from ghostblitz_task.settings_files import validate_settings

__all__ = ["ListedCard", "listed_cards", "write_stimuli"]

_DEFAULT_PALETTE = "standard"
#: What draws the deck alone; with its railings it is drawn by `Board.deck`.
_PARTS_OF_DECK = ("deck", "railing")

_LICENCE = """\
The drawings in this folder are those of the program ghostblitz, under CC0 1.0: no rights reserved,
https://creativecommons.org/publicdomain/zero/1.0/. They were drawn for the program and are not
taken from, or affiliated with, any published card game. The texts are part of the same program and
under the MIT licence.
"""


def write_stimuli(source: ExportSource, folder: Path, name: str) -> None:
    """Draw what was shown, once for each palette in use, and write the texts beside it.

    Parameters
    ----------
    source : ExportSource
        Imported data do not say in which colours cards were shown; they are drawn in those of the
        standard palette.
    folder : Path
        The export's folder.
    name : str
        Of the folder of stimuli in it.
    """
    headers = log_headers(source)
    palettes = _palettes(headers)
    write_text(folder, f"{name}/LICENSE.txt", _LICENCE)
    write_text(folder, f"{name}/palettes.json", _palettes_json(palettes, recorded=bool(headers)))
    if source.dataset is not None:
        cards = listed_cards(source.main.frame)
        for palette in palettes:
            _draw_cards(cards, palette, folder, name)
            _draw_items(source.main.frame, palette, folder, name)
        write_text(folder, f"{name}/cards.csv", _cards_csv(cards, palettes))
    else:
        for palette in palettes:
            _draw_captain(headers, palette, folder, name)
    write_shown_texts(headers, folder, name)


def _palettes(headers: Mapping[str, Mapping[str, Any]]) -> tuple[Palette, ...]:
    """Return the palettes that sessions used and this version has."""
    found = set()
    for header in headers.values():
        display = header["settings"].get("display") or {}
        found.add(str(display.get("palette", _DEFAULT_PALETTE)))
    names = sorted(found & set(available_palettes())) or [_DEFAULT_PALETTE]
    return tuple(load_palette(name) for name in names)


def _palettes_json(palettes: tuple[Palette, ...], *, recorded: bool) -> str:
    tones = [
        {field.name: getattr(palette, field.name) for field in dataclasses.fields(palette)}
        | {"colours": dict(palette.colours)}
        for palette in palettes
    ]
    note = (
        "as the settings in the logs name them"
        if recorded
        else "imported data do not say in which tones cards were shown; these are an assumption"
    )
    return json.dumps({"note": note, "palettes": tones}, indent=2, ensure_ascii=False) + "\n"


# --- cards ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListedCard:
    """A card that occurs in a trial table.

    Attributes
    ----------
    text : str
        As in the table.
    card : Card or None
        Null where the text cannot be read as one.
    n_trials : int
        Rows with it.
    drawing : str or None
        Name of its file; null where it cannot be drawn.
    not_drawn_because : str or None
        Why.
    """

    text: str
    card: Card | None
    n_trials: int
    drawing: str | None
    not_drawn_because: str | None


def listed_cards(trials: pd.DataFrame) -> tuple[ListedCard, ...]:
    """List the different cards of a trial table, in alphabetical order of their texts.

    Imported games may have items that nobody drew; these cards are listed without a drawing.
    """
    counts = trials.groupby("card", sort=True).agg(
        item_colours=("item_colours", "first"), n_trials=("card", "size")
    )
    digits = max(3, len(str(len(counts))))
    palette = load_palette(_DEFAULT_PALETTE)
    cards = []
    for number, (text, row) in enumerate(counts.iterrows(), start=1):
        card, reason = _drawable(str(text), str(row["item_colours"]), palette)
        drawing = f"card-{number:0{digits}d}.svg" if reason is None else None
        cards.append(ListedCard(str(text), card, int(row["n_trials"]), drawing, reason))
    return tuple(cards)


def _drawable(text: str, item_colours: str, palette: Palette) -> tuple[Card | None, str | None]:
    card: Card | None = None
    try:
        card = parse_card(text, read_item_colours(item_colours))
        card_svg(card, palette)
    except (CardError, ConfigError) as error:
        return card, str(error)
    return card, None


def _draw_cards(cards: tuple[ListedCard, ...], palette: Palette, folder: Path, name: str) -> None:
    for listed in cards:
        if listed.card is not None and listed.drawing is not None:
            svg = card_svg(listed.card, palette)
            write_text(folder, f"{name}/cards/{palette.name}/{listed.drawing}", svg + "\n")


def _draw_items(trials: pd.DataFrame, palette: Palette, folder: Path, name: str) -> None:
    """Draw the items as they lie on the table, each in its own colour."""
    games = (read_item_colours(str(text)) for text in trials["item_colours"].unique())
    items = {(item, colour) for game in games for item, colour in game.items()}
    for item, colour in sorted(items):
        if item in available_items() and colour in palette.colours:
            svg = item_svg(item, colour, palette)
            write_text(folder, f"{name}/items/{palette.name}/{item}_{colour}.svg", svg + "\n")


def _cards_csv(cards: tuple[ListedCard, ...], palettes: tuple[Palette, ...]) -> str:
    rows = [
        {
            "card": listed.text,
            # The same for cards that differ in the order of their pictures only.
            "card_id": None if listed.card is None else listed.card.card_id,
            "n_trials": listed.n_trials,
            "palette": palette.name,
            "file": listed.drawing and f"cards/{palette.name}/{listed.drawing}",
            "not_drawn_because": listed.not_drawn_because,
        }
        for palette in palettes
        for listed in cards
    ]
    text = io.StringIO()
    pd.DataFrame(rows).to_csv(text, index=False, lineterminator="\n")
    return text.getvalue()


# --- the captain's deck -----------------------------------------------------------------------


def _draw_captain(
    headers: Mapping[str, Mapping[str, Any]], palette: Palette, folder: Path, name: str
) -> None:
    for prop, colour in _props(palette):
        stem = prop if colour is None else f"{prop}_{colour}"
        svg = prop_svg(prop, colour, palette)
        write_text(folder, f"{name}/things/{palette.name}/{stem}.svg", svg + "\n")
    for number, corners in enumerate(_railed(headers), start=1):
        deck = Board(10.0, palette).deck(corners).svg
        write_text(folder, f"{name}/things/{palette.name}/deck-{number}.svg", deck + "\n")


def _props(palette: Palette) -> Iterator[tuple[str, str | None]]:
    for prop in available_props():
        if prop in _PARTS_OF_DECK:
            continue
        coloured = '"#BODY"' in placeholder_art(prop, "prop", folder="captain")
        colours: tuple[str | None, ...] = (None,)
        if coloured:
            colours = tuple(colour for colour in COLOURS if colour in palette.colours)
        for colour in colours:
            yield prop, colour


def _railed(headers: Mapping[str, Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return which corners of the deck had railings, in each game that differs in that."""
    found: dict[tuple[Any, ...], None] = {}
    for settings_json in {h["settings_sha256"]: h["settings"] for h in headers.values()}.values():
        settings = validate_settings(settings_json, CaptainStudySettings, where="settings")
        for block in settings.blocks:
            found[tuple(sorted(settings.game_of(block).railed_corners))] = None
    return sorted(found)
