"""What the system says of the screen: who composes it, at what rate, and what draws on it.

It says what is set up; `display_timing` measures what happens. PsychoPy is not needed for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

__all__ = [
    "Area",
    "Crtc",
    "DisplayFacts",
    "DisplayServer",
    "Finding",
    "FindingKind",
    "Mode",
    "XAnswers",
    "draws_in_software",
    "facts_of_x",
    "mode_hz",
    "read_display_facts",
    "stated_hz_of",
]

DisplayServer = Literal["X11", "XWayland", "Wayland", "Windows", "macOS", "unknown"]

#: Left, top, width and height of a screen, in pixels of the desktop.
Area = tuple[int, int, int, int]

# What OpenGL renderers that run on the processor call themselves, in lower case.
_SOFTWARE_RENDERERS = (
    "llvmpipe",
    "softpipe",
    "swrast",
    "software rasterizer",
    "swiftshader",
    "apple software renderer",
    "gdi generic",
    "microsoft basic render",
)
# Flags of a mode in the X Resize and Rotate protocol ("RRModeInfo").
_INTERLACED, _DOUBLE_SCAN = 1 << 4, 1 << 5
_UNNAMED = "unnamed"

#: What a finding is about; those on flips and rates come from `display_timing`.
FindingKind = Literal[
    "no_vsync",
    "unsteady",
    "missed_refreshes",
    "slow_drawing",
    "triple_buffering",
    "variable_refresh",
    "rate_unmeasured",
    "rate_impossible",
    "rate_unstated",
    "stated_rate_impossible",
    "rate_differs",
    "rate_rounded",
    "kept_rate_differs",
    "wayland",
    "compositor",
    "software_rendering",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the display that whoever reads the data should know.

    Attributes
    ----------
    kind : str
        What it is, for programs.
    text : str
        A sentence for people, with the figures.
    """

    kind: FindingKind
    text: str


@dataclass(frozen=True, slots=True)
class DisplayFacts:
    """What the system says of the screen.

    Attributes
    ----------
    display_server : str
        ``XWayland`` where X programs are shown by a Wayland compositor; ``unknown`` on a Linux
        without any display.
    compositor : str or None
        Who puts the picture together before it is shown, ``unnamed`` if it does not say; None
        where nobody does, and frames go straight to the screen.
    stated_hz : float or None
        The refresh rate that the system states for the screen; None if it states none.
    renderer : str or None
        What OpenGL calls itself; None if it was not asked.
    software_rendering : bool or None
        Whether the processor draws instead of a graphics card; None if OpenGL was not asked.
    """

    display_server: DisplayServer
    compositor: str | None
    stated_hz: float | None
    renderer: str | None
    software_rendering: bool | None

    def to_json(self) -> dict[str, Any]:
        """Return this as it stands in the log's header; the stated rate stands with the timing."""
        return {
            "display_server": self.display_server,
            "compositor": self.compositor,
            "gl_renderer": self.renderer,
            "software_rendering": self.software_rendering,
        }

    def findings(self) -> tuple[Finding, ...]:
        """Return what is out of the ordinary about it."""
        found = []
        if self.display_server in ("Wayland", "XWayland"):
            text = (
                f"the window is shown through {self.display_server}, where a frame comes when the "
                "compositor shows it, a refresh or more after its flip"
            )
            found.append(Finding("wayland", text))
        if self.compositor is not None:
            text = (
                f"a compositor ({self.compositor}) puts the picture together; a frame may be shown "
                "a refresh after its flip, unless full-screen windows are let by"
            )
            found.append(Finding("compositor", text))
        if self.software_rendering:
            text = f"the processor draws ({self.renderer}), not a graphics card"
            found.append(Finding("software_rendering", text))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Mode:
    """How a screen is driven, as X states it: the pixel clock and what one refresh takes of it."""

    dot_clock_hz: int
    h_total: int
    v_total: int
    flags: int = 0


@dataclass(frozen=True, slots=True)
class Crtc:
    """A part of the X desktop that is sent to a screen, in a mode; None where it is off."""

    area: Area
    mode: Mode | None


def read_display_facts(
    *,
    system: str,
    environ: Mapping[str, str],
    area: Area | None = None,
    renderer: str | None = None,
    stated_hz: float | None = None,
) -> DisplayFacts:
    """Ask the system about the screen.

    Parameters
    ----------
    system : str
        What `platform.system` calls it: ``Linux``, ``Windows``, ``Darwin``.
    environ : mapping of str to str
        The environment; on X it names the display.
    area : Area, optional
        Where on the desktop the screen lies, of several; by default the first that is on.
    renderer : str, optional
        What OpenGL calls itself.
    stated_hz : float, optional
        The rate that the caller was told elsewhere; taken where X states none.

    Notes
    -----
    Nothing is raised: what cannot be found out is None. On Linux it is the X server that tells
    whether it is XWayland, not the environment, since Xvfb within a Wayland session is not; the
    environment decides only where there is no X server to ask.
    """
    software = None if renderer is None else draws_in_software(renderer)
    if system == "Windows":
        # It cannot be turned off since Windows 8.
        own = DisplayFacts("Windows", "DWM (may be bypassed full screen)", None, renderer, software)
    elif system == "Darwin":
        own = DisplayFacts(
            "macOS", "Quartz Compositor (may be bypassed full screen)", None, renderer, software
        )
    else:
        answers = _ask_x(environ.get("DISPLAY"))
        own = (
            _without_x(environ)
            if answers is None
            else facts_of_x(answers, environ=environ, area=area)
        )
        own = replace(own, renderer=renderer, software_rendering=software)
    return own if own.stated_hz is not None else replace(own, stated_hz=stated_hz)


def draws_in_software(renderer: str) -> bool:
    """Say whether this is the name of a renderer that runs on the processor."""
    return any(name in renderer.lower() for name in _SOFTWARE_RENDERERS)


def mode_hz(mode: Mode) -> float | None:
    """Return the refresh rate of a mode; None if it states none, as those of Xvfb.

    A mode's clock sends each pixel of a refresh, seen or not, once; lines that are sent twice, or
    of which only each second is sent, count as such.
    """
    lines = mode.v_total * (2.0 if mode.flags & _DOUBLE_SCAN else 1.0)
    lines /= 2.0 if mode.flags & _INTERLACED else 1.0
    pixels = mode.h_total * lines
    return mode.dot_clock_hz / pixels if mode.dot_clock_hz > 0 and pixels > 0 else None


def stated_hz_of(crtcs: Sequence[Crtc], area: Area | None = None) -> float | None:
    """Return the rate of the screen that shows most of an area; None if none states one.

    Of screens that show as much (clones, or all where no area is given) the first counts.
    """
    shown = [crtc for crtc in crtcs if crtc.mode is not None]
    if area is not None:
        shown = [crtc for crtc in shown if _overlap_px(crtc.area, area) > 0]
        shown.sort(key=lambda crtc: -_overlap_px(crtc.area, area))
    mode = shown[0].mode if shown else None
    return mode_hz(mode) if mode is not None else None


def _overlap_px(one: Area, other: Area) -> int:
    sides = (
        min(one[axis] + one[axis + 2], other[axis] + other[axis + 2]) - max(one[axis], other[axis])
        for axis in (0, 1)
    )
    width_px, height_px = (max(side, 0) for side in sides)
    return width_px * height_px


# --- X ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class XAnswers:
    """What an X server said of itself.

    Attributes
    ----------
    extensions, outputs, devices : tuple of str
        Names of its extensions, of the outputs for screens, and of its input devices.
    compositor : str or None
        The name of who owns the screen's compositing selection, ``unnamed`` if it has none; None
        if nobody does.
    window_manager : str or None
        Its name, if there is one and it has one.
    crtcs : tuple of Crtc
        The parts of the desktop that are sent to screens; empty without RandR.
    """

    extensions: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    compositor: str | None = None
    window_manager: str | None = None
    crtcs: tuple[Crtc, ...] = ()

    @property
    def is_xwayland(self) -> bool:
        """Whether it is a Wayland client itself: servers before 23.1 lack the extension."""
        return (
            "XWAYLAND" in self.extensions
            or any(name.startswith("XWAYLAND") for name in self.outputs)
            or any(name.startswith("xwayland-") for name in self.devices)
        )


def facts_of_x(
    answers: XAnswers, *, environ: Mapping[str, str], area: Area | None = None
) -> DisplayFacts:
    """Return what an X server's answers come to; the renderer is left out.

    A compositor without a name is called by the window manager's, which it mostly is part of. On
    XWayland there always is one.
    """
    server: DisplayServer = "XWayland" if answers.is_xwayland else "X11"
    compositor = answers.compositor
    if compositor == _UNNAMED or (compositor is None and answers.is_xwayland):
        compositor = answers.window_manager or _UNNAMED
    if compositor == _UNNAMED and answers.is_xwayland:
        compositor = _desktop(environ)
    return DisplayFacts(server, compositor, stated_hz_of(answers.crtcs, area), None, None)


def _without_x(environ: Mapping[str, str]) -> DisplayFacts:
    if environ.get("WAYLAND_DISPLAY") or environ.get("XDG_SESSION_TYPE") == "wayland":
        return DisplayFacts("Wayland", _desktop(environ), None, None, None)
    return DisplayFacts("unknown", None, None, None, None)


def _desktop(environ: Mapping[str, str]) -> str:
    return environ.get("XDG_CURRENT_DESKTOP") or _UNNAMED


def _ask_x(name: str | None) -> XAnswers | None:
    """Ask the X server of this name; None if there is none, or nothing to ask it with."""
    try:
        from Xlib.display import Display
        from Xlib.error import ConnectionClosedError, DisplayError, XError
    except ImportError:
        return None
    if not name:
        return None
    try:
        server = Display(name)
    except (DisplayError, OSError):
        return None
    # A screen may be unplugged between two questions.
    try:
        crtcs, outputs = _screens_of(server)
        return XAnswers(
            extensions=tuple(server.list_extensions()),
            outputs=outputs,
            devices=_devices_of(server),
            compositor=_compositor_of(server),
            window_manager=_window_manager_of(server),
            crtcs=crtcs,
        )
    except (XError, ConnectionClosedError, OSError):
        return None
    finally:
        with contextlib.suppress(XError, ConnectionClosedError, OSError):
            server.close()


def _screens_of(server: Any) -> tuple[tuple[Crtc, ...], tuple[str, ...]]:
    """Return the screens' places and modes, and the names of the outputs; none without RandR."""
    if not server.has_extension("RANDR"):
        return (), ()
    version = server.xrandr_query_version()
    if (version.major_version, version.minor_version) < (1, 3):
        return (), ()
    # What the server knows already: asking the hardware anew can take a second and blank it.
    found = server.screen().root.xrandr_get_screen_resources_current()
    modes = {m.id: Mode(m.dot_clock, m.h_total, m.v_total, m.flags) for m in found.modes}
    crtcs = []
    for number in found.crtcs:
        crtc = server.xrandr_get_crtc_info(number, found.config_timestamp)
        # One that is off has mode 0, which is none.
        area = (crtc.x, crtc.y, crtc.width, crtc.height)
        crtcs.append(Crtc(area, modes.get(crtc.mode)))
    outputs = (
        server.xrandr_get_output_info(number, found.config_timestamp).name
        for number in found.outputs
    )
    return tuple(crtcs), tuple(str(output) for output in outputs)


def _devices_of(server: Any) -> tuple[str, ...]:
    from Xlib.ext import xinput

    if not server.has_extension("XInputExtension"):
        return ()
    return tuple(str(d.name) for d in server.xinput_query_device(xinput.AllDevices).devices)


def _compositor_of(server: Any) -> str | None:
    """Return the name of who owns the screen's compositing selection (EWMH, "_NET_WM_CM_Sn")."""
    selection = server.intern_atom(f"_NET_WM_CM_S{server.get_default_screen()}")
    owner = server.get_selection_owner(selection)
    if not owner:
        return None
    return _name_of(server, owner) or _UNNAMED


def _window_manager_of(server: Any) -> str | None:
    """Return the window manager's name, which stands on a window of its own (EWMH)."""
    from Xlib import Xatom

    root = server.screen().root
    check = root.get_full_property(server.intern_atom("_NET_SUPPORTING_WM_CHECK"), Xatom.WINDOW)
    if check is None or not len(check.value):
        return None
    return _name_of(server, server.create_resource_object("window", check.value[0]))


def _name_of(server: Any, window: Any) -> str | None:
    from Xlib import X
    from Xlib.error import BadWindow

    try:
        for atom in ("_NET_WM_NAME", "WM_NAME"):
            name = window.get_full_property(server.intern_atom(atom), X.AnyPropertyType)
            if name is not None and len(name.value):
                return bytes(name.value).decode("utf-8", errors="replace")
    except BadWindow:  # It went between the two questions.
        return None
    return None
