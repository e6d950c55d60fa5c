"""Group figures: means over participants with intervals, contrasts of rules, error totals.

Only these functions leave rows out, and they say how many participants were used and which
were not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ghostblitz_analysis.intervals import cousineau_morey, mean_interval
from ghostblitz_analysis.measures import order_cells
from ghostblitz_task.schema import ERROR_KINDS

__all__ = ["REFERENCE_RULE", "error_totals", "group_cells", "rule_contrasts"]

#: Other rules are compared with this one.
REFERENCE_RULE = "direct"

_MEASURES = ("mean_log_rt", "mean_rt_s", "median_rt_s", "p_correct")
#: Measures with a within-participant interval, and the stem of its columns.
_WITHIN_STEMS = {
    "mean_log_rt": "geometric_mean_within_rt",
    "mean_rt_s": "mean_within_rt",
    "median_rt_s": "median_within_rt",
}
_CONTRAST_COLUMNS = (
    "n_participants",
    "n_left_out",
    "left_out",
    "rt_ratio",
    "rt_ratio_low",
    "rt_ratio_high",
    "mean_difference_log",
    "sd_difference_log",
    "dz",
    "t",
    "df",
    "p",
    "difference_s",
    "difference_low_s",
    "difference_high_s",
    "note",
)


@dataclass(frozen=True, slots=True)
class _Within:
    """Means and half widths per cell, over the participants with a score in every cell."""

    n: int
    mean: pd.Series
    half_width: pd.Series
    note: str


def group_cells(
    measures: pd.DataFrame, *, factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Average participants' measures in each cell.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells`.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of all intervals.

    Returns
    -------
    DataFrame, one row per cell
        - ``n_participants`` with an RT in the cell, ``n_within`` with one in every cell;
          ``n_trials``, ``n_correct``, ``n_rt`` over all participants;
        - ``geometric_mean_rt_s`` with ``_low_s`` and ``_high_s``: exp of the mean of
          participants' mean log RTs, with t intervals over participants, and
          ``geometric_mean_within_rt_s`` with its Cousineau-Morey interval on the log scale,
          over the participants that have an RT in every cell;
        - ``mean_rt_s``, ``median_rt_s``: means of participants' means and medians; their
          ``_within_`` columns as above;
        - ``p_correct``: over all trials pooled; ``p_correct_participants``: mean over
          participants with a t interval, cut at 0 and 1;
        - ``note``: why an interval is missing.
    """
    cells, wide = _wide(measures, factors)
    within = {name: _within(scores, confidence) for name, scores in wide.items()}
    columns: dict[str, list[object]] = {}
    for number in cells.index:
        rows = measures[(measures[list(factors)] == cells.loc[number]).all(axis=1)]
        row = _cell_row(number, rows, wide, within, confidence)
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    table = pd.concat([cells, pd.DataFrame(columns, index=cells.index)], axis=1)
    return order_cells(_typed(table), factors=factors)


def _cell_row(
    number: int,
    rows: pd.DataFrame,
    wide: Mapping[str, pd.DataFrame],
    within: Mapping[str, _Within],
    confidence: float,
) -> dict[str, object]:
    """Return the columns of `group_cells` for one cell, apart from the factors."""
    log_rt = mean_interval(wide["mean_log_rt"][number].dropna(), confidence=confidence)
    correct = mean_interval(wide["p_correct"][number].dropna(), confidence=confidence)
    n_trials, n_correct = int(rows["n_trials"].sum()), int(rows["n_correct"].sum())
    row: dict[str, object] = {
        "n_participants": log_rt.n,
        "n_trials": n_trials,
        "n_correct": n_correct,
        "n_rt": int(rows["n_rt"].sum()),
        "geometric_mean_rt_s": np.exp(log_rt.mean),
        "geometric_mean_rt_low_s": np.exp(log_rt.low),
        "geometric_mean_rt_high_s": np.exp(log_rt.high),
        "mean_rt_s": wide["mean_rt_s"][number].mean(),
        "median_rt_s": wide["median_rt_s"][number].mean(),
        "n_within": within["mean_log_rt"].n,
    }
    for name, stem in _WITHIN_STEMS.items():
        mean, half = within[name].mean[number], within[name].half_width[number]
        bounds = np.array([mean - half, mean, mean + half])
        if name == "mean_log_rt":
            bounds = np.exp(bounds)
        row |= dict(zip((f"{stem}_low_s", f"{stem}_s", f"{stem}_high_s"), bounds, strict=True))
    return row | {
        "p_correct": n_correct / n_trials,
        "p_correct_participants": correct.mean,
        "p_correct_low": np.clip(correct.low, 0, 1),
        "p_correct_high": np.clip(correct.high, 0, 1),
        "note": log_rt.note or within["mean_log_rt"].note,
    }


def _within(scores: pd.DataFrame, confidence: float) -> _Within:
    complete = scores.dropna()
    _, half_width = cousineau_morey(complete.to_numpy(), confidence=confidence)
    note = ""
    if scores.shape[1] < 2:
        note = "one cell, so no within-participant interval"
    elif len(complete) < 2:
        note = f"{_people(len(complete))} with an RT in every cell, so no within interval"
    mean = complete.mean() if len(complete) else pd.Series(np.nan, index=scores.columns)
    return _Within(len(complete), mean, pd.Series(half_width, index=scores.columns), note)


def _people(n: int) -> str:
    return f"{n or 'no'} participant{'s' if n > 1 else ''}"


def _wide(
    measures: pd.DataFrame, factors: tuple[str, ...]
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the cells, numbered, and each measure by participant and cell number."""
    cells = measures[list(factors)].drop_duplicates(ignore_index=True)
    number = measures.groupby(list(factors), sort=False).ngroup()
    wide = {}
    for name in _MEASURES:
        frame = pd.DataFrame(
            {
                "participant_id": measures["participant_id"],
                "cell": number,
                "value": measures[name].to_numpy(dtype="float64", na_value=np.nan),
            }
        )
        wide[name] = frame.pivot(index="participant_id", columns="cell", values="value")
    return cells, wide


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every column its nullable type; NaN becomes missing."""
    return table.astype(
        {
            name: "Int64"
            if name.startswith("n_") or name == "df"
            else "string"
            if not pd.api.types.is_numeric_dtype(table[name])
            else "Float64"
            for name in table.columns
        }
    )


def rule_contrasts(
    measures: pd.DataFrame, *, factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Compare every other rule with the direct one, within each level of the other factors.

    The effect is a ratio of RTs: exp of the mean over participants of the difference between
    their mean log RTs, with the paired t interval and test on the log scale (see
    `mean_interval`). The difference in seconds, for readers, is that of the same participants'
    arithmetic means.

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
    DataFrame, one row per contrast; none where only one rule was played
        The other factors, ``contrast``, ``n_participants``, ``n_left_out`` and ``left_out``
        (as JSON list: the participants without an RT in one of the two cells), ``rt_ratio``
        with ``rt_ratio_low`` and ``rt_ratio_high``, ``mean_difference_log``,
        ``sd_difference_log``, ``dz``, ``t``, ``df``, ``p`` (two-sided), ``difference_s`` with
        ``difference_low_s`` and ``difference_high_s``, and ``note`` on what is missing.
    """
    cells, wide = _wide(measures, factors)
    others = [factor for factor in factors if factor != "rule"]
    rows = []
    for number, cell in cells.iterrows():
        same_level = (cells[others] == cell[others]).all(axis=1)
        reference = cells.index[same_level & (cells["rule"] == REFERENCE_RULE)]
        if cell["rule"] == REFERENCE_RULE or reference.empty:
            continue
        row: dict[str, object] = {name: cell[name] for name in others}
        row["contrast"] = f"{cell['rule']} / {REFERENCE_RULE}"
        logs = wide["mean_log_rt"][number] - wide["mean_log_rt"][reference[0]]
        seconds = wide["mean_rt_s"][number] - wide["mean_rt_s"][reference[0]]
        rows.append(row | _contrast_row(logs, seconds, confidence))
    table = pd.DataFrame(rows, columns=[*others, "contrast", *_CONTRAST_COLUMNS])
    return order_cells(_typed(table) if rows else table, factors=tuple(others))


def _contrast_row(logs: pd.Series, seconds: pd.Series, confidence: float) -> dict[str, object]:
    log_result = mean_interval(logs.dropna(), confidence=confidence)
    s_result = mean_interval(seconds.dropna(), confidence=confidence)
    left_out = [str(person) for person in logs.index[logs.isna()]]
    values = (
        log_result.n,
        len(left_out),
        json.dumps(left_out, ensure_ascii=False),
        *np.exp([log_result.mean, log_result.low, log_result.high]),
        log_result.mean,
        log_result.sd,
        log_result.dz,
        log_result.t,
        log_result.df,
        log_result.p,
        s_result.mean,
        s_result.low,
        s_result.high,
        log_result.note,
    )
    return dict(zip(_CONTRAST_COLUMNS, values, strict=True))


def error_totals(measures: pd.DataFrame) -> pd.DataFrame:
    """Add the errors up over participants.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells` or `cell_measures`.

    Returns
    -------
    DataFrame, one row per rule and error kind, in the schema's order
        ``n`` of the kind, ``n_errors`` and ``n_trials`` of the rule, ``p_of_errors`` (missing
        where there is no error) and ``p_of_trials``. Kinds that never occurred under any rule
        have rows too.
    """
    counts = [f"n_{kind}" for kind in ERROR_KINDS]
    totals = measures.groupby("rule", sort=False)[["n_trials", "n_correct", *counts]].sum()
    n_errors = totals["n_trials"] - totals["n_correct"]
    table = pd.concat(
        [
            pd.DataFrame(
                {
                    "rule": totals.index,
                    "error_kind": kind,
                    "n": totals[f"n_{kind}"].to_numpy(),
                    "n_errors": n_errors.to_numpy(),
                    "n_trials": totals["n_trials"].to_numpy(),
                }
            )
            for kind in ERROR_KINDS
        ]
    ).astype(
        {"rule": "string", "error_kind": "string"}
        | dict.fromkeys(("n", "n_errors", "n_trials"), "Int64")
    )
    table["p_of_errors"] = table["n"] / table["n_errors"].mask(table["n_errors"] == 0)
    table["p_of_trials"] = table["n"] / table["n_trials"].mask(table["n_trials"] == 0)
    return order_cells(table, factors=("rule",))
