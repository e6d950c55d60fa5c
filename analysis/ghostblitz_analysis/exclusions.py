"""Exclusions: a trial table in, the same table with ``exclude_*`` flags out; no row is dropped.

Each flag is one step with a reason in words, which takes a trial out of everything or only out of
the RT measures; accuracy and error kinds are counted over all planned trials of the phases that are
analysed. The flags of the steps that are always made do not depend on one another; each step that
the settings state looks only at the trials that no step before it took out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.dataset import ImportFlow
from ghostblitz_analysis.exclusion_settings import AfterErrors
from ghostblitz_analysis.exclusion_steps import (
    ExclusionStep,
    TrialsLeft,
    cell_columns,
    exclusion_steps,
    scope_of,
    where_true,
)
from ghostblitz_analysis.level_codes import count_crossed, level_codes
from ghostblitz_analysis.participant_limits import LIMIT_COLUMNS, missed_limits
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = [
    "ExclusionStep",
    "audit",
    "exclusion_steps",
    "flag_exclusions",
    "import_table",
    "participants_left_out",
    "total_flow",
    "used_for_accuracy",
    "used_for_rt",
    "with_trials_after_errors",
]

Mask = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

_PREFIX = "exclude_"


def flag_exclusions(trials: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Add one boolean ``exclude_*`` column per step.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema; it is not changed. Flags of an earlier call are replaced;
        other columns that begin with ``exclude_`` take their trials out of the RT measures before
        any step.
    settings : AnalysisSettings
        Bounds, first trials to skip, phases, and the exclusions that a study states.

    Returns
    -------
    DataFrame, the same rows in the same order
        A missing RT is flagged ``exclude_no_rt`` and by no bound. The order of the rows makes no
        difference to their flags. An empty table gives empty flags.
    """
    bare = trials.drop(columns=[name for name in trials.columns if scope_of(name)])
    left = _all_left(bare)
    flags: dict[str, Mask] = {}
    for step in _steps_on(bare, settings):
        flags[step.flag] = step.find(bare, left)
        left = left.without(flags[step.flag], step.scope)
    return bare.assign(**flags)


def with_trials_after_errors(flagged: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Flag again without the step ``after_error``, for what is measured in trials after errors.

    All other steps are made as the settings state them, so that trials after errors are trimmed
    together with all others wherever that step stands.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions` with the same settings; it is not changed.
    settings : AnalysisSettings
        Without such a step, `flagged` is returned.

    Returns
    -------
    DataFrame, the same rows in the same order
        The same participants and trials are analysed: what takes trials out of everything stands.
    """
    others = tuple(step for step in settings.exclusions if not isinstance(step, AfterErrors))
    if len(others) == len(settings.exclusions):
        return flagged
    bare = flagged.drop(columns=[name for name in flagged.columns if scope_of(name)])
    left = _all_left(bare)
    flags: dict[str, Mask] = {}
    for step in _steps_on(bare, settings.model_copy(update={"exclusions": others})):
        stands = step.scope == "all"
        flags[step.flag] = where_true(flagged[step.flag]) if stands else step.find(bare, left)
        left = left.without(flags[step.flag], step.scope)
    return bare.assign(**flags)


def used_for_accuracy(flagged: pd.DataFrame) -> Mask:
    """Return the mask of trials that count for accuracy and error kinds."""
    return ~_any_of(flagged, [c for c in _flags_in(flagged) if scope_of(c) == "all"])


def used_for_rt(flagged: pd.DataFrame) -> Mask:
    """Return the mask of trials that count for the RT measures: no ``exclude_*`` flag at all."""
    return ~_any_of(flagged, _flags_in(flagged))


def _flags_in(table: pd.DataFrame) -> list[str]:
    return [name for name in map(str, table.columns) if name.startswith(_PREFIX)]


def _any_of(table: pd.DataFrame, flags: list[str]) -> Mask:
    found = np.zeros(len(table), dtype=bool)
    for flag in flags:
        found |= where_true(table[flag])
    return found


def _all_left(table: pd.DataFrame) -> TrialsLeft:
    everything = np.ones(len(table), dtype=bool)
    return TrialsLeft(everything, everything)


def _steps_on(table: pd.DataFrame, settings: AnalysisSettings) -> tuple[ExclusionStep, ...]:
    """Return all steps on a table: what came flagged with the data, then the settings' own."""

    def came_so(flag: str) -> ExclusionStep:
        return ExclusionStep(
            flag, "flagged in the data", "rt", lambda t, _left: where_true(t[flag])
        )

    came = [came_so(flag) for flag in _flags_in(table) if not scope_of(flag)]
    return (*came, *exclusion_steps(settings))


def participants_left_out(flagged: pd.DataFrame, settings: AnalysisSettings) -> pd.DataFrame:
    """Say which participants the stated limits took out, and why.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions` with the same settings.

    Returns
    -------
    DataFrame, one row per step, participant and limit missed (in each rule or cell where it is)
        ``step`` and ``flag`` as in the `audit`, then the columns of `missed_limits`. No rows where
        no limit is stated, or none is missed.
    """
    left = _all_left(flagged)
    parts = []
    for number, step in enumerate(_steps_on(flagged, settings), start=1):
        if step.limits is not None:
            missed = missed_limits(
                flagged,
                step.limits,
                analysed=left.analysed,
                usable=left.usable,
                factors=cell_columns(settings),
            )
            missed.insert(0, "step", number)
            missed.insert(1, "flag", step.flag)
            parts.append(missed)
        left = left.without(where_true(flagged[step.flag]), step.scope)
    types = {"step": "Int64", "flag": "string", **LIMIT_COLUMNS}
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(types))
    return table.astype(types)


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
    people, names = level_codes(flagged["participant_id"])
    rules, levels = level_codes(flagged["rule"])

    def count(where: Mask) -> IntArray:
        size = {"n_rows": len(names), "n_columns": len(levels)}
        return count_crossed(people[where], rules[where], **size)

    n_trials = count(np.ones(len(flagged), dtype=bool))
    met = np.nonzero(n_trials)
    gone = np.zeros(len(flagged), dtype=bool)
    parts = []
    for number, step in enumerate(_steps_on(flagged, settings), start=1):
        hit = where_true(flagged[step.flag])
        counts = {"n_flagged": count(hit), "n_newly_excluded": count(hit & ~gone)}
        gone |= hit
        columns: dict[str, object] = {
            **{"step": number, "flag": step.flag, "scope": step.scope, "reason": step.reason},
            "participant_id": [names[person] for person in met[0]],
            "rule": [levels[rule] for rule in met[1]],
            "n_trials": n_trials[met],
            **{name: table[met] for name, table in counts.items()},
            "n_left": count(~gone)[met],
        }
        parts.append(pd.DataFrame(columns))
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
