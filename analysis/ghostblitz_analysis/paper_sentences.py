"""The statistics of a paper as sentences, with their numbers filled in from the tables.

Each says what was found in these data and how sure it is, and no more: a difference that is not
significant is not called absent. Sentences on data of a simulation or a robot begin with that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ghostblitz_analysis.apa import (
    bayes_factor_apa,
    effect_apa,
    f_apa,
    interval_apa,
    p_apa,
    points_apa,
    proportion_interval,
    r_apa,
    t_apa,
    z_apa,
)
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import (
    cell_name,
    count_of,
    level_name,
    number,
    signed,
    signed_interval,
    source_note,
)

__all__ = [
    "CORRECTIONS",
    "MEASURES",
    "anova_sentences",
    "contrast_sentences",
    "effect_name",
    "effect_title",
    "model_name",
    "model_sentences",
    "reliability_sentences",
    "score_name",
    "sequence_sentences",
]

Row = Mapping[str, Any]

#: Measures of participants and cells, as tables and sentences call them.
MEASURES = {
    "mean_log_rt": "mean log RT",
    "mean_rt_s": "mean RT",
    "median_rt_s": "median RT",
    "p_correct": "accuracy",
}
#: Corrections for multiple comparisons, as they are called.
CORRECTIONS = {
    "none": "uncorrected",
    "bonferroni": "Bonferroni-corrected",
    "holm": "Holm-corrected",
    "fdr_bh": "Benjamini-Hochberg-adjusted",
    "fdr_by": "Benjamini-Yekutieli-adjusted",
}
_MODELS = {
    "log_rt": "linear mixed model of log RT",
    "inverse_rt": "linear mixed model of \N{MINUS SIGN}1/RT",
    "error": "model of errors",
}
_ERROR_MODELS = {
    "mixed_logit": "mixed logistic model of errors",
    "mixed_logit_slopes": "mixed logistic model of errors",
    "gee": "GEE model of errors",
}
_EFFECTS = {
    "rule_switch": "Rule switch cost",
    "rule_switch_asymmetry": "Asymmetry of rule switch costs",
    "mode_switch": "Mode switch cost",
    "mixing": "Mixing cost",
    "target_repetition": "Target repetition",
    "response_repetition": "Response repetition",
    "response_repetition_rule_repeated": "Response repetition, rule repeated",
    "response_repetition_rule_switched": "Response repetition, rule switched",
    "negative_priming": "Negative priming",
    "rule_n2_repetition": "Rule n-2 repetition",
    "target_n2_repetition": "Target n-2 repetition",
    "post_error_traditional": "Post-error slowing, traditional",
    "post_error_traditional_matched": "Post-error slowing, traditional and matched",
    "post_error_robust": "Post-error slowing, robust",
    "post_error_robust_same_rule": "Post-error slowing, robust, one rule",
}


# --- planned contrasts ---------------------------------------------------------------------


def contrast_sentences(analysis: Analysis, *, measure: str | None = None) -> list[str]:
    """Say for each planned contrast what differed by how much, with test and effect sizes.

    Parameters
    ----------
    analysis : Analysis
        With or without planned contrasts.
    measure : str, optional
        Only the contrasts of this measure; of all by default.
    """
    if analysis.inference is None:
        return []
    table = analysis.inference.planned_contrasts
    n_tests = table.groupby("measure", observed=True)["p"].count().to_dict()
    return [
        _told(analysis, _contrast_sentence(row, n_tests[row["measure"]], analysis))
        for row in rows_of(table)
        if measure in (None, row["measure"])
    ]


def _place(within: str | None, mode: str | None) -> str:
    """Say in which cells something is compared, beside the levels compared; empty for all."""
    levels = json.loads(within) if within else {}
    return _on_cards({**levels, **({"mode": mode} if mode else {})})


def _on_cards(levels: Mapping[str, str]) -> str:
    """Say where something was so: on the cards of a rule, in the levels of other factors."""
    others = {factor: level for factor, level in levels.items() if factor != "rule"}
    parts = [f"on {levels['rule']} cards"] if "rule" in levels else []
    if others:
        parts.append(f"in {cell_name(others)}")
    return " ".join(parts)


def _levels(row: Row) -> tuple[str, str]:
    if row["of"] == "rule":
        return f"{row['level']} cards", f"{row['reference']} cards"
    return level_name(row["of"], row["level"]), level_name(row["of"], row["reference"])


def _contrast_sentence(row: Row, n_tests: int, analysis: Analysis) -> str:
    level, reference = _levels(row)
    place = _place(row["within"], row["mode"])
    where = f"{place}, " if place else ""
    noun = {"mean_log_rt": "RT"}.get(row["measure"], MEASURES[row["measure"]])
    if row["estimate"] is None:
        why = _first_note(row) or "no participant has both"
        return f"{where}{level} and {reference} cannot be compared in {noun}: {why}."
    size, high, low, same = _size(row, analysis.settings.confidence)
    estimate = row["estimate"]
    how = same if estimate == 0 else high if estimate > 0 else low
    if row["against"]:
        other = _place(row["against"], row["mode"])
        more = "the same" if estimate == 0 else "larger" if estimate > 0 else "smaller"
        kind = "ratio of" if row["measure"] == "mean_log_rt" else "difference in"
        text = (
            f"the {kind} {noun}, {level} against {reference}, was {more} {place} "
            f"{'as' if estimate == 0 else 'than'} {other}, {size}"
        )
    else:
        text = f"{where}{noun} was {how} for {level} {_THAN[how]} for {reference}, {size}"
    return f"{text}, {_tested(row, n_tests, analysis)}."


_THAN = {"longer": "than", "shorter": "than", "higher": "than", "lower": "than", "the same": "as"}


def _size(row: Row, confidence: float) -> tuple[str, str, str, str]:
    """Return the size with its interval, and the words for more, less and equal."""
    if row["measure"] == "mean_log_rt":
        symbol = "ratio of ratios" if row["against"] else "ratio"
        bounds = interval_apa(row["ratio_low"], row["ratio_high"], 2, confidence=confidence)
        return f"{symbol} = {number(row['ratio'], 2)}, {bounds}", "longer", "shorter", "the same"
    low, high = row["estimate_low"], row["estimate_high"]
    if row["measure"] == "p_correct":
        bounds = _scaled(low, high, 100, 1, confidence)
        text = f"difference = {points_apa(row['estimate'])} percentage points, {bounds}"
        return text, "higher", "lower", "the same"
    bounds = _scaled(low, high, 1000, 0, confidence)
    text = f"difference = {signed(1000 * row['estimate'], 0)} ms, {bounds}"
    return text, "longer", "shorter", "the same"


def _scaled(low: float | None, high: float | None, by: int, digits: int, confidence: float) -> str:
    if low is None or high is None:
        return "no interval"
    return interval_apa(by * low, by * high, digits, confidence=confidence)


def _tested(row: Row, n_tests: int, analysis: Analysis) -> str:
    settings = analysis.settings
    if row["t"] is None:
        return f"no test ({_first_note(row) or 'it is not defined here'})"
    parts = [f"{t_apa(row['t'], row['df'])}, {p_apa(row['p'])}"]
    if settings.correction != "none" and n_tests > 1:
        name = CORRECTIONS[settings.correction]
        parts[0] += f" ({name} over {n_tests} tests: {p_apa(row['p_corrected'])})"
    parts.append(
        effect_apa("dz", row["dz"], row["dz_low"], row["dz_high"], confidence=settings.confidence)
    )
    if row["bayes_factor"]:
        parts.append(bayes_factor_apa(row["bayes_factor"]))
    if row["significant"] is False:
        parts.append(f"not significant at alpha = {r_apa(settings.alpha)}")
    return "; ".join(parts)


# --- analysis of variance ------------------------------------------------------------------


def anova_sentences(analysis: Analysis) -> list[str]:
    """Say per measure and mode which effects the analysis of variance found."""
    if analysis.inference is None:
        return []
    table = analysis.inference.anova
    groups = table.groupby(["measure", "mode"], sort=False, dropna=False, observed=True)
    sentences = []
    for _, part in groups:
        rows = rows_of(part)
        first = rows[0]
        where = f" in {level_name('mode', first['mode'])}" if first["mode"] else ""
        tested = any(row["f"] is not None for row in rows)
        effects = "; ".join(_anova_effect(row) for row in rows) if tested else _untested(first)
        n = count_of(first["n_participants"], "participant")
        sentences.append(
            _told(
                analysis,
                f"repeated-measures analysis of variance of {MEASURES[first['measure']]}{where} "
                f"({n}): {effects}.",
            )
        )
    return sentences


def _untested(row: Row) -> str:
    return f"no F test ({_first_note(row) or 'it is not defined here'})"


def effect_name(effect: str) -> str:
    """Name an effect of an analysis of variance."""
    return effect.replace("block_kind", "block kind").replace(" x ", " \N{MULTIPLICATION SIGN} ")


def _anova_effect(row: Row) -> str:
    name = effect_name(row["effect"])
    if row["f"] is None:
        return f"{name}, no F test ({_first_note(row) or 'it is not defined here'})"
    corrected = row["df1"] > 1 and row["df1_gg"] is not None
    df1, df2 = (row["df1_gg"], row["df2_gg"]) if corrected else (row["df1"], row["df2"])
    text = f"{name}, {f_apa(row['f'], df1, df2)}, {p_apa(row['p_gg'] if corrected else row['p'])}"
    if corrected:
        text += f", Greenhouse-Geisser epsilon = {r_apa(row['epsilon_gg'])}"
    return f"{text}, ηG² = {r_apa(row['generalized_eta2'])}"


# --- models --------------------------------------------------------------------------------


def model_name(row: Row) -> str:
    """Name a model by what it is of, and its mode."""
    name = _MODELS[row["outcome"]]
    if row["outcome"] == "error":
        name = _ERROR_MODELS.get(row["structure"], name)
        if row["estimator"] and "penalty" in row["estimator"]:
            name = f"penalised {name}"
    return f"{name} in {level_name('mode', row['mode'])}" if row["mode"] else name


def model_sentences(analysis: Analysis) -> list[str]:
    """Say what each model that is to be read estimates, or why there is none."""
    if analysis.regression is None:
        return []
    models, effects = analysis.regression.models, analysis.regression.fixed_effects
    sentences = []
    for _, part in models.groupby(["outcome", "mode"], sort=False, dropna=False, observed=True):
        rows = rows_of(part)
        row = next((row for row in rows if row["selected"]), None)
        if row is None:
            why = rows[0]["note"] or "it could not be fitted"
            text = f"there is no {model_name(rows[0])} to read: {why}."
        else:
            terms = rows_of(effects[effects["model"] == row["model"]])
            told = "; ".join(
                _term(term, analysis) for term in terms if term["term"] != "(Intercept)"
            )
            text = f"{model_name(row)} ({_model_rows(row)}): {told or 'no effect to tell of'}."
        sentences.append(_told(analysis, text))
    return sentences


def _model_rows(row: Row) -> str:
    noun = "trial" if row["outcome"] == "error" else "RT"
    text = f"{count_of(row['n_rows'], noun)} of {count_of(row['n_participants'], 'participant')}"
    return text + (f", {count_of(row['n_items'], 'target')}" if row["n_items"] else "")


def _term(term: Row, analysis: Analysis) -> str:
    confidence = analysis.settings.confidence
    text = f"{term['words'] or term['term']}, b = {signed(term['estimate'], 2)}"
    if term["se"] is not None:
        text += f", SE = {number(term['se'], 2)}"
    if term["statistic"] is not None:
        is_t = term["df"] is not None
        text += ", " + (t_apa(term["statistic"], term["df"]) if is_t else z_apa(term["statistic"]))
    text += f", {p_apa(term['p'])}"
    if term["ratio"] is None:
        return f"{text}, {interval_apa(term['low'], term['high'], 2, confidence=confidence)}"
    bounds = interval_apa(term["ratio_low"], term["ratio_high"], 2, confidence=confidence)
    return f"{text}, {term['ratio_kind']} = {number(term['ratio'], 2)}, {bounds}"


# --- sequence effects ----------------------------------------------------------------------


def effect_title(effect: str) -> str:
    """Name a sequence effect."""
    return _EFFECTS.get(effect, effect.replace("_", " "))


def sequence_sentences(analysis: Analysis) -> list[str]:
    """Say of each sequence effect over all rules how large it was in RTs and errors."""
    if analysis.sequences is None:
        return []
    table = analysis.sequences.effects
    of_all = table["rule"].isna() | (table["effect"] == "rule_switch_asymmetry")
    sentences = []
    for row in rows_of(table[of_all]):
        if row["rt_ratio"] is None and row["p_error_difference"] is None:
            continue
        name = effect_title(row["effect"])
        rule = f", {row['rule']} cards" if row["rule"] else ""
        where = f", {level_name('mode', row['mode'])}" if row["mode"] else ""
        parts = [part for part in _sequence_parts(row, analysis.settings.confidence) if part]
        sentences.append(_told(analysis, f"{name}{rule}{where}: {'; '.join(parts)}."))
    return sentences


def _sequence_parts(row: Row, confidence: float) -> Iterator[str]:
    if row["rt_ratio"] is not None:
        bounds = interval_apa(row["rt_ratio_low"], row["rt_ratio_high"], 2, confidence=confidence)
        text = f"RT ratio = {number(row['rt_ratio'], 2)}, {bounds}"
        if row["t"] is not None:
            text += f", {t_apa(row['t'], row['df'])}, {p_apa(row['p'])}"
        if row["dz"] is not None:
            text += f", dz = {signed(row['dz'], 2)}"
        yield f"{text} ({count_of(row['n_participants'], 'participant')})"
    if row["p_error_difference"] is not None:
        low, high = row["p_error_difference_low"], row["p_error_difference_high"]
        text = f"errors {points_apa(row['p_error_difference'])} percentage points"
        text += f", {_scaled(low, high, 100, 1, confidence)}"
        if row["error_t"] is not None:
            text += f", {t_apa(row['error_t'], row['error_df'])}, {p_apa(row['error_p'])}"
        yield f"{text} ({count_of(row['n_participants_errors'], 'participant')})"


# --- reliability ---------------------------------------------------------------------------


def score_name(row: Row, *, with_measure: bool = True) -> str:
    """Name a score whose reliability is told, by what it is of and in which cells.

    Levels that the name of a planned contrast tells already are not told again, and a cell is
    named by its levels alone.
    """
    levels = {f: row[f] for f in ("rule", "block_kind", "mode") if f in row and row[f] is not None}
    measure = f" ({MEASURES[row['measure']]})" if with_measure else ""
    if row["kind"] == "cell" and "rule" in levels:
        return _on_cards(levels).removeprefix("on ") + measure
    left = {f: level for f, level in levels.items() if not _is_told(level, row["score"])}
    where = _on_cards(left)
    joint = ", " if "rule" in left else " " if left else ""
    return f"{row['score']}{joint}{where.removeprefix('on ')}{measure}"


def _is_told(level: str, score: str) -> bool:
    """Tell whether a score's name has a level as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(level)}(?![\w-])", score) is not None


def reliability_sentences(analysis: Analysis) -> list[str]:
    """Say how reliable the rule effects, and their interactions, are in the first measure."""
    if analysis.reliability is None:
        return []
    table = analysis.reliability.split_half
    first = table["measure"] == analysis.settings.measures[0]
    wanted = table["kind"].isin(["rule_effect", "interaction", "contrast"])
    confidence = analysis.settings.confidence
    return [
        _told(analysis, _reliability(row, confidence)) for row in rows_of(table[first & wanted])
    ]


def _reliability(row: Row, confidence: float) -> str:
    name = f"split-half reliability of {score_name(row)}"
    n = count_of(row["n_participants"], "participant")
    how = f"mean of {row['n_splits']:,} random splits, {n}"
    if row["r"] is None:
        return f"{name} cannot be told: {row['note'] or 'it is not defined here'} ({n})."
    warning = f"; {row['warning']}" if row["warning"] else ""
    if row["spearman_brown"] is None:
        why = f"; {row['note']}" if row["note"] else ""
        return f"{name}: uncorrected r = {r_apa(row['r'])} ({how}){why}{warning}."
    bounds = proportion_interval(row["spearman_brown_low"], row["spearman_brown_high"], 2)
    no_bounds = bounds == signed_interval(None, None, 2)
    told = "no interval" if no_bounds else f"{confidence:.0%} CI {bounds}"
    corrected = r_apa(row["spearman_brown"])
    return f"{name}: Spearman-Brown-corrected r = {corrected}, {told} ({how}){warning}."


def _first_note(row: Row) -> str:
    """Return why a value is missing: the first of what a note says; the rest is general."""
    return str(row["note"] or "").split("; ")[0]


def _told(analysis: Analysis, text: str) -> str:
    """Begin a sentence, with what the data are where they are no people's at the screen."""
    note = source_note(analysis.sources)
    if not note:
        return text[0].upper() + text[1:]
    return f"{_SHORT_NOTES.get(note, note[0].upper() + note[1:])}: {text[0].upper()}{text[1:]}"


_SHORT_NOTES = {
    "simulated data, not people": "Simulated data",
    "played by a robot, not a person": "A robot's data",
}
