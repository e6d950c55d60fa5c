"""The tables of the report on playing for the cards: every number as it stands on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghostblitz_analysis.company_measures import CompanyResults
from ghostblitz_analysis.report_tables import MAX_ROWS, ReportTable
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import interval, number, percent

__all__ = ["games_table", "rival_table", "rounds_table"]

_OF_ROUNDS = ("rounds", "took (%)", "right, too late", "of right answers (%)")
_OF_RIVAL = ("took (%)", "right, too late", "of right answers (%)")


def rounds_table(company: CompanyResults) -> ReportTable:
    """Return per rule who took how many cards, and whose right answers came too late."""
    has_rival = bool(company.rival_kinds)
    rows = [
        (row["rule"], *_rounds(row), *(_rounds(row, "rival_")[1:] if has_rival else ()))
        for row in rows_of(company.rules)
    ]
    header = ("rule", *_OF_ROUNDS, *(_OF_RIVAL if has_rival else ()))
    groups = (
        ("", 1), ("participants", len(_OF_ROUNDS)), ("simulated rival", len(_OF_RIVAL))
    )  # fmt: skip
    return ReportTable(header, tuple(rows), 1, groups=groups if has_rival else ())


def _rounds(row: Mapping[str, Any], stem: str = "") -> tuple[str, ...]:
    return (
        f"{row[f'n_{stem}rounds']:,}",
        percent(row[f"p_{stem}took"]),
        f"{row[f'n_{stem}too_late']:,}",
        percent(row[f"p_{stem}too_late"]),
    )


def rival_table(company: CompanyResults, *, confidence: float) -> ReportTable | None:
    """Return participants' RTs against the rival's, or None where there is nothing to compare."""
    if company.contrasts.empty:
        return None
    level = f"{confidence:.0%} CI"
    header = ("rule", "n", "cards", "RT ratio", level, "difference (s)", level)
    rows = [
        (
            row["rule"],
            f"{row['n_participants']:,}",
            f"{row['n_rts']:,}",
            number(row["rt_ratio"], 3),
            interval(row["rt_ratio_low"], row["rt_ratio_high"], 3),
            number(row["difference_s"], 3),
            interval(row["difference_low_s"], row["difference_high_s"], 3),
        )
        for row in rows_of(company.contrasts)
    ]
    return ReportTable(header, tuple(rows), 1)


def games_table(company: CompanyResults) -> ReportTable:
    """Return a row per participant and session."""
    has_rival = bool(company.rival_kinds)
    header = (
        "participant", "session", "rounds", "came again", "took (%)", "cards at the end",
        "gave up", "ties", "too late (% of right answers)",
        *(("rival took (%)",) if has_rival else ()),
    )  # fmt: skip
    games = rows_of(company.participants)
    rows = [
        (
            row["participant_id"],
            f"{row['session']}",
            f"{row['n_rounds']:,}",
            f"{row['n_recycled']:,}",
            percent(row["p_took"]),
            f"{row['n_cards_won']:,}",
            f"{row['n_gave']:,}",
            f"{row['n_tied']:,}",
            percent(row["p_too_late"]),
            *((percent(row["p_rival_took"]),) if has_rival else ()),
        )
        for row in games[:MAX_ROWS]
    ]
    return ReportTable(header, tuple(rows), 2, len(games) - len(rows))
