"""What R makes of simulated scores (inference_values.R), and the shared reference values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.inference import (
    anova_table,
    bayes_factor,
    cohens_dav,
    cohens_dz,
    contrast_table,
    correct_p_values,
    jzs_log_bf10,
    signed_rank_test,
)
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.settings import AnalysisSettings

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
MAPPING = HERE.parents[1] / "data" / "mappings" / "styrnal2025-five-objects.toml"
R_VALUES = json.loads((HERE / "inference_values.json").read_text(encoding="utf-8"))
RT_ONLY = AnalysisSettings(measures=("mean_log_rt",))


@pytest.fixture(scope="module")
def values(shared):
    return json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def scores():
    table = pd.read_csv(HERE / "inference_scores.csv")
    keys = ["participant_id", "rule", "block_kind"]
    table = table.astype(dict.fromkeys(keys, "string"))
    return table.rename(columns={"score": "mean_log_rt"}).astype({"mean_log_rt": "Float64"})


def score_in(scores, rule, block_kind):
    rows = (scores["rule"] == rule) & (scores["block_kind"] == block_kind)
    return scores.loc[rows].sort_values("participant_id")["mean_log_rt"].to_numpy(dtype=float)


@pytest.mark.parametrize("effect", ["rule", "block_kind", "rule:block_kind"])
def test_the_analysis_of_variance_of_two_factors_is_that_of_afex(scores, effect):
    table = anova_table(scores, factors=("rule", "block_kind"), settings=RT_ONLY)
    compare_anova(table, R_VALUES["anova"]["rule_by_block_kind"], effect)


def test_the_analysis_of_variance_of_one_factor_is_that_of_afex(scores):
    mixed = scores[scores["block_kind"] == "mixed"]
    table = anova_table(mixed, factors=("rule",), settings=RT_ONLY)
    compare_anova(table, R_VALUES["anova"]["rule_in_mixed"], "rule")


def test_the_analysis_of_variance_of_six_levels_is_that_of_afex(scores):
    cells = scores.assign(rule=scores["rule"] + "-" + scores["block_kind"])
    table = anova_table(cells, factors=("rule",), settings=RT_ONLY)
    (reference,) = R_VALUES["anova"]["six_levels"]
    # The script says why R's own p of contrasts is not this one, from which it differs little.
    p = R_VALUES["anova"]["six_levels_mauchly_p"]
    assert p == pytest.approx(reference["mauchly_p"], rel=2e-3)
    compare_anova(table, [reference | {"mauchly_p": p}], "rule")


def compare_anova(table, reference, effect):
    row = table.set_index("effect").loc[effect.replace(":", " x ")]
    expected = next(r for r in reference if r["effect"] == effect)
    for name, value in expected.items():
        if name == "effect":
            continue
        found = row[name]
        if name == "epsilon_hf":
            value = min(value, 1)
        assert found == pytest.approx(value, rel=1e-9), name
    if "mauchly_w" not in expected:
        assert row["mauchly_w"] is pd.NA
        assert (row["epsilon_gg"], row["p_gg"]) == (1, row["p"])


@pytest.mark.parametrize(
    ("name", "level", "block_kind"),
    [("exclusion_pure", "exclusion", "pure"), ("mirror_mixed", "mirror", "mixed")],
)
def test_paired_tests_and_effect_sizes_are_those_of_r(scores, name, level, block_kind):
    expected = R_VALUES["paired"][name]
    x, y = score_in(scores, level, block_kind), score_in(scores, "direct", block_kind)
    test = mean_interval(x - y, confidence=0.95)
    assert (test.t, test.p) == pytest.approx((expected["t"], expected["p"]), rel=1e-10)
    assert [test.low, test.high] == pytest.approx(expected["conf"], rel=1e-10)
    dz = cohens_dz(x - y, confidence=0.95)
    assert dz.d == pytest.approx(expected["dz"][0], rel=1e-10)
    assert dz.g == pytest.approx(expected["gz"][0], rel=1e-10)
    # R finds limits of the noncentrality by search, to some four digits.
    assert [dz.low, dz.high] == pytest.approx(expected["dz"][1:], abs=5e-4)
    assert [dz.g_low, dz.g_high] == pytest.approx(expected["gz"][1:], abs=5e-4)
    assert cohens_dav(x, y, confidence=0.95).d == pytest.approx(expected["dav"], rel=1e-10)
    ranks = signed_rank_test(x - y)
    assert ranks.w_plus == expected["v"]
    assert ranks.p == pytest.approx(expected["wilcoxon_p"], rel=1e-10)
    assert ranks.rank_biserial == pytest.approx(expected["rank_biserial"], rel=1e-10)
    log_bf10 = jzs_log_bf10(test.t, n=len(x), r_scale=np.sqrt(2) / 2)
    assert log_bf10 == pytest.approx(expected["log_bf10"], abs=1e-4)


@pytest.mark.parametrize(
    "case", R_VALUES["bayes_factors"], ids=lambda c: f"t{c['t']}-n{c['n']}-r{c['r_scale']:.3f}"
)
def test_bayes_factors_are_those_of_the_bayesfactor_package(case):
    found = jzs_log_bf10(case["t"], n=case["n"], r_scale=case["r_scale"])
    assert found == pytest.approx(case["log_bf10"], abs=1e-4)


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "fdr_bh", "fdr_by"])
def test_corrections_are_those_of_r_missing_values_among_them(correction):
    reference = R_VALUES["corrections"]
    p, expected = (
        np.array([np.nan if value is None else value for value in reference[name]])
        for name in ("p", correction)
    )
    found = correct_p_values(p, correction=correction)
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_holm_is_that_of_the_shared_values(values):
    found = correct_p_values(values["holm"]["p"], correction="holm")
    assert found.tolist() == pytest.approx(values["holm"]["adjusted"], abs=1e-12)


def test_the_bayes_factor_is_that_of_the_shared_values(values):
    case = values["bayes_factor_ttest"]
    # The scale is R's "medium", the root of a half, which stands there with three digits.
    assert case["r_scale"] == 0.707
    found = bayes_factor(jzs_log_bf10(case["t"], n=case["n"], r_scale=0.5**0.5))
    assert found == pytest.approx(case["bf10"], abs=5e-7)


def test_contrasts_of_published_data_are_those_of_their_readme(shared, tmp_path):
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=MAPPING, out=tmp_path / "dataset")
    analysis = analyze_dataset(tmp_path / "dataset", out=tmp_path / "out").analysis
    table = contrast_table(
        analysis.participant_cells, factors=analysis.factors, settings=analysis.settings
    )
    table = table[(table["measure"] == "mean_log_rt") & table["against"].isna()]
    assert table["name"].tolist() == [
        "exclusion - direct, pure blocks",
        "exclusion - direct, mixed blocks",
    ]
    assert table["n_participants"].tolist() == [10, 10]
    columns = ["ratio", "ratio_low", "ratio_high"]
    assert table[columns].astype(float).round(3).to_numpy().tolist() == [
        [1.714, 1.434, 2.047],
        [2.362, 2.040, 2.736],
    ]
    assert table["dz"].round(2).tolist() == [2.16, 4.19]
