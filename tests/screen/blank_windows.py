"""Programs that open an empty window and press keys, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

_BEGIN = """
import json, subprocess, sys, time
from Xlib import X, XK, display
from Xlib.ext import xtest
from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import GhostBlitzError
from ghostblitz_task.palettes import load_palette
from ghostblitz_task.screens import Screen

blank = Screen("blank")
server = display.Display()

def open_window(**settings):
    return PsychoPyApparatus(
        ApparatusSettings.model_validate({"fullscreen": False, **settings}),
        palette=load_palette("standard"),
        extent_deg=(5.0, 5.0),
    )

def report(value):
    print(json.dumps(value))

def refusal(**settings):
    try:
        open_window(**settings)
    except GhostBlitzError as error:
        return str(error)

def move(kind, *codes):
    for code in codes:
        xtest.fake_input(server, kind, code)
        server.sync()

def down(*codes):
    move(X.KeyPress, *codes)

def up(*codes):
    move(X.KeyRelease, *codes)

def tap(code, hold_s=0.005):
    down(code)
    time.sleep(hold_s)
    up(code)

def frames(window, n=6):
    found = []
    for _ in range(n):
        window.present(blank)
        found += window.events()
    return [(e.kind, e.key, e.code) for e in found]
"""


def run_program(body: str, *arguments: str) -> Any:
    """Run some code after the names above, and return what it last reported."""
    code = _BEGIN + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
