"""Participants who miss a stated limit: too many errors, too many missing responses, too few RTs.

The trials come with masks of those that count, since limits are looked at after the exclusions that
stand before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusion_settings import ParticipantLimits
from ghostblitz_analysis.level_codes import cell_codes, count_crossed, level_codes

__all__ = ["LIMIT_COLUMNS", "limits_in_words", "missed_limits"]

Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: Columns and types of the table of missed limits.
LIMIT_COLUMNS = {
    "participant_id": "string",
    "limit": "string",
    "cell": "string",
    "value": "Float64",
    "threshold": "Float64",
    "reason": "string",
}

_REASONS = {
    "min_p_correct": "accuracy of {value:.3g} is below {threshold:g}",
    "min_p_correct_per_rule": "accuracy of {value:.3g} in {cell} trials is below {threshold:g}",
    "max_p_no_response": (
        "no response in time in {value:.3g} of trials, which is more than {threshold:g}"
    ),
    "min_n_rt_per_cell": "{value:g} usable RTs in {cell} trials, which is below {threshold:g}",
}


@dataclass(frozen=True, slots=True)
class _Values:
    """What a limit is held against: a value per participant (down) and cell (across)."""

    limit: str
    threshold: float
    values: FloatArray
    cells: list[str]

    @property
    def missed(self) -> Mask:
        """Where the limit is missed; nobody misses it by a value that does not exist."""
        if self.limit.startswith("max_"):
            return np.asarray(self.values > self.threshold)
        return np.asarray(self.values < self.threshold)


def limits_in_words(limits: ParticipantLimits) -> str:
    """Say whom the limits take out."""
    words = []
    if limits.min_p_correct is not None:
        words.append(f"accuracy below {limits.min_p_correct:g}")
    if limits.min_p_correct_per_rule is not None:
        words.append(f"accuracy below {limits.min_p_correct_per_rule:g} in a rule")
    if limits.max_p_no_response is not None:
        words.append(f"no response in time in more than {limits.max_p_no_response:g} of trials")
    if limits.min_n_rt_per_cell is not None:
        words.append(f"fewer than {limits.min_n_rt_per_cell} usable RTs in a cell")
    return f"of a participant with {' or '.join(words)}"


def missed_limits(
    trials: pd.DataFrame,
    limits: ParticipantLimits,
    *,
    analysed: Mask,
    usable: Mask,
    factors: tuple[str, ...],
) -> pd.DataFrame:
    """Find the participants who miss a limit, and by how much.

    A value on a limit is kept. Participants without any analysed trial are not looked at: they
    count for nothing already.

    Parameters
    ----------
    trials : DataFrame, one row per trial
        With the columns of the schema.
    limits : ParticipantLimits
        At least one is stated.
    analysed : (n_trials,) booleans
        The trials that count for accuracy so far.
    usable : (n_trials,) booleans
        Those among them that count for RT so far.
    factors : tuple of str
        Columns whose combinations are the cells.

    Returns
    -------
    DataFrame, one row per participant and limit missed (in each rule or cell where it is)
        ``participant_id``, ``limit`` (the setting's name), ``cell`` (the rule, or the levels of the
        cell; missing for limits over all trials), ``value``, ``threshold``, and ``reason`` in
        words. A trial without a response counts as wrong. A participant without trials in a cell
        that others have has 0 RTs there, but no accuracy in a rule that was never asked for.
    """
    counted = trials[analysed]
    _, names = level_codes(counted["participant_id"])
    rows = [
        (names[person], found.limit, found.cells[cell], found.values[person, cell], found.threshold)
        for found in _held_against(counted, limits, usable[analysed], factors)
        for person, cell in np.argwhere(found.missed).tolist()
    ]
    table = pd.DataFrame(
        [
            (
                *(person, limit, cell or None, value, threshold),
                _REASONS[limit].format(value=value, threshold=threshold, cell=cell),
            )
            for person, limit, cell, value, threshold in rows
        ],
        columns=list(LIMIT_COLUMNS),
    )
    return table.astype(LIMIT_COLUMNS)


def _held_against(
    counted: pd.DataFrame, limits: ParticipantLimits, usable: Mask, factors: tuple[str, ...]
) -> Iterator[_Values]:
    """Yield the values that each stated limit is held against."""
    people, names = level_codes(counted["participant_id"])
    n_people, n_trials = len(names), np.bincount(people, minlength=len(names))
    correct = counted["correct"].fillna(False).to_numpy(dtype=bool)

    def share(where: Mask) -> FloatArray:
        return np.bincount(people[where], minlength=n_people)[:, None] / n_trials[:, None]

    if limits.min_p_correct is not None:
        yield _Values("min_p_correct", limits.min_p_correct, share(correct), [""])
    if limits.min_p_correct_per_rule is not None:
        codes, rules = cell_codes(counted, ("rule",))
        size = {"n_rows": n_people, "n_columns": len(rules)}
        n_each = count_crossed(people, codes, **size)
        n_right = count_crossed(people[correct], codes[correct], **size)
        shares = n_right / np.where(n_each > 0, n_each, np.nan)
        yield _Values("min_p_correct_per_rule", limits.min_p_correct_per_rule, shares, rules)
    if limits.max_p_no_response is not None:
        silent = counted["rt_s"].isna().to_numpy(dtype=bool)
        yield _Values("max_p_no_response", limits.max_p_no_response, share(silent), [""])
    if limits.min_n_rt_per_cell is not None:
        codes, cells = cell_codes(counted, factors)
        n_rts = count_crossed(
            people[usable], codes[usable], n_rows=n_people, n_columns=len(cells)
        ).astype(np.float64)
        yield _Values("min_n_rt_per_cell", float(limits.min_n_rt_per_cell), n_rts, cells)
