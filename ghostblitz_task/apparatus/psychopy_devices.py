"""PsychoPy's keyboard and pointer as sources that hand over each event once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        self._device.clearEvents()
        self._down_at_start = self._find_down()

    def _find_down(self) -> list[str]:
        """Find the keys that are down already, whose presses nobody saw.

        PsychoPy drops a release for which it has no press; with these it hands it over.
        """
        names = []
        for buffer in self._device._buffers.values():
            _, _, is_down = buffer.dev.check()
            for place in is_down.flatten().nonzero()[0]:
                press = keyboard.KeyPress(code=int(place) + 1, tDown=0.0)  # Codes count from 1.
                self._device._keysStillDown.append(press)
                self._down[id(press)] = press
                names.append(str(press.name))
        return names

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
    """

    def __init__(self) -> None:
        self._found: list[DeviceEvent] = []
        self._last_dispatch_s = clock_s()

    def attach(self, window: Any) -> None:
        """Listen to a window."""
        window.winHandle.push_handlers(
            on_key_press=lambda symbol, _modifiers: self._take("press", symbol),
            on_key_release=lambda symbol, _modifiers: self._take("release", symbol),
        )

    def _take(self, kind: Any, symbol: int) -> None:
        from pyglet.window import key as pyglet_key

        now_s = clock_s()
        name = pyglet_key.symbol_string(symbol).lower().lstrip("_")
        resolution_s = now_s - self._last_dispatch_s
        self._found.append(DeviceEvent(now_s, "keyboard", kind, name, symbol, resolution_s))

    def describe(self) -> Mapping[str, Any]:
        return {
            "key_backend": "event",
            "key_time_source": "time of polling",
            "keys_polled": True,
            "n_keyboards": None,
            "key_names": "as printed on the keys",
            "keyboard_layout": keyboard_layout(),
            **lock_keys(),
            "keys_down_at_start": None,
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
