from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import (
    KIND_OF_ROLE,
    cell_factors,
    cell_measures,
    chance_shares,
    complete_cells,
)
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.solving import Solver, read_item_colours
from ghostblitz_task.cards import parse_card
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.games import Response, item_role
from ghostblitz_task.schema import ERROR_KINDS

DEFAULTS = AnalysisSettings()


def measured(trials, settings=DEFAULTS):
    flagged = flag_exclusions(trials, settings)
    factors = cell_factors(flagged, settings)
    return complete_cells(cell_measures(flagged, factors=factors), factors=factors)


def test_measures_of_a_cell_are_those_of_the_definitions(make_trials):
    rts = [0.5, 1.0, 2.0, 4.0]
    rows = [{"rt_s": rt} for rt in rts] + [{"rt_s": 9.0, "error_kind": "shape_capture"}]
    row = measured(make_trials(rows)).iloc[0]
    assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (5, 4, 4)
    assert row["p_correct"] == pytest.approx(0.8)
    assert row["mean_rt_s"] == pytest.approx(7.5 / 4)
    assert row["median_rt_s"] == pytest.approx(1.5)
    assert row["geometric_mean_rt_s"] == pytest.approx(math.sqrt(2))
    assert row["mean_log_rt"] == pytest.approx(math.log(2) / 2)
    assert row["sd_rt_s"] == pytest.approx(np.std(rts, ddof=1))
    assert (row["n_shape_capture"], row["p_shape_capture"]) == (1, pytest.approx(0.2))


def test_accuracy_counts_trials_that_are_left_out_of_the_rts(make_trials):
    rows = [{"trial_in_block": 0, "rt_s": 20.0}, {"trial_in_block": 1, "error_kind": "late"}]
    row = measured(make_trials(rows), AnalysisSettings(skip_first_trials=1)).iloc[0]
    assert (row["n_trials"], row["n_correct"], row["n_rt"]) == (2, 1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ERROR_KINDS)
def test_every_error_kind_is_counted(make_trials, kind):
    rt_s = -0.1 if kind == "early" else 0.8
    row = measured(make_trials([{"error_kind": kind, "rt_s": rt_s}, {}, {}, {}])).iloc[0]
    assert row[f"n_{kind}"] == 1
    assert row[f"p_{kind}"] == pytest.approx(0.25)
    assert sum(row[f"n_{k}"] for k in ERROR_KINDS) == row["n_trials"] - row["n_correct"]


@pytest.mark.parametrize("kind", ["shape_capture", "late", "early"])
def test_a_participant_who_was_never_right_has_no_rt(make_trials, kind):
    rt_s = -0.1 if kind == "early" else 0.8
    row = measured(make_trials([{"error_kind": kind, "rt_s": rt_s}] * 3)).iloc[0]
    assert row["p_correct"] == 0
    assert row["n_rt"] == 0
    for name in ("mean_rt_s", "median_rt_s", "geometric_mean_rt_s", "mean_log_rt", "sd_rt_s"):
        assert row[name] is pd.NA


def test_one_trial_has_a_mean_but_no_sd(make_trials):
    row = measured(make_trials([{"rt_s": 0.7}])).iloc[0]
    assert row["mean_rt_s"] == row["median_rt_s"] == 0.7
    assert row["geometric_mean_rt_s"] == pytest.approx(0.7)
    assert row["sd_rt_s"] is pd.NA


def test_identical_rts_have_an_sd_of_zero(make_trials):
    assert measured(make_trials([{"rt_s": 0.7}] * 5)).iloc[0]["sd_rt_s"] == 0


def test_a_missing_rule_is_a_row_without_trials(make_trials):
    rows = [{"participant_id": "a"}, {"participant_id": "b"}]
    rows += [{"participant_id": "b", "rule": "exclusion"}]
    table = measured(make_trials(rows))
    assert list(zip(table["participant_id"], table["rule"], table["n_trials"], strict=True)) == [
        ("a", "direct", 1),
        ("a", "exclusion", 0),
        ("b", "direct", 1),
        ("b", "exclusion", 1),
    ]
    missing = table.iloc[1]
    assert missing["p_correct"] is pd.NA
    assert missing["mean_rt_s"] is pd.NA
    assert missing["n_late"] == 0
    assert missing["p_late"] is pd.NA


def test_ids_stay_as_they_are(make_trials):
    ids = ["01", "1", "NA", "Zoë", "<script>"]
    table = measured(make_trials({"participant_id": p} for p in ids))
    assert table["participant_id"].tolist() == sorted(ids)
    assert table["participant_id"].dtype == "string"


def test_factors_with_one_level_fall_away_but_rule_stays(make_trials):
    assert cell_factors(flag_exclusions(make_trials([{}]), DEFAULTS), DEFAULTS) == ("rule",)


def test_levels_of_practice_do_not_make_cells(make_trials):
    rows = [{"block_kind": "pure", "phase": "practice"}, {"block_kind": "mixed"}]
    assert cell_factors(flag_exclusions(make_trials(rows), DEFAULTS), DEFAULTS) == ("rule",)


def test_cells_stand_in_the_order_of_the_schema(draw_trials):
    rng = np.random.default_rng(1)
    trials = draw_trials(
        rng, n_participants=1, n_per_cell=2, modes=("grab", "shout"), block_kinds=("pure", "mixed")
    )
    table = measured(trials)
    assert table[["block_kind", "mode", "rule"]].to_numpy().tolist() == [
        [kind, mode, rule]
        for kind in ("pure", "mixed")
        for mode in ("grab", "shout")
        for rule in ("direct", "exclusion")
    ]


def test_modes_are_never_pooled(make_trials):
    pooled = AnalysisSettings(cells=("rule",))
    flagged = flag_exclusions(make_trials([{"mode": "grab"}, {"mode": "shout"}]), pooled)
    with pytest.raises(DatasetError, match="never pooled; add 'mode' to cells"):
        cell_factors(flagged, pooled)


def test_a_data_set_without_test_trials_is_refused(make_trials):
    flagged = flag_exclusions(make_trials([{"phase": "practice"}]), DEFAULTS)
    with pytest.raises(DatasetError, match="none of the 1 trials is a test trial"):
        cell_factors(flagged, DEFAULTS)


def test_limits_that_take_every_participant_out_are_named(make_trials):
    limits = [
        {"step": "participants", "min_p_correct": 0.9},
        {"step": "participants", "max_p_no_response": 0.2},
    ]
    settings = AnalysisSettings.model_validate({"exclusions": limits})
    rows = [{"participant_id": p, "error_kind": "shape_capture"} for p in "ab"]
    rows += [{"participant_id": "c"}] * 9 + [{"participant_id": "c", "error_kind": "late"}]
    rows += [{"participant_id": "d", "phase": "practice"}]
    one = flag_exclusions(make_trials(rows[:2]), settings)
    with pytest.raises(
        DatasetError, match=r"took out all 2 participants \(exclude_participant: 2\)"
    ):
        cell_factors(one, settings)
    strict = settings.model_copy(update={"exclusions": settings.exclusions[:1] * 2})
    late = AnalysisSettings.model_validate(
        {"exclusions": [limits[0], {"step": "participants", "max_p_no_response": 0.05}]}
    )
    both = flag_exclusions(make_trials(rows), late)
    with pytest.raises(
        DatasetError,
        match=r"took out all 3 participants \(exclude_participant: 2, exclude_participant_2: 1\)"
        r".*loosen the limits",
    ):
        cell_factors(both, late)
    assert cell_factors(flag_exclusions(make_trials(rows), strict), strict) == ("rule",)


def test_a_factor_that_is_missing_in_some_trials_is_refused(make_trials):
    rows = [{"block_kind": "pure"}, {"block_kind": "mixed"}, {"block_kind": None}]
    flagged = flag_exclusions(make_trials(rows), DEFAULTS)
    with pytest.raises(DatasetError, match="block_kind is missing in 1 of 3 trials"):
        cell_factors(flagged, DEFAULTS)


def test_one_participants_measures_are_the_same_alone_and_among_others(draw_trials):
    trials = draw_trials(np.random.default_rng(2), n_participants=4, n_per_cell=9, p_error=0.3)
    flagged = flag_exclusions(trials, DEFAULTS)
    together = cell_measures(flagged, factors=("rule",))
    parts = [
        cell_measures(rows, factors=("rule",)) for _, rows in flagged.groupby("participant_id")
    ]
    pd.testing.assert_frame_equal(together, pd.concat(parts, ignore_index=True))


def test_the_order_of_trials_does_not_matter(draw_trials):
    trials = draw_trials(np.random.default_rng(3), n_participants=3, n_per_cell=9, p_error=0.3)
    shuffled = trials.sample(frac=1, random_state=np.random.default_rng(4))
    pd.testing.assert_frame_equal(measured(trials), measured(shuffled), rtol=1e-12)


def test_counts_add_up_over_cells(draw_trials):
    trials = draw_trials(np.random.default_rng(5), n_participants=5, n_per_cell=7, p_error=0.4)
    table = measured(trials)
    assert table["n_trials"].sum() == len(trials)
    assert table["n_correct"].sum() == trials["correct"].sum()
    kinds = sum(table[f"n_{kind}"].sum() for kind in ERROR_KINDS)
    assert kinds == (~trials["correct"]).sum()


# --- chance shares of error kinds -----------------------------------------------------------

THREE = "a:red b:green c:blue"
FIVE = "ghost:white chair:red bottle:green book:blue mouse:grey"
SHARED = "a:red b:red c:green d:green e:blue"


def chances(make_trials, cards, settings=DEFAULTS):
    rows = [
        {"item_colours": colours, "card": card, "target": target, "answer": target, "rule": rule}
        for rule, colours, card, target in cards
    ]
    table = chance_shares(flag_exclusions(make_trials(rows), settings), by=("rule",))
    return {
        rule: dict(zip(part["error_kind"], part["p_by_chance"], strict=True))
        for rule, part in table.groupby("rule")
    }


def test_with_one_picture_a_wrong_answer_to_a_direct_card_can_only_be_rule_confusion(make_trials):
    cards = [("direct", THREE, "a:red", "a"), ("direct", THREE, "b:green", "b")]
    cards += [("exclusion", THREE, "a:green", "c")]
    found = chances(make_trials, cards)
    assert found["direct"]["rule_confusion"] == 1
    assert (found["exclusion"]["shape_capture"], found["exclusion"]["colour_capture"]) == (0.5, 0.5)


def test_chance_shares_are_counted_on_the_lures_of_each_card(make_trials):
    cards = [("direct", FIVE, "ghost:white mouse:red", "ghost")] * 3
    cards += [("direct", SHARED, "a:red c:blue", "a")]
    found = chances(make_trials, cards)["direct"]
    # First card: mouse is shape, chair colour, bottle and book neither. Second: c is shape, b
    # (red is shown) and e (blue is shown) are colour, d neither.
    assert found == {
        "shape_capture": pytest.approx(1 / 4),
        "colour_capture": pytest.approx((3 * 1 + 2) / 16),
        "shape_and_colour_capture": 0,
        "rule_confusion": pytest.approx((3 * 2 + 1) / 16),
    }


def test_chance_shares_leave_practice_and_answers_that_are_no_items_out(make_trials):
    kept = {"card": "ghost:white mouse:red", "target": "ghost"}
    other = {"card": "ghost:white chair:grey", "target": "ghost"}
    rows = [kept, other | {"phase": "practice"}, other | {"answer_kind": "colour"}]
    flagged = flag_exclusions(make_trials(rows), DEFAULTS)
    alone = chance_shares(flagged.iloc[:1], by=("rule",))
    pd.testing.assert_frame_equal(chance_shares(flagged, by=("rule",)), alone)
    assert chance_shares(flagged.iloc[1:], by=("rule",)).empty


def test_chance_shares_add_up_to_one_in_every_cell(draw_trials):
    trials = draw_trials(
        np.random.default_rng(1), n_participants=2, n_per_cell=4, modes=("grab", "shout")
    )
    table = chance_shares(flag_exclusions(trials, DEFAULTS), by=("rule", "mode"))
    sums = table.groupby(["rule", "mode"])["p_by_chance"].sum()
    assert sums.tolist() == pytest.approx([1] * 4)


@pytest.mark.parametrize(
    ("colours", "card"),
    [(FIVE, "ghost:white mouse:red"), (FIVE, "ghost:green chair:blue"), (SHARED, "a:red c:blue"),
     (SHARED, "b:green c:red")],
)  # fmt: skip
def test_kinds_of_wrong_items_are_those_of_the_scoring(colours, card):
    solver = Solver()
    solved = solver.solve("classic", colours, card)
    own = read_item_colours(colours)
    target = solved.stimulus.solution.target
    for item in set(own) - {target}:
        role = item_role(item, parse_card(card, own), own, target)
        judged = solver.judge("classic", colours, card, Response("grab", item))
        assert KIND_OF_ROLE[role] == judged


# --- lures where there is a hat, or rules that could be missed --------------------------------


def shares_of(make_trials, row):
    table = chance_shares(flag_exclusions(make_trials([row]), DEFAULTS), by=("rule",))
    return {k: p for k, p in zip(table["error_kind"], table["p_by_chance"], strict=True) if p}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("plain", {"shape_capture": 1 / 4, "rule_confusion": 2 / 4, "hat_grabbed": 1 / 4}),
        ("hat_grab", {"shape_capture": 1 / 4, "rule_confusion": 2 / 4, "under_hat": 1 / 4}),
        ("hat_call", {"hat_called": 1 / 4, "wrong_item_called": 3 / 4}),
    ],
)
def test_lures_of_a_card_under_a_hat_make_the_kinds_that_the_hat_makes(
    make_trials, make_hat_row, kind, expected
):
    # Ghost in white and mouse in red, hat over the bottle: mouse is shape, hat the hat's own kind
    # (its colour is shown, too), bottle and barrel neither.
    assert shares_of(make_trials, make_hat_row(kind)) == pytest.approx(expected)


def test_lure_that_a_rule_of_lower_precedence_asks_for_is_a_rule_missed(make_trials):
    nine = (
        "bat:black hat:black key:green mirror:green flashlight:blue clock:blue vial:red owl:red "
        "ghost:white"
    )
    # Without the mirror rule the key, in its own green, would be the answer.
    row = {
        "game": "five-to-twelve", "item_colours": nine, "rules": "mirror", "rule": "mirror",
        "card": "key:green mirror:red(bat:blue)", "target": "bat", "answer": "bat", "mode": "grab",
    }  # fmt: skip
    found = shares_of(make_trials, row)
    assert found["rule_missed"] == pytest.approx(1 / 8)
    assert sum(found.values()) == pytest.approx(1)


def test_kinds_of_wrong_items_that_no_card_allows_are_absent_unless_every_game_has_them(
    make_trials, make_hat_row
):
    trials = make_trials([make_hat_row("hat_call")])
    found = chance_shares(flag_exclusions(trials, DEFAULTS), by=("rule",))
    assert set(found["error_kind"]) == {*KIND_OF_ROLE.values(), "hat_called", "wrong_item_called"}
