from __future__ import annotations

import doctest
import importlib

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.inference import inference_results
from ghostblitz_analysis.models import rule_contrasts
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings

pytestmark = pytest.mark.slow

WIDE = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000))


def inferred(trials: pd.DataFrame, settings: AnalysisSettings = WIDE):
    analysis = analyze_trials(trials, settings, parts=("inference",))
    return analysis, inference_results(
        analysis.participant_cells, factors=analysis.factors, settings=settings
    )


def test_tables_go_by_the_names_of_their_files(draw_trials):
    trials = draw_trials(np.random.default_rng(1), n_participants=4, n_per_cell=3)
    _, results = inferred(trials)
    assert list(results.tables) == ["planned_contrasts", "anova"]
    assert results.tables["planned_contrasts"] is results.planned_contrasts


def test_planned_contrasts_of_log_rt_are_the_contrasts_of_the_report(draw_trials):
    trials = draw_trials(
        np.random.default_rng(2), n_participants=6, n_per_cell=4, effect_sd=0.1, p_error=0.1,
        modes=("grab", "shout"), block_kinds=("pure", "mixed"),
    )  # fmt: skip
    analysis, results = inferred(trials)
    reported = rule_contrasts(
        analysis.participant_cells, factors=analysis.factors, confidence=WIDE.confidence
    )
    planned = results.planned_contrasts
    planned = planned[(planned["measure"] == "mean_log_rt") & planned["against"].isna()]
    pairs = {"rt_ratio": "ratio", "rt_ratio_low": "ratio_low", "t": "t", "p": "p", "dz": "dz"}
    for theirs, ours in pairs.items():
        assert planned[ours].tolist() == pytest.approx(reported[theirs].tolist())


def test_a_known_effect_comes_back(draw_trials):
    trials = draw_trials(
        np.random.default_rng(3), n_participants=60, n_per_cell=40, effect_log=np.log(1.6),
        effect_sd=0.1, noise_sd=0.3, p_error=0.05,
    )  # fmt: skip
    _, results = inferred(trials)
    row = results.planned_contrasts.iloc[0]
    sd = np.hypot(0.1, 0.3 * np.sqrt(2 / 38))
    assert np.log(row["ratio"]) == pytest.approx(np.log(1.6), abs=3 * sd / np.sqrt(60))
    assert row["dz"] == pytest.approx(np.log(1.6) / sd, rel=0.3)
    assert row["significant"]
    assert row["rank_biserial"] == 1
    effect = results.anova.iloc[0]
    assert effect["f"] == pytest.approx(row["t"] ** 2)
    assert effect["p"] == pytest.approx(row["p"])


@pytest.mark.parametrize("rule", ["direct", "exclusion"])
def test_one_rule_alone_is_tested_against_nothing(make_trials, rule):
    rows = [{"participant_id": p, "rule": rule, "rt_s": 1.0} for p in "ab"]
    _, results = inferred(make_trials(rows))
    assert all(table.empty for table in results.tables.values())


@pytest.mark.parametrize("correct", [True, False])
def test_all_right_and_all_wrong_leave_rows_that_say_what_is_missing(make_trials, correct):
    rows = [
        {"participant_id": p, "rule": rule, "rt_s": 1.0, "correct": correct,
         "error_kind": None if correct else "rule_confusion"}
        for p in "abc"
        for rule in ("direct", "exclusion")
    ]  # fmt: skip
    _, results = inferred(make_trials(rows))
    for table in results.tables.values():
        assert table["p"].isna().all()
        assert (table["note"] != "").all()
        numbers = table.select_dtypes("number").astype("Float64")
        assert not numbers.isin([np.inf, -np.inf]).any().any()
    contrasts = results.planned_contrasts.set_index("measure")
    assert contrasts.loc["p_correct", "estimate"] == 0
    assert contrasts.loc["mean_rt_s", "n_left_out"] == (0 if correct else 3)


def test_one_participant_gives_estimates_without_tests(draw_trials):
    trials = draw_trials(np.random.default_rng(4), n_participants=1, n_per_cell=5)
    _, results = inferred(trials)
    assert results.planned_contrasts["estimate"].notna().all()
    assert results.planned_contrasts["p"].isna().all()
    assert results.anova["f"].isna().all()
    assert results.anova["note"].str.contains("one participant").all()


def test_columns_have_the_nullable_types_of_tables_that_are_written(draw_trials):
    trials = draw_trials(np.random.default_rng(5), n_participants=3, n_per_cell=3)
    _, results = inferred(trials)
    for table in results.tables.values():
        types = {str(dtype) for dtype in table.dtypes}
        assert types <= {"string", "Int64", "Float64", "boolean"}


@pytest.mark.parametrize(
    "name",
    ["anova", "anova_tables", "bayes_factors", "corrections", "effect_sizes",
     "planned_contrasts", "rank_tests", "sphericity"],
)  # fmt: skip
def test_examples_give_what_they_show(name):
    module = importlib.import_module(f"ghostblitz_analysis.inference.{name}")
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
