"""From a study's folder and a participant to a running session: what `run` and `simulate` share.

A data set is a folder that holds ``logs/`` and copies of the settings that made them. What is
particular to a kind of study is behind `RunnableStudy`; `open_study` finds the kind by the game.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.card_studies import Study, open_card_study
from ghostblitz_task.config import STUDY_FILE
from ghostblitz_task.errors import ConfigError, LogError
from ghostblitz_task.runnable import RunnableStudy, game_name
from ghostblitz_task.seeds import seed_for_participant
from ghostblitz_task.session import SessionOutcome
from ghostblitz_task.session_header import Resumed, SessionIdentity
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
    "RunnableStudy",
    "Study",
    "begin_dataset",
    "find_resumable",
    "log_session",
    "new_identity",
    "open_card_study",
    "open_study",
    "resume_identity",
    "simulate_study",
]

LOG_FOLDER = "logs"
_ANALYSIS_FILE = "analysis.toml"
# Room for the largest session there can be, with a margin; checked before a session begins.
_MIN_FREE_BYTES = 50_000_000


def open_study(folder: Path, *, language: str | None = None) -> RunnableStudy:
    """Read a study of any game and check that all it needs is there.

    Raises
    ------
    ConfigError
        For anything that would go wrong later: settings, language, drawings.
    """
    if game_name(folder) == "captain":
        # Read late: no other study needs it.
        from ghostblitz_task.captain.study import open_captain_study

        return open_captain_study(folder, language=language)
    return open_card_study(folder, language=language)


def begin_dataset(study: RunnableStudy, dataset: Path) -> Path:
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


def _check_same_study(study: RunnableStudy, copy: Path) -> None:
    if (game_name(copy) == "captain") != (game_name(study.folder) == "captain"):
        raise ConfigError(f"{copy.parent} holds a study of another kind; give another --out")
    stored = study.read_settings(copy)
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
    others: Sequence[str] = (),
) -> SessionIdentity:
    """Return the identity of a session that is begun for the first time.

    Raises
    ------
    ConfigError
        If an id cannot be used or is given twice, or this session has been begun before.
    """
    participant_id = check_participant_id(participant_id)
    others = tuple(check_participant_id(other) for other in others)
    ids = [player.casefold() for player in (participant_id, *others)]
    if len(set(ids)) < len(ids):
        raise ConfigError("two of those who play together have the same participant id")
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
        others=others,
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


def resume_identity(study: RunnableStudy, run: RunLog) -> SessionIdentity:
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
    if header["plan_sha256"] != study.plan_sha256(header["seed"]):
        raise ConfigError(
            f"{run.path.name} was begun by a version of ghostblitz that planned other trials"
        )
    return SessionIdentity(
        header["participant_id"],
        session=header["session"],
        run=header["run"] + 1,
        seed=header["seed"],
        source=header["source"],
        participant_model=header["participant_model"],
        others=tuple(header.get("others", ())),
        resumes=Resumed(run.path.name, file_sha256(run.path), study.n_done(run)),
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


def _analysis_sha256(logs: Path) -> str | None:
    """Return the hash of the bytes of the data set's analysis settings; null without any."""
    file = logs.parent / _ANALYSIS_FILE
    try:
        return file_sha256(file) if file.exists() else None
    except OSError as error:
        raise LogError(f"{file} cannot be read: {error.strerror}") from error


def log_session(
    study: RunnableStudy,
    logs: Path,
    identity: SessionIdentity,
    *,
    open_apparatus: Callable[[], Apparatus],
    apparatus_settings: ApparatusSettings,
    stop_requested: Callable[[], str | None] = lambda: None,
    on_trial: Callable[[int, int], None] = lambda _done, _planned: None,
    quote_self_test: Callable[[Apparatus], Mapping[str, Any] | None] = lambda _apparatus: None,
) -> tuple[Path, SessionOutcome]:
    """Plan a session, open its log and its apparatus, and run it.

    The log says which ``analysis.toml`` stands in the data set as the session begins.
    `quote_self_test` finds, once the apparatus is open, what its timing self-test said.

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
    identity = replace(identity, analysis_file_sha256=_analysis_sha256(logs))
    session = study.prepare(logs, identity)
    path = log_path(logs, identity.participant_id, session=identity.session, run=identity.run)
    with _only_one(logs, identity):
        apparatus = open_apparatus()
        try:
            with TrialLog(path) as log:
                outcome = session.run(
                    apparatus,
                    apparatus_settings=apparatus_settings,
                    log=log,
                    started=None if identity.source == "simulated" else datetime.now(timezone.utc),
                    stop_requested=stop_requested,
                    on_trial=on_trial,
                    timing_self_test=quote_self_test(apparatus),
                )
        finally:
            apparatus.close()
    return path, outcome


def simulate_study(
    study: RunnableStudy,
    dataset: Path,
    *,
    n_participants: int,
    seed: int,
    model: str | None = None,
    on_participant: Callable[[int, int], None] = lambda _done, _planned: None,
) -> list[Path]:
    """Run simulated participants through the study, each in a session of its own.

    Without a model, the study's own default answers.

    Raises
    ------
    GhostBlitzError
        As `log_session`; also if a participant is there already.
    """
    model = model or study.default_model
    study.check(seed_for_participant(seed, 0))  # refused before anything is written
    logs = begin_dataset(study, dataset)
    if any(logs.glob("sub-sim-*.jsonl")):
        raise ConfigError(f"{dataset} holds simulated participants already; give another --out")
    paths = []
    for index in range(n_participants):
        session_seed = seed_for_participant(seed, index)
        # As wide for any number, so that a later, larger simulation meets the same names.
        name = f"sim-{index + 1:05d}"
        identity = new_identity(
            logs,
            name,
            session=1,
            seed=session_seed,
            source="simulated",
            participant_model=model,
            others=[f"{name}-{seat + 1}" for seat in range(1, study.n_players)],
        )

        def open_apparatus(session_seed: int = session_seed) -> Apparatus:
            return study.simulated_apparatus(model, session_seed)

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
