"""What a study may set about the captain's deck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ghostblitz_task.errors import ConfigError

__all__ = ["COLOURS", "CORNERS", "CaptainSettings", "Corner", "DeckMode", "ReturnsTo"]

DeckMode = Literal["static", "moving"]
ReturnsTo = Literal["middle", "place"]
Corner = Literal["bottom_left", "bottom_right", "top_right", "top_left"]

#: In the rulebook's order.
COLOURS = ("red", "green", "blue", "yellow")
#: Anticlockwise from the bottom left.
CORNERS: tuple[Corner, ...] = get_args(Corner)

# More do not leave the Eye room to move.
_MOST_PER_COLOUR = 6
_MOST_PLAYERS = 4
_FASTEST_EYE_PER_S = 2.0
_SHORTEST_LOOK_S, _SHORTEST_GAME_S, _LONGEST_PASSING_S = 0.1, 1.0, 60.0


@dataclass(frozen=True, slots=True)
class CaptainSettings:
    """Settings of one game; lengths in deck sides.

    Attributes
    ----------
    mode : str
        ``moving`` with the Eye, ``static`` without it: nothing moves by itself and the die shows
        a new colour each turn, drawn among the colours still on deck.
    railed_corners : tuple of str
        The corners that a railing closes; the fewer, the harder.
    n_per_colour : int
        Droppings of each of the four colours.
    n_players : int
        People who take turns at the tongs.
    max_turns : int or None
        The game is capped after this many turns; null for no cap.
    time_limit_s : float or None
        The game is capped at this time; null for no cap.
    look_s : float
        How long the colour under a dropping is shown.
    naming_s : float
        How long, from the look, the colour can be named; the turn waits no longer.
    passing_s : float
        From the end of a turn to the next: the tongs go to the left neighbour.
    eye_speed_per_s : float
        How fast the Eye drives, in deck sides per second.
    allow_nudging : bool
        Whether the die may be nudged at all.
    returns_to : str
        Where a dropping of the wrong colour goes: the ``middle`` of the deck as in the rulebook,
        or, in a static game, the ``place`` it was taken from.
    """

    mode: DeckMode = "moving"
    railed_corners: tuple[Corner, ...] = ("top_left", "bottom_right")
    n_per_colour: int = 3
    n_players: int = 1
    max_turns: int | None = None
    time_limit_s: float | None = 600.0
    look_s: float = 1.5
    naming_s: float = 5.0
    passing_s: float = 0.5
    eye_speed_per_s: float = 0.3
    allow_nudging: bool = True
    returns_to: ReturnsTo = "middle"

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises
        ------
        ConfigError
            Naming the first setting that does not fit, what it is and what it may be.
        """
        self._expect("mode", self.mode in get_args(DeckMode), "'static' or 'moving'")
        self._expect("returns_to", self.returns_to in get_args(ReturnsTo), "'middle' or 'place'")
        corners = self.railed_corners
        known = all(corner in CORNERS for corner in corners) and len(set(corners)) == len(corners)
        self._expect("railed_corners", known, f"different ones of {', '.join(CORNERS)}")
        self._expect(
            "n_per_colour", 1 <= self.n_per_colour <= _MOST_PER_COLOUR, f"1 to {_MOST_PER_COLOUR}"
        )
        self._expect("n_players", 1 <= self.n_players <= _MOST_PLAYERS, f"1 to {_MOST_PLAYERS}")
        self._expect("max_turns", self.max_turns is None or self.max_turns >= 1, "1 or more")
        time_limit_s = self.time_limit_s
        long_enough = time_limit_s is None or time_limit_s >= _SHORTEST_GAME_S
        self._expect("time_limit_s", long_enough, f"{_SHORTEST_GAME_S:g} or more")
        self._expect("look_s", self.look_s >= _SHORTEST_LOOK_S, f"{_SHORTEST_LOOK_S:g} or more")
        self._expect("naming_s", self.naming_s >= self.look_s, "no less than look_s")
        passing = 0 <= self.passing_s <= _LONGEST_PASSING_S
        self._expect("passing_s", passing, f"0 to {_LONGEST_PASSING_S:g}")
        fast = 0 < self.eye_speed_per_s <= _FASTEST_EYE_PER_S
        self._expect("eye_speed_per_s", fast, f"above 0 and no more than {_FASTEST_EYE_PER_S}")
        if self.mode == "moving" and self.returns_to == "place":
            raise ConfigError(
                "captain: returns_to is 'place', but with the Eye something else may lie there; "
                "take 'middle', or mode 'static'"
            )

    @property
    def n_droppings(self) -> int:
        """Droppings at the beginning."""
        return self.n_per_colour * len(COLOURS)

    @property
    def open_corners(self) -> tuple[Corner, ...]:
        """The corners through which things fall."""
        return tuple(corner for corner in CORNERS if corner not in self.railed_corners)

    @property
    def things_fall(self) -> bool:
        """Whether anything can fall into the galley."""
        return self.mode == "moving" and bool(self.open_corners)

    def _expect(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise ConfigError(f"captain: {name} is {getattr(self, name)!r}; expected {expected}")
