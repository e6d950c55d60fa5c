"""Tables of the report on distributions of RTs, and on speed and accuracy together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ghostblitz_analysis.cell_tables import (
    by_cell,
    cell_title,
    looked_up,
    milliseconds,
    other_factors,
    plain,
    remarks_of,
    spread_out,
    wide,
)
from ghostblitz_analysis.report_tables import ReportTable
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.table_columns import (
    ToldTable,
    bounds,
    count,
    factor_columns,
    lay_out,
    numeral,
    p_column,
    points,
    points_bounds,
    statistic,
    times,
    words,
)
from ghostblitz_analysis.wording import MISSING, number

__all__ = [
    "distribution_remarks",
    "distribution_tables",
    "speed_accuracy_remarks",
    "speed_accuracy_tables",
]

Row = Mapping[str, Any]

_SPREADS = {
    "mean_rt_s": "mean (ms)",
    "median_rt_s": "median (ms)",
    "trimmed_mean_rt_s": "trimmed mean (ms)",
    "harmonic_mean_rt_s": "harmonic mean (ms)",
    "sd_rt_s": "SD (ms)",
    "mad_rt_s": "MAD (ms)",
    "cv_rt": "CV",
}
_EX_GAUSSIAN = {"mu_s": "μ (ms)", "sigma_s": "σ (ms)", "tau_s": "τ (ms)"}
_SCORES = {"ies_s": "IES (s)", "rcs_per_s": "RCS (per s)", "lisas_s": "LISAS (s)", "bis": "BIS"}
_EZ = {"v": "drift v", "a": "boundary a", "ter_s": "Ter (s)"}

# --- distributions -------------------------------------------------------------------------


def distribution_tables(analysis: Analysis) -> list[ToldTable]:
    """Return spreads, quantiles, delta plots, conditional accuracy and ex-Gaussians."""
    found = analysis.distributions
    if found is None:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    tables = [
        ToldTable(
            spread_out(found.groups, _SPREADS, milliseconds, "rt_groups"),
            "Means over participants of each participant's figure in the cell. MAD: median "
            "absolute deviation, not scaled; CV: SD over mean; the CSV file has intervals.",
        ),
        ToldTable(
            wide(found.group_quantiles, "probability", "quantile_s", 1000, "rt_quantiles_groups"),
            "Quantiles of RT in ms, averaged over participants (vincentiles), by share of RTs "
            "below them.",
        ),
        *_delta_tables(analysis, level),
        *_caf_tables(analysis, level),
    ]
    if len(found.group_ex_gaussian):
        tables.append(
            ToldTable(
                _ex_gaussian_table(found.group_ex_gaussian, level),
                "Ex-Gaussian distributions fitted by maximum likelihood per participant and cell: "
                "mean of participants' parameters. The parameters describe the shape; they are no "
                "measures of processes.",
            )
        )
    return [told for told in tables if told.table.rows]


def _delta_tables(analysis: Analysis, level: str) -> list[ToldTable]:
    found = analysis.distributions
    if found is None:
        return []
    delta, slopes = found.group_delta, found.group_delta_slopes
    opening = [*other_factors(delta), words("contrast", "contrast")]
    columns = [
        *opening,
        ("quantile", lambda row: number(row["probability"], 2)),
        count("n_participants", "n"),
        times("mean_s", "mean of both (ms)", 1000),
        times("difference_s", "difference (ms)", 1000),
        bounds("difference_low_s", "difference_high_s", level, 0, factor=1000),
    ]
    by_slope = [
        *opening,
        words("measure", "slope", meanings={"slope": "whole", "final_slope": "last segment"}),
        count("n_participants", "n"),
        numeral("mean", "mean", 2),
        bounds("low", "high", level, 2),
        statistic("t", "df", "t (df)"),
        p_column("p"),
    ]
    return [
        ToldTable(
            lay_out(slopes, by_slope, n_left=len(opening) + 1, stem="rt_delta_slopes_groups"),
            "Slopes of the delta plots: by how much the difference between rules grows per unit of "
            "RT. p is not corrected.",
        ),
        ToldTable(
            lay_out(delta, columns, n_left=len(opening), stem="rt_delta_groups"),
            "Delta plot: difference of the quantiles of two rules, over participants.",
            "Delta plots as numbers",
        ),
    ]


def _caf_tables(analysis: Analysis, level: str) -> list[ToldTable]:
    found = analysis.distributions
    if found is None:
        return []
    differences = found.group_caf_differences
    opening = [*other_factors(differences), words("contrast", "contrast")]
    columns = [
        *opening,
        count("bin", "bin"),
        count("n_participants", "n"),
        times("mean_s", "mean RT (ms)", 1000),
        points("p_difference", "accuracy difference (points)"),
        points_bounds("p_difference_low", "p_difference_high", level),
    ]
    return [
        ToldTable(
            wide(found.group_caf, "bin", "p_correct", 100, "rt_caf_groups", digits=1),
            "Conditional accuracy: % correct in fifths of the RTs of right and wrong answers "
            "together, from the fastest (1) to the slowest.",
        ),
        ToldTable(
            lay_out(differences, columns, n_left=len(opening), stem="rt_caf_differences_groups"),
            "Differences of conditional accuracy between rules, over participants.",
            "Differences of conditional accuracy",
        ),
    ]


def _ex_gaussian_table(table: pd.DataFrame, level: str) -> ReportTable:
    def about(row: Row) -> str:
        low, high = milliseconds("_s", row["low"]), milliseconds("_s", row["high"])
        mean = milliseconds("_s", row["mean"])
        return mean if MISSING in (low, high) else f"{mean} [{low}, {high}]"

    of_mu = table[table["measure"] == "mu_s"]
    values = by_cell(table, "measure", about)
    columns = [
        *factor_columns(table),
        count("n_participants", "n"),
        *[looked_up(values, key, f"{title}, {level}") for key, title in _EX_GAUSSIAN.items()],
        count("n_at_boundary", "at a boundary"),
    ]
    return lay_out(of_mu, columns, n_left=len(factor_columns(table)), stem="rt_ex_gaussian_groups")


def distribution_remarks(analysis: Analysis) -> list[str]:
    """Return what the notes say, and who is left out of what."""
    found = analysis.distributions
    if found is None:
        return []
    named = {
        "quantiles": found.group_quantiles,
        "delta plot": found.group_delta,
        "delta slopes": found.group_delta_slopes,
        "conditional accuracy": found.group_caf,
        "ex-Gaussian": found.group_ex_gaussian,
        "RT summaries": found.groups,
    }
    return remarks_of(named, cell_title)


# --- speed and accuracy --------------------------------------------------------------------


def speed_accuracy_tables(analysis: Analysis) -> list[ToldTable]:
    """Return the scores that join speed and accuracy, and EZ-diffusion; see their captions."""
    tables = []
    level = f"{analysis.settings.confidence:.0%} CI"
    found = analysis.speed_accuracy
    if found is None:
        return []
    parts = (
        (found.group_cells, found.contrasts, _SCORES, "speed_accuracy", _JOINT_SCORES, ""),
        (
            found.ez_group_cells,
            found.ez_contrasts,
            _EZ,
            "ez_diffusion",
            _ez_caption(found.ez_participant_cells),
            "EZ-diffusion",
        ),
    )
    for groups, contrasts, scores, stem, caption, fold in parts:
        laid = spread_out(groups, scores, plain, f"{stem}_group_cells")
        tables.append(ToldTable(laid, caption, fold))
        compared = _score_contrasts(contrasts, scores, level, f"{stem}_contrasts")
        tested = len(contrasts) and contrasts["t"].notna().any()
        how = "paired t tests, not corrected" if tested else "nothing could be tested"
        told = f"Rules compared on each score: {how}."
        tables.append(ToldTable(compared, told, fold and f"{fold}: rules compared"))
    return [told for told in tables if told.table.rows]


_JOINT_SCORES = (
    "IES: mean RT over accuracy; advised against where more than 10 % of responses are wrong. "
    "RCS: correct responses per second of responding. LISAS: mean RT plus weighted errors. BIS: "
    "standardised accuracy minus standardised RT. Higher is better for RCS and BIS, worse for IES "
    "and LISAS. Means over participants."
)


def _ez_caption(cells: pd.DataFrame) -> str:
    descriptive = cells["descriptive"].fillna(False).any() if len(cells) else False
    warning = (
        "Descriptive only: these cards have more than two answers, while the model knows two "
        "(right and wrong). "
        if descriptive
        else ""
    )
    return (
        f"EZ-diffusion (s = 0.1), from accuracy and mean and variance of correct RTs. {warning}"
        "Means over participants."
    )


def _score_contrasts(
    table: pd.DataFrame, scores: Mapping[str, str], level: str, stem: str
) -> ReportTable:
    opening = [*other_factors(table), words("contrast", "contrast")]
    columns = [
        words("score", "score", meanings=scores),
        *opening,
        count("n_participants", "n"),
        numeral("mean_difference", "difference", 3),
        bounds("difference_low", "difference_high", level, 3),
        numeral("dz", "dz", 2),
        statistic("t", "df", "t (df)"),
        p_column("p"),
        count("n_flagged", "flagged"),
    ]
    return lay_out(table, columns, n_left=len(opening) + 1, stem=stem)


def speed_accuracy_remarks(analysis: Analysis) -> list[str]:
    """Return what the notes say, the advice against IES among them, and who is left out."""
    found = analysis.speed_accuracy
    if found is None:
        return []
    titles = _SCORES | _EZ
    named = {
        "": found.group_cells,
        "compared": found.contrasts,
        "EZ": found.ez_group_cells,
        "EZ compared": found.ez_contrasts,
    }
    return remarks_of(
        named, lambda row: ", ".join(filter(None, (titles[row["score"]], cell_title(row))))
    )
