"""The plan of a session: recounted from its trials alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby, pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_study import ITEM_COLOURS, make_settings

from ghostblitz_task.design import BlockReport, Plan, TrialPlan, plan_session
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import Stimulus

seeds = st.integers(0, 2**32 - 1)
FULL = {
    "blocks": [
        {"label": "practice", "phase": "practice", "n_trials": 10},
        {"label": "direct", "type": "direct", "n_trials": 20},
        {"label": "exclusion", "type": "exclusion", "n_trials": 40},
        {"label": "mixed", "n_trials": 48, "p_direct": 0.5},
    ]
}


def planned(game: str, seed: int, overrides: Mapping[str, Any]) -> Plan:
    made = make_settings(game, overrides)
    return plan_session(made, made.make_game(), seed=seed)


def solve(trial: TrialPlan, game: str) -> Stimulus:
    made = make_settings(game).make_game()
    return made.stimulus(trial.card, made.initial_state())


def runs(values: list[str]) -> int:
    return max(len(list(group)) for _, group in groupby(values))


def recount(label: str, ordered: list[Stimulus], plan: Plan) -> dict[str, Any]:
    """What a block's report must say, from the trials alone."""
    rules = [s.solution.rule for s in ordered]
    modes = [s.solution.mode for s in ordered]
    targets = [str(s.solution.target) for s in ordered]
    n_pairs = len(ordered) - 1
    block = next(b for b in plan.blocks if b.label == label)

    def share(values: list[str], equal: bool) -> float | None:
        return sum((a == b) is equal for a, b in pairwise(values)) / n_pairs if n_pairs else None

    return {
        "label": label,
        "phase": block.phase,
        "type": block.type,
        "n_trials": len(ordered),
        "n_by_rule": dict(Counter(rules)),
        "n_by_mode": dict(Counter(modes)),
        "n_by_target": dict(Counter(targets)),
        "n_card_repeats": sum(
            frozenset(a.card.pictures) == frozenset(b.card.pictures) for a, b in pairwise(ordered)
        ),
        "rule_switch_rate": pytest.approx(share(rules, False)),
        "mode_switch_rate": pytest.approx(share(modes, False)),
        "target_repetition_rate": pytest.approx(share(targets, True)),
        "longest_run_rule": runs(rules),
        "longest_run_target": runs(targets),
        "longest_run_mode": runs(modes),
        "n_direct_by_position": dict(
            Counter(
                str(place)
                for s in ordered
                for place, p in enumerate(s.card.pictures)
                if ITEM_COLOURS[p.item] == p.colour
            )
        ),
        "n_by_item_and_position": dict(
            Counter(f"{p.item}@{i}" for s in ordered for i, p in enumerate(s.card.pictures))
        ),
    }


@settings(max_examples=12, deadline=None)
@given(seed=seeds, game=st.sampled_from(["classic", "grab-or-shout"]))
def test_plan_keeps_every_limit_and_its_report_is_true(seed: int, game: str) -> None:
    plan = planned(game, seed, FULL)
    assert [t.trial_index for t in plan.trials] == list(range(118))
    cards = [t.card.card_id for t in plan.trials]
    assert all(a != b for a, b in pairwise(cards))
    assert all(t.foreperiod_s == 0.5 for t in plan.trials)
    for index, (block, report) in enumerate(zip(plan.blocks, plan.report, strict=True)):
        trials = plan.trials_of(index)
        assert [t.trial_in_block for t in trials] == list(range(block.n_trials))
        ordered = [solve(t, game) for t in trials]
        counted = recount(block.label, ordered, plan)
        _same(report, counted)
        n_rules = len(counted["n_by_rule"])
        assert n_rules == 1 or counted["longest_run_rule"] <= 4
        assert counted["longest_run_target"] <= 2
        assert len(counted["n_by_mode"]) == 1 or counted["longest_run_mode"] <= 5


def _same(report: BlockReport, counted: dict[str, Any]) -> None:
    for name, value in counted.items():
        assert getattr(report, name) == value, name


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_direct_picture_stands_evenly_left_and_right_for_each_target(seed: int) -> None:
    plan = planned("classic", seed, FULL)
    for index in (1, 3):
        by_target: dict[str, Counter[int]] = {}
        for trial in plan.trials_of(index):
            for place, p in enumerate(trial.card.pictures):
                if ITEM_COLOURS[p.item] == p.colour:
                    by_target.setdefault(p.item, Counter())[place] += 1
        assert set(by_target) == set(ITEM_COLOURS)
        for counts in by_target.values():
            assert abs(counts[0] - counts[1]) <= 1
        total = sum(by_target.values(), Counter())
        assert abs(total[0] - total[1]) <= 1


def test_odd_trial_of_a_block_does_not_always_stand_on_the_left() -> None:
    one = {
        "deck.kind": "legal",
        "blocks": [{"label": "one", "type": "direct", "n_trials": 1}],
    }
    places = Counter(
        place
        for seed in range(200)
        for place, p in enumerate(planned("classic", seed, one).trials[0].card.pictures)
        if ITEM_COLOURS[p.item] == p.colour
    )
    assert min(places[0], places[1]) > 70  # 100 and 100, give or take four standard deviations


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_every_item_stands_about_evenly_at_each_place(seed: int) -> None:
    plan = planned("classic", seed, {"blocks": [{"label": "all", "n_trials": 60}]})
    counts = plan.report[0].n_by_item_and_position
    for item in ITEM_COLOURS:
        assert counts[f"{item}@0"] + counts[f"{item}@1"] == 24
        assert abs(counts[f"{item}@0"] - counts[f"{item}@1"]) <= 4


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_no_card_comes_again_before_all_of_its_rule_were_shown(seed: int) -> None:
    blocks = [{"label": f"b{i}", "n_trials": 30} for i in range(4)]
    plan = planned("classic", seed, {"blocks": blocks})
    halves = [plan.trials_of(0) + plan.trials_of(1), plan.trials_of(2) + plan.trials_of(3)]
    for half in halves:
        assert len({t.card.card_id for t in half}) == 60
    first, second = ({t.card.card_id for t in half} for half in halves)
    assert first == second


def test_practice_does_not_use_up_the_cards_of_the_test() -> None:
    blocks = [
        {"label": "practice", "phase": "practice", "n_trials": 12},
        {"label": "test", "n_trials": 60},
    ]
    plan = planned("classic", 4, {"blocks": blocks})
    assert len({t.card.card_id for t in plan.trials_of(1)}) == 60


def test_targets_are_drawn_evenly_within_a_block() -> None:
    for seed in range(20):
        blocks = [{"label": "one", "type": "exclusion", "n_trials": 10}]
        report = planned("classic", seed, {"blocks": blocks}).report[0]
        assert report.n_by_target == dict.fromkeys(sorted(ITEM_COLOURS), 2)


def test_mixed_block_has_the_share_of_the_deck_or_the_one_that_is_set() -> None:
    plan = planned("classic", 1, {"blocks": [
        {"label": "deck", "n_trials": 30}, {"label": "half", "n_trials": 30, "p_direct": 0.5},
    ]})  # fmt: skip
    assert plan.report[0].n_by_rule == {"direct": 10, "exclusion": 20}
    assert plan.report[1].n_by_rule == {"direct": 15, "exclusion": 15}


def test_foreperiods_are_spread_over_their_range() -> None:
    blocks = [{"label": "all", "n_trials": 60}]
    plan = planned("classic", 1, {"blocks": blocks, "timing.foreperiod_s": [0.6, 1.2]})
    drawn = [t.foreperiod_s for t in plan.trials]
    assert 0.6 <= min(drawn) < 0.65
    assert 1.15 < max(drawn) <= 1.2


# --- seeds --------------------------------------------------------------------------------------


def test_same_seed_same_plan_and_another_seed_another() -> None:
    assert planned("classic", 7, FULL) == planned("classic", 7, FULL)
    assert len({planned("classic", seed, FULL).sha256 for seed in range(20)}) == 20
    assert planned("classic", 7, FULL).sha256 == planned("classic", 7, FULL).sha256


@pytest.mark.parametrize(
    "change",
    [
        lambda t: TrialPlan(t.trial_index, t.block_index, t.trial_in_block, t.card, 0.501),
        lambda t: TrialPlan(t.trial_index, 9, t.trial_in_block, t.card, t.foreperiod_s),
        lambda t: TrialPlan(t.trial_index, t.block_index, t.trial_in_block,
                            type(t.card)(t.card.pictures[::-1]), t.foreperiod_s),
    ],
    ids=["foreperiod", "block", "places of the pictures"],
)  # fmt: skip
def test_hash_sees_whatever_changes_the_sequence(change: Any) -> None:
    plan = planned("classic", 7, FULL)
    changed = Plan(plan.blocks, (change(plan.trials[0]), *plan.trials[1:]), plan.report, plan.table)
    assert changed.sha256 != plan.sha256


def test_feedback_keys_and_display_do_not_shift_the_sequence() -> None:
    plan = planned("classic", 7, FULL)
    changed = {"feedback.show": "off", "display.picture_deg": 4.0, "timing.deadline_s": 3.0}
    assert planned("classic", 7, FULL | changed).sha256 == plan.sha256


# --- what cannot be met -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sequence.max_run_rule": 1}, r"block one: max_run_rule is 1, .*possible is 2"),
        (
            {"sequence.max_run_target": 1, "sequence.target_repetition_rate": 0.5},
            r"block practice: .*(is 0\.5, but the nearest|is 1, but the shortest found)",
        ),
        ({"sequence.rule_switch_rate": 1.0, "sequence.rate_tolerance": 0.0},
         r"block one: rule_switch_rate is 1, but the nearest possible is 0\.\d\d"),
        ({"deck.kind": "custom", "deck.cards": ["ghost:white book:red"]},
         r"block one: the deck holds no exclusion card"),
        ({"deck.kind": "custom", "deck.cards": ["ghost:white book:red", "book:green ghost:red"]},
         r"block one: a card would follow itself"),
        ({"game.n_pictures": 3}, r"has no standard deck"),
        ({"game.n_pictures": 4, "deck.kind": "legal", "game.item_colours": dict.fromkeys(
            ITEM_COLOURS, "red")}, r"the deck holds no"),
    ],
)  # fmt: skip
def test_what_cannot_be_met_names_the_block_and_quickly(
    overrides: dict[str, Any], message: str
) -> None:
    blocks = [
        {"label": "one", "n_trials": 12, "p_direct": 0.3},
        {"label": "two", "type": "direct", "n_trials": 3},
    ]
    if "practice" in message:
        blocks[0]["label"] = "practice"
    began = perf_counter()
    with pytest.raises(ConfigError, match=message):
        planned("classic", 1, {"blocks": blocks} | overrides)
    assert perf_counter() - began < 2


def test_mixed_block_of_an_empty_deck_is_an_error_of_the_settings() -> None:
    overrides = {
        "game.item_colours": dict.fromkeys(ITEM_COLOURS, "red"),
        "deck.kind": "legal",
        "blocks": [{"label": "one", "n_trials": 2}],
    }
    with pytest.raises(ConfigError, match=r"block one: the deck holds no exclusion card"):
        planned("classic", 1, overrides)


def test_custom_cards_may_differ_in_their_number_of_pictures() -> None:
    overrides = {
        "deck.kind": "custom",
        "deck.cards": ["ghost:white", "book:blue", "mouse:grey ghost:red", "chair:red ghost:blue"],
        "blocks": [{"label": "one", "type": "direct", "n_trials": 8}],
    }
    for seed in range(10):
        plan = planned("classic", seed, overrides)
        pairs = [t.card for t in plan.trials if len(t.card.pictures) == 2]
        assert len(pairs) == 4
        assert sum(c.pictures[0].item in {"mouse", "chair"} for c in pairs) == 2


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_own_mapping_with_shared_colours_and_three_pictures_is_planned(seed: int) -> None:
    own = {"ghost": "white", "chair": "red", "bottle": "red", "book": "blue", "mouse": "blue"}
    overrides = {
        "game.item_colours": own,
        "game.n_pictures": 3,
        "deck.kind": "legal",
        "blocks": [{"label": "one", "n_trials": 20}],
    }
    plan = planned("classic", seed, overrides)
    for trial in plan.trials:
        assert len(trial.card.pictures) == 3
    places = plan.report[0].n_direct_by_position
    assert max(places.values()) - min(places.values()) <= 1
