"""The trial table of an imported data set: read, checked, and solved again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import gt
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
import pandas as pd

from ghostblitz_analysis.rt_units import MAX_RT_S, check_seconds, check_units_of_blocks
from ghostblitz_analysis.solving import GameOptions, Solver, rules_text
from ghostblitz_analysis.tables import (
    CodedColumn,
    CodedTable,
    coded,
    combined_codes,
    near_name,
    parse_coded,
    read_text,
    trial_frame,
)
from ghostblitz_task.errors import CardError, DatasetError
from ghostblitz_task.games import Mode, Response
from ghostblitz_task.schema import COLUMNS, FACTOR_PREFIX, SCHEMA_VERSION, Column, column
from ghostblitz_task.trial_log import file_sha256

__all__ = [
    "DATASET_FORMAT",
    "INFO_FILE",
    "TABLE_FILE",
    "derive_columns",
    "read_imported",
    "read_info",
]

DATASET_FORMAT = "ghostblitz-dataset"
INFO_FILE = "dataset.json"
TABLE_FILE = "trials.csv"

#: Where the trials of an imported data set come from.
_SOURCE = "imported"

_REQUIRED = (
    "study_id", "game", "participant_id", "session", "run", "source", "trial_index",
    "block_index", "block_type", "phase", "trial_in_block", "card", "item_colours", "rule", "mode",
    "target", "answer", "answer_kind", "rt_s", "response", "response_mode", "correct", "error_kind",
)  # fmt: skip
#: What makes a trial, and the lowest numbers there are.
_IDENTITY = ("participant_id", "session", "trial_index")
_STARTS = {"session": 1, "run": 1, "trial_index": 0, "block_index": 0, "trial_in_block": 0}
_NOT_NEGATIVE = ("onset_s", "fixation_onset_s", "deadline_s", "trials_since_hat_move")
#: What the derived columns depend on, beside the RT.
_FACTS = (
    "game", "item_colours", "card", "hat_over", "block_type", "response", "response_mode",
)  # fmt: skip
_NULLABLE = {c.name for c in COLUMNS if c.null_when is not None}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INTEGER = re.compile(r"[+-]?\d+")
_FLAGS = {"true": True, "false": False}


def read_info(folder: Path) -> dict[str, Any]:
    """Read what the import wrote down about a data set.

    Raises
    ------
    DatasetError
        If the file is damaged, of another kind, or newer than this program.
    """
    path = folder / INFO_FILE
    try:
        info = json.loads(read_text(path))
    except ValueError as error:
        raise DatasetError(f"{path} is no JSON: {error}; import the data again") from error
    if not isinstance(info, dict) or info.get("format") != DATASET_FORMAT:
        raise DatasetError(f"{path} does not describe an imported data set; import the data again")
    version = info.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise DatasetError(
            f"{path}: schema version {version}, but this program reads up to {SCHEMA_VERSION}; "
            "use a newer ghostblitz"
        )
    expected = {"name": str, "n_trials": int, "trials_sha256": str, "game": dict}
    for key, kind in expected.items():
        if not isinstance(info.get(key), kind):
            raise DatasetError(f"{path}: {key} is missing or damaged; import the data again")
    if info.get("source") != _SOURCE:
        raise DatasetError(
            f"{path}: source is {info.get('source')!r}, but should be {_SOURCE!r}; import the data "
            "again"
        )
    _check_report(info.get("report"), path)
    return info


def _check_report(report: object, path: Path) -> None:
    def is_count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    def is_dropped(entry: object) -> bool:
        return (
            isinstance(entry, dict)
            and isinstance(entry.get("reason"), str)
            and is_count(entry.get("n_rows"))
        )

    def is_incomplete(entry: object) -> bool:
        return (
            isinstance(entry, list)
            and len(entry) == 2
            and isinstance(entry[0], str)
            and is_count(entry[1])
        )

    table = report if isinstance(report, dict) else {}
    dropped, incomplete = table.get("dropped"), table.get("incomplete")
    sound = {
        "report.n_rows_read": is_count(table.get("n_rows_read")),
        "report.dropped": isinstance(dropped, list) and all(map(is_dropped, dropped)),
        "report.incomplete": isinstance(incomplete, list) and all(map(is_incomplete, incomplete)),
    }
    for key, is_sound in sound.items():
        if not is_sound:
            raise DatasetError(f"{path}: {key} is missing or damaged; import the data again")


def read_imported(folder: Path, info: Mapping[str, Any]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the trial table of an imported data set.

    Distinct values are read, and distinct cards with their responses solved, once each.

    Returns
    -------
    trials : DataFrame
        With the schema's columns and the factors.
    notes : tuple of str
        What a reader should know.

    Raises
    ------
    DatasetError
        Naming file, row and column, if the table does not follow the schema, or if a stored
        value is not what its card and response give.
    """
    path = folder / TABLE_FILE
    raw = parse_coded(read_text(path), TABLE_FILE)
    _check_columns(raw, path)
    columns = {name: _typed(name, column, raw) for name, column in raw.columns.items()}
    if len(raw) != info["n_trials"]:
        raise DatasetError(
            f"{path} has {len(raw)} rows, but {info['n_trials']} were imported; rows were lost or "
            "added, so import the data again"
        )
    _check_identities(columns, raw)
    game = info["game"]
    options = GameOptions(game.get("shout_item"), frozenset(map(str, game.get("rules") or ())))
    columns["rules"] = _checked_rules(columns.get("rules"), raw, options.rules)
    columns |= _checked_derived(columns, raw, Solver(options))
    trials = trial_frame(columns, len(raw))
    check_seconds(trials["rt_s"], trials["participant_id"], str(path))
    check_units_of_blocks(trials, str(path))
    notes: tuple[str, ...] = ()
    if file_sha256(path) != info["trials_sha256"]:
        notes = (f"{TABLE_FILE} was changed after the import; its values still agree",)
    return trials, notes


def _check_columns(raw: CodedTable, path: Path) -> None:
    known = [c.name for c in COLUMNS]
    for name in raw.columns:
        if name not in known and not name.startswith(FACTOR_PREFIX):
            raise DatasetError(
                f"{path}: {name!r} is no column of the schema{near_name(name, known)}; further "
                f"factors begin with {FACTOR_PREFIX}"
            )
    missing = [name for name in _REQUIRED if name not in raw.columns]
    if missing:
        raise DatasetError(
            f"{path}: column {missing[0]} is missing; a table of other columns comes in by "
            "ghostblitz import"
        )


def _typed(name: str, cells: CodedColumn, raw: CodedTable) -> CodedColumn:
    """Read a column's texts as the schema's type; the first row that cannot be is refused."""
    if name.startswith(FACTOR_PREFIX):
        return cells
    c = column(name)
    read: dict[str, Callable[[str], Any]] = {
        "string": str,
        "Int64": _as_integer,
        "Float64": _as_number,
        "boolean": _as_flag,
    }
    values: list[Any] = [read[c.dtype](cell) for cell in cells.values]
    is_bad = [value is None or bool(c.levels and value not in c.levels) for value in values]
    # What stands last is taken for the code of a blank cell.
    bad = np.array([*is_bad, name not in _NULLABLE], dtype=bool)[cells.codes]
    if bad.any():
        row = int(bad.argmax())
        _refuse_cell(c, cells.at(row), raw.place(row))
    if c.dtype == "Float64":
        return CodedColumn(cells.codes, values)
    # Several texts may be one value, as true and True are.
    distinct = coded(values)
    return CodedColumn(np.append(distinct.codes, np.int32(-1))[cells.codes], distinct.values)


def _refuse_cell(c: Column, cell: str | None, place: str) -> NoReturn:
    if cell is None:
        raise DatasetError(f"{place}: {c.name} is empty, but every trial has one")
    if c.levels:
        raise DatasetError(
            f"{place}: {c.name} is {cell!r}, but should be one of {', '.join(c.levels)}"
            + near_name(cell, c.levels)
        )
    kind = {"Int64": "a whole number", "Float64": "a finite number"}
    words = kind.get(c.dtype, "true or false")
    raise DatasetError(f"{place}: {c.name} is {cell!r}, but should be {words}")


def _as_integer(cell: str) -> int | None:
    return int(cell) if _INTEGER.fullmatch(cell) and len(cell) < 18 else None


def _as_number(cell: str) -> float | None:
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    return value if math.isfinite(value) else None


def _as_flag(cell: str) -> bool | None:
    return _FLAGS.get(cell.lower())


def _checked_rules(
    stored: CodedColumn | None, raw: CodedTable, rules: frozenset[str]
) -> CodedColumn:
    """Compare the rules of each trial with those of the data set; return the latter for all."""
    known = rules_text(rules)
    if stored is not None:
        other = stored.where(lambda value: value != known)
        if other.any():
            row = int(other.argmax())
            raise DatasetError(
                f"{raw.place(row)}: rules is {stored.at(row)!r}, but {INFO_FILE} says "
                f"{known or 'none'!r}"
            )
    return CodedColumn(np.zeros(len(raw), dtype=np.int32), [known])


def _check_identities(columns: Mapping[str, CodedColumn], raw: CodedTable) -> None:
    """Refuse the first row whose source, numbers or times cannot be, or that stands twice."""
    identity = combined_codes(columns[name] for name in _IDENTITY)
    bad = pd.Series(identity).duplicated().to_numpy(copy=True)
    bad |= columns["source"].where(lambda value: value != _SOURCE)
    bad |= columns["rt_s"].where(lambda value: abs(value) > MAX_RT_S)
    bad |= columns["participant_id"].where(lambda value: not value.strip())
    for name, start in _STARTS.items():
        bad |= columns[name].where(partial(gt, start))
    for name in _NOT_NEGATIVE:
        if name in columns:
            bad |= columns[name].where(lambda value: value < 0)
    if bad.any():
        row = int(bad.argmax())
        first = int((identity == identity[row]).argmax())
        values = {name: values.at(row) for name, values in columns.items()}
        _refuse_identity(values, raw.place(row), raw.place(first))


def _refuse_identity(values: Mapping[str, Any], place: str, first_place: str) -> NoReturn:
    """Say what is wrong with a row's identity; `first_place` is where it stands first."""
    if values["source"] != _SOURCE:
        raise DatasetError(
            f"{place}: source is {values['source']!r}, but should be {_SOURCE!r} in an "
            "imported data set"
        )
    if values["rt_s"] is not None and abs(values["rt_s"]) > MAX_RT_S:
        raise DatasetError(f"{place}: rt_s is {values['rt_s']:g} s, which is no reaction time")
    if not values["participant_id"].strip():
        raise DatasetError(f"{place}: participant_id is blank")
    for name, start in _STARTS.items():
        if values[name] < start:
            raise DatasetError(f"{place}: {name} is {values[name]}, but they count from {start}")
    for name in _NOT_NEGATIVE:
        value = values.get(name)
        if value is not None and value < 0:
            raise DatasetError(f"{place}: {name} is {value}, but cannot be negative")
    participant, session, trial = (values[name] for name in _IDENTITY)
    raise DatasetError(
        f"{place}: trial {trial} of participant {participant!r}, session {session}, stands in "
        f"{first_place} already"
    )


def _checked_derived(
    columns: Mapping[str, CodedColumn], raw: CodedTable, solver: Solver
) -> dict[str, CodedColumn]:
    """Derive what cards and responses give, and compare it with what is stored.

    Rows with the same card, block type and response, and an RT of the same sign, give the same, so
    the first of them stands for all.
    """
    names = [name for name in _FACTS if name in columns]
    rt_s = columns["rt_s"]
    signs = np.array([*(value < 0 for value in rt_s.values), -1], dtype=np.int32)
    alike = combined_codes(
        [*(columns[name] for name in names), CodedColumn(signs[rt_s.codes], [False, True])]
    )
    firsts = np.flatnonzero(~pd.Series(alike).duplicated().to_numpy())
    facts = {name: columns[name].cells(firsts) for name in (*names, "rt_s")}
    places = [raw.place(int(row)) for row in firsts]

    def refuse(row: int, error: Exception) -> bool:
        raise DatasetError(f"{places[row]}: {error}") from error

    derived = derive_columns(facts, places, solver, on_unsolvable=refuse)
    found: dict[str, CodedColumn] = {}
    for name, values in derived.items():
        of_alike = coded(values)
        found[name] = CodedColumn(of_alike.codes[alike], of_alike.values)
        if name in columns:
            _check_stored(name, columns[name], found[name], raw)
    return found


def _check_stored(name: str, stored: CodedColumn, found: CodedColumn, raw: CodedTable) -> None:
    codes = {value: code for code, value in enumerate(stored.values)}
    expected = np.array([*(codes.get(value, -2) for value in found.values), -1])[found.codes]
    wrong = expected != stored.codes
    if wrong.any():
        row = int(wrong.argmax())
        raise DatasetError(
            f"{raw.place(row)}: {name} is stored as {_shown(stored.at(row))}, but its card and "
            f"response give {_shown(found.at(row))}"
        )


def _shown(value: object) -> str:
    return "nothing" if value is None else str(value)


def derive_columns(
    columns: Mapping[str, Sequence[Any]],
    places: Sequence[str],
    solver: Solver,
    *,
    on_unsolvable: Callable[[int, CardError], bool],
) -> dict[str, list[Any]]:
    """Compute the derived columns of trials from their cards and responses.

    Parameters
    ----------
    columns : mapping of str to sequence
        ``game``, ``item_colours``, ``card``, ``block_type``, ``response``, ``response_mode``
        and ``rt_s``, one value per trial. Where nothing was answered, all three are None: the
        trial is ``late``. A negative RT is ``early``. ``hat_over`` too, in games with a hat.
    places : sequence of str
        Where each trial stands, for messages.
    solver : Solver
        The games.
    on_unsolvable : callable
        Called with the row and the error of a card without a single answer; its trial is left
        with None in every derived column.

    Raises
    ------
    DatasetError
        If a response, its mode and its time do not go together, or a pure block holds a card
        of the other rule.
    """
    names = (
        "block_kind", "rule", "mode", "target", "answer", "answer_kind", "direct_position",
        "correct", "mode_correct", "error_kind",
    )  # fmt: skip
    derived: dict[str, list[Any]] = {name: [] for name in names}
    needed = ("game", "item_colours", "card", "block_type", "response", "response_mode", "rt_s")
    hats = columns.get("hat_over") or [None] * len(places)
    rows = zip(*(columns[name] for name in needed), hats, places, strict=True)
    for row, (game, colours, card, block_type, response, mode, rt_s, hat, place) in enumerate(rows):
        try:
            solved = solver.solve(game, colours, card, hat)
        except DatasetError as error:
            raise DatasetError(f"{place}: {error}") from error
        if isinstance(solved, CardError):
            on_unsolvable(row, solved)
            for values in derived.values():
                values.append(None)
            continue
        solution = solved.stimulus.solution
        if block_type not in ("mixed", solution.rule):
            raise DatasetError(
                f"{place}: card '{card}' is {solution.rule}, but its block is {block_type}"
            )
        error_kind = _judged(solver, (game, colours, card, hat), response, mode, rt_s, place)
        values_of_row = (
            "mixed" if block_type == "mixed" else "pure",
            solution.rule,
            solution.mode,
            solution.target,
            solution.answer,
            solution.answer_kind,
            solved.direct_position,
            error_kind is None,
            None if mode is None else mode == solution.mode,
            error_kind,
        )
        for name, value in zip(names, values_of_row, strict=True):
            derived[name].append(value)
    return derived


def _judged(
    solver: Solver,
    card: tuple[str, str, str, str | None],
    response: str | None,
    mode: str | None,
    rt_s: float | None,
    place: str,
) -> str | None:
    given = [value is not None for value in (response, mode, rt_s)]
    if not any(given):
        return "late"
    if response is None or mode is None or rt_s is None:
        raise DatasetError(
            f"{place}: response is {_shown(response)}, response_mode {_shown(mode)} and rt_s "
            f"{_shown(rt_s)}; a trial has all three, or none where nothing was answered in time"
        )
    name, item_colours, text, hat_over = card
    given_response = Response(cast(Mode, mode), response)
    try:
        kind = solver.judge(name, item_colours, text, given_response, hat_over=hat_over)
    except DatasetError as error:
        raise DatasetError(f"{place}: {error}") from error
    return "early" if rt_s < 0 else kind
