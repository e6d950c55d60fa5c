"""Measures: closed forms, recovery from simulated players, and the report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.captain.dataset import CaptainDataset, load_captain_dataset
from ghostblitz_analysis.captain.measures import DISTANCES, LAGS, CaptainMeasures, measure, wilson
from ghostblitz_analysis.captain.pipeline import analyze_captain, captain_summary
from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings
from ghostblitz_task.errors import DatasetError
from ghostblitz_task.studies import open_study, simulate_study

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = CaptainAnalysisSettings()

pytestmark = pytest.mark.slow


def measured(dataset: CaptainDataset, **settings: Any) -> CaptainMeasures:
    return measure(dataset.turns, dataset.games, CaptainAnalysisSettings(**settings))


def row_of(table: pd.DataFrame, **levels: str) -> pd.Series:
    chosen = table
    for name, level in levels.items():
        chosen = chosen[chosen[name] == level]
    assert len(chosen) == 1
    return chosen.iloc[0]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CaptainDataset]:
    """Eight players of each model, three static games each."""
    folder = tmp_path_factory.mktemp("models")
    study = open_study(ROOT / "experiments" / "captain-static")
    loaded = {}
    for model in ("perfect", "forgetting", "guessing"):
        simulate_study(study, folder / model, n_participants=8, seed=11, model=model)
        loaded[model] = load_captain_dataset(folder / model)
    return loaded


# --- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_hits", "n"), [(0, 7), (3, 10), (10, 10)])
def test_wilson_is_the_set_of_p_that_the_score_test_keeps(n_hits, n):
    low, high = wilson(n_hits, n, confidence=0.95)
    z = 1.959963984540054
    for p in (low, high):
        if 0 < p < 1:
            assert abs(n_hits / n - p) / np.sqrt(p * (1 - p) / n) == pytest.approx(z)
    assert np.isnan(wilson(0, 0, confidence=0.95)).all()


def test_bins_cover_every_lag_and_distance():
    for bins in (LAGS, DISTANCES):
        assert bins[-1][2] == np.inf
        assert [high for _, _, high in bins] == sorted(high for _, _, high in bins)


def test_hits_are_counted_from_the_turns(models):
    dataset = models["forgetting"]
    turns = dataset.turns
    own = turns[(turns["phase"] == "test") & (turns["player_id"] == "sim-00003")]
    own = own[~own["censored"] & own["claimed"].isna()]
    known = own[own["is_known"]]
    found = row_of(measured(dataset).participant_hits, player_id="sim-00003", colour="known")
    assert found["n_turns"] == len(known)
    assert found["n_hits"] == int(known["hit_given_known"].sum())
    assert found["p_chance"] == pytest.approx(float(known["p_chance_known"].mean()))


def test_chance_is_what_lay_on_deck(models):
    turns = models["guessing"].turns
    picked = turns[turns["dropping_id"].notna()]
    assert (picked["p_chance"] == picked["n_cue_colour"] / picked["n_on_deck"]).all()
    assert (picked["n_unseen"] <= picked["n_on_deck"]).all()


def test_practice_and_censored_turns_and_claims_are_left_out(models):
    dataset = models["perfect"]
    both = measured(dataset, phases=("practice", "test"))
    test_only = measured(dataset)
    n_practice = int((dataset.turns["phase"] == "practice").sum())
    assert both.n_turns + both.n_claims + both.n_censored == len(dataset.turns)
    assert test_only.n_turns < both.n_turns <= test_only.n_turns + n_practice
    censored = dataset.turns.assign(censored=True)
    assert measure(censored, dataset.games, SETTINGS).n_turns == 0


# --- recovery -------------------------------------------------------------------------------------


def test_perfect_memory_always_picks_a_known_dropping(models):
    hits = row_of(measured(models["perfect"]).hits, mode="static", colour="known")
    assert hits["p_hit"] == 1.0
    assert hits["n_turns"] > 100
    assert np.isnan(hits["p_hit_low"])  # All the same: an interval of width 0 is none.


def test_perfect_memory_hits_unknown_colours_as_chance_among_the_unseen_has_it(models):
    hits = row_of(measured(models["perfect"]).hits, mode="static", colour="unknown")
    se = np.sqrt(hits["p_chance_unseen"] * (1 - hits["p_chance_unseen"]) / hits["n_turns"])
    assert abs(hits["n_hits"] / hits["n_turns"] - hits["p_chance_unseen"]) < 3.5 * se
    assert hits["p_chance_unseen"] > hits["p_chance"]


@pytest.mark.parametrize("colour", ["known", "unknown"])
def test_guessing_is_at_chance(models, colour):
    hits = row_of(measured(models["guessing"]).hits, mode="static", colour=colour)
    se = np.sqrt(hits["p_chance"] * (1 - hits["p_chance"]) / hits["n_turns"])
    assert abs(hits["n_hits"] / hits["n_turns"] - hits["p_chance"]) < 3.5 * se
    assert hits["above_chance_low"] < 0 < hits["above_chance_high"]


def test_forgetting_lies_between_and_falls_with_the_lag(models):
    found = {m: measured(d) for m, d in models.items()}
    known = {m: row_of(f.hits, mode="static", colour="known")["p_hit"] for m, f in found.items()}
    assert known["guessing"] + 0.15 < known["forgetting"] < known["perfect"] - 0.05
    bins = found["forgetting"].bins
    lags = bins[bins["by"] == "lag"].set_index("bin")
    early = lags.loc[["1", "2"], ["n_hits", "n_turns"]].sum()
    late = lags.loc[["6–8", "9+"], ["n_hits", "n_turns"]].sum()
    assert early["n_hits"] / early["n_turns"] > late["n_hits"] / late["n_turns"] + 0.1


def test_rts_and_naming_are_those_of_the_model(models):
    found = measured(models["forgetting"])
    pick = row_of(found.rts, rt="pick", turns="hit")
    # Ex-Gaussian with mean 1.7 s: its geometric mean is a little lower.
    assert 1.4 < pick["geometric_mean_rt_s"] < 1.75
    naming = row_of(found.rts, rt="naming", turns="all")
    assert 0.6 < naming["geometric_mean_rt_s"] < 0.8
    (row,) = found.naming.to_dict("records")
    assert 0.95 < row["p_right"] < 1.0  # The model misnames one in fifty.
    perfect = measured(models["perfect"]).naming.iloc[0]
    assert perfect["n_misnamed"] == 0


def test_guessing_players_win_too(models):
    outcomes = measured(models["guessing"]).game_outcomes.iloc[0]
    assert outcomes["n_won"] == outcomes["n_games"] == 24


# --- with the Eye, and the report -----------------------------------------------------------------


@pytest.fixture(scope="module")
def result(moving_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return analyze_captain(moving_data, out=tmp_path_factory.mktemp("out") / "R")


def test_static_and_moving_games_are_kept_apart(result):
    assert set(result.measures.hits["mode"]) == {"static", "moving"}
    bins = result.measures.bins
    assert set(bins.loc[bins["by"] == "distance", "mode"]) == {"moving"}
    changes = result.measures.cue_changes
    assert set(changes["mode"]) == {"moving"}
    assert changes["p_of_turns"].sum() == pytest.approx(1.0)


def test_report_says_that_the_data_are_simulated_and_what_a_win_says(result):
    page = result.report.read_text(encoding="utf-8")
    assert "<title>data (simulated data, not people): the captain" in page
    assert "SIMULATED DATA" in page
    assert "Win or lose says little about memory" in page
    assert page.count("simulated data, not people") > 12  # each figure and table
    assert "http" not in page.replace("http://www.w3.org", "").replace("https://www.w3.org", "")
    assert "Win or lose says little about memory" in captain_summary(result)
    assert "SIMULATED DATA, NOT PEOPLE" in captain_summary(result)


def test_every_file_is_written_and_listed(result):
    record = json.loads((result.out / "analysis.json").read_text(encoding="utf-8"))
    files = {p.relative_to(result.out).as_posix() for p in result.out.rglob("*") if p.is_file()}
    assert files == set(record["files"])
    assert record["dataset"]["sources"] == ["simulated"]
    for name in ("hits", "hits_by_lag", "hits_by_distance", "pick_rt"):
        assert f"figures/{name}.svg" in files
    for name in ("turns", "games", "hits", "bins", "rts", "cue_changes", "naming"):
        table = pd.read_csv(result.out / "tables" / f"{name}.csv")
        assert set(table["source"]) == {"simulated"}
        assert len(table)


def test_another_data_sets_results_are_not_written_over(result, static_data):
    with pytest.raises(DatasetError, match="holds the analysis of another data set"):
        analyze_captain(static_data, out=result.out)


def test_analysis_settings_of_the_data_set_are_used(static_data, tmp_path):
    import shutil

    data = tmp_path / "data"
    shutil.copytree(static_data, data)
    (data / "analysis.toml").write_text('phases = ["practice"]\nconfidence = 0.9\n')
    found = analyze_captain(data, out=tmp_path / "R")
    assert found.settings.confidence == 0.9
    assert found.measures.n_turns <= 5 * 4


def test_commands_find_the_game_by_themselves(tmp_path):
    def ghostblitz(*arguments: str) -> str:
        command = [sys.executable, "-m", "ghostblitz_task.cli", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    data, out = str(tmp_path / "data"), str(tmp_path / "R")
    study = str(ROOT / "experiments" / "captain-static")
    said = ghostblitz("simulate", study, "--participants", "2", "--seed", "1", "--out", data)
    assert "2 simulated sessions" in said
    said = ghostblitz("analyze", data, "--out", out)
    assert "Without the Eye" in said
    assert (tmp_path / "R" / "report.html").is_file()
