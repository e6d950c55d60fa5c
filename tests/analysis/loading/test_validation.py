"""Findings: each says what is there, and nothing is said of a sound data set."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.validation import Finding, validate_dataset


def findings(path: Path) -> dict[str, Finding]:
    found = validate_dataset(load_dataset(path))
    assert all("\n" not in f.message for f in found)
    return {f.code: f for f in found}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def changed(make_log, data: Path) -> Callable[..., dict[str, Finding]]:
    """Findings in a sound data set of 24 trials, after some of its columns were changed."""

    def run(n_trials: int = 24, **columns: object) -> dict[str, Finding]:
        make_log(trials=range(n_trials))
        (data / "analysis.toml").write_text("")
        dataset = load_dataset(data)
        trials = dataset.trials.copy()
        for name, values in columns.items():
            full = values if isinstance(values, list) else [values] * len(trials)
            trials[name] = pd.array(full, dtype=trials[name].dtype)
        return {f.code: f for f in validate_dataset(dataclasses.replace(dataset, trials=trials))}

    return run


def test_sound_data_set_has_nothing_to_say(changed):
    assert changed(40) == {}


def test_validation_changes_nothing(make_log, data):
    make_log(wrong=range(12), end=None)
    dataset = load_dataset(data)
    before = dataset.trials.copy(deep=True)
    validate_dataset(dataset)
    pd.testing.assert_frame_equal(dataset.trials, before)


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (None, "run_killed", "the log just ends"),
        ("quit", "run_quit", "ended by the quit key"),
        ("failed", "run_failed", "stopped on an error"),
    ],
)
def test_run_that_did_not_complete(make_log, data, end, code, words):
    make_log(trials=range(8), end=end)
    found = findings(data)
    assert found[code].severity == "warning"
    assert words in found[code].message
    assert "8 completed trials are kept" in found[code].message
    assert found["session_incomplete"].message == "8 of 12 trials were done"


def test_torn_line_and_interrupted_trial(make_log, data):
    log = make_log(trials=range(6), end=None, interrupted=2)
    log.write_bytes(log.read_bytes()[:-3])
    found = findings(data)
    assert found["torn_line"].severity == "info"
    assert found["trials_interrupted"].message.startswith("1 trial(s)")


def test_resumed_session(make_log, data):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(5, 12), resumes=first)
    found = findings(data)
    assert found["session_resumed"].where == "p01, session 1"
    assert "after 5 trials" in found["session_resumed"].message
    assert not {"session_incomplete", "earlier_run_missing", "earlier_run_changed"} & set(found)


def test_missing_earlier_run(make_log, data):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(5, 12), resumes=first)
    first.unlink()
    found = findings(data)
    assert "continues sub-p01_ses-01_run-01.jsonl" in found["earlier_run_missing"].message
    assert found["trials_missing"].where == "p01"
    assert found["session_incomplete"].message == "7 of 12 trials were done"


def test_earlier_run_that_was_changed_after_it_was_taken_up(make_log, data):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(5, 12), resumes=first)
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[:-1]))
    assert findings(data)["earlier_run_changed"].severity == "error"


def test_runs_of_different_plans(make_log, data):
    first = make_log(trials=range(5), end=None)
    make_log(run=2, trials=range(5, 12), resumes=first, header={"plan_sha256": "other"})
    assert findings(data)["plans_differ"].severity == "error"


def test_file_with_another_name_than_its_header(make_log, data):
    make_log("p08", file_name="sub-p09_ses-01_run-01.jsonl")
    found = findings(data)["file_name_differs"]
    assert found.where == "sub-p09_ses-01_run-01.jsonl"
    assert "sub-p08_ses-01_run-01.jsonl" in found.message


def test_mixed_settings_within_a_study(make_log, data, edit_log):
    make_log("a")
    log = make_log("b")

    def change(header):
        header["settings"]["timing"]["feedback_s"] = 0.9
        text = json.dumps(header["settings"], sort_keys=True)
        header["settings_sha256"] = hashlib.sha256(text.encode()).hexdigest()

    edit_log(log, 0, change)
    assert "2 different settings" in findings(data)["mixed_settings"].message


def test_people_and_models_side_by_side(make_log, data):
    make_log("a")
    make_log("b", header={"source": "simulated", "participant_model": "perfect"})
    found = findings(data)
    assert found["mixed_sources"].severity == "error"
    assert found["simulated_data"].severity == "info"


def test_two_studies_side_by_side(make_log, data):
    make_log("a")
    make_log("b", header={"study_id": "other"})
    assert findings(data)["several_studies"].severity == "error"


@pytest.mark.parametrize(("one", "other"), [("1", "01"), ("Ann", "ann"), ("7", "007")])
def test_ids_that_look_alike(make_log, data, one, other):
    make_log(one)
    make_log(other, rt_s=lambda index: 0.7 + 0.011 * index)
    found = findings(data)["similar_ids"]
    assert found.severity == "warning"
    assert repr(one) in found.where
    assert repr(other) in found.where


def test_unsynchronised_display(make_log, data):
    make_log("a", header={"apparatus": {"display_synchronised": False}})
    make_log("b", rt_s=lambda index: 0.7 + 0.011 * index)
    found = findings(data)["display_unsynchronised"]
    assert found.where == "a"
    assert "(50% of trials)" in found.message


def test_polled_keys(make_log, data):
    make_log(header={"apparatus": {"keys_polled": True}})
    assert "times of polling" in findings(data)["keys_polled"].message


def test_coarse_key_times(changed):
    assert "17 ms" in changed(response_resolution_s=0.0167)["coarse_key_times"].message


def test_dropped_frames_beyond_one_in_a_hundred(changed):
    assert "25.0%" in changed(n_dropped_frames=[1, 0, 0, 0] * 6)["dropped_frames"].message


def test_keys_held(changed):
    assert changed(key_held_at_onset=[True] * 2 + [False] * 22)["keys_held"].where == "p01"


def test_pointer_responses(changed):
    assert changed(response_device="pointer")["pointer_responses"].severity == "info"


def test_guessing_is_found_and_good_accuracy_is_not(make_log, data):
    make_log("good", wrong=[0, 1])
    make_log("guess", wrong=range(9), rt_s=lambda index: 0.7 + 0.011 * index)
    found = findings(data)["chance_accuracy"]
    assert found.where == "guess"
    assert found.severity == "warning"


def test_nobody_there_is_told_from_slow(make_log, data):
    make_log("gone", rt_s=lambda _: None)
    make_log("slow", rt_s=lambda index: None if index % 3 == 0 else 0.7 + 0.01 * index)
    make_log("quick", rt_s=lambda index: None if index == 0 else 0.7 + 0.011 * index)
    found = findings(data)
    assert found["no_responses"].where == "gone"
    assert found["many_late"].where == "slow"
    assert "chance_accuracy" not in found


def test_practice_only(make_log, data):
    make_log("a", phase="practice")
    assert findings(data)["no_used_trials"].severity == "error"
    make_log("b", rt_s=lambda index: 0.7 + 0.011 * index)
    assert findings(data)["practice_only"].where == "a"


def test_few_trials_in_a_cell(changed):
    found = changed(24, rule=["direct"] * 3 + ["exclusion"] * 21)["few_trials"]
    assert "in a cell of rule" in found.message


def test_a_cell_without_trials_counts_as_few(make_log, data):
    make_log("a", trials=range(40), header={"n_trials_planned": 40})
    make_log("b", trials=range(40), rt_s=lambda index: 0.7 + 0.011 * index,
             header={"n_trials_planned": 40})  # fmt: skip
    dataset = load_dataset(data)
    one_rule = (dataset.trials["participant_id"] == "a") | (dataset.trials["rule"] == "direct")
    trials = dataset.trials[one_rule].reset_index(drop=True)
    found = {f.code: f for f in validate_dataset(dataclasses.replace(dataset, trials=trials))}
    assert found["few_trials"].where == "b"


def test_identical_rts(make_log, data):
    make_log(rt_s=lambda _: 0.512345)
    assert findings(data)["identical_rts"].where == "p01"


def test_rounded_rts(changed):
    rounded = [0.5 + i / 100 for i in range(24)]
    assert "whole hundredths" in changed(rt_s=rounded)["rounded_rts"].message


def test_one_persons_data_under_two_ids(make_log, data):
    make_log("a")
    make_log("b")
    found = findings(data)["same_data_twice"]
    assert (found.severity, found.where) == ("error", "a, b")


def test_errors_come_first(make_log, data):
    make_log("a", end=None, trials=range(11))
    make_log("b", header={"source": "simulated"}, rt_s=lambda index: 0.7 + 0.011 * index)
    severities = [f.severity for f in validate_dataset(load_dataset(data))]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert {"error", "warning", "info"} == set(severities)


def test_imported_participants_with_another_number_of_trials(make_log, data):
    make_log()
    dataset: Dataset = dataclasses.replace(load_dataset(data), complete_n_trials=20)
    found = {f.code: f for f in validate_dataset(dataset)}
    assert "has 20 trials" in found["incomplete_participants"].message


def test_chance_limit_is_that_of_the_binomial(make_log, data):
    # Guessing among five gives 6 or more of 12 right with p = .019, 5 or more with p = .073.
    make_log("six", wrong=range(6))
    make_log("five", wrong=range(7), rt_s=lambda index: 0.7 + 0.011 * index)
    assert findings(data)["chance_accuracy"].where == "five"


def test_any_number_of_participants_is_named_shortly(make_log, data):
    rng = np.random.default_rng(1)
    for number in range(12):
        make_log(f"s{number:02}", trials=range(3), rt_s=lambda _: float(rng.uniform(0.4, 2)))
    assert findings(data)["few_trials"].where.endswith("s07 and 4 more")
