"""Tables as delimited text that comes back as it was, to the last digit of every number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from ghostblitz_analysis.export.folders import place_in
from ghostblitz_analysis.export.source import ExportTable
from ghostblitz_task.errors import DatasetError

__all__ = ["arrow_schema", "arrow_table", "frame_of", "read_table_text", "write_table_text"]

_ARROW = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
}
_PANDAS = {
    pa.string(): pd.StringDtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
#: Ten times the ten thousand participants with 300 trials each that have to go through.
_LARGEST_TABLE_BYTES = 20_000_000_000


def arrow_schema(dtypes: Mapping[str, str]) -> pa.Schema:
    """Return the Arrow types of columns with these pandas types."""
    return pa.schema([(name, _ARROW[dtype]) for name, dtype in dtypes.items()])


def arrow_table(table: ExportTable) -> pa.Table:
    """Return a table as Arrow holds it; missing values are null.

    Raises
    ------
    DatasetError
        If a number is not finite, or a text has a binary zero or is no Unicode.
    """
    for column in table.columns:
        if column.dtype == "Float64":
            values = table.frame[column.name].dropna().to_numpy(dtype=np.float64)
            if not np.isfinite(values).all():
                raise DatasetError(
                    f"{table.name}: {column.name} holds a number that is not finite, which no "
                    "export can keep"
                )
    schema = arrow_schema({column.name: column.dtype for column in table.columns})
    try:
        return pa.Table.from_pandas(table.frame, schema=schema, preserve_index=False)
    except UnicodeError as error:
        raise DatasetError(f"{table.name} holds a text that is no Unicode: {error}") from error


def frame_of(table: pa.Table, where: str) -> pd.DataFrame:
    """Return an Arrow table with pandas' nullable types.

    Raises
    ------
    DatasetError
        If a number is not finite, which pandas would take for a missing one; naming the file.
    """
    for field in table.schema:
        if (
            field.type == pa.float64()
            and not pc.all(pc.is_finite(table[field.name]), min_count=0).as_py()
        ):
            raise DatasetError(f"{where}: {field.name} holds something that is no finite number")
    frame: pd.DataFrame = table.to_pandas(types_mapper=_PANDAS.get, split_blocks=True)
    return frame


def write_table_text(table: ExportTable, folder: Path, name: str) -> Path:
    r"""Write a table as UTF-8, quoted as RFC 4180 has it.

    Lines end in ``\n``. Texts stand in quotes, so that an empty one (``""``) is not a missing one
    (nothing at all); numbers do not, and have as many digits as it takes to read the same number
    back.

    Parameters
    ----------
    table : ExportTable
    folder : Path
        The folder being written.
    name : str
        Of the new file in it.

    Raises
    ------
    DatasetError
        As `arrow_table`.
    """
    path = place_in(folder, name)
    with path.open("xb") as file:
        arrow_csv.write_csv(arrow_table(table), file)
    return path


def read_table_text(path: Path, dtypes: Mapping[str, str]) -> pd.DataFrame:
    """Read a table as `write_table_text` writes it; texts without quotes are read as well.

    Parameters
    ----------
    path : Path
    dtypes : mapping of str to str
        The pandas type of each column.

    Returns
    -------
    DataFrame
        With the file's order of columns.

    Raises
    ------
    DatasetError
        If it cannot be read, is too large, has other columns or rows of other lengths, or holds a
        value that is not of its column's type.
    """
    try:
        if path.stat().st_size > _LARGEST_TABLE_BYTES:
            raise DatasetError(f"{path} is too large: more than {_LARGEST_TABLE_BYTES:,} bytes")
        with path.open("rb") as file:
            read = arrow_csv.read_csv(
                file,
                parse_options=arrow_csv.ParseOptions(
                    newlines_in_values=True, ignore_empty_lines=False
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=arrow_schema(dtypes),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    true_values=["true"],
                    false_values=["false"],
                ),
            )
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error
    except pa.ArrowInvalid as error:
        raise DatasetError(f"{path}: {_one_line(error)}") from error
    _check_titles(read.column_names, dtypes, path)
    return frame_of(read, str(path))


def _check_titles(titles: list[str], dtypes: Mapping[str, str], path: Path) -> None:
    for title in titles:
        if titles.count(title) > 1:
            raise DatasetError(f"{path}: two columns are named {title!r}")
        if title not in dtypes:
            raise DatasetError(f"{path}: column {title[:80]!r} is not in the description")
    for title in dtypes:
        if title not in titles:
            raise DatasetError(f"{path}: column {title} is missing")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
