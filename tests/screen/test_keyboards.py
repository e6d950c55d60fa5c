"""Real key events in real windows: layouts, lock keys, held keys, and 1,000 events in a row."""

from __future__ import annotations

import subprocess
import textwrap
from bisect import bisect_left
from typing import Any

import numpy as np
import pytest

from tests.screen.blank_windows import run_program

pytestmark = [pytest.mark.screen, pytest.mark.alone]

# X codes of some keys, and the names of their places on a US keyboard.
PLACES = {
    38: "a", 24: "q", 52: "z", 29: "y", 47: "semicolon", 94: "less", 10: "1", 19: "0",
    79: "num_7", 90: "num_0", 65: "space",
}  # fmt: skip
TAPS = [
    [kind, name, code + 1] for code, name in PLACES.items() for kind in ("press", "release")
]  # fmt: skip
CAPS_LOCK, NUM_LOCK = 66, 77
SHIFT, CONTROL, ALT_GR = 50, 37, 108


@pytest.mark.parametrize(
    ("layout", "printed"),
    [
        ("us", {"a": "A", "q": "Q", "z": "Z", "y": "Y", "semicolon": ";", "1": "1"}),
        ("de", {"a": "A", "q": "Q", "z": "Y", "y": "Z", "semicolon": "Ö", "1": "1"}),
        ("fr", {"a": "Q", "q": "A", "z": "W", "y": "Y", "semicolon": "M", "1": "&"}),
    ],
)
def test_key_has_one_name_and_code_whatever_the_layout_the_locks_and_the_modifiers(
    xvfb, layout, printed
):
    subprocess.run(["setxkbmap", layout], check=True)
    found = run_program(
        f"""
        window = open_window()
        def all_keys():
            for code in {list(PLACES)}:
                tap(code)
            time.sleep(0.02)
            return frames(window)
        taps, locks, itself = {{}}, {{}}, {{}}
        for name, toggled in (("none", 0), ("caps", {CAPS_LOCK}), ("both", {NUM_LOCK}),
                              ("num", {CAPS_LOCK})):
            if toggled:
                tap(toggled)
                time.sleep(0.02)
                itself[name] = frames(window)
            taps[name] = all_keys()
            described = window.describe()
            locks[name] = [described["caps_lock"], described["num_lock"]]
        for name, code in (("shift", {SHIFT}), ("control", {CONTROL}), ("alt_gr", {ALT_GR})):
            down(code)
            taps[name] = [e for e in all_keys() if e[2] != code + 1]
            up(code)
            time.sleep(0.02)
            frames(window)
        labels = window.key_labels()
        report([taps, locks, itself, described["keyboard_layout"], labels])
        window.close()
        """
    )
    taps, locks, itself, stored, labels = found
    assert taps == dict.fromkeys(taps, TAPS)
    assert len(taps) == 7
    assert locks == {
        "none": [False, False], "caps": [True, False], "both": [True, True], "num": [False, True],
    }  # fmt: skip
    assert itself["caps"] == [["press", "capslock", 67], ["release", "capslock", 67]]
    assert itself["both"] == [["press", "numlock", 78], ["release", "numlock", 78]]
    assert stored == layout
    assert {name: labels[name] for name in printed} == printed


def test_layout_that_is_changed_during_a_session_changes_no_name(xvfb):
    found = run_program(
        f"""
        window = open_window()
        found = []
        for layout in ("us", "de", "fr"):
            subprocess.run(["setxkbmap", layout], check=True)
            for code in {list(PLACES)}:
                tap(code)
            time.sleep(0.05)
            found.append(frames(window, 10))
        report(found)
        window.close()
        """
    )
    assert found == [TAPS] * 3


def test_held_key_is_pressed_once_and_released_once_however_often_it_repeats(xvfb):
    held, repeats = run_program(
        """
        window = open_window()
        # The server repeats for whoever reads its core events.
        seen = []
        window._window.winHandle.push_handlers(on_text=seen.append)
        down(39)
        found = frames(window, 80)
        up(39)
        time.sleep(0.02)
        report([found + frames(window), len(seen)])
        window.close()
        """
    )
    assert held == [["press", "s", 40], ["release", "s", 40]]
    assert repeats > 3  # The server did repeat it.


def test_two_keys_that_overlap_keep_their_order_and_each_its_release(xvfb):
    found = run_program(
        """
        window = open_window()
        down(38, 39)
        time.sleep(0.01)
        up(38)
        time.sleep(0.01)
        first = frames(window)
        window.between_trials()
        up(39)
        time.sleep(0.02)
        report([first, frames(window)])
        window.close()
        """
    )
    assert found == [
        [["press", "a", 39], ["press", "s", 40], ["release", "a", 39]],
        [["release", "s", 40]],
    ]


def test_key_held_since_before_the_window_is_described_and_its_release_logged(xvfb):
    at_start, found, again = run_program(
        """
        down(39)
        time.sleep(0.05)
        window = open_window()
        held = window.describe()["keys_down_at_start"]
        frames(window)
        up(39)
        time.sleep(0.02)
        found = frames(window)
        tap(39)
        time.sleep(0.02)
        report([held, found, frames(window)])
        window.close()
        """
    )
    assert at_start == ["s"]
    assert found == [["release", "s", 40]]
    assert again == [["press", "s", 40], ["release", "s", 40]]


def test_key_that_goes_down_as_the_keyboard_is_opened_is_down_at_start_and_not_pressed_too(xvfb):
    at_start, found, again = run_program(
        """
        from ghostblitz_task.apparatus.psychopy_devices import PtbKeys
        from psychopy.hardware.keyboard import KeyboardDevice
        clear = KeyboardDevice.clearEvents
        def clear_and_press(device):
            clear(device)
            down(39)
            time.sleep(0.05)
        KeyboardDevice.clearEvents = clear_and_press
        keys = PtbKeys()
        def seen():
            time.sleep(0.05)
            return [(e.kind, e.key, e.code) for e in keys.events()]
        found = seen()
        up(39)
        found += seen()
        tap(39)
        report([keys.describe()["keys_down_at_start"], found, seen()])
        keys.close()
        """
    )
    assert at_start == ["s"]
    assert found == [["release", "s", 40]]
    assert again == [["press", "s", 40], ["release", "s", 40]]


# --- polled keys -------------------------------------------------------------------------------

_POLLED = """
def open_polled():
    return open_window(key_backend="event", allow_polled_keys=True)
"""


def run_polled(body: str) -> Any:
    return run_program(_POLLED + textwrap.dedent(body))


def test_polled_key_that_is_held_is_pressed_once_and_released_once(xvfb):
    at_start, held, again = run_polled(
        """
        down(38)
        window = open_polled()
        frames(window)
        down(39)
        held = frames(window, 80)
        up(39)
        time.sleep(0.02)
        held += frames(window)
        up(38)
        time.sleep(0.02)
        held += frames(window)
        tap(39)
        time.sleep(0.02)
        report([window.describe()["keys_down_at_start"], held, frames(window)])
        window.close()
        """
    )
    assert at_start == ["a"]
    assert held == [["press", "s", 39], ["release", "s", 39], ["release", "a", 38]]
    assert again == [["press", "s", 39], ["release", "s", 39]]


def test_polled_key_has_one_name_whatever_the_modifiers_and_locks(xvfb):
    found = run_polled(
        f"""
        window = open_polled()
        found = []
        def press_all(*codes):
            down(*codes)
            for code in (10, 38, 79):
                tap(code)
            up(*codes)
            time.sleep(0.02)
            return [e for e in frames(window) if e[2] not in codes]
        for codes in ((), ({SHIFT},), ({CONTROL},), ({CAPS_LOCK},), ({NUM_LOCK},)):
            found.append(press_all(*codes))
        # Shift comes up before the key and goes down after it.
        down({SHIFT}, 10)
        up({SHIFT}, 10)
        down(10, {SHIFT})
        up(10, {SHIFT})
        time.sleep(0.02)
        found.append([e for e in frames(window) if e[2] != {SHIFT}])
        report(found)
        window.close()
        """
    )
    *alike, mixed = found
    places = {10: "1", 38: "a", 79: "num_7"}
    taps = [[kind, name, code] for code, name in places.items() for kind in ("press", "release")]
    assert alike == [taps] * 5
    assert mixed == [["press", "1", 10], ["release", "1", 10]] * 2


def test_polled_key_that_comes_up_in_another_window_is_released_and_can_be_pressed_again(xvfb):
    found, again, coarse = run_polled(
        """
        window = open_polled()
        frames(window)
        down(39)
        time.sleep(0.02)
        found = frames(window)
        other = server.screen().root.create_window(0, 0, 50, 50, 0, 0, override_redirect=True)
        other.map()
        server.sync()
        other.set_input_focus(X.RevertToNone, X.CurrentTime)
        server.sync()
        found += frames(window, 20)
        up(39)
        ours = server.create_resource_object("window", window._window.winHandle._window)
        ours.set_input_focus(X.RevertToNone, X.CurrentTime)
        server.sync()
        time.sleep(0.02)
        coarse = []
        for _ in range(6):
            window.present(blank)
            for e in window.events():
                found.append([e.kind, e.key, e.code])
                coarse.append(e.resolution_s)
        tap(39)
        time.sleep(0.02)
        report([found, frames(window), coarse])
        window.close()
        """
    )
    assert found == [["press", "s", 39], ["release", "s", 39]]
    assert again == [["press", "s", 39], ["release", "s", 39]]
    assert coarse[0] > 0.2  # As long as nobody looked.


# --- nothing is lost ---------------------------------------------------------------------------

N_TAPS, HOLD_S = 500, 0.005
_PRESSER = """
import json, sys, time
import numpy as np
from psychtoolbox import GetSecs
from Xlib import X, display
from Xlib.ext import xtest
server = display.Display()
rng = np.random.default_rng(int(sys.argv[1]))
codes = rng.choice([38, 39, 40, 41, 44, 45, 46, 65], int(sys.argv[2]))
gaps_s = rng.uniform(0.012, 0.06, len(codes))
done = []
for code, gap_s in zip(codes.tolist(), gaps_s.tolist()):
    times_s = []
    for kind, wait_s in ((X.KeyPress, float(sys.argv[3])), (X.KeyRelease, gap_s)):
        times_s.append(GetSecs())
        xtest.fake_input(server, kind, code)
        server.sync()
        time.sleep(wait_s)
    done.append([code, *times_s])
print(json.dumps(done))
"""
_COLLECTOR = """
from psychopy import logging as psychopy_logging
window = open_window()
device = window._keys._device
ids, receive = [], device.receiveMessage
device.receiveMessage = lambda press: (ids.append(id(press)), receive(press))
presser = subprocess.Popen(
    [sys.executable, "-c", sys.argv[1], "3", *sys.argv[2:]], stdout=subprocess.PIPE, text=True
)
events, ends_s, n_after = [], [], 0
while n_after < 2:
    n_after += presser.poll() is not None
    trial = len(ends_s)
    for _ in range(18):
        window.present(blank)
        now_s = psychopy_logging.defaultClock.getTime()
        events += [(trial, e.kind, e.code, e.t_s, e.resolution_s) for e in window.events()]
    ends_s.append(now_s)
    window.between_trials()
zero_s = psychopy_logging.defaultClock.getLastResetTime()
injected = [[c + 1, a - zero_s, b - zero_s] for c, a, b in json.loads(presser.stdout.read())]
report([events, injected, ends_s, len(set(ids)), len(window._keys._down), len(device.responses)])
window.close()
"""


@pytest.mark.slow
def test_none_of_1000_events_of_5_ms_taps_is_lost_doubled_or_in_another_trial(xvfb, capsys):
    events, injected, ends_s, n_ids, *left = run_program(
        _COLLECTOR, _PRESSER, str(N_TAPS), str(HOLD_S)
    )
    expected = [[kind, tap[0]] for tap in injected for kind in ("press", "release")]
    assert len(expected) == 2 * N_TAPS
    late_s = np.array([e[3] for e in events]) - np.array([t for tap in injected for t in tap[1:]])
    print_figures(capsys, events, expected, late_s)
    assert [e[1:3] for e in events] == expected
    misplaced = [e for e in events if not is_of_its_trial(e, ends_s)]
    assert not misplaced
    holds_s = np.array([b[3] - a[3] for a, b in zip(events[::2], events[1::2], strict=True)])
    true_holds_s = np.array([tap[2] - tap[1] for tap in injected])
    assert np.median(np.abs(holds_s - true_holds_s)) < 0.001
    assert np.median(late_s) < 0.003
    # Press objects that are gone leave their identities to later ones; nothing came of it.
    assert n_ids < N_TAPS
    assert left == [0, 0]


def print_figures(capsys: Any, events: list[Any], expected: list[Any], late_s: Any) -> None:
    with capsys.disabled():
        print(
            f"\n{len(expected)} events of {1000 * HOLD_S:g}-ms taps: {len(expected) - len(events)} "
            f"lost; stamp minus injection {1000 * late_s.mean():.2f} ms, SD "
            f"{1000 * late_s.std():.2f} ms, largest {1000 * late_s.max():.2f} ms"
        )


def is_of_its_trial(event: list[Any], ends_s: list[float]) -> bool:
    """Whether an event came with the trial in which its time lies, or as that one ended."""
    trial, *_, t_s, resolution_s = event
    place = bisect_left(ends_s, t_s)
    # What happens within a few ms of the last look at the keys comes with the next trial.
    return place == trial or (place == trial - 1 and ends_s[place] - t_s <= resolution_s + 0.002)
