"""What holds in any game, whatever the players do."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_task.company.attempts import Attempt
from ghostblitz_task.company.engine import Round, RoundResult, play_round
from ghostblitz_task.company.rules import CLASSIC_RULES, JACKPOT_RULES, ScoringRules
from ghostblitz_task.company.standings import game_end
from ghostblitz_task.company.table import Table, new_table

MAX_ROUNDS = 30


@st.composite
def rounds(draw, players: str):
    attempts = [
        Attempt(
            player,
            # Few different times, so that ties and equal stamps are common.
            draw(st.sampled_from([0.4, 0.41, 0.5, 0.9])),
            draw(st.booleans()),
            draw(st.booleans()),
        )
        for player in draw(st.lists(st.sampled_from(players), unique=True))
    ]
    resolution_s = draw(st.sampled_from([0.0, 0.01, 0.5]))
    return Round(tuple(attempts), resolution_s, tuple(draw(st.permutations(players))))


@st.composite
def games(draw):
    players = "ABCD"[: draw(st.integers(1, 4))]
    # Few texts, so that cards look alike.
    pile = draw(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=12))
    played = draw(st.lists(rounds(players), min_size=1, max_size=MAX_ROUNDS))
    return players, pile, played, draw(st.sampled_from([CLASSIC_RULES, JACKPOT_RULES]))


def play_all(game) -> list[tuple[Table, RoundResult, Table]]:
    players, pile, played, rules = game
    table, steps = new_table(players, pile), []
    for round_ in played:
        if not table.pile:
            break
        after, result = play_round(table, round_, rules)
        steps.append((table, result, after))
        table = after
    return steps


def all_texts(table: Table) -> Counter[str]:
    places = (table.pile, *table.hands, table.jackpot, table.out_of_play)
    return Counter(card.text for place in places for card in place)


@pytest.mark.slow
@given(games())
def test_every_card_is_always_somewhere_exactly_once(game) -> None:
    _, pile, _, _ = game
    table = None
    for _, _, table in play_all(game):
        assert all_texts(table) == Counter(pile)
        assert table.n_cards == len(pile)
    end = game_end(table, max_rounds=table.n_rounds)
    assert end is not None
    assert all_texts(end.table) == Counter(pile)
    assert end.n_pile_left + end.n_jackpot_left + sum(table.n_won.values()) == len(pile)


@pytest.mark.slow
@given(games())
def test_the_same_rounds_give_the_same_game(game) -> None:
    assert play_all(game) == play_all(game)


@pytest.mark.slow
@given(games())
def test_order_of_attempts_has_no_meaning(game) -> None:
    players, pile, played, rules = game
    turned = [Round(r.attempts[::-1], r.resolution_s, r.lot) for r in played]
    one, other = play_all(game), play_all((players, pile, turned, rules))
    assert [after for _, _, after in one] == [after for _, _, after in other]
    assert [r.tied for _, r, _ in one] == [r.tied for _, r, _ in other]
    assert [r.reason for _, r, _ in one] == [r.reason for _, r, _ in other]


@pytest.mark.slow
@given(games())
def test_nobody_gives_more_than_one_card_or_one_won_in_the_round(game) -> None:
    for before, result, after in play_all(game):
        for player in before.players:
            lost = [m for m in result.moves if m.source.player == player]
            assert len(lost) <= min(1, len(before.hand(player)))
            kept = before.hand(player)[: len(before.hand(player)) - len(lost)]
            assert after.hand(player)[: len(kept)] == kept
            if player != result.winner:
                assert after.hand(player) == kept


@pytest.mark.slow
@given(games())
def test_moves_tell_the_whole_round(game) -> None:
    for before, result, after in play_all(game):
        gained = Counter(m.destination.player or m.destination.kind for m in result.moves)
        lost = Counter(m.source.player or m.source.kind for m in result.moves)
        assert lost["turned"] == 1
        for player in before.players:
            change = after.n_won[player] - before.n_won[player]
            assert change == gained[player] - lost[player]
        assert len(after.jackpot) - len(before.jackpot) == gained["jackpot"] - lost["jackpot"]
        assert len(after.pile) - len(before.pile) == gained["under_pile"] - 1
        assert len(set(m.destination for m in result.moves)) == 1


@pytest.mark.slow
@given(games())
def test_winner_is_a_first_and_faultless_right_answer(game) -> None:
    _, _, _, rules = game
    for _, result, _ in play_all(game):
        correct = [a for a in result.attempts if a.correct]
        contenders = [a for a in result.attempts if a.right] if is_voiding(rules) else correct
        if result.winner is None:
            assert not correct or result.outcome == "voided"
        else:
            winner = next(a for a in result.attempts if a.player == result.winner)
            assert winner.correct
            assert winner.t_s == min(a.t_s for a in contenders)
        assert (result.outcome == "voided") == (result.voided_by is not None)
        assert result.outcome != "voided" or is_voiding(rules)


@given(games())
@pytest.mark.slow
def test_games_never_mix_jackpot_and_recycling(game) -> None:
    _, _, _, rules = game
    for _, result, after in play_all(game):
        if rules.nobody_right == "jackpot":
            assert not result.card.recycled
            assert not any(card.recycled for card in after.pile)
        else:
            assert after.jackpot == ()


def is_voiding(rules: ScoringRules) -> bool:
    return rules.right_and_mistaken == "voids_round"
