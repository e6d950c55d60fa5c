"""The rows that a regression model is fitted to, and who and what is left out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.regression.design_formulas import Design, build_design
from ghostblitz_analysis.wording import count_of

__all__ = ["Outcome", "TrialRows", "error_rows", "mode_levels", "rt_rows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Outcome = Literal["log_rt", "inverse_rt", "error"]

#: How the outcomes stand in a formula.
_RESPONSES: dict[Outcome, str] = {
    "log_rt": "log(rt_s)",
    "inverse_rt": "-1 / rt_s",
    "error": "error",
}


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Single trials of one mode, ready for a model.

    Attributes
    ----------
    outcome : str
        ``log_rt`` (natural log of seconds), ``inverse_rt`` (-1/s, so that larger is slower) or
        ``error`` (1 for an error).
    mode : str
        The mode of the trials; empty where the data have one.
    y : (n_rows,) array
        The outcome.
    participant, target : (n_rows,) int arrays
        Numbers of participants and targets; `target` is empty where targets are no factor.
    participants, targets : tuple of str
        Their names, in the order of the numbers.
    design : Design
        The fixed effects.
    n_rows_left_out : int
        Rows that count for the outcome but lack what the model needs.
    left_out : tuple of str
        Participants with analysed trials of the mode, but none among the rows.
    notes : tuple of str
        Both in words.
    """

    outcome: Outcome
    mode: str
    y: FloatArray
    participant: IntArray
    participants: tuple[str, ...]
    target: IntArray
    targets: tuple[str, ...]
    design: Design
    n_rows_left_out: int
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def response(self) -> str:
        """The left-hand side of the formula."""
        return _RESPONSES[self.outcome]


def mode_levels(flagged: pd.DataFrame, *, factors: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modes that are modelled apart, or one empty name where there is one mode.

    Grab and shout RTs are never pooled, so where ``mode`` is a factor each gets its own models.
    """
    if "mode" not in factors:
        return ("",)
    found = set(flagged.loc[used_for_accuracy(flagged), "mode"].dropna())
    return tuple(mode for mode in ("grab", "shout") if mode in found)


def rt_rows(
    flagged: pd.DataFrame,
    *,
    outcome: Literal["log_rt", "inverse_rt"],
    factors: tuple[str, ...],
    mode: str = "",
    items: bool = True,
) -> TrialRows:
    """Pick the trials of an RT model: correct, and flagged by no exclusion.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    outcome : str
        ``log_rt`` or ``inverse_rt``: -1/RT (Kliegl et al. 2010; the sign keeps slower larger).
    factors : tuple of str
        From `cell_factors`.
    mode : str
        The trials of one mode only; empty for all, where the data have one mode.
    items : bool
        Whether targets are a grouping factor. Where any trial has none, as those of the rule
        ``time``, they are not, so that every rule is in the model; a note says so.

    Returns
    -------
    TrialRows
    """
    analysed = _analysed(flagged, mode)
    used = analysed[used_for_rt(analysed)]
    rt_s = used["rt_s"].to_numpy(dtype=np.float64)
    y = np.log(rt_s) if outcome == "log_rt" else -1.0 / rt_s
    without = used["target"].isna()
    notes = []
    if items and without.any():
        rules = sorted({str(rule) for rule in used.loc[without, "rule"]})
        notes.append(
            "targets are no grouping factor; without one: "
            f"{count_of(int(without.sum()), 'trial')} ({', '.join(rules)})"
        )
    items = items and not notes
    return _rows(outcome, mode, used, y, analysed, used, factors, notes, items=items)


def error_rows(flagged: pd.DataFrame, *, factors: tuple[str, ...], mode: str = "") -> TrialRows:
    """Pick the trials of an error model: all of the analysed phases.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors, mode
        As in `rt_rows`.

    Returns
    -------
    TrialRows
        A trial whose correctness is missing is left out, and counted.
    """
    analysed = _analysed(flagged, mode)
    needed = analysed[analysed["correct"].notna()]
    y = 1.0 - needed["correct"].to_numpy(dtype=np.float64)
    n_unknown = len(analysed) - len(needed)
    notes = [f"{n_unknown} trials of unknown correctness left out"] if n_unknown else []
    return _rows("error", mode, needed, y, analysed, analysed, factors, notes, items=False)


def _analysed(flagged: pd.DataFrame, mode: str) -> pd.DataFrame:
    kept = used_for_accuracy(flagged)
    if mode:
        kept &= (flagged["mode"] == mode).fillna(False).to_numpy(dtype=bool)
    return flagged[kept]


def _rows(
    outcome: Outcome,
    mode: str,
    needed: pd.DataFrame,
    y: FloatArray,
    analysed: pd.DataFrame,
    used: pd.DataFrame,
    factors: tuple[str, ...],
    notes: list[str],
    *,
    items: bool,
) -> TrialRows:
    participant, participants = _numbered(needed["participant_id"])
    target, targets = _numbered(needed["target"] if items else needed["target"].iloc[:0])
    present = set(participants)
    everyone = (str(name) for name in analysed["participant_id"].unique())
    left_out = tuple(sorted(name for name in everyone if name not in present))
    if left_out:
        notes.append(f"without {', '.join(left_out)}, who gave no usable trial")
    within = tuple(name for name in factors if name != "mode")
    return TrialRows(
        outcome=outcome,
        mode=mode,
        y=y,
        participant=participant,
        participants=participants,
        target=target,
        targets=targets,
        design=build_design(needed, factors=within),
        n_rows_left_out=len(used) - len(needed),
        left_out=left_out,
        notes=tuple(notes),
    )


def _numbered(names: pd.Series) -> tuple[IntArray, tuple[str, ...]]:
    codes, found = pd.factorize(names.astype(object), sort=True)
    return codes.astype(np.intp), tuple(str(name) for name in found)
