"""One game under way: the rules and the deck in step, for a frame loop or a simulation.

A frame loop hands over each response as it comes (`act`, with the time at which it was made), then
advances to the next flip (`advance_to`). What time brings by itself (the end of a look, the next
turn, the limit) takes effect at its own time, not at the flip after it, so that the game is the
same at any refresh rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.deck import Deck, make_deck
from ghostblitz_task.captain.history import HistoryEvent, encode_history
from ghostblitz_task.captain.rules import CaptainState, Phase, apply_event, deal, next_due, start
from ghostblitz_task.captain.settings import CaptainSettings
from ghostblitz_task.captain.turns import Spot

__all__ = ["Action", "CaptainTable", "DeckView", "Happened"]

ActionKind = Literal["pick", "look", "name", "claim", "nudge"]
Happened = ev.Happening | ev.Consequence


@dataclass(frozen=True, slots=True)
class Action:
    """What a player does: ``pick`` a dropping, ``look``, ``name`` or ``claim`` a colour, ``nudge``.

    A pick has a `dropping_id`; naming and claiming have a `colour`.
    """

    kind: ActionKind
    dropping_id: int = -1
    colour: str = ""


@dataclass(frozen=True, slots=True)
class DeckView:
    """What anybody at the table can see, and nothing else: no colour that is not shown.

    Attributes
    ----------
    t_s : float
        The game's clock.
    phase : str
        Of the turn.
    turn_index, player_index : int
        Of the turn under way, or else of the one to come.
    spots : tuple of Spot
        The droppings on deck; all look alike.
    die : DieSpot or None
        Null once it has fallen.
    eye : tuple of float or None
        The middle of the Eye.
    held_id : int or None
        The dropping in the tongs.
    shown_colour : str or None
        Under that dropping, while it is being looked at.
    kept_colours : tuple of str
        Of the droppings beside the box.
    n_fallen : int
        Droppings in the galley, colours down.
    """

    t_s: float
    phase: Phase
    turn_index: int
    player_index: int
    spots: tuple[Spot, ...]
    die: ev.DieSpot | None
    eye: tuple[float, float] | None
    held_id: int | None
    shown_colour: str | None
    kept_colours: tuple[str, ...]
    n_fallen: int


class CaptainTable:
    """A game from its first layout to its end.

    Parameters
    ----------
    settings : CaptainSettings
        As the study set them.
    rng : numpy.random.Generator
        Of the game; the players' own draws come from elsewhere.

    Raises
    ------
    ConfigError
        If the mode is ``moving`` and pymunk is not installed.
    """

    def __init__(self, settings: CaptainSettings, *, rng: np.random.Generator) -> None:
        deal_rng, deck_rng = rng.spawn(2)
        self.deck: Deck = make_deck(settings, deck_rng)
        die = self.deck.die()
        assert die is not None
        self.state: CaptainState = start(settings, deal(settings, deal_rng), die_colour=die.colour)
        self.now_s = 0.0
        self._events: list[HistoryEvent] = []

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.status != "playing"

    def advance_to(self, t_s: float) -> tuple[Happened, ...]:
        """Let time pass; return all that happened, in order."""
        happened: list[Happened] = []
        while not self.is_over:
            due = next_due(self.state)
            if self.now_s >= t_s and (due is None or due.t_s > t_s):
                break
            happened.extend(self.advance_until(t_s))
        return tuple(happened)

    def advance_until(self, t_s: float) -> tuple[Happened, ...]:
        """Let time pass up to `t_s`, or up to the first moment in which something happens."""
        if self.is_over:
            return ()
        due = next_due(self.state)
        until_s = t_s if due is None else min(t_s, due.t_s)
        happenings = self.deck.advance_until(until_s)
        if happenings:
            self.now_s = max(self.now_s, happenings[-1].t_s)
            return tuple(each for happening in happenings for each in self._on_deck(happening))
        self.now_s = max(self.now_s, until_s)
        if due is None or due.t_s > t_s:
            return ()
        return self._on_time(due)

    def act(self, action: Action, *, t_s: float) -> tuple[Happened, ...]:
        """Let a player do something, and return what had happened until then and what follows.

        A response that is told late, after the deck has moved on, counts with its own time and
        the colour that the die had then; the deck does not go back.
        """
        before = self.advance_to(t_s)
        die = self.deck.die()
        event: ev.Event
        if action.kind == "pick":
            event = ev.Pick(t_s, action.dropping_id, self.deck.spots())
        elif action.kind == "look":
            event = ev.Look(t_s)
        elif action.kind == "name":
            event = ev.NameColour(t_s, action.colour)
        elif action.kind == "claim":
            event = ev.ClaimLast(t_s, action.colour, self.deck.spots())
        else:
            event = ev.NudgeDie(t_s, die or ev.DieSpot(0.0, 0.0, self.state.die_colour))
        return (*before, *self._apply(event))

    def view(self) -> DeckView:
        """Return what can be seen now."""
        state, turn = self.state, self.state.turn
        held = state.in_place("tongs")
        shown = turn.colour if turn is not None and state.phase == "looked" else None
        return DeckView(
            t_s=self.now_s,
            phase=state.phase,
            turn_index=state.n_turns if turn is None else turn.turn_index,
            player_index=state.player_index,
            spots=self.deck.spots(),
            die=self.deck.die(),
            eye=self.deck.eye(),
            held_id=held[0] if held else None,
            shown_colour=shown,
            kept_colours=tuple(state.colours[i] for i in state.in_place("kept")),
            n_fallen=state.count("galley"),
        )

    def take_history(self) -> dict[str, Any]:
        """Return the history since the last call, for the log; best once after each turn."""
        events, self._events = self._events, []
        samples = self.deck.take_samples()
        return encode_history(samples, events, n_droppings=len(self.state.colours))

    def _on_deck(self, happening: ev.Happening) -> tuple[Happened, ...]:
        self._note(happening)
        if isinstance(happening, (ev.DieBumped, ev.DieAtRisk)):
            return (happening,)
        return (happening, *self._apply(happening))

    def _on_time(self, due: ev.BeginTurn | ev.EndLook | ev.TimeUp) -> tuple[Happened, ...]:
        turned: tuple[Happened, ...] = ()
        if isinstance(due, ev.BeginTurn):
            happening = self.deck.begin_turn(self.state.colours_in_play)
            if happening is not None:
                turned = self._on_deck(happening)
        return (*turned, *self._apply(due))

    def _apply(self, event: ev.Event) -> tuple[ev.Consequence, ...]:
        """Apply an event to the rules, and do on deck what follows from it."""
        self.state, consequences = apply_event(self.state, event)
        all_of_them: list[ev.Consequence] = []
        for consequence in consequences:
            self._note(consequence)
            all_of_them.append(consequence)
            if isinstance(consequence, ev.Lifted):
                self.deck.pick(consequence.dropping_id)
            elif isinstance(consequence, ev.DieNudged):
                self.deck.nudge_die()
            elif isinstance(consequence, ev.Returned):
                spot = self.deck.put_back(consequence.dropping_id)
                all_of_them.extend(self._apply(ev.PlacedBack(self.now_s, spot)))
        return tuple(all_of_them)

    def _note(self, happened: Happened) -> None:
        note = _note(happened)
        if note is not None:
            self._events.append(HistoryEvent(self.deck.step, *note))


def _note(happened: Happened) -> tuple[str, int | str | None] | None:
    """Return kind and detail of what goes into the history, or None for what is told elsewhere."""
    match happened:
        case ev.DieTurned(colour=colour):
            return "die_turned", colour
        case ev.DroppingFell(dropping_id=i):
            return "fell", i
        case ev.DieFell():
            return "die_fell", None
        case ev.DieBumped():
            return "die_bumped", None
        case ev.DieAtRisk(near_open_corner=near, stuck=stuck):
            risk = [name for name, is_so in (("near_open_corner", near), ("stuck", stuck)) if is_so]
            return "die_at_risk", "+".join(risk) or "none"
        case ev.TurnBegan(turn_index=index):
            return "turn_began", index
        case ev.Lifted(dropping_id=i):
            return "lifted", i
        case ev.Seen(dropping_id=i):
            return "looked", i
        case ev.Kept(dropping_id=i):
            return "kept", i
        case ev.Returned(dropping_id=i):
            return "put_back", i
        case ev.DieNudged(allowed_by=reason):
            return "nudged", reason
        case ev.Refused(refusal=refusal):
            return "refused", f"{refusal.action}:{refusal.code}"
        case ev.GameOver(status=status):
            return "game_over", status
        case ev.Lost() | ev.TurnOver():
            return None
