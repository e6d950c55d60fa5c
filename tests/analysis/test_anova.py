from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM

from ghostblitz_analysis.inference import (
    anova_table,
    assess_sphericity,
    repeated_measures_anova,
)
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import DatasetError

RT_ONLY = AnalysisSettings(measures=("mean_rt_s",))


def cells_of(scores: dict[str, dict[tuple[str, ...], float]], factors: tuple[str, ...]):
    """Cells of participants by their levels, with the same scores in every measure."""
    rows = [
        {"participant_id": person, **dict(zip(factors, levels, strict=True)), "mean_rt_s": score}
        for person, cells in scores.items()
        for levels, score in cells.items()
    ]
    table = pd.DataFrame(rows, columns=["participant_id", *factors, "mean_rt_s"])
    table = table.astype(dict.fromkeys(["participant_id", *factors], "string"))
    score = table["mean_rt_s"].astype("Float64")
    return table.assign(mean_rt_s=score, p_correct=score)


def drawn(rng, levels: dict[str, tuple[str, ...]], n: int):
    return cells_of(
        {
            f"p{i:02d}": {cell: float(rng.normal()) for cell in product(*levels.values())}
            for i in range(n)
        },
        tuple(levels),
    )


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2)])
def test_f_and_p_are_those_of_statsmodels(shape):
    scores = np.random.default_rng(1).normal(size=(9, *shape))
    scores += np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    factors = ("a", "b", "c")[: len(shape)]
    long = pd.DataFrame(
        [(*index, value) for index, value in np.ndenumerate(scores)],
        columns=["person", *factors, "score"],
    )
    expected = AnovaRM(long, "score", "person", within=list(factors)).fit().anova_table
    found = {":".join(e.factors): e for e in repeated_measures_anova(scores, factors=factors)}
    assert set(found) == set(expected.index)
    for name, row in expected.iterrows():
        effect = found[name]
        assert (effect.df1, effect.df2) == (row["Num DF"], row["Den DF"])
        assert effect.f == pytest.approx(row["F Value"], rel=1e-9)
        assert effect.p == pytest.approx(row["Pr > F"], rel=1e-9)


def test_two_levels_give_the_square_of_the_paired_t_and_need_no_sphericity():
    x = np.random.default_rng(2).normal([0.0, 0.8], size=(11, 2))
    (effect,) = repeated_measures_anova(x, factors=("rule",))
    test = stats.ttest_rel(x[:, 1], x[:, 0])
    assert effect.f == pytest.approx(test.statistic**2)
    assert effect.p == effect.p_gg == effect.p_hf == pytest.approx(test.pvalue)
    assert (effect.sphericity.epsilon_gg, effect.sphericity.epsilon_hf) == (1, 1)
    assert np.isnan(effect.sphericity.mauchly_w)
    assert effect.note == ""


def test_sums_of_squares_add_up_and_give_the_eta_squares():
    x = np.random.default_rng(3).normal(size=(7, 2, 3))
    effects = repeated_measures_anova(x, factors=("a", "b"))
    people = 6 * ((x.mean(axis=(1, 2)) - x.mean()) ** 2).sum()
    total = ((x - x.mean()) ** 2).sum()
    errors = people + sum(e.ss_error for e in effects)
    assert sum(e.ss_effect for e in effects) + errors == pytest.approx(total)
    for effect in effects:
        assert effect.generalized_eta2 == pytest.approx(
            effect.ss_effect / (effect.ss_effect + errors)
        )
        assert effect.partial_eta2 == pytest.approx(
            effect.f * effect.df1 / (effect.f * effect.df1 + effect.df2)
        )


def test_what_participants_have_in_all_cells_moves_only_generalised_eta_squared():
    x = np.random.default_rng(4).normal(size=(8, 2, 3))
    shifted = x + np.linspace(0, 9, 8)[:, None, None]
    for before, after in zip(
        repeated_measures_anova(x, factors=("a", "b")),
        repeated_measures_anova(shifted, factors=("a", "b")),
        strict=True,
    ):
        assert after.f == pytest.approx(before.f)
        assert after.p_gg == pytest.approx(before.p_gg)
        assert after.generalized_eta2 < before.generalized_eta2


def test_the_order_of_levels_and_participants_plays_no_part():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(8, 2, 4))
    turned = x[rng.permutation(8)][:, ::-1][:, :, [2, 0, 3, 1]]
    for before, after in zip(
        repeated_measures_anova(x, factors=("a", "b")),
        repeated_measures_anova(turned, factors=("a", "b")),
        strict=True,
    ):
        assert after.f == pytest.approx(before.f)
        assert after.sphericity.mauchly_p == pytest.approx(before.sphericity.mauchly_p, nan_ok=True)
        assert after.p_hf == pytest.approx(before.p_hf)


def with_covariance(covariance: np.ndarray, n: int) -> np.ndarray:
    """Scores whose sample covariance is exactly this."""
    raw = np.random.default_rng(6).normal(size=(n, len(covariance)))
    raw -= raw.mean(axis=0)
    white = raw @ np.linalg.inv(np.linalg.cholesky(np.cov(raw.T))).T
    return white @ np.linalg.cholesky(covariance).T


def test_sphericity_itself_has_epsilons_of_one():
    result = assess_sphericity(with_covariance(2.5 * np.eye(3), 10))
    assert result.epsilon_gg == pytest.approx(1)
    assert result.epsilon_hf == 1
    assert result.mauchly_w == pytest.approx(1)
    assert result.mauchly_p == pytest.approx(1)


def test_epsilons_are_those_of_the_covariances():
    covariance = np.diag([4.0, 1.0, 1.0])
    result = assess_sphericity(with_covariance(covariance, 12))
    gg = 6**2 / (3 * (16 + 1 + 1))
    assert result.epsilon_gg == pytest.approx(gg)
    assert result.epsilon_hf == pytest.approx((12 * 3 * gg - 2) / (3 * (11 - 3 * gg)))
    assert result.mauchly_w == pytest.approx(4 / 2**3)


def test_one_contrast_that_varies_alone_has_the_lowest_epsilon():
    x = np.outer([0.1, 0.7, 0.2, 0.9, 0.4], [1.0, 2.0, -1.0])
    result = assess_sphericity(x)
    assert result.epsilon_gg == pytest.approx(1 / 3)
    assert np.isnan([result.mauchly_w, result.mauchly_p]).all()


def test_no_participants_more_than_contrasts_leave_no_mauchly_test_and_say_so():
    x = np.random.default_rng(7).normal(size=(3, 4))
    (effect,) = repeated_measures_anova(x, factors=("rule",))
    assert np.isnan(effect.sphericity.mauchly_w)
    assert "no Mauchly test" in effect.note
    assert 1 / 3 <= effect.sphericity.epsilon_gg <= 1
    assert np.isfinite(effect.p_gg)


def test_two_participants_have_no_huynh_feldt_epsilon():
    (effect,) = repeated_measures_anova([[1.0, 2.0, 4.0], [1.5, 2.0, 3.0]], factors=("rule",))
    assert np.isnan(effect.sphericity.epsilon_hf)
    assert np.isnan(effect.p_hf)
    assert np.isfinite(effect.p_gg)
    assert "Huynh" in effect.note


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        (np.empty((0, 3)), "no participant, so no test"),
        ([[1.0, 2.0, 3.0]], "one participant, so no test"),
        ([[1.0, 2.0, 3.0], [1.5, 2.5, 3.5]], "same effect"),
        (np.full((4, 3), 0.1), "same effect"),
    ],
)
def test_an_effect_without_error_has_no_test_and_says_why(scores, note):
    (effect,) = repeated_measures_anova(scores, factors=("rule",))
    assert np.isnan([effect.f, effect.p, effect.p_gg, effect.partial_eta2]).all()
    assert note in effect.note


@pytest.mark.parametrize(
    ("scores", "factors"),
    [
        (np.ones((3, 1)), ("rule",)),
        (np.ones((3, 2)), ("rule", "mode")),
        (np.ones(3), ()),
        ([[1.0, np.nan], [1.0, 2.0]], ("rule",)),
    ],
)
def test_what_is_no_complete_design_is_refused(scores, factors):
    with pytest.raises(ValueError, match="no complete design"):
        repeated_measures_anova(scores, factors=factors)


LEVELS = {"rule": ("direct", "exclusion"), "block_kind": ("pure", "mixed")}


def test_the_table_has_main_effects_and_the_interaction():
    cells = drawn(np.random.default_rng(8), LEVELS, 6)
    table = anova_table(cells, factors=("rule", "block_kind"), settings=RT_ONLY)
    assert table["effect"].tolist() == ["rule", "block_kind", "rule x block_kind"]
    assert table["mode"].isna().all()
    wide = cells.pivot(
        index="participant_id", columns=["rule", "block_kind"], values="mean_rt_s"
    ).astype(float)
    difference = wide["exclusion"] - wide["direct"]
    tests = [
        stats.ttest_1samp(difference.mean(axis=1), 0),
        stats.ttest_1samp(difference["mixed"] - difference["pure"], 0),
    ]
    assert table["f"].iloc[[0, 2]].tolist() == pytest.approx([t.statistic**2 for t in tests])
    assert table["p"].iloc[[0, 2]].tolist() == pytest.approx([t.pvalue for t in tests])
    assert table["significant"].tolist() == [p < 0.05 for p in table["p_gg"]]


def test_corrected_degrees_of_freedom_give_the_p_that_decides():
    levels = {"rule": ("direct", "exclusion", "mirror", "time")}
    cells = drawn(np.random.default_rng(17), levels, 6)
    row = anova_table(cells, factors=("rule",), settings=RT_ONLY).iloc[0]
    for name in ("gg", "hf"):
        df = (row[f"df1_{name}"], row[f"df2_{name}"])
        assert df == pytest.approx((3 * row[f"epsilon_{name}"], 15 * row[f"epsilon_{name}"]))
        assert row[f"p_{name}"] == pytest.approx(stats.f.sf(row["f"], *df))
    p, p_gg = row["p"], row["p_gg"]
    assert p != p_gg
    between = AnalysisSettings(measures=("mean_rt_s",), alpha=(p + p_gg) / 2)
    table = anova_table(cells, factors=("rule",), settings=between)
    assert table["significant"].tolist() == [p_gg < p]


def test_modes_have_an_analysis_each():
    levels = {**LEVELS, "mode": ("grab", "shout")}
    cells = drawn(np.random.default_rng(9), levels, 5)
    both = anova_table(cells, factors=tuple(levels), settings=RT_ONLY)
    assert both["mode"].tolist() == ["grab"] * 3 + ["shout"] * 3
    assert not both["effect"].str.contains("mode").any()
    for mode, table in both.groupby("mode"):
        alone = anova_table(
            cells[cells["mode"] == mode], factors=("rule", "block_kind"), settings=RT_ONLY
        )
        assert table["f"].tolist() == pytest.approx(alone["f"].tolist())


def test_a_participant_without_a_score_is_left_out_by_name_in_that_mode_alone():
    levels = {"rule": LEVELS["rule"], "mode": ("grab", "shout")}
    cells = drawn(np.random.default_rng(10), levels, 4)
    lost = (cells["participant_id"] == "p02") & (cells["mode"] == "shout")
    lost &= cells["rule"] == "exclusion"
    cells.loc[lost, "mean_rt_s"] = pd.NA
    table = anova_table(cells, factors=tuple(levels), settings=RT_ONLY).set_index("mode")
    assert table["n_participants"].to_dict() == {"grab": 4, "shout": 3}
    assert json.loads(table.loc["shout", "left_out"]) == ["p02"]
    assert json.loads(table.loc["grab", "left_out"]) == []


def test_a_rule_that_one_block_kind_lacks_is_left_out_by_name():
    levels = {"rule": ("direct", "exclusion", "mirror"), "block_kind": ("pure", "mixed")}
    cells = drawn(np.random.default_rng(11), levels, 5)
    cells = cells[(cells["rule"] != "mirror") | (cells["block_kind"] == "mixed")]
    table = anova_table(cells, factors=tuple(levels), settings=RT_ONLY)
    assert table["df1"].tolist() == [1, 1, 1]
    expected = anova_table(
        cells[cells["rule"] != "mirror"], factors=tuple(levels), settings=RT_ONLY
    )
    assert table["f"].tolist() == expected["f"].tolist()
    assert (
        table["note"].tolist()
        == ["mirror is left out, since nobody was given mirror cards, pure blocks"] * 3
    )


def test_factors_that_are_not_crossed_have_no_test_and_the_missing_cells_are_named():
    people = ("a", "b", "c")
    cells = cells_of(
        {p: {("direct", "pure"): 1.0, ("exclusion", "mixed"): 2.0} for p in people},
        ("rule", "block_kind"),
    )
    table = anova_table(cells, factors=("rule", "block_kind"), settings=RT_ONLY)
    assert len(table) == 3
    assert table["f"].isna().all()
    assert json.loads(table.loc[0, "left_out"]) == list(people)
    assert "direct cards, mixed blocks or exclusion cards, pure blocks" in table.loc[0, "note"]


def test_a_factor_with_one_level_in_a_mode_falls_away_there():
    cells = cells_of(
        {
            p: {("direct", "grab"): s, ("exclusion", "grab"): s + s**2, ("direct", "shout"): 1.0}
            for p, s in {"a": 1.0, "b": 1.5, "c": 1.7}.items()
        },
        ("rule", "mode"),
    )
    table = anova_table(cells, factors=("rule", "mode"), settings=RT_ONLY)
    assert table[["mode", "effect"]].to_numpy().tolist() == [["grab", "rule"]]


def test_proportions_come_with_a_warning_in_words():
    cells = drawn(np.random.default_rng(12), {"rule": LEVELS["rule"]}, 4)
    settings = AnalysisSettings(measures=("mean_rt_s", "p_correct"))
    table = anova_table(cells, factors=("rule",), settings=settings).set_index("measure")
    assert "proportions" in table.loc["p_correct", "note"]
    assert table.loc["mean_rt_s", "note"] == ""


def test_a_cell_that_stands_twice_is_refused():
    cells = drawn(np.random.default_rng(13), {"rule": LEVELS["rule"]}, 2)
    twice = pd.concat([cells, cells.iloc[[1]]])
    with pytest.raises(DatasetError, match="participant p00 twice in the cell exclusion"):
        anova_table(twice, factors=("rule",), settings=RT_ONLY)


def test_no_participant_at_all_gives_an_empty_table_with_all_columns():
    cells = cells_of({}, ("rule", "block_kind", "mode"))
    table = anova_table(cells, factors=("rule", "block_kind", "mode"), settings=RT_ONLY)
    assert table.empty
    assert {"effect", "f", "p_gg", "generalized_eta2", "left_out"} <= set(table.columns)


@pytest.mark.slow
def test_without_an_effect_one_test_in_twenty_is_significant():
    rng = np.random.default_rng(14)
    n_runs, hits, corrected, uncorrected = 2000, np.zeros(3), 0, 0
    # Far from spherical: one level varies much more than the others.
    spread = np.array([1.0, 1.0, 1.0, 6.0])
    for _ in range(n_runs):
        people = rng.normal(size=(12, 1, 1))
        effects = repeated_measures_anova(people + rng.normal(size=(12, 2, 3)), factors=("a", "b"))
        hits += [effect.p < 0.05 for effect in effects]
        (effect,) = repeated_measures_anova(rng.normal(size=(12, 4)) * spread, factors=("a",))
        corrected += effect.p_gg < 0.05
        uncorrected += effect.p < 0.05
    low, high = stats.binom.ppf([0.0005, 0.9995], n_runs, 0.05)
    assert ((hits >= low) & (hits <= high)).all()
    assert uncorrected > high
    # Box's correction is approximate.
    assert corrected / n_runs == pytest.approx(0.05, abs=0.025)
