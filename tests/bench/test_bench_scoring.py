"""The bench counts and describes what it measured; on trials made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.bench.goals import goal_rows
from tests.bench.peers import FLOOR, MINIMAL, MINIMAL_60, OURS
from tests.bench.scoring import Trial, join, judge, ratio_interval, summarise


def trial(error_s: float = 0.0, *, key: str = "s", logged_key: str | None = "s") -> Trial:
    logged_rt_s = None if logged_key is None else 0.25 + error_s
    return Trial(key, 0.25, logged_key, logged_rt_s, "tap-10ms")


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_press_without_an_answer_is_lost():
    assert judge(trial(logged_key=None)) == "lost"


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (trial(0.499), "right"),
        (trial(0.501), "misattributed"),
        (trial(-0.501), "misattributed"),
        (trial(logged_key="d"), "misattributed"),
    ],
)
def test_answer_of_another_press_is_told_by_its_key_or_its_time(found, verdict):
    assert judge(found) == verdict


def test_trial_whose_card_never_came_counts_for_nothing():
    summary = summarise([Trial("s", None, None, None, "held"), trial(0.001)], rng=rng())
    assert (summary.n_sent, summary.n_lost, summary.n_misattributed) == (1, 0, 0)


def test_lost_and_misattributed_presses_are_counted_and_have_no_error():
    trials = [trial(0.001), trial(0.003), trial(logged_key=None), trial(0.9), trial(logged_key="k")]
    summary = summarise(trials, rng=rng())
    assert (summary.n_sent, summary.n_lost, summary.n_misattributed) == (5, 1, 2)
    assert summary.errors_s == pytest.approx([0.001, 0.003])


def test_bias_sd_and_percentile_are_those_of_the_errors():
    # 0 to 20 ms: mean and median 10, variance 21 * 22 / 12, distances 0, 1, 1, 2, 2, ... 10, 10.
    summary = summarise([trial(i / 1000) for i in range(21)], rng=rng())
    assert summary.bias_s == pytest.approx(0.010)
    assert summary.sd_s == pytest.approx(math.sqrt(21 * 22 / 12) / 1000)
    assert summary.robust_sd_s == pytest.approx(1.4826 * 0.005)
    assert summary.p95_s == pytest.approx(0.010)


def test_one_outlier_moves_the_sd_and_not_the_robust_one():
    errors_s = [0.001 * (i % 5) for i in range(50)]
    plain, outlier = (
        summarise([trial(e) for e in found], rng=rng()) for found in (errors_s, [*errors_s, 0.3])
    )
    assert outlier.sd_s > 10 * plain.sd_s
    assert outlier.robust_sd_s == pytest.approx(plain.robust_sd_s)


def test_interval_of_the_sd_covers_it_and_has_the_width_of_theory():
    errors_s = np.random.default_rng(11).normal(0.002, 0.001, size=400)
    summary = summarise([trial(float(e)) for e in errors_s], rng=rng())
    low_s, high_s = summary.sd_interval_s
    assert low_s < summary.sd_s < high_s
    # Of a normal sample, the SD has a standard error of SD / sqrt(2 (n - 1)).
    expected_s = 2 * 1.96 * summary.sd_s / math.sqrt(2 * 399)
    assert high_s - low_s == pytest.approx(expected_s, rel=0.15)


@pytest.mark.parametrize("trials", [[], [trial(0.001)], [trial(logged_key=None)] * 3])
def test_too_few_errors_have_no_sd(trials):
    summary = summarise(trials, rng=rng())
    assert math.isnan(summary.sd_s)
    assert math.isnan(summary.p95_s)
    assert all(math.isnan(end) for end in summary.sd_interval_s)


def test_ratio_of_equal_errors_is_one():
    summary = summarise([trial(i / 1000) for i in range(40)], rng=rng())
    ratio, low, high = ratio_interval(summary, summary, rng=rng())
    assert ratio == 1
    assert low < 1 < high


def test_ratio_to_errors_that_do_not_differ_is_not_given():
    spread, steady = (
        summarise([trial(e) for e in errors_s], rng=rng())
        for errors_s in ([0.001, 0.002, 0.003], [0.0, 0.0, 0.0])
    )
    assert all(math.isnan(value) for value in ratio_interval(spread, steady, rng=rng()))


PLANNED = [{"key": "s", "hold": "held"}, {"key": "d", "hold": "tap-10ms"}]
DID = [
    {"what": "waiting", "t_s": 1.0, "trial_index": None},
    {"what": "press", "t_s": 1.2, "key": "space", "trial_index": None},
    {"what": "card", "t_s": 5.0, "trial_index": 0},
    {"what": "press", "t_s": 5.25, "key": "s", "trial_index": 0},
    {"what": "off", "t_s": 5.26},
    {"what": "release", "t_s": 5.5, "key": "s", "trial_index": 0},
    {"what": "card", "t_s": 6.0, "trial_index": 1},
    {"what": "press", "t_s": 6.2, "key": "d", "trial_index": 1},
]


def test_both_sides_are_put_together_by_trial():
    logged = [{"key": "s", "rt_s": 0.253}, {"key": None, "rt_s": None}]
    first, second = join(PLANNED, DID, logged, deadline_s=1.2)
    assert first.true_rt_s == pytest.approx(0.25)
    assert first.error_s == pytest.approx(0.003)
    assert [judge(first), judge(second)] == ["right", "lost"]


def test_trials_missing_from_the_results_are_lost():
    trials = join(PLANNED, DID, [{"key": "s", "rt_s": 0.25}], deadline_s=1.2)
    assert [judge(t) for t in trials] == ["right", "lost"]


def test_press_after_the_deadline_was_not_in_the_trials_time():
    logged = [{"key": None, "rt_s": None}] * 2
    trials = join(PLANNED, DID, logged, deadline_s=0.21)
    assert [judge(t) for t in trials] == ["not_sent", "lost"]


def normal(sd_s: float, n_lost: int = 0):
    errors_s = np.random.default_rng(5).normal(0, sd_s, size=200)
    lost = [trial(logged_key=None)] * n_lost
    return summarise([*(trial(float(e)) for e in errors_s), *lost], rng=rng())


def summaries(*, ours_s: float, busy_s: float, n_lost: int = 0):
    found = {(name, "idle"): normal(0.001) for name in (MINIMAL, MINIMAL_60, FLOOR)}
    return found | {(OURS, "idle"): normal(ours_s), (OURS, "busy"): normal(busy_s, n_lost)}


def test_goals_are_met_at_their_limits():
    rows = goal_rows(summaries(ours_s=0.00089, busy_s=0.00099))
    assert [row.met for row in rows] == [True] * 7


def test_each_goal_can_be_missed():
    rows = goal_rows(summaries(ours_s=0.0016, busy_s=0.00101, n_lost=1))
    assert [row.met for row in rows] == [False, False, False, True, False, False, False]


def test_goal_without_its_peer_is_not_measured():
    rows = goal_rows({(OURS, "idle"): normal(0.001)})
    assert [row.met for row in rows] == [None, None, None, True, None, None, None]
