"""Run a study on this machine's screen and keyboard: what `ghostblitz run` and run.py do."""

from __future__ import annotations

import dataclasses
import secrets
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings, load_apparatus
from ghostblitz_task.errors import ApparatusError, ConfigError
from ghostblitz_task.session import SessionOutcome
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.studies import (
    LOG_FOLDER,
    RunnableStudy,
    begin_dataset,
    find_resumable,
    log_session,
    new_identity,
    open_study,
    resume_identity,
)
from ghostblitz_task.timing.record import TIMING_FOLDER, Quote, find_self_test
from ghostblitz_task.trial_log import check_participant_id, read_log

if TYPE_CHECKING:
    from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus

__all__ = [
    "RunRequest",
    "ask_for_session",
    "marker_failures",
    "open_window",
    "run_from_psychopy",
    "run_study",
    "stop_signals",
]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is asked for on the command line.

    Attributes
    ----------
    study : Path
        The study's folder.
    participant_id : str
        Kept to the letter; refused if it cannot stand in a file name.
    others : tuple of str
        Ids of those in the other seats, in studies for several at one machine.
    dataset : Path or None
        Where the data go; null for ``data/<study id>`` in the working directory.
    session : int
        From 1.
    seed : int or None
        Null draws one; it is recorded.
    resume : bool
        Take up the session where it stopped.
    source : str
        ``human``, or ``robot`` where the robot presses the keys.
    apparatus : Path or None
        A file of apparatus settings; null for the study's own, or the defaults.
    windowed : bool
        A window instead of the whole screen.
    language : str or None
        Null for the study's own.
    """

    study: Path
    participant_id: str
    others: tuple[str, ...] = ()
    dataset: Path | None = None
    session: int = 1
    seed: int | None = None
    resume: bool = False
    source: Literal["human", "robot"] = "human"
    apparatus: Path | None = None
    windowed: bool = False
    language: str | None = None


def run_study(
    request: RunRequest,
    *,
    on_trial: Callable[[int, int], None] = lambda _done, _planned: None,
    say: Callable[[str], object] = lambda _text: None,
) -> tuple[Path, SessionOutcome]:
    """Run one session of a study in a window.

    Everything that can be refused is refused before the window opens. `say` is told, once, if
    people are measured on a machine whose timing was not tested for this study, and that there is
    a stream of markers to be recorded.

    Returns
    -------
    path : Path
        The log.
    outcome : SessionOutcome
        How the run ended.

    Raises
    ------
    GhostBlitzError
        As `ghostblitz_task.studies.log_session`.
    """
    check_participant_id(request.participant_id)
    study = open_study(request.study, language=request.language)
    settings = load_apparatus(study.folder, request.apparatus)
    if request.windowed:
        settings = settings.model_copy(update={"fullscreen": False})
    dataset = request.dataset or Path("data") / study.settings.study.id
    begin = _resume if request.resume else _begin
    study, identity = begin(request, study, dataset)

    def quote_self_test(apparatus: Apparatus) -> Mapping[str, Any] | None:
        if settings.markers.lsl is not None:
            say(
                f"hint: markers go out as the LSL stream {settings.markers.lsl.name!r}; let the "
                "recorder take it before the first card"
            )
        described = apparatus.describe()
        quote = find_self_test(dataset, study.settings.study.id, described, settings)
        if request.source == "human" and (quote is None or quote.verdict == "fail"):
            say(_hint(request, dataset, quote))
        return dataclasses.asdict(quote) if quote else None

    with stop_signals() as stop_requested:
        return log_session(
            study,
            dataset / LOG_FOLDER,
            identity,
            open_apparatus=lambda: open_window(study, settings, identity),
            apparatus_settings=settings,
            stop_requested=stop_requested,
            on_trial=on_trial,
            quote_self_test=quote_self_test,
        )


def marker_failures(log: Path) -> list[str]:
    """Return what went wrong with the markers of a run, a line for each output it did with.

    A stream that nobody took when the run ended is among them.
    """
    ends = list(read_log(log).of_type("end"))
    report = ends[-1].get("marker_report") if ends else None
    if report is None:
        return []
    first = report["first_failure"] or {}
    failures = [
        f"markers: {output} did not take {n_failed} of {report['n_sent']} (first failure, of "
        f"{first.get('output')}: {first.get('reason')})"
        for output, n_failed in report["n_failed"].items()
        if n_failed
    ]
    if report["outputs"].get("lsl", {}).get("had_consumers_at_end") is False:
        failures.append("markers: no program was recording the LSL stream when the run ended")
    return failures


def _hint(request: RunRequest, dataset: Path, quote: Quote | None) -> str:
    """Say that there is no self-test of this set-up, or that the newest one failed."""
    if quote is not None:
        return (
            f"hint: the timing self-test of this machine failed ({quote.file}); its page in "
            f"{dataset / TIMING_FOLDER} says why, and what to do"
        )
    options = [str(request.study), *(["--out", str(dataset)] if request.dataset else [])]
    options += ["--apparatus", str(request.apparatus)] if request.apparatus else []
    options += ["--window"] if request.windowed else []
    return (
        f"hint: {dataset} holds no timing self-test of this machine as it is set up now; before a "
        f"study, run: ghostblitz timing {shlex.join(options)}"
    )


def _begin(
    request: RunRequest, study: RunnableStudy, dataset: Path
) -> tuple[RunnableStudy, SessionIdentity]:
    seed = secrets.randbits(32) if request.seed is None else request.seed
    study.check(seed)  # What cannot be met is refused before anything is written.
    logs = begin_dataset(study, dataset)
    identity = new_identity(
        logs,
        request.participant_id,
        session=request.session,
        seed=seed,
        source=request.source,
        others=request.others,
    )
    return study, identity


def _resume(
    request: RunRequest, study: RunnableStudy, dataset: Path
) -> tuple[RunnableStudy, SessionIdentity]:
    run = find_resumable(dataset / LOG_FOLDER, request.participant_id, session=request.session)
    if request.seed is not None and request.seed != run.header["seed"]:
        raise ConfigError(
            f"{run.path.name} was begun with seed {run.header['seed']}; a resumed session "
            "keeps its seed"
        )
    if request.language is None and run.header["language"] != study.settings.study.language:
        study = open_study(request.study, language=run.header["language"])
    begin_dataset(study, dataset)
    return study, resume_identity(study, run)


def _check_display() -> None:
    """Refuse to go on without a display, which PsychoPy needs as soon as it is imported."""
    if sys.platform != "linux":
        return
    from Xlib.display import Display
    from Xlib.error import DisplayError

    try:
        Display().close()
    except DisplayError as error:
        raise ApparatusError(
            f"there is no display to open a window on ({error}); run this in a desktop session"
        ) from error


def open_window(
    study: RunnableStudy, settings: ApparatusSettings, identity: SessionIdentity | None = None
) -> PsychoPyApparatus:
    """Open the window and the devices of a session, or, for nobody's, without markers.

    Raises
    ------
    ApparatusError
        If there is no display, no PsychoPy, or something of it fails.
    """
    try:
        _check_display()
        from ghostblitz_task.apparatus.psychopy_ports import open_markers
        from ghostblitz_task.apparatus.psychopy_window import PsychoPyApparatus
    except ImportError as error:
        raise ApparatusError(
            f"PsychoPy cannot be used here ({error}); install ghostblitz[task] with Python 3.10 to "
            "3.12, and run where there is a display"
        ) from error
    markers = None
    if identity is not None:
        session = f"{study.settings.study.id}/{identity.participant_id}/{identity.session}"
        # Before the window, so that nobody sees it come and go if one of them fails.
        markers = open_markers(settings.markers, source_id=f"ghostblitz/{session}")
    return PsychoPyApparatus(
        settings,
        palette=study.palette,
        extent_deg=study.extent_deg,
        pointer_visible=study.pointer_visible,
        markers=markers,
    )


@contextmanager
def stop_signals() -> Iterator[Callable[[], str | None]]:
    """Turn the signals that end programs into a wish that the session can grant in order."""
    received: list[str] = []

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(signal.Signals(number).name)
        # A second one ends the program at once, should the session hang.
        signal.signal(number, before[number])

    names = [n for n in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, n)]
    numbers = [getattr(signal, name) for name in names]
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield lambda: received[0] if received else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ask_for_session() -> tuple[str, int, bool] | None:
    """Ask in a dialogue for participant, session, and whether to resume; None if cancelled.

    Raises
    ------
    ApparatusError
        If there is no display.
    """
    _check_display()
    from ghostblitz_task.apparatus.psychopy_dialogue import ask_participant

    return ask_participant()


def run_from_psychopy(study: Path) -> None:
    """Run a study started from PsychoPy's own Runner or Coder, which give no options.

    Options on a shell's command line are those of `ghostblitz run`.
    """
    from ghostblitz_task.cli import main

    main(["run", str(study), *sys.argv[1:]])
