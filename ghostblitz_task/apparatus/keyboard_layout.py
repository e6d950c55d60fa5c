"""What is printed on the keys of an X display's keyboard; unknown on other systems."""

from __future__ import annotations

import sys
from collections.abc import Mapping

__all__ = ["keyboard_layout", "labels_on_keys", "lock_keys"]

# Psychtoolbox counts the key codes of X from 1.
_FROM_PSYCHTOOLBOX = -1
# Keysyms below this are Latin-1 characters, those above _UNICODE are characters by number.
_LATIN_1_END, _UNICODE, _UNICODE_END = 0x100, 0x01000000, 0x01110000


def keyboard_layout() -> str | None:
    """Return the layout that the X server was given, as in ``de`` or ``us,ru``; else None."""
    if sys.platform != "linux":
        return None
    from Xlib import Xatom
    from Xlib.display import Display

    server = Display()
    try:
        names = server.screen().root.get_full_property(
            server.intern_atom("_XKB_RULES_NAMES"), Xatom.STRING
        )
    finally:
        server.close()
    if names is None:
        return None
    # Rules, model, layout, variant and options, each ended by a zero.
    parts = bytes(names.value).split(b"\0")
    layout, variant = parts[2].decode(), parts[3].decode()
    return f"{layout} ({variant})" if variant.strip(",") else layout


def lock_keys() -> dict[str, bool | None]:
    """Return whether Caps Lock and Num Lock are on; null on systems where that is not known."""
    if sys.platform != "linux":
        return {"caps_lock": None, "num_lock": None}
    from Xlib import XK, X
    from Xlib.display import Display

    server = Display()
    try:
        on = server.screen().root.query_pointer().mask
        num_lock = server.keysym_to_keycode(XK.string_to_keysym("Num_Lock"))
        # Which of the eight modifiers Num Lock is differs from keyboard to keyboard.
        places = [
            place
            for place, codes in enumerate(server.get_modifier_mapping())
            if num_lock and num_lock in codes
        ]
    finally:
        server.close()
    return {
        "caps_lock": bool(on & X.LockMask),
        "num_lock": bool(on & 1 << places[0]) if places else None,
    }


def labels_on_keys(names: Mapping[int, str]) -> dict[str, str]:
    """Return the character that each key types on the layout in use, in capitals.

    Parameters
    ----------
    names : mapping of int to str
        Psychtoolbox's code of each key, and its name.

    Returns
    -------
    dict of str to str
        By name; keys that type no character, and all keys of other systems, are left out.
    """
    if sys.platform != "linux":
        return {}
    from Xlib.display import Display

    server = Display()
    try:
        found = {}
        for code, name in names.items():
            x_code = code + _FROM_PSYCHTOOLBOX
            if not 8 <= x_code <= 255:
                continue
            character = _character(server.keycode_to_keysym(x_code, 0))
            if character is not None and not character.isspace():
                found[name] = character.upper() if len(character.upper()) == 1 else character
        return found
    finally:
        server.close()


def _character(keysym: int) -> str | None:
    if 0x20 < keysym < _LATIN_1_END:
        return chr(keysym)
    if _UNICODE <= keysym < _UNICODE_END:
        return chr(keysym - _UNICODE)
    return None
