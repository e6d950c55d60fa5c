"""The planned contrast under other exclusions: each row is what its own settings give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusion_settings import SdTrim
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.sensitivity import sensitivity_table
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.settings_files import validate_settings

pytestmark = pytest.mark.slow

DEFAULTS = AnalysisSettings()
NAMES = [
    "none", "bounds", "sd_2", "sd_2.5", "sd_3", "mad_2.5", "mad_3",
    "van_selst_jolicoeur_nonrecursive", "van_selst_jolicoeur_modified_recursive",
    "van_selst_jolicoeur_hybrid", "median", "as_stated",
]  # fmt: skip


def stating(**table):
    return validate_settings(table, AnalysisSettings, where="analysis.toml")


@pytest.fixture
def trials(draw_trials):
    drawn = draw_trials(
        np.random.default_rng(4), n_participants=5, n_per_cell=20, p_error=0.1, effect_sd=0.1,
        block_kinds=("pure", "mixed"),
    )  # fmt: skip
    drawn.loc[3, "rt_s"] = 25.0
    return drawn


def test_rules_stand_in_order_with_a_row_for_each_contrast(trials):
    table = sensitivity_table(trials, DEFAULTS)
    assert table["exclusion_rule"].tolist() == [name for name in NAMES for _ in range(2)]
    assert table["block_kind"].tolist() == ["pure", "mixed"] * len(NAMES)
    assert set(table["contrast"]) == {"exclusion / direct"}
    assert table["in_words"].nunique() == len(NAMES)


def test_settings_as_stated_give_the_contrasts_of_the_analysis(trials):
    settings = stating(
        skip_first_trials=2, exclusions=[{"step": "after_error"}, {"step": "mad", "n_mad": 3.0}]
    )
    expected = analyze_trials(trials, settings).contrasts
    table = sensitivity_table(trials, settings)
    found = table[table["exclusion_rule"] == "as_stated"].reset_index(drop=True)
    columns = [name for name in expected.columns if name in found.columns]
    assert {"rt_ratio", "rt_ratio_low", "difference_s", "dz", "p", "note"} <= set(columns)
    pd.testing.assert_frame_equal(found[columns], expected[columns])


def test_a_trimming_rule_gives_what_it_gives_where_it_is_stated_without_bounds(trials):
    bounds = BoundsSettings(min_rt_s=0, max_rt_s=1e6)
    settings = AnalysisSettings(bounds=bounds, exclusions=(SdTrim(step="sd", n_sd=2.0),))
    expected = analyze_trials(trials, settings).contrasts
    table = sensitivity_table(trials, DEFAULTS)
    found = table[table["exclusion_rule"] == "sd_2"].reset_index(drop=True)
    pd.testing.assert_series_equal(found["rt_ratio"], expected["rt_ratio"])
    used = used_for_rt(flag_exclusions(trials, settings))
    by_kind = trials["block_kind"][used].value_counts()
    assert found["n_rt"].tolist() == [by_kind["pure"], by_kind["mixed"]]


def test_share_trimmed_is_of_the_correct_rts(trials):
    table = sensitivity_table(trials, DEFAULTS).set_index(["exclusion_rule", "block_kind"])
    correct = trials["correct"].groupby(trials["block_kind"]).sum()
    for kind in ("pure", "mixed"):
        assert table.loc[("none", kind), "n_rt"] == correct[kind]
        assert table.loc[("none", kind), "p_trimmed"] == 0
    assert table.loc[("bounds", "pure"), "p_trimmed"] == pytest.approx(1 / correct["pure"])
    assert (table["p_trimmed"].groupby("exclusion_rule").max().drop(["none", "median"]) > 0).any()


def test_medians_are_those_of_untrimmed_rts(make_trials):
    rows = [
        {"participant_id": p, "rule": rule, "rt_s": rt * factor}
        for p, factor in (("a", 1.0), ("b", 2.0))
        for rule, rts in (("direct", [0.4, 0.5, 40.0]), ("exclusion", [1.0, 2.0, 90.0]))
        for rt in rts
    ]
    table = sensitivity_table(make_trials(rows), DEFAULTS).set_index("exclusion_rule")
    row = table.loc["median"]
    assert row["rt_ratio"] == pytest.approx(4.0)
    assert row["difference_s"] == pytest.approx((1.5 + 3.0) / 2)
    assert (row["n_rt"], row["p_trimmed"]) == (12, 0.0)
    assert table.loc["bounds", "n_rt"] == 8


def test_hybrid_is_between_the_two_procedures(trials):
    table = sensitivity_table(trials, DEFAULTS).set_index(["exclusion_rule", "block_kind"])
    stem = "van_selst_jolicoeur"
    mean = [table.loc[(f"{stem}_{m}", "pure"), "difference_s"]
            for m in ("nonrecursive", "modified_recursive", "hybrid")]  # fmt: skip
    # Differences of arithmetic means are linear in them.
    assert mean[2] == pytest.approx((mean[0] + mean[1]) / 2)


def test_other_steps_are_made_as_stated_beside_a_trimming_rule(trials):
    limits = {"step": "participants", "min_p_correct": 0.9}
    plain = sensitivity_table(trials, DEFAULTS).set_index("exclusion_rule")
    table = sensitivity_table(trials, stating(exclusions=[{"step": "sd"}, limits]))
    rows = table.set_index("exclusion_rule")
    assert rows.loc["none", "n_participants"].tolist() == [5, 5]
    assert (rows.loc["sd_2", "n_participants"] < 5).all()
    n_left = {name: rows.loc[name, "n_participants"].tolist() for name in ("sd_2", "as_stated")}
    assert n_left["sd_2"] == n_left["as_stated"]
    assert (
        rows.loc["sd_2", "in_words"]
        .iloc[0]
        .endswith(" (instead of the bounds); other steps as stated")
    )
    assert plain.loc["sd_2", "in_words"].iloc[0].endswith(" (instead of the bounds)")
    assert "instead" not in plain.loc["bounds", "in_words"].iloc[0]


def test_a_rule_that_leaves_nobody_says_so(make_trials):
    # With the outlier trimmed there are too few RTs, which only matters where something is trimmed.
    rts = [0.5, 0.51, 0.52, 0.53, 0.54, 5.0]
    rows = [{"participant_id": p, "rule": r, "rt_s": rt} for p in "ab"
            for r in ("direct", "exclusion") for rt in rts]  # fmt: skip
    settings = stating(exclusions=[{"step": "participants", "min_n_rt_per_cell": 6}])
    rows = sensitivity_table(make_trials(rows), settings).set_index("exclusion_rule")
    row = rows.loc["mad_2.5"]
    assert (row["n_rt"], row["n_participants"], row["note"]) == (0, 0, "no participant is left")
    assert row["rt_ratio"] is pd.NA
    assert row["p_trimmed"] == 1.0


def test_one_participant_has_a_ratio_but_no_interval(make_trials):
    rows = [{"rule": r, "rt_s": rt} for r, rt in (("direct", 0.5), ("exclusion", 1.0))]
    table = sensitivity_table(make_trials(rows), DEFAULTS)
    assert table["rt_ratio"].tolist() == pytest.approx([2.0] * len(NAMES))
    assert table["rt_ratio_low"].isna().all()
    assert set(table["note"]) == {"one participant, so no interval"}


def test_one_rule_has_nothing_to_compare(make_trials):
    table = sensitivity_table(make_trials([{}, {}]), DEFAULTS)
    assert len(table) == 0
    assert table["rt_ratio"].dtype == "Float64"


def test_all_wrong_leaves_no_rt_and_names_who_is_left_out(make_trials):
    rows = [{"rule": r, "error_kind": "shape_capture"} for r in ("direct", "exclusion")]
    table = sensitivity_table(make_trials(rows), DEFAULTS)
    assert table["n_rt"].tolist() == [0] * len(NAMES)
    assert table["p_trimmed"].isna().all()
    assert set(table["left_out"]) == {'["p1"]'}


def test_nothing_to_analyse_is_an_error(make_trials):
    with pytest.raises(DatasetError, match="nothing to analyse"):
        sensitivity_table(make_trials([{"phase": "practice"}]), DEFAULTS)


def test_trials_are_left_as_they_are_and_may_be_flagged(trials):
    before = trials.copy(deep=True)
    flagged = flag_exclusions(trials, stating(exclusions=[{"step": "sd"}]))
    pd.testing.assert_frame_equal(
        sensitivity_table(flagged, DEFAULTS), sensitivity_table(trials, DEFAULTS)
    )
    pd.testing.assert_frame_equal(trials, before)
