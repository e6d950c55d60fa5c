"""What set-up rests on: the lock, the licences, the commands that README and CI call."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


@pytest.fixture(scope="module")
def locked() -> list[Requirement]:
    """The requirements of the lock, comments left out."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    stated = (line.split("#")[0].strip() for line in lines)
    return [Requirement(line) for line in stated if line]


def test_lock_holds_versions_only() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    for line in text.splitlines():
        assert not line.startswith("-"), f"an option, not a version: {line}"
        assert not re.search(r"(^|\s)\.{0,2}/|[A-Za-z]:\\| @ ", line), f"a path: {line}"


def test_lock_pins_every_package_exactly(locked: list[Requirement]) -> None:
    for requirement in locked:
        operators = [specifier.operator for specifier in requirement.specifier]
        assert operators == ["=="], str(requirement)


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12"])
@pytest.mark.parametrize(
    ("sys_platform", "platform_system"),
    [("linux", "Linux"), ("darwin", "Darwin"), ("win32", "Windows")],
)
def test_lock_meets_every_direct_dependency(
    project: dict[str, Any],
    locked: list[Requirement],
    python: str,
    sys_platform: str,
    platform_system: str,
) -> None:
    system = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": sys_platform,
        "platform_system": platform_system,
        "extra": "",
    }
    pins: dict[str, str] = {}
    for requirement in locked:
        if requirement.marker is None or requirement.marker.evaluate(system):
            name = canonicalize_name(requirement.name)
            assert name not in pins, f"{name} is pinned twice for {system}"
            pins[name] = next(iter(requirement.specifier)).version
    direct = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        direct += extra
    for text in direct:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate(system):
            continue
        name = canonicalize_name(requirement.name)
        assert name in pins, f"{text} is not in requirements.lock; run make lock"
        assert requirement.specifier.contains(pins[name], prereleases=True), (
            f"requirements.lock has {name} {pins[name]}, pyproject.toml wants {text}; run make lock"
        )


def test_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r"(?m)^version: (\S+)$", citation)
    assert cited is not None
    assert cited[1] == project["version"]
    assert importlib.metadata.version("ghostblitz") == project["version"]


def test_licences_are_there_and_named(project: dict[str, Any]) -> None:
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    art = (ROOT / "LICENSE-ART-AND-DATA").read_text(encoding="utf-8")
    assert "CC0 1.0 Universal" in art
    assert project["license"] == "MIT AND CC0-1.0 AND Bitstream-Vera"
    for name in project["license-files"]:
        assert (ROOT / name).is_file()


def test_both_packages_tell_type_checkers_that_they_are_typed() -> None:
    assert (ROOT / "ghostblitz_task" / "py.typed").is_file()
    assert (ROOT / "analysis" / "ghostblitz_analysis" / "py.typed").is_file()


@pytest.mark.parametrize(
    ("target", "does"),
    [
        ("setup", ".ci/setup.sh"),
        ("demo", ".venv/bin/ghostblitz demo"),
        ("test", "-m pytest"),
        ("test-quick", "not slow and not screen"),
        ("lint", "lint-imports"),
        ("check", "lint-imports"),
        ("check", "-m pytest"),
        ("lock", ".ci/setup.sh lock"),
        ("clean", "rm -rf"),
    ],
)
def test_make_target_does_what_it_says(target: str, does: str) -> None:
    # As if set-up were still to do, and without a parent make's settings.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    planned = subprocess.run(
        ["make", "-n", "-B", target],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert does in planned
    if target in ("demo", "test", "test-quick", "lint", "check"):
        assert ".ci/setup.sh" in planned, "each command sets up first"


def test_ci_calls_the_readme_command_last() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = [
        line for line in script.read_text(encoding="utf-8").splitlines() if line.startswith("make ")
    ]
    assert commands == ["make lint", "make test"]


def test_set_up_names_no_package_index() -> None:
    for name in ("Makefile", ".ci/setup.sh", ".ci/run", "pyproject.toml"):
        assert "://" not in (ROOT / name).read_text(encoding="utf-8"), name
