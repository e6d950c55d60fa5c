"""The peers: what each is, how it times keys, and how it is started."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_task.trial_log import log_path, read_log
from tests.bench.blocks import KEYS

__all__ = ["FLOOR", "MINIMAL", "MINIMAL_60", "OURS", "PEERS", "Peer", "Places"]

_PROGRAMS = Path(__file__).parent / "programs"
_BENCH = Path(__file__).resolve().parents[2] / ".bench"
_EXPYRIMENT_PYTHON = _BENCH / "venv" / "bin" / "python"
_NPM_PACKAGES = _BENCH / "npm" / "node_modules"

_ABOUT_OURS = ("gl_renderer", "pacing", "refresh_hz", "process_priority")

OURS, MINIMAL, MINIMAL_60, FLOOR = "ghostblitz", "psychopy-ptb", "psychopy-ptb-60", "xlib"


@dataclass(frozen=True, slots=True)
class Places:
    """Where the files of one block are: our study, the block, and what a peer writes."""

    folder: Path
    study: Path
    seed: int

    @property
    def block(self) -> Path:
        return self.folder / "block.json"

    @property
    def results(self) -> Path:
        return self.folder / "results.json"

    @property
    def ready(self) -> Path:
        return self.folder / "ready"

    @property
    def session_log(self) -> Path:
        return log_path(self.folder / "data" / "logs", "bench", session=1, run=1)


@dataclass(frozen=True, slots=True)
class Peer:
    """A program to be measured.

    Attributes
    ----------
    name, label : str
        In files, and for people.
    timing : str
        How it times card and key.
    command : callable
        Gives the command for the files of a block.
    missing : callable
        Says what must be installed before it can run; None if nothing.
    """

    name: str
    label: str
    timing: str
    command: Callable[[Places], list[str]]
    missing: Callable[[], str | None] = lambda: None

    def ready(self, places: Places) -> Path:
        """Return the file that is there once the first trial is to come."""
        return places.session_log if self.name == OURS else places.ready

    def results(self, places: Places) -> Mapping[str, Any]:
        """Read `trials` (key and RT of each) and `about` from what the peer wrote."""
        if self.name == OURS:
            return _read_session(places.session_log)
        return json.loads(places.results.read_text(encoding="utf-8"))


def _read_session(path: Path) -> Mapping[str, Any]:
    run = read_log(path)
    keys = {item: key for item, key in run.header["settings"]["responses"]["grab_keys"].items()}
    trials = [
        {
            "key": keys.get(trial["response"]),
            "rt_s": trial["rt_s"],
            "longest_frame_s": trial["longest_frame_s"],
            "n_dropped_frames": trial["n_dropped_frames"],
        }
        for trial in run.of_type("trial")
    ]
    assert set(keys.values()) == set(KEYS)
    apparatus = run.header["apparatus"]
    about = {name: apparatus[name] for name in _ABOUT_OURS if name in apparatus}
    return {"trials": trials, "about": about}


def _ours(places: Places) -> list[str]:
    command = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(places.study)]
    command += ["--participant", "bench", "--out", str(places.folder / "data")]
    return [*command, "--window", "--robot", "--seed", str(places.seed)]


def _program(name: str, *more: str, python: str = sys.executable) -> Callable[[Places], list[str]]:
    return lambda places: [python, str(_PROGRAMS / name), str(places.block), *more]


def _expyriment_missing() -> str | None:
    if _EXPYRIMENT_PYTHON.exists():
        return None
    return "Expyriment is not in .bench/venv; run it through make bench-timing"


def browser() -> str | None:
    """Return the browser's command."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _jspsych_missing() -> str | None:
    if browser() is None:
        return "there is no Chromium; install it (Debian: chromium)"
    if not (_NPM_PACKAGES / "jspsych").is_dir():
        return "jsPsych is not in .bench/npm; install node and npm (Debian: nodejs npm)"
    return None


PEERS: tuple[Peer, ...] = (
    Peer(
        OURS,
        "ghostblitz",
        "a whole session of `ghostblitz run --robot` with all that it draws; frames at 60 Hz by "
        "software; psychtoolbox's stamp of each press minus PsychoPy's of the flip",
        _ours,
    ),
    Peer(
        MINIMAL,
        "PsychoPy, ptb",
        'a minimal script as in its manual: `Keyboard(backend="ptb")`, clock reset and events '
        "cleared on the flip, `getKeys(waitRelease=False)` after each flip; flips as fast as "
        "they come",
        _program("psychopy_minimal.py", "ptb"),
    ),
    Peer(
        MINIMAL_60,
        "PsychoPy, ptb, 60 Hz",
        "the same, with frames held to 60 Hz by software",
        _program("psychopy_minimal.py", "ptb", "60"),
    ),
    Peer(
        "psychopy-event",
        "PsychoPy, event",
        "`event.getKeys(timeStamped=clock)` after each flip: the time at which the window's "
        "events are dispatched; flips as fast as they come",
        _program("psychopy_minimal.py", "event"),
    ),
    Peer(
        "expyriment",
        "Expyriment",
        "`keyboard.wait` after `present()`: the time at which its polling finds the key, in whole "
        "milliseconds; its defaults, so whole screen and OpenGL mode 2 (blocking)",
        _program("expyriment_minimal.py", python=str(_EXPYRIMENT_PYTHON)),
        _expyriment_missing,
    ),
    Peer(
        "jspsych",
        "jsPsych, Chromium",
        "`html-keyboard-response`, its defaults, in a kiosk window: `performance.now()` in the "
        "key handler minus that after the page was changed",
        lambda places: _program("jspsych_browser.py", str(_NPM_PACKAGES), browser() or "")(places),
        _jspsych_missing,
    ),
    Peer(
        FLOOR,
        "bare Xlib (floor)",
        "what this rig can resolve at best: an image copied and a rectangle filled by the server, "
        "a round trip to it, the clock; a key is stamped as the blocking wait returns",
        _program("xlib_floor.py"),
    ),
)
