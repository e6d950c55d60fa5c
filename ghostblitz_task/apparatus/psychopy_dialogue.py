"""PsychoPy's dialogue that asks whose session it is, for studies started from its Runner."""

from __future__ import annotations

from typing import Any

from psychopy import gui

__all__ = ["ask_participant"]


def ask_participant() -> tuple[str, int, bool] | None:
    """Ask for participant, session, and whether to resume; return None if cancelled."""
    fields: dict[str, Any] = {"Participant": "", "Session": 1, "Resume": False}
    dialogue = gui.DlgFromDict(fields, title="Ghost Blitz", sortKeys=False)
    if not dialogue.OK:
        return None
    return str(fields["Participant"]), int(fields["Session"]), bool(fields["Resume"])
