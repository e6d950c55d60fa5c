"""Cells of BIDS tables: what is written reads back the same, and nothing can break a row."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.export.bids.cells import as_cells, read_cells, typed, write_tsv
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column, DType

VALUES: dict[DType, st.SearchStrategy[Any]] = {
    "string": st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=8),
        st.sampled_from(["n/a", '"n/a"', '"', "", "\t", "a\tb", "\r\n", "\x85", " ", "NA", "=1+1"]),
    ),
    "Int64": st.integers(-(10**18) + 1, 10**18 - 1),
    "Float64": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
}


def column_of(dtype: DType, *, null_when: str | None = "sometimes") -> Column:
    return Column("value", dtype, "", "fact", null_when=null_when)


def round_trip(values: Any, column: Column) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        series = pd.Series(pd.array(values, dtype=column.dtype))
        path = write_tsv(Path(folder), "t.tsv", {"value": as_cells(series, column)})
        return series, pd.Series(typed(read_cells(path)["value"], column, "t.tsv"))


@pytest.mark.parametrize("dtype", list(VALUES))
@settings(max_examples=40)
@given(data=st.data())
def test_values_and_gaps_come_back_exactly(dtype, data):
    values = data.draw(st.lists(st.none() | VALUES[dtype], max_size=6))
    written, read = round_trip(values, column_of(dtype))
    pd.testing.assert_series_equal(read, written, check_exact=True)


@settings(max_examples=40)
@given(st.lists(VALUES["string"], max_size=6))
def test_texts_of_a_column_without_gaps_come_back_exactly(values):
    written, read = round_trip(values, column_of("string", null_when=None))
    pd.testing.assert_series_equal(read, written)


def test_cells_are_as_bids_wants_them(tmp_path):
    cells = {
        "text": as_cells(pd.Series(pd.array(["a b", None], dtype="string")), column_of("string")),
        "number": as_cells(
            pd.Series(pd.array([0.25, None], dtype="Float64")), column_of("Float64")
        ),
        "flag": as_cells(pd.Series(pd.array([True, None], dtype="boolean")), column_of("boolean")),
    }
    path = write_tsv(tmp_path, "t.tsv", cells)
    assert path.read_bytes() == b"text\tnumber\tflag\na b\t0.25\ttrue\nn/a\tn/a\tn/a\n"


def test_empty_text_that_cannot_be_missing_is_not_applicable():
    column = column_of("string", null_when=None)
    assert list(as_cells(pd.Series(pd.array(["", "x"], dtype="string")), column)) == ["n/a", "x"]


def test_infinite_number_is_refused():
    with pytest.raises(DatasetError, match="value holds an infinite number"):
        as_cells(pd.Series(pd.array([float("inf")], dtype="Float64")), column_of("Float64"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\n1\n", "line 2: 1 cells, but the header has 2"),
        (b"a\ta\n1\t2\n", "line 1: this is no header"),
        (b"a\t\n1\t2\n", "line 1: this is no header"),
        (b"a\n1\n2", "does not end with a line end"),
        (b"", "line 1: this is no header"),
        (b"a\n\xff\n", "cannot be read"),
    ],
    ids=["short row", "same name", "no name", "cut off", "empty", "no UTF-8"],
)
def test_damaged_file_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "t.tsv"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=re.escape(message)):
        read_cells(path)


@pytest.mark.parametrize(
    ("dtype", "cell"),
    [("Int64", "1.0"), ("Float64", "NaN"), ("Float64", "1,5"), ("boolean", "TRUE"),
     ("string", '"x'), ("string", ""), ("Float64", "1_0"), ("Int64", "٣"),
     ("Float64", "1e999")],
)  # fmt: skip
def test_cell_that_is_no_such_value_is_refused(dtype, cell):
    with pytest.raises(DatasetError, match=r"t\.tsv, row 2: value is"):
        typed(["n/a", cell], column_of(dtype), "t.tsv")
