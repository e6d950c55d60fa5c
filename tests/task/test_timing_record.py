"""The record of a self-test, who may quote it, and the paragraph that says what was measured."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import rich.progress  # noqa: F401 - commands import it late, and it draws random numbers
from scripted_apparatus import ScriptedApparatus
from timing_figures import GOOD, GOOD_APPARATUS, with_apparatus, with_injection

from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.cli import main
from ghostblitz_task.errors import DatasetError, LogError
from ghostblitz_task.screens import Screen
from ghostblitz_task.studies import open_study
from ghostblitz_task.timing.machine import machine_fingerprint, machine_id
from ghostblitz_task.timing.methods import methods_paragraph
from ghostblitz_task.timing.record import (
    find_self_test,
    read_record,
    self_test_files,
    timing_folder,
    write_record,
)
from ghostblitz_task.timing.self_test import SelfTestRequest, run_self_test

STUDY = Path(__file__).parents[2] / "experiments" / "classic-grab"
SOFTWARE = {"ghostblitz": "0.1.0", "python": "3.11.7", "psychopy": "2026.2.5"}


class TimedApparatus(ScriptedApparatus):
    """A scripted apparatus with a clock that ticks at each reading."""

    n_reads = 0

    def describe(self):
        return GOOD_APPARATUS

    def now_s(self) -> float:
        self.n_reads += 1
        return self.n_reads * 1e-6

    def drawing_s(self, screen: Screen) -> float:
        return 0.001


def make_self_test(dataset: Path, *, seconds: float = 1.0, study: Path = STUDY, **settings):
    return run_self_test(
        open_study(study),
        dataset,
        settings=ApparatusSettings(**settings),
        request=SelfTestRequest(seconds=seconds, n_taps=0),
        open_apparatus=TimedApparatus,
    )


def quoted(dataset: Path, *, study_id: str = "classic-grab", about=GOOD_APPARATUS, **settings):
    return find_self_test(dataset, study_id, about, ApparatusSettings(**settings))


# --- the record ----------------------------------------------------------------------------------


def test_record_holds_what_was_measured_and_names_nobody(tmp_path):
    test = make_self_test(tmp_path)
    record = read_record(test.path)
    assert test.path.parent == tmp_path / "timing"
    assert record["study_id"] == "classic-grab"
    assert record["settings_sha256"] == open_study(STUDY).settings.sha256
    assert record["measured"]["flips"]["n_intervals"] in (60, 61)
    assert record["measured"]["injection"] is None
    assert "--no-keys" in record["measured"]["injection_not_measured"]
    assert record["verdict"] == test.verdict == "warn"  # 60 frames are too few.
    text = test.path.read_text()
    own = {os.uname().nodename, str(Path.home()), str(tmp_path), machine_id()} - {""}
    assert not [name for name in own if name in text]


def test_second_test_of_the_same_second_is_another_file(tmp_path):
    folder = timing_folder(tmp_path)
    first = write_record(folder, {"n": 1}, stamp="20260101T000000Z")
    second = write_record(folder, {"n": 2}, stamp="20260101T000000Z")
    assert first != second
    assert json.loads(first.read_text()) == {"n": 1}
    assert json.loads(second.read_text()) == {"n": 2}
    assert sorted(folder.iterdir()) == sorted([first, second])


def test_record_that_cannot_be_written_whole_leaves_nothing(tmp_path):
    folder = timing_folder(tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        write_record(folder, {"n": float("nan")}, stamp="20260101T000000Z")
    assert list(folder.iterdir()) == []


def test_stopped_test_leaves_no_record(tmp_path):
    with pytest.raises(Exception, match="SIGTERM"):
        run_self_test(
            open_study(STUDY),
            tmp_path,
            settings=ApparatusSettings(),
            request=SelfTestRequest(seconds=1, n_taps=0),
            open_apparatus=TimedApparatus,
            stop_requested=lambda: "SIGTERM",
        )
    assert self_test_files(tmp_path) == []


GOOD_CHECK = {"name": "x", "verdict": "pass", "value": "", "reason": "", "advice": ""}
NO_RATES = [
    *((rate, "refresh_hz is missing, or no rate") for rate in ("60", [60], None, True, 0, -60)),
    *((rate, "refresh_hz is missing, or no rate") for rate in (10**400, 1e6)),
    *((float(name), "is no number in JSON") for name in ("nan", "inf", "-inf")),
]


def with_value(*names_and_value: object):
    """Return what puts a value into the text of a record, at its place."""
    *names, last, value = names_and_value

    def change(text: str) -> str:
        record = place = json.loads(text)
        for name in names:
            place = place[name]
        place[last] = value
        return json.dumps(record)

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda text: text[: len(text) // 2], "no record of a self-test"),
        (lambda text: "", "no record of a self-test"),
        (lambda text: "[]", "does not say ghostblitz-timing"),
        (lambda text: text.replace("ghostblitz-timing", "else"), "does not say"),
        (lambda text: text.replace('"format_version": 1', '"format_version": 2'), "newer"),
        (lambda text: text.replace('"methods"', '"method"'), "methods is missing"),
        (lambda text: text.replace('"refresh_hz"', '"rate"'), "refresh_hz is missing"),
        (lambda text: text.replace('"verdict": "warn"', '"verdict": 1', 1), "verdict"),
        (with_value("verdict", "splendid"), "verdict is none of pass, warn, fail"),
        (with_value("started_utc", "yesterday"), "started_utc is no time"),
        (with_value("started_utc", "\ud800"), "surrogates not allowed"),
        (with_value("format_version", True), "format_version is missing"),
        (with_value("format_version", 0), "format_version is missing"),
        (with_value("checks", [1]), "check 1 of 1 is no table"),
        (with_value("checks", [{"name": "x"}]), "check 1 of 1: its verdict is missing"),
        (with_value("checks", [GOOD_CHECK | {"verdict": "so-so"}]), "its verdict is none of"),
        (with_value("checks", [GOOD_CHECK | {"value": 1}]), "its value is missing, or no text"),
        *((with_value("apparatus", "refresh_hz", r), match) for r, match in NO_RATES),
        *((with_value("measured", "flips", "refresh_hz", r), match) for r, match in NO_RATES),
    ],
)
def test_damaged_record_is_refused_and_never_quoted(tmp_path, change, match):
    test = make_self_test(tmp_path)
    assert quoted(tmp_path) is not None
    text = test.path.read_text()
    test.path.write_text(change(text))
    assert test.path.read_text() != text
    with pytest.raises(DatasetError, match=match):
        read_record(test.path)
    assert quoted(tmp_path) is None


def test_dataset_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "timing").write_text("in the way")
    with pytest.raises(LogError, match="timing cannot be written"):
        make_self_test(tmp_path)


# --- quoting -------------------------------------------------------------------------------------


def test_quote_names_the_file_its_sum_verdict_and_rate(tmp_path):
    test = make_self_test(tmp_path)
    quote = quoted(tmp_path)
    assert dataclasses.asdict(quote) == {
        "file": test.path.name,
        "sha256": hashlib.sha256(test.path.read_bytes()).hexdigest(),
        "verdict": "warn",
        "started_utc": test.document["started_utc"],
        "refresh_hz": pytest.approx(60.0),
    }


def test_newest_of_several_is_quoted(tmp_path):
    test = make_self_test(tmp_path)
    folder = test.path.parent
    older = write_record(folder, test.document | {"verdict": "fail"}, stamp="20200101T000000Z")
    newer = write_record(folder, test.document | {"verdict": "pass"}, stamp="20990101T000000Z")
    assert older < test.path < newer
    assert quoted(tmp_path).file == newer.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"fullscreen": False},
        {"viewing_distance_cm": 70.0},
        {"study_id": "another"},
        {"about": GOOD_APPARATUS | {"gl_renderer": "another card"}},
        {"about": GOOD_APPARATUS | {"window_px": [1280, 720]}},
    ],
)
def test_other_settings_screen_or_graphics_have_no_test(tmp_path, other):
    make_self_test(tmp_path)
    assert quoted(tmp_path) is not None
    assert quoted(tmp_path, **other) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "now",
    [
        {"display_synchronised": False},
        {"refresh_hz": 144.0},
        {"compositor": "a desktop's"},
        {"psychopy": "2027.1.0"},
    ],
)
def test_display_that_is_no_longer_what_it_was_has_no_test(tmp_path, now):
    make_self_test(tmp_path)
    assert quoted(tmp_path, about=GOOD_APPARATUS | {"refresh_hz": 60.02}) is not None
    assert quoted(tmp_path, about=GOOD_APPARATUS | now) is None


def test_tests_of_one_second_are_in_order_of_their_numbers(tmp_path):
    folder = timing_folder(tmp_path)
    stamp, later = "20261130T100000Z", "20261130T100001Z"
    names = [f"timing-{stamp}.json", *(f"timing-{stamp}-{n}.json" for n in range(2, 12))]
    names.append(f"timing-{later}.json")
    for name in reversed(names):
        (folder / name).write_text("{}")
    assert [path.name for path in self_test_files(tmp_path)] == names


def test_no_data_set_has_no_test(tmp_path):
    assert quoted(tmp_path / "nowhere") is None


def test_fingerprint_differs_between_machines_and_between_studies():
    prints = {
        machine_fingerprint(study, GOOD_APPARATUS, machine=machine)
        for study in ("a", "b")
        for machine in ("1", "2")
    }
    assert len(prints) == 4
    assert machine_fingerprint("a", GOOD_APPARATUS) == machine_fingerprint("a", GOOD_APPARATUS)


# --- the paragraph -------------------------------------------------------------------------------


def paragraph(measured=GOOD, *, keys_asked: bool = True) -> str:
    return methods_paragraph(
        measured, software=SOFTWARE, started_utc="2026-01-02T03:04:05+00:00", keys_asked=keys_asked
    )


def test_paragraph_gives_versions_display_and_counts():
    text = paragraph()
    for part in (
        "ghostblitz 0.1.0 (Python 3.11.7, PsychoPy 2026.2.5)",
        "the whole screen of 1920 by 1080 pixels",
        "on 2026-01-02",
        "3,600 intervals",
        "60.00 Hz",
        "0 of them were longer than 1.5 frames",
        "ptb backend; time from the psychtoolbox event thread",
        "Of 120 key events",
        "n = 30",
    ):
        assert part in text


@pytest.mark.parametrize(
    "measured",
    [
        GOOD,
        with_apparatus(display_synchronised=False),
        with_apparatus(keys_polled=True),
        dataclasses.replace(GOOD, injection="no"),
    ],
)
def test_paragraph_always_says_that_lag_and_latency_are_unknown_and_in_each_rt(measured):
    text = paragraph(measured)
    assert "Neither the lag of the display nor the latency of the keyboard was measured" in text
    assert "part of every reported RT" in text


def test_unsynchronised_display_is_never_said_to_have_shown_a_card_in_time():
    text = paragraph(with_apparatus(display_synchronised=False))
    assert "did not wait for the refresh" in text
    assert "were seen to wait" not in text
    assert "did not wait" not in paragraph()


def test_rate_that_software_keeps_is_not_said_to_count_frames():
    paced = paragraph(with_apparatus(pacing="software", display_synchronised=False))
    assert "60.00 Hz (flips divided by time)" in paced
    assert "frames it took" not in paced
    assert "60.00 Hz (an interval counts as the frames it took)" in paragraph()


def test_keys_that_were_not_injected_are_not_spoken_of_as_tested():
    for text in (
        paragraph(dataclasses.replace(GOOD, injection="no"), keys_asked=False),
        paragraph(dataclasses.replace(GOOD, injection="no X"), keys_asked=True),
    ):
        assert "not tested" in text
        assert "in the log" not in text
        assert "differed" not in text


def test_lost_keys_are_told():
    text = paragraph(with_injection(n_lost=2, n_logged=118))
    assert "2 were lost" in text
    assert "all were in the log" not in text


def test_pads_are_said_to_be_untested_and_how_many_are_polled():
    text = paragraph(with_apparatus(response_pads=[{"polled": True}, {"polled": False}]))
    assert "2 response pads could answer, too (1 of them asked once per frame)" in text
    assert "pressed no button" in text
    assert "response pad" not in paragraph()


def test_polled_keys_are_as_coarse_as_a_frame():
    assert "as coarse as 16.7 ms" in paragraph(with_apparatus(keys_polled=True))
    assert "coarse" not in paragraph()


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--seconds", "0"], "--seconds is 0"),
        (["--seconds", "-5"], "--seconds is -5"),
        (["--seconds", "nan"], "--seconds is nan"),
        (["--seconds", "3601"], "1 to 3600 s"),
        (["--taps", "-1"], "--taps is -1"),
        (["--taps", "501"], "0 to 500 taps"),
        (["--apparatus", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_impossible_request_is_one_line_before_anything_is_written(
    tmp_path, monkeypatch, capsys, options, word
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["timing", str(STUDY), *options])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.count("\n") == 1
    assert word in error
    assert list(tmp_path.iterdir()) == []


def without_display(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    return subprocess.run(
        [sys.executable, "-m", "ghostblitz_task.cli", "timing", str(STUDY), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )


@pytest.mark.slow
def test_without_a_display_it_ends_with_one_line(tmp_path):
    done = without_display(tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "display" in done.stderr
    assert self_test_files(tmp_path / "data" / "classic-grab") == []


@pytest.mark.slow
def test_data_set_of_another_study_is_refused(tmp_path, capsys):
    other = STUDY.parent / "grab-or-shout"
    with pytest.raises(SystemExit):
        main(["simulate", str(other), "--participants", "1", "--out", str(tmp_path / "data")])
    capsys.readouterr()
    done = without_display(tmp_path, "--out", str(tmp_path / "data"))
    assert done.returncode == 2
    assert "holds study grab-or-shout" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_says_what_the_status_means(capsys):
    with pytest.raises(SystemExit):
        main(["timing", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "status 0 if every check passes or warns" in text
