"""How the Eye drives: it wanders, turns back at walls and corners, and frees itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ghostblitz_task.captain.deck import EYE_RADIUS, HALF_SIDE, Circle

__all__ = ["EyeSteering"]

_GRIP_S = 0.10  # time constant with which the motor regains its speed
_WANDER_PER_SQRT_S = 0.9  # radians
_BOUNCE_JITTER = 0.5  # radians
_STUCK_S = 0.6
_SLOW = 0.35  # of its own speed
_REACHED = 0.005  # so near to a wall it has reached it


class EyeSteering:
    """The Eye's heading, changed by chance and by what stands in its way.

    Parameters
    ----------
    speed_per_s : float
        At which it drives when nothing is in its way.
    edges : sequence of Circle
        The corners, round which it drives.
    kept_per_s : float
        Share of its speed that friction leaves it after a second without the motor.
    rng : numpy.random.Generator
        Of the Eye alone; the same number of draws each time.
    """

    def __init__(
        self,
        speed_per_s: float,
        edges: Sequence[Circle],
        *,
        kept_per_s: float,
        rng: np.random.Generator,
    ) -> None:
        self._speed_per_s = speed_per_s
        self._edges = tuple(edges)
        self._kept_per_s = kept_per_s
        self._rng = rng
        self._heading = float(rng.uniform(0, math.tau))
        self._fast_at_s = 0.0

    def steer(
        self,
        place: tuple[float, float],
        velocity: tuple[float, float],
        *,
        tick_s: float,
        t_s: float,
    ) -> tuple[float, float]:
        """Return the velocity that the motor gives the Eye for the next tick."""
        wander, jitter, freed = self._rng.normal(), self._rng.normal(), self._rng.uniform(-1, 1)
        self._heading += _WANDER_PER_SQRT_S * math.sqrt(tick_s) * wander
        self._turn_back(place, _BOUNCE_JITTER * jitter)
        if math.hypot(*velocity) > _SLOW * self._speed_per_s:
            self._fast_at_s = t_s
        elif t_s - self._fast_at_s > _STUCK_S:
            self._fast_at_s = t_s
            self._heading += math.pi * (1 + freed / 2)
        grip = tick_s / _GRIP_S
        # What to aim at so that friction leaves the speed that is set.
        aim = self._speed_per_s * (1 - (1 - grip) * self._kept_per_s**tick_s) / grip
        return (
            velocity[0] + (aim * math.cos(self._heading) - velocity[0]) * grip,
            velocity[1] + (aim * math.sin(self._heading) - velocity[1]) * grip,
        )

    def _turn_back(self, place: tuple[float, float], jitter: float) -> None:
        """Mirror the heading at a wall or corner that the Eye has reached and is driving into."""
        away = self._away_from_obstacle(*place)
        if away is None:
            return
        x, y = math.cos(self._heading), math.sin(self._heading)
        into = x * away[0] + y * away[1]
        if into < 0:
            self._heading = math.atan2(y - 2 * into * away[1], x - 2 * into * away[0]) + jitter

    def _away_from_obstacle(self, x: float, y: float) -> tuple[float, float] | None:
        reach = EYE_RADIUS + _REACHED
        for edge_x, edge_y, radius in self._edges:
            distance = math.hypot(x - edge_x, y - edge_y)
            if distance < radius + reach:
                return (x - edge_x) / distance, (y - edge_y) / distance
        if abs(x) > HALF_SIDE - reach:
            return -math.copysign(1.0, x), 0.0
        if abs(y) > HALF_SIDE - reach:
            return 0.0, -math.copysign(1.0, y)
        return None
