"""Codes tell nothing, the key is for its owner only, and settings survive being written anew."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

import pytest

from ghostblitz_analysis.export.sharing.codes import (
    CodeBook,
    check_key_place,
    is_private,
    key_only_with_export,
    random_code,
    read_key,
    write_key,
)
from ghostblitz_analysis.export.sharing.copies import sharing_lines
from ghostblitz_analysis.export.sharing.report import SharingReport, SharingStep
from ghostblitz_analysis.export.sharing.rounds import shared_round
from ghostblitz_analysis.export.sharing.texts import Calendar, without_places
from ghostblitz_task.errors import DatasetError

if sys.version_info >= (3, 11):
    pass
else:
    pass

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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_an_earlier_key_that_others_could_read_is_made_the_owners_or_told(tmp_path: Path) -> None:
    key, codes = tmp_path / "key.csv", {"a": "PBBBBBB"}
    write_key(key, codes, known={})
    key.chmod(0o644)
    assert not is_private(key)
    (line, *_) = sharing_lines(SharingReport(1, 0, ()), key)
    assert "others on this machine may read" in line
    assert "only you" not in line
    write_key(key, codes, known=codes)
    assert is_private(key)
    (line, *_) = sharing_lines(SharingReport(1, 0, ()), key)
    assert "which only you can read" in line


@pytest.mark.parametrize("error", [DatasetError("no"), KeyboardInterrupt()])
def test_a_new_key_does_not_outlive_the_export_that_it_was_made_for(
    error: BaseException, tmp_path: Path
) -> None:
    key = tmp_path / "key.csv"

    def export() -> None:
        with key_only_with_export(key, export=tmp_path / "export"):
            write_key(key, {"a": "PBBBBBB"}, known={})
            raise error

    with pytest.raises(type(error)):
        export()
    assert list(tmp_path.iterdir()) == []
    with key_only_with_export(key, export=tmp_path / "export"):
        write_key(key, {"a": "PBBBBBB"}, known={})
    assert key.is_file()


def test_an_earlier_key_is_as_it_was_if_there_is_no_export(tmp_path: Path) -> None:
    key, known = tmp_path / "key.csv", {"a": "PBBBBBB"}
    write_key(key, known, known={})

    def export() -> None:
        with key_only_with_export(key, export=tmp_path / "export"):
            write_key(key, {**known, "b": "PCCCCCC"}, known=known)
            raise DatasetError("no")

    with pytest.raises(DatasetError, match="no"):
        export()
    assert read_key(key) == known
    assert list(tmp_path.iterdir()) == [key]


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


def test_words_that_somebody_added_to_a_round_are_left_out() -> None:
    played = {
        "outcome": "won", "winner": "a", "tied": [], "by_lot": False, "voided_by": None,
        "penalties": [], "recycled": [], "n_won": {"a": 1, "Meier": 2}, "n_jackpot": 0, "n_pile": 3,
        "reason": "a was right first and takes the card; Meier felt ill",
    }  # fmt: skip
    shared = shared_round(played, {"a": "P1"})
    assert shared["reason"] == "not shared"
    assert shared["n_won"] == {"P1": 1, "not shared": 2}


def test_words_of_another_version_are_left_out() -> None:
    played = {
        "outcome": "won", "winner": "a", "tied": [], "by_lot": False, "voided_by": None,
        "penalties": [], "recycled": [], "n_won": {"a": 1}, "n_jackpot": 0, "n_pile": 3,
        "reason": "a hat trick of Anna",
    }  # fmt: skip
    assert shared_round(played, {"a": "P1"})["reason"] == "not shared"


# --- factors, texts, dates ---------------------------------------------------------------------


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


# --- report ---------------------------------------------------------------------------


def test_the_report_tells_each_step_under_its_action() -> None:
    steps = (SharingStep("dropped", "reasons", 2), SharingStep("replaced", "ids", 5))
    text = SharingReport(5, 5, steps).to_text()
    assert re.search(r"## Replaced\n\n- ids: 5\n\n## Dropped\n\n- reasons: 2\n", text)
    assert "## Coarsened" not in text
    assert "1900-01-01, and further" not in text  # Where there were no dates of sessions.


def test_a_key_is_kept_once_its_export_is_whole(tmp_path: Path) -> None:
    key, export = tmp_path / "key.csv", tmp_path / "export"

    def interrupted() -> None:
        with key_only_with_export(key, export=export):
            write_key(key, {"a": "PBBBBBB"}, known={})
            export.mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert key.is_file()


def test_a_link_given_for_a_key_is_not_deleted(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    key.symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(DatasetError), key_only_with_export(key, export=tmp_path / "export"):
        raise DatasetError("refused")
    assert key.is_symlink()
