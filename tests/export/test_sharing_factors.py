"""Columns that a mapping calls factors: conditions are shared, descriptions of people are not."""

from __future__ import annotations

import pytest

from ghostblitz_analysis.export.sharing.factors import age_band, shared_factor
from ghostblitz_analysis.export.sharing.report import Tally
from ghostblitz_analysis.export.sharing.telling_texts import dates_in_words, phone_numbers


@pytest.mark.parametrize(
    ("age", "band"),
    [("0", "0-4"), ("19", "15-19"), ("20", "20-24"), ("24.9", "20-24"), ("89", "85-89"),
     ("90", "90+"), ("104", "90+"), ("old", None), ("", None), ("-3", None)],
)  # fmt: skip
def test_ages_are_in_bands_of_five_years(age: str, band: str | None) -> None:
    assert age_band(age) == band


#: Four people, of whom the first two and the last two are alike in what describes them.
PEOPLE = ["p1", "p2", "p3", "p4"]


def fate(levels: list[str], *, name: str = "factor_group", ids: tuple[str, ...] = ()) -> str | None:
    """Share a column in which each participant has one level, and return why it was dropped."""
    tally = Tally()
    found = shared_factor(name, levels * 4, PEOPLE * 4, tally, ids=ids)
    (told,) = tally.factors()
    assert found == (levels * 4 if told.why_dropped is None else None)
    return told.why_dropped


@pytest.mark.parametrize(
    "levels",
    [["a", "b", "a", "b"], ["left", "left", "right", "right"], ["1", "1", "2", "2"],
     ["0.333333333", "0.333333333", "0.5", "0.5"], ["Marchers", "Marchers", "x", "x"],
     ["very long cue", "very long cue", "x", "x"]],
)  # fmt: skip
def test_a_condition_that_several_have_is_shared(levels: list[str]) -> None:
    assert fate(levels) is None


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("3.4.2025", "a date"),
        ("2025-04-03 10:00", "a date"),
        ("10:30", "a date or a time"),
        ("3 May 1990", "a date"),
        ("im März", "a date"),
        ("Februar", "a date"),
        ("3. Okt 90", "a date"),
        ("x@uni-example.org", "an e-mail"),
        ("/home/anna/data", "a path"),
        ("0171 2345678", "a telephone number"),
        ("+49 (0)171-23456", "a telephone number"),
        ("id 123456", "a telephone number"),
        ("Dr Meier", "somebody's title"),
        ("Frau Huber", "somebody's title"),
        ("was ill that day", "free text"),
        ("w" * 31, "free text"),
        ("as Quigley said", "an id"),
    ],
)
def test_a_level_that_tells_drops_its_column(level: str, why: str) -> None:
    # Even if it is a condition that changes within participants and several have it.
    people = ["p1", "p1", "p2", "p2", "p3", "p3"]
    tally = Tally()
    cells = [level, "b", level, "b", level, "b"]
    assert shared_factor("factor_x", cells, people, tally, ids=("Quigley",)) is None
    (told,) = tally.factors()
    assert why in str(told.why_dropped)
    assert level not in told.to_text()


@pytest.mark.parametrize(
    "levels", [["a", "b", "c", "d"], ["a", "a", "a", "twin"], ["deaf", "no", "no", "no"]]
)
def test_what_describes_people_and_singles_one_out_is_dropped(levels: list[str]) -> None:
    assert "one participant's alone" in str(fate(levels))


def test_a_level_of_one_participant_is_shared_where_most_people_have_several() -> None:
    people = ["p1", "p1", "p2", "p2", "p3", "p3"]
    cells = ["a", "b", "a", "b", "a", "c"]
    assert shared_factor("factor_x", cells, people, Tally()) == cells
    # A remark in one trial makes no condition of what else describes people.
    cells = ["a", "coughed", "a", "a", "b", "b"]
    assert shared_factor("factor_x", cells, people, Tally()) is None


@pytest.mark.parametrize("name", ["born", "remark", "Phone", "home_address", "plz", "last_name"])
def test_a_column_whose_name_says_that_it_describes_a_person_is_dropped(name: str) -> None:
    assert "its name" in str(fate(["a", "a", "b", "b"], name=f"factor_{name}"))


def test_a_factor_that_varies_within_participants_may_have_many_levels_but_not_too_many() -> None:
    people = [f"p{n % 2}" for n in range(63)]
    assert shared_factor("factor_x", [str(n % 20) for n in range(63)], people, Tally())
    assert shared_factor("factor_x", [str(n % 21) for n in range(63)], people, Tally()) is None


@pytest.mark.parametrize(
    "text", ["on 3 May 1990", "14. März 2026", "March 14, 2026", "14th of March 2026", "3-Oct-90",
             "le 1 février 2025", "3 MAY 1990"],
)  # fmt: skip
def test_a_date_in_words_is_found(text: str) -> None:
    assert list(dates_in_words(text))


@pytest.mark.parametrize(
    "text", ["we may 5 times", "May 2026", "100 marches 12", "1 Marker 20", "in March", "Mar 5"]
)
def test_what_is_no_day_in_words_is_passed_over(text: str) -> None:
    assert not list(dates_in_words(text))


@pytest.mark.parametrize(
    "text", ["+49 171 2345678", "call 0171 2345678", "(030) 1234567", "0171/234 56 78",
             "+1 555-123-4567", "0049 171 2345678"],
)  # fmt: skip
def test_a_telephone_number_is_found(text: str) -> None:
    assert list(phone_numbers(text))


@pytest.mark.parametrize(
    "text", ["0000-0002-1825-0097", "0123-4567", "0.171 2345678", "2026-03-04 05:06:07",
             "10.1234/0171-2345678", "1e+05 1234567", "0171 12", "12 171 2345678"],
)  # fmt: skip
def test_what_is_no_telephone_number_is_passed_over(text: str) -> None:
    assert not list(phone_numbers(text))
