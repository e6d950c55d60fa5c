"""Whether the game for the cards went, in every round of a session, as its facts say.

All runs of a session are gone through in order, each round on the table that the rounds before it
left. Where an earlier run is missing, nobody's cards are known: then only what the round's own
facts decide is compared, and the pile is believed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ghostblitz_analysis.log_tables import RunTable
from ghostblitz_analysis.record_values import shown
from ghostblitz_task.company import Table, new_table
from ghostblitz_task.errors import ConfigError, DatasetError
from ghostblitz_task.games import GameState
from ghostblitz_task.rounds import (
    Company,
    PlayedCard,
    lot_of,
    model_rival,
    play_card,
    read_rival,
    recycled_trial,
    rival_attempts,
)
from ghostblitz_task.scoring import TrialFacts

__all__ = ["check_rounds"]

Record = Mapping[str, Any]
_Run = tuple[Path, RunTable]

# Products and exponentials may differ in their last bits between machines.
_TOLERANCE_S = 1e-9
#: What the answers to the card decide, whoever has which cards.
_OF_ITS_OWN = ("outcome", "winner", "tied", "by_lot", "voided_by")
#: A card of the pile that was not turned over yet, so that nothing is known of it.
_FACE_DOWN = "(face down)"


def check_rounds(paths: Sequence[Path], tables: Sequence[RunTable]) -> None:
    """Replay the game of every session that was played for cards.

    Parameters
    ----------
    paths : sequence of Path
        The logs, for messages.
    tables : sequence of RunTable
        Their runs, in the same order; each trial was scored again before.

    Raises
    ------
    DatasetError
        Naming file, line, trial and both values, if a lot or a rival's answer is not what the seed
        gives (where the plan is known), if a round is not what the facts give, if a card
        comes again that does not lie next under the pile, or if a session is said to be complete
        with cards left that were to be played for.
    """
    runs = sorted(
        (run for run in zip(paths, tables, strict=True) if run[1].company is not None),
        key=lambda run: run[1].info.identity,
    )
    for _, group in groupby(runs, key=lambda run: run[1].info.identity[:2]):
        session = list(group)
        before: _Follower | None = None
        for path, table in session:
            _check_draws(path, table)
            before = _Follower(path, table, before, _dealt(session))
            before.follow()


def _dealt(session: Sequence[_Run]) -> Table | None:
    """Return the game before its first round, as far as its cards were turned over."""
    first = session[0][1]
    if first.settings is None or first.company is None:
        return None
    turned = {
        record["trial_index"]: str(record["card"])
        for _, table in session
        for record in table.records
        if record["type"] == "trial"
    }
    phases = [block.phase for block in first.settings.blocks for _ in range(block.n_trials)]
    tests = [index for index, phase in enumerate(phases) if phase == "test"]
    return new_table(first.company.at_table, [turned.get(index, _FACE_DOWN) for index in tests])


def _check_draws(path: Path, run: RunTable) -> None:
    """Compare what was drawn for each round with what the seed gives: lots, and a model's answers.

    What a ghost answers depends on the logs that it was made of; of it only the form is known.
    """
    company = run.company
    if run.plan is None or run.settings is None or company is None:
        return
    rival = run.settings.company.rival if run.settings.company else None
    if rival is not None and rival.kind == "model":
        company = dataclasses.replace(company, rival=model_rival(rival))
    for record in run.records:
        if record["type"] != "trial":
            continue
        index = record["trial_index"]
        where = f"{path}, line {record['n'] + 1}, trial {index}"
        lot = list(lot_of(company, seed=run.info.seed, trial_index=index))
        if record["lot"] != lot:
            raise _not_drawn(where, "lot", record["lot"], lot)
        if company.rival is not None:
            _check_rival(record, company, run, where)


def _check_rival(record: Record, company: Company, run: RunTable, where: str) -> None:
    stimulus = run.game.stimulus(run.game.parse(record["card"]), GameState(record["hat_over"]))
    try:
        drawn = rival_attempts(
            company, stimulus, run.game, seed=run.info.seed, trial_index=record["trial_index"]
        )
    except ConfigError as error:  # It has no RTs for the rule.
        raise DatasetError(f"{where}: {error}") from error
    found = [(a["mode"], a["answer"]) for a in record["rival"]]
    same = found == [(a.response.mode, a.response.answer) for a in drawn] and all(
        abs(stored["t_s"] - attempt.t_s) <= _TOLERANCE_S
        for stored, attempt in zip(record["rival"], drawn, strict=True)
    )
    if not same:
        expected = [
            {"t_s": a.t_s, "mode": a.response.mode, "answer": a.response.answer} for a in drawn
        ]
        raise _not_drawn(where, "rival", record["rival"], expected)


def _not_drawn(where: str, name: str, found: object, expected: object) -> DatasetError:
    return DatasetError(
        f"{where}: {name} is {shown(found)}, but its seed gives {shown(expected)}; the log was "
        "changed"
    )


class _Follower:
    """Goes through one run, from the table that the run before left, if that is known."""

    def __init__(
        self, path: Path, run: RunTable, before: _Follower | None, dealt: Table | None
    ) -> None:
        assert run.company is not None
        self.path = path
        self.run = run
        self.company: Company = run.company
        self.n_done = run.info.resumes_n_trials or 0
        self.cards: Table | None = None
        #: Cards in the pile, as the last round left them; None where there was none.
        self.n_pile: int | None = None
        if run.info.resumes_file is None:
            self.cards = dealt
        elif before is not None and before.n_done == self.n_done:
            self._check_players(before)
            self.n_pile = before.n_pile
            if before.run.info.settings_sha256 == run.info.settings_sha256:
                self.cards = before.cards

    def _check_players(self, before: _Follower) -> None:
        if before.company.players != self.company.players:
            raise DatasetError(
                f"{self.path}, line 1 (header): company.players is "
                f"{shown(list(self.company.players))}, but {before.path.name}, which it takes up, "
                f"has {shown(list(before.company.players))}"
            )

    @property
    def n_recycled(self) -> int:
        """Trials so far with cards that came again."""
        return max(self.n_done - self.run.info.n_trials_planned, 0)

    def follow(self) -> None:
        for record in self.run.records:
            kind = record["type"]
            if kind == "block" and record["block_index"] == self._recycled_block:
                self._block(record)
            elif kind == "trial":
                if record["phase"] == "test":
                    self._round(record)
                self.n_done = record["trial_index"] + 1
            elif kind == "end" and record["status"] == "completed":
                self._completed(record)

    @property
    def _recycled_block(self) -> int | None:
        return len(self.run.settings.blocks) if self.run.settings else None

    def _where(self, record: Record) -> str:
        what = f", trial {record['trial_index']}" if record["type"] == "trial" else ""
        what = what or f" ({record['type']})"
        return f"{self.path}, line {record['n'] + 1}{what}"

    # --- rounds ------------------------------------------------------------------------------

    def _round(self, record: Record) -> None:
        where, stored = self._where(record), record["round"]
        if record["recycled"]:
            self._check_comes_again(record, where)
        played = self._played(record)
        expected = played.round_json()
        for name, value in expected.items():
            if self.cards is None and name not in _OF_ITS_OWN:
                continue
            # The words may be another version's.
            if name == "reason" and self.run.plan is None:
                continue
            if stored[name] != value:
                raise DatasetError(
                    f"{where}: round.{name} is stored as {shown(stored[name])}, but the facts "
                    f"give {shown(value)}; the log was changed, or written by another version"
                )
        if self.cards is not None:
            self.cards = played.table
        self.n_pile = stored["n_pile"]

    def _played(self, record: Record) -> PlayedCard:
        game = self.run.game
        return play_card(
            TrialFacts.from_json(record),
            game.stimulus(game.parse(record["card"]), GameState(record["hat_over"])),
            game,
            self.company,
            table=self.cards,
            rival=read_rival(record),
            lot=tuple(record["lot"]),
        )

    def _check_comes_again(self, record: Record, where: str) -> None:
        """Compare a card that came again with the one that lay next under the pile."""
        if self.n_pile == 0:
            raise DatasetError(
                f"{where}: the card comes again, but the pile was used up before it; the log was "
                "changed"
            )
        if self.cards is None:
            return
        expected: dict[str, object] = {"card": self.cards.pile[0].text}
        if self.run.plan is not None and self.run.settings is not None:
            trial = recycled_trial(
                self.run.settings,
                self.run.plan,
                self.cards,
                self.run.game,
                seed=self.run.info.seed,
                n_recycled=self.n_recycled,
            )
            expected = {"card": str(trial.card), "foreperiod_requested_s": trial.foreperiod_s}
        for name, value in expected.items():
            if record[name] != value:
                source = "the pile" if name == "card" else "its seed"
                raise DatasetError(
                    f"{where}: {name} is {shown(record[name])}, but {source} gives "
                    f"{shown(value)}; the log was changed"
                )

    # --- the cards that come again -----------------------------------------------------------

    def _block(self, record: Record) -> None:
        if self.cards is None:
            return
        n_cards = max(len(self.cards.pile), 1)
        if record["n_trials"] != n_cards:
            raise DatasetError(
                f"{self._where(record)}: n_trials is {shown(record['n_trials'])}, but {n_cards} "
                "cards lie in the pile; the log was changed"
            )

    def _completed(self, record: Record) -> None:
        if not self.n_pile or self.n_recycled >= self.company.max_recycled:
            return
        cards = "1 card lies" if self.n_pile == 1 else f"{self.n_pile} cards lie"
        raise DatasetError(
            f"{self._where(record)}: status is completed, but {cards} in the pile and only "
            f"{self.n_recycled} of at most {self.company.max_recycled} trials with cards that "
            "come again were done; trials are missing"
        )
