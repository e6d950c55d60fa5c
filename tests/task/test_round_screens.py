"""What is said after a card and in the end: whose it is, in words and numbers that are true."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import pytest
from drawn_studies import PLAYED_FOR, SEVERAL, drawn_screens

from ghostblitz_task.company import Attempt, Round, Table, new_table, play_round
from ghostblitz_task.games import Outcome
from ghostblitz_task.round_screens import final_standings, round_feedback
from ghostblitz_task.rounds import RIVAL, Company, PlayedCard, RivalDescription, make_company
from ghostblitz_task.screen_elements import (
    Bar,
    Box,
    Drawing,
    Element,
    Screen,
    Words,
    box_of,
    text_width_deg,
)
from ghostblitz_task.screens import Screens
from ghostblitz_task.texts import available_languages

LANGUAGES = available_languages()
every_study = pytest.mark.parametrize("study", PLAYED_FOR)
every_language = pytest.mark.parametrize("language", LANGUAGES)


def company_of(screens: Screens) -> Company:
    settings = screens.settings
    assert settings.company is not None
    rival = settings.company.rival
    company = make_company(
        settings,
        tuple(f"p{i}" for i, _ in enumerate(settings.responses.players, start=1)),
        rival_description=RivalDescription(rival.kind) if rival else None,
    )
    assert company is not None
    return company


def table_of(
    company: Company, hands: Sequence[int], *, n_pile: int = 5, n_jackpot: int = 0
) -> Table:
    """A game with so many cards in each place."""
    table = new_table(company.at_table, [f"card {i}" for i in range(sum(hands) + n_pile + 20)])
    cards = iter(table.pile)
    return dataclasses.replace(
        table,
        hands=tuple(tuple(next(cards) for _ in range(n)) for n in hands),
        jackpot=tuple(next(cards) for _ in range(n_jackpot)),
        pile=tuple(next(cards) for _ in range(n_pile)),
    )


def played(
    company: Company, table: Table, attempts: Sequence[Attempt], *, resolution_s: float = 0.0
) -> PlayedCard:
    round_ = Round(tuple(attempts), resolution_s, company.at_table)
    after, result = play_round(table, round_, company.rules)
    return PlayedCard((), Outcome(None, False), after, result)


def feedback(
    study: str,
    hands: Sequence[int],
    attempts: Sequence[Attempt],
    *,
    language: str = "en",
    n_jackpot: int = 0,
    resolution_s: float = 0.0,
) -> list[str]:
    """What is said after a card, line by line, without the table."""
    screens = drawn_screens(study, language=language)
    company = company_of(screens)
    table = table_of(company, hands, n_jackpot=n_jackpot)
    card = played(company, table, attempts, resolution_s=resolution_s)
    return said(round_feedback(screens, card, company, screens.tables()[0]))


def said(screen: Screen) -> list[str]:
    texts = [e.text for e in screen.elements if isinstance(e, Words)]
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]


def in_one_line(texts: Sequence[str]) -> str:
    return " ".join(texts).replace("\n", " ")


RIGHT, WRONG = {"right": True}, {"right": False}
BOTH = {"right": True, "both_modes": True}


def attempt(player: str, t_s: float, **kind: Any) -> Attempt:
    return Attempt(player, t_s, **kind)


# --- whose card it is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "attempts", "headline", "german"),
    [
        ("classic-2", [("p1", 0.9, RIGHT), ("p2", 0.8, RIGHT)], "Player 2 takes the card",
         "Person 2 gewinnt die Karte"),
        ("classic-2", [("p1", 0.9, WRONG)], "Nobody was right", "Niemand hatte recht"),
        ("classic-2", [], "Nobody answered", "Niemand hat geantwortet"),
        ("grab-or-shout-2", [("p1", 0.9, BOTH), ("p2", 1.0, RIGHT)], "Nobody takes the card",
         "Niemand gewinnt die Karte"),
        ("classic-rival", [("p1", 0.9, RIGHT)], "You take the card", "Sie gewinnen die Karte"),
        ("classic-rival", [(RIVAL, 0.9, RIGHT)], "The computer takes the card",
         "Der Computer gewinnt die Karte"),
        ("classic-earlier-self", [(RIVAL, 0.9, RIGHT)], "Your earlier self takes the card",
         "Ihr früheres Ich gewinnt die Karte"),
        ("classic-alone", [("p1", 0.9, RIGHT)], "You take the card", "Sie gewinnen die Karte"),
        ("classic-alone", [("p1", 0.9, WRONG)], "Wrong: no card", "Falsch: keine Karte"),
        ("classic-alone", [("p1", -0.1, WRONG)], "Too early: no card", "Zu früh: keine Karte"),
        ("classic-alone", [], "Too late: no card", "Zu spät: keine Karte"),
        ("grab-or-shout-alone", [("p1", 0.9, BOTH)], "Grabbed and shouted: no card",
         "Gegriffen und gerufen: keine Karte"),
        ("spooky-doo-alone", [("p1", 0.9, BOTH)], "Grabbed and shouted: no card",
         "Gegriffen und gerufen: keine Karte"),
    ],
)  # fmt: skip
def test_headline_says_whose_card_it_is(
    study: str, attempts: list[tuple[str, float, dict[str, bool]]], headline: str, german: str
) -> None:
    hands = [3] * len(company_of(drawn_screens(study)).at_table)
    made = [attempt(player, t_s, **kind) for player, t_s, kind in attempts]
    assert feedback(study, hands, made)[0].replace("\n", " ") == headline
    assert feedback(study, hands, made, language="de")[0].replace("\n", " ") == german


@pytest.mark.parametrize(
    ("wrong", "english", "german"),
    [
        (["p1"], "Player 1 gives up a card.", "Person 1 gibt eine Karte ab."),
        (["p1", "p3"], "Player 1 and Player 3 give up a card each.",
         "Person 1 und Person 3 geben je eine Karte ab."),
        (["p1", "p3", "p4"], "Player 1, Player 3 and Player 4 give up a card each.",
         "Person 1, Person 3 und Person 4 geben je eine Karte ab."),
    ],
)  # fmt: skip
def test_who_gives_up_a_card_is_said_in_a_sentence_for_one_and_for_several(
    wrong: list[str], english: str, german: str
) -> None:
    made = [attempt("p2", 0.9, **RIGHT), *(attempt(player, 0.5, **WRONG) for player in wrong)]
    for language, sentence in (("en", english), ("de", german)):
        assert sentence in in_one_line(feedback("classic-4", [1] * 4, made, language=language))
        nothing = feedback("classic-4", [0] * 4, made, language=language)
        assert sentence not in in_one_line(nothing)


def test_you_and_a_rival_are_said_in_sentences_of_their_own() -> None:
    wrong = [attempt("p1", 0.9, **WRONG)]
    both = [*wrong, attempt(RIVAL, 0.9, **WRONG)]
    assert "You give up a card." in in_one_line(feedback("classic-rival", [1, 1], wrong))
    german = in_one_line(feedback("classic-rival", [1, 1], wrong, language="de"))
    assert "Sie geben eine Karte ab." in german
    english = in_one_line(feedback("classic-rival", [1, 1], both))
    assert "You and the computer give up a card each." in english
    german = in_one_line(feedback("classic-earlier-self", [1, 1], both, language="de"))
    assert "Sie und Ihr früheres Ich geben je eine Karte ab." in german


@pytest.mark.parametrize(("second_s", "decided"), [(0.9, "A lot decided."), (0.905, "The earlier")])
def test_tie_is_said_and_what_decided_it(second_s: float, decided: str) -> None:
    made = [attempt("p1", 0.9, **RIGHT), attempt("p2", second_s, **RIGHT)]
    texts = feedback("classic-2", [1, 1], made, resolution_s=0.01)
    assert texts[0].replace("\n", " ") == "Player 1 takes the card"
    assert f"Player 1 and Player 2 were too close to call. {decided}" in in_one_line(texts)
    clear = [attempt("p1", 0.9, **RIGHT), attempt("p2", 1.0, **RIGHT)]
    assert "too close" not in in_one_line(feedback("classic-2", [1, 1], clear, resolution_s=0.01))


def test_voided_round_says_who_grabbed_and_shouted() -> None:
    made = [attempt("p2", 0.9, **BOTH), attempt("p1", 1.0, **RIGHT)]
    texts = in_one_line(feedback("grab-or-shout-2", [2, 2], made))
    assert "Player 2 was right first, but grabbed and shouted. Player 2 gives up a card." in texts
    assert "2 cards go under the pile." in texts


@pytest.mark.parametrize(
    ("study", "hands", "n_jackpot", "is_right", "sentence"),
    [
        ("classic-alone", [0], 0, False, "The card goes under the pile."),
        ("classic-alone", [2], 0, False, "2 cards go under the pile."),
        ("spooky-doo-alone", [0], 0, False, "The card is set aside for the next right answer."),
        ("spooky-doo-alone", [2], 1, False, "3 cards are set aside for the next right answer."),
        ("spooky-doo-alone", [2], 1, True, "The card set aside goes with it."),
        ("spooky-doo-alone", [2], 3, True, "The 3 cards set aside go with it."),
    ],
)
def test_cards_in_nobodys_hand_are_told_of(
    study: str, hands: list[int], n_jackpot: int, is_right: bool, sentence: str
) -> None:
    made = [attempt("p1", 0.9, right=is_right)]
    assert sentence in in_one_line(feedback(study, hands, made, n_jackpot=n_jackpot))


# --- numbers ------------------------------------------------------------------------------------

#: Rounds that differ in what becomes of cards, for any number of players.
KINDS = [RIGHT, WRONG, BOTH, None]


def many_rounds(company: Company) -> list[list[Attempt]]:
    n = min(len(company.at_table), 3)
    rounds = []
    for kinds in product(KINDS, repeat=n):
        players = company.at_table[:n]
        rounds.append(
            [
                attempt(player, 0.9 if i < 2 else 1.0, **kind)
                for i, (player, kind) in enumerate(zip(players, kinds, strict=True))
                if kind is not None
            ]
        )
    return rounds


def hands_of(company: Company) -> list[int]:
    return [5, 0, 120, 17, 1][: len(company.at_table)]


@every_study
def test_stacks_and_changes_are_those_of_the_table(study: str) -> None:
    screens = drawn_screens(study)
    company = company_of(screens)
    n_jackpot = 2 if company.rules.nobody_right == "jackpot" else 0
    before = table_of(company, hands_of(company), n_jackpot=n_jackpot)
    for made in many_rounds(company):
        card = played(company, before, made, resolution_s=0.01)
        screen = round_feedback(screens, card, company, screens.tables()[0])
        words = [e for e in screen.elements if isinstance(e, Words)]
        numbers = [w for w in words if w.text.isdecimal()]
        assert [int(w.text) for w in numbers] == [
            *card.table.n_won.values(),
            *([len(card.table.jackpot)] if card.table.jackpot else []),
        ]
        changes = {w.text: w.x_deg for w in words if w.text[0] in "+−"}
        expected = [card.table.n_won[p] - n for p, n in before.n_won.items()]
        written = [
            next((int(w.text.replace("−", "-")) for w in words
                  if w.text[0] in "+−" and 0 < w.x_deg - number.x_deg < 2.5), 0)
            for number in numbers[: len(expected)]
        ]  # fmt: skip
        assert written == expected, changes


def overlapping(screen: Screen) -> list[tuple[Element, Element]]:
    def on_stack(one: Element, other: Element) -> bool:
        pair = {type(one): one, type(other): other}
        drawing, words = pair.get(Drawing), pair.get(Words)
        if not isinstance(drawing, Drawing) or not isinstance(words, Words):
            return False
        if one in screen.table and other in screen.table:
            return True  # A name on its panel; the table by itself is tested with the screens.
        stack, number = box_of(drawing), box_of(words)
        inside = stack.left < number.left and number.right < stack.right
        return words.text.isdecimal() and inside and abs(stack.middle - number.middle) < 1e-6

    boxes = [(element, box_of(element)) for element in (*screen.table, *screen.elements)]
    return [
        (one, other)
        for (one, box), (other, other_box) in combinations(boxes, 2)
        if box.overlaps(other_box) and not on_stack(one, other)
    ]


@pytest.mark.slow
@every_language
@every_study
def test_feedback_overlaps_nothing_whatever_happened(study: str, language: str) -> None:
    screens = drawn_screens(study, language=language)
    company = company_of(screens)
    is_jackpot = company.rules.nobody_right == "jackpot"
    width, height = screens.extent_deg()
    masked = screens.settings.display.tabletop == "masked"
    assert not masked or screens.blank(screens.tables()[0]).table
    for made in many_rounds(company):
        table = table_of(company, hands_of(company), n_jackpot=12 if is_jackpot else 0)
        card = played(company, table, made, resolution_s=0.01)
        screen = round_feedback(screens, card, company, screens.tables()[0])
        assert overlapping(screen) == [], card.result.reason
        for element in screen.elements:
            box = box_of(element)
            assert max(box.right, -box.left) <= width / 2
            assert max(box.top, -box.bottom) <= height / 2
            if isinstance(element, Words):
                assert element.height_deg >= 0.5
                assert "{" not in element.text
                for line in element.text.split("\n"):
                    wide = text_width_deg(line, element.height_deg, bold=element.bold)
                    assert wide < 0.97 * element.wrap_deg


@pytest.mark.parametrize("study", SEVERAL)
def test_each_stack_has_the_mark_of_its_player(study: str) -> None:
    screens = drawn_screens(study)
    company = company_of(screens)
    card = played(company, table_of(company, hands_of(company)), [])
    screen = round_feedback(screens, card, company, screens.tables()[0])
    marks = [e for e in screen.elements if isinstance(e, Drawing) and "<text" in e.svg]
    assert [f">{seat}</text>" in mark.svg for seat, mark in enumerate(marks, start=1)] == [
        True
    ] * len(company.players)


# --- the end ------------------------------------------------------------------------------------


def final(
    study: str, hands: Sequence[int], *, n_pile: int = 0, n_jackpot: int = 0, language: str = "en"
) -> tuple[Screen, str]:
    screens = drawn_screens(study, language=language)
    company = company_of(screens)
    table = table_of(company, hands, n_pile=n_pile, n_jackpot=n_jackpot)
    screen = final_standings(screens, table, company)
    return screen, in_one_line(said(screen))


def test_final_standings_rank_the_players_and_wait_for_the_key() -> None:
    screen, text = final("classic-4", [5, 17, 17, 1])
    assert "Player 2 and Player 3 share the first place." in text
    assert "1. Player 2 17 1. Player 3 17 3. Player 1 5 4. Player 4 1" in text
    assert screen.name == "standings"
    assert screen.awaits_keys == ("space",)
    fractions = [e.fraction for e in screen.elements if isinstance(e, Bar)]
    assert fractions == [1, 1, 5 / 17, 1 / 17]


@pytest.mark.parametrize(
    ("study", "hands", "english", "german"),
    [
        ("classic-2", [5, 3], "Player 1 has won!", "Person 1 hat gewonnen!"),
        ("classic-rival", [5, 3], "You have won!", "Sie haben gewonnen!"),
        ("classic-rival", [3, 5], "The computer has won!", "Der Computer hat gewonnen!"),
        ("classic-rival", [5, 5], "You and the computer share the first place.",
         "Sie und der Computer teilen sich den ersten Platz."),
        ("classic-earlier-self", [3, 5], "Your earlier self has won!",
         "Ihr früheres Ich hat gewonnen!"),
        ("classic-alone", [5], "Cards you have won: 5 of 5.",
         "Ihre gewonnenen Karten: 5 von 5."),
        ("classic-2", [0, 0], "Nobody has won a card.", "Niemand hat eine Karte gewonnen."),
    ],
)  # fmt: skip
def test_end_says_who_has_won(study: str, hands: list[int], english: str, german: str) -> None:
    assert english in final(study, hands)[1]
    assert german in final(study, hands, language="de")[1]


def test_end_tells_of_cards_that_nobody_has() -> None:
    assert "Left under the pile: 3." in final("classic-2", [5, 3], n_pile=3)[1]
    assert "under the pile" not in final("classic-2", [5, 3])[1]
    assert "for nobody: 2." in final("spooky-doo-2", [5, 3], n_jackpot=2)[1]
    assert "5 of 9." in final("classic-alone", [5], n_pile=4)[1]


@pytest.mark.slow
@every_language
@every_study
def test_final_standings_overlap_nothing_and_fit_a_page(study: str, language: str) -> None:
    n = len(company_of(drawn_screens(study)).at_table)
    page = Box(-13.0, -8.2, 13.0, 8.2)
    for hands in ([120] * n, [0] * n):
        for n_pile, n_jackpot in ((12, 0), (0, 12)):
            screen, _ = final(study, hands, n_pile=n_pile, n_jackpot=n_jackpot, language=language)
            assert overlapping(screen) == []
            for element in screen.elements:
                box = box_of(element)
                assert page.left <= box.left <= box.right <= page.right
                assert page.bottom <= box.bottom <= box.top <= page.top
