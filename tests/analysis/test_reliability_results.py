from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.inference import contrast_table
from ghostblitz_analysis.measures import cell_factors, cell_measures, complete_cells
from ghostblitz_analysis.reliability import (
    code_trials,
    intraclass_correlations,
    measurement_error,
    planned_scores,
    reliability_results,
    reported_scores,
)
from ghostblitz_analysis.reliability.scores import part_scores
from ghostblitz_analysis.settings import (
    AnalysisSettings,
    BoundsSettings,
    ContrastSettings,
    ReliabilitySettings,
)
from ghostblitz_task.errors import DatasetError


def wide(n_splits=20, **others):
    return AnalysisSettings(
        bounds=BoundsSettings(min_rt_s=0, max_rt_s=1000),
        reliability=ReliabilitySettings(n_splits=n_splits, seed=1),
        **others,
    )


def coded_of(trials, analysis=None):
    analysis = analysis or wide()
    flagged = flag_exclusions(trials, analysis)
    return code_trials(flagged, factors=cell_factors(flagged, analysis))


def results_of(trials, analysis):
    flagged = flag_exclusions(trials, analysis)
    return reliability_results(flagged, factors=cell_factors(flagged, analysis), settings=analysis)


@pytest.fixture
def both_kinds(draw_trials):
    rng = np.random.default_rng(1)
    return draw_trials(rng, n_participants=4, n_per_cell=3, block_kinds=("pure", "mixed"))


@pytest.fixture
def both_modes(draw_trials):
    rng = np.random.default_rng(2)
    return draw_trials(rng, n_participants=4, n_per_cell=3, modes=("grab", "shout"))


def sessions_of(make_trials, scores, spreads=(-0.1, 0.0, 0.1)):
    """Trials of {participant: {session: mean RT}}; those of a session are spread about its mean."""
    rows = [
        {"participant_id": person, "session": session, "rule": "direct", "rt_s": mean + spread}
        for person, of_person in scores.items()
        for session, mean in of_person.items()
        for spread in spreads
    ]
    return make_trials(rows)


def test_every_reported_score_is_there_once(both_kinds):
    scores = reported_scores(coded_of(both_kinds))
    named = [(score.kind, score.name, *score.levels.values()) for score in scores]
    assert named == [
        ("rule_effect", "exclusion - direct", "pure"),
        ("rule_effect", "exclusion - direct", "mixed"),
        ("mixing_cost", "mixed - pure", "direct"),
        ("mixing_cost", "mixed - pure", "exclusion"),
        ("interaction", "(exclusion - direct) mixed - (exclusion - direct) pure"),
        ("cell", "direct, pure", "direct", "pure"),
        ("cell", "exclusion, pure", "exclusion", "pure"),
        ("cell", "direct, mixed", "direct", "mixed"),
        ("cell", "exclusion, mixed", "exclusion", "mixed"),
    ]
    interaction = scores[4].weights
    assert interaction == {
        ("exclusion", "mixed"): 1, ("direct", "mixed"): -1,
        ("exclusion", "pure"): -1, ("direct", "pure"): 1,
    }  # fmt: skip


def test_a_planned_contrast_stands_first_and_its_like_is_not_repeated(both_kinds):
    contrast = ContrastSettings(
        name="exclusion in pure blocks", level="exclusion", reference="direct",
        within={"block_kind": "pure"},
    )  # fmt: skip
    scores = reported_scores(coded_of(both_kinds), [contrast])
    assert (scores[0].kind, scores[0].name) == ("contrast", "exclusion in pure blocks")
    assert scores[0].levels == {"block_kind": "pure"}
    assert len(scores) == 9
    assert [s.levels for s in scores if s.kind == "rule_effect"] == [{"block_kind": "mixed"}]


def test_an_open_factor_is_averaged_over_pairs_of_cells(both_kinds):
    contrast = ContrastSettings(name="exclusion", level="exclusion", reference="direct")
    (score,) = planned_scores(coded_of(both_kinds), [contrast])
    assert score.weights == {
        ("exclusion", "pure"): 0.5, ("direct", "pure"): -0.5,
        ("exclusion", "mixed"): 0.5, ("direct", "mixed"): -0.5,
    }  # fmt: skip
    assert score.levels == {}


def test_a_planned_interaction_subtracts_the_other_difference(both_kinds):
    contrast = ContrastSettings(
        name="interaction", level="exclusion", reference="direct",
        within={"block_kind": "mixed"}, against={"block_kind": "pure"},
    )  # fmt: skip
    (score,) = planned_scores(coded_of(both_kinds), [contrast])
    (like,) = [s for s in reported_scores(coded_of(both_kinds)) if s.kind == "interaction"]
    assert score.weights == like.weights


def test_grab_and_shout_are_never_averaged(both_modes):
    contrast = ContrastSettings(name="exclusion", level="exclusion", reference="direct")
    scores = planned_scores(coded_of(both_modes), [contrast])
    assert [score.levels for score in scores] == [{"mode": "grab"}, {"mode": "shout"}]
    for score in reported_scores(coded_of(both_modes), [contrast]):
        assert len({mode for _, mode in score.weights}) == 1


@pytest.mark.parametrize(
    ("level", "within", "message"),
    [
        ("mirror", {}, "'odd' names the rule 'mirror', which the analysed trials do not hold"),
        ("exclusion", {"block_kind": "pure"}, "'odd' names block_kind, which is no factor"),
    ],
)
def test_a_contrast_of_what_the_data_do_not_hold_is_refused(both_modes, level, within, message):
    contrast = ContrastSettings(name="odd", level=level, reference="direct", within=within)
    with pytest.raises(DatasetError, match=message):
        planned_scores(coded_of(both_modes), [contrast])


@pytest.fixture
def gaps(draw_trials):
    """Both kinds of block in both modes, but without exclusion cards to be grabbed in pure ones."""
    rng = np.random.default_rng(4)
    kinds = {"modes": ("grab", "shout"), "block_kinds": ("pure", "mixed")}
    trials = draw_trials(rng, n_participants=5, n_per_cell=4, **kinds)
    pure, grabs = trials["block_kind"] == "pure", trials["mode"] == "grab"
    return trials[~(pure & grabs & (trials["rule"] == "exclusion"))].reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "contrast",
    [
        {"of": "block_kind", "level": "mixed", "reference": "pure"},
        {"level": "exclusion", "reference": "direct"},
        {
            "of": "block_kind", "level": "mixed", "reference": "pure",
            "within": {"mode": "shout"}, "against": {"mode": "grab"},
        },
        {
            "of": "mode", "level": "shout", "reference": "grab",
            "within": {"rule": "exclusion"}, "against": {"rule": "direct"},
        },
    ],
)  # fmt: skip
def test_a_planned_score_has_the_weights_of_the_tested_contrast(gaps, contrast):
    analysis = wide(contrasts=(ContrastSettings(name="planned", **contrast),))
    flagged = flag_exclusions(gaps, analysis)
    factors = cell_factors(flagged, analysis)
    coded = code_trials(flagged, factors=factors)
    cells = complete_cells(cell_measures(flagged, factors=factors), factors=factors)
    tested = contrast_table(cells, factors=factors, settings=analysis)
    tested = tested[tested["measure"].eq("mean_log_rt") & tested["estimate"].notna()]
    scores = planned_scores(coded, analysis.contrasts)
    assert len(scores) == len(tested) > 0
    one_part = np.zeros(len(coded.trials), dtype=np.intp)
    scored = part_scores(coded, "mean_log_rt", scores, part=one_part, n_parts=1)
    assert scored[:, 0].mean(axis=0) == pytest.approx(tested["estimate"].to_numpy(float))


def test_a_contrast_that_nobody_met_in_combination_has_no_reliability(gaps):
    unmet = ContrastSettings(
        name="unmet", level="exclusion", reference="direct",
        within={"block_kind": "pure", "mode": "grab"},
    )  # fmt: skip
    met = ContrastSettings(name="met", level="exclusion", reference="direct")
    analysis = wide(contrasts=(unmet, met))
    scores = planned_scores(coded_of(gaps), analysis.contrasts)
    assert {score.name for score in scores} == {"met"}
    table = results_of(gaps, analysis).split_half
    assert "unmet" not in set(table["score"])


def test_any_columns_of_text_make_cells(both_kinds):
    flagged = flag_exclusions(both_kinds, wide())
    lag = np.where(np.arange(len(flagged)) % 2 == 0, "repeat", "switch")
    flagged = flagged.assign(relation=pd.array(lag, dtype="string"))
    flagged.loc[flagged.index[:3], "relation"] = pd.NA
    coded = code_trials(flagged, factors=("rule", "relation"))
    assert coded.cell_keys == [
        ("direct", "repeat"), ("exclusion", "repeat"), ("direct", "switch"),
        ("exclusion", "switch"),
    ]  # fmt: skip
    assert len(coded.trials) == len(flagged) - 3


def test_without_a_second_session_there_are_two_tables(both_kinds):
    results = results_of(both_kinds, wide())
    assert list(results.tables) == ["reliability_split_half", "reliability_left_out"]
    assert len(results.split_half) == 9 * 3
    assert results.split_half["n_participants"].tolist() == [4] * 27
    assert results.left_out.empty
    assert list(results.left_out.columns) == [
        "analysis", "participant_id", "kind", "score", "rule", "block_kind", "measure", "reason",
    ]  # fmt: skip


def test_all_columns_have_nullable_types(make_trials):
    scores = {f"p{i}": {1: 0.5 + i / 10, 2: 0.6 + i / 10} for i in range(4)}
    for table in results_of(sessions_of(make_trials, scores), wide()).tables.values():
        for name in table.columns:
            counts = name.startswith(("n_", "df_"))
            assert str(table[name].dtype) in (("Int64",) if counts else ("Float64", "string"))


def test_sessions_are_compared_as_their_means(make_trials):
    rng = np.random.default_rng(3)
    scores = {
        f"p{i:02d}": dict(zip((1, 2, 3), rng.normal(1 + i / 20, 0.05, 3), strict=True))
        for i in range(8)
    }
    results = results_of(sessions_of(make_trials, scores), wide(measures=("mean_rt_s",)))
    x = np.array([list(of_person.values()) for of_person in scores.values()])
    expected = intraclass_correlations(x, confidence=0.95)
    assert results.icc["icc_type"].tolist() == [one.icc_type for one in expected]
    assert results.icc["icc"].tolist() == pytest.approx([one.icc for one in expected])
    assert results.icc["low"].tolist() == pytest.approx([one.low for one in expected])
    error = measurement_error(x, confidence=0.95)
    (row,) = results.measurement_error.to_dict("records")
    assert row["sem_agreement"] == pytest.approx(error.sem_agreement)
    assert (row["n_sessions"], row["sessions"], row["n_participants"]) == (3, "[1, 2, 3]", 8)


def test_median_and_log_of_sessions_are_those_of_their_trials(make_trials):
    scores = {f"p{i:02d}": {1: 1 + i / 20, 2: 1.1 + i / 15} for i in range(6)}
    measures = ("mean_log_rt", "median_rt_s")
    spreads = (-0.1, 0.0, 0.4)
    results = results_of(sessions_of(make_trials, scores, spreads), wide(measures=measures))
    means = results.measurement_error.set_index("measure")["mean"]
    centres = np.array([list(of_person.values()) for of_person in scores.values()])
    assert means["median_rt_s"] == pytest.approx(centres.mean())
    logs = np.log(centres[..., None] + np.array(spreads)).mean()
    assert means["mean_log_rt"] == pytest.approx(logs)


def test_participants_without_the_sessions_of_most_are_named(make_trials):
    scores = {f"p{i:02d}": {1: 1 + i / 20, 2: 1.1 + i / 15} for i in range(6)}
    scores["p00"][3] = 1.3
    scores["z1"] = {1: 0.9}
    results = results_of(sessions_of(make_trials, scores), wide(measures=("mean_rt_s",)))
    row = results.measurement_error.iloc[0]
    assert (row["sessions"], row["n_participants"]) == ("[1, 2]", 6)
    assert (row["n_left_out"], json.loads(row["left_out"])) == (1, ["z1"])
    lost = results.left_out[results.left_out["analysis"] == "sessions"]
    assert lost[["participant_id", "reason"]].values.tolist() == [["z1", "no session 2"]]


def test_a_session_without_a_usable_rt_in_a_cell_is_named(make_trials):
    scores = {f"p{i:02d}": {1: 1 + i / 20, 2: 1.1 + i / 15} for i in range(6)}
    trials = sessions_of(make_trials, scores)
    slow = (trials["participant_id"] == "p03") & (trials["session"] == 2)
    trials.loc[slow, "rt_s"] = 2000.0
    results = results_of(trials, wide(measures=("mean_rt_s", "p_correct")))
    rows = results.measurement_error.set_index("measure")
    assert rows.loc["mean_rt_s", "left_out"] == '["p03"]'
    assert rows.loc["p_correct", "n_participants"] == 6
    lost = results.left_out[results.left_out["analysis"] == "sessions"]
    assert lost["reason"].tolist() == ["a cell without a value in session 2"]


def test_sessions_that_nobody_shares_give_rows_that_say_so(make_trials):
    scores = {"a": {1: 1.0, 2: 1.1}, "b": {3: 1.0, 4: 1.2}, "c": {1: 1.3}}
    results = results_of(sessions_of(make_trials, scores), wide(measures=("mean_rt_s",)))
    assert results.icc["icc"].isna().all()
    assert set(results.icc["note"]) == {"no two sessions that more than half have"}
    assert results.measurement_error["n_left_out"].tolist() == [3]
    assert results.measurement_error["sem_agreement"].isna().all()


def test_no_analysed_trial_gives_no_results(make_trials):
    trials = make_trials([{"phase": "practice", "rt_s": 0.5}])
    flagged = flag_exclusions(trials, wide())
    assert reliability_results(flagged, factors=("rule",), settings=wide()) is None


@pytest.mark.parametrize("error_kind", ["late", "rule_confusion"])
def test_participants_without_any_rt_leave_rows_with_notes(make_trials, error_kind):
    rows = [
        {"participant_id": person, "rule": rule, "error_kind": error_kind}
        for person in "abcd"
        for rule in ("direct", "exclusion")
        for _ in range(3)
    ]
    table = results_of(make_trials(rows), wide()).split_half
    assert table["r"].isna().all()
    of_rt = table[table["measure"] == "mean_rt_s"]
    assert of_rt["n_left_out"].tolist() == [4] * 3
    assert of_rt["note"].tolist() == ["no participants, so no correlation"] * 3


def test_one_trial_gives_rows_with_notes(make_trials):
    results = results_of(make_trials([{"rt_s": 0.5}]), wide())
    assert results.split_half["r"].isna().all()
    assert (results.split_half["note"] != "").all()
    assert results.left_out["participant_id"].tolist() == ["p1"] * 3


def test_nothing_is_changed_in_the_trials(both_kinds):
    flagged = flag_exclusions(both_kinds, wide())
    before = flagged.copy()
    reliability_results(flagged, factors=("rule", "block_kind"), settings=wide())
    pd.testing.assert_frame_equal(flagged, before)
