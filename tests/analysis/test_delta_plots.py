from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.distributions import (
    delta_functions,
    delta_slopes,
    group_delta_functions,
    group_delta_slopes,
    participant_quantiles,
)

RULE = ("rule",)
SHAPE = np.linspace(0.4, 1.6, 25) ** 2
OF = {"of": "rule", "factors": RULE}


def table_of(rts, *, person="a", rule="direct", **columns):
    table = {"participant_id": person, "rule": rule, "rt_s": rts, "correct": True}
    return pd.DataFrame(table | columns)


def delta_of(*tables, factors=RULE):
    quantiles = participant_quantiles(pd.concat(tables), factors=factors)
    return delta_functions(quantiles, of="rule", reference="direct", factors=factors)


def two(shift=0.0, factor=1.0, person="a"):
    direct = table_of(SHAPE, person=person)
    return direct, table_of(shift + factor * SHAPE, person=person, rule="exclusion")


def test_a_shift_is_the_same_at_every_quantile():
    delta = delta_of(*two(shift=0.5))
    assert delta["difference_s"].tolist() == pytest.approx([0.5] * 5)
    assert delta["slope"].iloc[1:].tolist() == pytest.approx([0] * 4, abs=1e-12)
    slopes = delta_slopes(delta, **OF).iloc[0]
    assert (slopes["slope"], slopes["n_points"]) == (pytest.approx(0, abs=1e-12), 5)
    assert slopes["final_slope"] == pytest.approx(0, abs=1e-12)


def test_slower_by_a_factor_rises_by_its_share():
    """With exclusion f times as slow the difference is (f - 1) q on a mean of (f + 1) q / 2."""
    delta = delta_of(*two(factor=1.5))
    slopes = delta_slopes(delta, **OF).iloc[0]
    assert slopes["slope"] == pytest.approx(0.4)
    assert slopes["final_slope"] == pytest.approx(0.4)
    assert delta["slope"].iloc[1:].tolist() == pytest.approx([0.4] * 4)
    assert delta["slope"].iloc[0] is pd.NA


def test_the_slope_is_that_of_least_squares():
    rng = np.random.default_rng(1)
    delta = delta_of(
        *(table_of(rng.gamma(3, 0.3, 60), person=p, rule=r)
          for p in "abc" for r in ("direct", "exclusion"))
    )  # fmt: skip
    slopes = delta_slopes(delta, **OF).set_index("participant_id")
    for person, part in delta.groupby("participant_id"):
        x, y = part["mean_s"].to_numpy(float), part["difference_s"].to_numpy(float)
        assert slopes.loc[person, "slope"] == pytest.approx(np.polyfit(x, y, 1)[0])
        last = (y[-1] - y[-2]) / (x[-1] - x[-2])
        assert slopes.loc[person, "final_slope"] == pytest.approx(last)


def test_slopes_do_not_depend_on_the_order_of_rows():
    delta = delta_of(*two(factor=1.5), *two(factor=2.0, person="b"))
    turned = pd.concat([delta[5:], delta[:5]])
    slopes = delta_slopes(turned, **OF).set_index("participant_id")
    assert slopes.loc["a", "final_slope"] == pytest.approx(0.4)
    assert slopes.loc["b", "final_slope"] == pytest.approx(2 / 3)


def test_who_lacks_a_cell_is_left_out_and_named():
    delta = delta_of(*two(shift=0.5), table_of([0.5, 0.6], person="01"))
    mine = delta[delta["participant_id"] == "01"]
    assert mine["difference_s"].isna().all()
    assert mine["note"].iloc[1] == "exclusion: no RT to use"
    group = group_delta_functions(delta, **OF)
    assert group["n_left_out"].unique().tolist() == [1]
    assert json.loads(group["left_out"].iloc[0]) == ["01"]
    assert group["difference_s"].tolist() == pytest.approx([0.5] * 5)
    assert group["difference_low_s"].isna().all()
    # Levels are of the same participants as the difference.
    assert (group["level_s"] - group["reference_s"]).tolist() == pytest.approx([0.5] * 5)
    slopes = delta_slopes(delta, **OF)
    assert slopes["note"].tolist() == ["no RT in one of the two cells", ""]
    tested = group_delta_slopes(slopes, **OF)
    assert tested["n_left_out"].tolist() == [1, 1]


def test_group_slopes_are_tested_against_0():
    factors = [1.2, 1.5, 1.6, 1.9]
    pairs = [two(factor=f, person=p) for f, p in zip(factors, "abcd", strict=True)]
    slopes = delta_slopes(delta_of(*(table for pair in pairs for table in pair)), **OF)
    row = group_delta_slopes(slopes, **OF).iloc[0]
    each = np.array([2 * (f - 1) / (f + 1) for f in factors])
    assert row["measure"] == "slope"
    assert row["mean"] == pytest.approx(each.mean())
    assert row["t"] == pytest.approx(each.mean() / each.std(ddof=1) * 2)
    assert row["df"] == 3


def test_rules_are_compared_within_each_level_of_the_other_factors():
    tables = [
        table_of(SHAPE + shift, rule=rule, mode=mode, person=person)
        for person in "ab"
        for mode, rule, shift in (
            ("grab", "direct", 0.0), ("grab", "exclusion", 0.3), ("grab", "time", 0.7),
            ("shout", "direct", 1.0), ("shout", "exclusion", 1.1),
        )
    ]  # fmt: skip
    delta = delta_of(*tables, factors=("rule", "mode"))
    found = delta.groupby(["mode", "contrast"])["difference_s"].mean().astype(float).round(9)
    present = found.dropna().to_dict()
    assert present == {
        ("grab", "exclusion - direct"): 0.3,
        ("grab", "time - direct"): 0.7,
        ("shout", "exclusion - direct"): 0.1,
    }


def test_without_the_reference_or_with_nothing_else_there_is_no_contrast():
    for rule in ("direct", "exclusion"):
        delta = delta_of(table_of(SHAPE, rule=rule))
        assert delta.empty
        group = group_delta_functions(delta, **OF)
        assert group.empty
        slopes = delta_slopes(delta, **OF)
        assert slopes.empty
        assert group_delta_slopes(slopes, **OF).empty


def test_identical_rts_have_no_slope():
    delta = delta_of(table_of([0.5] * 6), table_of([0.8] * 6, rule="exclusion"))
    assert delta["difference_s"].tolist() == pytest.approx([0.3] * 5)
    assert delta["slope"].isna().all()
    slopes = delta_slopes(delta, **OF).iloc[0]
    assert slopes["slope"] is pd.NA
    assert slopes["final_slope"] is pd.NA
    assert slopes["note"] == "the RTs do not spread"


def test_few_rts_are_told_with_the_level_that_has_them():
    delta = delta_of(table_of([0.5, 0.6, 0.9]), table_of([0.8], rule="exclusion"))
    assert delta["note"].iloc[0] == (
        "exclusion: one RT, so the shortest stands here; direct: 3 RTs, so the shortest stands here"
    )
    assert delta["note"].iloc[2] == ""
