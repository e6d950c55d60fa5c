"""The reliability of switch and mixing costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.reliability import reliability_results, sequence_cost_scores
from ghostblitz_analysis.reliability.scores import part_scores
from ghostblitz_analysis.sequences import participant_effects
from ghostblitz_analysis.settings import AnalysisSettings

ITEMS = ("ghost", "chair", "bottle", "book", "mouse")
SETTINGS = AnalysisSettings.model_validate({"reliability": {"n_splits": 40, "seed": 1}})


@pytest.fixture
def play(make_trials):
    """Blocks of one rule and then of both, with targets drawn at random."""

    def build(*, n_people=6, n_in_block=60, modes=("grab",), sessions=(1,), cost_sd=0.1):
        rng = np.random.default_rng(6)
        rows = []
        for person in range(n_people):
            cost = 0.15 + rng.normal(0, cost_sd)
            for session in sessions:
                for block, kind in enumerate(("pure", "mixed", "mixed")):
                    before = None
                    for place in range(n_in_block):
                        pure = kind == "pure"
                        rule = "direct" if pure else str(rng.choice(["direct", "exclusion"]))
                        mode, item = str(rng.choice(modes)), str(rng.choice(ITEMS))
                        log_rt = rng.normal(-0.4 + cost * (rule != before), 0.1)
                        before = rule
                        rows.append(
                            {
                                "participant_id": f"p{person}", "session": session,
                                "block_index": block, "block_kind": kind, "rule": rule,
                                "trial_in_block": place, "mode": mode, "rt_s": np.exp(log_rt),
                                "target": item, "answer": item, "card": None,
                                "error_kind": "shape_capture" if rng.random() < 0.1 else None,
                            }
                        )  # fmt: skip
        return make_trials(rows)

    return build


def flagged_of(trials):
    flagged = flag_exclusions(trials, SETTINGS)
    return flagged, cell_factors(flagged, SETTINGS)


def results_of(trials):
    flagged, factors = flagged_of(trials)
    return reliability_results(flagged, factors=factors, settings=SETTINGS)


def scored(coded, scores, measure):
    one_part = np.zeros(len(coded.trials), dtype=np.intp)
    return part_scores(coded, measure, scores, part=one_part, n_parts=1)[:, 0]


@pytest.mark.slow
def test_a_cost_of_one_rule_is_the_cost_that_is_reported(play):
    flagged, factors = flagged_of(play())
    effects = participant_effects(flagged, factors=factors, min_trials=1).effects
    found = sequence_cost_scores(flagged, factors=factors)
    assert [scores[0].kind for _, scores in found] == ["rule_switch", "mixing"]
    n_compared = 0
    for coded, scores in found:
        of_rules = [score for score in scores if "rule" in score.levels]
        columns = {"mean_log_rt": "difference_log", "p_correct": "p_error_difference"}
        for measure, column in columns.items():
            sign = -1 if measure == "p_correct" else 1
            for score, values in zip(of_rules, scored(coded, of_rules, measure).T, strict=True):
                chosen = effects["effect"].eq(score.kind) & effects["rule"].eq(score.levels["rule"])
                reported = effects[chosen].set_index("participant_id")[column]
                expected = reported.loc[list(coded.participants)].to_numpy(float)
                assert sign * values == pytest.approx(expected)
                n_compared += 1
    # Switches to both rules; pure blocks have only one.
    assert n_compared == (2 + 1) * 2


def test_a_cost_over_rules_is_the_mean_of_theirs(play):
    flagged, factors = flagged_of(play())
    coded, scores = sequence_cost_scores(flagged, factors=factors)[0]
    assert [score.levels for score in scores] == [{}, {"rule": "direct"}, {"rule": "exclusion"}]
    over_rules, direct, exclusion = scored(coded, scores, "mean_log_rt").T
    assert over_rules == pytest.approx((direct + exclusion) / 2)


def test_costs_stay_within_a_mode_and_modes_have_a_cost_of_their_own(play):
    flagged, factors = flagged_of(play(modes=("grab", "shout")))
    found = sequence_cost_scores(flagged, factors=factors)
    assert [scores[0].kind for _, scores in found] == ["rule_switch", "mode_switch", "mixing"]
    for coded, scores in found:
        place = coded.factors.index("mode")
        for score in scores:
            assert {cell[place] for cell in score.weights} == {score.levels["mode"]}
            assert sum(weight for weight in score.weights.values() if weight > 0) == (
                pytest.approx(1)
            )
    coded, scores = found[1]
    assert "block_kind" in coded.factors
    assert [score.name for score in scores] == ["mode switch - mode repetition"] * 6


def test_costs_stand_below_the_scores_of_cells(play):
    results = results_of(play())
    table = results.split_half
    costs = table[table["kind"].isin(["rule_switch", "mixing"])]
    assert list(table.columns[:5]) == ["kind", "score", "rule", "block_kind", "measure"]
    assert list(table["kind"].drop_duplicates())[-2:] == ["rule_switch", "mixing"]
    assert len(costs) == (3 + 1) * 3
    assert costs["block_kind"].isna().all()
    over_rules = costs[costs["rule"].isna() & costs["measure"].eq("mean_log_rt")]
    assert over_rules["score"].tolist() == ["rule switch - rule repetition"]
    # Participants differ in their cost, by more than their halves do by chance.
    assert over_rules["spearman_brown"].item() > 0.7


def test_who_has_too_few_trials_of_a_kind_is_named(play):
    trials = play()
    wrong = (trials["participant_id"] == "p2") & (trials["block_kind"] == "mixed")
    trials.loc[wrong, "correct"] = False
    results = results_of(trials)
    costs = results.split_half[results.split_half["kind"] == "rule_switch"]
    assert set(costs["left_out"]) == {'["p2"]'}
    lost = results.left_out
    lost = lost[lost["kind"].eq("rule_switch") & lost["measure"].eq("mean_log_rt")]
    assert set(lost["participant_id"]) == {"p2"}
    assert lost["reason"].str.contains("0 in direct, rule switch", regex=False).any()


def test_costs_of_two_sessions_are_compared(play):
    results = results_of(play(sessions=(1, 2)))
    for table in (results.icc, results.measurement_error):
        assert {"rule_effect", "rule_switch", "mixing"} <= set(table["kind"])
        assert table.loc[table["kind"].eq("rule_switch"), "n_participants"].eq(6).all()


def test_costs_leave_the_other_scores_as_they_are(play, monkeypatch):
    trials = play()
    together = results_of(trials).split_half
    monkeypatch.setattr(
        "ghostblitz_analysis.reliability.results.sequence_cost_scores", lambda *_, **__: []
    )
    alone = results_of(trials).split_half
    pd.testing.assert_frame_equal(together.iloc[: len(alone)], alone)


def test_pure_blocks_alone_have_no_costs(play):
    trials = play()
    flagged, _ = flagged_of(trials[trials["block_kind"] == "pure"].reset_index(drop=True))
    assert sequence_cost_scores(flagged, factors=("rule",)) == []
