"""Tables of the report on sequence effects, practice and reliability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ghostblitz_analysis.cell_tables import (
    cell_title,
    remarks_of,
)
from ghostblitz_analysis.paper_sentences import MEASURES, effect_title, score_name
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
    share_bounds,
    statistic,
    words,
)
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import MISSING, percent

__all__ = [
    "practice_tables",
    "reliability_remarks",
    "reliability_tables",
    "sequence_remarks",
    "sequence_tables",
]

Row = Mapping[str, Any]

_SLOPES = {
    "power_slope": "slope of log RT on log trial",
    "slope_per_100_trials": "log RT per 100 trials",
    "speed_up_log": "last quarter against first",
    "p_error_change": "change of error rate",
}


# --- sequences and practice ----------------------------------------------------------------


def sequence_tables(analysis: Analysis) -> list[ToldTable]:
    """Return the sequence effects over all rules, per rule, and what each leaves out."""
    found = analysis.sequences
    if found is None or found.effects.empty:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    whole = found.effects["rule"].isna()
    caption = (
        "RT ratio and error difference of each effect: the condition named first against the one "
        "named second. Means over participants; p is not corrected."
    )
    return [
        ToldTable(_effects_table(found.effects[whole], level), caption),
        ToldTable(_effects_table(found.effects[~whole], level), caption, "Effects per rule"),
        ToldTable(
            lay_out(
                found.exclusions,
                (
                    ("effect", lambda row: effect_title(row["effect"])),
                    words("reason", "left out"),
                    count("n_trials", "trials before"),
                    count("n_excluded", "out"),
                    count("n_left", "left"),
                ),
                n_left=2,
                stem="sequence_exclusions",
            ),
            "What each effect leaves out, step by step.",
            "Trials that sequence effects leave out",
        ),
    ]


def _effects_table(table: pd.DataFrame, level: str) -> ReportTable:
    factors = factor_columns(table)
    columns: list[Column] = [
        ("effect", lambda row: effect_title(row["effect"])),
        *factors,
        count("n_participants", "n"),
        numeral("rt_ratio", "RT ratio", 2),
        bounds("rt_ratio_low", "rt_ratio_high", level, 2),
        statistic("t", "df", "t (df)"),
        p_column("p"),
        numeral("dz", "dz", 2),
        points("p_error_difference", "errors (points)"),
        points_bounds("p_error_difference_low", "p_error_difference_high", level),
        p_column("error_p"),
    ]
    return lay_out(table, columns, n_left=len(factors) + 1, stem="sequence_effects")


def sequence_remarks(analysis: Analysis) -> list[str]:
    """Return what the notes say, and who is left out of which effect."""
    found = analysis.sequences
    if found is None:
        return []
    lines = remarks(
        found.effects,
        lambda row: ", ".join(filter(None, (effect_title(row["effect"]), cell_title(row)))),
    )
    return [*lines, *remarks_of({"practice": found.slopes}, cell_title)]


def practice_tables(analysis: Analysis) -> list[ToldTable]:
    """Return how RTs and errors changed over the session, per cell."""
    found = analysis.sequences
    if found is None:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    factors = factor_columns(found.slopes, missing="all")
    slopes = [
        *factors,
        words("measure", "change", meanings=_SLOPES),
        count("n_participants", "n"),
        numeral("mean", "mean", 3),
        bounds("low", "high", level, 3),
        numeral("rt_ratio", "RT ratio", 2),
        statistic("t", "df", "t (df)"),
        p_column("p"),
    ]
    of_cells = factor_columns(found.stretches)
    stretches = [
        *of_cells,
        count("stretch", "stretch"),
        count("n_participants", "n"),
        numeral("geometric_mean_rt_s", "geometric mean RT (s)", 3),
        bounds("geometric_mean_rt_low_s", "geometric_mean_rt_high_s", level, 3),
        points("p_correct", "correct (%)"),
    ]
    tables = [
        ToldTable(
            lay_out(found.slopes, slopes, n_left=len(factors) + 1, stem="practice_slopes"),
            "Change over the session, mean over participants. RT ratio: of a doubling of trials, "
            "of 100 trials, and of the last quarter against the first. p is not corrected.",
        ),
        ToldTable(
            lay_out(found.stretches, stretches, n_left=len(of_cells), stem="practice_stretches"),
            "Tenths of the session.",
            "RT and accuracy over the session as numbers",
        ),
    ]
    return [told for told in tables if told.table.rows]


# --- reliability ---------------------------------------------------------------------------


def reliability_tables(analysis: Analysis) -> list[ToldTable]:
    """Return split-half reliability of differences and cells, and agreement of sessions."""
    found = analysis.reliability
    if found is None:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    cells = found.split_half["kind"] == "cell"
    caption = (
        "Split-half reliability over random splits within participants and cells. r: mean "
        "correlation of the halves; SB: Spearman-Brown-corrected to the whole test."
    )
    differences, scores = found.split_half[~cells], found.split_half[cells]
    fold = "Split-half reliability of all measures" if len(differences) > 40 else ""
    tables = [
        ToldTable(_split_half_table(differences, level), caption, fold),
        ToldTable(_split_half_table(scores, level), caption, "Split-half reliability of cells"),
    ]
    if len(found.left_out):
        columns = (
            words("participant_id", "participant"),
            ("left out of", score_name),
            words("reason", "because"),
        )
        laid = lay_out(found.left_out, columns, n_left=3, stem="reliability_left_out")
        tables.append(ToldTable(laid, "Who is left out, and why.", "Left out of reliability"))
    return [told for told in [*tables, *_session_tables(analysis, level)] if told.table.rows]


def _split_half_table(table: pd.DataFrame, level: str) -> ReportTable:
    columns: list[Column] = [
        ("score", lambda row: score_name(row, with_measure=False)),
        words("measure", "measure", meanings=MEASURES),
        count("n_participants", "n"),
        share("r", "r"),
        share_bounds("r_low", "r_high", level),
        share("spearman_brown", "SB"),
        share_bounds("spearman_brown_low", "spearman_brown_high", level),
        share("spearman_brown_odd_even", "SB odd-even"),
        ("negative splits (%)", _negative_share),
    ]
    return lay_out(table, columns, n_left=2, stem="reliability_split_half")


def _negative_share(row: Row) -> str:
    defined = (row["n_splits"] or 0) - (row["n_undefined_splits"] or 0)
    if row["n_negative_splits"] is None or not defined:
        return MISSING
    return percent(row["n_negative_splits"] / defined)


def _session_tables(analysis: Analysis, level: str) -> list[ToldTable]:
    found = analysis.reliability
    tables: list[ToldTable] = []
    if found is not None and found.icc is not None:
        columns = (
            ("score", score_name),
            words("icc_type", "ICC"),
            count("n_participants", "n"),
            share("icc", "coefficient"),
            share_bounds("low", "high", level),
            p_column("p"),
        )
        laid = lay_out(found.icc, columns, n_left=2, stem="reliability_icc")
        tables.append(ToldTable(laid, "Intraclass correlations over sessions.", "ICCs"))
    if found is not None and found.measurement_error is not None:
        columns = (
            ("score", score_name),
            count("n_participants", "n"),
            numeral("sd", "SD", 3),
            numeral("sem_consistency", "SEM, consistency", 3),
            numeral("sem_agreement", "SEM, agreement", 3),
            numeral("sdc_agreement", "smallest detectable change", 3),
        )
        laid = lay_out(
            found.measurement_error, columns, n_left=1, stem="reliability_measurement_error"
        )
        caption = "Standard error of measurement over sessions, in the unit of the measure."
        tables.append(ToldTable(laid, caption, "Standard errors of measurement"))
    return tables


def reliability_remarks(analysis: Analysis) -> list[str]:
    """Return what the notes say, with the scores that they are of, and who is left out."""
    found = analysis.reliability
    if found is None:
        return []
    negative = found.split_half["r"] < 0
    some = found.split_half["n_negative_splits"] > 0
    table = found.split_half.assign(note=found.split_half["note"].fillna(""))
    lines = remarks(table, score_name)
    if negative.fillna(False).any():
        names = [score_name(row) for row in rows_of(table[negative.fillna(False)])]
        lines.insert(
            0,
            f"Halves correlate negatively on average in {len(names):,} of {len(table):,} scores: "
            "these do not tell participants apart, and correlations with them mean nothing.",
        )
    if some.fillna(False).any():
        lines.append(
            "Where any split correlates negatively (column on negative splits), corrected "
            "intervals are cut at 0."
        )
    return lines
