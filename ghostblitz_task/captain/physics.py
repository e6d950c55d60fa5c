"""The deck with the Eye: 2-D physics seen from above, in fixed steps.

The only module that imports pymunk. Whatever the rate at which it is asked, the deck does whole
steps of 1 / `STEP_HZ` s and nothing in between: the same seed and the same actions at the same
times give the same positions at the same step, bit for bit on one machine and version. Another
processor or version of pymunk may round differently; the log keeps the positions for that reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pymunk

from ghostblitz_task.captain.deck import (
    CORNER_PLACES,
    DIE_SIDE,
    DROPPING_RADIUS,
    EYE_RADIUS,
    HALF_SIDE,
    HOLE_RADIUS,
    SAMPLE_HZ,
    STEP_HZ,
    Circle,
    Sample,
    Streams,
    find_free_spot,
    scatter,
    steps_until,
)
from ghostblitz_task.captain.events import (
    DieAtRisk,
    DieBumped,
    DieFell,
    DieSpot,
    DieTurned,
    DroppingFell,
    Happening,
)
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.captain.steering import EyeSteering
from ghostblitz_task.captain.turns import Spot

__all__ = ["PHYSICS_VERSION", "DeckWorld"]

#: Goes up with any change of what follows, for the same seed no longer gives the same game.
PHYSICS_VERSION = 1

_STEP_S = 1.0 / STEP_HZ
# Holes, ways and the Eye's heading are looked at sixty times a second.
_STEPS_PER_TICK = 4
_TICK_S = _STEPS_PER_TICK * _STEP_S
_STEPS_PER_SAMPLE = STEP_HZ // SAMPLE_HZ

# Tuned by simulated play for games of some minutes; the toy was not measured.
_KEPT_PER_S = 0.01  # share of its speed that a bumped thing still has a second later
_EYE_MASS, _DROPPING_MASS, _DIE_MASS = 4.0, 1.0, 1.0
_COLLISION_SLOP = 0.001
_ELASTICITY, _FRICTION = 0.3, 0.4
_P_ROLL = 0.9  # of bumps by the Eye that make the die roll
_SETTLE_S = 0.4
# The Eye turns back this far from an open corner's edge; what it pushes may still go in.
_EYE_KEEPS_OFF = 0.08

_NEAR_CORNER = HOLE_RADIUS + 0.09
_AT_EDGE = DIE_SIDE * 0.75
_STUCK_DIE_S = 1.0

_EYE_TYPE, _DIE_TYPE = 1, 2
_EYE, _THING, _WALL, _EYE_WALL = 0b1, 0b10, 0b100, 0b1000

# Faces 0 and 5, 1 and 4, 2 and 3 lie opposite each other; a die rolls onto one of the other four.
_OPPOSITE = (5, 4, 3, 2, 1, 0)


class DeckWorld:
    """Eye, die and droppings on a square deck with four corners, open or railed.

    The die's six faces have the four colours, two of them twice: which two is drawn for each
    game, and the two faces of one colour lie opposite each other. So each roll, which goes to an
    adjacent face, changes the colour, and a colour that is there twice is on top twice as often.
    """

    def __init__(self, settings: CaptainSettings, streams: Streams) -> None:
        self._settings = settings
        self._streams = streams
        self._holes = [CORNER_PLACES[corner] for corner in settings.open_corners]
        self._space = pymunk.Space(threaded=False)
        self._space.damping = _KEPT_PER_S
        # Chipmunk's own allowance is 0.1, made for lengths in pixels.
        self._space.collision_slop = _COLLISION_SLOP
        self._space.on_collision(_EYE_TYPE, _DIE_TYPE, begin=self._on_bump)
        edges = self._add_walls()
        self._steering = EyeSteering(
            settings.eye_speed_per_s, edges, kept_per_s=_KEPT_PER_S, rng=streams.eye
        )
        self._step = 0
        self._happenings: list[Happening] = []
        self._samples: list[Sample] = []
        self._faces = _draw_faces(streams.die)
        self._top = int(streams.die.integers(6))
        self._bumped = False
        self._settles_at_step: int | None = None
        self._die_at_edge_since: int | None = None
        self._risk = (False, False)
        self._lay_out()
        self._samples.append(self._sample())

    # --- the deck as it is asked ---------------------------------------------------------------

    @property
    def step(self) -> int:
        """Whole steps done so far."""
        return self._step

    def advance_until(self, t_s: float) -> tuple[Happening, ...]:
        """Do whole steps up to a time, or up to the first step in which something happens."""
        target = steps_until(t_s)
        while self._step < target and not self._happenings:
            self._space.step(_STEP_S)
            self._step += 1
            if self._step % _STEPS_PER_TICK == 0:
                self._tick()
            if self._step % _STEPS_PER_SAMPLE == 0:
                self._samples.append(self._sample())
        happened, self._happenings = tuple(self._happenings), []
        return happened

    def begin_turn(self, colours_in_play: Sequence[str]) -> None:
        """Do nothing: the Eye turns the die."""

    def spots(self) -> tuple[Spot, ...]:
        """Return where each dropping on deck lies, by id."""
        return tuple(self._spot(i) for i in sorted(self._droppings))

    def die(self) -> DieSpot | None:
        """Return the die, or None once it has fallen."""
        if self._die is None:
            return None
        x, y = self._die.position
        near, stuck = self._die_risk(self._die)
        rolling = self._settles_at_step is not None
        return DieSpot(float(x), float(y), self._faces[self._top], near, stuck, rolling)

    def eye(self) -> tuple[float, float]:
        """Return the middle of the Eye."""
        return float(self._eye.position.x), float(self._eye.position.y)

    def pick(self, dropping_id: int) -> None:
        """Take a dropping off the deck."""
        self._measure_paths()
        self._remove(self._droppings.pop(dropping_id))

    def put_back(self, dropping_id: int) -> Spot:
        """Put a dropping on a free spot near the middle and return it."""
        spot = find_free_spot(DROPPING_RADIUS, list(self._taken()), self._streams.placing)
        self._add_dropping(dropping_id, spot)
        return self._spot(dropping_id)

    def nudge_die(self) -> None:
        """Move the die to a free spot near the middle; it rolls onto another face."""
        die = self._die
        assert die is not None, "a die that has fallen cannot be nudged"
        taken = [circle for circle in self._taken(with_die=False)]
        die.position = find_free_spot(DIE_SIDE / math.sqrt(2), taken, self._streams.placing)
        die.velocity = (0.0, 0.0)
        die.angular_velocity = 0.0
        self._space.reindex_shapes_for_body(die)
        self._die_at_edge_since = None
        if self._settles_at_step is None:
            self._begin_roll()

    def take_samples(self) -> tuple[Sample, ...]:
        """Return the samples since the last call, one at each 1 / `SAMPLE_HZ` seconds."""
        taken, self._samples = tuple(self._samples), []
        return taken

    def describe(self) -> dict[str, str | int | list[str] | None]:
        """Return the versions of the physics, and the die's faces."""
        return {
            "physics": f"pymunk {pymunk.version}, chipmunk {pymunk.chipmunk_version}",
            "physics_version": PHYSICS_VERSION,
            "die_faces": list(self._faces),
        }

    # --- laying out ----------------------------------------------------------------------------

    def _add_walls(self) -> list[Circle]:
        """Add walls, railings and what keeps the Eye off the holes; return the corners' edges."""
        thickness = 0.2
        out = HALF_SIDE + thickness
        corners = [(-out, -out), (out, -out), (out, out), (-out, out)]
        ground = self._space.static_body
        shapes: list[pymunk.Shape] = [
            pymunk.Segment(ground, corners[i - 1], corners[i], thickness) for i in range(4)
        ]
        for shape in shapes:
            shape.filter = pymunk.ShapeFilter(categories=_WALL)
        edges = []
        for corner, place in CORNER_PLACES.items():
            railed = corner in self._settings.railed_corners
            radius = HOLE_RADIUS if railed else HOLE_RADIUS + _EYE_KEEPS_OFF
            edge = pymunk.Circle(ground, radius, place)
            edge.filter = pymunk.ShapeFilter(categories=_WALL if railed else _EYE_WALL)
            shapes.append(edge)
            edges.append((*place, radius))
        for shape in shapes:
            shape.elasticity, shape.friction = _ELASTICITY, _FRICTION
            self._space.add(shape)
        return edges

    def _lay_out(self) -> None:
        rng = self._streams.layout
        angle = float(rng.uniform(0, math.tau))
        eye_place = (0.3 * math.cos(angle), 0.3 * math.sin(angle))
        self._eye = self._add_eye(eye_place)
        self._die: pymunk.Body | None = self._add_die()
        taken = [(*eye_place, EYE_RADIUS), (0.0, 0.0, DIE_SIDE / math.sqrt(2))]
        self._droppings: dict[int, pymunk.Body] = {}
        self._paths: dict[int, float] = {}
        self._last: dict[int, tuple[float, float]] = {}
        for i, place in enumerate(scatter(self._settings.n_droppings, taken, rng)):
            self._paths[i] = 0.0
            self._add_dropping(i, place)

    def _add_body(
        self, body: pymunk.Body, shape: pymunk.Shape, *, mass: float, place: tuple[float, float]
    ) -> None:
        body.position = place
        shape.mass = mass
        shape.elasticity, shape.friction = _ELASTICITY, _FRICTION
        self._space.add(body, shape)

    def _add_eye(self, place: tuple[float, float]) -> pymunk.Body:
        body = pymunk.Body()
        shape = pymunk.Circle(body, EYE_RADIUS)
        shape.collision_type = _EYE_TYPE
        shape.filter = pymunk.ShapeFilter(categories=_EYE)
        self._add_body(body, shape, mass=_EYE_MASS, place=place)
        return body

    def _add_die(self) -> pymunk.Body:
        body = pymunk.Body()
        shape = pymunk.Poly.create_box(body, (DIE_SIDE, DIE_SIDE))
        shape.collision_type = _DIE_TYPE
        shape.filter = pymunk.ShapeFilter(categories=_THING, mask=_EYE | _THING | _WALL)
        self._add_body(body, shape, mass=_DIE_MASS, place=(0.0, 0.0))
        return body

    def _add_dropping(self, dropping_id: int, place: tuple[float, float]) -> None:
        body = pymunk.Body()
        shape = pymunk.Circle(body, DROPPING_RADIUS)
        shape.filter = pymunk.ShapeFilter(categories=_THING, mask=_EYE | _THING | _WALL)
        self._add_body(body, shape, mass=_DROPPING_MASS, place=place)
        self._droppings[dropping_id] = body
        self._last[dropping_id] = place

    def _remove(self, body: pymunk.Body) -> None:
        self._space.remove(body, *body.shapes)

    def _taken(self, *, with_die: bool = True) -> Iterator[Circle]:
        yield (*self.eye(), EYE_RADIUS)
        if with_die and self._die is not None:
            yield (self._die.position.x, self._die.position.y, DIE_SIDE / math.sqrt(2))
        for i in sorted(self._droppings):
            position = self._droppings[i].position
            yield (position.x, position.y, DROPPING_RADIUS)

    def _spot(self, dropping_id: int) -> Spot:
        # Asking must not change what is measured: the way since the last tick is only added here.
        x, y = self._droppings[dropping_id].position
        last_x, last_y = self._last[dropping_id]
        path = self._paths[dropping_id] + math.hypot(x - last_x, y - last_y)
        return Spot(dropping_id, float(x), float(y), path)

    def _sample(self) -> Sample:
        positions = np.full((self._settings.n_droppings + 2, 2), np.nan)
        for i, body in self._droppings.items():
            positions[i] = body.position
        if self._die is not None:
            positions[-2] = self._die.position
        positions[-1] = self._eye.position
        return Sample(self._step, positions)

    # --- sixty times a second ------------------------------------------------------------------

    def _tick(self) -> None:
        self._measure_paths()
        t_s = self._step / STEP_HZ
        for i in sorted(self._droppings):
            if self._in_hole(self._droppings[i]):
                self._remove(self._droppings.pop(i))
                self._happenings.append(DroppingFell(t_s, i))
        if self._die is not None:
            self._tick_die(self._die, t_s)
        position, velocity = self._eye.position, self._eye.velocity
        self._eye.velocity = self._steering.steer(
            (position.x, position.y), (velocity.x, velocity.y), tick_s=_TICK_S, t_s=t_s
        )

    def _measure_paths(self) -> None:
        for i, body in self._droppings.items():
            self._paths[i] = self._spot(i).path
            self._last[i] = (body.position.x, body.position.y)

    def _in_hole(self, body: pymunk.Body) -> bool:
        x, y = body.position
        return any(math.hypot(x - hx, y - hy) < HOLE_RADIUS for hx, hy in self._holes)

    def _tick_die(self, die: pymunk.Body, t_s: float) -> None:
        if self._in_hole(die):
            self._remove(die)
            self._die = None
            self._happenings.append(DieFell(t_s))
            return
        x, y = die.position
        at_wall = max(abs(x), abs(y)) > HALF_SIDE - _AT_EDGE
        at_railing = any(
            math.hypot(x - CORNER_PLACES[c][0], y - CORNER_PLACES[c][1]) < HOLE_RADIUS + _AT_EDGE
            for c in self._settings.railed_corners
        )
        if not (at_wall or at_railing):
            self._die_at_edge_since = None
        elif self._die_at_edge_since is None:
            self._die_at_edge_since = self._step
        risk = self._die_risk(die)
        if risk != self._risk:
            self._risk = risk
            self._happenings.append(DieAtRisk(t_s, *risk))
        if self._bumped and self._settles_at_step is None:
            self._begin_roll()
        self._bumped = False
        if self._settles_at_step is not None and self._step >= self._settles_at_step:
            self._settles_at_step = None
            beside = [f for f in range(6) if f not in (self._top, _OPPOSITE[self._top])]
            self._top = beside[int(self._streams.die.integers(4))]
            self._happenings.append(DieTurned(t_s, self._faces[self._top]))

    def _die_risk(self, die: pymunk.Body) -> tuple[bool, bool]:
        """Return whether the die is near an open corner, and whether it is stuck at the edge."""
        x, y = die.position
        near = any(math.hypot(x - hx, y - hy) < _NEAR_CORNER for hx, hy in self._holes)
        since = self._die_at_edge_since
        return near, since is not None and self._step - since >= _STUCK_DIE_S * STEP_HZ

    def _begin_roll(self) -> None:
        self._settles_at_step = self._step + round(_SETTLE_S * STEP_HZ)
        self._happenings.append(DieBumped(self._step / STEP_HZ))

    def _on_bump(self, arbiter: pymunk.Arbiter, space: pymunk.Space, data: Any) -> None:
        # A draw for each bump, whether the die is rolling or not: no bump shifts the next one's.
        if self._streams.die.random() < _P_ROLL:
            self._bumped = True


def _draw_faces(rng: np.random.Generator) -> tuple[str, ...]:
    """Return the colours of faces 0 to 5: two colours twice, each opposite itself."""
    twice_a, twice_b, once_c, once_d = (COLOURS[i] for i in rng.permutation(len(COLOURS)))
    return (twice_a, twice_b, once_c, once_d, twice_b, twice_a)
