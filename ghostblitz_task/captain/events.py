"""What goes into the rules of the captain's deck, and what comes out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ghostblitz_task.captain.turns import Refusal, Spot, Turn

__all__ = [
    "BeginTurn",
    "ClaimLast",
    "Consequence",
    "DieAtRisk",
    "DieBumped",
    "DieFell",
    "DieNudged",
    "DieSpot",
    "DieTurned",
    "DroppingFell",
    "EndLook",
    "Event",
    "GameOver",
    "Happening",
    "Kept",
    "Lifted",
    "Look",
    "Lost",
    "NameColour",
    "NudgeDie",
    "Pick",
    "PlacedBack",
    "Refused",
    "Returned",
    "Seen",
    "Status",
    "TimeUp",
    "TurnBegan",
    "TurnOver",
]

#: `capped`: the study's limit of turns or time; like `die_fell`, it censors what was to come.
Status = Literal["playing", "won", "lost", "die_fell", "capped"]


@dataclass(frozen=True, slots=True)
class DieSpot:
    """The die as it lies: place, colour on top, and what would allow a nudge.

    While it is rolling, the colour is still the one from before.
    """

    x: float
    y: float
    colour: str
    near_open_corner: bool = False
    stuck: bool = False
    rolling: bool = False


# --- what happens on deck ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DieTurned:
    """The die came to rest on another colour (or, in a static game, was turned)."""

    t_s: float
    colour: str


@dataclass(frozen=True, slots=True)
class DroppingFell:
    """A dropping fell through an open corner."""

    t_s: float
    dropping_id: int


@dataclass(frozen=True, slots=True)
class DieFell:
    """The die fell through an open corner."""

    t_s: float


@dataclass(frozen=True, slots=True)
class DieBumped:
    """The die began to roll; `DieTurned` follows when it has settled. No matter to the rules."""

    t_s: float


@dataclass(frozen=True, slots=True)
class DieAtRisk:
    """What would allow a nudge came about or went away. No matter to the rules."""

    t_s: float
    near_open_corner: bool
    stuck: bool


Happening = DieTurned | DroppingFell | DieFell | DieBumped | DieAtRisk


# --- what the players do ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pick:
    """The player takes a dropping with the tongs; `on_deck` is where all of them lie."""

    t_s: float
    dropping_id: int
    on_deck: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """The player looks under the dropping."""

    t_s: float


@dataclass(frozen=True, slots=True)
class NameColour:
    """The player says which colour it is."""

    t_s: float
    colour: str


@dataclass(frozen=True, slots=True)
class ClaimLast:
    """The team names the colour of the last dropping without waiting for the die, and looks."""

    t_s: float
    colour: str
    on_deck: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class NudgeDie:
    """Somebody wants to nudge the die to the middle."""

    t_s: float
    die: DieSpot


# --- what time brings, and the answers of the deck --------------------------------------------


@dataclass(frozen=True, slots=True)
class BeginTurn:
    """The tongs have reached the next player."""

    t_s: float


@dataclass(frozen=True, slots=True)
class EndLook:
    """The look is over: the turn is decided."""

    t_s: float


@dataclass(frozen=True, slots=True)
class PlacedBack:
    """The dropping of a wrong colour lies on deck again."""

    t_s: float
    spot: Spot


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The study's time limit is reached."""

    t_s: float


Event = (
    DieTurned
    | DroppingFell
    | DieFell
    | Pick
    | Look
    | NameColour
    | ClaimLast
    | NudgeDie
    | BeginTurn
    | EndLook
    | PlacedBack
    | TimeUp
)


# --- what follows from it ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """It is this player's turn."""

    turn_index: int
    player_index: int


@dataclass(frozen=True, slots=True)
class Lifted:
    """Take the dropping off the deck: it is in the tongs, and cannot fall."""

    dropping_id: int


@dataclass(frozen=True, slots=True)
class Seen:
    """Show everybody the colour under the dropping."""

    dropping_id: int
    colour: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The team has won the dropping."""

    dropping_id: int


@dataclass(frozen=True, slots=True)
class Returned:
    """Put the dropping back on deck, and answer with `PlacedBack`."""

    dropping_id: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The dropping lies in the galley: fallen, or the last one, wrongly claimed."""

    dropping_id: int


@dataclass(frozen=True, slots=True)
class DieNudged:
    """Move the die to the middle of the deck."""

    allowed_by: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done; the refusal says why."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class TurnOver:
    """A turn is complete, or was cut short by the end of the game."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class GameOver:
    """The game is over."""

    status: Status


Consequence = (
    TurnBegan | Lifted | Seen | Kept | Returned | Lost | DieNudged | Refused | TurnOver | GameOver
)
