"""Whether flips wait for the screen, judged from the flips of every kind of simulated display."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest

from ghostblitz_task.apparatus.display_facts import (
    Crtc,
    DisplayFacts,
    Mode,
    XAnswers,
    draws_in_software,
    facts_of_x,
    mode_hz,
    read_display_facts,
    stated_hz_of,
)
from ghostblitz_task.apparatus.display_timing import DisplayTiming, judge_flips

SCREENS_HZ = [23.976, 24.0, 50.0, 59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 240.0, 500.0]


@dataclass
class Display:
    """A display with a clock of its own, as graphics drivers run one.

    Attributes
    ----------
    waits : str
        ``screen``: a frame is shown at the first refresh after it was drawn and after the frame
        before. ``nothing``: at once. ``frame``: at once, but a refresh interval after the frame
        before (a variable rate). ``unless late``: a frame too late for its refresh at once.
    n_queued : int
        How many frames may wait to be shown when a flip returns: 0 with two buffers.
    draw_s : float
        What drawing takes.
    stamp_sd_s : float
        How exactly the return of a flip is stamped.
    hiccup : callable
        How long the machine stands still before a flip, by its number.
    """

    hz: float
    waits: Literal["screen", "nothing", "frame", "unless late"] = "screen"
    n_queued: int = 0
    draw_s: float = 0.0005
    draw_sd_s: float = 0.0
    stamp_sd_s: float = 0.0001
    hiccup: Callable[[int], float] = lambda _n: 0.0
    now_s: float = 0.0
    shown_s: list[float] = field(default_factory=lambda: [0.0])
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __call__(self, delays_s: Sequence[float]) -> list[float]:
        return [self._flip(delay_s) for delay_s in delays_s]

    def _flip(self, delay_s: float) -> float:
        drawn_s = self.draw_s + abs(self.rng.normal(0.0, self.draw_sd_s))
        self.now_s += delay_s + drawn_s + self.hiccup(len(self.shown_s))
        self.shown_s.append(self._shown(self.now_s, self.shown_s[-1]))
        done = max(len(self.shown_s) - 1 - self.n_queued, 0)
        self.now_s = max(self.now_s, self.shown_s[done])
        return self.now_s + abs(self.rng.normal(0.0, self.stamp_sd_s))

    def _shown(self, drawn_s: float, before_s: float) -> float:
        if self.waits == "nothing":
            return drawn_s
        if self.waits == "frame":
            return max(drawn_s, before_s + 1 / self.hz)
        next_s = (math.floor(before_s * self.hz + 1e-6) + 1) / self.hz
        if self.waits == "unless late" and drawn_s > next_s:
            return drawn_s
        return max(next_s, math.ceil(drawn_s * self.hz - 1e-6) / self.hz)


def judge(display: Display, *, stated_hz: float | None = -1.0, kept_hz: float = 60.0):
    """Judge a display, of which by default the system states the true rate."""
    stated_hz = display.hz if stated_hz == -1.0 else stated_hz
    return judge_flips(display, kept_hz=kept_hz, stated_hz=stated_hz)


def kinds(timing: DisplayTiming) -> list[str]:
    return [finding.kind for finding in timing.findings]


def text_of(timing: DisplayTiming, kind: str) -> str:
    (text,) = [finding.text for finding in timing.findings if finding.kind == kind]
    return text


# --- a screen as it should be -------------------------------------------------------------------


@pytest.mark.parametrize("hz", SCREENS_HZ)
def test_screen_that_swallows_a_delay_is_synchronised_at_its_own_rate_without_findings(hz):
    timing = judge(Display(hz))
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(hz, rel=0.0002)
    assert timing.flip_interval_s == pytest.approx(1 / hz, abs=0.00005)
    assert (timing.stated_hz, timing.rate_agrees, timing.findings) == (hz, True, ())


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("hz", [60.0, 144.0])
def test_jitter_of_a_twentieth_of_a_frame_is_still_a_screen(hz, seed):
    display = Display(hz, stamp_sd_s=0.05 / hz, rng=np.random.default_rng(seed))
    timing = judge(display)
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(hz, rel=0.003)
    assert timing.findings == ()


@pytest.mark.parametrize("n", [1, 8, 14, 40, 66, 70, 86, 87, 100])
def test_one_long_hiccup_changes_neither_rate_nor_verdict(n):
    timing = judge(Display(60.0, hiccup=lambda i: 0.2 if i == n else 0.0))
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(60.0, rel=0.0002)


def test_refreshes_missed_in_the_steady_flips_are_written_down_with_the_longest():
    timing = judge(Display(60.0, hiccup=lambda i: {20: 0.02, 40: 0.11}.get(i, 0.0)))
    assert timing.synchronised
    assert kinds(timing) == ["missed_refreshes"]
    text = text_of(timing, "missed_refreshes")
    assert "2 of 47 flips" in text
    assert "116." in text


@pytest.mark.parametrize("draw_share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_slow_drawing_that_fits_into_a_frame_is_still_a_screen(draw_share):
    timing = judge(Display(60.0, draw_s=draw_share / 60))
    assert timing.synchronised
    assert timing.findings == ()


def test_measuring_takes_under_three_seconds_of_a_60_hz_screen():
    for display in (Display(60.0), Display(60.0, n_queued=1), Display(60.0, draw_s=0.012)):
        judge(display)
        assert display.now_s < 3.0


# --- no vertical synchronisation ----------------------------------------------------------------


@pytest.mark.parametrize("flips_hz", [24.0, 60.0, 144.0, 204.0, 240.0, 400.0])
@pytest.mark.parametrize("stated_hz", [None, 60.0])
def test_flips_that_do_not_wait_are_no_vsync_though_their_rate_looks_like_a_screens(
    flips_hz, stated_hz
):
    """204 a second is what a slow machine under Xvfb shows."""
    display = Display(60.0, "nothing", draw_s=1 / flips_hz, draw_sd_s=0.0001, stamp_sd_s=0.00002)
    timing = judge(display, stated_hz=stated_hz)
    assert not timing.synchronised
    assert timing.refresh_hz == 60.0
    assert "does not wait" in timing.reason
    assert kinds(timing)[0] == "no_vsync"
    assert timing.rate_agrees is None


def test_2000_flips_per_second_are_an_impossible_rate_and_no_vsync():
    display = Display(60.0, "nothing", draw_s=1 / 2000, stamp_sd_s=0.0)
    timing = judge(display, kept_hz=75.0, stated_hz=75.0)
    assert not timing.synchronised
    assert timing.refresh_hz == 75.0
    assert "2000 flips per second are no screen's refresh rate" in timing.reason
    assert kinds(timing) == ["rate_impossible", "no_vsync"]


def test_a_flip_every_two_seconds_is_an_impossible_rate_and_too_slow_for_the_rate_to_keep():
    timing = judge(Display(60.0, "nothing", draw_s=2.0))
    assert kinds(timing) == ["rate_impossible", "slow_drawing"]
    assert "0.5 flips per second" in timing.reason
    assert "a flip takes 2000 ms" in text_of(timing, "slow_drawing")


def test_scattered_flips_are_not_synchronised():
    timing = judge(Display(60.0, stamp_sd_s=0.004))
    assert not timing.synchronised
    assert kinds(timing) == ["unsteady"]
    assert "spread" in timing.reason


def test_frames_kept_by_software_at_another_rate_than_the_screens_are_written_down():
    timing = judge(Display(144.0, "nothing", draw_s=0.001), kept_hz=60.0)
    assert "keeps 60 Hz, but the system states 144 Hz" in text_of(timing, "kept_rate_differs")
    assert "kept_rate_differs" not in kinds(
        judge(Display(144.0, "nothing", draw_s=0.001), kept_hz=144.0)
    )


# --- queued frames ------------------------------------------------------------------------------


@pytest.mark.parametrize("hz", [59.94, 60.0, 75.0, 120.0, 144.0, 165.0, 240.0])
@pytest.mark.parametrize("n_queued", [1, 2])
def test_queued_frames_are_seen_at_every_rate_and_their_lag_is_said(hz, n_queued):
    timing = judge(Display(hz, n_queued=n_queued))
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(hz, rel=0.0005)
    assert kinds(timing) == ["triple_buffering"]
    assert f"up to {n_queued} frame" in text_of(timing, "triple_buffering")


@pytest.mark.parametrize("draw_share", [0.1, 0.2, 0.3, 0.4, 0.5])
def test_drawing_time_does_not_hide_a_queue(draw_share):
    assert "triple_buffering" in kinds(judge(Display(60.0, n_queued=1, draw_s=draw_share / 60)))


@pytest.mark.parametrize("seed", range(20))
def test_jitter_neither_hides_nor_feigns_a_queue(seed):
    for n_queued, found in ((0, []), (1, ["triple_buffering"])):
        rng = np.random.default_rng(seed)
        assert kinds(judge(Display(60.0, n_queued=n_queued, stamp_sd_s=0.0008, rng=rng))) == found


def test_frames_shown_late_without_waiting_look_like_a_queue_and_the_text_says_so():
    timing = judge(Display(60.0, "unless late"))
    assert "adaptive synchronisation" in text_of(timing, "triple_buffering")


@pytest.mark.parametrize("hz", [60.0, 144.0, 240.0])
def test_variable_rate_is_told_from_a_queue(hz):
    timing = judge(Display(hz, "frame"))
    assert timing.synchronised
    assert kinds(timing) == ["variable_refresh"]


# --- measured and stated rates ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("hz", "stated_hz"), [(59.94, 60.0), (119.88, 120.0), (59.94, 59.0)])
def test_rounded_statement_agrees_and_the_measured_rate_is_used(hz, stated_hz, seed):
    """Windows states 59 for 59.94."""
    display = Display(hz, rng=np.random.default_rng(seed))
    timing = judge(display, stated_hz=stated_hz)
    assert timing.rate_agrees is True
    assert timing.refresh_hz == pytest.approx(hz, rel=0.0003)
    assert kinds(timing) == ["rate_rounded"]
    text = text_of(timing, "rate_rounded")
    assert f"states {stated_hz:.0f} Hz" in text
    assert "durations follow the measured rate" in text


@pytest.mark.parametrize(
    ("hz", "stated_hz"), [(59.94, 75.0), (60.0, 59.0), (144.0, 60.0), (60.0, 61.0), (74.0, 73.0)]
)
def test_rate_that_is_not_the_stated_one_is_written_down(hz, stated_hz):
    timing = judge(Display(hz), stated_hz=stated_hz)
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(hz, rel=0.0005)
    assert timing.rate_agrees is False
    assert kinds(timing) == ["rate_differs"]
    assert "each flip takes" not in text_of(timing, "rate_differs")


@pytest.mark.parametrize(("draw_share", "n"), [(1.3, 2), (1.7, 2), (2.5, 3)])
def test_flips_that_take_several_refreshes_each_wait_for_the_screen_at_their_own_rate(
    draw_share, n
):
    """A slow renderer; the drawing time alone decides whether a delay is swallowed."""
    timing = judge(Display(60.0, draw_s=draw_share / 60), stated_hz=60.0)
    if n < 3:
        assert timing.synchronised
        assert timing.refresh_hz == pytest.approx(60.0 / n, rel=0.0005)
        assert f"each flip takes {n} refreshes" in text_of(timing, "rate_differs")
    else:
        assert kinds(timing) == ["rate_impossible", "slow_drawing"]  # 20 flips per second


def test_free_running_at_half_the_stated_rate_is_not_taken_for_a_slow_screen():
    assert kinds(judge(Display(60.0, "nothing", draw_s=1 / 30)))[0] == "no_vsync"


def test_absent_statement_leaves_the_rate_unchecked():
    timing = judge(Display(60.0), stated_hz=None)
    assert timing.synchronised
    assert (timing.stated_hz, timing.rate_agrees) == (None, None)
    assert kinds(timing) == ["rate_unstated"]
    assert judge(Display(60.0), stated_hz=math.nan) == judge(Display(60.0), stated_hz=None)


@pytest.mark.parametrize("stated_hz", [0.0, 0.5, 2000.0, -60.0])
def test_impossible_statement_is_recognised_and_changes_nothing_else(stated_hz):
    timing = judge_flips(Display(60.0), kept_hz=75.0, stated_hz=stated_hz)
    assert timing.synchronised
    assert timing.refresh_hz == pytest.approx(60.0, rel=0.0005)
    assert timing.rate_agrees is False
    assert kinds(timing) == ["stated_rate_impossible"]


@pytest.mark.parametrize(
    "flips",
    [lambda _d: [], lambda _d: [1.0], lambda d: [math.nan] * len(d), lambda d: [5.0] * len(d)],
)
def test_flips_that_cannot_be_timed_are_kept_by_software_and_have_no_rate(flips):
    timing = judge_flips(flips, kept_hz=75.0, stated_hz=75.0)
    assert not timing.synchronised
    assert timing.refresh_hz == 75.0
    assert kinds(timing) == ["rate_unmeasured"]
    assert timing.flip_interval_s in (None, 0.0)
    json.dumps(timing.to_json(), allow_nan=False)


def test_flips_that_stop_being_timed_are_no_proof_of_a_screen():
    screen = Display(60.0)
    timing = judge_flips(lambda d: screen(d) if not any(d) else [], kept_hz=75.0)
    assert not timing.synchronised
    assert kinds(timing)[0] == "rate_unmeasured"


# --- the header ---------------------------------------------------------------------------------


def test_header_says_how_frames_are_paced_and_what_was_found():
    row = judge(Display(60.0)).to_json()
    assert row["pacing"] == "screen"
    assert row["display_findings"] == []
    row = judge(Display(60.0, "nothing", draw_s=1 / 900), stated_hz=None).to_json()
    assert row["pacing"] == "software"
    assert row["display_synchronised"] is False
    assert row["display_reason"] == row["display_findings"][0]["text"]
    assert [sorted(found) for found in row["display_findings"]] == [["kind", "text"]] * 3
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert set(row) == {
        "refresh_hz", "flip_interval_s", "flip_interval_spread_s", "stated_hz", "rate_agrees",
        "display_synchronised", "display_reason", "display_findings", "pacing",
    }  # fmt: skip


def facts(server: str = "X11", compositor: str | None = None, renderer: str = "Mesa Intel(R)"):
    return DisplayFacts(server, compositor, None, renderer, draws_in_software(renderer))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (facts(), {}),
        (facts("XWayland", "GNOME Shell"), {"wayland": "XWayland", "compositor": "GNOME Shell"}),
        (facts("X11", "picom"), {"compositor": "picom"}),
        (facts("X11", "unnamed"), {"compositor": "unnamed"}),
        (facts(renderer="llvmpipe (LLVM 15)"), {"software_rendering": "llvmpipe (LLVM 15)"}),
    ],
)
def test_what_the_system_says_is_found_and_decides_nothing(said, found):
    for display in (Display(60.0), Display(60.0, "nothing", draw_s=0.001)):
        plain = judge_flips(display, kept_hz=60.0, stated_hz=60.0)
        told = judge_flips(display, kept_hz=60.0, stated_hz=60.0, facts=said)
        assert told.synchronised == plain.synchronised
        assert kinds(told) == kinds(plain) + list(found)
        for kind, name in found.items():
            assert name in text_of(told, kind)


# --- what the system says, without asking an X server -------------------------------------------


@pytest.mark.parametrize(
    ("system", "environ", "server", "compositor"),
    [
        ("Windows", {}, "Windows", "DWM (may be bypassed full screen)"),
        ("Darwin", {}, "macOS", "Quartz Compositor (may be bypassed full screen)"),
        ("Linux", {}, "unknown", None),
        ("Linux", {"WAYLAND_DISPLAY": "wayland-0"}, "Wayland", "unnamed"),
        (
            "Linux",
            {"XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "KDE"},
            "Wayland",
            "KDE",
        ),
        ("Linux", {"XDG_SESSION_TYPE": "x11"}, "unknown", None),
        ("Linux", {"DISPLAY": "not a display", "WAYLAND_DISPLAY": "w"}, "Wayland", "unnamed"),
        ("FreeBSD", {}, "unknown", None),
    ],
)
def test_every_system_is_called_by_its_name(system, environ, server, compositor):
    said = read_display_facts(
        system=system, environ=environ, renderer="GDI Generic", stated_hz=59.0
    )
    assert said == DisplayFacts(server, compositor, 59.0, "GDI Generic", True)


@pytest.mark.parametrize(
    ("answers", "server", "compositor"),
    [
        (XAnswers(extensions=("RANDR", "GLX"), outputs=("HDMI-1",)), "X11", None),
        (XAnswers(extensions=("RANDR", "XWAYLAND")), "XWayland", "Sway"),
        (XAnswers(outputs=("XWAYLAND0",)), "XWayland", "Sway"),  # Xwayland 22.1 under Weston
        (XAnswers(outputs=("eDP-1",), devices=("xwayland-pointer:16",)), "XWayland", "Sway"),
        (XAnswers(outputs=("XWAYLAND0",), compositor="Weston WM"), "XWayland", "Weston WM"),
        (XAnswers(extensions=("XWAYLAND",), window_manager="KWin"), "XWayland", "KWin"),
        (XAnswers(compositor="unnamed"), "X11", "unnamed"),
        (XAnswers(compositor="unnamed", window_manager="Mutter"), "X11", "Mutter"),
        (XAnswers(window_manager="i3"), "X11", None),
    ],
)
def test_x_server_itself_tells_whether_it_is_xwayland(answers, server, compositor):
    environ = {"XDG_CURRENT_DESKTOP": "Sway"}
    assert facts_of_x(answers, environ=environ) == DisplayFacts(
        server, compositor, None, None, None
    )


def test_renderer_that_was_not_asked_is_not_said_to_be_hardware():
    said = read_display_facts(system="Windows", environ={})
    assert (said.renderer, said.software_rendering, said.stated_hz) == (None, None, None)
    assert "software_rendering" not in [finding.kind for finding in said.findings()]


@pytest.mark.parametrize(
    ("renderer", "software"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True),
        ("softpipe", True),
        ("Software Rasterizer", True),
        ("Gallium 0.4 on swrast", True),
        ("GDI Generic", True),
        ("Microsoft Basic Render Driver", True),
        ("Apple Software Renderer", True),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", False),
        ("NVIDIA GeForce RTX 3060/PCIe/SSE2", False),
        ("AMD Radeon RX 6600 (navi23, LLVM 15.0.7, DRM 3.54)", False),
    ],
)
def test_software_renderers_are_known_by_name(renderer, software):
    assert draws_in_software(renderer) is software


@pytest.mark.parametrize(
    ("mode", "hz"),
    [
        (Mode(148_500_000, 2200, 1125), 60.0),  # 1920 x 1080 as televisions have it
        (Mode(148_352_000, 2200, 1125), 59.94),
        (Mode(346_500_000, 2080, 1157), 143.98),
        (Mode(74_250_000, 2200, 1125, flags=1 << 4), 60.0),  # interlaced: fields are refreshes
        (Mode(12_587_500, 400, 262, flags=1 << 5), 60.05),  # each line twice
        (Mode(0, 0, 0), None),  # Xvfb
        (Mode(148_500_000, 0, 1125), None),
    ],
)
def test_rate_of_a_mode_is_its_clock_by_what_a_refresh_takes(mode, hz):
    assert mode_hz(mode) == (None if hz is None else pytest.approx(hz, abs=0.01))


HZ_60, HZ_144 = Mode(60_000, 1000, 1), Mode(144_000, 1000, 1)


@pytest.mark.parametrize(
    ("area", "hz"),
    [
        (None, 60.0),
        ((0, 0, 1920, 1080), 60.0),
        ((1920, 0, 2560, 1440), 144.0),
        ((1820, 0, 1000, 1000), 144.0),  # over the edge, mostly on the second
        ((9000, 0, 100, 100), None),
    ],
)
def test_stated_rate_is_of_the_screen_that_shows_most_of_the_window(area, hz):
    crtcs = [
        Crtc((0, 0, 0, 0), None),
        Crtc((0, 0, 1920, 1080), HZ_60),
        Crtc((1920, 0, 2560, 1440), HZ_144),
    ]
    assert stated_hz_of(crtcs, area) == hz
    assert stated_hz_of([], area) is None
    assert stated_hz_of([Crtc((0, 0, 1, 1), None)]) is None
