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

from ghostblitz_analysis.intervals import (
    cousineau_morey,
    exponentiated,
    mean_interval,
    of_proportions,
)
from ghostblitz_analysis.measures import KIND_OF_ROLE, order_cells
from ghostblitz_task.schema import ERROR_KINDS

__all__ = ["REFERENCE_RULE", "error_totals", "group_cells", "level_contrasts", "rule_contrasts"]

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
    """Per cell: participants with a score in every cell of its mode, mean, half width, note."""

    n: pd.Series
    mean: pd.Series
    half_width: pd.Series
    note: pd.Series


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
        - ``n_participants`` with an RT in the cell, ``n_within`` with one in every cell of the
          same mode;
          ``n_trials``, ``n_correct``, ``n_rt`` over all participants;
        - ``geometric_mean_rt_s`` with ``_low_s`` and ``_high_s``: exp of the mean of
          participants' mean log RTs, with t intervals over participants, and
          ``geometric_mean_within_rt_s`` with its Cousineau-Morey interval on the log scale,
          over those ``n_within`` participants: scores are normed within each mode, since grab
          and shout RTs are never pooled;
        - ``mean_rt_s``, ``median_rt_s``: means of participants' means and medians; their
          ``_within_`` columns as above;
        - ``p_correct``: over all trials pooled; ``p_correct_participants``: mean over
          participants with a t interval, cut at 0 and 1; ``p_correct_note``: why that interval
          is missing, as where all participants agree and a t interval would have width 0;
        - ``note``: why an interval of RT is missing.
    """
    cells, wide = _wide(measures, factors)
    modes = cells["mode"] if "mode" in factors else pd.Series("", index=cells.index)
    within = {name: _within(scores, modes, confidence) for name, scores in wide.items()}
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
    correct = of_proportions(
        mean_interval(wide["p_correct"][number].dropna(), confidence=confidence)
    )
    geometric = exponentiated(log_rt.mean, log_rt.low, log_rt.high)
    n_trials, n_correct = int(rows["n_trials"].sum()), int(rows["n_correct"].sum())
    p_note = correct.note
    if correct.is_shared:
        p_note = "all participants have the same accuracy, so no interval"
    notes = [log_rt.note or within["mean_log_rt"].note[number], geometric.note]
    row: dict[str, object] = {
        "n_participants": log_rt.n,
        "n_trials": n_trials,
        "n_correct": n_correct,
        "n_rt": int(rows["n_rt"].sum()),
        "geometric_mean_rt_s": geometric.mean,
        "geometric_mean_rt_low_s": geometric.low,
        "geometric_mean_rt_high_s": geometric.high,
        "mean_rt_s": wide["mean_rt_s"][number].mean(),
        "median_rt_s": wide["median_rt_s"][number].mean(),
        "n_within": int(within["mean_log_rt"].n[number]),
    }
    for name, stem in _WITHIN_STEMS.items():
        mean, half = within[name].mean[number], within[name].half_width[number]
        bounds = (mean - half, mean, mean + half)
        if name == "mean_log_rt":
            ratios = exponentiated(mean, mean - half, mean + half)
            bounds = (ratios.low, ratios.mean, ratios.high)
            notes.append(ratios.note and f"within participants {ratios.note}")
        row |= dict(zip((f"{stem}_low_s", f"{stem}_s", f"{stem}_high_s"), bounds, strict=True))
    return row | {
        "p_correct": n_correct / n_trials,
        "p_correct_participants": correct.mean,
        "p_correct_low": np.clip(correct.low, 0, 1),
        "p_correct_high": np.clip(correct.high, 0, 1),
        "p_correct_note": p_note,
        "note": "; ".join(note for note in notes if note),
    }


def _within(scores: pd.DataFrame, modes: pd.Series, confidence: float) -> _Within:
    """Norm scores within each mode: grab and shout RTs share no mean."""
    parts = []
    for mode in modes.unique():
        of_mode = scores[modes.index[modes == mode]]
        complete = of_mode.dropna()
        _, half_width = cousineau_morey(complete.to_numpy(), confidence=confidence)
        where = f" of {mode} trials" if mode else ""
        note = ""
        if of_mode.shape[1] < 2:
            note = f"one cell{where}, so no within-participant interval"
        elif len(complete) < 2:
            people = _people(len(complete))
            note = f"{people} with an RT in every cell{where}, so no within interval"
        mean = complete.mean() if len(complete) else np.nan
        columns = {"n": len(complete), "mean": mean, "half_width": half_width, "note": note}
        parts.append(pd.DataFrame(columns, index=of_mode.columns))
    table = pd.concat(parts)
    return _Within(table["n"], table["mean"], table["half_width"], table["note"])


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

    Of these, exclusion against direct is the planned one. See `level_contrasts`.
    """
    return level_contrasts(
        measures, of="rule", reference=REFERENCE_RULE, factors=factors, confidence=confidence
    )


def level_contrasts(
    measures: pd.DataFrame,
    *,
    of: str,
    reference: str,
    factors: tuple[str, ...],
    confidence: float,
) -> pd.DataFrame:
    """Compare every other level of a factor with one, within each level of the other factors.

    The effect is a ratio of RTs: exp of the mean over participants of the difference between
    their mean log RTs, with the paired t interval and test on the log scale (see
    `mean_interval`). The difference in seconds, for readers, is that of the same participants'
    arithmetic means.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells`.
    of, reference : str
        The factor, and the level that the others are compared with.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per contrast; none where the reference was never met, or alone
        The other factors, ``contrast``, ``n_participants``, ``n_left_out`` and ``left_out``
        (as JSON list: the participants without an RT in one of the two cells), ``rt_ratio``
        with ``rt_ratio_low`` and ``rt_ratio_high``, ``mean_difference_log``,
        ``sd_difference_log``, ``dz``, ``t``, ``df``, ``p`` (two-sided), ``difference_s`` with
        ``difference_low_s`` and ``difference_high_s``, and ``note`` on what is missing.
    """
    cells, wide = _wide(measures, factors)
    others = [factor for factor in factors if factor != of]
    rows = []
    for number, cell in cells.iterrows():
        same_level = (cells[others] == cell[others]).all(axis=1)
        referred = cells.index[same_level & (cells[of] == reference)]
        if cell[of] == reference or referred.empty:
            continue
        row: dict[str, object] = {name: cell[name] for name in others}
        row["contrast"] = f"{cell[of]} / {reference}"
        logs = wide["mean_log_rt"][number] - wide["mean_log_rt"][referred[0]]
        seconds = wide["mean_rt_s"][number] - wide["mean_rt_s"][referred[0]]
        rows.append(row | _contrast_row(logs, seconds, confidence))
    table = pd.DataFrame(rows, columns=[*others, "contrast", *_CONTRAST_COLUMNS])
    return order_cells(_typed(table) if rows else table, factors=tuple(others))


def _contrast_row(logs: pd.Series, seconds: pd.Series, confidence: float) -> dict[str, object]:
    log_result = mean_interval(logs.dropna(), confidence=confidence)
    s_result = mean_interval(seconds.dropna(), confidence=confidence)
    ratio = exponentiated(log_result.mean, log_result.low, log_result.high)
    left_out = [str(person) for person in logs.index[logs.isna()]]
    values = (
        log_result.n,
        len(left_out),
        json.dumps(left_out, ensure_ascii=False),
        ratio.mean,
        ratio.low,
        ratio.high,
        log_result.mean,
        log_result.sd,
        log_result.dz,
        log_result.t,
        log_result.df,
        log_result.p,
        s_result.mean,
        s_result.low,
        s_result.high,
        "; ".join(note for note in (log_result.note, ratio.note) if note),
    )
    return dict(zip(_CONTRAST_COLUMNS, values, strict=True))


def error_totals(
    measures: pd.DataFrame, chance: pd.DataFrame, *, by: tuple[str, ...] = ("rule",)
) -> pd.DataFrame:
    """Add the errors up over participants.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells` or `cell_measures`.
    chance : DataFrame
        From `chance_shares`, with the same `by`.
    by : tuple of str
        The factors to keep apart, rule first; the others are pooled.

    Returns
    -------
    DataFrame, one row per combination of `by` and error kind, in the schema's order
        ``n`` of the kind, ``n_errors``, ``n_wrong_items`` (errors that took a wrong item: of the
        kinds that every game has, and of those that `chance` lists for the combination) and
        ``n_trials`` of the combination, ``p_of_errors`` (missing where there is no error),
        ``p_of_trials``, and for kinds of wrong item ``p_of_wrong_items`` and beside it
        ``p_by_chance``, its share if wrong items were drawn at random among the lures. Kinds
        that never occurred have rows too.
    """
    counts = [f"n_{kind}" for kind in ERROR_KINDS]
    sums = measures.groupby(list(by), sort=False)[["n_trials", "n_correct", *counts]].sum()
    sums = sums.reset_index()
    parts = [
        sums[list(by)].assign(
            error_kind=kind,
            n=sums[f"n_{kind}"],
            n_errors=sums["n_trials"] - sums["n_correct"],
            n_trials=sums["n_trials"],
        )
        for kind in ERROR_KINDS
    ]
    table = pd.concat(parts).astype(
        dict.fromkeys([*by, "error_kind"], "string")
        | dict.fromkeys(("n", "n_errors", "n_trials"), "Int64")
    )
    table = table.merge(chance, how="left", on=[*by, "error_kind"])
    takes_item = table["error_kind"].isin(KIND_OF_ROLE.values()) | table["p_by_chance"].notna()
    of_items = table["n"].where(takes_item, 0).groupby([table[name] for name in by], sort=False)
    n_wrong_items = of_items.transform("sum").astype("Int64")
    table.insert(list(table.columns).index("n_trials"), "n_wrong_items", n_wrong_items)
    table["p_of_errors"] = table["n"] / table["n_errors"].mask(table["n_errors"] == 0)
    table["p_of_trials"] = table["n"] / table["n_trials"].mask(table["n_trials"] == 0)
    share = table["n"] / n_wrong_items.mask(n_wrong_items == 0)
    table["p_of_wrong_items"] = share.where(takes_item)
    table["p_by_chance"] = table.pop("p_by_chance")
    return order_cells(table, factors=by)
