"""How long it takes to have a trial on disk."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ghostblitz_task.errors import LogError
from ghostblitz_task.timing.measured import DiskFigures
from ghostblitz_task.timing.summaries import spread_of
from ghostblitz_task.trial_log import TrialLog

__all__ = ["SCRATCH_PREFIX", "file_system", "time_writes"]

#: Folders that a killed test may leave; the next one takes them away.
SCRATCH_PREFIX = ".writing-"
N_WRITES = 200
# A trial with press and release of one key has 1.3 kB in the example data.
_N_BYTES = 1300


def time_writes(
    folder: Path,
    *,
    pause_s: float | None,
    n_writes: int = N_WRITES,
    now_s: Callable[[], float] = time.perf_counter,
) -> DiskFigures:
    """Append records of a trial's length to a log in a folder, and take the file away again.

    Parameters
    ----------
    folder : Path
        On the disk of the data set.
    pause_s : float or None
        How long a session has for it.

    Raises
    ------
    LogError
        If the folder cannot be written.
    """
    record = {"text": "x" * _N_BYTES}
    times_s = []
    try:
        for left in folder.glob(f"{SCRATCH_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX, dir=folder) as scratch:
            path = Path(scratch) / "writing.jsonl"
            with TrialLog(path) as log:
                log.append("header", {})
                size = path.stat().st_size
                for _ in range(n_writes):
                    began_s = now_s()
                    log.append("trial", record)
                    times_s.append(now_s() - began_s)
                n_bytes = (path.stat().st_size - size) // n_writes
    except OSError as error:
        raise LogError(f"{folder} cannot be written: {error.strerror}") from error
    return DiskFigures(spread_of(times_s), tuple(times_s), n_bytes, pause_s, file_system(folder))


def file_system(folder: Path) -> str | None:
    """Return what kind of file system a folder is on; None where the system does not say."""
    if sys.platform != "linux":
        return None
    device = os.stat(folder).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        # "id parent major:minor root mount-point options [optional fields] - type source ..."
        about, _, kind = line.partition(" - ")
        if about.split()[2] == wanted:
            return kind.split()[0]
    return None
