"""The captain's deck as a state machine without physics: an event in, state and consequences out.

From rulebook 002, page 3. A turn: waiting for the pick -> lifted -> looked -> resolved. What the
rulebook leaves open is decided here: the cue that counts is the die's colour at the moment of
looking; a dropping in the tongs counts among those "on deck" when it is asked whether the die's
colour is gone; and a look that the end of the game cut short is censored, whatever was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ghostblitz_task.captain import events as ev
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.captain.turns import CueChange, Fall, Nudge, Refusal, Spot, Turn

__all__ = ["CaptainState", "Phase", "Place", "Step", "apply_event", "deal", "next_due", "start"]

Phase = Literal["waiting", "lifted", "looked", "returning", "resolved"]
Place = Literal["deck", "tongs", "kept", "galley"]


@dataclass(frozen=True, slots=True)
class CaptainState:
    """A game between two events.

    Attributes
    ----------
    settings : CaptainSettings
        As the study set them.
    colours : tuple of str
        Under each dropping, by its id; nobody sees them before looking.
    places : tuple of str
        Where each dropping is: ``deck``, ``tongs``, ``kept`` or ``galley``.
    die_colour : str
        On top of the die.
    status : str
        ``playing`` until the end, then how it ended.
    phase : str
        Of the turn; ``resolved`` between turns and before the first.
    turn : Turn or None
        The one under way.
    n_turns : int
        Turns begun so far.
    since_s : float
        When the phase began.
    """

    settings: CaptainSettings
    colours: tuple[str, ...]
    places: tuple[Place, ...]
    die_colour: str
    status: ev.Status = "playing"
    phase: Phase = "resolved"
    turn: Turn | None = None
    n_turns: int = 0
    since_s: float = 0.0

    def in_place(self, place: Place) -> tuple[int, ...]:
        """Return the ids of the droppings in a place."""
        return tuple(i for i, where in enumerate(self.places) if where == place)

    def count(self, place: Place) -> int:
        """Return how many droppings are in a place."""
        return self.places.count(place)

    @property
    def colours_in_play(self) -> tuple[str, ...]:
        """The colours under the droppings on deck and in the tongs, in the rulebook's order."""
        in_play = {self.colours[i] for i in (*self.in_place("deck"), *self.in_place("tongs"))}
        return tuple(colour for colour in COLOURS if colour in in_play)

    @property
    def player_index(self) -> int:
        """Whose turn it is, or will be next: the tongs go round to the left."""
        turns = self.n_turns if self.turn is None else self.turn.turn_index
        return turns % self.settings.n_players


Step = tuple[CaptainState, tuple[ev.Consequence, ...]]


def deal(settings: CaptainSettings, rng: np.random.Generator) -> tuple[str, ...]:
    """Shuffle the colours under the droppings; the place in the tuple is a dropping's id."""
    colours = [colour for colour in COLOURS for _ in range(settings.n_per_colour)]
    return tuple(colours[i] for i in rng.permutation(len(colours)))


def start(settings: CaptainSettings, colours: tuple[str, ...], *, die_colour: str) -> CaptainState:
    """Return the game before its first turn."""
    places: tuple[Place, ...] = tuple("deck" for _ in colours)
    return CaptainState(settings, colours, places, die_colour)


def next_due(state: CaptainState) -> ev.BeginTurn | ev.EndLook | ev.TimeUp | None:
    """Return what time alone will bring next, unless something else comes before it."""
    if state.status != "playing":
        return None
    settings, turn = state.settings, state.turn
    due: list[ev.BeginTurn | ev.EndLook | ev.TimeUp] = []
    if state.phase == "resolved":
        pause_s = settings.passing_s if state.n_turns else 0.0
        due.append(ev.BeginTurn(state.since_s + pause_s))
    elif state.phase == "looked" and turn is not None and turn.looked_s is not None:
        named_s = turn.named_s
        waits_s = settings.naming_s if named_s is None else settings.look_s
        due.append(ev.EndLook(max(turn.looked_s + waits_s, named_s or 0.0)))
    if settings.time_limit_s is not None:
        due.append(ev.TimeUp(settings.time_limit_s))
    return min(due, key=lambda event: event.t_s, default=None)


def apply_event(state: CaptainState, event: ev.Event) -> Step:
    """Return the state after an event, and what follows from it.

    Events come in the order in which they are to count. An action that the rules do not allow
    changes nothing but the turn's refusals, and `Refused` says why; after the end of the game
    every action is refused and everything else is ignored.
    """
    if state.status != "playing" and not isinstance(event, _ACTIONS):
        return state, ()
    return _RULES[type(event)](state, event)


# --- time -------------------------------------------------------------------------------------


def _begin_turn(state: CaptainState, event: ev.BeginTurn) -> Step:
    assert state.phase == "resolved", f"a turn began while another was {state.phase}"
    turn = Turn(state.n_turns, state.player_index, event.t_s, state.die_colour)
    began = replace(state, phase="waiting", turn=turn, n_turns=state.n_turns + 1, since_s=event.t_s)
    return began, (ev.TurnBegan(turn.turn_index, turn.player_index),)


def _end_look(state: CaptainState, event: ev.EndLook) -> Step:
    assert state.phase == "looked", f"a look ended in phase {state.phase}"
    turn = _open_turn(state)
    dropping_id = turn.dropping_id
    assert dropping_id is not None
    if turn.correct:
        kept = _put(state, dropping_id, "kept")
        return _resolve(kept, event.t_s, (ev.Kept(dropping_id),), outcome="kept")
    if turn.claimed is not None:
        lost = _put(state, dropping_id, "galley")
        return _resolve(lost, event.t_s, (ev.Lost(dropping_id),), outcome="lost")
    return replace(state, phase="returning"), (ev.Returned(dropping_id),)


def _placed_back(state: CaptainState, event: ev.PlacedBack) -> Step:
    assert state.phase == "returning", f"a dropping was put back in phase {state.phase}"
    back = _with_turn(_put(state, event.spot.dropping_id, "deck"), returned_to=event.spot)
    return _resolve(back, event.t_s, (), outcome="returned")


def _time_up(state: CaptainState, event: ev.TimeUp) -> Step:
    return _end_game(state, "capped")


def _resolve(
    state: CaptainState, t_s: float, consequences: tuple[ev.Consequence, ...], **facts: Any
) -> Step:
    turn = replace(_open_turn(state), resolved_s=t_s, **facts)
    done = replace(state, phase="resolved", turn=None, since_s=t_s)
    so_far: Step = done, (*consequences, ev.TurnOver(turn))
    return _end_if_over(so_far)


def _end_if_over(step: Step) -> Step:
    """End the game when no dropping is left, or the study wants no more turns."""
    state, consequences = step
    status: ev.Status
    if not state.count("deck") and not state.count("tongs"):
        status = "won" if state.count("kept") >= state.count("galley") else "lost"
    elif state.turn is None and state.n_turns == state.settings.max_turns:
        status = "capped"
    else:
        return step
    ended, more = _end_game(state, status)
    return ended, (*consequences, *more)


def _end_game(state: CaptainState, status: ev.Status) -> Step:
    consequences: list[ev.Consequence] = []
    if state.turn is not None:
        consequences.append(ev.TurnOver(replace(state.turn, outcome="censored")))
    consequences.append(ev.GameOver(status))
    return replace(state, status=status, phase="resolved", turn=None), tuple(consequences)


# --- what happens on deck ---------------------------------------------------------------------


def _die_turned(state: CaptainState, event: ev.DieTurned) -> Step:
    turned = replace(state, die_colour=event.colour)
    if state.turn is None or event.colour == state.die_colour:
        return turned, ()
    change = CueChange(event.t_s, event.colour)
    return _with_turn(turned, cue_changes=(*state.turn.cue_changes, change)), ()


def _dropping_fell(state: CaptainState, event: ev.DroppingFell) -> Step:
    place = state.places[event.dropping_id]
    assert place == "deck", f"dropping {event.dropping_id} fell, but it is in place {place}"
    fallen = _put(state, event.dropping_id, "galley")
    if state.turn is not None:
        fall = Fall(event.t_s, event.dropping_id)
        fallen = _with_turn(fallen, falls=(*state.turn.falls, fall))
    return _end_if_over((fallen, (ev.Lost(event.dropping_id),)))


def _die_fell(state: CaptainState, event: ev.DieFell) -> Step:
    return _end_game(state, "die_fell")


# --- what the players do ----------------------------------------------------------------------


def _pick(state: CaptainState, event: ev.Pick) -> Step:
    if state.phase != "waiting":
        return _refuse_phase(state, event.t_s, "pick")
    if event.dropping_id not in state.in_place("deck"):
        return _refuse(state, event.t_s, "pick", "not_on_deck", "that dropping is not on deck")
    if event.t_s < _open_turn(state).began_s:
        return _refuse(state, event.t_s, "pick", "too_early", "the turn had not begun yet")
    return _lift(state, event.t_s, event.dropping_id, event.on_deck)


def _lift(state: CaptainState, t_s: float, dropping_id: int, on_deck: tuple[Spot, ...]) -> Step:
    lifted = _with_turn(
        _put(state, dropping_id, "tongs"),
        dropping_id=dropping_id,
        on_deck=on_deck,
        lifted_s=t_s,
        cue_at_pick=_cue_at(_open_turn(state), t_s),
    )
    return replace(lifted, phase="lifted", since_s=t_s), (ev.Lifted(dropping_id),)


def _look(state: CaptainState, event: ev.Look) -> Step:
    if state.phase != "lifted":
        return _refuse_phase(state, event.t_s, "look")
    return _see(state, event.t_s)


def _see(state: CaptainState, t_s: float, **facts: Any) -> Step:
    turn = _open_turn(state)
    assert turn.dropping_id is not None
    colour = state.colours[turn.dropping_id]
    cue = _cue_at(turn, t_s)
    seen = _with_turn(state, looked_s=t_s, cue_at_look=cue, colour=colour, **facts)
    seen = replace(seen, phase="looked", since_s=t_s)
    return seen, (ev.Seen(turn.dropping_id, colour),)


def _name(state: CaptainState, event: ev.NameColour) -> Step:
    if state.phase != "looked":
        return _refuse_phase(state, event.t_s, "name")
    if event.colour not in COLOURS:
        return _refuse_colour(state, event.t_s, "name", event.colour)
    if _open_turn(state).named is not None:
        reason = "the colour has been named already; the first word counts"
        return _refuse(state, event.t_s, "name", "named_already", reason)
    return _with_turn(state, named=event.colour, named_s=event.t_s), ()


def _claim(state: CaptainState, event: ev.ClaimLast) -> Step:
    if state.phase not in ("waiting", "lifted"):
        return _refuse_phase(state, event.t_s, "claim")
    if event.colour not in COLOURS:
        return _refuse_colour(state, event.t_s, "claim", event.colour)
    left = (*state.in_place("deck"), *state.in_place("tongs"))
    if len(left) > 1:
        reason = f"{len(left)} droppings are left; only the last may be claimed without the die"
        return _refuse(state, event.t_s, "claim", "not_the_last", reason)
    consequences: tuple[ev.Consequence, ...] = ()
    if state.phase == "waiting":
        state, consequences = _lift(state, event.t_s, left[0], event.on_deck)
    facts = {"claimed": event.colour, "named": event.colour, "named_s": event.t_s}
    seen, more = _see(state, event.t_s, **facts)
    return seen, (*consequences, *more)


def _nudge(state: CaptainState, event: ev.NudgeDie) -> Step:
    if state.status != "playing":
        return _refuse_phase(state, event.t_s, "nudge")
    if not state.settings.allow_nudging:
        reason = "this study does not let the die be nudged"
        return _refuse(state, event.t_s, "nudge", "nudging_off", reason)
    if state.settings.mode == "static":
        reason = "without the Eye the die turns by itself; there is nothing to nudge it for"
        return _refuse(state, event.t_s, "nudge", "static", reason)
    if event.die.near_open_corner:
        allowed_by = "near_open_corner"
    elif event.die.stuck:
        allowed_by = "stuck"
    elif state.die_colour not in state.colours_in_play:
        allowed_by = "colour_gone"
    else:
        reason = (
            "the die may be nudged only when it is about to fall, is stuck at the edge, or shows a "
            "colour that is no longer on deck"
        )
        return _refuse(state, event.t_s, "nudge", "no_reason_to", reason)
    if state.turn is not None:
        nudge = Nudge(event.t_s, allowed_by)
        state = _with_turn(state, nudges=(*state.turn.nudges, nudge))
    return state, (ev.DieNudged(allowed_by),)


# --- parts ------------------------------------------------------------------------------------


def _open_turn(state: CaptainState) -> Turn:
    assert state.turn is not None, f"no turn is under way in phase {state.phase}"
    return state.turn


def _with_turn(state: CaptainState, **facts: Any) -> CaptainState:
    return replace(state, turn=replace(_open_turn(state), **facts))


def _put(state: CaptainState, dropping_id: int, place: Place) -> CaptainState:
    places = list(state.places)
    places[dropping_id] = place
    return replace(state, places=tuple(places))


def _cue_at(turn: Turn, t_s: float) -> str:
    """Return the die's colour at a time: an action may be told later than it was done."""
    colours = [change.colour for change in turn.cue_changes if change.t_s <= t_s]
    return colours[-1] if colours else turn.cue_at_start


_NOT_NOW = {
    "waiting": "no dropping has been picked yet",
    "lifted": "a dropping is in the tongs already and has not been looked at",
    "looked": "the dropping has been looked at already",
    "returning": "the dropping is on its way back",
    "resolved": "the tongs are on their way to the next player",
}


def _refuse_phase(state: CaptainState, t_s: float, action: str) -> Step:
    if state.status != "playing":
        return _refuse(state, t_s, action, "game_over", "the game is over")
    return _refuse(state, t_s, action, "not_now", _NOT_NOW[state.phase])


def _refuse_colour(state: CaptainState, t_s: float, action: str, colour: str) -> Step:
    reason = f"{colour} is no colour of a dropping; there are {', '.join(COLOURS)}"
    return _refuse(state, t_s, action, "no_such_colour", reason)


def _refuse(state: CaptainState, t_s: float, action: str, code: str, reason: str) -> Step:
    refusal = Refusal(t_s, action, code, reason)
    if state.turn is not None:
        state = _with_turn(state, refusals=(*state.turn.refusals, refusal))
    return state, (ev.Refused(refusal),)


_ACTIONS = (ev.Pick, ev.Look, ev.NameColour, ev.ClaimLast, ev.NudgeDie)
_RULES: dict[type, Callable[[CaptainState, Any], Step]] = {
    ev.BeginTurn: _begin_turn,
    ev.EndLook: _end_look,
    ev.PlacedBack: _placed_back,
    ev.TimeUp: _time_up,
    ev.DieTurned: _die_turned,
    ev.DroppingFell: _dropping_fell,
    ev.DieFell: _die_fell,
    ev.Pick: _pick,
    ev.Look: _look,
    ev.NameColour: _name,
    ev.ClaimLast: _claim,
    ev.NudgeDie: _nudge,
}
