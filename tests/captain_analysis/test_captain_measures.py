"""Measures: closed forms, recovery from simulated players, and the report."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.captain.dataset import CaptainDataset, load_captain_dataset
from ghostblitz_analysis.captain.measures import (
    DISTANCES,
    LAGS,
    CaptainMeasures,
    _proportion,
    measure,
    wilson,
)
from ghostblitz_analysis.captain.pipeline import analyze_captain, captain_summary
from ghostblitz_analysis.captain.report import captain_sentences, render_captain_report
from ghostblitz_analysis.captain.settings import CaptainAnalysisSettings, load_analysis
from ghostblitz_analysis.intervals import mean_interval
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.studies import open_study, simulate_study

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = CaptainAnalysisSettings()

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_figures")]


def measured(dataset: CaptainDataset, **settings: Any) -> CaptainMeasures:
    return measure(
        dataset.turns, dataset.games, dataset.changes, CaptainAnalysisSettings(**settings)
    )


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
    assert measure(censored, dataset.games, dataset.changes, SETTINGS).n_turns == 0


# --- recovery -------------------------------------------------------------------------------------


def test_perfect_memory_always_picks_a_known_dropping(models):
    hits = row_of(measured(models["perfect"]).hits, mode="static", colour="known")
    assert hits["p_hit"] == 1.0
    assert hits["n_turns"] > 100
    assert np.isnan(hits["p_hit_low"])  # All the same: an interval of width 0 is none.


def test_perfect_memory_hits_unknown_colours_as_chance_among_the_unseen_has_it(models):
    hits = row_of(measured(models["perfect"]).hits, mode="static", colour="unknown")
    se = np.sqrt(hits["p_chance_within"] * (1 - hits["p_chance_within"]) / hits["n_turns"])
    assert abs(hits["n_hits"] / hits["n_turns"] - hits["p_chance_within"]) < 3.5 * se
    assert hits["p_chance_within"] > hits["p_chance"]
    assert hits["above_within_low"] < 0 < hits["above_within_high"]


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
    assert changes["p_pick"].sum() == pytest.approx(1.0)
    assert changes["p_chance"].sum() == pytest.approx(1.0)
    assert changes["above_chance"].sum() == pytest.approx(0.0)


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


# --- changes of the die, early acts, words --------------------------------------------------------


def changes_of_guessers(n_players: int, n_turns: int) -> pd.DataFrame:
    """Turns of players who pick any dropping, with every reason to leave a turn out."""
    rng = np.random.default_rng(7)
    rows = []
    for player in range(n_players):
        for _ in range(n_turns):
            n_on_deck = int(rng.integers(3, 13))
            n_new = int(rng.integers(0, 3))
            n_old = int(rng.integers(0, n_on_deck - n_new))
            p = np.array([n_new, n_old, n_on_deck - n_new - n_old]) / n_on_deck
            rows.append(
                {
                    "player_id": f"p{player:02}", "mode": "moving", "phase": "test",
                    "censored": False, "followed": str(rng.choice(["new", "old", "neither"], p=p)),
                    "is_nudged": bool(rng.random() < 0.3), "n_on_deck": n_on_deck,
                    "n_new": n_new, "n_old": n_old,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def test_guessers_are_at_chance_where_the_die_changed(models):
    dataset = models["guessing"]
    changes = changes_of_guessers(16, 60)
    found = measure(dataset.turns, dataset.games, changes, SETTINGS)
    for row in found.cue_changes.to_dict("records"):
        assert row["n_participants"] == 16
        assert row["above_chance_low"] < 0 < row["above_chance_high"], row["followed"]
    (left,) = found.cue_changes_left_out.to_dict("records")
    assert left["n_changed"] == 16 * 60
    parts = ("n_measured", "n_nudged", "n_new_gone", "n_old_gone")
    assert sum(left[name] for name in parts) == left["n_changed"]
    assert left["n_nudged"] == changes["is_nudged"].sum()
    both = (changes["n_new"] > 0) & (changes["n_old"] > 0) & ~changes["is_nudged"]
    assert left["n_measured"] == both.sum() == found.cue_changes["n_turns"].iloc[0]


def test_simulated_guessers_are_at_chance_where_the_die_changed(tmp_path):
    study = open_study(ROOT / "experiments" / "captain")
    simulate_study(study, tmp_path, n_participants=2, seed=4, model="guessing")
    changes = load_captain_dataset(tmp_path).changes
    fair = changes[~changes["is_nudged"] & (changes["n_new"] > 0) & (changes["n_old"] > 0)]
    assert len(fair) > 10
    for followed, n in (("new", fair["n_new"]), ("old", fair["n_old"])):
        p = n / fair["n_on_deck"]
        above = (fair["followed"] == followed).sum() - p.sum()
        assert abs(above) < 3 * np.sqrt((p * (1 - p)).sum())


def test_acts_before_their_flip_are_counted_and_named(models, tmp_path):
    dataset = models["forgetting"]
    turns = dataset.turns.copy()
    chosen = turns["phase"].eq("test") & turns["naming_rt_s"].notna() & turns["claimed"].isna()
    first, second = turns.index[chosen & ~turns["censored"]][:2]
    turns.loc[first, "pick_rt_s"] = 0.0
    turns.loc[second, "naming_rt_s"] = -0.1
    before = measured(dataset)
    found = measure(turns, dataset.games, dataset.changes, SETTINGS)
    assert (before.n_early_pick_rts, before.n_early_naming_rts) == (0, 0)
    assert (found.n_early_pick_rts, found.n_early_naming_rts) == (1, 1)
    assert found.n_turns == before.n_turns
    assert found.early_turns[0].endswith(f"turn {turns.loc[first, 'turn_index']} (pick)")
    assert any("1 pick and 1 naming came before" in s for s in captain_sentences(dataset, found))


def test_rts_of_hits_are_of_the_hits_that_the_table_of_hits_counts(models):
    found = measured(models["forgetting"])
    known = row_of(found.hits, colour="known")
    for turns, n in (("hit", known["n_hits"]), ("miss", known["n_turns"] - known["n_hits"])):
        assert row_of(found.rts, rt="pick", turns=turns)["n_rt"] == n


def test_known_turns_are_tested_against_chance_among_the_seen(models):
    dataset = models["forgetting"]
    row = row_of(measured(dataset).participant_hits, player_id="sim-00002", colour="known")
    turns = dataset.turns[(dataset.turns["player_id"] == "sim-00002")]
    turns = turns[(turns["phase"] == "test") & ~turns["censored"] & turns["claimed"].isna()]
    known = turns[turns["is_known"]]
    assert row["p_chance_within"] == pytest.approx(float(known["p_chance_among_seen"].mean()))
    assert row["above_within"] == pytest.approx(row["p_hit"] - row["p_chance_within"])
    assert row["p_chance_within"] > row["p_chance"]


def test_interval_that_was_cut_is_marked():
    values = mean_interval([1.0, 1.0, 0.9], confidence=0.95)
    assert _proportion("p", values)["p_clipped"] is True
    values = mean_interval([0.5, 0.5, 0.6], confidence=0.95)
    assert _proportion("p", values)["p_clipped"] is False


def test_games_that_were_cut_short_are_not_lost(models):
    dataset = models["guessing"]
    games = dataset.games.copy()
    tests = games.index[games["phase"] == "test"]
    for i, outcome in zip(tests, ("killed", "interrupted", "capped", "die_fell"), strict=False):
        games.loc[i, "outcome"] = outcome
    found = measure(dataset.turns, games, dataset.changes, SETTINGS)
    said = " ".join(captain_sentences(dataset, found))
    assert "of 24 games 20 won, 1 lost (1 of these since the die fell), 1 capped" in said
    assert "2 cut short" in said
    assert "random wins" not in said


def test_teams_are_said_not_to_be_independent(models):
    dataset = models["guessing"]
    found = measured(dataset)
    team = replace(dataset, games=dataset.games.assign(n_players=2))
    assert not any("not independent" in s for s in captain_sentences(dataset, found))
    assert any("not independent" in s for s in captain_sentences(team, found))


def test_report_words_fit_the_data(result):
    page = result.report.read_text(encoding="utf-8")
    assert "Times of a mouse" not in page  # A program clicked.
    assert "In our simulations with the default settings" in page
    assert "put back near the middle" in page
    assert "A player who guesses is at chance on deck" in page
    assert "No RT was zero or less" in page


@pytest.mark.parametrize("phases", ["test", "practice"])
def test_data_without_a_turn_of_the_phases_are_refused_in_one_line(static_data, tmp_path, phases):
    data = tmp_path / "data"
    data.mkdir()
    log = next((static_data / "logs").glob("*.jsonl"))
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    blocks = [i for i, line in enumerate(lines) if json.loads(line)["type"] == "block"]
    (data / log.name).write_text("".join(lines[: blocks[1]]), encoding="utf-8")
    (data / "analysis.toml").write_text(f'phases = ["{phases}"]\n')
    if phases == "practice":
        assert analyze_captain(data, out=tmp_path / "R").measures.n_turns
        return
    with pytest.raises(DatasetError, match="holds no test turns to measure") as caught:
        analyze_captain(data, out=tmp_path / "R")
    assert "\n" not in str(caught.value)


def test_no_phases_are_refused(static_data, tmp_path):
    (tmp_path / "analysis.toml").write_text("phases = []\n")
    with pytest.raises(ConfigError, match="phases"):
        load_analysis(tmp_path)


def test_times_of_a_mouse_are_told_of_where_a_person_clicked(result):
    dataset = result.dataset
    human = dataset.turns.assign(source="human")
    keys = human.assign(pick_device=human["pick_device"].replace("pointer", "pick_keys"))
    for turns, is_told in ((dataset.turns, False), (human, True), (keys, False)):
        told = replace(result, dataset=replace(dataset, turns=turns))
        page = render_captain_report(told, {})
        assert ("Times of a mouse" in page) == is_told
