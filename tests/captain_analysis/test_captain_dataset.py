"""Loading: what is in a log comes into the tables, and what contradicts itself is refused."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from captain_games import study_table, write_study

from ghostblitz_analysis.captain.dataset import holds_captain_logs, load_captain_dataset
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.errors import DatasetError, LogError
from ghostblitz_task.studies import open_study, simulate_study

Records = list[dict[str, Any]]
NAME = "sub-sim-00001_ses-01_run-01.jsonl"
ROOT = Path(__file__).resolve().parents[2]


def read(path: Path) -> Records:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, records: Records) -> Path:
    for number, record in enumerate(records):
        record["n"] = number
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def static_records(static_data: Path) -> Records:
    return read(static_data / "logs" / NAME)


def changed(records: Records, tmp_path: Path, change: Callable[[Records], None]) -> Path:
    altered = copy.deepcopy(records)
    change(altered)
    return write(tmp_path / NAME, altered)


def turns_of(records: Records) -> Records:
    return [record for record in records if record["type"] == "turn"]


# --- what is loaded -------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_have_exactly_the_documented_columns(static_data):
    dataset = load_captain_dataset(static_data)
    assert list(dataset.turns.columns) == [c.name for c in TURN_COLUMNS]
    assert list(dataset.games.columns) == [c.name for c in GAME_COLUMNS]
    for table, columns in ((dataset.turns, TURN_COLUMNS), (dataset.games, GAME_COLUMNS)):
        for column in columns:
            assert str(table[column.name].dtype).lower() == column.dtype.lower()
            found = set(table[column.name].dropna())
            assert not column.levels or found <= set(column.levels), column.name


@pytest.mark.slow
def test_columns_are_null_only_where_they_say_so(static_data, moving_data):
    for data in (static_data, moving_data):
        dataset = load_captain_dataset(data)
        for table, columns in ((dataset.turns, TURN_COLUMNS), (dataset.games, GAME_COLUMNS)):
            for column in columns:
                if column.null_when is None:
                    assert table[column.name].notna().all(), column.name


def test_every_derived_value_in_a_log_is_a_column_and_the_reverse(static_records):
    derived = set(turns_of(static_records)[0]["derived"])
    columns = {c.name for c in TURN_COLUMNS if c.group == "derived"}
    assert derived == columns - {"n_events"}


def test_every_column_is_documented():
    text = (ROOT / "docs" / "captain.md").read_text(encoding="utf-8")
    for column in (*TURN_COLUMNS, *GAME_COLUMNS):
        assert f"`{column.name}`" in text, column.name
        assert column.meaning[0].isupper()


def test_captains_logs_are_told_from_others(static_data, tmp_path):
    assert holds_captain_logs(static_data)
    assert holds_captain_logs(static_data / "logs" / NAME)
    assert not holds_captain_logs(ROOT / "data" / "example")
    assert not holds_captain_logs(tmp_path / "nothing")
    (tmp_path / "torn.jsonl").write_text('{"type": "hea')
    assert not holds_captain_logs(tmp_path)


def test_torn_last_line_is_left_out_and_said(static_data, tmp_path):
    whole = (static_data / "logs" / NAME).read_bytes().splitlines(keepends=True)
    n = next(i for i, line in enumerate(whole) if b'"turn_index": 3' in line and b'"turn"' in line)
    (tmp_path / NAME).write_bytes(b"".join(whole[:n]) + whole[n][:200])
    dataset = load_captain_dataset(tmp_path)
    assert len(dataset.turns) == 3
    assert dataset.games["outcome"].tolist() == ["killed"]
    assert any("cut off" in note for note in dataset.notes)
    assert any("the game was killed" in note for note in dataset.notes)


# --- what is refused ------------------------------------------------------------------------------


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return {None: 1.5}.get(value, "another")


_DERIVED = [c.name for c in TURN_COLUMNS if c.group == "derived" and c.name != "n_events"]


@pytest.mark.slow
@pytest.mark.parametrize("name", _DERIVED)
def test_each_derived_value_that_was_changed_is_refused_with_both_values(
    static_records, tmp_path, name
):
    place: dict[str, Any] = {}

    def change(records: Records) -> None:
        turn = next(t for t in turns_of(records) if t["derived"][name] is not None
                    ) if any(t["derived"][name] is not None for t in turns_of(records)
                    ) else turns_of(records)[0]  # fmt: skip
        place["turn"], place["was"] = turn["turn_index"], turn["derived"][name]
        turn["derived"][name] = _other(turn["derived"][name])

    path = changed(static_records, tmp_path, change)
    was = json.dumps(place["was"])
    match = rf"line \d+ \(turn\), turn {place['turn']}: {name} is .*, but the facts give "
    with pytest.raises(DatasetError, match=match) as caught:
        load_captain_dataset(path)
    assert f"the facts give {was}" in str(caught.value)


def _turn(records: Records, outcome: str) -> dict[str, Any]:
    return next(t for t in turns_of(records) if t["facts"]["outcome"] == outcome)


def _with(outcome: str, name: str, value: Any) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        facts = _turn(records, outcome)["facts"]
        facts[name] = value(facts) if callable(value) else value

    return change


def _wrong_colour(facts: dict[str, Any]) -> str:
    return "red" if facts["colour"] != "red" else "blue"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with("kept", "outcome", "returned"), "outcome is \"returned\", but the colours give"),
        (_with("kept", "colour", _wrong_colour), "colour is .* but the block's record has"),
        (_with("kept", "cue_at_pick", _wrong_colour), "cue_at_pick is .* the changes of the die"),
        (_with("kept", "cue_at_look", _wrong_colour), "cue_at_look is .* the changes of the die"),
        (_with("kept", "dropping_id", 99), "dropping_id is 99, "),
        (_with("kept", "lifted_s", lambda f: f["lifted_s"] - 0.01), "the pick was at"),
        (_with("kept", "looked_s", lambda f: f["looked_s"] + 0.01), "the look was at"),
        (_with("kept", "named_s", lambda f: f["named_s"] + 0.01), "the name was at"),
        (_with("kept", "named", "mauve"), "named is \"mauve\""),
        (_with("kept", "on_deck", lambda f: f["on_deck"][1:]), "on_deck is"),
        (_with("kept", "player_index", 1), "player_index is 1, but the tongs were at 0"),
        (_with("returned", "returned_to", None), "returned_to is"),
        (_with("kept", "began_s", 9e9), "lifted_s is .* after it"),
        (_with("kept", "claimed", "red"), "the claim|actions of kind claim"),
        (_with("kept", "outcome", 3), "outcome is 3, but should be a text"),
        (_with("kept", "falls", [{"t_s": 1.0}]), "its facts are not those of a turn"),
    ],
)  # fmt: skip
def test_fact_that_contradicts_another_is_refused(static_records, tmp_path, change, message):
    path = changed(static_records, tmp_path, change)
    with pytest.raises(DatasetError, match=message) as caught:
        load_captain_dataset(path)
    assert f"{path}, line " in str(caught.value)


def test_missing_duplicated_or_reordered_turns_are_refused(static_records, tmp_path):
    def missing(records: Records) -> None:
        records.remove(turns_of(records)[2])

    def duplicated(records: Records) -> None:
        turn = turns_of(records)[2]
        records.insert(records.index(turn), copy.deepcopy(turn))

    def reordered(records: Records) -> None:
        first, second = turns_of(records)[1:3]
        i, j = records.index(first), records.index(second)
        records[i], records[j] = records[j], records[i]

    for change in (missing, duplicated, reordered):
        with pytest.raises(DatasetError, match="missing, repeated or out of order"):
            load_captain_dataset(changed(static_records, tmp_path, change))


def test_line_taken_out_without_renumbering_is_a_damaged_log(static_records, tmp_path):
    path = write(tmp_path / NAME, copy.deepcopy(static_records))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:20] + lines[21:]))
    with pytest.raises(LogError, match="missing, repeated or out of order"):
        load_captain_dataset(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_kept", 11), ("n_fallen", 1), ("n_turns", 2), ("n_censored", 1), ("outcome", "lost"),
     ("outcome", "draw"), ("ended_s", 0.1), ("n_on_deck", 3)],
)  # fmt: skip
def test_game_record_that_does_not_follow_from_its_turns_is_refused(
    static_records, tmp_path, name, value
):
    def change(records: Records) -> None:
        games = [record for record in records if record["type"] == "game"]
        games[1][name] = value

    with pytest.raises(DatasetError, match=rf"line \d+ \(game\).*{name} is"):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_colours_that_were_not_dealt_so_are_refused(static_records, tmp_path):
    def change(records: Records) -> None:
        block = next(record for record in records if record["type"] == "block")
        block["colours"][block["colours"].index("red")] = "blue"

    with pytest.raises(DatasetError, match=r"colours is .* but the settings deal"):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_action_without_its_event_is_refused(static_records, tmp_path):
    def change(records: Records) -> None:
        turn = turns_of(records)[0]
        turn["events"] = [e for e in turn["events"] if e["device"] != "pointer"]

    with pytest.raises(DatasetError, match=r"pick at .* but no event of the turn is that"):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_key_that_means_something_else_is_refused(static_records, tmp_path):
    def change(records: Records) -> None:
        events = (e for t in turns_of(records) for e in t["events"])
        next(e for e in events if e["device"] == "colour_keys")["answer"] = "mauve"

    with pytest.raises(DatasetError, match=r"by the settings, key .* gives"):
        load_captain_dataset(changed(static_records, tmp_path, change))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("source", "human", "only a simulated apparatus gives simulated data"),
     ("seed", 3, "plan_sha256 is"), ("settings_sha256", "0", "do not belong together"),
     ("others", ["P02"], "number of players is 2"),
     ("participant_id", None, "participant_id is null")],
)  # fmt: skip
def test_header_that_contradicts_itself_is_refused(static_records, tmp_path, name, value, message):
    def change(records: Records) -> None:
        records[0][name] = value

    with pytest.raises(DatasetError, match=message):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_end_that_counts_otherwise_is_refused(static_records, tmp_path):
    def change(records: Records) -> None:
        records[-1]["n_turns"] += 1

    with pytest.raises(DatasetError, match="n_turns is"):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_fall_that_the_history_does_not_have_is_refused(tmp_path):
    settings = {"mode": "moving", "railed_corners": [], "eye_speed_per_s": 1.0}
    table = study_table(**settings, time_limit_s=90.0)
    write_study(tmp_path / "study", table)
    for seed in range(20):
        data = tmp_path / f"data-{seed}"
        (log,) = simulate_study(open_study(tmp_path / "study"), data, n_participants=1, seed=seed)
        records = read(log)
        load_captain_dataset(log)  # Falls between turns, too, are followed.
        if any(t["facts"]["falls"] for t in turns_of(records)):
            break
    else:
        pytest.fail("nothing fell in any of these games")

    def change(records: Records) -> None:
        turn = next(t for t in turns_of(records) if t["facts"]["falls"])
        turn["facts"]["falls"][0]["dropping_id"] ^= 1

    with pytest.raises(DatasetError, match=r"falls is .*, but its history has|was not on deck"):
        load_captain_dataset(changed(records, tmp_path, change))


def test_copied_log_and_two_sessions_of_one_name_are_refused(static_data, tmp_path):
    shutil.copy(static_data / "logs" / NAME, tmp_path / NAME)
    shutil.copy(static_data / "logs" / NAME, tmp_path / "copy.jsonl")
    with pytest.raises(DatasetError, match="one is a copy; take it away"):
        load_captain_dataset(tmp_path)
    records = read(tmp_path / NAME)
    records[0]["software"]["python"] = "3"
    write(tmp_path / "copy.jsonl", records)
    with pytest.raises(DatasetError, match="two sessions were given the same participant id"):
        load_captain_dataset(tmp_path)


def test_logs_of_cards_among_them_are_refused(static_data, tmp_path):
    shutil.copy(static_data / "logs" / NAME, tmp_path / NAME)
    other = next((ROOT / "data" / "example" / "logs").glob("*.jsonl"))
    shutil.copy(other, tmp_path / "sub-cards_ses-01_run-01.jsonl")
    with pytest.raises(DatasetError, match=r"missing; this is no log|analyse them apart"):
        load_captain_dataset(tmp_path)


def test_folder_without_a_log_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="holds no logs"):
        load_captain_dataset(tmp_path)
