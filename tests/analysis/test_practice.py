"""Practice within a session, on RTs that follow a law exactly."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.practice import (
    MIN_TRIALS_PER_SLOPE,
    group_slopes,
    group_stretches,
    participant_slopes,
    participant_stretches,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.errors import DatasetError

SETTINGS = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))


@pytest.fixture
def play(make_trials):
    def build(rt_of, *, rules, people=("a",), wrong=(), **others):
        """Make trials whose RT is ``rt_of(rule, trial number)``."""
        return make_trials(
            {
                "participant_id": person,
                "rule": rule,
                "rt_s": float(rt_of(rule, number)),
                "error_kind": "shape_capture" if number in wrong else None,
            }
            | others
            for person in people
            for number, rule in enumerate(rules, start=1)
        )

    return build


def flagged_of(trials):
    flagged = flag_exclusions(trials, SETTINGS)
    return flagged, cell_factors(flagged, SETTINGS)


def slopes_of(trials):
    flagged, factors = flagged_of(trials)
    return participant_slopes(flagged, factors=factors)


def over_cells(table):
    return table[table["rule"].isna()].iloc[0]


def shuffled(n, seed=1):
    rng = np.random.default_rng(seed)
    return rng.choice(["direct", "exclusion"], n)


LEVEL = {"direct": 0.9, "exclusion": 2.0}


def test_a_power_law_gives_its_exponent(play):
    table = slopes_of(play(lambda rule, n: LEVEL[rule] * n**-0.25, rules=shuffled(120)))
    assert table["rule"].tolist() == ["direct", "exclusion", pd.NA]
    assert table["power_slope"].tolist() == pytest.approx([-0.25] * 3)


def test_an_exponential_law_gives_its_rate(play):
    table = slopes_of(play(lambda rule, n: LEVEL[rule] * np.exp(-0.004 * n), rules=shuffled(120)))
    assert table["slope_per_100_trials"].tolist() == pytest.approx([-0.4] * 3)


def test_slopes_are_those_of_linear_regression(play):
    rng = np.random.default_rng(3)
    trials = play(lambda rule, n: np.exp(rng.normal(0, 0.3)), rules=["direct"] * 80)
    row = slopes_of(trials).iloc[0]
    log_rt = np.log(trials["rt_s"].to_numpy("float64"))
    number = np.arange(1, 81)
    assert row["power_slope"] == pytest.approx(stats.linregress(np.log(number), log_rt).slope)
    linear = stats.linregress(number, log_rt).slope
    assert row["slope_per_100_trials"] == pytest.approx(100 * linear)


def test_a_mix_of_rules_that_changes_makes_no_practice(play):
    # The slow rule is rare at first and frequent at the end; nothing else changes.
    rng = np.random.default_rng(4)
    n = 400
    rules = np.where(rng.random(n) < np.linspace(0.1, 0.9, n), "exclusion", "direct")
    row = over_cells(slopes_of(play(lambda rule, n: LEVEL[rule], rules=rules)))
    assert row["power_slope"] == pytest.approx(0, abs=1e-12)
    assert row["slope_per_100_trials"] == pytest.approx(0, abs=1e-12)
    assert row["speed_up_ratio"] == pytest.approx(1)


def test_modes_have_rows_of_their_own_and_are_never_pooled(play):
    trials = play(lambda rule, n: LEVEL[rule] * n**-0.2, rules=shuffled(200))
    modes = np.random.default_rng(2).choice(["grab", "shout"], 200)
    trials = trials.assign(mode=pd.array(modes, dtype="string"))
    table = slopes_of(trials)
    assert table["mode"].tolist() == ["grab"] * 3 + ["shout"] * 3
    assert table["rule"].isna().tolist() == [False, False, True] * 2


def test_the_last_quarter_is_compared_with_the_first(play):
    trials = play(
        lambda rule, n: 2.0 if n <= 10 else 1.0 if n > 30 else 1.7,
        rules=["direct"] * 40,
        wrong=(1, 2, 3, 35),
    )
    row = slopes_of(trials).iloc[0]
    assert (row["n_first"], row["n_last"]) == (7, 9)
    assert (row["n_trials_first"], row["n_trials_last"]) == (10, 10)
    assert row["geometric_mean_rt_first_s"] == pytest.approx(2.0)
    assert row["speed_up_ratio"] == pytest.approx(0.5)
    assert row["p_error_first"] == pytest.approx(0.3)
    assert row["p_error_change"] == pytest.approx(0.1 - 0.3)


def test_every_session_starts_anew(play):
    one = play(lambda rule, n: n**-0.3, rules=["direct"] * 50)
    two = play(lambda rule, n: 0.5 * n**-0.3, rules=["direct"] * 50, session=2)
    trials = pd.concat([one, two], ignore_index=True)
    row = slopes_of(trials).iloc[0]
    assert row["n_rt"] == 100
    assert row["power_slope"] == pytest.approx(-0.3)


def test_trial_numbers_count_wrong_trials_but_no_practice_trials(play, make_trials):
    warm_up = play(lambda rule, n: 5.0, rules=["direct"] * 10, phase="practice")
    trials = play(lambda rule, n: n**-0.3, rules=["direct"] * 50, wrong=(4, 9))
    trials = trials.assign(trial_index=trials["trial_index"] + 10)
    row = slopes_of(pd.concat([warm_up, trials], ignore_index=True)).iloc[0]
    assert row["n_rt"] == 48
    assert row["power_slope"] == pytest.approx(-0.3)


def test_too_few_trials_give_no_slope_and_are_named(play):
    few, many = ["direct"] * (MIN_TRIALS_PER_SLOPE - 1), ["direct"] * 60
    trials = pd.concat(
        [
            play(lambda rule, n: n**-0.3, rules=few, people=("short",)),
            play(lambda rule, n: n**-0.3, rules=many, people=("long",)),
        ],
        ignore_index=True,
    )
    table = slopes_of(trials).set_index("participant_id")
    assert pd.isna(table.loc["short", "power_slope"])
    assert table.loc["short", "note"] == "fewer than 20 RTs, so no slope"
    group = group_slopes(slopes_of(trials), factors=("rule",), confidence=0.95)
    row = group.set_index("measure").loc["power_slope"]
    assert json.loads(row["left_out"]) == ["short"]
    assert "1 participant left out, with fewer than 20 RTs" in row["note"]


def test_group_slopes_are_tested_against_zero(play):
    exponents = {"a": 0.1, "b": 0.2, "c": 0.4}
    trials = pd.concat(
        [
            play(lambda rule, n, e=e: n**-e, rules=["direct"] * 60, people=(person,))
            for person, e in exponents.items()
        ],
        ignore_index=True,
    )
    group = group_slopes(slopes_of(trials), factors=("rule",), confidence=0.95)
    row = group.set_index("measure").loc["power_slope"]
    test = stats.ttest_1samp([-0.1, -0.2, -0.4], 0)
    assert row["mean"] == pytest.approx(-0.7 / 3)
    assert row["t"] == pytest.approx(test.statistic)
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["rt_ratio"] == pytest.approx(2 ** (-0.7 / 3))
    errors = group.set_index("measure").loc["p_error_change"]
    assert errors["mean"] == 0
    assert pd.isna(errors["rt_ratio"])


def test_an_equal_change_of_error_rates_is_not_known_for_certain(play):
    trials = play(lambda rule, n: n**-0.1, rules=["direct"] * 60, people=("a", "b"))
    group = group_slopes(slopes_of(trials), factors=("rule",), confidence=0.95)
    errors = group.set_index("measure").loc["p_error_change"]
    assert errors["mean"] == 0
    assert errors[["low", "high", "t", "p"]].isna().all()
    assert errors["note"] == "all participants have the same value, so neither interval nor test"


def test_two_participants_at_the_highest_confidence_give_no_infinity(play):
    trials = pd.concat(
        [
            play(lambda rule, n, e=e: n**-e, rules=["direct"] * 60, people=(person,))
            for person, e in {"a": 0.1, "b": 1.5}.items()
        ],
        ignore_index=True,
    )
    flagged, factors = flagged_of(trials)
    slopes = group_slopes(slopes_of(trials), factors=factors, confidence=0.9999)
    row = slopes.set_index("measure").loc["speed_up_log"]
    assert row[["mean", "low", "high", "rt_ratio"]].notna().all()
    assert row[["rt_ratio_low", "rt_ratio_high"]].isna().all()
    assert "too wide" in row["note"]
    people = participant_stretches(flagged, factors=factors)
    stretches = group_stretches(people, factors=factors, confidence=0.9999)
    last = stretches[stretches["stretch"] == 10].iloc[0]
    assert pd.notna(last["geometric_mean_rt_s"])
    assert pd.isna(last["geometric_mean_rt_high_s"])
    assert "too wide" in last["note"]


def test_stretches_hold_equal_parts_of_the_session(play):
    trials = play(lambda rule, n: n, rules=["direct"] * 100, wrong=(5,))
    flagged, factors = flagged_of(trials)
    table = participant_stretches(flagged, factors=factors)
    assert table["stretch"].tolist() == list(range(1, 11))
    assert table["n_trials"].tolist() == [10] * 10
    assert table["n_rt"].tolist() == [9] + [10] * 9
    assert table["mean_rt_s"].tolist()[1:] == pytest.approx([15.5 + 10 * i for i in range(9)])
    assert table["p_correct"].tolist() == [0.9] + [1.0] * 9


def test_stretches_are_averaged_over_those_who_have_them(play):
    trials = play(lambda rule, n: 1.0, rules=["direct"] * 20, people=("a", "b"))
    # b meets the other rule in the second half only, a never.
    later = (trials["participant_id"] == "b") & (trials["trial_index"] >= 10)
    trials = trials.assign(rule=trials["rule"].mask(later, "exclusion"))
    flagged, factors = flagged_of(trials)
    people = participant_stretches(flagged, factors=factors, n_stretches=2)
    group = group_stretches(people, factors=factors, confidence=0.95)
    table = group.set_index(["rule", "stretch"])
    assert table.loc[("direct", 1), "n_participants"] == 2
    assert json.loads(table.loc[("direct", 2), "left_out"]) == ["b"]
    row = table.loc[("exclusion", 2)]
    assert (row["n_participants"], row["n_left_out"]) == (1, 1)
    assert row["note"] == "one participant, so no interval"
    assert pd.isna(row["geometric_mean_rt_low_s"])


def test_the_order_of_rows_makes_no_difference(play):
    rng = np.random.default_rng(9)
    trials = play(lambda rule, n: rng.uniform(0.5, 2), rules=shuffled(150), people=("a", "b"))
    mixed_up = trials.iloc[rng.permutation(len(trials))]
    pd.testing.assert_frame_equal(slopes_of(mixed_up), slopes_of(trials))
    flagged, factors = flagged_of(trials)
    other, _ = flagged_of(mixed_up)
    pd.testing.assert_frame_equal(
        participant_stretches(other, factors=factors),
        participant_stretches(flagged, factors=factors),
    )


def test_all_wrong_gives_missing_values(play):
    trials = play(lambda rule, n: 1.0, rules=shuffled(40), wrong=range(1, 41))
    flagged, factors = flagged_of(trials)
    slopes = participant_slopes(flagged, factors=factors)
    assert slopes[["power_slope", "speed_up_ratio"]].isna().all(axis=None)
    group = group_slopes(slopes, factors=factors, confidence=0.95)
    assert (
        group.set_index("measure").loc["power_slope", "note"].str.startswith("no participant").all()
    )
    stretches = participant_stretches(flagged, factors=factors)
    assert (stretches["p_correct"] == 0).all()
    means = group_stretches(stretches, factors=factors, confidence=0.95)
    assert means["geometric_mean_rt_s"].isna().all()


def test_no_analysed_trial_is_refused(play):
    trials = play(lambda rule, n: 1.0, rules=["direct"] * 5, phase="practice")
    flagged = flag_exclusions(trials, SETTINGS)
    with pytest.raises(DatasetError, match="none of the 5 trials is analysed"):
        participant_slopes(flagged, factors=("rule",))
