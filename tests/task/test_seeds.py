"""One seed per session, spawned by purpose."""

from __future__ import annotations

from typing import get_args

import pytest

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.seeds import Purpose, rng_for, seed_for_participant


def test_each_purpose_has_its_own_stream() -> None:
    drawn = [rng_for(1, purpose).integers(2**62) for purpose in get_args(Purpose)]
    assert len(set(drawn)) == len(drawn)


def test_same_seed_and_purpose_give_the_same_stream() -> None:
    assert rng_for(5, "order").integers(2**62) == rng_for(5, "order").integers(2**62)
    assert rng_for(5, "order").integers(2**62) != rng_for(6, "order").integers(2**62)


def test_streams_of_old_purposes_stay_what_they_are() -> None:
    """A seed in an old log must still give its deck: add purposes at the end only."""
    assert get_args(Purpose)[:6] == (
        "deck", "order", "positions", "foreperiods", "participant", "robot",
    )  # fmt: skip


def test_participants_of_a_study_have_seeds_of_their_own() -> None:
    seeds = [seed_for_participant(1, index) for index in range(500)]
    assert len(set(seeds)) == 500
    assert seeds[:3] == [seed_for_participant(1, index) for index in range(3)]
    assert seed_for_participant(2, 0) not in seeds


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"seed -1 is negative"):
        rng_for(-1, "deck")
    with pytest.raises(ConfigError, match=r"seed -1 is negative"):
        seed_for_participant(-1, 0)
