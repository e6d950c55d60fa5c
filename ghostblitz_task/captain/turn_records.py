"""What stands of a turn in the log: its facts, and what is derived from them.

The log and its reader use the same `derive`, so that a stored value that does not follow from the
facts is found.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ghostblitz_task.captain.reading import DONE, NOTHING_THERE
from ghostblitz_task.captain.turns import Turn, score_turns

__all__ = ["Outcome", "TurnFacts", "derive", "team_won"]

# What `TurnScore` says in the game's clock is said here from the flips that showed it.
_FROM_FLIPS = ("pick_rt_s", "pick_rt_from_cue_s", "naming_rt_s")

Outcome = str


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn, when the screen showed it, and what was done in it.

    Attributes
    ----------
    turn : Turn
        On the game's clock.
    game_onset_s : float
        The game's first flip, on the session's clock: where the game's clock begins.
    cue_onset_s : float or None
        The flip that first showed the turn's die; null if none came to.
    change_onsets_s : tuple of float or None
        The flip that first showed each of the turn's changes of the die.
    colour_onset_s : float or None
        The flip that first showed the colour under the dropping.
    actions : tuple of mapping
        All that was done, refused or not, as in the log.
    """

    turn: Turn
    game_onset_s: float
    cue_onset_s: float | None
    change_onsets_s: tuple[float | None, ...]
    colour_onset_s: float | None
    actions: tuple[Mapping[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the facts as they stand in the log."""
        return {
            "game_onset_s": self.game_onset_s,
            "cue_onset_s": self.cue_onset_s,
            "change_onsets_s": list(self.change_onsets_s),
            "colour_onset_s": self.colour_onset_s,
            "facts": self.turn.to_json(),
            "actions": [dict(action) for action in self.actions],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> TurnFacts:
        """Read the facts back from the log."""
        return cls(
            turn=Turn.from_json(record["facts"]),
            game_onset_s=record["game_onset_s"],
            cue_onset_s=record["cue_onset_s"],
            change_onsets_s=tuple(record["change_onsets_s"]),
            colour_onset_s=record["colour_onset_s"],
            actions=tuple(record["actions"]),
        )


def derive(turns: Sequence[TurnFacts], colours: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """Derive every measure of the turns of one game from their facts.

    Parameters
    ----------
    turns : sequence of TurnFacts
        All of them from the first on, in order.
    colours : sequence of str
        The colour under each dropping, by its id.

    Returns
    -------
    tuple of dict
        The derived columns of `TURN_COLUMNS`, one per turn; null where nothing was picked.
    """
    scores = score_turns([facts.turn for facts in turns], colours)
    seen: set[int] = set()
    derived = []
    for facts, score in zip(turns, scores, strict=True):
        values = dataclasses.asdict(score)
        known = values.pop("known")
        for name in ("turn_index", "player_index", *_FROM_FLIPS):
            del values[name]
        values["n_known"] = None if score.is_known is None else len(known)
        derived.append(values | _from_flips(facts) | _unseen(facts, colours, seen) | _counts(facts))
        if facts.turn.looked_s is not None and facts.turn.dropping_id is not None:
            seen.add(facts.turn.dropping_id)
    return tuple(derived)


def _from_flips(facts: TurnFacts) -> dict[str, float | None]:
    """Return the RTs: the time of the event minus that of the flip that showed what it answers."""
    turn, zero = facts.turn, facts.game_onset_s
    pick_rt = from_cue = naming_rt = None
    if turn.lifted_s is not None and facts.cue_onset_s is not None:
        picked_s = zero + turn.lifted_s
        pick_rt = picked_s - facts.cue_onset_s
        shown = [s for s in facts.change_onsets_s if s is not None and s <= picked_s]
        from_cue = picked_s - max([facts.cue_onset_s, *shown])
    named = turn.named_s is not None and turn.claimed is None
    if named and turn.named_s is not None and facts.colour_onset_s is not None:
        naming_rt = zero + turn.named_s - facts.colour_onset_s
    return {"pick_rt_s": pick_rt, "pick_rt_from_cue_s": from_cue, "naming_rt_s": naming_rt}


def _unseen(facts: TurnFacts, colours: Sequence[str], seen: set[int]) -> dict[str, Any]:
    """Count the droppings that nobody had looked at, and the cue's colour among them."""
    turn = facts.turn
    if turn.dropping_id is None or turn.cue_at_pick is None:
        return {"n_unseen": None, "p_chance_unseen": None, "picked_seen": None}
    unseen = [spot.dropping_id for spot in turn.on_deck if spot.dropping_id not in seen]
    n_right = sum(colours[i] == turn.cue_at_pick for i in unseen)
    return {
        "n_unseen": len(unseen),
        "p_chance_unseen": n_right / len(unseen) if unseen else None,
        "picked_seen": turn.dropping_id in seen,
    }


def _counts(facts: TurnFacts) -> dict[str, Any]:
    turn = facts.turn
    pick = next(
        (a for a in facts.actions if a["result"] == DONE and a["action"] in ("pick", "claim")), None
    )
    return {
        "pick_device": pick and pick["device"],
        "pick_resolution_s": pick and pick["resolution_s"],
        "n_picks_of_nothing": sum(a["result"] == NOTHING_THERE for a in facts.actions),
        "n_refused": sum(a["result"] not in (DONE, NOTHING_THERE) for a in facts.actions),
        "n_nudges": len(turn.nudges),
        "n_fell": len(turn.falls),
    }


def team_won(n_kept: int, n_fallen: int) -> bool:
    """Say whether the team collected at least as many as fell."""
    return n_kept >= n_fallen
