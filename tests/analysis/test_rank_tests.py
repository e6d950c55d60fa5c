from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from ghostblitz_analysis.inference import signed_rank_test


def test_without_ties_p_is_wilcoxons():
    x = np.random.default_rng(1).normal(0.3, 1, size=17)
    result = signed_rank_test(x)
    expected = stats.wilcoxon(x, method="exact")
    assert result.p == pytest.approx(expected.pvalue)
    assert min(result.w_plus, 17 * 18 / 2 - result.w_plus) == expected.statistic
    assert (result.n_nonzero, result.exact, result.note) == (17, True, "")


def test_with_ties_p_counts_every_assignment_of_signs():
    x = np.array([0.1, 0.1, -0.1, 0.2, 0.2, 0.4, -0.5])
    result = signed_rank_test(x)
    ranks = stats.rankdata(np.abs(x))
    sums = [np.dot(ranks, signs) for signs in product([0, 1], repeat=len(x))]
    centre = ranks.sum() / 2
    as_far = np.abs(np.array(sums) - centre) >= abs(ranks[x > 0].sum() - centre) - 1e-9
    assert result.p == pytest.approx(as_far.mean())


def test_rounding_error_is_neither_a_tie_broken_nor_a_difference():
    result = signed_rank_test([0.1 + 0.2 - 0.3, 0.3, 0.1 + 0.2, -0.1])
    assert result.n_nonzero == 3
    assert result.w_plus == 5.0
    assert "leave out 1 participant with a difference of 0" in result.note


def test_many_differences_take_the_normal_approximation():
    x = np.round(np.random.default_rng(2).normal(0.1, 1, size=200), 1)
    x = x[x != 0]
    result = signed_rank_test(x)
    ranks = stats.rankdata(np.abs(x))
    z = (abs(ranks[x > 0].sum() - ranks.sum() / 2) - 0.5) / np.sqrt((ranks**2).sum() / 4)
    assert result.p == pytest.approx(2 * stats.norm.sf(z))
    assert not result.exact


def test_the_approximation_meets_the_exact_p_where_one_takes_over():
    rng = np.random.default_rng(3)
    x = rng.normal(0.4, 1, size=50)
    exact = signed_rank_test(x).p
    ranks = stats.rankdata(np.abs(x))
    z = (abs(ranks[x > 0].sum() - ranks.sum() / 2) - 0.5) / np.sqrt((ranks**2).sum() / 4)
    assert exact == pytest.approx(2 * stats.norm.sf(z), abs=1e-3)


def test_rank_biserial_is_one_where_all_agree_and_turns_with_the_sign():
    assert signed_rank_test([0.1, 0.5, 2.0]).rank_biserial == 1
    assert signed_rank_test([-0.1, -0.5]).rank_biserial == -1
    x = [0.3, -0.2, 0.9, 0.4]
    # Ranks 2, 1, 4, 3: (9 - 1) / 10.
    assert signed_rank_test(x).rank_biserial == pytest.approx(0.8)
    turned = signed_rank_test([-value for value in x])
    assert turned.rank_biserial == pytest.approx(-0.8)
    assert turned.p == signed_rank_test(x).p


@pytest.mark.parametrize(
    ("differences", "note"), [([], "no participant"), ([0.0, 0.0], "no difference but 0")]
)
def test_nothing_to_rank_is_no_test(differences, note):
    result = signed_rank_test(differences)
    assert np.isnan([result.p, result.rank_biserial]).all()
    assert note in result.note


def test_one_difference_proves_nothing():
    assert signed_rank_test([0.4]).p == 1
