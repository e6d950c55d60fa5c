"""The mixed logit model with participants who differ in every effect: what lme4 makes of it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.regression import error_rows
from ghostblitz_analysis.regression.error_models import fit_mixed_logits
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.schema import COLUMNS

HERE = Path(__file__).resolve().parent
NO_BOUNDS = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))
TERMS = {
    "(Intercept)": "(Intercept)",
    "exclusion": "rule[exclusion]",
    "pure": "block_kind[pure]",
    "both": "rule[exclusion]:block_kind[pure]",
}
BOTH = ("rule", "block_kind")


def r_values(model):
    table = pd.read_csv(HERE / "error_slopes.csv", keep_default_na=False)
    table = table[table["model"] == model].astype({"value": float})
    return table.set_index(["quantity", "term"])["value"]


def slopes_fit(factors, last="s99"):
    """Fit the stored counts of the participants up to the last one, as single trials."""
    counts = pd.read_csv(HERE / "error_slopes_counts.csv")
    counts = counts[counts["participant"] <= last]
    trials = counts.loc[counts.index.repeat(counts["n_trials"])]
    number = trials.groupby(level=0).cumcount()
    correct = (number >= trials["n_errors"]).to_numpy()
    values = {
        "participant_id": trials["participant"].to_numpy(),
        "rule": trials["rule"].to_numpy(),
        "block_kind": trials["block_kind"].to_numpy(),
        "rt_s": [1.0] * len(trials),
        "correct": correct,
        "error_kind": [None if right else "rule_confusion" for right in correct],
        "phase": ["test"] * len(trials),
        "mode": ["grab"] * len(trials),
        "trial_in_block": range(len(trials)),
    }
    columns = {
        c.name: pd.array(values.get(c.name, [None] * len(trials)), dtype=c.dtype) for c in COLUMNS
    }
    flagged = flag_exclusions(pd.DataFrame(columns), NO_BOUNDS)
    fits = fit_mixed_logits(error_rows(flagged, factors=factors), confidence=0.95)
    assert [fit.model.structure for fit in fits] == ["mixed_logit", "mixed_logit_slopes"]
    return fits[1]


@pytest.mark.parametrize(
    ("model", "factors", "last"),
    [
        ("both_factors", BOTH, "s99"),
        ("one_factor", ("rule",), "s99"),
        ("some_at_zero", BOTH, "s06"),
    ],
)
def test_by_participant_effects_on_errors_are_those_of_lme4(model, factors, last):
    reference = r_values(model)
    fit = slopes_fit(factors, last)
    assert fit.converged
    found = {effect.term.coded: effect for effect in fit.effects}
    in_r = [term for quantity, term in reference.index if quantity == "estimate"]
    assert list(found) == [TERMS[term] for term in in_r]
    for term in in_r:
        effect = found[TERMS[term]]
        assert effect.estimate == pytest.approx(reference["estimate", term], rel=1e-5, abs=1e-5)
        # lme4 takes second differences of the deviance, which are rougher.
        assert effect.se == pytest.approx(reference["se", term], rel=1e-3)
    spread = {row.group.replace("participant_id", "participant"): row.sd for row in fit.random}
    assert spread == pytest.approx(reference["sdcor"].to_dict(), rel=2e-5, abs=1e-7)
    # lme4 is no nearer to the maximum than this.
    assert fit.loglik == pytest.approx(reference["loglik", ""], abs=2e-6)
    assert fit.aic == pytest.approx(reference["aic", ""], abs=5e-6)
    assert fit.bic == pytest.approx(reference["bic", ""], abs=5e-6)


def test_the_effects_of_the_simulated_participants_are_selected():
    fit = slopes_fit(BOTH)
    assert fit.selected
    assert not fit.singular
    assert fit.model.formula == (
        "error ~ rule * block_kind + (1 | participant_id) + (1 | participant_id:rule) + "
        "(1 | participant_id:block_kind) + (1 | participant_id:rule:block_kind)"
    )


def test_a_variance_at_zero_is_named_in_the_note():
    fit = slopes_fit(BOTH, "s06")
    assert fit.singular
    assert fit.selected
    assert "singular: no variance of rule over participants" in fit.note
