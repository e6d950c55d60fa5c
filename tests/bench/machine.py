"""The machine and the versions that the figures belong to; no names of hosts, users or folders."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from tests.bench.peers import browser

__all__ = ["describe_machine"]


def describe_machine() -> dict[str, str]:
    """Say what machine this is, as far as it matters for timing."""
    versions = {
        name: importlib.metadata.version(package)
        for name, package in (("PsychoPy", "psychopy"), ("ghostblitz", "ghostblitz"))
    }
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": _system(),
        # Only the version: what a builder of kernels adds to it can name machines.
        "kernel": f"Linux {re.split('[^0-9.]', platform.release())[0]}",
        "display": "Xvfb, 1280 x 720, no vsync",
        "Xvfb": _debian_version("xvfb"),
        "Python": platform.python_version(),
        **versions,
        "Chromium": _chromium(),
        "load average at the start": f"{os.getloadavg()[0]:.2f}",
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _system() -> str:
    return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())


def _debian_version(package: str) -> str:
    if shutil.which("dpkg-query") is None:
        return "unknown"
    command = ["dpkg-query", "--show", "--showformat", "${Version}", package]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def _chromium() -> str:
    command = browser()
    if command is None:
        return "not installed"
    found = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\d+(\.\d+)+", found.stdout)
    return version[0] if version else "unknown"
