"""Real windows under Xvfb, real key events; each session is a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display


@pytest.fixture
def xvfb() -> Iterator[VirtualDisplay]:
    with virtual_display() as display:
        yield display
