from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis import results
from ghostblitz_analysis.company_measures import company_results, rival_contrasts, round_counts
from ghostblitz_analysis.exclusions import flag_exclusions, used_for_accuracy, used_for_rt
from ghostblitz_analysis.settings import AnalysisSettings
from ghostblitz_analysis.summary import company_sentences

#: What these tests look at; the other parts have tests of their own.
analyze_trials = partial(results.analyze_trials, parts=("cells",))

DEFAULTS = AnalysisSettings()
#: What a round that nobody else played in says, for `make_trials`.
ROUND = {
    "n_players": 1, "recycled": False, "round_outcome": "won", "took_card": True,
    "gave_card": False, "tied": False, "n_cards_won": 1,
}  # fmt: skip
LATE = {"took_card": False}
LOST = {
    "took_card": False, "round_outcome": "nobody_right", "error_kind": "shape_capture",
    "gave_card": True,
}  # fmt: skip
SILENT = {"took_card": False, "round_outcome": "nobody_answered", "error_kind": "late"}
AGAIN = {"recycled": True, "block_index": 1}


def against(rt_s: float | None, *, right: bool = True, took: bool = False) -> dict[str, object]:
    return {
        "rival_kind": "model", "rival_rt_s": rt_s, "rival_correct": right, "rival_took_card": took
    }  # fmt: skip


def results_of(trials):
    return company_results(flag_exclusions(trials, DEFAULTS), confidence=0.95)


def test_data_that_nobody_played_for_have_no_results(make_trials):
    assert results_of(make_trials([{}, {"rule": "exclusion"}])) is None


def test_rounds_are_counted_by_what_they_came_to(make_trials):
    rows = [{}, {}, LATE | {"tied": True}, LOST, SILENT, AGAIN]
    (game,) = results_of(make_trials(ROUND | row for row in rows)).participants.to_dict("records")
    assert (game["n_rounds"], game["n_recycled"]) == (6, 1)
    assert (game["n_took"], game["n_too_late"], game["n_wrong"], game["n_unanswered"]) == (
        3,
        1,
        1,
        1,
    )
    assert (game["n_gave"], game["n_tied"]) == (1, 1)
    assert game["p_took"] == pytest.approx(3 / 6)
    # Of four right answers, one was too late.
    assert game["p_too_late"] == pytest.approx(1 / 4)


def test_practice_is_no_round(make_trials):
    practice = dict.fromkeys(ROUND) | {"phase": "practice", "n_players": 1}
    game = results_of(make_trials([practice, ROUND])).participants
    assert game["n_rounds"].tolist() == [1]


def test_cards_are_those_in_hand_after_the_last_round(make_trials):
    rows = [ROUND | {"n_cards_won": n} for n in (1, 2, 3, 2)]
    rows += [ROUND | {"session": 2, "n_cards_won": 7}]
    games = results_of(make_trials(rows)).participants
    assert games["session"].tolist() == [1, 2]
    assert games["n_cards_won"].tolist() == [2, 7]


def test_without_right_answers_there_is_no_share_that_was_too_late(make_trials):
    game = results_of(make_trials([ROUND | LOST])).participants
    assert game["p_too_late"].isna().all()
    assert game["p_took"].tolist() == [0.0]
    assert game["p_rival_took"].isna().all()


def test_parts_add_up_to_the_rounds_of_participants_and_rival(make_trials):
    rows = [ROUND | a | b for a in ({}, LATE, LOST, SILENT) for b in (
        against(0.5), against(0.5, took=True), against(0.4, right=False), against(None, right=False)
    )]  # fmt: skip
    counts = round_counts(make_trials(rows), by=["rule"]).iloc[0]
    for stem in ("", "rival_"):
        parts = [counts[f"n_{stem}{p}"] for p in ("took", "too_late", "wrong", "unanswered")]
        assert sum(parts) == counts[f"n_{stem}rounds"] == 16
        assert parts == [4, 4, 4, 4]
    assert counts["p_rival_took"] == pytest.approx(1 / 4)
    assert counts["p_rival_too_late"] == pytest.approx(1 / 2)


def test_rival_has_no_rounds_where_there_was_none(make_trials):
    counts = round_counts(make_trials([ROUND, ROUND | against(0.5)]), by=["rule"]).iloc[0]
    assert (counts["n_rounds"], counts["n_rival_rounds"]) == (2, 1)


def people(ratios, *, rival_s=0.8):
    """Own RTs so many times the rival's, on two cards each; slower on all others."""
    for number, ratio in enumerate(ratios):
        who = ROUND | {"participant_id": f"p{number}"}
        # The geometric mean of the two ratios is the ratio.
        yield who | against(rival_s) | {"rt_s": rival_s * ratio * 1.25}
        yield who | against(rival_s) | {"rt_s": rival_s * ratio / 1.25}
        yield who | against(0.3, right=False) | {"rt_s": 5.0}
        yield who | against(None, right=False) | {"rt_s": 5.0}
        yield who | against(0.3) | LOST | {"rt_s": 5.0}
        yield who | against(0.3) | AGAIN | {"rt_s": 5.0}
        yield who | against(0.3) | {"rt_s": 11.0}


def test_rts_are_compared_on_cards_that_both_got_right(make_trials):
    ratios = [0.5, 1.0, 2.0]
    (row,) = results_of(make_trials(people(ratios))).contrasts.to_dict("records")
    assert (row["rule"], row["n_participants"], row["n_rts"]) == ("direct", 3, 6)
    logs = np.log(ratios)
    half = stats.t.ppf(0.975, 2) * logs.std(ddof=1) / math.sqrt(3)
    assert row["rt_ratio"] == pytest.approx(1.0)
    assert row["rt_ratio_low"] == pytest.approx(math.exp(-half))
    assert row["rt_ratio_high"] == pytest.approx(math.exp(half))
    own = [0.8 * r * (1.25 + 0.8) / 2 for r in ratios]
    assert row["difference_s"] == pytest.approx(np.mean(own) - 0.8)
    half_s = stats.t.ppf(0.975, 2) * np.std(own, ddof=1) / math.sqrt(3)
    assert row["difference_low_s"] == pytest.approx(np.mean(own) - 0.8 - half_s)
    assert row["difference_high_s"] == pytest.approx(np.mean(own) - 0.8 + half_s)


def test_one_participant_has_no_interval_against_the_rival(make_trials):
    (row,) = results_of(make_trials(people([2.0]))).contrasts.to_dict("records")
    assert row["rt_ratio"] == pytest.approx(2.0)
    assert pd.isna(row["rt_ratio_low"])


def test_without_a_rival_nothing_is_compared(make_trials):
    found = results_of(make_trials([ROUND]))
    assert found.contrasts.empty
    assert "company_rival" not in found.tables
    assert found.rival_kinds == ()


def test_a_rival_that_was_early_is_compared_with_nobody(make_trials):
    rounds = flag_exclusions(make_trials([ROUND | against(-0.1, right=False)]), DEFAULTS)
    assert rival_contrasts(rounds, confidence=0.95).empty


def test_rival_is_recovered_from_drawn_rts(make_trials):
    """Own RTs are 1.3 times the rival's in the median, both lognormal."""
    rng = np.random.default_rng(8)
    rows = []
    for person in range(12):
        for _ in range(200):
            own, rival = np.exp(rng.normal(np.log([1.3, 1.0]), 0.3))
            who = {"participant_id": f"p{person:02d}", "rt_s": float(own)}
            rows.append(ROUND | against(float(rival)) | who)
    row = results_of(make_trials(rows)).contrasts.iloc[0]
    assert row["rt_ratio"] == pytest.approx(1.3, rel=0.03)
    assert row["rt_ratio_low"] < 1.3 < row["rt_ratio_high"]


def test_cards_that_came_again_count_for_the_game_only(make_trials):
    rows = [ROUND | {"rt_s": 1.0}, ROUND | LOST, ROUND | AGAIN | {"rt_s": 9.0}]
    rows += [ROUND | AGAIN | LOST]
    analysis = analyze_trials(make_trials(rows), DEFAULTS)
    assert used_for_rt(analysis.trials).tolist() == [True, False, False, False]
    assert used_for_accuracy(analysis.trials).tolist() == [True, True, False, False]
    (cell,) = analysis.participant_cells.to_dict("records")
    assert (cell["n_trials"], cell["n_correct"], cell["n_rt"]) == (2, 1, 1)
    assert cell["geometric_mean_rt_s"] == pytest.approx(1.0)
    flow = analysis.audit[analysis.audit["flag"] == "exclude_recycled"].iloc[0]
    assert (flow["n_flagged"], flow["n_newly_excluded"], flow["scope"]) == (2, 2, "all")
    assert analysis.company is not None
    assert analysis.company.participants["n_rounds"].tolist() == [4]


@pytest.mark.slow
def test_sentences_say_who_took_the_cards(make_trials):
    rows = [ROUND | against(0.9), ROUND | LATE | against(0.4, took=True)]
    rows += [ROUND | LOST | against(0.9, took=True), ROUND | against(0.4, right=False)]
    (first, second) = company_sentences(analyze_trials(make_trials(rows), DEFAULTS))
    assert first == (
        "The participant took the card in 50.0% of 4 rounds, the simulated rival in 50.0%; "
        "1 of 3 right answers (33.3%) came too late for the card."
    )
    assert second.startswith("RTs against the simulated rival's on the same cards, as ratios: dir")
    assert company_sentences(analyze_trials(make_trials([{}]), DEFAULTS)) == []


@pytest.mark.slow
def test_sentence_says_that_a_round_of_several_counts_for_each(make_trials):
    pair = {"n_players": 2, "round_outcome": "won"}
    rows = [
        ROUND | pair | {"participant_id": "p1", "player": 1},
        ROUND | pair | {"participant_id": "p2", "player": 2} | LATE,
    ]
    (sentence,) = company_sentences(analyze_trials(make_trials(rows), DEFAULTS))
    assert sentence.startswith(
        "The participants took the card in 50.0% of 2 rounds (each counted once for every player);"
    )


def test_tables_are_named_and_have_a_row_for_each_participant_and_rule(make_trials):
    rows = [ROUND | {"rule": rule, "participant_id": p} for rule in ("exclusion", "direct")
            for p in ("p2", "p1")]  # fmt: skip
    found = results_of(make_trials(rows))
    keys = ["participant_id", "session", "rule"]
    assert found.participant_rules[keys].to_numpy().tolist() == [
        [p, 1, rule] for p in ("p1", "p2") for rule in ("direct", "exclusion")
    ]
    assert found.rules["rule"].tolist() == ["direct", "exclusion"]
    assert set(found.tables) == {
        "company_participants",
        "company_participant_rules",
        "company_rules",
    }
