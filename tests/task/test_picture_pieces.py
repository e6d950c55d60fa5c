"""Cutting a picture into the pieces that show something."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ghostblitz_task.apparatus.picture_pieces import Piece, pieces_of

GROUND = (190, 155, 120)


def picture(*boxes: Piece, size: tuple[int, int] = (120, 200)) -> np.ndarray:
    """A picture of ground with boxes of other tones, (height, width, 3)."""
    pixels = np.full((*size, 3), GROUND, dtype=np.uint8)
    for number, box in enumerate(boxes):
        pixels[box.top : box.bottom, box.left : box.right] = (number + 1, 2, 3)
    return pixels


def test_things_far_apart_are_pieces_of_their_own() -> None:
    boxes = (Piece(10, 10, 40, 30), Piece(100, 12, 130, 40), Piece(20, 80, 60, 110))
    assert set(pieces_of(picture(*boxes), ground=GROUND, gap_px=10)) == set(boxes)


def test_things_closer_than_the_gap_are_one_piece() -> None:
    pixels = picture(Piece(10, 10, 40, 30), Piece(48, 10, 70, 30))
    assert pieces_of(pixels, ground=GROUND, gap_px=10) == [Piece(10, 10, 70, 30)]
    assert len(pieces_of(pixels, ground=GROUND, gap_px=5)) == 2


def test_things_that_share_rows_with_others_only_by_turns_are_still_cut() -> None:
    """On an arc no line across the whole picture lies between neighbours."""
    arc = tuple(Piece(40 * i, 20 * i, 40 * i + 25, 20 * i + 30) for i in range(4))
    assert set(pieces_of(picture(*arc), ground=GROUND, gap_px=10)) == set(arc)


def test_ground_alone_needs_no_piece_and_a_full_picture_is_one() -> None:
    assert pieces_of(picture(), ground=GROUND, gap_px=10) == []
    whole = Piece(0, 0, 200, 120)
    assert pieces_of(picture(whole), ground=GROUND, gap_px=10) == [whole]


boxes = st.builds(
    lambda x, y, w, h: Piece(x, y, min(x + w, 200), min(y + h, 120)),
    *(st.integers(0, 199), st.integers(0, 119), st.integers(1, 60), st.integers(1, 60)),
)


@given(st.lists(boxes, max_size=8), st.integers(1, 40))
def test_pieces_put_together_are_the_picture_and_do_not_overlap(
    shown: list[Piece], gap_px: int
) -> None:
    pixels = picture(*shown)
    again, covered = picture(), np.zeros(pixels.shape[:2], dtype=int)
    for piece in pieces_of(pixels, ground=GROUND, gap_px=gap_px):
        rows, columns = slice(piece.top, piece.bottom), slice(piece.left, piece.right)
        again[rows, columns] = pixels[rows, columns]
        covered[rows, columns] += 1
    assert (again == pixels).all()
    assert covered.max() <= 1
