from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.summary import counted_trials, sample_sentences
from ghostblitz_task.settings_files import validate_settings


@pytest.fixture
def analysis_of(draw_trials):
    def analyse(n_participants, *, models=()):
        trials = draw_trials(np.random.default_rng(1), n_participants=n_participants, n_per_cell=2)
        found = analyze_trials(trials, AnalysisSettings(), parts=("cells",))
        if models:
            fits = pd.DataFrame({"outcome": list(models)})
            found = replace(found, regression=SimpleNamespace(models=fits))
        return found

    return analyse


def test_ten_participants_are_not_said_to_be_few(analysis_of):
    assert sample_sentences(analysis_of(10)) == []


def test_what_few_participants_cannot_show_is_said(analysis_of):
    text = "9 participants are few: intervals over people are wide, "
    plain = [f"{text}and tests find only large effects."]
    assert sample_sentences(analysis_of(9)) == plain
    assert sample_sentences(analysis_of(9, models=["log_rt"])) == plain
    assert sample_sentences(analysis_of(9, models=["log_rt", "error"])) == [
        f"{text}tests find only large effects, and z tests of error models find too many."
    ]


def test_one_participant_speaks_for_nobody_else(analysis_of):
    assert sample_sentences(analysis_of(1)) == [
        "One participant: what is found is this person's and says nothing of others."
    ]


def test_trials_that_errors_are_counted_over_are_of_those_who_were_kept(make_trials):
    rows = [
        {"participant_id": person, "rule": rule, "error_kind": kind, "rt_s": 0.5}
        for person, kinds in (("a", (None, None)), ("b", (None, None)), ("c", (None, "late")))
        for rule in ("direct", "exclusion")
        for kind in kinds
    ]
    limits = validate_settings(
        {"exclusions": [{"step": "participants", "min_p_correct": 0.9}]}, AnalysisSettings,
        where="settings",
    )  # fmt: skip
    every = analyze_trials(make_trials(rows), AnalysisSettings(), parts=("cells",))
    assert counted_trials(every) == "all test trials"
    kept = analyze_trials(make_trials(rows), limits, parts=("cells",))
    assert kept.group_cells["n_trials"].tolist() == [4, 4]
    assert counted_trials(kept) == "all test trials of the 2 participants kept"
    assert sample_sentences(kept)[0].startswith("2 participants are few")
