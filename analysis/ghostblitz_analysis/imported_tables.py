"""The trial table of an imported data set: read, checked, and solved again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pandas as pd

from ghostblitz_analysis.rt_units import MAX_RT_S, check_seconds, check_units_of_blocks
from ghostblitz_analysis.solving import GameOptions, Solver, rules_text
from ghostblitz_analysis.tables import RawTable, near_name, parse_delimited, read_text, trial_frame
from ghostblitz_task.errors import CardError, DatasetError
from ghostblitz_task.games import Mode, Response
from ghostblitz_task.schema import COLUMNS, FACTOR_PREFIX, SCHEMA_VERSION, column
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
    raw = parse_delimited(read_text(path), TABLE_FILE)
    _check_columns(raw, path)
    columns: dict[str, list[Any]] = {}
    for name, cells in raw.columns.items():
        columns[name] = _typed(name, cells, raw.places)
    if len(raw) != info["n_trials"]:
        raise DatasetError(
            f"{path} has {len(raw)} rows, but {info['n_trials']} were imported; rows were lost or "
            "added, so import the data again"
        )
    _check_identities(columns, raw.places)
    game = info["game"]
    options = GameOptions(game.get("shout_item"), frozenset(map(str, game.get("rules") or ())))
    _check_rules(columns, raw.places, options.rules)
    _check_derived(columns, raw.places, Solver(options))
    check_seconds(columns["rt_s"], columns["participant_id"], str(path))
    check_units_of_blocks(columns, str(path))
    notes: tuple[str, ...] = ()
    if file_sha256(path) != info["trials_sha256"]:
        notes = (f"{TABLE_FILE} was changed after the import; its values still agree",)
    return trial_frame(columns, len(raw)), notes


def _check_columns(raw: RawTable, path: Path) -> None:
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


def _typed(name: str, cells: Sequence[str | None], places: Sequence[str]) -> list[Any]:
    if name.startswith(FACTOR_PREFIX):
        return list(cells)
    c = column(name)
    read = {"string": _as_text, "Int64": _as_integer, "Float64": _as_number, "boolean": _as_flag}
    values: list[Any] = []
    for cell, place in zip(cells, places, strict=True):
        if cell is None:
            if name not in _NULLABLE:
                raise DatasetError(f"{place}: {name} is empty, but every trial has one")
            values.append(None)
            continue
        value = read[c.dtype](cell)
        if value is None:
            kind = {"Int64": "a whole number", "Float64": "a finite number"}
            words = kind.get(c.dtype, "true or false")
            raise DatasetError(f"{place}: {name} is {cell!r}, but should be {words}")
        if c.levels and value not in c.levels:
            raise DatasetError(
                f"{place}: {name} is {cell!r}, but should be one of {', '.join(c.levels)}"
                + near_name(cell, c.levels)
            )
        values.append(value)
    return values


def _as_text(cell: str) -> str | None:
    return cell


def _as_integer(cell: str) -> int | None:
    return int(cell) if _INTEGER.fullmatch(cell) and len(cell) < 18 else None


def _as_number(cell: str) -> float | None:
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    return value if math.isfinite(value) else None


def _as_flag(cell: str) -> bool | None:
    return _FLAGS.get(cell.lower())


def _check_rules(
    columns: dict[str, list[Any]], places: Sequence[str], rules: frozenset[str]
) -> None:
    """Compare the rules of each trial with those of the data set; fill in where they are not."""
    known = rules_text(rules)
    for place, stored in zip(places, columns.get("rules", [None] * len(places)), strict=True):
        if stored is not None and stored != known:
            raise DatasetError(
                f"{place}: rules is {stored!r}, but {INFO_FILE} says {known or 'none'!r}"
            )
    columns["rules"] = [known] * len(places)


def _check_identities(columns: Mapping[str, list[Any]], places: Sequence[str]) -> None:
    seen: dict[tuple[Any, ...], str] = {}
    names = ("participant_id", "session", "trial_index")
    starts = {"session": 1, "run": 1, "trial_index": 0, "block_index": 0, "trial_in_block": 0}
    for row, place in enumerate(places):
        participant, rt_s = columns["participant_id"][row], columns["rt_s"][row]
        if columns["source"][row] != _SOURCE:
            raise DatasetError(
                f"{place}: source is {columns['source'][row]!r}, but should be {_SOURCE!r} in an "
                "imported data set"
            )
        if rt_s is not None and abs(rt_s) > MAX_RT_S:
            raise DatasetError(f"{place}: rt_s is {rt_s:g} s, which is no reaction time")
        if not participant.strip():
            raise DatasetError(f"{place}: participant_id is blank")
        for name, start in starts.items():
            if columns[name][row] < start:
                raise DatasetError(
                    f"{place}: {name} is {columns[name][row]}, but they count from {start}"
                )
        for name in ("onset_s", "fixation_onset_s", "deadline_s", "trials_since_hat_move"):
            value = columns[name][row] if name in columns else None
            if value is not None and value < 0:
                raise DatasetError(f"{place}: {name} is {value}, but cannot be negative")
        identity = tuple(columns[name][row] for name in names)
        if identity in seen:
            raise DatasetError(
                f"{place}: trial {identity[2]} of participant {identity[0]!r}, session "
                f"{identity[1]}, stands in {seen[identity]} already"
            )
        seen[identity] = place


def _check_derived(columns: Mapping[str, list[Any]], places: Sequence[str], solver: Solver) -> None:
    def refuse(row: int, error: Exception) -> bool:
        raise DatasetError(f"{places[row]}: {error}") from error

    derived = derive_columns(columns, places, solver, on_unsolvable=refuse)
    for name, values in derived.items():
        stored_values = columns.get(name)
        if stored_values is None:
            cast(dict[str, list[Any]], columns)[name] = values
            continue
        for place, stored, value in zip(places, stored_values, values, strict=True):
            if stored != value:
                raise DatasetError(
                    f"{place}: {name} is stored as {_shown(stored)}, but its card and response "
                    f"give {_shown(value)}"
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
