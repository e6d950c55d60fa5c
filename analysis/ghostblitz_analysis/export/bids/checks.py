"""What no BIDS validator finds: wrong units, trials that stand there twice, codes for missing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ghostblitz_analysis.export.bids.cells import MISSING, read_cells
from ghostblitz_analysis.export.bids.reading import read_original_ids, read_sidecar
from ghostblitz_analysis.export.bids.run_files import RESPONSE_TIME, RunFile
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.validation import Finding
from ghostblitz_task.errors import DatasetError

__all__ = ["check_bids"]

#: Above this median, response times are in ms: nobody looks at a card for half a minute.
_LONGEST_MEDIAN_RT_S = 30.0
#: For other durations, of which settings allow longer ones.
_LONGEST_MEDIAN_S = 600.0
#: Codes for "no response" of common programs; as measured times they do not occur to the digit.
_SENTINELS = frozenset({-1.0, 0.0, 99.0, 999.0, 9999.0, -9.0, -99.0, -999.0, -9999.0})
_WORDS = frozenset({"", "na", "nan", "null", "none", ".", "-", "missing", "#n/a"})
#: So many equal times in a row are no chance.
_SHORTEST_COPY = 5
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: What makes a row of a table its own within a participant.
_KEYS = {
    "trials": ("session", "trial_index"),
    "turns": ("session", "run", "block_index", "turn_index"),
}


@dataclass(frozen=True, slots=True)
class _Run:
    """One table of a run, and what its sidecar says."""

    name: str
    file: RunFile
    cells: Mapping[str, Sequence[str]]
    entries: Mapping[str, Any]


def check_bids(folder: Path) -> tuple[Finding, ...]:
    """Look a BIDS export over for what its validator takes for good.

    Parameters
    ----------
    folder : Path
        The export; also one that was changed since.

    Returns
    -------
    tuple of Finding
        By file: times in milliseconds (``unit``), numbers or words that stand for missing values
        (``sentinel``), a response time without a response or the reverse (``contradiction``),
        trials that stand there twice (``duplicate_trial``), runs with the same times
        (``copied_run``), file names that the rows contradict (``name``), columns that nothing
        describes (``undescribed``), participants without a row or with other numbers of trials
        (``participants``).

    Raises
    ------
    DatasetError
        If a file cannot be read, or the folder holds symbolic links.
    """
    runs = list(_runs_in(folder))
    if not runs:
        raise DatasetError(f"{folder} holds no tables of runs; it is no BIDS data set to check")
    found: list[Finding] = []
    for run in runs:
        found += [*_undescribed(run), *_units(run), *_sentinels(run)]
        found += [*_contradictions(run), *_names(run)]
    tables = [run for run in runs if run.file.suffix == "beh"]
    found += [*_duplicates(tables), *_copies(tables), *_participants(folder, tables)]
    return tuple(sorted(found, key=lambda finding: (finding.where, finding.code)))


def _runs_in(folder: Path) -> Iterator[_Run]:
    sidecars: dict[str, Mapping[str, Any]] = {}
    for name in files_below(folder):
        file = RunFile.parse(name)
        if file is None:
            continue
        if file.sidecar() not in sidecars:
            path = folder / file.sidecar()
            sidecars[file.sidecar()] = read_sidecar(path) if path.is_file() else {}
        yield _Run(name, file, read_cells(folder / name), sidecars[file.sidecar()])


def _error(code: str, where: str, message: str) -> Finding:
    return Finding("error", code, where, message)


def _undescribed(run: _Run) -> Iterator[Finding]:
    for name in run.cells:
        entry = run.entries.get(name)
        if not isinstance(entry, dict) or not entry.get("Description"):
            yield _error("undescribed", run.name, f"{run.file.sidecar()} does not describe {name}")


def _times(run: _Run) -> Iterator[tuple[str, list[float]]]:
    """Yield the columns that hold seconds, by what they are called or said to be."""
    for name, cells in run.cells.items():
        entry = run.entries.get(name)
        unit = entry.get("Units") if isinstance(entry, dict) else None
        if name in (RESPONSE_TIME, "onset", "duration") or name.endswith("_s") or unit == "s":
            yield name, [float(cell) for cell in cells if _NUMBER.fullmatch(cell)]


def _is_rt(name: str) -> bool:
    return name == RESPONSE_TIME or name.endswith("rt_s") or "_rt_" in name


def _units(run: _Run) -> Iterator[Finding]:
    for name, values in _times(run):
        entry = run.entries.get(name)
        unit = entry.get("Units") if isinstance(entry, dict) else None
        if unit != "s":
            yield _error("unit", run.name, f"{name} is in {unit or 'no stated unit'}, not in s")
        # Times on the session's clock grow with the session; durations do not.
        is_clock = name == "onset" or name.endswith("onset_s") or name == "began_s"
        longest_s = _LONGEST_MEDIAN_RT_S if _is_rt(name) else _LONGEST_MEDIAN_S
        if values and not is_clock and median(map(abs, values)) > longest_s:
            yield _error(
                "unit", run.name, f"{name} has a median of {median(values):g}: it looks like ms"
            )
    for name in run.cells:
        if name.endswith("_ms"):
            yield _error("unit", run.name, f"{name} is in ms; BIDS has times in seconds")


def _sentinels(run: _Run) -> Iterator[Finding]:
    for name, cells in run.cells.items():
        entry = run.entries.get(name)
        kind = entry.get("Format", "string") if isinstance(entry, dict) else "string"
        is_closed = kind != "string" or (isinstance(entry, dict) and "Levels" in entry)
        words = sorted({cell for cell in cells if is_closed and cell.strip().lower() in _WORDS})
        if words:
            yield _error("sentinel", run.name, f"{name} has {words[0]!r} where n/a should stand")
        if _is_rt(name):
            codes = {
                cell for cell in cells if _NUMBER.fullmatch(cell) and float(cell) in _SENTINELS
            }
            if codes:
                yield _error(
                    "sentinel", run.name, f"{name} has {min(codes)}, which is a code and no time"
                )


def _contradictions(run: _Run) -> Iterator[Finding]:
    """Find a response time where nothing was answered, and an answer without one."""
    if RESPONSE_TIME not in run.cells or "response" not in run.cells:
        return
    pairs = zip(run.cells[RESPONSE_TIME], run.cells["response"], strict=True)
    for row, (time, response) in enumerate(pairs, start=1):
        if (time == MISSING) != (response == MISSING):
            # Imported data may have lost one of them; a warning is enough.
            yield Finding(
                "warning",
                "contradiction",
                run.name,
                f"row {row}: {RESPONSE_TIME} is {time}, but response is {response}",
            )
            return


def _names(run: _Run) -> Iterator[Finding]:
    for name, number in (("session", run.file.session), ("run", run.file.run)):
        if run.file.suffix == "beh" and set(run.cells.get(name, ())) - {str(number)}:
            yield _error("name", run.name, f"its rows are of another {name} than its name says")


def _duplicates(tables: Sequence[_Run]) -> Iterator[Finding]:
    places: dict[tuple[str, ...], str] = {}
    for run in tables:
        keys = _KEYS["turns" if "turn_index" in run.cells else "trials"]
        if any(key not in run.cells for key in keys):
            continue
        for row in zip(*(run.cells[key] for key in keys), strict=True):
            identity = (run.file.label, run.file.task, *row)
            if identity in places:
                numbers = ", ".join(f"{k} {v}" for k, v in zip(keys, row, strict=True))
                yield _error(
                    "duplicate_trial", run.name, f"{numbers} stands in {places[identity]} already"
                )
                break
            places[identity] = run.name


def _copies(tables: Sequence[_Run]) -> Iterator[Finding]:
    seen: dict[tuple[str, ...], str] = {}
    for run in tables:
        times = tuple(cell for cell in run.cells.get(RESPONSE_TIME, ()) if cell != MISSING)
        if len(times) < _SHORTEST_COPY:
            continue
        first = seen.setdefault(times, run.name)
        if first != run.name:
            yield _error("copied_run", run.name, f"its response times are those of {first}")


def _participants(folder: Path, tables: Sequence[_Run]) -> Iterator[Finding]:
    ids, cells = read_original_ids(folder), read_cells(folder / "participants.tsv")
    n_rows: dict[str, int] = defaultdict(int)
    for run in tables:
        n_rows[run.file.label] += len(next(iter(run.cells.values())))
    for label in sorted(n_rows.keys() - ids.keys()):
        yield _error("participants", f"sub-{label}", "participants.tsv has no row for it")
    # With the captain's deck a participant's turns stand in the session of whoever began it.
    if "n_trials" not in cells or any("turn_index" in run.cells for run in tables):
        return
    for name, stated in zip(cells["participant_id"], cells["n_trials"], strict=True):
        n = n_rows.get(name.removeprefix("sub-"), 0)
        if stated != str(n):
            yield _error(
                "participants", name, f"participants.tsv says {stated} trials, but there are {n}"
            )
