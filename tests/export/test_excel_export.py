"""Excel files in English and German: no formula, no id turned into a number, and the way back."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import time
import zipfile

import openpyxl
import pandas as pd
import pytest

from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.export.tools import excel_tables
from ghostblitz_analysis.export.tools.excel_tables import (
    read_excel_export,
    write_excel,
    write_excel_de,
)
from ghostblitz_analysis.export.tools.german_csv import german_csv_text, read_german_csv
from ghostblitz_analysis.export.tools.tool_tables import ToolTable
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column
from tests.export.tool_sources import (
    CAPTAIN_STUDIES,
    CARD_STUDIES,
    ODD_IDS,
    ROOT,
    few_rows,
    simulated,
    with_column,
    with_odd_ids,
    with_trials,
)

pytestmark = pytest.mark.slow

WRITERS = {"en": write_excel, "de": write_excel_de}
#: What a cell of a spreadsheet cannot tell from others, beside the odd ids.
ODD_TEXTS = (*ODD_IDS, "=cmd|' /C calc'!A0", "\r=1", "line\nbreak", "\x01", "＝1+1", " =1+1", "-")


@pytest.fixture(autouse=True)
def _only_the_tables(monkeypatch):
    monkeypatch.setattr(excel_tables, "write_common", lambda source, folder, layout: None)


@pytest.fixture(scope="module")
def example():
    source = few_rows(load_source(ROOT / "data" / "example"))
    return with_trials(source, source.main.frame.head(60))


def book_of(folder):
    return openpyxl.load_workbook(folder / "data" / "trials.xlsx")


def xml_of(folder, part):
    with zipfile.ZipFile(folder / "data" / "trials.xlsx") as file:
        return "".join(
            file.read(name).decode() for name in file.namelist() if name.startswith(part)
        )


@pytest.mark.parametrize("language", WRITERS)
def test_odd_texts_are_read_back_identical(tmp_path, example, language):
    source = with_column(with_odd_ids(example), "response", ODD_TEXTS)
    WRITERS[language](source, tmp_path)
    pd.testing.assert_frame_equal(read_excel_export(tmp_path), source.main.frame)


def test_odd_texts_are_read_back_identical_from_csv(tmp_path, example):
    source = with_column(with_odd_ids(example), "response", ODD_TEXTS)
    write_excel_de(source, tmp_path)
    pd.testing.assert_frame_equal(read_german_csv(tmp_path), source.main.frame)


@pytest.mark.parametrize("language", WRITERS)
def test_file_does_not_say_when_it_was_written(tmp_path, example, language, monkeypatch):
    file = tmp_path / "data" / "trials.xlsx"
    WRITERS[language](example, tmp_path)
    with zipfile.ZipFile(file) as packed:
        properties = packed.read("docProps/core.xml").decode()
        assert {entry.date_time for entry in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    dates = re.findall(r"<dcterms:(\w+)[^>]*>([^<]*)<", properties)
    assert sorted(dates) == [(n, "2000-01-01T00:00:00Z") for n in ("created", "modified")]
    first = file.read_bytes()
    shutil.rmtree(tmp_path / "data")
    later = time.time() + 100_000
    monkeypatch.setattr(time, "time", lambda: later)
    WRITERS[language](example, tmp_path)
    assert file.read_bytes() == first


@pytest.mark.parametrize("study", CARD_STUDIES)
def test_trials_of_every_game_are_read_back_identical(tmp_path, study):
    source = with_odd_ids(few_rows(simulated(study)))
    write_excel(source, tmp_path / "en")
    write_excel_de(source, tmp_path / "de")
    for found in (
        read_excel_export(tmp_path / "en"),
        read_excel_export(tmp_path / "de"),
        read_german_csv(tmp_path / "de"),
    ):
        pd.testing.assert_frame_equal(found, source.main.frame)


@pytest.mark.parametrize("study", CAPTAIN_STUDIES)
def test_turns_and_games_are_read_back_identical(tmp_path, study):
    source = simulated(study)
    write_excel_de(source, tmp_path)
    for read in (read_excel_export, read_german_csv):
        pd.testing.assert_frame_equal(read(tmp_path), source.main.frame)
        pd.testing.assert_frame_equal(read(tmp_path, "games"), source.others[0].frame)


@pytest.mark.parametrize("language", WRITERS)
def test_no_cell_is_a_formula(tmp_path, example, language):
    source = with_column(with_odd_ids(example), "response", ODD_TEXTS)
    WRITERS[language](source, tmp_path)
    sheets = xml_of(tmp_path, "xl/worksheets/")
    assert "<f>" not in sheets
    assert "<f " not in sheets
    for sheet in book_of(tmp_path):
        assert not [cell for row in sheet for cell in row if cell.data_type == "f"]


def test_ids_are_texts_that_stay_texts_when_edited(tmp_path, example):
    write_excel(with_odd_ids(example), tmp_path)
    sheet = book_of(tmp_path)["trials"]
    place = [cell.value for cell in sheet[1]].index("participant_id")
    cells = [row[place] for row in sheet.iter_rows(min_row=2)]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}
    assert {cell.number_format for cell in cells} == {"@"}
    assert all(cell.quotePrefix for cell in cells)
    assert cells[0].value == "01"


def test_numbers_are_numbers_to_their_last_digit(tmp_path, example):
    source = with_column(example, "rt_s", [0.1 + 0.2, 1e-300, None, 123456.789012345])
    write_excel(source, tmp_path)
    pd.testing.assert_series_equal(read_excel_export(tmp_path)["rt_s"], source.main.frame["rt_s"])
    sheet = book_of(tmp_path)["trials"]
    place = [cell.value for cell in sheet[1]].index("rt_s")
    assert {row[place].data_type for row in sheet.iter_rows(min_row=2)} == {"n"}
    assert sheet.cell(2, place + 1).value == 0.1 + 0.2


def test_missing_is_an_empty_cell(tmp_path, example):
    write_excel(example, tmp_path)
    sheet = book_of(tmp_path)["trials"]
    place = [cell.value for cell in sheet[1]].index("hat_over")
    assert {row[place].value for row in sheet.iter_rows(min_row=2)} == {None}


def test_header_is_frozen_and_columns_are_wide_enough(tmp_path, example):
    write_excel(example, tmp_path)
    sheet = book_of(tmp_path)["trials"]
    assert sheet.freeze_panes == "A2"
    for cell in sheet[1]:
        assert sheet.column_dimensions[cell.column_letter].width > min(len(cell.value), 50)


@pytest.mark.parametrize(
    ("language", "sheets", "first", "kind"),
    [
        ("en", ["read me", "trials", "columns"], "Simulated data, not people.", "whole number"),
        ("de", ["Lies mich", "trials", "Spalten"], "Simulierte Daten, keine Menschen.",
         "ganze Zahl"),
    ],
)  # fmt: skip
def test_sheets_speak_the_language(tmp_path, example, language, sheets, first, kind):
    WRITERS[language](example, tmp_path)
    book = book_of(tmp_path)
    assert book.sheetnames == sheets
    assert book[sheets[0]]["A3"].value.startswith(first)
    rows = {row[1].value: row for row in book[sheets[2]].iter_rows(min_row=2)}
    assert rows["session"][2].value == kind
    assert rows["rt_s"][3].value == "s"
    assert rows["rule"][4].value == "direct, exclusion, mirror, mirror-owl, time"
    assert list(rows) == [cell.value for cell in book["trials"][1]]


def test_german_csv_has_decimal_commas_semicolons_and_a_bom(tmp_path, example):
    source = with_column(example, "rt_s", [0.75, 1e-05, None])
    write_excel_de(source, tmp_path)
    data = (tmp_path / "data" / "trials.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfstudy_id;game;participant_id;")
    assert data.count(b"\r\n") == len(source.main.frame) + 1
    rows = list(csv.DictReader(data.decode("utf-8-sig").splitlines(), delimiter=";"))
    assert [row["rt_s"] for row in rows[:3]] == ["0,75", "1e-05", ""]
    assert {row["correct"] for row in rows} == {"WAHR", "FALSCH"}


def test_german_csv_leaves_excel_nothing_to_interpret():
    column = Column("id", "string", "An id", "session")
    frame = pd.DataFrame({"id": pd.array([*ODD_TEXTS, "ghost", "grab-or-shout"], dtype="string")})
    text = german_csv_text(ToolTable("t", frame, (column,)))
    (_, *rows) = csv.reader(text.splitlines(keepends=True), delimiter=";")
    found = [row[0] for row in rows]
    plain = {"NA", "n/a", "NaN", "NULL", "None", "Zoë", "two words", "a;b,c", 'say "hi"',
             "back\\slash", "日本", "x" * 64, "line\nbreak", "\x01", "ghost",
             "grab-or-shout"}  # fmt: skip
    for cell, text in zip(found, frame["id"], strict=True):
        assert cell == (text if text in plain else f"'{text}")
        assert not re.match(r"\s*[=+\-@＝＋－＠\t\r]", cell)


def test_text_too_long_for_a_cell_is_refused(tmp_path, example):
    source = with_column(example, "card", ["x" * 32_768])
    with pytest.raises(DatasetError, match="column card: a text of 32768 characters"):
        write_excel(source, tmp_path)


def test_number_too_long_for_excel_is_refused(tmp_path, example):
    source = with_column(example, "n_events", [10**15])
    with pytest.raises(DatasetError, match="column n_events: a number of more than 15 digits"):
        write_excel(source, tmp_path)


def test_more_rows_than_a_sheet_holds_are_refused(tmp_path, example, monkeypatch):
    monkeypatch.setattr(excel_tables, "_MAX_ROWS", 60)
    with pytest.raises(DatasetError, match="trials has 60 rows, but an Excel sheet holds 59"):
        write_excel(example, tmp_path)


def test_nothing_is_written_over(tmp_path, example):
    write_excel(example, tmp_path)
    with pytest.raises(FileExistsError):
        write_excel(example, tmp_path)


def test_damaged_file_is_refused(tmp_path, example):
    write_excel(example, tmp_path)
    (tmp_path / "data" / "trials.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_excel_export(tmp_path)


def as_libreoffice_shows(folder, file, *options):
    """Return the rows of a file as LibreOffice writes them: what it shows in each cell."""
    soffice = shutil.which("soffice")
    if soffice is None:
        pytest.skip("LibreOffice is not installed")
    out = folder / "shown"
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    # Comma, quotes, UTF-8, from line 1; texts as shown; sheet 2 of a file with several.
    sheet = 2 if file.suffix == ".xlsx" else 0
    target = f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,{sheet}"
    command = [soffice, profile, "--headless", *options, "--convert-to", target, "--outdir", out,
               file]  # fmt: skip
    result = subprocess.run(command, capture_output=True, timeout=120, check=True, encoding="utf-8")
    if "source file could not be loaded" in result.stderr:
        pytest.skip("LibreOffice is installed without Calc")
    (found,) = out.iterdir()
    with found.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_libreoffice_shows_ids_and_times_as_they_are(tmp_path, example):
    source = with_odd_ids(example)
    write_excel(source, tmp_path)
    rows = as_libreoffice_shows(tmp_path, tmp_path / "data" / "trials.xlsx")
    assert [row["participant_id"] for row in rows] == source.main.frame["participant_id"].tolist()
    times = source.main.frame["rt_s"]
    assert [row["rt_s"] != "" for row in rows] == times.notna().tolist()
    shown = [float(row["rt_s"]) for row in rows if row["rt_s"]]
    assert shown == pytest.approx(times.dropna().tolist(), abs=1e-6)


def test_libreoffice_interprets_nothing_in_the_german_csv(tmp_path, example):
    source = with_column(with_odd_ids(example), "rt_s", [0.75, None, 1.5])
    write_excel_de(source, tmp_path)
    # Semicolon, quotes, UTF-8, from line 1; German; special numbers and formulas are looked for.
    reading = "Text - txt - csv (StarCalc):59,34,76,1,,1031,false,true,false,false,,true"
    rows = as_libreoffice_shows(tmp_path, tmp_path / "data" / "trials.csv", f"--infilter={reading}")
    ids = [row["participant_id"].removeprefix("'") for row in rows]
    assert ids == source.main.frame["participant_id"].tolist()
    assert [row["rt_s"] for row in rows[:3]] == ["0.75", "", "1.5"]
    assert {row["correct"] for row in rows} == {"TRUE", "FALSE"}
