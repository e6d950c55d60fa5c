"""Loading: every fact is scored again, and whatever does not fit is refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import DatasetError, GhostBlitzError, LogError
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.studies import open_study, simulate_study

Edit = Callable[[Path, int, Callable[[dict[str, Any]], object]], None]


def load(path: Path) -> Dataset:
    return load_dataset(path)


# --- what a data set is ------------------------------------------------------------------------


def test_table_has_exactly_the_columns_and_types_of_the_schema(make_log, tmp_path):
    make_log()
    trials = load(tmp_path / "data").trials
    assert list(trials.columns) == [c.name for c in COLUMNS]
    assert {c.name: str(trials[c.name].dtype) for c in COLUMNS} == {
        c.name: c.dtype for c in COLUMNS
    }


def test_only_columns_that_may_be_missing_are(make_log, tmp_path):
    make_log(wrong=[1], rt_s=lambda index: None if index == 2 else 0.7)
    trials = load(tmp_path / "data").trials
    never_null = [c.name for c in COLUMNS if c.null_when is None]
    assert not trials[never_null].isna().any().any()


def test_timeout_has_no_rt(make_log, tmp_path):
    make_log(rt_s=lambda index: None if index == 2 else 0.7)
    row = load(tmp_path / "data").trials.iloc[2]
    assert row["error_kind"] == "late"
    assert pd.isna(row["rt_s"])
    assert pd.isna(row["response"])
    assert not row["correct"]


def test_values_of_a_trial_are_those_of_its_facts(make_log, tmp_path):
    make_log(rt_s=lambda index: 0.5 + index, trials=range(3), wrong=[1])
    trials = load(tmp_path / "data").trials
    assert trials["rt_s"].tolist() == pytest.approx([0.5, 1.5, 2.5], abs=1e-12)
    assert trials["correct"].tolist() == [True, False, True]
    assert trials["foreperiod_s"].tolist() == [1.5, 1.5, 1.5]
    assert trials["item_colours"].iloc[0].startswith("ghost:white chair:red")


def test_direct_position_is_the_place_of_the_picture_in_its_own_colour(make_log, tmp_path):
    make_log()
    trials = load(tmp_path / "data").trials
    assert {"direct", "exclusion"} == set(trials["rule"])
    for row in trials.itertuples():
        own = [f"{p}" in row.item_colours.split() for p in row.card.split()]
        expected = own.index(True) if row.rule == "direct" else pd.NA
        assert (
            row.direct_position is pd.NA if expected is pd.NA else row.direct_position == expected
        )


def test_simulated_sessions_load(tmp_path):
    study = tmp_path / "study"
    study.mkdir()
    keys = "\n".join(
        f'{item} = "{key}"'
        for item, key in zip(("ghost", "chair", "bottle", "book", "mouse"), "asdfg", strict=True)
    )
    (study / "study.toml").write_text(
        f'[study]\nid = "s"\ntitle = "S"\n[game]\nname = "classic"\n[[blocks]]\nlabel = "b"\n'
        f'type = "direct"\nn_trials = 9\n[responses.grab_keys]\n{keys}\n'
    )
    out = tmp_path / "out"
    simulate_study(open_study(study), out, n_participants=3, seed=1, model="ex-gaussian")
    dataset = load(out)
    assert len(dataset.trials) == 27
    assert dataset.sources == ("simulated",)
    assert set(dataset.trials["block_kind"]) == {"pure"}
    assert [run.status for run in dataset.runs] == ["completed"] * 3
    assert all(run.n_trials_planned == 9 for run in dataset.runs)


def test_folder_of_bare_logs_and_one_log_are_data_sets_too(make_log, tmp_path):
    log = make_log()
    assert len(load(log.parent).trials) == 12
    assert len(load(log).trials) == 12
    assert load(tmp_path / "data").name == "data"


def test_data_set_carries_its_analysis_settings(make_log, tmp_path):
    log = make_log()
    assert load(tmp_path / "data").analysis == AnalysisSettings()
    (tmp_path / "data" / "analysis.toml").write_text("skip_first_trials = 4\n")
    assert load(tmp_path / "data").analysis.skip_first_trials == 4
    assert load(log).analysis.skip_first_trials == 4


@pytest.mark.parametrize("identity", ["007", "NA", "1", "01", "Zoë", "李", "1e5", "nan", "None"])
def test_participant_ids_stay_strings(make_log, tmp_path, identity):
    make_log(identity)
    trials = load(tmp_path / "data").trials
    assert trials["participant_id"].unique().tolist() == [identity]
    assert not trials["participant_id"].isna().any()


def test_one_and_zero_one_are_two_participants(make_log, tmp_path):
    make_log("1")
    make_log("01")
    assert load(tmp_path / "data").trials["participant_id"].nunique() == 2


def test_trials_stand_by_participant_session_and_trial(make_log, tmp_path):
    make_log("b", file_name="1.jsonl")
    make_log("a", session=2, file_name="2.jsonl")
    make_log("a", file_name="3.jsonl")
    trials = load(tmp_path / "data").trials
    keys = list(trials[["participant_id", "session", "trial_index"]].itertuples(index=False))
    assert keys == sorted(keys)
    assert trials["participant_id"].iloc[-1] == "b"


# --- runs --------------------------------------------------------------------------------------


def test_resumed_session_is_one_session_with_its_first_new_trial_marked(make_log, tmp_path):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(5, 12), resumes=first)
    dataset = load(tmp_path / "data")
    assert dataset.trials["trial_index"].tolist() == list(range(12))
    assert dataset.trials["resumed"].tolist() == [index == 5 for index in range(12)]
    assert [(run.run, run.status) for run in dataset.runs] == [(1, "killed"), (2, "completed")]


def test_torn_log_keeps_all_completed_trials(make_log, tmp_path):
    log = make_log(trials=range(6), end=None)
    log.write_bytes(log.read_bytes()[:-40])
    dataset = load(tmp_path / "data")
    assert len(dataset.trials) == 5
    assert dataset.runs[0].torn
    assert "cut off" in dataset.notes[0]


def test_interrupted_trials_are_counted_but_are_no_trials(make_log, tmp_path):
    make_log(trials=range(4), interrupted=1, end="quit")
    dataset = load(tmp_path / "data")
    assert len(dataset.trials) == 4
    assert dataset.runs[0].n_interrupted == 1


def test_copied_log_is_refused_naming_both_files(make_log, tmp_path):
    log = make_log()
    shutil.copy(log, log.with_name("copy of it.jsonl"))
    with pytest.raises(DatasetError, match=r"copy of it\.jsonl and .*sub-p01.*one is a copy"):
        load(tmp_path / "data")


def test_two_people_with_one_id_are_refused(make_log, tmp_path):
    make_log()
    make_log(rt_s=lambda _: 0.9, file_name="other.jsonl")
    with pytest.raises(DatasetError, match="different content; two sessions were given the same"):
        load(tmp_path / "data")


def test_trial_in_two_runs_is_refused(make_log, tmp_path):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(4, 12), resumes=first)
    with pytest.raises(DatasetError, match=r"run-02.*trial 4 of 'p01'.*run-01.*already"):
        load(tmp_path / "data")


# --- contradictions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("rt_s", 0.25, r"rt_s is stored as 0\.25, but the facts give 0\.6"),
        ("rt_s", None, "rt_s is stored as null"),
        ("response", "nothing", 'response is stored as "nothing"'),
        ("correct", False, "correct is stored as false, but the facts give true"),
        ("correct", 1, "correct is stored as 1"),
        ("error_kind", "late", 'error_kind is stored as "late", but the facts give null'),
        ("rule", "mirror", 'rule is stored as "mirror"'),
        ("target", "owl", 'target is stored as "owl"'),
        ("mode", "shout", 'mode is stored as "shout", but the facts give "grab"'),
        ("n_events", 3, "n_events is stored as 3, but the facts give 2"),
        ("key_held_at_onset", True, "key_held_at_onset is stored as true"),
        ("response_device", "pointer", 'response_device is stored as "pointer"'),
    ],
)  # fmt: skip
def test_stored_value_that_the_facts_deny_is_refused(
    make_log, edit_log: Edit, tmp_path, name, value, shown
):
    log = make_log()
    edit_log(log, 2, lambda record: record.update({name: value}))
    with pytest.raises(DatasetError, match=rf"run-01\.jsonl, line 3, trial 0: {shown}"):
        load(tmp_path / "data")


def test_changed_fact_is_noticed_by_what_follows_from_it(make_log, edit_log: Edit, tmp_path):
    log = make_log()
    edit_log(log, 4, lambda record: record.update(onset_s=record["onset_s"] + 0.05))
    with pytest.raises(DatasetError, match="line 5, trial 2: rt_s is stored"):
        load(tmp_path / "data")


def test_rounding_of_the_last_bit_is_no_contradiction(make_log, edit_log: Edit, tmp_path):
    log = make_log()
    edit_log(log, 2, lambda record: record.update(rt_s=record["rt_s"] + 1e-12))
    assert len(load(tmp_path / "data").trials) == 12


def test_changed_settings_are_noticed(make_log, edit_log: Edit, tmp_path):
    log = make_log()
    edit_log(log, 0, lambda record: record["settings"]["timing"].update(deadline_s=9.0))
    with pytest.raises(DatasetError, match="settings and settings_sha256 do not belong together"):
        load(tmp_path / "data")


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (0, {"participant_id": 7}, "participant_id is 7, but should be a text"),
        (0, {"participant_id": " "}, "participant_id is empty"),
        (0, {"session": 0}, "session is 0, but they count from 1"),
        (0, {"source": "dog"}, "source is 'dog', but should be one of human"),
        (0, {"game": {}}, "game: name is missing"),
        (0, {"game": {"name": "golf", "item_colours": {}, "n_pictures": 2, "shout_item": None,
                      "rules": []}}, "'golf' is no game"),
        (0, {"game": {"name": "classic", "item_colours": {"ghost": 3}, "n_pictures": 2,
                      "shout_item": None, "rules": []}}, "item_colours"),
        (2, {"onset_s": "soon"}, 'onset_s is "soon", but should be a finite number'),
        (2, {"onset_s": float("nan")}, "onset_s is NaN, but should be a finite number"),
        (2, {"onset_s": 10**400}, "onset_s is 1000000000"),
        (2, {"onset_s": float("inf")}, "onset_s is Infinity"),
        (2, {"fixation_onset_s": -1.0}, "fixation_onset_s is -1.0, but cannot be negative"),
        (2, {"onset_s": 0.5, "fixation_onset_s": 1.0}, "before fixation_onset_s"),
        (2, {"deadline_s": 0}, "deadline_s is 0, but must be positive"),
        (2, {"trial_index": True}, "trial_index is true, but should be a whole number"),
        (3, {"trial_index": 0}, r"trial_index is 0, but 0 in the trial before it \(line 3\)"),
        (2, {"block_type": "easy"}, "block_type is 'easy', but should be one of direct"),
        (2, {"phase": "warm-up"}, "phase is 'warm-up'"),
        (2, {"card": "owl:red ghost:blue"}, "'owl' is no item of this game"),
        (2, {"card": "ghost"}, "is no picture"),
        (2, {"events": [5]}, "event 0: 5 is no event"),
        (2, {"events": [{}]}, "event 0: t_s is missing"),
        (2, {"events": None}, "events is null, but should be a list"),
    ],
)  # fmt: skip
def test_record_of_the_wrong_kind_is_refused_by_name(
    make_log, edit_log: Edit, tmp_path, number, change, message
):
    log = make_log()
    edit_log(log, number, lambda record: record.update(change))
    with pytest.raises(DatasetError, match=message) as caught:
        load(tmp_path / "data")
    assert f"{log.name}, line {number + 1}" in str(caught.value)


def test_event_of_an_item_that_the_game_lacks_is_refused(make_log, edit_log: Edit, tmp_path):
    log = make_log()
    edit_log(log, 2, lambda record: record["events"][0].update(answer="owl"))
    with pytest.raises(DatasetError, match="response 'owl' is no item of this game"):
        load(tmp_path / "data")


def test_card_against_its_pure_block_is_refused(make_log, edit_log: Edit, tmp_path):
    log = make_log()
    rule = json.loads(log.read_text().splitlines()[2])["rule"]
    other = "exclusion" if rule == "direct" else "direct"
    edit_log(log, 2, lambda record: record.update(block_type=other))
    with pytest.raises(DatasetError, match=f"is {rule}, but its block is {other}"):
        load(tmp_path / "data")


def test_missing_line_is_refused(make_log, tmp_path):
    log = make_log()
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:3] + lines[4:]))
    with pytest.raises(LogError, match="line 4: record 4 stands where record 3 should"):
        load(tmp_path / "data")


# --- what is no data set -----------------------------------------------------------------------


def test_missing_path(tmp_path):
    with pytest.raises(DatasetError, match="does not exist"):
        load(tmp_path / "nowhere")


def test_empty_folder(tmp_path):
    with pytest.raises(DatasetError, match="is empty"):
        load(tmp_path)


def test_folder_of_junk(tmp_path):
    (tmp_path / "holiday.png").write_bytes(b"\x89PNG")
    with pytest.raises(DatasetError, match=r"holds no logs .*holiday\.png"):
        load(tmp_path)


def test_folder_above_a_data_set_says_where_it_is(make_log, tmp_path):
    make_log()
    with pytest.raises(DatasetError, match=r"did you mean .*data\?"):
        load(tmp_path)


def test_table_that_was_never_imported(tmp_path):
    table = tmp_path / "trials.csv"
    table.write_text("a,b\n1,2\n")
    for path in (table, tmp_path):
        with pytest.raises(DatasetError, match="ghostblitz import"):
            load(path)


def test_log_that_is_no_log(tmp_path):
    for content, message in ((b"", "is empty"), (b"\x00\xff\x13" * 9, "no record of a log"),
                             (b'{"type": "header", "n": 0}\n', "no ghostblitz log"),
                             (b'{"a": 1}\n', "no record of a log")):  # fmt: skip
        path = tmp_path / "x.jsonl"
        path.write_bytes(content)
        with pytest.raises(LogError, match=message):
            load(path)


def test_log_without_a_complete_trial(make_log, tmp_path):
    make_log(trials=[], end=None)
    with pytest.raises(DatasetError, match="no complete trial"):
        load(tmp_path / "data")


def test_newer_log(make_log, tmp_path):
    make_log(header={"schema_version": 99})
    with pytest.raises(LogError, match="schema version 99"):
        load(tmp_path / "data")


def test_bad_analysis_settings_are_named(make_log, tmp_path):
    make_log()
    (tmp_path / "data" / "analysis.toml").write_text("skip_frist_trials = 4\n")
    with pytest.raises(GhostBlitzError, match="did you mean skip_first_trials"):
        load(tmp_path / "data")


def test_unreadable_log(make_log, tmp_path, monkeypatch):
    make_log()

    def refuse(_path):
        raise PermissionError(13, "Permission denied")

    # Not by chmod: root, as which tests may run, reads everything.
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(LogError, match="cannot be read"):
        load(tmp_path / "data")


def test_files_that_macos_leaves_behind_are_no_logs(make_log, tmp_path):
    log = make_log()
    log.with_name("._" + log.name).write_bytes(b"\x00\x05\x16\x07")
    assert len(load(tmp_path / "data").trials) == 12


@pytest.mark.slow
@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_log_loads_or_is_refused_in_one_line(make_log, tmp_path, data):
    """Cut, overwrite or lose bytes anywhere: never a traceback, never a wrong table."""
    good = tmp_path / "good.jsonl"
    if not good.exists():
        good.write_bytes(make_log(trials=range(3)).read_bytes())
    content = good.read_bytes()
    start = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(["cut", "lose", "overwrite"]))
    if kind == "cut":
        content = content[:start]
    elif kind == "lose":
        content = content[:start] + content[start + data.draw(st.integers(1, 400)) :]
    else:
        noise = data.draw(st.binary(min_size=1, max_size=8))
        content = content[:start] + noise + content[start + len(noise) :]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    try:
        dataset = load(path)
    except GhostBlitzError as error:
        if "\n" in str(error):
            pytest.fail(f"more than one line: {error}")
    else:
        assert list(dataset.trials.columns) == [c.name for c in COLUMNS]
        assert len(dataset.trials) == sum(run.n_trials for run in dataset.runs)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(), st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


@pytest.mark.slow
@settings(
    deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_value_anywhere_loads_or_is_refused_in_one_line(make_log, tmp_path, data):
    good = tmp_path / "good.jsonl"
    if not good.exists():
        good.write_bytes(make_log(trials=range(2)).read_bytes())
    records = [json.loads(line) for line in good.read_text().splitlines()]
    place = data.draw(st.sampled_from(records))
    for _ in range(data.draw(st.integers(0, 2))):  # Descend into tables and lists.
        inner = [v for v in (place.values() if isinstance(place, dict) else place)
                 if isinstance(v, (dict, list)) and v]  # fmt: skip
        if not inner:
            break
        place = data.draw(st.sampled_from(inner))
    key = data.draw(
        st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))
    )
    if isinstance(place, dict) and data.draw(st.booleans()):
        del place[key]
    else:
        place[key] = data.draw(VALUES)
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    try:
        load(path)
    except GhostBlitzError as error:
        if "\n" in str(error):
            pytest.fail(f"more than one line: {error}")
