"""What comes in a session, step by step; the loop follows it, and so does the robot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ghostblitz_task.design import Plan, TrialPlan
from ghostblitz_task.screens import Screen, Screens

__all__ = ["BlockStep", "PileStep", "ScreenStep", "outline"]


@dataclass(frozen=True, slots=True)
class ScreenStep:
    """A self-paced screen, what a wrong key brings instead, and whether trials come after it."""

    screen: Screen
    again: Screen | None = None
    block_begins: bool = False


@dataclass(frozen=True, slots=True)
class BlockStep:
    """A block begins."""

    block_index: int


@dataclass(frozen=True, slots=True)
class PileStep:
    """All planned trials are done; what went back under the pile comes again, if anything did."""


def outline(
    plan: Plan, screens: Screens, *, first_trial: int = 0
) -> Iterator[ScreenStep | BlockStep | PileStep | TrialPlan]:
    """Return what comes in a session, in order; a resumed one starts at `first_trial`.

    Instructions are given once; the keys are checked each time, since the machine may be
    another one.
    """
    for ask, again in screens.key_check():
        yield ScreenStep(ask, again)
    if first_trial == 0:
        for page in screens.instructions():
            yield ScreenStep(page)
    n_tests = sum(block.phase == "test" for block in plan.blocks)
    done = 0
    for block_index, block in enumerate(plan.blocks):
        done += block.phase == "test"
        trials = [t for t in plan.trials_of(block_index) if t.trial_index >= first_trial]
        if not trials:
            continue
        yield BlockStep(block_index)
        intro = screens.block_intro(block, number=done, n_blocks=n_tests)
        yield ScreenStep(intro, block_begins=True)
        yield from trials
        if block.phase == "test" and done < n_tests:
            yield ScreenStep(screens.block_break(done=done, n_blocks=n_tests))
    yield PileStep()
    yield ScreenStep(screens.end())
