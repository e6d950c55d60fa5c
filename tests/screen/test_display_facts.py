"""What a real X server says of the screen: its modes, and who composes the picture."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator

import pytest
from Xlib import X, Xatom
from Xlib.display import Display
from Xlib.xobject.drawable import Window

from ghostblitz_task.apparatus.display_facts import DisplayFacts, read_display_facts
from ghostblitz_task.virtual_display import VirtualDisplay

pytestmark = pytest.mark.screen


def facts(area: tuple[int, int, int, int] | None = None, **environ: str) -> DisplayFacts:
    return read_display_facts(
        system=platform.system(), environ={**os.environ, **environ}, area=area
    )


@pytest.fixture
def server(xvfb: VirtualDisplay) -> Iterator[Display]:
    """A connection of a client that is not ours."""
    server = Display(xvfb.name)
    with contextlib.closing(server):
        yield server


def own_window(server: Display) -> Window:
    return server.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)


def become_compositor(server: Display, window: Window) -> None:
    window.set_selection_owner(server.intern_atom("_NET_WM_CM_S0"), X.CurrentTime)
    server.sync()


def name_in_utf8(server: Display, window: Window, name: str) -> None:
    utf8 = server.intern_atom("UTF8_STRING")
    window.change_property(server.intern_atom("_NET_WM_NAME"), utf8, 8, name.encode())


def drive_at(server: Display, *, dot_clock_hz: int, h_total: int, v_total: int) -> None:
    """Give the screen a mode with this clock, as a graphics driver does."""
    root = server.screen().root
    found = root.xrandr_get_screen_resources_current()
    (output,), (crtc,) = found.outputs, found.crtcs
    name = "1280x720_driven"
    mode = root.xrandr_create_mode(
        (0, 1280, 720, dot_clock_hz, 1300, 1310, h_total, 0, 722, 724, v_total, len(name), 0), name
    ).mode
    server.xrandr_add_output_mode(output, mode)
    server.xrandr_set_crtc_config(crtc, found.config_timestamp, 0, 0, mode, 1, [output])


def test_xvfb_is_plain_x_that_states_no_rate_and_has_no_compositor(xvfb):
    """Its only mode has a clock of 0."""
    assert facts() == DisplayFacts("X11", None, None, None, None)


@pytest.mark.parametrize(
    ("dot_clock_hz", "h_total", "v_total", "hz"),
    [
        (74_250_000, 1650, 750, 60.0),
        (74_176_000, 1650, 750, 59.94),
        (178_200_000, 1650, 750, 144.0),
        (297_000_000, 1650, 750, 240.0),
    ],
)
def test_stated_rate_is_that_of_the_mode_the_screen_is_in(
    server, dot_clock_hz, h_total, v_total, hz
):
    drive_at(server, dot_clock_hz=dot_clock_hz, h_total=h_total, v_total=v_total)
    assert facts().stated_hz == pytest.approx(hz, abs=0.001)
    assert facts((0, 0, 1280, 720)).stated_hz == pytest.approx(hz, abs=0.001)
    assert facts((1280, 0, 1280, 720)).stated_hz is None


def test_rate_that_x_does_not_state_is_taken_from_the_caller(server):
    told = read_display_facts(system="Linux", environ=os.environ, stated_hz=75.0)
    assert told.stated_hz == 75.0
    drive_at(server, dot_clock_hz=74_250_000, h_total=1650, v_total=750)
    told = read_display_facts(system="Linux", environ=os.environ, stated_hz=75.0)
    assert told.stated_hz == pytest.approx(60.0)


def test_compositor_is_named_by_the_window_that_owns_the_selection(server):
    window = own_window(server)
    become_compositor(server, window)
    assert facts().compositor == "unnamed"
    window.set_wm_name("picom")
    server.sync()
    assert facts().compositor == "picom"
    name_in_utf8(server, window, "Fenstermacher – größer")
    server.sync()
    assert facts().compositor == "Fenstermacher – größer"
    assert facts().display_server == "X11"


def test_compositor_without_a_name_is_called_by_the_window_manager(server):
    window, manager = own_window(server), own_window(server)
    become_compositor(server, window)
    name_in_utf8(server, manager, "Mutter")
    check = server.intern_atom("_NET_SUPPORTING_WM_CHECK")
    server.screen().root.change_property(check, Xatom.WINDOW, 32, [manager.id])
    server.sync()
    assert facts().compositor == "Mutter"
    manager.destroy()  # The property is left over, as after a crash.
    server.sync()
    assert facts().compositor == "unnamed"


def test_window_manager_alone_is_no_compositor(server):
    manager = own_window(server)
    name_in_utf8(server, manager, "twm")
    check = server.intern_atom("_NET_SUPPORTING_WM_CHECK")
    server.screen().root.change_property(check, Xatom.WINDOW, 32, [manager.id])
    server.sync()
    assert facts().compositor is None


def test_compositor_that_ends_is_gone(xvfb):
    with contextlib.closing(Display(xvfb.name)) as server:
        become_compositor(server, own_window(server))
        assert facts().compositor == "unnamed"
    assert facts().compositor is None


def test_xvfb_within_a_wayland_session_is_not_taken_for_xwayland(xvfb):
    assert facts(WAYLAND_DISPLAY="wayland-0", XDG_SESSION_TYPE="wayland").display_server == "X11"


# Xlib leaves the socket of a connection that failed to be closed with the exception.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_display_that_is_not_there_is_unknown(xvfb):
    for name in (":4711", "", "nonsense"):
        said = facts(DISPLAY=name, WAYLAND_DISPLAY="", XDG_SESSION_TYPE="x11")
        assert said == DisplayFacts("unknown", None, None, None, None)
