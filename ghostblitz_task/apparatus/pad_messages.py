"""What a response pad sends, as presses and releases of its buttons; pure, so it can be tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import PadSettings

__all__ = ["ButtonChange", "ByteReader", "PadKeys", "byte_reader", "byte_times_s", "pad_latency_s"]

# A start bit, eight data bits and a stop bit.
_BITS_PER_BYTE = 10
_BUTTONS_IN_A_STATE = 8

# Once a byte has reached the system, what it needs to wake a thread that waits for it.
_WAKING_S = 0.001


@dataclass(frozen=True, slots=True)
class ButtonChange:
    """A button that went down or came up.

    Attributes
    ----------
    button : str
        As in the settings: a character, or a number.
    code : int or None
        The byte that the button sends as it goes down, or its number.
    kind : str
        ``press`` or ``release``.
    reports_release : bool
        Whether the pad says when this button comes up.
    """

    button: str
    code: int | None
    kind: Literal["press", "release"]
    reports_release: bool


class ByteReader(Protocol):
    """Knows what the bytes of a pad mean."""

    def read(self, byte: int) -> tuple[ButtonChange, ...]:
        """Return the changes that a byte tells of."""
        ...


class _CharacterReader:
    """One character for each press, and for each release where there are such."""

    def __init__(self, settings: PadSettings) -> None:
        with_release = set(settings.releases.values())
        self._changes = {
            ord(button): ButtonChange(button, ord(button), "press", button in with_release)
            for button in settings.buttons
        } | {
            ord(released): ButtonChange(pressed, ord(pressed), "release", True)
            for released, pressed in settings.releases.items()
        }

    def read(self, byte: int) -> tuple[ButtonChange, ...]:
        known = self._changes.get(byte)
        if known is not None:
            return (known,)
        character = chr(byte)
        printed = character if 0x20 < byte < 0x7F else f"0x{byte:02x}"
        return (ButtonChange(printed, byte, "press", False),)


class _StateReader:
    """A byte whose bits are the buttons that are down; none is before the first byte."""

    def __init__(self) -> None:
        self._down = 0

    def read(self, byte: int) -> tuple[ButtonChange, ...]:
        changed, self._down = self._down ^ byte, byte
        return tuple(
            ButtonChange(str(n), n, "press" if byte >> n & 1 else "release", True)
            for n in range(_BUTTONS_IN_A_STATE)
            if changed >> n & 1
        )


def byte_reader(settings: PadSettings) -> ByteReader:
    """Return what reads the bytes of a pad with these settings."""
    return _StateReader() if settings.protocol == "state" else _CharacterReader(settings)


def byte_times_s(n_bytes: int, *, read_s: float, after_s: float, baud: int) -> list[float]:
    """Return when each of some bytes came that were read together.

    On a line they are one after the other, so that all but the last came before they were read;
    an adapter without a line of its own may be quicker, but none came before those read earlier.

    Parameters
    ----------
    n_bytes : int
        How many there are.
    read_s, after_s : float
        When they were read, and when the ones before them were.
    baud : int
        Bits per second on the line.
    """
    spacing_s = min(_BITS_PER_BYTE / baud, (read_s - after_s) / n_bytes)
    return [read_s - n_later * spacing_s for n_later in range(n_bytes - 1, -1, -1)]


def pad_latency_s(baud: int, adapter_latency_s: float) -> float:
    """Return how long before its stamp a button may have changed, by what is known of the way.

    Parameters
    ----------
    baud : int
        Bits per second on the line.
    adapter_latency_s : float
        How long an adapter between line and computer may keep a byte back.

    Notes
    -----
    What the pad itself needs before it sends (scanning, debouncing) is not in it.
    """
    return _BITS_PER_BYTE / baud + adapter_latency_s + _WAKING_S


class PadKeys:
    """Gives the buttons of a pad the keys of the study that they stand for.

    Parameters
    ----------
    number : int
        Which pad it is, from 1; names the buttons that stand for no key, as in ``pad-1:x``.
    buttons : mapping of str to str
        The key of each button.
    """

    def __init__(self, number: int, buttons: Mapping[str, str]) -> None:
        self._number = number
        self._buttons = buttons

    def event(self, change: ButtonChange, *, t_s: float, resolution_s: float) -> DeviceEvent:
        """Return a change as an event, at most `resolution_s` after it happened."""
        return DeviceEvent(
            t_s=t_s,
            device="button_box",
            kind=change.kind,
            key=self._buttons.get(change.button, f"pad-{self._number}:{change.button}"),
            code=change.code,
            resolution_s=resolution_s,
            reports_release=change.reports_release,
        )
