"""What lies on the table beside the items, as SVG: players' marks, places, panels, colours."""

from __future__ import annotations

from ghostblitz_task.drawing import FONT_FAMILY, Palette

__all__ = ["outline_svg", "panel_svg", "player_mark", "stack_svg", "swatch_svg"]

# Each seat's shape in a box of 100 x 100, whether it is dark, and the size of the number in it.
_SHAPES = (
    ('<circle cx="50" cy="50" r="45" ', True, 66),
    ('<rect x="8" y="8" width="84" height="84" rx="8" ', False, 68),
    ('<path d="M50 2 98 50 50 98 2 50Z" stroke-linejoin="round" ', True, 56),
    ('<path d="M28 7H72L95 50 72 93H28L5 50Z" stroke-linejoin="round" ', False, 64),
)
#: Height of a digit of DejaVu Sans, by its size.
_DIGIT = 0.729


def player_mark(seat: int, palette: Palette) -> str:
    """Draw a player's number in the shape of the seat, from 0.

    It is told from the others by number, shape and tone, never by a colour, since colours mean
    something in the games.
    """
    shape, dark, size = _SHAPES[seat % len(_SHAPES)]
    ground, ink = (palette.text, "#FFFFFF") if dark else ("#FFFFFF", palette.text)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
        f'{shape}fill="{ground}" stroke="{palette.text}" stroke-width="7"/>'
        f'<text x="50" y="{50 + size * _DIGIT / 2:.1f}" font-family="{FONT_FAMILY}" '
        f'font-size="{size}" text-anchor="middle" fill="{ink}" stroke="{ink}" '
        f'stroke-width="3">{seat + 1}</text></svg>'
    )


def swatch_svg(colour: str, palette: Palette) -> str:
    """Draw a square of a colour."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
        f'<rect x="4" y="4" width="92" height="92" rx="16" fill="{palette.colours[colour]}" '
        f'stroke="{palette.line}" stroke-width="8"/></svg>'
    )


def outline_svg(palette: Palette) -> str:
    """Draw the empty place of an item: a faint dashed line."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200">'
        '<rect x="22" y="22" width="156" height="156" rx="36" fill="none" '
        f'stroke="{palette.line}" stroke-opacity="0.45" stroke-width="5" '
        'stroke-dasharray="17 14"/></svg>'
    )


def panel_svg(palette: Palette, width: float, height: float) -> str:
    """Draw a panel of this size in degrees."""
    line = 0.08
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f'<rect x="{line / 2:g}" y="{line / 2:g}" width="{width - line:g}" '
        f'height="{height - line:g}" rx="0.4" fill="{palette.card_ground}" '
        f'stroke="{palette.line}" stroke-width="{line:g}"/></svg>'
    )


def stack_svg(palette: Palette, width: float, height: float, *, thick: bool) -> str:
    """Draw a card of this size in degrees, with another below it where the stack is `thick`."""
    line, shift = 0.1, 0.14
    below = (
        f'<rect x="{line / 2 + shift:g}" y="{line / 2 + shift:g}" width="{width - line - shift:g}" '
        f'height="{height - line - shift:g}" rx="0.3" fill="{palette.card_ground}" '
        f'stroke="{palette.line}" stroke-width="{line:g}"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f"{below if thick else ''}"
        f'<rect x="{line / 2:g}" y="{line / 2:g}" width="{width - line - shift:g}" '
        f'height="{height - line - shift:g}" rx="0.3" fill="{palette.card_ground}" '
        f'stroke="{palette.line}" stroke-width="{line:g}"/></svg>'
    )
