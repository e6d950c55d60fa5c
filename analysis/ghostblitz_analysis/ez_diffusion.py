"""EZ diffusion: drift, boundary and non-decision time of each cell, in closed form.

The model has two boundaries. With more than two answers on the table they can only be "right" and
"wrong" (accuracy coding): the parameters then describe speed and accuracy in one set of units, and
say less about a process of decision. Every row tells which of the two it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ghostblitz_analysis.distributions.results import answered
from ghostblitz_analysis.exclusions import used_for_accuracy, used_for_rt
from ghostblitz_analysis.solving import read_item_colours
from ghostblitz_task.errors import DatasetError

__all__ = [
    "EZ_SCORES",
    "MIN_N_RT",
    "SCALE",
    "EzParameters",
    "ez_cells",
    "ez_parameters",
    "joined_notes",
    "used_responses",
]

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: The parameters that groups are compared in.
EZ_SCORES = ("v", "a", "ter_s")
#: Standard deviation of the noise per square root of a second; it sets the unit of drift and
#: boundary. 0.1 is Ratcliff's (1978) and the source's choice.
SCALE = 0.1
#: From fewer RTs the variance is hardly known: its relative standard error is sqrt(2 / (n - 1))
#: even for normal RTs, which is 47 % at 10.
MIN_N_RT = 10

#: Nearer to chance than this (as 2p - 1), series stand for differences that would cancel.
_SERIES_BELOW = 0.2
_N_TERMS = 12
#: A spread below this share of the mean is rounding error of equal numbers.
_EQUAL_WITHIN = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class EzParameters:
    """What accuracy and RTs come to in the EZ-diffusion model; NaN where they do not exist.

    Attributes
    ----------
    p_used : (n_cells,) array
        The accuracy that was used: that observed, or, where it is 0 or 1, half a trial from it.
    v : (n_cells,) array, units of s per second
        Drift rate; negative below chance.
    a : (n_cells,) array, units of s
        Distance between the boundaries; the start lies half-way.
    ter_s : (n_cells,) array, seconds
        Non-decision time; negative where the model does not describe the RTs.
    mean_decision_s : (n_cells,) array, seconds
        Mean decision time.
    """

    p_used: FloatArray
    v: FloatArray
    a: FloatArray
    ter_s: FloatArray
    mean_decision_s: FloatArray


def ez_parameters(
    p_correct: npt.ArrayLike,
    var_rt_s2: npt.ArrayLike,
    mean_rt_s: npt.ArrayLike,
    *,
    n_trials: npt.ArrayLike,
    s: float = SCALE,
) -> EzParameters:
    """Solve the EZ-diffusion equations for drift, boundary and non-decision time.

    After Wagenmakers, van der Maas & Grasman (2007), Psychonomic Bulletin & Review 14, 3-22.
    Their equations are written here with u = 2p - 1 as
    v = s u c, a = 2 s k / c and mean decision time a / (2 s c), where k = atanh(u) / u,
    c = (2 k g / VRT) ** (1/4) and g = (u - (1 - u**2) atanh(u)) / (2 u**3). Both k and g are
    smooth at u = 0, so chance performance needs no case of its own: there v = 0 and
    a = (24 s**4 VRT) ** (1/4).

    Assumes a diffusion between two boundaries from half-way, with no variability between trials
    in drift, start or non-decision time, and RTs without contaminants: a few very long ones
    change the variance, and so all three parameters.

    Parameters
    ----------
    p_correct : (n_cells,) array
        Share of all trials that were correct. An accuracy of 1 is replaced by
        1 - 1 / (2 n_trials), and one of 0 by 1 / (2 n_trials).
    var_rt_s2 : (n_cells,) array, square seconds
        Variance (ddof 1) of the correct RTs. Where it is 0 nothing can be solved.
    mean_rt_s : (n_cells,) array, seconds
        Mean of the correct RTs.
    n_trials : (n_cells,) array
        Trials that `p_correct` is a share of.
    s : float
        Standard deviation of the noise.

    Returns
    -------
    EzParameters
        Missing (NaN) values give missing parameters. Below chance v is negative, and the other
        parameters are those of the mirrored accuracy.

    Raises
    ------
    DatasetError
        If an accuracy is not between 0 and 1, comes of less than one trial, or s is not above 0.

    Examples
    --------
    >>> found = ez_parameters([0.802], [0.112], [0.723], n_trials=[1000])
    >>> found.v.round(3).tolist(), found.a.round(3).tolist(), found.ter_s.round(3).tolist()
    ([0.1], [0.14], [0.3])
    """
    p, n = _floats(p_correct), _floats(n_trials)
    variance, mean_s = _floats(var_rt_s2), _floats(mean_rt_s)
    if np.any((p < 0) | (p > 1)):
        raise DatasetError("an accuracy is not between 0 and 1; give shares of trials")
    if np.any(~np.isnan(p) & ~(n >= 1)):
        raise DatasetError("an accuracy comes of less than one trial; leave such cells out")
    if not s > 0:
        raise DatasetError(f"s is {s:g}, but the noise of a diffusion is above 0; 0.1 is usual")
    half_trial = 1 / (2 * np.where(n >= 1, n, np.nan))
    p = np.where(p == 1, 1 - half_trial, np.where(p == 0, half_trial, p))
    u = 2 * p - 1
    k, g = _shape(u)
    c = (2 * k * g / np.where(variance > 0, variance, np.nan)) ** 0.25
    a = 2 * s * k / c
    decision_s = a / (2 * s * c)
    return EzParameters(p, s * u * c, a, mean_s - decision_s, decision_s)


def _floats(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _shape(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return k = atanh(u) / u and g = (u - (1 - u^2) atanh(u)) / (2 u^3), also at 0."""
    near = np.abs(u) < _SERIES_BELOW
    order = np.arange(_N_TERMS)
    powers = np.where(near, u, 0.0)[..., np.newaxis] ** (2 * order)
    k_near = (powers / (2 * order + 1)).sum(axis=-1)
    g_near = (powers / ((2 * order + 1) * (2 * order + 3))).sum(axis=-1)
    far = np.where(near, 0.5, u)
    atanh = np.arctanh(far)
    g_far = (far - (1 - far**2) * atanh) / (2 * far**3)
    return np.where(near, k_near, atanh / far), np.where(near, g_near, g_far)


# --- participants and cells -------------------------------------------------------------------


def used_responses(flagged: pd.DataFrame) -> Mask:
    """Return the mask of trials whose response time counts, whether right or wrong.

    These are the trials that no exclusion takes out, or none but that the response was wrong. An
    exclusion that looks at correct RTs alone, as all trimming does, leaves wrong ones in.
    """
    flags = [
        name for name in flagged.columns if name.startswith("exclude_") and name != "exclude_error"
    ]
    return used_for_rt(flagged[flags])


def ez_cells(
    measures: pd.DataFrame, flagged: pd.DataFrame, *, factors: tuple[str, ...], alpha: float
) -> pd.DataFrame:
    """Find the EZ-diffusion parameters of each participant and cell, with the source's checks.

    Parameters
    ----------
    measures : DataFrame, one row per participant and cell
        From `complete_cells`.
    flagged : DataFrame, one row per trial
        From `flag_exclusions`: the trials that `measures` were made of.
    factors : tuple of str
        What makes the cells.
    alpha : float
        A check whose p is below it has failed.

    Returns
    -------
    DataFrame, one row per participant and cell, in the order of `measures`
        ``participant_id``, the factors, ``n_trials``, ``n_correct``, ``n_no_response`` (trials
        without a response, which count as errors though no boundary was reached), ``n_rt`` and

        - ``p_correct``, ``p_used``, ``mean_rt_s``, ``var_rt_s2``: what the parameters come of;
        - ``s``, ``v``, ``a``, ``ter_s``, ``mean_decision_s``: see `EzParameters`; missing with
          fewer than `MIN_N_RT` correct RTs, or equal ones;
        - ``coding`` (always ``accuracy``), ``n_items`` that could be answered, and
          ``descriptive``: whether they are more than two;
        - ``edge_corrected`` (no error was made), ``negative_drift``, ``negative_ter``, and
          ``misfit`` where one of the last two holds;
        - the checks of Wagenmakers et al. (2007): ``skew_rt`` of the correct RTs (adjusted
          Fisher-Pearson), which should be above 0; ``n_error_rt``, ``error_rt_ratio`` (geometric
          mean of wrong over that of correct RTs, which should be about 1) and ``error_rt_p``
          (Welch's test of log RTs), with the correct RTs that trimming takes out of everything
          else, since no wrong one is trimmed; ``answer_rt_p`` (one-way analysis of variance of
          correct log RTs over the right answers: a start that favours an answer makes it faster);
          ``n_checks`` that the data allow and ``n_checks_failed``;
        - ``note``: why something is missing or suspect.
    """
    keys = ["participant_id", *factors]
    cells = measures.reset_index(drop=True)
    checks = cells[keys].merge(_checks(flagged, keys), how="left", on=keys)
    p_correct, mean_rt_s, sd_rt_s = (
        cells[name].to_numpy(dtype="float64", na_value=np.nan)
        for name in ("p_correct", "mean_rt_s", "sd_rt_s")
    )
    n_trials, n_rt = (cells[name].to_numpy(dtype="int64") for name in ("n_trials", "n_rt"))
    enough = n_rt >= MIN_N_RT
    equal = sd_rt_s <= _EQUAL_WITHIN * mean_rt_s
    variance = np.where(enough & ~equal, sd_rt_s**2, np.nan)
    solved = ez_parameters(p_correct, variance, mean_rt_s, n_trials=n_trials)
    exists = ~np.isnan(solved.v)
    # No cell of wrong answers alone is solved, since it has no correct RT.
    p_used = np.where(exists, solved.p_used, np.nan)
    table = cells[keys].assign(
        n_trials=cells["n_trials"],
        n_correct=cells["n_correct"],
        n_no_response=checks["n_no_response"].fillna(0),
        n_rt=cells["n_rt"],
        p_correct=p_correct,
        p_used=p_used,
        mean_rt_s=mean_rt_s,
        var_rt_s2=sd_rt_s**2,
        s=SCALE,
        v=solved.v,
        a=solved.a,
        ter_s=solved.ter_s,
        mean_decision_s=np.where(exists, solved.mean_decision_s, np.nan),
        coding="accuracy",
        n_items=checks["n_items"],
        descriptive=_known(checks["n_items"].to_numpy() > 2, checks["n_items"].notna()),
        edge_corrected=_known(p_correct == 1, exists),
        negative_drift=_known(solved.v < 0, exists),
        negative_ter=_known(solved.ter_s < 0, exists),
        misfit=_known((solved.v < 0) | (solved.ter_s < 0), exists),
        skew_rt=np.where(enough & ~equal, checks["skew_rt"], np.nan),
        n_error_rt=checks["n_error_rt"].fillna(0),
        error_rt_ratio=checks["error_rt_ratio"],
        error_rt_p=checks["error_rt_p"],
        answer_rt_p=checks["answer_rt_p"],
    )
    failed, made = _judged(table, alpha)
    table["n_checks"] = sum(made.values())
    table["n_checks_failed"] = sum(failed.values())
    table["note"] = joined_notes([*_reasons(table, enough, equal), *_failed_notes(failed, table)])
    return table.astype(_types(table, keys))


def joined_notes(parts: Iterable[tuple[Mask, str]]) -> npt.NDArray[np.object_]:
    """Join, for each row, the texts whose mask holds there; empty where none does."""
    notes: npt.NDArray[np.object_] | None = None
    for mask, text in parts:
        if notes is None:
            notes = np.full(len(mask), "", dtype=object)
        joined = np.where(notes == "", text, notes + f"; {text}")
        notes = np.where(mask, joined, notes)
    assert notes is not None
    return notes


def _known(values: npt.ArrayLike, known: npt.ArrayLike) -> pd.Series:
    """Return booleans that are missing where nothing is known."""
    return pd.Series(np.asarray(values, dtype=bool)).astype("boolean").where(np.asarray(known))


def _judged(table: pd.DataFrame, alpha: float) -> tuple[dict[str, Mask], dict[str, Mask]]:
    """Return, by check, in which rows it failed and in which it could be made."""
    values = {
        name: table[name].to_numpy(dtype="float64")
        for name in ("skew_rt", "error_rt_p", "answer_rt_p")
    }
    limits = {"skew_rt": 0.0, "error_rt_p": alpha, "answer_rt_p": alpha}
    made = {name: ~np.isnan(found) for name, found in values.items()}
    failed = {
        name: found <= limits[name] if name == "skew_rt" else found < limits[name]
        for name, found in values.items()
    }
    return failed, made


def _reasons(table: pd.DataFrame, enough: Mask, equal: Mask) -> list[tuple[Mask, str]]:
    """Return why parameters are missing, or how they were come by."""
    n_trials, n_rt, n_silent = (
        table[name].to_numpy(dtype="int64") for name in ("n_trials", "n_rt", "n_no_response")
    )
    negative_drift, negative_ter, edge = (
        table[name].to_numpy(dtype=bool, na_value=False)
        for name in ("negative_drift", "negative_ter", "edge_corrected")
    )
    return [
        (n_trials == 0, "no trial"),
        ((n_trials > 0) & (n_rt == 0), "no correct RT"),
        (
            (n_rt > 0) & ~enough,
            f"fewer than {MIN_N_RT} correct RTs, too few to know their variance",
        ),
        (enough & equal, "all correct RTs are equal, so nothing can be solved"),
        (edge, "no error, so an accuracy of 1 - 1/(2n) was used"),
        (negative_drift, "below chance of two answers, so the drift is negative"),
        (negative_ter, "negative non-decision time: the model does not describe these RTs"),
        (n_silent > 0, "trials without a response count as errors"),
    ]


def _failed_notes(failed: dict[str, Mask], table: pd.DataFrame) -> list[tuple[Mask, str]]:
    slower = table["error_rt_ratio"].to_numpy(dtype="float64") > 1
    errors = failed["error_rt_p"]
    return [
        (failed["skew_rt"], "check failed: correct RTs are not skewed to the right"),
        (errors & slower, "check failed: errors are slower than correct responses"),
        (errors & ~slower, "check failed: errors are faster than correct responses"),
        (failed["answer_rt_p"], "check failed: some answers are faster than others"),
    ]


def _checks(flagged: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return what the checks of `ez_cells` come of, for each participant and cell with trials."""
    analysed = flagged[used_for_accuracy(flagged)]
    texts = analysed["item_colours"]
    n_items = {text: len(read_item_colours(text)) for text in texts.dropna().unique()}
    rows = analysed[[*keys, "answer"]].astype("category")
    rows = rows.assign(
        n_items=texts.map(n_items).astype("float64"),
        n_no_response=analysed["rt_s"].isna().to_numpy(dtype=bool).astype("int64"),
        rt_s=analysed["rt_s"].to_numpy(dtype="float64", na_value=np.nan),
    )
    compared = answered(analysed)
    is_right = analysed["correct"].fillna(False).to_numpy(dtype=bool)
    correct, untrimmed, wrong = (
        rows[chosen].assign(log_rt=lambda part: np.log(part["rt_s"]))
        for chosen in (used_for_rt(analysed), compared & is_right, compared & ~is_right)
    )
    of_cell = rows.groupby(keys, observed=True)
    table = pd.DataFrame(
        {"n_items": of_cell["n_items"].max(), "n_no_response": of_cell["n_no_response"].sum()}
    )
    table = table.join(correct.groupby(keys, observed=True)["rt_s"].skew().rename("skew_rt"))
    table = table.join(_answer_p(correct, keys)).join(_log_moments(untrimmed, keys))
    table = table.join(_log_moments(wrong, keys).add_suffix("_wrong"))
    table["error_rt_ratio"] = np.exp(table["mean_wrong"] - table["mean"])
    table["error_rt_p"] = _welch_p(table)
    table = table.rename(columns={"n_wrong": "n_error_rt"}).reset_index()
    return table.astype(dict.fromkeys(keys, "string"))


def _log_moments(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    logs = rows.groupby(keys, observed=True)["log_rt"]
    return pd.DataFrame({"n": logs.size(), "mean": logs.mean(), "var": logs.var(ddof=1)})


def _welch_p(table: pd.DataFrame) -> FloatArray:
    """Test whether correct and wrong log RTs have one mean (Welch 1947)."""
    p = np.full(len(table), np.nan)
    spread = table["var"] + table["var_wrong"]
    possible = (spread > _EQUAL_WITHIN**2).to_numpy(dtype=bool)
    rows = table[possible].astype("float64")
    if len(rows):
        p[possible] = stats.ttest_ind_from_stats(
            rows["mean"].to_numpy(),
            np.sqrt(rows["var"].to_numpy()),
            rows["n"].to_numpy(),
            rows["mean_wrong"].to_numpy(),
            np.sqrt(rows["var_wrong"].to_numpy()),
            rows["n_wrong"].to_numpy(),
            equal_var=False,
        ).pvalue
    return p


def _answer_p(rows: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Test whether correct log RTs have one mean over the right answers (one-way ANOVA)."""
    parts = _log_moments(rows, [*keys, "answer"])
    n = parts["n"]
    total = (n * parts["mean"]).groupby(level=keys, observed=True).transform("sum")
    of_cell = n.groupby(level=keys, observed=True).transform("sum")
    sums = (
        pd.DataFrame(
            {
                "k": 1,
                "n": n,
                "between": n * (parts["mean"] - total / of_cell) ** 2,
                "within": (n - 1) * parts["var"].fillna(0),
            }
        )
        .groupby(level=keys, observed=True)
        .sum()
    )
    df_between, df_within = sums["k"] - 1, sums["n"] - sums["k"]
    varied = sums["within"] > sums["n"] * _EQUAL_WITHIN**2
    possible = ((df_between >= 1) & (df_within >= 1) & varied).to_numpy(dtype=bool)
    p = np.full(len(sums), np.nan)
    tested, between, within = sums[possible], df_between[possible], df_within[possible]
    f = (tested["between"] / between) / (tested["within"] / within)
    p[possible] = stats.f.sf(f, between, within)
    return pd.Series(p, index=sums.index, name="answer_rt_p")


def _types(table: pd.DataFrame, keys: list[str]) -> dict[str, str]:
    texts = {*keys, "coding", "note"}
    yes_or_no = {"descriptive", "edge_corrected", "negative_drift", "negative_ter", "misfit"}
    return {
        name: "string"
        if name in texts
        else "boolean"
        if name in yes_or_no
        else "Int64"
        if name.startswith("n_")
        else "Float64"
        for name in table.columns
    }
