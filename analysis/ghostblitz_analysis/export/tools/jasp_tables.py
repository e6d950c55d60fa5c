"""Tables for JASP: trials in long form, and participants' cell means in wide form."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.export.folders import write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    ToolTable,
    read_csv_table,
    readme_text,
    tool_tables,
    write_csv_table,
    write_dictionary,
)
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column, DType

__all__ = ["cell_means", "read_jasp", "write_jasp"]

WIDE_TABLE = "participants"
_NUMBER = "participant_number"
#: Measures of a cell: type, unit, meaning.
_MEASURES: dict[str, tuple[DType, str | None, str]] = {
    "n_trials": ("Int64", None, "Trials that count for accuracy"),
    "p_correct": ("Float64", None, "Share of correct trials"),
    "n_rt": ("Int64", None, "Trials that count for RTs"),
    "mean_rt_s": ("Float64", "s", "Mean RT"),
    "median_rt_s": ("Float64", "s", "Median RT"),
    "mean_log_rt": ("Float64", None, "Mean of the natural logarithm of RTs in seconds"),
}


def write_jasp(source: ExportSource, folder: Path) -> None:
    """Write the tables as CSV, and ``participants.csv`` with a row per participant.

    JASP guesses types by itself: ids such as 01 become numbers, and NA a missing value. So all
    tables get a column ``participant_number`` of texts that it cannot misread.

    Raises
    ------
    DatasetError
        As `tool_tables`.
    """
    plain = tool_tables(source)
    tables = [_numbered(table) for table in plain]
    why_not = "the measures of this game are in the results"
    if source.dataset is not None:
        try:
            tables.append(_numbered(cell_means(source), like=plain[0].frame))
        except DatasetError as error:
            why_not = str(error)
    for table in tables:
        write_csv_table(folder, table)
    write_dictionary(folder, tables)
    has_wide = tables[-1].name == WIDE_TABLE
    lines = [
        *(
            f"- `{table.name}.csv`: {len(table.frame)} rows, {len(table.columns)} columns"
            for table in tables
        ),
        "",
        "`columns.csv` says what each column means. Times are in seconds, decimals have a point, "
        "truth values are `true` and `false`, missing is an empty field. Open a file by Open > "
        "Computer.",
        "",
        "Use `participant_number` for participants: JASP takes ids such as 01 for numbers, and NA "
        "for missing (Preferences > Data > Missing value list).",
        "",
        (
            f"`{WIDE_TABLE}.csv` has a row per participant and, for each cell, the measures of the "
            "analysis, as repeated-measures tests want them. Analyse single trials of "
            f"`{plain[0].name}.csv` with the filter `used_for_rt` or `used_for_accuracy`."
        )
        if has_wide
        else f"There is no table of participants: {why_not}.",
    ]
    text = readme_text(source, f"{source.title} for JASP", lines)
    write_text(folder, f"{DATA_FOLDER}/README-jasp.md", text)
    write_common(source, folder, Layout())


def read_jasp(folder: Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `write_jasp` wrote, as the data set has it; by default the main one."""
    return read_csv_table(folder, table)


def cell_means(source: ExportSource) -> ToolTable:
    """Return participants' measures, one column per measure and cell.

    Returns
    -------
    ToolTable
        One row per participant who is analysed: ``participant_id``, ``source``, then columns such
        as ``mean_rt_s_direct_mixed``, whose cells are the analysis' own. A measure without trials
        is missing.

    Raises
    ------
    DatasetError
        If no trial is left to analyse.
    """
    assert source.dataset is not None
    settings = source.dataset.analysis
    flagged = flag_exclusions(source.dataset.trials, settings)
    factors = cell_factors(flagged, settings)
    measures = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    people = flagged.groupby("participant_id", sort=True)["source"].first()
    frame = people.reset_index()
    frame = frame[frame["participant_id"].isin(measures["participant_id"])].reset_index(drop=True)
    columns = [
        Column("participant_id", "string", "The participant", "session"),
        Column("source", "string", "Who answered", "session"),
    ]
    for cell, rows in measures.groupby(list(factors), sort=False, observed=True):
        levels = [str(level) for level in cell]
        by_person = rows.set_index("participant_id").reindex(frame["participant_id"])
        for measure, (dtype, unit, meaning) in _MEASURES.items():
            name = "_".join([measure, *levels]).replace("-", "_")
            frame[name] = pd.array(by_person[measure].tolist(), dtype=dtype)
            columns.append(
                Column(
                    name,
                    dtype,
                    f"{meaning}: {', '.join(levels)}",
                    "derived",
                    unit,
                    null_when="the participant has no such trial",
                )
            )
    return ToolTable(WIDE_TABLE, frame, tuple(columns))


def _numbered(table: ToolTable, *, like: pd.DataFrame | None = None) -> ToolTable:
    """Put numbers of participants first, the same in every table."""
    ids = (table.frame if like is None else like)["participant_id"]
    names = sorted(str(name) for name in ids.dropna().unique())
    width = len(str(len(names)))
    numbers = {name: f"p{place:0{width}d}" for place, name in enumerate(names, start=1)}
    column = Column(
        _NUMBER, "string", "The participant by number, in the order of their ids", "session"
    )
    frame = table.frame.copy(deep=False)
    frame.insert(0, _NUMBER, frame["participant_id"].map(numbers).astype("string"))
    return ToolTable(table.name, frame, (column, *table.columns), table.added | {_NUMBER})
