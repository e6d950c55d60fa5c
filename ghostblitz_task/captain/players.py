"""Simulated players of the captain's deck: perfect memory, forgetting, and guessing.

They see what anybody at the table sees (`DeckView`, and the sightings so far), never a colour that
has not been shown. Their parameters are invented and stand for no population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ghostblitz_task.captain.settings import COLOURS
from ghostblitz_task.captain.table import Action, DeckView
from ghostblitz_task.captain.turns import Spot
from ghostblitz_task.errors import ConfigError
from ghostblitz_task.games import suggestion
from ghostblitz_task.participants import ExGaussian

__all__ = [
    "PLAYER_MODELS",
    "CaptainPlayer",
    "PlannedAction",
    "RememberingPlayer",
    "Sighting",
    "make_player",
]

PLAYER_MODELS = ("forgetting", "guessing", "perfect")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A dropping was looked at by somebody and put back: all saw the colour and the place."""

    turn_index: int
    player_index: int
    colour: str
    put_back: Spot


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """An action that will come this long after what it answers, unless the cue changes first."""

    action: Action
    latency_s: float


class CaptainPlayer(Protocol):
    """Decides from what can be seen now and what was seen before."""

    def plan(
        self, view: DeckView, sightings: Sequence[Sighting], *, rng: np.random.Generator
    ) -> PlannedAction | None:
        """Return what the player whose turn it is will do next, or None for nothing."""
        ...

    def plan_nudge(
        self, view: DeckView, *, n_per_colour: int, rng: np.random.Generator
    ) -> float | None:
        """Return after which latency, in seconds, the die is nudged; None to leave it."""
        ...


@dataclass(frozen=True, slots=True)
class RememberingPlayer:
    """Loses droppings with the turns that pass and with the way they move.

    A dropping last seen `lag` turns ago that has moved by `path` since is remembered with
    probability ``p_encode * exp(-(lag - 1) / turns - path / distance)``, drawn anew at each pick.
    One that is remembered to have the cue's colour is picked, the last seen first; else any that
    is not remembered, each as likely as the others. As it stands, memory is perfect.

    Attributes
    ----------
    p_encode : float
        For a dropping seen in the turn before that has not moved; 0 for guessing.
    turns, distance : float
        At which lag, and way in deck sides, the probability is down to 1/e.
    p_misname : float
        Probability of naming another colour than the one seen.
    p_nudge : float
        Probability of noticing that the die may be nudged.
    pick_rts, look_rts, naming_rts, nudge_rts : ExGaussian
        From the beginning of the turn (or the last change of the die) to the pick, from there to
        the look and to naming, and from what allows it to the nudge.
    """

    p_encode: float = 1.0
    turns: float = math.inf
    distance: float = math.inf
    p_misname: float = 0.0
    p_nudge: float = 1.0
    pick_rts: ExGaussian = field(default_factory=lambda: ExGaussian(1.1, 0.25, 0.6))
    look_rts: ExGaussian = field(default_factory=lambda: ExGaussian(0.45, 0.08, 0.15))
    naming_rts: ExGaussian = field(default_factory=lambda: ExGaussian(0.55, 0.08, 0.2))
    nudge_rts: ExGaussian = field(default_factory=lambda: ExGaussian(0.7, 0.15, 0.4))

    def plan(
        self, view: DeckView, sightings: Sequence[Sighting], *, rng: np.random.Generator
    ) -> PlannedAction | None:
        """Return what this player, whose turn it is, will do next."""
        if view.phase == "waiting" and view.spots and view.die is not None:
            remembered = [
                sighting
                for sighting, spot in _last_sightings(view, sightings)
                if rng.random() < self._p_remember(view, sighting, spot)
            ]
            latency_s = self.pick_rts.sample(rng)
            if len(view.spots) == 1 and remembered:
                return PlannedAction(Action("claim", colour=remembered[0].colour), latency_s)
            dropping_id = _choose(view, view.die.colour, remembered, rng)
            return PlannedAction(Action("pick", dropping_id=dropping_id), latency_s)
        if view.phase == "lifted":
            return PlannedAction(Action("look"), self.look_rts.sample(rng))
        if view.phase == "looked" and view.shown_colour is not None:
            latency_s = self.naming_rts.sample(rng)
            return PlannedAction(
                Action("name", colour=self._named(view.shown_colour, rng)), latency_s
            )
        return None

    def plan_nudge(
        self, view: DeckView, *, n_per_colour: int, rng: np.random.Generator
    ) -> float | None:
        """Return after which latency the die is nudged.

        That a colour is gone is known only when all of it lie beside the box; what has fallen was
        not seen.
        """
        die = view.die
        if die is None or die.rolling:
            return None
        gone = view.kept_colours.count(die.colour) == n_per_colour
        if not (die.near_open_corner or die.stuck or gone) or rng.random() >= self.p_nudge:
            return None
        return self.nudge_rts.sample(rng)

    def _p_remember(self, view: DeckView, sighting: Sighting, spot: Spot) -> float:
        lag = view.turn_index - sighting.turn_index
        moved = spot.path - sighting.put_back.path
        return self.p_encode * math.exp(-(lag - 1) / self.turns - moved / self.distance)

    def _named(self, colour: str, rng: np.random.Generator) -> str:
        others = [other for other in COLOURS if other != colour]
        luck, other = rng.random(), others[int(rng.integers(len(others)))]
        return other if luck < self.p_misname else colour


def make_player(model: str) -> RememberingPlayer:
    """Make a player of a model.

    Raises
    ------
    ConfigError
        If there is no such model.
    """
    if model == "perfect":
        return RememberingPlayer()
    if model == "guessing":
        return RememberingPlayer(p_encode=0.0)
    if model == "forgetting":
        return RememberingPlayer(
            p_encode=0.95, turns=10.0, distance=1.5, p_misname=0.02, p_nudge=0.9
        )
    raise ConfigError(
        f"{model!r} is no model of a captain's player; there are {', '.join(PLAYER_MODELS)}"
        + suggestion(model, PLAYER_MODELS)
    )


def _last_sightings(view: DeckView, sightings: Sequence[Sighting]) -> list[tuple[Sighting, Spot]]:
    """Return the last sighting of each dropping on deck and where it is now, the latest first."""
    last = {sighting.put_back.dropping_id: sighting for sighting in sightings}
    seen = [(last[spot.dropping_id], spot) for spot in view.spots if spot.dropping_id in last]
    return sorted(seen, key=lambda pair: -pair[0].turn_index)


def _choose(
    view: DeckView, cue: str, remembered: Sequence[Sighting], rng: np.random.Generator
) -> int:
    """Return a dropping remembered to have the cue's colour, else any not known to be wrong."""
    right = [s.put_back.dropping_id for s in remembered if s.colour == cue]
    if right:
        return right[0]
    wrong = {s.put_back.dropping_id for s in remembered}
    on_deck = [spot.dropping_id for spot in view.spots]
    candidates = [i for i in on_deck if i not in wrong] or on_deck
    return candidates[int(rng.integers(len(candidates)))]
