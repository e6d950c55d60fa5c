"""How the robot sees: one pixel of the square in the corner, as often as it can.

Xvfb started with ``-fbdir`` keeps its picture in a file that is read here directly, without
asking the server; on other displays the pixel comes through the X server's shared memory.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, Literal, Protocol

from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.virtual_display import picture_layout

__all__ = ["WINDOW_NAME", "FileWatcher", "ServerWatcher", "Sight", "Watcher", "sight_of"]

#: The name that PsychoPy's windows carry.
WINDOW_NAME = "PsychoPy"

Sight = Literal["off", "card", "waiting", "waiting-next"]

# Halfway between the tones that the patch can have (0, 96, 160, 255).
_LEVELS: tuple[tuple[int, Sight], ...] = ((48, "off"), (128, "waiting"), (208, "waiting-next"))


def sight_of(level: int) -> Sight:
    """Say what a grey level (0 to 255) of the patch means."""
    for limit, sight in _LEVELS:
        if level < limit:
            return sight
    return "card"


class Watcher(Protocol):
    """Looks at one pixel."""

    def look(self) -> Sight:
        """Return what the patch shows now."""
        ...

    def close(self) -> None:
        """Stop looking."""
        ...


class FileWatcher:
    """Reads a pixel from the file that is Xvfb's picture.

    Raises
    ------
    ApparatusError
        If the file is no 32-bit XWD picture, or the pixel lies outside it.
    """

    def __init__(self, picture: Path, x_px: int, y_px: int) -> None:
        with open(picture, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        layout = picture_layout(self._map[:100])
        if not (0 <= x_px < layout.width_px and 0 <= y_px < layout.height_px):
            raise ApparatusError(f"{picture}: pixel {x_px}, {y_px} lies outside")
        # The patch is grey: any byte of its pixel will do; the second is green.
        self._place = layout.start + y_px * layout.bytes_per_line + 4 * x_px + 1

    def look(self) -> Sight:
        return sight_of(self._map[self._place])

    def close(self) -> None:
        self._map.close()


class ServerWatcher:
    """Reads a pixel through the X server, by shared memory where it has that."""

    def __init__(self, x_px: int, y_px: int) -> None:
        import mss

        self._screen: Any = mss.MSS()
        self._place = {"left": x_px, "top": y_px, "width": 1, "height": 1}

    def look(self) -> Sight:
        return sight_of(self._screen.grab(self._place).pixel(0, 0)[1])

    def close(self) -> None:
        self._screen.close()
