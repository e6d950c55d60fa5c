"""From what a screen is made of to PsychoPy's stimuli, rendered once and only drawn later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image
from psychopy import visual
from psychopy.tools.monitorunittools import deg2pix

from ghostblitz_task.apparatus.picture_pieces import Piece, pieces_of
from ghostblitz_task.apparatus_settings import PatchCorner
from ghostblitz_task.drawing import FONT, FONT_FAMILY, Palette, render_rgba
from ghostblitz_task.screens import Bar, Drawing, Element, Line, Patch, Screen, Words

__all__ = ["StimulusStore"]

# Each picture costs as much as some hundred thousand pixels.
_LEAST_GAP_DEG = 0.6

_PATCH_TONES: Mapping[Patch, str] = {
    "off": "#000000",
    "card": "#FFFFFF",
    "waiting": "#606060",
    "waiting-next": "#A0A0A0",
}


class StimulusStore:
    """Stimuli of a window, by what they show.

    Parameters
    ----------
    window : psychopy.visual.Window
        Draws them.
    palette : Palette
        Gives words and lines their tones.
    patch_corner : str
        Where the patch stands.
    patch_deg : float
        Its side; 0 for no patch.
    """

    def __init__(
        self, window: Any, palette: Palette, *, patch_corner: PatchCorner, patch_deg: float
    ) -> None:
        self._window = window
        self._monitor = window.monitor
        self._palette = palette
        self._stimuli: dict[Element, list[Any]] = {}
        self._tables: dict[tuple[Element, ...], list[Any]] = {}
        self._moving: dict[Drawing, Any] = {}
        self._px_per_deg = float(deg2pix(1.0, self._monitor))
        self._patches = {
            state: self._patch(tone, patch_corner, patch_deg)
            for state, tone in _PATCH_TONES.items()
            if patch_deg > 0
        }

    def prepare(self, screens: Iterable[Screen]) -> None:
        """Render what these screens show and no earlier screen did."""
        for screen in screens:
            if screen.table and screen.table not in self._tables:
                self._tables[screen.table] = self._pictures_of(screen.table)
            for element in screen.elements:
                if element not in self._stimuli:
                    self._stimuli[element] = self._render(element)
            for sprite in screen.sprites:
                if sprite.drawing not in self._moving:
                    self._moving[sprite.drawing] = self._render_drawing(sprite.drawing, moves=True)

    def draw(self, screen: Screen) -> None:
        """Draw a screen that was prepared; one that was not is our bug (`KeyError`)."""
        if screen.table:
            for picture in self._tables[screen.table]:
                picture.draw()
        for element in screen.elements:
            for stimulus in self._stimuli[element]:
                stimulus.draw()
        for sprite in screen.sprites:
            moving = self._moving[sprite.drawing]
            moving.pos = (sprite.x_deg * self._px_per_deg, sprite.y_deg * self._px_per_deg)
            if moving.ori != sprite.turned_deg:
                moving.ori = sprite.turned_deg
            moving.draw()
        if self._patches:
            self._patches[screen.patch].draw()

    def _pictures_of(self, table: Sequence[Element]) -> list[Any]:
        """Draw what lies on the table once, and keep it as few and small pictures.

        A picture of the whole window would have to be drawn whole: without a graphics card most
        of a frame's time.
        """
        stimuli = [stimulus for element in table for stimulus in self._render(element)]
        whole = visual.BufferImageStim(self._window, stim=stimuli).image.convert("RGB")
        pixels = np.asarray(whole)
        pieces = pieces_of(pixels, ground=pixels[0, 0], gap_px=self._pixels(_LEAST_GAP_DEG))
        return [self._picture(whole, piece) for piece in pieces]

    def _picture(self, whole: Image.Image, piece: Piece) -> Any:
        width_px, height_px = whole.size
        return visual.ImageStim(
            self._window,
            image=whole.crop((piece.left, piece.top, piece.right, piece.bottom)),
            units="pix",
            size=(piece.right - piece.left, piece.bottom - piece.top),
            pos=(
                (piece.left + piece.right - width_px) / 2,
                (height_px - piece.top - piece.bottom) / 2,
            ),
        )

    def _render(self, element: Element) -> list[Any]:
        if isinstance(element, Drawing):
            return [self._render_drawing(element)]
        if isinstance(element, Words):
            return [
                visual.TextStim(
                    self._window,
                    text=element.text,
                    units="pix",  # on whole pixels, so that letters stay sharp
                    pos=(self._pixels(element.x_deg), self._pixels(element.y_deg)),
                    height=self._pixels(element.height_deg),
                    wrapWidth=self._pixels(element.wrap_deg),
                    font=FONT_FAMILY,
                    fontFiles=[str(FONT)],
                    bold=element.bold,
                    anchorVert="top" if element.hangs else "center",
                    color=self._palette.text,
                )
            ]
        if isinstance(element, Line):
            return [
                visual.Line(
                    self._window,
                    start=element.from_deg,
                    end=element.to_deg,
                    lineWidth=3,
                    lineColor=self._palette.text,
                )
            ]
        return self._render_bar(element)

    def _pixels(self, size_deg: float) -> int:
        return round(float(deg2pix(size_deg, self._monitor)))

    def _render_drawing(self, drawing: Drawing, *, moves: bool = False) -> Any:
        # Whole pixels, so that no texture is scaled and every colour stays as it was chosen; only
        # what moves lies between pixels, so that it does not move in steps.
        width_px = self._pixels(drawing.width_deg)
        pixels = render_rgba(drawing.svg, width_px=width_px)
        height_px = pixels.shape[0]
        x_px, y_px = (float(deg2pix(v, self._monitor)) for v in (drawing.x_deg, drawing.y_deg))
        return visual.ImageStim(
            self._window,
            image=Image.fromarray(pixels, mode="RGBA"),
            units="pix",
            pos=(_on_grid(x_px, width_px), _on_grid(y_px, height_px)),
            size=(width_px, height_px),
            interpolate=moves,
        )

    def _render_bar(self, bar: Bar) -> list[Any]:
        frame = visual.Rect(
            self._window,
            width=bar.width_deg,
            height=bar.height_deg,
            pos=(bar.x_deg, bar.y_deg),
            lineColor=self._palette.text,
            lineWidth=2,
            fillColor=None,
        )
        filled_deg = bar.width_deg * bar.fraction
        filled = visual.Rect(
            self._window,
            width=filled_deg,
            height=bar.height_deg,
            pos=(bar.x_deg - (bar.width_deg - filled_deg) / 2, bar.y_deg),
            lineColor=None,
            fillColor=self._palette.text,
        )
        return [filled, frame]

    def _patch(self, tone: str, corner: PatchCorner, side_deg: float) -> Any:
        side_px = self._pixels(side_deg)
        width_px, height_px = self._window.size
        up, right = corner.startswith("upper"), corner.endswith("right")
        # A picture, not a shape: PsychoPy's shapes leave garbage behind at every frame.
        return visual.ImageStim(
            self._window,
            image=Image.new("RGB", (side_px, side_px), tone),
            units="pix",
            size=(side_px, side_px),
            pos=(
                _on_grid((width_px - side_px) / 2 * (1 if right else -1), side_px),
                _on_grid((height_px - side_px) / 2 * (1 if up else -1), side_px),
            ),
        )


def _on_grid(centre_px: float, size_px: int) -> float:
    """Return the nearest centre at which a texture of this size lies on whole pixels."""
    return round(centre_px - size_px / 2) + size_px / 2
