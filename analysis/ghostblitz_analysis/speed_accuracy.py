"""Speed and accuracy in one score: IES, RCS, LISAS and BIS per cell, groups and contrasts.

Conditions that differ in speed and in accuracy at once can be compared in one score that counts
both. None of the scores is free of assumptions about how the two trade off, so all four stand
beside each other, with the parameters of the EZ-diffusion model as a fifth view. Whatever is
averaged or standardised is so within a mode: grab and shout RTs are never pooled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from ghostblitz_analysis.distributions.results import answered
from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.ez_diffusion import EZ_SCORES, ez_cells, joined_notes, used_responses
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_analysis.measures import cell_measures, complete_cells, order_cells
from ghostblitz_analysis.settings import AnalysisSettings

__all__ = [
    "SCORES",
    "SpeedAccuracyResults",
    "group_scores",
    "score_contrasts",
    "speed_accuracy_cells",
    "speed_accuracy_results",
]

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SCORES = ("ies_s", "rcs_per_s", "lisas_s", "bis")
#: The column that says of which rows a score should not be used.
_FLAGS: Mapping[str, str] = MappingProxyType(
    {"ies_s": "ies_advised_against", **dict.fromkeys(EZ_SCORES, "misfit")}
)
#: What a flag means to readers of the group's tables.
_FLAG_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "ies_advised_against": "IES is advised against where more than 10 % of responses are "
        "wrong (Townsend & Ashby 1983; Bruyer & Brysbaert 2011)",
        "misfit": "a negative drift or non-decision time, which the model gives where it does "
        "not describe the data",
    }
)
#: Other rules are compared with this one.
_REFERENCE_RULE = "direct"
#: IES is advised against where one response in fewer than this is wrong.
_IES_ONE_ERROR_IN = 10
#: A spread below this share of the mean is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12

_INTERVAL_COLUMNS = ("n_participants", "n_left_out", "left_out")


@dataclass(frozen=True, slots=True, eq=False)
class SpeedAccuracyResults:
    """What speed and accuracy come to together.

    Attributes
    ----------
    participant_cells : DataFrame
        From `speed_accuracy_cells`.
    group_cells, contrasts : DataFrame
        From `group_scores` and `score_contrasts`, of IES, RCS, LISAS and BIS.
    ez_participant_cells : DataFrame
        From `ghostblitz_analysis.ez_diffusion.ez_cells`.
    ez_group_cells, ez_contrasts : DataFrame
        From `group_scores` and `score_contrasts`, of the EZ-diffusion parameters.
    """

    participant_cells: pd.DataFrame
    group_cells: pd.DataFrame
    contrasts: pd.DataFrame
    ez_participant_cells: pd.DataFrame
    ez_group_cells: pd.DataFrame
    ez_contrasts: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables under the names of their CSV files."""
        return {
            "speed_accuracy_participant_cells": self.participant_cells,
            "speed_accuracy_group_cells": self.group_cells,
            "speed_accuracy_contrasts": self.contrasts,
            "ez_diffusion_participant_cells": self.ez_participant_cells,
            "ez_diffusion_group_cells": self.ez_group_cells,
            "ez_diffusion_contrasts": self.ez_contrasts,
        }


def speed_accuracy_results(
    flagged: pd.DataFrame, *, factors: tuple[str, ...], settings: AnalysisSettings
) -> SpeedAccuracyResults:
    """Score speed and accuracy together, per participant and over participants.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`.
    factors : tuple of str
        From `cell_factors`.
    settings : AnalysisSettings
        The level of the intervals, and alpha for the checks of the EZ-diffusion model.
    """
    measures = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    cells = speed_accuracy_cells(measures, flagged, factors=factors)
    ez = ez_cells(measures, flagged, factors=factors, alpha=settings.alpha)
    confidence = settings.confidence
    return SpeedAccuracyResults(
        participant_cells=cells,
        group_cells=group_scores(cells, scores=SCORES, factors=factors, confidence=confidence),
        contrasts=score_contrasts(cells, scores=SCORES, factors=factors, confidence=confidence),
        ez_participant_cells=ez,
        ez_group_cells=group_scores(ez, scores=EZ_SCORES, factors=factors, confidence=confidence),
        ez_contrasts=score_contrasts(ez, scores=EZ_SCORES, factors=factors, confidence=confidence),
    )


def speed_accuracy_cells(
    measures: pd.DataFrame, flagged: pd.DataFrame, *, factors: tuple[str, ...]
) -> pd.DataFrame:
    """Score each participant's speed and accuracy in each cell in four ways.

    With M the mean RT of correct responses and P the share of errors among all trials of a cell:

    - IES = M / (1 - P), the inverse efficiency score (Townsend & Ashby 1983). Bruyer & Brysbaert
      (2011), Psychologica Belgica 51, 5-13, advise against it where P exceeds .10.
    - RCS = correct responses / sum of the RTs of all responses, right and wrong: correct
      responses per second of responding (Woltz & Was 2006, Memory & Cognition 34, 668-684).
      Trimming takes correct RTs alone, so wrong responses count here however slow they were
      within the bounds.
    - LISAS = M + P S_RT / S_P, the linear integrated speed-accuracy score (Vandierendonck 2017,
      Behavior Research Methods 49, 653-673; 2018, Journal of Cognition 1:8). S_RT and S_P are
      the SDs (ddof 1) of a participant's correct RTs and of errors as 0 and 1, over all
      conditions of the mode. Where S_P is 0 it is M.
    - BIS = z(1 - P) - z(M), the balanced integration score (Liesefeld & Janczyk 2019, Behavior
      Research Methods 51, 40-60): both standardised by the population SD over all participants
      and cells of the mode that have an RT. It depends on who else is in the sample, and adds up
      to 0 over it.

    IES and RCS assume that speed and accuracy trade off in proportion, LISAS and BIS that they do
    so linearly.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells`, over all participants.
    flagged : DataFrame, one row per trial
        From `flag_exclusions`: the trials that `measures` were made of.
    factors : tuple of str
        What makes the cells.

    Returns
    -------
    DataFrame, one row per participant and cell, in the order of `measures`
        ``participant_id``, the factors, ``n_trials``, ``n_correct``, ``p_correct``, ``n_rt`` and
        ``mean_rt_s`` of the correct responses that no exclusion takes out; ``n_responses`` and
        ``sum_rt_s`` of these and of wrong responses; ``n_no_response`` (their time is not known,
        so they add none to RCS, but they are errors); ``ies_s``, ``rcs_per_s``, ``lisas_s``,
        ``bis``; ``ies_advised_against``; and ``note`` on what is missing.

    Examples
    --------
    >>> from ghostblitz_analysis.exclusions import flag_exclusions
    >>> from ghostblitz_task.schema import COLUMNS
    >>> trials = pd.DataFrame({c.name: pd.array([None] * 4, dtype=c.dtype) for c in COLUMNS})
    >>> trials = trials.assign(
    ...     participant_id="p1", phase="test", rule="direct", mode="grab", recycled=False,
    ...     rt_s=[0.5, 0.6, 0.7, 0.6], correct=[True, True, True, False],
    ...     error_kind=[None, None, None, "shape_capture"],
    ... )
    >>> flagged = flag_exclusions(trials, AnalysisSettings())
    >>> measures = complete_cells(cell_measures(flagged, factors=("rule",)), factors=("rule",))
    >>> cells = speed_accuracy_cells(measures, flagged, factors=("rule",))
    >>> cells[["ies_s", "rcs_per_s", "lisas_s"]].round(3).iloc[0].tolist()
    [0.8, 1.25, 0.65]
    """
    keys = ["participant_id", *factors]
    cells = measures.reset_index(drop=True)
    mode = cells["mode"] if "mode" in factors else pd.Series("", index=cells.index)
    times = cells[keys].merge(_response_times(flagged, keys), how="left", on=keys)
    p_correct, mean_rt_s = (_floats(cells[name]) for name in ("p_correct", "mean_rt_s"))
    sum_rt_s, n_right = _floats(times["sum_rt_s"]), _floats(times["n_right"])
    s_ratio = _sd_ratio(
        cells, flagged, [name for name in keys if name in ("participant_id", "mode")]
    )
    n_trials, n_correct = (
        cells[name].to_numpy(dtype="int64") for name in ("n_trials", "n_correct")
    )
    many_errors = _IES_ONE_ERROR_IN * (n_trials - n_correct) > n_trials
    has_rt = ~np.isnan(mean_rt_s)
    bis = _bis(p_correct, mean_rt_s, mode)
    table = cells[[*keys, "n_trials", "n_correct", "p_correct", "n_rt", "mean_rt_s"]].assign(
        n_responses=times["n_responses"].fillna(0),
        sum_rt_s=sum_rt_s,
        n_no_response=times["n_no_response"].fillna(0),
        ies_s=mean_rt_s / np.where(has_rt, p_correct, np.nan),
        rcs_per_s=n_right / sum_rt_s,
        lisas_s=mean_rt_s + s_ratio * (1 - p_correct),
        bis=bis,
        ies_advised_against=pd.Series(many_errors, dtype="boolean").where(n_trials > 0),
    )
    no_trial, n_responses = n_trials == 0, table["n_responses"].to_numpy(dtype="int64")
    table["note"] = joined_notes(
        [
            (no_trial, "no trial"),
            (~no_trial & ~has_rt, "no correct RT, so no IES, LISAS or BIS"),
            (~no_trial & (n_responses == 0), "no RT at all, so no RCS"),
            (has_rt & np.isnan(s_ratio), "one RT in all conditions, so no SD and no LISAS"),
            (
                has_rt & np.isnan(bis),
                "all participants and cells have one accuracy or one mean RT, so no BIS",
            ),
            (
                times["n_trimmed"].gt(0).to_numpy(dtype=bool, na_value=False)
                & (n_responses > times["n_right"].fillna(0).to_numpy(dtype="int64")),
                "trimming takes correct RTs alone, so RCS counts wrong responses untrimmed",
            ),
            (many_errors, "more than 10 % errors, so IES is advised against"),
            (
                table["n_no_response"].to_numpy(dtype="int64") > 0,
                "trials without a response add no time to RCS",
            ),
        ]
    )
    return table.astype(_types(table.columns, keys))


def _floats(values: pd.Series) -> FloatArray:
    return values.to_numpy(dtype="float64", na_value=np.nan)


def _response_times(flagged: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Count responses, right and trimmed ones, and add RTs up, per participant and cell."""
    analysed = flagged[used_for_accuracy(flagged)]
    counted, right = used_responses(analysed), used_for_rt(analysed)
    rt_s = _floats(analysed["rt_s"])
    rows = analysed[keys].astype("category")
    rows = rows.assign(
        n_responses=counted.astype("int64"),
        n_right=right.astype("int64"),
        n_trimmed=(answered(analysed) & ~counted).astype("int64"),
        n_no_response=np.isnan(rt_s).astype("int64"),
        sum_rt_s=np.where(counted, rt_s, 0.0),
    )
    table = rows.groupby(keys, observed=True).sum().reset_index()
    # Without a response there is no time, rather than one of 0 s.
    table["sum_rt_s"] = table["sum_rt_s"].where(table["n_responses"] > 0)
    return table.astype(dict.fromkeys(keys, "string"))


def _sd_ratio(cells: pd.DataFrame, flagged: pd.DataFrame, person: list[str]) -> FloatArray:
    """Return S_RT / S_P of each row's participant and mode: 0 where errors do not vary.

    Missing where they do, but there are fewer than two RTs.
    """
    used = flagged.loc[used_for_rt(flagged), [*person, "rt_s"]]
    rows = used[person].astype("category").assign(rt_s=_floats(used["rt_s"]))
    s_rt = rows.groupby(person, observed=True)["rt_s"].std(ddof=1).reset_index()
    s_rt = s_rt.astype(dict.fromkeys(person, "string"))
    spread = _floats(cells[person].merge(s_rt, how="left", on=person)["rt_s"])
    totals = cells.groupby(person, sort=False)[["n_trials", "n_correct"]].transform("sum")
    n, n_correct = (totals[name].to_numpy(dtype="float64") for name in ("n_trials", "n_correct"))
    n_errors = n - n_correct
    varies = (n_errors > 0) & (n_correct > 0)
    # The variance (ddof 1) of zeros and ones, from their counts.
    s_p = np.sqrt(n_errors * n_correct / np.where(varies, n * (n - 1), np.nan))
    return np.where(varies, spread / s_p, 0.0)


def _bis(p_correct: FloatArray, mean_rt_s: FloatArray, mode: pd.Series) -> FloatArray:
    """Standardise within each mode over the cells that have an RT."""
    bis = np.full(len(p_correct), np.nan)
    complete = ~np.isnan(p_correct) & ~np.isnan(mean_rt_s)
    for level in mode.unique():
        rows = complete & (mode == level).to_numpy(dtype=bool)
        bis[rows] = _z(p_correct[rows]) - _z(mean_rt_s[rows])
    return bis


def _z(values: FloatArray) -> FloatArray:
    """Standardise by the population SD; NaN where the values are equal."""
    if len(values) == 0:
        return values
    mean, sd = values.mean(), values.std(ddof=0)
    return np.asarray((values - mean) / (sd if sd > _EQUAL_WITHIN * abs(mean) else np.nan))


# --- groups -----------------------------------------------------------------------------------


def group_scores(
    cells: pd.DataFrame, *, scores: Sequence[str], factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Average participants' scores in each cell, with t intervals over participants.

    Parameters
    ----------
    cells : DataFrame, one row per participant and cell
        From `speed_accuracy_cells` or `ez_cells`.
    scores : sequence of str
        Its columns to average.
    factors : tuple of str
        What makes the cells.
    confidence : float
        Level of the intervals (see `mean_interval`).

    Returns
    -------
    DataFrame, one row per cell and score
        The factors, ``score``, ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list:
        the participants without the score in the cell), ``mean``, ``low``, ``high`` and ``sd`` in
        the unit that the score's name states, ``n_flagged`` (participants among those used whose
        score is advised against or does not describe their data), and ``note``.
    """
    rows = []
    for levels, of_cell in cells.groupby(list(factors), sort=False):
        for score in scores:
            values = pd.Series(_floats(of_cell[score]), index=of_cell["participant_id"])
            result = mean_interval(values.dropna(), confidence=confidence)
            flag = _flagged(of_cell, score)
            n_flagged = int((flag & values.notna().to_numpy()).sum())
            note = _group_note(result.note, score, n_flagged)
            found = (result.mean, result.low, result.high, result.sd, n_flagged, note)
            rows.append((*levels, score, result.n, *_left_out(values), *found))
    columns = ("mean", "low", "high", "sd", "n_flagged", "note")
    names = [*factors, "score", *_INTERVAL_COLUMNS, *columns]
    table = pd.DataFrame(rows, columns=names)
    return order_cells(table.astype(_types(names, [*factors, "score"])), factors=factors)


def score_contrasts(
    cells: pd.DataFrame, *, scores: Sequence[str], factors: tuple[str, ...], confidence: float
) -> pd.DataFrame:
    """Compare every other rule with the direct one in each score, within the other factors.

    Parameters
    ----------
    cells, scores, factors, confidence
        As for `group_scores`.

    Returns
    -------
    DataFrame, one row per contrast and score; none where the direct rule was never met, or alone
        The other factors, ``contrast``, ``score``, ``n_participants``, ``n_left_out`` and
        ``left_out`` (the participants without the score in one of the two cells),
        ``mean_difference`` with ``difference_low`` and ``difference_high``, ``sd_difference``,
        ``dz``, ``t``, ``df``, ``p`` (two-sided, paired; see `mean_interval`), ``n_flagged``
        (participants among those used with a flagged score in one of the two cells), and
        ``note``.
    """
    others = [name for name in factors if name != "rule"]
    kinds = cells[list(factors)].drop_duplicates()
    by_cell = cells.set_index("participant_id").groupby(list(factors), sort=False)
    parts = {tuple(levels): part for levels, part in by_cell}
    rows = []
    for levels in kinds.itertuples(index=False, name=None):
        cell = dict(zip(factors, levels, strict=True))
        referred = parts.get(tuple((cell | {"rule": _REFERENCE_RULE}).values()))
        if cell["rule"] == _REFERENCE_RULE or referred is None:
            continue
        rows += [
            (
                *(cell[name] for name in others),
                f"{cell['rule']} - {_REFERENCE_RULE}",
                score,
                *_contrast_row(parts[levels], referred, score, confidence),
            )
            for score in scores
        ]
    columns = ("mean_difference", "difference_low", "difference_high", "sd_difference", "dz", "t",
               "df", "p", "n_flagged", "note")  # fmt: skip
    names = [*others, "contrast", "score", *_INTERVAL_COLUMNS, *columns]
    table = pd.DataFrame(rows, columns=names)
    table = table.astype(_types(names, [*others, "contrast", "score"]))
    return order_cells(table, factors=tuple(others))


def _contrast_row(
    cell: pd.DataFrame, referred: pd.DataFrame, score: str, confidence: float
) -> tuple[object, ...]:
    reference = referred.loc[cell.index]
    difference = pd.Series(_floats(cell[score]) - _floats(reference[score]), index=cell.index)
    result = mean_interval(difference.dropna(), confidence=confidence)
    flag = _flagged(cell, score) | _flagged(reference, score)
    n_flagged = int((flag & difference.notna().to_numpy()).sum())
    return (
        result.n,
        *_left_out(difference),
        result.mean,
        result.low,
        result.high,
        result.sd,
        result.dz,
        result.t,
        result.df,
        result.p,
        n_flagged,
        _group_note(result.note, score, n_flagged),
    )


def _left_out(values: pd.Series) -> tuple[int, str]:
    people = [str(person) for person in values.index[values.isna()]]
    return len(people), json.dumps(people, ensure_ascii=False)


def _flagged(cells: pd.DataFrame, score: str) -> Mask:
    if score not in _FLAGS:
        return np.zeros(len(cells), dtype=bool)
    return cells[_FLAGS[score]].to_numpy(dtype=bool, na_value=False)


def _group_note(note: str, score: str, n_flagged: int) -> str:
    """Say what is missing, and what the flags of the participants used mean."""
    if not n_flagged:
        return note
    people = "1 participant" if n_flagged == 1 else f"{n_flagged} participants"
    flagged = f"{people} flagged: {_FLAG_NOTES[_FLAGS[score]]}"
    return f"{note}; {flagged}" if note else flagged


def _types(names: Sequence[str] | pd.Index, texts: Sequence[str]) -> dict[str, str]:
    """Return the nullable type of every column."""
    texts = (*texts, "left_out", "note")
    return {
        name: "string"
        if name in texts
        else "boolean"
        if name == "ies_advised_against"
        else "Int64"
        if name.startswith("n_") or name == "df"
        else "Float64"
        for name in names
    }
