from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghostblitz_analysis.inference import correct_p_values

CORRECTIONS = ("none", "bonferroni", "holm", "fdr_bh", "fdr_by")


def test_bonferroni_multiplies_by_the_number_of_tests_up_to_one():
    assert correct_p_values([0.01, 0.2, 0.5], correction="bonferroni").tolist() == pytest.approx(
        [0.03, 0.6, 1.0]
    )


@pytest.mark.slow
def test_holm_multiplies_by_the_tests_that_are_left():
    corrected = correct_p_values([0.04, 0.01, 0.03], correction="holm")
    assert corrected.tolist() == pytest.approx([0.06, 0.03, 0.06])


def test_benjamini_hochberg_divides_by_the_rank_and_yekutieli_adds_the_harmonic_sum():
    p = [0.01, 0.02, 0.04]
    expected = np.array([0.03, 0.03, 0.04])
    assert correct_p_values(p, correction="fdr_bh") == pytest.approx(expected)
    assert correct_p_values(p, correction="fdr_by") == pytest.approx(expected * (1 + 1 / 2 + 1 / 3))


@pytest.mark.slow
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_missing_p_stays_missing_and_does_not_count(correction):
    with_gap = correct_p_values([0.01, np.nan, 0.04], correction=correction)
    assert np.isnan(with_gap[1])
    without = correct_p_values([0.01, 0.04], correction=correction)
    assert with_gap[[0, 2]] == pytest.approx(without)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("p", [[], [np.nan], [np.nan, np.nan]])
def test_no_test_is_no_error(correction, p):
    corrected = correct_p_values(p, correction=correction)
    assert corrected.shape == (len(p),)
    assert np.isnan(corrected).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_what_is_no_probability_is_refused(correction, p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        correct_p_values([0.5, p], correction=correction)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    correction=st.sampled_from(CORRECTIONS),
)
def test_corrected_values_are_no_smaller_keep_their_order_and_end_at_one(p, correction):
    before = np.array(p)
    corrected = correct_p_values(before, correction=correction)
    assert before.tolist() == p
    assert (corrected >= before * (1 - 1e-12)).all()
    assert (corrected <= 1).all()
    assert (np.diff(corrected[np.argsort(before)]) >= -1e-12).all()
