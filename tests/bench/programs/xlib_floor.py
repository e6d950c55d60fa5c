"""The rig's floor: the least that a program on this X server can do.

A copy from server memory and a filled rectangle, a round trip to the server, and the clock; keys
are stamped as the blocking wait for the connection returns. Nothing is drawn while it waits.
"""

from __future__ import annotations

import select
import time
from typing import Any

from block_file import Block, read_block
from PIL import Image
from Xlib import XK, X, display


class Floor:
    def __init__(self, block: Block) -> None:
        self.block = block
        self.server = display.Display()
        screen = self.server.screen()
        width_px, height_px = block.window_px
        self.window = screen.root.create_window(
            0,
            0,
            width_px,
            height_px,
            0,
            screen.root_depth,
            background_pixel=0x808080,
            event_mask=X.KeyPressMask | X.ExposureMask,
        )
        self.window.map()
        self.white = self.window.create_gc(foreground=0xFFFFFF)
        self.black = self.window.create_gc(foreground=0x000000)
        self.codes = {
            self.server.keysym_to_keycode(XK.string_to_keysym(key)): key for key in block.keys
        }
        self.cards = {trial["card"]: self._upload(trial["card"]) for trial in block.trials}

    def _upload(self, path: str) -> tuple[Any, int, int]:
        with Image.open(path) as image:
            pixels = image.convert("RGB")
        pixmap = self.window.create_pixmap(*pixels.size, self.server.screen().root_depth)
        pixmap.put_pil_image(self.white, 0, 0, pixels)
        return pixmap, *pixels.size

    def patch(self, gc: Any) -> None:
        side_px = self.block.patch_px
        self.window.fill_rectangle(gc, 0, self.block.window_px[1] - side_px, side_px, side_px)

    def show_nothing(self) -> None:
        # All but the patch's rows: there is no back buffer, so the robot would see its ground.
        width_px, height_px = self.block.window_px
        self.window.clear_area(0, 0, width_px, height_px - self.block.patch_px)
        self.patch(self.black)
        self.server.sync()

    def show_card(self, path: str) -> float:
        pixmap, width_px, height_px = self.cards[path]
        window_px = self.block.window_px
        x_px, y_px = (window_px[0] - width_px) // 2, (window_px[1] - height_px) // 2
        self.window.copy_area(self.white, pixmap, 0, 0, width_px, height_px, x_px, y_px)
        self.patch(self.white)
        self.server.sync()
        return time.monotonic()

    def key(self, *, until_s: float) -> tuple[str | None, float]:
        """Wait for one of the keys, and return it with its time."""
        while (left_s := until_s - time.monotonic()) > 0:
            if not self.server.pending_events():
                select.select([self.server.fileno()], [], [], left_s)
            now_s = time.monotonic()
            while self.server.pending_events():
                event = self.server.next_event()
                if event.type == X.KeyPress and event.detail in self.codes:
                    return self.codes[event.detail], now_s
        return None, until_s

    def trial(self, trial: dict[str, Any]) -> tuple[str | None, float | None]:
        time.sleep(trial["foreperiod_s"])
        while self.server.pending_events():
            self.server.next_event()
        onset_s = self.show_card(trial["card"])
        key, key_s = self.key(until_s=onset_s + self.block.deadline_s)
        self.show_nothing()
        time.sleep(self.block.interval_s)
        return key, None if key is None else key_s - onset_s


def main() -> None:
    block = read_block()
    floor = Floor(block)
    time.sleep(0.3)  # until the window is there
    floor.show_nothing()
    block.say_ready()
    block.give_back([floor.trial(trial) for trial in block.trials])


if __name__ == "__main__":
    main()
