"""Tell one machine from another without writing down whose it is.

The system's own random number of the machine, with what draws on which screen, is hashed together
with the study's id: within a study the same machine is recognised, and nobody can tell from two
studies that they used the same one. Names of hosts and users do not enter.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["machine_fingerprint", "machine_id"]

# What changes the timing of a machine when it is changed.
_PARTS = ("apparatus", "display_server", "gl_renderer", "window_px")
_LINUX_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_WINDOWS_KEY = r"SOFTWARE\Microsoft\Cryptography"


def machine_fingerprint(
    study_id: str, apparatus: Mapping[str, Any], *, machine: str | None = None
) -> str:
    """Return what stands for this machine, screen and graphics in one study's data.

    Parameters
    ----------
    study_id : str
        The key of the hash.
    apparatus : mapping
        What the apparatus says of itself.
    machine : str, optional
        The system's own number of the machine; asked for by default.
    """
    own = machine_id() if machine is None else machine
    text = json.dumps([own, {name: apparatus.get(name) for name in _PARTS}], sort_keys=True)
    return hmac.new(study_id.encode(), text.encode(), hashlib.sha256).hexdigest()


def machine_id() -> str:
    """Return the random number that the system gave this machine; empty where it has none.

    macOS has one that only its own tools tell; there screen and graphics have to do.
    """
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_KEY) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return ""
    for path in _LINUX_IDS:
        try:
            return path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
    return ""
