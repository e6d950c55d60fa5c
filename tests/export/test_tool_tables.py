"""Trials for HSSM, HDDM, PyDDM and JASP: columns, coding, units, and the way back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.distributions.results import answered
from ghostblitz_analysis.exclusions import (
    flag_exclusions,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.export.folders import files_below
from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.export.tools import diffusion_tables, jasp_tables
from ghostblitz_analysis.export.tools.diffusion_tables import (
    answered_trials,
    read_hddm,
    read_hssm,
    read_pyddm,
    write_hddm,
    write_hssm,
    write_pyddm,
)
from ghostblitz_analysis.export.tools.jasp_tables import cell_means, read_jasp, write_jasp
from ghostblitz_analysis.export.tools.tool_tables import read_csv_table, tool_tables
from ghostblitz_analysis.measures import cell_factors, cell_measures
from ghostblitz_analysis.settings import BoundsSettings
from ghostblitz_task.errors import DatasetError
from tests.export.tool_sources import (
    CAPTAIN_STUDIES,
    CARD_STUDIES,
    ODD_IDS,
    ROOT,
    few_rows,
    simulated,
    with_column,
    with_odd_ids,
    with_trials,
)

pytestmark = pytest.mark.slow

DIFFUSION = {
    "hssm": (write_hssm, read_hssm),
    "hddm": (write_hddm, read_hddm),
    "pyddm": (write_pyddm, read_pyddm),
}


@pytest.fixture(autouse=True)
def _only_the_tables(monkeypatch):
    for module in (diffusion_tables, jasp_tables):
        monkeypatch.setattr(module, "write_common", lambda source, folder, layout: None)


@pytest.fixture(scope="module")
def example():
    return load_source(ROOT / "data" / "example_study")


@pytest.fixture(scope="module")
def guessing():
    """Two participants who guess: many errors."""
    return simulated("grab-or-shout", model="guessing", n_participants=2)


@pytest.fixture(scope="module")
def captain():
    return simulated("captain-static")


def flagged_of(source):
    return flag_exclusions(source.dataset.trials, source.dataset.analysis)


def plainly_read(folder, name):
    """As the README of a Python program says."""
    return pd.read_csv(
        folder / "data" / f"{name}.csv", dtype={"participant_id": str}, keep_default_na=False
    )


def test_hssm_wants_seconds_above_zero_and_1_or_minus_1(tmp_path, guessing):
    write_hssm(guessing, tmp_path)
    table = plainly_read(tmp_path, "hssm")
    trials = guessing.dataset.trials[answered(flagged_of(guessing))]
    assert list(table.columns[:3]) == ["participant_id", "rt", "response"]
    # Older pandas read the last digit of a float as best they can.
    assert table["rt"].tolist() == pytest.approx(trials["rt_s"].tolist(), rel=1e-15)
    assert table["rt"].between(0.2, 10).all()
    assert table["response"].tolist() == [1 if right else -1 for right in trials["correct"]]
    assert set(table["response"]) == {1, -1}


def test_hddm_wants_numbered_subjects_and_1_or_0(tmp_path, guessing):
    source = with_column(guessing, "participant_id", ["1", "01", "NA"])
    write_hddm(source, tmp_path)
    table = plainly_read(tmp_path, "hddm")
    trials = source.dataset.trials[answered(flagged_of(source))]
    assert list(table.columns[:3]) == ["subj_idx", "rt", "response"]
    numbers = {"01": 0, "1": 1, "NA": 2}
    assert table["subj_idx"].tolist() == [numbers[who] for who in trials["participant_id"]]
    assert table["response"].tolist() == trials["correct"].astype(int).tolist()


def test_pyddm_gets_no_missing_value_in_any_condition(tmp_path, guessing):
    trials = guessing.main.frame
    factors = pd.array(["a", None] * (len(trials) // 2), dtype="string")
    source = with_trials(guessing, trials.assign(block_kind=factors))
    write_pyddm(source, tmp_path)
    table = plainly_read(tmp_path, "pyddm")
    assert list(table.columns[:2]) == ["RT", "correct"]
    assert not (table.isna() | (table == "")).any(axis=None)
    assert set(table["correct"]) <= {0, 1}
    assert "block_kind" not in table
    assert "missing in some trials: block_kind" in (
        tmp_path / "data" / "README-pyddm.md"
    ).read_text(encoding="utf-8")


def test_trials_left_out_of_diffusion_models_are_counted_by_reason(example):
    found = answered_trials(example, "HSSM")
    flagged = flagged_of(example)
    reasons = dict(found.left_out)
    assert found.n_trials == 2016
    assert sum(reasons.values()) == 2016 - len(found.frame)
    assert reasons["not a test trial"] == int(flagged["exclude_phase"].sum())
    no_rt = flagged["exclude_no_rt"] & ~flagged["exclude_phase"]
    assert reasons["no response in time, so there is no RT"] == int(no_rt.sum())
    # Trimming and steps after errors look at correct RTs alone, and take none out here.
    assert not any("before it in its block" in reason for reason in reasons)


def test_trial_without_a_response_is_left_out(guessing):
    source = with_column(guessing, "rt_s", [None, 0.7])
    found = answered_trials(source, "HSSM")
    assert found.frame["rt_s"].notna().all()
    n_missing = int(source.main.frame.query("phase == 'test'")["rt_s"].isna().sum())
    assert dict(found.left_out)["no response in time, so there is no RT"] >= n_missing // 2
    assert len(found.frame) + sum(n for _, n in found.left_out) == len(source.main.frame)


def test_rt_of_zero_is_left_out_without_a_lower_bound(guessing):
    settings = guessing.dataset.analysis.model_copy(
        update={"bounds": BoundsSettings(min_rt_s=0, max_rt_s=10)}
    )
    source = replace(guessing, dataset=replace(guessing.dataset, analysis=settings))
    source = with_column(source, "rt_s", [0.0, -0.1, 0.7])
    assert set(answered_trials(source, "HSSM").frame["rt_s"]) == {0.7}


@pytest.mark.parametrize("name", DIFFUSION)
@pytest.mark.parametrize("study", CARD_STUDIES)
def test_diffusion_tables_are_read_back_identical(tmp_path, study, name):
    source = with_odd_ids(few_rows(simulated(study)))
    write, read = DIFFUSION[name]
    write(source, tmp_path)
    table, used = read(tmp_path), answered_trials(source, name).frame
    time = "RT" if name == "pyddm" else "rt"
    assert table[time].dtype == "Float64"
    pd.testing.assert_series_equal(table[time], used["rt_s"], check_names=False)
    for column in ("participant_id", "rule", "mode", "session", "trial_index", "source"):
        pd.testing.assert_series_equal(table[column], used[column])


@pytest.mark.parametrize("write", [write_hssm, write_hddm, write_pyddm])
def test_diffusion_models_refuse_the_captains_deck_in_one_line(tmp_path, captain, write):
    with pytest.raises(DatasetError, match=r"^\w+ wants RTs of right and wrong answers.*$"):
        write(captain, tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_answer_at_all_is_refused(tmp_path, guessing):
    source = with_column(guessing, "rt_s", [None])
    with pytest.raises(DatasetError, match="has an RT that counts"):
        write_hssm(source, tmp_path)


@pytest.mark.parametrize("name", DIFFUSION)
def test_simulated_data_are_called_so(tmp_path, guessing, name):
    write, _ = DIFFUSION[name]
    write(guessing, tmp_path)
    text = (tmp_path / "data" / f"README-{name}.md").read_text(encoding="utf-8")
    assert "**Simulated data, not people.**" in text
    assert set(plainly_read(tmp_path, name)["source"]) == {"simulated"}


def test_trials_keep_all_rows_and_say_what_counts(example):
    (table,) = tool_tables(example)
    flagged = flagged_of(example)
    assert len(table.frame) == len(example.main.frame)
    for name, mask in (
        ("used_for_rt", used_for_rt(flagged)),
        ("used_for_accuracy", used_for_accuracy(flagged)),
    ):
        assert table.frame[name].tolist() == mask.tolist()
        assert name in table.added
    assert [c.name for c in table.columns] == list(table.frame.columns)


@pytest.mark.parametrize("ids", [ODD_IDS, ("1", "01"), ("NA",)])
def test_tables_with_odd_ids_are_read_back_identical(tmp_path, guessing, ids):
    source = with_column(few_rows(guessing), "participant_id", ids)
    write_jasp(source, tmp_path)
    pd.testing.assert_frame_equal(read_jasp(tmp_path), source.main.frame)


@pytest.mark.parametrize("study", CARD_STUDIES)
def test_jasp_trials_are_read_back_identical(tmp_path, study):
    source = with_odd_ids(few_rows(simulated(study)))
    write_jasp(source, tmp_path)
    pd.testing.assert_frame_equal(read_jasp(tmp_path), source.main.frame)


@pytest.mark.parametrize("study", CAPTAIN_STUDIES)
def test_jasp_turns_and_games_are_read_back_identical(tmp_path, study):
    source = simulated(study)
    write_jasp(source, tmp_path)
    pd.testing.assert_frame_equal(read_jasp(tmp_path), source.main.frame)
    pd.testing.assert_frame_equal(read_jasp(tmp_path, "games"), source.others[0].frame)


def test_jasp_cannot_misread_the_numbers_of_participants(tmp_path, guessing):
    source = with_odd_ids(guessing)
    write_jasp(source, tmp_path)
    # A reader that guesses, as JASP does.
    guessed = pd.read_csv(tmp_path / "data" / "trials.csv", low_memory=False)
    people = guessed["participant_number"]
    assert people.nunique() == len(ODD_IDS)
    order = sorted(ODD_IDS)
    expected = [f"p{order.index(who) + 1:02d}" for who in source.main.frame["participant_id"]]
    assert people.tolist() == expected


def test_jasp_wide_table_holds_the_cells_of_the_analysis(tmp_path, example):
    write_jasp(example, tmp_path)
    wide = read_jasp(tmp_path, "participants").set_index("participant_id")
    flagged = flagged_of(example)
    factors = cell_factors(flagged, example.dataset.analysis)
    measures = cell_measures(flagged, factors=factors)
    assert factors == ("rule", "block_kind")
    assert len(wide) == measures["participant_id"].nunique()
    for row in measures.itertuples():
        for measure in ("n_rt", "mean_rt_s", "median_rt_s", "mean_log_rt", "p_correct"):
            found = wide.loc[row.participant_id, f"{measure}_{row.rule}_{row.block_kind}"]
            expected = getattr(row, measure)
            assert (pd.isna(found) and pd.isna(expected)) or found == expected


def test_jasp_wide_table_has_no_mean_of_no_trials(guessing):
    frame = guessing.main.frame
    people = frame["participant_id"].unique()
    hard = (frame["participant_id"] == people[0]) & (frame["rule"] == "direct")
    source = with_trials(guessing, frame.assign(correct=frame["correct"] & ~hard))
    wide = cell_means(source).frame.set_index("participant_id")
    names = [name for name in wide if name.startswith("mean_rt_s_direct")]
    assert names
    assert wide.loc[people[0], names].isna().all()
    assert (wide.loc[people[0], [n.replace("mean_rt_s", "n_rt") for n in names]] == 0).all()


def test_jasp_says_why_there_is_no_wide_table(tmp_path, guessing):
    write_jasp(with_column(guessing, "phase", ["practice"]), tmp_path)
    assert not (tmp_path / "data" / "participants.csv").exists()
    text = (tmp_path / "data" / "README-jasp.md").read_text(encoding="utf-8")
    assert "There is no table of participants: none of the" in text


def test_missing_and_empty_texts_in_one_column_are_refused(tmp_path, guessing):
    source = with_column(guessing, "response", ["", None, "ghost"])
    with pytest.raises(DatasetError, match="column response: some texts are missing and some empt"):
        write_jasp(source, tmp_path)


def test_infinite_number_is_refused(tmp_path, guessing):
    with pytest.raises(DatasetError, match="column deadline_s, row 0: an infinite number"):
        write_jasp(with_column(guessing, "deadline_s", [np.inf, 1.0]), tmp_path)


def test_table_that_does_not_fit_its_dictionary_is_refused(tmp_path, guessing):
    write_jasp(few_rows(guessing), tmp_path)
    file = tmp_path / "data" / "trials.csv"
    file.write_text(file.read_text("utf-8").replace('"true"', '"yes"', 1), "utf-8")
    with pytest.raises(DatasetError, match="no true or false"):
        read_csv_table(tmp_path)
    file.write_text("nothing\n", "utf-8")
    with pytest.raises(DatasetError, match="column study_id is missing"):
        read_csv_table(tmp_path)


def test_nothing_is_written_over(tmp_path, guessing):
    write_hssm(guessing, tmp_path)
    with pytest.raises(FileExistsError):
        write_hssm(guessing, tmp_path)


def test_whole_export_holds_the_tables_and_the_common_parts(tmp_path, monkeypatch):
    monkeypatch.undo()
    source = load_source(ROOT / "data" / "example")
    write_jasp(source, tmp_path)
    names = files_below(tmp_path)
    own = {"README-jasp.md", "columns.csv", "participants.csv", "trials.csv"}
    assert {name for name in names if name.startswith("data/")} == {f"data/{name}" for name in own}
    assert {"README.md", "LICENSE", "CITATION.cff", "CHANGES.md"} <= set(names)
    assert {f"sourcedata/{name}" for name in source.files} <= set(names)
    pd.testing.assert_frame_equal(read_jasp(tmp_path), source.main.frame)
