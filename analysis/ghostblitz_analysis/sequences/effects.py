"""Sequence effects: one table of every effect of every participant, and their means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from ghostblitz_analysis.exclusions import with_trials_after_errors
from ghostblitz_analysis.intervals import exponentiated, mean_interval, of_proportions
from ghostblitz_analysis.sequences.costs import (
    COST_MEANINGS,
    cost_comparisons,
    sequence_trials,
)
from ghostblitz_analysis.sequences.matched_differences import (
    COUNTS,
    KINDS,
    Comparison,
    comparison_flow,
    matched_differences,
)
from ghostblitz_analysis.sequences.post_error import (
    PAIR_EFFECTS,
    POST_ERROR_MEANINGS,
    pair_differences,
    pair_flow,
    post_error_comparisons,
)
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.wording import count_of
from ghostblitz_task.errors import DatasetError

__all__ = [
    "EFFECT_MEANINGS",
    "MIN_TRIALS",
    "ParticipantEffects",
    "group_effects",
    "participant_effects",
]

#: Every effect in words.
EFFECT_MEANINGS: Mapping[str, str] = MappingProxyType({**COST_MEANINGS, **POST_ERROR_MEANINGS})

#: A mean of fewer trials of a kind says too little of a participant. No standard exists; five is a
#: choice that keeps participants with few errors in post-error slowing.
MIN_TRIALS = 5

_KEYS = ["effect", "mode", "rule"]
_NUMBERS = (
    "n_condition", "n_reference", "n_unmatched_condition", "n_unmatched_reference",
    "geometric_mean_rt_condition_s", "geometric_mean_rt_reference_s", "rt_ratio",
    "difference_log", "mean_rt_condition_s", "mean_rt_reference_s", "difference_s",
    "n_trials_condition", "n_trials_reference", "p_error_condition", "p_error_reference",
    "p_error_difference",
)  # fmt: skip
_RT_COLUMNS = (
    "n_participants", "n_left_out", "left_out", "rt_ratio", "rt_ratio_low", "rt_ratio_high",
    "mean_difference_log", "sd_difference_log", "dz", "t", "df", "p",
    "difference_s", "difference_low_s", "difference_high_s",
)  # fmt: skip
_ERROR_COLUMNS = (
    "n_participants_errors", "n_left_out_errors", "left_out_errors", "p_error_difference",
    "p_error_difference_low", "p_error_difference_high", "error_t", "error_df", "error_p",
)  # fmt: skip
_GROUP_COLUMNS = (*_RT_COLUMNS, *_ERROR_COLUMNS, "note")


@dataclass(frozen=True, slots=True, eq=False)
class ParticipantEffects:
    """The effects of each participant.

    Attributes
    ----------
    effects : DataFrame
        One row per effect, mode, rule and participant; see `participant_effects`.
    exclusions : DataFrame
        One row per effect and step: ``effect``, ``step`` (from 0), ``reason``, ``n_trials``
        (before it), ``n_excluded``, ``n_left``. Of the pairs of robust post-error slowing, what is
        counted is the trial after the error.
    notes : mapping of str to str
        What a reader of an effect must know.
    min_trials : int
        Participants with fewer trials of a kind are left out of the means.
    """

    effects: pd.DataFrame
    exclusions: pd.DataFrame
    notes: Mapping[str, str]
    min_trials: int


def participant_effects(
    flagged: pd.DataFrame,
    *,
    factors: tuple[str, ...],
    settings: AnalysisSettings | None = None,
    min_trials: int = MIN_TRIALS,
    match: tuple[str, ...] = (),
) -> ParticipantEffects:
    """Measure every sequence effect that the trials allow, for each participant.

    See `cost_comparisons` and `post_error_comparisons` for what each leaves out and is matched on.
    Effects are differences of means over strata; see `matched_differences`.

    Parameters
    ----------
    flagged : DataFrame, one row per trial
        From `flag_exclusions`: RTs come from trials without any flag, error rates from all
        analysed trials.
    factors : tuple of str
        From `cell_factors`; with ``mode`` among them each mode is measured by itself.
    settings : AnalysisSettings, optional
        What the trials were flagged with. If they leave trials after errors out, post-error
        measures come from `with_trials_after_errors`; without them the flags stand.
    min_trials : int
        Fewest trials of each kind for a participant to be among the means.
    match : tuple of str
        Further columns of `sequence_trials` on which every comparison is matched, except the
        plain traditional post-error slowing. An effect that such a column makes vanishes.

    Returns
    -------
    ParticipantEffects
        Its table has ``effect``, ``mode`` (missing where there is one), ``rule`` (of the trial;
        missing in rows over all rules), ``participant_id``, then

        - ``n_condition``, ``n_reference``: RTs of either kind, in strata that hold both;
          ``n_unmatched_condition``, ``n_unmatched_reference``: RTs in those that do not;
        - ``geometric_mean_rt_condition_s``, ``geometric_mean_rt_reference_s``, ``rt_ratio``,
          ``difference_log`` (natural log); ``mean_rt_condition_s``, ``mean_rt_reference_s``,
          ``difference_s`` (arithmetic means);
        - ``n_trials_condition``, ``n_trials_reference`` and, of these trials,
          ``p_error_condition``, ``p_error_reference``, ``p_error_difference``;
        - ``note``: why the participant is left out of the means.

    Raises
    ------
    DatasetError
        If no trial is analysed, or `match` names a column that is not there.

    Examples
    --------
    >>> import numpy as np
    >>> from ghostblitz_analysis.exclusions import flag_exclusions
    >>> from ghostblitz_analysis.settings import AnalysisSettings
    >>> from ghostblitz_analysis.tables import trial_frame
    >>> number = np.arange(40)
    >>> columns = {name: [1] * 40 for name in ("session", "run", "block_index")}
    >>> columns |= {"trial_index": number, "trial_in_block": number, "correct": number % 4 != 1}
    >>> columns |= {"participant_id": ["p1"] * 40, "rule": ["direct"] * 40, "phase": ["test"] * 40}
    >>> columns["rt_s"] = np.where(number % 4 == 2, 0.9, 0.8)
    >>> flagged = flag_exclusions(trial_frame(columns, 40), AnalysisSettings())
    >>> effects = participant_effects(flagged, factors=("rule",)).effects.set_index("effect")
    >>> round(float(effects.loc["post_error_robust", "difference_s"]), 3)
    0.1
    """
    trials = sequence_trials(flagged)
    if trials.empty:
        raise DatasetError(
            f"none of the {len(flagged)} trials is analysed, so there is no sequence to look at; "
            "look at phases in the analysis settings"
        )
    known = [name for name in trials.columns if not pd.api.types.is_float_dtype(trials[name])]
    unknown = [name for name in match if name not in known]
    if unknown:
        raise DatasetError(
            f"{unknown[0]!r} is no column to match sequence effects on; give some of "
            f"{', '.join(known)}"
        )
    modes = ("mode",) if "mode" in factors else ()
    of_errors = flagged if settings is None else with_trials_after_errors(flagged, settings)
    after_errors = trials if of_errors is flagged else sequence_trials(of_errors)
    costs = cost_comparisons(trials, modes=modes)
    slowing = post_error_comparisons(after_errors, modes=modes)
    tables, flows = {}, []
    for of, comparisons in ((trials, costs), (after_errors, slowing)):
        for comparison in comparisons:
            matched = _matched_further(comparison, match)
            differences = matched_differences(of, matched, modes=modes)
            tables[matched.effect] = _with_differences(differences)
            flows.append(comparison_flow(matched, differences, of["usable"].to_numpy(dtype=bool)))
    for effect, pairs in PAIR_EFFECTS.items():
        differences = pair_differences(after_errors, pairs=pairs, modes=modes)
        tables[effect] = _with_differences(differences)
        flows.append(pair_flow(after_errors, effect, pairs=pairs, modes=modes))
    if "rule_switch" in tables:
        tables["rule_switch_asymmetry"] = _asymmetry(tables["rule_switch"])
    typed = [
        _typed(tables[effect], trials, effect, min_trials)
        for effect in EFFECT_MEANINGS
        if effect in tables
    ]
    texts = dict.fromkeys(("effect", "reason"), "string")
    counts = dict.fromkeys(("step", "n_trials", "n_excluded", "n_left"), "Int64")
    return ParticipantEffects(
        effects=pd.concat(typed, ignore_index=True),
        exclusions=pd.concat(flows, ignore_index=True).astype(texts | counts),
        notes=MappingProxyType({each.effect: each.note for each in (*costs, *slowing)}),
        min_trials=min_trials,
    )


def _matched_further(comparison: Comparison, match: tuple[str, ...]) -> Comparison:
    if not comparison.matched_on:
        return comparison
    return replace(comparison, matched_on=tuple(dict.fromkeys((*comparison.matched_on, *match))))


def _with_differences(table: pd.DataFrame) -> pd.DataFrame:
    """Derive ratios and differences from the means of both kinds."""
    difference_log = table["log_rt_condition"] - table["log_rt_reference"]
    return table.assign(
        **{f"geometric_mean_rt_{kind}_s": np.exp(table[f"log_rt_{kind}"]) for kind in KINDS},
        **{f"mean_rt_{kind}_s": table[f"rt_s_{kind}"] for kind in KINDS},
        difference_log=difference_log,
        rt_ratio=np.exp(difference_log),
        difference_s=table["rt_s_condition"] - table["rt_s_reference"],
        p_error_difference=table["p_error_condition"] - table["p_error_reference"],
    )


def _asymmetry(switches: pd.DataFrame) -> pd.DataFrame:
    """Subtract the cost of switching to the first rule from that of switching to each other.

    Of the numbers of trials, the smaller of both costs stands, so that the limit holds for both.
    """
    first = switches["rule"][switches["rule"] >= 0].min()
    both = switches[switches["rule"] > first].merge(
        switches[switches["rule"] == first],
        how="left",
        on=["participant_id", "mode"],
        suffixes=("", "_first"),
    )
    columns = {name: both[name] for name in ("participant_id", "mode", "rule")}
    for name in ("difference_log", "difference_s", "p_error_difference"):
        columns[name] = both[name] - both[f"{name}_first"]
    columns["rt_ratio"] = np.exp(columns["difference_log"])
    for kind in KINDS:
        for count in COUNTS:
            name = f"{count}_{kind}"
            other = both[f"{name}_first"].fillna(0).astype("int64")
            columns[name] = (
                both[name] + other if count == "n_unmatched" else np.minimum(both[name], other)
            )
    return pd.DataFrame(columns)


def _typed(table: pd.DataFrame, trials: pd.DataFrame, effect: str, min_trials: int) -> pd.DataFrame:
    """Put levels in the place of codes, set order and nullable types, and say what is missing."""
    columns: dict[str, object] = {"effect": pd.array([effect] * len(table), dtype="string")}
    for name in ("mode", "rule", "participant_id"):
        levels = pd.array(list(trials[name].cat.categories), dtype="string")
        columns[name] = levels.take(table[name].to_numpy(), allow_fill=True)
    for name in _NUMBERS:
        values = table[name] if name in table.columns else pd.Series(np.nan, index=table.index)
        columns[name] = values.astype("Int64" if name.startswith("n_") else "Float64").array
    columns["note"] = pd.array(_notes(table, min_trials), dtype="string")
    return pd.DataFrame(columns)


def _notes(table: pd.DataFrame, min_trials: int) -> list[str]:
    """Say which participants have too few RTs of a kind; empty for all others."""
    notes = np.full(len(table), "", dtype=object)
    n = {kind: table[f"n_{kind}"].to_numpy() for kind in KINDS}
    raw = {kind: n[kind] + table[f"n_unmatched_{kind}"].to_numpy() for kind in KINDS}
    for row in np.flatnonzero(np.minimum(n["condition"], n["reference"]) < min_trials):
        notes[row] = (
            f"{n['condition'][row]} and {n['reference'][row]} RTs of the two kinds, fewer than "
            f"{min_trials} of one"
            if n["condition"][row]
            else "no RTs of both kinds to be compared "
            f"({raw['condition'][row]} and {raw['reference'][row]})"
        )
    return list(notes)


def group_effects(measured: ParticipantEffects, *, confidence: float) -> pd.DataFrame:
    """Average each effect over the participants with enough trials of both kinds.

    Each participant counts once. t intervals and paired t tests as of `mean_interval`: on the log
    scale for ratios, and for differences in seconds and of error rates by themselves.

    Parameters
    ----------
    measured : ParticipantEffects
        From `participant_effects`.
    confidence : float
        Level of the intervals.

    Returns
    -------
    DataFrame, one row per effect, mode and rule
        ``effect``, ``mode``, ``rule``, then

        - ``n_participants``, ``n_left_out`` and ``left_out`` (as JSON list) by their numbers of
          RTs;
        - ``rt_ratio``, ``rt_ratio_low``, ``rt_ratio_high``: exp of the mean log difference and of
          its interval; ``mean_difference_log``, ``sd_difference_log``, ``dz``, ``t``, ``df``,
          ``p`` (two-sided) on the log scale;
        - ``difference_s``, ``difference_low_s``, ``difference_high_s``;
        - ``n_participants_errors``, ``n_left_out_errors``, ``left_out_errors`` by their numbers of
          trials, ``p_error_difference`` with ``_low`` and ``_high``, ``error_t``, ``error_df``,
          ``error_p``; missing for robust post-error slowing, which has no error rates;
        - ``note``: what is missing, and what a reader must know.
    """
    table = measured.effects
    group = table[_KEYS].fillna("").groupby(_KEYS, sort=False).ngroup()
    rows = []
    for _, part in table.groupby(group.to_numpy(), sort=True):
        effect = str(part["effect"].iloc[0])
        row = {key: part[key].iloc[0] for key in _KEYS}
        rts, rt_note = _rt_columns(part, measured.min_trials, confidence)
        errors, error_note = _error_columns(part, measured.min_trials, confidence)
        said = (rt_note, error_note, measured.notes.get(effect, ""))
        rows.append(row | rts | errors | {"note": "; ".join(text for text in said if text)})
    found = pd.DataFrame(rows, columns=[*_KEYS, *_GROUP_COLUMNS])
    texts = (*_KEYS, "left_out", "left_out_errors", "note")
    types = {
        name: "string"
        if name in texts
        else "Int64"
        if name.startswith("n_") or name in ("df", "error_df")
        else "Float64"
        for name in found.columns
    }
    return found.astype(types)


def _enough(part: pd.DataFrame, count: str, min_trials: int) -> pd.Series:
    """Say who has enough trials of both kinds and a difference."""
    fewest = np.minimum(
        part[f"{count}_condition"].astype("float64"), part[f"{count}_reference"].astype("float64")
    )
    return pd.Series(fewest >= max(min_trials, 1), index=part.index)


def _rt_columns(
    part: pd.DataFrame, min_trials: int, confidence: float
) -> tuple[dict[str, object], str]:
    enough = _enough(part, "n", min_trials) & part["difference_log"].notna()
    logs = mean_interval(
        part.loc[enough, "difference_log"].to_numpy("float64"), confidence=confidence
    )
    seconds = mean_interval(
        part.loc[enough, "difference_s"].to_numpy("float64"), confidence=confidence
    )
    left_out = [str(person) for person in part.loc[~enough, "participant_id"]]
    ratio = exponentiated(logs.mean, logs.low, logs.high)
    notes = [logs.note, ratio.note]
    if left_out:
        notes.append(
            f"{count_of(len(left_out), 'participant')} left out, with fewer than {min_trials} RTs "
            "of one of the two kinds"
        )
    values = (
        logs.n, len(left_out), json.dumps(left_out, ensure_ascii=False),
        ratio.mean, ratio.low, ratio.high,
        logs.mean, logs.sd, logs.dz, logs.t, logs.df, logs.p,
        seconds.mean, seconds.low, seconds.high,
    )  # fmt: skip
    return dict(zip(_RT_COLUMNS, values, strict=True)), "; ".join(note for note in notes if note)


def _error_columns(
    part: pd.DataFrame, min_trials: int, confidence: float
) -> tuple[dict[str, object], str]:
    if part["n_trials_condition"].isna().all():
        return dict.fromkeys(_ERROR_COLUMNS, pd.NA), ""
    enough = _enough(part, "n_trials", min_trials) & part["p_error_difference"].notna()
    errors = of_proportions(
        mean_interval(
            part.loc[enough, "p_error_difference"].to_numpy("float64"), confidence=confidence
        )
    )
    left_out = [str(person) for person in part.loc[~enough, "participant_id"]]
    values = (
        errors.n, len(left_out), json.dumps(left_out, ensure_ascii=False),
        errors.mean, errors.low, errors.high, errors.t, errors.df, errors.p,
    )  # fmt: skip
    note = f"error rates: {errors.note}" if errors.note else ""
    return dict(zip(_ERROR_COLUMNS, values, strict=True)), note
