"""Cut a picture into the pieces that show something, so that no more than these is drawn; pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["Piece", "pieces_of"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Piece:
    """A rectangle of a picture, in pixels from its upper left; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int


def pieces_of(pixels: npt.NDArray[np.uint8], *, ground: npt.ArrayLike, gap_px: int) -> list[Piece]:
    """Return rectangles that do not overlap and together hold all that is not ground.

    Parameters
    ----------
    pixels : (height, width, 3) uint8
        The picture.
    ground : (3,) uint8
        The tone that needs no drawing.
    gap_px : int
        Only where ground is at least so wide, all across, is the picture cut: more pieces cost
        more than what is drawn less.

    Notes
    -----
    Cut along rows, then columns, and again, until nothing can be cut (recursive XY-cut; Nagy &
    Seth, 1984, for the layout of printed pages).
    """
    shows = (pixels != np.asarray(ground, dtype=np.uint8)).any(axis=-1)
    return _cut(shows, Piece(0, 0, shows.shape[1], shows.shape[0]), gap_px, by_rows=True, tried=0)


def _cut(shows: Bools, within: Piece, gap_px: int, *, by_rows: bool, tried: int) -> list[Piece]:
    part = shows[within.top : within.bottom, within.left : within.right]
    shown: Bools = np.any(part, axis=1 if by_rows else 0)
    runs = _runs(shown, gap_px)
    found = []
    for begin, end in runs:
        if by_rows:
            inner = Piece(within.left, within.top + begin, within.right, within.top + end)
        else:
            inner = Piece(within.left + begin, within.top, within.left + end, within.bottom)
        # Trimmed both ways without a cut, it is a piece.
        if inner == within and tried:
            found.append(inner)
        else:
            found += _cut(shows, inner, gap_px, by_rows=not by_rows, tried=int(inner == within))
    return found


def _runs(shows: Bools, gap_px: int) -> list[tuple[int, int]]:
    """Return where something shows, as (begin, end), across gaps that are narrower."""
    places = np.flatnonzero(shows)
    if not len(places):
        return []
    cuts = [i for i, (a, b) in enumerate(pairwise(places)) if b - a > gap_px]
    begins = [0, *(i + 1 for i in cuts)]
    ends = [*cuts, len(places) - 1]
    return [(int(places[b]), int(places[e]) + 1) for b, e in zip(begins, ends, strict=True)]
