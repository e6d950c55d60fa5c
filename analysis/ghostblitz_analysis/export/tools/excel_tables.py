"""Tables for Excel, in English and in German; nothing in them is taken for a formula or a number.

In an Excel file every text is stored as text (type ``inlineStr``, format ``@``, `quotePrefix`), so
that an id such as 01 or ``=1+1`` stays what it is, also when the cell is edited. Numbers and truth
values have no locale there; Excel shows them as the reader's own settings say. A CSV file has no
types, so the German one marks texts that Excel would make something else of: see
`german_csv`.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import pandas as pd

from ghostblitz_analysis.export.folders import place_in, write_text
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.common import write_common
from ghostblitz_analysis.export.source import ExportSource
from ghostblitz_analysis.export.tools.german_csv import german_csv_text
from ghostblitz_analysis.export.tools.tool_tables import (
    DATA_FOLDER,
    ToolTable,
    dictionary_frame,
    readme_text,
    tool_tables,
    typed_table,
    write_dictionary,
)
from ghostblitz_task.errors import DatasetError

__all__ = ["read_excel_export", "write_excel", "write_excel_de"]

#: Excel's limits: rows of a sheet, characters of a cell, digits of a number.
_MAX_ROWS, _MAX_CHARACTERS, _MAX_WHOLE = 1_048_576, 32_767, 10**15
_SAMPLED_ROWS, _MIN_WIDTH, _MAX_WIDTH = 200, 8, 60
#: What XML cannot hold, and what Excel would read as an escape (ECMA-376, ST_Xstring).
_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
#: Where openpyxl writes the time at which it saves, whatever it was told; a date that says nothing.
_PROPERTIES = "docProps/core.xml"
_WHEN = re.compile(rb"(?<=>)[^<>]*(?=</dcterms:(?:created|modified)>)")
_NO_DATE = b"2000-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said in the reader's language."""

    notes_sheet: str
    columns_sheet: str
    headings: Mapping[str, str]
    types: Mapping[str, str]
    blanks: Mapping[str, str]
    truths: Mapping[str, str]


_TYPES = ("text", "whole number", "number", "true or false")
_BLANKS = ("missing", "empty text", "never blank")
_HEADINGS = (
    "table", "column", "type", "unit", "levels", "meaning", "missing_when", "blank", "added",
)  # fmt: skip


def _same(words: Iterable[str]) -> dict[str, str]:
    return {word: word for word in words}


_ENGLISH = _Words(
    "read me", "columns", _same(_HEADINGS), _same(_TYPES), _same(_BLANKS), _same(("true", "false"))
)
_GERMAN = _Words(
    "Lies mich",
    "Spalten",
    dict(
        zip(
            _HEADINGS,
            ("Tabelle", "Spalte", "Typ", "Einheit", "Stufen", "Bedeutung (englisch)",
             "fehlt, wenn (englisch)", "leeres Feld", "beim Export ergänzt"),
            strict=True,
        )
    ),
    dict(zip(_TYPES, ("Text", "ganze Zahl", "Zahl", "wahr oder falsch"), strict=True)),
    dict(zip(_BLANKS, ("fehlender Wert", "leerer Text", "nie leer"), strict=True)),
    {"true": "ja", "false": "nein"},
)  # fmt: skip


def write_excel(source: ExportSource, folder: Path) -> None:
    """Write ``data/NAME.xlsx`` in English: a sheet per table, and the dictionary.

    Raises
    ------
    DatasetError
        As `tool_tables`; or if Excel cannot hold the rows, a text or a number.
    """
    tables = tool_tables(source)
    lines = [
        f"`{tables[0].name}.xlsx` has a sheet per table ({_counts(tables)}), and the sheet "
        f"`{_ENGLISH.columns_sheet}`, which says what each column means.",
        "",
        "All rows are kept; `exclude_*` say why a trial is left out, and `used_for_rt` and "
        "`used_for_accuracy` which ones count."
        if tables[0].added
        else "All rows are kept.",
        "",
        "Times are in seconds. Missing is an empty cell. Texts are stored as texts: an id such as "
        "01 keeps its zero, and no cell is a formula. Numbers show with the decimal mark of your "
        "Excel.",
    ]
    text = readme_text(source, f"{source.title} for Excel", lines)
    _write(source, folder, tables, _ENGLISH, text)
    write_common(source, folder, Layout())


def write_excel_de(source: ExportSource, folder: Path) -> None:
    """Write ``data/NAME.xlsx`` in German, and each table as CSV for a German Excel.

    Raises
    ------
    DatasetError
        As `write_excel`.
    """
    tables = tool_tables(source)
    lines = [
        f"`{tables[0].name}.xlsx` hat ein Blatt je Tabelle ({_counts(tables)}) und das Blatt "
        f"`{_GERMAN.columns_sheet}`, das alle Spalten erklärt (ihre Namen und Bedeutungen sind "
        "englisch).",
        "",
        "Alle Zeilen sind da; `exclude_*` sagt, warum ein Durchgang ausgeschlossen ist, "
        "`used_for_rt` und `used_for_accuracy`, welche zählen."
        if tables[0].added
        else "Alle Zeilen sind da.",
        "",
        "Zeiten in Sekunden. Ein leeres Feld ist ein fehlender Wert. Texte sind als Text "
        "gespeichert: Eine Kennung wie 01 behält ihre Null, und keine Zelle ist eine Formel.",
        "",
        "Dasselbe als CSV: Semikolon, Dezimalkomma, UTF-8 mit BOM, WAHR und FALSCH. Dort steht vor "
        "einem Text, den Excel sonst umdeuten würde (er enthält eine Ziffer, heißt WAHR, FALSCH, "
        "TRUE oder FALSE, oder beginnt mit `=`, `+`, `-`, `@`, `#`, `'`, Tabulator oder "
        "Zeilenumbruch), ein Apostroph "
        "`'`. Wer die Datei mit anderen Programmen liest, streicht in Textspalten genau ein "
        "führendes Apostroph. `columns.csv` ist für Programme (englisch, Komma).",
    ]
    text = readme_text(source, f"{source.title} für Excel", lines)
    text = text.replace(
        "**Simulated data, not people.**", "**Simulierte Daten, keine Menschen.** (Simulated data.)"
    )
    _write(source, folder, tables, _GERMAN, text)
    for table in tables:
        write_text(folder, f"{DATA_FOLDER}/{table.name}.csv", german_csv_text(table))
    write_dictionary(folder, tables)
    write_common(source, folder, Layout())


def read_excel_export(folder: Path, table: str | None = None) -> pd.DataFrame:
    """Read a table that `write_excel` or `write_excel_de` wrote; by default the main one.

    Raises
    ------
    DatasetError
        If there is no such file, or it is damaged.
    """
    found = sorted((folder / DATA_FOLDER).glob("*.xlsx"))
    if len(found) != 1:
        raise DatasetError(f"{folder / DATA_FOLDER} holds {len(found)} Excel files, not one")
    openpyxl = importlib.import_module("openpyxl")
    try:
        book = openpyxl.load_workbook(found[0], read_only=True)
        words = _ENGLISH if _ENGLISH.columns_sheet in book.sheetnames else _GERMAN
        dictionary = _read_dictionary(_rows(book[words.columns_sheet]), words)
        name = table or str(dictionary["table"].iloc[0])
        titles, *rows = _rows(book[name])
    except (BadZipFile, OSError, KeyError, ValueError) as error:
        raise DatasetError(f"{found[0]} cannot be read: {error}") from error
    n = len(titles)
    rows = [[*row, *[None] * (n - len(row))] for row in rows]
    cells = {title: [row[place] for row in rows] for place, title in enumerate(titles)}
    return typed_table(cells, dictionary, name)


def _rows(sheet: Any) -> list[list[Any]]:
    return [
        [_unescaped(cell) if isinstance(cell, str) else cell for cell in row]
        for row in sheet.iter_rows(values_only=True)
    ]


def _read_dictionary(rows: list[list[Any]], words: _Words) -> pd.DataFrame:
    english = {word: title for title, word in words.headings.items()}
    titles = [english[title] for title in rows[0]]
    texts = [[cell or "" for cell in row] + [""] * (len(titles) - len(row)) for row in rows[1:]]
    frame = pd.DataFrame(texts, columns=titles, dtype="string")
    for column, translated in (
        ("type", words.types), ("blank", words.blanks), ("added", words.truths),
    ):  # fmt: skip
        frame[column] = frame[column].map({word: text for text, word in translated.items()})
    return frame


def _counts(tables: Sequence[ToolTable]) -> str:
    return ", ".join(f"{table.name}: {len(table.frame)}" for table in tables)


def _write(
    source: ExportSource, folder: Path, tables: Sequence[ToolTable], words: _Words, text: str
) -> None:
    """Write the Excel file and the text beside it, which is its first sheet too."""
    for table in tables:
        _check_limits(table)
    openpyxl = importlib.import_module("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = "ghostblitz"
    book.properties.title = source.title
    with _temporary_sheets(book):
        _add_sheets(book, tables, words, text)
        buffer = io.BytesIO()
        book.save(buffer)
    with place_in(folder, f"{DATA_FOLDER}/{tables[0].name}.xlsx").open("xb") as file:
        file.write(_without_time(buffer))
    write_text(folder, f"{DATA_FOLDER}/README-excel.md", text)


def _add_sheets(book: Any, tables: Sequence[ToolTable], words: _Words, text: str) -> None:
    notes = [[line.strip("#* ").replace("`", "").replace("**", "")] for line in text.splitlines()]
    _add_sheet(book, words.notes_sheet, [100], notes, header=False)
    for table in tables:
        titles = [column.name for column in table.columns]
        cells = zip(*(_cells(table.frame[name]) for name in titles), strict=True)
        _add_sheet(book, table.name, _widths(table.frame), [titles, *map(list, cells)])
    dictionary = _translated(dictionary_frame(tables), words)
    rows = [list(row) for row in dictionary.itertuples(index=False, name=None)]
    _add_sheet(book, words.columns_sheet, _widths(dictionary), [list(dictionary.columns), *rows])


@contextmanager
def _temporary_sheets(book: Any) -> Iterator[None]:
    """Say which disk is full where openpyxl, which writes sheets to it first, cannot."""
    xml_error = importlib.import_module("lxml.etree").LxmlError
    try:
        yield
    except (OSError, xml_error) as error:
        for sheet in book.worksheets:  # What is half written would complain as it is collected.
            for part in (sheet._rows, sheet._writer):
                with suppress(OSError, xml_error):
                    if part is not None:
                        part.close()
        raise DatasetError(
            f"the Excel file cannot be written: {error}; is there room in the folder of temporary "
            f"files, {tempfile.gettempdir()}?"
        ) from error


def _without_time(book: io.BytesIO) -> bytes:
    """Pack an Excel file anew, so that nothing in it says when it was written."""
    undated = io.BytesIO()
    with ZipFile(book) as packed, ZipFile(undated, "w", ZIP_DEFLATED) as written:
        for name in packed.namelist():
            data = packed.read(name)
            if name == _PROPERTIES:
                data = _WHEN.sub(_NO_DATE, data)
            written.writestr(ZipInfo(name), data, ZIP_DEFLATED)
    return undated.getvalue()


def _check_limits(table: ToolTable) -> None:
    if len(table.frame) + 1 > _MAX_ROWS:
        raise DatasetError(
            f"{table.name} has {len(table.frame)} rows, but an Excel sheet holds {_MAX_ROWS - 1}; "
            "export as parquet or csv"
        )
    for column in table.columns:
        values = table.frame[column.name]
        if column.dtype == "Int64" and bool((values.abs() >= _MAX_WHOLE).any()):
            raise DatasetError(
                f"{table.name}, column {column.name}: a number of more than 15 digits, which Excel "
                "does not keep; export as csv or parquet"
            )
        if column.dtype != "string":
            continue
        longest = max((len(str(text)) for text in values.dropna().unique()), default=0)
        if longest > _MAX_CHARACTERS:
            raise DatasetError(
                f"{table.name}, column {column.name}: a text of {longest} characters, but an Excel "
                f"cell holds {_MAX_CHARACTERS}; export as csv or parquet"
            )


def _cells(values: pd.Series) -> list[Any]:
    """Return values as Python's own, None where blank."""
    plain = values.astype(object).where(values.notna(), None).tolist()
    return [None if value == "" else value for value in plain]


def _translated(dictionary: pd.DataFrame, words: _Words) -> pd.DataFrame:
    levels = [", ".join(json.loads(text)) if text else "" for text in dictionary["levels"]]
    frame = dictionary.assign(
        levels=levels,
        type=dictionary["type"].map(dict(words.types)),
        blank=dictionary["blank"].map(dict(words.blanks)),
        added=dictionary["added"].map(dict(words.truths)),
    )
    return frame.rename(columns=dict(words.headings))


def _widths(frame: pd.DataFrame) -> list[int]:
    head = frame.head(_SAMPLED_ROWS)
    widths = []
    for name in head.columns:
        longest = max([len(str(name)) + 3, *(len(str(v)) for v in head[name].dropna())])
        widths.append(min(max(longest + 1, _MIN_WIDTH), _MAX_WIDTH))
    return widths


def _add_sheet(
    book: Any, title: str, widths: Sequence[int], rows: list[list[Any]], *, header: bool = True
) -> None:
    sheet = book.create_sheet(title)
    utils = importlib.import_module("openpyxl.utils")
    for place, width in enumerate(widths, start=1):
        sheet.column_dimensions[utils.get_column_letter(place)].width = width
    if header:
        sheet.freeze_panes = "A2"
        sheet.auto_filter.ref = f"A1:{utils.get_column_letter(len(widths))}{len(rows)}"
    cell_of = _cell_maker(sheet)
    for number, row in enumerate(rows):
        sheet.append([cell_of(value, header and number == 0) for value in row])


def _cell_maker(sheet: Any) -> Callable[[Any, bool], Any]:
    """Return what makes a cell of a value; the second argument is whether it is a title."""
    writer = importlib.import_module("openpyxl.cell").WriteOnlyCell
    bold = importlib.import_module("openpyxl.styles").Font(bold=True)

    def cell_of(value: Any, is_title: bool) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if value == "":
            return None
        cell = writer(sheet, value=_escaped(value) if isinstance(value, str) else repr(value))
        # openpyxl would take a text that begins with = for a formula, and writes 16 digits of a
        # number, though 17 are needed to read the same one back.
        cell.data_type = "s" if isinstance(value, str) else "n"
        if isinstance(value, str):
            cell.number_format = "@"
            cell.quotePrefix = True
        if is_title:
            cell.font = bold
        return cell

    return cell_of


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
