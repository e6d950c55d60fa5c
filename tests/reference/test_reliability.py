"""Reliability against published examples, R's psych, and the published data read by other means."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.reliability import (
    intraclass_correlations,
    measurement_error,
    reliability_results,
    spearman_brown,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings, ReliabilitySettings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MAPPING = ROOT / "data" / "mappings" / "styrnal2025-five-objects.toml"
#: Made by reliability.R; which versions of R and psych is in the file.
PSYCH = json.loads((Path(__file__).parent / "reliability.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def values(shared):
    return json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def published(shared, tmp_path_factory):
    """All correct trials of the published data, nothing left out, in two cells."""
    folder = tmp_path_factory.mktemp("published")
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=MAPPING, out=folder / "dataset")
    everything = AnalysisSettings(
        bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6),
        cells=("rule",),
        measures=("mean_rt_s", "median_rt_s", "p_correct"),
        reliability=ReliabilitySettings(n_splits=400, seed=1),
    )
    flagged = flag_exclusions(load_dataset(folder / "dataset").trials, everything)
    return reliability_results(flagged, factors=("rule",), settings=everything)


def effects_of(published):
    table = published.split_half
    return table[table["kind"] == "rule_effect"].set_index("measure")


def test_intraclass_correlations_are_those_of_the_reference(values):
    reference = values["icc_shrout_fleiss_1979"]
    found = intraclass_correlations(reference["ratings"], confidence=0.95)
    assert [one.icc_type for one in found] == reference["order"].split(", ")
    assert [one.icc for one in found] == pytest.approx(reference["icc"], abs=5e-11)


@pytest.mark.parametrize("name", list(PSYCH["examples"]))
def test_coefficients_tests_and_intervals_are_those_of_psych(name):
    example = PSYCH["examples"][name]
    found = intraclass_correlations(example["scores"], confidence=example["confidence"])
    for one, row in zip(found, example["icc"], strict=True):
        assert one.icc_type == row["type"]
        assert (one.df_1, one.df_2) == (row["df1"], row["df2"])
        for mine, theirs in (("icc", "ICC"), ("f", "F"), ("low", "low"), ("high", "high")):
            assert getattr(one, mine) == pytest.approx(row[theirs], rel=1e-8)
        assert one.p == pytest.approx(row["p"], rel=1e-6)


@pytest.mark.parametrize("name", list(PSYCH["examples"]))
def test_the_error_of_measurement_is_that_of_variance_components(name):
    example = PSYCH["examples"][name]
    error = measurement_error(example["scores"], confidence=example["confidence"])
    sessions, residual = example["variance"]["sessions"], example["variance"]["residual"]
    assert error.sem_consistency**2 == pytest.approx(residual, rel=1e-8)
    assert error.sem_agreement**2 == pytest.approx(max(sessions, 0) + residual, rel=1e-8)


def test_spearman_brown_is_that_of_the_reference(values):
    for example in values["spearman_brown"]:
        found = spearman_brown(example["r"], length_factor=example["k"])
        assert found == pytest.approx(example["value"], abs=1e-12)


def test_odd_and_even_trials_of_the_published_data_correlate_as_their_table_says(shared, published):
    table = pd.read_csv(shared / "published" / "five_objects_trials.csv")
    correct = table[table["response"] == table["target"]]
    people, rule = "participant.code", "TrialAttentionSet"
    means = correct.groupby([people, correct["trial"] % 2, rule])["rt"].mean().unstack()
    effects = (means["Indirect"] - means["Direct"]).unstack()
    r = np.corrcoef(effects[0], effects[1])[0, 1]
    rows = effects_of(published)
    row = rows.loc["mean_rt_s"]
    assert row["n_odd_even"] == 10
    assert row["r_odd_even"] == pytest.approx(r, rel=1e-12)
    assert row["spearman_brown_odd_even"] == pytest.approx(2 * r / (1 + r), rel=1e-12)


def test_random_halves_of_the_published_data_are_those_of_a_plain_loop(shared, published):
    """Other random splits, so the mean correlation agrees within their standard errors."""
    table = pd.read_csv(shared / "published" / "five_objects_trials.csv")
    correct = table[table["response"] == table["target"]]
    cells = [
        [of_rule["rt"].to_numpy() / 1000 for _, of_rule in of_person.groupby("TrialAttentionSet")]
        for _, of_person in correct.groupby("participant.code")
    ]
    rng, n_splits = np.random.default_rng(9), 400
    found = {"mean_rt_s": [], "median_rt_s": []}
    for _ in range(n_splits):
        halves = [
            [np.array_split(rng.permutation(rts), 2) for rts in of_person] for of_person in cells
        ]
        for measure, average in (("mean_rt_s", np.mean), ("median_rt_s", np.median)):
            scores = [
                [average(exclusion[half]) - average(direct[half]) for half in (0, 1)]
                for direct, exclusion in halves
            ]
            found[measure].append(np.corrcoef(np.transpose(scores))[0, 1])
    rows = effects_of(published)
    for measure, r in found.items():
        tolerance = 4 * np.std(r) * np.sqrt(2 / n_splits)
        assert rows.loc[measure, "r"] == pytest.approx(np.mean(r), abs=tolerance)
