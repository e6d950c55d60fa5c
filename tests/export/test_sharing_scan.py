"""The search of an export finds what was planted, wherever it is, and nothing else."""

from __future__ import annotations

import base64
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import openpyxl
import pandas as pd
import pyreadstat
import pytest
from fpdf import FPDF
from PIL import Image, PngImagePlugin

from ghostblitz_analysis.export.sharing.copies import shared_copy
from ghostblitz_analysis.export.sharing.identity_scan import (
    Forbidden,
    Leak,
    forbidden_in,
    scan_export,
)
from ghostblitz_analysis.export.source import load_source
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.studies import open_study, simulate_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
WHO = "Quigley-07"
FORBIDDEN = Forbidden(
    ids=(WHO, "1", "NA", "ghost", "Zoë", "123456"),
    names=("mmustermann", "lab-pc-seven"),
    moments=frozenset({"202503041011"}),
    ordinary="title = 'A study of mice'",
    allowed_emails=frozenset({"author@uni-example.org"}),
)


def kinds(folder: Path) -> list[str]:
    return [leak.kind for leak in scan_export(folder, forbidden=FORBIDDEN)]


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return path


# --- kinds of leaks in plain text --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"as {WHO} said", "participant id"),
        ("as quigley-07 said", "participant id"),
        ("as sub-Quigley07", "participant id"),
        ("made by mmustermann", "name of a user or machine"),
        ("on LAB-PC-SEVEN", "name of a user or machine"),
        ("write to a.b+c@uni-example.org", "e-mail address"),
        ("see /home/anna/data", "absolute path"),
        ('{"p": "C:\\\\Users\\\\Anna\\\\x"}', "absolute path"),
        ("see C:\\Users\\Anna\\x", "absolute path"),
        ("see \\\\server\\share\\x", "absolute path"),
        ("see /Users/anna/x", "absolute path"),
        ("began 2025-03-04T10:11:12+00:00", "date and time"),
        ("began 2025-03-04 10:11", "date and time"),
        ("timing-20250304T101112Z", "date and time"),
    ],
)
def test_a_planted_leak_is_found(text: str, kind: str, tmp_path: Path) -> None:
    write(tmp_path, "a/notes.md", f"# Title\n\n{text}\n")
    assert scan_export(tmp_path, forbidden=FORBIDDEN) == (Leak("a/notes.md", kind, 3),)


@pytest.mark.parametrize(
    "text",
    [
        "Quigley-071 and XQuigley-07 are others",
        "1 mouse, NA, and a ghost: 0.123456, 123456 trials",
        "write to Author@uni-example.org",
        "https://example.org/home/anna and https://example.org/Users/x",
        "2025-03-04 and 2025-03-04T10:12",
        "and/or 1/2 /usr/bin/env #!/bin/sh </home>",
        "@context fit@model [1]@x",
        "\\\\ \\hline \\textbf{x}\\\\\n\\midrule",
    ],
)
def test_what_is_no_leak_is_passed_over(text: str, tmp_path: Path) -> None:
    write(tmp_path, "notes.md", text)
    write(tmp_path, "notes.tex", text)
    assert kinds(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"participant_id": "1"}'),
        ("a.json", '{"round": {"n_won": {"ghost": 3}}}'),
        ("a.json", '{"others": ["x", "NA"]}'),
        ("a.jsonl", '{"x": 2}\n{"round": {"tied": ["1", "b"]}}\n'),
        ("a.csv", "trial,participant_id\n1,x\n2,NA\n"),
        ("a.csv", 'subject;x\n"1";2\n'),
        ("a.tsv", "participant_id\tage\n1\t2\n"),
        ("a.tsv", "participant_id\tage\nsub-1\t2\n"),
        ("a.md", "the file sub-1_ses-01_run-01.jsonl"),
        ("sub-1_ses-01/a.md", "x"),
        ("sub-ghost_ses-01_run-01.jsonl", "{}"),
        ("study_id=x/participant_id=1/part.txt", "x"),
    ],
)
def test_a_short_or_ordinary_id_is_found_where_ids_stand(
    name: str, text: str, tmp_path: Path
) -> None:
    write(tmp_path, name, text)
    assert set(kinds(tmp_path)) == {"participant id"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"n": "1", "answer": "ghost", "note": "NA", "player": 1}'),
        ("a.csv", "trial,player,response,participant_id\n1,1,ghost,PBBBBBB\nNA,1,NA,PCCCCCC\n"),
        ("a.tsv", "participant_id\tage\nsub-PBBBBBB\tNA\n"),
        ("sub-P1_ses-1/a.txt", "sub-11_ses-1"),
    ],
)
def test_a_short_id_is_no_leak_elsewhere(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    assert kinds(tmp_path) == []


def test_a_name_in_a_file_name_is_found(tmp_path: Path) -> None:
    write(tmp_path, f"logs/{WHO}.txt", "x")
    assert scan_export(tmp_path, forbidden=FORBIDDEN) == (
        Leak(f"logs/{WHO}.txt", "participant id", None),
    )


# --- spellings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"x": "Zoë-Maria"})),
        ("a.html", "<b>Zo&euml;-Maria</b>"),
        ("a.html", "<p>Zo<b>ë-Ma</b>ria</p>"),
        ("a.md", "[x](files/Zo%C3%AB-Maria.csv)"),
        ("a.txt", "Zoe\u0308-Maria"),
        ("a.txt", "Zoë-Maria".encode("utf-16")),
        ("a.txt", "Zoë-Maria".encode("latin-1")),
    ],
)
def test_a_name_is_found_in_every_spelling(name: str, text: str | bytes, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    found = scan_export(tmp_path, forbidden=Forbidden(ids=("Zoë-Maria",)))
    assert {leak.kind for leak in found} == {"participant id"}


# --- packed and binary files -------------------------------------------------------------------


def png(text: str) -> bytes:
    data, about = io.BytesIO(), PngImagePlugin.PngInfo()
    about.add_text("Author", text, zip=True)
    Image.new("RGB", (2, 2)).save(data, "PNG", pnginfo=about)
    return data.getvalue()


def zipped(text: str, name: str = "inner/a.txt") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return data.getvalue()


def twice_zipped(text: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("deep.zip", zipped(text))
    return data.getvalue()


def named_in_zip(text: str) -> bytes:
    return zipped("x", f"{text}.txt")


def workbook(text: str) -> bytes:
    book, data = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["x", 1])
    book.active.append([text, 2])
    book.save(data)
    return data.getvalue()


def workbook_by(text: str) -> bytes:
    book, data = openpyxl.Workbook(), io.BytesIO()
    book.properties.creator = text
    book.save(data)
    return data.getvalue()


def word(text: str) -> bytes:
    runs = "".join(f"<w:r><w:t>{part}</w:t></w:r>" for part in (text[:4], text[4:]))
    return zipped(f"<w:document><w:p>{runs}</w:p></w:document>", "word/document.xml")


def parquet(text: str) -> bytes:
    data = io.BytesIO()
    pd.DataFrame({"x": ["a", text]}).to_parquet(data)
    return data.getvalue()


def named_in_parquet(text: str) -> bytes:
    data = io.BytesIO()
    pd.DataFrame({text: [1]}).to_parquet(data)
    return data.getvalue()


def spss(text: str, tmp_path: Path) -> bytes:
    pyreadstat.write_sav(
        pd.DataFrame({"x": [1.0, 2.0]}), tmp_path / "x.sav",
        variable_value_labels={"x": {1.0: text}},
    )  # fmt: skip
    return (tmp_path / "x.sav").read_bytes()


def page(text: str) -> bytes:
    return f'<img src="data:image/png;base64,{base64.b64encode(png(text)).decode()}">'.encode()


def tar_of(text: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.uname = text
        archive.addfile(entry, io.BytesIO())
    return data.getvalue()


def pdf(text: str) -> bytes:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica")
    document.cell(text=f"by {text} alone")
    return bytes(document.output())


def pdf_with_own_font(text: str) -> bytes:
    document = FPDF()
    document.add_page()
    document.add_font("DejaVu", fname=Path(mpl.get_data_path()) / "fonts/ttf/DejaVuSans.ttf")
    document.set_font("DejaVu")
    document.cell(text=f"by {text} alone")
    return bytes(document.output())


def pdf_by(text: str) -> bytes:
    document = FPDF()
    document.add_page()
    document.set_author(text)
    return bytes(document.output())


def plotted(text: str, font_type: int) -> bytes:
    data = io.BytesIO()
    with mpl.rc_context({"pdf.fonttype": font_type}):
        figure, axes = plt.subplots()
        axes.set_title(f"by {text} alone")
        figure.savefig(data, format="pdf")
        plt.close(figure)
    return data.getvalue()


FILES: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "png": ("a.png", png),
    "zip": ("a.zip", zipped),
    "zip in zip": ("a.zip", twice_zipped),
    "name in zip": ("a.zip", named_in_zip),
    "xlsx": ("a.xlsx", workbook),
    "author of xlsx": ("a.xlsx", workbook_by),
    "docx": ("a.docx", word),
    "parquet": ("a.parquet", parquet),
    "column of parquet": ("a.parquet", named_in_parquet),
    "picture in a page": ("a.html", page),
    "owner in tar": ("a.tar.gz", tar_of),
    "gz": ("a.csv.gz", lambda text: gzip.compress(f"a\n{text}\n".encode())),
    "pdf": ("a.pdf", pdf),
    "pdf with its own font": ("a.pdf", pdf_with_own_font),
    "author of pdf": ("a.pdf", pdf_by),
    "plot with font 42": ("a.pdf", lambda text: plotted(text, 42)),
    "plot with font 3": ("a.pdf", lambda text: plotted(text, 3)),
    "unknown bytes": ("a.bin", lambda text: bytes(range(256)) + b"\0" + text.encode() + b"\0"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_name_is_found_in_every_file(kind: str, tmp_path: Path) -> None:
    name, make = FILES[kind]
    write(tmp_path / "with", name, make(WHO))
    found = scan_export(tmp_path / "with", forbidden=FORBIDDEN)
    assert {leak.kind for leak in found} == {"participant id"}
    assert all(leak.file.startswith(name) for leak in found)
    write(tmp_path / "without", name, make("PBBBBBB"))
    assert scan_export(tmp_path / "without", forbidden=FORBIDDEN) == ()


def test_an_author_of_a_pdf_may_have_any_letters(tmp_path: Path) -> None:
    write(tmp_path, "a.pdf", pdf_by("Zoë 李小明"))
    found = scan_export(tmp_path, forbidden=Forbidden(ids=("Zoë 李小明",)))
    assert {leak.kind for leak in found} == {"participant id"}


def test_a_label_of_spss_is_searched(tmp_path: Path) -> None:
    write(tmp_path / "with", "a.sav", spss(WHO, tmp_path))
    assert kinds(tmp_path / "with") == ["participant id"]


def test_short_ids_are_found_in_columns_of_workbooks_and_parquet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["x", "participant_id"], [1, "PBBBBBB"], [2, "1"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    pd.DataFrame({"x": [1], "participant_id": ["NA"]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"x": ["NA"], "participant_id": ["P1"]}).to_parquet(tmp_path / "b.parquet")
    found = scan_export(tmp_path, forbidden=FORBIDDEN)
    assert {leak.file for leak in found} == {"a.xlsx!Sheet", "a.parquet"}


def test_what_is_packed_too_often_is_refused(tmp_path: Path) -> None:
    data = zipped("x")
    for _ in range(6):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as archive:
            archive.writestr("inner.zip", data)
        data = outer.getvalue()
    write(tmp_path, "a.zip", data)
    with pytest.raises(DatasetError, match="packed more than"):
        kinds(tmp_path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.zip", zipped("x")[:40])
    with pytest.raises(DatasetError, match="damaged"):
        kinds(tmp_path)


# --- a data set ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "set"
    study = open_study(ROOT / "experiments" / "styrnal2025-exp1")
    simulate_study(study, folder, n_participants=2, seed=1)
    (folder / "publication.toml").write_text(
        '[[authors]]\ngiven = "Zoë"\nfamily = "mmustermann"\n', encoding="utf-8"
    )
    return folder


def test_a_shared_copy_holds_no_leak_and_the_original_does(data: Path, tmp_path: Path) -> None:
    forbidden = forbidden_in(load_source(data))
    shared_copy(data, tmp_path / "copy", key_file=tmp_path / "key.csv")
    assert scan_export(tmp_path / "copy", forbidden=forbidden) == ()
    assert {leak.kind for leak in scan_export(data, forbidden=forbidden)} == {"participant id"}


def test_user_and_machine_are_forbidden_but_not_authors(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = load_source(data)
    monkeypatch.setattr("getpass.getuser", lambda: "aperson")
    monkeypatch.setattr("socket.gethostname", lambda: "lab-pc-seven.uni-example.org")
    names = forbidden_in(source).names
    assert {"aperson", "lab-pc-seven", "lab-pc-seven.uni-example.org"} <= set(names)
    assert str(data.resolve()) in names
    monkeypatch.setattr("getpass.getuser", lambda: "mmustermann")
    assert "mmustermann" not in forbidden_in(source).names


def test_ids_of_all_seats_and_times_are_forbidden(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    study = open_study(ROOT / "experiments" / "classic-company")
    (log,) = simulate_study(study, folder, n_participants=1, seed=1)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    header = json.loads(lines[0]) | {"started_utc": "2025-03-04T23:30:00-05:00"}
    log.write_text(json.dumps(header) + "\n" + "".join(lines[1:]), encoding="utf-8")
    forbidden = forbidden_in(load_source(folder))
    assert forbidden.ids == ("sim-00001", "sim-00001-2")
    assert forbidden.moments == {"202503042330", "202503050430"}
