from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.hat_measures import (
    LAGS,
    TRANSFORMATION_FACTORS,
    hat_results,
    lag_of,
    transformation_of,
)
from ghostblitz_analysis.settings import AnalysisSettings

DEFAULTS = AnalysisSettings()
KINDS = ("plain", "hat_grab", "hat_call")


def results_of(trials):
    return hat_results(flag_exclusions(trials, DEFAULTS), confidence=0.95)


def cell(table, **levels):
    rows = table[(table[list(levels)] == pd.Series(levels)).all(axis=1)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_transformation_is_what_the_hat_makes_of_a_card(make_trials, make_hat_row):
    rows = [make_hat_row(kind, rule) for kind in KINDS for rule in ("direct", "exclusion")]
    found = transformation_of(make_trials([*rows, {}]))
    assert found.iloc[:-1].tolist() == [kind for kind in KINDS for _ in range(2)]
    assert pd.isna(found.iloc[-1])


def test_lags_of_three_and_more_stand_together(make_trials, make_hat_row):
    rows = [make_hat_row("plain", lag=lag) for lag in (0, 1, 2, 3, 4, 40)]
    found = lag_of(make_trials([*rows, {}]))
    assert found.iloc[:-1].tolist() == [*LAGS, "3+", "3+"]
    assert pd.isna(found.iloc[-1])


def test_data_without_a_hat_have_no_results(make_trials):
    assert results_of(make_trials([{}, {"rule": "exclusion"}])) is None


def test_practice_with_a_hat_makes_no_results(make_trials, make_hat_row):
    trials = make_trials([make_hat_row("plain", phase="practice"), {}])
    assert results_of(trials) is None


def test_without_known_moves_there_are_no_lags(make_trials, make_hat_row):
    found = results_of(make_trials([make_hat_row("plain", trials_since_hat_move=None)] * 2))
    assert found.lags is None
    assert found.participant_lags is None
    assert not set(found.tables) & {"hat_lags", "hat_participant_lags"}
    assert len(found.group_cells) == 1


def test_measures_of_each_transformation_are_those_of_its_trials(make_trials, make_hat_row):
    rows = [make_hat_row("plain", rt_s=rt) for rt in (1.0, 4.0)]
    rows += [make_hat_row("hat_grab", rt_s=3.0), make_hat_row("hat_grab", error_kind="under_hat")]
    rows += [make_hat_row("hat_call", "exclusion", rt_s=5.0)]
    cells = results_of(make_trials(rows)).participant_cells
    plain = cell(cells, transformation="plain", rule="direct", mode="grab")
    assert plain["geometric_mean_rt_s"] == pytest.approx(2.0)
    grabbed = cell(cells, transformation="hat_grab", rule="direct", mode="grab")
    assert (grabbed["n_trials"], grabbed["n_correct"], grabbed["n_under_hat"]) == (2, 1, 1)
    called = cell(cells, transformation="hat_call", rule="exclusion", mode="shout")
    assert called["geometric_mean_rt_s"] == pytest.approx(5.0)
    # Plain, hat to be grabbed, item to be called.
    assert cells["transformation"].tolist() == list(KINDS)


def people(make_hat_row, ratios):
    """Plain RTs of 0.5 s, hat grabs so many times as long; the first person errs once in two."""
    for number, ratio in enumerate(ratios):
        who = {"participant_id": f"p{number}"}
        yield make_hat_row("plain", rt_s=0.5) | who
        yield make_hat_row("hat_grab", rt_s=0.5 * ratio) | who
        if number == 0:
            yield make_hat_row("hat_grab", error_kind="under_hat") | who
        yield make_hat_row("hat_call", rt_s=9.0) | who


def test_cost_is_the_ratio_to_plain_cards_of_the_same_rule(make_trials, make_hat_row):
    ratios = [1.0, 2.0, 4.0]
    (row,) = results_of(make_trials(people(make_hat_row, ratios))).costs.to_dict("records")
    assert (row["rule"], row["mode"], row["contrast"]) == ("direct", "grab", "hat_grab / plain")
    logs = np.log(ratios)
    half = stats.t.ppf(0.975, 2) * logs.std(ddof=1) / math.sqrt(3)
    assert row["rt_ratio"] == pytest.approx(2.0)
    assert row["rt_ratio_low"] == pytest.approx(math.exp(logs.mean() - half))
    assert row["rt_ratio_high"] == pytest.approx(math.exp(logs.mean() + half))
    assert row["difference_s"] == pytest.approx(0.5 * (0 + 1 + 3) / 3)
    # Differences of error rates: a half, none, none.
    assert row["n_participants_errors"] == 3
    assert row["p_error_difference"] == pytest.approx(1 / 6)
    half = stats.t.ppf(0.975, 2) * np.std([0.5, 0, 0], ddof=1) / math.sqrt(3)
    assert row["p_error_difference_low"] == pytest.approx(1 / 6 - half)
    assert row["p_error_difference_high"] == pytest.approx(1 / 6 + half)


def test_calls_have_no_cost_since_nothing_else_is_shouted(make_trials, make_hat_row):
    rows = [make_hat_row(kind) for kind in ("plain", "hat_call")]
    assert results_of(make_trials(rows)).costs.empty


def test_plain_cards_of_another_rule_are_no_reference(make_trials, make_hat_row):
    rows = [make_hat_row("plain", "direct"), make_hat_row("hat_grab", "exclusion")]
    assert results_of(make_trials(rows)).costs.empty


def test_lags_are_averaged_per_participant_first(make_trials, make_hat_row):
    """One with RTs of 1 and 4 s (so 2 s), one with one of 8 s: 4 s, whatever the trials."""
    rows = [make_hat_row("plain", lag=1, rt_s=rt, participant_id="a") for rt in (1.0, 4.0)]
    rows += [make_hat_row("plain", lag=1, participant_id="a", error_kind="late")] * 2
    rows += [make_hat_row("plain", lag=1, rt_s=8.0, participant_id="b")]
    rows += [make_hat_row("hat_grab", lag=0, rt_s=3.0, participant_id="b")]
    row = cell(results_of(make_trials(rows)).lags, transformation="plain", lag="1")
    assert (row["n_participants"], row["n_trials"], row["n_rt"], row["n_errors"]) == (2, 5, 3, 2)
    assert row["geometric_mean_rt_s"] == pytest.approx(4.0)
    half = stats.t.ppf(0.975, 1) * np.std([math.log(2), math.log(8)], ddof=1) / math.sqrt(2)
    assert row["geometric_mean_rt_low_s"] == pytest.approx(4 * math.exp(-half))
    assert row["geometric_mean_rt_high_s"] == pytest.approx(4 * math.exp(half))
    assert row["p_error"] == pytest.approx(0.25)
    assert (row["p_error_low"], row["p_error_high"]) == (0, 1)


def test_equal_error_rates_have_no_interval(make_trials, make_hat_row):
    rows = [make_hat_row("plain", participant_id=p) for p in "ab"]
    row = results_of(make_trials(rows)).lags.iloc[0]
    assert row["p_error"] == 0
    assert pd.isna(row["p_error_low"])
    assert pd.isna(row["p_error_high"])


def test_lags_stand_in_order_within_each_transformation(make_trials, make_hat_row):
    rows = [make_hat_row(kind, lag=lag) for lag in (5, 2, 0, 1) for kind in reversed(KINDS)]
    lags = results_of(make_trials(rows)).lags
    assert lags["lag"].tolist() == [*LAGS] * 3
    assert lags["transformation"].tolist() == [kind for kind in KINDS for _ in LAGS]


def test_grab_and_shout_are_never_in_one_cell(make_trials, make_hat_row):
    assert "mode" in TRANSFORMATION_FACTORS
    found = results_of(make_trials([make_hat_row(kind) for kind in KINDS]))
    for table in (found.group_cells, found.lags):
        assert table.groupby("transformation")["mode"].nunique().tolist() == [1] * 3


def test_errors_of_each_transformation_have_their_chance_shares(make_trials, make_hat_row):
    rows = [make_hat_row("hat_call", error_kind="hat_called", response="hat")]
    rows += [make_hat_row("hat_call", error_kind="wrong_item_called", response="ghost")] * 2
    rows += [make_hat_row("hat_call", error_kind="grabbed_for_call")]
    errors = results_of(make_trials(rows)).error_totals.set_index("error_kind")
    assert errors.loc["hat_called", "n_wrong_items"] == 3
    assert errors.loc["hat_called", "p_of_wrong_items"] == pytest.approx(1 / 3)
    assert errors.loc["hat_called", "p_by_chance"] == pytest.approx(1 / 4)
    assert errors.loc["wrong_item_called", "p_by_chance"] == pytest.approx(3 / 4)
    assert pd.isna(errors.loc["grabbed_for_call", "p_of_wrong_items"])
    assert errors.loc["grabbed_for_call", "p_of_errors"] == pytest.approx(1 / 4)


@pytest.mark.slow
def test_hats_of_simulated_participants_cost_no_time(simulate_game):
    """The model looks a hat up at no cost in time, but forgets it in some trials."""
    from ghostblitz_analysis.dataset import load_dataset

    paths = simulate_game("spooky-doo", n_participants=12, n_trials=100)
    costs = results_of(load_dataset(paths[0].parent.parent).trials).costs
    assert set(costs["rule"]) == {"direct", "exclusion"}
    for row in costs.itertuples():
        # Three standard errors; the seed is fixed.
        assert abs(row.mean_difference_log) < 3 * row.sd_difference_log / math.sqrt(12)
