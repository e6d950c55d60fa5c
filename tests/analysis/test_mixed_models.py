"""Linear mixed models of RT: recovery, limiting cases, and data that cannot carry a model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.regression import build_design, fit_rt_model, fit_rt_models, rt_rows
from ghostblitz_analysis.regression.crossed_fits import fit_crossed
from ghostblitz_analysis.regression.random_parts import Grouping, RandomPart
from ghostblitz_analysis.regression.single_factor_fits import (
    OPTIMISERS,
    fit_single_factor,
    lower_factor,
)
from ghostblitz_analysis.regression.variance_profile import grouped_products, profile_at
from ghostblitz_analysis.settings import AnalysisSettings

SETTINGS = AnalysisSettings()
INTERCEPTS, SLOPES = RandomPart((0,)), RandomPart((0, 1))
TARGETS = ("ghost", "chair", "bottle", "book", "mouse")


def variances_by(x):
    """One variance of intercepts, and one of the two levels of x within each participant."""
    return RandomPart((0,), (Grouping("participant_id:rule", x.astype(int), 2),))


def rows_of(trials, *, outcome="log_rt", factors=("rule",), items=False, mode=""):
    flagged = flag_exclusions(trials, SETTINGS)
    return rt_rows(flagged, outcome=outcome, factors=factors, items=items, mode=mode)


def with_targets(trials, rng):
    drawn = rng.choice(TARGETS, len(trials))
    return trials.assign(target=drawn).astype({"target": "string"})


@pytest.fixture
def balanced():
    """y, fixed, group of 6 groups x 2 conditions x 5 trials."""
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(6), 10)
    condition = np.tile(np.repeat([0.0, 1.0], 5), 6)
    y = 0.3 * condition + rng.normal(0, 0.5, 6)[group] + rng.normal(0, 0.2, 60)
    return y, np.column_stack([np.ones(60), condition]), group


def test_a_balanced_design_has_the_closed_form_of_its_analysis_of_variance(balanced):
    y, fixed, group = balanced
    fit = fit_single_factor(y, fixed, random=INTERCEPTS, group=group)
    means = np.array([y[group == g].mean() for g in range(6)])
    effects = np.array([y[fixed[:, 1] == 1].mean(), y[fixed[:, 1] == 0].mean()])
    within = y - means[group] - (fixed[:, 1] - 0.5) * (effects[0] - effects[1])
    residual = (within**2).sum() / (60 - 6 - 1)
    assert fit.residual_variance == pytest.approx(residual, rel=1e-6)
    assert fit.components[0].covariance[0, 0] == pytest.approx(
        means.var(ddof=1) - residual / 10, rel=1e-4
    )
    assert fit.coefficients[1] == pytest.approx(effects[0] - effects[1], rel=1e-9)
    assert fit.covariance[1, 1] == pytest.approx(residual * (2 / 30), rel=1e-5)
    # The effect is tested against the residual alone, with its degrees of freedom.
    assert fit.df[1] == pytest.approx(53, rel=1e-3)
    assert fit.converged
    assert not fit.singular


def test_slopes_over_participants_give_the_paired_t_test_of_a_balanced_design(balanced):
    y, fixed, group = balanced
    y = y + np.random.default_rng(9).normal(0, 0.4, 6)[group] * fixed[:, 1]
    fit = fit_single_factor(y, fixed, random=SLOPES, group=group)
    of_cell = [[y[(group == g) & (fixed[:, 1] == c)].mean() for c in (0, 1)] for g in range(6)]
    differences = np.diff(np.array(of_cell), axis=1)[:, 0]
    assert fit.coefficients[1] == pytest.approx(differences.mean(), rel=1e-9)
    assert fit.covariance[1, 1] == pytest.approx(differences.var(ddof=1) / 6, rel=1e-3)
    assert fit.df[1] == pytest.approx(5, rel=1e-2)


@pytest.mark.parametrize("correlated", [True, False])
def test_crossed_and_single_factor_fits_agree_without_variance_of_targets(balanced, correlated):
    y, fixed, group = balanced
    y = y + np.random.default_rng(9).normal(0, 0.4, 6)[group] * fixed[:, 1]
    # Every target comes in every cell, and its mean is taken out, so targets do not differ.
    target = np.tile(np.arange(5), 12)
    y = y - np.array([y[target == t].mean() for t in range(5)])[target]
    part = SLOPES if correlated else variances_by(fixed[:, 1])
    single = fit_single_factor(y, fixed, random=part, group=group)
    crossed = fit_crossed(y, fixed, random=part, participant=group, target=target)
    assert crossed.components[-1].covariance[0, 0] == pytest.approx(0, abs=1e-8)
    assert crossed.singular
    assert not single.singular
    assert crossed.loglik == pytest.approx(single.loglik, abs=1e-4)
    assert crossed.coefficients == pytest.approx(single.coefficients, rel=1e-5)
    assert crossed.covariance == pytest.approx(single.covariance, rel=1e-3)
    assert crossed.df == pytest.approx(single.df, rel=1e-2)


def test_the_profiled_criterion_is_that_of_the_normal_density(balanced):
    y, fixed, group = balanced
    factor = np.array([[0.8, 0.0], [-0.3, 0.5]])
    profile = profile_at(factor, grouped_products(y, fixed, fixed, group))
    same = group[:, None] == group[None, :]
    relative = np.where(same, fixed @ factor @ factor.T @ fixed.T, 0.0) + np.eye(60)
    inverse = np.linalg.inv(relative)
    information = fixed.T @ inverse @ fixed
    beta = np.linalg.solve(information, fixed.T @ inverse @ y)
    variance = (y - fixed @ beta) @ inverse @ (y - fixed @ beta) / 58
    criterion = (
        58 * (np.log(2 * np.pi * variance) + 1)
        + np.linalg.slogdet(relative)[1]
        + np.linalg.slogdet(information)[1]
    )
    assert profile.criterion == pytest.approx(criterion, rel=1e-10)
    assert profile.coefficients == pytest.approx(beta, rel=1e-9)
    assert profile.covariance == pytest.approx(variance * np.linalg.inv(information), rel=1e-9)


def test_a_singular_covariance_has_a_lower_factor():
    covariance = np.array([[4.0, 2.0], [2.0, 1.0]])
    factor = lower_factor(covariance)
    assert factor @ factor.T == pytest.approx(covariance, abs=1e-12)
    assert factor[0, 1] == 0


def test_an_optimiser_that_stops_early_is_told(balanced):
    y, fixed, group = balanced
    fit = fit_single_factor(y, fixed, random=INTERCEPTS, group=group, optimisers=("bfgs",))
    assert "no two optimisers agree" in " ".join(fit.notes)
    assert not fit.converged
    assert "lbfgs" not in OPTIMISERS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_found_where_a_correlation_is_one(seed):
    rng = np.random.default_rng(seed)
    group, x = np.repeat(np.arange(12), 20), np.tile(np.repeat([0.0, 1.0], 10), 12)
    differ = rng.normal(0, 0.3, 12)
    y = differ[group] - 0.5 * differ[group] * x + rng.normal(0, 0.2, 240)
    fixed = np.column_stack([np.ones(240), x])
    fit = fit_single_factor(y, fixed, random=SLOPES, group=group)
    assert fit.converged
    products = grouped_products(y, fixed, fixed, group)
    for sd in np.linspace(0, 3, 13):
        for share in np.linspace(-2, 2, 17):
            factor = np.array([[sd, 0.0], [share * sd, 0.0]])
            assert profile_at(factor, products).criterion > -2 * fit.loglik - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("without", ["participants", "effect"])
def test_the_optimum_is_found_where_a_variance_is_zero(seed, without):
    rng = np.random.default_rng(seed)
    group, x = np.repeat(np.arange(12), 20), np.tile(np.repeat([0.0, 1.0], 10), 12)
    signs = np.where(x == 0, -1.0, 1.0)
    # Opposite deviations in the two cells leave nothing to intercepts, equal ones to the effect.
    differ = rng.normal(0, 0.3, 12)[group] * (signs if without == "participants" else 1.0)
    y = differ + rng.normal(0, 0.2, 240)
    cells = 2 * group + x.astype(int)
    means = (np.bincount(cells, y) / 10)[cells]
    shared = (np.bincount(group, y) / 20)[group]
    y = y - (shared if without == "participants" else means - shared)
    fixed = np.column_stack([np.ones(240), x])
    part = variances_by(x)
    fit = fit_single_factor(y, fixed, random=part, group=group)
    assert fit.converged
    assert fit.singular
    varying = np.column_stack([np.ones(240), x == 0, x == 1])
    products = grouped_products(y, fixed, varying, group)
    for sd in np.linspace(0, 3, 13):
        for of_rule in np.linspace(0, 3, 13):
            factor = np.diag([sd, of_rule, of_rule])
            assert profile_at(factor, products).criterion > -2 * fit.loglik - 1e-6


@pytest.mark.slow
def test_no_variance_between_participants_is_singular_and_told(draw_trials):
    trials = draw_trials(
        np.random.default_rng(7), n_participants=8, n_per_cell=30, person_sd=0.0, effect_sd=0.0
    )
    # Everybody's mean log RT is the same, so the variance between them is below chance.
    mean = np.log(trials["rt_s"].astype(float)).groupby(trials["participant_id"]).transform("mean")
    trials = trials.assign(rt_s=(trials["rt_s"] / np.exp(mean)).astype("Float64"))
    fits = fit_rt_models(rows_of(trials), confidence=0.95)
    assert fits[0].singular
    assert fits[0].fitted
    assert "no variance of (Intercept) over participants" in fits[0].note
    assert fits[0].selected
    assert [fit.selected for fit in fits[1:]] == [False, False]


def test_slopes_are_kept_where_rule_effects_differ(draw_trials):
    rng = np.random.default_rng(11)
    trials = draw_trials(rng, n_participants=15, n_per_cell=20, effect_sd=0.3)
    fits = fit_rt_models(rows_of(trials), confidence=0.95)
    assert [fit.model.structure for fit in fits] == ["intercepts", "slopes"]
    assert fits[1].selected
    assert "read the model with slopes" in fits[0].note
    assert fits[1].effects[1].df == pytest.approx(14, abs=1)
    assert fits[0].effects[1].df > 500


def differ_in_blocks(draw_trials, rng, *, sd_log, n_participants=12, n_per_cell=12):
    """Participants differ in the effect of block kind too."""
    trials = draw_trials(
        rng, n_participants=n_participants, n_per_cell=n_per_cell, effect_log=0.0, effect_sd=0.15,
        block_kinds=("pure", "mixed"),
    )  # fmt: skip
    of_person = dict(
        zip(trials["participant_id"].unique(), rng.normal(0, sd_log, n_participants), strict=True)
    )
    pure = (trials["block_kind"] == "pure").to_numpy(dtype=float)
    factor = np.exp(trials["participant_id"].map(of_person).to_numpy(dtype=float) * pure)
    return trials.assign(rt_s=pd.array(trials["rt_s"].to_numpy(dtype=float) * factor, "Float64"))


BOTH = ("rule", "block_kind")


@pytest.mark.slow
def test_all_effects_may_vary_over_participants(draw_trials):
    trials = differ_in_blocks(draw_trials, np.random.default_rng(31), sd_log=0.3)
    fits = fit_rt_models(rows_of(trials, factors=BOTH), confidence=0.95)
    (chosen,) = [fit for fit in fits if fit.selected]
    assert fits[1].model.formula.endswith(
        "rule * block_kind + (1 + rule * block_kind | participant_id)"
    )
    names = {each.group for each in chosen.random} if chosen is not fits[1] else set()
    assert chosen is fits[1] or "participant_id:block_kind" in names
    of_blocks = [fit.effects[2] for fit in (fits[0], chosen)]
    assert of_blocks[1].se > 2 * of_blocks[0].se
    assert of_blocks[1].df < 30


def test_few_participants_get_no_more_correlations_than_they_are(draw_trials):
    trials = differ_in_blocks(draw_trials, np.random.default_rng(31), sd_log=0.3, n_participants=8)
    fits = fit_rt_models(rows_of(trials, factors=BOTH), confidence=0.95)
    assert not fits[1].fitted
    assert fits[1].note.startswith("10 variances and correlations are too many for 8 participants")
    assert "by-participant slopes with their correlations: not fitted" in fits[0].note
    assert fits[2].selected
    assert fits[2].model.structure == "slopes_uncorrelated"


def test_effects_that_do_not_vary_are_left_out_of_the_variances(draw_trials):
    rng = np.random.default_rng(33)
    trials = differ_in_blocks(draw_trials, rng, sd_log=0.0, n_participants=8)
    log_rt = np.log(trials["rt_s"].astype(float))
    by = [trials["participant_id"], trials["rule"]]
    cell = log_rt.groupby([*by, trials["block_kind"]]).transform("mean")
    # Block kinds differ for nobody, with any rule.
    same = np.exp(log_rt - cell + log_rt.groupby(by).transform("mean"))
    rows = rows_of(trials.assign(rt_s=same.astype("Float64")), factors=BOTH)
    (chosen,) = [fit for fit in fit_rt_models(rows, confidence=0.95) if fit.selected]
    assert chosen.model.formula.endswith("+ (1 | participant_id) + (1 | participant_id:rule)")
    assert "no variance of participant_id:block_kind, so it is left out" in chosen.note
    assert "no variance of participant_id:rule:block_kind, so it is left out" in chosen.note
    assert not chosen.singular


def test_a_rule_effect_without_spread_falls_back_to_intercepts_with_the_reason(draw_trials):
    rng = np.random.default_rng(5)
    trials = draw_trials(rng, n_participants=8, n_per_cell=20, effect_sd=0.0)
    log_rt = np.log(trials["rt_s"].astype(float))
    cell = [trials["participant_id"], trials["rule"]]
    person = log_rt.groupby(trials["participant_id"]).transform("mean")
    rule = log_rt.groupby(trials["rule"]).transform("mean")
    same = log_rt - log_rt.groupby(cell).transform("mean") + person + rule
    trials = trials.assign(rt_s=np.exp(same).astype("Float64"))
    fits = fit_rt_models(rows_of(trials), confidence=0.95)
    structures = [fit.model.structure for fit in fits]
    assert structures == ["intercepts", "slopes", "slopes_uncorrelated"]
    assert [fit.selected for fit in fits] == [True, False, False]
    assert "this model is the one to read" in fits[0].note
    assert "where participants differ in an effect all the same" in fits[0].note
    assert "too liberal" in fits[0].note
    assert fits[2].singular


def without_differences_of_targets(trials):
    """Give each target as many trials of each person and rule, and the same mean log RT in both."""
    log_rt = np.log(trials["rt_s"].astype(float))
    order = trials.groupby(["participant_id", "rule"]).cumcount()
    target = np.array(TARGETS)[order % len(TARGETS)]
    cell = [trials["rule"], target]
    centred = log_rt - log_rt.groupby(cell).transform("mean")
    centred += log_rt.groupby(trials["rule"]).transform("mean")
    return trials.assign(target=target, rt_s=np.exp(centred).astype("Float64")).astype(
        {"target": "string"}
    )


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["log_rt", "inverse_rt"])
def test_slopes_are_kept_where_only_targets_do_not_differ(draw_trials, outcome):
    rng = np.random.default_rng(12)
    trials = draw_trials(rng, n_participants=15, n_per_cell=20, effect_sd=0.3)
    trials = without_differences_of_targets(trials)
    first, chosen = fit_rt_models(rows_of(trials, items=True, outcome=outcome), confidence=0.95)
    assert (first.selected, chosen.selected) == (False, True)
    # The model with intercepts stays as it was asked for.
    assert first.model.formula.endswith("(1 | participant_id) + (1 | target)")
    assert first.n_items == 5
    assert "no variance of (Intercept) over targets" in first.note
    assert "read the model with slopes" in first.note
    assert "too liberal" not in first.note
    assert chosen.model.name == f"{outcome}_slopes"
    assert chosen.model.formula.endswith("~ rule + (1 + rule | participant_id)")
    assert not chosen.singular
    assert chosen.n_items is None
    assert "targets do not differ" in chosen.note
    assert "their intercepts are left out" in chosen.note
    assert {each.group for each in chosen.random} == {"participant_id", "residual"}
    assert len(chosen.rows.y) == len(first.rows.y)
    plain = fit_rt_model(rows_of(trials, outcome=outcome), structure="slopes", confidence=0.95)
    assert chosen.effects == plain.effects
    assert chosen.aic == plain.aic
    assert chosen.aic < first.aic - 20


def test_slopes_of_people_and_no_targets_give_the_paired_t_test(draw_trials):
    """Trials are balanced, so the contrast of a mixed model with slopes is that of the means."""
    rng = np.random.default_rng(12)
    trials = draw_trials(rng, n_participants=15, n_per_cell=20, effect_sd=0.3)
    trials = without_differences_of_targets(trials)
    fits = fit_rt_models(rows_of(trials, items=True), confidence=0.95)
    (chosen,) = [fit for fit in fits if fit.selected]
    log_rt = np.log(trials["rt_s"].astype(float))
    means = log_rt.groupby([trials["participant_id"], trials["rule"]]).mean().unstack()
    paired = stats.ttest_rel(means["exclusion"], means["direct"])
    assert chosen.effects[1].statistic == pytest.approx(paired.statistic, rel=1e-3)
    assert chosen.effects[1].p == pytest.approx(paired.pvalue, rel=1e-2)


def test_targets_that_differ_keep_their_intercepts(draw_trials):
    rng = np.random.default_rng(13)
    trials = with_targets(draw_trials(rng, n_participants=15, n_per_cell=20, effect_sd=0.3), rng)
    shift = trials["target"].map(dict(zip(TARGETS, np.linspace(0.7, 1.4, 5), strict=True)))
    trials = trials.assign(rt_s=(trials["rt_s"] * shift).astype("Float64"))
    fits = fit_rt_models(rows_of(trials, items=True), confidence=0.95)
    assert fits[1].selected
    assert fits[1].model.formula.endswith("(1 + rule | participant_id) + (1 | target)")
    assert fits[1].n_items == 5
    assert "left out" not in fits[1].note


@pytest.mark.slow
def test_slopes_without_variance_of_intercepts_are_kept_uncorrelated(draw_trials):
    """Participants differ in the effect only, so that no correlation with intercepts exists."""
    rng = np.random.default_rng(21)
    trials = draw_trials(rng, n_participants=15, n_per_cell=20, effect_sd=0.3, person_sd=0.0)
    log_rt = np.log(trials["rt_s"].astype(float))
    cell = log_rt.groupby([trials["participant_id"], trials["rule"]]).transform("mean")
    of_rule = log_rt.groupby(trials["rule"]).transform("mean")
    direct = (trials["rule"] == "direct").to_numpy(dtype=bool)
    same = np.where(direct, log_rt - cell + of_rule, log_rt)
    trials = trials.assign(rt_s=pd.array(np.exp(same), dtype="Float64"))
    fits = fit_rt_models(rows_of(trials), confidence=0.95)
    assert [fit.model.structure for fit in fits] == ["intercepts", "slopes", "slopes_uncorrelated"]
    assert [fit.selected for fit in fits] == [False, False, True]
    assert "no variance of (Intercept) over participants" in fits[2].note


@pytest.mark.parametrize("n", [0, 1])
def test_no_model_over_fewer_than_two_participants(draw_trials, n):
    trials = draw_trials(np.random.default_rng(1), n_participants=1, n_per_cell=10)
    fits = fit_rt_models(rows_of(trials.iloc[: n * len(trials)]), confidence=0.95)
    assert [fit.fitted for fit in fits] == [False]
    assert fits[0].note == (
        "one participant, so no model over participants" if n else "no usable trial, so no model"
    )


def test_two_participants_are_fitted_and_called_few(draw_trials):
    trials = draw_trials(np.random.default_rng(2), n_participants=2, n_per_cell=30)
    fit = fit_rt_model(rows_of(trials), structure="intercepts", confidence=0.95)
    assert fit.fitted
    assert "2 participants are few" in fit.note
    assert all(np.isfinite([e.estimate, e.se, e.df, e.p]).all() for e in fit.effects)


def test_one_rule_leaves_an_intercept_and_no_slopes(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=5, n_per_cell=20)
    trials = trials[trials["rule"] == "direct"]
    (fit,) = fit_rt_models(rows_of(trials), confidence=0.95)
    assert [effect.term.coded for effect in fit.effects] == ["(Intercept)"]
    assert fit.selected
    assert "one rule" in fit.note
    assert "too liberal" not in fit.note


def test_identical_rts_have_no_residual_to_model(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=4, n_per_cell=5)
    fits = fit_rt_models(rows_of(trials.assign(rt_s=trials["rt_s"] * 0 + 0.8)), confidence=0.95)
    assert [fit.fitted for fit in fits] == [False]
    assert "RTs do not vary" in fits[0].note


def test_one_target_is_no_grouping_factor(draw_trials):
    rng = np.random.default_rng(8)
    trials = draw_trials(rng, n_participants=6, n_per_cell=20)
    trials = trials.assign(target="ghost").astype({"target": "string"})
    fit = fit_rt_model(rows_of(trials, items=True), structure="intercepts", confidence=0.95)
    assert fit.n_items is None
    assert "one target" in fit.note
    assert "target" not in fit.model.formula


def test_targets_are_no_grouping_factor_where_a_rule_has_none(draw_trials):
    rng = np.random.default_rng(8)
    trials = with_targets(draw_trials(rng, n_participants=5, n_per_cell=20), rng)
    first = trials["rule"] == "exclusion"
    n_exclusion = int((first & trials["correct"]).sum())
    trials.loc[first, "target"] = None
    rows = rows_of(trials, items=True)
    assert (rows.n_rows_left_out, rows.targets) == (0, ())
    assert rows.notes == (
        f"targets are no grouping factor; without one: {n_exclusion} trials (exclusion)",
    )
    fits = fit_rt_models(rows, confidence=0.95)
    assert all("target" not in fit.model.formula for fit in fits)
    assert all(rows.notes[0] in fit.note for fit in fits)
    assert any("exclusion" in effect.term.coded for effect in fits[0].effects)


def test_a_participant_without_usable_trials_is_named(draw_trials):
    trials = draw_trials(np.random.default_rng(6), n_participants=3, n_per_cell=5)
    late = trials["participant_id"] == "002"
    trials = trials.assign(rt_s=trials["rt_s"].mask(late, 30.0))
    rows = rows_of(trials)
    assert rows.left_out == ("002",)
    assert rows.participants == ("001", "003")


def test_more_rows_than_the_limit_are_not_fitted(draw_trials):
    trials = draw_trials(np.random.default_rng(6), n_participants=3, n_per_cell=5)
    fit = fit_rt_model(rows_of(trials), structure="intercepts", confidence=0.95, max_rows=29)
    assert not fit.fitted
    assert "30 trials are more than 29" in fit.note


def test_minus_the_inverse_is_larger_for_slower_trials(draw_trials):
    trials = draw_trials(np.random.default_rng(6), n_participants=4, n_per_cell=30)
    rows = rows_of(trials, outcome="inverse_rt")
    assert rows.y == pytest.approx(-1 / trials["rt_s"].to_numpy(dtype=float))
    fit = fit_rt_model(rows, structure="intercepts", confidence=0.95)
    assert fit.effects[1].estimate > 0


def test_the_input_is_not_changed(draw_trials):
    rng = np.random.default_rng(8)
    flagged = flag_exclusions(
        with_targets(draw_trials(rng, n_participants=4, n_per_cell=10), rng), SETTINGS
    )
    before = flagged.copy(deep=True)
    rows = rt_rows(flagged, outcome="log_rt", factors=("rule",))
    fit_rt_models(rows, confidence=0.95)
    assert flagged.equals(before)


def test_the_coding_spans_the_cells_that_exist(draw_trials):
    trials = draw_trials(
        np.random.default_rng(8), n_participants=2, n_per_cell=3, block_kinds=("pure", "mixed")
    )
    whole = build_design(trials, factors=("rule", "block_kind"))
    assert [t.coded for t in whole.terms] == [
        "(Intercept)",
        "rule[exclusion]",
        "block_kind[pure]",
        "rule[exclusion]:block_kind[pure]",
    ]
    assert [t.words for t in whole.terms] == [
        "direct trials in mixed blocks",
        "exclusion against direct, in mixed blocks",
        "pure against mixed blocks, direct trials",
        "interaction of exclusion against direct and pure against mixed",
    ]
    empty = (trials["rule"] == "exclusion") & (trials["block_kind"] == "pure")
    part = build_design(trials[~empty], factors=("rule", "block_kind"))
    assert [t.coded for t in part.terms] == ["(Intercept)", "rule[exclusion]", "block_kind[pure]"]
    assert np.linalg.matrix_rank(part.cell_matrix) == len(part.cells) == 3
    assert "no trials of exclusion trials in pure blocks" in part.notes[0]


@pytest.mark.slow
def test_intervals_cover_a_known_rule_effect(draw_trials):
    """95 % intervals of the model with slopes, over 100 studies; the binomial SD is 2.2 %."""
    rng = np.random.default_rng(20261130)
    estimates, covered = [], []
    for _ in range(100):
        trials = draw_trials(rng, n_participants=12, n_per_cell=10, effect_log=0.4, effect_sd=0.15)
        fit = fit_rt_model(rows_of(trials), structure="slopes", confidence=0.95)
        effect = fit.effects[1]
        estimates.append(effect.estimate)
        covered.append(effect.low <= 0.4 <= effect.high)
    assert np.mean(estimates) == pytest.approx(0.4, abs=4 * np.std(estimates) / 10)
    assert 0.885 <= np.mean(covered) < 1


@pytest.mark.slow
def test_without_an_effect_few_tests_are_significant_though_targets_do_not_differ(draw_trials):
    """Over 60 studies at alpha = .05; of 60 tests at most 9 are significant in 99.8 % of runs."""
    rng = np.random.default_rng(20261201)
    significant, structures, at_zero = 0, [], 0
    for _ in range(60):
        trials = draw_trials(rng, n_participants=16, n_per_cell=20, effect_log=0.0, effect_sd=0.15)
        rows = rows_of(with_targets(trials, rng), items=True)
        fits = fit_rt_models(rows, confidence=0.95)
        (chosen,) = [fit for fit in fits if fit.selected]
        significant += chosen.effects[1].p < 0.05
        structures.append(chosen.model.structure)
        at_zero += "over targets" in fits[0].note
    assert at_zero > 10
    assert significant <= stats.binom.ppf(0.999, 60, 0.05)
    assert structures.count("intercepts") < 6


@pytest.mark.slow
def test_without_an_effect_of_blocks_few_tests_of_it_are_significant(draw_trials):
    """Participants differ in it, so that the model with intercepts finds it far too often."""
    rng = np.random.default_rng(20261202)
    n_studies = 25
    significant = np.zeros((n_studies, 2), dtype=bool)
    for study in significant:
        trials = differ_in_blocks(draw_trials, rng, sd_log=0.4)
        fits = fit_rt_models(rows_of(trials, factors=BOTH), confidence=0.95)
        (chosen,) = [fit for fit in fits if fit.selected]
        study[:] = [fit.effects[2].p < 0.05 for fit in (fits[0], chosen)]
    of_intercepts, of_chosen = significant.sum(axis=0)
    most = stats.binom.ppf(0.999, n_studies, 0.05)
    assert of_chosen <= most < of_intercepts
