"""Records of a log against its settings, its blocks and the plan of its seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.errors import DatasetError, LogError

Edit = Callable[[Path, int, Callable[[dict[str, Any]], object]], None]

# Records of a log with blocks of 5 and 7 trials: 0 header, 1 block, 2-6 trials, 7 block,
# 8-14 trials, 15 end.
SECOND_BLOCK, EIGHTH_TRIAL, END = 7, 10, 15


@pytest.fixture
def two_blocks(make_log) -> Path:
    return make_log(blocks=[5, 7])


def rewrite(path: Path, records: list[dict[str, Any]]) -> None:
    lines = [json.dumps({**record, "n": n}) for n, record in enumerate(records)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_sound_log_agrees_with_its_plan(two_blocks):
    dataset = load_dataset(two_blocks)
    assert dataset.trials["block_index"].tolist() == [0] * 5 + [1] * 7
    assert dataset.runs[0].plan_check == "same"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phase": "practice"}, 'phase is "practice", but the settings say "test"'),
        ({"block_index": 0}, "block_index is 0, but the settings say 1"),
        ({"trial_in_block": 3}, "trial_in_block is 3, but the settings say 2"),
        ({"deadline_s": 9.0}, r"deadline_s is 9\.0, but the settings say 8\.0"),
        ({"second_response_window_s": 50}, r"second_response_window_s is 50, but .* say 0\.5"),
        ({"foreperiod_requested_s": 0.7}, r"foreperiod_requested_s is 0\.7, but its seed gives"),
        ({"offset_s": 1.0}, r"offset_s is 1\.0, but onset_s is 71\.5, after it"),
        ({"onset_s": 1e12, "fixation_onset_s": 1e12}, "onset_s is .* s, which is no time"),
    ],
)  # fmt: skip
def test_trial_that_its_settings_or_plan_deny_is_refused(
    two_blocks, edit_log: Edit, change, message
):
    edit_log(two_blocks, EIGHTH_TRIAL, lambda record: record.update(change))
    with pytest.raises(DatasetError, match=f"line 11, trial 7: {message}"):
        load_dataset(two_blocks)


def test_card_that_the_seed_does_not_give_is_refused(two_blocks, edit_log: Edit):
    def swap(record):
        record["card"] = " ".join(reversed(record["card"].split()))

    edit_log(two_blocks, EIGHTH_TRIAL, swap)
    with pytest.raises(DatasetError, match=r"line 11, trial 7: card is .*, but its seed gives"):
        load_dataset(two_blocks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "zzz"}, r'device is "grab_keys", but by the settings, key "zzz" gives "other'),
        ({"device": "shout_keys"}, r'device is "shout_keys", but by the settings, key'),
        ({"device": "pedal"}, r'device is "pedal", but should be one of grab_keys'),
        ({"device": "pointer", "mode": "grab", "answer": "book"},
         'answer is "book", but by the settings, the pointer gives null'),
    ],
)  # fmt: skip
def test_event_that_means_something_else_by_the_settings_is_refused(
    two_blocks, edit_log: Edit, change, message
):
    # The release is not scored, so that nothing but its meaning contradicts.
    edit_log(two_blocks, EIGHTH_TRIAL, lambda record: record["events"][1].update(change))
    with pytest.raises(DatasetError, match=f"trial 7, event 1: {message}"):
        load_dataset(two_blocks)


PADS = [{"kind": "serial", "port": "COM3", "polled": False}]


def answer_by_button(log: Path, edit_log: Edit, pads: object, **changes: object) -> None:
    def press(record):
        record["response_device"] = "grab_buttons"
        for event in record["events"]:
            event.update({"device": "grab_buttons", "code": 49})
        record["events"][1].update(changes)  # The release is not scored.

    edit_log(log, EIGHTH_TRIAL, press)
    edit_log(log, 0, lambda record: record["apparatus"].update(response_pads=pads))


def test_button_of_a_pad_answers_like_the_key_it_stands_for(two_blocks, edit_log: Edit):
    answer_by_button(two_blocks, edit_log, PADS)
    trials = load_dataset(two_blocks).trials
    assert trials["response_device"].tolist().count("grab_buttons") == 1
    assert trials.loc[7, "response_device"] == "grab_buttons"


@pytest.mark.parametrize(
    ("pads", "changes", "message"),
    [
        (
            [],
            {},
            r'device is "grab_buttons", but apparatus\.response_pads of the header has no pad',
        ),
        (None, {}, r"apparatus\.response_pads is null, but is a list of tables"),
        (PADS, {"key": "pad-1:x"}, r'device is "grab_buttons", but by .* gives "other_buttons"'),
        (PADS, {"device": "shout_buttons"}, r'"shout_buttons", but by .* gives "grab_buttons"'),
    ],
)
def test_button_that_the_header_or_the_settings_deny_is_refused(
    two_blocks, edit_log: Edit, pads, changes, message
):
    answer_by_button(two_blocks, edit_log, pads, **changes)
    with pytest.raises(DatasetError, match=message):
        load_dataset(two_blocks)


@pytest.mark.parametrize("polled", [False, True])
def test_buttons_may_look_the_same_only_where_they_share_the_time_of_a_poll(
    two_blocks, edit_log: Edit, polled
):
    def again(record):
        record["events"] += record["events"]
        record["n_events"] *= 2

    answer_by_button(two_blocks, edit_log, [{**PADS[0], "polled": polled}])
    edit_log(two_blocks, EIGHTH_TRIAL, again)
    if polled:
        assert len(load_dataset(two_blocks).trials) == 12
    else:
        with pytest.raises(DatasetError, match=r"an event stands in one record, once"):
            load_dataset(two_blocks)


def test_event_in_two_records_is_refused(two_blocks, edit_log: Edit):
    event = records_of(two_blocks)[EIGHTH_TRIAL]["events"][1]
    edit_log(two_blocks, END, lambda record: record.update(events=[event]))
    with pytest.raises(DatasetError, match=r"\(end\), event 0: key .* line 11, trial 7, event 1 a"):
        load_dataset(two_blocks)


def test_presses_that_a_held_key_repeats_are_no_copies(two_blocks, edit_log: Edit):
    def repeat(record):
        again = {**record["events"][0], "repeated": True}
        record["events"] += [again, again]
        record["n_events"] += 2

    edit_log(two_blocks, EIGHTH_TRIAL, repeat)
    assert len(load_dataset(two_blocks).trials) == 12


def test_trials_without_their_block_record_are_refused(two_blocks):
    records = records_of(two_blocks)
    rewrite(two_blocks, records[:SECOND_BLOCK] + records[SECOND_BLOCK + 1 :])
    with pytest.raises(DatasetError, match="trial 5: block_index is 1, but the last block record"):
        load_dataset(two_blocks)


def test_trial_missing_within_a_run_is_refused(two_blocks):
    records = records_of(two_blocks)
    rewrite(two_blocks, records[:EIGHTH_TRIAL] + records[EIGHTH_TRIAL + 1 :])
    with pytest.raises(DatasetError, match="trial_index is 8, but the next trial is 7"):
        load_dataset(two_blocks)


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (SECOND_BLOCK, {"block_index": 2}, "block_index is 2, but the settings have 2 blocks"),
        (SECOND_BLOCK, {"block_index": 0}, "block_index is 0 after 0"),
        (SECOND_BLOCK, {"phase": "practice"}, 'phase is "practice", but the settings say "test"'),
        (SECOND_BLOCK, {"n_trials": 8}, "n_trials is 8, but the settings say 7"),
        (END, {"status": "dancing"}, 'status is "dancing", but should be one of completed, quit'),
        (END, {"status": None}, "status is null, but should be one of completed"),
        (END, {"n_trials": 5}, "n_trials is 5, but the trials up to it are 12"),
        (END, {"events": 5}, "events is 5, but is a list"),
        (0, {"n_trials_planned": 10}, "n_trials_planned is 10, but its settings give 12"),
        (0, {"study_id": "other"}, 'study_id is "other", but its settings give "small"'),
        (0, {"seed": -1}, "its settings and seed -1 give no plan"),
        (0, {"plan_sha256": "0"}, 'plan_sha256 is "0", but the trials have the sum'),
        (0, {"source": "simulated", "participant_model": "perfect"},
         'source is "simulated", but apparatus.apparatus is "psychopy"'),
        (0, {"apparatus": {"apparatus": "simulated"}},
         'source is "human", but apparatus.apparatus is "simulated"'),
        (0, {"source": "imported"}, 'source is "imported", but a log is of a session here'),
        (0, {"apparatus": {}}, "apparatus.apparatus is null"),
        (0, {"participant_model": "perfect"}, 'source is "human", but participant_model is "perf'),
    ],
)  # fmt: skip
def test_record_that_contradicts_others_is_refused(
    two_blocks, edit_log: Edit, number, change, message
):
    edit_log(two_blocks, number, lambda record: record.update(change))
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(two_blocks)
    assert f"line {number + 1}" in str(caught.value)


def test_own_colours_in_the_header_that_the_settings_deny_are_refused(two_blocks, edit_log: Edit):
    def swap(record):
        own = record["game"]["item_colours"]
        own["ghost"], own["chair"] = own["chair"], own["ghost"]

    edit_log(two_blocks, 0, swap)
    with pytest.raises(DatasetError):
        load_dataset(two_blocks)


def test_completed_session_with_trials_left_is_refused(make_log):
    log = make_log(trials=range(8), header={"n_trials_planned": 12})
    with pytest.raises(DatasetError, match="status is completed, but 8 of 12 trials were done"):
        load_dataset(log)


def test_records_after_the_end_are_refused(two_blocks):
    records = records_of(two_blocks)
    rewrite(two_blocks, [*records, records[END]])
    with pytest.raises(DatasetError, match="there are records after the end"):
        load_dataset(two_blocks)


def test_seed_that_gives_another_sequence_is_an_error_finding(two_blocks, edit_log: Edit):
    edit_log(two_blocks, 0, lambda record: record.update(seed=2))
    found = {f.code: f for f in validate_dataset(load_dataset(two_blocks))}
    assert found["plan_differs"].severity == "error"
    assert found["plan_differs"].where == two_blocks.name


@pytest.mark.parametrize("software", [{"ghostblitz": "0.0.1"}, {}, None])
def test_log_of_another_version_is_not_planned_again(two_blocks, edit_log: Edit, software):
    edit_log(two_blocks, 0, lambda record: record.update(seed=2, software=software))
    found = {f.code: f for f in validate_dataset(load_dataset(two_blocks))}
    assert found["plan_not_checked"].severity == "info"


def test_settings_of_another_version_are_not_compared(two_blocks, edit_log: Edit):
    def change(record):
        record["settings"]["new_setting"] = 1
        text = json.dumps(record["settings"], sort_keys=True)
        record["settings_sha256"] = hashlib.sha256(text.encode()).hexdigest()

    edit_log(two_blocks, 0, change)
    with pytest.raises(DatasetError, match="new_setting is not a setting"):
        load_dataset(two_blocks)
    edit_log(two_blocks, 0, lambda record: record.update(software={"ghostblitz": "99"}))
    assert load_dataset(two_blocks).runs[0].plan_check == "other_version"


@pytest.mark.parametrize("n_bytes", [5, 30, 900])
def test_log_cut_off_in_its_header_says_that_it_can_be_moved_away(make_log, n_bytes):
    make_log("a")
    log = make_log("b")
    log.write_bytes(log.read_bytes()[:n_bytes])
    with pytest.raises(LogError, match=r"sub-b_ses-01_run-01\.jsonl, line 1: .*holds no trial, so"):
        load_dataset(log.parent)


def test_display_of_a_simulation_needs_no_synchronisation(make_log):
    header = {"source": "simulated", "apparatus": {"display_synchronised": False}}
    log = make_log(header=header)
    assert "display_unsynchronised" not in {f.code for f in validate_dataset(load_dataset(log))}
    make_log("q", header={"source": "simulated", "apparatus": {"display_synchronised": None}})
    trials = load_dataset(log.parent).trials
    assert trials["display_synchronised"].isna().tolist() == [False] * 12 + [True] * 12
