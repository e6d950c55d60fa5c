"""Means over participants of what was measured in each: one row per cell, with a t interval."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ghostblitz_analysis.intervals import mean_interval, of_proportions

__all__ = ["mean_over_participants"]

_COLUMNS = (
    "n_participants",
    "n_left_out",
    "left_out",
    "mean",
    "low",
    "high",
    "sd",
    "t",
    "df",
    "p",
    "note",
)


def mean_over_participants(
    table: pd.DataFrame,
    *,
    by: Sequence[str],
    value: str,
    confidence: float,
    is_proportion: bool = False,
) -> pd.DataFrame:
    """Average one value per participant in each combination of `by`.

    Parameters
    ----------
    table : DataFrame, one row per participant and combination
        With ``participant_id``, `by` and `value`.
    by : sequence of str
        At least one column.
    value : str
        The column to average; where it is missing, the participant is left out and named.
    confidence : float
        Level of the interval.
    is_proportion : bool
        Whether the interval is cut at 0 and 1, and left away where all participants agree: a t
        interval of width 0 would say that the proportion is known.

    Returns
    -------
    DataFrame, one row per combination, in order of appearance
        `by`, ``n_participants``, ``n_left_out``, ``left_out`` (JSON list of ids), ``mean``,
        ``low``, ``high``, ``sd`` (ddof 1), ``t``, ``df`` and ``p`` of the test against 0, and
        ``note``; see `mean_interval`.
    """
    narrow = table[list(by)].assign(
        person=table["participant_id"].astype("string"),
        value=table[value].to_numpy(dtype=np.float64, na_value=np.nan),
    )
    rows = []
    for key, part in narrow.groupby(list(by), sort=False, observed=True):
        mine = part["value"]
        result = mean_interval(mine.dropna(), confidence=confidence)
        if is_proportion:
            result = of_proportions(result)
        low, high = result.low, result.high
        if is_proportion and result.n > 1:
            low, high = float(np.clip(low, 0.0, 1.0)), float(np.clip(high, 0.0, 1.0))
        left_out = [str(person) for person in part.loc[mine.isna(), "person"]]
        named = json.dumps(left_out, ensure_ascii=False)
        test = (result.t, result.df, result.p)
        found = (result.n, len(left_out), named, result.mean, low, high, result.sd, *test)
        rows.append((*key, *found, result.note))
    means = pd.DataFrame(rows, columns=[*by, *_COLUMNS])
    if not rows:
        texts = dict.fromkeys(("left_out", "note"), "string")
        means = means.astype(dict.fromkeys(_COLUMNS, "float64") | texts)
    return means.astype({name: table[name].dtype for name in by})
