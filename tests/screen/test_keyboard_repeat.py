"""What the X server says of key repeat is what `xset` set, for all keys and for one."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator

import pytest
from Xlib import X, display

from ghostblitz_task.timing.keyboard_repeat import key_repeat, keys_that_repeat
from ghostblitz_task.timing.measured import RepeatFigures

pytestmark = pytest.mark.screen

S_KEY, D_KEY = 39, 40


@pytest.fixture
def server(xvfb) -> Iterator[display.Display]:
    # A server that nobody is connected to begins anew, and forgets what was set.
    server = display.Display()
    yield server
    server.close()


def set_rate(*, delay_ms: int, interval_ms: int) -> None:
    """Do what ``xset r rate`` does."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11"))
    x11.XOpenDisplay.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(x11.XOpenDisplay(None))
    core_keyboard = 0x0100
    assert x11.XkbSetAutoRepeatRate(connection, core_keyboard, delay_ms, interval_ms)
    x11.XCloseDisplay(connection)


def test_delay_and_interval_are_those_that_were_set(server):
    assert key_repeat() == RepeatFigures(0.66, 0.04, is_on=True)
    set_rate(delay_ms=3000, interval_ms=40)
    assert key_repeat() == RepeatFigures(3.0, 0.04, is_on=True)


def test_repeat_that_is_off_is_seen(server):
    server.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
    server.sync()
    assert key_repeat() == RepeatFigures(0.66, 0.04, is_on=False)


def test_key_that_is_excepted_is_told(server):
    assert keys_that_repeat([S_KEY, D_KEY]) == {S_KEY, D_KEY}
    server.change_keyboard_control(key=S_KEY, auto_repeat_mode=X.AutoRepeatModeOff)
    server.sync()
    assert keys_that_repeat([S_KEY, D_KEY]) == {D_KEY}
    assert key_repeat().is_on
