"""The robot's two ways of seeing agree: the file that is Xvfb's picture, and the X server."""

from __future__ import annotations

import pytest
from Xlib import display

from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.robot.watching import FileWatcher, ServerWatcher, sight_of

pytestmark = pytest.mark.screen


@pytest.mark.parametrize(
    ("level", "sight"), [(0, "off"), (96, "waiting"), (160, "waiting-next"), (255, "card")]
)
def test_both_watchers_see_each_tone_of_the_patch(xvfb, level, sight):
    server = display.Display()
    screen = server.screen()
    window = screen.root.create_window(
        0, 0, 100, 100, 0, screen.root_depth, background_pixel=level * 0x010101, event_mask=0
    )
    window.change_attributes(override_redirect=True)
    window.map()
    server.sync()
    window.clear_area()
    server.sync()
    watchers = FileWatcher(xvfb.picture, 50, 50), ServerWatcher(50, 50)
    # The file is memory that the server draws in; asking the server first makes it finish.
    seen = [watchers[1].look(), watchers[0].look()]
    for watcher in watchers:
        watcher.close()
    server.close()
    assert seen == [sight, sight]


@pytest.mark.parametrize(
    ("level", "sight"),
    [(47, "off"), (48, "waiting"), (127, "waiting"), (128, "waiting-next"), (208, "card")],
)
def test_levels_are_told_apart_halfway(level, sight):
    assert sight_of(level) == sight


def test_pixel_outside_the_picture_is_refused(xvfb):
    with pytest.raises(ApparatusError, match="pixel 5000, 5 lies outside"):
        FileWatcher(xvfb.picture, 5000, 5)
