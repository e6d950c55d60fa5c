"""From what a device reports to what a player of the captain's deck does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ghostblitz_task.captain.board import Board
from ghostblitz_task.captain.study_settings import CaptainStudySettings
from ghostblitz_task.captain.table import Action, CaptainTable
from ghostblitz_task.event_meanings import Meaning, as_keys
from ghostblitz_task.scoring import TrialEvent

__all__ = ["NOTHING_THERE", "Done", "Wish", "captain_key_meanings", "read_wish"]

#: Result of a click on no dropping.
NOTHING_THERE = "nothing_there"
#: Result of an action that was done.
DONE = "done"

_BUTTON = "button-1"


def captain_key_meanings(settings: CaptainStudySettings) -> dict[str, Meaning]:
    """Return what each key means.

    Devices are ``colour_keys`` (whose answer is the colour), ``pick_keys``, ``look_key`` and
    ``nudge_key``; as buttons of a pad ``colour_buttons``, and so on.
    """
    responses = settings.responses
    keys: dict[str, Meaning] = {
        key: ("colour_keys", None, colour, None) for colour, key in responses.colour_keys.items()
    }
    keys[responses.look_key] = ("look_key", None, None, None)
    keys[responses.nudge_key] = ("nudge_key", None, None, None)
    if responses.pick == "keys":
        keys |= {key: ("pick_keys", None, None, None) for key in responses.pick_keys}
    return keys


class Wish(NamedTuple):
    """What an event asks for; no action where a click met no dropping."""

    action: Action | None
    wanted: str


class Done(NamedTuple):
    """An action as it stands in the log.

    Attributes
    ----------
    t_s : float
        When the event happened, on the session's clock.
    action : str
        ``pick``, ``look``, ``name``, ``claim`` or ``nudge``.
    dropping_id, colour
        What was picked, named or claimed; null where it was nothing.
    device : str
        As in the event.
    resolution_s : float
        The event happened at most this long before `t_s`.
    result : str
        ``done``, ``nothing_there``, or the code of the refusal.
    """

    t_s: float
    action: str
    dropping_id: int | None
    colour: str | None
    device: str
    resolution_s: float
    result: str

    def to_json(self) -> dict[str, Any]:
        """Return the action as it stands in the log."""
        return self._asdict()


def read_wish(
    event: TrialEvent, table: CaptainTable, *, board: Board, labels: Mapping[int, str]
) -> Wish | None:
    """Return what an event asks for in a game that has been advanced to its time.

    Parameters
    ----------
    event : TrialEvent
        As read.
    table : CaptainTable
        The game.
    board : Board
        Where the droppings lie on the screen.
    labels : mapping of int to str
        The key of each dropping, where they are picked by keys.

    Returns
    -------
    Wish or None
        None for what asks for nothing: a release, a repetition, a key without a meaning, a click
        while none is awaited.
    """
    if event.kind != "press" or event.repeated:
        return None
    phase = table.state.phase
    if event.device == "pointer":
        return _read_click(event, table, board) if event.key == _BUTTON else None
    device = as_keys(event.device)
    if device == "colour_keys" and event.answer is not None:
        if phase in ("waiting", "lifted"):
            return Wish(Action("claim", colour=event.answer), "claim")
        return Wish(Action("name", colour=event.answer), "name")
    if device == "look_key":
        return Wish(Action("look"), "look")
    if device == "nudge_key":
        return Wish(Action("nudge"), "nudge")
    if device == "pick_keys":
        by_key = {key: dropping_id for dropping_id, key in labels.items()}
        if event.key not in by_key:
            return Wish(None, "pick")
        return Wish(Action("pick", dropping_id=by_key[event.key]), "pick")
    return None


def _read_click(event: TrialEvent, table: CaptainTable, board: Board) -> Wish | None:
    """Take a click for a pick while one is awaited, for a look while a dropping is held."""
    phase = table.state.phase
    if phase == "lifted":
        return Wish(Action("look"), "look")
    if phase != "waiting" or event.x_deg is None or event.y_deg is None:
        return None
    dropping_id = board.dropping_at(table.deck.spots(), event.x_deg, event.y_deg)
    if dropping_id is None:
        return Wish(None, "pick")
    return Wish(Action("pick", dropping_id=dropping_id), "pick")
