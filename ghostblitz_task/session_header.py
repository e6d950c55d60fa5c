"""Whose session it is, and the header that says so at the top of its log."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Protocol

from ghostblitz_task import __version__
from ghostblitz_task.apparatus import Apparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.config import StudyInfo, StudySettings
from ghostblitz_task.design import Plan

__all__ = ["Resumed", "SessionIdentity", "header_start", "in_utc", "session_header"]


@dataclass(frozen=True, slots=True)
class Resumed:
    """The run that is taken up again: its file, its hash, and the trials it completed."""

    file: str
    sha256: str
    n_trials: int


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """Whose session this is, and how it came about.

    `others` are the participants in the other seats, where several play at one machine.
    `analysis_file_sha256` is of the bytes of the data set's ``analysis.toml`` as the session
    begins, so that it can be shown later what was stated before the data; null where there is none.
    """

    participant_id: str
    session: int
    run: int
    seed: int
    source: Literal["human", "robot", "simulated"]
    participant_model: str | None = None
    resumes: Resumed | None = None
    others: tuple[str, ...] = ()
    analysis_file_sha256: str | None = None


class DescribedSettings(Protocol):
    """What a header says of any study's settings."""

    @property
    def study(self) -> StudyInfo:
        """What the study is."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of the settings."""
        ...

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """Return the settings as they stand in the log."""
        ...


def header_start(
    settings: DescribedSettings,
    apparatus: Apparatus,
    apparatus_settings: ApparatusSettings,
    identity: Mapping[str, Any],
    timing_self_test: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return how the header of every session begins, whatever its game is.

    `timing_self_test` is what is quoted of the test of this machine; null where there is none.
    """
    about = dict(apparatus.describe())
    if apparatus.markers is not None:
        about["markers"] = dict(apparatus.markers.describe())
    return {
        "software": {
            "ghostblitz": __version__,
            "python": platform.python_version(),
            "platform": platform.system(),
        },
        "study_id": settings.study.id,
        "study_title": settings.study.title,
        "settings": settings.model_dump(mode="json"),
        "settings_sha256": settings.sha256,
        "apparatus_settings": apparatus_settings.model_dump(mode="json"),
        "apparatus": about,
        "timing_self_test": dict(timing_self_test) if timing_self_test else None,
        **identity,
        "language": settings.study.language,
    }


def in_utc(started: datetime | None) -> str | None:
    """Return a wall-clock time as it stands in a header; simulated sessions have none."""
    return started.astimezone(timezone.utc).isoformat() if started else None


def session_header(
    settings: StudySettings,
    plan: Plan,
    apparatus: Apparatus,
    apparatus_settings: ApparatusSettings,
    identity: SessionIdentity,
    started: datetime | None,
    timing_self_test: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the header record: all that is known before the first screen.

    Without `started`, the header of the same session is the same at any time.
    """
    game = settings.make_game()
    whose = dataclasses.asdict(identity)
    return {
        **header_start(settings, apparatus, apparatus_settings, whose, timing_self_test),
        "game": {
            "name": game.name,
            "item_colours": dict(game.item_colours),
            "n_pictures": game.n_pictures,
            "shout_item": getattr(game, "shout_item", None),
            "rules": sorted(game.rules),
            "times": list(getattr(game, "times", ())),
            "hat_mover": game.hat_mover,
        },
        "plan_sha256": plan.sha256,
        "n_trials_planned": len(plan.trials),
        "design_report": plan.report_json(),
        "started_utc": in_utc(started),
    }
