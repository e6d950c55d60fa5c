"""Modules of this bench run in processes of their own, so that each has its own memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["run_json", "run_module"]

_ROOT = Path(__file__).resolve().parents[2]


def run_module(module: str, *words: str) -> str:
    """Run a module and return what it printed; its errors are shown.

    Raises
    ------
    subprocess.CalledProcessError
        If it ends with an error.
    """
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, check=True, cwd=_ROOT, stdout=subprocess.PIPE, text=True).stdout


def run_json(module: str, *words: str) -> dict[str, Any]:
    """Run a module and return the JSON of the last line that it printed."""
    result: dict[str, Any] = json.loads(run_module(module, *words).strip().splitlines()[-1])
    return result
