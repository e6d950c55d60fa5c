"""What a hat on the table does: to the cards that it transforms, and in the trials after a move.

Of a game with a hat, a card is ``plain`` where its target is to be grabbed as it is; a
``hat_grab`` where the target is the item under the hat, so that the hat is to be grabbed; and a
``hat_call`` where the target is the hat, so that the item under it is to be called. The lag of a
trial is the number of trials since the hat was put where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.measures import cell_measures, chance_shares, complete_cells
from ghostblitz_analysis.models import error_totals, group_cells, level_contrasts

__all__ = [
    "LAGS",
    "PLAIN",
    "TRANSFORMATION_FACTORS",
    "HatResults",
    "hat_results",
    "lag_group",
    "lag_of",
    "transformation_costs",
    "transformation_of",
]

PLAIN = "plain"
#: Longer lags are rare, so they stand together.
LAGS = ("0", "1", "2", "3+")
#: A card's transformation says its mode; mode stands here so that its RTs are never normed with
#: those of the other one.
TRANSFORMATION_FACTORS = ("rule", "transformation", "mode")
_LAG_FACTORS = ("transformation", "mode", "lag")
_LAG_RT = ("geometric_mean_rt_s", "geometric_mean_rt_low_s", "geometric_mean_rt_high_s")


@dataclass(frozen=True, eq=False)
class HatResults:
    """What the trials of a game with a hat come to.

    Attributes
    ----------
    participant_cells, group_cells : DataFrame
        From `complete_cells` and `group_cells`, by rule and transformation.
    costs : DataFrame
        From `transformation_costs`.
    error_totals : DataFrame
        From `ghostblitz_analysis.models.error_totals`, by transformation.
    participant_lags, lags : DataFrame or None
        From `complete_cells` by transformation and lag, and from `lag_group`; None where it is
        not known how long the hat had been where it was, as in imported data.
    """

    participant_cells: pd.DataFrame
    group_cells: pd.DataFrame
    costs: pd.DataFrame
    error_totals: pd.DataFrame
    participant_lags: pd.DataFrame | None
    lags: pd.DataFrame | None

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        tables = {
            "hat_participant_cells": self.participant_cells,
            "hat_group_cells": self.group_cells,
            "hat_costs": self.costs,
            "hat_error_kinds": self.error_totals,
        }
        if self.participant_lags is not None and self.lags is not None:
            tables |= {"hat_participant_lags": self.participant_lags, "hat_lags": self.lags}
        return tables


def transformation_of(trials: pd.DataFrame) -> pd.Series:
    """Return what the hat makes of each trial's card; missing where there is no hat."""
    transformed = (trials["answer"] != trials["target"]).fillna(False)
    called = (trials["mode"] == "shout").fillna(False)
    levels = np.select([transformed & called, transformed], ["hat_call", "hat_grab"], PLAIN)
    found = pd.Series(levels, trials.index, dtype="string")
    return found.mask(trials["hat_over"].isna())


def lag_of(trials: pd.DataFrame) -> pd.Series:
    """Return each trial's lag as a level of `LAGS`; missing where it is not known."""
    since = trials["trials_since_hat_move"]
    capped = since.clip(upper=len(LAGS) - 1)
    return capped.map(dict(enumerate(LAGS)), na_action="ignore").astype("string")


def hat_results(flagged: pd.DataFrame, *, confidence: float) -> HatResults | None:
    """Measure and summarise the trials of a game with a hat; None if the data have none.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`. Trials without a hat are left out.
    confidence : float
        Level of all intervals.

    Returns
    -------
    HatResults or None
        Pure and mixed blocks are taken together.
    """
    analysed = flagged[used_for_accuracy(flagged) & flagged["hat_over"].notna().to_numpy()]
    if analysed.empty:
        return None
    analysed = analysed.assign(transformation=transformation_of(analysed), lag=lag_of(analysed))
    cells = _complete(analysed, TRANSFORMATION_FACTORS)
    chance = chance_shares(analysed, by=("transformation",))
    lags = None
    with_lag = analysed[analysed["lag"].notna()]
    if not with_lag.empty:
        lags = _complete(with_lag, _LAG_FACTORS)
    return HatResults(
        participant_cells=cells,
        group_cells=group_cells(cells, factors=TRANSFORMATION_FACTORS, confidence=confidence),
        costs=transformation_costs(cells, confidence=confidence),
        error_totals=error_totals(cells, chance, by=("transformation",)),
        participant_lags=lags,
        lags=None if lags is None else lag_group(lags, confidence=confidence),
    )


def _complete(trials: pd.DataFrame, factors: tuple[str, ...]) -> pd.DataFrame:
    return complete_cells(cell_measures(trials, factors=factors), factors=factors)


def transformation_costs(measures: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Compare transformed with plain cards of the same rule and mode, within participants.

    Calls are the only cards that are shouted, so nothing of the same mode is left to compare them
    with and they have no row.

    Parameters
    ----------
    measures : DataFrame, one row per participant, rule, transformation and mode
        From `complete_cells`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per rule and transformation that have plain cards beside them
        The columns of `level_contrasts`, then ``n_participants_errors``, ``p_error_difference``,
        ``p_error_difference_low`` and ``p_error_difference_high``: the mean over participants of
        the difference of their error rates, with its paired t interval.
    """
    table = level_contrasts(
        measures,
        of="transformation",
        reference=PLAIN,
        factors=TRANSFORMATION_FACTORS,
        confidence=confidence,
    )
    cell = measures[list(TRANSFORMATION_FACTORS)].agg(" ".join, axis=1)
    rates = measures.assign(cell=cell, p_error=1 - measures["p_correct"]).pivot(
        index="participant_id", columns="cell", values="p_error"
    )
    columns: dict[str, list[float]] = {}
    for row in table.itertuples():
        level = str(row.contrast).split(" / ")[0]
        transformed = rates[f"{row.rule} {level} {row.mode}"]
        plain = rates[f"{row.rule} {PLAIN} {row.mode}"]
        difference = (transformed - plain).dropna().to_numpy(dtype="float64")
        result = mean_interval(difference, confidence=confidence)
        columns.setdefault("n_participants_errors", []).append(result.n)
        columns.setdefault("p_error_difference", []).append(result.mean)
        columns.setdefault("p_error_difference_low", []).append(result.low)
        columns.setdefault("p_error_difference_high", []).append(result.high)
    types = {name: "Int64" if name.startswith("n_") else "Float64" for name in columns}
    return table.join(pd.DataFrame(columns, index=table.index).astype(types))


def lag_group(measures: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Average participants' RTs and error rates at each lag.

    Parameters
    ----------
    measures : DataFrame, one row per participant, transformation and lag
        From `complete_cells`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per transformation and lag
        ``transformation``, ``mode``, ``lag``; ``n_participants`` with an RT, ``n_trials``,
        ``n_rt``; ``geometric_mean_rt_s`` with ``_low_s`` and ``_high_s`` (exp of the mean over
        participants of their mean log RTs, and of its t interval); ``n_errors``; ``p_error`` with
        ``p_error_low`` and ``p_error_high``: the mean over participants of their error rates,
        with its t interval, cut at 0 and 1 and missing where all have the same rate.
    """
    cells = group_cells(measures, factors=_LAG_FACTORS, confidence=confidence)
    table = cells[[*_LAG_FACTORS, "n_participants", "n_trials", "n_rt", *_LAG_RT]]
    return table.assign(
        n_errors=cells["n_trials"] - cells["n_correct"],
        p_error=1 - cells["p_correct_participants"],
        p_error_low=1 - cells["p_correct_high"],
        p_error_high=1 - cells["p_correct_low"],
    )
