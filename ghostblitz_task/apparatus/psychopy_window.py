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
from psychopy import core, monitors, visual
from psychopy import logging as psychopy_logging
from psychopy.tools.monitorunittools import deg2pix, pix2deg
from pyglet.gl import glFinish
from pyglet.gl.lib import GLException

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.display_facts import DisplayFacts, read_display_facts
from ghostblitz_task.apparatus.display_timing import DisplayTiming, judge_flips
from ghostblitz_task.apparatus.marker_outputs import Markers
from ghostblitz_task.apparatus.process_priority import ORDINARY, ProcessPriority
from ghostblitz_task.apparatus.psychopy_devices import KeySource, PointerSource, clock_s, open_keys
from ghostblitz_task.apparatus.psychopy_pads import PadSource, open_pads
from ghostblitz_task.apparatus.psychopy_rendering import StimulusStore
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.drawing import Palette
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.screens import Screen

__all__ = ["PsychoPyApparatus"]

# No response is awaited for the last stretch before a software-paced flip: poll the clock.
_SPIN_S = 0.0015


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
    markers : Markers or None
        Where markers go, opened before; they are closed with the window, or if it cannot open.

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
        markers: Markers | None = None,
    ) -> None:
        self.markers = markers
        psychopy_logging.console.setLevel(psychopy_logging.ERROR)
        self._settings = settings
        self._closed_by_hand = False
        self._next_flip_s: float | None = None
        # What fails halfway leaves nothing open, and all of it is closed in the reverse order.
        with contextlib.ExitStack() as opened:
            if markers is not None:
                opened.callback(markers.close)
            # Before the keyboard and the window, which start threads of their own.
            self._priority = ProcessPriority(core.rush) if settings.raise_priority else None
            if self._priority is not None:
                opened.callback(self._priority.restore)
            self._keys: KeySource = open_keys(settings)
            opened.callback(self._keys.close)
            self._pads: list[PadSource] = open_pads(settings)
            for pad in self._pads:
                opened.callback(pad.close)
            self._window = _open_window(settings, palette, pointer_visible=pointer_visible)
            opened.callback(self._close_window)
            self._window.winHandle.push_handlers(on_close=self._on_close)
            self._monitor = self._window.monitor
            self._check_size(extent_deg)
            self._pointer = PointerSource(self._window, self._to_degrees)
            self._keys.attach(self._window)
            self._store = StimulusStore(
                self._window,
                palette,
                patch_corner=settings.patch_corner,
                patch_deg=settings.patch_deg,
            )
            self._facts = _display_facts(settings.screen_index)
            self._timing = self._measure()
            opened.callback(gc.enable)
            opened.callback(gc.unfreeze)
            gc.collect()
            gc.freeze()  # What is there now stays; collecting between trials need not look at it.
            gc.disable()
            self._opened = opened.pop_all()

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
            **self._facts.to_json(),
            "window_px": [width_px, height_px],
            "fullscreen": self._settings.fullscreen,
            "px_per_deg": float(deg2pix(1.0, self._monitor)),
            "patch_corner": self._settings.patch_corner if self._settings.patch_deg else None,
            "process_priority": self._priority.held if self._priority else ORDINARY,
            **self._timing.to_json(),
            **self._keys.describe(),
            "response_pads": [dict(pad.describe()) for pad in self._pads],
        }

    def key_labels(self) -> Mapping[str, str]:
        return self._keys.labels()

    def prepare(self, screens: Iterable[Screen]) -> None:
        self._store.prepare(screens)
        self._next_flip_s = None

    def present(self, screen: Screen) -> float:
        try:
            flip_s = self._draw_and_flip(screen)
        except GLException as error:
            raise ApparatusError(f"the window cannot be drawn in any more ({error})") from error
        for source in (self._keys, *self._pads):
            source.dispatched(flip_s)
        self._pointer.dispatched(flip_s)
        if self._closed_by_hand:
            raise ApparatusError("the window was closed")
        return flip_s

    def _draw_and_flip(self, screen: Screen) -> float:
        if self.markers is not None:
            self.markers.end_pulses()
        self._store.draw(screen)
        self._keep_pace()
        return float(self._window.flip())

    def now_s(self) -> float:
        """Return the time on the clock that stamps flips and keys; for the timing self-test."""
        return clock_s()

    def drawing_s(self, screen: Screen) -> float:
        """Draw a prepared screen without showing it, and return how long until it was drawn."""
        began_s = clock_s()
        self._store.draw(screen)
        glFinish()  # The calls before it return long before the graphics are done.
        return clock_s() - began_s

    def events(self) -> list[DeviceEvent]:
        found: list[DeviceEvent] = []
        failure: ApparatusError | None = None
        # Pads first: PsychoPy's button box made of a keyboard takes its keys from the same device.
        for events in (
            *(pad.events for pad in self._pads),
            self._keys.events,
            self._pointer.events,
        ):
            try:
                found += events()
            except ApparatusError as error:
                failure = failure or error
        # What the others reported is handed over first; the source fails again when asked again.
        if failure is not None and not found:
            raise failure
        return sorted(found, key=lambda e: e.t_s)

    def between_trials(self) -> None:
        gc.collect()

    def close(self) -> None:
        self._opened.close()

    # --- window ------------------------------------------------------------------------------

    def _close_window(self) -> None:
        with contextlib.suppress(GLException):  # It may be gone already.
            self._window.close()

    def _on_close(self) -> None:
        self._closed_by_hand = True

    def _check_size(self, extent_deg: tuple[float, float]) -> None:
        has = [float(pix2deg(n, self._monitor)) for n in self._window.size]
        if has[0] < extent_deg[0] or has[1] < extent_deg[1]:
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
        now_s = clock_s()
        due_s = self._next_flip_s
        if due_s is None or now_s > due_s + frame_s:
            due_s = now_s  # Begun anew after a stop between trials, or late: no catching up.
        while (left_s := due_s - clock_s()) > 0:
            if left_s > _SPIN_S:
                time.sleep(left_s - _SPIN_S)
        self._next_flip_s = due_s + frame_s

    def _measure(self) -> DisplayTiming:
        blank = Screen("blank")

        def timed_flips(delays_s: Sequence[float]) -> list[float]:
            flips_s = []
            for delay_s in delays_s:
                self._store.draw(blank)
                end_s = clock_s() + delay_s
                while clock_s() < end_s:
                    pass
                flips_s.append(float(self._window.flip()))
            return flips_s

        return judge_flips(
            timed_flips,
            kept_hz=self._settings.refresh_hz,
            stated_hz=self._facts.stated_hz,
            facts=self._facts,
        )


def _open_window(settings: ApparatusSettings, palette: Palette, *, pointer_visible: bool) -> Any:
    monitor = monitors.Monitor(
        "ghostblitz", width=settings.screen_width_cm, distance=settings.viewing_distance_cm
    )
    screens_px = [(int(s.width), int(s.height)) for s in _screens()]
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
    _keep_no_keys(window)
    return window


def _keep_no_keys(window: Any) -> None:
    """Keep PsychoPy from listing the window's keys for its own `event` module.

    Nobody takes them from there, so that list and PsychoPy's log of it grow with every key, and a
    shutdown key set in PsychoPy's preferences would end the program without the log's last record.
    """

    def nothing(*_key: Any) -> None:
        pass

    for name in ("on_key_press", "on_text", "on_text_motion"):
        setattr(window.winHandle, name, nothing)


def _screens() -> list[Any]:
    import pyglet  # imported late: without a display it fails at import

    return list(pyglet.canvas.get_display().get_screens())


def _display_facts(screen_index: int) -> DisplayFacts:
    from pyglet.gl import gl_info

    screen = _screens()[screen_index]
    return read_display_facts(
        system=platform.system(),
        environ=os.environ,
        area=(int(screen.x), int(screen.y), int(screen.width), int(screen.height)),
        renderer=str(gl_info.get_renderer()),
        # X states more than pyglet reads from it.
        stated_hz=None if platform.system() == "Linux" else _rate_of_mode(screen),
    )


def _rate_of_mode(screen: Any) -> float | None:
    rate_hz = screen.get_mode().rate
    return float(rate_hz) if rate_hz else None
