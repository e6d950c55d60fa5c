"""From the logs of runs to rows of the trial table, every trial scored again from its facts."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_analysis.record_checks import PlanCheck, check_records
from ghostblitz_analysis.solving import direct_position, item_colours_text
from ghostblitz_task.errors import CardError, ConfigError, DatasetError, LogError
from ghostblitz_task.games import Game, GameSettings, GameState, Stimulus, make_game
from ghostblitz_task.schema import column
from ghostblitz_task.scoring import TrialEvent, TrialFacts, score_trial
from ghostblitz_task.trial_log import RunLog, file_sha256, read_log

__all__ = ["RunInfo", "RunTable", "read_run"]

Row = dict[str, Any]

#: Times are sums of a few floats; a difference beyond this is no rounding.
TOLERANCE = 1e-9
# How every log begins.
_HEADER_START = b'{"type": "header", '
# No session lasts 30 years; larger times lose their microseconds.
_MAX_TIME_S = 1e9
_MAX_INTEGER = 2**53
_SURROGATES = re.compile("[\ud800-\udfff]")
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    # Half of a surrogate pair is no character.
    "text": ("a text", lambda v: isinstance(v, str) and not _SURROGATES.search(v)),
    "integer": (
        "a whole number",
        lambda v: isinstance(v, int) and not isinstance(v, bool) and abs(v) < _MAX_INTEGER,
    ),
    "number": (
        "a finite number",
        lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v),
    ),
    "flag": ("true or false", lambda v: isinstance(v, bool)),
    "list": ("a list", lambda v: isinstance(v, list)),
    "table": ("a table", lambda v: isinstance(v, dict)),
    "any": ("a value", lambda v: True),
}

# A kind that ends in "?" may be null.
_HEADER = {
    "study_id": "text", "settings": "table", "settings_sha256": "text", "apparatus": "table",
    "participant_id": "text", "session": "integer", "run": "integer", "seed": "integer",
    "source": "text", "participant_model": "text?", "game": "table", "plan_sha256": "text",
    "n_trials_planned": "integer", "resumes": "table?", "started_utc": "text?",
}  # fmt: skip
_GAME = {
    "name": "text", "item_colours": "table", "n_pictures": "integer", "shout_item": "text?",
    "rules": "list",
}  # fmt: skip
_RESUMES = {"file": "text", "sha256": "text", "n_trials": "integer"}
_TRIAL = {
    "trial_index": "integer", "block_index": "integer", "block_type": "text", "phase": "text",
    "trial_in_block": "integer", "card": "text", "hat_over": "text?", "rule": "text",
    "mode": "text", "target": "text?", "answer": "text", "answer_kind": "text",
    "foreperiod_requested_s": "number", "fixation_onset_s": "number", "onset_s": "number",
    "deadline_s": "number", "second_response_window_s": "number", "events": "list",
    "held_at_onset": "list", "n_dropped_frames": "integer?", "longest_frame_s": "number?",
    "rt_s": "any", "response": "any", "response_mode": "any", "response_device": "any",
    "response_resolution_s": "any", "correct": "any", "mode_correct": "any",
    "error_kind": "any", "n_events": "any", "key_held_at_onset": "any",
}  # fmt: skip
_EVENT = {"t_s": "number", "device": "text", "kind": "text", "key": "text",
          "resolution_s": "number", "mode": "text?", "answer": "text?"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run of a session, as its log tells it.

    Attributes
    ----------
    file : str
        Name of the log.
    sha256 : str
        Of the file's bytes.
    status : str
        ``completed``, ``quit``, ``failed`` or ``killed`` (the log just ends).
    torn : bool
        Whether a last, incomplete line was left out.
    n_trials, n_interrupted, n_trials_planned : int
        Trials in this run, trials cut short, and trials that the whole session was to have.
    display_synchronised : bool or None
        Whether flips were seen to wait for the screen's refresh.
    keys_polled : bool or None
        Whether key times are those of polling, not of the key.
    resumes_file, resumes_sha256, resumes_n_trials
        The run that this one continues, its sum and its trials; null for a first run.
    plan_check : str
        Whether the trials are those that settings and seed give: ``same``, ``differs``,
        ``other_version`` (which wrote the log, so that they cannot be compared) or ``unknown``.
    """

    file: str
    sha256: str
    study_id: str
    game: str
    participant_id: str
    session: int
    run: int
    source: str
    participant_model: str | None
    status: str
    torn: bool
    n_trials: int
    n_interrupted: int
    n_trials_planned: int
    started_utc: str | None
    seed: int
    display_synchronised: bool | None
    keys_polled: bool | None
    settings_sha256: str
    plan_sha256: str
    resumes_file: str | None = None
    resumes_sha256: str | None = None
    resumes_n_trials: int | None = None
    plan_check: PlanCheck = "unknown"

    @property
    def identity(self) -> tuple[str, int, int]:
        """Participant, session and run."""
        return self.participant_id, self.session, self.run


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run and its trials as rows of the trial table."""

    info: RunInfo
    rows: tuple[Row, ...]


def read_run(path: Path) -> RunTable:
    """Read one log and score its trials again.

    Raises
    ------
    LogError
        If the file is no log, or is damaged.
    DatasetError
        If a record lacks a value or holds one of the wrong kind, or if a stored value is not
        what the facts, the settings or the plan give; naming file, trial, column and both values.
    """
    _check_first_line(path)
    log = read_log(path)
    _check_values(log.header, _HEADER, f"{path}, line 1 (header)")
    _check_header(log)
    game = _game(log)
    rows = tuple(_rows(log, game))
    return RunTable(_run_info(log, len(rows), check_records(log)), rows)


def _check_first_line(path: Path) -> None:
    """Refuse a log that was cut off in its header, with advice; it holds no trial."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from error
    if data.strip() and b"\n" not in data and (
        data.startswith(_HEADER_START) or _HEADER_START.startswith(data)
    ):  # fmt: skip
        try:
            json.loads(data)
        except ValueError:
            raise LogError(
                f"{path}, line 1: the header was cut off, as when a session is killed while it "
                "begins; the log holds no trial, so move it out of the data set"
            ) from None


def _check_values(record: Mapping[str, Any], kinds: Mapping[str, str], where: str) -> None:
    for name, kind in kinds.items():
        if name not in record:
            raise DatasetError(f"{where}: {name} is missing; this is no log of this program")
        value = record[name]
        words, is_of_kind = _KINDS[kind.rstrip("?")]
        if not (value is None and kind.endswith("?")) and not is_of_kind(value):
            raise DatasetError(f"{where}: {name} is {_shown(value)}, but should be {words}")


def _check_header(log: RunLog) -> None:
    header, where = log.header, f"{log.path}, line 1 (header)"
    _check_values(header["game"], _GAME, f"{where}, game")
    for item, colour in header["game"]["item_colours"].items():
        if not isinstance(colour, str):
            raise DatasetError(
                f"{where}, game: item_colours.{item} is {_shown(colour)}, but should be a text"
            )
    if header["resumes"] is not None:
        _check_values(header["resumes"], _RESUMES, f"{where}, resumes")
    if not header["participant_id"].strip():
        raise DatasetError(f"{where}: participant_id is empty; every run belongs to a participant")
    _check_level(header["source"], "source", where)
    for name in ("session", "run"):
        if header[name] < 1:
            raise DatasetError(f"{where}: {name} is {header[name]}, but they count from 1")
    text = json.dumps(header["settings"], sort_keys=True, ensure_ascii=True)
    if hashlib.sha256(text.encode()).hexdigest() != header["settings_sha256"]:
        raise DatasetError(
            f"{where}: settings and settings_sha256 do not belong together; the header was "
            "changed after the session began"
        )


def _check_level(value: str, name: str, where: str) -> None:
    levels = column(name).levels
    if levels and value not in levels:
        raise DatasetError(
            f"{where}: {name} is {value!r}, but should be one of {', '.join(levels)}"
        )


def _game(log: RunLog) -> Game:
    table = log.header["game"]
    settings = GameSettings(
        name=table["name"],
        item_colours=table["item_colours"],
        n_pictures=table["n_pictures"],
        shout_item=table["shout_item"],
        rules=frozenset(map(str, table["rules"])),
    )
    try:
        return make_game(settings)
    except ConfigError as error:
        raise DatasetError(f"{log.path}, line 1 (header): {error}") from error


def _run_info(log: RunLog, n_trials: int, plan_check: PlanCheck) -> RunInfo:
    header = log.header
    resumes = header["resumes"] or {}
    return RunInfo(
        file=log.path.name,
        sha256=file_sha256(log.path),
        study_id=header["study_id"],
        game=header["game"]["name"],
        participant_id=header["participant_id"],
        session=header["session"],
        run=header["run"],
        source=header["source"],
        participant_model=header["participant_model"],
        status=log.status,
        torn=log.torn,
        n_trials=n_trials,
        n_interrupted=sum(1 for _ in log.of_type("interrupted")),
        n_trials_planned=header["n_trials_planned"],
        started_utc=header["started_utc"],
        seed=header["seed"],
        display_synchronised=_flag(header["apparatus"], "display_synchronised"),
        keys_polled=_flag(header["apparatus"], "keys_polled"),
        settings_sha256=header["settings_sha256"],
        plan_sha256=header["plan_sha256"],
        resumes_file=resumes.get("file"),
        resumes_sha256=resumes.get("sha256"),
        resumes_n_trials=resumes.get("n_trials"),
        plan_check=plan_check,
    )


def _flag(table: Mapping[str, Any], name: str) -> bool | None:
    value = table.get(name)
    return value if isinstance(value, bool) else None


def _rows(log: RunLog, game: Game) -> Iterator[Row]:
    header = log.header
    session = {
        "study_id": header["study_id"],
        "game": game.name,
        "participant_id": header["participant_id"],
        "session": header["session"],
        "run": header["run"],
        "source": header["source"],
        "participant_model": header["participant_model"],
        "display_synchronised": _flag(header["apparatus"], "display_synchronised"),
        "item_colours": item_colours_text(game.item_colours),
    }
    stimuli: dict[tuple[str, str | None], Stimulus] = {}
    last: Mapping[str, Any] | None = None
    for record in log.of_type("trial"):
        where = f"{log.path}, line {record['n'] + 1}"
        _check_values(record, _TRIAL, where)
        where = f"{where}, trial {record['trial_index']}"
        _check_trial(record, last, where)
        key = (record["card"], record["hat_over"])
        if key not in stimuli:
            stimuli[key] = _stimulus(game, *key, where)
        row = _rescored(record, stimuli[key], game, where)
        row["resumed"] = header["run"] > 1 and last is None
        yield session | row
        last = record


def _check_trial(record: Mapping[str, Any], last: Mapping[str, Any] | None, where: str) -> None:
    for name in ("block_type", "phase"):
        _check_level(record[name], name, where)
    for name in ("trial_index", "block_index", "trial_in_block", "fixation_onset_s"):
        if record[name] < 0:
            raise DatasetError(f"{where}: {name} is {record[name]}, but cannot be negative")
    for name in ("onset_s", "deadline_s", "second_response_window_s"):
        if record[name] > _MAX_TIME_S:
            raise DatasetError(f"{where}: {name} is {record[name]} s, which is no time here")
    if record["onset_s"] < record["fixation_onset_s"]:
        raise DatasetError(
            f"{where}: onset_s is {record['onset_s']}, before fixation_onset_s "
            f"({record['fixation_onset_s']}); the card comes after the fixation mark"
        )
    if record["deadline_s"] <= 0:
        raise DatasetError(f"{where}: deadline_s is {record['deadline_s']}, but must be positive")
    if last is None:
        return
    for name in ("trial_index", "onset_s"):
        if record[name] <= last[name]:
            raise DatasetError(
                f"{where}: {name} is {record[name]}, but {last[name]} in the trial before it "
                f"(line {last['n'] + 1}); trials are repeated or out of order"
            )


def _stimulus(game: Game, card: str, hat_over: str | None, where: str) -> Stimulus:
    try:
        return game.stimulus(game.parse(card), GameState(hat_over=hat_over))
    except CardError as error:
        raise DatasetError(f"{where}: {error}") from error


def _facts(record: Mapping[str, Any], where: str) -> TrialFacts:
    for place, event in enumerate(record["events"]):
        if not isinstance(event, dict):
            raise DatasetError(f"{where}, event {place}: {_shown(event)} is no event")
        _check_values(event, _EVENT, f"{where}, event {place}")
        unknown = sorted(set(event) - set(TrialEvent.__dataclass_fields__))
        if unknown or "code" not in event:
            what = f"{unknown[0]} is unknown" if unknown else "code is missing"
            raise DatasetError(f"{where}, event {place}: {what}; this is no log of this program")
        if event["mode"] is not None and event["answer"] is None:
            raise DatasetError(f"{where}, event {place}: it has a mode but no answer")
    return TrialFacts.from_json(record)


def _rescored(record: Mapping[str, Any], stimulus: Stimulus, game: Game, where: str) -> Row:
    facts = _facts(record, where)
    try:
        score = score_trial(facts, stimulus, game)
    except KeyError as error:
        items = ", ".join(game.item_colours)
        raise DatasetError(f"{where}: response {error} is no item of this game ({items})") from None
    solution = stimulus.solution
    derived = {
        "rule": solution.rule,
        "mode": solution.mode,
        "target": solution.target,
        "answer": solution.answer,
        "answer_kind": solution.answer_kind,
        **score.to_json(),
    }
    for name, value in derived.items():
        if not _agree(record[name], value):
            raise DatasetError(
                f"{where}: {name} is stored as {_shown(record[name])}, but the facts give "
                f"{_shown(value)}; the log was changed, or written by another version"
            )
    block_type = record["block_type"]
    if block_type != "mixed" and solution.rule != block_type:
        raise DatasetError(
            f"{where}: card '{stimulus.card}' is {solution.rule}, but its block is {block_type}"
        )
    copied = (
        "trial_index", "block_index", "block_type", "phase", "trial_in_block", "card",
        "foreperiod_requested_s", "fixation_onset_s", "onset_s", "deadline_s",
        "n_dropped_frames", "longest_frame_s",
    )  # fmt: skip
    return (
        {name: record[name] for name in copied}
        | derived
        | {
            "block_kind": "mixed" if block_type == "mixed" else "pure",
            "direct_position": direct_position(stimulus, game.item_colours),
            "foreperiod_s": facts.onset_s - facts.fixation_onset_s,
        }
    )


def _agree(stored: object, derived: object) -> bool:
    if isinstance(derived, float) and isinstance(stored, (int, float)):
        return not isinstance(stored, bool) and abs(stored - derived) <= TOLERANCE
    return type(stored) is type(derived) and stored == derived


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
