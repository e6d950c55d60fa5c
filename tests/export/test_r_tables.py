"""Tables for R: what R reads with our script, and lme4's estimates beside ours."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions, used_for_rt
from ghostblitz_analysis.export.source import load_source
from ghostblitz_analysis.export.tools import r_tables
from ghostblitz_analysis.export.tools.r_tables import intercept_formula, read_r, write_r
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.regression import fit_rt_model, mode_levels, rt_rows
from ghostblitz_task.captain.settings import COLOURS
from tests.export.tool_sources import (
    CAPTAIN_STUDIES,
    CARD_STUDIES,
    ROOT,
    few_rows,
    run_r,
    simulated,
    with_column,
    with_odd_ids,
)


@pytest.fixture(autouse=True)
def _only_the_tables(monkeypatch):
    monkeypatch.setattr(r_tables, "write_common", lambda source, folder, layout: None)


@pytest.fixture(scope="module")
def example():
    return few_rows(load_source(ROOT / "data" / "example"))


@pytest.fixture(scope="module")
def study():
    return load_source(ROOT / "data" / "example_study")


def script_of(folder, name="read_trials.R"):
    return (folder / "data" / name).read_text(encoding="utf-8")


def test_odd_ids_are_read_back_identical(tmp_path, example):
    source = with_odd_ids(example)
    write_r(source, tmp_path)
    pd.testing.assert_frame_equal(read_r(tmp_path), source.main.frame)


@pytest.mark.slow
@pytest.mark.parametrize("name", CARD_STUDIES)
def test_trials_of_every_game_are_read_back_identical(tmp_path, name):
    source = with_odd_ids(few_rows(simulated(name)))
    write_r(source, tmp_path)
    pd.testing.assert_frame_equal(read_r(tmp_path), source.main.frame)


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTAIN_STUDIES)
def test_turns_and_games_are_read_back_identical(tmp_path, name):
    source = simulated(name)
    write_r(source, tmp_path)
    pd.testing.assert_frame_equal(read_r(tmp_path), source.main.frame)
    pd.testing.assert_frame_equal(read_r(tmp_path, "games"), source.others[0].frame)


def rows_of(source, outcome="log_rt"):
    flagged = flag_exclusions(source.dataset.trials, source.dataset.analysis)
    factors = cell_factors(flagged, source.dataset.analysis)
    for mode in mode_levels(flagged, factors=factors):
        yield mode, rt_rows(flagged, outcome=outcome, factors=factors, mode=mode)


@pytest.mark.slow
def test_formula_is_that_of_the_analysis(study):
    for outcome in ("log_rt", "inverse_rt"):
        for _, rows in rows_of(study, outcome):
            fit = fit_rt_model(rows, structure="intercepts", confidence=0.95, max_rows=0)
            assert intercept_formula(rows) == fit.model.formula


@pytest.mark.slow
def test_modes_have_models_of_their_own(tmp_path):
    source = simulated("grab-or-shout", model="guessing", n_participants=2)
    write_r(source, tmp_path)
    script = script_of(tmp_path)
    for name in ("log_rt_grab", "log_rt_shout", "inverse_rt_grab", "inverse_rt_shout"):
        assert f"    {name} = lme4::lmer(" in script
    for mode, rows in rows_of(source):
        assert f'trials$mode == "{mode}"' in script
        assert f"      {intercept_formula(rows)},\n" in script


def test_no_model_is_given_where_nothing_counts(tmp_path, example):
    write_r(with_column(example, "phase", ["practice"]), tmp_path)
    assert "fit_rt_models" not in script_of(tmp_path)
    text = (tmp_path / "data" / "README-r.md").read_text(encoding="utf-8")
    assert "No model is given: none of the" in text


def test_simulated_data_are_called_so(tmp_path, example):
    write_r(example, tmp_path)
    assert "# SIMULATED DATA, NOT PEOPLE." in script_of(tmp_path)
    write_r(replace(example, sources=("human",)), tmp_path / "people")
    assert "SIMULATED" not in script_of(tmp_path / "people")


def test_nothing_is_written_over(tmp_path, example):
    write_r(example, tmp_path)
    with pytest.raises(FileExistsError):
        write_r(example, tmp_path)


_READ = """
source("data/read_trials.R")
trials <- read_trials("data")
cat(jsonlite::toJSON(list(
  classes = lapply(trials, class),
  ids = as.character(trials$participant_id), n_ids = nlevels(trials$participant_id),
  rt_s = trials$rt_s, response = trials$response, rules = trials$rules,
  correct = trials$correct, rule = as.character(trials$rule), used = trials$used_for_rt,
  references = c(levels(trials$rule)[1], levels(trials$block_kind)[1])
), digits = I(17), na = "null"))
"""


@pytest.mark.slow
def test_r_reads_the_same_values(tmp_path, example):
    source = with_odd_ids(example)
    write_r(source, tmp_path)
    found, trials = run_r(tmp_path, _READ, packages=["jsonlite"]), source.main.frame
    assert found["ids"] == trials["participant_id"].tolist()
    assert found["n_ids"] == [trials["participant_id"].nunique()]
    assert found["references"] == ["direct", "mixed"]
    for name in ("response", "rules", "correct", "rule"):
        assert found[name] == [None if pd.isna(x) else x for x in trials[name]]
    known = trials["rt_s"].notna()
    assert [x is not None for x in found["rt_s"]] == known.tolist()
    assert [x for x in found["rt_s"] if x is not None] == pytest.approx(
        trials.loc[known, "rt_s"].tolist(), rel=1e-15
    )
    flagged = flag_exclusions(trials, source.dataset.analysis)
    assert found["used"] == used_for_rt(flagged).tolist()
    kinds = {"Int64": "integer", "Float64": "numeric", "boolean": "logical"}
    for column in source.main.columns:
        is_factor = bool(column.levels) or column.name == "participant_id"
        expected = "factor" if is_factor else kinds.get(column.dtype, "character")
        assert found["classes"][column.name] == [expected], column.name


_FIT = """
source("data/read_trials.R")
models <- suppressMessages(fit_rt_models(read_trials("data")))
cat(jsonlite::toJSON(lapply(models, function(model) list(
  n = nobs(model), estimate = unname(lme4::fixef(model)), term = names(lme4::fixef(model)),
  error = sqrt(diag(as.matrix(vcov(model)))), sigma = sigma(model),
  formula = paste(deparse(formula(model), width.cutoff = 500), collapse = "")
)), digits = I(17)))
"""


@pytest.mark.slow
def test_lme4_finds_the_estimates_of_the_analysis(tmp_path, study):
    write_r(study, tmp_path)
    found = run_r(tmp_path, _FIT, packages=["lme4", "jsonlite"])
    assert set(found) == {"log_rt", "inverse_rt"}
    for outcome, theirs in found.items():
        ((_, rows),) = rows_of(study, outcome)
        ours = fit_rt_model(rows, structure="intercepts", confidence=0.95)
        assert theirs["n"] == [len(rows.y)]
        assert theirs["formula"][0] == ours.model.formula.replace("-1 / rt_s", "-1/rt_s")
        # R writes ruleexclusion for rule[exclusion].
        bare = [effect.term.coded.replace("[", "").replace("]", "") for effect in ours.effects]
        assert theirs["term"] == bare
        assert theirs["estimate"] == pytest.approx([e.estimate for e in ours.effects], rel=1e-4)
        assert theirs["error"] == pytest.approx([e.se for e in ours.effects], rel=1e-3)
        assert theirs["sigma"][0] ** 2 == pytest.approx(ours.random[-1].variance, rel=1e-4)


_TURNS = """
source("data/read_turns.R")
turns <- read_turns("data"); games <- read_games("data")
cat(jsonlite::toJSON(list(
  n = c(nrow(turns), nrow(games)), colours = levels(turns$cue_at_start),
  named = as.character(turns$named), began = turns$began_s
), digits = I(17), na = "null"))
"""


@pytest.mark.slow
def test_r_reads_turns_and_games(tmp_path):
    source = simulated("captain-static")
    write_r(source, tmp_path)
    found = run_r(tmp_path, _TURNS, packages=["jsonlite"])
    turns = source.main.frame
    assert found["n"] == [len(turns), len(source.others[0].frame)]
    assert found["colours"] == list(COLOURS)
    assert found["named"] == [None if pd.isna(x) else x for x in turns["named"]]
    assert found["began"] == pytest.approx(turns["began_s"].tolist(), rel=1e-15)
