"""Exclusions: a trial table in, the same table with ``exclude_*`` flags out; no row is dropped.

Each flag is one step with a reason in words. A step either takes a trial out of everything
(``scope == "all"``: the wrong phase, and cards that came again in a game for cards) or only out of
the RT measures (``scope == "rt"``); accuracy and error kinds are counted over all planned trials of
the phases that are analysed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.dataset import ImportFlow
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = [
    "ExclusionStep",
    "audit",
    "exclusion_steps",
    "flag_exclusions",
    "import_table",
    "total_flow",
    "used_for_accuracy",
    "used_for_rt",
]

Mask = npt.NDArray[np.bool_]
Scope = Literal["all", "rt"]

#: The flags that take a trial out of everything; every other one only out of the RT measures.
_ALL_FLAGS = ("exclude_phase", "exclude_recycled")
_RT_FLAGS = (
    "exclude_first_trials",
    "exclude_early",
    "exclude_no_rt",
    "exclude_error",
    "exclude_too_fast",
    "exclude_too_slow",
)


@dataclass(frozen=True, slots=True)
class ExclusionStep:
    """One exclusion: its flag column, why it is made, and which trials it takes.

    Attributes
    ----------
    flag : str
        Name of the boolean column.
    reason : str
        In words, with the setting's value.
    scope : str
        ``all``, or ``rt`` where only the RT measures leave the trial out.
    find : callable
        From the trial table to a mask of its rows.
    """

    flag: str
    reason: str
    scope: Scope
    find: Callable[[pd.DataFrame], Mask]


def exclusion_steps(settings: AnalysisSettings) -> tuple[ExclusionStep, ...]:
    """Return the steps in the order in which they are counted.

    Bounds are kept: with 0.2 and 10 s, RTs of exactly 0.2 and 10 s stay. An RT of 0 or less is
    too fast whatever the lower bound, since it has no logarithm.
    """
    low, high = settings.bounds.min_rt_s, settings.bounds.max_rt_s
    phases, n_first = settings.phases, settings.skip_first_trials
    return (
        ExclusionStep(
            "exclude_phase",
            f"not a {' or '.join(phases)} trial",
            "all",
            lambda t: ~t["phase"].isin(phases).to_numpy(dtype=bool),
        ),
        ExclusionStep(
            "exclude_recycled",
            "a card that had been seen and came again from under the pile",
            "all",
            lambda t: _true(t["recycled"]),
        ),
        ExclusionStep(
            "exclude_first_trials",
            f"among the first {n_first} of its block"
            if n_first
            else "among the first of its block (the settings skip none)",
            "rt",
            lambda t: _true(t["trial_in_block"] < n_first),
        ),
        ExclusionStep(
            "exclude_early",
            "answered before the card was shown",
            "rt",
            lambda t: _true(t["error_kind"] == "early"),
        ),
        ExclusionStep(
            "exclude_no_rt",
            "no response in time, so there is no RT",
            "rt",
            lambda t: t["rt_s"].isna().to_numpy(dtype=bool),
        ),
        ExclusionStep(
            "exclude_error",
            "the response was wrong",
            "rt",
            lambda t: ~_true(t["correct"]),
        ),
        ExclusionStep(
            "exclude_too_fast",
            f"RT below {low:g} s",
            "rt",
            lambda t: _true((t["rt_s"] < low) | (t["rt_s"] <= 0)),
        ),
        ExclusionStep(
            "exclude_too_slow",
            f"RT above {high:g} s",
            "rt",
            lambda t: _true(t["rt_s"] > high),
        ),
    )


def flag_exclusions(trials: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Add one boolean ``exclude_*`` column per step; the flags do not depend on one another.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema; it is not changed.
    settings : AnalysisSettings
        Bounds, first trials to skip, and phases.

    Returns
    -------
    DataFrame, the same rows in the same order
        A missing RT is flagged ``exclude_no_rt`` and by no bound. An empty table gives empty
        flags.
    """
    return trials.assign(
        **{
            step.flag: pd.Series(step.find(trials), index=trials.index, dtype=bool)
            for step in exclusion_steps(settings)
        }
    )


def used_for_accuracy(flagged: pd.DataFrame) -> Mask:
    """Return the mask of trials that count for accuracy and error kinds."""
    return ~np.asarray(flagged[list(_ALL_FLAGS)].to_numpy(dtype=bool).any(axis=1))


def used_for_rt(flagged: pd.DataFrame) -> Mask:
    """Return the mask of trials that count for the RT measures: no flag at all."""
    return ~np.asarray(flagged[[*_ALL_FLAGS, *_RT_FLAGS]].to_numpy(dtype=bool).any(axis=1))


def audit(flagged: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Count what each step took, per participant and rule.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions` with the same settings.

    Returns
    -------
    DataFrame, one row per step, participant and rule
        ``step`` (from 1), ``flag``, ``scope``, ``reason``, ``participant_id``, ``rule``,
        ``n_trials`` (of the participant and rule), ``n_flagged`` (by this step, whatever other
        steps say), ``n_newly_excluded`` (by this step and none before it) and ``n_left``. A
        trial may meet several steps, so only ``n_newly_excluded`` adds up.
    """
    keys = [flagged["participant_id"].astype("category"), flagged["rule"].astype("category")]
    gone = np.zeros(len(flagged), dtype=bool)
    parts = []
    for number, step in enumerate(exclusion_steps(settings), start=1):
        hit = flagged[step.flag].to_numpy(dtype=bool)
        counted = pd.DataFrame(
            {"n_trials": 1, "n_flagged": hit, "n_newly_excluded": hit & ~gone}, index=flagged.index
        )
        gone |= hit
        counted["n_left"] = ~gone
        counts = counted.astype("int64").groupby(keys, observed=True).sum().reset_index()
        counts.insert(0, "step", number)
        counts.insert(1, "flag", step.flag)
        counts.insert(2, "scope", step.scope)
        counts.insert(3, "reason", step.reason)
        parts.append(counts)
    table = pd.concat(parts, ignore_index=True)
    return table.astype({"participant_id": "string", "rule": "string"})


def total_flow(audit_table: pd.DataFrame) -> pd.DataFrame:
    """Add the audit up over participants and rules: one row per step, in order."""
    counts = ["n_trials", "n_flagged", "n_newly_excluded", "n_left"]
    steps = ["step", "flag", "scope", "reason"]
    return audit_table.groupby(steps, sort=True)[counts].sum().reset_index()


def import_table(flow: ImportFlow) -> pd.DataFrame:
    """Return what an import read and left out, before any exclusion.

    Returns
    -------
    DataFrame, one row per step
        ``step`` (``read``, ``dropped``, ``incomplete``, ``kept``), ``reason``,
        ``participant_id``, ``n_rows`` and ``n_left``. The rows of an ``incomplete`` participant
        are among those that a reason dropped, so they have no ``n_left`` and add nothing.
    """
    left = flow.n_rows_read
    rows: list[tuple[object, ...]] = [("read", None, None, left, left)]
    for reason, n_rows in flow.dropped:
        left -= n_rows
        rows.append(("dropped", reason, None, n_rows, left))
    rows += [("incomplete", None, person, n, None) for person, n in flow.incomplete]
    rows.append(("kept", None, None, left, left))
    table = pd.DataFrame(rows, columns=["step", "reason", "participant_id", "n_rows", "n_left"])
    texts = dict.fromkeys(("step", "reason", "participant_id"), "string")
    return table.astype(texts | dict.fromkeys(("n_rows", "n_left"), "Int64"))


def _true(condition: pd.Series) -> Mask:
    """Return where a condition holds; where it is unknown it does not."""
    return condition.astype("boolean").fillna(False).to_numpy(dtype=bool)
