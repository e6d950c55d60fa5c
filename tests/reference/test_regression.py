"""Regression models: what R makes of simulated trials, and the shared values of published ones."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.regression import (
    error_rows,
    fit_gee,
    fit_mixed_logit,
    fit_rt_model,
    fit_rt_models,
    regression_results,
    rt_rows,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.schema import COLUMNS

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
MAPPING = HERE.parents[1] / "data" / "mappings" / "styrnal2025-five-objects.toml"
NO_BOUNDS = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))
TERMS = {
    "(Intercept)": "(Intercept)",
    "exclusion": "rule[exclusion]",
    "pure": "block_kind[pure]",
    "both": "rule[exclusion]:block_kind[pure]",
}
FACTORS = ("rule", "block_kind")


def r_values(model):
    table = pd.read_csv(HERE / "regression_values.csv", keep_default_na=False)
    table = table[table["model"] == model].astype({"value": float})
    return table.set_index(["quantity", "term"])["value"]


def flagged_simulation():
    table = pd.read_csv(HERE / "regression_trials.csv")
    error = table["error"].astype(bool)
    values = {
        "participant_id": table["participant"],
        "target": table["target"],
        "rule": table["rule"],
        "block_kind": table["block_kind"],
        "rt_s": table["rt_s"],
        "correct": ~error,
        "error_kind": error.map({True: "rule_confusion", False: None}),
        "phase": ["test"] * len(table),
        "mode": ["grab"] * len(table),
        "trial_in_block": range(len(table)),
    }
    columns = {
        c.name: pd.array(values.get(c.name, [None] * len(table)), dtype=c.dtype) for c in COLUMNS
    }
    return flag_exclusions(pd.DataFrame(columns), NO_BOUNDS)


@pytest.fixture(scope="module")
def simulated():
    return flagged_simulation()


def compare_effects(fit, reference, *, quantities, rel):
    found = {effect.term.coded: effect for effect in fit.effects}
    assert list(found) == list(TERMS.values())
    for in_r, here in TERMS.items():
        for quantity, tolerance in zip(quantities, rel, strict=True):
            value = getattr(found[here], quantity)
            assert value == pytest.approx(reference[quantity, in_r], rel=tolerance, abs=1e-7)


def compare_spread(fit, reference, *, rel):
    groups = {"target": "target", "Residual": "residual"}
    terms = {**TERMS, "NA": "residual", "": "residual"}
    compared = 0
    for key, value in reference["sdcor"].items():
        group, _, term = key.rpartition(":")
        first, _, second = term.partition("~")
        group = groups.get(group) or group.replace("participant", "participant_id")
        wanted = (group, terms[first], terms[second] if second else "")
        (row,) = [e for e in fit.random if (e.group, e.term, e.with_term) == wanted]
        assert (row.correlation if second else row.sd) == pytest.approx(value, rel=rel)
        compared += 1
    assert compared == len(fit.random)


@pytest.mark.parametrize(
    ("model", "outcome", "structure", "items"),
    [
        ("crossed_intercepts", "log_rt", "intercepts", True),
        ("crossed_slopes", "log_rt", "slopes", True),
        ("crossed_slopes_uncorrelated", "log_rt", "slopes_uncorrelated", True),
        ("crossed_inverse", "inverse_rt", "intercepts", True),
        ("single_intercepts", "log_rt", "intercepts", False),
        ("single_slopes", "log_rt", "slopes", False),
        ("single_slopes_uncorrelated", "log_rt", "slopes_uncorrelated", False),
    ],
)
def test_mixed_models_of_rt_are_those_of_lme4_and_lmertest(
    simulated, model, outcome, structure, items
):
    reference = r_values(model)
    rows = rt_rows(simulated, outcome=outcome, factors=FACTORS, items=items)
    fit = fit_rt_model(rows, structure=structure, confidence=0.95)
    assert fit.converged
    assert not fit.singular
    engines = ("mixedlm",) if items else ("statsmodels", "SciPy")
    assert fit.engine.startswith(engines)
    compare_effects(
        fit, reference, quantities=("estimate", "se", "df", "p"), rel=(1e-4, 1e-4, 2e-3, 1e-2)
    )
    compare_spread(fit, reference, rel=1e-3)
    for name in ("loglik", "aic", "bic"):
        assert getattr(fit, name) == pytest.approx(reference[name, ""], abs=1e-4)


def test_the_mixed_logit_is_that_of_lme4(simulated):
    reference = r_values("mixed_logit")
    fit = fit_mixed_logit(error_rows(simulated, factors=FACTORS), confidence=0.95)
    assert fit.converged
    compare_effects(fit, reference, quantities=("estimate", "se"), rel=(1e-5, 1e-4))
    assert fit.random[0].sd == pytest.approx(
        reference["sdcor", "participant:(Intercept)"], rel=1e-3
    )
    assert fit.loglik == pytest.approx(reference["loglik", ""], abs=1e-5)
    assert fit.aic == pytest.approx(reference["aic", ""], abs=1e-4)


def test_gee_is_that_of_geepack(simulated):
    reference = r_values("gee")
    fit = fit_gee(error_rows(simulated, factors=FACTORS), confidence=0.95)
    assert fit.converged
    # Cells are balanced over participants, so the working correlation does not move estimates.
    compare_effects(fit, reference, quantities=("estimate",), rel=(1e-4,))
    assert fit.random[0].correlation == pytest.approx(reference["correlation", ""], abs=2e-3)
    for effect, in_r in zip(fit.effects, TERMS, strict=True):
        # The correction for few participants widens the sandwich's errors, by less than a fifth.
        assert 1.0 < effect.se / reference["robust_se", in_r] < 1.2


@pytest.fixture(scope="module")
def values(shared):
    reference = json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))
    return reference["published_five_objects"]


@pytest.fixture(scope="module")
def published(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published-regression")
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=MAPPING, out=folder / "dataset")
    return load_dataset(folder / "dataset").trials


@pytest.fixture(scope="module")
def published_results(published):
    flagged = flag_exclusions(published, NO_BOUNDS)
    factors = cell_factors(flagged, NO_BOUNDS)
    return regression_results(flagged, factors=factors, settings=NO_BOUNDS)


def test_the_published_linear_model_has_the_digits_of_the_reference(published_results, values):
    reference = values["lmm"]
    models = published_results.models
    assert models["model"].iloc[0] == "log_rt_intercepts"
    row = models.iloc[0]
    assert row["formula"] == ("log(rt_s) ~ rule * block_kind + (1 | participant_id) + (1 | target)")
    assert row["coding"] == "treatment coding, reference: direct trials in mixed blocks"
    assert (row["n_rows"], row["n_participants"], row["n_items"]) == (reference["n"], 10, 5)
    assert row["loglik"] == pytest.approx(reference["loglik"], abs=5e-4)
    of_model = published_results.fixed_effects["model"] == "log_rt_intercepts"
    effects = published_results.fixed_effects[of_model].set_index("term")
    names = dict(
        zip(TERMS.values(), ("intercept", "exclusion", "pure", "interaction"), strict=True)
    )
    for term, name in names.items():
        assert effects.loc[term, "estimate"] == pytest.approx(reference[name], abs=1e-6)
        assert effects.loc[term, "se"] == pytest.approx(reference[f"{name}_se"], abs=1e-6)
    of_model = published_results.random_effects["model"] == "log_rt_intercepts"
    spread = published_results.random_effects[of_model].set_index("group")["sd"]
    assert spread["participant_id"] == pytest.approx(reference["sd_participant"], abs=2e-5)
    assert spread["target"] == pytest.approx(reference["sd_target"], abs=2e-5)
    assert spread["residual"] == pytest.approx(reference["sd_residual"], abs=1e-7)


def test_the_published_error_model_has_the_digits_of_the_reference(published_results, values):
    reference = values["error_glmm"]
    of_model = published_results.fixed_effects["model"] == "error_mixed_logit"
    effects = published_results.fixed_effects[of_model].set_index("term")["estimate"]
    names = dict(
        zip(TERMS.values(), ("intercept", "exclusion", "pure", "interaction"), strict=True)
    )
    for term, name in names.items():
        assert effects[term] == pytest.approx(reference[name], abs=3e-5)
    of_model = published_results.random_effects["model"] == "error_mixed_logit"
    assert published_results.random_effects.loc[of_model, "sd"].tolist() == pytest.approx(
        [reference["sd_participant"]], abs=3e-5
    )


def test_the_slope_of_rule_is_kept_in_the_published_data(published):
    flagged = flag_exclusions(published, AnalysisSettings())
    rows = rt_rows(flagged, outcome="log_rt", factors=FACTORS)
    fits = fit_rt_models(rows, confidence=0.95)
    assert [fit.model.structure for fit in fits] == ["intercepts", "slopes"]
    assert [fit.selected for fit in fits] == [False, True]
    # With slopes over participants the rule effect is known far less well than 16 ms in log RT.
    assert fits[1].effects[1].se > 3 * fits[0].effects[1].se
    assert fits[1].effects[1].df == pytest.approx(9, abs=1.5)
