"""What the session needs of a screen and a keyboard, real or simulated.

Simulation replaces the apparatus, never the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ghostblitz_task.screens import Screen

__all__ = ["Apparatus", "DeviceEvent", "Marker", "MarkerSink", "SentMarker"]


@dataclass(frozen=True, slots=True)
class DeviceEvent:
    """One press or release as a device reports it, with no meaning yet.

    Attributes
    ----------
    t_s : float
        Seconds on the session clock, which also times the flips.
    device : str
        ``keyboard``, ``button_box`` or ``pointer``.
    kind : str
        ``press`` or ``release``.
    key : str
        Name of the key (of the one that a pad's button stands for), or of the pointer button.
    code : int or None
        The key's code, which the layout does not change, or the button's.
    resolution_s : float
        The event happened at most this long before `t_s`.
    x_deg, y_deg : float or None
        Where the pointer was, from the centre, in degrees of visual angle.
    reports_release : bool
        Whether the device says when this key or button comes up; else it is not known to be down.
    """

    t_s: float
    device: Literal["keyboard", "button_box", "pointer"]
    kind: Literal["press", "release"]
    key: str
    code: int | None
    resolution_s: float
    x_deg: float | None = None
    y_deg: float | None = None
    reports_release: bool = True


@dataclass(frozen=True, slots=True)
class Marker:
    """What other recordings are told: that something was shown, done, begun or ended.

    Attributes
    ----------
    name : str
        A key of `MARKER_CODES`, for outputs that take a byte.
    label : str
        What it was, in parts divided by slashes, for outputs that take a text.
    t_s : float
        When that was, in seconds on the session clock: the flip, the device's time of the press.
    """

    name: str
    label: str
    t_s: float


@dataclass(frozen=True, slots=True)
class SentMarker:
    """A marker as it was sent.

    Attributes
    ----------
    code : int
        Its byte.
    sent_s : float
        When every output had been given it, in seconds on the session clock.
    failed : tuple of str
        The outputs that did not take it.
    """

    name: str
    label: str
    code: int
    t_s: float
    sent_s: float
    failed: tuple[str, ...] = ()


class MarkerSink(Protocol):
    """Where markers go; never raises once the session has begun."""

    def now_s(self) -> float:
        """Return the time on the session clock."""
        ...

    def send(self, marker: Marker) -> SentMarker:
        """Give a marker to every output at once, and say how that went."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Say what the outputs are, for the header."""
        ...

    def report(self) -> Mapping[str, Any]:
        """Say how all of it went, for the log's last record."""
        ...


class Apparatus(Protocol):
    """A screen that flips and devices that report events, on one clock."""

    @property
    def refresh_hz(self) -> float:
        """Frames per second, measured (or kept, where flips do not wait for the screen)."""
        ...

    @property
    def markers(self) -> MarkerSink | None:
        """Where markers go; None where the settings name no output."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Say what this is, for the header; includes ``display_synchronised``."""
        ...

    def key_labels(self) -> Mapping[str, str]:
        """Return what is printed on the keys of this keyboard, by name, as far as it is known."""
        ...

    def prepare(self, screens: Iterable[Screen]) -> None:
        """Render all that these screens need, so that `present` only draws."""
        ...

    def present(self, screen: Screen) -> float:
        """Show a screen at the next frame and return the time of its flip, in seconds."""
        ...

    def events(self) -> list[DeviceEvent]:
        """Return each event since the last call exactly once, by time."""
        ...

    def between_trials(self) -> None:
        """Do what must not happen while a response is awaited."""
        ...

    def close(self) -> None:
        """Give screen and keyboard back."""
        ...
