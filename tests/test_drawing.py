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

from ghostblitz_task.cards import Card, Picture, parse_card
from ghostblitz_task.contact_sheets import contact_sheet, write_contact_sheet
from ghostblitz_task.drawing import (
    available_items,
    available_palettes,
    card_size_deg,
    card_svg,
    covered_pictures,
    item_svg,
    items_row_svg,
    load_palette,
    picture_svg,
    render_png,
    render_rgba,
)
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.props import (
    CORNERS,
    DECK_HOLE_RADIUS,
    DECK_SIDE,
    TONGS_TIP,
    available_props,
    deck_svg,
    prop_svg,
)

with warnings.catch_warnings():
    # The docstrings of colorspacious 1.1.2 hold a backslash that Python warns about whenever it
    # compiles them for the first time.
    warnings.simplefilter("ignore")
    from colorspacious import cspace_convert

ART = Path(__file__).parents[1] / "ghostblitz_task" / "art"
GAMES = {
    "classic": ("ghost", "chair", "bottle", "book", "mouse"),
    "spooky-doo": ("hat", "ghost", "bottle", "barrel", "mouse"),
    "five-to-twelve": (
        "bat", "hat", "key", "mirror", "flashlight", "clock", "vial", "owl", "ghost",
    ),
}  # fmt: skip
ITEMS = tuple(sorted({item for items in GAMES.values() for item in items}))
SAME_GAME = sorted(
    {pair for items in GAMES.values() for pair in combinations(sorted(items), 2)},
)
FIVE_TO_TWELVE = {
    "bat": "black", "hat": "black", "key": "green", "mirror": "green", "flashlight": "blue",
    "clock": "blue", "vial": "red", "owl": "red", "ghost": "white",
}  # fmt: skip
# What the body takes of all that is drawn where a pale glass, face, or pair of eyes takes its part.
BODY_SHARES = {"mirror": 0.27, "clock": 0.37, "flashlight": 0.44, "owl": 0.45}
# Centre and radius of the clock's face, and centre and half-axes of the mirror's glass, in units.
FACE = (100, 108, 52)
GLASS = (100, 100, 60, 66)
CAPTAIN_COLOURS = ("red", "green", "blue", "yellow")
TAGS = {"svg", "g", "path", "ellipse", "circle", "rect", "line"}
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


def bytes_of(tone):
    return tuple(int(tone[i : i + 2], 16) for i in (1, 3, 5))


def is_tone(pixels, tone):
    """Where exactly this tone is drawn, as a mask."""
    return (pixels[..., :3] == bytes_of(tone)).all(axis=-1) & (pixels[..., 3] == 255)


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


def test_every_item_of_every_game_has_a_drawing_and_both_palettes_are_found():
    assert available_items() == ITEMS
    assert available_palettes() == ("standard", "colour-blind")


def test_five_degrees_are_190_pixels_on_the_screen_of_these_tests():
    assert ITEM_PX == 190


@pytest.mark.parametrize("item", available_items())
def test_art_uses_only_the_placeholders_and_plain_shapes(item):
    root = ET.fromstring((ART / f"{item}.svg").read_text(encoding="utf-8"))
    assert root.attrib == {"viewBox": "0 0 200 200"}
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in TAGS
        for name in ("fill", "stroke"):
            used = element.get(name, "none")
            assert used in {"none", "#BODY", "#SHADE", "#LINE", "#INK", "#PALE"}
        assert not {"style", "class", "opacity", "id"} & set(element.attrib)


@pytest.mark.slow
@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", ITEMS)
def test_item_is_mostly_its_colour(item, colour, palette):
    pixels = pixels_of(item, colour, palette)
    drawn = pixels[..., 3] == 255
    body = np.round(rgb1(palette.colours[colour]) * 255).astype(np.uint8)
    share = (pixels[drawn][:, :3] == body).all(axis=1).mean()
    assert share > BODY_SHARES.get(item, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", ITEMS)
def test_no_other_tone_but_pale_glass_covers_as_much_as_half_the_body(item, colour, palette):
    pixels = pixels_of(item, colour, palette)
    tones, counts = np.unique(pixels[pixels[..., 3] == 255][:, :3], axis=0, return_counts=True)
    share = {tuple(int(c) for c in t): int(n) for t, n in zip(tones, counts, strict=True)}
    body, pale, line = (
        share.pop(bytes_of(tone), 0)
        for tone in (palette.colours[colour], palette.pale, palette.line)
    )
    assert max(share.values()) < body / 2
    assert line < 1.1 * body
    if item not in ("mirror", "clock"):
        assert pale < body / 5


@pytest.mark.slow
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


def overlap(item, other, palette, *, width_px=ITEM_PX):
    """Shared part (0 to 1) of what two items cover together, glass and faces left out."""
    masks = []
    for name in (item, other):
        pixels = pixels_of(name, "red", palette, width_px)
        masks.append((pixels[..., 3] > 127) & ~is_tone(pixels, palette.pale))
    return (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum()


@pytest.mark.slow
@pytest.mark.parametrize("width_px", [60, ITEM_PX])
@pytest.mark.parametrize(("item", "other"), SAME_GAME)
def test_shapes_of_a_game_differ_by_a_fifth(item, other, width_px, palette):
    assert overlap(item, other, palette, width_px=width_px) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("item", "other"), tuple(combinations(ITEMS, 2)))
def test_shapes_of_all_games_differ(item, other, palette):
    # A barrel and a book stand in no game of this package together.
    assert overlap(item, other, palette) < 0.87


@pytest.mark.slow
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


@pytest.mark.parametrize("ground", ["line", "line_on_dark", "card_ground", "table_ground", "pale"])
def test_lines_and_grounds_are_no_colour_of_a_game(ground, palette):
    for tone in palette.colours.values():
        assert distance(getattr(palette, ground), tone) > 14


@pytest.mark.parametrize("deficiency", [None, *DICHROMACIES])
def test_glass_and_face_stand_out_from_card_and_lines(deficiency, palette):
    assert distance(palette.pale, palette.card_ground, deficiency) > 11
    assert distance(palette.pale, palette.line, deficiency) > 40


def test_card_stands_out_from_the_table_and_text_from_both(palette):
    assert distance(palette.card_ground, palette.table_ground) > 15
    assert distance(palette.text, palette.table_ground) > 40
    assert distance(palette.text, palette.card_ground) > 40


@pytest.mark.parametrize("deficiency", DICHROMACIES)
def test_colour_blind_palette_holds_for_dichromats(deficiency):
    palette = load_palette("colour-blind")
    assert smallest_distance([palette.colours[c] for c in CLASSIC], deficiency) > 15
    assert smallest_distance(palette.colours.values(), deficiency) > 15
    for ground in ("line", "line_on_dark", "card_ground", "table_ground", "pale"):
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
    with pytest.raises(ConfigError, match=r"book:red@11:55: only a clock shows a time"):
        card_svg(Card((Picture("book", "red", time="11:55"),)), palette)
    mirrored = Picture("book", "red", mirrored=Picture("ghost", "blue"))
    with pytest.raises(ConfigError, match=r"only a mirror shows another item"):
        items_row_svg([mirrored], palette)
    with pytest.raises(ConfigError, match=r"'unicorn' is not a known item with a drawing"):
        picture_svg(Picture("mirror", "red", mirrored=Picture("unicorn", "blue")), palette)


# --- clocks ---------------------------------------------------------------------------------

TIMES = (
    "11:55", "12:55", "05:00", "12:25", "12:00", "06:30", "01:10", "10:50", "03:15", "09:45",
    "08:20", "02:40",
)  # fmt: skip


def clock_pixels(time, palette, width_px=ITEM_PX):
    return render_rgba(picture_svg(Picture("clock", "green", time), palette), width_px=width_px)


def hand_turns(time, palette):
    """Turns (0 to 1, clockwise from twelve) of the two hands, read from the pixels.

    The minute hand alone reaches beyond the ring of the hour hand's length, and stops short of
    the ticks; on a ring further in, what is not the minute hand is the hour hand.
    """
    width_px = 1000
    drawn, bare = (clock_pixels(t, palette, width_px).astype(int) for t in (time, None))
    changed = np.abs(drawn - bare).max(axis=-1) > 60
    x, y, radius = (v * width_px / 200 for v in FACE)
    rows, columns = np.nonzero(changed)
    dx, dy = columns + 0.5 - x, y - rows - 0.5
    distances, turns = np.hypot(dx, dy) / radius, np.arctan2(dx, dy) / math.tau % 1

    def mean_turn(chosen):
        angles = turns[chosen] * math.tau
        return math.atan2(np.sin(angles).mean(), np.cos(angles).mean()) / math.tau % 1

    minute = mean_turn((distances > 0.64) & (distances < 0.72))
    near_minute = np.abs((turns - minute + 0.5) % 1 - 0.5) < 0.03
    inner = (distances > 0.3) & (distances < 0.45)
    hour = mean_turn(inner & ~near_minute) if (inner & ~near_minute).any() else minute
    return hour, minute


@pytest.mark.slow
@pytest.mark.parametrize(
    "time", [t for t in TIMES if t not in {"12:00", "01:10", "10:50", "03:15"}]
)
def test_hands_stand_where_the_time_puts_them(time, palette):
    hour, minute = hand_turns(time, palette)
    hours, minutes = (int(part) for part in time.split(":"))
    for found, wanted in ((minute, minutes / 60), (hour, (hours % 12 + minutes / 60) / 12)):
        apart = abs((found - wanted + 0.5) % 1 - 0.5)
        # A minute is a sixtieth of a turn, and parts of the hour hand may lie under the other.
        assert apart < (1 / 120 if found == minute else 1 / 48)


def test_hour_hand_is_clearly_shorter_and_thicker(palette):
    svg = picture_svg(Picture("clock", "green", "03:00"), palette).removesuffix("</g></svg>")
    hands = re.findall(r'stroke-width="([\d.]+)"[^>]*d="M100 108 L([\d.]+) ([\d.]+)"', svg)
    (hour_width, *hour_tip), (minute_width, *minute_tip) = [[float(v) for v in h] for h in hands]
    assert hour_width > 1.5 * minute_width
    assert math.dist(hour_tip, (100, 108)) < 0.65 * math.dist(minute_tip, (100, 108))


@pytest.mark.parametrize(("time", "other"), tuple(combinations(TIMES, 2)))
def test_any_two_times_are_told_apart_on_a_small_clock(time, other, palette):
    first, second = (clock_pixels(t, palette, 60).astype(int) for t in (time, other))
    assert (np.abs(first - second).max(axis=-1) > 100).sum() >= 10


def test_clock_without_time_has_no_hands(palette):
    bare = pixels_of("clock", "green", palette, 200)
    x, y, radius = FACE
    rows, columns = np.mgrid[:200, :200] + 0.5
    ring = np.abs(np.hypot(columns - x, rows - y) - 0.45 * radius) < 8
    assert is_tone(bare, palette.pale)[ring].all()
    assert not (bare == clock_pixels("11:55", palette, 200)).all()


def test_hands_stay_on_the_face(palette):
    x, y, radius = FACE
    rows, columns = np.mgrid[:200, :200] + 0.5
    outside = np.hypot(columns - x, rows - y) > radius
    bare = pixels_of("clock", "green", palette, 200)
    for time in TIMES:
        assert (clock_pixels(time, palette, 200)[outside] == bare[outside]).all()


# --- mirrors --------------------------------------------------------------------------------

MIRRORED = tuple(item for item in ITEMS if item != "mirror")


def glass_mask(width_px):
    x, y, half_width, half_height = (v * width_px / 200 for v in GLASS)
    rows, columns = np.mgrid[:width_px, :width_px] + 0.5
    return ((columns - x) / half_width) ** 2 + ((rows - y) / half_height) ** 2 < 0.98


def mirror_pixels(colour, mirrored, palette, width_px=ITEM_PX):
    svg = picture_svg(Picture("mirror", colour, mirrored=mirrored), palette)
    return render_rgba(svg, width_px=width_px)


def test_glass_is_three_fifths_of_the_box_wide_and_nearly_all_pale(palette):
    pixels = pixels_of("mirror", "red", palette, 1000)
    pale = is_tone(pixels, palette.pale)
    assert np.ptp(np.flatnonzero(pale.any(axis=0))) >= 0.595 * 1000
    assert pale[glass_mask(1000)].mean() > 0.88


def test_empty_glass_gleams_and_one_with_an_item_does_not(palette):
    empty = mirror_pixels("red", None, palette, 400)
    glass = glass_mask(400)
    assert (~is_tone(empty, palette.pale))[glass].sum() > 500
    shown = mirror_pixels("red", Picture("key", "blue"), palette, 400)
    gleam = (empty != empty[200, 60]).any(axis=-1) & ~is_tone(empty, palette.pale) & glass
    assert (is_tone(shown, palette.pale) & gleam).any()


@pytest.mark.slow
@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("item", MIRRORED)
def test_mirrored_item_stands_in_the_glass_in_its_displayed_colour(item, colour, palette):
    frame = "red" if colour != "red" else "blue"
    pixels = mirror_pixels(frame, Picture(item, colour), palette)
    glass = glass_mask(ITEM_PX)
    shown = is_tone(pixels, palette.colours[colour])
    assert not shown[~glass].any()
    assert shown[glass].mean() > (0.12 if item in ("clock", "flashlight", "key") else 0.17)


@pytest.mark.slow
@pytest.mark.parametrize("item", MIRRORED)
def test_mirrored_item_is_whole_and_leaves_the_frame_as_it_is(item, palette):
    width_px = 400
    glass = glass_mask(width_px)
    with_item = mirror_pixels("red", Picture(item, "blue"), palette, width_px)
    empty = mirror_pixels("red", None, palette, width_px)
    rows, columns = np.mgrid[:width_px, :width_px] + 0.5
    # The item's outline may touch the glass's own line (6 units), but not the frame beyond it.
    x, y, half_width, half_height = (v * width_px / 200 for v in GLASS)
    line = 6 * width_px / 200
    beyond = ((columns - x) / (half_width + line)) ** 2 + (
        (rows - y) / (half_height + line)
    ) ** 2 > 1
    assert (with_item[beyond] == empty[beyond]).all()
    changed = (with_item != empty).any(axis=-1)
    assert not (changed & ~glass).sum() > 0.01 * glass.sum()


@pytest.mark.slow
@pytest.mark.parametrize(("item", "other"), tuple(combinations(MIRRORED, 2)))
def test_mirrored_items_differ_on_a_card_of_usual_size(item, other, palette):
    glass = glass_mask(ITEM_PX)
    masks = [
        ~is_tone(mirror_pixels("red", Picture(name, "blue"), palette), palette.pale) & glass
        for name in (item, other)
    ]
    assert (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum() < 0.87


def test_mirrored_clock_tells_its_time_unreversed(palette):
    alone, mirrored = (
        render_rgba(picture_svg(picture, palette), width_px=width_px)
        for picture, width_px in (
            (Picture("clock", "green", "02:40"), 540),
            (Picture("mirror", "red", mirrored=Picture("clock", "green", "02:40")), 1000),
        )
    )
    # The same picture, 108 of 200 units wide, in the middle of the mirror.
    inner = mirrored[230:770, 230:770]
    x, y, radius = (v * 540 / 200 for v in FACE)
    rows, columns = np.mgrid[:540, :540] + 0.5
    face = np.hypot(columns - x, rows - y) < radius - 1
    apart = np.abs(alone[face].astype(int) - inner[face].astype(int)).max(axis=-1)
    assert (apart < 40).mean() > 0.99


def test_card_of_five_to_twelve_shows_its_three_pictures_and_what_the_mirror_holds(palette):
    card = parse_card(
        "mirror:blue(hat:red) clock:green@11:55 owl:white", FIVE_TO_TWELVE, timed_items=("clock",)
    )
    width_px = 900
    pixels = render_rgba(card_svg(card, palette), width_px=width_px)
    for colour, place in (("blue", 0), ("red", 0), ("green", 1), ("white", 2)):
        columns = np.flatnonzero(is_tone(pixels, palette.colours[colour]).any(axis=0))
        assert place * width_px / 3 < columns[0]
        assert columns[-1] < (place + 1) * width_px / 3


# --- the hat on the table -------------------------------------------------------------------


def test_hat_stands_in_the_place_of_what_it_hides():
    table = [Picture(item, "red") for item in ("hat", "ghost", "bottle", "barrel", "mouse")]
    seen_now = covered_pictures(table, hidden="bottle")
    assert seen_now == (None, table[1], table[0], table[3], table[4])


def test_hidden_item_leaves_no_trace_and_the_hats_own_place_is_empty(palette):
    table = [Picture("hat", "red"), Picture("ghost", "white"), Picture("bottle", "green")]
    row = items_row_svg(covered_pictures(table, hidden="bottle"), palette, gap_deg=1)
    pixels = render_rgba(row, width_px=850)
    assert not is_tone(pixels, palette.colours["green"]).any()
    assert (pixels[:, :300, 3] == 0).all()
    assert is_tone(pixels[:, 600:], palette.colours["red"]).any()


@pytest.mark.parametrize("hidden", ["hat", "chair"])
def test_hat_hides_only_what_lies_on_the_table(hidden):
    table = [Picture("hat", "red"), Picture("ghost", "white")]
    with pytest.raises(ConfigError, match=rf"'hat' cannot cover '{hidden}'; .* hat, ghost"):
        covered_pictures(table, hidden=hidden)


# --- the captain's deck ---------------------------------------------------------------------


def prop_pixels(name, palette, colour=None, width_px=200):
    return render_rgba(prop_svg(name, colour, palette), width_px=width_px)


@pytest.mark.parametrize("name", available_props())
def test_prop_art_uses_only_the_placeholders_and_plain_shapes(name):
    root = ET.fromstring((ART / "captain" / f"{name}.svg").read_text(encoding="utf-8"))
    units = 1000 if name == "deck" else 200
    assert root.attrib == {"viewBox": f"0 0 {units} {units}"}
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in TAGS
        for key in ("fill", "stroke"):
            assert element.get(key, "none") in {
                "none", "#BODY", "#SHADE", "#LINE", "#PALE", "#PLANK", "#WOOD", "#CHALK",
            }  # fmt: skip
        assert not {"style", "class", "opacity", "id"} & set(element.attrib)


def test_every_thing_of_the_captains_deck_is_drawn():
    assert available_props() == (
        "deck", "die", "dropping", "dropping-seen", "eye", "railing", "tongs",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["deck", "dropping", "eye", "railing", "tongs"])
def test_nothing_but_die_and_underside_shows_a_colour_of_the_die(name, palette):
    pixels = prop_pixels(name, palette)
    ucs = seen(pixels[..., :3] / 255)
    for colour in CAPTAIN_COLOURS:
        near = np.linalg.norm(ucs - seen(rgb1(palette.colours[colour])), axis=-1) < 20
        assert not (near & (pixels[..., 3] == 255)).any(), colour
    with pytest.raises(ConfigError, match=f"{name} shows no colour"):
        prop_svg(name, "red", palette)


@pytest.mark.parametrize("colour", CAPTAIN_COLOURS)
@pytest.mark.parametrize("name", ["die", "dropping-seen"])
def test_die_and_underside_show_their_colour_and_no_other(name, colour, palette):
    pixels = prop_pixels(name, palette, colour)
    drawn = pixels[..., 3] == 255
    assert is_tone(pixels, palette.colours[colour])[drawn].mean() > 0.25
    for other in CAPTAIN_COLOURS:
        if other != colour:
            assert not solid(is_tone(pixels, palette.colours[other]))
    with pytest.raises(ConfigError, match=f"{name} needs a colour"):
        prop_svg(name, None, palette)


def test_dropping_has_the_same_outline_from_below(palette):
    above, below = prop_pixels("dropping", palette), prop_pixels("dropping-seen", palette, "red")
    assert (above[..., 3] == below[..., 3]).all()


def test_deck_is_a_square_with_a_quarter_circle_open_at_each_corner(palette):
    pixels = render_rgba(deck_svg(palette), width_px=1000)
    edge, side = round(500 * (1 - DECK_SIDE)), 1000 * DECK_SIDE
    rows, columns = np.mgrid[:1000, :1000] + 0.5
    from_left = np.minimum(columns - edge, 1000 - edge - columns)
    from_top = np.minimum(rows - edge, 1000 - edge - rows)
    inside = (from_left > 8) & (from_top > 8)
    hole = np.hypot(from_left, from_top) < DECK_HOLE_RADIUS * side
    dark = is_tone(pixels, palette.line)
    near_edge = np.abs(np.hypot(from_left, from_top) - DECK_HOLE_RADIUS * side) < 2
    assert dark[hole & inside & ~near_edge].all()
    assert not dark[inside & ~hole & ~near_edge].any()


def test_railing_closes_only_its_corner(palette):
    bare = render_rgba(deck_svg(palette), width_px=500)
    assert (bare == prop_pixels("deck", palette, width_px=500)).all()
    for corner in CORNERS:
        changed = (render_rgba(deck_svg(palette, railings=(corner,)), width_px=500) != bare).any(-1)
        rows, columns = np.nonzero(changed)
        vertical, horizontal = corner.split("-")
        assert rows.max() < 120 if vertical == "upper" else rows.min() > 380
        assert columns.max() < 120 if horizontal == "left" else columns.min() > 380
        # Along the whole edge of the hole: seen from the corner, in every direction.
        x = 25 if horizontal == "left" else 475
        y = 25 if vertical == "upper" else 475
        radius = DECK_HOLE_RADIUS * DECK_SIDE * 500
        for angle in np.linspace(0, math.pi / 2, 19):
            dx, dy = radius * math.cos(angle), radius * math.sin(angle)
            row, column = (
                round(y + dy * (1 if y == 25 else -1)),
                round(x + dx * (1 if x == 25 else -1)),
            )
            assert changed[row - 2 : row + 3, column - 2 : column + 3].any()
    with pytest.raises(ConfigError, match=r"did you mean upper-left\?"):
        deck_svg(palette, railings=("uper-left",))


def test_tongs_grip_between_their_tips(palette):
    pixels = prop_pixels("tongs", palette)
    drawn = pixels[..., 3] > 0
    x, y = (round(200 * share) for share in TONGS_TIP)
    assert not drawn[y, x]
    # The tips are on both sides of that point, across the direction in which the tongs point.
    for sign in (1, -1):
        across = [(y + sign * step, x - sign * step) for step in range(1, 12)]
        assert any(drawn[row, column] for row, column in across)
    assert not drawn[: y - 29].any()
    assert not drawn[:, : x - 29].any()


def test_unknown_prop_says_which_are_drawn(palette):
    with pytest.raises(ConfigError, match=r"'dye' is not .* did you mean eye\?; .*captain/<prop>"):
        prop_svg("dye", "red", palette)


# --- rows and pixels ------------------------------------------------------------------------


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
        for a, b in combinations(GAMES["classic"], 2)
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


def test_sheet_of_three_pictures_has_three_columns_and_captions_of_full_size():
    texts = [
        "mirror:green(flashlight:black) clock:white@11:55 owl:blue",
        "ghost:red clock:green@12:25 bat:blue",
        "mirror:black vial:white bat:green",
        "mirror:red(key:black) hat:blue flashlight:white",
    ]
    cards = [parse_card(text, FIVE_TO_TWELVE, timed_items=("clock",)) for text in texts]
    captions = [f"{card}\nmirror-owl · shout black" for card in cards]
    (page,) = contact_sheet(cards, captions, load_palette("standard"))
    written = [
        (float(t.get("x")), float(t.get("y")), float(t.get("font-size")), t.text)
        for t in ET.fromstring(page).iter("{http://www.w3.org/2000/svg}text")
    ]
    lines = [line for line in written if line[3] not in ("Contact sheet", "1 / 1")]
    assert sorted({x for x, *_ in lines}) == pytest.approx([41.333, 105, 168.667], abs=0.01)
    assert {size for *_, size, _ in lines} == {2.9}
    assert len({(x, y) for x, y, *_ in lines}) == len(lines)
    # No caption reaches the card below it.
    pixels = render_rgba(page, width_px=840)
    tops = [y for x, y, _, text in lines if text.startswith("mirror-owl")]
    ground = is_tone(pixels, load_palette("standard").card_ground)
    for y in tops:
        assert not ground[round(4 * (y - 2.9)) : round(4 * (y + 1))].any()


@pytest.mark.slow
def test_cards_with_fewer_pictures_are_as_large_as_the_others_on_a_sheet():
    texts = ["mirror:red(hat:white) clock:blue@04:20", "bat:white hat:red key:blue"]
    cards = [parse_card(text, FIVE_TO_TWELVE) for text in texts]
    palette = load_palette("standard")
    (page,) = contact_sheet(cards, texts, palette)
    pixels = render_rgba(page, width_px=2100)
    # Row by row of the page, left to right: both cards begin and end at the same height.
    drawn = (pixels[200:, :, :3] < 255).any(axis=-1)
    spans = [np.flatnonzero(drawn[:400, left : left + 400].any(axis=1)) for left in (150, 790)]
    assert spans[0][0] == spans[1][0]
    scales = re.findall(r'<g transform="translate\(\S+ \S+\) scale\(([\d.]+)\)"><rect', page)
    assert len(scales) == 2
    assert len(set(scales)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cards.png", "cards.pdf"])
def test_sheet_of_clocks_and_mirrors_is_written(name, tmp_path):
    card = parse_card(
        "mirror:green(owl:black) clock:white@11:55 key:blue",
        FIVE_TO_TWELVE,
        timed_items=("clock",),
    )
    path = tmp_path / name
    write_contact_sheet(path, [card] * 4, [str(card)] * 4, load_palette("standard"))
    assert path.stat().st_size > 8_000


def test_caption_is_drawn_without_any_font_of_the_machine():
    card = Card((Picture("ghost", "white"),))
    blank, written = (
        render_rgba(contact_sheet([card], [text], load_palette("standard"))[0], width_px=840)
        for text in ("", "Flasche, grün")
    )
    assert (blank != written).any(axis=-1).sum() > 200


@pytest.mark.slow
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
