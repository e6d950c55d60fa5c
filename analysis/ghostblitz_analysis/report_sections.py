"""The sections of a paper: for each what is said, drawn and tabled, and who is left out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ghostblitz_analysis.effect_tables import (
    practice_tables,
    reliability_remarks,
    reliability_tables,
    sequence_remarks,
    sequence_tables,
)
from ghostblitz_analysis.measure_tables import (
    distribution_remarks,
    distribution_tables,
    speed_accuracy_remarks,
    speed_accuracy_tables,
)
from ghostblitz_analysis.paper_sentences import (
    anova_sentences,
    contrast_sentences,
    model_sentences,
    reliability_sentences,
    sequence_sentences,
)
from ghostblitz_analysis.paper_tables import (
    anova_tables,
    inference_remarks,
    planned_tables,
    sensitivity_tables,
)
from ghostblitz_analysis.results import Analysis
from ghostblitz_analysis.table_columns import ToldTable

__all__ = ["PLACED_FIGURES", "Section", "figures_left", "paper_sections"]

#: Figures that the page itself places, with the section to which each belongs.
PLACED_FIGURES: Mapping[str, str] = {
    "rt_by_cell": "rt",
    "rt_distribution": "distributions",
    "accuracy_by_cell": "accuracy",
    "error_kinds": "errors",
    "rt_over_session": "session",
    "hat_rt": "hat",
    "hat_lag": "hat",
    "company_rounds": "company",
}
#: What the name of any other figure begins with, and the section at whose end it stands.
_BEGINNINGS = {
    "planned_contrasts": "contrasts",
    "rt_raincloud": "rt",
    "speed_accuracy": "speed_accuracy",
    "sequence": "sequences",
    "reliability": "reliability",
    "model": "models",
    "errors_over_session": "session",
    "practice": "session",
    "error": "errors",
    "accuracy": "accuracy",
    "rt_": "distributions",
    "ex_gaussian": "distributions",
}
_LAST = "models"


@dataclass(frozen=True, slots=True)
class Section:
    """What a section of the report shows.

    Attributes
    ----------
    sentences : list of str
        Results in words, for people to quote.
    tables : list of ToldTable
        In order.
    remarks : list of str
        What the notes of the tables say, and everyone who is left out.
    """

    sentences: list[str] = field(default_factory=list)
    tables: list[ToldTable] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.sentences or self.tables)


def paper_sections(analysis: Analysis) -> dict[str, Section]:
    """Return the sections by their anchors; those without results are empty."""
    return {
        "sensitivity": Section(tables=sensitivity_tables(analysis)),
        "contrasts": Section(
            contrast_sentences(analysis), planned_tables(analysis), inference_remarks(analysis)
        ),
        "anova": Section(anova_sentences(analysis), anova_tables(analysis)),
        "distributions": Section(
            tables=distribution_tables(analysis), remarks=distribution_remarks(analysis)
        ),
        "speed_accuracy": Section(
            tables=speed_accuracy_tables(analysis), remarks=speed_accuracy_remarks(analysis)
        ),
        "sequences": Section(
            sequence_sentences(analysis), sequence_tables(analysis), sequence_remarks(analysis)
        ),
        "session": Section(tables=practice_tables(analysis)),
        "reliability": Section(
            reliability_sentences(analysis),
            reliability_tables(analysis),
            reliability_remarks(analysis),
        ),
        "models": Section(model_sentences(analysis)),
    }


def figures_left(names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the figures that the page does not place itself, by the section of each."""
    found: dict[str, list[str]] = {}
    for name in names:
        if name not in PLACED_FIGURES:
            home = next((s for start, s in _BEGINNINGS.items() if name.startswith(start)), _LAST)
            found.setdefault(home, []).append(name)
    return found
