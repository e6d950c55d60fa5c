"""Switch costs, mixing costs and repetitions on sequences whose effects are known exactly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ghostblitz_analysis.exclusions import flag_exclusions
from ghostblitz_analysis.measures import cell_factors
from ghostblitz_analysis.sequences import (
    EFFECT_MEANINGS,
    MIN_TRIALS,
    group_effects,
    participant_effects,
    sequence_results,
    sequence_trials,
    trial_history,
)
from ghostblitz_analysis.settings import AnalysisSettings, BoundsSettings
from ghostblitz_task.errors import DatasetError

pytestmark = pytest.mark.slow

OWN = {"ghost": "white", "chair": "red", "bottle": "green", "book": "blue", "mouse": "grey"}
SETTINGS = AnalysisSettings(bounds=BoundsSettings(min_rt_s=0, max_rt_s=1e6))

#: From the trials and their history to log RTs.
LogRt = Callable[[pd.DataFrame, pd.DataFrame], object]


def legal_cards() -> list[dict[str, str]]:
    """All classic cards with one answer."""
    found = []
    for a, b in itertools.combinations(OWN, 2):
        for colours in itertools.permutations(OWN.values(), 2):
            pictures = dict(zip((a, b), colours, strict=True))
            direct = [item for item in pictures if pictures[item] == OWN[item]]
            free = [i for i in OWN if i not in pictures and OWN[i] not in colours]
            answers = direct if direct else free
            if len(answers) == 1:
                text = " ".join(f"{item}:{colour}" for item, colour in pictures.items())
                rule = "direct" if direct else "exclusion"
                found.append({"card": text, "rule": rule, "target": answers[0]})
    return found


CARDS = legal_cards()


def is_true(values: pd.Series) -> np.ndarray:
    return values.fillna(False).to_numpy(dtype=bool)


#: Deals without their RTs, since most tests play the same ones.
DEALT: dict[tuple[object, ...], tuple[pd.DataFrame, pd.DataFrame]] = {}


@pytest.fixture
def play(make_trials):
    """Deal random cards to participants; RTs follow exactly from `log_rt`."""

    def deal(
        log_rt: LogRt,
        *,
        n_participants: int = 3,
        blocks: tuple[tuple[str, int], ...] = (("mixed", 150), ("mixed", 150)),
        game: str = "classic",
        p_error: float = 0.1,
    ) -> pd.DataFrame:
        key = (n_participants, blocks, game, p_error)
        if key not in DEALT:
            trials = make_trials(dealt_rows(*key))
            DEALT[key] = trials, trial_history(trials)
        trials, history = DEALT[key]
        values = np.asarray(log_rt(trials, history), dtype=float)
        return trials.assign(rt_s=pd.array(np.exp(values), dtype="Float64"))

    return deal


def dealt_rows(n_participants, blocks, game, p_error):
    rng = np.random.default_rng(5)
    for person in range(n_participants):
        for block_index, (block_type, n_trials) in enumerate(blocks):
            pool = [c for c in CARDS if block_type in ("mixed", c["rule"])]
            for in_block in range(n_trials):
                card = pool[rng.integers(len(pool))]
                shout = game == "grab-or-shout" and "book" in card["card"]
                row = card | {
                    "participant_id": f"{person:02d}",
                    "game": game,
                    "answer": card["target"],
                    "mode": "shout" if shout else "grab",
                    "block_index": block_index,
                    "block_type": block_type,
                    "block_kind": "mixed" if block_type == "mixed" else "pure",
                    "trial_in_block": in_block,
                }
                if rng.random() < p_error:
                    row |= {"error_kind": "shape_capture", "response": "nothing"}
                yield row


def measure(trials, *, match=(), min_trials=MIN_TRIALS):
    flagged = flag_exclusions(trials, SETTINGS)
    factors = cell_factors(flagged, SETTINGS)
    return participant_effects(flagged, factors=factors, match=match, min_trials=min_trials)


def logs(measured, effect, *, rule=None, mode=None):
    table = measured.effects
    chosen = table[table["effect"] == effect]
    chosen = chosen[chosen["rule"].isna() if rule is None else chosen["rule"] == rule]
    if mode is not None:
        chosen = chosen[chosen["mode"] == mode]
    assert len(chosen)
    return chosen["difference_log"].to_numpy("float64", na_value=np.nan)


def level(trials: pd.DataFrame) -> np.ndarray:
    """Exclusion is slower than direct by a constant."""
    return 0.6 * (trials["rule"] == "exclusion").to_numpy(dtype=bool)


# What differs -> its exact size, and the effects that must show exactly this.


def test_a_rule_switch_cost_is_found_exactly_for_each_rule(play):
    def log_rt(trials, history):
        exclusion = (trials["rule"] == "exclusion").to_numpy(dtype=bool)
        cost = np.where(exclusion, 0.2, 0.35)
        return level(trials) + cost * is_true(~history["rule_repeated"])

    measured = measure(play(log_rt))
    assert logs(measured, "rule_switch", rule="direct") == pytest.approx([0.35] * 3, abs=1e-12)
    assert logs(measured, "rule_switch", rule="exclusion") == pytest.approx([0.2] * 3, abs=1e-12)
    asymmetry = logs(measured, "rule_switch_asymmetry", rule="exclusion")
    assert asymmetry == pytest.approx([-0.15] * 3, abs=1e-12)
    overall = logs(measured, "rule_switch")
    assert ((overall > 0.2) & (overall < 0.35)).all()


def test_seconds_and_geometric_means_are_those_of_the_trials(play):
    trials = play(lambda t, h: level(t) + 0.3 * is_true(~h["rule_repeated"]))
    row = (
        measure(trials)
        .effects.set_index(["effect", "rule", "participant_id"])
        .loc[("rule_switch", "direct", "00")]
    )
    assert row["geometric_mean_rt_reference_s"] == pytest.approx(1.0)
    assert row["geometric_mean_rt_condition_s"] == pytest.approx(np.exp(0.3))
    assert row["mean_rt_condition_s"] == pytest.approx(np.exp(0.3))
    assert row["difference_s"] == pytest.approx(np.exp(0.3) - 1)
    assert row["rt_ratio"] == pytest.approx(np.exp(0.3))
    assert row["n_unmatched_condition"] == row["n_unmatched_reference"] == 0


def test_a_mixing_cost_is_found_exactly_for_each_rule(play):
    def log_rt(trials, history):
        mixed = (trials["block_kind"] == "mixed").to_numpy(dtype=bool)
        switch = is_true(~history["rule_repeated"])
        return level(trials) * (1 + 0.5 * mixed) + mixed * 0.1 + 0.9 * switch

    measured = measure(play(log_rt, blocks=(("direct", 80), ("exclusion", 80), ("mixed", 200))))
    assert logs(measured, "mixing", rule="direct") == pytest.approx([0.1] * 3, abs=1e-12)
    assert logs(measured, "mixing", rule="exclusion") == pytest.approx([0.4] * 3, abs=1e-12)


def test_repetition_effects_are_found_exactly(play):
    measured = measure(play(lambda t, h: level(t) - 0.2 * is_true(h["target_repeated"])))
    for effect in (
        "target_repetition",
        "response_repetition",
        "response_repetition_rule_repeated",
        "response_repetition_rule_switched",
    ):
        assert logs(measured, effect) == pytest.approx([-0.2] * 3, abs=1e-12)
    assert "repeats the target too" in measured.notes["response_repetition"]


def test_negative_priming_is_found_exactly(play):
    measured = measure(play(lambda t, h: level(t) + 0.1 * is_true(h["target_ignored"])))
    assert logs(measured, "negative_priming") == pytest.approx([0.1] * 3, abs=1e-12)
    for rule in ("direct", "exclusion"):
        assert logs(measured, "negative_priming", rule=rule) == pytest.approx([0.1] * 3, abs=1e-12)


def test_an_n2_target_repetition_is_found_exactly_with_two_rules(play):
    measured = measure(play(lambda t, h: level(t) + 0.15 * is_true(h["second_target_repeated"])))
    assert logs(measured, "target_n2_repetition") == pytest.approx([0.15] * 3, abs=1e-12)
    assert "rule_n2_repetition" not in set(measured.effects["effect"])


def test_an_n2_rule_repetition_is_found_exactly_with_three_rules(play):
    trials = play(lambda t, h: level(t), n_participants=2)
    rng = np.random.default_rng(3)
    rules = rng.choice(["direct", "exclusion", "mirror"], len(trials))
    trials = trials.assign(rule=pd.array(rules, dtype="string"))
    history = trial_history(trials)
    slow = is_true(history["rule_sequence"] == "ABA") * 0.12
    wrong_place = is_true(history["second_target_repeated"]) * 0.7
    trials["rt_s"] = pd.array(np.exp(level(trials) + slow + wrong_place), dtype="Float64")
    measured = measure(trials)
    assert logs(measured, "rule_n2_repetition") == pytest.approx([0.12] * 2, abs=1e-12)
    assert "target_n2_repetition" not in set(measured.effects["effect"])


def test_a_mode_switch_cost_is_found_exactly_in_each_mode(play):
    def log_rt(trials, history):
        shout = (trials["mode"] == "shout").to_numpy(dtype=bool)
        cost = np.where(shout, 0.25, 0.05)
        return level(trials) + 2.0 * shout + cost * is_true(~history["mode_repeated"])

    measured = measure(play(log_rt, game="grab-or-shout"))
    assert logs(measured, "mode_switch", mode="grab") == pytest.approx([0.05] * 3, abs=1e-12)
    assert logs(measured, "mode_switch", mode="shout") == pytest.approx([0.25] * 3, abs=1e-12)


# What must leave an effect at 0.

COSTS = ("rule_switch", "mixing", "negative_priming", "target_n2_repetition")
REPETITIONS = ("target_repetition", "response_repetition")
TWO_KINDS = (("direct", 80), ("exclusion", 80), ("mixed", 150), ("mixed", 150))

#: Only this differs between trials, beside the rule -> effects that it must not make.
CONFOUNDS: Mapping[str, tuple[LogRt, tuple[str, ...]]] = {
    "the rule": (lambda t, h: 0 * level(t), (*COSTS, *REPETITIONS)),
    "a repeated target": (lambda t, h: -0.5 * is_true(h["target_repeated"]), COSTS),
    "an error before": (
        lambda t, h: 0.5 * is_true(~h["previous_correct"]),
        (*COSTS, *REPETITIONS),
    ),
    "the start of a block": (
        lambda t, h: 1.0 * ~is_true(h["has_previous"]),
        (*COSTS, *REPETITIONS),
    ),
    "a rule switch": (
        lambda t, h: 0.4 * is_true(~h["rule_repeated"]),
        ("mixing", "negative_priming", *REPETITIONS, "target_n2_repetition"),
    ),
    "the rule before": (
        lambda t, h: 0.4 * is_true(h["previous_rule"] == "exclusion"),
        ("negative_priming", *REPETITIONS, "target_n2_repetition"),
    ),
    "the kind of block": (
        lambda t, h: 0.4 * (t["block_kind"] == "mixed").to_numpy(dtype=bool),
        ("rule_switch", "negative_priming", *REPETITIONS, "target_n2_repetition"),
    ),
    "a repeated card": (lambda t, h: -0.5 * is_true(h["card_repeated"]), (*COSTS, *REPETITIONS)),
    "the person": (
        lambda t, h: t["participant_id"].astype("float64").to_numpy(),
        (*COSTS, *REPETITIONS),
    ),
}


@pytest.mark.parametrize("confound", CONFOUNDS)
def test_a_confound_alone_makes_no_effect(play, confound):
    extra, effects = CONFOUNDS[confound]
    measured = measure(play(lambda t, h: level(t) + extra(t, h), blocks=TWO_KINDS))
    for effect in effects:
        assert logs(measured, effect) == pytest.approx([0.0] * 3, abs=1e-12), effect


@pytest.mark.parametrize("effect", ["mode_switch", "rule_switch", "target_repetition"])
def test_targets_that_one_mode_has_more_often_make_no_effect(play, effect):
    slow_book = {"book": 0.7, "ghost": -0.3}
    trials = play(
        lambda t, h: level(t) + t["target"].map(slow_book).fillna(0.0).to_numpy("float64"),
        game="grab-or-shout",
    )
    measured = measure(trials)
    for mode in ("grab", "shout"):
        assert logs(measured, effect, mode=mode) == pytest.approx([0.0] * 3, abs=1e-12)


@pytest.mark.parametrize("effect", ["rule_switch", "target_repetition", "negative_priming"])
def test_a_mode_switch_makes_no_other_effect(play, effect):
    trials = play(lambda t, h: level(t) + 0.4 * is_true(~h["mode_repeated"]), game="grab-or-shout")
    measured = measure(trials)
    for mode in ("grab", "shout"):
        assert logs(measured, effect, mode=mode) == pytest.approx([0.0] * 3, abs=1e-12)


def test_ignored_targets_make_a_switch_cost_unless_matched(play):
    trials = play(lambda t, h: level(t) + 0.3 * is_true(h["target_ignored"]))
    assert (np.abs(logs(measure(trials), "rule_switch", rule="direct")) > 0.01).all()
    matched = measure(trials, match=("target_ignored",))
    for rule in ("direct", "exclusion"):
        assert logs(matched, "rule_switch", rule=rule) == pytest.approx([0.0] * 3, abs=1e-12)


def test_modes_are_never_pooled(play):
    trials = play(lambda t, h: level(t), game="grab-or-shout")
    shouted = (trials["mode"] == "shout").fillna(False)
    slower = trials.assign(rt_s=trials["rt_s"].mask(shouted, trials["rt_s"] * 50))
    measured, other = measure(trials).effects, measure(slower).effects
    assert set(measured["mode"]) == {"grab", "shout"}
    grab = (measured["mode"] == "grab").to_numpy(dtype=bool)
    columns = [c for c in measured.columns if not c.startswith(("mean_", "difference_s"))]
    pd.testing.assert_frame_equal(measured[grab], other[grab])
    shout = [c for c in columns if not c.startswith("geometric_mean")]
    pd.testing.assert_frame_equal(measured.loc[~grab, shout], other.loc[~grab, shout], rtol=1e-9)


# What the estimate is, and what it leaves out.


def test_matched_differences_are_those_of_a_regression_with_strata(play):
    rng = np.random.default_rng(8)
    trials = play(lambda t, h: level(t) + rng.normal(0, 0.4, len(t)), n_participants=1)
    flagged = flag_exclusions(trials, SETTINGS)
    table = sequence_trials(flagged)
    keep = (
        table["usable"] & table["previous_correct"] & ~table["card_repeated"]
        & (table["target_repeated"] | ~table["answer_repeated"])
    )  # fmt: skip
    used = table[keep]
    strata = pd.get_dummies(used[["rule", "previous_rule"]].astype("str").sum(axis=1), dtype=float)
    design = np.column_stack([used["target_repeated"].to_numpy(dtype=float), strata])
    coefficients, *_ = np.linalg.lstsq(design, used["log_rt"].to_numpy(), rcond=None)
    found = logs(measure(trials), "target_repetition")
    assert found == pytest.approx([coefficients[0]], rel=1e-10)


def test_a_trial_that_is_left_out_still_comes_before_the_next(play):
    trials = play(lambda t, h: level(t), p_error=0.0)
    slow = trials["trial_index"] == 10
    settings = AnalysisSettings(bounds=BoundsSettings(max_rt_s=20))

    def n_used(table):
        flagged = flag_exclusions(table, settings)
        effects = participant_effects(flagged, factors=("rule",)).effects
        rows = effects[(effects["effect"] == "negative_priming") & effects["rule"].isna()]
        return int(rows["n_condition"].sum() + rows["n_reference"].sum())

    changed = trials.assign(rt_s=trials["rt_s"].mask(slow, 60.0))
    lost = int(is_true(~trial_history(trials)["target_repeated"])[slow].sum())
    assert n_used(trials) - n_used(changed) == lost


def test_error_rates_are_of_the_same_trials_with_the_wrong_ones(play):
    trials = play(lambda t, h: level(t), n_participants=1, p_error=0.3)
    history = trial_history(trials)
    eligible = (
        is_true(history["previous_correct"])
        & ~is_true(history["target_repeated"])
        & (trials["rule"] == "direct").to_numpy(dtype=bool)
    )
    wrong = is_true(~trials["correct"])
    row = measure(trials).effects.set_index(["effect", "rule"]).loc[("rule_switch", "direct")]
    for kind, chosen in (
        ("condition", eligible & is_true(~history["rule_repeated"])),
        ("reference", eligible & is_true(history["rule_repeated"])),
    ):
        assert row[f"n_trials_{kind}"] == chosen.sum()
        assert row[f"p_error_{kind}"] == pytest.approx(wrong[chosen].mean())
        assert row[f"n_{kind}"] == (chosen & ~wrong).sum()


def test_every_step_of_leaving_out_is_counted(play):
    trials = play(lambda t, h: level(t), blocks=TWO_KINDS)
    measured = measure(trials)
    for effect, steps in measured.exclusions.groupby("effect", sort=False):
        assert steps["step"].tolist() == list(range(len(steps)))
        assert (steps["n_trials"] - steps["n_excluded"] == steps["n_left"]).all()
        assert steps["n_trials"].tolist()[1:] == steps["n_left"].tolist()[:-1]
        own = measured.effects[(measured.effects["effect"] == effect)]
        own = own[own["rule"].isna()]
        n_used = own["n_condition"].sum() + (0 if "robust" in effect else own["n_reference"].sum())
        assert steps["n_left"].iloc[-1] == n_used
    first = measured.exclusions[measured.exclusions["effect"] == "rule_switch"]
    assert first["n_trials"].iloc[0] == 3 * 300
    edge = first[first["reason"].str.contains("no trial just before")]
    assert edge["n_excluded"].tolist() == [3 * 2]


def test_the_order_of_rows_makes_no_difference(play):
    rng = np.random.default_rng(4)
    trials = play(lambda t, h: rng.normal(0, 0.3, len(t)), blocks=TWO_KINDS)
    shuffled = trials.iloc[rng.permutation(len(trials))]
    expected, found = measure(trials), measure(shuffled)
    pd.testing.assert_frame_equal(found.effects, expected.effects, rtol=1e-9)
    pd.testing.assert_frame_equal(found.exclusions, expected.exclusions)


# Means over participants.


def test_group_means_are_the_paired_t_test(play):
    rng = np.random.default_rng(6)
    trials = play(lambda t, h: level(t) + rng.normal(0, 0.3, len(t)), n_participants=5)
    measured = measure(trials)
    table = group_effects(measured, confidence=0.9).set_index(["effect", "rule"])
    row = table.loc[("rule_switch", "direct")]
    values = logs(measured, "rule_switch", rule="direct")
    test = stats.ttest_1samp(values, 0)
    interval = test.confidence_interval(0.9)
    assert row["t"] == pytest.approx(test.statistic)
    assert (row["df"], row["n_participants"], row["n_left_out"]) == (4, 5, 0)
    assert row["p"] == pytest.approx(test.pvalue)
    assert row["rt_ratio"] == pytest.approx(np.exp(values.mean()))
    assert row["rt_ratio_low"] == pytest.approx(np.exp(interval.low))
    assert row["dz"] == pytest.approx(values.mean() / values.std(ddof=1))
    effects = measured.effects
    errors = effects[(effects["effect"] == "rule_switch") & (effects["rule"] == "direct")]
    of_errors = stats.ttest_1samp(errors["p_error_difference"].to_numpy("float64"), 0)
    assert row["error_t"] == pytest.approx(of_errors.statistic)
    assert row["error_p"] == pytest.approx(of_errors.pvalue)


def test_participants_with_too_few_trials_are_left_out_and_named(play):
    long = play(lambda t, h: level(t), n_participants=2)
    short = long[(long["participant_id"] == "00") | (long["trial_index"] < 6)]
    measured = measure(short)
    group = group_effects(measured, confidence=0.95)
    row = group[(group["effect"] == "rule_switch") & group["rule"].isna()].iloc[0]
    assert (row["n_participants"], row["n_left_out"]) == (1, 1)
    assert json.loads(row["left_out"]) == ["01"]
    assert row["note"] == (
        "one participant, so no interval; 1 participant left out, with fewer than 5 RTs of one "
        "of the two kinds; error rates: one participant, so no interval"
    )
    notes = measured.effects[measured.effects["participant_id"] == "01"]["note"]
    assert (notes != "").all()


def test_equal_differences_of_error_rates_are_not_known_for_certain(play):
    measured = measure(play(lambda t, h: level(t), n_participants=3, p_error=0.0))
    group = group_effects(measured, confidence=0.95)
    row = group[(group["effect"] == "rule_switch") & group["rule"].isna()].iloc[0]
    assert (row["p_error_difference"], row["n_participants_errors"]) == (0, 3)
    missing = ["p_error_difference_low", "p_error_difference_high", "error_t", "error_p"]
    assert row[missing].isna().all()
    assert "error rates: all participants have the same value, so neither interval" in row["note"]


def test_two_participants_at_the_highest_confidence_give_no_infinity(play):
    def log_rt(trials, history):
        slow = (trials["participant_id"] == "00").to_numpy() & is_true(~history["rule_repeated"])
        return level(trials) + 2.0 * slow

    group = group_effects(measure(play(log_rt, n_participants=2)), confidence=0.9999)
    row = group[(group["effect"] == "rule_switch") & group["rule"].isna()].iloc[0]
    assert row[["rt_ratio", "mean_difference_log", "sd_difference_log"]].notna().all()
    assert row[["rt_ratio_low", "rt_ratio_high"]].isna().all()
    assert "too wide for floating-point numbers" in row["note"]
    numbers = group.select_dtypes("Float64").to_numpy("float64", na_value=np.nan)
    assert not np.isinf(numbers).any()


def test_all_wrong_gives_rows_without_values_and_a_note(play):
    measured = measure(play(lambda t, h: level(t), p_error=1.0))
    assert measured.effects["difference_log"].isna().all()
    group = group_effects(measured, confidence=0.95)
    assert (group["n_participants"] == 0).all()
    assert group["note"].str.contains("no participant").all()


def test_one_rule_alone_has_no_switches_and_no_rows_per_rule(play):
    measured = measure(play(lambda t, h: 0 * level(t), blocks=(("direct", 100),)))
    assert measured.effects["rule"].isna().all()
    effects = set(measured.effects["effect"])
    assert "target_repetition" in effects
    assert not effects & {"rule_switch", "rule_switch_asymmetry", "mixing", "mode_switch"}


def test_trials_of_no_analysed_phase_are_refused(play):
    trials = play(lambda t, h: level(t), n_participants=1).assign(phase="practice")
    flagged = flag_exclusions(trials, SETTINGS)
    with pytest.raises(DatasetError, match="none of the 300 trials is analysed"):
        participant_effects(flagged, factors=("rule",))


def test_an_unknown_column_to_match_on_is_refused(play):
    trials = play(lambda t, h: level(t), n_participants=1)
    with pytest.raises(DatasetError, match="'colour' is no column to match"):
        measure(trials, match=("colour",))


def test_tables_have_nullable_types_and_no_infinities(play):
    trials = play(lambda t, h: level(t), game="grab-or-shout", blocks=TWO_KINDS)
    flagged = flag_exclusions(trials, SETTINGS)
    factors = cell_factors(flagged, SETTINGS)
    results = sequence_results(flagged, factors=factors, settings=SETTINGS)
    for stem, table in results.tables.items():
        assert stem.startswith(("sequence_", "practice_"))
        assert len(table)
        assert set(map(str, table.dtypes)) <= {"string", "Int64", "Float64"}, stem
        numbers = table.select_dtypes("Float64").to_numpy("float64", na_value=np.nan)
        assert not np.isinf(numbers).any()
        assert all(str(table[c].dtype) == "Int64" for c in table if c.startswith("n_"))
    assert set(results.effects["effect"]) <= set(EFFECT_MEANINGS)
