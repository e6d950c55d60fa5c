"""Trial tables made by hand, or drawn from known parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_study import make_screens, study_table

from ghostblitz_task.config import StudySettings
from ghostblitz_task.games import GameSettings, make_game
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.studies import Study, simulate_study

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
    card, target = _CARDS.get((full["rule"], full["mode"]), (None, None))
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


_GRAB, _SHOUT = "asdfghjkl", "qwertyuiozxcvbnm123456789"


def study_of(
    folder: Path, name: str, *, rules: Sequence[str] = (), n_trials: int = 40, **game: str
) -> Study:
    """A study of any game: what can be grabbed and shouted on the keys of several rows."""
    made = make_game(GameSettings(name, rules=frozenset(rules)))
    table = study_table()
    table["game"] = {"name": name, "rules": sorted(rules), **game}
    table["timing"]["deadline_s"] = 8.0
    table["blocks"] = [
        {"label": "practice", "phase": "practice", "n_trials": 4},
        {"label": "one", "n_trials": n_trials // 2},
        {"label": "two", "n_trials": n_trials - n_trials // 2},
    ]
    table["sequence"] = {"max_run_mode": 20}
    table["responses"] = {
        "grab_keys": dict(zip(made.answers("grab"), _GRAB, strict=False)),
        "shout_keys": dict(zip(made.answers("shout"), _SHOUT, strict=False)),
    }
    settings = validate_settings(table, StudySettings, where="study.toml")
    return Study(folder, settings, settings.make_game(), make_screens(settings))


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., Study]:
    return lambda name, **settings: study_of(tmp_path, name, **settings)


@pytest.fixture
def simulate_game(tmp_path: Path) -> Callable[..., list[Path]]:
    """Simulate participants of a game and return their logs."""

    def run(
        name: str, *, n_participants: int = 1, model: str = "ex-gaussian", **settings: Any
    ) -> list[Path]:
        study = study_of(tmp_path, name, **settings)
        out = tmp_path / f"simulated-{name}"
        return simulate_study(study, out, n_participants=n_participants, seed=3, model=model)

    return run


_SPOOKY = "ghost:white hat:red bottle:green barrel:blue mouse:grey"
#: Card, target, item under the hat, answer.
_HAT_CARDS = {
    ("plain", "direct"): ("ghost:white mouse:red", "ghost", "bottle", "ghost"),
    ("plain", "exclusion"): ("barrel:green ghost:red", "mouse", "bottle", "mouse"),
    ("hat_grab", "direct"): ("ghost:white mouse:red", "ghost", "ghost", "hat"),
    ("hat_grab", "exclusion"): ("barrel:green ghost:red", "mouse", "mouse", "hat"),
    ("hat_call", "direct"): ("hat:red mouse:white", "hat", "bottle", "bottle"),
    ("hat_call", "exclusion"): ("barrel:grey bottle:white", "hat", "ghost", "ghost"),
}


def hat_row(kind: str, rule: str = "direct", *, lag: int = 0, **others: Any) -> dict[str, Any]:
    """What a trial of a game with a hat says, for `make_trials`."""
    card, target, hat_over, answer = _HAT_CARDS[kind, rule]
    return {
        "game": "spooky-doo", "item_colours": _SPOOKY, "rules": "", "rule": rule, "card": card,
        "target": target, "hat_over": hat_over, "answer": answer, "trials_since_hat_move": lag,
        "mode": "shout" if kind == "hat_call" else "grab",
    } | others  # fmt: skip


@pytest.fixture
def make_hat_row() -> Callable[..., dict[str, Any]]:
    return hat_row
