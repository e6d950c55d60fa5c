"""The tables of all regression models together."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.regression import regression_results
from ghostblitz_analysis.settings import AnalysisSettings, ModelSettings

BOTH = AnalysisSettings(models=ModelSettings(errors=("mixed_logit", "gee")))


def results_of(trials, settings=BOTH):
    flagged = flag_exclusions(trials, settings)
    return regression_results(flagged, factors=cell_factors(flagged, settings), settings=settings)


def with_targets(trials, rng):
    drawn = rng.choice(["ghost", "chair", "bottle"], len(trials))
    return trials.assign(target=drawn).astype({"target": "string"})


@pytest.fixture
def study(draw_trials):
    rng = np.random.default_rng(1)
    trials = draw_trials(
        rng,
        n_participants=8,
        n_per_cell=12,
        effect_sd=0.2,
        p_error=0.15,
        block_kinds=("pure", "mixed"),
    )
    return with_targets(trials, rng)


@pytest.mark.slow
def test_every_model_has_its_rows_in_every_table(study):
    results = results_of(study)
    models = results.models
    assert models["model"].iloc[0] == "log_rt_intercepts"
    assert models["model"].is_unique
    assert models["outcome"].drop_duplicates().tolist() == ["log_rt", "inverse_rt", "error"]
    selected = models[models["selected"]].groupby("outcome").size()
    assert selected.to_dict() == {"log_rt": 1, "inverse_rt": 1, "error": 1}
    fitted = models.loc[models["fitted"], "model"]
    for table in (results.fixed_effects, results.random_effects):
        assert table["model"].drop_duplicates().tolist() == fitted.tolist()
    assert (results.fixed_effects.groupby("model").size() == 4).all()


@pytest.mark.slow
def test_tables_are_named_and_have_nullable_types(study):
    tables = results_of(study).tables
    assert list(tables) == ["model_fits", "model_fixed_effects", "model_random_effects"]
    for table in tables.values():
        assert {str(dtype) for dtype in table.dtypes} <= {
            "string", "Int64", "Float64", "boolean"
        }  # fmt: skip
    numbers = tables["model_fixed_effects"]["estimate"]
    assert not np.isinf(numbers.to_numpy(dtype=float)).any()


@pytest.mark.slow
def test_log_rt_effects_are_given_as_ratios_with_intervals(study):
    table = results_of(study).fixed_effects
    log_rt = table[table["outcome"] == "log_rt"]
    for end in ("estimate", "low", "high"):
        ratio = "ratio" if end == "estimate" else f"ratio_{end}"
        assert np.exp(log_rt[end].astype(float)).to_numpy() == pytest.approx(
            log_rt[ratio].to_numpy(dtype=float)
        )
    kinds = {name: set(of.dropna()) for name, of in table.groupby("outcome")["ratio_kind"]}
    assert kinds["log_rt"] == {"geometric mean RT (s)", "RT ratio"}
    assert kinds["error"] == {"odds", "odds ratio"}
    assert kinds["inverse_rt"] == set()
    assert table.loc[table["outcome"] == "inverse_rt", "ratio"].isna().all()


@pytest.mark.slow
def test_grab_and_shout_get_models_of_their_own(draw_trials):
    rng = np.random.default_rng(2)
    trials = draw_trials(
        rng, n_participants=5, n_per_cell=15, modes=("grab", "shout"), p_error=0.15
    )
    results = results_of(with_targets(trials, rng), AnalysisSettings())
    models = results.models
    assert set(models["mode"]) == {"grab", "shout"}
    assert {"log_rt_intercepts_grab", "log_rt_intercepts_shout"} <= set(models["model"])
    assert not models["formula"].str.contains("mode").any()
    n_errors = models[models["outcome"] == "error"].set_index("mode")["n_rows"]
    assert n_errors.to_dict() == {"grab": 150, "shout": 150}


@pytest.mark.slow
def test_without_targets_in_the_settings_participants_are_the_one_factor(study):
    settings = AnalysisSettings(models=ModelSettings(rt=("log_rt",), errors=(), items=False))
    models = results_of(study, settings).models
    assert models["n_items"].isna().all()
    assert not models["formula"].str.contains("target").any()
    assert models["engine"].str.match("(statsmodels|SciPy) [0-9]").all()


@pytest.mark.parametrize("kinds", [("mixed_logit", "gee"), ("gee", "mixed_logit")])
def test_one_error_model_of_the_kind_named_first_is_to_be_read(study, kinds):
    settings = AnalysisSettings(models=ModelSettings(rt=(), errors=kinds))
    # Every other participant mistakes half of the exclusion trials.
    worse = (study["rule"] == "exclusion") & (study["participant_id"].astype(int) % 2 == 0)
    differing = study.assign(
        correct=study["correct"].mask(worse & (study["trial_index"] % 2 == 0), False)
    )
    models = results_of(differing, settings).models
    logit = ["error_mixed_logit", "error_mixed_logit_slopes"]
    of_kind = {"gee": ["error_gee"], "mixed_logit": logit}
    assert models["model"].tolist() == [name for kind in kinds for name in of_kind[kind]]
    assert models.loc[models["selected"], "model"].tolist() == of_kind[kinds[0]][-1:]


@pytest.mark.slow
def test_no_models_in_the_settings_give_empty_tables(study):
    settings = AnalysisSettings(models=ModelSettings(rt=(), errors=()))
    full, empty = results_of(study).tables, results_of(study, settings).tables
    for stem, table in empty.items():
        assert table.empty
        assert list(table.columns) == list(full[stem].columns)


@pytest.mark.slow
def test_participants_left_out_are_named_as_json(study):
    late = study["participant_id"] == "003"
    models = results_of(study.assign(rt_s=study["rt_s"].mask(late, 30.0))).models
    row = models.set_index("model").loc["log_rt_intercepts"]
    assert (row["n_left_out"], json.loads(row["left_out"])) == (1, ["003"])
    assert row["n_participants"] == 7
    assert models.set_index("model").loc["error_mixed_logit", "n_left_out"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("p_error", [0.0, 1.0])
def test_all_correct_or_all_wrong_is_told(draw_trials, p_error):
    trials = draw_trials(np.random.default_rng(1), n_participants=4, n_per_cell=10, p_error=p_error)
    models = results_of(trials).models
    errors = models[models["outcome"] == "error"]
    assert not errors["fitted"].any()
    assert errors["note"].str.contains("nothing to model").all()
    assert not errors["selected"].any()
    rt = models[models["outcome"] == "log_rt"]
    assert rt["fitted"].iloc[0] == (p_error == 0.0)


def test_one_participant_is_told_in_every_row(draw_trials):
    trials = draw_trials(np.random.default_rng(1), n_participants=1, n_per_cell=10, p_error=0.2)
    results = results_of(trials)
    assert results.models["note"].str.contains("one participant").all()
    assert results.fixed_effects.empty
    assert results.random_effects.empty


@pytest.mark.slow
def test_rows_in_any_order_give_the_same_tables(study):
    shuffled = study.sample(frac=1, random_state=np.random.default_rng(5))
    one, two = results_of(study), results_of(shuffled)
    pd.testing.assert_frame_equal(
        one.fixed_effects, two.fixed_effects, rtol=1e-3, atol=1e-5, check_exact=False
    )
