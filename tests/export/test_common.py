"""What every export holds beside its tables: who, under which licence, what each column means."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from fpdf import FPDF

from ghostblitz_analysis.captain.dataset import load_captain_dataset
from ghostblitz_analysis.captain.measures import measure
from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings
from ghostblitz_analysis.codebook import describe_columns
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.layouts import Layout
from ghostblitz_analysis.export.parts.citation_file import citation_file
from ghostblitz_analysis.export.parts.codebook_pages import codebook_html, codebook_pdf
from ghostblitz_analysis.export.parts.common import write_common, write_documents
from ghostblitz_analysis.export.parts.exclusion_table import exclusions_of
from ghostblitz_analysis.export.parts.licences import licence_text
from ghostblitz_analysis.export.parts.participant_table import (
    PARTICIPANT_COLUMNS,
    participant_table,
)
from ghostblitz_analysis.export.parts.provenance_record import provenance_json
from ghostblitz_analysis.export.parts.readme import changes_text, readme_text
from ghostblitz_analysis.export.parts.repository_metadata import osf_json, zenodo_json
from ghostblitz_analysis.export.source import ExportSource, load_source
from tests.export.small_sources import EXAMPLE, headers, imported, published, simulated

pytestmark = pytest.mark.slow

LAYOUT = Layout()
#: https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema.json, properties.
CFF_KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi",
    "identifiers", "keywords", "license", "license-url", "message", "preferred-citation",
    "references", "repository", "repository-artifact", "repository-code", "title", "type", "url",
    "version",
}  # fmt: skip
#: https://developers.zenodo.org/#representation, deposit metadata.
ZENODO_KEYS = {
    "upload_type", "publication_date", "title", "creators", "description", "access_right",
    "license", "doi", "keywords", "notes", "related_identifiers", "references", "version",
}  # fmt: skip


@pytest.fixture(scope="module")
def example() -> ExportSource:
    return load_source(EXAMPLE)


@pytest.fixture(scope="module")
def captain(tmp_path_factory: pytest.TempPathFactory) -> ExportSource:
    return simulated("captain-static", tmp_path_factory.mktemp("captain") / "cap")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> ExportSource:
    return published(tmp_path_factory.mktemp("known") / "ghosts")


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> ExportSource:
    return imported(tmp_path_factory.mktemp("brought"))


# --- participants -----------------------------------------------------------------------------


def test_participants_have_as_many_trials_as_their_logs(example):
    table = participant_table(example).set_index("participant_id")
    for log in (EXAMPLE / "logs").iterdir():
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        row = table.loc[records[0]["participant_id"]]
        assert row["n_trials"] == sum(record["type"] == "trial" for record in records)
        assert (row["n_sessions"], row["n_runs"], row["source"]) == (1, 1, "simulated")
        assert row["first_session_status"] == "completed"


def test_participant_who_left_before_the_first_trial_is_listed(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "d")
    log = tmp_path / "d" / "logs" / "sub-sim-00002_ses-01_run-01.jsonl"
    log.write_text(log.read_text(encoding="utf-8").splitlines(keepends=True)[0], encoding="utf-8")
    row = (
        participant_table(load_source(tmp_path / "d")).set_index("participant_id").loc["sim-00002"]
    )
    assert (row["n_trials"], row["first_session_status"]) == (0, "killed")
    assert row["n_sessions_completed"] == 0


def test_participants_of_the_captains_deck_are_those_with_the_tongs(captain):
    turns = captain.main.frame.copy()
    turns.loc[turns.index % 3 == 0, "player_id"] = "second"
    both = replace(captain, main=replace(captain.main, frame=turns), runs=())
    table = participant_table(both)
    n_second = len(range(0, len(turns), 3))
    told = dict(zip(table["participant_id"], table["n_trials"], strict=True))
    assert told == {"second": n_second, "sim-00001": len(turns) - n_second}


def test_imported_participants_have_no_status_and_odd_ids_stay(brought):
    table = participant_table(brought)
    assert list(table["participant_id"]) == ["=1+1", "n/a"]
    assert list(table["n_trials"]) == [2, 1]
    assert table["first_session_status"].isna().all()


def test_participant_table_has_the_documented_columns_and_types(example):
    table = participant_table(example)
    assert {n: str(t) for n, t in table.dtypes.items()} == {
        column.name: column.dtype for column in PARTICIPANT_COLUMNS
    }


# --- README, licence, citation, changes -------------------------------------------------------


def test_readme_says_in_bold_that_data_are_simulated(example):
    text = readme_text(example, LAYOUT, languages=("en",))
    assert "\n**Simulated data, not people.**\n" in text


def test_readme_of_people_has_no_such_banner(brought):
    text = readme_text(brought, LAYOUT, languages=())
    assert "imulated" not in text
    assert "imported" in text


def test_readme_names_only_what_is_there(example, tmp_path, monkeypatch):
    monkeypatch.setattr("ghostblitz_analysis.export.parts.common.write_results", _no_results)
    (tmp_path / LAYOUT.tables).mkdir()  # Each format fills it.
    write_common(example, tmp_path, LAYOUT)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)
    assert len(named) == 9
    for name in named:
        assert list(tmp_path.glob(name.rstrip("/"))), name


def test_readme_says_where_the_program_is_as_far_as_that_was_stated(example, known):
    told = " ".join(readme_text(known, LAYOUT, languages=()).split())
    assert "give https://example.org/code as the address of the code;" in told
    untold = " ".join(readme_text(example, LAYOUT, languages=()).split())
    assert "give no address of it;" in untold
    for text in (told, untold):
        assert "`documentation/provenance.json` says." in text
        assert "The tables need no program of ours" in text


def test_stated_texts_are_no_markup_in_the_readme(known):
    text = readme_text(known, LAYOUT, languages=("en",))
    assert re.search(r"(?<!\\)<(b|script)>", text) is None


def test_without_a_licence_nothing_may_be_assumed(example):
    text = licence_text(None, title="t", holders="h")
    assert "Nothing may be assumed" in text
    assert "No licence was stated" in readme_text(example, LAYOUT, languages=("en",))


@pytest.mark.parametrize(
    ("spdx", "url"),
    [
        ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/legalcode"),
        ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/legalcode"),
        ("Other-9", "https://spdx.org/licenses/Other-9.html"),
    ],
)
def test_licence_has_its_identifier_and_address(spdx, url):
    text = licence_text(spdx, title="t", holders="Ng, Ada")
    assert f"SPDX-License-Identifier: {spdx}\n" in text
    assert f"\n{url}\n" in text


def test_citation_file_reads_back_what_was_stated(known):
    cff = yaml.safe_load(citation_file(known))
    assert set(cff) <= CFF_KEYS
    assert (cff["cff-version"], cff["type"]) == ("1.2.0", "dataset")
    assert cff["title"] == known.publication.title
    assert cff["authors"] == [
        {
            "family-names": "O'Neil",
            "given-names": "Zoë",
            "affiliation": 'Somewhere: "Institute"',
            "orcid": "https://orcid.org/0000-0002-1825-0097",
        },
        {"family-names": "Ng", "given-names": "Ada"},
    ]
    assert (cff["license"], cff["doi"]) == ("CC-BY-4.0", "10.5281/zenodo.1234567")
    assert (cff["version"], cff["date-released"]) == ("1.1.0", "2026-03-01")
    assert cff["abstract"].startswith("Simulated data, not people. What was done.")
    assert cff["keywords"] == ["reaction time", "a: b"]


def test_citation_file_without_authors_names_an_entity(brought):
    cff = yaml.safe_load(citation_file(brought))
    assert cff["authors"] == [{"name": "The authors of plain"}]
    assert "license" not in cff
    assert "doi" not in cff


def test_changes_are_in_the_notation_that_bids_wants(known):
    lines = changes_text(known, Layout(changes="CHANGES")).splitlines()
    assert lines == [
        "1.1.0 2026-03-01",
        "  - A participant withdrew",
        "  - Typing errors",
        "",
        "1.0.0 2026-01-31",
        "  - First release",
    ]


# --- metadata of repositories -----------------------------------------------------------------


def test_zenodo_metadata_hold_only_what_zenodo_knows(known):
    record = json.loads(zenodo_json(known))
    assert set(record) <= ZENODO_KEYS
    assert record["upload_type"] == "dataset"
    assert record["creators"][0] == {
        "name": "O'Neil, Zoë",
        "affiliation": 'Somewhere: "Institute"',
        "orcid": "0000-0002-1825-0097",
    }
    assert record["description"].startswith(
        "<p>Simulated data, not people.</p><p>What was done.</p>"
    )
    assert "<script>" not in record["description"]
    links = {(r["relation"], r["identifier"]) for r in record["related_identifiers"]}
    assert ("isSupplementTo", "https://example.org/article") in links


def test_metadata_leave_out_what_was_not_stated(brought):
    record = json.loads(zenodo_json(brought))
    assert not {"license", "doi", "keywords", "related_identifiers"} & set(record)
    attributes = json.loads(osf_json(brought))["data"]["attributes"]
    assert (attributes["title"], attributes["category"]) == ("plain", "data")


# --- codebook ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["example", "captain", "brought"])
def test_codebook_tells_every_column_of_every_table(name, request, tmp_path):
    source = request.getfixturevalue(name)
    write_documents(source, tmp_path, LAYOUT)
    told = pd.read_csv(tmp_path / "documentation" / "codebook.csv", keep_default_na=False)
    record = json.loads((tmp_path / "documentation" / "codebook.json").read_text(encoding="utf-8"))
    for table in (source.main, *source.others):
        columns = list(table.frame.columns)
        assert sorted(told.loc[told["table"] == table.name, "column"]) == sorted(columns)
        assert [c["name"] for c in record["tables"][table.name]["columns"]] == columns
    assert {"participants", "exclusions"} <= set(told["table"])
    assert (told["meaning"] != "").all()


def test_codebook_counts_missing_values(example, tmp_path):
    write_documents(example, tmp_path, LAYOUT)
    told = pd.read_csv(tmp_path / "documentation" / "codebook.csv").set_index(["table", "column"])
    late = sum(
        '"error_kind": "late"' in line
        for log in (EXAMPLE / "logs").iterdir()
        for line in log.read_text(encoding="utf-8").splitlines()
    )
    assert told.loc[("trials", "rt_s"), "n_missing"] == late > 0


def test_codebook_page_escapes_what_was_stated(known):
    page = codebook_html(known, {"trials": describe_columns(known.main.frame, known.main.columns)})
    assert "<b>" not in page.split("<h1>")[1].split("</h1>")[0]
    assert not re.search(r'(src|href)="(?!#)', page), "the page loads something"
    assert page.count("<tr><td><code>") == len(known.main.columns)


def test_codebook_pdf_is_the_same_whenever_it_is_made(known):
    described = {"trials": describe_columns(known.main.frame, known.main.columns)}
    data = codebook_pdf(known, described)
    assert data.startswith(b"%PDF-")
    assert codebook_pdf(known, described) == data


def test_codebook_pdf_names_letters_that_its_font_lacks(known, monkeypatch):
    printed, print_paragraph = [], FPDF.multi_cell

    def keep(page, w, h, text, **options):
        printed.append(text)
        return print_paragraph(page, w, h, text, **options)

    monkeypatch.setattr(FPDF, "multi_cell", keep)
    named = replace(known.main.columns[0], meaning="猫 → 👻👻, Größe?")
    codebook_pdf(known, {"trials": describe_columns(known.main.frame, (named,))})
    assert 'Codebook of Ghosts: a "hard" title \\ # with [U+0085] and [U+1F47B] <b>' in printed
    assert "[U+732B] → [U+1F47B][U+1F47B], Größe?" in printed


# --- exclusions -------------------------------------------------------------------------------


def test_exclusions_are_those_of_the_settings_row_by_row(example):
    exclusions = exclusions_of(example)
    frame, trials = exclusions.rows.frame, example.main.frame
    assert list(frame["trial_index"]) == list(trials["trial_index"])
    by_hand = (
        (trials["phase"] == "test")
        & trials["correct"]
        & trials["rt_s"].between(0.2, 8.0).fillna(False)
        & (trials["rt_s"] > 0).fillna(False)
    )
    assert list(frame["used_for_rt"]) == list(by_hand)
    assert list(frame["used_for_accuracy"]) == list(trials["phase"] == "test")
    assert exclusions.steps["n_left"].iloc[-1] == by_hand.sum()


def test_every_flag_has_a_reason(example, captain):
    for source in (example, captain):
        exclusions = exclusions_of(source)
        flags = [c for c in exclusions.rows.frame if c.startswith("exclude_")]
        assert flags == list(exclusions.steps["flag"])
        assert exclusions.steps["reason"].str.len().gt(0).all()


def test_exclusions_of_the_captains_deck_leave_the_turns_that_are_measured(captain):
    loaded = load_captain_dataset(captain.path)
    settings = CaptainAnalysisSettings(max_pick_rt_s=4.0)
    (captain.path / "analysis.toml").write_text("max_pick_rt_s = 4.0\n")
    frame = exclusions_of(captain).rows.frame
    measures = measure(loaded.turns, loaded.games, loaded.changes, settings)
    assert frame["used_for_hits"].sum() == measures.n_turns
    picks = measures.participant_rts
    n_rt = picks.loc[picks["turns"].isin(["known", "unknown"]), "n_rt"].sum()
    has_rt = loaded.turns["pick_rt_s"].notna()
    assert (frame["used_for_pick_rt"] & has_rt).sum() == n_rt
    assert n_rt < measures.n_turns, "no pick was too slow, so that nothing was tried"


# --- provenance -------------------------------------------------------------------------------


def test_provenance_has_the_seed_and_hashes_of_each_run(example):
    record = json.loads(provenance_json(example))
    told = {run["participant_id"]: run for run in record["runs"]}
    for header in headers(example):
        run = told[header["participant_id"]]
        for name in ("seed", "settings_sha256", "plan_sha256"):
            assert run[name] == header[name]
        assert record["study_settings"][header["settings_sha256"]] == header["settings"]
    assert record["languages"] == ["en"]
    assert record["analysis"]["text"] == (EXAMPLE / "analysis.toml").read_text(encoding="utf-8")
    assert record["analysis"]["stated_before_data"]["status"] == "yes"


@pytest.mark.parametrize("make", [imported, published])
def test_provenance_does_not_hang_on_times_of_files(make, tmp_path):
    source = make(tmp_path / "d")
    before = provenance_json(source)
    for file in source.files.values():
        os.utime(file, (1, 1))
    assert provenance_json(source) == before
    assert str(tmp_path) not in before


def test_documents_of_the_same_data_are_the_same(example, tmp_path):
    for name in ("a", "b"):
        write_documents(example, tmp_path / name, LAYOUT)
    for name in files_below(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_nothing_is_written_over(example, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(FileExistsError):
        write_documents(example, tmp_path, LAYOUT)
    assert (tmp_path / "README.md").read_text() == "mine"


def test_own_files_are_copied_byte_by_byte(example, tmp_path, monkeypatch):
    monkeypatch.setattr("ghostblitz_analysis.export.parts.common.write_results", _no_results)
    write_common(example, tmp_path, Layout(source="rawdata"))
    assert files_below(tmp_path / "rawdata") == sorted(example.files)
    for name, file in example.files.items():
        assert (tmp_path / "rawdata" / name).read_bytes() == file.read_bytes()


def _no_results(_source: ExportSource, folder: Path, name: str) -> None:
    (folder / name).mkdir()
