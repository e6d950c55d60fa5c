"""Differences between two kinds of a participant's trials, within strata that hold both.

Comparing trials of two kinds says nothing of what makes the kinds if they also differ in rule,
mode or target, as they do by the rulebooks. So trials are compared within strata: trials that
agree in what the comparison is matched on. The difference is a mean over strata with the weights
n1 n2 / (n1 + n2), which is the estimate of a linear regression with one intercept per stratum and
one common difference (Angrist & Krueger 1999, Handbook of Labor Economics 3A, 1277-1366). Trials
of strata that hold one kind alone say nothing of the difference; they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = [
    "COUNTS",
    "KINDS",
    "MEASURES",
    "Comparison",
    "comparison_flow",
    "count_steps",
    "every_participant",
    "kept_trials",
    "matched_differences",
    "ordered_rows",
]

Mask = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
Steps = Sequence[tuple[str, Mask]]

KINDS = ("condition", "reference")
#: What is averaged, and which count of trials it is an average of.
MEASURES = {"log_rt": "n", "rt_s": "n", "p_error": "n_trials"}
COUNTS = ("n", "n_trials", "n_unmatched")


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two kinds of trial, and what both are restricted to and matched on.

    Attributes
    ----------
    effect : str
        Name of the difference, condition minus reference.
    trials : str
        In words, the trials that are looked at to begin with.
    start : (n_trials,) mask
        These trials.
    steps : tuple of (str, mask)
        Why trials of both kinds are left out, and the trials that stay; in order.
    condition, reference : (n_trials,) mask
        The two kinds; trials of neither are left out.
    matched_on : tuple of str
        Columns in which trials of a stratum agree, beside participant and mode.
    note : str
        What a reader of the effect must know.
    """

    effect: str
    trials: str
    start: Mask
    steps: tuple[tuple[str, Mask], ...]
    condition: Mask
    reference: Mask
    matched_on: tuple[str, ...] = ()
    note: str = ""


def kept_trials(comparison: Comparison) -> Mask:
    """Return the mask of trials that are of either kind and that no step leaves out."""
    kept = comparison.start & (comparison.condition | comparison.reference)
    for _, stays in comparison.steps:
        kept = kept & stays
    return np.asarray(kept)


def count_steps(effect: str, trials: str, start: Mask, steps: Steps) -> pd.DataFrame:
    """Count what each step leaves out, in order.

    Returns
    -------
    DataFrame, one row per step, the first of them for the trials to begin with
        ``effect``, ``step`` (from 0), ``reason``, ``n_trials`` (before it), ``n_excluded`` and
        ``n_left``.
    """
    left, n_left = start, int(start.sum())
    rows = [(effect, 0, trials, n_left, 0, n_left)]
    for number, (reason, stays) in enumerate(steps, start=1):
        n_before, left = n_left, left & stays
        n_left = int(left.sum())
        rows.append((effect, number, reason, n_before, n_before - n_left, n_left))
    names = ["effect", "step", "reason", "n_trials", "n_excluded", "n_left"]
    return pd.DataFrame(rows, columns=names)


def comparison_flow(
    comparison: Comparison, differences: pd.DataFrame, usable: Mask
) -> pd.DataFrame:
    """Count what each step of a comparison leaves out.

    Parameters
    ----------
    comparison : Comparison
        What was compared.
    differences : DataFrame
        What came of it, from `matched_differences`.
    usable : (n_trials,) mask
        Trials whose RT is used.

    Returns
    -------
    DataFrame, one row per step
        As from `count_steps`. The last two steps are made for the RTs only; error rates keep
        wrong trials, and have strata that hold both kinds by themselves.
    """
    steps = [
        *comparison.steps,
        ("neither of the two kinds compared", comparison.condition | comparison.reference),
        ("RT not used: wrong, or another exclusion flags it", usable),
    ]
    table = count_steps(comparison.effect, comparison.trials, comparison.start, steps)
    over_rules = differences[differences["rule"] == -1]
    n_unmatched = sum(int(over_rules[f"n_unmatched_{kind}"].sum()) for kind in KINDS)
    n_before = int(table["n_left"].iloc[-1])
    reason = "no RT of the other kind to be matched with"
    last = (comparison.effect, len(table), reason, n_before, n_unmatched, n_before - n_unmatched)
    return pd.concat([table, pd.DataFrame([last], columns=table.columns)], ignore_index=True)


def matched_differences(
    trials: pd.DataFrame, comparison: Comparison, *, modes: tuple[str, ...]
) -> pd.DataFrame:
    """Compare the two kinds of trial of each participant, over all rules and within each.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        From `sequence_trials`.
    comparison : Comparison
        Its masks are of these trials.
    modes : tuple of str
        ``("mode",)`` where there are two, so that each has rows of its own: grab and shout RTs
        are never averaged together. Else empty.

    Returns
    -------
    DataFrame, one row per participant, mode and rule that is met, and over all rules
        Codes ``participant_id``, ``mode`` and ``rule`` (-1 in rows over all rules, and for mode
        where there is one); for ``condition`` and ``reference`` the mean of each of `MEASURES`,
        the numbers ``n_`` of RTs and ``n_trials_`` of trials in it, and ``n_unmatched_``, the RTs
        that were left out since their stratum held none of the other kind. Means are missing
        where no stratum holds both kinds.
    """
    others = [name for name in comparison.matched_on if name not in ("rule", *modes)]
    fine = ["participant_id", *modes, "rule", *others]
    sums = _stratum_sums(trials, comparison, fine)
    over_rules = sums
    if "rule" not in comparison.matched_on:
        coarse = [name for name in fine if name != "rule"]
        over_rules = sums.drop(columns="rule").groupby(coarse, as_index=False).sum()
    parts = []
    for every in every_participant(trials, comparison.start, modes=modes):
        strata = sums if "rule" in every.columns else over_rules
        parts.append(_weighted(strata, every))
    return ordered_rows(parts)


def every_participant(
    trials: pd.DataFrame, start: Mask, *, modes: tuple[str, ...]
) -> list[pd.DataFrame]:
    """Return the rows that participants have: over all rules, and per rule if there are two.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        From `sequence_trials`.
    start : (n_trials,) mask
        Whose modes and rules are met.
    modes : tuple of str
        See `matched_differences`.

    Returns
    -------
    list of DataFrame
        Codes of ``participant_id``, `modes` and, in the second, ``rule``: every participant has
        every combination that anyone has.
    """
    people = pd.DataFrame(
        {"participant_id": np.arange(len(trials["participant_id"].cat.categories))}
    )
    names = [*modes, "rule"]
    met = pd.DataFrame({name: trials[name].cat.codes[start].astype("int64") for name in names})
    met = met.drop_duplicates()
    wanted = [list(modes), names] if met["rule"].nunique() > 1 else [list(modes)]
    return [people.merge(met[by].drop_duplicates(), how="cross") if by else people for by in wanted]


def ordered_rows(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Put rows over all rules and per rule together, with -1 where there is no mode or rule."""
    table = pd.concat(list(parts), ignore_index=True)
    for name in ("mode", "rule"):
        codes = table[name] if name in table.columns else pd.Series(-1, index=table.index)
        table[name] = codes.fillna(-1).astype("int64")
    return table.sort_values(["mode", "rule", "participant_id"], kind="stable", ignore_index=True)


def _stratum_sums(
    trials: pd.DataFrame, comparison: Comparison, keys: Sequence[str]
) -> pd.DataFrame:
    """Add up RTs and errors of both kinds in each stratum; one pass over the trials."""
    rows = np.flatnonzero(kept_trials(comparison))
    code = np.zeros(len(rows), dtype=np.int64)
    sizes = []
    for key in keys:
        values: pd.Series = trials[key]
        if isinstance(values.dtype, pd.CategoricalDtype):
            own, size = values.cat.codes.to_numpy()[rows], len(values.cat.categories) + 1
        else:
            own, size = values.to_numpy()[rows], 3
        code = code * size + own.astype(np.int64) + 1
        sizes.append(size)
    stratum, strata = pd.factorize(code)
    columns: dict[str, npt.NDArray[np.generic]] = {}
    for key, size in zip(reversed(keys), reversed(sizes), strict=True):
        strata, place = np.divmod(strata, size)
        columns[key] = place - 1
    usable = trials["usable"].to_numpy()[rows]
    added = {
        "n": usable.astype(np.float64),
        "log_rt": np.where(usable, trials["log_rt"].to_numpy()[rows], 0.0),
        "rt_s": np.where(usable, trials["rt_s"].to_numpy()[rows], 0.0),
        "n_trials": np.ones(len(rows)),
        "p_error": trials["wrong"].to_numpy()[rows].astype(np.float64),
    }
    # Even places are of the condition, odd ones of the reference.
    place = 2 * stratum + ~comparison.condition[rows]
    for name, amounts in added.items():
        sums = np.bincount(place, amounts, minlength=2 * len(strata))
        columns |= {f"{name}_{kind}": sums[i::2] for i, kind in enumerate(KINDS)}
    return pd.DataFrame(columns)


def _weighted(sums: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Average the strata of each row with the weights of the module's docstring."""
    by = list(every.columns)
    columns: dict[str, pd.Series] = {name: sums[name] for name in by}
    for count in ("n", "n_trials"):
        n, n_reference = sums[f"{count}_condition"], sums[f"{count}_reference"]
        weight = (n * n_reference / (n + n_reference)).fillna(0.0)
        columns[f"weight_{count}"] = weight
        for kind in KINDS:
            own = sums[f"{count}_{kind}"]
            columns[f"{count}_{kind}"] = own.where(weight > 0, 0.0)
            if count == "n":
                columns[f"n_unmatched_{kind}"] = own.where(weight == 0, 0.0)
            for measure in (name for name, of in MEASURES.items() if of == count):
                mean = sums[f"{measure}_{kind}"] / own
                columns[f"{measure}_{kind}"] = (mean * weight).where(weight > 0, 0.0)
    table = every.merge(pd.DataFrame(columns).groupby(by, as_index=False).sum(), how="left", on=by)
    for kind in KINDS:
        for measure, count in MEASURES.items():
            weight = table[f"weight_{count}"]
            table[f"{measure}_{kind}"] = table[f"{measure}_{kind}"] / weight.where(weight > 0)
        for count in COUNTS:
            name = f"{count}_{kind}"
            table[name] = table[name].fillna(0).astype("int64")
    return table.drop(columns=["weight_n", "weight_n_trials"])
