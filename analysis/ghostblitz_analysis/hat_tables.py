"""The tables of the report on the hat: every number as the text that stands on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghostblitz_analysis.hat_measures import HatResults
from ghostblitz_analysis.report_tables import ReportTable, errors_table
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import MISSING, interval, level_name, number, p_value, percent

__all__ = ["costs_table", "hat_cells_table", "hat_errors_tables", "lags_table"]


def hat_cells_table(hat: HatResults, *, confidence: float) -> ReportTable:
    """Return RT and errors per transformation and rule."""
    header = (
        "cards", "rule", "mode", "n", "RTs", "geometric mean (s)",
        f"{confidence:.0%} CI over participants", "trials", "errors", "errors (%)",
    )  # fmt: skip
    rows = [
        (
            level_name("transformation", row["transformation"]),
            row["rule"],
            row["mode"],
            f"{row['n_participants']:,}",
            f"{row['n_rt']:,}",
            number(row["geometric_mean_rt_s"], 3),
            interval(row["geometric_mean_rt_low_s"], row["geometric_mean_rt_high_s"], 3),
            f"{row['n_trials']:,}",
            f"{row['n_trials'] - row['n_correct']:,}",
            percent(1 - row["p_correct"], 2),
        )
        for row in rows_of(hat.group_cells)
    ]
    return ReportTable(header, tuple(rows), 3)


def costs_table(hat: HatResults, *, confidence: float) -> ReportTable | None:
    """Return hats to be grabbed against plain cards, or None where there is no such pair."""
    if hat.costs.empty:
        return None
    level = f"{confidence:.0%} CI"
    header = (
        "rule", "n", "RT ratio", level, "difference (s)", level, "dz", "t (df)", "p",
        "errors (points)", level,
    )  # fmt: skip
    rows = [
        (
            row["rule"],
            f"{row['n_participants']:,}",
            number(row["rt_ratio"], 3),
            interval(row["rt_ratio_low"], row["rt_ratio_high"], 3),
            number(row["difference_s"], 3),
            interval(row["difference_low_s"], row["difference_high_s"], 3),
            number(row["dz"], 2),
            MISSING if row["t"] is None else f"{number(row['t'], 2)} ({row['df']})",
            p_value(row["p"]),
            percent(row["p_error_difference"], 2),
            _points(row, "p_error_difference"),
        )
        for row in rows_of(hat.costs)
    ]
    return ReportTable(header, tuple(rows), 1)


def hat_errors_tables(hat: HatResults) -> list[ReportTable]:
    """Return the kinds of error per transformation: of what is grabbed, and of what is called."""
    called = hat.error_totals["transformation"] == "hat_call"
    parts = [hat.error_totals[~called], hat.error_totals[called]]
    return [errors_table(part, ["transformation"]) for part in parts if not part.empty]


def lags_table(hat: HatResults, *, confidence: float) -> ReportTable | None:
    """Return RT and error rate per lag, or None where lags are not known."""
    if hat.lags is None:
        return None
    level = f"{confidence:.0%} CI"
    header = (
        "cards", "lag", "n", "RTs", "geometric mean (s)", level, "trials", "errors",
        "error rate, mean of participants (%)", level,
    )  # fmt: skip
    rows = [
        (
            level_name("transformation", row["transformation"]),
            row["lag"],
            f"{row['n_participants']:,}",
            f"{row['n_rt']:,}",
            number(row["geometric_mean_rt_s"], 3),
            interval(row["geometric_mean_rt_low_s"], row["geometric_mean_rt_high_s"], 3),
            f"{row['n_trials']:,}",
            f"{row['n_errors']:,}",
            percent(row["p_error"], 2),
            _points(row, "p_error"),
        )
        for row in rows_of(hat.lags)
    ]
    return ReportTable(header, tuple(rows), 2)


def _points(row: Mapping[str, Any], stem: str) -> str:
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    return MISSING if low is None else interval(100 * low, 100 * high, 2)
