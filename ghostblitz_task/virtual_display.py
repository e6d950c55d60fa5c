"""A virtual X screen (Xvfb), for the robot's demo and the tests; not for people.

Its picture is a file in shared memory that can be read without asking the server.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ghostblitz_task.errors import ApparatusError

__all__ = ["PictureLayout", "VirtualDisplay", "picture_layout", "virtual_display"]

_START_TIMEOUT_S = 20.0


# The XWD file header: 25 big-endian 32-bit words, then the window's name, then 12-byte colours.
_HEADER_WORDS, _COLOUR_BYTES = 25, 12
_HEADER_SIZE, _WIDTH, _HEIGHT, _BITS_PER_PIXEL, _BYTES_PER_LINE, _N_COLOURS = 0, 4, 5, 11, 12, 19


@dataclass(frozen=True, slots=True)
class VirtualDisplay:
    """A running Xvfb: its display name, and the file that is its picture (XWD)."""

    name: str
    picture: Path

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return what the display shows now: (height, width, 3), red, green, blue."""
        data = self.picture.read_bytes()
        layout = picture_layout(data)
        lines = np.frombuffer(
            data, np.uint8, count=layout.bytes_per_line * layout.height_px, offset=layout.start
        ).reshape(layout.height_px, layout.bytes_per_line)
        return lines.reshape(layout.height_px, -1, 4)[:, : layout.width_px, 2::-1].copy()


@dataclass(frozen=True, slots=True)
class PictureLayout:
    """Where the pixels of an XWD picture stand: four bytes each, blue first."""

    start: int
    width_px: int
    height_px: int
    bytes_per_line: int


def picture_layout(head: bytes) -> PictureLayout:
    """Read the header of an XWD picture.

    Raises
    ------
    ApparatusError
        If its pixels do not have 32 bits.
    """
    words = struct.unpack(f">{_HEADER_WORDS}I", head[: 4 * _HEADER_WORDS])
    if words[_BITS_PER_PIXEL] != 32:
        raise ApparatusError(f"the display has {words[_BITS_PER_PIXEL]} bits per pixel, not 32")
    start = words[_HEADER_SIZE] + _COLOUR_BYTES * words[_N_COLOURS]
    return PictureLayout(start, words[_WIDTH], words[_HEIGHT], words[_BYTES_PER_LINE])


@contextmanager
def virtual_display(size_px: tuple[int, int] = (1280, 720)) -> Iterator[VirtualDisplay]:
    """Start Xvfb, make it this process's display, and stop it at the end.

    Raises
    ------
    ApparatusError
        If Xvfb is not installed or does not start.
    """
    if shutil.which("Xvfb") is None:
        raise ApparatusError("there is no display and no Xvfb; install Xvfb (Debian: xvfb)")
    with tempfile.TemporaryDirectory(prefix="ghostblitz-xvfb-") as folder:
        server, name = _start(Path(folder), size_px)
        before = os.environ.get("DISPLAY")
        os.environ["DISPLAY"] = name
        try:
            yield VirtualDisplay(name, Path(folder) / "Xvfb_screen0")
        finally:
            if before is None:
                del os.environ["DISPLAY"]
            else:
                os.environ["DISPLAY"] = before
            server.terminate()
            server.wait()


def _start(folder: Path, size_px: tuple[int, int]) -> tuple[subprocess.Popen[bytes], str]:
    read_end, write_end = os.pipe()
    with open(folder / "Xvfb.log", "wb") as messages:
        server = subprocess.Popen(
            [
                "Xvfb",
                "-displayfd",
                str(write_end),
                "-screen",
                "0",
                f"{size_px[0]}x{size_px[1]}x24",
                "-fbdir",
                str(folder),
                "-nolisten",
                "tcp",
                "-noreset",  # keep keyboard layout and picture when the last client goes
            ],
            pass_fds=[write_end],
            stdout=messages,
            stderr=messages,
        )
    os.close(write_end)
    # Xvfb writes its number when it accepts clients, or closes the pipe by ending.
    with os.fdopen(read_end, "rb") as pipe:
        number = pipe.readline().strip().decode()
    if not number:
        server.wait(timeout=_START_TIMEOUT_S)
        message = (folder / "Xvfb.log").read_text(errors="replace").strip().splitlines()
        raise ApparatusError(f"Xvfb did not start: {message[-1] if message else 'no message'}")
    return server, f":{number}"
