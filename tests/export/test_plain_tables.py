"""CSV: what stands in the files, and that they come back as they were."""

from __future__ import annotations

import csv
import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.export.formats import plain_tables
from ghostblitz_analysis.export.formats.plain_tables import read_csv, write_csv
from ghostblitz_analysis.export.formats.table_text import read_table_text, write_table_text
from ghostblitz_analysis.export.source import ExportTable
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column
from tests.export.odd_tables import ODD_IDS, odd_source


@pytest.fixture(autouse=True)
def without_the_rest(monkeypatch):
    monkeypatch.setattr(plain_tables, "write_common", lambda *_: None)


def table_of(name: str, dtype: str, values: list[object]) -> ExportTable:
    column = Column(name, dtype, "", "fact", null_when="at times")
    return ExportTable("made", pd.DataFrame({name: pd.array(values, dtype=dtype)}), (column,))


def test_odd_table_comes_back_identical(tmp_path):
    source = odd_source()
    write_csv(source, tmp_path)
    pd.testing.assert_frame_equal(read_csv(tmp_path), source.main.frame, check_exact=True)


def test_plain_reader_finds_every_cell(tmp_path):
    frame = odd_source().main.frame
    write_csv(odd_source(), tmp_path)
    data = (tmp_path / "data" / "trials.csv").read_bytes()
    assert not data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(data.decode("utf-8").splitlines()))
    assert rows[0] == list(frame.columns)
    assert len(rows) == len(frame) + 1
    place = {name: number for number, name in enumerate(rows[0])}
    assert list(dict.fromkeys(row[place["participant_id"]] for row in rows[1:])) == list(ODD_IDS)
    for cells, onset in zip(rows[1:], frame["onset_s"], strict=True):
        assert float(cells[place["onset_s"]]) == onset
    assert {row[place["correct"]] for row in rows[1:]} == {"true", "false"}


def test_empty_text_is_quoted_and_missing_is_nothing(tmp_path):
    table = table_of("a", "string", ["", None, "NA"])
    path = write_table_text(table, tmp_path, "made.csv")
    assert path.read_bytes() == b'"a"\n""\n\n"NA"\n'


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\nb", "a\rb", '"', ",", "a\tb", " ", "\u0085", "\u2028"]
)
def test_text_with_separators_comes_back(tmp_path, text):
    column = Column("b", "Int64", "", "fact")
    table = ExportTable(
        "made",
        pd.DataFrame({"a": pd.array([text, "x"], dtype="string"), "b": pd.array([1, 2], "Int64")}),
        (Column("a", "string", "", "fact"), column),
    )
    path = write_table_text(table, tmp_path, "made.csv")
    read = read_table_text(path, {"a": "string", "b": "Int64"})
    pd.testing.assert_frame_equal(read, table.frame)


def test_line_breaks_in_a_long_table_come_back(tmp_path):
    """Long tables are read in blocks, which must not begin within a text."""
    values = [f"{number}\n" * (number % 7) + "end" for number in range(100_000)]
    path = write_table_text(table_of("a", "string", values), tmp_path, "made.csv")
    assert read_table_text(path, {"a": "string"})["a"].tolist() == values


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_number_is_refused(tmp_path, value):
    with pytest.raises(DatasetError, match="made: x_s holds a number that is not finite"):
        write_table_text(table_of("x_s", "Float64", [0.5, value]), tmp_path, "made.csv")


def test_text_that_is_no_unicode_is_refused(tmp_path):
    table = table_of("a", "string", ["x"])
    object.__setattr__(table, "frame", pd.DataFrame({"a": ["\ud800"]}, dtype=object))
    with pytest.raises(DatasetError, match="made holds a text that is no Unicode"):
        write_table_text(table, tmp_path, "made.csv")


def test_description_says_what_columns_mean_and_that_data_are_simulated(tmp_path):
    write_csv(odd_source(), tmp_path)
    about = json.loads((tmp_path / "data" / "tables.json").read_text(encoding="utf-8"))
    assert about["simulated"] is True
    assert about["description"].startswith("Simulated data, not people.")
    assert about["schema_version"] == 1
    trials, people = about["tables"]
    assert (trials["name"], people["name"]) == ("trials", "participants")
    data = (tmp_path / trials["file"]).read_bytes()
    assert trials["sha256"] == hashlib.sha256(data).hexdigest()
    rt = next(column for column in trials["columns"] if column["name"] == "rt_s")
    assert rt["type"] == "Float64"
    assert rt["unit"] == "s"
    assert rt["missing_when"] == "nothing was answered in time"
    mode = next(column for column in trials["columns"] if column["name"] == "mode")
    assert mode["levels"] == ["grab", "shout"]
