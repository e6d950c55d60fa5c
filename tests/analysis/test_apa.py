from __future__ import annotations

import pandas as pd
import pytest

from ghostblitz_analysis.apa import (
    as_html,
    bayes_factor_apa,
    df_text,
    effect_apa,
    f_apa,
    interval_apa,
    p_apa,
    points_apa,
    proportion_interval,
    r_apa,
    t_apa,
    z_apa,
)
from ghostblitz_analysis.table_columns import bounds, numeral
from ghostblitz_analysis.wording import number, signed, signed_interval, with_minus


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0171, "p = .017"),
        (0.001, "p = .001"),
        (0.00099, "p < .001"),
        (0.0, "p < .001"),
        (0.9996, "p > .999"),
        (1.0, "p > .999"),
        (None, "p not known"),
        (pd.NA, "p not known"),
        (float("nan"), "p not known"),
    ],
)
def test_p_has_three_decimals_no_leading_zero_and_bounds(p, text):
    assert p_apa(p) == text


def test_statistics_have_two_decimals_and_a_minus_sign():
    assert t_apa(2.5, 39) == "t(39) = 2.50"
    assert t_apa(-0.8478, 9.0) == "t(9) = −0.85"
    assert t_apa(1, 9.5331) == "t(9.53) = 1.00"
    assert z_apa(-5.7106) == "z = −5.71"
    assert f_apa(104.5523, 1, 9) == "F(1, 9) = 104.55"
    assert f_apa(3.2, 1.4213, 12.791) == "F(1.42, 12.79) = 3.20"


def test_a_missing_statistic_becomes_words():
    assert t_apa(None, None) == "no t test"
    assert z_apa(None) == "no z test"
    assert f_apa(pd.NA, 1, 9) == "no F test"
    assert interval_apa(0.1, None, 2, confidence=0.95) == "no interval"
    assert effect_apa("dz", None, None, None, confidence=0.95) == "no dz"
    assert bayes_factor_apa(None) == "no Bayes factor"
    assert bayes_factor_apa("") == "no Bayes factor"


def test_degrees_of_freedom_are_whole_where_they_are():
    assert [df_text(df) for df in (39, 9.0, 9.533, 5668.0583)] == ["39", "9", "9.53", "5668.06"]


def test_an_effect_size_without_interval_stands_alone():
    assert effect_apa("dz", 0.4, 0.08, 0.712, confidence=0.95) == "dz = 0.40, 95% CI [0.08, 0.71]"
    assert effect_apa("dz", -0.4, None, None, confidence=0.9) == "dz = −0.40"


def test_numbers_that_cannot_exceed_one_have_no_leading_zero():
    assert [r_apa(r) for r in (0.9646, -0.171, 1.0, 0.0, -1.0)] == [
        ".96", "−.17", "1.00", ".00", "−1.00",
    ]  # fmt: skip
    assert proportion_interval(-0.02, 0.953, 2) == "[−.02, .95]"
    assert proportion_interval(None, 0.9, 2) == "–"


def test_only_hyphens_before_numbers_become_minus_signs():
    text = "exclusion - direct, sub-01, 2026-11-30, [-0.5, -.2], -3, 10^-5"
    said = "exclusion - direct, sub-01, 2026-11-30, [−0.5, −.2], −3, 10^−5"
    assert with_minus(text) == said
    assert signed(-2.5, 1) == "−2.5"
    assert signed_interval(-1, 2, 0) == "[−1, 2]"
    assert points_apa(-0.0281) == "−2.8"


@pytest.mark.parametrize("value", [-0.004, -0.0, 0.0, 0.004, -1e-300])
def test_what_rounds_to_zero_has_no_sign(value):
    assert number(value, 2) == "0.00"
    assert signed(value, 1) == "0.0"
    assert signed(value * 100, 0) == "0"
    assert signed_interval(value, 1, 2) == "[0.00, 1.00]"
    assert r_apa(value) == ".00"
    assert proportion_interval(value, 0.5, 2) == "[.00, .50]"
    assert points_apa(value / 10) == "0.0"
    assert t_apa(value, 9) == "t(9) = 0.00"
    assert numeral("x", "x", 2)[1]({"x": value}) == "0.00"
    assert bounds("x", "x", "CI", 2)[1]({"x": value}) == "[0.00, 0.00]"


def test_what_does_not_round_to_zero_keeps_its_sign():
    assert [signed(x, 2) for x in (-0.005, -0.0049, 0.005)] == ["−0.01", "0.00", "0.01"]
    assert r_apa(-0.006) == "−.01"


def test_a_bayes_factor_in_words_gives_its_first_half():
    assert bayes_factor_apa("BF10 = 2.46 × 10^-5, BF01 = 4.06 × 10^4") == "BF10 = 2.46 × 10^−5"


def test_symbols_are_set_in_italics_and_text_is_escaped():
    html = as_html("<i>t(9) = 6.85, p < .001, dz = 2.16, BF10 = 4 × 10^−4, F(1, 9) = 3, ηG² = .6")
    assert html.replace("\N{NO-BREAK SPACE}", " ") == (
        "&lt;i&gt;<i>t</i>(9) = 6.85, <i>p</i> &lt; .001, <i>d</i><sub>z</sub> = 2.16, "
        "BF<sub>10</sub> = 4 × 10<sup>−4</sup>, <i>F</i>(1, 9) = 3, "
        "η<sub>G</sub><sup>2</sup> = .6"
    )


def test_a_statistic_and_its_value_stay_on_one_line():
    assert as_html("p = .5") == "<i>p</i>\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}.5"
