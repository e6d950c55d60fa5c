from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ghostblitz_analysis.dataset import Dataset, ImportFlow
from ghostblitz_analysis.methods_paragraph import methods_paragraph
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.results import AnalysisResult, analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, ReliabilitySettings

pytestmark = pytest.mark.slow

QUICK = AnalysisSettings(reliability=ReliabilitySettings(n_splits=20))


def as_result(trials, settings=QUICK):
    sources = tuple(sorted(trials["source"].unique()))
    dataset = Dataset(Path("made"), "made", sources, trials, settings)
    return AnalysisResult(
        dataset, (), analyze_trials(trials, settings), "2026-03-04T05:06:00+00:00",
        {"Python": "3.11", "pandas": "3.1"}, Path("out"), settings_provenance(dataset),
    )  # fmt: skip


@pytest.fixture
def four(draw_trials):
    return draw_trials(
        np.random.default_rng(1), n_participants=4, n_per_cell=10, p_error=0.2, source="human"
    )


def test_exclusions_stand_in_order_with_percentages(make_trials):
    rows = [{"participant_id": "a", "source": "human"} for _ in range(7)]
    rows[0] |= {"phase": "practice"}
    rows[1] |= {"error_kind": "late"}
    rows[2] |= {"rt_s": 0.1}
    text = methods_paragraph(as_result(make_trials(rows)))
    assert text.startswith(
        "The data are 7 trials of 1 participant; 6 of them are test trials, which were analysed. "
        "In this order, "
    )
    assert text.index("not a test trial (1, 14.3%)") < text.index("(1, 14.3%); RT below 0.2 s")
    assert "RTs of correct trials from 0.2 to 10 s were used (4 RTs)" in text


def test_what_was_not_done_is_not_claimed(make_trials, four):
    alone = methods_paragraph(as_result(make_trials([{"rule": "direct"}, {"rule": "exclusion"}])))
    for claim in ("t tests", "variance", "model", "Spearman-Brown", "left out of the RT"):
        assert claim not in alone
    assert "No trial was left out." in alone
    whole = methods_paragraph(as_result(four))
    for claim in ("t tests", "variance", "mixed model of log RT", "Spearman-Brown"):
        assert claim in whole


def test_settings_and_versions_are_told(four):
    settings = QUICK.model_copy(update={"correction": "none", "alpha": 0.01, "confidence": 0.9})
    text = methods_paragraph(as_result(four, settings))
    assert "(without correction for several tests; alpha = .01), with 90% confidence" in text
    assert "over 20 splits (seed 20261130)" in text
    assert "Analyses were made with Python 3.11, pandas 3.1; settings " in text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("simulated", "simulated participants (no people)"),
        ("robot", "sessions of a robot (no people)"),
        ("imported", "participants, recorded by other software"),
    ],
)
def test_who_answered_is_said(make_trials, source, said):
    rows = [{"participant_id": p, "source": source} for p in "ab"]
    assert f"2 trials of 2 {said}" in methods_paragraph(as_result(make_trials(rows)))


def test_rows_left_out_on_import_are_counted(make_trials):
    result = as_result(make_trials([{"source": "imported"}] * 8))
    flow = ImportFlow(20, (("practice", 7), ("late", 5)), ())
    result = replace(result, dataset=replace(result.dataset, import_flow=flow))
    assert "On import, 12 of 20 rows had been left out." in methods_paragraph(result)
