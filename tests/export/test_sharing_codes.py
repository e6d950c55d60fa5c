"""Codes tell nothing, the key is for its owner only, and settings survive being written anew."""

from __future__ import annotations

import os
import re
import stat
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_analysis.export.sharing.codes import (
    CodeBook,
    check_key_place,
    random_code,
    read_key,
    write_key,
)
from ghostblitz_analysis.export.sharing.factors import age_band, shared_factor
from ghostblitz_analysis.export.sharing.report import SharingReport, SharingStep, Tally
from ghostblitz_analysis.export.sharing.rounds import shared_round
from ghostblitz_analysis.export.sharing.texts import Calendar, without_places
from ghostblitz_analysis.export.sharing.toml_files import toml_text
from ghostblitz_task.errors import DatasetError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ODD_IDS = ("01", "1", "NA", "n/a", "=1+1", "Zoë", "two words", "a,b", 'say "x"', "x" * 64)


def test_a_code_has_no_character_that_looks_like_another() -> None:
    codes = {random_code() for _ in range(300)}
    assert len(codes) == 300
    assert all(re.fullmatch(r"P[BCDFGHJKMNPQRTVWX2346789]{6}", code) for code in codes)


def test_the_same_ids_get_other_codes_each_time() -> None:
    first, second = (CodeBook({}).code_of("p1") for _ in range(2))
    assert first != second


def test_a_code_that_is_taken_or_somebodys_id_is_drawn_again() -> None:
    draws = iter(["PBBBBBB", "pccCCCC", "PDDDDDD", "PDDDDDD", "PFFFFFF"])
    book = CodeBook({"old": "PBBBBBB"}, avoided=["PCCCCCC"], draw=lambda: next(draws))
    assert [book.code_of(i) for i in ("a", "b", "a", "old")] == [
        "PDDDDDD", "PFFFFFF", "PDDDDDD", "PBBBBBB",
    ]  # fmt: skip


def test_codes_that_run_out_are_told() -> None:
    book = CodeBook({}, draw=lambda: "PBBBBBB")
    book.code_of("a")
    with pytest.raises(DatasetError, match="no free code"):
        book.code_of("b")


def test_a_key_comes_back_to_the_letter(tmp_path: Path) -> None:
    codes = {who: f"PBBBBB{'BCDFGHJKMN'[n]}" for n, who in enumerate(ODD_IDS)}
    write_key(tmp_path / "key.csv", codes, known={})
    assert read_key(tmp_path / "key.csv") == codes


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_a_key_is_for_its_owner_only(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    before = os.umask(0)
    try:
        write_key(key, {"a": "PBBBBBB"}, known={})
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        key.chmod(0o644)
        write_key(key, {"a": "PBBBBBB", "b": "PCCCCCC"}, known={"a": "PBBBBBB"})
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert [p.name for p in tmp_path.iterdir()] == ["key.csv"]


def test_a_new_key_is_never_written_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(DatasetError, match="is there already"):
        write_key(tmp_path / "key.csv", {"a": "PBBBBBB"}, known={})
    assert (tmp_path / "key.csv").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "text",
    ["", "who,code\na,PBBBBBB\n", "id,code\na\n", "id,code\na,\n", "id,code\na,P1\na,P2\n",
     "id,code\na,P1\nb,P1\n", "id,code\na,=1+1\n", "id,code\n\"a,P1\n"],
)  # fmt: skip
def test_what_is_no_key_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"key|twice|no id with its code"):
        read_key(tmp_path / "key.csv")


def test_a_key_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "export")
    (tmp_path / "key.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(DatasetError, match="no plain file"):
        check_key_place(tmp_path / "key.csv", outside=[])
    with pytest.raises(DatasetError, match="keep it elsewhere"):
        check_key_place(tmp_path / "link" / "key.csv", outside=[tmp_path / "export"])
    check_key_place(tmp_path / "export-key.csv", outside=[tmp_path / "export"])


# --- rounds ---------------------------------------------------------------------------------


def test_names_are_replaced_in_words_that_hold_them_as_words() -> None:
    played = {
        "outcome": "won", "winner": "a", "tied": ["a", "give"], "by_lot": True, "voided_by": None,
        "penalties": [
            {"player": "card", "gave": True, "mistaken": True},
            {"player": "first", "gave": False, "mistaken": True},
        ],
        "recycled": [], "n_won": {"a": 2, "give": 0, "card": 1, "first": 0}, "n_jackpot": 0,
        "n_pile": 3,
        "reason": "a was right first and takes the card; a and give cannot be told apart in time: "
        "the lot decides; card gives up a card to a; first has none to give up",
    }  # fmt: skip
    names = {"a": "P1", "give": "P2", "card": "P3", "first": "P4"}
    shared = shared_round(played, names)
    assert shared["reason"] == (
        "P1 was right first and takes the card; P1 and P2 cannot be told apart in time: the lot "
        "decides; P3 gives up a card to P1; P4 has none to give up"
    )
    assert shared["n_won"] == {"P1": 2, "P2": 0, "P3": 1, "P4": 0}
    assert [p["player"] for p in shared["penalties"]] == ["P3", "P4"]


def test_words_of_another_version_are_left_out() -> None:
    played = {
        "outcome": "won", "winner": "a", "tied": [], "by_lot": False, "voided_by": None,
        "penalties": [], "recycled": [], "n_won": {"a": 1}, "n_jackpot": 0, "n_pile": 3,
        "reason": "a hat trick of Anna",
    }  # fmt: skip
    assert shared_round(played, {"a": "P1"})["reason"] == "not shared"


# --- factors, texts, dates ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "band"),
    [("0", "0-4"), ("19", "15-19"), ("20", "20-24"), ("24.9", "20-24"), ("89", "85-89"),
     ("90", "90+"), ("104", "90+"), ("old", None), ("", None), ("-3", None)],
)  # fmt: skip
def test_ages_are_in_bands_of_five_years(age: str, band: str | None) -> None:
    assert age_band(age) == band


@pytest.mark.parametrize(
    ("levels", "is_kept"),
    [
        (["a", "b", "a"], True),
        (["a", "b", "c"], False),  # each has a level of their own
        (["3.4.2025", "3.4.2025", "a"], False),
        (["2025-04-03 10:00", "b", "b"], False),
        (["10:30", "b", "b"], False),
        (["x@uni-example.org", "b", "b"], False),
        (["/home/anna/data", "b", "b"], False),
        (["w" * 41, "b", "b"], False),
        (["left", "left", "right"], True),
    ],
)
def test_a_factor_that_tells_who_somebody_is_is_dropped(levels: list[str], is_kept: bool) -> None:
    people = ["p1", "p2", "p3"]
    found = shared_factor("factor_group", levels * 4, people * 4, Tally())
    assert found == (levels * 4 if is_kept else None)


def test_a_factor_that_varies_within_participants_may_have_many_levels_but_not_too_many() -> None:
    people = [f"p{n % 2}" for n in range(63)]
    assert shared_factor("factor_x", [str(n % 20) for n in range(63)], people, Tally())
    assert shared_factor("factor_x", [str(n % 21) for n in range(63)], people, Tally()) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("read from /home/anna/x.txt here", "read from (path) here"),
        (r"no C:\Users\Anna\x here", "no (path) here"),
        (r"on \\labserver\anna\x here", "on (path) here"),
        ("port /dev/ttyUSB0, COM3", "port (port), (port)"),
        ("on 2025-03-04 we asked a.b@uni-example.org", "on (date) we asked (address)"),
        ("60 Hz, 1/2 of frames, X11 and/or 3.11.7", "60 Hz, 1/2 of frames, X11 and/or 3.11.7"),
    ],
)
def test_sentences_lose_their_places(said: str, told: str) -> None:
    assert without_places(said) == told


def test_days_are_counted_over_chains_of_people_who_played_together() -> None:
    sessions = [
        (("a", "b"), "2025-03-10T10:00:00+00:00"),
        (("c", "b"), "2025-03-04T10:00:00+00:00"),
        (("d",), None),
    ]
    calendar = Calendar(sessions)
    assert calendar.shifted("a", "2025-03-10T10:00:00+00:00") == "1900-01-07T00:00:00+00:00"
    assert calendar.shifted("d", None) is None
    assert calendar.shifted("c", "no time") is None


# --- report and TOML ---------------------------------------------------------------------------


def test_the_report_tells_each_step_under_its_action() -> None:
    steps = (SharingStep("dropped", "reasons", 2), SharingStep("replaced", "ids", 5))
    text = SharingReport(5, 5, steps).to_text()
    assert re.search(r"## Replaced\n\n- ids: 5\n\n## Dropped\n\n- reasons: 2\n", text)
    assert "## Coarsened" not in text
    assert "1900-01-01, and further" not in text  # Where there were no dates of sessions.


_SCALARS = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.dates(min_value=date(1900, 1, 1))
)
_KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_TABLES = st.recursive(
    st.dictionaries(_KEYS, _SCALARS, max_size=3),
    lambda inner: st.dictionaries(
        _KEYS, _SCALARS | inner | st.lists(inner, max_size=3) | st.lists(_SCALARS, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(_TABLES)
def test_settings_written_anew_are_the_same(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(table)) == table


def test_comments_stay_behind() -> None:
    text = '# Anna\'s\na = "x # y" # Bert\n[[b]]\nc = 1\n'
    written = toml_text(tomllib.loads(text))
    assert "Anna" not in written
    assert "Bert" not in written
    assert tomllib.loads(written) == {"a": "x # y", "b": [{"c": 1}]}
