"""Whether the records of a log fit its own settings, its blocks and the plan of its seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from ghostblitz_analysis.record_values import shown
from ghostblitz_task import __version__
from ghostblitz_task.config import BlockSettings, StudySettings
from ghostblitz_task.design import Plan, plan_session
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.event_meanings import as_buttons, is_button, key_meanings
from ghostblitz_task.games import GameState
from ghostblitz_task.rounds import Company
from ghostblitz_task.session import RECYCLED_BLOCK
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.trial_log import RunLog

__all__ = ["Checked", "PlanCheck", "check_records"]

#: Whether the trials were compared with the plan that settings and seed give: they are the same;
#: the plan is another one; another version wrote the log, so that its plan cannot be made.
PlanCheck = Literal["same", "differs", "other_version", "unknown"]

_ENDS = ("completed", "quit", "failed")
# What logs of before there were such games lack in the header's game.
_NEWER_GAME_KEYS = ("game.times", "game.hat_mover")
_KEYBOARD = ("grab_keys", "shout_keys", "other_keys")
_PADS = tuple(as_buttons(device) for device in _KEYBOARD)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of comparing a log with its settings and its plan.

    Attributes
    ----------
    plan_check : str
        Whether the trials are those that settings and seed give.
    settings : StudySettings or None
        The study's; None where another version wrote them in a way that this one cannot read.
    plan : Plan or None
        What settings and seed give; None where the trials are not those, or that is not known.
    """

    plan_check: PlanCheck
    settings: StudySettings | None = None
    plan: Plan | None = None

    @property
    def table(self) -> GameState | None:
        """What lay on the table before the session's first card, where the plan is known."""
        return self.plan.table if self.plan else None


def check_records(log: RunLog, company: Company | None) -> Checked:
    """Compare the records of a log with its settings, with one another and with the plan.

    Parameters
    ----------
    log : RunLog
        Whose records were found to hold values of the right kinds.
    company : Company or None
        Who played for the cards, as the header says; None where nobody did.

    Returns
    -------
    Checked
        The settings, and what came of the comparison with the plan.

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
        return Checked("other_version")
    _check_header(log, settings)
    _check_company(log, settings, company)
    blocks = [*settings.blocks]
    if company is not None:
        # Of as many trials as there can be; how many there were to be, the game itself says.
        blocks.append(BlockSettings(label=RECYCLED_BLOCK, n_trials=max(company.max_recycled, 1)))
    _check_blocks(log, settings, blocks)
    _check_trials(log, settings, blocks, company)
    _check_events(log, settings)
    _check_end(log, company)
    if not same_version:
        return Checked("other_version", settings)
    return _check_plan(log, settings)


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
        f"{where}: {name} is {shown(found)}, but {source} {shown(expected)}; the log was changed"
    )


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
        raise DatasetError(f"{where}: apparatus.apparatus is {shown(kind)}, but names what it was")
    if source == "imported":
        raise DatasetError(f"{where}: source is {shown(source)}, but a log is of a session here")
    if (source == "simulated") != (kind == "simulated"):
        raise DatasetError(
            f"{where}: source is {shown(source)}, but apparatus.apparatus is {shown(kind)}; only "
            "a simulated apparatus gives simulated data"
        )
    if (source == "simulated") != (model is not None):
        raise DatasetError(
            f"{where}: source is {shown(source)}, but participant_model is {shown(model)}; only "
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
        "game.times": list(getattr(game, "times", ())),
        "game.hat_mover": game.hat_mover,
    }
    found = dict(header) | {f"game.{key}": value for key, value in header["game"].items()}
    for name, value in expected.items():
        if name in _NEWER_GAME_KEYS and name not in found and not value:
            continue
        if not _same(found.get(name), value):
            where = f"{log.path}, line 1 (header)"
            raise _differ(where, name, found[name], "its settings give", value)


def _check_company(log: RunLog, settings: StudySettings, company: Company | None) -> None:
    """Compare who played, as the header says, with who was to play."""
    wanted, where = settings.company, f"{log.path}, line 1 (header)"
    if wanted is None or company is None:
        if (wanted is None) != (company is None):
            said = "null" if company is None else "a table"
            raise DatasetError(
                f"{where}: company is {said}, but its settings "
                f"{'have one' if wanted else 'have none'}; the log was changed"
            )
        return
    rival = company.rival_description
    found = {
        "company.max_recycled": company.max_recycled,
        "the number of company.players": len(company.players),
        "company.rival.kind": rival.kind if rival else None,
    }
    expected = {
        "company.max_recycled": wanted.max_recycled,
        "the number of company.players": len(settings.responses.players),
        "company.rival.kind": wanted.rival.kind if wanted.rival else None,
    }
    for name, value in expected.items():
        if not _same(found[name], value):
            raise _differ(where, name, found[name], "its settings give", value)


def _check_blocks(log: RunLog, settings: StudySettings, blocks: list[BlockSettings]) -> None:
    """Check that block records follow one another and are those of the settings."""
    last: int | None = None
    for record in log.of_type("block"):
        where, index = _place(log, record), record.get("block_index")
        if not isinstance(index, int) or isinstance(index, bool) or not (
            0 <= index < len(blocks)
        ):  # fmt: skip
            raise DatasetError(
                f"{where}: block_index is {shown(index)}, but the settings have "
                f"{len(settings.blocks)} blocks, counted from 0"
            )
        if last is not None and index != last + 1:
            raise DatasetError(
                f"{where}: block_index is {index} after {last}; blocks are missing, repeated or "
                "out of order"
            )
        last, block = index, blocks[index]
        expected: dict[str, object] = {
            "label": block.label, "phase": block.phase, "block_type": block.type,
        }  # fmt: skip
        if index < len(settings.blocks):
            expected["n_trials"] = block.n_trials
        for name, value in expected.items():
            if not _same(record.get(name), value):
                raise _differ(where, name, record.get(name), "the settings say", value)


def _check_trials(
    log: RunLog, settings: StudySettings, blocks: list[BlockSettings], company: Company | None
) -> None:
    """Check that trials follow one another in their blocks, timed as the settings say."""
    places = [(b, i) for b, block in enumerate(blocks) for i in range(block.n_trials)]
    n_planned = sum(block.n_trials for block in settings.blocks)
    n_most = n_planned + (company.max_recycled if company else 0)
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
        if index >= n_most:
            again = " and at most {} with cards that come again"
            raise DatasetError(
                f"{where}: trial_index is {index}, but the settings plan {n_planned} trials"
                + (again.format(company.max_recycled) if company else "")
            )
        following += 1
        block_index, trial_in_block = places[index]
        block = blocks[block_index]
        expected = {
            "block_index": block_index,
            "trial_in_block": trial_in_block,
            "block_type": block.type,
            "phase": block.phase,
            "deadline_s": settings.timing.deadline_s,
            "second_response_window_s": settings.timing.second_response_window_s,
        }
        if company is not None:
            expected["recycled"] = index >= n_planned
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
            raise DatasetError(f"{_place(log, record)}: events is {shown(events)}, but is a list")
        for number, event in enumerate(events):
            where = f"{_place(log, record)}, event {number}"
            if not isinstance(event, dict):
                raise DatasetError(f"{where}: {shown(event)} is no event")
            yield where, event


def _pads(log: RunLog) -> list[Mapping[str, Any]]:
    """Return the response pads as the header describes them; older logs have none."""
    pads = log.header["apparatus"].get("response_pads", [])
    if not isinstance(pads, list) or not all(isinstance(pad, dict) for pad in pads):
        raise DatasetError(
            f"{log.path}, line 1 (header): apparatus.response_pads is {shown(pads)}, but is a "
            "list of tables"
        )
    return pads


def _check_events(log: RunLog, settings: StudySettings) -> None:
    """Check what each key means, and that no event stands there twice."""
    responses = settings.responses
    meanings = key_meanings(responses)
    names = ("device", "mode", "answer", "player")
    pads = _pads(log)
    # Polled keys share the time of their poll, so that two of them may look the same.
    polled = log.header["apparatus"].get("keys_polled") is True
    polled = polled or any(pad.get("polled") is True for pad in pads)
    seen: dict[str, str] = {}
    for where, event in _events(log):
        key, device = event.get("key"), event.get("device")
        found = tuple(event.get(name) for name in names)
        if device in _KEYBOARD or device in _PADS:
            expected = meanings.get(str(key), ("other_keys", None, None, None))
            if device in _PADS:
                expected = (as_buttons(expected[0]), *expected[1:])
            for name, value, right in zip(names, found, expected, strict=True):
                if not _same(value, right):
                    source = f"by the settings, key {shown(key)} gives"
                    raise _differ(where, name, value, source, right)
        elif device != "pointer":
            raise DatasetError(
                f"{where}: device is {shown(device)}, but should be one of "
                f"{', '.join((*_KEYBOARD, *_PADS))}, pointer"
            )
        elif not responses.pointer and found[1:3] != (None, None):
            raise _differ(where, "answer", found[2], "by the settings, the pointer gives", None)
        else:
            seat = 0 if responses.more_players and found[2] is not None else None
            if not _same(found[3], seat):
                raise _differ(where, "player", found[3], "by the settings, the pointer gives", seat)
        if is_button(str(device)) and not pads:
            raise DatasetError(
                f"{where}: device is {shown(device)}, but apparatus.response_pads of the header "
                "has no pad; the log was changed"
            )
        text = json.dumps(event, sort_keys=True)
        if text in seen and not polled and event.get("repeated") is not True:
            raise DatasetError(
                f"{where}: key {shown(key)} at {shown(event.get('t_s'))} s stands in "
                f"{seen[text].removeprefix(f'{log.path}, ')} already; an event stands in one "
                "record, once"
            )
        seen[text] = where


def _check_end(log: RunLog, company: Company | None) -> None:
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
                f"{where}: status is {shown(status)}, but should be one of {', '.join(_ENDS)}"
            )
        if not _same(n_trials, n_done):
            raise _differ(where, "n_trials", n_trials, "the trials up to it are", n_done)
        # Whether the cards that came again were all, the game itself says.
        all_done = n_done == n_planned or (company is not None and n_done > n_planned)
        if status == "completed" and not all_done:
            raise DatasetError(
                f"{where}: status is completed, but {n_done} of {n_planned} trials were done"
            )


@lru_cache(maxsize=64)
def _plan(settings: str, seed: int) -> Plan:
    study = StudySettings.model_validate_json(settings)
    return plan_session(study, study.make_game(), seed=seed)


def _check_plan(log: RunLog, settings: StudySettings) -> Checked:
    """Compare the sequence of trials with its hash and with the plan that the seed gives.

    The plan is made by NumPy's generators, which another version of NumPy may run differently;
    so another plan is no contradiction as long as the trials do not deny their own hash.
    """
    header = log.header
    n_planned = header["n_trials_planned"]
    trials = [t for t in log.of_type("trial") if t["trial_index"] < n_planned]
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
        return Checked("differs", settings)
    for record in trials:
        planned = plan.trials[record["trial_index"]]
        expected = {"card": str(planned.card), "foreperiod_requested_s": planned.foreperiod_s}
        for name, value in expected.items():
            if not _same(record[name], value):
                raise _differ(_place(log, record), name, record[name], "its seed gives", value)
    return Checked("same", settings, plan)


def _check_own_hash(log: RunLog, trials: list[Mapping[str, Any]]) -> None:
    rows = [[t["block_index"], t["card"], t["foreperiod_requested_s"]] for t in trials]
    found = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    if found != log.header["plan_sha256"]:
        where = f"{log.path}, line 1 (header)"
        stored = log.header["plan_sha256"]
        raise _differ(where, "plan_sha256", stored, "the trials have the sum", found)
