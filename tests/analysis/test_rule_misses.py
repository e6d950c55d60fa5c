from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis import results
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.models import rule_contrasts
from ghostblitz_analysis.rule_misses import rule_misses
from ghostblitz_analysis.settings import AnalysisSettings

#: What these tests look at; the other parts have tests of their own.
analyze_trials = partial(results.analyze_trials, parts=("cells",))

DEFAULTS = AnalysisSettings()
NINE = (
    "bat:black hat:black key:green mirror:green flashlight:blue clock:blue vial:red owl:red "
    "ghost:white"
)
MIRROR = {
    "rule": "mirror", "mode": "grab", "card": "hat:white mirror:red(bat:blue)", "target": "bat",
    "answer": "bat",
}  # fmt: skip
TIME = {
    "rule": "time", "mode": "shout", "card": "ghost:red clock:green@11:55 bat:blue",
    "target": None, "answer": "11:55", "answer_kind": "time",
}  # fmt: skip
DIRECT = {
    "rule": "direct", "mode": "grab", "card": "bat:black key:red vial:blue", "target": "bat",
    "answer": "bat",
}  # fmt: skip
OF_GAME = {"game": "five-to-twelve", "item_colours": NINE, "rules": "mirror"}


def rows_of(*rows):
    return [OF_GAME | row for row in rows]


def cells_of(trials):
    flagged = flag_exclusions(trials, DEFAULTS)
    factors = cell_factors(flagged, DEFAULTS)
    return complete_cells(cell_measures(flagged, factors=factors), factors=factors), factors


def misses(trials):
    cells, factors = cells_of(trials)
    return rule_misses(cells, factors=factors, confidence=0.95)


def test_two_rules_have_no_table(make_trials):
    assert misses(make_trials([{}, {"rule": "exclusion"}])) is None


def test_share_of_missed_rules_is_of_errors_of_trials_and_over_participants(make_trials):
    missed = MIRROR | {"error_kind": "rule_missed"}
    rows = rows_of(missed, MIRROR, MIRROR, MIRROR | {"error_kind": "late"}, DIRECT)
    rows += [row | {"participant_id": "b"} for row in rows_of(missed, MIRROR, DIRECT)]
    row = misses(make_trials(rows)).set_index("rule").loc["mirror"]
    assert (row["n_participants"], row["n_trials"]) == (2, 6)
    assert (row["n_errors"], row["n_rule_missed"]) == (3, 2)
    assert row["p_of_errors"] == pytest.approx(2 / 3)
    assert row["p_of_trials"] == pytest.approx(1 / 3)
    assert row["p_participants"] == pytest.approx((1 / 4 + 1 / 2) / 2)
    half = stats.t.ppf(0.975, 1) * np.std([0.25, 0.5], ddof=1) / math.sqrt(2)
    assert row["p_participants_low"] == max(0, 0.375 - half)
    assert row["p_participants_high"] == min(1, 0.375 + half)


def test_without_errors_no_share_of_errors_exists(make_trials):
    rows = rows_of(MIRROR, DIRECT, MIRROR | {"participant_id": "b"})
    table = misses(make_trials(rows)).set_index("rule")
    assert pd.isna(table.loc["mirror", "p_of_errors"])
    assert table.loc["mirror", "p_participants"] == 0
    assert pd.isna(table.loc["mirror", "p_participants_low"])  # All have the same share.
    assert table.loc["direct", "n_participants"] == 1


def test_rules_stand_in_the_schemas_order_and_modes_apart(make_trials):
    table = misses(make_trials(rows_of(TIME, MIRROR, DIRECT)))
    assert table[["rule", "mode"]].to_numpy().tolist() == [
        ["direct", "grab"], ["mirror", "grab"], ["time", "shout"],
    ]  # fmt: skip


def test_every_rule_is_compared_with_direct_of_the_same_mode_only(make_trials):
    rows = rows_of(
        *({**row, "rt_s": rt} for row, rt in ((DIRECT, 0.5), (MIRROR, 1.0), (TIME, 4.0)))
    )
    cells, factors = cells_of(make_trials(rows))
    (row,) = rule_contrasts(cells, factors=factors, confidence=0.95).to_dict("records")
    assert (row["mode"], row["contrast"]) == ("grab", "mirror / direct")
    assert row["rt_ratio"] == pytest.approx(2)


def test_time_cards_without_a_target_are_analysed_like_others(make_trials):
    analysis = analyze_trials(
        make_trials(rows_of(TIME, TIME | {"error_kind": "wrong_time"}, DIRECT)), DEFAULTS
    )
    cell = analysis.group_cells.set_index("rule").loc["time"]
    assert (cell["n_trials"], cell["n_correct"], cell["n_rt"]) == (2, 1, 1)
    errors = analysis.error_groups.set_index(["rule", "error_kind"])
    assert errors.loc[("time", "wrong_time"), "n"] == 1
    assert errors.loc[("time", "wrong_time"), "n_wrong_items"] == 0
    # No item is an alternative to a time, so nothing would be taken by chance.
    assert errors.loc["time", "p_by_chance"].isna().all()
    assert errors.loc["direct", "p_by_chance"].notna().any()
