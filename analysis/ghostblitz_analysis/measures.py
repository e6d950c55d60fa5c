"""Measures per participant and cell; a cell is a combination of rule, block kind and mode.

Every function here works on one participant's trials as on any number of participants' trials,
and gives the same rows either way, so data can be measured partition by partition.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import cast

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import (
    exclusion_steps,
    used_for_accuracy,
    used_for_rt,
)
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.solving import GameOptions, Solver, read_item_colours
from ghostblitz_analysis.wording import count_of
from ghostblitz_task.cards import parse_card
from ghostblitz_task.errors import CardError, DatasetError
from ghostblitz_task.games import Mode, Response, item_role
from ghostblitz_task.schema import ERROR_KINDS, column

__all__ = [
    "KIND_OF_ROLE",
    "cell_factors",
    "cell_measures",
    "chance_shares",
    "complete_cells",
    "order_cells",
]

#: The kind of error that taking an item is, by what drew it; a test compares it with the scoring.
KIND_OF_ROLE: Mapping[str, str] = MappingProxyType(
    {
        "shape": "shape_capture",
        "colour": "colour_capture",
        "shape_and_colour": "shape_and_colour_capture",
        "neither": "rule_confusion",
    }
)

#: Natural order of the levels that are known; other levels follow.
_LEVELS = {
    **{name: column(name).levels for name in ("rule", "block_kind", "mode")},
    "transformation": ("plain", "hat_grab", "hat_call"),
}

_COUNTS = ("n_trials", "n_correct", *(f"n_{kind}" for kind in ERROR_KINDS), "n_rt")


def cell_factors(flagged: pd.DataFrame, settings: AnalysisSettings) -> tuple[str, ...]:
    """Return the factors whose combinations are the cells, rule first.

    A factor with fewer than two levels among the analysed trials falls away, except rule.

    Raises
    ------
    DatasetError
        If the trials hold both modes but ``mode`` is not among the cells (grab and shout RTs
        are never pooled), if no trial is left to analyse (because of their phases, or of limits
        that no participant keeps), or if a factor is missing in some.
    """
    analysed = flagged[used_for_accuracy(flagged)]
    if analysed.empty:
        _refuse_without_participants(flagged, settings)
        raise DatasetError(
            f"none of the {len(flagged)} trials is a {' or '.join(settings.phases)} trial, so "
            "there is nothing to analyse; look at phases in the analysis settings"
        )
    if "mode" not in settings.cells and analysed["mode"].nunique() > 1:
        raise DatasetError(
            "the analysis settings name cells without mode, but the data hold grab and shout "
            "trials, whose RTs are never pooled; add 'mode' to cells"
        )
    others = [name for name in settings.cells if name != "rule"]
    factors = ("rule", *(name for name in others if analysed[name].nunique() > 1))
    for name in factors:
        n_missing = int(analysed[name].isna().sum())
        if n_missing:
            raise DatasetError(
                f"{name} is missing in {n_missing} of {len(analysed)} trials, so they belong to "
                f"no cell; fill it in, or leave {name} out of cells in the analysis settings"
            )
    return factors


def _refuse_without_participants(flagged: pd.DataFrame, settings: AnalysisSettings) -> None:
    """Say so where the limits on participants took out whatever would be analysed."""
    flags = [step.flag for step in exclusion_steps(settings) if step.limits is not None]
    flags = [flag for flag in flags if flag in flagged.columns]
    otherwise = flagged[used_for_accuracy(flagged.drop(columns=flags))]
    if otherwise.empty:
        return
    n_people = otherwise["participant_id"].nunique()
    n_by_flag = {flag: otherwise.loc[otherwise[flag], "participant_id"].nunique() for flag in flags}
    counted = ", ".join(f"{flag}: {n}" for flag, n in n_by_flag.items() if n)
    raise DatasetError(
        f"the limits on participants took out all {count_of(n_people, 'participant')} ({counted}), "
        'so there is nothing to analyse; loosen the limits of step = "participants" in exclusions '
        "in the analysis settings"
    )


def cell_measures(flagged: pd.DataFrame, *, factors: tuple[str, ...]) -> pd.DataFrame:
    """Summarise each participant's trials in each cell.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`: of one participant, or of many.
    factors : tuple of str
        From `cell_factors`, on the whole data set.

    Returns
    -------
    DataFrame, one row per participant and cell that holds trials
        ``participant_id``, the factors, then

        - ``n_trials``, ``n_correct``, ``p_correct``: over all trials of the analysed phases;
        - ``n_rt``, ``mean_rt_s``, ``median_rt_s``, ``geometric_mean_rt_s``, ``mean_log_rt``
          (natural log of seconds) and ``sd_rt_s`` (ddof 1): over the trials that no exclusion
          flags, so correct ones;
        - ``n_KIND`` and ``p_KIND`` for each error kind: proportions of all trials of the cell.

        Cells without usable RTs have missing RT measures, and ``sd_rt_s`` is missing below two;
        neither is ever 0 for want of data.
    """
    keys = ["participant_id", *factors]
    analysed = flagged[used_for_accuracy(flagged)]
    counted = analysed[keys].astype("category")
    groups = [counted[key] for key in keys]
    counted = counted.assign(
        n_trials=1, n_correct=analysed["correct"].fillna(False).astype("int64")
    )
    for kind in ERROR_KINDS:
        counted[f"n_{kind}"] = (analysed["error_kind"] == kind).fillna(False).astype("int64")
    counts = [c for c in counted.columns if c not in keys]
    table = counted[counts].groupby(groups, observed=True).sum()

    usable = used_for_rt(analysed)
    rt_s = analysed.loc[usable, "rt_s"].astype("float64")
    rt_groups = [group[usable] for group in groups]
    by_cell = rt_s.groupby(rt_groups, observed=True)
    log_by_cell = rt_s.map(np.log).groupby(rt_groups, observed=True)
    rt_measures = pd.DataFrame(
        {
            "n_rt": by_cell.size(),
            "mean_rt_s": by_cell.mean(),
            "median_rt_s": by_cell.median(),
            "mean_log_rt": log_by_cell.mean(),
            "sd_rt_s": by_cell.std(ddof=1),
        }
    )
    table = table.join(rt_measures).reset_index()
    return order_cells(_typed(table, keys), factors=factors)


def complete_cells(measures: pd.DataFrame, *, factors: tuple[str, ...]) -> pd.DataFrame:
    """Give every participant a row for every cell that anyone has, with 0 trials where missing.

    Parameters
    ----------
    measures : DataFrame
        From `cell_measures`, on all participants.

    Returns
    -------
    DataFrame, one row per participant and cell
        Added rows have zero counts and missing measures. Cells that nobody has, such as a mode
        that a block kind never asks for, stay away.
    """
    cells = list(measures[list(factors)].drop_duplicates().itertuples(index=False, name=None))
    people = list(measures["participant_id"].drop_duplicates())
    keys = ["participant_id", *factors]
    every = pd.DataFrame([(p, *cell) for p, cell in product(people, cells)], columns=keys)
    every = every.astype(dict.fromkeys(keys, "string"))
    return order_cells(_typed(every.merge(measures, how="left", on=keys), keys), factors=factors)


def chance_shares(flagged: pd.DataFrame, *, by: tuple[str, ...]) -> pd.DataFrame:
    """Find how often each kind of wrong item would be taken if it were drawn among the lures.

    On each card every item but the answer is a lure, taken in the mode that the card asks for, and
    makes an error of some kind; the share of a kind is the mean over the analysed trials of its
    part among the card's lures. It assumes that errors fall on all cards alike and on every lure
    alike, so it is what the make-up of the cards gives by itself: with a single picture a wrong
    answer to a direct card can only be ``rule_confusion``.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    by : tuple of str
        Columns whose combinations are counted apart.

    Returns
    -------
    DataFrame, one row per combination and kind of wrong item
        The columns of `by`, ``error_kind`` and ``p_by_chance``: the shares of a combination add
        up to 1. The four kinds that every game has are always there; those of hats and additional
        rules where cards have them. Trials whose answer is no item are left out; combinations
        without others are absent.
    """
    keys = ["game", "item_colours", "rules", "hat_over", "card", "mode", "target"]
    names_item = (flagged["answer_kind"] == "item").fillna(False).to_numpy(dtype=bool)
    trials = flagged[used_for_accuracy(flagged) & names_item].dropna(subset=["card", "target"])
    # Factors may be among the keys, as mode is; no column stands there twice.
    further = [key for key in keys if key not in by]
    trials = trials.assign(**{key: trials[key].fillna("") for key in ("rules", "hat_over")})
    counts = trials.groupby([*by, *further], sort=False, observed=True).size().reset_index(name="n")
    distinct = counts[keys].drop_duplicates()
    lures = pd.DataFrame(
        [_lure_shares(*texts) for texts in distinct.itertuples(index=False, name=None)],
        index=pd.MultiIndex.from_frame(distinct),
        columns=ERROR_KINDS,
        dtype="float64",
    ).fillna(0.0)
    found = lures.columns[(lures > 0).any()]
    kinds = [k for k in ERROR_KINDS if k in KIND_OF_ROLE.values() or k in set(found)]
    shares = lures[kinds].reindex(pd.MultiIndex.from_frame(counts[keys]))
    weighted = counts[[*by, "n"]].join(
        shares.mul(counts["n"].to_numpy(), axis=0).reset_index(drop=True)
    )
    sums = weighted.groupby(list(by), sort=False)[["n", *kinds]].sum().reset_index()
    sums[kinds] = sums[kinds].div(sums["n"], axis=0)
    table = sums.melt(list(by), kinds, "error_kind", "p_by_chance")
    general = table["error_kind"].isin(KIND_OF_ROLE.values())
    table = table[general | (table["p_by_chance"] > 0)].reset_index(drop=True)
    shares_of = {"error_kind": "string", "p_by_chance": "Float64"}
    return pd.DataFrame(table.astype(shares_of))


# The same cards are asked for by rule, by mode and by cell.
@lru_cache(maxsize=1 << 16)
def _lure_shares(
    game: str, item_colours: str, rules: str, hat_over: str, card: str, mode: str, target: str
) -> Mapping[str, float]:
    colours = read_item_colours(item_colours)
    if not rules and not hat_over:
        parsed = parse_card(card, colours)
        kinds = [
            KIND_OF_ROLE[item_role(item, parsed, colours, target)]
            for item in colours
            if item != target
        ]
    else:
        # Which kind of error an item makes depends on the hat and on rules that could be missed.
        solver = Solver(GameOptions(rules=frozenset(rules.split())))
        solved = solver.solve(game, item_colours, card, hat_over or None)
        if isinstance(solved, CardError):
            raise DatasetError(str(solved))
        responses = [Response(cast(Mode, mode), item) for item in colours]
        judged = [solved.game.error_kind(response, solved.stimulus) for response in responses]
        kinds = [kind for kind in judged if kind is not None]
    return {kind: kinds.count(kind) / max(len(kinds), 1) for kind in set(kinds)}


def order_cells(table: pd.DataFrame, *, factors: tuple[str, ...]) -> pd.DataFrame:
    """Sort rows by participant (where there is one), then cell: rule varies fastest.

    Levels stand in the schema's order (direct before exclusion, pure before mixed, grab before
    shout); participants in the order of their ids as text.
    """
    order = [*(f for f in factors if f != "rule"), *(["rule"] if "rule" in factors else [])]
    if "participant_id" in table.columns:
        order.insert(0, "participant_id")
    return table.sort_values(order, key=_rank, kind="stable", ignore_index=True)


def _rank(values: pd.Series) -> pd.Series:
    levels = _LEVELS.get(str(values.name))
    if not levels:
        return values
    found = sorted(set(values.dropna()) - set(levels))
    ranks = {level: rank for rank, level in enumerate((*levels, *found))}
    return values.map(ranks).astype("Int64")


def _typed(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Set the order and the nullable types of the columns, and derive the proportions."""
    counts = {name: table[name].fillna(0).astype("Int64") for name in _COUNTS}
    n_trials = counts["n_trials"].astype("Float64")
    divisor = n_trials.mask(n_trials == 0)
    rt = {
        name: table[name].astype("Float64")
        for name in ("mean_rt_s", "median_rt_s", "mean_log_rt", "sd_rt_s")
    }
    log_rt = rt["mean_log_rt"].to_numpy(dtype="float64", na_value=np.nan)
    columns: dict[str, pd.Series] = {key: table[key].astype("string") for key in keys}
    columns["n_trials"] = counts["n_trials"]
    columns["n_correct"] = counts["n_correct"]
    columns["p_correct"] = counts["n_correct"] / divisor
    columns["n_rt"] = counts["n_rt"]
    columns["mean_rt_s"] = rt["mean_rt_s"]
    columns["median_rt_s"] = rt["median_rt_s"]
    columns["geometric_mean_rt_s"] = pd.Series(np.exp(log_rt), table.index).astype("Float64")
    columns["mean_log_rt"] = rt["mean_log_rt"]
    columns["sd_rt_s"] = rt["sd_rt_s"]
    for kind in ERROR_KINDS:
        columns[f"n_{kind}"] = counts[f"n_{kind}"]
    for kind in ERROR_KINDS:
        columns[f"p_{kind}"] = counts[f"n_{kind}"] / divisor
    return pd.DataFrame(columns)
