"""A simulated data set of any size, as an import writes it; nobody played it.

``python -m tests.bench_analysis.simulated OUT N_PARTICIPANTS N_TRIALS SEED`` writes one.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ghostblitz_analysis.imported_tables import derive_columns
from ghostblitz_analysis.mapping import Mapping
from ghostblitz_analysis.solving import Solver, item_colours_text
from ghostblitz_analysis.writing import write_dataset
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import CardError
from ghostblitz_task.games import GameSettings, make_game
from ghostblitz_task.settings_files import load_settings

__all__ = ["BLOCK_TYPES", "simulated_columns", "write_simulated"]

#: Blocks of each participant, of equal length.
BLOCK_TYPES = ("direct", "exclusion", "mixed", "mixed")
_RULES = ("direct", "exclusion")
#: Parameters of the log RTs (natural log of seconds), of the size that such tasks give.
_MEAN_LOG, _PERSON_SD, _EFFECT_LOG, _EFFECT_SD, _TRIAL_SD = -0.1, 0.2, 0.4, 0.1, 0.35
_P_ERROR = 0.06

_MAPPING = """\
# What a simulated table would be imported by.
[dataset]
name = "simulated-many-trials"

[columns]
participant = "participant_id"
card = "card"
response = "response"
rt = "rt_s"
rt_unit = "s"
"""


def simulated_columns(
    rng: np.random.Generator, *, n_participants: int, n_trials: int
) -> dict[str, list[Any]]:
    """Simulate trials: log RTs are normal, with a rule effect that differs between participants.

    Parameters
    ----------
    rng : Generator
        Of cards, RTs and errors.
    n_participants : int
        How many.
    n_trials : int
        Of each participant, a multiple of four.

    Returns
    -------
    dict of str to list
        Columns of the schema, one value per trial, by participant and trial.
    """
    if n_trials % len(BLOCK_TYPES):
        raise ValueError(f"n_trials is {n_trials}, but has to be a multiple of {len(BLOCK_TYPES)}")
    n_rows, n_in_block = n_participants * n_trials, n_trials // len(BLOCK_TYPES)
    trial = np.tile(np.arange(n_trials), n_participants)
    person = np.repeat(np.arange(n_participants), n_trials)
    block = trial // n_in_block
    is_exclusion = np.where(block < 2, block == 1, rng.random(n_rows) < 0.5)
    ids = [f"simulated-{number + 1:05d}" for number in range(n_participants)]
    level = rng.normal(_MEAN_LOG, _PERSON_SD, n_participants)
    effect = rng.normal(_EFFECT_LOG, _EFFECT_SD, n_participants)
    log_rt = rng.normal(level[person] + effect[person] * is_exclusion, _TRIAL_SD)
    columns: dict[str, list[Any]] = {
        "study_id": ["simulated-many-trials"] * n_rows,
        "game": ["classic"] * n_rows,
        "participant_id": [ids[number] for number in person],
        "session": [1] * n_rows,
        "run": [1] * n_rows,
        "source": ["imported"] * n_rows,
        "trial_index": trial.tolist(),
        "block_index": block.tolist(),
        "phase": ["test"] * n_rows,
        "trial_in_block": (trial % n_in_block).tolist(),
        "rt_s": np.exp(log_rt).tolist(),
        "response_mode": ["grab"] * n_rows,
    }
    return columns | _cards_and_responses(rng, block, is_exclusion)


def _cards_and_responses(
    rng: np.random.Generator, block: np.ndarray, is_exclusion: np.ndarray
) -> dict[str, list[Any]]:
    """Draw cards of the wanted rules and responses; derive what follows, each kind of row once."""
    game = make_game(GameSettings("classic"))
    stimuli = legal_stimuli(game)
    items, mixed = list(game.item_colours), block >= 2
    of_rule = [
        np.array([n for n, s in enumerate(stimuli) if s.solution.rule == rule]) for rule in _RULES
    ]
    drawn = [cards[rng.integers(len(cards), size=len(block))] for cards in of_rule]
    card = np.where(is_exclusion, drawn[1], drawn[0])
    answer = np.array([items.index(s.solution.answer) for s in stimuli])[card]
    wrong = (answer + rng.integers(1, len(items), len(block))) % len(items)
    response = np.where(rng.random(len(block)) < _P_ERROR, wrong, answer)

    rows = list(product(stimuli, items, (False, True)))
    facts: dict[str, list[Any]] = {
        "game": ["classic"] * len(rows),
        "item_colours": [item_colours_text(game.item_colours)] * len(rows),
        "card": [str(stimulus.card) for stimulus, _, _ in rows],
        "block_type": [
            "mixed" if is_mixed else stimulus.solution.rule for stimulus, _, is_mixed in rows
        ],
        "response": [item for _, item, _ in rows],
        "response_mode": ["grab"] * len(rows),
        "rt_s": [1.0] * len(rows),
    }
    places = [f"row {number}" for number in range(len(rows))]
    facts |= derive_columns(facts, places, Solver(), on_unsolvable=_never)
    kind = (card * len(items) + response) * 2 + mixed
    drawn_names = [name for name in facts if name not in ("game", "response_mode", "rt_s")]
    return {name: _taken(facts[name], kind) for name in drawn_names}


def _taken(values: list[Any], rows: np.ndarray) -> list[Any]:
    lookup = np.empty(len(values), dtype=object)
    lookup[:] = values
    taken: list[Any] = lookup[rows].tolist()
    return taken


def _never(row: int, error: CardError) -> bool:
    raise AssertionError(f"row {row} holds a legal card: {error}")


def write_simulated(out: Path, *, n_participants: int, n_trials: int, seed: int) -> None:
    """Write a simulated data set as an import would."""
    rng = np.random.default_rng(seed)
    columns = simulated_columns(rng, n_participants=n_participants, n_trials=n_trials)
    n_rows = n_participants * n_trials
    report = {"n_rows_read": n_rows, "dropped": [], "incomplete": [], "n_trials": n_rows}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mapping.toml"
        path.write_text(_MAPPING, encoding="utf-8")
        mapping = load_settings(path, Mapping)
        write_dataset(out, columns, mapping, mapping_path=path, report=report)


def main() -> None:
    """Do what the command line asks for."""
    out, n_participants, n_trials, seed = sys.argv[1:]
    write_simulated(
        Path(out), n_participants=int(n_participants), n_trials=int(n_trials), seed=int(seed)
    )


if __name__ == "__main__":
    main()
