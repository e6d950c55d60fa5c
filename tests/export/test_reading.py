"""Exports read back: every format gives the identical table, and what is damaged is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.export.formats import (
    frictionless_package,
    parquet_store,
    plain_tables,
    psych_ds,
    stored_tables,
    table_text,
)
from ghostblitz_analysis.export.formats.frictionless_package import write_frictionless
from ghostblitz_analysis.export.formats.parquet_store import write_parquet
from ghostblitz_analysis.export.formats.plain_tables import write_csv
from ghostblitz_analysis.export.formats.psych_ds import write_psych_ds
from ghostblitz_analysis.export.reading import format_of, read_export
from ghostblitz_analysis.export.source import ExportSource, ExportTable, load_source
from ghostblitz_task.errors import DatasetError
from tests.export.odd_tables import ODD_IDS, odd_source, with_frame
from tests.export.small_sources import EXAMPLE, ROOT, imported, simulated

pytestmark = pytest.mark.slow

WRITERS = {
    "psych-ds": write_psych_ds,
    "frictionless": write_frictionless,
    "csv": write_csv,
    "parquet": write_parquet,
}
STUDIES = sorted(path.parent.name for path in (ROOT / "experiments").glob("*/study.toml"))
TRIALS, TABLES = "data/trials.csv", "data/tables.json"

Export = Callable[..., Path]


@pytest.fixture
def export(tmp_path, monkeypatch) -> Export:
    for module in (psych_ds, frictionless_package, plain_tables, parquet_store):
        monkeypatch.setattr(module, "write_common", lambda *_: None)

    def build(source: ExportSource | None = None, format_name: str = "csv") -> Path:
        folder = tmp_path / f"export-{format_name}"
        folder.mkdir()
        WRITERS[format_name](source or odd_source(), folder)
        return folder

    return build


def change(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def describe(folder: Path, **others: object) -> None:
    path = folder / TABLES
    about = json.loads(path.read_text(encoding="utf-8")) | others
    path.write_text(json.dumps(about), encoding="utf-8")


def rewrite(folder: Path, work: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change the table of trials as texts."""
    table = pd.read_csv(folder / TRIALS, dtype=str, keep_default_na=False)
    work(table).to_csv(folder / TRIALS, index=False)


def refused(folder: Path) -> str:
    with pytest.raises(DatasetError) as caught:
        read_export(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("format_name", WRITERS)
def test_odd_table_comes_back_identical(export, format_name):
    folder = export(format_name=format_name)
    assert format_of(folder) == format_name
    pd.testing.assert_frame_equal(read_export(folder), odd_source().main.frame, check_exact=True)


def hard_participants() -> pd.DataFrame:
    """One who never answered, one who always came too early, one with a single trial."""
    frame = odd_source().main.frame
    late, early, single = (frame["participant_id"] == name for name in ("01", "1", "NA"))
    answered = ["rt_s", "response", "response_mode", "mode_correct"]
    frame.loc[late, answered] = pd.NA
    frame.loc[late, "error_kind"] = "late"
    frame.loc[early, "rt_s"] = -0.05
    frame.loc[early, "error_kind"] = "early"
    frame.loc[late | early, "correct"] = False
    return frame[~single | (frame["trial_index"] == 0)]


@pytest.mark.parametrize("format_name", WRITERS)
def test_hard_participants_come_back_identical(export, format_name):
    source = with_frame(odd_source(), hard_participants())
    found = read_export(export(source, format_name))
    pd.testing.assert_frame_equal(found, source.main.frame, check_exact=True)


@pytest.mark.parametrize("study", STUDIES)
def test_every_game_comes_back_identical(export, tmp_path, study):
    source = simulated(study, tmp_path / "data", n_participants=2)
    for format_name in WRITERS:
        found = read_export(export(source, format_name))
        pd.testing.assert_frame_equal(found, source.main.frame, check_exact=True)


@pytest.mark.parametrize("format_name", WRITERS)
def test_logs_and_imports_come_back_identical(export, tmp_path, format_name):
    for source in (load_source(EXAMPLE), imported(tmp_path / "imported")):
        folder = export(source, format_name)
        pd.testing.assert_frame_equal(read_export(folder), source.main.frame, check_exact=True)
        folder.rename(tmp_path / f"{source.name}-{format_name}")


@pytest.mark.parametrize("format_name", WRITERS)
def test_symbolic_link_is_refused(export, tmp_path, format_name):
    folder = export(format_name=format_name)
    (folder / "notes.txt").symlink_to(tmp_path / "elsewhere")
    assert "holds a symbolic link, notes.txt" in refused(folder)


def test_pipe_is_refused(export):
    folder = export()
    os.mkfifo(folder / "data" / "pipe")
    assert "pipe, which is no plain file" in refused(folder)


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", "https://example.org/a.csv"])
def test_file_outside_is_refused(export, tmp_path, file):
    (tmp_path / "secret.csv").write_text('"study_id"\n', encoding="utf-8")
    folder = export()
    tables = json.loads((folder / TABLES).read_text(encoding="utf-8"))["tables"]
    describe(folder, tables=[{**tables[0], "file": file}])
    assert f"names {file!r}, which is no file of the export" in refused(folder)


def test_huge_table_is_refused(export, monkeypatch):
    monkeypatch.setattr(table_text, "_LARGEST_TABLE_BYTES", 1000)
    assert "trials.csv is too large: more than 1,000 bytes" in refused(export())


def test_huge_description_is_refused(export, monkeypatch):
    folder = export()
    monkeypatch.setattr(stored_tables, "_LARGEST_DESCRIPTION_BYTES", 1000)
    assert "tables.json is too large to describe an export" in refused(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"grab"', b'"grasp"', "mode is 'grasp', but should be one of grab, shout"),
        (b",true,", b",yes,", "yes"),
        (b'"simulated"', b"", "source is empty in some rows, but every row has one"),
        (b'"rt_s"', b'"RT"', "column 'RT' is not in the description"),
        (b'"rt_s"', b'"response"', "two columns are named 'response'"),
        ("Zoë".encode(), b"Zo\xff", "invalid UTF8"),
        (b"\n", b"\n1,2\n", "Expected 56 columns, got 2"),
        (b"\n", b'\n"a\nb",2\n', "Expected 56 columns, got 2"),
        (b"\n", b"\n\n", "study_id is empty in some rows"),
        (b'"grab"', b'"grab', "Expected 56 columns"),
    ],
)
def test_malformed_table_is_refused(export, old, new, message):
    folder = export()
    change(folder / TRIALS, old, new)
    assert message in refused(folder)


@pytest.mark.parametrize("value", ["1.5", "x", "9223372036854775808"])
def test_what_is_no_whole_number_is_refused(export, value):
    folder = export()
    rewrite(folder, lambda table: table.assign(session=value))
    assert value in refused(folder)


@pytest.mark.parametrize("value", ["nan", "inf", "1e999"])
def test_number_that_is_not_finite_is_refused(export, value):
    folder = export()
    rewrite(folder, lambda table: table.assign(rt_s=value))
    assert "rt_s holds something that is no finite number" in refused(folder)


def test_truncated_table_is_refused(export):
    folder = export()
    data = (folder / TRIALS).read_bytes()
    (folder / TRIALS).write_bytes(data[: len(data) - 20])
    assert "trials.csv" in refused(folder)


def test_empty_table_is_refused(export):
    folder = export()
    (folder / TRIALS).write_bytes(b"")
    assert "Empty CSV file" in refused(folder)


@pytest.mark.parametrize("name", ["rt_s", "factor_note"])
def test_missing_column_is_refused(export, name):
    folder = export()
    rewrite(folder, lambda table: table.drop(columns=name))
    assert f"column {name} is missing" in refused(folder)


def test_column_missing_from_table_and_description_is_refused(export):
    folder = export()
    rewrite(folder, lambda table: table.drop(columns="rt_s"))
    tables = json.loads((folder / TABLES).read_text(encoding="utf-8"))["tables"]
    tables[0]["columns"] = [c for c in tables[0]["columns"] if c["name"] != "rt_s"]
    describe(folder, tables=tables)
    assert "column rt_s is missing" in refused(folder)


def test_unknown_column_is_refused(export):
    folder = export()
    rewrite(folder, lambda table: table.rename(columns={"factor_note": "mood"}))
    tables = json.loads((folder / TABLES).read_text(encoding="utf-8"))["tables"]
    tables[0]["columns"][-1]["name"] = "mood"
    describe(folder, tables=tables)
    assert "'mood' is no column of the trials" in refused(folder)


def test_columns_may_stand_in_any_order_and_without_quotes(export):
    folder = export(load_source(EXAMPLE))
    rewrite(folder, lambda table: table[sorted(table.columns)])
    found, expected = read_export(folder), load_source(EXAMPLE).main.frame
    # Without quotes an empty text is nothing, too; but rules are never missing.
    assert list(found.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_ids_stay_texts_without_quotes(export):
    folder = export()
    rewrite(folder, lambda table: table)
    assert b"\nodd,classic,NA," in (folder / TRIALS).read_bytes()
    assert tuple(read_export(folder)["participant_id"].unique()) == ODD_IDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "is no JSON object"),
        ("{}", "does not describe the tables of an export"),
        ('{"format": "ghostblitz-tables", "tables": [1]}', "description of a table is damaged"),
        ('{"format": "ghostblitz-tables", "tables": []}', "describes 0 tables of trials or turns"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_damaged_description_is_refused(export, text, message):
    folder = export()
    (folder / TABLES).write_text(text, encoding="utf-8")
    assert message in refused(folder)


@pytest.mark.parametrize("format_name", WRITERS)
def test_newer_schema_is_refused(export, monkeypatch, format_name):
    for module in (psych_ds, frictionless_package, plain_tables):
        monkeypatch.setattr(module, "SCHEMA_VERSION", 2)
    monkeypatch.setattr("ghostblitz_analysis.export.formats.parquet_parts.SCHEMA_VERSION", 2)
    folder = export(format_name=format_name)
    assert "schema version 2, but this program reads up to 1; use a newer ghostblitz" in refused(
        folder
    )


@pytest.mark.parametrize("version", [True, "1", 1.5, None])
def test_version_that_is_no_number_is_refused(export, version):
    folder = export()
    describe(folder, schema_version=version)
    assert "is no whole number" in refused(folder)


def test_older_schema_without_a_way_is_refused(export):
    folder = export()
    describe(folder, schema_version=0)
    assert "nothing is known of schema version 0" in refused(folder)


@pytest.mark.parametrize("format_name", WRITERS)
def test_older_schema_migrates(export, monkeypatch, format_name):
    """In an invented version 0, the RT was in milliseconds."""

    def migrate(name: str, frame: pd.DataFrame) -> pd.DataFrame:
        assert name == "trials"
        return frame.assign(rt_s=frame["rt_ms"] / 1000).drop(columns="rt_ms")

    for module in (psych_ds, frictionless_package, plain_tables):
        monkeypatch.setattr(module, "SCHEMA_VERSION", 0)
    monkeypatch.setattr("ghostblitz_analysis.export.formats.parquet_parts.SCHEMA_VERSION", 0)
    source = odd_source()
    frame = source.main.frame.rename(columns={"rt_s": "rt_ms"})
    columns = [
        replace(column, name="rt_ms", unit="ms") if column.name == "rt_s" else column
        for column in source.main.columns
    ]
    old = ExportTable("trials", frame.assign(rt_ms=frame["rt_ms"] * 1000), tuple(columns))
    folder = export(replace(source, main=old), format_name)
    monkeypatch.setitem(stored_tables.MIGRATIONS, 0, migrate)
    pd.testing.assert_frame_equal(read_export(folder), source.main.frame, rtol=1e-15)


def test_other_folder_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    assert "is no export that this program reads back" in refused(tmp_path)
    assert "is no folder; give an export's folder" in refused(tmp_path / "absent")
