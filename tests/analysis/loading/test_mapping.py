"""What a mapping can state, each statement by what it does to a small table."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.mapping import comparable
from tests.analysis.loading.plain_tables import DIRECT, EXCLUSION, PLAIN, plain

TRIAL = {"who": "a", "card": DIRECT, "answer": "ghost", "time": 0.5}

# --- what a mapping can state ------------------------------------------------------------------


def test_pictures_and_items_as_lists_or_as_columns_are_the_same(bring):
    head = "who,i1,i2,i3,c1,c2,c3,items,colours,p1,p2,q1,q2,ps,qs,answer,time"
    row = "a,cup,hat,key,red,blue,green,cup hat key,red blue green,cup,hat,red,green,cup hat,red green,cup,0.5"  # noqa: E501
    start = '[dataset]\nname = "x"\n[columns]\nparticipant = "who"\nresponse = "answer"\nrt = "time"\nrt_unit = "s"\n'  # noqa: E501
    lists = (
        'items = "items"\nitem_colours = "colours"\npicture_items = "ps"\npicture_colours = "qs"\n'
    )
    columns = (
        'items = ["i1", "i2", "i3"]\nitem_colours = ["c1", "c2", "c3"]\n'
        'picture_items = ["p1", "p2"]\npicture_colours = ["q1", "q2"]\n'
    )
    tables = [bring(plain(row, header=head), start + keys) for keys in (lists, columns)]
    pd.testing.assert_frame_equal(*tables)
    assert tables[0]["card"].tolist() == ["cup:red hat:green"]
    assert tables[0]["item_colours"].tolist() == ["cup:red hat:blue key:green"]


@pytest.mark.parametrize(
    ("cell", "separator"),
    [("book|ghost", "|"), ('"[""book"", ""ghost""]"', " "), ("\"['book', 'ghost']\"", " ")],
)
def test_lists_may_be_written_in_other_ways(bring, cell, separator):
    other = cell.replace("book", "red").replace("ghost", "white")
    mapping = PLAIN.replace(
        'card = "card"',
        f'picture_items = "p"\npicture_colours = "c"\nlist_separator = "{separator}"',
    )
    text = plain(f"a,{cell},{other},ghost,0.5", header="who,p,c,answer,time")
    assert bring(text, mapping)["card"].tolist() == [DIRECT]


def test_names_and_keys_are_renamed(bring):
    mapping = (
        PLAIN
        + '[levels.item]\nGeist = "ghost"\nBuch = "book"\n'
        + '[levels.colour]\nweiss = "white"\nrot = "red"\n[levels.response]\nk = "ghost"\n'
    )
    mapping = mapping.replace(
        'card = "card"', 'picture_items = "p"\npicture_colours = "c"\ntarget = "t"'
    )
    text = plain("a,Buch Geist,rot weiss,k,0.5,Geist", "a,Buch Geist,rot weiss,Buch,0.5,Geist",
                 header="who,p,c,answer,time,t")  # fmt: skip
    trials = bring(text, mapping)
    assert trials["response"].tolist() == ["ghost", "book"]
    assert trials["card"].tolist() == [DIRECT] * 2


def test_own_mapping_can_be_fixed_for_all(bring):
    mapping = PLAIN + '[game]\nitem_colours = {cup = "red", hat = "blue", key = "green"}\n'
    trials = bring(plain("a,cup:blue,key,0.5"), mapping)
    assert trials["rule"].tolist() == ["exclusion"]
    assert trials["item_colours"].tolist() == ["cup:red hat:blue key:green"]


def test_two_items_and_one_picture_are_a_game(bring):
    mapping = PLAIN + '[game]\nitem_colours = {cup = "red", hat = "blue"}\n'
    assert bring(plain("a,cup:red,hat,0.5"), mapping)["error_kind"].tolist() == ["rule_confusion"]


@pytest.mark.parametrize(
    ("name", "delimiter", "text"),
    [
        ("t.csv", "auto", f"who;card;answer;time\na;{DIRECT};ghost;0.5\n"),
        ("t.tsv", "auto", f"who\tcard\tanswer\ttime\na\t{DIRECT}\tghost\t0.5\n"),
        ("t.csv", "tab", f"who\tcard\tanswer\ttime\na\t{DIRECT}\tghost\t0.5\n"),
        ("t.csv", "auto", f"\ufeffwho,card,answer,time\r\na,{DIRECT},ghost,0.5\r\n"),
        ("t.csv", "auto", f'"who","card","answer","time"\n"a","{DIRECT}","ghost","0.5"\n'),
        ("t.csv", "auto", f"who,card,answer,time,\na,{DIRECT},ghost,0.5,\n\n"),  # PsychoPy
        ("t.csv", "auto", f"who,card,answer,time\na,{DIRECT},ghost,0.5\n,,,\n,,,\n"),  # Excel
        ("t.csv", "auto", f",who,card,answer,time\n1,a,{DIRECT},ghost,0.5\n"),  # R
        ("t.jsonl", "auto", json.dumps(TRIAL)),
        ("t.json", "auto", json.dumps([TRIAL])),
    ],
)  # fmt: skip
def test_table_may_be_written_in_other_ways(bring, name, delimiter, text):
    trials = bring(text, PLAIN + f'[source]\ndelimiter = "{delimiter}"\n', name=name)
    assert trials["card"].tolist() == [DIRECT]
    assert trials["rt_s"].tolist() == [0.5]


def test_jspsych_and_jatos_json_comes_over(bring):
    trial = {"who": "a", "time": 500, "data": {"answer": "ghost"}, "p": ["book", "ghost"],
             "c": ["red", "white"], "kind": "card"}  # fmt: skip
    text = json.dumps([trial, {"who": "a", "kind": "words"}]) + "\n" + json.dumps([trial])
    mapping = (
        PLAIN.replace('card = "card"', 'picture_items = "p"\npicture_colours = "c"')
        .replace('"answer"', '"data.answer"')
        .replace('rt_unit = "s"', 'rt_unit = "ms"')
        + '[[filters]]\ncolumn = "kind"\naction = "keep"\nequals = "card"\nreason = "no card"\n'
    )
    trials = bring(text, mapping, name="t.json")
    assert trials["rt_s"].tolist() == [0.5, 0.5]
    assert bring.report.dropped[0].n_rows == 1


def test_folder_with_a_file_per_participant(bring, tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    for who in ("a", "b"):
        (folder / f"{who}.csv").write_text(plain(f"{who},{DIRECT},ghost,0.5"))
    (folder / "notes.txt").write_text("nothing")
    assert bring(folder, PLAIN)["participant_id"].tolist() == ["a", "b"]
    assert bring.report.lines()[0].endswith("from 2 files")


def test_decimal_comma_and_milliseconds(bring):
    text = f"who;card;answer;time\na;{DIRECT};ghost;512,5\n"
    mapping = PLAIN.replace('rt_unit = "s"', 'rt_unit = "ms"') + '[source]\ndecimal = ","\n'
    assert bring(text, mapping)["rt_s"].tolist() == [0.5125]


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["1", "1.0", "True", "true", " 1 ", "TRUE"])
@pytest.mark.parametrize("value", ["1", "1.0", '"1"', "true", '"True"'])
def test_one_and_true_are_the_same_in_a_filter(bring, cell, value):
    mapping = PLAIN + f'[[filters]]\ncolumn = "demo"\nequals = {value}\nreason = "demo"\n'
    text = plain(f"a,{DIRECT},ghost,0.5,{cell}", f"b,{DIRECT},ghost,0.5,0",
                 header="who,card,answer,time,demo")  # fmt: skip
    assert bring(text, mapping)["participant_id"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ('equals = "x"', ["b", "c", "d"]),
        ('not_equals = "x"', ["a"]),
        ('one_of = ["x", 2]', ["c", "d"]),
        ('none_of = ["x", 2]', ["a", "b"]),
        ("blank = true", ["a", "b", "d"]),
        ("blank = false", ["c"]),
        ('action = "keep"\nequals = 2', ["b"]),
        ('action = "keep"\nblank = true', ["c"]),
    ],
)
def test_filter_keeps_what_it_should(bring, condition, kept):
    rows = [
        f"{w},{DIRECT},ghost,0.5,{f}" for w, f in zip("abcd", ("x", "2.0", "", "X"), strict=True)
    ]
    text = plain(*rows, header="who,card,answer,time,flag")
    mapping = PLAIN + f'[[filters]]\ncolumn = "flag"\n{condition}\nreason = "flagged"\n'
    assert bring(text, mapping)["participant_id"].tolist() == kept
    assert bring.report.dropped[0].n_rows == 4 - len(kept)


def test_filter_by_number(bring):
    rows = [f"{who},{DIRECT},ghost,{rt}" for who, rt in zip("abc", (-999, 0.5, 99), strict=True)]
    mapping = PLAIN + (
        '[[filters]]\ncolumn = "time"\nbelow = 0\nreason = "sentinel"\n'
        '[[filters]]\ncolumn = "time"\nabove = 60\nreason = "asleep"\n'
    )
    assert bring(plain(*rows), mapping)["participant_id"].tolist() == ["b"]


@settings(deadline=None)
@given(st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6, allow_nan=False)))
def test_numbers_compare_by_value(number):
    assert comparable(number) == comparable(f" {number} ") == comparable(str(float(number)))


def test_numbers_with_leading_zeros_are_texts():
    assert len({comparable(text) for text in ("1", "01", "001", "Direct", "direct")}) == 5


def test_level_named_by_a_number_takes_all_its_spellings(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nrule = "cue"') + (
        '[levels.rule]\n1 = "direct"\n0 = "exclusion"\n'
    )
    text = plain(f"a,{DIRECT},ghost,0.5,1.0", f"a,{DIRECT},ghost,0.5,TRUE",
                 f"a,{EXCLUSION},mouse,0.5,0", header="who,card,answer,time,cue")  # fmt: skip
    assert bring(text, mapping)["rule"].tolist() == ["direct", "direct", "exclusion"]


def test_pure_blocks_take_the_rule_of_their_cards(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "block"\nblock_type = "kind"')
    mapping += '[levels.block_type]\nSingle = "pure"\nDual = "mixed"\n'
    text = plain(f"a,{DIRECT},ghost,0.5,1,Single", f"a,{EXCLUSION},mouse,0.5,2,Single",
                 f"a,{EXCLUSION},mouse,0.5,3,Dual",
                 header="who,card,answer,time,block,kind")  # fmt: skip
    assert bring(text, mapping)["block_type"].tolist() == ["direct", "exclusion", "mixed"]


def test_block_types_follow_from_the_cards_where_none_are_stated(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "block"')
    text = plain(f"a,{DIRECT},ghost,0.5,1", f"a,{EXCLUSION},mouse,0.5,2",
                 f"a,{DIRECT},ghost,0.5,10", f"a,{EXCLUSION},mouse,0.5,10",
                 header="who,card,answer,time,block")  # fmt: skip
    trials = bring(text, mapping)
    assert trials["block_type"].tolist() == ["direct", "exclusion", "mixed", "mixed"]
    assert trials["block_index"].tolist() == [0, 1, 2, 2]


def test_blocks_with_names_come_in_their_order(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "block"')
    text = plain(f"a,{DIRECT},ghost,0.5,warm", f"a,{DIRECT},ghost,0.5,cool",
                 header="who,card,answer,time,block")  # fmt: skip
    assert bring(text, mapping)["block_index"].tolist() == [0, 1]


def test_dropped_trial_leaves_a_gap_in_its_block(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "block"\ntrial = "trial"')
    mapping += '[[filters]]\ncolumn = "answer"\nblank = true\nreason = "blank"\n'
    text = plain(f"a,{DIRECT},ghost,0.7,1,3", f"a,{DIRECT},,,1,2", f"a,{DIRECT},ghost,0.5,1,1",
                 header="who,card,answer,time,block,trial")  # fmt: skip
    trials = bring(text, mapping)
    assert trials["trial_in_block"].tolist() == [0, 2]
    assert trials["trial_index"].tolist() == [0, 1]
    assert trials["rt_s"].tolist() == [0.5, 0.7]


def test_trials_may_count_through_the_session_from_zero(bring):
    keys = 'card = "card"\nblock = "b"\ntrial = "t"\ntrial_counts = "session"\ntrial_starts_at = 0'
    text = plain(*(f"a,{DIRECT},ghost,0.5,{1 + t // 3},{t}" for t in range(6)),
                 header="who,card,answer,time,b,t")  # fmt: skip
    trials = bring(text, PLAIN.replace('card = "card"', keys))
    assert trials["trial_in_block"].tolist() == [0, 1, 2, 0, 1, 2]


def test_wrong_start_of_trial_numbers_is_noted(bring):
    keys = 'card = "card"\ntrial = "t"\ntrial_starts_at = 0'
    text = plain(f"a,{DIRECT},ghost,0.5,1", header="who,card,answer,time,t")
    bring(text, PLAIN.replace('card = "card"', keys))
    assert "the lowest t is 1, though columns.trial_starts_at is 0" in bring.report.notes


def test_late_trials_are_kept_where_the_mapping_says_so(bring):
    mapping = PLAIN + '[responses]\nblank = "late"\nno_response = ["None"]\ndeadline_s = 3\n'
    text = plain(f"a,{DIRECT},,", f"a,{DIRECT},None,3.0", f"a,{DIRECT},ghost,0.5")
    trials = bring(text, mapping)
    assert trials["error_kind"].tolist()[:2] == ["late", "late"]
    assert trials["rt_s"].isna().tolist() == [True, True, False]
    assert trials["deadline_s"].tolist() == [3.0] * 3
    assert "1 late trials had an RT, which is left out" in bring.report.notes


def test_nan_in_a_late_trial_is_no_rt(bring):
    trials = [
        {"who": "a", "card": DIRECT, "answer": None, "time": float("nan")},
        {"who": "a", "card": DIRECT, "answer": "ghost", "time": 0.5},
    ]
    mapping = PLAIN + '[responses]\nblank = "late"\n'
    assert len(bring(json.dumps(trials), mapping, name="trials.json")) == 2
    assert bring.report.notes == ()


def test_shouted_answers_come_over(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nresponse_mode = "how"') + (
        '[game]\nname = "grab-or-shout"\n[levels.mode]\nvoice = "shout"\nhand = "grab"\n'
    )
    text = plain(f"a,{DIRECT},ghost,0.5,voice", f"a,{DIRECT},ghost,0.5,hand",
                 header="who,card,answer,time,how")  # fmt: skip
    trials = bring(text, mapping)
    assert trials["mode"].tolist() == ["shout", "shout"]
    assert trials["error_kind"].tolist() == [pd.NA, "wrong_mode"]


def test_phases_factors_and_sessions_come_over(bring):
    mapping = (
        PLAIN.replace('card = "card"', 'card = "card"\nphase = "phase"\nsession = "day"')
        + '[levels.phase]\nwarm = "practice"\nmain = "test"\n[factors]\ngroup = "g"\n'
        + '[levels.factors.group]\n1 = "old"\n'
    )
    text = plain(f"a,{DIRECT},ghost,0.5,main,2,1", f"a,{DIRECT},ghost,0.5,warm,1,young",
                 header="who,card,answer,time,phase,day,g")  # fmt: skip
    trials = bring(text, mapping)
    assert trials["phase"].tolist() == ["practice", "test"]
    assert trials["session"].tolist() == [1, 2]
    assert trials["factor_group"].tolist() == ["young", "old"]
    assert trials.columns[-1] == "factor_group"


def test_analysis_settings_go_with_the_data(bring):
    mapping = PLAIN + "[analysis]\nskip_first_trials = 7\n[analysis.bounds]\nmax_rt_s = 4.5\n"
    bring(plain(f"a,{DIRECT},ghost,0.5"), mapping)
    assert bring.dataset.analysis.skip_first_trials == 7
    assert bring.dataset.analysis.bounds.max_rt_s == 4.5


def test_cards_without_an_answer_are_dropped_where_the_mapping_says_so(bring):
    text = plain(f"a,{DIRECT},ghost,0.5", "a,ghost:white book:blue,ghost,0.5")
    assert len(bring(text, PLAIN + '[checks]\non_unsolvable = "drop"\n')) == 1
    assert bring.report.dropped[-1].n_rows == 1
    assert "in their own colours" in bring.report.dropped[-1].reason
