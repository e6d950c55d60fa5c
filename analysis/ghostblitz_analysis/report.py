"""One self-contained HTML page: what was found, in whom, how, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ghostblitz_analysis.apa import as_html
from ghostblitz_analysis.card_examples import card_examples, inline_svg
from ghostblitz_analysis.citations import citations
from ghostblitz_analysis.company_tables import games_table, rival_table, rounds_table
from ghostblitz_analysis.dataset import analysis_file
from ghostblitz_analysis.figure_captions import figure_captions
from ghostblitz_analysis.hat_tables import (
    costs_table,
    hat_cells_table,
    hat_errors_tables,
    lags_table,
)
from ghostblitz_analysis.methods_paragraph import methods_paragraph
from ghostblitz_analysis.page_templates import page_templates
from ghostblitz_analysis.paper_sentences import effect_title
from ghostblitz_analysis.paper_tables import fits_table, limits_table, model_parts
from ghostblitz_analysis.plots import kinds_are_pooled
from ghostblitz_analysis.report_sections import figures_left, paper_sections
from ghostblitz_analysis.report_tables import (
    ReportTable,
    accuracy_notes,
    accuracy_table,
    cells_table,
    contrasts_table,
    error_meanings,
    errors_tables,
    flow_table,
    incomplete_people,
    left_out,
    participants_tables,
    rules_table,
    runs_table,
)
from ghostblitz_analysis.results import Analysis, AnalysisResult
from ghostblitz_analysis.self_tests import self_test_part
from ghostblitz_analysis.sequences.effects import EFFECT_MEANINGS
from ghostblitz_analysis.summary import (
    company_sentences,
    counted_trials,
    error_sentences,
    hat_sentences,
    import_sentence,
    rt_sentences,
    sample_sentences,
)
from ghostblitz_analysis.wording import count_of, number
from ghostblitz_task.errors import DatasetError

__all__ = ["render_report"]


#: Rules beside direct and exclusion, the first that applies before the next.
_PRECEDENCE = ("mirror-owl", "mirror", "time")
_SEVERITIES = ("error", "warning", "info")


def render_report(result: AnalysisResult, figures_svg: Mapping[str, str]) -> str:
    """Return the page.

    Parameters
    ----------
    result : AnalysisResult
        Everything to report.
    figures_svg : mapping of str to str
        The figures as SVG, by the names that `build_figures` gives.

    Returns
    -------
    str
        HTML that loads nothing from anywhere; every text of the data is escaped.
    """
    analysis, dataset = result.analysis, result.dataset
    page = (
        page_templates()
        .get_template("report.html.j2")
        .render(
            dataset=dataset,
            analysis=analysis,
            result=result,
            settings=analysis.settings,
            trials=lambda n: count_of(n, "trial"),
            n_participants=count_of(analysis.n_participants, "participant"),
            n_trials=count_of(len(analysis.trials), "trial"),
            games=_listed(analysis.trials["game"]),
            studies=_listed(analysis.trials["study_id"]),
            banners=_banners(analysis.trials),
            sample_sentences=sample_sentences(analysis),
            counted_trials=counted_trials(analysis),
            rt_sentences=rt_sentences(analysis),
            error_sentences=error_sentences(analysis),
            hat_sentences=hat_sentences(analysis),
            company_sentences=company_sentences(analysis),
            examples=card_examples(analysis.trials),
            figures={name: inline_svg(name, svg) for name, svg in figures_svg.items()},
            cells=cells_table(analysis),
            accuracy=accuracy_table(analysis),
            accuracy_notes=accuracy_notes(analysis),
            captions=_captions(analysis),
            figure_captions=figure_captions(analysis),
            figures_left=figures_left(figures_svg),
            sections=paper_sections(analysis),
            models=model_parts(analysis),
            fits=fits_table(analysis),
            effect_meanings=_effect_meanings(analysis),
            limits=limits_table(analysis),
            as_html=as_html,
            methods=methods_paragraph(result),
            references=citations(analysis),
            provenance=result.provenance,
            settings_text=_settings_text(result),
            n_rt=int(analysis.group_cells["n_rt"].sum()),
            contrasts=contrasts_table(analysis),
            left_out=left_out(analysis),
            errors=errors_tables(analysis),
            error_meanings=error_meanings(analysis),
            further_rules=[r for r in _PRECEDENCE if r in set(analysis.group_cells["rule"])],
            other_kinds=kinds_are_pooled(analysis.error_groups),
            rules=rules_table(analysis),
            hat=_hat_part(analysis),
            company=_company_part(analysis),
            participants=participants_tables(analysis),
            runs=runs_table(result),
            flow=flow_table(result),
            left_out_on_import=import_sentence(dataset),
            incomplete=incomplete_people(dataset.import_flow),
            grave=[finding for finding in result.findings if finding.severity == "error"],
            timed_here=bool({"human", "robot"} & set(analysis.sources)),
            findings=sorted(result.findings, key=lambda f: _SEVERITIES.index(f.severity)),
            notes=_further_notes(result),
            timing=_timing(analysis.trials),
            self_tests=self_test_part(dataset.path, dataset.runs),
            n_polled=sum(run.keys_polled is True for run in dataset.runs),
            settings_json=json.dumps(analysis.settings.model_dump(mode="json"), indent=2),
        )
    )
    return page


@dataclass(frozen=True, slots=True)
class HatPart:
    """The tables on the hat; those that cannot be made are null."""

    cells: ReportTable
    costs: ReportTable | None
    errors: list[ReportTable]
    lags: ReportTable | None


def _hat_part(analysis: Analysis) -> HatPart | None:
    hat, confidence = analysis.hat, analysis.settings.confidence
    if hat is None:
        return None
    costs, lags = costs_table(hat, confidence=confidence), lags_table(hat, confidence=confidence)
    return HatPart(
        cells=replace(hat_cells_table(hat, confidence=confidence), stem="hat_group_cells"),
        costs=None if costs is None else replace(costs, stem="hat_costs"),
        errors=[replace(table, stem="hat_error_kinds") for table in hat_errors_tables(hat)],
        lags=None if lags is None else replace(lags, stem="hat_lags"),
    )


@dataclass(frozen=True, slots=True)
class CompanyPart:
    """The tables on playing for cards, and against whom; what cannot be made is null."""

    rounds: ReportTable
    rival: ReportTable | None
    games: ReportTable
    rival_kinds: tuple[str, ...]
    most_players: int
    has_people: bool


def _company_part(analysis: Analysis) -> CompanyPart | None:
    company = analysis.company
    if company is None:
        return None
    rival = rival_table(company, confidence=analysis.settings.confidence)
    return CompanyPart(
        rounds=replace(rounds_table(company), stem="company_rules"),
        rival=None if rival is None else replace(rival, stem="company_rival"),
        games=replace(games_table(company), stem="company_participants"),
        rival_kinds=company.rival_kinds,
        most_players=company.most_players,
        has_people="human" in analysis.sources,
    )


# --- what stands at the top -----------------------------------------------------------------


def _banners(trials: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return kind, big words and explanation for each source that is not people at our screen."""
    words = {
        "simulated": (
            "SIMULATED DATA",
            "A program answered, through the same session, scoring and log as a person would. "
            "These figures show that the machinery works; they say nothing about people.",
        ),
        "robot": (
            "PLAYED BY A ROBOT",
            "A program watched the screen and pressed keys after drawn delays. These RTs test the "
            "apparatus; they say nothing about people.",
        ),
        "imported": (
            "IMPORTED DATA",
            "These trials were recorded by other software. Every card was solved again here; what "
            "the apparatus did, and how exact its times are, is not known.",
        ),
    }
    people = trials.groupby("source")["participant_id"].unique()
    n_people = trials["participant_id"].nunique()
    banners = []
    for source, (big, text) in words.items():
        if source not in people.index:
            continue
        if len(people) > 1:
            found = sorted(map(str, people[source]))
            big += f" ({len(found):,} of {count_of(n_people, 'participant')})"
            text = (
                f"Only {_named(found)}: {_PARTLY[source]} The numbers below pool them with others."
            )
        banners.append((source, big, text))
    return banners


#: What the banner says of some of the participants.
_PARTLY = {
    "simulated": "there a program answered, and these trials say nothing about people.",
    "robot": "there a program watched the screen and pressed keys, and these trials say nothing "
    "about people.",
    "imported": "these trials were recorded by other software, and how exact its times are is "
    "not known.",
}
_MAX_NAMED = 10


def _named(people: list[str]) -> str:
    more = len(people) - _MAX_NAMED
    return ", ".join(people[:_MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _captions(analysis: Analysis) -> dict[str, str]:
    """Return the captions that promise intervals only where there are any."""
    level, cells = f"{analysis.settings.confidence:.0%}", analysis.group_cells
    if analysis.n_participants == 1:
        contrasts = (
            "Ratio of geometric mean RTs, and difference of mean RTs; one participant gives "
            "neither intervals nor a test."
        )
        return {
            "rt": "Diamonds: the participant's geometric mean RTs; one participant gives no "
            "interval.",
            "contrasts": contrasts,
            "accuracy": "Diamonds: the participant's accuracy; one participant gives no interval.",
            "accuracy_table": f"Over {counted_trials(analysis)}.",
        }
    within = cells["geometric_mean_within_rt_low_s"].notna().any()
    of_accuracy = cells["p_correct_low"].notna().any()
    rt = "Dots and thin lines: participants' geometric mean RTs. Diamonds: the group's mean"
    norming = ", normed within each mode" if "mode" in analysis.factors else ""
    return {
        "rt": f"{rt} with its {level} within-participant interval (Cousineau-Morey{norming}), "
        "which serves comparisons between cells."
        if within
        else f"{rt}; there is no within-participant interval.",
        "contrasts": "Ratio of geometric mean RTs, and difference of mean RTs, over the "
        "participants that have both; paired t test on log RT, two-sided; dz: mean over SD of the "
        "log differences.",
        "accuracy": "Dots and thin lines: participants. Diamonds: mean over participants"
        + (f" with its {level} t interval." if of_accuracy else "; there is no interval."),
        "accuracy_table": f"Over {counted_trials(analysis)}. The interval is that of the mean of "
        "participants, cut at 0 and 100%.",
    }


def _further_notes(result: AnalysisResult) -> list[str]:
    """Return what loading noted and no finding repeats (a torn log is a finding of its run)."""
    said = {finding.message for finding in result.findings}
    return [] if result.dataset.runs else [n for n in result.dataset.notes if n not in said]


def _effect_meanings(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the sequence effects in the tables, each with what it compares."""
    if analysis.sequences is None:
        return []
    found = dict.fromkeys(analysis.sequences.effects["effect"])
    return [(effect_title(name), EFFECT_MEANINGS.get(name, "")) for name in found]


def _settings_text(result: AnalysisResult) -> str:
    """Return the analysis settings as they stand in the data set; empty where none do."""
    file = analysis_file(result.dataset.path)
    try:
        return file.read_text(encoding="utf-8") if file else ""
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror}") from error


# --- timing ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timing:
    """What the trials say about timing; null where it is not recorded.

    Attributes
    ----------
    n_virtual : int
        Trials of simulated participants, in which nothing was shown and no time was measured;
        all other counts leave them out.
    n_synchronised, n_unsynchronised, n_unknown : int
        Trials by whether flips were seen to wait for the screen.
    n_dropped : int or None
        Trials in which a frame was missed while the card was shown.
    longest_frame_ms : str
        The longest frame while a card was shown.
    resolution_ms : str
        How coarsely response times are known, at worst.
    devices : str
        What responses came from.
    """

    n_virtual: int
    n_synchronised: int
    n_unsynchronised: int
    n_unknown: int
    n_dropped: int | None
    longest_frame_ms: str
    resolution_ms: str
    devices: str


def _timing(all_trials: pd.DataFrame) -> Timing:
    trials = all_trials[all_trials["source"] != "simulated"]
    synchronised = trials["display_synchronised"]
    dropped = trials["n_dropped_frames"]
    devices = trials["response_device"].dropna().value_counts()
    return Timing(
        n_virtual=len(all_trials) - len(trials),
        n_synchronised=int(synchronised.fillna(False).sum()),
        n_unsynchronised=int((~synchronised.fillna(True)).sum()),
        n_unknown=int(synchronised.isna().sum()),
        n_dropped=int((dropped > 0).fillna(False).sum()) if dropped.notna().any() else None,
        longest_frame_ms=_worst_ms(trials["longest_frame_s"]),
        resolution_ms=_worst_ms(trials["response_resolution_s"]),
        devices=", ".join(f"{str(name).replace('_', ' ')} ({n:,})" for name, n in devices.items()),
    )


def _worst_ms(values_s: pd.Series) -> str:
    found = values_s.dropna()
    return number(float(found.max()) * 1000, 1) if len(found) else ""


# --- small pieces ---------------------------------------------------------------------------


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted({str(value) for value in values}))
