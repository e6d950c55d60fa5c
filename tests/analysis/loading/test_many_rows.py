"""Many rows at once: what is computed for all together is what the plain definition gives."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_analysis import tables
from ghostblitz_analysis.rt_checks import check_rts
from ghostblitz_analysis.rt_units import check_units_of_blocks
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.tables import coded, combined_codes, parse_coded, trial_frame
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS

CELL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
VALUES = st.lists(st.sampled_from([None, "a", "b", "nan", "NA", "1", "01", ""]), min_size=1)


# --- coded columns -----------------------------------------------------------------------------


@given(rows=st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=20))
def test_coded_table_holds_what_the_csv_module_reads(rows):
    rows = [row for row in rows if any(row)]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["x", "y", "z"], *rows])
    if not rows:
        with pytest.raises(DatasetError, match="no rows"):
            parse_coded(text.getvalue(), "t")
        return
    table = parse_coded(text.getvalue(), "t")
    for place, title in enumerate("xyz"):
        assert table.columns[title].cells() == [row[place] or None for row in rows]
        assert [table.columns[title].at(n) for n in range(len(rows))] == [
            row[place] or None for row in rows
        ]


def test_rows_are_the_same_however_many_are_read_at_a_time(monkeypatch):
    lines = ["id,rt", *(f"p{n % 7},{n % 5 or ''}" for n in range(100)), "", "p1,9"]
    whole = parse_coded("\n".join(lines), "t")
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", 7)
    parts = parse_coded("\n".join(lines), "t")
    for title in ("id", "rt"):
        assert parts.columns[title].cells() == whole.columns[title].cells()
        assert parts.columns[title].values == whole.columns[title].values
    assert parts.place(100) == whole.place(100) == "t, row 103"


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=1))
def test_combinations_are_numbered_in_the_order_of_their_first_rows(columns):
    n = min(map(len, columns[0]))
    rows = list(zip(*(column[:n] for column in columns[0]), strict=True))
    known: dict[tuple[str | None, ...], int] = {}
    expected = [known.setdefault(row, len(known)) for row in rows]
    assert combined_codes(coded(c[:n]) for c in columns[0]).tolist() == expected


@pytest.mark.slow
@given(VALUES)
def test_coded_and_listed_columns_make_the_same_frame(values):
    frames = [trial_frame({"participant_id": v, "factor_x": v}, len(values))
              for v in (values, coded(values))]  # fmt: skip
    pd.testing.assert_frame_equal(*frames)
    assert frames[1]["factor_x"].isna().tolist() == [value is None for value in values]
    assert {c.name: str(frames[1][c.name].dtype) for c in COLUMNS} == {
        c.name: c.dtype for c in COLUMNS
    }


# --- checks of RTs -----------------------------------------------------------------------------


def table_of(rts: list[list[list[float]]]) -> pd.DataFrame:
    """Trials by participant, block and trial."""
    rows = [
        {"participant_id": f"p{p:02d}", "session": 1 + b // 2, "block_index": b, "rt_s": rt,
         "trial_in_block": t, "card": f"card {t}", "response": "ghost", "correct": True}
        for p, blocks in enumerate(rts) for b, block in enumerate(blocks)
        for t, rt in enumerate(block)
    ]  # fmt: skip
    types = {
        "participant_id": "string", "session": "Int64", "block_index": "Int64",
        "rt_s": "Float64", "card": "string", "response": "string", "correct": "boolean",
    }  # fmt: skip
    return pd.DataFrame(rows).astype(types)


def plain_copies(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """What the findings on copies mean, unit by unit."""
    units = [
        ("same_data_twice", ["participant_id"]),
        ("same_session_twice", ["participant_id", "session"]),
        ("same_block_twice", ["participant_id", "session", "block_index"]),
    ]
    for code, names in units:
        found: dict[tuple[float, ...], list[tuple[object, ...]]] = {}
        for key, rows in table.groupby(names):
            rts = tuple(round(float(rt), 6) for rt in rows["rt_s"])
            constant = max(rts.count(rt) for rt in set(rts)) > len(rts) / 2
            if len(rts) >= 10 and not (len(names) > 1 and constant):
                found.setdefault(rts, []).append(key)
        for keys in found.values():
            if len(keys) > 1:
                people = [str(key[0]) for key in keys]
                texts = {
                    "same_data_twice": ", ".join(people),
                    "same_session_twice": "; ".join(f"{k[0]} session {k[1]}" for k in keys
                                                    if len(k) > 1),
                    "same_block_twice": "; ".join(f"{k[0]} session {k[1]} block {k[2] + 1}"
                                                  for k in keys if len(k) > 2),
                }  # fmt: skip
                yield code, texts[code]
                for key in keys[1:]:
                    is_copy = np.logical_and.reduce(
                        [table[name] == value for name, value in zip(names, key, strict=True)]
                    )
                    table = table[~is_copy.astype(bool)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_copies_are_found_as_by_comparing_unit_by_unit(seed):
    rng = np.random.default_rng(seed)
    kinds = [list(rng.uniform(0.4, 2.0, int(rng.integers(8, 14)))) for _ in range(4)]
    kinds.append([0.5] * 12)
    rts = [[kinds[k] for k in rng.integers(len(kinds), size=4)] for _ in range(6)]
    if seed % 3 == 0:
        rts[4] = rts[1]
    table = table_of(rts)
    settings = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0.1))
    found = [(f[1], f[2]) for f in check_rts(table, settings, "d") if f[1].endswith("_twice")]
    assert found == list(plain_copies(table))


def test_sequences_of_the_same_rts_in_another_order_are_no_copies():
    rts = list(np.linspace(0.4, 1.2, 20))
    table = table_of([[rts], [rts[::-1]], [rts[1:] + rts[:1]]])
    codes = {found[1] for found in check_rts(table, AnalysisSettings(), "d")}
    assert not {code for code in codes if code.endswith("_twice")}


@pytest.mark.parametrize(("n_same", "said"), [(6, False), (7, True)])
def test_participants_with_most_rts_the_same_are_named(n_same, said):
    rng = np.random.default_rng(1)
    rts = [[list(rng.uniform(0.4, 2.0, 12))] for _ in range(3)]
    rts[1][0][:n_same] = [0.777777] * n_same
    found = {f[1]: f[2] for f in check_rts(table_of(rts), AnalysisSettings(), "d")}
    assert found.get("identical_rts") == ("p01" if said else None)


@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_block_in_another_unit_is_found_among_many_participants(factor):
    rng = np.random.default_rng(2)
    rts = [[list(rng.uniform(0.4, 2.0, 6)) for _ in range(4)] for _ in range(50)]
    check_units_of_blocks(table_of(rts), "t")
    rts[33][2] = [factor * rt for rt in rts[33][2]]
    with pytest.raises(DatasetError, match=r"participant 'p33' is .* s in block 3 of session 2"):
        check_units_of_blocks(table_of(rts), "t")
