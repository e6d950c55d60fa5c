"""The rulebooks' cases, one by one: who takes which card, and where the others go."""

from __future__ import annotations

import numpy as np
import pytest

from ghostblitz_task.company.attempts import Attempt
from ghostblitz_task.company.engine import Penalty, Round, RoundResult, draw_lot, play_round
from ghostblitz_task.company.rules import (
    CLASSIC_RULES,
    JACKPOT_RULES,
    ScoringRules,
    scoring_rules,
)
from ghostblitz_task.company.standings import Standing, game_end, standings
from ghostblitz_task.company.table import DealtCard, Place, Table, new_table
from ghostblitz_task.errors import ConfigError

BOTH_FAMILIES = pytest.mark.parametrize("rules", [CLASSIC_RULES, JACKPOT_RULES])


def cards(*texts: str, recycled: bool = False) -> tuple[DealtCard, ...]:
    return tuple(DealtCard(text, recycled) for text in texts)


def table_of(players: str, hands: dict[str, str], *, pile: str = "x y z", jackpot: str = ""):
    """A table of one-letter players; cards are words, the last won last."""
    return Table(
        tuple(players),
        cards(*pile.split()),
        tuple(cards(*hands.get(p, "").split()) for p in players),
        cards(*jackpot.split()),
    )


def right(player: str, t_s: float = 1.0, **more) -> Attempt:
    return Attempt(player, t_s, True, **more)


def wrong(player: str, t_s: float = 1.0, **more) -> Attempt:
    return Attempt(player, t_s, False, **more)


def texts(held: tuple[DealtCard, ...]) -> list[str]:
    return [card.text for card in held]


def hands(table: Table) -> dict[str, list[str]]:
    return {player: texts(table.hand(player)) for player in table.players}


def play(table: Table, rules: ScoringRules, *attempts: Attempt, **more):
    return play_round(table, Round(attempts, **more), rules)


def moves(result: RoundResult) -> list[tuple[str, str, str]]:
    def named(place: Place) -> str:
        return place.player or place.kind

    return [(m.card.text, named(m.source), named(m.destination)) for m in result.moves]


# --- which game is scored how ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("classic", CLASSIC_RULES),
        ("grab-or-shout", CLASSIC_RULES),
        ("spooky-doo", JACKPOT_RULES),
        ("five-to-twelve", JACKPOT_RULES),
        ("a-study-s-own", CLASSIC_RULES),
    ],
)
def test_each_game_has_its_rules_and_unknown_ones_have_classics(game, rules) -> None:
    assert scoring_rules(game) == rules


# --- in every game --------------------------------------------------------------------------


@BOTH_FAMILIES
@pytest.mark.parametrize("players", ["A", "AB", "ABC", "ABCD"])
def test_first_right_answer_takes_the_card(rules: ScoringRules, players: str) -> None:
    attempts = [right(p, 1.0 + 0.1 * i) for i, p in enumerate(players)]
    table, result = play(table_of(players, {}), rules, *reversed(attempts))
    assert result.outcome == "won"
    assert result.winner == "A"
    assert hands(table) == {p: ["x"] if p == "A" else [] for p in players}
    assert texts(table.pile) == ["y", "z"]
    assert moves(result) == [("x", "turned", "A")]
    assert result.reason == "A was right first and takes the card"


@BOTH_FAMILIES
def test_wrong_player_gives_the_last_won_card_to_the_right_one(rules: ScoringRules) -> None:
    table, result = play(table_of("AB", {"A": "a", "B": "b c"}), rules, right("A"), wrong("B"))
    assert hands(table) == {"A": ["a", "x", "c"], "B": ["b"]}
    assert moves(result) == [("x", "turned", "A"), ("c", "B", "A")]
    assert result.penalties == (Penalty("B", DealtCard("c"), True),)
    assert result.reason == "A was right first and takes the card; B gives up a card to A"


@BOTH_FAMILIES
def test_several_wrong_players_each_give_one_and_an_empty_hand_gives_none(rules) -> None:
    before = table_of("ABCD", {"B": "b", "D": "d e"})
    table, result = play(before, rules, wrong("B", 0.5), wrong("C", 0.6), right("A"), wrong("D"))
    assert hands(table) == {"A": ["x", "b", "e"], "B": [], "C": [], "D": ["d"]}
    assert result.penalties == (
        Penalty("B", DealtCard("b"), True),
        Penalty("C", None, True),
        Penalty("D", DealtCard("e"), True),
    )
    assert result.reason == (
        "A was right first and takes the card; B and D give up a card each to A; "
        "C has none to give up"
    )


@BOTH_FAMILIES
def test_right_but_slower_is_no_mistake(rules: ScoringRules) -> None:
    table, result = play(table_of("AB", {"B": "b"}), rules, right("B", 1.2), right("A", 1.1))
    assert hands(table) == {"A": ["x"], "B": ["b"]}
    assert result.penalties == ()


@BOTH_FAMILIES
def test_wrong_after_the_right_answer_is_still_a_mistake(rules: ScoringRules) -> None:
    table, _ = play(table_of("AB", {"B": "b"}), rules, right("A", 1.0), wrong("B", 3.0))
    assert hands(table) == {"A": ["x", "b"], "B": []}


@BOTH_FAMILIES
def test_who_does_not_answer_gives_nothing_while_another_is_right(rules: ScoringRules) -> None:
    table, _ = play(table_of("ABC", {"B": "b", "C": "c"}), rules, right("A"), wrong("B"))
    assert hands(table) == {"A": ["x", "b"], "B": [], "C": ["c"]}


@BOTH_FAMILIES
@pytest.mark.parametrize("players", ["A", "AB", "ABC", "ABCD"])
def test_nobody_goes_below_none(rules: ScoringRules, players: str) -> None:
    table, result = play(table_of(players, {}), rules, *(wrong(p) for p in players))
    assert hands(table) == {p: [] for p in players}
    assert len(result.moves) == 1
    assert all(p.card is None for p in result.penalties)


# --- classic, grab or shout: what nobody won goes under the pile -----------------------------


@pytest.mark.parametrize("players", ["A", "AB", "ABC", "ABCD"])
def test_classic_all_wrong_puts_card_and_given_up_cards_under_the_pile(players: str) -> None:
    before = table_of(players, {p: f"{p}1 {p}2" for p in players})
    table, result = play(before, CLASSIC_RULES, *(wrong(p) for p in players))
    given = [f"{p}2" for p in players]
    assert texts(table.pile) == ["y", "z", "x", *given]
    assert hands(table) == {p: [f"{p}1"] for p in players}
    assert result.outcome == "nobody_right"
    assert result.returned == cards("x", *given, recycled=True)
    assert result.reason.endswith("all cards of the round go under the pile")


def test_classic_nobody_right_costs_only_those_who_erred() -> None:
    table, _ = play(table_of("AB", {"A": "a", "B": "b"}), CLASSIC_RULES, wrong("A"))
    assert hands(table) == {"A": [], "B": ["b"]}
    assert texts(table.pile) == ["y", "z", "x", "a"]


def test_classic_nobody_answers_puts_the_card_under_the_pile_and_costs_nobody() -> None:
    table, result = play(table_of("AB", {"A": "a", "B": "b"}), CLASSIC_RULES)
    assert texts(table.pile) == ["y", "z", "x"]
    assert hands(table) == {"A": ["a"], "B": ["b"]}
    assert result.outcome == "nobody_answered"
    assert result.reason == "nobody answered; all cards of the round go under the pile"


def test_grab_or_shout_right_and_mistaken_takes_nothing_and_all_cards_go_under_the_pile() -> None:
    before = table_of("ABC", {"A": "a", "B": "b", "C": "c"})
    attempts = (right("A", both_modes=True), wrong("B"))
    table, result = play(before, CLASSIC_RULES, *attempts)
    assert result.outcome == "voided"
    assert result.winner is None
    assert result.voided_by == "A"
    assert hands(table) == {"A": [], "B": [], "C": ["c"]}
    assert texts(table.pile) == ["y", "z", "x", "a", "b"]
    assert result.reason == (
        "A was right first but grabbed and shouted: nobody takes the card; "
        "A and B give up a card each; all cards of the round go under the pile"
    )


def test_grab_or_shout_right_and_mistaken_with_an_empty_hand_gives_none() -> None:
    table, result = play(table_of("AB", {}), CLASSIC_RULES, right("A", both_modes=True))
    assert texts(table.pile) == ["y", "z", "x"]
    assert result.penalties == (Penalty("A", None, True),)


def test_grab_or_shout_right_and_mistaken_leaves_nothing_to_a_slower_right_one() -> None:
    before = table_of("AB", {"A": "a", "B": "b"})
    table, _ = play(before, CLASSIC_RULES, right("A", 1.0, both_modes=True), right("B", 1.1))
    assert hands(table) == {"A": [], "B": ["b"]}


def test_voided_round_goes_under_the_pile_whatever_becomes_of_others() -> None:
    rules = ScoringRules("jackpot", "voids_round")
    table, result = play(table_of("AB", {"B": "b"}), rules, right("A", both_modes=True))
    assert (result.outcome, texts(table.pile), table.jackpot) == ("voided", ["y", "z", "x"], ())
    assert hands(table) == {"A": [], "B": ["b"]}


def test_grab_or_shout_mistaken_after_another_was_right_is_a_plain_mistake() -> None:
    before = table_of("AB", {"A": "a", "B": "b"})
    table, result = play(before, CLASSIC_RULES, right("A", 1.1, both_modes=True), right("B", 1.0))
    assert result.winner == "B"
    assert hands(table) == {"A": [], "B": ["b", "x", "a"]}


def test_grab_or_shout_both_modes_without_a_right_answer_does_not_void() -> None:
    before = table_of("AB", {"A": "a"})
    table, result = play(before, CLASSIC_RULES, wrong("A", 0.9, both_modes=True), right("B"))
    assert result.winner == "B"
    assert hands(table) == {"A": [], "B": ["x", "a"]}


def test_recycled_card_comes_again_after_the_rest_of_the_pile_and_is_marked() -> None:
    table = new_table("AB", ["x", "y", "z"])
    seen = []
    table, result = play(table, CLASSIC_RULES, wrong("A"))
    seen.append(result.card)
    while table.pile:
        table, result = play(table, CLASSIC_RULES, right("B"))
        seen.append(result.card)
    assert seen == [*cards("x", "y", "z"), DealtCard("x", recycled=True)]
    assert table.n_won == {"A": 0, "B": 3}


def test_given_up_cards_come_again_too_and_are_marked() -> None:
    table = table_of("AB", {"A": "a"}, pile="x")
    table, _ = play(table, CLASSIC_RULES, wrong("A"))
    assert table.pile == cards("x", "a", recycled=True)


# --- Spooky Doo, 5 to 12: what nobody won is a jackpot ---------------------------------------


@pytest.mark.parametrize("players", ["A", "AB", "ABC", "ABCD"])
def test_jackpot_all_wrong_sets_aside_the_card_and_one_of_each(players: str) -> None:
    before = table_of(players, {p: f"{p}1 {p}2" for p in players})
    table, result = play(before, JACKPOT_RULES, *(wrong(p) for p in players))
    assert texts(table.jackpot) == ["x", *(f"{p}2" for p in players)]
    assert hands(table) == {p: [f"{p}1"] for p in players}
    assert texts(table.pile) == ["y", "z"]
    assert result.returned == ()
    assert result.reason.endswith(f"the jackpot holds {1 + len(players)}")


def test_jackpot_takes_a_card_of_those_who_did_not_answer_too() -> None:
    table, result = play(table_of("AB", {"A": "a", "B": "b"}), JACKPOT_RULES, wrong("A"))
    assert texts(table.jackpot) == ["x", "a", "b"]
    assert [p.mistaken for p in result.penalties] == [True, False]


def test_jackpot_nobody_answers_counts_as_nobody_right() -> None:
    table, result = play(table_of("AB", {"A": "a"}), JACKPOT_RULES)
    assert texts(table.jackpot) == ["x", "a"]
    assert result.outcome == "nobody_answered"
    assert result.reason == (
        "nobody answered; A gives up a card; B has none to give up; the jackpot holds 2"
    )


def test_jackpot_both_modes_is_simply_a_mistake_and_another_can_be_right() -> None:
    before = table_of("AB", {"A": "a"})
    table, result = play(before, JACKPOT_RULES, right("A", 0.8, both_modes=True), right("B", 1.5))
    assert result.winner == "B"
    assert result.voided_by is None
    assert hands(table) == {"A": [], "B": ["x", "a"]}


def test_jackpot_both_modes_alone_among_the_answers_makes_a_jackpot() -> None:
    before = table_of("AB", {"A": "a", "B": "b"})
    table, _ = play(before, JACKPOT_RULES, right("A", both_modes=True))
    assert texts(table.jackpot) == ["x", "a", "b"]


def test_jackpot_twice_in_a_row_is_taken_with_the_new_card() -> None:
    table = table_of("AB", {"A": "a c", "B": "b"})
    table, _ = play(table, JACKPOT_RULES, wrong("A"), wrong("B"))
    table, _ = play(table, JACKPOT_RULES, wrong("A"), wrong("B"))
    assert texts(table.jackpot) == ["x", "c", "b", "y", "a"]
    table, result = play(table, JACKPOT_RULES, right("B"))
    assert table.jackpot == ()
    assert hands(table) == {"A": [], "B": ["z", "x", "c", "b", "y", "a"]}
    assert result.reason == "B was right first and takes the card and the jackpot of 5"


def test_jackpot_winner_takes_penalties_of_the_round_too() -> None:
    table, _ = play(table_of("AB", {"A": "a"}, jackpot="j"), JACKPOT_RULES, right("B"), wrong("A"))
    assert hands(table) == {"A": [], "B": ["x", "a", "j"]}


def test_jackpot_left_at_the_end_belongs_to_nobody() -> None:
    table, _ = play(table_of("AB", {"A": "a"}, pile="x"), JACKPOT_RULES)
    end = game_end(table)
    assert end is not None
    assert end.n_jackpot_left == 2
    assert end.table.jackpot == ()
    assert texts(end.table.out_of_play) == ["x", "a"]
    assert [s.n_cards for s in end.standings] == [0, 0]


# --- ties ------------------------------------------------------------------------------------


@BOTH_FAMILIES
def test_times_within_the_resolution_are_a_tie_and_the_earlier_wins(rules: ScoringRules) -> None:
    attempts = (right("C", 0.63), right("B", 0.62), right("A", 0.61))
    _, result = play(table_of("ABC", {}), rules, *attempts, resolution_s=0.01)
    assert result.winner == "A"
    assert result.tied == ("A", "B")
    assert not result.by_lot
    assert "A and B cannot be told apart in time: the earlier stamp decides" in result.reason


@BOTH_FAMILIES
def test_times_beyond_the_resolution_are_no_tie(rules: ScoringRules) -> None:
    _, result = play(table_of("AB", {}), rules, right("A", 0.61), right("B", 0.6211),
                     resolution_s=0.01)  # fmt: skip
    assert result.tied == ()


@BOTH_FAMILIES
@pytest.mark.parametrize("lot", ["ABC", "CBA", "BCA"])
def test_equal_stamps_are_decided_by_the_lot(rules: ScoringRules, lot: str) -> None:
    attempts = (right("A", 0.5), right("C", 0.5), right("B", 0.7))
    _, result = play(table_of("ABC", {}), rules, *attempts, lot=tuple(lot))
    expected = [p for p in lot if p != "B"]
    assert result.winner == expected[0]
    assert list(result.tied) == expected
    assert result.by_lot
    assert "the lot decides" in result.reason


@BOTH_FAMILIES
def test_wrong_answers_make_no_tie(rules: ScoringRules) -> None:
    _, result = play(table_of("AB", {}), rules, right("A"), wrong("B"), resolution_s=0.1)
    assert result.tied == ()


def test_lot_decides_whether_equal_stamps_void_the_round() -> None:
    before = table_of("AB", {"A": "a"})
    attempts = (right("A", 0.5, both_modes=True), right("B", 0.5))
    _, first_a = play(before, CLASSIC_RULES, *attempts, lot=("A", "B"))
    _, first_b = play(before, CLASSIC_RULES, *attempts, lot=("B", "A"))
    assert (first_a.outcome, first_b.outcome) == ("voided", "won")


def test_equal_stamps_without_a_lot_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"A and B were right at the same time, 0\.5 s, and no l"):
        play(table_of("AB", {}), CLASSIC_RULES, right("A", 0.5), right("B", 0.5), lot=("A",))


def test_drawn_lots_follow_the_generator_and_favour_nobody() -> None:
    rng = np.random.default_rng(3)
    lots = [draw_lot("ABC", rng) for _ in range(3000)]
    assert lots[:50] == [draw_lot("ABC", r) for r in [np.random.default_rng(3)] for _ in range(50)]
    for player in "ABC":
        n_first = sum(lot[0] == player for lot in lots)
        assert abs(n_first - 1000) < 4 * (3000 * 2 / 9) ** 0.5


# --- the end of the game ---------------------------------------------------------------------


@BOTH_FAMILIES
def test_game_ends_when_the_pile_is_used_up(rules: ScoringRules) -> None:
    table = new_table("AB", ["x", "y"])
    assert game_end(table) is None
    table, _ = play(table, rules, right("A"))
    assert game_end(table) is None
    table, _ = play(table, rules, right("A"))
    end = game_end(table, max_rounds=2)
    assert end is not None
    assert not end.capped
    assert end.winners == ("A",)
    with pytest.raises(ConfigError, match="the pile is used up"):
        play(table, rules, right("A"))


def test_cap_on_rounds_ends_a_game_in_which_nobody_is_right() -> None:
    table = new_table("A", ["x", "y"])
    for _ in range(5):
        assert game_end(table, max_rounds=5) is None
        table, _ = play(table, CLASSIC_RULES)
    end = game_end(table, max_rounds=5)
    assert end is not None
    assert end.capped
    assert end.n_pile_left == 2
    assert end.table.out_of_play == cards("y", "x", recycled=True)
    assert game_end(table) is None


def test_players_with_as_many_cards_share_a_place() -> None:
    table = table_of("ABCD", {"A": "a", "B": "b c", "C": "d e", "D": ""})
    assert standings(table) == (
        Standing(1, "B", 2),
        Standing(1, "C", 2),
        Standing(3, "A", 1),
        Standing(4, "D", 0),
    )


# --- alone -----------------------------------------------------------------------------------


@BOTH_FAMILIES
def test_alone_right_in_time_takes_the_card(rules: ScoringRules) -> None:
    table, _ = play(table_of("A", {"A": "a"}, jackpot="j"), rules, right("A"))
    assert hands(table) == {"A": ["a", "x", "j"]}


def test_alone_classic_wrong_recycles_card_and_given_up_card() -> None:
    table, _ = play(table_of("A", {"A": "a b"}), CLASSIC_RULES, wrong("A"))
    assert texts(table.pile) == ["y", "z", "x", "b"]


def test_alone_classic_late_recycles_the_card_only() -> None:
    table, _ = play(table_of("A", {"A": "a b"}), CLASSIC_RULES)
    assert texts(table.pile) == ["y", "z", "x"]
    assert hands(table) == {"A": ["a", "b"]}


@pytest.mark.parametrize("attempts", [(), (wrong("A"),), (right("A", both_modes=True),)])
def test_alone_jackpot_wrong_or_late_makes_a_jackpot(attempts) -> None:
    table, _ = play(table_of("A", {"A": "a b"}), JACKPOT_RULES, *attempts)
    assert texts(table.jackpot) == ["x", "b"]


# --- faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempts", "more", "fault"),
    [
        ((right("Z"),), {}, "'Z' is not at the table; there are A, B"),
        ((right("A"), wrong("A", 2.0)), {}, "'A' has two attempts; a card allows one"),
        ((right("A", float("nan")),), {}, "the attempt of 'A' is at nan s"),
        ((right("A"),), {"resolution_s": -0.1}, "resolution_s is -0.1"),
        ((right("A"),), {"resolution_s": float("nan")}, "resolution_s is nan"),
    ],
)
def test_round_that_cannot_be_is_refused(attempts, more, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        play(table_of("AB", {}), CLASSIC_RULES, *attempts, **more)


@pytest.mark.parametrize(
    ("players", "fault"),
    [((), "at least one"), (("A", " "), "needs a name"), (("A", "A"), "'A' twice")],
)
def test_table_needs_players_that_can_be_told_apart(players, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        new_table(players, ["x"])
