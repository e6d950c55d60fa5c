"""The main results in words and as text for a terminal; every number comes from the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ghostblitz_analysis.dataset import Dataset
from ghostblitz_analysis.models import REFERENCE_RULE
from ghostblitz_analysis.paper_sentences import (
    contrast_sentences,
    model_sentences,
    reliability_sentences,
)
from ghostblitz_analysis.results import Analysis, AnalysisResult
from ghostblitz_analysis.rule_misses import BASE_RULES
from ghostblitz_analysis.table_rows import rows_of
from ghostblitz_analysis.wording import (
    MISSING,
    cards_name,
    cell_name,
    count_of,
    interval,
    number,
    p_value,
    percent,
    proportion,
    source_note,
)

__all__ = [
    "company_sentences",
    "counted_trials",
    "error_sentences",
    "hat_sentences",
    "import_sentence",
    "rt_sentences",
    "sample_sentences",
    "summary_text",
]

#: Fewer participants are said to be few. A choice; no standard exists.
_FEW_PARTICIPANTS = 10


def sample_sentences(analysis: Analysis) -> list[str]:
    """Warn of what cannot be concluded from few participants; nothing where they are not few."""
    n = _n_kept(analysis)
    if n >= _FEW_PARTICIPANTS:
        return []
    if n == 1:
        return ["One participant: what is found is this person's and says nothing of others."]
    text = f"{n} participants are few: intervals over people are wide, "
    if not _has_z_tests_of_errors(analysis):
        return [f"{text}and tests find only large effects."]
    return [f"{text}tests find only large effects, and z tests of error models find too many."]


def _has_z_tests_of_errors(analysis: Analysis) -> bool:
    """Say whether an error model that is to be read has tests without degrees of freedom."""
    if analysis.regression is None:
        return False
    effects = analysis.regression.fixed_effects
    read = (effects["outcome"] == "error") & effects["selected"]
    return bool((read & effects["statistic"].notna() & effects["df"].isna()).any())


def counted_trials(analysis: Analysis) -> str:
    """Name the trials that accuracy and errors are counted over: ``all test trials``.

    Where stated limits took participants out, say how many were kept.
    """
    text = f"all {' and '.join(analysis.settings.phases)} trials"
    n_kept = _n_kept(analysis)
    if n_kept == analysis.n_participants:
        return text
    return f"{text} of the {count_of(n_kept, 'participant')} kept"


def _n_kept(analysis: Analysis) -> int:
    """Return the number of participants whom no stated limit took out."""
    left = analysis.participants_left_out
    return analysis.n_participants - (0 if left is None else left["participant_id"].nunique())


def rt_sentences(analysis: Analysis) -> list[str]:
    """Say per contrast how much longer a rule took than direct matches, and in how many people.

    The contrast of exclusion is the planned one; those of further rules share a sentence. Where
    there is no contrast, say which RTs there are.
    """
    level = f"{analysis.settings.confidence:.0%} CI"
    sentences, further = [], []
    for row in rows_of(analysis.contrasts):
        if row["contrast"].split(" / ")[0] not in BASE_RULES:
            if row["rt_ratio"] is not None:
                further.append(_short_contrast(analysis, row))
            continue
        where = _where(analysis, row)
        rule, reference = row["contrast"].split(" / ")
        if row["rt_ratio"] is None:
            sentences.append(
                f"{where}no participant has RTs for both {reference} and {rule} cards."
            )
            continue
        text = (
            f"{where}{rule} cards took {number(row['rt_ratio'], 2)} times as long as {reference} "
            "cards"
        )
        if row["rt_ratio_low"] is None:
            text += f" ({row['note']})"
        else:
            text += f" ({level} {interval(row['rt_ratio_low'], row['rt_ratio_high'], 2)}"
            text += f"; {count_of(row['n_participants'], 'participant')})"
        text += f": {_rt_of(analysis, row, rule)} against {_rt_of(analysis, row, reference)}"
        sentences.append(text + ".")
    if further:
        sentences.append(
            f"further rules against {REFERENCE_RULE}, as ratios of RTs: {'; '.join(further)}."
        )
    if not sentences:
        for row in rows_of(analysis.group_cells):
            rt = row["geometric_mean_rt_s"]
            found = (
                f"a geometric mean RT of {number(rt, 3)} s" if rt is not None else "no usable RT"
            )
            name = cell_name({factor: row[factor] for factor in analysis.factors})
            sentences.append(f"{name} cards: {found}; there is no other rule to compare with.")
    return [text[0].upper() + text[1:] for text in sentences]


def _short_contrast(analysis: Analysis, row: Mapping[str, Any]) -> str:
    others = {factor: row[factor] for factor in analysis.factors if factor != "rule"}
    where = f" in {cell_name(others)}" if others else ""
    text = f"{row['contrast'].split(' / ')[0]} {number(row['rt_ratio'], 2)}{where}"
    if row["rt_ratio_low"] is not None:
        text += f" {interval(row['rt_ratio_low'], row['rt_ratio_high'], 2)}"
    return text


def error_sentences(analysis: Analysis) -> list[str]:
    """Say per rule, and mode if there are two, how many trials were wrong, and mostly how.

    A kind of wrong item never stands without the share that it would have by chance. More than a
    few groups share a sentence per mode, without kinds.
    """
    groups = _error_groups(analysis)
    if len(groups) > _MAX_ERROR_GROUPS:
        return _error_rates(groups)
    sentences = []
    for levels, rows in groups:
        n_errors, n_trials = rows[0]["n_errors"], rows[0]["n_trials"]
        share = percent(n_errors / n_trials) if n_trials else MISSING
        name = cards_name(levels)
        text = f"{name[0].upper()}{name[1:]}: {n_errors:,} of {count_of(n_trials, 'trial')} wrong"
        text += f" ({share}%)"
        if n_errors:
            text += f", {_most_often(rows)}"
        sentences.append(text + ".")
    return sentences


def _error_rates(groups: Sequence[tuple[dict[str, str], list[dict[str, Any]]]]) -> list[str]:
    of_mode: dict[str, list[str]] = {}
    for levels, rows in groups:
        n_errors, n_trials = rows[0]["n_errors"], rows[0]["n_trials"]
        share = percent(n_errors / n_trials) if n_trials else MISSING
        found = of_mode.setdefault(levels.get("mode", ""), [])
        found.append(f"{levels['rule']} {share}% ({n_errors:,} of {n_trials:,})")
    return [
        f"Wrong{f' in {mode} trials' if mode else ''}: {', '.join(found)}."
        for mode, found in of_mode.items()
    ]


def hat_sentences(analysis: Analysis) -> list[str]:
    """Say what it cost to grab the hat for the item under it; nothing where there is no hat."""
    if analysis.hat is None:
        return []
    level = f"{analysis.settings.confidence:.0%} CI"
    sentences = []
    for row in rows_of(analysis.hat.costs):
        if row["rt_ratio"] is None:
            continue
        text = (
            f"{row['rule'].capitalize()} cards whose target was under the hat took "
            f"{number(row['rt_ratio'], 2)} times as long as plain ones"
        )
        if row["rt_ratio_low"] is not None:
            bounds = interval(row["rt_ratio_low"], row["rt_ratio_high"], 2)
            text += f" ({level} {bounds}; {count_of(row['n_participants'], 'participant')})"
        if row["p_error_difference"] is not None:
            points = percent(abs(row["p_error_difference"]))
            more = "more" if row["p_error_difference"] >= 0 else "fewer"
            text += f", with {points} percentage points {more} errors"
        sentences.append(text + ".")
    return sentences


def company_sentences(analysis: Analysis) -> list[str]:
    """Say who took the cards, against whom; nothing where no card was played for."""
    company = analysis.company
    if company is None:
        return []
    counts = company.rules.sum(numeric_only=True)
    n_rounds, n_took, n_late = (int(counts[f"n_{n}"]) for n in ("rounds", "took", "too_late"))
    who = "The participants" if analysis.n_participants > 1 else "The participant"
    text = f"{who} took the card in {percent(n_took / n_rounds)}% of {count_of(n_rounds, 'round')}"
    if company.most_players > 1:
        text += " (each counted once for every player)"
    if company.rival_kinds:
        share = percent(counts["n_rival_took"] / counts["n_rival_rounds"])
        text += f", the simulated rival in {share}%"
    if n_took + n_late:
        n_right = n_took + n_late
        text += (
            f"; {n_late:,} of {count_of(n_right, 'right answer')} ({percent(n_late / n_right)}%) "
            "came too late for the card"
        )
    sentences = [f"{text}."]
    ratios = [
        f"{row['rule']} {number(row['rt_ratio'], 2)}"
        + (
            f" {interval(row['rt_ratio_low'], row['rt_ratio_high'], 2)}"
            if row["rt_ratio_low"] is not None
            else ""
        )
        for row in rows_of(company.contrasts)
    ]
    if ratios:
        sentences.append(
            "RTs against the simulated rival's on the same cards, as ratios: "
            f"{', '.join(ratios)} (below 1: the participants were faster)."
        )
    return sentences


def import_sentence(dataset: Dataset) -> str:
    """Say how many rows an import left out; empty where it left out none, or none was made."""
    flow = dataset.import_flow
    n_out = sum(n for _, n in flow.dropped) if flow else 0
    if flow is None or not n_out:
        return ""
    verb = "was" if n_out == 1 else "were"
    text = f"{n_out:,} of {count_of(flow.n_rows_read, 'row')} {verb} left out on import"
    if flow.incomplete:
        text += f", with {count_of(len(flow.incomplete), 'incomplete participant')}"
    return text


def _error_groups(analysis: Analysis) -> list[tuple[dict[str, str], list[dict[str, Any]]]]:
    """Return the levels and the rows of each group of `Analysis.error_groups`."""
    by = [factor for factor in analysis.factors if factor in ("rule", "mode")]
    groups = analysis.error_groups.groupby(by, sort=False)
    return [
        (dict(zip(by, map(str, levels), strict=True)), rows_of(rows)) for levels, rows in groups
    ]


def _most_often(rows: Sequence[Mapping[str, Any]]) -> str:
    most = max(row["n"] for row in rows)
    tops = [row for row in rows if row["n"] == most]
    kinds = " and ".join(row["error_kind"].replace("_", " ") for row in tops)
    top, n_errors, n_items = tops[0], rows[0]["n_errors"], rows[0]["n_wrong_items"]
    text = f"most often {kinds} ({most:,} of {n_errors:,}"
    if len(tops) > 1:
        return f"{text} each)"
    chance = top["p_by_chance"]
    if chance is None:
        return f"{text})"
    if n_items < n_errors:
        text += f" errors and of {count_of(n_items, 'wrong item')}"
    if chance > 1 - _ROUNDING:
        return f"{text}; the only kind of wrong item that these cards allow)"
    return f"{text}; {percent(chance)}% by chance among wrong items)"


def summary_text(result: AnalysisResult) -> str:
    """Return what the command prints: cells, contrasts, errors, and where the report is."""
    analysis, dataset = result.analysis, result.dataset
    head = f"{dataset.name}: {count_of(analysis.n_participants, 'participant')}, "
    head += count_of(len(analysis.trials), "trial")
    note = source_note(analysis.sources)
    left_out = import_sentence(dataset)
    blocks = [
        _grave_lines(result),
        head
        + (f"  ({note.upper()})" if note else "")
        + (f"\n{left_out}; see the flow of exclusions in the report" if left_out else "")
        + "".join(f"\n{sentence}" for sentence in sample_sentences(analysis)),
        _cell_lines(analysis),
        _contrast_lines(analysis),
        _statistics_lines(analysis),
        _error_lines(analysis),
        _hat_lines(analysis),
        _company_lines(analysis),
        _finding_lines(result),
        f"Report: {result.report}",
    ]
    return "\n\n".join(block for block in blocks if block)


def _cell_lines(analysis: Analysis) -> str:
    header = [*(_factor_title(f) for f in analysis.factors)]
    n_left = len(header)
    header += ["trials", "accuracy", "RTs", "of people"]
    header += ["geom. mean RT (s)", "mean (s)", "median (s)"]
    rows = [
        [
            *(str(row[factor]) for factor in analysis.factors),
            str(row["n_trials"]),
            proportion(row["p_correct"], 4),
            str(row["n_rt"]),
            str(row["n_participants"]),
            number(row["geometric_mean_rt_s"], 3),
            number(row["mean_rt_s"], 3),
            number(row["median_rt_s"], 3),
        ]
        for row in rows_of(analysis.group_cells)
    ]
    title = "RT of correct trials (mean over participants) and accuracy (all trials)"
    return f"{title}\n{_aligned(header, rows, n_left)}"


def _contrast_lines(analysis: Analysis) -> str:
    if analysis.contrasts.empty:
        return ""
    others = [factor for factor in analysis.factors if factor != "rule"]
    header = [*(_factor_title(f) for f in others), "contrast"]
    n_left = len(header)
    header += ["people", "RT ratio", f"{analysis.settings.confidence:.0%} CI", "dz", "t", "df", "p"]
    rows, notes = [], []
    for row in rows_of(analysis.contrasts):
        rows.append(
            [
                *(str(row[factor]) for factor in others),
                row["contrast"],
                str(row["n_participants"]),
                number(row["rt_ratio"], 3),
                interval(row["rt_ratio_low"], row["rt_ratio_high"], 3),
                number(row["dz"], 2),
                number(row["t"], 2),
                MISSING if row["df"] is None else str(row["df"]),
                p_value(row["p"]),
            ]
        )
        where = _where(analysis, row)
        if row["note"]:
            notes.append(f"  {where}{row['note']}")
        if row["n_left_out"]:
            notes.append(f"  {where}left out for want of RTs: {_named(row['left_out'])}")
    return "\n".join(["RT per rule", _aligned(header, rows, n_left), *notes])


def _statistics_lines(analysis: Analysis) -> str:
    """Return the first planned contrast, model and reliability; the report has the others."""
    found = (
        contrast_sentences(analysis, measure=analysis.settings.measures[0]),
        model_sentences(analysis),
        reliability_sentences(analysis),
    )
    firsts = [f"  {sentences[0]}" for sentences in found if sentences]
    return "\n".join(["Statistics (the first of each; all are in the report)", *firsts])


def _error_lines(analysis: Analysis) -> str:
    lines = ["Errors"]
    for levels, found in _error_groups(analysis):
        kinds = [f"{r['error_kind'].replace('_', ' ')} {r['n']}" for r in found if r["n"]]
        kinds_text = f": {', '.join(kinds)}" if kinds else ""
        errors, trials = found[0]["n_errors"], found[0]["n_trials"]
        text = f"{count_of(errors, 'error')} in {count_of(trials, 'trial')}"
        lines.append(f"  {cell_name(levels)}: {text}{kinds_text}")
    return "\n".join(lines)


def _hat_lines(analysis: Analysis) -> str:
    sentences = hat_sentences(analysis)
    return "\n".join(["The hat", *(f"  {text}" for text in sentences)]) if sentences else ""


def _company_lines(analysis: Analysis) -> str:
    sentences = company_sentences(analysis)
    return "\n".join(["The cards", *(f"  {text}" for text in sentences)]) if sentences else ""


def _grave_lines(result: AnalysisResult) -> str:
    grave = [f for f in result.findings if f.severity == "error"]
    lines = [f"ERROR: {f.where}: {f.message}" for f in grave[:_MAX_FINDINGS]]
    more = len(grave) - len(lines)
    return "\n".join(
        lines + ([f"and {count_of(more, 'more error')} in the report"] if more else [])
    )


def _finding_lines(result: AnalysisResult) -> str:
    shown = [f for f in result.findings if f.severity == "warning"]
    lines = [f"  {f.severity}: {f.where}: {f.message}" for f in shown[:_MAX_FINDINGS]]
    more = len(shown) - len(lines)
    lines += [f"  and {more} more in the report"] if more else []
    return "\n".join(["To look at", *lines]) if lines else ""


_MAX_FINDINGS = 10
#: Rules and modes that have a sentence each on their errors.
_MAX_ERROR_GROUPS = 4
#: Shares are means of many fractions; 1 may come out a little less.
_ROUNDING = 1e-9
_MAX_NAMES = 10


def _named(left_out: str) -> str:
    names = json.loads(left_out)
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _where(analysis: Analysis, row: Mapping[str, Any]) -> str:
    others = {factor: row[factor] for factor in analysis.factors if factor != "rule"}
    return f"in {cell_name(others)}, " if others else ""


def _rt_of(analysis: Analysis, row: Mapping[str, Any], rule: str) -> str:
    cells = analysis.group_cells
    wanted = {f: rule if f == "rule" else row[f] for f in analysis.factors}
    match = (cells[list(analysis.factors)] == pd.Series(wanted)).all(axis=1)
    return f"{number(cells.loc[match, 'geometric_mean_rt_s'].iloc[0], 3)} s"


def _factor_title(factor: str) -> str:
    return factor.replace("block_kind", "blocks")


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int) -> str:
    """Lay a table out in columns: the first so many left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join(
        "  "
        + "  ".join(
            text.ljust(width) if i < n_left else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in [header, *rows]
    )
