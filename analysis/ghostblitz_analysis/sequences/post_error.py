"""What an error does to the next trial: post-error slowing and post-error accuracy.

Traditionally, correct trials after an error are compared with correct trials after a correct one.
That confounds slowing after errors with what makes errors frequent: in a tired stretch people are
slow and err more. The robust measure compares the trial after each error with the trial before
it (Dutilh, van Ravenzwaaij, Nieuwenhuis, van der Maas, Forstmann & Wagenmakers 2012, Journal of
Mathematical Psychology 56, 208-216, their equation for robust post-error slowing). Both also come
with rules held apart: errors are more frequent with one rule than with another, so the trials
before, at and after an error are no fair sample of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.sequences.matched_differences import (
    KINDS,
    Comparison,
    count_steps,
    every_participant,
    ordered_rows,
)

__all__ = [
    "PAIR_EFFECTS",
    "POST_ERROR_MEANINGS",
    "Pairs",
    "pair_differences",
    "pair_flow",
    "post_error_comparisons",
]

Mask = npt.NDArray[np.bool_]
Pairs = Literal["all", "same_rule"]

#: The robust measures, and which pairs they are made of.
PAIR_EFFECTS: Mapping[str, Pairs] = MappingProxyType(
    {"post_error_robust": "all", "post_error_robust_same_rule": "same_rule"}
)
#: The measures in words.
POST_ERROR_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "post_error_traditional": "post-error slowing, traditional: trials after an error against "
        "trials after a correct one",
        "post_error_traditional_matched": "the same, matched on rule, block kind and the rule of "
        "the trial before",
        "post_error_robust": "post-error slowing, robust: the trial after an error against the "
        "one before the error",
        "post_error_robust_same_rule": "the same, of pairs of one rule",
    }
)


def post_error_comparisons(trials: pd.DataFrame, *, modes: tuple[str, ...]) -> list[Comparison]:
    """State the traditional comparisons: all trials of a participant together, and matched.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        From `sequence_trials`.
    modes : tuple of str
        ``("mode",)`` where there are two, else empty.

    Returns
    -------
    list of Comparison
        The error rates of their two kinds of trial give post-error accuracy. Every error counts,
        one without a response in time included.
    """
    everything = np.ones(len(trials), dtype=bool)
    matched = ("rule", "block_kind", "previous_rule", *(("mode_repeated",) if modes else ()))
    steps = (("no trial just before it in its block", _flag(trials, "has_previous")),)
    return [
        Comparison(
            effect,
            "analysed trials",
            everything,
            steps,
            condition=_flag(trials, "previous_wrong"),
            reference=_flag(trials, "previous_correct"),
            matched_on=matched_on,
            note=note,
        )
        for effect, matched_on, note in (
            (
                "post_error_traditional",
                (),
                "rows over all rules do not hold rules apart, of which one has more errors",
            ),
            ("post_error_traditional_matched", matched, ""),
        )
    ]


def pair_differences(trials: pd.DataFrame, *, pairs: Pairs, modes: tuple[str, ...]) -> pd.DataFrame:
    """Compare the trial after each error with the trial before it.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        From `sequence_trials`.
    pairs : str
        ``all``, or ``same_rule`` for those whose two trials have the same rule.
    modes : tuple of str
        ``("mode",)`` where there are two; then only pairs of one mode are compared, each mode by
        itself. Else empty.

    Returns
    -------
    DataFrame, one row per participant, mode and rule that is met, and over all rules
        As from `matched_differences`: the condition is the trial after the error, the reference
        the one before; both numbers are that of the pairs. The rule is that of the trial after
        the error. Error rates are missing, since both trials are correct.
    """
    start = np.ones(len(trials), dtype=bool)
    kept = start.copy()
    for _, stays in _pair_steps(trials, pairs=pairs, modes=modes):
        kept &= stays
    sources = {
        "log_rt_condition": "log_rt",
        "log_rt_reference": "second_log_rt",
        "rt_s_condition": "rt_s",
        "rt_s_reference": "second_rt_s",
    }
    keys = ("participant_id", *modes, "rule")
    found = pd.DataFrame(
        {name: trials[name].cat.codes[kept].astype("int64") for name in keys}
        | {name: trials.loc[kept, source] for name, source in sources.items()}
    )
    parts = []
    for every in every_participant(trials, start, modes=modes):
        by = list(every.columns)
        grouped = found.groupby(by)
        means = grouped[list(sources)].mean().assign(n_condition=grouped.size()).reset_index()
        parts.append(every.merge(means, how="left", on=by))
    table = ordered_rows(parts)
    n_pairs = table["n_condition"].fillna(0).astype("int64")
    table = table.assign(n_condition=n_pairs, n_reference=n_pairs)
    for kind in KINDS:
        table[f"n_unmatched_{kind}"] = 0
        table[f"p_error_{kind}"] = np.nan
        table[f"n_trials_{kind}"] = pd.array([pd.NA] * len(table), dtype="Int64")
    return table


def pair_flow(
    trials: pd.DataFrame, effect: str, *, pairs: Pairs, modes: tuple[str, ...]
) -> pd.DataFrame:
    """Count what leaves a trial out of the pairs; columns as of `count_steps`."""
    start = np.ones(len(trials), dtype=bool)
    steps = _pair_steps(trials, pairs=pairs, modes=modes)
    return count_steps(effect, "analysed trials", start, steps)


def _pair_steps(
    trials: pd.DataFrame, *, pairs: Pairs, modes: tuple[str, ...]
) -> list[tuple[str, Mask]]:
    steps = [
        ("no two trials just before it in its block", "has_second_previous"),
        ("the trial before was right", "previous_wrong"),
        ("the trial before the error was wrong too", "second_previous_correct"),
    ]
    if modes:
        steps.append(("its mode is not that of the one before the error", "second_mode_repeated"))
    if pairs == "same_rule":
        steps.append(("its rule is not that of the one before the error", "second_rule_repeated"))
    steps += [
        ("RT not used: wrong, or another exclusion flags it", "usable"),
        ("RT of the one before the error not used", "second_usable"),
    ]
    return [(reason, _flag(trials, name)) for reason, name in steps]


def _flag(trials: pd.DataFrame, name: str) -> Mask:
    return np.asarray(trials[name].to_numpy(dtype=bool))
