from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.inference import (
    cohens_dav,
    cohens_dz,
    contrast_table,
    correct_p_values,
    jzs_log_bf10,
    signed_rank_test,
)
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.settings import AnalysisSettings, ContrastSettings
from ghostblitz_task.errors import DatasetError

pytestmark = pytest.mark.slow

MEASURES = ("mean_log_rt", "mean_rt_s", "median_rt_s", "p_correct")
RULES, KINDS, MODES = ("direct", "exclusion"), ("pure", "mixed"), ("grab", "shout")


def cells_of(levels: dict[str, tuple[str, ...]], scores: np.ndarray) -> pd.DataFrame:
    """Participants' cells, the last factor varying fastest, the same scores in every measure."""
    combinations = list(product(*levels.values()))
    rows = [
        (f"p{person:02d}", *cell, scores[person, number])
        for person in range(len(scores))
        for number, cell in enumerate(combinations)
    ]
    keys = ["participant_id", *levels]
    table = pd.DataFrame(rows, columns=[*keys, "score"]).astype(dict.fromkeys(keys, "string"))
    score = table.pop("score").astype("Float64")
    return table.assign(**dict.fromkeys(MEASURES, score))


def drawn(seed: int, n: int = 9, **levels: tuple[str, ...]) -> tuple[pd.DataFrame, np.ndarray]:
    size = int(np.prod([len(found) for found in levels.values()]))
    scores = np.random.default_rng(seed).normal(0.5, 0.2, size=(n, size))
    return cells_of(levels, scores), scores.reshape(n, *(len(found) for found in levels.values()))


def settings_of(*contrasts: dict[str, object], **others: object) -> AnalysisSettings:
    table = {"measures": ("mean_log_rt",), "contrasts": contrasts, **others}
    return AnalysisSettings.model_validate(table)


def test_a_row_holds_the_tests_of_the_paired_differences():
    cells, scores = drawn(1, rule=RULES)
    row = contrast_table(
        cells, factors=("rule",), settings=settings_of(confidence=0.9, bayes_r_scale=0.5)
    ).iloc[0]
    direct, exclusion = scores.T
    difference = exclusion - direct
    test = stats.ttest_rel(exclusion, direct)
    low, high = test.confidence_interval(0.9)
    assert (row["name"], row["of"], row["level"], row["reference"]) == (
        "exclusion - direct", "rule", "exclusion", "direct",
    )  # fmt: skip
    assert row["within"] is pd.NA
    assert row["mode"] is pd.NA
    assert [row["estimate"], row["estimate_low"], row["estimate_high"]] == pytest.approx(
        [difference.mean(), low, high]
    )
    assert [row["ratio"], row["ratio_low"], row["ratio_high"]] == pytest.approx(
        np.exp([difference.mean(), low, high]).tolist()
    )
    assert [row["sd"], row["t"], row["df"], row["p"]] == pytest.approx(
        [difference.std(ddof=1), test.statistic, 8, test.pvalue]
    )
    dz, dav = cohens_dz(difference, confidence=0.9), cohens_dav(exclusion, direct, confidence=0.9)
    for stem, effect in (("z", dz), ("av", dav)):
        assert [row[f"d{stem}{end}"] for end in ("", "_low", "_high")] == pytest.approx(
            [effect.d, effect.low, effect.high]
        )
        assert [row[f"g{stem}{end}"] for end in ("", "_low", "_high")] == pytest.approx(
            [effect.g, effect.g_low, effect.g_high]
        )
    ranks = signed_rank_test(difference)
    assert (row["wilcoxon_p"], row["rank_biserial"]) == (ranks.p, ranks.rank_biserial)
    assert (row["n_nonzero"], row["wilcoxon_exact"]) == (9, True)
    log_bf10 = jzs_log_bf10(test.statistic, n=9, r_scale=0.5)
    assert row["log_bf10"] == pytest.approx(log_bf10)
    assert [row["bf10"], row["bf01"]] == pytest.approx(np.exp([log_bf10, -log_bf10]).tolist())
    assert row["bayes_r_scale"] == 0.5
    assert row["bayes_factor"].startswith("BF10 = ")
    assert row["note"] == ""


def test_only_log_rt_has_a_ratio_and_only_proportions_a_warning():
    cells, _ = drawn(2, rule=RULES)
    table = contrast_table(
        cells, factors=("rule",), settings=AnalysisSettings(measures=MEASURES)
    ).set_index("measure")
    assert table.index.tolist() == list(MEASURES)
    assert table["ratio"].notna().tolist() == [True, False, False, False]
    assert table["note"].str.contains("proportions").tolist() == [False, False, False, True]


def test_by_default_rules_are_compared_in_each_kind_of_block_and_between_them():
    cells, scores = drawn(3, rule=("direct", "exclusion", "mirror"), block_kind=KINDS)
    table = contrast_table(cells, factors=("rule", "block_kind"), settings=settings_of())
    assert table["name"].tolist() == [
        f"{rule} - direct, {where}"
        for rule in ("exclusion", "mirror")
        for where in ("pure blocks", "mixed blocks", "mixed blocks against pure blocks")
    ]
    pure, mixed = (scores[:, 1] - scores[:, 0]).T
    assert table["estimate"].tolist()[:3] == pytest.approx(
        [pure.mean(), mixed.mean(), (mixed - pure).mean()]
    )
    assert table["t"].iloc[2] == pytest.approx(stats.ttest_rel(mixed, pure).statistic)
    assert json.loads(table["within"].iloc[2]) == {"block_kind": "mixed"}
    assert json.loads(table["against"].iloc[2]) == {"block_kind": "pure"}
    assert table["dav"].isna().tolist() == [False, False, True] * 2
    assert table["note"].iloc[2] == "an interaction is not of two conditions, so it has no dav"


def test_a_mode_left_open_gives_a_contrast_per_mode_and_never_their_average():
    cells, scores = drawn(4, rule=RULES, block_kind=KINDS, mode=MODES)
    open_kind = {"name": "rule", "level": "exclusion", "reference": "direct"}
    table = contrast_table(
        cells, factors=("rule", "block_kind", "mode"), settings=settings_of(open_kind)
    )
    assert table["mode"].tolist() == ["grab", "shout"]
    differences = (scores[:, 1] - scores[:, 0]).mean(axis=1)
    assert table["estimate"].tolist() == pytest.approx(differences.mean(axis=0).tolist())
    assert table["sd"].tolist() == pytest.approx(differences.std(axis=0, ddof=1).tolist())
    by_default = contrast_table(
        cells, factors=("rule", "block_kind", "mode"), settings=settings_of()
    )
    assert by_default["mode"].tolist() == ["grab", "shout"] * 3


def test_a_mode_that_is_named_is_the_only_one():
    cells, scores = drawn(5, rule=RULES, mode=MODES)
    stated = [
        {"name": "in shouts", "level": "exclusion", "reference": "direct",
         "within": {"mode": "shout"}},
        {"name": "modes differ", "level": "exclusion", "reference": "direct",
         "within": {"mode": "shout"}, "against": {"mode": "grab"}},
        {"name": "shouting", "of": "mode", "level": "shout", "reference": "grab",
         "within": {"rule": "direct"}},
    ]  # fmt: skip
    table = contrast_table(cells, factors=("rule", "mode"), settings=settings_of(*stated))
    assert table["mode"].fillna("").tolist() == ["shout", "", ""]
    grab, shout = (scores[:, 1] - scores[:, 0]).T
    shouting = scores[:, 0, 1] - scores[:, 0, 0]
    assert table["estimate"].tolist() == pytest.approx(
        [shout.mean(), (shout - grab).mean(), shouting.mean()]
    )


def test_an_average_takes_only_places_where_both_sides_were_met_and_names_the_others():
    cells, _ = drawn(6, rule=("direct", "mirror"), block_kind=KINDS)
    cells = cells[(cells["rule"] == "direct") | (cells["block_kind"] == "mixed")]
    stated = {"name": "mirror", "level": "mirror", "reference": "direct"}
    row = contrast_table(cells, factors=("rule", "block_kind"), settings=settings_of(stated)).iloc[
        0
    ]
    within = {**stated, "within": {"block_kind": "mixed"}}
    expected = contrast_table(
        cells, factors=("rule", "block_kind"), settings=settings_of(within)
    ).iloc[0]
    assert row["estimate"] == expected["estimate"]
    assert row["n_left_out"] == 0
    assert row["note"] == "the average leaves out pure blocks, where a side was never met"


def test_a_cell_that_nobody_has_leaves_a_row_without_values():
    cells, _ = drawn(7, n=3, rule=RULES, block_kind=KINDS)
    cells = cells[(cells["rule"] == "direct") | (cells["block_kind"] == "mixed")]
    stated = {"name": "x", "level": "exclusion", "reference": "direct",
              "within": {"block_kind": "pure"}}  # fmt: skip
    row = contrast_table(cells, factors=("rule", "block_kind"), settings=settings_of(stated)).iloc[
        0
    ]
    assert (row["n_participants"], row["n_left_out"]) == (0, 3)
    assert row["estimate"] is pd.NA
    assert row["significant"] is pd.NA
    sought = "exclusion cards, pure blocks and direct cards, pure blocks"
    assert f"nobody was given both {sought}" in row["note"]


def test_who_lacks_a_cell_that_is_needed_is_left_out_by_name():
    cells, scores = drawn(8, n=5, rule=RULES, block_kind=KINDS)
    lost = (cells["participant_id"] == "p03") & (cells["block_kind"] == "pure")
    cells.loc[lost & (cells["rule"] == "direct"), "mean_log_rt"] = pd.NA
    table = contrast_table(cells, factors=("rule", "block_kind"), settings=settings_of())
    assert table["n_participants"].tolist() == [4, 5, 4]
    assert [json.loads(names) for names in table["left_out"]] == [["p03"], [], ["p03"]]
    kept = np.delete(scores, 3, axis=0)
    assert table["estimate"].iloc[0] == pytest.approx((kept[:, 1, 0] - kept[:, 0, 0]).mean())


def test_p_is_corrected_over_the_contrasts_of_one_measure():
    cells, _ = drawn(9, rule=("direct", "exclusion", "mirror"), mode=MODES)
    settings = AnalysisSettings(measures=("mean_log_rt", "mean_rt_s"), alpha=0.3)
    table = contrast_table(cells, factors=("rule", "mode"), settings=settings)
    assert len(table) == 8
    for _, of_measure in table.groupby("measure"):
        p = of_measure["p"].to_numpy(dtype=float)
        expected = correct_p_values(p, correction="holm")
        assert of_measure["p_corrected"].tolist() == pytest.approx(expected.tolist())
        assert of_measure["significant"].tolist() == (expected < 0.3).tolist()
    assert set(table["correction"]) == {"holm"}


def test_what_is_significant_is_below_the_alpha_of_the_settings():
    cells = cells_of(
        {"rule": RULES}, np.random.default_rng(22).normal([0.0, 0.7], 0.6, size=(9, 2))
    )
    p = contrast_table(cells, factors=("rule",), settings=settings_of())["p_corrected"].iloc[0]
    for alpha, significant in ((p * 0.99, False), (p * 1.01, True)):
        table = contrast_table(cells, factors=("rule",), settings=settings_of(alpha=alpha))
        assert table["significant"].tolist() == [significant]


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ({"level": "exclusoin", "reference": "direct"},
         "names the rule 'exclusoin', .* did you mean exclusion\\?; they have direct, exclusion;"),
        ({"level": "exclusion", "reference": "mirror"}, "names the rule 'mirror', "),
        ({"level": "exclusion", "reference": "direct", "within": {"block_kind": "mixed"}},
         "names block_kind, which is no factor of these data; they have rule"),
        ({"of": "mode", "level": "grab", "reference": "shout"}, "names mode, which is no factor"),
    ],
)  # fmt: skip
def test_a_level_or_factor_that_no_data_hold_is_refused(contrast, message):
    cells, _ = drawn(10, rule=RULES)
    with pytest.raises(DatasetError, match=message):
        contrast_table(cells, factors=("rule",), settings=settings_of({"name": "x", **contrast}))


@pytest.mark.parametrize("levels", [("direct",), ("exclusion", "mirror")])
def test_without_a_pair_of_rules_there_is_no_contrast_by_default(levels):
    cells, _ = drawn(11, rule=levels)
    table = contrast_table(cells, factors=("rule",), settings=AnalysisSettings())
    assert table.empty
    assert {"name", "estimate", "p_corrected", "bayes_factor"} <= set(table.columns)


def test_a_rule_that_never_shares_a_block_kind_with_direct_is_not_compared_by_default():
    cells, _ = drawn(12, rule=("direct", "exclusion", "mirror"), block_kind=KINDS)
    cells = cells[(cells["rule"] != "mirror") | (cells["block_kind"] == "mixed")]
    table = contrast_table(cells, factors=("rule", "block_kind"), settings=settings_of())
    assert table["name"].tolist() == [
        "exclusion - direct, pure blocks",
        "exclusion - direct, mixed blocks",
        "exclusion - direct, mixed blocks against pure blocks",
        "mirror - direct, mixed blocks",
    ]


def test_no_participant_at_all_gives_an_empty_table():
    cells, _ = drawn(13, rule=RULES, block_kind=KINDS, mode=MODES)
    table = contrast_table(
        cells.iloc[:0], factors=("rule", "block_kind", "mode"), settings=AnalysisSettings()
    )
    assert table.empty


def test_one_participant_has_an_estimate_alone():
    cells, scores = drawn(14, n=1, rule=RULES)
    row = contrast_table(cells, factors=("rule",), settings=settings_of()).iloc[0]
    assert row["estimate"] == pytest.approx(scores[0, 1] - scores[0, 0])
    missing = ["estimate_low", "ratio_low", "t", "p", "p_corrected", "significant", "dz", "dav"]
    assert row[[*missing, "log_bf10", "bf10", "bayes_factor"]].isna().all()
    assert row["note"] == "one participant, so no interval"


def test_two_participants_have_all_but_corrected_effects():
    cells, _ = drawn(15, n=2, rule=RULES)
    row = contrast_table(cells, factors=("rule",), settings=settings_of()).iloc[0]
    assert row[["t", "p", "dz", "dz_low", "bf10"]].notna().all()
    assert row[["gz", "gav"]].isna().all()
    assert "no Hedges' correction" in row["note"]


def test_equal_differences_have_no_test_and_equal_accuracies_no_interval():
    cells = cells_of({"rule": RULES}, np.array([[0.5, 1.0]] * 4))
    settings = AnalysisSettings(measures=("mean_rt_s", "p_correct"))
    table = contrast_table(cells, factors=("rule",), settings=settings).set_index("measure")
    assert table[["t", "p", "dz", "log_bf10"]].isna().all().all()
    assert table["note"].str.contains("same value").all()
    assert table["estimate_low"].isna().tolist() == [False, True]
    assert table["rank_biserial"].tolist() == [1, 1]


def test_two_participants_at_the_highest_confidence_have_no_ratio_interval():
    cells = cells_of({"rule": RULES}, np.array([[0.5, 1.0], [0.5, 2.0]]))
    row = contrast_table(
        cells, factors=("rule",), settings=settings_of(confidence=0.9999)
    ).iloc[0]  # fmt: skip
    assert row[["estimate", "estimate_low", "estimate_high", "ratio", "p"]].notna().all()
    assert row[["ratio_low", "ratio_high"]].isna().all()
    assert "too wide for floating-point numbers" in row["note"]


@pytest.mark.parametrize(
    ("contrast", "is_noted"),
    [
        ({"of": "mode", "level": "shout", "reference": "grab"}, True),
        ({"level": "exclusion", "reference": "direct", "within": {"mode": "shout"},
          "against": {"mode": "grab"}}, True),
        ({"level": "exclusion", "reference": "direct"}, False),
        ({"level": "exclusion", "reference": "direct", "within": {"mode": "shout"}}, False),
    ],
)  # fmt: skip
def test_a_comparison_of_modes_says_that_rules_and_targets_differ_too(contrast, is_noted):
    cells, _ = drawn(17, rule=RULES, mode=MODES)
    stated = settings_of({"name": "stated", **contrast})
    notes = contrast_table(cells, factors=("rule", "mode"), settings=stated)["note"]
    confounded = notes.str.contains("rulebook of Grab Or Shout .* rule and target")
    assert confounded.tolist() == [is_noted] * len(notes)


def test_the_note_on_proportions_prefers_no_test():
    cells, _ = drawn(18, rule=RULES)
    settings = settings_of(measures=("p_correct",))
    note = contrast_table(cells, factors=("rule",), settings=settings)["note"].iloc[0]
    assert "approximate" in note
    assert "models of errors over single trials are another view" in note
    # Which random effects that model has, the note of a contrast cannot know.
    assert "random" not in note
    assert "better" not in note


def test_what_rounding_leaves_of_no_difference_has_no_direction():
    scores = np.log(np.full((5, 2), 1.5))
    scores[:, 1] = np.exp(scores[:, 1]) / 1.5 * scores[:, 1] + 5e-18
    scores[:, 1] += np.spacing(scores[:, 1])
    assert (scores[:, 1] != scores[:, 0]).all()
    row = contrast_table(
        cells_of({"rule": RULES}, scores), factors=("rule",), settings=settings_of()
    ).iloc[0]
    assert (row["estimate"], row["estimate_low"], row["estimate_high"]) == (0, 0, 0)


def test_no_difference_at_all_is_no_evidence_of_anything():
    cells = cells_of({"rule": RULES}, np.full((5, 2), 1.0))
    row = contrast_table(cells, factors=("rule",), settings=settings_of()).iloc[0]
    assert row["estimate"] == 0
    assert row[["t", "p", "wilcoxon_p", "rank_biserial", "bf10"]].isna().all()
    assert "no difference but 0" in row["note"]


def test_an_effect_beyond_floating_point_keeps_its_log_bayes_factor():
    scores = np.random.default_rng(16).normal([0.0, 50.0], 0.01, size=(300, 2))
    row = contrast_table(
        cells_of({"rule": RULES}, scores), factors=("rule",),
        settings=settings_of(measures=("mean_rt_s",)),
    ).iloc[0]  # fmt: skip
    assert row["log_bf10"] > 710
    assert row[["bf10", "bf01"]].isna().all()
    assert "× 10^" in row["bayes_factor"]
    assert "see log_bf10" in row["note"]


def test_participants_come_in_any_order_and_the_table_stays_as_it_was():
    cells, _ = drawn(17, rule=RULES, block_kind=KINDS)
    before = cells.copy(deep=True)
    shuffled = cells.sample(frac=1, random_state=np.random.default_rng(18))
    settings = AnalysisSettings(measures=MEASURES)
    tables = [
        contrast_table(c, factors=("rule", "block_kind"), settings=settings)
        for c in (cells, shuffled)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)
    pd.testing.assert_frame_equal(cells, before)


def test_stated_contrasts_take_the_place_of_the_default_ones():
    cells, scores = drawn(19, rule=RULES, block_kind=KINDS)
    stated = ContrastSettings(
        name="mixing costs", of="block_kind", level="mixed", reference="pure",
        within={"rule": "direct"},
    )  # fmt: skip
    table = contrast_table(
        cells, factors=("rule", "block_kind"), settings=AnalysisSettings(contrasts=(stated,))
    )
    assert set(table["name"]) == {"mixing costs"}
    assert table["estimate"].iloc[0] == pytest.approx((scores[:, 0, 1] - scores[:, 0, 0]).mean())


def test_without_an_effect_one_test_in_twenty_is_significant():
    # With the functions that make a row's tests, since whole tables take long.
    rng = np.random.default_rng(20)
    n_runs, hits, ranks = 2000, 0, 0
    for difference in rng.normal(size=(n_runs, 10)):
        hits += mean_interval(difference, confidence=0.95).p < 0.05
        ranks += signed_rank_test(difference).p < 0.05
    low, high = stats.binom.ppf([0.0005, 0.9995], n_runs, 0.05)
    assert low <= hits <= high
    # Exact, so never too often; ranks are discrete, so a little less.
    assert low / 2 <= ranks <= high


def test_holm_lets_one_family_in_twenty_have_a_false_positive():
    rng = np.random.default_rng(21)
    n_runs, families = 600, 0
    scores = rng.normal(size=(n_runs, 10, 1)) + rng.normal(size=(n_runs, 10, 4))
    p = stats.ttest_1samp(scores[:, :, 1:] - scores[:, :, :1], 0, axis=1).pvalue
    # A correction never makes a p smaller, so that the others need none.
    for of_family in p[(p < 0.05).any(axis=1)]:
        families += (correct_p_values(of_family, correction="holm") < 0.05).any()
    assert families <= stats.binom.ppf(0.9995, n_runs, 0.05)
    assert (p < 0.05).any(axis=1).sum() > stats.binom.ppf(0.9995, n_runs, 0.05)
