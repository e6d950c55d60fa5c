"""A paragraph for a Methods section that claims no more than a self-test measured; pure."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ghostblitz_task.timing.judging import ms
from ghostblitz_task.timing.measured import InjectionFigures, Measured

__all__ = ["methods_paragraph"]


def methods_paragraph(
    measured: Measured, *, software: Mapping[str, str], started_utc: str, keys_asked: bool
) -> str:
    """Return the paragraph.

    Parameters
    ----------
    software : mapping of str to str
        Versions, by name: ghostblitz, python, and what else took part.
    started_utc : str
        When the test began, ISO 8601.
    keys_asked : bool
        Whether keys were to be injected; if not, nobody is told why there are none.
    """
    sentences = [
        *_set_up(measured.apparatus, software),
        *_flips(measured, started_utc),
        *_keys(measured, keys_asked=keys_asked),
        "Neither the lag of the display nor the latency of the keyboard was measured (there was "
        "no photodiode and no device that closes a switch at a known time): both are unknown, and "
        "their sum, as far as it is constant, is part of every reported RT. Nothing was "
        "subtracted for it.",
    ]
    return " ".join(sentences)


def _set_up(apparatus: Mapping[str, Any], software: Mapping[str, str]) -> Iterator[str]:
    psychopy = software.get("psychopy") or apparatus.get("psychopy")
    with_psychopy = f", PsychoPy {psychopy}" if psychopy else ""
    yield (
        f"The task ran in ghostblitz {software['ghostblitz']} (Python {software['python']}"
        f"{with_psychopy}) on {_system(apparatus)}."
    )
    size = apparatus.get("window_px")
    if size:
        where = "the whole screen" if apparatus.get("fullscreen") else "a window"
        drawn_by = apparatus.get("gl_renderer")
        by = f", drawn by {drawn_by}" if drawn_by else ""
        yield f"It used {where} of {size[0]} by {size[1]} pixels{by}."


def _system(apparatus: Mapping[str, Any]) -> str:
    system = str(apparatus.get("platform") or platform.system())
    server = apparatus.get("display_server")
    return f"{system}, {server}" if server and server != system else system


def _flips(measured: Measured, started_utc: str) -> Iterator[str]:
    flips = measured.flips
    counted = (
        "flips divided by time"
        if measured.apparatus.get("pacing") == "software"
        else "an interval counts as the frames it took"
    )
    yield (
        f"In a self-test of the machine on {started_utc[:10]}, with the study's own pictures and "
        f"settings, {flips.n_intervals:,} intervals between flips over {flips.duration_s:.0f} s "
        f"came at {flips.refresh_hz:.2f} Hz ({counted}) with an SD "
        f"of {ms(flips.sd_s, 2)}; "
        f"{flips.n_dropped:,} of them were longer than 1.5 frames, the longest "
        f"{ms(flips.longest_s, 1)}."
    )
    if measured.apparatus.get("display_synchronised"):
        yield (
            "Flips were seen to wait for the refresh of the display; when light left the screen "
            "was not measured."
        )
    else:
        yield (
            "Flips did not wait for the refresh of a display, but were paced by software, so the "
            "rate is that of the program and the moment at which a card became visible is not "
            "known to a frame."
        )


def _keys(measured: Measured, *, keys_asked: bool) -> Iterator[str]:
    apparatus, injection = measured.apparatus, measured.injection
    backend, source = apparatus.get("key_backend"), apparatus.get("key_time_source")
    text = f"RT was the time of the key press ({backend} backend; time from the {source})"
    text += " minus that of the flip that showed the stimulus, on one clock"
    if apparatus.get("keys_polled"):
        frame_s = 1.0 / measured.flips.refresh_hz
        text += f"; keys were asked for once per frame, so RTs are as coarse as {ms(frame_s, 1)}"
    yield text + "."
    pads = apparatus.get("response_pads") or ()
    if pads:
        polled = sum(bool(pad.get("polled")) for pad in pads)
        asked = f" ({polled} of them asked once per frame)" if polled else ""
        yield (
            f"{len(pads)} response {'pad' if len(pads) == 1 else 'pads'} could answer, too"
            f"{asked}; this test pressed no button of them."
        )
    if isinstance(injection, InjectionFigures):
        yield from _injected(injection)
    elif keys_asked:
        yield "The way from key to log was not tested by injected keys."
    else:
        yield "No keys were injected, so the way from key to log was not tested."


def _injected(injection: InjectionFigures) -> Iterator[str]:
    errors_s = np.array(injection.rt_error_s)
    kept = (
        "all were in the log, none twice and none in another trial"
        if not (injection.n_lost or injection.n_invented or injection.n_misattributed)
        else f"{injection.n_lost} were lost, {injection.n_invented} were in the log only, and "
        f"in {injection.n_misattributed} trials the log had another trial's events, lacked some "
        "of its own, or gave an RT that was not that of its press"
    )
    unanswered = sum(tap.n_taps - tap.n_answered for tap in injection.taps)
    kept += f"; {unanswered} taps answered no card" if unanswered else ""
    text = (
        f"Of {injection.n_injected} key events injected through the X server in a short session "
        f"with cards of the game {injection.game}, {kept}"
    )
    if len(errors_s) > 1:
        text += (
            "; logged RTs differed from those of the injecting program, which watched the X "
            f"server's picture, by {ms(float(errors_s.mean()), 1, signed=True)} on the mean (SD "
            f"{ms(float(errors_s.std(ddof=1)), 1)}, n = {len(errors_s)})"
        )
    yield text + ". This test leaves out the screen and the keyboard themselves."
