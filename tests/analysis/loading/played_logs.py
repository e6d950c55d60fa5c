"""Logs of sessions that were played for cards, by scripts that know the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from scripted_apparatus import ScriptedApparatus, tap
from small_study import GRAB_KEYS, SPOOKY_GRAB_KEYS, SPOOKY_SHOUT_KEYS, make_screens, make_settings

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.screens import Screen
from ghostblitz_task.studies import Study, log_session, new_identity, resume_identity
from ghostblitz_task.trial_log import read_log

#: Of `small_study`: so many practice and test trials.
N_PRACTICE, N_TEST = 4, 12
#: The first and the last planned trial that is played for.
FIRST, LAST = N_PRACTICE, N_PRACTICE + N_TEST - 1
SECOND_KEYS = {"ghost": "y", "chair": "u", "bottle": "i", "book": "o", "mouse": "l"}
RIVAL = {"median_rt_s": {"direct": 0.5, "exclusion": 0.6}, "spread": 0.4, "error_rate": 0.3}

Edit = Callable[[Path, int, Callable[[dict[str, Any]], object]], None]
Script = Callable[[Screen, float, int], Iterable[DeviceEvent]]


class _Simulated(ScriptedApparatus):
    """Says of itself what goes with simulated data."""

    def describe(self) -> dict[str, Any]:
        return {"apparatus": "simulated", "display_synchronised": None, "keys_polled": False}


def study_of(game: str = "classic", **overrides: Any) -> Study:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    settings = make_settings(game, {"company": {}, **dotted})
    return Study(Path(), settings, settings.make_game(), make_screens(settings))


def for_two(**overrides: Any) -> Study:
    return study_of(responses__more_players=[{"grab_keys": SECOND_KEYS}], **overrides)


def play(
    study: Study,
    folder: Path,
    script: Script,
    *,
    participant: str = "p1",
    others: tuple[str, ...] = (),
    session: int = 1,
) -> Path:
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    identity = new_identity(
        logs, participant, session=session, seed=3, source="simulated",
        participant_model="scripted", others=others,
    )  # fmt: skip
    return _logged(study, logs, identity, script)


def resume(study: Study, stopped: Path, script: Script) -> Path:
    identity = resume_identity(study, read_log(stopped))
    return _logged(study, stopped.parent, identity, script)


def _logged(study: Study, logs: Path, identity: Any, script: Script) -> Path:
    path, _ = log_session(
        study,
        logs,
        identity,
        open_apparatus=lambda: _Simulated(script),
        apparatus_settings=ApparatusSettings(),
    )
    return path


def on_card(answer: Callable[[Any, float, int], list[DeviceEvent]]) -> Script:
    def script(screen: Screen, flip_s: float, n: int) -> list[DeviceEvent]:
        return answer(screen.stimulus, flip_s, n) if screen.stimulus else []

    return script


def keys_for(stimulus: Any, keys: dict[str, str], after_s: float, *, wrong: bool = False) -> Any:
    """Tap the right item's key, or another's, so long after the card."""
    answer = stimulus.solution.answer
    item = next(i for i in keys if i != answer) if wrong else answer
    return tap(keys[item], after_s)


def wrong_at(*numbers: int) -> Script:
    """Wrong at these cards of the session, right at all others; after 0.3 s."""
    return on_card(lambda s, t, n: keys_for(s, GRAB_KEYS, t + 0.3, wrong=n in numbers))


right = wrong_at()
never = on_card(lambda _s, _t, _n: [])


def both(first_s: float, second_s: float, *, first_wrong_at: tuple[int, ...] = ()) -> Script:
    """Two players, each after a time of their own."""
    return on_card(
        lambda s, t, n: [
            *keys_for(s, GRAB_KEYS, t + first_s, wrong=n in first_wrong_at),
            *keys_for(s, SECOND_KEYS, t + second_s),
        ]
    )


def spooky_right(after_s: float) -> Script:
    """Right in the mode that the card asks for."""
    return on_card(
        lambda s, t, _n: keys_for(
            s, SPOOKY_GRAB_KEYS if s.solution.mode == "grab" else SPOOKY_SHOUT_KEYS, t + after_s
        )
    )


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rewrite(path: Path, records: Iterable[dict[str, Any]]) -> None:
    lines = [json.dumps({**record, "n": n}) for n, record in enumerate(records)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def number_of(path: Path, trial_index: int) -> int:
    """Where a trial's record stands."""
    return next(
        r["n"] for r in records_of(path) if r["type"] == "trial" and r["trial_index"] == trial_index
    )


def cut_after(path: Path, trial_index: int) -> None:
    """Leave of a log what a kill after this trial leaves."""
    rewrite(path, records_of(path)[: number_of(path, trial_index) + 1])
