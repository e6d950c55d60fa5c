"""What a BIDS export's tables say of the stimuli that stand in it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Shown", "find_shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What participants saw and read.

    Attributes
    ----------
    drawings : mapping of str to str
        Each card's file, relative to the stimuli; empty where cards were shown in several
        palettes, so that a card has no one drawing.
    instructions : str or None
        The text of the instructions, or where it stands if sessions had different ones.
    """

    drawings: Mapping[str, str] = field(default_factory=dict)
    instructions: str | None = None


def find_shown(stimuli: Path) -> Shown:
    """Look into the folder of stimuli; without one nothing is known."""
    return Shown(_drawings(stimuli / "cards.csv"), _instructions(stimuli / "texts"))


def _drawings(listed: Path) -> dict[str, str]:
    if not listed.is_file():
        return {}
    with listed.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if len({row["palette"] for row in rows}) != 1:
        return {}
    return {row["card"]: row["file"] for row in rows if row["file"]}


def _instructions(texts: Path) -> str | None:
    pages = sorted(texts.glob("instructions_*.md"))
    if len(pages) == 1:
        return pages[0].read_text(encoding="utf-8")
    names = ", ".join(f"stimuli/texts/{page.name}" for page in pages)
    return f"Sessions had different instructions: {names}" if pages else None
