"""Whether the records of a log fit its own settings, its blocks and the plan of its seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from ghostblitz_task import __version__
from ghostblitz_task.config import StudySettings, validate_settings
from ghostblitz_task.design import Plan, plan_session
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.trial_log import RunLog

__all__ = ["PlanCheck", "check_records"]

#: Whether the trials were compared with the plan that settings and seed give: they are the same;
#: the plan is another one; another version wrote the log, so that its plan cannot be made.
PlanCheck = Literal["same", "differs", "other_version", "unknown"]

_ENDS = ("completed", "quit", "failed")
_KEYBOARD = ("grab_keys", "shout_keys", "other_keys")


def check_records(log: RunLog) -> PlanCheck:
    """Compare the records of a log with its settings, with one another and with the plan.

    Parameters
    ----------
    log : RunLog
        Whose records were found to hold values of the right kinds.

    Returns
    -------
    str
        What came of the comparison with the plan.

    Raises
    ------
    DatasetError
        Naming file, line, trial and both values of the first contradiction.
    """
    _check_source(log)
    same_version = _software(log) == __version__
    try:
        settings = validate_settings(
            log.header["settings"], StudySettings, where=f"{log.path}, line 1 (header), settings"
        )
    except ConfigError as error:
        if same_version:
            raise DatasetError(str(error)) from error
        return "other_version"
    _check_header(log, settings)
    _check_blocks(log, settings)
    _check_trials(log, settings)
    _check_events(log, settings)
    _check_end(log)
    return _check_plan(log, settings) if same_version else "other_version"


def _software(log: RunLog) -> object:
    software = log.header.get("software")
    return software.get("ghostblitz") if isinstance(software, dict) else None


def _place(log: RunLog, record: Mapping[str, Any]) -> str:
    where = f"{log.path}, line {record['n'] + 1}"
    if record["type"] == "trial":
        return f"{where}, trial {record['trial_index']}"
    return f"{where} ({record['type']})"


def _differ(where: str, name: str, found: object, source: str, expected: object) -> DatasetError:
    return DatasetError(
        f"{where}: {name} is {_shown(found)}, but {source} {_shown(expected)}; the log was changed"
    )


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _same(found: object, expected: object) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    return found == expected


def _check_source(log: RunLog) -> None:
    header, where = log.header, f"{log.path}, line 1 (header)"
    kind, source, model = (
        header["apparatus"].get("apparatus"), header["source"], header["participant_model"],
    )  # fmt: skip
    if not isinstance(kind, str):
        raise DatasetError(f"{where}: apparatus.apparatus is {_shown(kind)}, but names what it was")
    if source == "imported":
        raise DatasetError(f"{where}: source is {_shown(source)}, but a log is of a session here")
    if (source == "simulated") != (kind == "simulated"):
        raise DatasetError(
            f"{where}: source is {_shown(source)}, but apparatus.apparatus is {_shown(kind)}; only "
            "a simulated apparatus gives simulated data"
        )
    if (source == "simulated") != (model is not None):
        raise DatasetError(
            f"{where}: source is {_shown(source)}, but participant_model is {_shown(model)}; only "
            "simulated data have a model"
        )


def _check_header(log: RunLog, settings: StudySettings) -> None:
    game, header = settings.make_game(), log.header
    expected = {
        "study_id": settings.study.id,
        "n_trials_planned": sum(block.n_trials for block in settings.blocks),
        "game.name": game.name,
        "game.item_colours": dict(game.item_colours),
        "game.n_pictures": game.n_pictures,
        "game.shout_item": getattr(game, "shout_item", None),
        "game.rules": sorted(game.rules),
    }
    found = dict(header) | {f"game.{key}": value for key, value in header["game"].items()}
    for name, value in expected.items():
        if not _same(found[name], value):
            where = f"{log.path}, line 1 (header)"
            raise _differ(where, name, found[name], "its settings give", value)


def _check_blocks(log: RunLog, settings: StudySettings) -> None:
    """Check that block records follow one another and are those of the settings."""
    last: int | None = None
    for record in log.of_type("block"):
        where, index = _place(log, record), record.get("block_index")
        if not isinstance(index, int) or isinstance(index, bool) or not (
            0 <= index < len(settings.blocks)
        ):  # fmt: skip
            raise DatasetError(
                f"{where}: block_index is {_shown(index)}, but the settings have "
                f"{len(settings.blocks)} blocks, counted from 0"
            )
        if last is not None and index != last + 1:
            raise DatasetError(
                f"{where}: block_index is {index} after {last}; blocks are missing, repeated or "
                "out of order"
            )
        last, block = index, settings.blocks[index]
        expected = {"label": block.label, "phase": block.phase, "block_type": block.type,
                    "n_trials": block.n_trials}  # fmt: skip
        for name, value in expected.items():
            if not _same(record.get(name), value):
                raise _differ(where, name, record.get(name), "the settings say", value)


def _check_trials(log: RunLog, settings: StudySettings) -> None:
    """Check that trials follow one another in their blocks, timed as the settings say."""
    places = [(b, i) for b, block in enumerate(settings.blocks) for i in range(block.n_trials)]
    resumes = log.header["resumes"]
    following = resumes["n_trials"] if resumes else 0
    block_record: Mapping[str, Any] | None = None
    for record in log.records:
        if record["type"] == "block":
            block_record = record
        if record["type"] != "trial":
            continue
        where, index = _place(log, record), record["trial_index"]
        if index != following:
            raise DatasetError(
                f"{where}: trial_index is {index}, but the next trial is {following}; trials are "
                "missing, repeated or out of order"
            )
        if index >= len(places):
            raise DatasetError(
                f"{where}: trial_index is {index}, but the settings plan {len(places)} trials"
            )
        following += 1
        block_index, trial_in_block = places[index]
        block = settings.blocks[block_index]
        expected = {
            "block_index": block_index,
            "trial_in_block": trial_in_block,
            "block_type": block.type,
            "phase": block.phase,
            "deadline_s": settings.timing.deadline_s,
            "second_response_window_s": settings.timing.second_response_window_s,
        }
        for name, value in expected.items():
            if not _same(record[name], value):
                raise _differ(where, name, record[name], "the settings say", value)
        if block_record is None or block_record["block_index"] != block_index:
            before = "none" if block_record is None else block_record["block_index"]
            raise DatasetError(
                f"{where}: block_index is {block_index}, but the last block record before it is "
                f"{before}; a block record is missing"
            )
        _check_order_of_times(record, where)


def _check_order_of_times(record: Mapping[str, Any], where: str) -> None:
    names = ("onset_s", "offset_s", "end_s")
    times = [(name, record.get(name)) for name in names]
    known = [(n, t) for n, t in times if isinstance(t, (int, float)) and not isinstance(t, bool)]
    for (before, earlier), (name, later) in pairwise(known):
        if later < earlier:
            raise DatasetError(f"{where}: {name} is {later}, but {before} is {earlier}, after it")


def _events(log: RunLog) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for record in log.records:
        events = record.get("events", ())
        if not isinstance(events, (list, tuple)):
            raise DatasetError(f"{_place(log, record)}: events is {_shown(events)}, but is a list")
        for number, event in enumerate(events):
            where = f"{_place(log, record)}, event {number}"
            if not isinstance(event, dict):
                raise DatasetError(f"{where}: {_shown(event)} is no event")
            yield where, event


def _check_events(log: RunLog, settings: StudySettings) -> None:
    """Check what each key means, and that no event stands there twice."""
    responses = settings.responses
    meanings: dict[str, tuple[str, str | None, str | None]] = {
        key: ("grab_keys", "grab", item) for item, key in responses.grab_keys.items()
    }
    meanings |= {key: ("shout_keys", "shout", item) for item, key in responses.shout_keys.items()}
    # Polled keys share the time of their poll, so that two of them may look the same.
    polled = log.header["apparatus"].get("keys_polled") is True
    seen: dict[str, str] = {}
    for where, event in _events(log):
        key, device = event.get("key"), event.get("device")
        names = ("device", "mode", "answer")
        found = tuple(event.get(name) for name in names)
        if device in _KEYBOARD:
            expected = meanings.get(str(key), ("other_keys", None, None))
            for name, value, right in zip(names, found, expected, strict=True):
                if value != right:
                    source = f"by the settings, key {_shown(key)} gives"
                    raise _differ(where, name, value, source, right)
        elif device != "pointer":
            raise DatasetError(
                f"{where}: device is {_shown(device)}, but should be one of "
                f"{', '.join(_KEYBOARD)}, pointer"
            )
        elif not responses.pointer and found[1:] != (None, None):
            raise _differ(where, "answer", found[2], "by the settings, the pointer gives", None)
        text = json.dumps(event, sort_keys=True)
        if text in seen and not polled and event.get("repeated") is not True:
            raise DatasetError(
                f"{where}: key {_shown(key)} at {_shown(event.get('t_s'))} s stands in "
                f"{seen[text].removeprefix(f'{log.path}, ')} already; an event stands in one "
                "record, once"
            )
        seen[text] = where


def _check_end(log: RunLog) -> None:
    resumes = log.header["resumes"]
    n_done = sum(1 for _ in log.of_type("trial")) + (resumes["n_trials"] if resumes else 0)
    n_planned = log.header["n_trials_planned"]
    for record in log.of_type("end"):
        where = _place(log, record)
        if record is not log.records[-1]:
            raise DatasetError(
                f"{where}: there are records after the end; the log was changed, or two were joined"
            )
        status, n_trials = record.get("status"), record.get("n_trials")
        if status not in _ENDS:
            raise DatasetError(
                f"{where}: status is {_shown(status)}, but should be one of {', '.join(_ENDS)}"
            )
        if not _same(n_trials, n_done):
            raise _differ(where, "n_trials", n_trials, "the trials up to it are", n_done)
        if status == "completed" and n_done != n_planned:
            raise DatasetError(
                f"{where}: status is completed, but {n_done} of {n_planned} trials were done"
            )


@lru_cache(maxsize=64)
def _plan(settings: str, seed: int) -> Plan:
    study = StudySettings.model_validate_json(settings)
    return plan_session(study, study.make_game(), seed=seed)


def _check_plan(log: RunLog, settings: StudySettings) -> PlanCheck:
    """Compare the sequence of trials with its hash and with the plan that the seed gives.

    The plan is made by NumPy's generators, which another version of NumPy may run differently;
    so another plan is no contradiction as long as the trials do not deny their own hash.
    """
    header = log.header
    trials = list(log.of_type("trial"))
    try:
        plan = _plan(settings.model_dump_json(), header["seed"])
    except (ConfigError, ValueError) as error:  # NumPy refuses negative seeds by a ValueError.
        text = str(error).splitlines()[0]
        raise DatasetError(
            f"{log.path}, line 1 (header): its settings and seed {header['seed']} give no plan: "
            f"{text}"
        ) from error
    if plan.sha256 != header["plan_sha256"]:
        if len(trials) == len(plan.trials):
            _check_own_hash(log, trials)
        return "differs"
    for record in trials:
        planned = plan.trials[record["trial_index"]]
        expected = {"card": str(planned.card), "foreperiod_requested_s": planned.foreperiod_s}
        for name, value in expected.items():
            if not _same(record[name], value):
                raise _differ(_place(log, record), name, record[name], "its seed gives", value)
    return "same"


def _check_own_hash(log: RunLog, trials: list[Mapping[str, Any]]) -> None:
    rows = [[t["block_index"], t["card"], t["foreperiod_requested_s"]] for t in trials]
    found = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    if found != log.header["plan_sha256"]:
        where = f"{log.path}, line 1 (header)"
        stored = log.header["plan_sha256"]
        raise _differ(where, "plan_sha256", stored, "the trials have the sum", found)
