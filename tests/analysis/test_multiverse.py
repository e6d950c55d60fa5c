"""The multiverse: its grid, its universes, and the curve that they make."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusion_settings import DroppedFrames, MadTrim, ParticipantLimits, SdTrim
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.inference import contrast_table
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.multiverse import (
    MultiverseGrid,
    curve_figure,
    curve_test,
    grid_toml,
    multiverse_of_dataset,
    multiverse_text,
    option_table,
    run_multiverse,
    summary_table,
)
from ghostblitz_analysis.multiverse.exclusion_sets import options_of
from ghostblitz_analysis.multiverse.grid import read_trimming
from ghostblitz_analysis.multiverse.mixed_contrasts import recoded_designs
from ghostblitz_analysis.multiverse.specifications import specify
from ghostblitz_analysis.multiverse.summaries import contrast_sentences, dropped_table
from ghostblitz_analysis.regression import fit_rt_model, regression_results, rt_rows
from ghostblitz_analysis.settings import (
    AnalysisSettings,
    BoundsSettings,
    ContrastSettings,
    ModelSettings,
)
from ghostblitz_task.cli import main
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.settings_files import load_settings, read_toml, validate_settings
from ghostblitz_task.studies import open_study, simulate_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

PAIRED = MultiverseGrid.model_validate(
    {
        "trimming": ("none", "bounds", "sd_2", "sd_2.5", "van_selst_jolicoeur_nonrecursive"),
        "models": ("paired_t",),
        "permutation": {"n": 100},
    }
)
NUMBERS = ("estimate", "estimate_low", "estimate_high", "t", "df", "p")


def as_grid(**values):
    return validate_settings({"models": ["paired_t"], **values}, MultiverseGrid, where="grid")


@pytest.fixture
def crossed(draw_trials):
    """Two modes and two kinds of blocks, some errors, and effects that differ in people."""
    return draw_trials(
        np.random.default_rng(7),
        n_participants=8,
        n_per_cell=10,
        effect_log=0.3,
        effect_sd=0.15,
        p_error=0.1,
        modes=("grab", "shout"),
        block_kinds=("pure", "mixed"),
    )


@pytest.fixture
def plain(draw_trials):
    """One mode, one kind of block."""
    return draw_trials(
        np.random.default_rng(3), n_participants=8, n_per_cell=12, effect_sd=0.2, p_error=0.1
    )


def planned(trials, settings):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    return contrast_table(cells, factors=factors, settings=settings)


# --- the universe as set --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        AnalysisSettings(measures=("mean_log_rt", "mean_rt_s", "median_rt_s")),
        AnalysisSettings(
            measures=("mean_rt_s", "mean_log_rt", "median_rt_s"),
            bounds=BoundsSettings(min_rt_s=0.5, max_rt_s=2.5),
            skip_first_trials=2,
            exclusions=(
                SdTrim(step="sd", n_sd=1.5),
                ParticipantLimits(step="participants", min_p_correct=0.88),
            ),
            confidence=0.9,
        ),
    ],
)
def test_paired_universes_as_set_are_exactly_the_planned_contrasts(crossed, settings):
    universes = run_multiverse(crossed, settings, PAIRED).universes
    own = universes[universes["as_set"]]
    expected = planned(crossed, settings)
    names = {"mean_log_rt": "log", "mean_rt_s": "seconds", "median_rt_s": "median"}
    expected = expected.assign(transform=expected["measure"].map(names))
    keys = ["contrast", "mode", "transform"]
    both = own.merge(expected.rename(columns={"name": "contrast"}), on=keys, suffixes=("", "_x"))
    assert len(both) == len(own) == len(expected) == 18
    for name in (*NUMBERS, "n_participants", "n_left_out", "left_out", "ratio", "ratio_high"):
        pd.testing.assert_series_equal(both[name], both[f"{name}_x"], check_names=False,
                                       check_dtype=False, check_exact=True)  # fmt: skip
    assert both["effect"].to_numpy(float) == pytest.approx(both["dz"].to_numpy(float), rel=1e-12)
    first = {"mean_log_rt": "log", "mean_rt_s": "seconds"}[settings.measures[0]]
    assert set(own.loc[own["primary"], "transform"]) == {first}
    assert own["primary"].sum() == 6


def test_mixed_universes_as_set_are_exactly_the_regression_models(plain):
    settings = AnalysisSettings(models=ModelSettings(rt=("log_rt", "inverse_rt"), items=False))
    grid = as_grid(models=["lmm", "paired_t"], mixed_models_over="as_set")
    universes = run_multiverse(plain, settings, grid).universes
    own = universes[universes["as_set"] & (universes["model"] == "lmm")]
    flagged = flag_exclusions(plain, settings)
    results = regression_results(flagged, factors=("rule",), settings=settings)
    effects = results.fixed_effects
    effects = effects[effects["selected"] & (effects["term"] == "rule[exclusion]")]
    for transform, outcome in (("log", "log_rt"), ("inverse", "inverse_rt")):
        row = own[own["transform"] == transform].iloc[0]
        effect = effects[effects["outcome"] == outcome].iloc[0]
        assert row["estimate"] == effect["estimate"]
        assert row["t"] == effect["statistic"]
        assert (row["df"], row["p"]) == (effect["df"], effect["p"])
        assert (row["estimate_low"], row["estimate_high"]) == (effect["low"], effect["high"])
        assert row["effect"] == pytest.approx(effect["statistic"] / np.sqrt(8))


# --- contrasts as coefficients --------------------------------------------------------------------


def test_a_contrast_of_other_cells_is_tested_as_with_another_reference(crossed):
    """exclusion - direct in pure blocks, which are not the reference."""
    trials = crossed[crossed["mode"] == "grab"].reset_index(drop=True)
    settings = AnalysisSettings()
    rows = rt_rows(
        flag_exclusions(trials, settings),
        outcome="log_rt",
        factors=("rule", "block_kind"),
        items=False,
    )
    terms = [term.coded for term in rows.design.terms]
    in_pure = np.array([0.0, 1.0, 0.0, 1.0])
    crossing = np.array([0.0, 0.0, 0.0, -1.0])
    assert terms[1] == "rule[exclusion]"
    assert terms[3] == "rule[exclusion]:block_kind[pure]"
    own = fit_rt_model(rows, structure="slopes_uncorrelated", confidence=0.95)
    designs = recoded_designs(rows.design, {0: np.eye(4)[1], 1: in_pure, 2: crossing})
    # The third is the difference of the others, so that it needs a design of its own.
    assert [list(columns) for _, columns in designs] == [[0, 1], [2]]
    swapped = trials.assign(
        block_kind=trials["block_kind"].map({"pure": "mixed", "mixed": "pure"}).astype("string")
    )
    reference = fit_rt_model(
        rt_rows(
            flag_exclusions(swapped, settings),
            outcome="log_rt",
            factors=("rule", "block_kind"),
            items=False,
        ),
        structure="slopes_uncorrelated",
        confidence=0.95,
    )
    design, columns = designs[0]
    fit = fit_rt_model(
        type(rows)(**{**vars(rows), "design": design}),
        structure="slopes_uncorrelated",
        confidence=0.95,
    )
    found, expected = fit.effects[columns[1]], reference.effects[1]
    assert fit.loglik == pytest.approx(own.loglik, abs=1e-3)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-4)
    assert found.se == pytest.approx(expected.se, rel=1e-3)
    assert found.df == pytest.approx(expected.df, rel=1e-2)
    assert found.estimate == pytest.approx(
        own.effects[1].estimate + own.effects[3].estimate, rel=1e-4
    )


def test_an_interaction_has_the_opposite_sign_of_the_coefficient_of_pure_blocks(crossed):
    settings = AnalysisSettings(models=ModelSettings(items=False))
    grid = as_grid(models=["lmm"], transforms=["log"], trimming=[], first_trials=[],
                   after_errors=[], min_p_correct=[])  # fmt: skip
    multiverse = run_multiverse(crossed, settings, grid)
    effects = regression_results(
        flag_exclusions(crossed, settings),
        factors=("rule", "block_kind", "mode"),
        settings=settings,
    ).fixed_effects
    for mode in ("grab", "shout"):
        own = multiverse.universes
        own = own[(own["mode"] == mode) & own["contrast"].str.contains("against")].iloc[0]
        known = effects[(effects["mode"] == mode) & (effects["outcome"] == "log_rt")]
        known = known[known["selected"] & known["term"].str.contains(":")].iloc[0]
        assert own["estimate"] == pytest.approx(-known["estimate"], rel=1e-4)
        assert own["p"] == pytest.approx(known["p"], rel=1e-2)


def test_contrasts_between_modes_have_no_mixed_model_and_it_is_named(crossed):
    contrast = ContrastSettings(name="shout - grab", of="mode", level="shout", reference="grab")
    settings = AnalysisSettings(contrasts=(contrast,))
    grid = as_grid(models=["paired_t", "lmm"], mixed_models_over="as_set")
    multiverse = run_multiverse(crossed, settings, grid)
    assert set(multiverse.universes["model"]) == {"paired_t"}
    dropped = dropped_table(multiverse)
    row = dropped[dropped["what"] == "mixed models of shout - grab"].iloc[0]
    assert "grab and shout trials have mixed models of their own" in row["reason"]
    assert row["n_universes"] == 2


def test_targets_do_not_cross_in_a_mode_with_trials_that_have_none(crossed):
    without = (crossed["mode"] == "shout") & (crossed["rule"] == "exclusion")
    known = pd.Series(["ghost", "mouse"] * len(crossed))[: len(crossed)].to_numpy()
    trials = crossed.assign(target=known).astype({"target": "string"})
    trials.loc[without, "target"] = None
    grid = as_grid(models=["paired_t", "lmm", "lmm_items"], transforms=["log"], trimming=[],
                   first_trials=[], after_errors=[], min_p_correct=[])  # fmt: skip
    universes = run_multiverse(trials, AnalysisSettings(), grid).universes
    rows = universes.set_index(["mode", "model"]).sort_index()
    assert rows.loc[("grab", "lmm_items"), "estimate"].notna().all()
    assert rows.loc[("shout", "lmm"), "estimate"].notna().all()
    assert rows.loc[("shout", "lmm_items"), "estimate"].isna().all()
    assert rows.loc[("shout", "lmm_items"), "note"].str.startswith("targets are no group").all()


# --- rules that change the result -----------------------------------------------------------------


def hand_made(make_trials, slow_s=9.0):
    """Four people; exclusion takes 1 s instead of 0.5 s, but one direct RT of each is very slow."""
    rows = []
    for number in range(4):
        for rule, base in (("direct", 0.5), ("exclusion", 1.0)):
            rts = [base + 0.01 * number * (rule == "exclusion") + 0.02 * k for k in range(10)]
            if rule == "direct":
                rts[9] = slow_s + number
            rows += [{"participant_id": f"p{number}", "rule": rule, "rt_s": rt} for rt in rts]
    return make_trials(rows)


def test_trimming_turns_the_sign_of_hand_made_means(make_trials):
    grid = as_grid(trimming=["none", "bounds_0.1_5", "sd_2.5"], transforms=["seconds"],
                   first_trials=[], after_errors=[], min_p_correct=[])  # fmt: skip
    multiverse = run_multiverse(hand_made(make_trials), AnalysisSettings(), grid)
    by_rule = multiverse.universes.set_index("trimming")
    none, bounded = by_rule.loc["none"], by_rule.loc["bounds_0.1_5"]
    every = [[0.5 + 0.02 * k for k in range(9)] + [9.0 + n] for n in range(4)]
    exclusion = [np.mean([1.0 + 0.01 * n + 0.02 * k for k in range(10)]) for n in range(4)]
    differences = np.array(exclusion) - np.mean(every, axis=1)
    expected = stats.ttest_1samp(differences, 0)
    assert none["estimate"] == pytest.approx(differences.mean())
    assert none["estimate"] < 0
    assert none["p"] == pytest.approx(expected.pvalue)
    trimmed = np.array(exclusion) - np.mean(every[0][:9])
    assert bounded["estimate"] == pytest.approx(trimmed.mean())
    assert bounded["estimate"] > 0
    assert (bounded["n_trials"], none["n_trials"]) == (4 * 19, 4 * 20)
    # The slowest of 10 RTs is at most 2.85 SD away, so 2.5 SD find it, and the same trials stay.
    (same,) = [d for d in multiverse.dropped if "2.5 SD" in d.what]
    assert "leaves the same trials as trimming of RTs: 0.1 to 5 s" in same.reason
    summary = summary_table(multiverse).iloc[0]
    # As set, RTs of 9 and 10 s stay and those of 11 and 12 s go.
    assert (summary["expected_sign"], summary["primary_universe"]) == ("positive", 1)
    assert summary["p_expected_sign"] == pytest.approx(2 / 3)


def test_each_decision_changes_only_its_own_exclusions(plain):
    settings = AnalysisSettings(
        skip_first_trials=1,
        exclusions=(
            DroppedFrames(step="dropped_frames"),
            MadTrim(step="mad", n_mad=3.5),
            ParticipantLimits(step="participants", max_p_no_response=0.5),
        ),
    )
    grid = as_grid(trimming=["sd_2", "bounds+mad_2"], first_trials=[0], after_errors=["left_out"],
                   min_p_correct=[0.0, 0.5])  # fmt: skip
    own = specify(plain, grid, settings).exclusion_sets
    with_limits = {"max_p_no_response": 0.5}
    for made in own:
        trim = {"as_set": "mad", "sd_2": "sd", "bounds+mad_2": "mad"}[made.codes["trimming"]]
        steps = made.options["trimming"].change(settings).exclusions
        assert [step.step for step in steps] == ["dropped_frames", trim, "participants"]
        assert steps[-1].model_dump(exclude_none=True, exclude={"step"}) == with_limits
        after = [step.step for step in made.options["after_errors"].change(settings).exclusions]
        if made.codes["after_errors"] == "left_out":
            assert after == ["after_error", "dropped_frames", "mad", "participants"]
            assert made.flagged["exclude_after_error"].any()
    known, _ = options_of(grid, settings)
    nobody, half = known["min_p_correct"][1:]
    assert [step.step for step in nobody.settings.exclusions] == ["dropped_frames", "mad"]
    assert half.settings.exclusions[-1] == ParticipantLimits(step="participants", min_p_correct=0.5)


def test_participants_below_the_limit_are_in_no_universe_that_has_it(make_trials):
    rows = [
        {"participant_id": f"p{n}", "rule": rule, "rt_s": 0.5 + 0.1 * n + 0.3 * (rule != "direct")
         + 0.01 * n * k * (rule != "direct"),
         "error_kind": "shape_capture" if n == 0 and k < 3 else None}
        for n, rule, k in product(range(5), ("direct", "exclusion"), range(6))
    ]  # fmt: skip
    grid = as_grid(trimming=[], first_trials=[], after_errors=[], min_p_correct=[0.8])
    universes = run_multiverse(make_trials(rows), AnalysisSettings(), grid).universes
    n_people = universes.groupby("min_p_correct")["n_participants"].unique()
    assert n_people["as_set"].tolist() == [5]
    assert n_people["0.8"].tolist() == [4]
    assert set(universes["n_left_out"]) == {0}


# --- what is dropped ------------------------------------------------------------------------------


def test_repetitions_and_impossible_combinations_are_dropped_with_reasons(plain):
    grid = as_grid(trimming=["bounds", "bounds_0.2_10", "none", "sd_2"], models=["paired_t", "lmm"],
                   first_trials=[0], after_errors=[], min_p_correct=[0.01])  # fmt: skip
    multiverse = run_multiverse(plain, AnalysisSettings(), grid)
    dropped = dropped_table(multiverse).set_index("what")["reason"]
    assert dropped["trimming of RTs: bounds"] == "the same as 0.2 to 10 s (as set)"
    assert dropped["trimming of RTs: bounds_0.2_10"] == "the same as 0.2 to 10 s (as set)"
    assert dropped["first trials of blocks: 0"] == "the same as kept (as set)"
    same = dropped[dropped.str.startswith("leaves the same trials as")]
    assert len(same) == 4  # Nobody is below .01, and no RT is out of bounds.
    assert "medi" in dropped["mixed model, participants, of median RT"]
    assert set(multiverse.universes["trimming"]) == {"as_set", "sd_2"}
    assert len(multiverse.universes) == 2 * 4 + 2 * 2


def test_what_the_grid_leaves_out_is_named_with_its_reason(plain):
    left_out = {"reason": "medians need no trimming", "trimming": "sd_2", "transform": "median"}
    grid = as_grid(trimming=["sd_2"], first_trials=[], after_errors=[], min_p_correct=[],
                   leave_out=[left_out])  # fmt: skip
    multiverse = run_multiverse(plain, AnalysisSettings(), grid)
    assert len(multiverse.universes) == 7
    last = dropped_table(multiverse).iloc[-1]
    assert last.tolist() == ["trimming = sd_2, transform = median", 1,
                             "the grid says: medians need no trimming"]  # fmt: skip


def test_the_analysis_as_set_cannot_be_left_out(plain):
    grid = as_grid(leave_out=[{"reason": "no", "transform": "log"}])
    with pytest.raises(ConfigError, match=r"leave_out\.0 of the grid leaves out the analysis"):
        run_multiverse(plain, AnalysisSettings(), grid)


# --- the grid's own errors ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("triming = []", r"triming is not a setting; did you mean trimming\?"),
        ('trimming = ["sd"]', "trimming.0: 'sd' is no rule for trimming"),
        ('trimming = ["sd_0"]', "'sd_0' would take every RT out"),
        ('trimming = ["bounds_3_1"]', "no lower bound below its upper one"),
        ('trimming = ["bounds+bounds_1_3"]', "names bounds twice"),
        ('trimming = ["van_selst_jolicoeur"]', "did you mean van_selst_jolicoeur_nonrecursive"),
        ('models = ["lme"]', "models.0"),
        (
            'trimming = ["zzz"]',
            r"'zzz' is no rule for trimming; there are as_set, .* joined by \+$",
        ),
        ('trimming = ["sd_x"]', r"'sd_x' is no rule for trimming; did you mean sd_2\.5\?$"),
        ("models = []", r"models: must not have fewer entries than 1, but it is \[\]$"),
        ("first_trials = [-1]", "first_trials.0"),
        ("min_p_correct = [1.2]", "min_p_correct.0"),
        ('[[leave_out]]\nreason = "x"', "names no option"),
        ('[[leave_out]]\nmodel = "lmm"', "leave_out.0.reason is missing"),
        (
            '[[leave_out]]\nreason = "x"\nfirst_trials = "3"',
            r"leave_out\.0\.first_trials: '3' is no option of the grid; there are as_set, 0, 1$",
        ),
        (
            '[[leave_out]]\nreason = "x"\ntrimming = "sd_4"',
            r"leave_out\.0\.trimming: 'sd_4' is no option of the grid; did you mean sd_3\?",
        ),
        (
            'transforms = ["log"]\n[[leave_out]]\nreason = "x"\ntransform = "median"',
            r"leave_out\.0\.transform: 'median' is no option of the grid; there are log$",
        ),
        ("[permutation]\nn = -1", "permutation.n"),
    ],
)
def test_a_faulty_grid_is_refused_in_one_line(tmp_path, text, message):
    file = tmp_path / "multiverse.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as refused:
        load_settings(file, MultiverseGrid)
    assert "\n" not in str(refused.value)


def test_the_sign_of_an_unknown_contrast_is_refused(plain):
    grid = as_grid(expected_sign={"exclusion - driect": "positive"})
    with pytest.raises(ConfigError, match=r"did you mean exclusion - direct\?"):
        run_multiverse(plain, AnalysisSettings(), grid)


def test_a_grid_without_any_possible_universe_is_refused(plain):
    with pytest.raises(ConfigError, match="no universe that can be made"):
        run_multiverse(plain, AnalysisSettings(), as_grid(models=["lmm"], transforms=["median"]))


def test_a_written_grid_reads_back_as_itself(tmp_path):
    file = tmp_path / "multiverse.toml"
    rule = {"reason": 'odd "one"', "first_trials": "1", "model": "paired_t"}
    odd = as_grid(leave_out=[rule, rule], expected_sign={"a - b": "negative"})
    for grid in (MultiverseGrid(), odd):
        file.write_text(grid_toml(grid), encoding="utf-8")
        assert load_settings(file, MultiverseGrid) == grid
    assert set(MultiverseGrid.model_fields) == set(read_toml(file))


def test_trimming_is_read_in_its_order():
    rule = read_trimming("sd_3+bounds_0.25_4+mad_2.5")
    assert rule.bounds == (0.25, 4.0)
    assert rule.steps == (SdTrim(step="sd", n_sd=3.0), MadTrim(step="mad", n_mad=2.5))


# --- the test of the curve ------------------------------------------------------------------------


def test_all_signs_of_one_universe_give_the_exact_test_of_its_mean():
    d = np.array([0.31, 0.52, -0.11, 0.44, 0.63, 0.2, 0.35])
    test = curve_test(d[None], alpha=0.05, n_permutations=1000, rng=np.random.default_rng(0))
    signs = np.array(list(product((1, -1), repeat=7)))
    means = np.abs((signs * d).mean(axis=1))
    assert (test.exact, test.n_permutations) == (True, 128)
    assert test.median_p == (means >= abs(d.mean()) - 1e-12).mean()
    assert test.mean_z_p == test.median_p
    assert test.median_effect == pytest.approx(d.mean() / d.std(ddof=1))
    p = stats.ttest_1samp(d, 0).pvalue
    assert test.mean_z == pytest.approx(stats.norm.isf(p / 2))
    assert test.p_significant == 1.0
    assert test.p_significant_p == (stats.ttest_1samp(signs * d, 0, axis=1).pvalue < 0.05).mean()


def test_random_signs_come_near_to_all_signs():
    rng = np.random.default_rng(5)
    d = rng.normal(0.25, 1, (1, 14)) + rng.normal(0, 0.3, (20, 14))
    d[3, 2] = np.nan
    exact = curve_test(d, alpha=0.05, n_permutations=2**14, rng=rng)
    drawn = curve_test(d, alpha=0.05, n_permutations=8000, rng=rng)
    assert (exact.exact, drawn.exact) == (True, False)
    for name in ("median_p", "mean_z_p", "p_significant_p"):
        p = getattr(exact, name)
        assert getattr(drawn, name) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 8000) + 1e-3)


def test_copies_of_a_universe_do_not_make_the_test_surer():
    rng = np.random.default_rng(8)
    d = rng.normal(0.4, 1, (1, 10))
    once, often = (
        curve_test(np.repeat(d, n, axis=0), alpha=0.05, n_permutations=2000, rng=rng)
        for n in (1, 20)
    )
    assert (once.median_p, once.mean_z_p) == (often.median_p, often.mean_z_p)


def test_the_curve_test_holds_its_alpha_under_the_null():
    rng = np.random.default_rng(11)
    p = []
    for _ in range(200):
        d = rng.normal(0, 1, (1, 12)) + rng.normal(0, 0.5, (15, 12))
        p.append(curve_test(d, alpha=0.05, n_permutations=199, rng=rng).median_p)
    # 99.9 % limits of 200 draws at .05.
    low, high = stats.binom.ppf([0.0005, 0.9995], 200, 0.05)
    assert low <= np.sum(np.array(p) <= 0.05) <= high


@pytest.mark.parametrize(
    ("d", "note"),
    [
        (np.full((3, 4), np.nan), "no universe has a paired test"),
        (np.full((2, 5), 0.3), "no universe has a paired test"),
        ([[0.1, np.nan, np.nan]], "no universe has a paired test"),
        (np.empty((0, 4)), "no universe has a paired test"),
    ],
)
def test_a_curve_without_tests_has_none_and_says_why(d, note):
    test = curve_test(d, alpha=0.05, n_permutations=50, rng=np.random.default_rng(0))
    assert test.note == note
    assert np.isnan([test.median_p, test.mean_z_p, test.p_significant_p]).all()


# --- data that are hard, and the same result twice ------------------------------------------------


def test_one_participant_has_estimates_but_no_tests(make_trials):
    rows = [{"rule": rule, "rt_s": 0.6 + 0.01 * k + 0.3 * (rule != "direct")}
            for rule, k in product(("direct", "exclusion"), range(8))]  # fmt: skip
    multiverse = run_multiverse(make_trials(rows), AnalysisSettings(), MultiverseGrid())
    universes = multiverse.universes
    paired = universes[universes["model"] == "paired_t"]
    assert paired["estimate"].notna().all()
    assert paired["p"].isna().all()
    assert set(paired["note"]) == {"one participant, so no interval"}
    assert universes.loc[universes["model"] == "lmm", "note"].str.contains("one participant").all()
    assert curve_figure(multiverse, 0, sources=("human",)) is None
    assert contrast_sentences(multiverse, 0) == ["No universe has a result."]
    assert summary_table(multiverse)["n_universes"].tolist() == [0]


def test_identical_differences_have_no_effect_and_a_note(make_trials):
    rows = [{"participant_id": f"p{n}", "rule": rule, "rt_s": 1.0 if rule == "direct" else 2.0}
            for n, rule, _ in product(range(3), ("direct", "exclusion"), range(4))]  # fmt: skip
    universes = run_multiverse(make_trials(rows), AnalysisSettings(), MultiverseGrid()).universes
    assert universes["effect"].isna().all()
    numbers = universes.select_dtypes("number").astype("Float64").fillna(0)
    assert np.isfinite(numbers.to_numpy(float)).all()
    assert (universes["note"] != "").all()


def test_all_wrong_leaves_nobody_and_says_so(make_trials):
    rows = [{"participant_id": f"p{n}", "rule": rule, "error_kind": "shape_capture"}
            for n, rule, _ in product(range(3), ("direct", "exclusion"), range(4))]  # fmt: skip
    universes = run_multiverse(make_trials(rows), AnalysisSettings(), PAIRED).universes
    assert universes["estimate"].isna().all()
    assert set(universes["note"]) == {"no participant"}
    as_set = universes[universes["as_set"]].iloc[0]
    assert (as_set["n_participants"], as_set["n_left_out"]) == (0, 3)
    assert json.loads(as_set["left_out"]) == ["p0", "p1", "p2"]


def test_one_rule_only_has_nothing_to_compare(make_trials):
    trials = make_trials([{"participant_id": f"p{n}", "rt_s": 0.5 + 0.1 * n} for n in range(4)])
    with pytest.raises(DatasetError, match="there is no planned contrast"):
        run_multiverse(trials, AnalysisSettings(), PAIRED)


def test_an_empty_table_is_refused(make_trials):
    with pytest.raises(DatasetError, match="nothing to analyse"):
        run_multiverse(make_trials([]), AnalysisSettings(), PAIRED)


def test_a_participant_without_a_cell_is_left_out_and_named(plain):
    gone = (plain["participant_id"] == "003") & (plain["rule"] == "exclusion")
    grid = as_grid(min_p_correct=[])
    universes = run_multiverse(plain[~gone], AnalysisSettings(), grid).universes
    assert {tuple(json.loads(text)) for text in universes["left_out"]} == {("003",)}
    assert set(universes["n_participants"]) == {7}


def test_the_order_of_rows_and_a_second_run_make_no_difference(plain):
    settings, progress = AnalysisSettings(), []
    first = run_multiverse(plain, settings, PAIRED, on_progress=lambda *n: progress.append(n))
    before = plain.copy()
    again = run_multiverse(plain, settings, PAIRED)
    pd.testing.assert_frame_equal(first.universes, again.universes)
    assert first.curve_tests == again.curve_tests
    pd.testing.assert_frame_equal(plain, before)
    assert progress == [(n, len(progress)) for n in range(1, len(progress) + 1)]
    shuffled = plain.sample(frac=1, random_state=np.random.RandomState(1))
    other = run_multiverse(shuffled, settings, PAIRED).universes
    for name in ("estimate", "p", "n_trials"):
        assert other[name].to_numpy(float) == pytest.approx(first.universes[name].to_numpy(float))


def test_options_are_summed_up_over_the_others(plain):
    multiverse = run_multiverse(plain, AnalysisSettings(), PAIRED)
    options = option_table(multiverse)
    universes = multiverse.universes
    assert set(options["decision"]) <= set(universes.columns)
    logs = universes[universes["transform"] == "log"]["effect"].astype(float)
    row = options[options["option"] == "log"].iloc[0]
    assert row["n_universes"] == len(logs)
    assert row["effect_median"] == pytest.approx(logs.median())
    assert (row["effect_min"], row["effect_max"]) == (logs.min(), logs.max())
    assert "model" not in set(options["decision"])  # There is one.


def test_a_stated_sign_comes_before_that_of_the_settings(plain):
    grid = PAIRED.model_copy(update={"expected_sign": {"exclusion - direct": "negative"}})
    summary = summary_table(run_multiverse(plain, AnalysisSettings(), grid)).iloc[0]
    assert (summary["expected_sign"], summary["expected_from"]) == ("negative", "the grid")
    assert (summary["p_expected_sign"], summary["p_significant_opposite"]) == (0.0, 1.0)


# --- figure, folder, command ----------------------------------------------------------------------


def test_the_curve_is_in_order_and_marks_the_analysis_as_set(plain):
    multiverse = run_multiverse(plain, AnalysisSettings(), PAIRED)
    figure = curve_figure(multiverse, 0, sources=("simulated",))
    assert figure is not None
    curve, choices = figure.axes
    drawn = [line for line in curve.lines if line.get_marker() == "o"]
    effects = np.concatenate([line.get_ydata() for line in drawn])
    at = np.concatenate([line.get_xdata() for line in drawn])
    assert (np.diff(effects[np.argsort(at)]) >= 0).all()
    assert len(effects) == len(multiverse.universes)
    (primary,) = [line for line in curve.lines if line.get_marker() == "D"]
    own = multiverse.universes[multiverse.universes["primary"]]["effect"].astype(float)
    assert primary.get_ydata().tolist() == own.tolist()
    labels = [label.get_text() for label in choices.get_yticklabels()]
    assert {"trimming of RTs", "2.5 SD", "log RT", "0.2 to 10 s (as set)"} <= set(labels)
    assert figure.get_suptitle() == "simulated data, not people"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A small simulated study on disk."""
    folder = tmp_path_factory.mktemp("multiverse") / "dataset"
    study = ROOT / "experiments" / "classic-grab"
    simulate_study(open_study(study), folder, n_participants=3, seed=4)
    with open(folder / "analysis.toml", "a", encoding="utf-8") as file:
        file.write('\n[[contrasts]]\nname = "rule"\nlevel = "exclusion"\nreference = "direct"\n')
    return folder


def test_the_folder_is_whole_and_replaced_only_by_its_own_kind(tmp_path, dataset):
    out = tmp_path / "out"
    grid = as_grid(trimming=["sd_2"], first_trials=[], min_p_correct=[])
    result = multiverse_of_dataset(dataset, out=out, grid=grid)
    record = json.loads((out / "multiverse.json").read_text(encoding="utf-8"))
    files = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert record["files"] == files
    assert record["settings_sha256"] == result.multiverse.settings.sha256
    assert record["grid_toml"] == grid_toml(grid)
    assert load_settings(out / "multiverse.toml", MultiverseGrid) == grid
    table = pd.read_csv(out / "multiverse.csv")
    assert len(table) == len(record["universes"]) == len(result.multiverse.universes)
    assert set(table["source"]) == {"simulated"}
    page = result.page.read_text(encoding="utf-8")
    assert "SIMULATED DATA, NOT PEOPLE" in page
    assert not any(f'{name}="http' in page for name in ("src", "href"))
    assert multiverse_text(result).splitlines()[0] == "(simulated data, not people)"
    multiverse_of_dataset(dataset, out=out, grid=grid)
    (out / "mine.txt").write_text("kept", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"also holds mine\.txt, which would be lost"):
        multiverse_of_dataset(dataset, out=out, grid=grid)
    assert (out / "mine.txt").read_text(encoding="utf-8") == "kept"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_an_analysis_is_not_written_over(tmp_path, dataset):
    out = tmp_path / "out"
    out.mkdir()
    (out / "analysis.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DatasetError, match="it holds no earlier multiverse"):
        multiverse_of_dataset(dataset, out=out, grid=PAIRED)


def test_the_command_prints_its_grid_and_refuses_a_faulty_one(tmp_path, capsys):
    with pytest.raises(SystemExit) as done:
        main(["multiverse", "--show-grid"])
    assert not done.value.code
    assert capsys.readouterr().out == grid_toml(MultiverseGrid())
    file = tmp_path / "g.toml"
    file.write_text("modles = []", encoding="utf-8")
    with pytest.raises(SystemExit) as done:
        main(["multiverse", str(tmp_path), "--out", str(tmp_path / "o"), "--grid", str(file)])
    assert done.value.code == 2
    assert "did you mean models?" in capsys.readouterr().err
