"""What an import refuses: by row and reason, in one line, leaving nothing behind."""

from __future__ import annotations

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.importing import import_table
from ghostblitz_task.errors import ConfigError, DatasetError, GhostBlitzError
from tests.analysis.loading.plain_tables import DIRECT, PLAIN, plain

# --- what is refused ---------------------------------------------------------------------------

GOOD = f"a,{DIRECT},ghost,0.5"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([GOOD, "a,ghost:white book:blue,ghost,0.5"], "row 3: card .* in their own colours"),
        ([GOOD, "a,owl:red ghost:blue,ghost,0.5"], "row 3: .*'owl' is no item of this game"),
        ([GOOD, "a,ghost,ghost,0.5"], "row 3: .*is no picture"),
        ([GOOD, f"a,{DIRECT},owl,0.5"], "row 3: response 'owl' is no item of this game"),
        ([GOOD, f"a,{DIRECT},ghost,fast"], "row 3: time is 'fast', which is no number"),
        ([GOOD, f"a,{DIRECT},ghost,nan"], "row 3: time is 'nan', which is no number"),
        ([GOOD, f"a,{DIRECT},ghost,inf"], "row 3: time is 'inf', which is no number"),
        ([GOOD, f"a,{DIRECT},ghost,1e999"], "row 3: time is '1e999', which is no number"),
        ([GOOD, f'a,{DIRECT},ghost,"0,5"'], "row 3: time is '0,5', which is no number"),
        ([GOOD, f"a,{DIRECT},ghost,-0.5"], "row 3: .*an RT cannot be negative"),
        ([GOOD, f"a,{DIRECT},ghost,"], "row 3: time is blank, but there is a response"),
        ([GOOD, f"a,{DIRECT},,0.5"], 'row 3: answer is blank; .*responses.blank = "late"'),
        ([GOOD, "a,,ghost,0.5"], "row 3: card is blank"),
        ([GOOD, f" ,{DIRECT},ghost,0.5"], "row 3: who is blank"),
        ([GOOD, "who,card,answer,time", GOOD], "row 3: the header, which is row 1, stands"),
        ([GOOD, f"a,{DIRECT},ghost"], "row 3: 3 cells where the header has 4"),
        ([GOOD, f"a,{DIRECT},ghost,0.5,1"], "row 3: 5 cells where the header has 4"),
        ([GOOD, f'a,"{DIRECT},ghost,0.5'], "line 3: .*does a quote open that never closes"),
        ([f"a,{DIRECT},ghost,512"], "median RT is 512 s, which looks like milliseconds"),
        ([], "has a header but no rows"),
    ],
)  # fmt: skip
def test_bad_row_is_refused_by_number(bring, rows, message):
    with pytest.raises(DatasetError, match=message):
        bring(plain(*rows), PLAIN)


def test_one_participant_in_milliseconds_is_noticed(bring):
    rows = [f"a,{DIRECT},ghost,0.5"] * 30 + [f"b,{DIRECT},ghost,512"] * 10
    with pytest.raises(DatasetError, match="participant 'b' is 512 s, which looks like milli"):
        bring(plain(*rows), PLAIN)


def test_seconds_taken_for_milliseconds_are_noticed(bring):
    with pytest.raises(DatasetError, match="looks like seconds"):
        bring(plain(GOOD), PLAIN.replace('rt_unit = "s"', 'rt_unit = "ms"'))


def test_same_trial_twice_is_refused_naming_both_rows(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "b"\ntrial = "t"')
    text = plain(f"{GOOD},1,1", f"{GOOD},1,2", f"{GOOD},1,1", header="who,card,answer,time,b,t")
    with pytest.raises(DatasetError, match=r"row 4 holds the same trial as trials.csv, row 2"):
        bring(text, mapping)


@pytest.mark.parametrize(
    ("column", "value", "levels", "message"),
    [
        ("rule", "exclusion", "", "row 2: x makes rule exclusion, but card .* gives direct"),
        ("rule", "Direkt", "", "row 2: x is 'Direkt', which is no level .*did you mean 'direct'"),
        ("rule", "2", '[levels.rule]\n1 = "direct"\n', r"row 2: x is '2', .*levels.rule \(1\)"),
        ("target", "book", "", "row 2: x makes target book, but card .* gives ghost"),
        ("correct", "0", "", "row 2: x makes correct False, but card .*response ghost gives True"),
        ("correct", "yes", "", "row 2: x is 'yes', which is neither true"),
        ("block_type", "exclusion", "", "row 2: card .* is direct, but its block is exclusion"),
        ("trial", "0", "", "row 2: x is 0, but columns.trial_starts_at is 1"),
        ("trial", "1.5", "", "row 2: x is '1.5', but should be a whole number"),
        ("session", "", "", "row 2: x is blank"),
    ],
)  # fmt: skip
def test_source_that_contradicts_its_cards_is_refused(bring, column, value, levels, message):
    mapping = PLAIN.replace('card = "card"', f'card = "card"\n{column} = "x"') + levels
    with pytest.raises(DatasetError, match=message):
        bring(plain(f"{GOOD},{value}", header="who,card,answer,time,x"), mapping)


def test_block_of_two_types_is_refused_naming_both_rows(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock_type = "x"')
    text = plain(f"{GOOD},direct", f"{GOOD},mixed", header="who,card,answer,time,x")
    with pytest.raises(DatasetError, match=r"row 3: .*mixed, but direct in trials\.csv, row 2"):
        bring(text, mapping)


def test_lists_of_different_length_are_refused(bring):
    mapping = PLAIN.replace('card = "card"', 'picture_items = "p"\npicture_colours = "c"')
    text = plain("a,book ghost,red,ghost,0.5", header="who,p,c,answer,time")
    with pytest.raises(DatasetError, match=r"row 2: p holds 2 items .*, but c 1 colours"):
        bring(text, mapping)


def test_wrong_number_of_pictures_is_refused(bring):
    with pytest.raises(DatasetError, match=r"row 2: .* has 2 pictures, but game\.n_pictures is 3"):
        bring(plain(GOOD), PLAIN + "[game]\nn_pictures = 3\n")


def test_missing_column_names_the_near_one(bring):
    mapping = PLAIN.replace('rt = "time"', 'rt = "tmie"')
    with pytest.raises(DatasetError, match=r"columns\.rt is 'tmie', .*did you mean 'time'"):
        bring(plain(GOOD), mapping)


def test_nothing_left_says_what_took_it(bring):
    mapping = PLAIN + '[[filters]]\ncolumn = "who"\nequals = "a"\nreason = "not a"\n'
    with pytest.raises(DatasetError, match=r"of 1 rows none is left \(1 dropped: not a\)"):
        bring(plain(GOOD), mapping)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rt_unit", "rt_units", "columns.rt_units is not a setting; did you mean rt_unit"),
        ('rt_unit = "s"\n', "", "columns.rt_unit is missing"),
        ('"s"', '"min"', "columns.rt_unit: input should be 's' or 'ms'"),
        ('card = "card"', "", "give either card, or picture_items and picture_colours"),
        ('card = "card"', 'picture_items = "p"', "picture_items and picture_colours go together"),
        ('card = "card"', 'card = "card"\nitems = ["a", "b"]\nitem_colours = "c"', "different num"),
        ('name = "plain"', 'name = "Plain Name"', "dataset.name"),
        ("[dataset]", '[factors]\n"A b" = "x"\n[dataset]', "'A b' cannot name a column"),
        ("[dataset]", '[source]\nencoding = "klingon"\n[dataset]', "'klingon' is no encoding"),
        ("[dataset]", '[source]\ndelimiter = "::"\n[dataset]', "'::' is no delimiter"),
        ("[dataset]", '[[filters]]\ncolumn = "x"\nreason = "r"\n[dataset]', "give one condition"),
        ("[dataset]", '[[filters]]\ncolum = "x"\nreason = "r"\n[dataset]', "did you mean column"),
        ("[dataset]", '[analysis]\nskip_frist_trials = 1\n[dataset]', "did you mean skip_first_"),
        ("[dataset]", '[levels.rule]\n1 = "mirrored"\n[dataset]', "levels.rule.1: input should be"),
        ("[dataset]", '[levels.factors.x]\na = "b"\n[dataset]', "'x' is no factor of this"),
        ("[dataset]", '[dataset', "is not valid TOML"),
    ],
)  # fmt: skip
def test_bad_mapping_is_refused_by_key(bring, old, new, message):
    assert old in PLAIN
    with pytest.raises(ConfigError, match=message):
        bring(plain(GOOD), PLAIN.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.xlsx", b"PK\x03\x04rest", "cannot be read as an Excel file .*; save it as CSV"),
        ("t.csv", b"PK\x03\x04rest", "an Excel .* file; .*save it as CSV"),
        ("t.xls", b"\xd0\xcf\x11\xe0rest", "old Excel"),
        ("t.csv", b"\x1f\x8brest", "a compressed file"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"  \n", "is empty"),
        ("t.csv", "who,gr\u00fcn\n".encode("cp1252"), "is not utf-8-sig text .*cp1252"),
        ("t.csv", "who,x\na,b\n".encode("utf-16"), "is UTF-16 text"),
        ("t.csv", b"who\x00,x\n1,2\n", "binary zeros"),
        ("t.csv", b"who,who,card\n1,2,3\n", "two columns are named 'who'"),
        ("t.csv", b"who,,card\n1,2,3\n", "column 2 has values but no name"),
        ("t.csv", b",,\n1,2,3\n", "has no header"),
        ("t.dat", b"who,card\n1,2\n", r"\.dat holds is not known; set source.format"),
        ("t.json", b"{", "is no JSON"),
        ("t.json", b"[1]", "trial 1: this is no trial but '1'"),
        ("t.json", b"[]", "holds no trials"),
        ("t.jsonl", b'{"a": 1}\n{', "line 2 is no JSON"),
        ("t.json", b"[" * 100_000, "is no JSON"),
    ],
)  # fmt: skip
def test_source_of_another_kind_is_refused(bring, name, data, message):
    with pytest.raises(DatasetError, match=message):
        bring(data, PLAIN, name=name)


def test_missing_source_and_mapping(tmp_path):
    mapping = tmp_path / "m.toml"
    with pytest.raises(ConfigError, match=r"m\.toml cannot be read"):
        import_table(tmp_path / "t.csv", mapping=mapping, out=tmp_path / "out")
    mapping.write_text(PLAIN)
    with pytest.raises(DatasetError, match=r"t\.csv does not exist"):
        import_table(tmp_path / "t.csv", mapping=mapping, out=tmp_path / "out")
    with pytest.raises(DatasetError, match=r"holds no file \*\.csv"):
        import_table(tmp_path, mapping=mapping, out=tmp_path / "out")


def test_control_characters_in_an_id_are_refused(bring):
    with pytest.raises(DatasetError, match="participant_id 'a\\\\nb' holds a line break"):
        bring(plain(f'"a\nb",{DIRECT},ghost,0.5'), PLAIN)


CELLS = st.one_of(
    st.sampled_from(
        ["", "NA", "1", "-1", "nan", "1e400", '"', "a\tb", "ghost", "ghost:white", ";"]
    ),
    st.text(max_size=6),
)


@pytest.mark.slow
@settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.lists(CELLS, min_size=4, max_size=7), min_size=1, max_size=4))
def test_any_source_is_imported_or_refused_in_one_line(tmp_path, rows):
    source, mapping = tmp_path / "t.csv", tmp_path / "m.toml"
    keys = 'card = "card"\nblock = "b"\ntrial = "t"\nrule = "r"'
    mapping.write_text(PLAIN.replace('card = "card"', keys))
    text = "\n".join(
        ",".join(row) for row in [["who", "card", "answer", "time", "b", "t", "r"], *rows]
    )
    source.write_bytes(text.encode("utf-8", "surrogatepass"))
    out = tmp_path / "out"
    try:
        import_table(source, mapping=mapping, out=out)
    except GhostBlitzError as error:
        if "\n" in str(error):
            pytest.fail(f"more than one line: {error}")
        if out.exists():
            pytest.fail("something was left behind")
    else:
        assert len(load_dataset(out).trials) == len(rows)
        shutil.rmtree(out)


# --- units -------------------------------------------------------------------------------------

MS = PLAIN.replace('rt_unit = "s"', 'rt_unit = "ms"')


def test_one_participant_in_seconds_is_noticed(bring):
    rows = [f"a,{DIRECT},ghost,512"] * 30 + [f"b,{DIRECT},ghost,0.5"] * 10
    with pytest.raises(DatasetError, match=r"participant 'b' is 0\.5 ms, which looks like seconds"):
        bring(plain(*rows), MS)


@pytest.mark.parametrize(("mapping", "scale"), [(PLAIN, 1.0), (MS, 1000.0)])
@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_one_block_in_another_unit_is_noticed(bring, mapping, scale, factor):
    mapping = mapping.replace('card = "card"', 'card = "card"\nblock = "b"')
    rows = [
        f"a,{DIRECT},ghost,{scale * (factor if block == 2 else 1.0) * (0.5 + 0.01 * i)!r},{block}"
        for block in (1, 2, 3)
        for i in range(12)
    ]
    with pytest.raises(DatasetError, match=r"column time: .* 'a' is .* s in block 2 of sess"):
        bring(plain(*rows, header="who,card,answer,time,b"), mapping)


def test_rts_of_zero_say_nothing_about_the_unit(bring):
    rows = [f"a,{DIRECT},ghost,{0 if i % 3 else 512 + i}" for i in range(30)]
    assert len(bring(plain(*rows), MS)) == 30


@pytest.mark.parametrize(("cell", "mapping"), [("1e308", PLAIN), ("1e10", MS), ("2e6", PLAIN)])
def test_absurd_rt_is_refused(bring, cell, mapping):
    rows = [f"a,{DIRECT},ghost,700"] * 5 if mapping is MS else [GOOD] * 5
    with pytest.raises(DatasetError, match=f"row 7: time is {cell}, which is no reaction time"):
        bring(plain(*rows, f"a,{DIRECT},ghost,{cell}"), mapping)


# --- messages ----------------------------------------------------------------------------------


def test_lists_with_another_separator_say_what_to_set(bring):
    mapping = PLAIN.replace('card = "card"', 'picture_items = "p"\npicture_colours = "c"')
    text = plain('a,"book, ghost","red, white",ghost,0.5', header="who,p,c,answer,time")
    with pytest.raises(DatasetError, match=r"row 2: 'book,' .*columns\.list_separator = ','"):
        bring(text, mapping)


def test_quote_that_never_closes_is_named_where_it_opens(bring):
    rows = [GOOD] * 4000
    rows[70] = f'"a,{DIRECT},ghost,0.5'
    with pytest.raises(DatasetError, match=r"trials\.csv, line 72: .*a quote open that never"):
        bring(plain(*rows), PLAIN)


def test_nothing_left_says_how_many_trials_the_participants_have(bring):
    text = plain(*[GOOD] * 3, *[GOOD.replace("a,", "b,", 1)] * 4)
    with pytest.raises(DatasetError, match=r"without exactly 9 trials, but with 3 to 4\)"):
        bring(text, PLAIN + "[complete]\nn_trials = 9\n")


def test_near_name_of_a_column_shows_its_spaces(bring):
    with pytest.raises(DatasetError, match="did you mean ' time '"):
        bring(plain(GOOD, header="who,card,answer, time "), PLAIN)


def test_value_that_is_another_level_is_no_misspelling(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nrule = "x"')
    mapping += '[levels.rule]\nDirect = "direct"\n'
    other = "a,ghost:green chair:blue,mouse,0.5,Indirect"
    text = plain(f"{GOOD},Direct", *[other] * 3, header="who,card,answer,time,x")
    with pytest.raises(DatasetError, match=r"'Indirect', which is no level .*\(Direct\)$"):
        bring(text, mapping)
    text = plain(f"{GOOD},Direct", f"{GOOD},Dircet", header="who,card,answer,time,x")
    with pytest.raises(DatasetError, match=r"did you mean 'Direct'\?"):
        bring(text, mapping)


def test_same_trial_twice_is_refused_before_its_participant_is_dropped_as_incomplete(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "b"\ntrial = "t"')
    text = plain(f"{GOOD},1,1", f"{GOOD},1,2", f"{GOOD},1.0,1", header="who,card,answer,time,b,t")
    with pytest.raises(DatasetError, match=r"row 4 holds the same trial as trials\.csv, row 2"):
        bring(text, mapping + "[complete]\nn_trials = 2\n")
