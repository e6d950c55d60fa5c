"""The whole self-test of a machine, with the study that is going to run on it."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from ghostblitz_task import __version__
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import ApparatusError, ConfigError
from ghostblitz_task.runnable import RunnableStudy
from ghostblitz_task.timing.checks import (
    Check,
    Verdict,
    check_all,
    checks_json,
    overall_verdict,
)
from ghostblitz_task.timing.disk import time_writes
from ghostblitz_task.timing.injecting import inject, keys_pressed, why_not
from ghostblitz_task.timing.keyboard_repeat import key_repeat
from ghostblitz_task.timing.machine import machine_fingerprint
from ghostblitz_task.timing.measured import (
    InjectionFigures,
    Measured,
    RepeatFigures,
)
from ghostblitz_task.timing.measuring import (
    TimedApparatus,
    load_per_processor,
    measure_clock,
    measure_drawing,
    measure_flips,
)
from ghostblitz_task.timing.methods import methods_paragraph
from ghostblitz_task.timing.record import FORMAT, FORMAT_VERSION, timing_folder, write_record
from ghostblitz_task.timing.study_screens import pause_between_trials_s, trial_screens

__all__ = ["SelfTest", "SelfTestRequest", "run_self_test", "self_test_document"]

_STAMP = "%Y%m%dT%H%M%SZ"
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class SelfTestRequest:
    """What is asked for.

    Attributes
    ----------
    seconds : float
        How long flips are timed.
    n_taps : int
        How many taps are injected; 0 for no keys at all.
    """

    seconds: float = 60.0
    n_taps: int = 30

    def __post_init__(self) -> None:
        """Refuse what cannot be measured.

        Raises
        ------
        ConfigError
            If the time is not between 1 s and an hour, or the number of taps not from 0 to 500.
        """
        if not 1 <= self.seconds <= 3600:
            raise ConfigError(f"--seconds is {self.seconds:g}; flips are timed for 1 to 3600 s")
        if not 0 <= self.n_taps <= 500:
            raise ConfigError(f"--taps is {self.n_taps}; 0 to 500 taps can be injected")


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What came of it.

    Attributes
    ----------
    path : Path
        The record.
    document : mapping
        What stands in it.
    checks : tuple of Check
        In the order of the report.
    verdict : str
        The worst of them.
    """

    path: Path
    document: Mapping[str, Any]
    checks: tuple[Check, ...]
    verdict: Verdict


def run_self_test(
    study: RunnableStudy,
    dataset: Path,
    *,
    settings: ApparatusSettings,
    request: SelfTestRequest,
    open_apparatus: Callable[[], TimedApparatus],
    stop_requested: Callable[[], str | None] = lambda: None,
    say: Say = lambda _text: None,
) -> SelfTest:
    """Measure, judge, and write the record into the data set.

    Raises
    ------
    GhostBlitzError
        If the data set cannot be written, the window fails, or the test was stopped; no record
        is left then.
    """
    folder = timing_folder(dataset)
    load = load_per_processor()
    test = _Test(study, settings, request, stop_requested, say)
    started = datetime.now(timezone.utc)
    apparatus = open_apparatus()
    try:
        measured = test.measure(apparatus, folder, load)
    finally:
        apparatus.close()
    checks = check_all(measured)
    document = self_test_document(
        measured, checks, study=study, settings=settings, request=request, started=started
    )
    path = write_record(folder, document, stamp=started.strftime(_STAMP))
    return SelfTest(path, document, checks, overall_verdict(checks))


@dataclass(frozen=True)
class _Test:
    study: RunnableStudy
    settings: ApparatusSettings
    request: SelfTestRequest
    stop_requested: Callable[[], str | None]
    say: Say

    def measure(self, apparatus: TimedApparatus, folder: Path, load: float | None) -> Measured:
        """Measure everything, on an apparatus that is open as in a session."""
        began = apparatus.now_s(), time.time()
        self.say("Writing to the data set's disk ...")
        disk = time_writes(folder, pause_s=pause_between_trials_s(self.study))
        self._go_on()
        screens = trial_screens(self.study)
        self.say(f"Drawing {len(screens)} screens of the study ...")
        draw = measure_drawing(apparatus, screens, go_on=self._go_on)
        self.say(f"Timing flips for {self.request.seconds:g} s ...")
        flips, poll = measure_flips(
            apparatus,
            list(screens.values()),
            duration_s=self.request.seconds,
            go_on=self._go_on,
        )
        self._go_on()
        clock = measure_clock(apparatus.now_s, began=began)
        repeat = key_repeat()
        injection = self._inject(apparatus, repeat)
        self._go_on()
        return Measured(
            apparatus=dict(apparatus.describe()),
            load_per_processor=load,
            flips=flips,
            poll=poll,
            clock=clock,
            draw=draw,
            disk=disk,
            repeat=repeat,
            injection=injection,
        )

    def _inject(
        self, apparatus: TimedApparatus, repeat: RepeatFigures | str
    ) -> InjectionFigures | str:
        if not self.request.n_taps:
            return "no keys were asked for (--no-keys)"
        reason = why_not(self.settings)
        if reason is not None:
            return reason
        self.say(
            f"A robot presses real keys ({', '.join(keys_pressed(self.study))}) and watches the "
            "window: leave keyboard, mouse and windows alone ..."
        )
        return inject(
            self.study,
            apparatus,
            self.settings,
            n_taps=self.request.n_taps,
            repeat=repeat,
            stop_requested=self.stop_requested,
        )

    def _go_on(self) -> None:
        reason = self.stop_requested()
        if reason is not None:
            raise ApparatusError(f"the self-test was stopped ({reason}); nothing was recorded")


def self_test_document(
    measured: Measured,
    checks: Sequence[Check],
    *,
    study: RunnableStudy,
    settings: ApparatusSettings,
    request: SelfTestRequest,
    started: datetime,
) -> dict[str, Any]:
    """Return the record of what was measured, with its checks and its paragraph."""
    started_utc = started.isoformat(timespec="seconds")
    study_id = study.settings.study.id
    software = _software(measured.apparatus)
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "started_utc": started_utc,
        "study_id": study_id,
        "settings_sha256": study.settings.sha256,
        "verdict": overall_verdict(checks),
        "checks": checks_json(checks),
        "methods": methods_paragraph(
            measured,
            software=software,
            started_utc=started_utc,
            keys_asked=request.n_taps > 0,
        ),
        "asked": asdict(request),
        "software": software,
        "machine": machine_fingerprint(study_id, measured.apparatus),
        "n_processors": os.cpu_count(),
        "apparatus_settings": settings.model_dump(mode="json"),
        "apparatus": measured.apparatus,
        "measured": _figures(measured),
    }


def _figures(measured: Measured) -> dict[str, Any]:
    """Return everything that was measured; what was not is null, with a reason beside it."""
    figures = asdict(measured)
    del figures["apparatus"]
    for name in ("repeat", "injection"):
        why = getattr(measured, name)
        figures[f"{name}_not_measured"] = why if isinstance(why, str) else None
        if isinstance(why, str):
            figures[name] = None
    return figures


def _software(apparatus: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "ghostblitz": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    if apparatus.get("psychopy"):
        found["psychopy"] = str(apparatus["psychopy"])
    return found
