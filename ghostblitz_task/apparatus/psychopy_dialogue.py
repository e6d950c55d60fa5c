"""PsychoPy's dialogue that asks whose session it is, for studies started from its Runner."""

from __future__ import annotations

from psychopy import gui

__all__ = ["ask_participant"]


def ask_participant() -> list[str] | None:
    """Ask for participant and session; return them as command-line options, None if cancelled."""
    fields = {"Participant": "", "Session": 1, "Resume": False}
    dialogue = gui.DlgFromDict(fields, title="Ghost Blitz", sortKeys=False)
    if not dialogue.OK:
        return None
    options = ["--participant", str(fields["Participant"]), "--session", str(fields["Session"])]
    return [*options, "--resume"] if fields["Resume"] else options
