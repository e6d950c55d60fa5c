"""The facts of a turn, and what is derived from the facts of all turns of a game."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "CueChange",
    "Fall",
    "KnownDropping",
    "Nudge",
    "Refusal",
    "Spot",
    "Turn",
    "TurnOutcome",
    "TurnScore",
    "score_turns",
]

TurnOutcome = Literal["kept", "returned", "lost", "censored"]
Followed = Literal["new", "old", "neither"]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a dropping lies, in deck sides from the middle, and how far it has moved so far.

    `path` is the length of its way over the deck since the game began; what is carried with the
    tongs does not count.
    """

    dropping_id: int
    x: float
    y: float
    path: float


@dataclass(frozen=True, slots=True)
class CueChange:
    """The die came to show another colour."""

    t_s: float
    colour: str


@dataclass(frozen=True, slots=True)
class Fall:
    """A dropping fell through an open corner."""

    t_s: float
    dropping_id: int


@dataclass(frozen=True, slots=True)
class Nudge:
    """The die was nudged to the middle, and the rule that allowed it."""

    t_s: float
    allowed_by: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action that the rules do not allow: a code for tables, a sentence for people."""

    t_s: float
    action: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What happened in one turn; null is what did not come to happen.

    Attributes
    ----------
    turn_index, player_index : int
        From 0.
    began_s, lifted_s, looked_s, named_s, resolved_s : float
        Times on the game's clock. A turn that the end of the game cut short has no `resolved_s`.
    cue_at_start, cue_at_pick, cue_at_look : str
        The die's top colour; the last is the one that counts.
    cue_changes : tuple of CueChange
        Every change from the beginning of the turn to its end, those after the look too.
    on_deck : tuple of Spot
        All droppings on deck at the pick, the one picked among them.
    dropping_id : int
        The one picked.
    colour : str
        The colour under it, once it was looked at.
    named : str
        The colour the participant named; the true colour decides.
    claimed : str
        The colour the team claimed for the last dropping without waiting for the die.
    outcome : str
        ``kept``, ``returned``, ``lost`` (the last dropping, wrongly claimed), or ``censored``:
        the game ended before the turn did.
    returned_to : Spot
        Where it was put back.
    falls, nudges, refusals : tuple
        What else happened during the turn.
    """

    turn_index: int
    player_index: int
    began_s: float
    cue_at_start: str
    cue_changes: tuple[CueChange, ...] = ()
    on_deck: tuple[Spot, ...] = ()
    dropping_id: int | None = None
    lifted_s: float | None = None
    cue_at_pick: str | None = None
    looked_s: float | None = None
    cue_at_look: str | None = None
    colour: str | None = None
    named_s: float | None = None
    named: str | None = None
    claimed: str | None = None
    resolved_s: float | None = None
    outcome: TurnOutcome | None = None
    returned_to: Spot | None = None
    falls: tuple[Fall, ...] = ()
    nudges: tuple[Nudge, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def correct(self) -> bool | None:
        """Whether the colour was the claimed one, or the die's at the look; null before it."""
        if self.colour is None:
            return None
        return self.colour == (self.cue_at_look if self.claimed is None else self.claimed)

    def to_json(self) -> dict[str, Any]:
        """Return the turn as it stands in a log."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Turn:
        """Read a turn back from a log."""
        parts: dict[str, Any] = dict(record)
        kinds: dict[str, Any] = {
            "cue_changes": CueChange,
            "on_deck": Spot,
            "falls": Fall,
            "nudges": Nudge,
            "refusals": Refusal,
        }
        for name, kind in kinds.items():
            parts[name] = tuple(kind(**part) for part in parts[name])
        if parts["returned_to"] is not None:
            parts["returned_to"] = Spot(**parts["returned_to"])
        return cls(**parts)


@dataclass(frozen=True, slots=True)
class KnownDropping:
    """A dropping on deck that had been looked at in an earlier turn and put back.

    Attributes
    ----------
    dropping_id : int
        Which.
    lag_turns : int
        Turns since it was last looked at: 1 for the turn before.
    seen_by_player : bool
        Whether whose turn it is looked at it himself; the others saw and heard it.
    path_moved, net_moved : float
        From where it was put back: length of its way, and distance as the gull flies.
    """

    dropping_id: int
    lag_turns: int
    seen_by_player: bool
    path_moved: float
    net_moved: float


@dataclass(frozen=True, slots=True)
class TurnScore:
    """What is derived from a turn and those before it; null where nothing was picked.

    Attributes
    ----------
    turn_index, player_index : int
        As in the turn.
    censored : bool
        The game ended before the turn did: neither right nor wrong.
    pick_rt_s, pick_rt_from_cue_s : float
        To the pick, from the beginning of the turn and from the last change of the die.
    hold_s, naming_rt_s : float
        From pick to look; from look to naming.
    correct : bool
        The team kept the dropping (null when the colour was not seen).
    misnamed : bool
        Another colour was named than was seen (null when none was named, or in a claim).
    hit : bool
        The dropping picked has the colour that the die showed at the pick; null in a claim, which
        no cue asks for.
    n_on_deck, n_cue_colour, p_chance : int, int, float
        Droppings on deck at the pick, those of the cue's colour, and their share: the p of `hit`
        for a player who picks at random.
    known : tuple of KnownDropping
        Droppings of the cue's colour (at the pick) that the team had seen, the last seen first.
    is_known, is_known_own : bool
        Whether there is any; any that the player looked at himself.
    hit_given_known, p_chance_known : bool, float
        Whether one of `known` was picked, and the p of that at random; null when none is known.
    p_chance_among_seen : float
        Share of the cue's colour among the droppings on deck that the team had seen: the p of a
        hit for a player who only knows which had been seen; null when none had been.
    lag_turns, path_moved, net_moved : int, float, float
        Of the last seen of `known`, whether it was picked or not.
    picked_lag_turns, picked_path_moved, picked_net_moved : int, float, float
        Of the dropping picked; null when it had never been seen.
    cue_changed, cue_changed_before_pick, cue_changed_while_held : bool
        The die changed before the look; before the pick; between pick and look.
    followed : str
        Where the cue at the pick is not the one at the start: whether the colour picked is that of
        the ``new`` cue, the ``old`` one or ``neither``.
    """

    turn_index: int
    player_index: int
    censored: bool
    pick_rt_s: float | None = None
    pick_rt_from_cue_s: float | None = None
    hold_s: float | None = None
    naming_rt_s: float | None = None
    correct: bool | None = None
    misnamed: bool | None = None
    hit: bool | None = None
    n_on_deck: int | None = None
    n_cue_colour: int | None = None
    p_chance: float | None = None
    known: tuple[KnownDropping, ...] = ()
    is_known: bool | None = None
    is_known_own: bool | None = None
    hit_given_known: bool | None = None
    p_chance_known: float | None = None
    p_chance_among_seen: float | None = None
    lag_turns: int | None = None
    path_moved: float | None = None
    net_moved: float | None = None
    picked_lag_turns: int | None = None
    picked_path_moved: float | None = None
    picked_net_moved: float | None = None
    cue_changed: bool | None = None
    cue_changed_before_pick: bool | None = None
    cue_changed_while_held: bool | None = None
    followed: Followed | None = None


def score_turns(turns: Sequence[Turn], colours: Sequence[str]) -> tuple[TurnScore, ...]:
    """Derive what the measures need from the turns of one game.

    Parameters
    ----------
    turns : sequence of Turn
        All of them, in order.
    colours : sequence of str
        The colour under each dropping, by its id.

    Returns
    -------
    tuple of TurnScore
        One per turn.
    """
    seen: dict[int, Turn] = {}
    seen_by: dict[int, set[int]] = {}
    scores = []
    for turn in turns:
        scores.append(_score(turn, colours, seen, seen_by))
        if turn.dropping_id is not None and turn.looked_s is not None:
            seen[turn.dropping_id] = turn
            seen_by.setdefault(turn.dropping_id, set()).add(turn.player_index)
    return tuple(scores)


def _score(
    turn: Turn, colours: Sequence[str], seen: Mapping[int, Turn], seen_by: Mapping[int, set[int]]
) -> TurnScore:
    censored = turn.outcome == "censored"
    if turn.dropping_id is None or turn.lifted_s is None or turn.cue_at_pick is None:
        return TurnScore(turn.turn_index, turn.player_index, censored)
    remembered = [
        _known(spot, turn, seen[spot.dropping_id], seen_by[spot.dropping_id])
        for spot in turn.on_deck
        if spot.dropping_id in seen
    ]
    known = sorted(
        (k for k in remembered if colours[k.dropping_id] == turn.cue_at_pick),
        key=lambda k: k.lag_turns,
    )
    last = known[0] if known else None
    picked = next((k for k in remembered if k.dropping_id == turn.dropping_id), None)
    n_cue_colour = sum(colours[spot.dropping_id] == turn.cue_at_pick for spot in turn.on_deck)
    is_claim = turn.claimed is not None
    return TurnScore(
        turn_index=turn.turn_index,
        player_index=turn.player_index,
        censored=censored,
        hold_s=None if turn.looked_s is None else turn.looked_s - turn.lifted_s,
        naming_rt_s=_naming_rt_s(turn),
        correct=turn.correct,
        misnamed=None if is_claim or turn.named is None else turn.named != turn.colour,
        hit=None if is_claim else colours[turn.dropping_id] == turn.cue_at_pick,
        n_on_deck=len(turn.on_deck),
        n_cue_colour=n_cue_colour,
        p_chance=n_cue_colour / len(turn.on_deck),
        known=tuple(known),
        is_known=bool(known),
        is_known_own=any(k.seen_by_player for k in known),
        hit_given_known=None if is_claim or not known else picked in known,
        p_chance_known=None if is_claim or not known else len(known) / len(turn.on_deck),
        p_chance_among_seen=len(known) / len(remembered) if remembered else None,
        lag_turns=None if last is None else last.lag_turns,
        path_moved=None if last is None else last.path_moved,
        net_moved=None if last is None else last.net_moved,
        picked_lag_turns=None if picked is None else picked.lag_turns,
        picked_path_moved=None if picked is None else picked.path_moved,
        picked_net_moved=None if picked is None else picked.net_moved,
        **_cue_changes(turn, turn.lifted_s, colours[turn.dropping_id]),
    )


def _known(spot: Spot, turn: Turn, seen_in: Turn, players: set[int]) -> KnownDropping:
    from_spot = seen_in.returned_to
    assert from_spot is not None, f"dropping {spot.dropping_id} is on deck but was not put back"
    return KnownDropping(
        dropping_id=spot.dropping_id,
        lag_turns=turn.turn_index - seen_in.turn_index,
        seen_by_player=turn.player_index in players,
        path_moved=spot.path - from_spot.path,
        net_moved=math.hypot(spot.x - from_spot.x, spot.y - from_spot.y),
    )


def _naming_rt_s(turn: Turn) -> float | None:
    if turn.named_s is None or turn.looked_s is None or turn.claimed is not None:
        return None
    return turn.named_s - turn.looked_s


def _cue_changes(turn: Turn, lifted_s: float, colour: str) -> dict[str, Any]:
    until_s = math.inf if turn.looked_s is None else turn.looked_s
    before = [change for change in turn.cue_changes if change.t_s <= lifted_s]
    held = [change for change in turn.cue_changes if lifted_s < change.t_s <= until_s]
    cue_since_s = before[-1].t_s if before else turn.began_s
    followed: Followed | None = None
    if turn.cue_at_pick != turn.cue_at_start and turn.claimed is None:
        new, old = colour == turn.cue_at_pick, colour == turn.cue_at_start
        followed = "new" if new else "old" if old else "neither"
    return {
        "pick_rt_s": lifted_s - turn.began_s,
        "pick_rt_from_cue_s": lifted_s - cue_since_s,
        "cue_changed": bool(before or held),
        "cue_changed_before_pick": bool(before),
        "cue_changed_while_held": bool(held),
        "followed": followed,
    }
