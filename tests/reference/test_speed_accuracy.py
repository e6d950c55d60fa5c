"""IES, RCS, LISAS, BIS and EZ diffusion against the values of another program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.ez_diffusion import ez_parameters
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.speed_accuracy import speed_accuracy_results

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MAPPING = ROOT / "data" / "mappings" / "styrnal2025-five-objects.toml"
RULES = {"Direct": "direct", "Indirect": "exclusion"}


@pytest.fixture(scope="module")
def values(shared):
    return json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(shared, tmp_path_factory):
    """All trials of both block kinds, nothing left out, as the reference has it."""
    folder = tmp_path_factory.mktemp("published") / "dataset"
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=MAPPING, out=folder)
    settings = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6), cells=("rule",))
    flagged = flag_exclusions(load_dataset(folder).trials, settings)
    return speed_accuracy_results(flagged, factors=("rule",), settings=settings)


def compared(values, table, columns):
    """Compare all twenty cells to the eight decimals that the reference gives."""
    table = table.set_index(["participant_id", "rule"])
    cells = values["published_five_objects"]["cells"]
    assert len(cells) == len(table) == 20
    for cell in cells:
        row = table.loc[(cell["id"], RULES[cell["rule"]])]
        assert row["n_trials"] == cell["n"]
        for name, (column, unit) in columns.items():
            assert row[column] * unit == pytest.approx(cell[name], abs=5.1e-9), (cell["id"], name)


def test_scores_of_the_published_cells(values, results):
    columns = {"pc": ("p_correct", 1), "mrt": ("mean_rt_s", 1000), "ies": ("ies_s", 1000),
               "rcs": ("rcs_per_s", 1), "lisas": ("lisas_s", 1000), "bis": ("bis", 1)}  # fmt: skip
    compared(values, results.participant_cells, columns)


def test_diffusion_parameters_of_the_published_cells(values, results):
    columns = {"vrt": ("var_rt_s2", 1), "v": ("v", 1), "a": ("a", 1), "ter": ("ter_s", 1)}
    compared(values, results.ez_participant_cells, columns)


def test_published_cells_with_more_than_ten_percent_errors_are_counted(values, results):
    cells = values["published_five_objects"]["cells"]
    group = results.group_cells.set_index(["score", "rule"])["n_flagged"]
    for name, rule in RULES.items():
        n_many = sum(cell["rule"] == name and cell["pc"] < 0.9 for cell in cells)
        assert n_many == 2
        assert group[("ies_s", rule)] == n_many


def test_published_cells_with_a_negative_non_decision_time_are_flagged(values, results):
    cells = values["published_five_objects"]["cells"]
    negative = {(cell["id"], RULES[cell["rule"]]) for cell in cells if cell["ter"] < 0}
    assert len(negative) == 3
    table = results.ez_participant_cells
    flagged = table[table["negative_ter"]]
    found = set(flagged[["participant_id", "rule"]].itertuples(index=False, name=None))
    assert found == negative
    assert table["descriptive"].all()
    assert (table["n_items"] == 5).all()


def test_worked_example_of_ez_diffusion(values):
    example = values["ez_diffusion"]
    found = ez_parameters(
        example["p_correct"], example["var_rt_s2"], example["mean_rt_s"], n_trials=1000,
        s=example["s"],
    )  # fmt: skip
    assert float(found.v) == pytest.approx(example["v"], rel=1e-12)
    assert float(found.a) == pytest.approx(example["a"], rel=1e-12)
    assert float(found.ter_s) == pytest.approx(example["ter_s"], rel=1e-12)
