"""Simulated players at the apparatus: they see what the screen shows, and press and click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ghostblitz_task.apparatus.simulated import VirtualApparatus
from ghostblitz_task.captain.board import Board
from ghostblitz_task.captain.players import CaptainPlayer, Sighting
from ghostblitz_task.captain.screens import CaptainView
from ghostblitz_task.captain.study_settings import CaptainStudySettings
from ghostblitz_task.captain.table import Action, DeckView
from ghostblitz_task.screen_elements import Screen

__all__ = ["PlayedApparatus"]

_HOLD_S = 0.06

Seat = tuple[CaptainPlayer, np.random.Generator]


@dataclass(slots=True)
class _Mind:
    """What the players have seen of the game, and what they are about to do."""

    sightings: list[Sighting] = field(default_factory=list)
    seen: tuple[int, int, int, str] | None = None
    asked: tuple[object, ...] = ()
    die: tuple[object, ...] = ()
    last_s: float = 0.0
    next: tuple[float, Action] | None = None
    nudge_s: float | None = None
    claimed_in: int = -1


class PlayedApparatus(VirtualApparatus):
    """An apparatus on a virtual clock whose players follow the deck on the screen.

    Parameters
    ----------
    seats : sequence of (CaptainPlayer, numpy.random.Generator)
        In the order in which the tongs go round; all see the same screen.
    settings : CaptainStudySettings
        Which keys do what.
    board : Board
        Where a dropping on deck lies on the screen.
    """

    def __init__(
        self,
        seats: Sequence[Seat],
        *,
        settings: CaptainStudySettings,
        board: Board,
        refresh_hz: float = 60.0,
    ) -> None:
        super().__init__(seats[0][1], refresh_hz=refresh_hz)
        self._seats = tuple(seats)
        self._responses = settings.responses
        self._n_per_colour = settings.captain.n_per_colour
        self._nudges = settings.captain.allow_nudging
        self._board = board
        self._mind = _Mind()

    def present(self, screen: Screen) -> float:
        """Show a screen, and do what comes before the next."""
        flip_s = super().present(screen)
        if isinstance(screen.view, CaptainView):
            self._act(screen.view, flip_s)
        return flip_s

    def respond(self, screen: Screen, flip_s: float) -> None:
        """Take in what is new on a screen."""
        if isinstance(screen.view, CaptainView):
            self._watch(screen.view.deck, flip_s)
        else:
            super().respond(screen, flip_s)

    # --- seeing ------------------------------------------------------------------------------

    def _watch(self, view: DeckView, flip_s: float) -> None:
        if view.t_s < self._mind.last_s:
            self._mind = _Mind()  # Another game.
        mind = self._mind
        mind.last_s = view.t_s
        self._keep_in_mind(view)
        asked: tuple[object, ...] = (view.turn_index, view.phase)
        if view.phase == "waiting":
            colour = view.die.colour if view.die is not None else None
            asked += (colour, tuple(spot.dropping_id for spot in view.spots))
        if asked != mind.asked:
            mind.asked = asked
            self._plan(view, flip_s)
        die = view.die
        if die is None or view.eye is None or not self._nudges:
            return
        risk = (
            view.turn_index, die.colour, die.near_open_corner, die.stuck, die.rolling,
            len(view.kept_colours),
        )  # fmt: skip
        if risk != mind.die:
            mind.die = risk
            player, rng = self._seats[view.player_index]
            latency_s = player.plan_nudge(view, n_per_colour=self._n_per_colour, rng=rng)
            mind.nudge_s = None if latency_s is None else flip_s + latency_s

    def _keep_in_mind(self, view: DeckView) -> None:
        """Note the colour while it is shown, and where the dropping is put back."""
        mind = self._mind
        if view.held_id is not None and view.shown_colour is not None:
            mind.seen = (view.turn_index, view.player_index, view.held_id, view.shown_colour)
        elif mind.seen is not None and view.held_id is None:
            turn_index, player_index, dropping_id, colour = mind.seen
            mind.seen = None
            for spot in view.spots:
                if spot.dropping_id == dropping_id:
                    mind.sightings.append(Sighting(turn_index, player_index, colour, spot))

    def _plan(self, view: DeckView, flip_s: float) -> None:
        self._mind.next = None
        if view.phase in ("resolved", "returning"):
            return
        player, rng = self._seats[view.player_index]
        planned = player.plan(view, tuple(self._mind.sightings), rng=rng)
        # Who claims a colour has named it.
        is_named = self._mind.claimed_in == view.turn_index
        if planned is not None and not (planned.action.kind == "name" and is_named):
            self._mind.next = (flip_s + planned.latency_s, planned.action)

    # --- doing -------------------------------------------------------------------------------

    def _act(self, view: CaptainView, flip_s: float) -> None:
        """Do what is due before the next flip, on what is seen now."""
        until_s, mind = flip_s + 1 / self.refresh_hz, self._mind
        if mind.next is not None and mind.next[0] <= until_s:
            (t_s, action), mind.next = mind.next, None
            if action.kind == "claim":
                mind.claimed_in = view.deck.turn_index
            self._do(action, view, t_s)
        if mind.nudge_s is not None and mind.nudge_s <= until_s:
            self.press(self._responses.nudge_key, mind.nudge_s, _HOLD_S)
            mind.nudge_s = None

    def _do(self, action: Action, view: CaptainView, t_s: float) -> None:
        if action.kind in ("name", "claim"):
            self.press(self._responses.colour_keys[action.colour], t_s, _HOLD_S)
        elif action.kind == "look":
            self.press(self._responses.look_key, t_s, _HOLD_S)
        elif self._responses.pick == "keys":
            self.press(view.labels[action.dropping_id], t_s, _HOLD_S)
        else:
            spot = next(s for s in view.deck.spots if s.dropping_id == action.dropping_id)
            self.click(self._board.place_deg(spot.x, spot.y), t_s, _HOLD_S)
