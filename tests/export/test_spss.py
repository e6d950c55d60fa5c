"""SPSS files: what R's reader and ours find in them."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import datetime

import pandas as pd
import pyreadstat
import pytest

from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.export.tools import spss_tables
from ghostblitz_analysis.export.tools.spss_tables import read_spss, write_spss
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import Column
from tests.export.tool_sources import (
    CAPTAIN_STUDIES,
    CARD_STUDIES,
    ROOT,
    few_rows,
    run_r,
    simulated,
    with_column,
    with_odd_ids,
    with_trials,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _only_the_tables(monkeypatch):
    monkeypatch.setattr(spss_tables, "write_common", lambda source, folder, layout: None)


@pytest.fixture(scope="module")
def example():
    return few_rows(load_source(ROOT / "data" / "example"))


def plainly_read(folder, name="trials"):
    return pyreadstat.read_sav(folder / "data" / f"{name}.sav")


def test_odd_ids_are_read_back_identical(tmp_path, example):
    source = with_odd_ids(example)
    write_spss(source, tmp_path)
    pd.testing.assert_frame_equal(read_spss(tmp_path), source.main.frame)


def test_file_does_not_say_when_it_was_written(tmp_path, example):
    write_spss(example, tmp_path)
    # https://www.gnu.org/software/pspp/pspp-dev/html_node/File-Header-Record.html
    record = struct.unpack(
        "<4s60s iiiii d 9s8s64s", (tmp_path / "data/trials.sav").read_bytes()[:173]
    )
    assert record[0] == b"$FL2"
    assert record[8:10] == (b"01 Jan 00", b"00:00:00")
    assert record[10].startswith(b"SIMULATED: ")
    _, meta = plainly_read(tmp_path)
    assert meta.creation_time == datetime(2000, 1, 1)


def test_failure_of_the_writer_is_named(tmp_path, example, monkeypatch):
    def full(*_arguments, **_options):
        raise pyreadstat.ReadstatError("Unable to write data")

    monkeypatch.setattr(pyreadstat, "write_sav", full)
    with pytest.raises(DatasetError, match=r"trials\.sav cannot be written: Unable to write data"):
        write_spss(example, tmp_path)


@pytest.mark.parametrize("study", CARD_STUDIES)
def test_trials_of_every_game_are_read_back_identical(tmp_path, study):
    source = with_odd_ids(few_rows(simulated(study)))
    write_spss(source, tmp_path)
    pd.testing.assert_frame_equal(read_spss(tmp_path), source.main.frame)


@pytest.mark.parametrize("study", CAPTAIN_STUDIES)
def test_turns_and_games_are_read_back_identical(tmp_path, study):
    source = simulated(study)
    write_spss(source, tmp_path)
    pd.testing.assert_frame_equal(read_spss(tmp_path), source.main.frame)
    pd.testing.assert_frame_equal(read_spss(tmp_path, "games"), source.others[0].frame)


def test_guessing_participants_are_read_back_identical(tmp_path):
    source = with_odd_ids(simulated("grab-or-shout", model="guessing", n_participants=2))
    write_spss(source, tmp_path)
    pd.testing.assert_frame_equal(read_spss(tmp_path), source.main.frame)


def test_variables_have_labels_and_levels_of_measurement(tmp_path, example):
    write_spss(example, tmp_path)
    _, meta = plainly_read(tmp_path)
    labels = meta.column_names_to_labels
    assert all(labels.values())
    assert labels["deadline_s"] == "Time allowed for the response, from the card [s]"
    assert max(len(label.encode()) for label in labels.values()) <= 255
    assert meta.variable_value_labels["rule"] == {
        1: "direct", 2: "exclusion", 3: "mirror", 4: "mirror-owl", 5: "time",
    }  # fmt: skip
    assert meta.variable_value_labels["block_kind"] == {1: "mixed", 2: "pure"}
    assert meta.variable_value_labels["correct"] == {0: "false", 1: "true"}
    found = {name: meta.variable_measure[name] for name in ("rt_s", "rule", "block_index")}
    assert found == {"rt_s": "scale", "rule": "nominal", "block_index": "ordinal"}


def test_missing_text_is_declared_missing_and_an_empty_one_is_not(tmp_path, example):
    write_spss(example, tmp_path)
    table, _ = plainly_read(tmp_path)
    trials = example.main.frame
    assert table["response"].isna().tolist() == trials["response"].isna().tolist()
    assert table["hat_over"].isna().all()
    assert (table["rules"] == "").all()
    assert table["rt_s"].isna().tolist() == trials["rt_s"].isna().tolist()


def test_simulated_data_are_called_so(tmp_path, example):
    write_spss(example, tmp_path)
    _, meta = plainly_read(tmp_path)
    assert meta.file_label.startswith("SIMULATED: ")
    assert "Simulated data, not people." in meta.notes
    text = (tmp_path / "data" / "README-spss.md").read_text(encoding="utf-8")
    assert "**Simulated data, not people.**" in text


def test_name_that_spss_does_not_take_is_told_in_the_label(tmp_path, example):
    name = "factor_" + "x" * 70
    trials = example.main.frame.assign(
        **{name: pd.array(["a"] * len(example.main.frame), dtype="string")}
    )
    columns = (*example.main.columns, Column(name, "string", "A factor", "design"))
    source = with_trials(example, trials)
    source = replace(source, main=replace(source.main, columns=columns))
    write_spss(source, tmp_path)
    _, meta = plainly_read(tmp_path)
    assert meta.column_names_to_labels["column_56"] == f"{name}: A factor"
    pd.testing.assert_frame_equal(read_spss(tmp_path), trials)


def test_text_that_ends_with_a_space_is_refused(tmp_path, example):
    with pytest.raises(DatasetError, match="participant_id: 'p1 ' ends with a space"):
        write_spss(with_column(example, "participant_id", ["p1 "]), tmp_path)


def test_number_that_spss_rounds_is_refused(tmp_path, example):
    with pytest.raises(DatasetError, match="column n_events: a number too large"):
        write_spss(with_column(example, "n_events", [2**53 + 1]), tmp_path)


def test_nothing_is_written_over(tmp_path, example):
    write_spss(example, tmp_path)
    with pytest.raises(FileExistsError):
        write_spss(example, tmp_path)


def test_damaged_file_is_refused(tmp_path, example):
    write_spss(example, tmp_path)
    (tmp_path / "data" / "trials.sav").write_bytes(b"$FL2 nothing")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_spss(tmp_path)


# The missing marks are those that haven makes of blank texts declared missing.
_IN_R = """
trials <- haven::read_sav("data/trials.sav", user_na = FALSE)
cat(jsonlite::toJSON(list(
  ids = as.character(trials$participant_id),
  rule = as.character(haven::as_factor(trials$rule)),
  rt_s = as.numeric(trials$rt_s),
  response = as.character(trials$response),
  label = attr(trials$rt_s, "label")
), digits = I(17), na = "null"))
"""


def test_r_reads_the_same_values(tmp_path, example):
    source = with_odd_ids(example)
    write_spss(source, tmp_path)
    found, trials = run_r(tmp_path, _IN_R, packages=["haven", "jsonlite"]), source.main.frame
    assert found["ids"] == trials["participant_id"].tolist()
    assert found["rule"] == trials["rule"].tolist()
    known = trials["rt_s"].notna()
    assert [x is not None for x in found["rt_s"]] == known.tolist()
    assert [x for x in found["rt_s"] if x is not None] == pytest.approx(
        trials.loc[known, "rt_s"].tolist(), rel=1e-15
    )
    assert found["response"] == [None if pd.isna(x) else x for x in trials["response"]]
    assert found["label"][0].endswith("[s]")
