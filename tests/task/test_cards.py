"""The card text: what it can say, and how each fault is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import ITEM_COLOURS

from ghostblitz_task.cards import ERROR_CODES, Card, Picture, is_name, parse_card
from ghostblitz_task.errors import CardError

NINE = {
    "bat": "black", "hat": "black", "key": "green", "mirror": "green", "flashlight": "blue",
    "clock": "blue", "vial": "red", "owl": "red", "ghost": "white",
}  # fmt: skip
pictures = st.builds(
    Picture, st.sampled_from(list(ITEM_COLOURS)), st.sampled_from(list(ITEM_COLOURS.values()))
)


@given(st.lists(pictures, min_size=1, max_size=5, unique_by=lambda p: p.item))
def test_text_of_a_card_reads_back_as_the_same_card(shown: list[Picture]) -> None:
    card = Card(tuple(shown))
    assert parse_card(str(card), ITEM_COLOURS) == card


@given(st.lists(pictures, min_size=2, max_size=5, unique_by=lambda p: p.item), st.randoms())
def test_card_id_knows_no_order_but_the_text_does(shown: list[Picture], random) -> None:
    other = random.sample(shown, len(shown))
    assert Card(tuple(shown)).card_id == Card(tuple(other)).card_id
    assert (str(Card(tuple(shown))) == str(Card(tuple(other)))) == (shown == other)


def test_clock_keeps_its_time_and_a_mirror_what_it_shows() -> None:
    text = "clock:green@11:55 mirror:blue(hat:red) key:white"
    card = parse_card(text, NINE, timed_items={"clock"})
    assert str(card) == text
    assert card.pictures[0] == Picture("clock", "green", time="11:55")
    assert [p.item for p in card.depicted] == ["clock", "mirror", "hat", "key"]
    assert card.depicted[2] == Picture("hat", "red")


def test_clock_in_the_mirror_keeps_its_time() -> None:
    card = parse_card("mirror:blue(clock:red@01:05)", NINE, timed_items={"clock"})
    assert card.depicted[1] == Picture("clock", "red", time="01:05")
    assert str(card) == "mirror:blue(clock:red@01:05)"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed"),
        ("   ", "malformed"),
        ("ghost", "malformed"),
        ("ghost white", "malformed"),
        ("ghost:", "malformed"),
        (":white", "malformed"),
        ("ghost::white", "malformed"),
        ("ghost:white,book:red", "malformed"),
        ("ghost:white@", "malformed"),
        ("ghost:white@11:55", "malformed"),
        ("ghost:white()", "malformed"),
        ("ghost:white(book:red)", "malformed"),
        ("ghost:white(book:red", "malformed"),
        ("clock:blue@00:30", "malformed"),
        ("clock:blue@13:00", "malformed"),
        ("clock:blue@12:60", "malformed"),
        ("clock:blue@1:05", "malformed"),
        ("clock:blue@11:5٣", "malformed"),
        ("clock:blue@1٢:00", "malformed"),
        ("mirror:blue(mirror:red(owl:red))", "malformed"),
        ("Ghost:white", "unknown_item"),
        ("dragon:white ghost:white", "unknown_item"),
        ("dragon:pink", "unknown_item"),
        ("mirror:blue(dragon:red)", "unknown_item"),
        ("ghost:pink", "unknown_colour"),
        ("ghost:White", "unknown_colour"),
        ("mirror:blue(hat:pink)", "unknown_colour"),
        ("clock:blue", "clock_without_time"),
        ("clock:blue clock:red", "clock_without_time"),
        ("mirror:blue(clock:red)", "clock_without_time"),
        ("ghost:white ghost:red", "duplicate_item"),
        ("ghost:white ghost:white", "duplicate_item"),
        ("hat:black mirror:blue(hat:red)", "duplicate_item"),
    ],
)
def test_faulty_text_has_its_code(text: str, code: str) -> None:
    with pytest.raises(CardError, match=r"card") as caught:
        parse_card(text, NINE, timed_items={"clock"})
    assert caught.value.code == code
    assert code in ERROR_CODES
    assert "\n" not in str(caught.value)


def test_a_studys_own_clock_needs_no_time() -> None:
    assert str(parse_card("clock:red", {"clock": "red", "key": "blue"})) == "clock:red"


def test_white_space_between_pictures_has_no_meaning() -> None:
    tidy = parse_card("ghost:white book:red", ITEM_COLOURS)
    assert parse_card("  ghost:white \t book:red\n", ITEM_COLOURS) == tidy


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_with_a_code(text: str) -> None:
    try:
        card = parse_card(text, ITEM_COLOURS)
    except CardError as error:
        assert error.code in ERROR_CODES  # noqa: PT017 - any outcome is tested
    else:
        assert parse_card(str(card), ITEM_COLOURS) == card


@pytest.mark.parametrize("name", ["ghost", "Zoë", "red-ghost", "7", "ghost_2"])
def test_one_word_is_a_name(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "red ghost", "a:b", "a@b", "a(b", "a)", "a\n"])
def test_what_a_card_text_could_not_tell_apart_is_no_name(name: str) -> None:
    assert not is_name(name)
