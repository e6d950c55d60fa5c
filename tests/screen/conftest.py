"""Real windows under Xvfb, real key events; each session is a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display


@pytest.fixture
def xvfb() -> Iterator[VirtualDisplay]:
    with virtual_display() as display:
        yield display


# Elsewhere there is neither Xvfb nor the library that presses the keys.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]
