"""5 to 12: the census, precedence under every combination of rules, times, errors, the deck."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest

from ghostblitz_task.cards import Card
from ghostblitz_task.deck import Deck, build_deck, legal_stimuli, solve_cards
from ghostblitz_task.errors import CardError, ConfigError
from ghostblitz_task.games import Game, GameSettings, GameState, Response, base_rule, make_game
from ghostblitz_task.games._spoken_times import spoken_times
from ghostblitz_task.games.five_to_twelve import ITEM_COLOURS, RULES, TIMES

SUBSETS = [
    frozenset(kept)
    for kept in chain.from_iterable(combinations(sorted(RULES), n) for n in range(4))
]


def game_with(*rules: str) -> Game:
    return make_game(GameSettings("five-to-twelve", rules=frozenset(rules)))


def solve(text: str, *rules: str) -> tuple[str, str, str, str | None]:
    game = game_with(*rules)
    solution = game.stimulus(game.parse(text), GameState()).solution
    return solution.rule, solution.mode, solution.answer, solution.target


def kind_of(text: str, response: Response, *rules: str) -> str | None:
    game = game_with(*rules)
    return game.error_kind(response, game.stimulus(game.parse(text), GameState()))


# --- the census ---------------------------------------------------------------------------------


def test_census_of_the_5040_cards() -> None:
    found: Counter[str] = Counter()
    exclusion: Counter[str] = Counter()
    for card in game_with().cards("legal"):
        try:
            rule, target = base_rule(card, ITEM_COLOURS)
        except CardError as error:
            found[error.code] += 1
        else:
            found[rule] += 1
            exclusion[target] += rule == "exclusion"
    assert found.total() == 5040
    assert (found["direct"], found["exclusion"]) == (1848, 432)
    assert exclusion == {"ghost": 96} | {i: 42 for i in ITEM_COLOURS if i != "ghost"}


@pytest.mark.parametrize("n_pictures", [1, 2])
def test_fewer_pictures_leave_no_exclusion_card(n_pictures: int) -> None:
    game = make_game(GameSettings("five-to-twelve", n_pictures=n_pictures))
    assert all(s.solution.rule != "exclusion" for s in legal_stimuli(game))


# --- precedence, read once more from the rulebook -------------------------------------------------


def by_the_book(card: Card, rules: frozenset[str]) -> tuple[str, str, str] | str:
    """Rule, mode and answer of a card, or the code of why it has none."""
    items = {p.item: p for p in card.depicted}
    in_mirror = [p.mirrored for p in card.pictures if p.mirrored is not None]
    both = "ghost" in items and "clock" in items
    claimed = None
    if in_mirror and "mirror-owl" in rules and "owl" in items:
        claimed = ("mirror-owl", "shout", in_mirror[0].colour)
    elif in_mirror and "mirror" in rules:
        how = "shout" if "owl" in rules and "owl" in items else "grab"
        claimed = ("mirror", how, in_mirror[0].item)
    if claimed:
        return "ambiguous_rulebook" if both else claimed
    if both:
        return ("time", "shout", str(items["clock"].time))
    own = [i for i, p in items.items() if ITEM_COLOURS[i] == p.colour]
    colours = {p.colour for p in items.values()}
    left = [i for i, c in ITEM_COLOURS.items() if i not in items and c not in colours]
    how = "shout" if "owl" in rules and "owl" in items else "grab"
    if len(own) > 1:
        return "several_direct_matches"
    if own:
        return ("direct", how, own[0])
    if len(left) == 1:
        return ("exclusion", how, left[0])
    return "several_candidates" if left else "no_candidate"


def _solved(game: Game, card: Card) -> tuple[str, str, str] | str:
    try:
        solution = game.stimulus(card, GameState()).solution
    except CardError as error:
        return error.code
    return solution.rule, solution.mode, solution.answer


@pytest.mark.slow
@pytest.mark.parametrize("rules", SUBSETS, ids=lambda rules: "+".join(sorted(rules)))
def test_every_card_is_solved_as_the_rulebook_says(rules: frozenset[str]) -> None:
    game = game_with(*rules)
    found: Counter[str] = Counter()
    for card in game.cards("standard"):
        solved = _solved(game, card)
        assert solved == by_the_book(card, rules)
        found[solved if isinstance(solved, str) else solved[0]] += 1
    assert found["time"] > 0
    assert (found["mirror-owl"] > 0) == ("mirror-owl" in rules)
    assert (found["mirror"] > 0) == ("mirror" in rules)


@pytest.mark.parametrize(
    ("text", "rules", "expected"),
    [
        ("mirror:blue(hat:red) key:white", (), ("exclusion", "grab", "bat", "bat")),
        ("mirror:red(owl:blue) key:white", ("mirror", "owl"), ("mirror", "shout", "owl", "owl")),
        ("mirror:red(owl:blue) key:white", ("mirror-owl",), ("mirror-owl", "shout", "blue", "owl")),
        ("mirror:white owl:blue key:green", ("mirror-owl",), ("direct", "grab", "key", "key")),
        ("owl:red key:white hat:blue", ("owl",), ("direct", "shout", "owl", "owl")),
        ("owl:red key:white hat:blue", (), ("direct", "grab", "owl", "owl")),
        ("ghost:red clock:white@11:55 owl:blue", ("owl",), ("time", "shout", "11:55", None)),
        ("clock:red@11:55 key:green owl:white", ("owl",), ("direct", "shout", "key", "key")),
    ],
)
def test_named_cases(
    text: str, rules: tuple[str, ...], expected: tuple[str, str, str, str | None]
) -> None:
    assert solve(text, *rules) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ghost:red clock:green key:black", "clock_without_time"),
        ("hat:red(owl:blue) key:black", "malformed"),
        ("clock:red@13:00 key:green owl:white", "malformed"),
        ("clock:red@00:30 key:green owl:white", "malformed"),
        ("key:red@11:55 hat:green owl:white", "malformed"),
        ("mirror:red(mirror:blue) key:white", "duplicate_item"),
        ("mirror:white(ghost:red) clock:black@11:55", "ambiguous_rulebook"),
    ],
)
def test_refused_cards(text: str, code: str) -> None:
    with pytest.raises(CardError, match="card") as caught:
        solve(text, "mirror")
    assert caught.value.code == code


# --- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("11:55", {"11:55", "5 to 12", "five to twelve", "eleven fifty-five"}),
        ("12:55", {"12:55", "5 to 1", "five to one"}),
        ("03:00", {"03:00", "3:00", "3 o'clock", "three o'clock", "three"}),
        ("06:30", {"half past 6", "half past six", "six thirty"}),
        ("09:15", {"quarter past 9", "a quarter past nine", "15 past 9"}),
        ("01:45", {"quarter to two", "15 to 2"}),
        ("10:05", {"5 past 10", "five past ten", "ten oh five"}),
    ],
)
def test_ways_to_say_a_time_are_one_answer(time: str, said: set[str]) -> None:
    assert said <= spoken_times(time)
    for words in said:
        response = Response("shout", words)
        assert kind_of(f"ghost:red clock:white@{time} key:blue", response) is None


def test_no_two_times_on_a_clock_face_are_said_alike() -> None:
    times = [f"{h:02}:{m:02}" for h in range(1, 13) for m in range(60)]
    said = Counter(words for time in times for words in spoken_times(time))
    assert max(said.values()) == 1


def test_studys_own_times_are_what_its_clocks_show() -> None:
    game = make_game(GameSettings("five-to-twelve", times=("02:10", "08:45")))
    assert game.answers("shout") == ("02:10", "08:45")
    deck = build_deck(game, kind="standard", rng=np.random.default_rng(1))
    shown = {p.time for s in deck.stimuli for p in s.card.depicted if p.time}
    assert shown == {"02:10", "08:45"}


@pytest.mark.parametrize("times", [("13:00",), ("11:5",), ("11:55", "11:55"), ("noon",)])
def test_times_that_no_clock_shows_are_refused(times: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=r"times holds .* a different time on a clock face"):
        make_game(GameSettings("five-to-twelve", times=times))


def test_game_without_a_clock_takes_no_times() -> None:
    with pytest.raises(ConfigError, match="no item of it tells the time"):
        make_game(GameSettings("classic", times=("11:55",)))


def test_custom_card_with_a_time_that_has_no_key_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"asks to shout '02:10', which is none of 11:55"):
        solve_cards(["ghost:red clock:white@02:10 key:blue"], game_with())


# --- answers and errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "n_names", "n_colours"),
    [((), 0, 0), (("owl",), 9, 0), (("mirror-owl",), 0, 5), (("mirror",), 0, 0), (RULES, 9, 5)],
)
def test_only_what_the_rules_ask_for_can_be_shouted(
    rules: tuple[str, ...], n_names: int, n_colours: int
) -> None:
    said = game_with(*rules).answers("shout")
    assert sum(a in ITEM_COLOURS for a in said) == n_names
    assert sum(a in set(ITEM_COLOURS.values()) for a in said) == n_colours
    assert [a for a in said if ":" in a] == list(TIMES)


COLOUR_CARD = "mirror:green(key:black) owl:blue"


@pytest.mark.parametrize(
    ("text", "response", "kind"),
    [
        (COLOUR_CARD, Response("shout", "black"), None),
        (COLOUR_CARD, Response("shout", "green"), "own_colour"),
        (COLOUR_CARD, Response("shout", "white"), "wrong_colour"),
        (COLOUR_CARD, Response("shout", "key"), "rule_missed"),  # as without mirror-owl
        (COLOUR_CARD, Response("grab", "key"), "rule_missed"),  # as with the mirror rule alone
        (COLOUR_CARD, Response("shout", "vial"), "wrong_kind"),
        (COLOUR_CARD, Response("shout", "11:55"), "wrong_kind"),
        ("mirror:white(key:red) bat:green", Response("grab", "key"), None),
        ("mirror:white(key:red) bat:green", Response("shout", "key"), "wrong_mode"),
        ("mirror:white(key:red) bat:green", Response("shout", "red"), "wrong_kind"),
        ("mirror:white(key:red) flashlight:black", Response("grab", "flashlight"), "shape_capture"),
        ("ghost:red clock:white@11:55 key:blue", Response("shout", "10:05"), "wrong_time"),
        ("ghost:red clock:white@11:55 key:green", Response("grab", "key"), "rule_missed"),
        ("ghost:red clock:white@11:55 key:green", Response("shout", "key"), "wrong_kind"),
        ("ghost:red clock:white@11:55 key:green", Response("grab", "bat"), "wrong_kind"),
        ("owl:blue key:green hat:white", Response("shout", "key"), None),
        ("owl:blue key:green hat:white", Response("grab", "key"), "wrong_mode"),
        ("owl:blue key:green hat:white", Response("shout", "hat"), "shape_capture"),
        ("owl:blue key:green hat:white", Response("shout", "ghost"), "colour_capture"),
    ],
)
def test_each_mistake_has_its_kind(text: str, response: Response, kind: str | None) -> None:
    assert kind_of(text, response, *RULES) == kind


@pytest.mark.parametrize("missing", ["ghost", "clock"])
def test_own_mapping_needs_what_the_rules_name(missing: str) -> None:
    own = {i: c for i, c in ITEM_COLOURS.items() if i != missing}
    with pytest.raises(ConfigError, match=f"lacks {missing}"):
        make_game(GameSettings("five-to-twelve", item_colours=own))


# --- the deck -----------------------------------------------------------------------------------


@pytest.fixture(params=range(5))
def deck(request: pytest.FixtureRequest) -> Deck:
    return build_deck(game_with(), kind="standard", rng=np.random.default_rng(request.param))


def shows(card: Card, *items: str) -> bool:
    return set(items) <= {p.item for p in card.depicted}


def mirrors(card: Card) -> bool:
    return any(p.mirrored for p in card.pictures)


@pytest.mark.slow
def test_deck_has_its_five_parts(deck: Deck) -> None:
    cards = [s.card for s in deck.stimuli]
    assert len(cards) == len({c.card_id for c in cards}) == 63
    time = [c for c in cards if shows(c, "ghost", "clock")]
    owl_in_mirror = [c for c in cards if mirrors(c) and shows(c, "owl")]
    mirror = [c for c in cards if mirrors(c) and not shows(c, "owl")]
    plain = [c for c in cards if not mirrors(c) and c not in time]
    assert (len(time), len(owl_in_mirror), len(mirror), len(plain)) == (9, 9, 9, 36)
    owl = [c for c in plain if shows(c, "owl")]
    # The owl's own direct card and the two exclusion cards for the vial show it, and nine others.
    assert len(owl) == 12
    assert all(not p.mirrored or p.mirrored.item != "owl" for c in cards for p in c.pictures)


def test_plain_part_has_each_item_once_direct_and_twice_by_exclusion(deck: Deck) -> None:
    plain: Counter[tuple[str, str]] = Counter()
    owls: Counter[str] = Counter()
    for stimulus in deck.stimuli:
        card = stimulus.card
        if mirrors(card) or shows(card, "ghost", "clock"):
            continue
        rule, target = base_rule(card, ITEM_COLOURS)
        needs_owl = (rule, target) in {("direct", "owl"), ("exclusion", "vial")}
        if shows(card, "owl") and not needs_owl:
            owls[rule] += 1
        else:
            plain[rule, target] += 1
    assert plain == {("direct", i): 1 for i in ITEM_COLOURS} | {
        ("exclusion", i): 2 for i in ITEM_COLOURS
    }
    assert owls == {"direct": 5, "exclusion": 4}


def test_times_differ_and_colours_are_spread(deck: Deck) -> None:
    ruled = game_with(*RULES)
    solutions = [ruled.stimulus(s.card, GameState()).solution for s in deck.stimuli]
    times = [s.answer for s in solutions if s.rule == "time"]
    assert sorted(times) == sorted(TIMES)
    colours = Counter(s.answer for s in solutions if s.rule == "mirror-owl")
    assert set(colours) == set(ITEM_COLOURS.values())
    assert max(colours.values()) - min(colours.values()) <= 1
    seen = Counter(s.answer for s in solutions if s.rule == "mirror")
    assert set(seen) == set(ITEM_COLOURS) - {"mirror", "owl"}
    assert max(seen.values()) - min(seen.values()) <= 1


def test_card_of_the_mirror_part_asks_for_another_item_without_the_rule(deck: Deck) -> None:
    for stimulus in deck.stimuli:
        mirrored = next((p.mirrored for p in stimulus.card.pictures if p.mirrored), None)
        if mirrored and not shows(stimulus.card, "owl"):
            assert base_rule(stimulus.card, ITEM_COLOURS)[1] != mirrored.item


def test_items_are_depicted_and_colours_shown_about_equally_often(deck: Deck) -> None:
    depicted, shown = deck.counts("depicted"), deck.counts("shown_colour")
    assert depicted.total() == shown.total() == 189
    assert max(depicted.values()) - min(depicted.values()) <= 4
    assert max(shown.values()) - min(shown.values()) <= 3


@pytest.mark.slow
def test_deck_is_the_same_whatever_rules_are_in_play() -> None:
    decks = [
        build_deck(game_with(*rules), kind="standard", rng=np.random.default_rng(7))
        for rules in SUBSETS
    ]
    first = [str(s.card) for s in decks[0].stimuli]
    assert all([str(s.card) for s in deck.stimuli] == first for deck in decks)
