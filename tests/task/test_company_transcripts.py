"""Whole games replayed from transcripts, and transcripts that cannot be."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ghostblitz_task.company.rivals import make_rival
from ghostblitz_task.company.transcripts import replay
from ghostblitz_task.deck import legal_stimuli
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import GameSettings, Outcome, make_game
from ghostblitz_task.participants import ExGaussian

ROOT = Path(__file__).parents[2]

HEADER: dict[str, Any] = {"game": "classic", "players": ["A", "B"]}
CARD = "ghost:white mouse:red"  # grab the ghost
OTHER = "chair:green mouse:white"  # grab the book


def round_line(card: str, *attempts: str, **more: Any) -> dict[str, Any]:
    """A round; an attempt is written as in ``A 0.7 grab ghost``."""
    words = [attempt.split(maxsplit=3) for attempt in attempts]
    return {
        "card": card,
        "attempts": [
            {"player": p, "t_s": float(t), "mode": mode, "answer": answer}
            for p, t, mode, answer in words
        ],
        **more,
    }


def lines_of(*objects: dict[str, Any]) -> list[str]:
    return [json.dumps(o) for o in objects]


def replayed(*objects: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    *rounds, final = [json.loads(line) for line in replay(lines_of(*objects))]
    return rounds, final


def column(rounds: list[dict[str, Any]], name: str) -> list[Any]:
    return [r[name] for r in rounds]


# --- whole games -----------------------------------------------------------------------------


def test_game_of_classic_from_first_to_last_card() -> None:
    rounds, final = replayed(
        {**HEADER, "pile": [CARD, OTHER], "players": ["A", "B", "C"]},
        round_line(CARD, "A 0.7 grab ghost", "B 0.6 grab mouse"),
        round_line(OTHER, "A 0.8 grab chair", "B 0.9 grab ghost"),  # nobody right
        round_line("mouse:white chair:green"),  # nobody answers
        round_line(CARD, "C 0.7 grab ghost", "B 0.9 grab ghost"),
        round_line(OTHER, "B 0.7 grab book", "C 0.8 grab mouse"),
    )  # fmt: skip
    assert column(rounds, "outcome") == ["won", "nobody_right", "nobody_answered", "won", "won"]
    assert column(rounds, "winner") == ["A", None, None, "C", "B"]
    assert column(rounds, "recycled") == [False, False, True, True, True]
    assert column(rounds, "pile") == [1, 2, 2, 1, 0]
    assert column(rounds, "under_pile") == [[], [OTHER, CARD], [OTHER], [], []]
    assert column(rounds, "gave") == [[], ["A"], [], [], ["C"]]
    assert rounds[1]["errors"] == {"A": "shape_capture", "B": "colour_capture"}
    assert rounds[4]["won"] == {"A": 0, "B": 2, "C": 0}
    assert final == {
        "end": "pile_used_up",
        "capped": False,
        "rounds": 5,
        "standings": [
            {"place": 1, "player": "B", "cards": 2},
            {"place": 2, "player": "A", "cards": 0},
            {"place": 2, "player": "C", "cards": 0},
        ],
        "winners": ["B"],
        "jackpot_left": 0,
        "pile_left": 0,
    }


def test_game_of_grab_or_shout_with_a_voided_round() -> None:
    shout = "book:green ghost:red"  # shout the mouse
    rounds, final = replayed(
        {**HEADER, "game": "grab-or-shout", "pile": [CARD, shout], "resolution_s": 0.01},
        round_line(CARD, "A 0.70 grab ghost", "B 0.71 grab ghost"),
        round_line(shout, "A 0.7 shout mouse", "A 0.8 grab mouse", "A 0.9 grab book",
                   "B 0.9 shout mouse"),
        round_line(shout, "B 0.9 shout mouse", "A 0.7 grab mouse"),
        round_line(CARD, "B 0.9 grab ghost"),
    )  # fmt: skip
    assert rounds[0]["tied"] == ["A", "B"]
    assert rounds[1]["outcome"] == "voided"
    assert rounds[1]["errors"] == {"A": "both_modes", "B": None}
    assert rounds[1]["ignored"] == [{"player": "A", "t_s": 0.9, "reason": "after_both_modes"}]
    assert rounds[1]["under_pile"] == [shout, CARD]
    assert rounds[2]["errors"] == {"A": "wrong_mode", "B": None}
    assert final["standings"][0] == {"place": 1, "player": "B", "cards": 2}


def test_game_of_spooky_doo_with_a_jackpot_and_a_hat_that_moves() -> None:
    game = make_game(GameSettings("spooky-doo"))
    ghost, hat = target_of(game, "ghost"), target_of(game, "hat")
    rounds, final = replayed(
        {**HEADER, "game": "spooky-doo", "hat_over": "ghost", "pile": [ghost, ghost, hat, hat]},
        round_line(ghost, "A 0.7 grab ghost", "B 0.8 shout ghost"),
        round_line(ghost, "A 0.9 grab hat", "A 0.95 shout hat", "B 1.0 grab hat",
                   hat_to="mouse"),
        round_line(hat, "A 0.9 shout mouse", hat_over="mouse"),
        round_line(hat, "A 0.9 grab hat", "B 1.2 shout bottle", hat_over="bottle"),
    )  # fmt: skip
    assert column(rounds, "hat_over") == ["ghost", "ghost", "mouse", "bottle"]
    assert column(rounds, "winner") == [None, "B", "A", "B"]
    assert column(rounds, "jackpot") == [1, 0, 0, 0]
    assert rounds[1]["won"] == {"A": 0, "B": 2}
    assert rounds[3]["won"] == {"A": 0, "B": 4}
    assert final["winners"] == ["B"]


def target_of(game: Any, target: str) -> str:
    """A card whose target is this item."""
    return next(str(s.card) for s in legal_stimuli(game) if s.solution.target == target)


def test_hat_follows_the_games_own_order_where_nobody_says() -> None:
    game = make_game(GameSettings("spooky-doo"))
    card = target_of(game, "hat")
    header = {**HEADER, "game": "spooky-doo", "hat_over": "ghost"}
    rounds, _ = replayed(header, round_line(card, "A 1 shout ghost"), round_line(card))
    assert rounds[1]["hat_over"] not in ("ghost", None)


def test_hat_stays_after_a_wrong_lift() -> None:
    card = target_of(make_game(GameSettings("spooky-doo")), "mouse")
    header = {**HEADER, "game": "spooky-doo"}
    rounds, _ = replayed(
        header,
        round_line(card, "A 1 grab hat", hat_over="bottle"),
        round_line(card, "A 1 grab mouse"),
        round_line(card),
    )
    assert column(rounds, "hat_over") == ["bottle"] * 3


@pytest.mark.parametrize("said", ["11:55", "5 to 12", "five to twelve"])
def test_time_may_be_said_in_several_ways(said: str) -> None:
    card = "ghost:red clock:green@11:55 key:blue"
    rounds, _ = replayed(
        {**HEADER, "players": ["A", "B", "C"], "game": "five-to-twelve", "rules": ["owl"]},
        round_line(card, "A 0.8 shout 10 past 3", "B 0.9 shout owl", f"C 1.0 shout {said}"),
    )  # fmt: skip
    assert rounds[0]["winner"] == "C"
    assert rounds[0]["errors"] == {"A": "wrong_time", "B": "wrong_kind", "C": None}


def test_jackpot_left_when_the_pile_is_used_up_is_nobodys() -> None:
    card = "ghost:red clock:green@11:55 key:blue"
    rounds, final = replayed(
        {**HEADER, "game": "five-to-twelve", "pile": [card, card]},
        round_line(card, "A 1 shout 11:55"),
        round_line(card, "A 1 grab ghost", "B 1 grab clock"),
    )
    assert column(rounds, "jackpot") == [0, 2]
    assert (final["jackpot_left"], final["winners"]) == (2, ["A", "B"])


def test_study_s_own_items_are_scored_as_classic() -> None:
    own = {"cup": "red", "key": "blue", "hat": "green"}
    rounds, _ = replayed(
        {**HEADER, "item_colours": own, "n_pictures": 1},
        round_line("cup:red", "A 1 grab cup"),
        round_line("cup:blue", "A 1 grab cup"),
    )
    assert column(rounds, "under_pile") == [[], ["cup:blue", "cup:red"]]


def test_example_in_the_docs_prints_what_they_say() -> None:
    page = (ROOT / "docs" / "scoring.md").read_text(encoding="utf-8")
    given, printed = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert list(replay(given.splitlines())) == printed.splitlines()


# --- what a transcript may leave out or add --------------------------------------------------


def test_without_a_pile_its_size_is_unknown_and_a_returned_card_is_known_again() -> None:
    rounds, final = replayed(
        HEADER, round_line(CARD), round_line(OTHER), round_line(CARD), round_line(CARD),
        round_line(CARD, "B 1 grab ghost"), round_line(CARD),
    )  # fmt: skip
    assert column(rounds, "pile") == [None] * 6
    assert column(rounds, "recycled") == [False, False, True, True, True, False]
    assert (final["end"], final["pile_left"]) == ("transcript_ends", None)


def test_transcript_may_end_before_the_game() -> None:
    _, final = replayed({**HEADER, "pile": [CARD, OTHER]}, round_line(CARD, "A 1 grab ghost"))
    assert (final["end"], final["capped"], final["pile_left"]) == ("transcript_ends", False, 1)


@pytest.mark.parametrize("pile", [{}, {"pile": [CARD]}])
def test_cap_on_rounds_ends_the_game(pile: dict[str, Any]) -> None:
    lines = [{**HEADER, **pile, "max_rounds": 2}, round_line(CARD), round_line(CARD)]
    _, final = replayed(*lines)
    assert (final["end"], final["capped"]) == ("capped", True)
    with pytest.raises(ConfigError, match="line 4: a round after the end of the game, which took"):
        replayed(*lines, round_line(CARD))


def test_equal_stamps_are_decided_by_the_rounds_lot_or_the_seeds() -> None:
    tie = round_line(CARD, "A 0.5 grab ghost", "B 0.5 grab ghost")
    rounds, _ = replayed(HEADER, {**tie, "lot": ["B", "A"]}, {**tie, "lot": ["A", "B"]})
    assert column(rounds, "winner") == ["B", "A"]
    assert column(rounds, "by_lot") == [True, True]
    seeded, _ = replayed({**HEADER, "seed": 4}, *[tie] * 40)
    assert set(column(seeded, "winner")) == {"A", "B"}
    # A round's lot is its own, whatever was decided before it.
    other, _ = replayed({**HEADER, "seed": 4}, *[round_line(CARD)] * 39, tie)
    assert other[-1]["winner"] == seeded[-1]["winner"]
    with pytest.raises(ConfigError, match="line 2: A and B were right at the same time"):
        replayed(HEADER, tie)


def test_deadline_and_window_leave_responses_aside() -> None:
    rounds, _ = replayed(
        {**HEADER, "game": "grab-or-shout", "deadline_s": 2, "second_response_window_s": 0.5},
        round_line(CARD, "A 2.5 grab ghost"),
        round_line(CARD, "A 1 grab ghost", "A 1.6 shout ghost"),
    )
    assert column(rounds, "outcome") == ["nobody_answered", "won"]
    assert [r["ignored"][0]["reason"] for r in rounds] == ["after_deadline", "after_window"]


def test_blank_lines_are_passed_over_and_counted() -> None:
    lines = ["", *lines_of(HEADER), "  \n", *lines_of(round_line(CARD)), ""]
    assert len(list(replay(lines))) == 2
    with pytest.raises(ConfigError, match="line 5: "):
        list(replay([*lines[:4], "nonsense"]))


def test_names_may_be_of_any_language() -> None:
    header = {**HEADER, "players": ["Zoë", "李"]}
    (line, _) = replay(lines_of(header, round_line(CARD, "李 1 grab ghost")))
    assert '"winner": "李"' in line


# --- faults ----------------------------------------------------------------------------------

PILE = {**HEADER, "pile": [CARD, OTHER]}
SPOOKY = {**HEADER, "game": "spooky-doo", "hat_over": "ghost"}
SPOOKY_MOUSE = "ghost:red bottle:blue"  # neither: white red green blue are shown; the mouse


@pytest.mark.parametrize(
    ("objects", "fault"),
    [
        ([], "line 1: the transcript is empty"),
        ([[1, 2]], "line 1: this is no JSON object with game, players"),
        ([{"game": "classic"}], "line 1: players is missing"),
        ([{**HEADER, "game": "clasic"}], "line 1: 'clasic' is no game.*did you mean classic"),
        ([{**HEADER, "rules": ["owl"]}], "line 1: game.rules: owl is no additional rule"),
        ([{**HEADER, "player": []}], "line 1: player is not a key .*did you mean players"),
        ([{**HEADER, "players": []}], "line 1: players is empty"),
        ([{**HEADER, "players": ["A", "A"]}], "line 1: players holds 'A' twice"),
        ([{**HEADER, "players": "AB"}], "line 1: players: input should be .*, but it is 'AB'"),
        ([{**HEADER, "pile": []}], "line 1: pile is empty"),
        ([{**HEADER, "pile": ["ghost:pink"]}], "line 1: card 'ghost:pink': 'pink' is no colour"),
        ([{**HEADER, "hat_over": "mouse"}], "line 1: hat_over is 'mouse', but classic has no hat"),
        ([{**SPOOKY, "hat_over": "mous"}], "line 1: hat_over is 'mous'.*did you mean mouse"),
        ([{**HEADER, "resolution_s": -1}], "line 1: resolution_s: input should be greater"),
        ([{**HEADER, "max_rounds": 0}], "line 1: max_rounds: "),
        ([{**HEADER, "seed": True}], "line 1: seed: .* integer, but it is True"),
        ([HEADER, {"card": CARD}], "line 2: attempts is missing"),
        ([HEADER, {**round_line(CARD), "hat": 1}], "line 2: hat is not a key.*mean hat_to"),
        ([HEADER, {"card": CARD, "attempts": [3]}], "line 2: attempts.0: .*, but it is 3"),
        (
            [HEADER, {"card": CARD, "attempts": [{"player": "A", "time": 1}]}],
            "line 2: attempts.0.time is not a key of this line; there are player, t_s",
        ),
        ([HEADER, round_line(CARD, "A nan grab ghost")], "line 2: "),
        ([HEADER, round_line(CARD, "A 1 kick ghost")], "line 2: attempts.0.mode: .*'kick'"),
        ([HEADER, round_line(CARD, "A 1 shout ghost")], "line 2: mode is 'shout', but in classic"),
        ([HEADER, round_line(CARD, "A 1 grab gost")], "answer is 'gost', .*did you mean ghost"),
        ([HEADER, round_line(CARD, "Al 1 grab ghost")], "line 2: 'Al' is none of the players"),
        ([HEADER, round_line("ghost:white mouse:grey")], "line 2: card .* in their own colours"),
        ([HEADER, round_line(CARD, lot=["A"])], "line 2: lot is A; name each player once"),
        ([HEADER, round_line(CARD, hat_over="mouse")], "line 2: hat_over is 'mouse', but classic"),
        ([HEADER, round_line(CARD, hat_to="mouse")], "line 2: hat_to is 'mouse', but the hat stay"),
        ([PILE, round_line(OTHER)], "line 2: card is .*, but the next card of the pile is"),
        (
            [PILE, *(round_line(c, f"A 1 grab {a}") for c, a in [(CARD, "ghost"), (OTHER, "book")]),
             round_line(CARD)],
            "line 4: a round after the end of the game, which took 2 rounds",
        ),
        ([SPOOKY, round_line(SPOOKY_MOUSE, hat_over="mouse")],
         "line 2: hat_over puts the hat over 'mouse', but it is over ghost"),
        ([SPOOKY, round_line(SPOOKY_MOUSE, "A 1 grab mouse", hat_to="mouse")],
         "line 2: hat_to is 'mouse', but the hat stays where it is"),
        ([{**SPOOKY, "hat_over": "mouse"},
          round_line(SPOOKY_MOUSE, "A 1 grab hat", hat_to="mouse")],
         "line 2: hat_to is 'mouse', but the hat goes over one of"),
        ([{**SPOOKY, "hat_over": "mouse"},
          round_line(SPOOKY_MOUSE, "A 1 grab hat", hat_to="bottle"),
          round_line(SPOOKY_MOUSE, hat_over="ghost")],
         "line 3: hat_over puts the hat over 'ghost', but it is over bottle"),
        ([{**HEADER, "game": "five-to-twelve"},
          round_line("ghost:red clock:green@11:55 key:blue", "A 1 shout 5 to twleve")],
         "line 2: answer is '5 to twleve', which nobody can shout"),
    ],
)  # fmt: skip
def test_fault_is_named_in_one_line_with_the_number_of_its_line(objects, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault) as caught:
        list(replay(lines_of(*objects)))
    assert "\n" not in str(caught.value)


def test_line_that_was_cut_off_is_named() -> None:
    whole = lines_of(HEADER, round_line(CARD))
    with pytest.raises(ConfigError, match="line 2: this is no JSON object with card, attempts"):
        list(replay([whole[0], whole[1][:20]]))


def test_rounds_before_a_fault_are_given() -> None:
    given = replay([*lines_of(HEADER, round_line(CARD)), "nonsense"])
    assert json.loads(next(given))["round"] == 1
    with pytest.raises(ConfigError, match="line 3: "):
        next(given)


# --- games among rivals ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_players", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["classic", "grab-or-shout", "spooky-doo", "five-to-twelve"])
def test_whole_game_among_rivals_keeps_every_card(name: str, n_players: int) -> None:
    lines = transcript(name, "ABCD"[:n_players], seed=n_players)
    *rounds, final = [json.loads(line) for line in replay(lines)]
    n_cards = len(json.loads(lines[0])["pile"])
    for r in rounds:
        assert sum(r["won"].values()) + r["jackpot"] + r["pile"] == n_cards
    assert final["end"] == "pile_used_up"
    assert {r["outcome"] for r in rounds} >= {"won"}
    assert list(replay(lines)) == list(replay(lines))


def transcript(name: str, players: str, *, seed: int) -> list[str]:
    """A whole game of 30 cards, played by rivals, each card turned over when its time comes."""
    game, rng = make_game(GameSettings(name)), np.random.default_rng(seed)
    legal = legal_stimuli(game)
    cards = [legal[int(i)].card for i in rng.choice(len(legal), 30, replace=False)]
    rts = dict.fromkeys(("direct", "exclusion", "time"), ExGaussian(0.6, 0.1, 0.2))
    rival = make_rival(rts, 0.25)
    header = {
        "game": name,
        "players": list(players),
        "pile": [str(card) for card in cards],
        "resolution_s": 0.005,
        "seed": seed,
    }
    lines, pile, state = lines_of(header), [str(card) for card in cards], game.initial_state()
    while pile:
        stimulus = game.stimulus(game.parse(pile[0]), state)
        given = [
            planned.by(player)
            for player in players
            if rng.random() < 0.9
            for planned in rival.attempt(stimulus, game, rng)
        ]
        line = round_line(
            pile[0], *(f"{g.player} {g.t_s} {g.response.mode} {g.response.answer}" for g in given)
        )
        *_, printed, _ = [json.loads(out) for out in replay([*lines, *lines_of(line)])]
        outcome = Outcome(None, printed["winner"] is not None)
        if choices := game.hat_choices(stimulus, outcome):
            line["hat_to"] = choices[int(rng.integers(len(choices)))]
            outcome = replace(outcome, hat_to=line["hat_to"])
        state = game.advance(state, stimulus, outcome)
        pile = [*pile[1:], *printed["under_pile"]]
        lines += lines_of(line)
    return lines
