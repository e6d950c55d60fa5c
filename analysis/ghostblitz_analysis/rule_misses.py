"""How often a rule that applied was missed, per rule of the card."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.measures import order_cells

__all__ = ["BASE_RULES", "rule_misses"]

#: The rules of every card game; the others are additional.
BASE_RULES = ("direct", "exclusion")


def rule_misses(
    measures: pd.DataFrame, *, factors: tuple[str, ...], confidence: float
) -> pd.DataFrame | None:
    """Count the responses that would have been right without one or more of the rules.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells`.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame or None, one row per rule, and mode where there are two
        ``rule``, ``mode``, ``n_participants`` (with a trial of the kind), ``n_trials``,
        ``n_errors``, ``n_rule_missed``, ``p_of_errors`` (missing where there is no error) and
        ``p_of_trials`` over all trials pooled; ``p_participants`` with ``p_participants_low`` and
        ``p_participants_high``: the mean over participants of their shares of trials, with its t
        interval, cut at 0 and 1 and missing where all have the same share. None where no other
        rule than direct and exclusion was played.
    """
    if set(measures["rule"]) <= set(BASE_RULES):
        return None
    by = [factor for factor in ("rule", "mode") if factor in factors]
    counts = ["n_trials", "n_correct", "n_rule_missed"]
    people = measures.groupby([*by, "participant_id"], sort=False)[counts].sum()
    people = people[people["n_trials"] > 0].reset_index()
    rows = []
    for levels, of_people in people.groupby(by, sort=False):
        n_trials, n_correct, n_missed = (int(of_people[name].sum()) for name in counts)
        shares = of_people["n_rule_missed"] / of_people["n_trials"]
        result = mean_interval(shares.to_numpy(dtype="float64"), confidence=confidence)
        equal = result.n > 1 and result.sd == 0
        low, high = (np.nan, np.nan) if equal else np.clip([result.low, result.high], 0, 1)
        n_errors = n_trials - n_correct
        rows.append(
            (
                *levels, result.n, n_trials, n_errors, n_missed,
                n_missed / n_errors if n_errors else np.nan, n_missed / n_trials, result.mean,
                low, high,
            )
        )  # fmt: skip
    numbers = ("n_participants", "n_trials", "n_errors", "n_rule_missed")
    shares_of = ("p_of_errors", "p_of_trials", "p_participants", "p_participants_low",
                 "p_participants_high")  # fmt: skip
    table = pd.DataFrame(rows, columns=[*by, *numbers, *shares_of])
    types = dict.fromkeys(by, "string") | dict.fromkeys(numbers, "Int64")
    table = table.astype(types | dict.fromkeys(shares_of, "Float64"))
    return order_cells(table, factors=tuple(by))
