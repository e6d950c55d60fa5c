"""From a study's folder and a participant to a running session: what `run` and `simulate` share.

A data set is a folder that holds ``logs/`` and copies of the settings that made them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus.simulated import SimulatedApparatus
from ghostblitz_task.config import (
    STUDY_FILE,
    ApparatusSettings,
    StudySettings,
    load_study,
)
from ghostblitz_task.design import Plan, plan_session
from ghostblitz_task.errors import ConfigError, LogError
from ghostblitz_task.games import Game
from ghostblitz_task.participants import make_participant
from ghostblitz_task.screens import Screens
from ghostblitz_task.seeds import rng_for, seed_for_participant
from ghostblitz_task.session import SessionOutcome, run_session
from ghostblitz_task.session_header import Resumed, SessionIdentity
from ghostblitz_task.texts import load_texts
from ghostblitz_task.trial_log import (
    RunLog,
    TrialLog,
    check_participant_id,
    file_sha256,
    log_path,
    participant_logs,
    read_log,
)

__all__ = [
    "LOG_FOLDER",
    "Study",
    "begin_dataset",
    "find_resumable",
    "log_session",
    "new_identity",
    "open_study",
    "resume_identity",
    "simulate_study",
]

LOG_FOLDER = "logs"
_ANALYSIS_FILE = "analysis.toml"
# Room for the largest session there can be, with a margin; checked before a session begins.
_MIN_FREE_BYTES = 50_000_000


@dataclass(frozen=True)
class Study:
    """A study that has been checked whole: it can be planned, drawn and run."""

    folder: Path
    settings: StudySettings
    game: Game
    screens: Screens

    def plan(self, seed: int) -> Plan:
        """Plan a session; a limit that cannot be kept raises `ConfigError`."""
        return plan_session(self.settings, self.game, seed=seed)


def open_study(folder: Path, *, language: str | None = None) -> Study:
    """Read a study and check that all it needs is there.

    Raises
    ------
    ConfigError
        For anything that would go wrong later: settings, language, drawings.
    """
    settings = load_study(folder, language=language)
    game = settings.make_game()
    screens = Screens(settings, game, load_texts(settings.study.language))
    screens.check_drawable()
    # Each example of the instructions must exist in the game as this study sets it.
    for _ in screens.instructions():
        pass
    return Study(folder if folder.is_dir() else folder.parent, settings, game, screens)


def begin_dataset(study: Study, dataset: Path) -> Path:
    """Make the data set's folder, or check that it belongs to the study, and return its logs.

    Raises
    ------
    ConfigError
        If the folder holds another study, or the same one with other settings.
    """
    logs = dataset / LOG_FOLDER
    copy = dataset / STUDY_FILE
    source = study.folder / STUDY_FILE
    try:
        logs.mkdir(parents=True, exist_ok=True)
        if copy.exists():
            _check_same_study(study, copy)
        elif source.exists():
            _copy_whole(source, copy)
        analysis = study.folder / _ANALYSIS_FILE
        if analysis.exists() and not (dataset / _ANALYSIS_FILE).exists():
            _copy_whole(analysis, dataset / _ANALYSIS_FILE)
        free = shutil.disk_usage(logs).free
    except OSError as error:
        raise LogError(f"{dataset} cannot be written: {error.strerror}") from error
    if free < _MIN_FREE_BYTES:
        raise LogError(
            f"{dataset}: only {free / 1e6:.0f} MB are free on this disk; a session wants "
            f"{_MIN_FREE_BYTES / 1e6:.0f} MB before it begins"
        )
    return logs


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a file so that a kill leaves the whole copy or none."""
    unfinished = target.with_name(f".{target.name}.new")
    with open(unfinished, "wb") as file:
        file.write(source.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, target)


def _check_same_study(study: Study, copy: Path) -> None:
    stored = load_study(copy, language=study.settings.study.language)
    if stored.sha256 == study.settings.sha256:
        return
    if stored.study.id != study.settings.study.id:
        raise ConfigError(f"{copy.parent} holds study {stored.study.id}; give another --out")
    raise ConfigError(
        f"{copy.parent} was begun with other settings of {stored.study.id} than "
        f"{study.folder / STUDY_FILE} has now; give another --out, or put the settings back"
    )


def new_identity(
    logs: Path,
    participant_id: str,
    *,
    session: int,
    seed: int,
    source: str,
    participant_model: str | None = None,
) -> SessionIdentity:
    """Return the identity of a session that is begun for the first time.

    Raises
    ------
    ConfigError
        If the id cannot be used, or this session has been begun before.
    """
    participant_id = check_participant_id(participant_id)
    existing = participant_logs(logs, participant_id, session=session)
    if existing:
        raise ConfigError(
            f"participant {participant_id} has a session {session} already "
            f"({existing[-1].name}); continue it with --resume, or give --session {session + 1}"
        )
    return SessionIdentity(
        participant_id,
        session=session,
        run=1,
        seed=seed,
        source=source,  # type: ignore[arg-type]
        participant_model=participant_model,
    )


def find_resumable(logs: Path, participant_id: str, *, session: int) -> RunLog:
    """Return the last run of a session that is not complete.

    Raises
    ------
    ConfigError
        If there is none, or the session is complete.
    """
    paths = participant_logs(logs, check_participant_id(participant_id), session=session)
    if not paths:
        raise ConfigError(
            f"participant {participant_id} has no session {session} in {logs} to resume"
        )
    run = read_log(paths[-1])
    if run.status == "completed":
        raise ConfigError(f"{paths[-1].name} is complete; there is nothing to resume")
    return run


def resume_identity(study: Study, run: RunLog) -> SessionIdentity:
    """Return the identity of the run that takes up where an earlier one stopped.

    Raises
    ------
    ConfigError
        If the study's settings, or the trial sequence they give, are not the ones it began with.
    """
    header = run.header
    if header["settings_sha256"] != study.settings.sha256:
        raise ConfigError(
            f"{run.path.name} was begun with other settings than the study has now; put them back "
            "(they stand in its header) to resume it"
        )
    if header["plan_sha256"] != study.plan(header["seed"]).sha256:
        raise ConfigError(
            f"{run.path.name} was begun by a version of ghostblitz that planned other trials"
        )
    earlier = (header["resumes"] or {"n_trials": 0})["n_trials"]
    n_trials = max([earlier, *(t["trial_index"] + 1 for t in run.of_type("trial"))])
    return SessionIdentity(
        header["participant_id"],
        session=header["session"],
        run=header["run"] + 1,
        seed=header["seed"],
        source=header["source"],
        participant_model=header["participant_model"],
        resumes=Resumed(run.path.name, file_sha256(run.path), n_trials),
    )


@contextmanager
def _only_one(logs: Path, identity: SessionIdentity) -> Iterator[None]:
    """Keep a second program from running the same participant's session at the same time."""
    name = f".sub-{identity.participant_id}_ses-{identity.session:02d}.lock"
    lock = FileLock(logs / name, timeout=0)
    try:
        lock.acquire()
    except Timeout:  # is an OSError too
        raise ConfigError(
            f"participant {identity.participant_id}, session {identity.session} is running in "
            "another program"
        ) from None
    except OSError as error:
        raise LogError(f"{logs} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):  # Another program may have it by now; it is only a lock.
            (logs / name).unlink()


def log_session(
    study: Study,
    logs: Path,
    identity: SessionIdentity,
    *,
    open_apparatus: Callable[[], Apparatus],
    apparatus_settings: ApparatusSettings,
    stop_requested: Callable[[], str | None] = lambda: None,
    on_trial: Callable[[int, int], None] = lambda _done, _planned: None,
) -> tuple[Path, SessionOutcome]:
    """Plan a session, open its log and its apparatus, and run it.

    Returns
    -------
    path : Path
        The log.
    outcome : SessionOutcome
        How the run ended.

    Raises
    ------
    GhostBlitzError
        Before anything opens: if the session cannot be planned or its log cannot be created;
        later: if screen, keyboard or disk fails.
    """
    plan = study.plan(identity.seed)
    path = log_path(logs, identity.participant_id, session=identity.session, run=identity.run)
    with _only_one(logs, identity):
        apparatus = open_apparatus()
        try:
            with TrialLog(path) as log:
                outcome = run_session(
                    study.settings,
                    plan=plan,
                    screens=study.screens.with_key_labels(apparatus.key_labels()),
                    apparatus=apparatus,
                    apparatus_settings=apparatus_settings,
                    log=log,
                    identity=identity,
                    started=None if identity.source == "simulated" else datetime.now(timezone.utc),
                    stop_requested=stop_requested,
                    on_trial=on_trial,
                )
        finally:
            apparatus.close()
    return path, outcome


def simulate_study(
    study: Study,
    dataset: Path,
    *,
    n_participants: int,
    seed: int,
    model: str,
    on_participant: Callable[[int, int], None] = lambda _done, _planned: None,
) -> list[Path]:
    """Run simulated participants through the study, each in a session of its own.

    Raises
    ------
    GhostBlitzError
        As `log_session`; also if a participant is there already.
    """
    study.plan(seed_for_participant(seed, 0))  # refused before anything is written
    logs = begin_dataset(study, dataset)
    if any(logs.glob("sub-sim-*.jsonl")):
        raise ConfigError(f"{dataset} holds simulated participants already; give another --out")
    paths = []
    for index in range(n_participants):
        session_seed = seed_for_participant(seed, index)
        rng = rng_for(session_seed, "participant")
        identity = new_identity(
            logs,
            # As wide for any number, so that a later, larger simulation meets the same names.
            f"sim-{index + 1:05d}",
            session=1,
            seed=session_seed,
            source="simulated",
            participant_model=model,
        )
        deadline_s = study.settings.timing.deadline_s
        participant = make_participant(model, rng, deadline_s=deadline_s)

        def open_apparatus(participant=participant, rng=rng) -> Apparatus:  # type: ignore[no-untyped-def]
            return SimulatedApparatus(
                participant, game=study.game, responses=study.settings.responses, rng=rng
            )

        path, _ = log_session(
            study,
            logs,
            identity,
            open_apparatus=open_apparatus,
            apparatus_settings=ApparatusSettings(),
        )
        paths.append(path)
        on_participant(index + 1, n_participants)
    return paths
