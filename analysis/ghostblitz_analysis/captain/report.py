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
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.table_rows import rows_of
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

_RT_TURNS = {"unknown": "not known", "hit": "known, hit", "miss": "known, miss"}
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
            sentences=captain_sentences(dataset, measures),
            figures={name: inline_svg(name, svg) for name, svg in figures_svg.items()},
            hits=_hits_table(measures, settings),
            lags=_bins_table(measures, "lag", settings),
            distances=_bins_table(measures, "distance", settings),
            rts=_rts_table(measures, settings),
            contrasts=_contrasts_table(measures, settings),
            cue_changes=_cue_table(measures, settings),
            cue_words=_cue_words(measures),
            naming=_naming_table(measures, settings),
            games=_games_table(measures),
            people=_people_table(measures),
            runs=_runs_table(dataset),
            settings_json=json.dumps(settings.model_dump(mode="json"), indent=2),
            any_clipped=_any_clipped(measures),
            self_tests=self_test_part(dataset.path, dataset.runs),
            mouse_of_person=_mouse_of_person(dataset),
            teams=bool((dataset.games["n_players"] > 1).any()),
            to_middle="middle" in dataset.returns_to,
            both_modes=len(set(dataset.games["mode"])) > 1,
        )
    )


# --- words ----------------------------------------------------------------------------------------


def captain_sentences(dataset: CaptainDataset, measures: CaptainMeasures) -> list[str]:
    """Say per mode how often a known dropping was picked, against chance, and how games ended."""
    sentences = []
    for row in rows_of(measures.hits):
        if not row["n_participants"]:
            continue
        what = "a dropping of the die's colour had been seen and was still on deck"
        picked, among = "such a one was picked", "among those that had been seen"
        if row["colour"] == "unknown":
            what, among = "none had been seen", "among those never seen"
            picked = "a dropping of the colour was picked"
        n = count_of(row["n_participants"], "participant")
        text = f"{_mode(row['mode'])}: where {what}, {picked}"
        text += f" in {percent(row['p_hit'])}% of turns (mean of {n}, {row['n_turns']:,} turns"
        if row["p_hit_low"] is not None and row["n_participants"] > 1:
            text += f"; interval {_points(row, 'p_hit')}"
        text += f"); a pick at random hits in {percent(row['p_chance'])}%"
        if row["p_chance_within"] is not None:
            text += f", one {among} in {percent(row['p_chance_within'])}%"
        sentences.append(text + ".")
    for row in rows_of(measures.game_outcomes):
        sentences.append(f"{_mode(row['mode'])}: {_ends(row)}. {_WIN}")
    if (dataset.games["n_players"] > 1).any():
        sentences.append(
            "Several people played at one table: what one turned up all saw, so that members of a "
            "team are not independent, while intervals and tests over participants take them as "
            "independent."
        )
    if measures.n_early_pick_rts or measures.n_early_naming_rts:
        sentences.append(
            f"{count_of(measures.n_early_pick_rts, 'pick')} and "
            f"{count_of(measures.n_early_naming_rts, 'naming')} came before the flip that showed "
            "what they answer; they count in the rates, not in the RTs."
        )
    return sentences


_WIN = "Win or lose says little about memory: a wrong pick costs nothing but time."


def _ends(row: Mapping[str, Any]) -> str:
    """Say how games ended; those that were cut short were neither won nor lost."""
    n_lost, n_cut = row["n_lost"] + row["n_die_fell"], row["n_interrupted"] + row["n_killed"]
    fell = f" ({row['n_die_fell']} of these since the die fell)" if row["n_die_fell"] else ""
    return (
        f"of {count_of(row['n_games'], 'game')} {row['n_won']} won, {n_lost} lost{fell}, "
        f"{row['n_capped']} capped by the study's limit and {n_cut} cut short"
    )


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


def _any_clipped(measures: CaptainMeasures) -> bool:
    return any(
        bool(table[name].astype(bool).any())
        for table in measures.tables.values()
        for name in table.columns
        if name.endswith("_clipped")
    )


def _mouse_of_person(dataset: CaptainDataset) -> bool:
    turns = dataset.turns
    return bool(((turns["source"] == "human") & (turns["pick_device"] == "pointer")).any())


# --- tables ---------------------------------------------------------------------------------------


def _level(settings: CaptainAnalysisSettings) -> str:
    return f"{settings.confidence:.0%} CI"


def _points(row: Mapping[str, Any], stem: str) -> str:
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    if low is None or high is None:
        return MISSING
    return interval(100 * low, 100 * high, 1) + (" *" if row.get(f"{stem}_clipped") else "")


def _test(row: Mapping[str, Any]) -> tuple[str, str, str]:
    t = MISSING if row["t"] is None else f"{number(row['t'], 2)} ({number(row['df'], 0)})"
    return number(row["dz"], 2), t, p_value(row["p"])


def _hits_table(measures: CaptainMeasures, settings: CaptainAnalysisSettings) -> ReportTable:
    header = (
        "mode", "colour", "n", "turns", "hit rate (%)", _level(settings), "chance on deck (%)",
        "chance among these (%)", "above these (points)", _level(settings), "dz", "t (df)", "p",
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
            percent(row["p_chance_within"]),
            percent(row["above_within"]),
            _points(row, "above_within"),
            *_test(row),
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
            row["mode"], row["rt"], _RT_TURNS.get(row["turns"], row["turns"]),
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


def _cue_table(measures: CaptainMeasures, settings: CaptainAnalysisSettings) -> ReportTable | None:
    if measures.cue_changes.empty:
        return None
    header = (
        "mode", "the pick has the colour of", "n", "picks", "turns", "% of turns",
        _level(settings), "chance (%)", "above chance (points)", _level(settings), "dz", "t (df)",
        "p",
    )  # fmt: skip
    rows = [
        (
            row["mode"],
            f"the {row['followed']} cue" if row["followed"] != "neither" else "neither",
            str(row["n_participants"]), f"{row['n_picks']:,}", f"{row['n_turns']:,}",
            percent(row["p_pick"]), _points(row, "p_pick"), percent(row["p_chance"]),
            percent(row["above_chance"]), _points(row, "above_chance"), *_test(row),
        )
        for row in rows_of(measures.cue_changes)
    ]  # fmt: skip
    return ReportTable(header, tuple(rows), 2)


def _cue_words(measures: CaptainMeasures) -> list[str]:
    """Say per mode which turns with a change are in the table, and why others are not."""
    return [
        f"{_mode(row['mode'])}: the die at the pick was not the one at the start in "
        f"{count_of(row['n_changed'], 'turn')}; {row['n_measured']} are in the table. Left out are "
        f"{row['n_nudged']} in which the die had been nudged since the turn before and, of the "
        f"others, {row['n_new_gone']} without a dropping of the new colour on deck at the pick and "
        f"{row['n_old_gone']} without one of the old colour."
        for row in rows_of(measures.cue_changes_left_out)
    ]


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
