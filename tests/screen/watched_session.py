"""A session on a real window, run as a program of its own, that counts what goes on in it.

The keys come from here, so that nothing but the session needs the processor; whatever happens
while a card waits for its answer is counted by its kind, and printed as JSON at the end.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

from pyglet import gl

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.psychopy_rendering import StimulusStore
from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.screens import Screen
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.studies import Study, log_session, open_study

ANSWER_S, HOLD_S = 0.2, 0.05
SETTINGS = ApparatusSettings(fullscreen=False)


class Watch:
    """Counts by kind while a card is shown, and keeps the processor time of each drawing."""

    def __init__(self) -> None:
        self.showing = False
        self.counts: Counter[str] = Counter()
        # Arrays, whose items are no objects of their own.
        self.blocks = array("q")
        self.draw_s = array("d")

    def note(self, what: str) -> None:
        if self.showing:
            self.counts[what] += 1

    def calls(self, owner: Any, name: str) -> None:
        """Count the calls of a function from now on."""
        original = getattr(owner, name)

        def call(*args: Any, **more: Any) -> Any:
            self.note(name)
            return original(*args, **more)

        setattr(owner, name, call)

    def drawing(self) -> None:
        """Time what is drawn for each frame from now on; the flip is not in it."""
        original = StimulusStore.draw

        def draw(store: StimulusStore, screen: Screen) -> None:
            began_s = time.thread_time()
            original(store, screen)
            if self.showing:
                self.draw_s.append(time.thread_time() - began_s)

        StimulusStore.draw = draw

    def system(self) -> None:
        """Count collections of garbage, files opened and modules imported from now on."""
        gc.callbacks.append(lambda _phase, _info: self.note("garbage collection"))
        heard = {"open", "import", "subprocess.Popen", "os.fork", "socket.connect"}
        sys.addaudithook(lambda event, _args: self.note(event) if event in heard else None)


class Answered(PsychoPyApparatus):
    """The real window, whose keys are pressed by the script."""

    def __init__(self, study: Study, watch: Watch) -> None:
        super().__init__(SETTINGS, palette=study.palette, extent_deg=study.extent_deg)
        self._responses = study.settings.responses
        self._watch = watch
        self._answered: Screen | None = None
        self._coming: list[DeviceEvent] = []
        self._last_s = 0.0

    def present(self, screen: Screen) -> float:
        self._watch.showing = screen.stimulus is not None
        self._last_s = super().present(screen)
        if self._watch.showing:
            self._watch.note("frame")
            self._watch.blocks.append(sys.getallocatedblocks())
        if screen is not self._answered:
            self._answered = screen
            self._coming += [
                DeviceEvent(self._last_s + delay_s, "keyboard", kind, key, None, 0.0)
                for key in self._keys_for(screen)
                for delay_s, kind in ((ANSWER_S, "press"), (ANSWER_S + HOLD_S, "release"))
            ]
        return self._last_s

    def _keys_for(self, screen: Screen) -> tuple[str, ...]:
        if screen.stimulus is None:
            return screen.awaits_keys[:1]
        solution = screen.stimulus.solution
        grab = solution.mode == "grab"
        keys = self._responses.grab_keys if grab else self._responses.shout_keys
        return (keys[solution.answer],)

    def events(self) -> list[DeviceEvent]:
        due = [e for e in self._coming if e.t_s <= self._last_s]
        self._coming = [e for e in self._coming if e.t_s > self._last_s]
        return [*super().events(), *due]


def main(folder: Path, logs: Path) -> None:
    study = open_study(folder)
    assert isinstance(study, Study)
    watch = Watch()

    def open_apparatus() -> Answered:
        window = Answered(study, watch)
        for name in ("glTexImage2D", "glTexSubImage2D", "glGenTextures", "glGenBuffers"):
            watch.calls(gl, name)
        watch.calls(os, "fsync")
        watch.calls(StimulusStore, "prepare")
        watch.drawing()
        watch.system()
        return window

    identity = SessionIdentity("p", 1, 1, 3, "robot")
    _, outcome = log_session(
        study, logs, identity, open_apparatus=open_apparatus, apparatus_settings=SETTINGS
    )
    watch.showing = False
    found = {
        "status": outcome.status,
        "counts": watch.counts,
        "blocks": watch.blocks.tolist(),
        "draw_s": watch.draw_s.tolist(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
