"""Whether the hat was, at every trial of a session, where the trials before it put it.

All runs of a session are gone through in order. Where the plan is known, the table is replayed
from it; where it is not (another version wrote the log, or an earlier run is missing), the
trials and the records of the hat must agree with one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ghostblitz_analysis.log_tables import RunTable
from ghostblitz_analysis.record_values import check_values, shown
from ghostblitz_task.errors import CardError, DatasetError
from ghostblitz_task.games import Game, GameState, Outcome, Response, Stimulus
from ghostblitz_task.rounds import play_card, read_rival
from ghostblitz_task.scoring import TrialFacts

__all__ = ["check_hats"]

Record = Mapping[str, Any]

_HAT = {
    "trial_index": "integer?", "mover": "text?", "hat_over": "text", "onset_s": "number",
    "end_s": "number", "events": "list",
}  # fmt: skip


def check_hats(paths: Sequence[Path], tables: Sequence[RunTable]) -> None:
    """Follow the hat through every session of a data set.

    Parameters
    ----------
    paths : sequence of Path
        The logs, for messages.
    tables : sequence of RunTable
        Their runs, in the same order; each trial was scored again before.

    Raises
    ------
    DatasetError
        Naming file, line, trial and both values, if the hat is not where the trials before put
        it, or moved without cause, unseen, twice or to another item.
    """
    runs = sorted(
        ((path, table) for path, table in zip(paths, tables, strict=True) if table.has_hat),
        key=lambda run: run[1].info.identity,
    )
    for _, session in groupby(runs, key=lambda run: run[1].info.identity[:2]):
        follower: _Follower | None = None
        for path, table in session:
            follower = _Follower(path, table, follower)
            follower.follow()


@dataclass(frozen=True, slots=True)
class _Move:
    """A trial that moves the hat, and who is to say where it goes: a seat, or the schedule."""

    record: Record
    stimulus: Stimulus
    outcome: Outcome
    seat: int | None


class _Follower:
    """Goes through one run; begins with the table that the run before left, if that is known."""

    def __init__(self, path: Path, table: RunTable, before: _Follower | None) -> None:
        self.path = path
        self.game: Game = table.game
        self.company = table.company
        self.records = table.records
        self.plan_sha256 = table.info.plan_sha256
        self.n_done = table.info.resumes_n_trials or 0
        self.state: GameState | None = self._table(table, before)
        #: Whether the schedule of the hat is known; without it, records say where the hat went.
        known = before is None or before.knows_schedule
        self.knows_schedule: bool = self.state is not None and known
        self._last: Record | None = None
        self._moved: Record | None = None
        #: The state that the last trial left where it moved the hat, until a record shows it.
        self._due: _Move | None = None
        self._must_show = False

    def _table(self, table: RunTable, before: _Follower | None) -> GameState | None:
        if table.info.resumes_file is None:
            return table.table
        if before is None or before.n_done != self.n_done or before.plan_sha256 != self.plan_sha256:
            return None
        return before.left()

    def left(self) -> GameState | None:
        """Return the table after the run; None where it cannot be known.

        A run that was stopped before the hat was seen to move left it to the schedule.
        """
        if self._due is None:
            return self.state
        due = self._due
        if not self.knows_schedule:
            return None
        return self.game.advance(due.stimulus.state, due.stimulus, due.outcome)

    def follow(self) -> None:
        for record in self.records:
            kind = record["type"]
            if kind == "block":
                self._must_show = bool(self.game.hideable)
            elif kind == "hat":
                self._hat(record)
            elif kind in ("trial", "interrupted"):
                self._meet(record)
                if kind == "trial":
                    self._trial(record)

    def _where(self, record: Record) -> str:
        what = f", trial {record['trial_index']}" if record["type"] == "trial" else ""
        what = what or f" ({record['type']})"
        return f"{self.path}, line {record['n'] + 1}{what}"

    # --- trials ------------------------------------------------------------------------------

    def _meet(self, record: Record) -> None:
        """Compare where a trial says the hat is with where it must be."""
        where, last = self._where(record), self._last
        self._check_not_due(where)
        if self._must_show:
            raise DatasetError(
                f"{where}: the hat is shown when a block begins, but no hat record before this "
                "trial says so; one is missing"
            )
        began_s = record.get("fixation_onset_s")
        shown_s = last["end_s"] if last is not None and last["type"] == "hat" else None
        if began_s is not None and shown_s is not None and began_s < shown_s:
            assert last is not None
            raise DatasetError(
                f"{where}: fixation_onset_s is {began_s}, before the end_s of the hat record in "
                f"line {last['n'] + 1} ({shown_s})"
            )
        found = GameState(record.get("hat_over"), record.get("trials_since_hat_move"))
        if self.state is None:
            if last is not None and last["type"] == "hat" and last["hat_over"] != found.hat_over:
                raise DatasetError(
                    f"{where}: hat_over is stored as {shown(found.hat_over)}, but the hat record "
                    f"in line {last['n'] + 1} shows it over {shown(last['hat_over'])}"
                )
            self.state = found
            return
        for name in ("hat_over", "trials_since_hat_move"):
            stored, expected = getattr(found, name), getattr(self.state, name)
            if stored != expected:
                raise DatasetError(
                    f"{where}: {name} is stored as {shown(stored)}, but the trials before it give "
                    f"{shown(expected)}; the log was changed"
                )

    def _check_not_due(self, where: str) -> None:
        if self._due is not None:
            trial = self._due.record
            raise DatasetError(
                f"{where}: the hat moves after trial {trial['trial_index']} (line "
                f"{trial['n'] + 1}), but no hat record before this one says so; one is missing"
            )

    def _trial(self, record: Record) -> None:
        assert self.state is not None
        stimulus = self.game.stimulus(self.game.parse(record["card"]), self.state)
        outcome, seat = self._outcome(record, stimulus)
        self._last, self.n_done = record, record["trial_index"] + 1
        self._moved = None
        if self.game.hat_choices(stimulus, outcome):
            self._due = _Move(record, stimulus, outcome, seat)
        else:
            self.state = self.game.advance(self.state, stimulus, outcome)

    def _outcome(self, record: Record, stimulus: Stimulus) -> tuple[Outcome, int | None]:
        """Return what moves the hat, and who gave it: in company, who won the card.

        A seat, from 0; None for a simulated rival, who has no keys.
        """
        if self.company is None:
            given = None
            if record["response"] is not None:
                given = Response(record["response_mode"], record["response"])
            return Outcome(given, record["correct"]), 0
        played = play_card(
            TrialFacts.from_json(record),
            stimulus,
            self.game,
            self.company,
            table=None,
            rival=read_rival(record),
            lot=tuple(record["lot"]),
        )
        players, winner = self.company.players, played.result.winner
        return played.outcome, players.index(winner) if winner in players else None

    # --- records of the hat ------------------------------------------------------------------

    def _hat(self, record: Record) -> None:
        where = self._where(record)
        if not self.game.hideable:
            raise DatasetError(f"{where}: {self.game.name} has no hat that could move")
        check_values(record, _HAT, where)
        self._check_times(record, where)
        if record["trial_index"] is None:
            self._shown_again(record, where)
        else:
            self._move(record, where)
        self._last = record

    def _check_times(self, record: Record, where: str) -> None:
        if record["end_s"] < record["onset_s"]:
            raise DatasetError(
                f"{where}: end_s is {record['end_s']}, but onset_s is {record['onset_s']}, after it"
            )
        before_s = None if self._last is None else self._last.get("end_s")
        if isinstance(before_s, (int, float)) and record["onset_s"] < before_s:
            assert self._last is not None
            raise DatasetError(
                f"{where}: onset_s is {record['onset_s']}, but line {self._last['n'] + 1} ends at "
                f"{before_s}, after it"
            )

    def _shown_again(self, record: Record, where: str) -> None:
        if record["mover"] is not None:
            raise DatasetError(
                f"{where}: mover is {shown(record['mover'])}, but trial_index is null, so nobody "
                "moved the hat"
            )
        if not self._must_show:
            raise DatasetError(
                f"{where}: the hat is shown once when a block begins, but none begins here; the "
                "record is repeated or out of order"
            )
        self._check_not_due(where)
        self._must_show = False
        if self.state is None:
            return  # The first trial says where it is, and is compared with this record.
        if record["hat_over"] != self.state.hat_over:
            raise self._elsewhere(where, record, self.state.hat_over)

    def _move(self, record: Record, where: str) -> None:
        if self._due is None or self._due.record["trial_index"] != record["trial_index"]:
            raise self._uncalled(record, where)
        trial, stimulus, outcome = self._due.record, self._due.stimulus, self._due.outcome
        mover = "schedule" if self._due.seat is None else self.game.hat_mover
        if record["mover"] != mover:
            raise DatasetError(
                f"{where}: mover is {shown(record['mover'])}, but by the settings it is "
                f"{shown(mover)}; the log was changed"
            )
        if mover == "participant":
            self._check_choice(record, self._due.seat, where)
        if mover == "participant" or not self.knows_schedule:
            outcome = replace(outcome, hat_to=record["hat_over"])
        try:
            state = self.game.advance(stimulus.state, stimulus, outcome)
        except CardError as error:
            raise DatasetError(f"{where}, after trial {trial['trial_index']}: {error}") from error
        if state.hat_over != record["hat_over"]:
            raise self._elsewhere(where, record, state.hat_over)
        self.state, self._due, self._moved = state, None, record

    def _uncalled(self, record: Record, where: str) -> DatasetError:
        index = record["trial_index"]
        if self._moved is not None and self._moved["trial_index"] == index:
            return DatasetError(
                f"{where}: the hat moved after trial {index} in line {self._moved['n'] + 1} "
                "already; the record is repeated"
            )
        last = "no trial" if self._last is None else f"trial {self._last.get('trial_index')}"
        return DatasetError(
            f"{where}: the hat moves after trial {index}, but what comes before is {last}, after "
            "which it stays; it moves only after a hat was grabbed or an item called rightly"
        )

    def _check_choice(self, record: Record, seat: int | None, where: str) -> None:
        """Check that who was to choose chose the item: its key went down."""
        several = self.company is not None and len(self.company.players) > 1
        chosen = [
            event.get("answer")
            for event in record["events"]
            if event.get("kind") == "press"
            and event.get("mode") == "grab"
            and event.get("player") == (seat if several else None)
            and not event.get("repeated")
        ]
        if record["hat_over"] not in chosen:
            raise DatasetError(
                f"{where}: hat_over is {shown(record['hat_over'])}, but the keys pressed are those "
                f"of {', '.join(map(str, chosen)) or 'no item'}; the log was changed"
            )

    def _elsewhere(self, where: str, record: Record, expected: str | None) -> DatasetError:
        after = record["trial_index"]
        which = "when the block begins" if after is None else f"after trial {after}"
        return DatasetError(
            f"{where}: hat_over is {shown(record['hat_over'])} {which}, but the trials before it "
            f"give {shown(expected)}; the log was changed"
        )
