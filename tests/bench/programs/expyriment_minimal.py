"""A minimal Expyriment script: its defaults, so whole screen and OpenGL mode 2 (blocking)."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pygame
from block_file import LEAD_IN_S, Block, read_block
from expyriment import control, design, stimuli


def main() -> None:
    block = read_block()
    # Only what belongs to no trial is changed: waiting, greetings, and files in this folder.
    control.defaults.initialise_delay = 0
    control.defaults.fast_quit = True
    control.defaults.goodbye_delay = 0
    control.defaults.audiosystem_autostart = False
    experiment = design.Experiment("bench", background_colour=(128, 128, 128))
    control.initialise(experiment)
    control.start(skip_ready_screen=True, subject_id=1)
    nothing = _canvas(block, (0, 0, 0))
    cards = {
        path: _canvas(block, (255, 255, 255), path)
        for path in {trial["card"] for trial in block.trials}
    }
    keys = {ord(key): key for key in block.keys}
    nothing.present()
    block.say_ready(lead_in_s=0)
    experiment.clock.wait(1000 * LEAD_IN_S)
    answers = []
    for trial in block.trials:
        experiment.clock.wait(1000 * trial["foreperiod_s"])
        cards[trial["card"]].present()
        key, rt_ms = experiment.keyboard.wait(list(keys), duration=1000 * block.deadline_s)
        nothing.present()
        answers.append((keys.get(key), None if rt_ms is None else rt_ms / 1000))
        experiment.clock.wait(1000 * block.interval_s)
    block.give_back(
        answers,
        expyriment=importlib.metadata.version("expyriment"),
        pygame=pygame.version.ver,
        sdl=".".join(str(n) for n in pygame.get_sdl_version()),
        opengl_mode=experiment.screen.opengl,
        window_px=list(experiment.screen.size),
    )
    control.end()


def _canvas(block: Block, patch: tuple[int, int, int], card: str | None = None) -> Any:
    """Draw the whole screen once: the patch, and a card if there is one."""
    canvas = stimuli.Canvas(block.window_px, colour=(128, 128, 128))
    if card is not None:
        stimuli.Picture(card).plot(canvas)
    side_px = block.patch_px
    square = stimuli.Rectangle((side_px, side_px), colour=patch, position=block.patch_centre_px)
    square.plot(canvas)
    canvas.preload()
    return canvas


if __name__ == "__main__":
    main()
