"""The page of a self-test, and what the report on a data set says of those that stand with it."""

from __future__ import annotations

import dataclasses
import json
import re
from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from timing_figures import GOOD, GOOD_FLIPS, GOOD_INJECTION, with_apparatus

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.self_test_quotes import SelfTestQuote, quoted_self_test
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.timing_plots import (
    plot_disk_times,
    plot_draw_times,
    plot_flip_histogram,
    plot_rt_errors,
)
from ghostblitz_analysis.timing_report import (
    render_timing_page,
    timing_figures,
    write_timing_page,
)
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.studies import open_study, simulate_study
from ghostblitz_task.timing.checks import check_all
from ghostblitz_task.timing.record import read_record, timing_folder, write_record
from ghostblitz_task.timing.self_test import SelfTestRequest, self_test_document
from ghostblitz_task.trial_log import file_sha256
from tests.analysis.test_report import Checker, a_run, as_result, page_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_figures")]

STUDY = Path(__file__).parents[2] / "experiments" / "classic-grab"
STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def write_test(dataset: Path, measured=GOOD, *, stamp="20260102T030405Z") -> Path:
    document = self_test_document(
        measured,
        check_all(measured),
        study=open_study(STUDY),
        settings=ApparatusSettings(),
        request=SelfTestRequest(),
        started=STARTED,
    )
    return write_record(timing_folder(dataset), document, stamp=stamp)


def quote_of(path: Path, **changes) -> SelfTestQuote:
    known = {"file": path.name, "sha256": file_sha256(path), "verdict": "pass"}
    return SelfTestQuote(**known | {"started_utc": STARTED.isoformat()} | changes)


def ax():
    return Figure().subplots()


# --- the page ------------------------------------------------------------------------------------


def test_page_is_sound_html_that_loads_nothing(tmp_path):
    page = write_timing_page(write_test(tmp_path)).read_text()
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not {"script", "link", "iframe", "img"} & checker.tags
    assert not re.search(r"""(?:src|href)=["']https?:""", page)


def test_page_gives_every_check_the_advice_and_the_paragraph(tmp_path):
    path = write_test(tmp_path, with_apparatus(display_synchronised=False))
    record = read_record(path)
    page = render_timing_page(record, {})
    assert record["checks"]
    for check in record["checks"]:
        assert check["name"] in page
        if check["verdict"] in ("warn", "fail"):
            assert check["advice"] in page
    assert "Neither the lag of the display" in page
    assert '<span class="verdict fail">fail</span></h1>' in page


def test_text_of_the_record_is_escaped(tmp_path):
    record = read_record(write_test(tmp_path))
    page = render_timing_page(record | {"study_id": "<script>x</script>"}, {})
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_plots_are_whole_files_and_the_same_each_time(tmp_path):
    path = write_test(tmp_path)
    page = write_timing_page(path)
    folder = path.parent
    plots = sorted(p for p in folder.iterdir() if p.suffix in (".svg", ".png"))
    assert [p.name.removeprefix(f"{path.stem}-") for p in plots] == [
        f"{name}.{kind}" for name in ("disk", "drawing", "flips", "rt-error")
        for kind in ("png", "svg")
    ]  # fmt: skip
    for plot in plots:
        if plot.suffix == ".svg":
            ElementTree.fromstring(plot.read_text())
        else:
            assert plot.read_bytes()[:4] == b"\x89PNG"
    before = {p: p.read_bytes() for p in [*plots, page, path]}
    write_timing_page(path)
    assert {p: p.read_bytes() for p in folder.iterdir()} == before


def test_without_injected_keys_there_is_a_reason_instead_of_a_plot(tmp_path):
    measured = dataclasses.replace(GOOD, injection="there is no X server")
    record = read_record(write_test(tmp_path, measured))
    assert "rt-error" not in timing_figures(record)
    assert "there is no X server" in render_timing_page(record, {})


@pytest.mark.parametrize("name", ["flips", "draw", "disk"])
def test_record_without_figures_is_one_clear_error(tmp_path, name):
    path = write_test(tmp_path)
    record = json.loads(path.read_text())
    record["measured"][name] = {"refresh_hz": 60.0} if name == "flips" else {}
    path.write_text(json.dumps(record))
    with pytest.raises(DatasetError, match="cannot be drawn"):
        write_timing_page(path)
    assert list(path.parent.iterdir()) == [path]


def test_page_that_cannot_be_written_is_one_clear_error(tmp_path):
    path = write_test(tmp_path)
    path.with_suffix(".html").mkdir()
    with pytest.raises(DatasetError, match="cannot be written"):
        write_timing_page(path)
    assert not [p for p in path.parent.iterdir() if p.name.startswith(".")]


# --- the plots -----------------------------------------------------------------------------------


def test_histogram_draws_each_count_as_a_bar():
    flips = dataclasses.asdict(
        dataclasses.replace(
            GOOD_FLIPS, histogram_edges_s=(0, 0.01, 0.02, 0.03), histogram_counts=(1, 3598, 2)
        )
    )
    drawn = plot_flip_histogram(flips, ax())
    assert [bar.get_height() for bar in drawn.patches] == [1, 3598, 2]
    assert drawn.get_ylim()[0] < 1  # A single interval is seen.


def test_drawing_is_shown_card_by_card_from_the_quickest():
    cards = {name: {"median_s": m, "p95_s": 2 * m} for name, m in (("a", 0.003), ("b", 0.001))}
    drawn = plot_draw_times({"cards": cards}, ax(), frame_s=0.02)
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), [1.0, 3.0])
    np.testing.assert_allclose(drawn.lines[1].get_ydata(), [2.0, 6.0])
    np.testing.assert_allclose(drawn.lines[2].get_ydata(), [10.0, 10.0])


def test_disk_curve_reaches_all_writes_at_the_longest():
    disk = {"times_s": [0.003, 0.001, 0.002], "pause_s": None, "n_bytes": 1300}
    x, y = plot_disk_times(disk, ax()).lines[0].get_data()
    np.testing.assert_allclose(x, [1, 2, 3])
    assert y[-1] == 100


def test_rt_errors_are_drawn_each_with_their_mean():
    drawn = plot_rt_errors({"rt_error_s": [0.001, -0.002, 0.004]}, ax())
    np.testing.assert_allclose(drawn.lines[-1].get_ydata(), [1.0, -2.0, 4.0])
    np.testing.assert_allclose(drawn.lines[0].get_ydata(), [1.0, 1.0])


# --- what logs quote -----------------------------------------------------------------------------


def test_logs_from_before_there_were_tests_quote_none():
    assert quoted_self_test({}, "log") is None
    assert quoted_self_test({"timing_self_test": None}, "log") is None


@pytest.mark.parametrize(
    "quote",
    ["text", [], {}, {"file": 1}, {"file": "f", "sha256": "s", "verdict": "pass"}],
)
def test_damaged_quote_is_refused(quote):
    with pytest.raises(DatasetError, match="timing_self_test"):
        quoted_self_test({"timing_self_test": quote}, "log, line 1 (header)")


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "splendid"},
        *({"refresh_hz": rate} for rate in ("60", True, 0, -60.0, 10**400, float("nan"), None)),
    ],
)
def test_quote_with_no_verdict_or_rate_is_refused(change):
    quote = {
        "file": "f", "sha256": "s", "verdict": "pass", "started_utc": "2026-01-02T03:04:05+00:00",
        "refresh_hz": 60.0,
    }  # fmt: skip
    assert quoted_self_test({"timing_self_test": quote}, "log").verdict == "pass"
    (name,) = change
    with pytest.raises(DatasetError, match=f"timing_self_test: {name}"):
        quoted_self_test({"timing_self_test": quote | change}, "log, line 1 (header)")


def test_runs_are_counted_with_the_test_that_they_quote(tmp_path):
    path = write_test(tmp_path)
    newer = write_test(tmp_path, stamp="20260103T030405Z")
    runs = [a_run(self_test=quote_of(path)), a_run(self_test=quote_of(newer)), a_run()]
    # The two records have the same content, as only their names tell.
    newer.write_text(newer.read_text() + "\n")
    runs[1] = a_run(self_test=quote_of(newer))
    part = self_test_part(tmp_path, runs)
    assert [(test.file, test.n_runs) for test in part.tests] == [(path.name, 1), (newer.name, 1)]
    assert (part.n_runs, part.n_without, part.notes) == (3, 1, ())


def test_simulated_runs_need_no_test(tmp_path):
    part = self_test_part(tmp_path, [a_run(source="simulated")])
    assert not part.is_told


def test_record_that_was_changed_or_is_gone_is_told(tmp_path):
    path = write_test(tmp_path)
    runs = [a_run(self_test=quote_of(path)), a_run(self_test=quote_of(path))]
    path.write_text(path.read_text() + "\n")
    (note,) = self_test_part(tmp_path, runs).notes
    assert note.startswith(f"2 runs quote {path.name}, which is not in timing/ as it was")
    path.unlink()
    (note,) = self_test_part(tmp_path, runs[:1]).notes
    assert note.startswith("1 run quotes")


def test_damaged_record_is_told_and_stops_nothing(tmp_path):
    path = write_test(tmp_path)
    path.write_text("{")
    part = self_test_part(tmp_path, [])
    assert part.tests == ()
    assert part.notes[0].startswith(f"{path.name} cannot be quoted")


def test_note_on_a_damaged_record_names_what_is_wrong_and_no_folder(tmp_path):
    path = write_test(tmp_path)
    record = json.loads(path.read_text())
    for change, reason in (
        ({"checks": [{"name": "x"}]}, "check 1 of 1: its verdict is missing, or no text"),
        ({"verdict": "splendid"}, "verdict is none of pass, warn, fail"),
        ({"format": "else"}, "it is no record of a self-test: it does not say ghostblitz-timing"),
    ):
        path.write_text(json.dumps(record | change))
        part = self_test_part(tmp_path, [])
        assert part.notes == (f"{path.name} cannot be quoted: {reason}",)
        assert part.n_damaged == 1


@pytest.mark.parametrize("where", [".", "logs", "logs/one.jsonl"])
def test_tests_are_found_from_the_folder_its_logs_or_one_log(tmp_path, where):
    write_test(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "one.jsonl").write_text("")
    assert len(self_test_part(tmp_path / where, []).tests) == 1


# --- the report on a data set --------------------------------------------------------------------


def test_report_quotes_verdict_figures_troubles_and_paragraph(tmp_path, draw_trials):
    trials = draw_trials(
        np.random.default_rng(1), n_participants=2, n_per_cell=4, p_error=0.1, source="human"
    )
    measured = dataclasses.replace(
        GOOD, injection=dataclasses.replace(GOOD_INJECTION, n_lost=1, n_logged=119)
    )
    path = write_test(tmp_path, measured)
    runs = [a_run(self_test=quote_of(path)), a_run(run=2)]
    page = page_of(as_result(trials, tmp_path, runs=runs, path=tmp_path))
    text = " ".join(re.sub(r"<[^>]+>", "", page).split())
    for part in (
        "The self-test of 2026-01-02 03:04 UTC failed; 1 run quotes it",
        "key events kept (fail): 1 lost",
        "refresh rate 60.00 Hz over 60 s",
        "1 were lost",
        "1 of 2 runs at a screen quote no self-test",
    ):
        assert part in text


def test_report_says_where_there_is_no_test(tmp_path, draw_trials):
    rng = np.random.default_rng(1)
    trials = draw_trials(rng, n_participants=2, n_per_cell=4, p_error=0.1, source="human")
    page = page_of(as_result(trials, tmp_path, runs=[a_run()], path=tmp_path))
    assert "no timing self-test" in page
    assert "no timing self-test" not in page_of(as_result(trials, tmp_path, path=tmp_path))
    write_test(tmp_path).write_text("{")
    page = page_of(as_result(trials, tmp_path, runs=[a_run()], path=tmp_path))
    assert "no timing self-test" not in page
    assert "cannot be quoted" in page


@pytest.mark.parametrize("study", ["classic-grab", "captain-static"])
def test_simulated_data_say_nothing_of_tests_unless_there_is_one(tmp_path, study):
    from ghostblitz_task.cli import main

    dataset = tmp_path / "data"
    simulate_study(open_study(STUDY.parent / study), dataset, n_participants=1, seed=1)
    for log in (dataset / "logs").glob("*.jsonl"):
        assert json.loads(log.read_text().splitlines()[0])["timing_self_test"] is None
    for expected in (False, True):
        out = tmp_path / f"out-{expected}"
        with pytest.raises(SystemExit) as ended:
            main(["analyze", str(dataset), "--out", str(out)])
        assert not ended.value.code
        assert ('id="self-tests"' in (out / "report.html").read_text()) is expected
        found = json.loads((out / "analysis.json").read_text())["dataset"]["timing_self_tests"]
        assert len(found) == expected
        write_test(dataset)


def test_self_tests_are_no_logs(tmp_path):
    simulate_study(open_study(STUDY), tmp_path / "data", n_participants=1, seed=1)
    write_timing_page(write_test(tmp_path / "data"))
    assert len(load_dataset(tmp_path / "data").runs) == 1
    analyze_dataset(tmp_path / "data", out=tmp_path / "out")
