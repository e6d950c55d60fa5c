"""The hat: where every trial of a session says it is must follow from the trials before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.apparatus.simulated import SimulatedApparatus
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.games import GameState
from ghostblitz_task.participants import make_participant
from ghostblitz_task.seeds import rng_for
from ghostblitz_task.studies import (
    Study,
    begin_dataset,
    find_resumable,
    log_session,
    new_identity,
    resume_identity,
)
from ghostblitz_task.trial_log import read_log

Edit = Callable[[Path, int, Callable[[dict[str, Any]], object]], None]
HIDEABLE = ("ghost", "bottle", "barrel", "mouse")


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rewrite(path: Path, records: list[dict[str, Any]]) -> None:
    lines = [json.dumps({**record, "n": n}) for n, record in enumerate(records)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def numbers_of(path: Path, kind: str, **values: Any) -> list[int]:
    """Where records of a kind stand whose values are these."""
    return [
        record["n"]
        for record in records_of(path)
        if record["type"] == kind and all(record[k] == v for k, v in values.items())
    ]


def moves_of(path: Path) -> list[int]:
    return [n for n in numbers_of(path, "hat") if records_of(path)[n]["trial_index"] is not None]


@pytest.fixture
def log(simulate_game) -> Path:
    (path,) = simulate_game("spooky-doo", model="perfect")
    return path


def plain_trial(path: Path) -> tuple[int, str]:
    """A later trial whose solution stays what it is with the hat over another item."""
    for record in records_of(path)[40:]:
        if record["type"] == "trial" and record["answer"] == record["target"]:
            free = [i for i in HIDEABLE if i not in (record["target"], record["hat_over"])]
            return record["n"], free[0]
    raise AssertionError("no such trial")


def test_columns_say_where_the_hat_was_and_for_how_long(log):
    trials = load_dataset(log).trials
    records = [r for r in records_of(log) if r["type"] == "trial"]
    assert trials["hat_over"].tolist() == [r["hat_over"] for r in records]
    assert trials["trials_since_hat_move"].tolist() == [r["trials_since_hat_move"] for r in records]
    assert trials["rules"].eq("").all()
    assert load_dataset(log).runs[0].plan_check == "same"
    moved = trials["hat_over"].ne(trials["hat_over"].shift()).iloc[1:]
    assert (trials["trials_since_hat_move"].iloc[1:] == 0).tolist() == moved.tolist()


def test_games_without_a_hat_have_nulls(simulate_game):
    (path,) = simulate_game("grab-or-shout")
    trials = load_dataset(path).trials
    assert trials[["hat_over", "trials_since_hat_move"]].isna().all().all()
    assert trials["rules"].eq("").all()


def test_log_of_before_there_were_hats_loads(make_log, edit_log: Edit):
    path = make_log()
    header, _, trial, *_ = records_of(path)
    assert not {"times", "hat_mover"} & set(header["game"])
    assert "trials_since_hat_move" not in trial
    trials = load_dataset(path).trials
    assert trials[["hat_over", "trials_since_hat_move"]].isna().all().all()


# --- refusals ----------------------------------------------------------------------------------


def refuse(path: Path, message: str) -> str:
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    return str(caught.value)


def test_hat_over_another_item_in_a_trial_is_refused(log, edit_log: Edit):
    number, other = plain_trial(log)
    was = records_of(log)[number]["hat_over"]
    edit_log(log, number, lambda record: record.update(hat_over=other))
    refuse(log, f'line {number + 1}, trial .*hat_over is stored as "{other}", but .* "{was}"')


def test_trials_since_the_move_that_the_trials_before_deny_are_refused(log, edit_log: Edit):
    number, _ = plain_trial(log)
    was = records_of(log)[number]["trials_since_hat_move"]
    edit_log(log, number, lambda record: record.update(trials_since_hat_move=was + 1))
    message = f"line {number + 1}, trial .*: trials_since_hat_move is stored as {was + 1}, but .*"
    refuse(log, message + f"give {was};")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials_since_hat_move": -1}, "trials_since_hat_move is -1, but cannot be negative"),
        ({"trials_since_hat_move": None}, "trials_since_hat_move is null, but should be a whole"),
        ({"hat_over": None}, "hat_over is null, but should be a text"),
        ({"hat_over": "hat"}, "the hat is over 'hat', but it hides one of"),
    ],
)
def test_trial_without_a_hat_is_refused(log, edit_log: Edit, change, message):
    number, _ = plain_trial(log)
    edit_log(log, number, lambda record: record.update(change))
    refuse(log, f"line {number + 1}, trial .*{message}")


def test_trial_of_a_new_log_must_say_how_long_the_hat_was_there(log, edit_log: Edit):
    number, _ = plain_trial(log)
    edit_log(log, number, lambda record: record.pop("trials_since_hat_move"))
    refuse(log, "trials_since_hat_move is missing")


def test_missing_record_of_a_move_is_refused(log):
    move, records = moves_of(log)[3], records_of(log)
    index = records[move]["trial_index"]
    rewrite(log, records[:move] + records[move + 1 :])
    refuse(log, f"the hat moves after trial {index} .*one is missing")


def test_repeated_record_of_a_move_is_refused(log):
    move, records = moves_of(log)[3], records_of(log)
    again = {**records[move], "events": [], "onset_s": records[move]["end_s"]}
    rewrite(log, [*records[: move + 1], again, *records[move + 1 :]])
    index = records[move]["trial_index"]
    refuse(log, rf"line {move + 2} \(hat\): the hat moved after trial {index} in line {move + 1} a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mover": "participant"}, 'mover is "participant", but by the settings .*"schedule"'),
        ({"mover": None}, "mover is null, but by the settings"),
        ({"onset_s": 0.0}, r"onset_s is 0\.0, but line .* ends at"),
        ({"end_s": 0.0}, r"end_s is 0\.0, but onset_s is"),
        ({"trial_index": 0}, "the hat moves after trial 0, but what comes before is trial"),
        ({"hat_over": 5}, "hat_over is 5, but should be a text"),
    ],
)
def test_record_of_a_move_that_contradicts_others_is_refused(log, edit_log: Edit, change, message):
    move = moves_of(log)[3]
    edit_log(log, move, lambda record: record.update(change))
    refuse(log, rf"line {move + 1} \(hat\): {message}")


def test_move_to_another_item_than_the_schedule_gives_is_refused(log, edit_log: Edit):
    move = moves_of(log)[3]
    record = records_of(log)[move]
    other = next(item for item in HIDEABLE if item != record["hat_over"])
    edit_log(log, move, lambda record: record.update(hat_over=other))
    refuse(log, f'hat_over is "{other}" after trial {record["trial_index"]}, but .* give')


def test_hat_that_is_not_shown_when_a_block_begins_is_refused(log):
    shown, records = numbers_of(log, "hat", trial_index=None)[1], records_of(log)
    rewrite(log, records[:shown] + records[shown + 1 :])
    refuse(log, "the hat is shown when a block begins, but no hat record before this trial")


def test_hat_shown_twice_when_a_block_begins_is_refused(log):
    shown, records = numbers_of(log, "hat", trial_index=None)[1], records_of(log)
    again = {**records[shown], "events": [], "onset_s": records[shown]["end_s"]}
    rewrite(log, [*records[: shown + 1], again, *records[shown + 1 :]])
    refuse(log, rf"line {shown + 2} \(hat\): the hat is shown once when a block begins")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hat_over": "hat"}, 'hat_over is "hat" when the block begins, but the trials before it'),
        ({"mover": "schedule"}, 'mover is "schedule", but trial_index is null'),
    ],
)
def test_hat_shown_otherwise_when_a_block_begins_is_refused(log, edit_log: Edit, change, message):
    shown = numbers_of(log, "hat", trial_index=None)[1]
    edit_log(log, shown, lambda record: record.update(change))
    refuse(log, message)


def test_card_shown_before_the_hat_was_there_is_refused(log, edit_log: Edit):
    move = moves_of(log)[3]
    edit_log(log, move, lambda record: record.update(end_s=record["end_s"] + 1000))
    refuse(log, rf"trial .*: fixation_onset_s is .*, before the end_s .* line {move + 1}")


def test_mover_in_the_header_that_the_settings_deny_is_refused(log, edit_log: Edit):
    edit_log(log, 0, lambda record: record["game"].update(hat_mover="participant"))
    refuse(log, r'game\.hat_mover is "participant", but its settings give "schedule"')


def test_hats_in_a_game_without_one_are_refused(make_log, edit_log: Edit):
    path = make_log()
    edit_log(path, 4, lambda record: record.update(hat_over="ghost"))
    refuse(path, 'line 5, trial 2: hat_over is "ghost", but classic has no hat')
    edit_log(path, 4, lambda record: record.update(hat_over=None, trials_since_hat_move=0))
    refuse(path, "trials_since_hat_move is 0, but classic has no hat")
    edit_log(path, 4, lambda record: record.update(trials_since_hat_move=None))
    records = records_of(path)
    rewrite(path, [*records[:4], {"type": "hat", "trial_index": None}, *records[4:]])
    refuse(path, r"line 5 \(hat\): classic has no hat that could move")


# --- where the plan is not known ---------------------------------------------------------------


def of_another_version(path: Path, edit_log: Edit) -> None:
    edit_log(path, 0, lambda record: record.update(software={"ghostblitz": "0.0.1"}))


def test_log_of_another_version_is_compared_with_itself_only(log, edit_log: Edit):
    of_another_version(log, edit_log)
    assert load_dataset(log).runs[0].plan_check == "other_version"
    number, other = plain_trial(log)
    edit_log(log, number, lambda record: record.update(hat_over=other))
    refuse(log, f'hat_over is stored as "{other}", but')


def test_log_of_another_version_cannot_move_the_hat_to_where_it_is(log, edit_log: Edit):
    of_another_version(log, edit_log)
    move = moves_of(log)[3]
    trial = next(r for r in reversed(records_of(log)[:move]) if r["type"] == "trial")
    edit_log(log, move, lambda record: record.update(hat_over=trial["hat_over"]))
    refuse(log, f"after trial {trial['trial_index']}: the hat goes over one of")


def test_log_of_another_version_must_show_the_hat_where_the_first_trial_has_it(log, edit_log: Edit):
    of_another_version(log, edit_log)
    shown = numbers_of(log, "hat", trial_index=None)[0]
    was = records_of(log)[shown]["hat_over"]
    other = next(item for item in HIDEABLE if item != was)
    edit_log(log, shown, lambda record: record.update(hat_over=other))
    refuse(log, f'hat_over is stored as "{was}", but the hat record .* over "{other}"')


# --- a participant who moves the hat -----------------------------------------------------------


@pytest.fixture
def chosen(simulate_game) -> Path:
    (path,) = simulate_game("spooky-doo", model="perfect", hat_mover="participant")
    return path


def test_choices_of_a_participant_are_followed(chosen):
    dataset = load_dataset(chosen)
    assert dataset.runs[0].plan_check == "same"
    assert dataset.trials["trials_since_hat_move"].eq(0).sum() > 5


def test_choice_that_no_key_made_is_refused(chosen, edit_log: Edit):
    move = moves_of(chosen)[2]
    record = records_of(chosen)[move]
    other = next(item for item in HIDEABLE if item != record["hat_over"])
    edit_log(chosen, move, lambda record: record.update(hat_over=other))
    refuse(chosen, f'hat_over is "{other}", but the keys pressed are those of')


# --- resumed sessions --------------------------------------------------------------------------


def run_until(study: Study, logs: Path, identity, n_trials: int | None) -> Path:
    """Run a session of a simulated participant, and quit after so many trials."""
    done = [0]
    rng = rng_for(identity.seed, "participant")
    participant = make_participant("perfect", rng)
    path, _ = log_session(
        study, logs, identity,
        open_apparatus=lambda: SimulatedApparatus(
            [(participant, rng)], game=study.game, responses=study.settings.responses
        ),
        apparatus_settings=ApparatusSettings(),
        stop_requested=lambda: "enough" if n_trials and done[0] >= n_trials else None,
        on_trial=lambda n, _: done.__setitem__(0, n),
    )  # fmt: skip
    return path


def begin(study: Study, folder: Path, n_trials: int) -> tuple[Path, Path]:
    logs = begin_dataset(study, folder)
    identity = new_identity(
        logs, "p1", session=1, seed=11, source="simulated", participant_model="perfect"
    )
    return logs, run_until(study, logs, identity, n_trials)


def resume(study: Study, logs: Path) -> Path:
    run = find_resumable(logs, "p1", session=1)
    return run_until(study, logs, resume_identity(study, run), None)


@pytest.fixture
def two_runs(make_study, tmp_path) -> tuple[Path, Path]:
    study = make_study("spooky-doo")
    logs, first = begin(study, tmp_path / "data", 17)
    return first, resume(study, logs)


def test_hat_is_followed_from_one_run_to_the_next(two_runs):
    trials = load_dataset(two_runs[0].parent.parent).trials
    assert len(trials) == 44
    assert trials["run"].nunique() == 2
    moved = trials["hat_over"].ne(trials["hat_over"].shift()).iloc[1:]
    assert (trials["trials_since_hat_move"].iloc[1:] == 0).tolist() == moved.tolist()


def test_second_run_alone_loads(two_runs):
    assert len(load_dataset(two_runs[1]).trials) == 27


@pytest.mark.parametrize("name", ["hat_over", "trials_since_hat_move"])
def test_second_run_that_does_not_follow_from_the_first_is_refused(two_runs, edit_log: Edit, name):
    """Every record of the second run agrees with the others of it; only the first run denies it."""
    _, second = two_runs
    records = records_of(second)
    first_trial = next(r for r in records if r["type"] == "trial")
    table = GameState(first_trial["hat_over"], first_trial["trials_since_hat_move"])
    other = {"hat_over": "nothing", "trials_since_hat_move": 99}[name]
    if name == "trials_since_hat_move":
        edit_log(second, first_trial["n"], lambda record: record.update({name: other}))
        where = f"line {first_trial['n'] + 1}, trial {first_trial['trial_index']}"
    else:
        shown = numbers_of(second, "hat", trial_index=None)[0]
        edit_log(second, shown, lambda record: record.update({name: other}))
        where = f"line {shown + 1}"
    with pytest.raises(DatasetError, match=f"{second.name}, {where}.* {name} is") as caught:
        load_dataset(second.parent.parent)
    assert str(getattr(table, name)) in str(caught.value)


@pytest.mark.parametrize("mover", ["schedule", "participant"])
def test_run_killed_before_the_hat_was_seen_to_move_goes_on_by_the_schedule(
    make_study, tmp_path, mover
):
    study = make_study("spooky-doo", hat_mover=mover)
    logs, first = begin(study, tmp_path / "data", 25)
    move = moves_of(first)[2]
    lines = first.read_text(encoding="utf-8").splitlines(keepends=True)
    first.write_text("".join(lines[:move]), encoding="utf-8")
    second = resume(study, logs)
    assert read_log(second).header["resumes"]["n_trials"] > 3
    dataset = load_dataset(tmp_path / "data")
    assert len(dataset.trials) == 44


def test_later_run_without_the_earlier_one_is_compared_with_itself(two_runs, edit_log: Edit):
    first, second = two_runs
    first.unlink()
    assert len(load_dataset(second.parent.parent).trials) == 27
    trial = [r for r in records_of(second) if r["type"] == "trial"][5]
    edit_log(second, trial["n"], lambda record: record.update(trials_since_hat_move=50))
    refuse(second, "trials_since_hat_move is stored as 50, but")
