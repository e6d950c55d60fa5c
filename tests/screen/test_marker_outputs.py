"""Markers of real sessions: received by another process, by a serial line and by a fake port."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import textwrap
import threading
import tty
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.demo import play_with_robot
from ghostblitz_task.robot.script import script_session
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import RunLog, log_path, read_log
from ghostblitz_task.virtual_display import virtual_display
from tests.screen.short_study import right_answers, write_study

pytestmark = [pytest.mark.screen, pytest.mark.slow]

# Without these, Lab Streaming Layer asks the whole network who is there.
LSL_ON_THIS_MACHINE = (
    "[ports]\nIPv6 = disable\n[multicast]\nResolveScope = machine\n[log]\nlevel = -2\n"
)

# Takes every marker of a stream, with the time of its arrival, until the last block has ended.
INLET = """
import json, sys, pylsl
name, last, path = sys.argv[1:]
(info,) = pylsl.resolve_byprop("name", name, timeout=90)
inlet = pylsl.StreamInlet(info)
inlet.open_stream(timeout=30)
about = [info.type(), info.channel_count(), info.nominal_srate(), info.source_id()]
with open(path, "w") as file:
    print(json.dumps(about), file=file, flush=True)
    waits_s = 90
    while True:
        sample, stamp_s = inlet.pull_sample(timeout=waits_s)
        if sample is None:
            break
        print(json.dumps([sample[0], stamp_s, pylsl.local_clock()]), file=file, flush=True)
        if sample[0] == last:
            waits_s = 1
"""

# In place of pyparallel, which PsychoPy's class for Linux calls: there is no such port here.
PORT = """
import os, time
class Parallel:
    def __init__(self, address):
        if address != "/dev/parport0":
            raise FileNotFoundError(2, "No such file or directory", address)
    def setData(self, data):
        with open(os.environ["PORT_FILE"], "a") as file:
            print(data, time.monotonic(), file=file)
"""


class Line:
    """The far end of a serial line, read all the time."""

    def __init__(self, *, pulled_after: int | None = None) -> None:
        self.far, near = os.openpty()
        tty.setraw(near)
        self.near = near
        self.port = os.ttyname(near)
        self.read = bytearray()
        self._pulled_after = pulled_after
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._done.is_set():
            if not select.select([self.far], [], [], 0.05)[0]:
                continue
            self.read += os.read(self.far, 100)
            if self._pulled_after is not None and len(self.read) >= self._pulled_after:
                os.close(self.near)
                os.close(self.far)
                return

    def end(self) -> None:
        self._done.set()
        self._thread.join()


def play(folder: Path, apparatus: str, *, n_trials: int, **environment: str) -> RunLog:
    """Let the robot play a session with these settings of the machine."""
    study_folder = write_study(folder / "study", n_practice=2, n_trials=n_trials)
    (study_folder / "apparatus.toml").write_text(apparatus, encoding="utf-8")
    study = open_study(study_folder)
    actions = script_session(study.plan(5), study.screens, right_answers(study))
    with pytest.MonkeyPatch.context() as patch, virtual_display() as xvfb:
        for name, value in environment.items():
            patch.setenv(name, value)
        play_with_robot(
            study,
            actions,
            dataset=folder / "data",
            participant="robot",
            seed=5,
            picture=xvfb.picture,
        )
    return read_log(log_path(folder / "data" / "logs", "robot", session=1, run=1))


def markers_of(run: RunLog) -> list[dict[str, Any]]:
    return [marker for record in run.records for marker in record.get("markers", ())]


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> SimpleNamespace:
    """A session with all outputs at once."""
    folder = tmp_path_factory.mktemp("markers")
    config = folder / "lsl.cfg"
    config.write_text(LSL_ON_THIS_MACHINE)
    (folder / "fakes").mkdir()
    (folder / "fakes" / "parallel.py").write_text(PORT)
    environment = {
        "LSLAPICFG": str(config),
        "PYTHONPATH": str(folder / "fakes"),
        "PORT_FILE": str(folder / "port.txt"),
    }
    received = folder / "received.jsonl"
    inlet = subprocess.Popen(
        [sys.executable, "-c", INLET, "ghostblitz-test", "block-end/1", str(received)],
        env=os.environ | environment,
    )
    line = Line()
    apparatus = f"""
        [markers.lsl]
        name = "ghostblitz-test"
        [markers.serial]
        port = "{line.port}"
        [markers.parallel]
        address = "/dev/parport0"
        pulse_s = 0.01
        [markers.codes]
        shout = 77
    """
    try:
        run = play(folder, apparatus, n_trials=18, **environment)
        assert inlet.wait(timeout=30) == 0
    finally:
        line.end()
        inlet.kill()
    about, *samples = [json.loads(text) for text in received.read_text().splitlines()]
    return SimpleNamespace(
        run=run,
        about=about,
        samples=samples,
        line=bytes(line.read),
        port=[text.split() for text in (folder / "port.txt").read_text().splitlines()],
        dataset=folder / "data",
    )


def test_every_marker_arrives_once_and_in_order_over_lsl(played):
    sent = markers_of(played.run)
    assert len(sent) == 2 * 2 + 2 * 20  # Blocks have two borders, trials a card and a response.
    assert [label for label, _, _ in played.samples] == [m["label"] for m in sent]
    assert played.about == ["Markers", 1, 0.0, "ghostblitz/screen-test/robot/1"]
    assert all(m["failed"] == [] for m in sent)


def test_lsl_stamps_are_the_logs_times_on_its_clock(played, capsys):
    """Stamped by the flip and the key itself, though it is sent later."""
    sent = markers_of(played.run)
    header = played.run.header["apparatus"]["markers"]["outputs"]["lsl"]
    end = list(played.run.of_type("end"))[-1]["marker_report"]["outputs"]["lsl"]
    stamps_s = np.array([stamp_s for _, stamp_s, _ in played.samples])
    logged_s = np.array([m["t_s"] for m in sent])
    sent_s = np.array([m["sent_s"] for m in sent])
    arrived_s = np.array([arrived_s for _, _, arrived_s in played.samples])
    uncertain_s = header["clock_uncertainty_s"] + end["clock_uncertainty_s"]
    drift_s = end["clock_offset_s"] - header["clock_offset_s"]
    error_s = stamps_s - (logged_s + header["clock_offset_s"])
    on_the_way_s = arrived_s - (sent_s + header["clock_offset_s"])
    late_s = np.array([m["sent_s"] - m["t_s"] for m in sent if m["name"] in ("grab", "shout")])
    figures = {
        "most of stamp less log (us)": 1e6 * np.abs(error_s).max(),
        "offset known to (us)": 1e6 * uncertain_s,
        "offset changed by (us)": 1e6 * drift_s,
        "on the way, median (ms)": 1e3 * np.median(on_the_way_s),
        "on the way, most (ms)": 1e3 * on_the_way_s.max(),
        "response sent after its key, median (ms)": 1e3 * np.median(late_s),
        "response sent after its key, most (ms)": 1e3 * late_s.max(),
    }
    with capsys.disabled():
        print(f"\nLSL, {len(sent)} markers:", *(f"{k} {v:.3f};" for k, v in figures.items()))
    assert uncertain_s < 0.0001
    assert np.abs(error_s).max() < 1e-6
    # As measured at the end: the clocks' rates may be trimmed by the system while it runs.
    assert abs(drift_s) < uncertain_s + 0.001
    # Another process's reading of that clock, which knows nothing of our offset.
    assert (arrived_s > stamps_s).all()
    assert np.median(on_the_way_s) < 0.02
    assert end["had_consumers_at_end"] is True


def test_response_markers_carry_the_keys_time_and_card_markers_the_flips(played):
    for trial in played.run.of_type("trial"):
        card, response = trial["markers"]
        assert card["t_s"] == trial["onset_s"]
        assert 0 < card["sent_s"] - card["t_s"] < 0.005
        press = next(e for e in trial["events"] if e["kind"] == "press" and e["mode"])
        assert (response["t_s"], response["name"]) == (press["t_s"], press["mode"])


def test_serial_line_gets_each_code_in_order(played):
    codes = [m["code"] for m in markers_of(played.run)]
    assert {10, 20, 77} <= set(codes)
    assert list(played.line) == [0, *codes]  # 0 tries the line as it is opened.


def test_parallel_port_gets_each_code_and_goes_back_to_0_with_the_frames(played):
    codes = [m["code"] for m in markers_of(played.run)]
    written = [(int(code), float(at_s)) for code, at_s in played.port]
    assert [code for code, _ in written if code] == codes
    pulses_s = [
        end_s - at_s for (code, at_s), (after, end_s) in pairwise(written) if code and after == 0
    ]
    report = list(played.run.of_type("end"))[-1]["marker_report"]["outputs"]["parallel"]
    n_cut_short = sum(code > 0 and after > 0 for (code, _), (after, _) in pairwise(written))
    assert len(pulses_s) + n_cut_short >= len(codes) - 1
    assert min(pulses_s) >= 0.01 - 0.0005
    assert np.median(pulses_s) < 0.01 + 1 / 60 + 0.005
    assert report["longest_pulse_s"] == pytest.approx(max(pulses_s[:-1] or pulses_s), abs=0.005)
    assert report["n_pulses_cut_short"] == n_cut_short


def test_log_with_real_markers_is_loaded(played):
    assert len(load_dataset(played.dataset).trials) == 20


def test_serial_line_that_is_pulled_out_stops_nothing_and_is_counted(tmp_path):
    line = Line(pulled_after=7)
    run = play(tmp_path, f'[markers.serial]\nport = "{line.port}"\n', n_trials=4)
    line.end()
    assert run.status == "completed"
    assert len(list(run.of_type("trial"))) == 6
    sent = markers_of(run)
    failed = [bool(m["failed"]) for m in sent]
    assert failed == sorted(failed)  # Once it is gone, it is gone.
    taken = [m["code"] for m in sent if not m["failed"]]
    assert list(line.read) == [0, *taken][: len(line.read)]
    assert 6 <= len(taken) < len(sent)
    report = list(run.of_type("end"))[-1]["marker_report"]
    assert report["n_failed"] == {"serial": sum(failed)}
    assert report["first_failure"]["output"] == "serial"
    assert "takes no byte" in report["first_failure"]["reason"]
    assert len(load_dataset(tmp_path / "data").trials) == 6


# --- what is refused before the first trial -----------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            '[markers.serial]\nport = "/dev/nowhere"\n',
            "markers.serial: /dev/nowhere cannot be opened",
        ),
        ('[markers.serial]\nport = "/dev/null"\n', "markers.serial: /dev/null cannot be opened"),
        ("[markers.lsl]\n", "markers.lsl: pylsl cannot be imported"),
        ('[markers.parallel]\naddress = "/dev/parport0"\n', "PsychoPy needs pyparallel (gone)"),
        ('[markers.parallel]\naddress = "/dev/parport7"\n', "/dev/parport7 cannot be opened"),
    ],
    ids=["no such port", "no serial port", "no pylsl", "no pyparallel", "no parallel port"],
)
def test_output_that_cannot_be_used_is_refused_before_the_first_trial(
    tmp_path, xvfb, settings, message
):
    study = write_study(tmp_path / "study", n_practice=2, n_trials=4)
    (study / "apparatus.toml").write_text(settings, encoding="utf-8")
    fakes = tmp_path / "fakes"
    (fakes / "pylsl").mkdir(parents=True)
    (fakes / "pylsl" / "__init__.py").write_text('raise ImportError("No module named pylsl")\n')
    if "parport0" in settings:
        (fakes / "parallel.py").write_text('raise ImportError("gone")\n')
    command = [sys.executable, "-m", "ghostblitz_task.cli", "run", str(study), "--window"]
    done = subprocess.run(
        [*command, "--participant", "p1", "--out", str(tmp_path / "data")],
        env=os.environ | {"PYTHONPATH": str(fakes), "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list((tmp_path / "data").rglob("*.jsonl*")) == []


# --- what it costs ------------------------------------------------------------------------------


def run_code(body: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(body)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_serial_line_that_nobody_reads_never_blocks(tmp_path):
    """pyserial by itself tries again for ever once the line is full."""
    out = run_code(
        """
        import os, time, tty
        from ghostblitz_task.apparatus import Marker
        from ghostblitz_task.apparatus.psychopy_ports import open_markers
        from ghostblitz_task.apparatus_settings import MarkerSettings, SerialSettings
        far, near = os.openpty()
        tty.setraw(near)
        settings = MarkerSettings(serial=SerialSettings(port=os.ttyname(near)))
        markers = open_markers(settings, source_id="x")
        longest_s = 0.0
        for _ in range(100_000):
            before_s = time.perf_counter()
            failed = markers.send(Marker("card", "card", 0.0)).failed
            longest_s = max(longest_s, time.perf_counter() - before_s)
            if failed:
                break
        print(failed, longest_s < 0.1, markers.report()["n_failed"])
        """
    )
    assert out.strip() == "('serial',) True {'serial': 1}"


@pytest.mark.alone
def test_markers_cost_less_than_a_fifth_of_a_millisecond(tmp_path, capsys):
    config = tmp_path / "lsl.cfg"
    config.write_text(LSL_ON_THIS_MACHINE)
    out = run_code(
        """
        import json, os, threading, time, tty
        import numpy as np
        from ghostblitz_task.apparatus import Marker
        from ghostblitz_task.apparatus.psychopy_ports import open_markers
        from ghostblitz_task.apparatus_settings import LslSettings, MarkerSettings, SerialSettings
        far, near = os.openpty()
        tty.setraw(near)
        def read():
            while True:
                os.read(far, 100)
        threading.Thread(target=read, daemon=True).start()
        port = os.ttyname(near)
        cases = {
            "lsl": MarkerSettings(lsl=LslSettings()),
            "serial": MarkerSettings(serial=SerialSettings(port=port)),
        }
        found = {}
        for name, settings in cases.items():
            markers = open_markers(settings, source_id="x")
            taken_s = []
            for i in range(600):
                marker = Marker("card", f"card/exclusion/shout/trial-{i}", 1.0)
                before_s = time.perf_counter()
                markers.send(marker)
                taken_s.append(time.perf_counter() - before_s)
                time.sleep(0.003)
            found[name] = [float(1e6 * q) for q in np.quantile(taken_s, [0.5, 0.99, 1])]
            markers.close()
        print(json.dumps(found))
        """,
        LSLAPICFG=str(config),
    )
    cost_us = json.loads(out.strip().splitlines()[-1])
    with capsys.disabled():
        for name, (median, high, most) in cost_us.items():
            print(f"\n{name}: {median:.0f} us (median), {high:.0f} (99th percentile), {most:.0f}")
    assert all(median < 200 for median, _, _ in cost_us.values())
