from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.paper import (
    ManuscriptTable,
    dataset_parameter,
    latex_document,
    latex_escape,
    latex_table,
    manuscript_tables,
    markdown_escape,
    markdown_table,
    quarto_source,
    word_document,
    write_paper_files,
)
from ghostblitz_analysis.paper.manuscript_table import MAX_WHOLE_ROWS
from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.provenance import SettingsProvenance
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.results import AnalysisResult, analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings

pytestmark = pytest.mark.usefixtures("quick_figures")

MINUS = "\N{MINUS SIGN}"
QUICK = AnalysisSettings.model_validate(
    {"reliability": {"n_splits": 20}, "models": {"rt": ["log_rt"], "errors": []}}
)
#: All that an escaped text may be made of.
ESCAPED = re.compile(
    r"(?:\\[&%#_{}$]"
    r"|\\[a-zA-Z]+\{\}"
    r"|\\textsuperscript\{[23]\}"
    r"""|\\[`'^~=."uvrHck]\{[A-Za-z]\}"""
    r"|\$(?:-|\\[a-z]+)\$"
    r"|\{\}|~"
    r"|\[U\+[0-9A-F]{4,6}\]"
    r"|[A-Za-z0-9 !'()*+,\-./:;=?@\[\]])*"
)


def as_result(trials):
    sources = tuple(sorted(trials["source"].unique()))
    dataset = Dataset(Path("made"), "made", sources, trials, QUICK)
    provenance = SettingsProvenance("not known", "made by hand", None, None, None)
    analysis = analyze_trials(trials, QUICK)
    versions = {"Python": "3.11"}
    return AnalysisResult(dataset, (), analysis, "2026-01-01", versions, Path("out"), provenance)


def a_table(rows, *, header=("participant", "n", "95% CI"), n_left=1, groups=(), **others):
    return ManuscriptTable(
        "made", "Made by hand", ReportTable(header, tuple(rows), n_left, groups=groups), **others
    )


@pytest.fixture
def two_rules(draw_trials):
    return draw_trials(np.random.default_rng(1), n_participants=5, n_per_cell=8, p_error=0.2)


#: Made once: nothing changes a result.
_MADE: dict[str, AnalysisResult] = {}


@pytest.fixture
def result(two_rules):
    if "result" not in _MADE:
        _MADE["result"] = as_result(two_rules)
    return _MADE["result"]


# --- LaTeX -------------------------------------------------------------------------------------


@given(st.text())
def test_escaped_text_holds_nothing_that_latex_would_take_for_a_command(text):
    assert ESCAPED.fullmatch(latex_escape(text))


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126)), st.data())
def test_different_ids_stay_different_when_escaped(text, data):
    other = data.draw(st.text(st.characters(min_codepoint=33, max_codepoint=126)))
    assert (latex_escape(text) == latex_escape(other)) == (text == other)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50% & p_1 #2 {x} $", r"50\% \& p\_1 \#2 \{x\} \$"),
        ("a\\b^c~d", r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d"),
        ("< .001", r"\textless{} .001"),
        (f"{MINUS}0.85", "$-$0.85"),
        ("–", r"\textendash{}"),
        ("Łódź, Ümit", r"\L{}\'{o}d\'{z}, \"{U}mit"),
        ("中", "[U+4E2D]"),
        ("a--b", "a-{}-b"),
        ("a\nb\x00c", "a b c"),
    ],
)
def test_special_characters_are_escaped(text, escaped):
    assert latex_escape(text) == escaped


def test_row_that_begins_with_a_bracket_is_no_option_of_the_row_before():
    lines = latex_table(a_table([("a", "1", "–"), ("[b]", "2", "–"), ("*", "3", "–")])).split("\n")
    assert r"{}[b] & 2 & \textendash{} \\" in lines
    assert r"{}* & 3 & \textendash{} \\" in lines


@pytest.mark.parametrize("n_rows", [1, MAX_WHOLE_ROWS, MAX_WHOLE_ROWS + 1])
def test_every_latex_row_has_every_cell(n_rows):
    table = a_table([("a & b", str(n), f"[{MINUS}1, {n}]") for n in range(n_rows)])
    text = latex_table(table)
    rows = [line for line in text.split("\n") if line.startswith(r"a \& b")]
    assert len(rows) == n_rows
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert text.count(r"\toprule") == (2 if n_rows > MAX_WHOLE_ROWS else 1)
    assert (r"\begin{longtable}{@{}lrr@{}}" in text) == (n_rows > MAX_WHOLE_ROWS)
    assert text.isascii()


def test_groups_span_their_columns_in_latex():
    table = a_table([("a", "1", "2")], groups=(("", 1), ("both", 2)))
    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{both} \\" in latex_table(table)
    assert r"\cmidrule(lr){2-3}" in latex_table(table)


def test_statistics_in_titles_are_set_as_symbols():
    text = latex_table(a_table([("a", "1", "2")], header=("contrast", "t (df)", "dz")))
    assert r"contrast & \textit{t} (\textit{df}) & \textit{d}\textsubscript{z} \\" in text


def test_power_of_ten_is_raised_in_numbers_only():
    text = latex_table(a_table([("10^2", "4.1 × 10^9", f"2.0 × 10^{MINUS}3")]))
    row = (
        r"10\textasciicircum{}2 & 4.1 $\times$ 10\textsuperscript{9} & "
        r"2.0 $\times$ 10\textsuperscript{$-$3} \\"
    )
    assert row in text.split("\n")


# --- Word --------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="^\ufffe\uffff"))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_word_document_holds_the_texts_of_all_cells(rows):
    grid = Document(io.BytesIO(word_document([a_table(rows)]))).tables[0]
    found = [tuple(cell.text for cell in row.cells) for row in grid.rows]
    assert found == [("participant", "n", "95% CI"), *rows]


def test_control_characters_become_spaces_in_word():
    grid = Document(io.BytesIO(word_document([a_table([("a\x00b\nc", "1", "2")])]))).tables[0]
    assert grid.cell(1, 0).text == "a b c"


def test_word_table_has_horizontal_rules_only_and_numbers_at_the_right():
    table = a_table([("a", "1", "2"), ("b", "3", "4")], groups=(("", 1), ("both", 2)), note="n = 2")
    document = Document(io.BytesIO(word_document([table])))
    texts = [paragraph.text for paragraph in document.paragraphs]
    assert texts == ["Table 1", "Made by hand", "Note. n = 2"]
    number, title, note = document.paragraphs
    assert number.style.font.bold
    assert title.style.font.italic
    assert [run.text for run in note.runs if run.italic] == ["Note."]
    grid = document.tables[0]
    edges = [
        sorted({line.tag for borders in row._tr.iter(qn("w:tcBorders")) for line in borders})
        for row in grid.rows
    ]
    top, bottom = qn("w:top"), qn("w:bottom")
    assert edges == [[bottom, top], [bottom], [], [bottom]]
    assert grid.style.name == "Normal Table"
    sides = [cell.paragraphs[0].style.paragraph_format.alignment for cell in grid.rows[2].cells]
    right = WD_ALIGN_PARAGRAPH.RIGHT
    assert sides == [WD_ALIGN_PARAGRAPH.LEFT, right, right]


def test_word_document_tells_neither_date_nor_author():
    document = word_document([a_table([("a", "1", "2")])])
    with zipfile.ZipFile(io.BytesIO(document)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = parts.read("docProps/core.xml").decode()
    assert "dcterms" not in core.split(">", 2)[2]
    assert "python-docx" not in core
    assert document == word_document([a_table([("a", "1", "2")])])


def test_no_tables_give_documents_that_say_so():
    assert "There are no tables." in latex_document([])
    paragraphs = Document(io.BytesIO(word_document([]))).paragraphs
    assert [paragraph.text for paragraph in paragraphs] == ["There are no tables."]


# --- Markdown and Quarto -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("p_1 | <b>", r"p\_1 \| \<b\>"),
        ("a\n# b", r"a \# b"),
        ("[x](y) `z` $1", r"\[x\](y) \`z\` \$1"),
        ("1.5 – Łódź", "1.5 – Łódź"),
    ],
)
def test_markdown_is_escaped(text, escaped):
    assert markdown_escape(text) == escaped


def test_markdown_table_names_groups_in_its_titles():
    lines = markdown_table(
        a_table([("a|b", "1", "2")], groups=(("", 1), ("both", 2)), note="n")
    ).split("\n")
    assert lines[2:5] == [
        "| participant | both: n | both: 95% CI |",
        "| :--- | ---: | ---: |",
        r"| a\|b | 1 | 2 |",
    ]
    assert lines[-2] == "*Note.* n"


@pytest.mark.parametrize(
    ("dataset", "out", "expected"),
    [
        ("study", "report", "../study"),
        ("data/study", "results/study", "../../data/study"),
        ("study", "study-report/first", "../../study"),
        ("home/someone/study", "report", "study"),
        ("study", "a/b/c", "study"),
    ],
)
def test_path_of_the_data_set_tells_no_folders_of_the_user(tmp_path, dataset, out, expected):
    assert dataset_parameter(tmp_path / dataset, tmp_path / out) == expected


def cells_of(source):
    return re.findall(r"^```\{python\}\n(.*?)^```$", source, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_quarto_source_is_safe_from_names(result):
    name = 'a "b": *c* """ <script>'
    dataset = replace(result.dataset, name=name, path=Path('x"""y'))
    source = quarto_source(replace(result, dataset=dataset))
    header = source.split("---\n")[1]
    title = json.loads(header.split("\n")[0].removeprefix("title: "))
    assert title == r"Analysis of a \"b\": \*c\* \"\"\" \<script\>"
    found = {}
    exec(cells_of(source)[0], found)
    assert found["dataset"] == '../x"""y'
    for cell in cells_of(source):
        compile(cell, "cell", "exec")


@pytest.mark.slow
def test_quarto_cells_rebuild_the_numbers_of_the_analysis(simulate_game, tmp_path):
    simulate_game("classic", n_participants=3)
    stated = "[reliability]\nn_splits = 50\n[models]\nrt = []\nerrors = []\n"
    (tmp_path / "simulated-classic" / "analysis.toml").write_text(stated)
    out = tmp_path / "report"
    result = analyze_dataset(tmp_path / "simulated-classic", out=out)
    source = quarto_source(result)
    assert str(tmp_path) not in source
    last = (
        "print('\\n' + analysis.inference.planned_contrasts.to_json(orient='records', "
        "double_precision=15))\nprint(analysis.settings.sha256 == settings_sha256)"
    )
    script = "\n".join([*cells_of(source), last])
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=out, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    numbers, same_settings = run.stdout.strip().split("\n")[-2:]
    recorded = json.loads((out / "analysis.json").read_text())["planned_contrasts"]
    estimates = [row["estimate"] for row in recorded]
    assert [row["estimate"] for row in json.loads(numbers)] == pytest.approx(estimates, rel=1e-12)
    assert len(estimates) > 0
    assert same_settings == "True"


# --- which tables ------------------------------------------------------------------------------


@pytest.mark.slow
def test_manuscript_gets_its_tables_with_notes(result):
    tables = {table.stem: table for table in manuscript_tables(result)}
    assert list(tables)[:4] == [
        "exclusions", "rt_per_cell", "accuracy_per_cell", "planned_contrasts_mean_log_rt",
    ]  # fmt: skip
    model = "model_linear_mixed_model_of_log_rt"
    wanted = {"anova", f"{model}_fixed", f"{model}_random", "error_kinds", "sequence_effects"}
    assert wanted | {"reliability", "sensitivity"} <= set(tables)
    assert all(re.fullmatch(r"[a-z0-9_]+", stem) for stem in tables)
    assert len(tables) == len(manuscript_tables(result))
    for table in tables.values():
        start = "Simulated data, not people. The data hold 5 participants."
        assert table.note.startswith(start)
        assert all(len(row) == len(table.table.header) for row in table.table.rows)
    contrast = result.analysis.inference.planned_contrasts.iloc[0]
    table = tables["planned_contrasts_mean_log_rt"].table
    assert table.rows[0][table.header.index("RT ratio")] == f"{contrast['ratio']:.3f}"
    assert "95% CI" in table.header


@pytest.mark.slow
def test_notes_name_who_is_left_out(two_rules):
    lost = (two_rules["participant_id"] == "005") & (two_rules["rule"] == "exclusion")
    tables = manuscript_tables(as_result(two_rules[~lost].reset_index(drop=True)))
    of_rt = next(table for table in tables if table.stem == "planned_contrasts_mean_log_rt")
    assert re.search(r"[Ll]eft out\b[^.]*\b005\b", of_rt.note)


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["one participant", "one rule", "no errors", "all wrong"])
def test_degenerate_data_give_files(two_rules, tmp_path, kept):
    trials = two_rules
    if kept == "one participant":
        trials = trials[trials["participant_id"] == "001"]
    elif kept == "one rule":
        trials = trials[trials["rule"] == "direct"]
    elif kept == "no errors":
        trials = trials[trials["correct"]]
    else:
        trials = trials[~trials["correct"]]
    write_paper_files(as_result(trials.reset_index(drop=True)), tmp_path)
    stems = re.findall(r"\\input\{latex/(\w+)\}", (tmp_path / "tables/tables.tex").read_text())
    assert {"exclusions", "rt_per_cell"} <= set(stems)
    assert {path.stem for path in (tmp_path / "tables/latex").iterdir()} == set(stems)
    n_tables = len(Document(tmp_path / "tables/tables.docx").tables)
    assert n_tables == len(stems)


@pytest.mark.slow
def test_same_result_gives_the_same_bytes(result, tmp_path):
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        write_paper_files(result, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents.append([(p.relative_to(folder), p.read_bytes()) for p in files])
    assert contents[0] == contents[1]
    assert len(contents[0]) > 10
