"""Excel files: ids stay texts, what Excel made of numbers is refused by its cell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from ghostblitz_task.errors import DatasetError
from tests.analysis.loading.plain_tables import DIRECT, EXCLUSION, PLAIN, plain

HEADER = ["who", "card", "answer", "time"]
Table = Sequence[Sequence[object]]


@pytest.fixture
def excel(tmp_path: Path) -> Callable[..., Path]:
    """Write sheets of rows into an Excel file."""

    def write(
        sheets: dict[str, Table],
        change: Callable[[Any], object] = lambda workbook: None,
        name: str = "t.xlsx",
    ) -> Path:
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for title, rows in sheets.items():
            sheet = workbook.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        change(workbook)
        workbook.save(tmp_path / name)
        return tmp_path / name

    return write


def trial(who: object = "a", rt: object = 0.5, *more: object) -> list[object]:
    return [who, DIRECT, "ghost", rt, *more]


def test_ids_stored_as_texts_stay_texts(bring, excel):
    ids = ["01", "1", "NA", "TRUE", "1.0"]
    source = excel({"data": [HEADER, *(trial(who) for who in ids)]})
    trials = bring(source, PLAIN)
    assert trials["participant_id"].tolist() == ids
    assert bring.report.notes == ()


def test_ids_stored_as_numbers_are_noted(bring, excel):
    source = excel({"data": [HEADER, trial(7), trial("08"), trial(9.0)]})
    trials = bring(source, PLAIN)
    assert trials["participant_id"].tolist() == ["7", "08", "9"]
    [note] = bring.report.notes
    assert note.startswith("t.xlsx: who is stored as a number in 2 of 3 rows, so an id that was ")


def test_excel_and_csv_give_the_same_table(bring, excel):
    cells = [["a", DIRECT, "ghost", 0.3125], ["a", EXCLUSION, "book", 1], ["b", DIRECT, "", ""]]
    mapping = PLAIN + '[responses]\nblank = "late"\n'
    one = bring(excel({"data": [HEADER, *cells]}), mapping)
    other = bring(plain(*(",".join(map(str, row)) for row in cells)), mapping)
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    assert one["rt_s"].tolist()[:2] == [0.3125, 1.0]


def test_numbers_come_over_whatever_the_decimal_mark_of_the_texts(bring, excel):
    source = excel({"data": [HEADER, trial("a", 512.5), trial("a", "612,5")]})
    mapping = PLAIN.replace('rt_unit = "s"', 'rt_unit = "ms"') + '[source]\ndecimal = ","\n'
    assert bring(source, mapping)["rt_s"].tolist() == [0.5125, 0.6125]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (trial("a", date(2026, 5, 1)), r"t\.xlsx, cell D3: time is a date or time \(2026-05-01"),
        (trial("a", time(0, 1)), r"cell D3: time is a date or time \(00:01:00\)"),
        (trial(datetime(2026, 4, 3)), r"cell A3: who is a date .*3-4 for dates"),
        (trial("a", "#N/A"), r"cell D3: time is the error #N/A"),
        (trial(12345678901234567), r"cell A3: who is the number 123456789012345\d\d, .*15 digits"),
        (trial("a", "=1/4"), r"cell D3: time is a formula whose result is not stored"),
        (trial("a", "fast"), r"t\.xlsx, row 3: time is 'fast', which is no number"),
        (trial("a", 0.5, "x"), r"t\.xlsx: column 5 has values but no name"),
    ],
)
def test_what_excel_made_of_a_value_is_refused_by_its_cell(bring, excel, row, message):
    with pytest.raises(DatasetError, match=message):
        bring(excel({"data": [HEADER, trial(), row]}), PLAIN)


def test_columns_that_do_not_count_may_hold_dates_and_errors(bring, excel):
    rows = [[*HEADER, "day", "note"], trial("a", 0.5, date(2026, 5, 1), "#REF!")]
    assert len(bring(excel({"data": rows}), PLAIN)) == 1


def test_factor_that_is_a_date_is_refused(bring, excel):
    rows = [[*HEADER, "group"], trial("a", 0.5, date(2026, 3, 4))]
    with pytest.raises(DatasetError, match="cell E2: group is a date"):
        bring(excel({"data": rows}), PLAIN + '[factors]\ngroup = "group"\n')


def test_one_of_several_sheets_has_to_be_named(bring, excel):
    data, other = [HEADER, trial()], [HEADER, trial("b"), trial("b", 0.6)]
    source = excel({"first": data, "second": other, "empty": []})
    with pytest.raises(DatasetError, match=r"2 sheets that hold something \('first', 'second'\)"):
        bring(source, PLAIN)
    trials = bring(source, PLAIN + '[source]\nsheet = "second"\n')
    assert trials["participant_id"].tolist() == ["b", "b"]
    with pytest.raises(DatasetError, match=r"no sheet 'third'; there are 'first', 'second', 'emp"):
        bring(source, PLAIN + '[source]\nsheet = "third"\n')


def test_empty_sheets_beside_the_data_do_no_harm(bring, excel):
    source = excel({"Sheet1": [], "data": [HEADER, trial("a", "x")], "Sheet3": []})
    with pytest.raises(DatasetError, match=r"t\.xlsx, sheet 'data', row 2: time is 'x'"):
        bring(source, PLAIN)


def test_blank_rows_and_columns_are_left_out(bring, excel):
    rows = [[*HEADER, None], trial(), [None] * 4, [*trial(), None, ""], []]
    assert len(bring(excel({"data": rows}), PLAIN)) == 2


def test_a_sheet_of_a_table_that_is_no_excel_file_is_refused(bring):
    with pytest.raises(DatasetError, match=r"no Excel file, but source\.sheet names a sheet"):
        bring(plain(",".join(map(str, trial()))), PLAIN + '[source]\nsheet = "data"\n')


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"data": []}, "is empty"),
        ({"data": [HEADER]}, "has a header but no rows"),
        ({"data": [[None, None], HEADER, trial()]}, "has no header"),
        ({"data": [["who", "who"], trial()]}, "two columns are named 'who'"),
    ],
)
def test_sheet_without_a_table_is_refused(bring, excel, sheets, message):
    with pytest.raises(DatasetError, match=message):
        bring(excel(sheets), PLAIN)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", r"cannot be read as an Excel file \(.*\); save it as CSV"),
        (b"\xd0\xcf\x11\xe0rest", r"no Excel file of the kind \.xlsx"),
        (b"who,card\n", r"no Excel file of the kind \.xlsx"),
        (b"", r"no Excel file of the kind \.xlsx"),
    ],
)
def test_file_that_only_its_name_makes_an_excel_file_is_refused(bring, data, message):
    with pytest.raises(DatasetError, match=message):
        bring(data, PLAIN, name="t.xlsx")


def test_damaged_excel_file_is_refused_in_one_line(bring, excel):
    data = excel({"data": [HEADER, *(trial() for _ in range(50))]}).read_bytes()
    for cut in range(50, len(data), 397):
        with pytest.raises(DatasetError, match="cannot be read as an Excel file"):
            bring(data[:cut], PLAIN, name="t.xlsx")


def test_without_openpyxl_the_way_out_is_named(bring, excel, monkeypatch):
    source = excel({"data": [HEADER, trial()]})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DatasetError, match="openpyxl, which reads them, is not installed; install"):
        bring(source, PLAIN)


def test_folder_of_excel_files_comes_over_without_what_excel_leaves_there(bring, excel, tmp_path):
    for who in ("a", "b"):
        excel({"data": [HEADER, trial(who)]}, name=f"{who}.xlsx")
    folder = tmp_path / "raw"
    folder.mkdir()
    for who in ("a", "b"):
        (tmp_path / f"{who}.xlsx").rename(folder / f"{who}.xlsx")
    (folder / "~$a.xlsx").write_bytes(b"open")
    trials = bring(folder, PLAIN + '[source]\npattern = "*.xlsx"\n')
    assert trials["participant_id"].tolist() == ["a", "b"]
