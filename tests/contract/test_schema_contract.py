"""Every column is documented, written, and as it is documented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scripted_apparatus import ScriptedApparatus
from small_study import make_screens, make_settings

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_task.config import ApparatusSettings
from ghostblitz_task.design import plan_session
from ghostblitz_task.schema import COLUMNS, ERROR_KINDS, FACTOR_PREFIX, Column, column
from ghostblitz_task.scoring import Score
from ghostblitz_task.session import run_session
from ghostblitz_task.session_header import SessionIdentity
from ghostblitz_task.studies import Study, simulate_study
from ghostblitz_task.trial_log import TrialLog, read_log

IDS = [c.name for c in COLUMNS]
KINDS = {
    "string": pd.api.types.is_string_dtype,
    "Int64": pd.api.types.is_integer_dtype,
    "Float64": pd.api.types.is_float_dtype,
    "boolean": pd.api.types.is_bool_dtype,
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
        simulate_study(study, out / model, n_participants=3, seed=1, model=model)
    (out / "silent" / "logs").mkdir(parents=True)
    with TrialLog(out / "silent" / "logs" / "sub-p1_ses-01_run-01.jsonl") as log:
        run_session(
            settings,
            plan=plan_session(settings, settings.make_game(), seed=1),
            screens=make_screens(settings),
            apparatus=ScriptedApparatus(),
            apparatus_settings=ApparatusSettings(),
            log=log,
            identity=SessionIdentity("p1", 1, 1, 1, "human"),
        )
    return out


@pytest.fixture(scope="module")
def trials(folder: Path) -> pd.DataFrame:
    parts = [load_dataset(folder / n).trials for n in ("guessing", "ex-gaussian", "silent")]
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


def test_table_has_exactly_the_columns_of_the_schema(trials: pd.DataFrame) -> None:
    assert list(trials.columns) == IDS


@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_is_written_with_its_type_and_levels(trials: pd.DataFrame, stated: Column) -> None:
    found = trials[stated.name]
    assert KINDS[stated.dtype](found.dtype), found.dtype
    assert found.notna().any()
    if stated.levels:
        assert set(found.dropna()) <= set(stated.levels)


@pytest.mark.parametrize("stated", COLUMNS, ids=IDS)
def test_column_is_null_only_where_it_says_so(trials: pd.DataFrame, stated: Column) -> None:
    null = trials[stated.name].isna()
    when = stated.null_when
    if when is None:
        assert not null.any()
        return
    nothing = trials["error_kind"] == "late"
    expected: dict[str, Any] = {
        "source is not simulated": trials["source"] != "simulated",
        "the rule is not direct": trials["rule"] != "direct",
        "nothing was answered in time": nothing,
        "nothing was answered in time, or imported data": nothing,
        "the response was correct": trials["correct"],
        "imported or simulated data": trials["source"] == "simulated",
    }
    if when == "imported data" or when.startswith("imported data without"):
        assert not null.any()
    else:
        assert null.equals(expected[when].fillna(False).astype(bool))


def test_every_kind_of_error_that_two_pictures_can_make_occurs(trials: pd.DataFrame) -> None:
    assert set(trials["error_kind"].dropna()) == set(ERROR_KINDS) - {"shape_and_colour_capture"}


def test_score_and_trial_records_use_the_schemas_names(folder: Path) -> None:
    assert set(Score.__dataclass_fields__) <= set(IDS)
    (path, *_) = sorted((folder / "guessing" / "logs").glob("*.jsonl"))
    record = next(read_log(path).of_type("trial"))
    logged = {c.name for c in COLUMNS if c.group in {"design", "fact"}}
    elsewhere = {"item_colours"}  # in the header
    assert logged - set(record) == elsewhere
