"""Sessions, blocks and trials of a source, numbered as in the schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ghostblitz_analysis.mapping import ColumnSettings, comparable
from ghostblitz_task.errors import DatasetError

__all__ = ["number_trials"]

Cells = Sequence[str | None]


def number_trials(
    participants: Sequence[str],
    sessions: Cells | None,
    blocks: Cells | None,
    trials: Cells | None,
    places: Sequence[str],
    settings: ColumnSettings,
) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """Give every session, block and trial of a participant its number.

    Parameters
    ----------
    participants, sessions, blocks, trials : sequence
        Cells of the source, one per row; None for a column that it does not have.
    places : sequence of str
        Where each row stands.
    settings : ColumnSettings
        How trials are counted.

    Returns
    -------
    columns : dict
        ``session`` (from 1), ``block_index``, ``trial_in_block`` and ``trial_index`` (from 0),
        and ``_order``, by which to sort the rows. Sessions and blocks are numbered by value if
        all are numbers, else as they come. Trials keep their number in the block, so that a row
        that was dropped leaves a gap there; `trial_index` has no gaps.
    notes : tuple of str
        What looks odd.

    Raises
    ------
    DatasetError
        If a number is missing, is none or is too low, or if the same trial stands in two rows.
    """
    people = {p: n for n, p in enumerate(dict.fromkeys(participants))}
    session_numbers = _numbered(list(participants), sessions, places, settings.session)
    within = list(zip(participants, session_numbers, strict=True))
    block_numbers = _numbered(within, blocks, places, settings.block)
    stated, notes = _stated(trials, places, settings)
    if stated is None:
        stated = list(range(len(places)))
    order = [
        (people[p], s, b, t)
        for p, s, b, t in zip(participants, session_numbers, block_numbers, stated, strict=True)
    ]
    _check_unique(order, places, participants, settings)
    trial_in_block = _in_block(order, stated, counted=trials is not None, settings=settings)
    columns: dict[str, list[Any]] = {
        "session": [number + 1 for number in session_numbers],
        "block_index": block_numbers,
        "trial_in_block": trial_in_block,
        "trial_index": _in_session(order),
        "_order": order,
    }
    return columns, notes


def _numbered(
    groups: Sequence[Any], cells: Cells | None, places: Sequence[str], title: str | None
) -> list[int]:
    """Return the place of each value among those of its group, from 0."""
    if cells is None:
        return [0] * len(places)
    values: dict[Any, dict[str, None]] = {}
    for group, cell, place in zip(groups, cells, places, strict=True):
        if cell is None:
            raise DatasetError(f"{place}: {title} is blank; every trial has one")
        values.setdefault(group, {})[comparable(cell)] = None
    numbers = {}
    for group, found in values.items():
        try:
            ordered = sorted(found, key=float)
        except ValueError:
            ordered = list(found)
        numbers[group] = {value: number for number, value in enumerate(ordered)}
    return [numbers[g][comparable(c)] for g, c in zip(groups, cells, strict=True)]


def _stated(
    cells: Cells | None, places: Sequence[str], settings: ColumnSettings
) -> tuple[list[int] | None, tuple[str, ...]]:
    """Read the trial numbers, counted from 0."""
    if cells is None:
        return None, ()
    start, numbers = settings.trial_starts_at, []
    for cell, place in zip(cells, places, strict=True):
        text = "" if cell is None else comparable(cell)
        if not text.lstrip("-").isdecimal():
            raise DatasetError(
                f"{place}: {settings.trial} is {cell!r}, but should be a whole number"
            )
        if int(text) < start:
            raise DatasetError(
                f"{place}: {settings.trial} is {text}, but columns.trial_starts_at is {start}"
            )
        numbers.append(int(text) - start)
    if numbers and min(numbers) > 0:
        note = (
            f"the lowest {settings.trial} is {min(numbers) + start}, though "
            f"columns.trial_starts_at is {start}"
        )
        return numbers, (note,)
    return numbers, ()


def _check_unique(
    order: Sequence[tuple[int, int, int, int]],
    places: Sequence[str],
    participants: Sequence[str],
    settings: ColumnSettings,
) -> None:
    by_session = settings.trial is not None and settings.trial_counts == "session"
    seen: dict[tuple[int, ...], str] = {}
    for (person, session, block, trial), place, name in zip(
        order, places, participants, strict=True
    ):
        key = (person, session, trial) if by_session else (person, session, block, trial)
        if key in seen:
            raise DatasetError(
                f"{place} holds the same trial as {seen[key]}: participant {name!r}, session "
                f"{session + 1}, block {block + 1}, trial {trial + settings.trial_starts_at}; "
                "one is a copy, or columns.block, columns.session or trial_counts is wrong"
            )
        seen[key] = place


def _in_block(
    order: Sequence[tuple[int, int, int, int]],
    stated: Sequence[int],
    *,
    counted: bool,
    settings: ColumnSettings,
) -> list[int]:
    if counted and settings.trial_counts == "block":
        return list(stated)
    # Without a count in the block, its first row begins it.
    firsts: dict[tuple[int, int, int], int] = {}
    for person, session, block, trial in order:
        key = (person, session, block)
        firsts[key] = min(firsts.get(key, trial), trial)
    if counted:
        return [trial - firsts[p, s, b] for p, s, b, trial in order]
    n_so_far: dict[tuple[int, int, int], int] = {}
    result = []
    for person, session, block, _ in order:
        key = (person, session, block)
        result.append(n_so_far.get(key, 0))
        n_so_far[key] = result[-1] + 1
    return result


def _in_session(order: Sequence[tuple[int, int, int, int]]) -> list[int]:
    result = [0] * len(order)
    n_so_far: dict[tuple[int, int], int] = {}
    for row in sorted(range(len(order)), key=lambda r: order[r]):
        key = order[row][:2]
        result[row] = n_so_far.get(key, 0)
        n_so_far[key] = result[row] + 1
    return result
