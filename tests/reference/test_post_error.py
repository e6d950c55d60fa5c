"""Post-error slowing in the published data, against the shared folder's values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.sequences import group_effects, participant_effects
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MAPPING = ROOT / "data" / "mappings" / "styrnal2025-five-objects.toml"

#: All correct trials, as the reference has them: nothing trimmed, no first trials left out.
EVERYTHING = AnalysisSettings(
    bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6), skip_first_trials=0, cells=("rule",)
)


@pytest.fixture(scope="module")
def measured(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("post_error") / "dataset"
    import_table(shared / "published" / "five_objects_trials.csv", mapping=MAPPING, out=folder)
    flagged = flag_exclusions(load_dataset(folder).trials, EVERYTHING)
    return participant_effects(flagged, factors=("rule",))


@pytest.fixture(scope="module")
def reference(shared):
    values = json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))
    return values["published_five_objects"]["post_error_slowing"]


def overall(measured, effect):
    table = measured.effects[measured.effects["effect"] == effect]
    return table[table["rule"].isna()].set_index("participant_id")


def test_robust_slowing_of_all_participants_is_that_of_the_reference(measured, reference):
    table = overall(measured, "post_error_robust")
    assert len(reference) == len(table) == 10
    for person in reference:
        row = table.loc[person["id"]]
        assert row["n_condition"] == row["n_reference"] == person["n_pairs"]
        assert row["difference_s"] * 1000 == pytest.approx(person["pes_robust"], rel=1e-11)


def test_traditional_slowing_of_all_participants_is_that_of_the_reference(measured, reference):
    table = overall(measured, "post_error_traditional")
    for person in reference:
        found = table.loc[person["id"], "difference_s"] * 1000
        assert found == pytest.approx(person["pes_trad"], rel=1e-11)


def test_every_participant_is_among_the_means(measured):
    group = group_effects(measured, confidence=0.95)
    rows = group[group["rule"].isna()].set_index("effect")
    for effect in ("post_error_robust", "post_error_traditional", "rule_switch", "mixing"):
        assert (rows.loc[effect, "n_participants"], rows.loc[effect, "n_left_out"]) == (10, 0)
