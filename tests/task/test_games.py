"""The rules: the worked vectors, the census of RULES.md, and a brute force of our own."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import ITEM_COLOURS, solved

from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import (
    GameSettings,
    GameState,
    Outcome,
    Response,
    available_games,
    base_rule,
    item_role,
    make_game,
)
from ghostblitz_task.solving import state_of

VECTOR_FILES = ("classic.jsonl", "grab-or-shout.jsonl", "spooky-doo.jsonl", "five-to-twelve.jsonl")
FIVE = tuple(ITEM_COLOURS)


def test_vector(vector: dict[str, Any] | None, shared: Path) -> None:
    assert vector is not None, f"{shared} holds no {' and '.join(VECTOR_FILES)}"
    rules = frozenset(vector.get("rules", ()))
    game = make_game(GameSettings(vector["game"], rules=rules))
    state = state_of(game, vector.get("hat_over"))
    expected = vector["expect"]
    if "error" in expected:
        with pytest.raises(CardError, match=r"card") as caught:
            game.stimulus(game.parse(vector["card"]), state)
        assert caught.value.code == expected["error"]
        return
    solution = game.stimulus(game.parse(vector["card"]), state).solution
    assert {name: getattr(solution, name) for name in expected} == expected


def _outcome(card: Card) -> str:
    try:
        return base_rule(card, ITEM_COLOURS)[0]
    except CardError as error:
        return error.code


def _two_pictures() -> list[Card]:
    return [
        Card((Picture(a, x), Picture(b, y)))
        for a, b in combinations(FIVE, 2)
        for x, y in permutations(ITEM_COLOURS.values(), 2)
    ]


def test_census_of_the_200_cards() -> None:
    cards = _two_pictures()
    assert len(cards) == 200
    assert Counter(map(_outcome, cards)) == {
        "direct": 60,
        "exclusion": 60,
        "several_direct_matches": 10,
        "several_candidates": 70,
    }


@pytest.mark.parametrize("name", ["classic", "grab-or-shout"])
def test_legal_cards_are_the_120_of_the_census(name: str) -> None:
    game = make_game(GameSettings(name))
    expected = {c.card_id for c in _two_pictures() if _outcome(c) in {"direct", "exclusion"}}
    assert {s.card.card_id for s in legal_stimuli(game)} == expected
    assert len(expected) == len(legal_stimuli(game)) == 120


def test_no_legal_card_uses_a_depicted_items_own_colour_on_the_other_picture() -> None:
    for stimulus in legal_stimuli(make_game(GameSettings("classic"))):
        a, b = stimulus.card.pictures
        assert a.colour != ITEM_COLOURS[b.item]
        assert b.colour != ITEM_COLOURS[a.item]


def test_mode_is_shout_exactly_when_a_book_is_depicted() -> None:
    stimuli = legal_stimuli(make_game(GameSettings("grab-or-shout")))
    for stimulus in stimuli:
        has_book = "book" in str(stimulus.card)
        assert (stimulus.solution.mode == "shout") == has_book
    assert {s.solution.mode for s in stimuli} == {"grab", "shout"}


def test_shout_card_is_no_exclusion_for_the_book_and_grab_card_no_direct_book() -> None:
    stimuli = legal_stimuli(make_game(GameSettings("grab-or-shout")))
    found = Counter((s.solution.mode, s.solution.rule, s.solution.target) for s in stimuli)
    assert found["shout", "exclusion", "book"] == 0
    assert found["grab", "direct", "book"] == 0
    assert found["shout", "direct", "book"] == found["grab", "exclusion", "book"] == 12


def test_classic_is_always_grab() -> None:
    assert {s.solution.mode for s in legal_stimuli(make_game(GameSettings("classic")))} == {"grab"}


def test_another_item_can_ask_for_shouting() -> None:
    stimulus, _ = solved("mouse:red ghost:white", shout_item="mouse")
    assert stimulus.solution.mode == "shout"
    stimulus, _ = solved("book:red ghost:white", shout_item="mouse")
    assert stimulus.solution.mode == "grab"


def test_the_one_right_response_is_the_solution() -> None:
    stimulus, game = solved("book:green ghost:red")
    assert game.correct_responses(stimulus) == {Response("shout", "mouse")}


def test_card_games_remember_nothing() -> None:
    stimulus, game = solved("book:green ghost:red")
    after = game.advance(GameState(), stimulus, Outcome(Response("shout", "mouse"), True))
    assert after == game.initial_state() == GameState()


# --- an independent reading of the base logic ---------------------------------------------------


def brute_force(shown: list[tuple[str, str]], own: dict[str, str]) -> tuple[str, str | None]:
    """RULES.md, Base logic, word by word."""
    matching = [item for item, colour in shown if own[item] == colour]
    if len(matching) == 1:
        return "direct", matching[0]
    if len(matching) > 1:
        return "several_direct_matches", None
    left = []
    for item, colour in own.items():
        depicted = any(item == i for i, _ in shown)
        colour_seen = any(colour == c for _, c in shown)
        if not depicted and not colour_seen:
            left.append(item)
    if len(left) == 1:
        return "exclusion", left[0]
    return ("several_candidates" if left else "no_candidate"), None


@st.composite
def mappings_with_cards(draw: st.DrawFn) -> tuple[dict[str, str], list[tuple[str, str]]]:
    items = draw(st.lists(st.sampled_from("abcdefghi"), min_size=2, max_size=9, unique=True))
    colours = draw(st.lists(st.sampled_from("RGBWK"), min_size=len(items), max_size=len(items)))
    own = dict(zip(items, colours, strict=True))
    n = draw(st.integers(1, min(3, len(items) - 1)))
    depicted = draw(st.permutations(items))[:n]
    shown = [(item, draw(st.sampled_from(sorted(set(colours))))) for item in depicted]
    return own, shown


@given(mappings_with_cards())
def test_own_mapping_is_solved_as_the_brute_force_does(
    case: tuple[dict[str, str], list[tuple[str, str]]],
) -> None:
    own, shown = case
    expected, target = brute_force(shown, own)
    game = make_game(GameSettings("classic", item_colours=own, n_pictures=len(shown)))
    card = game.parse(" ".join(f"{i}:{c}" for i, c in shown))
    try:
        solution = game.stimulus(card, game.initial_state()).solution
    except CardError as error:
        assert error.code == expected  # noqa: PT017 - any outcome is tested
    else:
        assert (solution.rule, solution.target) == (expected, target)
        assert solution.answer == target


@pytest.mark.parametrize("n_pictures", [1, 2, 3])
@pytest.mark.parametrize(
    "own",
    [
        {"a": "R", "b": "R", "c": "B", "d": "K", "e": "R"},
        {"a": "R", "b": "G", "c": "B"} | {"d": "W"},
        {"a": "R", "b": "R", "c": "G", "d": "G", "e": "B", "f": "B", "g": "W", "h": "K", "i": "K"},
    ],
)
def test_legal_cards_of_an_own_mapping_are_those_of_the_brute_force(
    own: dict[str, str], n_pictures: int
) -> None:
    game = make_game(GameSettings("classic", item_colours=own, n_pictures=n_pictures))
    expected = set()
    for items in combinations(sorted(own), n_pictures):
        for shown in product(sorted(set(own.values())), repeat=n_pictures):
            pairs = list(zip(items, shown, strict=True))
            if len(set(shown)) == n_pictures and brute_force(pairs, own)[1] is not None:
                expected.add(" ".join(sorted(f"{i}:{c}" for i, c in pairs)))
    found = [s.card.card_id for s in legal_stimuli(game)]
    assert set(found) == expected
    assert len(found) == len(expected)


# --- what could draw a participant --------------------------------------------------------------


@given(mappings_with_cards())
def test_item_role_follows_from_what_is_depicted_and_which_colours_are_shown(
    case: tuple[dict[str, str], list[tuple[str, str]]],
) -> None:
    own, shown = case
    card = Card(tuple(Picture(i, c) for i, c in shown))
    target = min(own)
    for item in own:
        depicted = item in {i for i, _ in shown}
        colour = own[item] in {c for _, c in shown}
        by_both = {(True, True): "shape_and_colour", (True, False): "shape",
                   (False, True): "colour", (False, False): "neither"}  # fmt: skip
        expected = "target" if item == target else by_both[depicted, colour]
        assert item_role(item, card, own, target) == expected


def test_three_pictures_can_show_an_item_and_its_colour_apart() -> None:
    stimulus, game = solved("ghost:blue book:white mouse:red", "classic", n_pictures=3)
    assert stimulus.solution.rule == "exclusion"
    role = item_role("ghost", stimulus.card, game.item_colours, stimulus.solution.answer)
    assert role == "shape_and_colour"


# --- what a game refuses ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (GameSettings("clasic"), r"no game.*did you mean classic\?"),
        (GameSettings("_five_items"), r"is no game"),
        (GameSettings("classic", rules=frozenset({"owl"})), r"owl is no additional rule"),
        (GameSettings("classic", n_pictures=5), r"n_pictures is 5, but with 5 items .* 1 to 4"),
        (GameSettings("classic", n_pictures=0), r"n_pictures is 0"),
        (GameSettings("classic", item_colours={"a": "red"}), r"n_pictures is 2"),
        (GameSettings("classic", shout_item="book"), r"no picture asks for shouting"),
        (GameSettings("grab-or-shout", shout_item="owl"), r"shout_item is 'owl'"),
        (GameSettings("grab-or-shout", shout_item=""), r"shout_item is ''"),
        (
            GameSettings("grab-or-shout", item_colours={"a": "x", "b": "y", "c": "z"}),
            r"shout_item is 'book'",
        ),
        (
            GameSettings("classic", item_colours={"red ghost": "red", "b": "y", "c": "z"}),
            r"holds 'red ghost'",
        ),
        (GameSettings("classic", item_colours={"a": "x:y", "b": "y", "c": "z"}), r"holds 'x:y'"),
    ],
)
def test_game_refuses_settings_that_do_not_fit(settings: GameSettings, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_game(settings)


def test_games_are_found_by_scanning_without_private_modules() -> None:
    assert {"classic", "grab-or-shout"} <= set(available_games())
    assert not any(name.startswith(("_", "-")) for name in available_games())


@given(st.text(max_size=12))
def test_unknown_names_are_no_game(name: str) -> None:
    if name not in available_games():
        with pytest.raises(ConfigError, match=r"is no game"):
            make_game(GameSettings(name))
