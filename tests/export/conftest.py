"""What all tests of exports stand under."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick_figures(quick_figures: None) -> None:
    """Whole exports hold results with all their figures."""
