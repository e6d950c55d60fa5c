"""Response pads: a serial one at the other end of a pseudo-terminal, and PsychoPy's own classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.trial_log import read_log
from tests.screen.blank_windows import run_program
from tests.screen.short_study import write_study

pytestmark = [pytest.mark.screen, pytest.mark.alone]

_SERIAL = """
import os
from dataclasses import asdict

near, far = os.openpty()
port = os.ttyname(far)

def serial_pad(**settings):
    return {"kind": "serial", "port": port, "buttons": {"1": "a", "2": "s"}, **settings}

def events(window, n=6):
    found = []
    for _ in range(n):
        window.present(blank)
        found += window.events()
    return [[e.device, e.kind, e.key, e.code, e.reports_release] for e in found]
"""


def run_with_pad(body: str, *arguments: str) -> Any:
    return run_program(_SERIAL + body, *arguments)


def test_characters_of_a_serial_pad_are_events_and_none_is_dropped(xvfb):
    found, described = run_with_pad(
        """
window = open_window(response_pads=[serial_pad(releases={"!": "1"})])
os.write(near, b"12!x2")
report([events(window), window.describe()["response_pads"]])
window.close()
"""
    )
    assert found == [
        ["button_box", "press", "a", 0x31, True],
        ["button_box", "press", "s", 0x32, False],
        ["button_box", "release", "a", 0x31, True],
        ["button_box", "press", "pad-1:x", 0x78, False],
        ["button_box", "press", "s", 0x32, False],
    ]
    (pad,) = described
    assert pad.pop("port").startswith("/dev/pts/")
    # Nobody knows what is behind a pseudo-terminal: the commonest adapter's 16 ms are assumed.
    assert pad.pop("resolution_s") == pytest.approx(0.017 + 10 / 115_200)
    assert pad == {
        "kind": "serial", "baud": 115_200, "protocol": "characters", "polled": False,
        "time_source": "reading thread, as each byte arrives", "adapter_latency_s": None,
    }  # fmt: skip


def test_latency_of_an_adapter_is_what_linux_states_and_unknown_where_it_states_nothing(
    xvfb, tmp_path: Path
):
    buses = {"board": "platform", "usb pad": "usb", "other adapter": "usb-serial"}
    stated = {"adapter": "16\n", "quick adapter": "1\n", "damaged": "x\n"}
    for name in (*buses, *stated, "unreadable"):
        bus = tmp_path / "bus" / buses.get(name, "usb-serial")
        bus.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).mkdir()
        (tmp_path / name / "subsystem").symlink_to(bus)
    for name, text in stated.items():
        (tmp_path / name / "latency_timer").write_text(text)
    (tmp_path / "unreadable" / "latency_timer").mkdir()
    names = [*buses, *stated, "unreadable", "no device"]
    found = run_with_pad(
        f"""
from pathlib import Path
from ghostblitz_task.apparatus.psychopy_pads import _stated_latency_s
report([_stated_latency_s(Path(sys.argv[1]) / name) for name in {names}])
""",
        str(tmp_path),
    )
    assert dict(zip(names, found, strict=True)) == {
        "board": 0.0, "usb pad": 0.0, "other adapter": None, "adapter": 0.016,
        "quick adapter": 0.001, "damaged": None, "unreadable": None, "no device": None,
    }  # fmt: skip


def test_no_byte_is_stamped_before_it_came(xvfb):
    came, stamps = run_with_pad(
        """
from collections import deque
from ghostblitz_task.apparatus.psychopy_devices import clock_s
from ghostblitz_task.apparatus.psychopy_pads import SerialPad

came = []

class Line:
    # A byte each time, and after the first one two more that come while it is taken.
    n_more = 0

    @property
    def in_waiting(self):
        time.sleep(0.02)
        self.n_more = 2 if len(came) == 1 else 0
        if len(came) == 3:
            pad._closing = True
        came.append(clock_s())
        return self.n_more

    def read(self, n):
        if n == 1:
            came.append(clock_s())
        return b"1" * n

pad = SerialPad.__new__(SerialPad)
pad._raise_priority, pad._closing, pad._line, pad._arrived = False, False, Line(), deque()
pad._listen()
report([came, [[t_s, len(data)] for t_s, data in pad._arrived]])
"""
    )
    (first, more, alone, after), ((together_s, n), (alone_s, n_alone)) = came, stamps
    assert (n, n_alone) == (3, 1)
    assert first < more <= together_s
    # A byte that came alone is not kept waiting for others.
    assert alone <= alone_s < after


def test_state_bytes_are_presses_and_releases_and_keys_keep_coming_beside_them(xvfb):
    found = run_with_pad(
        """
window = open_window(
    response_pads=[serial_pad(protocol="state", buttons={"0": "a", "1": "s"})]
)
found = []
for state in (0b01, 0b11, 0b10, 0b10, 0b1000, 0):
    os.write(near, bytes([state]))
    time.sleep(0.01)
tap(38)
time.sleep(0.02)
found = events(window)
report(found)
window.close()
"""
    )
    assert [e[:4] for e in found] == [
        ["button_box", "press", "a", 0],
        ["button_box", "press", "s", 1],
        ["button_box", "release", "a", 0],
        ["button_box", "release", "s", 1],
        ["button_box", "press", "pad-1:3", 3],
        ["button_box", "release", "pad-1:3", 3],
        ["keyboard", "press", "a", 39],
        ["keyboard", "release", "a", 39],
    ]


def test_what_was_sent_before_the_session_is_no_event_of_it(xvfb):
    found = run_with_pad(
        """
os.write(near, b"11111")
window = open_window(response_pads=[serial_pad()])
os.write(near, b"2")
report(events(window))
window.close()
"""
    )
    assert [e[2] for e in found] == ["s"]


def test_bytes_that_come_together_keep_their_order_and_times_of_their_own(xvfb):
    found = run_with_pad(
        """
window = open_window(response_pads=[serial_pad(baud=9600, releases={"!": "1", "?": "2"})])
found = []
for _ in range(20):
    os.write(near, b"1!2?")
    window.present(blank)
    found += [[e.key, e.kind, e.t_s] for e in window.events()]
report(found)
window.close()
"""
    )
    assert len(found) >= 4 * 19
    order = [["a", "press"], ["a", "release"], ["s", "press"], ["s", "release"]]
    assert [e[:2] for e in found] == (order * 20)[: len(found)]
    gaps_s = np.diff([e[2] for e in found])
    assert gaps_s.min() > 0
    assert np.quantile(gaps_s, 0.5) <= 10 / 9600 + 1e-6  # A byte has 10 bits.


def test_unplugged_pad_gives_what_it_sent_and_then_names_its_port(xvfb):
    port, found, message, keys = run_with_pad(
        """
window = open_window(response_pads=[serial_pad()])
os.write(near, b"1")
time.sleep(0.02)
os.close(far)
os.close(near)
tap(38)
time.sleep(0.05)
found = [[e.device, e.kind] for e in window.events()]
try:
    events(window)
except GhostBlitzError as error:
    message = str(error)
tap(39)
time.sleep(0.05)
keys = [e.key for e in window._keys.events()]
window.close()
report([port, found, message, keys])
"""
    )
    assert found == [["button_box", "press"], ["keyboard", "press"], ["keyboard", "release"]]
    assert message.startswith(f"the response pad at {port} cannot be read any more (")
    assert message.endswith("see that it is plugged in, and resume the session")
    assert keys == ["s", "s"]


def test_port_that_is_not_there_or_in_use_is_refused_in_one_line(xvfb):
    missing, twice, again = run_with_pad(
        """
missing = refusal(response_pads=[serial_pad(port="/dev/no-such-port")])
twice = refusal(
    response_pads=[serial_pad(buttons={"1": "a"}), serial_pad(buttons={"1": "s"})]
)
window = open_window(response_pads=[serial_pad()])
os.write(near, b"1")
report([missing, twice, len(events(window))])
window.close()
"""
    )
    assert "serial port /dev/no-such-port cannot be opened with 115200 baud" in missing
    assert "another program has it" in twice
    assert "\n" not in missing + twice
    assert again == 1  # What was refused let go of the port.


_SESSION = """
import threading
from pathlib import Path
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.studies import open_study
from ghostblitz_task.trial_log import TrialLog

folder = Path(sys.argv[1])
study = open_study(folder / "study")
responses = study.settings.responses
keys = [*responses.grab_keys.values(), *responses.shout_keys.values(), responses.continue_key]
buttons = {chr(65 + place): key for place, key in enumerate(keys)}
settings = ApparatusSettings.model_validate(
    {"fullscreen": False, "response_pads": [serial_pad(buttons=buttons)]}
)
window = PsychoPyApparatus(
    settings, palette=study.screens.palette, extent_deg=study.screens.extent_deg()
)
sent, over = [], threading.Event()

def press_all():
    while not over.wait(0.04):
        code = 65 + len(sent) * 7 % (len(buttons) + 1)  # One of them is no button's.
        sent.append(code)
        os.write(near, bytes([code]))

presser = threading.Thread(target=press_all)
presser.start()
(folder / "logs").mkdir()
with TrialLog(folder / "logs" / "sub-p1_ses-01_run-01.jsonl") as log:
    outcome = run_session(
        study.settings, plan=study.plan(1), screens=study.screens, apparatus=window,
        apparatus_settings=settings, log=log, identity=SessionIdentity("p1", 1, 1, 1, "robot"),
    )
over.set()
presser.join()
window.close()
report([outcome.status, sent])
"""


@pytest.mark.slow
def test_session_that_is_played_on_a_pad_loads_with_every_byte_in_one_record(xvfb, tmp_path: Path):
    write_study(tmp_path / "study", n_practice=2, n_trials=6)
    status, sent = run_with_pad(_SESSION, str(tmp_path))
    assert status == "completed"
    run = read_log(tmp_path / "logs" / "sub-p1_ses-01_run-01.jsonl")
    logged = [event["code"] for record in run.records for event in record.get("events", ())]
    assert logged == sent[: len(logged)]
    assert len(sent) - len(logged) <= 3  # Those after the last frame.
    assert run.header["apparatus"]["response_pads"][0]["polled"] is False
    trials = load_dataset(tmp_path / "logs").trials
    devices = set(trials["response_device"].dropna())
    assert devices
    assert devices <= {"grab_buttons", "shout_buttons"}
    assert not trials["key_held_at_onset"].any()


# --- how well bytes are timed ------------------------------------------------------------------

N_BUTTONS = 500
_SENDER = """
import json, os, sys, time
import numpy as np
from psychtoolbox import GetSecs
near = int(sys.argv[1])
rng = np.random.default_rng(4)
sent = []
for gap_s, held_s in rng.uniform((0.012, 0.005), (0.05, 0.005), (int(sys.argv[2]), 2)).tolist():
    for byte, wait_s in ((b"1", held_s), (b"!", gap_s)):
        sent.append(GetSecs())
        os.write(near, byte)
        time.sleep(wait_s)
print(json.dumps(sent))
"""
_RECEIVER = """
from psychopy import logging as psychopy_logging
window = open_window(response_pads=[serial_pad(releases={"!": "1"})])
sender = subprocess.Popen(
    [sys.executable, "-c", sys.argv[1], str(near), sys.argv[2]],
    stdout=subprocess.PIPE, text=True, pass_fds=[near],
)
found, n_after = [], 0
while n_after < 2:
    n_after += sender.poll() is not None
    for _ in range(18):
        window.present(blank)
        found += [(e.kind, e.t_s) for e in window.events()]
    window.between_trials()
zero_s = psychopy_logging.defaultClock.getLastResetTime()
report([found, [t - zero_s for t in json.loads(sender.stdout.read())]])
window.close()
"""


@pytest.mark.slow
def test_none_of_1000_bytes_is_lost_and_each_is_stamped_as_it_arrives(xvfb, capsys):
    found, sent_s = run_with_pad(_RECEIVER, _SENDER, str(N_BUTTONS))
    assert [kind for kind, _ in found] == ["press", "release"] * N_BUTTONS
    late_s = np.array([t_s for _, t_s in found]) - np.array(sent_s)
    with capsys.disabled():
        print(
            f"\n{len(sent_s)} bytes beside a window at 60 Hz: {len(sent_s) - len(found)} lost; "
            f"stamp minus write {1000 * late_s.mean():.2f} ms, SD {1000 * late_s.std():.2f} ms, "
            f"99% below {1000 * np.quantile(late_s, 0.99):.2f} ms, largest "
            f"{1000 * late_s.max():.2f} ms"
        )
    assert late_s.min() > 0
    assert np.median(late_s) < 0.001
    # Polling once a frame would be late by 8 ms.
    assert np.quantile(late_s, 0.95) < 0.004


# --- PsychoPy's classes ------------------------------------------------------------------------

_BOX = "psychopy.hardware.button.KeyboardButtonBox"


def box(**settings: Any) -> dict[str, Any]:
    return {
        "response_pads": [
            {
                "kind": "psychopy",
                "device_class": _BOX,
                "device_arguments": {"buttons": ["g", "h"]},
                "buttons": {"0": "a"},
                **settings,
            }
        ]
    }


def test_buttons_of_a_psychopy_class_are_events_that_say_how_coarse_they_are(xvfb):
    found, coarse, described = run_with_pad(
        f"""
window = open_window(allow_polled_keys=True, **{box()})
G, H, S = 42, 43, 39
found, coarse = [], []
for moved in (lambda: down(G), lambda: up(G), lambda: down(H), lambda: up(H), lambda: tap(S)):
    moved()
    time.sleep(0.02)
    window.present(blank)
    new = window.events()
    found += [[e.device, e.kind, e.key, e.code] for e in new]
    coarse += [e.resolution_s for e in new if e.device == "button_box"]
report([found, coarse, window.describe()["response_pads"]])
window.close()
"""
    )
    assert found == [
        ["button_box", "press", "a", 0],
        ["button_box", "release", "a", 0],
        ["button_box", "press", "pad-1:1", 1],
        ["button_box", "release", "pad-1:1", 1],
        ["keyboard", "press", "s", 40],
        ["keyboard", "release", "s", 40],
    ]
    assert all(0.02 < resolution_s < 0.2 for resolution_s in coarse[1:])
    assert described == [
        {
            "kind": "psychopy", "device_class": _BOX,
            "time_source": "time of polling", "polled": True,
        }
    ]  # fmt: skip


def test_device_class_is_refused_where_polling_is_not_allowed_or_it_cannot_be_had(xvfb):
    cases = {
        "polled": box(),
        "no module": box(device_class="psychopy_no_plugin.Box"),
        "no class": box(device_class="psychopy.hardware.button.NoBox"),
        "no name": box(device_class="Box"),
        "another kind": box(device_class="psychopy.hardware.keyboard.KeyboardDevice"),
        "arguments": box(device_arguments={"colour": "red"}),
    }
    found = run_with_pad(
        f"""
report([
    refusal(**settings, allow_polled_keys=name != "polled") for name, settings in {cases}.items()
])
"""
    )
    said = dict(zip(cases, found, strict=True))
    assert "so its buttons are timed by polling" in said["polled"]
    assert "allow_polled_keys = true" in said["polled"]
    for name in ("no module", "no class", "no name"):
        assert "there is no device class " in said[name]
    assert "KeyboardDevice is no button box of PsychoPy" in said["another kind"]
    assert "KeyboardButtonBox cannot be opened with these device_arguments" in said["arguments"]
    assert all("\n" not in message for message in found)


def test_box_that_fails_in_a_session_is_an_apparatus_error(xvfb):
    """As where it is unplugged: what PsychoPy raises then is not even an `Exception`."""
    message = run_with_pad(
        f"""
from psychopy.hardware.exceptions import DeviceNotConnectedError
window = open_window(allow_polled_keys=True, **{box()})
def gone():
    raise DeviceNotConnectedError("it is gone")
window._pads[0]._device.dispatchMessages = gone
try:
    window.events()
except GhostBlitzError as error:
    report(str(error))
window.close()
"""
    )
    assert message == f"response_pads: {_BOX} cannot be read any more: it is gone"
