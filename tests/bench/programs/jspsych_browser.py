"""jsPsych in Chromium: serves the page on this machine, opens it, and takes its results.

Arguments: the block, the folder with jsPsych's packages, and the browser's command.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from block_file import LEAD_IN_S, Block, read_block

_FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--kiosk",
    "--window-position=0,0",
]
_TYPES = {".html": "text/html", ".js": "text/javascript", ".png": "image/png"}
_SCRIPTS = {
    "/jspsych.js": "jspsych/dist/index.browser.min.js",
    "/html-keyboard-response.js": (
        "@jspsych/plugin-html-keyboard-response/dist/index.browser.min.js"
    ),
}
_TIMEOUT_S = 600.0


def main() -> None:
    block = read_block()
    packages, browser = Path(sys.argv[2]), sys.argv[3]
    said: queue.Queue[tuple[str, bytes]] = queue.Queue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(_files(block, packages), said))
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = _open(browser, f"http://127.0.0.1:{server.server_port}/", block, profile)
        try:
            given = _listen(block, said)
        finally:
            _close(chromium)
    answers = [(key, None if key is None else rt_ms / 1000) for key, rt_ms in given["answers"]]
    block.give_back(answers, jspsych=given["jspsych"], window_px=given["window_px"])


def _files(block: Block, packages: Path) -> dict[str, bytes]:
    """Read all that the page may ask for, so that nothing is read during trials."""
    files = {"/": (Path(__file__).parent / "jspsych.html").read_bytes()}
    files |= {name: (packages / path).read_bytes() for name, path in _SCRIPTS.items()}
    names = {path: Path(path).name for path in {trial["card"] for trial in block.trials}}
    files |= {f"/{name}": Path(path).read_bytes() for path, name in names.items()}
    trials = [trial | {"card": names[trial["card"]]} for trial in block.trials]
    told = {
        "patch_px": block.patch_px,
        "deadline_s": block.deadline_s,
        "interval_s": block.interval_s,
        "lead_in_s": LEAD_IN_S,
        "keys": block.keys,
        "trials": trials,
    }
    return files | {"/block.json": json.dumps(told).encode()}


def _answering(files: dict[str, bytes], said: queue.Queue[tuple[str, bytes]]) -> Any:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = files.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", _TYPES.get(Path(self.path).suffix, "text/html"))
            self.end_headers()
            self.wfile.write(body or b"")

        def do_POST(self) -> None:
            said.put((self.path, self.rfile.read(int(self.headers["Content-Length"] or 0))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            pass

    return Answering


def _open(browser: str, address: str, block: Block, profile: str) -> subprocess.Popen[bytes]:
    size = "--window-size={},{}".format(*block.window_px)
    command = [browser, *_FLAGS, size, f"--user-data-dir={profile}", address]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


def _listen(block: Block, said: queue.Queue[tuple[str, bytes]]) -> dict[str, Any]:
    """Pass on that the page is ready, and return its results."""
    while True:
        path, body = said.get(timeout=_TIMEOUT_S)
        if path == "/ready":
            block.say_ready(lead_in_s=0)
        elif path == "/results":
            return json.loads(body)
        else:
            sys.exit(f"the page failed: {body.decode(errors='replace')}")


def _close(chromium: subprocess.Popen[bytes]) -> None:
    """End the browser with all its processes, which are a group of their own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(chromium.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            chromium.wait(timeout=5)
            return


if __name__ == "__main__":
    # The bench ends this program by a signal; the browser must go with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    main()
