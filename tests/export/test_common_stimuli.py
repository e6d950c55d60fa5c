"""The stimuli of an export: every card drawn, every text that participants read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.parts.stimuli import listed_cards, write_stimuli
from ghostblitz_task.palettes import load_palette
from tests.export.small_sources import imported, simulated

CARD_STUDIES = [
    "classic-company",
    "classic-grab",
    "five-to-twelve-full",
    "grab-or-shout",
    "spooky-doo-masked",
    "styrnal2025-exp3",
]


def drawn_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "stimuli" / "cards.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize("study", CARD_STUDIES)
def test_every_card_of_every_game_is_drawn_once(study, tmp_path):
    source = simulated(study, tmp_path / "d")
    write_stimuli(source, tmp_path, "stimuli")
    rows = drawn_in(tmp_path)
    counts = source.main.frame["card"].value_counts()
    assert {row["card"]: int(row["n_trials"]) for row in rows} == dict(counts)
    assert len(rows) == len(counts)
    for row in rows:
        svg = ElementTree.parse(tmp_path / "stimuli" / row["file"]).getroot()
        assert svg.attrib["aria-label"] == row["card"]


def test_cards_are_drawn_in_the_palette_of_the_study(tmp_path):
    source = simulated("classic-grab", tmp_path / "d")
    write_stimuli(source, tmp_path, "stimuli")
    record = json.loads((tmp_path / "stimuli" / "palettes.json").read_text(encoding="utf-8"))
    assert record["palettes"][0]["colours"] == dict(load_palette("standard").colours)
    assert len(list((tmp_path / "stimuli" / "items" / "standard").iterdir())) == 5


def test_cards_that_nobody_drew_are_listed_with_the_reason(tmp_path):
    trials = imported(tmp_path).main.frame.copy()
    trials["card"] = trials["card"].str.replace("ghost", "goblin")
    trials["item_colours"] = trials["item_colours"].str.replace("ghost", "goblin")
    cards = listed_cards(trials)
    assert len(cards) == 2
    for card in cards:
        assert card.drawing is None
        assert card.card is not None
        assert "'goblin' is not a known item" in str(card.not_drawn_because)


def test_imported_data_say_that_their_tones_are_assumed(tmp_path):
    write_stimuli(imported(tmp_path / "d"), tmp_path, "stimuli")
    record = json.loads((tmp_path / "stimuli" / "palettes.json").read_text(encoding="utf-8"))
    assert "assumption" in record["note"]
    assert len(drawn_in(tmp_path)) == 2
    assert not (tmp_path / "stimuli" / "texts").exists()


@pytest.mark.slow
def test_things_of_the_captains_deck_are_drawn(tmp_path):
    write_stimuli(simulated("captain", tmp_path / "d"), tmp_path, "stimuli")
    names = files_below(tmp_path / "stimuli" / "things" / "standard")
    assert {f"die_{c}.svg" for c in ("blue", "green", "red", "yellow")} <= set(names)
    assert {"deck-1.svg", "dropping.svg", "eye.svg", "tongs.svg"} <= set(names)
    for name in names:
        ElementTree.parse(tmp_path / "stimuli" / "things" / "standard" / name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "told"),
    [
        ("grab-or-shout", "Watch for this object: "),
        ("captain", "die"),
        ("spooky-doo-visible", "hat"),
    ],
)
def test_instructions_are_those_of_the_study_in_its_language(study, told, tmp_path):
    write_stimuli(simulated(study, tmp_path / "d"), tmp_path, "stimuli")
    texts = tmp_path / "stimuli" / "texts"
    assert files_below(texts) == ["en.toml", "instructions_en.md"]
    page = (texts / "instructions_en.md").read_text(encoding="utf-8")
    assert told in " ".join(page.split())
    assert "{" not in page, "a word in braces was not filled in"
