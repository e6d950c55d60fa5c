from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import Dataset, ImportFlow, RunInfo
from ghostblitz_analysis.figures import build_figures, figure_svg
from ghostblitz_analysis.pipeline import analyze_dataset, write_analysis
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.report import render_report
from ghostblitz_analysis.report_tables import errors_tables, flow_table, runs_table
from ghostblitz_analysis.results import ANALYSIS_PARTS as WHOLE
from ghostblitz_analysis.results import AnalysisResult, analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, ModelSettings, ReliabilitySettings
from ghostblitz_analysis.summary import (
    error_sentences,
    hat_sentences,
    import_sentence,
    rt_sentences,
    summary_text,
)
from ghostblitz_analysis.validation import Finding
from ghostblitz_analysis.wording import interval, number, p_value, percent, proportion
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import ERROR_KINDS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_figures")]

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=timezone.utc)


#: Models of single trials take longest.
QUICK = AnalysisSettings(
    models=ModelSettings(rt=(), errors=()), reliability=ReliabilitySettings(n_splits=20)
)


def cells_of(trials):
    """Analyse as far as the cells, which is all that these sentences and figures look at."""
    return analyze_trials(trials, QUICK, parts=("cells",))


def as_result(
    trials, out, *, findings=(), runs=(), name="made", path=Path("made"), settings=QUICK,
    parts=("cells",),
):  # fmt: skip
    """Analyse as far as the test looks; `WHOLE` parts take a hundred times as long as cells."""
    sources = tuple(sorted(trials["source"].unique()))
    dataset = Dataset(path, name, sources, trials, settings, runs=tuple(runs))
    analysis = analyze_trials(trials, dataset.analysis, parts=parts)
    return AnalysisResult(
        dataset, tuple(findings), analysis, NOW.isoformat(), {"Python": "3.11"}, out,
        settings_provenance(dataset),
    )  # fmt: skip


def page_of(result, *, draw=False):
    figures = build_figures(result.analysis) if draw else {}
    return render_report(result, {name: figure_svg(figure) for name, figure in figures.items()})


def a_run(**changes):
    known = {
        "file": "sub-p1_ses-01_run-01.jsonl", "sha256": "0" * 64, "study_id": "made",
        "game": "classic", "participant_id": "p1", "session": 1, "run": 1, "source": "human",
        "participant_model": None, "status": "completed", "torn": False, "n_trials": 2,
        "n_interrupted": 0, "n_trials_planned": 2, "started_utc": "2026-01-01T10:00:00+00:00",
        "seed": 77, "display_synchronised": True, "keys_polled": False,
        "settings_sha256": "0" * 64, "plan_sha256": "0" * 64,
    }  # fmt: skip
    return RunInfo(**known | changes)


@pytest.fixture
def two_rules(draw_trials):
    return draw_trials(
        np.random.default_rng(1), n_participants=4, n_per_cell=8, p_error=0.2, source="human"
    )


class Checker(HTMLParser):
    """Collects tags, references and ids, and sees that elements are closed."""

    VOID = frozenset({"meta", "br", "link", "img", "hr", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.note(tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def note(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in {"href", "src", "xlink:href"}:
                self.links.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(two_rules, tmp_path):
    page = page_of(as_result(two_rules, tmp_path, parts=WHOLE), draw=True)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not checker.tags & {"script", "link", "img", "iframe", "object"}
    assert all(link.startswith("#") for link in checker.links)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_ids_are_unique_and_links_lead_somewhere(two_rules, tmp_path):
    checker = Checker()
    checker.feed(page_of(as_result(two_rules, tmp_path, runs=[a_run()], parts=WHOLE), draw=True))
    assert len(checker.ids) == len(set(checker.ids))
    assert {link[1:] for link in checker.links} <= set(checker.ids)


def named_tables(page):
    return set(re.findall(r"tables/(\w+)\.csv", page))


def test_the_page_has_the_sections_of_a_paper_and_names_only_tables_that_exist(two_rules, tmp_path):
    result = as_result(two_rules, tmp_path, settings=AnalysisSettings(), parts=WHOLE)
    page = page_of(result)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    wanted = {
        "reading", "timing", "checks", "exclusions", "sensitivity", "rt", "contrasts", "anova",
        "distributions", "accuracy", "errors", "speed_accuracy", "sequences", "session",
        "reliability", "models", "methods", "settings", "references",
    }  # fmt: skip
    assert wanted <= set(checker.ids)
    assert wanted <= {link[1:] for link in checker.links}
    named = named_tables(page)
    assert len(named) > 15
    assert named <= {*result.analysis.tables, "findings", "import_flow"}


@pytest.mark.parametrize(
    "rows",
    [
        [{}],
        [{"error_kind": "late"}, {"error_kind": "late", "participant_id": "q"}],
        [{"participant_id": p, "rule": "exclusion", "rt_s": 0.5} for p in "ab"],
        [{"participant_id": p, "rule": r} for p in "ab" for r in ("direct", "exclusion")],
        [{"rt_s": 88.0}, {"rule": "exclusion", "rt_s": 88.0}],
    ],
    ids=["one trial", "all late", "one rule", "identical RTs", "all too slow"],
)
def test_degenerate_data_make_a_whole_page_without_nan(make_trials, tmp_path, rows):
    result = as_result(make_trials(rows), tmp_path, settings=AnalysisSettings(), parts=WHOLE)
    page = page_of(result)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    said = words_of(page.split("</style>", 1)[1]).lower()
    assert not re.search(r"\b(nan|inf)\b|<na>|&lt;na&gt;", said)
    assert named_tables(page) <= {*result.analysis.tables, "findings", "import_flow"}


def test_the_page_says_whether_the_settings_were_stated_before_the_data(two_rules, tmp_path):
    (tmp_path / "analysis.toml").write_text('correction = "holm" # <said> & done\n')
    page = page_of(as_result(two_rules, tmp_path / "out", path=tmp_path))
    assert "Stated before the data: <strong>not known</strong>" in page
    assert "correction = &#34;holm&#34; # &lt;said&gt; &amp; done" in page
    bare = page_of(as_result(two_rules, tmp_path / "out"))
    assert "Stated before the data: <strong>no</strong>" in bare
    assert "every setting has its default" in bare


NASTY = ["<script>alert(1)</script>", "\"'&<b>", "{{ 7*7 }}", "Zoë 李", "</td>"]


def test_texts_of_the_data_are_escaped(make_trials, tmp_path):
    rows = [{"participant_id": p, "study_id": p, "rt_s": 0.5} for p in NASTY]
    rows += [{"participant_id": NASTY[0], "rule": "exclusion"}]
    findings = [Finding("warning", "odd", "<i>where</i>", "<img src=x onerror=y>")]
    runs = [a_run(participant_id=p, participant_model="<u>") for p in NASTY]
    name = "<h1>name</h1>"
    page = page_of(
        as_result(make_trials(rows), tmp_path, findings=findings, runs=runs, name=name, parts=WHOLE)
    )
    for raw in ("<script", '<b>"', "<i>where", "<img", "<u>", "<h1>name", "'&<b>"):
        assert raw not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7*7 }}" in page
    assert "Zoë 李" in page
    checker = Checker()
    checker.feed(page)
    assert checker.open == []


@pytest.mark.parametrize(
    ("source", "big"),
    [
        ("simulated", "SIMULATED DATA"),
        ("robot", "PLAYED BY A ROBOT"),
        ("imported", "IMPORTED DATA"),
        ("human", None),
    ],
)
def test_the_banner_says_who_answered(make_trials, tmp_path, source, big):
    page = page_of(as_result(make_trials([{"source": source}]), tmp_path))
    found = re.findall(r'class="banner \w+" role="note"><b>([A-Z ]+)', page)
    assert found == ([big] if big else [])


def test_mixed_sources_are_counted_in_the_banner(make_trials, tmp_path):
    rows = [{"participant_id": "a", "source": "robot"}, {"participant_id": "b"}]
    page = page_of(as_result(make_trials(rows), tmp_path))
    assert "PLAYED BY A ROBOT (1 of 2 participants)" in page
    assert "Only a: there a program watched" in page


def test_an_unsynchronised_display_is_said_in_the_timing_section(make_trials, tmp_path):
    trials = make_trials([{"display_synchronised": False}, {}])
    page = page_of(as_result(trials, tmp_path, runs=[a_run(display_synchronised=False)]))
    assert "Display not synchronised</strong> in 1 trial:" in page


def test_a_virtual_clock_makes_no_claim_about_a_screen(make_trials, tmp_path):
    trials = make_trials([{"source": "simulated"}] * 2)
    page = page_of(as_result(trials, tmp_path, runs=[a_run(source="simulated")]))
    assert "All trials ran on a <strong>virtual clock</strong>" in page
    assert "Flips were seen" not in page
    assert "<td>virtual</td>" in page


def test_two_solved_cards_are_drawn(two_rules, tmp_path):
    page = page_of(as_result(two_rules, tmp_path))
    cards = page[page.index('class="cards"') : page.index('id="rt"')]
    assert cards.count("<svg") == 2
    assert "grab the ghost" in cards
    assert "the ghost is shown in its own colour, white" in cards
    assert "grab the mouse" in cards


def test_cards_without_drawings_are_described(make_trials, tmp_path):
    row = {
        "card": "bus:red cup:blue", "item_colours": "bus:red cup:green pen:blue", "target": "bus",
        "answer": "bus",
    }  # fmt: skip
    page = page_of(as_result(make_trials([row]), tmp_path))
    assert "The card shows bus in red and cup in blue" in page


def test_runs_say_how_they_ended(two_rules, tmp_path):
    runs = [
        a_run(status="killed", torn=True, n_trials=1),
        a_run(run=2, resumes_file="x", resumes_sha256="0", resumes_n_trials=1, started_utc=None),
    ]
    page = page_of(as_result(two_rules, tmp_path, runs=runs))
    assert "killed (last line torn)" in page
    assert "<td>2, resumed</td>" in page
    assert '<td class="n">1 of 2</td>' in page


def test_findings_stand_worst_first(two_rules, tmp_path):
    findings = [Finding("info", "a", "x", "mild"), Finding("error", "b", "y", "grave")]
    page = page_of(as_result(two_rules, tmp_path, findings=findings))
    assert page.index("y: grave") < page.index("x: mild")
    assert "The checks found 1 thing to look at" in page


def test_errors_stand_above_every_number(two_rules, tmp_path):
    findings = [Finding("error", "b", "p1", "grave"), Finding("warning", "c", "p2", "mild")]
    result = as_result(two_rules, tmp_path, findings=findings)
    page = page_of(result)
    assert "1 ERROR IN THE DATA" in page
    assert page.index("p1: grave") < page.index('class="short"')
    assert page.index('class="short"') < page.index("p2: mild")
    text = summary_text(result)
    assert text.startswith("ERROR: p1: grave\n\nmade: 4 participants")
    assert "  warning: p2: mild" in text
    assert text.count("grave") == 1


def test_without_errors_there_is_no_red_box(two_rules, tmp_path):
    result = as_result(two_rules, tmp_path, findings=[Finding("warning", "c", "p2", "mild")])
    assert "IN THE DATA" not in page_of(result)
    assert summary_text(result).startswith("made: ")


def test_a_data_set_with_people_in_it_is_not_called_simulated_as_a_whole(make_trials, tmp_path):
    rows = [{"participant_id": "sim", "source": "simulated"}, {"participant_id": "b"}]
    result = as_result(make_trials(rows), tmp_path)
    page = page_of(result)
    assert "SIMULATED DATA (1 of 2 participants)" in page
    assert "Only sim: there a program answered" in page
    assert "A program answered" not in page
    assert "(PARTLY SIMULATED DATA, NOT PEOPLE)" in summary_text(result)


# --- what an import left out ----------------------------------------------------------------

FLOW = ImportFlow(
    20, (("practice <rows>", 7), ("2 participants without trials", 5)), (("x", 4), ("y", 1))
)


def imported(make_trials, out, flow):
    result = as_result(make_trials([{"source": "imported"}] * 8), out)
    return replace(result, dataset=replace(result.dataset, import_flow=flow))


def test_the_flow_of_exclusions_begins_with_the_import(make_trials, tmp_path):
    result = imported(make_trials, tmp_path, FLOW)
    rows = flow_table(result).rows
    assert rows[:4] == (
        ("import", "rows read", "", "", "", "20"),
        ("import", "practice <rows>", "the data set", "7", "7", "13"),
        ("import", "2 participants without trials", "the data set", "5", "5", "8"),
        ("", "all trials", "", "", "", "8"),
    )
    page = page_of(result)
    assert "practice &lt;rows&gt;" in page
    assert "Left out on import for want of trials: x (4 trials), y (1 trial)." in page


def test_the_headline_and_the_command_say_that_rows_were_left_out(make_trials, tmp_path):
    result = imported(make_trials, tmp_path, FLOW)
    page = page_of(result)
    said = "12 of 20 rows were left out on import, with 2 incomplete participants"
    assert said in page[: page.index("<nav")]
    assert "found nothing to worry about." not in page
    assert "found nothing to worry about in what was imported, but not all was" in page
    assert f"{said}; see the flow of exclusions" in summary_text(result)


@pytest.mark.parametrize("flow", [None, ImportFlow(8, (("practice", 0),), ())])
def test_an_import_that_left_nothing_out_is_not_complained_about(make_trials, tmp_path, flow):
    result = imported(make_trials, tmp_path, flow)
    page = page_of(result)
    assert "The checks found nothing to worry about." in page
    assert "left out on import" not in page + summary_text(result)


def test_one_row_left_out_is_said_in_the_singular(make_trials, tmp_path):
    result = imported(make_trials, tmp_path, ImportFlow(9, (("x", 1),), ()))
    assert import_sentence(result.dataset) == "1 of 9 rows was left out on import"


def test_record_and_tables_carry_the_import(make_trials, tmp_path):
    result = imported(make_trials, tmp_path / "out", FLOW)
    write_analysis(result)
    record = json.loads((result.out / "analysis.json").read_text(encoding="utf-8"))
    assert record["import_flow"] == {
        "n_rows_read": 20,
        "dropped": [
            {"reason": "practice <rows>", "n_rows": 7},
            {"reason": "2 participants without trials", "n_rows": 5},
        ],
        "incomplete": [
            {"participant_id": "x", "n_trials": 4},
            {"participant_id": "y", "n_trials": 1},
        ],
    }
    with (result.out / "tables" / "import_flow.csv").open(encoding="utf-8", newline="") as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    assert rows == [
        ["read", "", "", "20", "20"],
        ["dropped", "practice <rows>", "", "7", "13"],
        ["dropped", "2 participants without trials", "", "5", "8"],
        ["incomplete", "", "x", "4", ""],
        ["incomplete", "", "y", "1", ""],
        ["kept", "", "", "8", "8"],
    ]


# --- what is said only where it holds -------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "said"),
    [("human", True), ("robot", True), ("imported", False), ("simulated", False)],
)
def test_the_lag_of_psychopy_is_told_only_where_it_timed_something(
    make_trials, tmp_path, source, said
):
    page = page_of(as_result(make_trials([{"source": source}]), tmp_path))
    assert ("PsychoPy" in page) is said
    assert ("Bridges" in page) is said


def test_captions_of_one_participant_promise_no_interval(make_trials, tmp_path):
    page = page_of(
        as_result(make_trials([{}, {"rule": "exclusion"}]), tmp_path, parts=WHOLE), draw=True
    )
    captions = re.findall(r"<figcaption>(.*?)</figcaption>|class=\"note caption\">(.*?)</p>", page)
    text = " ".join(a or b for a, b in captions)
    assert "one participant gives no interval" in text
    assert not re.search(r"Cousineau|t interval|paired t|The interval is", text)


def test_without_rts_the_session_says_why_it_is_empty(make_trials, tmp_path):
    page = page_of(as_result(make_trials([{"error_kind": "late"}]), tmp_path), draw=True)
    session = page[page.index('id="session"') : page.index('id="participants"')]
    assert "No trial counts for RT" in session


def test_equal_accuracies_have_a_dash_and_a_note(make_trials, tmp_path):
    rows = [{"participant_id": p, "rule": r} for p in "ab" for r in ("direct", "exclusion")]
    rows += [{"participant_id": "a", "error_kind": "late"}]
    page = page_of(as_result(make_trials(rows), tmp_path))
    assert "[100.00, 100.00]" not in page
    assert "exclusion: all participants have the same accuracy, so no interval" in page


def test_longer_tables_say_how_many_rows_are_missing(make_trials, tmp_path):
    for n, said in ((201, "1 more row is in the CSV file"), (203, "3 more rows are in the CSV")):
        trials = make_trials([{"participant_id": f"{i:03d}"} for i in range(n)])
        assert said in page_of(as_result(trials, tmp_path))


def test_spreadsheets_are_warned_of(two_rules, tmp_path):
    assert "begins with <code>=</code>" in page_of(as_result(two_rules, tmp_path))


def test_errors_are_shown_per_mode_with_their_chance_shares(draw_trials, tmp_path):
    trials = draw_trials(
        np.random.default_rng(3), n_participants=3, n_per_cell=20, p_error=0.4,
        modes=("grab", "shout"),
    )  # fmt: skip
    analysis = as_result(trials, tmp_path).analysis
    grab, shout = errors_tables(analysis)
    assert [name for name, _ in grab.groups] == [
        "", "direct cards, grab trials", "exclusion cards, grab trials",
    ]  # fmt: skip
    assert grab.header[5] == "chance share (%)"
    wrong = trials[(trials["mode"] == "shout") & (trials["rule"] == "direct")]["correct"]
    assert shout.rows[-1][1] == str((~wrong.astype(bool)).sum())
    assert [s.split(":")[0] for s in error_sentences(analysis)] == [
        "Direct cards, grab trials", "Exclusion cards, grab trials",
        "Direct cards, shout trials", "Exclusion cards, shout trials",
    ]  # fmt: skip


def test_the_error_table_has_cells_and_totals(draw_trials):
    trials = draw_trials(
        np.random.default_rng(3), n_participants=2, n_per_cell=9, p_error=0.4,
        modes=("grab", "shout"), block_kinds=("pure", "mixed"), source="human",
    )  # fmt: skip
    table = cells_of(trials).tables["error_kinds"]
    cells, totals = table[table["row_of"] == "cell"], table[table["row_of"] == "rule"]
    assert len(cells) == 2 * 2 * 2 * len(ERROR_KINDS)
    assert len(totals) == 2 * len(ERROR_KINDS)
    assert totals[["block_kind", "mode"]].isna().all(axis=None)
    for key, total in totals.groupby(["rule", "error_kind"]):
        of_kind = cells[(cells[["rule", "error_kind"]] == list(key)).all(axis=1)]
        assert of_kind["n"].sum() == total["n"].iloc[0]
        assert of_kind["n_trials"].sum() == total["n_trials"].iloc[0] == 2 * 2 * 2 * 9


RESULT_TABLES = ("participant_cells", "group_cells", "contrasts", "error_kinds")


def test_every_table_of_results_says_who_answered(make_trials):
    rows = [
        {"participant_id": person, "source": source, "rule": rule}
        for person, source in (("a", "human"), ("b", "robot"))
        for rule in ("direct", "exclusion")
    ]
    mixed = cells_of(make_trials(rows)).tables
    assert mixed["participant_cells"]["source"].tolist() == ["human", "human", "robot", "robot"]
    for name in RESULT_TABLES[1:]:
        assert set(mixed[name]["source"]) == {"mixed"}
    alone = cells_of(make_trials(rows[2:])).tables
    for name in RESULT_TABLES:
        assert set(alone[name]["source"]) == {"robot"}


def test_results_in_words(make_trials):
    rows = [{"participant_id": p, "rt_s": 1.0} for p in "ab"]
    for person, rt in {"a": 1.5, "b": 2.0}.items():
        rows.append({"participant_id": person, "rule": "exclusion", "rt_s": rt})
    rows += [{"participant_id": "a", "error_kind": "rule_confusion"}]
    analysis = cells_of(make_trials(rows))
    assert rt_sentences(analysis) == [
        "Exclusion cards took 1.73 times as long as direct cards (95% CI [0.28, 10.77]; "
        "2 participants): 1.732 s against 1.000 s."
    ]
    assert error_sentences(analysis) == [
        "Direct cards: 1 of 3 trials wrong (33.3%), most often rule confusion "
        "(1 of 1; 50.0% by chance among wrong items).",
        "Exclusion cards: 0 of 2 trials wrong (0.0%).",
    ]


def words_on_direct(make_trials, rows, **changes):
    return error_sentences(cells_of(make_trials([r | changes for r in rows])))[0]


THREE_ITEMS = {
    "item_colours": "a:red b:green c:blue", "card": "a:red", "target": "a", "answer": "a",
}  # fmt: skip


def test_the_only_possible_kind_of_error_is_said_to_be_so(make_trials):
    rows = [{"error_kind": "rule_confusion", "response": "c"}, {}, {}]
    assert words_on_direct(make_trials, rows, **THREE_ITEMS) == (
        "Direct cards: 1 of 3 trials wrong (33.3%), most often rule confusion (1 of 1; "
        "the only kind of wrong item that these cards allow)."
    )


def test_a_most_frequent_kind_that_is_no_wrong_item_has_no_chance_share(make_trials):
    rows = [{"error_kind": "late"}] * 2 + [{"error_kind": "rule_confusion"}]
    assert words_on_direct(make_trials, rows).endswith("most often late (2 of 3).")


def test_wrong_items_are_told_apart_from_all_errors(make_trials):
    rows = [{"error_kind": "late"}] + [{"error_kind": "rule_confusion"}] * 2
    assert words_on_direct(make_trials, rows).endswith(
        "most often rule confusion (2 of 3 errors and of 2 wrong items; 50.0% by chance among "
        "wrong items)."
    )


def test_a_tie_names_both_kinds(make_trials):
    rows = [{"error_kind": "late"}, {"error_kind": "rule_confusion"}]
    assert words_on_direct(make_trials, rows).endswith(
        "most often late and rule confusion (1 of 2 each)."
    )


def test_one_is_said_in_the_singular(make_trials, tmp_path):
    result = as_result(make_trials([{"error_kind": "late"}]), tmp_path)
    assert "direct: 1 error in 1 trial: late 1" in summary_text(result)
    assert error_sentences(result.analysis)[0].startswith("Direct cards: 1 of 1 trial wrong")


def test_one_participant_gives_words_without_an_interval(make_trials):
    trials = make_trials([{"rt_s": 1.0}, {"rule": "exclusion", "rt_s": 1.5}])
    (sentence,) = rt_sentences(cells_of(trials))
    assert "1.50 times as long" in sentence
    assert "one participant, so no interval" in sentence


@pytest.mark.parametrize(
    "rows",
    [
        [{}],
        [{"error_kind": "late"}],
        [{}, {"rule": "exclusion", "error_kind": "late"}],
        [{"participant_id": "a"}, {"participant_id": "b", "rule": "exclusion"}],
        [{"mode": "grab"}, {"mode": "shout", "rule": "exclusion"}],
    ],
    ids=["one trial", "no RT", "rule without RT", "no one has both", "half-crossed"],
)
def test_hard_data_make_a_whole_report(make_trials, tmp_path, rows):
    result = as_result(make_trials(rows), tmp_path / "out", parts=WHOLE)
    write_analysis(result)
    checker = Checker()
    page = result.report.read_text(encoding="utf-8")
    checker.feed(page)
    assert checker.open == []
    assert not re.search(r">(nan|NaN|None|&lt;NA&gt;|inf)<", page)
    assert "nan" not in summary_text(result)


# --- the folder -----------------------------------------------------------------------------


def test_the_folder_holds_report_tables_figures_and_record(two_rules, tmp_path):
    result = as_result(two_rules, tmp_path / "out", parts=WHOLE)
    write_analysis(result)
    found = {p.relative_to(result.out).as_posix() for p in result.out.rglob("*") if p.is_file()}
    figures = {"rt_by_cell", "accuracy_by_cell", "error_kinds", *build_figures(result.analysis)}
    tables = {"trials", "audit", "contrasts", "planned_contrasts", *result.analysis.tables}
    latex = {name for name in found if re.fullmatch(r"tables/latex/\w+\.tex", name)}
    assert latex
    assert found - latex == {
        "report.html",
        "report.qmd",
        "analysis.json",
        "tables/tables.docx",
        "tables/tables.tex",
        *(f"tables/{name}.csv" for name in (*tables, "findings")),
        *(f"figures/{name}.{kind}" for name in figures for kind in ("svg", "pdf", "png")),
    }
    record = json.loads((result.out / "analysis.json").read_text(encoding="utf-8"))
    assert set(record["files"]) == found
    assert record["settings_sha256"] == QUICK.sha256
    assert record["contrasts"][0]["rt_ratio"] == result.analysis.contrasts["rt_ratio"].iloc[0]
    assert record["contrasts"][0]["left_out"] == []


def test_nothing_is_left_beside_the_folder(two_rules, tmp_path):
    write_analysis(as_result(two_rules, tmp_path / "out"))
    write_analysis(as_result(two_rules, tmp_path / "out"))
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_tables_hold_full_precision_and_ids_as_text(make_trials, tmp_path):
    rt_s = 0.1 + 0.2
    result = as_result(make_trials([{"participant_id": "007", "rt_s": rt_s}]), tmp_path / "out")
    write_analysis(result)
    with (result.out / "tables" / "trials.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["participant_id"] == "007"
    assert float(row["rt_s"]) == rt_s
    assert row["exclude_too_fast"] == "False"
    assert row["error_kind"] == ""


def test_the_same_analysis_gives_the_same_bytes(two_rules, tmp_path):
    for name in ("a", "b"):
        write_analysis(as_result(two_rules, tmp_path / name, parts=WHOLE))
    for path in (tmp_path / "a").rglob("*"):
        if path.is_file():
            assert (
                path.read_bytes()
                == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
            )


def test_an_earlier_analysis_is_replaced_as_a_whole(two_rules, make_trials, tmp_path):
    write_analysis(as_result(two_rules, tmp_path / "out"))
    assert (tmp_path / "out" / "figures" / "rt_by_cell.svg").exists()
    write_analysis(as_result(make_trials([{"error_kind": "late"}]), tmp_path / "out"))
    assert not (tmp_path / "out" / "figures" / "rt_by_cell.svg").exists()


def refused(tmp_path, two_rules, match):
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(DatasetError, match=match):
        write_analysis(as_result(two_rules, tmp_path / "out", path=Path("made")))
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_folder_with_anything_else_is_left_alone(two_rules, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.docx").write_bytes(b"mine")
    refused(tmp_path, two_rules, "not empty and is left as it is.*holds no earlier analysis")


def test_an_analysis_of_another_data_set_is_left_alone(two_rules, tmp_path):
    write_analysis(as_result(two_rules, tmp_path / "out", name="other", path=Path("elsewhere")))
    refused(tmp_path, two_rules, "analysis of another data set, 'other'")


def test_a_file_that_someone_added_is_not_lost(two_rules, tmp_path):
    write_analysis(as_result(two_rules, tmp_path / "out"))
    (tmp_path / "out" / "tables" / "my notes.txt").write_text("mine")
    refused(tmp_path, two_rules, "also holds tables/my notes.txt, which would be lost")


@pytest.mark.parametrize("content", ["", "[]", "null", '{"format": 1}', "{", '"x"'])
def test_a_damaged_record_is_no_earlier_analysis(two_rules, tmp_path, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "analysis.json").write_text(content)
    refused(tmp_path, two_rules, "holds no earlier analysis")


def test_a_file_in_the_place_of_the_folder_is_refused(two_rules, tmp_path):
    (tmp_path / "out").write_text("mine")
    refused(tmp_path, two_rules, "is a file")


def test_a_file_in_the_place_of_a_parent_is_refused(two_rules, tmp_path):
    (tmp_path / "parent").write_text("mine")
    with pytest.raises(DatasetError, match=r"cannot be (read|written): Not a directory"):
        write_analysis(as_result(two_rules, tmp_path / "parent" / "out"))


def test_a_full_disk_leaves_the_earlier_analysis_and_no_rest(two_rules, tmp_path, monkeypatch):
    write_analysis(as_result(two_rules, tmp_path / "out"))

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ghostblitz_analysis.pipeline.render_report", no_space)
    refused(tmp_path, two_rules, "cannot be written: No space left on device; nothing there")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_filled_and_parents_are_made(two_rules, tmp_path):
    (tmp_path / "empty").mkdir()
    write_analysis(as_result(two_rules, tmp_path / "empty"))
    write_analysis(as_result(two_rules, tmp_path / "deep" / "down"))
    assert (tmp_path / "empty" / "report.html").exists()
    assert (tmp_path / "deep" / "down" / "report.html").exists()


def test_a_data_set_that_is_not_there_leaves_no_folder(tmp_path):
    with pytest.raises(DatasetError, match="does not exist"):
        analyze_dataset(tmp_path / "nowhere", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# --- numbers as text ------------------------------------------------------------------------


def test_halves_are_rounded_up_as_people_do():
    assert proportion(1510 / 1600, 4) == ".9438"
    assert percent(1510 / 1600, 2) == "94.38"
    assert number(0.0005, 3) == "0.001"
    assert number(-2.5, 0) == "-3"


def test_missing_numbers_are_dashes():
    missing = [number(None, 2), number(pd.NA, 2), number(float("nan"), 2), interval(1, None, 2)]
    assert missing == ["–"] * 4
    assert (p_value(pd.NA), proportion(None, 3), percent(pd.NA)) == ("–", "–", "–")


def test_p_values_have_three_decimals_or_a_bound():
    assert [p_value(p) for p in (0.0009999, 0.001, 0.0123, 1.0)] == [
        "< .001",
        ".001",
        ".012",
        "1.000",
    ]


# --- hats and further rules --------------------------------------------------------------------


def hat_rows(make_hat_row, n_people=2):
    for person in range(n_people):
        for kind in ("plain", "hat_grab", "hat_call"):
            for lag, rule in enumerate(("direct", "exclusion") * 2):
                who = {"participant_id": f"p{person}", "source": "simulated"}
                yield make_hat_row(kind, rule, lag=lag, rt_s=0.5 + 0.1 * person + 0.2 * lag) | who


def words_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_sections_on_hat_and_rules_are_there_only_where_data_have_them(
    make_trials, make_hat_row, two_rules, tmp_path
):
    plain = page_of(as_result(two_rules, tmp_path))
    assert 'id="hat"' not in plain
    assert 'id="rules"' not in plain
    hat = page_of(as_result(make_trials(hat_rows(make_hat_row)), tmp_path, parts=WHOLE), draw=True)
    assert 'id="hat"' in hat
    assert 'href="#hat"' in hat
    assert 'id="rules"' not in hat
    checker = Checker()
    checker.feed(hat)
    assert checker.open == []
    assert {link[1:] for link in checker.links} <= set(checker.ids)
    assert len(checker.ids) == len(set(checker.ids))


def test_the_hat_section_says_that_calls_and_mode_cannot_be_told_apart(
    make_trials, make_hat_row, tmp_path
):
    words = words_of(page_of(as_result(make_trials(hat_rows(make_hat_row)), tmp_path)))
    assert "the kind of card and the mode cannot be told apart for calls" in words
    assert "a lag is not assigned at random" in words
    assert "SIMULATED DATA" in words


def test_without_known_moves_the_report_says_so(make_trials, make_hat_row, tmp_path):
    rows = [row | {"trials_since_hat_move": None} for row in hat_rows(make_hat_row)]
    words = words_of(page_of(as_result(make_trials(rows), tmp_path), draw=True))
    assert "These data do not say when the hat moved, so there are no lags." in words


def test_one_participant_with_a_hat_makes_a_whole_report(make_trials, make_hat_row, tmp_path):
    wrong = make_hat_row("hat_grab", error_kind="under_hat", participant_id="p0")
    rows = [*hat_rows(make_hat_row, 1), wrong]
    page = page_of(as_result(make_trials(rows), tmp_path), draw=True)
    assert "nan" not in words_of(page).lower().split()
    assert "one participant gives no interval" in page


def test_hat_costs_are_said_in_words(make_trials, make_hat_row):
    rows = []
    for person, ratio in (("a", 1.5), ("b", 6.0)):
        rows += [make_hat_row("plain", rt_s=0.5, participant_id=person)] * 2
        rows += [make_hat_row("hat_grab", rt_s=0.5 * ratio, participant_id=person)]
        rows += [make_hat_row("hat_grab", error_kind="under_hat", participant_id=person)]
    (sentence,) = hat_sentences(cells_of(make_trials(rows)))
    assert sentence.startswith(
        "Direct cards whose target was under the hat took 3.00 times as long as plain ones (95% CI"
    )
    assert sentence.endswith("2 participants), with 50.0 percentage points more errors.")


def test_tables_and_record_of_a_hat_are_written_and_labelled(make_trials, make_hat_row, tmp_path):
    result = as_result(make_trials(hat_rows(make_hat_row)), tmp_path / "out")
    write_analysis(result)
    for name in ("participant_cells", "group_cells", "costs", "error_kinds", "participant_lags",
                 "lags"):  # fmt: skip
        table = pd.read_csv(tmp_path / "out" / "tables" / f"hat_{name}.csv")
        assert len(table)
        assert (table["source"] == "simulated").all()
    for name in ("hat_rt", "hat_lag"):
        assert (tmp_path / "out" / "figures" / f"{name}.pdf").is_file()
    record = json.loads((tmp_path / "out" / "analysis.json").read_text(encoding="utf-8"))
    assert {row["lag"] for row in record["hat"]["lags"]} == {"0", "1", "2", "3+"}
    assert record["hat"]["costs"][0]["left_out"] == []
    assert record["rule_misses"] is None


MIRROR_OF_FIVE = {
    "game": "five-to-twelve", "rules": "mirror", "rule": "mirror", "mode": "grab",
    "item_colours": "bat:black hat:black key:green mirror:green flashlight:blue clock:blue "
    "vial:red owl:red ghost:white",
    "card": "hat:white mirror:red(bat:blue)", "target": "bat", "answer": "bat",
}  # fmt: skip
DIRECT_OF_FIVE = MIRROR_OF_FIVE | {
    "rule": "direct", "card": "bat:black key:red vial:blue", "rt_s": 0.5,
}  # fmt: skip
TIME_OF_FIVE = MIRROR_OF_FIVE | {
    "rule": "time", "mode": "shout", "card": "ghost:red clock:green@11:55 bat:blue",
    "target": None, "answer": "11:55", "answer_kind": "time",
}  # fmt: skip
OWL_OF_FIVE = MIRROR_OF_FIVE | {
    "rule": "mirror-owl", "mode": "shout", "card": "owl:white mirror:red(bat:blue)",
    "answer": "blue", "answer_kind": "colour", "rules": "mirror mirror-owl",
}  # fmt: skip


def further_rows():
    exclusion = DIRECT_OF_FIVE | {
        "rule": "exclusion", "card": "bat:blue flashlight:green ghost:red", "target": "hat",
        "answer": "hat", "rt_s": 1.0,
    }  # fmt: skip
    for person in ("a", "b"):
        for row in (DIRECT_OF_FIVE, exclusion, MIRROR_OF_FIVE, TIME_OF_FIVE, OWL_OF_FIVE):
            yield row | {"participant_id": person}
        yield MIRROR_OF_FIVE | {"participant_id": person, "error_kind": "rule_missed"}


def test_further_rules_have_a_section_and_examples(make_trials, tmp_path):
    page = page_of(as_result(make_trials(further_rows()), tmp_path), draw=True)
    words = words_of(page)
    assert 'id="rules"' in page
    assert "mirror-owl, mirror, time" in words
    assert "shout 11:55" in words
    assert "shout blue" in words
    assert "Exclusion against direct is the planned contrast" in words
    assert "Answers that are colours or times have no items as alternatives" in words
    for rule in ("Direct", "Exclusion", "Mirror", "Mirror-owl", "Time"):
        assert f"<strong>{rule}</strong>" in page
    assert 'id="hat"' not in page


def test_only_exclusion_has_a_sentence_of_its_own(make_trials):
    sentences = rt_sentences(cells_of(make_trials(further_rows())))
    assert len(sentences) == 2
    assert sentences[0].startswith("In grab trials, exclusion cards took 2.00 times as long")
    assert sentences[1] == (
        "Further rules against direct, as ratios of RTs: mirror 1.60 in grab trials [1.60, 1.60]."
    )


def test_many_groups_share_a_sentence_on_errors_per_mode(make_trials):
    sentences = error_sentences(cells_of(make_trials(further_rows())))
    assert sentences == [
        "Wrong in grab trials: direct 0.0% (0 of 2), exclusion 0.0% (0 of 2), mirror 50.0% (2 of "
        "4).",
        "Wrong in shout trials: mirror-owl 0.0% (0 of 2), time 0.0% (0 of 2).",
    ]


def test_error_tables_hold_two_rules_each_and_only_kinds_that_are_possible(make_trials, tmp_path):
    analysis = cells_of(make_trials(further_rows()))
    tables = errors_tables(analysis)
    assert [[name for name, _ in table.groups[1:]] for table in tables] == [
        ["direct cards, grab trials", "exclusion cards, grab trials"],
        ["mirror cards, grab trials"],
        ["mirror-owl cards, shout trials", "time cards, shout trials"],
    ]
    kinds = [[row[0] for row in table.rows] for table in tables]
    assert "rule missed" in kinds[1]
    assert "rule missed" not in kinds[0]
    assert kinds[2] == ["all errors"]
    assert "chance share (%)" not in tables[2].header
    assert all(len(row) == len(table.header) for table in tables for row in table.rows)
    assert all(sum(n for _, n in table.groups) == len(table.header) for table in tables)


# --- playing for the cards ---------------------------------------------------------------------

_ROUND = {
    "recycled": False, "round_outcome": "won", "took_card": True, "gave_card": False,
    "tied": False, "n_cards_won": 1, "n_players": 1,
}  # fmt: skip
_RIVAL = {"rival_kind": "model", "rival_rt_s": 0.9, "rival_correct": True, "rival_took_card": False}


def rounds_of(make_trials, **more):
    return make_trials(
        _ROUND | more | {"rule": rule, "participant_id": person, "rt_s": 0.5 + 0.1 * n}
        for rule in ("direct", "exclusion")
        for person in ("p1", "p2")
        for n in range(3)
    )


def test_page_on_data_without_cards_to_win_says_nothing_of_them(two_rules, tmp_path):
    result = as_result(two_rules, tmp_path)
    page = page_of(result, draw=True)
    assert 'id="company"' not in page
    assert "came again" not in page.replace("a card that had been seen and came again", "")
    assert "company_rounds" not in build_figures(result.analysis)


def test_page_on_cards_alone_says_that_nobody_was_faster(make_trials, tmp_path):
    page = page_of(as_result(rounds_of(make_trials), tmp_path), draw=True)
    checker = Checker()
    checker.feed(page)
    assert "company" in checker.ids
    assert "#company" in checker.links
    assert "nobody else played here" in page
    assert "not cut short by others" in page
    assert "simulated rival" not in page


def test_page_says_that_people_played_against_a_simulated_rival(make_trials, tmp_path):
    trials = rounds_of(make_trials, **_RIVAL)
    page = page_of(as_result(trials, tmp_path), draw=True)
    assert "The rival was <strong>simulated</strong>: a model with RTs" in page
    assert "The participants' data are those of people, with a simulated opponent" in page
    # They are no simulated data.
    assert "SIMULATED DATA" not in page
    assert "RTs against the rival's" in page
    assert "simulated rival" in figure_svg_texts(trials)


def figure_svg_texts(trials):
    figure = build_figures(cells_of(trials))["company_rounds"]
    return " ".join(label.get_text() for label in figure.axes[0].get_yticklabels())


def test_page_says_that_those_who_play_together_depend_on_each_other(make_trials, tmp_path):
    page = page_of(as_result(rounds_of(make_trials, n_players=2), tmp_path))
    assert "not independent" in page
    assert "nobody else played here" not in page


def test_figure_of_rounds_has_a_bar_per_rule_and_for_the_rival(make_trials):
    alone = build_figures(cells_of(rounds_of(make_trials)))["company_rounds"]
    labels = [label.get_text() for label in alone.axes[0].get_yticklabels()]
    assert labels == ["direct\n6 rounds", "exclusion\n6 rounds"]
    trials = rounds_of(make_trials, **_RIVAL)
    ax = build_figures(cells_of(trials))["company_rounds"].axes[0]
    widths = [[bar.get_width() for bar in part] for part in ax.containers]
    # The participants took all cards; the rival was right and too late.
    assert widths == [[100, 0, 100, 0], [0, 100, 0, 100], [0] * 4, [0] * 4]


def test_run_of_several_is_named_by_all_and_counts_its_planned_trials(make_trials, tmp_path):
    run = a_run(others=("p2",), n_trials=5, n_trials_planned=4, n_recycled=1)
    (row,) = runs_table(as_result(rounds_of(make_trials), tmp_path, runs=[run])).rows
    assert row[0] == "p1 with p2"
    assert row[6] == "4 of 4 + 1"
    plain = a_run(n_trials=2)
    (row,) = runs_table(as_result(rounds_of(make_trials), tmp_path, runs=[plain])).rows
    assert (row[0], row[6]) == ("p1", "2 of 2")


def test_numbers_of_the_rounds_are_in_the_record_and_the_tables(make_trials, tmp_path):
    out = tmp_path / "out"
    result = as_result(rounds_of(make_trials, **_RIVAL), out, path=tmp_path)
    write_analysis(result)
    record = json.loads((out / "analysis.json").read_text(encoding="utf-8"))
    assert record["company"]["rival_kinds"] == ["model"]
    assert [row["n_took"] for row in record["company"]["participants"]] == [6, 6]
    assert [row["rule"] for row in record["company"]["rival"]] == ["direct", "exclusion"]
    with open(out / "tables" / "company_participants.csv", encoding="utf-8") as file:
        assert [row["n_rounds"] for row in csv.DictReader(file)] == ["6", "6"]
    assert "The cards\n  The participants took the card in 100.0%" in summary_text(result)
