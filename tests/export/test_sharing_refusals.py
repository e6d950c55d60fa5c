"""A refusal says where something stands and what to do, and not what it is."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from fpdf import FPDF

from ghostblitz_analysis.export.sharing.identity_scan import Forbidden, Leak, scan_export
from ghostblitz_analysis.export.sharing.refusals import refuse_leaks
from ghostblitz_task.errors import DatasetError

TABLE = "trial,participant_id,factor_lab\n1,PBBBBBB,a\n2,PBBBBBB,q@uni-example.org\n"


def test_a_leak_in_a_table_names_its_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "b.tsv").write_text(TABLE.replace(",", "\t"), encoding="utf-8")
    frame = pd.DataFrame({"x": ["a"], "factor_lab": ["q@uni-example.org"]})
    frame.to_parquet(tmp_path / "c.parquet")
    found = scan_export(tmp_path, forbidden=Forbidden())
    assert found == (
        Leak("a.csv", "e-mail address", 3, "factor_lab"),
        Leak("b.tsv", "e-mail address", 3, "factor_lab"),
        Leak("c.parquet", "e-mail address", found[2].line, "factor_lab"),
    )


def test_a_refusal_names_the_column_and_a_way_out_but_not_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE, encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        refuse_leaks(scan_export(tmp_path, forbidden=Forbidden()))
    assert str(caught.value) == (
        "what identifies people is left, so nothing was exported: a.csv, line 3, column "
        "factor_lab (e-mail address). What to do: take lab out of [factors] of the mapping, or "
        "give its levels other names in the source, and import the data again"
    )


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        ("e-mail address", "an address that is to be public stands in publication.toml"),
        ("participant id", "publication.toml, whose words mean nobody"),
        ("telephone number", "to be public stands in publication.toml"),
        ("absolute path", "take it out of study.toml"),
    ],
)
def test_each_kind_of_leak_has_a_way_out(kind: str, way: str) -> None:
    with pytest.raises(DatasetError, match=r"a\.md, line 2 ") as caught:
        refuse_leaks([Leak("a.md", kind, 2)])
    assert way in str(caught.value)


def test_a_refusal_of_many_is_short_and_says_each_way_out_once() -> None:
    with pytest.raises(DatasetError, match="and 4 more") as caught:
        refuse_leaks([Leak(f"{n}.md", "absolute path") for n in range(9)])
    assert str(caught.value).count("take it out of") == 1


def test_nothing_found_is_no_refusal() -> None:
    refuse_leaks(())


@pytest.mark.parametrize(
    ("text", "kind"),
    [("seen on 3 May 1990", "date in words"), ("call 0171 2345678", "telephone number")],
)
def test_days_in_words_and_telephone_numbers_are_found_unless_publication_says_them(
    text: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    book = openpyxl.Workbook()
    book.active.append([text])
    book.save(tmp_path / "b.xlsx")
    found = scan_export(tmp_path, forbidden=Forbidden())
    assert {(leak.file.partition("!")[0], leak.kind) for leak in found} == {
        ("a.md", kind), ("b.xlsx", kind),
    }  # fmt: skip
    assert scan_export(tmp_path, forbidden=Forbidden(public=f"note = '{text}'")) == ()


def test_numbers_of_glyphs_in_a_page_are_no_telephone_number(tmp_path: Path) -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica")
    document.cell(text="0171 2345678")
    document.output(str(tmp_path / "a.pdf"))
    assert scan_export(tmp_path, forbidden=Forbidden()) == ()
