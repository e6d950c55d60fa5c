"""A minimal PsychoPy script, as its manual's examples and Builder's code do it.

The second argument says how keys are read: `ptb` is `keyboard.Keyboard(backend="ptb")` with
`getKeys(waitRelease=False)`, `event` is `psychopy.event.getKeys(timeStamped=clock)`. A third
argument caps the frames, in hertz, where no screen does.
"""

from __future__ import annotations

import importlib.metadata
import sys
import time
from typing import Any

from block_file import Block, read_block
from psychopy import core, event, visual
from psychopy.hardware import keyboard

# The last stretch before a capped flip is spent polling the clock, as sleeping overshoots.
_SPIN_S = 0.0015


class PtbKeys:
    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.keyboard = keyboard.Keyboard(backend="ptb")

    def at_onset(self, window: Any) -> None:
        window.callOnFlip(self.keyboard.clock.reset)
        window.callOnFlip(self.keyboard.clearEvents)

    def pressed(self) -> tuple[str, float] | None:
        found = self.keyboard.getKeys(keyList=self.keys, waitRelease=False)
        return (found[0].name, found[0].rt) if found else None


class EventKeys:
    def __init__(self, keys: list[str]) -> None:
        self.keys = keys
        self.clock = core.Clock()

    def at_onset(self, window: Any) -> None:
        window.callOnFlip(self.clock.reset)
        window.callOnFlip(event.clearEvents)

    def pressed(self) -> tuple[str, float] | None:
        found = event.getKeys(keyList=self.keys, timeStamped=self.clock)
        return found[0] if found else None


class Pace:
    """Lets flips come at a fixed rate, as a screen does; without a rate, at once."""

    def __init__(self, rate_hz: float | None) -> None:
        self.frame_s = 1 / rate_hz if rate_hz else None
        self.due_s = 0.0

    def keep(self) -> None:
        if self.frame_s is None:
            return
        if time.perf_counter() > self.due_s + self.frame_s:
            self.due_s = time.perf_counter()
        while (left_s := self.due_s - time.perf_counter()) > 0:
            if left_s > _SPIN_S:
                time.sleep(left_s - _SPIN_S)
        self.due_s += self.frame_s


def main() -> None:
    block = read_block()
    window = visual.Window(block.window_px, units="pix", color="gray", fullscr=False)
    keys = (PtbKeys if sys.argv[2] == "ptb" else EventKeys)(block.keys)
    pace = Pace(float(sys.argv[3]) if len(sys.argv) > 3 else None)
    black, white = (_patch(window, block, colour) for colour in ("black", "white"))
    paths = {trial["card"] for trial in block.trials}
    cards = {path: visual.ImageStim(window, image=path) for path in paths}

    def frame(*stimuli: Any) -> None:
        for stimulus in stimuli:
            stimulus.draw()
        pace.keep()
        window.flip()

    def wait(duration_s: float) -> None:
        clock = core.Clock()
        while clock.getTime() < duration_s:
            frame(black)

    def answer(card: Any) -> tuple[str | None, float | None]:
        clock = core.Clock()
        keys.at_onset(window)
        while clock.getTime() < block.deadline_s:
            frame(card, white)
            if pressed := keys.pressed():
                return pressed
        return None, None

    wait(0.3)
    block.say_ready(lead_in_s=0)
    wait(0.5)
    answers = []
    for trial in block.trials:
        wait(trial["foreperiod_s"])
        answers.append(answer(cards[trial["card"]]))
        wait(block.interval_s)
    names = ("psychopy", "pyglet", "psychtoolbox")
    block.give_back(answers, **{name: importlib.metadata.version(name) for name in names})
    window.close()
    core.quit()


def _patch(window: Any, block: Block, colour: str) -> Any:
    side_px = block.patch_px
    return visual.Rect(
        window,
        width=side_px,
        height=side_px,
        pos=block.patch_centre_px,
        fillColor=colour,
        lineColor=None,
    )


if __name__ == "__main__":
    main()
