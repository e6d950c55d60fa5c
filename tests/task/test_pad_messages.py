"""What the bytes of a response pad mean: every one is an event, and none is two."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus.pad_messages import (
    ButtonChange,
    PadKeys,
    byte_reader,
    byte_times_s,
    pad_latency_s,
)
from ghostblitz_task.apparatus_settings import ApparatusSettings, PadSettings
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.settings_files import validate_settings

BYTES = st.binary(max_size=60)


def pad(**settings: object) -> PadSettings:
    table = {"kind": "serial", "port": "/dev/ttyS0", "buttons": {"1": "a", "2": "s"}, **settings}
    return validate_settings(table, PadSettings, where="pad")


def changes(settings: PadSettings, data: bytes) -> list[ButtonChange]:
    reader = byte_reader(settings)
    return [change for byte in data for change in reader.read(byte)]


def test_characters_are_presses_and_those_named_for_it_releases():
    settings = pad(releases={"!": "1"})
    assert changes(settings, b"12!") == [
        ButtonChange("1", 0x31, "press", True),
        ButtonChange("2", 0x32, "press", False),
        ButtonChange("1", 0x31, "release", True),
    ]


@pytest.mark.parametrize(("byte", "named"), [(b"x", "x"), (b"\n", "0x0a"), (b"\xff", "0xff")])
def test_character_of_no_button_is_a_change_too(byte, named):
    assert changes(pad(), byte) == [ButtonChange(named, byte[0], "press", False)]


@given(data=BYTES)
def test_every_character_is_exactly_one_change(data):
    found = changes(pad(releases={"!": "1"}), data)
    assert len(found) == len(data)


def test_bits_of_a_state_byte_are_presses_and_releases_by_number():
    settings = pad(protocol="state", buttons={"0": "a", "2": "s"})
    assert changes(settings, bytes([0b101, 0b100, 0b100, 0])) == [
        ButtonChange("0", 0, "press", True),
        ButtonChange("2", 2, "press", True),
        ButtonChange("0", 0, "release", True),
        ButtonChange("2", 2, "release", True),
    ]


@given(data=BYTES)
def test_changes_of_states_add_up_to_the_last_one(data):
    down: set[int] = set()
    for change in changes(pad(protocol="state"), data):
        assert change.code is not None
        assert (change.code in down) == (change.kind == "release")
        down ^= {change.code}
    assert sum(1 << n for n in down) == (data[-1] if data else 0)


def test_button_is_the_key_it_stands_for_and_one_that_stands_for_none_keeps_its_pads_name():
    keys = PadKeys(2, {"1": "a"})
    known = ButtonChange("1", 0x31, "release", True)
    unknown = ButtonChange("0x0a", 10, "press", False)
    assert keys.event(known, t_s=3.0, resolution_s=0.002) == DeviceEvent(
        3.0, "button_box", "release", "a", 0x31, 0.002
    )
    assert keys.event(unknown, t_s=3.0, resolution_s=0.002) == DeviceEvent(
        3.0, "button_box", "press", "pad-2:0x0a", 10, 0.002, reports_release=False
    )


def test_resolution_has_the_byte_on_the_line_and_what_an_adapter_keeps_it():
    assert pad_latency_s(9600, 0.016) == pytest.approx(0.01804, abs=1e-5)
    assert pad_latency_s(115_200, 0.0) == pytest.approx(0.00109, abs=1e-5)


def test_bytes_read_together_came_one_after_the_other():
    assert byte_times_s(1, read_s=5.0, after_s=4.0, baud=1000) == [5.0]
    assert byte_times_s(3, read_s=5.0, after_s=4.0, baud=1000) == pytest.approx([4.98, 4.99, 5.0])


@given(ns=st.lists(st.integers(1, 30), max_size=9), gaps=st.lists(st.floats(1e-5, 1), min_size=9))
def test_no_byte_came_before_or_with_one_that_was_read_earlier(ns, gaps):
    times, read_s = [0.0], 0.0
    for n_bytes, gap_s in zip(ns, gaps, strict=False):
        after_s, read_s = read_s, read_s + gap_s
        times += byte_times_s(n_bytes, read_s=read_s, after_s=after_s, baud=9600)
        assert times[-1] == read_s
    assert all(a < b for a, b in pairwise(times))


CLASS = {"kind": "psychopy", "port": None, "device_class": "a.B"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": None}, 'a pad of kind "serial" needs port'),
        ({**CLASS, "device_class": None}, 'a pad of kind "psychopy" needs device_class'),
        ({"device_class": "a.B"}, 'device_class is not for a pad of kind "serial"'),
        ({"buttons": {"ab": "a"}}, "'ab' is not the one character of one byte"),
        ({"buttons": {"ł": "a"}}, "'ł' is not the one character of one byte"),
        ({"releases": {"xy": "1"}}, "'xy' is not the one character of one byte"),
        ({"releases": {"x": "3"}}, r"releases\.x: '3' is none of the buttons"),
        ({"releases": {"2": "1"}}, r"releases\.2: '2' is a button that goes down"),
        ({"protocol": "state", "buttons": {"8": "a"}}, "'8' is no bit of a state byte"),
        ({"protocol": "state", "releases": {"x": "1"}}, "releases are for a serial pad that sends"),
        ({**CLASS, "releases": {"x": "1"}}, "releases are for a serial pad that sends"),
        ({"buttons": {"1": "a", "2": "a"}}, "two buttons stand for the same key"),
        ({"buttons": {"1": "nokey"}}, "'nokey' is the name of no key"),
        ({"buttons": {}}, r"buttons: must not have fewer entries than 1"),
        ({"baud": 100}, r"baud: .*300"),
    ],
)
def test_pad_that_cannot_be_read_so_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        pad(**settings)


def test_two_pads_may_not_stand_for_the_same_key():
    first = {"kind": "serial", "port": "/dev/ttyS0", "buttons": {"1": "a"}}
    second = {"kind": "serial", "port": "/dev/ttyS1", "buttons": {"1": "s", "2": "a"}}
    with pytest.raises(ConfigError, match="buttons of two pads stand for key 'a'"):
        validate_settings(
            {"response_pads": [first, second]}, ApparatusSettings, where="apparatus.toml"
        )
