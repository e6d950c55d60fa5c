"""The example study is simulated, stated before it was made, and told column by column."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from ghostblitz_analysis.codebook import codebook_markdown, codebook_table, write_codebook
from ghostblitz_analysis.dataset import Dataset, load_dataset
from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_measures
from ghostblitz_analysis.provenance import settings_provenance
from ghostblitz_analysis.tables import trial_frame
from ghostblitz_analysis.validation import validate_dataset
from ghostblitz_task.schema import COLUMNS
from ghostblitz_task.studies import open_study, simulate_study

FOLDER = Path(__file__).resolve().parents[2] / "data" / "example_study"
SEED, N_PARTICIPANTS = 20261130, 12
MAX_BYTES = 3_000_000


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(FOLDER)


@pytest.mark.slow
def test_the_example_study_is_simulated_and_says_so(dataset: Dataset) -> None:
    assert dataset.sources == ("simulated",)
    assert dataset.trials["participant_id"].nunique() == N_PARTICIPANTS
    for name in ("README.md", "codebook.md"):
        assert "Simulated data" in (FOLDER / name).read_text(encoding="utf-8"), name


@pytest.mark.slow
def test_the_example_study_was_analysed_as_stated_before_it_was_made(dataset: Dataset) -> None:
    assert dataset.analysis_stated
    assert settings_provenance(dataset).status == "yes"
    assert not [f for f in validate_dataset(dataset) if f.severity != "info"]


@pytest.mark.slow
def test_the_example_study_is_small(dataset: Dataset) -> None:
    assert sum(f.stat().st_size for f in FOLDER.rglob("*") if f.is_file()) < MAX_BYTES


def test_every_cell_of_the_example_study_has_trials_of_everybody(dataset: Dataset) -> None:
    flagged = flag_exclusions(dataset.trials, dataset.analysis)
    cells = cell_measures(flagged, factors=("rule", "block_kind"))
    for kind, n_trials in {"pure": 30, "mixed": 50}.items():
        rows = cells[cells["block_kind"] == kind]
        assert len(rows) == 2 * N_PARTICIPANTS
        assert set(rows["n_trials"]) == {n_trials}


@pytest.mark.slow
def test_the_stated_command_makes_the_example_study_again(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("study.toml", "analysis.toml"):
        shutil.copy(FOLDER / name, tmp_path)
    study = open_study(tmp_path)
    simulate_study(study, tmp_path, n_participants=N_PARTICIPANTS, seed=SEED)
    pd.testing.assert_frame_equal(load_dataset(tmp_path).trials, dataset.trials)
    command = f"simulate data/example_study --participants {N_PARTICIPANTS} --seed {SEED}"
    assert command in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_codebook_of_the_example_study_is_that_of_the_schema(
    dataset: Dataset, tmp_path: Path
) -> None:
    for file in write_codebook(dataset, tmp_path):
        assert file.read_bytes() == (FOLDER / file.name).read_bytes(), (
            f"{file.name} is not what the schema says; make it anew: "
            "python -m ghostblitz_analysis.codebook data/example_study"
        )


def test_a_codebook_has_a_row_for_every_column_and_says_what_the_schema_says() -> None:
    trials = trial_frame({"rt_s": [0.7, None, None], "factor_age": ["20", None, "30"]}, 3)
    table = codebook_table(trials).set_index("column")
    assert list(table.index) == list(trials.columns)
    for column in COLUMNS:
        row = table.loc[column.name].fillna("").to_dict()
        assert row["meaning"] == column.meaning
        assert row["levels"] == " | ".join(column.levels)
        assert row["unit"] == (column.unit or "")
        assert row["missing_when"] == (column.null_when or "")
    assert table.loc["rt_s", "n_missing"] == 2
    added = table.loc["factor_age"].to_dict()
    assert (added["group"], added["type"], added["n_missing"]) == ("factor", "text", 1)
    assert set(table["n_rows"]) == {3}


def test_a_codebook_for_people_holds_every_column_once_and_no_broken_row(
    dataset: Dataset,
) -> None:
    lines = codebook_markdown(dataset).splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == sorted(dataset.trials.columns)
    assert {row.count("|") for row in rows} == {8}
