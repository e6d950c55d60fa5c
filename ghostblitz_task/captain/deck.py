"""What lies on deck and how it is asked: sizes, the first layout, and the deck without the Eye."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ghostblitz_task.captain.events import DieSpot, DieTurned, Happening
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings, Corner
from ghostblitz_task.captain.turns import Spot
from ghostblitz_task.errors import ConfigError

__all__ = [
    "CORNER_PLACES",
    "DIE_SIDE",
    "DROPPING_RADIUS",
    "EYE_RADIUS",
    "HALF_SIDE",
    "HOLE_RADIUS",
    "SAMPLE_HZ",
    "STEP_HZ",
    "Circle",
    "Deck",
    "Sample",
    "StaticDeck",
    "Streams",
    "find_free_spot",
    "make_deck",
    "scatter",
    "steps_until",
]

# All lengths in deck sides; the origin is the middle, x to the right, y up. The sizes are
# measured by eye on the rulebook's drawings and are no claim about the toy.
HALF_SIDE = 0.5
HOLE_RADIUS = 0.13
DROPPING_RADIUS = 0.045
DIE_SIDE = 0.07
EYE_RADIUS = 0.08

STEP_HZ = 240
SAMPLE_HZ = 20

CORNER_PLACES: dict[Corner, tuple[float, float]] = {
    "bottom_left": (-HALF_SIDE, -HALF_SIDE),
    "bottom_right": (HALF_SIDE, -HALF_SIDE),
    "top_right": (HALF_SIDE, HALF_SIDE),
    "top_left": (-HALF_SIDE, HALF_SIDE),
}

Circle = tuple[float, float, float]

# Room between things when they are laid down.
_CLEARANCE = 0.01
# Farther from the corners than that, nothing lies at the beginning.
_CORNER_MARGIN = HOLE_RADIUS + 0.08
_N_LAYOUTS = 200
_N_TRIES = 400


@dataclass(frozen=True, slots=True)
class Sample:
    """Where everything is after a step.

    Attributes
    ----------
    step : int
        Steps since the beginning.
    positions : numpy.ndarray
        (n_droppings + 2, 2) x and y of each dropping, then of the die and of the Eye; NaN for
        what is not on deck.
    """

    step: int
    positions: np.ndarray


class Deck(Protocol):
    """The deck and what moves on it; it knows droppings by their ids, never their colours."""

    @property
    def step(self) -> int:
        """Whole steps done so far, of 1 / `STEP_HZ` seconds each."""
        ...

    def advance_until(self, t_s: float) -> tuple[Happening, ...]:
        """Do whole steps up to a time, or up to the first step in which something happens."""
        ...

    def begin_turn(self, colours_in_play: Sequence[str]) -> DieTurned | None:
        """Turn the die for a new turn, where nothing else turns it."""
        ...

    def spots(self) -> tuple[Spot, ...]:
        """Return where each dropping on deck lies, by id."""
        ...

    def die(self) -> DieSpot | None:
        """Return the die, or None once it has fallen."""
        ...

    def eye(self) -> tuple[float, float] | None:
        """Return the middle of the Eye, or None if there is none."""
        ...

    def pick(self, dropping_id: int) -> None:
        """Take a dropping off the deck."""
        ...

    def put_back(self, dropping_id: int) -> Spot:
        """Put a dropping on a free spot and return it."""
        ...

    def nudge_die(self) -> None:
        """Move the die to a free spot near the middle; it rolls."""
        ...

    def take_samples(self) -> tuple[Sample, ...]:
        """Return the samples since the last call, one at each 1 / `SAMPLE_HZ` seconds."""
        ...

    def describe(self) -> dict[str, str | int | list[str] | None]:
        """Return what is needed to run the same deck again: versions and the die's faces."""
        ...


@dataclass(frozen=True, slots=True)
class Streams:
    """One generator for each thing that chance decides, so that none shifts another."""

    layout: np.random.Generator
    eye: np.random.Generator
    die: np.random.Generator
    placing: np.random.Generator

    @classmethod
    def spawn(cls, rng: np.random.Generator) -> Streams:
        """Spawn them; the order is part of the seed."""
        return cls(*rng.spawn(4))


def make_deck(settings: CaptainSettings, rng: np.random.Generator) -> Deck:
    """Make the deck of a game; only the moving one needs pymunk.

    Raises
    ------
    ConfigError
        If the mode is ``moving`` and pymunk is not installed.
    """
    streams = Streams.spawn(rng)
    if settings.mode == "static":
        return StaticDeck(settings, streams)
    try:
        from ghostblitz_task.captain.physics import DeckWorld
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"captain: mode 'moving' needs {error.name}, which is not installed; install "
            "ghostblitz[task], or take mode 'static'"
        ) from error
    return DeckWorld(settings, streams)


def steps_until(t_s: float) -> int:
    """Return how many whole steps are done at a time."""
    # A time that is a whole number of steps but for rounding counts as such.
    return math.floor(t_s * STEP_HZ + 1e-6)


def scatter(
    n_droppings: int, taken: Iterable[Circle], rng: np.random.Generator
) -> tuple[tuple[float, float], ...]:
    """Lay droppings all over the deck, apart from each other, the walls and the corners.

    Raises
    ------
    ConfigError
        If there is no room for so many.
    """
    reach = HALF_SIDE - DROPPING_RADIUS - _CLEARANCE
    corners = [(x, y, _CORNER_MARGIN - DROPPING_RADIUS) for x, y in CORNER_PLACES.values()]
    for _ in range(_N_LAYOUTS):
        lying: list[Circle] = [*taken, *corners]
        laid: list[tuple[float, float]] = []
        for x, y in rng.uniform(-reach, reach, size=(_N_TRIES, 2)).tolist():
            if len(laid) == n_droppings:
                return tuple(laid)
            if _is_free(x, y, DROPPING_RADIUS, lying):
                laid.append((x, y))
                lying.append((x, y, DROPPING_RADIUS))
    raise ConfigError(f"captain: there is no room on deck for {n_droppings} droppings")


def find_free_spot(
    radius: float, taken: Sequence[Circle], rng: np.random.Generator
) -> tuple[float, float]:
    """Return a spot for a disc near the middle of the deck, as near as there is room."""
    for attempt in range(_N_TRIES):
        distance = (HALF_SIDE - 2 * _CORNER_MARGIN / 3) * attempt / _N_TRIES
        angle = rng.uniform(0, math.tau)
        x, y = distance * math.cos(angle), distance * math.sin(angle)
        if _is_free(x, y, radius, taken):
            return x, y
    raise ConfigError("captain: there is no free spot left on deck; play with fewer droppings")


def _is_free(x: float, y: float, radius: float, taken: Iterable[Circle]) -> bool:
    return all(
        math.hypot(x - other_x, y - other_y) >= radius + other_radius + _CLEARANCE
        for other_x, other_y, other_radius in taken
    )


class StaticDeck:
    """The deck without the Eye: nothing moves but what is picked and put back.

    The die lies in the middle. At the beginning of each turn it shows a colour drawn from those
    under the droppings still on deck, each equally likely, however many droppings have it; the
    same colour may come again.
    """

    def __init__(self, settings: CaptainSettings, streams: Streams) -> None:
        self._settings = settings
        self._streams = streams
        self._die = (0.0, 0.0, DIE_SIDE / math.sqrt(2))
        places = scatter(settings.n_droppings, [self._die], streams.layout)
        self._lying = {i: Spot(i, x, y, 0.0) for i, (x, y) in enumerate(places)}
        self._held: dict[int, Spot] = {}
        self._die_colour = COLOURS[int(streams.die.integers(len(COLOURS)))]
        self._samples = [self._sample(0)]
        self._step = 0

    @property
    def step(self) -> int:
        """Whole steps done so far."""
        return self._step

    def advance_until(self, t_s: float) -> tuple[Happening, ...]:
        """Let time pass; nothing happens."""
        self._step = max(self._step, steps_until(t_s))
        return ()

    def begin_turn(self, colours_in_play: Sequence[str]) -> DieTurned | None:
        """Turn the die to a colour drawn among those still in play."""
        drawn = int(self._streams.die.integers(len(colours_in_play)))
        self._die_colour = colours_in_play[drawn]
        return DieTurned(self._step / STEP_HZ, self._die_colour)

    def spots(self) -> tuple[Spot, ...]:
        """Return where each dropping on deck lies, by id."""
        return tuple(self._lying[i] for i in sorted(self._lying))

    def die(self) -> DieSpot:
        """Return the die."""
        return DieSpot(self._die[0], self._die[1], self._die_colour)

    def eye(self) -> None:
        """Return None: there is no Eye."""

    def pick(self, dropping_id: int) -> None:
        """Take a dropping off the deck."""
        self._held[dropping_id] = self._lying.pop(dropping_id)
        self._samples.append(self._sample(self._step))

    def put_back(self, dropping_id: int) -> Spot:
        """Put a dropping near the middle, or where it was, as the study sets it."""
        spot = self._held.pop(dropping_id)
        if self._settings.returns_to == "middle":
            taken = [self._die, *((s.x, s.y, DROPPING_RADIUS) for s in self._lying.values())]
            x, y = find_free_spot(DROPPING_RADIUS, taken, self._streams.placing)
            spot = Spot(dropping_id, x, y, spot.path)
        self._lying[dropping_id] = spot
        self._samples.append(self._sample(self._step))
        return spot

    def nudge_die(self) -> None:
        """Do nothing: the rules refuse it."""

    def take_samples(self) -> tuple[Sample, ...]:
        """Return the samples since the last call: one at each change, none in between."""
        taken, self._samples = tuple(self._samples), []
        return taken

    def describe(self) -> dict[str, str | int | list[str] | None]:
        """Return that there is no physics."""
        return {"physics": None, "physics_version": None, "die_faces": None}

    def _sample(self, step: int) -> Sample:
        positions = np.full((self._settings.n_droppings + 2, 2), np.nan)
        for i, spot in self._lying.items():
            positions[i] = spot.x, spot.y
        positions[-2] = self._die[:2]
        return Sample(step, positions)
