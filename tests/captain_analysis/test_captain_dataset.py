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
from ghostblitz_analysis.captain.histories import HistoryFollower
from ghostblitz_task.captain.columns import GAME_COLUMNS, TURN_COLUMNS
from ghostblitz_task.captain.turns import Fall, Spot, Turn
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        (_with("kept", "falls", [{"t_s": 1.0}]), r"falls\[0\]: dropping_id is missing"),
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


@pytest.mark.slow
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


@pytest.mark.slow
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


# --- kinds, history, several studies --------------------------------------------------------------


def _at(path: str, value: Any) -> Callable[[Records], None]:
    """Change one value in the first turn that has it; the path goes by dots."""

    def change(records: Records) -> None:
        *way, last = path.split(".")
        for turn in turns_of(records):
            place: Any = turn
            try:
                for part in way:
                    place = place[int(part) if isinstance(place, list) else part]
                key: Any = int(last) if isinstance(place, list) else last
                place[key]
            except (IndexError, KeyError, TypeError):
                continue
            place[key] = value
            return
        pytest.fail(f"no turn has {path}")

    return change


_SPOTS = [f"facts.{name}.{part}" for name in ("on_deck.0", "returned_to")
          for part in ("dropping_id", "x", "y", "path")]  # fmt: skip
_OF_PARTS = [*_SPOTS, "facts.cue_changes.0.t_s", "facts.cue_changes.0.colour",
             "facts.falls.0.t_s", "facts.falls.0.dropping_id", "facts.on_deck.0",
             "facts.falls.0", "facts.cue_changes.0", "history.steps", "history.bodies",
             "history.events", "history.unit", "history.bodies.0", "history.bodies.0.0",
             "history.events.0", "history.events.0.0", "history.events.0.1",
             "events", "events.0", "events.0.t_s"]  # fmt: skip


@pytest.fixture(scope="session")
def falling_records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """A fast Eye without railings: droppings fall, and the die changes within turns."""
    folder = tmp_path_factory.mktemp("falling")
    settings = {"mode": "moving", "railed_corners": [], "eye_speed_per_s": 1.0}
    write_study(folder / "study", study_table(**settings, time_limit_s=90.0))
    for seed in range(20):
        data = folder / f"data-{seed}"
        (log,) = simulate_study(open_study(folder / "study"), data, n_participants=1, seed=seed)
        records = read(log)
        turns = turns_of(records)
        if all(any(t["facts"][name] for t in turns) for name in ("falls", "cue_changes")):
            return records
    pytest.fail("nothing fell, or no die changed, in any of these games")


@pytest.mark.slow
@pytest.mark.parametrize("value", [None, "a text"])
@pytest.mark.parametrize("path", _OF_PARTS)
def test_value_of_a_wrong_kind_is_refused_in_one_line(falling_records, tmp_path, path, value):
    with pytest.raises(DatasetError) as caught:
        load_captain_dataset(changed(falling_records, tmp_path, _at(path, value)))
    said = str(caught.value)
    assert "\n" not in said
    assert f"{tmp_path / NAME}, line " in said


@pytest.mark.slow
def test_onset_of_a_change_may_be_null_but_no_text(falling_records, tmp_path):
    with pytest.raises(DatasetError, match=r"turn \d+, change_onsets_s\[0\].* a finite number"):
        load_captain_dataset(changed(falling_records, tmp_path, _at("change_onsets_s.0", "a text")))


def _of_history(kind: str, change: Callable[[list[Any]], None]) -> Callable[[Records], None]:
    def changing(records: Records) -> None:
        key = {"fell": "falls", "die_turned": "cue_changes"}.get(kind, "on_deck")
        turn = next(t for t in turns_of(records) if t["facts"][key])
        began = [e[1] for e in turn["history"]["events"]].index("turn_began")
        events = turn["history"]["events"][began:]
        event = next(e for e in events if e[1] == kind)
        change(event)

    return changing


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_of_history("fell", lambda e: e.__setitem__(0, e[0] + 3)), "falls is|out of order"),
        (_of_history("fell", lambda e: e.__setitem__(2, e[2] ^ 1)), "falls is"),
        (_of_history("die_turned", lambda e: e.__setitem__(2, "mauve")), "no event of a history"),
        (_of_history("die_turned", lambda e: e.__setitem__(1, "die_bumped")), "cue_changes is"),
        (_of_history("lifted", lambda e: e.__setitem__(2, e[2] ^ 1)), "dropping_id is .* lifted"),
        (_of_history("turn_began", lambda e: e.__setitem__(2, 99)), "does not have that turn"),
        (_at("facts.on_deck.0.x", 0.9), "on_deck has dropping .* but by its history"),
        (_at("history.unit", 7), "history in 1/7"),
        (_at("history.steps", {"first": 0, "every": 1, "n": 10**12}), "cannot be decoded"),
    ],
)  # fmt: skip
def test_history_that_tells_another_story_is_refused(falling_records, tmp_path, change, message):
    with pytest.raises(DatasetError, match=message) as caught:
        load_captain_dataset(changed(falling_records, tmp_path, change))
    assert f"{tmp_path / NAME}, line " in str(caught.value)


def test_place_that_was_moved_without_the_eye_is_refused(static_records, tmp_path):
    def change(records: Records) -> None:
        turns_of(records)[0]["facts"]["on_deck"][0]["y"] += 0.001

    with pytest.raises(DatasetError, match="on_deck has dropping 0 at"):
        load_captain_dataset(changed(static_records, tmp_path, change))


def test_fall_after_the_end_of_a_turn_in_its_last_frame_belongs_to_none():
    """What a frame brought after the turn's end stands in the ended turn's chunk."""
    follower = HistoryFollower(3, "moving", 0.3)
    first = Turn(0, 0, 0.0, "red", on_deck=_lying(0, 1, 2), dropping_id=0, lifted_s=1.0,
                 cue_at_pick="red", looked_s=2.0, resolved_s=3.0, outcome="kept")  # fmt: skip
    events = [[0, "turn_began", 0], [240, "lifted", 0], [480, "looked", 0], [720, "kept", 0],
              [722, "fell", 2], [722, "die_turned", "blue"]]  # fmt: skip
    told = follower.follow_turn(first, _chunk(events), "log, line 1")
    assert told.fell_between == told.fell_before_pick == ()
    second = Turn(1, 0, 3.5, "blue", falls=(Fall(4.0, 1),), outcome="censored")
    events = [[840, "turn_began", 1], [960, "fell", 1]]
    told = follower.follow_turn(second, _chunk(events), "log, line 2")
    assert told.fell_between == (2,)
    assert told.fell_before_pick == (1,)
    assert follower.follow_end(_chunk([]), "log, line 3") == ()


def _lying(*ids: int) -> tuple[Spot, ...]:
    return tuple(Spot(i, 0.1 * i, 0.0, 0.0) for i in ids)


def _chunk(events: list[list[Any]]) -> dict[str, Any]:
    return {"unit": 10_000, "steps": [], "bodies": {}, "events": events}


@pytest.mark.slow
def test_genuine_logs_of_games_in_which_much_falls_are_loaded(tmp_path):
    settings = {"mode": "moving", "railed_corners": [], "eye_speed_per_s": 1.0}
    write_study(tmp_path / "study", study_table(**settings, passing_s=0.0, time_limit_s=90.0))
    simulate_study(open_study(tmp_path / "study"), tmp_path / "data", n_participants=12, seed=1,
                   model="guessing")  # fmt: skip
    dataset = load_captain_dataset(tmp_path / "data")
    assert dataset.games["n_fallen"].sum() > 12


def test_logs_of_two_studies_are_refused(static_data, tmp_path):
    shutil.copy(static_data / "logs" / NAME, tmp_path / NAME)
    write_study(tmp_path / "study", study_table())
    (log,) = simulate_study(
        open_study(tmp_path / "study"), tmp_path / "other", n_participants=1, seed=1
    )
    shutil.copy(log, tmp_path / "z.jsonl")
    with pytest.raises(DatasetError, match=r"z.jsonl is of study .* analyse them apart"):
        load_captain_dataset(tmp_path)
