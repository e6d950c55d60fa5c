"""Games with additional rules: their columns, and what contradicts them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.solving import check_answer
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.games import GameSettings, Response, make_game

Edit = Callable[[Path, int, Callable[[dict[str, Any]], object]], None]
RULES = ("mirror", "mirror-owl", "owl")


@pytest.fixture
def log(simulate_game) -> Path:
    (path,) = simulate_game("five-to-twelve", rules=RULES, n_trials=60)
    return path


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def first(path: Path, **values: Any) -> dict[str, Any]:
    return next(
        record
        for record in records_of(path)
        if record["type"] == "trial" and all(record[k] == v for k, v in values.items())
    )


@pytest.mark.slow
def test_columns_say_rules_and_answers_of_every_kind(log):
    trials = load_dataset(log).trials
    assert trials["rules"].unique().tolist() == ["mirror mirror-owl owl"]
    assert set(trials["rule"]) == {"direct", "exclusion", "mirror", "mirror-owl", "time"}
    kinds = trials.groupby("rule")["answer_kind"].unique()
    assert {rule: list(found) for rule, found in kinds.items()} == {
        "direct": ["item"], "exclusion": ["item"], "mirror": ["item"], "mirror-owl": ["colour"],
        "time": ["time"],
    }  # fmt: skip
    assert trials["target"].isna().tolist() == (trials["rule"] == "time").tolist()
    assert load_dataset(log).runs[0].plan_check == "same"


@pytest.mark.slow
def test_without_additional_rules_the_column_is_empty(simulate_game):
    (path,) = simulate_game("five-to-twelve")
    assert load_dataset(path).trials["rules"].eq("").all()


@pytest.mark.slow
def test_rules_in_the_header_that_the_settings_deny_are_refused(log, edit_log: Edit):
    edit_log(log, 0, lambda record: record["game"].update(rules=["mirror"]))
    with pytest.raises(DatasetError) as caught:
        load_dataset(log)
    # Some card is solved otherwise before header and settings are compared.
    assert "line " in str(caught.value)
    assert "the facts give" in str(caught.value) or "its settings give" in str(caught.value)


@pytest.mark.slow
def test_rules_changed_in_header_and_settings_are_refused_at_the_trials(log, edit_log: Edit):
    def change(record: dict[str, Any]) -> None:
        record["game"]["rules"] = record["settings"]["game"]["rules"] = ["mirror", "owl"]
        text = json.dumps(record["settings"], sort_keys=True)
        record["settings_sha256"] = hashlib.sha256(text.encode()).hexdigest()

    edit_log(log, 0, change)
    trial = first(log, rule="mirror-owl")
    with pytest.raises(DatasetError, match='rule is stored as "mirror-owl", but the facts give "m'):
        load_dataset(log)
    assert trial["answer_kind"] == "colour"


@pytest.mark.slow
def test_times_in_the_header_that_the_settings_deny_are_refused(log, edit_log: Edit):
    edit_log(log, 0, lambda record: record["game"]["times"].pop())
    with pytest.raises(DatasetError, match=r"game\.times is .*, but its settings give"):
        load_dataset(log)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "other"), [("time", "03:00"), ("colour", "white")])
def test_key_of_a_time_or_colour_means_what_the_settings_say(log, edit_log: Edit, kind, other):
    def change(record: dict[str, Any]) -> None:
        event = next(e for e in record["events"] if e["kind"] == "release" and e["answer"])
        event["answer"] = other if event["answer"] != other else "05:10"

    trial = next(
        r for r in records_of(log)
        if r["type"] == "trial" and r["answer_kind"] == kind and r["correct"]
        and any(e["kind"] == "release" for e in r["events"])
    )  # fmt: skip
    edit_log(log, trial["n"], change)
    with pytest.raises(DatasetError, match=r"answer is .*, but by the settings, key .* gives"):
        load_dataset(log)


@pytest.mark.slow
def test_answer_of_a_time_card_that_the_card_denies_is_refused(log, edit_log: Edit):
    trial = first(log, rule="time")
    other = "03:00" if trial["answer"] != "03:00" else "05:10"
    edit_log(log, trial["n"], lambda record: record.update(answer=other))
    with pytest.raises(DatasetError, match=f'answer is stored as "{other}", but the facts give'):
        load_dataset(log)


@pytest.mark.parametrize(
    ("mode", "answer", "is_answer"),
    [("grab", "owl", True), ("grab", "blue", False), ("shout", "blue", True),
     ("shout", "owl", True),
     ("shout", "five to twelve", True), ("shout", "11:56", False), ("shout", "dragon", False)],
)  # fmt: skip
def test_what_can_be_answered(mode, answer, is_answer):
    game = make_game(GameSettings("five-to-twelve"))
    stimulus = game.stimulus(
        game.parse("ghost:red clock:green@11:55 bat:blue"), game.initial_state()
    )
    if is_answer:
        check_answer(Response(mode, answer), game, stimulus)
        return
    with pytest.raises(DatasetError, match=f"response '{answer}' is no "):
        check_answer(Response(mode, answer), game, stimulus)


# --- imported tables ---------------------------------------------------------------------------

MAPPING = """
[dataset]
name = "told"
[columns]
participant = "participant_id"
card = "card"
response = "response"
response_mode = "response_mode"
rt = "rt_s"
rt_unit = "s"
rule = "rule"
target = "target"
correct = "correct"
{columns}
[responses]
blank = "late"
[game]
name = "{game}"
{settings}
"""
DERIVED = ["rule", "mode", "target", "answer", "answer_kind", "correct", "error_kind"]


def rows_of(trials: pd.DataFrame) -> list[dict[str, str]]:
    """Rows as other software would write them; responses before the card cannot be told."""
    told = trials[
        (trials["rt_s"] > 0).fillna(True) & (trials["error_kind"] != "both_modes").fillna(True)
    ]
    names = ["participant_id", "card", "hat_over", "response", "response_mode", "rt_s", "rule",
             "target", "correct"]  # fmt: skip
    return told[names].astype(object).where(told[names].notna(), "").astype(str).to_dict("records")


def kept(trials: pd.DataFrame) -> pd.DataFrame:
    return trials[
        (trials["rt_s"] > 0).fillna(True) & (trials["error_kind"] != "both_modes").fillna(True)
    ].reset_index(drop=True)


def test_table_of_a_game_with_a_hat_is_solved_with_the_hat(simulate_game, bring):
    (path,) = simulate_game("spooky-doo", n_trials=60)
    trials = load_dataset(path).trials
    mapping = MAPPING.format(game="spooky-doo", columns='hat_over = "hat_over"', settings="")
    found = bring(rows_of(trials), mapping)
    names = [*DERIVED, "hat_over"]
    pd.testing.assert_frame_equal(found[names], kept(trials)[names])
    assert found["trials_since_hat_move"].isna().all()


@pytest.mark.slow
def test_table_of_a_game_with_additional_rules_is_solved_by_them(simulate_game, bring):
    (path,) = simulate_game("five-to-twelve", rules=RULES, n_trials=60)
    trials = load_dataset(path).trials
    settings = 'rules = ["mirror", "owl", "mirror-owl"]'
    found = bring(
        rows_of(trials), MAPPING.format(game="five-to-twelve", columns="", settings=settings)
    )
    names = [*DERIVED, "rules"]
    pd.testing.assert_frame_equal(found[names], kept(trials)[names])
    assert found["hat_over"].isna().all()


HAT_ROW = {
    "participant_id": "a", "card": "ghost:white mouse:red", "hat_over": "bottle",
    "response": "ghost", "response_mode": "grab", "rt_s": "0.8", "rule": "direct",
    "target": "ghost", "correct": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("game", "columns", "settings", "row", "message"),
    [
        ("spooky-doo", "", "", {}, r"columns\.hat_over is missing; spooky-doo is solved by the it"),
        ("classic", 'hat_over = "hat_over"', "", {}, "names a column, but classic has no hat"),
        ("spooky-doo", 'hat_over = "hat_over"', "", {"hat_over": ""}, "row 2: hat_over is blank"),
        ("spooky-doo", 'hat_over = "hat_over"', "", {"hat_over": "hat"},
         "row 2: hat_over is 'hat', but in spooky-doo it hides one of ghost, bottle"),
        ("five-to-twelve", "", "", {}, r"game\.rules is missing; five-to-twelve is solved by the"),
        ("five-to-twelve", "", 'rules = ["mirrors"]', {}, "mirrors is no additional rule"),
        ("classic", "", 'rules = ["mirror"]', {}, "mirror is no additional rule of classic"),
        ("five-to-twelve", "", "rules = []", {"card": "ghost:red clock:green bat:blue"},
         "a clock needs its time"),
    ],
)  # fmt: skip
def test_what_an_import_of_such_games_lacks_is_said(bring, game, columns, settings, row, message):
    mapping = MAPPING.format(game=game, columns=columns, settings=settings)
    with pytest.raises(DatasetError, match=message):
        bring([HAT_ROW | row], mapping)


def test_what_the_hat_hides_is_renamed_as_items_are(bring):
    mapping = MAPPING.format(game="spooky-doo", columns='hat_over = "hat_over"', settings="")
    mapping += '[levels.item]\nFlasche = "bottle"\n'
    assert bring([HAT_ROW | {"hat_over": "Flasche"}], mapping)["hat_over"].tolist() == ["bottle"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hat_over", "mouse", None),
        ("hat_over", "ghost", "answer is stored as ghost, but .* give hat"),
        ("hat_over", "", "hat_over is missing, but spooky-doo"),
        ("rules", "mirror", "rules is 'mirror', but dataset.json says 'none'"),
    ],
)
def test_imported_table_that_was_changed_is_solved_again(bring, name, value, message):
    mapping = MAPPING.format(game="spooky-doo", columns='hat_over = "hat_over"', settings="")
    bring([HAT_ROW], mapping)
    path = bring.dataset.path / "trials.csv"
    table = pd.read_csv(path, dtype="string")
    table.assign(**{name: value}).to_csv(path, index=False)
    if message is None:
        assert load_dataset(bring.dataset.path).trials[name].tolist() == [value]
        return
    with pytest.raises(DatasetError, match=message):
        load_dataset(bring.dataset.path)
