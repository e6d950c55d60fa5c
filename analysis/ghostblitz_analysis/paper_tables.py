"""Tables of the report on exclusions, contrasts, analysis of variance and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ghostblitz_analysis.apa import bayes_factor_apa, f_apa, r_apa
from ghostblitz_analysis.paper_sentences import CORRECTIONS, MEASURES, effect_name, model_name
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.table_columns import (
    Column,
    ToldTable,
    bounds,
    count,
    factor_columns,
    lay_out,
    numeral,
    p_column,
    points,
    points_bounds,
    remarks,
    share,
    statistic,
    times,
    words,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import MISSING, cell_name, count_of, signed

__all__ = [
    "ModelPart",
    "anova_tables",
    "fits_table",
    "inference_remarks",
    "limits_table",
    "model_parts",
    "planned_tables",
    "sensitivity_tables",
]

_UNITS = {
    "mean_log_rt": "RT ratio",
    "mean_rt_s": "difference (ms)",
    "median_rt_s": "difference (ms)",
    "p_correct": "difference (points)",
}
_TERMS = {"(Intercept)": "intercept", "residual": "residual"}
_GROUPS = {
    "participant_id": "participants",
    "participant_id:rule": "participants by rule",
    "participant_id:block_kind": "participants by kind of block",
    "participant_id:rule:block_kind": "participants by rule and kind of block",
    "target": "targets",
    "residual": "residual",
}


# --- exclusions ----------------------------------------------------------------------------


def limits_table(analysis: Analysis) -> ReportTable | None:
    """Return who missed which stated limit, or None where nobody did."""
    table = analysis.participants_left_out
    if table is None or table.empty:
        return None
    columns = (
        words("participant_id", "participant"),
        words("cell", "in"),
        words("reason", "left out because"),
        count("step", "step"),
    )
    return lay_out(table, columns, n_left=3, stem="participants_left_out")


def sensitivity_tables(analysis: Analysis) -> list[ToldTable]:
    """Return the rules compared under other exclusions of RTs; nothing where there is none."""
    table = analysis.sensitivity
    if table is None or table.empty:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    columns = [
        words("in_words", "exclusions"),
        *[column for column in factor_columns(table) if column[0] != "rule"],
        words("contrast", "contrast"),
    ]
    numbers = (
        count("n_rt", "RTs"),
        points("p_trimmed", "left out (%)"),
        count("n_participants", "n"),
        numeral("rt_ratio", "RT ratio", 2),
        bounds("rt_ratio_low", "rt_ratio_high", level, 2),
        times("difference_s", "difference (ms)", 1000),
        numeral("dz", "dz", 2),
        p_column("p"),
    )
    caption = (
        "The rules compared again under other exclusions of RTs. Conclusions that hang on one row "
        "hang on how RTs were trimmed. p is not corrected."
    )
    laid = lay_out(table, [*columns, *numbers], n_left=len(columns), stem="sensitivity")
    return [ToldTable(laid, caption, "Sensitivity to exclusions" if len(table) > 30 else "")]


# --- contrasts and analysis of variance ----------------------------------------------------


def planned_tables(analysis: Analysis) -> list[ToldTable]:
    """Return the planned contrasts of each measure, and their further effect sizes."""
    if analysis.inference is None or analysis.inference.planned_contrasts.empty:
        return []
    table, settings = analysis.inference.planned_contrasts, analysis.settings
    level = f"{settings.confidence:.0%} CI"
    opening = [words("name", "contrast")]
    if table["mode"].notna().any():
        opening.append(words("mode", "mode"))
    corrected = settings.correction != "none"
    tables = []
    for measure in dict.fromkeys(table["measure"]):
        columns = [
            *opening,
            count("n_participants", "n"),
            *_estimate_columns(measure, level),
            statistic("t", "df", "t (df)"),
            p_column("p"),
            *([p_column("p_corrected", "p, corrected")] if corrected else []),
            numeral("dz", "dz", 2),
            bounds("dz_low", "dz_high", level, 2),
            ("BF10", lambda row: _bf(row["bayes_factor"])),
        ]
        of_measure = table[table["measure"] == measure]
        how = f"; corrected: {CORRECTIONS[settings.correction]} over this table" * corrected
        caption = f"Planned contrasts of {MEASURES[measure]}: "
        caption += (
            f"paired, two-sided t tests over participants{how}. BF10: Bayes factor for a "
            f"difference, Cauchy prior of scale {settings.bayes_r_scale:.3g}."
            if of_measure["t"].notna().any()
            else "nothing could be tested."
        )
        laid = lay_out(of_measure, columns, n_left=len(opening), stem="planned_contrasts")
        tables.append(ToldTable(laid, caption))
    return [*tables, _further_effects(table, opening, level)]


def _bf(text: str | None) -> str:
    return bayes_factor_apa(text).removeprefix("BF10 = ") if text else MISSING


def _estimate_columns(measure: str, level: str) -> list[Column]:
    title = _UNITS[measure]
    if measure == "mean_log_rt":
        return [numeral("ratio", title, 3), bounds("ratio_low", "ratio_high", level, 3)]
    low, high = "estimate_low", "estimate_high"
    if measure == "p_correct":
        return [points("estimate", title), points_bounds(low, high, level)]
    return [times("estimate", title, 1000), bounds(low, high, level, 0, factor=1000)]


def _further_effects(table: pd.DataFrame, opening: list[Column], level: str) -> ToldTable:
    columns = [
        words("measure", "measure", meanings=MEASURES),
        *opening,
        numeral("gz", "gz", 2),
        bounds("gz_low", "gz_high", level, 2),
        numeral("dav", "dav", 2),
        bounds("dav_low", "dav_high", level, 2),
        numeral("gav", "gav", 2),
        numeral("wilcoxon_w_plus", "W+", 1),
        p_column("wilcoxon_p", "p (signed rank)"),
        share("rank_biserial", "r, rank-biserial"),
    ]
    caption = (
        "gz, gav: with Hedges' correction; dav: difference over the root mean square of the SDs; "
        "W+: Wilcoxon's signed-rank test, not corrected for several tests."
    )
    laid = lay_out(table, columns, n_left=len(opening) + 1, stem="planned_contrasts")
    return ToldTable(laid, caption, "Further effect sizes and rank tests")


def anova_tables(analysis: Analysis) -> list[ToldTable]:
    """Return the analysis of variance of all measures as one table; none where there is no F."""
    if analysis.inference is None or analysis.inference.anova["f"].isna().all():
        return []
    table = analysis.inference.anova
    opening = [words("measure", "measure", meanings=MEASURES)]
    if table["mode"].notna().any():
        opening.append(words("mode", "mode"))
    opening.append(("effect", lambda row: effect_name(row["effect"])))
    columns = [
        *opening,
        count("n_participants", "n"),
        ("F (df1, df2)", lambda row: _f_text(row["f"], row["df1"], row["df2"])),
        p_column("p"),
        share("epsilon_gg", "ε GG"),
        p_column("p_gg", "p GG"),
        share("epsilon_hf", "ε HF"),
        p_column("p_hf", "p HF"),
        p_column("mauchly_p", "p Mauchly"),
        share("partial_eta2", "partial η²"),
        share("generalized_eta2", "ηG²"),
    ]
    caption = (
        "Repeated-measures analysis of variance on participants' cell scores. GG, HF: corrected "
        "by Greenhouse and Geisser, and by Huynh and Feldt; with one degree of freedom there is "
        "nothing to correct. Judge significance by p GG."
    )
    return [ToldTable(lay_out(table, columns, n_left=len(opening), stem="anova"), caption)]


def _f_text(f: float | None, df1: object, df2: object) -> str:
    if f is None:
        return MISSING
    dfs, value = f_apa(f, df1, df2).removeprefix("F").split(" = ")
    return f"{value} {dfs}"


def inference_remarks(analysis: Analysis) -> list[str]:
    """Return what the notes say, and who is left out of which test."""
    if analysis.inference is None:
        return []
    planned = remarks(
        analysis.inference.planned_contrasts,
        lambda row: f"{row['name']}{_in_mode(row['mode'])} ({MEASURES[row['measure']]})",
    )
    anova = remarks(
        analysis.inference.anova,
        lambda row: f"analysis of variance of {MEASURES[row['measure']]}{_in_mode(row['mode'])}",
    )
    return list(dict.fromkeys([*planned, *anova]))


def _in_mode(mode: str | None) -> str:
    return f", {cell_name({'mode': mode})}" if mode else ""


# --- models --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One model as the report shows it.

    Attributes
    ----------
    name, formula, coding : str
        What it is of, in words and as fitted.
    how : str
        Estimator, program, rows and fit.
    fixed, random : ReportTable or None
        Effects; None where the model has no estimates.
    remarks : list of str
        What happened, in words, and who is left out.
    fold : bool
        Whether it is folded away on screen: a check of another model.
    """

    name: str
    formula: str
    coding: str
    how: str
    fixed: ReportTable | None
    random: ReportTable | None
    remarks: list[str]
    fold: bool


def model_parts(analysis: Analysis) -> list[ModelPart]:
    """Return the models to read, one per outcome and mode; the first fitted if none can be read."""
    if analysis.regression is None:
        return []
    found = analysis.regression
    parts = []
    groups = found.models.groupby(["outcome", "mode"], sort=False, dropna=False, observed=True)
    for _, of_outcome in groups:
        selected = of_outcome[of_outcome["selected"].fillna(False)]
        one = selected.head(1) if len(selected) else of_outcome.head(1)
        row = rows_of(one)[0]
        fixed = found.fixed_effects[found.fixed_effects["model"] == row["model"]]
        random = found.random_effects[found.random_effects["model"] == row["model"]]
        name = model_name(row)
        parts.append(
            ModelPart(
                name=name[0].upper() + name[1:],
                formula=row["formula"] or "",
                coding=row["coding"] or "",
                how=_how(row),
                fixed=_fixed_table(fixed, analysis) if len(fixed) else None,
                random=_random_table(random) if len(random) else None,
                remarks=_happened(one),
                fold=row["outcome"] == "inverse_rt",
            )
        )
    return parts


def _how(row: Mapping[str, Any]) -> str:
    noun = "trial" if row["outcome"] == "error" else "RT"
    text = f"{count_of(row['n_rows'] or 0, noun)} of "
    text += count_of(row["n_participants"] or 0, "participant")
    if row["n_items"]:
        text += f" and {count_of(row['n_items'], 'target')}"
    if not row["fitted"]:
        return text
    text += f"; {row['estimator']} by {row['engine']}"
    if row["optimiser"]:
        text += f" ({row['optimiser']})"
    if row["loglik"] is not None:
        text += f"; log-likelihood {signed(row['loglik'], 2)}, AIC {signed(row['aic'], 1)}"
    if row["r2_marginal"] is not None:
        text += f"; R² marginal {r_apa(row['r2_marginal'])}"
        text += f", conditional {r_apa(row['r2_conditional'])}"
    return text


def _happened(one: pd.DataFrame) -> list[str]:
    row = rows_of(one)[0]
    lines = remarks(one, lambda _: "the model")
    if row["fitted"] and not row["converged"]:
        lines.insert(0, "The optimiser did not converge: do not rely on these estimates.")
    if row["n_rows_left_out"]:
        lines.append(f"{count_of(row['n_rows_left_out'], 'row')} left out of the model.")
    if row["fitted"] and row["converged"] and not lines:
        lines.append("It converged, and no variance was estimated as 0.")
    return [line.replace(" (the model)", "") for line in lines]


def _fixed_table(table: pd.DataFrame, analysis: Analysis) -> ReportTable:
    level = f"{analysis.settings.confidence:.0%} CI"
    kind = str(table["test"].dropna().iloc[0]) if table["test"].notna().any() else "t"
    columns = [
        ("effect", lambda row: row["words"] or row["term"]),
        numeral("estimate", "b", 3),
        numeral("se", "SE", 3),
        bounds("low", "high", level, 3),
        statistic("statistic", "df", f"{kind} (df)" if table["df"].notna().any() else kind),
        p_column("p"),
    ]
    if table["ratio"].notna().any():
        columns += [
            numeral("ratio", "exp(b)", 2),
            bounds("ratio_low", "ratio_high", level, 2),
            words("ratio_kind", "which is"),
        ]
    return lay_out(table, columns, n_left=1, stem="model_fixed_effects")


def _random_table(table: pd.DataFrame) -> ReportTable:
    columns = [
        words("group", "over", meanings=_GROUPS),
        words("term", "effect", meanings=_TERMS),
        words("with_term", "with", meanings=_TERMS),
        numeral("sd", "SD", 3),
        numeral("variance", "variance", 4),
        share("correlation", "correlation"),
    ]
    return lay_out(table, columns, n_left=3, stem="model_random_effects")


def fits_table(analysis: Analysis) -> ReportTable | None:
    """Return every model that was tried, with how it ended; None where none was."""
    if analysis.regression is None or analysis.regression.models.empty:
        return None
    yes = {True: "yes", False: "no", None: MISSING}
    columns = [
        words("model", "model"),
        words("formula", "formula"),
        ("read", lambda row: yes[row["selected"]]),
        ("converged", lambda row: yes[row["converged"]]),
        ("singular", lambda row: yes[row["singular"]]),
        ("separated", lambda row: yes[row["separated"]]),
        count("n_rows", "rows"),
        numeral("loglik", "log-likelihood", 1),
        numeral("aic", "AIC", 1),
        numeral("bic", "BIC", 1),
    ]
    return lay_out(analysis.regression.models, columns, n_left=6, stem="model_fits")
