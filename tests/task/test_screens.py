"""What screens show and where: nothing overlaps, all fits, and examples say what the rules say."""

from __future__ import annotations

import html
import re
from functools import cache
from itertools import combinations

import pytest
from drawn_studies import (
    MASKED,
    PLAYED_FOR,
    SEVERAL,
    VARIANTS,
    drawn_screens,
    drawn_settings,
    self_paced_screens,
    trial_screens,
)

from ghostblitz_task.cards import Card
from ghostblitz_task.company import scoring_rules
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.examples import ExampleCards, study_features
from ghostblitz_task.games import GameSettings, GameState, available_games, make_game
from ghostblitz_task.instructions import Page
from ghostblitz_task.screen_elements import (
    Box,
    Drawing,
    Element,
    Line,
    Screen,
    Words,
    balanced,
    box_of,
    text_width_deg,
    wrapped,
)
from ghostblitz_task.screens import Screens
from ghostblitz_task.table_drawings import player_mark
from ghostblitz_task.texts import available_languages

pytestmark = pytest.mark.slow

LANGUAGES = available_languages()
#: The smallest screen that nine items need: a laptop of 16:9 at arm's length.
LAPTOP_DEG = (36.0, 20.25)
PATCH_DEG = 1.5

every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_study = pytest.mark.parametrize("variant", [*VARIANTS, *PLAYED_FOR])
several_players = pytest.mark.parametrize("variant", SEVERAL)
every_language = pytest.mark.parametrize("language", LANGUAGES)


def elements(screen: Screen) -> list[Element]:
    return [*screen.table, *screen.elements]


def is_on_panel(one: Element, other: Element) -> bool:
    """A name stands on its panel, and the lines of the cross meet: no other things may."""
    if isinstance(one, Line) and isinstance(other, Line):
        return True
    if not (isinstance(one, Drawing) and isinstance(other, Words)):
        return False
    panel, name = box_of(one), box_of(other)
    inside = panel.left < name.left and name.right < panel.right
    return "aria-label" not in one.svg and inside and abs(panel.middle - name.middle) < 0.01


def overlapping(screen: Screen) -> list[tuple[Element, Element]]:
    boxes = [(element, box_of(element)) for element in elements(screen)]
    return [
        (one, other)
        for (one, box), (other, other_box) in combinations(boxes, 2)
        if box.overlaps(other_box) and not is_on_panel(one, other)
    ]


def pages_of(screens: Screens) -> list[Page]:
    return list(screens.pages())


@cache
def drawn(variant: str, language: str = "en") -> tuple[Screens, list[Page]]:
    screens = drawn_screens(variant, language=language)
    return screens, pages_of(screens)


@cache
def all_screens(variant: str, language: str) -> tuple[Screen, ...]:
    screens, _ = drawn(variant, language)
    return (*trial_screens(screens), *self_paced_screens(screens))


def cards_on(page: Page, screens: Screens) -> list[Card]:
    """The cards that are drawn on a page, from the labels of their drawings."""
    cards = []
    for element in page.drawn:
        label = re.search(r'aria-label="([^"]+:[^"]+)"', getattr(element, "svg", ""))
        if label:
            cards.append(screens.game.parse(html.unescape(label[1])))
    return cards


def words_of(page: Page) -> list[str]:
    return [e.text for e in page.drawn if isinstance(e, Words)]


# --- room -------------------------------------------------------------------------------------


@every_language
@every_study
def test_nothing_overlaps_and_all_is_on_the_smallest_screen(variant: str, language: str) -> None:
    screens = drawn_screens(variant, language=language)
    screens.check_drawable()
    width, height = screens.extent_deg()
    corner = Box(-width / 2, -height / 2, PATCH_DEG - width / 2, PATCH_DEG - height / 2)
    for screen in all_screens(variant, language):
        assert overlapping(screen) == [], screen.name
        for element in elements(screen):
            box = box_of(element)
            assert max(box.right, -box.left) <= width / 2, (screen.name, element)
            assert max(box.top, -box.bottom) <= height / 2, (screen.name, element)
            assert not box.overlaps(corner), (screen.name, element)


#: Nine items with the keys of two need a larger screen, or sitting closer.
TOO_MUCH_FOR_A_LAPTOP = {"five-to-twelve-2", "five-to-twelve+mirror+owl+mirror-owl-2"}


@every_language
@pytest.mark.parametrize("variant", sorted({*VARIANTS, *PLAYED_FOR} - TOO_MUCH_FOR_A_LAPTOP))
def test_screens_fit_a_laptop(variant: str, language: str) -> None:
    width, height = drawn_screens(variant, language=language).extent_deg()
    assert width <= LAPTOP_DEG[0]
    assert height <= LAPTOP_DEG[1]


def test_five_items_need_no_more_than_a_page_of_text() -> None:
    assert drawn_screens("grab-or-shout").extent_deg() == (26.0, 16.4)


@every_language
@every_study
def test_no_line_needs_to_be_broken_by_the_window(variant: str, language: str) -> None:
    """A window rounds letters to pixels, so lines are broken before, with room to spare."""
    for screen in all_screens(variant, language):
        for element in elements(screen):
            if isinstance(element, Words):
                lines = element.text.split("\n")
                widths = [text_width_deg(t, element.height_deg, bold=element.bold) for t in lines]
                assert max(widths) < 0.97 * element.wrap_deg, element.text


@every_study
def test_letters_are_large_enough_to_be_read(variant: str) -> None:
    for screen in all_screens(variant, "de"):
        for element in elements(screen):
            assert not isinstance(element, Words) or element.height_deg >= 0.5, element


def test_places_are_the_same_in_each_language_and_masked_or_not() -> None:
    table = {"game": VARIANTS["five-to-twelve-masked"]["game"]}
    one = drawn_screens("five-to-twelve-masked")
    for other in (
        drawn_screens("five-to-twelve-masked", language="de"),
        drawn_screens("five-to-twelve-masked", display={}, **table),
    ):
        assert one.item_places() == other.item_places()
        assert one.layout.card_deg == other.layout.card_deg


def test_sizes_that_the_study_sets_are_kept() -> None:
    display = {"picture_deg": 3.5, "item_deg": 2.5, "items_radius_deg": 14.0}
    layout = drawn_screens("five-to-twelve", display=display).layout
    assert (layout.picture_deg, layout.item_deg, layout.radius_deg) == (3.5, 2.5, 14.0)


@pytest.mark.parametrize(
    ("display", "message"),
    [
        ({"picture_deg": 4.9}, r"the card .17\.1 x 6\.1 degrees. would cover the (bat|hat)"),
        ({"picture_deg": 2.0, "item_deg": 3.8}, r"the bat would cover the hat or its key"),
    ],
)
def test_crowded_table_of_a_set_radius_is_refused(display: dict[str, float], message: str) -> None:
    screens = drawn_screens("five-to-twelve", display={**display, "items_radius_deg": 11.0})
    with pytest.raises(ConfigError, match=rf"display\.items_radius_deg: {message}"):
        screens.check_drawable()


def test_circle_grows_with_what_it_must_hold() -> None:
    wider = drawn_screens("five-to-twelve", display={"picture_deg": 6.0})
    wider.check_drawable()
    assert wider.layout.radius_deg > drawn_screens("five-to-twelve").layout.radius_deg


@pytest.mark.parametrize("variant", ["spooky-doo", "five-to-twelve+mirror+owl+mirror-owl"])
def test_cards_on_pages_shrink_until_they_fit(variant: str) -> None:
    screens = drawn_screens(variant, display={"picture_deg": 9.0})
    for screen in screens.instructions():
        assert overlapping(screen) == [], screen.name
        assert all(abs(e.x_deg) + e.width_deg / 2 <= 13 for e in screen.elements
                   if isinstance(e, Drawing))  # fmt: skip


def test_more_answers_than_a_row_holds_go_into_further_rows() -> None:
    times = [f"{hour:02}:{minute:02}" for hour in range(1, 13) for minute in (5, 35)][:12]
    keys = {t: f"f{i}" for i, t in enumerate(times, start=1)}
    screens = drawn_screens(
        "five-to-twelve",
        game={"name": "five-to-twelve", "times": times},
        responses={"shout_keys": keys},
    )
    rows = {e.y_deg for e in screens.layout.answer_rows() if isinstance(e, Words)}
    assert len(rows) == 4  # two rows, each of times and of keys
    assert overlapping(screens.blank(GameState())) == []


# --- the table --------------------------------------------------------------------------------


def test_place_of_the_hidden_item_is_an_outline_above_its_key() -> None:
    screens = drawn_screens("spooky-doo")
    place = screens.item_places()["bottle"]
    table = screens.blank(GameState("bottle")).table
    there = [e for e in table if isinstance(e, Drawing) and (e.x_deg, e.y_deg) == place]
    assert ["stroke-dasharray" in drawing.svg for drawing in there] == [True]
    assert not any("green bottle" in getattr(e, "svg", "") for e in table)
    assert any("red hat" in getattr(e, "svg", "") for e in table)
    keys = [e.text for e in table if isinstance(e, Words)]
    assert keys == [e.text for e in screens.blank(GameState("ghost")).table if isinstance(e, Words)]


@pytest.mark.parametrize("variant", ["spooky-doo-masked", "five-to-twelve-masked"])
def test_masked_table_tells_nothing_of_what_lies_on_it(variant: str) -> None:
    screens = drawn_screens(variant)
    card = ExampleCards(screens.settings, screens.game).for_page("direct")[0].card
    shown = []
    for table in screens.tables():
        stimulus = screens.game.stimulus(card, table)
        shown += [screens.fixation(table).table, screens.card(stimulus).table]
    assert all(table == shown[0] for table in shown)
    # No item is drawn; the colours that are answers may be.
    assert not any("aria-label" in e.svg for e in shown[0] if isinstance(e, Drawing))
    names = [e.text for e in shown[0] if isinstance(e, Words)]
    assert set(screens.game.item_colours) <= set(names)


def test_masked_table_is_uncovered_only_where_the_hat_is_shown() -> None:
    masked, visible = drawn_screens("spooky-doo-masked"), drawn_screens("spooky-doo")
    for table in visible.tables():
        assert masked.hat_moved(table).table == visible.hat_moved(table).table
        covered = masked.fixation(table).table
        assert masked.blank(table).table == masked.feedback("wrong", table).table == covered
        assert covered != visible.fixation(table).table


def test_keys_stand_in_the_same_places_masked_or_not() -> None:
    masked, visible = drawn_screens("spooky-doo-masked"), drawn_screens("spooky-doo")
    table = GameState("mouse")
    keys = {e for e in visible.fixation(table).table if isinstance(e, Words)}
    assert keys <= set(masked.fixation(table).table)


def test_pointer_finds_the_item_where_it_is_shown() -> None:
    masked, visible = drawn_screens("classic-masked"), drawn_screens("classic")
    for item, (x, y) in visible.item_places().items():
        assert visible.item_at(x, y) == masked.item_at(x, y - 0.3) == item
        half = visible.layout.item_deg / 2
        assert visible.item_at(x, y + half - 0.1) == item
        assert visible.item_at(x, y + half + 0.1) is None
        assert masked.item_at(x, y + half - 0.1) is None  # above the panel
        assert masked.item_at(x + half + 0.5, y - 0.3) == item  # panels are wider
    assert visible.item_at(0, 0) is None


def test_every_shouted_answer_that_is_no_item_stands_on_the_table_with_its_key() -> None:
    screens = drawn_screens("five-to-twelve+mirror+owl+mirror-owl", language="de")
    words = [e.text for e in screens.blank(GameState()).table if isinstance(e, Words)]
    keys = screens.settings.responses.shout_keys
    for answer, key in keys.items():
        if answer not in screens.game.item_colours:
            assert screens.texts.answer(answer) in words
            assert f"„{key.upper()}“" in words
    basic = [e.text for e in drawn_screens("five-to-twelve").blank(GameState()).table if
             isinstance(e, Words)]  # fmt: skip
    assert "black" not in basic
    assert "11:55" in basic


def test_hat_screens_show_the_hat_its_item_and_the_keys_that_may_be_chosen() -> None:
    screens = drawn_screens("spooky-doo-chosen")
    moved = screens.hat_moved(GameState("barrel"))
    assert "barrel" in " ".join(e.text for e in moved.elements if isinstance(e, Words))
    svg = "".join(e.svg for e in moved.elements if isinstance(e, Drawing))
    assert svg.index("blue barrel") < svg.index("red hat")  # the hat above all else
    choice = screens.hat_choice(GameState("barrel"), ("ghost", "mouse"))
    keys = screens.settings.responses.grab_keys
    assert choice.awaits_keys == (keys["ghost"], keys["mouse"])
    drawn = "".join(e.svg for e in choice.elements if isinstance(e, Drawing))
    assert "white ghost" in drawn
    assert "grey mouse" in drawn
    assert "barrel" not in drawn


def test_key_check_draws_colours_and_clocks() -> None:
    screens = drawn_screens("five-to-twelve+mirror+owl+mirror-owl")
    asked = {ask.name: ask for ask, _ in screens.key_check()}
    red = "".join(getattr(e, "svg", "") for e in asked["key-check-shout-red"].elements)
    assert screens.palette.colours["red"] in red
    clock = "".join(getattr(e, "svg", "") for e in asked["key-check-shout-04:20"].elements)
    assert 'aria-label="clock:blue@04:20"' in clock
    n_keys = len(screens.settings.responses.grab_keys) + len(screens.settings.responses.shout_keys)
    assert len(asked) == n_keys


# --- instructions -----------------------------------------------------------------------------

EXPECTED_PAGES = {
    "classic": "items direct exclusion grab_keys nothing",
    "classic-masked": "items direct exclusion covered_items grab_keys nothing",
    "grab-or-shout": "items direct exclusion grab_and_shout grab_keys shout_keys nothing",
    "spooky-doo": "items direct exclusion hat_grab hat_call hat_move nothing "
    "grab_keys shout_keys nothing",
    "five-to-twelve": "items direct exclusion time mirrored grab_keys shout_keys nothing",
    "five-to-twelve+mirror": "items direct exclusion time mirror grab_keys shout_keys nothing",
    "five-to-twelve+owl": "items direct exclusion time mirrored owl grab_keys shout_keys nothing",
    "five-to-twelve+mirror+owl+mirror-owl": "items direct exclusion time mirror owl "
    "mirror_owl grab_keys shout_keys nothing",
    "classic-alone": "items direct exclusion grab_keys nothing nothing",
    "classic-rival": "items direct exclusion grab_keys nothing nothing nothing nothing",
    "classic-2": "items direct exclusion players grab_keys nothing nothing nothing",
    "grab-or-shout-2": "items direct exclusion grab_and_shout players grab_keys shout_keys "
    "nothing nothing nothing",
}


@pytest.mark.parametrize("variant", EXPECTED_PAGES)
def test_pages_are_those_that_the_study_needs(variant: str) -> None:
    shown = [page.shows for page in drawn(variant)[1]]
    assert shown == EXPECTED_PAGES[variant].split()


def test_what_no_block_asks_for_is_not_explained() -> None:
    blocks = [{"label": "one", "type": "direct", "n_trials": 6}]
    screens = drawn_screens("five-to-twelve+mirror+owl+mirror-owl", blocks=blocks)
    shown = [page.shows for page in pages_of(screens)]
    assert shown == ["items", "direct", "owl", "grab_keys", "shout_keys", "nothing"]
    mirror = [{"label": "one", "type": "mirror", "n_trials": 6}]
    settings = drawn_settings("five-to-twelve+mirror+owl+mirror-owl", blocks=mirror)
    features = study_features(settings, settings.make_game())
    assert {"mirror", "owl"} <= features
    assert not {"direct", "exclusion", "time", "mirror_owl"} & features


def test_notes_come_only_where_they_are_true() -> None:
    def text(variant: str, shows: str) -> str:
        return " ".join(next(p.text for p in drawn(variant)[1] if p.shows == shows).split())

    assert "You are shown where it goes" in text("spooky-doo", "hat_move")
    assert "You choose the object yourself" in text("spooky-doo-chosen", "hat_move")
    assert "You are shown" not in text("spooky-doo-chosen", "hat_move")
    assert "keep it in mind" in text("spooky-doo-masked", "covered_items")
    assert "keep it in mind" not in text("classic-masked", "covered_items")
    alone = text("five-to-twelve+mirror-owl", "mirror_owl")
    all_rules = text("five-to-twelve+mirror+owl+mirror-owl", "mirror_owl")
    assert "Without the owl, an object in the mirror counts as any other" in alone
    assert "Without the owl" not in all_rules
    assert "The owl itself is never in the mirror" in all_rules
    assert "An object in the mirror, too" in text("five-to-twelve+mirror+owl", "owl")
    assert "An object in the mirror, too" not in text("five-to-twelve+owl", "owl")


@every_study
def test_pages_draw_the_same_in_every_language(variant: str) -> None:
    def cards(language: str) -> list[tuple[str, list[str]]]:
        screens, pages = drawn(variant, language)
        return [(page.shows, [str(card) for card in cards_on(page, screens)]) for page in pages]

    assert all(cards(language) == cards("en") for language in LANGUAGES)


@every_language
@every_study
def test_answers_beside_examples_are_those_of_the_rules(variant: str, language: str) -> None:
    screens, pages = drawn(variant, language)
    prompts, n_solved = screens.texts.prompts, 0
    for page in pages:
        words = words_of(page)
        captions = words[::2]
        for card, caption, reason in zip(cards_on(page, screens), captions, words[1::2],
                                         strict=False):  # fmt: skip
            table = next(
                (t for t in screens.tables() if t.hat_over and
                 reason.endswith(": " + screens.texts.item(t.hat_over))),
                screens.tables()[0],
            )  # fmt: skip
            solution = screens.game.stimulus(card, table).solution
            said = prompts.grab_answer if solution.mode == "grab" else prompts.shout_answer
            assert caption == said.format(answer=screens.texts.answer(solution.answer))
            n_solved += 1
    assert n_solved >= 4


@every_variant
def test_examples_of_the_base_logic_hold_under_every_rule_and_hat(variant: str) -> None:
    screens, pages = drawn(variant)
    game = screens.game
    tables = [t for t in screens.tables() if t.hat_over != game.initial_state().hat_over]
    for page in pages:
        if page.shows not in ("direct", "exclusion"):
            continue
        cards = cards_on(page, screens)
        assert len(cards) == 2
        for card in cards:
            solution = game.stimulus(card, game.initial_state()).solution
            assert (solution.rule, solution.mode) == (page.shows, "grab")
            assert "hat" not in [p.item for p in card.depicted] or not game.hideable
            others = [t for t in tables if t.hat_over != solution.answer]
            for table in others:
                assert game.stimulus(card, table).solution == solution
            if game.additional_rules:  # type: ignore[attr-defined]
                for n in range(4):
                    for rules in combinations(("mirror", "owl", "mirror-owl"), n):
                        other = make_game(GameSettings(game.name, rules=frozenset(rules)))
                        assert other.stimulus(card, GameState()).solution == solution


def test_examples_teach_by_contrast() -> None:
    screens, pages = drawn("five-to-twelve+mirror+owl+mirror-owl")
    by_page = {page.shows: cards_on(page, screens) for page in pages}
    solved = {
        shows: [screens.game.stimulus(card, GameState()).solution for card in cards]
        for shows, cards in by_page.items()
    }
    assert [s.rule == "time" for s in solved["time"]] == [True, False]
    assert solved["time"][0].answer == "11:55"
    assert all(any(p.item == "clock" for p in card.depicted) for card in by_page["time"])
    assert [s.rule == "mirror" for s in solved["mirror"]] == [True, False]
    seen = next(p.mirrored for p in by_page["mirror"][0].pictures if p.mirrored)
    assert screens.game.item_colours[seen.item] != seen.colour
    empty = [p for p in by_page["mirror"][1].pictures if p.item == "mirror"]
    assert [p.mirrored for p in empty] == [None]
    assert [s.mode for s in solved["owl"]] == ["shout", "shout"]
    assert [s.target == "owl" for s in solved["owl"]] == [False, True]
    colours = [s.answer for s in solved["mirror_owl"]]
    assert len(set(colours)) == 2
    own = [screens.game.item_colours[str(s.target)] for s in solved["mirror_owl"]]
    assert all(c != o for c, o in zip(colours, own, strict=True))


def test_hat_examples_ask_for_the_hat_and_for_what_is_under_it() -> None:
    screens = drawn_screens("spooky-doo")
    examples = ExampleCards(screens.settings, screens.game)
    (grab,), (call,) = examples.for_page("hat_grab"), examples.for_page("hat_call")
    assert (grab.solution.mode, grab.solution.answer) == ("grab", "hat")
    assert grab.solution.target == grab.state.hat_over
    assert (call.solution.mode, call.solution.target) == ("shout", "hat")
    assert call.solution.answer == call.state.hat_over


def test_study_whose_game_lacks_an_example_is_refused() -> None:
    game = {
        "name": "classic",
        "item_colours": {"ghost": "white", "mouse": "grey"},
        "n_pictures": 1,
    }
    screens = drawn_screens("classic", game=game)
    with pytest.raises(ConfigError, match="classic: there is no exclusion card to grab for an"):
        pages_of(screens)


# --- playing for the cards --------------------------------------------------------------------


def said_on_pages(variant: str, language: str = "en") -> str:
    """All that the pages say, in one line."""
    pages = drawn(variant, language)[1]
    return " ".join(" ".join((page.title, page.text)) for page in pages).replace("\n", " ")


@pytest.mark.parametrize(
    ("said", "variants"),
    [
        ("If you make a mistake, the card goes under", {"classic-alone", "grab-or-shout-alone"}),
        ("Your next right answer takes all that is set aside", {"spooky-doo-alone"}),
        ("A computer player", {"classic-rival", "spooky-doo-rival"}),
        ("your own earlier session plays against you", {"classic-earlier-self"}),
        ("There are 2 of you", {"classic-2", "grab-or-shout-2", "spooky-doo-2"}),
        (
            "The first right answer takes the card",
            {"classic-rival", "spooky-doo-rival", "classic-earlier-self", "classic-2",
             "grab-or-shout-2", "spooky-doo-2"},
        ),
        (
            "If nobody is right, the card goes under the pile",
            {"classic-rival", "classic-earlier-self", "classic-2", "grab-or-shout-2"},
        ),
        (
            "If nobody is right, the card is set aside",
            {"spooky-doo-rival", "spooky-doo-2"},
        ),
        ("Then all cards of the round go under the pile", {"grab-or-shout-2"}),
        (
            "is a mistake, even if one of the two is right",
            {"grab-or-shout-alone", "spooky-doo-alone", "spooky-doo-rival", "spooky-doo-2"},
        ),
        (
            "The card stays until all of you have answered",
            {"classic-2", "grab-or-shout-2", "spooky-doo-2"},
        ),
        (
            "The card stays until you have answered",
            {"classic-rival", "spooky-doo-rival", "classic-earlier-self"},
        ),
        (
            "too close to call",
            {"classic-rival", "spooky-doo-rival", "classic-earlier-self", "classic-2",
             "grab-or-shout-2", "spooky-doo-2"},
        ),
        (
            "come again at the end (at most: 20)",
            {"classic-alone", "classic-rival", "classic-earlier-self", "classic-2",
             "grab-or-shout-2"},
        ),
    ],
)  # fmt: skip
def test_pages_say_what_holds_in_the_study_and_nothing_else(said: str, variants: set[str]) -> None:
    studies = {
        "classic", "grab-or-shout", "spooky-doo", "classic-alone", "grab-or-shout-alone",
        "spooky-doo-alone", "classic-rival", "spooky-doo-rival", "classic-earlier-self",
        "classic-2", "grab-or-shout-2", "spooky-doo-2",
    }  # fmt: skip
    saying = {name for name in studies if said in said_on_pages(name)}
    assert saying == variants


def test_pages_tell_of_the_rules_that_the_game_is_scored_by() -> None:
    for game in available_games():
        settings = drawn_settings("classic", game={"name": game}, company={})
        jackpot = "jackpot" in study_features(settings, settings.make_game())
        assert jackpot == (scoring_rules(game).nobody_right == "jackpot")


# --- several players --------------------------------------------------------------------------


@several_players
def test_every_players_keys_stand_below_each_item_in_the_same_place(variant: str) -> None:
    screens = drawn_screens(variant)
    players = screens.settings.responses.players
    table = screens.blank(screens.tables()[0]).table
    words = {(round(box_of(e).left, 6), e.y_deg): e.text for e in table if isinstance(e, Words)}
    marks = [e for e in table if isinstance(e, Drawing) and "<text" in e.svg]
    offsets = set()
    for item, (x, y) in screens.item_places().items():
        for seat, player in enumerate(players):
            label = screens.key_name(player.grab_keys[item])
            if item in player.shout_keys:
                label += f"   “{screens.key_name(player.shout_keys[item])}”"
            places = [place for place, text in words.items() if text == label]
            assert len(places) == 1, (item, seat)
            left, middle = places[0]
            mark = next(m for m in marks if f">{seat + 1}</text>" in m.svg
                        and abs(m.y_deg - middle) < 1e-6 and 0 < left - m.x_deg < 1)  # fmt: skip
            offsets.add((seat, round(mark.x_deg - x, 3), round(mark.y_deg - y, 3)))
    assert len(offsets) == len(players)


@several_players
def test_every_player_tries_every_key_in_turn(variant: str) -> None:
    screens = drawn_screens(variant)
    asked = list(screens.key_check())
    expected = [
        key
        for player in screens.settings.responses.players
        for key in {*player.grab_keys.values(), *player.shout_keys.values()}
    ]
    keys = [key for ask, _ in asked for key in ask.awaits_keys]
    assert sorted(keys) == sorted(expected)
    assert len({ask.name for ask, _ in asked}) == len(expected)
    for ask, again in asked:
        seat = next(
            i
            for i, player in enumerate(screens.settings.responses.players)
            if ask.awaits_keys[0] in {*player.grab_keys.values(), *player.shout_keys.values()}
        )
        for screen in (ask, again):
            texts = [e.text for e in screen.elements if isinstance(e, Words)]
            assert screens.texts.player(seat) in texts
            assert any(screens.key_name(ask.awaits_keys[0]) in text for text in texts)
    seats = [ask.name.split("-")[3] for ask, _ in asked]
    assert seats == sorted(seats)


def test_one_player_has_no_mark() -> None:
    for variant in ("classic", "classic-alone", "spooky-doo-rival"):
        for screen in all_screens(variant, "en"):
            svgs = [e.svg for e in elements(screen) if isinstance(e, Drawing)]
            assert not any("<text" in svg for svg in svgs), screen.name


def test_marks_differ_in_shape_and_number() -> None:
    palette = drawn_screens("classic").palette
    marks = [player_mark(seat, palette) for seat in range(4)]
    shapes = [mark.split("fill=")[0] for mark in marks]
    assert len(set(shapes)) == 4
    assert [f">{i}</text>" in mark for i, mark in enumerate(marks, start=1)] == [True] * 4


def test_keys_that_look_different_leave_the_table_as_it_is() -> None:
    screens = drawn_screens("grab-or-shout-2")
    keys = [k for p in screens.settings.responses.players for k in p.grab_keys.values()]
    other = screens.with_key_labels(dict.fromkeys(keys, "I"))
    assert other.item_places() == screens.item_places()
    assert other.layout.item_grid == screens.layout.item_grid


def test_long_names_of_keys_get_room() -> None:
    screens = drawn_screens("grab-or-shout-2")
    keys = [k for p in screens.settings.responses.players for k in p.grab_keys.values()]
    long = screens.with_key_labels(dict.fromkeys(keys, "Page Down"))
    long.check_drawable()
    assert long.layout.radius_deg > screens.layout.radius_deg
    assert (
        overlapping(long.card(ExampleCards(long.settings, long.game).for_page("direct")[0])) == []
    )


def test_hat_is_moved_with_the_keys_of_the_player_who_is_asked() -> None:
    screens = drawn_screens("spooky-doo-chosen-2")
    first, second = screens.settings.responses.players
    for seat, player in enumerate((first, second)):
        choice = screens.hat_choice(GameState("barrel"), ("ghost", "mouse"), seat=seat)
        assert choice.awaits_keys == (player.grab_keys["ghost"], player.grab_keys["mouse"])
        text = next(e.text for e in choice.elements if isinstance(e, Words))
        assert text.startswith(f"Player {seat + 1}: ")


# --- text -------------------------------------------------------------------------------------


def test_lines_are_broken_where_they_would_be_too_wide() -> None:
    width = text_width_deg("one two", 1.0)
    assert wrapped("one two three", width + 0.01, 1.0) == ["one two", "three"]
    assert wrapped("one two", width - 0.01, 1.0) == ["one", "two"]
    assert wrapped("one\ntwo", 100, 1.0) == ["one", "two"]
    assert wrapped("incomprehensibilities", 1, 1.0) == ["incomprehensibilities"]


def test_balanced_lines_are_as_few_and_nearly_even() -> None:
    text = "a few words of a text that needs one line more for its very last word"
    one_short = text_width_deg(text, 1.0) - 0.1
    lines = balanced(text, one_short, 1.0).split("\n")
    assert " ".join(lines) == text
    assert len(lines) == len(wrapped(text, one_short, 1.0)) == 2
    assert abs(len(lines[0]) - len(lines[1])) < 10
    assert balanced("a\n\nb", 5) == "a\n\nb"


def test_width_of_text_grows_with_its_size_and_in_bold() -> None:
    assert text_width_deg("ghost", 2.0) == pytest.approx(2 * text_width_deg("ghost", 1.0))
    assert text_width_deg("ghost", 1.0, bold=True) > text_width_deg("ghost", 1.0)
    hanging = box_of(Words("ghost", 0, 5, 1.0, hangs=True))
    assert (hanging.top, hanging.middle < 5) == (5, True)


def test_masked_setting_is_what_the_variants_mean() -> None:
    assert drawn_settings("classic", display=MASKED).display.tabletop == "masked"


def test_all_cards_of_a_game_are_drawn_on_cards_of_one_size() -> None:
    screens = drawn_screens("five-to-twelve+mirror+owl+mirror-owl")
    table = screens.game.initial_state()
    texts = ["bat:white hat:black owl:blue", "mirror:black(key:red) bat:green"]
    drawn = [
        screens.card(screens.game.stimulus(screens.game.parse(text), table)).elements[0]
        for text in texts
    ]
    sizes = {(e.width_deg, e.height_deg) for e in drawn if isinstance(e, Drawing)}
    assert sizes == {screens.layout.card_deg}
