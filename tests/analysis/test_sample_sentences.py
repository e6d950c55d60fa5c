from __future__ import annotations

import numpy as np
import pytest

from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, ModelSettings
from ghostblitz_analysis.summary import counted_trials, sample_sentences
from ghostblitz_task.settings_files import validate_settings


@pytest.fixture
def analysis_of(draw_trials):
    def analyse(n_participants, *, errors=None):
        trials = draw_trials(
            np.random.default_rng(1), n_participants=n_participants, n_per_cell=20, p_error=0.2
        )
        if errors is None:
            return analyze_trials(trials, AnalysisSettings(), parts=("cells",))
        models = ModelSettings(rt=("log_rt",), errors=errors, items=False)
        return analyze_trials(trials, AnalysisSettings(models=models), parts=("regression",))

    return analyse


def test_ten_participants_are_not_said_to_be_few(analysis_of):
    assert sample_sentences(analysis_of(10)) == []


def test_what_few_participants_cannot_show_is_said(analysis_of):
    text = "9 participants are few: intervals over people are wide, "
    plain = [f"{text}and tests find only large effects."]
    assert sample_sentences(analysis_of(9)) == plain
    assert sample_sentences(analysis_of(9, errors=())) == plain
    # Tests of this model have degrees of freedom.
    assert sample_sentences(analysis_of(9, errors=("gee",))) == plain


def test_z_tests_of_few_participants_are_said_to_find_too_many_effects(analysis_of):
    (sentence,) = sample_sentences(analysis_of(9, errors=("mixed_logit",)))
    assert sentence.endswith("effects, and z tests of error models find too many.")


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
