"""Decks as text, and as contact sheets of drawn cards."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ghostblitz_task.deck import Deck
from ghostblitz_task.drawing import load_palette
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion

__all__ = [
    "DECK_FORMATS",
    "deck_format",
    "deck_rows",
    "deck_text",
    "margin_rows",
    "write_contact_sheets",
]

DECK_FORMATS = ("csv", "jsonl", "png", "pdf")


def deck_format(wanted: str | None, out: Path | None) -> str:
    """Return the format that was asked for, or the one that a file name says; CSV if neither.

    Raises
    ------
    ConfigError
        If there is no such format.
    """
    kind = wanted or (out.suffix.lstrip(".").lower() if out and out.suffix else "csv")
    if kind not in DECK_FORMATS:
        raise ConfigError(
            f"{kind!r} is no format of a deck; there are {', '.join(DECK_FORMATS)}"
            + suggestion(kind, DECK_FORMATS)
        )
    return kind


def deck_rows(deck: Deck) -> Iterator[dict[str, Any]]:
    """Return one row per card: its text and how it is solved.

    Where a hat may hide the target, the answer depends on the game so far, and is null.
    """
    for stimulus in deck.stimuli:
        solution = stimulus.solution
        yield {
            "card": str(stimulus.card),
            "rule": solution.rule,
            "mode": solution.mode,
            "answer": None if stimulus.state.hat_over else solution.answer,
            "answer_kind": solution.answer_kind,
            "target": solution.target,
        }


def deck_text(deck: Deck, kind: str) -> str:
    """Return the deck as CSV or JSON Lines."""
    rows = list(deck_rows(deck))
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def margin_rows(deck: Deck) -> Iterator[dict[str, Any]]:
    """Return, for each level of each factor of the margins, the cards wanted and found.

    `wanted` is null where no number is fixed, but the levels are to be about equally frequent.
    """
    if deck.margins is None:
        return
    for factor, quotas in deck.margins.quotas.items():
        counts = deck.counts(factor)
        for level, n in quotas.items():
            found = counts[level]
            yield {
                "factor": factor, "level": level, "wanted": n, "found": found, "met": found == n
            }  # fmt: skip
    for factor in deck.margins.even:
        for level, n in sorted(deck.counts(factor).items()):
            yield {"factor": factor, "level": level, "wanted": None, "found": n, "met": None}


def write_contact_sheets(deck: Deck, path: Path, *, palette: str) -> None:
    """Draw the deck, with how each card is solved, as PNG or PDF.

    Raises
    ------
    ConfigError
        If the file exists, cannot be written, or there is no drawing for an item.
    """
    # Imported here: the drawing libraries take longer than a deck as text.
    from ghostblitz_task.contact_sheets import write_contact_sheet

    if path.exists():
        raise ConfigError(f"{path} exists already; it is not written over")
    captions = [
        f"{row['card']}\n{row['rule']}\n"
        + (f"{row['mode']} {row['answer']}" if row["answer"] else f"target {row['target']}")
        for row in deck_rows(deck)
    ]
    cards = [stimulus.card for stimulus in deck.stimuli]
    title = f"{deck.kind} deck, {len(cards)} cards"
    try:
        write_contact_sheet(path, cards, captions, load_palette(palette), title=title)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
