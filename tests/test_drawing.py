"""What a participant must be able to see: the shapes, the colours and the distances between them.

Distances are CAM02-UCS (Luo, Cui & Li 2006), in which about 1 is just noticeable side by side;
dichromacy is simulated after Machado, Oliveira & Fernandes (2009) at full severity. Both come
from colorspacious.
"""

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ghostblitz_task.cards import Card, Picture
from ghostblitz_task.contact_sheets import contact_sheet, write_contact_sheet
from ghostblitz_task.drawing import (
    available_items,
    available_palettes,
    card_size_deg,
    card_svg,
    item_svg,
    items_row_svg,
    load_palette,
    render_png,
    render_rgba,
)
from ghostblitz_task.errors import ConfigError

with warnings.catch_warnings():
    # The docstrings of colorspacious 1.1.2 hold a backslash that Python warns about whenever it
    # compiles them for the first time.
    warnings.simplefilter("ignore")
    from colorspacious import cspace_convert

ART = Path(__file__).parents[1] / "ghostblitz_task" / "art"
ITEMS = ("bottle", "book", "chair", "ghost", "mouse")
CLASSIC = ("white", "red", "green", "blue", "grey")
COLOURS = (*CLASSIC, "black", "yellow")
DICHROMACIES = ("protanomaly", "deuteranomaly", "tritanomaly")
# 5 degrees at 60 cm on a screen of 1920 pixels over 53 cm.
ITEM_PX = round(2 * 60 * math.tan(math.radians(2.5)) * 1920 / 53)
SOLID_PX = 3


def rgb1(tone):
    return np.array([int(tone[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def seen(rgb, deficiency=None):
    """CAM02-UCS coordinates of sRGB values (0 to 1), for normal vision or a dichromacy."""
    if deficiency:
        space = {"name": "sRGB1+CVD", "cvd_type": deficiency, "severity": 100}
        rgb = np.clip(cspace_convert(rgb, space, "sRGB1"), 0, 1)
    return cspace_convert(rgb, "sRGB1", "CAM02-UCS")


def distance(tone, other, deficiency=None):
    return float(np.linalg.norm(seen(rgb1(tone), deficiency) - seen(rgb1(other), deficiency)))


def smallest_distance(tones, deficiency=None):
    return min(distance(a, b, deficiency) for a, b in combinations(tones, 2))


def solid(mask):
    """Whether the mask holds a block of SOLID_PX by SOLID_PX pixels; edges blend, areas do not."""
    windows = np.lib.stride_tricks.sliding_window_view(mask, (SOLID_PX, SOLID_PX))
    return bool(windows.all(axis=(2, 3)).any())


def pixels_of(item, colour, palette, width_px=ITEM_PX):
    return render_rgba(item_svg(item, colour, palette), width_px=width_px)


@pytest.fixture(params=["standard", "colour-blind"])
def palette(request):
    return load_palette(request.param)


# --- items ----------------------------------------------------------------------------------


def test_the_five_items_and_both_palettes_are_found():
    assert set(ITEMS) <= set(available_items())
    assert available_palettes() == ("standard", "colour-blind")


def test_five_degrees_are_190_pixels_on_the_screen_of_these_tests():
    assert ITEM_PX == 190


@pytest.mark.parametrize("item", available_items())
def test_art_uses_only_the_placeholders_and_plain_shapes(item):
    root = ET.fromstring((ART / f"{item}.svg").read_text(encoding="utf-8"))
    assert root.attrib == {"viewBox": "0 0 200 200"}
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in {
            "svg", "g", "path", "ellipse", "circle", "rect", "line",
        }  # fmt: skip
        for name in ("fill", "stroke"):
            used = element.get(name, "none")
            assert used in {"none", "#BODY", "#SHADE", "#LINE", "#INK"}
        assert not {"style", "class", "opacity", "id"} & set(element.attrib)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", ITEMS)
def test_item_is_mostly_its_colour(item, colour, palette):
    pixels = pixels_of(item, colour, palette)
    drawn = pixels[..., 3] == 255
    body = np.round(rgb1(palette.colours[colour]) * 255).astype(np.uint8)
    share = (pixels[drawn][:, :3] == body).all(axis=1).mean()
    assert share > 0.5


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", ITEMS)
def test_item_shows_no_other_colour_of_the_games(item, colour, palette):
    pixels = pixels_of(item, colour, palette)
    opaque = pixels[..., 3] == 255
    ucs = seen(pixels[..., :3] / 255)
    for other in COLOURS:
        if other != colour:
            tone = palette.colours[other]
            near = np.linalg.norm(ucs - seen(rgb1(tone)), axis=-1) < 10
            assert not solid(near & opaque), other


@pytest.mark.parametrize("colour", COLOURS)
def test_every_tone_of_an_item_but_its_lines_belongs_to_its_colour(colour, palette):
    # The shade is the only tone in the drawing that is neither the body nor a line.
    svg = item_svg("mouse", colour, palette)
    lines = {palette.line, palette.line_on_dark}
    tones = set(re.findall(r"#[0-9A-F]{6}", svg)) - lines
    assert palette.colours[colour] in tones
    assert len(tones) == 2
    for tone in tones:
        nearest = min(COLOURS, key=lambda name: distance(tone, palette.colours[name]))
        assert nearest == colour
        assert distance(tone, palette.colours[colour]) < 15


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", ITEMS)
def test_inner_strokes_stand_out_from_the_body(item, colour, palette):
    inks = {palette.line, palette.line_on_dark} & set(
        re.findall(r"#[0-9A-F]{6}", item_svg(item, colour, palette))
    )
    assert max(distance(ink, palette.colours[colour]) for ink in inks) > 25


@pytest.mark.parametrize(("item", "other"), tuple(combinations(ITEMS, 2)))
def test_silhouettes_differ(item, other, palette):
    mask, other_mask = (pixels_of(i, "white", palette)[..., 3] > 127 for i in (item, other))
    assert (mask & other_mask).sum() / (mask | other_mask).sum() < 0.8


@pytest.mark.parametrize("width_px", [60, ITEM_PX, 600])
@pytest.mark.parametrize("item", available_items())
def test_item_fills_its_box_without_touching_its_edge(item, width_px):
    alpha = pixels_of(item, "red", load_palette("standard"), width_px)[..., 3] > 0
    rows, columns = np.flatnonzero(alpha.any(axis=1)), np.flatnonzero(alpha.any(axis=0))
    first, last = min(rows[0], columns[0]), max(rows[-1], columns[-1])
    assert first >= 0.015 * width_px
    assert last < 0.985 * width_px
    assert max(np.ptp(rows), np.ptp(columns)) > 0.88 * width_px


@pytest.mark.parametrize("item", available_items())
def test_lines_are_at_least_one_and_a_half_pixels_wide_at_five_degrees(item):
    svg = item_svg(item, "grey", load_palette("standard"))
    widths = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', svg)]
    assert min(widths) * ITEM_PX / 200 >= 1.5
    assert "scale(" not in svg  # which would change the widths just read


def test_unknown_item_says_which_are_drawn(palette):
    with pytest.raises(ConfigError, match=r"'mose' is not .*bottle, .*did you mean mouse\?"):
        item_svg("mose", "red", palette)


def test_unknown_colour_says_which_the_palette_has(palette):
    with pytest.raises(ConfigError, match=rf"{palette.name}: 'gray'.*did you mean grey\?"):
        item_svg("mouse", "gray", palette)


# --- palettes -------------------------------------------------------------------------------


def test_palettes_name_the_same_colours(palette):
    assert tuple(palette.colours) == COLOURS


def test_unknown_palette_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match=r"did you mean colour-blind\?"):
        load_palette("color-blind")


def test_palette_cannot_be_changed(palette):
    with pytest.raises(TypeError, match="does not support item assignment"):
        palette.colours["red"] = "#000000"


def test_colours_of_the_games_are_far_apart(palette):
    assert smallest_distance(palette.colours.values()) > 25


# CIELCh hue ranges around the unique hues; white, grey and black have no chroma to speak of.
@pytest.mark.parametrize(
    ("colour", "hue"),
    [("red", (20, 40)), ("yellow", (80, 100)), ("green", (125, 165)), ("blue", (260, 300))],
)
def test_chromatic_colours_keep_their_names(colour, hue, palette):
    _, chroma, angle = cspace_convert(rgb1(palette.colours[colour]), "sRGB1", "CIELCh")
    assert chroma > 50
    assert hue[0] < angle < hue[1]


def test_achromatic_colours_keep_their_names(palette):
    for colour, low, high in (("white", 99, 101), ("grey", 45, 65), ("black", 0, 10)):
        lightness, chroma, _ = cspace_convert(rgb1(palette.colours[colour]), "sRGB1", "CIELCh")
        assert low < lightness < high
        assert chroma < 1


@pytest.mark.parametrize("ground", ["line", "line_on_dark", "card_ground", "table_ground"])
def test_lines_and_grounds_are_no_colour_of_a_game(ground, palette):
    for tone in palette.colours.values():
        assert distance(getattr(palette, ground), tone) > 14


def test_card_stands_out_from_the_table_and_text_from_both(palette):
    assert distance(palette.card_ground, palette.table_ground) > 15
    assert distance(palette.text, palette.table_ground) > 40
    assert distance(palette.text, palette.card_ground) > 40


@pytest.mark.parametrize("deficiency", DICHROMACIES)
def test_colour_blind_palette_holds_for_dichromats(deficiency):
    palette = load_palette("colour-blind")
    assert smallest_distance([palette.colours[c] for c in CLASSIC], deficiency) > 15
    assert smallest_distance(palette.colours.values(), deficiency) > 15
    for ground in ("line", "line_on_dark", "card_ground", "table_ground"):
        for tone in palette.colours.values():
            assert distance(getattr(palette, ground), tone, deficiency) > 10


def test_standard_palette_does_not_hold_for_dichromats():
    # The reason for the second palette, and the proof that the measure can fail.
    palette = load_palette("standard")
    assert distance(palette.colours["red"], palette.colours["green"], "deuteranomaly") < 10


# --- cards ----------------------------------------------------------------------------------


def test_card_shows_its_pictures_from_left_to_right(palette):
    card = Card((Picture("ghost", "red"), Picture("mouse", "blue"), Picture("book", "green")))
    width_px = 900
    pixels = render_rgba(card_svg(card, palette), width_px=width_px)
    for i, colour in enumerate(("red", "blue", "green")):
        body = np.round(rgb1(palette.colours[colour]) * 255).astype(np.uint8)
        columns = np.flatnonzero((pixels[..., :3] == body).all(axis=-1).any(axis=0))
        assert i * width_px / 3 < columns[0]
        assert columns[-1] < (i + 1) * width_px / 3


def test_card_is_its_ground_behind_a_picture_and_nothing_beyond_its_corners(palette):
    card = Card((Picture("bottle", "white"),))
    pixels = render_rgba(card_svg(card, palette), width_px=310)
    ground = np.round(rgb1(palette.card_ground) * 255).astype(np.uint8)
    assert (pixels[155, 20, :3] == ground).all()
    assert pixels[0, 0, 3] == 0
    edge = np.round(rgb1(palette.line) * 255).astype(np.uint8)
    assert (pixels[155, 2, :3] == edge).all()


@pytest.mark.parametrize("width_deg", [9.8, 11.3, 20])
def test_picture_has_the_size_asked_for_on_any_card(width_deg, palette):
    px_per_deg = 50
    body = np.round(rgb1(palette.colours["white"]) * 255).astype(np.uint8)

    def height_px(pixels):
        return np.ptp(np.flatnonzero((pixels[..., :3] == body).all(axis=-1).any(axis=1)))

    card = Card((Picture("mouse", "grey"), Picture("ghost", "white")))
    svg = card_svg(card, palette, width_deg=width_deg, height_deg=9, picture_deg=4)
    pixels = render_rgba(svg, width_px=round(width_deg * px_per_deg))
    alone = pixels_of("ghost", "white", palette, 4 * px_per_deg)
    assert pixels.shape[0] == 9 * px_per_deg
    assert height_px(pixels) == pytest.approx(height_px(alone), abs=1)


def test_card_is_by_default_as_large_as_its_pictures_need():
    pair = Card((Picture("mouse", "grey"), Picture("ghost", "white")))
    assert card_size_deg(pair) == pytest.approx((2 * 5 + 3 * 0.6, 5 + 2 * 0.6))
    assert card_size_deg(pair, width_deg=15, picture_deg=4) == pytest.approx((15, 4 + 2 * 0.6))


def test_card_too_small_for_its_pictures_is_refused(palette):
    card = Card((Picture("mouse", "grey"), Picture("ghost", "white")))
    with pytest.raises(ConfigError, match=r"2 pictures of 5 degrees need at least 10.6 x 5"):
        card_svg(card, palette, width_deg=10)
    with pytest.raises(ConfigError, match="nothing to draw"):
        card_svg(Card(()), palette)


def test_card_with_an_item_that_has_no_drawing_is_refused(palette):
    with pytest.raises(ConfigError, match="'unicorn' is not a known item with a drawing"):
        card_svg(Card((Picture("unicorn", "red"),)), palette)


def test_time_and_mirrored_item_are_never_left_out_silently(palette):
    for picture in (
        Picture("book", "red", time="11:55"),
        Picture("book", "red", mirrored=Picture("ghost", "blue")),
    ):
        with pytest.raises(ConfigError, match="no drawing shows a time or a mirrored item"):
            card_svg(Card((picture,)), palette)


def test_row_of_items_has_no_ground(palette):
    pixels = render_rgba(
        items_row_svg([Picture("mouse", "grey"), Picture("chair", "red")], palette, gap_deg=1),
        width_px=550,
    )
    assert pixels.shape == (250, 550, 4)
    assert (pixels[:, 251:299, 3] == 0).all()
    with pytest.raises(ConfigError, match="at least one item"):
        items_row_svg([], palette)


def test_text_that_is_no_svg_with_a_view_box_is_refused():
    for text in ("ghost", "<svg xmlns='http://www.w3.org/2000/svg' width='5' height='5'/>"):
        with pytest.raises(ValueError, match="an SVG with a viewBox is needed"):
            render_png(text, width_px=50)


def test_rendering_gives_the_width_asked_for_and_the_same_bytes_again():
    svg = item_svg("ghost", "blue", load_palette("standard"))
    with Image.open(io.BytesIO(render_png(svg, width_px=123))) as image:
        assert image.size == (123, 123)
    assert render_png(svg, width_px=123) == render_png(svg, width_px=123)


# --- contact sheets -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sheet():
    cards = [
        Card((Picture(a, x), Picture(b, y)))
        for a, b in combinations(ITEMS, 2)
        for x, y in combinations(CLASSIC, 2)
    ][:60]
    captions = [f"{card}\nexclusion · grab\nStuhl (grün) → 5" for card in cards]
    return cards, captions


def test_sheet_shows_every_card_and_caption_once(sheet):
    pages = contact_sheet(*sheet, load_palette("standard"), title="Classic & <60>")
    assert len(pages) == 3
    text = " ".join("".join(ET.fromstring(page).itertext()) for page in pages)
    for card in sheet[0]:
        assert text.count(str(card)) == 1
    assert text.count("exclusion · grab") == text.count("Stuhl (grün) → 5") == 60
    for number in (1, 2, 3):
        assert f"{number} / 3" in text
    assert text.count("Classic & <60>") == 3


@pytest.mark.parametrize(
    ("caption", "title"),
    [("many words " * 12, "Cards"), ("one" * 20, "Cards"), ("", "A long title " * 12)],
)
def test_sheet_keeps_everything_on_the_page_and_in_its_column(caption, title, sheet):
    cards, captions = sheet
    captions = [caption, *captions[1:5]]
    (page,) = contact_sheet(cards[:5], captions, load_palette("standard"), title=title, columns=5)
    pixels = render_rgba(page, width_px=840)  # 4 pixels to the millimetre
    ink = (pixels[..., :3] < 255).any(axis=-1)
    # The margins, and the gutters between five columns of 33.2 mm below the title.
    assert not ink[:, : 4 * 12 - 2].any()
    assert not ink[:, 4 * 198 + 2 :].any()
    assert not ink[: 4 * 12].any()
    assert not ink[4 * 286 :].any()
    for number in range(1, 5):
        gutter = round(4 * (12 + number * 38.2 - 4.5))
        assert not ink[4 * 22 : 4 * 270, gutter : gutter + 12].any()


def test_caption_is_drawn_without_any_font_of_the_machine():
    card = Card((Picture("ghost", "white"),))
    blank, written = (
        render_rgba(contact_sheet([card], [text], load_palette("standard"))[0], width_px=840)
        for text in ("", "Flasche, grün")
    )
    assert (blank != written).any(axis=-1).sum() > 200


def test_pdf_has_all_pages_as_vectors(sheet, tmp_path):
    path = tmp_path / "cards.pdf"
    write_contact_sheet(path, *sheet, load_palette("standard"))
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type /Page\b", content)) == 3
    assert b"/Subtype /Image" not in content
    assert b"/FontFile2" in content
    assert len(re.findall(rb"/MediaBox \[0 0 595.28 841.89\]", content)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("n_cards", "n_pages"), [(3, 1), (60, 3)])
def test_png_has_the_pages_below_each_other(sheet, tmp_path, n_cards, n_pages):
    path = tmp_path / "cards.png"
    cards, captions = sheet
    write_contact_sheet(path, cards[:n_cards], captions[:n_cards], load_palette("colour-blind"))
    with Image.open(path) as image:
        assert image.size[0] == 1654
        assert image.size[1] == pytest.approx(2339 * n_pages, abs=n_pages)


def test_sheet_refuses_what_it_cannot_set(sheet, tmp_path):
    cards, captions = sheet
    palette = load_palette("standard")
    with pytest.raises(ConfigError, match=r"60 cards, 59 captions"):
        contact_sheet(cards, captions[1:], palette)
    with pytest.raises(ConfigError, match=r"0 cards"):
        contact_sheet([], [], palette)
    with pytest.raises(ConfigError, match="font has no '鬼'"):
        contact_sheet(cards[:1], ["鬼"], palette)
    with pytest.raises(ConfigError, match="too long for a page"):
        contact_sheet(cards[:1], ["word\n" * 80], palette)
    with pytest.raises(ConfigError, match=r"cards.svg: a contact sheet is written as"):
        write_contact_sheet(tmp_path / "cards.svg", cards, captions, palette)
    assert not list(tmp_path.iterdir())
