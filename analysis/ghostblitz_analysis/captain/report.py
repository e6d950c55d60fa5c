"""The report on the captain's deck: one self-contained HTML page in the look of the other one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ghostblitz_analysis.captain.dataset import CaptainDataset
from ghostblitz_analysis.captain.measures import CaptainMeasures
from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings
from ghostblitz_analysis.card_examples import inline_svg
from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.report_tables import MAX_ROWS, ReportTable
from ghostblitz_analysis.summary import rows_of
from ghostblitz_analysis.wording import (
    MISSING,
    count_of,
    interval,
    number,
    p_value,
    percent,
    source_note,
)

__all__ = ["CaptainResult", "captain_sentences", "render_captain_report"]

_KNOWN = {"known": "known", "unknown": "not known"}


@dataclass(frozen=True, eq=False)
class CaptainResult:
    """A data set of the captain's deck and what it came to."""

    dataset: CaptainDataset
    settings: CaptainAnalysisSettings
    measures: CaptainMeasures
    analysed_utc: str
    versions: Mapping[str, str]
    out: Path

    @property
    def report(self) -> Path:
        """The report to open in a browser."""
        return self.out / "report.html"


def render_captain_report(result: CaptainResult, figures_svg: Mapping[str, str]) -> str:
    """Return the page: HTML that loads nothing from anywhere; every text of the data is escaped."""
    measures, dataset, settings = result.measures, result.dataset, result.settings
    note = source_note(dataset.sources)
    return (
        page_templates()
        .get_template("captain_report.html.j2")
        .render(
            dataset=dataset,
            settings=settings,
            result=result,
            note=note,
            banners=_banners(dataset),
            title=dataset.name + (f" ({note})" if note else ""),
            n_participants=count_of(dataset.n_participants, "participant"),
            n_games=count_of(len(dataset.games), "game"),
            n_turns=count_of(len(dataset.turns), "turn"),
            measures=measures,
            sentences=captain_sentences(measures),
            figures={name: inline_svg(name, svg) for name, svg in figures_svg.items()},
            hits=_hits_table(measures, settings),
            lags=_bins_table(measures, "lag", settings),
            distances=_bins_table(measures, "distance", settings),
            rts=_rts_table(measures, settings),
            contrasts=_contrasts_table(measures, settings),
            cue_changes=_cue_table(measures),
            naming=_naming_table(measures, settings),
            games=_games_table(measures),
            people=_people_table(measures),
            runs=_runs_table(dataset),
            settings_json=json.dumps(settings.model_dump(mode="json"), indent=2),
            both_modes=len(set(dataset.games["mode"])) > 1,
        )
    )


# --- words ----------------------------------------------------------------------------------------


def captain_sentences(measures: CaptainMeasures) -> list[str]:
    """Say per mode how often a known dropping was picked, against chance, and how games ended."""
    sentences = []
    for row in rows_of(measures.hits):
        if not row["n_participants"]:
            continue
        what = "a dropping of the die's colour had been seen and was still on deck"
        if row["colour"] == "unknown":
            what = "none had been seen"
        n = count_of(row["n_participants"], "participant")
        text = (
            f"{_mode(row['mode'])}: where {what}, it was picked"
            if row["colour"] == "known"
            else f"{_mode(row['mode'])}: where {what}, the right colour was picked"
        ) + f" in {percent(row['p_hit'])}% of turns (mean of {n}, {row['n_turns']:,} turns"
        if row["p_hit_low"] is not None and row["n_participants"] > 1:
            low_high = interval(100 * row["p_hit_low"], 100 * row["p_hit_high"], 1)
            text += f"; interval {low_high}"
        text += f"); a pick at random hits in {percent(row['p_chance'])}%"
        if row["p_chance_unseen"] is not None:
            text += f", one among those never seen in {percent(row['p_chance_unseen'])}%"
        sentences.append(text + ".")
    for row in rows_of(measures.game_outcomes):
        sentences.append(
            f"{_mode(row['mode'])}: {row['n_won']} of {count_of(row['n_games'], 'game')} won. "
            "Win or lose says little about memory: picking at random wins most games, since only "
            "what falls is lost and a wrong pick costs nothing but time."
        )
    return sentences


def _mode(mode: str) -> str:
    return "Without the Eye" if mode == "static" else "With the Eye"


def _banners(dataset: CaptainDataset) -> list[tuple[str, str, str]]:
    words = {
        "simulated": (
            "SIMULATED DATA",
            "A program played, through the same session, scoring and log as a person would. "
            "These figures show that the machinery works; they say nothing about people.",
        ),
        "robot": (
            "PLAYED BY A ROBOT",
            "A program pressed keys and clicked. These data test the apparatus; they say nothing "
            "about people.",
        ),
    }
    people = dataset.games.groupby("source")["participant_id"].nunique()
    banners = []
    for source, (big, text) in words.items():
        if source not in people.index:
            continue
        if len(people) > 1:
            big += f" ({int(people[source]):,} of {count_of(int(people.sum()), 'participant')})"
            text += " The numbers below pool them with others."
        banners.append((source, big, text))
    return banners


# --- tables ---------------------------------------------------------------------------------------


def _level(settings: CaptainAnalysisSettings) -> str:
    return f"{settings.confidence:.0%} CI"


def _points(row: Mapping[str, Any], stem: str) -> str:
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    return MISSING if low is None or high is None else interval(100 * low, 100 * high, 1)


def _hits_table(measures: CaptainMeasures, settings: CaptainAnalysisSettings) -> ReportTable:
    header = (
        "mode", "colour", "n", "turns", "hit rate (%)", _level(settings), "chance (%)",
        "among unseen (%)", "above chance (points)", _level(settings), "dz", "t (df)", "p",
    )  # fmt: skip
    rows = [
        (
            row["mode"],
            _KNOWN[row["colour"]],
            str(row["n_participants"]),
            f"{row['n_turns']:,}",
            percent(row["p_hit"]),
            _points(row, "p_hit"),
            percent(row["p_chance"]),
            percent(row["p_chance_unseen"]),
            percent(row["above_chance"]),
            _points(row, "above_chance"),
            number(row["dz"], 2),
            MISSING if row["t"] is None else f"{number(row['t'], 2)} ({number(row['df'], 0)})",
            p_value(row["p"]),
        )
        for row in rows_of(measures.hits)
    ]
    return ReportTable(header, tuple(rows), 2)


def _bins_table(
    measures: CaptainMeasures, by: str, settings: CaptainAnalysisSettings
) -> ReportTable | None:
    table = measures.bins[measures.bins["by"] == by]
    if table.empty:
        return None
    title = "turns since seen" if by == "lag" else "way (deck sides)"
    header = (
        "mode", title, "n", "turns", "hits", "hit rate (%)", _level(settings), "chance (%)",
    )  # fmt: skip
    rows = [
        (
            row["mode"], row["bin"], str(row["n_participants"]), f"{row['n_turns']:,}",
            f"{row['n_hits']:,}", percent(row["p_hit"]), _points(row, "p_hit"),
            percent(row["p_chance"]),
        )
        for row in rows_of(table)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 2)


def _rts_table(measures: CaptainMeasures, settings: CaptainAnalysisSettings) -> ReportTable:
    header = ("mode", "RT", "turns", "n", "RTs", "geometric mean (s)", _level(settings))
    rows = [
        (
            row["mode"], row["rt"], "not known" if row["turns"] == "unknown" else row["turns"],
            str(row["n_participants"]), f"{row['n_rt']:,}",
            number(row["geometric_mean_rt_s"], 3), interval(row["rt_low_s"], row["rt_high_s"], 3),
        )
        for row in rows_of(measures.rts)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 3)


def _contrasts_table(
    measures: CaptainMeasures, settings: CaptainAnalysisSettings
) -> ReportTable | None:
    if measures.rt_contrasts.empty:
        return None
    header = ("mode", "pick RT", "n", "ratio", _level(settings), "dz", "t (df)", "p")
    rows = [
        (
            row["mode"], row["contrast"].replace("unknown", "not known"),
            str(row["n_participants"]), number(row["rt_ratio"], 3),
            interval(row["rt_ratio_low"], row["rt_ratio_high"], 3), number(row["dz"], 2),
            MISSING if row["t"] is None else f"{number(row['t'], 2)} ({number(row['df'], 0)})",
            p_value(row["p"]),
        )
        for row in rows_of(measures.rt_contrasts)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 2)


def _cue_table(measures: CaptainMeasures) -> ReportTable | None:
    if measures.cue_changes.empty:
        return None
    rows = [
        (row["mode"], f"the {row['followed']} cue" if row["followed"] != "neither" else "neither",
         f"{row['n_turns']:,}", percent(row["p_of_turns"]))
        for row in rows_of(measures.cue_changes)
    ]  # fmt: skip
    return ReportTable(("mode", "the pick has the colour of", "turns", "%"), tuple(rows), 2)


def _naming_table(measures: CaptainMeasures, settings: CaptainAnalysisSettings) -> ReportTable:
    header = (
        "mode", "n", "looks", "named in time", "misnamed", "right, mean of participants (%)",
        _level(settings),
    )  # fmt: skip
    rows = [
        (
            row["mode"], str(row["n_participants"]), f"{row['n_looked']:,}",
            f"{row['n_named']:,}", f"{row['n_misnamed']:,}", percent(row["p_right"]),
            _points(row, "p_right"),
        )
        for row in rows_of(measures.naming)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 1)


def _games_table(measures: CaptainMeasures) -> ReportTable:
    header = (
        "mode", "games", "won", "lost", "die fell", "capped", "interrupted", "killed",
        "collected (mean)", "fallen (mean)", "turns (mean)", "turns censored",
    )  # fmt: skip
    rows = [
        (
            row["mode"], f"{row['n_games']:,}",
            *(f"{row[f'n_{name}']:,}" for name in (
                "won", "lost", "die_fell", "capped", "interrupted", "killed")),
            number(row["mean_kept"], 2), number(row["mean_fallen"], 2),
            number(row["mean_turns"], 1), f"{row['n_censored']:,} of {row['n_turns']:,}",
        )
        for row in rows_of(measures.game_outcomes)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 1)


def _people_table(measures: CaptainMeasures) -> ReportTable:
    header = (
        "player",
        "mode",
        "colour",
        "turns",
        "hits",
        "hit rate (%)",
        "Wilson CI",
        "chance (%)",
    )
    table = measures.participant_hits
    rows = [
        (
            row["player_id"], row["mode"], _KNOWN[row["colour"]], f"{row['n_turns']:,}",
            f"{row['n_hits']:,}", percent(row["p_hit"]), _points(row, "p_hit"),
            percent(row["p_chance"]),
        )
        for row in rows_of(table[:MAX_ROWS])
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 3, len(table) - len(rows))


def _runs_table(dataset: CaptainDataset) -> ReportTable:
    synchronised = {True: "yes", False: "no", None: "not known"}
    header = (
        "participant", "session", "run", "played by", "ended", "synchronised display", "turns",
        "seed", "began (UTC)",
    )  # fmt: skip
    rows = [
        (
            run.participant_id, str(run.session),
            f"{run.run}, resumed" if run.resumes_file else str(run.run),
            f"{run.source} ({run.participant_model})" if run.participant_model else run.source,
            run.status + (" (last line torn)" if run.torn else ""),
            "virtual" if run.source == "simulated" else synchronised[run.display_synchronised],
            f"{run.n_trials:,}", str(run.seed),
            run.started_utc[:16].replace("T", " ") if run.started_utc else MISSING,
        )
        for run in dataset.runs[:MAX_ROWS]
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 6, len(dataset.runs) - len(rows))
