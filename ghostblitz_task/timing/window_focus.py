"""Whether keys that are pressed now go to our window."""

from __future__ import annotations

from typing import Any

from ghostblitz_task.robot.watching import WINDOW_NAME

__all__ = ["someone_elses_focus"]


def someone_elses_focus() -> str | None:
    """Say that another window would get the keys; None if ours does, or nobody's in particular.

    Without a window manager (as under Xvfb) the keyboard belongs to no window.
    """
    from Xlib import X
    from Xlib.display import Display
    from Xlib.error import XError

    server = Display()
    try:
        focus: Any = server.get_input_focus().focus
        if isinstance(focus, int):
            return None if focus in (X.NONE, X.PointerRoot) else "the keyboard belongs to nobody"
        if focus == server.screen().root or _is_ours(focus):
            return None
        return "another window has the keyboard, and would get the keys"
    except XError as error:  # It went away while it was asked about.
        return f"the window that has the keyboard cannot be told ({type(error).__name__})"
    finally:
        server.close()


def _is_ours(window: Any) -> bool:
    """Whether a window, one around it or one right within it is PsychoPy's."""
    if any(child.get_wm_name() == WINDOW_NAME for child in window.query_tree().children):
        return True
    while window != 0 and window is not None:
        if window.get_wm_name() == WINDOW_NAME:
            return True
        window = window.query_tree().parent
    return False
