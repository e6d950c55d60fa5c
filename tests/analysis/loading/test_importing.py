"""Other people's tables, and the published data, brought over to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghostblitz_analysis.dataset import load_dataset
from ghostblitz_analysis.importing import ImportReport, import_table
from ghostblitz_analysis.mapping import Mapping
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.settings_files import load_settings, read_toml, validate_settings
from tests.analysis.loading.plain_tables import DIRECT, PLAIN, plain

ROOT = Path(__file__).parents[3]
MAPPINGS = ROOT / "data" / "mappings"

Rows = list[dict[str, str]]


# --- the published data ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[ImportReport, Any]:
    source = shared / "published" / "five_objects_trials.csv"
    out = tmp_path_factory.mktemp("published") / "five"
    mapping = MAPPINGS / "styrnal2025-five-objects.toml"
    report = import_table(source, mapping=mapping, out=out)
    return report, load_dataset(out)


@pytest.mark.slow
def test_published_data_come_over_whole(published):
    report, dataset = published
    assert (report.n_rows_read, report.n_trials, report.n_participants) == (6400, 6400, 10)
    assert report.n_per_rule == {"direct": 3134, "exclusion": 3266}
    assert not report.dropped
    assert not report.incomplete
    assert dataset.complete_n_trials == 640


def test_published_error_kinds_are_those_of_the_reanalysis(published):
    trials = published[1].trials
    kinds = trials.groupby(["rule", "error_kind"]).size()
    assert kinds["direct"].sum() == 218
    assert kinds["direct", "rule_confusion"] == 142
    assert kinds["exclusion"].sum() == 186
    assert kinds["exclusion", "shape_capture"] == 121


def test_published_accuracies_are_those_of_the_reanalysis(published):
    accuracy = published[1].trials.groupby(["rule", "block_kind"])["correct"].mean().round(4)
    assert accuracy["direct", "pure"] == 0.9719
    assert accuracy["direct", "mixed"] == 0.8872
    assert accuracy["exclusion", "pure"] == 0.9438
    assert accuracy["exclusion", "mixed"] == 0.9424


def test_published_rts_of_the_stated_trials_are_those_of_the_reanalysis(published):
    dataset = published[1]
    kept = dataset.trials[
        dataset.trials["correct"]
        & (dataset.trials["trial_in_block"] >= dataset.analysis.skip_first_trials)
        & dataset.trials["rt_s"].between(
            dataset.analysis.bounds.min_rt_s, dataset.analysis.bounds.max_rt_s
        )
    ]
    log_rt = np.log(kept["rt_s"].astype(float))
    cells = [kept[name] for name in ("participant_id", "rule", "block_kind")]
    means = np.exp(log_rt.groupby(cells).mean().groupby(level=[1, 2]).mean()).round(3)
    assert means["direct", "pure"] == 0.984
    assert means["direct", "mixed"] == 1.063
    assert means["exclusion", "pure"] == 1.685
    assert means["exclusion", "mixed"] == 2.512


# --- the shipped mappings ----------------------------------------------------------------------


def test_mappings_are_shipped():
    assert len(list(MAPPINGS.glob("*.toml"))) >= 7


@pytest.mark.parametrize("path", sorted(MAPPINGS.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_mapping_is_valid(path):
    mapping = load_settings(path, Mapping)
    assert mapping.analysis.skip_first_trials == 4
    assert mapping.complete is not None
    assert mapping.complete.n_trials == 640


def shorter(name: str, n_trials: int) -> str:
    """A shipped mapping for a table with fewer trials per participant."""
    text = (MAPPINGS / name).read_text(encoding="utf-8")
    assert "n_trials = 640" in text
    return text.replace("n_trials = 640", f"n_trials = {n_trials}")


LAYOUTS = [
    ("styrnal2025-otree-three-objects.toml", 3, 3, 1),
    ("styrnal2025-otree.toml", 5, 3, 2),
    ("styrnal2025-otree-nine-objects.toml", 9, 5, 3),
]


@pytest.mark.parametrize(("name", "n_items", "n_colours", "n_pictures"), LAYOUTS)
def test_otree_layout_comes_over(bring, make_otree_rows, name, n_items, n_colours, n_pictures):
    rows = make_otree_rows(n_items, n_colours=n_colours, n_pictures=n_pictures)
    trials = bring(rows, shorter(name, 12))
    assert len(trials) == 24
    assert trials["participant_id"].unique().tolist() == ["007", "NA"]
    assert trials["card"].str.split().str.len().unique().tolist() == [n_pictures]
    assert trials["target"].tolist() == [row["player.target"] for row in rows]
    assert trials["rt_s"].tolist() == [int(row["player.rt"]) / 1000 for row in rows]
    expected = [row["player.target"] == row["player.response"] for row in rows]
    assert trials["correct"].tolist() == expected
    assert trials["block_index"].tolist() == [int(row["player.block"]) - 1 for row in rows]
    assert trials["trial_in_block"].tolist() == [int(row["player.trial"]) - 1 for row in rows]
    assert trials["trial_index"].tolist() == [*range(12)] * 2
    kinds = trials.groupby("block_index")["block_kind"].unique()
    assert [list(kind) for kind in kinds] == [["pure"], ["mixed"]]


def test_demo_blank_and_incomplete_are_dropped_and_said(bring, make_otree_rows):
    rows = make_otree_rows(5, n_colours=3, n_pictures=2)
    blank = [{**row, "player.response": "", "player.rt": ""} for row in rows[:3]]
    demo = [{**row, "participant.code": "demo", "session.is_demo": "1"} for row in rows[:5]]
    early_leaver = [{**row, "participant.code": "left"} for row in rows[:7]]
    trials = bring([*blank, *demo, *early_leaver, *rows], shorter("styrnal2025-otree.toml", 12))
    assert len(trials) == 24
    lines = bring.report.lines()
    assert "dropped 5 rows: demo session" in lines
    assert "dropped 3 rows: no response was recorded" in lines
    assert "dropped 7 rows: 1 participant without exactly 12 trials" in lines
    assert "incomplete participants, with their trials: left (7)" in lines
    assert lines[0].endswith("read 39 rows from trials.csv")
    assert lines[-1].startswith("kept 24 trials of 2 participants")


def test_three_object_rows_are_kept_though_all_are_demo(bring, make_otree_rows):
    rows = make_otree_rows(3, n_colours=3, n_pictures=1)
    rows = [{**row, "session.is_demo": "1"} for row in rows]
    assert len(bring(rows, shorter("styrnal2025-otree-three-objects.toml", 12))) == 24


@pytest.mark.parametrize(
    ("name", "n_items", "n_colours", "n_pictures"),
    [
        ("styrnal2025-three-objects.toml", 3, 3, 1),
        ("styrnal2025-three-objects-round-object.toml", 3, 3, 1),
        ("styrnal2025-nine-objects.toml", 9, 5, 3),
    ],
)
def test_preprocessed_layout_comes_over(
    bring, make_otree_rows, name, n_items, n_colours, n_pictures
):
    rows = []
    for raw in make_otree_rows(n_items, n_colours=n_colours, n_pictures=n_pictures):
        row = {key.removeprefix("player."): value for key, value in raw.items()}
        items, colours = row["round_objects"].split(), row["round_colors"].split()
        for number, (item, colour) in enumerate(zip(items, colours, strict=True), start=1):
            row |= {f"RoundObject{number}": item, f"RoundColor{number}": colour}
        if "round-object" in name:
            row["RoundObject"], row["RoundColor"] = (
                row.pop("round_objects"),
                row.pop("round_colors"),
            )
        row["BlockAttentionSet"] = row.pop("attention_set")
        row["TrialAttentionSet"] = "Direct" if row.pop("direct_cues") == "1" else "Indirect"
        row["Correct"] = str(row["target"] == row["response"]).upper()
        row["SetNumber"] = "Dual" if row["BlockAttentionSet"] == "Mixed" else "Single"
        row["rt"] += ".0"
        row["block"] += ".0"
        rows.append(row)
    trials = bring(rows, shorter(name, 12))
    assert len(trials) == 24
    assert set(trials["factor_set_number"]) == {"Single", "Dual"}


# --- the table that comes out ------------------------------------------------------------------


def test_imported_table_has_the_schema(bring):
    trials = bring(plain(f"a,{DIRECT},ghost,0.5"), PLAIN)
    assert list(trials.columns) == [c.name for c in COLUMNS]
    assert {c.name: str(trials[c.name].dtype) for c in COLUMNS} == {
        c.name: c.dtype for c in COLUMNS
    }
    assert trials["source"].unique().tolist() == ["imported"]


@pytest.mark.parametrize("identity", ["007", "NA", "01", "1", "nan", "1.0", "true", "李"])
def test_ids_are_kept_to_the_letter(bring, identity):
    trials = bring(plain(f"{identity},{DIRECT},ghost,0.5"), PLAIN)
    assert trials["participant_id"].tolist() == [identity]


def test_texts_for_missing_never_touch_ids(bring):
    mapping = PLAIN + '[source]\nmissing = ["NA"]\n[responses]\nblank = "late"\n'
    trials = bring(plain(f"NA,{DIRECT},NA,NA"), mapping)
    assert trials["participant_id"].tolist() == ["NA"]
    assert trials["error_kind"].tolist() == ["late"]


def test_same_source_gives_the_same_bytes(tmp_path, write_table, make_otree_rows):
    rows = make_otree_rows(5, n_colours=3, n_pictures=2)
    source = write_table(tmp_path / "t.csv", rows)
    mapping = tmp_path / "m.toml"
    mapping.write_text(shorter("styrnal2025-otree.toml", 12))
    for name in ("one", "two"):
        import_table(source, mapping=mapping, out=tmp_path / name)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert set(one) == {"trials.csv", "dataset.json", "analysis.toml", "mapping.toml"}
    assert one["mapping.toml"] == mapping.read_bytes()
    assert read_toml(tmp_path / "one" / "analysis.toml")["skip_first_trials"] == 4
    info = json.loads(one["dataset.json"])
    assert (info["format"], info["source"]) == ("ghostblitz-dataset", "imported")


def test_existing_folder_is_never_written_over(tmp_path):
    source, mapping, out = tmp_path / "t.csv", tmp_path / "m.toml", tmp_path / "out"
    source.write_text(plain(f"a,{DIRECT},ghost,0.5"))
    mapping.write_text(PLAIN)
    out.mkdir()
    with pytest.raises(DatasetError, match="exists already; a data set is never written over"):
        import_table(source, mapping=mapping, out=out)
    assert not list(out.iterdir())


ALL_SETTINGS = """
[analysis]
cells = ["rule", "block_kind"]
measures = ["mean_log_rt"]
correction = "fdr_by"
[analysis.bounds]
min_rt_s = 0.15
max_rt_s = 3
[[analysis.exclusions]]
step = "after_error"
[[analysis.exclusions]]
step = "van_selst_jolicoeur"
method = "nonrecursive"
[[analysis.exclusions]]
step = "sd"
n_sd = 3
within = "cell"
[[analysis.exclusions]]
step = "participants"
min_p_correct = 0.9
[[analysis.contrasts]]
name = 'a "hard" \\ name, 日本'
level = "exclusion"
reference = "direct"
within = { block_kind = "mixed" }
against = { block_kind = "pure" }
[analysis.models]
rt = []
errors = ["gee"]
items = false
[analysis.reliability]
n_splits = 7
"""


@pytest.mark.parametrize("stated", [ALL_SETTINGS, "[analysis]\nskip_first_trials = 2\n", ""])
def test_analysis_settings_of_a_mapping_are_those_of_the_data_set(tmp_path, stated):
    mapping, table = tmp_path / "m.toml", tmp_path / "t.csv"
    mapping.write_text(PLAIN + stated, encoding="utf-8")
    table.write_text(plain(f"p,{DIRECT},ghost,0.5"), encoding="utf-8")
    import_table(table, mapping=mapping, out=tmp_path / "out")
    table = read_toml(mapping).get("analysis", {})
    expected = validate_settings(table, AnalysisSettings, where="mapping")
    assert load_dataset(tmp_path / "out").analysis == expected
