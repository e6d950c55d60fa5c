"""Sessions on a virtual clock with outputs for markers that keep what they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripted_apparatus import ScriptedApparatus

from ghostblitz_task.apparatus import Apparatus, Marker
from ghostblitz_task.apparatus.marker_outputs import Markers
from ghostblitz_task.apparatus_settings import MARKER_CODES, ApparatusSettings
from ghostblitz_task.errors import ApparatusError
from ghostblitz_task.studies import RunnableStudy, log_session, new_identity, resume_identity
from ghostblitz_task.trial_log import RunLog, read_log


@dataclass
class KeptOutput:
    """Keeps what it is given, but for the numbers at which it fails; reports what it is told to."""

    name: str = "kept"
    fails_at: Callable[[int], bool] = lambda _number: False
    reports: dict[str, Any] = field(default_factory=dict)
    taken: list[tuple[int, Marker]] = field(default_factory=list)
    n_asked: int = 0
    closed: bool = False

    def send(self, code: int, marker: Marker) -> None:
        self.n_asked += 1
        if self.fails_at(self.n_asked - 1):
            raise ApparatusError("it was pulled out")
        self.taken.append((code, marker))

    def end_pulse(self) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        return {"about": self.name}

    def report(self) -> dict[str, Any]:
        return {"n_taken": len(self.taken), **self.reports}

    def close(self) -> None:
        self.closed = True


class Scripted(ScriptedApparatus):
    """Says of itself what goes with simulated data."""

    def describe(self) -> dict[str, Any]:
        return {"apparatus": "simulated", "display_synchronised": None, "keys_polled": False}


def give_outputs(apparatus: Any, *outputs: KeptOutput) -> Apparatus:
    """Give an apparatus on a virtual clock its outputs."""

    def now_s() -> float:
        n = apparatus._n if isinstance(apparatus, ScriptedApparatus) else apparatus._n_frames
        return n / apparatus.refresh_hz

    apparatus.markers = Markers(outputs, MARKER_CODES, now_s)
    return apparatus  # type: ignore[no-any-return]


def run_marked(
    study: RunnableStudy,
    folder: Path,
    apparatus: Apparatus,
    *,
    others: tuple[str, ...] = (),
    resumes: Path | None = None,
) -> RunLog:
    """Run a session into a data set's folder, and read its log."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    if resumes is not None:
        identity = resume_identity(study, read_log(resumes))
    else:
        identity = new_identity(
            logs, "p1", session=1, seed=3, source="simulated", participant_model="scripted",
            others=others,
        )  # fmt: skip
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: apparatus,
        apparatus_settings=ApparatusSettings(),
    )
    return read_log(path)


def all_markers(run: RunLog) -> list[dict[str, Any]]:
    """All markers of a log, in the order of its records."""
    return [marker for record in run.records for marker in record.get("markers", ())]
