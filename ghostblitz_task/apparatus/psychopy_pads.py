"""Button boxes and serial response pads, through the device classes of PsychoPy."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from psychopy import logging as psychopy_logging
from psychopy.hardware.button import BaseButtonGroup
from psychopy.hardware.exceptions import DeviceNotConnectedError, ManagedDeviceError
from psychopy.hardware.serialdevice import SerialDevice
from serial import SerialException
from serial.tools import list_ports

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.pad_messages import (
    ButtonChange,
    PadKeys,
    byte_reader,
    byte_times_s,
    pad_latency_s,
)
from ghostblitz_task.apparatus.process_priority import ProcessPriority
from ghostblitz_task.apparatus.psychopy_devices import clock_s
from ghostblitz_task.apparatus_settings import ApparatusSettings, PadSettings
from ghostblitz_task.errors import ApparatusError

__all__ = ["PadSource", "open_pads"]

# A thread that holds Python's lock is asked for it after this long. By itself it is 5 ms: so much
# late each stamp came beside a main thread that was busy all the time (now 0.4 ms).
_SWITCH_INTERVAL_S = 0.0002
# How long adapters of the most common make keep a byte back unless they are told otherwise.
_COMMON_ADAPTER_LATENCY_S = 0.016
_END_TIMEOUT_S = 1.0
# PsychoPy derives these from BaseException, so that no `except Exception` sees them.
_DEVICE_ERRORS = (Exception, DeviceNotConnectedError, ManagedDeviceError)

Result = TypeVar("Result")


class PadSource(Protocol):
    """A button box or response pad."""

    def describe(self) -> Mapping[str, Any]:
        """Say what it is and what times its buttons, for the header."""
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


def open_pads(settings: ApparatusSettings) -> list[PadSource]:
    """Open the pads of the settings, all of them or none.

    Raises
    ------
    ApparatusError
        If a port cannot be opened, a device class cannot be had, or a pad would be timed by
        polling and the settings do not allow that.
    """
    with contextlib.ExitStack() as opened:
        pads: list[PadSource] = []
        for number, pad_settings in enumerate(settings.response_pads, start=1):
            pad: PadSource
            if pad_settings.kind == "serial":
                pad = SerialPad(pad_settings, number, settings.raise_priority)
            else:
                pad = ButtonGroupPad(pad_settings, number, settings.allow_polled_keys)
            opened.callback(pad.close)
            pads.append(pad)
        opened.pop_all()
    return pads


class SerialPad:
    """A pad on a serial port, read by a thread that waits for its bytes and stamps each.

    Parameters
    ----------
    settings : PadSettings
        Of kind ``serial``.
    number : int
        Which pad it is, from 1.
    raise_priority : bool
        Whether the thread is to run before other programs, where the system allows that.
    """

    def __init__(self, settings: PadSettings, number: int, raise_priority: bool) -> None:
        assert settings.port is not None
        self._settings = settings
        self._port = settings.port
        # PsychoPy's device closes its port as soon as nobody holds the device.
        self._device = _open_port(settings)
        self._line = self._device.com
        self._adapter_latency_s = _adapter_latency_s(self._line)
        self._resolution_s = pad_latency_s(
            settings.baud,
            _COMMON_ADAPTER_LATENCY_S
            if self._adapter_latency_s is None
            else self._adapter_latency_s,
        )
        self._messages = byte_reader(settings)
        self._keys = PadKeys(number, settings.buttons)
        self._arrived: deque[tuple[float, bytes]] = deque()
        self._latest_s = clock_s()
        self._failure: str | None = None
        self._closing = False
        self._raise_priority = raise_priority
        self._switch_interval_s = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch_interval_s, _SWITCH_INTERVAL_S))
        self._thread = threading.Thread(target=self._listen, name=f"pad-{number}", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        """Take bytes from the port until it fails or is closed; runs in its own thread."""
        if self._raise_priority:
            # Of this thread alone, under Linux; elsewhere the window raised the whole process.
            ProcessPriority(lambda _wanted: False)
        line, now_s, arrived = self._line, psychopy_logging.defaultClock.getTime, self._arrived
        try:
            while not self._closing:
                got = line.read(1)
                t_s = now_s()
                if not got:
                    continue
                more = line.read(line.in_waiting)
                if more:
                    t_s = now_s()  # These came since: none is stamped before it was there.
                arrived.append((t_s, got + more))
        # Besides its own errors, pyserial lets those of a port that vanishes under it through.
        except (SerialException, OSError, TypeError, ValueError) as error:
            self._failure = str(error)

    def describe(self) -> Mapping[str, Any]:
        return {
            "kind": "serial",
            "port": self._port,
            "baud": self._settings.baud,
            "protocol": self._settings.protocol,
            "time_source": "reading thread, as each byte arrives",
            "polled": False,
            "resolution_s": self._resolution_s,
            "adapter_latency_s": self._adapter_latency_s,
        }

    def events(self) -> list[DeviceEvent]:
        failure = self._failure  # Looked at first: what came before it is handed over before it.
        if not self._arrived:
            if failure is not None:
                raise ApparatusError(
                    f"the response pad at {self._port} cannot be read any more "
                    f"({failure}); see that it is plugged in, and resume the session"
                )
            return []
        found = []
        while self._arrived:
            read_s, data = self._arrived.popleft()
            times_s = byte_times_s(
                len(data), read_s=read_s, after_s=self._latest_s, baud=self._settings.baud
            )
            for byte, t_s in zip(data, times_s, strict=True):
                found += [
                    self._keys.event(change, t_s=t_s, resolution_s=self._resolution_s)
                    for change in self._messages.read(byte)
                ]
            self._latest_s = read_s
        return found

    def dispatched(self, t_s: float) -> None:
        pass  # Its bytes do not come through the window.

    def close(self) -> None:
        self._closing = True
        with contextlib.suppress(AttributeError, OSError, TypeError):
            self._line.cancel_read()
        self._thread.join(_END_TIMEOUT_S)
        with contextlib.suppress(OSError):
            self._device.close()
        sys.setswitchinterval(self._switch_interval_s)


def _open_port(settings: PadSettings) -> Any:
    """Open a port for this program alone (PsychoPy empties it); return PsychoPy's device."""
    device = None
    try:
        # Without a pause it need not sleep while it looks whether the device is awake.
        device = SerialDevice(port=settings.port, baudrate=settings.baud, pauseDuration=0)
        line = device.com
        if sys.platform != "win32":
            line.exclusive = True  # As it is under Windows anyway.
        line.timeout = None
    except (DeviceNotConnectedError, SerialException, OSError, ValueError) as error:
        if device is not None:
            device.close()
        there = sorted(port.device for port in list_ports.comports())
        raise ApparatusError(
            f"response_pads: serial port {settings.port} cannot be opened with {settings.baud} "
            "baud; it is not there, another program has it, or you may not use it (under Linux: "
            f"group dialout). Ports here: {', '.join(there) or 'none'}"
        ) from error
    return device


def _adapter_latency_s(line: Any) -> float | None:
    """Ask a USB adapter to pass bytes on at once; return how long it keeps them, if known."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(ValueError, OSError):
        line.set_low_latency_mode(True)
    return _stated_latency_s(Path("/sys/class/tty") / Path(line.port).resolve().name / "device")


def _stated_latency_s(device: Path) -> float | None:
    """Return what Linux says of the device behind a port: 0 only where there is no adapter."""
    try:
        return int((device / "latency_timer").read_text(encoding="ascii")) / 1000
    except FileNotFoundError:
        # Other makes of adapters say nothing; a board's own port or a pad that is itself on the
        # USB has none. Without a device (a pseudo-terminal, a network) nothing is known.
        bus = device / "subsystem"
        return 0.0 if bus.exists() and bus.resolve().name != "usb-serial" else None
    except (OSError, ValueError):
        return None


class ButtonGroupPad:
    """A button box of one of PsychoPy's classes, or of its plugins.

    When a button changed is taken to be when the class was asked, since its own times are on
    clocks that differ from class to class; what it can be wrong by stands with every event.

    Parameters
    ----------
    settings : PadSettings
        Of kind ``psychopy``.
    number : int
        Which pad it is, from 1.
    polling_allowed : bool
        Whether the settings allow devices that are timed by polling.
    """

    def __init__(self, settings: PadSettings, number: int, polling_allowed: bool) -> None:
        self._settings = settings
        device_class = _button_class(str(settings.device_class))
        if not polling_allowed:
            raise ApparatusError(
                f"response_pads: of {settings.device_class} it is not known what its times mean, "
                "so its buttons are timed by polling, once a frame; set allow_polled_keys = true "
                "if that is meant (every trial will say so)"
            )
        self._device = self._asked(
            lambda: device_class(**settings.device_arguments),
            "cannot be opened with these device_arguments",
        )
        self._keys = PadKeys(number, settings.buttons)
        self._asked_s = clock_s()

    def _asked(self, question: Callable[[], Result], failure: str) -> Result:
        try:
            return question()
        except _DEVICE_ERRORS as error:  # A plugin's own code may raise anything.
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ApparatusError(
                f"response_pads: {self._settings.device_class} {failure}: {reason}"
            ) from error

    def describe(self) -> Mapping[str, Any]:
        return {
            "kind": "psychopy",
            "device_class": self._settings.device_class,
            "time_source": "time of polling",
            "polled": True,
        }

    def events(self) -> list[DeviceEvent]:
        self._asked(self._device.dispatchMessages, "cannot be read any more")
        now_s = clock_s()
        resolution_s, self._asked_s = now_s - self._asked_s, now_s
        responses = self._device.responses
        # The list itself stays, as a thread of the device may be adding to it.
        taken = responses[:]
        del responses[: len(taken)]
        return [
            self._keys.event(self._change(response), t_s=now_s, resolution_s=resolution_s)
            for response in taken
        ]

    def _change(self, response: Any) -> ButtonChange:
        channel = response.channel
        return ButtonChange(
            button=str(channel),
            code=channel if isinstance(channel, int) else None,
            kind="press" if response.value else "release",
            reports_release=self._settings.device_reports_releases,
        )

    def dispatched(self, t_s: float) -> None:
        pass  # It is asked for by itself.

    def close(self) -> None:
        close = getattr(self._device, "close", None)
        if close is not None:
            with contextlib.suppress(*_DEVICE_ERRORS):  # It may be gone already.
                close()


def _button_class(name: str) -> Callable[..., Any]:
    module_name, _, class_name = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ApparatusError(
            f"response_pads: there is no device class {name} ({error}); install the plugin that "
            "has it, and name it with its module, as in psychopy.hardware.button.KeyboardButtonBox"
        ) from error
    if not (isinstance(found, type) and issubclass(found, BaseButtonGroup)):
        raise ApparatusError(
            f"response_pads: {name} is no button box of PsychoPy (no BaseButtonGroup)"
        )
    return found
