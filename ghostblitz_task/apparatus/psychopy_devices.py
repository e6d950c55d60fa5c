"""PsychoPy's keyboard and pointer as sources that hand over each event once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from ctypes import byref, c_char, c_int
from typing import Any, Protocol

from psychopy import logging as psychopy_logging
from psychopy.hardware import keyboard

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.keyboard_layout import keyboard_layout, labels_on_keys, lock_keys
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import ApparatusError

__all__ = ["KeySource", "PointerSource", "clock_s", "open_keys"]

# The operating system stamps key events in whole milliseconds or finer; what the keyboard
# itself needs before that (scanning, debouncing, USB polling) is not in it.
_STAMP_RESOLUTION_S = 0.001


class KeySource(Protocol):
    """A keyboard."""

    def attach(self, window: Any) -> None:
        """Listen to a window, where keys come from one."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Say what times the keys, for the header."""
        ...

    def labels(self) -> Mapping[str, str]:
        """Return what is printed on the keys, by name, as far as it is known."""
        ...

    def events(self) -> list[DeviceEvent]:
        """Return each press and release since the last call exactly once."""
        ...

    def dispatched(self, t_s: float) -> None:
        """Note that the window has handed over all its events until now."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


def open_keys(settings: ApparatusSettings) -> KeySource:
    """Open the keyboard with the backend of the settings.

    Raises
    ------
    ApparatusError
        If psychtoolbox is missing or sees no keyboard, or a backend that times keys by polling
        is asked for and not allowed.
    """
    if settings.key_backend == "event":
        if not settings.allow_polled_keys:
            raise ApparatusError(
                'key_backend = "event" stamps the time of polling, not of the key; set '
                "allow_polled_keys = true if that is meant (every trial will say so)"
            )
        return PolledKeys()
    return PtbKeys()


class PtbKeys:
    """PsychoPy's keyboard device on psychtoolbox, which stamps each key in its own thread.

    `Keyboard.getKeys` is not used: without waiting for releases it loses a press whose release
    came before the next poll, and with waiting it can hand over an earlier trial's press with a
    time on the new clock. The device's own responses hold every press as one object, which
    comes a second time when the key is released; each is recognised by its identity.
    """

    def __init__(self) -> None:
        if not keyboard.havePTB:
            raise ApparatusError(
                "psychtoolbox cannot be imported, so no key can be timed; install it again with "
                "PsychoPy"
            )
        self._device = keyboard.KeyboardDevice(backend="ptb")
        if self._device.getBackend() != "ptb":
            raise ApparatusError(
                f"the keyboard is already open with the {self._device.getBackend()} backend"
            )
        if not self._device._ids:
            raise ApparatusError("no keyboard was found")
        self._down: dict[int, Any] = {}
        # Keys that were down at the start and of which nothing was heard yet: keyboard and code.
        self._unheard: set[tuple[Any, int]] = set()
        self._device.clearEvents()
        self._down_at_start = self._find_down()

    def _find_down(self) -> list[str]:
        """Find the keys that are down already, whose presses nobody saw.

        PsychoPy drops a release for which it has no press; with these it hands it over.
        """
        names = []
        for number, buffer in self._device._buffers.items():
            _, _, is_down = buffer.dev.check()
            for place in is_down.flatten().nonzero()[0]:
                press = keyboard.KeyPress(code=int(place) + 1, tDown=0.0)  # Codes count from 1.
                self._device._keysStillDown.append(press)
                self._down[id(press)] = press
                self._unheard.add((number, int(place) + 1))
                names.append(str(press.name))
        return names

    def _drop_presses_before_start(self) -> None:
        """Leave out a press that was queued before its key was found down.

        That key is one that was down at the start; what comes first of any other is its release.
        """
        for number, buffer in self._device._buffers.items():
            buffer._flushEvts()
            kept = []
            for message in buffer._evts:
                key = (number, message["keycode"])
                if key in self._unheard:
                    self._unheard.remove(key)
                    if message["down"]:
                        continue
                kept.append(message)
            buffer._clearEvents()
            buffer._evts.extend(kept)

    def attach(self, window: Any) -> None:
        pass  # Keys come from the device, whichever window is in front.

    def describe(self) -> Mapping[str, Any]:
        return {
            "key_backend": "ptb",
            "key_time_source": "psychtoolbox event thread",
            "keys_polled": False,
            "n_keyboards": len(self._device._ids),
            # Psychtoolbox names a key by its place, as on a US keyboard, whatever is printed on it.
            "key_names": "places on a US keyboard",
            "keyboard_layout": keyboard_layout(),
            **lock_keys(),
            "keys_down_at_start": self._down_at_start,
        }

    def labels(self) -> Mapping[str, str]:
        return labels_on_keys(keyboard.keyNames)

    def events(self) -> list[DeviceEvent]:
        device = self._device
        if self._unheard:
            self._drop_presses_before_start()
        device.dispatchMessages()
        responses, device.responses = device.responses, []
        found = []
        # Presses are in `responses` or `_down` as long as their identities are looked at, so that
        # none can be another's that is gone.
        handled: set[int] = set()
        for press in responses:
            if id(press) in handled:
                continue  # Pressed and released between two calls: listed twice, seen at once.
            handled.add(id(press))
            if id(press) not in self._down:
                found.append(_key_event(press, "press", press.tDown))
                self._down[id(press)] = press
            if press.duration is not None:
                found.append(_key_event(press, "release", press.tDown + press.duration))
                del self._down[id(press)]
        return found

    def dispatched(self, t_s: float) -> None:
        pass

    def close(self) -> None:
        self._device.close()


def _key_event(press: Any, kind: Any, t_s: float) -> DeviceEvent:
    return DeviceEvent(
        t_s=float(t_s),
        device="keyboard",
        kind=kind,
        key=str(press.name),
        code=None if press.code is None else int(press.code),
        resolution_s=_STAMP_RESOLUTION_S,
    )


class PolledKeys:
    """Keys from the window's own events, stamped when they are dispatched, once per frame.

    A last resort that the settings must allow. (PsychoPy's own ``event`` backend returns key
    names as lists, so that no key list ever matches.)

    Under X the events are taken before pyglet makes its own of them: that names a key by what it
    types at the moment (``1`` is pressed and, with Shift, ``exclamation`` released), and lets
    the repeats of a held key through as releases and presses.
    """

    def __init__(self) -> None:
        self._found: list[DeviceEvent] = []
        self._last_dispatch_s = clock_s()
        self._x: _XKeys | None = None

    def attach(self, window: Any) -> None:
        """Listen to a window.

        Raises
        ------
        ApparatusError
            If it is on an X server that does not tell repeats from presses.
        """
        if sys.platform == "linux":
            self._x = _XKeys(window.winHandle, self._take)
            return
        window.winHandle.push_handlers(
            on_key_press=lambda symbol, _modifiers: self._take("press", symbol, symbol, 0.0),
            on_key_release=lambda symbol, _modifiers: self._take("release", symbol, symbol, 0.0),
        )

    def _take(self, kind: Any, symbol: int, code: int, unseen_s: float) -> None:
        """Keep an event that came since the last dispatch, or in a longer time without focus."""
        now_s = clock_s()
        resolution_s = max(now_s - self._last_dispatch_s, unseen_s)
        self._found.append(
            DeviceEvent(now_s, "keyboard", kind, _symbol_name(symbol), code, resolution_s)
        )

    def describe(self) -> Mapping[str, Any]:
        return {
            "key_backend": "event",
            "key_time_source": "time of polling",
            "keys_polled": True,
            "n_keyboards": None,
            "key_names": "as printed on the keys",
            "keyboard_layout": keyboard_layout(),
            **lock_keys(),
            "keys_down_at_start": None if self._x is None else self._x.down_at_start,
        }

    def labels(self) -> Mapping[str, str]:
        return {}

    def events(self) -> list[DeviceEvent]:
        found, self._found = self._found, []
        return found

    def dispatched(self, t_s: float) -> None:
        self._last_dispatch_s = t_s

    def close(self) -> None:
        self._found.clear()


def _symbol_name(symbol: int) -> str:
    from pyglet.window import key as pyglet_key

    return str(pyglet_key.symbol_string(symbol)).lower().lstrip("_")


# Keypad keys, which have their figure on the second level, whatever Num Lock says.
_KEYPAD = range(0xFF80, 0xFFBE)
# Where the state of a key event says which of several layouts is in use.
_LAYOUT_BIT, _LAYOUT_BITS = 13, 0b11
_N_KEYMAP_BYTES = 32


class _XKeys:
    """Presses and releases of hardware keys as X sends them to a window, each once.

    Parameters
    ----------
    handle : pyglet window
        Whose key events are taken.
    take : callable
        Called with kind, symbol, code, and for how long nothing was seen of the key.
    """

    def __init__(self, handle: Any, take: Callable[[Any, int, int, float], None]) -> None:
        from pyglet.libs.x11 import xlib
        from pyglet.window.xlib import XkbSetDetectableAutoRepeat

        self._xlib, self._server, self._take = xlib, handle._x_display, take
        self._symbol_of = xlib._lib.XkbKeycodeToKeysym
        self._symbol_of.restype = xlib.KeySym
        # With this a key that repeats is pressed again and again, and released once. pyglet asks
        # for it only on the first connection of a program, which need not be the window's.
        is_granted = c_int()
        XkbSetDetectableAutoRepeat(self._server, 1, byref(is_granted))
        if not is_granted.value:
            raise ApparatusError(
                "this X server does not tell the repeats of a held key from presses; set "
                'key_backend = "ptb"'
            )
        # Symbols by code, so that a key that comes up is the one that went down.
        self._down = {code: self._symbol(code, layout=0) for code in self._codes_down()}
        self.down_at_start = [_symbol_name(symbol) for symbol in self._down.values()]
        self._unfocused_s: float | None = None
        for handlers in (handle._event_handlers, handle._view_event_handlers):
            handlers[xlib.KeyPress] = handlers[xlib.KeyRelease] = self._on_key
        handle.push_handlers(on_activate=self._on_focus, on_deactivate=self._on_focus_lost)

    def _on_key(self, event: Any) -> None:
        code = int(event.xkey.keycode)
        if event.type == self._xlib.KeyPress:
            if code not in self._down:
                layout = event.xkey.state >> _LAYOUT_BIT & _LAYOUT_BITS
                self._down[code] = self._symbol(code, layout)
                self._take("press", self._down[code], code, 0.0)
        elif code in self._down:
            self._take("release", self._down.pop(code), code, 0.0)

    def _on_focus_lost(self) -> None:
        self._unfocused_s = clock_s()

    def _on_focus(self) -> None:
        """Report what came up while another window had the keys; it would stay down for ever."""
        if self._unfocused_s is None:
            return
        unseen_s, self._unfocused_s = clock_s() - self._unfocused_s, None
        for code in self._down.keys() - self._codes_down():
            self._take("release", self._down.pop(code), code, unseen_s)

    def _codes_down(self) -> set[int]:
        keymap = (c_char * _N_KEYMAP_BYTES)()
        self._xlib.XQueryKeymap(self._server, keymap)
        return {
            8 * place + bit
            for place, byte in enumerate(keymap.raw)
            for bit in range(8)
            if byte >> bit & 1
        }

    def _symbol(self, code: int, layout: int) -> int:
        """Return what is printed on a key, as far as pyglet has a name for it."""
        from pyglet.window import key as pyglet_key

        for group in (layout, 0):
            plain, shifted = (
                int(self._symbol_of(self._server, code, group, level)) for level in (0, 1)
            )
            symbol = shifted if shifted in _KEYPAD else plain
            if symbol in pyglet_key._key_names:
                return symbol
        return int(pyglet_key.user_key(code))


# pyglet gives buttons as bits; they are named by their number, left to right.
_BUTTONS = {1: "button-1", 2: "button-2", 4: "button-3"}


class PointerSource:
    """Mouse and touch presses; their times are those of dispatch, once per frame."""

    def __init__(
        self, window: Any, to_degrees: Callable[[float, float], tuple[float, float]]
    ) -> None:
        self._to_degrees = to_degrees
        self._found: list[DeviceEvent] = []
        self._last_dispatch_s = clock_s()
        window.winHandle.push_handlers(
            on_mouse_press=lambda x, y, button, _modifiers: self._take("press", x, y, button),
            on_mouse_release=lambda x, y, button, _modifiers: self._take("release", x, y, button),
        )

    def _take(self, kind: Any, x_px: float, y_px: float, button: int) -> None:
        now_s = clock_s()
        x_deg, y_deg = self._to_degrees(x_px, y_px)
        self._found.append(
            DeviceEvent(
                t_s=now_s,
                device="pointer",
                kind=kind,
                key=_BUTTONS.get(button, f"button-{button}"),
                code=button,
                resolution_s=now_s - self._last_dispatch_s,
                x_deg=x_deg,
                y_deg=y_deg,
            )
        )

    def dispatched(self, t_s: float) -> None:
        """Note that all events until now have been handed over."""
        self._last_dispatch_s = t_s

    def events(self) -> list[DeviceEvent]:
        """Return each press and release since the last call exactly once."""
        found, self._found = self._found, []
        return found


def clock_s() -> float:
    """Return the time on the clock that PsychoPy gives both flips and keys."""
    return float(psychopy_logging.defaultClock.getTime())
