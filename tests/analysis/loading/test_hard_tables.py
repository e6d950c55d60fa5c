"""Tables as people have them: what is wrong is refused by its place, what is right comes over."""

from __future__ import annotations

import pytest

from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.errors import ConfigError, DatasetError
from tests.analysis.loading.plain_tables import DIRECT, EXCLUSION, PLAIN, plain

MS = PLAIN.replace('rt_unit = "s"', 'rt_unit = "ms"')
GOOD = f"a,{DIRECT},ghost,0.5"
LATE = '[responses]\nblank = "late"\n'


def rows_of(*rts: object, who: str = "a") -> list[str]:
    return [f"{who},{DIRECT},ghost,{rt}" for rt in rts]


# --- units and numbers -------------------------------------------------------------------------


def test_milliseconds_under_seconds_are_refused_by_column_and_median(bring):
    with pytest.raises(DatasetError, match=r"^column time: the median RT is 612 s, .*milliseconds"):
        bring(plain(*rows_of(512, 612, 712)), PLAIN)


@pytest.mark.parametrize(
    ("mapping", "cells"),
    [
        (MS, ["987", "1.234", "2.050", "812"]),
        (MS + '[source]\ndecimal = ","\n', ['"1,234"', "987", "812", '"2,050"']),
    ],
)
def test_thousands_separators_are_not_read_as_decimal_marks(bring, mapping, cells):
    with pytest.raises(DatasetError, match=r"row \d: time is 1[.,]234, as in 2 rows, .*thousands"):
        bring(plain(*rows_of(*cells)), mapping)


@pytest.mark.parametrize(
    "cells", [["512.125", "987", "1204.5"], ["45.125", "987.5", "812"], ["512.125", "612.250"]]
)
def test_decimals_of_milliseconds_are_no_thousands(bring, cells):
    trials = bring(plain(*rows_of(*cells)), MS)
    assert trials["rt_s"].tolist() == [float(cell) / 1000 for cell in cells]


@pytest.mark.parametrize(
    ("cell", "mapping", "advice"),
    [
        ('"0,5"', PLAIN, r"if its decimal mark is ',', set source\.decimal = \",\""),
        ("0.5", PLAIN + '[source]\ndecimal = ","\n', r"set source\.decimal = \"\.\""),
        ('"1,234.5"', MS, "thousands separators must be taken out"),
        ("1 234", MS, "thousands separators must be taken out"),
        ("NA", PLAIN, r"if it means no value, set source\.missing = \['NA'\]"),
    ],
)
def test_rt_that_is_no_number_says_what_to_set(bring, cell, mapping, advice):
    good = {PLAIN: '"0.6"', MS: "600"}.get(mapping, '"0,6"')
    with pytest.raises(DatasetError, match=f"row 3: time is .*no number .*{advice}"):
        bring(plain(*rows_of(good, cell)), mapping)


def test_semicolons_tabs_and_decimal_commas_come_over(bring):
    mapping = MS + '[source]\ndecimal = ","\n'
    for mark in (";", "\t"):
        text = plain(*rows_of("512,5", "612")).replace(",", mark).replace(f"512{mark}5", "512,5")
        assert bring(text, mapping)["rt_s"].tolist() == [0.5125, 0.612]


# --- what stands for no response ---------------------------------------------------------------


def test_negative_rt_names_the_setting_for_what_stands_for_none(bring):
    with pytest.raises(DatasetError, match=r"row 3: .*responses\.no_rt = \[-1\].*below = 0"):
        bring(plain(*rows_of(0.5, -1)), PLAIN)


def test_number_that_stands_for_no_rt_makes_a_late_trial_without_a_note(bring):
    rows = [*rows_of(612, 512), f"a,{DIRECT},,-1", f"a,{DIRECT},,9999.0", f"a,{DIRECT},,"]
    trials = bring(plain(*rows), MS + LATE + "no_rt = [-1, 9999]\n")
    assert trials["error_kind"].tolist()[2:] == ["late"] * 3
    assert trials["rt_s"].isna().tolist() == [False, False, True, True, True]
    assert bring.report.notes == ()


def test_number_that_stands_for_no_rt_contradicts_a_response(bring):
    with pytest.raises(DatasetError, match=r"row 3: time is 0, .*no_rt, but there is a response"):
        bring(plain(*rows_of(0.5, 0)), PLAIN + LATE + "no_rt = [0]\n")


def test_number_for_no_rt_has_to_be_a_number(bring):
    with pytest.raises(ConfigError, match=r"responses\.no_rt"):
        bring(plain(GOOD), PLAIN + LATE + 'no_rt = ["x"]\n')


def test_rts_of_zero_and_repeated_extremes_are_noted_by_the_import(bring):
    bring(plain(*rows_of(0, 0, *range(500, 512), 9999, 9999, 9999)), MS)
    zero, extreme = bring.report.notes
    assert zero.startswith("time is 0 in 2 rows; if that stands for no response")
    assert extreme.startswith("time is exactly 9999 in 3 rows, far above the others")


def test_rt_of_88_seconds_is_kept_and_beyond_the_bounds(bring):
    trials = bring(plain(*rows_of(0.5, 88, 0.7)), PLAIN)
    assert trials["rt_s"].tolist() == [0.5, 88.0, 0.7]
    assert bring.report.notes == ()
    flagged = flag_exclusions(trials, bring.dataset.analysis)
    assert used_for_rt(flagged).tolist() == [True, False, True]
    assert "many_rts_out_of_bounds" in {f.code for f in validate_dataset(bring.dataset)}


# --- copies ------------------------------------------------------------------------------------


def test_session_pasted_twice_without_trial_numbers_is_refused_naming_both_rows(bring):
    one = rows_of(*(0.5 + 0.01 * i for i in range(12)))
    other = rows_of(*(0.5 + 0.01 * i for i in range(12)), who="b")
    with pytest.raises(
        DatasetError,
        match=r"row 26 and the next 9 rows of participant 'a' repeat trials\.csv, row 2 and",
    ):
        bring(plain(*one, *other, *one), PLAIN)


def test_few_rts_over_and_over_are_no_copy(bring):
    assert len(bring(plain(*rows_of(*[0.5, 0.6, 0.7] * 20)), PLAIN)) == 60


def test_same_rows_in_other_blocks_are_left_to_the_findings(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nblock = "b"')
    rows = [f"{row},{b}" for b in (1, 2) for row in rows_of(*(0.5 + 0.01 * i for i in range(12)))]
    bring(plain(*rows, header="who,card,answer,time,b"), mapping)
    assert "same_block_twice" in {f.code for f in validate_dataset(bring.dataset)}


@pytest.mark.parametrize("pasted", ["who,card,answer,time", "\ufeffwho,card,answer,time"])
def test_header_in_the_middle_is_refused_naming_both_rows(bring, pasted):
    text = plain(GOOD, GOOD, pasted, GOOD)
    with pytest.raises(DatasetError, match=r"trials\.csv, row 4: the header, which is row 1, stan"):
        bring(text, PLAIN)
    mapping = PLAIN + '[[filters]]\ncolumn = "time"\nbelow = 0\nreason = "none"\n'
    with pytest.raises(DatasetError, match=r"trials\.csv, row 4: the header"):
        bring(text, mapping)


# --- texts -------------------------------------------------------------------------------------

ACCENTED = plain(GOOD.replace("a,", "Zoë,", 1)).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("encoding", "stated"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("cp1252", "cp1252"),
        ("latin-1", "latin-1"),
    ],
)
def test_text_in_any_stated_encoding_comes_over(bring, encoding, stated):
    mapping = PLAIN + (f'[source]\nencoding = "{stated}"\n' if stated else "")
    trials = bring(ACCENTED.encode(encoding), mapping)
    assert trials["participant_id"].tolist() == ["Zoë"]


@pytest.mark.parametrize(
    ("data", "stated", "message"),
    [
        (ACCENTED.encode("utf-16"), "", r'UTF-16 text, .*source\.encoding = "utf-16"'),
        (ACCENTED.encode("utf-16-le"), "latin-1", r"line 1: .*binary zeros; if it is UTF-16"),
        (ACCENTED.encode("cp1252"), "", "is not utf-8-sig text .*cp1252"),
        (ACCENTED.encode(), "cp1252", "is UTF-8 text, not cp1252; leave source.encoding out"),
        (plain(GOOD, GOOD + "\0").encode(), "", "line 3: .*binary zeros"),
    ],
)
def test_text_in_another_encoding_says_what_to_set(bring, data, stated, message):
    mapping = PLAIN + (f'[source]\nencoding = "{stated}"\n' if stated else "")
    with pytest.raises(DatasetError, match=message):
        bring(data, mapping)


def test_plain_letters_are_the_same_in_every_encoding(bring):
    assert len(bring(plain(GOOD), PLAIN + '[source]\nencoding = "cp1252"\n')) == 1


# --- shapes ------------------------------------------------------------------------------------


def test_blank_cells_beyond_the_header_are_left_out(bring):
    assert len(bring(plain(GOOD + ",,", GOOD, GOOD + ","), PLAIN)) == 3


def test_values_under_a_last_column_without_a_title_are_refused(bring):
    with pytest.raises(DatasetError, match="column 5 has values but no name"):
        bring(plain(GOOD + ",", GOOD + ",1", header="who,card,answer,time,"), PLAIN)


def test_columns_of_one_name_are_refused_by_their_places(bring):
    text = plain(GOOD + ",1", header="who,card,answer,time,who")
    with pytest.raises(DatasetError, match=r"two columns are named 'who' \(columns 1 and 5\)"):
        bring(text, PLAIN)


def test_line_breaks_in_other_columns_are_part_of_their_cells(bring):
    rows = [f'{GOOD},"one\r\ntwo\n\nthree"', f"a,{DIRECT},owl,0.5,x"]
    with pytest.raises(DatasetError, match=r"row 3: response 'owl'"):
        bring(plain(*rows, header="who,card,answer,time,comment"), PLAIN)
    assert len(bring(plain(rows[0], header="who,card,answer,time,comment"), PLAIN)) == 1


def test_huge_line_is_refused_in_one_line(bring):
    with pytest.raises(DatasetError, match=r"line 3: .*field larger than field limit") as found:
        bring(plain(GOOD, f"a,{'x' * 1_000_000},ghost,0.5"), PLAIN)
    assert len(str(found.value)) < 300


def test_old_macintosh_line_ends_come_over(bring):
    assert len(bring(plain(GOOD, GOOD).replace("\n", "\r"), PLAIN)) == 2


# --- ids and levels ----------------------------------------------------------------------------

IDS = ["01", "1", "1.0", "NA", "nan", "None", "TRUE", "true", "null", "-1", "1e3"]


def test_ids_that_look_alike_are_kept_apart_as_texts(bring):
    trials = bring(plain(*(f"{who},{DIRECT},ghost,0.5" for who in IDS)), PLAIN)
    assert trials["participant_id"].tolist() == IDS
    assert str(trials["participant_id"].dtype) == "string"
    similar = {f.where for f in validate_dataset(bring.dataset) if f.code == "similar_ids"}
    assert similar == {"'01', '1'", "'TRUE', 'true'"}


@pytest.mark.parametrize("blank", ["", "  ", '""'])
def test_row_without_an_id_is_refused(bring, blank):
    with pytest.raises(DatasetError, match="row 3: who is blank"):
        bring(plain(GOOD, f"{blank},{DIRECT},ghost,0.5"), PLAIN)


def test_levels_and_factors_that_never_occur_do_no_harm(bring):
    mapping = PLAIN.replace('card = "card"', 'card = "card"\nrule = "r"') + (
        '[levels.rule]\nD = "direct"\nE = "exclusion"\nM = "mirror"\n[factors]\ngroup = "g"\n'
    )
    rows = [f"{GOOD},D,", f"a,{EXCLUSION},mouse,0.7,E,"]
    trials = bring(plain(*rows, header="who,card,answer,time,r,g"), mapping)
    assert trials["rule"].tolist() == ["direct", "exclusion"]
    assert trials["factor_group"].isna().all()
    assert str(trials["factor_group"].dtype) == "string"
