"""Trials for R: CSV files, and a script that reads them with documented factor levels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    EMPTY_TEXT,
    ToolTable,
    blank_meaning,
    read_csv_table,
    readme_text,
    reference_first,
    tool_tables,
    write_csv_table,
    write_dictionary,
)
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.regression import TrialRows, mode_levels, rt_rows
from ghostblitz_task.errors import DatasetError

__all__ = ["intercept_formula", "read_r", "write_r"]

#: Whole numbers beyond this are numbers to R, whose integers have 32 bits.
_MAX_INTEGER = 2**31 - 1
_LINE_WIDTH = 96


def write_r(source: ExportSource, folder: Path) -> None:
    """Write the tables as CSV, and ``data/read_trials.R`` (or ``read_turns.R``) that reads them.

    Raises
    ------
    DatasetError
        As `tool_tables`.
    """
    tables = tool_tables(source)
    for table in tables:
        write_csv_table(folder, table)
    write_dictionary(folder, tables)
    models, why_not = _models(source)
    script = f"read_{tables[0].name}.R"
    parts = [_header(source, script), *(_reader(table) for table in tables), models]
    write_text(folder, f"{DATA_FOLDER}/{script}", "\n".join(part for part in parts if part))
    lines = _readme_lines(tables, script, why_not)
    write_text(
        folder, f"{DATA_FOLDER}/README-r.md", readme_text(source, f"{source.title} for R", lines)
    )
    write_common(source, folder, Layout())


def read_r(folder: Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `write_r` wrote, as the data set has it; by default the main one."""
    return read_csv_table(folder, table)


def intercept_formula(rows: TrialRows) -> str:
    """Return the model with random intercepts that the analysis fits, in lme4's notation."""
    random = ["(1 | participant_id)", *["(1 | target)"] * (len(rows.targets) > 1)]
    return f"{rows.response} ~ {' + '.join([rows.design.formula, *random])}"


def _header(source: ExportSource, script: str) -> str:
    warning = "# SIMULATED DATA, NOT PEOPLE.\n" if source.simulated else ""
    return f"# Reads the tables of this folder into R: source({_text(script)}).\n{warning}"


def _reader(table: ToolTable) -> str:
    """Return the R function that reads a table."""
    name = table.name
    empty = [
        c.name for c in table.columns if blank_meaning(name, table.frame[c.name]) == EMPTY_TEXT
    ]
    kinds: dict[str, list[str]] = {"Int64": [], "Float64": [], "boolean": [], "string": []}
    for column in table.columns:
        values = table.frame[column.name]
        is_long = column.dtype == "Int64" and bool((values.abs() > _MAX_INTEGER).any())
        kinds["Float64" if is_long else column.dtype].append(column.name)
    levels = [f"    {c.name} = {_vector(reference_first(c), 6)}" for c in table.columns if c.levels]
    all_levels = ",\n".join(levels)
    return f"""\
read_{name} <- function(folder = ".") {{
  {name} <- read.csv(
    file.path(folder, "{name}.csv"),
    colClasses = "character", na.strings = character(0), encoding = "UTF-8", check.names = FALSE
  )
  # An empty field is missing, but in these columns it is an empty text.
  for (name in setdiff(names({name}), {_vector(empty, 4)})) {{
    {name}[[name]][{name}[[name]] == ""] <- NA
  }}
  whole <- {_vector(kinds["Int64"], 4)}
  for (name in whole) {name}[[name]] <- as.integer({name}[[name]])
  numbers <- {_vector(kinds["Float64"], 4)}
  for (name in numbers) {name}[[name]] <- as.numeric({name}[[name]])
  truths <- {_vector(kinds["boolean"], 4)}
  for (name in truths) {name}[[name]] <- {name}[[name]] == "true"
  # The first level is the reference of R's treatment coding.
  levels <- list(
{all_levels}
  )
  for (name in names(levels)) {{
    {name}[[name]] <- factor({name}[[name]], levels = levels[[name]])
  }}
  ids <- {name}$participant_id
  {name}$participant_id <- factor(ids, levels = sort(unique(ids), method = "radix"))
  {name}
}}
"""


def _models(source: ExportSource) -> tuple[str, str]:
    """Return the R function that fits the analysis' models, or why there is none."""
    if source.dataset is None:
        return "", "the analysis of this game has no such model"
    settings = source.dataset.analysis
    flagged = flag_exclusions(source.dataset.trials, settings)
    try:
        factors = cell_factors(flagged, settings)
    except DatasetError as error:
        return "", str(error)
    fits = []
    for outcome in settings.models.rt:
        for mode in mode_levels(flagged, factors=factors):
            rows = rt_rows(
                flagged, outcome=outcome, factors=factors, mode=mode, items=settings.models.items
            )
            if not len(rows.y):
                continue
            used = ["trials$used_for_rt"]
            used += [f"trials$mode == {_text(mode)}"] * bool(mode)
            fits.append(
                f"    {'_'.join(filter(None, (outcome, mode)))} = lme4::lmer(\n"
                f"      {intercept_formula(rows)},\n"
                f"      data = trials[{' & '.join(used)}, ], REML = TRUE\n"
                "    )"
            )
    if not fits:
        return "", "no trial counts for RTs"
    joined = ",\n".join(fits)
    return (
        "# The models of RT with random intercepts, as the analysis fits them: the trials that\n"
        "# count for RTs, treatment coding against the first level, REML.\n"
        f"fit_rt_models <- function(trials) {{\n  list(\n{joined}\n  )\n}}\n"
    ), ""


def _readme_lines(tables: Sequence[ToolTable], script: str, why_not: str) -> list[str]:
    main = tables[0]
    lines = [
        "All rows are kept; `columns.csv` says what each column means. Times are in seconds. "
        "Missing is an empty field, truth values are `true` and `false`.",
        "",
        "```r",
        f'source("{script}")',
        *(f"{table.name} <- read_{table.name}()" for table in tables),
        *(["models <- fit_rt_models(trials)  # lme4"] if not why_not else []),
        "```",
        "",
        "The script sets factor levels; the first is the reference of treatment coding:",
        "",
        *(
            f"- `{table.name}${column.name}`: {', '.join(reference_first(column))}"
            for table in tables
            for column in table.columns
            if column.levels
        ),
        "",
    ]
    if main.added:
        lines += [
            f"`exclude_*` flags say why a trial is left out; "
            f"{int(main.frame['used_for_accuracy'].sum())} of {len(main.frame)} count for accuracy "
            f"(`used_for_accuracy`) and {int(main.frame['used_for_rt'].sum())} for RTs "
            "(`used_for_rt`).",
            "",
        ]
    lines += [f"No model is given: {why_not}.", ""] if why_not else []
    lines += [
        "Without the script, read texts as texts (`colClasses`): R takes an id such as 01 for a "
        "number and NA for a missing one.",
    ]
    return lines


def _text(value: str) -> str:
    # A JSON text is an R text: the same quotes and escapes.
    return json.dumps(value)


def _vector(values: Sequence[str], indent: int) -> str:
    """Return a vector of texts in R, in lines of a readable width."""
    if not values:
        return "character(0)"
    lines, line = [], ""
    for value in values:
        word = f"{_text(value)}, "
        if line and len(line) + len(word) + indent > _LINE_WIDTH:
            lines.append(line.rstrip())
            line = ""
        line += word
    lines.append(line.rstrip().rstrip(","))
    return f"c(\n{' ' * indent}" + f"\n{' ' * indent}".join(lines) + f"\n{' ' * (indent - 2)})"
