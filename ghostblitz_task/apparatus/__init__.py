"""What the session needs of a screen and a keyboard, real or simulated.

Simulation replaces the apparatus, never the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ghostblitz_task.screens import Screen

__all__ = ["Apparatus", "DeviceEvent"]


@dataclass(frozen=True, slots=True)
class DeviceEvent:
    """One press or release as a device reports it, with no meaning yet.

    Attributes
    ----------
    t_s : float
        Seconds on the session clock, which also times the flips.
    device : str
        ``keyboard`` or ``pointer``.
    kind : str
        ``press`` or ``release``.
    key : str
        Name of the key on the layout in use, or of the pointer button.
    code : int or None
        The key's code, which the layout does not change.
    resolution_s : float
        The event happened at most this long before `t_s`.
    x_deg, y_deg : float or None
        Where the pointer was, from the centre, in degrees of visual angle.
    """

    t_s: float
    device: Literal["keyboard", "pointer"]
    kind: Literal["press", "release"]
    key: str
    code: int | None
    resolution_s: float
    x_deg: float | None = None
    y_deg: float | None = None


class Apparatus(Protocol):
    """A screen that flips and devices that report events, on one clock."""

    @property
    def refresh_hz(self) -> float:
        """Frames per second, measured (or kept, where flips do not wait for the screen)."""
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
