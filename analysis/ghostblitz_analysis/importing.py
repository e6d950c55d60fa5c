"""Other people's trial tables brought into our format, every card solved again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from ghostblitz_analysis.mapping import FilterSettings, Mapping, comparable
from ghostblitz_analysis.rt_cells import as_number
from ghostblitz_analysis.sources import SourceFile, read_source
from ghostblitz_analysis.tables import RawTable, near_name
from ghostblitz_analysis.translating import Translation, translate
from ghostblitz_analysis.writing import write_dataset
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import load_settings

__all__ = ["Dropped", "ImportReport", "import_table", "import_text"]

#: Beyond this many, participants are counted, not named.
_MAX_NAMED = 20
#: A run of so many rows with so many different RTs that stands twice is a copy.
_MIN_REPEATED_ROWS = 10
_MIN_DIFFERENT_RTS = 5


@dataclass(frozen=True, slots=True)
class Dropped:
    """Rows that were left out, and why."""

    reason: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import read, dropped and kept.

    Attributes
    ----------
    files : tuple
        Name and SHA-256 sum of each file that was read.
    n_rows_read : int
        Rows of the source.
    dropped : tuple of Dropped
        In the order in which they were dropped; a filter that dropped nothing is listed.
    incomplete : tuple of (str, int)
        Participants without the stated number of trials, who were dropped, and their trials.
    n_trials, n_participants : int
        What was kept.
    n_per_rule : dict
        Kept trials by rule, as the cards were solved.
    notes : tuple of str
        What a reader should know.
    """

    name: str
    files: tuple[SourceFile, ...]
    n_rows_read: int
    dropped: tuple[Dropped, ...]
    incomplete: tuple[tuple[str, int], ...]
    n_trials: int
    n_participants: int
    n_per_rule: dict[str, int]
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        lines = [f"{self.name}: read {self.n_rows_read} rows from {_files(self.files)}"]
        lines += [f"dropped {d.n_rows} rows: {d.reason}" for d in self.dropped]
        if self.incomplete:
            named = ", ".join(f"{p} ({n})" for p, n in self.incomplete[:_MAX_NAMED])
            more = len(self.incomplete) - _MAX_NAMED
            lines.append(
                f"incomplete participants, with their trials: {named}"
                + (f" and {more} more" if more > 0 else "")
            )
        rules = ", ".join(f"{n} {rule}" for rule, n in self.n_per_rule.items())
        lines.append(
            f"kept {self.n_trials} trials of {self.n_participants} participants; every card was "
            f"solved again ({rules})"
        )
        return lines + [f"note: {note}" for note in self.notes]


def _files(files: Sequence[SourceFile]) -> str:
    return files[0][0] if len(files) == 1 else f"{len(files)} files"


def import_table(source: Path, *, mapping: Path, out: Path) -> ImportReport:
    """Bring a trial table into our format and write it as a new data set.

    Parameters
    ----------
    source : Path
        A trial table, or a folder with one per participant.
    mapping : Path
        A TOML file that says what its columns, units and levels mean (see `docs/importing.md`).
    out : Path
        The folder to make; it must not exist, and is made only if everything is in order.

    Returns
    -------
    ImportReport
        What was dropped, why, and what was kept.

    Raises
    ------
    ConfigError
        If the mapping is not valid.
    DatasetError
        If the folder exists, the source cannot be read, or a row does not fit the mapping, does
        not fit the rules of the game, or contradicts itself; naming the row and what is wrong.
    """
    settings = load_settings(mapping, Mapping)
    if os.path.lexists(out):
        raise DatasetError(f"{out} exists already; a data set is never written over")
    raw, files, notes = read_source(source, settings)
    n_rows_read = len(raw)
    _check_columns(raw, settings, f"{source}, with {mapping}")
    dropped: list[Dropped] = []
    for each in settings.filters:
        raw, n_rows = _filtered(raw, each, settings)
        dropped.append(Dropped(each.reason, n_rows))
    _check_pasted_headers(raw, settings)
    _check_participants(raw, settings)
    _check_duplicates(raw, settings)
    _check_repeated_rows(raw, settings)
    raw, incomplete = _complete(raw, settings)
    if incomplete:
        n_needed = settings.complete.n_trials if settings.complete else 0
        people = "participant" if len(incomplete) == 1 else "participants"
        reason = f"{len(incomplete)} {people} without exactly {n_needed} trials"
        dropped.append(Dropped(reason, sum(n for _, n in incomplete)))
    if not len(raw):
        what = "; ".join(f"{d.n_rows} dropped: {d.reason}" for d in dropped)
        if incomplete:
            what += f", but with {_between([n for _, n in incomplete])}"
        raise DatasetError(f"{source}: of {n_rows_read} rows none is left ({what})")
    translation = translate(raw, settings)
    if translation.n_unsolvable:
        reason = f"cards without a single answer (such as {translation.first_unsolvable})"
        dropped.append(Dropped(reason, translation.n_unsolvable))
    notes += translation.notes
    report = _report(settings, files, n_rows_read, dropped, incomplete, translation, notes)
    write_dataset(out, translation.columns, settings, mapping_path=mapping, report=asdict(report))
    return report


def import_text(report: ImportReport) -> str:
    """Return an import's report as text for people."""
    return "\n".join(report.lines())


def _check_columns(raw: RawTable, mapping: Mapping, where: str) -> None:
    for title, setting in mapping.columns_used().items():
        if title not in raw.columns:
            near = near_name(title, raw.columns)
            if not near:
                titles = list(raw.columns)
                near = f"; there are {', '.join(titles[:12])}" + (
                    f" and {len(titles) - 12} more" if len(titles) > 12 else ""
                )
            raise DatasetError(f"{where}: {setting} is {title!r}, which is no column{near}")


def _filtered(raw: RawTable, settings: FilterSettings, mapping: Mapping) -> tuple[RawTable, int]:
    cells = raw.columns[settings.column]
    missing = set(mapping.source.missing)
    rows = zip(cells, raw.places, strict=True)
    holds = [
        _holds(settings, None if cell in missing else cell, mapping, place) for cell, place in rows
    ]
    kept = raw.keep([h == (settings.action == "keep") for h in holds])
    return kept, len(raw) - len(kept)


def _holds(settings: FilterSettings, cell: str | None, mapping: Mapping, place: str) -> bool:
    """Say whether a filter's condition holds; a blank cell equals nothing."""
    blank = cell is None or not cell.strip()
    condition = settings.condition
    if condition == "blank":
        return blank == settings.blank
    if condition in ("below", "above"):
        if cell is None or blank:
            return False
        number = as_number(cell, mapping.source.decimal)
        if cell.lstrip("\ufeff") == settings.column:
            _refuse_header(place)
        if number is None:
            raise DatasetError(f"{place}: {settings.column} is {cell!r}, which is no number")
        if settings.below is not None:
            return number < settings.below
        return settings.above is not None and number > settings.above
    value = getattr(settings, condition)
    values = value if isinstance(value, tuple) else (value,)
    found = not blank and comparable(cell) in {comparable(v) for v in values}
    return found if condition in ("equals", "one_of") else not found


def _check_pasted_headers(raw: RawTable, mapping: Mapping) -> None:
    titles = (mapping.columns.participant, mapping.columns.response, mapping.columns.rt)
    for row, place in enumerate(raw.places):
        # A file that was pasted as a whole may bring its byte-order mark along.
        if all((raw.columns[title][row] or "").lstrip("\ufeff") == title for title in titles):
            _refuse_header(place)


def _refuse_header(place: str) -> NoReturn:
    raise DatasetError(
        f"{place}: the header, which is row 1, stands here again, as when files are pasted "
        "together; take the row out, or drop it with a filter"
    )


def _check_participants(raw: RawTable, mapping: Mapping) -> None:
    title = mapping.columns.participant
    for cell, place in zip(raw.columns[title], raw.places, strict=True):
        if cell is None or not cell.strip():
            raise DatasetError(
                f"{place}: {title} is blank, but every trial belongs to a participant; drop such "
                "rows with a filter"
            )


def _between(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def _check_duplicates(raw: RawTable, mapping: Mapping) -> None:
    """Refuse rows that hold one trial twice, before its participant counts as incomplete."""
    columns, missing = mapping.columns, set(mapping.source.missing)
    if columns.trial is None:
        return
    titles = [columns.session, columns.trial]
    if columns.trial_counts == "block":
        titles.append(columns.block)
    named = [raw.columns[title] for title in titles if title is not None]
    seen: dict[tuple[str | None, ...], str] = {}
    rows = zip(raw.columns[columns.participant], *named, strict=True)
    for (participant, *numbers), place in zip(rows, raw.places, strict=True):
        if any(cell is None or cell in missing or not cell.strip() for cell in numbers):
            continue  # A blank number is refused when trials are numbered.
        key = (participant, *(comparable(cell) for cell in numbers))
        if key in seen:
            found = ", ".join(
                f"{title} {cell}"
                for title, cell in zip([t for t in titles if t], numbers, strict=True)
            )
            raise DatasetError(
                f"{place} holds the same trial as {seen[key]}: participant {participant!r}, "
                f"{found}; one is a copy (drop it with a filter), or columns.block, "
                "columns.session or trial_counts is wrong"
            )
        seen[key] = place


def _check_repeated_rows(raw: RawTable, mapping: Mapping) -> None:
    """Refuse a run of rows that repeats an earlier run of its participant, cell for cell.

    Numbered trials give copies away by their numbers. Without numbers, a session that was pasted
    twice would go on as if it were played.
    """
    if mapping.columns.trial is not None:
        return
    people, rts = raw.columns[mapping.columns.participant], raw.columns[mapping.columns.rt]
    cells = list(zip(*(raw.columns[title] for title in mapping.columns.named()), strict=True))
    rows_of: dict[str | None, list[int]] = {}
    for row, person in enumerate(people):
        rows_of.setdefault(person, []).append(row)
    for person, rows in rows_of.items():
        firsts: dict[tuple[str | None, ...], int] = {}
        length, before = 0, -1
        for number, row in enumerate(rows):
            first = firsts.setdefault(cells[row], number)
            follows = length > 0 and first == before + 1
            length, before = (0 if first == number else length + 1 if follows else 1), first
            if length < _MIN_REPEATED_ROWS:
                continue
            # The same few RTs over and over are odd, but no copy.
            if len({rts[r] for r in rows[number - length + 1 : number + 1]}) >= _MIN_DIFFERENT_RTS:
                place, earlier = rows[number - length + 1], rows[first - length + 1]
                raise DatasetError(
                    f"{raw.places[place]} and the next {length - 1} rows of participant "
                    f"{person!r} repeat {raw.places[earlier]} and those after it, cell for cell; "
                    "one is a copy, so take it out"
                )


def _complete(raw: RawTable, mapping: Mapping) -> tuple[RawTable, tuple[tuple[str, int], ...]]:
    if mapping.complete is None:
        return raw, ()
    participants = raw.columns[mapping.columns.participant]
    n_trials = Counter(participants)
    needed = mapping.complete.n_trials
    incomplete = tuple((str(p), n) for p, n in n_trials.items() if n != needed)
    return raw.keep([n_trials[p] == needed for p in participants]), incomplete


def _report(
    mapping: Mapping,
    files: tuple[SourceFile, ...],
    n_rows_read: int,
    dropped: Sequence[Dropped],
    incomplete: tuple[tuple[str, int], ...],
    translation: Translation,
    notes: tuple[str, ...],
) -> ImportReport:
    columns: dict[str, list[Any]] = translation.columns
    return ImportReport(
        name=mapping.dataset.name,
        files=files,
        n_rows_read=n_rows_read,
        dropped=tuple(dropped),
        incomplete=incomplete,
        n_trials=len(columns["card"]),
        n_participants=len(set(columns["participant_id"])),
        n_per_rule=dict(sorted(Counter(columns["rule"]).items())),
        notes=notes,
    )
