"""Which tables a manuscript gets, under which titles and with which notes.

The cells are those of the report's page, so that page and files show the same words and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ghostblitz_analysis.effect_tables import (
    reliability_remarks,
    reliability_tables,
    sequence_tables,
)
from ghostblitz_analysis.paper.manuscript_table import ManuscriptTable
from ghostblitz_analysis.paper_sentences import MEASURES
from ghostblitz_analysis.paper_tables import (
    anova_tables,
    limits_table,
    model_parts,
    planned_tables,
    sensitivity_tables,
)
from ghostblitz_analysis.report_tables import (
    ReportTable,
    accuracy_notes,
    accuracy_table,
    cells_table,
    error_meanings,
    errors_tables,
    flow_table,
)
from ghostblitz_analysis.results import Analysis, AnalysisResult
from ghostblitz_analysis.summary import counted_trials
from ghostblitz_analysis.table_columns import ToldTable, levels_in, remarks
from ghostblitz_analysis.wording import cell_name, count_of, source_note

__all__ = ["manuscript_tables"]

#: Longer notes are cut: their whole text is in the column ``note`` of the CSV file.
_MAX_REMARKS = 8

#: A table before it has the notes that every table gets: stem, title, cells, what to say of it.
_Part = tuple[str, str, ReportTable, Iterable[str]]


def manuscript_tables(result: AnalysisResult) -> list[ManuscriptTable]:
    """Return the tables of a manuscript, in the order in which a paper shows them.

    Parameters
    ----------
    result : AnalysisResult
        Parts that its data do not give have no table.

    Returns
    -------
    list of ManuscriptTable
        Flow of exclusions; RT and accuracy per cell; planned contrasts and analysis of variance;
        fixed and random effects of each model; kinds of error with their chance level; sequence
        effects; reliability; sensitivity to exclusions. Stems are unique.
    """
    analysis = result.analysis
    parts = (
        *_exclusions(result),
        *_descriptives(analysis),
        *_tests(analysis),
        *_models(analysis),
        *_errors(analysis),
        *_sequences(analysis),
        *_several(
            "reliability",
            "Reliability",
            reliability_tables(analysis),
            reliability_remarks(analysis),
        ),
        *_several("sensitivity", "Sensitivity to exclusions", sensitivity_tables(analysis), ()),
    )
    return [
        ManuscriptTable(stem, title, table, _note(analysis, table, said))
        for stem, title, table, said in parts
        if table.rows
    ]


def _exclusions(result: AnalysisResult) -> Iterator[_Part]:
    said = (
        "Steps in their order. Meet it: trials to which the reason applies; newly out: those of "
        "them that no step before had taken out; left: trials that are left after the step.",
    )
    yield "exclusions", "Flow of exclusions", flow_table(result), said
    limits = limits_table(result.analysis)
    if limits is not None:
        yield "participants_left_out", "Participants who are left out", limits, ()


def _descriptives(analysis: Analysis) -> Iterator[_Part]:
    said = (
        "n: participants; RTs: correct responses that no exclusion took. Geometric mean with its "
        "t interval on log RT over participants; mean and median: means over participants.",
        *remarks(analysis.group_cells, lambda row: cell_name(levels_in(row))),
    )
    yield "rt_per_cell", "Reaction times per cell", cells_table(analysis), said
    notes = (
        f"Over {counted_trials(analysis)}; the interval is that of the mean of participants, cut "
        "at 0 and 100%.",
        *_sentences(accuracy_notes(analysis)),
    )
    yield "accuracy_per_cell", "Accuracy per cell", accuracy_table(analysis), notes


def _tests(analysis: Analysis) -> Iterator[_Part]:
    if analysis.inference is None:
        return
    planned, anova = analysis.inference.planned_contrasts, analysis.inference.anova
    measures = list(dict.fromkeys(planned["measure"]))
    tables = planned_tables(analysis)
    for measure, told in zip(measures, tables, strict=False):
        notes = remarks(
            planned[planned["measure"] == measure],
            lambda row: ", ".join([row["name"], *([row["mode"]] if row["mode"] else [])]),
        )
        title = f"Planned contrasts of {MEASURES[measure]}"
        yield f"planned_contrasts_{measure}", title, told.table, (told.caption, *notes)
    for told in tables[len(measures) :]:
        title = "Planned contrasts: further effect sizes and rank tests"
        yield "planned_contrasts_effect_sizes", title, told.table, (told.caption,)
    notes = remarks(anova, lambda row: MEASURES[row["measure"]])
    yield from _several("anova", "Analyses of variance", anova_tables(analysis), notes)


def _models(analysis: Analysis) -> Iterator[_Part]:
    for part in model_parts(analysis):
        name = f"{part.name[0].lower()}{part.name[1:]}"
        stem = f"model_{_stem(name)}"
        said = [f"Formula: {part.formula}", f"coding: {part.coding}", part.how]
        about = _sentences(["; ".join(text for text in said if text)])
        if part.fixed is not None:
            title = f"Fixed effects of the {name}"
            yield f"{stem}_fixed", title, part.fixed, [*about, *part.remarks]
        if part.random is not None:
            yield f"{stem}_random", f"Random effects of the {name}", part.random, about


def _errors(analysis: Analysis) -> Iterator[_Part]:
    meanings = [f"{kind}: {meaning}" for kind, meaning in error_meanings(analysis)]
    said = (
        "Chance share: the share that the kind would have among wrong items if errors fell on all "
        "cards, and on all wrong items of a card, alike.",
        *_sentences(["; ".join(meanings)] if meanings else []),
    )
    tables = errors_tables(analysis)
    for number, table in enumerate(tables, start=1):
        of = f", part {number} of {len(tables)}" if len(tables) > 1 else ""
        stem = f"error_kinds_{number}" if len(tables) > 1 else "error_kinds"
        yield stem, f"Kinds of errors and their shares by chance{of}", table, said


def _sequences(analysis: Analysis) -> Iterator[_Part]:
    if analysis.sequences is None:
        return
    table = analysis.sequences.effects
    # Effects differ in whom they leave out, so that the names would be longer than the table.
    noted = table.loc[table["rule"].isna(), ["effect", "mode", "note"]]
    said = (
        "n: participants with enough RTs for the effect; the columns left_out and left_out_errors "
        "of the CSV file name the others.",
        *remarks(noted, lambda row: cell_name(levels_in(row)) or "all trials"),
    )
    yield from _several("sequence_effects", "Sequence effects", sequence_tables(analysis), said)


def _several(
    stem: str, title: str, tables: Sequence[ToldTable], notes: Iterable[str]
) -> Iterator[_Part]:
    """Give the tables of a section; what was left out, and why, stands below the first."""
    for number, told in enumerate(tables, start=1):
        if number == 1:
            yield stem, title, told.table, (told.caption, *notes)
        else:
            name = told.fold or told.caption.partition(":")[0].removesuffix(".")
            further = f"{title}: {name[0].lower()}{name[1:]}"
            yield f"{stem}_{number}", further, told.table, (told.caption,)


# --- notes ---------------------------------------------------------------------------------


def _note(analysis: Analysis, table: ReportTable, said: Iterable[str]) -> str:
    note = source_note(analysis.sources)
    parts = [*said]
    more = len(parts) - _MAX_REMARKS
    if more > 0:
        parts = [*parts[:_MAX_REMARKS], f"{count_of(more, 'further note')} in the CSV file."]
    if table.n_more:
        parts.append(f"{count_of(table.n_more, 'further row')} in the CSV file.")
    if table.stem:
        parts.append(f"Made of {table.stem}.csv.")
    people = f"The data hold {count_of(analysis.n_participants, 'participant')}."
    return " ".join([*_sentences([note] if note else []), people, *parts])


def _sentences(texts: Iterable[str]) -> list[str]:
    return [f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in texts if text]


def _stem(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
