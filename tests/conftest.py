"""What every test stands under: no global randomness, and the shared folder where there is one."""

from __future__ import annotations

import gc
import json
import os
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import rich.style  # noqa: F401 - draws a number as it is imported, which would be some test's
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# The modules beside the tests that are not tests: a study to run, and an apparatus to script.
sys.path.insert(0, str(ROOT / "tests" / "task"))


# How long an example takes says more of the machine than of the code.
settings.register_profile("ghostblitz", deadline=None)
settings.load_profile("ghostblitz")


def _global_states() -> tuple[object, bytes, int]:
    name, keys, place, *_ = np.random.get_state()  # noqa: NPY002 - only looked at
    assert name == "MT19937"
    return random.getstate(), keys.tobytes(), place


@pytest.fixture(autouse=True)
def _no_global_randomness() -> Iterator[None]:
    """Fail a test that draws from, or seeds, the random state that all code shares."""
    before = _global_states()
    yield
    if _global_states() != before:
        pytest.fail("the test touched the global random state; pass a Generator named rng")


def _shared_folder() -> Path:
    return Path(os.environ.get("GHOSTBLITZ_SHARED") or ROOT.parent / "shared")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of vectors and published data beside the repository; where CI is, it must be."""
    folder = _shared_folder()
    if not folder.is_dir():
        missing = f"{folder} is not there (GHOSTBLITZ_SHARED names another place)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return folder


@pytest.fixture
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write figures coarsely, and with letters drawn into PDF files instead of fonts cut down.

    For tests of whole folders, of whose time figures take more than half; those of figures look at
    their fonts and dots themselves.
    """
    monkeypatch.setattr("ghostblitz_analysis.figures.PDF_FONT_TYPE", 3)
    monkeypatch.setattr("ghostblitz_analysis.figures.PNG_DPI", 60)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the modules with sessions at a screen, which mostly wait, among those that compute."""

    def by_module(wanted: Iterable[pytest.Item]) -> list[list[pytest.Item]]:
        return [
            list(group)
            for _, group in groupby(wanted, key=lambda item: item.nodeid.partition("::")[0])
        ]

    at_screen = by_module(item for item in items if item.get_closest_marker("screen"))
    computing = by_module(item for item in items if not item.get_closest_marker("screen"))
    n_computing = sum(len(module) for module in computing)
    spread: list[pytest.Item] = []
    done = placed = 0
    for module in computing:
        done += len(module)
        due = len(at_screen) * done // n_computing
        spread += module + [item for waiting in at_screen[placed:due] for item in waiting]
        placed = due
    items[:] = spread + [item for waiting in at_screen[placed:] for item in waiting]


def pytest_collection_finish() -> None:
    """Take all that was imported out of the garbage collector's sight.

    statsmodels collects garbage at each Holm correction, which takes half a second with the
    objects of all test modules about.
    """
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make each line of a module's `VECTOR_FILES` a case of its own; none where there is no file.

    The case is then null, and the test that asks for `shared` skips or fails.
    """
    if "vector" not in metafunc.fixturenames:
        return
    cases: list[object] = []
    for name in metafunc.module.VECTOR_FILES:
        path = _shared_folder() / "vectors" / name
        if not path.is_file():
            cases.append(pytest.param(None, id=name))
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            cases.append(pytest.param(json.loads(line), id=f"{name}:{number}"))
    metafunc.parametrize("vector", cases)
