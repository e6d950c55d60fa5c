from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.speed_accuracy import SCORES, speed_accuracy_results

DEFAULTS = AnalysisSettings()
WRONG = "shape_capture"


def results_of(trials, settings=DEFAULTS):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    return speed_accuracy_results(flagged, factors=factors, settings=settings)


def cells_of(trials, settings=DEFAULTS):
    return results_of(trials, settings).participant_cells


def answers(rts, *, errors=(), **others):
    rows = [{"rt_s": rt, **others} for rt in rts]
    return rows + [{"rt_s": rt, "error_kind": WRONG, **others} for rt in errors]


def test_scores_are_those_of_their_definitions(make_trials):
    direct, exclusion = [0.5, 0.6, 0.7], [1.0, 1.4]
    rows = answers(direct, errors=[0.4]) + answers(exclusion, errors=[1.1, 2.0], rule="exclusion")
    table = cells_of(make_trials(rows)).set_index("rule")
    assert table["ies_s"].tolist() == pytest.approx([0.6 / 0.75, 1.2 / 0.5])
    assert table["rcs_per_s"].tolist() == pytest.approx([3 / 2.2, 2 / 5.5])
    s_rt = np.std([*direct, *exclusion], ddof=1)
    s_pe = np.std([0, 0, 0, 1, 0, 0, 1, 1], ddof=1)
    expected = [0.6 + 0.25 * s_rt / s_pe, 1.2 + 0.5 * s_rt / s_pe]
    assert table["lisas_s"].tolist() == pytest.approx(expected, rel=1e-12)
    # Of two cells each is one population SD from the mean.
    assert table["bis"].tolist() == pytest.approx([2, -2])
    assert table["n_responses"].tolist() == [4, 4]
    assert table["sum_rt_s"].tolist() == pytest.approx([2.2, 5.5])


def test_without_errors_ies_and_lisas_are_the_mean_rt(make_trials):
    row = cells_of(make_trials(answers([0.5, 0.8, 1.1]))).iloc[0]
    assert row["ies_s"] == row["lisas_s"] == row["mean_rt_s"] == pytest.approx(0.8)
    assert row["rcs_per_s"] == pytest.approx(1 / 0.8)


def test_balanced_scores_add_up_to_nothing_and_are_a_difference_of_z(draw_trials):
    rng = np.random.default_rng(3)
    table = cells_of(draw_trials(rng, n_participants=5, n_per_cell=30, p_error=0.2))
    p, rt = (table[name].to_numpy(dtype=float) for name in ("p_correct", "mean_rt_s"))
    assert table["bis"].tolist() == pytest.approx(stats.zscore(p) - stats.zscore(rt), rel=1e-9)
    assert table["bis"].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_modes_are_never_pooled(draw_trials):
    rng = np.random.default_rng(4)
    trials = draw_trials(rng, n_participants=4, n_per_cell=20, p_error=0.2, modes=("grab", "shout"))
    together = cells_of(trials)
    for mode in ("grab", "shout"):
        alone = cells_of(trials[trials["mode"] == mode])
        of_mode = together[together["mode"] == mode].reset_index(drop=True)
        pd.testing.assert_frame_equal(of_mode[alone.columns], alone)


def test_bounds_take_rts_out_of_every_score_but_not_trials_out_of_accuracy(make_trials):
    rows = answers([0.5, 0.7, 30.0], errors=[0.6, 0.1, 30.0])
    row = cells_of(make_trials(rows)).iloc[0]
    assert row["p_correct"] == pytest.approx(0.5)
    assert row["ies_s"] == pytest.approx(0.6 / 0.5)
    assert (row["n_responses"], row["rcs_per_s"]) == (3, pytest.approx(2 / 1.8))
    everything = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))
    row = cells_of(make_trials(rows), everything).iloc[0]
    assert (row["n_responses"], row["rcs_per_s"]) == (6, pytest.approx(3 / 61.9))


@pytest.mark.slow
def test_wrong_responses_are_never_trimmed_and_rates_of_responding_say_so(make_trials):
    rows = answers([0.5, 0.6, 0.7, 0.6, 0.5, 9.0], errors=[9.0])
    settings = AnalysisSettings.model_validate({"exclusions": [{"step": "mad"}]})
    row = cells_of(make_trials(rows), settings).iloc[0]
    assert (row["n_rt"], row["n_responses"]) == (5, 6)
    assert row["rcs_per_s"] == pytest.approx(5 / (2.9 + 9.0))
    assert "trimming takes correct RTs alone" in row["note"]
    assert "trimming" not in cells_of(make_trials(rows)).iloc[0]["note"]


def test_trials_without_a_response_are_errors_without_a_time(make_trials):
    rows = [*answers([0.5, 0.7]), {"error_kind": "late"}, {"error_kind": "early", "rt_s": -0.1}]
    row = cells_of(make_trials(rows)).iloc[0]
    assert (row["p_correct"], row["n_no_response"], row["n_responses"]) == (0.5, 1, 2)
    assert row["rcs_per_s"] == pytest.approx(2 / 1.2)
    assert "trials without a response add no time to RCS" in row["note"]


@pytest.mark.parametrize(("n_errors", "advised_against"), [(1, False), (2, True)])
def test_ies_is_advised_against_beyond_ten_percent_errors(make_trials, n_errors, advised_against):
    rows = answers([0.5] * (10 - n_errors), errors=[0.5] * n_errors)
    found = results_of(make_trials(rows))
    row = found.participant_cells.iloc[0]
    assert row["ies_advised_against"] == advised_against
    assert ("IES is advised against" in row["note"]) == advised_against
    group = found.group_cells.set_index("score")
    assert group["n_flagged"].to_dict() == {
        "ies_s": int(advised_against), "rcs_per_s": 0, "lisas_s": 0, "bis": 0,
    }  # fmt: skip
    assert ("Bruyer & Brysbaert 2011" in group.loc["ies_s", "note"]) == advised_against
    assert "Bruyer" not in group.loc["lisas_s", "note"]


@pytest.mark.parametrize(
    ("kind", "rcs", "note"),
    [
        (WRONG, 0, "no correct RT, so no IES, LISAS or BIS"),
        ("late", pd.NA, "no RT at all, so no RCS"),
    ],
)
def test_who_was_never_right_has_no_score_but_a_rate_of_zero(make_trials, kind, rcs, note):
    rows = [{"error_kind": kind, "participant_id": "never"}] * 12
    rows += answers([0.5, 0.6], errors=[0.7], participant_id="once")
    found = results_of(make_trials(rows))
    row = found.participant_cells.iloc[0]
    assert all(row[name] is pd.NA for name in ("ies_s", "lisas_s", "bis"))
    assert row["rcs_per_s"] is pd.NA if rcs is pd.NA else row["rcs_per_s"] == 0
    assert note in row["note"]
    group = found.group_cells.set_index("score")
    assert group.loc["ies_s", "left_out"] == '["never"]'
    assert group.loc["ies_s", "n_participants"] == 1
    assert group.loc["rcs_per_s", "n_left_out"] == (1 if kind == "late" else 0)


def test_one_rt_has_no_sd_and_so_no_lisas(make_trials):
    row = cells_of(make_trials(answers([0.5], errors=[0.6]))).iloc[0]
    assert row["lisas_s"] is pd.NA
    assert row["ies_s"] == pytest.approx(1.0)
    assert "one RT in all conditions" in row["note"]


def test_one_trial_has_scores_but_nobody_to_be_standardised_against(make_trials):
    row = cells_of(make_trials(answers([0.5]))).iloc[0]
    assert (row["ies_s"], row["lisas_s"], row["rcs_per_s"]) == (0.5, 0.5, 2.0)
    assert row["bis"] is pd.NA
    assert "one accuracy or one mean RT, so no BIS" in row["note"]


def test_equal_accuracies_cannot_be_standardised(make_trials):
    rows = answers([0.5, 0.6], errors=[0.7]) + answers([0.9, 0.8], errors=[1], rule="exclusion")
    assert cells_of(make_trials(rows))["bis"].isna().all()


def test_a_missing_rule_is_left_out_and_named(make_trials):
    rows = []
    for person, level in (("01", 0.5), ("1", 0.6), ("NA", 0.8)):
        rows += answers([level, level + 0.2], errors=[level], participant_id=person)
        if person != "1":
            rows += answers([2 * level, 3 * level], participant_id=person, rule="exclusion")
    found = results_of(make_trials(rows))
    row = found.participant_cells.set_index(["participant_id", "rule"]).loc[("1", "exclusion")]
    assert (row["n_trials"], row["n_responses"]) == (0, 0)
    assert row["note"] == "no trial"
    assert row["ies_advised_against"] is pd.NA
    for row in found.contrasts.itertuples():
        assert (row.n_participants, row.n_left_out) == (2, 1)
        assert json.loads(row.left_out) == ["1"]
    group = found.group_cells.set_index(["rule", "score"])
    assert group.loc[("exclusion", "ies_s"), "left_out"] == '["1"]'
    assert group.loc[("direct", "ies_s"), "n_left_out"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
def test_groups_and_contrasts_are_t_intervals_over_participants(draw_trials, score):
    rng = np.random.default_rng(5)
    trials = draw_trials(
        rng, n_participants=6, n_per_cell=25, p_error=0.15, block_kinds=("pure", "mixed")
    )
    found = results_of(trials, AnalysisSettings(confidence=0.9))
    cells = found.participant_cells.pivot(
        index="participant_id", columns=["block_kind", "rule"], values=score
    ).astype(float)
    group = found.group_cells[found.group_cells["score"] == score]
    assert group["rule"].tolist() == ["direct", "exclusion"] * 2
    assert group["block_kind"].tolist() == ["pure"] * 2 + ["mixed"] * 2
    for row in group.itertuples():
        expected = mean_interval(cells[(row.block_kind, row.rule)], confidence=0.9)
        found_row = [row.mean, row.low, row.high, row.sd]
        assert found_row == pytest.approx([expected.mean, expected.low, expected.high, expected.sd])
    contrasts = found.contrasts[found.contrasts["score"] == score]
    assert contrasts["contrast"].tolist() == ["exclusion - direct"] * 2
    for row in contrasts.itertuples():
        kind = row.block_kind
        test = stats.ttest_rel(cells[(kind, "exclusion")], cells[(kind, "direct")])
        interval = test.confidence_interval(0.9)
        assert [row.t, row.df, row.p] == pytest.approx([test.statistic, 5, test.pvalue])
        assert row.difference_low == pytest.approx(interval.low)
        assert row.difference_high == pytest.approx(interval.high)
        assert row.dz == pytest.approx(row.mean_difference / row.sd_difference)


def test_misfits_of_the_diffusion_model_are_counted_over_participants(make_trials):
    skewed = [0.5, 0.52, 0.55, 0.58, 0.62, 0.67, 0.74, 0.85, 1.05, 1.6]
    rows = answers(skewed, participant_id="a") + answers([*skewed, 9.0], participant_id="b")
    rows += answers(skewed[:3], participant_id="c")
    group = results_of(make_trials(rows)).ez_group_cells.set_index("score")
    assert group.index.tolist() == ["v", "a", "ter_s"]
    assert group["n_flagged"].tolist() == [1, 1, 1]
    assert group["left_out"].tolist() == ['["c"]'] * 3
    assert group.loc["v", "note"].startswith("1 participant flagged: a negative drift or")


@pytest.mark.parametrize("rule", ["direct", "exclusion"])
def test_contrasts_count_flags_of_either_rule(make_trials, rule):
    other = {"direct": "exclusion", "exclusion": "direct"}[rule]
    rows = []
    for person in ("a", "b"):
        errors = [0.7] if person == "a" else []
        rows += answers([0.5, 0.6], errors=errors, participant_id=person, rule=rule)
        rows += answers([0.8, 0.9], participant_id=person, rule=other)
    contrasts = results_of(make_trials(rows)).contrasts.set_index("score")
    assert contrasts["n_flagged"].to_dict() == {
        "ies_s": 1, "rcs_per_s": 0, "lisas_s": 0, "bis": 0,
    }  # fmt: skip


def test_one_rule_has_no_contrast_but_a_table_with_its_columns(make_trials):
    found = results_of(make_trials(answers([0.5, 0.6])))
    assert len(found.contrasts) == len(found.ez_contrasts) == 0
    assert found.contrasts["n_participants"].dtype == "Int64"
    assert {"mean_difference", "p", "note"} <= set(found.contrasts.columns)


def test_tables_have_names_and_nullable_types(draw_trials):
    trials = draw_trials(np.random.default_rng(6), n_participants=3, n_per_cell=12, p_error=0.1)
    before = trials.copy(deep=True)
    tables = results_of(trials).tables
    pd.testing.assert_frame_equal(trials, before)
    stems = {"speed_accuracy", "ez_diffusion"}
    kinds = ("participant_cells", "group_cells", "contrasts")
    assert set(tables) == {f"{stem}_{kind}" for stem in stems for kind in kinds}
    for table in tables.values():
        assert {str(dtype) for dtype in table.dtypes} <= {"string", "Int64", "Float64", "boolean"}
        counts = [name for name in table.columns if name.startswith("n_") or name == "df"]
        assert all(table[name].dtype == "Int64" for name in counts)
