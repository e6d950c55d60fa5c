"""What events mean, and which keys and buttons are down."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_study import GRAB_KEYS, SHOUT_KEYS, make_screens, make_settings

from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.event_meanings import (
    EventReader,
    as_buttons,
    as_keys,
    card_event_reader,
    is_button,
)
from ghostblitz_task.scoring import TrialEvent

GHOST = GRAB_KEYS["ghost"]


@pytest.fixture
def reader() -> EventReader:
    settings = make_settings("grab-or-shout")
    return card_event_reader(settings, make_screens(settings))


def press(key: str, t_s: float = 1.0, device: str = "keyboard") -> DeviceEvent:
    return DeviceEvent(t_s, device, "press", key, None, 0.001)  # type: ignore[arg-type]


def release(key: str, t_s: float = 2.0, device: str = "keyboard") -> DeviceEvent:
    return replace(press(key, t_s, device), kind="release")


def read(reader: EventReader, *events: DeviceEvent) -> list[TrialEvent]:
    return [reader.read(event) for event in events]


@pytest.mark.parametrize(
    ("key", "device", "meaning"),
    [
        (GHOST, "keyboard", ("grab_keys", "grab", "ghost")),
        (GHOST, "button_box", ("grab_buttons", "grab", "ghost")),
        (SHOUT_KEYS["book"], "button_box", ("shout_buttons", "shout", "book")),
        ("pad-1:x", "button_box", ("other_buttons", None, None)),
        ("f9", "keyboard", ("other_keys", None, None)),
    ],
)
def test_button_means_what_its_key_means_and_says_that_it_is_one(reader, key, device, meaning):
    for event in (press(key, device=device), release(key, device=device)):
        found = reader.read(event)
        assert (found.device, found.mode, found.answer) == meaning


def test_key_and_the_button_that_stands_for_it_are_held_apart(reader):
    found = read(
        reader,
        press(GHOST),
        press(GHOST, 1.1, "button_box"),
        press(GHOST, 1.2),
        release(GHOST, 1.3, "button_box"),
        press(GHOST, 1.4),
        press(GHOST, 1.5, "button_box"),
    )
    assert [e.repeated for e in found] == [False, False, True, False, True, False]
    assert reader.down == {("keyboard", GHOST), ("button_box", GHOST)}


def test_key_is_held_once_and_as_long_as_keyboard_or_pad_holds_it(reader):
    read(reader, press(GHOST, 1.0), press(GHOST, 1.1, "button_box"))
    assert reader.held_at(1.5, []) == (GHOST,)
    since = read(reader, release(GHOST, 2.0), release(GHOST, 3.0, "button_box"))
    assert reader.down == set()
    assert reader.held_at(1.5, since) == (GHOST,)
    assert reader.held_at(2.5, since) == (GHOST,)
    assert reader.held_at(3.5, since) == ()


def test_button_without_releases_answers_each_time_and_is_never_held(reader):
    tap = replace(press(GHOST, device="button_box"), reports_release=False)
    found = read(reader, tap, replace(tap, t_s=1.5))
    assert [e.repeated for e in found] == [False, False]
    assert reader.down == set()
    assert reader.held_at(1.2, found[1:]) == ()


def test_release_of_a_key_that_nobody_saw_go_down_tells_that_it_was_down(reader):
    (found,) = read(reader, release(GHOST, 2.0))
    assert found.kind == "release"
    assert reader.down == set()
    assert reader.held_at(1.5, [found]) == (GHOST,)


def test_every_kind_of_key_has_its_kind_of_button():
    for keys, buttons in (("grab_keys", "grab_buttons"), ("look_key", "look_button")):
        assert as_buttons(keys) == buttons
        assert as_keys(buttons) == keys
        assert is_button(buttons)
        assert not is_button(keys)
    assert as_keys("pointer") == as_buttons("pointer") == "pointer"
