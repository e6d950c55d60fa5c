"""A PsychoPy window and its keyboard: with its siblings, the only place that imports PsychoPy.

The adapter is thin: it draws what was prepared, says when a flip happened, and hands over every
event once, with the time the device gave it. What PsychoPy 2026.2.5 does that must not reach
the data is named where it is kept out.
"""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psychopy
from PIL import Image
from psychopy import logging as psychopy_logging
from psychopy import monitors, visual
from psychopy.tools.monitorunittools import deg2pix, pix2deg
from pyglet.gl.lib import GLException

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.display_timing import DisplayTiming, judge_flips
from ghostblitz_task.apparatus.psychopy_devices import KeySource, PointerSource, open_keys
from ghostblitz_task.config import ApparatusSettings
from ghostblitz_task.drawing import FONT, FONT_FAMILY, Palette, render_rgba
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.screens import Bar, Drawing, Element, Line, Patch, Screen, Words

__all__ = ["PsychoPyApparatus"]

# Flips that are timed at the start, without and with a delay before each.
_N_TIMED_FLIPS = 60
# No response is awaited for the last stretch before a software-paced flip: poll the clock.
_SPIN_S = 0.0015

_PATCH_TONES: Mapping[Patch, str] = {
    "off": "#000000",
    "card": "#FFFFFF",
    "waiting": "#606060",
    "waiting-next": "#A0A0A0",
}


class PsychoPyApparatus:
    """A real window, keyboard and pointer.

    Parameters
    ----------
    settings : ApparatusSettings
        The machine.
    palette : Palette
        Gives the window's ground and the words their tones.
    extent_deg : tuple of float
        Width and height that the study needs, in degrees of visual angle.
    pointer_visible : bool
        Whether the study takes answers from mouse or touch.

    Raises
    ------
    ApparatusError
        If there is no such screen, it is too small at this distance, or keys can only be timed
        by polling and the settings do not allow that.
    """

    def __init__(
        self,
        settings: ApparatusSettings,
        *,
        palette: Palette,
        extent_deg: tuple[float, float],
        pointer_visible: bool = False,
    ) -> None:
        psychopy_logging.console.setLevel(psychopy_logging.ERROR)
        self._settings = settings
        self._palette = palette
        self._closed_by_hand = False
        self._keys: KeySource = open_keys(settings)
        self._window = _open_window(settings, palette, pointer_visible=pointer_visible)
        self._window.winHandle.push_handlers(on_close=self._on_close)
        self._monitor = self._window.monitor
        self._check_size(extent_deg)
        self._pointer = PointerSource(self._window, self._to_degrees)
        self._keys.attach(self._window)
        self._stimuli: dict[Element, list[Any]] = {}
        self._tables: dict[tuple[Element, ...], Any] = {}
        self._moving: dict[Drawing, Any] = {}
        self._px_per_deg = float(deg2pix(1.0, self._monitor))
        self._patches = {state: self._patch(tone) for state, tone in _PATCH_TONES.items()}
        self._timing = self._measure()
        self._next_flip_s: float | None = None
        gc.collect()
        gc.disable()

    # --- protocol ----------------------------------------------------------------------------

    @property
    def refresh_hz(self) -> float:
        return self._timing.refresh_hz

    def describe(self) -> Mapping[str, Any]:
        width_px, height_px = (int(n) for n in self._window.size)
        return {
            "apparatus": "psychopy",
            "psychopy": psychopy.__version__,
            "platform": platform.platform(),
            "display_server": _display_server(),
            "gl_renderer": _gl_renderer(),
            "window_px": [width_px, height_px],
            "fullscreen": self._settings.fullscreen,
            "px_per_deg": float(deg2pix(1.0, self._monitor)),
            **self._timing.to_json(),
            **self._keys.describe(),
        }

    def key_labels(self) -> Mapping[str, str]:
        return self._keys.labels()

    def prepare(self, screens: Iterable[Screen]) -> None:
        for screen in screens:
            if screen.table and screen.table not in self._tables:
                self._tables[screen.table] = self._picture_of(screen.table)
            for element in screen.elements:
                if element not in self._stimuli:
                    self._stimuli[element] = self._render(element)
            for sprite in screen.sprites:
                if sprite.drawing not in self._moving:
                    self._moving[sprite.drawing] = self._render_drawing(sprite.drawing, moves=True)
        self._next_flip_s = None

    def present(self, screen: Screen) -> float:
        try:
            flip_s = self._draw_and_flip(screen)
        except GLException as error:
            raise ApparatusError(f"the window cannot be drawn in any more ({error})") from error
        self._keys.dispatched(flip_s)
        self._pointer.dispatched(flip_s)
        if self._closed_by_hand:
            raise ApparatusError("the window was closed")
        return flip_s

    def _draw_and_flip(self, screen: Screen) -> float:
        if screen.table:
            self._tables[screen.table].draw()
        for element in screen.elements:
            for stimulus in self._stimuli[element]:
                stimulus.draw()
        for sprite in screen.sprites:
            moving = self._moving[sprite.drawing]
            moving.pos = (sprite.x_deg * self._px_per_deg, sprite.y_deg * self._px_per_deg)
            if moving.ori != sprite.turned_deg:
                moving.ori = sprite.turned_deg
            moving.draw()
        self._patches[screen.patch].draw()
        self._keep_pace()
        return float(self._window.flip())

    def events(self) -> list[DeviceEvent]:
        return sorted(self._keys.events() + self._pointer.events(), key=lambda e: e.t_s)

    def between_trials(self) -> None:
        gc.collect()

    def close(self) -> None:
        gc.enable()
        self._keys.close()
        with contextlib.suppress(GLException):  # It may be gone already.
            self._window.close()

    # --- window ------------------------------------------------------------------------------

    def _on_close(self) -> None:
        self._closed_by_hand = True

    def _check_size(self, extent_deg: tuple[float, float]) -> None:
        has = [float(pix2deg(n, self._monitor)) for n in self._window.size]
        if has[0] < extent_deg[0] or has[1] < extent_deg[1]:
            self._window.close()
            raise ApparatusError(
                f"the study needs {extent_deg[0]:.0f} x {extent_deg[1]:.0f} degrees of visual "
                f"angle, but the window has {has[0]:.0f} x {has[1]:.0f} at "
                f"{self._settings.viewing_distance_cm:g} cm; use a larger window, sit closer, or "
                "correct screen_width_cm and viewing_distance_cm"
            )

    def _to_degrees(self, x_px: float, y_px: float) -> tuple[float, float]:
        width_px, height_px = self._window.size
        return (
            float(pix2deg(x_px - width_px / 2, self._monitor)),
            float(pix2deg(y_px - height_px / 2, self._monitor)),
        )

    def _keep_pace(self) -> None:
        """Where flips do not wait for the screen, wait for the next frame of a software clock."""
        if self._timing.synchronised:
            return
        frame_s = 1.0 / self._timing.refresh_hz
        now_s = _clock_s()
        due_s = self._next_flip_s
        if due_s is None or now_s > due_s + frame_s:
            due_s = now_s  # Begun anew after a stop between trials, or late: no catching up.
        while (left_s := due_s - _clock_s()) > 0:
            if left_s > _SPIN_S:
                time.sleep(left_s - _SPIN_S)
        self._next_flip_s = due_s + frame_s

    def _measure(self) -> DisplayTiming:
        patch = self._patches["off"]

        def timed_flips(delay_s: float) -> list[float]:
            flips_s = []
            for _ in range(_N_TIMED_FLIPS):
                patch.draw()
                end_s = _clock_s() + delay_s
                while _clock_s() < end_s:
                    pass
                flips_s.append(float(self._window.flip()))
            return flips_s

        return judge_flips(timed_flips, kept_hz=self._settings.refresh_hz)

    # --- rendering ---------------------------------------------------------------------------

    def _picture_of(self, table: Sequence[Element]) -> Any:
        """Draw what lies on the table once, and keep it as one texture."""
        stimuli = [stimulus for element in table for stimulus in self._render(element)]
        return visual.BufferImageStim(self._window, stim=stimuli)

    def _render(self, element: Element) -> list[Any]:
        if isinstance(element, Drawing):
            return [self._render_drawing(element)]
        if isinstance(element, Words):
            return [
                visual.TextStim(
                    self._window,
                    text=element.text,
                    units="pix",  # on whole pixels, so that letters stay sharp
                    pos=(self._pixels(element.x_deg), self._pixels(element.y_deg)),
                    height=self._pixels(element.height_deg),
                    wrapWidth=self._pixels(element.wrap_deg),
                    font=FONT_FAMILY,
                    fontFiles=[str(FONT)],
                    bold=element.bold,
                    anchorVert="top" if element.hangs else "center",
                    color=self._palette.text,
                )
            ]
        if isinstance(element, Line):
            return [
                visual.Line(
                    self._window,
                    start=element.from_deg,
                    end=element.to_deg,
                    lineWidth=3,
                    lineColor=self._palette.text,
                )
            ]
        return self._render_bar(element)

    def _pixels(self, size_deg: float) -> int:
        return round(float(deg2pix(size_deg, self._monitor)))

    def _render_drawing(self, drawing: Drawing, *, moves: bool = False) -> Any:
        # Whole pixels, so that no texture is scaled and every colour stays as it was chosen; only
        # what moves lies between pixels, so that it does not move in steps.
        width_px = self._pixels(drawing.width_deg)
        pixels = render_rgba(drawing.svg, width_px=width_px)
        height_px = pixels.shape[0]
        x_px, y_px = (float(deg2pix(v, self._monitor)) for v in (drawing.x_deg, drawing.y_deg))
        return visual.ImageStim(
            self._window,
            image=Image.fromarray(pixels, mode="RGBA"),
            units="pix",
            pos=(_on_grid(x_px, width_px), _on_grid(y_px, height_px)),
            size=(width_px, height_px),
            interpolate=moves,
        )

    def _render_bar(self, bar: Bar) -> list[Any]:
        frame = visual.Rect(
            self._window,
            width=bar.width_deg,
            height=bar.height_deg,
            pos=(bar.x_deg, bar.y_deg),
            lineColor=self._palette.text,
            lineWidth=2,
            fillColor=None,
        )
        filled_deg = bar.width_deg * bar.fraction
        filled = visual.Rect(
            self._window,
            width=filled_deg,
            height=bar.height_deg,
            pos=(bar.x_deg - (bar.width_deg - filled_deg) / 2, bar.y_deg),
            lineColor=None,
            fillColor=self._palette.text,
        )
        return [filled, frame]

    def _patch(self, tone: str) -> Any:
        side_px = self._pixels(self._settings.patch_deg)
        width_px, height_px = self._window.size
        return visual.Rect(
            self._window,
            units="pix",
            width=side_px,
            height=side_px,
            pos=(-width_px / 2 + side_px / 2, -height_px / 2 + side_px / 2),
            lineColor=None,
            fillColor=tone,
        )


def _clock_s() -> float:
    """Return the time on the clock that PsychoPy gives both flips and keys."""
    return float(psychopy_logging.defaultClock.getTime())


def _on_grid(centre_px: float, size_px: int) -> float:
    """Return the nearest centre at which a texture of this size lies on whole pixels."""
    return round(centre_px - size_px / 2) + size_px / 2


def _open_window(settings: ApparatusSettings, palette: Palette, *, pointer_visible: bool) -> Any:
    monitor = monitors.Monitor(
        "ghostblitz", width=settings.screen_width_cm, distance=settings.viewing_distance_cm
    )
    screens_px = _screen_sizes()
    if settings.screen_index >= len(screens_px):
        raise ApparatusError(
            f"screen_index is {settings.screen_index}, but there are {len(screens_px)} screens "
            "(numbered from 0)"
        )
    screen_px = screens_px[settings.screen_index]
    monitor.setSizePix(screen_px)
    size_px = screen_px if settings.fullscreen else settings.window_px
    if size_px[0] > screen_px[0] or size_px[1] > screen_px[1]:
        raise ApparatusError(
            f"window_px is {size_px[0]} x {size_px[1]}, but the screen has "
            f"{screen_px[0]} x {screen_px[1]}"
        )
    window = visual.Window(
        size=size_px,
        screen=settings.screen_index,
        fullscr=settings.fullscreen,
        monitor=monitor,
        units="deg",
        color=palette.table_ground,
        allowGUI=not settings.fullscreen,
        checkTiming=False,
        waitBlanking=True,
    )
    window.mouseVisible = pointer_visible
    return window


def _screen_sizes() -> list[tuple[int, int]]:
    """Return the sizes of the screens, in pixels."""
    import pyglet  # imported late: without a display it fails at import

    display = pyglet.canvas.get_display()
    return [(int(s.width), int(s.height)) for s in display.get_screens()]


def _display_server() -> str:
    if platform.system() != "Linux":
        return platform.system()
    if os.environ.get("WAYLAND_DISPLAY"):
        return "Wayland (through XWayland)"
    return "X11"


def _gl_renderer() -> str:
    from pyglet.gl import gl_info

    return str(gl_info.get_renderer())
