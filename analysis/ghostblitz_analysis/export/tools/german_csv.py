"""CSV files for a German Excel, which opens them with a double click and without questions.

Excel guesses the type of every field, whether or not it stands in quotes: 01 becomes 1, MAR1 a date
and ``=1+1`` is computed, which is an attack where the text came from somebody else (OWASP, CSV
Injection). So an apostrophe is put before each text that it could take for something else, and
before each that begins with one; taking one away gives the text back.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd

from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    ToolTable,
    read_dictionary,
    typed_table,
)
from ghostblitz_task.errors import DatasetError

__all__ = ["german_csv_text", "read_german_csv"]

_MARK = "'"
_BOM = "\ufeff"
_TRUTHS = {"WAHR": True, "FALSCH": False}
#: Any digit may make a number or a date; # begins an error. OWASP names the other beginnings, in
#: full width too.
_MISREAD = re.compile(
    r"['=+\-@#\t\r\n＝＋－＠]|\s*['=+\-@＝＋－＠]|.*\d|\s*(wahr|falsch|true|false)\s*$",
    re.IGNORECASE | re.DOTALL,
)


def german_csv_text(table: ToolTable) -> str:
    """Return a table as CSV with semicolons, decimal commas, WAHR and FALSCH, and a BOM."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    writer.writerow([column.name for column in table.columns])
    cells = [_cells(table.frame[column.name], column.dtype) for column in table.columns]
    for row in zip(*cells, strict=True):
        # A line break within a line is quoted, also where it is not the end of lines here.
        writer.writerow(row)
    return _BOM + text.getvalue()


def read_german_csv(folder: Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `write_excel_de` wrote as CSV, as the data set has it.

    Raises
    ------
    DatasetError
        If a file cannot be read, or does not fit its dictionary.
    """
    dictionary = read_dictionary(folder)
    name = table or str(dictionary["table"].iloc[0])
    path = folder / DATA_FOLDER / f"{name}.csv"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            titles, *rows = csv.reader(file, delimiter=";")
    except (OSError, ValueError, csv.Error) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    types = dictionary[dictionary["table"] == name].set_index("column")["type"].to_dict()
    cells: dict[str, list[str]] = {}
    for place, title in enumerate(titles):
        texts = [row[place] for row in rows]
        if types.get(title) == "text":
            texts = [text.removeprefix(_MARK) for text in texts]
        elif types.get(title) == "number":
            texts = [text.replace(",", ".") for text in texts]
        cells[title] = texts
    return typed_table(cells, dictionary, name, truth=_TRUTHS)


def _cells(values: pd.Series, dtype: str) -> list[str]:
    plain = values.astype(object).where(values.notna(), None).tolist()
    if dtype == "string":
        return ["" if text is None else _marked(text) for text in plain]
    if dtype == "boolean":
        return ["" if truth is None else "WAHR" if truth else "FALSCH" for truth in plain]
    return ["" if number is None else repr(number).replace(".", ",") for number in plain]


def _marked(text: str) -> str:
    return f"{_MARK}{text}" if _MISREAD.match(text) else text
