from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.ez_diffusion import MIN_N_RT, SCALE, ez_cells, ez_parameters
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import DatasetError

DEFAULTS = AnalysisSettings()
#: Skewed to the right, all different, MIN_N_RT of them.
RTS = [0.50, 0.52, 0.55, 0.58, 0.62, 0.67, 0.74, 0.85, 1.05, 1.60]
PARAMETERS = ("v", "a", "ter_s", "mean_decision_s")


def cells_of(trials, settings=DEFAULTS):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    measures = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    return ez_cells(measures, flagged, factors=factors, alpha=settings.alpha)


def solved(p_correct, var_rt_s2=0.1, mean_rt_s=0.7, *, n_trials=100, **scale):
    found = ez_parameters(p_correct, var_rt_s2, mean_rt_s, n_trials=n_trials, **scale)
    return np.array([getattr(found, name) for name in PARAMETERS])


def moments(v, a, s=0.1):
    """What the diffusion process predicts: accuracy, variance and mean of decision times."""
    y = -v * a / s**2
    e = np.exp(y)
    p_correct = 1 / (1 + e)
    variance = a * s**2 / (2 * v**3) * (2 * y * e - e**2 + 1) / (e + 1) ** 2
    return p_correct, variance, a / (2 * v) * (1 - e) / (1 + e)


def test_worked_example_of_the_source():
    v, a, ter_s, _ = solved(0.802, 0.112, 0.723)
    assert (round(v, 4), round(a, 4), round(ter_s, 3)) == (0.0999, 0.14, 0.3)


@given(
    v=st.floats(0.02, 0.45),
    a=st.floats(0.05, 0.3),
    ter_s=st.floats(0, 1),
    sign=st.sampled_from([-1, 1]),
)
def test_moments_of_a_diffusion_give_its_parameters_back(v, a, ter_s, sign):
    p_correct, variance, decision_s = moments(sign * v, a)
    found = solved(p_correct, variance, ter_s + decision_s, n_trials=1e12)
    assert found == pytest.approx([sign * v, a, ter_s, decision_s], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("sign", [-1, 1])
def test_parameters_go_over_into_their_limit_at_chance(distance, sign):
    limit_a = (24 * 0.1**4 * 0.1) ** 0.25
    at_chance = solved(0.5)
    assert at_chance == pytest.approx([0, limit_a, 0.7 - limit_a**2 / 0.04, limit_a**2 / 0.04])
    near = solved(0.5 + sign * distance)
    assert near[1:] == pytest.approx(at_chance[1:], rel=10 * distance**2 + 1e-12)
    # v grows in proportion: s (2p - 1) (2 / (3 VRT)) ** (1/4).
    slope = 0.1 * 2 * (2 / (3 * 0.1)) ** 0.25
    assert near[0] / (sign * distance * slope) == pytest.approx(1, rel=1e-3)


def test_series_and_closed_form_agree_where_they_meet():
    below, above = solved(0.6 - 1e-13), solved(0.6 + 1e-13)
    assert below == pytest.approx(above, rel=2e-12)


def test_perfect_accuracy_counts_as_half_an_error():
    assert solved(1.0, n_trials=50) == pytest.approx(solved(0.99, n_trials=50), rel=1e-12)
    assert ez_parameters(1.0, 0.1, 0.7, n_trials=50).p_used == 0.99
    assert ez_parameters(0.0, 0.1, 0.7, n_trials=50).p_used == 0.01


def test_below_chance_the_drift_is_that_of_the_mirrored_accuracy():
    mirror = [-1, 1, 1, 1]
    assert solved(0.2) == pytest.approx(solved(0.8) * mirror, rel=1e-12)
    assert solved(0.0) == pytest.approx(solved(1.0) * mirror, rel=1e-12)


def test_the_scale_is_the_unit_of_drift_and_boundary_only():
    assert solved(0.9, s=1.0) == pytest.approx(solved(0.9) * [10, 10, 1, 1], rel=1e-12)


@pytest.mark.parametrize("stretch", [0.01, 3.0])
def test_parameters_follow_the_unit_of_time(stretch):
    found = solved(0.9, 0.1 * stretch**2, 0.7 * stretch)
    expected = solved(0.9) * [stretch**-0.5, stretch**0.5, stretch, stretch]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("p_correct", "variance", "mean_s"),
    [(np.nan, 0.1, 0.7), (0.8, np.nan, 0.7), (0.8, 0.0, 0.7)],
)
def test_what_cannot_be_solved_is_missing(p_correct, variance, mean_s):
    assert np.isnan(solved(p_correct, variance, mean_s)).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"p_correct": 1.01}, "not between 0 and 1"),
        ({"p_correct": 80}, "give shares"),
        ({"p_correct": 0.8, "n_trials": 0}, "less than one trial"),
        ({"p_correct": 0.8, "s": 0.0}, "s is 0, but"),
    ],
)
def test_impossible_values_are_refused(values, message):
    with pytest.raises(DatasetError, match=message):
        solved(**values)


# --- participants and cells -------------------------------------------------------------------


def test_cells_hold_the_parameters_of_their_trials(make_trials):
    rows = [{"rt_s": rt} for rt in RTS] + [{"rt_s": 0.9, "error_kind": "shape_capture"}] * 2
    row = cells_of(make_trials([*rows, {"error_kind": "late"}])).iloc[0]
    expected = solved(10 / 13, np.var(RTS, ddof=1), np.mean(RTS), n_trials=13)
    assert row[list(PARAMETERS)].tolist() == pytest.approx(expected, rel=1e-12)
    assert row["var_rt_s2"] == pytest.approx(np.var(RTS, ddof=1))
    assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (13, 10, 10)
    assert (row["n_no_response"], row["n_error_rt"], row["s"]) == (1, 2, SCALE)
    assert not row["edge_corrected"]
    assert "trials without a response count as errors" in row["note"]


def test_more_than_two_answers_are_labelled_descriptive(make_trials):
    two = "ghost:white chair:red"
    rows = [{"rt_s": rt, "item_colours": two, "participant_id": "two"} for rt in RTS]
    rows += [{"rt_s": rt, "participant_id": "five"} for rt in RTS]
    table = cells_of(make_trials(rows)).set_index("participant_id")
    assert table["coding"].tolist() == ["accuracy", "accuracy"]
    assert table["n_items"].to_dict() == {"five": 5, "two": 2}
    assert table["descriptive"].to_dict() == {"five": True, "two": False}


def test_perfect_cells_say_that_they_were_corrected(make_trials):
    row = cells_of(make_trials({"rt_s": rt} for rt in RTS)).iloc[0]
    assert row["edge_corrected"]
    assert (row["p_correct"], row["p_used"]) == (1, 1 - 1 / 20)
    assert "accuracy of 1 - 1/(2n) was used" in row["note"]


def test_below_chance_is_flagged(make_trials):
    wrong = [{"error_kind": "shape_capture", "rt_s": rt} for rt in RTS]
    rows = [{"rt_s": rt} for rt in RTS] + [*wrong, *wrong]
    row = cells_of(make_trials(rows)).iloc[0]
    assert row["v"] < 0
    assert row["negative_drift"]
    assert row["misfit"]
    assert "drift is negative" in row["note"]


def test_negative_non_decision_time_is_flagged_and_kept(make_trials):
    row = cells_of(make_trials({"rt_s": rt} for rt in [*RTS, 9.0])).iloc[0]
    assert row["ter_s"] < 0
    assert row["negative_ter"]
    assert row["misfit"]
    assert "negative non-decision time" in row["note"]


@pytest.mark.parametrize(
    ("rows", "n_rt", "note"),
    [
        ([{"rt_s": rt} for rt in RTS[1:]], MIN_N_RT - 1, "fewer than 10 correct RTs"),
        ([{"rt_s": 0.7}] * 20, 20, "all correct RTs are equal"),
        ([{"error_kind": "shape_capture"}] * 20, 0, "no correct RT"),
        ([{"error_kind": "late"}] * 20, 0, "no correct RT"),
    ],
)
def test_what_has_no_parameters_says_why(make_trials, rows, n_rt, note):
    row = cells_of(make_trials(rows)).iloc[0]
    missing = [*PARAMETERS, "p_used", "edge_corrected", "negative_drift", "negative_ter", "misfit"]
    assert all(row[name] is pd.NA for name in [*missing, "skew_rt"])
    assert row["n_rt"] == n_rt
    assert note in row["note"]


def test_a_missing_rule_is_a_row_without_trials(make_trials):
    rows = [{"participant_id": "a"}, {"participant_id": "b"}]
    table = cells_of(make_trials([*rows, {"participant_id": "b", "rule": "exclusion"}]))
    row = table.iloc[1]
    assert (row["participant_id"], row["rule"], row["n_trials"]) == ("a", "exclusion", 0)
    assert (row["n_no_response"], row["n_error_rt"], row["n_checks"]) == (0, 0, 0)
    assert row["descriptive"] is pd.NA
    assert row["note"] == "no trial"


def test_skew_is_checked(make_trials):
    row = cells_of(make_trials({"rt_s": rt} for rt in RTS)).iloc[0]
    assert row["skew_rt"] == pytest.approx(stats.skew(RTS, bias=False))
    assert (row["n_checks"], row["n_checks_failed"]) == (1, 0)
    row = cells_of(make_trials({"rt_s": 3 - rt} for rt in RTS)).iloc[0]
    assert row["skew_rt"] == pytest.approx(-stats.skew(RTS, bias=False))
    assert row["n_checks_failed"] == 1
    assert "not skewed to the right" in row["note"]


@pytest.mark.parametrize(("factor", "word"), [(2.0, "slower"), (0.5, "faster")])
def test_speed_of_errors_is_checked(make_trials, factor, word):
    rows = [{"rt_s": rt} for rt in RTS]
    errors = [factor * rt for rt in RTS[2:8]]
    rows += [{"rt_s": rt, "error_kind": "shape_capture"} for rt in errors]
    row = cells_of(make_trials(rows)).iloc[0]
    test = stats.ttest_ind(np.log(RTS), np.log(errors), equal_var=False)
    assert row["error_rt_p"] == pytest.approx(test.pvalue, rel=1e-9)
    ratio = stats.gmean(errors) / stats.gmean(RTS)
    assert row["error_rt_ratio"] == pytest.approx(ratio, rel=1e-12)
    assert (row["n_checks"], row["n_checks_failed"]) == (2, 1)
    assert f"errors are {word} than correct" in row["note"]


def test_errors_outside_the_bounds_are_not_compared(make_trials):
    rows = [{"rt_s": rt} for rt in RTS]
    rows += [{"rt_s": rt, "error_kind": "shape_capture"} for rt in (0.1, 0.6, 40.0)]
    row = cells_of(make_trials(rows)).iloc[0]
    assert row["n_error_rt"] == 1
    assert row["error_rt_p"] is pd.NA


def test_trimming_of_correct_rts_does_not_make_errors_slower(make_trials):
    rts = [*RTS, *RTS, 5.0]
    rows = [{"rt_s": rt} for rt in rts]
    rows += [{"rt_s": rt, "error_kind": "shape_capture"} for rt in rts]
    settings = AnalysisSettings.model_validate({"exclusions": [{"step": "sd"}, {"step": "mad"}]})
    row = cells_of(make_trials(rows), settings).iloc[0]
    assert row["n_rt"] < row["n_error_rt"] == len(rts)
    assert row["error_rt_ratio"] == pytest.approx(1, rel=1e-12)
    assert row["error_rt_p"] == pytest.approx(1)


def test_favoured_answers_are_checked(make_trials):
    factors = {"ghost": 1.0, "chair": 1.1, "book": 2.0}
    rows = [{"rt_s": f * rt, "answer": item} for item, f in factors.items() for rt in RTS]
    row = cells_of(make_trials(rows)).iloc[0]
    test = stats.f_oneway(*(np.log(RTS) + np.log(f) for f in factors.values()))
    assert row["answer_rt_p"] == pytest.approx(test.pvalue, rel=1e-9)
    assert "some answers are faster" in row["note"]


def test_cells_do_not_depend_on_who_else_is_there(draw_trials):
    trials = draw_trials(np.random.default_rng(2), n_participants=3, n_per_cell=15, p_error=0.2)
    together = cells_of(trials)
    alone = [cells_of(trials[trials["participant_id"] == p]) for p in ("001", "002", "003")]
    pd.testing.assert_frame_equal(together, pd.concat(alone, ignore_index=True))


# --- recovery ---------------------------------------------------------------------------------


def diffusion(rng, *, v, a, ter_s, n, s=0.1, dt_s=5e-4):
    """RTs and correctness of a random walk in small steps.

    A walk in steps oversteps a boundary by 0.5826 s sqrt(dt) on average (Siegmund 1985), so the
    boundaries are moved in by that.
    """
    overstep = 0.5826 * s * np.sqrt(dt_s)
    place, steps = np.full(n, a / 2), np.zeros(n)
    correct = np.zeros(n, dtype=bool)
    walking, step = np.arange(n), 0
    while len(walking):
        step += 1
        place[walking] += v * dt_s + s * np.sqrt(dt_s) * rng.standard_normal(len(walking))
        up, down = place[walking] >= a - overstep, place[walking] <= overstep
        steps[walking[up | down]] = step
        correct[walking[up]] = True
        walking = walking[~(up | down)]
    return ter_s + steps * dt_s, correct


@pytest.mark.slow
@pytest.mark.parametrize(
    ("v", "a", "ter_s"), [(0.1, 0.14, 0.3), (0.3, 0.1, 0.25), (0.03, 0.08, 0.4), (-0.1, 0.12, 0.3)]
)
def test_parameters_of_a_simulated_diffusion_come_back(v, a, ter_s):
    rng = np.random.default_rng(11)
    rts, correct = diffusion(rng, v=v, a=a, ter_s=ter_s, n=20_000)
    right = rts[correct]
    found = solved(correct.mean(), right.var(ddof=1), right.mean(), n_trials=len(rts))
    assert found[0] == pytest.approx(v, rel=0.03, abs=0.006)
    assert found[1] == pytest.approx(a, rel=0.02)
    assert found[2] == pytest.approx(ter_s, abs=0.01)
