"""Whether and when the X server repeats a key that is held."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Iterable
from typing import Any

from ghostblitz_task.timing.measured import RepeatFigures

__all__ = ["key_repeat", "keys_that_repeat"]

# "The device that the core keyboard is", in the X Keyboard extension's library.
_CORE_KEYBOARD = 0x0100


def key_repeat() -> RepeatFigures | str:
    """Ask the X server of this session how it repeats keys, or say why it cannot be known.

    python-xlib does not speak the X Keyboard extension, so that X's own library is asked.
    """
    if sys.platform != "linux":
        return "only an X server is asked for its key repeat"
    found = ctypes.util.find_library("X11")
    if found is None:
        return "the library libX11 was not found"
    x11 = ctypes.CDLL(found)
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    x11.XkbGetAutoRepeatRate.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint,
        ctypes.POINTER(ctypes.c_uint),
        ctypes.POINTER(ctypes.c_uint),
    ]
    display = x11.XOpenDisplay(None)
    if not display:
        return "there is no X display"
    try:
        delay_ms, interval_ms = ctypes.c_uint(), ctypes.c_uint()
        if not x11.XkbGetAutoRepeatRate(
            display, _CORE_KEYBOARD, ctypes.byref(delay_ms), ctypes.byref(interval_ms)
        ):
            return "the X server does not say when it repeats keys"
    finally:
        x11.XCloseDisplay(display)
    is_on = bool(_keyboard_control().global_auto_repeat)
    return RepeatFigures(delay_ms.value / 1000, interval_ms.value / 1000, is_on=is_on)


def keys_that_repeat(codes: Iterable[int]) -> set[int]:
    """Return the codes of those keys that the X server repeats one by one, where it repeats any.

    Each key has a switch of its own beside the one for all of them (``xset -r 39``).
    """
    repeats = _keyboard_control().auto_repeats
    return {code for code in codes if repeats[code // 8] >> code % 8 & 1}


def _keyboard_control() -> Any:
    from Xlib.display import Display  # late: it is there on Linux only

    server = Display()
    try:
        return server.get_keyboard_control()
    finally:
        server.close()
