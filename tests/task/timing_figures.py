"""Measurements as a self-test might make them, to be changed one by one."""

from __future__ import annotations

import dataclasses
from typing import Any

from ghostblitz_task.timing.measured import (
    ClockFigures,
    DiskFigures,
    DrawFigures,
    FlipFigures,
    InjectionFigures,
    Measured,
    PollFigures,
    RepeatFigures,
    Spread,
    TapFigures,
)

GOOD_APPARATUS = {
    "apparatus": "psychopy",
    "psychopy": "2026.2.5",
    "platform": "Linux-6.1",
    "display_server": "X11",
    "compositor": None,
    "refresh_hz": 60.0,
    "gl_renderer": "A graphics card",
    "window_px": [1920, 1080],
    "fullscreen": True,
    "display_synchronised": True,
    "display_reason": "flips come on a grid",
    "display_findings": [],
    "key_backend": "ptb",
    "key_time_source": "psychtoolbox event thread",
    "keys_polled": False,
}
GOOD_FLIPS = FlipFigures(
    n_intervals=3600,
    duration_s=60.0,
    expected_hz=60.0,
    refresh_hz=60.0,
    median_s=1 / 60,
    sd_s=0.0002,
    jitter_s=0.0002,
    longest_s=0.0171,
    n_dropped=0,
    stretches_hz=(60.0, 60.0),
    seconds=((0.0, 0.0165, 0.0167, 0.0171), (1.0, 0.0165, 0.0167, 0.0169)),
    histogram_edges_s=(0.0, 0.015, 0.03),
    histogram_counts=(0, 3600),
)
GOOD_INJECTION = InjectionFigures(
    game="classic",
    n_injected=120,
    n_logged=120,
    n_lost=0,
    n_invented=0,
    n_misattributed=0,
    taps=(TapFigures(0.005, 10, 10), TapFigures(0.02, 10, 10), TapFigures(0.08, 10, 10)),
    held_s=(1.06, 1.07),
    n_repeats_logged=0,
    rt_error_s=(0.001, -0.001) * 15,
)
GOOD_DISK = DiskFigures(
    time=Spread(200, 0.001, 0.002, 0.003),
    times_s=(0.001, 0.002, 0.003),
    n_bytes=1350,
    pause_s=0.5,
    file_system="ext4",
)
GOOD_DRAW = DrawFigures(
    cards={"ghost:red mouse:blue": Spread(20, 0.001, 0.002, 0.003)},
    all=Spread(1200, 0.001, 0.002, 0.003),
    empty_s=0.0001,
)
GOOD = Measured(
    apparatus=GOOD_APPARATUS,
    load_per_processor=0.1,
    flips=GOOD_FLIPS,
    poll=PollFigures(Spread(3600, 0.0001, 0.0002, 0.001)),
    clock=ClockFigures(200_000, 1e-6, 0, 90.0, 0.0),
    draw=GOOD_DRAW,
    disk=GOOD_DISK,
    repeat=RepeatFigures(0.66, 0.04),
    injection=GOOD_INJECTION,
)


def with_apparatus(**changes: Any) -> Measured:
    """Return good measurements of an apparatus that says something else."""
    return dataclasses.replace(GOOD, apparatus=GOOD_APPARATUS | changes)


def with_flips(**changes: Any) -> Measured:
    """Return good measurements but for the flips."""
    return dataclasses.replace(GOOD, flips=dataclasses.replace(GOOD_FLIPS, **changes))


def with_injection(**changes: Any) -> Measured:
    """Return good measurements but for the injected keys."""
    return dataclasses.replace(GOOD, injection=dataclasses.replace(GOOD_INJECTION, **changes))
