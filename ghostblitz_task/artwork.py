"""The drawings of ``ghostblitz_task/art``, recoloured by text replacement."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from xml.sax.saxutils import quoteattr

from ghostblitz_task.errors import ConfigError
from ghostblitz_task.palettes import Palette, placeholder_tones, unknown_name

__all__ = ["SVG_OPEN", "drawings", "placeholder_art", "recoloured", "standalone_svg"]

SVG_OPEN = '<svg xmlns="http://www.w3.org/2000/svg"'
_ART = files("ghostblitz_task") / "art"


@lru_cache(maxsize=4)
def drawings(folder: str = "") -> tuple[str, ...]:
    """List the names of the SVGs in a folder of the art, in alphabetical order."""
    names = (entry.name for entry in (_ART / folder).iterdir())
    return tuple(sorted(name[:-4] for name in names if name.endswith(".svg")))


@lru_cache(maxsize=64)
def placeholder_art(name: str, kind: str, *, folder: str = "") -> str:
    """Read the inside of one SVG, placeholders and all.

    Raises
    ------
    ConfigError
        If there is none; the message calls it by its kind and says which exist.
    """
    if name not in drawings(folder):
        known = unknown_name(name, f"{kind} with a drawing", drawings(folder))
        place = "/".join(part for part in ("ghostblitz_task/art", folder, f"<{kind}>.svg") if part)
        raise ConfigError(f"{known}; a drawing is added as {place}")
    text = (_ART / folder / f"{name}.svg").read_text(encoding="utf-8")
    match = re.fullmatch(r"\s*<svg[^>]*>(.*)</svg>\s*", text, re.DOTALL)
    assert match, f"{name}.svg is not one <svg> element"
    return re.sub(r"<!--.*?-->|\n\s*", "", match[1], flags=re.DOTALL)


def recoloured(art: str, colour: str | None, palette: Palette) -> str:
    """Put tones in the places of the placeholders.

    Raises
    ------
    ConfigError
        If the palette lacks the colour.
    """
    for placeholder, tone in placeholder_tones(palette, colour).items():
        art = art.replace(f'"{placeholder}"', f'"{tone}"')
    return art


def standalone_svg(group: str, label: str, *, units: int = 200) -> str:
    """Make an SVG of its own of the shapes in a square box."""
    return (
        f'{SVG_OPEN} viewBox="0 0 {units} {units}" role="img" '
        f"aria-label={quoteattr(label)}>{group}</svg>"
    )
