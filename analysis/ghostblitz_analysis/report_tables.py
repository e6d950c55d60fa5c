"""The tables of the report: every number as the text that stands on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ghostblitz_analysis.dataset import ImportFlow, RunInfo
from ghostblitz_analysis.exclusions import total_flow
from ghostblitz_analysis.results import Analysis, AnalysisResult
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import (
    ERROR_MEANINGS,
    MISSING,
    cards_name,
    cell_name,
    count_of,
    interval,
    number,
    p_value,
    percent,
    signed,
    signed_interval,
)

__all__ = [
    "ReportTable",
    "accuracy_notes",
    "accuracy_table",
    "cells_table",
    "contrasts_table",
    "error_meanings",
    "errors_table",
    "errors_tables",
    "flow_table",
    "incomplete_people",
    "left_out",
    "participants_tables",
    "rules_table",
    "runs_table",
]

#: Longer tables are cut in the page; their CSV files are whole.
MAX_ROWS = 200
_CELLS_PER_TABLE = 4
_RULES_PER_TABLE = 2


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table as the page shows it.

    Attributes
    ----------
    header : tuple of str
        Column titles.
    rows : tuple of tuple of str
        Cells as text, not yet escaped.
    n_left : int
        Columns from the left that hold words; the others hold numbers.
    n_more : int
        Rows that are left out here.
    groups : tuple of (str, int)
        Titles above the header, each with the number of columns it spans; empty for none.
    stem : str
        Name of the CSV file in ``tables/`` that it is made of, without its ending; empty where it
        is made of none.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left: int
    n_more: int = 0
    groups: tuple[tuple[str, int], ...] = ()
    stem: str = ""


def cells_table(analysis: Analysis) -> ReportTable:
    """Return RT per cell: geometric mean with its interval, mean and median."""
    header = (
        *_titles(analysis.factors), "n", "RTs", "geometric mean (s)",
        f"{analysis.settings.confidence:.0%} CI over participants", "mean (s)", "median (s)",
    )  # fmt: skip
    rows = [
        (
            *(str(row[factor]) for factor in analysis.factors),
            _count(row["n_participants"]),
            _count(row["n_rt"]),
            number(row["geometric_mean_rt_s"], 3),
            interval(row["geometric_mean_rt_low_s"], row["geometric_mean_rt_high_s"], 3),
            number(row["mean_rt_s"], 3),
            number(row["median_rt_s"], 3),
        )
        for row in rows_of(analysis.group_cells)
    ]
    return ReportTable(header, tuple(rows), len(analysis.factors), stem="group_cells")


def accuracy_table(analysis: Analysis) -> ReportTable:
    """Return accuracy per cell, over trials and over participants."""
    header = (
        *_titles(analysis.factors), "trials", "correct", "accuracy, all trials (%)",
        "mean of participants (%)", f"{analysis.settings.confidence:.0%} CI",
    )  # fmt: skip
    rows = []
    for row in rows_of(analysis.group_cells):
        low, high = row["p_correct_low"], row["p_correct_high"]
        bounds = MISSING if low is None else interval(100 * low, 100 * high, 2)
        rows.append(
            (
                *(str(row[factor]) for factor in analysis.factors),
                _count(row["n_trials"]),
                _count(row["n_correct"]),
                percent(row["p_correct"], 2),
                percent(row["p_correct_participants"], 2),
                bounds,
            )
        )
    return ReportTable(header, tuple(rows), len(analysis.factors), stem="group_cells")


def accuracy_notes(analysis: Analysis) -> list[str]:
    """Say in which cells the accuracy has no interval, and why."""
    cells: dict[str, list[str]] = {}
    for row in rows_of(analysis.group_cells):
        if row["p_correct_note"]:
            name = cell_name({factor: row[factor] for factor in analysis.factors})
            cells.setdefault(row["p_correct_note"], []).append(name)
    everywhere = len(analysis.group_cells)
    return [
        note if len(names) == everywhere else f"{'; '.join(names)}: {note}"
        for note, names in cells.items()
    ]


def contrasts_table(analysis: Analysis) -> ReportTable | None:
    """Return the rules compared, or None where only one was played."""
    if analysis.contrasts.empty:
        return None
    level = f"{analysis.settings.confidence:.0%} CI"
    others = tuple(factor for factor in analysis.factors if factor != "rule")
    header = (
        *_titles(others), "contrast", "n", "RT ratio", level, "difference (s)", level,
        "dz", "t (df)", "p",
    )  # fmt: skip
    rows = [
        (
            *(str(row[factor]) for factor in others),
            row["contrast"],
            _count(row["n_participants"]),
            number(row["rt_ratio"], 3),
            interval(row["rt_ratio_low"], row["rt_ratio_high"], 3),
            signed(row["difference_s"], 3),
            signed_interval(row["difference_low_s"], row["difference_high_s"], 3),
            signed(row["dz"], 2),
            MISSING if row["t"] is None else f"{signed(row['t'], 2)} ({row['df']})",
            p_value(row["p"]),
        )
        for row in rows_of(analysis.contrasts)
    ]
    return ReportTable(header, tuple(rows), len(others) + 1, stem="contrasts")


def left_out(analysis: Analysis) -> list[str]:
    """Say what each contrast and cell lacks."""
    others = [factor for factor in analysis.factors if factor != "rule"]
    lines = []
    for row in rows_of(analysis.contrasts):
        cell = cell_name({factor: row[factor] for factor in others})
        where = f"{row['contrast']}{f' in {cell}' if cell else ''}"
        if row["n_left_out"]:
            names = json.loads(row["left_out"])
            shown = ", ".join(names[:MAX_ROWS])
            lines.append(f"{where}: left out, having no RT in one of the two cells: {shown}")
        if row["note"]:
            lines.append(f"{where}: {row['note']}")
    notes = [row["note"] for row in rows_of(analysis.group_cells) if row["note"]]
    return lines + [f"Cells: {note}" for note in dict.fromkeys(notes)]


def errors_tables(analysis: Analysis) -> list[ReportTable]:
    """Return a row per error kind that occurred or could have; tables per mode, of a few rules.

    Beside each kind of wrong item stands its share by chance, where answers are items.
    """
    table = analysis.error_groups
    if "mode" not in table.columns:
        return _tables_of_rules(table, ["rule"])
    modes = list(dict.fromkeys(table["mode"]))
    return [
        part
        for m in modes
        for part in _tables_of_rules(table[table["mode"] == m], ["rule", "mode"])
    ]


def _tables_of_rules(table: pd.DataFrame, by: list[str]) -> list[ReportTable]:
    rules = list(dict.fromkeys(table["rule"]))
    parts = [rules[i : i + _RULES_PER_TABLE] for i in range(0, len(rules), _RULES_PER_TABLE)]
    return [errors_table(table[table["rule"].isin(part)], by) for part in parts]


def errors_table(table: pd.DataFrame, by: list[str]) -> ReportTable:
    """Return a row per kind of error that occurred or could have in these groups.

    Parameters
    ----------
    table : DataFrame
        From `ghostblitz_analysis.models.error_totals`, or some rows of it.
    by : list of str
        The factors that make its groups.
    """
    groups = [
        (
            cards_name({factor: rows[0][factor] for factor in by}),
            {row["error_kind"]: row for row in rows},
        )
        for rows in (rows_of(part) for _, part in table.groupby(by, sort=False))
    ]
    # Where the answers are colours or times, no item is an alternative to them.
    has_items = [any(r["p_by_chance"] is not None for r in rows.values()) for _, rows in groups]
    titles = ("errors", "% of errors", "% of trials")
    of_items = ("% of wrong items", "chance share (%)")
    lines = []
    for kind in _possible_kinds(table):
        cells = [kind.replace("_", " ")]
        for (_, of_kind), items in zip(groups, has_items, strict=True):
            row = of_kind[kind]
            cells += [
                _count(row["n"]),
                percent(row["p_of_errors"]),
                percent(row["p_of_trials"], 2),
            ]
            if items:
                cells += [percent(row["p_of_wrong_items"]), percent(row["p_by_chance"])]
        lines.append(tuple(cells))
    total = ["all errors"]
    for (_, of_kind), items in zip(groups, has_items, strict=True):
        row = next(iter(of_kind.values()))
        whole = row["n_errors"] / row["n_trials"] if row["n_trials"] else None
        share = "100.0" if row["n_errors"] else MISSING
        total += [_count(row["n_errors"]), share, percent(whole, 2)]
        total += ["", ""] if items else []
    widths = [len(titles) + len(of_items) * items for items in has_items]
    spans = (("", 1), *((name, n) for (name, _), n in zip(groups, widths, strict=True)))
    columns = [title for items in has_items for title in (*titles, *(of_items if items else ()))]
    return ReportTable(
        ("kind of error", *columns), (*lines, tuple(total)), 1, groups=spans, stem="error_kinds"
    )


def _possible_kinds(table: pd.DataFrame) -> list[str]:
    possible = (table["n"] > 0) | (table["p_by_chance"] > 0).fillna(False)
    found = set(table.loc[possible, "error_kind"])
    return [kind for kind in ERROR_MEANINGS if kind in found]


def error_meanings(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the kinds of error in the tables, each with what it means."""
    kinds = _possible_kinds(analysis.error_groups)
    return [(kind.replace("_", " "), ERROR_MEANINGS[kind]) for kind in kinds]


def rules_table(analysis: Analysis) -> ReportTable | None:
    """Return how often a rule was missed, or None where there are no additional rules."""
    table = analysis.rule_misses
    if table is None:
        return None
    by = [factor for factor in ("rule", "mode") if factor in table.columns]
    level = f"{analysis.settings.confidence:.0%} CI"
    header = (
        *by, "n", "trials", "errors", "rule missed", "% of errors", "% of trials",
        "mean of participants (%)", level,
    )  # fmt: skip
    rows = []
    for row in rows_of(table):
        low, high = row["p_participants_low"], row["p_participants_high"]
        rows.append(
            (
                *(str(row[factor]) for factor in by),
                _count(row["n_participants"]),
                _count(row["n_trials"]),
                _count(row["n_errors"]),
                _count(row["n_rule_missed"]),
                percent(row["p_of_errors"]),
                percent(row["p_of_trials"], 2),
                percent(row["p_participants"], 2),
                MISSING if low is None else interval(100 * low, 100 * high, 2),
            )
        )
    return ReportTable(header, tuple(rows), len(by), stem="rule_misses")


def participants_tables(analysis: Analysis) -> list[ReportTable]:
    """Return a row per participant with RT and accuracy per cell; a few cells per table."""
    names = [cell_name(cell) for cell in _cells(analysis)]
    people: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows_of(analysis.participant_cells):
        name = cell_name({factor: row[factor] for factor in analysis.factors})
        people.setdefault(row["participant_id"], {})[name] = row
    shown = list(people.items())[:MAX_ROWS]
    tables = []
    for start in range(0, len(names), _CELLS_PER_TABLE):
        part = names[start : start + _CELLS_PER_TABLE]
        rows = [(person, *_person_cells(found, part)) for person, found in shown]
        header = ("participant", *("correct", "RTs", "RT (s)") * len(part))
        groups = (("", 1), *((name, 3) for name in part))
        n_more = len(people) - len(rows)
        tables.append(ReportTable(header, tuple(rows), 1, n_more, groups, "participant_cells"))
    return tables


def _cells(analysis: Analysis) -> list[dict[str, str]]:
    rows = rows_of(analysis.group_cells)
    return [{factor: row[factor] for factor in analysis.factors} for row in rows]


def _person_cells(found: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        row = found[name]
        yield f"{row['n_correct']}/{row['n_trials']}"
        yield _count(row["n_rt"])
        yield number(row["geometric_mean_rt_s"], 3)


def runs_table(result: AnalysisResult) -> ReportTable | None:
    """Return a row per log, or None where the data have none."""
    runs = result.dataset.runs
    if not runs:
        return None
    synchronised = {True: "yes", False: "no", None: "not known"}
    header = (
        "participant", "session", "run", "answered by", "ended", "synchronised display",
        "trials of planned", "seed", "began (UTC)",
    )  # fmt: skip
    rows = [
        (
            " with ".join(run.players),
            str(run.session),
            f"{run.run}, resumed" if run.resumes_file else str(run.run),
            f"{run.source} ({run.participant_model})" if run.participant_model else run.source,
            run.status + (" (last line torn)" if run.torn else ""),
            "virtual" if run.source == "simulated" else synchronised[run.display_synchronised],
            _trials_of_run(run),
            str(run.seed),
            run.started_utc[:16].replace("T", " ") if run.started_utc else MISSING,
        )
        for run in runs[:MAX_ROWS]
    ]
    return ReportTable(header, tuple(rows), 6, len(runs) - len(rows))


def _trials_of_run(run: RunInfo) -> str:
    text = f"{_count(run.n_trials - run.n_recycled)} of {_count(run.n_trials_planned)}"
    return text + (f" + {_count(run.n_recycled)}" if run.n_recycled else "")


def flow_table(result: AnalysisResult) -> ReportTable:
    """Return what the import and each exclusion met, took out and left, over all participants."""
    analysis, imported = result.analysis, result.dataset.import_flow
    header = ("", "reason", "takes a trial out of", "meet it", "newly out", "left")
    scopes = {"all": "everything", "rt": "RT measures"}
    flow = rows_of(total_flow(analysis.audit))
    n_trials = len(analysis.trials)
    rows = []
    if imported is not None:
        left = imported.n_rows_read
        rows.append(("import", "rows read", "", "", "", _count(left)))
        for reason, n_rows in imported.dropped:
            left -= n_rows
            out = _count(n_rows)
            rows.append(("import", reason, "the data set", out, out, _count(left)))
    rows.append(("", "all trials", "", "", "", _count(n_trials)))
    rows += [
        (
            str(row["step"]),
            row["reason"],
            scopes[row["scope"]],
            _count(row["n_flagged"]),
            _count(row["n_newly_excluded"]),
            _count(row["n_left"]),
        )
        for row in flow
    ]
    return ReportTable(header, tuple(rows), 3, stem="audit")


def incomplete_people(flow: ImportFlow | None) -> str:
    """Name the participants whom an import left out for want of trials, with their trials."""
    people = flow.incomplete if flow else ()
    names = [f"{person} ({count_of(n, 'trial')})" for person, n in people[:MAX_ROWS]]
    more = len(people) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")


def _titles(factors: Sequence[str]) -> tuple[str, ...]:
    return tuple(factor.replace("block_kind", "blocks") for factor in factors)


def _count(n: int) -> str:
    return f"{n:,}"
