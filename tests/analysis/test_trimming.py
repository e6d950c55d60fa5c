"""The trimming rules, against closed forms, published values and a plain loop over groups."""

from __future__ import annotations

import csv
import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_analysis.trimming import (
    MAD_SCALE,
    MODIFIED_RECURSIVE_CRITERION,
    NONRECURSIVE_CRITERION,
    hybrid_means,
    mad_outliers,
    modified_recursive_outliers,
    nonrecursive_outliers,
    sd_outliers,
)

RULES = {
    "sd": lambda x, g: sd_outliers(x, g, n_sd=1.5),
    "mad": lambda x, g: mad_outliers(x, g, n_mad=2.5),
    "nonrecursive": nonrecursive_outliers,
    "modified_recursive": modified_recursive_outliers,
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def one_group(rule, values):
    return rule(values, [0] * len(values)).tolist()


# --- closed forms -----------------------------------------------------------------------------


def test_sd_limit_is_strict_and_the_sd_has_ddof_1():
    # Mean 3, SD (ddof 1) 2: the ends are exactly one SD away, with ddof 0 they would be farther.
    values = [1.0, 3.0, 5.0]
    assert not any(one_group(lambda x, g: sd_outliers(x, g, n_sd=1.0), values))
    assert one_group(lambda x, g: sd_outliers(x, g, n_sd=0.999), values) == [True, False, True]


def test_mad_is_scaled_by_1_4826_and_its_limit_is_strict():
    # Median 0.5; deviations 0, 0.125, 0.125, 0.25 and that of the last: the MAD is 0.125.
    limit = 2 * MAD_SCALE * 0.125
    for beyond, expected in ((-1e-9, False), (1e-9, True)):
        values = [0.25, 0.375, 0.5, 0.625, 0.5 + limit + beyond]
        assert one_group(lambda x, g: mad_outliers(x, g, n_mad=2.0), values)[-1] is expected


def test_mad_of_an_even_number_of_rts_is_between_the_middle_two():
    # Median 2.5, deviations 1.5 0.5 0.5 1.5, MAD 1.
    values, edge = [1.0, 2.0, 3.0, 4.0], 1.5 / MAD_SCALE
    assert not any(one_group(lambda x, g: mad_outliers(x, g, n_mad=edge + 1e-9), values))
    outlying = one_group(lambda x, g: mad_outliers(x, g, n_mad=edge - 1e-9), values)
    assert outlying == [True, False, False, True]


def test_mad_of_0_flags_whatever_is_not_the_median():
    values = [0.5] * 4 + [0.6, 9.0]
    assert one_group(RULES["mad"], values) == [False] * 4 + [True, True]


def test_no_rt_is_more_than_n_minus_1_over_root_n_sds_away():
    bound = 9 / np.sqrt(10)
    values = [0.5] * 9 + [80.0]
    assert one_group(lambda x, g: sd_outliers(x, g, n_sd=bound - 1e-9), values)[-1]
    assert not one_group(lambda x, g: sd_outliers(x, g, n_sd=bound + 1e-9), values)[-1]


# --- Van Selst and Jolicoeur ------------------------------------------------------------------


def test_criteria_are_those_of_the_published_table(shared):
    path = shared / "reference" / "vsj1994_criterion.csv"
    with open(path, encoding="utf-8", newline="") as file:
        rows = {int(row["sampleSize"]): row for row in csv.DictReader(file)}
    columns = {
        "modifiedRecursive": MODIFIED_RECURSIVE_CRITERION,
        "nonRecursive": NONRECURSIVE_CRITERION,
    }
    for name, ours in columns.items():
        assert ours == {size: float(row[name]) for size, row in rows.items()}


def test_some_criteria_are_as_published():
    assert [MODIFIED_RECURSIVE_CRITERION[n] for n in (4, 14, 18, 100)] == [8.0, 3.8, 3.684, 3.5]
    assert [NONRECURSIVE_CRITERION[n] for n in (4, 14, 18, 100)] == [1.458, 2.31, 2.365, 2.5]


EXAMPLES = [
    ([400, 410, 420, 430, 440, 450, 460, 470, 480, 700], 440, 440),
    ([300, *range(500, 550, 5), 900, 900], 563.461538, 502.272727),
]


@pytest.mark.parametrize(("values", "nonrecursive", "modified"), EXAMPLES)
def test_worked_examples_have_their_means(values, nonrecursive, modified):
    rt, groups = np.array(values, dtype=float), np.zeros(len(values), dtype=int)
    means = [
        rt[~rule(rt, groups)].mean()
        for rule in (nonrecursive_outliers, modified_recursive_outliers)
    ]
    assert means == pytest.approx([nonrecursive, modified], abs=1e-6)
    assert hybrid_means(rt, groups) == pytest.approx([sum(means) / 2], rel=1e-12)


def test_worked_examples_are_those_of_the_reference_values(shared):
    text = (shared / "reference" / "values.json").read_text(encoding="utf-8")
    for example in json.loads(text)["van_selst_jolicoeur_ms"]:
        expected = (example["rt"], example["nonrecursive_mean"], example["modified_recursive_mean"])
        assert any(
            list(known[0]) == expected[0] and known[1:] == expected[1:] for known in EXAMPLES
        )


def test_groups_above_100_have_the_criterion_of_100():
    values = np.linspace(-1, 1, 200)
    sd = np.append(values, 0.0).std(ddof=1)
    for factor, expected in ((2.4, False), (2.7, True)):
        extreme = np.append(values, factor * sd)
        assert nonrecursive_outliers(extreme, np.zeros(201, dtype=int))[-1] == expected


@pytest.mark.parametrize("rule", [nonrecursive_outliers, modified_recursive_outliers])
def test_fewer_than_4_rts_are_not_trimmed(rule):
    assert not any(one_group(rule, [0.5, 0.5001, 90.0]))
    assert one_group(rule, [0.5, 0.5001, 0.5002, 90.0])[-1] is True


def test_recursion_stops_at_four_rts():
    # 900 goes; 0.9 is beyond the criterion of four RTs, but no further round is made.
    values = [0.5, 0.501, 0.502, 0.9, 900.0]
    assert one_group(modified_recursive_outliers, values) == [False] * 4 + [True]
    assert one_group(modified_recursive_outliers, values[:4]) == [False] * 3 + [True]


def plain_modified_recursive(values):
    """The procedure of one group as it is described, step by step."""
    left = list(values)
    while len(left) >= 4:
        others = [v for v in left if v != max(left)]
        if len(others) < 2:
            break
        criterion = MODIFIED_RECURSIVE_CRITERION[min(len(left), 100)]
        limit = criterion * np.std(others, ddof=1)
        low, high = np.mean(others) - limit, np.mean(others) + limit
        gone = {v for v in (max(left), min(left)) if v > high or v < low}
        left = [v for v in left if v not in gone]
        if not gone or len(left) <= 4:
            break
    return left


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_all_groups_at_once_are_trimmed_as_each_by_a_loop(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 150, size=30)
    groups = rng.permutation(np.repeat(np.arange(30), sizes))
    # Long tails on the slow side, and in every other case on both.
    drawn = rng.standard_t(3, size=len(groups)) * 0.4
    rt_s = np.exp(drawn) if seed % 2 else drawn + 5
    flagged = modified_recursive_outliers(rt_s, groups)
    assert flagged.any()
    for group in range(30):
        ours = np.sort(rt_s[(groups == group) & ~flagged])
        assert ours.tolist() == sorted(plain_modified_recursive(rt_s[groups == group]))
    for rule, flags in (("nonrecursive", nonrecursive_outliers(rt_s, groups)),):
        for group in range(30):
            x = rt_s[groups == group]
            criterion = NONRECURSIVE_CRITERION.get(min(len(x), 100), np.inf)
            with_sd = np.abs(x - x.mean()) > criterion * (x.std(ddof=1) if len(x) > 1 else 0)
            expected = with_sd if len(x) >= 4 else np.zeros(len(x), dtype=bool)
            assert flags[groups == group].tolist() == expected.tolist(), rule


def test_hybrid_means_stand_by_code_and_are_missing_without_rts():
    rt_s = np.array([0.5, 0.7, np.nan, 0.9, 1.0])
    means = hybrid_means(rt_s, np.array([0, 0, 1, 3, -1]))
    assert means[:1].tolist() == pytest.approx([0.6])
    assert np.isnan(means[1:3]).all()
    assert means[3] == pytest.approx(0.9)
    assert len(means) == 4


def test_huge_outliers_do_not_blur_the_others():
    rng = np.random.default_rng(5)
    ordinary = rng.normal(0.6, 0.05, size=60)
    values = np.append(ordinary, [1e9, 1e8, 88.0])
    flagged = modified_recursive_outliers(values, np.zeros(63, dtype=int))
    kept = sorted(plain_modified_recursive(ordinary))
    assert np.sort(values[~flagged]).tolist() == kept


# --- every rule -------------------------------------------------------------------------------


@every_rule
@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 7.7])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 120])
def test_identical_rts_are_kept(rule, value, n):
    assert not any(one_group(rule, [value] * n))


@every_rule
def test_missing_rts_and_rows_of_no_group_are_never_flagged_and_count_for_nothing(rule):
    values = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.5, 0.52, 0.53, 9.0]
    alone = one_group(rule, values)
    assert alone[-1]
    more = [*values, np.nan, np.inf, 70.0]
    assert rule(more, [0] * 12 + [-1]).tolist() == [*alone, False, False, False]


@every_rule
def test_nothing_in_nothing_out(rule):
    assert rule([], []).tolist() == []
    assert rule([np.nan], [0]).tolist() == [False]


@every_rule
def test_groups_of_another_number_than_rts_are_refused(rule):
    with pytest.raises(ValueError, match="RTs of shape"):
        rule([0.5, 0.6], [0])


ROWS = st.lists(
    st.tuples(st.sampled_from([0.2, 0.5, 0.51, 0.6, 0.7, 1.0, 3.0, 88.0]), st.integers(0, 2)),
    max_size=40,
)


@pytest.mark.slow
@every_rule
@given(rows=ROWS, seed=st.integers(0, 5))
def test_order_of_rows_and_other_groups_make_no_difference(rule, rows, seed):
    rt_s = np.array([row[0] for row in rows])
    groups = np.array([row[1] for row in rows], dtype=int)
    flagged = rule(rt_s, groups)
    order = np.random.default_rng(seed).permutation(len(rows))
    assert rule(rt_s[order], groups[order]).tolist() == flagged[order].tolist()
    for group in range(3):
        mine = groups == group
        assert rule(rt_s[mine], groups[mine]).tolist() == flagged[mine].tolist()


@given(rows=ROWS)
def test_equal_rts_have_equal_flags_and_a_group_is_never_emptied(rows):
    rt_s = np.array([row[0] for row in rows])
    groups = np.array([row[1] for row in rows], dtype=int)
    for rule in (RULES["nonrecursive"], RULES["modified_recursive"]):
        flagged = rule(rt_s, groups)
        for group in set(groups.tolist()):
            mine = groups == group
            assert not flagged[mine].all()
            for value in set(rt_s[mine].tolist()):
                assert len(set(flagged[mine & (rt_s == value)].tolist())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [1, 20_000])
def test_a_million_rts_are_trimmed_in_seconds(n_groups):
    rng = np.random.default_rng(1)
    rt_s = np.exp(rng.normal(0, 0.4, size=1_000_000))
    groups = rng.integers(0, n_groups, size=len(rt_s))
    began = time.perf_counter()
    assert modified_recursive_outliers(rt_s, groups).any()
    assert time.perf_counter() - began < 10
