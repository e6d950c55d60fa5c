"""Trial tables made by hand, or drawn from known parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ghostblitz_task.schema import COLUMNS

MakeTrials = Callable[[Iterable[Mapping[str, Any]]], pd.DataFrame]

_COLOURS = "ghost:white chair:red bottle:green book:blue mouse:grey"
_CARDS = {
    ("direct", "grab"): ("ghost:white mouse:red", "ghost"),
    ("exclusion", "grab"): ("ghost:green chair:blue", "mouse"),
    ("direct", "shout"): ("book:blue ghost:red", "book"),
    ("exclusion", "shout"): ("book:red ghost:green", "mouse"),
}
_DEFAULTS = {
    "study_id": "made", "participant_id": "p1", "session": 1, "run": 1, "source": "human",
    "display_synchronised": True, "block_index": 0, "block_type": "mixed", "block_kind": "mixed",
    "phase": "test", "item_colours": _COLOURS, "rule": "direct", "mode": "grab",
    "answer_kind": "item", "deadline_s": 8.0, "rt_s": 0.8, "correct": True, "n_events": 2,
    "key_held_at_onset": False, "n_dropped_frames": 0, "longest_frame_s": 0.0167,
    "response_resolution_s": 0.001, "foreperiod_s": 0.8, "foreperiod_requested_s": 0.8,
    "resumed": False,
}  # fmt: skip


def _completed(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    full = _DEFAULTS | {"trial_index": index, "trial_in_block": index} | dict(row)
    card, target = _CARDS[full["rule"], full["mode"]]
    full = {"card": card, "target": target, "answer": target} | full
    full.setdefault("game", "classic" if full["mode"] == "grab" else "grab-or-shout")
    if full.get("error_kind") is not None:
        full["correct"] = False
    if full.get("error_kind") == "late":
        full["rt_s"] = None
    full.setdefault("response", full["answer"] if full["correct"] else "chair")
    full.setdefault("response_mode", full["mode"])
    full.setdefault("response_device", f"{full['response_mode']}_keys")
    full.setdefault("mode_correct", True)
    if full["rt_s"] is None:
        full |= dict.fromkeys(
            ("response", "response_mode", "response_device", "response_resolution_s",
             "mode_correct")
        )  # fmt: skip
    return full


@pytest.fixture
def make_trials() -> MakeTrials:
    """Complete rows that say only what matters to a table with the whole schema."""

    def build(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        counts: dict[str, int] = {}
        full = []
        for row in rows:
            person = row.get("participant_id", "p1")
            full.append(_completed(row, counts.get(person, 0)))
            counts[person] = counts.get(person, 0) + 1
        columns = {c.name: [row.get(c.name) for row in full] for c in COLUMNS}
        return pd.DataFrame({c.name: pd.array(columns[c.name], dtype=c.dtype) for c in COLUMNS})

    return build


@pytest.fixture
def draw_trials(make_trials: MakeTrials) -> Callable[..., pd.DataFrame]:
    """Draw lognormal RTs and errors of participants with known parameters.

    Each participant's log RT is normal about a mean of their own (SD `person_sd`), and the
    exclusion rule adds `effect_log` (SD `effect_sd` over participants).
    """

    def draw(
        rng: np.random.Generator,
        *,
        n_participants: int,
        n_per_cell: int,
        effect_log: float = 0.5,
        effect_sd: float = 0.0,
        person_sd: float = 0.2,
        noise_sd: float = 0.3,
        p_error: float = 0.0,
        modes: tuple[str, ...] = ("grab",),
        block_kinds: tuple[str, ...] = ("mixed",),
        source: str = "simulated",
    ) -> pd.DataFrame:
        kinds = {
            "direct": ("rule_confusion", "shape_capture", "colour_capture"),
            "exclusion": ("shape_capture", "colour_capture", "late"),
        }
        rows = []
        for number in range(n_participants):
            level, effect = rng.normal(0, person_sd), rng.normal(effect_log, effect_sd)
            cells = [
                (kind, mode, rule)
                for kind in block_kinds
                for mode in modes
                for rule in ("direct", "exclusion")
                for _ in range(n_per_cell)
            ]
            cells = [cells[i] for i in rng.permutation(len(cells))]
            cells.sort(key=lambda cell: cell[0] != "pure")
            for block_kind, mode, rule in cells:
                mean = level + effect * (rule == "exclusion") + 0.2 * (mode == "shout")
                wrong = rng.random() < p_error
                rows.append(
                    {
                        "participant_id": f"{number + 1:03d}",
                        "block_kind": block_kind,
                        "block_index": int(block_kind == "mixed"),
                        "block_type": "mixed" if block_kind == "mixed" else rule,
                        "mode": mode,
                        "rule": rule,
                        "game": "classic" if len(modes) == 1 else "grab-or-shout",
                        "source": source,
                        "participant_model": "lognormal" if source == "simulated" else None,
                        "rt_s": float(np.exp(rng.normal(mean, noise_sd))),
                        "error_kind": str(rng.choice(kinds[rule])) if wrong else None,
                    }
                )
        return make_trials(rows)

    return draw
