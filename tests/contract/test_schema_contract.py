"""Every column is documented, written, and as it is documented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scripted_apparatus import ScriptedApparatus, tap
from small_study import GRAB_KEYS, SHOUT_KEYS, make_screens, make_settings, study_table

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.apparatus import DeviceEvent
from ghostblitz_task.apparatus_settings import ApparatusSettings
from ghostblitz_task.config import StudySettings
from ghostblitz_task.design import plan_session
from ghostblitz_task.games import GameSettings, make_game
from ghostblitz_task.rounds import make_company
from ghostblitz_task.schema import COLUMNS, ERROR_KINDS, FACTOR_PREFIX, Column, column
from ghostblitz_task.scoring import Score
from ghostblitz_task.screens import Screen
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.settings_files import validate_settings
from ghostblitz_task.studies import Study, simulate_study
from ghostblitz_task.trial_log import TrialLog, read_log

IDS = [c.name for c in COLUMNS]
KINDS = {
    "string": pd.api.types.is_string_dtype,
    "Int64": pd.api.types.is_integer_dtype,
    "Float64": pd.api.types.is_float_dtype,
    "boolean": pd.api.types.is_bool_dtype,
}


GRAB, SHOUT = "asdfghjkl", "qwertyuiozxcvbnm123456789"
SECOND_GRAB, SECOND_SHOUT = "hjklz", "yuiox"
RIVAL = {"median_rt_s": {"direct": 1.0, "exclusion": 1.4}, "spread": 0.1, "error_rate": 0.3}
#: A game with a hat, and one with additional rules.
FURTHER_GAMES = {"spooky-doo": (), "five-to-twelve": ("mirror", "mirror-owl", "owl")}


def settings_of(name: str, rules: tuple[str, ...]) -> StudySettings:
    """A study with pure blocks of each rule that the game has, and mixed ones."""
    game = make_game(GameSettings(name, rules=frozenset(rules)))
    table = study_table()
    table["game"] = {"name": name, "rules": list(rules)}
    table["timing"]["deadline_s"] = 8.0
    types = ["direct", "exclusion", "mixed"]
    if rules:
        types += ["mirror", "mirror-owl", "time"]
    table["blocks"] = [{"label": t, "type": t, "n_trials": 60} for t in types]
    table["sequence"] = {"max_run_mode": None, "max_run_rule": None}
    table["responses"] = {
        "grab_keys": dict(zip(game.answers("grab"), GRAB, strict=False)),
        "shout_keys": dict(zip(game.answers("shout"), SHOUT, strict=False)),
    }
    return validate_settings(table, StudySettings, where="study.toml")


def company_settings() -> dict[str, StudySettings]:
    """Grab or Shout played for cards: by two at one machine, and against a simulated rival."""
    items = ("ghost", "chair", "bottle", "book", "mouse")
    second = {
        "grab_keys": dict(zip(items, SECOND_GRAB, strict=True)),
        "shout_keys": dict(zip(items, SECOND_SHOUT, strict=True)),
    }
    played = {
        "together": {"company": {}, "responses.more_players": [second]},
        "rival": {"company": {"rival": RIVAL}},
        "alone": {"company": {}},
    }
    return {
        name: make_settings("grab-or-shout", {**overrides, "study.id": name})
        for name, overrides in played.items()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated participants with every kind of error, and one who never answered."""
    out = tmp_path_factory.mktemp("schema")
    settings = make_settings("grab-or-shout", {"deck.kind": "balanced", "blocks": [
        {"label": "practice", "phase": "practice", "n_trials": 10},
        {"label": "direct", "type": "direct", "n_trials": 30},
        {"label": "exclusion", "type": "exclusion", "n_trials": 30},
        {"label": "mixed", "n_trials": 60},
    ]})  # fmt: skip
    study = Study(out, settings, settings.make_game(), make_screens(settings))
    for model in ("guessing", "ex-gaussian"):
        simulate_study(study, out / model, n_participants=6, seed=1, model=model)
        for name, rules in FURTHER_GAMES.items():
            further = settings_of(name, rules)
            study_of_game = Study(out, further, further.make_game(), make_screens(further))
            where = out / f"{model}-{name}"
            simulate_study(study_of_game, where, n_participants=4, seed=1, model=model)
        for name, played in company_settings().items():
            in_company = Study(out, played, played.make_game(), make_screens(played))
            where = out / f"{model}-{name}"
            simulate_study(in_company, where, n_participants=6, seed=1, model=model)
    log_scripted(out / "silent", settings, ScriptedApparatus())
    log_scripted(out / "voided", company_settings()["alone"], ScriptedApparatus(right_and_mistaken))
    return out


def right_and_mistaken(screen: Screen, flip_s: float, _n: int) -> list[DeviceEvent]:
    """Grab what is to be grabbed, or shout it, and then do the other, too."""
    if screen.stimulus is None:
        return []
    solution = screen.stimulus.solution
    first, second = (GRAB_KEYS, SHOUT_KEYS) if solution.mode == "grab" else (SHOUT_KEYS, GRAB_KEYS)
    return [
        *tap(first[solution.answer], flip_s + 0.3),
        *tap(second[solution.answer], flip_s + 0.5),
    ]


def log_scripted(folder: Path, settings: StudySettings, apparatus: ScriptedApparatus) -> None:
    (folder / "logs").mkdir(parents=True)
    with TrialLog(folder / "logs" / "sub-p1_ses-01_run-01.jsonl") as log:
        run_session(
            settings,
            plan=plan_session(settings, settings.make_game(), seed=1),
            screens=make_screens(settings),
            apparatus=apparatus,
            apparatus_settings=ApparatusSettings(),
            log=log,
            identity=SessionIdentity("p1", 1, 1, 1, "human"),
            company=make_company(settings, ("p1",)),
        )


@pytest.fixture(scope="module")
def trials(folder: Path) -> pd.DataFrame:
    parts = [load_dataset(path).trials for path in sorted(folder.iterdir()) if path.is_dir()]
    assert len(parts) == 4 + 2 * len(FURTHER_GAMES) + 2 * len(company_settings())
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_says_what_it_is(stated: Column) -> None:
    assert len(stated.meaning.split()) >= 3
    assert stated.meaning[0].isupper()
    assert stated.group in {"session", "design", "fact", "derived"}
    assert stated.null_when is None or stated.null_when.strip()
    assert len(set(stated.levels)) == len(stated.levels)
    assert not stated.levels or stated.dtype == "string"
    assert column(stated.name) is stated


@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_with_a_unit_carries_it_in_its_name(stated: Column) -> None:
    assert (stated.unit == "s") == stated.name.endswith("_s")
    assert stated.unit is None or stated.dtype == "Float64"


def test_names_are_different_and_none_could_be_a_factor() -> None:
    assert len(set(IDS)) == len(IDS)
    assert not any(name.startswith(FACTOR_PREFIX) for name in IDS)


def test_every_error_kind_is_explained_in_the_meaning() -> None:
    meaning = column("error_kind").meaning
    assert all(kind in meaning for kind in ERROR_KINDS)


@pytest.mark.slow
def test_table_has_exactly_the_columns_of_the_schema(trials: pd.DataFrame) -> None:
    assert list(trials.columns) == IDS


@pytest.mark.slow
@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_is_written_with_its_type_and_levels(trials: pd.DataFrame, stated: Column) -> None:
    found = trials[stated.name]
    assert KINDS[stated.dtype](found.dtype), found.dtype
    assert found.notna().any()
    if stated.levels:
        assert set(found.dropna()) <= set(stated.levels)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["rule", "block_type", "mode", "answer_kind", "error_kind", "round_outcome"]
)
def test_every_level_occurs_in_some_game(trials: pd.DataFrame, name: str) -> None:
    assert set(trials[name].dropna()) == set(column(name).levels)


@pytest.mark.slow
@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_is_null_only_where_it_says_so(trials: pd.DataFrame, stated: Column) -> None:
    null = trials[stated.name].isna()
    when = stated.null_when
    if when is None:
        assert not null.any()
        return
    nothing = trials["error_kind"] == "late"
    rival = trials["study_id"] == "rival"
    for_cards = trials["study_id"].isin(company_settings()) & (trials["phase"] == "test")
    expected: dict[str, Any] = {
        "source is not simulated": trials["source"] != "simulated",
        "the rule is not direct": trials["rule"] != "direct",
        "nothing was answered in time": nothing,
        "nothing was answered in time, or imported data": nothing,
        "the response was correct": trials["correct"],
        "imported or simulated data": trials["source"] == "simulated",
        "the game has no hat": trials["game"] != "spooky-doo",
        "the game has no hat, or imported data": trials["game"] != "spooky-doo",
        "the rule is time, which singles out none": trials["rule"] == "time",
        "nobody else plays with keys": trials["study_id"] != "together",
        "there is no simulated rival": ~rival,
        "the card is not played for": ~for_cards,
        "the card is not played for, or there is no simulated rival": ~(for_cards & rival),
        # Models answer every card.
        "the card is not played for, or no rival answered in time": ~(for_cards & rival),
    }
    if when == "imported data" or when.startswith("imported data without"):
        assert not null.any()
    else:
        assert null.equals(expected[when].fillna(False).astype(bool))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["grab-or-shout", *FURTHER_GAMES])
def test_kinds_of_error_of_a_game_are_those_that_its_cards_allow(
    trials: pd.DataFrame, game: str
) -> None:
    hats = {
        "called_for_hat_grab", "called_for_grab", "hat_called", "wrong_item_called", "hat_grabbed",
        "under_hat", "grabbed_for_call",
    }  # fmt: skip
    rules = {"rule_missed", "wrong_kind", "wrong_time", "own_colour", "wrong_colour"}
    impossible = {
        "grab-or-shout": hats | rules | {"shape_and_colour_capture"},
        "spooky-doo": rules | {"shape_and_colour_capture", "wrong_mode"},
        "five-to-twelve": hats,
    }
    found = set(trials.loc[trials["game"] == game, "error_kind"].dropna())
    assert found == set(ERROR_KINDS) - impossible[game]


@pytest.mark.slow
def test_score_and_trial_records_use_the_schemas_names(folder: Path) -> None:
    assert set(Score.__dataclass_fields__) <= set(IDS)
    (path, *_) = sorted((folder / "guessing" / "logs").glob("*.jsonl"))
    record = next(read_log(path).of_type("trial"))
    logged = {c.name for c in COLUMNS if c.group in {"design", "fact"}}
    elsewhere = {"item_colours", "rules"}  # in the header
    assert logged - set(record) == elsewhere
