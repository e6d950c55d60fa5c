"""Captions of all figures in plain text: what dots, lines and intervals are, and of how many."""

from __future__ import annotations

from ghostblitz_analysis.exclusions import used_for_rt
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.sequence_plots import effect_name, effect_rows
from ghostblitz_analysis.wording import count_of, source_note

__all__ = ["figure_captions"]

_NEVER_POOLED = " Grab and shout trials are never pooled."
_HOLLOW = "Hollow dots have no interval. An arrow marks an interval that goes on beyond the axis."


def figure_captions(analysis: Analysis) -> dict[str, str]:
    """Caption every figure that an analysis can have.

    Parameters
    ----------
    analysis : Analysis
        From `analyze_trials`.

    Returns
    -------
    dict of str to str
        By the names of `build_figures`, plain text without markup. There may be captions of
        figures that these data do not give.
    """
    made = {
        "rt_by_cell": _rt_by_cell(analysis),
        "rt_distribution": _rt_distribution(analysis),
        "accuracy_by_cell": _accuracy_by_cell(analysis),
        "rt_over_session": _rt_over_session(analysis),
        "hat_rt": _rt_by_cell(analysis),
        "error_kinds": "Errors by kind in percent of all trials of a rule, all participants "
        f"together ({_n(analysis)}).",
        "errors_by_chance": _errors_by_chance(analysis),
        **_curves(analysis),
        **_forests(analysis),
    }
    pooled = _NEVER_POOLED if "mode" in analysis.factors else ""
    note = source_note(analysis.sources)
    warning = f" {note[0].upper()}{note[1:]}." if note else ""
    return {name: text + pooled + warning for name, text in made.items()}


# --- distributions and cells ----------------------------------------------------------------


def _rt_by_cell(analysis: Analysis) -> str:
    if _is_one(analysis):
        return "Geometric mean RT of the one participant per cell; there is no interval."
    text = (
        "Geometric mean RT per cell. Dots: participants, moved apart sideways; a line joins those "
        "of one participant. Clouds: density of the dots (of log RT), where a cell has six or more."
    )
    if _has(analysis, "geometric_mean_within_rt_low_s"):
        text += (
            f" Diamonds: the group's mean with its {_level(analysis)} within-participant interval "
            "(Cousineau-Morey)"
        )
        text += ", normed within each mode." if "mode" in analysis.factors else "."
    else:
        text += " Diamonds: the group's mean; there is no within-participant interval."
    return f"{text} {_n(analysis)}."


def _accuracy_by_cell(analysis: Analysis) -> str:
    if _is_one(analysis):
        return "Accuracy of the one participant per cell; there is no interval."
    interval = (
        f"with its {_level(analysis)} t interval"
        if _has(analysis, "p_correct_low")
        else "without interval"
    )
    return (
        "Accuracy per cell. Dots: participants, moved apart sideways; a line joins those of one "
        f"participant. Diamonds: mean over participants {interval}. {_n(analysis)}."
    )


def _rt_distribution(analysis: Analysis) -> str:
    n_rt = int(used_for_rt(analysis.trials).sum())
    return (
        f"Distribution of {count_of(n_rt, 'RT')} of correct trials, all participants together "
        f"({_n(analysis)}); the bars of each rule add up to 100%."
    )


def _rt_over_session(analysis: Analysis) -> str:
    text = "Geometric mean RT of correct trials in stretches of the session."
    if not _is_one(analysis):
        text += " Thin lines: participants; bold: their mean."
    return (
        f"{text} A line breaks where a stretch holds no trial of its rule, as between blocks"
        + ("." if _is_one(analysis) else ", and the mean's where most participants change.")
        + f" {_n(analysis)}."
    )


def _curves(analysis: Analysis) -> dict[str, str]:
    level, n, one = _level(analysis), _n(analysis), _is_one(analysis)
    bars = "" if one else f" Bars: {level} t intervals over participants."
    thin = "" if one else " Thin lines: participants."
    people = "the participant's" if one else "the mean of participants'"
    arrows = (
        ""
        if one
        else " Thin lines: participants, with a dot at the other rule; arrows: means of those with "
        "both."
    )
    fits = ""
    if analysis.distributions is not None:
        fitted = analysis.distributions.participant_ex_gaussian
        ok = fitted["converged"].astype("boolean").fillna(False)
        n_people = int(fitted.loc[ok, "participant_id"].nunique())
        fits = (
            f" {count_of(n_people, 'participant')} with a fit in any cell, of "
            f"{analysis.n_participants:,}; cells with too few RTs are not fitted."
        )
    return {
        "rt_quantiles": f"Vincentiles: {people} quantiles of RT, per rule.{bars} {n}.",
        "rt_delta": "Delta plot: the difference between the RT quantiles of two rules over the "
        f"mean of both; points are {people} quantiles.{thin}{bars} Lines of the slowest "
        f"participants may leave the panel. {n}.",
        "rt_caf": "Conditional accuracy: the share of right answers in bins of equally many "
        f"answers from the fastest to the slowest; points are {people} values.{bars} {n}.",
        "ex_gaussian": "Parameters of ex-Gaussian distributions fitted to each participant and "
        f"cell. Dots: participants. Diamonds: their mean, with its {level} t interval.{fits}",
        "speed_accuracy": "Accuracy over mean RT of correct trials. Arrows lead from direct to "
        f"another rule.{arrows} An arrow to the lower right is slower and less accurate. {n}.",
        "errors_over_session": f"Error rate in tenths of the session.{bars} A tenth in which fewer "
        f"than half of a rule's participants had a trial has no point. {n}.",
    }


# --- forests --------------------------------------------------------------------------------


def _forests(analysis: Analysis) -> dict[str, str]:
    level, n = _level(analysis), _n(analysis)
    return {
        "planned_contrasts": f"Planned contrasts with {level} intervals; at the right, Bayes "
        "factors for an effect (BF₁₀). RTs are compared as ratios: 1.5 means half as long again. "
        f"{_HOLLOW} {n}.",
        "sequence_effects": _sequence_effects(analysis),
        "reliability": "Split-half reliability of each score: mean over random splits, corrected "
        f"after Spearman and Brown, with {level} intervals over participants. “r < 0”: the halves "
        "correlate negatively, so there is no coefficient. Dashed: .70, a usual minimum for "
        f"comparing groups. {n}.",
        "model_effects": f"Fixed effects of the mixed models with {level} intervals: ratios of "
        "RTs, and odds ratios of an error. Of several random structures, the model to read is "
        f"shown. {_HOLLOW} {n}.",
    }


def _sequence_effects(analysis: Analysis) -> str:
    text = (
        "Effects of the trials before, matched as the tables say. Left: ratio of RTs, 1 is no "
        f"effect; right: difference of error rates. Lines: {_level(analysis)} t intervals over "
        f"participants. {_HOLLOW} {_n(analysis)}; how many each row rests on is in the table."
    )
    if analysis.sequences is None:
        return text
    table = analysis.sequences.effects
    drawn = set(effect_rows(table, of="rt")["effect"])
    drawn |= set(effect_rows(table, of="errors")["effect"])
    missing = [effect_name(e) for e in table["effect"].drop_duplicates() if e not in drawn]
    return f"{text} Without any estimate: {', '.join(missing)}." if missing else text


def _errors_by_chance(analysis: Analysis) -> str:
    wrong = analysis.error_groups.drop_duplicates(
        [f for f in ("rule", "mode") if f in analysis.error_groups.columns]
    )
    n_wrong = int(wrong["n_wrong_items"].sum())
    return (
        f"Dots: share of each kind among the {count_of(n_wrong, 'answer')} with a wrong item, per "
        "rule. Bars: the share if every wrong item of a card were as likely as any other. All "
        f"participants together ({_n(analysis)})."
    )


# --- pieces ---------------------------------------------------------------------------------


def _n(analysis: Analysis) -> str:
    return f"n = {analysis.n_participants:,}"


def _level(analysis: Analysis) -> str:
    return f"{100 * analysis.settings.confidence:g}%"


def _is_one(analysis: Analysis) -> bool:
    return analysis.n_participants == 1


def _has(analysis: Analysis, column: str) -> bool:
    return bool(analysis.group_cells[column].notna().any())
