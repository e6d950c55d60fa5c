"""Beginning, resuming and protecting sessions, without a screen."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from ghostblitz_task.errors import ConfigError, LogError
from ghostblitz_task.studies import (
    find_resumable,
    new_identity,
    open_study,
    resume_identity,
    simulate_study,
)
from ghostblitz_task.trial_log import read_log

ROOT = Path(__file__).parent.parent.parent
STUDY = ROOT / "experiments" / "classic-grab"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "data"
    simulate_study(open_study(STUDY), folder, n_participants=1, seed=1, model="perfect")
    return folder


@pytest.fixture
def cut_short(simulated: Path, tmp_path: Path) -> Path:
    """A data set whose only session was killed after 40 trials, within a line."""
    folder = tmp_path / "data"
    shutil.copytree(simulated, folder)
    (log,) = (folder / "logs").glob("*.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    n, kept = 0, []
    for line in lines:
        n += json.loads(line)["type"] == "trial"
        kept.append(line if n <= 40 else line[: len(line) // 2])
        if n > 40:
            break
    log.write_bytes(b"".join(kept))
    return folder


def test_killed_session_is_resumed_after_its_last_whole_trial(cut_short: Path) -> None:
    run = find_resumable(cut_short / "logs", "sim-00001", session=1)
    assert run.torn
    identity = resume_identity(open_study(STUDY), run)
    assert (identity.run, identity.seed) == (2, run.header["seed"])
    assert identity.resumes is not None
    assert identity.resumes.n_trials == 40


def test_session_begun_under_other_settings_is_not_resumed(cut_short: Path) -> None:
    run = find_resumable(cut_short / "logs", "sim-00001", session=1)
    study = open_study(STUDY, language="de")
    with pytest.raises(ConfigError, match="was begun with other settings"):
        resume_identity(study, run)


def test_complete_session_is_neither_resumed_nor_begun_again(simulated: Path) -> None:
    logs = simulated / "logs"
    with pytest.raises(ConfigError, match="is complete; there is nothing to resume"):
        find_resumable(logs, "sim-00001", session=1)
    with pytest.raises(ConfigError, match=r"has a session 1 already .* or give --session 2"):
        new_identity(logs, "sim-00001", session=1, seed=1, source="human")


def test_simulated_participants_are_not_added_to_others(simulated: Path) -> None:
    with pytest.raises(ConfigError, match="holds simulated participants already"):
        simulate_study(open_study(STUDY), simulated, n_participants=2, seed=1, model="perfect")


def test_folder_that_takes_no_lock_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_more: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.raises(LogError, match=r"logs cannot be written: Read-only file system$"):
        simulate_study(
            open_study(STUDY), tmp_path / "data", n_participants=1, seed=1, model="perfect"
        )


def test_lock_and_half_made_files_are_gone_after_a_session(simulated: Path) -> None:
    assert [p.name for p in (simulated / "logs").iterdir()] == ["sub-sim-00001_ses-01_run-01.jsonl"]
    assert {p.name for p in simulated.iterdir()} == {"study.toml", "analysis.toml", "logs"}
    (log,) = (simulated / "logs").iterdir()
    assert read_log(log).status == "completed"


@pytest.mark.slow
def test_example_data_are_what_the_readme_beside_them_says(tmp_path: Path) -> None:
    simulate_study(
        open_study(STUDY), tmp_path / "data", n_participants=3, seed=20261129, model="ex-gaussian"
    )
    for made in sorted((tmp_path / "data" / "logs").iterdir()):
        shipped = ROOT / "data" / "example" / "logs" / made.name
        runs = [read_log(path) for path in (made, shipped)]
        assert runs[0].records == runs[1].records
        assert {r.header["source"] for r in runs} == {"simulated"}
