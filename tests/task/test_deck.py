"""Decks: every stated margin over many seeds, and what cannot be built."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from small_study import ITEM_COLOURS

from ghostblitz_task.deck import DECK_KINDS, Deck, build_deck, legal_stimuli, levels, solve_cards
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import DeckMargins, GameSettings, make_game

GAMES = ("classic", "grab-or-shout")
N_SEEDS = 100
PER_RULE = {
    "standard": {"direct": 20, "exclusion": 40},
    "balanced": {"direct": 30, "exclusion": 30},
}


@cache
def deck(game: str, kind: str, seed: int) -> Deck:
    return build_deck(make_game(GameSettings(game)), kind=kind, rng=np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["standard", "balanced"])
@pytest.mark.parametrize("game", GAMES)
def test_deck_has_its_margins_whatever_the_seed(game: str, kind: str) -> None:
    for seed in range(N_SEEDS):
        stimuli = deck(game, kind, seed).stimuli
        n_by_rule = PER_RULE[kind]
        assert len(stimuli) == 60
        assert len({s.card.card_id for s in stimuli}) == 60
        assert Counter(s.solution.rule for s in stimuli) == n_by_rule
        assert Counter((s.solution.rule, s.solution.target) for s in stimuli) == {
            (rule, item): n // 5 for rule, n in n_by_rule.items() for item in ITEM_COLOURS
        }
        assert set(Counter(s.solution.target for s in stimuli).values()) == {12}
        shown = [p for s in stimuli for p in s.card.pictures]
        assert Counter(p.item for p in shown) == dict.fromkeys(ITEM_COLOURS, 24)
        assert Counter(p.colour for p in shown) == dict.fromkeys(ITEM_COLOURS.values(), 24)
        pairs = Counter(
            (frozenset(p.item for p in s.card.pictures), s.solution.rule) for s in stimuli
        )
        assert pairs == {
            (frozenset(pair), rule): n // 10
            for pair in combinations(ITEM_COLOURS, 2)
            for rule, n in n_by_rule.items()
        }
        assert sum("book" in str(s.card) for s in stimuli) == 24


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_each_pair_of_a_standard_deck_has_one_direct_card_per_item(game: str) -> None:
    for seed in range(N_SEEDS):
        direct = Counter(
            (frozenset(p.item for p in s.card.pictures), s.solution.target)
            for s in deck(game, "standard", seed).stimuli
            if s.solution.rule == "direct"
        )
        assert direct == {
            (frozenset(pair), item): 1 for pair in combinations(ITEM_COLOURS, 2) for item in pair
        }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["standard", "balanced"])
@pytest.mark.parametrize("game", GAMES)
def test_every_quota_that_is_stated_is_met(game: str, kind: str) -> None:
    for seed in range(N_SEEDS):
        built = deck(game, kind, seed)
        assert built.margins is not None
        for factor, quotas in built.margins.quotas.items():
            counts = built.counts(factor)
            assert {level: counts[level] for level in quotas} == quotas, factor


@pytest.mark.parametrize("game", GAMES)
def test_grab_and_shout_cards_of_a_standard_deck(game: str) -> None:
    modes = deck(game, "standard", 3).counts("mode")
    assert modes == ({"grab": 60} if game == "classic" else {"grab": 36, "shout": 24})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["standard", "balanced"])
def test_seeds_draw_different_decks_and_one_seed_the_same(kind: str) -> None:
    drawn = {frozenset(s.card.card_id for s in deck("classic", kind, seed).stimuli)
             for seed in range(N_SEEDS)}  # fmt: skip
    assert len(drawn) == N_SEEDS
    game = make_game(GameSettings("classic"))
    again = build_deck(game, kind=kind, rng=np.random.default_rng(5))
    assert again.stimuli == deck("classic", kind, 5).stimuli


def test_legal_deck_holds_every_legal_card_once_in_seeded_order() -> None:
    game = make_game(GameSettings("classic"))
    legal = deck("classic", "legal", 1)
    assert sorted(s.card.card_id for s in legal.stimuli) == sorted(
        s.card.card_id for s in legal_stimuli(game)
    )
    assert legal.stimuli != deck("classic", "legal", 2).stimuli


def test_custom_deck_keeps_the_cards_in_their_order() -> None:
    game = make_game(GameSettings("classic"))
    texts = ["mouse:grey ghost:red", "book:green ghost:red", "ghost:white"]
    assert [str(s.card) for s in solve_cards(texts, game).stimuli] == texts


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["ghost:white book:blue"], r"several_direct_matches"),
        (["dragon:white book:blue"], r"unknown_item"),
        (["ghost:white book:red", "book:red ghost:white"], r"more than once"),
        (["ghost:white book:red bottle:grey"], r"shows more than 2 pictures"),
    ],
)
def test_custom_deck_refuses_what_cannot_be_played(texts: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        solve_cards(texts, make_game(GameSettings("classic")))


OWN = {"a": "red", "b": "red", "c": "blue", "d": "green", "e": "blue"}


@pytest.mark.parametrize("kind", ["standard", "balanced"])
@pytest.mark.parametrize(
    "settings",
    [
        GameSettings("classic", item_colours=OWN),
        GameSettings("classic", item_colours=dict(list(ITEM_COLOURS.items())[:4])),
        GameSettings("classic", n_pictures=1),
        GameSettings("classic", n_pictures=3),
        GameSettings("grab-or-shout", n_pictures=3),
    ],
)
def test_own_game_without_that_deck_says_so(settings: GameSettings, kind: str) -> None:
    with pytest.raises(ConfigError, match=f"no {kind} deck; use legal, or list the cards"):
        build_deck(make_game(settings), kind=kind, rng=np.random.default_rng(1))


def test_own_game_of_five_items_in_five_colours_has_the_standard_deck() -> None:
    own = dict(zip("vwxyz", ["red", "green", "blue", "black", "white"], strict=True))
    game = make_game(GameSettings("classic", item_colours=own))
    built = build_deck(game, kind="standard", rng=np.random.default_rng(1))
    assert built.counts("rule") == {"direct": 20, "exclusion": 40}
    assert set(built.counts("depicted").values()) == {24}


def test_quotas_that_contradict_each_other_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ghostblitz_task.deck._N_RESTARTS", 2)

    class Contradictory:
        def __init__(self) -> None:
            self._game = make_game(GameSettings("classic"))

        def __getattr__(self, name: str) -> object:
            return getattr(self._game, name)

        def deck_margins(self, kind: str) -> DeckMargins:
            quotas = {"rule": {"direct": 2, "exclusion": 2}, "depicted": {"ghost": 9}}
            return DeckMargins(4, quotas, strata="rule")

    with pytest.raises(ConfigError, match=r"no deck with these margins"):
        build_deck(Contradictory(), kind="standard", rng=np.random.default_rng(1))


def test_levels_join_factors_and_count_each_picture() -> None:
    game = make_game(GameSettings("grab-or-shout"))
    stimulus = game.stimulus(game.parse("mouse:red book:green"), game.initial_state())
    assert levels(stimulus, "rule*mode*depicted") == [
        "exclusion*shout*mouse",
        "exclusion*shout*book",
    ]


def test_kinds_are_those_that_settings_offer() -> None:
    assert DECK_KINDS == ("standard", "balanced", "legal")
