"""One recorded seed per session, spawned by purpose, so that no part can shift another."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ghostblitz_task.errors import ConfigError

__all__ = ["Purpose", "rng_for", "seed_for_participant"]

# The place in this list is part of the seed: add at the end only.
Purpose = Literal[
    "deck", "order", "positions", "foreperiods", "participant", "robot", "table", "rival", "lot"
]
_PURPOSES: tuple[str, ...] = get_args(Purpose)


def rng_for(seed: int, purpose: Purpose, trial_index: int | None = None) -> np.random.Generator:
    """Return the generator of one purpose of a session, or of one of its trials.

    Raises
    ------
    ConfigError
        If the seed is negative.
    """
    _check(seed)
    key = (_PURPOSES.index(purpose), *(() if trial_index is None else (trial_index,)))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def seed_for_participant(seed: int, participant_index: int) -> int:
    """Return the session seed of the n-th participant of a simulated study.

    Raises
    ------
    ConfigError
        If the seed is negative.
    """
    _check(seed)
    sequence = np.random.SeedSequence(seed, spawn_key=(participant_index,))
    return int(sequence.generate_state(1, np.uint32)[0])


def _check(seed: int) -> None:
    if seed < 0:
        raise ConfigError(f"seed {seed} is negative; a seed is a whole number from 0")
