"""The codebook of a data set: what each column of its trial table means, as CSV and Markdown.

It is made from `ghostblitz_task.schema`, so that it cannot differ from what the program writes.
For a data set's folder, from a shell::

    python -m ghostblitz_analysis.codebook data/example_study
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_task.errors import GhostBlitzError
from ghostblitz_task.schema import COLUMNS, FACTOR_PREFIX, Column

__all__ = [
    "GROUPS",
    "codebook_markdown",
    "codebook_table",
    "describe_columns",
    "write_codebook",
]

#: The groups of columns, in words.
GROUPS = {
    "session": "who answered, where and when: known before the session",
    "design": "what was planned: known before the trial",
    "fact": "what was observed in the trial",
    "derived": "what follows from the others, computed again whenever a log is loaded",
    "factor": "what this study adds",
}
_DTYPES = {
    "string": "text",
    "Int64": "whole number",
    "Float64": "number",
    "boolean": "true or false",
}
_HEADINGS = {
    "column": "column",
    "type": "type",
    "unit": "unit",
    "levels": "levels",
    "meaning": "meaning",
    "missing_when": "missing when",
    "n_missing": "missing here",
}


def codebook_table(trials: pd.DataFrame) -> pd.DataFrame:
    """Describe every column of a trial table.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        `Dataset.trials`: the schema's columns, then those named ``factor_*``.

    Returns
    -------
    DataFrame, one row per column, in the table's order
        ``column``, ``group`` (``session``, ``design``, ``fact``, ``derived``, or ``factor`` for
        what a study added), ``type`` in words, ``unit``, ``levels`` (all that can occur, joined by
        `` | ``), ``meaning``, ``missing_when``, ``n_missing`` (rows of this table without a value)
        and ``n_rows``. Without unit, levels or a reason to be missing, those are missing.

    Examples
    --------
    >>> from ghostblitz_analysis.tables import trial_frame
    >>> table = codebook_table(trial_frame({"rt_s": [0.7, None]}, 2)).set_index("column")
    >>> table.loc["rt_s", ["type", "unit", "missing_when"]].tolist()
    ['number', 's', 'nothing was answered in time']
    >>> int(table.loc["rt_s", "n_missing"])
    1
    """
    known = [column for column in COLUMNS if column.name in trials.columns]
    added = [name for name in map(str, trials.columns) if name.startswith(FACTOR_PREFIX)]
    return _described(trials, [*map(_row, known), *(_factor_row(trials, name) for name in added)])


def describe_columns(frame: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """Describe any table whose columns have meanings, in the columns of `codebook_table`."""
    return _described(frame, [_row(column) for column in columns])


def _described(frame: pd.DataFrame, rows: list[dict[str, str | None]]) -> pd.DataFrame:
    columns = ["column", "group", "type", "unit", "levels", "meaning", "missing_when"]
    table = pd.DataFrame(rows, columns=columns, dtype="string")
    n_missing = [int(frame[name].isna().sum()) for name in table["column"]]
    return table.assign(
        n_missing=pd.array(n_missing, dtype="Int64"),
        n_rows=pd.array([len(frame)] * len(table), dtype="Int64"),
    )


def codebook_markdown(dataset: Dataset) -> str:
    """Write the codebook of a data set for people, a section per group of columns."""
    table = codebook_table(dataset.trials)
    simulated = ["", "**Simulated data, not people.**"] if "simulated" in dataset.sources else []
    lines = [
        f"# Codebook of {dataset.name}",
        *simulated,
        "",
        f"One row per participant and trial, {len(dataset.trials):,} of them, as "
        "`ghostblitz_analysis.dataset.load_dataset` reads them from the logs. Times are in "
        "seconds. A missing value is an empty field, never 0 or a code. How many rows lack a "
        "value in this data set is in the last column. Made by `python -m "
        "ghostblitz_analysis.codebook`; `codebook.csv` holds the same for programs.",
    ]
    for group, words in GROUPS.items():
        part = table[table["group"] == group]
        if part.empty:
            continue
        lines += [
            "",
            f"## {group}: {words}",
            "",
            f"| {' | '.join(_HEADINGS.values())} |",
            f"|{'---|' * len(_HEADINGS)}",
        ]
        for row in part.fillna({"unit": "", "levels": "", "missing_when": "never"}).to_dict(
            "records"
        ):
            row |= {"column": f"`{row['column']}`", "levels": row["levels"].replace(" | ", ", ")}
            cells = [str(row[name]).replace("|", "\\|") for name in _HEADINGS]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_codebook(dataset: Dataset, folder: Path) -> tuple[Path, Path]:
    """Write ``codebook.csv`` and ``codebook.md`` into a folder, over earlier ones.

    Raises
    ------
    OSError
        If they cannot be written.
    """
    csv, markdown = folder / "codebook.csv", folder / "codebook.md"
    codebook_table(dataset.trials).to_csv(csv, index=False, lineterminator="\n")
    markdown.write_text(codebook_markdown(dataset), encoding="utf-8", newline="\n")
    return csv, markdown


def _row(column: Column) -> dict[str, str | None]:
    return {
        "column": column.name,
        "group": "factor" if column.name.startswith(FACTOR_PREFIX) else column.group,
        "type": _DTYPES[column.dtype],
        "unit": column.unit,
        "levels": " | ".join(column.levels) or None,
        "meaning": column.meaning,
        "missing_when": column.null_when,
    }


def _factor_row(trials: pd.DataFrame, name: str) -> dict[str, str | None]:
    dtype = str(trials[name].dtype)
    return {
        "column": name,
        "group": "factor",
        "type": _DTYPES.get(dtype, dtype),
        "meaning": "A factor that the study adds; its documents say what it means",
    }


def _main(arguments: list[str]) -> None:
    if len(arguments) != 1:
        raise SystemExit("usage: python -m ghostblitz_analysis.codebook DATASET")
    folder = Path(arguments[0])
    try:
        write_codebook(load_dataset(folder), folder)
    except (GhostBlitzError, OSError) as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    _main(sys.argv[1:])
