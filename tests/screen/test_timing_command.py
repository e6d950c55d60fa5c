"""`ghostblitz timing` as a lab runs it, in a real window with real keys, and who quotes it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from Xlib import display

from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.robot.script import script_session
from ghostblitz_task.studies import open_study
from ghostblitz_task.timing.record import read_record, self_test_files
from ghostblitz_task.trial_log import log_path, read_log
from ghostblitz_task.virtual_display import VirtualDisplay, virtual_display
from tests.screen.short_study import right_answers, write_study

pytestmark = [pytest.mark.screen, pytest.mark.slow]

N_TAPS = 9
WHEN_TIMING = "Timing flips"


def command(study: Path, dataset: Path, *options: object) -> list[str]:
    start = [sys.executable, "-m", "ghostblitz_task.cli", "timing", str(study), "--window"]
    return [*start, "--out", str(dataset), *map(str, options)]


def run(study: Path, dataset: Path, *options: object) -> subprocess.CompletedProcess[str]:
    wanted = command(study, dataset, *options)
    return subprocess.run(wanted, capture_output=True, text=True, check=False, timeout=300)


@dataclass
class SelfTested:
    """A self-test, a second one after it, and a session after both."""

    dataset: Path
    done: subprocess.CompletedProcess[str]
    path: Path
    bytes_before: bytes
    record: dict[str, Any]
    again: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> SelfTested:
    folder = tmp_path_factory.mktemp("timing")
    study, dataset = write_study(folder / "study", n_practice=2, n_trials=4), folder / "data"
    with virtual_display() as xvfb:
        done = run(study, dataset, "--seconds", 5, "--taps", N_TAPS)
        (path,) = self_test_files(dataset)
        before = path.read_bytes()
        again = run(study, dataset, "--seconds", 1, "--no-keys")
        opened = open_study(study)
        plan = opened.plan(3)
        play_with_robot(
            opened,
            script_session(plan, opened.screens, right_answers(opened)),
            dataset=dataset,
            participant="robot",
            seed=3,
            picture=xvfb.picture,
        )
    return SelfTested(dataset, done, path, before, read_record(path), again)


def check(tested: SelfTested, name: str) -> dict[str, str]:
    (found,) = (c for c in tested.record["checks"] if c["name"] == name)
    return found


def test_virtual_display_fails_for_want_of_synchronisation(tested):
    assert tested.done.returncode == 1, tested.done.stderr
    assert tested.record["verdict"] == "fail"
    assert check(tested, "flips wait for screen")["verdict"] == "fail"
    assert tested.record["apparatus"]["display_synchronised"] is False
    assert "Overall: FAIL" in tested.done.stdout


def test_short_run_cannot_pass_on_dropped_frames(tested):
    assert check(tested, "dropped frames")["verdict"] != "pass"


def test_every_injected_event_is_in_the_log_and_every_short_tap_answers(tested):
    found = tested.record["measured"]["injection"]
    assert found is not None, tested.record["measured"]["injection_not_measured"]
    assert (found["n_lost"], found["n_invented"], found["n_misattributed"]) == (0, 0, 0)
    assert found["n_injected"] == found["n_logged"] > 2 * N_TAPS
    assert [(t["hold_s"], t["n_taps"], t["n_answered"]) for t in found["taps"]] == [
        (0.005, 3, 3),
        (0.02, 3, 3),
        (0.08, 3, 3),
    ]
    assert check(tested, "key events kept")["verdict"] == "pass"


def test_held_keys_outlast_the_repeat_delay_and_come_once(tested):
    measured = tested.record["measured"]
    # What Xvfb has by default, as `xset q` says too.
    assert (measured["repeat"]["delay_s"], measured["repeat"]["interval_s"]) == (0.66, 0.04)
    held_s = measured["injection"]["held_s"]
    assert len(held_s) == 2
    assert min(held_s) > measured["repeat"]["delay_s"] + 5 * measured["repeat"]["interval_s"]
    assert measured["injection"]["n_repeats_logged"] == 0


def test_rt_error_is_measured_and_told_as_what_it_is(tested):
    errors = tested.record["measured"]["injection"]["rt_error_s"]
    # Those of the held keys count too.
    assert N_TAPS <= len(errors) <= N_TAPS + 2
    assert max(map(abs, errors)) < 0.1
    assert "not screen nor keyboard" in check(tested, "RT error")["reason"]


def test_record_is_of_the_study_and_its_cards(tested):
    measured = tested.record["measured"]
    assert tested.record["study_id"] == "screen-test"
    assert len(measured["draw"]["cards"]) == 60
    assert all("book" in c or "ghost" in c or ":" in c for c in measured["draw"]["cards"])
    assert 0 < measured["draw"]["empty_s"] < measured["draw"]["all"]["median_s"]
    assert measured["flips"]["duration_s"] == pytest.approx(5.0, abs=0.2)
    assert measured["disk"]["time"]["n"] == 200
    assert measured["clock"]["n_backwards"] == 0
    assert "did not wait for the refresh" in tested.record["methods"]
    assert tested.record["methods"] in tested.done.stdout


def test_page_and_plots_stand_beside_the_record(tested):
    stem = tested.path.stem
    for name in ("flips", "drawing", "disk", "rt-error"):
        assert (tested.path.parent / f"{stem}-{name}.svg").read_text().startswith("<?xml")
        assert (tested.path.parent / f"{stem}-{name}.png").read_bytes()[1:4] == b"PNG"
    page = tested.path.with_suffix(".html")
    assert str(page) in tested.done.stdout
    assert "Timing self-test" in page.read_text()


def test_second_test_is_a_file_of_its_own_and_leaves_the_first_as_it_was(tested):
    assert tested.again.returncode == 1, tested.again.stderr
    assert len(self_test_files(tested.dataset)) == 2
    assert tested.path.read_bytes() == tested.bytes_before
    newer = read_record(self_test_files(tested.dataset)[-1])
    assert newer["measured"]["injection"] is None
    assert "robot presses" not in tested.again.stderr
    assert "robot presses real keys" in tested.done.stderr


def test_nothing_but_records_and_pages_is_left_in_the_folder(tested):
    left = [p.name for p in tested.path.parent.iterdir() if not p.name.startswith("timing-")]
    assert left == []


def test_session_quotes_the_newest_test_in_its_header(tested):
    newest = self_test_files(tested.dataset)[-1]
    log = log_path(tested.dataset / "logs", "robot", session=1, run=1)
    assert read_log(log).header["timing_self_test"] == {
        "file": newest.name,
        "sha256": hashlib.sha256(newest.read_bytes()).hexdigest(),
        "verdict": "fail",
        "started_utc": read_record(newest)["started_utc"],
        "refresh_hz": read_record(newest)["measured"]["flips"]["refresh_hz"],
    }


def test_analysis_quotes_both_tests_and_counts_the_session_that_quotes_one(tested, tmp_path):
    from ghostblitz_analysis.pipeline import analyze_dataset

    out = tmp_path / "analysis"
    analyze_dataset(tested.dataset, out=out)
    page = (out / "report.html").read_text()
    for path in self_test_files(tested.dataset):
        assert path.name in page
    assert "1 run quotes it" in page
    assert "0 runs quote it" in page
    found = json.loads((out / "analysis.json").read_text())["dataset"]["timing_self_tests"]
    assert [test["n_runs"] for test in found] == [0, 1]


# --- what is stopped -----------------------------------------------------------------------------


def stopped(tmp_path: Path, number: int) -> tuple[subprocess.Popen[str], str]:
    """Start a long test, end it by a signal while flips are timed, and return what it said."""
    study = write_study(tmp_path / "study", n_practice=2, n_trials=4)
    wanted = command(study, tmp_path / "data", "--seconds", 60, "--no-keys")
    with subprocess.Popen(wanted, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        give_up_s = time.monotonic() + 120
        while WHEN_TIMING not in said and time.monotonic() < give_up_s:
            said += process.stderr.readline()
        os.kill(process.pid, number)
        said += process.stderr.read()
    return process, said


def test_killed_test_leaves_no_record_and_no_half_of_one(tmp_path, xvfb: VirtualDisplay):
    process, _ = stopped(tmp_path, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert list((tmp_path / "data" / "timing").iterdir()) == []


def test_terminated_test_says_so_in_one_line_and_records_nothing(tmp_path, xvfb: VirtualDisplay):
    process, said = stopped(tmp_path, signal.SIGTERM)
    assert process.returncode == 2
    (last,) = (line for line in said.splitlines() if line.startswith("ghostblitz: "))
    assert "stopped (SIGTERM)" in last
    assert "Traceback" not in said
    assert list((tmp_path / "data" / "timing").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_test_that_ends_while_its_robot_holds_a_key_leaves_none_down(
    tmp_path, xvfb: VirtualDisplay, number
):
    study = write_study(tmp_path / "study", n_practice=2, n_trials=4)
    wanted = command(study, tmp_path / "data", "--seconds", 1, "--taps", 3)
    # A server that nobody is connected to begins anew, and forgets which keys are down.
    server = display.Display()
    held_since_s: float | None = None
    with subprocess.Popen(
        wanted, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        give_up_s = time.monotonic() + 120
        while held_since_s is None or time.monotonic() < held_since_s + 0.3:
            assert time.monotonic() < give_up_s
            if not any(server.query_keymap()):
                held_since_s = None
            elif held_since_s is None:
                held_since_s = time.monotonic()
            time.sleep(0.01)
        # As Ctrl-C in a terminal does: to all that run in it.
        os.killpg(process.pid, number)
        assert process.stderr is not None
        # To the end of what the robot says, too: it has gone then.
        said = process.stderr.read()
    assert not any(server.query_keymap())
    server.close()
    assert process.returncode == (-number if number == signal.SIGKILL else 2)
    assert "Traceback" not in said
    # Whoever killed the test learns from the robot that the window went, or nothing.
    assert number == signal.SIGKILL or "robot: " not in said
    assert list((tmp_path / "data" / "timing").iterdir()) == []


def test_person_is_told_where_there_is_no_test(tmp_path, xvfb: VirtualDisplay):
    study = write_study(tmp_path / "study", n_practice=2, n_trials=4)
    wanted = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(study), "-p", "P1"]
    wanted += ["--window", "--out", str(tmp_path / "data")]
    with subprocess.Popen(wanted, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.terminate()
        rest = process.stderr.read()
    assert line.startswith("hint: ")
    assert f"ghostblitz timing {study}" in line
    assert rest == ""
    (log,) = (tmp_path / "data" / "logs").glob("*.jsonl")
    assert read_log(log).header["timing_self_test"] is None
