"""The figures of ../shared/published/README.md, from its file through import and analysis."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ghostblitz_analysis.importing import import_table
from ghostblitz_analysis.intervals import cousineau_morey, mean_interval
from ghostblitz_analysis.pipeline import analyze_dataset
from ghostblitz_analysis.results import analyze_trials
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_analysis.summary import summary_text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MAPPING = ROOT / "data" / "mappings" / "styrnal2025-five-objects.toml"


@pytest.fixture(scope="module")
def values(shared):
    return json.loads((shared / "reference" / "values.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def published(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    source = shared / "published" / "five_objects_trials.csv"
    import_table(source, mapping=MAPPING, out=folder / "dataset")
    return analyze_dataset(folder / "dataset", out=folder / "out")


def test_cousineau_morey_gives_what_rmisc_gives(values):
    reference = values["cousineau_morey"]
    scores = np.column_stack([reference["pretest"], reference["posttest"]])
    se, half_width = cousineau_morey(scores, confidence=0.95)
    assert se == pytest.approx([reference["se"]] * 2, abs=5e-11)
    assert half_width == pytest.approx([reference["ci95_half_width"]] * 2, abs=5e-10)


def cells(published, column):
    table = published.analysis.group_cells.set_index(["block_kind", "rule"])[column]
    order = [("pure", "direct"), ("mixed", "direct"), ("pure", "exclusion"), ("mixed", "exclusion")]
    return [table[cell] for cell in order]


def test_geometric_means_are_those_of_the_readme(published):
    found = [round(value, 3) for value in cells(published, "geometric_mean_rt_s")]
    assert found == [0.984, 1.063, 1.685, 2.512]


def test_accuracies_are_those_of_the_readme(published):
    # Pooled over trials; halves are rounded up there (1510 of 1600 is .94375).
    found = [np.floor(value * 1e4 + 0.5 + 1e-9) for value in cells(published, "p_correct")]
    assert found == [9719, 8872, 9438, 9424]
    assert sum(cells(published, "n_trials")) == 6400


def test_contrasts_are_those_of_the_readme(published):
    table = published.analysis.contrasts.set_index("block_kind")
    columns = ["rt_ratio", "rt_ratio_low", "rt_ratio_high"]
    assert table.loc["pure", columns].astype(float).round(3).tolist() == [1.714, 1.434, 2.047]
    assert table.loc["mixed", columns].astype(float).round(3).tolist() == [2.362, 2.040, 2.736]
    assert table["dz"].round(2).tolist() == [2.16, 4.19]
    assert table["n_participants"].tolist() == [10, 10]
    assert table["n_left_out"].tolist() == [0, 0]


def test_errors_are_those_of_the_readme(published):
    totals = published.analysis.error_totals.set_index(["rule", "error_kind"])
    direct, exclusion = totals.loc["direct"], totals.loc["exclusion"]
    assert (direct["n_errors"].iloc[0], direct.loc["rule_confusion", "n"]) == (218, 142)
    assert (exclusion["n_errors"].iloc[0], exclusion.loc["shape_capture", "n"]) == (186, 121)


def test_wrong_items_are_compared_with_those_that_the_cards_offer(published):
    """The chance share, counted again card by card without `item_role`."""
    trials = published.dataset.trials
    n, confusions = 0, 0.0
    for row in trials[trials["rule"] == "direct"].itertuples():
        own = dict(pair.split(":") for pair in row.item_colours.split())
        pictures = [pair.split(":") for pair in row.card.split()]
        shown = {colour for _, colour in pictures}
        lures = [item for item in own if item != row.target]
        free = [i for i in lures if i not in dict(pictures) and own[i] not in shown]
        n, confusions = n + 1, confusions + len(free) / len(lures)
    totals = published.analysis.error_totals.set_index(["rule", "error_kind"])
    found = totals.loc[("direct", "rule_confusion"), "p_by_chance"]
    assert found == pytest.approx(confusions / n, rel=1e-12)
    assert round(found, 3) == 0.228


@pytest.mark.parametrize(
    "figure",
    [
        "0.984", "1.063", "1.685", "2.512", ".9719", ".8872", ".9438", ".9424",
        "1.714  [1.434, 2.047]  2.16", "2.362  [2.040, 2.736]  4.19",
        "direct: 218 errors", "rule confusion 142", "exclusion: 186 errors", "shape capture 121",
    ],
)  # fmt: skip
def test_the_command_prints_the_figures_of_the_readme(published, figure):
    assert figure in summary_text(published)


@pytest.mark.parametrize("figure", ["0.984", "2.512", "1.714", "2.736", "97.19", "94.38", "142"])
def test_the_report_shows_the_figures_of_the_readme(published, figure):
    assert f">{figure}<" in published.report.read_text(encoding="utf-8").replace("[", ">").replace(
        "]", "<"
    ).replace(", ", "<>")


def test_means_over_all_correct_trials_are_those_of_the_reference(published, values):
    """All correct trials of both block kinds, nothing left out: the reference's other figures."""
    reference = values["published_five_objects"]["participant_mean_correct_rt_ms"]
    everything = AnalysisSettings(
        bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6), skip_first_trials=0, cells=("rule",)
    )
    analysis = analyze_trials(published.dataset.trials, everything)
    direct, exclusion = analysis.group_cells["mean_rt_s"] * 1000
    assert direct == pytest.approx(reference["direct"], rel=1e-12)
    assert exclusion == pytest.approx(reference["exclusion"], rel=1e-12)
    wide = analysis.participant_cells.pivot(
        index="participant_id", columns="rule", values="mean_rt_s"
    ).to_numpy(dtype=float)
    test = mean_interval((wide[:, 1] - wide[:, 0]) * 1000, confidence=0.95)
    assert test.t == pytest.approx(reference["paired_t9"], rel=1e-10)
    assert test.p == pytest.approx(reference["p"], rel=1e-10)
    se, _ = cousineau_morey(wide * 1000, confidence=0.95)
    assert se == pytest.approx([reference["cousineau_morey_se"]] * 2, rel=1e-10)


def test_participants_cells_are_those_of_the_reference(published, values):
    everything = AnalysisSettings(
        bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6), skip_first_trials=0, cells=("rule",)
    )
    table = analyze_trials(published.dataset.trials, everything).participant_cells
    table = table.set_index(["participant_id", "rule"])
    names = {"Direct": "direct", "Indirect": "exclusion"}
    reference = values["published_five_objects"]["cells"]
    assert len(reference) == 20
    for cell in reference:
        row = table.loc[(cell["id"], names[cell["rule"]])]
        assert row["n_trials"] == cell["n"]
        assert row["p_correct"] == pytest.approx(cell["pc"], abs=5e-9)
        assert row["mean_rt_s"] * 1000 == pytest.approx(cell["mrt"], abs=5e-9)
        assert row["sd_rt_s"] ** 2 == pytest.approx(cell["vrt"], abs=5e-9)
