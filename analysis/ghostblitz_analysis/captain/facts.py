"""Whether the facts of a game's turns fit one another, its events, and the rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ghostblitz_analysis.captain.histories import HistoryFollower, TurnHistory
from ghostblitz_analysis.record_values import check_values, shown
from ghostblitz_task.captain.reading import DONE
from ghostblitz_task.captain.settings import COLOURS, CaptainSettings
from ghostblitz_task.captain.turn_records import TurnFacts, derive, team_won
from ghostblitz_task.captain.turns import Turn
from ghostblitz_task.errors import DatasetError

__all__ = ["GameFollower", "differs"]

_TURN = {
    "block_index": "integer", "phase": "text", "turn_index": "integer", "player_id": "text",
    "game_onset_s": "number", "cue_onset_s": "number?", "colour_onset_s": "number?",
    "change_onsets_s": "list", "facts": "table", "actions": "list", "derived": "table",
    "history": "table", "events": "list", "n_dropped_frames": "integer",
    "longest_frame_s": "number?",
}  # fmt: skip
_FACTS = {
    "turn_index": "integer", "player_index": "integer", "began_s": "number",
    "cue_at_start": "text", "cue_changes": "list", "on_deck": "list", "dropping_id": "integer?",
    "lifted_s": "number?", "cue_at_pick": "text?", "looked_s": "number?", "cue_at_look": "text?",
    "colour": "text?", "named_s": "number?", "named": "text?", "claimed": "text?",
    "resolved_s": "number?", "outcome": "text", "returned_to": "table?", "falls": "list",
    "nudges": "list", "refusals": "list",
}  # fmt: skip
_ACTION = {
    "t_s": "number", "action": "text", "dropping_id": "integer?", "colour": "text?",
    "device": "text", "resolution_s": "number", "result": "text",
}  # fmt: skip
_GAME = {
    "block_index": "integer", "outcome": "text", "game_onset_s": "number", "ended_s": "number",
    "n_turns": "integer", "n_censored": "integer", "n_kept": "integer", "n_fallen": "integer",
    "n_on_deck": "integer", "n_held": "integer", "history": "table", "events": "list",
}  # fmt: skip
_SPOT = {"dropping_id": "integer", "x": "number", "y": "number", "path": "number"}
# The kinds of what stands in the lists of a turn's facts.
_PARTS = {
    "cue_changes": {"t_s": "number", "colour": "text"},
    "on_deck": _SPOT,
    "falls": {"t_s": "number", "dropping_id": "integer"},
    "nudges": {"t_s": "number", "allowed_by": "text"},
    "refusals": {"t_s": "number", "action": "text", "code": "text", "reason": "text"},
}
_OUTCOMES = ("won", "lost", "die_fell", "capped", "interrupted")
# Times that were added and taken away again differ by less.
_ROUNDING_S = 1e-6
_RELATIVE = 1e-9


def differs(where: str, name: str, found: object, source: str, expected: object) -> DatasetError:
    """Return the error that names both values."""
    return DatasetError(
        f"{where}: {name} is {shown(found)}, but {source} {shown(expected)}; the log was changed"
    )


@dataclass
class GameFollower:
    """Follows one game through its records, and keeps where each dropping is.

    Attributes
    ----------
    settings : CaptainSettings
        Of this game.
    colours : tuple of str
        Under the droppings, as the block's record says.
    players : tuple of str
        Ids by seat.
    is_nudged : bool
        Whether the die was nudged before the last turn's pick, since the turn before.
    """

    settings: CaptainSettings
    colours: tuple[str, ...]
    players: tuple[str, ...]
    turns: list[TurnFacts] = field(default_factory=list)
    on_deck: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    fallen: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    ended_s: float = 0.0
    is_nudged: bool = False
    history: HistoryFollower = field(init=False)

    def __post_init__(self) -> None:
        self.on_deck = set(range(len(self.colours)))
        self.history = HistoryFollower(
            len(self.colours), self.settings.mode, self.settings.eye_speed_per_s
        )

    def check_turn(self, record: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Check a turn against the game so far and itself, and return what is derived from it.

        Raises
        ------
        DatasetError
            Naming file, line, turn and both values of the first contradiction.
        """
        check_values(record, _TURN, where)
        check_values(record["facts"], _FACTS, f"{where}, facts")
        for number, action in enumerate(record["actions"]):
            if not isinstance(action, dict):
                raise DatasetError(f"{where}, action {number}: {shown(action)} is no action")
            check_values(action, _ACTION, f"{where}, action {number}")
        _check_parts(record, where)
        try:
            facts = TurnFacts.from_json(record)
        except (TypeError, KeyError) as error:
            raise DatasetError(f"{where}: its facts are not those of a turn ({error})") from error
        turn = facts.turn
        self._check_place(turn, record, where)
        self._check_times(facts, where)
        self._check_cues(facts, where)
        self._check_actions(facts, record, where)
        told = self.history.follow_turn(turn, record["history"], where)
        self._check_outcome(turn, told, where)
        self.is_nudged = told.is_nudged
        self.turns.append(facts)
        derived = derive(self.turns, self.colours)[-1]
        _check_derived(record["derived"], derived, where)
        return derived

    def _check_place(self, turn: Turn, record: Mapping[str, Any], where: str) -> None:
        following = len(self.turns)
        if not turn.turn_index == record["turn_index"] == following:
            raise DatasetError(
                f"{where}: turn_index is {record['turn_index']} ({turn.turn_index} in its facts), "
                f"but the next turn is {following}; turns are missing, repeated or out of order"
            )
        if self.turns and self.turns[-1].turn.outcome == "censored":
            raise DatasetError(f"{where}: it follows a turn that the end of the game cut short")
        seat = following % len(self.players)
        if turn.player_index != seat:
            raise differs(where, "player_index", turn.player_index, "the tongs were at", seat)
        if record["player_id"] != self.players[seat]:
            name = self.players[seat]
            raise differs(where, "player_id", record["player_id"], "the header has", name)

    def _check_times(self, facts: TurnFacts, where: str) -> None:
        turn = facts.turn
        names = ("began_s", "lifted_s", "looked_s", "resolved_s")
        last_name, last_s = "the turn before ended", self.ended_s
        for name in names:
            t_s = getattr(turn, name)
            if t_s is None:
                continue
            if t_s < last_s - _ROUNDING_S:
                raise DatasetError(
                    f"{where}: {name} is {t_s}, but {last_name} at {last_s}, after it"
                )
            last_name, last_s = f"{name} was", t_s
        self.ended_s = last_s
        if facts.cue_onset_s is not None:
            late_s = facts.cue_onset_s - facts.game_onset_s - turn.began_s
            if late_s < -_ROUNDING_S:
                raise DatasetError(
                    f"{where}: cue_onset_s is {facts.cue_onset_s}, before the turn began"
                )
        if len(facts.change_onsets_s) != len(turn.cue_changes):
            raise differs(where, "number of change_onsets_s", len(facts.change_onsets_s),
                          "the changes of the die are", len(turn.cue_changes))  # fmt: skip

    def _check_cues(self, facts: TurnFacts, where: str) -> None:
        turn = facts.turn
        for name in ("cue_at_pick", "cue_at_look"):
            t_s = turn.lifted_s if name == "cue_at_pick" else turn.looked_s
            found = getattr(turn, name)
            expected = None
            if t_s is not None:
                colours = [turn.cue_at_start]
                colours += [c.colour for c in turn.cue_changes if c.t_s <= t_s]
                expected = colours[-1]
            if found != expected:
                raise differs(where, name, found, "the changes of the die give", expected)
        changes = {f"cue_changes[{i}].colour": c.colour for i, c in enumerate(turn.cue_changes)}
        names = ("cue_at_start", "named", "claimed")
        for name, value in ({name: getattr(turn, name) for name in names} | changes).items():
            if value is not None and value not in COLOURS:
                raise DatasetError(
                    f"{where}: {name} is {shown(value)}, but should be one of {', '.join(COLOURS)}"
                )

    def _check_actions(self, facts: TurnFacts, record: Mapping[str, Any], where: str) -> None:
        """Check that pick, look and naming are actions that were done, and each an event."""
        turn, zero_s = facts.turn, facts.game_onset_s
        done = [a for a in facts.actions if a["result"] == DONE]
        events = [(e.get("t_s"), e.get("device")) for e in record["events"] if isinstance(e, dict)]
        for action in facts.actions:
            if (action["t_s"], action["device"]) not in events:
                raise DatasetError(
                    f"{where}: {action['action']} at {action['t_s']} s by {action['device']}, but "
                    "no event of the turn is that"
                )
        is_claim = turn.claimed is not None
        wanted: list[tuple[str, str, float | None, str | None, object]] = [
            ("lifted_s", "pick", turn.lifted_s, "dropping_id", turn.dropping_id),
            ("looked_s", "look", turn.looked_s, None, None),
            ("named_s", "name", turn.named_s, "colour", turn.named),
        ]
        if is_claim:
            # A claim looks and names at once, and picks unless the dropping was held already.
            held_before = any(a["action"] == "pick" for a in done)
            wanted = wanted[:1] if held_before else []
            wanted.append(("looked_s", "claim", turn.looked_s, "colour", turn.claimed))
        for name, kind, t_s, what, value in wanted:
            found = [a for a in done if a["action"] == kind]
            if t_s is None and not found:
                continue
            if len(found) != (t_s is not None):
                raise differs(where, name, t_s, f"the actions of kind {kind} that were done are",
                              len(found))  # fmt: skip
            if t_s is not None and abs(found[0]["t_s"] - zero_s - t_s) > _ROUNDING_S:
                raise differs(where, name, t_s, f"the {kind} was at", found[0]["t_s"] - zero_s)
            if what is not None and found[0][what] != value:
                fact = {"pick": "dropping_id", "name": "named", "claim": "claimed"}[kind]
                raise differs(where, fact, value, f"the {kind} has", found[0][what])

    def _check_outcome(self, turn: Turn, told: TurnHistory, where: str) -> None:
        """Check what was picked and what became of it, and move the droppings."""
        picked = turn.dropping_id
        self._drop(told.fell_between, where)
        if picked is not None:
            there = {spot.dropping_id for spot in turn.on_deck}
            expected = self.on_deck - set(told.fell_before_pick)
            if there != expected:
                raise differs(where, "on_deck", sorted(there), "the turns before leave",
                              sorted(expected))  # fmt: skip
            if picked not in there:
                raise DatasetError(f"{where}: dropping_id is {picked}, which was not on deck")
        seen = turn.looked_s is not None and picked is not None
        colour = self.colours[picked] if seen and picked is not None else None
        if turn.colour != colour:
            raise differs(where, "colour", turn.colour, "the block's record has", colour)
        outcome = "censored"
        if turn.resolved_s is not None:
            wrong = "lost" if turn.claimed is not None else "returned"
            outcome = "kept" if turn.correct else wrong
        if turn.outcome != outcome:
            raise differs(where, "outcome", turn.outcome, "the colours give", outcome)
        if (turn.returned_to is None) == (outcome == "returned"):
            raise differs(where, "returned_to", turn.returned_to and "a place", "the outcome is",
                          outcome)  # fmt: skip
        for fall in turn.falls:
            if fall.dropping_id not in self.on_deck - {picked}:
                raise DatasetError(
                    f"{where}: dropping {fall.dropping_id} fell, but was not on deck"
                )
        self._move(turn, outcome)

    def _drop(self, fell: Iterable[int], where: str) -> None:
        """Take away what fell between turns, as the history tells it."""
        for dropping_id in fell:
            if dropping_id not in self.on_deck:
                raise DatasetError(
                    f"{where}: by its history dropping {dropping_id} fell, but it was not on deck"
                )
            self.on_deck.remove(dropping_id)
            self.fallen.add(dropping_id)

    def _move(self, turn: Turn, outcome: str) -> None:
        fell = {fall.dropping_id for fall in turn.falls}
        self.on_deck -= fell
        self.fallen |= fell
        if turn.dropping_id is None or outcome == "returned":
            return
        self.on_deck.discard(turn.dropping_id)
        goes_to = {"kept": self.kept, "lost": self.fallen, "censored": self.held}[outcome]
        goes_to.add(turn.dropping_id)

    def check_game(self, record: Mapping[str, Any], where: str) -> None:
        """Check the record of the game's end against all its turns.

        Raises
        ------
        DatasetError
            Naming file, line and both values of the first contradiction.
        """
        check_values(record, _GAME, where)
        n_censored = sum(facts.turn.outcome == "censored" for facts in self.turns)
        self._drop(self.history.follow_end(record["history"], where), where)
        expected = {
            "n_turns": len(self.turns),
            "n_censored": n_censored,
            "n_kept": len(self.kept),
            "n_held": len(self.held),
            "n_on_deck": len(self.on_deck),
            "n_fallen": len(self.fallen),
        }
        for name, value in expected.items():
            if record[name] != value:
                raise differs(where, name, record[name], "its turns give", value)
        outcome = record["outcome"]
        if outcome not in _OUTCOMES:
            raise DatasetError(
                f"{where}: outcome is {shown(outcome)}, but should be one of {', '.join(_OUTCOMES)}"
            )
        if outcome in ("won", "lost"):
            won = "won" if team_won(record["n_kept"], record["n_fallen"]) else "lost"
            if record["n_on_deck"] + record["n_held"]:
                raise DatasetError(f"{where}: outcome is {outcome}, but droppings are left on deck")
            if outcome != won:
                raise differs(where, "outcome", outcome, "the droppings give", won)
        if record["ended_s"] < self.ended_s - _ROUNDING_S:
            raise differs(where, "ended_s", record["ended_s"], "its last turn ended at",
                          self.ended_s)  # fmt: skip


def _check_parts(record: Mapping[str, Any], where: str) -> None:
    """Check what stands in the lists of a turn's facts."""
    facts = record["facts"]
    for name, kinds in _PARTS.items():
        for number, part in enumerate(facts[name]):
            place = f"{where}, {name}[{number}]"
            if not isinstance(part, dict):
                raise DatasetError(f"{place} is {shown(part)}, but should be a table")
            check_values(part, kinds, place)
    if facts["returned_to"] is not None:
        check_values(facts["returned_to"], _SPOT, f"{where}, returned_to")
    for number, onset_s in enumerate(record["change_onsets_s"]):
        check_values(
            {"onset": onset_s}, {"onset": "number?"}, f"{where}, change_onsets_s[{number}]"
        )


def _check_derived(found: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    for name in (*expected, *sorted(set(found) - set(expected))):
        if name not in found:
            raise DatasetError(f"{where}: {name} is missing; this is no log of this program")
        if name not in expected:
            raise DatasetError(f"{where}: {name} is no derived value of a turn")
        if not _same(found[name], expected[name]):
            raise differs(where, name, found[name], "the facts give", expected[name])


def _same(found: object, expected: object) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, (int, float)) and isinstance(expected, (int, float)):
        return abs(found - expected) <= _RELATIVE * max(1.0, abs(expected))
    return found == expected
